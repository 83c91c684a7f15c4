/* A picture of a program for people: its segments from top to bottom, the buffers that they read
 * and write, and the barriers with the hazards that ask for them. As text for graphviz, or drawn by
 * it. */
#include "tools/vyre-spv/spv.h"

#include "codegen/kernel.h"
#include "codegen/passes/ssa.h"
#include "tools/common/system.h"

#include <stdlib.h>
#include <string.h>

/* What a segment touches; of what is hidden the spill slots alone are drawn. */
typedef struct touch {
    uint64_t reads, writes, atomics;
} touch;

static touch touch_of(const vyre_kernel *kernel, uint32_t segment)
{
    const vy_kernel_segment *s = vy_kernel_get_segment(kernel, segment);
    touch t = {s->reads & ~s->atomics, s->writes & ~s->atomics, s->atomics};
    int32_t until = vy_kernel_until(kernel);
    uint64_t *masks[3] = {&t.reads, &t.writes, &t.atomics};
    for (int i = 0; i < 3; i++) {
        uint64_t flag = until >= 0 && *masks[i] & VY_ACCESS_FLAG ? (uint64_t)1 << until : 0;
        *masks[i] = (*masks[i] & ~(VY_ACCESS_FLAG | VY_ACCESS_RECORDS)) | flag;
    }
    return t;
}

static const char *name_of(const vyre_kernel *kernel, uint32_t bit)
{
    vyre_binding_info info;
    if (bit >= vyre_kernel_binding_count(kernel)) {
        return "spill";
    }
    vyre_kernel_binding(kernel, bit, &info);
    return info.name;
}

/* Of a quoted string. */
static void put_quoted(vy_text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            vy_text_append(out, "\\", 1);
        }
        vy_text_append(out, text, 1);
    }
}

static void put_names(const vyre_kernel *kernel, uint64_t mask, vy_text *out)
{
    const char *between = "";
    for (uint32_t bit = 0; bit < 64; bit++) {
        if (mask >> bit & 1) {
            vy_text_printf(out, "%s", between);
            put_quoted(out, name_of(kernel, bit));
            between = ", ";
        }
    }
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void put_buffers(const vyre_kernel *kernel, uint64_t used, vy_text *out)
{
    for (uint32_t bit = 0; bit < 64; bit++) {
        if (!(used >> bit & 1)) {
            continue;
        }
        vy_text_printf(out, "  b%u [shape=cylinder, style=filled, fillcolor=\"#e8f0fa\", label=\"",
                       bit);
        if (bit < vyre_kernel_binding_count(kernel)) {
            vyre_binding_info info;
            vyre_kernel_binding(kernel, bit, &info);
            put_quoted(out, info.name);
            vy_text_printf(out, "\\n%s %s[]\"", vy_buffer_mode_text(info.mode),
                           vyre_type_keyword(info.type));
        } else {
            vy_text_printf(out, "spill\\n%u bytes an invocation\"", vyre_kernel_spill_size(kernel));
        }
        vy_text_printf(out, "];\n");
    }
}

static void put_accesses(uint32_t segment, touch t, vy_text *out)
{
    for (uint32_t bit = 0; bit < 64; bit++) {
        bool reads = t.reads >> bit & 1, writes = t.writes >> bit & 1;
        if (t.atomics >> bit & 1) {
            vy_text_printf(out,
                           "  s%u -> b%u [dir=both, color=\"#b05000\", fontcolor=\"#b05000\", "
                           "label=\"atomics\", constraint=false];\n",
                           segment, bit);
        } else if (reads && writes) {
            vy_text_printf(out, "  s%u -> b%u [dir=both, color=\"#205090\", constraint=false];\n",
                           segment, bit);
        } else if (writes) {
            vy_text_printf(out, "  s%u -> b%u [color=\"#205090\", constraint=false];\n", segment,
                           bit);
        } else if (reads) {
            vy_text_printf(out, "  b%u -> s%u [color=\"#808080\", constraint=false];\n", bit,
                           segment);
        }
    }
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* What was touched since the last barrier. */
typedef struct pending {
    uint64_t reads, writes;
} pending;

/* Buffers that the segment has to wait for; those before count no more then. */
static uint64_t wait_for(pending *p, touch t)
{
    uint64_t reads = t.reads | t.atomics, writes = t.writes | t.atomics;
    uint64_t hazards = ((reads | writes) & p->writes) | (writes & p->reads);
    if (hazards) {
        *p = (pending){0, 0};
    }
    p->reads |= reads;
    p->writes |= writes;
    return hazards;
}

static void put_order(const vyre_kernel *kernel, uint32_t from, uint32_t to, uint64_t hazards,
                      bool is_next_pass, vy_text *out)
{
    vy_text_printf(out, "  s%u -> s%u [%s", from, to,
                   is_next_pass ? "constraint=false, " : "weight=10, ");
    if (hazards) {
        vy_text_printf(out, "style=bold, color=\"#a00000\", fontcolor=\"#a00000\", label=\"%s",
                       is_next_pass ? "next pass\\nbarrier: " : "barrier: ");
        put_names(kernel, hazards, out);
        vy_text_printf(out, "\"];\n");
    } else {
        vy_text_printf(out, "style=dashed, label=\"%s\"];\n",
                       is_next_pass ? "next pass, no barrier" : "no barrier");
    }
}

static void put_segments(const vyre_kernel *kernel, vy_text *out)
{
    uint32_t count = vyre_kernel_segment_count(kernel);
    pending p = {0, 0};
    uint64_t used = 0;
    for (uint32_t s = 0; s < count; s++) {
        const vy_kernel_segment *segment = vy_kernel_get_segment(kernel, s);
        touch t = touch_of(kernel, s);
        used |= t.reads | t.writes | t.atomics;
        vy_text_printf(out, "  s%u [shape=box, style=\"filled,bold\", fillcolor=white, label=\"",
                       s);
        put_quoted(out, segment->label);
        vy_text_printf(out, "\\nline %u\"];\n", segment->line);
        uint64_t hazards = wait_for(&p, t);
        if (s) {
            put_order(kernel, s - 1, s, hazards, false, out);
        }
        put_accesses(s, t, out);
    }
    if (count && vy_kernel_passes(kernel) > 1) {
        put_order(kernel, count - 1, 0, wait_for(&p, touch_of(kernel, 0)), true, out);
    }
    put_buffers(kernel, used, out);
}

void draw_graph(const vyre_kernel *kernel, vy_text *out)
{
    vy_text_printf(out, "// Drawn by: dot -Tsvg\ndigraph \"");
    put_quoted(out, vyre_kernel_name(kernel));
    vy_text_printf(out, "\" {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=11];\n"
                        "  edge [fontname=\"Helvetica\", fontsize=9];\n  fontname=\"Helvetica\";\n"
                        "  fontsize=10;\n  label=\"");
    put_quoted(out, vyre_kernel_name(kernel));
    vy_text_printf(out, "\\ngrey: reads, blue: writes, orange: atomics, red: barriers\";\n");
    put_segments(kernel, out);
    vy_text_printf(out, "}\n");
}

/* ---- Writing --------------------------------------------------------------------------------- */

static vyre_result draw_by_dot(const char *path, const vy_text *text, vyre_diag *diag)
{
    char folder[256], from[280];
    vyre_result result = make_folder(folder, sizeof folder, diag);
    if (result != VYRE_OK) {
        return result;
    }
    snprintf(from, sizeof from, "%s/in.dot", folder);
    result = vy_file_write(from, text->data, text->size, diag);
    if (result == VYRE_OK) {
        const char *arguments[] = {"dot", "-Tsvg", "-o", path, from, NULL};
        int code = vy_program_run(arguments);
        if (code != 0) {
            result = vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                                 code == 127 ? "--graph with a .svg file needs the program dot, "
                                               "which was not found. Fix: install graphviz, or "
                                               "write a .dot file"
                                             : "%s: dot failed. Fix: look at what it printed",
                                 path);
        }
    }
    remove_folder(folder, "in.dot");
    return result;
}

vyre_result write_graph(const vyre_kernel *kernel, const char *path, FILE *out, vyre_diag *diag)
{
    vy_text text;
    vy_text_init(&text, NULL);
    draw_graph(kernel, &text);
    vyre_result result = VYRE_OK;
    if (text.failed) {
        result = vy_diag_no_memory(diag);
    } else if (strcmp(path, "-") == 0) {
        fwrite(text.data, 1, text.size, out);
    } else if (vy_path_has_suffix(path, ".svg")) {
        result = draw_by_dot(path, &text, diag);
    } else {
        result = vy_file_write(path, text.data, text.size, diag);
    }
    vy_text_finish(&text);
    return result;
}

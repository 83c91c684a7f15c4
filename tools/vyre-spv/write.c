/* Modules as assembly, bytes, C and JSON. */
#include "tools/vyre-spv/spv.h"

#include <string.h>

const char *format_suffix(format f)
{
    switch (f) {
    case FORMAT_BIN:
        return ".spv";
    case FORMAT_C:
        return ".h";
    case FORMAT_JSON:
        return ".json";
    case FORMAT_TEXT:
        return ".vyre";
    case FORMAT_KERNEL:
        return ".vyk";
    default:
        return ".spvasm";
    }
}

static void write_bytes(const module *m, vy_text *out)
{
    for (size_t i = 0; i < m->count; i++) {
        unsigned char bytes[4];
        for (int b = 0; b < 4; b++) {
            bytes[b] = (unsigned char)(m->words[i] >> (8 * b));
        }
        vy_text_append(out, (const char *)bytes, sizeof bytes);
    }
}

/* What a host binds and gives, for a comment. */
static void write_interface(const vyre_kernel *kernel, vy_text *out)
{
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        vy_text_printf(out, "\n * binding %u: %s %s : %s, %u bytes an element", i,
                       vy_buffer_mode_text(info.mode), info.name, vyre_type_keyword(info.type),
                       vyre_type_size(info.type));
    }
    for (uint32_t i = 0; i < vyre_kernel_param_count(kernel); i++) {
        vyre_type type = vyre_kernel_param_type(kernel, i);
        uint32_t first = vyre_kernel_param_word(kernel, i), count = vy_param_type_words(type);
        vy_text_printf(out, "\n * param %s : %s, word%s %u", vyre_kernel_param_name(kernel, i),
                       vyre_type_keyword(type), count > 1 ? "s" : "", first);
        if (count > 1) {
            vy_text_printf(out, " to %u", first + count - 1);
        }
    }
}

static void write_c(const input *in, const module *m, vy_text *out)
{
    vy_text_printf(out, "/* SPIR-V of %s.", m->name);
    if (in->kernel) {
        write_interface(in->kernel, out);
    }
    vy_text_printf(out, " */\n#include <stdint.h>\n\nstatic const uint32_t ");
    for (const char *at = m->name; *at; at++) {
        bool fits = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                    (*at >= '0' && *at <= '9' && at != m->name);
        vy_text_append(out, fits ? at : "_", 1);
    }
    vy_text_printf(out, "[%zu] = {", m->count);
    for (size_t i = 0; i < m->count; i++) {
        vy_text_printf(out, "%s0x%08lx,", i % 8 ? " " : "\n    ", (unsigned long)m->words[i]);
    }
    vy_text_printf(out, "\n};\n");
}

vyre_result write_module(const input *in, const module *m, format f, vy_text *out, vyre_diag *diag)
{
    if (f == FORMAT_BIN) {
        write_bytes(m, out);
    } else if (f == FORMAT_C) {
        write_c(in, m, out);
    } else {
        vyre_result result = disassemble(m, out, diag);
        if (result != VYRE_OK) {
            return result;
        }
    }
    return out->failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_bindings_touched(const vyre_kernel *kernel, const char *name, uint64_t bits,
                                  vy_text *out)
{
    bool is_first = true;
    vy_text_printf(out, ", \"%s\": [", name);
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel) && i < 62; i++) {
        if (bits >> i & 1) {
            vyre_binding_info info;
            vyre_kernel_binding(kernel, i, &info);
            vy_text_append(out, ", ", is_first ? 0 : 2);
            vy_json_string(out, info.name);
            is_first = false;
        }
    }
    vy_text_printf(out, "]");
}

static void json_module(const input *in, const module *m, vy_text *out)
{
    vy_text_printf(out, "    {\"name\": ");
    vy_json_string(out, m->name);
    if (in->kernel) {
        vyre_segment_info info;
        vyre_kernel_segment(in->kernel, m->segment, &info);
        vy_text_printf(out, ", \"segment\": %u, \"line\": %u, \"instructions\": %u", m->segment,
                       info.line, info.instruction_count);
        json_bindings_touched(in->kernel, "reads", info.reads, out);
        json_bindings_touched(in->kernel, "writes", info.writes, out);
        json_bindings_touched(in->kernel, "atomics", info.atomics, out);
    }
    vy_text_printf(out, ",\n     \"words\": [");
    for (size_t i = 0; i < m->count; i++) {
        vy_text_printf(out, "%s%lu", i ? ", " : "", (unsigned long)m->words[i]);
    }
    vy_text_printf(out, "]}");
}

static void json_interface(const vyre_kernel *kernel, vy_text *out)
{
    vy_text_printf(out, ",\n  \"bindings\": [");
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        vy_text_printf(out, "%s{\"name\": ", i ? ", " : "");
        vy_json_string(out, info.name);
        vy_text_printf(
            out, ", \"mode\": \"%s\", \"type\": \"%s\", \"element_size\": %u, \"has_count\": %s}",
            vy_buffer_mode_text(info.mode), vyre_type_keyword(info.type), vyre_type_size(info.type),
            info.has_count ? "true" : "false");
    }
    vy_text_printf(out, "],\n  \"params\": [");
    for (uint32_t i = 0; i < vyre_kernel_param_count(kernel); i++) {
        vy_text_printf(out, "%s{\"name\": ", i ? ", " : "");
        vy_json_string(out, vyre_kernel_param_name(kernel, i));
        vyre_type type = vyre_kernel_param_type(kernel, i);
        vy_text_printf(out, ", \"type\": \"%s\", \"word\": %u, \"words\": %u}",
                       vyre_type_keyword(type), vyre_kernel_param_word(kernel, i),
                       vy_param_type_words(type));
    }
    vy_text_printf(out, "],\n  \"requires\": [");
    const char *requirement;
    for (uint32_t i = 0; (requirement = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        vy_text_append(out, ", ", i ? 2 : 0);
        vy_json_string(out, requirement);
    }
    vy_text_printf(out, "],\n  \"spill_size\": %u, \"shared_size\": %u, \"inexact\": %s",
                   vyre_kernel_spill_size(kernel), vyre_kernel_shared_size(kernel),
                   vyre_kernel_is_inexact(kernel) ? "true" : "false");
}

void write_json(const command *c, const input *in, vy_text *out)
{
    vy_text_printf(out, "{\"schema\": \"vyre.spv/1\"");
    if (in->kernel) {
        vy_text_printf(out, ", \"program\": ");
        vy_json_string(out, vyre_kernel_name(in->kernel));
        vy_text_printf(out, ", \"target\": \"%s\", \"interface\": \"%s\"",
                       c->target == VYRE_TARGET_VULKAN_1_2 ? "vulkan1.2" : "vulkan1.3",
                       c->interface == VYRE_INTERFACE_ADDRESS ? "address" : "descriptor");
        json_interface(in->kernel, out);
    }
    vy_text_printf(out, ",\n  \"segments\": [\n");
    bool is_first = true;
    for (uint32_t i = 0; i < in->module_count; i++) {
        if (c->segment == UINT32_MAX || c->segment == in->modules[i].segment) {
            vy_text_append(out, ",\n", is_first ? 0 : 2);
            json_module(in, &in->modules[i], out);
            is_first = false;
        }
    }
    vy_text_printf(out, "\n  ]}\n");
}

/* Puts the scanning programs together. */
#include "engine/scan/text.h"

#include "engine/scan/text_parts.h"

static void append_walk(const vy_scan_variant *v, vy_text *text)
{
    vy_text bytes;
    vy_text_init(&bytes, &text->allocator);
    for (unsigned byte = 0; byte < 4; byte++) {
        vy_text_printf(&bytes, vy_scan_count_byte, byte * 8, byte);
    }
    const char *steps = bytes.data ? bytes.data : "";
    vy_text_printf(text, vy_scan_clear, v->is_multiple ? vy_scan_clear_multiple : "");
    /* Sums over the rows and automata that go to one place do not overflow. */
    vy_text_printf(text,
                   "    let most = 0xffffffff / (max(min(WIDTH, row_count), 1) * "
                   "max(automaton_count, 1))\n%s",
                   vy_scan_walk);
    if (v->is_staged) {
        vy_text_printf(text, vy_scan_staged, steps);
    } else {
        vy_text_printf(text, vy_scan_direct, steps);
    }
    vy_text_printf(text, vy_scan_walked, v->is_multiple ? vy_scan_count_many : vy_scan_count_one,
                   v->is_multiple ? vy_scan_place_many : vy_scan_place_one);
    vy_text_printf(text, "%s", vy_scan_place);
    text->failed |= bytes.failed;
    vy_text_finish(&bytes);
}

void vy_scan_text(const vy_scan_variant *v, vy_text *text)
{
    unsigned steps = 0;
    while ((1u << steps) < v->workgroup) {
        steps++;
    }
    vy_text_printf(text, "program %s\nworkgroup %u\nconst WIDTH = %u\n",
                   v->is_again ? "scan_again" : "scan", (unsigned)v->workgroup,
                   (unsigned)v->workgroup);
    vy_text_printf(text, vy_scan_head, v->is_multiple ? vy_scan_masks : "");
    if (!v->is_again || !v->is_multiple) {
        vy_text_printf(text, "shared classes : u32[256]\n");
    }
    if (v->is_staged && !v->is_again) {
        vy_text_printf(text, "shared begins : u32[WIDTH]\nshared piece : u32[WIDTH * 17]\n");
    }
    vy_text_printf(text, "%s%s%s%s%s%s", vy_scan_four_of, vy_scan_file_of,
                   v->is_reset ? vy_scan_by_reset : vy_scan_by_overlap, vy_scan_row_of,
                   v->is_wide ? vy_scan_wide : vy_scan_narrow, vy_scan_class_load);
    vy_text_printf(text, vy_scan_sums, steps);
    vy_text_printf(text, "kernel {\n    let row_tiles = (row_count + WIDTH - 1) / WIDTH\n");
    if (!v->is_again) {
        append_walk(v, text);
    }
    vy_text_printf(text, vy_scan_write, v->is_multiple ? "" : vy_scan_write_classes,
                   v->is_multiple ? vy_scan_write_start_many : vy_scan_write_start_one,
                   v->is_multiple ? vy_scan_write_many : vy_scan_write_one);
    vy_text_printf(text, "}\n");
}

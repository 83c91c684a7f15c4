/* Generated programs as text with parts that can be taken out, and the contents of their inputs. */
#include "tests/support/generate_parts.h"

#include <stdlib.h>
#include <string.h>

void vy_gen_case_copy(const vy_gen_case *from, vy_gen_case *out_case)
{
    *out_case = *from;
    vy_text_init(&out_case->text, NULL);
    vy_text_append(&out_case->text, from->text.data, from->text.size);
    out_case->part_capacity = from->part_count;
    out_case->parts = malloc((from->part_count + 1u) * sizeof *from->parts);
    if (!out_case->parts || out_case->text.failed) {
        abort();
    }
    if (from->part_count) {
        memcpy(out_case->parts, from->parts, from->part_count * sizeof *from->parts);
    }
}

void vy_gen_case_finish(vy_gen_case *c)
{
    vy_text_finish(&c->text);
    free(c->parts);
    *c = (vy_gen_case){0};
}

/* Where the part lies after the edit; false where it is gone. */
static bool move_part(vy_part *part, uint32_t begin, uint32_t end, uint32_t from, uint32_t to,
                      uint32_t kept)
{
    uint32_t removed = end - begin;
    if (part->begin >= end && !(part->begin == end && part->end == end && begin == end)) {
        part->begin = part->begin - removed + kept;
        part->end = part->end - removed + kept;
        return true;
    }
    if (part->end <= begin) {
        return true;
    }
    if (part->begin <= begin && part->end >= end) {
        /* Around what is replaced, or exactly that. */
        part->end = part->end - removed + kept;
        return part->end > part->begin;
    }
    if (part->begin >= from && part->end <= to) {
        part->begin = part->begin - from + begin;
        part->end = part->end - from + begin;
        return true;
    }
    return false;
}

void vy_gen_case_edit(vy_gen_case *c, uint32_t begin, uint32_t end, uint32_t from, uint32_t to,
                      const char *text)
{
    vy_text edited;
    uint32_t kept = text ? (uint32_t)strlen(text) : to - from, count = 0;
    vy_text_init(&edited, NULL);
    vy_text_append(&edited, c->text.data, begin);
    vy_text_append(&edited, text ? text : c->text.data + from, kept);
    vy_text_append(&edited, c->text.data + end, c->text.size - end);
    vy_text_append(&edited, "", 0);
    if (edited.failed) {
        abort();
    }
    for (uint32_t i = 0; i < c->part_count; i++) {
        vy_part part = c->parts[i];
        if (move_part(&part, begin, end, text ? end : from, text ? end : to, kept)) {
            c->parts[count++] = part;
        }
    }
    c->part_count = count;
    vy_text_finish(&c->text);
    c->text = edited;
}

/* ---- Contents ---------------------------------------------------------------------------------
 */

/* The patterns that matter to floats of that width, with so many bits of exponent. */
static uint64_t float_bits(uint32_t kind, uint64_t r, uint32_t width, uint32_t exponent_bits)
{
    uint32_t fraction = width - 1 - exponent_bits;
    uint64_t sign = (uint64_t)1 << (width - 1), one = ((uint64_t)1 << (exponent_bits - 1)) - 1;
    uint64_t inf = (((uint64_t)1 << exponent_bits) - 1) << fraction;
    const uint64_t edges[] = {0,
                              sign,
                              inf,
                              sign | inf,
                              inf | (uint64_t)1 << (fraction - 1),
                              inf | 1,
                              sign | inf | ((uint64_t)1 << (fraction - 1)) | (r & 31),
                              1,
                              sign | (((uint64_t)1 << fraction) - 1),
                              one << fraction,
                              (one + 31 % exponent_bits) << fraction,
                              sign | (one + 15 % exponent_bits) << fraction | 1,
                              inf - 1,
                              (one << fraction) - 1,
                              (one + fraction) << fraction | 1,
                              (one - 1) << fraction};
    if (kind == 0) {
        return edges[(r >> 8) % VY_COUNT_OF(edges)];
    }
    if (kind == 1) {
        return r;
    }
    /* Around one, both signs. */
    uint64_t spread = (sign | (((uint64_t)4 << fraction) - 1)) & r;
    return (((one - 1) << fraction) + (spread & ~sign)) | (spread & sign);
}

static uint64_t integer_bits(uint32_t kind, uint64_t r, uint32_t width)
{
    uint64_t most = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
    const uint64_t edges[] = {0,         1,     most,      most / 2 + 1, most / 2, 2,
                              width - 1, width, width + 1, most - 1,     255,      65536};
    if (kind == 0) {
        return edges[r % VY_COUNT_OF(edges)];
    }
    return kind == 1 ? r : r % 300;
}

bool vy_generate_is_sizes(const char *name)
{
    return strcmp(name, "sizes") == 0;
}

void vy_generate_sizes(const vy_generated *info, uint32_t out_sizes[3])
{
    memcpy(out_sizes, info->groups, 3 * sizeof *out_sizes);
    out_sizes[0] += info->more_groups;
}

uint32_t vy_generate_max_groups(const vy_generated *info)
{
    bool is_from = info->grid == VY_GRID_FROM;
    return is_from ? info->groups[0] * info->groups[1] * info->groups[2] : 0;
}

static void put_bits(uint8_t *out, uint64_t bits, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        out[i] = (uint8_t)(bits >> 8 * i);
    }
}

void vy_generate_input(const vy_generated *info, uint32_t row, uint32_t index, void *out)
{
    const vy_gen_type *t = &vy_gen_types[row];
    uint32_t size = t->kind == VY_GEN_BOOL ? 4 : t->width / 8u;
    for (uint32_t i = 0; i < t->components; i++) {
        vy_gen state = {.state = info->seed * 31 + row * 1000003u + index * 7919u + i * 104729u};
        uint64_t r = vy_gen_random(&state);
        r |= (uint64_t)vy_gen_random(&state) << 32;
        uint32_t kind = vy_gen_random(&state) % 4;
        uint64_t bits = 0;
        if (t->kind == VY_GEN_BOOL) {
            bits = kind == 0 ? r : r & 1;
        } else if (t->kind == VY_GEN_FLOAT) {
            bool is_bfloat = t->value != NULL;
            uint32_t exponent = t->width == 64 ? 11 : t->width == 32 || is_bfloat ? 8 : 5;
            bits = float_bits(kind, r, t->width, exponent);
        } else {
            bits = integer_bits(kind, r, t->width);
        }
        put_bits((uint8_t *)out + (size_t)i * size, info->zero_inputs[row] ? 0 : bits, size);
    }
}

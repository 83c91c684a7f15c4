/* See lines.h. */
#include "tools/common/lines.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 5u

void vy_lines_init(vy_lines *lines)
{
    *lines = (vy_lines){.list = {0}};
    vy_arena_init(&lines->arena, NULL);
}

void vy_lines_finish(vy_lines *lines)
{
    vy_arena_finish(&lines->arena);
    lines->list.count = 0;
}

void vy_lines_add(void *user, const vyre_printf_line *line)
{
    vy_lines *lines = user;
    vyre_printf_line copy = *line;
    copy.text = vy_arena_text(&lines->arena, line->text, strlen(line->text));
    copy.program = vy_arena_text(&lines->arena, line->program, strlen(line->program));
    if (copy.text && copy.program) {
        (void)vy_vec_push(&lines->arena, &lines->list, copy);
    }
}

static int compare_places(const vyre_printf_line *a, const vyre_printf_line *b)
{
    const uint32_t x[] = {a->pass, a->execution, a->invocation};
    const uint32_t y[] = {b->pass, b->execution, b->invocation};
    for (uint32_t i = 0; i < 3; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* qsort is not stable: the place in the list decides the rest. */
typedef struct placed {
    vyre_printf_line line;
    uint32_t place;
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int order = compare_places(&x->line, &y->line);
    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

bool vy_lines_sort(vy_lines *lines)
{
    uint32_t count = lines->list.count;
    placed *list = vy_arena_alloc(&lines->arena, count ? count : 1, sizeof *list);
    if (!list || lines->arena.failed) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (placed){lines->list.data[i], i};
    }
    qsort(list, count, sizeof *list, compare_placed);
    for (uint32_t i = 0; i < count; i++) {
        lines->list.data[i] = list[i].line;
    }
    return true;
}

void vy_line_print(FILE *out, const vyre_printf_line *line)
{
    fprintf(out, "printf %s:%u:%u pass %u segment %u invocation %u: %s\n", line->program,
            (unsigned)line->line, (unsigned)line->column, (unsigned)line->pass,
            (unsigned)line->segment, (unsigned)line->invocation, line->text);
}

bool vy_line_matches(const vyre_printf_line *a, const vyre_printf_line *b)
{
    return compare_places(a, b) == 0 && a->segment == b->segment && a->line == b->line &&
           a->column == b->column && strcmp(a->program, b->program) == 0 &&
           strcmp(a->text, b->text) == 0;
}

uint64_t vy_lines_compare(const vy_lines *device, const vy_lines *reference, FILE *out)
{
    uint64_t differences = 0;
    uint32_t d = 0, r = 0;
    while (d < device->list.count || r < reference->list.count) {
        const vyre_printf_line *x = d < device->list.count ? &device->list.data[d] : NULL;
        const vyre_printf_line *y = r < reference->list.count ? &reference->list.data[r] : NULL;
        int order = !x ? 1 : !y ? -1 : compare_places(x, y);
        if (order == 0 && vy_line_matches(x, y)) {
            d++;
            r++;
            continue;
        }
        if (differences++ < SHOWN) {
            if (order <= 0) {
                fprintf(out, "device:      ");
                vy_line_print(out, x);
            }
            if (order >= 0) {
                fprintf(out, "interpreter: ");
                vy_line_print(out, y);
            }
        }
        d += order <= 0;
        r += order >= 0;
    }
    return differences;
}

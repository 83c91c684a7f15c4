/* What people read: a markdown table for each group, aligned so that it can be read as it is. */
#include "tools/vyre-bench/bench.h"

#include "tools/common/open.h"

#include <string.h>

enum { COLUMNS = 9, CELL_SIZE = 320 };

typedef struct row {
    char cells[COLUMNS][CELL_SIZE];
} row;

typedef VY_VEC(row) row_list;

static const char *const heads[COLUMNS] = {"case",  "who",   "way",   "median us", "p10 to p90",
                                           "turns", "ratio", "check", "beside it"};

static bool is_number(uint32_t column)
{
    return column >= 3 && column <= 6;
}

static void format_count(uint64_t value, char *out, size_t out_size)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t length = strlen(digits), at = 0;
    for (size_t i = 0; i < length && at + 2 < out_size; i++) {
        if (i && (length - i) % 3 == 0 && length > 3) {
            out[at++] = ',';
        }
        out[at++] = digits[i];
    }
    out[at] = 0;
}

void bench_format_sizes(const bench_case *c, char *out, size_t out_size)
{
    size_t at = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < c->size_count && at < out_size; i++) {
        char value[48];
        format_count(c->sizes[i].value, value, sizeof value);
        int length =
            snprintf(out + at, out_size - at, "%s%s %s", i ? ", " : "", c->sizes[i].name, value);
        at += length > 0 ? (size_t)length : 0;
    }
}

void bench_format_time(double us, char *out, size_t out_size)
{
    int digits = us < 1 ? 3 : us < 10 ? 2 : us < 1000 ? 1 : 0;
    snprintf(out, out_size, "%.*f", digits, us);
}

static void format_check(const bench_series *s, char *out, size_t out_size)
{
    if (!s->check) {
        snprintf(out, out_size, "-");
    } else if (s->checked.wrong) {
        snprintf(out, out_size, "**%llu of %llu wrong**", (unsigned long long)s->checked.wrong,
                 (unsigned long long)s->checked.compared);
    } else {
        snprintf(out, out_size, "equal");
    }
}

static void append(char *out, size_t out_size, const char *what, const char *text)
{
    size_t at = strlen(out);
    snprintf(out + at, out_size - at, "%s%s%s", at ? "; " : "", what, text);
}

/* Rates for every series; target and limit beside the first; whatever else there is to say. */
static void format_beside(const bench_case *c, const bench_series *s, char *out, size_t out_size)
{
    char text[BENCH_NOTE_SIZE + 64], time[32];
    out[0] = 0;
    if (c->data_size && s->median > 0) {
        snprintf(text, sizeof text, "%.2f GB/s", (double)c->data_size / s->median / 1e3);
        append(out, out_size, "", text);
    }
    if (s == c->series && c->target.value > 0) {
        bench_format_time(c->target.value, time, sizeof time);
        snprintf(text, sizeof text, "%s us (%s)", time, c->target.text);
        append(out, out_size, "target ", text);
    }
    if (s == c->series && c->limit.value > 0) {
        bench_format_time(c->limit.value, time, sizeof time);
        snprintf(text, sizeof text, "%s us (%s)", time, c->limit.text);
        append(out, out_size, "limit ", text);
    }
    if (s->note[0]) {
        append(out, out_size, "", s->note);
    }
}

static void format_range(double from, double to, char *out, size_t out_size)
{
    char low[32], high[32];
    bench_format_time(from, low, sizeof low);
    bench_format_time(to, high, sizeof high);
    snprintf(out, out_size, "%s to %s", low, high);
}

static void fill_row(const bench_case *c, const bench_series *s, row *r)
{
    char sizes[160];
    memset(r, 0, sizeof *r);
    if (s == c->series) {
        bench_format_sizes(c, sizes, sizeof sizes);
        snprintf(r->cells[0], CELL_SIZE, "%s%s%s", c->name, sizes[0] ? ", " : "", sizes);
    }
    snprintf(r->cells[1], CELL_SIZE, "%s", s->who);
    snprintf(r->cells[2], CELL_SIZE, "%s", s->way);
    for (int i = 3; i < 8; i++) {
        snprintf(r->cells[i], CELL_SIZE, "-");
    }
    if (s->sample_count) {
        bench_format_time(s->median, r->cells[3], CELL_SIZE);
        format_range(s->p10, s->p90, r->cells[4], CELL_SIZE);
        if (s->round_low > 0) {
            format_range(s->round_low, s->round_high, r->cells[5], CELL_SIZE);
        }
        if (bench_ratio(c, s) > 0) {
            snprintf(r->cells[6], CELL_SIZE, "%.2f", bench_ratio(c, s));
        }
        format_check(s, r->cells[7], CELL_SIZE);
    }
    format_beside(c, s, r->cells[8], CELL_SIZE);
}

static void print_rows(const row_list *rows, FILE *out)
{
    size_t width[COLUMNS];
    for (uint32_t k = 0; k < COLUMNS; k++) {
        width[k] = strlen(heads[k]);
        for (uint32_t i = 0; i < rows->count; i++) {
            size_t length = strlen(rows->data[i].cells[k]);
            width[k] = length > width[k] ? length : width[k];
        }
        fprintf(out, "| %-*s ", (int)width[k], heads[k]);
    }
    fprintf(out, "|\n");
    for (uint32_t k = 0; k < COLUMNS; k++) {
        fprintf(out, "|");
        for (size_t i = 0; i < width[k] + (is_number(k) ? 1 : 2); i++) {
            fputc('-', out);
        }
        fprintf(out, "%s", is_number(k) ? ":" : "");
    }
    fprintf(out, "|\n");
    for (uint32_t i = 0; i < rows->count; i++) {
        for (uint32_t k = 0; k < COLUMNS; k++) {
            fprintf(out, is_number(k) ? "| %*s " : "| %-*s ", (int)width[k],
                    rows->data[i].cells[k]);
        }
        fprintf(out, "|\n");
    }
}

void bench_format_break_even(const bench_break_even *found, char *out, size_t out_size)
{
    char from[32], up_to[32];
    format_count(found->from, from, sizeof from);
    format_count(found->up_to, up_to, sizeof up_to);
    if (found->from) {
        snprintf(out, out_size, "from %s on, of up to %s %s", from, up_to, found->size_name);
    } else {
        snprintf(out, out_size, "not up to %s %s", up_to, found->size_name);
    }
}

static void print_break_evens(const bench_group *group, FILE *out)
{
    if (group->break_evens.count) {
        fprintf(
            out,
            "\nFrom how many on the way with 1.00 is faster, of the sizes that were measured:\n\n");
    }
    for (uint32_t i = 0; i < group->break_evens.count; i++) {
        const bench_break_even *found = &group->break_evens.data[i];
        char text[128];
        bench_format_break_even(found, text, sizeof text);
        fprintf(out, "- %s, %s, %s: %s\n", found->case_name, found->who, found->way, text);
    }
}

void bench_print_group(const bench *b, const bench_group *group, FILE *out)
{
    vy_arena arena;
    row_list rows = {0};
    (void)b;
    vy_arena_init(&arena, NULL);
    for (uint32_t i = 0; i < group->cases.count; i++) {
        const bench_case *c = group->cases.data[i];
        for (uint32_t k = 0; k < c->series_count; k++) {
            row r;
            fill_row(c, &c->series[k], &r);
            (void)vy_vec_push(&arena, &rows, r);
        }
    }
    fprintf(out, "\n### %s: %s\n\n", group->name, group->title);
    if (arena.failed) {
        fprintf(out, "(out of host memory)\n");
    } else {
        print_rows(&rows, out);
        print_break_evens(group, out);
    }
    vy_arena_finish(&arena);
    fflush(out);
}

void bench_print_head(const bench *b, FILE *out)
{
    uint32_t version = b->info.api_version;
    fprintf(out, "- device: %s, %s (%s, Vulkan %u.%u.%u)\n", b->info.name,
            vy_device_type_text(b->info.type), b->info.driver, version >> 22, version >> 12 & 0x3ff,
            version & 0xfff);
    if (b->link.rate > 0) {
        fprintf(out, "- link: %s, %.1f GB/s each way\n", b->link.text, b->link.rate / 1e3);
    }
    if (b->cuda) {
        fprintf(out, "- CUDA peer: %s (%s)\n", b->cuda_device, b->cuda_version);
    } else {
        fprintf(out, "- no CUDA peer: %s\n", b->cuda_note);
    }
    if (!b->peer) {
        fprintf(out, "- no Vulkan peer: %s\n", b->peer_note);
    }
    fprintf(
        out,
        "- Medians; the ways of a case take turns, and 'turns' has the medians of the lowest and "
        "the highest turn. Ratios are against the way with 1.00.%s\n",
        b->quick ? " Quick: sizes and counts say nothing about speed." : "");
    fflush(out);
}

/* What is printed: hits, which say where patterns end, become the leftmost and longest matches of
 * lines that do not overlap, and these lines of text or JSON. */
#include "tools/vyre-scan/scan.h"

#include <stdlib.h>
#include <string.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

/* ---- Text and JSON --------------------------------------------------------------------------- */

static void put_number(FILE *out, uint64_t value, char end)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = end;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    (void)fwrite(digits + at, 1, sizeof digits - at, out);
}

static void put_name(scan_run *run, const scan_source *source)
{
    if (source->with_name) {
        (void)fwrite(source->name, 1, strlen(source->name), run->out);
        (void)fputc(':', run->out);
    }
}

static void put_json_string(FILE *out, const char *bytes, size_t size)
{
    vy_text text;
    char *copy = malloc(size + 1);
    vy_text_init(&text, NULL);
    if (copy) {
        /* Zero bytes are no text; U+FFFD stands for them as for others that are none. */
        for (size_t i = 0; i < size; i++) {
            copy[i] = (char)(bytes[i] ? bytes[i] : '\xff');
        }
        copy[size] = 0;
        vy_json_string(&text, copy);
        free(copy);
    }
    (void)fwrite(text.data ? text.data : "\"\"", 1, text.data ? text.size : 2, out);
    vy_text_finish(&text);
}

static void open_json_source(scan_run *run, scan_source *source)
{
    if (!source->has_printed) {
        fprintf(run->out, "%s\n    {\"name\": ", run->has_json_file ? "," : "");
        put_json_string(run->out, source->name, strlen(source->name));
        fprintf(run->out, ", \"matches\": [");
        source->has_printed = run->has_json_file = true;
    }
}

uint64_t scan_line_number(const scan_load *load, const scan_piece *piece, uint32_t line_start)
{
    scan_source *source = piece->source;
    const unsigned char *bytes = load->bytes + piece->begin;
    uint64_t to = piece->offset + line_start;
    while (source->counted_to < to) {
        size_t from = (size_t)(source->counted_to - piece->offset);
        const unsigned char *found = memchr(bytes + from, '\n', line_start - from);
        source->newlines += found != NULL;
        source->counted_to = found ? piece->offset + (uint64_t)(found - bytes) + 1 : to;
    }
    return source->newlines + 1;
}

void scan_print_match(scan_run *run, const scan_load *load, const scan_piece *piece,
                      uint32_t line_start, const scan_match *match)
{
    const command *c = run->command;
    scan_source *source = piece->source;
    const char *bytes = (const char *)load->bytes + piece->begin;
    bool is_hit = c->output == OUTPUT_ALL;
    source->match_count++;
    run->totals.matches++;
    if (c->json) {
        open_json_source(run, source);
        fprintf(run->out, "%s\n      {\"offset\": %llu", source->match_count > 1 ? "," : "",
                (unsigned long long)(piece->offset + match->start));
        if (c->with_numbers) {
            fprintf(run->out, ", \"line\": %llu",
                    (unsigned long long)scan_line_number(load, piece, line_start));
        }
        fprintf(run->out, ", \"pattern\": %u", match->text + 1);
        if (!is_hit) {
            fprintf(run->out, ", \"length\": %u, \"text\": ", match->end - match->start);
            put_json_string(run->out, bytes + match->start, match->end - match->start);
        }
        fprintf(run->out, "}");
        return;
    }
    put_name(run, source);
    if (c->with_numbers) {
        put_number(run->out, scan_line_number(load, piece, line_start), ':');
    }
    put_number(run->out, piece->offset + match->start, ':');
    if (is_hit) {
        put_number(run->out, match->text + 1, '\n');
        return;
    }
    (void)fwrite(bytes + match->start, 1, match->end - match->start, run->out);
    (void)fputc('\n', run->out);
}

void scan_print_begin(scan_run *run)
{
    if (run->command->json) {
        fprintf(run->out, "{\n  \"schema\": \"vyre.scan/1\",\n  \"version\": \"%s\",\n",
                VYRE_VERSION_STRING);
        fprintf(run->out, "  \"patterns\": %u,\n  \"device\": ", run->patterns->texts.count);
        if (run->device) {
            put_json_string(run->out, run->info.name, strlen(run->info.name));
        } else {
            fprintf(run->out, "null");
        }
        fprintf(run->out, ",\n  \"files\": [");
    }
}

void scan_print_source(scan_run *run, scan_source *source)
{
    const command *c = run->command;
    bool matches = source->lines > 0;
    run->totals.lines += source->lines;
    run->found = run->found || matches;
    if (run->fatal) {
        return;
    }
    if (c->json) {
        open_json_source(run, source);
        fprintf(run->out, "%s], \"size\": %llu, \"lines\": %llu, \"binary\": %s}",
                source->match_count ? "\n    " : "", (unsigned long long)source->size,
                (unsigned long long)source->lines, source->is_binary ? "true" : "false");
    } else if (c->output == OUTPUT_COUNT) {
        put_name(run, source);
        put_number(run->out, source->lines, '\n');
    } else if ((c->output == OUTPUT_WITH && matches) || (c->output == OUTPUT_WITHOUT && !matches)) {
        fprintf(run->out, "%s\n", source->name);
    }
}

void scan_print_end(scan_run *run)
{
    const scan_totals *t = &run->totals;
    if (!run->command->json) {
        return;
    }
    fprintf(run->out, "%s],\n  \"totals\": {\"files\": %llu, \"bytes\": %llu, \"hits\": %llu, ",
            t->files ? "\n  " : "", (unsigned long long)t->files, (unsigned long long)t->bytes,
            (unsigned long long)t->hits);
    fprintf(run->out, "\"matches\": %llu, \"lines\": %llu, \"batches\": %llu, \"ns\": %llu},\n",
            (unsigned long long)t->matches, (unsigned long long)t->lines,
            (unsigned long long)t->loads,
            (unsigned long long)(vyre_clock_ns() - run->totals.begin_ns));
    fprintf(run->out, "  \"complete\": %s\n}\n", run->has_failed || run->fatal ? "false" : "true");
}

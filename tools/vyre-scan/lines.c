/* Hits, which say where patterns end, into the matches that grep prints: of each line the leftmost
 * and, of those, longest ones that do not overlap. */
#include "tools/vyre-scan/scan.h"

#include <stdlib.h>
#include <string.h>

/* A line with a pattern's end in it. */
typedef struct line {
    scan_run *run;
    const scan_load *load;
    const scan_piece *piece;
    const unsigned char *bytes;
    uint32_t start, end; /* without what ends it */
    bool is_binary;      /* a zero byte ends it, too */
    const vyre_hit *hits;
    uint64_t hit_count;
} line;

static bool is_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* ---- Which matches count --------------------------------------------------------------------- */

static bool may_start(const line *l, uint32_t start)
{
    const command *c = l->run->command;
    return (!c->whole_lines || start == l->start) &&
           (!c->whole_words || start == l->start || !is_word(l->bytes[start - 1]));
}

static bool may_end(const line *l, uint32_t end)
{
    const command *c = l->run->command;
    return (!c->whole_lines || end == l->end) &&
           (!c->whole_words || end == l->end || !is_word(l->bytes[end]));
}

/* Does a pattern that matches nothing at all match in this line? */
static bool has_empty_match(const line *l)
{
    const scan_patterns *p = l->run->patterns;
    if (!p->finds_every_line) {
        return p->finds_empty_lines && l->start == l->end;
    }
    for (uint32_t at = l->start; at <= l->end; at++) {
        if (may_start(l, at) && may_end(l, at)) {
            return true;
        }
    }
    return false;
}

/* ---- Literals -------------------------------------------------------------------------------- */

/* By start, and the longest of equal ones first. */
static int compare_matches(const void *a, const void *b)
{
    const scan_match *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return x->end > y->end ? -1 : x->end < y->end;
}

static uint32_t take_literals(const line *l, scan_match *out)
{
    const scan_rule *rules = l->run->patterns->rules.data;
    uint32_t count = 0, kept = 0, at = l->start;
    for (uint64_t i = 0; i < l->hit_count; i++) {
        const scan_rule *rule = &rules[l->hits[i].rule];
        scan_match match = {.end = l->hits[i].offset + 1, .text = rule->text};
        if (rule->length > match.end - l->start) {
            continue; /* it began before a zero byte */
        }
        match.start = match.end - rule->length;
        if (may_end(l, match.end)) {
            out[count++] = match;
        }
    }
    if (count > 1) {
        qsort(out, count, sizeof *out, compare_matches);
    }
    for (uint32_t i = 0; i < count; i++) {
        /* As in grep -F, a word may begin right behind the match before, whatever that ends in. */
        if (out[i].start >= at && (out[i].start == at || may_start(l, out[i].start))) {
            at = out[i].end;
            out[kept++] = out[i];
        }
    }
    return kept;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* The end of the longest match from `start` on; `start`: there is none. */
static uint32_t longest(const line *l, const scan_branch *branch, uint32_t start)
{
    const scan_automaton *a = &branch->anchored;
    uint32_t state = 0, found = start;
    if (branch->at_line_start && start != l->start) {
        return start;
    }
    for (uint32_t at = start; at < l->end && !a->is_dead[state];) {
        state = a->transitions[state * 256 + l->bytes[at++]];
        if (a->accepts[state] && may_end(l, at) && (!branch->at_line_end || at == l->end)) {
            found = at;
        }
    }
    return found;
}

/* The rules that end somewhere in the line, each once. */
static uint32_t list_rules(const line *l, uint32_t *out)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < l->hit_count; i++) {
        uint32_t k = 0;
        while (k < count && out[k] != l->hits[i].rule) {
            k++;
        }
        out[count] = l->hits[i].rule;
        count += k == count;
    }
    return count;
}

static uint32_t take_expressions(const line *l, scan_match *out, uint32_t *rules)
{
    uint32_t rule_count = list_rules(l, rules), count = 0;
    uint32_t last = l->hit_count ? l->hits[l->hit_count - 1].offset : 0;
    for (uint32_t start = l->start; rule_count && start <= last;) {
        scan_match best = {start, start, 0};
        for (uint32_t i = 0; i < rule_count && may_start(l, start); i++) {
            const scan_rule *rule = &l->run->patterns->rules.data[rules[i]];
            uint32_t end = longest(l, rule->branch, start);
            if (end > best.end) {
                best.end = end;
                best.text = rule->text;
            }
        }
        if (best.end > best.start) {
            out[count++] = best;
        }
        start = best.end > best.start ? best.end : start + 1;
    }
    return count;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* False: nothing more is wanted of the file. */
static bool take_line(const line *l, scan_match *matches, uint32_t count)
{
    scan_run *run = l->run;
    scan_source *source = l->piece->source;
    const command *c = run->command;
    if (count == 0 && !has_empty_match(l)) {
        return true;
    }
    source->lines++;
    if (c->output == OUTPUT_COUNT) {
        return true;
    }
    if (c->output != OUTPUT_MATCHES) {
        run->found = true;
        run->stop = run->stop || c->output == OUTPUT_QUIET;
        return false;
    }
    if (l->is_binary) {
        if (!c->json) {
            (void)fflush(run->out);
            fprintf(run->err, "vyre-scan: %s: binary file matches\n", source->name);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        scan_print_match(run, l->load, l->piece, l->start, &matches[i]);
    }
    return true;
}

static bool ends_line(unsigned char c, bool is_binary)
{
    return c == '\n' || (is_binary && c == 0);
}

static void find_end(line *l)
{
    size_t rest = l->piece->size - l->start;
    const unsigned char *from = l->bytes + l->start;
    const unsigned char *newline = memchr(from, '\n', rest);
    rest = newline ? (size_t)(newline - from) : rest;
    const unsigned char *zero = l->is_binary ? memchr(from, 0, rest) : NULL;
    l->end = l->start + (uint32_t)(zero ? (size_t)(zero - from) : rest);
}

static bool is_binary_at(const line *l, uint32_t at)
{
    return l->run->command->binary != BINARY_TEXT && at >= l->piece->binary_begin;
}

/* The next line that has to be looked at, from `from` on, and its hits, which are taken from those
 * that are left. False: there is none. */
static bool next_line(line *l, uint32_t from, bool visits_all, const vyre_hit **left,
                      uint64_t *left_count)
{
    while (*left_count && ((*left)->offset < from || ends_line(l->bytes[(*left)->offset],
                                                               is_binary_at(l, (*left)->offset)))) {
        ++*left;
        --*left_count;
    }
    if (from >= l->piece->size || (!visits_all && *left_count == 0)) {
        return false;
    }
    uint32_t start = from;
    if (!visits_all) {
        start = (*left)->offset;
        while (start > from && !ends_line(l->bytes[start - 1], is_binary_at(l, start - 1))) {
            start--;
        }
    }
    l->start = start;
    l->is_binary = is_binary_at(l, start);
    find_end(l);
    l->hits = *left;
    l->hit_count = 0;
    while (*left_count && (*left)->offset < l->end) {
        ++*left;
        --*left_count;
        l->hit_count++;
    }
    return true;
}

static void print_lines(line *l, const vyre_hit *hits, uint64_t hit_count)
{
    const scan_patterns *p = l->run->patterns;
    scan_match *matches = NULL;
    uint32_t *rules = NULL;
    uint64_t capacity = 0;
    uint32_t from = 0;
    bool goes_on = true;
    while (goes_on &&
           next_line(l, from, p->finds_every_line || p->finds_empty_lines, &hits, &hit_count)) {
        /* Matches of expressions are at most as many as bytes that end one. */
        if (l->hit_count > capacity) {
            capacity = l->hit_count * 2;
            free(matches);
            free(rules);
            matches = malloc((size_t)capacity * sizeof *matches);
            rules = malloc((size_t)capacity * sizeof *rules);
        }
        if (capacity && (!matches || !rules)) {
            vyre_diag diag;
            vy_diag_clear(&diag);
            (void)vy_diag_no_memory(&diag);
            scan_fatal(l->run, &diag);
            break;
        }
        uint32_t count = l->hit_count == 0    ? 0
                         : p->has_expressions ? take_expressions(l, matches, rules)
                                              : take_literals(l, matches);
        goes_on = take_line(l, matches, count);
        from = l->end + 1;
    }
    l->piece->source->is_done = !goes_on;
    free(matches);
    free(rules);
}

/* ---- All hits -------------------------------------------------------------------------------- */

static void print_hits(line *l, const vyre_hit *hits, uint64_t hit_count)
{
    const scan_piece *piece = l->piece;
    const scan_rule *rules = l->run->patterns->rules.data;
    scan_match last = {UINT32_MAX, 0, 0};
    for (uint64_t i = 0; i < hit_count; i++) {
        const scan_rule *rule = &rules[hits[i].rule];
        uint32_t at = hits[i].offset;
        bool is_inside = at + 1 < piece->size && l->bytes[at + 1] != '\n';
        bool is_same = last.start == at && last.text == rule->text;
        if (at < piece->own_begin || is_same ||
            (rule->branch && rule->branch->at_line_end && is_inside)) {
            continue;
        }
        last = (scan_match){at, at + 1, rule->text};
        l->run->found = true;
        scan_print_match(l->run, l->load, piece, 0, &last);
    }
}

void scan_print_piece(scan_run *run, const scan_load *load, const scan_piece *piece,
                      const vyre_hit *hits, uint64_t hit_count)
{
    scan_source *source = piece->source;
    line l = {.run = run, .load = load, .piece = piece, .bytes = load->bytes + piece->begin};
    if (source->is_done) {
        return;
    }
    if (run->command->output == OUTPUT_ALL) {
        print_hits(&l, hits, hit_count);
        return;
    }
    scan_piece text = *piece;
    bool skips = run->command->binary == BINARY_SKIP && piece->binary_begin != SCAN_NEVER;
    if (skips) {
        text.size = piece->binary_begin;
        l.piece = &text;
        while (hit_count > 0 && hits[hit_count - 1].offset >= text.size) {
            hit_count--;
        }
    }
    print_lines(&l, hits, hit_count);
    if (skips) {
        source->lines = 0;
        source->is_done = true;
    }
    if (run->command->with_numbers && !source->is_done && !piece->is_last) {
        (void)scan_line_number(load, piece, piece->size);
    }
}

/* Patterns: the lines of files and of the command line, made into a catalogue. */
#include "tools/vyre-scan/scan.h"

#include <stdlib.h>
#include <string.h>

static const size_t file_limit = (size_t)1 << 30;

/* ---- Texts ----------------------------------------------------------------------------------- */

/* The last line need not end; a text of no bytes has no lines. */
static bool take_lines(scan_patterns *p, char end, const char *file, const char *text, size_t size)
{
    uint32_t line = 1;
    for (size_t at = 0; at < size; line++) {
        const char *found = memchr(text + at, end, size - at);
        size_t length = (found ? (size_t)(found - text) : size) - at;
        scan_text one = {text + at, length, file, line};
        if (!vy_vec_push(p->arena, &p->texts, one)) {
            return false;
        }
        at += length + 1;
    }
    return true;
}

static vyre_result read_file(const command *c, scan_patterns *p, const char *name, vyre_diag *diag)
{
    char *data;
    size_t size;
    vyre_result result = vy_file_read(name, file_limit, &data, &size, diag);
    if (result != VYRE_OK) {
        return result;
    }
    const char *kept = vy_arena_text(p->arena, data, size);
    free(data);
    return kept && take_lines(p, c->zero_ends ? 0 : '\n', name, kept, size)
               ? VYRE_OK
               : vy_diag_no_memory(diag);
}

static vyre_result read_texts(const command *c, scan_patterns *p, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < c->patterns.count; i++) {
        const char *text = c->patterns.data[i];
        size_t size = strlen(text);
        /* An argument is a line even where it is empty. */
        scan_text empty = {text, 0, NULL, 0};
        bool taken =
            size ? take_lines(p, '\n', NULL, text, size) : vy_vec_push(p->arena, &p->texts, empty);
        if (taken && size && text[size - 1] == '\n') {
            taken = vy_vec_push(p->arena, &p->texts, empty);
        }
        result = taken ? VYRE_OK : vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < c->pattern_files.count; i++) {
        result = read_file(c, p, c->pattern_files.data[i], diag);
    }
    return result;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static bool push(scan_patterns *p, const scan_rule *rule, const vyre_pattern *pattern)
{
    return vy_vec_push(p->arena, &p->rules, *rule) && vy_vec_push(p->arena, &p->patterns, *pattern);
}

static vyre_result add_literal(const command *c, scan_patterns *p, uint32_t text, vyre_diag *diag)
{
    const scan_text *t = &p->texts.data[text];
    if (t->size == 0) {
        p->finds_every_line = p->finds_every_line || !c->whole_lines;
        p->finds_empty_lines = true;
        return VYRE_OK;
    }
    if (t->size > UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "a pattern has more than 4 GiB. Fix: give a shorter one");
    }
    scan_rule rule = {.text = text, .length = (uint32_t)t->size};
    vyre_pattern pattern = {
        .literal = t->text, .size = t->size, .flags = c->is_caseless ? VYRE_PATTERN_CASELESS : 0};
    p->has_newlines = p->has_newlines || memchr(t->text, '\n', t->size) != NULL;
    return push(p, &rule, &pattern) ? VYRE_OK : vy_diag_no_memory(diag);
}

static vyre_result add_expression(const command *c, scan_patterns *p, uint32_t text,
                                  vyre_diag *diag)
{
    const scan_text *t = &p->texts.data[text];
    scan_branches *branches = vy_arena_alloc(p->arena, 1, sizeof *branches);
    if (!branches) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = scan_compile_expression(p->arena, t->text, t->size, c->is_caseless,
                                                 c->finds_lines, branches, diag);
    p->has_expressions = true;
    for (uint32_t i = 0; result == VYRE_OK && i < branches->count; i++) {
        const scan_branch *branch = &branches->data[i];
        if (branch->is_nullable) {
            bool is_bound = c->whole_lines || (branch->at_line_start && branch->at_line_end);
            p->finds_every_line = p->finds_every_line || !is_bound;
            p->finds_empty_lines = true;
        }
        scan_rule rule = {.text = text, .branch = branch};
        vyre_pattern pattern = {.transitions = branch->search.transitions,
                                .accepts = branch->search.accepts,
                                .state_count = branch->search.state_count};
        if (branch->has_bytes && !push(p, &rule, &pattern)) {
            result = vy_diag_no_memory(diag);
        }
    }
    if (result != VYRE_OK && !diag->file[0]) {
        snprintf(diag->file, sizeof diag->file, "%s", t->file ? t->file : "-e");
        diag->line = t->line ? t->line : 1;
    }
    return result;
}

static int check_rejections(scan_patterns *p, FILE *err)
{
    for (uint32_t i = 0; i < p->info.rejection_count; i++) {
        vyre_rejection rejection;
        vyre_catalogue_rejection(p->catalogue, i, &rejection);
        const scan_text *t = &p->texts.data[p->rules.data[rejection.rule].text];
        fprintf(err, "%s:%u: error: the pattern cannot be taken: %s\n", t->file ? t->file : "-e",
                t->line, vyre_rejection_text(rejection.reason));
    }
    return p->info.rejection_count ? VY_EXIT_FAILED : -1;
}

int scan_patterns_create(const command *c, scan_patterns *p, FILE *err)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    vyre_result result = read_texts(c, p, &diag);
    for (uint32_t i = 0; result == VYRE_OK && i < p->texts.count; i++) {
        result = c->is_expression ? add_expression(c, p, i, &diag) : add_literal(c, p, i, &diag);
    }
    if (result == VYRE_OK) {
        vyre_catalogue_params params;
        vyre_catalogue_params_init(&params);
        params.patterns = p->patterns.data;
        params.pattern_count = p->patterns.count;
        result = vyre_catalogue_create(&params, &p->catalogue, &diag);
    }
    if (result != VYRE_OK) {
        return vy_tool_fail(err, &diag, "vyre-scan", NULL, 0);
    }
    vyre_catalogue_get_info(p->catalogue, &p->info);
    return check_rejections(p, err);
}

void scan_patterns_destroy(scan_patterns *p)
{
    vyre_catalogue_destroy(&p->catalogue);
}

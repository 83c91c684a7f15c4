/* Finding examples in comments: text to tables. */
#include "tools/common/examples.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *begin, *end; /* behind "//!", without blanks around */
    uint32_t number, column;
} line;

static void trim(const char **begin, const char **end)
{
    while (*begin < *end && (**begin == ' ' || **begin == '\t')) {
        (*begin)++;
    }
    while (*begin < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\r')) {
        (*end)--;
    }
}

static vyre_result refuse(const line *at, vyre_diag *diag, const char *what)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){at->number, at->column}, "%s",
                       what);
}

static bool take_prefix(line *at, const char *prefix)
{
    size_t length = strlen(prefix);
    if ((size_t)(at->end - at->begin) < length || memcmp(at->begin, prefix, length) != 0) {
        return false;
    }
    at->begin += length;
    trim(&at->begin, &at->end);
    return true;
}

/* NAME[i..j], whose name is cut out of it. */
static bool split_slice(char *name, vy_expectation *out)
{
    char *bracket = strchr(name, '[');
    if (!bracket) {
        return true;
    }
    char *dots = strstr(bracket, "..");
    size_t length = strlen(bracket);
    if (!dots || bracket[length - 1] != ']') {
        return false;
    }
    bracket[length - 1] = 0;
    *bracket = 0;
    *dots = 0;
    out->has_slice = true;
    return vy_parse_u32(bracket + 1, 0, UINT32_MAX, &out->from) &&
           vy_parse_u32(dots + 2, 0, UINT32_MAX, &out->to) && out->from <= out->to;
}

static const char *cut(vy_arena *arena, const char *begin, const char *end)
{
    trim(&begin, &end);
    return vy_arena_text(arena, begin, (size_t)(end - begin));
}

/* Takes "~N" and "..." off the end of a value. */
static bool split_tail(vy_expectation *out, char *value)
{
    char *wave = strchr(value, '~');
    if (wave) {
        char *end;
        out->ulp = strtod(wave + 1, &end);
        if (end == wave + 1 || *end || !(out->ulp >= 0)) {
            return false;
        }
        *wave = 0;
    }
    char *dots = strstr(value, "...");
    if (dots) {
        out->open_end = true;
        if (dots[3 + strspn(dots + 3, " \t")]) {
            return false;
        }
        while (dots > value && strchr(" \t,", dots[-1])) {
            dots--;
        }
        *dots = 0;
    }
    return true;
}

static vyre_result take_expectation(line *at, vy_arena *arena, vy_examples *examples,
                                    vyre_diag *diag)
{
    if (examples->runs.count == 0) {
        return refuse(
            at, diag,
            "an expectation stands before any run. Fix: put '//! run: ARGUMENTS' above it");
    }
    const char *equals = memchr(at->begin, '=', (size_t)(at->end - at->begin));
    if (!equals) {
        return refuse(at, diag,
                      "an expectation has no '='. Fix: write '//! expect: NAME = v, v, ...'");
    }
    vy_expectation expectation = {.line = at->number, .ulp = -1};
    /* Texts of the arena are ours to cut. */
    char *name = (char *)cut(arena, at->begin, equals);
    char *value = (char *)cut(arena, equals + 1, at->end);
    if (!name || !value) {
        return vy_diag_no_memory(diag);
    }
    if (!split_slice(name, &expectation) || !name[0]) {
        return refuse(at, diag,
                      "these elements are not understood. Fix: write NAME[i..j] with "
                      "i not over j, for elements i to j - 1");
    }
    if (!split_tail(&expectation, value)) {
        return refuse(at, diag,
                      "'...' leaves the rest of an output and '~N' gives ULP, both only "
                      "at the end. Fix: write v, v, ... ~N");
    }
    expectation.name = name;
    expectation.value = value;
    examples->runs.data[examples->runs.count - 1].expectation_count++;
    (void)vy_vec_push(arena, &examples->expectations, expectation);
    return VYRE_OK;
}

static vyre_result take_line(line *at, vy_arena *arena, vy_examples *examples, vyre_diag *diag)
{
    if (take_prefix(at, "expect:")) {
        return take_expectation(at, arena, examples, diag);
    }
    if (!take_prefix(at, "run:")) {
        return refuse(at, diag,
                      "'//!' begins neither a run nor an expectation. Fix: write '//! run: "
                      "ARGUMENTS' or '//! expect: NAME = ...', or '//' for a comment");
    }
    vy_example example = {.line = at->number,
                          .arguments = cut(arena, at->begin, at->end),
                          .first_expectation = examples->expectations.count};
    (void)vy_vec_push(arena, &examples->runs, example);
    return VYRE_OK;
}

vyre_result vy_examples_find(const char *text, size_t size, vy_arena *arena,
                             vy_examples *out_examples, vyre_diag *diag)
{
    *out_examples = (vy_examples){0};
    const char *end = text + size;
    uint32_t number = 0;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line here = {.begin = at, .end = stop ? stop : end, .number = ++number};
        trim(&here.begin, &here.end);
        here.column = (uint32_t)(here.begin - at) + 1;
        if (take_prefix(&here, "//!")) {
            vyre_result result = take_line(&here, arena, out_examples, diag);
            if (result != VYRE_OK) {
                return result;
            }
        }
        at = stop ? stop + 1 : end;
    }
    return arena->failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

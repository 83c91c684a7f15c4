/* Expressions into deterministic automata by libfa: of a match itself, and of all bytes up to where
 * one ends. */
#include "tools/vyre-scan/scan.h"
#include "tools/vyre-scan/syntax.h"

#include <stdlib.h>
#include <string.h>

#ifdef VYRE_HAVE_FA
#include <fa.h>

bool scan_has_expressions(void)
{
    return true;
}

/* ---- Automata -------------------------------------------------------------------------------- */

static int compare_states(const void *a, const void *b)
{
    struct state *const *x = a, *const *y = b;
    return (uintptr_t)*x < (uintptr_t)*y ? -1 : (uintptr_t)*x > (uintptr_t)*y;
}

typedef struct numbering {
    struct state **sorted; /* by address */
    uint32_t *number;      /* of each of them */
    uint32_t count;
} numbering;

static bool number_states(struct fa *fa, numbering *n)
{
    struct state *s;
    uint32_t i = 0;
    for (s = fa_state_initial(fa); s; s = fa_state_next(s)) {
        n->count++;
    }
    n->sorted = malloc(n->count * sizeof *n->sorted);
    n->number = malloc(n->count * sizeof *n->number);
    if (!n->sorted || !n->number) {
        return false;
    }
    for (s = fa_state_initial(fa); s; s = fa_state_next(s)) {
        n->sorted[i++] = s;
    }
    qsort(n->sorted, n->count, sizeof *n->sorted, compare_states);
    for (i = 0, s = fa_state_initial(fa); s; s = fa_state_next(s), i++) {
        struct state **found = bsearch(&s, n->sorted, n->count, sizeof *n->sorted, compare_states);
        n->number[found - n->sorted] = i;
    }
    return true;
}

/* States from which no accepting one is reached; backwards, until nothing changes. */
static void find_dead(scan_automaton *a)
{
    for (uint32_t s = 0; s < a->state_count; s++) {
        a->is_dead[s] = !a->accepts[s];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t s = a->state_count; s-- > 0;) {
            bool is_dead = a->is_dead[s];
            for (uint32_t c = 0; is_dead && c < 256; c++) {
                is_dead = a->is_dead[a->transitions[s * 256 + c]];
            }
            changed = changed || is_dead != (a->is_dead[s] != 0);
            a->is_dead[s] = is_dead;
        }
    }
}

static void fill_automaton(struct fa *fa, const numbering *n, scan_automaton *out)
{
    uint32_t s = 0, sink = n->count;
    for (struct state *state = fa_state_initial(fa); state; state = fa_state_next(state), s++) {
        uint32_t *row = out->transitions + (size_t)s * 256;
        out->accepts[s] = fa_state_is_accepting(state);
        for (uint32_t c = 0; c < 256; c++) {
            row[c] = sink;
        }
        size_t count = fa_state_num_trans(state);
        for (size_t i = 0; i < count; i++) {
            struct state *to = NULL;
            unsigned char low, high;
            if (fa_state_trans(state, i, &to, &low, &high) != 0) {
                continue;
            }
            struct state **found =
                bsearch(&to, n->sorted, n->count, sizeof *n->sorted, compare_states);
            for (unsigned c = low; c <= high; c++) {
                row[c] = n->number[found - n->sorted];
            }
        }
    }
    for (uint32_t c = 0; c < 256; c++) {
        out->transitions[(size_t)sink * 256 + c] = sink;
    }
    out->accepts[sink] = 0;
}

/* A table of a minimal automaton; its last state leads nowhere. */
static vyre_result take_automaton(vy_arena *arena, struct fa *fa, scan_automaton *out,
                                  vyre_diag *diag)
{
    numbering n = {0};
    bool made = number_states(fa, &n);
    out->state_count = n.count + 1;
    if (made) {
        out->transitions = vy_arena_alloc(arena, (size_t)out->state_count * 256, sizeof(uint32_t));
        out->accepts = vy_arena_alloc(arena, out->state_count, 1);
        out->is_dead = vy_arena_alloc(arena, out->state_count, 1);
    }
    made = made && out->transitions && out->accepts && out->is_dead;
    if (made) {
        fill_automaton(fa, &n, out);
        find_dead(out);
    }
    free(n.sorted);
    free(n.number);
    return made ? VYRE_OK : vy_diag_no_memory(diag);
}

/* ---- Languages ------------------------------------------------------------------------------- */

static struct fa *compile(const vy_text *text)
{
    struct fa *fa = NULL;
    if (text->failed || fa_compile(text->data ? text->data : "", text->size, &fa) != 0) {
        return NULL;
    }
    return fa;
}

/* Everything, or everything up to the start of a line. Zero bytes begin lines, too: those of binary
 * files, and where they do not, what is found behind them is looked at again. */
static struct fa *make_prefix(bool at_line_start, bool finds_lines)
{
    vy_text text;
    scan_byte_set all;
    memset(&all, 1, sizeof all);
    vy_text_init(&text, NULL);
    vy_text_append(&text, "(", 1);
    scan_syntax_append_set(&text, &all);
    if (!at_line_start) {
        vy_text_append(&text, "*)", 2);
    } else if (finds_lines) {
        vy_text_append(&text, "*(\n|\0))?", 8);
    } else {
        vy_text_append(&text, "*\n)?", 4);
    }
    struct fa *fa = compile(&text);
    vy_text_finish(&text);
    return fa;
}

typedef struct languages {
    struct fa *whole, *nothing, *rest, *prefix, *search;
} languages;

static vyre_result build(vy_arena *arena, const vy_text *text, bool finds_lines, scan_branch *out,
                         languages *l, vyre_diag *diag)
{
    l->whole = compile(text);
    l->nothing = fa_make_basic(FA_EPSILON);
    if (!l->whole || !l->nothing || fa_minimize(l->whole) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_OUT_OF_HOST_MEMORY, (vy_loc){0, 0},
                           "no automaton can be made of the expression. Fix: give a simpler one");
    }
    vyre_result result = take_automaton(arena, l->whole, &out->anchored, diag);
    out->is_nullable = fa_state_is_accepting(fa_state_initial(l->whole));
    l->rest = fa_minus(l->whole, l->nothing);
    l->prefix = make_prefix(out->at_line_start, finds_lines);
    if (result != VYRE_OK || !l->rest || !l->prefix) {
        return result != VYRE_OK ? result : vy_diag_no_memory(diag);
    }
    out->has_bytes = fa_is_basic(l->rest, FA_EMPTY) == 0;
    if (!out->has_bytes) {
        return VYRE_OK;
    }
    l->search = fa_concat(l->prefix, l->rest);
    if (!l->search || fa_minimize(l->search) != 0) {
        return vy_diag_no_memory(diag);
    }
    return take_automaton(arena, l->search, &out->search, diag);
}

static vyre_result build_branch(vy_arena *arena, const vy_text *text, bool finds_lines,
                                scan_branch *out, vyre_diag *diag)
{
    languages l = {0};
    vyre_result result = build(arena, text, finds_lines, out, &l, diag);
    struct fa *const all[] = {l.whole, l.nothing, l.rest, l.prefix, l.search};
    for (size_t i = 0; i < VY_COUNT_OF(all); i++) {
        fa_free(all[i]);
    }
    return result;
}

vyre_result scan_compile_expression(vy_arena *arena, const char *text, size_t size,
                                    bool is_caseless, bool finds_lines, scan_branches *out_branches,
                                    vyre_diag *diag)
{
    scan_syntax syntax;
    vyre_result result = scan_syntax_parse(text, size, is_caseless, &syntax, diag);
    /* They are pointed at: room for all of them before. */
    bool has_room = vy_vec_reserve(arena, out_branches, SYNTAX_KINDS);
    if (result == VYRE_OK && !has_room) {
        result = vy_diag_no_memory(diag);
    }
    for (unsigned i = 0; result == VYRE_OK && i < SYNTAX_KINDS; i++) {
        if (syntax.is_there[i]) {
            scan_branch *branch = &out_branches->data[out_branches->count++];
            *branch = (scan_branch){.at_line_start = (i & SYNTAX_LINE_START) != 0,
                                    .at_line_end = (i & SYNTAX_LINE_END) != 0};
            result = build_branch(arena, &syntax.alternatives[i], finds_lines, branch, diag);
        }
    }
    scan_syntax_finish(&syntax);
    return result;
}

#else

bool scan_has_expressions(void)
{
    return false;
}

vyre_result scan_compile_expression(vy_arena *arena, const char *text, size_t size,
                                    bool is_caseless, bool finds_lines, scan_branches *out_branches,
                                    vyre_diag *diag)
{
    scan_syntax syntax;
    (void)arena;
    (void)out_branches;
    (void)finds_lines;
    vyre_result result = scan_syntax_parse(text, size, is_caseless, &syntax, diag);
    scan_syntax_finish(&syntax);
    return result != VYRE_OK
               ? result
               : vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                             "this tool was built without libfa. Fix: install the package "
                             "libaugeas-dev and build again");
}

#endif

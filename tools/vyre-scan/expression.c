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

static uint32_t number_of(const numbering *n, struct state *state)
{
    struct state **found = bsearch(&state, n->sorted, n->count, sizeof state, compare_states);
    return n->number[found - n->sorted];
}

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

/* ---- How many states there will be ----------------------------------------------------------- */

enum { MAX_SUBSETS = 32768, TABLE_SIZE = 4 * MAX_SUBSETS };

/* Sets of states of which each becomes one of the deterministic automaton's. */
typedef struct subsets {
    uint32_t state_count, count;
    size_t words;    /* of a set */
    uint64_t *bits;  /* set after set */
    uint32_t *table; /* by hash: its number, from 1 */
    uint64_t *next;
    struct state **states, **members;
    bool begins[256]; /* bytes from which on transitions differ */
} subsets;

/* Adds the set unless it is there; false: that would be one too many. */
static bool add_subset(subsets *s, const uint64_t *bits)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < s->words; i++) {
        hash = (hash ^ bits[i]) * VY_HASH_MULTIPLIER;
        hash ^= hash >> 32;
    }
    size_t at = hash % TABLE_SIZE, size = s->words * sizeof *bits;
    while (s->table[at]) {
        if (memcmp(s->bits + (s->table[at] - 1) * s->words, bits, size) == 0) {
            return true;
        }
        at = (at + 1) % TABLE_SIZE;
    }
    if (s->count == MAX_SUBSETS) {
        return false;
    }
    uint64_t *grown = (s->count & (s->count + 1)) == 0
                          ? realloc(s->bits, 2 * ((size_t)s->count + 1) * size)
                          : s->bits;
    if (!grown) {
        return false;
    }
    s->bits = grown;
    memcpy(s->bits + s->count * s->words, bits, size);
    s->table[at] = ++s->count;
    return true;
}

/* The set behind that byte. */
static bool follow(subsets *s, uint32_t member_count, unsigned byte, const numbering *n)
{
    bool is_any = false;
    memset(s->next, 0, s->words * sizeof *s->next);
    for (uint32_t m = 0; m < member_count; m++) {
        size_t count = fa_state_num_trans(s->members[m]);
        for (size_t i = 0; i < count; i++) {
            struct state *to = NULL;
            unsigned char low = 1, high = 0;
            (void)fa_state_trans(s->members[m], i, &to, &low, &high);
            if (low <= byte && byte <= high) {
                uint32_t number = number_of(n, to);
                s->next[number / 64] |= (uint64_t)1 << number % 64;
                is_any = true;
            }
        }
    }
    return !is_any || add_subset(s, s->next);
}

static bool count_subsets(subsets *s, const numbering *n)
{
    bool fits = true;
    s->next[0] = 1;
    fits = add_subset(s, s->next);
    for (uint32_t i = 0; fits && i < s->count; i++) {
        uint32_t members = 0;
        for (uint32_t k = 0; k < s->state_count; k++) {
            if (s->bits[i * s->words + k / 64] >> k % 64 & 1) {
                s->members[members++] = s->states[k];
            }
        }
        for (unsigned byte = 0; fits && byte < 256; byte++) {
            fits = !s->begins[byte] || follow(s, members, byte, n);
        }
    }
    return fits;
}

/* Makes it deterministic and minimal, unless that has too many states on the way: libfa would go
 * on until memory ends. */
static bool minimize(struct fa *fa)
{
    numbering n = {0};
    subsets s = {.count = 0};
    bool fits = number_states(fa, &n);
    s.state_count = n.count;
    s.words = n.count / 64 + 1;
    s.table = calloc(TABLE_SIZE, sizeof *s.table);
    s.next = calloc(s.words, sizeof *s.next);
    s.states = malloc(n.count * sizeof *s.states);
    s.members = malloc(n.count * sizeof *s.members);
    fits = fits && s.table && s.next && s.states && s.members;
    struct state *state = fits ? fa_state_initial(fa) : NULL;
    s.begins[0] = true;
    for (uint32_t k = 0; state; state = fa_state_next(state), k++) {
        s.states[k] = state;
        for (size_t i = 0; i < fa_state_num_trans(state); i++) {
            struct state *to;
            unsigned char low = 0, high = 255;
            (void)fa_state_trans(state, i, &to, &low, &high);
            s.begins[low] = true;
            if (high < 255) {
                s.begins[high + 1] = true;
            }
        }
    }
    fits = fits && count_subsets(&s, &n);
    free(s.bits);
    free(s.table);
    free(s.next);
    free(s.states);
    free(s.members);
    free(n.sorted);
    free(n.number);
    return fits && fa_minimize(fa) == 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

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
            uint32_t number = number_of(n, to);
            for (unsigned c = low; c <= high; c++) {
                row[c] = number;
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

static vyre_result refuse(vyre_diag *diag)
{
    return vy_diag_set(
        diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){1, 1},
        "the automaton of the expression would have more than %u states, or there is no "
        "memory for it. Fix: "
        "repeat less, or give several expressions that each say less",
        (unsigned)MAX_SUBSETS);
}

static vyre_result build(vy_arena *arena, const vy_text *text, bool finds_lines, scan_branch *out,
                         languages *l, vyre_diag *diag)
{
    l->whole = compile(text);
    l->nothing = fa_make_basic(FA_EPSILON);
    if (!l->whole || !l->nothing || !minimize(l->whole)) {
        return refuse(diag);
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
    if (!l->search || !minimize(l->search)) {
        return refuse(diag);
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

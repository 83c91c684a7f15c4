/* --diff: two programs, segment by segment. What stands outside of functions has no order. The
 * instructions of each function are aligned by how their values are computed first, then, in the
 * gaps, by their shape alone; values of aligned instructions are the same ones, and an instruction
 * of other ones differs. */
#include "tools/vyre-spv/listing.h"

#include "tools/common/system.h"
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT 3u
/* Lines that a stretch may differ in before it counts as another one. */
#define MOST_EDITS 2000u
/* How far from its place a changed instruction is looked for. */
#define FARTHEST 64u

typedef struct row {
    char kind;         /* ' ', '-', '+' */
    uint32_t from, to; /* lines of either */
} row;

typedef VY_VEC(row) rows;
typedef VY_VEC(uint32_t) numbers;

typedef struct comparison {
    listing a, b;
    vy_arena arena;
    rows rows;
    bool has_colors;
    FILE *out;
} comparison;

typedef uint64_t (*key_fn)(const line *at);

static uint64_t shape_of(const line *at)
{
    return at->shape;
}

static uint64_t value_key_of(const line *at)
{
    return at->key;
}

static void pair(comparison *c, uint32_t from, uint32_t to)
{
    line *a = &c->a.lines.data[from], *b = &c->b.lines.data[to];
    a->pair = to + 1;
    b->pair = from + 1;
    if (a->result && b->result) {
        c->a.pairs[a->result] = b->result;
        c->b.pairs[b->result] = a->result;
    }
}

/* ---- Alignment ------------------------------------------------------------------------------- */

typedef struct stretch {
    const uint32_t *a, *b; /* lines */
    uint32_t a_count, b_count;
} stretch;

/* Where a diagonal begins in row d, by the row before (of diagonals -d to d, which has its own): by
 * a step to the right or down from a neighbour; -1: it does not. */
static int32_t step_to(const stretch *s, const int32_t *last, int32_t k, int32_t d, bool *is_down)
{
    int32_t right = k > -d && last[k - 1] >= 0 ? last[k - 1] + 1 : -1;
    int32_t down = k < d ? last[k + 1] : -1;
    right = right <= (int32_t)s->a_count ? right : -1;
    down = down >= 0 && down - k <= (int32_t)s->b_count ? down : -1;
    *is_down = down >= right;
    return *is_down ? down : right;
}

/* From the rows of furthest points back to the beginning, which pairs what is the same. */
static void walk_back(comparison *c, const stretch *s, int32_t *const *furthest, int32_t edits)
{
    int32_t x = (int32_t)s->a_count, y = (int32_t)s->b_count;
    for (int32_t d = edits; d >= 0; d--) {
        int32_t k = x - y, begin = 0;
        bool is_down = false;
        if (d > 0) {
            begin = step_to(s, furthest[d - 1] + d, k, d, &is_down);
        }
        while (x > begin) {
            x--;
            y--;
            pair(c, s->a[x], s->b[y]);
        }
        x -= d > 0 && !is_down;
        y -= d > 0 && is_down;
    }
}

/* Row d of furthest points; whether the end is reached. */
static bool make_row(const comparison *c, const stretch *s, key_fn key, const int32_t *last,
                     int32_t d, int32_t *v)
{
    const line *a = c->a.lines.data, *b = c->b.lines.data;
    int32_t n = (int32_t)s->a_count, m = (int32_t)s->b_count;
    for (int32_t k = -d; k <= d; k += 2) {
        bool is_down;
        int32_t x = d ? step_to(s, last, k, d, &is_down) : 0;
        while (x >= 0 && x < n && x - k < m && key(&a[s->a[x]]) == key(&b[s->b[x - k]])) {
            x++;
        }
        v[k] = x;
        if (x == n && x - k == m) {
            return true;
        }
    }
    return false;
}

/* Myers: the fewest edits. Pairs nothing where there are more than MOST_EDITS. */
static void align(comparison *c, stretch s, key_fn key)
{
    const line *a = c->a.lines.data, *b = c->b.lines.data;
    while (s.a_count && s.b_count && key(&a[s.a[0]]) == key(&b[s.b[0]])) {
        pair(c, *s.a++, *s.b++);
        s.a_count--;
        s.b_count--;
    }
    while (s.a_count && s.b_count && key(&a[s.a[s.a_count - 1]]) == key(&b[s.b[s.b_count - 1]])) {
        pair(c, s.a[--s.a_count], s.b[--s.b_count]);
    }
    if (!s.a_count || !s.b_count) {
        return;
    }
    int32_t **furthest = vy_arena_alloc(&c->arena, MOST_EDITS + 1u, sizeof *furthest);
    for (int32_t d = 0; furthest && d <= (int32_t)MOST_EDITS; d++) {
        /* Of diagonals -d - 1 to d + 1. */
        furthest[d] = vy_arena_alloc(&c->arena, 2 * (size_t)d + 3, sizeof **furthest);
        if (!furthest[d]) {
            return;
        }
        if (make_row(c, &s, key, d ? furthest[d - 1] + d : NULL, d, furthest[d] + d + 1)) {
            walk_back(c, &s, furthest, d);
            return;
        }
    }
}

/* Instructions of one opcode that stand in the same gap are taken for one that changed: its value
 * is the same one to others. */
static void take_changed(comparison *c, const stretch *gap)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < gap->a_count; i++) {
        const line *a = &c->a.lines.data[gap->a[i]];
        uint32_t end = gap->b_count - next < FARTHEST ? gap->b_count : next + FARTHEST;
        for (uint32_t k = next; k < end && !a->pair; k++) {
            const line *b = &c->b.lines.data[gap->b[k]];
            if (!b->pair && a->opcode == b->opcode && a->result && b->result &&
                !c->a.pairs[a->result] && !c->b.pairs[b->result]) {
                c->a.pairs[a->result] = b->result;
                c->b.pairs[b->result] = a->result;
                next = k + 1;
                break;
            }
        }
    }
}

/* Every stretch between two pairs that are there. */
static void for_gaps(comparison *c, const numbers *a, const numbers *b, bool aligns)
{
    uint32_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        uint32_t first = i, begin = k;
        while (i < a->count && !c->a.lines.data[a->data[i]].pair) {
            i++;
        }
        while (k < b->count && !c->b.lines.data[b->data[k]].pair) {
            k++;
        }
        stretch gap = {a->data + first, b->data + begin, i - first, k - begin};
        if (gap.a_count && gap.b_count && aligns) {
            align(c, gap, shape_of);
        } else if (gap.a_count && gap.b_count) {
            take_changed(c, &gap);
        }
        i += i < a->count;
        k += k < b->count;
    }
}

static void collect(const listing *l, vy_arena *arena, uint32_t function, numbers *out)
{
    for (uint32_t i = 0; i < l->lines.count; i++) {
        if (l->lines.data[i].function == function && !l->lines.data[i].is_ignored) {
            (void)vy_vec_push(arena, out, i);
        }
    }
}

/* In any order: each with one of the same key. */
static void match_outside(comparison *c, const numbers *a, const numbers *b)
{
    size_t capacity = 16;
    while (capacity < 2 * (size_t)b->count) {
        capacity *= 2;
    }
    uint32_t *table = vy_arena_alloc(&c->arena, capacity, sizeof *table);
    for (uint32_t i = 0; table && i < b->count; i++) {
        size_t at = (size_t)c->b.lines.data[b->data[i]].shape & (capacity - 1);
        while (table[at]) {
            at = (at + 1) & (capacity - 1);
        }
        table[at] = b->data[i] + 1;
    }
    for (uint32_t i = 0; table && i < a->count; i++) {
        const line *from = &c->a.lines.data[a->data[i]];
        for (size_t at = (size_t)from->shape & (capacity - 1); table[at];
             at = (at + 1) & (capacity - 1)) {
            const line *to = &c->b.lines.data[table[at] - 1];
            if (!to->pair && to->shape == from->shape) {
                pair(c, a->data[i], table[at] - 1);
                break;
            }
        }
    }
}

/* Whether the operands of a pair are the same ones. */
static bool is_same(const comparison *c, const line *a, const line *b)
{
    for (uint32_t k = a->place; k < a->count && k < b->count && a->function; k++) {
        uint32_t from = token_of(&c->a, a, k)->id, to = token_of(&c->b, b, k)->id;
        if (from && !c->a.keys[from] && c->a.pairs[from] != to) {
            return false;
        }
    }
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void add_row(comparison *c, char kind, uint32_t from, uint32_t to)
{
    (void)vy_vec_push(&c->arena, &c->rows, (row){kind, from, to});
}

/* What was taken away stands before what came. */
static void add_rows(comparison *c, const numbers *a, const numbers *b)
{
    uint32_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        const line *from = i < a->count ? &c->a.lines.data[a->data[i]] : NULL;
        const line *to = k < b->count ? &c->b.lines.data[b->data[k]] : NULL;
        if (from && (!from->pair || from->differs)) {
            add_row(c, '-', a->data[i++], 0);
        } else if (to && (!to->pair || to->differs)) {
            add_row(c, '+', 0, b->data[k++]);
        } else if (from && to) {
            add_row(c, ' ', a->data[i++], b->data[k++]);
        } else {
            break;
        }
    }
}

/* Outside of functions pairs stand in the order of the first. */
static void add_outside(comparison *c, const numbers *a, const numbers *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t to = c->a.lines.data[a->data[i]].pair;
        add_row(c, to ? ' ' : '-', a->data[i], to ? to - 1 : 0);
    }
    for (uint32_t k = 0; k < b->count; k++) {
        if (!c->b.lines.data[b->data[k]].pair) {
            add_row(c, '+', 0, b->data[k]);
        }
    }
}

static void mark_differences(comparison *c, const numbers *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        line *from = &c->a.lines.data[a->data[i]];
        line *to = from->pair ? &c->b.lines.data[from->pair - 1] : NULL;
        if (to && !is_same(c, from, to)) {
            from->differs = to->differs = true;
        }
    }
}

static void compare_functions(comparison *c, uint32_t from, uint32_t to)
{
    numbers a = {0}, b = {0};
    if (from) {
        collect(&c->a, &c->arena, from, &a);
    }
    if (to) {
        collect(&c->b, &c->arena, to, &b);
    }
    if (from && to) {
        stretch whole = {a.data, b.data, a.count, b.count};
        align(c, whole, value_key_of);
        for_gaps(c, &a, &b, true);
        for_gaps(c, &a, &b, false);
        mark_differences(c, &a);
    }
    add_rows(c, &a, &b);
}

static void compare(comparison *c)
{
    numbers a = {0}, b = {0};
    collect(&c->a, &c->arena, 0, &a);
    collect(&c->b, &c->arena, 0, &b);
    match_outside(c, &a, &b);
    add_outside(c, &a, &b);
    bool *is_taken = vy_arena_alloc(&c->arena, c->b.function_count + 1u, sizeof *is_taken);
    for (uint32_t f = 1; is_taken && f <= c->a.function_count; f++) {
        uint32_t to = 1;
        while (to <= c->b.function_count &&
               (is_taken[to] || c->b.functions[to] != c->a.functions[f])) {
            to++;
        }
        to = to <= c->b.function_count ? to : 0;
        is_taken[to] = true;
        compare_functions(c, f, to);
    }
    for (uint32_t f = 1; is_taken && f <= c->b.function_count; f++) {
        if (!is_taken[f]) {
            compare_functions(c, 0, f);
        }
    }
}

/* ---- Output ---------------------------------------------------------------------------------- */

#define BOLD  "1"
#define RED   "31"
#define GREEN "32"
#define CYAN  "36"

static void begin_color(const comparison *c, const char *color)
{
    if (c->has_colors) {
        fprintf(c->out, "\033[%sm", color);
    }
}

static void end_line(const comparison *c)
{
    fprintf(c->out, c->has_colors ? "\033[m\n" : "\n");
}

/* Values that both have are named as in the first; of others a number has a sign, so that it is not
 * taken for one of the first. */
static void print_token(const comparison *c, const listing *l, const token *t)
{
    const token *shown = t;
    if (t->id) {
        uint32_t other = l == &c->b ? l->pairs[t->id] : 0;
        shown = other ? &c->a.names[other] : &l->names[t->id];
    }
    fprintf(c->out, "%.*s", (int)shown->length, shown->text);
    if (t->id && l == &c->b && !l->pairs[t->id] && shown->length > 1 && shown->text[1] >= '0' &&
        shown->text[1] <= '9') {
        fputc('\'', c->out);
    }
}

static void print_decorations(const comparison *c, const listing *l, uint32_t id)
{
    bool is_first = true;
    for (uint32_t i = 0; l->decorations[id] && i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        if (at->function) {
            break;
        }
        bool is_member = at->opcode == SpvOpMemberDecorate;
        if ((at->opcode == SpvOpDecorate || is_member) && at->count > 2 &&
            token_of(l, at, 1)->id == id) {
            fprintf(c->out, "%s", is_first ? "  ; " : ", ");
            for (uint32_t k = 2; k < at->count; k++) {
                const token *t = token_of(l, at, k);
                fprintf(c->out, is_member && k == 2 ? "[%.*s]" : "%.*s", (int)t->length, t->text);
                fprintf(c->out, k + 1 < at->count ? " " : "");
            }
            is_first = false;
        }
    }
}

static void print_line(const comparison *c, const listing *l, const line *at)
{
    for (uint32_t k = 0; k < at->count; k++) {
        fprintf(c->out, "%s", k ? " " : "");
        print_token(c, l, token_of(l, at, k));
    }
    if (at->result) {
        print_decorations(c, l, at->result);
    }
}

static void print_row(const comparison *c, const row *r)
{
    bool is_new = r->kind == '+';
    if (r->kind != ' ') {
        begin_color(c, is_new ? GREEN : RED);
    }
    fputc(r->kind, c->out);
    print_line(c, is_new ? &c->b : &c->a,
               is_new ? &c->b.lines.data[r->to] : &c->a.lines.data[r->from]);
    if (r->kind != ' ') {
        end_line(c);
    } else {
        fputc('\n', c->out);
    }
}

/* The name of the function that a row is in. */
static void print_function(const comparison *c, const row *r)
{
    const listing *l = r->kind == '+' ? &c->b : &c->a;
    uint32_t at = r->kind == '+' ? r->to : r->from, function = l->lines.data[at].function;
    for (uint32_t i = 0; function && i < l->lines.count; i++) {
        const line *head = &l->lines.data[i];
        if (head->function == function && head->result) {
            const token *name = &l->names[head->result];
            fprintf(c->out, " %.*s", (int)name->length, name->text);
            return;
        }
    }
}

static void print_hunk(const comparison *c, uint32_t first, uint32_t end, uint32_t old_line,
                       uint32_t new_line)
{
    uint32_t old_count = 0, new_count = 0;
    for (uint32_t i = first; i < end; i++) {
        old_count += c->rows.data[i].kind != '+';
        new_count += c->rows.data[i].kind != '-';
    }
    begin_color(c, CYAN);
    fprintf(c->out, "@@ -%u,%u +%u,%u @@", old_line + (old_count != 0), old_count,
            new_line + (new_count != 0), new_count);
    print_function(c, &c->rows.data[first]);
    end_line(c);
    for (uint32_t i = first; i < end; i++) {
        print_row(c, &c->rows.data[i]);
    }
}

static void print_hunks(const comparison *c)
{
    uint32_t old_line = 0, new_line = 0, at = 0; /* lines before the row `at` */
    for (uint32_t i = 0; i < c->rows.count;) {
        if (c->rows.data[i].kind == ' ') {
            i++;
            continue;
        }
        uint32_t first = i > CONTEXT && i - CONTEXT > at ? i - CONTEXT : at, last = i;
        for (uint32_t k = i; k < c->rows.count && k - last <= 2 * CONTEXT; k++) {
            last = c->rows.data[k].kind != ' ' ? k : last;
        }
        uint32_t end = last + 1 + CONTEXT < c->rows.count ? last + 1 + CONTEXT : c->rows.count;
        for (; at < first; at++) {
            old_line += c->rows.data[at].kind != '+';
            new_line += c->rows.data[at].kind != '-';
        }
        print_hunk(c, first, end, old_line, new_line);
        for (; at < end; at++) {
            old_line += c->rows.data[at].kind != '+';
            new_line += c->rows.data[at].kind != '-';
        }
        i = end;
    }
}

/* ---- Summary --------------------------------------------------------------------------------- */

static void print_count(FILE *out, const char *name, uint32_t a, uint32_t b)
{
    if (a != b) {
        fprintf(out, "  %-24s %u -> %u (%+d)\n", name, a, b, (int)(b - a));
    }
}

static uint32_t count_class(const listing *l, uint32_t class)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->lines.count; i++) {
        count += !l->lines.data[i].is_ignored && class_has(class, l->lines.data[i].opcode);
    }
    return count;
}

/* Names of decorations, each once, and how often either side has them. */
#define MOST_DECORATIONS 64u

typedef struct tally {
    token names[MOST_DECORATIONS];
    uint32_t counts[MOST_DECORATIONS][2], used;
} tally;

static void count_decorations(const listing *l, int side, tally *t)
{
    for (uint32_t i = 0; i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        uint32_t k = at->opcode == SpvOpDecorate ? 2 : at->opcode == SpvOpMemberDecorate ? 3 : 0;
        if (!k || k >= at->count) {
            continue;
        }
        const token *name = token_of(l, at, k);
        uint32_t n = 0;
        while (n < t->used && (t->names[n].length != name->length ||
                               memcmp(t->names[n].text, name->text, name->length) != 0)) {
            n++;
        }
        if (n < MOST_DECORATIONS) {
            t->names[n] = *name;
            t->used = n < t->used ? t->used : n + 1;
            t->counts[n][side]++;
        }
    }
}

static void print_decoration_counts(const comparison *c)
{
    tally t = {.used = 0};
    count_decorations(&c->a, 0, &t);
    count_decorations(&c->b, 1, &t);
    for (uint32_t n = 0; n < t.used; n++) {
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)t.names[n].length, t.names[n].text);
        print_count(c->out, text, t.counts[n][0], t.counts[n][1]);
    }
}

static void print_declared(const comparison *c, const listing *l, char sign, uint32_t opcode,
                           const char *what)
{
    for (uint32_t i = 0; i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        if (at->opcode == opcode && !at->is_ignored && !at->pair && at->count > 1) {
            const token *t = token_of(l, at, at->count - 1);
            fprintf(c->out, "  %c %s %.*s\n", sign, what, (int)t->length, t->text);
        }
    }
}

static void print_summary(const comparison *c)
{
    static const struct {
        uint32_t opcode;
        const char *what;
    } declared[] = {{SpvOpCapability, "capability"},
                    {SpvOpExtension, "extension"},
                    {SpvOpExtInstImport, "instruction set"}};
    uint32_t words[2] = {5, 5}, instructions[2] = {0};
    const listing *const all[] = {&c->a, &c->b};
    for (int s = 0; s < 2; s++) {
        for (uint32_t i = 0; i < all[s]->lines.count; i++) {
            const line *at = &all[s]->lines.data[i];
            bool counts =
                !at->is_ignored || at->opcode == SpvOpDecorate || at->opcode == SpvOpMemberDecorate;
            words[s] += counts ? at->words : 0;
            instructions[s] += counts;
        }
    }
    print_count(c->out, "words", words[0], words[1]);
    print_count(c->out, "instructions", instructions[0], instructions[1]);
    const char *name;
    for (uint32_t i = 0; (name = class_name(i)) != NULL; i++) {
        print_count(c->out, name, count_class(&c->a, i), count_class(&c->b, i));
    }
    for (size_t i = 0; i < VY_COUNT_OF(declared); i++) {
        print_declared(c, &c->a, '-', declared[i].opcode, declared[i].what);
        print_declared(c, &c->b, '+', declared[i].opcode, declared[i].what);
    }
    print_decoration_counts(c);
}

/* ---- Both files ------------------------------------------------------------------------------ */

static vyre_result compare_modules(const command *asked, const module *a, const module *b,
                                   FILE *out, bool *inout_differs, vyre_diag *diag)
{
    comparison c = {.out = out, .has_colors = vy_is_terminal(out) && !getenv("NO_COLOR")};
    uint32_t left = 0, came = 0;
    vy_arena_init(&c.arena, NULL);
    vyre_result result = make_listing(a, &c.a, diag);
    vyre_result second = result == VYRE_OK ? make_listing(b, &c.b, diag) : result;
    if (second == VYRE_OK) {
        bool by_names = c.a.has_names && c.b.has_names;
        make_keys(&c.a, by_names);
        make_keys(&c.b, by_names);
        compare(&c);
        second = c.arena.failed ? vy_diag_no_memory(diag) : VYRE_OK;
    }
    for (uint32_t i = 0; i < c.rows.count; i++) {
        left += c.rows.data[i].kind == '-';
        came += c.rows.data[i].kind == '+';
    }
    if (second == VYRE_OK && left + came) {
        begin_color(&c, BOLD);
        fprintf(out, "--- %s: %s", asked->file, a->name);
        end_line(&c);
        begin_color(&c, BOLD);
        fprintf(out, "+++ %s: %s", asked->other, b->name);
        end_line(&c);
        print_hunks(&c);
        fprintf(out, "%s: %u line%s gone, %u new\n", a->name, left, left == 1 ? "" : "s", came);
        print_summary(&c);
        *inout_differs = true;
    } else if (second == VYRE_OK) {
        fprintf(out, "%s: the same\n", a->name);
    }
    if (result == VYRE_OK) {
        finish_listing(&c.b);
    }
    finish_listing(&c.a);
    vy_arena_finish(&c.arena);
    return second;
}

static int compare_inputs(const command *c, const input *a, const input *b, FILE *out, FILE *err)
{
    uint32_t most = a->module_count > b->module_count ? a->module_count : b->module_count;
    bool differs = false;
    vyre_diag diag;
    vy_diag_clear(&diag);
    if (c->segment != UINT32_MAX && c->segment >= most) {
        return vy_tool_usage(err, "vyre-spv", "there is no segment %u; the programs have %u",
                             c->segment, most);
    }
    for (uint32_t i = 0; i < most; i++) {
        if (c->segment != UINT32_MAX && c->segment != i) {
            continue;
        }
        if (i >= a->module_count || i >= b->module_count) {
            bool is_gone = i < a->module_count;
            fprintf(out, "%s: only in %s\n", (is_gone ? a : b)->modules[i].name,
                    is_gone ? c->file : c->other);
            differs = true;
        } else if (compare_modules(c, &a->modules[i], &b->modules[i], out, &differs, &diag) !=
                   VYRE_OK) {
            (void)vy_tool_fail(err, &diag, NULL, NULL, 0);
            return VY_EXIT_USAGE;
        }
    }
    return differs ? VY_EXIT_FAILED : VY_EXIT_OK;
}

int diff(const command *c, FILE *out, FILE *err)
{
    input inputs[2] = {{.kernel = NULL}, {.kernel = NULL}};
    const char *const paths[] = {c->file, c->other};
    int code = -1;
    for (int i = 0; i < 2 && code < 0; i++) {
        vyre_diag diag;
        vy_diag_clear(&diag);
        vyre_result result = load_input(c, paths[i], &inputs[i], out, &diag);
        if (result == VYRE_OK) {
            result = optimise_input(c, &inputs[i], &diag);
        }
        if (result != VYRE_OK) {
            (void)vy_tool_fail(err, &diag, paths[i], vy_source_quote(&inputs[i].source, &diag),
                               inputs[i].source.size);
            code = VY_EXIT_USAGE;
        }
    }
    if (code < 0) {
        code = compare_inputs(c, &inputs[0], &inputs[1], out, err);
    }
    finish_input(&inputs[0]);
    finish_input(&inputs[1]);
    return code;
}

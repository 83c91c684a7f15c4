/* Names and scopes: every name is free and unique among what is visible with it, and every variable
 * is used within the list that declares it. */
#include "codegen/ir/names.h"
#include "codegen/ir/validate.h"

#include <string.h>

#define MANY_NAMES 24u /* from which on the shapes of all words pay */

typedef struct name_entry {
    const char *name;
    const char *what; /* what is visible under the name, or NULL */
    uint64_t hash;
    vy_loc loc;
    bool is_checked; /* the name is none of the language's words */
} name_entry;

typedef struct scopes {
    vy_validator *v;
    name_entry *names; /* a hash table with linear probing, at most half full */
    uint32_t mask;
    const vy_word_shapes *words;          /* NULL: few names */
    bool *is_visible;                     /* by variable */
    VY_VEC(uint32_t) declared;            /* variables visible now, innermost last */
    uint32_t marks[VYRE_MAX_NESTING + 2]; /* by list: height of `declared` where it began */
} scopes;

static name_entry *find_name(scopes *s, const char *name)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, name, strlen(name));
    uint64_t key = vy_hash_value(&hash);
    uint32_t slot = (uint32_t)key & s->mask;
    while (s->names[slot].name &&
           (s->names[slot].hash != key || strcmp(s->names[slot].name, name) != 0)) {
        slot = (slot + 1) & s->mask;
    }
    name_entry *entry = &s->names[slot];
    entry->name = name;
    entry->hash = key;
    return entry;
}

static bool is_free(const scopes *s, const char *name)
{
    return s->words && !vy_word_shapes_has(s->words, name) ? vy_name_is_plain(name)
                                                           : vy_name_is_free(name);
}

static void declare(scopes *s, const char *name, const char *what, vy_loc loc)
{
    vy_validator *v = s->v;
    name_entry *entry = find_name(s, name);
    if (!entry->is_checked && !is_free(s, name)) {
        vy_validator_fail(v, loc, "`%.60s` cannot name a %s: %s. Fix: choose another name", name,
                          what,
                          vy_name_is_plain(name)
                              ? "the language has given it a meaning"
                              : "names are letters, digits and `_`, not beginning with a digit");
        return;
    }
    entry->is_checked = true;
    if (entry->what) {
        vy_validator_fail(v, loc,
                          "the name `%.60s` of a %s is taken: a %s has it%s, and shadowing is not "
                          "allowed. Fix: choose another name",
                          name, what, entry->what, vy_place(entry->loc).text);
        return;
    }
    entry->what = what;
    entry->loc = loc;
}

static void declare_globals(scopes *s)
{
    const vyre_program *p = s->v->program;
    for (uint32_t i = 1; i < p->buffers.count; i++) {
        declare(s, p->buffers.data[i].name, "buffer", p->buffers.data[i].loc);
    }
    for (uint32_t i = 1; i < p->params.count; i++) {
        declare(s, p->params.data[i].name, "param", p->params.data[i].loc);
    }
    for (uint32_t i = 1; i < p->constants.count; i++) {
        declare(s, p->constants.data[i].name, "constant", p->constants.data[i].loc);
    }
    for (uint32_t i = 1; i < p->tables.count; i++) {
        declare(s, p->tables.data[i].name, "table", p->tables.data[i].loc);
    }
    for (uint32_t i = 1; i < p->functions.count; i++) {
        declare(s, p->functions.data[i].name, "function", p->functions.data[i].loc);
    }
}

/* ---- Variables ------------------------------------------------------------------------------- */

static void declare_variable(scopes *s, uint32_t var)
{
    static const char *const kinds[] = {"variable", "variable", "array", "loop index", "parameter"};
    const vy_var *entry = &s->v->program->vars.data[var];
    if (var == 0) {
        return;
    }
    declare(s, entry->name, kinds[entry->kind], entry->loc);
    s->is_visible[var] = true;
    if (!vy_vec_push(&s->v->scratch, &s->declared, var)) {
        vy_validator_no_memory(s->v);
    }
}

static void close_list(scopes *s, uint32_t level)
{
    while (s->declared.count > s->marks[level]) {
        uint32_t var = s->declared.data[--s->declared.count];
        s->is_visible[var] = false;
        find_name(s, s->v->program->vars.data[var].name)->what = NULL;
    }
}

static void check_visible(scopes *s, uint32_t var, vy_loc loc)
{
    if (!s->is_visible[var]) {
        vy_validator_fail(s->v, loc,
                          "the variable `%.60s` is used outside the list that declares it. Fix: "
                          "declare it before the list that uses it",
                          s->v->program->vars.data[var].name);
    }
}

static void check_uses(scopes *s, const vy_stmt *stmt)
{
    const vyre_program *p = s->v->program;
    for (uint32_t r = 0; r < 3; r++) {
        const vy_range *range = vy_stmt_range(stmt, r);
        for (uint32_t i = range->begin; i < range->end; i++) {
            const vy_expr *expr = &p->exprs.data[i];
            if (expr->op == VYRE_OP_VARIABLE || expr->op == VYRE_OP_ELEMENT) {
                check_visible(s, expr->ref, expr->loc);
            }
        }
    }
    if (stmt->kind == VY_STMT_ASSIGN || stmt->kind == VY_STMT_ARRAY_STORE) {
        check_visible(s, stmt->ref, stmt->loc);
    }
}

static void check_list(scopes *s, uint32_t first)
{
    vy_walk walk;
    uint32_t index = 0;
    vy_walk_begin(&walk, s->v->program, first);
    for (vy_walk_event event; (event = vy_walk_next(&walk, &index)) != VY_WALK_END;) {
        const vy_stmt *stmt = &s->v->program->stmts.data[index];
        if (s->v->result != VYRE_OK) {
            return;
        }
        if (event != VY_WALK_ENTER) {
            close_list(s, event == VY_WALK_ELSE ? walk.depth : walk.depth + 1);
            continue;
        }
        check_uses(s, stmt);
        if (vy_stmt_has_lists((vy_stmt_kind)stmt->kind)) {
            s->marks[walk.depth] = s->declared.count;
        }
        if (stmt->kind == VY_STMT_LET || stmt->kind == VY_STMT_VAR || stmt->kind == VY_STMT_ARRAY) {
            declare_variable(s, stmt->ref);
        }
        declare_variable(s, stmt->result);
    }
}

void vy_validate_names(vy_validator *v)
{
    const vyre_program *p = v->program;
    scopes s = {.v = v};
    if (!vy_name_is_plain(p->name)) {
        vy_validator_fail(v, (vy_loc){0, 0},
                          "a program cannot be called `%.60s`. Fix: use letters, digits and `_`, "
                          "not beginning with a digit",
                          p->name);
    }
    if (v->names == VY_NAMES_CHECKED) {
        return;
    }
    uint64_t named = (uint64_t)p->buffers.count + p->params.count + p->constants.count +
                     p->tables.count + p->functions.count + p->vars.count;
    uint64_t size = 16;
    while (size < 2 * named) {
        size *= 2;
    }
    s.mask = (uint32_t)(size - 1);
    vy_word_shapes words;
    if (named > MANY_NAMES) {
        vy_word_shapes_find(&words);
        s.words = &words;
    }
    s.names = vy_arena_alloc(&v->scratch, (size_t)size, sizeof *s.names);
    s.is_visible = vy_arena_alloc(&v->scratch, p->vars.count, sizeof *s.is_visible);
    if (!s.names || !s.is_visible) {
        vy_validator_no_memory(v);
        return;
    }
    declare_globals(&s);
    for (uint32_t f = 1; f < p->functions.count && v->result == VYRE_OK; f++) {
        const vy_function *function = &p->functions.data[f];
        for (uint32_t i = 0; i < function->parameter_count; i++) {
            declare_variable(&s, function->first_parameter + i);
        }
        check_list(&s, function->body);
        close_list(&s, 0);
    }
    check_list(&s, p->body);
}

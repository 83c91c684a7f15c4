/* Scopes by a walk over the statements; roots in the order of the text, so that they come out
 * sorted. */
#include "codegen/spirv/debug_scopes.h"

#include <stdlib.h>

#define MOST_LEVELS 256u

static bool is_before(vy_loc a, vy_loc b)
{
    return a.line < b.line || (a.line == b.line && a.column < b.column);
}

static bool has_scope(const vy_stmt *stmt)
{
    switch ((int)stmt->kind) {
    case VY_STMT_IF:
    case VY_STMT_SWITCH:
    case VY_STMT_FOR:
    case VY_STMT_WHILE:
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        return true;
    default:
        return false;
    }
}

static void add_blocks(vy_scopes *scopes, uint32_t first, uint32_t parent, uint32_t levels)
{
    const vyre_program *program = scopes->program;
    for (uint32_t i = first; i && levels < MOST_LEVELS; i = program->stmts.data[i].next) {
        const vy_stmt *stmt = &program->stmts.data[i];
        uint32_t inner = parent;
        if (has_scope(stmt)) {
            vy_scope made = {.begin = stmt->loc,
                             .end = stmt->end_loc,
                             .parent = parent,
                             .function = scopes->rows.data[parent].function,
                             .name = stmt->kind == VY_STMT_REGION ? stmt->name : NULL};
            inner = scopes->rows.count;
            if (!vy_vec_push(scopes->arena, &scopes->rows, made)) {
                return;
            }
        }
        add_blocks(scopes, stmt->body, inner, levels + 1);
        add_blocks(scopes, stmt->other, inner, levels + 1);
    }
}

static void add_root(vy_scopes *scopes, uint32_t function, uint32_t first)
{
    const vyre_program *program = scopes->program;
    /* Up to the next root: what lies between is no code. */
    vy_scope root = {.end = {UINT32_MAX, UINT32_MAX}, .parent = VY_NO_SCOPE, .function = function};
    uint32_t index = scopes->rows.count;
    if (first) {
        root.begin = program->stmts.data[first].loc;
    }
    if (!vy_vec_push(scopes->arena, &scopes->rows, root)) {
        return;
    }
    if (function) {
        scopes->roots[function] = index;
    } else {
        scopes->kernel = index;
    }
    add_blocks(scopes, first, index, 0);
}

typedef struct root_order {
    vy_loc begin;
    uint32_t function, body;
} root_order;

static int compare_roots(const void *a, const void *b)
{
    const root_order *x = a, *y = b;
    return is_before(x->begin, y->begin)   ? -1
           : is_before(y->begin, x->begin) ? 1
           : x->function < y->function     ? -1
                                           : x->function > y->function;
}

void vy_scopes_find(vy_scopes *scopes, const vyre_program *program, vy_arena *arena)
{
    *scopes = (vy_scopes){.program = program, .arena = arena};
    uint32_t count = program->functions.count ? program->functions.count : 1;
    root_order *roots = vy_arena_alloc(arena, count, sizeof *roots);
    scopes->roots = vy_arena_alloc(arena, count, sizeof *scopes->roots);
    if (!roots || !scopes->roots) {
        return;
    }
    for (uint32_t f = 0; f < count; f++) {
        uint32_t body = f ? program->functions.data[f].body : program->body;
        bool is_placed = body && body < program->stmts.count;
        roots[f] = (root_order){is_placed ? program->stmts.data[body].loc : (vy_loc){0, 0}, f,
                                is_placed ? body : 0};
    }
    qsort(roots, count, sizeof *roots, compare_roots);
    for (uint32_t i = 0; i < count; i++) {
        add_root(scopes, roots[i].function, roots[i].body);
    }
}

uint32_t vy_scope_at(const vy_scopes *scopes, vy_loc loc)
{
    uint32_t low = 0, high = scopes->rows.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(loc, scopes->rows.data[middle].begin)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    uint32_t at = low ? low - 1 : VY_NO_SCOPE;
    while (at != VY_NO_SCOPE && is_before(scopes->rows.data[at].end, loc)) {
        at = scopes->rows.data[at].parent;
    }
    return at == VY_NO_SCOPE ? scopes->kernel : at;
}

uint32_t vy_scope_of_function(const vy_scopes *scopes, uint32_t function)
{
    return function ? scopes->roots[function] : scopes->kernel;
}

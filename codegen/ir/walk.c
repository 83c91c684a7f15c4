/* Walks over statement lists. */
#include "codegen/ir/walk.h"

void vy_walk_begin(vy_walk *walk, const vyre_program *program, uint32_t first)
{
    walk->program = program;
    walk->next = first;
    walk->depth = 0;
}

bool vy_stmt_has_lists(vy_stmt_kind kind)
{
    switch (kind) {
    case VY_STMT_IF:
    case VY_STMT_SWITCH:
    case VY_STMT_CASE:
    case VY_STMT_FOR:
    case VY_STMT_WHILE:
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        return true;
    default:
        return false;
    }
}

uint32_t vy_declared_variable(const vy_stmt *stmt)
{
    switch (stmt->kind) {
    case VY_STMT_LET:
    case VY_STMT_VAR:
    case VY_STMT_ARRAY:
        return stmt->ref;
    case VY_STMT_ATOMIC:
    case VY_STMT_UNIFORM_LOAD:
    case VY_STMT_CALL:
    case VY_STMT_SUBGROUP:
        return stmt->result;
    default:
        return 0;
    }
}

vy_walk_event vy_walk_next(vy_walk *walk, uint32_t *out_stmt)
{
    const vy_stmt *stmts = walk->program->stmts.data;
    if (walk->next) {
        uint32_t index = walk->next;
        const vy_stmt *stmt = &stmts[index];
        *out_stmt = index;
        if (vy_stmt_has_lists((vy_stmt_kind)stmt->kind) && walk->depth < VYRE_MAX_NESTING) {
            walk->depth++;
            walk->open[walk->depth].stmt = index;
            walk->open[walk->depth].is_other = false;
            walk->next = stmt->body;
        } else {
            walk->next = stmt->next;
        }
        return VY_WALK_ENTER;
    }
    if (walk->depth == 0) {
        *out_stmt = 0;
        return VY_WALK_END;
    }
    uint32_t index = walk->open[walk->depth].stmt;
    *out_stmt = index;
    if (stmts[index].kind == VY_STMT_IF && !walk->open[walk->depth].is_other) {
        walk->open[walk->depth].is_other = true;
        walk->next = stmts[index].other;
        return VY_WALK_ELSE;
    }
    walk->depth--;
    walk->next = stmts[index].next;
    return VY_WALK_LEAVE;
}

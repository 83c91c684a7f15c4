/* Steps and segments: the walk over the lists that contain cuts. Reads a validated program and the
 * facts about its statements; makes vy_split's steps, segments and stmts. Blocks and regions with a
 * cut inside are scopes and nothing more, so their statements join the list around them. */
#include "codegen/passes/split_parts.h"

typedef struct step_list {
    uint32_t first, last;
} step_list;

static uint32_t add_step(vy_splitter *s, step_list *list, vy_step step)
{
    uint32_t index = s->split->steps.count;
    if (!vy_vec_push(s->arena, &s->split->steps, step)) {
        return 0;
    }
    if (list->last) {
        s->split->steps.data[list->last].next = index;
    } else {
        list->first = index;
    }
    list->last = index;
    return index;
}

static void add_stmt(vy_splitter *s, step_list *list, uint32_t index)
{
    vy_split *split = s->split;
    const vy_stmt *stmt = &s->program->stmts.data[index];
    if (!s->is_open) {
        vy_segment segment = {
            .first_stmt = split->stmts.count, .loc = stmt->loc, .name = s->region};
        vy_step step = {.kind = VY_STEP_SEGMENT, .segment = split->segments.count};
        if (!vy_vec_push(s->arena, &split->segments, segment) || !add_step(s, list, step)) {
            return;
        }
        s->is_open = true;
    }
    if (vy_vec_push(s->arena, &split->stmts, index)) {
        vy_segment *segment = &split->segments.data[split->segments.count - 1];
        segment->stmt_count++;
        if (stmt->kind == VY_STMT_REGION && segment->stmt_count == 1) {
            segment->name = stmt->name;
        }
    }
}

static void split_list(vy_splitter *s, uint32_t first, uint32_t depth, step_list *list);

static uint32_t split_nested(vy_splitter *s, uint32_t first, uint32_t depth)
{
    step_list list = {0, 0};
    s->is_open = false;
    split_list(s, first, depth + 1, &list);
    s->is_open = false;
    return list.first;
}

static void split_loop(vy_splitter *s, uint32_t index, uint32_t depth, step_list *list)
{
    const vy_stmt *stmt = &s->program->stmts.data[index];
    if (s->loop_depth >= VYRE_MAX_HOST_LOOPS) {
        s->invalid = true;
        return;
    }
    vy_var_crossing *crossing = &s->split->vars[stmt->result];
    crossing->crossing = VY_CROSSING_HOST;
    crossing->slot = s->loop_depth++;
    uint32_t body = split_nested(s, stmt->body, depth);
    s->loop_depth--;
    if (body) { /* a loop without segments does nothing */
        (void)add_step(
            s, list,
            (vy_step){.kind = VY_STEP_LOOP, .body = body, .stmt = index, .slot = s->loop_depth});
    }
}

static void split_if(vy_splitter *s, uint32_t index, uint32_t depth, step_list *list)
{
    const vy_stmt *stmt = &s->program->stmts.data[index];
    uint32_t body = split_nested(s, stmt->body, depth);
    uint32_t other = split_nested(s, stmt->other, depth);
    if (body || other) {
        (void)add_step(s, list,
                       (vy_step){.kind = VY_STEP_IF, .body = body, .other = other, .stmt = index});
    }
}

/* Recursion ends at the language's limit of nesting. */
static void split_list(vy_splitter *s, uint32_t first, uint32_t depth, step_list *list)
{
    if (depth > VYRE_MAX_NESTING + 1) {
        s->invalid = true;
        return;
    }
    for (uint32_t i = first; i && !s->invalid && !s->arena->failed;) {
        const vy_stmt *stmt = &s->program->stmts.data[i];
        if (stmt->kind == VY_STMT_GRID_SYNC) {
            s->is_open = false;
        } else if (stmt->kind == VY_STMT_PRINTF && !s->split->prints) {
            /* as if it were not there */
        } else if (!s->split->facts[i].has_cut) {
            add_stmt(s, list, i);
        } else if (stmt->kind == VY_STMT_FOR) {
            split_loop(s, i, depth, list);
        } else if (stmt->kind == VY_STMT_IF) {
            split_if(s, i, depth, list);
        } else if (stmt->kind == VY_STMT_BLOCK || stmt->kind == VY_STMT_REGION) {
            const char *outer = s->region;
            s->region = stmt->kind == VY_STMT_REGION ? stmt->name : outer;
            split_list(s, stmt->body, depth + 1, list);
            s->region = outer;
        } else {
            s->invalid = true;
        }
        i = stmt->next;
    }
}

static void allocate_lowering(const vyre_program *program, vy_arena *arena, vy_lowering_tables *out)
{
    out->values = vy_arena_alloc(arena, program->exprs.count, sizeof *out->values);
    out->first_key = vy_arena_alloc(arena, program->vars.count, sizeof *out->first_key);
    out->arrays = vy_arena_alloc(arena, program->vars.count, sizeof *out->arrays);
    out->function_keys =
        vy_arena_alloc(arena, program->functions.count, sizeof *out->function_keys);
}

vyre_result vy_split_program(const vyre_program *program, vy_prints prints, vy_arena *arena,
                             vy_split *out_split, vyre_diag *diag)
{
    vy_splitter s = {.program = program, .arena = arena, .split = out_split};
    step_list list = {0, 0};
    *out_split = (vy_split){.prints = prints};
    out_split->vars = vy_arena_alloc(arena, program->vars.count + 1u, sizeof *out_split->vars);
    out_split->facts = vy_arena_alloc(arena, program->stmts.count + 1u, sizeof *out_split->facts);
    out_split->functions =
        vy_arena_alloc(arena, program->functions.count + 1u, sizeof *out_split->functions);
    allocate_lowering(program, arena, &out_split->lowering);
    (void)vy_vec_push(arena, &out_split->steps, (vy_step){0});
    if (!arena->failed) {
        vy_split_find_facts(&s);
    }
    if (!arena->failed && !s.invalid) {
        split_list(&s, program->body, 1, &list);
        out_split->first_step = list.first;
    }
    if (!arena->failed && !s.invalid) {
        vyre_result result = vy_split_find_crossings(&s, diag);
        if (result != VYRE_OK) {
            return result;
        }
    }
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    if (s.invalid) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){0, 0},
                           "the program is not well formed. Fix: make it with vyre_builder_finish "
                           "or vyre_program_parse, which check it");
    }
    return VYRE_OK;
}

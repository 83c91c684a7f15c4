/* Arms and merges: if, switch, and the phis where control flow joins. */
#include "codegen/passes/build_parts.h"

uint32_t vy_build_log_mark(const vy_ssa_builder *b)
{
    return b->log.count;
}

vy_arm vy_build_end_arm(vy_ssa_builder *b, uint32_t mark)
{
    vy_arm arm = {.end = b->block, .first_delta = b->deltas.count};
    uint32_t stamp = ++b->stamp_now;
    /* From the last change to the first: the latter knows the value before the arm. */
    for (uint32_t i = b->log.count; i-- > mark;) {
        uint32_t key = b->log.data[i].key, old = b->log.data[i].old;
        if (b->keys.data[key].stamp != stamp) {
            if (!vy_vec_push(b->arena, &b->deltas,
                             (vy_delta){key, b->keys.data[key].current, old})) {
                break;
            }
            b->keys.data[key].stamp = stamp;
            b->keys.data[key].place = b->deltas.count - 1;
        }
        b->deltas.data[b->keys.data[key].place].old = old;
    }
    b->log.count = mark;
    uint32_t kept = arm.first_delta;
    for (uint32_t i = arm.first_delta; i < b->deltas.count; i++) {
        vy_delta delta = b->deltas.data[i];
        b->keys.data[delta.key].current = delta.old;
        /* Without a value before the arm it was declared inside. */
        if (delta.old && delta.value && delta.value != delta.old) {
            b->deltas.data[kept++] = delta;
        }
    }
    b->deltas.count = kept;
    arm.delta_count = kept - arm.first_delta;
    b->block = 0;
    return arm;
}

void vy_build_phi(vy_ssa_builder *b, uint32_t key, const uint32_t *values, const uint32_t *blocks,
                  uint32_t count)
{
    uint32_t first = b->ssa->phi_edges.count;
    bool same = true;
    for (uint32_t i = 1; i < count; i++) {
        same &= values[i] == values[0];
    }
    if (same) {
        vy_build_assign(b, key, values[0]);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)vy_vec_push(b->ssa->arena, &b->ssa->phi_edges, (vy_phi_edge){blocks[i], values[i]});
    }
    vy_ins phi = {.op = VY_SSA_PHI,
                  .type = (uint8_t)vy_build_key_type(b, key),
                  .ref = first,
                  .bits = count,
                  .name = vy_build_key_name(b, key),
                  .loc = b->ssa->blocks.data[b->block].loc};
    vy_build_assign(b, key, vy_build_ins(b, phi));
}

void vy_build_join(vy_ssa_builder *b, uint32_t merge, const vy_arm *arms, uint32_t count,
                   uint32_t first_delta)
{
    uint32_t live = 0, stamp = ++b->stamp_now, union_count = 0, total = 0;
    for (uint32_t i = 0; i < count; i++) {
        live += arms[i].end != 0;
        total += arms[i].end ? arms[i].delta_count : 0;
    }
    vy_build_place(b, merge);
    uint32_t *keys = vy_arena_alloc(b->arena, total, sizeof *keys);
    uint32_t *blocks = vy_arena_alloc(b->arena, live, sizeof *blocks);
    size_t cells = 0;
    if (!vy_mul_size(total, live, &cells)) {
        cells = SIZE_MAX;
    }
    uint32_t *values = vy_arena_alloc(b->arena, cells, sizeof *values);
    if (vy_build_stopped(b)) {
        return;
    }
    if (live == 0) {
        b->ssa->blocks.data[merge].end = VY_END_UNREACHABLE;
        b->block = 0;
        b->deltas.count = first_delta;
        return;
    }
    for (uint32_t i = 0, row = 0; i < count; i++) {
        if (!arms[i].end) {
            continue;
        }
        for (uint32_t d = 0; d < arms[i].delta_count; d++) {
            const vy_delta *delta = &b->deltas.data[arms[i].first_delta + d];
            if (b->keys.data[delta->key].stamp != stamp) {
                b->keys.data[delta->key].stamp = stamp;
                b->keys.data[delta->key].place = union_count;
                keys[union_count] = delta->key;
                for (uint32_t j = 0; j < live; j++) {
                    values[(size_t)union_count * live + j] = delta->old;
                }
                union_count++;
            }
            values[(size_t)b->keys.data[delta->key].place * live + row] = delta->value;
        }
        blocks[row++] = arms[i].end;
    }
    b->deltas.count = first_delta;
    for (uint32_t k = 0; k < union_count; k++) {
        vy_build_phi(b, keys[k], &values[(size_t)k * live], blocks, live);
    }
}

void vy_build_if(vy_ssa_builder *b, const vy_stmt *stmt)
{
    uint32_t cond = vy_build_range(b, stmt->x);
    uint32_t header = b->block, first_delta = b->deltas.count, mark = vy_build_log_mark(b);
    vy_arm arms[2] = {{header, first_delta, 0}, {header, first_delta, 0}};
    if (!header || (!stmt->body && !stmt->other)) {
        return;
    }
    uint32_t merge = vy_build_block(b, stmt->end_loc);
    uint32_t yes = stmt->body ? vy_build_block(b, stmt->loc) : merge;
    uint32_t no = stmt->other ? vy_build_block(b, stmt->loc) : merge;
    vy_build_branch(b, cond, yes, no, merge);
    if (stmt->body) {
        vy_build_place(b, yes);
        vy_build_list(b, stmt->body);
        uint32_t end = b->block;
        vy_build_jump(b, merge);
        b->block = end;
        arms[0] = vy_build_end_arm(b, mark);
    }
    if (stmt->other) {
        vy_build_place(b, no);
        vy_build_list(b, stmt->other);
        uint32_t end = b->block;
        vy_build_jump(b, merge);
        b->block = end;
        arms[1] = vy_build_end_arm(b, mark);
    }
    vy_build_join(b, merge, arms, 2, first_delta);
}

typedef VY_VEC(vy_arm) arm_list;

static void build_cases(vy_ssa_builder *b, const vy_stmt *stmt, uint32_t header, uint32_t merge,
                        arm_list *arms)
{
    uint32_t mark = vy_build_log_mark(b), first_delta = b->deltas.count;
    bool straight = false; /* some value leads from the header to the merge */
    bool has_default = false;
    for (uint32_t c = stmt->body; c && !vy_build_stopped(b); c = b->program->stmts.data[c].next) {
        const vy_stmt *arm = &b->program->stmts.data[c];
        uint32_t block = arm->body ? vy_build_block(b, arm->loc) : merge;
        straight |= !arm->body;
        has_default |= arm->value_count == 0;
        if (arm->value_count == 0) {
            b->ssa->blocks.data[header].target[0] = block;
        }
        for (uint32_t v = 0; v < arm->value_count; v++) {
            vy_case entry = {b->program->values.data[arm->first_value + v], block};
            if (vy_vec_push(b->ssa->arena, &b->ssa->cases, entry)) {
                b->ssa->blocks.data[header].case_count++;
            }
        }
        (void)vy_vec_push(b->arena, arms, (vy_arm){0, first_delta, 0});
        if (arms->count) {
            arms->data[arms->count - 1].end = block; /* for now: to be built */
        }
    }
    if (!has_default) {
        b->ssa->blocks.data[header].target[0] = merge;
        straight = true;
    }
    for (uint32_t c = stmt->body, i = 0; c && !vy_build_stopped(b);
         c = b->program->stmts.data[c].next, i++) {
        uint32_t block = arms->data[i].end;
        if (block == merge) {
            arms->data[i].end = 0;
            continue;
        }
        vy_build_place(b, block);
        vy_build_list(b, b->program->stmts.data[c].body);
        uint32_t end = b->block;
        vy_build_jump(b, merge);
        b->block = end;
        arms->data[i] = vy_build_end_arm(b, mark);
    }
    if (straight) {
        (void)vy_vec_push(b->arena, arms, (vy_arm){header, first_delta, 0});
    }
}

void vy_build_switch(vy_ssa_builder *b, const vy_stmt *stmt)
{
    uint32_t cond = vy_build_range(b, stmt->x);
    uint32_t header = b->block, first_delta = b->deltas.count;
    arm_list arms = {0};
    if (!header || !stmt->body) {
        return;
    }
    uint32_t merge = vy_build_block(b, stmt->end_loc);
    vy_build_branch(b, cond, merge, 0, merge);
    vy_block *block = &b->ssa->blocks.data[header];
    block->end = VY_END_SWITCH;
    block->first_case = b->ssa->cases.count;
    build_cases(b, stmt, header, merge, &arms);
    if (vy_build_stopped(b)) {
        return;
    }
    vy_build_join(b, merge, arms.data, arms.count, first_delta);
}

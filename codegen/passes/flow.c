/* See flow.h. Linear but for the walks up the dominator tree, which start at the nearest block. */
#include "codegen/passes/flow.h"
#include "codegen/passes/edit.h"

typedef struct marks {
    uint32_t *mark, now;
} marks;

static uint32_t next_successor(const vy_ssa *ssa, marks *m, uint32_t b, uint32_t *at)
{
    const vy_block *block = &ssa->blocks.data[b];
    uint32_t target;
    if (block->end != VY_END_SWITCH && block->target[0] != block->target[1]) {
        return vy_ssa_successor(ssa, block, (*at)++);
    }
    m->now += *at == 0;
    while ((target = vy_ssa_successor(ssa, block, *at)) != 0) {
        (*at)++;
        if (m->mark[target] != m->now) {
            m->mark[target] = m->now;
            return target;
        }
    }
    return 0;
}

static bool find_predecessors(vy_ssa *ssa, vy_flow *flow)
{
    uint32_t blocks = ssa->blocks.count, total = 0, target;
    marks m = {vy_arena_alloc(ssa->scratch, blocks, sizeof *m.mark), 0};
    if (!m.mark) {
        return false;
    }
    for (uint32_t b = 1; b < blocks; b++) {
        for (uint32_t at = 0; (target = next_successor(ssa, &m, b, &at)) != 0;) {
            flow->pred_count[target]++;
            total++;
        }
    }
    flow->preds = vy_arena_alloc(ssa->scratch, (size_t)total + 1, sizeof *flow->preds);
    if (!flow->preds) {
        return false;
    }
    for (uint32_t b = 1, first = 0; b < blocks; b++) {
        flow->first_pred[b] = first;
        first += flow->pred_count[b];
        flow->pred_count[b] = 0;
    }
    for (uint32_t b = 1; b < blocks; b++) {
        for (uint32_t at = 0; (target = next_successor(ssa, &m, b, &at)) != 0;) {
            flow->preds[flow->first_pred[target] + flow->pred_count[target]++] = b;
        }
    }
    return true;
}

bool vy_flow_is_reachable(const vy_flow *flow, uint32_t block)
{
    return block == 1 || flow->idom[block] != 0;
}

static uint32_t common(const vy_flow *flow, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b) {
            a = flow->idom[a];
        } else {
            b = flow->idom[b];
        }
    }
    return a;
}

static void find_dominators(vy_flow *flow, uint32_t blocks)
{
    for (uint32_t b = 2; b < blocks; b++) {
        uint32_t dominator = 0;
        /* Back edges change nothing, because a loop is entered through its header. */
        for (uint32_t i = flow->pred_count[b]; i-- > 0;) {
            uint32_t pred = flow->preds[flow->first_pred[b] + i];
            if (pred < b && vy_flow_is_reachable(flow, pred)) {
                dominator = dominator ? common(flow, dominator, pred) : pred;
            }
        }
        flow->idom[b] = dominator;
    }
    for (uint32_t b = blocks; b-- > 2;) {
        uint32_t parent = flow->idom[b];
        if (parent) {
            flow->next_child[b] = flow->first_child[parent];
            flow->first_child[parent] = b;
        }
    }
    uint32_t clock = 0;
    for (uint32_t b = 1; b;) {
        flow->enter[b] = ++clock;
        flow->exit[b] = clock;
        if (flow->first_child[b]) {
            b = flow->first_child[b];
            continue;
        }
        while (b && !flow->next_child[b]) {
            flow->exit[b] = clock;
            b = flow->idom[b];
        }
        if (b) {
            flow->exit[b] = clock;
            b = flow->next_child[b];
        }
    }
}

static void find_loops(vy_ssa *ssa, vy_flow *flow)
{
    uint32_t inside = 0;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        while (inside && ssa->blocks.data[inside].merge <= b) {
            inside = flow->around[inside];
        }
        if (ssa->blocks.data[b].merge_kind == VY_MERGE_LOOP) {
            flow->around[b] = inside;
            inside = b;
        }
        flow->loop[b] = inside;
    }
}

bool vy_flow_find(vy_ssa *ssa, vy_flow *out_flow)
{
    uint32_t blocks = ssa->blocks.count;
    *out_flow = (vy_flow){.ssa = ssa};
    uint32_t **tables[] = {&out_flow->first_pred, &out_flow->pred_count, &out_flow->idom,
                           &out_flow->enter,      &out_flow->exit,       &out_flow->first_child,
                           &out_flow->next_child, &out_flow->loop,       &out_flow->around};
    for (uint32_t i = 0; i < VY_COUNT_OF(tables); i++) {
        *tables[i] = vy_arena_alloc(ssa->scratch, blocks, sizeof **tables[i]);
    }
    if (ssa->arena->failed || !find_predecessors(ssa, out_flow)) {
        return false;
    }
    find_dominators(out_flow, blocks);
    find_loops(ssa, out_flow);
    return true;
}

bool vy_flow_dominates(const vy_flow *flow, uint32_t a, uint32_t b)
{
    return flow->enter[a] && flow->enter[a] <= flow->enter[b] && flow->enter[b] <= flow->exit[a];
}

bool vy_flow_is_inside(const vy_flow *flow, uint32_t block, uint32_t header)
{
    return block >= header && block < flow->ssa->blocks.data[header].merge;
}

uint32_t vy_flow_preheader(const vy_flow *flow, uint32_t header)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < flow->pred_count[header]; i++) {
        uint32_t pred = flow->preds[flow->first_pred[header] + i];
        if (vy_flow_is_inside(flow, pred, header) || !vy_flow_is_reachable(flow, pred)) {
            continue;
        }
        if (found) {
            return 0;
        }
        found = pred;
    }
    return found && flow->ssa->blocks.data[found].end == VY_END_JUMP ? found : 0;
}

uint32_t vy_flow_next(const vy_flow *flow, uint32_t block,
                      void (*leave)(void *user, uint32_t block), void *user)
{
    if (flow->first_child[block]) {
        return flow->first_child[block];
    }
    while (block) {
        leave(user, block);
        if (flow->next_child[block]) {
            return flow->next_child[block];
        }
        block = flow->idom[block];
    }
    return 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

vy_constant_memory vy_constant_memory_find(const vy_ssa *ssa)
{
    vy_constant_memory memory = {false};
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            bool writes = ins->op == VY_SSA_STORE || ins->op == VY_SSA_ATOMIC;
            memory.writes_storage |=
                writes && ssa->program->buffers.data[ins->ref].mode != VYRE_BUFFER_SHARED;
        }
    }
    return memory;
}

bool vy_constant_memory_has(const vy_constant_memory *memory, const vy_ssa *ssa, uint32_t buffer)
{
    uint8_t mode = ssa->program->buffers.data[buffer].mode;
    return mode != VYRE_BUFFER_SHARED &&
           (!memory->writes_storage || !vy_buffer_mode_writes((vyre_buffer_mode)mode));
}

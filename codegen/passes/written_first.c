/* Workgroup memory that begins with what the segment stores: every invocation its own element,
 * before any other may be looked at. */
#include "codegen/passes/edit.h"
#include "codegen/passes/flow.h"

typedef struct looker {
    const vy_ssa *ssa;
    vy_flow flow;
    uint32_t *places; /* by instruction: in the order of the blocks */
    VY_VEC(uint32_t) barriers;
} looker;

static bool is_own(const looker *l, const vy_ins *ins)
{
    const vy_ins *index = &l->ssa->ins.data[ins->arg[0]];
    return index->op == VYRE_OP_BUILTIN && index->ref == VYRE_BUILTIN_LID_X;
}

static bool is_access(const vy_ins *ins, uint32_t buffer)
{
    bool accesses = ins->op == VYRE_OP_LOAD || ins->op == VY_SSA_STORE || ins->op == VY_SSA_ATOMIC;
    return accesses && ins->ref == buffer;
}

/* Whether all that reach b have done a. */
static bool comes_before(const looker *l, uint32_t a, uint32_t b)
{
    uint32_t from = l->ssa->ins.data[a].block, to = l->ssa->ins.data[b].block;
    return from == to ? l->places[a] < l->places[b] : vy_flow_dominates(&l->flow, from, to);
}

static bool has_barrier_between(const looker *l, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < l->barriers.count; i++) {
        uint32_t barrier = l->barriers.data[i];
        if (comes_before(l, a, barrier) && comes_before(l, barrier, b)) {
            return true;
        }
    }
    return false;
}

/* As many elements as a workgroup of one dimension has invocations. */
static bool has_one_each(const vyre_program *program, const vy_buffer *buffer)
{
    const vy_expr *count = &program->exprs.data[buffer->count.root];
    const uint32_t *size = program->workgroup;
    return buffer->mode == VYRE_BUFFER_SHARED && buffer->count.root &&
           count->op == VYRE_OP_LITERAL && count->bits[0] == size[0] && size[1] == 1 &&
           size[2] == 1;
}

static bool is_written_first(const looker *l, uint32_t buffer)
{
    const vy_ssa *ssa = l->ssa;
    uint32_t first = 0;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            if (!is_access(ins, buffer)) {
                continue;
            }
            if (!first) {
                first = i;
                if (ins->op != VY_SSA_STORE || !is_own(l, ins)) {
                    return false;
                }
            } else if (!comes_before(l, first, i) ||
                       (!is_own(l, ins) && !has_barrier_between(l, first, i))) {
                return false;
            }
        }
    }
    return first != 0;
}

bool vy_ssa_find_written_first(const vy_ssa *segment, vy_arena *arena, bool *out_is_first)
{
    const vyre_program *program = segment->program;
    vy_ssa ssa = *segment;
    ssa.scratch = arena;
    looker l = {.ssa = segment};
    uint32_t place = 0;
    bool has_any = false;
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        out_is_first[b] = has_one_each(program, &program->buffers.data[b]);
        has_any = has_any || out_is_first[b];
    }
    if (!has_any) {
        return true;
    }
    l.places = vy_arena_alloc(arena, segment->ins.count, sizeof *l.places);
    if (!l.places || !vy_flow_find(&ssa, &l.flow)) {
        return false;
    }
    for (uint32_t b = 1; b < segment->blocks.count; b++) {
        for (uint32_t i = segment->blocks.data[b].first; i; i = segment->ins.data[i].next) {
            l.places[i] = ++place;
            if (segment->ins.data[i].op == VY_SSA_BARRIER) {
                (void)vy_vec_push(arena, &l.barriers, i);
            }
        }
    }
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        out_is_first[b] = out_is_first[b] && is_written_first(&l, b);
    }
    return !arena->failed;
}

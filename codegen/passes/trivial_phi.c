/* Pass trivial-phi: a phi that gets one value, from itself apart, is that value. Needs nothing;
 * keeps the blocks. Walks backwards, so that inner loops are done before the loops around them. */
#include "codegen/passes/passes.h"

static uint32_t only_value(const vy_ssa *ssa, uint32_t phi, uint32_t *map)
{
    const vy_ins *ins = &ssa->ins.data[phi];
    uint32_t only = 0;
    for (uint32_t e = 0; e < ins->bits; e++) {
        uint32_t value = vy_ssa_resolve(map, ssa->phi_edges.data[ins->ref + e].value);
        if (value == phi || value == only) {
            continue;
        }
        if (only) {
            return 0;
        }
        only = value;
    }
    return only;
}

bool vy_pass_trivial_phi(vy_ssa *ssa, const vy_pass_context *context)
{
    (void)context;
    uint32_t *map = vy_arena_alloc(ssa->scratch, ssa->ins.count, sizeof *map);
    if (!map) {
        return false;
    }
    bool changed = true, any = false;
    while (changed) {
        changed = false;
        for (uint32_t b = ssa->blocks.count; b-- > 1;) {
            for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
                vy_ins *ins = &ssa->ins.data[i];
                if (ins->op != VY_SSA_PHI) {
                    break;
                }
                uint32_t value = ins->removed ? 0 : only_value(ssa, i, map);
                if (value) {
                    map[i] = value;
                    ins->removed = changed = any = true;
                }
            }
        }
    }
    if (any) {
        ssa->is_folded = ssa->is_live = false;
        vy_ssa_sweep(ssa);
        vy_ssa_rewrite(ssa, map);
    }
    return !ssa->arena->failed;
}

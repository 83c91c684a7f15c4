/* The pipeline. */
#include "codegen/passes/passes.h"

/* The order and its reasons. trivial-phi and fold first: the less there is, the cheaper is what
 * follows. cse before licm, so that an operand has one place, and before ranges, so that a check
 * and the access behind it name one value. dce before licm, which would move dead code too. ranges
 * behind licm: an access that a check made safe must not leave the blocks that the check guards.
 * interleave behind ranges, which would have four times as much to look at; what it knows of the
 * one trip holds for four. fold once more, for the conditions that ranges has decided.
 * canonical-nan late, since it marks what is left that makes NaNs. */
static const vy_pass pipeline[] = {
    {true, "trivial-phi", "removes phis that get one value only", vy_pass_trivial_phi},
    {false, "fold", "computes what is known, drops branches never taken", vy_pass_fold},
    {false, "cse", "computes what is computed twice once", vy_pass_cse},
    {false, "dce", "removes what nobody reads", vy_pass_dce},
    {false, "licm", "moves out of loops what no trip changes", vy_pass_licm},
    {false, "ranges", "drops checks that cannot fail, computes what bounds and bits tell",
     vy_pass_ranges},
    {false, "interleave", "does four trips of a loop at once that wait for memory",
     vy_pass_interleave},
    {false, "fold", "computes what is known, drops branches never taken", vy_pass_fold},
    {false, "dce", "removes what nobody reads", vy_pass_dce},
    {true, "canonical-nan", "gives NaNs made by arithmetic their one form where it can be seen",
     vy_pass_canonical_nan},
    {false, "dce", "removes what nobody reads", vy_pass_dce},
};

const vy_pass *vy_passes_get(uint32_t *out_count)
{
    *out_count = (uint32_t)VY_COUNT_OF(pipeline);
    return pipeline;
}

bool vy_bits_is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

bool vy_bits_is_denormal(uint32_t bits)
{
    return (bits & 0x7f800000u) == 0 && (bits & 0x007fffffu) != 0;
}

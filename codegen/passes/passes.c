/* The pipeline. */
#include "codegen/passes/passes.h"

static const vy_pass pipeline[] = {
    {"trivial-phi", "removes phis that get one value only", vy_pass_trivial_phi},
    {"fold", "computes what is known, drops branches never taken", vy_pass_fold},
    {"dce", "removes what nobody reads", vy_pass_dce},
    {"canonical-nan", "gives NaNs made by arithmetic their one form where it can be seen",
     vy_pass_canonical_nan},
    {"dce", "removes what nobody reads", vy_pass_dce},
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

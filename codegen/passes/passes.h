/* The passes by name, for passes.c and for passes that use each other. */
#ifndef VY_PASSES_H
#define VY_PASSES_H

#include "codegen/passes/edit.h"

bool vy_pass_trivial_phi(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_fold(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_cse(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_licm(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_ranges(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_interleave(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_dce(vy_ssa *ssa, const vy_pass_context *context);
bool vy_pass_canonical_nan(vy_ssa *ssa, const vy_pass_context *context);

/* fold_branch.c: branches on literals become jumps, what cannot be reached goes. Whether anything
 * changed. */
bool vy_ssa_fold_branches(vy_ssa *ssa);

/* Whether an f32's bits are a NaN, a denormal. */
bool vy_bits_is_nan(uint32_t bits);
bool vy_bits_is_denormal(uint32_t bits);

#endif

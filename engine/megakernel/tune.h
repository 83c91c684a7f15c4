/* Small helpers that tune a launch over many dispatches. Pure; the same numbers everywhere. */
#ifndef VY_MEGAKERNEL_TUNE_H
#define VY_MEGAKERNEL_TUNE_H

#include "codegen/base/base.h"

/* The first of the cheapest. Errors: INVALID_ARGUMENT: no candidate, or none whose cost is finite:
 * one that could not be measured is infinite or NaN. */
vyre_result vy_mk_tune_choose(const double *costs, uint32_t count, uint32_t *out_index,
                              vyre_diag *diag);
/* out_step = -rate * matrix * gradient, a natural-gradient step; matrix: count rows of count. The
 * products of a row are added in ascending order. out_step may not overlap what is read. */
void vy_mk_tune_step(const double *matrix, const double *gradient, uint32_t count, double rate,
                     double *out_step);
/* x[i] -= damping * weights[i] * x[i]: priorities that decay, each by its weight. */
void vy_mk_tune_diffuse(double *x, const double *weights, uint32_t count, double damping);

#endif

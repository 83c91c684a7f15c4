/* Choosing and stepping. */
#include "engine/megakernel/tune.h"

#include <math.h>

vyre_result vy_mk_tune_choose(const double *costs, uint32_t count, uint32_t *out_index,
                              vyre_diag *diag)
{
    uint32_t best = count;
    *out_index = 0;
    vy_diag_clear(diag);
    for (uint32_t i = 0; i < count; i++) {
        if (isfinite(costs[i]) && (best == count || costs[i] < costs[best])) {
            best = i;
        }
    }
    if (best == count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "none of %u candidates has a cost. Fix: measure at least one to its end",
                           count);
    }
    *out_index = best;
    return VYRE_OK;
}

void vy_mk_tune_step(const double *matrix, const double *gradient, uint32_t count, double rate,
                     double *out_step)
{
    for (uint32_t row = 0; row < count; row++) {
        double sum = 0;
        for (uint32_t column = 0; column < count; column++) {
            sum += matrix[(size_t)row * count + column] * gradient[column];
        }
        out_step[row] = -rate * sum;
    }
}

void vy_mk_tune_diffuse(double *x, const double *weights, uint32_t count, double damping)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] -= damping * weights[i] * x[i];
    }
}

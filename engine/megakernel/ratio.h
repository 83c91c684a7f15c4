/* Arithmetic of 64-bit counts and sizes that cannot overflow unseen. Pure. */
#ifndef VY_MEGAKERNEL_RATIO_H
#define VY_MEGAKERNEL_RATIO_H

#include <stdbool.h>
#include <stdint.h>

#define VY_MK_BPS 10000u   /* all of something, in basis points */
#define VY_MK_PPM 1000000u /* in parts of a million */

/* min(scale, floor(part * scale / whole)), exact for all arguments; 0 where whole is 0. */
uint32_t vy_mk_ratio(uint64_t part, uint64_t whole, uint32_t scale);

/* False on overflow, and *out is then untouched. */
static inline bool vy_mk_add(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

static inline bool vy_mk_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b != 0 && a > UINT64_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

static inline uint32_t vy_mk_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t vy_mk_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* b is not 0. */
static inline uint64_t vy_mk_div_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif

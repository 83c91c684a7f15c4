/* What is known of an integer of 8 to 64 bits, and of what operators make of it. Bits above the
 * width are zero in umin, umax and ones, and one in zeros; smin and smax are the value as a signed
 * integer of that width. Never empty: what contradicts itself is refused. A bool is 0 or 1 of 32
 * bits. */
#ifndef VY_KNOWN_H
#define VY_KNOWN_H

#include "vyre/program.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct vy_known {
    uint64_t umin, umax;
    int64_t smin, smax;
    uint64_t zeros, ones; /* bits that are 0, that are 1 */
} vy_known;

static inline uint64_t vy_known_mask(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}
static inline vy_known vy_known_anything(uint32_t width)
{
    uint64_t mask = vy_known_mask(width);
    int64_t largest = (int64_t)(mask >> 1);
    return (vy_known){0, mask, -largest - 1, largest, ~mask, 0};
}
static inline bool vy_known_same(const vy_known *a, const vy_known *b)
{
    return a->umin == b->umin && a->umax == b->umax && a->smin == b->smin && a->smax == b->smax &&
           a->zeros == b->zeros && a->ones == b->ones;
}
vy_known vy_known_exact(uint64_t bits, uint32_t width);
vy_known vy_known_unsigned(uint64_t low, uint64_t high, uint32_t width);
vy_known vy_known_signed(int64_t low, int64_t high, uint32_t width);
int64_t vy_known_extend(uint64_t bits, uint32_t width);

/* Either of the two. */
vy_known vy_known_join(const vy_known *a, const vy_known *b);
/* Both hold: narrows *a; false, and *a as it was, where they contradict each other. */
bool vy_known_meet(vy_known *a, const vy_known *b, uint32_t width);
bool vy_known_is_exact(const vy_known *a);
bool vy_known_is_not_zero(const vy_known *a);

/* Of an operator over integers of one width (shifts: whatever width the amount has). Operators
 * whose operands are of several types (CAST, SELECT, comparisons) are not among them: anything.
 * *out_fits (may be NULL): for ADD and SUB, whether the exact result fits as an unsigned and
 * as a signed one. */
#define VY_FITS_UNSIGNED 1u
#define VY_FITS_SIGNED   2u
vy_known vy_known_compute(vyre_op op, bool is_signed, uint32_t width,
                          const vy_known *const *operands, uint32_t *out_fits);
/* An integer of one width made one of another: zeros, copies of the sign, or cut off. */
vy_known vy_known_resize(const vy_known *a, bool is_signed, uint32_t from, uint32_t to);
/* Of a comparison: 0, 1, or -1 where it may be either. */
int vy_known_compare(vyre_op op, bool is_signed, const vy_known *a, const vy_known *b);

#endif

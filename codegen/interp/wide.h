/* Unsigned integers of 128 bits in two halves, for products of 64-bit integers and of f64. */
#ifndef VY_INTERP_WIDE_H
#define VY_INTERP_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct vy_wide {
    uint64_t high, low;
} vy_wide;

static inline vy_wide vy_wide_multiply(uint64_t a, uint64_t b)
{
    uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (middle & UINT32_MAX);
    return (vy_wide){a_high * b_high + (middle >> 32) + (other >> 32),
                     other << 32 | (low & UINT32_MAX)};
}

static inline vy_wide vy_wide_add(vy_wide a, vy_wide b)
{
    uint64_t low = a.low + b.low;
    return (vy_wide){a.high + b.high + (low < a.low), low};
}

static inline vy_wide vy_wide_subtract(vy_wide a, vy_wide b)
{
    return (vy_wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static inline bool vy_wide_less(vy_wide a, vy_wide b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static inline vy_wide vy_wide_shift_left_one(vy_wide a)
{
    return (vy_wide){a.high << 1 | a.low >> 63, a.low << 1};
}

static inline vy_wide vy_wide_shift_right(vy_wide a, uint32_t count)
{
    if (count == 0) {
        return a;
    }
    if (count >= 128) {
        return (vy_wide){0, 0};
    }
    return count >= 64 ? (vy_wide){0, a.high >> (count - 64)}
                       : (vy_wide){a.high >> count, a.low >> count | a.high << (64 - count)};
}

/* With the lowest bit set where a bit that was set is lost. */
static inline vy_wide vy_wide_shift_right_sticky(vy_wide a, uint32_t count)
{
    vy_wide shifted = vy_wide_shift_right(a, count);
    bool lost = a.high || a.low;
    if (count < 64) {
        lost = count && a.low << (64 - count);
    } else if (count < 128) {
        lost = a.low || (count > 64 && a.high << (128 - count));
    }
    shifted.low |= lost;
    return shifted;
}

#endif

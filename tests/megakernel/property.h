/* Random cases that name their seed when they fail, and what the tests of the launch policy share.
 */
#ifndef VY_TEST_MEGAKERNEL_PROPERTY_H
#define VY_TEST_MEGAKERNEL_PROPERTY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "codegen/base/base.h"

#define check_seed(condition, seed)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("seed %u: %s", (unsigned)(seed), #condition);                                 \
        }                                                                                          \
    } while (0)

/* An error of that code whose message contains both texts and says what to do. */
#define check_error(result, diag, expected, part, other)                                           \
    do {                                                                                           \
        assert_int_equal((result), (expected));                                                    \
        assert_int_equal((diag)->code, (expected));                                                \
        assert_non_null(strstr((diag)->message, (part)));                                          \
        assert_non_null(strstr((diag)->message, (other)));                                         \
        assert_non_null(strstr((diag)->message, "Fix: "));                                         \
    } while (0)

static inline uint64_t random_u64(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of any magnitude: small numbers are as likely as large ones. */
static inline uint64_t random_wide(uint64_t *state, uint32_t bits)
{
    uint64_t shift = random_u64(state) % bits;
    return random_u64(state) >> (64 - bits) >> shift;
}

#endif

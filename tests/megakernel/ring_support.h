/* Rings for tests: small ones with something in every word, and what they held before a call. */
#ifndef VY_TESTS_MEGAKERNEL_RING_SUPPORT_H
#define VY_TESTS_MEGAKERNEL_RING_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/base/base.h"
#include "vyre/megakernel.h"

enum { RING_SLOTS = 8, RING_WORDS = RING_SLOTS * VYRE_SLOT_WORDS };

typedef struct test_ring {
    uint32_t words[RING_WORDS], before[RING_WORDS];
} test_ring;

static const size_t ring_size = sizeof((test_ring *)NULL)->words;

static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) ^ (uint32_t)*state << 16;
}

/* VYRE_SEED, or one; printed, so that a failure can be had again. */
static inline uint64_t print_seed(const char *test)
{
    const char *text = getenv("VYRE_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 20240607;
    print_message("%s: VYRE_SEED=%llu\n", test, (unsigned long long)seed);
    return seed;
}

/* All slots of that status, all other words something. */
static inline void ring_fill(test_ring *ring, uint32_t status)
{
    for (uint32_t i = 0; i < RING_WORDS; i++) {
        ring->words[i] = i % VYRE_SLOT_WORDS == VYRE_SLOT_STATUS ? status : 0xa5000000u + i;
    }
    memcpy(ring->before, ring->words, sizeof ring->before);
}

static inline void ring_set(test_ring *ring, uint32_t slot, uint32_t status)
{
    ring->words[slot * VYRE_SLOT_WORDS] = ring->before[slot * VYRE_SLOT_WORDS] = status;
}

static inline void assert_untouched(const test_ring *ring)
{
    assert_memory_equal(ring->words, ring->before, sizeof ring->before);
}

/* The error, its place in the diagnostic, its fix, and that nothing was written. */
static inline void assert_refused(const test_ring *ring, vyre_result got, vyre_result expected,
                                  const vyre_diag *diag, const char *part)
{
    assert_int_equal(got, expected);
    assert_int_equal(diag->code, expected);
    if (!strstr(diag->message, part) || !strstr(diag->message, ". Fix: ")) {
        fail_msg("'%s' lacks '%s' or a fix", diag->message, part);
    }
    assert_untouched(ring);
}

/* A slot that was just published, all of its words. */
static inline void assert_slot(const test_ring *ring, uint32_t slot, uint32_t opcode,
                               uint32_t tenant, uint32_t priority, const uint32_t *args,
                               uint32_t arg_count)
{
    uint32_t expected[VYRE_SLOT_WORDS] = {VYRE_STATUS_PUBLISHED, opcode, tenant, priority};
    for (uint32_t i = 0; i < arg_count; i++) {
        expected[VYRE_SLOT_ARGS + i] = args[i];
    }
    assert_memory_equal(ring->words + slot * VYRE_SLOT_WORDS, expected, sizeof expected);
}

/* Nothing but slots [first, first + count) differs from before. */
static inline void assert_only(const test_ring *ring, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < RING_WORDS; i++) {
        uint32_t slot = i / VYRE_SLOT_WORDS;
        if (slot < first || slot >= first + count) {
            assert_int_equal(ring->words[i], ring->before[i]);
        }
    }
}

#endif

/* Sizes of rings, every edge from every status, and readers. */
#include "tests/megakernel/ring_support.h"

#include <pthread.h>
#include <stdlib.h>

#define BIT(status) (1u << VYRE_STATUS_##status)

/* The state machine once more, written out. */
static const struct expected_edge {
    uint32_t from, to;
} expected_edges[] = {
    {BIT(PUBLISHED) | BIT(YIELD) | BIT(REQUEUE), VYRE_STATUS_CLAIMED},
    {BIT(CLAIMED), VYRE_STATUS_DONE},
    {BIT(CLAIMED), VYRE_STATUS_WAIT_IO},
    {BIT(WAIT_IO), VYRE_STATUS_REQUEUE},
    {BIT(CLAIMED), VYRE_STATUS_YIELD},
    {BIT(CLAIMED), VYRE_STATUS_REQUEUE},
    {BIT(PUBLISHED) | BIT(CLAIMED) | BIT(WAIT_IO) | BIT(YIELD) | BIT(REQUEUE), VYRE_STATUS_FAULT},
    {BIT(PUBLISHED) | BIT(WAIT_IO) | BIT(YIELD) | BIT(REQUEUE), VYRE_STATUS_EMPTY},
    {BIT(DONE) | BIT(FAULT), VYRE_STATUS_EMPTY},
};

static const char *const names[] = {"EMPTY",   "PUBLISHED", "CLAIMED", "DONE",
                                    "WAIT_IO", "YIELD",     "REQUEUE", "FAULT"};

static void test_ring_size_has_limits(void **state)
{
    (void)state;
    vyre_diag diag;
    size_t size = 7;
    assert_int_equal(vyre_ring_query_size(0, &size, &diag), VYRE_OK);
    assert_int_equal(size, 0);
    assert_int_equal(vyre_ring_query_size(1, &size, &diag), VYRE_OK);
    assert_int_equal(size, 64);
    assert_int_equal(vyre_ring_query_size(VYRE_MAX_SLOTS, &size, NULL), VYRE_OK);
    assert_int_equal(size, 67108864);
    static const uint32_t too_many[] = {VYRE_MAX_SLOTS + 1, 0x04000000, 0x04000001, 0xffffffff};
    for (size_t i = 0; i < VY_COUNT_OF(too_many); i++) {
        size = 7;
        assert_int_equal(vyre_ring_query_size(too_many[i], &size, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(size, 7);
        assert_non_null(strstr(diag.message, "more than 1048576. Fix: "));
    }
    assert_int_equal(vyre_ring_query_size(1, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_ring_clear_makes_every_word_zero(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    ring_fill(&ring, VYRE_STATUS_FAULT);
    assert_int_equal(vyre_ring_clear(ring.words, ring_size - 64, &diag), VYRE_OK);
    assert_only(&ring, 0, RING_SLOTS - 1);
    for (uint32_t i = 0; i < RING_WORDS - VYRE_SLOT_WORDS; i++) {
        assert_int_equal(ring.words[i], 0);
    }
    assert_int_equal(vyre_ring_clear(NULL, 0, &diag), VYRE_OK);
}

/* Every function on rings looks at the memory in the same way. */
static vyre_result use_ring(uint32_t function, void *memory, size_t size, vyre_diag *diag)
{
    vyre_ring_counts counts;
    uint32_t words[VYRE_SLOT_WORDS];
    vyre_packed_op op = {0};
    vyre_work_item item = {0};
    switch (function) {
    case 0:
        return vyre_ring_clear(memory, size, diag);
    case 1:
        return vyre_ring_move(memory, size, 0, VYRE_EDGE_CLAIM, diag);
    case 2:
        return vyre_ring_count(memory, size, &counts, diag);
    case 3:
        return vyre_ring_read(memory, size, 0, words, diag);
    case 4:
        return vyre_ring_publish(memory, size, 0, NULL, diag);
    case 5:
        return vyre_ring_publish_items(memory, size, 0, &item, 1, diag);
    case 6:
        return vyre_ring_publish_bytes(memory, size, 0, &item, sizeof item, diag);
    case 7:
        return vyre_ring_publish_batch(memory, size, 0, NULL, 0, 0, diag);
    case 8:
        return vyre_ring_publish_packed(memory, size, 0, 0, VYRE_PRIORITY_LOW, &op, 1, diag);
    case 9:
        return vyre_ring_publish_load(memory, size, 0, 0, VYRE_PRIORITY_LOW, NULL, diag);
    case 10:
        return vyre_ring_complete_load(memory, size, 0, VYRE_IO_OK, diag);
    default:
        return vyre_ring_publish_window(memory, size, 0, NULL, diag);
    }
}

static void test_ring_memory_is_checked_by_every_function(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    static const size_t sizes[] = {
        1, 63, 65, 127, 129, sizeof ring.words - 1, sizeof ring.words - 4, SIZE_MAX};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (uint32_t function = 0; function < 12; function++) {
        for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
            assert_refused(&ring, use_ring(function, ring.words, sizes[i], &diag),
                           VYRE_ERROR_INVALID_ARGUMENT, &diag, "a ring");
        }
        assert_refused(&ring, use_ring(function, NULL, 64, &diag), VYRE_ERROR_INVALID_ARGUMENT,
                       &diag, "NULL");
        assert_refused(&ring, use_ring(function, (char *)ring.words + 2, 64, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "aligned");
        assert_refused(&ring, use_ring(function, ring.words, (size_t)64 << 20 | 64, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "1048577 slots has more than 1048576");
        assert_int_equal(use_ring(function, ring.words, 63, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    }
}

static void check_move(test_ring *ring, uint32_t edge, uint32_t status)
{
    const uint32_t slot = 5;
    vyre_diag diag;
    int is_legal = status < VYRE_STATUS_COUNT && (expected_edges[edge].from >> status & 1);
    char part[64];
    if (status >= VYRE_STATUS_COUNT) {
        snprintf(part, sizeof part, "slot 5 has the status %u,", status);
    } else {
        snprintf(part, sizeof part, "slot 5 is %s,", names[status]);
    }
    ring_fill(ring, VYRE_STATUS_EMPTY);
    ring_set(ring, slot, status);
    vyre_result code = vyre_ring_move(ring->words, ring_size, slot, (vyre_slot_edge)edge, &diag);
    if (is_legal) {
        assert_int_equal(code, VYRE_OK);
        assert_int_equal(ring->words[slot * VYRE_SLOT_WORDS], expected_edges[edge].to);
        ring->before[slot * VYRE_SLOT_WORDS] = expected_edges[edge].to;
        assert_untouched(ring);
        return;
    }
    assert_refused(ring, code,
                   status == VYRE_STATUS_CLAIMED ? VYRE_ERROR_BUSY : VYRE_ERROR_INVALID_ARGUMENT,
                   &diag, part);
}

static void test_ring_move_knows_every_edge_from_every_status(void **state)
{
    (void)state;
    test_ring ring;
    static const uint32_t unknown[] = {8, 9, 31, 32, 33, 255, 256, 257, 0x80000001, 0xffffffff};
    for (uint32_t edge = 0; edge < VY_COUNT_OF(expected_edges); edge++) {
        for (uint32_t status = 0; status < VYRE_STATUS_COUNT; status++) {
            check_move(&ring, edge, status);
        }
        for (size_t i = 0; i < VY_COUNT_OF(unknown); i++) {
            check_move(&ring, edge, unknown[i]);
        }
    }
    assert_int_equal(VY_COUNT_OF(expected_edges), VYRE_EDGE_RESET + 1);
}

static void test_ring_move_refuses_edges_and_slots_that_are_none(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    ring_fill(&ring, VYRE_STATUS_PUBLISHED);
    static const uint32_t edges[] = {VYRE_EDGE_RESET + 1, 100, 0xffffffff};
    for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
        assert_refused(&ring,
                       vyre_ring_move(ring.words, ring_size, 0, (vyre_slot_edge)edges[i], &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "is no edge for slot 0, there are 9");
    }
    static const uint32_t slots[] = {RING_SLOTS, RING_SLOTS + 1, 0x04000000, 0xffffffff};
    for (size_t i = 0; i < VY_COUNT_OF(slots); i++) {
        assert_refused(&ring,
                       vyre_ring_move(ring.words, ring_size, slots[i], VYRE_EDGE_CLAIM, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
    }
    assert_int_equal(vyre_ring_move(ring.words, ring_size, RING_SLOTS - 1, VYRE_EDGE_CLAIM, &diag),
                     VYRE_OK);
    assert_int_equal(ring.words[RING_WORDS - VYRE_SLOT_WORDS], VYRE_STATUS_CLAIMED);
}

static void test_ring_count_counts_every_slot_once(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_ring_counts counts;
    static const uint32_t statuses[RING_SLOTS] = {0, 3, 3, 8, 0xffffffff, 7, 2, 2};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        ring_set(&ring, i, statuses[i]);
    }
    assert_int_equal(vyre_ring_count(ring.words, ring_size, &counts, &diag), VYRE_OK);
    static const uint32_t expected[VYRE_STATUS_COUNT] = {1, 0, 2, 2, 0, 0, 0, 1};
    assert_memory_equal(counts.by_status, expected, sizeof expected);
    assert_int_equal(counts.unknown, 2);
    assert_int_equal(counts.slot_count, 8);
    assert_int_equal(counts.queue_depth, 5);
    assert_untouched(&ring);
    assert_int_equal(vyre_ring_count(NULL, 0, &counts, &diag), VYRE_OK);
    assert_int_equal(counts.slot_count, 0);
    assert_int_equal(counts.queue_depth, 0);
    counts.unknown = 77;
    assert_int_equal(vyre_ring_count(ring.words, ring_size - 1, &counts, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(counts.unknown, 77);
    assert_int_equal(vyre_ring_count(ring.words, ring_size, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_ring_read_gives_words_as_they_are(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    uint32_t words[VYRE_SLOT_WORDS];
    ring_fill(&ring, 1234);
    for (uint32_t slot = 0; slot < RING_SLOTS; slot++) {
        assert_int_equal(vyre_ring_read(ring.words, ring_size, slot, words, &diag), VYRE_OK);
        assert_memory_equal(words, ring.words + slot * VYRE_SLOT_WORDS, sizeof words);
    }
    uint32_t kept[VYRE_SLOT_WORDS];
    memcpy(kept, words, sizeof kept);
    static const uint32_t slots[] = {RING_SLOTS, 0x04000000, 0xffffffff};
    for (size_t i = 0; i < VY_COUNT_OF(slots); i++) {
        assert_refused(&ring, vyre_ring_read(ring.words, ring_size, slots[i], words, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
        assert_memory_equal(words, kept, sizeof kept);
    }
    assert_refused(&ring, vyre_ring_read(NULL, 0, 0, words, &diag), VYRE_ERROR_INVALID_ARGUMENT,
                   &diag, "slot 0: the ring has only 0 slots");
    assert_refused(&ring, vyre_ring_read(ring.words, ring_size, 0, NULL, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "out_words is NULL");
}

/* Four threads, each of which claims what it can of one ring. */
#define THREADS       4u
#define CLAIMED_SLOTS 4096u

typedef struct claimer {
    void *ring;
    uint32_t claimed;
    pthread_t thread;
} claimer;

static void *claim_all(void *argument)
{
    claimer *c = argument;
    for (uint32_t slot = 0; slot < CLAIMED_SLOTS; slot++) {
        vyre_result code =
            vyre_ring_move(c->ring, CLAIMED_SLOTS * VYRE_SLOT_SIZE, slot, VYRE_EDGE_CLAIM, NULL);
        c->claimed += code == VYRE_OK;
        if (code != VYRE_OK && code != VYRE_ERROR_BUSY) {
            c->claimed += CLAIMED_SLOTS; /* no other error comes of a race */
        }
    }
    return NULL;
}

static void test_ring_claims_are_for_one_of_four_threads(void **state)
{
    (void)state;
    void *ring = calloc(CLAIMED_SLOTS, VYRE_SLOT_SIZE);
    claimer claimers[THREADS];
    uint32_t sum = 0;
    assert_non_null(ring);
    for (uint32_t slot = 0; slot < CLAIMED_SLOTS; slot++) {
        assert_int_equal(vyre_ring_publish(ring, CLAIMED_SLOTS * VYRE_SLOT_SIZE, slot, NULL, NULL),
                         VYRE_OK);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        claimers[t] = (claimer){.ring = ring};
        assert_int_equal(pthread_create(&claimers[t].thread, NULL, claim_all, &claimers[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(claimers[t].thread, NULL), 0);
        sum += claimers[t].claimed;
    }
    assert_int_equal(sum, CLAIMED_SLOTS);
    free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_size_has_limits),
        cmocka_unit_test(test_ring_clear_makes_every_word_zero),
        cmocka_unit_test(test_ring_memory_is_checked_by_every_function),
        cmocka_unit_test(test_ring_move_knows_every_edge_from_every_status),
        cmocka_unit_test(test_ring_move_refuses_edges_and_slots_that_are_none),
        cmocka_unit_test(test_ring_count_counts_every_slot_once),
        cmocka_unit_test(test_ring_read_gives_words_as_they_are),
        cmocka_unit_test(test_ring_claims_are_for_one_of_four_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

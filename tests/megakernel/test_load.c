/* LOAD_MISS: published, read back, answered; and the way of a request through both queues. */
#include "tests/megakernel/ring_support.h"

static const vyre_load_params all = {sizeof(vyre_load_params), 0x11111111, 0x22222222,
                                     0x3333333344444444, 0x55555555};

static void test_load_survives_a_round_trip(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    uint64_t seed = print_seed(__func__);
    static const uint32_t free_statuses[] = {VYRE_STATUS_EMPTY, VYRE_STATUS_DONE};
    for (uint32_t round = 0; round < 200; round++) {
        vyre_load_params load = all, got;
        uint32_t slot = round % RING_SLOTS, tenant = round % VYRE_MAX_TENANTS;
        uint32_t priority = round % VYRE_PRIORITY_COUNT;
        if (round > 0) {
            load.source = next_random(&seed);
            load.target = next_random(&seed);
            load.offset = (uint64_t)next_random(&seed) << 32 | next_random(&seed);
            load.size = next_random(&seed);
        }
        load.struct_size = round % 2 ? sizeof load : 0;
        ring_fill(&ring, free_statuses[round / 8 % 2]);
        assert_int_equal(vyre_ring_publish_load(ring.words, ring_size, slot, tenant,
                                                (vyre_priority)priority, &load, &diag),
                         VYRE_OK);
        const uint32_t args[] = {load.source, load.target, (uint32_t)load.offset,
                                 (uint32_t)(load.offset >> 32), load.size};
        assert_slot(&ring, slot, VYRE_OPCODE_LOAD_MISS, tenant, priority, args, 5);
        assert_only(&ring, slot, 1);
        vyre_load_params_init(&got);
        assert_int_equal(vyre_slot_read_load(ring.words + slot * VYRE_SLOT_WORDS, &got, &diag),
                         VYRE_OK);
        assert_int_equal(got.struct_size, sizeof got);
        assert_int_equal(got.source, load.source);
        assert_int_equal(got.target, load.target);
        assert_true(got.offset == load.offset);
        assert_int_equal(got.size, load.size);
    }
    /* NULL: all of it 0. */
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    assert_int_equal(
        vyre_ring_publish_load(ring.words, ring_size, 3, 0, VYRE_PRIORITY_NORMAL, NULL, &diag),
        VYRE_OK);
    assert_slot(&ring, 3, VYRE_OPCODE_LOAD_MISS, 0, VYRE_PRIORITY_NORMAL, NULL, 0);
}

static void test_load_is_published_as_other_slots_are(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    for (uint32_t status = 0; status < VYRE_STATUS_COUNT + 2; status++) {
        if (status == VYRE_STATUS_EMPTY || status == VYRE_STATUS_DONE) {
            continue;
        }
        ring_fill(&ring, status);
        assert_refused(
            &ring,
            vyre_ring_publish_load(ring.words, ring_size, 2, 0, VYRE_PRIORITY_NORMAL, &all, &diag),
            VYRE_ERROR_BUSY, &diag, "slot 2");
    }
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    static const struct {
        uint32_t slot, tenant, priority, cut;
        const char *part;
    } bad[] = {
        {RING_SLOTS, 0, 0, 0, "slot 8"},
        {UINT32_MAX, 0, 0, 0, "slot 4294967295"},
        {1, VYRE_MAX_TENANTS, 0, 0, "tenant 29 of slot 1"},
        {1, UINT32_MAX, 0, 0, "tenant 4294967295"},
        {1, 0, VYRE_PRIORITY_COUNT, 0, "priority 5 of slot 1"},
        {1, 0, 0, 1, "511 bytes are not a ring"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        assert_refused(&ring,
                       vyre_ring_publish_load(ring.words, ring_size - bad[i].cut, bad[i].slot,
                                              bad[i].tenant, (vyre_priority)bad[i].priority, &all,
                                              &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, bad[i].part);
    }
    vyre_load_params shorter = all;
    shorter.struct_size = sizeof shorter - 1;
    assert_refused(
        &ring,
        vyre_ring_publish_load(ring.words, ring_size, 1, 0, VYRE_PRIORITY_NORMAL, &shorter, &diag),
        VYRE_ERROR_INVALID_ARGUMENT, &diag, "struct_size");
}

static void test_load_is_read_from_its_opcode_alone(void **state)
{
    (void)state;
    uint32_t words[VYRE_SLOT_WORDS] = {VYRE_STATUS_WAIT_IO, 0, 0, 0, 1, 2, 3, 4, 5};
    vyre_diag diag;
    vyre_load_params got, before;
    vyre_load_params_init(&got);
    got.source = 77;
    before = got;
    static const uint32_t others[] = {VYRE_OPCODE_NOP, VYRE_OPCODE_PRINTF, 0xfffcu, 0x1fffdu,
                                      VYRE_OPCODE_SHUTDOWN};
    for (size_t i = 0; i < VY_COUNT_OF(others); i++) {
        words[VYRE_SLOT_OPCODE] = others[i];
        assert_int_equal(vyre_slot_read_load(words, &got, &diag), VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "asks for no bytes. Fix: "));
        assert_memory_equal(&got, &before, sizeof got);
    }
    words[VYRE_SLOT_OPCODE] = VYRE_OPCODE_LOAD_MISS;
    assert_int_equal(vyre_slot_read_load(NULL, &got, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_slot_read_load(words, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    got.struct_size = 4;
    assert_int_equal(vyre_slot_read_load(words, &got, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(got.source, 77);
    got.struct_size = 0;
    assert_int_equal(vyre_slot_read_load(words, &got, &diag), VYRE_OK);
    assert_true(got.struct_size == 0 && got.source == 1 && got.target == 2 &&
                got.offset == 0x400000003 && got.size == 5);
}

static void test_load_is_completed_where_it_waits(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    static const uint32_t ends[] = {VYRE_IO_OK, VYRE_IO_ERROR};
    for (uint32_t status = 0; status < VYRE_STATUS_COUNT + 2; status++) {
        for (size_t e = 0; e < VY_COUNT_OF(ends); e++) {
            ring_fill(&ring, VYRE_STATUS_WAIT_IO);
            ring_set(&ring, 4, status);
            ring.words[4 * VYRE_SLOT_WORDS + VYRE_SLOT_OPCODE] =
                ring.before[4 * VYRE_SLOT_WORDS + VYRE_SLOT_OPCODE] = VYRE_OPCODE_LOAD_MISS;
            vyre_result got = vyre_ring_complete_load(ring.words, ring_size, 4, ends[e], &diag);
            if (status != VYRE_STATUS_WAIT_IO) {
                assert_refused(&ring, got,
                               status == VYRE_STATUS_CLAIMED ? VYRE_ERROR_BUSY
                                                             : VYRE_ERROR_INVALID_ARGUMENT,
                               &diag, "only one that is WAIT_IO");
                continue;
            }
            assert_int_equal(got, VYRE_OK);
            ring.before[4 * VYRE_SLOT_WORDS] = VYRE_STATUS_REQUEUE;
            ring.before[4 * VYRE_SLOT_WORDS + 15] = ends[e];
            assert_untouched(&ring);
            /* Once. */
            assert_refused(&ring, vyre_ring_complete_load(ring.words, ring_size, 4, ends[e], &diag),
                           VYRE_ERROR_INVALID_ARGUMENT, &diag, "slot 4 is REQUEUE");
        }
    }
    ring_fill(&ring, VYRE_STATUS_WAIT_IO);
    assert_refused(&ring, vyre_ring_complete_load(ring.words, ring_size, 4, VYRE_IO_OK, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "asks for no bytes");
    static const uint32_t none[] = {0, 1, 3, 7, 0xf, 0x12, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(none); i++) {
        assert_refused(&ring, vyre_ring_complete_load(ring.words, ring_size, 4, none[i], &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "no status that a request ends with");
    }
    assert_refused(&ring,
                   vyre_ring_complete_load(ring.words, ring_size, RING_SLOTS, VYRE_IO_OK, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "slot 8");
    assert_refused(&ring, vyre_ring_complete_load(ring.words, ring_size - 4, 4, VYRE_IO_OK, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "are not a ring");
}

/* What a kernel does with a claimed load, in the words that it writes. */
static void post(test_ring *ring, uint32_t slot, uint32_t *queue, size_t queue_size)
{
    uint32_t *words = ring->words + slot * VYRE_SLOT_WORDS;
    vyre_diag diag;
    vyre_load_params load;
    vyre_load_params_init(&load);
    assert_int_equal(vyre_slot_read_load(words, &load, &diag), VYRE_OK);
    const vyre_io_request request = {VYRE_IO_READ, load.source, load.target,
                                     load.offset,  load.size,   slot};
    assert_int_equal(vyre_io_publish(queue, queue_size, slot % 2, &request, &diag), VYRE_OK);
    assert_int_equal(vyre_ring_move(ring->words, ring_size, slot, VYRE_EDGE_CLAIM, &diag), VYRE_OK);
    assert_int_equal(vyre_ring_move(ring->words, ring_size, slot, VYRE_EDGE_WAIT_IO, &diag),
                     VYRE_OK);
}

static void test_load_goes_through_both_queues(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    uint32_t queue[2 * VYRE_IO_WORDS], indices[VYRE_MAX_IO_SLOTS], count = 0;
    memset(&ring, 0, sizeof ring);
    assert_int_equal(vyre_io_clear(queue, sizeof queue, &diag), VYRE_OK);
    for (uint32_t slot = 2; slot < 4; slot++) {
        vyre_load_params load = all;
        load.offset += slot;
        assert_int_equal(
            vyre_ring_publish_load(ring.words, ring_size, slot, 1, VYRE_PRIORITY_LOW, &load, &diag),
            VYRE_OK);
        post(&ring, slot, queue, sizeof queue);
    }
    assert_int_equal(vyre_io_poll(queue, sizeof queue, indices, &count, &diag), VYRE_OK);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        vyre_io_request request;
        assert_int_equal(vyre_io_claim(queue, sizeof queue, indices[i], &request, &diag), VYRE_OK);
        assert_int_equal(request.op, VYRE_IO_READ);
        assert_int_equal(request.tag, 2 + i);
        assert_true(request.offset == all.offset + 2 + i && request.size == all.size &&
                    request.source == all.source && request.target == all.target);
        uint32_t end = i ? VYRE_IO_ERROR : VYRE_IO_OK;
        const vyre_io_completion completion = {indices[i], end};
        assert_int_equal(vyre_io_complete(queue, sizeof queue, &completion, 1, &diag), VYRE_OK);
        assert_int_equal(vyre_io_release(queue, sizeof queue, indices[i], &diag), VYRE_OK);
        assert_int_equal(vyre_ring_complete_load(ring.words, ring_size, request.tag, end, &diag),
                         VYRE_OK);
    }
    vyre_ring_counts counts;
    assert_int_equal(vyre_ring_count(ring.words, ring_size, &counts, &diag), VYRE_OK);
    assert_int_equal(counts.by_status[VYRE_STATUS_REQUEUE], 2);
    assert_int_equal(ring.words[2 * VYRE_SLOT_WORDS + 15], VYRE_IO_OK);
    assert_int_equal(ring.words[3 * VYRE_SLOT_WORDS + 15], VYRE_IO_ERROR);
    /* The next launch claims them again. */
    assert_int_equal(vyre_ring_move(ring.words, ring_size, 2, VYRE_EDGE_CLAIM, &diag), VYRE_OK);
    assert_int_equal(vyre_ring_move(ring.words, ring_size, 2, VYRE_EDGE_DONE, &diag), VYRE_OK);
    assert_int_equal(vyre_ring_move(ring.words, ring_size, 3, VYRE_EDGE_CLAIM, &diag), VYRE_OK);
    assert_int_equal(vyre_ring_move(ring.words, ring_size, 3, VYRE_EDGE_FAULT, &diag), VYRE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_survives_a_round_trip),
        cmocka_unit_test(test_load_is_published_as_other_slots_are),
        cmocka_unit_test(test_load_is_read_from_its_opcode_alone),
        cmocka_unit_test(test_load_is_completed_where_it_waits),
        cmocka_unit_test(test_load_goes_through_both_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

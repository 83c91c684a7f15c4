/* Publishing of slots, items, bytes and batches: what is written, what is refused, and that what is
 * refused changes nothing. */
#include "tests/megakernel/ring_support.h"

static const uint32_t thirteen[13] = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

static const char *const names[] = {"EMPTY",   "PUBLISHED", "CLAIMED", "DONE",
                                    "WAIT_IO", "YIELD",     "REQUEUE", "FAULT"};
/* In flight, as a publisher sees it. */
static const uint32_t busy[] = {1, 2, 4, 5, 6, 7, 8, 9, 256, 259, 0x80000000, 0xffffffff};
/* Of the system, and none that a slot may have. */
static const uint32_t reserved[] = {0xfff0,     0xfffd,     0xffff,    0x80000000,
                                    0x80000002, 0xfffffffe, 0xbfffffff};

static vyre_slot_params slot_of(uint32_t opcode, uint32_t arg_count)
{
    vyre_slot_params params;
    vyre_slot_params_init(&params);
    params.opcode = opcode;
    params.args = arg_count ? thirteen : NULL;
    params.arg_count = arg_count;
    return params;
}

static void test_publish_writes_every_word(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    for (uint32_t from = 0; from <= VYRE_STATUS_DONE; from += VYRE_STATUS_DONE) {
        for (uint32_t arg_count = 0; arg_count <= VYRE_SLOT_MAX_ARGS; arg_count++) {
            uint32_t slot = arg_count % RING_SLOTS;
            vyre_slot_params params = slot_of(8 + arg_count, arg_count);
            params.tenant = arg_count;
            params.priority = (vyre_priority)(arg_count % VYRE_PRIORITY_COUNT);
            ring_fill(&ring, from);
            assert_int_equal(vyre_ring_publish(ring.words, ring_size, slot, &params, &diag),
                             VYRE_OK);
            assert_slot(&ring, slot, 8 + arg_count, arg_count, arg_count % VYRE_PRIORITY_COUNT,
                        thirteen, arg_count);
            assert_only(&ring, slot, 1);
        }
    }
}

static void test_publish_takes_every_publishable_opcode(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    static const uint32_t opcodes[] = {0,      1,          2,          3,          4,
                                       5,      7,          8,          0xffef,     0x10000,
                                       0xfffe, 0x40000000, 0x7fffffff, 0x80000001, 0xffffffff};
    for (size_t i = 0; i < VY_COUNT_OF(opcodes); i++) {
        vyre_slot_params params = slot_of(opcodes[i], 2);
        ring_fill(&ring, VYRE_STATUS_DONE);
        assert_int_equal(vyre_ring_publish(ring.words, ring_size, 7, &params, NULL), VYRE_OK);
        assert_slot(&ring, 7, opcodes[i], 0, VYRE_PRIORITY_NORMAL, thirteen, 2);
    }
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(reserved); i++) {
        vyre_slot_params params = slot_of(reserved[i], 2);
        assert_refused(&ring, vyre_ring_publish(ring.words, ring_size, 7, &params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "for slot 7 is the system's");
    }
}

static void test_publish_of_nothing_is_a_nop(void **state)
{
    (void)state;
    test_ring ring;
    vyre_slot_params zero = {0};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    assert_int_equal(vyre_ring_publish(ring.words, ring_size, 0, NULL, NULL), VYRE_OK);
    assert_slot(&ring, 0, VYRE_OPCODE_NOP, 0, VYRE_PRIORITY_CRITICAL, NULL, 0);
    assert_int_equal(vyre_ring_publish(ring.words, ring_size, 1, &zero, NULL), VYRE_OK);
    assert_slot(&ring, 1, VYRE_OPCODE_NOP, 0, VYRE_PRIORITY_CRITICAL, NULL, 0);
}

static void test_publish_refuses_slots_in_flight(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(busy); i++) {
        vyre_slot_params params = slot_of(8, 12);
        char part[48];
        if (busy[i] < VYRE_STATUS_COUNT) {
            snprintf(part, sizeof part, "slot 3 is %s,", names[busy[i]]);
        } else {
            snprintf(part, sizeof part, "slot 3 has the status %u,", busy[i]);
        }
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        ring_set(&ring, 3, busy[i]);
        assert_refused(&ring, vyre_ring_publish(ring.words, ring_size, 3, &params, &diag),
                       VYRE_ERROR_BUSY, &diag, part);
    }
}

static void test_publish_refuses_slots_beyond_the_ring(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_slot_params params = slot_of(8, 1);
    static const uint32_t slots[] = {RING_SLOTS, RING_SLOTS + 1, 0x04000000,
                                     0x10000000, 0xfffffffe,     0xffffffff};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(slots); i++) {
        char part[64];
        snprintf(part, sizeof part, "slot %u: the ring has only 8 slots", slots[i]);
        assert_refused(&ring, vyre_ring_publish(ring.words, ring_size, slots[i], &params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
    }
    assert_refused(&ring, vyre_ring_publish(NULL, 0, 0, &params, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "slot 0: the ring has only 0 slots");
    assert_int_equal(vyre_ring_publish(ring.words, ring_size, RING_SLOTS - 1, &params, &diag),
                     VYRE_OK);
    assert_only(&ring, RING_SLOTS - 1, 1);
}

static void test_publish_refuses_params_that_are_none(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    static const struct {
        vyre_slot_params params;
        const char *part;
    } cases[] = {
        {{0, 8, 0, VYRE_PRIORITY_LOW, thirteen, 13},
         "slot 2 has 13 arguments, of which at most 12"},
        {{0, 8, 0, VYRE_PRIORITY_LOW, thirteen, 0xffffffff}, "slot 2 has 4294967295 arguments"},
        {{0, 8, 0, VYRE_PRIORITY_LOW, NULL, 1}, "args of slot 2 is NULL"},
        {{0, 8, 29, VYRE_PRIORITY_LOW, thirteen, 1}, "tenant 29 of slot 2 is none, there are 29"},
        {{0, 8, 0xffffffff, VYRE_PRIORITY_LOW, thirteen, 1}, "tenant 4294967295 of slot 2"},
        {{0, 8, 0, VYRE_PRIORITY_COUNT, thirteen, 1}, "priority 5 of slot 2 is none, there are 5"},
        {{0, 8, 0, (vyre_priority)0x7fffffff, thirteen, 1}, "priority 2147483647 of slot 2"},
        {{8, 8, 0, VYRE_PRIORITY_LOW, thirteen, 1}, "vyre_slot_params.struct_size is 8"},
    };
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        assert_refused(&ring, vyre_ring_publish(ring.words, ring_size, 2, &cases[i].params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, cases[i].part);
    }
    vyre_slot_params last = slot_of(8, 0);
    last.tenant = VYRE_MAX_TENANTS - 1;
    last.priority = VYRE_PRIORITY_IDLE;
    assert_int_equal(vyre_ring_publish(ring.words, ring_size, 2, &last, &diag), VYRE_OK);
    assert_slot(&ring, 2, 8, 28, VYRE_PRIORITY_IDLE, NULL, 0);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void make_items(vyre_work_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (vyre_work_item){i < 6 ? i : 100 + i, 10 * i + 1, 10 * i + 2, 0xfffffff0u + i};
    }
}

static void test_items_are_slots_published_one_by_one(void **state)
{
    (void)state;
    test_ring ring, single, bytes;
    vyre_work_item items[RING_SLOTS];
    make_items(items, RING_SLOTS);
    for (uint32_t first = 0; first <= RING_SLOTS; first++) {
        for (uint32_t count = 0; first + count <= RING_SLOTS; count++) {
            ring_fill(&ring, VYRE_STATUS_DONE);
            ring_fill(&single, VYRE_STATUS_DONE);
            ring_fill(&bytes, VYRE_STATUS_DONE);
            for (uint32_t i = 0; i < count; i++) {
                vyre_slot_params params;
                vyre_slot_params_init(&params);
                params.opcode = items[i].opcode;
                uint32_t args[3] = {items[i].input, items[i].output, items[i].param};
                params.args = args;
                params.arg_count = 3;
                assert_int_equal(
                    vyre_ring_publish(single.words, ring_size, first + i, &params, NULL), VYRE_OK);
            }
            assert_int_equal(
                vyre_ring_publish_items(ring.words, ring_size, first, items, count, NULL), VYRE_OK);
            assert_int_equal(vyre_ring_publish_bytes(bytes.words, ring_size, first, items,
                                                     count * sizeof items[0], NULL),
                             VYRE_OK);
            assert_memory_equal(ring.words, single.words, ring_size);
            assert_memory_equal(bytes.words, single.words, ring_size);
            assert_only(&ring, first, count);
        }
    }
}

static void test_items_are_published_all_or_none(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_work_item items[6];
    for (uint32_t bad = 0; bad < 6; bad++) {
        char part[48];
        make_items(items, 6);
        for (size_t i = 0; i < VY_COUNT_OF(busy); i++) {
            snprintf(part, sizeof part, "slot %u ", bad + 1);
            ring_fill(&ring, VYRE_STATUS_EMPTY);
            ring_set(&ring, bad + 1, busy[i]);
            assert_refused(&ring,
                           vyre_ring_publish_items(ring.words, ring_size, 1, items, 6, &diag),
                           VYRE_ERROR_BUSY, &diag, part);
            assert_refused(&ring,
                           vyre_ring_publish_bytes(ring.words, ring_size, 1, items, 96, &diag),
                           VYRE_ERROR_BUSY, &diag, part);
        }
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        for (size_t i = 0; i < VY_COUNT_OF(reserved); i++) {
            snprintf(part, sizeof part, "opcode 0x%08x for slot %u ", reserved[i], bad + 1);
            items[bad].opcode = reserved[i];
            assert_refused(&ring,
                           vyre_ring_publish_items(ring.words, ring_size, 1, items, 6, &diag),
                           VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
            assert_refused(&ring,
                           vyre_ring_publish_bytes(ring.words, ring_size, 1, items, 96, &diag),
                           VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
        }
    }
}

static void test_items_beyond_the_ring_are_refused(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_work_item items[RING_SLOTS + 1];
    make_items(items, RING_SLOTS + 1);
    static const struct {
        uint32_t first, count;
    } cases[] = {{0, RING_SLOTS + 1}, {1, RING_SLOTS}, {RING_SLOTS, 1}, {RING_SLOTS - 1, 2},
                 {0xffffffff, 1},     {0xffffffff, 2}, {0xfffffffe, 8}, {1, 0xffffffff},
                 {8, 0xfffffff8u},    {9, 0},          {0xffffffff, 0}, {0xffffffff, 0xffffffff}};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        assert_refused(&ring,
                       vyre_ring_publish_items(ring.words, ring_size, cases[i].first, items,
                                               cases[i].count, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
    }
    assert_refused(&ring,
                   vyre_ring_publish_bytes(ring.words, ring_size, 0, items,
                                           (RING_SLOTS + 1) * sizeof items[0], &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "slot 0 to 8: the ring has only 8 slots");
    assert_refused(&ring,
                   vyre_ring_publish_bytes(ring.words, ring_size, 0, items, SIZE_MAX - 15, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
    assert_refused(&ring, vyre_ring_publish_items(ring.words, ring_size, 0, NULL, 1, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "items is NULL and their count is 1");
    assert_int_equal(vyre_ring_publish_items(ring.words, ring_size, 0, NULL, 0, &diag), VYRE_OK);
    assert_untouched(&ring);
}

static void test_bytes_of_no_whole_items_are_refused(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_work_item items[4];
    make_items(items, 4);
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t size = 0; size <= 48; size++) {
        if (size % 16 != 0) {
            assert_refused(&ring,
                           vyre_ring_publish_bytes(ring.words, ring_size, 0, items, size, &diag),
                           VYRE_ERROR_INVALID_ARGUMENT, &diag, "a list of items, which");
        }
    }
    for (size_t off = 1; off < 8; off++) {
        if (off % 4 != 0) {
            assert_refused(
                &ring,
                vyre_ring_publish_bytes(ring.words, ring_size, 0, (char *)items + off, 32, &diag),
                VYRE_ERROR_INVALID_ARGUMENT, &diag, "not aligned to 4 bytes");
        }
    }
    assert_refused(&ring, vyre_ring_publish_bytes(ring.words, ring_size, 0, NULL, 16, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "NULL");
    /* 4 bytes are enough: items in a message need not lie at 16. */
    memmove((char *)items + 4, items, 32);
    assert_int_equal(
        vyre_ring_publish_bytes(ring.words, ring_size, 0, (char *)items + 4, 32, &diag), VYRE_OK);
    static const uint32_t args[] = {11, 12, 0xfffffff1};
    assert_slot(&ring, 1, 1, 0, VYRE_PRIORITY_NORMAL, args, 3);
    assert_int_equal(vyre_ring_publish_bytes(ring.words, ring_size, 0, NULL, 0, &diag), VYRE_OK);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void test_batch_ends_with_a_fence(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_slot_params slots[RING_SLOTS];
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        slots[i] = slot_of(20 + i, i);
        slots[i].tenant = i;
        slots[i].priority = VYRE_PRIORITY_IDLE;
    }
    for (uint32_t count = 0; count < RING_SLOTS; count++) {
        uint32_t first = RING_SLOTS - 1 - count;
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        assert_int_equal(vyre_ring_publish_batch(ring.words, ring_size, first, count ? slots : NULL,
                                                 count, 0xabcdef01, &diag),
                         VYRE_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_slot(&ring, first + i, 20 + i, i, VYRE_PRIORITY_IDLE, thirteen, i);
        }
        const uint32_t fence[] = {count, 0xabcdef01};
        assert_slot(&ring, RING_SLOTS - 1, VYRE_OPCODE_BATCH_FENCE, 0, VYRE_PRIORITY_NORMAL, fence,
                    2);
        assert_only(&ring, first, count + 1);
    }
}

static void test_batch_is_published_all_or_none(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    for (uint32_t bad = 0; bad < 5; bad++) {
        vyre_slot_params slots[4] = {slot_of(8, 1), slot_of(9, 2), slot_of(10, 3), slot_of(11, 4)};
        char part[48];
        snprintf(part, sizeof part, "slot %u ", bad + 2);
        for (size_t i = 0; i < VY_COUNT_OF(busy); i++) {
            ring_fill(&ring, VYRE_STATUS_DONE);
            ring_set(&ring, bad + 2, busy[i]);
            assert_refused(&ring,
                           vyre_ring_publish_batch(ring.words, ring_size, 2, slots, 4, 9, &diag),
                           VYRE_ERROR_BUSY, &diag, part);
        }
        if (bad == 4) {
            break; /* the fence */
        }
        ring_fill(&ring, VYRE_STATUS_DONE);
        slots[bad].arg_count = 13;
        assert_refused(&ring, vyre_ring_publish_batch(ring.words, ring_size, 2, slots, 4, 9, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
        slots[bad] = slot_of(VYRE_OPCODE_LOAD_MISS, 0);
        assert_refused(&ring, vyre_ring_publish_batch(ring.words, ring_size, 2, slots, 4, 9, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
        slots[bad] = slot_of(8, 0);
        slots[bad].struct_size = 12;
        assert_refused(&ring, vyre_ring_publish_batch(ring.words, ring_size, 2, slots, 4, 9, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "struct_size");
    }
}

static void test_batch_beyond_the_ring_is_refused(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_slot_params slots[RING_SLOTS];
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        slots[i] = slot_of(8, 0);
    }
    static const struct {
        uint32_t first, count;
    } cases[] = {{0, RING_SLOTS}, {1, RING_SLOTS - 1}, {RING_SLOTS, 0},
                 {0xffffffff, 0}, {0xffffffff, 1},     {0xfffffffe, 1},
                 {0, 0xffffffff}, {1, 0xffffffff},     {8, 0xfffffff7u}};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        assert_refused(&ring,
                       vyre_ring_publish_batch(ring.words, ring_size, cases[i].first, slots,
                                               cases[i].count, 0, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
    }
    assert_refused(&ring, vyre_ring_publish_batch(ring.words, ring_size, 0, NULL, 3, 0, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "the list of slots is NULL");
}

/* A host with a later header has longer structs, which lie farther apart. */
static void test_batch_of_longer_structs_is_read_by_their_size(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    struct {
        vyre_slot_params params;
        uint64_t later;
    } slots[3] = {{slot_of(8, 1), 0}, {slot_of(9, 2), 0}, {slot_of(10, 3), 0}};
    for (uint32_t i = 0; i < 3; i++) {
        slots[i].params.struct_size = sizeof slots[0];
    }
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    assert_int_equal(
        vyre_ring_publish_batch(ring.words, ring_size, 0, &slots[0].params, 3, 0, &diag), VYRE_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_slot(&ring, i, 8 + i, 0, VYRE_PRIORITY_NORMAL, thirteen, 1 + i);
    }
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    slots[2].later = 1;
    assert_refused(&ring,
                   vyre_ring_publish_batch(ring.words, ring_size, 0, &slots[0].params, 3, 0, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "not zero");
    slots[2].later = 0;
    slots[2].params.struct_size = sizeof slots[0].params;
    assert_refused(&ring,
                   vyre_ring_publish_batch(ring.words, ring_size, 0, &slots[0].params, 3, 0, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "struct_size of element 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_publish_writes_every_word),
        cmocka_unit_test(test_publish_takes_every_publishable_opcode),
        cmocka_unit_test(test_publish_of_nothing_is_a_nop),
        cmocka_unit_test(test_publish_refuses_slots_in_flight),
        cmocka_unit_test(test_publish_refuses_slots_beyond_the_ring),
        cmocka_unit_test(test_publish_refuses_params_that_are_none),
        cmocka_unit_test(test_items_are_slots_published_one_by_one),
        cmocka_unit_test(test_items_are_published_all_or_none),
        cmocka_unit_test(test_items_beyond_the_ring_are_refused),
        cmocka_unit_test(test_bytes_of_no_whole_items_are_refused),
        cmocka_unit_test(test_batch_ends_with_a_fence),
        cmocka_unit_test(test_batch_is_published_all_or_none),
        cmocka_unit_test(test_batch_beyond_the_ring_is_refused),
        cmocka_unit_test(test_batch_of_longer_structs_is_read_by_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Windows: ticket and class before the arguments, required slots before the others, all or none. */
#include "tests/megakernel/ring_support.h"

static const uint32_t numbers[12] = {21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

typedef struct window {
    vyre_slot_params required[RING_SLOTS], look_ahead[RING_SLOTS];
    vyre_window_params params;
} window;

static void window_make(window *w, uint32_t required, uint32_t look_ahead)
{
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        vyre_slot_params_init(&w->required[i]);
        w->required[i].opcode = 30 + i;
        w->required[i].tenant = i;
        w->required[i].priority = VYRE_PRIORITY_HIGH;
        w->required[i].args = numbers;
        w->required[i].arg_count = i;
        vyre_slot_params_init(&w->look_ahead[i]);
        w->look_ahead[i].opcode = 50 + i;
        w->look_ahead[i].args = numbers;
        w->look_ahead[i].arg_count = VYRE_WINDOW_MAX_PAYLOAD - i;
    }
    vyre_window_params_init(&w->params);
    w->params.ticket = 0xdeadbeef;
    w->params.required = required ? w->required : NULL;
    w->params.required_count = required;
    w->params.look_ahead = look_ahead ? w->look_ahead : NULL;
    w->params.look_ahead_count = look_ahead;
}

static void assert_window_slot(const test_ring *ring, uint32_t slot, const vyre_slot_params *of,
                               uint32_t class)
{
    uint32_t args[VYRE_SLOT_MAX_ARGS] = {0xdeadbeef, class};
    for (uint32_t i = 0; i < of->arg_count; i++) {
        args[2 + i] = of->args[i];
    }
    assert_slot(ring, slot, of->opcode, of->tenant, of->priority, args, 2 + of->arg_count);
}

static void test_window_puts_required_slots_first(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    window w;
    for (uint32_t required = 0; required <= RING_SLOTS; required++) {
        for (uint32_t other = 0; required + other <= RING_SLOTS; other++) {
            uint32_t first = RING_SLOTS - required - other;
            window_make(&w, required, other);
            ring_fill(&ring, VYRE_STATUS_DONE);
            assert_int_equal(
                vyre_ring_publish_window(ring.words, ring_size, first, &w.params, &diag), VYRE_OK);
            for (uint32_t i = 0; i < required; i++) {
                assert_window_slot(&ring, first + i, &w.required[i], 0);
            }
            for (uint32_t i = 0; i < other; i++) {
                assert_window_slot(&ring, first + required + i, &w.look_ahead[i], 1);
            }
            assert_only(&ring, first, required + other);
        }
    }
}

static void test_window_payload_has_a_limit(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    window w;
    for (uint32_t bad = 0; bad < 6; bad++) {
        window_make(&w, 3, 3);
        vyre_slot_params *slot = bad < 3 ? &w.required[bad] : &w.look_ahead[bad - 3];
        char part[64];
        snprintf(part, sizeof part, "slot %u has 11 arguments, of which at most 10 fit", bad + 1);
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        slot->arg_count = 11;
        assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 1, &w.params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
        slot->arg_count = 0xffffffff;
        assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 1, &w.params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "slot ");
        slot->arg_count = 10;
        assert_int_equal(vyre_ring_publish_window(ring.words, ring_size, 1, &w.params, &diag),
                         VYRE_OK);
        assert_window_slot(&ring, 1 + bad, slot, bad >= 3);
    }
}

static void test_window_is_published_all_or_none(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    window w;
    static const uint32_t busy[] = {1, 2, 4, 5, 6, 7, 8, 0xffffffff};
    for (uint32_t bad = 0; bad < 5; bad++) {
        char part[32];
        snprintf(part, sizeof part, "slot %u ", bad + 2);
        for (size_t i = 0; i < VY_COUNT_OF(busy); i++) {
            window_make(&w, 2, 3);
            ring_fill(&ring, VYRE_STATUS_EMPTY);
            ring_set(&ring, bad + 2, busy[i]);
            assert_refused(&ring,
                           vyre_ring_publish_window(ring.words, ring_size, 2, &w.params, &diag),
                           VYRE_ERROR_BUSY, &diag, part);
        }
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        vyre_slot_params *slot = bad < 2 ? &w.required[bad] : &w.look_ahead[bad - 2];
        slot->opcode = VYRE_OPCODE_LOAD_MISS;
        assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 2, &w.params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
        slot->opcode = 8;
        slot->tenant = 29;
        assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 2, &w.params, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, part);
    }
}

static void test_window_beyond_the_ring_is_refused(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    window w;
    static const struct {
        uint32_t first, required, look_ahead;
    } cases[] = {
        {0, 5, 4},
        {1, 4, 4},
        {8, 1, 0},
        {8, 0, 1},
        {9, 0, 0},
        {0xffffffff, 1, 0},
        {0xffffffff, 1, 1},
        {0xfffffffe, 2, 2},
        {0, 0xffffffff, 1},
        {0, 1, 0xffffffff},
        {2, 0x80000000, 0x80000000},
        {0, 0x80000000, 0x80000001},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        window_make(&w, cases[i].required, cases[i].look_ahead);
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        assert_refused(
            &ring,
            vyre_ring_publish_window(ring.words, ring_size, cases[i].first, &w.params, &diag),
            VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
    }
}

static void test_window_params_are_checked(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    window w;
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    window_make(&w, 2, 2);
    w.params.required = NULL;
    assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 0, &w.params, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "NULL and its count is 2");
    window_make(&w, 2, 2);
    w.params.look_ahead = NULL;
    assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 0, &w.params, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "NULL and its count is 2");
    window_make(&w, 2, 2);
    w.params.struct_size = 4;
    assert_refused(&ring, vyre_ring_publish_window(ring.words, ring_size, 0, &w.params, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "vyre_window_params.struct_size is 4");
    assert_int_equal(vyre_ring_publish_window(ring.words, ring_size, 0, NULL, &diag), VYRE_OK);
    assert_untouched(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_puts_required_slots_first),
        cmocka_unit_test(test_window_payload_has_a_limit),
        cmocka_unit_test(test_window_is_published_all_or_none),
        cmocka_unit_test(test_window_beyond_the_ring_is_refused),
        cmocka_unit_test(test_window_params_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

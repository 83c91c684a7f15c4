/* Windows of a ring and tasks of a snapshot, as the next request has them. */
#include "engine/megakernel/feedback.h"

#include "tests/megakernel/ring_support.h"
#include "tests/support/fail_allocator.h"
#include "vyre/dispatcher.h"

static const uint32_t of_windows[] = {40, 41};

static void publish_window(test_ring *ring, uint32_t first, uint32_t ticket, uint32_t opcode,
                           uint32_t required, uint32_t look_ahead)
{
    vyre_slot_params slots[RING_SLOTS];
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        vyre_slot_params_init(&slots[i]);
        slots[i].opcode = opcode;
    }
    vyre_window_params params;
    vyre_window_params_init(&params);
    params.ticket = ticket;
    params.required = slots;
    params.required_count = required;
    params.look_ahead = slots;
    params.look_ahead_count = look_ahead;
    assert_int_equal(vyre_ring_publish_window(ring->words, ring_size, first, &params, NULL),
                     VYRE_OK);
}

/* 41 of ticket 7, 40 of ticket 7 and 40 of ticket 0xffffffff, between them a slot of another. */
static void fill_windows(test_ring *ring)
{
    ring_fill(ring, VYRE_STATUS_EMPTY);
    publish_window(ring, 0, 7, 41, 2, 1);
    publish_window(ring, 3, 7, 40, 1, 0);
    publish_window(ring, 5, UINT32_MAX, 40, 0, 3);
    assert_int_equal(vyre_ring_publish(ring->words, ring_size, 4, NULL, NULL), VYRE_OK);
}

static void check_window(const vy_mk_window *window, uint32_t ticket, uint32_t opcode,
                         uint32_t required, uint32_t look_ahead)
{
    assert_int_equal(window->ticket, ticket);
    assert_int_equal(window->opcode, opcode);
    assert_int_equal(window->required_count, required);
    assert_int_equal(window->look_ahead_count, look_ahead);
}

static void test_windows_are_counted_by_ticket_and_opcode(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vy_arena arena;
    const vy_mk_window *windows;
    uint32_t count = 9;
    fill_windows(&ring);
    vy_arena_init(&arena, NULL);
    assert_int_equal(
        vy_mk_windows_read(&arena, ring.words, ring_size, of_windows, 2, &windows, &count, &diag),
        VYRE_OK);
    assert_int_equal(count, 3);
    check_window(&windows[0], 7, 41, 2, 1);
    check_window(&windows[1], 7, 40, 1, 0);
    check_window(&windows[2], UINT32_MAX, 40, 0, 3);
    assert_int_equal(
        vy_mk_windows_read(&arena, ring.words, ring_size, of_windows, 1, &windows, &count, &diag),
        VYRE_OK);
    assert_int_equal(count, 2);
    check_window(&windows[0], 7, 40, 1, 0);
    assert_int_equal(
        vy_mk_windows_read(&arena, ring.words, ring_size, NULL, 0, &windows, &count, &diag),
        VYRE_OK);
    assert_true(count == 0 && windows == NULL);
    vy_arena_finish(&arena);
}

static void test_windows_are_those_of_slots_that_wait(void **state)
{
    (void)state;
    static const bool waits[VYRE_STATUS_COUNT + 1] = {[VYRE_STATUS_PUBLISHED] = true,
                                                      [VYRE_STATUS_WAIT_IO] = true,
                                                      [VYRE_STATUS_YIELD] = true,
                                                      [VYRE_STATUS_REQUEUE] = true};
    for (uint32_t status = 0; status <= VYRE_STATUS_COUNT; status++) {
        test_ring ring;
        vy_arena arena;
        const vy_mk_window *windows;
        uint32_t count = 9;
        fill_windows(&ring);
        ring_set(&ring, 3, status);
        ring_set(&ring, 0, status);
        vy_arena_init(&arena, NULL);
        assert_int_equal(vy_mk_windows_read(&arena, ring.words, ring_size, of_windows, 2, &windows,
                                            &count, NULL),
                         VYRE_OK);
        assert_int_equal(count, waits[status] ? 3 : 2);
        check_window(&windows[0], 7, 41, waits[status] ? 2 : 1, 1);
        vy_arena_finish(&arena);
    }
}

static void test_windows_of_no_class_are_refused(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vy_arena arena;
    const vy_mk_window *windows = (const vy_mk_window *)(const void *)&ring;
    uint32_t count = 9;
    fill_windows(&ring);
    ring.words[6 * VYRE_SLOT_WORDS + 5] = ring.before[6 * VYRE_SLOT_WORDS + 5] = 2;
    memcpy(ring.before, ring.words, sizeof ring.before);
    vy_arena_init(&arena, NULL);
    assert_refused(
        &ring,
        vy_mk_windows_read(&arena, ring.words, ring_size, of_windows, 2, &windows, &count, &diag),
        VYRE_ERROR_INVALID_ARGUMENT, &diag, "slot 6 of opcode 0x00000028 has the class 2");
    assert_true(count == 0 && windows == NULL);
    assert_refused(&ring,
                   vy_mk_windows_read(&arena, ring.words, ring_size - 1, of_windows, 2, &windows,
                                      &count, &diag),
                   VYRE_ERROR_INVALID_ARGUMENT, &diag, "are not a ring");
    vy_arena_finish(&arena);
}

static void test_windows_survive_each_failed_allocation(void **state)
{
    (void)state;
    enum { SLOTS = 4096 };
    uint32_t *ring = calloc(SLOTS, VYRE_SLOT_SIZE);
    assert_non_null(ring);
    for (uint32_t i = 0; i < SLOTS; i++) {
        ring[i * VYRE_SLOT_WORDS] = VYRE_STATUS_PUBLISHED;
        ring[i * VYRE_SLOT_WORDS + VYRE_SLOT_OPCODE] = 40;
        ring[i * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS] = i / 2;
        ring[i * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS + 1] = i % 2;
    }
    size_t needed = 0;
    for (size_t fail_at = 0; fail_at <= needed; fail_at++) {
        vy_fail_allocator failing = {.fail_at = fail_at};
        vyre_allocator allocator = vy_fail_allocator_get(&failing);
        vy_arena arena;
        vyre_diag diag;
        const vy_mk_window *windows;
        uint32_t count = 9, hot = 9;
        vy_arena_init(&arena, &allocator);
        vyre_result code = vy_mk_windows_read(&arena, ring, (size_t)SLOTS * VYRE_SLOT_SIZE,
                                              of_windows, 2, &windows, &count, &diag);
        assert_int_equal(code, fail_at ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        assert_int_equal(diag.code, code);
        assert_int_equal(count, fail_at ? 0 : SLOTS / 2);
        if (!fail_at) {
            needed = failing.calls;
            check_window(&windows[SLOTS / 2 - 1], SLOTS / 2 - 1, 40, 1, 1);
            assert_int_equal(
                vy_mk_count_hot_windows(vy_mk_policy_standard(), windows, count, &hot, &diag),
                VYRE_OK);
            assert_int_equal(hot, 0);
        }
        vy_arena_finish(&arena);
        assert_int_equal(failing.live_blocks, 0);
    }
    assert_true(needed > 3);
    free(ring);
}

static void test_tasks_make_a_request(void **state)
{
    (void)state;
    const vyre_task tasks[] = {{.state = VYRE_TASK_READY, .age = 40, .requeue_count = 2},
                               {.state = VYRE_TASK_YIELDED, .age = 3},
                               {.state = VYRE_TASK_REQUEUED, .requeue_count = 1},
                               {.state = VYRE_TASK_DONE, .age = 99, .requeue_count = 4},
                               {.state = VYRE_TASK_PAUSED, .age = 77}};
    vyre_task_counts counts;
    assert_int_equal(vyre_task_count(tasks, 5, &counts, NULL), VYRE_OK);
    vy_mk_request request = {
        .queue_length = 9, .worker_count = 64, .requeue_count = 10, .age = 1, .node_count = 5};
    vy_mk_feed_tasks(&counts, &request);
    assert_int_equal(request.queue_length, 3);
    assert_int_equal(request.requeue_count, 10 + 1 + 1 + 2 + 1 + 4);
    assert_int_equal(request.age, 40);
    assert_int_equal(request.worker_count, 64);
    assert_int_equal(request.node_count, 5);
    assert_true(vy_mk_age_first(vy_mk_policy_standard(), &request));
    /* Counts that 32 bits do not hold. */
    counts.requeues = (uint64_t)UINT32_MAX - 19;
    vy_mk_feed_tasks(&counts, &request);
    assert_true(request.requeue_count == UINT32_MAX);
    vy_mk_feed_tasks(&counts, &request);
    assert_true(request.requeue_count == UINT32_MAX);
    counts.requeues = UINT64_MAX;
    request.requeue_count = 1;
    vy_mk_feed_tasks(&counts, &request);
    assert_true(request.requeue_count == UINT32_MAX);
    counts.requeues = 5;
    request.requeue_count = 0;
    vy_mk_feed_tasks(&counts, &request);
    assert_int_equal(request.requeue_count, 5);
}

/* ---- As hints of the parameters -------------------------------------------------------------- */

static void test_rings_make_hints(void **state)
{
    (void)state;
    test_ring ring;
    static uint32_t control[160];
    vyre_diag diag;
    vyre_queue_params params, wanted;
    vyre_queue_params_init(&params);
    params.worker_count = 7;
    params.age = 8;
    params.node_count = params.edge_count = 99;
    params.requeue_count = params.hot_opcode_count = params.hot_window_count = 99;
    params.density_bps = 99;
    params.pressure_bps = 11;
    wanted = params;
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    publish_window(&ring, 0, 7, 41, 3, 1); /* four: hot */
    publish_window(&ring, 4, 7, 40, 2, 0);
    ring_set(&ring, 5, VYRE_STATUS_REQUEUE);
    memset(control, 0, sizeof control);
    control[VYRE_CONTROL_METRICS + 3] = 5;
    control[VYRE_CONTROL_METRICS + 7] = 1;
    assert_int_equal(vyre_queue_params_read_ring(&params, ring.words, ring_size, control,
                                                 sizeof control, of_windows, 2, &diag),
                     VYRE_OK);
    wanted.node_count = RING_SLOTS;
    wanted.edge_count = 6;
    wanted.density_bps = 6 * 10000 / RING_SLOTS;
    wanted.requeue_count = 1;
    wanted.hot_opcode_count = 2;
    wanted.hot_window_count = 1;
    assert_memory_equal(&params, &wanted, sizeof params);
    /* Those that the last drain counted, where they are more; and no windows. */
    control[VYRE_CONTROL_REQUEUE_COUNT] = 6;
    assert_int_equal(vyre_queue_params_read_ring(&params, ring.words, ring_size, control,
                                                 sizeof control, NULL, 0, NULL),
                     VYRE_OK);
    wanted.requeue_count = 6;
    wanted.hot_window_count = 0;
    assert_memory_equal(&params, &wanted, sizeof params);
}

static void test_hints_of_what_is_none_are_refused(void **state)
{
    (void)state;
    test_ring ring;
    static uint32_t control[160];
    vyre_diag diag;
    vyre_queue_params params, before;
    vyre_queue_params_init(&params);
    before = params;
    fill_windows(&ring);
    ring.words[6 * VYRE_SLOT_WORDS + 5] = 2;
    memcpy(ring.before, ring.words, sizeof ring.before);
    const struct {
        size_t ring, control;
        const char *message;
    } cases[] = {{ring_size, sizeof control, "slot 6 of opcode 0x00000028 has the class 2"},
                 {ring_size - 1, sizeof control, "not a ring"},
                 {ring_size, 636, "control"}};
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        assert_refused(&ring,
                       vyre_queue_params_read_ring(&params, ring.words, cases[i].ring, control,
                                                   cases[i].control, of_windows, 2, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, cases[i].message);
        assert_memory_equal(&params, &before, sizeof params);
    }
}

static void test_tasks_make_hints(void **state)
{
    (void)state;
    vyre_task_counts counts = {.schedulable = 3, .requeues = 9, .max_age = 40};
    vyre_queue_params params, wanted;
    vyre_queue_params_init(&params);
    params.requeue_count = 10;
    params.node_count = 5;
    wanted = params;
    vyre_queue_params_read_tasks(&params, &counts);
    wanted.requeue_count = 19;
    wanted.age = 40;
    assert_memory_equal(&params, &wanted, sizeof params);
    counts.requeues = UINT64_MAX;
    vyre_queue_params_read_tasks(&params, &counts);
    assert_true(params.requeue_count == UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_are_counted_by_ticket_and_opcode),
        cmocka_unit_test(test_windows_are_those_of_slots_that_wait),
        cmocka_unit_test(test_windows_of_no_class_are_refused),
        cmocka_unit_test(test_windows_survive_each_failed_allocation),
        cmocka_unit_test(test_tasks_make_a_request),
        cmocka_unit_test(test_rings_make_hints),
        cmocka_unit_test(test_hints_of_what_is_none_are_refused),
        cmocka_unit_test(test_tasks_make_hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tasks: every event from every state, what it leaves in the words, and counts. */
#include "tests/megakernel/refused.h"

#include "codegen/base/base.h"
#include "vyre/megakernel.h"

#include <stdio.h>
#include <stdlib.h>

#define EVENTS     7
#define UNTOUCHED  0x5a5a5a5au
#define OTHER_FLAG 0x100u

/* Where each event leads from each state; -1: nowhere. In the order of vyre_task_state. */
static const int leads[EVENTS][VYRE_TASK_STATE_COUNT] = {
    /*  empty ready running done paused yielded requeued faulted */
    {-1, 2, -1, -1, -1, 2, 2, -1},   /* start */
    {-1, -1, 3, -1, -1, -1, -1, -1}, /* finish */
    {-1, -1, 4, -1, -1, -1, -1, -1}, /* pause */
    {-1, -1, 5, -1, -1, -1, -1, -1}, /* yield */
    {-1, -1, 6, -1, -1, -1, -1, -1}, /* requeue */
    {-1, -1, -1, -1, 1, -1, -1, -1}, /* resume */
    {-1, 7, 7, -1, 7, 7, 7, -1},     /* fail */
};

static const char *const state_names[VYRE_TASK_STATE_COUNT] = {
    "EMPTY", "READY", "RUNNING", "DONE", "PAUSED", "YIELDED", "REQUEUED", "FAULTED"};
static const char *const event_names[EVENTS] = {"START",   "FINISH", "PAUSE", "YIELD",
                                                "REQUEUE", "RESUME", "FAIL"};

static vyre_task a_task(uint32_t state)
{
    return (vyre_task){.state = state,
                       .opcode = 9,
                       .tenant = 2,
                       .priority = 3,
                       .input = 4,
                       .output = 5,
                       .param = 6,
                       .continuation = 7,
                       .continuation_data = 8,
                       .resume_epoch = 20,
                       .id = 77,
                       .parent_id = 66,
                       .age = 13,
                       .requeue_count = 31,
                       .yield_count = 41,
                       .flags = OTHER_FLAG | VYRE_TASK_FLAG_RESUME_READY};
}

static void test_task_has_the_words_of_a_slot(void **state)
{
    (void)state;
    uint32_t words[VYRE_SLOT_WORDS];
    vyre_task task = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    assert_int_equal(sizeof task, sizeof words);
    memcpy(words, &task, sizeof words);
    for (uint32_t i = 0; i < VYRE_SLOT_WORDS; i++) {
        assert_int_equal(words[i], i);
    }
    assert_int_equal(task.continuation, 7);
    assert_int_equal(task.resume_epoch, 9);
    assert_int_equal(task.age, 12);
    assert_int_equal(task.flags, 15);
}

/* What the event must make of the task, told apart from how the library does it. */
static vyre_task moved(vyre_task task, int event, int to)
{
    static const uint32_t flags[EVENTS] = {
        0,
        0,
        VYRE_TASK_FLAG_PAUSED,
        VYRE_TASK_FLAG_YIELDED,
        VYRE_TASK_FLAG_REQUEUED,
        VYRE_TASK_FLAG_RESUME_READY,
        VYRE_TASK_FLAG_RESUME_READY /* fail: as it was */
    };
    task.state = (uint32_t)to;
    task.flags = OTHER_FLAG | flags[event];
    task.yield_count += event == VYRE_TASK_YIELD;
    task.requeue_count += event == VYRE_TASK_REQUEUE;
    if (to == VYRE_TASK_READY || to == VYRE_TASK_YIELDED || to == VYRE_TASK_REQUEUED) {
        task.age = 0;
    }
    return task;
}

static void test_task_moves_by_each_event_from_each_state(void **state)
{
    (void)state;
    for (int event = 0; event < EVENTS; event++) {
        for (uint32_t from = 0; from < VYRE_TASK_STATE_COUNT; from++) {
            vyre_diag diag;
            vyre_task task = a_task(from), before = task;
            vyre_result code = vyre_task_move(&task, (vyre_task_event)event, 20, &diag);
            int to = leads[event][from];
            if (to >= 0) {
                assert_int_equal(code, VYRE_OK);
                assert_int_equal(diag.code, VYRE_OK);
                vyre_task wanted = moved(before, event, to);
                assert_memory_equal(&task, &wanted, sizeof task);
            } else {
                assert_refused(code, INVALID_ARGUMENT, &diag, "task 77 is ");
                assert_non_null(strstr(diag.message, state_names[from]));
                assert_non_null(strstr(diag.message, event_names[event]));
                bool is_final = from == VYRE_TASK_DONE || from == VYRE_TASK_FAULTED;
                assert_int_equal(strstr(diag.message, "for good") != NULL, is_final);
                assert_memory_equal(&task, &before, sizeof task);
                assert_int_equal(vyre_task_move(&task, (vyre_task_event)event, 20, NULL),
                                 VYRE_ERROR_INVALID_ARGUMENT);
            }
        }
    }
}

static void test_task_move_refuses_what_is_no_state_or_event(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {8, 9, 0x10, 0x7fffffff, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(numbers); i++) {
        char text[32];
        snprintf(text, sizeof text, "%u", numbers[i]);
        for (int event = 0; event < EVENTS; event++) {
            vyre_diag diag;
            vyre_task task = a_task(numbers[i]), before = task;
            assert_refused(vyre_task_move(&task, (vyre_task_event)event, 20, &diag),
                           INVALID_ARGUMENT, &diag, "task 77 has the state|0 to 7");
            assert_non_null(strstr(diag.message, text));
            assert_memory_equal(&task, &before, sizeof task);
        }
    }
    static const uint32_t no_events[] = {EVENTS, 8, 32, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(no_events); i++) {
        vyre_diag diag;
        vyre_task task = a_task(VYRE_TASK_RUNNING), before = task;
        assert_refused(vyre_task_move(&task, (vyre_task_event)no_events[i], 20, &diag),
                       INVALID_ARGUMENT, &diag, "is no event|0 to 6");
        assert_memory_equal(&task, &before, sizeof task);
    }
    vyre_diag diag;
    assert_refused(vyre_task_move(NULL, VYRE_TASK_START, 0, &diag), INVALID_ARGUMENT, &diag,
                   "task is NULL");
}

static void test_task_counters_do_not_overflow(void **state)
{
    (void)state;
    vyre_diag diag;
    vyre_task task = a_task(VYRE_TASK_RUNNING);
    task.yield_count = task.requeue_count = UINT32_MAX - 1;
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_YIELD, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_START, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_REQUEUE, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_START, 0, &diag), VYRE_OK);
    assert_true(task.yield_count == UINT32_MAX);
    assert_true(task.requeue_count == UINT32_MAX);

    vyre_task before = task;
    assert_refused(vyre_task_move(&task, VYRE_TASK_YIELD, 0, &diag), INVALID_ARGUMENT, &diag,
                   "task 77 has counted 4294967295|YIELD");
    assert_memory_equal(&task, &before, sizeof task);
    assert_refused(vyre_task_move(&task, VYRE_TASK_REQUEUE, 0, &diag), INVALID_ARGUMENT, &diag,
                   "task 77 has counted 4294967295|REQUEUE");
    assert_memory_equal(&task, &before, sizeof task);
    /* One counter at its end stops only what it counts. */
    task.requeue_count = 0;
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_REQUEUE, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_START, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_FINISH, 0, &diag), VYRE_OK);
}

static void test_task_resumes_once_its_epoch_has_come(void **state)
{
    (void)state;
    static const uint32_t epochs[][2] = {/* of the task, now */
                                         {0, 0},
                                         {20, 19},
                                         {20, 20},
                                         {20, 21},
                                         {1, 0},
                                         {UINT32_MAX, UINT32_MAX - 1},
                                         {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < VY_COUNT_OF(epochs); i++) {
        vyre_diag diag;
        vyre_task task = a_task(VYRE_TASK_PAUSED);
        task.resume_epoch = epochs[i][0];
        vyre_task before = task;
        vyre_result code = vyre_task_move(&task, VYRE_TASK_RESUME, epochs[i][1], &diag);
        if (epochs[i][1] >= epochs[i][0]) {
            assert_int_equal(code, VYRE_OK);
            assert_int_equal(task.state, VYRE_TASK_READY);
        } else {
            assert_refused(code, INVALID_ARGUMENT, &diag, "resumes at epoch|wait for 1 fences");
            assert_memory_equal(&task, &before, sizeof task);
        }
    }
    /* Other events have no epoch to wait for. */
    vyre_task task = a_task(VYRE_TASK_PAUSED);
    assert_int_equal(vyre_task_move(&task, VYRE_TASK_FAIL, 0, NULL), VYRE_OK);
}

static void test_task_counts_of_nothing_are_zero(void **state)
{
    (void)state;
    vyre_diag diag;
    vyre_task_counts counts;
    memset(&counts, 0x5a, sizeof counts);
    assert_int_equal(vyre_task_count(NULL, 0, &counts, &diag), VYRE_OK);
    for (int s = 0; s < VYRE_TASK_STATE_COUNT; s++) {
        assert_int_equal(counts.by_state[s], 0);
    }
    assert_int_equal(counts.schedulable, 0);
    assert_int_equal(counts.requeues, 0);
    assert_int_equal(counts.max_age, 0);
}

static void test_task_counts_each_state(void **state)
{
    (void)state;
    vyre_task tasks[64];
    uint32_t count = 0;
    for (uint32_t s = 0; s < VYRE_TASK_STATE_COUNT; s++) {
        for (uint32_t i = 0; i <= s; i++) {
            tasks[count] = (vyre_task){.state = s, .requeue_count = 1000 * s, .age = 50 + s};
            tasks[count++].yield_count = 7;
        }
    }
    tasks[1].requeue_count = UINT32_MAX; /* a sum of more than 32 bits */
    tasks[2].requeue_count = UINT32_MAX;
    assert_int_equal(tasks[2].state, VYRE_TASK_READY);
    vyre_diag diag;
    vyre_task_counts counts;
    assert_int_equal(vyre_task_count(tasks, count, &counts, &diag), VYRE_OK);
    uint64_t requeues = 6 + 7 + 2 * (uint64_t)UINT32_MAX;
    for (uint32_t s = 0; s < VYRE_TASK_STATE_COUNT; s++) {
        assert_int_equal(counts.by_state[s], s + 1);
        requeues += s == VYRE_TASK_READY ? 0 : 1000 * s * (s + 1);
    }
    assert_int_equal(counts.schedulable, 2 + 6 + 7);
    assert_true(counts.requeues == requeues);
    assert_int_equal(counts.max_age, 50 + VYRE_TASK_REQUEUED); /* not those of what is FAULTED */
}

static void test_task_counts_refuse_what_is_no_state(void **state)
{
    (void)state;
    vyre_task tasks[5] = {{.state = VYRE_TASK_READY}};
    vyre_task_counts counts, before;
    memset(&counts, 0x5a, sizeof counts);
    memcpy(&before, &counts, sizeof counts);
    vyre_diag diag;
    static const uint32_t numbers[] = {VYRE_TASK_STATE_COUNT, UNTOUCHED, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(numbers); i++) {
        tasks[4].state = numbers[i];
        assert_int_equal(vyre_task_count(tasks, 4, &counts, &diag), VYRE_OK);
        memcpy(&counts, &before, sizeof counts);
        assert_refused(vyre_task_count(tasks, 5, &counts, &diag), INVALID_ARGUMENT, &diag,
                       "index 4|0 to 7");
        assert_memory_equal(&counts, &before, sizeof counts);
    }
    assert_refused(vyre_task_count(tasks, VYRE_MAX_SLOTS + 1, &counts, &diag), INVALID_ARGUMENT,
                   &diag, "1048577 tasks|1048576");
    assert_refused(vyre_task_count(NULL, 1, &counts, &diag), INVALID_ARGUMENT, &diag, "is NULL");
    assert_memory_equal(&counts, &before, sizeof counts);
    assert_refused(vyre_task_count(tasks, 1, NULL, &diag), INVALID_ARGUMENT, &diag, "is NULL");
    assert_int_equal(vyre_task_count(tasks, 5, &counts, NULL), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_task_counts_as_many_as_a_ring_has(void **state)
{
    (void)state;
    vyre_task *tasks = calloc(VYRE_MAX_SLOTS, sizeof *tasks);
    assert_non_null(tasks);
    for (uint32_t i = 0; i < VYRE_MAX_SLOTS; i++) {
        tasks[i].state = VYRE_TASK_REQUEUED;
        tasks[i].requeue_count = UINT32_MAX;
    }
    vyre_task_counts counts;
    assert_int_equal(vyre_task_count(tasks, VYRE_MAX_SLOTS, &counts, NULL), VYRE_OK);
    assert_int_equal(counts.schedulable, VYRE_MAX_SLOTS);
    assert_true(counts.requeues == (uint64_t)VYRE_MAX_SLOTS << 32);
    free(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_task_has_the_words_of_a_slot),
        cmocka_unit_test(test_task_moves_by_each_event_from_each_state),
        cmocka_unit_test(test_task_move_refuses_what_is_no_state_or_event),
        cmocka_unit_test(test_task_counters_do_not_overflow),
        cmocka_unit_test(test_task_resumes_once_its_epoch_has_come),
        cmocka_unit_test(test_task_counts_of_nothing_are_zero),
        cmocka_unit_test(test_task_counts_each_state),
        cmocka_unit_test(test_task_counts_refuse_what_is_no_state),
        cmocka_unit_test(test_task_counts_as_many_as_a_ring_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the dispatcher keeps, says and promises of its queues: caches, budgets, lineage, handlers'
 * faults, shutdowns, limits of time, and several queues at a time. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/megakernel/refused.h"

#include "codegen/base/base.h"

#include <pthread.h>
#include <stdio.h>

enum { WORDS = 64, MANY = 65536 };

static vyre_work_item items[MANY];

/* Additions of 1, spread over all words; the sum is their count. */
static void make_additions(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        items[i] = rig_item(i % 2 ? RIG_ADD : RIG_LARGE, i, i % WORDS, 1);
    }
}

static uint32_t sum_of(rig *r)
{
    uint32_t sum = 0;
    rig_fetch(r);
    for (uint32_t w = 0; w < WORDS; w++) {
        sum += r->data[w];
    }
    rig_clear(r);
    return sum;
}

static vyre_dispatcher_counters counters_of(rig *r)
{
    vyre_dispatcher_counters counters;
    vyre_dispatcher_get_counters(r->dispatcher, &counters);
    return counters;
}

/* ---- Caches ---------------------------------------------------------------------------------- */

static void compile_once(vyre_device *device)
{
    static const uint32_t lengths[] = {1, 7, 64, 65, 300, 1000, 4097, 20000, 1};
    rig *r = rig_open(device, WORDS, NULL);
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_NO_SPECIAL | VYRE_QUEUE_KEEP_DUPLICATES;
    make_additions(20000);
    vyre_queue_report report = rig_run_with(r, items, 100, &params);
    assert_false(report.was_compiled);
    assert_true(report.compile_ns > 0);
    vyre_dispatcher_counters first = counters_of(r);
    assert_true(first.pipelines >= 1 && first.pipeline_misses >= 1);
    for (uint32_t round = 0; round < 2 * VY_COUNT_OF(lengths); round++) {
        params.worker_count = 1 + round * 37;
        params.max_wall_ns = 1000000000u * (uint64_t)(round + 1);
        params.group_cap = round % 4;
        report = rig_run_with(r, items, lengths[round % VY_COUNT_OF(lengths)], &params);
        assert_true(report.was_compiled);
        assert_true(report.compile_ns == 0);
        assert_int_equal(report.processed, lengths[round % VY_COUNT_OF(lengths)]);
    }
    vyre_dispatcher_counters last = counters_of(r);
    assert_int_equal(last.pipelines, first.pipelines);
    assert_int_equal(last.pipeline_misses, first.pipeline_misses);
    assert_int_equal(last.pipeline_evictions, 0);
    assert_true(last.pipeline_hits >= first.pipeline_hits + 2 * VY_COUNT_OF(lengths));
    assert_int_equal(last.queues, 1 + 2 * VY_COUNT_OF(lengths));
    rig_close(&r);
}

static void test_pipelines_are_made_once_for_queues_of_all_lengths(void **state)
{
    (void)state;
    RIG_FOR_EACH(compile_once);
}

static void reuse_memory(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL);
    make_additions(20000);
    (void)rig_run(r, items, 20000, VYRE_QUEUE_NO_SPECIAL);
    (void)rig_run(r, items, 10, VYRE_QUEUE_NO_SPECIAL);
    vyre_dispatcher_counters first = counters_of(r);
    vyre_device_counters before, after;
    if (device) {
        vyre_device_get_counters(device, &before);
    }
    for (uint32_t round = 0; round < 10; round++) {
        vyre_queue_report report = rig_run(r, items, round % 2 ? 10 : 20000, VYRE_QUEUE_NO_SPECIAL);
        assert_int_equal(report.resident_allocations, 0);
        assert_true(report.was_resident || !device);
    }
    if (device) {
        vyre_device_get_counters(device, &after);
        assert_int_equal(after.memory_allocations, before.memory_allocations);
        assert_int_equal(after.buffers, before.buffers);
    }
    vyre_dispatcher_counters last = counters_of(r);
    assert_int_equal(last.arenas, first.arenas);
    assert_int_equal(last.arena_misses, first.arena_misses);
    assert_int_equal(last.arena_size, first.arena_size);
    assert_true(last.arena_hits >= first.arena_hits + 10);
    rig_close(&r);
}

static void test_memory_of_queues_is_taken_again(void **state)
{
    (void)state;
    RIG_FOR_EACH(reuse_memory);
}

/* ---- Budgets --------------------------------------------------------------------------------- */

static void keep_budget(vyre_device *device)
{
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_diag diag;
    make_additions(1000);
    rig *r = rig_open(device, WORDS, NULL);
    vyre_queue_params_init(&params);
    params.resident_size = 4096;
    uint64_t peak = rig_run_with(r, items, 1000, &params).peak_size;
    assert_int_equal(sum_of(r), 1000);
    rig_close(&r);
    assert_true(peak > 4096 + 16000);

    r = rig_open(device, WORDS, NULL);
    vyre_device_counters before, after;
    if (device) {
        vyre_device_get_counters(device, &before);
    }
    char parts[64];
    params.budget_size = peak - 1;
    snprintf(parts, sizeof parts, "%llu|%llu", (unsigned long long)peak,
             (unsigned long long)(peak - 1));
    assert_refused(vyre_dispatcher_run(r->dispatcher, items, 1000, &params, &report, &diag),
                   DEVICE_OUT_OF_MEMORY, &diag, parts);
    assert_int_equal(report.processed, 0);
    assert_int_equal(report.launches, 0);
    if (device) {
        vyre_device_get_counters(device, &after);
        assert_int_equal(after.submissions, before.submissions);
        assert_int_equal(after.memory_allocations, before.memory_allocations);
        assert_int_equal(after.pipelines, before.pipelines);
    }
    assert_int_equal(counters_of(r).pipelines, 0);
    assert_int_equal(sum_of(r), 0);
    params.budget_size = peak;
    report = rig_run_with(r, items, 1000, &params);
    assert_int_equal(report.processed, 1000);
    assert_true(report.budget_size == peak && report.peak_size == peak);
    rig_close(&r);
}

static void test_budgets_are_kept_before_anything_is_done(void **state)
{
    (void)state;
    RIG_FOR_EACH(keep_budget);
}

/* ---- Lineage --------------------------------------------------------------------------------- */

static void trace(vyre_device *device)
{
    static uint32_t folded[300], opcodes[256];
    static uint64_t sets[300][4];
    const vyre_work_item few[] = {{VYRE_OPCODE_BATCH_FENCE, 0, 0, 0},
                                  {VYRE_OPCODE_BATCH_FENCE, 1, 1, 0},
                                  {RIG_SET, 0, 1, 5},
                                  {RIG_COPY, 1, 2, 0},
                                  {RIG_DOUBLE, 0, 2, 0}};
    const uint32_t set = 1u << RIG_SET, copy = 1u << RIG_COPY, twice = 1u << RIG_DOUBLE;
    const uint32_t expected[] = {0x80, 0x80, set, set | copy, set | copy | twice};
    vyre_queue_params params;
    vyre_dispatcher_params how;
    vyre_dispatcher_params_init(&how);
    how.slice_ns = 60000000000u; /* launches are as many, however busy the machine is */
    rig *r = rig_open(device, WORDS, &how);
    vyre_queue_params_init(&params);
    uint32_t launches = rig_run_with(r, few, 5, &params).launches;
    params.lineage = folded;
    params.lineage_capacity = 300;
    params.lineage_sets = sets;
    params.lineage_opcodes = opcodes;
    vyre_queue_report report = rig_run_with(r, few, 5, &params);
    assert_int_equal(report.launches, launches);
    assert_int_equal(report.lineage_items, 5);
    assert_int_equal(report.lineage_opcode_count, 4);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t of_set = 0;
        for (uint32_t k = 0; k < report.lineage_opcode_count; k++) {
            of_set |= sets[i][0] >> k & 1 ? 1u << opcodes[k] % 32 : 0;
        }
        assert_int_equal(folded[i], expected[i]);
        assert_int_equal(of_set, expected[i]);
    }
    for (uint32_t n = 255; n <= 257; n++) {
        for (uint32_t limit = 0; limit <= 257; limit += 257) {
            for (uint32_t i = 0; i < n; i++) {
                items[i] = rig_item(RIG_SET, 0, i % WORDS, i);
            }
            memset(folded, 0x5a, sizeof folded);
            params.lineage_limit = limit;
            params.flags = VYRE_QUEUE_KEEP_DUPLICATES;
            report = rig_run_with(r, items, n, &params);
            bool is_traced = n <= 256 || limit == 257;
            assert_int_equal(report.lineage_items, is_traced ? n : 0);
            assert_int_equal(folded[n - 1], is_traced ? set : 0x5a5a5a5a);
            assert_int_equal(folded[n], 0x5a5a5a5a);
        }
    }
    rig_close(&r);
}

static void test_lineage_is_that_of_the_published_items(void **state)
{
    (void)state;
    RIG_FOR_EACH(trace);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void call_handlers(vyre_device *device)
{
    static const struct {
        uint32_t given, fault;
    } codes[] = {{2, 2},     {5, 5},   {15, 15}, {16, 16}, {200, 200},
                 {255, 255}, {256, 5}, {257, 5}, {258, 5}, {0xffffffff, 5}};
    rig *r = rig_open(device, WORDS, NULL);
    make_additions(MANY);
    vyre_queue_report report = rig_run(r, items, MANY, VYRE_QUEUE_KEEP_DUPLICATES);
    assert_int_equal(report.processed, MANY);
    assert_int_equal(sum_of(r), MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        items[i].opcode = RIG_LARGE; /* 0x1000 alone */
    }
    report = rig_run(r, items, MANY, VYRE_QUEUE_KEEP_DUPLICATES);
    assert_int_equal(report.processed, MANY);
    assert_int_equal(sum_of(r), MANY);
    for (size_t i = 0; i < VY_COUNT_OF(codes); i++) {
        const vyre_work_item item = {RIG_FAIL, 0, 0, codes[i].given};
        report = rig_run(r, &item, 1, 0);
        assert_int_equal(report.faulted, 1);
        assert_int_equal(report.unknown, 0);
        assert_int_equal(report.fault_slot, 0);
        if (report.fault_code != codes[i].fault) {
            fail_msg("%u became %u", (unsigned)codes[i].given, (unsigned)report.fault_code);
        }
    }
    rig_close(&r);
}

static void test_handlers_run_over_65536_items_and_name_their_faults(void **state)
{
    (void)state;
    RIG_FOR_EACH(call_handlers);
}

/* ---- Shutdowns and time ---------------------------------------------------------------------- */

static void shut_down(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL);
    make_additions(1000);
    items[0] = (vyre_work_item){VYRE_OPCODE_SHUTDOWN, 0, 0, 0};
    vyre_queue_report report = rig_run(r, items, 1000, VYRE_QUEUE_KEEP_DUPLICATES);
    assert_int_equal(report.processed, 1000);
    assert_int_equal(report.remaining, 0);
    assert_int_equal(sum_of(r), 999);
    report = rig_run(r, items, 1000, VYRE_QUEUE_KEEP_DUPLICATES | VYRE_QUEUE_PERSISTENT);
    assert_true(report.was_shut_down);
    assert_true(report.processed >= 1);
    /* A shutdown orders all: nothing behind it was taken before it. */
    assert_int_equal(report.processed - 1, sum_of(r));
    items[0] = rig_item(RIG_ADD, 0, 0, 1);
    report = rig_run(r, items, 1000, VYRE_QUEUE_KEEP_DUPLICATES | VYRE_QUEUE_PERSISTENT);
    assert_false(report.was_shut_down);
    assert_int_equal(report.processed, 1000);
    rig_close(&r);
}

static void test_shutdowns_end_persistent_queues_alone(void **state)
{
    (void)state;
    RIG_FOR_EACH(shut_down);
}

static void run_out_of_time(vyre_device *device)
{
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_queue_ticket ticket = {0};
    vyre_diag diag;
    rig *r = rig_open(device, WORDS, NULL);
    make_additions(MANY);
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES;
    params.max_wall_ns = 1;
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, items, MANY, &params, &ticket, &diag),
                     VYRE_OK);
    vyre_result code = vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, &diag);
    if (code == VYRE_ERROR_TIMEOUT) { /* or it was fast */
        assert_true(ticket.bits != 0);
        assert_non_null(strstr(diag.message, "Fix: "));
        assert_int_equal(report.processed + report.remaining, MANY);
        assert_int_equal(vyre_dispatcher_resume(r->dispatcher, ticket, 60000000000u, &diag),
                         VYRE_OK);
        code = vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, &diag);
    }
    assert_int_equal(code, VYRE_OK);
    assert_true(ticket.bits == 0);
    assert_int_equal(report.processed, MANY);
    assert_int_equal(report.remaining, 0);
    assert_int_equal(sum_of(r), MANY); /* each once */
    /* Given up: the next queue is whole. */
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, items, MANY, &params, &ticket, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &ticket, &diag), VYRE_OK);
    assert_true(ticket.bits == 0);
    report = rig_run(r, items, 1000, VYRE_QUEUE_KEEP_DUPLICATES);
    assert_int_equal(report.processed, 1000);
    rig_close(&r);
}

static void test_queues_out_of_time_go_on_where_they_were(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_out_of_time);
}

/* ---- Several at a time ----------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 25, PER_QUEUE = 200 };

static void *run_some(void *user)
{
    rig *r = user;
    vyre_work_item own[PER_QUEUE];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        vyre_queue_report report;
        vyre_result code;
        for (uint32_t i = 0; i < PER_QUEUE; i++) {
            own[i] = rig_item(RIG_ADD, i, (i + round) % WORDS, 1);
        }
        do {
            code = vyre_dispatcher_run(r->dispatcher, own, PER_QUEUE, NULL, &report, NULL);
        } while (code == VYRE_ERROR_BUSY);
        if (code != VYRE_OK || report.processed != PER_QUEUE) {
            return "a queue failed";
        }
    }
    return NULL;
}

static void run_in_parallel(vyre_device *device)
{
    pthread_t threads[THREADS];
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.max_in_flight = 3; /* one fewer than there are threads */
    rig *r = rig_open(device, WORDS, device ? &params : NULL);
    uint32_t started = device ? THREADS : 1; /* the interpreter's memory is the host's */
    for (uint32_t t = 0; t < started; t++) {
        assert_int_equal(pthread_create(&threads[t], NULL, run_some, r), 0);
    }
    for (uint32_t t = 0; t < started; t++) {
        void *failure = NULL;
        assert_int_equal(pthread_join(threads[t], &failure), 0);
        assert_null(failure);
    }
    assert_int_equal(sum_of(r), started * ROUNDS * PER_QUEUE);
    assert_int_equal(counters_of(r).queues, started * ROUNDS);
    rig_close(&r);
}

static void test_queues_run_in_parallel(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_in_parallel);
}

static void run_beside(vyre_device *device)
{
    rig *a = rig_open(device, WORDS, NULL), *b = rig_open(device, WORDS, NULL);
    vyre_queue_ticket tickets[2] = {{0}, {0}};
    vyre_queue_report report;
    make_additions(2000);
    for (uint32_t round = 0; round < 10; round++) {
        uint32_t n = 100 + round * 190;
        assert_int_equal(vyre_dispatcher_submit(a->dispatcher, items, n, NULL, &tickets[0], NULL),
                         VYRE_OK);
        assert_int_equal(
            vyre_dispatcher_submit(b->dispatcher, items, n / 2, NULL, &tickets[1], NULL), VYRE_OK);
        assert_int_equal(
            vyre_dispatcher_wait(b->dispatcher, &tickets[1], UINT64_MAX, &report, NULL), VYRE_OK);
        assert_int_equal(report.processed, n / 2);
        assert_int_equal(
            vyre_dispatcher_wait(a->dispatcher, &tickets[0], UINT64_MAX, &report, NULL), VYRE_OK);
        assert_int_equal(report.processed, n);
        assert_int_equal(sum_of(a), n);
        assert_int_equal(sum_of(b), n / 2);
    }
    /* One ends with its queue in flight; the other goes on. */
    assert_int_equal(vyre_dispatcher_submit(a->dispatcher, items, 2000, NULL, &tickets[0], NULL),
                     VYRE_OK);
    rig_close(&a);
    assert_int_equal(rig_run(b, items, 2000, 0).processed, 2000);
    rig_close(&b);
}

static void test_dispatchers_do_not_disturb_each_other(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipelines_are_made_once_for_queues_of_all_lengths),
        cmocka_unit_test(test_memory_of_queues_is_taken_again),
        cmocka_unit_test(test_budgets_are_kept_before_anything_is_done),
        cmocka_unit_test(test_lineage_is_that_of_the_published_items),
        cmocka_unit_test(test_handlers_run_over_65536_items_and_name_their_faults),
        cmocka_unit_test(test_shutdowns_end_persistent_queues_alone),
        cmocka_unit_test(test_queues_out_of_time_go_on_where_they_were),
        cmocka_unit_test(test_queues_run_in_parallel),
        cmocka_unit_test(test_dispatchers_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

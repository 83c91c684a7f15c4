/* What the second queue finds: programs, memory and recordings of the first; and what the report
 * says of the work that was done. */
#include "engine/megakernel/policy.h"
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, LONGEST = 100000 };

static vyre_work_item *make_additions(uint32_t count)
{
    vyre_work_item *items = calloc(count, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % WORDS, i);
    }
    return items;
}

static vyre_device_counters look(vyre_device *device)
{
    return device ? engine_counters(device) : (vyre_device_counters){0};
}

static vyre_dispatcher_counters count_of(const rig *r)
{
    vyre_dispatcher_counters counters;
    vyre_dispatcher_get_counters(r->dispatcher, &counters);
    return counters;
}

/* ---- The second queue ------------------------------------------------------------------------ */

static void run_twice(vyre_device *device)
{
    vyre_work_item *items = make_additions(512);
    rig *r = rig_open(device, WORDS, NULL);
    vyre_queue_report first = rig_run(r, items, 300, 0);
    assert_int_equal(first.was_compiled, 0);
    assert_int_equal(first.was_resident, 0);
    assert_true(first.compile_ns > 0);
    assert_int_equal(first.resident_allocations, device ? 2 : 0); /* and one for the results */
    vyre_device_counters before = look(device);
    vyre_dispatcher_counters counted = count_of(r);
    assert_int_equal(counted.arenas, 1);
    assert_int_equal(counted.arena_misses, 1);
    assert_int_equal(counted.pipelines, 1);
    static const uint32_t lengths[] = {300, 257, 512, 300}; /* memory for 512 items serves them */
    enum { AGAIN = sizeof lengths / sizeof *lengths };
    for (uint32_t l = 0; l < AGAIN; l++) {
        vyre_queue_report report = rig_run(r, items, lengths[l], 0);
        assert_int_equal(report.was_compiled, 1);
        assert_int_equal(report.was_resident, device != NULL);
        assert_int_equal(report.resident_allocations, 0);
        assert_int_equal(report.compile_ns, 0);
        assert_int_equal(report.processed, lengths[l]);
    }
    vyre_device_counters after = look(device);
    assert_int_equal(after.buffers, before.buffers);
    assert_int_equal(after.pipelines, before.pipelines);
    assert_int_equal(after.modules, before.modules);
    assert_int_equal(after.memory_allocations, before.memory_allocations);
    assert_int_equal(after.recordings, before.recordings);
    assert_int_equal(after.recordings_reused, before.recordings_reused + (device ? AGAIN : 0));
    assert_int_equal(after.submissions, before.submissions + (device ? AGAIN : 0));
    counted = count_of(r);
    assert_int_equal(counted.arenas, 1);
    assert_int_equal(counted.arena_misses, 1);
    assert_int_equal(counted.arena_hits, AGAIN);
    assert_int_equal(counted.arena_size, 4096 + 8192); /* control words, items */
    assert_int_equal(counted.pipeline_misses, 1);
    assert_int_equal(counted.pipeline_hits, AGAIN);
    assert_int_equal(counted.queues, AGAIN + 1);
    assert_int_equal(counted.launches, AGAIN + 1);
    assert_int_equal(counted.items, 300 + 300 + 257 + 512 + 300);
    free(items);
    rig_close(&r);
}

static void test_the_second_queue_makes_nothing_anew(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_twice);
}

/* Whatever the length, the limits and the hints are, it is one program. */
static void alternate(vyre_device *device)
{
    static const uint32_t lengths[] = {1, 300, 5000, LONGEST};
    static const uint64_t limits[] = {60000000000u, 30000000000u, 3600000000000u};
    vyre_work_item *items = make_additions(LONGEST);
    rig *r = rig_open(device, WORDS, NULL);
    vyre_device_counters before = {0};
    for (uint32_t turn = 0; turn < 4; turn++) {
        for (uint32_t l = 0; l < (device ? 4 : 3); l++) {
            vyre_queue_params params;
            vyre_queue_params_init(&params);
            params.flags = VYRE_QUEUE_NO_SPECIAL;
            params.max_wall_ns = limits[(turn + l) % 3];
            params.budget_size = turn % 2 ? (uint64_t)1 << 40 : 0;
            params.priority = (vyre_priority)((turn + l) % VYRE_PRIORITY_COUNT);
            params.tenant = turn;
            vyre_queue_report report = rig_run_with(r, items, lengths[l], &params);
            assert_int_equal(report.was_compiled, turn + l > 0);
            assert_int_equal(report.processed, lengths[l]);
        }
        if (turn == 1) {
            before = look(device);
        }
    }
    vyre_device_counters after = look(device);
    assert_int_equal(after.pipelines, before.pipelines);
    assert_int_equal(after.recordings, before.recordings);
    assert_int_equal(after.buffers, before.buffers);
    assert_int_equal(after.memory_allocations, before.memory_allocations);
    assert_int_equal(count_of(r).pipelines, 1);
    assert_int_equal(count_of(r).pipeline_misses, 1);
    free(items);
    rig_close(&r);
}

static void test_lengths_and_limits_never_make_a_program(void **state)
{
    (void)state;
    RIG_FOR_EACH(alternate);
}

static void warm_up(vyre_device *device)
{
    vyre_work_item *items = make_additions(300);
    rig *r = rig_open(device, WORDS, NULL);
    assert_int_equal(vyre_dispatcher_warm_up(r->dispatcher, NULL), VYRE_OK);
    assert_int_equal(vyre_dispatcher_warm_up(r->dispatcher, NULL), VYRE_OK);
    assert_int_equal(count_of(r).queues, 0);
    vyre_device_counters before = look(device);
    assert_int_equal(rig_run(r, items, 300, 0).was_compiled, 1);
    for (uint32_t i = 0; i < 8; i++) { /* in waves */
        items[i] = rig_item(RIG_DOUBLE, 0, 5, 0);
    }
    vyre_queue_report report = rig_run(r, items, 8, 0);
    assert_int_equal(report.waves, 8);
    assert_int_equal(report.was_compiled, 1);
    assert_int_equal(report.compile_ns, 0);
    assert_int_equal(look(device).pipelines, before.pipelines);
    free(items);
    rig_close(&r);
}

static void test_warm_up_makes_what_items_need(void **state)
{
    (void)state;
    RIG_FOR_EACH(warm_up);
}

/* ---- Two dispatchers ------------------------------------------------------------------------- */

static void run_two(vyre_device *device)
{
    enum { ITEMS = 1000, TURNS = 5 };
    vyre_work_item *items = make_additions(ITEMS);
    rig *rigs[2] = {rig_open(device, WORDS, NULL), rig_open(device, WORDS, NULL)};
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        vyre_queue_ticket tickets[2];
        for (uint32_t d = 0; d < 2; d++) {
            assert_int_equal(vyre_dispatcher_submit(rigs[d]->dispatcher, items, ITEMS - d * 500,
                                                    NULL, &tickets[d], NULL),
                             VYRE_OK);
        }
        /* One's tickets are not the other's. */
        vyre_queue_ticket other = tickets[0];
        assert_int_equal(vyre_dispatcher_wait(rigs[1]->dispatcher, &other, 0, NULL, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        for (uint32_t d = 0; d < 2; d++) {
            vyre_queue_report report;
            assert_int_equal(
                vyre_dispatcher_wait(rigs[d]->dispatcher, &tickets[d], UINT64_MAX, &report, NULL),
                VYRE_OK);
            assert_int_equal(report.processed, ITEMS - d * 500);
        }
    }
    for (uint32_t d = 0; d < 2; d++) {
        rig_fetch(rigs[d]);
        assert_int_equal(count_of(rigs[d]).items, TURNS * (ITEMS - d * 500));
        assert_int_equal(count_of(rigs[d]).pipelines, 1);
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t sum = 0;
            for (uint32_t i = w; i < ITEMS - d * 500; i += WORDS) {
                sum += i;
            }
            assert_int_equal(rigs[d]->data[w], TURNS * sum);
        }
    }
    rig_close(&rigs[0]); /* the other goes on */
    assert_int_equal(rig_run(rigs[1], items, ITEMS, 0).processed, ITEMS);
    free(items);
    rig_close(&rigs[1]);
}

static void test_two_dispatchers_do_not_disturb_each_other(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_two);
}

/* ---- The report ------------------------------------------------------------------------------ */

static void run_bytes(vyre_device *device)
{
    enum { CONTROL = VYRE_CONTROL_OBSERVABLES * 4 };
    vyre_work_item *items = make_additions(1000);
    rig *r = rig_open(device, WORDS, NULL);
    vyre_queue_report report = rig_run(r, items, 1000, 0); /* its memory is made ready, too */
    vyre_device_counters before = look(device);
    report = rig_run(r, items, 1000, 0);
    vyre_device_counters after = look(device);
    uint32_t is_device = device != NULL;
    assert_int_equal(report.launches, 1);
    assert_int_equal(report.sync_points, is_device);
    assert_int_equal(after.submissions - before.submissions, is_device);
    assert_int_equal(report.readback_buffers, is_device); /* the control buffer alone */
    assert_int_equal(report.upload_size, is_device * (16 * 1000 + CONTROL));
    assert_int_equal(report.readback_size, is_device * CONTROL);
    assert_int_equal(after.upload_size, before.upload_size); /* written in place */
    assert_int_equal(after.download_size, before.download_size);
    /* As a ring it is four times as long, and comes back. */
    report = rig_run(r, items, 1000, VYRE_QUEUE_STRICT);
    assert_int_equal(report.upload_size, is_device * (64 * 1000 + CONTROL));
    assert_int_equal(report.readback_size, is_device * (64 * 1000 + CONTROL));
    assert_int_equal(report.readback_buffers, 2 * is_device);
    assert_int_equal(look(device).download_size - after.download_size, is_device * 64 * 1000);
    assert_int_equal(report.launches, 1);
    assert_int_equal(report.sync_points, is_device);
    free(items);
    rig_close(&r);
}

static void test_bytes_and_launches_are_those_that_were(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_bytes);
}

static void run_times(vyre_device *device)
{
    enum { ITEMS = 5000, TRIALS = 60 };
    vyre_work_item *items = make_additions(ITEMS);
    vyre_device_info info = {0};
    rig *r = rig_open(device, WORDS, NULL);
    if (device) {
        vyre_device_get_info(device, &info);
    }
    vyre_queue_report report = rig_run(r, items, ITEMS, VYRE_QUEUE_TIMED);
    assert_int_equal(report.device_ns != VYRE_NS_NONE, device != NULL);
    assert_true(!device || (report.device_ns > 0 && report.device_ns <= report.dispatch_ns));
    assert_true(report.dispatch_ns > 0 && report.publish_ns > 0 && report.compile_ns > 0);
    assert_int_equal(report.lineage_ns, 0);
    /* Also while it is measured which of two programs is faster. */
    for (uint32_t t = 0; t < TRIALS; t++) {
        assert_true(rig_run(r, items, ITEMS, 0).device_ns == VYRE_NS_NONE);
    }
    assert_true(count_of(r).special_trials > 0);
    free(items);
    rig_close(&r);
}

static void test_device_times_are_there_on_demand(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_times);
}

/* After a first slice of many waves each has one: another program, made between launches. */
static void run_late(vyre_device *device)
{
    enum { ITEMS = 200 };
    vyre_work_item items[ITEMS];
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.slice_ns = 1;
    rig *r = rig_open(device, WORDS, &params);
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = rig_item(RIG_DOUBLE, 0, 3, 0);
    }
    vyre_queue_report report = rig_run(r, items, ITEMS, 0);
    assert_int_equal(count_of(r).pipelines, 2);
    assert_int_equal(report.processed, ITEMS);
    assert_int_equal(report.waves, ITEMS);
    assert_int_equal(report.was_compiled, 0);
    assert_true(report.plan_ns > 0);
    assert_true(report.plan_ns + report.publish_ns + report.compile_ns + report.lineage_ns +
                    report.dispatch_ns <=
                report.wall_ns);
    report = rig_run(r, items, ITEMS, 0);
    assert_int_equal(report.was_compiled, 1);
    assert_int_equal(report.compile_ns, 0);
    rig_close(&r);
}

static void test_times_do_not_overlap(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_late);
}

/* ---- What was recommended -------------------------------------------------------------------- */

typedef struct hinted {
    uint32_t length, workers, density, pressure;
    uint64_t nodes, edges, resident, budget;
    uint32_t hot_opcodes, hot_windows, requeues;
    const char *topology, *mode, *route;
    uint32_t worker_count;
} hinted;

static const hinted hints[] = {
    {.length = 300,
     .workers = 64,
     .topology = "sparse-frontier",
     .mode = "interpreter",
     .route = "interpreter",
     .worker_count = 64},
    {.length = 4095,
     .workers = 1000,
     .topology = "sparse-frontier",
     .mode = "interpreter",
     .route = "interpreter",
     .worker_count = 1000},
    {.length = 4096,
     .workers = 64,
     .topology = "sparse-frontier",
     .mode = "jit",
     .route = "queue-jit",
     .worker_count = 64},
    {.length = 100000,
     .workers = 256,
     .density = 100,
     .nodes = 10000000,
     .topology = "sparse-frontier",
     .mode = "jit",
     .route = "queue-jit",
     .worker_count = 51},
    {.length = 300,
     .workers = 256,
     .density = 1,
     .nodes = 3000000,
     .topology = "sparse-frontier",
     .mode = "interpreter",
     .route = "interpreter",
     .worker_count = 32},
    {.length = 300,
     .workers = 128,
     .pressure = 10000,
     .topology = "memory-constrained",
     .mode = "interpreter",
     .route = "interpreter",
     .worker_count = 64},
    {.length = 300,
     .workers = 64,
     .resident = 900000,
     .budget = 1000000,
     .topology = "memory-constrained",
     .mode = "interpreter",
     .route = "interpreter",
     .worker_count = 42},
    {.length = 300,
     .workers = 64,
     .nodes = 1000,
     .topology = "hybrid-frontier",
     .mode = "interpreter",
     .route = "interpreter",
     .worker_count = 64},
    {.length = 300,
     .workers = 64,
     .nodes = 400,
     .edges = 65535,
     .hot_windows = 4,
     .topology = "dense-frontier",
     .mode = "jit",
     .route = "window-jit",
     .worker_count = 64},
    {.length = 300,
     .workers = 64,
     .nodes = 400,
     .edges = 65536,
     .hot_opcodes = 8,
     .requeues = 1,
     .topology = "fused-dense",
     .mode = "jit",
     .route = "opcode-jit",
     .worker_count = 64},
};

static vy_mk_limits limits_of(vyre_device *device)
{
    vyre_device_info info;
    if (!device) {
        return (vy_mk_limits){64, 64, 65535, 32, 1};
    }
    vyre_device_get_info(device, &info);
    return (vy_mk_limits){info.max_workgroup[0], info.max_workgroup_invocations, info.max_groups[0],
                          info.subgroup_size ? info.subgroup_size : 1, 0};
}

static void check_hinted(vyre_device *device, const hinted *h, const vyre_work_item *items)
{
    vyre_queue_params params;
    vy_mk_recommendation expected;
    const vy_mk_limits limits = limits_of(device);
    rig *r = rig_open(device, WORDS, NULL); /* anew: no topology came before */
    vyre_queue_params_init(&params);
    params.worker_count = h->workers;
    params.density_bps = h->density;
    params.pressure_bps = h->pressure;
    params.node_count = h->nodes;
    params.edge_count = h->edges;
    params.resident_size = h->resident;
    params.budget_size = h->budget;
    params.hot_opcode_count = h->hot_opcodes;
    params.hot_window_count = h->hot_windows;
    params.requeue_count = h->requeues;
    params.hits_per_item = 3; /* there is no buffer for them, so it takes no memory */
    vyre_queue_report report = rig_run_with(r, items, h->length, &params);
    assert_string_equal(report.topology, h->topology);
    assert_string_equal(report.mode, h->mode);
    assert_string_equal(report.route, h->route);
    assert_int_equal(report.worker_count, h->worker_count);
    assert_int_equal(report.hit_capacity, 0);
    assert_int_equal(report.processed, h->length);
    const vy_mk_request request = {.queue_length = h->length,
                                   .worker_count = h->workers,
                                   .hits_per_item = 3,
                                   .density_bps = h->density,
                                   .pressure_bps = h->pressure,
                                   .node_count = h->nodes,
                                   .edge_count = h->edges,
                                   .resident_size = h->resident,
                                   .budget_size = h->budget,
                                   .hot_opcode_count = h->hot_opcodes,
                                   .hot_window_count = h->hot_windows,
                                   .requeue_count = h->requeues};
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &limits,
                                     VY_MK_TOPOLOGY_EMPTY, &expected, NULL),
                     VYRE_OK);
    assert_string_equal(report.topology, vy_mk_topology_name(expected.topology));
    assert_string_equal(report.pressure, vy_mk_pressure_name(expected.pressure));
    assert_string_equal(report.mode, vy_mk_mode_name(expected.mode));
    assert_int_equal(report.worker_count, expected.worker_count);
    assert_int_equal(report.workgroup, expected.launch.width);
    assert_int_equal(report.workgroup % limits.subgroup_size, 0);
    if (expected.worker_count < h->workers) { /* workers that were shed leave workgroups out */
        assert_true(report.group_count <= expected.launch.group_count);
    }
    rig_close(&r);
}

static void run_hinted(vyre_device *device)
{
    vyre_work_item *items = make_additions(LONGEST);
    for (size_t h = 0; h < sizeof hints / sizeof *hints; h++) {
        if (device || hints[h].length < 5000) {
            check_hinted(device, &hints[h], items);
        }
    }
    free(items);
}

static void test_reports_say_what_the_policy_says(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_hinted);
}

/* On the interpreter, whose limits are known: 16 workgroups of 64 at a time. */
static void test_shares_have_their_numbers(void **state)
{
    vyre_work_item *items = make_additions(2048);
    vyre_queue_params params;
    vyre_dispatcher_params whole;
    vyre_dispatcher_params_init(&whole);
    whole.slice_ns = (uint64_t)3600 * 1000000000; /* one launch, however slow the machine is */
    rig *r = rig_open(NULL, WORDS, &whole);
    (void)state;
    vyre_queue_report report = rig_run(r, items, 300, VYRE_QUEUE_NO_SPECIAL);
    assert_int_equal(report.workgroup, 64);
    assert_int_equal(report.group_count, 16);
    assert_int_equal(report.occupancy_proxy_bps, 300 * 10000 / 1024);
    assert_int_equal(report.frontier_density_bps, 300 * 10000 / 512); /* of 8,192 bytes */
    assert_int_equal(report.lane_busy_bps, 300 * 10000 / 1024);
    assert_string_equal(report.pressure, "light");
    vyre_queue_params_init(&params);
    params.group_cap = 2;
    report = rig_run_with(r, items, 300, &params);
    assert_int_equal(report.group_count, 2);
    assert_int_equal(report.occupancy_proxy_bps, 10000);
    assert_int_equal(report.frontier_density_bps, 300 * 10000 / 512);
    assert_int_equal(report.lane_busy_bps, 300 * 10000 / (3 * 128)); /* three rounds */
    assert_string_equal(report.pressure, "balanced");
    report = rig_run_with(r, items, 512, &params);
    assert_string_equal(report.pressure, "saturated");
    assert_int_equal(report.frontier_density_bps, 10000);
    free(items);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_second_queue_makes_nothing_anew),
        cmocka_unit_test(test_lengths_and_limits_never_make_a_program),
        cmocka_unit_test(test_warm_up_makes_what_items_need),
        cmocka_unit_test(test_two_dispatchers_do_not_disturb_each_other),
        cmocka_unit_test(test_bytes_and_launches_are_those_that_were),
        cmocka_unit_test(test_device_times_are_there_on_demand),
        cmocka_unit_test(test_times_do_not_overlap),
        cmocka_unit_test(test_reports_say_what_the_policy_says),
        cmocka_unit_test(test_shares_have_their_numbers),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

/* Decisions of the launch policy at their thresholds, its pinned numbers. */
#include "tests/megakernel/property.h"

#include "engine/megakernel/policy.h"

static const vy_mk_limits desktop = {1024, 1024, 65535, 32, 60};

/* A long queue of a graph, with density as given. */
static vy_mk_request frontier(uint32_t density_bps)
{
    return (vy_mk_request){.queue_length = 1000,
                           .worker_count = 256,
                           .node_count = 100000,
                           .density_bps = density_bps,
                           .has_hit_buffer = true};
}

/* ---- Constants ------------------------------------------------------------------------------- */

static void test_constants_are_a_table(void **state)
{
    (void)state;
    const vy_mk_policy *p = vy_mk_policy_standard();
    assert_int_equal(p->min_hit_capacity, 1024);
    assert_int_equal(p->hit_multiplier, 2);
    assert_int_equal(p->pressed_hit_multiplier, 1);
    assert_int_equal(p->saturated_waves, 4);
    assert_int_equal(p->hot_opcodes, 8);
    assert_int_equal(p->hot_windows, 4);
    assert_int_equal(p->jit_queue, 4096);
    assert_int_equal(p->priority_age, 32);
    assert_int_equal(p->sparse_bps, 500);
    assert_int_equal(p->dense_bps, 4000);
    assert_int_equal(p->memory_bps, 8500);
    assert_int_equal(p->fusion_edges, 65536);
    assert_int_equal(p->hit_size, 16);
    assert_int_equal(p->density_band_bps, 250);
    assert_int_equal(p->memory_band_bps, 250);
    uint32_t count = 0;
    const vy_mk_policy_constant *table = vy_mk_policy_constants(&count);
    assert_int_equal(count * sizeof(uint32_t), sizeof *p);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = 0;
        memcpy(&value, (const unsigned char *)p + i * sizeof value, sizeof value);
        assert_int_equal(table[i].value, value);
        assert_true(strlen(table[i].name) > 0 && strlen(table[i].what) > 0);
    }
}

static void test_names_are_there_for_all_numbers(void **state)
{
    (void)state;
    assert_string_equal(vy_mk_topology_name(VY_MK_TOPOLOGY_EMPTY), "empty");
    assert_string_equal(vy_mk_topology_name(VY_MK_TOPOLOGY_HYBRID_FRONTIER), "hybrid-frontier");
    assert_string_equal(vy_mk_topology_name(VY_MK_TOPOLOGY_COUNT), "unknown");
    assert_string_equal(vy_mk_pressure_name(VY_MK_PRESSURE_SATURATED), "saturated");
    assert_string_equal(vy_mk_pressure_name(VY_MK_PRESSURE_COUNT), "unknown");
    assert_string_equal(vy_mk_mode_name(VY_MK_MODE_JIT), "jit");
    assert_string_equal(vy_mk_mode_name(VY_MK_MODE_COUNT), "unknown");
    assert_string_equal(vy_mk_route_name(VY_MK_ROUTE_OPCODE_AND_WINDOW_JIT),
                        "opcode-and-window-jit");
    assert_string_equal(vy_mk_route_name(VY_MK_ROUTE_COUNT), "unknown");
}

/* ---- Inference ------------------------------------------------------------------------------- */

static void test_density_is_inferred_from_queue_and_nodes(void **state)
{
    (void)state;
    static const struct {
        uint32_t queue, given;
        uint64_t nodes;
        uint32_t density;
    } rows[] = {
        {0, 0, 100, 0},         {100, 0, 0, 0},         {1, 0, 100000, 1},
        {10, 0, 100000, 1},     {19, 0, 100000, 1},     {20, 0, 100000, 2},
        {1, 0, UINT64_MAX, 1},  {99, 0, 100, 9900},     {100, 0, 100, 10000},
        {101, 0, 100, 10000},   {0, 7, 0, 7},           {5, 9999, 100, 9999},
        {5, 10000, 100, 10000}, {5, 10001, 100, 10000}, {UINT32_MAX, 0, 1, 10000},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_request request = {.queue_length = rows[i].queue,
                                 .density_bps = rows[i].given,
                                 .node_count = rows[i].nodes};
        assert_int_equal(vy_mk_density(&request), rows[i].density);
    }
}

static void test_memory_pressure_is_inferred_from_resident_and_budget(void **state)
{
    (void)state;
    static const struct {
        uint64_t resident, budget;
        uint32_t given, pressure;
    } rows[] = {
        {900000, 1000000, 0, 9000},
        {0, 1000000, 0, 0},
        {5, 0, 0, 0},
        {999999, 1000000, 0, 9999},
        {1000000, 1000000, 0, 10000},
        {1000001, 1000000, 0, 10000},
        {UINT64_MAX, 1, 0, 10000},
        {UINT64_MAX - 1, UINT64_MAX, 0, 9999},
        {900000, 1000000, 1, 1},
        {0, 0, 10000, 10000},
        {0, 0, 10001, 10000},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_request request = {.resident_size = rows[i].resident,
                                 .budget_size = rows[i].budget,
                                 .pressure_bps = rows[i].given};
        assert_int_equal(vy_mk_memory_pressure(&request), rows[i].pressure);
    }
}

/* ---- Topology -------------------------------------------------------------------------------- */

static vy_mk_topology choose(vy_mk_request request)
{
    return vy_mk_topology_choose(vy_mk_policy_standard(), &request);
}

static void test_topology_is_the_first_that_applies(void **state)
{
    (void)state;
    vy_mk_request request = frontier(5000);
    request.pressure_bps = 9000;
    request.queue_length = 0;
    assert_int_equal(choose(request), VY_MK_TOPOLOGY_EMPTY);
    request.queue_length = 1;
    assert_int_equal(choose(request), VY_MK_TOPOLOGY_MEMORY_CONSTRAINED);
    for (uint32_t pressure = 8499; pressure <= 8501; pressure++) {
        request.pressure_bps = pressure;
        assert_int_equal(choose(request), pressure < 8500 ? VY_MK_TOPOLOGY_DENSE_FRONTIER
                                                          : VY_MK_TOPOLOGY_MEMORY_CONSTRAINED);
    }
    for (uint32_t density = 499; density <= 501; density++) {
        assert_int_equal(choose(frontier(density)), density <= 500
                                                        ? VY_MK_TOPOLOGY_SPARSE_FRONTIER
                                                        : VY_MK_TOPOLOGY_HYBRID_FRONTIER);
    }
    for (uint32_t density = 3999; density <= 4001; density++) {
        assert_int_equal(choose(frontier(density)), density < 4000 ? VY_MK_TOPOLOGY_HYBRID_FRONTIER
                                                                   : VY_MK_TOPOLOGY_DENSE_FRONTIER);
    }
    /* Without hints nothing is known of a density, which counts as sparse. */
    assert_int_equal(choose((vy_mk_request){.queue_length = 300}), VY_MK_TOPOLOGY_SPARSE_FRONTIER);
}

static void test_dense_work_is_fused_with_nodes_edges_and_heat(void **state)
{
    (void)state;
    for (uint64_t edges = 65535; edges <= 65537; edges++) {
        for (uint32_t opcodes = 7; opcodes <= 9; opcodes++) {
            for (uint32_t windows = 3; windows <= 5; windows++) {
                vy_mk_request request = frontier(4000);
                request.edge_count = edges;
                request.hot_opcode_count = opcodes;
                request.hot_window_count = windows;
                bool is_fused = edges >= 65536 && (opcodes >= 8 || windows >= 4);
                assert_int_equal(choose(request), is_fused ? VY_MK_TOPOLOGY_FUSED_DENSE
                                                           : VY_MK_TOPOLOGY_DENSE_FRONTIER);
                request.node_count = 0;
                assert_int_equal(choose(request), VY_MK_TOPOLOGY_DENSE_FRONTIER);
                request.node_count = 1;
                request.density_bps = 3999;
                assert_int_equal(choose(request), VY_MK_TOPOLOGY_HYBRID_FRONTIER);
            }
        }
    }
}

static vy_mk_topology keep(vy_mk_request request, vy_mk_topology previous)
{
    return vy_mk_topology_keep(vy_mk_policy_standard(), &request, previous);
}

static void test_hysteresis_keeps_a_topology_within_its_band(void **state)
{
    (void)state;
    const vy_mk_topology sparse = VY_MK_TOPOLOGY_SPARSE_FRONTIER;
    const vy_mk_topology hybrid = VY_MK_TOPOLOGY_HYBRID_FRONTIER;
    const vy_mk_topology dense = VY_MK_TOPOLOGY_DENSE_FRONTIER;
    const struct {
        vy_mk_topology previous;
        uint32_t density;
        vy_mk_topology next;
    } rows[] = {
        {sparse, 500, sparse},
        {sparse, 501, sparse},
        {sparse, 749, sparse},
        {sparse, 750, sparse},
        {sparse, 751, hybrid},
        {sparse, 4000, dense},
        {hybrid, 249, sparse},
        {hybrid, 250, sparse},
        {hybrid, 251, hybrid},
        {hybrid, 500, hybrid},
        {hybrid, 4000, hybrid},
        {hybrid, 4249, hybrid},
        {hybrid, 4250, dense},
        {hybrid, 4251, dense},
        {dense, 4000, dense},
        {dense, 3999, dense},
        {dense, 3751, dense},
        {dense, 3750, dense},
        {dense, 3749, hybrid},
        {dense, 100, sparse},
        {VY_MK_TOPOLOGY_EMPTY, 501, hybrid},
        {VY_MK_TOPOLOGY_EMPTY, 500, sparse},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_int_equal(keep(frontier(rows[i].density), rows[i].previous), rows[i].next);
    }
}

static void test_hysteresis_keeps_scarce_memory(void **state)
{
    (void)state;
    for (uint32_t pressure = 8249; pressure <= 8251; pressure++) {
        vy_mk_request request = frontier(1000);
        request.pressure_bps = pressure;
        assert_int_equal(keep(request, VY_MK_TOPOLOGY_MEMORY_CONSTRAINED),
                         pressure >= 8250 ? VY_MK_TOPOLOGY_MEMORY_CONSTRAINED
                                          : VY_MK_TOPOLOGY_HYBRID_FRONTIER);
        assert_int_equal(keep(request, VY_MK_TOPOLOGY_HYBRID_FRONTIER),
                         VY_MK_TOPOLOGY_HYBRID_FRONTIER);
    }
}

static void test_hysteresis_holds_up_neither_empty_nor_new_scarcity(void **state)
{
    (void)state;
    for (unsigned previous = 0; previous < VY_MK_TOPOLOGY_COUNT; previous++) {
        vy_mk_request request = frontier(1000);
        request.pressure_bps = 8500;
        assert_int_equal(keep(request, (vy_mk_topology)previous),
                         VY_MK_TOPOLOGY_MEMORY_CONSTRAINED);
        request.queue_length = 0;
        assert_int_equal(keep(request, (vy_mk_topology)previous), VY_MK_TOPOLOGY_EMPTY);
    }
}

static void test_hysteresis_keeps_fusion_while_edges_and_heat_hold(void **state)
{
    (void)state;
    const vy_mk_topology fused = VY_MK_TOPOLOGY_FUSED_DENSE;
    vy_mk_request request = frontier(3750);
    request.edge_count = 65536;
    request.hot_opcode_count = 8;
    assert_int_equal(keep(request, fused), fused);
    request.density_bps = 3749;
    assert_int_equal(keep(request, fused), VY_MK_TOPOLOGY_HYBRID_FRONTIER);
    request.density_bps = 3751;
    request.edge_count = 65535;
    assert_int_equal(keep(request, fused), VY_MK_TOPOLOGY_HYBRID_FRONTIER);
    request.edge_count = 65536;
    request.hot_opcode_count = 7;
    assert_int_equal(keep(request, fused), VY_MK_TOPOLOGY_HYBRID_FRONTIER);
    request.density_bps = 4000;
    assert_int_equal(keep(request, fused), VY_MK_TOPOLOGY_DENSE_FRONTIER);
    request.hot_window_count = 4;
    assert_int_equal(keep(request, VY_MK_TOPOLOGY_DENSE_FRONTIER), fused);
    request.density_bps = 3999;
    assert_int_equal(keep(request, VY_MK_TOPOLOGY_DENSE_FRONTIER), VY_MK_TOPOLOGY_DENSE_FRONTIER);
}

/* ---- Workers --------------------------------------------------------------------------------- */

static uint32_t workers_of(vy_mk_request request)
{
    return vy_mk_workers(vy_mk_policy_standard(), &request, choose(request));
}

static void test_sparse_frontiers_shed_workers(void **state)
{
    (void)state;
    static const struct {
        uint32_t workers, density, left;
    } rows[] = {{256, 100, 51},
                {256, 1, 32},
                {256, 62, 32},
                {256, 63, 32},
                {256, 64, 32},
                {256, 65, 33},
                {256, 499, 255},
                {256, 500, 256},
                {256, 501, 256},
                {32, 1, 32},
                {31, 1, 31},
                {33, 1, 32},
                {2, 1, 2},
                {1, 1, 1},
                {0, 1, 0},
                {UINT32_MAX, 250, 2147483647},
                {UINT32_MAX, 500, UINT32_MAX}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_request request = frontier(rows[i].density);
        request.queue_length = 100000;
        request.worker_count = rows[i].workers;
        assert_int_equal(workers_of(request), rows[i].left);
    }
    vy_mk_request request = frontier(1);
    request.node_count = 0;
    assert_int_equal(workers_of(request), 256);
}

static void test_scarce_memory_sheds_workers(void **state)
{
    (void)state;
    static const struct {
        uint32_t workers, pressure, left;
    } rows[] = {{128, 10000, 64},
                {128, 10001, 64},
                {128, 8500, 96},
                {128, 8499, 128},
                {128, 9999, 64},
                {128, 9250, 80},
                {10000, 8501, 7499},
                {10000, 8500, 7500},
                {10000, 8503, 7495},
                {2, 10000, 1},
                {1, 10000, 1},
                {0, 10000, 0},
                {UINT32_MAX, 10000, 2147483647}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_request request = frontier(1000);
        request.worker_count = rows[i].workers;
        request.pressure_bps = rows[i].pressure;
        assert_int_equal(workers_of(request), rows[i].left);
    }
    /* Kept by hysteresis, below its threshold. */
    vy_mk_request request = frontier(1000);
    request.pressure_bps = 8300;
    assert_int_equal(
        vy_mk_workers(vy_mk_policy_standard(), &request, VY_MK_TOPOLOGY_MEMORY_CONSTRAINED), 192);
}

static void test_workers_stay_within_bounds_for_any_policy(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 50000; seed++) {
        uint64_t random = seed;
        vy_mk_policy policy = *vy_mk_policy_standard();
        policy.memory_bps = (uint32_t)random_wide(&random, 15);
        policy.shed_bps = (uint32_t)random_wide(&random, 32);
        policy.shed_more_bps = (uint32_t)random_wide(&random, 32);
        policy.sparse_bps = (uint32_t)random_wide(&random, 15);
        policy.sparse_workers = (uint32_t)random_wide(&random, 32);
        vy_mk_request request = frontier((uint32_t)random_wide(&random, 15));
        request.worker_count = 1 + (uint32_t)random_wide(&random, 31);
        request.pressure_bps = (uint32_t)random_wide(&random, 15);
        for (unsigned t = 0; t < VY_MK_TOPOLOGY_COUNT; t++) {
            uint32_t left = vy_mk_workers(&policy, &request, (vy_mk_topology)t);
            check_seed(left >= 1 && left <= request.worker_count, seed);
        }
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_hit_capacity_has_its_pinned_numbers(void **state)
{
    (void)state;
    static const struct {
        uint32_t queue, hits, asked, pressure, capacity;
    } rows[] = {
        {300, 3, 0, 0, 1800},
        {1, 0, 0, 0, 1024},
        {511, 1, 0, 0, 1024},
        {512, 1, 0, 0, 1024},
        {513, 1, 0, 0, 1026},
        {512, 0, 0, 0, 1024},
        {513, 0, 0, 0, 1026},
        {300, 3, 1, 0, 1},
        {300, 3, UINT32_MAX, 0, UINT32_MAX},
        {300, 4, 0, 8499, 2400},
        {300, 4, 0, 8500, 1200},
        {0, 9, 0, 0, 1024},
        {2147483647, 1, 0, 0, 4294967294u},
        {UINT32_MAX, 1, 0, 8500, UINT32_MAX},
    };
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        uint32_t capacity = 7;
        vy_mk_request request = {.queue_length = rows[i].queue,
                                 .hits_per_item = rows[i].hits,
                                 .hit_capacity = rows[i].asked,
                                 .pressure_bps = rows[i].pressure,
                                 .has_hit_buffer = true};
        assert_int_equal(vy_mk_hit_capacity(vy_mk_policy_standard(), &request, choose(request),
                                            &capacity, &diag),
                         VYRE_OK);
        assert_true(capacity == rows[i].capacity);
        request.has_hit_buffer = false;
        assert_int_equal(vy_mk_hit_capacity(vy_mk_policy_standard(), &request, choose(request),
                                            &capacity, &diag),
                         VYRE_OK);
        assert_int_equal(capacity, 0);
    }
}

static void test_hit_capacity_refuses_overflow(void **state)
{
    (void)state;
    static const uint32_t rows[][3] = {
        {2147483648u, 1, 0}, {65536, 32768, 0}, {UINT32_MAX, UINT32_MAX, 0}, {UINT32_MAX, 2, 8500}};
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        uint32_t capacity = 7;
        vy_mk_request request = {.queue_length = rows[i][0],
                                 .hits_per_item = rows[i][1],
                                 .pressure_bps = rows[i][2],
                                 .has_hit_buffer = true};
        check_error(vy_mk_hit_capacity(vy_mk_policy_standard(), &request, choose(request),
                                       &capacity, &diag),
                    &diag, VYRE_ERROR_INVALID_ARGUMENT, "items of", "4294967295");
        assert_int_equal(capacity, 0);
        request.has_hit_buffer = false;
        assert_int_equal(vy_mk_hit_capacity(vy_mk_policy_standard(), &request, choose(request),
                                            &capacity, &diag),
                         VYRE_OK);
    }
    vy_mk_policy large = *vy_mk_policy_standard();
    vy_mk_request request = {
        .queue_length = UINT32_MAX, .hits_per_item = UINT32_MAX, .has_hit_buffer = true};
    uint32_t capacity = 0;
    large.hit_multiplier = UINT32_MAX;
    assert_int_equal(vy_mk_hit_capacity(&large, &request, VY_MK_TOPOLOGY_EMPTY, &capacity, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_peak_has_its_pinned_numbers(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_recommendation r;
    vy_mk_request request = {
        .queue_length = 300, .worker_count = 64, .hits_per_item = 3, .has_hit_buffer = true};
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.hit_capacity, 1800);
    assert_int_equal(r.peak_size, 28800);

    request = (vy_mk_request){.queue_length = 1024,
                              .worker_count = 64,
                              .resident_size = 900000,
                              .budget_size = 1000000,
                              .has_hit_buffer = true};
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.topology, VY_MK_TOPOLOGY_MEMORY_CONSTRAINED);
    assert_int_equal(r.pressure_bps, 9000);
    assert_int_equal(r.peak_size, 916384);

    request = (vy_mk_request){.queue_length = 1024,
                              .worker_count = 64,
                              .hits_per_item = 4,
                              .resident_size = 1024,
                              .budget_size = 65536,
                              .has_hit_buffer = true};
    check_error(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop, VY_MK_TOPOLOGY_EMPTY,
                                &r, &diag),
                &diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, "132096 bytes", "budget is 65536.");
    assert_true(r.peak_size == 0 && r.hit_capacity == 0);
    request.has_hit_buffer = false;
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.peak_size, 1024);
}

static void test_peak_passes_up_to_its_budget_and_refuses_overflow(void **state)
{
    (void)state;
    vyre_diag diag;
    for (uint64_t budget = 132095; budget <= 132097; budget++) {
        uint64_t size = 0;
        vy_mk_request request = {.resident_size = 1024, .budget_size = budget};
        assert_int_equal(vy_mk_peak(vy_mk_policy_standard(), &request, 8192, &size, &diag),
                         budget < 132096 ? VYRE_ERROR_DEVICE_OUT_OF_MEMORY : VYRE_OK);
        assert_int_equal(size, 132096);
    }
    uint64_t size = 0;
    vy_mk_request request = {.resident_size = UINT64_MAX - 16 * (uint64_t)UINT32_MAX};
    assert_int_equal(vy_mk_peak(vy_mk_policy_standard(), &request, UINT32_MAX, &size, &diag),
                     VYRE_OK);
    assert_true(size == UINT64_MAX);
    request.resident_size++;
    check_error(vy_mk_peak(vy_mk_policy_standard(), &request, UINT32_MAX, &size, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "64 bits", "resident");
    assert_int_equal(size, 0);
}

/* ---- Pressure, mode, age --------------------------------------------------------------------- */

static void test_pressure_is_by_queue_lanes_and_requeues(void **state)
{
    (void)state;
    const vy_mk_policy *p = vy_mk_policy_standard();
    assert_int_equal(vy_mk_pressure_choose(p, 0, 5, 256), VY_MK_PRESSURE_EMPTY);
    assert_int_equal(vy_mk_pressure_choose(p, 1, 0, 256), VY_MK_PRESSURE_LIGHT);
    assert_int_equal(vy_mk_pressure_choose(p, 1, 1, 256), VY_MK_PRESSURE_SATURATED);
    for (uint32_t queue = 255; queue <= 257; queue++) {
        assert_int_equal(vy_mk_pressure_choose(p, queue, 0, 256),
                         queue < 256 ? VY_MK_PRESSURE_LIGHT : VY_MK_PRESSURE_BALANCED);
    }
    for (uint32_t queue = 1023; queue <= 1025; queue++) {
        assert_int_equal(vy_mk_pressure_choose(p, queue, 0, 256),
                         queue < 1024 ? VY_MK_PRESSURE_BALANCED : VY_MK_PRESSURE_SATURATED);
    }
    assert_int_equal(vy_mk_pressure_choose(p, UINT32_MAX, 0, UINT64_MAX), VY_MK_PRESSURE_LIGHT);
    assert_int_equal(vy_mk_pressure_choose(p, UINT32_MAX, 0, UINT64_MAX / 4 + 1),
                     VY_MK_PRESSURE_LIGHT);
}

static void test_mode_and_route_follow_queue_and_heat(void **state)
{
    (void)state;
    for (uint32_t queue = 4095; queue <= 4097; queue++) {
        for (uint32_t opcodes = 7; opcodes <= 9; opcodes++) {
            for (uint32_t windows = 3; windows <= 5; windows++) {
                vy_mk_request request = {.queue_length = queue,
                                         .hot_opcode_count = opcodes,
                                         .hot_window_count = windows};
                vy_mk_promotion_evidence e = vy_mk_promotion_explain(
                    vy_mk_policy_standard(), &request, VY_MK_TOPOLOGY_SPARSE_FRONTIER);
                vy_mk_route heat = (vy_mk_route)((opcodes >= 8 ? 2 : 0) + (windows >= 4 ? 3 : 0));
                vy_mk_route route = heat == 5       ? VY_MK_ROUTE_OPCODE_AND_WINDOW_JIT
                                    : heat != 0     ? heat
                                    : queue >= 4096 ? VY_MK_ROUTE_QUEUE_JIT
                                                    : VY_MK_ROUTE_INTERPRETER;
                assert_int_equal(e.route, route);
                assert_int_equal(e.mode, route ? VY_MK_MODE_JIT : VY_MK_MODE_INTERPRETER);
                assert_true(vy_mk_promotion_is_complete(&e));
            }
        }
    }
    vy_mk_request request = {.queue_length = 1};
    assert_int_equal(
        vy_mk_mode_choose(vy_mk_policy_standard(), &request, VY_MK_TOPOLOGY_FUSED_DENSE),
        VY_MK_MODE_JIT);
}

static void test_old_work_goes_first(void **state)
{
    (void)state;
    for (uint32_t age = 31; age <= 33; age++) {
        vy_mk_request request = {.age = age};
        assert_int_equal(vy_mk_age_first(vy_mk_policy_standard(), &request), age >= 32);
        request.requeue_count = 1;
        assert_true(vy_mk_age_first(vy_mk_policy_standard(), &request));
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void test_recommendation_sheds_into_the_launch(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_recommendation r;
    vy_mk_request request = frontier(100);
    request.queue_length = 100000;
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.worker_count, 51);
    assert_int_equal(r.reference.width, 51);
    assert_int_equal(r.launch.width, 256);
    assert_int_equal(r.launch.group_count, 240 * (51 * 10000 / 256) / 10000);
    assert_int_equal(r.pressure, VY_MK_PRESSURE_SATURATED);
    assert_int_equal(r.mode, VY_MK_MODE_JIT);
    request.worker_count = 0;
    check_error(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop, VY_MK_TOPOLOGY_EMPTY,
                                &r, &diag),
                &diag, VYRE_ERROR_INVALID_ARGUMENT, "0 workers", "1 or more");
    request.worker_count = UINT32_MAX;
    request.density_bps = 1;
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.launch.group_count, 1);
    vy_mk_limits none = {0};
    check_error(
        vy_mk_recommend(vy_mk_policy_standard(), &request, &none, VY_MK_TOPOLOGY_EMPTY, &r, &diag),
        &diag, VYRE_ERROR_INVALID_ARGUMENT, "is 0", "limits");
    request = (vy_mk_request){.worker_count = 64};
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &desktop,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.topology, VY_MK_TOPOLOGY_EMPTY);
    assert_int_equal(r.pressure, VY_MK_PRESSURE_EMPTY);
    assert_int_equal(r.launch.group_count, 0);
}

static vy_mk_request random_request(uint64_t *random)
{
    return (vy_mk_request){
        .queue_length = (uint32_t)random_wide(random, 32),
        .worker_count = 1 + (uint32_t)random_wide(random, 12),
        .hits_per_item = (uint32_t)random_wide(random, 6),
        .hot_opcode_count = (uint32_t)random_wide(random, 5),
        .hot_window_count = (uint32_t)random_wide(random, 4),
        .requeue_count = random_u64(random) % 2 ? 0 : (uint32_t)random_wide(random, 8),
        .age = (uint32_t)random_wide(random, 7),
        .node_count = random_wide(random, 40),
        .edge_count = random_wide(random, 20),
        .density_bps = (uint32_t)(random_u64(random) % 3 ? random_u64(random) % 11000 : 0),
        .pressure_bps = (uint32_t)(random_u64(random) % 3 ? 0 : random_u64(random) % 11000),
        .resident_size = random_wide(random, 40),
        .budget_size = random_wide(random, 44),
        .has_hit_buffer = random_u64(random) % 2 != 0,
    };
}

static void test_recommendations_agree_with_themselves(void **state)
{
    (void)state;
    uint32_t passed = 0;
    for (uint32_t seed = 1; seed <= 50000; seed++) {
        uint64_t random = seed;
        vy_mk_request q = random_request(&random);
        vy_mk_topology previous = (vy_mk_topology)(random_u64(&random) % VY_MK_TOPOLOGY_COUNT);
        vy_mk_recommendation r;
        vyre_result result =
            vy_mk_recommend(vy_mk_policy_standard(), &q, &desktop, previous, &r, NULL);
        if (result) {
            check_seed(result == VYRE_ERROR_DEVICE_OUT_OF_MEMORY ||
                           (result == VYRE_ERROR_INVALID_ARGUMENT && q.has_hit_buffer),
                       seed);
            continue;
        }
        passed++;
        check_seed(q.budget_size == 0 || r.peak_size <= q.budget_size, seed);
        check_seed(r.peak_size - q.resident_size == 16 * (uint64_t)r.hit_capacity, seed);
        check_seed((r.hit_capacity == 0) == !q.has_hit_buffer, seed);
        check_seed(r.worker_count >= 1 && r.worker_count <= q.worker_count, seed);
        check_seed((r.topology == VY_MK_TOPOLOGY_EMPTY) == (q.queue_length == 0), seed);
        check_seed((r.pressure == VY_MK_PRESSURE_EMPTY) == (q.queue_length == 0), seed);
        check_seed(r.topology != VY_MK_TOPOLOGY_FUSED_DENSE || r.mode == VY_MK_MODE_JIT, seed);
        check_seed((uint64_t)r.launch.lane_count * r.launch.round_count >= q.queue_length, seed);
        check_seed(vy_mk_promotion_is_complete(&r.promotion_evidence), seed);
        check_seed(vy_mk_topology_is_complete(&r.topology_evidence) ||
                       (q.density_bps == 0 && q.node_count == 0),
                   seed);
    }
    assert_true(passed > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_a_table),
        cmocka_unit_test(test_names_are_there_for_all_numbers),
        cmocka_unit_test(test_density_is_inferred_from_queue_and_nodes),
        cmocka_unit_test(test_memory_pressure_is_inferred_from_resident_and_budget),
        cmocka_unit_test(test_topology_is_the_first_that_applies),
        cmocka_unit_test(test_dense_work_is_fused_with_nodes_edges_and_heat),
        cmocka_unit_test(test_hysteresis_keeps_a_topology_within_its_band),
        cmocka_unit_test(test_hysteresis_keeps_scarce_memory),
        cmocka_unit_test(test_hysteresis_holds_up_neither_empty_nor_new_scarcity),
        cmocka_unit_test(test_hysteresis_keeps_fusion_while_edges_and_heat_hold),
        cmocka_unit_test(test_sparse_frontiers_shed_workers),
        cmocka_unit_test(test_scarce_memory_sheds_workers),
        cmocka_unit_test(test_workers_stay_within_bounds_for_any_policy),
        cmocka_unit_test(test_hit_capacity_has_its_pinned_numbers),
        cmocka_unit_test(test_hit_capacity_refuses_overflow),
        cmocka_unit_test(test_peak_has_its_pinned_numbers),
        cmocka_unit_test(test_peak_passes_up_to_its_budget_and_refuses_overflow),
        cmocka_unit_test(test_pressure_is_by_queue_lanes_and_requeues),
        cmocka_unit_test(test_mode_and_route_follow_queue_and_heat),
        cmocka_unit_test(test_old_work_goes_first),
        cmocka_unit_test(test_recommendation_sheds_into_the_launch),
        cmocka_unit_test(test_recommendations_agree_with_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

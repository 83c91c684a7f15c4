/* Evidence of decisions, priority accounting, tuning. */
#include "tests/megakernel/property.h"

#include "engine/megakernel/policy.h"
#include "engine/megakernel/tune.h"

#include <math.h>

/* A long queue of a graph, with density as given. */
static vy_mk_request frontier(uint32_t density_bps)
{
    return (vy_mk_request){.queue_length = 1000,
                           .worker_count = 256,
                           .node_count = 100000,
                           .density_bps = density_bps,
                           .has_hit_buffer = true};
}

/* ---- Evidence -------------------------------------------------------------------------------- */

static void test_topology_evidence_names_its_class_and_sources(void **state)
{
    (void)state;
    const vy_mk_policy *p = vy_mk_policy_standard();
    vy_mk_request request = frontier(0);
    vy_mk_topology_evidence e = vy_mk_topology_explain(p, &request, VY_MK_TOPOLOGY_EMPTY);
    assert_int_equal(e.version, 1);
    assert_int_equal(e.density_bps, 100);
    assert_int_equal(e.density_source, VY_MK_SOURCE_INFERRED);
    assert_int_equal(e.pressure_source, VY_MK_SOURCE_NONE);
    assert_int_equal(e.switch_class, VY_MK_SWITCH_SPARSE);
    assert_true(vy_mk_topology_is_complete(&e));
    request.density_bps = 3800;
    request.budget_size = 100;
    e = vy_mk_topology_explain(p, &request, VY_MK_TOPOLOGY_DENSE_FRONTIER);
    assert_int_equal(e.topology, VY_MK_TOPOLOGY_DENSE_FRONTIER);
    assert_int_equal(e.fresh, VY_MK_TOPOLOGY_HYBRID_FRONTIER);
    assert_int_equal(e.density_source, VY_MK_SOURCE_GIVEN);
    assert_int_equal(e.pressure_source, VY_MK_SOURCE_INFERRED);
    assert_int_equal(e.switch_class, VY_MK_SWITCH_DENSE);
    assert_true(vy_mk_topology_is_complete(&e));
    request.pressure_bps = 9000;
    e = vy_mk_topology_explain(p, &request, VY_MK_TOPOLOGY_DENSE_FRONTIER);
    assert_int_equal(e.switch_class, VY_MK_SWITCH_NONE);
    assert_int_equal(e.pressure_source, VY_MK_SOURCE_GIVEN);
    assert_true(vy_mk_topology_is_complete(&e));
    request = (vy_mk_request){.queue_length = 0};
    e = vy_mk_topology_explain(p, &request, VY_MK_TOPOLOGY_EMPTY);
    assert_true(vy_mk_topology_is_complete(&e));
    request.queue_length = 300;
    e = vy_mk_topology_explain(p, &request, VY_MK_TOPOLOGY_EMPTY);
    assert_int_equal(e.topology, VY_MK_TOPOLOGY_SPARSE_FRONTIER);
    assert_false(vy_mk_topology_is_complete(&e));
}

static void test_evidence_that_disagrees_is_incomplete(void **state)
{
    (void)state;
    const vy_mk_policy *p = vy_mk_policy_standard();
    vy_mk_request request = frontier(5000);
    vy_mk_topology_evidence good = vy_mk_topology_explain(p, &request, VY_MK_TOPOLOGY_EMPTY);
    assert_true(vy_mk_topology_is_complete(&good));
    vy_mk_topology_evidence bad[11];
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        bad[i] = good;
    }
    bad[0].version = 0;
    bad[1].version = 2;
    bad[2].topology = VY_MK_TOPOLOGY_COUNT;
    bad[3].switch_class = VY_MK_SWITCH_SPARSE;
    bad[4].queue_length = 0;
    bad[5].density_bps = 10001;
    bad[6].pressure_bps = 10001;
    bad[7].density_source = VY_MK_SOURCE_NONE;
    bad[8].topology = VY_MK_TOPOLOGY_FUSED_DENSE;
    bad[9].fresh = VY_MK_TOPOLOGY_COUNT;
    bad[10].previous = VY_MK_TOPOLOGY_COUNT;
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        assert_false(vy_mk_topology_is_complete(&bad[i]));
    }
    request.queue_length = 4096;
    vy_mk_promotion_evidence promotion =
        vy_mk_promotion_explain(p, &request, VY_MK_TOPOLOGY_DENSE_FRONTIER);
    assert_true(vy_mk_promotion_is_complete(&promotion));
    promotion.version = 2;
    assert_false(vy_mk_promotion_is_complete(&promotion));
    promotion.version = 1;
    promotion.queue_length = 4095;
    assert_false(vy_mk_promotion_is_complete(&promotion));
    promotion.queue_length = 4096;
    promotion.mode = VY_MK_MODE_INTERPRETER;
    assert_false(vy_mk_promotion_is_complete(&promotion));
    promotion.mode = VY_MK_MODE_COUNT;
    assert_false(vy_mk_promotion_is_complete(&promotion));
}

/* ---- Priority accounting --------------------------------------------------------------------- */

static void test_priority_totals_are_drained_in_time(void **state)
{
    (void)state;
    const vy_mk_policy *p = vy_mk_policy_standard();
    for (uint32_t at = 0; at <= VYRE_PRIORITY_COUNT; at++) {
        for (uint64_t left = 1023; left <= 1025; left++) {
            vy_mk_priority_totals totals = {0};
            uint64_t *total = at < VYRE_PRIORITY_COUNT ? &totals.claims[at] : &totals.starvation;
            *total = UINT64_MAX - left;
            assert_int_equal(vy_mk_priority_should_drain(p, &totals), left <= 1024);
        }
    }
    vy_mk_priority_totals totals = {.claims = {1, 2, 3, 4, 5}, .starvation = 6};
    vy_mk_priority_totals out = vy_mk_priority_drain(&totals);
    assert_true(out.claims[4] == 5 && out.starvation == 6);
    assert_true(totals.claims[0] == 0 && totals.starvation == 0);
    assert_false(vy_mk_priority_should_drain(p, &totals));
}

static void test_priority_totals_add_all_or_nothing(void **state)
{
    (void)state;
    static const uint32_t claims[VYRE_PRIORITY_COUNT] = {1, 2, 3, 4, UINT32_MAX};
    vyre_diag diag;
    vy_mk_priority_totals totals = {0};
    assert_int_equal(vy_mk_priority_add(&totals, claims, 7, &diag), VYRE_OK);
    assert_int_equal(vy_mk_priority_add(&totals, claims, 7, &diag), VYRE_OK);
    assert_true(totals.claims[0] == 2 && totals.claims[4] == 2 * (uint64_t)UINT32_MAX);
    assert_int_equal(totals.starvation, 14);
    totals.claims[4] = UINT64_MAX - UINT32_MAX;
    assert_int_equal(vy_mk_priority_add(&totals, claims, 0, &diag), VYRE_OK);
    assert_true(totals.claims[4] == UINT64_MAX);
    vy_mk_priority_totals before = totals;
    check_error(vy_mk_priority_add(&totals, claims, 0, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "64 bits", "drain");
    assert_memory_equal(&totals, &before, sizeof totals);
    totals = (vy_mk_priority_totals){.starvation = UINT64_MAX};
    assert_int_equal(vy_mk_priority_add(&totals, claims, 1, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(totals.claims[0] == 0);
}

/* ---- Tuning ---------------------------------------------------------------------------------- */

static void test_tuning_chooses_the_first_cheapest(void **state)
{
    (void)state;
    const double costs[] = {NAN, INFINITY, 3.0, 1.5, 1.5, -INFINITY};
    vyre_diag diag;
    uint32_t index = 7;
    assert_int_equal(vy_mk_tune_choose(costs, 6, &index, &diag), VYRE_OK);
    assert_int_equal(index, 3);
    check_error(vy_mk_tune_choose(costs, 2, &index, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "2 candidates", "cost");
    assert_int_equal(vy_mk_tune_choose(costs, 0, &index, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(index, 0);
}

static void test_tuning_steps_and_diffuses_by_their_formulas(void **state)
{
    (void)state;
    const double matrix[] = {2.0, 0.5, -1.0, 4.0}, gradient[] = {3.0, -2.0};
    double step[2], x[] = {8.0, 2.0, 1.0};
    const double weights[] = {0.5, 0.0, 4.0};
    vy_mk_tune_step(matrix, gradient, 2, 0.25, step);
    assert_true(step[0] == -1.25 && step[1] == 2.75);
    vy_mk_tune_diffuse(x, weights, 3, 0.25);
    assert_true(x[0] == 7.0 && x[1] == 2.0 && x[2] == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topology_evidence_names_its_class_and_sources),
        cmocka_unit_test(test_evidence_that_disagrees_is_incomplete),
        cmocka_unit_test(test_priority_totals_are_drained_in_time),
        cmocka_unit_test(test_priority_totals_add_all_or_nothing),
        cmocka_unit_test(test_tuning_chooses_the_first_cheapest),
        cmocka_unit_test(test_tuning_steps_and_diffuses_by_their_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

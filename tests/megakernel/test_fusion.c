/* Groups: vectors, and a greedy independent set over an adjacency matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/megakernel/fusion.h"
#include "tests/megakernel/queue_model.h"
#include "tests/support/fail_allocator.h"

static const uint32_t sizes[] = {0, 1, 2, 255, 256, 257, 4096, 4097, 100000};

static vyre_work_item *make_items(const char *opcodes)
{
    vyre_work_item *items = calloc(strlen(opcodes) + 1, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; opcodes[i]; i++) {
        items[i].opcode = (uint32_t)opcodes[i];
    }
    return items;
}

/* Opcodes are letters; groups come as "aaa|b|*cd|", with '*' before a rest and '/' between waves.
 */
static void expect(const char *opcodes, const vy_mk_waves *waves, const vy_mk_fusion_params *params,
                   const char *expected)
{
    vyre_work_item *items = make_items(opcodes);
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_fusion fusion;
    assert_int_equal(
        vy_mk_fusion_plan(&arena, items, strlen(opcodes), waves, params, &fusion, NULL), VYRE_OK);
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_append(&text, "", 0);
    for (uint32_t g = 0; g < fusion.group_count; g++) {
        const vy_mk_group *group = &fusion.groups[g];
        if (g && group->wave != fusion.groups[g - 1].wave) {
            vy_text_append(&text, "/", 1);
        }
        vy_text_append(&text, "*", group->is_rest ? 1 : 0);
        for (uint32_t i = 0; i < group->count; i++) {
            vy_text_append(&text, &opcodes[fusion.item_at[group->first + i]], 1);
        }
        vy_text_append(&text, "|", 1);
    }
    assert_string_equal(text.data ? text.data : "", expected);
    vy_text_finish(&text);
    vy_arena_finish(&arena);
    free(items);
}

static void test_groups_are_runs_of_one_opcode(void **state)
{
    (void)state;
    expect("", NULL, NULL, "");
    expect("a", NULL, NULL, "a|");
    expect("aa", NULL, NULL, "aa|");
    /* By degree, then by index. */
    expect("abacb", NULL, NULL, "c|aa|bb|");
    expect("ba", NULL, NULL, "b|a|");
}

static void test_groups_are_taken_by_their_costs(void **state)
{
    (void)state;
    const vy_mk_cost costs[] = {{'a', 30}, {'b', 20}, {'c', 10}, {'d', 20}};
    vy_mk_fusion_params params = {costs, 4, 0, 0};
    expect("abacbd", NULL, &params, "c|d|bb|aa|");
    expect("zabacbd", NULL, &params, "z|c|d|bb|aa|"); /* no cost: 0 */
    /* 40 and 60 are worth 40. */
    params.launch_ns = 40;
    expect("abacbd", NULL, &params, "bb|aa|*cd|");
    params.launch_ns = 41;
    expect("abacbd", NULL, &params, "aa|*bcbd|");
    params.launch_ns = 1000;
    expect("abacbd", NULL, &params, "*abacbd|");
    expect("aaa", NULL, &params, "aaa|"); /* a rest of one opcode */
    params.launch_ns = 20;
    expect("abacbd", NULL, &params, "c|d|bb|aa|");
}

static void test_groups_stay_in_their_waves(void **state)
{
    (void)state;
    const vy_mk_wave ranges[] = {{0, 3}, {3, 2}};
    const uint32_t item_at[] = {0, 2, 4, 1, 3}, place_of[] = {0, 3, 1, 4, 2};
    const vy_mk_waves waves = {ranges, 2, 5, place_of, item_at};
    const vy_mk_cost costs[] = {{'a', 1}, {'b', 9}};
    vy_mk_fusion_params params = {costs, 2, 0, 0};
    expect("babab", &waves, &params, "bbb|/aa|");
    expect("bbaba", &waves, &params, "aa|b|/bb|");
    params.max_items = 4;
    expect("bbaba", &waves, &params, "*baa|/*bb|");
    params.max_items = 5;
    params.launch_ns = 10;
    expect("bbaba", &waves, &params, "*baa|/bb|");
}

static void test_costs_that_overflow_are_the_greatest(void **state)
{
    (void)state;
    const vy_mk_cost costs[] = {{'a', UINT64_MAX / 2 + 1}, {'b', UINT64_MAX / 2}};
    const vy_mk_fusion_params params = {costs, 2, UINT64_MAX, 0};
    expect("aabb", NULL, &params, "bb|aa|"); /* b: 2^64 - 2, alone in the rest */
    vyre_work_item *items = make_items("aabbb");
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_fusion fusion;
    const vy_mk_fusion_params limited = {costs, 2, 0, 4};
    assert_int_equal(vy_mk_fusion_plan(&arena, items, 5, NULL, &limited, &fusion, NULL), VYRE_OK);
    assert_int_equal(fusion.group_count, 1);
    assert_true(fusion.groups[0].cost_ns == UINT64_MAX);
    assert_int_equal(vy_mk_fusion_plan(&arena, items, 4, NULL, &limited, &fusion, NULL), VYRE_OK);
    assert_true(fusion.groups[0].cost_ns == UINT64_MAX - 1);
    assert_true(fusion.groups[1].cost_ns == UINT64_MAX);
    vy_arena_finish(&arena);
    free(items);
}

/* ---- Against a matrix ------------------------------------------------------------------------ */

typedef struct queue {
    vyre_work_item *items;
    uint32_t *wave_of;
    uint64_t *cost_of;
    uint32_t count;
} queue;

/* The next leader of a wave: of those not excluded the least by (cost, degree, index). */
static uint32_t next_leader(const queue *q, uint32_t wave, const bool *is_taken)
{
    uint32_t best = q->count, best_degree = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        uint32_t degree = 0;
        bool is_free = q->wave_of[i] == wave;
        for (uint32_t k = 0; is_free && k < q->count; k++) {
            bool is_adjacent = q->wave_of[k] == wave && q->items[k].opcode == q->items[i].opcode;
            degree += k != i && is_adjacent;
            is_free = !(is_adjacent && is_taken[k]);
        }
        if (is_free && (best == q->count || q->cost_of[i] < q->cost_of[best] ||
                        (q->cost_of[i] == q->cost_of[best] && degree < best_degree))) {
            best = i;
            best_degree = degree;
        }
    }
    return best;
}

/* With launch_ns 0: groups in the order in which their leaders are taken. */
static void check_greedy(const queue *q, uint32_t wave_count, const vy_mk_fusion *fusion)
{
    bool *is_taken = calloc(q->count + 1, sizeof *is_taken);
    assert_non_null(is_taken);
    uint32_t g = 0, place = 0;
    for (uint32_t wave = 0; wave < wave_count; wave++) {
        for (;;) {
            uint32_t leader = next_leader(q, wave, is_taken);
            if (leader == q->count) {
                break;
            }
            is_taken[leader] = true;
            assert_true(g < fusion->group_count);
            const vy_mk_group *group = &fusion->groups[g++];
            assert_int_equal(group->first, place);
            assert_int_equal(group->wave, wave);
            assert_int_equal(group->opcode, q->items[leader].opcode);
            assert_false(group->is_rest);
            assert_int_equal(fusion->item_at[place], leader);
            uint64_t cost = 0;
            for (uint32_t i = 0; i < q->count; i++) {
                if (q->wave_of[i] == wave && q->items[i].opcode == group->opcode) {
                    cost += q->cost_of[i];
                    assert_int_equal(fusion->item_at[place], i);
                    assert_int_equal(fusion->place_of[i], place++);
                }
            }
            assert_int_equal(place, group->first + group->count);
            assert_true(group->cost_ns == cost);
        }
    }
    assert_int_equal(g, fusion->group_count);
    assert_int_equal(place, q->count);
    free(is_taken);
}

/* With any: groups tile the items, in the order of waves, and are worth their launch or a rest. */
static void check_tiling(const queue *q, uint64_t launch_ns, const vy_mk_fusion *fusion)
{
    uint32_t place = 0, cheap = 0; /* groups of the wave that are not worth a launch */
    for (uint32_t g = 0; g < fusion->group_count; g++) {
        const vy_mk_group *group = &fusion->groups[g];
        assert_int_equal(group->first, place);
        assert_true(group->count > 0);
        cheap = g && fusion->groups[g - 1].wave == group->wave ? cheap : 0;
        cheap += group->is_rest || group->cost_ns < launch_ns;
        assert_true(cheap <= 1);
        bool is_mixed = false, has_other = false;
        for (uint32_t i = 0; i < group->count; i++, place++) {
            const uint32_t item = fusion->item_at[place];
            assert_int_equal(fusion->place_of[item], place);
            assert_int_equal(q->wave_of[item], group->wave);
            is_mixed |= q->items[item].opcode != q->items[fusion->item_at[group->first]].opcode;
            has_other |= !group->is_rest && q->items[item].opcode != group->opcode;
            assert_true(i == 0 || fusion->item_at[place - 1] < item);
        }
        assert_false(has_other);
        assert_true(is_mixed == group->is_rest);
        bool is_last = g + 1 == fusion->group_count || fusion->groups[g + 1].wave != group->wave;
        assert_true(is_last || !group->is_rest);
    }
    assert_int_equal(place, q->count);
}

static void check_queue(uint64_t seed, uint32_t count, bool is_greedy)
{
    queue q = {calloc(count + 1, sizeof *q.items), calloc(count + 1, sizeof *q.wave_of),
               calloc(count + 1, sizeof *q.cost_of), count};
    assert_true(q.items && q.wave_of && q.cost_of);
    vy_mk_cost costs[14];
    for (uint32_t i = 0; i < 14; i++) {
        costs[i] = (vy_mk_cost){i < 8 ? i : OP_COPY + i - 8, model_random(&seed, 3) * 50};
    }
    model_make(&seed, seed % 2 ? MIX_ALL : MIX_FEW, MODEL_HANDLES, q.items, count);
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_effects table;
    vy_mk_graph graph;
    vy_mk_waves waves;
    assert_int_equal(vy_mk_effects_init(&table, &arena, model_handlers, model_handler_count, NULL),
                     VYRE_OK);
    assert_int_equal(vy_mk_graph_build(&arena, &table, q.items, count, &graph, NULL), VYRE_OK);
    assert_int_equal(vy_mk_waves_build(&arena, &graph, &waves, NULL), VYRE_OK);
    for (uint32_t w = 0; w < waves.wave_count; w++) {
        for (uint32_t i = 0; i < waves.waves[w].count; i++) {
            q.wave_of[waves.item_at[waves.waves[w].first + i]] = w;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < VY_COUNT_OF(costs); c++) {
            q.cost_of[i] = costs[c].opcode == q.items[i].opcode ? costs[c].cost_ns : q.cost_of[i];
        }
    }
    vy_mk_fusion fusion;
    for (uint64_t launch_ns = 0; launch_ns <= 200; launch_ns += 100) {
        const vy_mk_fusion_params params = {costs, 14, launch_ns, count + 1};
        assert_int_equal(vy_mk_fusion_plan(&arena, q.items, count, &waves, &params, &fusion, NULL),
                         VYRE_OK);
        check_tiling(&q, launch_ns, &fusion);
        if (launch_ns == 0 && is_greedy) {
            check_greedy(&q, waves.wave_count, &fusion);
        }
    }
    vy_arena_finish(&arena);
    free(q.items);
    free(q.wave_of);
    free(q.cost_of);
}

static void test_groups_are_the_greedy_independent_set(void **state)
{
    (void)state;
    print_message("seeds 1 to 500\n");
    for (uint64_t seed = 1; seed <= 500; seed++) {
        check_queue(seed, (uint32_t)(seed % 53), true);
    }
}

static void test_queues_of_every_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        print_message("seed %u\n", sizes[s] + 3);
        check_queue(sizes[s] + 3, sizes[s], sizes[s] <= 257);
    }
}

static void test_above_the_limit_waves_are_whole(void **state)
{
    (void)state;
    static vyre_work_item items[4097];
    for (uint32_t i = 0; i < 4097; i++) {
        items[i] = (vyre_work_item){8 + i % 2, i, i, 0};
    }
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_fusion fusion;
    assert_int_equal(vy_mk_fusion_plan(&arena, items, 4096, NULL, NULL, &fusion, NULL), VYRE_OK);
    assert_int_equal(fusion.group_count, 2);
    assert_int_equal(fusion.item_at[1], 2);
    assert_int_equal(vy_mk_fusion_plan(&arena, items, 4097, NULL, NULL, &fusion, NULL), VYRE_OK);
    assert_int_equal(fusion.group_count, 1);
    assert_true(fusion.groups[0].is_rest);
    assert_int_equal(fusion.groups[0].count, 4097);
    for (uint32_t i = 0; i < 4097; i++) {
        assert_int_equal(fusion.item_at[i], i);
        assert_int_equal(fusion.place_of[i], i);
    }
    vy_arena_finish(&arena);
}

static void test_bad_calls_are_refused(void **state)
{
    (void)state;
    const vyre_work_item items[] = {{8, 1, 2, 0}, {8, 1, 2, 0}};
    const vy_mk_wave range = {0, 1};
    const uint32_t zero = 0;
    const vy_mk_waves waves = {&range, 1, 1, &zero, &zero};
    const vy_mk_cost twice[] = {{8, 1}, {9, 1}, {8, 1}};
    const vy_mk_fusion_params params[] = {{twice, 3, 0, 0}, {NULL, 3, 0, 0}};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_fusion fusion;
    vyre_diag diag;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(vy_mk_fusion_plan(&arena, i == 0 ? NULL : items, i == 1 ? 1ull << 32 : 2,
                                           i == 2 ? &waves : NULL, i > 2 ? &params[i - 3] : NULL,
                                           &fusion, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "Fix: "));
        assert_null(fusion.groups);
    }
    vy_arena_finish(&arena);
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static vyre_work_item items[4097];
    static vy_mk_cost costs[4097];
    for (uint32_t i = 0; i < 4097; i++) {
        items[i] = (vyre_work_item){0x10000 + i, i, i, 0};
        costs[i] = (vy_mk_cost){0x10000 + i, i % 100};
    }
    for (uint32_t max_items = 1; max_items <= 4097; max_items += 4096) {
        const vy_mk_fusion_params params = {costs, 4097, 50, max_items};
        size_t needed = 0;
        for (size_t fail_at = 0; fail_at <= needed; fail_at++) {
            vy_fail_allocator failing = {.fail_at = fail_at};
            vyre_allocator allocator = vy_fail_allocator_get(&failing);
            vy_arena arena;
            vy_arena_init(&arena, &allocator);
            vy_mk_fusion fusion;
            vyre_diag diag;
            vyre_result result =
                vy_mk_fusion_plan(&arena, items, 4097, NULL, &params, &fusion, &diag);
            assert_int_equal(result, fail_at ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
            assert_int_equal(diag.code, result);
            assert_true(fail_at == 0 || fusion.groups == NULL);
            needed = fail_at ? needed : failing.calls;
            vy_arena_finish(&arena);
            assert_int_equal(failing.live_blocks, 0);
        }
        assert_true(needed > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_runs_of_one_opcode),
        cmocka_unit_test(test_groups_are_taken_by_their_costs),
        cmocka_unit_test(test_groups_stay_in_their_waves),
        cmocka_unit_test(test_costs_that_overflow_are_the_greatest),
        cmocka_unit_test(test_groups_are_the_greedy_independent_set),
        cmocka_unit_test(test_queues_of_every_size),
        cmocka_unit_test(test_above_the_limit_waves_are_whole),
        cmocka_unit_test(test_bad_calls_are_refused),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

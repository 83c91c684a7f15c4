/* Edges and waves: vectors, brute-force hazards, and the same memory in wave order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/megakernel/prune.h"
#include "engine/megakernel/waves.h"
#include "tests/megakernel/queue_model.h"
#include "tests/support/fail_allocator.h"

static const uint32_t sizes[] = {0, 1, 2, 255, 256, 257, 4096, 4097, 100000};

typedef struct planned {
    vy_arena arena;
    vy_mk_graph graph;
    vy_mk_waves waves;
} planned;

static void plan(planned *p, const vyre_work_item *items, uint32_t count)
{
    vy_arena_init(&p->arena, NULL);
    vy_mk_effects table;
    assert_int_equal(
        vy_mk_effects_init(&table, &p->arena, model_handlers, model_handler_count, NULL), VYRE_OK);
    assert_int_equal(vy_mk_graph_build(&p->arena, &table, items, count, &p->graph, NULL), VYRE_OK);
    assert_int_equal(vy_mk_waves_build(&p->arena, &p->graph, &p->waves, NULL), VYRE_OK);
    assert_int_equal(p->waves.item_count, count);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* The waves of the items, a digit each. */
static void expect(const vyre_work_item *items, uint32_t count, const char *expected)
{
    planned p;
    plan(&p, items, count);
    char got[32] = {0};
    for (uint32_t w = 0; w < p.waves.wave_count; w++) {
        for (uint32_t i = 0; i < p.waves.waves[w].count; i++) {
            got[p.waves.item_at[p.waves.waves[w].first + i]] = (char)('0' + w);
        }
    }
    assert_string_equal(got, expected);
    vy_arena_finish(&p.arena);
}

#define EXPECT(expected, ...)                                                                      \
    do {                                                                                           \
        const vyre_work_item items_[] = {__VA_ARGS__};                                             \
        expect(items_, VY_COUNT_OF(items_), (expected));                                           \
    } while (0)
#define STORE(v, at)                                                                               \
    {                                                                                              \
        VYRE_OPCODE_STORE_U32, v, at, 0                                                            \
    }
#define ADD(v, at)                                                                                 \
    {                                                                                              \
        VYRE_OPCODE_ATOMIC_ADD, v, at, 0                                                           \
    }
#define LOAD(at, o)                                                                                \
    {                                                                                              \
        VYRE_OPCODE_LOAD_U32, at, o, 0                                                             \
    }
#define MOVE(a, b, n)                                                                              \
    {                                                                                              \
        VYRE_OPCODE_MEMCPY, a, b, n                                                                \
    }
#define FENCE                                                                                      \
    {                                                                                              \
        VYRE_OPCODE_BATCH_FENCE, 0, 0, 0                                                           \
    }
#define USER(op, a, b)                                                                             \
    {                                                                                              \
        OP_##op, a, b, 0                                                                           \
    }

static void test_builtins_are_ordered_by_their_words(void **state)
{
    (void)state;
    EXPECT("0", STORE(1, 170));
    EXPECT("00", STORE(1, 170), STORE(1, 171));
    EXPECT("01", STORE(1, 170), STORE(1, 170));
    EXPECT("01", STORE(1, 170), LOAD(170, 3));
    EXPECT("00", STORE(1, 170), LOAD(171, 3));
    EXPECT("01", LOAD(170, 3), STORE(1, 170));
    EXPECT("01", LOAD(170, 3), STORE(1, 163));
    EXPECT("00", LOAD(170, 3), LOAD(170, 4));
    EXPECT("01", LOAD(170, 3), LOAD(163, 4));
    EXPECT("000", ADD(1, 170), ADD(2, 170), ADD(1, 170));
    EXPECT("00112", ADD(1, 170), ADD(2, 170), LOAD(170, 3), LOAD(170, 4), ADD(1, 170));
    EXPECT("0011", ADD(1, 170), ADD(2, 170), LOAD(170, 3), LOAD(170, 4));
    EXPECT("01", ADD(1, 170), STORE(1, 170));
    EXPECT("0112", STORE(1, 170), ADD(1, 170), ADD(2, 170), STORE(1, 170));
    EXPECT("01", {VYRE_OPCODE_COMPARE_SWAP, 5, 0, 1}, STORE(1, 5));
    EXPECT("01", {VYRE_OPCODE_COMPARE_SWAP, 5, 0, 1}, STORE(1, 165));
    EXPECT("01", {VYRE_OPCODE_COMPARE_SWAP, 5, 0, 1}, {VYRE_OPCODE_COMPARE_SWAP, 5, 1, 2});
    EXPECT("0100", MOVE(170, 180, 3), STORE(1, 182), STORE(1, 183), STORE(1, 169));
    EXPECT("01", MOVE(170, 180, 3), STORE(1, 172));
    EXPECT("000", {VYRE_OPCODE_PRINTF, 1, 1, 1}, {VYRE_OPCODE_PRINTF, 1, 1, 1},
           {VYRE_OPCODE_NOP, 1, 1, 1});
    EXPECT("012", FENCE, FENCE, ADD(1, VYRE_CONTROL_EPOCH));
}

static void test_wide_accesses_meet_every_word(void **state)
{
    (void)state;
    EXPECT("00122", STORE(1, 170), LOAD(171, 3), MOVE(170, 230, 65), STORE(1, 1), LOAD(2, 5));
    EXPECT("01", MOVE(170, 230, 65), MOVE(0, 5, 65));
    EXPECT("001", USER(SUM_CONTROL, 1, 2), USER(SUM_CONTROL, 1, 3), LOAD(170, 9));
    EXPECT("0011", USER(SUM_CONTROL, 1, 2), USER(SUM_CONTROL, 1, 3), STORE(1, 170), STORE(1, 171));
    EXPECT("001", STORE(1, 170), STORE(1, 171), USER(SUM_CONTROL, 1, 2));
    EXPECT("01", USER(PUT_CONTROL, 1, 2), USER(PUT_CONTROL, 3, 2));
    EXPECT("010", USER(PUT_CONTROL, 1, 2), STORE(1, 170), USER(COPY, 5, 6));
}

static void test_handlers_are_ordered_by_their_handles(void **state)
{
    (void)state;
    EXPECT("01234", USER(COPY, 0, 1), USER(COPY, 1, 2), USER(COPY, 2, 3), USER(COPY, 3, 4),
           USER(COPY, 4, 5));
    EXPECT("01", USER(COPY, 0, 1), USER(COPY, 2, 0));
    EXPECT("00", USER(COPY, 170, 1), STORE(1, 170)); /* spaces are apart */
    EXPECT("000", USER(ADD, 1, 2), USER(ADD, 3, 2), USER(ADD, 1, 2));
    EXPECT("0110", USER(ADD, 1, 2), USER(XOR, 3, 2), USER(XOR, 1, 2), USER(ADD, 1, 5));
    EXPECT("012", USER(ADD, 1, 2), USER(XOR, 3, 2), USER(ADD, 1, 2));
    EXPECT("012", USER(ADD, 2, 2), USER(ADD, 1, 2), USER(ADD, 2, 2));
    EXPECT("0112", USER(OPAQUE, 1, 2), USER(OPAQUE, 2, 3), USER(LOOK, 1, 9),
           USER(UNDECLARED, 3, 1));
    EXPECT("00", USER(OPAQUE, 1, 2), USER(OPAQUE, 3, 4));
    EXPECT("0010", USER(LOOK, 1, 2), USER(LOOK, 1, 2), USER(IN_PLACE, 1, 7), USER(COPY, 8, 7));
    EXPECT("000122", USER(COPY, 1, 2), STORE(1, 170), {VYRE_OPCODE_NOP, 0, 0, 0}, USER(ALL, 0, 0),
           USER(COPY, 1, 2), {VYRE_OPCODE_NOP, 0, 0, 0});
    EXPECT("012", USER(ALL, 0, 0), {(uint32_t)VYRE_OPCODE_PACKED_SLOT, 0, 0, 0},
           {(uint32_t)VYRE_OPCODE_SHUTDOWN, 0, 0, 0});
}

static void test_few_edges_say_which_hazard_they_are(void **state)
{
    (void)state;
    const vyre_work_item items[] = {USER(COPY, 0, 1), USER(COPY, 1, 2), USER(COPY, 3, 1),
                                    USER(COPY, 1, 1)};
    planned p;
    plan(&p, items, VY_COUNT_OF(items));
    const vy_mk_edge expected[] = {
        {0, 1, VY_MK_RAW}, {0, 2, VY_MK_WAW}, {1, 2, VY_MK_WAR}, {2, 3, VY_MK_RAW | VY_MK_WAW}};
    assert_int_equal(p.graph.edge_count, VY_COUNT_OF(expected));
    assert_int_equal(p.graph.node_count, 4);
    assert_memory_equal(p.graph.edges, expected, sizeof expected);
    vy_arena_finish(&p.arena);

    /* All words are written over what a word was read for, and over a word. */
    const vyre_work_item wide[] = {LOAD(170, 3), USER(PUT_CONTROL, 1, 2), LOAD(170, 3)};
    plan(&p, wide, VY_COUNT_OF(wide));
    const vy_mk_edge expected_wide[] = {{0, 1, VY_MK_RAW | VY_MK_WAR | VY_MK_WAW},
                                        {1, 2, VY_MK_RAW | VY_MK_WAW}};
    assert_int_equal(p.graph.edge_count, VY_COUNT_OF(expected_wide));
    assert_memory_equal(p.graph.edges, expected_wide, sizeof expected_wide);
    vy_arena_finish(&p.arena);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static vyre_work_item *make_items(uint64_t seed, model_mix mix, uint32_t handles, uint32_t count)
{
    vyre_work_item *items = calloc(count ? count : 1, sizeof *items);
    assert_non_null(items);
    model_make(&seed, mix, handles, items, count);
    return items;
}

static void check_shape(const planned *p, uint32_t count)
{
    const vy_mk_waves *waves = &p->waves;
    uint32_t first = 0;
    for (uint32_t w = 0; w < waves->wave_count; w++) {
        assert_int_equal(waves->waves[w].first, first);
        assert_true(waves->waves[w].count > 0);
        for (uint32_t i = 1; i < waves->waves[w].count; i++) {
            assert_true(waves->item_at[first + i - 1] < waves->item_at[first + i]);
        }
        first += waves->waves[w].count;
    }
    assert_int_equal(first, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(waves->place_of[i] < count);
        assert_int_equal(waves->item_at[waves->place_of[i]], i);
    }
    assert_true(p->graph.edge_count > 0 ? waves->wave_count > 1 : waves->wave_count <= 1);
}

/* Every edge into a node stands before every edge out of it. */
static void check_topological(const vy_mk_graph *graph)
{
    bool *is_left = calloc(graph->node_count ? graph->node_count : 1, sizeof *is_left);
    assert_non_null(is_left);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const vy_mk_edge *edge = &graph->edges[i];
        assert_true(edge->from < graph->node_count && edge->to < graph->node_count);
        assert_true(edge->hazards != 0 && edge->hazards <= VY_MK_ALL_HAZARDS);
        assert_false(is_left[edge->to]);
        is_left[edge->from] = true;
        if (edge->to < graph->item_count && edge->from < graph->item_count) {
            assert_true(edge->from < edge->to);
        }
    }
    free(is_left);
}

/* The longest path over all pairs of items that conflict. */
static void check_levels(const planned *p, const vyre_work_item *items, uint32_t count)
{
    model_touch *touches = calloc(count ? count : 1, sizeof *touches);
    uint32_t *levels = calloc(count ? count : 1, sizeof *levels);
    assert_non_null(touches);
    assert_non_null(levels);
    for (uint32_t i = 0; i < count; i++) {
        touches[i] = model_touch_of(&items[i]);
        for (uint32_t k = 0; k < i; k++) {
            if (levels[k] >= levels[i] &&
                model_conflict(&items[k], &touches[k], &items[i], &touches[i])) {
                levels[i] = levels[k] + 1;
            }
        }
        assert_true(levels[i] < p->waves.wave_count);
        const vy_mk_wave *wave = &p->waves.waves[levels[i]];
        assert_true(p->waves.place_of[i] >= wave->first);
        assert_true(p->waves.place_of[i] - wave->first < wave->count);
    }
    free(touches);
    free(levels);
}

static void shuffle(uint64_t *seed, uint32_t *order, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = model_random(seed, i), swapped = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swapped;
    }
}

static void run_waves(model_memory *memory, uint64_t *seed, const planned *p,
                      const vyre_work_item *items, uint32_t count)
{
    vyre_work_item *arranged = calloc(count ? count : 1, sizeof *arranged);
    uint32_t *order = calloc(count ? count : 1, sizeof *order);
    assert_non_null(arranged);
    assert_non_null(order);
    vy_mk_waves_arrange(&p->waves, items, arranged);
    model_memory_init(memory);
    for (uint32_t w = 0; w < p->waves.wave_count; w++) {
        const vy_mk_wave *wave = &p->waves.waves[w];
        for (uint32_t i = 0; i < wave->count; i++) {
            order[i] = wave->first + i;
        }
        shuffle(seed, order, wave->count);
        for (uint32_t i = 0; i < wave->count; i++) {
            model_run(memory, &arranged[order[i]]);
        }
    }
    free(arranged);
    free(order);
}

/* One by one; in wave order, mixed up in each wave; and pruned first. */
static void check_memory(uint64_t seed, const planned *p, const vyre_work_item *items,
                         uint32_t count)
{
    static model_memory one_by_one, in_waves;
    model_memory_init(&one_by_one);
    for (uint32_t i = 0; i < count; i++) {
        model_run(&one_by_one, &items[i]);
    }
    run_waves(&in_waves, &seed, p, items, count);
    assert_memory_equal(&one_by_one, &in_waves, sizeof one_by_one);

    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_effects table;
    vy_mk_pruned pruned;
    assert_int_equal(vy_mk_effects_init(&table, &arena, model_handlers, model_handler_count, NULL),
                     VYRE_OK);
    assert_int_equal(
        vy_mk_prune(&arena, &table, VY_MK_PRUNE_BY_EFFECTS, items, count, &pruned, NULL), VYRE_OK);
    planned kept;
    plan(&kept, pruned.items, pruned.item_count);
    run_waves(&in_waves, &seed, &kept, pruned.items, pruned.item_count);
    assert_memory_equal(&one_by_one, &in_waves, sizeof one_by_one);
    vy_arena_finish(&kept.arena);
    vy_arena_finish(&arena);
}

static uint32_t check_queue(uint64_t seed, model_mix mix, uint32_t handles, uint32_t count)
{
    vyre_work_item *items = make_items(seed, mix, handles, count);
    planned p;
    plan(&p, items, count);
    check_shape(&p, count);
    check_topological(&p.graph);
    if (handles <= MODEL_HANDLES) {
        check_levels(&p, items, count);
    }
    check_memory(seed, &p, items, count);
    uint32_t joins = p.graph.node_count - count;
    vy_arena_finish(&p.arena);
    free(items);
    return joins;
}

static void test_random_queues_have_the_fewest_waves_and_the_same_memory(void **state)
{
    (void)state;
    uint32_t joins = 0;
    print_message("seeds 1 to 3000\n");
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        joins += check_queue(seed, (model_mix)(seed % MIX_COUNT), 2 + (uint32_t)(seed % 17),
                             (uint32_t)(seed % 83));
    }
    assert_true(joins > 1000);
}

static void test_queues_of_every_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        for (uint32_t mix = 0; mix < MIX_COUNT; mix++) {
            print_message("seed %u\n", sizes[s] + mix);
            check_queue(sizes[s] + mix, (model_mix)mix, sizes[s] > 4097 ? MODEL_BIG : MODEL_HANDLES,
                        sizes[s]);
        }
    }
}

static void close_over(bool *reach, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = 0; reach[i * count + k] && j < count; j++) {
                reach[i * count + j] |= reach[k * count + j];
            }
        }
    }
}

static void test_edges_and_joins_order_just_the_pairs_that_conflict(void **state)
{
    (void)state;
    print_message("seeds 1 to 600\n");
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint32_t count = 2 + (uint32_t)(seed % 41);
        vyre_work_item *items =
            make_items(seed, (model_mix)(seed % MIX_COUNT), 2 + (uint32_t)(seed % 13), count);
        planned p;
        plan(&p, items, count);
        const uint32_t nodes = p.graph.node_count;
        bool *by_edges = calloc((size_t)nodes * nodes, sizeof *by_edges);
        bool *by_pairs = calloc((size_t)count * count, sizeof *by_pairs);
        assert_non_null(by_edges);
        assert_non_null(by_pairs);
        for (uint32_t i = 0; i < p.graph.edge_count; i++) {
            by_edges[p.graph.edges[i].from * nodes + p.graph.edges[i].to] = true;
        }
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < i; k++) {
                model_touch a = model_touch_of(&items[k]), b = model_touch_of(&items[i]);
                by_pairs[k * count + i] = model_conflict(&items[k], &a, &items[i], &b);
            }
        }
        close_over(by_edges, nodes);
        close_over(by_pairs, count);
        for (uint32_t i = 0; i < count * count; i++) {
            assert_int_equal(by_edges[i / count * nodes + i % count], by_pairs[i]);
        }
        free(by_edges);
        free(by_pairs);
        vy_arena_finish(&p.arena);
        free(items);
    }
}

static void test_edges_are_linear_in_the_worst_patterns(void **state)
{
    (void)state;
    const uint32_t count = 100000;
    vyre_work_item *items = calloc(count, sizeof *items);
    assert_non_null(items);
    for (uint32_t pattern = 0; pattern < 6; pattern++) {
        for (uint32_t i = 0; i < count; i++) {
            const vyre_work_item by_pattern[] = {
                /* Many updates, then many readers; and the other way round. */
                {i < count / 2 ? OP_ADD : OP_LOOK, i < count / 2 ? 3 : 2, 2, i},
                {i < count / 2 ? OP_LOOK : OP_ADD, i < count / 2 ? 2 : 3, 2, i},
                /* Many words and many readers of all, in turn, and one after the other. */
                {i % 2 ? OP_SUM_CONTROL : (uint32_t)VYRE_OPCODE_STORE_U32, 1, i, 0},
                {i < count / 2 ? OP_SUM_CONTROL : (uint32_t)VYRE_OPCODE_STORE_U32, 1, i, 0},
                {i % 100 ? OP_COPY : OP_ALL, i, i + 1000000, 0},
                {OP_COPY, i, i + 1, 0},
            };
            items[i] = by_pattern[pattern];
        }
        planned p;
        plan(&p, items, count);
        assert_true(p.graph.edge_count <= 4 * count);
        assert_true(p.graph.node_count <= 2 * count);
        static const uint32_t waves[] = {2, 2, 100000, 2, 2000, 100000};
        assert_int_equal(p.waves.wave_count, waves[pattern]);
        vy_arena_finish(&p.arena);
    }
    free(items);
}

/* ---- Limits and failures --------------------------------------------------------------------- */

static void test_bad_calls_are_refused(void **state)
{
    (void)state;
    const vyre_work_item item = {0, 0, 0, 0};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_graph graph;
    vyre_diag diag;
    assert_int_equal(vy_mk_graph_build(&arena, NULL, &item, 1ull << 32, &graph, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(vy_mk_graph_build(&arena, NULL, NULL, 1, &graph, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(graph.node_count, 0);
    vy_arena_finish(&arena);
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    vyre_work_item *items = make_items(5, MIX_ALL, MODEL_HANDLES, 4097);
    vy_arena table_arena;
    vy_arena_init(&table_arena, NULL);
    vy_mk_effects table;
    assert_int_equal(
        vy_mk_effects_init(&table, &table_arena, model_handlers, model_handler_count, NULL),
        VYRE_OK);
    size_t needed = 0;
    for (size_t fail_at = 0; fail_at <= needed; fail_at++) {
        vy_fail_allocator failing = {.fail_at = fail_at};
        vyre_allocator allocator = vy_fail_allocator_get(&failing);
        vy_arena arena;
        vy_arena_init(&arena, &allocator);
        vy_mk_graph graph;
        vy_mk_waves waves = {.wave_count = 0};
        vyre_diag diag;
        vyre_result result = vy_mk_graph_build(&arena, &table, items, 4097, &graph, &diag);
        assert_true(result == VYRE_OK || graph.edges == NULL);
        if (result == VYRE_OK) {
            result = vy_mk_waves_build(&arena, &graph, &waves, &diag);
            assert_true(result == VYRE_OK || waves.waves == NULL);
        }
        assert_int_equal(result, fail_at ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        assert_int_equal(diag.code, result);
        needed = fail_at ? needed : failing.calls;
        vy_arena_finish(&arena);
        assert_int_equal(failing.live_blocks, 0);
    }
    assert_true(needed > 5);
    vy_arena_finish(&table_arena);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtins_are_ordered_by_their_words),
        cmocka_unit_test(test_wide_accesses_meet_every_word),
        cmocka_unit_test(test_handlers_are_ordered_by_their_handles),
        cmocka_unit_test(test_few_edges_say_which_hazard_they_are),
        cmocka_unit_test(test_random_queues_have_the_fewest_waves_and_the_same_memory),
        cmocka_unit_test(test_queues_of_every_size),
        cmocka_unit_test(test_edges_and_joins_order_just_the_pairs_that_conflict),
        cmocka_unit_test(test_edges_are_linear_in_the_worst_patterns),
        cmocka_unit_test(test_bad_calls_are_refused),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

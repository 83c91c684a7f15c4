/* Duplicates: vectors, a brute-force rule, and the same memory with and without them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/megakernel/prune.h"
#include "tests/megakernel/queue_model.h"
#include "tests/support/fail_allocator.h"

static const uint32_t sizes[] = {0, 1, 2, 255, 256, 257, 4096, 4097, 100000};

static vy_mk_effects handlers_in(vy_arena *arena)
{
    vy_mk_effects table;
    assert_int_equal(vy_mk_effects_init(&table, arena, model_handlers, model_handler_count, NULL),
                     VYRE_OK);
    return table;
}

/* Which of the items are dropped, as text: '.' kept, a digit: the early one. */
static void expect(const vyre_work_item *items, uint32_t count, vy_mk_prune_rule rule,
                   const char *expected)
{
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_effects table = handlers_in(&arena);
    vy_mk_pruned pruned;
    assert_int_equal(vy_mk_prune(&arena, &table, rule, items, count, &pruned, NULL), VYRE_OK);
    char got[32] = {0};
    memset(got, '.', count);
    for (uint32_t i = 0; i < pruned.pair_count; i++) {
        got[pruned.pairs[i].late] = (char)('0' + pruned.pairs[i].early);
    }
    assert_string_equal(got, expected);
    assert_int_equal(pruned.item_count + pruned.pair_count, count);
    if (pruned.pair_count == 0) {
        assert_ptr_equal(pruned.items, items);
        assert_null(pruned.pairs);
    }
    vy_arena_finish(&arena);
}

#define EXPECT(expected, ...)                                                                      \
    do {                                                                                           \
        const vyre_work_item items_[] = {__VA_ARGS__};                                             \
        expect(items_, VY_COUNT_OF(items_), VY_MK_PRUNE_BY_EFFECTS, (expected));                   \
    } while (0)
#define NOP_                                                                                       \
    {                                                                                              \
        VYRE_OPCODE_NOP, 0, 0, 0                                                                   \
    }
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
#define COPY(a, b)                                                                                 \
    {                                                                                              \
        OP_COPY, a, b, 0                                                                           \
    }
#define MOVE(a, b, n)                                                                              \
    {                                                                                              \
        VYRE_OPCODE_MEMCPY, a, b, n                                                                \
    }

static void test_duplicates_are_dropped_where_nobody_sees_it(void **state)
{
    (void)state;
    EXPECT(".0", NOP_, NOP_);
    EXPECT(".00", STORE(1, 170), STORE(1, 170), STORE(1, 170));
    EXPECT("..", STORE(1, 170), STORE(2, 170));
    EXPECT("..", STORE(1, 170), STORE(1, 171));
    EXPECT("..", ADD(1, 170), ADD(1, 170));
    EXPECT("...", STORE(1, 170), STORE(2, 170), STORE(1, 170));
    EXPECT("...", STORE(1, 170), ADD(1, 170), STORE(1, 170));
    EXPECT("...", STORE(1, 170), LOAD(170, 0), STORE(1, 170));
    EXPECT("..0", STORE(1, 170), STORE(1, 171), STORE(1, 170));
    /* What is kept again is what later ones are compared with. */
    EXPECT("...2", STORE(1, 170), STORE(2, 170), STORE(1, 170), STORE(1, 170));
    EXPECT(".0", LOAD(170, 0), LOAD(170, 0));
    EXPECT("...", LOAD(170, 0), STORE(1, 170), LOAD(170, 0));
    EXPECT("...", LOAD(170, 0), STORE(1, 160), LOAD(170, 0)); /* observable 0 */
    EXPECT("..0", LOAD(170, 0), LOAD(170, 1), LOAD(170, 0));
    EXPECT("..", LOAD(160, 0), LOAD(160, 0)); /* writes its own input */
    EXPECT("..0", COPY(1, 2), COPY(1, 3), COPY(1, 2));
    EXPECT("...", COPY(1, 2), COPY(3, 1), COPY(1, 2));
    EXPECT("...", COPY(1, 2), COPY(2, 3), COPY(1, 2)); /* its output is read */
    EXPECT("..", COPY(1, 1), COPY(1, 1));
    /* Spaces are apart. */
    EXPECT("..0", COPY(1, 170), STORE(9, 170), COPY(1, 170));
    EXPECT("..", {OP_OPAQUE, 1, 2, 3}, {OP_OPAQUE, 1, 2, 3});
    EXPECT("..", {OP_UNDECLARED, 1, 2, 3}, {OP_UNDECLARED, 1, 2, 3});
    EXPECT("...", COPY(1, 2), {OP_UNDECLARED, 5, 1, 3}, COPY(1, 2));
    EXPECT("..0", COPY(1, 2), {OP_UNDECLARED, 5, 6, 3}, COPY(1, 2));
    EXPECT("...", NOP_, {OP_ALL, 0, 0, 0}, NOP_);
    EXPECT("..", {OP_ALL, 0, 0, 0}, {OP_ALL, 0, 0, 0});
    EXPECT(".0", {OP_OR, 1, 2, 3}, {OP_OR, 1, 2, 3});
    EXPECT("...", {OP_OR, 1, 2, 3}, {OP_XOR, 1, 2, 3}, {OP_OR, 1, 2, 3});
    EXPECT(".0", {OP_LOOK, 1, 2, 3}, {OP_LOOK, 1, 2, 3});
}

static void test_duplicates_over_control_as_a_whole(void **state)
{
    (void)state;
    EXPECT(".0", MOVE(170, 180, 4), MOVE(170, 180, 4));
    EXPECT("...", MOVE(170, 180, 4), STORE(1, 173), MOVE(170, 180, 4));
    EXPECT("...", MOVE(170, 180, 4), STORE(1, 183), MOVE(170, 180, 4));
    EXPECT("..0", MOVE(170, 180, 4), STORE(1, 184), MOVE(170, 180, 4));
    EXPECT("..", MOVE(171, 170, 4), MOVE(171, 170, 4)); /* moves it by two words */
    EXPECT("..", MOVE(170, 400, 65), MOVE(170, 400, 65));
    EXPECT("...", STORE(1, 170), MOVE(300, 400, 65), STORE(1, 170));
    EXPECT("...", STORE(1, 170), {OP_PUT_CONTROL, 1, 2, 3}, STORE(1, 170));
    EXPECT("...", STORE(1, 170), {OP_SUM_CONTROL, 1, 2, 3}, STORE(1, 170));
    EXPECT(".0", {OP_SUM_CONTROL, 1, 2, 3}, {OP_SUM_CONTROL, 1, 2, 3});
    EXPECT("...", {OP_SUM_CONTROL, 1, 2, 3}, ADD(1, 170), {OP_SUM_CONTROL, 1, 2, 3});
    EXPECT("..0", {OP_SUM_CONTROL, 1, 2, 3}, COPY(4, 5), {OP_SUM_CONTROL, 1, 2, 3});
}

static void test_the_unconditional_rule_drops_all(void **state)
{
    (void)state;
    const vyre_work_item items[] = {ADD(1, 170), STORE(2, 170),     ADD(1, 170), {OP_ALL, 0, 0, 0},
                                    ADD(1, 170), {OP_ALL, 0, 0, 0}, ADD(1, 171)};
    expect(items, VY_COUNT_OF(items), VY_MK_PRUNE_UNCONDITIONAL, "..0.03.");
}

static bool may_drop(const vyre_work_item *items, const model_touch *touches, const bool *kept,
                     uint32_t early, uint32_t late)
{
    const model_touch *mine = &touches[late];
    if (!mine->may_repeat || model_meet(&mine->inputs, &mine->writes)) {
        return false;
    }
    for (uint32_t i = early + 1; i < late; i++) {
        const model_touch *other = &touches[i];
        if (kept[i] && (other->orders_all || model_meet(&other->writes, &mine->reads) ||
                        model_meet(&other->writes, &mine->writes) ||
                        model_meet(&other->reads, &mine->writes))) {
            return false;
        }
    }
    return memcmp(&items[early], &items[late], sizeof *items) == 0;
}

static void check_rule(const vyre_work_item *items, uint32_t count, const vy_mk_pruned *pruned,
                       vy_mk_prune_rule rule)
{
    model_touch *touches = calloc(count ? count : 1, sizeof *touches);
    bool *kept = calloc(count ? count : 1, sizeof *kept);
    assert_non_null(touches);
    assert_non_null(kept);
    uint32_t next = 0, kept_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        touches[i] = model_touch_of(&items[i]);
        uint32_t early = i;
        for (uint32_t k = i; early == i && k-- > 0;) {
            early = kept[k] && memcmp(&items[k], &items[i], sizeof *items) == 0 ? k : i;
        }
        kept[i] = early == i ||
                  (rule == VY_MK_PRUNE_BY_EFFECTS && !may_drop(items, touches, kept, early, i));
        if (kept[i]) {
            assert_true(kept_count < pruned->item_count);
            assert_memory_equal(&pruned->items[kept_count++], &items[i], sizeof *items);
        } else {
            assert_true(next < pruned->pair_count);
            assert_int_equal(pruned->pairs[next].early, early);
            assert_int_equal(pruned->pairs[next++].late, i);
        }
    }
    assert_int_equal(kept_count, pruned->item_count);
    assert_int_equal(next, pruned->pair_count);
    free(touches);
    free(kept);
}

static void check_memory(const vyre_work_item *items, uint32_t count, const vy_mk_pruned *pruned)
{
    static model_memory all, some;
    model_memory_init(&all);
    model_memory_init(&some);
    for (uint32_t i = 0; i < count; i++) {
        model_run(&all, &items[i]);
    }
    for (uint32_t i = 0; i < pruned->item_count; i++) {
        model_run(&some, &pruned->items[i]);
    }
    assert_memory_equal(&all, &some, sizeof all);
}

/* Returns how many were dropped. */
static uint32_t check_queue(uint64_t seed, model_mix mix, uint32_t handles, uint32_t count,
                            bool with_rule)
{
    vyre_work_item *items = calloc(count ? count : 1, sizeof *items);
    assert_non_null(items);
    model_make(&seed, mix, handles, items, count);
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_effects table = handlers_in(&arena);
    vy_mk_pruned pruned, all;
    assert_int_equal(
        vy_mk_prune(&arena, &table, VY_MK_PRUNE_BY_EFFECTS, items, count, &pruned, NULL), VYRE_OK);
    assert_int_equal(
        vy_mk_prune(&arena, &table, VY_MK_PRUNE_UNCONDITIONAL, items, count, &all, NULL), VYRE_OK);
    assert_true(all.pair_count >= pruned.pair_count);
    check_memory(items, count, &pruned);
    if (with_rule) {
        check_rule(items, count, &pruned, VY_MK_PRUNE_BY_EFFECTS);
        check_rule(items, count, &all, VY_MK_PRUNE_UNCONDITIONAL);
    }
    vy_arena_finish(&arena);
    free(items);
    return pruned.pair_count;
}

static void test_random_queues_keep_the_rule_and_the_memory(void **state)
{
    (void)state;
    uint32_t dropped = 0;
    print_message("seeds 1 to 3000\n");
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        dropped += check_queue(seed, (model_mix)(seed % MIX_COUNT), 2 + (uint32_t)(seed % 7),
                               (uint32_t)(seed % 61), true);
    }
    assert_true(dropped > 5000);
}

static void test_queues_of_every_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        for (uint32_t mix = 0; mix < MIX_COUNT; mix++) {
            print_message("seed %u\n", sizes[s] + mix);
            check_queue(sizes[s] + mix, (model_mix)mix, sizes[s] > 4097 ? MODEL_BIG : MODEL_HANDLES,
                        sizes[s], sizes[s] <= 4097);
        }
    }
}

/* Allocations that pruning needs. */
static size_t count_allocations(const vyre_work_item *items, uint32_t count)
{
    vy_fail_allocator counting = {.fail_at = 0};
    vyre_allocator allocator = vy_fail_allocator_get(&counting);
    vy_arena arena;
    vy_arena_init(&arena, &allocator);
    vy_mk_pruned pruned;
    for (int rule = 0; rule < 2; rule++) {
        assert_int_equal(
            vy_mk_prune(&arena, NULL, (vy_mk_prune_rule)rule, items, count, &pruned, NULL),
            VYRE_OK);
        assert_int_equal(pruned.item_count, count);
        assert_int_equal(pruned.pair_count, 0);
    }
    vy_arena_finish(&arena);
    assert_int_equal(counting.live_blocks, 0);
    return counting.calls;
}

static void test_different_outputs_in_a_window_allocate_nothing(void **state)
{
    (void)state;
    static vyre_work_item items[4097];
    for (uint32_t i = 0; i < 4097; i++) {
        /* A permutation of the window, high up. */
        items[i] = (vyre_work_item){VYRE_OPCODE_STORE_U32, 5, 0xfffff000u + (i * 1021 & 4095), 0};
    }
    assert_int_equal(count_allocations(items, 0), 0);
    assert_int_equal(count_allocations(items, 1), 0);
    assert_int_equal(count_allocations(items, 2), 0);
    assert_int_equal(count_allocations(items, 4096), 0);
    items[4096] = (vyre_work_item){VYRE_OPCODE_STORE_U32, 5, 7, 0};
    assert_true(count_allocations(items, 4097) > 0);
    items[1].output = items[0].output;
    items[1].input = 6;
    assert_true(count_allocations(items, 2) > 0);
    items[0].output = 100;
    items[1].output = 100 + 4095;
    assert_int_equal(count_allocations(items, 2), 0);
    items[1].output = 100 + 4096;
    assert_true(count_allocations(items, 2) > 0);
}

static void test_credit_is_given_on_full_completion(void **state)
{
    (void)state;
    const vy_mk_pair pairs[] = {{0, 1}, {0, 3}, {2, 4}};
    assert_int_equal(vy_mk_prune_credit(pairs, 3, 5, 2, 0), 0);
    assert_int_equal(vy_mk_prune_credit(pairs, 3, 5, 2, 1), 1);
    assert_int_equal(vy_mk_prune_credit(pairs, 3, 5, 2, 2), 5);
    assert_int_equal(vy_mk_prune_credit(pairs, 3, 5, 2, 9), 5);
    assert_int_equal(vy_mk_prune_credit(NULL, 0, 2, 2, 2), 2);
    assert_int_equal(vy_mk_prune_credit(NULL, 0, 0, 0, 0), 0);
    const vy_mk_pair bad[] = {{0, 1}, {0, 5}, {3, 3}, {4, 2}, {UINT32_MAX, UINT32_MAX}};
    assert_int_equal(vy_mk_prune_credit(bad, 5, 5, 2, 2), 3);
    const vy_mk_pair same[] = {{0, 1}, {0, 1}, {0, 1}};
    assert_int_equal(vy_mk_prune_credit(same, 3, 2, 1, 1), 2);
}

static void test_bad_calls_are_refused(void **state)
{
    (void)state;
    const vyre_work_item item = {0, 0, 0, 0};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_pruned pruned;
    vyre_diag diag;
    assert_int_equal(
        vy_mk_prune(&arena, NULL, VY_MK_PRUNE_BY_EFFECTS, &item, 1ull << 32, &pruned, &diag),
        VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_null(pruned.items);
    assert_int_equal(vy_mk_prune(&arena, NULL, VY_MK_PRUNE_BY_EFFECTS, NULL, 1, &pruned, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(vy_mk_prune(&arena, NULL, (vy_mk_prune_rule)2, &item, 1, &pruned, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    vy_arena_finish(&arena);
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static vyre_work_item items[4097];
    uint64_t seed = 11;
    model_make(&seed, MIX_ALL, MODEL_HANDLES, items, 4097);
    for (int rule = 0; rule < 2; rule++) {
        size_t needed = 0;
        for (size_t fail_at = 0; fail_at <= needed; fail_at++) {
            vy_arena table_arena, arena;
            vy_arena_init(&table_arena, NULL);
            vy_mk_effects table = handlers_in(&table_arena);
            vy_fail_allocator failing = {.fail_at = fail_at};
            vyre_allocator allocator = vy_fail_allocator_get(&failing);
            vy_arena_init(&arena, &allocator);
            vy_mk_pruned pruned;
            vyre_diag diag;
            vyre_result result =
                vy_mk_prune(&arena, &table, (vy_mk_prune_rule)rule, items, 4097, &pruned, &diag);
            assert_int_equal(result, fail_at ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
            assert_int_equal(diag.code, result);
            assert_true(fail_at == 0 || pruned.items == NULL);
            needed = fail_at ? needed : failing.calls;
            vy_arena_finish(&arena);
            vy_arena_finish(&table_arena);
            assert_int_equal(failing.live_blocks, 0);
        }
        assert_true(needed > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duplicates_are_dropped_where_nobody_sees_it),
        cmocka_unit_test(test_duplicates_over_control_as_a_whole),
        cmocka_unit_test(test_the_unconditional_rule_drops_all),
        cmocka_unit_test(test_random_queues_keep_the_rule_and_the_memory),
        cmocka_unit_test(test_queues_of_every_size),
        cmocka_unit_test(test_different_outputs_in_a_window_allocate_nothing),
        cmocka_unit_test(test_credit_is_given_on_full_completion),
        cmocka_unit_test(test_bad_calls_are_refused),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

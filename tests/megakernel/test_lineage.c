/* Lineage: vectors, and closures by Floyd and Warshall over pairs of items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/megakernel/lineage.h"
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

static vy_mk_lineage flow_of(vy_arena *arena, const vyre_work_item *items, uint32_t count,
                             const vy_mk_lineage_params *params)
{
    vy_mk_effects table = handlers_in(arena);
    vy_mk_graph graph;
    vy_mk_lineage lineage;
    assert_int_equal(vy_mk_graph_build(arena, &table, items, count, &graph, NULL), VYRE_OK);
    assert_int_equal(vy_mk_lineage_by_flow(arena, items, count, &graph, params, &lineage, NULL),
                     VYRE_OK);
    return lineage;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void test_a_region_has_the_opcodes_of_its_items(void **state)
{
    (void)state;
    const vyre_work_item items[] = {{7, 0, 0, 0}, {7, 0, 0, 0}, {9, 0, 0, 0}};
    const vy_mk_neighbours neighbours[] = {{0, 1}};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_lineage lineage;
    assert_int_equal(vy_mk_lineage_by_region(&arena, items, 3, neighbours, 1, NULL, &lineage, NULL),
                     VYRE_OK);
    assert_int_equal(lineage.item_count, 3);
    assert_int_equal(lineage.folded[0], 0x80);
    assert_int_equal(lineage.folded[1], 0x80);
    assert_int_equal(lineage.folded[2], 0x200);
    assert_int_equal(lineage.opcode_count, 2);
    assert_int_equal(lineage.opcodes[0], 7);
    assert_int_equal(lineage.opcodes[1], 9);
    assert_int_equal(lineage.set_words, 1);
    assert_true(lineage.sets[0] == 1 && lineage.sets[1] == 1 && lineage.sets[2] == 2);
    vy_arena_finish(&arena);
}

static void test_folding_aliases_and_sets_do_not(void **state)
{
    (void)state;
    const vyre_work_item items[] = {{8, 0, 0, 0}, {40, 0, 0, 0}, {9, 0, 0, 0}};
    const vy_mk_neighbours neighbours[] = {{2, 1}, {1, 1}, {2, 1}};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_lineage lineage;
    assert_int_equal(vy_mk_lineage_by_region(&arena, items, 3, neighbours, 3, NULL, &lineage, NULL),
                     VYRE_OK);
    assert_int_equal(lineage.folded[0], 0x100);
    assert_int_equal(lineage.folded[1], 0x300);
    assert_int_equal(lineage.folded[2], 0x300);
    assert_true(lineage.sets[0] == 1 && lineage.sets[1] == 6 && lineage.sets[2] == 6);
    vy_arena_finish(&arena);
}

static void test_opcodes_flow_along_hazards(void **state)
{
    (void)state;
    /* 1 -> 2 -> 3, and a copy that overwrites 1 afterwards: it must wait, and nothing flows. */
    const vyre_work_item items[] = {
        {OP_COPY, 1, 2, 0}, {OP_XOR, 2, 3, 0}, {OP_SET_INPUT, 1, 9, 0}, {OP_LOOK, 3, 0, 0}};
    const uint32_t copy = 1u << OP_COPY, xor = 1u << OP_XOR, set = 1u << OP_SET_INPUT;
    const uint32_t look = 1u << OP_LOOK;
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_lineage all = flow_of(&arena, items, 4, NULL);
    assert_int_equal(all.folded[0], copy);
    assert_int_equal(all.folded[1], copy | xor);
    assert_int_equal(all.folded[2], copy | set);
    assert_int_equal(all.folded[3], copy | xor | look);
    vy_mk_lineage data = flow_of(&arena, items, 4, &(vy_mk_lineage_params){0, VY_MK_RAW});
    assert_int_equal(data.folded[0], copy);
    assert_int_equal(data.folded[1], copy | xor);
    assert_int_equal(data.folded[2], set);
    assert_int_equal(data.folded[3], copy | xor | look);
    vy_arena_finish(&arena);
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* The control words, where all of them are read. */
static model_set all_words_of(const model_touch *touch)
{
    model_set words = {{0}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < MODEL_WORDS; i++) {
        count += (touch->reads.bits[i / 64] >> i % 64 & 1) != 0;
        words.bits[i / 64] |= (uint64_t)1 << i % 64;
    }
    return count == MODEL_WORDS ? words : (model_set){{0}};
}

/* Whether what a wrote may be part of what b reads: no item between writes it without reading it,
 * unless b reads all control words. What updates of one commutative opcode read of each other is no
 * item's own. */
static bool flows(const vyre_work_item *items, const model_touch *touches, uint32_t a, uint32_t b)
{
    const model_touch *ta = &touches[a], *tb = &touches[b];
    if (ta->orders_all || tb->orders_all) {
        return true;
    }
    const model_set kept = all_words_of(tb);
    model_set open = {{0}};
    for (uint32_t i = 0; i < SET_WORDS; i++) {
        open.bits[i] = ta->writes.bits[i];
        if (items[a].opcode == items[b].opcode) {
            open.bits[i] &= ~(ta->updates.bits[i] & tb->updates.bits[i]);
        }
        for (uint32_t k = a + 1; k < b; k++) {
            open.bits[i] &=
                ~(touches[k].writes.bits[i] & ~touches[k].reads.bits[i] & ~kept.bits[i]);
        }
    }
    return model_meet(&open, &tb->reads);
}

static void check_closure(const vyre_work_item *items, uint32_t count, bool is_data,
                          const vy_mk_lineage *lineage)
{
    bool *reach = calloc((size_t)count * count + 1, sizeof *reach);
    model_touch *touches = calloc(count + 1, sizeof *touches);
    assert_non_null(reach);
    assert_non_null(touches);
    for (uint32_t i = 0; i < count; i++) {
        touches[i] = model_touch_of(&items[i]);
        reach[i * count + i] = true;
        for (uint32_t k = 0; k < i; k++) {
            reach[k * count + i] =
                is_data ? flows(items, touches, k, i)
                        : model_conflict(&items[k], &touches[k], &items[i], &touches[i]);
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = 0; reach[i * count + k] && j < count; j++) {
                reach[i * count + j] |= reach[k * count + j];
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t folded = 0;
        uint64_t set[4] = {0};
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t o = 0; reach[k * count + i] && o < lineage->opcode_count; o++) {
                if (lineage->opcodes[o] == items[k].opcode) {
                    set[o / 64] |= (uint64_t)1 << o % 64;
                    folded |= 1u << items[k].opcode % 32;
                }
            }
        }
        assert_int_equal(lineage->folded[i], folded);
        assert_memory_equal(lineage->sets + (size_t)i * lineage->set_words, set,
                            lineage->set_words * sizeof *set);
    }
    free(reach);
    free(touches);
}

static void check_flow(uint64_t seed, model_mix mix, uint32_t handles, uint32_t count)
{
    vyre_work_item *items = calloc(count + 1, sizeof *items);
    assert_non_null(items);
    model_make(&seed, mix, handles, items, count);
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    for (int is_data = 0; is_data < 2; is_data++) {
        const vy_mk_lineage_params params = {count, is_data ? VY_MK_RAW : 0};
        vy_mk_lineage lineage = flow_of(&arena, items, count, &params);
        assert_int_equal(lineage.item_count, count);
        check_closure(items, count, is_data, &lineage);
    }
    vy_arena_finish(&arena);
    free(items);
}

static void test_flow_is_the_closure_over_all_pairs(void **state)
{
    (void)state;
    print_message("seeds 1 to 1500\n");
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        check_flow(seed, (model_mix)(seed % MIX_COUNT), 2 + (uint32_t)(seed % 17),
                   (uint32_t)(seed % 47));
    }
    for (uint32_t count = 255; count <= 257; count++) {
        check_flow(count, MIX_FEW, MODEL_HANDLES, count);
    }
}

static void test_regions_are_connected_components(void **state)
{
    (void)state;
    print_message("seeds 1 to 400\n");
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = seed;
        const uint32_t count = 1 + (uint32_t)(seed % 60);
        vyre_work_item items[60];
        vy_mk_neighbours pairs[60];
        bool reach[60][60] = {{false}};
        const uint32_t pair_count = model_random(&random, count);
        for (uint32_t i = 0; i < count; i++) {
            items[i] = (vyre_work_item){model_random(&random, 90), 0, 0, 0};
            reach[i][i] = true;
        }
        for (uint32_t i = 0; i < pair_count; i++) {
            pairs[i] =
                (vy_mk_neighbours){model_random(&random, count), model_random(&random, count)};
            reach[pairs[i].a][pairs[i].b] = reach[pairs[i].b][pairs[i].a] = true;
        }
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t i = 0; i < count; i++) {
                for (uint32_t j = 0; j < count; j++) {
                    reach[i][j] |= reach[i][k] && reach[k][j];
                }
            }
        }
        vy_arena arena;
        vy_arena_init(&arena, NULL);
        vy_mk_lineage lineage;
        assert_int_equal(
            vy_mk_lineage_by_region(&arena, items, count, pairs, pair_count, NULL, &lineage, NULL),
            VYRE_OK);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t set[2] = {0};
            for (uint32_t k = 0; k < count; k++) {
                for (uint32_t o = 0; reach[i][k] && o < lineage.opcode_count; o++) {
                    set[o / 64] |= (uint64_t)(lineage.opcodes[o] == items[k].opcode) << o % 64;
                }
            }
            assert_memory_equal(lineage.sets + (size_t)i * lineage.set_words, set,
                                lineage.set_words * sizeof *set);
        }
        vy_arena_finish(&arena);
    }
}

/* ---- Limits and failures --------------------------------------------------------------------- */

static void test_lineage_is_empty_above_its_limits(void **state)
{
    (void)state;
    vyre_work_item *items = calloc(100000, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < 100000; i++) {
        items[i] = (vyre_work_item){0x10000 + i, 1, 2, 0}; /* all of it one chain */
    }
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        for (uint32_t opcodes = 1; opcodes <= 257; opcodes += 256 - opcodes % 2) {
            const uint32_t count = sizes[s];
            for (uint32_t i = 0; i < count; i++) {
                items[i].opcode = 0x10000 + i % opcodes;
            }
            const vy_mk_lineage_params wide = {UINT32_MAX, 0};
            vy_mk_lineage few = flow_of(&arena, items, count, NULL);
            vy_mk_lineage many = flow_of(&arena, items, count, &wide);
            const uint32_t different = count < opcodes ? count : opcodes;
            assert_int_equal(few.item_count, count <= 256 ? count : 0);
            assert_int_equal(many.item_count, different <= 256 ? count : 0);
            assert_true(few.item_count > 0 || (!few.sets && !few.folded && !few.opcodes));
            assert_true(many.item_count > 0 || (!many.sets && !many.folded && !many.opcodes));
            /* The last one of the chain has them all. */
            uint64_t bits = 0;
            for (uint32_t w = 0; w < many.set_words; w++) {
                uint64_t word = many.sets[(size_t)(count - 1) * many.set_words + w];
                for (; word; word &= word - 1) {
                    bits++;
                }
            }
            assert_int_equal(bits, many.item_count ? different : 0);
        }
    }
    vy_arena_finish(&arena);
    free(items);
}

static void test_bad_calls_are_refused(void **state)
{
    (void)state;
    const vyre_work_item items[] = {{8, 1, 2, 0}, {8, 1, 2, 0}};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_graph graph;
    assert_int_equal(vy_mk_graph_build(&arena, NULL, items, 2, &graph, NULL), VYRE_OK);
    vy_mk_lineage lineage;
    vyre_diag diag;
    const vy_mk_lineage_params bad = {0, 8};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(vy_mk_lineage_by_flow(&arena, i == 0 ? NULL : items,
                                               i == 1   ? 1ull << 32
                                               : i == 2 ? 1
                                                        : 2,
                                               &graph, i == 3 ? &bad : NULL, &lineage, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "Fix: "));
    }
    const vy_mk_neighbours beyond[] = {{0, 1}, {0, 2}};
    assert_int_equal(vy_mk_lineage_by_region(&arena, items, 2, beyond, 2, NULL, &lineage, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "pair 1"));
    assert_int_equal(vy_mk_lineage_by_region(&arena, items, 2, NULL, 2, NULL, &lineage, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(lineage.item_count, 0);
    vy_arena_finish(&arena);
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static vyre_work_item items[4097];
    uint64_t seed = 5;
    model_make(&seed, MIX_ALL, MODEL_HANDLES, items, 4097);
    const vy_mk_neighbours pair = {0, 4096};
    const vy_mk_lineage_params params = {4097, 0};
    vy_arena graph_arena;
    vy_arena_init(&graph_arena, NULL);
    vy_mk_effects table = handlers_in(&graph_arena);
    vy_mk_graph graph;
    assert_int_equal(vy_mk_graph_build(&graph_arena, &table, items, 4097, &graph, NULL), VYRE_OK);
    for (int by_region = 0; by_region < 2; by_region++) {
        size_t needed = 0;
        for (size_t fail_at = 0; fail_at <= needed; fail_at++) {
            vy_fail_allocator failing = {.fail_at = fail_at};
            vyre_allocator allocator = vy_fail_allocator_get(&failing);
            vy_arena arena;
            vy_arena_init(&arena, &allocator);
            vy_mk_lineage lineage;
            vyre_diag diag;
            vyre_result result = by_region ? vy_mk_lineage_by_region(&arena, items, 4097, &pair, 1,
                                                                     &params, &lineage, &diag)
                                           : vy_mk_lineage_by_flow(&arena, items, 4097, &graph,
                                                                   &params, &lineage, &diag);
            assert_int_equal(result, fail_at ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
            assert_int_equal(diag.code, result);
            assert_int_equal(lineage.item_count, fail_at ? 0 : 4097);
            needed = fail_at ? needed : failing.calls;
            vy_arena_finish(&arena);
            assert_int_equal(failing.live_blocks, 0);
        }
        assert_true(needed > 1);
    }
    vy_arena_finish(&graph_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_region_has_the_opcodes_of_its_items),
        cmocka_unit_test(test_folding_aliases_and_sets_do_not),
        cmocka_unit_test(test_opcodes_flow_along_hazards),
        cmocka_unit_test(test_flow_is_the_closure_over_all_pairs),
        cmocka_unit_test(test_regions_are_connected_components),
        cmocka_unit_test(test_lineage_is_empty_above_its_limits),
        cmocka_unit_test(test_bad_calls_are_refused),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

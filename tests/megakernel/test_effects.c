/* The table of built-ins' effects, the lookup of handlers', and the places of an item. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/megakernel/effects.h"
#include "tests/support/fail_allocator.h"

static void expect(const vy_mk_accesses *list, uint32_t index, vy_mk_space space, uint64_t place,
                   uint32_t modes)
{
    assert_true(index < list->count);
    assert_int_equal(list->at[index].space, space);
    assert_true(list->at[index].place == place);
    assert_int_equal(list->at[index].modes, modes);
}

static const uint32_t reads_input = VY_MK_READ | VY_MK_AS_INPUT;
static const uint32_t update = VY_MK_READ | VY_MK_WRITE | VY_MK_COMMUTE;

static void test_builtins_have_their_documented_effects(void **state)
{
    (void)state;
    static const vy_mk_handler rows[] = {
        {VYRE_OPCODE_NOP, VY_MK_PURE | VY_MK_IDEMPOTENT},
        {VYRE_OPCODE_STORE_U32, VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT},
        {VYRE_OPCODE_ATOMIC_ADD, VY_MK_READS_OUTPUT | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE},
        {VYRE_OPCODE_LOAD_U32, VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT},
        {VYRE_OPCODE_COMPARE_SWAP, VY_MK_READS_INPUT | VY_MK_WRITES_INPUT | VY_MK_WRITES_CONTROL},
        {VYRE_OPCODE_MEMCPY, VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT},
        {VYRE_OPCODE_DFA_STEP, 0},
        {VYRE_OPCODE_BATCH_FENCE, VY_MK_READS_CONTROL | VY_MK_WRITES_CONTROL},
        {VYRE_OPCODE_LOAD_MISS, VY_MK_OPAQUE | VY_MK_ORDERS_ALL},
        {VYRE_OPCODE_PRINTF, 0},
        {(uint32_t)VYRE_OPCODE_PACKED_SLOT, VY_MK_OPAQUE | VY_MK_ORDERS_ALL},
        {(uint32_t)VYRE_OPCODE_SHUTDOWN, VY_MK_WRITES_CONTROL | VY_MK_ORDERS_ALL},
        {8, VY_MK_OPAQUE},
        {0xffef, VY_MK_OPAQUE},
        {0xfff0, VY_MK_OPAQUE},
        {0x7fffffff, VY_MK_OPAQUE},
        {0x80000000, VY_MK_OPAQUE},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_int_equal(vy_mk_effects_find(NULL, rows[i].opcode), rows[i].effects);
    }
}

static void test_builtins_touch_control_words(void **state)
{
    (void)state;
    vy_mk_accesses list;
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_NOP, 1, 2, 3}, &list);
    assert_int_equal(list.count, 0);
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_PRINTF, 1, 2, 3}, &list);
    assert_int_equal(list.count, 0);
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_STORE_U32, 7, 161, 3}, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, VY_MK_CONTROL, 161, VY_MK_WRITE);
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_ATOMIC_ADD, 7, 161, 3}, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, VY_MK_CONTROL, 161, update);
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_LOAD_U32, 161, 5, 3}, &list);
    assert_int_equal(list.count, 2);
    expect(&list, 0, VY_MK_CONTROL, 161, reads_input);
    expect(&list, 1, VY_MK_CONTROL, 165, VY_MK_WRITE);
    /* Behind all words there are: no wrapping to a low one. */
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_LOAD_U32, 0, UINT32_MAX, 3}, &list);
    expect(&list, 1, VY_MK_CONTROL, 160ull + UINT32_MAX, VY_MK_WRITE);
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_COMPARE_SWAP, 9, 1, 2}, &list);
    assert_int_equal(list.count, 2);
    expect(&list, 0, VY_MK_CONTROL, 9, reads_input | VY_MK_WRITE);
    expect(&list, 1, VY_MK_CONTROL, 169, VY_MK_WRITE);
    vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_BATCH_FENCE, 9, 1, 2}, &list);
    assert_int_equal(list.count, 2);
    expect(&list, 0, VY_MK_CONTROL, VYRE_CONTROL_EPOCH, update);
    expect(&list, 1, VY_MK_CONTROL, VYRE_CONTROL_OBSERVABLES, VY_MK_WRITE);
    vy_mk_list_accesses(NULL, &(vyre_work_item){(uint32_t)VYRE_OPCODE_SHUTDOWN, 9, 1, 2}, &list);
    assert_int_equal(list.count, 0);
    assert_true(list.orders_all);
}

static void test_copies_are_exact_up_to_their_limit(void **state)
{
    (void)state;
    vy_mk_accesses list;
    for (uint32_t count = 0; count <= VY_MK_EXACT_WORDS; count++) {
        vy_mk_list_accesses(NULL, &(vyre_work_item){VYRE_OPCODE_MEMCPY, 200, 400, count}, &list);
        assert_int_equal(list.count, 2 * count);
        for (uint32_t i = 0; i < count; i++) {
            expect(&list, i, VY_MK_CONTROL, 200 + i, reads_input);
            expect(&list, count + i, VY_MK_CONTROL, 400 + i, VY_MK_WRITE);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        vy_mk_list_accesses(
            NULL,
            &(vyre_work_item){VYRE_OPCODE_MEMCPY, 200, 400, i ? UINT32_MAX : VY_MK_EXACT_WORDS + 1},
            &list);
        assert_int_equal(list.count, 1);
        expect(&list, 0, VY_MK_CONTROL, VY_MK_ALL_WORDS, reads_input | VY_MK_WRITE | VY_MK_PARTIAL);
    }
}

static void test_handlers_touch_users_handles(void **state)
{
    (void)state;
    static const vy_mk_handler handlers[] = {
        {8, VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_PURE},
        {0x40000000, VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE},
        {10, VY_MK_OPAQUE | VY_MK_WRITES_CONTROL},
        {11, VY_MK_ORDERS_ALL},
        {12, 0},
    };
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_effects table;
    assert_int_equal(vy_mk_effects_init(&table, &arena, handlers, VY_COUNT_OF(handlers), NULL),
                     VYRE_OK);
    for (size_t i = 0; i < VY_COUNT_OF(handlers); i++) {
        assert_int_equal(vy_mk_effects_find(&table, handlers[i].opcode), handlers[i].effects);
    }
    assert_int_equal(vy_mk_effects_find(&table, 9), VY_MK_OPAQUE);
    assert_int_equal(vy_mk_effects_find(&table, VYRE_OPCODE_NOP), VY_MK_PURE | VY_MK_IDEMPOTENT);
    vy_mk_accesses list;
    vy_mk_list_accesses(&table, &(vyre_work_item){8, 1, 2, 3}, &list);
    assert_int_equal(list.count, 2);
    expect(&list, 0, VY_MK_USER, 1, reads_input);
    expect(&list, 1, VY_MK_USER, 2, VY_MK_WRITE);
    vy_mk_list_accesses(&table, &(vyre_work_item){8, 2, 2, 3}, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, VY_MK_USER, 2, reads_input | VY_MK_WRITE);
    vy_mk_list_accesses(&table, &(vyre_work_item){0x40000000, 1, 2, 3}, &list);
    expect(&list, 1, VY_MK_USER, 2, update);
    /* x += x commutes with nothing. */
    vy_mk_list_accesses(&table, &(vyre_work_item){0x40000000, 2, 2, 3}, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, VY_MK_USER, 2, reads_input | VY_MK_WRITE);
    vy_mk_list_accesses(&table, &(vyre_work_item){10, 1, 2, 3}, &list);
    assert_int_equal(list.count, 3);
    expect(&list, 0, VY_MK_USER, 1, reads_input | VY_MK_WRITE);
    expect(&list, 1, VY_MK_USER, 2, reads_input | VY_MK_WRITE);
    expect(&list, 2, VY_MK_CONTROL, VY_MK_ALL_WORDS, VY_MK_WRITE | VY_MK_PARTIAL);
    vy_mk_list_accesses(&table, &(vyre_work_item){11, 1, 2, 3}, &list);
    assert_true(list.orders_all && list.count == 0);
    vy_mk_list_accesses(&table, &(vyre_work_item){12, 1, 2, 3}, &list);
    assert_true(!list.orders_all && list.count == 0);
    vy_mk_list_accesses(&table, &(vyre_work_item){9, 1, 2, 3}, &list);
    assert_int_equal(list.count, 2);
    vy_arena_finish(&arena);
}

static void test_bad_handlers_are_refused(void **state)
{
    (void)state;
    static const vy_mk_handler bad[] = {
        {0, 0},
        {7, VY_MK_OPAQUE},
        {0xfff0, 0},
        {0xffff, 0},
        {0x80000000, 0},
        {0xffffffff, 0},
        {8, VY_MK_ALL_EFFECTS + 1},
        {8, VY_MK_OPAQUE | VY_MK_PURE},
        {8, VY_MK_OPAQUE | VY_MK_IDEMPOTENT},
        {8, VY_MK_OPAQUE | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE},
        {8, VY_MK_ORDERS_ALL | VY_MK_IDEMPOTENT},
        {8, VY_MK_COMMUTATIVE},
        {8, VY_MK_PURE | VY_MK_READS_OUTPUT},
        {8, VY_MK_PURE | VY_MK_WRITES_INPUT},
        {8, VY_MK_PURE | VY_MK_READS_CONTROL},
        {9, 0}, /* stands before */
    };
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        vy_mk_handler handlers[2] = {{9, 0}, bad[i]};
        vy_arena arena;
        vy_arena_init(&arena, NULL);
        vy_mk_effects table;
        vyre_diag diag;
        assert_int_equal(vy_mk_effects_init(&table, &arena, handlers, 2, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(diag.code, VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "handler 1"));
        assert_non_null(strstr(diag.message, "Fix: "));
        assert_int_equal(vy_mk_effects_find(&table, 9), VY_MK_OPAQUE);
        vy_arena_finish(&arena);
    }
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    vy_mk_effects table;
    assert_int_equal(vy_mk_effects_init(&table, &arena, NULL, 1, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vy_mk_effects_init(&table, &arena, bad, 1ull << 32, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vy_arena_finish(&arena);
}

static void test_tables_of_every_size_survive_every_failed_allocation(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 2, 255, 256, 257, 4096, 4097, 100000};
    vy_mk_handler *handlers = calloc(100000, sizeof *handlers);
    assert_non_null(handlers);
    for (uint32_t i = 0; i < 100000; i++) {
        handlers[i] = (vy_mk_handler){0x10000 + i * 7, i % 64};
    }
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        size_t needed = 0;
        for (size_t fail_at = 0; fail_at <= needed; fail_at++) {
            vy_fail_allocator failing = {.fail_at = fail_at};
            vyre_allocator allocator = vy_fail_allocator_get(&failing);
            vy_arena arena;
            vy_arena_init(&arena, &allocator);
            vy_mk_effects table;
            vyre_result result = vy_mk_effects_init(&table, &arena, handlers, sizes[s], NULL);
            assert_int_equal(result, fail_at ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
            needed = fail_at ? needed : failing.calls;
            for (uint32_t i = 0; i < sizes[s]; i++) {
                assert_int_equal(vy_mk_effects_find(&table, handlers[i].opcode),
                                 fail_at ? (uint32_t)VY_MK_OPAQUE : handlers[i].effects);
            }
            vy_arena_finish(&arena);
            assert_int_equal(failing.live_blocks, 0);
        }
        assert_true(sizes[s] == 0 ? needed == 0 : needed > 0);
    }
    free(handlers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtins_have_their_documented_effects),
        cmocka_unit_test(test_builtins_touch_control_words),
        cmocka_unit_test(test_copies_are_exact_up_to_their_limit),
        cmocka_unit_test(test_handlers_touch_users_handles),
        cmocka_unit_test(test_bad_handlers_are_refused),
        cmocka_unit_test(test_tables_of_every_size_survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The oracle of built-in operations against vectors that were worked out by hand, and that its
 * random items reach what they are for. */
#include "tests/megakernel/builtin_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "codegen/base/base.h"

enum { LENGTH = 400 };

static uint32_t control[LENGTH], expected[LENGTH];

static builtin_oracle start(void)
{
    builtin_oracle oracle;
    for (uint32_t i = 0; i < LENGTH; i++) {
        control[i] = i >= 160 ? i : 0;
    }
    oracle_init(&oracle, control, LENGTH);
    return oracle;
}

typedef struct vector {
    vyre_work_item item;
    vyre_slot_fault fault;
    uint32_t word, value, other_word, other_value; /* 0: none */
} vector;

static const vector vectors[] = {
    {{VYRE_OPCODE_NOP, 1, 160, 3}, VYRE_FAULT_NONE, 0, 0, 0, 0},
    {{VYRE_OPCODE_PRINTF, 1, 160, 3}, VYRE_FAULT_NONE, 0, 0, 0, 0},
    {{VYRE_OPCODE_STORE_U32, 7, 160, 0}, VYRE_FAULT_NONE, 160, 7, 0, 0},
    {{VYRE_OPCODE_STORE_U32, 7, 399, 0}, VYRE_FAULT_NONE, 399, 7, 0, 0},
    {{VYRE_OPCODE_STORE_U32, 7, 400, 0}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_STORE_U32, 7, 159, 0}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_ATOMIC_ADD, UINT32_MAX, 161, 0}, VYRE_FAULT_NONE, 161, 160, 0, 0},
    {{VYRE_OPCODE_ATOMIC_ADD, 1, UINT32_MAX, 0}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_LOAD_U32, 200, 239, 0}, VYRE_FAULT_NONE, 399, 200, 0, 0},
    {{VYRE_OPCODE_LOAD_U32, 200, 240, 0}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_LOAD_U32, 200, 0xffffff60, 0}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_LOAD_U32, 400, 0, 0}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_COMPARE_SWAP, 170, 170, 9}, VYRE_FAULT_NONE, 170, 9, 330, 170},
    {{VYRE_OPCODE_COMPARE_SWAP, 170, 171, 9}, VYRE_FAULT_NONE, 330, 170, 0, 0},
    {{VYRE_OPCODE_COMPARE_SWAP, 239, 239, 9}, VYRE_FAULT_NONE, 239, 9, 399, 239},
    {{VYRE_OPCODE_COMPARE_SWAP, 240, 240, 9}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_COMPARE_SWAP, 159, 0, 9}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_COMPARE_SWAP, UINT32_MAX, 0, 9}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_MEMCPY, 170, 180, 2}, VYRE_FAULT_NONE, 180, 170, 181, 171},
    {{VYRE_OPCODE_MEMCPY, 170, 171, 2}, VYRE_FAULT_NONE, 171, 170, 172, 170}, /* ascending */
    {{VYRE_OPCODE_MEMCPY, 171, 170, 2}, VYRE_FAULT_NONE, 170, 171, 171, 172},
    {{VYRE_OPCODE_MEMCPY, 160, 398, 2}, VYRE_FAULT_NONE, 398, 160, 399, 161},
    {{VYRE_OPCODE_MEMCPY, 160, 399, 2}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_MEMCPY, 399, 160, 2}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_MEMCPY, 160, 159, 1}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_MEMCPY, UINT32_MAX, UINT32_MAX, 0}, VYRE_FAULT_NONE, 0, 0, 0, 0},
    {{VYRE_OPCODE_MEMCPY, UINT32_MAX, 160, 1}, VYRE_FAULT_BOUNDS, 0, 0, 0, 0},
    {{VYRE_OPCODE_BATCH_FENCE, 5, 77, 0}, VYRE_FAULT_NONE, 128, 1, 160, 77},
    {{VYRE_OPCODE_SHUTDOWN, 0, 0, 0}, VYRE_FAULT_NONE, 0, 0, 0, 0},
    {{VYRE_OPCODE_DFA_STEP, 0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0, 0, 0},
    {{31, 0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0, 0, 0},
};

static void test_oracle_does_what_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(vectors); i++) {
        const vector *v = &vectors[i];
        builtin_oracle oracle = start();
        memcpy(expected, control, sizeof expected);
        bool is_known = v->fault != VYRE_FAULT_UNKNOWN_OPCODE;
        if (v->item.opcode < VYRE_METRIC_COUNT && is_known) {
            expected[VYRE_CONTROL_METRICS + v->item.opcode] = 1;
        }
        expected[0] = v->item.opcode == VYRE_OPCODE_SHUTDOWN;
        if (v->word) {
            expected[v->word] = v->value;
        }
        if (v->other_word) {
            expected[v->other_word] = v->other_value;
        }
        if (oracle_run(&oracle, &v->item) != v->fault ||
            memcmp(control, expected, sizeof expected) != 0) {
            fail_msg("vector %zu", i);
        }
        assert_int_equal(oracle.done_count, v->fault == VYRE_FAULT_NONE);
        assert_int_equal(oracle.fault_count, v->fault != VYRE_FAULT_NONE);
        assert_int_equal(oracle.unknown_count, !is_known);
        assert_int_equal(oracle.fault_code, v->fault);
        assert_int_equal(oracle.fault_item, v->fault ? 0 : VYRE_DIAG_NONE);
    }
}

static void test_oracle_names_the_first_fault(void **state)
{
    (void)state;
    const vyre_work_item items[] = {{VYRE_OPCODE_NOP, 0, 0, 0},
                                    {VYRE_OPCODE_STORE_U32, 0, 1, 0},
                                    {31, 0, 0, 0},
                                    {VYRE_OPCODE_ATOMIC_ADD, 5, 160, 0},
                                    {VYRE_OPCODE_ATOMIC_ADD, 5, 160, 0}};
    builtin_oracle oracle = start();
    for (size_t i = 0; i < VY_COUNT_OF(items); i++) {
        (void)oracle_run(&oracle, &items[i]);
    }
    assert_int_equal(oracle.item_count, 5);
    assert_int_equal(oracle.done_count, 3);
    assert_int_equal(oracle.fault_count, 2);
    assert_int_equal(oracle.unknown_count, 1);
    assert_int_equal(oracle.fault_item, 1);
    assert_int_equal(oracle.fault_code, VYRE_FAULT_BOUNDS);
    assert_int_equal(control[160], 170);
    assert_int_equal(control[VYRE_CONTROL_METRICS + VYRE_OPCODE_ATOMIC_ADD], 2);
}

/* Of a buffer without observables nothing is open, and a fence has nowhere to put its tag. */
static void test_oracle_of_a_bare_buffer_writes_no_observable(void **state)
{
    (void)state;
    builtin_oracle oracle = start();
    oracle.length = 160;
    const vyre_work_item fence = {VYRE_OPCODE_BATCH_FENCE, 0, 77, 0};
    assert_int_equal(oracle_run(&oracle, &fence), VYRE_FAULT_NONE);
    assert_int_equal(control[VYRE_CONTROL_EPOCH], 1);
    assert_int_equal(control[160], 160);
    const vyre_work_item load = {VYRE_OPCODE_LOAD_U32, 0, 0, 0};
    assert_int_equal(oracle_run(&oracle, &load), VYRE_FAULT_BOUNDS);
    uint64_t seed = 3;
    memcpy(expected, control, sizeof expected);
    for (uint32_t i = 0; i < 5000; i++) {
        vyre_work_item item = oracle_make(&oracle, &seed);
        (void)oracle_run(&oracle, &item);
    }
    assert_memory_equal(control + 160, expected + 160, sizeof expected - 640);
}

static void test_oracle_foretells_what_no_worker_counts(void **state)
{
    (void)state;
    builtin_oracle oracle = start();
    static const uint32_t counted[] = {1, 64, 95, 96, 127, 135, 136, 140, 141, 147, 148, 153};
    static const uint32_t fixed[] = {0, 2, 3, 31, 32, 63, 128, 129, 134, 154, 159, 160, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(counted); i++) {
        const vyre_work_item load = {VYRE_OPCODE_LOAD_U32, counted[i], 0, 0};
        const vyre_work_item copy = {VYRE_OPCODE_MEMCPY, counted[i] - 1, 160, 2};
        assert_false(oracle_is_fixed(counted[i]));
        assert_false(oracle_is_foretold(&oracle, &load));
        assert_false(oracle_is_foretold(&oracle, &copy));
    }
    for (size_t i = 0; i < VY_COUNT_OF(fixed); i++) {
        const vyre_work_item load = {VYRE_OPCODE_LOAD_U32, fixed[i], 0, 0};
        assert_true(oracle_is_fixed(fixed[i]));
        assert_true(oracle_is_foretold(&oracle, &load));
    }
}

/* Each operation ends both ways, and a swap swaps and does not. */
static void test_oracle_makes_items_of_every_end(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t done[8] = {0}, faulted[8] = {0}, swaps = 0, longer = 0, overlaps = 0;
    builtin_oracle oracle = start();
    for (uint32_t i = 0; i < 20000; i++) {
        vyre_work_item item = oracle_make(&oracle, &seed);
        uint32_t before = item.input < LENGTH ? control[item.input] : 0;
        assert_true(oracle_is_foretold(&oracle, &item));
        vyre_slot_fault fault = oracle_run(&oracle, &item);
        if (item.opcode < 8) {
            ++*(fault ? &faulted[item.opcode] : &done[item.opcode]);
        }
        swaps += item.opcode == VYRE_OPCODE_COMPARE_SWAP && !fault && before == item.output;
        longer += item.opcode == VYRE_OPCODE_MEMCPY && !fault && item.param > 64;
        overlaps += item.opcode == VYRE_OPCODE_MEMCPY && !fault && item.output > item.input &&
                    item.output - item.input < item.param;
    }
    for (uint32_t opcode = VYRE_OPCODE_STORE_U32; opcode <= VYRE_OPCODE_MEMCPY; opcode++) {
        assert_true(done[opcode] > 50 && faulted[opcode] > 50);
    }
    assert_true(swaps > 10 && done[VYRE_OPCODE_COMPARE_SWAP] > swaps);
    assert_true(longer > 50 && overlaps > 50 && oracle.unknown_count > 500);
    assert_int_equal(oracle.done_count + oracle.fault_count, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle_does_what_the_table_says),
        cmocka_unit_test(test_oracle_names_the_first_fault),
        cmocka_unit_test(test_oracle_of_a_bare_buffer_writes_no_observable),
        cmocka_unit_test(test_oracle_foretells_what_no_worker_counts),
        cmocka_unit_test(test_oracle_makes_items_of_every_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

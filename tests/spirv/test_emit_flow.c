/* What whole modules do, run on the host: control flow, bounds, atomics, tables, arrays, spill
 * slots, records, inputs, folded grids. */
#include "bench.h"
#include "constructs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define OUT_COUNT 64u

typedef struct rig {
    form f;
    machine m;
    uint32_t buffers[3][OUT_COUNT];
    uint32_t params[64], records[16], spill[64], tables[128];
} rig;

/* The construct with every binding of OUT_COUNT elements and a grid of groups x y z. */
static void rig_build(rig *r, const char *name, uint32_t x, uint32_t y, uint32_t z)
{
    memset(r, 0, sizeof *r);
    form_init(&r->f);
    for (uint32_t i = 0; i < construct_count; i++) {
        if (strcmp(constructs[i].name, name) == 0) {
            constructs[i].build(&r->f);
        }
    }
    r->params[VY_PARAM_GROUPS] = x;
    r->params[VY_PARAM_GROUPS + 1] = y;
    r->params[VY_PARAM_GROUPS + 2] = z;
    r->params[VY_PARAM_GROUP_TOTAL] = x * y * z;
}

static void rig_start(rig *r)
{
    form_emit(&r->f);
    machine_init(&r->m, r->f.words, r->f.word_count);
    uint32_t count = r->f.program.binding_count;
    for (uint32_t i = 0; i < count; i++) {
        r->m.buffers[i].words = r->buffers[i];
        r->m.buffers[i].count = OUT_COUNT;
        r->params[VY_PARAM_LENGTHS + i] = OUT_COUNT;
    }
    uint32_t *hidden[VY_HIDDEN_COUNT] = {[VY_HIDDEN_PARAMS] = r->params,
                                         [VY_HIDDEN_RECORDS] = r->records,
                                         [VY_HIDDEN_SPILL] = r->spill,
                                         [VY_HIDDEN_TABLES] = r->tables};
    const uint32_t sizes[VY_HIDDEN_COUNT] = {[VY_HIDDEN_PARAMS] = 64,
                                             [VY_HIDDEN_RECORDS] = 16,
                                             [VY_HIDDEN_SPILL] = 64,
                                             [VY_HIDDEN_TABLES] = 128};
    for (uint32_t i = 0; i < VY_HIDDEN_COUNT; i++) {
        r->m.buffers[count + i].words = hidden[i];
        r->m.buffers[count + i].count = sizes[i];
    }
}

static void rig_init(rig *r, const char *name)
{
    rig_build(r, name, 1, 1, 1);
    rig_start(r);
}

static void rig_run(rig *r, uint32_t workgroup, uint32_t local)
{
    r->m.workgroup[0] = workgroup;
    r->m.local[0] = r->m.local_index = local;
    machine_run(&r->m);
}

static void rig_finish(rig *r)
{
    machine_finish(&r->m);
    form_finish(&r->f);
}

static void test_if_joins_its_values(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "if");
    rig_run(&r, 0, 6);
    assert_int_equal(r.buffers[0][6], 5);
    assert_int_equal(r.buffers[0][0], 2);
    rig_run(&r, 0, 7);
    assert_int_equal(r.buffers[0][7], 0);
    assert_int_equal(r.buffers[0][0], 1);
    rig_finish(&r);
}

static void test_loop_breaks_and_ends(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "loop");
    rig_run(&r, 0, 3);
    assert_int_equal(r.buffers[0][11], 3);
    assert_int_equal(r.buffers[0][3], 3);
    assert_int_equal(r.buffers[0][4], 0);
    rig_run(&r, 0, 63);
    assert_int_equal(r.buffers[0][11], 10);
    assert_int_equal(r.buffers[0][9], 9);
    assert_int_equal(r.buffers[0][10], 10); /* the header's store comes before its test */
    rig_finish(&r);
}

static void test_switch_takes_the_right_case(void **state)
{
    static const uint32_t locals[] = {7, 9, 3};
    static const uint32_t wanted[] = {1, 77, 2};
    (void)state;
    rig r;
    rig_init(&r, "switch");
    for (uint32_t i = 0; i < 3; i++) {
        r.buffers[0][0] = 77; /* case 9 returns before the store */
        rig_run(&r, 0, locals[i]);
        assert_int_equal(r.buffers[0][0], wanted[i]);
    }
    rig_finish(&r);
}

static void test_accesses_out_of_bounds_touch_nothing(void **state)
{
    static const uint32_t lengths[] = {0, 1, 63, 64};
    (void)state;
    rig r;
    rig_init(&r, "copy");
    for (uint32_t row = 0; row < 4; row++) {
        for (uint32_t i = 0; i < OUT_COUNT; i++) {
            r.buffers[0][i] = 100 + i;
            r.buffers[1][i] = 7;
        }
        r.params[VY_PARAM_LENGTHS] = lengths[row];
        for (uint32_t i = 0; i < OUT_COUNT + 1; i++) {
            r.m.workgroup[0] = i / 64;
            rig_run(&r, i / 64, i % 64);
        }
        for (uint32_t i = 0; i < OUT_COUNT; i++) {
            assert_int_equal(r.buffers[1][i], i < lengths[row] ? 100 + i : 0);
        }
    }
    r.params[VY_PARAM_LENGTHS] = 64;
    r.params[VY_PARAM_LENGTHS + 1] = 5;
    r.buffers[1][5] = 7;
    rig_run(&r, 0, 5);
    assert_int_equal(r.buffers[1][5], 7);
    rig_run(&r, 67108863, 60); /* an index near 2^32: its byte offset would wrap */
    assert_int_equal(r.buffers[1][5], 7);
    rig_finish(&r);
}

/* One load and one store for each of the program's, not more. */
static void test_each_access_happens_once(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "copy");
    rig_run(&r, 0, 3);
    assert_int_equal(r.m.access_count, 2 + 3 + 2); /* data; grid; lengths */
    rig_finish(&r);
}

static void test_atomics_act_and_give_the_old_value(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "atomics");
    r.buffers[0][5] =
        9; /* add gives 9, max at 9 gives 0, compare_exchange at 0 gives 0, twice, ... */
    rig_run(&r, 0, 5);
    assert_int_equal(r.buffers[0][5], 10);
    assert_int_equal(r.buffers[0][9], 1);
    assert_int_equal(r.buffers[0][0], 2); /* the store at the end */
    memset(r.buffers, 0, sizeof r.buffers);
    r.buffers[0][0] = 1;
    r.params[VY_PARAM_LENGTHS] = 3;
    rig_run(&r, 0, 5); /* out of bounds: gives 0, so everything after acts on element 0 */
    assert_int_equal(r.buffers[0][5], 0);
    assert_int_equal(r.buffers[0][0], 2);
    rig_finish(&r);
}

static void test_float_atomics_add_by_exchange(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "float_atomics");
    r.buffers[0][2] = bits_of(2.5f);
    rig_run(&r, 0, 2); /* add 1 gives 2.5; exchange by it gives 3.5; store of it */
    assert_int_equal(r.buffers[0][2], bits_of(3.5f));
    rig_finish(&r);
}

static void test_bools_in_memory_are_words(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "bool_memory");
    r.buffers[0][1] = 0x80000000u;
    rig_run(&r, 0, 0);
    rig_run(&r, 0, 1);
    assert_int_equal(r.buffers[1][0], 1);
    assert_int_equal(r.buffers[1][1], 0);
    rig_finish(&r);
}

static void test_private_arrays_are_zeroed_and_checked(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "array");
    rig_run(&r, 0, 0); /* small[0] = 1; small[large[0]] = small[0] */
    assert_int_equal(r.buffers[0][0], bits_of(1.0f));
    rig_run(&r, 0, 2); /* small[2] = 1; small[0] is 0 */
    assert_int_equal(r.buffers[0][2], 0);
    rig_run(&r, 0, 50); /* both out of bounds */
    assert_int_equal(r.buffers[0][50], 0);
    rig_finish(&r);
}

static void test_tables_near_and_far(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "tables");
    r.tables[101] = 3;
    rig_run(&r, 0, 1);
    assert_int_equal(r.buffers[0][1], 20 - 3);
    r.buffers[0][3] = 9;
    rig_run(&r, 0, 3);
    assert_int_equal(r.buffers[0][3], 0);
    rig_finish(&r);
}

static void test_a_large_table_lies_in_rows(void **state)
{
    static uint32_t bits[70000];
    (void)state;
    for (uint32_t i = 0; i < 70000; i++) {
        bits[i] = i * 3;
    }
    rig r;
    rig_build(&r, "copy", 1, 1, 1);
    uint32_t table = form_table(&r.f, "large", VYRE_TYPE_U32, bits, 70000);
    form_at(&r.f, 1);
    uint32_t at = form_load(&r.f, 1, form_u32(&r.f, 0));
    uint32_t value = form_ins(&r.f, VYRE_OP_TABLE, VYRE_TYPE_U32, table, at, 0, 0, 0);
    form_store(&r.f, 2, form_u32(&r.f, 0), value);
    form_end(&r.f, VY_END_RETURN);
    rig_start(&r);
    static const uint32_t places[] = {0, 1023, 1024, 65535, 69999, 70000, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(places); i++) {
        r.buffers[0][0] = places[i];
        rig_run(&r, 0, 0);
        assert_int_equal(r.buffers[1][0], places[i] < 70000 ? places[i] * 3 : 0);
    }
    rig_finish(&r);
}

static void test_spill_slots_are_value_major(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "spill");
    r.params[VY_PARAM_INVOCATIONS] = 10;
    r.spill[3] = 1;
    r.spill[23] = bits_of(4.0f);
    r.spill[14] = 99;
    rig_run(&r, 0, 3);
    assert_int_equal(r.spill[13], bits_of(4.0f));
    r.spill[24] = bits_of(8.0f); /* its flag is 0 */
    rig_run(&r, 0, 4);
    assert_int_equal(r.spill[14], 0);
    rig_finish(&r);
}

/* The first (pass, execution) claims; only its invocations are counted, the least wins. */
static void test_records_are_claimed_once(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "record");
    r.params[VY_PARAM_PASS_BASE] = 4;
    r.m.push[VY_PUSH_PASS / 4] = 2;      /* pass 6 */
    r.m.push[VY_PUSH_EXECUTION / 4] = 9; /* execution 9 */
    rig_run(&r, 0, 40);
    assert_int_equal(r.records[VY_RECORD_PASS], 7);
    assert_int_equal(r.records[VY_RECORD_EXECUTION], 10);
    assert_int_equal(r.records[VY_RECORD_SITES + 3], ~40u);
    assert_int_equal(r.records[VY_RECORD_SITES + 4], ~40u);
    rig_run(&r, 0, 12);
    rig_run(&r, 0, 30);
    assert_int_equal(r.records[VY_RECORD_SITES + 3], ~12u);
    r.m.push[VY_PUSH_EXECUTION / 4] = 10; /* a later execution of the same pass */
    rig_run(&r, 0, 1);
    r.m.push[VY_PUSH_PASS / 4] = 3; /* a later pass, an execution of the same number */
    r.m.push[VY_PUSH_EXECUTION / 4] = 9;
    rig_run(&r, 0, 1);
    assert_int_equal(r.records[VY_RECORD_SITES + 3], ~12u);
    rig_finish(&r);
}

static void test_inputs_add_up(void **state)
{
    (void)state;
    rig r;
    rig_build(&r, "inputs", 5, 4, 3);
    r.f.program.workgroup[0] = 8;
    r.f.program.workgroup[1] = 2;
    rig_start(&r);
    r.params[VY_PARAM_PASS_BASE] = 100;
    r.m.push[VY_PUSH_PASS / 4] = 7;
    r.m.push[VY_PUSH_INDICES / 4 + 1] = 33; /* host index 1: where it is stored */
    r.m.workgroup[1] = 3;
    r.m.workgroup[2] = 2;
    r.m.local[1] = 1;
    rig_run(&r, 4, 6);
    uint32_t ids = (4 * 8 + 6) + (3 * 2 + 1) + 2 + 6 + 1 + 4 + 3 + 2;
    assert_int_equal(r.buffers[0][33], 64 + ids + 8 + 2 + 1 + 5 + 4 + 3 + 107);
    rig_finish(&r);
}

/* A folded grid gives every logical workgroup once, whatever is launched. */
static void test_folded_grid_covers_every_workgroup_once(void **state)
{
    static const uint32_t launches[][3] = {
        {60, 1, 1}, {7, 9, 1}, {4, 4, 4}, {61, 1, 1}, {1, 1, 64}};
    (void)state;
    for (size_t row = 0; row < VY_COUNT_OF(launches); row++) {
        rig r;
        rig_build(&r, "record", 5, 4, 3);
        r.f.program.workgroup[0] = 1;
        uint32_t buffer = form_buffer(&r.f, VYRE_BUFFER_INOUT, "seen", VYRE_TYPE_U32);
        uint32_t one = form_u32(&r.f, 1), sum = 0;
        static const vyre_builtin ids[3] = {VYRE_BUILTIN_WID_X, VYRE_BUILTIN_WID_Y,
                                            VYRE_BUILTIN_WID_Z};
        static const uint32_t scale[3] = {1, 5, 20};
        for (uint32_t axis = 0; axis < 3; axis++) {
            uint32_t id = form_builtin(&r.f, ids[axis]);
            id = form_op(&r.f, VYRE_OP_MUL, VYRE_TYPE_U32, id, form_u32(&r.f, scale[axis]));
            sum = sum ? form_op(&r.f, VYRE_OP_ADD, VYRE_TYPE_U32, sum, id) : id;
        }
        (void)form_atomic(&r.f, buffer, VYRE_ATOMIC_ADD, VYRE_ORDER_RELAXED, sum, one, 0);
        rig_start(&r);
        r.m.spec[VY_SPEC_FOLDED] = 1;
        r.m.has_spec[VY_SPEC_FOLDED] = true;
        memcpy(r.m.launched, launches[row], sizeof r.m.launched);
        for (uint32_t i = 0; i < launches[row][0] * launches[row][1] * launches[row][2]; i++) {
            r.m.workgroup[1] = i / launches[row][0] % launches[row][1];
            r.m.workgroup[2] = i / launches[row][0] / launches[row][1];
            rig_run(&r, i % launches[row][0], 0);
        }
        for (uint32_t i = 0; i < OUT_COUNT; i++) {
            assert_int_equal(r.buffers[0][i], i < 60 ? 1 : 0);
        }
        assert_int_equal(r.records[VY_RECORD_SITES + 3], ~0u); /* the least linear invocation */
        rig_finish(&r);
    }
}

static void test_agnostic_invocations_beyond_the_elements_run_nothing(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "agnostic");
    r.params[VY_PARAM_ELEMENTS] = 40;
    r.params[VY_PARAM_ELEMENTS + 1] = r.params[VY_PARAM_ELEMENTS + 2] = 1;
    r.m.has_spec[0] = true;
    r.m.spec[0] = 16; /* another size: three workgroups for 40 */
    for (uint32_t i = 0; i < OUT_COUNT; i++) {
        r.buffers[0][i] = 1;
        r.buffers[1][i] = 5;
    }
    for (uint32_t i = 0; i < 48; i++) {
        rig_run(&r, i / 16, i % 16);
    }
    for (uint32_t i = 0; i < OUT_COUNT; i++) {
        assert_int_equal(r.buffers[1][i], i < 40 ? 1 : 5);
    }
    /* Beyond in y, of a workgroup that is two wide there. */
    r.m.has_spec[1] = true;
    r.m.spec[1] = 2;
    for (uint32_t y = 0; y < 2; y++) {
        r.m.local[1] = y;
        r.buffers[1][0] = 5;
        rig_run(&r, 0, 0);
        assert_int_equal(r.buffers[1][0], y ? 5 : 1);
    }
    rig_finish(&r);
}

/* Every invocation of the workgroup clears its share before any runs on; here one alone has 64 of
 * 200, then the others theirs. */
static void test_shared_memory_is_cleared_by_the_workgroup(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "shared");
    for (uint32_t i = 0; i < 64; i++) {
        rig_run(&r, 0, i);
    }
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(r.buffers[0][i], 0); /* few[i], many[i]: zero or out of bounds */
    }
    for (uint32_t id = 0; id < r.m.bound; id++) {
        for (uint32_t i = 0; r.m.memory_size[id] == 200 && i < 200; i++) {
            assert_int_equal(r.m.memory[id][i], 0);
        }
    }
    rig_finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if_joins_its_values),
        cmocka_unit_test(test_loop_breaks_and_ends),
        cmocka_unit_test(test_switch_takes_the_right_case),
        cmocka_unit_test(test_accesses_out_of_bounds_touch_nothing),
        cmocka_unit_test(test_each_access_happens_once),
        cmocka_unit_test(test_atomics_act_and_give_the_old_value),
        cmocka_unit_test(test_float_atomics_add_by_exchange),
        cmocka_unit_test(test_bools_in_memory_are_words),
        cmocka_unit_test(test_private_arrays_are_zeroed_and_checked),
        cmocka_unit_test(test_tables_near_and_far),
        cmocka_unit_test(test_a_large_table_lies_in_rows),
        cmocka_unit_test(test_spill_slots_are_value_major),
        cmocka_unit_test(test_records_are_claimed_once),
        cmocka_unit_test(test_inputs_add_up),
        cmocka_unit_test(test_folded_grid_covers_every_workgroup_once),
        cmocka_unit_test(test_agnostic_invocations_beyond_the_elements_run_nothing),
        cmocka_unit_test(test_shared_memory_is_cleared_by_the_workgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

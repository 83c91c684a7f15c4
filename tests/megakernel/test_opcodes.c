/* Whose an opcode is, which ones a slot may have, and what they are called. */
#include "codegen/base/base.h"
#include "engine/megakernel/opcodes.h"
#include "vyre/megakernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct expected_opcode {
    uint32_t opcode;
    int is_system, is_publishable;
    const char *name;
} expected_opcode;

static const expected_opcode expected[] = {
    {0, 1, 1, "NOP"},
    {1, 1, 1, "STORE_U32"},
    {2, 1, 1, "ATOMIC_ADD"},
    {3, 1, 1, "LOAD_U32"},
    {4, 1, 1, "COMPARE_SWAP"},
    {5, 1, 1, "MEMCPY"},
    {6, 1, 0, "DFA_STEP"},
    {7, 1, 1, "BATCH_FENCE"},
    {8, 0, 1, "of a user"},
    {0x1000, 0, 1, "of a user"},
    {0xffef, 0, 1, "of a user"},
    {0xfff0, 1, 0, "reserved"},
    {0xfffc, 1, 0, "reserved"},
    {0xfffd, 1, 0, "LOAD_MISS"},
    {0xfffe, 1, 1, "PRINTF"},
    {0xffff, 1, 0, "reserved"},
    {0x10000, 0, 1, "of a user"},
    {0x3fffffff, 0, 1, "of a user"},
    {0x40000000, 0, 1, "of a tenant"},
    {0x41cfffff, 0, 1, "of a tenant"},
    {0x41d00000, 0, 1, "of a user"},
    {0x7fffffff, 0, 1, "of a user"},
    {0x80000000, 1, 0, "reserved"},
    {0x80000001, 1, 1, "PACKED_SLOT"},
    {0x80000002, 1, 0, "reserved"},
    {0x8000fffe, 1, 0, "reserved"},
    {0xfffffffe, 1, 0, "reserved"},
    {0xffffffff, 1, 1, "SHUTDOWN"},
};

static void test_opcode_is_whose_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(expected); i++) {
        const expected_opcode *e = &expected[i];
        if (vyre_opcode_is_system(e->opcode) != e->is_system ||
            vyre_opcode_is_publishable(e->opcode) != e->is_publishable ||
            strcmp(vy_mk_opcode_name(e->opcode), e->name) != 0) {
            fail_msg("0x%x: system %d, publishable %d, %s", (unsigned)e->opcode,
                     vyre_opcode_is_system(e->opcode), vyre_opcode_is_publishable(e->opcode),
                     vy_mk_opcode_name(e->opcode));
        }
    }
}

/* Counts over a range that has all edges but those of bit 31. */
static void test_opcode_users_have_the_rest(void **state)
{
    (void)state;
    uint32_t system_count = 0, publishable_count = 0;
    for (uint32_t opcode = 0; opcode < 0x20000; opcode++) {
        system_count += (uint32_t)vyre_opcode_is_system(opcode);
        publishable_count += (uint32_t)vyre_opcode_is_publishable(opcode);
    }
    assert_int_equal(system_count, 8 + 16);
    assert_int_equal(publishable_count, 0x20000 - (8 + 16) + 7 + 1);
}

static void test_opcode_values_are_the_protocols(void **state)
{
    (void)state;
    assert_int_equal(VYRE_OPCODE_NOP, 0);
    assert_int_equal(VYRE_OPCODE_STORE_U32, 1);
    assert_int_equal(VYRE_OPCODE_ATOMIC_ADD, 2);
    assert_int_equal(VYRE_OPCODE_LOAD_U32, 3);
    assert_int_equal(VYRE_OPCODE_COMPARE_SWAP, 4);
    assert_int_equal(VYRE_OPCODE_MEMCPY, 5);
    assert_int_equal(VYRE_OPCODE_DFA_STEP, 6);
    assert_int_equal(VYRE_OPCODE_BATCH_FENCE, 7);
    assert_int_equal(VYRE_OPCODE_LOAD_MISS, 0xfffd);
    assert_int_equal(VYRE_OPCODE_PRINTF, 0xfffe);
    assert_int_equal(VYRE_OPCODE_PACKED_SLOT, 0x80000001u);
    assert_int_equal(VYRE_OPCODE_SHUTDOWN, 0xffffffffu);
}

static void test_opcode_of_tenant_is_its_place_in_the_space(void **state)
{
    (void)state;
    static const struct {
        uint32_t tenant, local, opcode;
    } rows[] = {
        {0, 0, 0x40000000},        {0, 1, 0x40000001},   {0, 0xfffff, 0x400fffff},
        {1, 0, 0x40100000},        {28, 0, 0x41c00000},  {28, 0xffffe, 0x41cffffe},
        {28, 0xfffff, 0x41cfffff}, {7, 77, 0x4070004du},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        uint32_t opcode = 5;
        vyre_diag diag;
        assert_int_equal(vyre_opcode_of_tenant(rows[i].tenant, rows[i].local, &opcode, &diag),
                         VYRE_OK);
        assert_int_equal(diag.code, VYRE_OK);
        assert_int_equal(opcode, rows[i].opcode);
        assert_false(vyre_opcode_is_system(opcode));
        assert_true(vyre_opcode_is_publishable(opcode));
    }
}

static void expect_refused(uint32_t tenant, uint32_t local, const char *message)
{
    uint32_t opcode = 5;
    vyre_diag diag;
    assert_int_equal(vyre_opcode_of_tenant(tenant, local, &opcode, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(diag.code, VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message, message);
    assert_int_equal(opcode, 5);
    assert_int_equal(vyre_opcode_of_tenant(tenant, local, &opcode, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_opcode_of_tenant_refuses_what_is_none(void **state)
{
    (void)state;
    expect_refused(29, 0, "there is no tenant 29. Fix: name one of 0 to 28");
    expect_refused(0xffffffff, 0, "there is no tenant 4294967295. Fix: name one of 0 to 28");
    expect_refused(0, 0x100000,
                   "a tenant has no opcode 1048576 of its own. Fix: number them from 0 to 1048575");
    expect_refused(
        28, 0xffffffff,
        "a tenant has no opcode 4294967295 of its own. Fix: number them from 0 to 1048575");
    vyre_diag diag;
    assert_int_equal(vyre_opcode_of_tenant(0, 0, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message, "out_opcode is NULL. Fix: pass where the opcode goes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcode_is_whose_the_table_says),
        cmocka_unit_test(test_opcode_users_have_the_rest),
        cmocka_unit_test(test_opcode_values_are_the_protocols),
        cmocka_unit_test(test_opcode_of_tenant_is_its_place_in_the_space),
        cmocka_unit_test(test_opcode_of_tenant_refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

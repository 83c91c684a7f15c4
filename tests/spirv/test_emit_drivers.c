/* Words that a driver was seen to crash on or compile wrongly are not emitted. */
#include "form.h"
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

#define U32  VYRE_TYPE_U32
#define BOOL VYRE_TYPE_BOOL

/* Two bools go around the loop, one of them into an inner phi; they are words there. */
static void test_loops_carry_bools_as_words(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t header = form_block(&f), body = form_block(&f), next = form_block(&f);
    uint32_t merge = form_block(&f);
    uint32_t zero = form_u32(&f, 0), one = form_u32(&f, 1), ten = form_u32(&f, 10);
    uint32_t yes = form_literal(&f, BOOL, 1);
    form_jump(&f, header);
    form_at(&f, header);
    uint32_t i = form_phi(&f, U32, 1, zero, next, 0);
    uint32_t odd = form_phi(&f, BOOL, 1, yes, next, 0);
    uint32_t more = form_op(&f, VYRE_OP_LT, BOOL, i, ten);
    form_loop(&f, more, body, next, merge);
    form_at(&f, body);
    form_jump(&f, next);
    form_at(&f, next);
    uint32_t step = form_op(&f, VYRE_OP_ADD, U32, i, one);
    uint32_t other = form_op(&f, VYRE_OP_EQ, BOOL, step, ten);
    form_phi_set(&f, i, 1, step);
    form_phi_set(&f, odd, 1, other);
    form_jump(&f, header);
    form_at(&f, merge);
    form_store(&f, out, zero, form_ins(&f, VYRE_OP_SELECT, U32, 0, odd, ten, one, 0));
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 1;
    form_emit(&f);
    uint32_t boolean = f.words[judge_find(f.words, f.word_count, 0, SpvOpTypeBool) + 1];
    uint32_t phis = 0;
    for (uint32_t at = 0; (at = judge_find(f.words, f.word_count, at, SpvOpPhi)) != 0;) {
        assert_int_not_equal(f.words[at + 1], boolean);
        phis++;
    }
    assert_int_equal(phis, 2);
    form_finish(&f);
}

static void test_functions_do_not_divide(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_TAN,  VYRE_OP_ATAN, VYRE_OP_SINH,
                                  VYRE_OP_COSH, VYRE_OP_TANH, VYRE_OP_RECIPROCAL};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(ops); i++) {
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_F32);
        uint32_t zero = form_u32(&f, 0), x = form_load(&f, a, zero);
        form_store(&f, a, zero, form_ins(&f, ops[i], VYRE_TYPE_F32, 0, x, 0, 0, 0));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpFDiv), 0);
        form_finish(&f);
    }
}

/* Each way of rotating 16 bits by 8 is an exchange of bytes. */
static void test_values_of_16_bits_are_wrapped_by_fields(void **state)
{
    static const vyre_type types[] = {VYRE_TYPE_I8, VYRE_TYPE_U8, VYRE_TYPE_I16, VYRE_TYPE_U16};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(types); i++) {
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", types[i]);
        uint32_t zero = form_u32(&f, 0), eight = form_u32(&f, 8), x = form_load(&f, a, zero);
        form_store(&f, a, zero, form_op(&f, VYRE_OP_ROTATE_LEFT, types[i], x, eight));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        bool is_signed = vy_type_is_signed(types[i]);
        uint32_t op = is_signed ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract;
        uint32_t at = judge_find(f.words, f.word_count, 0, op);
        assert_int_equal(at != 0, types[i] != VYRE_TYPE_U8);
        if (at) {
            assert_int_equal(judge_constant(f.words, f.word_count, f.words[at + 4]), 0);
            assert_int_equal(judge_constant(f.words, f.word_count, f.words[at + 5]),
                             vy_type_width(types[i]));
        }
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpShiftRightArithmetic), 0);
        form_finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_carry_bools_as_words),
        cmocka_unit_test(test_functions_do_not_divide),
        cmocka_unit_test(test_values_of_16_bits_are_wrapped_by_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

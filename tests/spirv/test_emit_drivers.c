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

/* A narrow value with a sign that becomes a wide one has an unknown zero on it. */
static void test_widened_signs_are_hidden(void **state)
{
    static const vyre_type from[] = {VYRE_TYPE_I8, VYRE_TYPE_I16, VYRE_TYPE_U8, VYRE_TYPE_U16};
    static const vyre_type to[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64, VYRE_TYPE_I64,
                                   VYRE_TYPE_U16};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(from) * VY_COUNT_OF(to); i++) {
        vyre_type narrow = from[i % VY_COUNT_OF(from)], wide = to[i / VY_COUNT_OF(from)];
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_IN, "a", narrow);
        uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", wide);
        uint32_t zero = form_u32(&f, 0), x = form_load(&f, a, zero);
        form_store(&f, out, zero, form_op(&f, VYRE_OP_CAST, wide, x, 0));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 2;
        form_emit(&f);
        bool is_hidden = vy_type_is_signed(narrow) && wide != VYRE_TYPE_U16;
        /* Words of the parameter block have one each: two lengths, and the zero. */
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpBitwiseXor), is_hidden ? 4 : 2);
        form_finish(&f);
    }
}

/* Bits of narrow values are counted of a field. */
static void test_narrow_bits_are_counted_of_fields(void **state)
{
    static const vyre_type types[] = {VYRE_TYPE_I8, VYRE_TYPE_U8, VYRE_TYPE_I16, VYRE_TYPE_U16,
                                      VYRE_TYPE_U32};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(types); i++) {
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_IN, "a", types[i]);
        uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", U32);
        uint32_t zero = form_u32(&f, 0), x = form_load(&f, a, zero);
        form_store(&f, out, zero, form_op(&f, VYRE_OP_POPCOUNT, types[i], x, 0));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 2;
        form_emit(&f);
        uint32_t count = judge_find(f.words, f.word_count, 0, SpvOpBitCount), at = 0;
        bool is_field = false;
        while ((at = judge_find(f.words, f.word_count, at, SpvOpBitFieldUExtract)) != 0) {
            is_field = is_field || f.words[at + 2] == f.words[count + 3];
        }
        assert_int_equal(is_field, types[i] != U32);
        form_finish(&f);
    }
}

/* Saturation, extremes and ranges of at most 32 bits are instructions of their own. */
static void test_ranges_are_kept_by_instructions(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_ADD_SAT, VYRE_OP_SUB_SAT, VYRE_OP_MUL_SAT, VYRE_OP_MIN,
                                  VYRE_OP_MAX};
    static const vyre_type types[] = {VYRE_TYPE_I8,  VYRE_TYPE_U8,  VYRE_TYPE_I16,
                                      VYRE_TYPE_U16, VYRE_TYPE_I32, VYRE_TYPE_U32};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(ops) * VY_COUNT_OF(types); i++) {
        vyre_op op = ops[i % VY_COUNT_OF(ops)];
        vyre_type type = types[i / VY_COUNT_OF(ops)];
        if (op <= VYRE_OP_MUL_SAT && op >= VYRE_OP_ADD_SAT && vy_type_width(type) == 32) {
            continue;
        }
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", type), one = form_u32(&f, 1);
        uint32_t zero = form_u32(&f, 0), x = form_load(&f, a, zero), y = form_load(&f, a, one);
        form_store(&f, a, zero, form_op(&f, op, type, x, y));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpSGreaterThan), 0);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpUGreaterThan), 0);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpSLessThan), 0);
        form_finish(&f);
    }
}

static bool is_wide_type(const form *f, uint32_t id)
{
    for (uint32_t at = 5; at < f->word_count; at += f->words[at] >> 16) {
        uint32_t op = f->words[at] & 0xffff;
        if ((op == SpvOpTypeInt || op == SpvOpTypeFloat) && f->words[at + 1] == id) {
            return f->words[at + 2] == 64;
        }
    }
    return false;
}

static bool chooses_wide(const form *f)
{
    for (uint32_t at = 0; (at = judge_find(f->words, f->word_count, at, SpvOpSelect)) != 0;) {
        if (is_wide_type(f, f->words[at + 1])) {
            return true;
        }
    }
    return false;
}

/* Choices of 64 bits are made by halves, by whatever operator. */
static void test_choices_of_64_bits_go_by_halves(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_ADD_SAT, VYRE_OP_SUB_SAT,  VYRE_OP_MUL_SAT, VYRE_OP_MIN,
                                  VYRE_OP_MAX,     VYRE_OP_ABS_DIFF, VYRE_OP_DIV,     VYRE_OP_REM};
    static const vyre_type types[] = {VYRE_TYPE_U64, VYRE_TYPE_I64, VYRE_TYPE_F64};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(ops) * VY_COUNT_OF(types); i++) {
        vyre_op op = ops[i % VY_COUNT_OF(ops)];
        vyre_type type = types[i / VY_COUNT_OF(ops)];
        if (type == VYRE_TYPE_F64 &&
            (op == VYRE_OP_REM || (op >= VYRE_OP_ADD_SAT && op <= VYRE_OP_MUL_SAT))) {
            continue;
        }
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", type), one = form_u32(&f, 1);
        uint32_t zero = form_u32(&f, 0), x = form_load(&f, a, zero), y = form_load(&f, a, one);
        uint32_t value = form_op(&f, op, type, x, y);
        uint32_t same = form_op(&f, VYRE_OP_LT, VYRE_TYPE_BOOL, x, y);
        value = form_ins(&f, VYRE_OP_SELECT, type, 0, same, value, y, 0);
        form_store(&f, a, zero, value);
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        assert_true(judge_count(f.words, f.word_count, SpvOpSelect) > 0);
        assert_false(chooses_wide(&f));
        form_finish(&f);
    }
}

/* Where subgroups reconverge, a switch is on the block that a selector leads to: each once, and the
 * default for the rest. */
static void test_switches_go_to_blocks(void **state)
{
    (void)state;
    for (int is_maximal = 0; is_maximal < 2; is_maximal++) {
        form f;
        vyre_diag diag;
        form_init(&f);
        uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", U32);
        uint32_t first = form_block(&f), second = form_block(&f), other = form_block(&f);
        uint32_t merge = form_block(&f), zero = form_u32(&f, 0), one = form_u32(&f, 1);
        const vy_case cases[4] = {{7, first}, {9, second}, {0xffffffff, first}, {3, other}};
        form_switch(&f, form_builtin(&f, VYRE_BUILTIN_GID_X), cases, 4, other, merge);
        form_at(&f, first);
        form_jump(&f, merge);
        form_at(&f, second);
        form_store(&f, out, one, zero);
        form_jump(&f, merge);
        form_at(&f, other);
        form_store(&f, out, zero, one);
        form_jump(&f, merge);
        form_at(&f, merge);
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        f.options.reconvergence = is_maximal ? VYRE_RECONVERGENCE_MAXIMAL : VYRE_RECONVERGENCE_NONE;
        assert_int_equal(form_try_emit(&f, &diag), VYRE_OK);
        uint32_t at = judge_find(f.words, f.word_count, 0, SpvOpSwitch);
        assert_int_equal(f.words[at] >> 16, is_maximal ? 3 + 2 * 2 : 3 + 2 * 4);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpIEqual), is_maximal ? 3 : 0);
        if (is_maximal) {
            assert_int_not_equal(f.words[at + 3], f.words[at + 5]);
            assert_int_not_equal(f.words[at + 3], 0);
        }
        form_finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_carry_bools_as_words),
        cmocka_unit_test(test_functions_do_not_divide),
        cmocka_unit_test(test_values_of_16_bits_are_wrapped_by_fields),
        cmocka_unit_test(test_widened_signs_are_hidden),
        cmocka_unit_test(test_narrow_bits_are_counted_of_fields),
        cmocka_unit_test(test_ranges_are_kept_by_instructions),
        cmocka_unit_test(test_choices_of_64_bits_go_by_halves),
        cmocka_unit_test(test_switches_go_to_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

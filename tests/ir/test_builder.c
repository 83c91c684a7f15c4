/* The builder: typing, literals, the placing of expressions, nesting, misuse, lack of memory. */
#include "tests/ir/build.h"

/* ---- Typing ---------------------------------------------------------------------------------- */

static const vy_expr *bound(const vyre_program *program, uint32_t stmt)
{
    return &program->exprs.data[program->stmts.data[stmt].x.root];
}

static vyre_expr typed(vyre_builder *b, vyre_type type)
{
    switch (type) {
    case VYRE_TYPE_BOOL:
        return vyre_build_bool(b, 1);
    case VYRE_TYPE_I32:
        return vyre_build_i32(b, 5);
    case VYRE_TYPE_F32:
        return vyre_build_f32(b, 1.5f);
    default:
        return vyre_build_u32(b, 5);
    }
}

static void test_builder_types_every_operator_by_its_shape(void **state)
{
    (void)state;
    static const vyre_type types[] = {VYRE_TYPE_BOOL, VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32};
    /* By shape: the types taken as T (bit i: types[i]) and the result, VOID for T. */
    static const struct {
        uint8_t takes;
        vyre_type result;
    } rules[] = {[VY_SHAPE_ARITHMETIC] = {0xe, VYRE_TYPE_VOID},
                 [VY_SHAPE_ARITHMETIC3] = {0xe, VYRE_TYPE_VOID},
                 [VY_SHAPE_INTEGER] = {0x6, VYRE_TYPE_VOID},
                 [VY_SHAPE_INTEGER_UNARY] = {0x6, VYRE_TYPE_VOID},
                 [VY_SHAPE_SIGNED_UNARY] = {0xc, VYRE_TYPE_VOID},
                 [VY_SHAPE_EQUALITY] = {0xf, VYRE_TYPE_BOOL},
                 [VY_SHAPE_ORDER] = {0xe, VYRE_TYPE_BOOL},
                 [VY_SHAPE_LOGIC] = {0x1, VYRE_TYPE_BOOL},
                 [VY_SHAPE_LOGIC_UNARY] = {0x1, VYRE_TYPE_BOOL},
                 [VY_SHAPE_BIT_COUNT] = {0x6, VYRE_TYPE_U32},
                 [VY_SHAPE_FLOAT_UNARY] = {0x8, VYRE_TYPE_F32},
                 [VY_SHAPE_FLOAT] = {0x8, VYRE_TYPE_F32},
                 [VY_SHAPE_FLOAT_TEST] = {0x8, VYRE_TYPE_BOOL}};
    int checked = 0;
    for (unsigned o = 1; o < VYRE_OP_COUNT; o++) {
        const vy_op_info *info = vy_op_get((vyre_op)o);
        if (info->shape >= VY_COUNT_OF(rules) || !rules[info->shape].takes) {
            continue;
        }
        for (unsigned t = 0; t < 4; t++) {
            vyre_builder *b = start();
            vyre_expr operands[4] = {NO_EXPR, NO_EXPR, NO_EXPR, NO_EXPR};
            for (unsigned i = 0; i < info->operand_count; i++) {
                operands[i] = typed(b, types[t]);
            }
            vyre_builder_at(b, 3, 1);
            vyre_build_let(
                b, "v", VYRE_TYPE_VOID,
                vyre_build_op(b, (vyre_op)o, operands[0], operands[1], operands[2], operands[3]));
            checked++;
            if (rules[info->shape].takes >> t & 1) {
                vyre_program *program = finish(b);
                vyre_type want = rules[info->shape].result;
                assert_int_equal(bound(program, 1)->type, want == VYRE_TYPE_VOID ? types[t] : want);
                vyre_program_destroy(&program);
            } else {
                finish_error(b, 3, "");
            }
        }
    }
    assert_true(checked > 200);
}

static void check_result(vyre_builder *b, vyre_expr value, vyre_type want)
{
    vyre_build_let(b, "v", VYRE_TYPE_VOID, value);
    vyre_program *program = finish(b);
    assert_int_equal(bound(program, 1)->type, want);
    assert_int_equal(program->vars.data[1].type, want);
    vyre_program_destroy(&program);
}

static void test_builder_types_the_odd_shapes(void **state)
{
    (void)state;
    vyre_builder *b = start();
    check_result(b, op2(b, VYRE_OP_ABS_DIFF, typed(b, VYRE_TYPE_I32), num(b, 1)), VYRE_TYPE_U32);
    b = start();
    check_result(b, op2(b, VYRE_OP_ABS_DIFF, typed(b, VYRE_TYPE_F32), num(b, 1)), VYRE_TYPE_F32);
    b = start();
    check_result(b, op2(b, VYRE_OP_SHL, typed(b, VYRE_TYPE_I32), typed(b, VYRE_TYPE_U32)),
                 VYRE_TYPE_I32);
    b = start();
    check_result(b, op2(b, VYRE_OP_UNPACK_BYTE, typed(b, VYRE_TYPE_I32), num(b, 2)), VYRE_TYPE_I32);
    b = start();
    check_result(b, op3(b, VYRE_OP_EXTRACT_BITS, typed(b, VYRE_TYPE_I32), num(b, 2), num(b, 3)),
                 VYRE_TYPE_I32);
    b = start();
    check_result(b,
                 vyre_build_op(b, VYRE_OP_INSERT_BITS, num(b, 1), typed(b, VYRE_TYPE_I32),
                               num(b, 2), num(b, 3)),
                 VYRE_TYPE_I32);
    b = start();
    check_result(b,
                 op3(b, VYRE_OP_SELECT, vyre_build_bool(b, 1), num(b, 1), typed(b, VYRE_TYPE_F32)),
                 VYRE_TYPE_F32);
    b = start();
    check_result(b, op1(b, VYRE_OP_SQRT, num(b, 2)), VYRE_TYPE_F32);
    b = start();
    check_result(b, vyre_build_cast(b, VYRE_TYPE_BOOL, num(b, 2)), VYRE_TYPE_BOOL);
    b = start();
    check_result(b, vyre_build_bitcast(b, VYRE_TYPE_F32, num(b, 0x7f800001)), VYRE_TYPE_F32);
    b = start();
    check_result(b, op1(b, VYRE_OP_NEGATE, gid(b)), VYRE_TYPE_U32);

    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op3(b, VYRE_OP_SELECT, num(b, 1), num(b, 1), num(b, 2)));
    finish_error(b, 0, "`x != 0`");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op2(b, VYRE_OP_SHL, num(b, 1), typed(b, VYRE_TYPE_F32)));
    finish_error(b, 0, "the amount is f32");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID,
                   vyre_build_bitcast(b, VYRE_TYPE_U32, vyre_build_bool(b, 1)));
    finish_error(b, 0, "bitcast does not take or give bool");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op1(b, VYRE_OP_ABS, gid(b)));
    finish_error(b, 0, "'abs' takes a signed integer or a float, not u32");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID,
                   op2(b, VYRE_OP_REM, typed(b, VYRE_TYPE_F32), typed(b, VYRE_TYPE_F32)));
    finish_error(b, 0, "trunc");
}

static void test_builder_refuses_mixed_types_with_the_fix(void **state)
{
    (void)state;
    static const struct {
        vyre_type x, y;
        const char *part;
    } rows[] = {{VYRE_TYPE_BOOL, VYRE_TYPE_U32, "`x != 0` for a bool or `u32(b)`"},
                {VYRE_TYPE_I32, VYRE_TYPE_BOOL, "'+' mixes bool with i32"},
                {VYRE_TYPE_U32, VYRE_TYPE_I32, "Fix: convert one of them: `u32(...)`"},
                {VYRE_TYPE_F32, VYRE_TYPE_U32, "'+' mixes f32 with u32"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_builder *b = start();
        vyre_expr x = typed(b, rows[i].x), y = typed(b, rows[i].y);
        vyre_builder_at(b, 7, 5);
        vyre_build_let(b, "v", VYRE_TYPE_VOID, op2(b, VYRE_OP_ADD, x, y));
        finish_error(b, 7, rows[i].part);
    }
    vyre_builder *b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op2(b, VYRE_OP_ADD, num(b, 1), vyre_build_bool(b, 1)));
    finish_error(b, 0, "mixes bool with integer literal");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_F32, gid(b));
    finish_error(b, 0, "the value is u32, but f32 is needed. Fix: convert it: `f32(...)`");
    b = start();
    vyre_build_if_begin(b, num(b, 1));
    vyre_build_end(b);
    finish_error(b, 0, "the condition of `if` is integer literal, but bool is needed");
}

/* ---- Untyped literals ------------------------------------------------------------------------ */

static uint32_t settled_bits(vyre_builder *b, vyre_type type, vyre_expr value)
{
    vyre_build_let(b, "v", type, value);
    vyre_program *program = finish(b);
    const vy_expr *expr = bound(program, 1);
    assert_int_equal(expr->op, VYRE_OP_LITERAL);
    uint32_t bits = (uint32_t)expr->bits[0];
    vyre_program_destroy(&program);
    return bits;
}

static void test_builder_gives_literals_the_type_they_meet(void **state)
{
    (void)state;
    vyre_builder *b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_VOID, num(b, 4294967295u)), 0xffffffffu);
    b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_I32, num(b, 2147483647)), 0x7fffffff);
    b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_I32, op1(b, VYRE_OP_NEGATE, num(b, 2147483648u))),
                     0x80000000u);
    b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_F32, num(b, 16777216)), 0x4b800000);
    b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_F32, num(b, (uint64_t)1 << 63)), 0x5f000000);
    b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_F32, op1(b, VYRE_OP_NEGATE, num(b, 2))),
                     0xc0000000u);

    /* (1 + 2 * -3) beside i32: the whole tree is i32. */
    b = start();
    vyre_expr tree = op2(b, VYRE_OP_ADD, num(b, 1),
                         op2(b, VYRE_OP_MUL, num(b, 2), op1(b, VYRE_OP_NEGATE, num(b, 3))));
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op2(b, VYRE_OP_SUB, tree, vyre_build_i32(b, 7)));
    vyre_program *program = finish(b);
    for (uint32_t i = 1; i < program->exprs.count; i++) {
        assert_int_equal(program->exprs.data[i].type, VYRE_TYPE_I32);
    }
    assert_int_equal(program->exprs.count, 8);
    assert_int_equal(program->exprs.data[3].bits[0], 0xfffffffdu);
    vyre_program_destroy(&program);

    /* Comparisons of literals alone are between u32. */
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, less(b, num(b, 1), num(b, 2)));
    program = finish(b);
    assert_int_equal(program->exprs.data[1].type, VYRE_TYPE_U32);
    vyre_program_destroy(&program);
}

static void test_builder_refuses_literals_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        int negate;
        vyre_type type;
        const char *part;
    } rows[] = {
        {4294967296u, 0, VYRE_TYPE_U32, "4294967296 does not fit u32 (0 .. 4294967295)"},
        {UINT64_MAX, 0, VYRE_TYPE_VOID, "18446744073709551615 does not fit u32"},
        {2147483648u, 0, VYRE_TYPE_I32, "2147483648 does not fit i32"},
        {2147483649u, 1, VYRE_TYPE_I32, "-2147483649 does not fit i32"},
        {16777217, 0, VYRE_TYPE_F32, "16777217 does not fit f32 exactly"},
        {1, 1, VYRE_TYPE_U32, "`-1i`"},
        {1, 1, VYRE_TYPE_VOID, "negative literal -1 stands where u32 is needed"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 9, 2);
        vyre_expr value = num(b, rows[i].value);
        if (rows[i].negate) {
            value = op1(b, VYRE_OP_NEGATE, value);
        }
        vyre_builder_at(b, 10, 2);
        vyre_build_let(b, "v", rows[i].type, value);
        finish_error(b, 9, rows[i].part);
    }
    vyre_builder *b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op1(b, VYRE_OP_NEGATE, vyre_build_u32(b, 1)));
    finish_error(b, 0, "a u32 literal is negated");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID,
                   op2(b, VYRE_OP_ADD, gid(b),
                       op1(b, VYRE_OP_NEGATE, op2(b, VYRE_OP_ADD, num(b, 1), num(b, 2)))));
    finish_error(b, 0, "negated where u32 is needed");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_F32, op2(b, VYRE_OP_AND, num(b, 1), num(b, 2)));
    finish_error(b, 0, "'&' takes an integer, not f32");
}

static void test_builder_folds_the_sign_into_a_literal(void **state)
{
    (void)state;
    vyre_builder *b = start();
    assert_int_equal(settled_bits(b, VYRE_TYPE_VOID, op1(b, VYRE_OP_NEGATE, vyre_build_i32(b, 1))),
                     0xffffffffu);
    b = start();
    assert_int_equal(
        settled_bits(b, VYRE_TYPE_VOID, op1(b, VYRE_OP_NEGATE, vyre_build_f32(b, 0.0f))),
        0x80000000u);
    /* Not of a named constant, which keeps its name. */
    b = start();
    vyre_ref n = vyre_build_constant(b, "n", VYRE_TYPE_I32, 4);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op1(b, VYRE_OP_NEGATE, vyre_build_constant_value(b, n)));
    vyre_program *program = finish(b);
    assert_int_equal(bound(program, 1)->op, VYRE_OP_NEGATE);
    const vy_expr *literal = &program->exprs.data[1];
    assert_int_equal(literal->bits[0], 4);
    assert_string_equal(program->constants.data[literal->ref - 1].name, "n");
    vyre_program_destroy(&program);
}

static void test_builder_casts_untyped_literals_by_their_sign(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID,
                   vyre_build_cast(b, VYRE_TYPE_F32, op1(b, VYRE_OP_NEGATE, num(b, 3))));
    vyre_build_let(b, "w", VYRE_TYPE_VOID, vyre_build_cast(b, VYRE_TYPE_I32, num(b, 3000000000u)));
    vyre_program *program = finish(b);
    assert_int_equal(program->exprs.data[1].type, VYRE_TYPE_I32);
    assert_int_equal(program->exprs.data[1].bits[0], 0xfffffffdu);
    assert_int_equal(program->exprs.data[3].type, VYRE_TYPE_U32);
    vyre_program_destroy(&program);
}

/* ---- Placing --------------------------------------------------------------------------------- */

static void test_builder_places_expressions_in_evaluation_order(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref out = buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32);
    /* Built out of order: the value, then the index. */
    vyre_expr right = op2(b, VYRE_OP_MUL, num(b, 10), vyre_build_u32(b, 11));
    vyre_expr left = op2(b, VYRE_OP_ADD, gid(b), num(b, 1));
    vyre_expr value = op2(b, VYRE_OP_SUB, right, num(b, 12));
    vyre_build_store(b, out, left, value);
    vyre_program *program = finish(b);
    const vy_stmt *store = &program->stmts.data[program->body];
    assert_int_equal(store->kind, VY_STMT_STORE);
    assert_int_equal(store->x.begin, 1);
    assert_int_equal(store->x.end, 4);
    assert_int_equal(store->x.root, 3);
    assert_int_equal(store->y.begin, 4);
    assert_int_equal(store->y.end, 9);
    static const uint16_t ops[] = {0,           VYRE_OP_BUILTIN, VYRE_OP_LITERAL,
                                   VYRE_OP_ADD, VYRE_OP_LITERAL, VYRE_OP_LITERAL,
                                   VYRE_OP_MUL, VYRE_OP_LITERAL, VYRE_OP_SUB};
    assert_int_equal(program->exprs.count, VY_COUNT_OF(ops));
    for (uint32_t i = 1; i < VY_COUNT_OF(ops); i++) {
        const vy_expr *expr = &program->exprs.data[i];
        assert_int_equal(expr->op, ops[i]);
        for (uint32_t a = 0; a < vy_op_get((vyre_op)expr->op)->operand_count; a++) {
            assert_true(expr->arg[a] < i && expr->arg[a] > 0);
        }
    }
    assert_int_equal(program->exprs.data[8].arg[0], 6);
    assert_int_equal(program->exprs.data[8].arg[1], 7);
    vyre_program_destroy(&program);
}

static void test_builder_takes_sums_of_a_million_terms(void **state)
{
    (void)state;
    for (int typed_at = 0; typed_at < 3; typed_at++) {
        vyre_builder *b = start();
        vyre_expr sum = typed_at == 1 ? gid(b) : num(b, 1);
        for (int i = 0; i < 1000000; i++) {
            vyre_expr term = num(b, 1);
            /* Leaning left, and leaning right. */
            sum = typed_at == 2 ? op2(b, VYRE_OP_ADD, term, sum) : op2(b, VYRE_OP_ADD, sum, term);
        }
        vyre_build_let(b, "v", VYRE_TYPE_U32, sum);
        vyre_program *program = finish(b);
        assert_int_equal(program->exprs.count, 2000002);
        assert_int_equal(program->exprs.data[2000001].op, VYRE_OP_ADD);
        vyre_program_destroy(&program);
    }
}

static void test_builder_places_calls_with_their_arguments(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_F32);
    vyre_ref x = vyre_build_function_parameter(b, "x", VYRE_TYPE_F32);
    vyre_build_function_parameter(b, "n", VYRE_TYPE_I32);
    vyre_build_return(b, get(b, x));
    vyre_build_end(b);
    vyre_expr inner_arguments[] = {num(b, 2), num(b, 3)};
    vyre_expr inner = vyre_build_call(b, f, inner_arguments, 2);
    vyre_expr arguments[] = {inner, op1(b, VYRE_OP_NEGATE, num(b, 4))};
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_call(b, f, arguments, 2));
    vyre_program *program = finish(b);
    const vy_expr *call = bound(program, program->body);
    assert_int_equal(call->op, VYRE_OP_CALL);
    assert_int_equal(call->type, VYRE_TYPE_F32);
    assert_int_equal(call->arg[1], 2);
    const uint32_t *placed = program->call_args.data + call->arg[0];
    assert_int_equal(program->exprs.data[placed[0]].op, VYRE_OP_CALL);
    assert_int_equal(program->exprs.data[placed[1]].bits[0], 0xfffffffcu);
    assert_int_equal(program->functions.data[1].parameter_count, 2);
    assert_int_equal(program->functions.data[1].first_parameter, 1);
    vyre_program_destroy(&program);
}

/* ---- Misuse ---------------------------------------------------------------------------------- */

static void test_builder_refuses_a_handle_used_twice(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_expr x = gid(b);
    vyre_builder_at(b, 4, 4);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, op2(b, VYRE_OP_ADD, x, x));
    finish_error(b, 4, "was used before. Fix: bind it with vyre_build_let");
    /* Also when the pool was emptied in between and its places are used again. */
    b = start();
    x = gid(b);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, x);
    vyre_expr other = gid(b);
    assert_int_not_equal(x.id, other.id);
    vyre_build_let(b, "w", VYRE_TYPE_VOID, x);
    finish_error(b, 0, "was used before");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, (vyre_expr){77});
    finish_error(b, 0, "no expression of this builder");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, NO_EXPR);
    finish_error(b, 0, "the value is missing");
    b = start();
    vyre_builder_at(b, 5, 1);
    gid(b);
    vyre_builder_at(b, 6, 1);
    vyre_build_barrier(b);
    finish_error(b, 5, "no statement takes it");
}

static void test_builder_refuses_wrong_references(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref p = vyre_build_param(b, "p", VYRE_TYPE_U32);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_load(b, p, num(b, 0)));
    finish_error(b, 0, "no buffer, private array or table");
    b = start();
    vyre_ref t = vyre_build_table(b, "t", VYRE_TYPE_U32, (const uint32_t[]){1}, 1);
    vyre_build_store(b, t, num(b, 0), num(b, 0));
    finish_error(b, 0, "a table is constant");
    b = start();
    vyre_build_assign(b, (vyre_ref){0xffffffffu}, num(b, 0));
    finish_error(b, 0, "a variable is needed here, but the reference names nothing");
    b = start();
    vyre_ref v = vyre_build_let(b, "v", VYRE_TYPE_VOID, num(b, 0));
    vyre_build_assign(b, v, num(b, 1));
    finish_error(b, 0, "`v` is bound by `let` and cannot be assigned");
    b = start();
    vyre_ref a = vyre_build_array(b, "a", VYRE_TYPE_U32, 4);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, get(b, a));
    finish_error(b, 0, "Fix: use one element: `a[i]`");
}

static void test_builder_checks_nesting(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_end(b);
    finish_error(b, 0, "closes nothing");
    b = start();
    vyre_build_block_begin(b);
    finish_error(b, 0, "still open");
    b = start();
    vyre_build_block_begin(b);
    vyre_build_else(b);
    finish_error(b, 0, "`else` stands where no `if` body is open");
    b = start();
    vyre_build_if_begin(b, vyre_build_bool(b, 1));
    vyre_build_else(b);
    vyre_build_else(b);
    finish_error(b, 0, "`else` stands where");
    b = start();
    vyre_build_switch_begin(b, num(b, 1));
    vyre_build_barrier(b);
    finish_error(b, 0, "directly in a `switch`");
    b = start();
    vyre_build_case_begin(b, NULL, 0);
    finish_error(b, 0, "outside a `switch`");
    b = start();
    vyre_build_break(b);
    finish_error(b, 0, "`break` stands outside a loop");
    b = start();
    vyre_build_while_begin(b, vyre_build_bool(b, 1));
    vyre_build_if_begin(b, vyre_build_bool(b, 1));
    vyre_build_continue(b);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_ok(b);
    b = start();
    vyre_build_barrier(b);
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    finish_error(b, 0, "after the kernel's body");
    b = start();
    vyre_build_block_begin(b);
    buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    finish_error(b, 0, "inside a list of statements");
    b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_barrier(b);
    vyre_build_function_parameter(b, "p", VYRE_TYPE_U32);
    finish_error(b, 0, "no function has just begun");
    b = start();
    vyre_build_fixpoint(b, 3);
    vyre_build_fixpoint(b, 3);
    finish_error(b, 0, "`fixpoint` is given twice");
    for (uint32_t depth = VYRE_MAX_NESTING; depth <= VYRE_MAX_NESTING + 1; depth++) {
        b = start();
        for (uint32_t i = 0; i < depth; i++) {
            vyre_builder_at(b, i + 1, 1);
            vyre_build_block_begin(b);
        }
        for (uint32_t i = 0; i < depth; i++) {
            vyre_build_end(b);
        }
        if (depth == VYRE_MAX_NESTING) {
            finish_ok(b);
        } else {
            finish_error(b, VYRE_MAX_NESTING + 1, "nested more than 256 deep");
        }
    }
}

static void test_builder_links_lists(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_trap(b, 1);
    vyre_build_trap(b, 2);
    vyre_build_else(b);
    vyre_build_trap(b, 3);
    vyre_builder_at(b, 8, 1);
    vyre_build_end(b);
    vyre_build_trap(b, 4);
    vyre_program *program = finish(b);
    const vy_stmt *stmts = program->stmts.data;
    const vy_stmt *branch = &stmts[program->body];
    assert_int_equal(stmts[branch->body].bits, 1);
    assert_int_equal(stmts[stmts[branch->body].next].bits, 2);
    assert_int_equal(stmts[stmts[branch->body].next].next, 0);
    assert_int_equal(stmts[branch->other].bits, 3);
    assert_int_equal(stmts[branch->next].bits, 4);
    assert_int_equal(branch->end_loc.line, 8);
    vyre_program_destroy(&program);
}

static void test_builder_checks_returns_and_calls(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_return(b, num(b, 1));
    finish_error(b, 0, "gives a value where none is returned");
    b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_I32);
    vyre_build_return(b, NO_EXPR);
    finish_error(b, 0, "`return` in `f` gives no value. Fix: return a value of type i32");
    b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_I32);
    vyre_build_return(b, gid(b));
    finish_error(b, 0, "the value returned is u32, but i32 is needed");
    b = start();
    vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_end(b);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_call(b, f, NULL, 0));
    finish_error(b, 0, "`f` gives no value. Fix: call it as a statement");
    b = start();
    f = vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_end(b);
    vyre_build_call_statement(b, NULL, f, (const vyre_expr[]){num(b, 1)}, 1);
    finish_error(b, 0, "`f` takes 0 arguments, but 1 are given");
}

static void test_builder_takes_fma_of_floats(void **state)
{
    (void)state;
    static const vyre_type types[] = {VYRE_TYPE_F16, VYRE_TYPE_F32, VYRE_TYPE_F64};
    for (size_t i = 0; i < VY_COUNT_OF(types); i++) {
        vyre_builder *b = start();
        vyre_expr one = vyre_build_literal(b, types[i], 1);
        vyre_build_let(b, "v", VYRE_TYPE_VOID, op3(b, VYRE_OP_FMA, one, num(b, 2), num(b, 3)));
        vyre_program *program = finish(b);
        assert_int_equal(bound(program, 1)->op, VYRE_OP_FMA);
        assert_int_equal(bound(program, 1)->type, types[i]);
        vyre_program_destroy(&program);
    }
}

static void test_builder_keeps_the_first_error(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_builder_at(b, 2, 1);
    vyre_build_break(b);
    vyre_builder_at(b, 3, 1);
    vyre_build_end(b);
    assert_int_equal(gid(b).id, 0);
    assert_int_equal(vyre_build_let(b, "v", VYRE_TYPE_VOID, num(b, 1)).id, 0);
    finish_error(b, 2, "break");
}

static void test_builder_checks_names_for_length(void **state)
{
    (void)state;
    char name[VYRE_MAX_NAME + 2];
    memset(name, 'n', sizeof name);
    name[VYRE_MAX_NAME] = 0;
    vyre_builder *b = start();
    vyre_build_param(b, name, VYRE_TYPE_U32);
    finish_ok(b);
    name[VYRE_MAX_NAME] = 'n';
    name[VYRE_MAX_NAME + 1] = 0;
    b = start();
    vyre_build_param(b, name, VYRE_TYPE_U32);
    finish_error(b, 0, "longer than 255 bytes");
    b = start();
    vyre_build_param(b, "", VYRE_TYPE_U32);
    finish_error(b, 0, "a param has no name");
    b = start();
    vyre_build_let(b, NULL, VYRE_TYPE_VOID, num(b, 1));
    finish_error(b, 0, "a variable has no name");
}

static void test_builder_accepts_null(void **state)
{
    (void)state;
    vyre_builder *b = NULL;
    vyre_program *program = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_builder_create(NULL, NULL, &b), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_builder_create("p", NULL, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_builder_finish(&b, &program, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_builder_destroy(NULL);
    vyre_builder_destroy(&b);
    vyre_program_destroy(NULL);
    vyre_program_destroy(&program);
    vyre_builder_at(NULL, 1, 1);
    vyre_build_workgroup(NULL, 1, 1, 1);
    vyre_build_barrier(NULL);
    vyre_build_end(NULL);
    vyre_build_else(NULL);
    assert_int_equal(gid(NULL).id, 0);
    assert_int_equal(vyre_build_let(NULL, "v", VYRE_TYPE_U32, NO_EXPR).id, 0);
    assert_int_equal(vyre_program_hash(NULL), 0);
    assert_string_equal(vyre_program_name(NULL), "");
}

/* ---- Lack of memory -------------------------------------------------------------------------- */

static void build_everything(vyre_builder *b)
{
    char name[16];
    vyre_build_workgroup(b, 64, 1, 1);
    vyre_ref in = buffer(b, VYRE_BUFFER_IN, "xs", VYRE_TYPE_F32);
    vyre_ref out =
        vyre_build_buffer(b, VYRE_BUFFER_OUT, "ys", VYRE_TYPE_F32, vyre_build_length(b, in));
    vyre_ref count = buffer(b, VYRE_BUFFER_INOUT, "count", VYRE_TYPE_U32);
    vyre_ref scale = vyre_build_param(b, "scale", VYRE_TYPE_F32);
    vyre_ref table = vyre_build_table(b, "t", VYRE_TYPE_U32, (const uint32_t[]){1, 2, 3}, 3);
    vyre_build_param(b, "seed", VYRE_TYPE_U64);
    vyre_build_vector_constant(b, "unit", VYRE_TYPE_F32X4, (const uint32_t[]){1, 2, 3, 4});
    vyre_ref s = shared(b, "s", 64);
    vyre_ref f = vyre_build_function_begin(b, "half", VYRE_TYPE_F32);
    vyre_ref v = vyre_build_function_parameter(b, "v", VYRE_TYPE_F32);
    vyre_build_return(b, op2(b, VYRE_OP_DIV, get(b, v), num(b, 2)));
    vyre_build_end(b);
    vyre_build_grid_over(b, in);
    vyre_build_uniform_load(b, "n", s, num(b, 0));
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "a%d", i);
        vyre_ref a = vyre_build_let(b, name, VYRE_TYPE_VOID, vyre_build_load(b, in, gid(b)));
        vyre_expr argument = op2(b, VYRE_OP_MUL, get(b, a), vyre_build_param_value(b, scale));
        vyre_build_store(b, out, gid(b), vyre_build_call(b, f, &argument, 1));
    }
    vyre_ref wide = vyre_build_let(
        b, "wide", VYRE_TYPE_VOID,
        vyre_build_vector(b, VYRE_TYPE_F32X2, (const vyre_expr[]){num(b, 1), num(b, 2)}, 2));
    for (uint32_t i = 0; i < 100; i++) {
        vyre_build_block_begin(b);
        vyre_ref moved =
            vyre_build_subgroup(b, VYRE_SUBGROUP_SHUFFLE, "moved",
                                vyre_build_swizzle(b, get(b, wide), "yxyx"), num(b, 1));
        vyre_build_subgroup(b, VYRE_SUBGROUP_ADD, NULL, get(b, moved), NO_EXPR);
        vyre_build_end(b);
    }
    vyre_build_switch_begin(b, vyre_build_load(b, table, gid(b)));
    for (uint32_t i = 0; i < 200; i++) {
        vyre_build_case_begin(b, &i, 1);
        vyre_build_atomic(b, VYRE_ATOMIC_ADD, VYRE_ORDER_RELAXED, "old", count, num(b, 0),
                          num(b, 1), NO_EXPR);
        vyre_build_end(b);
    }
    vyre_build_end(b);
}

static void test_builder_survives_every_failed_allocation(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_builder *b = NULL;
        vyre_program *program = NULL;
        vyre_diag diag;
        vyre_result result = vyre_builder_create("test", &allocator, &b);
        if (result == VYRE_OK) {
            build_everything(b);
            result = vyre_builder_finish(&b, &program, &diag);
        }
        assert_null(b);
        if (memory.calls < n) {
            assert_int_equal(result, VYRE_OK);
            vyre_program_destroy(&program);
            assert_int_equal(memory.live_blocks, 0);
            assert_int_equal(memory.live_size, 0);
            break;
        }
        failures++;
        assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_null(program);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builder_types_every_operator_by_its_shape),
        cmocka_unit_test(test_builder_types_the_odd_shapes),
        cmocka_unit_test(test_builder_refuses_mixed_types_with_the_fix),
        cmocka_unit_test(test_builder_gives_literals_the_type_they_meet),
        cmocka_unit_test(test_builder_refuses_literals_that_do_not_fit),
        cmocka_unit_test(test_builder_folds_the_sign_into_a_literal),
        cmocka_unit_test(test_builder_casts_untyped_literals_by_their_sign),
        cmocka_unit_test(test_builder_places_expressions_in_evaluation_order),
        cmocka_unit_test(test_builder_takes_sums_of_a_million_terms),
        cmocka_unit_test(test_builder_places_calls_with_their_arguments),
        cmocka_unit_test(test_builder_refuses_a_handle_used_twice),
        cmocka_unit_test(test_builder_refuses_wrong_references),
        cmocka_unit_test(test_builder_checks_nesting),
        cmocka_unit_test(test_builder_links_lists),
        cmocka_unit_test(test_builder_checks_returns_and_calls),
        cmocka_unit_test(test_builder_takes_fma_of_floats),
        cmocka_unit_test(test_builder_keeps_the_first_error),
        cmocka_unit_test(test_builder_checks_names_for_length),
        cmocka_unit_test(test_builder_accepts_null),
        cmocka_unit_test(test_builder_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

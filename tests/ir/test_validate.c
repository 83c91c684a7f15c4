/* The validator's rules, one by one: what is accepted, what is refused, where and with which words.
 */
#include "tests/ir/build.h"

static vyre_expr yes(vyre_builder *b)
{
    return vyre_build_bool(b, 1);
}

/* ---- Header and declarations ----------------------------------------------------------------- */

static void test_validate_workgroup_sizes(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_workgroup(b, 32, 32, 1);
    finish_ok(b);
    b = start();
    vyre_build_workgroup(b, 32, 32, 2);
    finish_error(b, 0, "more than 1024 invocations");
    b = start();
    vyre_build_workgroup(b, 0x10000, 0x10000, 0x10000);
    finish_error(b, 0, "every device takes 128");
    b = start();
    vyre_build_workgroup(b, 1, 0, 1);
    finish_error(b, 0, "the workgroup size 1, 0, 1 has a zero");
}

static void test_validate_fixpoint_and_its_flag(void **state)
{
    (void)state;
    static const struct {
        vyre_buffer_mode mode;
        vyre_type type;
        int ok;
    } rows[] = {{VYRE_BUFFER_SCRATCH, VYRE_TYPE_U32, 1},     {VYRE_BUFFER_INOUT, VYRE_TYPE_U32, 1},
                {VYRE_BUFFER_INOUT, VYRE_TYPE_I32, 0},       {VYRE_BUFFER_OUT, VYRE_TYPE_U32, 0},
                {VYRE_BUFFER_IN, VYRE_TYPE_U32, 0},          {VYRE_BUFFER_SHARED, VYRE_TYPE_U32, 0},
                {VYRE_BUFFER_SCRATCH_KEEP, VYRE_TYPE_U32, 0}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 4, 1);
        vyre_ref flag = vyre_build_buffer(b, rows[i].mode, "flag", rows[i].type, num(b, 1));
        vyre_build_fixpoint_until(b, 10, flag);
        if (rows[i].ok) {
            finish_ok(b);
        } else {
            finish_error(b, 4, "the flag `flag` of `until`");
        }
    }
    vyre_builder *b = start();
    vyre_build_fixpoint(b, 0);
    finish_error(b, 0, "`fixpoint 0` runs no pass");
}

static void test_validate_grid_over(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_grid_over(b, buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32));
    vyre_build_workgroup(b, 64, 1, 1);
    finish_ok(b);
    b = start();
    vyre_build_grid_over(b, buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32));
    vyre_build_workgroup(b, 8, 8, 1);
    finish_error(b, 0, "workgroup of one dimension, not 8, 8, 1. Fix: write `workgroup 8`");
    b = start();
    vyre_builder_at(b, 2, 1);
    vyre_build_grid_over(b, shared(b, "s", 4));
    finish_error(b, 2, "names a shared buffer");
    b = start();
    vyre_builder_at(b, 2, 1);
    vyre_ref groups = vyre_build_buffer(b, VYRE_BUFFER_SCRATCH, "g", VYRE_TYPE_U32,
                                        vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_X));
    vyre_builder_at(b, 3, 1);
    vyre_build_grid_over(
        b, vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32, vyre_build_length(b, groups)));
    finish_error(b, 3, "whose count follows the grid by num_groups");
}

static void test_validate_grid_from(void **state)
{
    (void)state;
    static const struct {
        vyre_buffer_mode mode;
        vyre_type type;
        int ok;
    } rows[] = {{VYRE_BUFFER_IN, VYRE_TYPE_U32, 1},      {VYRE_BUFFER_UNIFORM, VYRE_TYPE_U32, 1},
                {VYRE_BUFFER_IN, VYRE_TYPE_I32, 0},      {VYRE_BUFFER_INOUT, VYRE_TYPE_U32, 0},
                {VYRE_BUFFER_SCRATCH, VYRE_TYPE_U32, 0}, {VYRE_BUFFER_OUT, VYRE_TYPE_U32, 0},
                {VYRE_BUFFER_SHARED, VYRE_TYPE_U32, 0}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 4, 1);
        vyre_build_workgroup(b, 4, 4, 4);
        vyre_build_grid_from(b, vyre_build_buffer(b, rows[i].mode, "n", rows[i].type, num(b, 3)));
        if (rows[i].ok) {
            finish_ok(b);
        } else {
            finish_error(b, 4, "the buffer `n` of `grid from`");
        }
    }
    vyre_builder *b = start();
    vyre_ref n = buffer(b, VYRE_BUFFER_IN, "n", VYRE_TYPE_U32);
    vyre_build_grid_from(b, n);
    vyre_build_grid_over(b, n);
    finish_error(b, 0, "grid over");
}

static void test_validate_grid_of(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref x = buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    vyre_build_workgroup(b, 4, 4, 4);
    vyre_build_grid_of(b, vyre_build_length(b, x), num(b, 2), num(b, 3));
    finish_ok(b);
    b = start();
    vyre_builder_at(b, 2, 1);
    x = shared(b, "s", 4);
    vyre_build_grid_of(b, vyre_build_length(b, x), NO_EXPR, NO_EXPR);
    finish_error(b, 2, "cannot evaluate the workgroups of `grid of`");
    b = start();
    vyre_builder_at(b, 2, 1);
    vyre_build_grid_of(b, num(b, 1), vyre_build_builtin(b, VYRE_BUILTIN_GID_X), NO_EXPR);
    finish_error(b, 2, "cannot evaluate the workgroups of `grid of`");
    /* By way of two lengths. */
    b = start();
    x = vyre_build_buffer(b, VYRE_BUFFER_SCRATCH, "g", VYRE_TYPE_U32,
                          vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_Y));
    x = vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32, vyre_build_length(b, x));
    vyre_builder_at(b, 3, 1);
    vyre_build_grid_of(b, num(b, 1), num(b, 1), vyre_build_length(b, x));
    finish_error(b, 3, "follow num_groups");
    b = start();
    vyre_build_grid_of(b, NO_EXPR, num(b, 1), NO_EXPR);
    finish_error(b, 0, "a count of `grid of`");
    b = start();
    vyre_build_block_begin(b);
    vyre_build_grid_of(b, num(b, 1), NO_EXPR, NO_EXPR);
    vyre_build_end(b);
    finish_error(b, 0, "inside a list of statements");
    b = start();
    vyre_build_grid_of(b, num(b, 1), NO_EXPR, NO_EXPR);
    vyre_build_grid_of(b, num(b, 1), NO_EXPR, NO_EXPR);
    finish_error(b, 0, "grid of");
}

/* The host does not know it. */
static void test_validate_num_groups_with_grid_from(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_grid_from(b, buffer(b, VYRE_BUFFER_IN, "n", VYRE_TYPE_U32));
    vyre_builder_at(b, 3, 1);
    vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32,
                      vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_Y));
    finish_error(b, 3, "the device alone knows num_groups");
    for (int has_sync = 0; has_sync < 2; has_sync++) {
        b = start();
        vyre_build_grid_from(b, buffer(b, VYRE_BUFFER_IN, "n", VYRE_TYPE_U32));
        vyre_build_for_begin(b, "i", num(b, 0), vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_X),
                             NO_EXPR);
        vyre_builder_at(b, 5, 1);
        if (has_sync) {
            vyre_build_grid_sync(b);
        }
        vyre_build_end(b);
        if (has_sync) {
            finish_error(b, 5,
                         "`num_groups.x`. Fix: use only literals, params, indices of such "
                         "loops, lengths of buffers that are not shared and group_size (with "
                         "`grid from` the device alone knows num_groups) there");
        } else {
            finish_ok(b);
        }
    }
    b = start();
    vyre_build_for_begin(b, "i", num(b, 0), vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_X),
                         NO_EXPR);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    finish_ok(b);
}

static void test_validate_buffer_counts(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref x = buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    vyre_ref n = vyre_build_param(b, "n", VYRE_TYPE_U32);
    vyre_build_buffer(b, VYRE_BUFFER_SCRATCH, "s", VYRE_TYPE_U32,
                      op2(b, VYRE_OP_ADD, vyre_build_length(b, x),
                          op2(b, VYRE_OP_MUL, vyre_build_param_value(b, n),
                              vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_X))));
    finish_ok(b);
    b = start();
    vyre_builder_at(b, 3, 1);
    buffer(b, VYRE_BUFFER_SCRATCH, "s", VYRE_TYPE_U32);
    finish_error(b, 3, "the scratch buffer `s` has no count");
    b = start();
    buffer(b, VYRE_BUFFER_SCRATCH_KEEP, "s", VYRE_TYPE_U32);
    finish_error(b, 0, "the scratch keep buffer `s` has no count");
    b = start();
    vyre_builder_at(b, 3, 9);
    vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32, gid(b));
    finish_error(b, 3, "the host cannot evaluate the count of `o`");
    b = start();
    x = buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32, vyre_build_load(b, x, num(b, 0)));
    finish_error(b, 0, "the host cannot evaluate the count of `o`");
    b = start();
    vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32,
                      vyre_build_cast(b, VYRE_TYPE_U32, vyre_build_f32(b, 4)));
    finish_error(b, 0, "over bool, u32 and i32");
    b = start();
    vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32, vyre_build_i32(b, 4));
    finish_error(b, 0, "the count of a buffer is i32, but u32 is needed");
    b = start();
    buffer(b, VYRE_BUFFER_SHARED, "s", VYRE_TYPE_U32);
    finish_error(b, 0, "the count of the shared buffer `s` is no literal above 0");
    b = start();
    shared(b, "s", 0);
    finish_error(b, 0, "is no literal above 0");
    b = start();
    vyre_build_buffer(b, VYRE_BUFFER_SHARED, "s", VYRE_TYPE_U32,
                      op2(b, VYRE_OP_ADD, num(b, 1), num(b, 2)));
    finish_error(b, 0, "is no literal above 0");
}

static void test_validate_limits_of_declarations(void **state)
{
    (void)state;
    char name[16];
    for (uint32_t extra = 0; extra < 2; extra++) {
        vyre_builder *b = start();
        for (uint32_t i = 0; i < VYRE_MAX_BUFFERS + extra; i++) {
            snprintf(name, sizeof name, "b%u", i);
            buffer(b, VYRE_BUFFER_IN, name, VYRE_TYPE_U32);
        }
        vyre_builder *s = start();
        for (uint32_t i = 0; i < VYRE_MAX_SHARED + extra; i++) {
            snprintf(name, sizeof name, "s%u", i);
            shared(s, name, 1);
        }
        vyre_builder *p = start();
        for (uint32_t i = 0; i < VYRE_MAX_PARAMS + extra; i++) {
            snprintf(name, sizeof name, "p%u", i);
            vyre_build_param(p, name, VYRE_TYPE_U32);
        }
        if (extra) {
            finish_error(b, 0, "the program has 25 buffers, more than 24");
            finish_error(s, 0, "the program has 65 shared buffers, more than 64");
            finish_error(p, 0, "the program has 257 params, more than 256");
        } else {
            finish_ok(b);
            finish_ok(s);
            finish_ok(p);
        }
    }
    vyre_builder *b = start();
    vyre_build_table(b, "t", VYRE_TYPE_U32, NULL, 0);
    finish_error(b, 0, "a table has no elements");
}

/* ---- Names and scopes ------------------------------------------------------------------------ */

static void test_validate_names_are_unique(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_builder_at(b, 2, 4);
    buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    vyre_builder_at(b, 3, 4);
    vyre_build_param(b, "x", VYRE_TYPE_U32);
    finish_error(b, 3, "the name `x` of a param is taken: a buffer has it at 2:4");
    b = start();
    vyre_build_param(b, "x", VYRE_TYPE_U32);
    vyre_builder_at(b, 9, 4);
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    finish_error(b, 9, "the name `x` of a variable is taken: a param has it");
    b = start();
    vyre_builder_at(b, 4, 1);
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    vyre_build_block_begin(b);
    vyre_builder_at(b, 5, 1);
    vyre_build_for_begin(b, "x", num(b, 0), num(b, 1), NO_EXPR);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_error(b, 5, "the name `x` of a loop index is taken: a variable has it at 4:1");
    b = start();
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    finish_error(b, 0, "shadowing is not allowed");
    /* Lists beside each other, both parts of an if, and functions may use a name again. */
    b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_function_parameter(b, "x", VYRE_TYPE_U32);
    vyre_build_end(b);
    vyre_build_if_begin(b, yes(b));
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    vyre_build_else(b);
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    vyre_build_end(b);
    for (int i = 0; i < 2; i++) {
        vyre_build_for_begin(b, "x", num(b, 0), num(b, 1), NO_EXPR);
        vyre_build_end(b);
    }
    vyre_build_let(b, "x", VYRE_TYPE_VOID, num(b, 1));
    finish_ok(b);
}

static void test_validate_names_are_writable(void **state)
{
    (void)state;
    static const char *const bad[] = {"1x", "a b", "if", "gid", "u32", "min", "\xc3\xa4"};
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 6, 1);
        vyre_build_let(b, bad[i], VYRE_TYPE_VOID, num(b, 1));
        finish_error(b, 6, "cannot name a variable");
    }
    vyre_builder *b = NULL;
    assert_int_equal(vyre_builder_create("not a name", NULL, &b), VYRE_OK);
    finish_error(b, 0, "a program cannot be called `not a name`");
}

static void test_validate_variables_are_used_in_their_list(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_block_begin(b);
    vyre_ref x = vyre_build_var(b, "x", VYRE_TYPE_VOID, num(b, 1));
    vyre_build_end(b);
    vyre_builder_at(b, 5, 2);
    vyre_build_let(b, "y", VYRE_TYPE_VOID, get(b, x));
    finish_error(b, 5, "`x` is used outside the list that declares it");
    b = start();
    vyre_build_block_begin(b);
    x = vyre_build_var(b, "x", VYRE_TYPE_VOID, num(b, 1));
    vyre_build_end(b);
    vyre_builder_at(b, 6, 2);
    vyre_build_assign(b, x, num(b, 2));
    finish_error(b, 6, "`x` is used outside");
    b = start();
    x = vyre_build_for_begin(b, "i", num(b, 0), num(b, 1), NO_EXPR);
    vyre_build_end(b);
    vyre_build_let(b, "y", VYRE_TYPE_VOID, get(b, x));
    finish_error(b, 0, "`i` is used outside");
    b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    x = vyre_build_function_parameter(b, "p", VYRE_TYPE_U32);
    vyre_build_end(b);
    vyre_build_let(b, "y", VYRE_TYPE_VOID, get(b, x));
    finish_error(b, 0, "`p` is used outside");
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void test_validate_writes_by_mode(void **state)
{
    (void)state;
    for (int mode = 0; mode < VYRE_BUFFER_MODE_COUNT; mode++) {
        for (int atomic = 0; atomic < 3; atomic++) {
            vyre_builder *b = start();
            vyre_ref x =
                vyre_build_buffer(b, (vyre_buffer_mode)mode, "x", VYRE_TYPE_U32, num(b, 4));
            vyre_builder_at(b, 5, 3);
            if (atomic == 0) {
                vyre_build_store(b, x, num(b, 0), num(b, 1));
            } else if (atomic == 1) {
                vyre_build_atomic(b, VYRE_ATOMIC_LOAD, VYRE_ORDER_RELAXED, "v", x, num(b, 0),
                                  NO_EXPR, NO_EXPR);
            } else {
                vyre_build_atomic(b, VYRE_ATOMIC_MAX, VYRE_ORDER_RELAXED, NULL, x, num(b, 0),
                                  num(b, 7), NO_EXPR);
            }
            if (mode == VYRE_BUFFER_IN || mode == VYRE_BUFFER_UNIFORM) {
                finish_error(b, 5, atomic ? "an atomic on the `" : "a store on the `");
            } else {
                finish_ok(b);
            }
        }
    }
}

static void test_validate_atomic_types(void **state)
{
    (void)state;
    for (unsigned op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        for (unsigned type = VYRE_TYPE_BOOL; type <= VYRE_TYPE_F32; type++) {
            vyre_builder *b = start();
            vyre_ref x = buffer(b, VYRE_BUFFER_INOUT, "x", (vyre_type)type);
            uint32_t count = vy_atomic_operand_count((vyre_atomic)op);
            vyre_expr operands[2] = {NO_EXPR, NO_EXPR};
            for (uint32_t i = 0; i < count; i++) {
                operands[i] = type == VYRE_TYPE_BOOL ? yes(b) : num(b, 3);
            }
            vyre_builder_at(b, 8, 1);
            vyre_build_atomic(b, (vyre_atomic)op, VYRE_ORDER_RELAXED, NULL, x, num(b, 0),
                              operands[0], operands[1]);
            bool f32_ok = op == VYRE_ATOMIC_ADD || op == VYRE_ATOMIC_EXCHANGE ||
                          op == VYRE_ATOMIC_LOAD || op == VYRE_ATOMIC_STORE;
            if (type == VYRE_TYPE_BOOL) {
                finish_error(b, 8, "on the bool buffer `x`");
            } else if (type == VYRE_TYPE_F32 && !f32_ok) {
                finish_error(b, 8, "on the f32 buffer `x`");
            } else {
                finish_ok(b);
            }
        }
    }
}

static void test_validate_atomic_orders(void **state)
{
    (void)state;
    /* By order: bit 0 loads, 1 stores, 2 read-modify-writes. */
    static const uint8_t legal[] = {7, 5, 6, 4};
    static const vyre_atomic kinds[] = {VYRE_ATOMIC_LOAD, VYRE_ATOMIC_STORE, VYRE_ATOMIC_ADD};
    for (int order = 0; order < 4; order++) {
        for (int kind = 0; kind < 3; kind++) {
            vyre_builder *b = start();
            vyre_ref x = buffer(b, VYRE_BUFFER_INOUT, "x", VYRE_TYPE_U32);
            vyre_builder_at(b, 3, 3);
            vyre_build_atomic(b, kinds[kind], (vyre_order)order, NULL, x, num(b, 0),
                              kind == 0 ? NO_EXPR : num(b, 1), NO_EXPR);
            if (legal[order] >> kind & 1) {
                finish_ok(b);
            } else {
                finish_error(b, 3, "cannot have this order. Fix: use relaxed or ");
            }
        }
    }
}

static void test_validate_switch_cases(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_switch_begin(b, gid(b));
    vyre_build_case_begin(b, (const uint32_t[]){5, 1, 3}, 3);
    vyre_build_end(b);
    vyre_build_case_begin(b, NULL, 0);
    vyre_build_switch_begin(b, gid(b));
    vyre_build_case_begin(b, (const uint32_t[]){5}, 1);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_case_begin(b, (const uint32_t[]){2}, 1);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_ok(b);
    b = start();
    vyre_build_switch_begin(b, vyre_build_cast(b, VYRE_TYPE_I32, gid(b)));
    vyre_build_case_begin(b, (const uint32_t[]){4, 0xffffffffu}, 2);
    vyre_build_end(b);
    vyre_builder_at(b, 7, 1);
    vyre_build_case_begin(b, (const uint32_t[]){1, 0xffffffffu}, 2);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_error(b, 7, "the case -1 is there twice");
    b = start();
    vyre_build_switch_begin(b, gid(b));
    vyre_builder_at(b, 7, 1);
    vyre_build_case_begin(b, NULL, 0);
    vyre_build_end(b);
    vyre_builder_at(b, 8, 1);
    vyre_build_case_begin(b, NULL, 0);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_error(b, 8, "two `default`s, the first at 7:1");
}

static void test_validate_for_steps(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 9), num(b, 2));
    vyre_build_end(b);
    vyre_build_for_down_begin(b, "i", vyre_build_i32(b, -3), num(b, 9), num(b, 2));
    vyre_build_end(b);
    finish_ok(b);
    b = start();
    vyre_builder_at(b, 4, 6);
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 9), num(b, 0));
    vyre_build_end(b);
    finish_error(b, 4, "the step of a `for` is not above 0. Fix: use at least 1");
    b = start();
    vyre_build_for_begin(b, "i", vyre_build_i32(b, 0), num(b, 9),
                         op1(b, VYRE_OP_NEGATE, num(b, 1)));
    vyre_build_end(b);
    finish_error(b, 0, "without the sign, and `down` behind it");
    b = start();
    vyre_build_for_begin(b, "i", vyre_build_f32(b, 0), num(b, 9), NO_EXPR);
    vyre_build_end(b);
    finish_error(b, 0, "the range of `for` is f32, but u32 or i32 is needed");
}

static void test_validate_array_sizes(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        int ok;
    } rows[] = {{0, 0}, {1, 1}, {65536, 1}, {65537, 0}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 2, 2);
        vyre_build_array(b, "a", VYRE_TYPE_U32, rows[i].count);
        if (rows[i].ok) {
            finish_ok(b);
        } else {
            finish_error(b, 2, "the private array `a` has ");
        }
    }
}

/* ---- Functions ------------------------------------------------------------------------------- */

static void test_validate_functions_do_not_recurse(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_builder_at(b, 3, 3);
    vyre_build_call_statement(b, NULL, f, NULL, 0);
    vyre_build_end(b);
    finish_error(b, 3, "functions do not recurse, but `f` calls `f`: f > f");
}

static void test_validate_functions_hold_no_grid_sync(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_builder_at(b, 3, 3);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    finish_error(b, 3, "grid_sync stands in the function `f`");
}

static void build_returning(vyre_builder *b, int kind)
{
    vyre_build_function_begin(b, "f", VYRE_TYPE_U32);
    switch (kind) {
    case 0: /* both parts of an if */
    case 1: /* one part only */
        vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
        vyre_build_return(b, num(b, 1));
        vyre_build_else(b);
        if (kind == 0) {
            vyre_build_block_begin(b);
            vyre_build_return(b, num(b, 2));
            vyre_build_end(b);
        }
        vyre_build_end(b);
        break;
    case 2: /* all cases with a default */
    case 3: /* without a default */
    case 4: /* a case that goes on */
        vyre_build_switch_begin(b, gid(b));
        vyre_build_case_begin(b, (const uint32_t[]){1}, 1);
        vyre_build_return(b, num(b, 1));
        vyre_build_end(b);
        vyre_build_case_begin(b, (const uint32_t[]){2}, kind == 3 ? 1 : 0);
        if (kind != 4) {
            vyre_build_return(b, num(b, 1));
        }
        vyre_build_end(b);
        vyre_build_end(b);
        break;
    default: /* only in a loop */
        vyre_build_while_begin(b, vyre_build_bool(b, 1));
        vyre_build_return(b, num(b, 1));
        vyre_build_end(b);
        break;
    }
    vyre_build_end(b);
}

static void test_validate_functions_return_on_every_path(void **state)
{
    (void)state;
    for (int kind = 0; kind <= 5; kind++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 2, 1);
        build_returning(b, kind);
        if (kind == 0 || kind == 2) {
            finish_ok(b);
        } else {
            finish_error(b, 2, "`f` can end without a value");
        }
    }
    vyre_builder *b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_U32);
    vyre_build_end(b);
    finish_error(b, 0, "`f` can end without a value");
}

static void test_validate_impure_calls_stand_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        vyre_builder *b = start();
        vyre_ref out = buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32);
        vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_U32);
        if (kind != 1) {
            vyre_build_store(b, out, num(b, 0), num(b, 1));
        }
        vyre_build_return(b, num(b, 2));
        vyre_build_end(b);
        vyre_ref g = vyre_build_function_begin(b, "g", VYRE_TYPE_U32);
        vyre_ref inner = vyre_build_call_statement(b, "inner", f, NULL, 0);
        vyre_build_return(b, get(b, inner));
        vyre_build_end(b);
        vyre_builder_at(b, 9, 9);
        if (kind == 2) {
            vyre_build_call_statement(b, "v", g, NULL, 0);
        } else {
            vyre_build_let(b, "v", VYRE_TYPE_VOID,
                           op2(b, VYRE_OP_ADD, num(b, 1), vyre_build_call(b, g, NULL, 0)));
        }
        if (kind == 0) {
            finish_error(b, 9, "`g` has effects and is called inside an expression");
        } else {
            vyre_program *program = finish(b);
            assert_int_equal(program->functions.data[2].impure, kind == 2);
            vyre_program_destroy(&program);
        }
    }
}

/* f0 doubles f1 doubles ... : the size with calls expanded is 2^levels. */
static vyre_builder *build_doubling(uint32_t levels)
{
    vyre_builder *b = start();
    vyre_ref last = {0};
    char name[16];
    for (uint32_t i = 0; i < levels; i++) {
        snprintf(name, sizeof name, "fn%u", i);
        vyre_ref f = vyre_build_function_begin(b, name, VYRE_TYPE_U32);
        if (i > 0) {
            vyre_build_return(b, op2(b, VYRE_OP_ADD, vyre_build_call(b, last, NULL, 0),
                                     vyre_build_call(b, last, NULL, 0)));
        } else {
            vyre_build_return(b, num(b, 1));
        }
        vyre_build_end(b);
        last = f;
    }
    vyre_builder_at(b, 99, 1);
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_call(b, last, NULL, 0));
    return b;
}

static void test_validate_expanded_size(void **state)
{
    (void)state;
    finish_ok(build_doubling(20));
    finish_error(build_doubling(40), 0, "with its calls expanded the program has more than");
}

static void test_validate_expanded_nesting(void **state)
{
    (void)state;
    for (uint32_t levels = 250; levels <= 260; levels += 10) {
        vyre_builder *b = start();
        vyre_ref last = {0};
        char name[16];
        for (uint32_t i = 0; i < levels; i++) {
            snprintf(name, sizeof name, "fn%u", i);
            vyre_ref f = vyre_build_function_begin(b, name, VYRE_TYPE_VOID);
            if (i > 0) {
                vyre_build_call_statement(b, NULL, last, NULL, 0);
            }
            vyre_build_end(b);
            last = f;
        }
        vyre_build_call_statement(b, NULL, last, NULL, 0);
        if (levels < VYRE_MAX_NESTING) {
            finish_ok(b);
        } else {
            finish_error(b, 0, "nested more than 256 deep");
        }
    }
}

static void test_validate_numbers_record_sites_in_textual_order(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_trap(b, 100);
    vyre_build_end(b);
    vyre_build_while_begin(b, less(b, gid(b), num(b, 1)));
    vyre_build_trap(b, 102);
    vyre_build_end(b);
    vyre_build_trap(b, 103);
    vyre_program *program = finish(b);
    assert_int_equal(program->site_count, 4);
    uint32_t seen = 0;
    for (uint32_t i = 1; i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        if (stmt->kind == VY_STMT_TRAP) {
            assert_int_equal(stmt->bits, 100 + stmt->site);
            seen |= 1u << stmt->site;
        } else if (stmt->kind == VY_STMT_WHILE) {
            assert_int_equal(stmt->site, 1);
            seen |= 2;
        }
    }
    assert_int_equal(seen, 15);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate_workgroup_sizes),
        cmocka_unit_test(test_validate_fixpoint_and_its_flag),
        cmocka_unit_test(test_validate_grid_over),
        cmocka_unit_test(test_validate_grid_from),
        cmocka_unit_test(test_validate_grid_of),
        cmocka_unit_test(test_validate_num_groups_with_grid_from),
        cmocka_unit_test(test_validate_buffer_counts),
        cmocka_unit_test(test_validate_limits_of_declarations),
        cmocka_unit_test(test_validate_names_are_unique),
        cmocka_unit_test(test_validate_names_are_writable),
        cmocka_unit_test(test_validate_variables_are_used_in_their_list),
        cmocka_unit_test(test_validate_writes_by_mode),
        cmocka_unit_test(test_validate_atomic_types),
        cmocka_unit_test(test_validate_atomic_orders),
        cmocka_unit_test(test_validate_switch_cases),
        cmocka_unit_test(test_validate_for_steps),
        cmocka_unit_test(test_validate_array_sizes),
        cmocka_unit_test(test_validate_functions_do_not_recurse),
        cmocka_unit_test(test_validate_functions_hold_no_grid_sync),
        cmocka_unit_test(test_validate_functions_return_on_every_path),
        cmocka_unit_test(test_validate_impure_calls_stand_alone),
        cmocka_unit_test(test_validate_expanded_size),
        cmocka_unit_test(test_validate_expanded_nesting),
        cmocka_unit_test(test_validate_numbers_record_sites_in_textual_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

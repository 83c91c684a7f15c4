/* Each pass does its work and leaves alone what it must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"

#include <stdio.h>
#include <string.h>

/* The value that the last STORE stores. */
static const vy_ins *stored(const ssa_case *c)
{
    uint32_t found = 0;
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        for (uint32_t i = c->ssa.blocks.data[b].first; i; i = c->ssa.ins.data[i].next) {
            found = c->ssa.ins.data[i].op == VY_SSA_STORE ? i : found;
        }
    }
    assert_int_not_equal(found, 0);
    return &c->ssa.ins.data[c->ssa.ins.data[found].arg[1]];
}

/* After fold the value of the last store is this operator, and a literal with these bits. */
static void expect_fold(const char *statements, uint32_t op, uint32_t bits)
{
    ssa_case c;
    case_init(&c, statements);
    case_build(&c, 0);
    case_pass(&c, "fold");
    const vy_ins *value = stored(&c);
    if (value->op != op || (op == VYRE_OP_LITERAL && value->bits != bits)) {
        fail_msg("%s\ngave\n%s", statements, case_print(&c));
    }
    case_finish(&c);
}

static void test_fold_computes_literals(void **state)
{
    (void)state;
    expect_fold("y[0] = 2 + 3", VYRE_OP_LITERAL, 5);
    expect_fold("y[0] = 2 * 3 + 4 * 5", VYRE_OP_LITERAL, 26);
    expect_fold("var s = 1 s = s + 1 s = s + s y[0] = s", VYRE_OP_LITERAL, 4);
    expect_fold("y[0] = T[1]", VYRE_OP_LITERAL, 6);
    expect_fold("y[0] = T[3]", VYRE_OP_LITERAL, 0);
    expect_fold("y[0] = select(1 == 1, 8, k)", VYRE_OP_LITERAL, 8);
    expect_fold("f[0] = 1.5 + 2.25", VYRE_OP_LITERAL, 0x40700000);
}

static void test_fold_knows_identities(void **state)
{
    (void)state;
    expect_fold("b[0] = u32(k < 9) != 0", VYRE_OP_LT, 0);
    expect_fold("b[0] = 1i == i32(k < 9)", VYRE_OP_LT, 0);
    expect_fold("b[0] = u32(k < 9) == 0", VYRE_OP_NOT, 0);
    expect_fold("b[0] = u32(k < 9) != 1", VYRE_OP_NOT, 0);
    expect_fold("b[0] = u32(k < 9) != 2", VYRE_OP_NE, 0);
    expect_fold("b[0] = u32(k < 9) > 0", VYRE_OP_GT, 0);
    expect_fold("b[0] = u32(r) != 0", VYRE_OP_NE, 0);
    expect_fold("y[0] = k + 0", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = 0 + k", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = k * 1", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = k * 0", VYRE_OP_LITERAL, 0);
    expect_fold("y[0] = k / 1", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = k % 0", VYRE_OP_LITERAL, 0);
    expect_fold("y[0] = k / 0", VYRE_OP_DIV, 0);
    expect_fold("y[0] = k - k", VYRE_OP_SUB, 0); /* two reads of a param are two instructions */
    expect_fold("let a = k y[0] = a - a", VYRE_OP_LITERAL, 0);
    expect_fold("let a = k y[0] = a ^ a", VYRE_OP_LITERAL, 0);
    expect_fold("let a = k y[0] = min(a, a)", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = k << 32", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = k & 0xffffffff", VYRE_OP_PARAM, 0);
    expect_fold("y[0] = k | 0xffffffff", VYRE_OP_LITERAL, 0xffffffff);
    expect_fold("y[0] = ~~k", VYRE_OP_PARAM, 0);
    expect_fold("let c = b[0] b[1] = !!c", VYRE_OP_LOAD, 0);
    expect_fold("let c = b[0] b[1] = c == false", VYRE_OP_NOT, 0);
    expect_fold("let c = b[0] b[1] = c && true", VYRE_OP_LOAD, 0);
    expect_fold("let c = b[0] b[1] = c || true", VYRE_OP_LITERAL, 1);
    expect_fold("let c = b[0] b[1] = select(c, true, false)", VYRE_OP_LOAD, 0);
    expect_fold("y[0] = u32(k)", VYRE_OP_PARAM, 0);
    expect_fold("f[0] = bitcast<f32>(bitcast<u32>(r))", VYRE_OP_PARAM, 0);
}

/* What is not exact stays: -0 + 0 is 0, NaN == NaN is false, denormals are the device's. */
static void test_fold_leaves_floats_to_the_device(void **state)
{
    (void)state;
    expect_fold("f[0] = r + 0.0", VYRE_OP_ADD, 0);
    expect_fold("f[0] = r * 1.0", VYRE_OP_MUL, 0);
    expect_fold("let a = r f[0] = a - a", VYRE_OP_SUB, 0);
    expect_fold("let a = r b[0] = a == a", VYRE_OP_EQ, 0);
    expect_fold("f[0] = 1e-40 + 1.0", VYRE_OP_ADD, 0);
    expect_fold("f[0] = sin(1.0)", VYRE_OP_SIN, 0);
    expect_fold("f[0] = -(-r)", VYRE_OP_NEGATE, 0);
}

static void test_fold_keeps_one_literal_for_a_value(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "y[0] = 2 + 3\ny[1] = 1 + 4\ny[2] = 5");
    case_build(&c, 0);
    case_pass(&c, "fold");
    case_pass(&c, "dce");
    assert_int_equal(case_count(&c, VYRE_OP_LITERAL), 4); /* 0 1 2 5 */
    assert_int_equal(case_count(&c, VY_SSA_STORE), 3);
    case_finish(&c);
}

static void expect_blocks(const char *statements, uint32_t blocks, uint32_t stores)
{
    ssa_case c;
    case_init(&c, statements);
    case_build(&c, 0);
    case_pass(&c, "fold");
    if (c.ssa.blocks.count - 1 != blocks || case_count(&c, VY_SSA_STORE) != stores) {
        fail_msg("%s\ngave\n%s", statements, case_print(&c));
    }
    case_pass(&c, "dce");
    case_pass(&c, "trivial-phi");
    case_finish(&c);
}

static void test_fold_drops_branches_never_taken(void **state)
{
    (void)state;
    expect_blocks("if 1 == 2 { y[0] = 1 } y[1] = 2", 2, 1);
    expect_blocks("if 1 == 1 { y[0] = 1 } else { y[0] = 2 } y[1] = 2", 3, 2);
    expect_blocks("if 1 == 1 { return } y[1] = 2", 2, 0);
    expect_blocks("if 1 == 1 { y[0] = 1 return } else { y[0] = 3 } y[1] = 2", 2, 1);
    expect_blocks("switch 2 + 1 { case 1 { y[0] = 1 } case 3 { y[0] = 3 } } y[1] = 2", 3, 2);
    expect_blocks("switch 9 { case 1 { y[0] = 1 } case 3 { y[0] = 3 } } y[1] = 2", 2, 1);
    /* A loop that never runs keeps its header, with nothing that reaches its continue block. */
    expect_blocks("while 1 == 2 { y[0] = 1 } y[1] = 2", 5, 1);
    /* A while for ever is left by its budget only. */
    expect_blocks("var s = k while true { s = s + 1 y[0] = s } y[1] = 2", 8, 2);
    /* The first condition decides the second one. */
    expect_blocks("var s = 1 if 1 == 2 { s = 2 } if s == 2 { y[0] = 1 } y[1] = 2", 3, 1);
}

static void test_trivial_phi_removes_what_a_loop_does_not_change(void **state)
{
    (void)state;
    ssa_case c;
    /* `s` is assigned on ways that leave the loop only; `t` changes. */
    case_init(&c, "var s = k\nvar t = 0\nfor i in 0 .. k {\n for j in 0 .. i {\n"
                  "  if x[j] == 4 { s = 9 break }\n  t = t + 1\n }\n}\ny[0] = s\ny[1] = t");
    case_build(&c, 0);
    uint32_t before = case_count(&c, VY_SSA_PHI);
    case_pass(&c, "trivial-phi");
    uint32_t after = case_count(&c, VY_SSA_PHI);
    assert_int_equal(before, 7);
    assert_int_equal(after, 6);
    case_finish(&c);
}

static void test_dce_removes_what_nobody_reads(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "let a = x[k] * 3\nlet c = atomic_add(y[0], 1)\nvar s = 0\nvar m : u32[4]\n"
                  "m[1] = 7\nfor i in 0 .. k { s = s + x[i] }\nif a > 9 { }\ny[1] = 2");
    case_build(&c, 0);
    assert_int_equal(case_count(&c, VYRE_OP_LOAD), 2);
    case_pass(&c, "dce");
    assert_int_equal(case_count(&c, VYRE_OP_LOAD), 0);
    assert_int_equal(case_count(&c, VY_SSA_ATOMIC), 1);
    assert_int_equal(case_count(&c, VY_SSA_ARRAY_STORE), 0);
    assert_int_equal(case_count(&c, VY_SSA_ARRAY_ZERO), 0);
    assert_int_equal(case_count(&c, VY_SSA_PHI), 1); /* the index */
    assert_int_equal(case_count(&c, VY_SSA_STORE), 1);
    case_finish(&c);
}

static void test_dce_keeps_stores_that_are_loaded(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "var m : u32[4]\nm[k] = 7\nm[k + 1] = 8\ny[1] = m[x[0]]");
    case_build(&c, 0);
    case_pass(&c, "dce");
    assert_int_equal(case_count(&c, VY_SSA_ARRAY_ZERO), 1);
    assert_int_equal(case_count(&c, VY_SSA_ARRAY_STORE), 2);
    assert_int_equal(case_count(&c, VYRE_OP_ADD), 1);
    case_finish(&c);
}

static void expect_canonical(const char *statements, uint32_t wanted)
{
    ssa_case c;
    case_init(&c, statements);
    case_build(&c, 0);
    case_pass(&c, "trivial-phi");
    case_pass(&c, "canonical-nan");
    if (case_count(&c, VY_SSA_CANONICAL_NAN) != wanted) {
        fail_msg("%s\nhas not %u:\n%s", statements, (unsigned)wanted, case_print(&c));
    }
    case_finish(&c);
}

static void test_canonical_nan_stands_where_bits_are_seen(void **state)
{
    (void)state;
    expect_canonical("f[0] = r + 1.0", 1);
    expect_canonical("y[0] = bitcast<u32>(r * 2.0)", 1);
    expect_canonical("let a = r * 2.0 f[0] = a f[1] = a y[0] = bitcast<u32>(a)", 1);
    expect_canonical("var m : f32[2] m[0] = r / 2.0 f[0] = m[1]", 1);
    expect_canonical("f[0] = f32(r + 1.0)", 1);
    expect_canonical("f[0] = copysign(1.0, r - r)", 1); /* the sign only: |1.0| is no NaN */
    /* Not seen. */
    expect_canonical("b[0] = r + 1.0 > 3.0", 0);
    expect_canonical("y[0] = u32(r + 1.0)", 0);
    expect_canonical("b[0] = is_nan(r + 1.0)", 0);
    /* Bits that came from elsewhere are kept. */
    expect_canonical("f[0] = r", 0);
    expect_canonical("f[0] = f[1]", 0);
    expect_canonical("f[0] = bitcast<f32>(k)", 0);
    expect_canonical("y[0] = bitcast<u32>(select(k == 1, r, f[2]))", 0);
    /* Never a NaN. */
    expect_canonical("f[0] = f32(k)", 0);
    expect_canonical("f[0] = sign(r)", 0);
    expect_canonical("f[0] = min(r, 3.0)", 0);
    expect_canonical("f[0] = 2.5", 0);
}

static void test_canonical_nan_follows_selects_and_phis(void **state)
{
    (void)state;
    /* All made by arithmetic: once, at the end. */
    expect_canonical("f[0] = select(k == 1, r + 1.0, r * 2.0)", 1);
    expect_canonical("var s = 0.0 for i in 0 .. k { s = s + f[i] } f[0] = s", 1);
    expect_canonical("var s = r + 1.0 if k == 1 { s = r + 2.0 } f[0] = s", 1);
    /* Mixed with bits that are kept: on the way in. */
    expect_canonical("f[0] = select(k == 1, r + 1.0, r)", 1);
    expect_canonical("var s = r if k == 1 { s = r + 2.0 } f[0] = s", 1);
    expect_canonical("var s = r for i in 0 .. k { s = s + f[i] } f[0] = s", 1);
    expect_canonical("var s = r for i in 0 .. k { s = f[i] } f[0] = s", 0);
}

static void test_canonical_nan_leaves_fast_math_alone(void **state)
{
    (void)state;
    ssa_case c;
    case_init_program(&c, "program t\nworkgroup 1\nfast_math\ninout f : f32[]\n"
                          "kernel { f[0] = f[1] + 1.0 }");
    case_build(&c, 0);
    case_pass(&c, "canonical-nan");
    assert_int_equal(case_count(&c, VY_SSA_CANONICAL_NAN), 0);
    case_finish(&c);
}

static void test_access_tells_reads_writes_and_atomics(void **state)
{
    (void)state;
    ssa_case c;
    vy_access access;
    /* Bindings: x 0, y 1, f 2, n 3, b 4. */
    case_init(&c, "let a = x[0]\nn[1] = i32(a)\natomic_add(y[0], 1)\nw[0] = 3\nbarrier\n"
                  "let l = f[3]\nif k > 3 { trap(1) }");
    case_build(&c, 0);
    vy_ssa_access(&c.ssa, &access);
    assert_true(access.reads == (1u | 2u | 4u | VY_ACCESS_RECORDS));
    assert_true(access.writes == (2u | 8u | VY_ACCESS_RECORDS));
    assert_true(access.atomics == (2u | VY_ACCESS_RECORDS));
    assert_true(access.has_barrier);
    assert_true(access.has_shared);
    case_pass(&c, "dce");
    vy_ssa_access(&c.ssa, &access);
    assert_true(access.reads == (1u | 2u | VY_ACCESS_RECORDS)); /* nobody needs f[3] */
    case_finish(&c);
    case_init(&c, "let l = atomic_load(y[0])\natomic_store(n[0], i32(l))\ngrid_sync\ny[1] = l");
    case_build(&c, 0);
    vy_ssa_access(&c.ssa, &access);
    assert_true(access.reads == 2u);
    assert_true(access.writes == (8u | VY_ACCESS_SPILL));
    assert_true(access.atomics == (2u | 8u));
    assert_false(access.has_barrier);
    assert_false(access.has_shared);
    case_build(&c, 1);
    vy_ssa_access(&c.ssa, &access);
    assert_true(access.reads == VY_ACCESS_SPILL);
    assert_true(access.writes == 2u);
    case_finish(&c);
}

/* Nobody can tell what workgroup memory began with of which each invocation stores its own element
 * before the barrier behind which others look. */
static void test_written_first_is_what_all_store_before_others_look(void **state)
{
    (void)state;
    static const struct {
        const char *head, *statements;
        bool is_first;
    } rows[] = {
        {"64", "w[lid.x] = x[gid.x]\nbarrier\ny[gid.x] = w[63 - lid.x]", true},
        {"64", "w[lid.x] = 1\nw[lid.x] += x[gid.x]\nbarrier\ny[gid.x] = w[0]", true},
        {"64",
         "w[lid.x] = x[gid.x]\nbarrier\nfor i in 0 .. 6 { if lid.x < 32 >> i {\n"
         "w[lid.x] += w[lid.x + (32 >> i)] }\nbarrier }\nif lid.x == 0 { y[wid.x] = w[0] }",
         true},
        {"64", "w[lid.x] = 3\nif x[0] > 4 { barrier\ny[gid.x] = w[x[gid.x] & 63] }", true},
        {"64", "w[lid.x] = x[gid.x]\ny[gid.x] = w[lid.x]", true},
        /* Others look, or store, before all have stored. */
        {"64", "w[lid.x] = x[gid.x]\ny[gid.x] = w[63 - lid.x]", false},
        {"64", "w[63 - lid.x] = x[gid.x]\nw[lid.x] = 1\nbarrier\ny[gid.x] = w[0]", false},
        {"64", "barrier\nw[lid.x] = x[gid.x]\ny[gid.x] = w[0]", false},
        {"64", "w[lid.x] = 3\nif x[0] > 4 { barrier }\ny[gid.x] = w[x[gid.x] & 63]", false},
        /* Some do not store; what was there is added to; elements that nobody stores. */
        {"64", "if x[gid.x] > 3 { w[lid.x] = 1 }\nbarrier\ny[gid.x] = w[0]", false},
        {"64", "w[lid.x] += x[gid.x]\nbarrier\ny[gid.x] = w[0]", false},
        {"64", "let o = atomic_add(w[lid.x], 1)\nbarrier\ny[gid.x] = w[0] + o", false},
        {"32", "w[lid.x] = x[gid.x]\nbarrier\ny[gid.x] = w[33]", false},
        {"128", "w[lid.x] = x[gid.x]\nbarrier\ny[gid.x] = w[3]", false},
        {"64, 2", "w[lid.x] = x[gid.x]\nbarrier\ny[gid.x] = w[3]", false},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        ssa_case c;
        bool is_first[8] = {false};
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "program t\nworkgroup %s\nin x : u32[]\ninout y : u32[]\n"
                       "shared w : u32[64]\nkernel {\n%s\n}\n",
                       rows[i].head, rows[i].statements);
        case_init_program(&c, text);
        case_build(&c, 0);
        assert_true(c.program->buffers.count <= VY_COUNT_OF(is_first));
        assert_true(vy_ssa_find_written_first(&c.ssa, &c.arena, is_first));
        if (is_first[3] != rows[i].is_first || is_first[1] || is_first[2]) {
            fail_msg("%s, %s: %s", rows[i].head, rows[i].statements,
                     is_first[3] ? "written first" : "not written first");
        }
        case_finish(&c);
    }
}

static void test_pipeline_names_its_passes(void **state)
{
    (void)state;
    static const char *const names[] = {"trivial-phi", "fold",          "cse",        "dce",
                                        "licm",        "ranges",        "interleave", "fold",
                                        "dce",         "canonical-nan", "dce"};
    uint32_t count = 0;
    const vy_pass *passes = vy_passes_get(&count);
    assert_int_equal(count, VY_COUNT_OF(names));
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(passes[i].name, names[i]);
        assert_true(strlen(passes[i].summary) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold_computes_literals),
        cmocka_unit_test(test_fold_knows_identities),
        cmocka_unit_test(test_fold_leaves_floats_to_the_device),
        cmocka_unit_test(test_fold_keeps_one_literal_for_a_value),
        cmocka_unit_test(test_fold_drops_branches_never_taken),
        cmocka_unit_test(test_trivial_phi_removes_what_a_loop_does_not_change),
        cmocka_unit_test(test_dce_removes_what_nobody_reads),
        cmocka_unit_test(test_dce_keeps_stores_that_are_loaded),
        cmocka_unit_test(test_canonical_nan_stands_where_bits_are_seen),
        cmocka_unit_test(test_canonical_nan_follows_selects_and_phis),
        cmocka_unit_test(test_canonical_nan_leaves_fast_math_alone),
        cmocka_unit_test(test_access_tells_reads_writes_and_atomics),
        cmocka_unit_test(test_written_first_is_what_all_store_before_others_look),
        cmocka_unit_test(test_pipeline_names_its_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

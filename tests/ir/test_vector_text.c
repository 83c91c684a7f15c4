/* Vectors as text and by the builder: construction, swizzles, component assignment, operators with
 * scalars beside vectors, constants, tables, functions; and what is refused of all that. */
#include "tests/ir/text_support.h"

#include "tests/ir/build.h"

#define VECTORS                                                                                    \
    "program test workgroup 64 param pu : u32 param pi : i32 param pf : f32 param pb : bool\n"     \
    "param u2 : u32x2 param u4 : u32x4 param i2 : i32x2 param i4 : i32x4\n"                        \
    "param f2 : f32x2 param f4 : f32x4 inout b2 : u32x2[] inout b4 : f32x4[]\n"                    \
    "const C2 = f32x2(1.5, -2) const C4 : u32x4 = u32x4(7)\n"                                      \
    "const T2 : i32x2[] = [i32x2(1, -2), i32x2(3)]\n"                                              \
    "fn sum(v: f32x4) -> f32 { return v.x + v.y + v.z + v.w }\n"                                   \
    "fn turn(v: f32x2, c: bool2) -> f32x2 { return select(c, v.yx, v) }\n"                         \
    "kernel {\n"

#define LINE 9 /* of the first statement */

static vyre_type type_of(const char *expression)
{
    char text[1500];
    snprintf(text, sizeof text, VECTORS "let x = %s\n}\n", expression);
    vyre_program *p = parse_ok(text);
    vyre_type type = (vyre_type)root(p, &top(p, 0)->x)->type;
    size_t size = 0;
    char *printed = round_trip_program(p, &size);
    vyre_text_free(NULL, printed, size);
    vyre_program_destroy(&p);
    return type;
}

typedef struct typed_row {
    const char *text;
    vyre_type type;
} typed_row;

static void check_types(const typed_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vyre_type type = type_of(rows[i].text);
        if (type != rows[i].type) {
            print_error("%s is %s\n", rows[i].text, vyre_type_keyword(type));
        }
        assert_int_equal(type, rows[i].type);
    }
}

static void test_vectors_are_made_of_parts(void **state)
{
    (void)state;
    static const typed_row rows[] = {{"u32x2(1, 2)", VYRE_TYPE_U32X2},
                                     {"u32x2(pu)", VYRE_TYPE_U32X2},
                                     {"i32x4(1, -2, pi, 4)", VYRE_TYPE_I32X4},
                                     {"i32x4(-1)", VYRE_TYPE_I32X4},
                                     {"f32x4(f2, 1, 2.5)", VYRE_TYPE_F32X4},
                                     {"f32x4(1, f2, 2)", VYRE_TYPE_F32X4},
                                     {"f32x4(f2, f2.yx)", VYRE_TYPE_F32X4},
                                     {"f32x4(f4)", VYRE_TYPE_F32X4},
                                     {"bool2(true, pb)", VYRE_TYPE_BOOL2},
                                     {"bool4(false)", VYRE_TYPE_BOOL4},
                                     {"f32x2(inf, nan)", VYRE_TYPE_F32X2},
                                     {"u32x2(f2)", VYRE_TYPE_U32X2}, /* a cast */
                                     {"i32x4(u4)", VYRE_TYPE_I32X4},
                                     {"f32x2(u2 == 1)", VYRE_TYPE_F32X2},
                                     {"bool4(i4)", VYRE_TYPE_BOOL4},
                                     {"bitcast<u32x4>(f4)", VYRE_TYPE_U32X4},
                                     {"bitcast<f32x2>(u2)", VYRE_TYPE_F32X2},
                                     {"C2", VYRE_TYPE_F32X2},
                                     {"C4.xyxy", VYRE_TYPE_U32X4},
                                     {"T2[1]", VYRE_TYPE_I32X2},
                                     {"T2[pu].y", VYRE_TYPE_I32},
                                     {"b2[0]", VYRE_TYPE_U32X2},
                                     {"b4[pu].wz", VYRE_TYPE_F32X2},
                                     {"sum(f4)", VYRE_TYPE_F32},
                                     {"turn(f2, bool2(pb)).y", VYRE_TYPE_F32},
                                     {"turn(C2, f2 < C2)", VYRE_TYPE_F32X2}};
    check_types(rows, VY_COUNT_OF(rows));
}

static void test_swizzles_pick_components(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        vyre_type type;
        uint32_t ref;
    } rows[] = {{"u4.x", VYRE_TYPE_U32, VY_SWIZZLE(1, 0)},
                {"u4.w", VYRE_TYPE_U32, VY_SWIZZLE(1, 3)},
                {"u4.wzyx", VYRE_TYPE_U32X4, VY_SWIZZLE(4, 3 | 2 << 2 | 1 << 4)},
                {"u4.zz", VYRE_TYPE_U32X2, VY_SWIZZLE(2, 2 | 2 << 2)},
                {"f2.yxyx", VYRE_TYPE_F32X4, VY_SWIZZLE(4, 1 | 1 << 4)},
                {"(f2 < 1.0).yx", VYRE_TYPE_BOOL2, VY_SWIZZLE(2, 1)},
                {"(-f2).x", VYRE_TYPE_F32, VY_SWIZZLE(1, 0)},
                {"u4.xyzw.w", VYRE_TYPE_U32, VY_SWIZZLE(1, 3)},
                {"min(u2, 3).y", VYRE_TYPE_U32, VY_SWIZZLE(1, 1)}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1500];
        snprintf(text, sizeof text, VECTORS "let x = %s\n}\n", rows[i].text);
        vyre_program *p = parse_ok(text);
        const vy_expr *swizzle = root(p, &top(p, 0)->x);
        assert_int_equal(swizzle->op, VYRE_OP_SWIZZLE);
        assert_int_equal(swizzle->type, rows[i].type);
        assert_int_equal(swizzle->ref, rows[i].ref);
        vyre_program_destroy(&p);
        snprintf(text, sizeof text, VECTORS "let x = %s }", rows[i].text);
        char printed[128];
        snprintf(printed, sizeof printed, "let x = %s\n", rows[i].text);
        prints(text, printed);
    }
}

static void test_operators_work_by_component(void **state)
{
    (void)state;
    static const typed_row rows[] = {{"u2 + u2", VYRE_TYPE_U32X2},
                                     {"u2 + pu", VYRE_TYPE_U32X2},
                                     {"pu + u2", VYRE_TYPE_U32X2},
                                     {"u2 * 3", VYRE_TYPE_U32X2},
                                     {"3 - i4", VYRE_TYPE_I32X4},
                                     {"f4 / 2 - 0.5", VYRE_TYPE_F32X4},
                                     {"-f2", VYRE_TYPE_F32X2},
                                     {"~u4", VYRE_TYPE_U32X4},
                                     {"u4 << 1", VYRE_TYPE_U32X4},
                                     {"u4 << u4", VYRE_TYPE_U32X4},
                                     {"i4 >> u4", VYRE_TYPE_I32X4},
                                     {"u2 == u2", VYRE_TYPE_BOOL2},
                                     {"f4 < 1", VYRE_TYPE_BOOL4},
                                     {"1 >= i2", VYRE_TYPE_BOOL2},
                                     {"u2 == 1 && pb", VYRE_TYPE_BOOL2},
                                     {"!(f4 < pf)", VYRE_TYPE_BOOL4},
                                     {"(u2 == 1) != (u2 < 3)", VYRE_TYPE_BOOL2},
                                     {"select(pb, f4, 1)", VYRE_TYPE_F32X4},
                                     {"select(f4 < 1, 0, f4)", VYRE_TYPE_F32X4},
                                     {"select(u2 < 1, pf, f2)", VYRE_TYPE_F32X2},
                                     {"clamp(f4, 0, 1)", VYRE_TYPE_F32X4},
                                     {"clamp(0.5, f2, 1)", VYRE_TYPE_F32X2},
                                     {"min(i4, pi)", VYRE_TYPE_I32X4},
                                     {"abs_diff(i2, 1)", VYRE_TYPE_U32X2},
                                     {"clz(i4)", VYRE_TYPE_U32X4},
                                     {"extract_bits(u2, 4, u2)", VYRE_TYPE_U32X2},
                                     {"insert_bits(u2, 1, pu, 3)", VYRE_TYPE_U32X2},
                                     {"unpack_byte(u4, u32x4(0, 1, 2, 3))", VYRE_TYPE_U32X4},
                                     {"sqrt(f4)", VYRE_TYPE_F32X4},
                                     {"fma(f2, pf, 1)", VYRE_TYPE_F32X2},
                                     {"is_nan(f4)", VYRE_TYPE_BOOL4},
                                     {"pow(f2, 2)", VYRE_TYPE_F32X2},
                                     {"dot(f4, f4)", VYRE_TYPE_F32},
                                     {"dot(u2, u2 + 1)", VYRE_TYPE_U32},
                                     {"any(u2 == 1)", VYRE_TYPE_BOOL},
                                     {"all(!(f4 < 1))", VYRE_TYPE_BOOL},
                                     {"select(any(u2 == 1), u4, 3).zw", VYRE_TYPE_U32X2}};
    check_types(rows, VY_COUNT_OF(rows));
}

static void check_same(const char *left, const char *right)
{
    char text[2][1500];
    snprintf(text[0], sizeof text[0], VECTORS "%s }", left);
    snprintf(text[1], sizeof text[1], VECTORS "%s }", right);
    vyre_program *p = parse_ok(text[0]), *q = parse_ok(text[1]);
    if (vyre_program_hash(p) != vyre_program_hash(q)) {
        print_error("%s is not %s\n", left, right);
    }
    assert_true(vyre_program_hash(p) == vyre_program_hash(q));
    vyre_program_destroy(&p);
    vyre_program_destroy(&q);
    round_trip(text[0]);
}

static void test_components_are_assigned(void **state)
{
    (void)state;
    check_same("var v = f4 v.y = 2", "var v = f4 v = f32x4(v.x, 2, v.z, v.w)");
    check_same("var v = u2 v.x += pu * 2", "var v = u2 v = u32x2(v.x + pu * 2, v.y)");
    check_same("var v = u2 v.y <<= 3", "var v = u2 v = u32x2(v.x, v.y << 3)");
    check_same("var v = bool2(pb) v.x = true", "var v = bool2(pb) v = bool2(true, v.y)");
    check_same("var v = u2 v += 1", "var v = u2 v = v + 1");
    check_same("b4[pu] *= 2", "b4[pu] = b4[pu] * 2");
    check_same("let v = sum(f4) let w = turn(f2, f2 < 1).yx", "let v = sum(f4)\n"
                                                              "let w = (turn(f2, f2 < 1)).yx");
}

#define refuse_row(text, column, part) refuse(VECTORS text "\n}\n", LINE, column, part)

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    refuse_row("let x = u32x2(1, 2, 3)", 9, "u32x2 has 2 components, but 3 are given");
    refuse_row("let x = u32x2()", 9, "takes 1 to 4 parts, but 0 are given");
    refuse_row("let x = u32x4(1, 2, 3, 4, 5)", 9, "takes 1 to 4 parts, but 5 are given");
    refuse_row("let x = u32x4(1, 2)", 9, "u32x4 has 4 components, but 2 are given");
    refuse_row("let x = u32x4(u2)", 9, "changes the number of components");
    refuse_row("let x = u32x2(1.5, 2)", 15, "a part of a vector is f32, but u32 is needed");
    refuse_row("let x = u32x4(f2, 1, 2)", 15, "a part of a vector is f32x2, but u32 is needed");
    refuse_row("let x = u32(u2)", 9, "changes the number of components. Fix: name the components");
    refuse_row("let x = u2.z", 11, "`.z` names no components of u32x2. Fix: name 1, 2 or 4 of xy");
    refuse_row("let x = u4.xyz", 11, "name 1, 2 or 4 of xyzw");
    refuse_row("let x = u4.xyzwx", 11, "names no components");
    refuse_row("let x = u4.r", 11, "`.r` names no components");
    refuse_row("let x = pu.x", 11, "`.x` stands behind u32, which has no components");
    refuse_row("let x = pu.1", 11, "write 0 in front");
    refuse_row("let x = u4.(1)", 11, "expected the names of components behind '.'");
    refuse_row("let x = u4[0]", 11, "only buffers, arrays and tables are indexed");
    refuse_row("let x = u2 + i2", 12,
               "mixes u32x2 with i32x2, and nothing is converted "
               "implicitly. Fix: convert one of them: `u32x2(...)`");
    refuse_row("let x = u2 + u4", 12,
               "mixes u32x2 with u32x4, and nothing is converted "
               "implicitly. Fix: name the components that are meant");
    refuse_row("let x = f2 + pu", 12, "Fix: convert it: `f32(...)`");
    refuse_row("let x = pu + f2", 12, "Fix: convert it: `f32(...)`");
    refuse_row("let x = f2 + 0.5d", 12, "Fix: write the literal as f32: `0.5`");
    refuse_row("let x = u2 && pb", 12, "'&&' takes bool, not u32x2");
    refuse_row("let x = (u2 < 1) + 1", 18, "mixes bool with");
    refuse_row("if u2 == u2 { }", 7, "the condition of `if` is bool2, but bool is needed");
    refuse_row("let x = select(u2 < 1, f4, f4)", 19, "is bool2, but bool is needed");
    refuse_row("let x = any(pb)", 9, "'any' takes vectors, not bool. Fix: use the bool itself");
    refuse_row("let x = all(u2)", 9, "'all' takes bool, not u32x2");
    refuse_row("let x = any(1)", 9, "'any' takes bool, not u32");
    refuse_row("let x = dot(pf, pf)", 9, "'dot' takes vectors, not f32. Fix: multiply");
    refuse_row("let x = dot(f2, 1)", 9, "'dot' takes vectors, not f32");
    refuse_row("let x = dot(f2, f4)", 9, "mixes f32x2 with f32x4");
    refuse_row("let x = sin(u2)", 9, "'sin' takes f32 or f16, not u32x2");
    refuse_row("let x = u4 << u2", 15, "the amount is u32x2");
    refuse_row("let x = extract_bits(u2, u4, 1)", 26, "the offset is u32x4, but u32 is needed");
    refuse_row("let x = bitcast<u32x2>(f4)", 9, "changes the size");
    refuse_row("let x = bitcast<u32>(bool2(pb))", 9, "does not take or give bool");
    refuse_row("let x : f32 = f2", 15,
               "the value is f32x2, but f32 is needed. Fix: name the "
               "components that are meant, such as `v.x`");
    refuse_row("let x : f32x2 = pf", 17, "Fix: convert it: `f32x2(...)`");
    refuse_row("let x : f32x2 = 1", 17, "is integer literal, but f32x2 is needed");
    refuse_row("b2[0] = 1", 9, "the value stored is integer literal, but u32x2 is needed");
    refuse_row("b2[0].x = 1", 6, "expected '='");
    refuse_row("let v = u2 v.x = 1", 12, "declare a var");
    refuse_row("var v = u2 v.z = 1", 14, "one of .x .y .z .w that it has");
    refuse_row("var v = u2 v.xy = u2", 14, "one of its components is needed");
    refuse_row("var v = pu v.x = 1", 14, "Fix: assign it whole");
    refuse_row("let x = sum(f2)", 13, "the argument is f32x2, but f32x4 is needed");
    refuse_row("b2[u2] = u2", 4, "the index is u32x2, but u32, i32 or u64 is needed");
    refuse_row("var a : bool2[4]", 5, "vectors of bools are values only");
    refuse_row("let x = C2.z", 11, "names no components of f32x2");
    refuse_row("trap(C4)", 6, "the constant 'C4' is a vector");
    refuse_row("for i in 0 .. u2 { }", 15, "the range of `for`");
}

static void test_builder_makes_the_same_vectors(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref p = vyre_build_param(b, "p", VYRE_TYPE_F32X4);
    vyre_ref c = vyre_build_vector_constant(b, "c", VYRE_TYPE_U32X2, (const uint32_t[]){1, 2});
    vyre_expr parts[2] = {vyre_build_swizzle(b, vyre_build_param_value(b, p), "zw"),
                          vyre_build_vector(b, VYRE_TYPE_F32X2, (const vyre_expr[]){num(b, 1)}, 1)};
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_vector(b, VYRE_TYPE_F32X4, parts, 2));
    vyre_build_let(b, "w", VYRE_TYPE_VOID, vyre_build_constant_value(b, c));
    vyre_program *built = finish(b);
    vyre_program *parsed = parse_ok("program q param p : f32x4 const c = u32x2(1, 2) kernel {\n"
                                    "let v = f32x4(p.zw, f32x2(1)) let w = c }");
    assert_true(vyre_program_hash(built) == vyre_program_hash(parsed));
    assert_int_equal(vy_expr_literal(root(built, &top(built, 1)->x), 1), 2);
    vyre_program_destroy(&parsed);
    vyre_program_destroy(&built);

    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_vector(b, VYRE_TYPE_U32, NULL, 0));
    finish_error(b, 0, "u32 is no vector of 0 parts");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID,
                   vyre_build_swizzle(b, vyre_build_literal(b, VYRE_TYPE_U32, 1), NULL));
    finish_error(b, 0, "no components");
    b = start();
    vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_literal(b, VYRE_TYPE_U32X2, 1));
    finish_error(b, 0, "Fix: use vyre_build_vector");
    b = start();
    vyre_build_constant(b, "c", VYRE_TYPE_U32X2, 1);
    finish_error(b, 0, "Fix: use vyre_build_vector_constant");
    b = start();
    vyre_build_vector_constant(b, "c", VYRE_TYPE_U32, (const uint32_t[]){1});
    finish_error(b, 0, "pass a vector type");
    b = start();
    vyre_expr same = num(b, 1);
    vyre_build_let(b, "v", VYRE_TYPE_VOID,
                   vyre_build_vector(b, VYRE_TYPE_U32X2, (const vyre_expr[]){same, same}, 2));
    finish_error(b, 0, "was used before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors_are_made_of_parts),
                                       cmocka_unit_test(test_swizzles_pick_components),
                                       cmocka_unit_test(test_operators_work_by_component),
                                       cmocka_unit_test(test_components_are_assigned),
                                       cmocka_unit_test(test_wrong_vectors_are_refused),
                                       cmocka_unit_test(test_builder_makes_the_same_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

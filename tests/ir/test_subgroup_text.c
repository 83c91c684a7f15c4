/* Subgroup operations as text: each of them with the types it takes and gives, where they may
 * stand, and the rules of `subgroup N`. */
#include "tests/ir/text_support.h"

#include "tests/ir/build.h"

static const char *const types[] = {"bool",  "u8",    "i8",    "u16",   "i16",   "u32",   "i32",
                                    "u64",   "i64",   "f16",   "f32",   "f64",   "bool2", "bool4",
                                    "u32x2", "u32x4", "i32x2", "i32x4", "f32x2", "f32x4"};

static bool accepts(vyre_subgroup op, vyre_type type)
{
    const vy_subgroup_info *info = vy_subgroup_get(op);
    bool is_bool = vy_type_component(type) == VYRE_TYPE_BOOL;
    switch (info->kind) {
    case VY_SUBGROUP_ELECT:
        return true;
    case VY_SUBGROUP_VOTE:
    case VY_SUBGROUP_BALLOT:
        return type == VYRE_TYPE_BOOL;
    case VY_SUBGROUP_VALUE:
    case VY_SUBGROUP_LANE:
        return true;
    default:
        break;
    }
    bool bitwise = info->op == VYRE_OP_AND || info->op == VYRE_OP_OR || info->op == VYRE_OP_XOR;
    return bitwise ? vy_type_is_integer(type) : !is_bool;
}

static vyre_type find_type(const char *keyword)
{
    for (unsigned type = 1; type < VYRE_TYPE_COUNT; type++) {
        if (strcmp(vyre_type_keyword((vyre_type)type), keyword) == 0) {
            return (vyre_type)type;
        }
    }
    fail();
    return VYRE_TYPE_VOID;
}

static void test_every_operation_takes_the_types_of_its_row(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)op);
        for (size_t i = 0; i < VY_COUNT_OF(types); i++) {
            char text[512];
            vyre_type type = find_type(types[i]);
            snprintf(text, sizeof text,
                     "program x workgroup 64 inout b : u32[] fn f(v: %s) -> u32 {\n"
                     "let r = %s(%s%s) return 1 }\nkernel { }",
                     types[i], info->text, info->operand_count > 0 ? "v" : "",
                     info->operand_count > 1 ? ", lane ^ 1" : "");
            vyre_program *p = NULL;
            vyre_diag diag;
            vyre_result result = vyre_program_parse(text, strlen(text), NULL, NULL, &p, &diag);
            bool expected = accepts((vyre_subgroup)op, type);
            if ((result == VYRE_OK) != expected) {
                print_error("%s: %s\n", text, result ? diag.message : "accepted");
            }
            assert_int_equal(result == VYRE_OK, expected);
            if (!expected) {
                assert_non_null(strstr(diag.message, info->text));
                assert_non_null(strstr(diag.message, ". Fix: "));
                assert_int_equal(diag.line, 2);
                assert_int_equal(diag.column, 9);
                continue;
            }
            const vy_stmt *stmt = &p->stmts.data[p->functions.data[1].body];
            vyre_type gives = info->kind == VY_SUBGROUP_BALLOT  ? VYRE_TYPE_U32X4
                              : info->kind == VY_SUBGROUP_ELECT ? VYRE_TYPE_BOOL
                                                                : type;
            assert_int_equal(stmt->kind, VY_STMT_SUBGROUP);
            assert_int_equal(stmt->subgroup, op);
            assert_int_equal(p->vars.data[stmt->result].type, gives);
            assert_true(p->functions.data[1].impure);
            vyre_program_destroy(&p);
            round_trip(text);
        }
    }
}

static void test_operations_are_statements_or_values_of_lets(void **state)
{
    (void)state;
    round_trip(KERNEL("subgroup_add(pu) let f = subgroup_elect() let c : u32 = subgroup_add(pu)\n"
                      "let d = subgroup_ballot(pu < 3) let e = d.x + c\n"
                      "let h = subgroup_shuffle(pf, lane + 1) let k = subgroup_broadcast(1, 0)"));
    prints(KERNEL("let q = subgroup_shuffle(pi * 2, 3)"), "let q = subgroup_shuffle(pi * 2, 3)\n");
    prints(KERNEL("let q = subgroup_add(1i)"), "let q = subgroup_add(1i)\n");
    prints(KERNEL("subgroup_inclusive_min(1)"), "    subgroup_inclusive_min(1)\n");
#define L KERNEL_LINE + 1
    refuse(KERNEL("let x = 1 + subgroup_add(1)"), L, 13, "bind it first: let x = subgroup_add(");
    refuse(KERNEL("let x = subgroup_add(1) + 1"), L, 25, "no part of an expression");
    refuse(KERNEL("let x = subgroup_ballot(true).x"), L, 30, "no part of an expression");
    refuse(KERNEL("var x = subgroup_add(1)"), L, 9, "bound by let only");
    refuse(KERNEL("if subgroup_elect() { }"), L, 4, "no part of an expression");
    refuse(KERNEL("b[0] = subgroup_add(1)"), L, 8, "no part of an expression");
    refuse(KERNEL("let x = twice(subgroup_add(1))"), L, 15, "no part of an expression");
    refuse(KERNEL("let x : i32 = subgroup_add(pu)"), L, 15, "gives u32 here, but i32 is needed");
    refuse(KERNEL("let x : u32 = subgroup_ballot(true)"), L, 15, "gives u32x4 here");
    refuse(KERNEL("let x = subgroup_add()"), L, 22, "expected a value");
    refuse(KERNEL("let x = subgroup_add(1, 2)"), L, 23, "expected ')'");
    refuse(KERNEL("let x = subgroup_elect(1)"), L, 24, "expected ')'");
    refuse(KERNEL("let x = subgroup_shuffle(1)"), L, 27, "takes a value and a lane");
    refuse(KERNEL("let x = subgroup_shuffle(1, 2.0)"), L, 29, "is f32, but u32 is needed");
    refuse(KERNEL("let x = subgroup_shuffle(1, pi)"), L, 29, "is i32, but u32 is needed");
    refuse(KERNEL("let x = subgroup_any(1)"), L, 9, "takes a bool, not u32. Fix: compare");
    refuse(KERNEL("let x = subgroup_add(true)"), L, 9, "takes a number, not bool. Fix: convert");
    refuse(KERNEL("let x = subgroup_xor(1.0)"), L, 9, "takes an integer, not f32");
    refuse(KERNEL("let x = subgroup_sum(1)"), L, 9, "is not declared");
    refuse(KERNEL("let lane = 1"), L, 5, "built-in value");
    refuse(KERNEL("let x = lane.x"), L, 13, "no components");
}

static void test_functions_with_them_have_effects(void **state)
{
    (void)state;
    static const char head[] = "program x workgroup 64 inout b : u32[]\n"
                               "fn total(v: u32) -> u32 { let r = subgroup_add(v) return r }\n"
                               "kernel {\n";
    char text[512];
    snprintf(text, sizeof text, "%slet t = total(1) b[0] = t }", head);
    round_trip(text);
    snprintf(text, sizeof text, "%slet t = total(1) + 1 }", head);
    refuse(text, 4, 9, "has effects and is called inside an expression");
}

static void test_programs_may_fix_the_width(void **state)
{
    (void)state;
    vyre_program *p = parse_ok("program x subgroup 4 * 8 workgroup 64 kernel { }");
    assert_int_equal(p->subgroup_width, 32);
    vyre_program_destroy(&p);
    p = parse_ok("program x workgroup 64 kernel { let x = subgroup_add(lanes) }");
    assert_int_equal(p->subgroup_width, 0);
    vyre_program_destroy(&p);
    prints("program x subgroup 128 workgroup 128 kernel { }", "\nsubgroup 128\n");
    for (uint32_t width = 1; width <= 128; width *= 2) {
        char text[128];
        snprintf(text, sizeof text, "program x workgroup %u, 2 subgroup %u kernel { }",
                 (unsigned)width * 3, (unsigned)width);
        round_trip(text);
    }
    accept("program x inout subgroup : u32[] workgroup 64 kernel { subgroup[0] = lane }");
    refuse("program x subgroup 0 kernel { }", 1, 11, "a subgroup of 0 is not possible");
    refuse("program x subgroup 24 kernel { }", 1, 11, "Fix: use a power of two of 1 to 128");
    refuse("program x subgroup 256 kernel { }", 1, 11, "a subgroup of 256 is not possible");
    refuse("program x subgroup 32 subgroup 32 kernel { }", 1, 23, "second time");
    refuse("program x subgroup 32 workgroup 48 kernel { }", 0, 0,
           "`subgroup 32` needs a workgroup whose x is a multiple of it, not 48. Fix: write "
           "`workgroup 64`");
    refuse("program x subgroup 32 workgroup 16, 2 kernel { }", 0, 0, "Fix: write `workgroup 32`");
    refuse("program x subgroup kernel { }", 1, 20, "not a constant");
    refuse("program x workgroup 64 in lane : u32[] kernel { }", 1, 27, "built-in value");
}

/* The places where only some invocations of a subgroup may be are known to the compiler. */
static void test_divergent_places_are_noted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_divergent;
        uint32_t line;
    } rows[] = {{"let x = subgroup_add(1)", false, 0},
                {"if pu < 3 { subgroup_add(1) }", false, 0},
                {"let y = 1\nif lane < 3 { subgroup_add(1) }", true, KERNEL_LINE + 2},
                {"if gid.x < 3 { return } subgroup_add(1)", true, KERNEL_LINE + 1},
                {"for i in 0 .. gid.x { subgroup_add(1) }", true, KERNEL_LINE + 1},
                {"if lanes < 8 { subgroup_add(1) }", false, 0}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "kernel {\n%s\n}", rows[i].text);
        vyre_program *p = parse_ok(text);
        assert_int_equal(p->has_divergent_subgroup, rows[i].is_divergent);
        assert_int_equal(p->divergent_subgroup.line, rows[i].line);
        vyre_program_destroy(&p);
    }
    refuse(KERNEL("if lane < 3 { barrier }"), L, 15, "barrier");
    refuse(KERNEL("let x = subgroup_add(1) if x < 3 { barrier }"), L, 36, "barrier");
    accept(KERNEL("if lanes == 32 { barrier }"));
}

static void test_builder_checks_operands(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_build_subgroup(b, VYRE_SUBGROUP_ADD, "x", num(b, 1), num(b, 1));
    finish_error(b, 0, "takes fewer operands");
    b = start();
    vyre_build_subgroup(b, VYRE_SUBGROUP_SHUFFLE, "x", num(b, 1), NO_EXPR);
    finish_error(b, 0, "the lane of the subgroup operation is missing");
    b = start();
    vyre_build_subgroup(b, VYRE_SUBGROUP_COUNT, "x", NO_EXPR, NO_EXPR);
    finish_error(b, 0, "no such subgroup operation");
    b = start();
    vyre_build_subgroup_width(b, 48);
    finish_error(b, 0, "a subgroup of 48 is not possible");
    b = start();
    vyre_ref x = vyre_build_subgroup(b, VYRE_SUBGROUP_ELECT, "x", NO_EXPR, NO_EXPR);
    vyre_build_if_begin(b, get(b, x));
    vyre_build_end(b);
    vyre_build_subgroup(b, VYRE_SUBGROUP_ADD, NULL, num(b, 1), NO_EXPR);
    finish_ok(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_takes_the_types_of_its_row),
        cmocka_unit_test(test_operations_are_statements_or_values_of_lets),
        cmocka_unit_test(test_functions_with_them_have_effects),
        cmocka_unit_test(test_programs_may_fix_the_width),
        cmocka_unit_test(test_divergent_places_are_noted),
        cmocka_unit_test(test_builder_checks_operands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

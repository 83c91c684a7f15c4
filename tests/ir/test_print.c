/* Program to text: canonical, minimal in parentheses, and read back as an equal program. */
#include "tests/ir/text_support.h"

#include "codegen/ir/names.h"
#include "codegen/ir/number.h"
#include "codegen/ir/print.h"
#include "tests/ir/build.h"
#include "tests/support/generate.h"

#include <stdlib.h>

/* Every construct once, in as many of its spellings as fit. */
static const char whole_source[] =
    "program all workgroup 8,4 fixpoint 9 until flag loop_limit 77 fast_math\n"
    "const BIG = 0xffffffff const NEG : i32 = -4 const HALF = 0.5 const ON = true\n"
    "const TAB : f32[] = [1, -2.5, inf] param n : u32 param weight : f32\n"
    "in a : u32[] scratch flag : u32[1] scratch keep state : u32[n * (2 + 1)]\n"
    "shared tile : u32[4 * 8]\n"
    "fn f(x: u32, y: f32) -> u32 { if x > 3 { return 1 } return x + u32(y) }\n"
    "fn g() { state[0] = BIG }\n"
    "kernel { let v = (gid.x) var w : i32 = 3 var z : u32[16] region \"a \\\"b\\\\\" { g() }\n"
    "if v == 1 { w += NEG } else if v == 2 { w = -2 } else { w <<= 1 }\n"
    "switch w { case -1, 2 { trap(7) } default { } }\n"
    "for i in 0 .. n step 2 { z[i & 15] -= f(i, TAB[i] * HALF) }\n"
    "for i in NEG .. 0 down { break } while ON && v < n { continue }\n"
    "let o = atomic_compare_exchange(state[v], 1, 2, acq_rel) atomic_store(flag[0], o)\n"
    "grid_sync let u = uniform tile[0] { barrier } state[v] = select(v < u, z[0], 1) return "
    "}\n";

static const char whole_canonical[] =
    "program all\n"
    "workgroup 8, 4\n"
    "fixpoint 9 until flag\n"
    "loop_limit 77\n"
    "fast_math\n"
    "\n"
    "const BIG = 0xffffffff\n"
    "const NEG = -4i\n"
    "const HALF = 0.5\n"
    "const ON = true\n"
    "const TAB : f32[] = [\n"
    "    1.0, -2.5, inf\n"
    "]\n"
    "\n"
    "param        n      : u32\n"
    "param        weight : f32\n"
    "in           a      : u32[]\n"
    "scratch      flag   : u32[1]\n"
    "scratch keep state  : u32[n * (2 + 1)]\n"
    "shared       tile   : u32[32]\n"
    "\n"
    "fn f(x: u32, y: f32) -> u32 {\n"
    "    if x > 3 {\n"
    "        return 1\n"
    "    }\n"
    "    return x + u32(y)\n"
    "}\n"
    "\n"
    "fn g() {\n"
    "    state[0] = BIG\n"
    "}\n"
    "\n"
    "kernel {\n"
    "    let v = gid.x\n"
    "    var w = 3i\n"
    "    var z : u32[16]\n"
    "    region \"a \\\"b\\\\\" {\n"
    "        g()\n"
    "    }\n"
    "    if v == 1 {\n"
    "        w = w + NEG\n"
    "    } else if v == 2 {\n"
    "        w = -2\n"
    "    } else {\n"
    "        w = w << 1\n"
    "    }\n"
    "    switch w {\n"
    "        case -1, 2 {\n"
    "            trap(7)\n"
    "        }\n"
    "        default {\n"
    "        }\n"
    "    }\n"
    "    for i in 0 .. n step 2 {\n"
    "        z[i & 15] = z[i & 15] - f(i, TAB[i] * HALF)\n"
    "    }\n"
    "    for i in NEG .. 0 down {\n"
    "        break\n"
    "    }\n"
    "    while ON && v < n {\n"
    "        continue\n"
    "    }\n"
    "    let o = atomic_compare_exchange(state[v], 1, 2, acq_rel)\n"
    "    atomic_store(flag[0], o)\n"
    "    grid_sync\n"
    "    let u = uniform tile[0]\n"
    "    {\n"
    "        barrier\n"
    "    }\n"
    "    state[v] = select(v < u, z[0], 1)\n"
    "    return\n"
    "}\n";

static void test_canonical_text_of_a_whole_program(void **state)
{
    (void)state;
    size_t size = 0;
    vyre_program *program = parse_ok(whole_source);
    char *printed = round_trip_program(program, &size);
    assert_string_equal(printed, whole_canonical);
    vyre_text_free(NULL, printed, size);
    vyre_program_destroy(&program);
}

/* Header, declarations, functions and kernel make the whole text. */
static void check_parts(const vyre_program *program, const char *whole)
{
    vy_text declarations, functions;
    vy_text_init(&declarations, NULL);
    vy_text_init(&functions, NULL);
    assert_int_equal(vy_program_print_parts(program, &declarations, &functions), VYRE_OK);
    const char *first = declarations.size ? declarations.data : "";
    const char *second = functions.size ? functions.data : "";
    const char *kernel = strstr(whole, "\nkernel {\n");
    assert_non_null(kernel);
    assert_true((size_t)(kernel - whole) > declarations.size + functions.size);
    assert_memory_equal(kernel - functions.size, second, functions.size);
    const char *end = kernel - functions.size;
    if (program->grid_of[0].root) { /* stands between them */
        do {
            end--;
        } while (strncmp(end, "\ngrid of ", 9) != 0);
    }
    const char *rest = end - declarations.size;
    assert_memory_equal(rest, first, declarations.size);
    for (const char *at = whole; at < rest; at++) { /* lines of the header alone */
        assert_true(strncmp(at, "\nconst ", 7) != 0 && strncmp(at, "\nparam ", 7) != 0);
        assert_true(strncmp(at, " : ", 3) != 0 && strncmp(at, "\nfn ", 4) != 0);
    }
    vy_text_finish(&functions);
    vy_text_finish(&declarations);
}

static void test_parts_make_the_whole_text(void **state)
{
    static const char *const sources[] = {
        whole_source, "program t kernel { }", "program t in n : u32[] grid from n kernel { }",
        "program t workgroup 2, 3, 4 subgroup 2 fn f() { } kernel { f() }"};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(sources); i++) {
        size_t size = 0;
        vyre_program *program = parse_ok(sources[i]);
        char *printed = round_trip_program(program, &size);
        check_parts(program, printed);
        vyre_text_free(NULL, printed, size);
        vyre_program_destroy(&program);
    }
}

static void test_grid_of_is_printed(void **state)
{
    (void)state;
    size_t size = 0;
    vyre_program *program =
        parse_ok("program t param k : u32 in n : u32[] grid of (len(n) + 3) / 4, k, 1 kernel { }");
    char *printed = round_trip_program(program, &size);
    assert_string_equal(printed, "program t\nworkgroup 1\n\nparam k : u32\nin    n : u32[]\n\n"
                                 "grid of (len(n) + 3) / 4, k, 1\n\nkernel {\n}\n");
    vyre_text_free(NULL, printed, size);
    vyre_program_destroy(&program);
}

static void test_grid_from_is_printed(void **state)
{
    (void)state;
    size_t size = 0;
    vyre_program *program = parse_ok("program t in n : u32[] grid from n kernel { }");
    char *printed = round_trip_program(program, &size);
    assert_string_equal(printed, "program t\nworkgroup 1\ngrid from n\n\nin n : u32[]\n\n"
                                 "kernel {\n}\n");
    vyre_text_free(NULL, printed, size);
    vyre_program_destroy(&program);
}

/* Source of an expression, and how it is printed. */
static void test_expressions_have_few_parentheses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } rows[] = {{"((pu)) + ((pu * pu))", "pu + pu * pu"},
                {"(pu + 1) * 2", "(pu + 1) * 2"},
                {"pu + (1 + pu)", "pu + (1 + pu)"},
                {"(pu + 1) + pu", "pu + 1 + pu"},
                {"pu - (pu - 1)", "pu - (pu - 1)"},
                {"(pu & 3) == 0", "pu & 3 == 0"},
                {"pu & u32(3 == 0)", "pu & u32(3 == 0)"},
                {"(pu < 1) == (pu < 2)", "(pu < 1) == (pu < 2)"},
                {"!(pu < 1) || !!true", "!(pu < 1) || !!true"},
                {"-(-pi)", "- -pi"},
                {"-(pi + 1)", "-(pi + 1)"},
                {"~(~pu)", "~~pu"},
                {"-~pi", "-~pi"},
                {"pi - -5", "pi - -5"},
                {"-5 + pi", "-5 + pi"},
                {"-M", "-M"},
                {"-nan", "-nan"},
                {"(pu << 1) + 1", "(pu << 1) + 1"},
                {"pu << (1 + 1)", "pu << 1 + 1"},
                {"1 << pu", "1 << pu"},
                {"1i << pu", "1i << pu"},
                {"1i + 2", "1i + 2i"},
                {"clamp(pi, 0, 9)", "clamp(pi, 0, 9)"},
                {"clamp(0, 9, pi)", "clamp(0, 9, pi)"},
                {"clz(3i)", "clz(3i)"},
                {"abs_diff(3i, pi)", "abs_diff(3, pi)"},
                {"select(pu < 1, pi, -1)", "select(pu < 1, pi, -1)"},
                {"insert_bits(1, pi, 3, 4)", "insert_bits(1, pi, 3, 4)"},
                {"extract_bits(7i, 3, 4)", "extract_bits(7i, 3, 4)"},
                {"pf * 2", "pf * 2.0"},
                {"i32(-5)", "i32(-5i)"},
                {"i32(5)", "i32(5)"},
                {"-(pu + 1)", "-(pu + 1)"},
                {"-(1u + 2)", "-(1u + 2u)"},
                {"-(1u + 2) + -(3u << pu)", "-(1u + 2u) + -(3u << pu)"},
                {"bitcast<f32>(0x3f800000)", "1.0"},
                {"bitcast<f32>((1))", "bitcast<f32>((1))"},
                {"bitcast<f32>(1 + 1)", "bitcast<f32>(1 + 1)"},
                {"bitcast<f32>(N)", "bitcast<f32>(N)"},
                {"bitcast<u32>(1.0)", "bitcast<u32>(1.0)"},
                {"twice(1) + twice(twice(2))", "twice(1) + twice(twice(2))"},
                {"(twice(1))", "(twice(1))"},
                {"twice(1)", "twice(1)"},
                {"len(a) + a[b[T[1i]]]", "len(a) + a[b[T[1i]]]"},
                {"group_size.y + num_groups.z + pass", "group_size.y + num_groups.z + pass"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024], part[128];
        snprintf(text, sizeof text, HEAD "kernel { let x = %s }", rows[i].text);
        snprintf(part, sizeof part, "\n    let x = %s\n", rows[i].printed);
        prints(text, part);
    }
}

/* `op` over operands of one type, as text; bits offsets and conditions have their own. */
static int write_operation(char *text, size_t capacity, const vy_op_info *info, const char *x)
{
    const char *y = info->shape == VY_SHAPE_EXTRACT ? "pu" : x;
    const char *z = info->shape == VY_SHAPE_INSERT ? "pu" : y;
    const char *first = info->shape == VY_SHAPE_SELECT ? "pu < 3" : x;
    if (info->form == VY_FORM_INFIX) {
        return snprintf(text, capacity, HEAD "kernel { let x = (%s) %s (%s) }", x, info->text, x);
    }
    switch (info->operand_count) {
    case 1:
        return snprintf(text, capacity, HEAD "kernel { let x = %s(%s) }", info->text, x);
    case 2:
        return snprintf(text, capacity, HEAD "kernel { let x = %s(%s, %s) }", info->text, x, y);
    case 3:
        return snprintf(text, capacity, HEAD "kernel { let x = %s(%s, %s, %s) }", info->text, first,
                        y, z);
    default:
        return snprintf(text, capacity, HEAD "kernel { let x = %s(%s, %s, %s, pu) }", info->text, x,
                        y, z);
    }
}

static uint32_t round_trip_operator(vyre_op op)
{
    static const char *const operands[] = {"pu",       "pi", "pf", "pu < 1", "u32x2(pu) < 1",
                                           "f32x4(pf)"};
    uint32_t accepted = 0;
    for (size_t i = 0; i < VY_COUNT_OF(operands); i++) {
        char text[1024];
        vyre_program *program = NULL;
        int length = write_operation(text, sizeof text, vy_op_get(op), operands[i]);
        if (vyre_program_parse(text, (size_t)length, NULL, NULL, &program, NULL) == VYRE_OK) {
            size_t size = 0;
            char *printed = round_trip_program(program, &size);
            assert_int_equal(root(program, &top(program, 0)->x)->op, op);
            vyre_text_free(NULL, printed, size);
            vyre_program_destroy(&program);
            accepted++;
        }
    }
    return accepted;
}

static void test_every_operator_round_trips(void **state)
{
    (void)state;
    uint32_t printed = 0;
    for (uint32_t op = VYRE_OP_ADD; op < VYRE_OP_COUNT; op++) {
        if (vy_op_get((vyre_op)op)->form == VY_FORM_LEAF) {
            continue;
        }
        uint32_t accepted = round_trip_operator((vyre_op)op);
        if (accepted == 0) {
            print_error("no operands were right for %s\n", vy_op_get((vyre_op)op)->name);
        }
        assert_int_not_equal(accepted, 0);
        printed++;
    }
    assert_int_equal(printed, VYRE_OP_COUNT - VYRE_OP_ADD - 2); /* but CAST and BITCAST */
}

static void test_statement_details_round_trip(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"s[0] = 5", "s[0] = 5\n"},
        {"s[0] = -5", "s[0] = -5\n"},
        {"var y = 1i y = 2", "y = 2\n"},
        {"atomic_add(s[0], -2147483648)", "atomic_add(s[0], -2147483648)\n"},
        {"atomic_add(g[0], 1, relaxed)", "atomic_add(g[0], 1.0)\n"},
        {"let y = atomic_load(b[1], acquire)", "let y = atomic_load(b[1], acquire)\n"},
        {"for i in pi .. 5 step 1 { }", "for i in pi .. 5 step 1 {\n"},
        {"for i in 0i .. 5 { }", "for i in 0i .. 5i {\n"},
        {"for i in 0 .. 5 step 2 down { }", "for i in 0 .. 5 step 2 down {\n"},
        {"region \"\\x01\\xff\" { }", "region \"\\x01\\xff\" {\n"},
        {"if pu < 1 { } else { if pu < 2 { } }", "} else if pu < 2 {\n"},
        {"if pu < 1 { } else { if pu < 2 { } trap(1) }", "} else {\n        if pu < 2 {\n"},
        {"if pu < 1 { } else { trap(1) if pu < 2 { } }", "} else {\n        trap(1)\n"},
        {"if pu < 1 { } else { { if pu < 2 { } } }", "} else {\n        {\n            if pu < 2"},
        {"if pu < 1 { if pu < 2 { } else { trap(1) } }", "        if pu < 2 {\n        } else {\n"},
        {"if pu < 1 { if pu < 2 { } } else { trap(1) }", "        }\n    } else {\n"},
        {"if pu < 1 { } else { }", "    if pu < 1 {\n    }\n}"},
        {"switch pu { }", "switch pu {\n    }\n"},
        {"switch pi { case -2147483648, -1, 0, 2147483647 { } }",
         "case -2147483648, -1, 0, 2147483647 {\n"},
        {"switch pu { case 0xffffffff, 7 { } }", "case 0xffffffff, 7 {\n"},
        {"let y : u32 = twice(3)", "let y = twice(3)\n"},
        {"var y = twice(3)", "var y = twice(3)\n"},
        {"twice(3)", "    twice(3)\n"},
        {"bump(twice(3))", "    bump(twice(3))\n"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "kernel { %s }", rows[i][0]);
        prints(text, rows[i][1]);
    }
}

static void test_long_chains_round_trip(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, HEAD "kernel { let x = pu");
    for (uint32_t i = 0; i < 100000; i++) {
        vy_text_printf(&text, " + %u", (unsigned)i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        vy_text_printf(&text, "\nif x == %u { b[0] = 1 }", (unsigned)i);
    }
    vy_text_printf(&text, "\nif x == 0 { }");
    for (uint32_t i = 0; i < 200; i++) {
        vy_text_printf(&text, " else if x == 1 { trap(1) }");
    }
    vy_text_printf(&text, " }");
    round_trip(text.data);
    vy_text_finish(&text);
}

/* ---- Programs that no text made -------------------------------------------------------------- */

static void test_built_programs_round_trip(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref out = buffer(b, VYRE_BUFFER_INOUT, "out_b", VYRE_TYPE_U32);
    vyre_ref floats = buffer(b, VYRE_BUFFER_INOUT, "floats", VYRE_TYPE_F32);
    vyre_ref function = vyre_build_function_begin(b, "f", VYRE_TYPE_I32);
    vyre_ref parameter = vyre_build_function_parameter(b, "p", VYRE_TYPE_I32);
    vyre_build_return(b, op2(b, VYRE_OP_SUB, num(b, 3), get(b, parameter)));
    vyre_build_end(b);
    vyre_expr argument = vyre_build_i32(b, -7);
    /* A pure call as the value of a let, not as a call statement. */
    vyre_ref x = vyre_build_let(b, "x", VYRE_TYPE_VOID, vyre_build_call(b, function, &argument, 1));
    vyre_build_store(b, out, vyre_build_i32(b, 2), vyre_build_u32(b, 0x80000000u));
    vyre_build_store(b, floats, num(b, 0),
                     vyre_build_bitcast(b, VYRE_TYPE_F32, vyre_build_u32(b, 0x7f800001u)));
    vyre_build_store(b, floats, num(b, 1), vyre_build_bitcast(b, VYRE_TYPE_F32, get(b, x)));
    vyre_build_store(
        b, out, num(b, 1),
        op1(b, VYRE_OP_NEGATE, op2(b, VYRE_OP_ADD, vyre_build_u32(b, 1), vyre_build_u32(b, 2))));
    vyre_build_region_begin(b, "quote \" back \\ line \n tab \t \x7f \xc3\xa9");
    vyre_build_end(b);
    vyre_build_if_begin(b, vyre_build_bool(b, 1));
    vyre_build_else(b);
    vyre_build_if_begin(b, less(b, get(b, x), num(b, 1)));
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_program *program = finish(b);
    size_t size = 0;
    char *text = round_trip_program(program, &size);
    assert_non_null(strstr(text, "let x = (f(-7i))\n"));
    assert_non_null(strstr(text, "out_b[2i] = 0x80000000\n"));
    assert_non_null(strstr(text, "floats[0] = bitcast<f32>((2139095041))\n"));
    assert_non_null(
        strstr(text, "region \"quote \\\" back \\\\ line \\x0a tab \\x09 \\x7f \\xc3\\xa9\""));
    vyre_text_free(NULL, text, size);
    vyre_program_destroy(&program);
}

static void test_every_float_round_trips(void **state)
{
    (void)state;
    uint64_t seed = 99;
    for (uint32_t round = 0; round < 20; round++) {
        static uint32_t bits[1000];
        vyre_builder *b = start();
        vyre_ref floats = buffer(b, VYRE_BUFFER_INOUT, "floats", VYRE_TYPE_F32);
        for (uint32_t i = 0; i < VY_COUNT_OF(bits); i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            static const uint32_t edges[] = {0,           0x80000000u, 1,           0x007fffffu,
                                             0x00800000u, 0x7f7fffffu, 0x7f800000u, 0xff800000u,
                                             0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu,
                                             0x3f800000u, 0x3dcccccdu, 0x4b800000u, 0x5a0e1bcau};
            bits[i] = i < VY_COUNT_OF(edges) && round == 0 ? edges[i] : (uint32_t)(seed >> 32);
            float value;
            memcpy(&value, &bits[i], sizeof value);
            vyre_build_store(b, floats, num(b, i), vyre_build_f32(b, value));
        }
        vyre_program *program = finish(b);
        size_t size = 0;
        char *text = round_trip_program(program, &size);
        vyre_program *again = parse_ok(text);
        for (uint32_t i = 0; i < VY_COUNT_OF(bits); i++) {
            const vy_expr *literal = root(again, &again->stmts.data[i + 1].y);
            assert_int_equal(literal->op, VYRE_OP_LITERAL);
            assert_int_equal(literal->bits[0], bits[i]);
        }
        vyre_text_free(NULL, text, size);
        vyre_program_destroy(&again);
        vyre_program_destroy(&program);
    }
}

static void test_numbers_are_as_short_as_they_can_be(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        const char *text;
    } rows[] = {{0, "0.0"},
                {0x3f800000u, "1.0"},
                {0x3dcccccdu, "0.1"},
                {0x3a83126fu, "0.001"},
                {0x3727c5acu, "0.00001"},
                {0x358637bdu, "1e-6"},
                {1, "1e-45"},
                {0x7f7fffffu, "3.4028235e38"},
                {0x4b800000u, "16777216.0"},
                {0x42f6e979u, "123.456"},
                {0x58635fa9u, "1000000000000000.0"},
                {0x5a0e1bcau, "1e16"},
                {0x00800000u, "1.1754944e-38"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[VY_FLOAT_TEXT_SIZE];
        vy_number_write(VYRE_TYPE_F32, rows[i].bits, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void test_what_text_cannot_nest_is_refused(void **state)
{
    (void)state;
    static const uint32_t depths[] = {VYRE_MAX_NESTING, VYRE_MAX_NESTING + 1, 100000};
    for (size_t i = 0; i < VY_COUNT_OF(depths); i++) {
        vyre_builder *b = start();
        vyre_ref out = buffer(b, VYRE_BUFFER_INOUT, "out_b", VYRE_TYPE_U32);
        vyre_expr value = gid(b);
        for (uint32_t d = 0; d <= depths[i]; d++) {
            value = op2(b, VYRE_OP_ADD, num(b, 1), value);
        }
        vyre_build_store(b, out, num(b, 0), value);
        vyre_program *program = finish(b);
        char *text = NULL;
        size_t size = 1;
        vyre_result result = vyre_program_print(program, NULL, &text, &size);
        assert_int_equal(result, i == 0 ? VYRE_OK : VYRE_ERROR_INVALID_PROGRAM);
        if (result == VYRE_OK) {
            accept(text);
        } else {
            assert_null(text);
            assert_int_equal(size, 0);
        }
        vyre_text_free(NULL, text, size);
        vyre_program_destroy(&program);
    }
}

static void test_generated_programs_round_trip(void **state)
{
    (void)state;
    uint32_t accepted = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        vy_text text;
        vy_generated info;
        vyre_program *program = NULL;
        vyre_diag diag;
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        assert_false(text.failed);
        if (vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag) == VYRE_OK) {
            size_t size = 0;
            char *printed = round_trip_program(program, &size);
            check_parts(program, printed);
            vyre_text_free(NULL, printed, size);
            accepted++;
        } else {
            print_error("seed %u: %u:%u: %s\n", (unsigned)seed, diag.line, diag.column,
                        diag.message);
        }
        vyre_program_destroy(&program);
        vy_text_finish(&text);
    }
    assert_int_equal(accepted, 200);
}

static void test_free_names_are_what_the_parser_takes(void **state)
{
    (void)state;
    static const char *const words[] = {"x",
                                        "_",
                                        "a1",
                                        "1a",
                                        "",
                                        "a b",
                                        "in",
                                        "len",
                                        "step",
                                        "gid",
                                        "pass",
                                        "u32",
                                        "void",
                                        "min",
                                        "fma",
                                        "atomic_add",
                                        "u64",
                                        "lanes",
                                        "over",
                                        "\xc3\xa9",
                                        "x.y",
                                        "kernel",
                                        "program",
                                        "trap",
                                        "subgroup_add",
                                        "subgroup_ballot"};
    vy_word_shapes shapes;
    vy_word_shapes_find(&shapes);
    assert_false(vy_word_shapes_has(&shapes, "v1000"));
    for (size_t i = 0; i < VY_COUNT_OF(words); i++) {
        char text[256];
        int size = snprintf(text, sizeof text, "program x kernel { let %s = 1 }", words[i]);
        assert_true(vy_name_is_free(words[i]) || !vy_name_is_plain(words[i]) ||
                    vy_word_shapes_has(&shapes, words[i]));
        vyre_program *program = NULL;
        vyre_result result = vyre_program_parse(text, (size_t)size, NULL, NULL, &program, NULL);
        assert_int_equal(result == VYRE_OK, vy_name_is_free(words[i]));
        vyre_program_destroy(&program);
    }
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    vyre_program *program = parse_ok(KERNEL("let x = a[1] + (pu * 2) if x < 1 { b[x] = x }"));
    vyre_result result = VYRE_ERROR_OUT_OF_HOST_MEMORY;
    size_t n = 1;
    for (; result != VYRE_OK; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        char *text = NULL;
        size_t size = 1;
        result = vyre_program_print(program, &allocator, &text, &size);
        if (result != VYRE_OK) {
            assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(text);
            assert_int_equal(size, 0);
        }
        vyre_text_free(&allocator, text, size);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
        assert_true(n < 1000);
    }
    assert_true(n > 3);
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(vyre_program_print(NULL, NULL, &text, &size), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_program_print(program, NULL, NULL, &size), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_program_destroy(&program);
    vyre_text_free(NULL, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid_from_is_printed),
                                       cmocka_unit_test(test_grid_of_is_printed),
                                       cmocka_unit_test(test_canonical_text_of_a_whole_program),
                                       cmocka_unit_test(test_parts_make_the_whole_text),
                                       cmocka_unit_test(test_expressions_have_few_parentheses),
                                       cmocka_unit_test(test_every_operator_round_trips),
                                       cmocka_unit_test(test_statement_details_round_trip),
                                       cmocka_unit_test(test_long_chains_round_trip),
                                       cmocka_unit_test(test_built_programs_round_trip),
                                       cmocka_unit_test(test_every_float_round_trips),
                                       cmocka_unit_test(test_numbers_are_as_short_as_they_can_be),
                                       cmocka_unit_test(test_what_text_cannot_nest_is_refused),
                                       cmocka_unit_test(test_generated_programs_round_trip),
                                       cmocka_unit_test(test_free_names_are_what_the_parser_takes),
                                       cmocka_unit_test(test_every_failed_allocation_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

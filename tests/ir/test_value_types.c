/* Values of every type: constants of 64 bits, casts, what each operator takes, bf16 elements,
 * indices, atomics, and what hashes see of types. */
#include "tests/ir/text_support.h"

static const char *const scalars[] = {"bool", "u8",  "i8",  "u16", "i16", "u32",
                                      "i32",  "u64", "i64", "f16", "f32", "f64"};

/* Parameters of all scalar types, named p_TYPE, and buffers of all element types, b_TYPE. */
static void write_head(vy_text *text)
{
    vy_text_init(text, NULL);
    vy_text_printf(text, "program test workgroup 64\n");
    for (size_t i = 0; i < VY_COUNT_OF(scalars); i++) {
        vy_text_printf(text, "param p_%s : %s\ninout b_%s : %s[]\n", scalars[i], scalars[i],
                       scalars[i], scalars[i]);
    }
    static const char *const more[] = {"bf16",  "u32x2", "u32x4", "i32x2",
                                       "i32x4", "f32x2", "f32x4"};
    for (size_t i = 0; i < VY_COUNT_OF(more); i++) {
        vy_text_printf(text, "inout b_%s : %s[]\n", more[i], more[i]);
    }
}

/* The program around kernel statements. */
static vy_text kernel_of(const char *statements)
{
    vy_text text;
    write_head(&text);
    vy_text_printf(&text, "kernel { %s }", statements);
    return text;
}

static bool is_accepted(const char *statements)
{
    vy_text text = kernel_of(statements);
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_result result = vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag);
    if (result == VYRE_OK) {
        size_t size = 0;
        char *printed = round_trip_program(program, &size);
        vyre_text_free(NULL, printed, size);
    } else {
        assert_int_equal(result, VYRE_ERROR_INVALID_PROGRAM);
        assert_non_null(strstr(diag.message, ". Fix: "));
        assert_true(diag.line > 0 && diag.column > 0);
    }
    vyre_program_destroy(&program);
    vy_text_finish(&text);
    return result == VYRE_OK;
}

static void refuse_kernel(const char *statements, const char *part)
{
    vy_text text = kernel_of(statements);
    vyre_program *program = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag),
                     VYRE_ERROR_INVALID_PROGRAM);
    if (!strstr(diag.message, part)) {
        print_error("%s: %s\nnot %s\n", statements, diag.message, part);
    }
    assert_non_null(strstr(diag.message, part));
    assert_non_null(strstr(diag.message, ". Fix: "));
    vy_text_finish(&text);
}

/* The type of the value of the let that ends the statements. */
static void check_type(const char *statements, vyre_type type)
{
    vy_text text = kernel_of(statements);
    vyre_program *program = parse_ok(text.data);
    uint32_t index = program->body;
    while (program->stmts.data[index].next) {
        index = program->stmts.data[index].next;
    }
    vyre_type got = (vyre_type)root(program, &program->stmts.data[index].x)->type;
    if (got != type) {
        print_error("%s is %s\n", statements, vyre_type_keyword(got));
    }
    assert_int_equal(got, type);
    size_t size = 0;
    char *printed = round_trip_program(program, &size);
    vyre_text_free(NULL, printed, size);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
}

/* ---- Constants ------------------------------------------------------------------------------- */

static void test_constants_are_computed_at_their_width(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        vyre_type type;
        uint64_t bits;
    } rows[] = {{"A = 1ul << 63", VYRE_TYPE_U64, 0x8000000000000000},
                {"A : u64 = 1 << 63", VYRE_TYPE_U64, 0x8000000000000000},
                {"A : u64 = 5000000000 * 3", VYRE_TYPE_U64, 15000000000},
                {"A : i64 = -1 << 63", VYRE_TYPE_I64, 0x8000000000000000},
                {"A = -9223372036854775808l", VYRE_TYPE_I64, 0x8000000000000000},
                {"A = -9223372036854775808l + 1", VYRE_TYPE_I64, 0x8000000000000001},
                {"A = 18446744073709551615ul - 1", VYRE_TYPE_U64, 0xfffffffffffffffe},
                {"A = ~0ul", VYRE_TYPE_U64, UINT64_MAX},
                {"A = ~0l", VYRE_TYPE_I64, UINT64_MAX},
                {"A = ~0", VYRE_TYPE_U32, 0xffffffff},
                {"A = ~0x100000000", VYRE_TYPE_U64, 0xfffffffeffffffff},
                {"A = ~-1", VYRE_TYPE_U32, 0},
                {"A = 0xffff0000ffff0000ul & 0xffffffff", VYRE_TYPE_U64, 0xffff0000},
                {"A = 0xff00ul | 0xff ^ 0xf", VYRE_TYPE_U64, 0xfff0},
                {"A = -7l / 2", VYRE_TYPE_I64, (uint64_t)-3},
                {"A = -7l % 2", VYRE_TYPE_I64, (uint64_t)-1},
                {"A = -7l >> 1", VYRE_TYPE_I64, (uint64_t)-4},
                {"A = 9223372036854775807l / -1", VYRE_TYPE_I64, (uint64_t)-INT64_MAX},
                {"A : u8 = 250 + 5", VYRE_TYPE_U8, 255},
                {"A : i8 = -100 - 28", VYRE_TYPE_I8, 0x80},
                {"A : u16 = 0xff << 8", VYRE_TYPE_U16, 0xff00},
                {"A : i16 = -32768", VYRE_TYPE_I16, 0x8000},
                {"A : f64 = 9007199254740992", VYRE_TYPE_F64, 0x4340000000000000},
                {"A : f16 = -2048", VYRE_TYPE_F16, 0xe800},
                {"A : f64 = inf", VYRE_TYPE_F64, 0x7ff0000000000000},
                {"A : f16 = -inf", VYRE_TYPE_F16, 0xfc00},
                {"A : f16 = nan", VYRE_TYPE_F16, 0x7e00},
                {"A = -1.5d", VYRE_TYPE_F64, 0xbff8000000000000},
                {"A = -1.5h", VYRE_TYPE_F16, 0xbe00},
                {"A = bitcast<f64>(0x7ff0000000000001)", VYRE_TYPE_F64, 0x7ff0000000000001},
                {"A = bitcast<f16>(0x7c01)", VYRE_TYPE_F16, 0x7c01},
                {"A = bitcast<i8>(0xff)", VYRE_TYPE_I8, 0xff},
                {"A = bitcast<u64>(-1.0d)", VYRE_TYPE_U64, 0xbff0000000000000},
                {"A = bitcast<u16>(1.0h)", VYRE_TYPE_U16, 0x3c00},
                {"A = bitcast<i64>(18446744073709551615ul)", VYRE_TYPE_I64, UINT64_MAX}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "program x const %s kernel { }", rows[i].text);
        vyre_program *p = parse_ok(text);
        const vy_named *constant = &p->constants.data[1];
        if (constant->bits[0] != rows[i].bits || constant->type != rows[i].type) {
            print_error("%s is %llx\n", rows[i].text, (unsigned long long)constant->bits[0]);
        }
        assert_int_equal(constant->type, rows[i].type);
        assert_true(constant->bits[0] == rows[i].bits);
        vyre_program_destroy(&p);
        round_trip(text);
        /* By its name it is the literal of that type. */
        snprintf(text, sizeof text, "program x const %s kernel { let y = A }", rows[i].text);
        p = parse_ok(text);
        assert_int_equal(root(p, &top(p, 0)->x)->type, rows[i].type);
        assert_true(root(p, &top(p, 0)->x)->bits[0] == rows[i].bits);
        vyre_program_destroy(&p);
        round_trip(text);
    }
}

static void test_constants_never_wrap(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t column;
        const char *part;
    } rows[] = {
        {"A = 18446744073709551615ul + 1", 21, "does not fit u64"},
        {"A = 9223372036854775807l + 1", 21, "9223372036854775808 does not fit i64"},
        {"A = -9223372036854775808l - 1", 21, "does not fit i64"},
        {"A = -9223372036854775808l / -1", 21, "does not fit i64"},
        {"A = 4294967296ul * 4294967296", 21, "does not fit u64"},
        {"A = 0xffffffffffffffff * 0xffffffffffffffff", 21, "does not fit 64 bits"},
        {"A = 0xffffffffffffffff * 0xffffffffffffffff * 0xffffffffffffffff", 21, "64 bits"},
        {"A = 1ul << 64", 21, "shifted by 64 bits. Fix: shift by 0 to 63"},
        {"A = 1l << 63", 21, "does not fit i64"},
        {"A = 1u << 32", 21, "shifted by 32 bits. Fix: shift by 0 to 31"},
        {"A : u8 = 255 + 1", 26, "256 does not fit u8. Fix: use a value in 0 .. 255"},
        {"A : i8 = -129", 26, "-129 does not fit i8. Fix: use a value in -128 .. 127"},
        {"A : u64 = -1", 27, "negative"},
        {"A : u64 = ~0", 27, "the constant is u32, but u64 is needed"},
        {"A : i64 = 0xffffffffffffffff", 27, "does not fit i64"},
        {"A : f16 = 2049", 27, "Fix: write 2049.0h, which is rounded"},
        {"A : f64 = 9007199254740993", 27, "Fix: write 9007199254740993.0d"},
        {"A : f64 = 0.1", 27, "f64 is needed. Fix: write one of type f64, with the suffix d"},
        {"A : f16 = 0.1", 27, "with the suffix h"},
        {"A : i64 = 1ul", 27, "the constant is u64, but i64 is needed"},
        {"A = 5000000000", 21, "0 .. 4294967295, or u64 with the suffix ul"},
        {"A : i32 = -5000000000", 27, "or i64 with the suffix l"},
        {"A = 1ul + 1l", 27, "mixes u64 with i64"},
        {"A = bitcast<u64>(1u)", 21, "bitcast from u32 to u64 changes the size"},
        {"A = bitcast<u8>(256)", 33, "does not fit u8"},
        {"A = bitcast<f32x2>(1ul)", 21, "gives a scalar"},
        {"A : bf16 = 1.0", 17, "cannot have the type bf16"},
        {"A : u8[] = [1, 256]", 32, "256 does not fit u8"},
        {"A : f32x2[] = [1.0]", 32, "write f32x2(...)"},
        {"A : f32x2 = f32x4(1)", 29, "expected a constant of type f32x2"},
        {"A = f32x4(1, 2, 3)", 21, "f32x4 has 4 components, but 3 are given"},
        {"A = u32x2(1, -1)", 30, "negative"},
        {"A = u32x2(1, 1.5)", 30, "u32 is needed"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "program x const %s kernel { }", rows[i].text);
        refuse(text, 1, rows[i].column, rows[i].part);
    }
}

static void test_tables_hold_every_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t size;
        uint64_t last, component;
    } rows[] = {{"u8[] = [1, 255]", 1, 255, 0},
                {"i8[] = [1, -1]", 1, 0xff, 0},
                {"u16[] = [1, 65535]", 2, 65535, 0},
                {"i16[] = [1, -2]", 2, 0xfffe, 0},
                {"u64[] = [1, 1 << 40]", 8, (uint64_t)1 << 40, 0},
                {"i64[] = [1, -1]", 8, UINT64_MAX, 0},
                {"f16[] = [1.0h, inf]", 2, 0x7c00, 0},
                {"f64[] = [1, -nan]", 8, 0xfff8000000000000, 0},
                {"f64[] = [1.0d, 0.1d]", 8, 0x3fb999999999999a, 0},
                {"bool[] = [true, false]", 4, 0, 0},
                {"bf16[] = [1.0, 1.00390625]", 2, 0x3f800000, 0}, /* a tie, to even */
                {"bf16[] = [1.0, 1.01171875]", 2, 0x3f820000, 0},
                {"bf16[] = [1.0, bitcast<f32>(0xff810000)]", 2, 0xff810000, 0},
                {"bf16[] = [1.0, bitcast<f32>(0x7f800001)]", 2, 0x7fc00000, 0},
                {"u32x2[] = [u32x2(1, 2), u32x2(3, 4)]", 8, 4, 1},
                {"i32x4[] = [i32x4(0), i32x4(1, 2, 3, -4)]", 16, 0xfffffffc, 3},
                {"f32x4[] = [f32x4(0), f32x4(1.5)]", 16, 0x3fc00000, 2}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "program x const T : %s kernel { let y = T[1] }", rows[i].text);
        vyre_program *p = parse_ok(text);
        const vy_table *table = &p->tables.data[1];
        assert_int_equal(table->count, 2);
        assert_int_equal(vyre_type_size((vyre_type)table->type), rows[i].size);
        uint64_t got = vy_table_value(table, 1, (uint32_t)rows[i].component);
        if (got != rows[i].last) {
            print_error("%s: %llx\n", rows[i].text, (unsigned long long)got);
        }
        assert_true(got == rows[i].last);
        assert_int_equal(root(p, &top(p, 0)->x)->type,
                         vy_element_value_type((vyre_type)table->type));
        vyre_program_destroy(&p);
        round_trip(text);
    }
}

/* ---- Operators ------------------------------------------------------------------------------- */

/* Which scalar types, by bits of their place in `scalars`, an operator takes. */
#define BOOLS    0x001u
#define INTEGERS 0x1feu
#define SIGNED   0x154u
#define WORDS    0x060u
#define FLOATS   0xe00u
#define SHORT    0x600u

static uint32_t taken(vyre_op op)
{
    switch (vy_op_get(op)->shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_ORDER:
    case VY_SHAPE_ABS_DIFF:
        return INTEGERS | FLOATS;
    case VY_SHAPE_SIGNED_UNARY:
        return op == VYRE_OP_NEGATE ? INTEGERS | FLOATS : SIGNED | FLOATS;
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
    case VY_SHAPE_SHIFT:
    case VY_SHAPE_BIT_COUNT:
    case VY_SHAPE_EXTRACT:
    case VY_SHAPE_INSERT:
        return op == VYRE_OP_DOT4 || op == VYRE_OP_UNPACK_BYTE || op == VYRE_OP_UNPACK_NIBBLE
                   ? WORDS
                   : INTEGERS;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        return BOOLS;
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
    case VY_SHAPE_FLOAT_TEST:
        return vy_tolerance_find(op) ? SHORT : FLOATS;
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_SELECT:
        return BOOLS | INTEGERS | FLOATS;
    default:
        return 0;
    }
}

static void write_operation(char *out, size_t size, const vy_op_info *info, const char *x)
{
    bool extracts = info->shape == VY_SHAPE_EXTRACT, inserts = info->shape == VY_SHAPE_INSERT;
    const char *y = extracts ? "1" : x, *z = extracts || inserts ? "2" : x;
    if (info->form == VY_FORM_INFIX) {
        snprintf(out, size, "let x = %s %s %s", x, info->text, x);
    } else if (info->form == VY_FORM_PREFIX) {
        snprintf(out, size, "let x = %s%s", info->text, x);
    } else if (info->shape == VY_SHAPE_SELECT) {
        snprintf(out, size, "let x = select(p_bool, %s, %s)", x, x);
    } else {
        switch (info->operand_count) {
        case 1:
            snprintf(out, size, "let x = %s(%s)", info->text, x);
            break;
        case 2:
            snprintf(out, size, "let x = %s(%s, %s)", info->text, x, y);
            break;
        case 3:
            snprintf(out, size, "let x = %s(%s, %s, %s)", info->text, x, y, z);
            break;
        default:
            snprintf(out, size, "let x = %s(%s, %s, %s, 3)", info->text, x, y, z);
            break;
        }
    }
}

static void test_operators_take_the_types_of_their_rows(void **state)
{
    (void)state;
    uint32_t checked = 0;
    for (uint32_t op = VYRE_OP_ADD; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        uint32_t types = taken((vyre_op)op);
        for (size_t i = 0; types && i < VY_COUNT_OF(scalars); i++) {
            char x[16], statement[128];
            snprintf(x, sizeof x, "p_%s", scalars[i]);
            write_operation(statement, sizeof statement, info, x);
            bool expected = types >> i & 1;
            if (is_accepted(statement) != expected) {
                print_error("%s\n", statement);
                fail();
            }
            checked++;
        }
    }
    assert_true(checked > 700);
}

static void test_results_have_the_right_types(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        vyre_type type;
    } rows[] = {{"abs_diff(p_i8, 1)", VYRE_TYPE_U8},
                {"abs_diff(p_i16, 1)", VYRE_TYPE_U16},
                {"abs_diff(p_i64, 1)", VYRE_TYPE_U64},
                {"abs_diff(p_f64, 1)", VYRE_TYPE_F64},
                {"clz(p_u8)", VYRE_TYPE_U32},
                {"popcount(p_i64)", VYRE_TYPE_U32},
                {"p_u8 << p_u64", VYRE_TYPE_U8},
                {"p_i64 >> 3", VYRE_TYPE_I64},
                {"rotate_left(p_u16, p_i8)", VYRE_TYPE_U16},
                {"p_u64 < 3", VYRE_TYPE_BOOL},
                {"is_nan(p_f16)", VYRE_TYPE_BOOL},
                {"fma(p_f64, 2, 1)", VYRE_TYPE_F64},
                {"exp(p_f16)", VYRE_TYPE_F16},
                {"extract_bits(p_i64, 40, 8)", VYRE_TYPE_I64},
                {"p_u8 + 1", VYRE_TYPE_U8},
                {"255 - p_u8", VYRE_TYPE_U8},
                {"p_f16 * 2", VYRE_TYPE_F16},
                {"p_u64 & ~0", VYRE_TYPE_U64},
                {"-p_u8", VYRE_TYPE_U8},
                {"mul_high(p_i8, p_i8)", VYRE_TYPE_I8}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[128];
        snprintf(text, sizeof text, "let x = %s", rows[i].text);
        check_type(text, rows[i].type);
    }
    refuse_kernel("let x = p_u8 + 256", "256 does not fit u8");
    refuse_kernel("let x = p_f64 % p_f64",
                  "'%' does not take f64. Fix: write `x - y * trunc(x / y)`");
    refuse_kernel("let x = exp(p_f64)", "'exp' takes f32 or f16, not f64");
    refuse_kernel("let x = dot4(p_u8, p_u8)", "'dot4' takes u32 or i32, not u8");
    refuse_kernel("let x = p_u8 + p_u16", "'+' mixes u8 with u16");
    refuse_kernel("let x = p_u64 << 1.0", "the amount is f32");
    refuse_kernel("let x = extract_bits(p_u64, p_u64, 1)", "the offset is u64, but u32 is needed");
    refuse_kernel("for i in 0 .. p_u64 { }", "the range of `for` is u64, but u32 or i32");
    refuse_kernel("switch p_u8 { }", "the selector of `switch` is u8, but u32 or i32");
}

static void test_casts_lead_from_every_scalar_to_every_scalar(void **state)
{
    (void)state;
    for (size_t from = 0; from < VY_COUNT_OF(scalars); from++) {
        for (size_t to = 0; to < VY_COUNT_OF(scalars); to++) {
            char text[64];
            snprintf(text, sizeof text, "let x = %s(p_%s)", scalars[to], scalars[from]);
            assert_true(is_accepted(text));
            /* Bits are kept where there are as many of them, and bool has none. */
            snprintf(text, sizeof text, "let x = bitcast<%s>(p_%s)", scalars[to], scalars[from]);
            bool same_size = strpbrk(scalars[from], "123468") && strpbrk(scalars[to], "123468") &&
                             strcmp(scalars[from] + 1, scalars[to] + 1) == 0;
            assert_int_equal(is_accepted(text), same_size);
        }
    }
    check_type("let x = u64(-1)", VYRE_TYPE_U64);
    refuse_kernel("let x = bf16(p_f32)",
                  "a cast cannot have the type bf16. Fix: use f32; elements");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_bf16_elements_are_f32_values(void **state)
{
    (void)state;
    check_type("let x = b_bf16[0]", VYRE_TYPE_F32);
    check_type("var a : bf16[4] a[0] = 1 let x = a[1] + p_f32", VYRE_TYPE_F32);
    assert_true(is_accepted("b_bf16[p_u32] = p_f32 b_bf16[0] += 1"));
    refuse_kernel("b_bf16[0] = p_f16", "the value stored is f16, but f32 is needed");
    refuse_kernel("let x : bf16 = p_f32", "a variable cannot have the type bf16");
    accept("program x uniform a : bf16[1] in c : bf16[1] shared d : bf16[4] kernel {\n"
           "let e : f32 = uniform a[0] let f = e + c[0] + d[0] }");
    refuse("program x fn f(a: bf16) { } kernel { }", 1, 16, "bf16");
    refuse("program x fn f() -> bf16 { return 1.0 } kernel { }", 1, 11, "bf16");
}

static void test_indices_are_words_or_u64(void **state)
{
    (void)state;
    static const char *const forms[] = {"let x = b_u32[p_%s]", "b_f64[p_%s] = 1",
                                        "let x = atomic_add(b_u64[p_%s], 1)",
                                        "var a : u8[4] a[p_%s] = 1 let x = a[p_u64]"};
    for (size_t i = 0; i < VY_COUNT_OF(scalars); i++) {
        bool expected = strcmp(scalars[i], "u32") == 0 || strcmp(scalars[i], "i32") == 0 ||
                        strcmp(scalars[i], "u64") == 0;
        for (size_t f = 0; f < VY_COUNT_OF(forms); f++) {
            char text[128];
            snprintf(text, sizeof text, forms[f], scalars[i]);
            assert_int_equal(is_accepted(text), expected);
        }
    }
    refuse_kernel("b_u32[p_i64] = 1", "the index is i64, but u32, i32 or u64 is needed");
    check_type("let x = b_u8[5000000000ul]", VYRE_TYPE_U8);
    refuse_kernel("let x = b_u8[5000000000]", "5000000000 does not fit u32");
}

static void test_atomics_take_words_of_32_and_64_bits(void **state)
{
    (void)state;
    static const char *const types[] = {"bool", "u8",  "i8",  "u16", "i16",  "u32",   "i32",  "u64",
                                        "i64",  "f16", "f32", "f64", "bf16", "u32x2", "f32x4"};
    for (uint32_t op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        uint32_t count = vy_atomic_operand_count((vyre_atomic)op);
        bool on_float = op == VYRE_ATOMIC_ADD || op == VYRE_ATOMIC_EXCHANGE ||
                        op == VYRE_ATOMIC_LOAD || op == VYRE_ATOMIC_STORE;
        for (size_t i = 0; i < VY_COUNT_OF(types); i++) {
            vy_text statement;
            vy_text_init(&statement, NULL);
            vy_text_printf(&statement, "%s(b_%s[0]", vy_atomic_text((vyre_atomic)op), types[i]);
            for (uint32_t c = 0; c < count; c++) {
                vy_text_printf(&statement, ", b_%s[1]", types[i]);
            }
            vy_text_printf(&statement, ")");
            bool expected = (i >= 5 && i <= 8) || (strcmp(types[i], "f32") == 0 && on_float);
            if (is_accepted(statement.data) != expected) {
                print_error("%s\n", statement.data);
                fail();
            }
            vy_text_finish(&statement);
        }
    }
    vy_text text = kernel_of("let old = atomic_max(b_i64[0], -1) let x = old + 1l");
    vyre_program *p = parse_ok(text.data);
    assert_int_equal(p->vars.data[top(p, 0)->result].type, VYRE_TYPE_I64);
    assert_true(root(p, &top(p, 0)->y)->bits[0] == UINT64_MAX);
    vyre_program_destroy(&p);
    vy_text_finish(&text);
    refuse_kernel("atomic_add(b_f64[0], 1)", "Fix: make the buffer u32, i32, u64, i64 or f32");
    refuse_kernel("atomic_min(b_f32[0], 1)", "only atomic_add, atomic_exchange");
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

static void test_hashes_see_types_and_upper_bits(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"inout b : u32[] kernel { }", "inout b : i32[] kernel { }"},
        {"inout b : f16[] kernel { }", "inout b : bf16[] kernel { }"},
        {"kernel { let x = 1ul }", "kernel { let x = 4294967297ul }"},
        {"kernel { let x = 1ul }", "kernel { let x = 1l }"},
        {"kernel { let x = 1.0d }", "kernel { let x = 1.0000000000000002d }"},
        {"kernel { let x : u8 = 1 }", "kernel { let x : u16 = 1 }"},
        {"kernel { var x : u8[4] }", "kernel { var x : i8[4] }"},
        {"workgroup 64 kernel { }", "workgroup 64 subgroup 32 kernel { }"},
        {"workgroup 64 subgroup 16 kernel { }", "workgroup 64 subgroup 32 kernel { }"},
        {"kernel { let v = u32x2(1, 2).x }", "kernel { let v = u32x2(1, 2).y }"},
        {"kernel { let v = u32x2(1, 2).xy }", "kernel { let v = u32x2(1, 2).xxyy }"},
        {"kernel { let v = u32x2(1) }", "kernel { let v = u32x4(1) }"},
        {"const V = u32x4(1, 2, 3, 4) kernel { let v = V }",
         "const V = u32x4(1, 2, 3, 5) kernel { let v = V }"},
        {"const V = u32x4(1, 2, 3, 4) kernel { let v = V }",
         "const V = u32x4(1, 3, 3, 4) kernel { let v = V }"},
        {"const T : u64[] = [1] kernel { let v = T[0] }",
         "const T : u64[] = [4294967297] kernel { let v = T[0] }"},
        {"kernel { let x = subgroup_add(1) }", "kernel { let x = subgroup_mul(1) }"},
        {"kernel { let x = subgroup_add(1) }", "kernel { let x = subgroup_exclusive_add(1) }"},
        {"kernel { let x = lane }", "kernel { let x = lanes }"},
        {"param p : u64 kernel { }", "param p : u32x2 kernel { }"}};
    for (size_t i = 0; i < VY_COUNT_OF(pairs); i++) {
        char text[2][256];
        for (int side = 0; side < 2; side++) {
            snprintf(text[side], sizeof text[side], "program x %s", pairs[i][side]);
        }
        vyre_program *p = parse_ok(text[0]), *q = parse_ok(text[1]);
        if (vyre_program_hash(p) == vyre_program_hash(q)) {
            print_error("equal: %s\n%s\n", text[0], text[1]);
        }
        assert_true(vyre_program_hash(p) != vyre_program_hash(q));
        vyre_program_destroy(&p);
        vyre_program_destroy(&q);
        round_trip(text[0]);
        round_trip(text[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_computed_at_their_width),
        cmocka_unit_test(test_constants_never_wrap),
        cmocka_unit_test(test_tables_hold_every_type),
        cmocka_unit_test(test_operators_take_the_types_of_their_rows),
        cmocka_unit_test(test_results_have_the_right_types),
        cmocka_unit_test(test_casts_lead_from_every_scalar_to_every_scalar),
        cmocka_unit_test(test_bf16_elements_are_f32_values),
        cmocka_unit_test(test_indices_are_words_or_u64),
        cmocka_unit_test(test_atomics_take_words_of_32_and_64_bits),
        cmocka_unit_test(test_hashes_see_types_and_upper_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

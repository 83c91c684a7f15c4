/* printf statements as text and by the builder: what they take, what is refused with its place, and
 * that they read back as they were printed. */
#include "tests/ir/text_support.h"

#include "tests/ir/build.h"

#define LINE(statement) KERNEL(statement), KERNEL_LINE + 1

static void test_every_conversion_takes_its_types(void **state)
{
    (void)state;
    static const char *const types[] = {
        "bool", "u8",  "i8",    "u16",   "i16",   "u32",   "i32",   "u64",   "i64",   "f16",
        "f32",  "f64", "bool2", "bool4", "u32x2", "u32x4", "i32x2", "i32x4", "f32x2", "f32x4"};
    static const struct {
        const char *conversion, *takes;
    } rows[] = {
        {"%u", " u8 u16 u32 "}, {"%x", " u8 u16 u32 "}, {"%o", " u8 u16 u32 "},
        {"%d", " i8 i16 i32 "}, {"%i", " i8 i16 i32 "}, {"%X", " u8 u16 u32 "},
        {"%f", " f16 f32 "},    {"%e", " f16 f32 "},    {"%g", " f16 f32 "},
        {"%E", " f16 f32 "},    {"%G", " f16 f32 "},    {"%lu", " u64 "},
        {"%lx", " u64 "},       {"%ld", " i64 "},       {"%lf", " f64 "},
        {"%lg", " f64 "},       {"%v2u", " u32x2 "},    {"%v4x", " u32x4 "},
        {"%v2d", " i32x2 "},    {"%v4d", " i32x4 "},    {"%v2f", " f32x2 "},
        {"%.3v4e", " f32x4 "},
    };
    for (size_t r = 0; r < VY_COUNT_OF(rows); r++) {
        for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
            char text[256], word[16];
            snprintf(text, sizeof text,
                     "program x\nfn f(v: %s) { printf(\"%s\", v) }\nkernel { }\n", types[t],
                     rows[r].conversion);
            snprintf(word, sizeof word, " %s ", types[t]);
            if (strstr(rows[r].takes, word)) {
                accept(text);
            } else {
                char part[64];
                snprintf(part, sizeof part, "%s prints ", rows[r].conversion);
                refuse(text, 2,
                       24 + (uint32_t)strlen(types[t]) + (uint32_t)strlen(rows[r].conversion),
                       part);
            }
        }
    }
}

static void test_literals_take_the_conversions_type(void **state)
{
    (void)state;
    accept(KERNEL("printf(\"%d %d %u %lu %ld %f %lf\", 5, -5, 5, 5, -5, 5, 5)"));
    accept(KERNEL("printf(\"%f %lf %lf\", inf, -inf, nan)"));
    refuse(LINE("printf(\"%u\", -5)"), 14, "the negative literal -5");
    refuse(LINE("printf(\"%lf\", 1.5)"), 15, "%lf prints f64, not f32. Fix: write %f");
    vyre_program *p = parse_ok(KERNEL("printf(\"%ld\", -5)"));
    const vy_stmt *stmt = &p->stmts.data[p->body];
    assert_int_equal(stmt->kind, VY_STMT_PRINTF);
    assert_int_equal(p->exprs.data[vy_printf_value(p, stmt, 0).root].type, VYRE_TYPE_I64);
    vyre_program_destroy(&p);
}

static void test_wrong_statements_are_refused_with_a_fix(void **state)
{
    (void)state;
    refuse(KERNEL("printf"), KERNEL_LINE + 2, 1, "expected '('");
    refuse(LINE("printf()"), 8, "expected the format of a printf");
    refuse(LINE("printf(pu)"), 8, "expected the format of a printf");
    refuse(LINE("printf(\"a\\n\")"), 8, "has a line end. Fix: leave out \\n");
    refuse(LINE("printf(\"a\\x0a\")"), 8, "has a line end");
    refuse(LINE("printf(\"a\\x07\")"), 8, "has the byte 0x07");
    refuse(LINE("printf(\"a\\q\")"), 8, "an unknown escape");
    refuse(LINE("printf(\"%u\")"), 8, "has 1 conversion, but 0 values are given");
    refuse(LINE("printf(\"a\", pu)"), 8, "has 0 conversions, but 1 value is given");
    refuse(LINE("printf(\"%u %u\", pu)"), 8, "has 2 conversions, but 1 value is given");
    refuse(LINE("printf(\"%k\", pu)"), 8, "the conversion %k of a printf does not exist");
    refuse(LINE("printf(\"%s\", pu)"), 8, "the conversion %s of a printf is of C's texts");
    refuse(LINE("printf(\"%d\", pu)"), 14, "%d prints i32, not u32. Fix: write %u, or convert");
    refuse(LINE("printf(\"%u\", pi)"), 14, "%u prints u32, not i32. Fix: write %d, or convert");
    refuse(LINE("printf(\"%u\", pf)"), 14, "Fix: write %f");
    refuse(LINE("printf(\"%u\", pf > 1.0)"), 17, "not bool. Fix: write %u, and convert it: u32(b)");
    refuse(LINE("printf(\"%u\" pu)"), 13, "expected ')'");
    refuse(LINE("printf(\"%u\", pu, )"), 18, "expected");
    refuse(LINE("let x = printf(\"a\")"), 9, "");
    refuse(LINE("printf(\"a\") + 1"), 13, "a printf is no part of an expression");
    refuse(LINE("let printf = 1"), 5, "");
    refuse(LINE("printf(\"%u\", nope)"), 14, "nope");
}

static void test_limits_are_those_stated(void **state)
{
    (void)state;
    char text[4096], format[600] = "";
    snprintf(text, sizeof text, HEAD "kernel {\nprintf(\"%0255d\")\n}\n", 7);
    accept(text);
    snprintf(text, sizeof text, HEAD "kernel {\nprintf(\"%0256d\")\n}\n", 7);
    refuse(text, KERNEL_LINE + 1, 8, "more than 255 bytes");
    /* 16 values, of 32 words: no more. */
    accept(KERNEL("printf(\"%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u\", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
                  "12, 13, 14, 15, 16)"));
    refuse(LINE("printf(\"%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u\", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
                "12, 13, 14, 15, 16, 17)"),
           8, "is the 17th");
    for (int i = 0; i < 8; i++) {
        strcat(format, "%v4u");
    }
    snprintf(text, sizeof text,
             "program x\nkernel { let v = u32x4(1)\nprintf(\"%s\", v, v, v, v, v, v, v, v)\n}\n",
             format);
    accept(text);
    snprintf(text, sizeof text,
             "program x\nkernel { let v = u32x4(1)\nprintf(\"%s%%u\", v, v, v, v, v, v, v, v, 1)\n}"
             "\n",
             format);
    refuse(text, 3, 8, "take 33 words of the 32");
}

static void test_it_stands_where_statements_stand(void **state)
{
    (void)state;
    accept(KERNEL("if lid.x == 3 { printf(\"a\") } else { printf(\"b\") }\n"
                  "for i in 0 .. lid.x { printf(\"%u\", i)  if i == 3 { break }  printf(\"x\") }\n"
                  "while b[0] != 0 { printf(\"w\") }\n"
                  "switch lid.x { case 1 { printf(\"c\") } default { printf(\"d\") } }\n"
                  "region \"r\" { printf(\"e\"); printf(\"f\") }\n"
                  "barrier  printf(\"%u\", twice(pu))  grid_sync  printf(\"g\")  return"));
}

static void test_functions_that_print_are_not_pure(void **state)
{
    (void)state;
    const char *head =
        "program x\ninout b : u32[]\nfn f(x: u32) -> u32 { printf(\"%u\", x) return x "
        "}\nkernel {\n";
    char text[512];
    snprintf(text, sizeof text, "%slet y = f(1)\nf(2)\n}\n", head);
    accept(text);
    snprintf(text, sizeof text, "%sb[0] = f(1) + 1\n}\n", head);
    refuse(text, 5, 8, "has effects and is called inside an expression");
}

/* Their `while` would take from the trips of others, so that results told whether it prints. */
static void test_values_run_no_counted_loops(void **state)
{
    (void)state;
    refuse("program x\nfn f(x: u32) -> u32 { var y = x  while y > 9 { y /= 2 } return y }\n"
           "kernel {\nprintf(\"%u\", f(100))\n}\n",
           4, 14, "has a `while`, whose trips are counted");
    accept("program x\nfn f(x: u32) -> u32 { var y = x  while y > 9 { y /= 2 } return y }\n"
           "kernel {\nlet z = f(100)\nprintf(\"%u\", z)\n}\n");
}

static void test_it_reads_back_as_it_was_printed(void **state)
{
    (void)state;
    const char *text =
        KERNEL("printf(\"\")\n"
               "printf(\"quotes \\\" and \\\\ and 100%%\")\n"
               "printf(\"%d %5u %-8.3f %v4x\", -1, twice(pu) + 2, select(pu > 1, pf, 2.0), "
               "u32x4(1, pu, 3, 4))\n"
               "printf(\"%lf %lu %f\", 2.5d, 7ul, f16(pf))\n"
               "if lid.x < 3 { printf(\"%u\", a[lid.x]) }");
    size_t size = 0, again_size = 0;
    vyre_program *p = parse_ok(text);
    char *printed = print_ok(p, &size);
    vyre_program *q = parse_ok(printed);
    char *again = print_ok(q, &again_size);
    assert_string_equal(printed, again);
    assert_true(vyre_program_hash(p) == vyre_program_hash(q));
    assert_non_null(strstr(printed, "printf(\"quotes \\\" and \\\\ and 100%%\")\n"));
    assert_non_null(strstr(printed, "printf(\"%d %5u %-8.3f %v4x\", -1i, twice(pu) + 2, "));
    vyre_text_free(NULL, printed, size);
    vyre_text_free(NULL, again, again_size);
    vyre_program_destroy(&p);
    vyre_program_destroy(&q);
}

static void test_every_prefix_is_refused(void **state)
{
    (void)state;
    const char *text = "program x kernel { printf(\"a %u \\\" %v2f\", gid.x, f32x2(1.0, 2.0)) }";
    for (size_t length = 0; length < strlen(text); length++) {
        vyre_program *p = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_program_parse(text, length, NULL, NULL, &p, &diag),
                         VYRE_ERROR_INVALID_PROGRAM);
        assert_null(p);
        assert_non_null(strstr(diag.message, ". Fix: "));
    }
    accept(text);
}

static uint64_t hash_of(const char *text)
{
    vyre_program *p = parse_ok(text);
    uint64_t hash = vyre_program_hash(p);
    vyre_program_destroy(&p);
    return hash;
}

static void test_the_hash_sees_formats_and_values(void **state)
{
    (void)state;
    static const char *const texts[] = {
        KERNEL("b[0] = pu"),
        KERNEL("printf(\"%u\", pu) b[0] = pu"),
        KERNEL("printf(\"%x\", pu) b[0] = pu"),
        KERNEL("printf(\"%u\", pu + 1) b[0] = pu"),
        KERNEL("b[0] = pu printf(\"%u\", pu)"),
        KERNEL("printf(\"%u%u\", pu, pu) b[0] = pu"),
        KERNEL("printf(\"%u\", pu) printf(\"%u\", pu) b[0] = pu"),
    };
    for (size_t i = 0; i < VY_COUNT_OF(texts); i++) {
        assert_true(hash_of(texts[i]) == hash_of(texts[i]));
        for (size_t j = 0; j < i; j++) {
            assert_true(hash_of(texts[i]) != hash_of(texts[j]));
        }
    }
}

static void test_it_does_not_show_the_workgroup(void **state)
{
    (void)state;
    vyre_program *p = parse_ok("program x inout b : u32[] kernel { b[gid.x] = 1 "
                               "printf(\"%u %u\", lid.x, lane) }");
    assert_true(vy_program_is_workgroup_agnostic(p, NULL));
    assert_true(vy_program_has_prints(p));
    vyre_program_destroy(&p);
}

/* ---- Builder --------------------------------------------------------------------------------- */

static void test_the_builder_makes_the_same(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_program *program = NULL;
    vyre_diag diag;
    char format[] = "%u is %f";
    vyre_expr values[] = {gid(b), vyre_build_f32(b, 0.5f)};
    vyre_build_printf(b, format, values, 2);
    format[0] = '!'; /* it was copied */
    vyre_build_printf(b, "no values", NULL, 0);
    assert_int_equal(vyre_builder_finish(&b, &program, &diag), VYRE_OK);
    assert_true(vyre_program_hash(program) ==
                hash_of("program test kernel { printf(\"%u is %f\", gid.x, 0.5) "
                        "printf(\"no values\") }"));
    vyre_program_destroy(&program);
}

static void check_builder_refuses(const char *format, const vyre_expr *values, uint32_t count,
                                  vyre_builder *b, const char *part)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_build_printf(b, format, values, count);
    assert_int_equal(vyre_builder_finish(&b, &program, &diag), VYRE_ERROR_INVALID_PROGRAM);
    if (!strstr(diag.message, part)) {
        print_error("%s\n", diag.message);
    }
    assert_non_null(strstr(diag.message, part));
    assert_non_null(strstr(diag.message, ". Fix: "));
    assert_null(program);
}

static void test_the_builder_refuses(void **state)
{
    (void)state;
    vyre_builder *b = start();
    check_builder_refuses(NULL, NULL, 0, b, "is missing");
    b = start();
    check_builder_refuses("\xc3\xa4", NULL, 0, b, "has the byte 0xc3");
    b = start();
    check_builder_refuses("%u", NULL, 1, b, "has 1 conversion, but 0 values");
    b = start();
    vyre_expr value = gid(b);
    check_builder_refuses("%u%u", (vyre_expr[]){value, value}, 2, b, "used before");
    b = start();
    check_builder_refuses("%u", &(vyre_expr){0}, 1, b, "is missing");
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint32_t fail_at = 1;; fail_at++) {
        vy_fail_allocator memory = {.fail_at = fail_at};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_program *p = NULL;
        vyre_diag diag;
        const char *text = KERNEL("printf(\"%u %v4f\", pu, f32x4(pf))");
        vyre_result result = vyre_program_parse(text, strlen(text), NULL, &allocator, &p, &diag);
        vyre_program_destroy(&p);
        assert_int_equal(memory.live_blocks, 0);
        if (result == VYRE_OK) {
            break;
        }
        assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_conversion_takes_its_types),
        cmocka_unit_test(test_literals_take_the_conversions_type),
        cmocka_unit_test(test_wrong_statements_are_refused_with_a_fix),
        cmocka_unit_test(test_limits_are_those_stated),
        cmocka_unit_test(test_it_stands_where_statements_stand),
        cmocka_unit_test(test_functions_that_print_are_not_pure),
        cmocka_unit_test(test_values_run_no_counted_loops),
        cmocka_unit_test(test_it_reads_back_as_it_was_printed),
        cmocka_unit_test(test_every_prefix_is_refused),
        cmocka_unit_test(test_the_hash_sees_formats_and_values),
        cmocka_unit_test(test_it_does_not_show_the_workgroup),
        cmocka_unit_test(test_the_builder_makes_the_same),
        cmocka_unit_test(test_the_builder_refuses),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

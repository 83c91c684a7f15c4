/* Literals, lists, generators, and the words of command lines. */
#include "tests/tools/support.h"
#include "tools/common/tool.h"
#include "tools/common/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_value(const char *text, vyre_type type, uint32_t wanted)
{
    uint32_t bits = ~wanted;
    vyre_diag diag = {0};
    if (vy_value_parse(text, strlen(text), type, &bits, &diag) != VYRE_OK || bits != wanted) {
        fail_msg("'%s' gives 0x%08x, not 0x%08x: %s", text, bits, wanted, diag.message);
    }
}

static void assert_no_value(const char *text, vyre_type type)
{
    uint32_t bits;
    vyre_diag diag = {0};
    if (vy_value_parse(text, strlen(text), type, &bits, &diag) != VYRE_ERROR_INVALID_ARGUMENT) {
        fail_msg("'%s' was taken", text);
    }
    assert_non_null(strstr(diag.message, "Fix: "));
}

static void test_value_reads_each_type(void **state)
{
    (void)state;
    assert_value("0", VYRE_TYPE_U32, 0);
    assert_value("4294967295", VYRE_TYPE_U32, 0xffffffffu);
    assert_value("0xFFffFFff", VYRE_TYPE_U32, 0xffffffffu);
    assert_value("-0", VYRE_TYPE_U32, 0);
    assert_value("-2147483648", VYRE_TYPE_I32, 0x80000000u);
    assert_value("+2147483647", VYRE_TYPE_I32, 0x7fffffffu);
    assert_value("0xffffffff", VYRE_TYPE_I32, 0xffffffffu);
    assert_value("1", VYRE_TYPE_F32, 0x3f800000u);
    assert_value("-1.5e0", VYRE_TYPE_F32, 0xbfc00000u);
    assert_value("1E-45", VYRE_TYPE_F32, 1);
    assert_value("-0", VYRE_TYPE_F32, 0x80000000u);
    assert_value(".5", VYRE_TYPE_F32, 0x3f000000u);
    assert_value("0x1.8p1", VYRE_TYPE_F32, 0x40400000u);
    assert_value("-inf", VYRE_TYPE_F32, 0xff800000u);
    assert_value("nan", VYRE_TYPE_F32, 0x7fc00000u);
    assert_value("1e99", VYRE_TYPE_F32, 0x7f800000u);
    assert_value("true", VYRE_TYPE_BOOL, 1);
    assert_value("0", VYRE_TYPE_BOOL, 0);
}

static void test_value_refuses_others(void **state)
{
    (void)state;
    static const char *const integers[] = {"",
                                           "-",
                                           "+",
                                           "a",
                                           "1a",
                                           "0x",
                                           "1.0",
                                           "4294967296",
                                           "- 1",
                                           "--1",
                                           "99999999999999999999999999999",
                                           "-4294967296"};
    static const char *const floats[] = {"",         ".",   "e5", "1e",  "1e+",   "1.0f",
                                         "infinity", "0x1", "1 ", "--1", "0x.p1", "1.2.3"};
    for (size_t i = 0; i < VY_COUNT_OF(integers); i++) {
        assert_no_value(integers[i], VYRE_TYPE_U32);
        assert_no_value(integers[i], VYRE_TYPE_I32);
    }
    for (size_t i = 0; i < VY_COUNT_OF(floats); i++) {
        assert_no_value(floats[i], VYRE_TYPE_F32);
    }
    assert_no_value("-1", VYRE_TYPE_U32);
    assert_no_value("2147483648", VYRE_TYPE_I32);
    assert_no_value("-2147483649", VYRE_TYPE_I32);
    assert_no_value("2", VYRE_TYPE_BOOL);
    assert_no_value("TRUE", VYRE_TYPE_BOOL);
}

static void test_value_text_reads_back(void **state)
{
    (void)state;
    static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32};
    uint32_t bits = 1;
    for (int i = 0; i < 30000; i++) {
        bits = bits * 1664525u + 1013904223u;
        for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
            bool is_nan = types[t] == VYRE_TYPE_F32 && (bits & 0x7fffffffu) > 0x7f800000u;
            char text[VY_VALUE_TEXT_SIZE];
            vy_value_format(types[t], bits, text);
            assert_value(text, types[t], is_nan ? (bits & 0x80000000u) | 0x7fc00000u : bits);
        }
    }
}

static void test_list_reads_blanks_and_nothing(void **state)
{
    (void)state;
    uint32_t *elements, count;
    assert_int_equal(vy_list_parse(" 1 ,2,\t3 ", VYRE_TYPE_U32, &elements, &count, NULL), VYRE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(elements[0], 1);
    assert_int_equal(elements[2], 3);
    free(elements);
    assert_int_equal(vy_list_parse("  ", VYRE_TYPE_U32, &elements, &count, NULL), VYRE_OK);
    assert_int_equal(count, 0);
    free(elements);
    static const char *const wrong[] = {",", "1,", "1,,2", ",1", "1 2", "1;2"};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        assert_int_equal(vy_list_parse(wrong[i], VYRE_TYPE_U32, &elements, &count, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_null(elements);
    }
}

static void test_generators_give_what_they_say(void **state)
{
    (void)state;
    uint32_t e[64];
    assert_int_equal(vy_value_generate("zero", VYRE_TYPE_U32, e, 64, NULL), VYRE_OK);
    assert_int_equal(e[0] | e[63], 0);
    assert_int_equal(vy_value_generate("iota", VYRE_TYPE_U32, e, 64, NULL), VYRE_OK);
    assert_int_equal(e[63], 63);
    assert_int_equal(vy_value_generate("iota:10:3", VYRE_TYPE_U32, e, 64, NULL), VYRE_OK);
    assert_int_equal(e[5], 25);
    assert_int_equal(vy_value_generate("iota:0:-2", VYRE_TYPE_I32, e, 64, NULL), VYRE_OK);
    assert_int_equal(e[4], 0xfffffff8u);
    assert_int_equal(vy_value_generate("iota:1:0.5", VYRE_TYPE_F32, e, 64, NULL), VYRE_OK);
    assert_int_equal(e[2], 0x40000000u);
    assert_int_equal(vy_value_generate("fill:7", VYRE_TYPE_U32, e, 64, NULL), VYRE_OK);
    assert_int_equal(e[63], 7);
    for (int type = 0; type < 2; type++) {
        uint32_t low = type ? 0xfffffffdu : 5, high = type ? 4 : 12, seen = 0;
        assert_int_equal(vy_value_generate(type ? "random:1:-3:4" : "random:1:5:12",
                                           type ? VYRE_TYPE_I32 : VYRE_TYPE_U32, e, 64, NULL),
                         VYRE_OK);
        for (int i = 0; i < 64; i++) {
            assert_true(e[i] - low < high - low);
            seen |= 1u << (e[i] - low);
        }
        assert_int_equal(seen, 0x7f); /* 64 draws of 7 values */
    }
    assert_int_equal(vy_value_generate("random:3", VYRE_TYPE_F32, e, 64, NULL), VYRE_OK);
    for (int i = 0; i < 64; i++) {
        float f;
        memcpy(&f, &e[i], sizeof f);
        assert_true(f >= 0.0f && f < 1.0f);
    }
    uint32_t first = e[0];
    assert_int_equal(vy_value_generate("random:4", VYRE_TYPE_F32, e, 64, NULL), VYRE_OK);
    assert_int_not_equal(e[0], first);
    assert_int_equal(vy_value_generate("random:3", VYRE_TYPE_F32, e, 1, NULL), VYRE_OK);
    assert_int_equal(e[0], first);
}

static void test_generators_refuse_others(void **state)
{
    (void)state;
    uint32_t e[4];
    static const char *const wrong[] = {
        "",           "zeros",        "zero:1",       "iota:",          "iota:1:2:3",
        "fill",       "fill:",        "fill:1:2",     "random",         "random:",
        "random:1:2", "random:1:5:5", "random:1:6:5", "random:1:2:3:4", "random:x",
        "fill:-1"};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        vyre_diag diag = {0};
        if (vy_value_generate(wrong[i], VYRE_TYPE_U32, e, 4, &diag) !=
            VYRE_ERROR_INVALID_ARGUMENT) {
            fail_msg("'%s' was taken", wrong[i]);
        }
        assert_non_null(strstr(diag.message, "Fix: "));
    }
    assert_int_equal(vy_value_generate("random:1:nan:1", VYRE_TYPE_F32, e, 4, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vy_value_generate("random:1:0:inf", VYRE_TYPE_F32, e, 4, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_words_are_cut_as_in_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int count;
        const char *words[4];
    } cases[] = {{"", 0, {0}},
                 {"  a  b\tc ", 3, {"a", "b", "c"}},
                 {"'a b' \"c d\"", 2, {"a b", "c d"}},
                 {"a'b'\"c\"", 1, {"abc"}},
                 {"\"a\\\"b\" '\\' \\'", 3, {"a\"b", "\\", "'"}},
                 {"'' \"\"", 2, {"", ""}},
                 {"a\\ b", 1, {"a b"}}};
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vy_arena arena;
        char **words;
        int count;
        vy_arena_init(&arena, NULL);
        assert_int_equal(
            vy_split_words(&arena, cases[i].text, strlen(cases[i].text), &words, &count, NULL),
            VYRE_OK);
        assert_int_equal(count, cases[i].count);
        for (int w = 0; w < count; w++) {
            assert_string_equal(words[w], cases[i].words[w]);
        }
        assert_null(words[count]);
        vy_arena_finish(&arena);
    }
    static const char *const open[] = {"'", "\"a", "a 'b", "\"a\\\""};
    for (size_t i = 0; i < VY_COUNT_OF(open); i++) {
        vy_arena arena;
        char **words;
        int count;
        vy_arena_init(&arena, NULL);
        assert_int_equal(vy_split_words(&arena, open[i], strlen(open[i]), &words, &count, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        vy_arena_finish(&arena);
    }
}

static void test_options_are_walked(void **state)
{
    (void)state;
    static const vy_option options[] = {
        {"--flag", 1, NULL, ""}, {"--value", 2, "V", ""}, {"-o", 3, "FILE", ""}};
    char *arguments[] = {"--flag", "--value", "a=b", "--value=c=d", "-o",
                         "x",      "file",    "-",   "--",          "--flag"};
    vy_args args = {.count = 10, .arguments = arguments, .options = options, .option_count = 3};
    static const struct {
        int id;
        const char *value;
    } wanted[] = {{1, NULL},
                  {2, "a=b"},
                  {2, "c=d"},
                  {3, "x"},
                  {VY_ARG_POSITIONAL, "file"},
                  {VY_ARG_POSITIONAL, "-"},
                  {VY_ARG_POSITIONAL, "--flag"},
                  {VY_ARG_END, NULL}};
    for (size_t i = 0; i < VY_COUNT_OF(wanted); i++) {
        assert_int_equal(vy_args_next(&args), wanted[i].id);
        if (wanted[i].value) {
            assert_string_equal(args.value, wanted[i].value);
        }
    }
    static char *const wrong[] = {"--none", "--value", "--flag=1", "-x", "--"};
    for (size_t i = 0; i < 4; i++) {
        vy_args one = {.count = 1, .arguments = &wrong[i], .options = options, .option_count = 3};
        assert_int_equal(vy_args_next(&one), VY_ARG_ERROR);
        assert_int_not_equal(one.error[0], 0);
    }
}

static void test_json_strings_are_escaped(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_json_string(&text, "a\"\\\n\x01\xc3\xa9\xff\xc3|\xed\xa0\x80");
    assert_string_equal(text.data, "\"a\\\"\\\\\\u000a\\u0001\xc3\xa9\\ufffd\\ufffd|"
                                   "\\ufffd\\ufffd\\ufffd\"");
    vy_text_finish(&text);
}

static void test_triples_are_read(void **state)
{
    (void)state;
    uint32_t v[3];
    assert_true(vy_parse_triple("7", v));
    assert_true(v[0] == 7 && v[1] == 1 && v[2] == 1);
    assert_true(vy_parse_triple("1,2,3", v));
    assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3);
    static const char *const wrong[] = {"",        "0",    "1,", "1,0",
                                        "1,2,3,4", "1 ,2", "-1", "4294967296"};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        assert_false(vy_parse_triple(wrong[i], v));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_reads_each_type),
        cmocka_unit_test(test_value_refuses_others),
        cmocka_unit_test(test_value_text_reads_back),
        cmocka_unit_test(test_list_reads_blanks_and_nothing),
        cmocka_unit_test(test_generators_give_what_they_say),
        cmocka_unit_test(test_generators_refuse_others),
        cmocka_unit_test(test_words_are_cut_as_in_a_shell),
        cmocka_unit_test(test_options_are_walked),
        cmocka_unit_test(test_json_strings_are_escaped),
        cmocka_unit_test(test_triples_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

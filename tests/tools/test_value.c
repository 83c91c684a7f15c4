/* Literals, lists, generators, and the words of command lines. */
#include "codegen/ir/ops.h"
#include "tests/tools/support.h"
#include "tools/common/tool.h"
#include "tools/common/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name, number, keyword, size, kind, component, components) VYRE_TYPE_##name,
static const vyre_type all_types[] = {VYRE_TYPES(X)};
#undef X

static void assert_value(const char *text, vyre_type type, uint64_t wanted)
{
    vy_value value = {{~wanted}};
    vyre_diag diag = {0};
    if (vy_value_parse(text, strlen(text), type, &value, &diag) != VYRE_OK ||
        value.bits[0] != wanted) {
        fail_msg("'%s' gives 0x%llx, not 0x%llx as %s: %s", text, (unsigned long long)value.bits[0],
                 (unsigned long long)wanted, vyre_type_keyword(type), diag.message);
    }
}

static void assert_no_value(const char *text, vyre_type type)
{
    vy_value value;
    vyre_diag diag = {0};
    if (vy_value_parse(text, strlen(text), type, &value, &diag) != VYRE_ERROR_INVALID_ARGUMENT) {
        fail_msg("'%s' was taken as %s", text, vyre_type_keyword(type));
    }
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_non_null(strstr(diag.message, vyre_type_keyword(type)));
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
    assert_value("1", VYRE_TYPE_F16, 0x3c00);
    assert_value("65519.999", VYRE_TYPE_F16, 0x7bff);
    assert_value("-65520", VYRE_TYPE_F16, 0xfc00);
    assert_value("0x1p-24", VYRE_TYPE_F16, 1);
    assert_value("-nan", VYRE_TYPE_F16, 0xfe00);
    assert_value("1", VYRE_TYPE_BF16, 0x3f80);
    assert_value("0.1", VYRE_TYPE_BF16, 0x3dcd);
    assert_value("-inf", VYRE_TYPE_BF16, 0xff80);
    assert_value("nan", VYRE_TYPE_BF16, 0x7fc0);
    assert_value("3.4e38", VYRE_TYPE_BF16, 0x7f80);
    assert_value("0.1", VYRE_TYPE_F64, 0x3fb999999999999au);
    assert_value("5e-324", VYRE_TYPE_F64, 1);
    assert_value("-0", VYRE_TYPE_F64, 0x8000000000000000u);
    assert_value("nan", VYRE_TYPE_F64, 0x7ff8000000000000u);
}

/* Every width at its ends and one beyond. */
static void test_value_reads_integers_of_every_width(void **state)
{
    (void)state;
    static const struct {
        vyre_type type;
        const char *least, *most, *below, *above, *bits, *too_many;
        uint64_t mask;
    } rows[] = {{VYRE_TYPE_U8, "0", "255", "-1", "256", "0xfF", "0x100", 0xff},
                {VYRE_TYPE_I8, "-128", "127", "-129", "128", "0xFf", "0x100", 0xff},
                {VYRE_TYPE_U16, "0", "65535", "-1", "65536", "0xffff", "0x10000", 0xffff},
                {VYRE_TYPE_I16, "-32768", "32767", "-32769", "32768", "0xffff", "0x10000", 0xffff},
                {VYRE_TYPE_U64, "0", "18446744073709551615", "-1", "18446744073709551616",
                 "0xffffffffffffffff", "0x10000000000000000", UINT64_MAX},
                {VYRE_TYPE_I64, "-9223372036854775808", "9223372036854775807",
                 "-9223372036854775809", "9223372036854775808", "0xffffffffffffffff",
                 "0x10000000000000000", UINT64_MAX}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        bool is_signed = vy_type_is_signed(rows[i].type);
        uint64_t mask = rows[i].mask;
        assert_value(rows[i].least, rows[i].type, is_signed ? (mask >> 1) + 1 : 0);
        assert_value(rows[i].most, rows[i].type, is_signed ? mask >> 1 : mask);
        assert_value(rows[i].bits, rows[i].type, mask);
        assert_no_value(rows[i].below, rows[i].type);
        assert_no_value(rows[i].above, rows[i].type);
        assert_no_value(rows[i].too_many, rows[i].type);
        assert_no_value("1.0", rows[i].type);
        assert_no_value("", rows[i].type);
    }
    assert_value("-0x80", VYRE_TYPE_I8, 0x80);
    assert_no_value("-0x81", VYRE_TYPE_I8);
}

static void test_value_reads_vectors(void **state)
{
    (void)state;
    vy_value value;
    assert_int_equal(vy_value_parse("1:-2", 4, VYRE_TYPE_I32X2, &value, NULL), VYRE_OK);
    assert_int_equal(value.bits[0], 1);
    assert_int_equal(value.bits[1], 0xfffffffeu);
    assert_int_equal(vy_value_parse("1:2:inf:-0", 10, VYRE_TYPE_F32X4, &value, NULL), VYRE_OK);
    assert_int_equal(value.bits[2], 0x7f800000u);
    assert_int_equal(value.bits[3], 0x80000000u);
    assert_int_equal(vy_value_parse("1:false", 7, VYRE_TYPE_BOOL2, &value, NULL), VYRE_OK);
    assert_int_equal(value.bits[0], 1);
    assert_int_equal(value.bits[1], 0);
    static const char *const wrong[] = {"", "1", "1:2:3", "1:2:3:4:5", ":::"};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        vyre_diag diag = {0};
        assert_int_equal(vy_value_parse(wrong[i], strlen(wrong[i]), VYRE_TYPE_U32X4, &value, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "Fix: "));
    }
    assert_no_value("1:2", VYRE_TYPE_U32);
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

/* Any bits, by way of memory and of text. */
static void test_value_text_reads_back(void **state)
{
    (void)state;
    uint64_t bits = 1;
    for (int i = 0; i < 4000; i++) {
        for (size_t t = 0; t < VY_COUNT_OF(all_types); t++) {
            vyre_type type = all_types[t], component = vy_type_component(type);
            vy_value value = {{0}}, again = {{0}};
            unsigned char memory[32];
            char text[VY_VALUE_TEXT_SIZE];
            for (uint32_t c = 0; c < vy_type_components(type); c++) {
                bits = bits * 6364136223846793005u + 1442695040888963407u;
                value.bits[c] = vy_type_bits(component, bits >> (i & 31) ^ bits >> 29);
            }
            if (vyre_type_size(type)) {
                vy_value_store(type, memory, 1, &value);
                again = vy_value_load(type, memory, 1);
                assert_memory_equal(&again, &value, sizeof value);
            }
            vy_value_format(type, &value, text);
            assert_int_equal(vy_value_parse(text, strlen(text), type, &again, NULL), VYRE_OK);
            for (uint32_t c = 0; c < vy_type_components(type); c++) {
                if (vy_scalar_is_nan(component, value.bits[c])) {
                    assert_true(vy_scalar_is_nan(component, again.bits[c]));
                } else if (again.bits[c] != value.bits[c]) {
                    fail_msg("%s: %s", vyre_type_keyword(type), text);
                }
            }
        }
    }
}

static void test_list_reads_blanks_and_nothing(void **state)
{
    (void)state;
    void *elements;
    uint32_t count;
    assert_int_equal(vy_list_parse(" 1 ,2,\t3 ", VYRE_TYPE_U16, &elements, &count, NULL), VYRE_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(elements, "\1\0\2\0\3\0", 6);
    free(elements);
    assert_int_equal(vy_list_parse("1:2, 3:4", VYRE_TYPE_U32X2, &elements, &count, NULL), VYRE_OK);
    assert_int_equal(count, 2);
    assert_memory_equal(elements, "\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0", 16);
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

/* 64 elements of the generator, from exactly that memory, so that a sanitizer sees one more. */
static void *generate(const char *text, vyre_type type)
{
    vyre_diag diag = {0};
    void *elements = malloc((size_t)64 * vyre_type_size(type));
    assert_non_null(elements);
    if (vy_value_generate(text, type, elements, 64, &diag) != VYRE_OK) {
        fail_msg("%s as %s: %s", text, vyre_type_keyword(type), diag.message);
    }
    return elements;
}

static void assert_generates(const char *text, vyre_type type, size_t index, const char *wanted)
{
    void *elements = generate(text, type);
    char got[VY_VALUE_TEXT_SIZE];
    vy_value value = vy_value_load(type, elements, index);
    vy_value_format(type, &value, got);
    if (strcmp(got, wanted) != 0) {
        fail_msg("%s as %s: [%zu] is %s, not %s", text, vyre_type_keyword(type), index, got,
                 wanted);
    }
    free(elements);
}

static void test_generators_give_what_they_say(void **state)
{
    (void)state;
    assert_generates("zero", VYRE_TYPE_U32, 63, "0");
    assert_generates("iota", VYRE_TYPE_U32, 63, "63");
    assert_generates("iota:10:3", VYRE_TYPE_U32, 5, "25");
    assert_generates("iota:0:-2", VYRE_TYPE_I32, 4, "-8");
    assert_generates("iota:1:0.5", VYRE_TYPE_F32, 2, "2.0");
    assert_generates("fill:7", VYRE_TYPE_U32, 63, "7");
    assert_generates("iota", VYRE_TYPE_BOOL, 3, "1");
    assert_generates("iota:250", VYRE_TYPE_U8, 7, "1");
    assert_generates("iota:126", VYRE_TYPE_I8, 2, "-128");
    assert_generates("iota:0:4000", VYRE_TYPE_U16, 17, "2464");
    assert_generates("iota:0:-600", VYRE_TYPE_I16, 63, "27736");
    assert_generates("iota:0xfffffffffffffffe:1", VYRE_TYPE_U64, 3, "1");
    assert_generates("iota:0:-4294967296", VYRE_TYPE_I64, 3, "-12884901888");
    assert_generates("iota:2048", VYRE_TYPE_F16, 3, "2052.0"); /* 2051 is no f16 */
    assert_generates("iota:0:0.5", VYRE_TYPE_BF16, 63, "31.5");
    assert_generates("iota:0:0.1", VYRE_TYPE_F64, 3, "0.30000000000000004");
    assert_generates("iota:inf:-inf", VYRE_TYPE_F64, 1, "nan");
    assert_generates("iota", VYRE_TYPE_U32X4, 2, "8:9:10:11");
    assert_generates("iota:0:-1", VYRE_TYPE_I32X2, 1, "-2:-3");
    assert_generates("fill:1.5", VYRE_TYPE_F32X4, 63, "1.5:1.5:1.5:1.5");
    assert_generates("fill:1:2:3:4", VYRE_TYPE_F32X4, 63, "1.0:2.0:3.0:4.0");
    assert_generates("fill:-0", VYRE_TYPE_F16, 63, "-0.0");
    for (size_t t = 0; t < VY_COUNT_OF(all_types); t++) {
        if (vyre_type_size(all_types[t])) {
            unsigned char *elements = generate("zero", all_types[t]);
            for (size_t i = 0; i < 64 * vyre_type_size(all_types[t]); i++) {
                assert_int_equal(elements[i], 0);
            }
            free(elements);
        }
    }
}

/* 64 draws of 7 integers meet each, and none else. */
static void test_random_integers_are_in_their_range(void **state)
{
    (void)state;
    for (size_t t = 0; t < VY_COUNT_OF(all_types); t++) {
        vyre_type type = all_types[t];
        if (!vy_type_is_integer(type)) {
            continue;
        }
        bool is_signed = vy_type_is_signed(type);
        int64_t low = is_signed ? -3 : 5;
        uint32_t seen = 0, all = 0;
        void *elements = generate(is_signed ? "random:1:-3:4" : "random:1:5:12", type);
        void *others = generate("random:1", type);
        for (size_t i = 0; i < 64; i++) {
            vy_value value = vy_value_load(type, elements, i), other;
            other = vy_value_load(type, others, i);
            for (uint32_t c = 0; c < vy_type_components(type); c++) {
                int64_t at = vy_type_signed_value(vy_type_component(type), value.bits[c]) - low;
                assert_in_range(at, 0, 6);
                seen |= 1u << at;
                all |= (uint32_t)(other.bits[c] >> (vy_type_width(type) - 8));
            }
        }
        assert_int_equal(seen, 0x7f);
        assert_int_equal(all, 0xff); /* without limits the upper bits are random too */
        free(elements);
        free(others);
    }
}

static void test_random_floats_are_in_their_range(void **state)
{
    (void)state;
    for (size_t t = 0; t < VY_COUNT_OF(all_types); t++) {
        vyre_type type = all_types[t];
        if (!vy_type_is_float(type)) {
            continue;
        }
        void *elements = generate("random:3", type), *others = generate("random:4", type);
        void *wide = generate("random:3:-2:6", type);
        bool lower = false, upper = false;
        for (size_t i = 0; i < 64; i++) {
            vy_value value = vy_value_load(type, elements, i), around;
            around = vy_value_load(type, wide, i);
            for (uint32_t c = 0; c < vy_type_components(type); c++) {
                double f = vy_scalar_widen(vy_type_component(type), value.bits[c]);
                double g = vy_scalar_widen(vy_type_component(type), around.bits[c]);
                assert_true(f >= 0.0 && f < 1.0);
                assert_true(g >= -2.0 && g < 6.0);
                lower = lower || g < -1.0;
                upper = upper || g > 5.0;
            }
        }
        assert_true(lower && upper);
        assert_memory_not_equal(elements, others, 64 * vyre_type_size(type));
        /* The same of another length. */
        assert_int_equal(vy_value_generate("random:3", type, others, 1, NULL), VYRE_OK);
        assert_memory_equal(elements, others, vyre_type_size(type));
        free(elements);
        free(others);
        free(wide);
    }
}

static void test_generators_refuse_others(void **state)
{
    (void)state;
    unsigned char e[64];
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
    static const vyre_type floats[] = {VYRE_TYPE_F16, VYRE_TYPE_BF16, VYRE_TYPE_F32, VYRE_TYPE_F64};
    for (size_t t = 0; t < VY_COUNT_OF(floats); t++) {
        assert_int_equal(vy_value_generate("random:1:nan:1", floats[t], e, 4, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(vy_value_generate("random:1:0:inf", floats[t], e, 4, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(vy_value_generate("random:1:-1e308:1e308", VYRE_TYPE_F64, e, 4, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vy_value_generate("random:1:4:-4", VYRE_TYPE_I8, e, 4, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vy_value_generate("fill:1:2:3", VYRE_TYPE_U32X4, e, 4, NULL),
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
        cmocka_unit_test(test_value_reads_integers_of_every_width),
        cmocka_unit_test(test_value_reads_vectors),
        cmocka_unit_test(test_value_refuses_others),
        cmocka_unit_test(test_value_text_reads_back),
        cmocka_unit_test(test_list_reads_blanks_and_nothing),
        cmocka_unit_test(test_generators_give_what_they_say),
        cmocka_unit_test(test_random_integers_are_in_their_range),
        cmocka_unit_test(test_random_floats_are_in_their_range),
        cmocka_unit_test(test_generators_refuse_others),
        cmocka_unit_test(test_words_are_cut_as_in_a_shell),
        cmocka_unit_test(test_options_are_walked),
        cmocka_unit_test(test_json_strings_are_escaped),
        cmocka_unit_test(test_triples_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

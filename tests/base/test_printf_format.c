/* Formats of printf statements: what is one, what lines they make, and lines through the layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "codegen/base/printf.h"

static const char *write_words(const char *format, const uint32_t *words, uint32_t count)
{
    static char out[VY_PRINTF_LINE_SIZE];
    vy_conversion list[VYRE_MAX_PRINTF_VALUES + 1];
    const char *fault = NULL;
    (void)vy_printf_parse(format, list, &fault);
    if (fault) {
        print_error("%s %s\n", format, fault);
    }
    assert_null(fault);
    vy_printf_write(format, words, count, out);
    return out;
}

static uint32_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- Formats --------------------------------------------------------------------------------- */

static void check_fault(const char *format, uint32_t begin, uint32_t end, const char *part)
{
    vy_conversion list[VYRE_MAX_PRINTF_VALUES + 1];
    const char *fault = NULL;
    uint32_t count = vy_printf_parse(format, list, &fault);
    if (!fault || !strstr(fault, part) || list[count].begin != begin || list[count].end != end) {
        print_error("%s: %s at %u to %u\n", format, fault ? fault : "accepted", list[count].begin,
                    list[count].end);
    }
    assert_non_null(fault);
    assert_non_null(strstr(fault, part));
    assert_non_null(strstr(fault, ". Fix: "));
    assert_int_equal(list[count].begin, begin);
    assert_int_equal(list[count].end, end);
}

static void test_conversions_are_found(void **state)
{
    (void)state;
    vy_conversion list[VYRE_MAX_PRINTF_VALUES + 1];
    const char *fault = NULL;
    assert_int_equal(vy_printf_parse("", list, &fault), 0);
    assert_int_equal(vy_printf_parse("100%% of %%%%", list, &fault), 0);
    assert_null(fault);
    assert_int_equal(vy_printf_parse("a %u%-+8.3v4f %% %#lx%i", list, &fault), 4);
    assert_null(fault);
    assert_int_equal(list[0].begin, 2);
    assert_int_equal(list[0].end, 4);
    assert_int_equal(list[0].class, VY_CONVERSION_UNSIGNED);
    assert_int_equal(list[0].precision, -1);
    assert_int_equal(list[1].components, 4);
    assert_int_equal(list[1].width, 8);
    assert_int_equal(list[1].precision, 3);
    assert_true(list[1].is_left && list[1].has_plus && !list[1].has_zeros);
    assert_int_equal(vy_conversion_words(&list[1]), 4);
    assert_true(list[2].is_long && list[2].is_alternate);
    assert_int_equal(vy_conversion_words(&list[2]), 2);
    assert_int_equal(list[3].letter, 'd');
    assert_int_equal(list[3].class, VY_CONVERSION_SIGNED);
}

static void test_what_is_no_conversion_is_refused(void **state)
{
    (void)state;
    check_fault("%", 0, 1, "has no end");
    check_fault("ab %5.2", 3, 7, "has no end");
    check_fault("%l", 0, 2, "has no end");
    check_fault("%q", 0, 2, "does not exist");
    check_fault("%5%", 0, 3, "does not exist");
    check_fault("%llu", 0, 3, "an l too many");
    check_fault("%s", 0, 2, "texts and pointers");
    check_fault("%a", 0, 2, "leaves its first digit open");
    check_fault("%F", 0, 2, "write %f");
    check_fault("%v3f", 0, 2, "no vector");
    check_fault("%v2lu", 0, 5, "a vector of 64 bits");
    check_fault("%65u", 0, 3, "wider than 64");
    check_fault("%.65f", 0, 4, "a precision of more than 64");
    check_fault("%++d", 0, 2, "a flag twice");
    check_fault("%-05d", 0, 5, "stands left");
    check_fault("%+ d", 0, 4, "leave one out");
    check_fault("%+u", 0, 3, "no sign");
    check_fault("%#d", 0, 3, "leave out #");
    check_fault("%05.3u", 0, 6, "makes 0 mean nothing");
    check_fault("%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u%x", 32, 34, "is the 17th");
}

/* ---- Lines: C's own printf is the oracle -------------------------------------------------------
 */

static void test_integers_are_those_of_c(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 7, 8, 9, 255, 0x7fffffffu, 0x80000000u, 0xffffffffu};
    char want[256];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint32_t v = values[i];
        snprintf(want, sizeof want, "%d|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%.0d", (int32_t)v,
                 (int32_t)v, (int32_t)v, (int32_t)v, (int32_t)v, (int32_t)v, (int32_t)v, (int32_t)v,
                 (int32_t)v);
        const uint32_t nine[] = {v, v, v, v, v, v, v, v, v};
        assert_string_equal(write_words("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%.0d", nine, 9), want);
        snprintf(want, sizeof want, "%u|%x|%X|%o|%#x|%#o|%#X|%08x|%#10x", v, v, v, v, v, v, v, v,
                 v);
        assert_string_equal(write_words("%u|%x|%X|%o|%#x|%#o|%#X|%08x|%#10x", nine, 9), want);
        snprintf(want, sizeof want, "%#012x|%-#12x|%#.6x|%.0o|%#.0o|%-12u.", v, v, v, v, v, v);
        if (v == 0) {
            /* MinGW's leaves the one 0 out that C wants of %#.0o. */
            snprintf(want, sizeof want, "%#012x|%-#12x|%#.6x||0|%-12u.", v, v, v, v);
        }
        assert_string_equal(write_words("%#012x|%-#12x|%#.6x|%.0o|%#.0o|%-12u.", nine, 6), want);
    }
}

static void test_integers_of_64_bits_are_those_of_c(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 0xffffffffu, 0x100000000u, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    char want[256];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint64_t v = values[i];
        uint32_t low = (uint32_t)v, high = (uint32_t)(v >> 32);
        snprintf(want, sizeof want, "%" PRIu64 " %" PRId64 " %" PRIx64 " %24" PRId64 " %#" PRIo64,
                 v, (int64_t)v, v, (int64_t)v, v);
        const uint32_t words[] = {low, high, low, high, low, high, low, high, low, high};
        assert_string_equal(write_words("%lu %ld %lx %24ld %#lo", words, 10), want);
    }
}

static void test_floats_are_those_of_c(void **state)
{
    (void)state;
    static const float values[] = {0.0f,  -0.0f,  1.0f,           -1.5f,     0.1f,       1e-45f,
                                   1e30f, 1e-30f, 3.40282347e38f, 123456.0f, 1234567.0f, 0.5f};
    char want[1024];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double v = values[i];
        uint32_t b = f32_bits(values[i]);
        const uint32_t words[] = {b, b, b, b, b, b, b, b, b, b};
        snprintf(want, sizeof want, "%f|%e|%g|%.0f|%.3e|%10.2f|%-10.2f|%010.2f|%+g|% f", v, v, v, v,
                 v, v, v, v, v, v);
        assert_string_equal(
            write_words("%f|%e|%g|%.0f|%.3e|%10.2f|%-10.2f|%010.2f|%+g|% f", words, 10), want);
        snprintf(want, sizeof want, "%E|%G|%#g|%#.0f|%#.0e|%.64f|%64.1f", v, v, v, v, v, v, v);
        assert_string_equal(write_words("%E|%G|%#g|%#.0f|%#.0e|%.64f|%64.1f", words, 7), want);
    }
    double most = 1.7976931348623157e308;
    uint64_t bits;
    memcpy(&bits, &most, sizeof bits);
    const uint32_t words[] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    snprintf(want, sizeof want, "%.64f", most);
    assert_string_equal(write_words("%.64lf", words, 2), want);
}

static void test_what_is_not_finite_is_the_same_everywhere(void **state)
{
    (void)state;
    const uint32_t words[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u,
                              0x7f800000u, 0x7fc00000u, 0xff800000u};
    assert_string_equal(write_words("%f %e %g %5f|%05f|%E %-6G|", words, 7),
                        "inf -inf nan   nan|  inf|NAN -INF  |");
    const uint32_t doubles[] = {0, 0xfff80000u, 0, 0x7ff00000u};
    assert_string_equal(write_words("%lf %+lf", doubles, 4), "nan +inf");
}

static void test_vectors_are_lists(void **state)
{
    (void)state;
    const uint32_t words[] = {1, 2, 0xffffffffu, 4, f32_bits(0.5f), f32_bits(2.0f)};
    assert_string_equal(write_words("<%v4d> %.1v2f%%", words, 6), "<1, 2, -1, 4> 0.5, 2.0%");
    assert_string_equal(write_words("%3v2u", words, 2), "  1,   2");
}

static void test_missing_words_are_zero(void **state)
{
    (void)state;
    assert_string_equal(write_words("%u %lx %v2d", NULL, 0), "0 0 0, 0");
}

static void test_the_longest_line_fits(void **state)
{
    (void)state;
    char format[VYRE_MAX_NAME + 1] = "";
    uint32_t words[VYRE_MAX_PRINTF_WORDS];
    for (uint32_t i = 0; i < VYRE_MAX_PRINTF_WORDS; i += 2) {
        words[i] = 0xffffffffu;
        words[i + 1] = 0xffefffffu;
        strcat(format, "%+.64lf");
    }
    while (strlen(format) < VYRE_MAX_NAME) {
        strcat(format, "x");
    }
    size_t length = strlen(write_words(format, words, VYRE_MAX_PRINTF_WORDS));
    assert_int_equal(length, 16 * 375 + VYRE_MAX_NAME - 16 * 7);
    assert_true(length < VY_PRINTF_LINE_SIZE);
}

static void test_the_locale_changes_nothing(void **state)
{
    (void)state;
    /* Which locales are installed differs; one with a comma is looked for. */
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const uint32_t word = f32_bits(1234.5f);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_ALL, names[i])) {
            break;
        }
    }
    char line[64];
    snprintf(line, sizeof line, "%s", write_words("%.2f", &word, 1));
    setlocale(LC_ALL, "C");
    assert_string_equal(line, "1234.50");
}

/* ---- Through the layer -------------------------------------------------------------------------
 */

/* What the layer makes of a format that has %u and %x alone. */
static void deliver(const vyre_printf_line *where, const char *format, const uint32_t *words,
                    uint32_t count, const char *before, char *out, size_t size)
{
    vy_text text;
    vy_text_init(&text, NULL);
    vy_printf_encode(&text, where, format, count);
    uint32_t all[3 + VYRE_MAX_PRINTF_WORDS] = {where->pass, where->execution, where->invocation};
    if (count) {
        memcpy(all + 3, words, count * sizeof *words);
    }
    size_t used = (size_t)snprintf(out, size, "%s", before), word = 0;
    for (const char *at = text.data; *at; at++) {
        if (*at == '%') {
            at++;
            assert_true(*at == 'u' || *at == 'x');
            assert_int_not_equal(at[1], 'l'); /* the layer would take 64 bits */
            used +=
                (size_t)snprintf(out + used, size - used, *at == 'u' ? "%u" : "%x", all[word++]);
        } else {
            out[used++] = *at;
            out[used] = '\0';
        }
    }
    assert_int_equal(word, 3 + count);
    vy_text_finish(&text);
}

static void test_lines_come_back(void **state)
{
    (void)state;
    static const char *const formats[] = {"", "plain [1] : ] %% end", "%u", "%lu lu %%lu %d%%"};
    static const uint32_t counts[] = {0, 0, 1, 3};
    const uint32_t words[] = {7, 9, 0x80000000u};
    const vyre_printf_line where = {.program = "life",
                                    .line = 12,
                                    .column = 5,
                                    .pass = 3,
                                    .segment = 2,
                                    .execution = 4000000000u,
                                    .invocation = 4294967294u};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char message[2048], want[VY_PRINTF_LINE_SIZE];
        static vy_printf_message got;
        deliver(&where, formats[i], words, counts[i], "[ ID ] Object 0 | MessageID = 0x9 | ",
                message, sizeof message);
        strcat(message, "\n");
        vy_printf_write(formats[i], words, counts[i], want);
        assert_true(vy_printf_decode(message, &got));
        assert_string_equal(got.line.text, want);
        assert_string_equal(got.line.program, "life");
        assert_int_equal(got.line.line, 12);
        assert_int_equal(got.line.column, 5);
        assert_int_equal(got.line.pass, 3);
        assert_int_equal(got.line.segment, 2);
        assert_int_equal(got.line.execution, 4000000000u);
        assert_int_equal(got.line.invocation, 4294967294u);
    }
}

static void test_other_messages_are_no_lines(void **state)
{
    (void)state;
    static vy_printf_message got;
    char message[2048];
    const vyre_printf_line where = {.program = "p", .line = 1, .column = 2};
    const uint32_t words[] = {1, 2};
    assert_false(vy_printf_decode(NULL, &got));
    assert_false(vy_printf_decode("", &got));
    assert_false(vy_printf_decode("vyre-printf ", &got));
    assert_false(vy_printf_decode("vyre-printf :1:1", &got));
    deliver(&where, "%u of %u", words, 2, "", message, sizeof message);
    assert_true(vy_printf_decode(message, &got));
    /* No part of one is a line. */
    for (size_t length = strlen(message); length-- > 0;) {
        message[length] = '\0';
        assert_false(vy_printf_decode(message, &got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversions_are_found),
        cmocka_unit_test(test_what_is_no_conversion_is_refused),
        cmocka_unit_test(test_integers_are_those_of_c),
        cmocka_unit_test(test_integers_of_64_bits_are_those_of_c),
        cmocka_unit_test(test_floats_are_those_of_c),
        cmocka_unit_test(test_what_is_not_finite_is_the_same_everywhere),
        cmocka_unit_test(test_vectors_are_lists),
        cmocka_unit_test(test_missing_words_are_zero),
        cmocka_unit_test(test_the_longest_line_fits),
        cmocka_unit_test(test_the_locale_changes_nothing),
        cmocka_unit_test(test_lines_come_back),
        cmocka_unit_test(test_other_messages_are_no_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

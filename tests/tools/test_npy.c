/* .npy files: what is written is read back, and no header does harm. */
#include "codegen/ir/ops.h"
#include "tests/tools/support.h"
#include "tools/common/npy.h"
#include "tools/common/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static vyre_diag diag_of_last;

/* A file with that version and header text, and `size` bytes of elements. */
static size_t make_file(char *out, int version, const char *header, const void *elements,
                        size_t size)
{
    size_t length = strlen(header), at = 8;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    for (size_t i = 0; i < (version == 1 ? 2u : 4u); i++) {
        out[at++] = (char)(unsigned char)(length >> (8 * i));
    }
    memcpy(out + at, header, length);
    memcpy(out + at + length, elements, size);
    return at + length + size;
}

/* Parses from memory of exactly that size, so that a sanitizer sees a read beyond it. */
static vyre_result parse(const char *file, size_t size, vyre_type type, void **elements,
                         uint32_t *count)
{
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, file, size);
    memset(&diag_of_last, 0, sizeof diag_of_last);
    vyre_result result = vy_npy_parse(copy, size, type, elements, count, &diag_of_last);
    free(copy);
    return result;
}

static void assert_refused(int version, const char *header, vyre_type type, size_t size,
                           const char *message)
{
    char file[4096];
    static const char elements[64];
    void *got;
    uint32_t count;
    size_t length = make_file(file, version, header, elements, size);
    vyre_result result = parse(file, length, type, &got, &count);
    if (result != VYRE_ERROR_INVALID_ARGUMENT || !strstr(diag_of_last.message, message)) {
        print_message("%s\nwanted: %s\ngot %d: %s\n", header, message, (int)result,
                      diag_of_last.message);
    }
    assert_int_equal(result, VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(got);
    assert_non_null(strstr(diag_of_last.message, message));
    assert_non_null(strstr(diag_of_last.message, "Fix: "));
}

#define X(name, number, keyword, size, kind, component, components) VYRE_TYPE_##name,
static const vyre_type all_types[] = {VYRE_TYPES(X)};
#undef X

/* Bytes of any kind come back as they were, bools as 0 and 1. */
static void test_npy_round_trip(void **state)
{
    (void)state;
    unsigned char values[7 * 16], wanted[7 * 16];
    for (size_t i = 0; i < sizeof values; i++) {
        values[i] = (unsigned char)(i % 8 < 4 ? i * 37 + 11 : 0);
    }
    for (size_t t = 0; t < VY_COUNT_OF(all_types); t++) {
        vyre_type type = all_types[t];
        size_t size = vyre_type_size(type);
        for (uint32_t count = 0; size && count <= 7; count++) {
            vy_text file;
            void *got;
            uint32_t got_count;
            vy_text_init(&file, NULL);
            vy_npy_format(type, values, count, &file);
            assert_false(file.failed);
            assert_int_equal(parse(file.data, file.size, type, &got, &got_count), VYRE_OK);
            assert_int_equal(got_count, count);
            memcpy(wanted, values, sizeof wanted);
            for (size_t i = 0; type == VYRE_TYPE_BOOL && i < count; i++) {
                vy_value value = vy_value_load(type, values, i);
                vy_value_store(type, wanted, i, &value);
            }
            assert_memory_equal(got, wanted, count * size);
            free(got);
            vy_text_finish(&file);
        }
    }
}

static void test_npy_dtypes_are_the_types_own(void **state)
{
    (void)state;
    static const struct {
        vyre_type type;
        const char *descr, *shape;
    } cases[] = {{VYRE_TYPE_BOOL, "'|b1'", "(2,)"},    {VYRE_TYPE_U8, "'|u1'", "(2,)"},
                 {VYRE_TYPE_I8, "'|i1'", "(2,)"},      {VYRE_TYPE_U16, "'<u2'", "(2,)"},
                 {VYRE_TYPE_I16, "'<i2'", "(2,)"},     {VYRE_TYPE_U32, "'<u4'", "(2,)"},
                 {VYRE_TYPE_I32, "'<i4'", "(2,)"},     {VYRE_TYPE_U64, "'<u8'", "(2,)"},
                 {VYRE_TYPE_I64, "'<i8'", "(2,)"},     {VYRE_TYPE_F16, "'<f2'", "(2,)"},
                 {VYRE_TYPE_BF16, "'<u2'", "(2,)"},    {VYRE_TYPE_F32, "'<f4'", "(2,)"},
                 {VYRE_TYPE_F64, "'<f8'", "(2,)"},     {VYRE_TYPE_U32X2, "'<u4'", "(2, 2)"},
                 {VYRE_TYPE_I32X4, "'<i4'", "(2, 4)"}, {VYRE_TYPE_F32X4, "'<f4'", "(2, 4)"}};
    static const unsigned char zeros[32];
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vy_text file;
        char wanted[128];
        vy_text_init(&file, NULL);
        vy_npy_format(cases[i].type, zeros, 2, &file);
        snprintf(wanted, sizeof wanted, "{'descr': %s, 'fortran_order': False, 'shape': %s, }",
                 cases[i].descr, cases[i].shape);
        assert_memory_equal(file.data + 10, wanted, strlen(wanted));
        assert_int_equal(file.size % 64, cases[i].type == VYRE_TYPE_BOOL
                                             ? 2
                                             : vyre_type_size(cases[i].type) * 2 % 64);
        vy_text_finish(&file);
    }
}

static void test_npy_reads_vectors_by_their_last_dimension(void **state)
{
    (void)state;
    static const char *const right[] = {"(4,)", "(1, 4)", "(1, 1, 4)"};
    static const char *const wrong[] = {"(2, 2)", "(4, 1)", "(6,)", "()", "(0, 2)"};
    static const unsigned char zeros[64] = {1};
    for (size_t i = 0; i < VY_COUNT_OF(right); i++) {
        char header[128], file[256];
        void *got;
        uint32_t count;
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}",
                 right[i]);
        size_t size = make_file(file, 1, header, zeros, 16);
        assert_int_equal(parse(file, size, VYRE_TYPE_F32X4, &got, &count), VYRE_OK);
        assert_int_equal(count, 1);
        assert_memory_equal(got, zeros, 16);
        free(got);
    }
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}",
                 wrong[i]);
        assert_refused(1, header, VYRE_TYPE_F32X4, 16, "no array of f32x4");
    }
}

static void test_npy_reads_bf16_as_bits(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"<u2", "|V2"};
    for (size_t i = 0; i < VY_COUNT_OF(dtypes); i++) {
        char header[128], file[256];
        void *got;
        uint32_t count;
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}",
                 dtypes[i]);
        size_t size = make_file(file, 1, header, "\x80\x3f\1\2", 4);
        assert_int_equal(parse(file, size, VYRE_TYPE_BF16, &got, &count), VYRE_OK);
        assert_int_equal(count, 2);
        assert_memory_equal(got, "\x80\x3f\1\2", 4);
        free(got);
    }
    assert_refused(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", VYRE_TYPE_BF16, 4,
                   "bf16");
    assert_refused(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}", VYRE_TYPE_F16, 4,
                   "astype('<f2')");
}

static void test_npy_writes_what_numpy_writes(void **state)
{
    (void)state;
    static const uint32_t values[] = {0x3f800000u, 0x40000000u};
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    vy_text file;
    vy_text_init(&file, NULL);
    vy_npy_format(VYRE_TYPE_F32, values, 2, &file);
    assert_int_equal(file.size, 128 + 8);
    assert_memory_equal(file.data, "\x93NUMPY\1\0\x76\0", 10);
    assert_memory_equal(file.data + 10, header, sizeof header - 1);
    assert_memory_equal(file.data + 126, " \n\0\0\x80\x3f\0\0\0\x40", 10);
    vy_text_finish(&file);
}

static void test_npy_reads_versions_and_shapes(void **state)
{
    (void)state;
    static const char *const shapes[] = {"(6,)", "(2, 3)", "(2,3,)", "( 1 , 6 )", "(3, 2, 1)"};
    static const char elements[24] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < VY_COUNT_OF(shapes); i++) {
            char header[256], file[512];
            snprintf(header, sizeof header,
                     "{\"shape\": %s, 'fortran_order': False ,'descr':'<u4'}   \n", shapes[i]);
            size_t size = make_file(file, version, header, elements, sizeof elements);
            void *got;
            uint32_t count;
            assert_int_equal(parse(file, size, VYRE_TYPE_U32, &got, &count), VYRE_OK);
            assert_int_equal(count, 6);
            assert_memory_equal(got, elements, sizeof elements);
            free(got);
        }
    }
}

static void test_npy_reads_scalars_and_bools(void **state)
{
    (void)state;
    char file[512];
    void *got;
    uint32_t count;
    size_t size = make_file(file, 1, "{'descr': '<i4', 'fortran_order': True, 'shape': ()}\n",
                            "\xfe\xff\xff\xff", 4);
    assert_int_equal(parse(file, size, VYRE_TYPE_I32, &got, &count), VYRE_OK);
    assert_int_equal(count, 1);
    assert_memory_equal(got, "\xfe\xff\xff\xff", 4);
    free(got);
    size = make_file(file, 2, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}\n", "\0\1\2",
                     3);
    assert_int_equal(parse(file, size, VYRE_TYPE_BOOL, &got, &count), VYRE_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(got, "\0\0\0\0\1\0\0\0\1\0\0\0", 12);
    free(got);
    size = make_file(file, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (1,)}",
                     "\0\0\0\x80", 4);
    assert_int_equal(parse(file, size, VYRE_TYPE_BOOL, &got, &count), VYRE_OK);
    assert_memory_equal(got, "\1\0\0\0", 4);
    free(got);
}

static void test_npy_refuses_other_types_naming_both(void **state)
{
    (void)state;
    static const char *const dtypes[] = {">u4", "<u8", "<f8", "<i4", "|b1", "|u1", "=u4", ""};
    for (size_t i = 0; i < VY_COUNT_OF(dtypes); i++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}",
                 dtypes[i]);
        assert_refused(1, header, VYRE_TYPE_U32, 4, dtypes[i]);
        assert_non_null(strstr(diag_of_last.message, "u32"));
    }
    assert_refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", VYRE_TYPE_BOOL, 4,
                   "bool");
    assert_refused(1, "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (1,)}",
                   VYRE_TYPE_U32, 4, "records");
}

static void test_npy_refuses_malformed_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"", "no dictionary"},
        {"{", "no dictionary"},
        {"{}", "lacks"},
        {"{'descr': '<u4', 'fortran_order': False}", "lacks"},
        {"{'descr': '<u4' 'fortran_order': False, 'shape': (1,)}", "no dictionary"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (1,)", "no dictionary"},
        {"{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (1,)}", "twice"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (1,), 'extra': 1}", "unknown key"},
        {"{'descr': '<u4', 'fortran_order': 1, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': 1}", "no tuple"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (1)}", "no tuple"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (-1,)}", "no tuple"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (1 2,)}", "no tuple"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (1,", "no tuple"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (4294967296,)}", "over 2^32 - 1"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (4294967295,)}", "4294967295"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
         "over 2^32 - 1"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (65536, 65536, 65536, 65536, 4)}",
         "too many"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (1,)} x", "behind"},
        {"{'descr': '<u4', 'fortran_order': True, 'shape': (1,1)}", "Fortran"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (2,)}", "needs 8 bytes"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (0,)}", "needs 0 bytes"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        for (int version = 1; version <= 3; version++) {
            assert_refused(version, cases[i].header, VYRE_TYPE_U32, 4, cases[i].message);
        }
    }
}

static void test_npy_refuses_other_files(void **state)
{
    (void)state;
    char file[512];
    void *got;
    uint32_t count;
    static const char header[] = "{'descr': '<u4', 'fortran_order': False, 'shape': (1,)}\n";
    size_t size = make_file(file, 1, header, "\1\0\0\0", 4);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(parse(file, cut, VYRE_TYPE_U32, &got, &count),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_null(got);
    }
    static const int versions[] = {0, 4, 255};
    for (size_t i = 0; i < VY_COUNT_OF(versions); i++) {
        file[6] = (char)versions[i];
        assert_int_equal(parse(file, size, VYRE_TYPE_U32, &got, &count),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
    /* A header length of 4 GB. */
    size = make_file(file, 2, header, "\1\0\0\0", 4);
    memset(file + 8, 0xff, 4);
    assert_int_equal(parse(file, size, VYRE_TYPE_U32, &got, &count), VYRE_ERROR_INVALID_ARGUMENT);
}

/* Any byte of a file changed to any other: refused, or read without harm. */
static void test_npy_survives_changed_bytes(void **state)
{
    (void)state;
    char file[512];
    size_t size = make_file(file, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (1,)}\n",
                            "\1\0\0\0", 4);
    for (size_t at = 0; at < size; at++) {
        char old = file[at];
        for (int byte = 0; byte < 256; byte++) {
            void *got;
            uint32_t count;
            file[at] = (char)byte;
            if (parse(file, size, VYRE_TYPE_U32, &got, &count) == VYRE_OK) {
                assert_int_equal(count, 1);
            }
            free(got);
        }
        file[at] = old;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_round_trip),
        cmocka_unit_test(test_npy_dtypes_are_the_types_own),
        cmocka_unit_test(test_npy_reads_vectors_by_their_last_dimension),
        cmocka_unit_test(test_npy_reads_bf16_as_bits),
        cmocka_unit_test(test_npy_writes_what_numpy_writes),
        cmocka_unit_test(test_npy_reads_versions_and_shapes),
        cmocka_unit_test(test_npy_reads_scalars_and_bools),
        cmocka_unit_test(test_npy_refuses_other_types_naming_both),
        cmocka_unit_test(test_npy_refuses_malformed_headers),
        cmocka_unit_test(test_npy_refuses_other_files),
        cmocka_unit_test(test_npy_survives_changed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

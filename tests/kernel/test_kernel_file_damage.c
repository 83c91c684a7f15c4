/* Damaged and hostile kernel files: an error or a kernel that can be used, never more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "codegen/kernel_file.h"
#include "tests/kernel/kernel_file_support.h"

#include <stdlib.h>
#include <string.h>

static void set_u32(bytes b, size_t at, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        b.data[at + i] = (unsigned char)(value >> (8 * i));
    }
}

static uint32_t get_u32(bytes b, size_t at)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4; i++) {
        value |= (uint32_t)b.data[at + i] << (8 * i);
    }
    return value;
}

/* Makes size and checksum right again, as one does who means harm. */
static void seal(bytes b)
{
    set_u32(b, 8, (uint32_t)b.size);
    set_u32(b, 12, 0);
    uint64_t sum = vy_kernel_file_checksum(b.data, b.size);
    set_u32(b, 16, (uint32_t)sum);
    set_u32(b, 20, (uint32_t)(sum >> 32));
}

static void test_kernel_load_refuses_every_prefix(void **state)
{
    (void)state;
    bytes file = save_small();
    for (size_t size = 0; size < file.size; size++) {
        /* Memory of that size: reading on would be seen. */
        bytes part = {malloc(size ? size : 1), size};
        assert_non_null(part.data);
        memcpy(part.data, file.data, size);
        expect_load_error(part, VYRE_ERROR_IO, size < 4 ? "no kernel file" : "its end is missing");
        if (size >= 24) {
            seal(part);
            expect_load_error(part, VYRE_ERROR_IO, "is damaged: ");
        }
        free(part.data);
    }
    drop_bytes(&file);
}

static void test_kernel_load_refuses_every_changed_bit(void **state)
{
    (void)state;
    bytes file = save_small();
    for (size_t i = 0; i < file.size * 8; i++) {
        file.data[i / 8] ^= (unsigned char)(1u << i % 8);
        expect_load_error(file, VYRE_ERROR_IO, i < 32 ? "no kernel file" : "the kernel file is ");
        file.data[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    vyre_kernel *kernel = load_kernel(file, NULL);
    vyre_kernel_destroy(&kernel);
    drop_bytes(&file);
}

/* Everything that the engine asks of a kernel. */
static void use(const vyre_kernel *kernel)
{
    uint32_t lengths[VYRE_MAX_BUFFERS] = {7, 7}, params[VYRE_MAX_PARAMS] = {0}, count = 0;
    vyre_allocator memory = vy_allocator_or_default(NULL);
    vy_kernel_env env = {params, lengths, {1, 1, 1}, {64, 1, 1}};
    vy_execution *list = NULL;
    assert_int_equal(vy_kernel_schedule(kernel, &env, &memory, &list, &count, NULL), VYRE_OK);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(list[i].segment < vyre_kernel_segment_count(kernel));
    }
    vy_free(&memory, list, count * sizeof *list);
    for (uint32_t i = 0; i < vyre_kernel_segment_count(kernel); i++) {
        vyre_segment_info info;
        vyre_kernel_segment(kernel, i, &info);
        assert_true(info.word_count > 5);
        assert_int_equal(info.words[0], 0x07230203);
        assert_true((info.reads & 0x3ffffffffffffffcu) == 0); /* two bindings */
    }
}

/* The checksum does not protect from anybody: with a right one, every changed byte gives an error
 * or a kernel that can be used. */
static void test_kernel_load_survives_changes_with_a_right_checksum(void **state)
{
    (void)state;
    static const unsigned char changes[] = {0x01, 0x10, 0x80, 0xff};
    bytes file = save_small();
    uint32_t loaded = 0, refused = 0;
    for (size_t i = 24; i < file.size; i++) {
        for (size_t c = 0; c < VY_COUNT_OF(changes); c++) {
            vyre_kernel *kernel = NULL;
            vyre_diag diag;
            file.data[i] ^= changes[c];
            seal(file);
            vyre_result result = vyre_kernel_load(file.data, file.size, NULL, &kernel, &diag);
            file.data[i] ^= changes[c];
            if (result == VYRE_OK) {
                use(kernel);
                loaded++;
            } else {
                assert_true(result == VYRE_ERROR_IO || result == VYRE_ERROR_INVALID_PROGRAM);
                assert_null(kernel);
                refused++;
            }
            vyre_kernel_destroy(&kernel);
        }
    }
    assert_true(loaded > 100 && refused > 1000); /* operands of words; nearly all else */
    drop_bytes(&file);
}

/* Where things lie in a file of `small_text`. */
typedef struct layout {
    size_t text, places, counts, segments, sets, first_words;
} layout;

static layout find_layout(bytes file)
{
    layout l = {.text = 40};
    l.places = l.text + 4 + (get_u32(file, l.text) + 3) / 4 * 4;
    l.counts = l.places + 4 + 8 * (size_t)get_u32(file, l.places);
    l.segments = l.counts + 16;
    l.sets = l.segments + 28 * (size_t)get_u32(file, l.counts);
    l.first_words = l.sets + 4 + 16; /* their count */
    assert_int_equal(get_u32(file, l.sets), 2);
    assert_int_equal(get_u32(file, l.first_words + 4), 0x07230203);
    return l;
}

static void expect_damage(bytes file, size_t at, uint32_t value, const char *message)
{
    uint32_t old = get_u32(file, at);
    assert_int_not_equal(old, value);
    set_u32(file, at, value);
    seal(file);
    expect_load_error(file, VYRE_ERROR_IO, message);
    set_u32(file, at, old);
    seal(file);
}

static void test_kernel_load_names_the_damage(void **state)
{
    (void)state;
    bytes file = save_small();
    layout l = find_layout(file);
    expect_damage(file, 24, 1, "its hashes are not its program's");
    expect_damage(file, 32, 1, "its hashes are not its program's");
    expect_damage(file, l.text, 0xffffffff, "its program is longer than any");
    expect_damage(file, l.text, (uint32_t)file.size, "it ends within the program");
    expect_damage(file, l.places, 0xffffffff, "it ends within the places");
    expect_damage(file, l.counts, 0xffffffff, "it ends within the segments");
    expect_damage(file, l.counts + 4, 5, "its segments are not the program's");
    expect_damage(file, l.counts + 8, 5, "its segments are not the program's");
    expect_damage(file, l.counts + 12, 5, "its segments are not the program's");
    expect_damage(file, l.segments + 4, 4, "uses buffers that the program has not");
    expect_damage(file, l.segments + 8, 0x80000000, "uses buffers that the program has not");
    expect_damage(file, l.segments + 12, 1, "uses buffers that the program has not"); /* in y */
    expect_damage(file, l.segments + 12, 4, "uses buffers that the program has not");
    expect_damage(file, l.segments + 20, 2, "uses buffers that the program has not");
    expect_damage(file, l.sets, 0, "its number of sets");
    expect_damage(file, l.sets, 0xffffffff, "its number of sets");
    expect_damage(file, l.sets, 3, "no target, interface or float modes");
    expect_damage(file, l.sets, 1, "something follows its end");
    expect_damage(file, l.sets + 4, 2, "no target, interface or float modes");
    expect_damage(file, l.sets + 8, 2, "no target, interface or float modes");
    expect_damage(file, l.sets + 12, 64, "no target, interface or float modes");
    expect_damage(file, l.sets + 16, 12, "no target, interface or float modes");
    expect_damage(file, l.sets + 16, 128, "no target, interface or float modes");
    expect_damage(file, l.sets + 4, 1, "a module's version of SPIR-V is not its target's");
    expect_damage(file, l.first_words, 0xffffffff, "it ends within a set of words");
    expect_damage(file, l.first_words, 4, "a module is not SPIR-V");
    expect_damage(file, l.first_words, 7, "a module");
    expect_damage(file, l.first_words + 4, 0x03022307, "a module is not SPIR-V");
    expect_damage(file, l.first_words + 16, 0, "a module's header is not one");
    expect_damage(file, l.first_words + 16, 0x7fffffff, "a module's header is not one");
    expect_damage(file, l.first_words + 24, 0, "a module's instructions do not fill it");
    expect_damage(file, l.first_words + 24, 0xffff0011, "a module's instructions do not fill it");
    size_t padding = l.text + 4 + get_u32(file, l.text);
    assert_int_not_equal(padding % 4, 0);
    file.data[padding] = 1;
    seal(file);
    expect_load_error(file, VYRE_ERROR_IO, "behind the program are not zero");
    file.data[padding] = 0;
    seal(file);
    vyre_kernel *kernel = load_kernel(file, NULL); /* and it is whole still */
    vyre_kernel_destroy(&kernel);
    drop_bytes(&file);
}

/* A file of a library that makes other segments of the program is used as it is, and never mixed
 * with what this one makes. */
static void test_kernel_load_does_not_mix_libraries(void **state)
{
    (void)state;
    const vyre_kernel_params missing = {.debug = 1};
    bytes file = save_small();
    layout l = find_layout(file);
    set_u32(file, l.segments, get_u32(file, l.segments) + 1); /* one instruction more */
    seal(file);
    vyre_kernel *kernels[2] = {load_kernel(file, NULL), compile_text(small_text, &missing)};
    vyre_kernel *none = kernels[0];
    vyre_diag diag;
    assert_int_equal(vyre_kernel_is_precompiled(kernels[0]), 1);
    assert_int_equal(vyre_kernel_load(file.data, file.size, &missing, &none, &diag), VYRE_ERROR_IO);
    assert_non_null(strstr(diag.message, "a segment is not what this library makes of it"));
    assert_null(none);
    void *data = NULL;
    size_t size = 0;
    assert_int_equal(
        vyre_kernel_save((const vyre_kernel *const *)kernels, 2, NULL, &data, &size, &diag),
        VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "different versions of the library"));
    assert_null(data);
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);

    /* A variant would read what the file says is not read. */
    const uint32_t *words;
    uint32_t count;
    set_u32(file, l.segments + 4, 0);
    seal(file);
    kernels[0] = load_kernel(file, NULL);
    assert_int_equal(vy_kernel_variant(kernels[0],
                                       (vy_variant){.interface = VYRE_INTERFACE_ADDRESS}, 0, &words,
                                       &count, &diag),
                     VYRE_ERROR_IO);
    assert_null(words);
    vyre_kernel_destroy(&kernels[0]);
    drop_bytes(&file);
}

/* Sets of the same choice, and a program that is none. */
static void test_kernel_load_checks_sets_and_text(void **state)
{
    (void)state;
    vyre_kernel_params modes = {.float_modes = 1};
    vyre_kernel *kernels[2] = {compile_text(small_text, NULL), compile_text(small_text, &modes)};
    bytes file = save_kernels((const vyre_kernel *const *)kernels, 2);
    layout l = find_layout(file);
    expect_damage(file, l.sets + 12, 1, "two sets of words are for the same choice");
    memcpy(file.data + l.text + 4, "program ?", 9);
    seal(file);
    expect_load_error(file, VYRE_ERROR_INVALID_PROGRAM, "");
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);
    drop_bytes(&file);
}

static void test_kernel_load_refuses_other_files(void **state)
{
    (void)state;
    bytes file = save_small();
    bytes longer = {calloc(file.size + 8, 1), file.size + 8};
    assert_non_null(longer.data);
    memcpy(longer.data, file.data, file.size);
    expect_load_error(longer, VYRE_ERROR_IO, "something follows its end");
    seal(longer);
    expect_load_error(longer, VYRE_ERROR_IO, "something follows its end");
    free(longer.data);
    set_u32(file, 4, VY_KERNEL_FILE_VERSION + 1);
    expect_load_error(file, VYRE_ERROR_IO, "is of version 6, and this library reads version 5");
    drop_bytes(&file);
    expect_load_error((bytes){(unsigned char *)"program p", 9}, VYRE_ERROR_IO, "no kernel file");
    expect_load_error((bytes){(unsigned char *)"VYRK\5\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
                                               "12345678",
                              24},
                      VYRE_ERROR_IO, "its end is missing");
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_load(NULL, 0, NULL, &kernel, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_kernel_load("VYRK", 4, NULL, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_kernel_params params = {.target = (vyre_target)9};
    assert_int_equal(vyre_kernel_load("VYRK", 4, &params, &kernel, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_load_refuses_every_prefix),
        cmocka_unit_test(test_kernel_load_refuses_every_changed_bit),
        cmocka_unit_test(test_kernel_load_survives_changes_with_a_right_checksum),
        cmocka_unit_test(test_kernel_load_names_the_damage),
        cmocka_unit_test(test_kernel_load_does_not_mix_libraries),
        cmocka_unit_test(test_kernel_load_checks_sets_and_text),
        cmocka_unit_test(test_kernel_load_refuses_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

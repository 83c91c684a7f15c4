/* Small files in a folder (engine/device/file.h), on every system the same. More of POSIX:
 * tests/engine/test_files.c. */
#include "engine/device/file.h"
#include "tests/support/fail_allocator.h"
#include "tools/common/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define LIMIT 1000u

static char root[300];

/* Not of ASCII alone: of two, three and four bytes, and a blank. */
#define FOLDER "f\xc3\xb6lder \xe2\x82\xac \xf0\x9f\x8c\x8a"

static int make_root(void **state)
{
    (void)state;
    return vy_folder_make_temporary("vyre-disk", root, sizeof root) ? 0 : 1;
}

static void expect_file(const char *folder, const char *name, const void *data, size_t size)
{
    size_t got_size;
    unsigned char *got = vy_disk_read(NULL, folder, name, LIMIT, &got_size);
    assert_int_equal(got_size, size);
    assert_int_equal(got != NULL, size > 0);
    if (got) {
        assert_memory_equal(got, data, size);
        vy_free(NULL, got, got_size);
    }
}

static void test_disk_keeps_every_byte(void **state)
{
    (void)state;
    unsigned char data[LIMIT];
    for (uint32_t i = 0; i < LIMIT; i++) {
        data[i] = (unsigned char)(i * 7); /* line ends, zeros and control-Z among them */
    }
    char folder[400];
    snprintf(folder, sizeof folder, "%s/a/b/%s", root, FOLDER);
    expect_file(folder, "bytes.bin", NULL, 0);
    static const size_t sizes[] = {LIMIT, 1, 2, 255, LIMIT - 1};
    for (uint32_t i = 0; i < VY_COUNT_OF(sizes); i++) {
        assert_true(vy_disk_write(NULL, folder, "bytes.bin", data, sizes[i], i));
        expect_file(folder, "bytes.bin", data, sizes[i]);
    }
    assert_true(vy_disk_write(NULL, folder, "other", "x", 1, 0));
    expect_file(folder, "bytes.bin", data, LIMIT - 1);
    expect_file(folder, "other", "x", 1);
}

static void test_disk_reads_no_more_than_the_limit(void **state)
{
    (void)state;
    static const char data[LIMIT + 1];
    assert_true(vy_disk_write(NULL, root, "large", data, sizeof data, 0));
    expect_file(root, "large", NULL, 0);
    expect_file(root, ".", NULL, 0);
    expect_file(root, "missing", NULL, 0);
}

static void test_disk_writes_nothing_where_it_cannot(void **state)
{
    (void)state;
    char folder[400];
    assert_true(vy_disk_write(NULL, root, "file", "x", 1, 0));
    snprintf(folder, sizeof folder, "%s/file", root);
    assert_false(vy_disk_write(NULL, folder, "in a file", "x", 1, 0));
    expect_file(root, "file", "x", 1);
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_false(vy_disk_write(NULL, root, name, "x", 1, 0));
}

static void test_disk_without_memory_has_no_file(void **state)
{
    (void)state;
    vy_fail_allocator fail;
    assert_true(vy_disk_write(NULL, root, "memory", "x", 1, 0));
    for (uint32_t n = 1; n < 4; n++) {
        fail = (vy_fail_allocator){.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&fail);
        size_t size = 1;
        unsigned char *data = vy_disk_read(&allocator, root, "memory", LIMIT, &size);
        assert_int_equal(data == NULL, size == 0);
        if (data) {
            vy_free(&allocator, data, size);
        }
        assert_int_equal(fail.live_blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_keeps_every_byte),
        cmocka_unit_test(test_disk_reads_no_more_than_the_limit),
        cmocka_unit_test(test_disk_writes_nothing_where_it_cannot),
        cmocka_unit_test(test_disk_without_memory_has_no_file),
    };
    return cmocka_run_group_tests(tests, make_root, NULL);
}

/* What differs by system: tools/common/system.h, and codegen/base/thread.h. */
#include "codegen/base/thread.h"
#include "tools/common/system.h"
#include "tools/common/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char root[300];

static int make_root(void **state)
{
    (void)state;
    return vy_folder_make_temporary("vyre-system", root, sizeof root) ? 0 : 1;
}

static const char *in_root(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/%s", root, name);
    return out;
}

static void test_system_tells_paths_apart(void **state)
{
    (void)state;
    char path[400];
    vyre_diag diag;
    assert_int_equal(vy_path_look(root).kind, VY_PATH_FOLDER);
    assert_int_equal(vy_path_look(in_root(path, sizeof path, "missing")).kind, VY_PATH_NONE);
    assert_int_equal(vy_file_write(in_root(path, sizeof path, "x"), "abc", 3, &diag), VYRE_OK);
    vy_file_mark before = vy_path_look(path);
    assert_int_equal(before.kind, VY_PATH_FILE);
    assert_int_equal(before.size, 3);
    assert_int_equal(vy_file_write(path, "abcd", 4, &diag), VYRE_OK);
    assert_int_equal(vy_path_look(path).size, 4);
    assert_int_equal(vy_path_look(path).device, before.device);

    assert_true(vy_is_separator('/'));
    assert_string_equal(vy_path_last("a/b/c"), "c");
    assert_string_equal(vy_path_last("c"), "c");
    assert_string_equal(vy_path_last("a/"), "");
    assert_true(vy_path_is_absolute("/a"));
    assert_false(vy_path_is_absolute("a/b"));
#if defined(_WIN32)
    assert_string_equal(vy_path_last("a\\b/d\\c"), "c");
    assert_true(vy_path_is_absolute("C:\\a"));
    assert_true(vy_path_is_absolute("\\a"));
#else
    assert_string_equal(vy_path_last("a\\b"), "a\\b");
    assert_false(vy_path_is_absolute("C:/a"));
#endif
}

static void test_system_makes_folders_once(void **state)
{
    (void)state;
    char path[400], other[400];
    assert_true(vy_folder_make(in_root(path, sizeof path, "folder")));
    assert_false(vy_folder_make(path));
    assert_int_equal(errno, EEXIST);
    vy_folder_remove(path);
    assert_int_equal(vy_path_look(path).kind, VY_PATH_NONE);
    assert_true(vy_folder_make_temporary("vyre-system", other, sizeof other));
    assert_string_not_equal(root, other);
    vy_folder_remove(other);
    assert_false(vy_folder_make_temporary("vyre-system", other, 8));
}

static void test_files_are_bytes(void **state)
{
    (void)state;
    char path[400], *data;
    size_t size;
    vyre_diag diag;
    static const char bytes[] = "a\nb\r\nc\x1a\0d\n"; /* control-Z ends texts of Windows */
    in_root(path, sizeof path, "bytes");
    assert_int_equal(vy_file_write(path, bytes, sizeof bytes, &diag), VYRE_OK);
    assert_int_equal(vy_file_read(path, 100, &data, &size, &diag), VYRE_OK);
    assert_int_equal(size, sizeof bytes);
    assert_memory_equal(data, bytes, size);
    free(data);
    bool made;
    assert_false(vy_file_put(path, false, "x", 1, &made)); /* there is one */
    assert_false(made);
    assert_true(vy_file_replace(path, in_root(path, sizeof path, "bytes")));
    vy_file_remove(path);
    assert_int_equal(vy_file_read(path, 100, &data, &size, &diag), VYRE_ERROR_IO);
    assert_non_null(strstr(diag.message, "Fix: "));
}

/* This program, asked to end with a number that tells what it was given. */
static void test_system_runs_programs(void **state)
{
    const char *self = *state;
    const char *right[] = {self, "a \"b\" \\", "", "c\\\\\"", NULL};
    const char *wrong[] = {self, "other", NULL};
    const char *missing[] = {"vyre-no-such-program", NULL};
    assert_int_equal(vy_program_run(right), 42);
    assert_int_equal(vy_program_run(wrong), 41);
    assert_int_equal(vy_program_run(missing), 127);
}

typedef struct shared {
    vy_mutex mutex;
    vy_condition condition;
    uint32_t count;
    int is_open;
} shared;

static vy_thread_result VY_THREAD_CALL count_up(void *argument)
{
    shared *s = argument;
    for (uint32_t i = 0; i < 10000; i++) {
        vy_mutex_lock(&s->mutex);
        while (!s->is_open) {
            vy_condition_wait(&s->condition, &s->mutex, UINT64_MAX);
        }
        s->count++;
        vy_mutex_unlock(&s->mutex);
    }
    return 0;
}

static void test_threads_wait_and_count(void **state)
{
    (void)state;
    shared s = {.count = 0};
    vy_thread threads[4];
    assert_int_equal(vy_mutex_init(&s.mutex), 0);
    assert_int_equal(vy_condition_init(&s.condition), 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(vy_thread_start(&threads[i], count_up, &s), 0);
    }
    vy_mutex_lock(&s.mutex);
    assert_int_equal(s.count, 0);
    s.is_open = 1;
    vy_condition_signal_all(&s.condition);
    vy_mutex_unlock(&s.mutex);
    for (uint32_t i = 0; i < 4; i++) {
        vy_thread_join(threads[i]);
    }
    assert_int_equal(s.count, 40000);
    vy_condition_finish(&s.condition);
    vy_mutex_finish(&s.mutex);
}

static void test_clock_goes_on(void **state)
{
    (void)state;
    uint64_t begin = vy_clock_ns();
    vy_pause_ns(20000000u);
    uint64_t end = vy_clock_ns();
    assert_true(end - begin >= 19000000u); /* clocks of systems have steps */
    assert_true(end - begin < 60000000000u);
    assert_true(vy_process_id() > 0);
}

int main(int count, char **arguments)
{
    vy_system_begin();
    if (count == 4) {
        return strcmp(arguments[1], "a \"b\" \\") == 0 && !arguments[2][0] &&
                       strcmp(arguments[3], "c\\\\\"") == 0
                   ? 42
                   : 40;
    }
    if (count == 2) {
        return 41;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system_tells_paths_apart),
        cmocka_unit_test(test_system_makes_folders_once),
        cmocka_unit_test(test_files_are_bytes),
        cmocka_unit_test_prestate(test_system_runs_programs, arguments[0]),
        cmocka_unit_test(test_threads_wait_and_count),
        cmocka_unit_test(test_clock_goes_on),
    };
    return cmocka_run_group_tests(tests, make_root, NULL);
}

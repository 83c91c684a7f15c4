/* Files of the library's own: whole or not there, for this user alone, whoever writes at once. */
#include "engine/device/file.h"
#include "folder.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static vy_fail_allocator memory;

static vyre_allocator allocator(void)
{
    return vy_fail_allocator_get(&memory);
}

static int clear(void **state)
{
    (void)state;
    memory = (vy_fail_allocator){0};
    folder_clear();
    return 0;
}

static bool write_file(const char *below, const void *data, size_t size, uint32_t unique)
{
    vyre_allocator a = allocator();
    return vy_disk_write(&a, folder_path(below), "file", data, size, unique);
}

/* Whether the file is there with just that text. */
static bool has_text(const char *below, const char *text)
{
    vyre_allocator a = allocator();
    size_t size = 0;
    char *data = vy_disk_read(&a, folder_path(below), "file", 1000, &size);
    bool is_same = data && size == strlen(text) && memcmp(data, text, size) == 0;
    vy_free(&a, data, size);
    return is_same;
}

static void test_files_are_made_for_this_user_alone(void **state)
{
    (void)state;
    assert_false(has_text("a/b/c", "first"));
    assert_true(write_file("a/b/c", "first", 5, 1));
    assert_true(has_text("a/b/c", "first"));
    assert_int_equal(folder_mode(folder_path("a")), 0700);
    assert_int_equal(folder_mode(folder_path("a/b/c")), 0700);
    assert_int_equal(folder_mode(folder_below("a/b/c", "file")), 0600);
    assert_true(write_file("a/b/c", "second", 6, 1));
    assert_true(has_text("a/b/c", "second"));
    assert_int_equal(folder_find("a/b/c", "", NULL, 0), 1);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_what_is_no_plain_file_is_not_there(void **state)
{
    (void)state;
    vyre_allocator a = allocator();
    size_t size = 1;
    folder_write("a", "file", "x", 0); /* empty */
    assert_null(vy_disk_read(&a, folder_path("a"), "file", 1000, &size));
    assert_int_equal(size, 0);
    folder_write("a", "file", "12345", 5);
    assert_null(vy_disk_read(&a, folder_path("a"), "file", 4, &size));
    assert_true(has_text("a", "12345"));
    /* A link, also to what would do. */
    assert_int_equal(rename(folder_below("a", "file"), folder_path("a/other")), 0);
    assert_int_equal(symlink("other", folder_below("a", "file")), 0);
    assert_false(has_text("a", "12345"));
    /* A pipe, which nobody writes to. */
    assert_int_equal(unlink(folder_below("a", "file")), 0);
    assert_int_equal(mkfifo(folder_below("a", "file"), 0600), 0);
    assert_false(has_text("a", "12345"));
    /* A folder. */
    assert_int_equal(unlink(folder_below("a", "file")), 0);
    assert_int_equal(mkdir(folder_below("a", "file"), 0700), 0);
    assert_false(has_text("a", "12345"));
    /* Memory runs out. */
    assert_int_equal(rmdir(folder_below("a", "file")), 0);
    folder_write("a", "file", "12345", 5);
    memory.fail_at = memory.calls + 1;
    assert_false(has_text("a", "12345"));
    memory.fail_at = 0;
    assert_true(has_text("a", "12345"));
    assert_int_equal(memory.live_blocks, 0);
}

static void test_links_are_replaced_and_not_followed(void **state)
{
    (void)state;
    folder_write("a", "target", "mine", 4);
    assert_int_equal(symlink("target", folder_below("a", "file")), 0);
    assert_true(write_file("a", "ours", 4, 1));
    assert_true(has_text("a", "ours"));
    size_t size = 0;
    unsigned char *target = folder_read("a", "target", &size);
    assert_int_equal(size, 4);
    assert_memory_equal(target, "mine", 4);
    free(target);
}

static void test_failed_writes_leave_nothing(void **state)
{
    (void)state;
    /* A folder in the file's place: the last step fails. */
    folder_write("a", "keep", "x", 1);
    assert_int_equal(mkdir(folder_below("a", "file"), 0700), 0);
    folder_write("a/file", "inside", "x", 1);
    assert_false(write_file("a", "new", 3, 1));
    assert_int_equal(folder_find("a", "", NULL, 0), 2);
    /* A file in the folder's place. */
    assert_false(write_file("a/keep", "new", 3, 1));
    assert_false(write_file("a/keep/below", "new", 3, 1));
    size_t size = 0;
    unsigned char *keep = folder_read("a", "keep", &size);
    assert_int_equal(size, 1);
    free(keep);
    /* Memory runs out while folders are made. */
    memory.fail_at = memory.calls + 1;
    assert_false(write_file("b/c", "new", 3, 1));
    memory.fail_at = 0;
    assert_int_equal(memory.live_blocks, 0);
    /* No folder at all. */
    vyre_allocator a = allocator();
    assert_false(vy_disk_write(&a, "", "file", "new", 3, 1));
}

static void test_leftovers_of_a_crash_are_stepped_over(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "file.%ld-1-0.tmp", (long)getpid());
    folder_write("a", name, "half", 4);
    assert_true(write_file("a", "whole", 5, 1));
    assert_true(has_text("a", "whole"));
    assert_int_equal(folder_find("a", "file.", NULL, 0), 1);
}

#define WRITERS 4u
#define WRITES  40u

/* As many bytes of one value as say who wrote. */
static bool write_often(const char *folder, uint32_t writer)
{
    char text[4000];
    bool is_written = true;
    vy_fail_allocator own = {0};
    vyre_allocator a = vy_fail_allocator_get(&own);
    memset(text, (int)('a' + writer), sizeof text);
    for (uint32_t i = 0; is_written && i < WRITES; i++) {
        is_written = vy_disk_write(&a, folder, "file", text, 500u * (writer + 1), writer);
    }
    return is_written;
}

/* What is there is one writer's, whole; 0 where nothing is. */
static int check_whole(void)
{
    vyre_allocator a = {&(vy_fail_allocator){0}, vy_fail_reallocate};
    size_t size = 0;
    char *data = vy_disk_read(&a, folder_path("a"), "file", 100000, &size);
    if (!data) {
        return 0;
    }
    assert_true(data[0] >= 'a' && data[0] < (char)('a' + WRITERS));
    assert_int_equal(size, 500u * (size_t)(data[0] - 'a' + 1));
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(data[i], data[0]);
    }
    vy_free(&a, data, size);
    return 1;
}

static void test_processes_may_write_at_once(void **state)
{
    (void)state;
    pid_t children[WRITERS];
    char folder[1024]; /* the children would have others */
    snprintf(folder, sizeof folder, "%s", folder_path("a"));
    for (uint32_t w = 0; w < WRITERS; w++) {
        children[w] = fork();
        if (children[w] == 0) {
            _exit(!write_often(folder, w));
        }
        assert_true(children[w] > 0);
    }
    uint32_t left = WRITERS;
    while (left > 0) {
        int status = 0;
        (void)check_whole();
        for (uint32_t w = 0; w < WRITERS; w++) {
            if (children[w] && waitpid(children[w], &status, WNOHANG) == children[w]) {
                assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
                children[w] = 0;
                left--;
            }
        }
    }
    assert_int_equal(check_whole(), 1);
    assert_int_equal(folder_find("a", "", NULL, 0), 1);
}

typedef struct writing {
    const char *folder;
    uint32_t writer;
    bool is_written;
} writing;

static void *write_thread(void *user)
{
    writing *w = user;
    w->is_written = write_often(w->folder, w->writer);
    return NULL;
}

static void test_threads_may_write_at_once(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    writing writers[WRITERS];
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", folder_path("a"));
    for (uint32_t w = 0; w < WRITERS; w++) {
        writers[w] = (writing){folder, w, false};
        assert_int_equal(pthread_create(&threads[w], NULL, write_thread, &writers[w]), 0);
    }
    for (uint32_t w = 0; w < WRITERS; w++) {
        assert_int_equal(pthread_join(threads[w], NULL), 0);
        assert_true(writers[w].is_written);
    }
    assert_int_equal(check_whole(), 1);
    assert_int_equal(folder_find("a", "", NULL, 0), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clear, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files_are_made_for_this_user_alone),
        TEST(test_what_is_no_plain_file_is_not_there),
        TEST(test_links_are_replaced_and_not_followed),
        TEST(test_failed_writes_leave_nothing),
        TEST(test_leftovers_of_a_crash_are_stepped_over),
        TEST(test_processes_may_write_at_once),
        TEST(test_threads_may_write_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

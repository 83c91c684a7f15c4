/* Compiled pipelines kept on disk and as blobs: whole or not at all, whatever happens to files, and
 * never at the price of an error. */
#include "engine/device/device.h"
#include "engine/device/kept.h"
#include "engine/pipeline/cache.h"
#include "folder.h"
#include "hook.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of files and devices. */
static vy_fail_allocator memory;

static vyre_allocator allocator(void)
{
    return vy_fail_allocator_get(&memory);
}

static int reset(void **state)
{
    (void)state;
    memory = (vy_fail_allocator){0};
    hook_reset();
    folder_clear();
    return 0;
}

static int nothing_alive(void **state)
{
    (void)state;
    assert_int_equal(layer_alive(), 0);
    folder_clear();
    return 0;
}

/* The next place to damage a file in: by `step` in the headers, and behind them some sixty in all,
 * however much a driver keeps. */
static size_t step_from(size_t place, size_t size, size_t step)
{
    const size_t headers = VY_KEPT_HEADER + 32;
    return place + (place < headers || size / 60 < step ? step : size / 60);
}

/* ---- Header ---------------------------------------------------------------------------------- */

#define PAYLOAD 100u
#define BLOB    (VY_KEPT_HEADER + PAYLOAD)

static vy_snapshot some_snapshot(void)
{
    vy_snapshot s = {.driver_id = 7};
    s.info.vendor_id = 0x10de;
    s.info.device_id = 0x2335;
    s.info.driver_version = 99;
    snprintf(s.info.driver, sizeof s.info.driver, "Driver 1.2");
    for (uint8_t i = 0; i < 16; i++) {
        s.driver_uuid[i] = i;
        s.device_uuid[i] = (uint8_t)(2 * i);
        s.cache_uuid[i] = (uint8_t)(3 * i);
    }
    return s;
}

static void make_blob(const vy_snapshot *s, unsigned char blob[BLOB])
{
    for (uint32_t i = 0; i < PAYLOAD; i++) {
        blob[VY_KEPT_HEADER + i] = (unsigned char)(i * 7);
    }
    vy_kept_seal(s, VY_KEPT_PIPELINES, blob, PAYLOAD);
}

static bool opens(const vy_snapshot *s, const void *blob, size_t size)
{
    size_t payload_size = 1;
    const void *payload = vy_kept_open(s, VY_KEPT_PIPELINES, blob, size, &payload_size);
    assert_int_equal(payload_size, payload ? size - VY_KEPT_HEADER : 0);
    return payload != NULL;
}

static void test_blob_opens_whole_and_unchanged_only(void **state)
{
    (void)state;
    vy_snapshot s = some_snapshot();
    unsigned char blob[BLOB + 1] = {0};
    size_t size = 0;
    make_blob(&s, blob);
    assert_true(opens(&s, blob, BLOB));
    assert_null(vy_kept_open(&s, VY_KEPT_ANSWERS, blob, BLOB, &size));
    assert_false(opens(&s, NULL, 0));
    assert_false(opens(&s, blob, BLOB + 1));
    for (size_t length = 0; length < BLOB; length++) {
        assert_false(opens(&s, blob, length));
    }
    for (size_t i = 0; i < BLOB; i++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            blob[i] ^= (unsigned char)(1u << bit);
            assert_false(opens(&s, blob, BLOB));
            blob[i] ^= (unsigned char)(1u << bit);
        }
    }
    assert_true(opens(&s, blob, BLOB));
}

static void test_blob_is_of_one_device_and_driver(void **state)
{
    (void)state;
    vy_snapshot s = some_snapshot(), other = s;
    unsigned char blob[BLOB];
    make_blob(&s, blob);
    other.driver_id++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.info.vendor_id++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.info.device_id++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.info.driver_version++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.info.driver[7] = '2';
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.driver_uuid[15]++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.device_uuid[0]++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.cache_uuid[3]++;
    assert_false(opens(&other, blob, BLOB));
    other = s;
    other.info.timestamp_ns = 3; /* no part of it */
    assert_true(opens(&other, blob, BLOB));
}

/* ---- Device ---------------------------------------------------------------------------------- */

static vyre_result try_open(const char *below, vyre_device **out, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    vyre_allocator a = allocator();
    params.allocator = &a;
    params.get_instance_proc_addr = hook_entry();
    params.validation = VYRE_VALIDATION_OFF;
    params.cache_dir = below ? folder_path(below) : "";
    return vyre_device_create(&params, out, diag);
}

static vyre_device *open_in(const char *below)
{
    vyre_device *device = NULL;
    vyre_diag diag;
    if (try_open(below, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

static void run_program(vyre_device *device)
{
    engine_program p = engine_build(device, "program one\nworkgroup 64\ngrid over a\n"
                                            "inout a : u32[]\n"
                                            "kernel { a[gid.x] += 7 }\n");
    uint32_t a[100] = {1};
    vyre_binding bindings[] = {engine_host_inout(a, 100)};
    (void)engine_run(&p, bindings, 1, NULL, 0, 0, 0);
    assert_int_equal(a[0], 8);
    assert_int_equal(a[99], 7);
    engine_release(&p);
}

static void open_and_run(const char *below)
{
    vyre_device *device = open_in(below);
    run_program(device);
    vyre_device_destroy(&device);
}

static void find_file(const char *below, char *out, size_t size)
{
    assert_int_equal(folder_find(below, "pipelines-", out, size), 1);
}

static void test_pipelines_come_back_from_the_folder(void **state)
{
    (void)state;
    NEED_DEVICE();
    char name[256];
    open_and_run("c/d");
    assert_int_equal(seen.initial_size, 0);
    find_file("c/d", name, sizeof name);
    assert_int_equal(folder_mode(folder_below("c/d", name)), 0600);
    size_t size = 0;
    free(folder_read("c/d", name, &size));
    assert_true(size > VY_KEPT_HEADER);
    struct stat before, after;
    assert_int_equal(stat(folder_below("c/d", name), &before), 0);
    hook_reset();
    open_and_run("c/d");
    assert_int_equal(seen.initial_size, size - VY_KEPT_HEADER);
    assert_int_equal(seen.caches, 1);
    /* Nothing else to keep: not written again. */
    assert_int_equal(stat(folder_below("c/d", name), &after), 0);
    assert_true(before.st_ino == after.st_ino || size != (size_t)after.st_size);
    /* Two files, and nothing half done. */
    assert_int_equal(folder_find("c/d", "", NULL, 0), 2);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_nothing_is_kept_without_a_folder(void **state)
{
    (void)state;
    NEED_DEVICE();
    open_and_run(NULL);
    assert_int_equal(seen.data_calls, 0);
    assert_int_equal(folder_find("", "", NULL, 0), 0);
}

/* The answers' file has its own test: this one is of pipelines. The device's cache is made anew,
 * since opening it takes some drivers a second. */
static void expect_cold(vyre_device *device, const char *name, const unsigned char *bytes,
                        size_t size)
{
    vyre_diag diag;
    folder_write("c", name, bytes, size);
    seen = (hook_seen){0};
    vy_cache_destroy(device);
    assert_int_equal(vy_cache_create(device, &diag), VYRE_OK);
    assert_int_equal(seen.caches, 1);
    if (seen.initial_size != 0) {
        fail_msg("a file of %u bytes was used", (unsigned)size);
    }
}

static void test_damaged_files_are_a_cold_start(void **state)
{
    (void)state;
    NEED_DEVICE();
    char name[256];
    open_and_run("c");
    find_file("c", name, sizeof name);
    size_t size = 0;
    unsigned char *bytes = folder_read("c", name, &size);
    bytes[size - 1] ^= 0x40;
    folder_write("c", name, bytes, size);
    bytes[size - 1] ^= 0x40;
    hook_reset();
    vyre_device *device = open_in("c");
    assert_int_equal(seen.initial_size, 0);
    for (size_t length = 0; length < size; length = step_from(length, size, 11)) {
        expect_cold(device, name, bytes, length);
    }
    for (size_t i = 0; i < size; i = step_from(i, size, 7)) {
        bytes[i] ^= 0x40;
        expect_cold(device, name, bytes, size);
        bytes[i] ^= 0x40;
    }
    /* Whole, sealed, and what Vulkan's own header says is another device's. */
    vy_snapshot s = device->snapshot;
    bytes[VY_KEPT_HEADER + 16] ^= 1;
    vy_kept_seal(&s, VY_KEPT_PIPELINES, bytes, size - VY_KEPT_HEADER);
    expect_cold(device, name, bytes, size);
    bytes[VY_KEPT_HEADER + 16] ^= 1;
    vyre_device_destroy(&device);
    /* And one that is right after all. */
    vy_kept_seal(&s, VY_KEPT_PIPELINES, bytes, size - VY_KEPT_HEADER);
    folder_write("c", name, bytes, size);
    hook_reset();
    open_and_run("c");
    assert_int_equal(seen.initial_size, size - VY_KEPT_HEADER);
    free(bytes);
}

static void test_folders_that_cannot_be_used_are_no_error(void **state)
{
    (void)state;
    NEED_DEVICE();
    char name[256];
    folder_write("c", "file", "x", 1);
    open_and_run("c/file");
    open_and_run("c/file/below");
    assert_int_equal(folder_find("c", "", NULL, 0), 1);
    /* A folder where the file should be. */
    hook_reset();
    vyre_device *device = open_in("e");
    vyre_device_destroy(&device);
    assert_int_equal(folder_find("e", "pipelines-", name, sizeof name), 1);
    assert_int_equal(unlink(folder_below("e", name)), 0);
    assert_int_equal(mkdir(folder_below("e", name), 0700), 0);
    hook_reset();
    open_and_run("e");
    assert_int_equal(seen.initial_size, 0);
    assert_int_equal(folder_find("e", "", NULL, 0), 2);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_each_failed_allocation_is_survived(void **state)
{
    (void)state;
    NEED_DEVICE();
    open_and_run("c");
    for (uint32_t n = 1; n < 2000; n++) {
        vyre_device *device = NULL;
        vyre_diag diag;
        memory = (vy_fail_allocator){.fail_at = n};
        vyre_result code = try_open("c", &device, &diag);
        if (code == VYRE_OK) {
            vyre_device_destroy(&device);
        } else {
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
        }
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(layer_alive(), 0);
        if (memory.calls < n) {
            assert_int_equal(code, VYRE_OK);
            memory = (vy_fail_allocator){0};
            return;
        }
    }
    fail_msg("opening never ends");
}

static void test_a_file_that_the_driver_refuses_is_a_cold_start(void **state)
{
    (void)state;
    NEED_DEVICE();
    open_and_run("c");
    hook_reset();
    layer.fail_at = 1;
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    layer.fail_only = "vkCreatePipelineCache";
    open_and_run("c");
    assert_int_equal(seen.caches, 2);
    assert_int_equal(seen.initial_size, 0);
}

static void test_cache_hits_are_counted(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_in(NULL);
    vyre_device_counters before, after;
    run_program(device);
    vyre_device_get_counters(device, &before);
    assert_int_equal(before.pipeline_cache_hits, 0);
    hook.hits = true;
    run_program(device);
    vyre_device_get_counters(device, &after);
    assert_int_equal(after.pipeline_cache_hits, seen.has_feedback);
    assert_int_equal(seen.has_feedback, device->snapshot.info.api_version >= VK_API_VERSION_1_3 &&
                                            device->api_version >= VK_API_VERSION_1_3);
    vyre_device_destroy(&device);
}

/* Where all pipelines were in it, there is nothing to write. */
static void test_hits_add_nothing_to_the_file(void **state)
{
    (void)state;
    NEED_DEVICE();
    hook.hits = true;
    open_and_run("c");
    assert_int_equal(folder_find("c", "pipelines-", NULL, 0), seen.has_feedback ? 0 : 1);
}

/* ---- Blob ------------------------------------------------------------------------------------ */

static void test_blob_is_loaded_where_it_fits(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_in(NULL);
    vyre_diag diag;
    void *blob = NULL;
    size_t size = 0;
    int is_used = -1;
    run_program(device);
    VkPipelineCache first = seen.cache;
    assert_int_equal(vyre_device_save_cache(device, &blob, &size, &diag), VYRE_OK);
    assert_true(opens(&device->snapshot, blob, size));
    unsigned char *bytes = malloc(size + 2);
    assert_non_null(bytes);
    /* Not aligned: hosts read it as they like. */
    memcpy(bytes + 1, blob, size);
    assert_int_equal(vyre_device_load_cache(device, bytes + 1, size, &is_used, &diag), VYRE_OK);
    assert_int_equal(is_used, 1);
    assert_int_equal(seen.merges, 1);
    assert_int_equal(seen.caches_destroyed, 1); /* nobody compiles: the former one went */
    run_program(device);
    assert_true(seen.cache != first || seen.caches == 2);
    for (size_t length = 0; length < size; length = step_from(length, size, 9)) {
        assert_int_equal(vyre_device_load_cache(device, bytes + 1, length, &is_used, &diag),
                         VYRE_OK);
        assert_int_equal(is_used, 0);
    }
    for (size_t i = 0; i < size; i = step_from(i, size, 5)) {
        bytes[1 + i] ^= 0x10;
        assert_int_equal(vyre_device_load_cache(device, bytes + 1, size, &is_used, &diag), VYRE_OK);
        assert_int_equal(is_used, 0);
        bytes[1 + i] ^= 0x10;
    }
    assert_int_equal(vyre_device_load_cache(device, NULL, 0, NULL, &diag), VYRE_OK);
    assert_int_equal(seen.merges, 1);
    free(bytes);
    vyre_device_free_cache(device, &blob, size);
    assert_null(blob);
    vyre_device_free_cache(device, &blob, size);
    vyre_device_destroy(&device);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_blob_that_grows_is_read_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_in(NULL);
    vyre_diag diag;
    void *blob = NULL;
    size_t size = 0;
    hook.incomplete_at = 2;
    assert_int_equal(vyre_device_save_cache(device, &blob, &size, &diag), VYRE_OK);
    assert_int_equal(seen.data_calls, 4);
    assert_true(opens(&device->snapshot, blob, size));
    vyre_device_free_cache(device, &blob, size);
    vyre_device_destroy(&device);
}

static void test_blob_calls_say_what_is_missing(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_in(NULL);
    vyre_diag diag;
    void *blob = NULL;
    size_t size = 0;
    assert_int_equal(vyre_device_save_cache(NULL, &blob, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(vyre_device_save_cache(device, NULL, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_device_save_cache(device, &blob, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_device_load_cache(NULL, "x", 1, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_device_load_cache(device, NULL, 1, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_device_free_cache(NULL, &blob, 0);
    atomic_store(&device->lost, true);
    assert_int_equal(vyre_device_save_cache(device, &blob, &size, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(vyre_device_load_cache(device, "x", 1, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    vyre_device_destroy(&device);
}

static void test_blob_failures_leave_the_cache_as_it_was(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_in(NULL);
    vyre_diag diag;
    void *blob = NULL, *other = NULL;
    size_t size = 0, other_size = 0;
    int is_used = 1;
    assert_int_equal(vyre_device_save_cache(device, &blob, &size, &diag), VYRE_OK);
    hook.merge = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(vyre_device_load_cache(device, blob, size, &is_used, &diag),
                     VYRE_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(is_used, 0);
    hook.merge = VK_SUCCESS;
    layer.fail_at = layer_fallible_calls() + 1;
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_int_equal(vyre_device_load_cache(device, blob, size, &is_used, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    layer.fail_at = 0;
    size_t live = memory.live_blocks;
    for (uint32_t n = 1; n <= 2; n++) {
        memory.fail_at = memory.calls + n;
        assert_int_equal(vyre_device_load_cache(device, blob, size, &is_used, &diag),
                         VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(memory.live_blocks, live);
    }
    memory.fail_at = memory.calls + 1;
    assert_int_equal(vyre_device_save_cache(device, &other, &other_size, &diag),
                     VYRE_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(other);
    memory.fail_at = 0;
    run_program(device);
    assert_int_equal(vyre_device_load_cache(device, blob, size, &is_used, &diag), VYRE_OK);
    assert_int_equal(is_used, 1);
    run_program(device);
    vyre_device_free_cache(device, &blob, size);
    vyre_device_destroy(&device);
    assert_int_equal(memory.live_blocks, 0);
}

typedef struct building {
    vyre_device *device;
    vyre_kernel *kernel;
    vyre_result code;
} building;

static void *build_often(void *user)
{
    building *b = user;
    b->code = VYRE_OK;
    for (uint32_t i = 0; b->code == VYRE_OK && i < 30; i++) {
        vyre_pipeline *pipeline = NULL;
        b->code = vyre_pipeline_create(b->device, b->kernel, NULL, &pipeline, NULL);
        vyre_pipeline_destroy(&pipeline);
    }
    return NULL;
}

/* Without the layer, which is for one thread. */
static void test_blobs_are_loaded_while_others_compile(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.validation = VYRE_VALIDATION_OFF;
    params.cache_dir = "";
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
    engine_program p = engine_build(device, "program one\nworkgroup 64\ngrid over a\n"
                                            "inout a : u32[]\nkernel { a[gid.x] += 7 }\n");
    pthread_t threads[3];
    building builders[3];
    for (uint32_t t = 0; t < 3; t++) {
        builders[t] = (building){device, p.kernel, VYRE_OK};
        assert_int_equal(pthread_create(&threads[t], NULL, build_often, &builders[t]), 0);
    }
    for (uint32_t i = 0; i < 60; i++) {
        void *blob = NULL;
        size_t size = 0;
        int is_used = 0;
        assert_int_equal(vyre_device_save_cache(device, &blob, &size, &diag), VYRE_OK);
        assert_int_equal(vyre_device_load_cache(device, blob, size, &is_used, &diag), VYRE_OK);
        assert_int_equal(is_used, 1);
        vyre_device_free_cache(device, &blob, size);
    }
    for (uint32_t t = 0; t < 3; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(builders[t].code, VYRE_OK);
    }
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- A host's own cache ---------------------------------------------------------------------- */

static void test_a_hosts_cache_is_used_and_left_alone(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_in("c");
    vyre_diag diag;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache hosts = VK_NULL_HANDLE;
    assert_int_equal(device->vk.vkCreatePipelineCache(device->device, &info, NULL, &hosts),
                     VK_SUCCESS);
    vy_cache_destroy(device);
    char name[256];
    while (folder_find("c", "", name, sizeof name) > 0) {
        assert_int_equal(unlink(folder_below("c", name)), 0);
    }
    device->pipeline_cache = hosts;
    assert_int_equal(vy_cache_create(device, &diag), VYRE_OK);
    run_program(device);
    assert_true(seen.cache == hosts);
    void *blob = NULL;
    size_t size = 0;
    int is_used = 1;
    assert_int_equal(vyre_device_save_cache(device, &blob, &size, &diag), VYRE_OK);
    assert_int_equal(vyre_device_load_cache(device, blob, size, &is_used, &diag), VYRE_OK);
    assert_int_equal(is_used, 0);
    run_program(device);
    assert_true(seen.cache == hosts);
    vyre_device_free_cache(device, &blob, size);
    uint32_t destroyed = seen.caches_destroyed;
    PFN_vkDestroyPipelineCache destroy = device->vk.vkDestroyPipelineCache;
    vy_cache_destroy(device);
    assert_int_equal(seen.caches_destroyed, destroyed);
    assert_int_equal(folder_find("c", "", NULL, 0), 0);
    destroy(device->device, hosts, NULL);
    vyre_device_destroy(&device);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, nothing_alive)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blob_opens_whole_and_unchanged_only),
        cmocka_unit_test(test_blob_is_of_one_device_and_driver),
        TEST(test_pipelines_come_back_from_the_folder),
        TEST(test_nothing_is_kept_without_a_folder),
        TEST(test_damaged_files_are_a_cold_start),
        TEST(test_folders_that_cannot_be_used_are_no_error),
        TEST(test_each_failed_allocation_is_survived),
        TEST(test_a_file_that_the_driver_refuses_is_a_cold_start),
        TEST(test_cache_hits_are_counted),
        TEST(test_hits_add_nothing_to_the_file),
        TEST(test_blob_is_loaded_where_it_fits),
        TEST(test_blob_that_grows_is_read_again),
        TEST(test_blob_calls_say_what_is_missing),
        TEST(test_blob_failures_leave_the_cache_as_it_was),
        TEST(test_blobs_are_loaded_while_others_compile),
        TEST(test_a_hosts_cache_is_used_and_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

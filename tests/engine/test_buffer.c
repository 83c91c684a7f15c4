/* Resident buffers: handles, mapping, freeing while in use, and every failure on the way. */
#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/fail_allocator.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static vyre_buffer make(vyre_device *device, uint64_t size, uint32_t flags)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.flags = flags;
    params.name = "made";
    vyre_buffer buffer;
    vyre_diag diag;
    if (vyre_buffer_create(device, &params, &buffer, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return buffer;
}

static void test_buffer_flags_are_checked(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = 16;
    static const uint32_t bad[] = {16, VYRE_BUFFER_READBACK | VYRE_BUFFER_MAPPABLE,
                                   VYRE_BUFFER_READBACK | VYRE_BUFFER_DEVICE_ONLY, UINT32_MAX};
    vyre_buffer buffer;
    vyre_diag diag;
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        buffer.bits = 5;
        params.flags = bad[b];
        assert_int_equal(vyre_buffer_create(device, &params, &buffer, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(buffer.bits, 0);
    }
    for (uint32_t flags = 0; flags < 10; flags++) {
        buffer = make(device, 20, flags);
        uint32_t words[5] = {1, 2, 3, 4, 5}, zeros[5] = {0};
        assert_int_equal(vyre_buffer_download(device, buffer, 0, words, 20, &diag), VYRE_OK);
        if (!(flags & VYRE_BUFFER_UNINITIALIZED)) {
            assert_memory_equal(words, zeros, sizeof words);
        }
        must_destroy(device, &buffer);
    }
    engine_close(&device);
}

/* A program reads what was written through the mapping, and the mapping shows what it wrote. */
static void test_mapped_buffer_is_seen_both_ways(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int round = 0; round < 4; round++) {
        int loose = round % 2;
        layer_reset();
        layer.no_coherent_memory = loose;
        vyre_device *device = engine_open(1);
        vyre_buffer buffer =
            make(device, 40, round < 2 ? VYRE_BUFFER_MAPPABLE : VYRE_BUFFER_READBACK);
        void *data = NULL, *again = NULL;
        int coherent = 7;
        vyre_diag diag;
        assert_int_equal(vyre_buffer_map(device, buffer, &data, &coherent, &diag), VYRE_OK);
        assert_int_equal(coherent, !loose);
        assert_int_equal(vyre_buffer_map(device, buffer, &again, NULL, &diag), VYRE_OK);
        assert_ptr_equal(data, again);
        uint32_t *words = data;
        assert_int_equal(
            vyre_buffer_sync_mapped(device, buffer, 0, 40, VYRE_MAPPED_FROM_DEVICE, &diag),
            VYRE_OK); /* which made it zero */
        for (uint32_t i = 0; i < 10; i++) {
            assert_int_equal(words[i], 0);
            words[i] = i;
        }
        layer_clear_events();
        assert_int_equal(
            vyre_buffer_sync_mapped(device, buffer, 0, 40, VYRE_MAPPED_TO_DEVICE, &diag), VYRE_OK);
        assert_int_equal(layer_count(LAYER_FLUSH), loose);
        engine_program p = engine_build(device, "program twice\nworkgroup 64\ngrid over a\n"
                                                "inout a : u32[]\nkernel {\n"
                                                "  a[gid.x] = a[gid.x] * 2 }\n");
        vyre_binding binding = engine_resident(buffer, 0, 10);
        (void)engine_run(&p, &binding, 1, NULL, 0, 0, 0);
        assert_int_equal(
            vyre_buffer_sync_mapped(device, buffer, 0, 40, VYRE_MAPPED_FROM_DEVICE, &diag),
            VYRE_OK);
        for (uint32_t i = 0; i < 10; i++) {
            assert_int_equal(words[i], 2 * i);
        }
        assert_int_equal(layer_bad_ranges(), 0);
        assert_int_equal(
            vyre_buffer_sync_mapped(device, buffer, 36, 5, VYRE_MAPPED_TO_DEVICE, &diag),
            VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(
            vyre_buffer_sync_mapped(device, buffer, UINT64_MAX, 2, VYRE_MAPPED_TO_DEVICE, &diag),
            VYRE_ERROR_INVALID_ARGUMENT);
        engine_release(&p);
        must_destroy(device, &buffer);
        engine_close(&device);
    }
}

static void test_mapping_is_refused_by_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    vyre_buffer plain = make(device, 16, 0), empty = make(device, 0, VYRE_BUFFER_MAPPABLE);
    void *data = &data;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_map(device, plain, &data, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(data);
    assert_non_null(strstr(diag.message, "\"made\""));
    assert_int_equal(vyre_buffer_map(device, empty, &data, NULL, &diag), VYRE_OK);
    assert_null(data);
    assert_int_equal(vyre_buffer_sync_mapped(device, empty, 0, 0, VYRE_MAPPED_TO_DEVICE, &diag),
                     VYRE_OK);
    must_destroy(device, &plain);
    must_destroy(device, &empty);
    assert_int_equal(vyre_buffer_map(device, plain, &data, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    engine_close(&device);
    /* No memory that is both sides': the buffer is made, and cannot be mapped. */
    layer_reset();
    layer.heaps = LAYER_HEAPS_SEPARATE;
    device = engine_open(1);
    vyre_buffer buffer = make(device, 16, VYRE_BUFFER_MAPPABLE);
    assert_int_equal(vyre_buffer_map(device, buffer, &data, NULL, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    must_destroy(device, &buffer);
    engine_close(&device);
}

static void test_long_names_are_cut_at_a_character(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        const char *given, *kept;
    } cases[] = {
        {"0123456789012345678901234567890123456789012345x", /* 47 bytes */
         "0123456789012345678901234567890123456789012345x"},
        {"0123456789012345678901234567890123456789012345xy",
         "0123456789012345678901234567890123456789012345x"},
        {"0123456789012345678901234567890123456789012345\xc3\xa4",
         "0123456789012345678901234567890123456789012345"},
        {"", ""},
    };
    vyre_device *device = engine_open(1);
    for (size_t i = 0; i < 4; i++) {
        vyre_buffer_params params = {.size = 4, .name = cases[i].given};
        vyre_buffer buffer;
        vyre_diag diag;
        void *data = NULL;
        char wanted[80];
        assert_int_equal(vyre_buffer_create(device, &params, &buffer, &diag), VYRE_OK);
        assert_int_equal(vyre_buffer_map(device, buffer, &data, NULL, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        snprintf(wanted, sizeof wanted, "\"%s\" was not made", cases[i].kept);
        assert_non_null(strstr(diag.message, wanted));
        must_destroy(device, &buffer);
    }
    engine_close(&device);
}

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 4u
#define ROUNDS  60u

typedef struct worker {
    pthread_t thread;
    vyre_device *device;
    uint32_t number;
    const char *failure;
} worker;

static void work_once(worker *w, uint32_t round)
{
    uint32_t words[64], back[64] = {0}, value = w->number * 1000 + round;
    for (uint32_t i = 0; i < 64; i++) {
        words[i] = value + i;
    }
    vyre_buffer_params params = {.size = sizeof words, .flags = round % 4};
    vyre_buffer a = {0}, b = {0};
    vyre_diag diag;
    vyre_upload upload = {{0}, 0, sizeof words, words};
    vyre_copy copy = {{0}, {0}, 0, 128, 128};
    vyre_download download = {{0}, 128, 128, back};
    vyre_transfer_params list = {.upload_count = 1,
                                 .copy_count = 1,
                                 .download_count = 1,
                                 .uploads = &upload,
                                 .copies = &copy,
                                 .downloads = &download};
    if (vyre_buffer_create(w->device, &params, &a, &diag) != VYRE_OK ||
        vyre_buffer_create(w->device, &params, &b, &diag) != VYRE_OK) {
        w->failure = "create";
        return;
    }
    upload.buffer = copy.source = a;
    copy.target = download.buffer = b;
    if (vyre_transfer(w->device, &list, &diag) != VYRE_OK || memcmp(back, words, 128) != 0) {
        w->failure = "transfer";
    }
    if (round % 8 == 0) {
        (void)vyre_device_trim(w->device);
    }
    if (vyre_buffer_release(w->device, &a, &diag) != VYRE_OK ||
        vyre_buffer_destroy(w->device, &b, &diag) != VYRE_OK) {
        w->failure = "free";
    }
}

static void *run_worker(void *user)
{
    worker *w = user;
    for (uint32_t round = 0; round < ROUNDS && !w->failure; round++) {
        work_once(w, round);
    }
    return NULL;
}

static void test_threads_share_a_device(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = NULL; /* without the layer, which is for one thread */
    vyre_diag diag;
    assert_int_equal(vyre_device_create(NULL, &device, &diag), VYRE_OK);
    worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.device = device, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_null(workers[i].failure);
    }
    assert_int_equal(engine_counters(device).buffers, 0);
    vyre_device_destroy(&device);
}

/* ---- Freeing while in use -------------------------------------------------------------------- */

static struct {
    vyre_device *device;
    vyre_buffer buffer, copy;
    vyre_result destroyed, released;
    PFN_vkCmdCopyBuffer copy_buffer;
    int calls;
    bool releases;
} during;

/* What another thread may do while a transfer is recorded. */
static VKAPI_ATTR void VKAPI_CALL free_during_copy(VkCommandBuffer commands, VkBuffer source,
                                                   VkBuffer target, uint32_t count,
                                                   const VkBufferCopy *regions)
{
    vyre_diag diag;
    during.copy_buffer(commands, source, target, count, regions);
    during.calls++;
    during.destroyed = vyre_buffer_destroy(during.device, &during.buffer, &diag);
    if (during.releases) {
        during.released = vyre_buffer_release(during.device, &during.buffer, &diag);
    }
}

static void test_buffer_in_a_transfer_is_busy(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    uint32_t word = 9;
    for (int releases = 0; releases < 2; releases++) {
        memset(&during, 0, sizeof during);
        during.device = device;
        during.releases = releases;
        during.buffer = during.copy = make(device, 4, 0);
        uint64_t buffers = engine_counters(device).buffers;
        vyre_diag diag;
        during.copy_buffer = device->vk.vkCmdCopyBuffer;
        device->vk.vkCmdCopyBuffer = free_during_copy;
        assert_int_equal(vyre_buffer_upload(device, during.copy, 0, &word, 4, &diag), VYRE_OK);
        device->vk.vkCmdCopyBuffer = during.copy_buffer;
        assert_int_equal(during.calls, 1);
        assert_int_equal(during.destroyed, VYRE_ERROR_BUSY);
        if (releases) {
            /* Given up while in use, freed at the end of the use. */
            assert_int_equal(during.released, VYRE_OK);
            assert_int_equal(during.buffer.bits, 0);
            assert_int_equal(engine_counters(device).buffers, buffers - 1);
            assert_int_equal(vyre_buffer_upload(device, during.copy, 0, &word, 4, &diag),
                             VYRE_ERROR_INVALID_ARGUMENT);
        } else {
            assert_int_equal(during.buffer.bits, during.copy.bits);
            must_destroy(device, &during.buffer);
        }
    }
    engine_close(&device);
}

/* Released while the device works on it: the handle is gone at once, the memory later. */
static void test_release_waits_for_the_device(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    engine_program slow = engine_build(device, "program slow\nworkgroup 64\ninout a : u32[]\n"
                                               "kernel { var x : u32 = gid.x\n"
                                               "  for i in 0 .. 30000000 {\n"
                                               "    x = x * 1664525 + (x >> 3) }\n"
                                               "  a[0] = x }\n");
    vyre_buffer buffer = make(device, 4, 0), copy = buffer, none = {0};
    vyre_binding binding = engine_resident(buffer, 0, 1);
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = &binding;
    params.binding_count = 1;
    params.groups[0] = 1;
    params.timeout_ns = 1000;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(slow.pipeline, &params, NULL, &diag), VYRE_ERROR_TIMEOUT);
    uint64_t buffers = engine_counters(device).buffers;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(vyre_buffer_release(device, &buffer, &diag), VYRE_OK);
    assert_int_equal(buffer.bits, 0);
    assert_int_equal(vyre_buffer_release(device, &none, &diag), VYRE_OK);
    assert_int_equal(engine_counters(device).buffers, buffers);
    uint64_t size = 0;
    assert_int_equal(vyre_buffer_query_size(device, copy, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_release(device, &copy, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    engine_release(&slow);
    vyre_buffer next = make(device, 4, 0); /* collects */
    assert_int_equal(engine_counters(device).buffers, buffers);
    assert_int_not_equal(next.bits, copy.bits);
    assert_int_equal(vyre_buffer_query_size(device, copy, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    must_destroy(device, &next);
    engine_close(&device);
}

static void test_released_buffers_end_with_the_device(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    vyre_buffer kept = make(device, 64, 0), released = make(device, 64, 0);
    (void)kept;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_release(device, &released, &diag), VYRE_OK);
    assert_int_equal(engine_counters(device).buffers, 1); /* it was idle */
    engine_close(&device);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Everything that the calls of buffer.h do; stops at the first error. */
static vyre_result scenario(vyre_device *device, vyre_diag *diag)
{
    static const unsigned char bytes[100] = {1, 2, 3};
    unsigned char back[100], mapped[4];
    memset(back, 0xaa, sizeof back);
    vyre_buffer_params params = {.size = 100, .name = "first"};
    vyre_buffer a = {0}, b = {0};
    vyre_result code = vyre_buffer_create(device, &params, &a, diag);
    params.flags = VYRE_BUFFER_MAPPABLE;
    if (code == VYRE_OK) {
        code = vyre_buffer_create(device, &params, &b, diag);
    }
    if (code == VYRE_OK) {
        code = vyre_buffer_upload(device, a, 0, bytes, 100, diag);
    }
    if (code == VYRE_OK) {
        code = vyre_buffer_fill(device, b, 0, 40, 0x05050505, diag);
    }
    vyre_upload upload = {a, 50, 3, "xyz"};
    vyre_copy copy = {a, b, 0, 40, 60};
    vyre_download downloads[] = {{a, 0, 100, back}, {b, 38, 4, mapped}};
    vyre_transfer_params list = {.upload_count = 1,
                                 .copy_count = 1,
                                 .download_count = 2,
                                 .uploads = &upload,
                                 .copies = &copy,
                                 .downloads = downloads};
    if (code == VYRE_OK) {
        code = vyre_transfer(device, &list, diag);
        assert_int_equal(back[50], code == VYRE_OK ? 'x' : 0xaa);
    }
    if (code == VYRE_OK) {
        assert_int_equal(back[2], 3);
        assert_int_equal(mapped[1], 5);
        assert_int_equal(mapped[2], 1);
    }
    vyre_diag ignored;
    if (vyre_buffer_destroy(device, &a, &ignored) != VYRE_OK) {
        assert_int_equal(vyre_buffer_release(device, &a, &ignored), VYRE_OK);
    }
    if (vyre_buffer_destroy(device, &b, &ignored) != VYRE_OK) {
        assert_int_equal(vyre_buffer_release(device, &b, &ignored), VYRE_OK);
    }
    return code;
}

static void test_buffers_survive_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const VkResult failures[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                        VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN};
    for (size_t f = 0; f < 4; f++) {
        uint32_t n = 1;
        for (;; n++) {
            layer_reset();
            vyre_device *device = engine_open(0);
            vyre_diag diag;
            layer.fail_at = layer_fallible_calls() + n;
            layer.failure = failures[f];
            vyre_result code = scenario(device, &diag);
            const char *failed = layer_failed();
            layer.fail_at = 0;
            if (code != VYRE_OK) {
                assert_non_null(failed);
                assert_non_null(strstr(diag.message, "Fix: "));
                /* The device goes on unless it is lost. */
                assert_int_equal(scenario(device, &diag),
                                 code == VYRE_ERROR_DEVICE_LOST ? VYRE_ERROR_DEVICE_LOST : VYRE_OK);
            }
            assert_int_equal(engine_counters(device).buffers, 0);
            vyre_device_destroy(&device);
            assert_int_equal(layer_alive(), 0);
            if (!failed) {
                assert_int_equal(code, VYRE_OK);
                break;
            }
        }
        assert_true(n > 10);
    }
}

static void test_buffers_survive_each_failed_allocation(void **state)
{
    (void)state;
    NEED_DEVICE();
    uint32_t failures = 0;
    for (size_t n = 1;; n++) {
        layer_reset();
        vy_fail_allocator memory = {0, 0, 0, 0};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_device_params params;
        vyre_device_params_init(&params);
        params.allocator = &allocator;
        params.get_instance_proc_addr = layer_entry();
        vyre_device *device = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
        (void)vyre_device_trim(device); /* so that transfers are made anew */
        memory.fail_at = memory.calls + n;
        vyre_result code = scenario(device, &diag);
        bool has_failed = memory.calls >= memory.fail_at;
        memory.fail_at = 0;
        if (code != VYRE_OK) {
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(scenario(device, &diag), VYRE_OK);
            failures++;
        }
        vyre_device_destroy(&device);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(layer_alive(), 0);
        if (!has_failed) {
            break;
        }
    }
    assert_true(failures >= 3);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_buffer_flags_are_checked),         T(test_mapped_buffer_is_seen_both_ways),
        T(test_mapping_is_refused_by_name),       T(test_long_names_are_cut_at_a_character),
        T(test_threads_share_a_device),           T(test_buffer_in_a_transfer_is_busy),
        T(test_release_waits_for_the_device),     T(test_released_buffers_end_with_the_device),
        T(test_buffers_survive_each_failed_call), T(test_buffers_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

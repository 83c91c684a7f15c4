/* Opening devices: choice, messages, what is missing, bad devices, buffers and their handles. */
#include "engine/device/device.h"
#include "tests/engine/fake_machine.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static vyre_result try_open(const char *name, vyre_device **device, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_OFF;
    params.name = name;
    return vyre_device_create(&params, device, diag);
}

/* ---- Decisions, without a device ------------------------------------------------------------- */

static vy_snapshot good_snapshot(void)
{
    vy_snapshot s = {.info = {.name = "Fast Card",
                              .type = VYRE_DEVICE_DISCRETE,
                              .index = 2,
                              .api_version = VK_API_VERSION_1_3,
                              .offset_alignment = 4,
                              .max_workgroup_invocations = 1024,
                              .max_shared_size = 49152,
                              .max_storage_buffers = 64,
                              .max_push_constants_size = 256,
                              .timestamp_ns = 1},
                     .queue_family = 0,
                     .timestamp_bits = 64};
    memset(s.has, 1, sizeof s.has);
    return s;
}

static void test_snapshot_chooses_the_target(void **state)
{
    (void)state;
    vy_snapshot s = good_snapshot();
    vy_snapshot_decide(&s, VK_API_VERSION_1_3);
    assert_int_equal(s.info.target, VYRE_TARGET_VULKAN_1_3);
    assert_string_equal(s.info.missing, "");
    assert_int_equal(s.info.offset_alignment, 16);
    vy_snapshot_decide(&s, VK_API_VERSION_1_2);
    assert_int_equal(s.info.target, VYRE_TARGET_VULKAN_1_2);
    s.has[VY_FEATURE_vulkanMemoryModelDeviceScope] = false;
    vy_snapshot_decide(&s, VK_API_VERSION_1_3);
    assert_int_equal(s.info.target, VYRE_TARGET_VULKAN_1_2);
    s = good_snapshot();
    s.signed_zero_inf_nan = s.rounding_rte = true;
    vy_snapshot_decide(&s, VK_API_VERSION_1_3);
    assert_int_equal(s.info.float_modes,
                     VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE | VYRE_FLOAT_ROUNDING_RTE);
    s.timestamp_bits = 0;
    vy_snapshot_decide(&s, VK_API_VERSION_1_3);
    assert_true(s.info.timestamp_ns == 0);
    static const char debug[] = "VK_KHR_shader_non_semantic_info";
    assert_true(vy_snapshot_has(&s, debug)); /* as Vulkan 1.3 has it */
    vy_snapshot_decide(&s, VK_API_VERSION_1_2);
    assert_false(vy_snapshot_has(&s, debug));
    s.has_extension[VY_EXTENSION_KHR_shader_non_semantic_info] = true;
    vy_snapshot_decide(&s, VK_API_VERSION_1_2);
    assert_true(vy_snapshot_has(&s, debug));
}

static void test_snapshot_names_everything_missing(void **state)
{
    (void)state;
    vy_snapshot s = good_snapshot();
    s.info.api_version = VK_API_VERSION_1_1;
    s.has[VY_FEATURE_timelineSemaphore] = false;
    s.queue_family = VY_FAMILY_NONE;
    vy_snapshot_decide(&s, VK_API_VERSION_1_3);
    assert_non_null(strstr(s.info.missing, "Vulkan 1.2 (it has 1.1)"));
    assert_non_null(strstr(s.info.missing, "timelineSemaphore"));
    assert_non_null(strstr(s.info.missing, "VK_QUEUE_COMPUTE_BIT"));
    assert_int_equal(vy_snapshot_score(&s), 0);
}

static void test_snapshot_scores_and_names(void **state)
{
    (void)state;
    static const vyre_device_type order[] = {VYRE_DEVICE_OTHER, VYRE_DEVICE_PROCESSOR,
                                             VYRE_DEVICE_VIRTUAL, VYRE_DEVICE_INTEGRATED,
                                             VYRE_DEVICE_DISCRETE};
    vy_snapshot s = good_snapshot();
    uint32_t last = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        s.info.type = order[i];
        assert_true(vy_snapshot_score(&s) > last);
        last = vy_snapshot_score(&s);
    }
    assert_true(vy_snapshot_is_named(&s, NULL));
    assert_true(vy_snapshot_is_named(&s, "fast"));
    assert_true(vy_snapshot_is_named(&s, "2"));
    assert_false(vy_snapshot_is_named(&s, "3"));
    assert_false(vy_snapshot_is_named(&s, "slow"));
    assert_false(vy_snapshot_is_named(&s, "Fast Card!"));
    assert_true(vy_snapshot_has(&s, "shaderInt64"));
    assert_false(vy_snapshot_has(&s, "VK_EXT_memory_budget"));
    assert_false(vy_snapshot_has(&s, "noSuchFeature"));
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void test_messages_are_allowed_by_id_and_text(void **state)
{
    (void)state;
    assert_non_null(vy_message_allowed("WARNING-GPU-Assisted-Validation",
                                       "vkCreateDevice(): Internal Warning: Forcing x to VK_TRUE"));
    assert_null(vy_message_allowed("WARNING-GPU-Assisted-Validation", "out of bounds access"));
    assert_null(vy_message_allowed("VUID-vkCmdDispatch-None-02706", "Internal Warning: "));
    assert_non_null(
        vy_message_allowed("UNASSIGNED-VkSemaphore-state-timeout",
                           "Timeout waiting for timeline semaphore state to update. "
                           "This is most likely a validation bug. completed_.payload=2"));
    assert_null(vy_message_allowed("UNASSIGNED-VkSemaphore-state-timeout", "anything else"));
    assert_non_null(vy_message_allowed("WARNING-DEBUG-PRINTF",
                                       "vkCreateDevice(): Internal Warning: Forcing x to VK_TRUE"));
    assert_null(vy_message_allowed("WARNING-DEBUG-PRINTF", "anything else"));
    assert_non_null(vy_message_allowed("VALIDATION-SETTINGS",
                                       "vkCreateInstance(): DebugPrintf logs to the Information "
                                       "message severity, enabling Information level logging"));
    assert_null(vy_message_allowed("", ""));
}

static void test_device_opens_and_tells_about_itself(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_true(info.name[0] && info.driver[0]);
    assert_true(info.api_version >= VK_API_VERSION_1_2);
    assert_int_equal(info.long_loops, VYRE_ANSWER_YES);
    assert_int_not_equal(info.denormals, VYRE_ANSWER_UNKNOWN);
    assert_int_equal(info.is_adopted, 0);
    assert_int_equal(info.validation,
                     engine_validates() ? VYRE_VALIDATION_ON : VYRE_VALIDATION_OFF);
    assert_true(info.max_workgroup_invocations >= 128);
    char text[8192], small[20];
    size_t length = vyre_device_describe(device, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, info.name));
    assert_non_null(strstr(text, "maxStorageBufferRange"));
    assert_int_equal(vyre_device_describe(device, small, sizeof small), length);
    assert_int_equal(strlen(small), sizeof small - 1);
    assert_int_equal(vyre_device_describe(device, NULL, 0), length);
    vyre_kernel_params params;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.target, info.target);
    assert_int_equal(params.float_modes, info.float_modes);
    engine_close(&device);
    vyre_device_destroy(&device);
    vyre_device_destroy(NULL);
}

static void test_device_list_agrees_with_create(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    vyre_device_info infos[8];
    uint32_t count = 0, none = 0;
    vyre_diag diag;
    assert_int_equal(vyre_device_list(&params, infos, 8, &count, &diag), VYRE_OK);
    assert_in_range(count, 1, 8);
    assert_int_equal(vyre_device_list(&params, NULL, 0, &none, &diag), VYRE_OK);
    assert_int_equal(none, count);
    for (uint32_t i = 0; i < count; i++) {
        char number[12];
        snprintf(number, sizeof number, "%u", i);
        assert_int_equal(infos[i].index, i);
        vyre_device *device = NULL;
        if (infos[i].missing[0] == 0 && try_open(number, &device, &diag) == VYRE_OK) {
            vyre_device_info info;
            vyre_device_get_info(device, &info);
            assert_string_equal(info.name, infos[i].name);
            vyre_device_destroy(&device);
        }
    }
}

static void expect_refused(const char *name, vyre_result result, const char *says)
{
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(try_open(name, &device, &diag), result);
    assert_null(device);
    if (!strstr(diag.message, says) || !strstr(diag.message, "Fix: ")) {
        fail_msg("says: %s", diag.message);
    }
    assert_int_equal(layer_alive(), 0);
}

static void test_device_refuses_by_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    expect_refused("no such card", VYRE_ERROR_NO_DEVICE, "no such card");
    expect_refused("99", VYRE_ERROR_NO_DEVICE, "99");
    layer.no_devices = true;
    expect_refused(NULL, VYRE_ERROR_NO_DEVICE, "no Vulkan device");
    layer.no_devices = false;
    layer.no_timeline = true;
    expect_refused(NULL, VYRE_ERROR_UNSUPPORTED_FEATURE, "timelineSemaphore");
    layer.no_timeline = false;
    layer.vulkan_1_1 = true;
    expect_refused(NULL, VYRE_ERROR_UNSUPPORTED_FEATURE, "Vulkan 1.2 (it has 1.1)");
}

static void test_device_with_wrong_loops_is_refused(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.skip_dispatches = true; /* as good as a loop that ends early */
    vyre_device_params params;
    vyre_device_params_init(&params);
    vyre_device_info first;
    uint32_t count = 0;
    vyre_diag diag;
    assert_int_equal(vyre_device_list(&params, &first, 1, &count, &diag), VYRE_OK);
    expect_refused(first.type == VYRE_DEVICE_PROCESSOR ? "llvmpipe" : NULL, VYRE_ERROR_NO_DEVICE,
                   first.type == VYRE_DEVICE_PROCESSOR ? "Mesa 25.0.7" : "loop of 70000 trips");
}

static void test_device_runs_under_gpu_assisted_validation(void **state)
{
    (void)state;
    NEED_DEVICE();
    if (!engine_validates()) {
        return;
    }
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_GPU_ASSISTED;
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
    engine_program p = engine_build(device, "program one\nworkgroup 64\ngrid over a\n"
                                            "inout a : u32[]\n"
                                            "kernel { a[gid.x + 1] = 7 }\n");
    uint32_t a[100] = {0};
    vyre_binding bindings[] = {engine_host_inout(a, 100)};
    (void)engine_run(&p, bindings, 1, NULL, 0, 0, 0);
    assert_int_equal(a[99], 7);
    engine_release(&p);
    engine_close(&device);
}

/* Another memory type had room, or the device is one without calibrated clocks. */
static bool may_be_survived(const char *name)
{
    return strcmp(name, "vkAllocateMemory") == 0 || strcmp(name, "vkBindBufferMemory") == 0 ||
           strcmp(name, "vkMapMemory") == 0 ||
           strcmp(name, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT") == 0;
}

static void fail_create(uint32_t n, VkResult result, vyre_result expected)
{
    vyre_device *device = NULL;
    vyre_diag diag;
    layer_reset();
    layer.fail_at = n;
    layer.failure = result;
    vyre_result code = try_open(NULL, &device, &diag);
    assert_non_null(layer_failed());
    if (code == VYRE_OK && !may_be_survived(layer_failed())) {
        fail_msg("%s number %u failed and nobody noticed", layer_failed(), n);
    }
    assert_int_equal(device != NULL, code == VYRE_OK);
    vyre_device_destroy(&device);
    /* VMA tells the last failure of those types of memory that it tried. */
    bool is_memory = code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY &&
                     (strcmp(layer_failed(), "vkAllocateMemory") == 0 ||
                      strcmp(layer_failed(), "vkMapMemory") == 0);
    /* A pipeline that cannot be compiled is told as that. */
    if (code != VYRE_OK && code != expected && !is_memory &&
        code != VYRE_ERROR_KERNEL_COMPILE_FAILED) {
        fail_msg("%s gave %s: %s", layer_failed(), vyre_result_name(code), diag.message);
    }
    if (layer_alive() != 0) {
        fail_msg("%d objects stayed after %s number %u", (int)layer_alive(), layer_failed(), n);
    }
}

/* The first of each command with every result, the others with one in turn: opening takes some
 * drivers a second. */
static void test_device_create_survives_each_failure(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        VkResult given;
        vyre_result expected;
    } rows[] = {{VK_ERROR_OUT_OF_HOST_MEMORY, VYRE_ERROR_OUT_OF_HOST_MEMORY},
                {VK_ERROR_OUT_OF_DEVICE_MEMORY, VYRE_ERROR_DEVICE_OUT_OF_MEMORY},
                {VK_ERROR_DEVICE_LOST, VYRE_ERROR_DEVICE_LOST},
                {VK_ERROR_INITIALIZATION_FAILED, VYRE_ERROR_NO_DEVICE},
                {VK_ERROR_UNKNOWN, VYRE_ERROR_DISPATCH_FAILED}};
    enum { ROWS = sizeof rows / sizeof *rows, MOST = 1000 };
    static const layer_command_errors *calls[MOST];
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(try_open(NULL, &device, &diag), VYRE_OK);
    vyre_device_destroy(&device);
    uint32_t count = layer_fallible_list(calls, MOST);
    assert_true(count > 20 && count <= MOST);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0;
        while (calls[first] != calls[i]) {
            first++;
        }
        for (uint32_t r = 0; r < ROWS; r++) {
            if (first == i || i % ROWS == r) {
                fail_create(i + 1, rows[r].given, rows[r].expected);
            }
        }
    }
    layer_reset();
}

/* An allocator that fails its n-th call, and counts what is out. */
typedef struct counting {
    uint32_t calls, fail_at;
    int64_t live_size;
} counting;

static void *count_memory(void *user, void *old, size_t old_size, size_t new_size)
{
    counting *c = user;
    if (new_size == 0) {
        free(old);
        c->live_size -= (int64_t)old_size;
        return NULL;
    }
    if (++c->calls == c->fail_at) {
        return NULL;
    }
    void *memory = realloc(old, new_size);
    c->live_size += memory ? (int64_t)new_size - (int64_t)old_size : 0;
    return memory;
}

static void test_device_create_survives_each_failed_allocation(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (uint32_t n = 1; n < 1000; n++) {
        layer_reset();
        counting c = {0, n, 0};
        vyre_allocator allocator = {&c, count_memory};
        vyre_device_params params;
        vyre_device_params_init(&params);
        params.get_instance_proc_addr = layer_entry();
        params.allocator = &allocator;
        vyre_device *device = NULL;
        vyre_diag diag;
        vyre_result code = vyre_device_create(&params, &device, &diag);
        vyre_buffer buffer = {0};
        if (code == VYRE_OK) {
            vyre_buffer_params b = {.size = 1000};
            code = vyre_buffer_create(device, &b, &buffer, &diag);
        }
        vyre_device_destroy(&device);
        assert_int_equal(c.live_size, 0);
        assert_int_equal(layer_alive(), 0);
        if (code == VYRE_OK) {
            assert_true(n > 5);
            return;
        }
        assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
    }
    fail_msg("the allocator never succeeded");
}

static void test_device_many_live_side_by_side(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *devices[3] = {NULL, NULL, NULL};
    vyre_diag diag;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            assert_int_equal(try_open(NULL, &devices[i], &diag), VYRE_OK);
        }
        vyre_buffer buffer = engine_buffer(devices[0], 16, NULL);
        uint64_t size = 0;
        assert_int_equal(vyre_buffer_query_size(devices[1], buffer, &size, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "another device"));
        for (int i = 0; i < 3; i++) {
            vyre_device_destroy(&devices[i]);
        }
    }
}

/* Validation must be on and counted: a wrong call through an exported buffer is one. */
static uint32_t messages;
static char last_id[256];

static void note_message(void *user, const vyre_log_message *message)
{
    (void)user;
    if (message->is_failure) {
        messages++;
        snprintf(last_id, sizeof last_id, "%s", message->id);
    }
}

static void test_device_counts_validation_messages(void **state)
{
    (void)state;
    NEED_DEVICE();
    if (!engine_validates()) {
        return;
    }
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_ON;
    params.log = note_message;
    messages = 0;
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
    assert_int_equal(vyre_device_validation_failures(device), 0);
    /* Larger workgroups than the device has, since the limit is forged. */
    engine_program add = engine_build(device, "program big\nworkgroup 64\ngrid over y\n"
                                              "out y : u32[]\n"
                                              "kernel { y[gid.x] = 1 }\n");
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    engine_release(&add);
    vyre_device_destroy(&device);
    assert_int_equal(messages, 0);
    layer.max_range = 0xffffffff; /* what the layer says, and the driver does not */
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
    if (info.max_storage_range < 0xffffffff && info.max_storage_range < (uint64_t)1 << 28) {
        engine_program program = engine_build(device, "program huge\nworkgroup 1\n"
                                                      "inout y : u32[]\nkernel { y[0] = 1 }\n");
        vyre_buffer_params b = {.size = info.max_storage_range + 4096,
                                .flags = VYRE_BUFFER_UNINITIALIZED};
        vyre_buffer buffer;
        assert_int_equal(vyre_buffer_create(device, &b, &buffer, &diag), VYRE_OK);
        vyre_binding binding[] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED)};
        (void)engine_run(&program, binding, 1, NULL, 0, 1, 0);
        assert_true(vyre_device_validation_failures(device) > 0);
        assert_int_equal(vyre_device_validation_failures(device), messages);
        assert_non_null(strstr(last_id, "VUID"));
        engine_release(&program);
    }
    vyre_device_destroy(&device);
}

/* ---- Parameters and the environment ---------------------------------------------------------- */

static vyre_device *open_fake(const vyre_device_params *given)
{
    vyre_device_params params = *given;
    params.get_instance_proc_addr = fake_entry();
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

static void test_device_reads_the_environment_where_the_parameters_say_nothing(void **state)
{
    (void)state;
    fake_machine_reset();
    vyre_device_params params;
    vyre_device_params_init(&params);
    vyre_device *device = open_fake(&params);
    assert_int_equal(device->debug, 0);
    assert_null(device->cache_dir);
    assert_false(device->has_driver_thread);
    assert_int_equal(device->memory_limit, 0);
    vyre_device_destroy(&device);
    assert_int_equal(setenv("VYRE_DEBUG", "breadcrumbs,nonsense,labels", 1), 0);
    assert_int_equal(setenv("VYRE_CACHE_DIR", "/from/environment", 1), 0);
    params.debug = VYRE_DEBUG_TRACE;
    params.driver_thread = 1;
    params.memory_limit = 1u << 20;
    device = open_fake(&params);
    assert_int_equal(device->debug, VYRE_DEBUG_BREADCRUMBS | VYRE_DEBUG_LABELS | VYRE_DEBUG_TRACE);
    assert_string_equal(device->cache_dir, "/from/environment");
    assert_true(device->has_driver_thread);
    assert_int_equal(device->memory_limit, 1u << 20);
    vyre_device_destroy(&device);
    params.cache_dir = "/from/parameters";
    device = open_fake(&params);
    assert_string_equal(device->cache_dir, "/from/parameters");
    vyre_device_destroy(&device);
    params.cache_dir = "";
    device = open_fake(&params);
    assert_null(device->cache_dir);
    vyre_device_destroy(&device);
    assert_int_equal(unsetenv("VYRE_DEBUG"), 0);
    assert_int_equal(unsetenv("VYRE_CACHE_DIR"), 0);
    assert_int_equal(fake_alive(), 0);
}

static void test_device_params_of_newer_headers_are_judged(void **state)
{
    (void)state;
    fake_machine_reset();
    struct {
        vyre_device_params params;
        uint64_t more;
    } newer = {{.struct_size = sizeof newer, .get_instance_proc_addr = fake_entry()}, 0};
    vyre_device *device = NULL;
    vyre_diag diag;
    uint32_t count = 0;
    assert_int_equal(vyre_device_create(&newer.params, &device, &diag), VYRE_OK);
    vyre_device_destroy(&device);
    newer.more = 5;
    assert_int_equal(vyre_device_create(&newer.params, &device, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "vyre_device_params has"));
    assert_int_equal(vyre_device_list(&newer.params, NULL, 0, &count, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(fake_alive(), 0);
}

static void test_device_enables_what_is_there(void **state)
{
    (void)state;
    fake_machine_reset();
    fake.extensions[0] = "VK_EXT_device_fault";
    fake.extensions[1] = "VK_EXT_calibrated_timestamps";
    fake.extensions[2] = "VK_KHR_portability_subset";
    fake.timestamp_bits = 36;
    vyre_device_params params;
    vyre_device_params_init(&params);
    vyre_device *device = open_fake(&params);
    for (int i = 0; i < 3; i++) {
        assert_true(fake_enabled(fake.extensions[i]));
    }
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_int_equal(info.has_device_fault, 1);
    assert_int_equal(info.has_calibrated_timestamps, 1);
    assert_int_equal(info.has_memory_budget, 0);
    assert_int_equal(info.has_addresses, 0);
    assert_int_equal(info.mappable_memory_size, 0); /* its own memory is not the host's */
    assert_int_equal(info.device_memory_size, 1u << 30);
    assert_int_equal(vy_ticks_to_ns(device, ((uint64_t)1 << 36) - 1, 1), 2);
    char text[8192];
    (void)vyre_device_describe(device, text, sizeof text);
    assert_non_null(strstr(text, "VK_EXT_device_fault              yes"));
    assert_non_null(strstr(text, "VK_EXT_memory_budget             no"));
    vyre_device_destroy(&device);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void test_buffer_moves_bytes(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    static const uint64_t sizes[] = {1, 3, 4, 63, 64, 65, 924, 70000, (uint64_t)40 << 20};
    vyre_diag diag;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = (size_t)sizes[i];
        unsigned char *from = malloc(size + 1), *to = malloc(size + 1);
        vyre_buffer buffer = engine_buffer(device, size, NULL);
        memset(to, 1, size + 1);
        assert_int_equal(vyre_buffer_download(device, buffer, 0, to, size, &diag), VYRE_OK);
        for (size_t j = 0; j < size; j++) {
            from[j] = (unsigned char)(j * 7 + i);
            assert_int_equal(to[j], 0);
        }
        assert_int_equal(to[size], 1);
        assert_int_equal(vyre_buffer_upload(device, buffer, 0, from, size, &diag), VYRE_OK);
        assert_int_equal(vyre_buffer_download(device, buffer, 0, to, size, &diag), VYRE_OK);
        assert_memory_equal(from, to, size);
        if (size > 8) {
            assert_int_equal(vyre_buffer_fill(device, buffer, 4, 4, 0x01020304, &diag), VYRE_OK);
            assert_int_equal(vyre_buffer_upload(device, buffer, 1, "x", 1, &diag), VYRE_OK);
            assert_int_equal(vyre_buffer_download(device, buffer, 1, to, 8, &diag), VYRE_OK);
            assert_int_equal(to[0], 'x');
            assert_int_equal(to[1], from[2]);
            assert_int_equal(to[3], 4);
            assert_int_equal(to[6], 1);
            assert_int_equal(to[7], from[8]);
        }
        assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
        free(from);
        free(to);
    }
    engine_close(&device);
}

static void test_buffer_ranges_are_checked(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_buffer buffer = engine_buffer(device, 100, NULL), empty = engine_buffer(device, 0, NULL);
    vyre_diag diag;
    char bytes[16] = {0};
    assert_int_equal(vyre_buffer_upload(device, buffer, 90, bytes, 11, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "100"));
    assert_int_equal(vyre_buffer_upload(device, buffer, UINT64_MAX, bytes, 2, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_download(device, buffer, 101, bytes, 0, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_download(device, buffer, 100, NULL, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_fill(device, buffer, 2, 4, 0, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_fill(device, empty, 0, 0, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_upload(device, empty, 0, bytes, 1, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_destroy(device, &empty, &diag), VYRE_OK);
    vyre_buffer_params huge = {.size = (uint64_t)1 << 60};
    vyre_buffer none;
    vyre_result code = vyre_buffer_create(device, &huge, &none, &diag);
    assert_true(code == VYRE_ERROR_INVALID_ARGUMENT || code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_non_null(strstr(diag.message, "1152921504606846976"));
    assert_int_equal(none.bits, 0);
    vyre_device_destroy(&device); /* takes the buffer that is left with it */
}

static void test_buffer_handles_go_stale(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_diag diag;
    vyre_buffer old[600];
    for (int i = 0; i < 600; i++) {
        old[i] = engine_buffer(device, 0, NULL);
        vyre_buffer again = old[i];
        assert_int_equal(vyre_buffer_destroy(device, &again, &diag), VYRE_OK);
        assert_int_equal(again.bits, 0);
        assert_int_equal(vyre_buffer_destroy(device, &again, &diag), VYRE_OK);
    }
    vyre_buffer now = engine_buffer(device, 64, NULL);
    uint64_t size = 0;
    for (int i = 0; i < 600; i++) {
        assert_int_equal(vyre_buffer_query_size(device, old[i], &size, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_not_equal(old[i].bits, now.bits);
    }
    assert_non_null(strstr(diag.message, "was destroyed"));
    assert_int_equal(vyre_buffer_query_size(device, now, &size, &diag), VYRE_OK);
    assert_int_equal(size, 64);
    vyre_buffer wild = {now.bits + 1000};
    assert_int_equal(vyre_buffer_query_size(device, wild, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_device_destroy(&device);
}

static void test_buffer_memory_is_suballocated_and_given_back(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_buffer buffers[500];
    vyre_device_counters before, during, after;
    vyre_diag diag;
    buffers[0] = engine_buffer(device, 1000, NULL);
    vyre_device_get_counters(device, &before);
    for (int i = 1; i < 500; i++) {
        buffers[i] = engine_buffer(device, 1000, NULL);
    }
    vyre_device_get_counters(device, &during);
    assert_int_equal(during.buffers, 500);
    assert_true(during.memory_allocations <= before.memory_allocations + 1);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(vyre_buffer_destroy(device, &buffers[i], &diag), VYRE_OK);
    }
    vyre_device_get_counters(device, &after);
    assert_int_equal(after.buffers, 0);
    vyre_device_destroy(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_snapshot_chooses_the_target),
        T(test_snapshot_names_everything_missing),
        T(test_snapshot_scores_and_names),
        T(test_messages_are_allowed_by_id_and_text),
        T(test_device_opens_and_tells_about_itself),
        T(test_device_list_agrees_with_create),
        T(test_device_refuses_by_name),
        T(test_device_with_wrong_loops_is_refused),
        T(test_device_runs_under_gpu_assisted_validation),
        T(test_device_create_survives_each_failure),
        T(test_device_create_survives_each_failed_allocation),
        T(test_device_many_live_side_by_side),
        T(test_device_counts_validation_messages),
        T(test_device_reads_the_environment_where_the_parameters_say_nothing),
        T(test_device_params_of_newer_headers_are_judged),
        T(test_device_enables_what_is_there),
        T(test_buffer_moves_bytes),
        T(test_buffer_ranges_are_checked),
        T(test_buffer_handles_go_stale),
        T(test_buffer_memory_is_suballocated_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

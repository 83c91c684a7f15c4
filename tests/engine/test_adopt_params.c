/* What a host enables, what the library then says and uses, and the rest of the adoption's
 * parameters; most of it on the tests' own Vulkan, which can be any device. */
#include "engine/device/device.h"
#include "tests/engine/fake_machine.h"
#include "tests/support/engine_run.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/host_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- What a host enables --------------------------------------------------------------------- */

static int open_nothing(void **state)
{
    (void)state;
    layer_reset();
    fake_machine_reset();
    return 0;
}

static int close_nothing(void **state)
{
    (void)state;
    assert_int_equal(layer_alive(), 0);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
    return 0;
}

static void run_program(vyre_device *device)
{
    engine_program p = engine_build(device, "program sums\nworkgroup 4\ngrid over x\n"
                                            "in x : u32[]\nout y : u32[len(x)]\n"
                                            "scratch s : u32[len(x)]\n"
                                            "kernel { s[gid.x] = x[gid.x] * 2\n"
                                            "  grid_sync\n"
                                            "  y[gid.x] = s[gid.x] + s[len(x) - 1 - gid.x] }\n");
    uint32_t x[10], y[10] = {0};
    for (uint32_t i = 0; i < 10; i++) {
        x[i] = i * i;
    }
    vyre_binding bindings[] = {
        engine_host_in(x, 10), engine_host_out(y, 10), {.kind = VYRE_BINDING_NONE}};
    (void)engine_run(&p, bindings, 3, NULL, 0, 0, 0);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(y[i], 2 * (x[i] + x[9 - i]));
    }
    engine_release(&p);
}

static void adopt_and_run(vyre_vulkan_entry entry, host_enables enables, vyre_device_info *out_info)
{
    host_device host;
    host_device_open(&host, entry, enables, 0);
    vyre_device *device = host_device_adopt(&host);
    vyre_device_get_info(device, out_info);
    run_program(device);
    vyre_device_destroy(&device);
    host_device_close(&host);
}

static void test_adopt_runs_on_what_the_library_asks_for(void **state)
{
    (void)state;
    vyre_device_info info;
    adopt_and_run(fake_entry(), HOST_ENABLES_SETUP, &info);
    adopt_and_run(fake_entry(), HOST_ENABLES_REQUIRED, &info);
    if (engine_has_no_device()) {
        return;
    }
    adopt_and_run(layer_entry(), HOST_ENABLES_SETUP, &info);
    /* An own device has the same. */
    vyre_device_info own;
    vyre_device *device = engine_open(0);
    vyre_device_get_info(device, &own);
    engine_close(&device);
    assert_int_equal(info.target, own.target);
    assert_int_equal(info.has_addresses, own.has_addresses);
    assert_int_equal(info.has_calibrated_timestamps, own.has_calibrated_timestamps);
    assert_int_equal(info.has_memory_budget, own.has_memory_budget);
    assert_int_equal(info.has_device_fault, own.has_device_fault);
    assert_int_equal(info.mappable_memory_size, own.mappable_memory_size);
    adopt_and_run(layer_entry(), HOST_ENABLES_REQUIRED, &info);
    assert_int_equal(info.target, VYRE_TARGET_VULKAN_1_2);
    assert_int_equal(info.has_addresses, 0);
    assert_int_equal(info.has_memory_budget, 0);
}

static void expect_missing(host_device *host, const char *const *parts)
{
    vyre_adopt_params params = host_device_params(host);
    vyre_device *device = NULL;
    vyre_diag diag;
    uint32_t alive = fake_alive();
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_null(device);
    assert_int_equal(fake_alive(), alive);
    for (; *parts; parts++) {
        if (!strstr(diag.message, *parts)) {
            fail_msg("%s is not in: %s", *parts, diag.message);
        }
    }
}

static void test_adopt_names_all_that_is_missing_at_once(void **state)
{
    (void)state;
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_NOTHING, 0);
    expect_missing(
        &host, (const char *const[]){"timelineSemaphore", "vyre_device_fill_setup", "Fix: ", NULL});
    /* The device of that host is worse than it said when the host asked. */
    fake.api_version = VK_API_VERSION_1_1;
    fake.no_compute = true;
    expect_missing(&host, (const char *const[]){"Vulkan 1.2 (it has 1.1)", "timelineSemaphore",
                                                "VK_QUEUE_COMPUTE_BIT", NULL});
    fake.api_version = 0;
    fake.push_size = 64;
    fake.extensions[0] = "VK_KHR_portability_subset";
    expect_missing(&host, (const char *const[]){"timelineSemaphore", "VK_QUEUE_COMPUTE_BIT",
                                                "VK_KHR_portability_subset",
                                                "maxPushConstantsSize of 128 (it has 64)", NULL});
    host_device_close(&host);
}

static void test_setup_names_all_that_the_device_lacks(void **state)
{
    (void)state;
    host_device host;
    vyre_device_setup setup;
    vyre_diag diag;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    fake.no_features = fake.no_compute = true;
    fake.push_size = 64;
    assert_int_equal(vyre_device_fill_setup(host.instance, host.physical, VK_API_VERSION_1_3,
                                            host.get, &setup, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "timelineSemaphore"));
    assert_non_null(strstr(diag.message, "VK_QUEUE_COMPUTE_BIT"));
    assert_non_null(strstr(diag.message, "maxPushConstantsSize"));
    assert_int_equal(
        vyre_device_fill_setup(host.instance, NULL, VK_API_VERSION_1_3, host.get, &setup, &diag),
        VYRE_ERROR_INVALID_ARGUMENT);
    host_device_close(&host);
}

static void test_setup_enables_each_extension_that_is_used(void **state)
{
    (void)state;
    static const char *const names[] = {"VK_EXT_memory_budget",         "VK_KHR_push_descriptor",
                                        "VK_EXT_calibrated_timestamps", "VK_EXT_device_fault",
                                        "VK_KHR_portability_subset",    "VK_EXT_of_no_use"};
    for (size_t i = 0; i < 6; i++) {
        fake.extensions[i] = names[i];
    }
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    for (size_t i = 0; i < 5; i++) {
        assert_true(fake_enabled(names[i]));
    }
    assert_false(fake_enabled(names[5]));
    vyre_device *device = host_device_adopt(&host);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_int_equal(info.has_calibrated_timestamps, 1);
    assert_int_equal(info.has_memory_budget, 1);
    assert_int_equal(info.has_device_fault, 1);
    assert_int_equal(device->snapshot.max_push_descriptors, 32);
    assert_true(device->vk.vkCmdPushDescriptorSetKHR != NULL);
    vyre_device_destroy(&device);
    /* What the host did not list is off, and its functions are not even looked for. */
    vyre_adopt_params params = host_device_params(&host);
    static const char *const subset[] = {"VK_KHR_portability_subset"};
    params.extensions = subset;
    params.extension_count = 1;
    vyre_diag diag;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_OK);
    vyre_device_get_info(device, &info);
    assert_int_equal(info.has_calibrated_timestamps, 0);
    assert_int_equal(info.has_memory_budget, 0);
    assert_int_equal(info.has_device_fault, 0);
    assert_int_equal(device->snapshot.max_push_descriptors, 0);
    assert_true(device->vk.vkCmdPushDescriptorSetKHR == NULL);
    assert_true(device->vk.vkGetDeviceFaultInfoEXT == NULL);
    vyre_device_destroy(&device);
    /* The fault extension without its feature is of no use. */
    params = host_device_params(&host);
    params.features = &host.features;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_OK);
    assert_true(device->vk.vkGetDeviceFaultInfoEXT == NULL);
    assert_true(device->vk.vkCmdPipelineBarrier2 == NULL); /* nor is the feature on */
    vyre_device_destroy(&device);
    host_device_close(&host);
}

/* ---- The other parameters -------------------------------------------------------------------- */

static void no_log(void *user, const vyre_log_message *message)
{
    (void)message;
    ++*(uint32_t *)user;
}

static void test_adopt_never_reads_the_environment(void **state)
{
    (void)state;
    static const char *const names[] = {"VYRE_DEBUG", "VYRE_CACHE_DIR", "VYRE_LOG", "VYRE_VALIDATE",
                                        "VYRE_DEVICE"};
    static const char *const values[] = {"trace,labels,serialize,breadcrumbs", "/nowhere", "debug",
                                         "1", "no such device"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(setenv(names[i], values[i], 1), 0);
    }
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    vyre_adopt_params params = host_device_params(&host);
    uint32_t messages = 0;
    params.log = no_log;
    params.log_user = &messages;
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_OK);
    assert_int_equal(device->debug, 0);
    assert_null(device->cache_dir);
    assert_int_equal(device->log.level, VYRE_LOG_WARNING);
    assert_int_equal(device->validation, VYRE_VALIDATION_DEFAULT);
    run_program(device);
    assert_int_equal(messages, 0);
    vyre_device_destroy(&device);
    host_device_close(&host);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(unsetenv(names[i]), 0);
    }
}

static VkResult create_none(void *user, const VkBufferCreateInfo *info, vyre_memory_use use,
                            vyre_allocated_buffer *out)
{
    (void)user;
    (void)info;
    (void)use;
    (void)out;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void destroy_none(void *user, const vyre_allocated_buffer *buffer)
{
    (void)user;
    (void)buffer;
}

static void test_adopt_takes_its_parameters(void **state)
{
    (void)state;
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    VkPipelineCache cache = VK_NULL_HANDLE;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    ((PFN_vkCreatePipelineCache)host_device_find(&host, "vkCreatePipelineCache"))(
        host.device, &info, NULL, &cache);
    uint32_t alive = fake_alive();
    vyre_adopt_params params = host_device_params(&host);
    char dir[] = "/some/folder";
    params.debug = VYRE_DEBUG_LABELS;
    params.driver_thread = 1;
    params.memory_limit = 12345678;
    params.cache_dir = dir;
    params.pipeline_cache = cache;
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_OK);
    dir[1] = 'x';
    assert_string_equal(device->cache_dir, "/some/folder");
    assert_int_equal(device->debug, VYRE_DEBUG_LABELS);
    assert_true(device->has_driver_thread);
    assert_int_equal(device->memory_limit, 12345678);
    assert_true(device->pipeline_cache == cache);
    assert_false(device->has_memory_callbacks);
    vyre_device_destroy(&device);
    assert_int_equal(fake_alive(), alive); /* the cache is still there */
    vyre_memory_callbacks callbacks = {.create = create_none, .destroy = destroy_none};
    params = host_device_params(&host);
    params.memory = &callbacks;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "memory callbacks"));
    params = host_device_params(&host);
    params.queue = NULL;
    params.device = NULL;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "missing: device queue."));
    struct {
        vyre_adopt_params params;
        uint64_t more;
    } newer = {host_device_params(&host), 0};
    newer.params.struct_size = sizeof newer;
    assert_int_equal(vyre_device_adopt(&newer.params, &device, &diag), VYRE_OK);
    vyre_device_destroy(&device);
    newer.more = 1;
    assert_int_equal(vyre_device_adopt(&newer.params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "vyre_adopt_params has"));
    ((PFN_vkDestroyPipelineCache)host_device_find(&host, "vkDestroyPipelineCache"))(host.device,
                                                                                    cache, NULL);
    host_device_close(&host);
}

static void test_adopt_survives_each_failed_allocation(void **state)
{
    (void)state;
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    uint32_t alive = fake_alive();
    for (size_t n = 1; n < 1000; n++) {
        vy_fail_allocator failing = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&failing);
        vyre_adopt_params params = host_device_params(&host);
        params.allocator = &allocator;
        params.cache_dir = "/some/folder";
        vyre_device *device = NULL;
        vyre_diag diag;
        vyre_result code = vyre_device_adopt(&params, &device, &diag);
        vyre_device_destroy(&device);
        assert_int_equal(failing.live_blocks, 0);
        assert_int_equal(failing.live_size, 0);
        assert_int_equal(fake_alive(), alive);
        if (code == VYRE_OK) {
            assert_true(n > 4);
            host_device_close(&host);
            return;
        }
        assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
    }
    fail_msg("the allocator never succeeded");
}

/* ---- Names ----------------------------------------------------------------------------------- */

static VkObjectType names_checked;

static void use_everything(vyre_device *device)
{
    uint32_t words[64] = {0};
    vyre_diag diag;
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_fill(device, buffer, 0, 8, 1, &diag), VYRE_OK);
    engine_program p = engine_build(device, "program down\nworkgroup 1\nfixpoint 9 until f\n"
                                            "grid over a\n"
                                            "inout a : u32[]\nscratch f : u32[1]\n"
                                            "kernel { if a[0] != 0 { a[0] = a[0] - 1\n"
                                            "    f[0] = 1 } }\n");
    words[0] = 3;
    vyre_binding bindings[] = {engine_host_inout(words, 1), {.kind = VYRE_BINDING_NONE}};
    vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 0, 0);
    assert_int_equal(report.passes, 4);
    /* While all that a pipeline has is there. */
    names_checked = fake_unnamed();
    engine_release(&p);
}

static void test_objects_have_names_where_the_host_has_debug_utils(void **state)
{
    (void)state;
    fake.has_debug_utils = true;
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 1);
    vyre_device *device = host_device_adopt(&host);
    use_everything(device);
    assert_int_equal(names_checked, VK_OBJECT_TYPE_UNKNOWN);
    assert_true(fake_has_name(VK_OBJECT_TYPE_SEMAPHORE, "vyre timeline"));
    assert_true(fake_has_name(VK_OBJECT_TYPE_PIPELINE_CACHE, "vyre pipeline cache"));
    assert_true(fake_has_name(VK_OBJECT_TYPE_BUFFER, "test"));
    vyre_device_destroy(&device);
    host_device_close(&host);
    /* Without it on the instance the function is not called, though it is there. */
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    device = host_device_adopt(&host);
    use_everything(device);
    assert_false(fake_has_name(VK_OBJECT_TYPE_SEMAPHORE, "vyre timeline"));
    vyre_device_destroy(&device);
    host_device_close(&host);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, open_nothing, close_nothing)
    const struct CMUnitTest tests[] = {
        T(test_adopt_runs_on_what_the_library_asks_for),
        T(test_adopt_names_all_that_is_missing_at_once),
        T(test_setup_names_all_that_the_device_lacks),
        T(test_setup_enables_each_extension_that_is_used),
        T(test_adopt_never_reads_the_environment),
        T(test_adopt_takes_its_parameters),
        T(test_adopt_survives_each_failed_allocation),
        T(test_objects_have_names_where_the_host_has_debug_utils),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

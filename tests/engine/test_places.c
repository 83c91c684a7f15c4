/* Messages of the validation layer name the program's segment, line and buffers, a barrier that is
 * missing is found by them, and every object of the library has a name. */
#include "take.h"

#include "script.h"

#include "tests/support/engine_fixture.h"
#include "tests/support/host_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Line 10 reads what line 8 wrote. */
static const char shift_text[] = "program shift\n"
                                 "workgroup 64\n"
                                 "grid over cells\n"
                                 "inout cells : u32[]\n"
                                 "inout next : u32[]\n"
                                 "kernel {\n"
                                 "    let i = gid.x\n"
                                 "    if i < len(next) { next[i] = cells[i] + 1 }\n"
                                 "    grid_sync\n"
                                 "    if i + 1 < len(cells) { cells[i] = next[i + 1] }\n"
                                 "}\n";

/* ---- A planted fault ------------------------------------------------------------------------- */

static char messages[65536];

static void keep_message(void *user, const vyre_log_message *message)
{
    (void)user;
    size_t length = strlen(messages);
    if (message->source == VYRE_LOG_VALIDATION) {
        snprintf(messages + length, sizeof messages - length, "%s\n", message->text);
    }
}

static void run_without_barrier(uint32_t dropped)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_ON;
    params.log = keep_message;
    vyre_device *device = engine_open_with(&params);
    engine_program p = engine_build(device, shift_text);
    vyre_buffer next = {0};
    vyre_buffer_params wanted = {.size = 400, .name = "the host's next"};
    vyre_diag diag;
    assert_int_equal(vyre_buffer_create(device, &wanted, &next, &diag), VYRE_OK);
    uint32_t cells[100] = {0};
    vyre_binding bindings[] = {engine_host_inout(cells, 100), engine_resident(next, 0, 100)};
    layer.no_judge = true;
    layer_clear_events();
    layer.drop_barrier = dropped;
    messages[0] = '\0';
    (void)engine_run(&p, bindings, 2, NULL, 0, 0, 0);
    layer.drop_barrier = 0;
    uint64_t failures = vyre_device_validation_failures(device);
    assert_int_equal(failures > 0, dropped);
    engine_release(&p);
    must_destroy(device, &next);
    vyre_device_destroy(&device);
}

/* Layers of 1.4 name labels and command buffers, whose parts stand between. */
static bool has_place(const char *text, const char *end)
{
    static const char segment[] = "(segment shift.seg1, test:10";
    for (const char *at = text; (at = strstr(at, segment)) != NULL; at++) {
        const char *line = strchr(at, '\n'), *found = strstr(at, end);
        if (found && line && found < line) {
            return true;
        }
    }
    return false;
}

static void test_missing_barrier_is_found_with_its_place(void **state)
{
    (void)state;
    NEED_DEVICE();
    if (!engine_validates()) {
        return;
    }
    for (int pushes = 0; pushes < 2; pushes++) {
        layer.no_push_descriptor = !pushes;
        run_without_barrier(0);
        assert_string_equal(messages, "");
        run_without_barrier(1);
        const char *read = strstr(messages, "READ_AFTER_WRITE");
        if (!read || !has_place(read, "; buffer 'the host's next')\n")) {
            fail_msg("no place of the read in: %s", messages);
        }
        assert_true(has_place(messages, "; buffer 'cells')\n"));
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

#define MOST_MADE 4096

static struct {
    VkObjectType type;
    uint64_t handle;
    char name[160]; /* "": none */
} made[MOST_MADE];
static uint32_t made_count;

static PFN_vkSetDebugUtilsObjectNameEXT next_set_name;
static PFN_vkCreateComputePipelines next_pipelines;
static PFN_vkAllocateDescriptorSets next_sets;
static PFN_vkAllocateCommandBuffers next_commands;

static void note(VkResult result, VkObjectType type, uint64_t handle)
{
    if (result == VK_SUCCESS && made_count < MOST_MADE) {
        made[made_count].type = type;
        made[made_count].name[0] = '\0';
        made[made_count++].handle = handle;
    }
}

#define MAKER(Call, Info, Handle, TYPE)                                                            \
    static PFN_vk##Call next_##Call;                                                               \
    static VKAPI_ATTR VkResult VKAPI_CALL own_##Call(                                              \
        VkDevice device, const Info *info, const VkAllocationCallbacks *allocator, Handle *out)    \
    {                                                                                              \
        VkResult result = next_##Call(device, info, allocator, out);                               \
        note(result, VK_OBJECT_TYPE_##TYPE, (uint64_t)*out);                                       \
        return result;                                                                             \
    }
MAKER(CreateBuffer, VkBufferCreateInfo, VkBuffer, BUFFER)
MAKER(AllocateMemory, VkMemoryAllocateInfo, VkDeviceMemory, DEVICE_MEMORY)
MAKER(CreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule, SHADER_MODULE)
MAKER(CreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout,
      DESCRIPTOR_SET_LAYOUT)
MAKER(CreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout, PIPELINE_LAYOUT)
MAKER(CreateDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool, DESCRIPTOR_POOL)
MAKER(CreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool, COMMAND_POOL)
MAKER(CreateQueryPool, VkQueryPoolCreateInfo, VkQueryPool, QUERY_POOL)
MAKER(CreateSemaphore, VkSemaphoreCreateInfo, VkSemaphore, SEMAPHORE)
MAKER(CreatePipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache, PIPELINE_CACHE)

static VKAPI_ATTR VkResult VKAPI_CALL own_pipelines(VkDevice device, VkPipelineCache cache,
                                                    uint32_t count,
                                                    const VkComputePipelineCreateInfo *infos,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkPipeline *out)
{
    VkResult result = next_pipelines(device, cache, count, infos, allocator, out);
    for (uint32_t i = 0; i < count; i++) {
        note(result, VK_OBJECT_TYPE_PIPELINE, (uint64_t)out[i]);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL own_sets(VkDevice device,
                                               const VkDescriptorSetAllocateInfo *info,
                                               VkDescriptorSet *out)
{
    VkResult result = next_sets(device, info, out);
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        note(result, VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)out[i]);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL own_commands(VkDevice device,
                                                   const VkCommandBufferAllocateInfo *info,
                                                   VkCommandBuffer *out)
{
    VkResult result = next_commands(device, info, out);
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        note(result, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)out[i]);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL own_set_name(VkDevice device,
                                                   const VkDebugUtilsObjectNameInfoEXT *info)
{
    for (uint32_t i = made_count; i-- > 0;) {
        if (made[i].handle == info->objectHandle && made[i].type == info->objectType) {
            snprintf(made[i].name, sizeof made[i].name, "%s", info->pObjectName);
            break;
        }
    }
    return next_set_name(device, info);
}

#define TAKE_MAKER(Call) TAKE_DEVICE(vk##Call, next_##Call, own_##Call)

static const take_call calls[] = {
    TAKE_MAKER(CreateBuffer),
    TAKE_MAKER(AllocateMemory),
    TAKE_MAKER(CreateShaderModule),
    TAKE_MAKER(CreateDescriptorSetLayout),
    TAKE_MAKER(CreatePipelineLayout),
    TAKE_MAKER(CreateDescriptorPool),
    TAKE_MAKER(CreateCommandPool),
    TAKE_MAKER(CreateQueryPool),
    TAKE_MAKER(CreateSemaphore),
    TAKE_MAKER(CreatePipelineCache),
    TAKE_DEVICE(vkCreateComputePipelines, next_pipelines, own_pipelines),
    TAKE_DEVICE(vkAllocateDescriptorSets, next_sets, own_sets),
    TAKE_DEVICE(vkAllocateCommandBuffers, next_commands, own_commands),
    TAKE_INSTANCE(vkSetDebugUtilsObjectNameEXT, next_set_name, own_set_name),
};

static bool has_made(VkObjectType type, const char *name)
{
    for (uint32_t i = 0; i < made_count; i++) {
        if (made[i].type == type && strcmp(made[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void run_once(vyre_device *device, vyre_binding_mode mode, uint32_t flags)
{
    engine_program p = engine_build_bound(device, shift_text, mode);
    uint32_t cells[100] = {0}, next[100] = {0};
    vyre_binding bindings[] = {engine_host_inout(cells, 100), engine_host_inout(next, 100)};
    vyre_dispatch_params params = engine_params(bindings, 2);
    memset(params.groups, 0, sizeof params.groups);
    params.flags = flags;
    (void)must_dispatch(&p, &params);
    engine_release(&p);
}

static void test_every_object_has_a_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int adopted = 0; adopted < 2; adopted++) {
        for (int pushes = 0; pushes < 2; pushes++) {
            host_device host;
            vyre_device *device = NULL;
            script_reset();
            layer.no_push_descriptor = !pushes;
            made_count = 0;
            vyre_vulkan_entry entry = take_entry(calls, VY_COUNT_OF(calls));
            if (adopted) {
                host_device_open(&host, entry, HOST_ENABLES_SETUP, 1);
                made_count = 0;
                device = host_device_adopt(&host);
            } else {
                vyre_device_params params;
                vyre_device_params_init(&params);
                params.get_instance_proc_addr = entry;
                params.debug = VYRE_DEBUG_LABELS;
                params.validation = VYRE_VALIDATION_OFF;
                device = engine_open_with(&params);
            }
            run_once(device, VYRE_BINDINGS_DESCRIPTOR, VYRE_DISPATCH_TIMED);
            run_once(device, VYRE_BINDINGS_AUTO, 0);
            assert_in_range(made_count, 20, MOST_MADE - 1);
            for (uint32_t i = 0; i < made_count; i++) {
                if (!made[i].name[0]) {
                    fail_msg("object %u of %u, of type %d, has no name", i, made_count,
                             (int)made[i].type);
                }
            }
            assert_true(has_made(VK_OBJECT_TYPE_PIPELINE, "segment shift.seg1, test:10"));
            assert_true(has_made(VK_OBJECT_TYPE_SHADER_MODULE, "segment shift.seg0, test:7"));
            assert_true(has_made(VK_OBJECT_TYPE_BUFFER, "cells"));
            assert_true(has_made(VK_OBJECT_TYPE_COMMAND_BUFFER, "shift"));
            vyre_device_destroy(&device);
            if (adopted) {
                host_device_close(&host);
            }
        }
    }
}

/* ---- Labels in a host's commands ------------------------------------------------------------- */

/* Into commands of the host's, which are not submitted. */
static void record_and_drop(const host_device *h, const engine_program *p,
                            const vyre_dispatch_params *dispatch)
{
#define FIND(name) PFN_##name name##_ = (PFN_##name)host_device_find(h, #name)
    FIND(vkCreateCommandPool);
    FIND(vkDestroyCommandPool);
    FIND(vkAllocateCommandBuffers);
    FIND(vkBeginCommandBuffer);
    FIND(vkEndCommandBuffer);
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkCommandPoolCreateInfo made_of = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .queueFamilyIndex = h->setup.queue.queueFamilyIndex};
    assert_int_equal(vkCreateCommandPool_(h->device, &made_of, NULL, &pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandPool = pool,
                                       .commandBufferCount = 1};
    assert_int_equal(vkAllocateCommandBuffers_(h->device, &one, &commands), VK_SUCCESS);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkBeginCommandBuffer_(commands, &begin), VK_SUCCESS);
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = commands;
    params.dispatch = *dispatch;
    vyre_recording *recording = NULL;
    vyre_diag diag;
    if (vyre_record(p->pipeline, &params, &recording, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(vkEndCommandBuffer_(commands), VK_SUCCESS);
    vkDestroyCommandPool_(h->device, pool, NULL);
    vyre_recording_destroy(&recording);
}

static void test_labels_are_in_a_hosts_commands(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int debug_utils = 0; debug_utils < 2; debug_utils++) {
        host_device host;
        vyre_device *device = NULL;
        vyre_diag diag;
        script_reset();
        host_device_open(&host, script_entry(), HOST_ENABLES_SETUP, debug_utils);
        vyre_adopt_params adopt = host_device_params(&host);
        adopt.debug = VYRE_DEBUG_LABELS;
        assert_int_equal(vyre_device_adopt(&adopt, &device, &diag), VYRE_OK);
        engine_program p = engine_build(device, shift_text);
        uint32_t zeros[100] = {0};
        vyre_buffer buffers[] = {engine_buffer(device, 400, zeros),
                                 engine_buffer(device, 400, zeros)};
        vyre_binding bindings[] = {engine_resident(buffers[0], 0, 100),
                                   engine_resident(buffers[1], 0, 100)};
        vyre_dispatch_params params = engine_params(bindings, 2);
        memset(params.groups, 0, sizeof params.groups);
        params.passes = 0;
        (void)must_dispatch(&p, &params);
        script_saw.labels_begun = script_saw.labels_ended = 0;
        record_and_drop(&host, &p, &params);
        assert_int_equal(script_saw.labels_begun, script_saw.labels_ended);
        assert_int_equal(script_saw.labels_begun, debug_utils ? 2 : 0);
        if (debug_utils) {
            assert_string_equal(script_saw.labels[1], "segment shift.seg1, test:10, pass 0");
        }
        engine_release(&p);
        must_destroy(device, &buffers[0]);
        must_destroy(device, &buffers[1]);
        vyre_device_destroy(&device);
        host_device_close(&host);
    }
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void test_debug_messages_end_with_their_place(void **state)
{
    (void)state;
    VkDebugUtilsLabelEXT labels[] = {{.pLabelName = "segment life.seg1, life.vyre:14, pass 3"},
                                     {.pLabelName = "frame"}};
    VkDebugUtilsObjectNameInfoEXT objects[] = {
        {.objectType = VK_OBJECT_TYPE_BUFFER, .pObjectName = "cells"},
        {.objectType = VK_OBJECT_TYPE_PIPELINE, .pObjectName = "segment life.seg1, life.vyre:14"},
        {.objectType = VK_OBJECT_TYPE_SEMAPHORE},
        {.objectType = VK_OBJECT_TYPE_IMAGE, .pObjectName = "the host's"}};
    VkDebugUtilsMessengerCallbackDataEXT data = {.pMessage = "wrong.",
                                                 .cmdBufLabelCount = 2,
                                                 .pCmdBufLabels = labels,
                                                 .objectCount = 4,
                                                 .pObjects = objects};
    static const char whole[] = "wrong. (segment life.seg1, life.vyre:14, pass 3; frame; buffer "
                                "'cells'; image 'the host's')";
    char text[256];
    assert_int_equal(vyre_format_debug_message(&data, text, sizeof text), strlen(whole));
    assert_string_equal(text, whole);
    for (size_t size = 1; size < sizeof whole; size++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(vyre_format_debug_message(&data, text, size), strlen(whole));
        assert_true(strlen(text) < size);
        assert_int_equal(text[size], 'x');
    }
    assert_int_equal(vyre_format_debug_message(&data, NULL, 0), strlen(whole));
    data = (VkDebugUtilsMessengerCallbackDataEXT){
        .pMessage = "Hazard for VkBuffer 0x3[b], VkPipeline 0x2c[segment p.seg0, p.vyre:7], and"};
    (void)vyre_format_debug_message(&data, text, sizeof text);
    assert_non_null(strstr(text, "and (segment p.seg0, p.vyre:7)"));
    static const char *const plain[] = {"about a host's VkImage 0x4[]",
                                        "VkPipeline 0x2c[",
                                        "",
                                        "VkPipeline 0x2c[]",
                                        "VkPipeline 0x2c",
                                        "VkPipeline 0x"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        data.pMessage = plain[i];
        assert_int_equal(vyre_format_debug_message(&data, text, sizeof text), strlen(plain[i]));
        assert_string_equal(text, plain[i]);
    }
    assert_int_equal(vyre_format_debug_message(NULL, text, sizeof text), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_missing_barrier_is_found_with_its_place),
        T(test_every_object_has_a_name),
        T(test_labels_are_in_a_hosts_commands),
        T(test_debug_messages_end_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

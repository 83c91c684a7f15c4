/* See gpu.h. */
#include "gpu.h"

#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include "vyre/vulkan.h"

#include <vulkan/vulkan.h>

#define MEMORY_SIZE (64u << 20)
#define ALIGNMENT   256u
#define MAX_SLOTS   32u
#define MAXIMAL     "VK_KHR_shader_maximal_reconvergence"

/* clang-format off */
#define FUNCTIONS(X)                                                                               \
    X(vkDestroyDevice) X(vkGetDeviceQueue) X(vkCreateBuffer) X(vkGetBufferMemoryRequirements)      \
    X(vkAllocateMemory) X(vkBindBufferMemory) X(vkMapMemory) X(vkGetBufferDeviceAddress)           \
    X(vkCreateDescriptorSetLayout) X(vkCreatePipelineLayout) X(vkCreateShaderModule)               \
    X(vkCreateComputePipelines) X(vkDestroyPipeline) X(vkDestroyShaderModule)                      \
    X(vkCreateDescriptorPool) X(vkAllocateDescriptorSets) X(vkUpdateDescriptorSets)                \
    X(vkCreateCommandPool) X(vkAllocateCommandBuffers) X(vkBeginCommandBuffer)                     \
    X(vkEndCommandBuffer) X(vkCmdBindPipeline) X(vkCmdBindDescriptorSets) X(vkCmdPushConstants)    \
    X(vkCmdDispatch) X(vkQueueSubmit) X(vkQueueWaitIdle) X(vkDestroyDescriptorSetLayout)           \
    X(vkDestroyPipelineLayout) X(vkDestroyDescriptorPool) X(vkDestroyCommandPool)                  \
    X(vkDestroyBuffer) X(vkFreeMemory)
/* clang-format on */

struct gpu {
    void *loader;
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t float_modes, subgroup_size;
    uint32_t block; /* binding of the uniform block in the layouts */
    bool has_maximal;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    uint8_t *bytes;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkCommandPool commands;
    VkCommandBuffer command;
    VkPipeline pipeline;
#define X(name) PFN_##name name;
    FUNCTIONS(X)
#undef X
};

static PFN_vkVoidFunction find(const gpu *g, const char *name)
{
    PFN_vkVoidFunction function = g->get(g->instance, name);
    assert_non_null(function);
    return function;
}

static void open_instance(gpu *g)
{
    g->loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(g->loader);
    void *symbol = dlsym(g->loader, "vkGetInstanceProcAddr");
    memcpy(&g->get, &symbol, sizeof g->get);
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)find(g, "vkCreateInstance");
    assert_int_equal(create(&info, NULL, &g->instance), VK_SUCCESS);
    uint32_t count = 1;
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)find(g, "vkEnumeratePhysicalDevices");
    assert_true(enumerate(g->instance, &count, &g->physical) >= 0);
    assert_int_equal(count, 1);
}

static void read_properties(gpu *g)
{
    VkPhysicalDeviceVulkan12Properties twelve = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
    VkPhysicalDeviceVulkan11Properties eleven = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = &twelve};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &eleven};
    ((PFN_vkGetPhysicalDeviceProperties2)find(g, "vkGetPhysicalDeviceProperties2"))(g->physical,
                                                                                    &all);
    g->subgroup_size = eleven.subgroupSize;
    const VkBool32 has[] = {
        twelve.shaderSignedZeroInfNanPreserveFloat32, twelve.shaderDenormPreserveFloat32,
        twelve.shaderRoundingModeRTEFloat32,          twelve.shaderSignedZeroInfNanPreserveFloat64,
        twelve.shaderDenormPreserveFloat64,           twelve.shaderRoundingModeRTEFloat64};
    for (uint32_t i = 0; i < VY_COUNT_OF(has); i++) {
        g->float_modes |= has[i] ? 1u << i : 0;
    }
}

static bool find_maximal(const gpu *g)
{
    uint32_t count = 0;
    PFN_vkEnumerateDeviceExtensionProperties list =
        (PFN_vkEnumerateDeviceExtensionProperties)find(g, "vkEnumerateDeviceExtensionProperties");
    assert_int_equal(list(g->physical, NULL, &count, NULL), VK_SUCCESS);
    VkExtensionProperties *all = calloc(count + 1, sizeof *all);
    assert_non_null(all);
    assert_true(list(g->physical, NULL, &count, all) >= 0);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        found = found || strcmp(all[i].extensionName, MAXIMAL) == 0;
    }
    free(all);
    return found;
}

static void open_device(gpu *g)
{
    static const char *const extensions[] = {MAXIMAL};
    vyre_maximal_reconvergence maximal = {.sType = VYRE_STRUCTURE_TYPE_MAXIMAL_RECONVERGENCE};
    VkPhysicalDeviceVulkan13Features thirteen = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features twelve = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &thirteen};
    VkPhysicalDeviceVulkan11Features eleven = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &twelve};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &eleven};
    bool has_extension = find_maximal(g);
    thirteen.pNext = has_extension ? &maximal : NULL;
    ((PFN_vkGetPhysicalDeviceFeatures2)find(g, "vkGetPhysicalDeviceFeatures2"))(g->physical, &all);
    g->has_maximal = maximal.shaderMaximalReconvergence;
    all.features.robustBufferAccess = VK_FALSE;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &all,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = has_extension,
                               .ppEnabledExtensionNames = extensions};
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)find(g, "vkCreateDevice");
    assert_int_equal(create(g->physical, &info, NULL, &g->device), VK_SUCCESS);
#define X(name) g->name = (PFN_##name)find(g, #name);
    FUNCTIONS(X)
#undef X
    g->vkGetDeviceQueue(g->device, 0, 0, &g->queue);
}

static void open_memory(gpu *g)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = MEMORY_SIZE,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    assert_int_equal(g->vkCreateBuffer(g->device, &info, NULL, &g->buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    g->vkGetBufferMemoryRequirements(g->device, g->buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    ((PFN_vkGetPhysicalDeviceMemoryProperties)find(g, "vkGetPhysicalDeviceMemoryProperties"))(
        g->physical, &types);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = UINT32_MAX};
    for (uint32_t i = types.memoryTypeCount; i-- > 0;) {
        if ((needs.memoryTypeBits >> i & 1) &&
            (types.memoryTypes[i].propertyFlags & wanted) == wanted) {
            memory.memoryTypeIndex = i;
        }
    }
    assert_int_equal(g->vkAllocateMemory(g->device, &memory, NULL, &g->memory), VK_SUCCESS);
    assert_int_equal(g->vkBindBufferMemory(g->device, g->buffer, g->memory, 0), VK_SUCCESS);
    void *mapped = NULL;
    assert_int_equal(g->vkMapMemory(g->device, g->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                     VK_SUCCESS);
    g->bytes = mapped;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = g->buffer};
    g->address = g->vkGetBufferDeviceAddress(g->device, &address);
}

static uint32_t block_of(const form *f)
{
    bool has_addresses = f->options.interface == VYRE_INTERFACE_ADDRESS;
    return has_addresses ? VY_ADDRESS_BLOCK : f->program.binding_count + VY_HIDDEN_PARAMS;
}

static VkDescriptorType type_of(const gpu *g, uint32_t binding)
{
    return binding == g->block ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                               : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static void close_layouts(gpu *g)
{
    g->vkDestroyDescriptorPool(g->device, g->pool, NULL);
    g->vkDestroyPipelineLayout(g->device, g->layout, NULL);
    g->vkDestroyDescriptorSetLayout(g->device, g->set_layout, NULL);
}

/* With a uniform block at that binding. */
static void open_layouts(gpu *g, uint32_t block)
{
    close_layouts(g);
    g->block = block;
    VkDescriptorSetLayoutBinding bindings[MAX_SLOTS];
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){i, type_of(g, i), 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    }
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = MAX_SLOTS,
                                           .pBindings = bindings};
    assert_int_equal(g->vkCreateDescriptorSetLayout(g->device, &set, NULL, &g->set_layout), 0);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, VY_PUSH_SIZE};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &g->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    assert_int_equal(g->vkCreatePipelineLayout(g->device, &layout, NULL, &g->layout), 0);
    VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, MAX_SLOTS - 1},
                                     {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1}};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    assert_int_equal(g->vkCreateDescriptorPool(g->device, &pool, NULL, &g->pool), 0);
    VkDescriptorSetAllocateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = g->pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &g->set_layout};
    assert_int_equal(g->vkAllocateDescriptorSets(g->device, &sets, &g->set), 0);
}

static void open_commands(gpu *g)
{
    VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    assert_int_equal(g->vkCreateCommandPool(g->device, &commands, NULL, &g->commands), 0);
    VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandPool = g->commands,
                                       .commandBufferCount = 1};
    assert_int_equal(g->vkAllocateCommandBuffers(g->device, &one, &g->command), 0);
}

gpu *gpu_open(void)
{
    const char *without = getenv("VYRE_TESTS_NO_DEVICE");
    if (without && without[0] == '1') {
        return NULL;
    }
    gpu *g = calloc(1, sizeof *g);
    assert_non_null(g);
    open_instance(g);
    read_properties(g);
    open_device(g);
    open_memory(g);
    open_layouts(g, 0);
    open_commands(g);
    return g;
}

void gpu_close(gpu *g)
{
    if (!g) {
        return;
    }
    g->vkDestroyPipeline(g->device, g->pipeline, NULL);
    g->vkDestroyCommandPool(g->device, g->commands, NULL);
    close_layouts(g);
    g->vkDestroyBuffer(g->device, g->buffer, NULL);
    g->vkFreeMemory(g->device, g->memory, NULL);
    g->vkDestroyDevice(g->device, NULL);
    ((PFN_vkDestroyInstance)find(g, "vkDestroyInstance"))(g->instance, NULL);
    free(g);
}

uint32_t gpu_float_modes(const gpu *g)
{
    return g->float_modes;
}

uint32_t gpu_subgroup_size(const gpu *g)
{
    return g->subgroup_size;
}

bool gpu_has_maximal_reconvergence(const gpu *g)
{
    return g->has_maximal;
}

void gpu_prepare(gpu *g, form *f, const gpu_spec *specs, uint32_t spec_count)
{
    VkSpecializationMapEntry entries[8];
    uint32_t values[8];
    assert_true(spec_count <= 8);
    for (uint32_t i = 0; i < spec_count; i++) {
        entries[i] = (VkSpecializationMapEntry){specs[i].id, 4 * i, 4};
        values[i] = specs[i].value;
    }
    VkSpecializationInfo special = {spec_count, entries, 4 * spec_count, values};
    f->options.float_modes = g->float_modes;
    form_emit(f);
    if (g->block != block_of(f)) {
        open_layouts(g, block_of(f));
    }
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = 4 * (size_t)f->word_count,
                                       .pCode = f->words};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &special},
        .layout = g->layout};
    assert_int_equal(g->vkCreateShaderModule(g->device, &module, NULL, &info.stage.module), 0);
    g->vkDestroyPipeline(g->device, g->pipeline, NULL);
    assert_int_equal(
        g->vkCreateComputePipelines(g->device, VK_NULL_HANDLE, 1, &info, NULL, &g->pipeline), 0);
    g->vkDestroyShaderModule(g->device, info.stage.module, NULL);
}

static void write_params(gpu *g, const form *f, const gpu_buffer *buffers, const uint32_t *params,
                         uint32_t groups, const uint32_t *offsets)
{
    uint32_t n = f->program.binding_count, words[256] = {0};
    uint32_t volume = f->program.workgroup[0] * f->program.workgroup[1] * f->program.workgroup[2];
    uint32_t size = vy_param_words(n, f->program.param_words);
    assert_true(size <= VY_COUNT_OF(words));
    words[VY_PARAM_GROUPS] = words[VY_PARAM_GROUP_TOTAL] = groups;
    words[VY_PARAM_GROUPS + 1] = words[VY_PARAM_GROUPS + 2] = 1;
    words[VY_PARAM_INVOCATIONS] = groups * volume;
    for (uint32_t i = 0; i < n; i++) {
        words[VY_PARAM_LENGTHS + i] = buffers[i].count;
    }
    if (params) {
        memcpy(words + VY_PARAM_LENGTHS + n, params, 4 * (size_t)f->program.param_words);
    }
    for (uint32_t i = 0; i < n + VY_HIDDEN_COUNT - 1; i++) {
        uint64_t address = g->address + offsets[i < n ? i : i + 1];
        uint32_t at = vy_param_addresses(n, f->program.param_words) + 2 * i;
        words[at] = (uint32_t)address;
        words[at + 1] = (uint32_t)(address >> 32);
    }
    memcpy(g->bytes + offsets[n], words, 4 * (size_t)size);
}

/* What is beyond the form's is bound to something. */
static void write_set(gpu *g, const form *f, const uint32_t *offsets, const uint32_t *sizes)
{
    uint32_t n = f->program.binding_count;
    VkDescriptorBufferInfo infos[MAX_SLOTS];
    VkWriteDescriptorSet writes[MAX_SLOTS];
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        bool is_used = i < n + VY_HIDDEN_COUNT;
        infos[i] = (VkDescriptorBufferInfo){g->buffer, is_used ? offsets[i] : 0,
                                            is_used && sizes[i] ? sizes[i] : 4};
        if (i == g->block) {
            infos[i].offset = offsets[n + VY_HIDDEN_PARAMS];
            infos[i].range = VY_PARAM_VECTOR_SIZE * vy_param_vectors(n, f->program.param_words);
        }
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = g->set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = type_of(g, i),
                                           .pBufferInfo = &infos[i]};
    }
    g->vkUpdateDescriptorSets(g->device, MAX_SLOTS, writes, 0, NULL);
}

void gpu_run(gpu *g, const form *f, const gpu_buffer *buffers, const uint32_t *params,
             uint32_t groups)
{
    uint32_t n = f->program.binding_count, offsets[MAX_SLOTS] = {0}, sizes[MAX_SLOTS], next = 0;
    assert_true(n + VY_HIDDEN_COUNT <= MAX_SLOTS);
    for (uint32_t i = 0; i < n + VY_HIDDEN_COUNT; i++) {
        sizes[i] = i < n ? buffers[i].size : 1u << 20;
        offsets[i] = next;
        next += (sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    }
    assert_true(next <= MEMORY_SIZE);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(g->bytes + offsets[i], buffers[i].data, sizes[i]);
    }
    write_params(g, f, buffers, params, groups, offsets);
    write_set(g, f, offsets, sizes);
    const uint32_t push[VY_PUSH_SIZE / 4] = {0};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(g->vkBeginCommandBuffer(g->command, &begin), 0);
    g->vkCmdBindPipeline(g->command, VK_PIPELINE_BIND_POINT_COMPUTE, g->pipeline);
    g->vkCmdBindDescriptorSets(g->command, VK_PIPELINE_BIND_POINT_COMPUTE, g->layout, 0, 1, &g->set,
                               0, NULL);
    g->vkCmdPushConstants(g->command, g->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
    g->vkCmdDispatch(g->command, groups, 1, 1);
    assert_int_equal(g->vkEndCommandBuffer(g->command), 0);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &g->command};
    assert_int_equal(g->vkQueueSubmit(g->queue, 1, &submit, VK_NULL_HANDLE), 0);
    assert_int_equal(g->vkQueueWaitIdle(g->queue), 0);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(buffers[i].data, g->bytes + offsets[i], sizes[i]);
    }
}

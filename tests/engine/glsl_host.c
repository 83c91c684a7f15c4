/* The Vulkan program of glsl_host.h: one queue, host-visible buffers, one descriptor set. */
#include "tests/engine/glsl_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOLK_IMPLEMENTATION
#include <volk.h>

#define MAX_DEVICES     16u
#define MAX_FAMILIES    16u
#define MAX_MODULE_SIZE ((size_t)1 << 20)

struct vy_glsl_host {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    struct VolkDeviceTable vk;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkPhysicalDeviceMemoryProperties memory;
};

struct vy_glsl_program {
    vy_glsl_host *host;
    VkShaderModule module;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    uint32_t buffer_count;
    VkBuffer buffers[VY_GLSL_MAX_BUFFERS];
    VkDeviceMemory memories[VY_GLSL_MAX_BUFFERS];
    void *words[VY_GLSL_MAX_BUFFERS];
};

static bool check(VkResult result, const char *call)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s gives %d\n", call, (int)result);
    }
    return result == VK_SUCCESS;
}

#define CHECK(object, call) check((object)->vk.call, #call)

/* ---- Device ---------------------------------------------------------------------------------- */

static bool create_instance(vy_glsl_host *host)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "twins",
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    if (!check(volkInitialize(), "volkInitialize") ||
        !check(vkCreateInstance(&info, NULL, &host->instance), "vkCreateInstance")) {
        return false;
    }
    volkLoadInstanceOnly(host->instance);
    return true;
}

static bool find_device(vy_glsl_host *host, const char *name)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    VkResult result = vkEnumeratePhysicalDevices(host->instance, &count, devices);
    if (result != VK_INCOMPLETE && !check(result, "vkEnumeratePhysicalDevices")) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        if (strcmp(properties.deviceName, name) == 0) {
            host->physical = devices[i];
            vkGetPhysicalDeviceMemoryProperties(devices[i], &host->memory);
            return true;
        }
    }
    fprintf(stderr, "no device %s among %u\n", name, count);
    return false;
}

static bool find_family(vy_glsl_host *host)
{
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = MAX_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(host->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            host->family = i;
            return true;
        }
    }
    fprintf(stderr, "no queue family computes\n");
    return false;
}

static bool create_device(vy_glsl_host *host)
{
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = host->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    if (!check(vkCreateDevice(host->physical, &info, NULL, &host->device), "vkCreateDevice")) {
        return false;
    }
    volkLoadDeviceTable(&host->vk, host->device);
    host->vk.vkGetDeviceQueue(host->device, host->family, 0, &host->queue);
    return true;
}

static bool create_commands(vy_glsl_host *host)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = host->family};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!CHECK(host, vkCreateCommandPool(host->device, &pool, NULL, &host->pool)) ||
        !CHECK(host, vkCreateFence(host->device, &fence, NULL, &host->fence))) {
        return false;
    }
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = host->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    return CHECK(host, vkAllocateCommandBuffers(host->device, &commands, &host->commands));
}

vy_glsl_host *vy_glsl_host_create(const char *device_name)
{
    vy_glsl_host *host = calloc(1, sizeof *host);
    if (host && (!create_instance(host) || !find_device(host, device_name) || !find_family(host) ||
                 !create_device(host) || !create_commands(host))) {
        vy_glsl_host_destroy(&host);
    }
    return host;
}

void vy_glsl_host_destroy(vy_glsl_host **host)
{
    vy_glsl_host *h = *host;
    if (h && h->device) {
        h->vk.vkDestroyFence(h->device, h->fence, NULL);
        h->vk.vkDestroyCommandPool(h->device, h->pool, NULL);
        h->vk.vkDestroyDevice(h->device, NULL);
    }
    if (h && h->instance) {
        vkDestroyInstance(h->instance, NULL);
    }
    free(h);
    *host = NULL;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static bool create_module(vy_glsl_program *program, const char *name)
{
    char path[512];
    uint32_t *words = malloc(MAX_MODULE_SIZE);
    bool ok = false;
    snprintf(path, sizeof path, "%s/shaders/%s.spv", VYRE_BINARY_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file || !words) {
        fprintf(stderr, "%s cannot be read: is glslangValidator there?\n", path);
    } else {
        VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = fread(words, 1, MAX_MODULE_SIZE, file),
                                         .pCode = words};
        vy_glsl_host *host = program->host;
        ok = CHECK(host, vkCreateShaderModule(host->device, &info, NULL, &program->module));
    }
    if (file) {
        fclose(file);
    }
    free(words);
    return ok;
}

static bool create_pipeline(vy_glsl_program *program)
{
    vy_glsl_host *host = program->host;
    VkDescriptorSetLayoutBinding bindings[VY_GLSL_MAX_BUFFERS];
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = program->buffer_count,
                                           .pBindings = bindings};
    if (!CHECK(host, vkCreateDescriptorSetLayout(host->device, &set, NULL, &program->set_layout))) {
        return false;
    }
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                .size = sizeof(vy_glsl_step)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &program->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    if (!CHECK(host, vkCreatePipelineLayout(host->device, &layout, NULL, &program->layout))) {
        return false;
    }
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = program->module,
                  .pName = "main"},
        .layout = program->layout};
    return CHECK(host, vkCreateComputePipelines(host->device, VK_NULL_HANDLE, 1, &pipeline, NULL,
                                                &program->pipeline));
}

/* Coherent memory that the host sees, the processor's own (cached) where there is such. */
static bool find_memory_type(const vy_glsl_host *host, uint32_t types, uint32_t *out_type)
{
    VkMemoryPropertyFlags needed =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    bool found = false;
    for (uint32_t i = 0; i < host->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = host->memory.memoryTypes[i].propertyFlags;
        bool is_cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
        if ((types >> i & 1) && (flags & needed) == needed && (!found || is_cached)) {
            *out_type = i;
            found = true;
            if (is_cached) {
                break;
            }
        }
    }
    return found;
}

static bool create_buffer(vy_glsl_program *program, uint32_t index, uint32_t word_count)
{
    vy_glsl_host *host = program->host;
    VkBuffer *buffer = &program->buffers[index];
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = ((VkDeviceSize)word_count + 1) * 4,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkMemoryRequirements needs;
    if (!CHECK(host, vkCreateBuffer(host->device, &info, NULL, buffer))) {
        return false;
    }
    host->vk.vkGetBufferMemoryRequirements(host->device, *buffer, &needs);
    memory.allocationSize = needs.size;
    if (!find_memory_type(host, needs.memoryTypeBits, &memory.memoryTypeIndex)) {
        fprintf(stderr, "no memory type that the host sees\n");
        return false;
    }
    if (!CHECK(host, vkAllocateMemory(host->device, &memory, NULL, &program->memories[index])) ||
        !CHECK(host, vkBindBufferMemory(host->device, *buffer, program->memories[index], 0)) ||
        !CHECK(host, vkMapMemory(host->device, program->memories[index], 0, VK_WHOLE_SIZE, 0,
                                 &program->words[index]))) {
        return false;
    }
    memset(program->words[index], 0, (size_t)info.size);
    return true;
}

static bool create_set(vy_glsl_program *program)
{
    vy_glsl_host *host = program->host;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VY_GLSL_MAX_BUFFERS};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    if (!CHECK(host, vkCreateDescriptorPool(host->device, &pool, NULL, &program->pool))) {
        return false;
    }
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = program->pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &program->set_layout};
    if (!CHECK(host, vkAllocateDescriptorSets(host->device, &set, &program->set))) {
        return false;
    }
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        VkDescriptorBufferInfo buffer = {program->buffers[i], 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = program->set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffer};
        host->vk.vkUpdateDescriptorSets(host->device, 1, &write, 0, NULL);
    }
    return true;
}

vy_glsl_program *vy_glsl_program_create(vy_glsl_host *host, const char *name,
                                        const uint32_t *word_counts, uint32_t buffer_count)
{
    vy_glsl_program *program = calloc(1, sizeof *program);
    if (!program || buffer_count > VY_GLSL_MAX_BUFFERS) {
        free(program);
        return NULL;
    }
    program->host = host;
    program->buffer_count = buffer_count;
    bool ok = create_module(program, name) && create_pipeline(program);
    for (uint32_t i = 0; ok && i < buffer_count; i++) {
        ok = create_buffer(program, i, word_counts[i]);
    }
    if (!ok || !create_set(program)) {
        vy_glsl_program_destroy(&program);
    }
    return program;
}

void vy_glsl_program_destroy(vy_glsl_program **program)
{
    vy_glsl_program *p = *program;
    if (p) {
        const struct VolkDeviceTable *vk = &p->host->vk;
        VkDevice device = p->host->device;
        vk->vkDestroyDescriptorPool(device, p->pool, NULL);
        for (uint32_t i = 0; i < p->buffer_count; i++) {
            vk->vkDestroyBuffer(device, p->buffers[i], NULL);
            vk->vkFreeMemory(device, p->memories[i], NULL);
        }
        vk->vkDestroyPipeline(device, p->pipeline, NULL);
        vk->vkDestroyPipelineLayout(device, p->layout, NULL);
        vk->vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
        vk->vkDestroyShaderModule(device, p->module, NULL);
        free(p);
    }
    *program = NULL;
}

uint32_t *vy_glsl_program_words(const vy_glsl_program *program, uint32_t binding)
{
    return program->words[binding];
}

/* ---- Running --------------------------------------------------------------------------------- */

static void record_step(vy_glsl_program *program, const vy_glsl_step *step)
{
    const struct VolkDeviceTable *vk = &program->host->vk;
    VkCommandBuffer commands = program->host->commands;
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_SHADER_READ_BIT |
                                                VK_ACCESS_SHADER_WRITE_BIT |
                                                VK_ACCESS_HOST_READ_BIT};
    /* No dimension holds more than 65,535 workgroups everywhere. */
    uint32_t width = step->groups < 32768 ? step->groups : 32768;
    uint32_t height = width ? step->groups / width + (step->groups % width != 0) : 0;
    vk->vkCmdPushConstants(commands, program->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *step,
                           step);
    vk->vkCmdDispatch(commands, width, height, 1);
    vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0,
                             1, &barrier, 0, NULL, 0, NULL);
}

bool vy_glsl_program_run(vy_glsl_program *program, const vy_glsl_step *steps, uint32_t count)
{
    vy_glsl_host *host = program->host;
    VkCommandBuffer commands = host->commands;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    if (!CHECK(host, vkBeginCommandBuffer(commands, &begin))) {
        return false;
    }
    host->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->pipeline);
    host->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->layout, 0,
                                     1, &program->set, 0, NULL);
    for (uint32_t i = 0; i < count; i++) {
        record_step(program, &steps[i]);
    }
    return CHECK(host, vkEndCommandBuffer(commands)) &&
           CHECK(host, vkQueueSubmit(host->queue, 1, &submit, host->fence)) &&
           CHECK(host, vkWaitForFences(host->device, 1, &host->fence, VK_TRUE, UINT64_MAX)) &&
           CHECK(host, vkResetFences(host->device, 1, &host->fence));
}

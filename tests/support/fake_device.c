/* The fake's device: memory, buffers, shaders, pools. */
#include "tests/support/fake_objects.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNUSED_CALL                                                                                \
    (void)device;                                                                                  \
    (void)callbacks

/* ---- Memory and buffers ---------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL fake_AllocateMemory(VkDevice device,
                                                          const VkMemoryAllocateInfo *info,
                                                          const VkAllocationCallbacks *callbacks,
                                                          VkDeviceMemory *out)
{
    UNUSED_CALL;
    unsigned char *data = malloc((size_t)info->allocationSize);
    *out = data ? fake_object_make(VK_OBJECT_TYPE_DEVICE_MEMORY, sizeof **out) : NULL;
    if (!*out) {
        free(data);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    (*out)->data = data;
    (*out)->size = info->allocationSize;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_FreeMemory(VkDevice device, VkDeviceMemory memory,
                                                  const VkAllocationCallbacks *callbacks)
{
    UNUSED_CALL;
    if (memory) {
        free(memory->data);
        fake_object_free(&memory->object);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_MapMemory(VkDevice device, VkDeviceMemory memory,
                                                     VkDeviceSize offset, VkDeviceSize size,
                                                     VkMemoryMapFlags flags, void **out)
{
    (void)device;
    (void)size;
    (void)flags;
    *out = memory->data + offset;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_UnmapMemory(VkDevice device, VkDeviceMemory memory)
{
    (void)device;
    (void)memory;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_FlushMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    (void)device;
    (void)count;
    (void)ranges;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_InvalidateMappedMemoryRanges(
    VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    return fake_FlushMappedMemoryRanges(device, count, ranges);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateBuffer(VkDevice device,
                                                        const VkBufferCreateInfo *info,
                                                        const VkAllocationCallbacks *callbacks,
                                                        VkBuffer *out)
{
    UNUSED_CALL;
    *out = fake_object_make(VK_OBJECT_TYPE_BUFFER, sizeof **out);
    if (!*out) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    (*out)->size = info->size;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_GetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                                                   VkMemoryRequirements *out)
{
    (void)device;
    *out = (VkMemoryRequirements){
        .size = (buffer->size + 255) / 256 * 256, .alignment = 256, .memoryTypeBits = 3};
}

static VKAPI_ATTR void VKAPI_CALL fake_GetBufferMemoryRequirements2(
    VkDevice device, const VkBufferMemoryRequirementsInfo2 *info, VkMemoryRequirements2 *out)
{
    for (VkBaseOutStructure *at = out->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS) {
            VkMemoryDedicatedRequirements *dedicated = (void *)at;
            dedicated->prefersDedicatedAllocation = VK_FALSE;
            dedicated->requiresDedicatedAllocation = VK_FALSE;
        }
    }
    fake_GetBufferMemoryRequirements(device, info->buffer, &out->memoryRequirements);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BindBufferMemory(VkDevice device, VkBuffer buffer,
                                                            VkDeviceMemory memory,
                                                            VkDeviceSize offset)
{
    (void)device;
    buffer->memory = memory;
    buffer->offset = offset;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BindBufferMemory2(VkDevice device, uint32_t count,
                                                             const VkBindBufferMemoryInfo *infos)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)fake_BindBufferMemory(device, infos[i].buffer, infos[i].memory,
                                    infos[i].memoryOffset);
    }
    return VK_SUCCESS;
}

/* ---- Objects that only are there ---------------------------------------------------------------
 */

/* Name, type, type for names. */
#define PLAIN_OBJECTS(X)                                                                           \
    X(PipelineCache, PIPELINE_CACHE)                                                               \
    X(PipelineLayout, PIPELINE_LAYOUT)                                                             \
    X(DescriptorSetLayout, DESCRIPTOR_SET_LAYOUT)                                                  \
    X(DescriptorPool, DESCRIPTOR_POOL)                                                             \
    X(CommandPool, COMMAND_POOL)

#define X(name, type)                                                                              \
    static VKAPI_ATTR VkResult VKAPI_CALL fake_Create##name(                                       \
        VkDevice device, const Vk##name##CreateInfo *info, const VkAllocationCallbacks *callbacks, \
        Vk##name *out)                                                                             \
    {                                                                                              \
        UNUSED_CALL;                                                                               \
        (void)info;                                                                                \
        *out = fake_object_make(VK_OBJECT_TYPE_##type, sizeof **out);                              \
        return *out ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;                                    \
    }
PLAIN_OBJECTS(X)
#undef X

#define DESTROYED_OBJECTS(X)                                                                       \
    X(Buffer)                                                                                      \
    X(PipelineCache)                                                                               \
    X(PipelineLayout)                                                                              \
    X(DescriptorSetLayout)

#define X(name)                                                                                    \
    static VKAPI_ATTR void VKAPI_CALL fake_Destroy##name(VkDevice device, Vk##name gone,           \
                                                         const VkAllocationCallbacks *callbacks)   \
    {                                                                                              \
        UNUSED_CALL;                                                                               \
        fake_object_free(gone ? &gone->object : NULL);                                             \
    }
DESTROYED_OBJECTS(X)
#undef X

static VKAPI_ATTR VkResult VKAPI_CALL fake_GetPipelineCacheData(VkDevice device,
                                                                VkPipelineCache cache, size_t *size,
                                                                void *data)
{
    (void)device;
    (void)cache;
    (void)data;
    *size = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_MergePipelineCaches(VkDevice device,
                                                               VkPipelineCache target,
                                                               uint32_t count,
                                                               const VkPipelineCache *sources)
{
    (void)device;
    (void)sources;
    if (count == 0) {
        fake_violation();
    }
    fake_enter(&target->object.users);
    fake_leave(&target->object.users);
    return VK_SUCCESS;
}

/* ---- Shaders --------------------------------------------------------------------------------- */

static uint32_t *copy_words(const uint32_t *words, size_t size)
{
    uint32_t *copy = malloc(size);
    if (copy) {
        memcpy(copy, words, size);
    }
    return copy;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_CreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                        const VkAllocationCallbacks *callbacks, VkShaderModule *out)
{
    UNUSED_CALL;
    uint32_t *words = copy_words(info->pCode, info->codeSize);
    *out = words ? fake_object_make(VK_OBJECT_TYPE_SHADER_MODULE, sizeof **out) : NULL;
    if (!*out) {
        free(words);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    (*out)->words = words;
    (*out)->word_count = (uint32_t)(info->codeSize / sizeof *words);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyShaderModule(VkDevice device, VkShaderModule module,
                                                           const VkAllocationCallbacks *callbacks)
{
    UNUSED_CALL;
    if (module) {
        free(module->words);
        fake_object_free(&module->object);
    }
}

static void take_spec(VkPipeline pipeline, const VkSpecializationInfo *info)
{
    for (uint32_t i = 0; info && i < info->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        if (entry->constantID < FAKE_MAX_SPEC && entry->size == sizeof(uint32_t)) {
            memcpy(&pipeline->spec[entry->constantID],
                   (const unsigned char *)info->pData + entry->offset, sizeof(uint32_t));
            pipeline->has_spec[entry->constantID] = true;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_CreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                            const VkComputePipelineCreateInfo *infos,
                            const VkAllocationCallbacks *callbacks, VkPipeline *out)
{
    UNUSED_CALL;
    (void)cache;
    memset(out, 0, count * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        VkShaderModule module = infos[i].stage.module;
        size_t size = module->word_count * sizeof *module->words;
        uint32_t *words = copy_words(module->words, size);
        out[i] = words ? fake_object_make(VK_OBJECT_TYPE_PIPELINE, sizeof **out) : NULL;
        if (!out[i]) {
            free(words);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        out[i]->words = words;
        out[i]->word_count = module->word_count;
        take_spec(out[i], infos[i].stage.pSpecializationInfo);
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                       const VkAllocationCallbacks *callbacks)
{
    UNUSED_CALL;
    if (pipeline) {
        free(pipeline->words);
        fake_object_free(&pipeline->object);
    }
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL fake_AllocateDescriptorSets(
    VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out)
{
    (void)device;
    VkDescriptorPool pool = info->descriptorPool;
    fake_enter(&pool->object.users);
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        out[i] = calloc(1, sizeof **out);
        if (out[i]) {
            out[i]->next = pool->sets;
            pool->sets = out[i];
        }
    }
    fake_leave(&pool->object.users);
    return out[0] ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                                             const VkAllocationCallbacks *callbacks)
{
    UNUSED_CALL;
    while (pool && pool->sets) {
        VkDescriptorSet set = pool->sets;
        pool->sets = set->next;
        free(set);
    }
    fake_object_free(pool ? &pool->object : NULL);
}

static VKAPI_ATTR void VKAPI_CALL fake_UpdateDescriptorSets(VkDevice device, uint32_t count,
                                                            const VkWriteDescriptorSet *writes,
                                                            uint32_t copy_count,
                                                            const VkCopyDescriptorSet *copies)
{
    (void)device;
    (void)copy_count;
    (void)copies;
    for (uint32_t w = 0; w < count; w++) {
        for (uint32_t i = 0; i < writes[w].descriptorCount; i++) {
            uint32_t binding = writes[w].dstBinding + i;
            if (binding < FAKE_MAX_BINDINGS) {
                writes[w].dstSet->buffers[binding] = writes[w].pBufferInfo[i];
                writes[w].dstSet->is_dynamic[binding] =
                    writes[w].descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
            }
        }
    }
}

/* ---- Command pools, queries ------------------------------------------------------------------ */

static VKAPI_ATTR VkResult VKAPI_CALL fake_AllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
    (void)device;
    VkCommandPool pool = info->commandPool;
    fake_enter(&pool->object.users);
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        out[i] = fake_object_make(VK_OBJECT_TYPE_COMMAND_BUFFER, sizeof **out);
        if (out[i]) {
            out[i]->pool = pool;
            out[i]->next = pool->buffers;
            pool->buffers = out[i];
        }
    }
    fake_leave(&pool->object.users);
    return out[0] ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_ResetCommandPool(VkDevice device, VkCommandPool pool,
                                                            VkCommandPoolResetFlags flags)
{
    (void)device;
    (void)flags;
    fake_enter(&pool->object.users);
    for (VkCommandBuffer b = pool->buffers; b; b = b->next) {
        fake_commands_clear(b);
    }
    fake_leave(&pool->object.users);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyCommandPool(VkDevice device, VkCommandPool pool,
                                                          const VkAllocationCallbacks *callbacks)
{
    UNUSED_CALL;
    while (pool && pool->buffers) {
        VkCommandBuffer b = pool->buffers;
        pool->buffers = b->next;
        fake_commands_clear(b);
        free(b->commands);
        fake_object_free(&b->object);
    }
    fake_object_free(pool ? &pool->object : NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateQueryPool(VkDevice device,
                                                           const VkQueryPoolCreateInfo *info,
                                                           const VkAllocationCallbacks *callbacks,
                                                           VkQueryPool *out)
{
    UNUSED_CALL;
    uint64_t *values = calloc(info->queryCount, sizeof *values);
    *out = values ? fake_object_make(VK_OBJECT_TYPE_QUERY_POOL, sizeof **out) : NULL;
    if (!*out) {
        free(values);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    (*out)->values = values;
    (*out)->count = info->queryCount;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyQueryPool(VkDevice device, VkQueryPool pool,
                                                        const VkAllocationCallbacks *callbacks)
{
    UNUSED_CALL;
    if (pool) {
        free(pool->values);
        fake_object_free(&pool->object);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_GetQueryPoolResults(VkDevice device, VkQueryPool pool,
                                                               uint32_t first, uint32_t count,
                                                               size_t size, void *data,
                                                               VkDeviceSize stride,
                                                               VkQueryResultFlags flags)
{
    (void)device;
    (void)size;
    (void)flags; /* 64 bits are asked for */
    for (uint32_t i = 0; i < count; i++) {
        memcpy((unsigned char *)data + i * stride, &pool->values[first + i], sizeof(uint64_t));
    }
    return VK_SUCCESS;
}

/* ---- Extensions ------------------------------------------------------------------------------ */

static VKAPI_ATTR VkResult VKAPI_CALL fake_GetDeviceFaultInfoEXT(VkDevice device,
                                                                 VkDeviceFaultCountsEXT *counts,
                                                                 VkDeviceFaultInfoEXT *info)
{
    if (!device->is_lost || !device->has_fault) {
        fake_violation();
    }
    if (!info) {
        counts->addressInfoCount = counts->vendorInfoCount = 1;
        counts->vendorBinarySize = 1000;
        return VK_SUCCESS;
    }
    strncpy(info->description, fake.fault ? fake.fault : "", sizeof info->description - 1);
    if (counts->addressInfoCount) {
        info->pAddressInfos[0] = (VkDeviceFaultAddressInfoEXT){
            VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0xdead0000, 4096};
    }
    if (counts->vendorInfoCount) {
        info->pVendorInfos[0] = (VkDeviceFaultVendorInfoEXT){"engine 3", 77, 5};
    }
    return counts->vendorBinarySize ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_GetCalibratedTimestampsEXT(
    VkDevice device, uint32_t count, const VkCalibratedTimestampInfoEXT *infos, uint64_t *stamps,
    uint64_t *deviation)
{
    (void)device;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    for (uint32_t i = 0; i < count; i++) {
        stamps[i] = infos[i].timeDomain == VK_TIME_DOMAIN_DEVICE_EXT ? ns / 2 : ns;
    }
    *deviation = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL
fake_GetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    (void)device;
    return (uint64_t)(uintptr_t)(info->buffer->memory->data + info->buffer->offset);
}

/* The engine has no images; VMA only asks that these be there. */
static VKAPI_ATTR VkResult VKAPI_CALL fake_no_image(void)
{
    fake_violation();
    return VK_ERROR_UNKNOWN;
}

static bool has_extension(VkDevice device, const char *extension)
{
    for (uint32_t i = 0; i < 8; i++) {
        if (strcmp(device->extensions[i], extension) == 0) {
            return true;
        }
    }
    return false;
}

static PFN_vkVoidFunction find_extension(VkDevice device, const char *name)
{
    if (has_extension(device, VK_EXT_DEVICE_FAULT_EXTENSION_NAME)) {
        FAKE_TAKE(GetDeviceFaultInfoEXT)
    }
    if (has_extension(device, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME)) {
        FAKE_TAKE(GetCalibratedTimestampsEXT)
    }
    if (fake.has_addresses) {
        FAKE_TAKE(GetBufferDeviceAddress)
    }
    return strstr(name, "Image") ? (PFN_vkVoidFunction)fake_no_image : NULL;
}

PFN_vkVoidFunction fake_find_device(VkDevice device, const char *name)
{
    FAKE_TAKE(AllocateMemory)
    FAKE_TAKE(FreeMemory)
    FAKE_TAKE(MapMemory)
    FAKE_TAKE(UnmapMemory)
    FAKE_TAKE(FlushMappedMemoryRanges)
    FAKE_TAKE(InvalidateMappedMemoryRanges)
    FAKE_TAKE(CreateBuffer)
    FAKE_TAKE(GetBufferMemoryRequirements)
    FAKE_TAKE(GetBufferMemoryRequirements2)
    FAKE_TAKE(BindBufferMemory)
    FAKE_TAKE(BindBufferMemory2)
#define X(name, type) FAKE_TAKE(Create##name)
    PLAIN_OBJECTS(X)
#undef X
#define X(name) FAKE_TAKE(Destroy##name)
    DESTROYED_OBJECTS(X)
#undef X
    FAKE_TAKE(GetPipelineCacheData)
    FAKE_TAKE(MergePipelineCaches)
    FAKE_TAKE(CreateShaderModule)
    FAKE_TAKE(DestroyShaderModule)
    FAKE_TAKE(CreateComputePipelines)
    FAKE_TAKE(DestroyPipeline)
    FAKE_TAKE(AllocateDescriptorSets)
    FAKE_TAKE(DestroyDescriptorPool)
    FAKE_TAKE(UpdateDescriptorSets)
    FAKE_TAKE(AllocateCommandBuffers)
    FAKE_TAKE(ResetCommandPool)
    FAKE_TAKE(DestroyCommandPool)
    FAKE_TAKE(CreateQueryPool)
    FAKE_TAKE(DestroyQueryPool)
    FAKE_TAKE(GetQueryPoolResults)
    return find_extension(device, name);
}

/* VMA behind one lock, with host memory that cannot fail inside it. */
#include "engine/memory/memory.h"

#include "engine/memory/reserve.h"

#include <stdio.h>
#include <string.h>
#include <vk_mem_alloc.h>

#define ZEROS_SIZE 256u

struct vy_memory {
    vyre_device *device;
    uint64_t last_serial;
    vy_mutex mutex; /* around every call of VMA: the allocator is externally synchronised */
    vy_reserve reserve;
    VkAllocationCallbacks callbacks;
    VmaAllocator allocator;
    vy_block zeros;
    vy_transfer_pool transfers;
};

static vy_reserve *reserve_of(void *user)
{
    return &((vy_memory *)user)->reserve;
}

static void *VKAPI_PTR allocate(void *user, size_t size, size_t alignment,
                                VkSystemAllocationScope scope)
{
    (void)scope;
    return vy_reserve_take(reserve_of(user), size, alignment);
}

static void VKAPI_PTR release(void *user, void *memory)
{
    vy_reserve_give(reserve_of(user), memory);
}

static void *VKAPI_PTR reallocate(void *user, void *old, size_t size, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    (void)scope;
    if (size == 0) {
        vy_reserve_give(reserve_of(user), old);
        return NULL;
    }
    void *memory = vy_reserve_take(reserve_of(user), size, alignment);
    if (memory && old) {
        size_t old_size = vy_reserve_size_of(old);
        memcpy(memory, old, old_size < size ? old_size : size);
        vy_reserve_give(reserve_of(user), old);
    }
    return memory;
}

/* VMA hands the callbacks of its own host memory on to Vulkan; a driver that draws on them empties
 * the reserve that was made for VMA. These take them away: drivers use memory of their own. */
static const vyre_device *owner(const VkAllocationCallbacks *callbacks)
{
    return ((const vy_memory *)callbacks->pUserData)->device;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *callbacks,
                                                      VkDeviceMemory *out)
{
    return owner(callbacks)->vk.vkAllocateMemory(device, info, NULL, out);
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *callbacks)
{
    owner(callbacks)->vk.vkFreeMemory(device, memory, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks,
                                                    VkBuffer *out)
{
    return owner(callbacks)->vk.vkCreateBuffer(device, info, NULL, out);
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                                 const VkAllocationCallbacks *callbacks)
{
    owner(callbacks)->vk.vkDestroyBuffer(device, buffer, NULL);
}

static void fill_functions(const vyre_device *d, VmaVulkanFunctions *f)
{
    *f = (VmaVulkanFunctions){
        .vkGetPhysicalDeviceProperties = d->vki.vkGetPhysicalDeviceProperties,
        .vkGetPhysicalDeviceMemoryProperties = d->vki.vkGetPhysicalDeviceMemoryProperties,
        .vkAllocateMemory = allocate_memory,
        .vkFreeMemory = free_memory,
        .vkMapMemory = d->vk.vkMapMemory,
        .vkUnmapMemory = d->vk.vkUnmapMemory,
        .vkFlushMappedMemoryRanges = d->vk.vkFlushMappedMemoryRanges,
        .vkInvalidateMappedMemoryRanges = d->vk.vkInvalidateMappedMemoryRanges,
        .vkBindBufferMemory = d->vk.vkBindBufferMemory,
        .vkBindImageMemory = d->vk.vkBindImageMemory,
        .vkGetBufferMemoryRequirements = d->vk.vkGetBufferMemoryRequirements,
        .vkGetImageMemoryRequirements = d->vk.vkGetImageMemoryRequirements,
        .vkCreateBuffer = create_buffer,
        .vkDestroyBuffer = destroy_buffer,
        .vkCreateImage = d->vk.vkCreateImage,
        .vkDestroyImage = d->vk.vkDestroyImage,
        .vkCmdCopyBuffer = d->vk.vkCmdCopyBuffer,
        .vkGetBufferMemoryRequirements2KHR = d->vk.vkGetBufferMemoryRequirements2,
        .vkGetImageMemoryRequirements2KHR = d->vk.vkGetImageMemoryRequirements2,
        .vkBindBufferMemory2KHR = d->vk.vkBindBufferMemory2,
        .vkBindImageMemory2KHR = d->vk.vkBindImageMemory2,
        .vkGetPhysicalDeviceMemoryProperties2KHR = d->vki.vkGetPhysicalDeviceMemoryProperties2,
    };
}

vyre_result vy_memory_create(vyre_device *device, vy_memory **out_memory, vyre_diag *diag)
{
    *out_memory = NULL;
    vy_memory *m = vy_alloc_zeroed(&device->allocator, 1, sizeof *m);
    if (!m) {
        return vy_diag_no_memory(diag);
    }
    if (vy_mutex_init(&m->mutex) != 0) {
        vy_free(&device->allocator, m, sizeof *m);
        return vy_diag_no_memory(diag);
    }
    *out_memory = m;
    m->device = device;
    device->memory = m;
    m->transfers.has_mutex = vy_mutex_init(&m->transfers.mutex) == 0;
    vy_reserve_init(&m->reserve, &device->allocator);
    m->callbacks = (VkAllocationCallbacks){.pUserData = m,
                                           .pfnAllocation = allocate,
                                           .pfnReallocation = reallocate,
                                           .pfnFree = release};
    if (!m->transfers.has_mutex || !vy_reserve_fill(&m->reserve)) {
        return vy_diag_no_memory(diag);
    }
    VmaVulkanFunctions functions;
    fill_functions(device, &functions);
    VmaAllocatorCreateInfo info = {
        .flags = VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT,
        .physicalDevice = device->physical,
        .device = device->device,
        .instance = device->instance,
        .pAllocationCallbacks = &m->callbacks,
        .pVulkanFunctions = &functions,
        .vulkanApiVersion = VK_API_VERSION_1_2, /* newer functions are not given */
    };
    if (device->snapshot.has[VY_FEATURE_bufferDeviceAddress]) {
        info.flags |= VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
    }
    if (device->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget]) {
        info.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
    }
    VkResult result = vmaCreateAllocator(&info, &m->allocator);
    if (result != VK_SUCCESS) {
        m->allocator = NULL;
        return vy_vk_error(device, diag, result, "the creation of the memory allocator");
    }
    vyre_result code =
        vy_block_create(device, VY_MEMORY_UPLOAD, ZEROS_SIZE, "vyre zeros", &m->zeros, diag);
    if (code == VYRE_OK) {
        memset(m->zeros.mapped, 0, ZEROS_SIZE);
        code = vy_block_flush(device, &m->zeros, 0, ZEROS_SIZE, diag);
    }
    return code;
}

void vy_memory_destroy(vyre_device *device, vy_memory **memory)
{
    vy_memory *m = *memory;
    if (!m) {
        return;
    }
    vy_transfer_pool_finish(device, &m->transfers);
    vy_block_destroy(device, &m->zeros);
    if (m->allocator) {
        vmaDestroyAllocator(m->allocator);
    }
    vy_reserve_finish(&m->reserve);
    vy_mutex_finish(&m->mutex);
    vy_free(&device->allocator, m, sizeof *m);
    *memory = NULL;
}

const vy_block *vy_memory_zeros(const vyre_device *device)
{
    return &device->memory->zeros;
}

uint64_t vy_memory_trim(vyre_device *device)
{
    (void)device;
    return 0;
}

bool vy_block_is_direct(const vy_block *block)
{
    return block->mapped && (block->properties & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

vy_transfer_pool *vy_memory_transfers(vyre_device *device)
{
    return &device->memory->transfers;
}

void vy_memory_usage(vyre_device *device, uint64_t *out_blocks, uint64_t *out_size)
{
    vy_memory *m = device->memory;
    *out_blocks = *out_size = 0;
    if (!m || !m->allocator) {
        return;
    }
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS] = {{.usage = 0}};
    vy_mutex_lock(&m->mutex);
    vmaGetHeapBudgets(m->allocator, budgets);
    vy_mutex_unlock(&m->mutex);
    for (uint32_t h = 0; h < VK_MAX_MEMORY_HEAPS; h++) {
        *out_blocks += budgets[h].statistics.blockCount;
        *out_size += budgets[h].statistics.blockBytes;
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static vyre_result too_large(vyre_device *device, uint64_t size, vyre_diag *diag)
{
    return vy_invalid(diag,
                      "a buffer of %llu bytes was asked for, and the device's maxBufferSize is "
                      "%llu. Fix: split the data over several buffers",
                      (unsigned long long)size,
                      (unsigned long long)device->snapshot.info.max_buffer_size);
}

/* Under the lock. What is left: of the heap with the most device-local, or any, room. */
static vyre_result out_of_memory(vyre_device *device, VkResult result, uint64_t size,
                                 vy_memory_kind kind, vyre_diag *diag)
{
    vy_memory *m = device->memory;
    const VkPhysicalDeviceMemoryProperties *properties = NULL;
    vmaGetMemoryProperties(m->allocator, &properties);
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS] = {{.usage = 0}};
    vmaGetHeapBudgets(m->allocator, budgets);
    uint64_t left = 0, whole = 0;
    for (uint32_t h = 0; h < properties->memoryHeapCount; h++) {
        bool local = properties->memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
        uint64_t room =
            budgets[h].budget > budgets[h].usage ? budgets[h].budget - budgets[h].usage : 0;
        if ((kind != VY_MEMORY_DEVICE || local) && (whole == 0 || room > left)) {
            left = room;
            whole = properties->memoryHeaps[h].size;
        }
    }
    if (diag) {
        diag->vk_result = (int32_t)result;
    }
    return vy_diag_set(
        diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, (vy_loc){0, 0},
        "%llu bytes of %s memory were asked for and about %llu of %llu are left "
        "(%s). Fix: destroy buffers that are not needed, or bind smaller ones",
        (unsigned long long)size, kind == VY_MEMORY_DEVICE ? "device" : "host-visible",
        (unsigned long long)left, (unsigned long long)whole, vy_vk_result_text(result));
}

static VmaAllocationCreateInfo allocation_info(vy_memory_kind kind)
{
    VmaAllocationCreateInfo info = {.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE};
    if (kind == VY_MEMORY_UPLOAD) {
        info.usage = VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
        info.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT |
                     VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT;
    } else if (kind == VY_MEMORY_TABLE) {
        info.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT |
                     VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT;
    } else if (kind == VY_MEMORY_READBACK) {
        info.usage = VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
        info.flags =
            VMA_ALLOCATION_CREATE_MAPPED_BIT | VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT;
    }
    return info;
}

static VkMemoryPropertyFlags vy_memory_properties(vy_memory *m, uint32_t type)
{
    VkMemoryPropertyFlags flags = 0;
    vmaGetMemoryTypeProperties(m->allocator, type, &flags);
    return flags;
}

vyre_result vy_block_create(vyre_device *device, vy_memory_kind kind, uint64_t size,
                            const char *name, vy_block *out_block, vyre_diag *diag)
{
    *out_block = (vy_block){0};
    vyre_result lost = vy_check_lost(device, diag);
    if (lost != VYRE_OK) {
        return lost;
    }
    if (size > device->snapshot.info.max_buffer_size) {
        return too_large(device, size, diag);
    }
    vy_memory *m = device->memory;
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (size + 3) / 4 * 4, /* fills and copies are of whole words */
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
    };
    VmaAllocationCreateInfo allocation = allocation_info(kind);
    VmaAllocationInfo result_info = {0};
    VmaAllocation made = NULL;
    vy_block block = {.size = size};
    vyre_result code = VYRE_OK;
    if (device->snapshot.has[VY_FEATURE_bufferDeviceAddress]) {
        buffer.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    }
    vy_mutex_lock(&m->mutex);
    block.serial = ++m->last_serial;
    if (!vy_reserve_fill(&m->reserve)) {
        code = vy_diag_no_memory(diag);
    } else {
        VkResult result =
            vmaCreateBuffer(m->allocator, &buffer, &allocation, &block.buffer, &made, &result_info);
        block.allocation = made;
        if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS) {
            code = out_of_memory(device, result, size, kind, diag);
        } else if (result != VK_SUCCESS) {
            code = vy_vk_error(device, diag, result, "the allocation of a buffer");
        }
    }
    vy_mutex_unlock(&m->mutex);
    if (code != VYRE_OK) {
        return code;
    }
    block.mapped = result_info.pMappedData;
    block.properties = vy_memory_properties(m, result_info.memoryType);
    if (device->snapshot.has[VY_FEATURE_bufferDeviceAddress]) {
        VkBufferDeviceAddressInfo address = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
            .buffer = block.buffer,
        };
        block.address = device->vk.vkGetBufferDeviceAddress(device->device, &address);
    }
    vy_set_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)block.buffer, name);
    *out_block = block;
    return VYRE_OK;
}

void vy_block_destroy(vyre_device *device, vy_block *block)
{
    if (block->buffer) {
        vy_memory *m = device->memory;
        vy_mutex_lock(&m->mutex);
        vmaDestroyBuffer(m->allocator, block->buffer, block->allocation);
        vy_mutex_unlock(&m->mutex);
    }
    *block = (vy_block){0};
}

vyre_result vy_block_grow(vyre_device *device, vy_memory_kind kind, uint64_t size, const char *name,
                          vy_block *block, vyre_diag *diag)
{
    if (block->buffer && block->size >= size) {
        return VYRE_OK;
    }
    vy_block_destroy(device, block);
    return vy_block_create(device, kind, size, name, block, diag);
}

vyre_result vy_block_flush(vyre_device *device, const vy_block *block, uint64_t offset,
                           uint64_t size, vyre_diag *diag)
{
    vy_memory *m = device->memory;
    vy_mutex_lock(&m->mutex);
    VkResult result = vmaFlushAllocation(m->allocator, block->allocation, offset, size);
    vy_mutex_unlock(&m->mutex);
    return result == VK_SUCCESS ? VYRE_OK
                                : vy_vk_error(device, diag, result, "vkFlushMappedMemoryRanges");
}

vyre_result vy_block_invalidate(vyre_device *device, const vy_block *block, uint64_t offset,
                                uint64_t size, vyre_diag *diag)
{
    vy_memory *m = device->memory;
    vy_mutex_lock(&m->mutex);
    VkResult result = vmaInvalidateAllocation(m->allocator, block->allocation, offset, size);
    vy_mutex_unlock(&m->mutex);
    return result == VK_SUCCESS
               ? VYRE_OK
               : vy_vk_error(device, diag, result, "vkInvalidateMappedMemoryRanges");
}

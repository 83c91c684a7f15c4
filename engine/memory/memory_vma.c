/* Device memory from VMA behind one lock, with host memory that cannot fail inside it. The only
 * user of VMA. */
#include "engine/memory/back.h"

#include <string.h>
#include <vk_mem_alloc.h>

/* From this size on buffers have Vulkan allocations of their own. Of staging, so that giving it
 * back gives memory back; of the device's, because drivers place such better: single words from all
 * over a buffer come twice as fast from one (NVIDIA H200, driver 580: 2^26 words of 2^22 in 501 us,
 * from an allocation that is not dedicated in 1,038). */
#define OWN_SIZE ((uint64_t)1 << 20)

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
static vyre_device *owner(const VkAllocationCallbacks *callbacks)
{
    return ((const vy_memory *)callbacks->pUserData)->device;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *callbacks,
                                                      VkDeviceMemory *out)
{
    vyre_device *of = owner(callbacks);
    VkResult result = of->vk.vkAllocateMemory(device, info, NULL, out);
    if (result == VK_SUCCESS) {
        vy_set_name(of, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)*out, "vyre memory");
    }
    return result;
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

/* Types of memory that are full, or that cannot be mapped now, send a buffer to the next one. */
static bool goes_on(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS ||
           result == VK_ERROR_MEMORY_MAP_FAILED;
}

/* Under the lock. */
static VkResult allocate_for(vy_memory *m, const VmaAllocationCreateInfo *info, VkBuffer buffer,
                             VmaAllocation *out_made, VmaAllocationInfo *out_info)
{
    if (!vy_reserve_fill(&m->reserve)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return vmaAllocateMemoryForBuffer(m->allocator, buffer, info, out_made, out_info);
}

/* Under the lock. */
static VkResult bind_memory(vy_memory *m, vy_memory_kind kind, uint32_t type, vy_block *block)
{
    VmaAllocationCreateInfo info = {
        .flags = vy_kind_is_mapped(kind) ? VMA_ALLOCATION_CREATE_MAPPED_BIT : 0,
        .memoryTypeBits = 1u << type,
    };
    bool is_staging = kind == VY_MEMORY_UPLOAD || kind == VY_MEMORY_READBACK;
    if (kind != VY_MEMORY_TABLE && block->size >= OWN_SIZE) {
        info.flags |= VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
    }
    VmaAllocation made = NULL;
    VmaAllocationInfo result_info = {0};
    VkResult result = allocate_for(m, &info, block->buffer, &made, &result_info);
    /* There may be room in those that are shared; staging is made smaller instead. */
    if (goes_on(result) && !is_staging && info.flags & VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT) {
        info.flags &= ~(VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
        result = allocate_for(m, &info, block->buffer, &made, &result_info);
    }
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = vmaBindBufferMemory(m->allocator, made, block->buffer);
    if (result != VK_SUCCESS) {
        vmaFreeMemory(m->allocator, made);
        return result;
    }
    block->allocation = made;
    block->mapped = result_info.pMappedData;
    block->properties = m->properties.memoryTypes[type].propertyFlags;
    return VK_SUCCESS;
}

static VkResult create(vy_memory *m, const VkBufferCreateInfo *info, vy_memory_kind kind,
                       const vy_rooms *rooms, vy_block *block, bool *out_is_fallback)
{
    vyre_device *device = m->device;
    VkResult result = device->vk.vkCreateBuffer(device->device, info, NULL, &block->buffer);
    if (result != VK_SUCCESS) {
        block->buffer = VK_NULL_HANDLE;
        return result;
    }
    VkMemoryRequirements needs = {.memoryTypeBits = 0};
    device->vk.vkGetBufferMemoryRequirements(device->device, block->buffer, &needs);
    uint32_t types[VK_MAX_MEMORY_TYPES];
    uint32_t count = vy_placement_types(&m->properties, needs.memoryTypeBits, kind, types);
    result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    vy_mutex_lock(&m->mutex);
    for (uint32_t i = 0; i < count && goes_on(result); i++) {
        uint32_t heap = m->properties.memoryTypes[types[i]].heapIndex;
        if (rooms->heaps[heap] < block->size) {
            continue;
        }
        result = bind_memory(m, kind, types[i], block);
        *out_is_fallback =
            kind == VY_MEMORY_DEVICE && heap != m->properties.memoryTypes[types[0]].heapIndex;
    }
    vy_mutex_unlock(&m->mutex);
    if (result != VK_SUCCESS) {
        device->vk.vkDestroyBuffer(device->device, block->buffer, NULL);
        block->buffer = VK_NULL_HANDLE;
    }
    return result;
}

static void destroy(vy_memory *m, const vy_block *block)
{
    m->device->vk.vkDestroyBuffer(m->device->device, block->buffer, NULL);
    vy_mutex_lock(&m->mutex);
    vmaFreeMemory(m->allocator, block->allocation);
    vy_mutex_unlock(&m->mutex);
}

static VkResult flush(vy_memory *m, const vy_block *block, uint64_t offset, uint64_t size)
{
    vy_mutex_lock(&m->mutex);
    VkResult result = vmaFlushAllocation(m->allocator, block->allocation, offset, size);
    vy_mutex_unlock(&m->mutex);
    return result;
}

static VkResult invalidate(vy_memory *m, const vy_block *block, uint64_t offset, uint64_t size)
{
    vy_mutex_lock(&m->mutex);
    VkResult result = vmaInvalidateAllocation(m->allocator, block->allocation, offset, size);
    vy_mutex_unlock(&m->mutex);
    return result;
}

static void usage(vy_memory *m, vy_heap_use out_heaps[VK_MAX_MEMORY_HEAPS])
{
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS] = {{.usage = 0}};
    vy_mutex_lock(&m->mutex);
    vmaGetHeapBudgets(m->allocator, budgets);
    vy_mutex_unlock(&m->mutex);
    for (uint32_t h = 0; h < VK_MAX_MEMORY_HEAPS; h++) {
        out_heaps[h] =
            (vy_heap_use){budgets[h].statistics.blockCount, budgets[h].statistics.blockBytes,
                          budgets[h].statistics.allocationBytes};
    }
}

static void finish(vy_memory *m)
{
    vmaDestroyAllocator(m->allocator);
}

vyre_result vy_memory_use_vma(vy_memory *m, vyre_diag *diag)
{
    static const vy_memory_back back = {create, destroy, flush, invalidate, usage, finish};
    vyre_device *device = m->device;
    vy_reserve_init(&m->reserve, &device->allocator);
    m->callbacks = (VkAllocationCallbacks){.pUserData = m,
                                           .pfnAllocation = allocate,
                                           .pfnReallocation = reallocate,
                                           .pfnFree = release};
    if (!vy_reserve_fill(&m->reserve)) {
        return vy_diag_no_memory(diag);
    }
    VmaVulkanFunctions functions;
    fill_functions(device, &functions);
    VkDeviceSize limits[VK_MAX_MEMORY_HEAPS];
    for (uint32_t h = 0; h < VK_MAX_MEMORY_HEAPS; h++) {
        bool is_local = h < m->properties.memoryHeapCount &&
                        (m->properties.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
        limits[h] = is_local && device->memory_limit ? device->memory_limit : VK_WHOLE_SIZE;
    }
    VmaAllocatorCreateInfo info = {
        .flags = VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT,
        .physicalDevice = device->physical,
        .device = device->device,
        .instance = device->instance,
        .pAllocationCallbacks = &m->callbacks,
        .pVulkanFunctions = &functions,
        .pHeapSizeLimit = limits,
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
    m->back = &back;
    return VYRE_OK;
}

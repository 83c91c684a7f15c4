/* Memory callbacks from a host's own VmaAllocator, for vyre_adopt_params.memory. Compiled in the
 * host's file, with the host's VMA: include its vk_mem_alloc.h first, configured as everywhere else
 * in the program (without that this header includes <vk_mem_alloc.h> itself). The library has a
 * copy of VMA for devices without callbacks, and never calls it on the host's allocator.
 *
 *     vyre_memory_callbacks memory;
 *     vyre_memory_callbacks_from_vma(allocator, &memory);
 *     adopt.memory = &memory;
 *
 * For VMA 2.3 to 3.x, as C and as C++. The allocator must live until the adopted device is
 * destroyed, must not be EXTERNALLY_SYNCHRONIZED, and needs
 * VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT where the device has bufferDeviceAddress. */
#ifndef VYRE_VMA_H
#define VYRE_VMA_H

#ifndef AMD_VULKAN_MEMORY_ALLOCATOR_H
#include <vk_mem_alloc.h>
#endif

#include "vyre/vulkan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Usages of VMA's own are not used: those of 3.0 are not in 2.3, and what they decide is known
 * here. */
static inline VmaAllocationCreateInfo vyre_vma_request(vyre_memory_use use)
{
    VmaAllocationCreateInfo request;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    const VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    memset(&request, 0, sizeof request);
    request.usage = VMA_MEMORY_USAGE_UNKNOWN;
    if (use != VYRE_MEMORY_DEVICE && use != VYRE_MEMORY_DEVICE_ONLY) {
        request.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT;
        request.requiredFlags = visible;
        request.preferredFlags = coherent;
    }
    switch (use) {
    case VYRE_MEMORY_DEVICE:
        request.preferredFlags = local;
        break;
    case VYRE_MEMORY_DEVICE_ONLY:
        request.requiredFlags = local;
        break;
    case VYRE_MEMORY_MAPPABLE:
        request.requiredFlags |= local;
        break;
    case VYRE_MEMORY_TABLE:
        request.preferredFlags |= local;
        break;
    case VYRE_MEMORY_READBACK:
        request.preferredFlags |= VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
        break;
    case VYRE_MEMORY_UPLOAD:
        break;
    }
    return request;
}

/* vyre_memory_callbacks.create. */
static inline VkResult vyre_vma_create(void *user, const VkBufferCreateInfo *info,
                                       vyre_memory_use use, vyre_allocated_buffer *out_buffer)
{
    VmaAllocator allocator = (VmaAllocator)user;
    VmaAllocationCreateInfo request = vyre_vma_request(use);
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo made;
    VkResult result;
    memset(&made, 0, sizeof made);
    memset(out_buffer, 0, sizeof *out_buffer);
    result = vmaCreateBuffer(allocator, info, &request, &out_buffer->buffer, &allocation, &made);
    if (result == VK_SUCCESS) {
        out_buffer->allocation = (void *)allocation;
        out_buffer->mapped = made.pMappedData;
        vmaGetMemoryTypeProperties(allocator, made.memoryType, &out_buffer->properties);
    }
    return result;
}

/* vyre_memory_callbacks.destroy. */
static inline void vyre_vma_destroy(void *user, const vyre_allocated_buffer *buffer)
{
    vmaDestroyBuffer((VmaAllocator)user, buffer->buffer, (VmaAllocation)buffer->allocation);
}

/* VMA 2.3 has no result here; VMA_EXTERNAL_MEMORY came with the release that has one. */
#ifdef VMA_EXTERNAL_MEMORY
#define VYRE_VMA_RESULT(call) return (call)
#else
#define VYRE_VMA_RESULT(call)                                                                      \
    do {                                                                                           \
        (void)(call);                                                                              \
        return VK_SUCCESS;                                                                         \
    } while (0)
#endif

/* vyre_memory_callbacks.flush. */
static inline VkResult vyre_vma_flush(void *user, const vyre_allocated_buffer *buffer,
                                      VkDeviceSize offset, VkDeviceSize size)
{
    VYRE_VMA_RESULT(
        vmaFlushAllocation((VmaAllocator)user, (VmaAllocation)buffer->allocation, offset, size));
}

/* vyre_memory_callbacks.invalidate. */
static inline VkResult vyre_vma_invalidate(void *user, const vyre_allocated_buffer *buffer,
                                           VkDeviceSize offset, VkDeviceSize size)
{
    VYRE_VMA_RESULT(vmaInvalidateAllocation((VmaAllocator)user, (VmaAllocation)buffer->allocation,
                                            offset, size));
}

#undef VYRE_VMA_RESULT

/* Fills in callbacks that allocate by `allocator`, as said above. */
static inline void vyre_memory_callbacks_from_vma(VmaAllocator allocator,
                                                  vyre_memory_callbacks *out_callbacks)
{
    out_callbacks->user = (void *)allocator;
    out_callbacks->create = vyre_vma_create;
    out_callbacks->destroy = vyre_vma_destroy;
    out_callbacks->flush = vyre_vma_flush;
    out_callbacks->invalidate = vyre_vma_invalidate;
}

#ifdef __cplusplus
}
#endif
#endif

/* Device memory from a host's callbacks. No lock is held while they run. */
#include "engine/memory/back.h"

static vyre_memory_use use_of(vy_memory_kind kind)
{
    static const vyre_memory_use uses[] = {VYRE_MEMORY_DEVICE,   VYRE_MEMORY_DEVICE_ONLY,
                                           VYRE_MEMORY_MAPPABLE, VYRE_MEMORY_UPLOAD,
                                           VYRE_MEMORY_TABLE,    VYRE_MEMORY_READBACK};
    return uses[kind];
}

static vyre_allocated_buffer allocated(const vy_block *block)
{
    return (vyre_allocated_buffer){block->buffer, block->allocation, block->mapped,
                                   block->properties};
}

/* The host does not say which heap it took: the first one of memory with these properties. */
static uint32_t heap_of(const vy_memory *m, VkMemoryPropertyFlags flags)
{
    for (uint32_t t = 0; t < m->properties.memoryTypeCount; t++) {
        if (m->properties.memoryTypes[t].propertyFlags == flags) {
            return m->properties.memoryTypes[t].heapIndex;
        }
    }
    return 0;
}

static void account(vy_memory *m, const vy_block *block, bool is_new)
{
    vy_mutex_lock(&m->mutex);
    vy_heap_use *use = &m->host_use[heap_of(m, block->properties)];
    use->blocks += is_new ? 1u : UINT64_MAX;
    use->own += is_new ? block->size : 0 - block->size;
    use->used = use->own;
    vy_mutex_unlock(&m->mutex);
}

static VkResult create(vy_memory *m, const VkBufferCreateInfo *info, vy_memory_kind kind,
                       const vy_rooms *rooms, vy_block *block, bool *out_is_fallback)
{
    (void)rooms; /* the host's allocator chooses */
    vyre_allocated_buffer made = {.buffer = VK_NULL_HANDLE};
    VkResult result = m->host.create(m->host.user, info, use_of(kind), &made);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY; /* no memory of that kind */
    }
    if (result != VK_SUCCESS) {
        return result < 0 ? result : VK_ERROR_UNKNOWN;
    }
    if (!made.buffer) {
        return VK_ERROR_UNKNOWN;
    }
    if (vy_kind_is_mapped(kind) && !made.mapped) {
        m->host.destroy(m->host.user, &made);
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    block->buffer = made.buffer;
    block->allocation = made.allocation;
    block->mapped = made.mapped;
    block->properties = made.properties;
    account(m, block, true);
    *out_is_fallback =
        kind == VY_MEMORY_DEVICE && !(made.properties & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    return VK_SUCCESS;
}

static void destroy(vy_memory *m, const vy_block *block)
{
    vyre_allocated_buffer buffer = allocated(block);
    m->host.destroy(m->host.user, &buffer);
    account(m, block, false);
}

static VkResult flush(vy_memory *m, const vy_block *block, uint64_t offset, uint64_t size)
{
    vyre_allocated_buffer buffer = allocated(block);
    return m->host.flush(m->host.user, &buffer, offset, size);
}

static VkResult invalidate(vy_memory *m, const vy_block *block, uint64_t offset, uint64_t size)
{
    vyre_allocated_buffer buffer = allocated(block);
    return m->host.invalidate(m->host.user, &buffer, offset, size);
}

static void usage(vy_memory *m, vy_heap_use out_heaps[VK_MAX_MEMORY_HEAPS])
{
    vy_mutex_lock(&m->mutex);
    for (uint32_t h = 0; h < VK_MAX_MEMORY_HEAPS; h++) {
        out_heaps[h] = m->host_use[h];
    }
    vy_mutex_unlock(&m->mutex);
}

static void finish(vy_memory *m)
{
    (void)m;
}

vyre_result vy_memory_use_host(vy_memory *m, const vyre_memory_callbacks *callbacks,
                               vyre_diag *diag)
{
    static const vy_memory_back back = {create, destroy, flush, invalidate, usage, finish};
    if (!callbacks->create || !callbacks->destroy || !callbacks->flush || !callbacks->invalidate) {
        return vy_invalid(diag, "a function of the memory callbacks is NULL. Fix: give all four "
                                "(vma.h has them for a VmaAllocator)");
    }
    m->host = *callbacks;
    m->back = &back;
    return VYRE_OK;
}

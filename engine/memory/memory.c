/* Blocks of device memory: made by whichever back end the device has, within its budget. */
#include "engine/memory/back.h"

#include "engine/memory/buffer.h"

#include <string.h>

#define ZEROS_SIZE 256u

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
    if (!m->transfers.has_mutex) {
        return vy_diag_no_memory(diag);
    }
    device->vki.vkGetPhysicalDeviceMemoryProperties(device->physical, &m->properties);
    vyre_result code = device->has_memory_callbacks
                           ? vy_memory_use_host(m, &device->memory_callbacks, diag)
                           : vy_memory_use_vma(m, diag);
    if (code == VYRE_OK) {
        code = vy_block_create(device, VY_MEMORY_UPLOAD, ZEROS_SIZE, "vyre zeros", &m->zeros, diag);
    }
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
    if (m->back) {
        m->back->finish(m);
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

vy_transfer_pool *vy_memory_transfers(vyre_device *device)
{
    return &device->memory->transfers;
}

uint64_t vy_memory_trim(vyre_device *device)
{
    uint64_t freed = vy_transfer_trim(device);
    return freed + (device->slots ? vy_resident_collect(device) : 0);
}

uint64_t vyre_device_trim(vyre_device *device)
{
    if (!device || !device->memory) {
        return 0;
    }
    uint64_t freed = device->evict ? device->evict(device) : 0;
    return freed + vy_memory_trim(device);
}

void vy_memory_usage(vyre_device *device, uint64_t *out_blocks, uint64_t *out_size)
{
    vy_memory *m = device->memory;
    *out_blocks = *out_size = 0;
    if (!m || !m->back) {
        return;
    }
    vy_heap_use heaps[VK_MAX_MEMORY_HEAPS];
    memset(heaps, 0, sizeof heaps);
    m->back->usage(m, heaps);
    for (uint32_t h = 0; h < VK_MAX_MEMORY_HEAPS; h++) {
        *out_blocks += heaps[h].blocks;
        *out_size += heaps[h].own;
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

bool vy_block_is_direct(const vy_block *block)
{
    return block->mapped && (block->properties & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

static bool is_held(const vy_block *block)
{
    return (block->properties & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
}

static VkBufferCreateInfo buffer_info(const vyre_device *device, uint64_t size)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (size + 3) / 4 * 4, /* fills and copies are of whole words */
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                 VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, /* parameter blocks lie in some */
    };
    if (device->snapshot.has[VY_FEATURE_bufferDeviceAddress]) {
        info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    }
    return info;
}

/* Once: VK_SUCCESS with *out_refused where the budget forbids to ask. */
static VkResult try_create(vy_memory *m, const VkBufferCreateInfo *info, vy_memory_kind kind,
                           vy_block *block, bool *out_refused)
{
    vy_rooms rooms;
    bool was_held = false, is_fallback = false;
    *out_refused = !vy_budget_reserve(m, kind, block->size, &rooms, &was_held);
    if (*out_refused) {
        return VK_SUCCESS;
    }
    VkResult result = m->back->create(m, info, kind, &rooms, block, &is_fallback);
    vy_budget_settle(m, block->size, was_held, result == VK_SUCCESS && is_held(block));
    if (result == VK_SUCCESS && is_fallback) {
        vy_count(m->device, memory_fallbacks, 1);
    }
    return result;
}

static bool is_short(VkResult result)
{
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS;
}

/* Idle memory of ours given back, for another try. */
static bool make_room(vyre_device *device)
{
    uint64_t freed = vy_memory_trim(device);
    if (device->evict) {
        freed += device->evict(device);
    }
    if (freed > 0) {
        vy_count(device, memory_evictions, 1);
    }
    return freed > 0;
}

static vyre_result allocate(vy_memory *m, const VkBufferCreateInfo *info, vy_memory_kind kind,
                            vy_block *block, vyre_diag *diag)
{
    bool refused = false;
    VkResult result = try_create(m, info, kind, block, &refused);
    /* A buffer that may as well not be mapped is not worth what is evicted for it. */
    if ((refused || is_short(result)) && kind != VY_MEMORY_MAPPABLE && make_room(m->device)) {
        result = try_create(m, info, kind, block, &refused);
    }
    if (refused || is_short(result)) {
        return vy_budget_error(m, kind, block->size, refused ? VK_SUCCESS : result, diag);
    }
    return result == VK_SUCCESS
               ? VYRE_OK
               : vy_vk_error(m->device, diag, result, "the allocation of a buffer");
}

vyre_result vy_block_create(vyre_device *device, vy_memory_kind kind, uint64_t size,
                            const char *name, vy_block *out_block, vyre_diag *diag)
{
    *out_block = (vy_block){0};
    vy_memory *m = device->memory;
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (size > device->snapshot.info.max_buffer_size) {
        return vy_invalid(diag,
                          "a buffer of %llu bytes was asked for, and the device's maxBufferSize "
                          "is %llu. Fix: split the data over several buffers",
                          (unsigned long long)size,
                          (unsigned long long)device->snapshot.info.max_buffer_size);
    }
    VkBufferCreateInfo info = buffer_info(device, size);
    vy_block block = {.size = size};
    code = allocate(m, &info, kind, &block, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_mutex_lock(&m->mutex);
    block.serial = ++m->last_serial;
    vy_mutex_unlock(&m->mutex);
    if (info.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) {
        VkBufferDeviceAddressInfo address = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
            .buffer = block.buffer,
        };
        block.address = device->vk.vkGetBufferDeviceAddress(device->device, &address);
        if (block.address == 0) {
            vy_block_destroy(device, &block);
            return vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, (vy_loc){0, 0},
                               "the driver gave address 0 for a buffer. Fix: update the driver, or "
                               "create the device without bufferDeviceAddress");
        }
    }
    vy_set_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)block.buffer, name);
    *out_block = block;
    return VYRE_OK;
}

void vy_block_destroy(vyre_device *device, vy_block *block)
{
    if (block->buffer) {
        vy_memory *m = device->memory;
        m->back->destroy(m, block);
        vy_budget_settle(m, block->size, is_held(block), false);
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
    if (size == 0 || (block->properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)) {
        return VYRE_OK;
    }
    VkResult result = device->memory->back->flush(device->memory, block, offset, size);
    return result == VK_SUCCESS ? VYRE_OK
                                : vy_vk_error(device, diag, result, "vkFlushMappedMemoryRanges");
}

vyre_result vy_block_invalidate(vyre_device *device, const vy_block *block, uint64_t offset,
                                uint64_t size, vyre_diag *diag)
{
    if (size == 0 || (block->properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)) {
        return VYRE_OK;
    }
    VkResult result = device->memory->back->invalidate(device->memory, block, offset, size);
    return result == VK_SUCCESS
               ? VYRE_OK
               : vy_vk_error(device, diag, result, "vkInvalidateMappedMemoryRanges");
}

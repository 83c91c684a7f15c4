/* The two back ends of device memory, VMA and a host's callbacks, behind one table, and the object
 * that both keep their state in. For the files of engine/memory/ alone. */
#ifndef VY_MEMORY_BACK_H
#define VY_MEMORY_BACK_H

#include "engine/memory/placement.h"
#include "engine/memory/reserve.h"
#include "vyre/vulkan.h"

/* Bytes by heap that a new buffer of the kind may take. */
typedef struct vy_rooms {
    uint64_t heaps[VK_MAX_MEMORY_HEAPS];
} vy_rooms;

typedef struct vy_heap_use {
    uint64_t blocks, own, used; /* allocations of Vulkan's, their bytes, bytes of buffers in them */
} vy_heap_use;

typedef struct vy_memory_back {
    /* Fills buffer, allocation, mapped and properties. *out_is_fallback: not where a buffer of the
     * kind is meant to be. OUT_OF_DEVICE_MEMORY also where no memory serves the kind. */
    VkResult (*create)(vy_memory *memory, const VkBufferCreateInfo *info, vy_memory_kind kind,
                       const vy_rooms *rooms, vy_block *block, bool *out_is_fallback);
    void (*destroy)(vy_memory *memory, const vy_block *block);
    VkResult (*flush)(vy_memory *memory, const vy_block *block, uint64_t offset, uint64_t size);
    VkResult (*invalidate)(vy_memory *memory, const vy_block *block, uint64_t offset,
                           uint64_t size);
    void (*usage)(vy_memory *memory, vy_heap_use out_heaps[VK_MAX_MEMORY_HEAPS]);
    void (*finish)(vy_memory *memory);
} vy_memory_back;

struct vy_memory {
    vyre_device *device;
    const vy_memory_back *back; /* NULL until its state is there */
    VkPhysicalDeviceMemoryProperties properties;
    vy_mutex mutex; /* everything below but the transfers, which have one of their own */
    uint64_t last_serial;
    uint64_t held; /* bytes of buffers in the device's own heaps, made or being made */
    vy_block zeros;
    vy_transfer_pool transfers;

    vy_reserve reserve;
    VkAllocationCallbacks callbacks;
    struct VmaAllocator_T *allocator;

    vyre_memory_callbacks host;
    vy_heap_use host_use[VK_MAX_MEMORY_HEAPS];
};

/* Each makes its state and sets memory->back. */
vyre_result vy_memory_use_vma(vy_memory *memory, vyre_diag *diag);
vyre_result vy_memory_use_host(vy_memory *memory, const vyre_memory_callbacks *callbacks,
                               vyre_diag *diag);

/* ---- budget.c -------------------------------------------------------------------------------- */

void vy_heap_states(vy_memory *memory, vy_heap_state out_heaps[VK_MAX_MEMORY_HEAPS]);
/* Whether any heap that serves the kind has room, with the rooms; `size` is counted as held then if
 * the kind belongs in the device's own memory, which *out_is_held says. */
bool vy_budget_reserve(vy_memory *memory, vy_memory_kind kind, uint64_t size, vy_rooms *out_rooms,
                       bool *out_is_held);
/* What is held changes from was_held to is_held, for size bytes. */
void vy_budget_settle(vy_memory *memory, uint64_t size, bool was_held, bool is_held);
/* result VK_SUCCESS: refused by the budget, without asking the driver. */
vyre_result vy_budget_error(vy_memory *memory, vy_memory_kind kind, uint64_t size, VkResult result,
                            vyre_diag *diag);

#endif

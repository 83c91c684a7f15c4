/* See placement.h. */
#include "engine/memory/placement.h"

#define LOCAL    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED   VK_MEMORY_PROPERTY_HOST_CACHED_BIT
/* Memory with rules of its own (lazily allocated, protected, uncached, for other devices): using it
 * needs features that the library does not ask for. */
#define ORDINARY         (LOCAL | VISIBLE | COHERENT | CACHED)
#define UNFIT            UINT32_MAX
#define SMALL_WINDOW_MAX ((uint64_t)512 << 20)

bool vy_kind_is_mapped(vy_memory_kind kind)
{
    return kind != VY_MEMORY_DEVICE && kind != VY_MEMORY_DEVICE_ONLY;
}

static bool is_small_window(const VkPhysicalDeviceMemoryProperties *p, uint32_t heap)
{
    const VkMemoryHeap *own = &p->memoryHeaps[heap];
    if (!(own->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) || own->size > SMALL_WINDOW_MAX) {
        return false;
    }
    for (uint32_t h = 0; h < p->memoryHeapCount; h++) {
        if ((p->memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            p->memoryHeaps[h].size > own->size) {
            return true;
        }
    }
    return false;
}

/* Smaller is better; equal ones keep the driver's order, which is by speed. */
static uint32_t cost_of(VkMemoryPropertyFlags flags, bool is_small, vy_memory_kind kind)
{
    uint32_t local = flags & LOCAL ? 1 : 0, visible = flags & VISIBLE ? 1 : 0;
    uint32_t loose = flags & COHERENT ? 0 : 1, cached = flags & CACHED ? 1 : 0;
    uint32_t small = is_small ? 1 : 0;
    if ((flags & ~(VkMemoryPropertyFlags)ORDINARY) || (vy_kind_is_mapped(kind) && !visible)) {
        return UNFIT;
    }
    switch (kind) {
    case VY_MEMORY_DEVICE_ONLY:
        return local ? 2 * small + visible : UNFIT;
    case VY_MEMORY_DEVICE:
        return local ? 2 * small + visible : 8;
    case VY_MEMORY_MAPPABLE:
        return local ? 4 * loose + (1 - cached) : UNFIT;
    case VY_MEMORY_UPLOAD:
        return 16 * small + 8 * local + 4 * loose + cached;
    case VY_MEMORY_TABLE:
        return 8 * (1 - local) + 4 * loose + cached;
    case VY_MEMORY_READBACK:
        return 16 * small + 8 * (1 - cached) + 4 * local + 2 * loose;
    }
    return UNFIT;
}

uint32_t vy_placement_types(const VkPhysicalDeviceMemoryProperties *p, uint32_t allowed,
                            vy_memory_kind kind, uint32_t out_types[VK_MAX_MEMORY_TYPES])
{
    uint32_t costs[VK_MAX_MEMORY_TYPES];
    uint32_t count = 0;
    for (uint32_t t = 0; t < p->memoryTypeCount; t++) {
        if (!(allowed >> t & 1u)) {
            continue;
        }
        const VkMemoryType *type = &p->memoryTypes[t];
        uint32_t cost = cost_of(type->propertyFlags, is_small_window(p, type->heapIndex), kind);
        if (cost == UNFIT) {
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && costs[at - 1] > cost; at--) {
            costs[at] = costs[at - 1];
            out_types[at] = out_types[at - 1];
        }
        costs[at] = cost;
        out_types[at] = t;
    }
    return count;
}

uint64_t vy_placement_share(const VkPhysicalDeviceMemoryProperties *p, vy_memory_kind kind,
                            uint32_t heap)
{
    if (!is_small_window(p, heap)) {
        return UINT64_MAX;
    }
    uint64_t size = p->memoryHeaps[heap].size;
    return kind == VY_MEMORY_MAPPABLE ? size / 4 * 3 : size / 2;
}

uint64_t vy_placement_room(const vy_heap_state *heap, bool has_budget, uint64_t share)
{
    uint64_t left = heap->budget > heap->usage ? heap->budget - heap->usage : 0;
    if (has_budget) {
        left -= left / 10;
    }
    /* Blocks that are held already cost nothing more. */
    left += heap->own > heap->used ? heap->own - heap->used : 0;
    uint64_t of_share = share > heap->used ? share - heap->used : 0;
    return left < of_share ? left : of_share;
}

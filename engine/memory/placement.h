/* Which types of memory a block may lie in, best first, and how much of a heap it may take: plain
 * data in, plain data out. */
#ifndef VY_PLACEMENT_H
#define VY_PLACEMENT_H

#include "engine/memory/memory.h"

/* Types among `allowed` (a bit each) that serve the kind, best first; returns how many. */
uint32_t vy_placement_types(const VkPhysicalDeviceMemoryProperties *properties, uint32_t allowed,
                            vy_memory_kind kind, uint32_t out_types[VK_MAX_MEMORY_TYPES]);
/* The most that blocks of ours may hold of the heap once one of this kind is added. Less than the
 * heap only where it is a small window of the host into the device's memory (256 MiB of BAR), which
 * the host, its renderer and the driver need as well. */
uint64_t vy_placement_share(const VkPhysicalDeviceMemoryProperties *properties, vy_memory_kind kind,
                            uint32_t heap);
/* The kind is mapped for the host. */
bool vy_kind_is_mapped(vy_memory_kind kind);

typedef struct vy_heap_state {
    uint64_t size;
    uint64_t budget, usage; /* of the process, as the driver says; or 90 % of size, and own */
    uint64_t own;           /* held by the library, in blocks */
    uint64_t used;          /* of these, by buffers */
} vy_heap_state;

/* What a buffer of this kind may take of a heap without passing the budget. `has_budget`: the
 * figures are the driver's. */
uint64_t vy_placement_room(const vy_heap_state *heap, bool has_budget, uint64_t share);

#endif

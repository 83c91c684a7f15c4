/* Heaps that a device does not have, played over the memory that it has: one of the device's own,
 * one of the host, and a small window into the device's. Part of vk_layer. */
#ifndef VY_VK_HEAPS_H
#define VY_VK_HEAPS_H

#include <volk.h>

#include <stdbool.h>

enum { HEAP_DEVICE, HEAP_HOST, HEAP_WINDOW, HEAP_COUNT };

/* Sizes in bytes; all zero: the device's own heaps are left alone. Without a window that is 0. Each
 * heap has one type of memory of the same number. */
typedef struct heap_settings {
    uint64_t sizes[HEAP_COUNT];
    /* What others use, where VK_EXT_memory_budget is asked. */
    uint64_t used_by_others[HEAP_COUNT];
} heap_settings;

extern heap_settings heaps;

void heaps_reset(void);
/* Bytes allocated now. */
uint64_t heaps_used(uint32_t heap);
/* Allocations from it so far. */
uint32_t heaps_allocations(uint32_t heap);

/* For the layer. */
void heaps_spoil_properties(VkPhysicalDeviceMemoryProperties *properties);
void heaps_spoil_budget(VkPhysicalDeviceMemoryProperties2 *properties);
void heaps_spoil_requirements(VkMemoryRequirements *requirements);
/* The heap meant; *info gets the real type. False where the heap is full. */
bool heaps_take(VkMemoryAllocateInfo *info, uint32_t *out_heap);
void heaps_note(VkDeviceMemory memory, uint32_t heap, uint64_t size);
void heaps_forget(VkDeviceMemory memory);

#endif

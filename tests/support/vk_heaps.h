/* The layer's part about heaps: those of layer.heaps, played over the device's first type of
 * memory. */
#ifndef VY_VK_HEAPS_H
#define VY_VK_HEAPS_H

#include "tests/support/vk_layer.h"

void heaps_reset(void);
void heaps_spoil_properties(VkPhysicalDeviceMemoryProperties *properties);
void heaps_spoil_budget(VkPhysicalDeviceMemoryProperties2 *properties);
void heaps_spoil_requirements(VkMemoryRequirements *requirements);
/* The heap meant; *info gets the real type. False where the heap is full. */
bool heaps_take(VkMemoryAllocateInfo *info, uint32_t *out_heap);
void heaps_note(VkDeviceMemory memory, uint32_t heap, uint64_t size);
void heaps_forget(VkDeviceMemory memory);

#endif

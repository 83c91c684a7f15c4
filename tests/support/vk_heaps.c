/* See vk_heaps.h. */
#include "tests/support/vk_heaps.h"

#include <string.h>

#define MAX_NOTES    4096u
#define DEVICE_LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define HOST_MEMORY  (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

static struct {
    VkDeviceMemory memory;
    uint32_t heap;
    uint64_t size;
} notes[MAX_NOTES];
static uint64_t used[VK_MAX_MEMORY_HEAPS];
static VkPhysicalDeviceMemoryProperties played; /* as last told */

void heaps_reset(void)
{
    memset(notes, 0, sizeof notes);
    memset(used, 0, sizeof used);
}

void heaps_spoil_properties(VkPhysicalDeviceMemoryProperties *p)
{
    if (layer.heaps != LAYER_HEAPS_REAL) {
        uint64_t size = p->memoryHeaps[0].size;
        p->memoryHeapCount = 2;
        p->memoryHeaps[0] = (VkMemoryHeap){size / 2, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
        p->memoryHeaps[1] = (VkMemoryHeap){size / 2, 0};
        p->memoryTypeCount = 3;
        p->memoryTypes[0] = (VkMemoryType){DEVICE_LOCAL, 0};
        p->memoryTypes[1] = (VkMemoryType){HOST_MEMORY, 1};
        p->memoryTypes[2] = (VkMemoryType){HOST_MEMORY | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
    }
    if (layer.heaps == LAYER_HEAPS_REBAR) {
        p->memoryHeaps[2] = (VkMemoryHeap){LAYER_REBAR_SIZE, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
        p->memoryHeapCount = 3;
        p->memoryTypes[3] = (VkMemoryType){DEVICE_LOCAL | HOST_MEMORY, 2};
        p->memoryTypeCount = 4;
    }
    played = *p;
}

void heaps_spoil_budget(VkPhysicalDeviceMemoryProperties2 *properties)
{
    for (VkBaseOutStructure *at = properties->pNext; at; at = at->pNext) {
        if (at->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            continue;
        }
        VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)at;
        for (uint32_t h = 0; h < played.memoryHeapCount; h++) {
            if (layer.heaps != LAYER_HEAPS_REAL || layer.heap_room[h]) {
                budget->heapBudget[h] =
                    layer.heap_room[h] ? layer.heap_room[h] : played.memoryHeaps[h].size;
                budget->heapUsage[h] = used[h];
            }
        }
    }
}

void heaps_spoil_requirements(VkMemoryRequirements *requirements)
{
    if (layer.heaps != LAYER_HEAPS_REAL) {
        requirements->memoryTypeBits = (1u << played.memoryTypeCount) - 1;
    }
}

bool heaps_take(VkMemoryAllocateInfo *info, uint32_t *out_heap)
{
    uint32_t heap = *out_heap = played.memoryTypes[info->memoryTypeIndex].heapIndex;
    if (layer.heaps != LAYER_HEAPS_REAL) {
        info->memoryTypeIndex = 0;
    }
    return !layer.heap_room[heap] || used[heap] + info->allocationSize <= layer.heap_room[heap];
}

void heaps_note(VkDeviceMemory memory, uint32_t heap, uint64_t size)
{
    for (uint32_t i = 0; i < MAX_NOTES; i++) {
        if (!notes[i].memory) {
            notes[i].memory = memory;
            notes[i].heap = heap;
            notes[i].size = size;
            used[heap] += size;
            return;
        }
    }
}

void heaps_forget(VkDeviceMemory memory)
{
    for (uint32_t i = 0; memory && i < MAX_NOTES; i++) {
        if (notes[i].memory == memory) {
            used[notes[i].heap] -= notes[i].size;
            notes[i].memory = VK_NULL_HANDLE;
            return;
        }
    }
}

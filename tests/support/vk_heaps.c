/* See vk_heaps.h. */
#include "tests/support/vk_heaps.h"

#include <string.h>

#define MAX_NOTES 4096u

heap_settings heaps;

static struct {
    VkDeviceMemory memory;
    uint32_t heap;
    uint64_t size;
} notes[MAX_NOTES];
static uint64_t used[HEAP_COUNT];
static uint32_t allocations[HEAP_COUNT];

static bool is_on(void)
{
    return heaps.sizes[HEAP_DEVICE] > 0;
}

static uint32_t count(void)
{
    return heaps.sizes[HEAP_WINDOW] ? 3 : 2;
}

void heaps_reset(void)
{
    memset(&heaps, 0, sizeof heaps);
    memset(notes, 0, sizeof notes);
    memset(used, 0, sizeof used);
    memset(allocations, 0, sizeof allocations);
}

uint64_t heaps_used(uint32_t heap)
{
    return used[heap];
}

uint32_t heaps_allocations(uint32_t heap)
{
    return allocations[heap];
}

void heaps_spoil_properties(VkPhysicalDeviceMemoryProperties *p)
{
    static const VkMemoryPropertyFlags flags[HEAP_COUNT] = {
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
            VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
            VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    };
    if (!is_on()) {
        return;
    }
    p->memoryHeapCount = p->memoryTypeCount = count();
    for (uint32_t h = 0; h < count(); h++) {
        p->memoryHeaps[h] =
            (VkMemoryHeap){heaps.sizes[h],
                           h == HEAP_HOST ? 0 : (VkMemoryHeapFlags)VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
        p->memoryTypes[h] = (VkMemoryType){flags[h], h};
    }
}

void heaps_spoil_budget(VkPhysicalDeviceMemoryProperties2 *properties)
{
    for (VkBaseOutStructure *at = properties->pNext; is_on() && at; at = at->pNext) {
        if (at->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            continue;
        }
        VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)at;
        for (uint32_t h = 0; h < count(); h++) {
            budget->heapBudget[h] = heaps.sizes[h];
            budget->heapUsage[h] = used[h] + heaps.used_by_others[h];
        }
    }
}

void heaps_spoil_requirements(VkMemoryRequirements *requirements)
{
    if (is_on()) {
        requirements->memoryTypeBits = (1u << count()) - 1;
    }
}

bool heaps_take(VkMemoryAllocateInfo *info, uint32_t *out_heap)
{
    *out_heap = HEAP_COUNT;
    if (!is_on()) {
        return true;
    }
    *out_heap = info->memoryTypeIndex;
    info->memoryTypeIndex = 0;
    return heaps.used_by_others[*out_heap] + used[*out_heap] + info->allocationSize <=
           heaps.sizes[*out_heap];
}

void heaps_note(VkDeviceMemory memory, uint32_t heap, uint64_t size)
{
    for (uint32_t i = 0; heap < HEAP_COUNT && i < MAX_NOTES; i++) {
        if (!notes[i].memory) {
            notes[i].memory = memory;
            notes[i].heap = heap;
            notes[i].size = size;
            used[heap] += size;
            allocations[heap]++;
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

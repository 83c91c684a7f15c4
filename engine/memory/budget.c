/* How much device memory there is, is held, and may be taken. */
#include "engine/memory/back.h"

#include <string.h>

static bool has_budget(const vy_memory *m)
{
    return m->device->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget];
}

void vy_heap_states(vy_memory *m, vy_heap_state out_heaps[VK_MAX_MEMORY_HEAPS])
{
    vyre_device *device = m->device;
    vy_heap_use use[VK_MAX_MEMORY_HEAPS];
    memset(use, 0, sizeof use);
    memset(out_heaps, 0, VK_MAX_MEMORY_HEAPS * sizeof *out_heaps);
    if (m->back) {
        m->back->usage(m, use);
    }
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    if (has_budget(m)) {
        VkPhysicalDeviceMemoryProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
        device->vki.vkGetPhysicalDeviceMemoryProperties2(device->physical, &properties);
    }
    for (uint32_t h = 0; h < m->properties.memoryHeapCount; h++) {
        vy_heap_state *out = &out_heaps[h];
        out->size = m->properties.memoryHeaps[h].size;
        out->own = use[h].own;
        out->used = use[h].used;
        out->budget = budget.heapBudget[h];
        out->usage = budget.heapUsage[h];
        if (!has_budget(m)) {
            out->budget = out->size - out->size / 10;
            out->usage = out->own;
        }
    }
}

static bool is_local(const vy_memory *m, uint32_t heap)
{
    return (m->properties.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
}

bool vy_budget_reserve(vy_memory *m, vy_memory_kind kind, uint64_t size, vy_rooms *out_rooms,
                       bool *out_is_held)
{
    const VkPhysicalDeviceMemoryProperties *p = &m->properties;
    vy_heap_state states[VK_MAX_MEMORY_HEAPS];
    uint32_t types[VK_MAX_MEMORY_TYPES];
    uint32_t type_count = vy_placement_types(p, UINT32_MAX, kind, types);
    uint64_t limit = m->device->memory_limit;
    bool fits = false;
    memset(out_rooms, 0, sizeof *out_rooms);
    vy_heap_states(m, states);
    vy_mutex_lock(&m->mutex);
    for (uint32_t h = 0; h < p->memoryHeapCount; h++) {
        uint64_t share = vy_placement_share(p, kind, h);
        if (limit && is_local(m, h)) {
            /* The caller knows what it wants: its limit stands instead of the driver's advice. */
            states[h].budget = UINT64_MAX / 2;
            uint64_t of_limit = limit > m->held ? limit - m->held : 0;
            uint64_t of_share = vy_placement_room(&states[h], false, share);
            out_rooms->heaps[h] = of_limit < of_share ? of_limit : of_share;
        } else {
            out_rooms->heaps[h] = vy_placement_room(&states[h], has_budget(m), share);
        }
    }
    for (uint32_t i = 0; i < type_count && !fits; i++) {
        fits = out_rooms->heaps[p->memoryTypes[types[i]].heapIndex] >= size;
    }
    *out_is_held = fits && is_local(m, p->memoryTypes[types[0]].heapIndex);
    m->held += *out_is_held ? size : 0;
    vy_mutex_unlock(&m->mutex);
    return fits;
}

void vy_budget_settle(vy_memory *m, uint64_t size, bool was_held, bool is_held)
{
    if (was_held != is_held) {
        vy_mutex_lock(&m->mutex);
        m->held = is_held ? m->held + size : m->held - size;
        vy_mutex_unlock(&m->mutex);
    }
}

/* The heap with the most room among those that serve the kind. */
static uint64_t most_left(vy_memory *m, vy_memory_kind kind, const vy_heap_state *states,
                          uint64_t *out_whole)
{
    uint32_t types[VK_MAX_MEMORY_TYPES];
    uint32_t count = vy_placement_types(&m->properties, UINT32_MAX, kind, types);
    uint64_t left = 0;
    *out_whole = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t h = m->properties.memoryTypes[types[i]].heapIndex;
        uint64_t room = states[h].budget > states[h].usage ? states[h].budget - states[h].usage : 0;
        if (*out_whole == 0 || room > left) {
            left = room;
            *out_whole = states[h].size;
        }
    }
    return left;
}

vyre_result vy_budget_error(vy_memory *m, vy_memory_kind kind, uint64_t size, VkResult result,
                            vyre_diag *diag)
{
    static const char *const names[] = {"device",       "device",       "mappable device",
                                        "host-visible", "host-visible", "host-visible"};
    vy_heap_state states[VK_MAX_MEMORY_HEAPS];
    vy_heap_states(m, states);
    uint64_t limit = m->device->memory_limit;
    vy_mutex_lock(&m->mutex);
    unsigned long long own = m->held, asked = size;
    vy_mutex_unlock(&m->mutex);
    uint64_t whole = 0;
    uint64_t left = most_left(m, kind, states, &whole);
    const char *why = result == VK_SUCCESS ? "the driver was not asked" : vy_vk_result_text(result);
    if (diag) {
        diag->vk_result = (int32_t)result;
    }
    if (limit && (result == VK_SUCCESS || limit <= own || limit - own < size)) {
        return vy_diag_set(diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, (vy_loc){0, 0},
                           "%llu bytes of %s memory were asked for, and buffers hold %llu of the "
                           "memory_limit of %llu (%s). Fix: destroy buffers that are not needed, "
                           "bind smaller ones, or give the device a larger memory_limit",
                           asked, names[kind], own, (unsigned long long)limit, why);
    }
    return vy_diag_set(diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, (vy_loc){0, 0},
                       "%llu bytes of %s memory were asked for, buffers hold %llu and about %llu "
                       "of %llu are left (%s). Fix: destroy buffers that are not needed, or bind "
                       "smaller ones",
                       asked, names[kind], own, (unsigned long long)left, (unsigned long long)whole,
                       why);
}

uint32_t vyre_device_get_memory(vyre_device *device, vyre_heap out_heaps[VYRE_MAX_HEAPS])
{
    if (!device || !device->memory || !out_heaps) {
        return 0;
    }
    vy_memory *m = device->memory;
    const VkPhysicalDeviceMemoryProperties *p = &m->properties;
    vy_heap_state states[VK_MAX_MEMORY_HEAPS];
    vy_heap_states(m, states);
    memset(out_heaps, 0, VYRE_MAX_HEAPS * sizeof *out_heaps);
    for (uint32_t h = 0; h < p->memoryHeapCount; h++) {
        out_heaps[h] = (vyre_heap){.size = states[h].size,
                                   .budget = states[h].budget,
                                   .usage = states[h].usage,
                                   .own = states[h].own,
                                   .is_device_local = is_local(m, h)};
    }
    for (uint32_t t = 0; t < p->memoryTypeCount; t++) {
        if (p->memoryTypes[t].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
            out_heaps[p->memoryTypes[t].heapIndex].is_mappable = 1;
        }
    }
    return p->memoryHeapCount;
}

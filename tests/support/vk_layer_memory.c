/* The layer's part about memory: heaps and types as the settings have them, the two copies of
 * memory that is not coherent, and which buffer lies where. */
#include "tests/support/vk_layer_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MEMORIES 4096u
#define MAX_BUFFERS  16384u
#define UNTOUCHED    0xa5 /* what memory holds for a host that has not invalidated it */

typedef struct memory {
    VkDeviceMemory handle;
    VkDevice device;
    uint64_t size;
    uint32_t heap;
    bool is_mappable, is_dedicated;
    unsigned char *mapped; /* the device's copy, mapped by the layer; NULL: cannot be */
    unsigned char *shadow; /* the host's copy, where it is another */
} memory;

static memory memories[MAX_MEMORIES];
static layer_buffer buffers[MAX_BUFFERS];
static uint32_t memory_count, buffer_count;
static uint64_t last_serial;
static VkPhysicalDeviceMemoryProperties played; /* as last told */
static bool is_mappable_really;

void layer_reset_memory(void)
{
    for (uint32_t i = 0; i < memory_count; i++) {
        free(memories[i].shadow);
    }
    memory_count = buffer_count = 0;
}

/* ---- What there is --------------------------------------------------------------------------- */

#define DEVICE_LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define HOST_MEMORY  (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED       (HOST_MEMORY | VK_MEMORY_PROPERTY_HOST_CACHED_BIT)

static uint32_t real_type; /* the device's own that all played ones are: it can be mapped */

/* Types with their heaps: 0, the device's; 1, the host's; 2, a small window. */
static const struct {
    VkMemoryType types[5];
    uint32_t type_count, heap_count;
} plays[] = {
    [LAYER_HEAPS_SEPARATE] = {{{DEVICE_LOCAL, 0}, {HOST_MEMORY, 1}, {CACHED, 1}}, 3, 2},
    [LAYER_HEAPS_REBAR] =
        {{{DEVICE_LOCAL, 0}, {HOST_MEMORY, 1}, {CACHED, 1}, {DEVICE_LOCAL | HOST_MEMORY, 2}}, 4, 3},
    [LAYER_HEAPS_MAPPABLE] = {{{0, 1},
                               {DEVICE_LOCAL, 0},
                               {HOST_MEMORY, 1},
                               {CACHED, 1},
                               {DEVICE_LOCAL | HOST_MEMORY, 0}},
                              5,
                              2},
    [LAYER_HEAPS_UNIFIED] = {{{DEVICE_LOCAL | HOST_MEMORY, 0}, {DEVICE_LOCAL | CACHED, 0}}, 2, 1},
};

static void play_heaps(VkPhysicalDeviceMemoryProperties *p)
{
    for (uint32_t i = p->memoryTypeCount; i-- > 0;) {
        real_type = (p->memoryTypes[i].propertyFlags & HOST_MEMORY) == HOST_MEMORY ? i : real_type;
    }
    uint64_t half = p->memoryHeaps[0].size / 2;
    p->memoryHeapCount = plays[layer.heaps].heap_count;
    p->memoryHeaps[0] = (VkMemoryHeap){half, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    p->memoryHeaps[1] = (VkMemoryHeap){half, 0};
    p->memoryHeaps[2] = (VkMemoryHeap){LAYER_REBAR_SIZE, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    p->memoryTypeCount = plays[layer.heaps].type_count;
    memcpy(p->memoryTypes, plays[layer.heaps].types, sizeof plays[layer.heaps].types);
}

void layer_play_memory(VkPhysicalDeviceMemoryProperties *p)
{
    if (layer.heaps != LAYER_HEAPS_REAL && p->memoryHeapCount) {
        play_heaps(p);
    }
    for (uint32_t i = 0; layer.no_coherent_memory && i < p->memoryTypeCount; i++) {
        p->memoryTypes[i].propertyFlags &=
            ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
    layer_lock();
    played = *p;
    is_mappable_really = layer.heaps != LAYER_HEAPS_REAL;
    layer_unlock();
}

static uint64_t heap_usage(uint32_t heap)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < memory_count; i++) {
        size += memories[i].heap == heap ? memories[i].size : 0;
    }
    return size;
}

void layer_play_budget(VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget)
{
    layer_lock();
    for (uint32_t h = 0; h < played.memoryHeapCount; h++) {
        bool is_full = layer.heap_room[h] != 0;
        if (layer.heaps != LAYER_HEAPS_REAL || is_full) {
            budget->heapBudget[h] = is_full ? layer.heap_room[h] : played.memoryHeaps[h].size;
            budget->heapUsage[h] = heap_usage(h);
        }
    }
    layer_unlock();
}

static uint32_t all_types(uint32_t bits)
{
    return layer.heaps != LAYER_HEAPS_REAL && bits >> real_type & 1
               ? (1u << played.memoryTypeCount) - 1
               : bits;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetBufferMemoryRequirements(VkDevice device,
                                                                     VkBuffer buffer,
                                                                     VkMemoryRequirements *out)
{
    layer_below.vkGetBufferMemoryRequirements(device, buffer, out);
    out->memoryTypeBits = all_types(out->memoryTypeBits);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetBufferMemoryRequirements2(
    VkDevice device, const VkBufferMemoryRequirementsInfo2 *info, VkMemoryRequirements2 *out)
{
    layer_below.vkGetBufferMemoryRequirements2(device, info, out);
    out->memoryRequirements.memoryTypeBits = all_types(out->memoryRequirements.memoryTypeBits);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static memory *memory_of(VkDeviceMemory handle)
{
    for (uint32_t i = memory_count; i-- > 0;) {
        if (memories[i].handle == handle) {
            return &memories[i];
        }
    }
    return NULL;
}

/* A host that never asked takes the first type for one that it can map. */
static VkMemoryType type_of(uint32_t index)
{
    return index < played.memoryTypeCount ? played.memoryTypes[index]
                                          : (VkMemoryType){DEVICE_LOCAL | HOST_MEMORY, 0};
}

static bool has_room(uint32_t heap, uint64_t size)
{
    uint64_t room = layer.heap_room[heap], used = heap_usage(heap);
    return (!room || (used <= room && size <= room - used)) &&
           (layer.heaps == LAYER_HEAPS_REAL || used + size <= played.memoryHeaps[heap].size);
}

/* The layer maps everything that the device can map once, itself: it reads argument blocks, and
 * the engine's maps are parts of it or of the shadow. */
uint32_t layer_memories(void)
{
    return memory_count;
}

uint32_t layer_dedicated_memories(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < memory_count; i++) {
        count += memories[i].is_dedicated;
    }
    return count;
}

static void note_memory(VkDevice device, VkDeviceMemory handle, const VkMemoryAllocateInfo *info)
{
    if (memory_count == MAX_MEMORIES) {
        return;
    }
    VkMemoryType type = type_of(info->memoryTypeIndex);
    memory *m = &memories[memory_count++];
    *m = (memory){.handle = handle,
                  .device = device,
                  .size = info->allocationSize,
                  .heap = type.heapIndex,
                  .is_mappable = type.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT};
    for (const VkBaseInStructure *next = info->pNext; next; next = next->pNext) {
        m->is_dedicated =
            m->is_dedicated || next->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    }
    void *mapped = NULL;
    bool can = (is_mappable_really && !layer.no_peeking) || m->is_mappable;
    if (can && layer_below.vkMapMemory &&
        layer_below.vkMapMemory(device, handle, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS) {
        m->mapped = mapped;
    }
    if (layer.no_coherent_memory && m->is_mappable) {
        m->shadow = malloc((size_t)m->size);
        if (m->shadow) {
            memset(m->shadow, UNTOUCHED, (size_t)m->size);
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkAllocateMemory(VkDevice device,
                                                            const VkMemoryAllocateInfo *info,
                                                            const VkAllocationCallbacks *callbacks,
                                                            VkDeviceMemory *out)
{
    if (layer_fails("vkAllocateMemory")) {
        return layer_failure();
    }
    layer_lock();
    VkMemoryAllocateInfo real = *info;
    if (layer.heaps != LAYER_HEAPS_REAL) {
        real.memoryTypeIndex = real_type;
    }
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (layer.max_allocations && memory_count >= layer.max_allocations) {
        result = VK_ERROR_TOO_MANY_OBJECTS;
    } else if (has_room(type_of(info->memoryTypeIndex).heapIndex, info->allocationSize)) {
        result = layer_below.vkAllocateMemory(device, &real, callbacks, out);
    }
    if (result == VK_SUCCESS) {
        layer_add_alive(1);
        note_memory(device, *out, info);
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkFreeMemory(VkDevice device, VkDeviceMemory handle,
                                                    const VkAllocationCallbacks *callbacks)
{
    layer_lock();
    layer_add_alive(-(handle != VK_NULL_HANDLE));
    layer_count_call("vkFreeMemory");
    memory *m = handle ? memory_of(handle) : NULL;
    if (m) {
        free(m->shadow);
        *m = memories[--memory_count];
    }
    layer_unlock();
    layer_below.vkFreeMemory(device, handle, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkMapMemory(VkDevice device, VkDeviceMemory handle,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       VkMemoryMapFlags flags, void **out)
{
    if (layer_fails("vkMapMemory")) {
        return layer_failure();
    }
    layer_lock();
    memory *m = memory_of(handle);
    VkResult result = VK_SUCCESS;
    if (!m) {
        result = layer_below.vkMapMemory(device, handle, offset, size, flags, out);
    } else if (!m->is_mappable || !m->mapped) {
        layer_add_bad(1);
        result = VK_ERROR_MEMORY_MAP_FAILED;
    } else {
        *out = (m->shadow ? m->shadow : m->mapped) + offset;
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkUnmapMemory(VkDevice device, VkDeviceMemory handle)
{
    layer_lock();
    memory *m = memory_of(handle);
    layer_unlock();
    if (!m || !m->mapped) {
        layer_below.vkUnmapMemory(device, handle);
    }
}

/* The atoms of the range, from one copy to the other. */
static void carry(layer_event_kind kind, uint32_t count, const VkMappedMemoryRange *ranges)
{
    layer_lock();
    for (uint32_t i = 0; i < count; i++) {
        layer_event *event = layer_log(kind);
        event->offset = ranges[i].offset;
        event->size = ranges[i].size;
        memory *m = memory_of(ranges[i].memory);
        if (!layer.no_coherent_memory || !m || !m->shadow) {
            continue;
        }
        uint64_t begin = ranges[i].offset, size = ranges[i].size;
        size = size == VK_WHOLE_SIZE ? m->size - begin : size;
        layer_add_bad(begin % LAYER_ATOM != 0);
        layer_add_bad(size % LAYER_ATOM != 0 && begin + size != m->size);
        if (begin + size > m->size) {
            layer_add_bad(1);
            continue;
        }
        if (layer.drop_flushes && kind == LAYER_FLUSH) {
            continue;
        }
        if (kind == LAYER_FLUSH) {
            memcpy(m->mapped + begin, m->shadow + begin, (size_t)size);
        } else {
            memcpy(m->shadow + begin, m->mapped + begin, (size_t)size);
        }
    }
    layer_unlock();
}

static VKAPI_ATTR VkResult VKAPI_CALL
wrap_vkFlushMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    if (layer_fails("vkFlushMappedMemoryRanges")) {
        return layer_failure();
    }
    carry(LAYER_FLUSH, count, ranges);
    return layer.no_coherent_memory ? VK_SUCCESS
                                    : layer_below.vkFlushMappedMemoryRanges(device, count, ranges);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkInvalidateMappedMemoryRanges(
    VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    if (layer_fails("vkInvalidateMappedMemoryRanges")) {
        return layer_failure();
    }
    carry(LAYER_INVALIDATE, count, ranges);
    return layer.no_coherent_memory
               ? VK_SUCCESS
               : layer_below.vkInvalidateMappedMemoryRanges(device, count, ranges);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static layer_buffer *buffer_of(VkBuffer handle)
{
    for (uint32_t i = buffer_count; i-- > 0;) {
        if (buffers[i].handle == handle) {
            return &buffers[i];
        }
    }
    return NULL;
}

const layer_buffer *layer_buffer_of(VkBuffer handle)
{
    return buffer_of(handle);
}

const layer_buffer *layer_buffer_numbered(uint64_t serial)
{
    for (uint32_t i = 0; i < buffer_count; i++) {
        if (buffers[i].serial == serial) {
            return &buffers[i];
        }
    }
    return NULL;
}

const layer_buffer *layer_buffer_at(VkDeviceAddress address)
{
    for (uint32_t i = 0; i < buffer_count; i++) {
        const layer_buffer *b = &buffers[i];
        if (b->address && address >= b->address && address - b->address < b->size) {
            return b;
        }
    }
    return NULL;
}

bool layer_buffer_read(const layer_buffer *buffer, uint64_t offset, void *out, size_t size)
{
    const memory *m = memory_of(buffer->memory);
    if (!m || !m->mapped || offset + size > buffer->size) {
        return false;
    }
    memcpy(out, m->mapped + buffer->memory_offset + offset, size);
    return true;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkCreateBuffer(VkDevice device,
                                                          const VkBufferCreateInfo *info,
                                                          const VkAllocationCallbacks *callbacks,
                                                          VkBuffer *out)
{
    if (layer_fails("vkCreateBuffer")) {
        return layer_failure();
    }
    VkResult result = layer_below.vkCreateBuffer(device, info, callbacks, out);
    if (result != VK_SUCCESS) {
        return result;
    }
    layer_lock();
    layer_add_alive(1);
    if (buffer_count < MAX_BUFFERS) {
        buffers[buffer_count++] =
            (layer_buffer){.handle = *out, .serial = ++last_serial, .size = info->size};
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyBuffer(VkDevice device, VkBuffer handle,
                                                       const VkAllocationCallbacks *callbacks)
{
    layer_lock();
    layer_add_alive(-(handle != VK_NULL_HANDLE));
    layer_buffer *buffer = handle ? buffer_of(handle) : NULL;
    if (buffer) {
        *buffer = buffers[--buffer_count];
    }
    layer_unlock();
    layer_below.vkDestroyBuffer(device, handle, callbacks);
}

static void note_bind(VkBuffer handle, VkDeviceMemory bound, uint64_t offset)
{
    layer_lock();
    layer_buffer *buffer = buffer_of(handle);
    if (buffer) {
        buffer->memory = bound;
        buffer->memory_offset = offset;
    }
    layer_unlock();
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkBindBufferMemory(VkDevice device, VkBuffer buffer,
                                                              VkDeviceMemory bound,
                                                              VkDeviceSize offset)
{
    if (layer_fails("vkBindBufferMemory")) {
        return layer_failure();
    }
    note_bind(buffer, bound, offset);
    return layer_below.vkBindBufferMemory(device, buffer, bound, offset);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkBindBufferMemory2(VkDevice device, uint32_t count,
                                                               const VkBindBufferMemoryInfo *infos)
{
    if (layer_fails("vkBindBufferMemory2")) {
        return layer_failure();
    }
    for (uint32_t i = 0; i < count; i++) {
        note_bind(infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
    }
    return layer_below.vkBindBufferMemory2(device, count, infos);
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL
wrap_vkGetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info)
{
    VkDeviceAddress address = layer_below.vkGetBufferDeviceAddress(device, info);
    layer_lock();
    layer_buffer *buffer = buffer_of(info->buffer);
    if (buffer) {
        buffer->address = address;
    }
    layer_unlock();
    return address;
}

PFN_vkVoidFunction layer_find_memory(const char *name)
{
    LAYER_TAKE(vkGetBufferMemoryRequirements)
    LAYER_TAKE(vkGetBufferMemoryRequirements2)
    LAYER_TAKE(vkAllocateMemory)
    LAYER_TAKE(vkFreeMemory)
    LAYER_TAKE(vkMapMemory)
    LAYER_TAKE(vkUnmapMemory)
    LAYER_TAKE(vkFlushMappedMemoryRanges)
    LAYER_TAKE(vkInvalidateMappedMemoryRanges)
    LAYER_TAKE(vkCreateBuffer)
    LAYER_TAKE(vkDestroyBuffer)
    LAYER_TAKE(vkBindBufferMemory)
    LAYER_TAKE(vkBindBufferMemory2)
    LAYER_TAKE(vkGetBufferDeviceAddress)
    return NULL;
}

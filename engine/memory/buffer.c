/* Resident buffers: the slot table and the public calls on it. */
#include "engine/memory/buffer.h"

#include <stdio.h>
#include <string.h>

#define INDEX_BITS 24u
#define FIELD_MASK 0xffffffu
#define NAME_SIZE  48u
#define PAGE_SLOTS 256u
#define FULL_USAGE                                                                                 \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |                      \
     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT)

typedef struct slot {
    uint32_t generation; /* from 1 */
    uint32_t next_free;  /* index + 1 of the next free slot */
    bool is_live, is_imported;
    uint32_t pins;       /* calls and recordings that use it */
    uint64_t busy_until; /* value of the timeline */
    vy_block block;      /* own memory */
    VkBuffer buffer;
    uint64_t size;
    VkBufferUsageFlags usage;
    VkDeviceAddress address;
    char name[NAME_SIZE];
} slot;

/* Slots lie in pages, which never move. */
struct vy_slot_table {
    vy_mutex mutex;
    slot **pages;
    uint32_t page_count, page_capacity;
    uint32_t used;       /* slots that were ever given out */
    uint32_t first_free; /* index + 1 */
};

vyre_result vy_slot_table_create(vyre_device *device, vy_slot_table **out_table, vyre_diag *diag)
{
    vy_slot_table *table = vy_alloc_zeroed(&device->allocator, 1, sizeof *table);
    *out_table = NULL;
    if (!table) {
        return vy_diag_no_memory(diag);
    }
    if (vy_mutex_init(&table->mutex) != 0) {
        vy_free(&device->allocator, table, sizeof *table);
        return vy_diag_no_memory(diag);
    }
    *out_table = table;
    return VYRE_OK;
}

static slot *slot_at(vy_slot_table *table, uint32_t index)
{
    return &table->pages[index / PAGE_SLOTS][index % PAGE_SLOTS];
}

void vy_slot_table_destroy(vyre_device *device, vy_slot_table **table_pointer)
{
    vy_slot_table *table = *table_pointer;
    if (!table) {
        return;
    }
    for (uint32_t i = 0; i < table->used; i++) {
        vy_block_destroy(device, &slot_at(table, i)->block);
    }
    for (uint32_t p = 0; p < table->page_count; p++) {
        vy_free(&device->allocator, table->pages[p], PAGE_SLOTS * sizeof(slot));
    }
    vy_free(&device->allocator, table->pages, table->page_capacity * sizeof *table->pages);
    vy_mutex_finish(&table->mutex);
    vy_free(&device->allocator, table, sizeof *table);
    *table_pointer = NULL;
}

/* ---- Handles --------------------------------------------------------------------------------- */

static vyre_buffer handle_of(const vyre_device *device, uint32_t index, uint32_t generation)
{
    return (vyre_buffer){(uint64_t)device->id << 48 | (uint64_t)generation << INDEX_BITS | index};
}

/* Under the lock: the live slot, or NULL with the reason. */
static slot *find(vyre_device *device, vyre_buffer buffer, const char *what, vyre_diag *diag)
{
    vy_slot_table *table = device->slots;
    uint32_t index = (uint32_t)(buffer.bits & FIELD_MASK);
    uint32_t generation = (uint32_t)(buffer.bits >> INDEX_BITS & FIELD_MASK);
    uint64_t bits = buffer.bits;
    if (bits == 0) {
        (void)vy_invalid(diag, "%s is no buffer. Fix: pass one that vyre_buffer_create gave", what);
        return NULL;
    }
    if (bits >> 48 != device->id) {
        (void)vy_invalid(diag,
                         "%s belongs to another device (handle 0x%llx). Fix: use a buffer of the "
                         "device that runs the work",
                         what, (unsigned long long)bits);
        return NULL;
    }
    if (index >= table->used) {
        (void)vy_invalid(diag,
                         "%s is not a buffer of this device (handle 0x%llx). Fix: pass one "
                         "that vyre_buffer_create gave",
                         what, (unsigned long long)bits);
        return NULL;
    }
    slot *s = slot_at(table, index);
    if (!s->is_live || s->generation != generation) {
        (void)vy_invalid(diag,
                         "%s was destroyed (handle 0x%llx, \"%s\"). Fix: do not use a buffer after "
                         "vyre_buffer_destroy",
                         what, (unsigned long long)bits, s->name);
        return NULL;
    }
    return s;
}

/* Under the lock: a slot to fill. */
static slot *take_slot(vyre_device *device, uint32_t *out_index)
{
    vy_slot_table *table = device->slots;
    if (table->first_free) {
        *out_index = table->first_free - 1;
        slot *s = slot_at(table, *out_index);
        table->first_free = s->next_free;
        return s;
    }
    if (table->used > FIELD_MASK) {
        return NULL;
    }
    if (table->used == table->page_count * PAGE_SLOTS) {
        if (table->page_count == table->page_capacity) {
            uint32_t capacity = table->page_capacity ? 2 * table->page_capacity : 8;
            slot **pages =
                vy_realloc(&device->allocator, table->pages, table->page_capacity * sizeof *pages,
                           capacity * sizeof *pages);
            if (!pages) {
                return NULL;
            }
            table->pages = pages;
            table->page_capacity = capacity;
        }
        slot *page = vy_alloc_zeroed(&device->allocator, PAGE_SLOTS, sizeof *page);
        if (!page) {
            return NULL;
        }
        table->pages[table->page_count++] = page;
    }
    *out_index = table->used++;
    slot *s = slot_at(table, *out_index);
    s->generation = 1;
    return s;
}

static vyre_result add(vyre_device *device, const slot *contents, vyre_buffer *out_buffer,
                       vyre_diag *diag)
{
    vy_slot_table *table = device->slots;
    uint32_t index = 0;
    vy_mutex_lock(&table->mutex);
    slot *s = take_slot(device, &index);
    if (s) {
        uint32_t generation = s->generation;
        *s = *contents;
        s->generation = generation;
        s->is_live = true;
        *out_buffer = handle_of(device, index, generation);
    }
    vy_mutex_unlock(&table->mutex);
    if (!s) {
        return vy_diag_no_memory(diag);
    }
    vy_mutex_lock(&device->counter_mutex);
    device->counters.buffers++;
    device->counters.imported_buffers += contents->is_imported;
    vy_mutex_unlock(&device->counter_mutex);
    return VYRE_OK;
}

vyre_result vy_resident_acquire(vyre_device *device, vyre_buffer buffer, const char *what,
                                vy_resident *out, vyre_diag *diag)
{
    vy_slot_table *table = device->slots;
    *out = (vy_resident){0};
    vy_mutex_lock(&table->mutex);
    slot *s = find(device, buffer, what, diag);
    if (s) {
        s->pins++;
        *out = (vy_resident){(uint32_t)(buffer.bits & FIELD_MASK), s->buffer, s->size, s->usage,
                             s->address};
    }
    vy_mutex_unlock(&table->mutex);
    return s ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT;
}

void vy_resident_release(vyre_device *device, const vy_resident *resident, uint64_t value)
{
    vy_slot_table *table = device->slots;
    vy_mutex_lock(&table->mutex);
    slot *s = slot_at(table, resident->index);
    s->pins--;
    if (value > s->busy_until) {
        s->busy_until = value;
    }
    vy_mutex_unlock(&table->mutex);
}

vyre_result vy_resident_import(vyre_device *device, VkBuffer buffer, uint64_t size,
                               VkBufferUsageFlags usage, const char *name, vyre_buffer *out_buffer,
                               vyre_diag *diag)
{
    slot contents = {.is_imported = true, .buffer = buffer, .size = size, .usage = usage};
    snprintf(contents.name, sizeof contents.name, "%s", name ? name : "imported");
    if (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT &&
        device->snapshot.has[VY_FEATURE_bufferDeviceAddress]) {
        VkBufferDeviceAddressInfo info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
            .buffer = buffer,
        };
        contents.address = device->vk.vkGetBufferDeviceAddress(device->device, &info);
    }
    return add(device, &contents, out_buffer, diag);
}

/* ---- Public ---------------------------------------------------------------------------------- */

vyre_result vyre_buffer_create(vyre_device *device, const vyre_buffer_params *params,
                               vyre_buffer *out_buffer, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_buffer) {
        return vy_invalid(diag, "out_buffer is NULL. Fix: pass where the buffer goes");
    }
    *out_buffer = (vyre_buffer){0};
    if (!device || !params) {
        return vy_invalid(diag, "no device or no parameters were given. Fix: pass both");
    }
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    slot contents = {.size = params->size, .usage = FULL_USAGE};
    snprintf(contents.name, sizeof contents.name, "%s", params->name ? params->name : "buffer");
    if (params->size == 0) {
        contents.buffer = vy_memory_zeros(device)->buffer;
        contents.address = vy_memory_zeros(device)->address;
        return add(device, &contents, out_buffer, diag);
    }
    code = vy_block_create(device, VY_MEMORY_DEVICE, params->size, contents.name, &contents.block,
                           diag);
    contents.buffer = contents.block.buffer;
    contents.address = contents.block.address;
    if (code == VYRE_OK && !(params->flags & VYRE_BUFFER_UNINITIALIZED)) {
        code = vy_transfer_fill(device, contents.buffer, 0, (params->size + 3) / 4 * 4, 0, diag);
    }
    if (code == VYRE_OK) {
        code = add(device, &contents, out_buffer, diag);
    }
    if (code != VYRE_OK) {
        vy_queue_drain(device, vy_queue_submitted(device));
        vy_block_destroy(device, &contents.block);
    }
    return code;
}

vyre_result vyre_buffer_destroy(vyre_device *device, vyre_buffer *buffer, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !buffer) {
        return vy_invalid(diag, "no device or no buffer was given. Fix: pass both");
    }
    if (buffer->bits == 0) {
        return VYRE_OK;
    }
    vy_slot_table *table = device->slots;
    vy_block block = {0};
    bool is_imported = false;
    vyre_result code = VYRE_ERROR_INVALID_ARGUMENT;
    vy_mutex_lock(&table->mutex);
    slot *s = find(device, *buffer, "the buffer", diag);
    if (s && (s->pins > 0 || !vy_queue_is_done(device, s->busy_until))) {
        code = vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "the buffer \"%s\" is used by %s. Fix: %s, then destroy it", s->name,
                           s->pins > 0 ? "a recording or a call of another thread"
                                       : "a dispatch whose wait timed out",
                           s->pins > 0 ? "destroy the recording or wait for the call"
                                       : "call vyre_device_wait");
    } else if (s) {
        code = VYRE_OK;
        block = s->block;
        is_imported = s->is_imported;
        s->block = (vy_block){0};
        s->buffer = VK_NULL_HANDLE;
        s->is_live = false;
        s->busy_until = 0;
        /* A slot whose generations are used up is not given out again. */
        if (s->generation < FIELD_MASK) {
            s->generation++;
            s->next_free = table->first_free;
            table->first_free = (uint32_t)(buffer->bits & FIELD_MASK) + 1;
        }
    }
    vy_mutex_unlock(&table->mutex);
    if (code != VYRE_OK) {
        return code;
    }
    *buffer = (vyre_buffer){0};
    vy_block_destroy(device, &block);
    vy_mutex_lock(&device->counter_mutex);
    device->counters.buffers--;
    device->counters.imported_buffers -= is_imported;
    vy_mutex_unlock(&device->counter_mutex);
    return VYRE_OK;
}

vyre_result vyre_buffer_query_size(vyre_device *device, vyre_buffer buffer, uint64_t *out_size,
                                   vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !out_size) {
        return vy_invalid(diag, "no device or no out_size was given. Fix: pass both");
    }
    *out_size = 0;
    vy_resident resident;
    vyre_result code = vy_resident_acquire(device, buffer, "the buffer", &resident, diag);
    if (code == VYRE_OK) {
        *out_size = resident.size;
        vy_resident_release(device, &resident, 0);
    }
    return code;
}

static vyre_result acquire_range(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                                 uint64_t size, VkBufferUsageFlags usage, vy_resident *out,
                                 vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device) {
        return vy_invalid(diag, "no device was given. Fix: pass a device");
    }
    vyre_result code = vy_resident_acquire(device, buffer, "the buffer", out, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (offset > out->size || size > out->size - offset) {
        code = vy_invalid(diag,
                          "bytes %llu to %llu were asked for, and the buffer has %llu. Fix: keep "
                          "offset + size within the buffer",
                          (unsigned long long)offset, (unsigned long long)(offset + size),
                          (unsigned long long)out->size);
    } else if (!(out->usage & usage)) {
        code = vy_invalid(diag,
                          "the imported buffer was created without %s. Fix: create it with that "
                          "usage and say so at the import",
                          usage == VK_BUFFER_USAGE_TRANSFER_SRC_BIT
                              ? "VK_BUFFER_USAGE_TRANSFER_SRC_BIT"
                              : "VK_BUFFER_USAGE_TRANSFER_DST_BIT");
    }
    if (code != VYRE_OK) {
        vy_resident_release(device, out, 0);
    }
    return code;
}

vyre_result vyre_buffer_upload(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                               const void *data, uint64_t size, vyre_diag *diag)
{
    vy_resident r;
    vyre_result code =
        acquire_range(device, buffer, offset, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &r, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (size > 0) {
        code = data ? vy_transfer_upload(device, r.buffer, offset, data, size, diag)
                    : vy_invalid(diag, "data is NULL. Fix: pass the bytes to upload");
    }
    vy_resident_release(device, &r, code == VYRE_OK ? 0 : vy_queue_submitted(device));
    return code;
}

vyre_result vyre_buffer_download(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                                 void *data, uint64_t size, vyre_diag *diag)
{
    vy_resident r;
    vyre_result code =
        acquire_range(device, buffer, offset, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &r, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (size > 0) {
        code = data ? vy_transfer_download(device, r.buffer, offset, data, size, diag)
                    : vy_invalid(diag, "data is NULL. Fix: pass where the bytes go");
    }
    vy_resident_release(device, &r, code == VYRE_OK ? 0 : vy_queue_submitted(device));
    return code;
}

vyre_result vyre_buffer_fill(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                             uint64_t size, uint32_t word, vyre_diag *diag)
{
    vy_resident r;
    vyre_result code =
        acquire_range(device, buffer, offset, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &r, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (offset % 4 || size % 4) {
        code = vy_invalid(diag,
                          "offset %llu or size %llu is not a multiple of 4. Fix: fill whole words, "
                          "and upload the rest",
                          (unsigned long long)offset, (unsigned long long)size);
    } else if (size > 0) {
        code = vy_transfer_fill(device, r.buffer, offset, size, word, diag);
    }
    vy_resident_release(device, &r, code == VYRE_OK ? 0 : vy_queue_submitted(device));
    return code;
}

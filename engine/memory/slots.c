/* The slot table: resident buffers behind their handles, pinned while they are used, and freed at
 * once or when their last use has ended. */
#include "engine/memory/buffer.h"

#include <stdio.h>
#include <string.h>

#define INDEX_BITS 24u
#define FIELD_MASK 0xffffffu
#define PAGE_SLOTS 256u
typedef struct slot {
    uint32_t generation; /* from 1 */
    uint32_t next;       /* index + 1 of the next one that is free, or released */
    bool is_live;        /* has a handle */
    uint32_t pins;       /* calls and recordings that use it */
    uint64_t busy_until; /* value of the timeline */
    vy_slot_contents contents;
} slot;

/* Slots lie in pages, which never move. */
struct vy_slot_table {
    vy_mutex mutex;
    slot **pages;
    uint32_t page_count, page_capacity;
    uint32_t used;       /* slots that were ever given out */
    uint32_t first_free; /* index + 1 */
    uint32_t first_released;
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
        vy_block_destroy(device, &slot_at(table, i)->contents.block);
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
                         what, (unsigned long long)bits, s->contents.name);
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
        table->first_free = s->next;
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

vyre_result vy_slot_add(vyre_device *device, const vy_slot_contents *contents,
                        vyre_buffer *out_buffer, vyre_diag *diag)
{
    vy_slot_table *table = device->slots;
    uint32_t index = 0;
    vy_mutex_lock(&table->mutex);
    slot *s = take_slot(device, &index);
    if (s) {
        *s = (slot){.generation = s->generation, .is_live = true, .contents = *contents};
        *out_buffer = handle_of(device, index, s->generation);
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

/* ---- Freeing --------------------------------------------------------------------------------- */

static uint32_t index_of(vyre_buffer buffer)
{
    return (uint32_t)(buffer.bits & FIELD_MASK);
}

/* Under the lock: takes the handle away. */
static void give_up_handle(slot *s)
{
    s->is_live = false;
    if (s->generation < FIELD_MASK) {
        s->generation++;
    }
}

/* Under the lock: the slot is free for the next buffer, and what it held is the caller's to free.
 * One whose generations are used up is not given out again. */
static vy_slot_contents empty_slot(vy_slot_table *table, uint32_t index)
{
    slot *s = slot_at(table, index);
    vy_slot_contents contents = s->contents;
    s->contents.block = (vy_block){0};
    s->contents.buffer = VK_NULL_HANDLE;
    s->busy_until = 0;
    if (s->generation < FIELD_MASK) {
        s->next = table->first_free;
        table->first_free = index + 1;
    }
    return contents;
}

/* Without the lock. */
static uint64_t free_contents(vyre_device *device, vy_slot_contents *contents)
{
    uint64_t size = contents->block.size;
    vy_block_destroy(device, &contents->block);
    vy_mutex_lock(&device->counter_mutex);
    device->counters.buffers--;
    device->counters.imported_buffers -= contents->is_imported;
    vy_mutex_unlock(&device->counter_mutex);
    return size;
}

static bool is_idle(vyre_device *device, const slot *s)
{
    return s->pins == 0 && vy_queue_is_done(device, s->busy_until);
}

/* Under the lock: takes one released slot whose last use has ended. */
static bool take_released(vyre_device *device, vy_slot_contents *out_contents)
{
    vy_slot_table *table = device->slots;
    uint32_t *at = &table->first_released;
    while (*at) {
        uint32_t index = *at - 1;
        slot *s = slot_at(table, index);
        if (is_idle(device, s)) {
            *at = s->next;
            *out_contents = empty_slot(table, index);
            return true;
        }
        at = &s->next;
    }
    return false;
}

uint64_t vy_resident_collect(vyre_device *device)
{
    vy_slot_table *table = device->slots;
    uint64_t size = 0;
    for (bool found = true; found;) {
        vy_slot_contents contents;
        vy_mutex_lock(&table->mutex);
        found = take_released(device, &contents);
        vy_mutex_unlock(&table->mutex);
        if (found) {
            size += free_contents(device, &contents);
        }
    }
    return size;
}

static vyre_result busy(const slot *s, vyre_diag *diag)
{
    return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                       "the buffer \"%s\" is used by %s. Fix: %s, then destroy it, or give it up "
                       "with vyre_buffer_release",
                       s->contents.name,
                       s->pins > 0 ? "a recording or a call of another thread"
                                   : "work that has not ended, or whose wait timed out",
                       s->pins > 0 ? "destroy the recording or wait for the call"
                                   : "call vyre_device_wait");
}

vyre_result vy_slot_remove(vyre_device *device, vyre_buffer buffer, bool may_defer, vyre_diag *diag)
{
    vy_slot_table *table = device->slots;
    vy_slot_contents contents;
    bool is_free = false;
    vyre_result code = VYRE_OK;
    vy_mutex_lock(&table->mutex);
    slot *s = find(device, buffer, "the buffer", diag);
    if (!s) {
        code = VYRE_ERROR_INVALID_ARGUMENT;
    } else if (is_idle(device, s)) {
        give_up_handle(s);
        contents = empty_slot(table, index_of(buffer));
        is_free = true;
    } else if (may_defer) {
        give_up_handle(s);
        s->next = table->first_released;
        table->first_released = index_of(buffer) + 1;
    } else {
        code = busy(s, diag);
    }
    vy_mutex_unlock(&table->mutex);
    if (is_free) {
        (void)free_contents(device, &contents);
    }
    return code;
}

/* ---- Using ----------------------------------------------------------------------------------- */

vyre_result vy_resident_acquire(vyre_device *device, vyre_buffer buffer, const char *what,
                                vy_resident *out, vyre_diag *diag)
{
    vy_residents_lock(device);
    vyre_result code = vy_resident_acquire_locked(device, buffer, what, out, diag);
    vy_residents_unlock(device);
    return code;
}

void vy_residents_lock(vyre_device *device)
{
    vy_mutex_lock(&device->slots->mutex);
}

void vy_residents_unlock(vyre_device *device)
{
    vy_mutex_unlock(&device->slots->mutex);
}

vyre_result vy_resident_acquire_locked(vyre_device *device, vyre_buffer buffer, const char *what,
                                       vy_resident *out, vyre_diag *diag)
{
    *out = (vy_resident){0};
    slot *s = find(device, buffer, what, diag);
    if (!s) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    s->pins++;
    *out = (vy_resident){index_of(buffer),  s->contents.buffer,  s->contents.size,
                         s->contents.usage, s->contents.address, s->contents.block.mapped != NULL};
    return VYRE_OK;
}

void vy_resident_release(vyre_device *device, const vy_resident *resident, uint64_t value)
{
    vy_residents_release(device, resident, 1, value);
}

void vy_residents_release(vyre_device *device, const vy_resident *list, uint32_t count,
                          uint64_t value)
{
    vy_slot_table *table = device->slots;
    bool is_last = false;
    vy_mutex_lock(&table->mutex);
    for (uint32_t i = 0; i < count; i++) {
        slot *s = slot_at(table, list[i].index);
        s->pins--;
        if (value > s->busy_until) {
            s->busy_until = value;
        }
        is_last = is_last || (!s->is_live && s->pins == 0);
    }
    vy_mutex_unlock(&table->mutex);
    if (is_last) {
        (void)vy_resident_collect(device);
    }
}

const vy_slot_contents *vy_resident_contents(vyre_device *device, const vy_resident *resident)
{
    vy_slot_table *table = device->slots;
    vy_mutex_lock(&table->mutex);
    const vy_slot_contents *contents = &slot_at(table, resident->index)->contents;
    vy_mutex_unlock(&table->mutex);
    return contents;
}

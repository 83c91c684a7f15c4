/* A batch's files as the device knows them, in memory that stays: where each begins, its size, its
 * layer and its first row. Where the device's memory can be mapped it is written there. */
#include "engine/scan/scanner.h"

#include <string.h>

#define ENTRY_WORDS   4u
#define ENTRY_SIZE    (ENTRY_WORDS * sizeof(uint32_t))
#define LEAST_ENTRIES 16u

static void forget(vyre_scan_batch *b, vy_scan_table *t)
{
    if (!t->is_mapped) {
        vy_free(&b->allocator, t->entries, (size_t)t->entry_count * ENTRY_SIZE);
    }
    vy_scan_unmake(b, &t->buffer);
    *t = (vy_scan_table){.entries = NULL};
}

void vy_scan_table_finish(vyre_scan_batch *b, vy_scan_table *table)
{
    forget(b, table);
}

/* Room for all files, twice as much as before at least. */
static vyre_result make_entries(vyre_scan_batch *b, vy_scan_table *t, vyre_diag *diag)
{
    uint64_t room = LEAST_ENTRIES;
    while (room < b->file_count) {
        room *= 2;
    }
    if (room <= t->entry_count) {
        return VYRE_OK;
    }
    size_t size = 0;
    if (room > UINT32_MAX || !vy_mul_size((size_t)room, ENTRY_SIZE, &size)) {
        return vy_diag_no_memory(diag);
    }
    forget(b, t);
    void *mapped = NULL;
    int is_coherent = 0;
    vyre_result code =
        vy_scan_remake(b, size, VYRE_BUFFER_MAPPABLE, "scan files", &t->buffer, diag);
    if (code != VYRE_OK) {
        return code;
    }
    t->is_mapped = vyre_buffer_map(b->device, t->buffer, &mapped, &is_coherent, NULL) == VYRE_OK;
    if (!t->is_mapped && b->memory == VYRE_SCAN_MEMORY_HOST) {
        /* Nothing of such a batch waits for what is in flight, as an upload does. */
        code = vy_scan_remake(b, size, VYRE_BUFFER_READBACK, "scan files", &t->buffer, diag);
        if (code != VYRE_OK) {
            forget(b, t);
            return code;
        }
        t->is_mapped =
            vyre_buffer_map(b->device, t->buffer, &mapped, &is_coherent, NULL) == VYRE_OK;
    }
    t->is_coherent = is_coherent != 0;
    t->entries = t->is_mapped ? mapped : vy_alloc_zeroed(&b->allocator, (size_t)room, ENTRY_SIZE);
    if (!t->entries) {
        forget(b, t);
        return vy_diag_no_memory(diag);
    }
    t->entry_count = (uint32_t)room;
    return VYRE_OK;
}

static uint64_t fill(const vyre_scan_batch *b, uint32_t segment_size, uint32_t *entries)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < b->file_count; i++) {
        const vy_scan_file *f = &b->files[i];
        const uint32_t entry[ENTRY_WORDS] = {f->start, f->size, f->layer, (uint32_t)rows};
        memcpy(entries + ENTRY_WORDS * (size_t)i, entry, sizeof entry);
        rows += ((uint64_t)f->size + segment_size - 1) / segment_size;
    }
    return rows;
}

vyre_result vy_scan_table_write(vyre_scan_batch *b, vy_scan_table *table, uint32_t segment_size,
                                uint64_t *out_size, vyre_diag *diag)
{
    vy_scan_table *t = table;
    *out_size = 0;
    if (t->is_written && t->segment_size == segment_size) {
        return VYRE_OK;
    }
    if (b->file_count == 0) {
        t->row_count = 0; /* which launches nothing */
        return VYRE_OK;
    }
    vyre_result code = make_entries(b, t, diag);
    if (code != VYRE_OK) {
        return code;
    }
    const uint64_t size = (uint64_t)b->file_count * ENTRY_SIZE;
    t->is_written = false;
    t->segment_size = segment_size;
    t->row_count = fill(b, segment_size, t->entries);
    if (!t->is_mapped) {
        code = vyre_buffer_upload(b->device, t->buffer, 0, t->entries, size, diag);
    } else if (!t->is_coherent) {
        code = vyre_buffer_sync_mapped(b->device, t->buffer, 0, size, VYRE_MAPPED_TO_DEVICE, diag);
    }
    t->is_written = code == VYRE_OK;
    *out_size = code == VYRE_OK ? size : 0;
    return code;
}

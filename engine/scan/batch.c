/* Batches: files one behind the other in memory that the device reads. */
#include "engine/scan/scanner.h"

#include <string.h>

#define NO_PLACE     ((vy_loc){0, 0})
#define MOST_BYTES   UINT64_C(0xffffffff)
#define LEAST_BYTES  UINT64_C(65536)
#define MOST_THREADS 64u

static uint64_t rounded(uint64_t size)
{
    return (size + VY_SCAN_UNIT - 1) / VY_SCAN_UNIT * VY_SCAN_UNIT;
}

static vyre_result busy(const vyre_scan_batch *b, vyre_diag *diag)
{
    if (b->scanner) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, NO_PLACE,
                           "a scan of the batch is in flight. Fix: call vyre_scanner_wait first, "
                           "or fill another batch meanwhile");
    }
    return VYRE_OK;
}

static vyre_result unreserved(const vyre_scan_batch *b, vyre_diag *diag)
{
    if (b->reserved != UINT64_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "room for a file is reserved. Fix: call vyre_scan_batch_commit first");
    }
    return VYRE_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A buffer that is not made zero; size 0 is one of the least size. */
static vyre_result make_buffer(vyre_scan_batch *b, uint64_t size, uint32_t flags, const char *name,
                               vyre_buffer *out_buffer, vyre_diag *diag)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.flags = flags;
    params.name = name;
    vyre_result code = vyre_buffer_create(b->device, &params, out_buffer, diag);
    b->allocations += code == VYRE_OK;
    return code;
}

void vy_scan_unmake(vyre_scan_batch *b, vyre_buffer *buffer)
{
    if (buffer->bits) {
        vyre_result code = vyre_buffer_release(b->device, buffer, NULL);
        (void)code; /* of a lost device there is nothing to do about it */
    }
}

/* On a host alone, or where the device's memory cannot be mapped, the bytes are the host's own. */
static vyre_result grow_host(vyre_scan_batch *b, uint64_t capacity, vyre_diag *diag)
{
    unsigned char *bytes =
        vy_realloc(&b->allocator, b->bytes, (size_t)b->capacity, (size_t)capacity);
    if (!bytes) {
        return vy_diag_no_memory(diag);
    }
    b->bytes = bytes;
    return VYRE_OK;
}

static vyre_result copy_old(vyre_scan_batch *b, vyre_buffer to, vyre_diag *diag)
{
    vyre_copy copy = {b->text, to, 0, 0, b->used};
    vyre_transfer_params params;
    vyre_transfer_params_init(&params);
    params.copies = &copy;
    params.copy_count = 1;
    if (!b->used || !b->text.bits) {
        return VYRE_OK;
    }
    vyre_result code = VYRE_OK;
    if (!b->is_coherent) {
        code = vyre_buffer_sync_mapped(b->device, b->text, 0, b->used, VYRE_MAPPED_TO_DEVICE, diag);
    }
    return code == VYRE_OK ? vyre_transfer(b->device, &params, diag) : code;
}

static vyre_result grow_device(vyre_scan_batch *b, uint64_t capacity, vyre_diag *diag)
{
    bool was_mapped = b->is_mapped || !b->text.bits;
    vyre_buffer text = {0};
    void *mapped = NULL;
    int is_coherent = 0;
    uint32_t kind =
        b->memory == VYRE_SCAN_MEMORY_HOST ? VYRE_BUFFER_READBACK : VYRE_BUFFER_MAPPABLE;
    vyre_result code =
        make_buffer(b, capacity, kind | VYRE_BUFFER_UNINITIALIZED, "scan text", &text, diag);
    if (code != VYRE_OK) {
        return code;
    }
    bool is_mapped =
        was_mapped && vyre_buffer_map(b->device, text, &mapped, &is_coherent, NULL) == VYRE_OK;
    if (is_mapped) {
        code = copy_old(b, text, diag);
    } else if (b->is_mapped) {
        code = vy_diag_set(diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, NO_PLACE,
                           "there is no room in mapped memory for a batch of %llu bytes. Fix: "
                           "scan the batch, clear it and go on, or create it with the size that "
                           "it will have",
                           (unsigned long long)capacity);
    } else {
        code = grow_host(b, capacity, diag);
        b->clean = 0;
    }
    if (code != VYRE_OK) {
        vy_scan_unmake(b, &text);
        return code;
    }
    vy_scan_unmake(b, &b->text);
    b->text = text;
    b->is_coherent = is_coherent != 0;
    if (is_mapped) {
        b->is_mapped = true;
        b->bytes = mapped;
        if (!is_coherent && b->used) { /* the copy was the device's */
            code =
                vyre_buffer_sync_mapped(b->device, text, 0, b->used, VYRE_MAPPED_FROM_DEVICE, diag);
        }
    }
    return code;
}

/* Room for `size` bytes behind what there is. Doubles, where that is allowed and there is room. */
static vyre_result make_room(vyre_scan_batch *b, uint64_t size, vyre_diag *diag)
{
    uint64_t needed = b->used + rounded(size);
    if (needed > MOST_BYTES) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "the batch would have %llu bytes, files rounded up to %u, and has at "
                           "most 4294967295. Fix: scan it, clear it, and add this file then",
                           (unsigned long long)needed, VY_SCAN_UNIT);
    }
    if (needed <= b->capacity) {
        return VYRE_OK;
    }
    uint64_t most = MOST_BYTES / VY_SCAN_UNIT * VY_SCAN_UNIT;
    uint64_t capacity = b->capacity * 2 > needed ? b->capacity * 2 : needed;
    capacity = capacity < LEAST_BYTES ? LEAST_BYTES : capacity;
    capacity = capacity > most ? most : capacity;
    vyre_result code = b->device ? grow_device(b, capacity, diag) : grow_host(b, capacity, diag);
    if (code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY && capacity > needed) {
        capacity = needed;
        vy_diag_clear(diag);
        code = grow_device(b, capacity, diag);
    }
    b->capacity = code == VYRE_OK ? capacity : b->capacity;
    return code;
}

static vyre_result make_file_room(vyre_scan_batch *b, uint32_t count, vyre_diag *diag)
{
    if (count <= b->file_capacity) {
        return VYRE_OK;
    }
    uint32_t capacity =
        count < UINT32_MAX / 2 && count < 2 * b->file_capacity ? 2 * b->file_capacity : count;
    capacity = capacity < 64 ? 64 : capacity;
    size_t size = 0;
    vy_scan_file *files =
        vy_mul_size(capacity, sizeof *files, &size)
            ? vy_realloc(&b->allocator, b->files, b->file_capacity * sizeof *files, size)
            : NULL;
    if (!files) {
        return vy_diag_no_memory(diag);
    }
    b->files = files;
    b->file_capacity = capacity;
    return VYRE_OK;
}

vyre_result vy_scan_batch_flush(vyre_scan_batch *b, uint64_t *out_size, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    *out_size = 0;
    if (!b->device || b->clean >= b->used) {
        return VYRE_OK;
    }
    uint64_t size = b->used - b->clean;
    if (!b->is_mapped) {
        code = vyre_buffer_upload(b->device, b->text, b->clean, b->bytes + b->clean, size, diag);
    } else if (!b->is_coherent) {
        code = vyre_buffer_sync_mapped(b->device, b->text, b->clean, size, VYRE_MAPPED_TO_DEVICE,
                                       diag);
    }
    if (code == VYRE_OK) {
        b->clean = b->used;
        *out_size = size;
    }
    return code;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

vyre_result vy_scan_batch_parts(vyre_scan_batch *b, uint32_t count, vyre_diag *diag)
{
    if (count <= b->part_count) {
        return VYRE_OK;
    }
    vy_scan_part *parts = vy_realloc(&b->allocator, b->parts, b->part_count * sizeof *parts,
                                     (size_t)count * sizeof *parts);
    if (!parts) {
        return vy_diag_no_memory(diag);
    }
    memset(parts + b->part_count, 0, (count - b->part_count) * sizeof *parts);
    b->parts = parts;
    b->part_count = count;
    return VYRE_OK;
}

vyre_result vy_scan_remake(vyre_scan_batch *b, uint64_t size, uint32_t flags, const char *name,
                           vyre_buffer *buffer, vyre_diag *diag)
{
    vyre_buffer made = {0};
    vyre_result code = make_buffer(b, size, flags | VYRE_BUFFER_UNINITIALIZED, name, &made, diag);
    if (code == VYRE_OK) {
        vy_scan_unmake(b, buffer);
        *buffer = made;
    }
    return code;
}

/* Room for `count` words and a quarter more, if there is less. */
static vyre_result make_words(vyre_scan_batch *b, uint64_t count, const char *name,
                              vyre_buffer *buffer, uint64_t *capacity, vyre_diag *diag)
{
    if (count <= *capacity) {
        return VYRE_OK;
    }
    uint64_t room = count + count / 4;
    *capacity = 0;
    vyre_result code = vy_scan_remake(b, room * sizeof(uint32_t), 0, name, buffer, diag);
    *capacity = code == VYRE_OK ? room : 0;
    return code;
}

vyre_result vy_scan_part_rows(vyre_scan_batch *b, vy_scan_part *part, uint64_t row_count,
                              uint32_t place_count, uint32_t automaton_count, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    if (!part->state.bits) {
        code = vy_scan_remake(b, sizeof part->words, 0, "scan state", &part->state, diag);
    }
    if (code == VYRE_OK && !part->inline_hits) {
        part->inline_hits =
            vy_alloc_zeroed(&b->allocator, VY_SCAN_INLINE_HITS, sizeof *part->inline_hits);
        code = part->inline_hits ? VYRE_OK : vy_diag_no_memory(diag);
    }
    if (code == VYRE_OK && !part->hits.bits) {
        code = vy_scan_part_hits(b, part, b->hit_capacity, diag);
    }
    if (code == VYRE_OK) {
        code = make_words(b, row_count, "scan counts", &part->counts, &part->row_capacity, diag);
    }
    if (code == VYRE_OK && automaton_count > 1) {
        code = make_words(b, row_count, "scan masks", &part->masks, &part->mask_capacity, diag);
    }
    if (code == VYRE_OK) { /* and one behind the last */
        code = make_words(b, (uint64_t)place_count + 1, "scan places", &part->places,
                          &part->place_capacity, diag);
    }
    return code;
}

vyre_result vy_scan_part_hits(vyre_scan_batch *b, vy_scan_part *part, uint32_t capacity,
                              vyre_diag *diag)
{
    vyre_result code =
        vy_scan_remake(b, (uint64_t)capacity * sizeof(vyre_hit), 0, "scan hits", &part->hits, diag);
    part->hit_capacity = code == VYRE_OK ? capacity : part->hit_capacity;
    return code;
}

static void unmake_hits(vyre_scan_batch *b)
{
    if (b->hits_buffer.bits) {
        vy_scan_unmake(b, &b->hits_buffer);
    } else {
        vy_free(&b->allocator, b->hits, (size_t)b->hit_room * sizeof *b->hits);
    }
    b->hits = NULL;
    b->hit_room = 0;
}

/* Memory of the host's that the device copies into. */
static bool map_hits(vyre_scan_batch *b, uint64_t room)
{
    vyre_buffer made = {0};
    void *mapped = NULL;
    int is_coherent = 0;
    if (room > UINT64_MAX / sizeof *b->hits ||
        make_buffer(b, room * sizeof *b->hits, VYRE_BUFFER_READBACK | VYRE_BUFFER_UNINITIALIZED,
                    "scan results", &made, NULL) != VYRE_OK) {
        return false;
    }
    if (vyre_buffer_map(b->device, made, &mapped, &is_coherent, NULL) != VYRE_OK) {
        vy_scan_unmake(b, &made);
        return false;
    }
    unmake_hits(b);
    b->hits_buffer = made;
    b->hits = mapped;
    b->hit_room = room;
    b->hits_are_coherent = is_coherent != 0;
    return true;
}

vyre_result vy_scan_batch_room(vyre_scan_batch *b, uint64_t count, vyre_diag *diag)
{
    if (count <= b->hit_room) {
        return VYRE_OK;
    }
    uint64_t room = count < 2 * b->hit_room ? 2 * b->hit_room : count;
    room = room < VY_SCAN_INLINE_HITS ? VY_SCAN_INLINE_HITS : room;
    if (b->device && map_hits(b, room)) {
        return VYRE_OK;
    }
    if (b->hits_buffer.bits) {
        unmake_hits(b);
    }
    vyre_hit *hits = room <= SIZE_MAX / sizeof *hits
                         ? vy_realloc(&b->allocator, b->hits, (size_t)b->hit_room * sizeof *hits,
                                      (size_t)room * sizeof *hits)
                         : NULL;
    if (!hits) {
        return vy_diag_no_memory(diag);
    }
    b->hits = hits;
    b->hit_room = room;
    return VYRE_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

vyre_result vyre_scan_batch_create(vyre_device *device, const vyre_scan_batch_params *params,
                                   vyre_scan_batch **out_batch, vyre_diag *diag)
{
    vyre_scan_batch_params p;
    vy_diag_clear(diag);
    *out_batch = NULL;
    vyre_result code = vy_params_read(vyre_scan_batch_params, &p, params, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (p.hit_capacity > VYRE_MAX_HITS || p.size > MOST_BYTES || p.threads > MOST_THREADS ||
        (unsigned)p.memory > VYRE_SCAN_MEMORY_HOST) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "a batch with %llu bytes, room for %u hits, memory %u and %u threads "
                           "cannot be. Fix: at most 4294967295 bytes, %u hits (more are taken in "
                           "parts) and %u threads, and memory by its name",
                           (unsigned long long)p.size, (unsigned)p.hit_capacity, (unsigned)p.memory,
                           (unsigned)p.threads, VYRE_MAX_HITS, MOST_THREADS);
    }
    vyre_allocator allocator = vy_allocator_or_default(p.allocator);
    vyre_scan_batch *b = vy_alloc_zeroed(&allocator, 1, sizeof *b);
    if (!b) {
        return vy_diag_no_memory(diag);
    }
    b->allocator = allocator;
    b->device = device;
    b->memory = p.memory;
    b->reserved = UINT64_MAX;
    b->threads = p.threads ? p.threads : 1;
    b->hit_capacity = p.hit_capacity ? p.hit_capacity : 65536;
    code = p.size ? make_room(b, p.size, diag) : VYRE_OK;
    if (code == VYRE_OK && p.file_count) {
        code = make_file_room(b, p.file_count, diag);
    }
    if (code != VYRE_OK) {
        vyre_scan_batch_destroy(&b);
    }
    *out_batch = b;
    return code;
}

void vyre_scan_batch_destroy(vyre_scan_batch **batch)
{
    vyre_scan_batch *b = *batch;
    if (!b) {
        return;
    }
    if (b->scanner) {
        vy_scan_give_up(b->scanner, b);
    }
    for (uint32_t i = 0; i < b->part_count; i++) {
        vy_scan_part *part = &b->parts[i];
        vy_scan_unmake(b, &part->counts);
        vy_scan_unmake(b, &part->masks);
        vy_scan_unmake(b, &part->places);
        vy_scan_unmake(b, &part->state);
        vy_scan_unmake(b, &part->hits);
        vy_free(&b->allocator, part->inline_hits, VY_SCAN_INLINE_HITS * sizeof *part->inline_hits);
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(b->tables); i++) {
        vy_scan_table_finish(b, &b->tables[i]);
    }
    unmake_hits(b);
    vy_scan_unmake(b, &b->text);
    if (!b->is_mapped) {
        vy_free(&b->allocator, b->bytes, (size_t)b->capacity);
    }
    vyre_allocator allocator = b->allocator;
    vy_free(&allocator, b->parts, b->part_count * sizeof *b->parts);
    vy_free(&allocator, b->files, b->file_capacity * sizeof *b->files);
    vy_free(&allocator, b, sizeof *b);
    *batch = NULL;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Of what the device knows of the files. */
static void forget_tables(vyre_scan_batch *b)
{
    for (uint32_t i = 0; i < VY_COUNT_OF(b->tables); i++) {
        b->tables[i].is_written = false;
    }
}

static void make_empty(vyre_scan_batch *b)
{
    forget_tables(b);
    b->file_count = 0;
    b->used = b->clean = b->size = b->written = 0;
    b->reserved = UINT64_MAX;
    b->hit_count = 0;
}

vyre_result vyre_scan_batch_clear(vyre_scan_batch *batch, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_result code = busy(batch, diag);
    if (code == VYRE_OK) {
        make_empty(batch);
    }
    return code;
}

static vyre_result too_many_files(vyre_diag *diag)
{
    return vy_diag_set(
        diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
        "the batch would have more than 4294967295 files. Fix: scan it and clear it");
}

/* Gives the file its place. */
static void append(vyre_scan_batch *b, const vyre_scan_file *file)
{
    b->files[b->file_count++] = (vy_scan_file){.start = (uint32_t)(b->used / 16),
                                               .size = file->size,
                                               .layer = file->layer,
                                               .path_hash = file->path_hash};
    b->used += rounded(file->size);
    b->size += file->size;
    b->written += file->size;
    b->hit_count = 0;
    forget_tables(b);
}

vyre_result vyre_scan_batch_reserve(vyre_scan_batch *batch, uint32_t size, void **out_bytes,
                                    vyre_diag *diag)
{
    vy_diag_clear(diag);
    *out_bytes = NULL;
    vyre_result code = busy(batch, diag);
    code = code == VYRE_OK ? unreserved(batch, diag) : code;
    if (code == VYRE_OK && batch->file_count == UINT32_MAX) {
        code = too_many_files(diag);
    }
    code = code == VYRE_OK ? make_room(batch, size, diag) : code;
    code = code == VYRE_OK ? make_file_room(batch, batch->file_count + 1, diag) : code;
    if (code == VYRE_OK) {
        static unsigned char nothing;
        batch->reserved = size;
        *out_bytes = batch->bytes ? batch->bytes + batch->used : &nothing;
    }
    return code;
}

vyre_result vyre_scan_batch_commit(vyre_scan_batch *batch, const vyre_scan_file *file,
                                   vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (batch->reserved == UINT64_MAX || file->size > batch->reserved) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "a file of %u bytes is committed where %s. Fix: reserve at least its "
                           "size, then commit it once",
                           (unsigned)file->size,
                           batch->reserved == UINT64_MAX ? "nothing is reserved"
                                                         : "less is reserved");
    }
    append(batch, file);
    batch->reserved = UINT64_MAX;
    return VYRE_OK;
}

static vyre_result check_files(const vyre_scan_file *files, uint32_t count, vyre_diag *diag)
{
    for (uint32_t i = 0; i < count; i++) {
        if (files[i].size && !files[i].bytes) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                               "file %u of those to add has %u bytes and none are given. Fix: set "
                               "`bytes`, or reserve room and read it there",
                               (unsigned)i, (unsigned)files[i].size);
        }
    }
    return VYRE_OK;
}

/* All of them or none. */
static vyre_result add_files(vyre_scan_batch *b, const vyre_scan_file *files, uint32_t count,
                             vyre_diag *diag)
{
    uint32_t first = b->file_count;
    uint64_t size = 0;
    vyre_result code = busy(b, diag);
    code = code == VYRE_OK ? unreserved(b, diag) : code;
    code = code == VYRE_OK ? check_files(files, count, diag) : code;
    if (code == VYRE_OK && count > UINT32_MAX - first) {
        code = too_many_files(diag);
    }
    for (uint32_t i = 0; i < count; i++) {
        size += rounded(files[i].size);
    }
    code = code == VYRE_OK ? make_room(b, size, diag) : code;
    code = code == VYRE_OK ? make_file_room(b, first + count, diag) : code;
    if (code != VYRE_OK) {
        return code;
    }
    for (uint32_t i = 0; i < count; i++) {
        append(b, &files[i]);
    }
    vy_scan_copy(b, first, files, count);
    return VYRE_OK;
}

vyre_result vyre_scan_batch_add(vyre_scan_batch *batch, const vyre_scan_file *file, vyre_diag *diag)
{
    vy_diag_clear(diag);
    return add_files(batch, file, 1, diag);
}

/* Buffers that hold something: text, files, and those of the parts. */
static uint32_t count_buffers(const vyre_scan_batch *b)
{
    uint32_t count = b->text.bits != 0;
    for (uint32_t i = 0; i < VY_COUNT_OF(b->tables); i++) {
        count += b->tables[i].buffer.bits != 0;
    }
    for (uint32_t i = 0; i < b->part_count; i++) {
        const vy_scan_part *p = &b->parts[i];
        const vyre_buffer buffers[] = {p->counts, p->masks, p->places, p->state, p->hits};
        for (uint32_t k = 0; k < VY_COUNT_OF(buffers); k++) {
            count += buffers[k].bits != 0;
        }
    }
    return count;
}

vyre_result vyre_scan_batch_refresh(vyre_scan_batch *batch, const vyre_scan_file *files,
                                    uint32_t file_count, vyre_scan_refresh_report *out_report,
                                    vyre_diag *diag)
{
    vyre_result code = vyre_scan_batch_clear(batch, diag);
    uint64_t before = count_buffers(batch);
    uint32_t allocations = batch->allocations;
    bool had_text = batch->text.bits != 0;
    if (code != VYRE_OK) {
        return code;
    }
    code = add_files(batch, files, file_count, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (out_report) {
        uint32_t made = batch->allocations - allocations;
        out_report->uploaded_size = batch->written;
        out_report->allocations = made;
        out_report->reused_count = (uint32_t)(before - (made && had_text));
        out_report->refreshed_count = had_text && !made && batch->written ? 1 : 0;
    }
    return VYRE_OK;
}

void vyre_scan_batch_get_info(const vyre_scan_batch *batch, vyre_scan_batch_info *out_info)
{
    *out_info = (vyre_scan_batch_info){.file_count = batch->file_count,
                                       .size = batch->size,
                                       .capacity = batch->capacity,
                                       .hit_capacity = batch->hit_capacity,
                                       .device_size = batch->device ? batch->capacity : 0,
                                       .is_mapped = batch->is_mapped};
    for (uint32_t i = 0; i < VY_COUNT_OF(batch->tables); i++) {
        const vy_scan_table *t = &batch->tables[i];
        out_info->device_size += t->buffer.bits ? (uint64_t)t->entry_count * 16 : 0;
    }
    for (uint32_t i = 0; i < batch->part_count; i++) {
        const vy_scan_part *p = &batch->parts[i];
        uint64_t words = p->row_capacity + p->mask_capacity + p->place_capacity;
        out_info->device_size += words * sizeof(uint32_t) +
                                 (uint64_t)p->hit_capacity * sizeof(vyre_hit) +
                                 (p->state.bits ? sizeof p->words : 0);
        out_info->hit_capacity =
            p->hit_capacity > out_info->hit_capacity ? p->hit_capacity : out_info->hit_capacity;
    }
}

void vyre_scan_batch_get_file(const vyre_scan_batch *batch, uint32_t file,
                              uint32_t out_words[VYRE_FILE_METADATA_WORDS])
{
    const vy_scan_file *f = &batch->files[file];
    out_words[0] = (uint32_t)f->path_hash;
    out_words[1] = (uint32_t)(f->path_hash >> 32);
    out_words[2] = f->size;
    out_words[3] = f->layer;
}

/* The public transfers: checks a list of them, fuses what touches, and runs it with one submission
 * and one wait where staging holds it, else in pieces, two of them in flight: the host copies one
 * while the device copies the other. */
#include "engine/memory/buffer.h"
#include "engine/memory/transfer.h"
#include "engine/memory/transfer_plan.h"

#include <stdio.h>
#include <string.h>

/* What goes in one piece. Uploads gain by pieces as soon as there are two. Downloads would too, but
 * all of theirs has to be there before the first output is written, as long as that is possible. */
#define MAX_UPLOAD_STAGING   ((uint64_t)8 << 20)
#define MAX_DOWNLOAD_STAGING ((uint64_t)64 << 20)
#define PIECE_SIZE           ((uint64_t)4 << 20)
#define MIN_STAGING          ((uint64_t)64 << 10)
#define MAX_TRANSFERS        ((uint64_t)1 << 28)

/* A list of ranges of one direction, fused. A range's bytes lie in one stream over all regions,
 * which is cut into pieces; where there are several, they take turns in the slots of staging. */
typedef struct stream {
    vy_region *regions;
    VkDeviceAddress *addresses; /* of the regions' buffers */
    uint32_t *region_of;        /* by transfer */
    vy_fused fused;
    uint64_t window; /* bytes of a piece */
    uint32_t pieces;
} stream;

typedef struct job {
    vyre_device *device;
    vy_transfer *t;
    const vyre_transfer_params *p;
    bool is_single;         /* a call for one transfer: errors give no number */
    vy_resident *residents; /* fills, uploads, copies (source, target), downloads */
    uint32_t resident_count;
    vy_placed_range *sorted;
    stream up, down;
    vy_step *steps;
    vy_access *accesses;
    bool *barriers;
    vy_hazard_room hazards;
    uint32_t step_count;
    uint32_t last_up, submissions; /* the one with the last piece of the uploads, and all */
    uint64_t values[VY_TRANSFER_SLOTS];
    vyre_device_counters counted;
} job;

/* ---- Room for the plan -------------------------------------------------------------------------
 */

enum part {
    RESIDENTS,
    SORTED,
    UP_REGIONS,
    UP_ADDRESSES,
    UP_REGION_OF,
    DOWN_REGIONS,
    DOWN_ADDRESSES,
    DOWN_REGION_OF,
    STEPS,
    ACCESSES,
    BARRIERS,
    HAZARD_POINTS,
    WORDS,
    PART_COUNT
};

static bool add_part(size_t *total, size_t count, size_t size, size_t *out_offset)
{
    size_t bytes = 0, padded = 0;
    *out_offset = *total;
    return vy_mul_size(count, size, &bytes) && vy_add_size(bytes, 15, &padded) &&
           vy_add_size(*total, padded / 16 * 16, total);
}

static vyre_result make_room(job *j, vyre_diag *diag)
{
    const vyre_transfer_params *p = j->p;
    vy_transfer *t = j->t;
    size_t ups = p->upload_count, downs = p->download_count;
    size_t steps = p->fill_count + ups + p->copy_count + downs;
    const size_t sizes[PART_COUNT][2] = {
        [RESIDENTS] = {steps + p->copy_count, sizeof *j->residents},
        [SORTED] = {ups > downs ? ups : downs, sizeof *j->sorted},
        [UP_REGIONS] = {ups, sizeof *j->up.regions},
        [UP_ADDRESSES] = {ups, sizeof *j->up.addresses},
        [UP_REGION_OF] = {ups, sizeof *j->up.region_of},
        [DOWN_REGIONS] = {downs, sizeof *j->down.regions},
        [DOWN_ADDRESSES] = {downs, sizeof *j->down.addresses},
        [DOWN_REGION_OF] = {downs, sizeof *j->down.region_of},
        [STEPS] = {steps, sizeof *j->steps},
        [ACCESSES] = {steps, sizeof *j->accesses},
        [BARRIERS] = {steps, sizeof *j->barriers},
        [HAZARD_POINTS] = {steps, 4 * sizeof *j->hazards.points},
        [WORDS] = {steps, 32 * sizeof *j->hazards.words},
    };
    size_t total = 0, offsets[PART_COUNT];
    for (int i = 0; i < PART_COUNT; i++) {
        if (!add_part(&total, sizes[i][0], sizes[i][1], &offsets[i])) {
            return vy_diag_no_memory(diag);
        }
    }
    if (total > t->room_size) {
        void *room = vy_realloc(&j->device->allocator, t->room, t->room_size, total);
        if (!room) {
            return vy_diag_no_memory(diag);
        }
        t->room = room;
        t->room_size = total;
    }
    unsigned char *base = t->room;
    j->residents = (void *)(base + offsets[RESIDENTS]);
    j->sorted = (void *)(base + offsets[SORTED]);
    j->up.regions = (void *)(base + offsets[UP_REGIONS]);
    j->up.addresses = (void *)(base + offsets[UP_ADDRESSES]);
    j->up.region_of = (void *)(base + offsets[UP_REGION_OF]);
    j->down.regions = (void *)(base + offsets[DOWN_REGIONS]);
    j->down.addresses = (void *)(base + offsets[DOWN_ADDRESSES]);
    j->down.region_of = (void *)(base + offsets[DOWN_REGION_OF]);
    j->steps = (void *)(base + offsets[STEPS]);
    j->accesses = (void *)(base + offsets[ACCESSES]);
    j->barriers = (void *)(base + offsets[BARRIERS]);
    j->hazards.points = (void *)(base + offsets[HAZARD_POINTS]);
    j->hazards.words = (void *)(base + offsets[WORDS]);
    return VYRE_OK;
}

/* ---- Checks ------------------------------------------------------------------------------------
 */

/* Why that range of a pinned buffer is refused. */
static vyre_result refuse_range(const vy_resident *r, const char *what, const uint64_t range[2],
                                VkBufferUsageFlags usage, vyre_diag *diag)
{
    unsigned long long offset = range[0], size = range[1];
    if (offset > r->size || size > r->size - offset) {
        return vy_invalid(diag,
                          "%llu bytes from byte %llu of %s were asked for, and it has %llu. Fix: "
                          "keep offset + size within the buffer",
                          size, offset, what, (unsigned long long)r->size);
    }
    return vy_invalid(diag,
                      "%s was imported without %s. Fix: create it with that usage and say so "
                      "at the import",
                      what,
                      usage == VK_BUFFER_USAGE_TRANSFER_SRC_BIT
                          ? "VK_BUFFER_USAGE_TRANSFER_SRC_BIT"
                          : "VK_BUFFER_USAGE_TRANSFER_DST_BIT");
}

/* Under the lock of the table of buffers: pins the buffer and checks a range of it; the resident
 * stays pinned whatever the answer. What it is called is only put together for an error: that takes
 * longer than the checks. */
static vyre_result check_range(job *j, const char *kind, uint32_t index, vyre_buffer buffer,
                               const uint64_t range[2], VkBufferUsageFlags usage, vyre_diag *diag)
{
    char what[64] = "the buffer";
    vy_resident *r = &j->residents[j->resident_count];
    vyre_result code = vy_resident_acquire_locked(j->device, buffer, what, r, NULL);
    j->resident_count += code == VYRE_OK;
    if (code == VYRE_OK && range[0] <= r->size && range[1] <= r->size - range[0] &&
        (r->usage & usage)) {
        return VYRE_OK;
    }
    if (!j->is_single) {
        snprintf(what, sizeof what, "the buffer of %s %u", kind, (unsigned)index);
    }
    return code == VYRE_OK ? refuse_range(r, what, range, usage, diag)
                           : vy_resident_acquire_locked(j->device, buffer, what, r, diag);
}

static vyre_result check_fill(job *j, uint32_t i, vyre_diag *diag)
{
    const vyre_fill *f = &j->p->fills[i];
    if (f->offset % 4 || f->size % 4) {
        return vy_invalid(diag,
                          "offset %llu or size %llu of fill %u is not a multiple of 4. Fix: fill "
                          "whole words, and upload the rest",
                          (unsigned long long)f->offset, (unsigned long long)f->size, (unsigned)i);
    }
    return check_range(j, "fill", i, f->buffer, (uint64_t[]){f->offset, f->size},
                       VK_BUFFER_USAGE_TRANSFER_DST_BIT, diag);
}

static vyre_result check_upload(job *j, uint32_t i, vyre_diag *diag)
{
    const vyre_upload *u = &j->p->uploads[i];
    vyre_result code = check_range(j, "upload", i, u->buffer, (uint64_t[]){u->offset, u->size},
                                   VK_BUFFER_USAGE_TRANSFER_DST_BIT, diag);
    if (code == VYRE_OK && u->size > 0 && !u->data) {
        code = vy_invalid(diag, "data of upload %u is NULL. Fix: pass the bytes to upload",
                          (unsigned)i);
    }
    return code;
}

static vyre_result check_copy(job *j, uint32_t i, vyre_diag *diag)
{
    const vyre_copy *c = &j->p->copies[i];
    vyre_result code =
        check_range(j, "the source of copy", i, c->source, (uint64_t[]){c->source_offset, c->size},
                    VK_BUFFER_USAGE_TRANSFER_SRC_BIT, diag);
    if (code == VYRE_OK) {
        code = check_range(j, "the target of copy", i, c->target,
                           (uint64_t[]){c->target_offset, c->size},
                           VK_BUFFER_USAGE_TRANSFER_DST_BIT, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    const vy_resident *pair = &j->residents[j->resident_count - 2];
    vy_range from = {(uint64_t)pair[0].buffer, c->source_offset, c->size};
    vy_range to = {(uint64_t)pair[1].buffer, c->target_offset, c->size};
    if (vy_ranges_overlap(&from, &to)) {
        return vy_invalid(diag,
                          "source and target of copy %u overlap. Fix: copy through another buffer",
                          (unsigned)i);
    }
    return VYRE_OK;
}

static vyre_result check_download(job *j, uint32_t i, vyre_diag *diag)
{
    const vyre_download *d = &j->p->downloads[i];
    vyre_result code = check_range(j, "download", i, d->buffer, (uint64_t[]){d->offset, d->size},
                                   VK_BUFFER_USAGE_TRANSFER_SRC_BIT, diag);
    if (code == VYRE_OK && d->size > 0 && !d->data) {
        code = vy_invalid(diag, "data of download %u is NULL. Fix: pass where the bytes go",
                          (unsigned)i);
    }
    return code;
}

static vyre_result check_all(job *j, vyre_diag *diag)
{
    typedef vyre_result (*check_fn)(job * j, uint32_t i, vyre_diag * diag);
    static const check_fn checks[] = {check_fill, check_upload, check_copy, check_download};
    const uint32_t counts[] = {j->p->fill_count, j->p->upload_count, j->p->copy_count,
                               j->p->download_count};
    vyre_result code = VYRE_OK;
    vy_residents_lock(j->device); /* once for all ranges */
    for (size_t kind = 0; kind < VY_COUNT_OF(checks); kind++) {
        for (uint32_t i = 0; i < counts[kind] && code == VYRE_OK; i++) {
            code = checks[kind](j, i, diag);
        }
    }
    vy_residents_unlock(j->device);
    return code;
}

static vyre_result check_lists(const vyre_transfer_params *p, vyre_diag *diag)
{
    const void *const lists[] = {p->fills, p->uploads, p->copies, p->downloads};
    const uint32_t counts[] = {p->fill_count, p->upload_count, p->copy_count, p->download_count};
    static const char *const names[] = {"fills", "uploads", "copies", "downloads"};
    uint64_t sum = 0;
    for (size_t i = 0; i < VY_COUNT_OF(lists); i++) {
        sum += counts[i];
        if (counts[i] > 0 && !lists[i]) {
            return vy_invalid(diag, "%s is NULL and their count is %u. Fix: pass the list",
                              names[i], (unsigned)counts[i]);
        }
    }
    if (sum > MAX_TRANSFERS) {
        return vy_invalid(diag, "%llu transfers were given at once. Fix: give at most %llu",
                          (unsigned long long)sum, (unsigned long long)MAX_TRANSFERS);
    }
    return VYRE_OK;
}

/* ---- Streams -----------------------------------------------------------------------------------
 */

static uint64_t buffer_key(const vy_resident *r)
{
    return (uint64_t)r->buffer;
}

static bool fuse_stream(job *j, stream *s, const vy_resident *residents, uint32_t count)
{
    if (!vy_fuse(j->sorted, count, s->regions, s->region_of, &s->fused)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (s->region_of[i] != VY_NO_REGION) {
            s->addresses[s->region_of[i]] = residents[i].address;
        }
    }
    return true;
}

static bool fuse(job *j)
{
    const vyre_transfer_params *p = j->p;
    const vy_resident *r = j->residents + p->fill_count;
    for (uint32_t i = 0; i < p->upload_count; i++) {
        const vyre_upload *u = &p->uploads[i];
        j->sorted[i] = (vy_placed_range){{buffer_key(&r[i]), u->offset, u->size}, i};
    }
    if (!fuse_stream(j, &j->up, r, p->upload_count)) {
        return false;
    }
    r += p->upload_count + 2 * (size_t)p->copy_count;
    for (uint32_t i = 0; i < p->download_count; i++) {
        const vyre_download *d = &p->downloads[i];
        j->sorted[i] = (vy_placed_range){{buffer_key(&r[i]), d->offset, d->size}, i};
    }
    return fuse_stream(j, &j->down, r, p->download_count);
}

/* Staging for the stream, smaller where memory is short. */
static vyre_result stage(job *j, stream *s, vy_memory_kind kind, vy_block *block, vyre_diag *diag)
{
    uint64_t most = kind == VY_MEMORY_UPLOAD ? MAX_UPLOAD_STAGING : MAX_DOWNLOAD_STAGING;
    bool is_whole = s->fused.size <= most;
    uint64_t wanted = is_whole ? s->fused.size : VY_TRANSFER_SLOTS * PIECE_SIZE;
    uint64_t size = MIN_STAGING;
    s->window = 0;
    s->pieces = 0;
    if (wanted == 0) {
        return VYRE_OK;
    }
    while (size < wanted) {
        size *= 2;
    }
    const char *name = kind == VY_MEMORY_UPLOAD ? "vyre staging" : "vyre readback";
    vyre_result code = VYRE_OK;
    if (block->size < wanted) {
        code = vy_block_grow(j->device, kind, size, name, block, diag);
        while (code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY && size > MIN_STAGING) {
            size /= 2;
            code = vy_block_grow(j->device, kind, size, name, block, diag);
        }
        if (code != VYRE_OK) {
            return code;
        }
        vy_diag_clear(diag);
    }
    if (is_whole && s->fused.size <= block->size) {
        s->window = s->fused.size;
    } else {
        uint64_t half = block->size / VY_TRANSFER_SLOTS;
        s->window = half < PIECE_SIZE ? half : PIECE_SIZE;
    }
    s->pieces = (uint32_t)((s->fused.size + s->window - 1) / s->window);
    return VYRE_OK;
}

/* Where the piece lies in staging. */
static uint64_t slot_offset(const stream *s, uint32_t piece)
{
    return piece % VY_TRANSFER_SLOTS * s->window;
}

/* The part of [begin, begin + size) in the piece, as staging has it. */
typedef struct part_of_stream {
    uint64_t staging, skipped, size; /* skipped: before it, of the range */
} part_of_stream;

static part_of_stream cut(const stream *s, uint32_t piece, uint64_t begin, uint64_t size)
{
    uint64_t low = piece * s->window, high = low + s->window, end = begin + size;
    uint64_t from = begin > low ? begin : low, to = end < high ? end : high;
    return from < to ? (part_of_stream){slot_offset(s, piece) + from - low, from - begin, to - from}
                     : (part_of_stream){0, 0, 0};
}

static part_of_stream cut_range(const stream *s, uint32_t piece, uint32_t index, uint64_t offset,
                                uint64_t size)
{
    if (s->region_of[index] == VY_NO_REGION) {
        return (part_of_stream){0, 0, 0};
    }
    const vy_region *r = &s->regions[s->region_of[index]];
    return cut(s, piece, r->start + (offset - r->range.offset), size);
}

/* In the caller's order, so that the later of two uploads to one place wins. */
static vyre_result write_staging(job *j, uint32_t piece, vyre_diag *diag)
{
    unsigned char *staging = j->t->upload.mapped;
    for (uint32_t i = 0; i < j->p->upload_count; i++) {
        const vyre_upload *u = &j->p->uploads[i];
        part_of_stream part = cut_range(&j->up, piece, i, u->offset, u->size);
        if (part.size > 0) {
            memcpy(staging + part.staging, (const unsigned char *)u->data + part.skipped,
                   (size_t)part.size);
        }
    }
    return vy_block_flush(j->device, &j->t->upload, slot_offset(&j->up, piece), j->up.window, diag);
}

static vyre_result read_staging(job *j, uint32_t piece, vyre_diag *diag)
{
    vyre_result code = vy_block_invalidate(j->device, &j->t->readback, slot_offset(&j->down, piece),
                                           j->down.window, diag);
    if (code != VYRE_OK) {
        return code;
    }
    const unsigned char *staging = j->t->readback.mapped;
    for (uint32_t i = 0; i < j->p->download_count; i++) {
        const vyre_download *d = &j->p->downloads[i];
        part_of_stream part = cut_range(&j->down, piece, i, d->offset, d->size);
        if (part.size > 0) {
            memcpy((unsigned char *)d->data + part.skipped, staging + part.staging,
                   (size_t)part.size);
        }
    }
    return VYRE_OK;
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static void add_step(job *j, const vy_step *step, const vy_range *read, const vy_range *write)
{
    static const vy_range none = {0, 0, 0};
    j->steps[j->step_count] = *step;
    j->accesses[j->step_count] = (vy_access){read ? *read : none, write ? *write : none};
    j->step_count++;
}

static VkDeviceAddress address_at(VkDeviceAddress address, uint64_t offset)
{
    return address ? address + offset : 0;
}

static void add_fills(job *j)
{
    for (uint32_t i = 0; i < j->p->fill_count; i++) {
        const vyre_fill *f = &j->p->fills[i];
        vy_range write = {buffer_key(&j->residents[i]), f->offset, f->size};
        if (f->size == 0 || vy_regions_cover(j->up.regions, j->up.fused.region_count, &write)) {
            continue;
        }
        vy_step step = {.target = j->residents[i].buffer,
                        .target_offset = f->offset,
                        .target_address = address_at(j->residents[i].address, f->offset),
                        .size = f->size,
                        .word = f->word};
        add_step(j, &step, NULL, &write);
    }
}

static void add_copies(job *j)
{
    const vy_resident *pairs = j->residents + j->p->fill_count + j->p->upload_count;
    for (uint32_t i = 0; i < j->p->copy_count; i++) {
        const vyre_copy *c = &j->p->copies[i];
        const vy_resident *from = &pairs[2 * (size_t)i], *to = from + 1;
        if (c->size == 0) {
            continue;
        }
        vy_step step = {.source = from->buffer,
                        .target = to->buffer,
                        .source_offset = c->source_offset,
                        .target_offset = c->target_offset,
                        .source_address = address_at(from->address, c->source_offset),
                        .target_address = address_at(to->address, c->target_offset),
                        .size = c->size};
        vy_range read = {buffer_key(from), c->source_offset, c->size};
        vy_range write = {buffer_key(to), c->target_offset, c->size};
        add_step(j, &step, &read, &write);
    }
}

/* The regions' parts in the piece, between the buffers and staging. */
static void add_regions(job *j, const stream *s, uint32_t piece, bool is_up)
{
    for (uint32_t i = 0; i < s->fused.region_count; i++) {
        const vy_region *r = &s->regions[i];
        part_of_stream part = cut(s, piece, r->start, r->range.size);
        if (part.size == 0) {
            continue;
        }
        vy_range range = {r->range.key, r->range.offset + part.skipped, part.size};
        vy_step step = {.size = part.size};
        VkDeviceAddress address = address_at(s->addresses[i], range.offset);
        if (is_up) {
            step.source = j->t->upload.buffer;
            step.source_offset = part.staging;
            step.source_address = address_at(j->t->upload.address, part.staging);
            step.target = (VkBuffer)r->range.key;
            step.target_offset = range.offset;
            step.target_address = address;
            add_step(j, &step, NULL, &range);
            j->counted.uploads++;
            j->counted.upload_size += part.size;
        } else {
            step.source = (VkBuffer)r->range.key;
            step.source_offset = range.offset;
            step.source_address = address;
            step.target = j->t->readback.buffer;
            step.target_offset = part.staging;
            step.target_address = address_at(j->t->readback.address, part.staging);
            add_step(j, &step, &range, NULL);
            j->counted.downloads++;
            j->counted.download_size += part.size;
        }
    }
}

static bool has_download(const job *j, uint32_t index)
{
    return index >= j->last_up && index - j->last_up < j->down.pieces;
}

/* Submission `index`: uploads come in pieces first, the last of them with the copies and the first
 * piece of the downloads, whose other pieces follow. */
static vyre_result submit(job *j, uint32_t index, vyre_diag *diag)
{
    bool has_up = index < j->up.pieces;
    vyre_result code = has_up ? write_staging(j, index, diag) : VYRE_OK;
    j->step_count = 0;
    if (index == 0) {
        add_fills(j);
    }
    if (has_up) {
        add_regions(j, &j->up, index, true);
    }
    if (index == j->last_up) {
        add_copies(j);
    }
    if (has_download(j, index)) {
        add_regions(j, &j->down, index - j->last_up, false);
    }
    uint32_t slot = index % VY_TRANSFER_SLOTS;
    j->values[slot] = 0;
    if (code != VYRE_OK || j->step_count == 0) {
        return code;
    }
    vy_find_barriers(j->accesses, j->step_count, &j->hazards, j->barriers);
    vy_steps steps = {.steps = j->steps,
                      .barriers = j->barriers,
                      .count = j->step_count,
                      .slot = slot,
                      .is_alone = j->submissions == 1,
                      .reads_back = has_download(j, index)};
    code = vy_transfer_submit(j->device, j->t, &steps, diag);
    j->values[slot] = code == VYRE_OK ? j->t->value : 0;
    return code;
}

/* Waits for that submission, and takes what it read. */
static vyre_result finish(job *j, uint32_t index, vyre_diag *diag)
{
    uint64_t value = j->values[index % VY_TRANSFER_SLOTS];
    if (value == 0) {
        return VYRE_OK;
    }
    vyre_result code = vy_queue_wait(j->device, value, UINT64_MAX, "a transfer", diag);
    if (code == VYRE_OK && has_download(j, index)) {
        code = read_staging(j, index - j->last_up, diag);
    }
    return code;
}

/* Each submission is finished once the next one is on its way, so that what that one uses, slots
 * and commands, has ended. */
static vyre_result submit_all(job *j, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; code == VYRE_OK && i < j->submissions; i++) {
        code = submit(j, i, diag);
        if (code == VYRE_OK && i > 0) {
            code = finish(j, i - 1, diag);
        }
    }
    if (code == VYRE_OK) {
        code = finish(j, j->submissions - 1, diag);
    }
    if (code != VYRE_OK && j->submissions > 1) {
        vy_queue_drain(j->device, j->t->value);
    }
    return code;
}

static vyre_result run(job *j, vyre_diag *diag)
{
    if (!fuse(j)) {
        return vy_invalid(diag, "the transfers come to more than 2^63 bytes. Fix: give fewer");
    }
    vyre_result code = stage(j, &j->up, VY_MEMORY_UPLOAD, &j->t->upload, diag);
    if (code == VYRE_OK) {
        code = stage(j, &j->down, VY_MEMORY_READBACK, &j->t->readback, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    j->last_up = j->up.pieces ? j->up.pieces - 1 : 0;
    j->submissions = j->last_up + (j->down.pieces ? j->down.pieces : 1);
    return submit_all(j, diag);
}

static void count(job *j)
{
    vyre_device *device = j->device;
    vy_mutex_lock(&device->counter_mutex);
    device->counters.uploads += j->counted.uploads;
    device->counters.upload_size += j->counted.upload_size;
    device->counters.downloads += j->counted.downloads;
    device->counters.download_size += j->counted.download_size;
    vy_mutex_unlock(&device->counter_mutex);
}

static vyre_result transfer(vyre_device *device, const vyre_transfer_params *params, bool is_single,
                            vyre_diag *diag)
{
    job j = {.device = device, .p = params, .is_single = is_single};
    vyre_result code = vy_check_lost(device, diag);
    if (code == VYRE_OK) {
        code = check_lists(params, diag);
    }
    if (code == VYRE_OK) {
        code = vy_transfer_acquire(device, &j.t, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    code = make_room(&j, diag);
    if (code == VYRE_OK) {
        code = check_all(&j, diag);
    }
    if (code == VYRE_OK) {
        code = run(&j, diag);
    }
    /* What was submitted and could not be waited for still uses the buffers. */
    uint64_t value = code == VYRE_OK ? 0 : j.t->value;
    vy_residents_release(device, j.residents, j.resident_count, value);
    vy_transfer_give_back(device, j.t);
    if (code == VYRE_OK) {
        count(&j);
    }
    return code;
}

/* ---- Public ------------------------------------------------------------------------------------
 */

vyre_result vyre_transfer(vyre_device *device, const vyre_transfer_params *params, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !params) {
        return vy_invalid(diag, "no device or no parameters were given. Fix: pass both");
    }
    return transfer(device, params, false, diag);
}

static vyre_result no_device(vyre_diag *diag)
{
    return vy_invalid(diag, "no device was given. Fix: pass a device");
}

vyre_result vyre_buffer_upload(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                               const void *data, uint64_t size, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_upload upload = {buffer, offset, size, data};
    vyre_transfer_params params = {.upload_count = 1, .uploads = &upload};
    return device ? transfer(device, &params, true, diag) : no_device(diag);
}

vyre_result vyre_buffer_download(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                                 void *data, uint64_t size, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_download download = {buffer, offset, size, data};
    vyre_transfer_params params = {.download_count = 1, .downloads = &download};
    return device ? transfer(device, &params, true, diag) : no_device(diag);
}

vyre_result vyre_buffer_fill(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                             uint64_t size, uint32_t word, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_fill fill = {buffer, offset, size, word};
    vyre_transfer_params params = {.fill_count = 1, .fills = &fill};
    return device ? transfer(device, &params, true, diag) : no_device(diag);
}

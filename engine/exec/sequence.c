/* Sequences: recordings of several programs in command buffers of their own, with fills before and
 * downloads after; recorded once, submitted as often as asked. Here: taking what they use, and
 * giving it back. */
#include "engine/exec/sequence.h"
#include "engine/exec/run.h"

#define MAX_DISPATCHES 1048576u

uint32_t vy_sequence_step_count(const vyre_sequence *s)
{
    return s->prefix_count + s->group_count;
}

uint64_t vy_sequence_total(const vyre_sequence *s)
{
    return s->prefix_count + (uint64_t)s->group_count * s->repeat;
}

uint32_t vy_sequence_step(const vyre_sequence *s, uint64_t n)
{
    return n < s->prefix_count
               ? (uint32_t)n
               : s->prefix_count + (uint32_t)((n - s->prefix_count) % s->group_count);
}

bool vy_sequence_is_counted(const vyre_recording *step)
{
    return step->pipeline->has_state && step->job.dispatch_count > 0;
}

uint64_t vy_sequence_dispatches(const vyre_recording *step)
{
    return (uint64_t)step->job.dispatch_count * step->job.shape.passes;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static vyre_result take_step(vyre_sequence *s, const vyre_step *step, uint32_t index,
                             vyre_diag *diag)
{
    vyre_dispatch_params params;
    vyre_result code = VYRE_OK;
    if (!step->pipeline || step->pipeline->device != s->device) {
        code = vy_invalid(diag,
                          "step %u has no pipeline, or one of another device. Fix: give each "
                          "step a pipeline of the sequence's device",
                          (unsigned)index);
    }
    if (code == VYRE_OK) {
        code = vy_params_read(vyre_dispatch_params, &params, &step->dispatch, diag);
    }
    if (code == VYRE_OK && params.sync) {
        code =
            vy_invalid(diag, "step %u has a `sync`. Fix: leave it NULL in steps", (unsigned)index);
    }
    if (code == VYRE_OK) {
        code = vy_recording_take(step->pipeline, &params, &s->steps[index], diag);
    }
    if (code != VYRE_OK && diag) {
        diag->segment = index;
    }
    return code;
}

static vyre_result take_resident(vyre_sequence *s, vyre_buffer buffer, vy_range range, bool is_fill,
                                 vyre_diag *diag)
{
    vy_resident *r = &s->residents[s->resident_count];
    vyre_result code = vy_resident_acquire(
        s->device, buffer, is_fill ? "a buffer to fill" : "a buffer to download", r, diag);
    if (code != VYRE_OK) {
        return code;
    }
    s->resident_count++;
    unsigned long long begin = range.offset, size = range.size;
    if (range.offset > r->size || range.size > r->size - range.offset ||
        (is_fill && (range.offset % 4 || range.size % 4))) {
        return vy_invalid(diag,
                          "%llu bytes from byte %llu of a buffer of %llu cannot be %s. Fix: stay "
                          "within the buffer%s",
                          size, begin, (unsigned long long)r->size,
                          is_fill ? "filled" : "downloaded",
                          is_fill ? ", with multiples of 4" : "");
    }
    VkBufferUsageFlags usage =
        is_fill ? VK_BUFFER_USAGE_TRANSFER_DST_BIT : VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    if (range.size && !(r->usage & usage)) {
        return vy_invalid(diag,
                          "an imported buffer is to be %s, and was created without %s. Fix: "
                          "create it with that usage",
                          is_fill ? "filled" : "downloaded",
                          is_fill ? "VK_BUFFER_USAGE_TRANSFER_DST_BIT"
                                  : "VK_BUFFER_USAGE_TRANSFER_SRC_BIT");
    }
    return VYRE_OK;
}

static vyre_result take_fills(vyre_sequence *s, const vyre_sequence_params *params, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; i < params->fill_count && code == VYRE_OK; i++) {
        const vyre_fill *f = &params->fills[i];
        s->fills[i] = *f;
        code = take_resident(s, f->buffer, (vy_range){0, f->offset, f->size}, true, diag);
        s->fill_count += code == VYRE_OK;
    }
    return code;
}

/* Ranges that touch or overlap are copied once. */
static vyre_result fuse_downloads(vyre_sequence *s, vyre_diag *diag)
{
    size_t room = (size_t)s->download_count + 1;
    vy_placed_range *ranges = vy_arena_alloc(&s->arena, room, sizeof *ranges);
    s->regions = vy_arena_alloc(&s->arena, room, sizeof *s->regions);
    s->region_of = vy_arena_alloc(&s->arena, room, sizeof *s->region_of);
    if (s->arena.failed) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < s->download_count; i++) {
        const vyre_download *d = &s->downloads[i];
        const vy_resident *r = &s->residents[s->fill_count + i];
        ranges[i] = (vy_placed_range){{(uint64_t)r->buffer, d->offset, d->size}, i};
    }
    vy_fused fused;
    if (!vy_fuse(ranges, s->download_count, s->regions, s->region_of, &fused)) {
        return vy_invalid(diag, "the downloads are more than 2^63 bytes. Fix: download less");
    }
    s->region_count = fused.region_count;
    return fused.size ? vy_block_create(s->device, VY_MEMORY_READBACK, fused.size, "vyre downloads",
                                        &s->readback, diag)
                      : VYRE_OK;
}

static vyre_result take_downloads(vyre_sequence *s, const vyre_sequence_params *params,
                                  vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; i < params->download_count && code == VYRE_OK; i++) {
        const vyre_download *d = &params->downloads[i];
        s->downloads[i] = *d;
        code = d->data || d->size == 0
                   ? take_resident(s, d->buffer, (vy_range){0, d->offset, d->size}, false, diag)
                   : vy_invalid(diag, "download %u has no memory. Fix: point `data` at it",
                                (unsigned)i);
        s->download_count += code == VYRE_OK;
    }
    return code == VYRE_OK ? fuse_downloads(s, diag) : code;
}

static vyre_result refuse_total(uint64_t total, vyre_diag *diag)
{
    return vy_invalid(diag,
                      "the sequence has %llu dispatches or more, and %u are the most. Fix: repeat "
                      "less, and run it several times",
                      (unsigned long long)total, MAX_DISPATCHES);
}

/* How much there is to record, and memory for it. */
static vyre_result measure(vyre_sequence *s, vyre_diag *diag)
{
    uint64_t total = 0, states = 0;
    for (uint32_t i = 0; i < vy_sequence_step_count(s) && total <= MAX_DISPATCHES; i++) {
        uint64_t all = vy_sequence_dispatches(s->steps[i]);
        uint64_t times = i < s->prefix_count ? 1 : s->repeat;
        total += (all ? all : 1) * times;
        states += vy_sequence_is_counted(s->steps[i]) ? times : 0;
    }
    if (total > MAX_DISPATCHES) {
        return refuse_total(total, diag);
    }
    /* Two chunks side by side hold more than VY_CHUNK_DISPATCHES. */
    s->command_capacity = (uint32_t)(total / (VY_CHUNK_DISPATCHES / 2)) + 2;
    s->commands = vy_arena_alloc(&s->arena, s->command_capacity, sizeof *s->commands);
    s->state_count = (uint32_t)states;
    if (!s->commands) {
        return vy_diag_no_memory(diag);
    }
    return states ? vy_block_create(s->device, VY_MEMORY_READBACK, states * VY_SEQUENCE_STATE_SIZE,
                                    "vyre sequence", &s->states, diag)
                  : VYRE_OK;
}

static vyre_result allocate_lists(vyre_sequence *s, const vyre_sequence_params *params,
                                  vyre_diag *diag)
{
    size_t fills = params->fill_count, downloads = params->download_count;
    s->steps = vy_arena_alloc(&s->arena, (size_t)vy_sequence_step_count(s) + 1, sizeof *s->steps);
    s->fills = vy_arena_alloc(&s->arena, fills + 1, sizeof *s->fills);
    s->downloads = vy_arena_alloc(&s->arena, downloads + 1, sizeof *s->downloads);
    s->residents = vy_arena_alloc(&s->arena, fills + downloads + 1, sizeof *s->residents);
    return s->arena.failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

static vyre_result create_queries(vyre_sequence *s, uint32_t flags, vyre_diag *diag)
{
    vyre_device *d = s->device;
    if (!(flags & VYRE_DISPATCH_TIMED) || d->snapshot.info.timestamp_ns <= 0) {
        return VYRE_OK;
    }
    VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                  .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                  .queryCount = VY_TIME_COUNT};
    VkResult result = d->vk.vkCreateQueryPool(d->device, &info, NULL, &s->queries);
    if (result != VK_SUCCESS) {
        s->queries = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateQueryPool");
    }
    vy_set_name(d, VK_OBJECT_TYPE_QUERY_POOL, (uint64_t)s->queries, "vyre sequence");
    return VYRE_OK;
}

static vyre_result fill_sequence(vyre_sequence *s, const vyre_sequence_params *params,
                                 vyre_diag *diag)
{
    uint64_t steps = params->prefix_count + (uint64_t)(params->repeat ? params->group_count : 0);
    if (steps > MAX_DISPATCHES) {
        return refuse_total(steps, diag);
    }
    s->prefix_count = params->prefix_count;
    s->group_count = params->repeat ? params->group_count : 0;
    s->repeat = params->repeat;
    vyre_result code = allocate_lists(s, params, diag);
    for (uint32_t i = 0; i < vy_sequence_step_count(s) && code == VYRE_OK; i++) {
        const vyre_step *step =
            i < s->prefix_count ? &params->prefix[i] : &params->group[i - s->prefix_count];
        code = take_step(s, step, i, diag);
    }
    if (code == VYRE_OK) {
        code = take_fills(s, params, diag);
    }
    if (code == VYRE_OK) {
        code = take_downloads(s, params, diag);
    }
    if (code == VYRE_OK) {
        code = measure(s, diag);
    }
    if (code == VYRE_OK) {
        code = create_queries(s, params->flags, diag);
    }
    return code == VYRE_OK ? vy_sequence_record(s, diag) : code;
}

vyre_result vyre_sequence_create(vyre_device *device, const vyre_sequence_params *given,
                                 vyre_sequence **out_sequence, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !given || !out_sequence) {
        return vy_invalid(diag, "no device, parameters or out_sequence were given. Fix: pass all "
                                "three");
    }
    *out_sequence = NULL;
    vyre_sequence_params params;
    vyre_result code = vy_params_read(vyre_sequence_params, &params, given, diag);
    if (code == VYRE_OK) {
        code = vy_check_lost(device, diag);
    }
    if (code == VYRE_OK &&
        ((params.prefix_count && !params.prefix) ||
         (params.repeat && params.group_count && !params.group) ||
         (params.fill_count && !params.fills) || (params.download_count && !params.downloads))) {
        code = vy_invalid(diag, "a list of the sequence is NULL and its count is not 0. Fix: pass "
                                "the list");
    }
    if (code != VYRE_OK) {
        return code;
    }
    vyre_sequence *s = vy_alloc_zeroed(&device->allocator, 1, sizeof *s);
    if (!s) {
        return vy_diag_no_memory(diag);
    }
    s->device = device;
    s->allocator = device->allocator;
    vy_arena_init(&s->arena, &s->allocator);
    vy_runs_add_sequence(device, s);
    code = fill_sequence(s, &params, diag);
    if (code != VYRE_OK) {
        vyre_sequence_destroy(&s);
        return code;
    }
    *out_sequence = s;
    return VYRE_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void detach(vyre_sequence *s)
{
    vyre_device *d = s->device;
    vy_queue_drain(d, s->value);
    vy_runs_remove_sequence(d, s);
    for (uint32_t i = 0; i < s->command_count; i++) {
        vy_commands_destroy(d, &s->commands[i]);
    }
    for (uint32_t i = 0; s->steps && i < vy_sequence_step_count(s); i++) {
        if (s->steps[i]) {
            vy_recording_give(s->steps[i]);
        }
    }
    for (uint32_t i = 0; i < s->resident_count; i++) {
        vy_resident_release(d, &s->residents[i], 0);
    }
    if (s->queries) {
        d->vk.vkDestroyQueryPool(d->device, s->queries, NULL);
    }
    vy_block_destroy(d, &s->readback);
    vy_block_destroy(d, &s->states);
    s->device = NULL;
}

void vy_sequences_detach(vyre_device *device)
{
    for (vyre_sequence *s = vy_runs_first_sequence(device); s; s = vy_runs_first_sequence(device)) {
        detach(s);
    }
}

void vyre_sequence_destroy(vyre_sequence **sequence)
{
    if (!sequence || !*sequence) {
        return;
    }
    vyre_sequence *s = *sequence;
    *sequence = NULL;
    if (s->device) {
        detach(s);
    }
    vyre_allocator allocator = s->allocator;
    vy_arena_finish(&s->arena);
    vy_free(&allocator, s, sizeof *s);
}

vyre_sequence **vy_sequence_next(vyre_sequence *s)
{
    return &s->next;
}

vyre_sequence **vy_sequence_previous(vyre_sequence *s)
{
    return &s->previous;
}

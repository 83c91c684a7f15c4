/* Sequences: recordings of several programs in command buffers of their own, with fills before and
 * downloads after; recorded once, submitted as often as asked. */
#include "engine/exec/recording.h"
#include "engine/exec/run.h"

#include <string.h>

#define MAX_DISPATCHES 1048576u

/* Memory that commands since the last barrier have touched. */
typedef struct touched {
    VkBuffer buffer;
    uint64_t offset, size;
    bool is_written;
} touched;

struct vyre_sequence {
    vyre_sequence *previous, *next; /* of the device's */
    vyre_device *device;            /* NULL once it was destroyed */
    vyre_allocator allocator;
    vy_arena arena;
    vyre_recording **steps;
    uint32_t prefix_count, group_count, repeat;
    vy_commands *commands;
    uint32_t command_count, command_capacity;
    vyre_fill *fills;
    uint32_t fill_count;
    vyre_download *downloads;
    uint64_t *download_offsets; /* in the readback memory */
    uint32_t download_count;
    vy_resident *residents; /* of fills, then of downloads */
    uint32_t resident_count;
    vy_block readback;
    uint64_t readback_size;
    VkQueryPool queries;
    uint64_t value; /* of the timeline when the last run has ended */
    uint32_t in_chunk;
    uint64_t dispatch_count;
    vyre_report report;
    VY_VEC(touched) touched;
};

static uint32_t step_count(const vyre_sequence *s)
{
    return s->prefix_count + s->group_count;
}

/* ---- Hazards between steps ------------------------------------------------------------------- */

static bool touch(vyre_sequence *s, touched what)
{
    bool conflicts = false;
    for (uint32_t i = 0; i < s->touched.count && !conflicts; i++) {
        const touched *t = &s->touched.data[i];
        conflicts = (t->is_written || what.is_written) && t->buffer == what.buffer &&
                    t->offset < what.offset + what.size && what.offset < t->offset + t->size;
    }
    return conflicts;
}

static void note(vyre_sequence *s, touched what)
{
    (void)vy_vec_push(&s->arena, &s->touched, what);
}

/* What a step does to the caller's buffers. */
static bool visit_step(vyre_sequence *s, const vyre_recording *r, bool notes)
{
    uint64_t reads = 0, writes = 0;
    const vyre_pipeline *p = r->pipeline;
    for (uint32_t e = 0; e < r->instance->execution_count; e++) {
        const vy_touch *t = &r->instance->touches[r->instance->executions[e].segment];
        reads |= t->reads;
        writes |= t->writes;
    }
    for (uint32_t i = 0; i < r->moves.prologue_count; i++) {
        const vy_command *c = &r->moves.prologue[i];
        writes |= c->target < VYRE_MAX_BUFFERS ? (uint64_t)1 << c->target : 0;
    }
    bool conflicts = false;
    for (uint32_t b = 0; b < p->binding_count; b++) {
        const vy_piece *piece = &r->instance->pieces[b];
        bool is_written = writes >> b & 1;
        if (piece->size == 0 || !((reads | writes) >> b & 1)) {
            continue;
        }
        touched what = {piece->buffer, piece->offset, piece->size, is_written};
        conflicts = conflicts || touch(s, what);
        if (notes) {
            note(s, what);
        }
    }
    return conflicts;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static VkCommandBuffer current(const vyre_sequence *s)
{
    return s->commands[s->command_count - 1].buffer;
}

static vyre_result open_chunk(vyre_sequence *s, vyre_diag *diag)
{
    vy_commands *c = &s->commands[s->command_count];
    vyre_result code = vy_commands_create(s->device, "vyre sequence", c, diag);
    if (code == VYRE_OK) {
        s->command_count++;
        code = vy_commands_begin(s->device, c, false, diag);
    }
    s->in_chunk = 0;
    return code;
}

static const vy_barrier from_engine = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT,
                                       VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, VY_STAGE_TRANSFER};

static void forget(vyre_sequence *s)
{
    s->touched.count = 0;
}

static void add_barrier(vyre_sequence *s, const vy_barrier *barrier)
{
    vy_cmd_barrier(s->device, current(s), barrier);
    s->report.barriers_recorded++;
    vy_count(s->device, barriers, 1);
}

static void stamp(vyre_sequence *s, uint32_t which)
{
    if (!s->queries) {
        return;
    }
    const struct VolkDeviceTable *vk = &s->device->vk;
    if (which == 0) {
        vk->vkCmdResetQueryPool(current(s), s->queries, 0, VY_TIME_COUNT);
    }
    vk->vkCmdWriteTimestamp(current(s),
                            which == 0 ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                       : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                            s->queries, which);
}

static void record_fills(vyre_sequence *s)
{
    if (s->fill_count == 0) {
        return;
    }
    add_barrier(s, &from_engine);
    for (uint32_t i = 0; i < s->fill_count; i++) {
        const vyre_fill *f = &s->fills[i];
        if (f->size == 0) {
            continue;
        }
        touched what = {s->residents[i].buffer, f->offset, f->size, true};
        if (touch(s, what)) {
            static const vy_barrier between = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER,
                                               VY_STAGE_TRANSFER};
            add_barrier(s, &between);
            forget(s);
        }
        s->device->vk.vkCmdFillBuffer(current(s), what.buffer, f->offset, f->size, f->word);
        note(s, what);
    }
}

static vyre_result record_step(vyre_sequence *s, uint32_t index, bool is_first, vyre_diag *diag)
{
    vyre_recording *r = s->steps[index];
    uint64_t each = (uint64_t)r->job.dispatch_count + r->pipeline->has_until;
    uint32_t dispatches = (uint32_t)(r->job.dispatch_count ? each * r->job.shape.passes : 0);
    vyre_result code = VYRE_OK;
    if (s->in_chunk && s->in_chunk + dispatches > VY_CHUNK_DISPATCHES) {
        code = vy_commands_end(s->device, &s->commands[s->command_count - 1], diag);
        if (code == VYRE_OK) {
            code = open_chunk(s, diag);
        }
    }
    if (code != VYRE_OK) {
        return code;
    }
    /* A step again has its own hidden memory against it. */
    bool waits = is_first || r->is_recorded_since || visit_step(s, r, false);
    if (waits) {
        forget(s);
        for (uint32_t i = 0; i < step_count(s); i++) {
            s->steps[i]->is_recorded_since = false;
        }
    }
    r->is_recorded_since = true;
    (void)visit_step(s, r, true);
    s->in_chunk += dispatches;
    s->dispatch_count += dispatches;
    return vy_recording_record(r, current(s), waits ? VY_BORDER_ENGINE : VY_BORDER_NONE,
                               VY_BORDER_NONE, NULL, diag);
}

static void record_downloads(vyre_sequence *s)
{
    static const vy_barrier to_host = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER, VY_STAGE_HOST};
    if (s->readback_size == 0) {
        return;
    }
    add_barrier(s, &from_engine);
    for (uint32_t i = 0; i < s->download_count; i++) {
        const vyre_download *d = &s->downloads[i];
        if (d->size) {
            VkBufferCopy region = {d->offset, s->download_offsets[i], d->size};
            s->device->vk.vkCmdCopyBuffer(current(s), s->residents[s->fill_count + i].buffer,
                                          s->readback.buffer, 1, &region);
        }
    }
    add_barrier(s, &to_host);
}

static vyre_result record_all(vyre_sequence *s, vyre_diag *diag)
{
    vyre_result code = open_chunk(s, diag);
    if (code != VYRE_OK) {
        return code;
    }
    stamp(s, 0);
    record_fills(s);
    bool is_first = s->fill_count == 0;
    uint64_t total = s->prefix_count + (uint64_t)s->group_count * s->repeat;
    for (uint64_t i = 0; i < total && code == VYRE_OK; i++) {
        uint32_t index = i < s->prefix_count
                             ? (uint32_t)i
                             : s->prefix_count + (uint32_t)((i - s->prefix_count) % s->group_count);
        code = record_step(s, index, is_first, diag);
        is_first = false;
    }
    if (code != VYRE_OK) {
        return code;
    }
    stamp(s, 1);
    record_downloads(s);
    stamp(s, 2);
    code = vy_commands_end(s->device, &s->commands[s->command_count - 1], diag);
    if (code == VYRE_OK && s->arena.failed) {
        code = vy_diag_no_memory(diag);
    }
    vy_count(s->device, recordings, code == VYRE_OK ? s->command_count : 0);
    return code;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static vyre_result take_step(vyre_sequence *s, const vyre_step *step, uint32_t index,
                             vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    if (!step->pipeline || step->pipeline->device != s->device) {
        code = vy_invalid(diag,
                          "step %u has no pipeline, or one of another device. Fix: give each "
                          "step a pipeline of the sequence's device",
                          (unsigned)index);
    } else {
        code = vy_recording_take(step->pipeline, &step->dispatch, &s->steps[index], diag);
    }
    if (code != VYRE_OK && diag) {
        diag->segment = index;
    }
    return code;
}

static vyre_result take_resident(vyre_sequence *s, vyre_buffer buffer, uint64_t offset,
                                 uint64_t size, VkBufferUsageFlags usage, vyre_diag *diag)
{
    vy_resident *r = &s->residents[s->resident_count];
    vyre_result code = vy_resident_acquire(s->device, buffer, "the buffer", r, diag);
    if (code != VYRE_OK) {
        return code;
    }
    s->resident_count++;
    if (offset > r->size || size > r->size - offset || offset % 4 || size % 4 ||
        !(r->usage & usage)) {
        return vy_invalid(
            diag,
            "bytes %llu to %llu of a buffer of %llu cannot be %s. Fix: give multiples "
            "of 4 within the buffer (an imported one needs the transfer usages)",
            (unsigned long long)offset, (unsigned long long)(offset + size),
            (unsigned long long)r->size,
            usage == VK_BUFFER_USAGE_TRANSFER_DST_BIT ? "filled" : "downloaded");
    }
    return VYRE_OK;
}

static vyre_result take_ranges(vyre_sequence *s, const vyre_sequence_params *params,
                               vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; i < params->fill_count && code == VYRE_OK; i++) {
        s->fills[i] = params->fills[i];
        code = take_resident(s, s->fills[i].buffer, s->fills[i].offset, s->fills[i].size,
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT, diag);
        s->fill_count += code == VYRE_OK;
    }
    for (uint32_t i = 0; i < params->download_count && code == VYRE_OK; i++) {
        const vyre_download *d = &params->downloads[i];
        s->downloads[i] = *d;
        code = d->data || d->size == 0
                   ? take_resident(s, d->buffer, d->offset, d->size,
                                   VK_BUFFER_USAGE_TRANSFER_SRC_BIT, diag)
                   : vy_invalid(diag, "a download has no memory. Fix: point `data` at it");
        if (code == VYRE_OK) {
            s->download_offsets[i] = s->readback_size;
            s->readback_size += (d->size + 15) / 16 * 16;
            s->download_count++;
        }
    }
    if (code == VYRE_OK && s->readback_size) {
        code = vy_block_create(s->device, VY_MEMORY_READBACK, s->readback_size, "vyre downloads",
                               &s->readback, diag);
    }
    return code;
}

static vyre_result check_total(vyre_sequence *s, vyre_diag *diag)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < step_count(s); i++) {
        const vyre_recording *r = s->steps[i];
        uint64_t each = (uint64_t)r->job.dispatch_count + r->pipeline->has_until;
        uint64_t all = r->job.dispatch_count ? each * r->job.shape.passes : 1;
        total += all * (i < s->prefix_count ? 1 : s->repeat);
    }
    if (total > MAX_DISPATCHES) {
        return vy_invalid(
            diag,
            "the sequence has %llu dispatches, and %u are the most. Fix: repeat less, "
            "and run it several times",
            (unsigned long long)total, MAX_DISPATCHES);
    }
    s->command_capacity = (uint32_t)(total / (VY_CHUNK_DISPATCHES / 2)) + 2;
    s->commands = vy_arena_alloc(&s->arena, s->command_capacity, sizeof *s->commands);
    return s->commands ? VYRE_OK : vy_diag_no_memory(diag);
}

static vyre_result allocate_lists(vyre_sequence *s, const vyre_sequence_params *params,
                                  vyre_diag *diag)
{
    size_t ranges = (size_t)params->fill_count + params->download_count;
    s->steps = vy_arena_alloc(&s->arena, step_count(s) + 1u, sizeof *s->steps);
    s->fills = vy_arena_alloc(&s->arena, params->fill_count + 1u, sizeof *s->fills);
    s->downloads = vy_arena_alloc(&s->arena, params->download_count + 1u, sizeof *s->downloads);
    s->download_offsets =
        vy_arena_alloc(&s->arena, params->download_count + 1u, sizeof *s->download_offsets);
    s->residents = vy_arena_alloc(&s->arena, ranges + 1u, sizeof *s->residents);
    return s->arena.failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

static vyre_result create_queries(vyre_sequence *s, vyre_diag *diag)
{
    vyre_device *d = s->device;
    if (d->snapshot.info.timestamp_ns <= 0) {
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
    s->prefix_count = params->prefix_count;
    s->group_count = params->repeat ? params->group_count : 0;
    s->repeat = params->repeat;
    vyre_result code = allocate_lists(s, params, diag);
    for (uint32_t i = 0; i < step_count(s) && code == VYRE_OK; i++) {
        const vyre_step *step =
            i < s->prefix_count ? &params->prefix[i] : &params->group[i - s->prefix_count];
        code = take_step(s, step, i, diag);
    }
    if (code == VYRE_OK) {
        code = take_ranges(s, params, diag);
    }
    if (code == VYRE_OK) {
        code = check_total(s, diag);
    }
    if (code == VYRE_OK) {
        code = create_queries(s, diag);
    }
    return code == VYRE_OK ? record_all(s, diag) : code;
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

/* ---- Running --------------------------------------------------------------------------------- */

static vyre_result submit(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    for (uint32_t i = 0; i < s->command_count; i += VY_MAX_BATCHES) {
        vy_batch batches[VY_MAX_BATCHES];
        uint64_t values[VY_MAX_BATCHES];
        uint32_t count = 0;
        for (; count < VY_MAX_BATCHES && i + count < s->command_count; count++) {
            batches[count] =
                (vy_batch){.commands = &s->commands[i + count].buffer, .command_count = 1};
        }
        vyre_result code =
            vy_queue_submit_batches(s->device, batches, count, "a sequence", values, diag);
        if (code != VYRE_OK) {
            return code;
        }
        s->value = values[count - 1];
        report->submissions++;
        report->chunks += count;
    }
    report->submit_ns = vy_clock_ns() - start;
    report->recordings = 0;
    report->recordings_reused = s->command_count;
    vy_count(s->device, recordings_reused, s->command_count);
    return VYRE_OK;
}

static vyre_result read_steps(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    for (uint32_t i = 0; i < step_count(s); i++) {
        vyre_report step;
        vyre_result code = vyre_recording_report(s->steps[i], &step, diag);
        if (code != VYRE_OK) {
            return code;
        }
        uint64_t times = i < s->prefix_count ? 1 : s->repeat;
        report->passes += (uint32_t)(step.passes * times);
        report->dispatches_executed += step.dispatches_executed * times;
        report->segments += step.segments;
        if (report->record.kind == VYRE_RECORD_NONE) {
            report->record = step.record;
        }
        report->scratch_size += step.scratch_size;
        report->spill_size += step.spill_size;
        report->argument_size += step.argument_size;
        report->staging_size += step.staging_size;
    }
    report->staging_size += s->readback.size;
    return VYRE_OK;
}

static vyre_result read_times(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    uint64_t ticks[3] = {0};
    if (!s->queries) {
        return VYRE_OK;
    }
    VkResult result = s->device->vk.vkGetQueryPoolResults(
        s->device->device, s->queries, 0, 3, sizeof ticks, ticks, sizeof ticks[0],
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS) {
        return vy_vk_error(s->device, diag, result, "vkGetQueryPoolResults");
    }
    report->device_dispatches_ns = vy_ticks_to_ns(s->device, ticks[0], ticks[1]);
    report->device_ns = vy_ticks_to_ns(s->device, ticks[0], ticks[2]);
    return VYRE_OK;
}

static vyre_result read_all(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    vyre_result code = read_steps(s, report, diag);
    if (code == VYRE_OK) {
        code = read_times(s, report, diag);
    }
    if (code == VYRE_OK && s->readback_size) {
        code = vy_block_invalidate(s->device, &s->readback, 0, s->readback_size, diag);
    }
    for (uint32_t i = 0; code == VYRE_OK && i < s->download_count; i++) {
        const vyre_download *d = &s->downloads[i];
        if (d->size) {
            memcpy(d->data, (const unsigned char *)s->readback.mapped + s->download_offsets[i],
                   (size_t)d->size);
            report->downloads++;
            report->download_size += d->size;
        }
    }
    report->readback_ns = vy_clock_ns() - start;
    return code;
}

vyre_result vyre_sequence_run(vyre_sequence *s, uint64_t timeout_ns, vyre_report *out_report,
                              vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    vy_diag_clear(diag);
    if (!s || !s->device) {
        return vy_invalid(diag, "no sequence was given, or its device was destroyed. Fix: pass one "
                                "that vyre_sequence_create gave");
    }
    for (uint32_t i = 0; i < step_count(s); i++) {
        if (!s->steps[i]->pipeline) {
            return vy_invalid(diag, "a pipeline of the sequence was destroyed. Fix: destroy the "
                                    "sequence before its pipelines");
        }
    }
    if (!vy_queue_is_done(s->device, s->value)) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "the sequence's run before has not ended. Fix: wait for it "
                           "(vyre_device_wait), then run it again");
    }
    vyre_report report = {.strategy = "replay",
                          .bindings = step_count(s) ? s->steps[0]->instance->binder->name : "",
                          .dispatches_recorded = s->dispatch_count,
                          .barriers_recorded = s->report.barriers_recorded,
                          .barriers_elided = s->report.barriers_elided,
                          .device_ns = VYRE_NS_NONE,
                          .device_dispatches_ns = VYRE_NS_NONE,
                          .device_start_ns = VYRE_NS_NONE};
    vyre_result code = submit(s, &report, diag);
    report.enqueue_ns = vy_clock_ns() - start;
    if (code == VYRE_OK) {
        uint64_t wait_start = vy_clock_ns();
        code = vy_queue_wait(s->device, s->value, vy_deadline(timeout_ns), "the sequence", diag);
        report.wait_ns = vy_clock_ns() - wait_start;
        report.waits = 1;
    }
    if (code == VYRE_OK) {
        code = read_all(s, &report, diag);
    }
    report.wall_ns = vy_clock_ns() - start;
    if (out_report) {
        *out_report = report;
    }
    return code;
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
    for (uint32_t i = 0; s->steps && i < step_count(s); i++) {
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

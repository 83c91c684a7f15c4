/* The commands of a sequence: fills, steps and downloads, and the barriers that hazards between
 * them need. */
#include "engine/exec/sequence.h"

/* Everything of the engine before comes before everything of the engine after. */
static const vy_barrier all_of_engine = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT,
                                         VY_STAGE_COMPUTE | VY_STAGE_TRANSFER,
                                         VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT};

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

static vyre_result close_chunk(vyre_sequence *s, vyre_diag *diag)
{
    return vy_commands_end(s->device, &s->commands[s->command_count - 1], diag);
}

static void add_barrier(vyre_sequence *s, const vy_barrier *barrier)
{
    vy_cmd_barrier(s->device, current(s), barrier);
    s->barriers++;
    vy_count(s->device, barriers, 1);
}

/* Nothing before it is a hazard any more. */
static void order_all(vyre_sequence *s)
{
    add_barrier(s, &all_of_engine);
    s->touched.count = s->touched_before_transfer = 0;
    s->is_ordered = true;
}

static void stamp(vyre_sequence *s, uint32_t which)
{
    if (!s->queries) {
        return;
    }
    const struct VolkDeviceTable *vk = &s->device->vk;
    if (which == VY_TIME_BEGIN) {
        vk->vkCmdResetQueryPool(current(s), s->queries, 0, VY_TIME_COUNT);
    }
    vk->vkCmdWriteTimestamp(current(s),
                            which == VY_TIME_BEGIN ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                                   : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                            s->queries, which);
}

/* ---- Hazards --------------------------------------------------------------------------------- */

/* Whether it must wait for one of those from `first` on. */
static bool conflicts(const vyre_sequence *s, const vy_touched *what, uint32_t first)
{
    for (uint32_t i = first; i < s->touched.count; i++) {
        const vy_touched *t = &s->touched.data[i];
        if ((t->is_written || what->is_written) && t->buffer == what->buffer &&
            t->offset < what->offset + what->size && what->offset < t->offset + t->size) {
            return true;
        }
    }
    return false;
}

static void note(vyre_sequence *s, vy_touched what)
{
    (void)vy_vec_push(&s->arena, &s->touched, what);
}

/* What a step does to buffers: those of the caller, and `scratch keep` that steps share. */
static uint32_t list_touched(const vyre_recording *r, vy_touched out[VYRE_MAX_BUFFERS])
{
    uint64_t reads = 0, writes = 0;
    uint32_t count = 0;
    const vy_instance *in = r->instance;
    for (uint32_t e = 0; e < in->dispatch_count; e++) {
        const vy_touch *t = &in->touches[in->executions[e].segment];
        reads |= t->reads;
        writes |= t->writes;
    }
    writes |= r->moves.has_flag ? (uint64_t)1 << r->moves.flag.target : 0;
    for (uint32_t i = 0; i < r->moves.prologue_count; i++) {
        const vy_command *c = &r->moves.prologue[i];
        writes |= c->target < VYRE_MAX_BUFFERS ? (uint64_t)1 << c->target : 0;
    }
    if (r->pipeline->grid_from >= 0 && in->dispatch_count) {
        reads |= (uint64_t)1 << r->pipeline->grid_from;
    }
    for (uint32_t b = 0; b < r->pipeline->binding_count; b++) {
        const vy_piece *piece = &in->pieces[b];
        bool is_written = writes >> b & 1;
        /* Validation takes the zeros behind what has no length for written. */
        bool is_seen = r->pipeline->device->validation >= VYRE_VALIDATION_ON;
        uint64_t size = piece->size || !is_seen ? piece->size : 1;
        if (size && ((reads | writes) >> b & 1)) {
            out[count++] = (vy_touched){piece->buffer, piece->offset, size, is_written};
        }
    }
    return count;
}

/* Orders a step behind those before, where it must be. */
static void order_step(vyre_sequence *s, vyre_recording *r)
{
    vy_touched list[VYRE_MAX_BUFFERS];
    uint32_t count = list_touched(r, list);
    /* A step that runs again has its own hidden memory against it. */
    bool waits = !s->is_ordered || r->is_recorded_since || s->device->debug & VYRE_DEBUG_SERIALIZE;
    for (uint32_t i = 0; i < count && !waits; i++) {
        waits = conflicts(s, &list[i], 0);
    }
    if (waits) {
        order_all(s);
        s->barrier_between = true;
        for (uint32_t i = 0; i < vy_sequence_step_count(s); i++) {
            s->steps[i]->is_recorded_since = false;
        }
    }
    r->is_recorded_since = true;
    for (uint32_t i = 0; i < count; i++) {
        note(s, list[i]);
    }
    if (r->instance->dispatch_count) {
        s->elided += s->after_dispatch && !s->barrier_between;
        s->after_dispatch = true;
        s->barrier_between = false;
    }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void record_fills(vyre_sequence *s)
{
    for (uint32_t i = 0; i < s->fill_count; i++) {
        const vyre_fill *f = &s->fills[i];
        vy_touched what = {s->residents[i].buffer, f->offset, f->size, true};
        if (f->size == 0) {
            continue;
        }
        if (!s->is_ordered || conflicts(s, &what, 0)) {
            order_all(s);
        }
        s->device->vk.vkCmdFillBuffer(current(s), what.buffer, f->offset, f->size, f->word);
        note(s, what);
    }
}

/* Keeps the step's passes from its next run. */
static void record_state(vyre_sequence *s, const vyre_recording *r, uint32_t slot)
{
    static const vy_barrier ended = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER,
                                     VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, VY_STAGE_TRANSFER};
    VkBufferCopy region = {.dstOffset = slot * VY_SEQUENCE_STATE_SIZE,
                           .size = VY_SEQUENCE_STATE_SIZE};
    /* A command that has copied the flag has waited for everything already. */
    if (!r->moves.has_flag || r->moves.flag.is_by_kernel) {
        add_barrier(s, &ended);
    }
    s->touched_before_transfer = s->touched.count;
    s->device->vk.vkCmdCopyBuffer(current(s), r->instance->state.buffer, s->states.buffer, 1,
                                  &region);
}

static vyre_result record_step(vyre_sequence *s, uint64_t n, uint32_t *slot, vyre_diag *diag)
{
    uint32_t index = vy_sequence_step(s, n);
    vyre_recording *r = s->steps[index];
    uint32_t dispatches = (uint32_t)vy_sequence_dispatches(r);
    if (s->in_chunk && s->in_chunk + dispatches > VY_CHUNK_DISPATCHES) {
        vyre_result code = close_chunk(s, diag);
        code = code == VYRE_OK ? open_chunk(s, diag) : code;
        if (code != VYRE_OK) {
            return code;
        }
    }
    order_step(s, r);
    s->in_chunk += dispatches;
    s->dispatch_count += dispatches;
    bool is_again = index >= s->prefix_count && n >= vy_sequence_step_count(s);
    bool is_last = index < s->prefix_count || n + s->group_count >= vy_sequence_total(s);
    uint32_t parts = VY_RECORDING_NO_STATE | (is_again ? VY_RECORDING_AGAIN : 0) |
                     (is_last ? 0 : VY_RECORDING_NO_END);
    uint64_t barriers = r->report.barriers_recorded, elided = r->report.barriers_elided;
    vyre_result code =
        vy_recording_record(r, current(s), VY_BORDER_NONE, VY_BORDER_NONE, parts, NULL, diag);
    s->barriers += r->report.barriers_recorded - barriers;
    s->elided += r->report.barriers_elided - elided;
    if (code == VYRE_OK && vy_sequence_is_counted(r)) {
        record_state(s, r, (*slot)++);
    }
    return code;
}

static void record_downloads(vyre_sequence *s)
{
    static const vy_barrier to_transfer = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER,
                                           VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, VY_STAGE_TRANSFER};
    static const vy_barrier to_host = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER, VY_STAGE_HOST};
    bool waits = s->region_count && !s->is_ordered;
    for (uint32_t i = 0; i < s->region_count && !waits; i++) {
        const vy_range *range = &s->regions[i].range;
        vy_touched what = {(VkBuffer)range->key, range->offset, range->size, false};
        waits = conflicts(s, &what, s->touched_before_transfer);
    }
    if (waits) {
        add_barrier(s, &to_transfer);
    }
    for (uint32_t i = 0; i < s->region_count; i++) {
        const vy_region *region = &s->regions[i];
        VkBufferCopy copy = {region->range.offset, region->start, region->range.size};
        s->device->vk.vkCmdCopyBuffer(current(s), (VkBuffer)region->range.key, s->readback.buffer,
                                      1, &copy);
    }
    if (s->region_count || s->state_count) {
        add_barrier(s, &to_host);
    }
}

vyre_result vy_sequence_record(vyre_sequence *s, vyre_diag *diag)
{
    vyre_result code = open_chunk(s, diag);
    if (code != VYRE_OK) {
        return code;
    }
    for (uint32_t i = 0; i < vy_sequence_step_count(s); i++) {
        s->steps[i]->is_recorded_since = false;
    }
    uint64_t total = vy_sequence_total(s);
    uint32_t slot = 0;
    stamp(s, VY_TIME_BEGIN);
    record_fills(s);
    stamp(s, VY_TIME_FIRST);
    for (uint64_t n = 0; n < total && code == VYRE_OK; n++) {
        code = record_step(s, n, &slot, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    stamp(s, VY_TIME_LAST);
    record_downloads(s);
    stamp(s, VY_TIME_END);
    code = close_chunk(s, diag);
    if (code == VYRE_OK && s->arena.failed) {
        code = vy_diag_no_memory(diag);
    }
    vy_count(s->device, recordings, code == VYRE_OK ? s->command_count : 0);
    return code;
}

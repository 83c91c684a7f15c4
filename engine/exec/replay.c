/* Chunks: which comes next, its recording, its submission, and what it left. */
#include "engine/exec/replay.h"

#include "engine/exec/debug.h"
#include "engine/exec/strategy.h"

#include <string.h>

#define CRUMB_SIZE ((uint64_t)2 * sizeof(uint32_t))

static bool has_until(const vy_replay *r)
{
    return r->pipeline->has_until;
}

static bool is_whole(const vy_replay *r)
{
    return r->instance->choice.is_whole;
}

static bool is_persistent(const vy_replay *r)
{
    return r->instance->choice.is_persistent;
}

void vy_replay_plan_input(const vyre_pipeline *pipeline, const vy_instance *instance,
                          vy_chunk_input *out)
{
    uint32_t debug = pipeline->device->debug;
    *out = (vy_chunk_input){
        .executions = instance->executions,
        .execution_count = instance->dispatch_count,
        .touches = instance->touches,
        .alias = instance->alias,
        .binding_count = pipeline->binding_count,
        .until = vy_kernel_until(pipeline->kernel),
        .has_grid = pipeline->grid_from >= 0,
        .grid = pipeline->grid_from >= 0 ? (uint32_t)pipeline->grid_from : 0,
        .serialize = (debug & (VYRE_DEBUG_SERIALIZE | VYRE_DEBUG_BREADCRUMBS)) != 0,
        .has_crumbs = instance->crumbs.buffer != VK_NULL_HANDLE,
        .is_whole = instance->choice.is_whole,
        .is_persistent = instance->choice.is_persistent,
    };
}

void vy_replay_ends(const vyre_pipeline *pipeline, const vy_instance *in, uint32_t lane,
                    uint32_t passes, uint32_t flag, vy_chunk_input *input)
{
    input->reads_state = pipeline->has_state && passes > 0;
    input->state = in->moves.state;
    input->state.target_offset = vy_instance_state_readback(lane);
    input->has_flag = in->moves.has_flag && flag < VY_STATE_TURNS;
    if (input->has_flag) {
        input->flag = vy_moves_flag(&in->moves, flag);
    }
}

uint32_t vy_replay_prologue(const vy_instance *in, bool is_start, vy_command *out)
{
    uint32_t count = 0;
    if (!in->is_direct) {
        out[count++] = (vy_command){.kind = VY_COMMAND_COPY,
                                    .target = VY_MEM_BLOCK,
                                    .source = VY_MEM_HOST_BLOCK,
                                    .size = in->state_offset};
    }
    for (uint32_t i = 0; is_start && i < in->moves.prologue_count; i++) {
        const vy_command *move = &in->moves.prologue[i];
        if (move->target != VY_MEM_STATE || !in->is_state_direct) {
            out[count++] = *move;
        }
    }
    return count;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static bool same_key(const vy_chunk_key *a, const vy_chunk_key *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* words alone: no padding */
}

static vyre_result make_queries(vyre_device *device, vy_recorded *c, vyre_diag *diag)
{
    VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = VY_TIME_COUNT,
    };
    VkResult result = device->vk.vkCreateQueryPool(device->device, &queries, NULL, &c->queries);
    if (result != VK_SUCCESS) {
        c->queries = VK_NULL_HANDLE;
        return vy_vk_error(device, diag, result, "vkCreateQueryPool");
    }
    vy_set_name(device, VK_OBJECT_TYPE_QUERY_POOL, (uint64_t)c->queries, "vyre timestamps");
    return VYRE_OK;
}

/* The recording of that chunk, or one to record it in: one that is not used, a new one, or the one
 * that was used longest ago. */
static vyre_result find_recorded(vy_replay *r, const vy_chunk_key *key, uint32_t *out_index,
                                 vyre_diag *diag)
{
    vyre_device *device = r->pipeline->device;
    vy_instance *in = r->instance;
    uint32_t best = in->recorded_count;
    for (uint32_t i = 0; i < in->recorded_count; i++) {
        vy_recorded *c = &in->recorded[i];
        bool is_current = c->generation == in->generation;
        if (is_current && same_key(&c->key, key)) {
            *out_index = i;
            return VYRE_OK;
        }
        bool is_pending = false;
        for (uint32_t l = 0; l < VY_MAX_LANES; l++) {
            is_pending = is_pending || (r->flights[l].is_busy && r->flights[l].recorded == i);
        }
        bool is_full = in->recorded_count == VY_MAX_RECORDED;
        if (!is_pending && (!is_current || is_full) &&
            (best == in->recorded_count || c->used < in->recorded[best].used)) {
            best = i;
        }
    }
    *out_index = best;
    if (best < in->recorded_count) {
        in->recorded[best].generation = 0;
        return VYRE_OK;
    }
    vy_recorded *c = &in->recorded[best];
    *c = (vy_recorded){.generation = 0};
    vyre_result code = vy_commands_create(device, r->label, &c->commands, diag);
    in->recorded_count += code == VYRE_OK;
    return code;
}

static void fill_input(const vy_replay *r, const vy_chunk_key *key, vy_command *prologue,
                       vy_chunk_input *input)
{
    const vy_instance *in = r->instance;
    vy_replay_plan_input(r->pipeline, in, input);
    input->prologue = prologue;
    input->prologue_count = vy_replay_prologue(in, key->is_start, prologue);
    if (key->has_epilogue) {
        input->epilogue = in->moves.epilogue;
        input->epilogue_count = in->moves.epilogue_count;
    }
    input->has_timestamps = key->is_timed != 0;
    input->first = key->first;
    input->count = key->count;
    input->passes = key->passes;
    input->phase = key->phase;
    vy_replay_ends(r->pipeline, in, key->lane, key->passes,
                   key->has_epilogue ? key->flag : VY_STATE_TURNS, input);
    input->whole_stride = r->whole_stride;
    input->whole_targets[0] = VY_STATE_PASSES * sizeof(uint32_t);
    input->whole_targets[1] = VY_STATE_CONVERGED * sizeof(uint32_t);
    input->host_reads =
        vy_moves_host_reads(&in->moves, input->reads_state || input->epilogue_count > 0 ||
                                            (input->is_persistent && key->passes > 0));
    input->sync_target = vy_instance_sync_readback(key->lane);
    input->before = VY_BORDER_ENGINE;
}

static vyre_result record(vy_replay *r, uint32_t index, const vy_chunk_key *key,
                          vyre_report *report, vyre_diag *diag)
{
    vyre_device *device = r->pipeline->device;
    vy_instance *in = r->instance;
    vy_recorded *c = &in->recorded[index];
    uint64_t start = vy_clock_ns();
    vy_command prologue[VY_MAX_PROLOGUE];
    vy_chunk_input input;
    fill_input(r, key, prologue, &input);
    vy_arena arena;
    vy_arena_init(&arena, &device->allocator);
    vy_chunk_plan plan;
    vyre_result code =
        vy_chunk_plan_build(&input, &arena, &plan) ? VYRE_OK : vy_diag_no_memory(diag);
    if (code == VYRE_OK && key->is_timed && !c->queries) {
        code = make_queries(device, c, diag);
    }
    if (code == VYRE_OK) {
        code = vy_commands_begin(device, &c->commands, false, diag);
    }
    if (code == VYRE_OK) {
        vy_record_plan(r->pipeline, in, key->lane, &plan, c->queries, c->commands.buffer);
        code = vy_commands_end(device, &c->commands, diag);
    }
    if (code == VYRE_OK) {
        c->generation = in->generation;
        c->key = *key;
        c->dispatches = plan.dispatches;
        c->barriers = plan.barriers;
        c->elided = plan.elided;
        vy_count(device, dispatches, plan.dispatches + plan.moves);
        vy_count(device, barriers, plan.barriers);
        vy_count(device, barriers_elided, plan.elided);
        vy_count(device, recordings, 1);
        report->recordings++;
    }
    vy_arena_finish(&arena);
    uint64_t took_ns = vy_clock_ns() - start;
    report->record_ns += took_ns;
    if (code == VYRE_OK && device->debug & VYRE_DEBUG_TRACE) {
        vy_log_write(&device->log, VYRE_LOG_DEBUG,
                     "recorded %s: %u passes, %u dispatches, %u barriers and %u left out, in %llu "
                     "ns",
                     r->label, (unsigned)key->passes, (unsigned)c->dispatches,
                     (unsigned)c->barriers, (unsigned)c->elided, (unsigned long long)took_ns);
    }
    return code;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Copying them costs less than submitting once more. */
#define SMALL_OUTPUTS 65536u

static bool has_small_outputs(const vy_replay *r)
{
    const vy_moves *m = &r->instance->moves;
    uint64_t size = 0;
    for (uint32_t i = 0; i < m->epilogue_count; i++) {
        size += m->epilogue[i].size;
    }
    return size <= SMALL_OUTPUTS;
}

/* So many passes are submitted when the call returns, if the limit is no more (vulkan.h). */
#define AT_ONCE 3u

static bool is_submitted_at_once(const vy_replay *r)
{
    return has_until(r) && !is_whole(r) && !is_persistent(r) && r->limit <= AT_ONCE;
}

static uint64_t launched_groups(const vy_instance *in)
{
    return (uint64_t)in->launched[0] * in->launched[1] * in->launched[2];
}

/* The next chunk; `passes` 0 in a chunk without dispatches. */
static vy_chunk_key next_chunk(const vy_replay *r)
{
    uint32_t executions = r->instance->dispatch_count;
    vy_chunk_key key = {.is_start = r->chunk == 0};
    if (executions == 0) {
        key.has_epilogue = 1;
        return key;
    }
    uint32_t most = vy_chunk_passes(executions);
    uint32_t left = r->limit - r->pass;
    if (is_whole(r)) {
        most = vy_workgroup_passes(executions);
        key.count = executions;
        key.passes = left < most ? left : most;
        /* Each may be the last one. */
        key.has_epilogue = has_until(r) || key.passes == left;
        return key;
    }
    uint32_t most_executions = VY_CHUNK_DISPATCHES;
    if (is_persistent(r)) {
        most_executions = vy_persistent_executions(r->rounds);
        most = most_executions / executions;
    }
    if (r->marks) {
        most_executions = 1;
    }
    /* Where the last pass ends. */
    uint32_t end = r->last_count && left == 1 ? r->last_count : executions;
    if (executions > most_executions || r->marks) {
        /* A pass is cut into pieces. */
        uint32_t rest = end - r->execution;
        key.first = r->execution;
        key.count = rest < most_executions ? rest : most_executions;
        key.passes = 1;
        key.has_epilogue = left == 1 && key.first + key.count == end;
        return key;
    }
    if (is_submitted_at_once(r)) {
        most = most < AT_ONCE ? most : AT_ONCE;
    } else if (has_until(r) && !is_persistent(r)) {
        most = vy_chunk_ladder(r->pass, executions, launched_groups(r->instance));
    }
    if (r->last_count && left > 1) {
        most = most < left - 1 ? most : left - 1;
    }
    key.count = end;
    key.passes = left < most ? left : most;
    key.has_epilogue = key.passes == left || (has_until(r) && has_small_outputs(r));
    return key;
}

/* Of a chunk at the next pass: the flag words it has to do with. An empty grid leaves the first one
 * zero; an end alone comes behind passes that left theirs so. */
static void set_flags(const vy_replay *r, vy_chunk_key *key)
{
    if (has_until(r) && !is_whole(r)) {
        key->phase = r->pass % VY_STATE_TURNS;
        key->flag = (key->phase + key->passes + VY_STATE_TURNS - 1) % VY_STATE_TURNS;
    }
    if (r->instance->dispatch_count == 0) {
        key->flag = 0;
    }
}

static void advance_place(vy_replay *r, const vy_chunk_key *key)
{
    if (key->first + key->count < r->instance->dispatch_count) {
        r->execution = key->first + key->count;
        return;
    }
    r->execution = 0;
    r->pass += key->passes;
}

static bool is_converged(const vy_replay *r)
{
    return has_until(r) && r->has_converged;
}

/* What is submitted next, if something is. After an early end the outputs are still on the device,
 * and the host's signals still to be made. */
static bool find_next(const vy_replay *r, vy_chunk_key *out_key)
{
    if (r->is_sent || r->is_stopped) {
        return false;
    }
    if (is_converged(r)) {
        *out_key = (vy_chunk_key){.has_epilogue = 1};
    } else {
        *out_key = next_chunk(r);
    }
    set_flags(r, out_key);
    return true;
}

/* What the lane's chunk before left says nothing of this one. Where the memory is not coherent the
 * flush may fail: the crumb is then taken for an older one's. */
static void clear_crumb(vyre_device *device, vy_instance *in, uint32_t lane)
{
    if (in->crumbs.mapped) {
        uint64_t offset = CRUMB_SIZE * lane;
        memset((unsigned char *)in->crumbs.mapped + offset, 0, CRUMB_SIZE);
        (void)vy_block_flush(device, &in->crumbs, offset, CRUMB_SIZE, NULL);
    }
}

/* Otherwise the passes count themselves. */
static bool is_told_its_pass(const vy_replay *r)
{
    return !has_until(r) || is_whole(r) || is_persistent(r);
}

/* Makes a chunk ready in a lane that is free. */
static vyre_result make_ready(vy_replay *r, uint32_t lane, vy_chunk_key *key, vyre_report *report,
                              vyre_diag *diag)
{
    vyre_device *device = r->pipeline->device;
    vy_flight *flight = &r->flights[lane];
    /* The end alone reads the same in every lane: one recording does for all. */
    key->lane = key->passes ? lane : 0;
    key->is_timed = r->is_timed && r->instance->has_timestamps;
    vyre_result code = VYRE_OK;
    if (key->passes && is_told_its_pass(r) && r->lane_passes_base[lane] != r->pass) {
        uint64_t start = vy_clock_ns();
        code = vy_instance_write_pass(r->pipeline, r->instance, lane, r->pass - key->phase, diag);
        r->lane_passes_base[lane] = r->pass;
        report->stage_ns += vy_clock_ns() - start;
    }
    if (code == VYRE_OK) {
        code = find_recorded(r, key, &flight->recorded, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    vy_recorded *c = &r->instance->recorded[flight->recorded];
    if (c->generation == r->instance->generation && same_key(&c->key, key)) {
        vy_count(device, recordings_reused, 1);
        report->recordings_reused++;
    } else {
        code = record(r, flight->recorded, key, report, diag);
    }
    c->used = ++r->instance->clock;
    clear_crumb(device, r->instance, lane);
    flight->passes = key->passes;
    flight->first_pass = r->pass;
    flight->chunk = r->chunk;
    flight->has_epilogue = key->has_epilogue;
    return code;
}

static void count_chunk(const vy_recorded *c, vyre_report *report)
{
    report->chunks++;
    report->dispatches_recorded += c->dispatches;
    report->barriers_recorded += c->barriers;
    report->barriers_elided += c->elided;
}

typedef struct pending {
    vy_batch batches[VY_MAX_BATCHES];
    VkCommandBuffer commands[VY_MAX_BATCHES][4];
    uint32_t lanes[VY_MAX_BATCHES];
    uint32_t count;
} pending;

static void add_batch(const vy_replay *r, pending *list, uint32_t lane, bool is_first, bool is_last)
{
    uint32_t n = list->count++, count = 0;
    VkCommandBuffer *commands = list->commands[n];
    if (is_first && r->before) {
        commands[count++] = r->before;
    }
    commands[count++] = r->instance->recorded[r->flights[lane].recorded].commands.buffer;
    if (is_last && r->after) {
        commands[count++] = r->after;
    }
    list->lanes[n] = lane;
    list->batches[n] = (vy_batch){.commands = commands,
                                  .command_count = count,
                                  .waits = r->waits,
                                  .wait_count = is_first ? r->wait_count : 0,
                                  .signals = r->signals,
                                  .signal_count = is_last ? r->signal_count : 0};
}

/* The last two chunks as one batch, where nobody looks between them. */
static void join_batches(const vy_replay *r, pending *list)
{
    if (list->count != 2 || !r->is_sent || has_until(r)) {
        return;
    }
    vy_batch *a = &list->batches[0], *b = &list->batches[1];
    for (uint32_t i = 0; i < b->command_count; i++) {
        list->commands[0][a->command_count++] = b->commands[i];
    }
    a->signals = b->signals;
    a->signal_count = b->signal_count;
    list->count = 1;
}

/* A chunk is in flight that none is submitted ahead of: a launch goes on until it has converged, so
 * that what would follow it is rarely needed, and the first chunks are short. */
static bool is_alone(const vy_replay *r)
{
    const vy_instance *in = r->instance;
    bool is_any = false;
    for (uint32_t l = 0; l < VY_MAX_LANES; l++) {
        const vy_flight *flight = &r->flights[l];
        bool has_next =
            !is_whole(r) && !is_persistent(r) &&
            vy_chunk_has_next_ahead(flight->first_pass, in->dispatch_count, launched_groups(in));
        is_any = is_any || (flight->is_busy && !has_next);
    }
    return has_until(r) && is_any && !is_submitted_at_once(r);
}

/* Submits as many chunks as there are lanes free, in one call. */
static vyre_result submit(vy_replay *r, vyre_report *report, vyre_diag *diag)
{
    pending list = {.count = 0};
    vyre_result code = VYRE_OK;
    vy_chunk_key key;
    uint64_t begin = vy_clock_ns();
    for (uint32_t i = 0; i < VY_MAX_LANES && code == VYRE_OK; i++) {
        uint32_t lane = r->chunk % VY_MAX_LANES;
        if (is_converged(r) && r->flights[lane].is_busy) {
            lane = (lane + 1) % VY_MAX_LANES;
        }
        if (is_alone(r) || r->flights[lane].is_busy || !find_next(r, &key)) {
            break;
        }
        code = make_ready(r, lane, &key, report, diag);
        if (code == VYRE_OK) {
            bool is_last = key.has_epilogue && (!key.passes || key.passes == r->limit - r->pass);
            add_batch(r, &list, lane, r->chunk == 0, is_last);
            r->flights[lane].is_busy = true;
            advance_place(r, &key);
            r->chunk++;
            r->is_sent = is_last;
        }
    }
    uint64_t values[VY_MAX_BATCHES] = {0};
    uint32_t chunk_count = list.count;
    join_batches(r, &list);
    if (code == VYRE_OK && list.count) {
        uint64_t start = vy_clock_ns();
        code = vy_queue_submit_batches(r->pipeline->device, list.batches, list.count, r->label,
                                       values, diag);
        uint64_t end = vy_clock_ns();
        report->submit_ns += end - start;
        report->enqueue_ns += end - begin;
        report->submissions += code == VYRE_OK;
    }
    for (uint32_t i = 0; i < chunk_count; i++) {
        vy_flight *flight = &r->flights[list.lanes[i]];
        /* After a loss they tell what came last. */
        flight->is_busy = code == VYRE_OK || code == VYRE_ERROR_DEVICE_LOST;
        flight->value = UINT64_MAX;
        if (code == VYRE_OK) {
            flight->value = values[i < list.count ? i : list.count - 1];
            r->last_value = flight->value;
            r->instance->recorded[flight->recorded].value = flight->value;
            count_chunk(&r->instance->recorded[flight->recorded], report);
        }
    }
    r->is_stopped = r->is_stopped || code != VYRE_OK;
    return code;
}

uint32_t vy_replay_lanes(const vyre_pipeline *p, const vy_job *job)
{
    if (job->is_persistent) {
        uint64_t most = vy_persistent_executions(vy_persistent_rounds(job));
        return (uint64_t)job->dispatch_count * job->shape.passes <= most ? 1 : VY_MAX_LANES;
    }
    if (job->is_whole) {
        return job->shape.passes <= vy_workgroup_passes(job->dispatch_count) ? 1 : VY_MAX_LANES;
    }
    if (job->last_count || job->is_marked) {
        return VY_MAX_LANES; /* there are chunks within passes */
    }
    uint64_t dispatches = (uint64_t)job->dispatch_count * job->shape.passes;
    bool is_one = p->has_until ? job->shape.passes <= 1 || job->dispatch_count == 0
                               : dispatches <= VY_CHUNK_DISPATCHES;
    return is_one ? 1 : VY_MAX_LANES;
}

vyre_result vy_replay_start(vy_replay *r, vyre_report *report, vyre_diag *diag)
{
    return submit(r, report, diag);
}

/* ---- What has ended -------------------------------------------------------------------------- */

static void add_mark(vy_replay *r, uint32_t pass, uint32_t execution, const uint64_t *ticks)
{
    vyre_device *device = r->pipeline->device;
    vy_marks *marks = r->marks;
    if (marks && marks->count < marks->capacity) {
        marks->list[marks->count++] = (vy_mark){
            .pass = pass,
            .execution = execution,
            .begin_ns = vy_ticks_to_ns(device, r->first_tick, ticks[VY_TIME_FIRST]),
            .end_ns = vy_ticks_to_ns(device, r->first_tick, ticks[VY_TIME_LAST]),
        };
    }
}

/* `ran`: passes of the chunk were executed, not only skipped. */
static vyre_result read_ticks(vy_replay *r, const vy_flight *flight, const vy_recorded *c, bool ran,
                              vyre_diag *diag)
{
    vyre_device *device = r->pipeline->device;
    uint64_t ticks[VY_TIME_COUNT] = {0};
    VkResult result = device->vk.vkGetQueryPoolResults(
        device->device, c->queries, 0, VY_TIME_COUNT, sizeof ticks, ticks, sizeof ticks[0],
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkGetQueryPoolResults");
    }
    if (!r->has_first) {
        r->first_tick = ticks[VY_TIME_BEGIN];
        r->first_dispatch_tick = ticks[VY_TIME_FIRST];
        r->has_first = true;
    }
    if (ran) {
        r->last_dispatch_tick = ticks[VY_TIME_LAST];
    }
    r->last_tick = ticks[VY_TIME_END];
    if (flight->passes > 0) {
        add_mark(r, flight->first_pass, c->key.first, ticks);
    }
    return VYRE_OK;
}

/* What the state that a chunk left says of the end; is_sent: the outputs are there, and the host
 * waits for nothing more. */
static void look_at_state(vy_replay *r, const vy_flight *flight, const vy_chunk_key *key)
{
    bool ends_pass = key->first + key->count == r->instance->dispatch_count;
    r->passes = r->state[is_whole(r) ? VY_STATE_PASSES : vy_state_passes(key->flag + 1)];
    if (is_whole(r)) {
        r->has_converged = r->state[VY_STATE_CONVERGED] != 0;
    } else if (has_until(r) && ends_pass) {
        r->has_converged = r->has_converged || r->state[vy_state_flag(key->flag)] == 0;
    }
    bool is_there = is_converged(r) && flight->has_epilogue;
    r->is_sent = r->is_sent || (is_there && !r->signal_count && !r->after);
}

static vyre_result finish_flight(vy_replay *r, uint32_t lane, vyre_diag *diag)
{
    vy_flight *flight = &r->flights[lane];
    const vy_recorded *c = &r->instance->recorded[flight->recorded];
    uint32_t passes_before = r->passes;
    vyre_result code = VYRE_OK;
    flight->is_busy = false;
    if (c->key.first + c->key.count == r->instance->dispatch_count) {
        r->ended = flight->first_pass + flight->passes;
    }
    if (flight->passes > 0 && r->pipeline->has_state) {
        code = vy_block_invalidate(r->pipeline->device, &r->instance->readback,
                                   vy_instance_state_readback(lane), sizeof r->state, diag);
        if (code != VYRE_OK) {
            return code;
        }
        vy_report_state(r->instance, lane, r->state);
        look_at_state(r, flight, &c->key);
    }
    if (is_persistent(r) && flight->passes > 0) {
        code = vy_persistent_check(r->pipeline->device, r->instance, lane, r->label, diag);
        if (code != VYRE_OK) {
            return code;
        }
    }
    r->launches += (is_whole(r) || is_persistent(r)) && flight->passes > 0;
    /* A chunk that only skipped passes has no say in the times, unless the outputs were copied in
     * it. */
    bool ran = flight->passes > 0 && (!has_until(r) || r->passes > passes_before);
    if (c->key.is_timed && (ran || flight->has_epilogue || r->marks)) {
        code = read_ticks(r, flight, c, ran, diag);
    }
    return code;
}

/* Of those in flight whose value is greater. */
static uint32_t oldest_above(const vy_replay *r, uint64_t value)
{
    uint32_t best = VY_MAX_LANES;
    for (uint32_t l = 0; l < VY_MAX_LANES; l++) {
        if (r->flights[l].is_busy && r->flights[l].value > value &&
            (best == VY_MAX_LANES || r->flights[l].chunk < r->flights[best].chunk)) {
            best = l;
        }
    }
    return best;
}

static uint32_t oldest(const vy_replay *r)
{
    return oldest_above(r, 0);
}

vyre_result vy_replay_advance(vy_replay *r, vyre_report *report, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; i < VY_MAX_LANES && code == VYRE_OK; i++) {
        uint32_t lane = oldest(r);
        if (lane == VY_MAX_LANES ||
            !vy_queue_is_done(r->pipeline->device, r->flights[lane].value)) {
            break;
        }
        code = vy_check_lost(r->pipeline->device, diag);
        if (code == VYRE_OK) {
            code = finish_flight(r, lane, diag);
        }
    }
    return code == VYRE_OK ? submit(r, report, diag) : code;
}

bool vy_replay_is_over(const vy_replay *r)
{
    return (r->is_sent || r->is_stopped) && oldest(r) == VY_MAX_LANES;
}

uint64_t vy_replay_next_value(const vy_replay *r)
{
    uint32_t lane = oldest(r);
    return lane == VY_MAX_LANES ? 0 : r->flights[lane].value;
}

/* ---- Report ---------------------------------------------------------------------------------- */

void vy_replay_fill_report(const vy_replay *r, vyre_report *report)
{
    vyre_device *device = r->pipeline->device;
    uint32_t executions = r->instance->dispatch_count;
    report->passes = r->limit;
    report->convergence = VYRE_CONVERGENCE_NONE;
    if (has_until(r) && executions == 0) {
        /* Nobody sets the flag. */
        report->passes = 1;
        report->convergence = VYRE_CONVERGENCE_YES;
    } else if (has_until(r)) {
        report->passes = r->passes;
        report->convergence = r->has_converged ? VYRE_CONVERGENCE_YES : VYRE_CONVERGENCE_LIMIT;
        report->passes_saved = r->limit - report->passes;
    }
    const vy_trim *trim = &r->instance->trim;
    bool is_joined = is_whole(r) || is_persistent(r);
    report->dispatches_executed =
        is_joined ? r->launches : (uint64_t)report->passes * trim->launches;
    report->workgroups_saved = vy_trim_saved(trim, report->passes);
    vy_report_grid(r->pipeline, r->state, report);
    if (r->has_first) {
        report->device_ns = vy_ticks_to_ns(device, r->first_tick, r->last_tick);
        report->device_start_ns = vy_device_host_time(device, r->first_tick);
        if (executions > 0) {
            report->device_dispatches_ns =
                vy_ticks_to_ns(device, r->first_dispatch_tick, r->last_dispatch_tick);
        }
    }
}

/* The crumb of the chunk that came last of those whose dispatches had begun. */
static bool find_crumb(const vy_replay *r, uint32_t *out_lane, uint32_t out_crumb[2])
{
    const vy_instance *in = r->instance;
    bool is_there = false;
    if (!in->crumbs.mapped || vy_block_invalidate(r->pipeline->device, &in->crumbs, 0,
                                                  in->crumbs.size, NULL) != VYRE_OK) {
        return false;
    }
    for (uint32_t l = 0; l < VY_MAX_LANES; l++) {
        uint32_t crumb[2];
        memcpy(crumb, (const unsigned char *)in->crumbs.mapped + CRUMB_SIZE * l, CRUMB_SIZE);
        /* Words count from 1; 0: no dispatch of it had begun. */
        bool has_begun = r->flights[l].is_busy && crumb[0] && crumb[0] <= in->execution_count;
        if (has_begun && (!is_there || r->flights[l].value > r->flights[*out_lane].value)) {
            is_there = true;
            *out_lane = l;
            memcpy(out_crumb, crumb, sizeof crumb);
        }
    }
    return is_there;
}

uint64_t vy_replay_describe(const vy_replay *r, vyre_loss *loss)
{
    if (!r->instance) {
        return 0;
    }
    uint32_t lane = oldest_above(r, vy_queue_seen(r->pipeline->device)), crumb[2];
    if (lane == VY_MAX_LANES) {
        return 0;
    }
    uint64_t value = r->flights[lane].value;
    const vy_instance *in = r->instance;
    const vy_chunk_key *key = &in->recorded[r->flights[lane].recorded].key;
    loss->pass = r->flights[lane].first_pass;
    if (key->count == 1 && key->first < in->execution_count) {
        loss->segment = in->executions[key->first].segment;
    }
    if (find_crumb(r, &lane, crumb)) {
        loss->is_exact = 1;
        loss->segment = in->executions[crumb[0] - 1].segment;
        loss->pass = r->flights[lane].first_pass + crumb[1];
    }
    return value;
}

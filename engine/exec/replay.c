/* Chunks. Without `until` a dispatch is as few as fit the limit of dispatches, two in flight; with
 * it they grow 1, 2, 4, ..., and one is submitted ahead of the one that runs, so that what is
 * submitted in vain after convergence is at most the rest of one chunk and the next. */
#include "engine/exec/replay.h"

#include "engine/exec/judge.h"

#include <string.h>

/* The prologue of a chunk is that of the dispatch with the copy of the parameter block before. */
#define MAX_PROLOGUE (2 * VYRE_MAX_BUFFERS + 5)

typedef struct run_state {
    vyre_pipeline *pipeline;
    vy_instance *instance;
    const vy_job *job;
    uint64_t deadline_ns;
    vyre_report *report;
    vyre_diag *diag;
    uint32_t pass, execution; /* where the next chunk starts */
    uint32_t chunk;
    uint64_t last_value;
    uint32_t lane_passes[VY_MAX_LANES]; /* passes of the chunk in flight there; 0: none */
    bool lane_is_timed[VY_MAX_LANES];
    uint32_t state[VY_STATE_WORDS]; /* the newest that the host has seen */
    bool has_first;
    uint64_t first_tick, first_dispatch_tick, last_dispatch_tick, last_tick;
} run_state;

static bool has_until(const run_state *r)
{
    return r->pipeline->judge != VK_NULL_HANDLE;
}

void vy_replay_plan_input(const vyre_pipeline *pipeline, const vy_instance *instance,
                          vy_chunk_input *out)
{
    *out = (vy_chunk_input){
        .executions = instance->executions,
        .execution_count = instance->dispatch_count,
        .touches = instance->touches,
        .alias = instance->alias,
        .binding_count = pipeline->binding_count,
        .until = vy_kernel_until(pipeline->kernel),
        .serialize = (pipeline->device->debug & VYRE_DEBUG_SERIALIZE) != 0,
        .has_timestamps = instance->has_timestamps,
        .state_size = VY_STATE_WORDS * sizeof(uint32_t),
    };
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* The next chunk; `passes` 0 in a chunk without dispatches. */
static vy_chunk_key next_chunk(const run_state *r)
{
    uint32_t executions = r->instance->dispatch_count;
    vy_chunk_key key = {.is_start = r->chunk == 0};
    if (executions == 0) {
        key.has_epilogue = 1;
        return key;
    }
    uint32_t most = vy_chunk_passes(executions, has_until(r));
    uint32_t left = r->job->shape.passes - r->pass;
    if (executions > VY_CHUNK_DISPATCHES) {
        /* A pass is cut into pieces. */
        uint32_t rest = executions - r->execution;
        key.first = r->execution;
        key.count = rest < VY_CHUNK_DISPATCHES ? rest : VY_CHUNK_DISPATCHES;
        key.passes = 1;
        key.has_epilogue = left == 1 && key.first + key.count == executions;
        return key;
    }
    if (has_until(r) && r->chunk < 31 && 1u << r->chunk < most) {
        most = 1u << r->chunk;
    }
    key.count = executions;
    key.passes = left < most ? left : most;
    key.has_epilogue = key.passes == left;
    return key;
}

static vyre_result record(run_state *r, uint32_t lane_index, const vy_chunk_key *key)
{
    vyre_device *device = r->pipeline->device;
    vy_instance *in = r->instance;
    vy_lane *lane = &in->lanes[lane_index];
    vy_command prologue[MAX_PROLOGUE] = {{.kind = VY_COMMAND_COPY,
                                          .target = VY_MEM_BLOCK,
                                          .source = VY_MEM_HOST_BLOCK,
                                          .size = in->state_offset}};
    vy_chunk_input input;
    vy_replay_plan_input(r->pipeline, in, &input);
    input.prologue = prologue;
    input.prologue_count = 1;
    if (key->is_start) {
        memcpy(&prologue[1], in->prologue, in->prologue_count * sizeof *prologue);
        input.prologue_count += in->prologue_count;
    }
    if (key->has_epilogue) {
        input.epilogue = in->epilogue;
        input.epilogue_count = in->epilogue_count;
    }
    input.first = key->first;
    input.count = key->count;
    input.passes = key->passes;
    input.is_start = key->is_start;
    input.reads_state = has_until(r) && key->passes > 0;
    input.state_offset = vy_instance_state_readback(in, lane_index);
    input.has_host_end = input.reads_state || input.epilogue_count > 0;
    input.before = VY_BORDER_ENGINE;

    lane->generation = 0;
    vy_arena arena;
    vy_arena_init(&arena, &device->allocator);
    vy_chunk_plan plan;
    vyre_result code =
        vy_chunk_plan_build(&input, &arena, &plan) ? VYRE_OK : vy_diag_no_memory(r->diag);
    if (code == VYRE_OK) {
        code = vy_commands_begin(device, &lane->commands, false, r->diag);
    }
    if (code == VYRE_OK) {
        vy_record_plan(r->pipeline, in, lane_index, &plan, lane->commands.buffer);
        code = vy_commands_end(device, &lane->commands, r->diag);
    }
    if (code == VYRE_OK) {
        lane->generation = in->generation;
        lane->key = *key;
        lane->dispatches = plan.dispatches;
        lane->judges = plan.judges;
        lane->barriers = plan.barriers;
        lane->elided = plan.elided;
        vy_count(device, dispatches, plan.dispatches + plan.judges);
        vy_count(device, barriers, plan.barriers);
        vy_count(device, recordings, 1);
        r->report->recordings++;
    }
    vy_arena_finish(&arena);
    return code;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static uint64_t tick_mask(const vyre_device *device)
{
    uint32_t bits = device->snapshot.timestamp_bits;
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* `ran`: passes of the chunk were executed, not only skipped. */
static vyre_result read_ticks(run_state *r, const vy_lane *lane, bool ran)
{
    vyre_device *device = r->pipeline->device;
    uint64_t ticks[VY_TIME_COUNT] = {0};
    VkResult result = device->vk.vkGetQueryPoolResults(
        device->device, lane->queries, 0, VY_TIME_COUNT, sizeof ticks, ticks, sizeof ticks[0],
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, r->diag, result, "vkGetQueryPoolResults");
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
    return VYRE_OK;
}

/* Waits for what is in flight on a lane, and looks at what it did. */
static vyre_result finish_lane(run_state *r, uint32_t lane_index)
{
    vyre_device *device = r->pipeline->device;
    vy_lane *lane = &r->instance->lanes[lane_index];
    if (!r->lane_is_timed[lane_index] && r->lane_passes[lane_index] == 0) {
        return VYRE_OK;
    }
    vyre_result code = vy_queue_wait(device, lane->value, r->deadline_ns,
                                     vyre_kernel_name(r->pipeline->kernel), r->diag);
    if (code == VYRE_OK && r->lane_passes[lane_index] > 0 && has_until(r)) {
        code = vy_block_invalidate(device, &r->instance->readback,
                                   vy_instance_state_readback(r->instance, lane_index),
                                   sizeof r->state, r->diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t passes_before = r->state[VY_STATE_PASSES];
    if (r->lane_passes[lane_index] > 0 && has_until(r)) {
        vy_report_state(r->instance, lane_index, r->state);
    }
    /* A chunk that only skipped passes has no say in the times, unless the outputs were copied in
     * it. */
    bool ran = lane->key.passes > 0 && (!has_until(r) || r->state[VY_STATE_PASSES] > passes_before);
    if (r->instance->has_timestamps && (ran || lane->key.has_epilogue)) {
        code = read_ticks(r, lane, ran);
    }
    r->lane_passes[lane_index] = 0;
    r->lane_is_timed[lane_index] = false;
    return code;
}

static vyre_result submit(run_state *r, uint32_t lane_index, const vy_chunk_key *key)
{
    vyre_device *device = r->pipeline->device;
    vy_lane *lane = &r->instance->lanes[lane_index];
    vyre_result code =
        vy_instance_write_block(r->pipeline, r->instance, r->job, lane_index, r->pass, r->diag);
    bool is_recorded =
        lane->generation == r->instance->generation && memcmp(&lane->key, key, sizeof *key) == 0;
    if (code == VYRE_OK && is_recorded) {
        vy_count(device, recordings_reused, 1);
        r->report->recordings_reused++;
    } else if (code == VYRE_OK) {
        code = record(r, lane_index, key);
    }
    if (code == VYRE_OK) {
        code = vy_queue_submit(device, lane->commands.buffer, vyre_kernel_name(r->pipeline->kernel),
                               &lane->value, r->diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    r->last_value = lane->value;
    r->lane_passes[lane_index] = key->passes;
    r->lane_is_timed[lane_index] = true;
    r->report->submissions++;
    r->report->dispatches_recorded += lane->dispatches + lane->judges;
    r->report->barriers_recorded += lane->barriers;
    r->report->barriers_elided += lane->elided;
    return VYRE_OK;
}

static void advance(run_state *r, const vy_chunk_key *key)
{
    r->chunk++;
    r->report->chunks++;
    if (key->first + key->count < r->instance->dispatch_count) {
        r->execution = key->first + key->count;
        return;
    }
    r->execution = 0;
    r->pass += key->passes;
}

static bool is_done(const run_state *r)
{
    return has_until(r) && r->state[VY_STATE_DONE];
}

/* After an early end the outputs are still on the device. */
static vyre_result run_epilogue(run_state *r)
{
    vy_chunk_key key = {.has_epilogue = 1};
    uint32_t lane = r->chunk % VY_MAX_LANES;
    vyre_result code = finish_lane(r, lane);
    if (code == VYRE_OK) {
        code = submit(r, lane, &key);
    }
    return code == VYRE_OK ? finish_lane(r, lane) : code;
}

static vyre_result run_chunks(run_state *r)
{
    vyre_result code = VYRE_OK;
    bool has_epilogue = false;
    while (code == VYRE_OK && !has_epilogue && !is_done(r)) {
        uint32_t lane = r->chunk % VY_MAX_LANES;
        code = finish_lane(r, lane);
        if (code != VYRE_OK || is_done(r)) {
            break;
        }
        vy_chunk_key key = next_chunk(r);
        code = submit(r, lane, &key);
        has_epilogue = key.has_epilogue;
        if (code == VYRE_OK) {
            advance(r, &key);
        }
    }
    /* In the order of submission. */
    for (uint32_t i = 0; code == VYRE_OK && i < VY_MAX_LANES; i++) {
        code = finish_lane(r, (r->chunk + i) % VY_MAX_LANES);
    }
    if (code == VYRE_OK && !has_epilogue && r->instance->epilogue_count > 0) {
        code = run_epilogue(r);
    }
    return code;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static uint64_t span_ns(const vyre_device *device, uint64_t from, uint64_t to)
{
    double ticks = (double)((to - from) & tick_mask(device));
    return (uint64_t)(ticks * device->snapshot.info.timestamp_ns + 0.5);
}

static void fill_report(run_state *r)
{
    vyre_report *report = r->report;
    const vyre_device *device = r->pipeline->device;
    uint32_t executions = r->instance->dispatch_count;
    report->passes = r->job->shape.passes;
    report->convergence = VYRE_CONVERGENCE_NONE;
    if (has_until(r) && executions == 0) {
        /* Nobody sets the flag. */
        report->passes = 1;
        report->convergence = VYRE_CONVERGENCE_YES;
    } else if (has_until(r)) {
        report->passes = r->state[VY_STATE_PASSES];
        report->convergence =
            r->state[VY_STATE_CONVERGED] ? VYRE_CONVERGENCE_YES : VYRE_CONVERGENCE_LIMIT;
    }
    report->dispatches_executed = (uint64_t)report->passes * executions;
    if (r->has_first) {
        report->device_ns = span_ns(device, r->first_tick, r->last_tick);
        if (executions > 0) {
            report->device_dispatches_ns =
                span_ns(device, r->first_dispatch_tick, r->last_dispatch_tick);
        }
    }
}

vyre_result vy_replay_run(vyre_pipeline *pipeline, vy_instance *instance, const vy_job *job,
                          uint64_t deadline_ns, vyre_report *report, uint64_t *out_value,
                          vyre_diag *diag)
{
    run_state r = {.pipeline = pipeline,
                   .instance = instance,
                   .job = job,
                   .deadline_ns = deadline_ns,
                   .report = report,
                   .diag = diag};
    report->strategy = "replay";
    report->is_folded = job->shape.is_folded;
    report->segments = job->execution_count;
    vyre_result code = run_chunks(&r);
    *out_value = r.last_value;
    if (code == VYRE_OK) {
        fill_report(&r);
        vy_count(pipeline->device, passes, report->passes);
    }
    return code;
}

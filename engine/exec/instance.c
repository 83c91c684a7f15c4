/* Memory of an instance: grown when a dispatch needs more, kept otherwise. */
#include "engine/exec/instance.h"

#include "engine/exec/bind.h"
#include "engine/exec/own_kernels.h"
#include "engine/exec/strategy.h"
#include "engine/memory/mover.h"
#include "engine/pipeline/limits.h"

#include <stddef.h>
#include <string.h>

/* The most that minUniformBufferOffsetAlignment and minStorageBufferOffsetAlignment may be. */
#define BLOCK_ALIGNMENT 256u
#define STATE_SIZE      (VY_STATE_WORDS * sizeof(uint32_t))
#define SYNC_SIZE       256u /* one word, with nothing beside it */

static uint64_t align(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

uint64_t vy_instance_state_readback(uint32_t lane)
{
    return (uint64_t)VY_STATE_STRIDE * lane;
}

uint64_t vy_instance_sync_readback(uint32_t lane)
{
    return (uint64_t)VY_STATE_STRIDE * lane + STATE_SIZE;
}
_Static_assert(STATE_SIZE + sizeof(uint32_t) <= VY_STATE_STRIDE, "both have room");

uint64_t vy_instance_move_offset(const vy_instance *in, uint32_t block)
{
    return in->moves_offset + (uint64_t)VY_MOVE_STRIDE * block;
}

uint64_t vy_instance_block_size(const vyre_pipeline *p)
{
    return (uint64_t)VY_PARAM_VECTOR_SIZE *
           vy_tailed_vectors(p->binding_count, vyre_kernel_param_words(p->kernel));
}

static uint32_t block_count(const vyre_pipeline *p, const vy_instance *in)
{
    if (!p->has_until || in->choice.is_whole || in->choice.is_persistent) {
        return 1;
    }
    return in->execution_count > 1 ? 2 * VY_STATE_TURNS : VY_STATE_TURNS;
}

uint64_t vy_instance_block_offset(const vy_instance *in, uint32_t pass, uint32_t execution)
{
    uint32_t block = in->block_count > 1 ? pass % VY_STATE_TURNS : 0;
    block += in->block_count > VY_STATE_TURNS && execution ? VY_STATE_TURNS : 0;
    return block * in->block_stride;
}

uint64_t vy_instance_block_range(const vyre_pipeline *p)
{
    /* The engine's kernels: the grid's is the largest. */
    uint64_t size = vy_instance_block_size(p), least = VY_GRID_BLOCK_WORDS * sizeof(uint32_t);
    return size > least ? size : least;
}

/* For workgroups that stay. */
static uint64_t schedule_size(const vy_instance *in)
{
    uint64_t rows = in->choice.is_persistent ? in->execution_count : 0;
    return rows * VY_ROW_WORDS * sizeof(uint32_t);
}

vy_piece vy_block_piece(const vy_block *block)
{
    return (vy_piece){block->buffer, 0, block->size, block->address};
}

void vy_instance_hidden(const vyre_pipeline *p, const vy_instance *in, uint32_t lane,
                        vy_piece out[VY_HIDDEN_COUNT])
{
    const vy_block *host = &in->host_block;
    uint64_t base = in->region_size * lane;
    out[VY_HIDDEN_PARAMS] = in->is_direct ? (vy_piece){host->buffer, base, 0, host->address + base}
                                          : vy_block_piece(&in->lanes[lane].block);
    out[VY_HIDDEN_PARAMS].size = (uint64_t)vy_shape_block_words(p->kernel) * sizeof(uint32_t);
    out[VY_HIDDEN_RECORDS] = vy_block_piece(&in->records);
    out[VY_HIDDEN_SPILL] = vy_block_piece(in->spill.buffer ? &in->spill : &in->state);
    out[VY_HIDDEN_TABLES] = vy_block_piece(&p->tables);
    out[VY_HIDDEN_STATE] = vy_block_piece(&in->state);
}

/* ---- Creation -------------------------------------------------------------------------------- */

/* Commands of a host's run again without the host: they make the state's start themselves. */
static vyre_result create_state(vyre_device *d, vy_instance *in, bool is_recording, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    if (!is_recording) {
        code = vy_block_create(d, VY_MEMORY_TABLE, STATE_SIZE, "vyre state", &in->state, diag);
        in->is_state_direct = code == VYRE_OK && vy_block_is_direct(&in->state);
    }
    if (code == VYRE_OK && !in->is_state_direct) {
        vy_block_destroy(d, &in->state);
        code = vy_block_create(d, VY_MEMORY_DEVICE, STATE_SIZE, "vyre state", &in->state, diag);
    }
    return code;
}

vyre_result vy_instance_create(vyre_pipeline *p, const vy_binder *binder, bool is_recording,
                               vy_instance **out_instance, vyre_diag *diag)
{
    vyre_device *d = p->device;
    vy_instance *in = vy_alloc_zeroed(&p->allocator, 1, sizeof *in);
    *out_instance = in;
    if (!in) {
        return vy_diag_no_memory(diag);
    }
    in->binder = binder;
    in->lane_count = is_recording ? 1 : VY_MAX_LANES;
    in->generation = 1;
    in->has_timestamps = !is_recording && d->snapshot.info.timestamp_ns > 0;
    in->touch_count = p->segment_count ? p->segment_count : 1;
    in->touches = vy_alloc_zeroed(&p->allocator, in->touch_count, sizeof *in->touches);
    vyre_result code = in->touches ? VYRE_OK : vy_diag_no_memory(diag);
    if (code == VYRE_OK) {
        code = binder->create(p, in, diag);
    }
    if (code == VYRE_OK && p->has_state) {
        code = create_state(d, in, is_recording, diag);
    }
    if (code == VYRE_OK && d->debug & VYRE_DEBUG_BREADCRUMBS && !is_recording) {
        code = vy_block_create(d, VY_MEMORY_READBACK, VY_MAX_LANES * sizeof(uint64_t),
                               "vyre breadcrumbs", &in->crumbs, diag);
    }
    vy_count(d, instances, 1);
    if (code != VYRE_OK) {
        vy_instance_destroy(d, out_instance);
    }
    return code;
}

static void destroy_recorded(vyre_device *d, vy_recorded *recorded)
{
    vy_commands_destroy(d, &recorded->commands);
    if (recorded->queries) {
        d->vk.vkDestroyQueryPool(d->device, recorded->queries, NULL);
        recorded->queries = VK_NULL_HANDLE;
    }
}

void vy_instance_destroy(vyre_device *d, vy_instance **instance)
{
    vy_instance *in = *instance;
    if (!in) {
        return;
    }
    *instance = NULL;
    in->binder->destroy(d, in);
    for (uint32_t r = 0; r < in->recorded_count; r++) {
        destroy_recorded(d, &in->recorded[r]);
    }
    for (uint32_t l = 0; l < in->lane_count; l++) {
        vy_block_destroy(d, &in->lanes[l].block);
    }
    for (int i = 0; i < 2; i++) {
        vy_commands_destroy(d, &in->ownership[i]);
    }
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        vy_block_destroy(d, &in->own[b]);
    }
    vy_block *blocks[] = {&in->host_block, &in->state,    &in->records, &in->spill,
                          &in->upload,     &in->readback, &in->crumbs,  &in->sync};
    for (size_t i = 0; i < VY_COUNT_OF(blocks); i++) {
        vy_block_destroy(d, blocks[i]);
    }
    vy_free(&d->allocator, in->executions, in->execution_count * sizeof *in->executions);
    vy_free(&d->allocator, in->meets, in->execution_count * sizeof *in->meets);
    vy_free(&d->allocator, in->touches, in->touch_count * sizeof *in->touches);
    vy_count(d, instances, -1);
    vy_free(&d->allocator, in, sizeof *in);
}

/* ---- Shape ----------------------------------------------------------------------------------- */

static bool names_same_buffers(const vy_instance *in, const vy_job *job)
{
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        const vyre_binding *given = &job->bindings[b];
        bool is_named = job->is_resident[b] && vy_job_size(job, b) > 0;
        if (is_named &&
            (in->identities[b] != given->buffer.bits || in->pieces[b].offset != given->offset ||
             in->pieces[b].size != vy_job_size(job, b))) {
            return false;
        }
    }
    return true;
}

static bool has_same_executions(const vy_instance *in, const vy_job *job)
{
    if (in->execution_count != job->execution_count || in->dispatch_count != job->dispatch_count) {
        return false;
    }
    size_t size = in->execution_count * sizeof *in->executions;
    if (size == 0 || memcmp(in->executions, job->executions, size) == 0) {
        return true;
    }
    for (uint32_t e = 0; e < in->execution_count; e++) {
        if (memcmp(&in->executions[e], &job->executions[e], offsetof(vy_execution, left_out)) !=
            0) {
            return false;
        }
    }
    return true;
}

/* Whether every workgroup that the job needs is launched. */
static bool launches_enough(const vy_instance *in, const vy_job *job)
{
    bool leaves_out = in->trim.groups || in->trim.empty_groups;
    for (uint32_t e = 0; e < in->execution_count && leaves_out; e++) {
        const vy_execution *has = &in->executions[e], *needs = &job->executions[e];
        if (needs->is_left_out) {
            continue;
        }
        if (has->is_left_out || has->left_out[0] > needs->left_out[0] ||
            has->left_out[1] > needs->left_out[1] || has->left_out[2] > needs->left_out[2]) {
            return false;
        }
    }
    return true;
}

bool vy_instance_is_alike(const vy_instance *in, const vy_job *job, vy_choice choice,
                          const vy_moves *moves)
{
    return in->is_shaped && in->binder == job->binder && in->choice.interface == choice.interface &&
           in->choice.is_aliased == choice.is_aliased && in->choice.is_folded == choice.is_folded &&
           in->choice.is_wide == choice.is_wide && in->choice.is_whole == choice.is_whole &&
           in->choice.is_coarse == choice.is_coarse &&
           in->choice.is_persistent == choice.is_persistent &&
           in->choice.is_large == choice.is_large &&
           memcmp(in->launched, job->shape.launched, sizeof in->launched) == 0 &&
           memcmp(in->alias, job->alias, sizeof in->alias) == 0 && has_same_executions(in, job) &&
           vy_moves_are_same(&in->moves, moves);
}

bool vy_instance_has_shape(const vy_instance *in, const vy_job *job, vy_choice choice,
                           const vy_moves *moves)
{
    return vy_instance_is_alike(in, job, choice, moves) && launches_enough(in, job);
}

bool vy_instance_is_exact(const vy_instance *in, const vy_job *job)
{
    return in->trim.launches == job->trim.launches && in->trim.groups == job->trim.groups &&
           in->trim.empty_groups == job->trim.empty_groups;
}

bool vy_instance_fits(const vy_instance *in, const vy_job *job, vy_choice choice,
                      const vy_moves *moves)
{
    return vy_instance_has_shape(in, job, choice, moves) &&
           (!in->binder->is_by_handle || names_same_buffers(in, job));
}

static vyre_result take_shape(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                              vy_choice choice, vyre_diag *diag)
{
    size_t size = job->execution_count * sizeof *job->executions;
    vy_execution *copy = NULL;
    bool *meets = NULL;
    if (size) {
        copy = vy_alloc_zeroed(&p->allocator, job->execution_count, sizeof *copy);
        meets = vy_alloc_zeroed(&p->allocator, job->execution_count, sizeof *meets);
        if (!copy || !meets) {
            vy_free(&p->allocator, copy, size);
            vy_free(&p->allocator, meets, job->execution_count * sizeof *meets);
            return vy_diag_no_memory(diag);
        }
        memcpy(copy, job->executions, size);
    }
    vy_free(&p->allocator, in->executions, in->execution_count * sizeof *in->executions);
    vy_free(&p->allocator, in->meets, in->execution_count * sizeof *in->meets);
    in->executions = copy;
    in->meets = meets;
    in->execution_count = job->execution_count;
    in->dispatch_count = job->dispatch_count;
    in->trim = job->trim;
    in->choice = choice;
    in->coarse_elements = job->coarse_elements;
    memcpy(in->launched, job->shape.launched, sizeof in->launched);
    memcpy(in->alias, job->alias, sizeof in->alias);
    for (uint32_t s = 0; s < p->segment_count; s++) {
        in->touches[s] =
            vy_touch_of(vy_kernel_get_segment(p->kernel, s), in->alias, p->binding_count);
    }
    if (choice.is_persistent) {
        vy_plan_meetings(in->executions, in->execution_count, in->touches, in->meets);
        if (p->has_until && in->execution_count) {
            in->meets[0] = true; /* all look at what the pass before left of the flag */
        }
    }
    in->is_shaped = true;
    return VYRE_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vyre_result make_keep(vyre_pipeline *p, uint32_t binding, uint64_t size, bool may_submit,
                             vyre_diag *diag)
{
    vy_block *keep = &p->keep[binding];
    if (keep->buffer && keep->size == size) {
        return VYRE_OK;
    }
    if (!may_submit) {
        return vy_invalid(diag, "the pipeline's `scratch keep` memory has not been made for this "
                                "size. Fix: call vyre_dispatch once before recording");
    }
    vy_mutex_lock(&p->mutex);
    bool is_recorded = keep->buffer && p->recordings;
    vy_mutex_unlock(&p->mutex);
    if (is_recorded) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "the pipeline's `scratch keep` memory must change its size, and "
                           "recordings or sequences of the pipeline use it. Fix: destroy them "
                           "first");
    }
    /* The dispatches before used the old one. */
    vy_queue_drain(p->device, vy_queue_submitted(p->device));
    vy_block_destroy(p->device, keep);
    vyre_result code =
        vy_block_create(p->device, VY_MEMORY_DEVICE, size, "vyre scratch keep", keep, diag);
    if (code == VYRE_OK) {
        code = vy_transfer_fill(p->device, keep->buffer, 0, align(size, 4), 0, diag);
        if (code != VYRE_OK) {
            vy_queue_drain(p->device, vy_queue_submitted(p->device));
            vy_block_destroy(p->device, keep);
        }
    }
    return code;
}

static vyre_result place(vyre_pipeline *p, vy_instance *in, const vy_job *job, uint32_t b,
                         bool may_submit, vyre_diag *diag)
{
    vyre_binding_info info;
    vyre_kernel_binding(p->kernel, b, &info);
    uint64_t size = vy_job_size(job, b);
    vyre_result code = VYRE_OK;
    if (size == 0) {
        in->pieces[b] = vy_block_piece(vy_memory_zeros(p->device));
        in->pieces[b].size = 0;
        in->identities[b] = 0;
    } else if (job->is_resident[b]) {
        const vy_resident *r = &job->residents[b];
        uint64_t offset = job->bindings[b].offset;
        in->pieces[b] = (vy_piece){r->buffer, offset, size, r->address ? r->address + offset : 0};
        in->identities[b] = job->bindings[b].buffer.bits;
    } else if (info.mode == VYRE_BUFFER_SCRATCH_KEEP) {
        vy_mutex_lock(&p->keep_mutex);
        code = make_keep(p, b, size, may_submit, diag);
        in->pieces[b] = vy_block_piece(&p->keep[b]);
        in->identities[b] = p->keep[b].serial;
        vy_mutex_unlock(&p->keep_mutex);
    } else {
        code = vy_block_grow(p->device, VY_MEMORY_DEVICE, size, info.name, &in->own[b], diag);
        in->pieces[b] = vy_block_piece(&in->own[b]);
        in->pieces[b].size = size;
        in->identities[b] = in->own[b].serial;
    }
    if (code != VYRE_OK && diag) {
        diag->binding = b;
    }
    return code;
}

static vyre_result grow_hidden(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                               const vy_moves *moves, vyre_diag *diag)
{
    const struct {
        vy_memory_kind kind;
        uint64_t size;
        const char *name;
        vy_block *block;
    } rows[] = {
        {VY_MEMORY_DEVICE, job->records_size, "vyre records", &in->records},
        {VY_MEMORY_DEVICE, job->spill_size, "vyre spill", &in->spill},
        {VY_MEMORY_DEVICE, job->is_persistent ? SYNC_SIZE : 0, "vyre sync", &in->sync},
        {VY_MEMORY_UPLOAD, moves->upload_size, "vyre staging", &in->upload},
        {VY_MEMORY_READBACK, moves->readback_size, "vyre readback", &in->readback},
    };
    vyre_result code = VYRE_OK;
    for (size_t i = 0; code == VYRE_OK && i < VY_COUNT_OF(rows); i++) {
        if (rows[i].size) {
            code = vy_block_grow(p->device, rows[i].kind, rows[i].size, rows[i].name, rows[i].block,
                                 diag);
        }
    }
    return code;
}

/* The regions of the lanes, for so many transfers by kernels. */
static vyre_result grow_blocks(vyre_pipeline *p, vy_instance *in, uint32_t move_count,
                               vyre_diag *diag)
{
    vyre_device *d = p->device;
    in->block_count = block_count(p, in);
    in->block_stride = align(vy_instance_block_size(p), BLOCK_ALIGNMENT);
    in->schedule_offset = in->block_stride * in->block_count;
    in->grid_offset = align(in->schedule_offset + schedule_size(in), BLOCK_ALIGNMENT);
    in->moves_offset = in->grid_offset;
    if (p->grid_from >= 0) {
        in->moves_offset =
            align(in->grid_offset + VY_GRID_BLOCK_WORDS * sizeof(uint32_t), BLOCK_ALIGNMENT);
    }
    uint64_t state_offset = in->moves_offset + (uint64_t)VY_MOVE_STRIDE * move_count;
    if (in->host_block.buffer && state_offset <= in->state_offset) {
        return VYRE_OK;
    }
    in->state_offset = state_offset;
    in->region_size = align(state_offset + STATE_SIZE, BLOCK_ALIGNMENT);
    uint64_t range = vy_instance_block_range(p); /* behind the last block too */
    vyre_result code = vy_block_grow(d, VY_MEMORY_TABLE, in->region_size * in->lane_count + range,
                                     "vyre parameters", &in->host_block, diag);
    in->is_direct = code == VYRE_OK && vy_block_is_direct(&in->host_block);
    for (uint32_t l = 0; code == VYRE_OK && !in->is_direct && l < in->lane_count; l++) {
        code = vy_block_grow(d, VY_MEMORY_DEVICE, in->region_size + range, "vyre parameters",
                             &in->lanes[l].block, diag);
    }
    if (code != VYRE_OK) {
        in->state_offset = 0; /* some are missing: the next run makes all of them */
    }
    return code;
}

#define NAMED_SERIALS 11u

/* Everything that recorded commands, or descriptors, name. */
typedef struct named {
    uint64_t serials[NAMED_SERIALS + VYRE_MAX_BUFFERS];
    vy_piece pieces[VYRE_MAX_BUFFERS];
} named;

static void save_named(const vy_instance *in, uint32_t binding_count, named *out)
{
    const uint64_t serials[NAMED_SERIALS] = {in->upload.serial,
                                             in->readback.serial,
                                             in->state.serial,
                                             in->host_block.serial,
                                             in->lanes[0].block.serial,
                                             in->lanes[1].block.serial,
                                             in->records.serial,
                                             in->state_offset,
                                             in->moves_offset,
                                             in->spill.serial,
                                             in->sync.serial};
    memcpy(out->serials, serials, sizeof serials);
    for (uint32_t b = 0; b < binding_count; b++) {
        out->serials[NAMED_SERIALS + b] =
            in->binder->is_by_handle ? in->identities[b] : in->own[b].serial;
        out->pieces[b] = in->binder->is_by_handle ? in->pieces[b] : (vy_piece){.size = 0};
    }
}

static bool are_same_named(const named *a, const named *b, uint32_t binding_count)
{
    return memcmp(a->serials, b->serials, (NAMED_SERIALS + binding_count) * sizeof a->serials[0]) ==
               0 &&
           memcmp(a->pieces, b->pieces, binding_count * sizeof a->pieces[0]) == 0;
}

vyre_result vy_instance_prepare(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                                vy_choice choice, const vy_moves *moves, bool may_submit,
                                vyre_diag *diag)
{
    named before, after;
    bool is_new = !vy_instance_has_shape(in, job, choice, moves);
    save_named(in, p->binding_count, &before);
    vyre_result code = VYRE_OK;
    if (is_new) {
        in->generation++;
        in->is_shaped = false;
        code = take_shape(p, in, job, choice, diag);
        in->moves = *moves;
    }
    for (uint32_t b = 0; code == VYRE_OK && b < p->binding_count; b++) {
        code = place(p, in, job, b, may_submit, diag);
    }
    if (code == VYRE_OK) {
        code = grow_hidden(p, in, job, moves, diag);
    }
    if (code == VYRE_OK) {
        code = grow_blocks(p, in, moves->block_count, diag);
    }
    if (code != VYRE_OK) {
        /* Nothing that was recorded or written stands. */
        in->is_shaped = false;
        return code;
    }
    save_named(in, p->binding_count, &after);
    if (is_new || !are_same_named(&before, &after, p->binding_count)) {
        in->generation += !is_new;
        in->binder->update(p, in);
    }
    return VYRE_OK;
}

vyre_result vy_instance_prepare_empty(vyre_pipeline *p, vy_instance *in, vy_choice choice,
                                      vyre_diag *diag)
{
    in->choice = choice;
    for (uint32_t b = 0; b < p->binding_count; b++) {
        in->pieces[b] = vy_block_piece(vy_memory_zeros(p->device));
    }
    const struct {
        uint32_t hidden;
        vy_block *block;
    } rows[] = {{VY_HIDDEN_RECORDS, &in->records}, {VY_HIDDEN_SPILL, &in->spill}};
    vyre_result code = VYRE_OK;
    for (size_t i = 0; code == VYRE_OK && i < VY_COUNT_OF(rows); i++) {
        if (vy_limits_has_hidden(p->kernel, rows[i].hidden)) {
            code = vy_block_grow(p->device, VY_MEMORY_DEVICE, sizeof(uint32_t), "vyre warm up",
                                 rows[i].block, diag);
        }
    }
    if (code == VYRE_OK) {
        code = grow_blocks(p, in, 1, diag);
    }
    if (code == VYRE_OK) {
        memset(in->host_block.mapped, 0, (size_t)in->host_block.size);
        code = vy_block_flush(p->device, &in->host_block, 0, in->host_block.size, diag);
    }
    if (code == VYRE_OK) {
        in->binder->update(p, in);
    }
    return code;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void put_addresses(const vyre_pipeline *p, const vy_instance *in, uint32_t lane,
                          uint32_t *words)
{
    uint32_t at = vy_param_addresses(p->binding_count, vyre_kernel_param_words(p->kernel));
    vy_piece hidden[VY_HIDDEN_COUNT];
    vy_instance_hidden(p, in, lane, hidden);
    for (uint32_t b = 0; b < p->binding_count + VY_HIDDEN_COUNT - 1; b++) {
        const vy_piece *piece =
            b < p->binding_count ? &in->pieces[b] : &hidden[b - p->binding_count + 1];
        words[at + 2 * b] = (uint32_t)piece->address;
        words[at + 2 * b + 1] = (uint32_t)(piece->address >> 32);
    }
}

static VkDeviceAddress address_of(const vy_instance *in, uint32_t memory, uint64_t region)
{
    switch (memory) {
    case VY_MEM_STATE:
        return in->state.address;
    case VY_MEM_STATE_START:
        return in->host_block.address + region + in->state_offset;
    case VY_MEM_UPLOAD:
        return in->upload.address;
    case VY_MEM_READBACK:
        return in->readback.address;
    case VY_MEM_RECORDS:
        return in->records.address;
    default:
        break;
    }
    if (memory >= VY_MEM_FLAGS && memory < VY_MEM_FLAGS + VY_STATE_TURNS) {
        return in->state.address + vy_state_flag(memory - VY_MEM_FLAGS) * sizeof(uint32_t);
    }
    return in->pieces[memory < VYRE_MAX_BUFFERS ? memory : 0].address;
}

/* `base`: of the lane's region. */
static void fill_move(const vy_instance *in, const vy_command *command, uint64_t base)
{
    unsigned char *region = (unsigned char *)in->host_block.mapped + base;
    for (uint32_t i = 0; i < vy_move_pieces(command->size); i++) {
        uint64_t offset = i * VY_MOVE_SIZE, rest = command->size - offset;
        uint64_t size = rest < VY_MOVE_SIZE ? rest : VY_MOVE_SIZE;
        uint32_t count = (uint32_t)((size + 3) / sizeof(uint32_t)); /* of elements of bytes too */
        uint64_t at = vy_instance_move_offset(in, command->block + i);
        uint32_t *words = (uint32_t *)(void *)(region + at);
        VkDeviceAddress target =
            address_of(in, command->target, base) + command->target_offset + offset;
        if (command->kind == VY_COMMAND_FILL) {
            vy_fill_fill_block(count, command->word, target, words);
        } else {
            VkDeviceAddress source = address_of(in, command->source, base) + command->source_offset;
            vy_copy_fill_block(count, source + offset, target, words);
        }
    }
}

static void write_grid(const vyre_pipeline *p, const vy_instance *in, const vy_job *job,
                       uint32_t lane, uint32_t *words)
{
    vy_piece hidden[VY_HIDDEN_COUNT];
    vy_instance_hidden(p, in, lane, hidden);
    vy_grid grid = {.limit = job->shape.most_groups,
                    .volume = p->workgroup[0] * p->workgroup[1] * p->workgroup[2],
                    .length = job->shape.lengths[p->grid_from],
                    .block_count = in->block_count,
                    .block_stride = (uint32_t)(in->block_stride / sizeof(uint32_t)),
                    .block_words = (uint32_t)(in->schedule_offset / sizeof(uint32_t)),
                    .counts = in->pieces[p->grid_from].address,
                    .state = in->state.address,
                    .block = hidden[VY_HIDDEN_PARAMS].address};
    memcpy(grid.most, p->device->snapshot.info.max_groups, sizeof grid.most);
    vy_grid_fill_block(&grid, words);
}

/* What workgroups that stay are given; `words`: of the lane's region. */
static void write_tail(const vyre_pipeline *p, const vy_instance *in, uint32_t lane,
                       uint32_t *words)
{
    uint32_t *tail = words + vy_shape_block_words(p->kernel);
    uint32_t *rows = words + in->schedule_offset / sizeof *words;
    vy_piece hidden[VY_HIDDEN_COUNT];
    vy_instance_hidden(p, in, lane, hidden);
    VkDeviceAddress schedule = hidden[VY_HIDDEN_PARAMS].address + in->schedule_offset;
    tail[VY_TAIL_SYNC] = (uint32_t)in->sync.address;
    tail[VY_TAIL_SYNC + 1] = (uint32_t)(in->sync.address >> 32);
    tail[VY_TAIL_SCHEDULE] = (uint32_t)schedule;
    tail[VY_TAIL_SCHEDULE + 1] = (uint32_t)(schedule >> 32);
    tail[VY_TAIL_PATIENCE] = vy_persistent_patience(p->device);
    for (uint32_t e = 0; e < in->execution_count; e++) {
        const vy_execution *execution = &in->executions[e];
        uint32_t *row = rows + (size_t)VY_ROW_WORDS * e;
        row[VY_ROW_SEGMENT] = execution->segment | (in->meets[e] ? VY_ROW_MEETS : 0);
        memcpy(&row[VY_ROW_INDICES], execution->indices, sizeof execution->indices);
    }
}

/* The blocks of copies that kernels make at the end, whichever chunk that is in. */
static void fill_ends(const vy_instance *in, uint32_t lane, uint64_t base)
{
    const vy_moves *m = &in->moves;
    for (uint32_t i = 0; i < m->epilogue_count; i++) {
        if (m->epilogue[i].is_by_kernel) {
            fill_move(in, &m->epilogue[i], base);
        }
    }
    for (uint32_t turn = 0; m->has_flag && m->flag.is_by_kernel && turn < VY_STATE_TURNS; turn++) {
        vy_command flag = vy_moves_flag(m, turn);
        fill_move(in, &flag, base);
    }
    if (m->state.is_by_kernel) {
        vy_command state = m->state;
        state.target_offset = vy_instance_state_readback(lane);
        fill_move(in, &state, base);
    }
}

vyre_result vy_instance_write_blocks(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                                     uint32_t lane, vyre_diag *diag)
{
    uint64_t base = in->region_size * lane;
    unsigned char *region = (unsigned char *)in->host_block.mapped + base;
    uint32_t *words = (uint32_t *)(void *)region;
    for (uint32_t i = 0; i < in->block_count; i++) {
        uint32_t *block = words + in->block_stride / sizeof *words * i;
        vy_shape_fill_block(p->kernel, &job->shape, job->params->params, 0, block);
        put_addresses(p, in, lane, block);
        block[VY_PARAM_TURN] = i % VY_STATE_TURNS;
        block[VY_PARAM_LEADS] = i < VY_STATE_TURNS;
    }
    if (in->choice.is_persistent) {
        write_tail(p, in, lane, words);
    }
    if (p->grid_from >= 0) {
        write_grid(p, in, job, lane, (uint32_t *)(void *)(region + in->grid_offset));
    }
    if (p->has_state) {
        /* The pass before the first one left its flag set. */
        uint32_t state[VY_STATE_WORDS] = {[VY_STATE_FLAGS + VY_STATE_TURNS - 1] = 1};
        memcpy(&state[VY_STATE_ARGUMENTS], in->launched, sizeof in->launched);
        memcpy(region + in->state_offset, state, sizeof state);
        if (in->is_state_direct) {
            memcpy(in->state.mapped, state, sizeof state);
        }
    }
    const vy_moves *m = &in->moves;
    for (uint32_t i = 0; i < m->prologue_count; i++) {
        if (m->prologue[i].is_by_kernel) {
            fill_move(in, &m->prologue[i], base);
        }
    }
    fill_ends(in, lane, base);
    vyre_result code = vy_block_flush(p->device, &in->host_block, base, in->region_size, diag);
    if (code == VYRE_OK && in->is_state_direct) {
        code = vy_block_flush(p->device, &in->state, 0, STATE_SIZE, diag);
    }
    return code;
}

vyre_result vy_instance_write_pass(vyre_pipeline *p, vy_instance *in, uint32_t lane,
                                   uint32_t pass_base, vyre_diag *diag)
{
    uint64_t offset = in->region_size * lane + VY_PARAM_PASS_BASE * sizeof pass_base;
    memcpy((unsigned char *)in->host_block.mapped + offset, &pass_base, sizeof pass_base);
    return vy_block_flush(p->device, &in->host_block, offset, sizeof pass_base, diag);
}

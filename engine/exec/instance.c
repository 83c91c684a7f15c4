/* Memory and descriptor sets of an instance: grown when a dispatch needs more, kept otherwise. */
#include "engine/exec/instance.h"

#include "engine/exec/judge.h"
#include "engine/pipeline/limits.h"

#include <string.h>

#define SET_ALIGNMENT  256u /* the most that minStorageBufferOffsetAlignment may be */
#define STATE_SIZE     (VY_STATE_WORDS * sizeof(uint32_t))
#define STATE_STRIDE   64u
#define COPY_ALIGNMENT 16u
#define SET_BINDINGS   (VYRE_MAX_BUFFERS + VY_HIDDEN_COUNT)

static uint64_t align(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

static bool has_judge(const vyre_pipeline *p)
{
    return p->judge != VK_NULL_HANDLE;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static vyre_result create_sets(vyre_pipeline *p, vy_instance *in, vyre_diag *diag)
{
    vyre_device *d = p->device;
    uint32_t buffers = vy_limits_buffer_count(p->kernel) + (has_judge(p) ? VY_JUDGE_BINDINGS : 0);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers * in->lane_count};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = in->lane_count * (has_judge(p) ? 2 : 1),
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result = d->vk.vkCreateDescriptorPool(d->device, &pool, NULL, &in->pool);
    if (result != VK_SUCCESS) {
        in->pool = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateDescriptorPool");
    }
    for (uint32_t l = 0; l < in->lane_count; l++) {
        VkDescriptorSetLayout layouts[2] = {p->layout.set, p->judge_layout.set};
        VkDescriptorSet sets[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
        VkDescriptorSetAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = in->pool,
            .descriptorSetCount = has_judge(p) ? 2 : 1,
            .pSetLayouts = layouts,
        };
        result = d->vk.vkAllocateDescriptorSets(d->device, &info, sets);
        if (result != VK_SUCCESS) {
            return vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
        }
        in->lanes[l].set = sets[0];
        in->lanes[l].judge_set = sets[1];
    }
    return VYRE_OK;
}

static vyre_result create_lane(vyre_pipeline *p, vy_instance *in, vy_lane *lane, bool has_commands,
                               vyre_diag *diag)
{
    vyre_device *d = p->device;
    const char *name = vyre_kernel_name(p->kernel);
    vyre_result code =
        vy_block_create(d, VY_MEMORY_DEVICE, in->state_offset, name, &lane->block, diag);
    if (code != VYRE_OK || !has_commands) {
        return code;
    }
    code = vy_commands_create(d, name, &lane->commands, diag);
    if (code == VYRE_OK && in->has_timestamps) {
        VkQueryPoolCreateInfo queries = {
            .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
            .queryType = VK_QUERY_TYPE_TIMESTAMP,
            .queryCount = VY_TIME_COUNT,
        };
        VkResult result = d->vk.vkCreateQueryPool(d->device, &queries, NULL, &lane->queries);
        if (result != VK_SUCCESS) {
            lane->queries = VK_NULL_HANDLE;
            code = vy_vk_error(d, diag, result, "vkCreateQueryPool");
        }
    }
    return code;
}

vyre_result vy_instance_create(vyre_pipeline *p, uint32_t lane_count, bool has_commands,
                               vy_instance **out_instance, vyre_diag *diag)
{
    vyre_device *d = p->device;
    vy_instance *in = vy_alloc_zeroed(&d->allocator, 1, sizeof *in);
    *out_instance = in;
    if (!in) {
        return vy_diag_no_memory(diag);
    }
    in->lane_count = lane_count;
    in->generation = 1;
    in->has_timestamps = has_commands && d->snapshot.info.timestamp_ns > 0;
    uint64_t block = (uint64_t)vy_shape_block_words(p->kernel) * sizeof(uint32_t);
    in->judge_offset = align(block, SET_ALIGNMENT);
    in->state_offset =
        has_judge(p)
            ? align(in->judge_offset + VY_JUDGE_BLOCK_WORDS * sizeof(uint32_t), COPY_ALIGNMENT)
            : in->judge_offset;
    in->region_size = align(in->state_offset + STATE_SIZE, SET_ALIGNMENT);
    vyre_result code = vy_block_create(d, VY_MEMORY_UPLOAD, in->region_size * lane_count,
                                       "vyre parameters", &in->host_block, diag);
    for (uint32_t l = 0; code == VYRE_OK && l < lane_count; l++) {
        code = create_lane(p, in, &in->lanes[l], has_commands, diag);
    }
    if (code == VYRE_OK) {
        in->touch_count = p->segment_count ? p->segment_count : 1;
        in->touches = vy_alloc_zeroed(&d->allocator, in->touch_count, sizeof *in->touches);
        code = in->touches ? VYRE_OK : vy_diag_no_memory(diag);
    }
    if (code == VYRE_OK) {
        code = create_sets(p, in, diag);
    }
    if (code == VYRE_OK && has_judge(p)) {
        code = vy_block_create(d, VY_MEMORY_DEVICE, STATE_SIZE, "vyre fixpoint", &in->state, diag);
    }
    if (code != VYRE_OK) {
        vy_instance_destroy(d, out_instance);
    }
    return code;
}

void vy_instance_destroy(vyre_device *d, vy_instance **instance)
{
    vy_instance *in = *instance;
    if (!in) {
        return;
    }
    *instance = NULL;
    if (in->pool) {
        d->vk.vkDestroyDescriptorPool(d->device, in->pool, NULL);
    }
    for (uint32_t l = 0; l < in->lane_count; l++) {
        vy_lane *lane = &in->lanes[l];
        vy_commands_destroy(d, &lane->commands);
        vy_block_destroy(d, &lane->block);
        if (lane->queries) {
            d->vk.vkDestroyQueryPool(d->device, lane->queries, NULL);
        }
    }
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        vy_block_destroy(d, &in->own[b]);
    }
    vy_block *blocks[] = {&in->host_block, &in->state,  &in->records,
                          &in->spill,      &in->upload, &in->readback};
    for (size_t i = 0; i < VY_COUNT_OF(blocks); i++) {
        vy_block_destroy(d, blocks[i]);
    }
    vy_free(&d->allocator, in->executions, in->execution_count * sizeof *in->executions);
    vy_free(&d->allocator, in->touches, in->touch_count * sizeof *in->touches);
    vy_free(&d->allocator, in, sizeof *in);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Everything that recorded commands depend on. */
typedef struct layout_state {
    vy_piece pieces[VYRE_MAX_BUFFERS];
    VkBuffer hidden[6];
    /* Drivers give the handles of destroyed buffers again, for other memory. */
    uint64_t identities[VYRE_MAX_BUFFERS + 6];
    uint64_t upload_offsets[VYRE_MAX_BUFFERS], readback_offsets[VYRE_MAX_BUFFERS];
    uint64_t alias[VYRE_MAX_BUFFERS];
} layout_state;

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
        in->pieces[b] = (vy_piece){vy_memory_zeros(p->device)->buffer, 0, 0};
        in->identities[b] = 0;
    } else if (job->is_resident[b]) {
        in->pieces[b] = (vy_piece){job->residents[b].buffer, job->params->bindings[b].offset, size};
        in->identities[b] = job->params->bindings[b].buffer.bits;
    } else if (info.mode == VYRE_BUFFER_SCRATCH_KEEP) {
        code = make_keep(p, b, size, may_submit, diag);
        in->pieces[b] = (vy_piece){p->keep[b].buffer, 0, size};
        in->identities[b] = p->keep[b].serial;
    } else {
        code = vy_block_grow(p->device, VY_MEMORY_DEVICE, size, info.name, &in->own[b], diag);
        in->pieces[b] = (vy_piece){in->own[b].buffer, 0, size};
        in->identities[b] = in->own[b].serial;
    }
    if (code != VYRE_OK && diag) {
        diag->binding = b;
    }
    return code;
}

static vy_command fill_of(uint32_t memory, uint64_t size)
{
    return (vy_command){.kind = VY_COMMAND_FILL, .target = (uint8_t)memory, .size = size};
}

/* What is copied and made zero before the first pass, and what is copied back after the last. */
static void list_transfers(vyre_pipeline *p, vy_instance *in, const vy_job *job)
{
    int32_t until = vy_kernel_until(p->kernel);
    in->prologue_count = in->epilogue_count = 0;
    in->upload_size = 0;
    in->readback_size = STATE_STRIDE * VY_MAX_LANES;
    if (has_judge(p)) {
        in->prologue[in->prologue_count++] = (vy_command){.kind = VY_COMMAND_COPY,
                                                          .target = VY_MEM_STATE,
                                                          .source = VY_MEM_HOST_BLOCK,
                                                          .source_offset = in->state_offset,
                                                          .size = STATE_SIZE};
    }
    if (job->records_size) {
        in->prologue[in->prologue_count++] = fill_of(VY_MEM_RECORDS, job->records_size);
        in->records_offset = in->readback_size;
        in->epilogue[in->epilogue_count++] = (vy_command){.kind = VY_COMMAND_COPY,
                                                          .target = VY_MEM_READBACK,
                                                          .source = VY_MEM_RECORDS,
                                                          .target_offset = in->records_offset,
                                                          .size = job->records_size};
        in->readback_size = align(in->readback_size + job->records_size, COPY_ALIGNMENT);
    }
    for (uint32_t b = 0; b < p->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(p->kernel, b, &info);
        const vyre_binding *given = &job->params->bindings[b];
        uint64_t size = vy_job_size(job, b);
        if (size == 0) {
            continue;
        }
        bool is_zeroed = info.mode == VYRE_BUFFER_OUT || info.mode == VYRE_BUFFER_SCRATCH;
        bool is_host = given->kind == VYRE_BINDING_HOST;
        if (is_host && given->in && !is_zeroed && info.mode != VYRE_BUFFER_SCRATCH_KEEP) {
            in->upload_offsets[b] = in->upload_size;
            in->prologue[in->prologue_count++] = (vy_command){.kind = VY_COMMAND_COPY,
                                                              .target = (uint8_t)b,
                                                              .source = VY_MEM_UPLOAD,
                                                              .source_offset = in->upload_size,
                                                              .size = size};
            in->upload_size = align(in->upload_size + size, COPY_ALIGNMENT);
        }
        /* An empty grid stores nothing, whatever the program would. */
        bool is_proven = job->dispatch_count > 0 && vy_kernel_is_fill_needless(p->kernel, b);
        if (is_zeroed && !is_proven) {
            in->prologue[in->prologue_count++] = fill_of(b, size);
        } else if (until == (int32_t)b) {
            in->prologue[in->prologue_count++] = fill_of(b, sizeof(uint32_t));
        }
        if (is_host && given->out && info.mode != VYRE_BUFFER_IN &&
            info.mode != VYRE_BUFFER_UNIFORM) {
            in->readback_offsets[b] = in->readback_size;
            in->epilogue[in->epilogue_count++] = (vy_command){.kind = VY_COMMAND_COPY,
                                                              .target = VY_MEM_READBACK,
                                                              .source = (uint8_t)b,
                                                              .target_offset = in->readback_size,
                                                              .size = size};
            in->readback_size = align(in->readback_size + size, COPY_ALIGNMENT);
        }
    }
}

static vyre_result grow_hidden(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                               vyre_diag *diag)
{
    vyre_device *d = p->device;
    vyre_result code = VYRE_OK;
    if (job->records_size) {
        code = vy_block_grow(d, VY_MEMORY_DEVICE, job->records_size, "vyre records", &in->records,
                             diag);
    }
    if (code == VYRE_OK && job->spill_size) {
        code = vy_block_grow(d, VY_MEMORY_DEVICE, job->spill_size, "vyre spill", &in->spill, diag);
    }
    if (code == VYRE_OK && in->upload_size) {
        code =
            vy_block_grow(d, VY_MEMORY_UPLOAD, in->upload_size, "vyre staging", &in->upload, diag);
    }
    if (code == VYRE_OK) {
        code = vy_block_grow(d, VY_MEMORY_READBACK, in->readback_size, "vyre readback",
                             &in->readback, diag);
    }
    return code;
}

static void write_sets(vyre_pipeline *p, vy_instance *in, vy_lane *lane)
{
    vyre_device *d = p->device;
    VkDescriptorBufferInfo buffers[SET_BINDINGS + VY_JUDGE_BINDINGS];
    VkWriteDescriptorSet writes[SET_BINDINGS + VY_JUDGE_BINDINGS];
    uint32_t count = 0, n = p->binding_count;
    uint64_t block_size = (uint64_t)vy_shape_block_words(p->kernel) * sizeof(uint32_t);
    vy_piece hidden[VY_HIDDEN_COUNT] = {
        [VY_HIDDEN_PARAMS] = {lane->block.buffer, 0, block_size},
        [VY_HIDDEN_RECORDS] = {in->records.buffer, 0, in->records.size},
        [VY_HIDDEN_SPILL] = {in->spill.buffer, 0, in->spill.size},
        [VY_HIDDEN_TABLES] = {p->tables.buffer, 0, p->tables.size},
    };
    for (uint32_t b = 0; b < n + VY_HIDDEN_COUNT; b++) {
        if (!(p->used_bindings >> b & 1)) {
            continue;
        }
        vy_piece piece = b < n ? in->pieces[b] : hidden[b - n];
        buffers[count] = (VkDescriptorBufferInfo){piece.buffer, piece.offset,
                                                  piece.size ? piece.size : VK_WHOLE_SIZE};
        writes[count] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = lane->set,
            .dstBinding = b,
        };
        count++;
    }
    if (has_judge(p)) {
        vy_piece flag = in->pieces[vy_kernel_until(p->kernel)];
        buffers[count] = (VkDescriptorBufferInfo){flag.buffer, flag.offset,
                                                  flag.size ? flag.size : VK_WHOLE_SIZE};
        buffers[count + 1] = (VkDescriptorBufferInfo){in->state.buffer, 0, STATE_SIZE};
        buffers[count + 2] = (VkDescriptorBufferInfo){lane->block.buffer, in->judge_offset,
                                                      VY_JUDGE_BLOCK_WORDS * sizeof(uint32_t)};
        for (uint32_t b = 0; b < VY_JUDGE_BINDINGS; b++) {
            writes[count + b] = (VkWriteDescriptorSet){
                .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                .dstSet = lane->judge_set,
                .dstBinding = b,
            };
        }
        count += VY_JUDGE_BINDINGS;
    }
    for (uint32_t i = 0; i < count; i++) {
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &buffers[i];
    }
    d->vk.vkUpdateDescriptorSets(d->device, count, writes, 0, NULL);
    vy_count(d, descriptor_writes, count);
}

static void save_layout(const vy_instance *in, layout_state *out)
{
    memset(out, 0, sizeof *out); /* padding too: it is compared as bytes */
    memcpy(out->pieces, in->pieces, sizeof out->pieces);
    VkBuffer hidden[6] = {in->records.buffer,  in->spill.buffer, in->upload.buffer,
                          in->readback.buffer, in->state.buffer, in->host_block.buffer};
    memcpy(out->hidden, hidden, sizeof hidden);
    const uint64_t serials[6] = {in->records.serial,  in->spill.serial, in->upload.serial,
                                 in->readback.serial, in->state.serial, in->host_block.serial};
    memcpy(out->identities, in->identities, sizeof in->identities);
    memcpy(out->identities + VYRE_MAX_BUFFERS, serials, sizeof serials);
    memcpy(out->upload_offsets, in->upload_offsets, sizeof out->upload_offsets);
    memcpy(out->readback_offsets, in->readback_offsets, sizeof out->readback_offsets);
    memcpy(out->alias, in->alias, sizeof out->alias);
}

static vyre_result take_schedule(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                                 bool *out_changed, vyre_diag *diag)
{
    size_t size = job->execution_count * sizeof *job->executions;
    bool same = in->execution_count == job->execution_count &&
                in->dispatch_count == job->dispatch_count &&
                in->is_folded == job->shape.is_folded &&
                memcmp(in->launched, job->shape.launched, sizeof in->launched) == 0 &&
                (size == 0 || memcmp(in->executions, job->executions, size) == 0);
    *out_changed = !same;
    if (same) {
        return VYRE_OK;
    }
    vy_execution *copy = NULL;
    if (size) {
        copy = vy_alloc_zeroed(&p->device->allocator, job->execution_count, sizeof *copy);
        if (!copy) {
            return vy_diag_no_memory(diag);
        }
        memcpy(copy, job->executions, size);
    }
    vy_free(&p->device->allocator, in->executions, in->execution_count * sizeof *in->executions);
    in->executions = copy;
    in->execution_count = job->execution_count;
    in->dispatch_count = job->dispatch_count;
    in->is_folded = job->shape.is_folded;
    memcpy(in->launched, job->shape.launched, sizeof in->launched);
    return VYRE_OK;
}

static bool same_transfers(const vy_command *a, uint32_t a_count, const vy_command *b,
                           uint32_t b_count)
{
    bool same = a_count == b_count;
    for (uint32_t i = 0; same && i < a_count; i++) {
        same = a[i].kind == b[i].kind && a[i].target == b[i].target && a[i].source == b[i].source &&
               a[i].target_offset == b[i].target_offset &&
               a[i].source_offset == b[i].source_offset && a[i].size == b[i].size;
    }
    return same;
}

vyre_result vy_instance_prepare(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                                bool may_submit, vyre_diag *diag)
{
    layout_state before, after;
    vy_command prologue[VY_COUNT_OF(in->prologue)], epilogue[VY_COUNT_OF(in->epilogue)];
    uint32_t prologue_count = in->prologue_count, epilogue_count = in->epilogue_count;
    save_layout(in, &before);
    memcpy(prologue, in->prologue, sizeof prologue);
    memcpy(epilogue, in->epilogue, sizeof epilogue);

    /* After a failure on the way nothing that was recorded or written stands. */
    bool was_prepared = in->is_prepared, schedule_changed = false;
    in->is_prepared = false;
    vyre_result code = take_schedule(p, in, job, &schedule_changed, diag);
    for (uint32_t b = 0; code == VYRE_OK && b < p->binding_count; b++) {
        code = place(p, in, job, b, may_submit, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    memcpy(in->alias, job->alias, sizeof in->alias);
    list_transfers(p, in, job);
    code = grow_hidden(p, in, job, diag);
    if (code != VYRE_OK) {
        return code;
    }
    save_layout(in, &after);
    bool layout_changed = !was_prepared || memcmp(&before, &after, sizeof before) != 0;
    if (layout_changed) {
        for (uint32_t l = 0; l < in->lane_count; l++) {
            write_sets(p, in, &in->lanes[l]);
        }
        for (uint32_t s = 0; s < p->segment_count; s++) {
            in->touches[s] =
                vy_touch_of(vy_kernel_get_segment(p->kernel, s), in->alias, p->binding_count);
        }
    }
    if (layout_changed || schedule_changed ||
        !same_transfers(prologue, prologue_count, in->prologue, in->prologue_count) ||
        !same_transfers(epilogue, epilogue_count, in->epilogue, in->epilogue_count)) {
        in->generation++;
    }
    in->is_prepared = true;
    return VYRE_OK;
}

vyre_result vy_instance_write_block(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                                    uint32_t lane, uint32_t pass_base, vyre_diag *diag)
{
    uint64_t base = in->region_size * lane;
    unsigned char *region = (unsigned char *)in->host_block.mapped + base;
    vy_shape_fill_block(p->kernel, &job->shape, job->params->params, pass_base,
                        (uint32_t *)(void *)region);
    if (has_judge(p)) {
        uint32_t flag_length = job->shape.lengths[vy_kernel_until(p->kernel)];
        vy_judge_fill_block(flag_length, (uint32_t *)(void *)(region + in->judge_offset));
        uint32_t state[VY_STATE_WORDS] = {[VY_STATE_LIMIT] = job->shape.passes};
        memcpy(&state[VY_STATE_ARGUMENTS], in->launched, sizeof in->launched);
        memcpy(region + in->state_offset, state, sizeof state);
    }
    return vy_block_flush(p->device, &in->host_block, base, in->region_size, diag);
}

uint64_t vy_instance_state_readback(const vy_instance *instance, uint32_t lane)
{
    (void)instance;
    return (uint64_t)STATE_STRIDE * lane;
}

/* Everything that is checked before a dispatch's first side effect. */
#include "engine/exec/job.h"

#include "engine/exec/bind.h"
#include "engine/exec/coarse.h"
#include "engine/exec/strategy.h"
#include "engine/pipeline/limits.h"

#include <stdio.h>
#include <string.h>

#define MAX_SIGNED_COUNT ((uint64_t)1 << 31) /* SPIR-V takes indices as signed */
#define MAX_OFFSET_SIZE  ((uint64_t)1 << 32) /* drivers were seen to keep offsets in 32 bits */

uint64_t vy_job_size(const vy_job *job, uint32_t binding)
{
    return job->shape.lengths[binding] * job->element_sizes[binding];
}

/* Under the table's lock. What the buffer is called is only put together for an error. */
static vyre_result acquire_one(vyre_pipeline *p, vy_job *job, uint32_t binding, vyre_diag *diag)
{
    vyre_buffer buffer = job->params->bindings[binding].buffer;
    vy_resident *out = &job->residents[binding];
    if (vy_resident_acquire_locked(p->device, buffer, "", out, NULL) == VYRE_OK) {
        job->is_resident[binding] = true;
        return VYRE_OK;
    }
    vyre_binding_info info;
    char what[300];
    vyre_kernel_binding(p->kernel, binding, &info);
    snprintf(what, sizeof what, "the resident buffer bound to '%s'", info.name);
    vyre_result code = vy_resident_acquire_locked(p->device, buffer, what, out, diag);
    if (diag) {
        diag->binding = binding;
    }
    return code;
}

static vyre_result acquire(vyre_pipeline *p, vy_job *job, uint64_t *resident_sizes, vyre_diag *diag)
{
    const vyre_dispatch_params *params = job->params;
    vyre_result code = VYRE_OK;
    vy_residents_lock(p->device);
    for (uint32_t b = 0; code == VYRE_OK && b < params->binding_count; b++) {
        if (params->bindings[b].kind == VYRE_BINDING_RESIDENT) {
            code = acquire_one(p, job, b, diag);
            resident_sizes[b] = job->residents[b].size;
        }
    }
    vy_residents_unlock(p->device);
    return code;
}

static vyre_result refuse_usage(const vyre_pipeline *p, uint32_t binding, const char *what,
                                const char *usage, vyre_diag *diag)
{
    vyre_binding_info info;
    vyre_kernel_binding(p->kernel, binding, &info);
    if (diag) {
        diag->binding = binding;
    }
    return vy_invalid(diag,
                      "buffer '%s' is %s, and the imported buffer was created without %s. Fix: "
                      "create it with that usage, or with "
                      "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT",
                      info.name, what, usage);
}

/* A buffer of the host's must have the usages that this dispatch needs; kernels that do transfers
 * need none. */
static vyre_result check_usage(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag)
{
    for (uint32_t b = 0; job->binder->is_by_handle && b < p->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(p->kernel, b, &info);
        bool is_flag = vy_kernel_until(p->kernel) == (int32_t)b;
        bool is_filled =
            is_flag || info.mode == VYRE_BUFFER_OUT || info.mode == VYRE_BUFFER_SCRATCH;
        if (!job->is_resident[b] || !job->shape.lengths[b]) {
            continue;
        }
        if (is_filled && !(job->residents[b].usage & VK_BUFFER_USAGE_TRANSFER_DST_BIT)) {
            return refuse_usage(p, b, is_flag ? "the flag of `until`" : "made zero",
                                "VK_BUFFER_USAGE_TRANSFER_DST_BIT", diag);
        }
        if (job->bindings[b].out && !(job->residents[b].usage & VK_BUFFER_USAGE_TRANSFER_SRC_BIT)) {
            return refuse_usage(p, b, "read back", "VK_BUFFER_USAGE_TRANSFER_SRC_BIT", diag);
        }
    }
    return VYRE_OK;
}

static vyre_result check_recording(vyre_pipeline *p, const vyre_dispatch_params *params,
                                   vyre_diag *diag)
{
    for (uint32_t b = 0; b < params->binding_count && params->bindings; b++) {
        if (params->bindings[b].kind == VYRE_BINDING_HOST && b < p->binding_count) {
            vyre_binding_info info;
            vyre_kernel_binding(p->kernel, b, &info);
            vyre_result code = vy_invalid(diag,
                                          "buffer '%s' is bound to host memory in a recording. "
                                          "Fix: bind a resident or an imported buffer",
                                          info.name);
            if (diag) {
                diag->binding = b;
            }
            return code;
        }
    }
    return VYRE_OK;
}

static vyre_result check_hidden(vyre_pipeline *p, vy_job *job, vyre_diag *diag)
{
    /* Kernels count the words in 32 bits with a sign. */
    uint64_t most = job->binder->is_by_handle ? p->device->snapshot.info.max_storage_range
                                              : MAX_SIGNED_COUNT * sizeof(uint32_t);
    uint64_t invocations = job->shape.invocations;
    if (job->shape.is_indirect && vyre_kernel_spill_size(p->kernel)) {
        if (!job->params->max_groups) {
            return vy_invalid(diag, "values that cross grid_sync need memory for each invocation, "
                                    "and the device alone reads how many there are. Fix: set "
                                    "max_groups to the most workgroups that the buffer of `grid "
                                    "from` has, or keep no values across grid_sync");
        }
        invocations =
            (uint64_t)job->shape.most_groups * p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    }
    job->spill_size = vyre_kernel_spill_size(p->kernel) * invocations;
    if (vyre_kernel_spill_size(p->kernel) && job->spill_size == 0) {
        job->spill_size = sizeof(uint32_t);
    }
    if (vy_limits_has_hidden(p->kernel, VY_HIDDEN_RECORDS)) {
        job->records_size =
            (VY_RECORD_SITES + (uint64_t)vy_kernel_site_count(p->kernel)) * sizeof(uint32_t);
    }
    if (job->spill_size > most) {
        return vy_diag_set(
            diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
            "values that cross grid_sync need %llu bytes for %u invocations, and "
            "%llu are the most (%s). Fix: run fewer invocations, or keep fewer "
            "values across grid_sync",
            (unsigned long long)job->spill_size, (unsigned)invocations, (unsigned long long)most,
            job->binder->is_by_handle ? "the device's maxStorageBufferRange" : "2^31 words");
    }
    return VYRE_OK;
}

static vyre_result find_extents(vyre_pipeline *p, vy_job *job, vyre_diag *diag)
{
    vy_extent extents[VYRE_MAX_BUFFERS] = {{0, 0, 0}};
    for (uint32_t b = 0; b < p->binding_count; b++) {
        if (job->is_resident[b]) {
            /* Two imports of one VkBuffer are one piece of memory. */
            extents[b] = (vy_extent){(uint64_t)job->residents[b].buffer,
                                     job->params->bindings[b].offset, vy_job_size(job, b)};
        }
    }
    vyre_result code = vy_shape_overlaps(p->kernel, extents, job->alias, &job->is_aliased, diag);
    /* Bindings of no length have one block of zeros. Nobody writes it, but validation looks at what
     * is bound alone. */
    uint64_t empty = 0;
    for (uint32_t b = 0; b < p->binding_count; b++) {
        empty |= (uint64_t)(job->shape.lengths[b] == 0) << b;
    }
    for (uint32_t b = 0; b < p->binding_count && p->device->validation >= VYRE_VALIDATION_ON; b++) {
        job->alias[b] |= empty >> b & 1 ? empty : 0;
    }
    return code;
}

static vyre_result plan_pass(vyre_pipeline *p, vy_scratch *scratch, vy_job *job, vyre_diag *diag)
{
    bool is_empty = job->shape.group_total == 0 && !job->shape.is_indirect;
    if (p->schedule) {
        job->executions = p->schedule;
        job->execution_count = p->schedule_count;
        job->dispatch_count = is_empty ? 0 : job->execution_count;
        return VYRE_OK;
    }
    vy_execution *list = NULL;
    vy_kernel_env env = {.params = job->params->params, .lengths = job->shape.lengths};
    for (int i = 0; i < 3; i++) {
        env.groups[i] = job->shape.groups[i];
        env.workgroup[i] = p->workgroup[i];
    }
    vyre_result code = vy_kernel_schedule(p->kernel, &env, vy_scratch_allocator(scratch), &list,
                                          &job->execution_count, diag);
    job->executions = list;
    job->dispatch_count = is_empty ? 0 : job->execution_count;
    return code;
}

/* What is read back is whole words within the binding. */
static vyre_result check_outputs(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag)
{
    for (uint32_t b = 0; b < p->binding_count; b++) {
        const vyre_binding *given = &job->bindings[b];
        uint64_t size = vy_job_size(job, b);
        if (given->out_offset % 4 == 0 && given->out_size % 4 == 0 && given->out_offset <= size &&
            given->out_size <= size - given->out_offset) {
            continue;
        }
        vyre_binding_info info;
        vyre_kernel_binding(p->kernel, b, &info);
        if (diag) {
            diag->binding = b;
        }
        return vy_invalid(diag,
                          "bytes %llu to %llu of buffer '%s' are to be read back, and it has %llu. "
                          "Fix: give multiples of 4 within the buffer",
                          (unsigned long long)given->out_offset,
                          (unsigned long long)given->out_offset +
                              (unsigned long long)given->out_size,
                          info.name, (unsigned long long)size);
    }
    return VYRE_OK;
}

void vy_job_output(const vyre_pipeline *p, const vy_job *job, uint32_t binding,
                   uint64_t *out_offset, uint64_t *out_size)
{
    vyre_binding_info info;
    vyre_kernel_binding(p->kernel, binding, &info);
    const vyre_binding *given = &job->bindings[binding];
    uint64_t size = vy_job_size(job, binding);
    *out_offset = given->out_offset;
    *out_size = 0;
    if (given->out && info.mode != VYRE_BUFFER_IN && info.mode != VYRE_BUFFER_UNIFORM) {
        *out_size = given->out_size ? given->out_size : size - given->out_offset;
    }
}

/* Descriptors have a limit of their own, and one of the language's indices. */
static vyre_result check_range(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag)
{
    uint64_t most = p->device->snapshot.info.max_storage_range;
    for (uint32_t b = 0; job->binder->is_by_handle && b < p->binding_count; b++) {
        uint64_t size = vy_job_size(job, b);
        if (size <= most && job->shape.lengths[b] <= MAX_SIGNED_COUNT) {
            continue;
        }
        vyre_binding_info info;
        vyre_kernel_binding(p->kernel, b, &info);
        if (diag) {
            diag->binding = b;
        }
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "buffer '%s' has %llu elements in %llu bytes, and by descriptors 2^31 "
                           "and the device's maxStorageBufferRange, %llu bytes, are the most. Fix: "
                           "let the pipeline use addresses (VYRE_BINDINGS_ADDRESS tells what is in "
                           "the way), or bind less and split the work",
                           info.name, (unsigned long long)job->shape.lengths[b],
                           (unsigned long long)size, (unsigned long long)most);
    }
    return VYRE_OK;
}

bool vy_job_exceeds_chains(const vy_job *job, uint32_t binding_count)
{
    bool exceeds = job->spill_size > MAX_OFFSET_SIZE;
    for (uint32_t b = 0; !exceeds && b < binding_count; b++) {
        exceeds = job->shape.lengths[b] > MAX_SIGNED_COUNT || vy_job_size(job, b) > MAX_OFFSET_SIZE;
    }
    return exceeds;
}

static bool wants_addresses(const vyre_pipeline *p, const vy_job *job)
{
    return p->bindings == VYRE_BINDINGS_AUTO &&
           (vy_device_prefers_addresses(p->device) || vy_strategy_needs_addresses(job->params));
}

/* Addresses where they are asked for, or wanted and can be had; descriptors otherwise. */
static vyre_result choose_binder(const vyre_pipeline *p, vy_job *job, vyre_diag *diag)
{
    const vy_binder *address = p->binders[VYRE_INTERFACE_ADDRESS];
    if (address && p->bindings == VYRE_BINDINGS_ADDRESS) {
        job->binder = address;
        return address->check(p, job, diag);
    }
    job->binder = p->binders[VYRE_INTERFACE_DESCRIPTOR];
    if (address && wants_addresses(p, job) && address->check(p, job, NULL) == VYRE_OK) {
        job->binder = address;
    }
    return VYRE_OK;
}

static vyre_result check(vyre_pipeline *p, bool is_recording, vy_scratch *scratch, vy_job *job,
                         vyre_diag *diag)
{
    uint64_t resident_sizes[VYRE_MAX_BUFFERS] = {0};
    vyre_result code = vy_check_lost(p->device, diag);
    if (code == VYRE_OK && (job->params->binding_count != p->binding_count ||
                            (p->binding_count && !job->params->bindings))) {
        return vy_invalid(diag,
                          "the program has %u buffers and %u were bound. Fix: bind each buffer "
                          "that is not shared, in declaration order",
                          (unsigned)p->binding_count,
                          (unsigned)(job->params->bindings ? job->params->binding_count : 0));
    }
    for (uint32_t b = 0; code == VYRE_OK && b < p->binding_count; b++) {
        job->bindings[b] = job->params->bindings[b];
        if (is_recording || job->params->flags & VYRE_DISPATCH_NO_READBACK) {
            job->bindings[b].out = NULL;
        }
    }
    if (code == VYRE_OK && is_recording) {
        code = check_recording(p, job->params, diag);
    }
    if (code == VYRE_OK) {
        code = acquire(p, job, resident_sizes, diag);
    }
    if (code == VYRE_OK) {
        code = vy_shape_resolve(p->kernel, &p->device->snapshot, p->workgroup, job->params,
                                resident_sizes, &job->shape, diag);
    }
    for (uint32_t b = 0; b < p->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(p->kernel, b, &info);
        job->element_sizes[b] = vyre_type_size(info.type);
    }
    if (code == VYRE_OK) {
        code = find_extents(p, job, diag);
    }
    if (code == VYRE_OK) {
        code = check_outputs(p, job, diag);
    }
    if (code == VYRE_OK) {
        code = choose_binder(p, job, diag);
    }
    if (code == VYRE_OK) {
        code = check_range(p, job, diag);
    }
    if (code == VYRE_OK) {
        code = check_usage(p, job, diag);
    }
    if (code == VYRE_OK) {
        code = check_hidden(p, job, diag);
        job->is_wide = !job->binder->is_by_handle && vy_job_exceeds_chains(job, p->binding_count);
    }
    if (code == VYRE_OK) {
        code = plan_pass(p, scratch, job, diag);
    }
    if (code == VYRE_OK) {
        code = vy_strategy_choose(p, is_recording, job, diag);
    }
    if (code == VYRE_OK) {
        code = vy_coarse_choose(p, job, diag);
    }
    return code == VYRE_OK ? vy_job_trim(p, scratch, job, diag) : code;
}

vyre_result vy_job_init(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                        bool is_recording, vy_scratch *scratch, vy_job *out_job, vyre_diag *diag)
{
    memset(out_job, 0, sizeof *out_job);
    out_job->params = params;
    vyre_result code = check(pipeline, is_recording, scratch, out_job, diag);
    if (code != VYRE_OK) {
        vy_job_release(pipeline, out_job, 0);
    }
    return code;
}

void vy_job_release(vyre_pipeline *pipeline, vy_job *job, uint64_t value)
{
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        if (job->is_resident[b]) {
            vy_resident_release(pipeline->device, &job->residents[b], value);
            job->is_resident[b] = false;
        }
    }
}

/* Making and ending pipelines: what they are made of lies in pipeline/, what runs them in exec/. */
#include "engine/exec/bind.h"
#include "engine/exec/recording.h"
#include "engine/exec/run.h"
#include "engine/pipeline/limits.h"

#include <string.h>

static vyre_result choose_workgroup(vyre_pipeline *p, const vyre_pipeline_params *params,
                                    vyre_diag *diag)
{
    uint32_t own[3];
    bool is_overridden = false;
    vy_kernel_workgroup(p->kernel, own);
    for (int i = 0; i < 3; i++) {
        uint32_t wanted = params ? params->workgroup[i] : 0;
        p->workgroup[i] = wanted ? wanted : own[i];
        is_overridden = is_overridden || p->workgroup[i] != own[i];
    }
    const char *use = vy_kernel_workgroup_use(p->kernel);
    if (is_overridden && use) {
        return vy_invalid(diag,
                          "the workgroup size cannot be overridden, since the program uses %s. "
                          "Fix: leave workgroup zero",
                          use);
    }
    if (is_overridden && vy_kernel_grid_over(p->kernel) >= 0 &&
        (p->workgroup[1] != 1 || p->workgroup[2] != 1)) {
        return vy_invalid(diag, "a grid over a buffer needs a workgroup of N x 1 x 1. Fix: "
                                "override workgroup[0] only");
    }
    return VYRE_OK;
}

static vyre_result create_tables(vyre_pipeline *p, vyre_diag *diag)
{
    uint32_t count = 0;
    const uint32_t *words = vy_kernel_tables(p->kernel, &count);
    if (count == 0) {
        return VYRE_OK;
    }
    uint64_t size = (uint64_t)count * sizeof *words;
    vyre_result code =
        vy_block_create(p->device, VY_MEMORY_TABLE, size, "vyre tables", &p->tables, diag);
    if (code == VYRE_OK) {
        memcpy(p->tables.mapped, words, (size_t)size);
        code = vy_block_flush(p->device, &p->tables, 0, size, diag);
    }
    return code;
}

/* Without host loops and conditions a pass is the same for every dispatch. */
static vyre_result fix_schedule(vyre_pipeline *p, vyre_diag *diag)
{
    if (!vy_kernel_is_schedule_fixed(p->kernel)) {
        return VYRE_OK;
    }
    uint32_t lengths[VYRE_MAX_BUFFERS] = {0};
    vy_kernel_env env = {.lengths = lengths};
    return vy_kernel_schedule(p->kernel, &env, &p->allocator, &p->schedule, &p->schedule_count,
                              diag);
}

static vyre_result choose_binders(vyre_pipeline *p, vyre_diag *diag)
{
    vyre_device *d = p->device;
    uint32_t buffers = vy_limits_buffer_count(p->kernel);
    bool is_validated = d->validation >= VYRE_VALIDATION_ON;
    const char *lacking = vy_limits_lacking(&d->snapshot, p->kernel, VYRE_INTERFACE_ADDRESS);
    const vy_binder *address = lacking ? NULL : vy_binder_get(d, buffers, VYRE_INTERFACE_ADDRESS);
    if (p->bindings == VYRE_BINDINGS_ADDRESS && !address) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the device does not have %s (or it was not enabled), and the pipeline "
                           "of '%s' was asked to use addresses. Fix: use VYRE_BINDINGS_AUTO",
                           lacking ? lacking : "bufferDeviceAddress", vyre_kernel_name(p->kernel));
    }
    if (p->bindings != VYRE_BINDINGS_DESCRIPTOR &&
        !(p->bindings == VYRE_BINDINGS_AUTO && is_validated)) {
        p->binders[VYRE_INTERFACE_ADDRESS] = address;
    }
    p->binders[VYRE_INTERFACE_DESCRIPTOR] = vy_binder_get(d, buffers, VYRE_INTERFACE_DESCRIPTOR);
    p->is_pushed = p->binders[VYRE_INTERFACE_DESCRIPTOR]->is_pushed;
    return VYRE_OK;
}

/* Subgroup operations that only some invocations reach: right where the device promises that they
 * come together again as the program's text has it. Validation layers refuse modules that ask for
 * that promise, so that with them the drivers that we know keep it unasked. */
static vyre_result check_convergence(vyre_pipeline *p, vyre_diag *diag)
{
    vyre_device *d = p->device;
    vy_kernel_subgroups subgroups = vy_kernel_get_subgroups(p->kernel);
    if (!subgroups.is_divergent || subgroups.reconvergence == VYRE_RECONVERGENCE_MAXIMAL) {
        return VYRE_OK;
    }
    if (d->validation >= VYRE_VALIDATION_ON) {
        vy_log_write(&d->log, VYRE_LOG_WARNING,
                     "the program '%s' has a subgroup operation in line %u that only some "
                     "invocations reach, and runs without VK_KHR_shader_maximal_reconvergence, "
                     "which the validation layers refuse",
                     vyre_kernel_name(p->kernel), (unsigned)subgroups.line);
        return VYRE_OK;
    }
    bool has = d->snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence];
    vyre_result code = vy_diag_set(
        diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){subgroups.line, 0},
        "the program '%s' has a subgroup operation that only some invocations of a "
        "workgroup reach, "
        "and %s. Fix: %s",
        vyre_kernel_name(p->kernel),
        has ? "the kernel was compiled without asking for maximal reconvergence"
            : "the device does not have VK_KHR_shader_maximal_reconvergence (or its host did "
              "not enable it: vyre_device_setup.reconvergence)",
        has ? "compile it with vyre_device_kernel_params"
            : "move the operation to where all of them are, and select its operand by "
              "the condition");
    return code;
}

static vyre_result create_parts(vyre_pipeline *p, vyre_diag *diag)
{
    for (uint32_t b = 0; b < p->binding_count; b++) {
        p->used_bindings |= (uint64_t)1 << b;
    }
    for (uint32_t h = VY_HIDDEN_STATE; h < VY_HIDDEN_COUNT; h++) {
        if (vy_limits_has_hidden(p->kernel, h)) {
            p->used_bindings |= (uint64_t)1 << (p->binding_count + h);
        }
    }
    vyre_result converges = check_convergence(p, diag);
    if (converges != VYRE_OK) {
        return converges;
    }
    p->has_until = vy_kernel_until(p->kernel) >= 0;
    p->subgroup_size = vy_limits_subgroup_size(&p->device->snapshot, p->kernel);
    p->has_full_subgroups = vy_kernel_get_subgroups(p->kernel).width > 0;
    p->grid_from = vy_kernel_grid_from(p->kernel);
    p->has_state = p->has_until || p->grid_from >= 0;
    vyre_result code = choose_binders(p, diag);
    if (code == VYRE_OK) {
        code = fix_schedule(p, diag);
    }
    if (code == VYRE_OK) {
        vy_choice choice = {.interface = p->binders[VYRE_INTERFACE_ADDRESS]
                                             ? VYRE_INTERFACE_ADDRESS
                                             : VYRE_INTERFACE_DESCRIPTOR,
                            .is_folded = p->grid_from >= 0};
        code = vy_pipeline_prepare(p, choice, diag);
    }
    return code == VYRE_OK ? create_tables(p, diag) : code;
}

/* Empty but for its locks, and known to its device. */
static vyre_pipeline *allocate(vyre_device *device, const vyre_kernel *kernel)
{
    vyre_pipeline *p = vy_alloc_zeroed(&device->allocator, 1, sizeof *p);
    if (!p) {
        return NULL;
    }
    if (vy_mutex_init(&p->mutex) != 0) {
        vy_free(&device->allocator, p, sizeof *p);
        return NULL;
    }
    if (vy_mutex_init(&p->keep_mutex) != 0) {
        vy_mutex_finish(&p->mutex);
        vy_free(&device->allocator, p, sizeof *p);
        return NULL;
    }
    p->device = device;
    p->allocator = device->allocator;
    p->kernel = kernel;
    p->binding_count = vyre_kernel_binding_count(kernel);
    p->segment_count = vyre_kernel_segment_count(kernel);
    return p;
}

vyre_result vyre_pipeline_create(vyre_device *device, const vyre_kernel *kernel,
                                 const vyre_pipeline_params *given, vyre_pipeline **out_pipeline,
                                 vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_pipeline) {
        return vy_invalid(diag, "out_pipeline is NULL. Fix: pass where the pipeline goes");
    }
    *out_pipeline = NULL;
    if (!device || !kernel) {
        return vy_invalid(diag, "no device or no kernel was given. Fix: pass both");
    }
    vyre_pipeline_params params;
    vyre_result code = vy_params_read(vyre_pipeline_params, &params, given, diag);
    if (code == VYRE_OK) {
        code = vy_check_lost(device, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    vyre_pipeline *p = allocate(device, kernel);
    if (!p) {
        return vy_diag_no_memory(diag);
    }
    p->bindings = params.bindings;
    vy_pool_add_pipeline(p);
    code = choose_workgroup(p, &params, diag);
    if (code == VYRE_OK) {
        code = vy_limits_check(&device->snapshot, kernel, p->workgroup, diag);
    }
    if (code == VYRE_OK) {
        code = create_parts(p, diag);
    }
    if (code != VYRE_OK) {
        vyre_pipeline_destroy(&p);
        return code;
    }
    if (p->segment_count > 1) {
        vy_count(device, splits, 1);
        vy_count(device, segments, p->segment_count);
    }
    *out_pipeline = p;
    return VYRE_OK;
}

void vyre_pipeline_destroy(vyre_pipeline **pipeline)
{
    if (!pipeline || !*pipeline) {
        return;
    }
    vyre_pipeline *p = *pipeline;
    *pipeline = NULL;
    if (p->device) {
        vy_runs_end(p->device, p);
        vy_pool_remove_pipeline(p);
        vy_pool_empty(p);
        vy_recordings_detach(p);
        vy_pipeline_detach(p);
    }
    vy_free(&p->allocator, p->schedule, p->schedule_count * sizeof *p->schedule);
    vy_mutex_finish(&p->mutex);
    vy_mutex_finish(&p->keep_mutex);
    vyre_allocator allocator = p->allocator;
    vy_free(&allocator, p, sizeof *p);
}

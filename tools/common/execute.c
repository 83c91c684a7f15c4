/* Runs on the interpreter and on a device, with the same arrays in and of the same form out. */
#include "tools/common/run.h"

#include "engine/exec/prefix.h"

#include <stdlib.h>
#include <string.h>

void vy_run_result_finish(vy_run_result *result)
{
    for (uint32_t i = 0; result->out && i < result->buffer_count; i++) {
        free(result->out[i]);
    }
    free(result->out);
    *result = (vy_run_result){0};
}

static vyre_result allocate_outputs(const vy_run_data *data, vy_run_result *result, vyre_diag *diag)
{
    if (result->out) {
        return VYRE_OK;
    }
    result->out = calloc((size_t)data->buffer_count + 1, sizeof *result->out);
    if (!result->out) {
        return vy_diag_no_memory(diag);
    }
    result->buffer_count = data->buffer_count;
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        vyre_buffer_mode mode = data->buffers[i].mode;
        if (vy_buffer_mode_is_output(mode) || (data->has_scratch && vy_buffer_mode_writes(mode))) {
            result->out[i] =
                calloc((size_t)data->buffers[i].count + 1, vyre_type_size(data->buffers[i].type));
            if (!result->out[i]) {
                return vy_diag_no_memory(diag);
            }
        }
    }
    return VYRE_OK;
}

/* ---- Interpreter ----------------------------------------------------------------------------- */

/* The interpreter reads and writes one array; ours keep the inputs for the next run. */
static void fill_hosts(const vy_run_data *data, const vy_run_result *result,
                       vyre_host_buffer *hosts)
{
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        const vy_run_buffer *buffer = &data->buffers[i];
        void *out = result->out[i];
        if (out && buffer->in) {
            memcpy(out, buffer->in, (size_t)buffer->count * vyre_type_size(buffer->type));
        }
        hosts[i] = (vyre_host_buffer){out ? out : buffer->in, buffer->count};
    }
}

vy_reference vy_reference_of(const vyre_device *device)
{
    if (!device) {
        return (vy_reference){0};
    }
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    return (vy_reference){.flush_denormals = info.denormals == VYRE_ANSWER_NO,
                          .subgroup_width = info.subgroup_size};
}

static vyre_interp_params interp_params(const vy_run_data *data, const vy_reference *how,
                                        vyre_host_buffer *hosts)
{
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = hosts,
                                 .buffer_count = data->buffer_count,
                                 .params = data->params,
                                 .param_count = data->param_words,
                                 .passes = data->passes,
                                 .max_groups = data->max_groups,
                                 .flush_denormals = how->flush_denormals,
                                 .detect_races = how->detect_races,
                                 .subgroup_width = how->subgroup_width};
    memcpy(params.groups, data->groups, sizeof params.groups);
    memcpy(params.elements, data->elements, sizeof params.elements);
    memcpy(params.workgroup, data->workgroup, sizeof params.workgroup);
    return params;
}

vyre_result vy_run_reference(const vyre_program *program, const vy_run_data *data,
                             const vy_reference *how, vy_run_result *out_result, vyre_diag *diag)
{
    *out_result = (vy_run_result){0};
    return vy_run_watched(program, data, how, NULL, out_result, diag);
}

vyre_result vy_run_watched(const vyre_program *program, const vy_run_data *data,
                           const vy_reference *how, vy_interp_watch *watch,
                           vy_run_result *out_result, vyre_diag *diag)
{
    vyre_result result = allocate_outputs(data, out_result, diag);
    vyre_host_buffer *hosts = calloc((size_t)data->buffer_count + 1, sizeof *hosts);
    if (result != VYRE_OK || !hosts) {
        free(hosts);
        return result != VYRE_OK ? result : vy_diag_no_memory(diag);
    }
    fill_hosts(data, out_result, hosts);
    vyre_interp_params params = interp_params(data, how, hosts);
    vyre_interp_report report = {0};
    result = vy_interp_run_watched(program, &params, watch, &report, diag);
    free(hosts);
    out_result->passes = report.passes;
    out_result->segments = report.segments;
    out_result->convergence = report.convergence;
    out_result->record = report.record;
    memcpy(out_result->groups, report.groups, sizeof out_result->groups);
    out_result->is_grid_clamped = report.is_grid_clamped != 0;
    out_result->race_count = report.race_count;
    out_result->first_race = report.first_race;
    return result;
}

vyre_result vy_run_schedule(const vyre_program *program, const vy_run_data *data,
                            const vy_reference *how, vy_arena *arena, vy_interp_place **out_list,
                            uint32_t *out_count, vyre_diag *diag)
{
    uint32_t there[3] = {0}; /* stands for outputs, which nobody touches */
    vyre_host_buffer *hosts = vy_arena_alloc(arena, (size_t)data->buffer_count + 1, sizeof *hosts);
    if (!hosts) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        const vy_run_buffer *buffer = &data->buffers[i];
        hosts[i] = (vyre_host_buffer){buffer->in ? buffer->in : there, buffer->count};
    }
    vyre_interp_params params = interp_params(data, how, hosts);
    return vy_interp_schedule(program, &params, arena, out_list, out_count, diag);
}

/* ---- Device ---------------------------------------------------------------------------------- */

vyre_result vy_device_program_create(vyre_device *device, const vy_source *source,
                                     const uint32_t workgroup[3], vyre_binding_mode bindings,
                                     vy_device_program *out_ready, vyre_diag *diag)
{
    *out_ready = (vy_device_program){.device = device};
    vyre_kernel_params kernel_params = {0};
    vyre_device_kernel_params(device, &kernel_params);
    if (bindings != VYRE_BINDINGS_AUTO) {
        kernel_params.interface =
            bindings == VYRE_BINDINGS_ADDRESS ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
    }
    vyre_result result = vy_source_compile(source, &kernel_params, &out_ready->kernel, diag);
    out_ready->compiled_ns = vyre_clock_ns();
    if (result == VYRE_OK) {
        vyre_pipeline_params params;
        vyre_pipeline_params_init(&params);
        memcpy(params.workgroup, workgroup, sizeof params.workgroup);
        params.bindings = bindings;
        result =
            vyre_pipeline_create(device, out_ready->kernel, &params, &out_ready->pipeline, diag);
    }
    if (result != VYRE_OK) {
        vy_device_program_finish(out_ready);
    }
    return result;
}

void vy_device_program_finish(vy_device_program *ready)
{
    vyre_pipeline_destroy(&ready->pipeline);
    vyre_kernel_destroy(&ready->kernel);
    *ready = (vy_device_program){0};
}

static void fill_bindings(const vy_run_data *data, const vy_run_result *result,
                          vyre_binding *bindings)
{
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        const vy_run_buffer *buffer = &data->buffers[i];
        if (buffer->in || result->out[i]) {
            bindings[i].kind = VYRE_BINDING_HOST;
            bindings[i].in = buffer->in;
            bindings[i].out = result->out[i];
            bindings[i].count = buffer->count;
        }
    }
}

/* `last_count`: of the last pass no more segment executions are run; 0: all. */
static vyre_result run_device(const vy_device_program *ready, const vy_run_data *data,
                              uint32_t last_count, vy_run_result *result, vyre_report *out_report,
                              vyre_diag *diag)
{
    *out_report = (vyre_report){0};
    vyre_result status = allocate_outputs(data, result, diag);
    vyre_binding *bindings = calloc((size_t)data->buffer_count + 1, sizeof *bindings);
    if (status != VYRE_OK || !bindings) {
        free(bindings);
        return status != VYRE_OK ? status : vy_diag_no_memory(diag);
    }
    fill_bindings(data, result, bindings);
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.flags = VYRE_DISPATCH_TIMED;
    params.bindings = bindings;
    params.binding_count = data->buffer_count;
    params.params = data->params;
    params.param_count = data->param_words;
    params.passes = data->passes;
    params.max_groups = data->max_groups;
    params.strategy = data->strategy;
    memcpy(params.groups, data->groups, sizeof params.groups);
    memcpy(params.elements, data->elements, sizeof params.elements);
    status = last_count ? vy_dispatch_prefix(ready->pipeline, &params, last_count, out_report, diag)
                        : vyre_dispatch(ready->pipeline, &params, out_report, diag);
    free(bindings);
    result->passes = out_report->passes;
    result->segments = out_report->segments;
    result->convergence = out_report->convergence;
    result->record = out_report->record;
    memcpy(result->groups, out_report->groups, sizeof result->groups);
    result->is_grid_clamped = out_report->is_grid_clamped != 0;
    return status;
}

vyre_result vy_run_device(const vy_device_program *ready, const vy_run_data *data,
                          vy_run_result *result, vyre_report *out_report, vyre_diag *diag)
{
    return run_device(ready, data, 0, result, out_report, diag);
}

/* ---- Prefixes -------------------------------------------------------------------------------- */

/* What the buffers have before the first segment. */
static void fill_start(const vy_run_data *data, vy_run_result *result)
{
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        const vy_run_buffer *buffer = &data->buffers[i];
        size_t size = (size_t)buffer->count * vyre_type_size(buffer->type);
        if (result->out[i] && buffer->in) {
            memcpy(result->out[i], buffer->in, size);
        } else if (result->out[i]) {
            memset(result->out[i], 0, size);
        }
    }
    result->passes = 0;
    result->convergence = VYRE_CONVERGENCE_NONE;
    result->record = (vyre_fault_record){.kind = VYRE_RECORD_NONE};
}

static vy_run_data limited(const vy_run_data *data, vy_prefix prefix)
{
    vy_run_data copy = *data;
    copy.passes = prefix.passes + (prefix.executions > 0);
    return copy;
}

vyre_result vy_run_start_state(const vy_run_data *data, vy_run_result *result, vyre_diag *diag)
{
    vyre_result code = allocate_outputs(data, result, diag);
    if (code == VYRE_OK) {
        fill_start(data, result);
    }
    return code;
}

vyre_result vy_run_device_prefix(const vy_device_program *ready, const vy_run_data *data,
                                 vy_prefix prefix, vy_run_result *result, vyre_report *out_report,
                                 vyre_diag *diag)
{
    vy_run_data part = limited(data, prefix);
    *out_report = (vyre_report){0};
    return part.passes ? run_device(ready, &part, prefix.executions, result, out_report, diag)
                       : vy_run_start_state(data, result, diag);
}

vyre_result vy_run_reference_prefix(const vyre_program *program, const vy_run_data *data,
                                    const vy_reference *how, vy_prefix prefix,
                                    vy_interp_watch *watch, vy_run_result *result, vyre_diag *diag)
{
    vy_run_data part = limited(data, prefix);
    watch->last_count = prefix.executions;
    return part.passes ? vy_run_watched(program, &part, how, watch, result, diag)
                       : vy_run_start_state(data, result, diag);
}

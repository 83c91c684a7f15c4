/* Runs on the interpreter and on a device, with the same arrays in and of the same form out. */
#include "tools/common/run.h"

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
        if (vy_buffer_mode_is_output(data->buffers[i].mode)) {
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

vyre_result vy_run_reference(const vyre_program *program, const vy_run_data *data,
                             const vy_reference *how, vy_run_result *out_result, vyre_diag *diag)
{
    *out_result = (vy_run_result){0};
    vyre_result result = allocate_outputs(data, out_result, diag);
    vyre_host_buffer *hosts = calloc((size_t)data->buffer_count + 1, sizeof *hosts);
    if (result != VYRE_OK || !hosts) {
        free(hosts);
        return result != VYRE_OK ? result : vy_diag_no_memory(diag);
    }
    fill_hosts(data, out_result, hosts);
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
    vyre_interp_report report = {0};
    result = vyre_interp_run(program, &params, &report, diag);
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

vyre_result vy_run_device(const vy_device_program *ready, const vy_run_data *data,
                          vy_run_result *result, vyre_report *out_report, vyre_diag *diag)
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
    status = vyre_dispatch(ready->pipeline, &params, out_report, diag);
    free(bindings);
    result->passes = out_report->passes;
    result->segments = out_report->segments;
    result->convergence = out_report->convergence;
    result->record = out_report->record;
    memcpy(result->groups, out_report->groups, sizeof result->groups);
    result->is_grid_clamped = out_report->is_grid_clamped != 0;
    return status;
}

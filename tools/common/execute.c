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
    if (how->lines) {
        params.print = vy_lines_add;
        params.print_user = how->lines;
    }
    memcpy(params.groups, data->groups, sizeof params.groups);
    memcpy(params.elements, data->elements, sizeof params.elements);
    memcpy(params.workgroup, data->workgroup, sizeof params.workgroup);
    return params;
}

uint32_t vy_run_passes(const vyre_program *program, const vy_run_data *data)
{
    return data->passes ? data->passes : program->passes;
}

/* A run that is shown. */
typedef struct run_shown {
    vy_progress *progress;
    uint32_t passes;
    bool has_until;
} run_shown;

static void show_tick(void *user, const vy_interp_place *place, uint32_t group,
                      uint32_t group_count)
{
    const run_shown *shown = user;
    double executions = place->execution + (group + 1.0) / group_count;
    if (shown->passes > 1) {
        vy_progress_show(shown->progress, place->pass + executions / place->executions,
                         shown->passes, "pass", shown->has_until);
    } else {
        vy_progress_show(shown->progress, executions * group_count,
                         (double)place->executions * group_count, "workgroup", false);
    }
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
    vy_interp_watch own = {0};
    run_shown shown = {data->progress, vy_run_passes(program, data), program->until != 0};
    bool is_shown = data->progress && data->progress->stream;
    if (is_shown) {
        watch = watch ? watch : &own;
        watch->tick = show_tick;
        watch->tick_user = &shown;
        vy_progress_begin(data->progress, "interpreter");
    }
    result = vy_interp_run_watched(program, &params, watch, &report, diag);
    if (is_shown) {
        watch->tick = NULL;
        vy_progress_end(data->progress);
    }
    free(hosts);
    out_result->passes = report.passes;
    out_result->segments = report.segments;
    out_result->convergence = report.convergence;
    out_result->record = report.record;
    memcpy(out_result->groups, report.groups, sizeof out_result->groups);
    out_result->is_grid_clamped = report.is_grid_clamped != 0;
    out_result->outside_index = report.outside_index;
    out_result->outside_length = report.outside_length;
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
    *out_ready = (vy_device_program){.device = device,
                                     .passes = source->program->passes,
                                     .has_until = source->program->until != 0};
    vyre_kernel_params kernel_params = {0};
    vyre_device_kernel_params(device, &kernel_params);
    kernel_params.debug = source->debug;
    if (source->optimization == VYRE_OPTIMIZATION_NONE) {
        kernel_params.optimization = VYRE_OPTIMIZATION_NONE;
    }
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

/* How long nobody looks: short runs are waited for at one go. */
#define FIRST_LOOK_NS 300000000u
#define NEXT_LOOK_NS  100000000u

/* Gives the run up, and waits for what is on the device. */
static vyre_result end_interrupted(vyre_device *device, vyre_ticket ticket, uint32_t passes,
                                   vyre_diag *diag)
{
    uint32_t done = vy_ticket_passes(device, ticket);
    vyre_result result = vyre_ticket_drop(device, &ticket, diag);
    if (result == VYRE_OK) {
        result = vyre_device_wait(device, UINT64_MAX, diag);
    }
    return result != VYRE_OK
               ? result
               : vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                             "interrupted after %u of %u passes; the device is idle", done, passes);
}

/* Until it has ended. Where progress is told, an interrupt leaves an idle device. */
static vyre_result wait_for_run(const vy_device_program *ready, const vy_run_data *data,
                                vyre_ticket ticket, vyre_report *out_report, vyre_diag *diag)
{
    uint64_t look_ns = data->progress ? FIRST_LOOK_NS : UINT64_MAX;
    uint32_t looks = 0, passes = data->passes ? data->passes : ready->passes;
    vyre_result result = VYRE_ERROR_TIMEOUT;
    if (data->progress) {
        vy_tool_defer_interrupt(true);
        vy_progress_begin(data->progress, "device");
    }
    while (result == VYRE_ERROR_TIMEOUT && !vy_tool_is_interrupted()) {
        result = vyre_ticket_wait(ready->device, &ticket, look_ns, out_report, diag);
        look_ns = NEXT_LOOK_NS;
        looks += result == VYRE_ERROR_TIMEOUT;
        if (result == VYRE_ERROR_TIMEOUT && data->progress) {
            uint32_t done = passes > 1 ? vy_ticket_passes(ready->device, ticket) : 0;
            vy_progress_show(data->progress, done, passes, "pass", ready->has_until);
        }
    }
    if (result == VYRE_ERROR_TIMEOUT) {
        result = end_interrupted(ready->device, ticket, passes, diag);
    }
    /* A wait that was gone on with is one. */
    out_report->waits -= out_report->waits < looks ? out_report->waits : looks;
    if (data->progress) {
        vy_progress_end(data->progress);
        vy_tool_defer_interrupt(false);
    }
    return result;
}

static vyre_dispatch_params dispatch_params(const vy_run_data *data, const vyre_binding *bindings)
{
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
    return params;
}

/* `last_count`: of the last pass no more segment executions are run; 0: all. `marks`: NULL, or
 * where their times go. */
static vyre_result run_device(const vy_device_program *ready, const vy_run_data *data,
                              uint32_t last_count, vy_marks *marks, vy_run_result *result,
                              vyre_report *out_report, vyre_diag *diag)
{
    *out_report = (vyre_report){0};
    vyre_result status = allocate_outputs(data, result, diag);
    vyre_binding *bindings = calloc((size_t)data->buffer_count + 1, sizeof *bindings);
    if (status != VYRE_OK || !bindings) {
        free(bindings);
        return status != VYRE_OK ? status : vy_diag_no_memory(diag);
    }
    fill_bindings(data, result, bindings);
    vyre_dispatch_params params = dispatch_params(data, bindings);
    vyre_ticket ticket;
    if (marks) {
        status = vy_dispatch_marked(ready->pipeline, &params, marks, out_report, diag);
    } else {
        status = vy_dispatch_prefix(ready->pipeline, &params, last_count, &ticket, diag);
    }
    if (status == VYRE_OK && !marks) {
        status = wait_for_run(ready, data, ticket, out_report, diag);
    }
    free(bindings);
    result->passes = out_report->passes;
    result->segments = out_report->segments;
    result->convergence = out_report->convergence;
    result->record = out_report->record;
    memcpy(result->groups, out_report->groups, sizeof result->groups);
    result->is_grid_clamped = out_report->is_grid_clamped != 0;
    return status;
}

vyre_result vy_run_marked(const vy_device_program *ready, const vy_run_data *data, vy_marks *marks,
                          vy_run_result *result, vyre_report *out_report, vyre_diag *diag)
{
    return run_device(ready, data, 0, marks, result, out_report, diag);
}

vyre_result vy_run_device(const vy_device_program *ready, const vy_run_data *data,
                          vy_run_result *result, vyre_report *out_report, vyre_diag *diag)
{
    return run_device(ready, data, 0, NULL, result, out_report, diag);
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
    return part.passes ? run_device(ready, &part, prefix.executions, NULL, result, out_report, diag)
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

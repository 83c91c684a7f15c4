/* The arguments of a run: buffer lengths, parameters and the grid, checked before anything is
 * written. Reads the program and the caller's arguments, makes a vy_bound. */
#include "codegen/interp/machine.h"

#include <string.h>

#define DEFAULT_SUBGROUP_WIDTH 32u

static const vy_loc nowhere = {0, 0};

static vyre_result refuse_buffer(vyre_diag *diag, const vy_buffer *buffer, const char *what)
{
    vyre_result result = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere, "buffer '%s' %s",
                                     buffer->name, what);
    if (diag) {
        diag->binding = buffer->binding;
    }
    return result;
}

static vyre_result bind_params(const vyre_program *program, const vyre_interp_params *params,
                               vy_bound *bound, vyre_diag *diag)
{
    uint32_t count = program->param_words;
    if (params->param_count != count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program's parameters take %u words and %u were given. Fix: give "
                           "one word for each param in declaration order, two for 64 bits, low "
                           "word first, and one for each component of a vector",
                           count, params->param_count);
    }
    if (count && params->params == NULL) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "params is NULL. Fix: give the %u words of the parameters", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        bound->params[i] = params->params[i];
    }
    for (uint32_t i = 1; i < program->params.count; i++) {
        const vy_named *param = &program->params.data[i];
        if (param->type == VYRE_TYPE_BOOL) {
            bound->params[param->word] = bound->params[param->word] != 0;
        }
    }
    return VYRE_OK;
}

/* A program that names a width has that one everywhere. */
static vyre_result bind_subgroups(const vyre_program *program, const vyre_interp_params *params,
                                  vy_bound *bound, vyre_diag *diag)
{
    uint32_t width = params->subgroup_width ? params->subgroup_width : DEFAULT_SUBGROUP_WIDTH;
    if (width > VY_INTERP_MAX_SUBGROUP || (width & (width - 1))) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "subgroup_width is %u. Fix: give a power of two from 1 to %u, or 0 for "
                           "%u",
                           width, VY_INTERP_MAX_SUBGROUP, DEFAULT_SUBGROUP_WIDTH);
    }
    bound->subgroup_width = program->subgroup_width ? program->subgroup_width : width;
    return VYRE_OK;
}

/* ---- Lengths --------------------------------------------------------------------------------- */

static vy_host_env environment(const vy_bound *bound)
{
    vy_host_env env = {.params = bound->params, .lengths = bound->lengths};
    for (int i = 0; i < 3; i++) {
        env.num_groups[i] = bound->groups[i];
        env.group_size[i] = bound->size[i];
    }
    return env;
}

static vyre_result bind_length(const vyre_program *program, const vy_buffer *buffer,
                               const vyre_host_buffer *given, vy_bound *bound, uint32_t *scratch,
                               vyre_diag *diag)
{
    vy_host_env env = environment(bound);
    uint32_t length = given->count;
    if (buffer->count.root == 0) {
        if (length == UINT32_MAX) {
            return refuse_buffer(diag, buffer,
                                 "declares no count. Fix: give its number of elements");
        }
    } else {
        length = vy_host_evaluate(program, buffer->count, &env, vy_interp_eval, scratch);
    }
    bound->lengths[buffer->binding] = length;
    return VYRE_OK;
}

/* Counts may name lengths of buffers declared before, params and the grid. */
static vyre_result bind_lengths(const vyre_program *program, const vyre_interp_params *params,
                                vy_bound *bound, uint32_t *scratch, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 1; i < program->buffers.count && result == VYRE_OK; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED) {
            result = bind_length(program, buffer, &params->buffers[buffer->binding], bound, scratch,
                                 diag);
        }
    }
    return result;
}

static vyre_result check_buffer(const vy_buffer *buffer, const vyre_host_buffer *given,
                                uint32_t length, vyre_diag *diag)
{
    bool is_scratch =
        buffer->mode == VYRE_BUFFER_SCRATCH || buffer->mode == VYRE_BUFFER_SCRATCH_KEEP;
    if (given->count != UINT32_MAX && given->count != length) {
        vyre_result result =
            vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                        "buffer '%s' declares %u elements for these arguments and %u were bound. "
                        "Fix: bind %u, or count UINT32_MAX for the declared number",
                        buffer->name, length, given->count, length);
        if (diag) {
            diag->binding = buffer->binding;
        }
        return result;
    }
    if (given->data != NULL || length == 0 || is_scratch) {
        return VYRE_OK;
    }
    if (vy_buffer_mode_is_input((vyre_buffer_mode)buffer->mode)) {
        return refuse_buffer(diag, buffer, "has no data. Fix: point data at its elements");
    }
    if (given->count != UINT32_MAX) {
        return refuse_buffer(diag, buffer,
                             "has no data. Fix: point data at memory for its elements, or give "
                             "count UINT32_MAX where the contents are not wanted");
    }
    return VYRE_OK;
}

static vyre_result check_buffers(const vyre_program *program, const vyre_interp_params *params,
                                 const vy_bound *bound, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 1; i < program->buffers.count && result == VYRE_OK; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED) {
            result = check_buffer(buffer, &params->buffers[buffer->binding],
                                  bound->lengths[buffer->binding], diag);
        }
    }
    return result;
}

/* ---- Grid ------------------------------------------------------------------------------------ */

static bool is_given(const uint32_t counts[3])
{
    return counts[0] || counts[1] || counts[2];
}

static vyre_result bind_size(const vyre_program *program, const vyre_interp_params *params,
                             vy_bound *bound, vyre_diag *diag)
{
    bool overridden = false;
    uint64_t volume = 1;
    for (int i = 0; i < 3; i++) {
        bound->size[i] = params->workgroup[i] ? params->workgroup[i] : program->workgroup[i];
        overridden = overridden || bound->size[i] != program->workgroup[i];
        volume = volume > VY_INTERP_MAX_VOLUME ? volume : volume * bound->size[i];
    }
    const char *use = NULL;
    if (overridden && !vy_program_is_workgroup_agnostic(program, &use)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the workgroup size cannot be overridden, since the program uses %s. "
                           "Fix: leave workgroup zero",
                           use ? use : "it");
    }
    if (overridden && is_given(params->groups)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the workgroup size cannot be overridden while the grid is given in "
                           "workgroups. Fix: give the grid in elements");
    }
    if (overridden && program->grid_over && (bound->size[1] != 1 || bound->size[2] != 1)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "a grid over a buffer needs a workgroup of N x 1 x 1. Fix: override "
                           "workgroup[0] only");
    }
    if (volume == 0 || volume > VY_INTERP_MAX_VOLUME) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "a workgroup of %u x %u x %u is not between 1 and %u invocations. Fix: "
                           "choose a smaller one",
                           bound->size[0], bound->size[1], bound->size[2], VY_INTERP_MAX_VOLUME);
    }
    bound->volume = (uint32_t)volume;
    return VYRE_OK;
}

static vyre_result check_grid_given(const vyre_program *program, const vyre_interp_params *params,
                                    vyre_diag *diag)
{
    bool groups = is_given(params->groups), elements = is_given(params->elements);
    if (groups && elements) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "both groups and elements are given. Fix: give one of them");
    }
    if (program->grid_over && (groups || elements)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program has its grid over buffer '%s'. Fix: leave groups and "
                           "elements zero",
                           program->buffers.data[program->grid_over].name);
    }
    if (program->grid_from && (groups || elements)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program has its grid from buffer '%s'. Fix: leave groups and "
                           "elements zero",
                           program->buffers.data[program->grid_from].name);
    }
    if (program->grid_of[0].root && (groups || elements)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program says its grid itself, by `grid of`. Fix: leave groups and "
                           "elements zero");
    }
    if (!program->grid_from && params->max_groups) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "max_groups is %u, and the program has no `grid from`. Fix: leave it "
                           "zero",
                           params->max_groups);
    }
    if (!program->grid_over && !program->grid_from && !program->grid_of[0].root && !groups &&
        !elements) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "no grid is given. Fix: set groups or elements, at least their first "
                           "number");
    }
    return VYRE_OK;
}

static vyre_result check_grid_size(vy_bound *bound, vyre_diag *diag)
{
    uint64_t total = bound->volume;
    if (bound->groups[0] == 0 || bound->groups[1] == 0 || bound->groups[2] == 0) {
        return VYRE_OK;
    }
    for (int i = 0; i < 3; i++) {
        if ((uint64_t)bound->groups[i] * bound->size[i] > (uint64_t)1 << 32) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "%u workgroups of %u invocations are more than 2^32 invocations in "
                               "dimension %d. Fix: split the work over several dispatches",
                               bound->groups[i], bound->size[i], i);
        }
        /* total stays below 2^32 x 2^32. */
        total *= bound->groups[i];
        if (total > UINT32_MAX) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "%u x %u x %u workgroups of %u invocations are more than 2^32 - 1 "
                               "invocations. Fix: split the work over several dispatches",
                               bound->groups[0], bound->groups[1], bound->groups[2], bound->volume);
        }
    }
    bound->group_count = bound->groups[0] * bound->groups[1] * bound->groups[2];
    return VYRE_OK;
}

/* As the device's fix-up does it: engine/kernels/grid.vyre. */
static vyre_result read_grid(const vyre_program *program, const vyre_interp_params *params,
                             vy_bound *bound, vyre_diag *diag)
{
    const vy_buffer *buffer = &program->buffers.data[program->grid_from];
    const void *counts = params->buffers[buffer->binding].data;
    if (bound->lengths[buffer->binding] < 3) {
        return refuse_buffer(diag, buffer,
                             "gives the grid and has fewer than 3 elements. Fix: bind at least "
                             "the workgroups in x, y and z");
    }
    if (!counts) {
        return refuse_buffer(diag, buffer, "has no data. Fix: point data at its elements");
    }
    memcpy(bound->groups, counts, sizeof bound->groups);
    bound->is_grid_clamped =
        vy_grid_clamp(bound->groups, vy_grid_most(bound->volume, params->max_groups));
    return check_grid_size(bound, diag);
}

/* `grid of`: workgroups as the program counts them. */
static vyre_result count_grid(const vyre_program *program, vy_bound *bound, uint32_t *scratch,
                              vyre_diag *diag)
{
    vy_host_env env = {.params = bound->params, .lengths = bound->lengths};
    memcpy(env.group_size, bound->size, sizeof env.group_size);
    for (int i = 0; i < 3; i++) {
        vy_range range = program->grid_of[i];
        bound->groups[i] =
            range.root ? vy_host_evaluate(program, range, &env, vy_interp_eval, scratch) : 1;
    }
    return check_grid_size(bound, diag);
}

static vyre_result bind_grid(const vyre_program *program, const vyre_interp_params *params,
                             vy_bound *bound, uint32_t *scratch, vyre_diag *diag)
{
    if (program->grid_of[0].root) {
        return count_grid(program, bound, scratch, diag);
    }
    if (program->grid_from) {
        return read_grid(program, params, bound, diag);
    }
    for (int i = 0; i < 3; i++) {
        uint32_t least = program->grid_over ? (i > 0) : 1;
        uint32_t groups = params->groups[i], elements = params->elements[i];
        if (program->grid_over && i == 0) {
            elements = bound->lengths[program->buffers.data[program->grid_over].binding];
        }
        if (is_given(params->groups)) {
            bound->groups[i] = groups > least ? groups : least;
            continue;
        }
        bound->elements[i] = elements > least ? elements : least;
        bound->groups[i] =
            (uint32_t)(((uint64_t)bound->elements[i] + bound->size[i] - 1) / bound->size[i]);
    }
    bound->limited = !is_given(params->groups) && vy_program_is_workgroup_agnostic(program, NULL);
    return check_grid_size(bound, diag);
}

/* Lengths may depend on the grid, and the grid on lengths that by the language's rules do
 * not depend on the grid. */
static vyre_result bind_shapes(const vyre_program *program, const vyre_interp_params *params,
                               vy_bound *bound, uint32_t *scratch, vyre_diag *diag)
{
    vyre_result result = bind_lengths(program, params, bound, scratch, diag);
    if (result == VYRE_OK) {
        result = bind_grid(program, params, bound, scratch, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    return bind_lengths(program, params, bound, scratch, diag);
}

vyre_result vy_bind(const vyre_program *program, const vyre_interp_params *params,
                    const vy_plan *plan, vy_arena *arena, vy_bound *out_bound, vyre_diag *diag)
{
    *out_bound = (vy_bound){0};
    if (params->buffer_count != program->binding_count ||
        (program->binding_count && params->buffers == NULL)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program has %u buffers and %u were bound. Fix: bind each buffer "
                           "that is not shared, in declaration order",
                           program->binding_count, params->buffers ? params->buffer_count : 0);
    }
    out_bound->lengths =
        vy_arena_alloc(arena, (size_t)program->binding_count + 1, sizeof(uint32_t));
    out_bound->params = vy_arena_alloc(arena, (size_t)program->param_words + 1, sizeof(uint32_t));
    uint32_t *scratch = vy_arena_alloc(arena, plan->host_scratch, sizeof(uint32_t));
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    out_bound->passes = params->passes ? params->passes : program->passes;
    vyre_result result = bind_params(program, params, out_bound, diag);
    if (result == VYRE_OK) {
        result = bind_subgroups(program, params, out_bound, diag);
    }
    if (result == VYRE_OK) {
        result = check_grid_given(program, params, diag);
    }
    if (result == VYRE_OK) {
        result = bind_size(program, params, out_bound, diag);
    }
    if (result == VYRE_OK) {
        result = bind_shapes(program, params, out_bound, scratch, diag);
    }
    if (result == VYRE_OK) {
        result = check_buffers(program, params, out_bound, diag);
    }
    return result;
}

/* Lengths, grid, folding, overlaps. The rules are docs/language.md's, as the interpreter has them.
 */
#include "engine/exec/shape.h"

#include <string.h>

static vyre_result refuse(vyre_diag *diag, uint32_t binding, vyre_result code, const char *format,
                          ...) VY_PRINTF(4, 5);

static vyre_result refuse(vyre_diag *diag, uint32_t binding, vyre_result code, const char *format,
                          ...)
{
    va_list arguments;
    va_start(arguments, format);
    vyre_result result = vy_diag_setv(diag, code, (vy_loc){0, 0}, format, arguments);
    va_end(arguments);
    if (diag) {
        diag->binding = binding;
    }
    return result;
}

static bool is_given(const uint32_t counts[3])
{
    return counts[0] || counts[1] || counts[2];
}

static bool is_scratch(vyre_buffer_mode mode)
{
    return mode == VYRE_BUFFER_SCRATCH || mode == VYRE_BUFFER_SCRATCH_KEEP;
}

static bool is_input(vyre_buffer_mode mode)
{
    return mode == VYRE_BUFFER_IN || mode == VYRE_BUFFER_INOUT || mode == VYRE_BUFFER_UNIFORM;
}

/* ---- Bindings -------------------------------------------------------------------------------- */

static vyre_result check_kind(const vyre_binding_info *info, const vyre_binding *given,
                              uint32_t binding, vyre_diag *diag)
{
    switch (given->kind) {
    case VYRE_BINDING_RESIDENT:
        if (info->mode == VYRE_BUFFER_SCRATCH_KEEP) {
            return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                          "buffer '%s' is `scratch keep`, which belongs to the pipeline. Fix: bind "
                          "VYRE_BINDING_NONE there, or declare it inout",
                          info->name);
        }
        return VYRE_OK;
    case VYRE_BINDING_HOST:
        if (is_scratch(info->mode) && given->in) {
            return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                          "buffer '%s' is scratch and takes no input. Fix: leave `in` NULL, or "
                          "declare it inout",
                          info->name);
        }
        return VYRE_OK;
    case VYRE_BINDING_NONE:
        if (!is_scratch(info->mode)) {
            return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                          "buffer '%s' is not bound. Fix: bind a resident buffer or host memory",
                          info->name);
        }
        return VYRE_OK;
    default:
        return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffer '%s' has binding kind %d. Fix: use a vyre_binding_kind", info->name,
                      (int)given->kind);
    }
}

/* What the caller says the length is; UINT32_MAX stays where only the program knows. */
static vyre_result given_length(const vyre_binding_info *info, const vyre_binding *given,
                                uint64_t resident_size, uint32_t binding, uint32_t *out_length,
                                vyre_diag *diag)
{
    *out_length = given->count;
    if (given->kind == VYRE_BINDING_NONE) {
        *out_length = VYRE_COUNT_DECLARED;
    }
    if (info->has_count || *out_length != VYRE_COUNT_DECLARED) {
        return VYRE_OK;
    }
    if (given->kind == VYRE_BINDING_RESIDENT) {
        uint64_t rest = given->offset < resident_size ? resident_size - given->offset : 0;
        uint64_t count = rest / vyre_type_size(info->type);
        if (count > UINT32_MAX) {
            return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                          "buffer '%s' has %llu elements behind its offset, and 4294967295 are the "
                          "most. Fix: give a count",
                          info->name, (unsigned long long)count);
        }
        *out_length = (uint32_t)count;
        return VYRE_OK;
    }
    return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                  "buffer '%s' declares no count. Fix: give its number of elements", info->name);
}

static vyre_result check_resident(const vyre_binding_info *info, const vyre_binding *given,
                                  const vy_snapshot *snapshot, uint64_t resident_size,
                                  uint64_t size, uint32_t binding, vyre_diag *diag)
{
    uint32_t alignment = snapshot->info.offset_alignment;
    if (alignment && given->offset % alignment) {
        return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffer '%s' is bound at byte %llu, which is not a multiple of %u. Fix: "
                      "align the offset",
                      info->name, (unsigned long long)given->offset, (unsigned)alignment);
    }
    if (given->offset > resident_size || size > resident_size - given->offset) {
        return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffer '%s' needs bytes %llu to %llu of a resident buffer of %llu. Fix: "
                      "bind a larger buffer, or fewer elements",
                      info->name, (unsigned long long)given->offset,
                      (unsigned long long)(given->offset + size),
                      (unsigned long long)resident_size);
    }
    return VYRE_OK;
}

static vyre_result check_length(const vyre_binding_info *info, const vyre_binding *given,
                                const vy_snapshot *snapshot, uint64_t resident_size,
                                uint32_t length, uint32_t binding, vyre_diag *diag)
{
    uint64_t size = (uint64_t)length * vyre_type_size(info->type);
    if (given->kind != VYRE_BINDING_NONE && given->count != VYRE_COUNT_DECLARED &&
        given->count != length) {
        return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffer '%s' declares %u elements for these arguments and %u were bound. "
                      "Fix: bind %u, or count VYRE_COUNT_DECLARED",
                      info->name, (unsigned)length, (unsigned)given->count, (unsigned)length);
    }
    if (given->kind == VYRE_BINDING_HOST && length > 0 && is_input(info->mode) && !given->in) {
        return refuse(diag, binding, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffer '%s' is an input and has no memory. Fix: point `in` at its elements",
                      info->name);
    }
    if (given->kind == VYRE_BINDING_RESIDENT) {
        return check_resident(info, given, snapshot, resident_size, size, binding, diag);
    }
    return VYRE_OK;
}

/* Counts may name lengths of buffers declared before, parameters and the grid. */
static vyre_result bind_lengths(const vyre_kernel *kernel, const vyre_dispatch_params *params,
                                const uint64_t *resident_sizes, const uint32_t workgroup[3],
                                vy_shape *shape, vyre_diag *diag)
{
    for (uint32_t b = 0; b < params->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, b, &info);
        vyre_result code = given_length(&info, &params->bindings[b], resident_sizes[b], b,
                                        &shape->lengths[b], diag);
        if (code != VYRE_OK) {
            return code;
        }
        if (info.has_count) {
            vy_kernel_env env = {.params = params->params, .lengths = shape->lengths};
            memcpy(env.groups, shape->groups, sizeof env.groups);
            memcpy(env.workgroup, workgroup, sizeof env.workgroup);
            shape->lengths[b] = vy_kernel_eval_count(kernel, b, &env);
        }
    }
    return VYRE_OK;
}

/* ---- Grid ------------------------------------------------------------------------------------ */

static vyre_result check_grid_given(const vyre_kernel *kernel, const uint32_t workgroup[3],
                                    const vyre_dispatch_params *params, vyre_diag *diag)
{
    bool groups = is_given(params->groups), elements = is_given(params->elements);
    int32_t over = vy_kernel_grid_over(kernel), from = vy_kernel_grid_from(kernel);
    if (groups && elements) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "both groups and elements are given. Fix: give one of them");
    }
    if (over >= 0 && (groups || elements)) {
        return refuse(diag, (uint32_t)over, VYRE_ERROR_INVALID_ARGUMENT,
                      "the program has its grid over a buffer. Fix: leave groups and elements "
                      "zero");
    }
    if (from >= 0 && (groups || elements)) {
        return refuse(diag, (uint32_t)from, VYRE_ERROR_INVALID_ARGUMENT,
                      "the program has its grid from a buffer. Fix: leave groups and elements "
                      "zero");
    }
    if (vy_kernel_has_grid(kernel) && (groups || elements)) {
        return refuse(diag, VYRE_DIAG_NONE, VYRE_ERROR_INVALID_ARGUMENT,
                      "the program says its grid itself, by `grid of`. Fix: leave groups and "
                      "elements zero");
    }
    if (from < 0 && params->max_groups) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "max_groups is %u, and the program has no `grid from`. Fix: leave it "
                           "zero",
                           (unsigned)params->max_groups);
    }
    if (over < 0 && from < 0 && !vy_kernel_has_grid(kernel) && !groups && !elements) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "no grid is given. Fix: set groups or elements, at least their first "
                           "number");
    }
    uint32_t own[3];
    vy_kernel_workgroup(kernel, own);
    if (groups && memcmp(own, workgroup, sizeof own) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the pipeline overrides the workgroup size, and the grid is given in "
                           "workgroups. Fix: give the grid in elements");
    }
    return VYRE_OK;
}

static vyre_result check_grid_size(const uint32_t workgroup[3], vy_shape *shape, vyre_diag *diag)
{
    uint64_t volume = (uint64_t)workgroup[0] * workgroup[1] * workgroup[2];
    uint64_t total = volume;
    for (int i = 0; i < 3; i++) {
        if ((uint64_t)shape->groups[i] * workgroup[i] > (uint64_t)1 << 32) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "%u workgroups of %u invocations are more than 2^32 invocations in "
                               "dimension %d. Fix: split the work over several dispatches",
                               (unsigned)shape->groups[i], (unsigned)workgroup[i], i);
        }
        total *= shape->groups[i]; /* below 2^32 x 2^32 */
        if (total > UINT32_MAX) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "%u x %u x %u workgroups of %llu invocations are more than 2^32 - 1 "
                               "invocations. Fix: split the work over several dispatches",
                               (unsigned)shape->groups[0], (unsigned)shape->groups[1],
                               (unsigned)shape->groups[2], (unsigned long long)volume);
        }
    }
    shape->invocations = (uint32_t)total;
    shape->group_total = volume ? (uint32_t)(total / volume) : 0;
    return VYRE_OK;
}

/* `grid of`: workgroups as the program counts them. Such programs see the workgroup's size, so it
 * is theirs, and `elements` limits nothing. */
static vyre_result count_grid(const vyre_kernel *kernel, const uint32_t workgroup[3],
                              const vyre_dispatch_params *params, vy_shape *shape, vyre_diag *diag)
{
    vy_kernel_env env = {.params = params->params, .lengths = shape->lengths};
    memcpy(env.workgroup, workgroup, sizeof env.workgroup);
    vy_kernel_eval_grid(kernel, &env, shape->groups);
    for (int i = 0; i < 3; i++) {
        uint64_t all = (uint64_t)shape->groups[i] * workgroup[i];
        shape->elements[i] = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
    }
    return check_grid_size(workgroup, shape, diag);
}

static vyre_result bind_grid(const vyre_kernel *kernel, const uint32_t workgroup[3],
                             const vyre_dispatch_params *params, vy_shape *shape, vyre_diag *diag)
{
    if (vy_kernel_has_grid(kernel)) {
        return count_grid(kernel, workgroup, params, shape, diag);
    }
    int32_t over = vy_kernel_grid_over(kernel);
    for (int i = 0; i < 3; i++) {
        uint32_t least = over >= 0 && i == 0 ? 0 : 1;
        uint32_t groups = params->groups[i], elements = params->elements[i];
        if (over >= 0 && i == 0) {
            elements = shape->lengths[over];
        }
        if (is_given(params->groups)) {
            shape->groups[i] = groups > least ? groups : least;
            uint64_t all = (uint64_t)shape->groups[i] * workgroup[i];
            shape->elements[i] = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
            continue;
        }
        shape->elements[i] = elements > least ? elements : least;
        shape->groups[i] =
            (uint32_t)(((uint64_t)shape->elements[i] + workgroup[i] - 1) / workgroup[i]);
    }
    return check_grid_size(workgroup, shape, diag);
}

bool vy_shape_fold(const vy_snapshot *snapshot, uint64_t total, uint32_t out_groups[3])
{
    const uint32_t *most = snapshot->info.max_groups;
    uint64_t rows = (total + most[0] - 1) / most[0]; /* of at most most[0] workgroups */
    uint64_t planes = (rows + most[1] - 1) / most[1];
    if (planes > most[2]) {
        return false;
    }
    planes = planes ? planes : 1;
    rows = rows ? (rows + planes - 1) / planes : 1;
    uint64_t width = (total + rows * planes - 1) / (rows * planes);
    out_groups[0] = (uint32_t)width;
    out_groups[1] = (uint32_t)rows;
    out_groups[2] = (uint32_t)planes;
    /* Kernels count what is launched in 32 bits: the first ones would run twice. */
    return width * rows * planes <= UINT32_MAX;
}

/* What the device reads, only it knows; that whatever it may read can be launched is known here. */
static vyre_result bind_indirect(const vyre_kernel *kernel, const vy_snapshot *snapshot,
                                 const uint32_t workgroup[3], const vyre_dispatch_params *params,
                                 vy_shape *shape, vyre_diag *diag)
{
    uint32_t from = (uint32_t)vy_kernel_grid_from(kernel), launched[3];
    const uint32_t *most = snapshot->info.max_groups;
    shape->is_indirect = shape->is_folded = true;
    shape->most_groups =
        vy_kernel_grid_most(workgroup[0] * workgroup[1] * workgroup[2], params->max_groups);
    if (shape->lengths[from] < 3) {
        return refuse(diag, from, VYRE_ERROR_INVALID_ARGUMENT,
                      "the buffer that gives the grid has %u elements. Fix: bind at least the "
                      "workgroups in x, y and z",
                      (unsigned)shape->lengths[from]);
    }
    if (!vy_shape_fold(snapshot, shape->most_groups, launched)) {
        return refuse(diag, from, VYRE_ERROR_UNSUPPORTED_FEATURE,
                      "the buffer that gives the grid may have up to %u workgroups, more than the "
                      "device's maxComputeWorkGroupCount of %u x %u x %u. Fix: set max_groups to "
                      "what the device launches at once",
                      (unsigned)shape->most_groups, (unsigned)most[0], (unsigned)most[1],
                      (unsigned)most[2]);
    }
    return VYRE_OK;
}

/* A grid that the device cannot launch becomes a nearly square one that counts linearly. */
static vyre_result fold(const vy_snapshot *snapshot, vy_shape *shape, vyre_diag *diag)
{
    const uint32_t *most = snapshot->info.max_groups;
    shape->is_folded = false;
    for (int i = 0; i < 3; i++) {
        shape->launched[i] = shape->groups[i];
        shape->is_folded = shape->is_folded || shape->groups[i] > most[i];
    }
    if (shape->is_folded && !vy_shape_fold(snapshot, shape->group_total, shape->launched)) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "%u workgroups cannot be launched at once with the device's "
                           "maxComputeWorkGroupCount of %u x %u x %u. Fix: use larger workgroups, "
                           "or split the work over several dispatches",
                           (unsigned)shape->group_total, (unsigned)most[0], (unsigned)most[1],
                           (unsigned)most[2]);
    }
    return VYRE_OK;
}

static vyre_result check_counts(const vyre_kernel *kernel, const vyre_dispatch_params *params,
                                vyre_diag *diag)
{
    uint32_t bindings = vyre_kernel_binding_count(kernel);
    uint32_t count = vyre_kernel_param_words(kernel);
    if (params->binding_count != bindings || (bindings && !params->bindings)) {
        return refuse(diag, VYRE_DIAG_NONE, VYRE_ERROR_INVALID_ARGUMENT,
                      "the program has %u buffers and %u were bound. Fix: bind each buffer "
                      "that is not shared, in declaration order",
                      (unsigned)bindings, (unsigned)(params->bindings ? params->binding_count : 0));
    }
    if (params->param_count != count || (count && !params->params)) {
        return refuse(diag, VYRE_DIAG_NONE, VYRE_ERROR_INVALID_ARGUMENT,
                      "the program's parameters take %u words and %u were given. Fix: give one "
                      "word for each param, in declaration order (64 bits take two, a vector one "
                      "for each component)",
                      (unsigned)count, (unsigned)(params->params ? params->param_count : 0));
    }
    return VYRE_OK;
}

vyre_result vy_shape_resolve(const vyre_kernel *kernel, const vy_snapshot *snapshot,
                             const uint32_t workgroup[3], const vyre_dispatch_params *params,
                             const uint64_t *resident_sizes, vy_shape *shape, vyre_diag *diag)
{
    *shape = (vy_shape){.passes = params->passes ? params->passes : vy_kernel_passes(kernel)};
    vyre_result code = check_counts(kernel, params, diag);
    for (uint32_t b = 0; code == VYRE_OK && b < params->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, b, &info);
        code = check_kind(&info, &params->bindings[b], b, diag);
    }
    if (code == VYRE_OK) {
        code = check_grid_given(kernel, workgroup, params, diag);
    }
    /* Lengths may depend on the grid, and the grid on lengths that do not. */
    if (code == VYRE_OK) {
        code = bind_lengths(kernel, params, resident_sizes, workgroup, shape, diag);
    }
    bool is_indirect = vy_kernel_grid_from(kernel) >= 0;
    if (code == VYRE_OK) {
        code = is_indirect ? bind_indirect(kernel, snapshot, workgroup, params, shape, diag)
                           : bind_grid(kernel, workgroup, params, shape, diag);
    }
    int32_t over = vy_kernel_grid_over(kernel);
    uint32_t before = over >= 0 ? shape->lengths[over] : 0;
    if (code == VYRE_OK) {
        code = bind_lengths(kernel, params, resident_sizes, workgroup, shape, diag);
    }
    if (code == VYRE_OK && over >= 0 && shape->lengths[over] != before) {
        code = refuse(diag, (uint32_t)over, VYRE_ERROR_INVALID_ARGUMENT,
                      "the buffer that gives the grid has a count that depends on the grid. Fix: "
                      "take its count from a parameter or another buffer");
    }
    for (uint32_t b = 0; code == VYRE_OK && b < params->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, b, &info);
        code = check_length(&info, &params->bindings[b], snapshot, resident_sizes[b],
                            shape->lengths[b], b, diag);
    }
    return code == VYRE_OK && !is_indirect ? fold(snapshot, shape, diag) : code;
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

static uint64_t written_bindings(const vyre_kernel *kernel)
{
    uint64_t written = 0;
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        written |= vy_kernel_get_segment(kernel, s)->writes;
    }
    for (uint32_t b = 0; b < vyre_kernel_binding_count(kernel); b++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, b, &info);
        if (info.mode == VYRE_BUFFER_OUT || is_scratch(info.mode)) {
            written |= (uint64_t)1 << b; /* made zero */
        }
    }
    return written;
}

static bool overlap(const vy_extent *a, const vy_extent *b)
{
    return a->owner && a->owner == b->owner && a->size && b->size &&
           a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static vyre_result check_pair(const vyre_kernel *kernel, uint64_t written, uint32_t a, uint32_t b,
                              vyre_diag *diag)
{
    vyre_binding_info first, second;
    vyre_kernel_binding(kernel, a, &first);
    vyre_kernel_binding(kernel, b, &second);
    int32_t flag = vy_kernel_until(kernel);
    if (flag == (int32_t)a || flag == (int32_t)b) {
        return refuse(diag, b, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffers '%s' and '%s' overlap, and one of them is the `until` flag. Fix: "
                      "bind the flag to memory of its own",
                      first.name, second.name);
    }
    bool a_reads = first.mode == VYRE_BUFFER_IN || first.mode == VYRE_BUFFER_UNIFORM;
    bool b_reads = second.mode == VYRE_BUFFER_IN || second.mode == VYRE_BUFFER_UNIFORM;
    bool a_written = written >> a & 1, b_written = written >> b & 1;
    if (!a_written && !b_written) {
        return VYRE_OK;
    }
    if (a_reads || b_reads) {
        return refuse(diag, b, VYRE_ERROR_INVALID_ARGUMENT,
                      "buffers '%s' and '%s' overlap: one is read as memory that does not change, "
                      "the other is written. Fix: bind separate ranges, or declare '%s' inout",
                      first.name, second.name, a_reads ? first.name : second.name);
    }
    return VYRE_OK;
}

vyre_result vy_shape_overlaps(const vyre_kernel *kernel, const vy_extent *extents,
                              uint64_t *out_alias, bool *out_is_aliased, vyre_diag *diag)
{
    uint32_t count = vyre_kernel_binding_count(kernel);
    uint64_t written = written_bindings(kernel);
    *out_is_aliased = false;
    for (uint32_t b = 0; b < count; b++) {
        out_alias[b] = (uint64_t)1 << b;
    }
    for (uint32_t b = 0; b < count; b++) {
        for (uint32_t a = 0; a < b; a++) {
            if (!overlap(&extents[a], &extents[b])) {
                continue;
            }
            vyre_result code = check_pair(kernel, written, a, b, diag);
            if (code != VYRE_OK) {
                return code;
            }
            *out_is_aliased = *out_is_aliased || (written >> a & 1) || (written >> b & 1);
            out_alias[a] |= (uint64_t)1 << b;
            out_alias[b] |= (uint64_t)1 << a;
        }
    }
    return VYRE_OK;
}

/* ---- Parameter block ------------------------------------------------------------------------- */

uint32_t vy_shape_block_words(const vyre_kernel *kernel)
{
    return vy_param_words(vyre_kernel_binding_count(kernel), vyre_kernel_param_words(kernel));
}

void vy_shape_fill_block(const vyre_kernel *kernel, const vy_shape *shape, const uint32_t *params,
                         uint32_t pass_base, uint32_t *words)
{
    uint32_t bindings = vyre_kernel_binding_count(kernel);
    uint32_t count = vyre_kernel_param_words(kernel);
    memset(words, 0, vy_param_words(bindings, count) * sizeof *words);
    words[VY_PARAM_PASS_BASE] = pass_base;
    for (uint32_t i = 0; i < 3; i++) {
        words[VY_PARAM_GROUPS + i] = shape->groups[i];
        words[VY_PARAM_ELEMENTS + i] = shape->elements[i];
    }
    words[VY_PARAM_GROUP_TOTAL] = shape->group_total;
    words[VY_PARAM_INVOCATIONS] = shape->invocations;
    for (uint32_t b = 0; b < bindings; b++) {
        words[VY_PARAM_LENGTHS + b] = shape->lengths[b];
    }
    uint32_t *first = words + VY_PARAM_LENGTHS + bindings;
    for (uint32_t p = 0; p < count; p++) {
        first[p] = params[p];
    }
    for (uint32_t p = 0; p < vyre_kernel_param_count(kernel); p++) {
        if (vyre_kernel_param_type(kernel, p) == VYRE_TYPE_BOOL) {
            uint32_t *word = &first[vyre_kernel_param_word(kernel, p)];
            *word = *word != 0;
        }
    }
}

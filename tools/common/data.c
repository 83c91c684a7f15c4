/* From what the command line says to the arrays of one run. Reads a program, a specification and
 * the files that it names. Which lengths follow from which is the interpreter's own rule. */
#include "tools/common/run.h"

#include "codegen/interp/machine.h"
#include "tools/common/npy.h"
#include "tools/common/value.h"

#include <stdlib.h>
#include <string.h>

static const vy_loc nowhere = {0, 0};

/* Names of buffers (0: inputs, 1: those without a stated count that are outputs only, 2: outputs)
 * or of parameters (3), for messages. */
typedef enum name_kind { NAME_INPUT, NAME_SIZED, NAME_OUTPUT, NAME_PARAM } name_kind;

static bool is_of_kind(const vy_buffer *buffer, name_kind kind)
{
    vyre_buffer_mode mode = (vyre_buffer_mode)buffer->mode;
    switch (kind) {
    case NAME_INPUT:
        return vy_buffer_mode_is_input(mode);
    case NAME_SIZED:
        return mode == VYRE_BUFFER_OUT && buffer->count.root == 0;
    case NAME_OUTPUT:
        return vy_buffer_mode_is_output(mode);
    default:
        return false;
    }
}

static void add_name(char *text, size_t size, const char *name)
{
    size_t length = strlen(text);
    if (length + strlen(name) + 8 < size) {
        snprintf(text + length, size - length, "%s%s", length ? ", " : "", name);
    }
}

static vyre_result unknown_name(const vyre_program *program, name_kind kind, const char *name,
                                vyre_diag *diag)
{
    static const char *const what[] = {"input buffer", "out buffer without a stated count",
                                       "output buffer", "parameter"};
    static const char *const option[] = {"--in", "--size", "--out", "--param"};
    char names[400] = "";
    for (uint32_t i = 1; kind == NAME_PARAM && i < program->params.count; i++) {
        add_name(names, sizeof names, program->params.data[i].name);
    }
    for (uint32_t i = 1; kind != NAME_PARAM && i < program->buffers.count; i++) {
        if (is_of_kind(&program->buffers.data[i], kind)) {
            add_name(names, sizeof names, program->buffers.data[i].name);
        }
    }
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                       "the program has no %s '%.100s'. Fix: %s %s%s", what[kind], name,
                       names[0] ? "name one of:" : "leave out", names[0] ? "" : option[kind],
                       names);
}

typedef struct assignments {
    const vy_assignment *data;
    uint32_t count;
} assignments;

static const vy_assignment *find_assignment(assignments list, const char *name)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (strcmp(list.data[i].name, name) == 0) {
            return &list.data[i];
        }
    }
    return NULL;
}

static bool names_something(const vyre_program *program, name_kind kind, const char *name)
{
    for (uint32_t i = 1; kind == NAME_PARAM && i < program->params.count; i++) {
        if (strcmp(program->params.data[i].name, name) == 0) {
            return true;
        }
    }
    for (uint32_t i = 1; kind != NAME_PARAM && i < program->buffers.count; i++) {
        if (is_of_kind(&program->buffers.data[i], kind) &&
            strcmp(program->buffers.data[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static vyre_result check_names(const vyre_program *program, assignments list, name_kind kind,
                               vyre_diag *diag)
{
    for (uint32_t i = 0; i < list.count; i++) {
        const char *name = list.data[i].name;
        if (!names_something(program, kind, name)) {
            return unknown_name(program, kind, name, diag);
        }
        if (find_assignment(list, name) != &list.data[i]) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "'%.100s' is given twice. Fix: give it once", name);
        }
    }
    return VYRE_OK;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* One word for each, two for 64 bits, one for each component of a vector. */
static void put_words(vyre_type type, const vy_value *value, uint32_t *words)
{
    if (vy_type_width(type) == 64) {
        words[0] = (uint32_t)value->bits[0];
        words[1] = (uint32_t)(value->bits[0] >> 32);
        return;
    }
    for (uint32_t c = 0; c < vy_type_components(type); c++) {
        words[c] = (uint32_t)value->bits[c];
    }
}

static vyre_result make_params(const vyre_program *program, const vy_run_spec *spec,
                               vy_run_data *data, vyre_diag *diag)
{
    assignments given = {spec->params.data, spec->params.count};
    data->param_words = program->param_words;
    data->params = calloc((size_t)data->param_words + 1, sizeof *data->params);
    if (!data->params) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 1; i < program->params.count; i++) {
        const vy_named *param = &program->params.data[i];
        const vy_assignment *given_value = find_assignment(given, param->name);
        vyre_type type = (vyre_type)param->type;
        if (!given_value) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "parameter '%s' has no value. Fix: give --param %s=V", param->name,
                               param->name);
        }
        vy_value value;
        vyre_result result =
            vy_value_parse(given_value->value, strlen(given_value->value), type, &value, diag);
        if (result != VYRE_OK) {
            return result;
        }
        put_words(type, &value, data->params + param->word);
    }
    return VYRE_OK;
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* Says in front of a message which buffer it is about. */
static vyre_result about_buffer(const vy_run_buffer *buffer, vyre_result result, vyre_diag *diag)
{
    if (result == VYRE_ERROR_INVALID_ARGUMENT && diag) {
        char message[VYRE_DIAG_MESSAGE_SIZE];
        memcpy(message, diag->message, sizeof message);
        message[sizeof message - 1] = 0;
        snprintf(diag->message, sizeof diag->message, "buffer '%.40s': %.700s", buffer->name,
                 message);
    }
    return result;
}

static vyre_result read_raw(const char *bytes, size_t size, vy_run_buffer *buffer, vyre_diag *diag)
{
    uint32_t element = vyre_type_size(buffer->type);
    if (size % element || size / element >= UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "a raw file of %zu bytes is no array of %u-byte elements. Fix: give one "
                           "whose size is a multiple of %u, or a .npy file",
                           size, element, element);
    }
    buffer->in = malloc(size ? size : 1);
    if (!buffer->in) {
        return vy_diag_no_memory(diag);
    }
    if (size) {
        memcpy(buffer->in, bytes, size);
    }
    buffer->count = (uint32_t)(size / element);
    return VYRE_OK;
}

static vyre_result read_file(const vy_run_spec *spec, const char *path, vy_run_buffer *buffer,
                             vyre_diag *diag)
{
    const char *place = spec->beside ? vy_path_beside(spec->arena, spec->beside, path) : path;
    if (!place) {
        return vy_diag_no_memory(diag);
    }
    char *bytes;
    size_t size;
    vyre_result result = vy_file_read(place, (size_t)17 << 30, &bytes, &size, diag);
    if (result != VYRE_OK) {
        return result;
    }
    result = vy_path_has_suffix(place, ".npy")
                 ? vy_npy_parse(bytes, size, buffer->type, &buffer->in, &buffer->count, diag)
                 : read_raw(bytes, size, buffer, diag);
    free(bytes);
    return result;
}

/* Lists and files say their length; a generator's is given, or UINT32_MAX: as declared. */
static vyre_result take_contents(const vy_run_spec *spec, const vy_assignment *given,
                                 bool has_declared, vy_run_buffer *buffer, vyre_diag *diag)
{
    if (vy_value_is_generator(given->value)) {
        buffer->count = given->has_count ? given->count : UINT32_MAX;
        if (!given->has_count && !has_declared) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "a generator needs a number of elements. Fix: write --in "
                               "%s[COUNT]=%s",
                               buffer->name, given->value);
        }
        return VYRE_OK;
    }
    vyre_result result = given->value[0] == '@' ? read_file(spec, given->value + 1, buffer, diag)
                                                : vy_list_parse(given->value, buffer->type,
                                                                &buffer->in, &buffer->count, diag);
    if (result == VYRE_OK && given->has_count && given->count != buffer->count) {
        result = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                             "%u elements are stated and %u are given. Fix: leave [%u] out",
                             given->count, buffer->count, given->count);
    }
    return result;
}

static vyre_result take_buffer(const vy_run_spec *spec, const vy_buffer *declared,
                               vy_run_buffer *buffer, vyre_diag *diag)
{
    bool has_declared = declared->count.root != 0;
    *buffer = (vy_run_buffer){.name = declared->name,
                              .mode = (vyre_buffer_mode)declared->mode,
                              .type = (vyre_type)declared->type,
                              .count = UINT32_MAX};
    if (vy_buffer_mode_is_input(buffer->mode)) {
        assignments inputs = {spec->inputs.data, spec->inputs.count};
        const vy_assignment *given = find_assignment(inputs, buffer->name);
        if (!given) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "buffer '%s' is an input and has no contents. Fix: give --in %s=V, "
                               "or --in %s[COUNT]=zero",
                               buffer->name, buffer->name, buffer->name);
        }
        return about_buffer(buffer, take_contents(spec, given, has_declared, buffer, diag), diag);
    }
    if (!has_declared && buffer->mode == VYRE_BUFFER_OUT) {
        assignments sizes = {spec->sizes.data, spec->sizes.count};
        const vy_assignment *given = find_assignment(sizes, buffer->name);
        if (!given) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "the program does not state how many elements out buffer '%s' has. "
                               "Fix: give --size %s=COUNT",
                               buffer->name, buffer->name);
        }
        buffer->count = given->count;
    }
    return VYRE_OK;
}

/* ---- Lengths --------------------------------------------------------------------------------- */

static vyre_result bind_lengths(const vyre_program *program, vy_run_data *data, vy_arena *arena,
                                vyre_diag *diag)
{
    uint32_t there[3] = {0}; /* stands for memory that is made once its size is known */
    vyre_host_buffer *hosts = vy_arena_alloc(arena, (size_t)data->buffer_count + 1, sizeof *hosts);
    if (!hosts) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        hosts[i] = (vyre_host_buffer){data->buffers[i].in ? data->buffers[i].in : there,
                                      data->buffers[i].count};
    }
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = hosts,
                                 .buffer_count = data->buffer_count,
                                 .params = data->params,
                                 .param_count = data->param_words,
                                 .passes = data->passes,
                                 .max_groups = data->max_groups};
    memcpy(params.groups, data->groups, sizeof params.groups);
    memcpy(params.elements, data->elements, sizeof params.elements);
    memcpy(params.workgroup, data->workgroup, sizeof params.workgroup);
    vy_plan plan;
    vy_bound bound;
    vyre_result result = vy_plan_build(program, VY_PRINTS_DROPPED, arena, &plan, diag);
    if (result == VYRE_OK) {
        result = vy_bind(program, &params, &plan, arena, &bound, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        data->buffers[i].count = bound.lengths[i];
    }
    data->invocations = (uint64_t)bound.group_count * bound.volume;
    return VYRE_OK;
}

static vyre_result generate(const vy_run_spec *spec, vy_run_data *data, vyre_diag *diag)
{
    assignments inputs = {spec->inputs.data, spec->inputs.count};
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        vy_run_buffer *buffer = &data->buffers[i];
        if (!vy_buffer_mode_is_input(buffer->mode) || buffer->in) {
            continue;
        }
        size_t size = 0;
        bool fits = vy_mul_size(buffer->count, vyre_type_size(buffer->type), &size);
        buffer->in = fits ? malloc(size ? size : 1) : NULL;
        if (!buffer->in) {
            return vy_diag_no_memory(diag);
        }
        const vy_assignment *given = find_assignment(inputs, buffer->name);
        vyre_result result = vy_value_generate(given ? given->value : "zero", buffer->type,
                                               buffer->in, buffer->count, diag);
        if (result != VYRE_OK) {
            return about_buffer(buffer, result, diag);
        }
    }
    return VYRE_OK;
}

static vyre_result check_spec(const vyre_program *program, const vy_run_spec *spec, vyre_diag *diag)
{
    assignments lists[] = {{spec->inputs.data, spec->inputs.count},
                           {spec->sizes.data, spec->sizes.count},
                           {spec->outputs.data, spec->outputs.count},
                           {spec->params.data, spec->params.count}};
    for (uint32_t i = 0; i < VY_COUNT_OF(lists); i++) {
        vyre_result result = check_names(program, lists[i], (name_kind)i, diag);
        if (result != VYRE_OK) {
            return result;
        }
    }
    if (program->grid_from && (spec->groups[0] || spec->elements[0])) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program has its grid from buffer '%s'. Fix: leave --grid and "
                           "--elements out",
                           program->buffers.data[program->grid_from].name);
    }
    if (program->grid_of[0].root && (spec->groups[0] || spec->elements[0])) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program says its grid itself, by `grid of`. Fix: leave --grid and "
                           "--elements out");
    }
    if (!program->grid_over && !program->grid_from && !program->grid_of[0].root &&
        !spec->groups[0] && !spec->elements[0]) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program does not state its grid. Fix: give --grid in workgroups or "
                           "--elements in invocations");
    }
    if (program->grid_over && (spec->groups[0] || spec->elements[0])) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the program has its grid over buffer '%s'. Fix: leave --grid and "
                           "--elements out",
                           program->buffers.data[program->grid_over].name);
    }
    return VYRE_OK;
}

vyre_result vy_run_data_make(const vyre_program *program, const vy_run_spec *spec,
                             vy_run_data *out_data, vyre_diag *diag)
{
    *out_data = (vy_run_data){.buffer_count = program->binding_count,
                              .passes = spec->passes,
                              .max_groups = spec->max_groups,
                              .strategy = spec->strategy};
    memcpy(out_data->groups, spec->groups, sizeof out_data->groups);
    memcpy(out_data->elements, spec->elements, sizeof out_data->elements);
    memcpy(out_data->workgroup, spec->workgroup, sizeof out_data->workgroup);
    out_data->buffers = calloc((size_t)program->binding_count + 1, sizeof *out_data->buffers);
    if (!out_data->buffers) {
        out_data->buffer_count = 0;
        return vy_diag_no_memory(diag);
    }
    vyre_result result = check_spec(program, spec, diag);
    if (result == VYRE_OK) {
        result = make_params(program, spec, out_data, diag);
    }
    for (uint32_t i = 1; i < program->buffers.count && result == VYRE_OK; i++) {
        const vy_buffer *declared = &program->buffers.data[i];
        if (declared->mode != VYRE_BUFFER_SHARED) {
            result = take_buffer(spec, declared, &out_data->buffers[declared->binding], diag);
        }
    }
    /* Lengths first; then the grid, where it is among the contents. */
    for (int i = 0; i < 2 && result == VYRE_OK; i++) {
        vy_arena arena;
        vy_arena_init(&arena, NULL);
        result = bind_lengths(program, out_data, &arena, diag);
        vy_arena_finish(&arena);
        if (result == VYRE_OK && i == 0) {
            result = generate(spec, out_data, diag);
        }
    }
    return result;
}

void vy_run_data_finish(vy_run_data *data)
{
    for (uint32_t i = 0; data->buffers && i < data->buffer_count; i++) {
        free(data->buffers[i].in);
    }
    free(data->buffers);
    free(data->params);
    *data = (vy_run_data){0};
}

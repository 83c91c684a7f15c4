/* Interpreter against device for generated programs; see differential.h. */
#include "tests/support/differential.h"

#include "codegen/kernel.h"
#include "vyre/dispatch.h"
#include "vyre/interp.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BINDINGS VYRE_MAX_BUFFERS
#define MAX_WORDS    (4u * VY_GEN_TYPES)

typedef struct slot {
    vyre_binding_info info;
    uint32_t count, size; /* elements, bytes of one */
    uint8_t *input, *expected, *got;
    vyre_buffer resident;
} slot;

typedef struct run {
    vyre_device *device;
    const vy_generated *info;
    const vy_mode *mode;
    const vy_hooks *hooks;
    vy_comparison *out;
    vyre_program *program, *reference; /* the device's, the interpreter's */
    vyre_kernel *kernel;
    uint32_t **optimised;
    vyre_pipeline *pipeline;
    slot slots[MAX_BINDINGS];
    uint32_t count;
    int alias[2]; /* slots of mine_a and mine_b, or -1 */
    uint32_t words[MAX_WORDS], word_count;
    vyre_interp_report wanted;
    vyre_report report;
    vyre_diag diag;
} run;

static bool fail(run *r, const char *step)
{
    vyre_result code = r->diag.code;
    r->out->verdict = code == VYRE_ERROR_UNSUPPORTED_FEATURE ? VY_SKIPPED : VY_BROKEN;
    snprintf(r->out->message, sizeof r->out->message, "%s: %s:%u:%u: %s", step,
             vyre_result_name(code), r->diag.line, r->diag.column, r->diag.message);
    return false;
}

static bool broken(run *r, const char *what)
{
    r->out->verdict = VY_BROKEN;
    snprintf(r->out->message, sizeof r->out->message, "%s", what);
    return false;
}

/* ---- Texts ------------------------------------------------------------------------------------
 */

static vyre_result parse_copy(const char *text, size_t size, const run *r, bool is_device,
                              vyre_program **out_program, vyre_diag *diag)
{
    char *copy = calloc(2, size + 1);
    if (!copy) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(copy, text, size);
    /* Where both are one memory the interpreter is told so by their names. */
    for (char *at = copy; !is_device && r->mode->aliased && (at = strstr(at, "mine_b["));) {
        at[5] = 'a';
    }
    if (r->hooks && is_device && r->hooks->device_text) {
        r->hooks->device_text(r->hooks->user, copy);
    }
    if (r->hooks && !is_device && r->hooks->interpreter_text) {
        r->hooks->interpreter_text(r->hooks->user, copy);
    }
    vyre_result code = vyre_program_parse(copy, strlen(copy), "generated", NULL, out_program, diag);
    free(copy);
    return code;
}

/* ---- Kernel -----------------------------------------------------------------------------------
 */

static bool judge_words(run *r, const char *when)
{
    for (uint32_t s = 0; s < vyre_kernel_segment_count(r->kernel); s++) {
        vyre_segment_info info;
        char message[400] = "", text[500];
        vyre_kernel_segment(r->kernel, s, &info);
        if (!r->hooks->words(info.words, info.word_count, r->mode->target, message,
                             sizeof message)) {
            snprintf(text, sizeof text, "segment %u%s is not valid: %s", s, when, message);
            return broken(r, text);
        }
    }
    return true;
}

static bool compile_words(run *r)
{
    vyre_kernel_params params;
    vyre_device_kernel_params(r->device, &params);
    params.interface = r->mode->interface;
    params.target = r->mode->target;
    params.aliased = r->mode->aliased;
    params.prints = r->mode->prints && !r->mode->whole && !r->mode->stays;
    params.debug = r->mode->debug ? VYRE_DEBUG_INFO_FULL : VYRE_DEBUG_INFO_NONE;
    params.aggregate = r->mode->joined ? VYRE_AGGREGATE_ALL : 0;
    params.optimization = r->mode->plain ? VYRE_OPTIMIZATION_NONE : VYRE_OPTIMIZATION_FULL;
    return vyre_kernel_compile(r->program, &params, &r->kernel, &r->diag) == VYRE_OK ||
           fail(r, "compile");
}

/* Words that spirv-opt made, and that are right; or ours, where it is known to make wrong ones: of
 * 2025.1 (Debian 13) makes constants of 16 bits where a module only stores and loads such, and each
 * leaves where a function is debugged behind the block that it puts first. */
static bool judge_optimised(run *r)
{
    static const char *const faults[] = {"Cannot form constants of 8- or 16-bit types",
                                         "DebugFunctionDefinition: must be in the entry basic"};
    vy_comparison before = *r->out;
    if (!r->hooks || !r->hooks->words || judge_words(r, ", optimised,")) {
        return true;
    }
    if (!strstr(r->out->message, faults[0]) && !strstr(r->out->message, faults[1])) {
        return false;
    }
    *r->out = before;
    vyre_kernel_destroy(&r->kernel);
    vy_optimised_free(&r->optimised);
    return compile_words(r);
}

static bool compile(run *r)
{
    if (!compile_words(r)) {
        return false;
    }
    if (r->hooks && r->hooks->words && !judge_words(r, "")) {
        return false;
    }
    /* Distributions' spirv-opt does not know this mode. */
    bool is_maximal =
        vy_kernel_get_subgroups(r->kernel).reconvergence == VYRE_RECONVERGENCE_MAXIMAL;
    if (!r->mode->optimised || is_maximal) {
        return true;
    }
    if (!vy_optimise_kernel(r->kernel, r->mode->target, &r->optimised)) {
        return broken(r, "spirv-opt failed");
    }
    return judge_optimised(r);
}

/* ---- Memory -----------------------------------------------------------------------------------
 */

static bool prepare_slot(run *r, uint32_t index)
{
    slot *s = &r->slots[index];
    vyre_kernel_binding(r->kernel, index, &s->info);
    uint32_t row = vy_generate_find_type(vyre_type_keyword(s->info.type));
    vy_kernel_env env = {.params = r->words};
    uint32_t no_lengths[MAX_BINDINGS] = {0};
    env.lengths = no_lengths;
    s->size = vyre_type_size(s->info.type);
    s->count =
        s->info.has_count ? vy_kernel_eval_count(r->kernel, index, &env) : r->info->lengths[row];
    bool has_input = s->info.mode == VYRE_BUFFER_IN || s->info.mode == VYRE_BUFFER_UNIFORM ||
                     s->info.mode == VYRE_BUFFER_INOUT;
    bool has_output = s->info.mode == VYRE_BUFFER_OUT || s->info.mode == VYRE_BUFFER_INOUT;
    size_t bytes = (size_t)s->count * s->size;
    if (has_input) {
        s->input = calloc(s->count + 1u, 16);
        for (uint32_t e = 0; s->input && e < s->count; e++) {
            vy_generate_input(r->info, row, e, s->input + (size_t)e * s->size);
        }
        uint32_t sizes[3];
        vy_generate_sizes(r->info, sizes);
        if (s->input && vy_generate_is_sizes(s->info.name)) {
            memcpy(s->input, sizes, s->count < 3 ? s->count * sizeof *sizes : sizeof sizes);
        }
    }
    if (has_output) {
        s->expected = malloc(bytes + 1);
        s->got = malloc(bytes + 1);
    }
    if ((has_input && !s->input) || (has_output && (!s->expected || !s->got))) {
        return broken(r, "out of memory");
    }
    if (has_output) {
        memset(s->expected, 0xa5, bytes);
        memset(s->got, 0x5a, bytes);
        if (has_input && bytes) {
            memcpy(s->expected, s->input, bytes);
        }
    }
    return true;
}

static bool prepare(run *r)
{
    for (uint32_t p = 0; p < vyre_kernel_param_count(r->kernel); p++) {
        vyre_type type = vyre_kernel_param_type(r->kernel, p);
        const uint64_t *bits = r->info->params[vy_generate_find_type(vyre_type_keyword(type))];
        for (uint32_t w = 0; w < (vyre_type_size(type) + 3) / 4 && r->word_count < MAX_WORDS; w++) {
            r->words[r->word_count++] = (uint32_t)(bits[w / 2] >> 32 * (w % 2));
        }
    }
    r->count = vyre_kernel_binding_count(r->kernel);
    r->alias[0] = r->alias[1] = -1;
    for (uint32_t i = 0; i < r->count && i < MAX_BINDINGS; i++) {
        if (!prepare_slot(r, i)) {
            return false;
        }
    }
    if (r->mode->aliased) {
        r->alias[0] = vyre_kernel_find_binding(r->kernel, "mine_a");
        r->alias[1] = vyre_kernel_find_binding(r->kernel, "mine_b");
    }
    if (r->alias[0] < 0 || r->alias[1] < 0) {
        r->alias[0] = r->alias[1] = -1;
    }
    return true;
}

/* ---- Runs -------------------------------------------------------------------------------------
 */

static bool interpret(run *r)
{
    vyre_device_info device_info;
    vyre_host_buffer buffers[MAX_BINDINGS];
    vyre_device_get_info(r->device, &device_info);
    for (uint32_t i = 0; i < r->count; i++) {
        const slot *s = &r->slots[i];
        bool is_scratch = !s->input && !s->expected;
        buffers[i].data = s->expected ? s->expected : s->input;
        buffers[i].count = is_scratch ? UINT32_MAX : s->count;
    }
    vyre_interp_params params = {.struct_size = sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = r->count,
                                 .params = r->words,
                                 .param_count = r->word_count,
                                 .flush_denormals = device_info.denormals == VYRE_ANSWER_NO,
                                 .max_groups = vy_generate_max_groups(r->info),
                                 .subgroup_width = device_info.subgroup_size,
                                 .detect_races = 1};
    memcpy(params.workgroup, r->info->workgroup, sizeof params.workgroup);
    if (r->info->grid == VY_GRID_GROUPS) {
        memcpy(params.groups, r->info->groups, sizeof params.groups);
    } else if (r->info->grid == VY_GRID_ELEMENTS) {
        memcpy(params.elements, r->info->elements, sizeof params.elements);
    }
    if (vyre_interp_run(r->reference, &params, &r->wanted, &r->diag) != VYRE_OK) {
        return fail(r, "interpreter");
    }
    if (r->wanted.race_count) {
        char text[900];
        snprintf(text, sizeof text, "the program races: line %u: %s", r->wanted.first_race.line,
                 r->wanted.first_race.message);
        return broken(r, text);
    }
    return true;
}

/* A resident buffer with the inputs, poisoned where the program makes it zero itself. */
static bool make_resident(run *r, uint32_t index, vyre_binding *binding)
{
    slot *s = &r->slots[index];
    uint64_t size = (uint64_t)s->count * s->size, rounded = (size + 3) / 4 * 4;
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = rounded ? rounded : 4;
    const void *data = s->input ? s->input : s->got;
    if (vyre_buffer_create(r->device, &params, &s->resident, &r->diag) != VYRE_OK ||
        vyre_buffer_upload(r->device, s->resident, 0, data, size, &r->diag) != VYRE_OK) {
        return fail(r, "resident buffer");
    }
    binding->kind = VYRE_BINDING_RESIDENT;
    binding->buffer = s->resident;
    binding->in = NULL;
    return true;
}

static bool bind(run *r, vyre_binding *bindings)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const slot *s = &r->slots[i];
        bool is_scratch = !s->input && !s->expected;
        bool is_alias = (int)i == r->alias[0] || (int)i == r->alias[1];
        bindings[i].kind = is_scratch ? VYRE_BINDING_NONE : VYRE_BINDING_HOST;
        bindings[i].count = is_scratch ? VYRE_COUNT_DECLARED : s->count;
        bindings[i].in = s->input;
        bindings[i].out = s->got;
        if (is_alias && (int)i == r->alias[1]) {
            bindings[i] = bindings[r->alias[0]];
            bindings[i].out = s->got;
        } else if (!is_scratch && (r->mode->resident || is_alias) &&
                   !make_resident(r, i, &bindings[i])) {
            return false;
        }
    }
    return true;
}

static bool can_be_whole(const run *r)
{
    const uint32_t *groups = r->wanted.groups;
    return !vy_kernel_workgroup_hindrance(r->kernel) && groups[0] == 1 && groups[1] == 1 &&
           groups[2] == 1;
}

/* Runs it as the mode wants, where that can be. */
static bool run_params(run *r, vyre_dispatch_params *params)
{
    static const char *const names[] = {"auto", "replay", "workgroup", "persistent"};
    params->strategy = VYRE_STRATEGY_REPLAY;
    if (r->mode->whole && can_be_whole(r)) {
        params->strategy = VYRE_STRATEGY_WORKGROUP;
    } else if (r->mode->stays) {
        params->strategy = VYRE_STRATEGY_PERSISTENT;
    }
    params->coarsening = r->mode->coarse ? VYRE_COARSENING_ALWAYS : VYRE_COARSENING_NEVER;
    vyre_result code = vyre_dispatch(r->pipeline, params, &r->report, &r->diag);
    if (code == VYRE_ERROR_INVALID_ARGUMENT && r->mode->stays &&
        strstr(r->diag.message, "cannot run by workgroups that stay")) {
        params->strategy = VYRE_STRATEGY_REPLAY;
        code = vyre_dispatch(r->pipeline, params, &r->report, &r->diag);
    }
    if (code != VYRE_OK) {
        return fail(r, "dispatch");
    }
    if (strcmp(r->report.strategy, names[params->strategy]) != 0) {
        return broken(r, "the strategy is not the one asked for");
    }
    r->out->is_whole = params->strategy == VYRE_STRATEGY_WORKGROUP;
    r->out->has_stayed = params->strategy == VYRE_STRATEGY_PERSISTENT;
    r->out->is_coarse = r->report.is_coarse != 0;
    return true;
}

static bool dispatch(run *r)
{
    vyre_pipeline_params pipeline_params;
    vyre_pipeline_params_init(&pipeline_params);
    pipeline_params.bindings = r->mode->interface == VYRE_INTERFACE_ADDRESS
                                   ? VYRE_BINDINGS_ADDRESS
                                   : VYRE_BINDINGS_DESCRIPTOR;
    memcpy(pipeline_params.workgroup, r->info->workgroup, sizeof pipeline_params.workgroup);
    if (vyre_pipeline_create(r->device, r->kernel, &pipeline_params, &r->pipeline, &r->diag) !=
        VYRE_OK) {
        return fail(r, "pipeline");
    }
    vyre_binding bindings[MAX_BINDINGS];
    memset(bindings, 0, sizeof bindings);
    if (!bind(r, bindings)) {
        return false;
    }
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = r->count;
    params.params = r->words;
    params.param_count = r->word_count;
    params.max_groups = vy_generate_max_groups(r->info);
    if (r->info->grid == VY_GRID_GROUPS) {
        memcpy(params.groups, r->info->groups, sizeof params.groups);
    } else if (r->info->grid == VY_GRID_ELEMENTS) {
        memcpy(params.elements, r->info->elements, sizeof params.elements);
    }
    return run_params(r, &params);
}

/* ---- Comparison -------------------------------------------------------------------------------
 */

static void hex(const uint8_t *bytes, uint32_t size, char *out)
{
    for (uint32_t i = 0; i < size; i++) {
        snprintf(out + (size_t)2 * i, 3, "%02x", bytes[size - 1 - i]);
    }
}

/* Sums of whole numbers, exact in any order as long as they are below 2^24; beyond, which loops
 * that end at their limit reach, the order shows. */
static bool is_beyond_order(const slot *s, const uint8_t *a, const uint8_t *b)
{
    float x, y;
    if (strcmp(s->info.name, "totals") != 0) {
        return false;
    }
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x >= 0x1p24f && y >= 0x1p24f;
}

static bool same_outputs(run *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const slot *s = &r->slots[i];
        const uint8_t *expected =
            (int)i == r->alias[1] ? r->slots[r->alias[0]].expected : s->expected;
        for (uint32_t e = 0; s->got && e < s->count; e++) {
            size_t at = (size_t)e * s->size;
            if (memcmp(s->got + at, expected + at, s->size) != 0 &&
                !is_beyond_order(s, expected + at, s->got + at)) {
                char a[33] = "", b[33] = "";
                hex(expected + at, s->size, a);
                hex(s->got + at, s->size, b);
                r->out->verdict = VY_DIFFERENT;
                snprintf(r->out->message, sizeof r->out->message,
                         "%s[%u]: interpreter 0x%s, device 0x%s", s->info.name, e, a, b);
                return false;
            }
        }
    }
    return true;
}

static void compare(run *r)
{
    if (!same_outputs(r)) {
        return;
    }
    const vyre_fault_record *a = &r->wanted.record, *b = &r->report.record;
    if (a->kind != b->kind || a->code != b->code || a->pass != b->pass ||
        a->segment != b->segment || a->invocation != b->invocation || a->line != b->line) {
        r->out->verdict = VY_DIFFERENT;
        snprintf(r->out->message, sizeof r->out->message,
                 "record: interpreter kind %d code %u line %u pass %u segment %u invocation %u, "
                 "device kind %d code %u line %u pass %u segment %u invocation %u",
                 (int)a->kind, a->code, a->line, a->pass, a->segment, a->invocation, (int)b->kind,
                 b->code, b->line, b->pass, b->segment, b->invocation);
    } else if (r->wanted.passes != r->report.passes ||
               r->wanted.convergence != r->report.convergence ||
               r->wanted.segments != r->report.segments) {
        r->out->verdict = VY_DIFFERENT;
        snprintf(r->out->message, sizeof r->out->message,
                 "passes %u and %u, convergence %d and %d, segments %u and %u (device second)",
                 r->wanted.passes, r->report.passes, (int)r->wanted.convergence,
                 (int)r->report.convergence, r->wanted.segments, r->report.segments);
    } else if (r->report.segments > 0 && /* without any, no device reads a grid from a buffer */
               (memcmp(r->wanted.groups, r->report.groups, sizeof r->wanted.groups) != 0 ||
                r->wanted.is_grid_clamped != r->report.is_grid_clamped)) {
        r->out->verdict = VY_DIFFERENT;
        snprintf(r->out->message, sizeof r->out->message,
                 "groups %u %u %u and %u %u %u, clamped %d and %d (device second)",
                 r->wanted.groups[0], r->wanted.groups[1], r->wanted.groups[2], r->report.groups[0],
                 r->report.groups[1], r->report.groups[2], r->wanted.is_grid_clamped,
                 r->report.is_grid_clamped);
    }
}

static void run_and_compare(run *r, const char *text, size_t size)
{
    if (parse_copy(text, size, r, true, &r->program, &r->diag) != VYRE_OK ||
        parse_copy(text, size, r, false, &r->reference, &r->diag) != VYRE_OK) {
        fail(r, "parse");
        return;
    }
    if (!compile(r) || !prepare(r) || !interpret(r)) {
        return;
    }
    if (r->hooks && r->hooks->kernel) {
        r->hooks->kernel(r->hooks->user, r->kernel);
    }
    if (dispatch(r)) {
        compare(r);
    }
}

void vy_compare(vyre_device *device, const char *text, size_t size, const vy_generated *info,
                const vy_mode *mode, const vy_hooks *hooks, vy_comparison *out_comparison)
{
    run *r = calloc(1, sizeof *r);
    memset(out_comparison, 0, sizeof *out_comparison);
    if (!r) {
        abort();
    }
    r->device = device;
    r->info = info;
    r->mode = mode;
    r->hooks = hooks;
    r->out = out_comparison;
    run_and_compare(r, text, size);
    vyre_pipeline_destroy(&r->pipeline);
    for (uint32_t i = 0; i < MAX_BINDINGS; i++) {
        if (vyre_buffer_destroy(device, &r->slots[i].resident, &r->diag) != VYRE_OK) {
            fail(r, "destroy");
        }
        free(r->slots[i].input);
        free(r->slots[i].expected);
        free(r->slots[i].got);
    }
    vyre_kernel_destroy(&r->kernel);
    vy_optimised_free(&r->optimised);
    vyre_program_destroy(&r->program);
    vyre_program_destroy(&r->reference);
    free(r);
}

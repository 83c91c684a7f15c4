/* Interpreter against device for generated programs; see differential.h. */
#include "tests/support/differential.h"

#include "vyre/dispatch.h"
#include "vyre/interp.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BINDINGS 16

typedef struct run {
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    vyre_buffer residents[MAX_BINDINGS];
    uint32_t count, counts[MAX_BINDINGS];
    vyre_buffer_mode modes[MAX_BINDINGS];
    vyre_type types[MAX_BINDINGS];
    uint32_t *inputs[MAX_BINDINGS], *expected[MAX_BINDINGS], *got[MAX_BINDINGS];
    vyre_interp_report wanted;
    vyre_report report;
    vyre_diag diag;
} run;

static void fail(vy_comparison *out, vy_verdict verdict, const char *step, const vyre_diag *diag)
{
    out->verdict = verdict;
    snprintf(out->message, sizeof out->message, "%s: %s:%u:%u: %s", step,
             vyre_result_name(diag->code), diag->line, diag->column, diag->message);
}

static bool prepare(run *r, uint64_t seed, const vy_generated *info)
{
    uint32_t input = 0;
    r->count = vyre_kernel_binding_count(r->kernel);
    for (uint32_t i = 0; i < r->count && i < MAX_BINDINGS; i++) {
        vyre_binding_info binding;
        vyre_kernel_binding(r->kernel, i, &binding);
        r->modes[i] = binding.mode;
        r->types[i] = binding.type;
        r->counts[i] = UINT32_MAX;
        if (binding.mode == VYRE_BUFFER_IN) {
            r->counts[i] = input < 4 ? info->seed_lengths[input] : 0;
            r->inputs[i] = calloc(r->counts[i] + 1u, 4);
            if (!r->inputs[i]) {
                return false;
            }
            for (uint32_t e = 0; e < r->counts[i]; e++) {
                r->inputs[i][e] = vy_generate_input(seed, input, e);
            }
            input++;
        } else if (binding.mode == VYRE_BUFFER_OUT) {
            r->counts[i] = strcmp(binding.name, "common") == 0 ? 8 : info->elements;
            if (strcmp(binding.name, "even_out") == 0 || strcmp(binding.name, "odd_out") == 0) {
                r->counts[i] *= 4;
            }
            r->expected[i] = malloc(r->counts[i] * 4u);
            r->got[i] = malloc(r->counts[i] * 4u);
            if (!r->expected[i] || !r->got[i]) {
                return false;
            }
            memset(r->expected[i], 0xa5, r->counts[i] * 4u);
            memset(r->got[i], 0x5a, r->counts[i] * 4u);
        }
    }
    return r->count <= MAX_BINDINGS;
}

static vyre_result interpret(run *r, const vy_generated *info, bool flush)
{
    vyre_host_buffer buffers[MAX_BINDINGS];
    for (uint32_t i = 0; i < r->count; i++) {
        buffers[i].data = r->inputs[i] ? r->inputs[i] : r->expected[i];
        buffers[i].count = r->counts[i];
    }
    vyre_interp_params params = {.struct_size = sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = r->count,
                                 .params = info->params,
                                 .param_count = 3,
                                 .groups = {info->groups, 1, 1},
                                 .flush_denormals = flush};
    return vyre_interp_run(r->program, &params, &r->wanted, &r->diag);
}

/* Resident buffers with the inputs, poisoned where the program makes them zero itself. */
static vyre_result make_resident(run *r, vyre_device *device, vyre_binding *bindings)
{
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t size = r->counts[i] * 4ull;
        if (bindings[i].kind != VYRE_BINDING_HOST) {
            continue;
        }
        vyre_buffer_params params;
        vyre_buffer_params_init(&params);
        params.size = size;
        vyre_result code = vyre_buffer_create(device, &params, &r->residents[i], &r->diag);
        const void *data = r->inputs[i] ? r->inputs[i] : r->got[i];
        if (code == VYRE_OK) {
            code = vyre_buffer_upload(device, r->residents[i], 0, data, size, &r->diag);
        }
        if (code != VYRE_OK) {
            return code;
        }
        bindings[i].kind = VYRE_BINDING_RESIDENT;
        bindings[i].buffer = r->residents[i];
        bindings[i].in = NULL;
    }
    return VYRE_OK;
}

static vyre_result dispatch(run *r, vyre_device *device, bool is_resident, const vy_generated *info)
{
    vyre_binding bindings[MAX_BINDINGS];
    memset(bindings, 0, sizeof bindings);
    for (uint32_t i = 0; i < r->count; i++) {
        bindings[i].kind = r->counts[i] == UINT32_MAX ? VYRE_BINDING_NONE : VYRE_BINDING_HOST;
        bindings[i].count = r->counts[i];
        bindings[i].in = r->inputs[i];
        bindings[i].out = r->got[i];
    }
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = r->count;
    params.params = info->params;
    params.param_count = 3;
    params.groups[0] = info->groups;
    vyre_result code = is_resident ? make_resident(r, device, bindings) : VYRE_OK;
    if (code == VYRE_OK) {
        code = vyre_dispatch(r->pipeline, &params, &r->report, &r->diag);
    }
    return code;
}

static void compare(const run *r, vy_comparison *out)
{
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t e = 0; r->got[i] && e < r->counts[i]; e++) {
            if (r->got[i][e] != r->expected[i][e]) {
                vyre_binding_info binding;
                vyre_kernel_binding(r->kernel, i, &binding);
                out->verdict = VY_DIFFERENT;
                snprintf(out->message, sizeof out->message,
                         "%s[%u]: interpreter 0x%08x, device 0x%08x", binding.name, e,
                         r->expected[i][e], r->got[i][e]);
                return;
            }
        }
    }
    const vyre_fault_record *a = &r->wanted.record, *b = &r->report.record;
    if (a->kind != b->kind || a->code != b->code || a->pass != b->pass ||
        a->segment != b->segment || a->invocation != b->invocation || a->line != b->line) {
        out->verdict = VY_DIFFERENT;
        snprintf(out->message, sizeof out->message,
                 "record: interpreter kind %d code %u line %u pass %u segment %u invocation %u, "
                 "device kind %d code %u line %u pass %u segment %u invocation %u",
                 (int)a->kind, a->code, a->line, a->pass, a->segment, a->invocation, (int)b->kind,
                 b->code, b->line, b->pass, b->segment, b->invocation);
        return;
    }
    if (r->wanted.passes != r->report.passes || r->wanted.convergence != r->report.convergence ||
        r->wanted.segments != r->report.segments) {
        out->verdict = VY_DIFFERENT;
        snprintf(out->message, sizeof out->message,
                 "passes %u and %u, convergence %d and %d, segments %u and %u (device second)",
                 r->wanted.passes, r->report.passes, (int)r->wanted.convergence,
                 (int)r->report.convergence, r->wanted.segments, r->report.segments);
    }
}

static void run_and_compare(run *r, vyre_device *device, const char *text, size_t size,
                            uint64_t seed, const vy_generated *info, vy_kernel_hook hook,
                            void *hook_user, vy_comparison *out)
{
    vyre_device_info device_info;
    vyre_device_get_info(device, &device_info);
    if (vyre_program_parse(text, size, "generated", NULL, &r->program, &r->diag) != VYRE_OK) {
        fail(out, VY_BROKEN, "parse", &r->diag);
        return;
    }
    vyre_kernel_params kernel_params;
    vyre_device_kernel_params(device, &kernel_params);
    if (hook) {
        kernel_params.interface = VYRE_INTERFACE_DESCRIPTOR;
    }
    if (vyre_kernel_compile(r->program, &kernel_params, &r->kernel, &r->diag) != VYRE_OK) {
        fail(out, VY_BROKEN, "compile", &r->diag);
        return;
    }
    if (!prepare(r, seed, info)) {
        snprintf(out->message, sizeof out->message, "prepare: out of memory");
        out->verdict = VY_BROKEN;
        return;
    }
    if (interpret(r, info, device_info.denormals == VYRE_ANSWER_NO) != VYRE_OK) {
        fail(out, VY_BROKEN, "interpreter", &r->diag);
        return;
    }
    if (hook) {
        hook(hook_user, r->kernel);
    }
    /* Each seed by one way of binding, over borrowed or resident memory; faults are planted in the
     * kernel's own words. */
    vyre_pipeline_params pipeline_params;
    vyre_pipeline_params_init(&pipeline_params);
    pipeline_params.bindings = VYRE_BINDINGS_DESCRIPTOR;
    if (!hook && seed % 2 == 0 && device_info.has_addresses) {
        pipeline_params.bindings = VYRE_BINDINGS_ADDRESS;
    }
    if (vyre_pipeline_create(device, r->kernel, &pipeline_params, &r->pipeline, &r->diag) !=
        VYRE_OK) {
        fail(out, VY_BROKEN, "pipeline", &r->diag);
        return;
    }
    if (dispatch(r, device, seed % 4 >= 2, info) != VYRE_OK) {
        fail(out, VY_BROKEN, "dispatch", &r->diag);
        return;
    }
    compare(r, out);
}

void vy_compare(vyre_device *device, const char *text, size_t size, uint64_t seed,
                const vy_generated *info, vy_kernel_hook hook, void *hook_user,
                vy_comparison *out_comparison)
{
    run *r = calloc(1, sizeof *r);
    memset(out_comparison, 0, sizeof *out_comparison);
    if (!r) {
        abort();
    }
    run_and_compare(r, device, text, size, seed, info, hook, hook_user, out_comparison);
    vyre_pipeline_destroy(&r->pipeline);
    for (uint32_t i = 0; i < MAX_BINDINGS; i++) {
        if (vyre_buffer_destroy(device, &r->residents[i], &r->diag) != VYRE_OK) {
            fail(out_comparison, VY_BROKEN, "destroy", &r->diag);
        }
    }
    vyre_kernel_destroy(&r->kernel);
    vyre_program_destroy(&r->program);
    for (uint32_t i = 0; i < MAX_BINDINGS; i++) {
        free(r->inputs[i]);
        free(r->expected[i]);
        free(r->got[i]);
    }
    free(r);
}

/* ---- Shrinking ------------------------------------------------------------------------------- */

/* One past the end of the construct that begins at line `first`: the line itself, or through the
 * line whose closing brace matches. Braces stand in no other role in generated text. */
static size_t construct_end(const char *text, size_t size, size_t first)
{
    int open = 0;
    for (size_t i = first; i < size; i++) {
        open += text[i] == '{';
        open -= text[i] == '}';
        if (text[i] == '\n' && open <= 0) {
            return i + 1;
        }
    }
    return size;
}

static bool still_differs(vyre_device *device, const vy_text *text, uint64_t seed,
                          const vy_generated *info)
{
    vy_comparison comparison;
    vy_compare(device, text->data, text->size, seed, info, NULL, NULL, &comparison);
    return comparison.verdict == VY_DIFFERENT;
}

void vy_shrink(vyre_device *device, vy_text *text, uint64_t seed, const vy_generated *info)
{
    bool smaller = true;
    while (smaller) {
        smaller = false;
        size_t at = 0;
        while (at < text->size) {
            size_t end = construct_end(text->data, text->size, at);
            vy_text candidate;
            vy_text_init(&candidate, NULL);
            vy_text_append(&candidate, text->data, at);
            vy_text_append(&candidate, text->data + end, text->size - end);
            if (candidate.size > 0 && still_differs(device, &candidate, seed, info)) {
                vy_text_finish(text);
                *text = candidate;
                smaller = true;
                continue;
            }
            vy_text_finish(&candidate);
            const char *newline = memchr(text->data + at, '\n', text->size - at);
            at = newline ? (size_t)(newline - text->data) + 1 : text->size;
        }
    }
}

uint32_t vy_run_seeds(vyre_device *device, uint64_t first, uint32_t count, uint32_t *out_counts)
{
    uint32_t bad = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        vy_text text;
        vy_generated info;
        vy_comparison comparison;
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        vy_compare(device, text.data, text.size, seed, &info, NULL, NULL, &comparison);
        for (uint32_t i = 0; out_counts && vy_generate_construct_name(i); i++) {
            out_counts[i] += (uint32_t)(info.constructs[i / 64] >> (i % 64)) & 1u;
        }
        if (comparison.verdict != VY_SAME) {
            bad++;
            printf("seed %llu: %s\n", (unsigned long long)seed, comparison.message);
            if (comparison.verdict == VY_DIFFERENT && bad <= 5) {
                vy_shrink(device, &text, seed, &info);
            }
            if (bad <= 5) {
                printf("%s\n", text.data);
            }
            fflush(stdout);
        }
        vy_text_finish(&text);
    }
    return bad;
}

vyre_device *vy_test_device(void)
{
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(NULL, &device, &diag) != VYRE_OK) {
        fprintf(stderr, "no device to test on: %s\n", diag.message);
        return NULL;
    }
    return device;
}

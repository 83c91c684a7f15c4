/* Runs tests of piglit's files; see cl_run.h. */
#include "tests/conform/cl_run.h"

#include "tests/conform/cl_atomic.h"
#include "tests/conform/cl_map.h"
#include "tests/conform/run.h"
#include "vyre/dispatch.h"
#include "vyre/interp.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 24u

/* A program made ready; tests of one file often share one. */
typedef struct kept {
    char *text;
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
} kept;

typedef struct runner {
    vyre_device *device;
    conform_mode mode;
    const char *path, *source;
    cl_report *report;
    uint32_t kept_count;
    kept programs[KEPT];
} runner;

/* One test: its arguments in order, and how it is written. */
typedef struct job {
    const cl_test *test;
    const cl_row *row;
    char name[64];
    uint32_t input_count, output_count, elements;
    const cl_argument *inputs[CL_MAX_ARGUMENTS], *outputs[CL_MAX_ARGUMENTS];
    void *memory[CL_MAX_ARGUMENTS], *wanted[CL_MAX_ARGUMENTS], *got[CL_MAX_ARGUMENTS];
    vyre_diag diag;
} job;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 4, size ? size : 1);
    if (!memory) {
        abort();
    }
    return memory;
}

/* ---- What a test asks -------------------------------------------------------------------------
 */

/* The built-in's name: what the test calls it, without the notes on vectors and pointers. */
static void name_of(const char *path, const cl_test *test, char *name, size_t size)
{
    static const char *const endings[] = {"_private", "_local", "_global"};
    if (!strstr(path, "generated_tests")) {
        snprintf(name, size, ".%.60s", test->kernel);
        return;
    }
    const char *begin = test->name;
    if (strncmp(begin, "tss_", 4) == 0 || strncmp(begin, "tts_", 4) == 0) {
        begin += 4;
    }
    snprintf(name, size, "%.*s", (int)strcspn(begin, " "), begin);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            name[length - ending] = '\0';
        }
    }
}

/* Why no test of that file can be said in our language, or NULL. */
static const char *reason_of_path(const char *path)
{
    if (strstr(path, "/store/") || strstr(path, "/vload/") || strstr(path, "/vstore/")) {
        return "vload and vstore: accesses to memory of vectors of 2 to 16";
    }
    if (strstr(path, "/misc/")) {
        return "shuffle: no operator";
    }
    if (strstr(path, "generated_tests/") || strstr(path, "/scalar-") ||
        strstr(path, "/vector-arithmetic")) {
        return NULL;
    }
    return "whole kernels in OpenCL C";
}

/* Kernels of scalar-*-TYPE.cl take that type, whatever signedness a value is written with. */
static void take_types(const char *path, cl_test *test)
{
    char name[16];
    uint32_t width = 1;
    const char *at = strrchr(path, '-');
    if (!strstr(path, "/scalar-") || !at) {
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "."), at + 1);
    conform_id type = cl_type_of(name, &width);
    for (uint32_t a = 0; a < test->argument_count && type != CONFORM_TYPE_COUNT; a++) {
        conform_id written = test->arguments[a].type;
        if (written != CONFORM_TYPE_COUNT && conform_is_integer(written) &&
            conform_is_integer(type) && conform_types[written].width == conform_types[type].width) {
            test->arguments[a].type = type;
        }
    }
}

static void order(job *j)
{
    for (int index = 0; index < 16; index++) {
        for (uint32_t a = 0; a < j->test->argument_count; a++) {
            const cl_argument *argument = &j->test->arguments[a];
            if (argument->index == index && argument->is_output) {
                j->outputs[j->output_count++] = argument;
            } else if (argument->index == index) {
                j->inputs[j->input_count++] = argument;
            }
        }
    }
}

/* Fills the job. False: not covered, counted with the reason. */
static bool understand(const runner *r, const cl_test *test, job *j)
{
    char why[160] = "";
    *j = (job){.test = test};
    const char *of_path = reason_of_path(r->path);
    order(j);
    name_of(r->path, test, j->name, sizeof j->name);
    for (uint32_t a = 0; a < test->argument_count && !why[0]; a++) {
        const cl_argument *argument = &test->arguments[a];
        if (argument->type == CONFORM_TYPE_COUNT) {
            int letters = (int)strcspn(argument->type_name, "0123456789");
            snprintf(why, sizeof why, "type %.*s", letters, argument->type_name);
        }
    }
    if (of_path) {
        snprintf(why, sizeof why, "%s", of_path);
    } else if (test->problem[0]) {
        snprintf(why, sizeof why, "reader: %s", test->problem);
    } else if (!why[0] && (j->input_count == 0 || j->output_count == 0)) {
        snprintf(why, sizeof why, "no inputs or no outputs");
    } else if (!why[0]) {
        j->row = cl_row_find(j->name, j->inputs[0]->type);
        if (!j->row) {
            snprintf(why, sizeof why, "built-in %s: no operator", j->name);
        }
    }
    if (why[0]) {
        conform_refuse(&r->report->uncovered, why, 1);
        return false;
    }
    j->elements = j->outputs[0]->count;
    return true;
}

/* ---- Programs ----------------------------------------------------------------------------------
 */

/* False: the row has fewer outputs than the test. */
static bool write_program(const job *j, vy_text *text)
{
    char operands[CL_MAX_ARGUMENTS][32];
    const char *list[CL_MAX_ARGUMENTS];
    const char *kernel = j->test->kernel;
    bool is_vector = j->outputs[0]->width > 1;
    if (strncmp(kernel, "test_", 5) == 0) { /* test_N_... or test_tss_N_... */
        is_vector = kernel[5] == 't' || atoi(kernel + 5) > 1;
    }
    vy_text_init(text, NULL);
    vy_text_printf(text, "program piglit\nworkgroup 64\n");
    for (uint32_t k = 0; k < j->input_count; k++) {
        uint32_t shared = j->elements / (j->inputs[k]->count ? j->inputs[k]->count : 1);
        vy_text_printf(text, "in x%u : %s[]\n", k, conform_types[j->inputs[k]->type].keyword);
        if (shared > 1) { /* one for all components of a vector */
            snprintf(operands[k], sizeof operands[k], "x%u[i / %u]", k, shared);
        } else {
            snprintf(operands[k], sizeof operands[k], "x%u[i]", k);
        }
        list[k] = operands[k];
    }
    for (uint32_t k = 0; k < j->output_count; k++) {
        vy_text_printf(text, "out o%u : %s[]\n", k, conform_types[j->outputs[k]->type].keyword);
    }
    vy_text_printf(text, "kernel {\n    let i = gid.x\n    if i >= len(o0) { return }\n");
    for (uint32_t k = 0; k < j->output_count; k++) {
        vy_text_printf(text, "    o%u[i] = ", k);
        if (!cl_row_write(j->row, k, list, j->inputs[0]->type, j->outputs[k]->type, is_vector,
                          text)) {
            return false;
        }
        vy_text_printf(text, "\n");
    }
    vy_text_printf(text, "}\n");
    return true;
}

static void forget(kept *k)
{
    vyre_pipeline_destroy(&k->pipeline);
    vyre_kernel_destroy(&k->kernel);
    vyre_program_destroy(&k->program);
    free(k->text);
    memset(k, 0, sizeof *k);
}

/* The program of that text, ready to run; NULL with the job's diag where it is refused. */
static kept *ready(runner *r, const vy_text *text, job *j)
{
    vyre_kernel_params params;
    for (uint32_t i = 0; i < r->kept_count; i++) {
        if (strcmp(r->programs[i].text, text->data) == 0) {
            return &r->programs[i];
        }
    }
    if (r->kept_count == KEPT) {
        forget(&r->programs[--r->kept_count]);
    }
    kept *k = &r->programs[r->kept_count++];
    k->text = allocate(text->size + 1, 1);
    memcpy(k->text, text->data, text->size);
    vyre_result code =
        vyre_program_parse(text->data, text->size, "piglit", NULL, &k->program, &j->diag);
    if (code == VYRE_OK && r->device) {
        vyre_device_kernel_params(r->device, &params);
        code = vyre_kernel_compile(k->program, &params, &k->kernel, &j->diag);
    }
    if (code == VYRE_OK && r->device) {
        code = vyre_pipeline_create(r->device, k->kernel, NULL, &k->pipeline, &j->diag);
    }
    if (code != VYRE_OK) {
        forget(k);
        r->kept_count--;
        return NULL;
    }
    return k;
}

/* ---- Running -----------------------------------------------------------------------------------
 */

static vyre_result run(runner *r, job *j, const kept *k)
{
    vyre_host_buffer buffers[2 * CL_MAX_ARGUMENTS];
    vyre_binding bindings[2 * CL_MAX_ARGUMENTS] = {{.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params dispatch;
    vyre_interp_report report;
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->input_count; i++) {
        const cl_argument *input = j->inputs[i];
        j->memory[i] = allocate(input->count, conform_size(input->type));
        for (uint32_t e = 0; e < input->count; e++) {
            conform_store(input->type, j->memory[i], e, input->values[e]);
        }
        buffers[count] = (vyre_host_buffer){j->memory[i], input->count};
        bindings[count++] =
            (vyre_binding){.kind = VYRE_BINDING_HOST, .count = input->count, .in = j->memory[i]};
    }
    for (uint32_t i = 0; i < j->output_count; i++) {
        const cl_argument *output = j->outputs[i];
        j->wanted[i] = allocate(output->count, conform_size(output->type));
        j->got[i] = allocate(output->count, conform_size(output->type));
        buffers[count] = (vyre_host_buffer){j->wanted[i], output->count};
        bindings[count++] =
            (vyre_binding){.kind = VYRE_BINDING_HOST, .count = output->count, .out = j->got[i]};
    }
    vyre_interp_params interp = {.struct_size = sizeof interp,
                                 .buffers = buffers,
                                 .buffer_count = count,
                                 .elements = {j->elements, 1, 1},
                                 .flush_denormals = r->mode.flushes[CONFORM_F32]};
    vyre_dispatch_params_init(&dispatch);
    dispatch.bindings = bindings;
    dispatch.binding_count = count;
    dispatch.elements[0] = j->elements;
    vyre_result code = vyre_interp_run(k->program, &interp, &report, &j->diag);
    if (code == VYRE_OK && r->device) {
        code = vyre_dispatch(k->pipeline, &dispatch, NULL, &j->diag);
    }
    return code;
}

/* ---- Judging -----------------------------------------------------------------------------------
 */

/* As piglit compares: NaN with NaN, zeros without their sign, and units of the expected value. */
static bool meets_file(const cl_argument *output, uint64_t want, uint64_t got)
{
    conform_id type = output->type;
    if (want == got) {
        return true;
    }
    if (!conform_is_float(type)) {
        uint64_t mask = conform_mask(type);
        uint64_t distance = (want - got) & mask, other = (got - want) & mask;
        return (double)(distance < other ? distance : other) <= output->tolerance;
    }
    double a = conform_to_double(type, want), b = conform_to_double(type, got);
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b)) {
        return (isnan(a) && isnan(b)) || a == b;
    }
    double least = conform_to_double(type, conform_least_normal(type));
    double magnitude = fabs(a) < least ? least : fabs(a);
    double unit = ldexp(1.0, ilogb(magnitude) + 1 - (int)conform_types[type].precision);
    return fabs(a - b) <= output->tolerance * (output->in_ulp ? unit : 1.0);
}

/* What docs/language.md says, where the row is one operator. */
static bool meets_language(const runner *r, const job *j, uint32_t output, uint32_t element,
                           uint64_t got, bool is_device)
{
    uint64_t x[4] = {0};
    conform_id operand = j->inputs[0]->type, result = j->outputs[output]->type;
    vyre_op op = j->row->op;
    if (output > 0) { /* of fract and sincos */
        op = op == VYRE_OP_FRACT ? VYRE_OP_FLOOR : op == VYRE_OP_SIN ? VYRE_OP_COS : VYRE_OP_NONE;
    }
    for (uint32_t k = 0; k < j->input_count && k < 4; k++) {
        uint32_t shared = j->elements / j->inputs[k]->count;
        x[k] = j->inputs[k]->values[element / (shared ? shared : 1)];
    }
    if (!j->row->differs || op == VYRE_OP_NONE) {
        return false;
    }
    conform_answer answer = conform_evaluate(op, result, operand, x, &r->mode);
    return is_device ? conform_accepts_device(&answer, result, got)
                     : conform_accepts_interp(&answer, result, got);
}

static void judge(const runner *r, const job *j)
{
    uint32_t wrong = 0, other = 0;
    for (uint32_t o = 0; o < j->output_count; o++) {
        const cl_argument *output = j->outputs[o];
        for (uint32_t e = 0; e < output->count; e++) {
            for (int on_device = 0; on_device <= (r->device != NULL); on_device++) {
                uint64_t got = conform_load(output->type, on_device ? j->got[o] : j->wanted[o], e);
                r->report->elements++;
                if (meets_file(output, output->values[e], got)) {
                    continue;
                }
                if (meets_language(r, j, o, e, got, on_device)) {
                    other++;
                    continue;
                }
                if (wrong++ < 3) {
                    printf("%s, %s, %s, output %u, element %u: 0x%" PRIx64 ", not 0x%" PRIx64 "\n",
                           r->path, j->test->name, on_device ? "device" : "interpreter", o, e, got,
                           output->values[e]);
                }
            }
        }
    }
    r->report->passed += wrong == 0 && other == 0;
    r->report->differing += wrong == 0 && other > 0;
    r->report->failed += wrong > 0;
    if (other > 0) {
        char why[256];
        snprintf(why, sizeof why, "%.40s: %.200s", j->name, j->row->differs);
        conform_refuse(&r->report->differences, why, 1);
    }
}

/* ---- Atomics -----------------------------------------------------------------------------------
 */

/* Arguments take the kernel's type; values of buffers that are only written are zero before. */
static uint32_t bind_atomic(const cl_kernel *kernel, conform_buffer *buffers, uint32_t *words,
                            uint32_t *word_count)
{
    uint32_t count = 0, size = conform_size(kernel->type);
    *word_count = 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const cl_parameter *p = &kernel->parameters[i];
        const cl_argument *from = p->input ? p->input : p->output;
        if (p->space == CL_VALUE && p->input && p->input->count > 0) {
            words[(*word_count)++] = (uint32_t)p->input->values[0];
            if (size == 8) {
                words[(*word_count)++] = (uint32_t)(p->input->values[0] >> 32);
            }
        } else if (p->space == CL_GLOBAL && from) {
            conform_buffer *b = &buffers[count++];
            *b = (conform_buffer){VYRE_BUFFER_OUT, from->count, allocate(from->count, size)};
            b->mode = !p->output ? VYRE_BUFFER_IN : p->input ? VYRE_BUFFER_INOUT : VYRE_BUFFER_OUT;
            for (uint32_t e = 0; p->input && e < from->count; e++) {
                conform_store(kernel->type, b->data, e, from->values[e]);
            }
        }
    }
    return count;
}

static uint32_t judge_atomic(const runner *r, const cl_test *test, const cl_kernel *kernel,
                             const conform_buffer *buffers, const char *who)
{
    uint32_t wrong = 0, at = 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const cl_parameter *p = &kernel->parameters[i];
        bool is_bound = p->space == CL_GLOBAL && (p->input || p->output);
        for (uint32_t e = 0; is_bound && p->output && e < p->output->count; e++) {
            uint64_t got = conform_load(kernel->type, buffers[at].data, e);
            r->report->elements++;
            if (got != p->output->values[e] && wrong++ < 3) {
                printf("%s, %s, %s, %s[%u]: 0x%" PRIx64 ", not 0x%" PRIx64 "\n", r->path,
                       test->name, who, p->name, e, got, p->output->values[e]);
            }
        }
        at += is_bound;
    }
    return wrong;
}

static void run_atomic(runner *r, const cl_test *test)
{
    uint32_t size = test->local_size ? test->local_size : test->global_size;
    const uint32_t groups[3] = {size ? test->global_size / size : 1, 1, 1};
    uint32_t wrong = 0;
    bool ran = true;
    cl_kernel kernel;
    vy_text text;
    vy_text_init(&text, NULL);
    const char *problem = cl_atomic_translate(r->source, test, &kernel, &text);
    if (problem) {
        char why[200];
        snprintf(why, sizeof why, "atomic kernels: %s", problem);
        conform_refuse(&r->report->uncovered, why, 1);
    }
    for (int on_device = 0; !problem && on_device <= (r->device != NULL); on_device++) {
        conform_buffer buffers[CL_MAX_PARAMETERS];
        uint32_t words[2 * CL_MAX_PARAMETERS], word_count;
        uint32_t count = bind_atomic(&kernel, buffers, words, &word_count);
        ran = conform_run_with(on_device ? r->device : NULL, text.data, buffers, count, groups,
                               words, word_count) &&
              ran;
        wrong +=
            ran ? judge_atomic(r, test, &kernel, buffers, on_device ? "device" : "interpreter") : 0;
        for (uint32_t i = 0; i < count; i++) {
            free(buffers[i].data);
        }
    }
    if (!ran) {
        conform_refuse(&r->report->uncovered, "atomics that are refused", 1);
    }
    r->report->passed += !problem && ran && wrong == 0;
    r->report->failed += wrong > 0;
    vy_text_finish(&text);
}

static void run_test(runner *r, cl_test *test)
{
    job j;
    vy_text text;
    r->report->tests++;
    if (strstr(r->path, "/atomic/")) {
        run_atomic(r, test);
        return;
    }
    take_types(r->path, test);
    if (!understand(r, test, &j)) {
        return;
    }
    bool is_written = write_program(&j, &text);
    kept *k = is_written ? ready(r, &text, &j) : NULL;
    vyre_result code = k ? run(r, &j, k) : j.diag.code;
    if (!is_written) {
        conform_refuse(&r->report->uncovered, "more outputs than values", 1);
    } else if (code == VYRE_ERROR_UNSUPPORTED_FEATURE) {
        conform_refuse(&r->report->uncovered, j.diag.message, 1);
    } else if (code != VYRE_OK) {
        printf("%s, %s: %s: %s\n%s\n", r->path, test->name, vyre_result_name(code), j.diag.message,
               text.data);
        r->report->failed++;
    } else {
        judge(r, &j);
    }
    for (uint32_t i = 0; i < CL_MAX_ARGUMENTS; i++) {
        free(j.memory[i]);
        free(j.wanted[i]);
        free(j.got[i]);
    }
    vy_text_finish(&text);
}

void cl_run_file(vyre_device *device, const char *path, const char *source, cl_file *file,
                 cl_report *report)
{
    runner r = {.device = device, .path = path, .source = source, .report = report};
    if (device) {
        r.mode = conform_device_mode(device);
    }
    for (uint32_t t = 0; t < file->test_count; t++) {
        run_test(&r, &file->tests[t]);
    }
    while (r.kept_count > 0) {
        forget(&r.programs[--r.kept_count]);
    }
}

/* Runs and judges batches; see batch.h. */
#include "tests/conform/batch.h"

#include "vyre/dispatch.h"
#include "vyre/interp.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BINDINGS (CONFORM_SLOT_COUNT + CONFORM_BATCH)
#define MAX_WORDS    (1 + 2 * CONFORM_SLOT_COUNT)
/* Wrong elements of a row that are printed. */
#define SHOWN 4u

typedef struct execution {
    const conform_runner *runner;
    conform_batch batch;
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    void *inputs[CONFORM_SLOT_COUNT];
    void *wanted[CONFORM_BATCH], *got[CONFORM_BATCH];
    vyre_diag diag;
} execution;

conform_mode conform_device_mode(const vyre_device *device)
{
    vyre_device_info info;
    conform_mode mode = {.fast_math = false};
    vyre_device_get_info(device, &info);
    mode.flushes[CONFORM_F32] = info.denormals == VYRE_ANSWER_NO;
    return mode;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size ? size : 1);
    if (!memory) {
        abort();
    }
    return memory;
}

/* ---- Judging -----------------------------------------------------------------------------------
 */

/* The operands that an element is computed from. */
static void operands_of(const execution *x, const conform_row *row, uint32_t point,
                        uint64_t *values)
{
    for (uint32_t k = 0; k < CONFORM_MAX_OPERANDS; k++) {
        conform_slot slot = row->slots[k];
        if (x->batch.shape == CONFORM_SAME && slot <= CONFORM_X2) {
            slot = CONFORM_X0;
        }
        values[k] = k < row->count ? conform_value(x->batch.values, x->batch.base, slot, point) : 0;
    }
}

static void show(const execution *x, const conform_row *row, uint32_t point, const char *who,
                 const conform_answer *answer, uint64_t got)
{
    uint64_t values[CONFORM_MAX_OPERANDS];
    vy_text text;
    if (x->runner->planted != VYRE_OP_NONE) {
        return;
    }
    operands_of(x, row, point, values);
    vy_text_init(&text, NULL);
    conform_row_text(row, &text);
    printf("%s, %s, %s: %s of", who, conform_types[x->batch.base].keyword,
           conform_shape_text(x->batch.shape), text.data);
    for (uint32_t k = 0; k < row->count; k++) {
        printf(" 0x%" PRIx64, values[k]);
    }
    printf(": 0x%" PRIx64 ", not 0x%" PRIx64, got, answer->bits);
    if (answer->kind == CONFORM_WITHIN) {
        printf(" (%a to %a)", answer->low, answer->high);
    }
    printf("\n");
    vy_text_finish(&text);
}

/* Elements of one row in one dispatch. False where one is wrong. */
static bool judge_row(const execution *x, uint32_t r, uint32_t dispatch)
{
    const conform_row *row = &x->batch.rows[r];
    conform_report *report = x->runner->report;
    conform_mode mode = x->runner->mode;
    uint32_t elements = conform_shape_elements(x->batch.shape), wrong = 0;
    bool is_planted = row->op == x->runner->planted && row->op != VYRE_OP_NONE;
    vyre_op op = is_planted ? x->runner->planted_as : row->op;
    mode.fast_math = x->batch.shape == CONFORM_FAST_MATH;
    for (uint32_t e = 0; e < elements; e++) {
        uint64_t values[CONFORM_MAX_OPERANDS];
        uint32_t point = conform_shape_point(x->batch.shape, row, dispatch, e);
        operands_of(x, row, point, values);
        conform_answer answer = conform_evaluate(op, row->result, row->operand, values, &mode);
        uint64_t interp = conform_load(row->result, x->wanted[r], e), device = 0;
        bool is_right = answer.kind != CONFORM_NO_ANSWER &&
                        conform_accepts_interp(&answer, row->result, interp);
        report->cases += x->runner->device ? 2u : 1u;
        if (!is_right && wrong++ < SHOWN) {
            show(x, row, point, "interpreter", &answer, interp);
        }
        if (!x->runner->device) {
            continue;
        }
        device = conform_load(row->result, x->got[r], e);
        report->free += answer.kind == CONFORM_FREE ? 1u : 0u;
        if (!conform_accepts_device(&answer, row->result, device) && wrong++ < SHOWN) {
            show(x, row, point, "device", &answer, device);
        }
    }
    if (wrong > SHOWN && x->runner->planted == VYRE_OP_NONE) {
        printf("    and %u more\n", wrong - SHOWN);
    }
    return wrong == 0;
}

/* ---- Running -----------------------------------------------------------------------------------
 */

static void fill(execution *x)
{
    for (int s = 0; s < CONFORM_SLOT_COUNT; s++) {
        conform_slot slot = (conform_slot)s;
        conform_id type = conform_slot_type(x->batch.base, slot);
        if (!conform_batch_uses(&x->batch, slot)) {
            continue;
        }
        x->inputs[s] = allocate(CONFORM_POINTS, conform_size(type));
        for (uint32_t i = 0; i < CONFORM_POINTS; i++) {
            conform_store(type, x->inputs[s], i,
                          conform_value(x->batch.values, x->batch.base, slot, i));
        }
    }
    for (uint32_t r = 0; r < x->batch.count; r++) {
        uint32_t size = conform_size(x->batch.rows[r].result);
        uint32_t elements = conform_shape_elements(x->batch.shape);
        x->wanted[r] = allocate(elements, size);
        x->got[r] = allocate(elements, size);
    }
}

/* Bits of the params for a dispatch: by words, the low one first. */
static uint32_t params_of(const execution *x, uint32_t dispatch, uint32_t *words)
{
    uint32_t count = 0;
    if (!conform_shape_has_params(x->batch.shape)) {
        return 0;
    }
    words[count++] = dispatch;
    for (int s = 0; s < CONFORM_SLOT_COUNT; s++) {
        conform_slot slot = (conform_slot)s;
        if (!conform_batch_has_param(&x->batch, slot)) {
            continue;
        }
        /* c0 and x0 turn with the point / 64, the others with the point % 64. */
        bool outer = slot == CONFORM_X0 || slot == CONFORM_C0;
        uint32_t point = outer ? dispatch * CONFORM_EDGES : dispatch;
        uint64_t bits = conform_value(x->batch.values, x->batch.base, slot, point);
        words[count++] = (uint32_t)bits;
        if (conform_size(conform_slot_type(x->batch.base, slot)) == 8) {
            words[count++] = (uint32_t)(bits >> 32);
        }
    }
    return count;
}

static vyre_result interpret(execution *x, const uint32_t *words, uint32_t word_count)
{
    vyre_host_buffer buffers[MAX_BINDINGS];
    vyre_interp_report report;
    uint32_t count = 0, elements = conform_shape_elements(x->batch.shape);
    uint32_t components = conform_shape_components(x->batch.shape);
    for (uint32_t s = 0; s < CONFORM_SLOT_COUNT; s++) {
        if (x->inputs[s]) {
            buffers[count++] = (vyre_host_buffer){x->inputs[s], CONFORM_POINTS / components};
        }
    }
    for (uint32_t r = 0; r < x->batch.count; r++) {
        buffers[count++] = (vyre_host_buffer){x->wanted[r], elements / components};
    }
    vyre_interp_params params = {.struct_size = sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = count,
                                 .params = words,
                                 .param_count = word_count,
                                 .elements = {elements, 1, 1},
                                 .flush_denormals = x->runner->mode.flushes[CONFORM_F32]};
    return vyre_interp_run(x->program, &params, &report, &x->diag);
}

static vyre_result dispatch_on_device(execution *x, const uint32_t *words, uint32_t word_count)
{
    vyre_binding bindings[MAX_BINDINGS] = {{.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params;
    uint32_t count = 0, elements = conform_shape_elements(x->batch.shape);
    uint32_t components = conform_shape_components(x->batch.shape);
    for (uint32_t s = 0; s < CONFORM_SLOT_COUNT; s++) {
        if (x->inputs[s]) {
            bindings[count++] = (vyre_binding){.kind = VYRE_BINDING_HOST,
                                               .count = CONFORM_POINTS / components,
                                               .in = x->inputs[s]};
        }
    }
    for (uint32_t r = 0; r < x->batch.count; r++) {
        bindings[count++] = (vyre_binding){
            .kind = VYRE_BINDING_HOST, .count = elements / components, .out = x->got[r]};
    }
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = count;
    params.params = words;
    params.param_count = word_count;
    params.elements[0] = elements;
    return vyre_dispatch(x->pipeline, &params, NULL, &x->diag);
}

static vyre_result prepare(execution *x)
{
    vyre_kernel_params params = {.struct_size = sizeof params};
    vy_text text;
    conform_batch_text(&x->batch, &text);
    if (getenv("VYRE_CONFORM_PRINT")) {
        printf("%s\n", text.data);
    }
    vyre_result code =
        vyre_program_parse(text.data, text.size, "conform", NULL, &x->program, &x->diag);
    vy_text_finish(&text);
    if (code != VYRE_OK || !x->runner->device) {
        return code;
    }
    vyre_device_kernel_params(x->runner->device, &params);
    code = vyre_kernel_compile(x->program, &params, &x->kernel, &x->diag);
    if (code == VYRE_OK) {
        code = vyre_pipeline_create(x->runner->device, x->kernel, NULL, &x->pipeline, &x->diag);
    }
    return code;
}

static vyre_result execute(execution *x, bool *is_right)
{
    vyre_result code = prepare(x);
    if (code == VYRE_OK) {
        fill(x);
        x->runner->report->programs++;
    }
    for (uint32_t d = 0; code == VYRE_OK && d < conform_shape_dispatches(x->batch.shape); d++) {
        uint32_t words[MAX_WORDS], word_count = params_of(x, d, words);
        code = interpret(x, words, word_count);
        if (code == VYRE_OK && x->runner->device) {
            code = dispatch_on_device(x, words, word_count);
        }
        for (uint32_t r = 0; code == VYRE_OK && r < x->batch.count; r++) {
            is_right[r] = judge_row(x, r, d) && is_right[r];
        }
    }
    return code;
}

static void finish(execution *x)
{
    vyre_pipeline_destroy(&x->pipeline);
    vyre_kernel_destroy(&x->kernel);
    vyre_program_destroy(&x->program);
    for (uint32_t s = 0; s < CONFORM_SLOT_COUNT; s++) {
        free(x->inputs[s]);
    }
    for (uint32_t r = 0; r < x->batch.count; r++) {
        free(x->wanted[r]);
        free(x->got[r]);
    }
}

void conform_refuse(conform_report *report, const char *message, uint32_t rows)
{
    uint32_t at = 0;
    while (at < report->reason_count && strcmp(report->reasons[at].message, message) != 0) {
        at++;
    }
    if (at == report->reason_count && at < CONFORM_REASONS) {
        snprintf(report->reasons[at].message, sizeof report->reasons[at].message, "%.255s",
                 message);
        report->reason_count++;
    }
    if (at < CONFORM_REASONS) {
        report->reasons[at].rows += rows;
    }
}

/* Where a program of several rows is refused, each runs alone: only those that the device lacks
 * something for are then refused. */
static void run_batch(const conform_runner *runner, const conform_batch *batch)
{
    conform_report *report = runner->report;
    execution x = {.runner = runner, .batch = *batch};
    bool is_right[CONFORM_BATCH];
    memset(is_right, 1, sizeof is_right);
    vyre_result code = execute(&x, is_right);
    if (code == VYRE_OK) {
        report->rows += batch->count;
        for (uint32_t r = 0; r < batch->count; r++) {
            report->failures += !is_right[r];
        }
    } else if (code == VYRE_ERROR_UNSUPPORTED_FEATURE && batch->count == 1) {
        conform_refuse(report, x.diag.message, 1);
    } else if (code != VYRE_ERROR_UNSUPPORTED_FEATURE) {
        printf("%s, %s: %s: %u:%u: %s\n", conform_types[batch->base].keyword,
               conform_shape_text(batch->shape), vyre_result_name(code), x.diag.line, x.diag.column,
               x.diag.message);
        report->failures++;
    }
    finish(&x);
    for (uint32_t r = 0;
         code == VYRE_ERROR_UNSUPPORTED_FEATURE && batch->count > 1 && r < batch->count; r++) {
        conform_batch alone = *batch;
        alone.count = 1;
        alone.rows[0] = batch->rows[r];
        run_batch(runner, &alone);
    }
}

void conform_run_shape(const conform_runner *runner, conform_id base, conform_shape shape)
{
    conform_row rows[CONFORM_MAX_ROWS];
    uint32_t count = conform_rows_of(base, rows);
    conform_batch batch = {.values = runner->values, .base = base, .shape = shape};
    for (uint32_t r = 0; r < count; r++) {
        if (conform_shape_takes(shape, &rows[r])) {
            batch.rows[batch.count++] = rows[r];
        }
        if (batch.count > 0 &&
            (batch.count == (shape >= CONFORM_FIRST_LITERAL && shape <= CONFORM_ALL_LITERAL
                                 ? 6
                                 : CONFORM_BATCH) ||
             r + 1 == count)) {
            run_batch(runner, &batch);
            batch.count = 0;
        }
    }
}

void conform_print_report(const conform_report *report)
{
    printf("    %u rows in %u programs, %" PRIu64 " elements judged (%" PRIu64
           " outside of domains), %u wrong\n",
           report->rows, report->programs, report->cases, report->free, report->failures);
    for (uint32_t i = 0; i < report->reason_count; i++) {
        printf("    %u rows refused: %s\n", report->reasons[i].rows, report->reasons[i].message);
    }
}

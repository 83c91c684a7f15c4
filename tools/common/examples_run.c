/* Running the examples of a file, and judging each. */
#include "tools/common/examples.h"

#include "tools/common/value.h"

#include <stdlib.h>
#include <string.h>

/* One example being judged. */
typedef struct judge {
    vy_source *source;
    const vy_examples *examples;
    const vy_example *example;
    vyre_device *device;
    vyre_binding_mode bindings;
    vy_reference how;
    vy_arena *arena;
    FILE *err;
    vy_run_spec spec;
    vy_run_data data;
    vy_tolerance_used tolerance;
    bool failed;
} judge;

VY_PRINTF(3, 4)
static void fail(judge *j, uint32_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(j->err, "%s:%u: error: ", j->source->path, line);
    vfprintf(j->err, format, arguments);
    fputc('\n', j->err);
    va_end(arguments);
    j->failed = true;
}

static const vy_expectation *find_expectation(const judge *j, const char *name)
{
    for (uint32_t i = 0; i < j->example->expectation_count; i++) {
        const vy_expectation *expectation =
            &j->examples->expectations.data[j->example->first_expectation + i];
        if (strcmp(expectation->name, name) == 0) {
            return expectation;
        }
    }
    return NULL;
}

/* ---- Expectations ---------------------------------------------------------------------------- */

static void judge_elements(judge *j, const char *who, const vy_expectation *expectation,
                           const vy_run_buffer *buffer, const void *got)
{
    void *wanted;
    uint32_t count;
    vyre_diag diag;
    if (vy_list_parse(expectation->value, buffer->type, &wanted, &count, &diag) != VYRE_OK) {
        fail(j, expectation->line, "%s", diag.message);
        return;
    }
    uint32_t from = expectation->has_slice ? expectation->from : 0;
    uint32_t to = expectation->has_slice ? expectation->to : buffer->count;
    vy_tolerance_used tolerance = j->tolerance;
    if (expectation->ulp >= 0) {
        tolerance =
            (vy_tolerance_used){.inexact = true, .ulp = expectation->ulp, .is_stated = true};
    }
    if (to > buffer->count) {
        fail(j, expectation->line, "%s has %u elements, and [%u..%u] is expected", buffer->name,
             buffer->count, from, to);
    } else if (expectation->open_end ? count > to - from : count != to - from) {
        fail(j, expectation->line, "%u values are expected of %u elements of %s", count, to - from,
             buffer->name);
    } else {
        const char *there = (const char *)got + (size_t)from * vyre_type_size(buffer->type);
        for (uint32_t i = 0; i < count; i++) {
            if (!vy_element_matches(buffer->type, there, wanted, i, &tolerance)) {
                char is[VY_VALUE_TEXT_SIZE], should[VY_VALUE_TEXT_SIZE];
                vy_value is_value = vy_value_load(buffer->type, there, i);
                vy_value should_value = vy_value_load(buffer->type, wanted, i);
                vy_value_format(buffer->type, &is_value, is);
                vy_value_format(buffer->type, &should_value, should);
                fail(j, expectation->line, "%s[%u] is %s on the %s, expected %s", buffer->name,
                     from + i, is, who, should);
                break;
            }
        }
    }
    free(wanted);
}

static void judge_word(judge *j, const char *who, const vy_expectation *expectation,
                       const char *got)
{
    if (strcmp(expectation->value, got) != 0) {
        fail(j, expectation->line, "%s is %s on the %s, expected %s", expectation->name, got, who,
             expectation->value);
    }
}

static void describe_record(const vyre_fault_record *record, char *out, size_t size)
{
    if (record->kind == VYRE_RECORD_TRAP) {
        snprintf(out, size, "trap %u", record->code);
    } else {
        snprintf(out, size, "%s", record->kind == VYRE_RECORD_NONE ? "none" : "loop_limit");
    }
}

static void judge_expectation(judge *j, const char *who, const vy_expectation *expectation,
                              const vy_run_result *result)
{
    char text[32];
    if (strcmp(expectation->name, "converged") == 0) {
        judge_word(j, who, expectation, vy_convergence_text(result->convergence));
        return;
    }
    if (strcmp(expectation->name, "passes") == 0) {
        snprintf(text, sizeof text, "%u", result->passes);
        judge_word(j, who, expectation, text);
        return;
    }
    if (strcmp(expectation->name, "record") == 0) {
        describe_record(&result->record, text, sizeof text);
        judge_word(j, who, expectation, text);
        return;
    }
    for (uint32_t i = 0; i < j->data.buffer_count; i++) {
        if (result->out[i] && strcmp(j->data.buffers[i].name, expectation->name) == 0) {
            judge_elements(j, who, expectation, &j->data.buffers[i], result->out[i]);
            return;
        }
    }
    fail(j, expectation->line,
         "the program has no output '%s'. Fix: name one of its out or inout "
         "buffers",
         expectation->name);
}

static void judge_result(judge *j, const char *who, const vy_run_result *result)
{
    for (uint32_t i = 0; i < j->example->expectation_count; i++) {
        uint32_t at = j->example->first_expectation + i;
        judge_expectation(j, who, &j->examples->expectations.data[at], result);
    }
    if (result->convergence == VYRE_CONVERGENCE_LIMIT && !find_expectation(j, "converged")) {
        fail(j, j->example->line,
             "the fixpoint reached its limit of %u passes on the %s. Fix: raise the limit, or "
             "expect converged = no",
             result->passes, who);
    }
    if (result->record.kind != VYRE_RECORD_NONE && !find_expectation(j, "record")) {
        char text[32];
        describe_record(&result->record, text, sizeof text);
        fail(j, j->example->line,
             "the %s left a record: %s at %u:%u. Fix: expect record = %s if that is right", who,
             text, result->record.line, result->record.column, text);
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* An error is right where exactly that is expected. */
static void judge_error(judge *j, const char *who, vyre_result result, const vyre_diag *diag)
{
    const vy_expectation *expectation = find_expectation(j, "error");
    const char *name = vyre_result_name(result);
    if (!expectation && result != VYRE_OK) {
        fail(j, j->example->line, "the %s says %s: %s", who, name, diag->message);
    } else if (expectation && strcmp(expectation->value, name) != 0) {
        fail(j, expectation->line, "the %s says %s, expected error = %s%s%s", who, name,
             expectation->value, result != VYRE_OK ? ": " : "",
             result != VYRE_OK ? diag->message : "");
    }
}

static vyre_result read_arguments(judge *j, vyre_diag *diag)
{
    char **words;
    int count, id;
    vyre_result result = vy_split_words(j->arena, j->example->arguments,
                                        strlen(j->example->arguments), &words, &count, diag);
    if (result != VYRE_OK) {
        return result;
    }
    vy_args args = {.count = count,
                    .arguments = words,
                    .options = vy_run_options,
                    .option_count = vy_run_option_count};
    while ((id = vy_args_next(&args)) != VY_ARG_END) {
        if (id == VY_ARG_POSITIONAL || id == VY_ARG_ERROR) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "%.200s%s. Fix: give options of a run (vyre-run --help)",
                               id == VY_ARG_ERROR ? args.error : args.value,
                               id == VY_ARG_ERROR ? "" : " is no option");
        }
        result = vy_run_spec_take(&j->spec, id, args.value, diag);
        if (result != VYRE_OK) {
            return result;
        }
    }
    return VYRE_OK;
}

static vyre_result run_on_device(const judge *j, vy_run_result *result, vyre_diag *diag)
{
    vy_device_program ready;
    vyre_report report;
    vyre_result status = vy_device_program_create(j->device, j->source, j->data.workgroup,
                                                  j->bindings, &ready, diag);
    if (status == VYRE_OK) {
        status = vy_run_device(&ready, &j->data, result, &report, diag);
        vy_device_program_finish(&ready);
    }
    return status;
}

static void judge_runs(judge *j)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    vy_run_result reference = {0}, device = {0};
    vyre_result status = vy_run_reference(j->source->program, &j->data, &j->how, &reference, &diag);
    judge_error(j, "interpreter", status, &diag);
    if (status == VYRE_OK && !find_expectation(j, "error")) {
        judge_result(j, "interpreter", &reference);
    }
    if (j->device) {
        vy_diag_clear(&diag);
        vyre_result device_status = run_on_device(j, &device, &diag);
        judge_error(j, "device", device_status, &diag);
        if (device_status == VYRE_OK && !find_expectation(j, "error")) {
            judge_result(j, "device", &device);
        }
        if (device_status == VYRE_OK && status == VYRE_OK &&
            vy_run_compare(&j->data, &device, &reference, &j->tolerance, j->err)) {
            fail(j, j->example->line, "device and interpreter differ");
        }
    }
    vy_run_result_finish(&reference);
    vy_run_result_finish(&device);
}

static void judge_example(judge *j)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    vy_run_spec_init(&j->spec, j->arena);
    j->spec.beside = j->source->path;
    vyre_result result = read_arguments(j, &diag);
    if (result != VYRE_OK) {
        fail(j, j->example->line, "%s", diag.message);
        return;
    }
    result = vy_run_data_make(j->source->program, &j->spec, &j->data, &diag);
    if (result != VYRE_OK) {
        judge_error(j, "run", result, &diag);
    } else {
        j->tolerance = vy_run_tolerance(j->source->program, j->spec.tolerance);
        judge_runs(j);
    }
    vy_run_data_finish(&j->data);
}

static uint32_t judge_all(judge *j, const vy_examples *examples)
{
    uint32_t failures = 0;
    vyre_diag diag;
    vy_diag_clear(&diag);
    vyre_result parsed = vy_source_parse(j->source, &diag);
    for (uint32_t i = 0; i < examples->runs.count; i++) {
        j->example = &examples->runs.data[i];
        j->failed = false;
        if (parsed != VYRE_OK && !find_expectation(j, "error")) {
            vy_tool_fail(j->err, &diag, j->source->path, vy_source_quote(j->source, &diag),
                         j->source->size);
            return examples->runs.count;
        }
        if (parsed != VYRE_OK) {
            judge_error(j, "parser", parsed, &diag);
        } else {
            judge_example(j);
        }
        failures += j->failed;
    }
    return failures;
}

uint32_t vy_examples_run(const char *path, vyre_device *device, vyre_binding_mode bindings,
                         uint32_t subgroup_width, FILE *err, uint32_t *out_count)
{
    vy_source source;
    vyre_diag diag;
    vy_arena arena;
    vy_examples examples;
    uint32_t failures = 1;
    vy_diag_clear(&diag);
    *out_count = 0;
    if (vy_source_read(path, &source, &diag) != VYRE_OK) {
        vy_tool_fail(err, &diag, path, NULL, 0);
        return 1;
    }
    if (source.is_kernel) {
        fprintf(err, "%s: error: a kernel file has no comments; give the program's .vyre text\n",
                path);
        vy_source_finish(&source);
        return 1;
    }
    vy_arena_init(&arena, NULL);
    if (vy_examples_find(source.text, source.size, &arena, &examples, &diag) != VYRE_OK) {
        vy_tool_fail(err, &diag, path, source.text, source.size);
    } else if (examples.runs.count == 0) {
        fprintf(err,
                "%s: error: the file has no example; write '//! run: ARGUMENTS' and '//! "
                "expect: NAME = ...' in its comments\n",
                path);
    } else {
        judge j = {.source = &source,
                   .examples = &examples,
                   .device = device,
                   .bindings = bindings,
                   .how = vy_reference_of(device),
                   .arena = &arena,
                   .err = err};
        j.how.subgroup_width = device ? j.how.subgroup_width : subgroup_width;
        *out_count = examples.runs.count;
        failures = judge_all(&j, &examples);
    }
    vy_arena_finish(&arena);
    vy_source_finish(&source);
    return failures;
}

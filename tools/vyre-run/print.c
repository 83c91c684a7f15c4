/* What a run gave, as text and as JSON; and outputs to files. */
#include "tools/vyre-run/command.h"

#include "tools/common/npy.h"
#include "tools/common/open.h"
#include "tools/common/value.h"

#include <stdlib.h>
#include <string.h>

/* Elements printed of an output that nobody asked for. */
#define SHOWN 32u

static const vy_assignment *find_output(const outcome *o, const char *name)
{
    for (uint32_t i = 0; i < o->command->spec.outputs.count; i++) {
        if (strcmp(o->command->spec.outputs.data[i].name, name) == 0) {
            return &o->command->spec.outputs.data[i];
        }
    }
    return NULL;
}

/* Scratch buffers are read back for debugging, and are no results. */
static bool is_shown(const outcome *o, uint32_t binding)
{
    return o->result->out[binding] && vy_buffer_mode_is_output(o->data->buffers[binding].mode);
}

/* How many elements are printed: all, the first, or UINT32_MAX for "not at all". */
static uint32_t shown_elements(const outcome *o, uint32_t binding)
{
    const vy_run_buffer *buffer = &o->data->buffers[binding];
    const vy_assignment *asked = find_output(o, buffer->name);
    if (!is_shown(o, binding) || (asked && asked->value) ||
        (!asked && o->command->spec.outputs.count)) {
        return UINT32_MAX;
    }
    return asked || buffer->count < SHOWN ? buffer->count : SHOWN;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void print_output(const outcome *o, uint32_t binding, FILE *out)
{
    const vy_run_buffer *buffer = &o->data->buffers[binding];
    uint32_t shown = shown_elements(o, binding);
    if (shown == UINT32_MAX) {
        return;
    }
    fprintf(out, "%s =", buffer->name);
    for (uint32_t i = 0; i < shown; i++) {
        char text[VY_VALUE_TEXT_SIZE];
        vy_value value = vy_value_load(buffer->type, o->result->out[binding], i);
        vy_value_format(buffer->type, &value, text);
        fprintf(out, "%s %s", i ? "," : "", text);
    }
    if (shown < buffer->count) {
        fprintf(out, ", ... (%u elements)", buffer->count);
    }
    fputc('\n', out);
}

static void print_timing(const char *what, const timing *time, uint32_t repeat, FILE *out)
{
    if (time->median == VYRE_NS_NONE) {
        fprintf(out, "%s: not measured by this device\n", what);
        return;
    }
    fprintf(out, "%s: %.1f us", what, (double)time->median / 1e3);
    if (repeat > 1) {
        fprintf(out, " (median of %u; %.1f to %.1f)", repeat, (double)time->least / 1e3,
                (double)time->most / 1e3);
    }
    fputc('\n', out);
}

static void print_ns(const char *name, uint64_t ns, FILE *out)
{
    if (ns == VYRE_NS_NONE) {
        fprintf(out, "  %-22s not measured\n", name);
    } else {
        fprintf(out, "  %-22s %.1f us\n", name, (double)ns / 1e3);
    }
}

static void print_times(const vyre_report *r, FILE *out)
{
    fprintf(out, "times of the last run:\n");
    print_ns("wall", r->wall_ns, out);
    print_ns("up to submitted", r->enqueue_ns, out);
    print_ns("  checks and planning", r->plan_ns, out);
    print_ns("  recording", r->record_ns, out);
    print_ns("  writing inputs", r->stage_ns, out);
    print_ns("  submitting", r->submit_ns, out);
    print_ns("blocked in waits", r->wait_ns, out);
    print_ns("copying outputs", r->readback_ns, out);
    print_ns("device, dispatches", r->device_dispatches_ns, out);
    print_ns("device, all commands", r->device_ns, out);
    if (r->device_start_ns != VYRE_NS_NONE) {
        fprintf(out, "  %-22s %llu ns on the host's clock\n", "device's start",
                (unsigned long long)r->device_start_ns);
    }
}

static void print_device_report(const vyre_report *r, FILE *out)
{
    fprintf(out, "strategy: %s (%s)\n", r->strategy ? r->strategy : "none",
            r->strategy_reason ? r->strategy_reason : "nothing was run");
    fprintf(out, "bindings: %s, %u descriptor writes\n", r->bindings ? r->bindings : "none",
            r->descriptor_writes);
    fprintf(out, "dispatches: %llu recorded, %llu executed\n",
            (unsigned long long)r->dispatches_recorded, (unsigned long long)r->dispatches_executed);
    fprintf(out, "workgroups saved: %llu\n", (unsigned long long)r->workgroups_saved);
    fprintf(out, "passes saved by convergence: %llu\n", (unsigned long long)r->passes_saved);
    fprintf(out, "barriers: %llu recorded, %llu elided\n", (unsigned long long)r->barriers_recorded,
            (unsigned long long)r->barriers_elided);
    fprintf(out, "submissions: %u (%u chunks), waits: %u\n", r->submissions, r->chunks, r->waits);
    fprintf(out, "recordings: %u, reused %u\n", r->recordings, r->recordings_reused);
    fprintf(out, "bytes: %llu up in %u copies, %llu down in %u\n",
            (unsigned long long)r->upload_size, r->uploads, (unsigned long long)r->download_size,
            r->downloads);
    fprintf(out, "hidden bytes: %llu spill, %llu staging, %llu scratch, %llu arguments\n",
            (unsigned long long)r->spill_size, (unsigned long long)r->staging_size,
            (unsigned long long)r->scratch_size, (unsigned long long)r->argument_size);
    fprintf(out, "grid: %s%s\n",
            r->is_folded   ? "folded"
            : r->is_coarse ? "several elements an invocation"
                           : "as launched",
            r->is_grid_clamped ? ", of fewer workgroups than the buffer has" : "");
    print_times(r, out);
}

static void print_report(const outcome *o, FILE *out)
{
    vyre_device_info info;
    if (o->device) {
        vyre_device_get_info(o->device, &info);
        fprintf(out, "device: %s (%s)\n", info.name, info.driver);
    } else {
        fprintf(out, "device: none, the interpreter\n");
    }
    fprintf(out, "invocations: %llu\n", (unsigned long long)o->data->invocations);
    fprintf(out, "passes: %u, of %u segments each\n", o->result->passes, o->result->segments);
    fprintf(out, "converged: %s\n", vy_convergence_text(o->result->convergence));
    if (o->device) {
        fprintf(out, "kernel: %s\n", o->is_precompiled ? "from the file" : "compiled");
        print_device_report(&o->report, out);
    }
}

static void print_check(const outcome *o, FILE *out)
{
    if (o->differences) {
        fprintf(out, "check: %llu differences\n", (unsigned long long)o->differences);
    } else if (o->tolerance.inexact) {
        fprintf(out, "check: device and interpreter agree within %g ULP%s, which %s allows\n",
                o->tolerance.ulp,
                o->tolerance.absolute > 0 ? " or the documented absolute bound" : "",
                o->tolerance.because);
    } else {
        fprintf(out, "check: device and interpreter agree bit for bit\n");
    }
}

void print_text(const outcome *o, FILE *out)
{
    const command *c = o->command;
    for (uint32_t i = 0; o->lines && i < o->lines->list.count; i++) {
        vy_line_print(out, &o->lines->list.data[i]);
    }
    for (uint32_t i = 0; i < o->data->buffer_count; i++) {
        print_output(o, i, out);
    }
    if (c->report) {
        print_report(o, out);
    }
    if (c->time && o->device) {
        print_timing("wall", &o->wall, c->repeat, out);
        print_timing("device", &o->on_device, c->repeat, out);
    }
    if (c->check) {
        print_check(o, out);
    }
    if (c->races) {
        fprintf(out, "races: %llu elements\n", (unsigned long long)o->races);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_scalar(vyre_type type, uint64_t bits, vy_text *text)
{
    char value[VY_VALUE_TEXT_SIZE];
    vy_scalar_format(type, bits, value);
    /* JSON has no infinities and no NaN. */
    const char *quote = strchr("in", value[value[0] == '-']) ? "\"" : "";
    vy_text_printf(text, "%s%s%s", quote, value, quote);
}

/* A vector is an array of its components. */
static void json_element(vyre_type type, const void *elements, uint32_t index, vy_text *text)
{
    vy_value value = vy_value_load(type, elements, index);
    uint32_t count = vy_type_components(type);
    vy_text_append(text, "[", count > 1);
    for (uint32_t c = 0; c < count; c++) {
        vy_text_append(text, ", ", c ? 2 : 0);
        json_scalar(vy_type_component(type), value.bits[c], text);
    }
    vy_text_append(text, "]", count > 1);
}

static void json_output(const outcome *o, uint32_t binding, bool is_first, vy_text *text)
{
    const vy_run_buffer *buffer = &o->data->buffers[binding];
    uint32_t shown = shown_elements(o, binding);
    vy_text_append(text, ", ", is_first ? 0 : 2);
    vy_json_string(text, buffer->name);
    vy_text_printf(text, ": {\"type\": \"%s\", \"count\": %u", vyre_type_keyword(buffer->type),
                   buffer->count);
    if (shown != UINT32_MAX) {
        vy_text_printf(text, ", \"elements\": [");
        for (uint32_t i = 0; i < shown; i++) {
            vy_text_append(text, ", ", i ? 2 : 0);
            json_element(buffer->type, o->result->out[binding], i, text);
        }
        vy_text_printf(text, "]");
    }
    vy_text_printf(text, "}");
}

static void json_time(const char *name, uint64_t ns, vy_text *text)
{
    vy_text_printf(text, ", \"%s\": ", name);
    if (ns == VYRE_NS_NONE) {
        vy_text_printf(text, "null");
    } else {
        vy_text_printf(text, "%llu", (unsigned long long)ns);
    }
}

typedef size_t (*json_function)(const void *object, char *out, size_t size);

static size_t report_json(const void *report, char *out, size_t size)
{
    return vyre_report_format_json(report, out, size);
}

static size_t counters_json(const void *counters, char *out, size_t size)
{
    return vyre_device_counters_format_json(counters, out, size);
}

/* What the library prints itself. */
static void json_part(const char *name, json_function print, const void *object, vy_text *text)
{
    size_t size = print(object, NULL, 0) + 1;
    char *part = malloc(size);
    if (!part) {
        text->failed = true;
        return;
    }
    print(object, part, size);
    vy_text_printf(text, ",\n  \"%s\": ", name);
    vy_text_append(text, part, size - 1);
    free(part);
}

static void json_record(const vyre_fault_record *record, vy_text *text)
{
    if (record->kind == VYRE_RECORD_NONE) {
        vy_text_printf(text, "null");
        return;
    }
    vy_text_printf(text,
                   "{\"kind\": \"%s\", \"code\": %u, \"line\": %u, \"column\": %u, \"pass\": %u, "
                   "\"segment\": %u, \"invocation\": %u}",
                   vyre_record_kind_text(record->kind), record->code, record->line, record->column,
                   record->pass, record->segment, record->invocation);
}

static void json_lines(const vy_lines *lines, vy_text *text)
{
    vy_text_printf(text, "  \"printf\": [");
    for (uint32_t i = 0; i < lines->list.count; i++) {
        const vyre_printf_line *line = &lines->list.data[i];
        vy_text_printf(text,
                       "%s\n    {\"line\": %u, \"column\": %u, \"pass\": %u, \"segment\": %u, "
                       "\"invocation\": %u, \"text\": ",
                       i ? "," : "", (unsigned)line->line, (unsigned)line->column,
                       (unsigned)line->pass, (unsigned)line->segment, (unsigned)line->invocation);
        vy_json_string(text, line->text);
        vy_text_printf(text, "}");
    }
    vy_text_printf(text, "%s],\n", lines->list.count ? "\n  " : "");
}

static void json_times(const outcome *o, vy_text *text)
{
    const timing *times[] = {&o->wall, &o->on_device};
    static const char *const names[] = {"wall", "device"};
    for (int i = 0; i < 2; i++) {
        vy_text_printf(text, "%s\"%s\": {\"repeat\": %u", i ? ", " : "", names[i],
                       o->command->repeat);
        json_time("least_ns", times[i]->least, text);
        json_time("median_ns", times[i]->median, text);
        json_time("most_ns", times[i]->most, text);
        vy_text_printf(text, "}");
    }
}

static void json_all(const outcome *o, vy_text *text)
{
    vyre_device_info info;
    vy_text_printf(text, "{\"schema\": \"vyre.run/1\",\n  \"program\": ");
    vy_json_string(text, vyre_program_name(o->source->program));
    vy_text_printf(text, ",\n  \"device\": ");
    if (o->device) {
        vyre_device_get_info(o->device, &info);
        vy_json_string(text, info.name);
        vy_text_printf(text, ", \"driver\": ");
        vy_json_string(text, info.driver);
    } else {
        vy_text_printf(text, "null");
    }
    vy_text_printf(text, ",\n");
    if (o->lines) {
        json_lines(o->lines, text);
    }
    vy_text_printf(text, "  \"outputs\": {");
    bool is_first = true;
    for (uint32_t i = 0; i < o->data->buffer_count; i++) {
        if (is_shown(o, i)) {
            json_output(o, i, is_first, text);
            is_first = false;
        }
    }
    vy_text_printf(text, "},\n  \"invocations\": %llu, \"passes\": %u, \"segments\": %u",
                   (unsigned long long)o->data->invocations, o->result->passes,
                   o->result->segments);
    vy_text_printf(text, ", \"converged\": ");
    vy_text_printf(text, o->result->convergence == VYRE_CONVERGENCE_NONE  ? "null"
                         : o->result->convergence == VYRE_CONVERGENCE_YES ? "true"
                                                                          : "false");
    vy_text_printf(text, ", \"record\": ");
    json_record(&o->result->record, text);
    if (o->device) {
        vyre_device_counters counters;
        vyre_device_get_counters(o->device, &counters);
        json_part("report", report_json, &o->report, text);
        json_part("counters", counters_json, &counters, text);
        vy_text_printf(text, ",\n  \"time\": {");
        json_times(o, text);
        vy_text_printf(text, "},\n  \"validation_failures\": %llu",
                       (unsigned long long)o->validation_failures);
    }
    if (o->command->check) {
        vy_text_printf(text, ",\n  \"check\": {\"differences\": %llu, \"exact\": %s, \"ulp\": %g}",
                       (unsigned long long)o->differences, o->tolerance.inexact ? "false" : "true",
                       o->tolerance.inexact ? o->tolerance.ulp : 0.0);
    }
    vy_text_printf(text, "}\n");
}

vyre_result print_json(const outcome *o, FILE *out, vyre_diag *diag)
{
    vy_text text;
    vy_text_init(&text, NULL);
    json_all(o, &text);
    vyre_result result = text.failed ? vy_diag_no_memory(diag) : VYRE_OK;
    if (result == VYRE_OK) {
        fwrite(text.data, 1, text.size, out);
    }
    vy_text_finish(&text);
    return result;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static vyre_result write_output(const vy_run_buffer *buffer, const void *elements, const char *path,
                                vyre_diag *diag)
{
    vy_text bytes;
    vy_text_init(&bytes, NULL);
    if (vy_path_has_suffix(path, ".npy")) {
        vy_npy_format(buffer->type, elements, buffer->count, &bytes);
    } else {
        vy_text_append(&bytes, elements, (size_t)buffer->count * vyre_type_size(buffer->type));
    }
    vyre_result result =
        bytes.failed ? vy_diag_no_memory(diag) : vy_file_write(path, bytes.data, bytes.size, diag);
    vy_text_finish(&bytes);
    return result;
}

vyre_result write_outputs(const outcome *o, vyre_diag *diag)
{
    for (uint32_t i = 0; i < o->data->buffer_count; i++) {
        const vy_assignment *asked = find_output(o, o->data->buffers[i].name);
        if (!o->result->out[i] || !asked || !asked->value) {
            continue;
        }
        vyre_result result =
            write_output(&o->data->buffers[i], o->result->out[i], asked->value, diag);
        if (result != VYRE_OK) {
            return result;
        }
    }
    return VYRE_OK;
}

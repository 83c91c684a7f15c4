/* What all ways of running one program begin and end with. */
#include "tools/vyre-run/session.h"

#include "tools/common/open.h"
#include "tools/common/value.h"

#include <string.h>

vyre_result session_begin(session *s, command *c, FILE *out, FILE *err, vyre_diag *diag)
{
    *s = (session){.command = c, .out = out, .err = err};
    s->outcome.command = c;
    s->outcome.source = &s->source;
    s->outcome.data = &s->data;
    vy_lines_init(&s->lines);
    vy_lines_init(&s->reference_lines);
    if (c->trace) {
        trace_begin(&s->trace);
    }
    uint64_t begin = vyre_clock_ns();
    vyre_result result = vy_source_read(c->files.data[0], &s->source, diag);
    s->source.debug = c->debug ? VYRE_DEBUG_INFO_FULL : VYRE_DEBUG_INFO_NONE;
    s->source.optimization = c->unoptimized ? VYRE_OPTIMIZATION_NONE : VYRE_OPTIMIZATION_FULL;
    if (result == VYRE_OK) {
        result = vy_source_parse(&s->source, diag);
    }
    if (result == VYRE_OK && c->bounds) {
        result = vyre_program_record_bounds(s->source.program, diag);
    }
    trace_phase(&s->trace, "parse", begin);
    begin = vyre_clock_ns();
    vy_progress_init(&s->progress, err);
    if (result == VYRE_OK) {
        result = vy_run_data_make(s->source.program, &c->spec, &s->data, diag);
        s->data.progress = &s->progress;
        trace_phase(&s->trace, "inputs", begin);
    }
    return result;
}

vyre_result session_open(session *s, vyre_diag *diag)
{
    const command *c = s->command;
    vyre_validation validation =
        c->validate ? VYRE_VALIDATION_GPU_ASSISTED : VYRE_VALIDATION_DEFAULT;
    if (s->device) {
        return VYRE_OK;
    }
    vyre_result result = capture_open(&s->capture, c->capture, diag);
    if (result != VYRE_OK) {
        return result;
    }
    uint64_t begin = vyre_clock_ns();
    uint32_t debug = c->capture ? VYRE_DEBUG_LABELS : 0;
    result = c->prints ? vy_open_device_printing(c->device, &s->lines, s->err, &s->device, diag)
                       : vy_open_device_for(c->device, validation, debug, s->err, &s->device, diag);
    trace_phase(&s->trace, "open", begin);
    begin = vyre_clock_ns();
    if (result == VYRE_OK) {
        vyre_device_info info;
        vyre_device_get_info(s->device, &info);
        trace_device(&s->trace, info.name, info.driver);
        result = vy_device_program_create(s->device, &s->source, s->data.workgroup, c->bindings,
                                          &s->ready, diag);
    }
    if (result == VYRE_OK) {
        trace_span(&s->trace, "compile", begin, s->ready.compiled_ns);
        trace_phase(&s->trace, "make pipeline", s->ready.compiled_ns);
    }
    s->outcome.device = s->device;
    s->outcome.is_precompiled = vyre_kernel_is_precompiled(s->ready.kernel) != 0;
    return result;
}

int session_fail(const session *s, const vyre_diag *diag)
{
    if (vy_tool_is_interrupted()) {
        fprintf(s->err, "vyre-run: %s\n", diag->message);
        return VY_EXIT_INTERRUPTED;
    }
    return vy_tool_fail(s->err, diag, s->command->files.data[0], vy_source_quote(&s->source, diag),
                        s->source.size);
}

void session_finish(session *s)
{
    trace_finish(&s->trace);
    vy_device_program_finish(&s->ready);
    vyre_device_destroy(&s->device);
    vy_run_result_finish(&s->reference);
    vy_run_result_finish(&s->on_device);
    vy_lines_finish(&s->lines);
    vy_lines_finish(&s->reference_lines);
    vy_run_data_finish(&s->data);
    vy_source_finish(&s->source);
}

/* ---- Parts of a run -------------------------------------------------------------------------- */

static bool keeps_scratch(const session *s)
{
    bool keeps = false;
    for (uint32_t i = 0; i < s->data.buffer_count; i++) {
        keeps = keeps || s->data.buffers[i].mode == VYRE_BUFFER_SCRATCH_KEEP;
    }
    return keeps;
}

vyre_result session_run_prefix(session *s, vy_prefix prefix, vy_run_result *result,
                               vyre_report *out_report, vyre_diag *diag)
{
    if (!keeps_scratch(s)) {
        return vy_run_device_prefix(&s->ready, &s->data, prefix, result, out_report, diag);
    }
    vy_device_program own;
    vyre_result code = vy_device_program_create(s->device, &s->source, s->data.workgroup,
                                                s->command->bindings, &own, diag);
    if (code == VYRE_OK) {
        code = vy_run_device_prefix(&own, &s->data, prefix, result, out_report, diag);
        vy_device_program_finish(&own);
    }
    return code;
}

vy_reference session_reference(const session *s)
{
    vy_reference how = vy_reference_of(s->device);
    how.subgroup_width = s->device ? how.subgroup_width : s->command->subgroup_width;
    return how;
}

vyre_result session_schedule(const session *s, vy_arena *arena, vy_interp_place **out_list,
                             uint32_t *out_count, vyre_diag *diag)
{
    vy_reference how = session_reference(s);
    return vy_run_schedule(s->source.program, &s->data, &how, arena, out_list, out_count, diag);
}

/* ---- Text ------------------------------------------------------------------------------------ */

void session_place_text(const vy_interp_place *place, char *out, size_t size)
{
    char execution[64] = "", line[32] = "";
    if (place->executions != place->segments || place->execution != place->segment) {
        snprintf(execution, sizeof execution, "execution %u of %u%s", place->execution + 1,
                 place->executions, place->line ? ", " : "");
    }
    if (place->line) {
        snprintf(line, sizeof line, "line %u", place->line);
    }
    bool is_bare = !execution[0] && !line[0];
    snprintf(out, size, "segment %u%s%s%s%s", place->segment, is_bare ? "" : " (", execution, line,
             is_bare ? "" : ")");
}

uint32_t session_buffer(const session *s, uint32_t binding)
{
    const vyre_program *program = s->source.program;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED && buffer->binding == binding) {
            return i;
        }
    }
    return 0;
}

void session_element_text(const vy_run_buffer *buffer, const void *elements, size_t index,
                          char out[static 256])
{
    vy_value value = vy_value_load(buffer->type, elements, index);
    vy_value_format(buffer->type, &value, out);
}

static void print_line(const session *s, uint32_t line, FILE *out)
{
    const char *at = s->source.is_kernel ? NULL : s->source.text;
    for (uint32_t i = 1; at && i < line; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (at && line) {
        fprintf(out, "%6u | %.*s\n", line, (int)strcspn(at, "\r\n"), at);
    }
}

void session_print_line(const session *s, uint32_t line)
{
    print_line(s, line, s->out);
}

/* The statement that left the record. */
static const vy_stmt *find_outside(const vyre_program *program, const vyre_fault_record *record)
{
    for (uint32_t i = 1; i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        if (stmt->outside == (uint8_t)record->kind && stmt->bits == record->code &&
            stmt->loc.line == record->line && stmt->loc.column == record->column) {
            return stmt;
        }
    }
    return NULL;
}

/* What the interpreter's run gave, or one for a device's, which does not keep the index. */
static bool find_index(session *s, const vy_run_result *result, uint64_t *out_index,
                       uint32_t *out_length)
{
    vyre_diag ignored;
    vy_run_result own = {0};
    if (result != &s->reference) {
        vy_reference how = session_reference(s);
        if (vy_run_reference(s->source.program, &s->data, &how, &own, &ignored) == VYRE_OK) {
            bool is_same = vy_record_matches(&own.record, &result->record);
            *out_index = own.outside_index;
            *out_length = own.outside_length;
            vy_run_result_finish(&own);
            return is_same;
        }
        vy_run_result_finish(&own);
        return false;
    }
    *out_index = result->outside_index;
    *out_length = result->outside_length;
    return true;
}

void session_print_outside(session *s, const vy_run_result *result, FILE *err)
{
    const vyre_fault_record *record = &result->record;
    const vy_stmt *stmt = find_outside(s->source.program, record);
    const char *name = stmt && stmt->name ? stmt->name : "?";
    char element[64] = "an element";
    uint64_t index;
    uint32_t length;
    if (find_index(s, result, &index, &length)) {
        bool is_signed = stmt && s->source.program->exprs.data[stmt->x.root].type == VYRE_TYPE_I32;
        if (is_signed) {
            snprintf(element, sizeof element, "element %d of %u", (int)(int32_t)index, length);
        } else {
            snprintf(element, sizeof element, "element %llu of %u", (unsigned long long)index,
                     length);
        }
    }
    fprintf(err,
            "%s:%u:%u: error: %s: %s of '%s', first in pass %u, segment %u, invocation %u; check "
            "the index against len(%s)\n",
            s->source.path, record->line, record->column, vy_record_outside_text(record), element,
            name, record->pass, record->segment, record->invocation, name);
    print_line(s, record->line, err);
}

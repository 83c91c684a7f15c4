/* What vyre-run does with one program, and with the examples of many. */
#include "tools/vyre-run/session.h"

#include "tools/common/examples.h"
#include "tools/common/open.h"

#include <stdlib.h>
#include <string.h>

/* ---- Times ----------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static timing summarise(uint64_t *times, uint32_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return (timing){times[0], times[count / 2], times[count - 1]};
}

/* ---- One program ----------------------------------------------------------------------------- */

static vyre_result run_repeatedly(session *s, vyre_diag *diag)
{
    const command *c = s->command;
    uint64_t *times = calloc(c->repeat, 2 * sizeof *times);
    if (!times) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = VYRE_OK;
    for (uint64_t i = 0; i < (uint64_t)c->warmup + c->repeat && result == VYRE_OK; i++) {
        uint64_t begin = vyre_clock_ns();
        result = capture_begin(&s->capture, diag);
        if (result == VYRE_OK) {
            result = vy_run_device(&s->ready, &s->data, &s->on_device, &s->outcome.report, diag);
        }
        if (result == VYRE_OK) {
            result = capture_end(&s->capture, diag);
        }
        trace_run(&s->trace, &s->outcome.report, begin, vyre_clock_ns());
        if (i >= c->warmup) {
            times[i - c->warmup] = s->outcome.report.wall_ns;
            times[i - c->warmup + c->repeat] = s->outcome.report.device_ns;
        }
    }
    s->outcome.wall = summarise(times, c->repeat);
    s->outcome.on_device = summarise(times + c->repeat, c->repeat);
    free(times);
    return result;
}

/* For the trace: what each segment takes, in one more run, whose results nobody looks at. */
static vyre_result run_segments(session *s, vy_arena *arena, vyre_diag *diag)
{
    vy_interp_place *schedule;
    uint32_t count = 0;
    vyre_result result = session_schedule(s, arena, &schedule, &count, diag);
    if (result != VYRE_OK || count == 0) {
        return result;
    }
    vy_marks marks = {.list = vy_arena_alloc(arena, TRACE_MAX_SEGMENTS, sizeof *marks.list),
                      .capacity = TRACE_MAX_SEGMENTS};
    const char **names = vy_arena_alloc(arena, count, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        char text[128];
        session_place_text(&schedule[i], text, sizeof text);
        names[i] = vy_arena_text(arena, text, strlen(text));
    }
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    vyre_report report;
    vy_run_result ignored = {0};
    vy_run_data data = s->data;
    uint32_t most = TRACE_MAX_SEGMENTS / count ? TRACE_MAX_SEGMENTS / count : 1;
    data.passes = s->outcome.report.passes < most ? s->outcome.report.passes : most;
    uint64_t begin = vyre_clock_ns();
    result = vy_run_marked(&s->ready, &data, &marks, &ignored, &report, diag);
    vy_run_result_finish(&ignored);
    if (result == VYRE_OK && marks.count) {
        bool is_placed = report.device_start_ns != VYRE_NS_NONE;
        trace_phase(&s->trace, "run by segments", begin);
        trace_segments(&s->trace, &marks, report.passes, names,
                       is_placed ? report.device_start_ns : begin);
    }
    return result;
}

static vyre_result run_on_device(session *s, vyre_diag *diag)
{
    vyre_result result = session_open(s, diag);
    if (result == VYRE_OK) {
        result = run_repeatedly(s, diag);
    }
    if (result == VYRE_OK && s->trace.is_on) {
        vy_arena arena;
        vy_arena_init(&arena, NULL);
        result = run_segments(s, &arena, diag);
        vy_arena_finish(&arena);
    }
    s->outcome.result = &s->on_device;
    return result;
}

static vyre_result run_on_interpreter(session *s, vyre_diag *diag)
{
    vy_reference how = session_reference(s);
    how.detect_races = s->command->races;
    how.lines = s->command->prints ? &s->reference_lines : NULL;
    uint64_t begin = vyre_clock_ns();
    vyre_result result = vy_run_reference(s->source.program, &s->data, &how, &s->reference, diag);
    trace_phase(&s->trace, "interpreter", begin);
    if (!s->device) {
        s->outcome.result = &s->reference;
    }
    return result;
}

static vyre_result run(session *s, vyre_diag *diag)
{
    const command *c = s->command;
    s->data.has_scratch = c->dump_folder != NULL;
    vyre_result result = c->reference ? VYRE_OK : run_on_device(s, diag);
    if (result == VYRE_OK && (c->reference || c->check)) {
        result = run_on_interpreter(s, diag);
    }
    if (result == VYRE_OK && c->prints) {
        bool is_sorted = vy_lines_sort(&s->lines) && vy_lines_sort(&s->reference_lines);
        s->outcome.lines = s->device ? &s->lines : &s->reference_lines;
        result = is_sorted ? VYRE_OK : vy_diag_no_memory(diag);
    }
    return result;
}

/* Complaints about a run that went through. */
static int judge(session *s, FILE *err)
{
    const command *c = s->command;
    const vy_run_result *result = s->outcome.result;
    int code = VY_EXIT_OK;
    if (result->record.kind >= VYRE_RECORD_LOAD_OUTSIDE) {
        session_print_outside(s, result, err);
        code = VY_EXIT_FAILED;
    } else if (result->record.kind != VYRE_RECORD_NONE) {
        vy_record_print(err, s->source.path, &result->record);
        code = VY_EXIT_FAILED;
    }
    if (result->convergence == VYRE_CONVERGENCE_LIMIT) {
        fprintf(err,
                "%s: %s: the fixpoint reached its limit of %u passes; raise it with --passes\n",
                s->source.path, c->check ? "error" : "warning", result->passes);
        code = c->check ? VY_EXIT_FAILED : code;
    }
    s->outcome.races = s->reference.race_count;
    if (s->reference.race_count) {
        fprintf(err,
                "%s:%u:%u: error: %llu elements have conflicting plain accesses; the first: "
                "%s\n",
                s->source.path, s->reference.first_race.line, s->reference.first_race.column,
                (unsigned long long)s->reference.race_count, s->reference.first_race.message);
        code = VY_EXIT_FAILED;
    }
    if (c->check) {
        s->outcome.tolerance = vy_run_tolerance(s->source.program, c->spec.tolerance);
        s->outcome.differences =
            vy_run_compare(&s->data, &s->on_device, &s->reference, &s->outcome.tolerance, err);
        if (c->prints) {
            s->outcome.differences += vy_lines_compare(&s->lines, &s->reference_lines, err);
        }
        if (s->outcome.differences) {
            fprintf(err, "%s: --bisect in place of --check finds where they part\n",
                    s->source.path);
            code = VY_EXIT_FAILED;
        }
    }
    if (s->device) {
        s->outcome.validation_failures = vyre_device_validation_failures(s->device);
        code = s->outcome.validation_failures ? VY_EXIT_FAILED : code;
    }
    return code;
}

int run_program(command *c, FILE *out, FILE *err)
{
    session s;
    vyre_diag diag;
    vy_diag_clear(&diag);
    int code = VY_EXIT_FAILED;
    bool has_quit = false;
    vyre_result result = session_begin(&s, c, out, err, &diag);
    if (result == VYRE_OK && c->step) {
        result = session_step(&s, &has_quit, &diag);
    }
    if (result == VYRE_OK && !has_quit) {
        result = run(&s, &diag);
    }
    if (result != VYRE_OK) {
        code = session_fail(&s, &diag);
    } else if (has_quit) {
        code = VY_EXIT_OK;
    } else {
        code = judge(&s, err);
        vyre_result printed = VYRE_OK;
        if (c->json) {
            printed = print_json(&s.outcome, out, &diag);
        } else {
            print_text(&s.outcome, out);
            if (c->capture) {
                fprintf(out, "capture: %s (strategy %s, buffers by descriptor)\n", c->capture,
                        s.outcome.report.strategy);
            }
        }
        if (printed != VYRE_OK || write_outputs(&s.outcome, &diag) != VYRE_OK ||
            (c->dump_folder && dump_buffers(&s.outcome, &diag) != VYRE_OK)) {
            code = vy_tool_fail(err, &diag, NULL, NULL, 0);
        }
    }
    /* Of a run that failed, too: as far as it came. */
    if (c->trace && trace_write(&s.trace, c->trace, &diag) != VYRE_OK) {
        code = vy_tool_fail(err, &diag, NULL, NULL, 0);
    }
    session_finish(&s);
    return code;
}

/* ---- Examples -------------------------------------------------------------------------------- */

int run_examples(command *c, FILE *out, FILE *err)
{
    vyre_diag diag;
    vyre_device *device = NULL;
    uint32_t failed_files = 0;
    vy_diag_clear(&diag);
    vyre_validation validation =
        c->validate ? VYRE_VALIDATION_GPU_ASSISTED : VYRE_VALIDATION_DEFAULT;
    if (!c->reference && vy_open_device(c->device, validation, err, &device, &diag) != VYRE_OK) {
        return vy_tool_fail(err, &diag, NULL, NULL, 0);
    }
    uint64_t complaints = 0;
    for (uint32_t i = 0; i < c->files.count; i++) {
        uint32_t count;
        uint32_t failures =
            vy_examples_run(c->files.data[i], device, c->bindings, c->subgroup_width, err, &count);
        uint64_t now = device ? vyre_device_validation_failures(device) : 0;
        fprintf(out, "%s: %u of %u examples pass", c->files.data[i],
                count > failures ? count - failures : 0, count);
        if (now > complaints) {
            fprintf(out, ", %llu complaints of the validation layer",
                    (unsigned long long)(now - complaints));
        }
        fputc('\n', out);
        failed_files += failures || now > complaints;
        complaints = now;
    }
    vyre_device_destroy(&device);
    return failed_files ? VY_EXIT_FAILED : VY_EXIT_OK;
}

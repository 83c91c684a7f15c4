/* --bisect: where device and interpreter part. Both are run up to the same place, whole passes
 * first, then segment executions of one pass, and what all buffers have there is compared. */
#include "tools/vyre-run/session.h"
#include "tools/vyre-run/writers.h"

#include <stdlib.h>
#include <string.h>

/* Other stores that are named. */
#define SHOWN_WRITERS 8u

typedef struct bisection {
    session s;
    vy_run_result on_device, reference; /* of the part that was run last */
    vyre_report report;
    vy_tolerance_used tolerance;
    vy_arena arena;
    vy_interp_place *schedule;
    uint32_t executions; /* of a pass */
    uint32_t runs;       /* of both */
    char run[32];        /* for progress */
} bisection;

typedef enum difference {
    NO_DIFFERENCE,
    IN_ELEMENTS,
    IN_RECORD,
    IN_PASSES /* how many there were, or convergence */
} difference;

/* ---- Running and comparing ------------------------------------------------------------------- */

static uint32_t first_different(const bisection *b, uint32_t binding, uint32_t *out_count)
{
    const vy_run_buffer *buffer = &b->s.data.buffers[binding];
    const void *device = b->on_device.out[binding], *reference = b->reference.out[binding];
    uint32_t first = buffer->count;
    *out_count = 0;
    for (uint32_t i = 0; device && reference && i < buffer->count; i++) {
        if (!vy_element_matches(buffer->type, device, reference, i, &b->tolerance)) {
            first = (*out_count)++ ? first : i;
        }
    }
    return first;
}

static difference compare(const bisection *b, bool is_whole)
{
    for (uint32_t i = 0; i < b->s.data.buffer_count; i++) {
        uint32_t count;
        (void)first_different(b, i, &count);
        if (count) {
            return IN_ELEMENTS;
        }
    }
    if (!vy_record_matches(&b->on_device.record, &b->reference.record)) {
        return IN_RECORD;
    }
    bool are_same = b->on_device.passes == b->reference.passes &&
                    b->on_device.convergence == b->reference.convergence;
    return is_whole && !are_same ? IN_PASSES : NO_DIFFERENCE;
}

static vyre_result run_both(bisection *b, vy_prefix prefix, vy_interp_watch *watch, vyre_diag *diag)
{
    vy_reference how = session_reference(&b->s);
    snprintf(b->run, sizeof b->run, "bisect, run %u", ++b->runs);
    b->s.progress.context = b->run;
    vyre_result result = session_run_prefix(&b->s, prefix, &b->on_device, &b->report, diag);
    return result == VYRE_OK ? vy_run_reference_prefix(b->s.source.program, &b->s.data, &how,
                                                       prefix, watch, &b->reference, diag)
                             : result;
}

/* Whether they differ behind that part. */
static vyre_result differs(bisection *b, vy_prefix prefix, bool *out_differs, vyre_diag *diag)
{
    vy_interp_watch watch = {0};
    vyre_result result = run_both(b, prefix, &watch, diag);
    *out_differs = result == VYRE_OK && compare(b, prefix.executions == 0) != NO_DIFFERENCE;
    return result;
}

/* The n-th of the parts that are searched. */
static vy_prefix part(bool is_of_passes, uint32_t pass, uint32_t n)
{
    return is_of_passes ? (vy_prefix){n, 0} : (vy_prefix){pass, n};
}

/* The first part behind which they differ, given that they do behind part `last` and not behind
 * part 0: steps grow from the start, since early parts are cheap, then the last step is halved. */
static vyre_result find_first(bisection *b, bool is_of_passes, uint32_t pass, uint32_t last,
                              uint32_t *out_first, vyre_diag *diag)
{
    uint32_t same = 0, step = 1;
    vyre_result result = VYRE_OK;
    while (same + step < last && result == VYRE_OK) {
        bool is_different;
        result = differs(b, part(is_of_passes, pass, same + step), &is_different, diag);
        if (is_different) {
            last = same + step;
            break;
        }
        same += step;
        step = step > UINT32_MAX / 2 ? step : step * 2;
    }
    while (result == VYRE_OK && last - same > 1) {
        uint32_t middle = same + (last - same) / 2;
        bool is_different;
        result = differs(b, part(is_of_passes, pass, middle), &is_different, diag);
        same = is_different ? same : middle;
        last = is_different ? middle : last;
    }
    *out_first = last;
    return result;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static int tell_same(const bisection *b)
{
    const session *s = &b->s;
    uint64_t elements = 0;
    uint32_t buffers = 0;
    for (uint32_t i = 0; i < s->data.buffer_count; i++) {
        buffers += b->on_device.out[i] != NULL;
        elements += b->on_device.out[i] ? s->data.buffers[i].count : 0;
    }
    fprintf(s->out, "bisect: device and interpreter agree");
    if (b->tolerance.inexact) {
        fprintf(s->out, " within %g ULP, which %s allows", b->tolerance.ulp, b->tolerance.because);
    } else {
        fprintf(s->out, " bit for bit");
    }
    fprintf(s->out,
            ": %llu elements of %u buffers, scratch among them, %u passes, convergence and "
            "record\n",
            (unsigned long long)elements, buffers, b->on_device.passes);
    return VY_EXIT_OK;
}

/* How many elements of each buffer differ. */
static void tell_counts(const bisection *b)
{
    const char *separator = "differ:      ";
    for (uint32_t i = 0; i < b->s.data.buffer_count; i++) {
        uint32_t count;
        (void)first_different(b, i, &count);
        if (count) {
            fprintf(b->s.out, "%s%s (%u of %u elements)", separator, b->s.data.buffers[i].name,
                    count, b->s.data.buffers[i].count);
            separator = ", ";
        }
    }
    fputc('\n', b->s.out);
}

static void tell_writers(const bisection *b, const writers *w, const vy_interp_watch *watch,
                         const char *name)
{
    const session *s = &b->s;
    const vy_stmt *stmts = s->source.program->stmts.data;
    if (watch->stmt) {
        fprintf(s->out, "written:     there, by invocation %u%s", watch->invocation,
                watch->writes > 1 ? ", as the interpreter's last write" : "");
    } else {
        fprintf(s->out, "written:     by the device alone, the interpreter writes nothing there");
    }
    uint32_t shown = 0;
    for (uint32_t i = 0; i < w->stmts.count; i++) {
        if (w->stmts.data[i] == watch->stmt) {
            continue;
        }
        if (shown == SHOWN_WRITERS) {
            fprintf(s->out, ", ...");
            break;
        }
        if (shown == 0) {
            fprintf(s->out, "; other stores to '%s' in the segment: ", name);
        }
        vy_loc loc = stmts[w->stmts.data[i]].loc;
        fprintf(s->out, "%s%u:%u", shown++ ? ", " : "", loc.line, loc.column);
    }
    if (shown == 0 && watch->stmt) {
        fprintf(s->out, "; the segment has no other store to '%s'", name);
    }
    fputc('\n', s->out);
}

/* What both had before that part. */
static vyre_result tell_before(bisection *b, vy_prefix prefix, uint32_t binding, uint32_t element,
                               vyre_diag *diag)
{
    const vy_run_buffer *buffer = &b->s.data.buffers[binding];
    vy_interp_watch watch = {0};
    vyre_result result = run_both(b, prefix, &watch, diag);
    if (result == VYRE_OK) {
        char device[2 * 256], reference[2 * 256];
        vy_element_describe(buffer->type, b->on_device.out[binding], element, device,
                            sizeof device);
        vy_element_describe(buffer->type, b->reference.out[binding], element, reference,
                            sizeof reference);
        bool is_same = strcmp(device, reference) == 0;
        fprintf(b->s.out, "before:      %s on %s%s%s, and nothing else differs before it%s\n",
                device, is_same ? "both" : "the device, ", is_same ? "" : reference,
                is_same ? "" : " on the interpreter", is_same ? "" : " by more than is allowed");
    }
    if (result == VYRE_OK && b->tolerance.inexact) {
        fprintf(b->s.out,
                "allowed:     %g ULP, by %s; what is allowed adds up over segments and passes "
                "(--tolerance)\n",
                b->tolerance.ulp, b->tolerance.because);
    }
    return result;
}

static void tell_values(const bisection *b, const vy_interp_place *place, uint32_t pass, vy_loc loc,
                        uint32_t binding, uint32_t element)
{
    const session *s = &b->s;
    const vy_run_buffer *buffer = &s->data.buffers[binding];
    const void *values[] = {b->on_device.out[binding], b->reference.out[binding]};
    char texts[2][256], where[128];
    for (int i = 0; i < 2; i++) {
        session_element_text(buffer, values[i], element, texts[i]);
    }
    session_place_text(place, where, sizeof where);
    fprintf(s->out,
            "%s:%u:%u: error: pass %u, %s: %s[%u] is %s on the device, %s on the interpreter\n",
            s->source.path, loc.line, loc.column, pass, where, buffer->name, element, texts[0],
            texts[1]);
    session_print_line(s, loc.line);
    for (int i = 0; i < 2; i++) {
        char text[2 * 256];
        vy_element_describe(buffer->type, values[i], element, text, sizeof text);
        fprintf(s->out, "%-12s %s\n", i ? "interpreter:" : "device:", text);
    }
}

/* Elements differ behind execution `last` of pass `pass`; counted from 1. */
static vyre_result tell_element(bisection *b, uint32_t pass, uint32_t last, vyre_diag *diag)
{
    const session *s = &b->s;
    vy_prefix prefix = {pass, last};
    uint32_t binding = 0, element = 0, count = 0;
    for (binding = 0; count == 0; binding += count == 0) {
        element = first_different(b, binding, &count);
    }
    const vy_run_buffer *buffer = &s->data.buffers[binding];
    vy_interp_place place = b->schedule[last - 1];
    vy_interp_watch watch = {.buffer = session_buffer(s, binding), .element = element};
    writers w;
    vyre_result result =
        find_writers(s->source.program, place.segment, watch.buffer, &b->arena, &w, diag);
    if (result == VYRE_OK) {
        result = run_both(b, prefix, &watch, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    if (vy_element_matches(buffer->type, b->on_device.out[binding], b->reference.out[binding],
                           element, &b->tolerance)) {
        fprintf(s->out,
                "%s: error: pass %u: %s[%u] differed once and is the same now: what the device "
                "gives varies from run to run; --races looks for the reason\n",
                s->source.path, pass, buffer->name, element);
        return VYRE_OK;
    }
    if (watch.pass != pass || watch.execution != last - 1) {
        watch.stmt = 0;
    }
    uint32_t stmt = watch.stmt ? watch.stmt : w.stmts.count ? w.stmts.data[0] : 0;
    vy_loc loc = stmt ? s->source.program->stmts.data[stmt].loc : (vy_loc){place.line, 1};
    tell_values(b, &place, pass, loc, binding, element);
    tell_writers(b, &w, &watch, buffer->name);
    tell_counts(b);
    prefix.executions--;
    return tell_before(b, prefix, binding, element, diag);
}

static void tell_passes(const bisection *b, uint32_t pass)
{
    fprintf(b->s.out,
            "%s: error: pass %u: elements and records are the same, but the device has had %u "
            "passes and converged: %s; the interpreter %u and %s\n",
            b->s.source.path, pass, b->on_device.passes,
            vy_convergence_text(b->on_device.convergence), b->reference.passes,
            vy_convergence_text(b->reference.convergence));
}

static void tell_record(const bisection *b, const vy_interp_place *place, uint32_t pass)
{
    char device[160], reference[160], where[128];
    const vyre_fault_record *record =
        b->reference.record.kind == VYRE_RECORD_NONE ? &b->on_device.record : &b->reference.record;
    vy_record_describe(&b->on_device.record, device, sizeof device);
    vy_record_describe(&b->reference.record, reference, sizeof reference);
    session_place_text(place, where, sizeof where);
    fprintf(b->s.out, "%s:%u:%u: error: pass %u, %s, record: device %s; interpreter %s\n",
            b->s.source.path, record->line, record->column, pass, where, device, reference);
    session_print_line(&b->s, record->line);
}

/* Whether words without the passes for speed are right. */
static vyre_result tell_unoptimized(bisection *b, vy_prefix whole, vyre_diag *diag)
{
    session *s = &b->s;
    bool is_different = false;
    if (s->source.optimization == VYRE_OPTIMIZATION_NONE) {
        return VYRE_OK;
    }
    s->source.optimization = VYRE_OPTIMIZATION_NONE;
    vy_device_program_finish(&s->ready);
    vyre_result result = vy_device_program_create(s->device, &s->source, s->data.workgroup,
                                                  s->command->bindings, &s->ready, diag);
    if (result == VYRE_OK) {
        result = differs(b, whole, &is_different, diag);
    }
    if (result == VYRE_OK) {
        fprintf(s->out, "with -O0:    %s\n",
                is_different ? "they differ, too"
                : s->source.is_kernel
                    ? "they agree: what the file has, or what the driver makes of "
                      "it, is at fault"
                    : "they agree: the passes for speed, or what the driver makes "
                      "of their words, are at fault");
    }
    return result;
}

/* ---- The search ------------------------------------------------------------------------------ */

/* They differ behind `pass` + 1 passes, and not behind `pass`. */
static vyre_result search_pass(bisection *b, uint32_t pass, vyre_diag *diag)
{
    bool is_different;
    vyre_result result = differs(b, (vy_prefix){pass, b->executions}, &is_different, diag);
    if (result != VYRE_OK) {
        return result;
    }
    if (!is_different) {
        vy_interp_watch watch = {0};
        result = run_both(b, (vy_prefix){pass + 1, 0}, &watch, diag);
        if (result != VYRE_OK) {
            return result;
        }
        if (compare(b, true) == IN_PASSES) {
            tell_passes(b, pass);
            return VYRE_OK;
        }
        fprintf(b->s.out,
                "%s: error: pass %u: they differ by the strategy %s alone, whose segments cannot "
                "be told apart; by --strategy replay the pass is right\n",
                b->s.source.path, pass, b->report.strategy ? b->report.strategy : "asked for");
        tell_counts(b);
        return VYRE_OK;
    }
    uint32_t last;
    vy_interp_watch watch = {0};
    result = find_first(b, false, pass, b->executions, &last, diag);
    if (result == VYRE_OK) {
        result = run_both(b, (vy_prefix){pass, last}, &watch, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    if (compare(b, false) == IN_ELEMENTS) {
        return tell_element(b, pass, last, diag);
    }
    tell_record(b, &b->schedule[last - 1], pass);
    return VYRE_OK;
}

static vyre_result bisect(bisection *b, int *out_code, vyre_diag *diag)
{
    session *s = &b->s;
    s->data.has_scratch = true;
    b->tolerance = vy_run_tolerance(s->source.program, s->command->spec.tolerance);
    vyre_result result = session_open(s, diag);
    if (result == VYRE_OK) {
        result = session_schedule(s, &b->arena, &b->schedule, &b->executions, diag);
    }
    bool is_different = false;
    vy_prefix whole = {0, 0};
    if (result == VYRE_OK) {
        whole.passes = vy_run_passes(s->source.program, &s->data);
        result = differs(b, whole, &is_different, diag);
    }
    if (result != VYRE_OK || !is_different) {
        *out_code = result == VYRE_OK ? tell_same(b) : VY_EXIT_FAILED;
        return result;
    }
    *out_code = VY_EXIT_FAILED;
    uint32_t passes = b->on_device.passes, first;
    passes = passes > b->reference.passes ? passes : b->reference.passes;
    result = find_first(b, true, 0, passes, &first, diag);
    if (result == VYRE_OK) {
        result = search_pass(b, first - 1, diag);
    }
    return result == VYRE_OK ? tell_unoptimized(b, whole, diag) : result;
}

int run_bisect(command *c, FILE *out, FILE *err)
{
    bisection b = {.executions = 0};
    vyre_diag diag;
    vy_diag_clear(&diag);
    vy_arena_init(&b.arena, NULL);
    int code = VY_EXIT_FAILED;
    vyre_result result = session_begin(&b.s, c, out, err, &diag);
    if (result == VYRE_OK) {
        result = bisect(&b, &code, &diag);
    }
    if (result != VYRE_OK) {
        code = session_fail(&b.s, &diag);
    } else if (vyre_device_validation_failures(b.s.device)) {
        code = VY_EXIT_FAILED;
    }
    vy_run_result_finish(&b.on_device);
    vy_run_result_finish(&b.reference);
    session_finish(&b.s);
    vy_arena_finish(&b.arena);
    return code;
}

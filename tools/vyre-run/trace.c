/* Trace events: complete events ("X") on a track of the host and one of the device, counters ("C"),
 * and names ("M"). Times in microseconds from the start. */
#include "tools/vyre-run/trace.h"

#include "tools/common/tool.h"

enum { HOST = 1, DEVICE = 2 };   /* processes */
enum { MAIN = 1, SEGMENTS = 2 }; /* threads: one of each, and another of the device */

static double microseconds(const trace *t, uint64_t ns)
{
    return ns > t->start_ns ? (double)(ns - t->start_ns) / 1e3 : 0;
}

/* Begins an event; its arguments and "}" follow. */
static void add_event_on(trace *t, const char *phase, int process, int thread, const char *name,
                         uint64_t ns)
{
    vy_text_append(&t->events, ",\n", t->events.size ? 2 : 0);
    vy_text_printf(&t->events,
                   "{\"ph\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"name\": ", phase,
                   process, thread, microseconds(t, ns));
    vy_json_string(&t->events, name);
}

static void add_event(trace *t, const char *phase, int process, const char *name, uint64_t ns)
{
    add_event_on(t, phase, process, MAIN, name, ns);
}

/* Arguments and "}" follow. */
static void add_span_on(trace *t, int process, int thread, const char *name, uint64_t begin_ns,
                        uint64_t end_ns)
{
    add_event_on(t, "X", process, thread, name, begin_ns);
    vy_text_printf(&t->events, ", \"cat\": \"%s\", \"dur\": %.3f",
                   process == HOST ? "host" : "device",
                   end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e3 : 0);
}

static void add_span(trace *t, int process, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
    add_span_on(t, process, MAIN, name, begin_ns, end_ns);
}

static void add_name(trace *t, int process, int thread, const char *what, const char *name)
{
    add_event_on(t, "M", process, thread, what, t->start_ns);
    vy_text_printf(&t->events, ", \"args\": {\"name\": ");
    vy_json_string(&t->events, name);
    vy_text_printf(&t->events, "}}");
}

void trace_begin(trace *t)
{
    *t = (trace){.is_on = true, .start_ns = vyre_clock_ns()};
    vy_text_init(&t->events, NULL);
    add_name(t, HOST, MAIN, "process_name", "vyre-run");
    add_name(t, HOST, MAIN, "thread_name", "host");
}

void trace_finish(trace *t)
{
    if (t->is_on) {
        vy_text_finish(&t->events);
    }
    *t = (trace){.is_on = false};
}

void trace_device(trace *t, const char *name, const char *driver)
{
    char both[512];
    if (t->is_on) {
        snprintf(both, sizeof both, "%s (%s)", name, driver);
        add_name(t, DEVICE, MAIN, "process_name", both);
        add_name(t, DEVICE, MAIN, "thread_name", "queue");
    }
}

void trace_span(trace *t, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
    if (t->is_on) {
        add_span(t, HOST, name, begin_ns, end_ns);
        vy_text_printf(&t->events, "}");
    }
}

void trace_phase(trace *t, const char *name, uint64_t begin_ns)
{
    trace_span(t, name, begin_ns, vyre_clock_ns());
}

/* ---- Runs on a device ------------------------------------------------------------------------ */

static void add_bytes(trace *t, uint64_t ns)
{
    add_event(t, "C", HOST, "bytes copied", ns);
    vy_text_printf(&t->events, ", \"args\": {\"up\": %llu, \"down\": %llu}}",
                   (unsigned long long)t->uploaded, (unsigned long long)t->downloaded);
}

static void add_memory(trace *t, const vyre_report *r, uint64_t ns)
{
    add_event(t, "C", HOST, "hidden bytes", ns);
    vy_text_printf(&t->events,
                   ", \"args\": {\"spill\": %llu, \"staging\": %llu, \"scratch\": %llu, "
                   "\"arguments\": %llu}}",
                   (unsigned long long)r->spill_size, (unsigned long long)r->staging_size,
                   (unsigned long long)r->scratch_size, (unsigned long long)r->argument_size);
}

/* The parts of a run are sums, and are laid one behind the other; what is left is the wait. Returns
 * when that ends. */
static uint64_t add_parts(trace *t, const vyre_report *r, uint64_t begin_ns, uint64_t end_ns)
{
    static const char *const names[] = {"plan", "upload", "record", "submit"};
    const uint64_t parts[] = {r->plan_ns, r->stage_ns, r->record_ns, r->submit_ns};
    uint64_t readback_ns = r->readback_ns < end_ns - begin_ns ? r->readback_ns : 0;
    uint64_t at = begin_ns, wait_end_ns = end_ns - readback_ns;
    for (size_t i = 0; i < VY_COUNT_OF(parts); i++) {
        uint64_t next = parts[i] < wait_end_ns - at ? at + parts[i] : wait_end_ns;
        add_span(t, HOST, names[i], at, next);
        vy_text_printf(&t->events, "}");
        if (i == 1) {
            t->uploaded += r->upload_size;
            add_bytes(t, next);
        }
        at = next;
    }
    add_span(t, HOST, "wait", at, wait_end_ns);
    vy_text_printf(&t->events, ", \"args\": {\"blocked_us\": %.3f, \"waits\": %u}}",
                   (double)r->wait_ns / 1e3, (unsigned)r->waits);
    add_span(t, HOST, "download", wait_end_ns, end_ns);
    vy_text_printf(&t->events, "}");
    t->downloaded += r->download_size;
    add_bytes(t, end_ns);
    return wait_end_ns;
}

/* Where the dispatches lie among the commands is not measured: the rest, which is copies, is
 * divided by their bytes. Without a common clock the commands end when the wait does. */
static void add_commands(trace *t, const vyre_report *r, uint64_t wait_end_ns)
{
    if (r->device_ns == VYRE_NS_NONE) {
        return;
    }
    bool is_placed = r->device_start_ns != VYRE_NS_NONE;
    uint64_t begin = is_placed                    ? r->device_start_ns
                     : wait_end_ns > r->device_ns ? wait_end_ns - r->device_ns
                                                  : 0;
    add_span(t, DEVICE, "commands", begin, begin + r->device_ns);
    vy_text_printf(&t->events, ", \"args\": {\"start\": \"%s\"}}",
                   is_placed ? "measured" : "estimated");
    if (r->device_dispatches_ns == VYRE_NS_NONE || r->device_dispatches_ns > r->device_ns) {
        return;
    }
    uint64_t copies = r->device_ns - r->device_dispatches_ns;
    uint64_t bytes = r->upload_size + r->download_size;
    double share = bytes ? (double)r->upload_size / (double)bytes : 0;
    uint64_t before = (uint64_t)((double)copies * share);
    begin += before < copies ? before : copies;
    add_span(t, DEVICE, "dispatches", begin, begin + r->device_dispatches_ns);
    vy_text_printf(&t->events,
                   ", \"args\": {\"passes\": %u, \"segments\": %u, \"dispatches\": %llu, "
                   "\"start\": \"estimated\"}}",
                   (unsigned)r->passes, (unsigned)r->segments,
                   (unsigned long long)r->dispatches_executed);
}

void trace_run(trace *t, const vyre_report *r, uint64_t begin_ns, uint64_t end_ns)
{
    if (!t->is_on || t->runs >= TRACE_MAX_RUNS) {
        return;
    }
    add_bytes(t, begin_ns);
    add_span(t, HOST, "run", begin_ns, end_ns);
    vy_text_printf(&t->events,
                   ", \"args\": {\"run\": %u, \"strategy\": \"%s\", \"passes\": %u, "
                   "\"segments\": %u, \"chunks\": %u, \"submissions\": %u, "
                   "\"recordings\": %u, \"barriers\": %llu}}",
                   (unsigned)t->runs++, r->strategy ? r->strategy : "none", (unsigned)r->passes,
                   (unsigned)r->segments, (unsigned)r->chunks, (unsigned)r->submissions,
                   (unsigned)r->recordings, (unsigned long long)r->barriers_recorded);
    add_memory(t, r, begin_ns);
    uint64_t wait_end_ns = add_parts(t, r, begin_ns, end_ns);
    add_commands(t, r, wait_end_ns);
}

static void add_segment(trace *t, const vy_mark *mark, const char *name, uint64_t start_ns)
{
    add_span_on(t, DEVICE, SEGMENTS, name, start_ns + mark->begin_ns, start_ns + mark->end_ns);
    vy_text_printf(&t->events, ", \"args\": {\"pass\": %u, \"execution\": %u}}",
                   (unsigned)mark->pass, (unsigned)mark->execution);
}

void trace_segments(trace *t, const vy_marks *marks, uint32_t passes, const char *const *names,
                    uint64_t start_ns)
{
    const vy_mark *list = marks->list;
    add_name(t, DEVICE, SEGMENTS, "thread_name", "segments, in a run of their own");
    for (uint32_t i = 0; i < marks->count && list[i].pass < passes;) {
        uint32_t end = i;
        while (end < marks->count && list[end].pass == list[i].pass) {
            end++;
        }
        char text[32];
        snprintf(text, sizeof text, "pass %u", (unsigned)list[i].pass);
        add_span_on(t, DEVICE, SEGMENTS, text, start_ns + list[i].begin_ns,
                    start_ns + list[end - 1].end_ns);
        vy_text_printf(&t->events, "}");
        for (; i < end; i++) {
            add_segment(t, &list[i], names[list[i].execution], start_ns);
        }
    }
}

vyre_result trace_write(const trace *t, const char *path, vyre_diag *diag)
{
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "{\"schema\": \"vyre.trace/1\", \"displayTimeUnit\": \"ns\",\n"
                          "\"traceEvents\": [\n");
    vy_text_append(&text, t->events.data, t->events.size);
    vy_text_printf(&text, "\n]}\n");
    vyre_result result = text.failed || t->events.failed
                             ? vy_diag_no_memory(diag)
                             : vy_file_write(path, text.data, text.size, diag);
    vy_text_finish(&text);
    return result;
}

/* Reports and counters as JSON, and the clock that their times are on. */
#include "engine/device/device.h"
#include "vyre/dispatch.h"

#include <stddef.h>
#include <string.h>

uint64_t vyre_clock_ns(void)
{
    return vy_clock_ns();
}

typedef struct field {
    const char *name;
    size_t offset;
    uint32_t size; /* bytes of an unsigned integer; 0: a text */
    bool is_time;
} field;

static void add_field(vy_fixed_text *t, const field *f, const void *object)
{
    const unsigned char *at = (const unsigned char *)object + f->offset;
    vy_fixed_text_printf(t, ", \"%s\": ", f->name);
    if (f->size == 0) {
        const char *text = NULL;
        memcpy(&text, at, sizeof text);
        vy_fixed_text_json(t, text);
        return;
    }
    uint64_t number = 0;
    uint32_t word = 0;
    if (f->size == sizeof word) {
        memcpy(&word, at, sizeof word);
        number = word;
    } else {
        memcpy(&number, at, sizeof number);
    }
    if (f->is_time && number == VYRE_NS_NONE) {
        vy_fixed_text_printf(t, "null");
    } else {
        vy_fixed_text_printf(t, "%llu", (unsigned long long)number);
    }
}

static vy_fixed_text begin(char *out, size_t out_size, const char *schema)
{
    vy_fixed_text t = {out, out ? out_size : 0, 0};
    if (t.size) {
        out[0] = 0;
    }
    vy_fixed_text_printf(&t, "{\"schema\": \"%s\"", schema);
    return t;
}

/* ---- Reports --------------------------------------------------------------------------------- */

#define WORDS(member)                                                                              \
    {                                                                                              \
#member, offsetof(vyre_report, member), 0, false                                           \
    }
#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, offsetof(vyre_report, member), sizeof(((vyre_report *)0)->member), false          \
    }
#define TIME(member)                                                                               \
    {                                                                                              \
#member, offsetof(vyre_report, member), sizeof(((vyre_report *)0)->member), true           \
    }

static const field report_head[] = {WORDS(strategy), WORDS(strategy_reason), WORDS(bindings),
                                    NUMBER(passes)};

static const field report_fields[] = {
    NUMBER(segments),
    NUMBER(chunks),
    NUMBER(submissions),
    NUMBER(waits),
    NUMBER(dispatches_recorded),
    NUMBER(dispatches_executed),
    NUMBER(workgroups_saved),
    NUMBER(passes_saved),
    NUMBER(barriers_recorded),
    NUMBER(barriers_elided),
    NUMBER(upload_size),
    NUMBER(download_size),
    NUMBER(uploads),
    NUMBER(downloads),
    NUMBER(descriptor_writes),
    NUMBER(recordings),
    NUMBER(recordings_reused),
    NUMBER(spill_size),
    NUMBER(staging_size),
    NUMBER(scratch_size),
    NUMBER(argument_size),
};

static const field report_times[] = {
    TIME(wall_ns),   TIME(enqueue_ns),      TIME(wait_ns),
    TIME(plan_ns),   TIME(record_ns),       TIME(stage_ns),
    TIME(submit_ns), TIME(readback_ns),     TIME(device_dispatches_ns),
    TIME(device_ns), TIME(device_start_ns),
};

static void add_record(vy_fixed_text *t, const vyre_fault_record *record)
{
    if (record->kind == VYRE_RECORD_NONE) {
        vy_fixed_text_printf(t, ", \"record\": null");
        return;
    }
    vy_fixed_text_printf(t,
                         ", \"record\": {\"kind\": \"%s\", \"code\": %u, \"line\": %u, "
                         "\"column\": %u, \"pass\": %u, \"segment\": %u, \"invocation\": %u}",
                         vyre_record_kind_text(record->kind), (unsigned)record->code,
                         (unsigned)record->line, (unsigned)record->column, (unsigned)record->pass,
                         (unsigned)record->segment, (unsigned)record->invocation);
}

size_t vyre_report_format_json(const vyre_report *report, char *out, size_t out_size)
{
    vy_fixed_text t = begin(out, out_size, "vyre.report/1");
    for (size_t i = 0; report && i < VY_COUNT_OF(report_head); i++) {
        add_field(&t, &report_head[i], report);
    }
    if (report) {
        vy_fixed_text_printf(&t, ", \"converged\": %s",
                             report->convergence == VYRE_CONVERGENCE_NONE  ? "null"
                             : report->convergence == VYRE_CONVERGENCE_YES ? "true"
                                                                           : "false");
        add_record(&t, &report->record);
        vy_fixed_text_printf(&t, ", \"is_coarse\": %s, \"is_folded\": %s",
                             report->is_coarse ? "true" : "false",
                             report->is_folded ? "true" : "false");
        vy_fixed_text_printf(&t, ", \"groups\": [%u, %u, %u], \"is_grid_clamped\": %s",
                             (unsigned)report->groups[0], (unsigned)report->groups[1],
                             (unsigned)report->groups[2],
                             report->is_grid_clamped ? "true" : "false");
    }
    for (size_t i = 0; report && i < VY_COUNT_OF(report_fields); i++) {
        add_field(&t, &report_fields[i], report);
    }
    for (size_t i = 0; report && i < VY_COUNT_OF(report_times); i++) {
        add_field(&t, &report_times[i], report);
    }
    vy_fixed_text_printf(&t, "}");
    return t.length;
}

/* ---- Counters -------------------------------------------------------------------------------- */

#define COUNTER(member)                                                                            \
    {                                                                                              \
#member, offsetof(vyre_device_counters, member), sizeof(uint64_t), false                   \
    }

static const field counter_fields[] = {
    COUNTER(submissions),
    COUNTER(waits),
    COUNTER(dispatches),
    COUNTER(passes),
    COUNTER(barriers),
    COUNTER(barriers_elided),
    COUNTER(uploads),
    COUNTER(downloads),
    COUNTER(upload_size),
    COUNTER(download_size),
    COUNTER(buffers),
    COUNTER(imported_buffers),
    COUNTER(memory_allocations),
    COUNTER(memory_size),
    COUNTER(memory_fallbacks),
    COUNTER(memory_evictions),
    COUNTER(descriptor_writes),
    COUNTER(pipelines),
    COUNTER(modules),
    COUNTER(pipeline_cache_hits),
    COUNTER(recordings),
    COUNTER(recordings_reused),
    COUNTER(instances),
    COUNTER(instance_hits),
    COUNTER(instance_misses),
    COUNTER(instance_forks),
    COUNTER(parked),
    COUNTER(parked_alive),
    COUNTER(splits),
    COUNTER(segments),
};
_Static_assert(sizeof(vyre_device_counters) == VY_COUNT_OF(counter_fields) * sizeof(uint64_t),
               "every counter is printed");

size_t vyre_device_counters_format_json(const vyre_device_counters *counters, char *out,
                                        size_t out_size)
{
    vy_fixed_text t = begin(out, out_size, "vyre.counters/1");
    for (size_t i = 0; counters && i < VY_COUNT_OF(counter_fields); i++) {
        add_field(&t, &counter_fields[i], counters);
    }
    vy_fixed_text_printf(&t, "}");
    return t.length;
}

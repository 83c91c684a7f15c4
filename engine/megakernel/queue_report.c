/* A queue's report as JSON: members in the order of the struct, under their names. */
#include "codegen/base/base.h"
#include "vyre/dispatcher.h"

#include <string.h>

typedef enum kind {
    NUMBER, /* of 4 or 8 bytes */
    TIME,   /* the same; VYRE_NS_NONE is null */
    SLOT,   /* VYRE_DIAG_NONE is null */
    FLAG,   /* an int */
    TEXT    /* NULL is null */
} kind;

typedef struct field {
    const char *name;
    size_t offset, size;
    kind kind;
} field;

#define FIELD(member, kind)                                                                        \
    {                                                                                              \
#member, offsetof(vyre_queue_report, member), sizeof(((vyre_queue_report *)0)->member),    \
            kind                                                                                   \
    }

static const field counts[] = {
    FIELD(given, NUMBER),      FIELD(processed, NUMBER), FIELD(remaining, NUMBER),
    FIELD(denied, NUMBER),     FIELD(faulted, NUMBER),   FIELD(unknown, NUMBER),
    FIELD(waiting, NUMBER),    FIELD(requeues, NUMBER),  FIELD(fault_slot, SLOT),
    FIELD(fault_code, NUMBER), FIELD(deduped, NUMBER),   FIELD(published, NUMBER),
    FIELD(waves, NUMBER),      FIELD(epoch, NUMBER),     FIELD(was_shut_down, FLAG),
};

static const field lineage[] = {FIELD(lineage_items, NUMBER), FIELD(lineage_opcode_count, NUMBER)};

static const field rest[] = {
    FIELD(plan_ns, TIME),
    FIELD(publish_ns, TIME),
    FIELD(compile_ns, TIME),
    FIELD(lineage_ns, TIME),
    FIELD(dispatch_ns, TIME),
    FIELD(wall_ns, TIME),
    FIELD(device_ns, TIME),
    FIELD(upload_size, NUMBER),
    FIELD(readback_size, NUMBER),
    FIELD(moved_size, NUMBER),
    FIELD(readback_buffers, NUMBER),
    FIELD(resident_allocations, NUMBER),
    FIELD(launches, NUMBER),
    FIELD(sync_points, NUMBER),
    FIELD(was_compiled, FLAG),
    FIELD(was_resident, FLAG),
    FIELD(is_special, FLAG),
    FIELD(form, TEXT),
    FIELD(claim, TEXT),
    FIELD(topology, TEXT),
    FIELD(pressure, TEXT),
    FIELD(mode, TEXT),
    FIELD(route, TEXT),
    FIELD(worker_count, NUMBER),
    FIELD(workgroup, NUMBER),
    FIELD(group_count, NUMBER),
    FIELD(occupancy_proxy_bps, NUMBER),
    FIELD(frontier_density_bps, NUMBER),
    FIELD(lane_busy_bps, NUMBER),
    FIELD(hit_capacity, NUMBER),
    FIELD(peak_size, NUMBER),
    FIELD(budget_size, NUMBER),
};

static uint64_t number_at(const unsigned char *at, size_t size)
{
    uint64_t number = 0;
    uint32_t word = 0;
    if (size == sizeof word) {
        memcpy(&word, at, sizeof word);
        return word;
    }
    memcpy(&number, at, sizeof number);
    return number;
}

static void add_field(vy_fixed_text *t, const field *f, const vyre_queue_report *report)
{
    const unsigned char *at = (const unsigned char *)report + f->offset;
    vy_fixed_text_printf(t, ", \"%s\": ", f->name);
    if (f->kind == TEXT) {
        const char *text = NULL;
        memcpy(&text, at, sizeof text);
        vy_fixed_text_json(t, text);
        return;
    }
    uint64_t number = number_at(at, f->size);
    if (f->kind == FLAG) {
        vy_fixed_text_printf(t, number ? "true" : "false");
    } else if ((f->kind == TIME && number == VYRE_NS_NONE) ||
               (f->kind == SLOT && number == VYRE_DIAG_NONE)) {
        vy_fixed_text_printf(t, "null");
    } else {
        vy_fixed_text_printf(t, "%llu", (unsigned long long)number);
    }
}

/* null without VYRE_QUEUE_STRICT: no slot was counted. */
static void add_statuses(vy_fixed_text *t, const vyre_ring_counts *statuses)
{
    static const char *const names[VYRE_STATUS_COUNT] = {
        "empty", "published", "claimed", "done", "wait_io", "yield", "requeue", "fault"};
    if (statuses->slot_count == 0) {
        vy_fixed_text_printf(t, ", \"statuses\": null");
        return;
    }
    vy_fixed_text_printf(t, ", \"statuses\": {");
    for (uint32_t i = 0; i < VYRE_STATUS_COUNT; i++) {
        vy_fixed_text_printf(t, "\"%s\": %u, ", names[i], (unsigned)statuses->by_status[i]);
    }
    vy_fixed_text_printf(t, "\"unknown\": %u, \"slot_count\": %u, \"queue_depth\": %u}",
                         (unsigned)statuses->unknown, (unsigned)statuses->slot_count,
                         (unsigned)statuses->queue_depth);
}

static void add_fields(vy_fixed_text *t, const field *fields, size_t count,
                       const vyre_queue_report *report)
{
    for (size_t i = 0; i < count; i++) {
        add_field(t, &fields[i], report);
    }
}

static void add_record(vy_fixed_text *t, const vyre_fault_record *record)
{
    if (record->kind == VYRE_RECORD_NONE) {
        vy_fixed_text_printf(t, ", \"record\": null");
        return;
    }
    vy_fixed_text_printf(
        t,
        ", \"record\": {\"kind\": \"%s\", \"code\": %u, \"line\": %u, \"column\": %u, "
        "\"pass\": %u, \"segment\": %u, \"invocation\": %u}",
        vyre_record_kind_text(record->kind), (unsigned)record->code, (unsigned)record->line,
        (unsigned)record->column, (unsigned)record->pass, (unsigned)record->segment,
        (unsigned)record->invocation);
}

size_t vyre_queue_report_format_json(const vyre_queue_report *report, char *out, size_t out_size)
{
    vy_fixed_text t = {out, out ? out_size : 0, 0};
    if (t.size) {
        out[0] = 0;
    }
    vy_fixed_text_printf(&t, "{\"schema\": \"vyre.queue-report/1\"");
    if (report) {
        add_fields(&t, counts, VY_COUNT_OF(counts), report);
        add_statuses(&t, &report->statuses);
        add_fields(&t, lineage, VY_COUNT_OF(lineage), report);
        add_record(&t, &report->record);
        add_fields(&t, rest, VY_COUNT_OF(rest), report);
    }
    vy_fixed_text_printf(&t, "}");
    return t.length;
}

/* The report of a scan as JSON. */
#include "codegen/base/base.h"
#include "vyre/scan.h"

#include <string.h>

typedef struct field {
    const char *name;
    size_t offset;
    uint32_t size; /* bytes of an unsigned integer */
} field;

#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, offsetof(vyre_scan_report, member), sizeof(((vyre_scan_report *)0)->member)       \
    }

static const field numbers[] = {
    NUMBER(hit_count),    NUMBER(dropped_count), NUMBER(launches),      NUMBER(waits),
    NUMBER(segment_size), NUMBER(segment_count), NUMBER(queue_length),  NUMBER(claimed_count),
    NUMBER(done_count),   NUMBER(scanned_size),  NUMBER(uploaded_size), NUMBER(read_back_size),
    NUMBER(moved_size),   NUMBER(allocations),   NUMBER(occupancy_bps),
};

static const field times[] = {NUMBER(wall_ns), NUMBER(enqueue_ns), NUMBER(device_ns)};

static uint64_t read_number(const vyre_scan_report *report, const field *f)
{
    const unsigned char *at = (const unsigned char *)report + f->offset;
    uint64_t number = 0;
    uint32_t word = 0;
    if (f->size == sizeof word) {
        memcpy(&word, at, sizeof word);
        return word;
    }
    memcpy(&number, at, sizeof number);
    return number;
}

static const char *staging_name(vyre_scan_staging staging)
{
    static const char *const names[] = {"auto", "shared", "direct"};
    return (unsigned)staging < VY_COUNT_OF(names) ? names[staging] : "unknown";
}

static unsigned width_bits(vyre_transition_width width)
{
    return width == VYRE_TRANSITION_16 ? 16 : (width == VYRE_TRANSITION_32 ? 32 : 0);
}

size_t vyre_scan_report_format_json(const vyre_scan_report *report, char *out, size_t out_size)
{
    vy_fixed_text t = {out, out ? out_size : 0, 0};
    if (t.size) {
        out[0] = 0;
    }
    vy_fixed_text_printf(&t, "{\"schema\": \"vyre.scan-report/1\"");
    for (size_t i = 0; report && i < VY_COUNT_OF(numbers); i++) {
        vy_fixed_text_printf(&t, ", \"%s\": %llu", numbers[i].name,
                             (unsigned long long)read_number(report, &numbers[i]));
    }
    if (report) {
        vy_fixed_text_printf(&t, ", \"staging\": \"%s\", \"width\": %u",
                             staging_name(report->staging), width_bits(report->width));
    }
    for (size_t i = 0; report && i < VY_COUNT_OF(times); i++) {
        uint64_t ns = read_number(report, &times[i]);
        if (ns == VYRE_NS_NONE) {
            vy_fixed_text_printf(&t, ", \"%s\": null", times[i].name);
        } else {
            vy_fixed_text_printf(&t, ", \"%s\": %llu", times[i].name, (unsigned long long)ns);
        }
    }
    vy_fixed_text_printf(&t, "}");
    return t.length;
}

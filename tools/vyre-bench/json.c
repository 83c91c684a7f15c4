/* Results as JSON, schema "vyre.bench/1". */
#include "tools/vyre-bench/bench.h"

#include "tools/common/open.h"

#include <math.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

static void json_text(vy_text *out, const char *name, const char *value)
{
    vy_text_printf(out, "\"%s\": ", name);
    vy_json_string(out, value);
}

static void json_number(vy_text *out, const char *name, double value, bool is_known)
{
    if (is_known && isfinite(value)) {
        vy_text_printf(out, "\"%s\": %.6g", name, value);
    } else {
        vy_text_printf(out, "\"%s\": null", name);
    }
}

static void format_device(const bench *b, vy_text *out)
{
    uint32_t version = b->info.api_version;
    vy_text_printf(out, "  \"device\": {");
    json_text(out, "name", b->info.name);
    vy_text_printf(out, ", ");
    json_text(out, "driver", b->info.driver);
    vy_text_printf(out, ", ");
    json_text(out, "type", vy_device_type_text(b->info.type));
    vy_text_printf(out, ", \"api_version\": \"%u.%u.%u\", ", version >> 22, version >> 12 & 0x3ff,
                   version & 0xfff);
    json_number(out, "timestamp_ns", b->info.timestamp_ns, b->info.timestamp_ns > 0);
    vy_text_printf(out, "},\n  \"link\": ");
    if (b->link.rate > 0) {
        vy_text_printf(out, "{");
        json_text(out, "name", b->link.text);
        vy_text_printf(out, ", \"bytes_per_us\": %.6g}", b->link.rate);
    } else {
        vy_text_printf(out, "null");
    }
    vy_text_printf(out, ",\n  \"peers\": {\"vulkan\": %s, \"cuda\": ", b->peer ? "true" : "false");
    if (b->cuda) {
        vy_text_printf(out, "{");
        json_text(out, "device", b->cuda_device);
        vy_text_printf(out, ", ");
        json_text(out, "version", b->cuda_version);
        vy_text_printf(out, "}");
    } else {
        vy_text_printf(out, "null");
    }
    vy_text_printf(out, "}");
}

static void format_mark(vy_text *out, const char *name, const bench_mark *mark)
{
    if (mark->value > 0) {
        vy_text_printf(out, "\"%s\": {\"value\": %.6g, ", name, mark->value);
        json_text(out, "what", mark->text);
        vy_text_printf(out, "}");
    } else {
        vy_text_printf(out, "\"%s\": null", name);
    }
}

static void format_costs(const bench_series *s, vy_text *out)
{
    const vyre_device_counters *c = &s->costs;
    if (!s->has_costs) {
        vy_text_printf(out, ", \"costs\": null");
        return;
    }
    vy_text_printf(out,
                   ", \"costs\": {\"submissions\": %llu, \"waits\": %llu, \"recordings\": %llu, "
                   "\"descriptor_writes\": %llu, \"memory_allocations\": %llu}",
                   (unsigned long long)c->submissions, (unsigned long long)c->waits,
                   (unsigned long long)c->recordings, (unsigned long long)c->descriptor_writes,
                   (unsigned long long)c->memory_allocations);
}

static void format_series(const bench_case *c, const bench_series *s, vy_text *out)
{
    bool known = s->sample_count > 0;
    vy_text_printf(out, "          {");
    json_text(out, "who", s->who);
    vy_text_printf(out, ", ");
    json_text(out, "way", s->way);
    vy_text_printf(out, ", \"samples\": %u, ", s->sample_count);
    json_number(out, "median", s->median, known);
    vy_text_printf(out, ", ");
    json_number(out, "least", known ? s->samples[0] : 0, known);
    vy_text_printf(out, ", ");
    json_number(out, "p10", s->p10, known);
    vy_text_printf(out, ", ");
    json_number(out, "p90", s->p90, known);
    vy_text_printf(out, ", ");
    json_number(out, "turn_low", s->round_low, s->round_low > 0);
    vy_text_printf(out, ", ");
    json_number(out, "turn_high", s->round_high, s->round_low > 0);
    vy_text_printf(out, ", ");
    vy_text_printf(out, "\"is_part\": %s, ", s->is_part ? "true" : "false");
    json_number(out, "ratio", bench_ratio(c, s), bench_ratio(c, s) > 0);
    if (s->check && known) {
        vy_text_printf(out, ", \"check\": {\"compared\": %llu, \"wrong\": %llu}",
                       (unsigned long long)s->checked.compared,
                       (unsigned long long)s->checked.wrong);
    } else {
        vy_text_printf(out, ", \"check\": null");
    }
    format_costs(s, out);
    vy_text_printf(out, ", ");
    json_text(out, "note", s->note);
    vy_text_printf(out, "}");
}

static void format_case(const bench_case *c, vy_text *out)
{
    vy_text_printf(out, "      {");
    json_text(out, "name", c->name);
    vy_text_printf(out, ", \"sizes\": {");
    for (uint32_t i = 0; i < c->size_count; i++) {
        vy_text_printf(out, "%s\"%s\": %llu", i ? ", " : "", c->sizes[i].name,
                       (unsigned long long)c->sizes[i].value);
    }
    vy_text_printf(out, "}, ");
    json_text(out, "unit", c->unit);
    vy_text_printf(out, ", \"base\": %u, \"bytes\": ", c->base);
    if (c->data_size) {
        vy_text_printf(out, "%llu, ", (unsigned long long)c->data_size);
    } else {
        vy_text_printf(out, "null, ");
    }
    format_mark(out, "target", &c->target);
    vy_text_printf(out, ", ");
    format_mark(out, "limit", &c->limit);
    vy_text_printf(out, ",\n        \"series\": [\n");
    for (uint32_t i = 0; i < c->series_count; i++) {
        format_series(c, &c->series[i], out);
        vy_text_printf(out, "%s\n", i + 1 < c->series_count ? "," : "");
    }
    vy_text_printf(out, "        ]}");
}

static void format_break_evens(const bench_group *group, vy_text *out)
{
    for (uint32_t i = 0; i < group->break_evens.count; i++) {
        const bench_break_even *found = &group->break_evens.data[i];
        vy_text_printf(out, "%s\n      {", i ? "," : "");
        json_text(out, "case", found->case_name);
        vy_text_printf(out, ", ");
        json_text(out, "size", found->size_name);
        vy_text_printf(out, ", ");
        json_text(out, "against", found->who);
        vy_text_printf(out, ", ");
        json_text(out, "way", found->way);
        vy_text_printf(out, ", ");
        if (found->from) {
            vy_text_printf(out, "\"from\": %llu, ", (unsigned long long)found->from);
        } else {
            vy_text_printf(out, "\"from\": null, ");
        }
        vy_text_printf(out, "\"up_to\": %llu}", (unsigned long long)found->up_to);
    }
}

void bench_format_json(const bench *b, vy_text *out)
{
    vy_text_printf(out,
                   "{\n  \"schema\": \"vyre.bench/1\",\n  \"version\": \"%s\",\n"
                   "  \"quick\": %s,\n",
                   VYRE_VERSION_STRING, b->quick ? "true" : "false");
    format_device(b, out);
    vy_text_printf(out, ",\n  \"groups\": [\n");
    for (uint32_t i = 0; i < b->groups.count; i++) {
        const bench_group *group = b->groups.data[i];
        vy_text_printf(out, "    {");
        json_text(out, "name", group->name);
        vy_text_printf(out, ", ");
        json_text(out, "title", group->title);
        vy_text_printf(out, ", \"cases\": [\n");
        for (uint32_t k = 0; k < group->cases.count; k++) {
            format_case(group->cases.data[k], out);
            vy_text_printf(out, "%s\n", k + 1 < group->cases.count ? "," : "");
        }
        vy_text_printf(out, "    ], \"break_even\": [");
        format_break_evens(group, out);
        vy_text_printf(out, "]}%s\n", i + 1 < b->groups.count ? "," : "");
    }
    vy_text_printf(out, "  ]\n}\n");
}

/* A queue's report as JSON, read by a parser: every member once, in order, with its value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/base/base.h"
#include "vyre/dispatcher.h"

/* ---- A parser -------------------------------------------------------------------------------- */

enum { MAX_MEMBERS = 128, TEXT_SIZE = 8192 };

/* Members of nested objects are "outer.inner"; values as they are written, texts without quotes. */
typedef struct member {
    char name[64], value[64];
    int is_text;
} member;

typedef struct json {
    const char *at;
    member members[MAX_MEMBERS];
    uint32_t count;
} json;

static void space(json *j)
{
    j->at += strspn(j->at, " ");
}

static void expect(json *j, char c)
{
    space(j);
    if (*j->at != c) {
        fail_msg("'%c' is expected before '%.40s'", c, j->at);
    }
    j->at++;
}

static void text_of(json *j, char *out, size_t size)
{
    size_t length = 0;
    expect(j, '"');
    while (*j->at != '"') {
        unsigned code = (unsigned char)*j->at++;
        assert_true(code >= 0x20);
        if (code == '\\') {
            code = (unsigned char)*j->at++;
            if (code == 'u') {
                assert_int_equal(sscanf(j->at, "%4x", &code), 1);
                assert_true(code < 0x80);
                j->at += 4;
            } else {
                assert_true(code == '"' || code == '\\');
            }
        }
        assert_true(length + 1 < size);
        out[length++] = (char)code;
    }
    j->at++;
    out[length] = 0;
}

static void scalar(json *j, member *m)
{
    space(j);
    m->is_text = *j->at == '"';
    if (m->is_text) {
        text_of(j, m->value, sizeof m->value);
        return;
    }
    size_t length = strspn(j->at, "0123456789abcdefghijklmnopqrstuvwxyz");
    assert_true(length > 0 && length < sizeof m->value);
    memcpy(m->value, j->at, length);
    m->value[length] = 0;
    j->at += length;
    int is_number = strspn(m->value, "0123456789") == length && (*m->value != '0' || length == 1);
    assert_true(is_number || !strcmp(m->value, "null") || !strcmp(m->value, "true") ||
                !strcmp(m->value, "false"));
}

static void object(json *j, const char *outer)
{
    expect(j, '{');
    for (int more = 1; more; space(j), more = *j->at == ',' && j->at++) {
        char name[32], whole[64];
        text_of(j, name, sizeof name);
        snprintf(whole, sizeof whole, "%s%s%s", outer, *outer ? "." : "", name);
        expect(j, ':');
        space(j);
        if (*j->at == '{') {
            object(j, whole);
            continue;
        }
        assert_true(j->count < MAX_MEMBERS);
        member *m = &j->members[j->count++];
        snprintf(m->name, sizeof m->name, "%s", whole);
        scalar(j, m);
    }
    expect(j, '}');
}

static void parse(json *j, const char *text)
{
    memset(j, 0, sizeof *j);
    j->at = text;
    object(j, "");
    assert_string_equal(j->at, "");
    for (uint32_t i = 0; i < j->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            assert_string_not_equal(j->members[i].name, j->members[k].name);
        }
    }
}

static const member *find(const json *j, const char *name)
{
    for (uint32_t i = 0; i < j->count; i++) {
        if (strcmp(j->members[i].name, name) == 0) {
            return &j->members[i];
        }
    }
    fail_msg("there is no member %s", name);
    return NULL;
}

static void check(const json *j, const char *name, const char *value, int is_text)
{
    const member *m = find(j, name);
    if (strcmp(m->value, value) != 0 || m->is_text != is_text) {
        fail_msg("%s is %s and not %s", name, m->value, value);
    }
}

static void check_number(const json *j, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    check(j, name, text, 0);
}

/* ---- Members --------------------------------------------------------------------------------- */

/* In the order of the struct. N: a number, T: a time, F: a flag, S: a text. */
#define BEFORE_STATUSES(N, F)                                                                      \
    N(given)                                                                                       \
    N(processed)                                                                                   \
    N(remaining)                                                                                   \
    N(denied)                                                                                      \
    N(faulted)                                                                                     \
    N(unknown)                                                                                     \
    N(waiting)                                                                                     \
    N(requeues)                                                                                    \
    N(fault_slot)                                                                                  \
    N(fault_code)                                                                                  \
    N(deduped)                                                                                     \
    N(published)                                                                                   \
    N(waves)                                                                                       \
    N(epoch)                                                                                       \
    F(was_shut_down)
#define BEHIND_STATUSES(N)                                                                         \
    N(lineage_items)                                                                               \
    N(lineage_opcode_count)
#define BEHIND_RECORD(N, T, F, S)                                                                  \
    T(plan_ns)                                                                                     \
    T(publish_ns)                                                                                  \
    T(compile_ns)                                                                                  \
    T(lineage_ns)                                                                                  \
    T(dispatch_ns)                                                                                 \
    T(wall_ns)                                                                                     \
    T(device_ns)                                                                                   \
    N(upload_size)                                                                                 \
    N(readback_size)                                                                               \
    N(moved_size)                                                                                  \
    N(readback_buffers)                                                                            \
    N(resident_allocations)                                                                        \
    N(launches)                                                                                    \
    N(sync_points)                                                                                 \
    F(was_compiled)                                                                                \
    F(was_resident)                                                                                \
    F(is_special)                                                                                  \
    S(form)                                                                                        \
    S(claim)                                                                                       \
    S(topology)                                                                                    \
    S(pressure)                                                                                    \
    S(mode)                                                                                        \
    S(route)                                                                                       \
    N(worker_count)                                                                                \
    N(workgroup)                                                                                   \
    N(group_count)                                                                                 \
    N(occupancy_proxy_bps)                                                                         \
    N(frontier_density_bps)                                                                        \
    N(lane_busy_bps)                                                                               \
    N(hit_capacity)                                                                                \
    N(peak_size)                                                                                   \
    N(budget_size)

static const char *const status_names[] = {
    "statuses.empty",   "statuses.published",  "statuses.claimed",    "statuses.done",
    "statuses.wait_io", "statuses.yield",      "statuses.requeue",    "statuses.fault",
    "statuses.unknown", "statuses.slot_count", "statuses.queue_depth"};

static const char *const record_names[] = {"record.code", "record.line",    "record.column",
                                           "record.pass", "record.segment", "record.invocation"};

static vyre_queue_report filled(void)
{
    vyre_queue_report report;
    memset(&report, 0, sizeof report);
    uint32_t value = 1000;
#define NUMBER(name) report.name = ++value;
#define FLAG(name)   report.name = (int)(++value % 2);
#define TEXT(name)   report.name = "the " #name;
    BEFORE_STATUSES(NUMBER, FLAG)
    BEHIND_STATUSES(NUMBER)
    BEHIND_RECORD(NUMBER, NUMBER, FLAG, TEXT)
#undef NUMBER
#undef FLAG
#undef TEXT
    for (uint32_t i = 0; i < VYRE_STATUS_COUNT; i++) {
        report.statuses.by_status[i] = 2000 + i;
    }
    report.statuses.unknown = 2008;
    report.statuses.slot_count = 2009;
    report.statuses.queue_depth = 2010;
    report.record = (vyre_fault_record){.kind = VYRE_RECORD_TRAP,
                                        .code = 3000,
                                        .line = 3001,
                                        .column = 3002,
                                        .pass = 3003,
                                        .segment = 3004,
                                        .invocation = 3005};
    report.moved_size = UINT64_MAX;
    report.given = UINT32_MAX;
    report.was_compiled = 1;
    report.was_resident = -1;
    report.is_special = 0;
    return report;
}

static void test_queue_report_prints_every_member(void **state)
{
    (void)state;
    static json j;
    char text[TEXT_SIZE];
    vyre_queue_report report = filled();
    size_t length = vyre_queue_report_format_json(&report, text, sizeof text);
    assert_int_equal(length, strlen(text));
    parse(&j, text);
    check(&j, "schema", "vyre.queue-report/1", 1);
    uint32_t at = 1;
#define NUMBER(m)                                                                                  \
    assert_string_equal(j.members[at++].name, #m);                                                 \
    check_number(&j, #m, report.m);
#define FLAG(m)                                                                                    \
    assert_string_equal(j.members[at++].name, #m);                                                 \
    check(&j, #m, report.m ? "true" : "false", 0);
#define TEXT(m)                                                                                    \
    assert_string_equal(j.members[at++].name, #m);                                                 \
    check(&j, #m, "the " #m, 1);
    BEFORE_STATUSES(NUMBER, FLAG)
    for (uint32_t i = 0; i < VY_COUNT_OF(status_names); i++) {
        assert_string_equal(j.members[at++].name, status_names[i]);
        check_number(&j, status_names[i], 2000 + i);
    }
    BEHIND_STATUSES(NUMBER)
    assert_string_equal(j.members[at++].name, "record.kind");
    check(&j, "record.kind", "trap", 1);
    for (uint32_t i = 0; i < VY_COUNT_OF(record_names); i++) {
        assert_string_equal(j.members[at++].name, record_names[i]);
        check_number(&j, record_names[i], 3000 + i);
    }
    BEHIND_RECORD(NUMBER, NUMBER, FLAG, TEXT)
#undef NUMBER
#undef FLAG
#undef TEXT
    assert_int_equal(j.count, at);
}

/* Where the next member must lie if there is none between. */
static size_t next_place(size_t at, size_t alignment, size_t offset, size_t size)
{
    at = (at + alignment - 1) / alignment * alignment;
    assert_int_equal(offset, at);
    return at + size;
}

/* A member that is added to the struct and not printed moves what lies behind it, unless it is as
 * small as the padding there. */
static void test_queue_report_has_no_other_members(void **state)
{
    (void)state;
    size_t at = 0;
#define PLACE(m)                                                                                   \
    at = next_place(at, sizeof(((vyre_queue_report *)0)->m), offsetof(vyre_queue_report, m),       \
                    sizeof(((vyre_queue_report *)0)->m));
    BEFORE_STATUSES(PLACE, PLACE)
    at = next_place(at, 4, offsetof(vyre_queue_report, statuses), sizeof(vyre_ring_counts));
    BEHIND_STATUSES(PLACE)
    at = next_place(at, 4, offsetof(vyre_queue_report, record), sizeof(vyre_fault_record));
    BEHIND_RECORD(PLACE, PLACE, PLACE, PLACE)
#undef PLACE
    assert_int_equal(sizeof(vyre_queue_report), (at + 7) / 8 * 8);
}

static void test_queue_report_says_null_for_what_there_is_not(void **state)
{
    (void)state;
    static json j;
    char text[TEXT_SIZE];
    vyre_queue_report report;
    memset(&report, 0, sizeof report);
#define NOTHING(name)
#define TIME(name) report.name = VYRE_NS_NONE;
    BEHIND_RECORD(NOTHING, TIME, NOTHING, NOTHING)
#undef TIME
    report.fault_slot = VYRE_DIAG_NONE;
    (void)vyre_queue_report_format_json(&report, text, sizeof text);
    parse(&j, text);
#define NIL(name) check(&j, #name, "null", 0);
    BEHIND_RECORD(NOTHING, NIL, NOTHING, NIL)
#undef NIL
#undef NOTHING
    check(&j, "fault_slot", "null", 0);
    check(&j, "statuses", "null", 0);
    check(&j, "record", "null", 0);
    check_number(&j, "fault_code", 0);
    /* Figures that are only as large are figures. */
    report.fault_code = UINT32_MAX;
    report.upload_size = UINT64_MAX;
    report.fault_slot = 0;
    report.plan_ns = 0;
    report.form = "\"\\\x01";
    report.record.kind = VYRE_RECORD_LOOP_LIMIT;
    (void)vyre_queue_report_format_json(&report, text, sizeof text);
    parse(&j, text);
    check_number(&j, "fault_code", UINT32_MAX);
    check_number(&j, "upload_size", UINT64_MAX);
    check_number(&j, "fault_slot", 0);
    check_number(&j, "plan_ns", 0);
    check(&j, "record.kind", "loop_limit", 1);
    check(&j, "form", "\"\\\x01", 1);
}

static void test_queue_report_is_cut_at_the_room_there_is(void **state)
{
    (void)state;
    char whole[TEXT_SIZE];
    vyre_queue_report report = filled();
    size_t length = vyre_queue_report_format_json(&report, whole, sizeof whole);
    assert_true(length < sizeof whole);
    assert_int_equal(vyre_queue_report_format_json(&report, NULL, 0), length);
    assert_int_equal(vyre_queue_report_format_json(&report, NULL, 7), length);
    for (size_t size = 1; size <= length + 1; size++) {
        char *room = malloc(size);
        assert_non_null(room);
        memset(room, 'x', size);
        assert_int_equal(vyre_queue_report_format_json(&report, room, size), length);
        assert_int_equal(strlen(room), size - 1);
        assert_int_equal(strncmp(room, whole, size - 1), 0);
        free(room);
    }
    length = vyre_queue_report_format_json(NULL, whole, sizeof whole);
    assert_int_equal(length, strlen(whole));
    assert_string_equal(whole, "{\"schema\": \"vyre.queue-report/1\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_report_prints_every_member),
        cmocka_unit_test(test_queue_report_has_no_other_members),
        cmocka_unit_test(test_queue_report_says_null_for_what_there_is_not),
        cmocka_unit_test(test_queue_report_is_cut_at_the_room_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

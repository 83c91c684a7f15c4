/* The choice among measurements, evidence of scans, and reports as JSON. */
#include "codegen/base/base.h"
#include "tests/megakernel/refused.h"
#include "vyre/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- Choosing -------------------------------------------------------------------------------- */

static vyre_scan_measurement measured(uint32_t segment_size, uint64_t best_ns)
{
    return (vyre_scan_measurement){.segment_size = segment_size,
                                   .staging = VYRE_SCAN_STAGING_DIRECT,
                                   .complete_count = best_ns != VYRE_NS_NONE,
                                   .best_ns = best_ns};
}

static uint32_t chosen(const vyre_scan_measurement *measurements, uint32_t count)
{
    uint32_t index = 77;
    vyre_diag diag;
    assert_int_equal(vyre_scan_choose(measurements, count, &index, &diag), VYRE_OK);
    return index;
}

static void test_the_fastest_complete_length_is_chosen(void **state)
{
    (void)state;
    const vyre_scan_measurement m[] = {measured(4096, 100), measured(2048, VYRE_NS_NONE),
                                       measured(1024, 90), measured(512, 91)};
    assert_int_equal(chosen(m, 4), 2);
    assert_int_equal(chosen(m, 2), 0);
    assert_int_equal(chosen(m + 1, 2), 1);
    assert_int_equal(chosen(m + 3, 1), 0);
    const vyre_scan_measurement fast[] = {measured(64, 1), measured(128, 0), measured(256, 1)};
    assert_int_equal(chosen(fast, 3), 1);
    const vyre_scan_measurement slow[] = {measured(64, VYRE_NS_NONE),
                                          measured(128, VYRE_NS_NONE - 1)};
    assert_int_equal(chosen(slow, 2), 1);
}

static void test_of_equally_fast_lengths_the_longest_is_chosen(void **state)
{
    (void)state;
    const vyre_scan_measurement m[] = {measured(64, 50), measured(512, 50), measured(4096, 51),
                                       measured(VYRE_SEGMENT_WHOLE, 50), measured(512, 50)};
    assert_int_equal(chosen(m, 5), 3);
    assert_int_equal(chosen(m, 3), 1);
    const vyre_scan_measurement same[] = {measured(512, 50), measured(512, 50)};
    assert_int_equal(chosen(same, 2), 0); /* and of those the first */
}

static void test_without_a_complete_length_none_is_chosen(void **state)
{
    (void)state;
    const vyre_scan_measurement m[] = {measured(64, VYRE_NS_NONE), measured(512, VYRE_NS_NONE)};
    uint32_t index = 77;
    vyre_diag diag;
    assert_refused(vyre_scan_choose(m, 2, &index, &diag), DISPATCH_FAILED, &diag,
                   "none of 2|timeout_ns");
    assert_int_equal(index, 0);
    assert_refused(vyre_scan_choose(NULL, 0, &index, &diag), DISPATCH_FAILED, &diag, "none of 0");
    assert_refused(vyre_scan_choose(NULL, 1, &index, &diag), INVALID_ARGUMENT, &diag,
                   "measurements is NULL");
    assert_refused(vyre_scan_choose(m, 1, NULL, &diag), INVALID_ARGUMENT, &diag, "out_index");
}

static void test_default_lengths_are_from_long_to_short(void **state)
{
    (void)state;
    static const uint32_t wanted[] = {4096, 2048, 1024, 512, 256, 128, 64};
    assert_int_equal(sizeof wanted, sizeof vyre_scan_default_candidates);
    assert_memory_equal(vyre_scan_default_candidates, wanted, sizeof wanted);
    assert_true(VY_COUNT_OF(wanted) <= VYRE_SCAN_MAX_CANDIDATES);
}

/* ---- Evidence -------------------------------------------------------------------------------- */

static vyre_scan_evidence_request sound(void)
{
    return (vyre_scan_evidence_request){.batch_count = 2,
                                        .chunk_count = 10,
                                        .chunks_per_encoder = 4,
                                        .bind_groups_reused = 2,
                                        .bind_groups_created = 1,
                                        .uploads = 5,
                                        .readbacks = 6,
                                        .digest = 0xabc,
                                        .reference_digest = 0xabc};
}

static void test_sound_evidence_is_worked_out(void **state)
{
    (void)state;
    vyre_scan_evidence_request request = sound();
    vyre_scan_evidence evidence;
    vyre_diag diag;
    assert_int_equal(vyre_scan_check_evidence(&request, &evidence, &diag), VYRE_OK);
    assert_int_equal(evidence.schema, 1);
    assert_int_equal(evidence.segments, 3);
    assert_int_equal(evidence.encoders, 3);
    assert_int_equal(evidence.copies, 11);
    assert_int_equal(evidence.reuse_bps, 6666);
    assert_int_equal(evidence.digest, 0xabc);
    request.chunk_count = 12; /* a digest of zero is one, and 12 chunks are three times 4 */
    request.digest = request.reference_digest = 0;
    assert_int_equal(vyre_scan_check_evidence(&request, &evidence, &diag), VYRE_OK);
    assert_int_equal(evidence.segments, 3);
    assert_int_equal(evidence.digest, 0);
    request = (vyre_scan_evidence_request){.batch_count = 1, .chunks_per_encoder = 1};
    assert_int_equal(vyre_scan_check_evidence(&request, &evidence, &diag), VYRE_OK);
    assert_int_equal(evidence.segments + evidence.copies + evidence.reuse_bps, 0);
    request = sound(); /* the largest numbers */
    request.chunk_count = UINT64_MAX;
    request.chunks_per_encoder = 1;
    request.bind_groups_reused = UINT64_MAX;
    request.bind_groups_created = 0;
    request.uploads = UINT64_MAX - 6;
    assert_int_equal(vyre_scan_check_evidence(&request, &evidence, &diag), VYRE_OK);
    assert_true(evidence.segments == UINT64_MAX && evidence.copies == UINT64_MAX);
    assert_int_equal(evidence.reuse_bps, 10000);
}

static void refuse(vyre_scan_evidence_request request, const char *parts)
{
    vyre_scan_evidence evidence, zero = {0};
    vyre_diag diag;
    memset(&evidence, 0x5a, sizeof evidence);
    vyre_result result = vyre_scan_check_evidence(&request, &evidence, &diag);
    assert_refused(result, INVALID_ARGUMENT, &diag, parts);
    assert_memory_equal(&evidence, &zero, sizeof zero);
}

static void test_evidence_is_refused_by_what_does_not_fit(void **state)
{
    (void)state;
    vyre_scan_evidence_request request = sound();
    request.batch_count = 0;
    refuse(request, "batch_count is 0");
    request = sound();
    request.chunks_per_encoder = 0;
    refuse(request, "chunks_per_encoder is 0");
    for (uint64_t reused = 0; reused <= 4; reused++) {
        request = sound();
        request.bind_groups_reused = reused;
        if (reused != 2) {
            refuse(request, "1 created|3 segments|bind group for each");
        }
    }
    request = sound();
    request.bind_groups_reused = UINT64_MAX; /* 3 more wrap round to the right sum */
    request.bind_groups_created = 4;
    refuse(request, "18446744073709551615|4 created");
    request = sound();
    request.uploads = UINT64_MAX;
    request.readbacks = 1;
    refuse(request, "18446744073709551615 uploads|1 readbacks|64 bits");
    request = sound();
    request.reference_digest = 0;
    refuse(request, "0x0000000000000abc|0x0000000000000000");
    vyre_scan_evidence evidence;
    vyre_diag diag;
    assert_refused(vyre_scan_check_evidence(NULL, &evidence, &diag), INVALID_ARGUMENT, &diag,
                   "request is NULL");
    assert_refused(vyre_scan_check_evidence(&request, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "out_evidence is NULL");
}

/* ---- Reports --------------------------------------------------------------------------------- */

#define NUMBERS(X)                                                                                 \
    X(hit_count)                                                                                   \
    X(dropped_count)                                                                               \
    X(launches)                                                                                    \
    X(waits)                                                                                       \
    X(segment_size)                                                                                \
    X(segment_count)                                                                               \
    X(queue_length)                                                                                \
    X(claimed_count)                                                                               \
    X(done_count)                                                                                  \
    X(scanned_size)                                                                                \
    X(uploaded_size)                                                                               \
    X(read_back_size)                                                                              \
    X(moved_size)                                                                                  \
    X(allocations)                                                                                 \
    X(occupancy_bps)

#define TIMES(X)                                                                                   \
    X(wall_ns)                                                                                     \
    X(enqueue_ns)                                                                                  \
    X(device_ns)

/* Whether `text` has the member with that value, as it is printed. */
static int has(const char *text, const char *name, const char *value)
{
    char part[256];
    snprintf(part, sizeof part, "\"%s\": %s", name, value);
    const char *at = strstr(text, part);
    return at && strchr(",}", at[strlen(part)]) != NULL;
}

static void test_scan_reports_have_every_number(void **state)
{
    (void)state;
    vyre_scan_report report = {.staging = VYRE_SCAN_STAGING_SHARED, .width = VYRE_TRANSITION_16};
    uint32_t value = 1000, count = 0;
    char text[2048], number[32];
#define SET(member) report.member = ++value, count++;
    NUMBERS(SET)
    TIMES(SET)
#undef SET
    /* No member is left out: those that are not set are the two enumerations. */
    assert_int_equal(count, 18);
    size_t length = vyre_scan_report_format_json(&report, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(strncmp(text, "{\"schema\": \"vyre.scan-report/1\", ", 33), 0);
    assert_true(text[length - 1] == '}');
#define CHECK(member)                                                                              \
    snprintf(number, sizeof number, "%llu", (unsigned long long)report.member);                    \
    assert_true(has(text, #member, number));
    NUMBERS(CHECK)
    TIMES(CHECK)
#undef CHECK
    assert_true(has(text, "staging", "\"shared\""));
    assert_true(has(text, "width", "16"));
    report.hit_count = UINT64_MAX;
    report.staging = VYRE_SCAN_STAGING_DIRECT;
    report.width = VYRE_TRANSITION_32;
    vyre_scan_report_format_json(&report, text, sizeof text);
    assert_true(has(text, "hit_count", "18446744073709551615"));
    assert_true(has(text, "staging", "\"direct\""));
    assert_true(has(text, "width", "32"));
}

static void test_scan_times_that_were_not_measured_are_null(void **state)
{
    (void)state;
    vyre_scan_report report = {
        .wall_ns = VYRE_NS_NONE, .enqueue_ns = VYRE_NS_NONE, .device_ns = VYRE_NS_NONE};
    char text[2048];
    vyre_scan_report_format_json(&report, text, sizeof text);
#define CHECK(member) assert_true(has(text, #member, "null"));
    TIMES(CHECK)
#undef CHECK
    report.device_ns = 0;
    vyre_scan_report_format_json(&report, text, sizeof text);
    assert_true(has(text, "device_ns", "0"));
    assert_true(has(text, "wall_ns", "null"));
}

static void test_scan_reports_are_cut_at_their_room(void **state)
{
    (void)state;
    vyre_scan_report report = {.wall_ns = VYRE_NS_NONE};
    char whole[2048], part[2048];
    size_t length = vyre_scan_report_format_json(&report, whole, sizeof whole);
    assert_int_equal(vyre_scan_report_format_json(&report, NULL, 0), length);
    assert_int_equal(vyre_scan_report_format_json(&report, NULL, 100), length);
    for (size_t room = 1; room <= length + 1; room++) {
        memset(part, 'x', sizeof part);
        assert_int_equal(vyre_scan_report_format_json(&report, part, room), length);
        assert_int_equal(strlen(part), room - 1);
        assert_memory_equal(part, whole, room - 1);
        assert_true(part[room] == 'x');
    }
    vyre_scan_report_format_json(NULL, part, sizeof part);
    assert_string_equal(part, "{\"schema\": \"vyre.scan-report/1\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fastest_complete_length_is_chosen),
        cmocka_unit_test(test_of_equally_fast_lengths_the_longest_is_chosen),
        cmocka_unit_test(test_without_a_complete_length_none_is_chosen),
        cmocka_unit_test(test_default_lengths_are_from_long_to_short),
        cmocka_unit_test(test_sound_evidence_is_worked_out),
        cmocka_unit_test(test_evidence_is_refused_by_what_does_not_fit),
        cmocka_unit_test(test_scan_reports_have_every_number),
        cmocka_unit_test(test_scan_times_that_were_not_measured_are_null),
        cmocka_unit_test(test_scan_reports_are_cut_at_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

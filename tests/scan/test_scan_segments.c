/* Segments own each byte once, and scanning them finds what scanning whole files finds. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"
#include "tests/megakernel/refused.h"

#include <stdlib.h>

/* Words of 32 bits, in the order in which the device has them. */
static void test_records_have_their_words(void **state)
{
    (void)state;
    assert_int_equal(sizeof(vyre_hit), 4 * VYRE_HIT_WORDS);
    assert_int_equal(VYRE_HIT_WORDS, 4);
    assert_int_equal(offsetof(vyre_hit, file), 0);
    assert_int_equal(offsetof(vyre_hit, rule), 4);
    assert_int_equal(offsetof(vyre_hit, layer), 8);
    assert_int_equal(offsetof(vyre_hit, offset), 12);
    assert_int_equal(sizeof(vyre_scan_segment), 16);
    assert_int_equal(offsetof(vyre_scan_segment, scan_start), 4);
    assert_int_equal(offsetof(vyre_scan_segment, emit_start), 8);
    assert_int_equal(offsetof(vyre_scan_segment, emit_end), 12);
    assert_int_equal(VYRE_FILE_METADATA_WORDS, 4);
    assert_int_equal(VYRE_WORK_TRIPLE_WORDS, 3);
    static const int words[] = {
        VYRE_SCAN_HEAD,       VYRE_SCAN_QUEUE_LENGTH, VYRE_SCAN_HIT_HEAD, VYRE_SCAN_HIT_CAPACITY,
        VYRE_SCAN_DONE_COUNT, VYRE_SCAN_RULE_COUNT,   VYRE_SCAN_WORDS};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(words[i], i);
    }
    assert_int_equal(VYRE_MAX_HITS, 16 << 20);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Each byte of each file belongs to one segment, in order; each begins as far before as it may. */
static void check_plan(const uint32_t *sizes, uint32_t files, uint32_t segment_size,
                       uint32_t overlap)
{
    static vyre_scan_segment segments[4096];
    uint32_t count = 0, planned = 0, at = 0;
    vyre_diag diag;
    vyre_result result = vyre_scan_plan_segments(sizes, files, segment_size, overlap, segments,
                                                 VY_COUNT_OF(segments), &count, &diag);
    assert_int_equal(result, VYRE_OK);
    assert_true(count <= VY_COUNT_OF(segments));
    result = vyre_scan_plan_segments(sizes, files, segment_size, overlap, NULL, 0, &planned, &diag);
    assert_int_equal(result, VYRE_OK);
    assert_int_equal(planned, count);
    for (uint32_t file = 0; file < files; file++) {
        uint32_t next = 0;
        for (; at < count && segments[at].file == file; at++) {
            const vyre_scan_segment *s = &segments[at];
            assert_int_equal(s->emit_start, next);
            assert_true(s->emit_end > s->emit_start && s->emit_end <= sizes[file]);
            assert_true(s->emit_end - s->emit_start == segment_size || s->emit_end == sizes[file]);
            assert_true(s->scan_start == (next < overlap ? 0 : next - overlap));
            next = s->emit_end;
        }
        assert_int_equal(next, sizes[file]);
    }
    assert_int_equal(at, count);
}

static void test_segments_own_every_byte_once(void **state)
{
    (void)state;
    static const uint32_t overlaps[] = {0, 1, 7, 64, VYRE_OVERLAP_NONE};
    const uint32_t sizes[] = {0, 1, 2, 63, 0, 64, 65, 100, 0};
    for (uint32_t size = 1; size <= 130; size++) {
        for (size_t i = 0; i < VY_COUNT_OF(overlaps); i++) {
            check_plan(sizes, VY_COUNT_OF(sizes), size, overlaps[i]);
        }
    }
    check_plan(sizes, VY_COUNT_OF(sizes), VYRE_SEGMENT_WHOLE, 0);
    check_plan(sizes, VY_COUNT_OF(sizes), VYRE_SEGMENT_WHOLE, VYRE_OVERLAP_NONE);
    check_plan(NULL, 0, 1, 0);
}

static void test_segments_reach_the_end_of_what_32_bits_count(void **state)
{
    (void)state;
    const uint32_t sizes[] = {UINT32_MAX, UINT32_MAX - 1};
    const uint32_t lengths[] = {VYRE_SEGMENT_WHOLE, UINT32_MAX - 1, 1u << 31, 1u << 30};
    static const uint32_t counts[] = {2, 3, 4, 8};
    vyre_scan_segment segments[8];
    for (size_t i = 0; i < VY_COUNT_OF(lengths); i++) {
        uint32_t count = 0;
        assert_int_equal(
            vyre_scan_plan_segments(sizes, 2, lengths[i], 100, segments, 8, &count, NULL), VYRE_OK);
        assert_int_equal(count, counts[i]);
        assert_int_equal(segments[count - 1].emit_end, UINT32_MAX - 1);
        assert_int_equal(segments[0].emit_start, 0);
    }
    uint32_t count = 0;
    assert_int_equal(vyre_scan_plan_segments(sizes, 1, 1, 0, segments, 8, &count, NULL), VYRE_OK);
    assert_true(count == UINT32_MAX);
}

/* Room for fewer: the first ones are written, all are counted, nothing is behind. */
static void test_segments_beyond_the_capacity_are_counted(void **state)
{
    (void)state;
    const uint32_t sizes[] = {5, 4};
    for (uint32_t capacity = 0; capacity <= 6; capacity++) {
        vyre_scan_segment segments[7];
        memset(segments, 0x5a, sizeof segments);
        vyre_scan_segment untouched = segments[6];
        uint32_t count = 0;
        assert_int_equal(vyre_scan_plan_segments(sizes, 2, 2, 1, segments, capacity, &count, NULL),
                         VYRE_OK);
        assert_int_equal(count, 5);
        for (uint32_t i = 0; i < 7; i++) {
            assert_int_equal(memcmp(&segments[i], &untouched, sizeof untouched) != 0,
                             i < capacity && i < count);
        }
    }
}

static void test_segments_are_refused_by_what_is_wrong(void **state)
{
    (void)state;
    const uint32_t sizes[] = {UINT32_MAX, 1};
    vyre_scan_segment segment;
    uint32_t count = 7;
    vyre_diag diag;
    assert_refused(vyre_scan_plan_segments(sizes, 2, 0, 0, NULL, 0, &count, &diag),
                   INVALID_ARGUMENT, &diag, "segment_size is 0|VYRE_SEGMENT_WHOLE");
    assert_int_equal(count, 0);
    assert_refused(vyre_scan_plan_segments(sizes, 2, 1, 0, NULL, 0, &count, &diag),
                   INVALID_ARGUMENT, &diag, "number 1|2^32 - 1 segments of 1 bytes");
    assert_refused(vyre_scan_plan_segments(NULL, 2, 1, 0, NULL, 0, &count, &diag), INVALID_ARGUMENT,
                   &diag, "file_sizes");
    assert_refused(vyre_scan_plan_segments(sizes, 2, 1, 0, NULL, 1, &count, &diag),
                   INVALID_ARGUMENT, &diag, "out_segments");
    assert_refused(vyre_scan_plan_segments(sizes, 2, 1, 0, &segment, 1, NULL, &diag),
                   INVALID_ARGUMENT, &diag, "out_count");
}

/* ---- Scanning them --------------------------------------------------------------------------- */

typedef struct piece {
    hit_list *hits;
    const vyre_scan_segment *segment;
} piece;

/* Hits of a scan that begins at scan_start, as hits of the file, and those of others left out. */
static int add_own(void *user, const vyre_hit *hit)
{
    piece *p = user;
    vyre_hit own = *hit;
    own.offset += p->segment->scan_start;
    return own.offset < p->segment->emit_start ? 0 : hit_list_add(p->hits, &own);
}

/* For every length of segments, in one file. */
static void check_segments(const vyre_pattern *patterns, uint32_t count, vyre_grouping grouping,
                           const char *text, uint32_t size, uint32_t seed)
{
    vyre_catalogue *catalogue = make_catalogue(patterns, count, grouping);
    uint32_t overlap = info_of(catalogue).overlap;
    hit_list whole = {0}, parts = {0};
    scan_list(catalogue, text, size, &whole);
    for (uint32_t length = 1; length <= size; length++) {
        vyre_scan_segment segments[256];
        uint32_t segment_count = 0;
        parts.count = 0;
        assert_int_equal(
            vyre_scan_plan_segments(&size, 1, length, overlap, segments, 256, &segment_count, NULL),
            VYRE_OK);
        for (uint32_t i = 0; i < segment_count; i++) {
            const vyre_scan_segment *s = &segments[i];
            piece p = {&parts, s};
            assert_int_equal(vyre_catalogue_scan(catalogue, text + s->scan_start,
                                                 s->emit_end - s->scan_start, add_own, &p, NULL),
                             VYRE_OK);
        }
        if (!hit_list_equal(&parts, &whole)) {
            hit_list_print(&parts, &whole);
            fail_msg("seed %u: segments of %u bytes, overlap %u", (unsigned)seed, (unsigned)length,
                     (unsigned)overlap);
        }
    }
    hit_list_finish(&whole);
    hit_list_finish(&parts);
    vyre_catalogue_destroy(&catalogue);
}

static void test_segments_find_what_whole_files_have(void **state)
{
    (void)state;
    static uint32_t transitions[3 * 256];
    static const uint8_t accepts[] = {0, 0, 1};
    for (uint32_t b = 0; b < 256; b++) { /* an a somewhere before a b: no overlap is enough */
        transitions[b] = b == 'a';
        transitions[256 + b] = transitions[512 + b] = b == 'b' ? 2 : 1;
    }
    for (uint32_t seed = 1; seed <= 60; seed++) {
        uint64_t random = seed;
        vyre_pattern patterns[6];
        char texts[5][6], text[120];
        uint32_t count = 1 + random_below(&random, 5);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t size = 1 + random_below(&random, 6);
            for (uint32_t k = 0; k < size; k++) {
                texts[i][k] = "abA"[random_below(&random, 3)];
            }
            patterns[i] =
                literal_of(texts[i], size, random_below(&random, 2) ? VYRE_PATTERN_CASELESS : 0);
        }
        if (seed % 4 == 0) {
            patterns[count++] =
                (vyre_pattern){.transitions = transitions, .accepts = accepts, .state_count = 3};
        }
        for (uint32_t i = 0; i < sizeof text; i++) {
            text[i] = "abAB"[random_below(&random, 4)];
        }
        for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
            check_segments(patterns, count, (vyre_grouping)grouping, text, sizeof text, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_have_their_words),
        cmocka_unit_test(test_segments_own_every_byte_once),
        cmocka_unit_test(test_segments_reach_the_end_of_what_32_bits_count),
        cmocka_unit_test(test_segments_beyond_the_capacity_are_counted),
        cmocka_unit_test(test_segments_are_refused_by_what_is_wrong),
        cmocka_unit_test(test_segments_find_what_whole_files_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Long texts, which are walked in several places at once, have the hits of walking from their start
 * on. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"
#include "tests/megakernel/refused.h"
#include "tests/support/fail_allocator.h"

#include <stdlib.h>

#define TEXT_SIZE 110000u /* more than three blocks of walk.c */

static char *random_text(uint64_t *random, const char *letters)
{
    char *text = malloc(TEXT_SIZE);
    uint32_t count = (uint32_t)strlen(letters);
    assert_non_null(text);
    for (uint32_t i = 0; i < TEXT_SIZE; i++) {
        text[i] = letters[random_below(random, count)];
    }
    return text;
}

static void test_long_texts_have_the_same_hits(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        uint64_t random = seed;
        char *text = random_text(&random, seed % 3 ? "abcdefgh" : "ab");
        vyre_pattern patterns[6];
        /* Pieces of the text itself, one of a piece's whole length among them. */
        for (uint32_t i = 0; i < 6; i++) {
            uint32_t size = i == 5 ? 1 + seed * 43 : 1 + random_below(&random, 6);
            uint32_t at = random_below(&random, TEXT_SIZE - size);
            patterns[i] = literal_of(text + at, size, i & 1 ? VYRE_PATTERN_CASELESS : 0);
        }
        uint32_t count = seed % 2 ? 6 : 5;
        for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
            vyre_catalogue *catalogue = make_catalogue(patterns, count, (vyre_grouping)grouping);
            check_hits(catalogue, patterns, count, text, TEXT_SIZE, seed);
            vyre_catalogue_destroy(&catalogue);
        }
        free(text);
    }
}

/* Around the sizes of pieces and blocks, and of overlaps: a pattern that ends at each offset is
 * found at each. */
static void test_long_texts_are_found_at_every_offset(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {66559, 66560, 66561, 99840, 99839, 99841, 70719, 70720, 70721};
    static const uint32_t longest[] = {1, 2, 511, 512, 513, 4160};
    char *text = malloc(TEXT_SIZE);
    assert_non_null(text);
    memset(text, 'a', TEXT_SIZE);
    for (size_t k = 0; k < VY_COUNT_OF(longest); k++) {
        const vyre_pattern pattern = literal_of(text, longest[k], 0);
        vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
        for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
            hit_list got = {0};
            scan_list(catalogue, text, sizes[i], &got);
            assert_int_equal(got.count, sizes[i] - longest[k] + 1);
            for (uint32_t h = 0; h < got.count; h++) {
                assert_int_equal(got.hits[h].offset, longest[k] - 1 + h);
            }
            hit_list_finish(&got);
        }
        vyre_catalogue_destroy(&catalogue);
    }
    free(text);
}

/* Whatever was found behind it by then. */
static void test_long_scans_end_where_no_more_hits_are_wanted(void **state)
{
    (void)state;
    uint64_t random = 1;
    char *text = random_text(&random, "ab");
    const vyre_pattern patterns[] = {literal_text("ab"), literal_text("b")};
    vyre_catalogue *catalogue = make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
    hit_list all = {0};
    scan_list(catalogue, text, TEXT_SIZE, &all);
    for (size_t stop = 1; stop <= all.count; stop += 1 + stop / 3) {
        hit_list first = {.stop_at = stop};
        scan_list(catalogue, text, TEXT_SIZE, &first);
        assert_int_equal(first.count, stop);
        assert_memory_equal(first.hits, all.hits, stop * sizeof *all.hits);
        hit_list_finish(&first);
    }
    hit_list_finish(&all);
    vyre_catalogue_destroy(&catalogue);
    free(text);
}

/* An automaton for which no overlap is enough is walked from the start on. */
static void test_long_texts_without_an_overlap_have_the_same_hits(void **state)
{
    (void)state;
    static uint32_t transitions[3 * 256];
    static const uint8_t accepts[] = {0, 0, 1};
    for (uint32_t b = 0; b < 256; b++) { /* every third a, and all up to the next one */
        for (uint32_t s = 0; s < 3; s++) {
            transitions[s * 256 + b] = b == 'a' ? (s + 1) % 3 : s;
        }
    }
    const vyre_pattern pattern = {.transitions = transitions, .accepts = accepts, .state_count = 3};
    uint64_t random = 1;
    char *text = random_text(&random, "abcd");
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    assert_true(info_of(catalogue).overlap == VYRE_OVERLAP_NONE);
    check_hits(catalogue, &pattern, 1, text, TEXT_SIZE, 1);
    vyre_catalogue_destroy(&catalogue);
    free(text);
}

static void test_long_scans_survive_a_failed_allocation(void **state)
{
    (void)state;
    vy_fail_allocator failing = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&failing);
    uint64_t random = 1;
    char *text = random_text(&random, "abc");
    const vyre_pattern pattern = literal_text("abc");
    vyre_catalogue *catalogue = NULL;
    vyre_catalogue_params params;
    vyre_diag diag;
    hit_list hits = {0};
    vyre_catalogue_params_init(&params);
    params.allocator = &allocator;
    params.patterns = &pattern;
    params.pattern_count = 1;
    assert_int_equal(vyre_catalogue_create(&params, &catalogue, &diag), VYRE_OK);
    size_t blocks = failing.live_blocks, size = failing.live_size;
    failing.fail_at = failing.calls + 1;
    assert_refused(vyre_catalogue_scan(catalogue, text, TEXT_SIZE, hit_list_add, &hits, &diag),
                   OUT_OF_HOST_MEMORY, &diag, "memory");
    assert_int_equal(hits.count, 0);
    scan_list(catalogue, text, TEXT_SIZE, &hits);
    assert_true(hits.count > 0);
    assert_true(failing.live_blocks == blocks && failing.live_size == size);
    hit_list_finish(&hits);
    vyre_catalogue_destroy(&catalogue);
    assert_int_equal(failing.live_blocks, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_texts_have_the_same_hits),
        cmocka_unit_test(test_long_texts_are_found_at_every_offset),
        cmocka_unit_test(test_long_scans_end_where_no_more_hits_are_wanted),
        cmocka_unit_test(test_long_texts_without_an_overlap_have_the_same_hits),
        cmocka_unit_test(test_long_scans_survive_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Literals: found as by comparing at every offset, whatever they have in common. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"

#include <stdlib.h>

/* Overlapping, nested, suffixes of each other, of one byte, and given twice. */
static void test_literals_that_overlap_are_all_found(void **state)
{
    (void)state;
    static const char *const texts[] = {"a",  "ab", "bab", "b",   "abab", "ba",
                                        "ab", "aa", "aaa", "bba", "a",    "cab"};
    vyre_pattern patterns[VY_COUNT_OF(texts)];
    for (uint32_t i = 0; i < VY_COUNT_OF(texts); i++) {
        patterns[i] = literal_text(texts[i]);
    }
    for (uint32_t count = 1; count <= VY_COUNT_OF(texts); count++) {
        for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
            vyre_catalogue *catalogue = make_catalogue(patterns, count, (vyre_grouping)grouping);
            check_all_texts(catalogue, patterns, count, "abc", 6, count);
            vyre_catalogue_destroy(&catalogue);
            assert_null(catalogue);
        }
    }
}

static void test_hits_come_by_offset_and_rule(void **state)
{
    (void)state;
    const vyre_pattern patterns[] = {literal_text("ab"), literal_text("b"), literal_text("ab"),
                                     literal_text("xab")};
    static const vyre_hit wanted[] = {{0, 1, 0, 0}, {0, 0, 0, 3}, {0, 1, 0, 3},
                                      {0, 2, 0, 3}, {0, 3, 0, 3}, {0, 1, 0, 4}};
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        vyre_catalogue *catalogue = make_catalogue(patterns, 4, (vyre_grouping)grouping);
        hit_list got = {0};
        scan_list(catalogue, "bxabb", 5, &got);
        assert_int_equal(got.count, VY_COUNT_OF(wanted));
        assert_memory_equal(got.hits, wanted, sizeof wanted);
        hit_list_finish(&got);
        for (size_t stop = 1; stop <= VY_COUNT_OF(wanted); stop++) {
            hit_list first = {.stop_at = stop};
            scan_list(catalogue, "bxabb", 5, &first);
            assert_int_equal(first.count, stop);
            assert_memory_equal(first.hits, wanted, stop * sizeof *wanted);
            hit_list_finish(&first);
        }
        vyre_catalogue_destroy(&catalogue);
    }
}

/* Of `letters` letters and up to `longest` bytes. */
static void random_literals(uint64_t *random, vyre_pattern *patterns, char (*texts)[8],
                            uint32_t count, const char *letters, uint32_t longest)
{
    uint32_t letter_count = (uint32_t)strlen(letters);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = 1 + random_below(random, longest);
        for (uint32_t k = 0; k < size; k++) {
            texts[i][k] = letters[random_below(random, letter_count)];
        }
        uint32_t flags = random_below(random, 3) == 0 ? VYRE_PATTERN_CASELESS : 0;
        patterns[i] = literal_of(texts[i], size, flags);
    }
}

static void test_random_literals_are_found_as_by_comparing(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        vyre_pattern patterns[12];
        char texts[12][8], bytes[200];
        uint32_t count = 1 + random_below(&random, 12);
        random_literals(&random, patterns, texts, count, seed & 1 ? "ab" : "abAB", 5);
        for (uint32_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = "abAB@["[random_below(&random, seed % 3 ? 4 : 6)];
        }
        for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
            vyre_catalogue *catalogue = make_catalogue(patterns, count, (vyre_grouping)grouping);
            check_hits(catalogue, patterns, count, bytes, sizeof bytes, seed);
            vyre_catalogue_destroy(&catalogue);
        }
    }
}

static void test_case_is_that_of_the_26_letters(void **state)
{
    (void)state;
    char literals[256];
    uint8_t bytes[256];
    vyre_pattern patterns[256];
    for (uint32_t i = 0; i < 256; i++) {
        literals[i] = (char)i;
        bytes[i] = (uint8_t)i;
        patterns[i] = literal_of(&literals[i], 1, VYRE_PATTERN_CASELESS);
    }
    vyre_catalogue *catalogue = make_catalogue(patterns, 256, VYRE_GROUPING_AUTO);
    hit_list got = {0};
    assert_int_equal(info_of(catalogue).automaton_count, 1);
    assert_int_equal(info_of(catalogue).max_class_count, 256 - 26);
    scan_list(catalogue, bytes, sizeof bytes, &got);
    assert_int_equal(got.count, 256 + 2 * 26);
    check_hits(catalogue, patterns, 256, bytes, sizeof bytes, 0);
    hit_list_finish(&got);
    vyre_catalogue_destroy(&catalogue);
}

static void test_all_256_bytes_are_bytes(void **state)
{
    (void)state;
    uint8_t bytes[512], zeros[3] = {0, 0, 0};
    vyre_pattern patterns[259];
    for (uint32_t i = 0; i < 512; i++) {
        bytes[i] = (uint8_t)(i < 256 ? i : 511 - i);
    }
    for (uint32_t i = 0; i < 256; i++) {
        patterns[i] = literal_of(&bytes[i], 1 + i % 3, 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        patterns[256 + i] = literal_of(zeros, i + 1, 0);
    }
    vyre_catalogue *catalogue = make_catalogue(patterns, 259, VYRE_GROUPING_AUTO);
    assert_int_equal(info_of(catalogue).max_class_count, 256);
    check_hits(catalogue, patterns, 259, bytes, sizeof bytes, 0);
    memset(bytes, 0, sizeof bytes);
    hit_list got = {0};
    scan_list(catalogue, bytes, 4, &got); /* 0 is also the first of the 256 */
    assert_int_equal(got.count, 4 + 4 + 3 + 2);
    hit_list_finish(&got);
    vyre_catalogue_destroy(&catalogue);
}

/* Bytes that no literal has are one class; each other one leads where no other does. */
static void test_classes_lose_nothing(void **state)
{
    (void)state;
    const vyre_pattern patterns[] = {literal_text("he"), literal_text("she"), literal_text("his"),
                                     literal_text("hers")};
    vyre_catalogue *catalogue = make_catalogue(patterns, 4, VYRE_GROUPING_AUTO);
    const vy_automaton *a = &catalogue->automata[0];
    assert_int_equal(a->class_count, 6);
    assert_int_equal(a->state_count, 10);
    for (unsigned b = 0; b < 256; b++) {
        assert_int_equal(a->classes[b] == a->classes[0], strchr("heisr", (int)b) == NULL || b == 0);
        assert_true(a->classes[b] < a->class_count);
    }
    for (uint32_t first = 0; first < a->class_count; first++) {
        for (uint32_t second = 0; second < first; second++) {
            uint32_t apart = 0;
            for (uint32_t s = 0; s < a->state_count; s++) {
                const uint32_t *row = a->transitions + s * a->class_count;
                apart += row[first] != row[second];
            }
            assert_true(apart > 0);
        }
    }
    vyre_catalogue_destroy(&catalogue);
}

/* States are numbered in the order in which a breadth-first walk meets them. */
static void test_states_are_in_breadth_first_order(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 50; seed++) {
        uint64_t random = seed;
        vyre_pattern patterns[12];
        char texts[12][8];
        random_literals(&random, patterns, texts, 12, "abcA", 7);
        vyre_catalogue *catalogue = make_catalogue(patterns, 12, VYRE_GROUPING_PER_RULE);
        for (uint32_t i = 0; i < catalogue->automaton_count; i++) {
            const vy_automaton *a = &catalogue->automata[i];
            uint32_t seen = 1;
            for (uint32_t k = 0; k < a->state_count * a->class_count; k++) {
                assert_true(k / a->class_count < seen && a->transitions[k] <= seen);
                seen += a->transitions[k] == seen;
            }
            assert_int_equal(seen, a->state_count);
        }
        vyre_catalogue_destroy(&catalogue);
    }
}

static void test_catalogues_of_nothing_find_nothing(void **state)
{
    (void)state;
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        vyre_catalogue *catalogue = make_catalogue(NULL, 0, (vyre_grouping)grouping);
        vyre_catalogue_info info = info_of(catalogue);
        hit_list got = {0};
        scan_list(catalogue, "abc", 3, &got);
        scan_list(catalogue, NULL, 0, &got);
        assert_int_equal(got.count, 0);
        assert_int_equal(info.automaton_count + info.rule_count + info.rejection_count, 0);
        assert_int_equal(info.overlap, 0);
        assert_int_equal(info.fits_16_bits, 1);
        vyre_catalogue_destroy(&catalogue);
    }
    vyre_catalogue *none = NULL;
    vyre_catalogue_destroy(&none);
    vyre_catalogue_destroy(NULL);
    vyre_pattern pattern = literal_text("a");
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    hit_list got = {0};
    scan_list(catalogue, NULL, 0, &got);
    assert_int_equal(got.count, 0);
    vyre_catalogue_destroy(&catalogue);
}

/* ---- Many ------------------------------------------------------------------------------------ */

/* `count` literals of `size` letters or bytes each. */
static uint8_t *many_literals(uint32_t count, uint32_t size, uint32_t letters,
                              vyre_pattern **out_patterns)
{
    uint64_t random = count;
    uint8_t *bytes = malloc((size_t)count * size);
    vyre_pattern *patterns = calloc(count, sizeof *patterns);
    assert_true(bytes && patterns);
    for (size_t i = 0; i < (size_t)count * size; i++) {
        bytes[i] = (uint8_t)((letters < 256 ? 'a' : 0) + random_below(&random, letters));
    }
    for (uint32_t i = 0; i < count; i++) {
        patterns[i] = literal_of(bytes + (size_t)i * size, size, 0);
    }
    *out_patterns = patterns;
    return bytes;
}

static void test_many_literals_are_one_automaton(void **state)
{
    (void)state;
    vyre_pattern *patterns;
    uint8_t *bytes = many_literals(20000, 10, 26, &patterns);
    vyre_catalogue *catalogue = make_catalogue(patterns, 20000, VYRE_GROUPING_AUTO);
    vyre_catalogue_info info = info_of(catalogue);
    hit_list got = {0};
    assert_int_equal(info.automaton_count, 1);
    assert_int_equal(info.fits_16_bits, 0);
    assert_true(info.state_count > 100000 && info.state_count <= 200001);
    assert_int_equal(info.max_class_count, 27);
    assert_int_equal(info.overlap, 10);
    scan_list(catalogue, bytes, 200000, &got); /* all of them, one behind the other */
    assert_true(got.count >= 20000);
    uint32_t next = 0;
    for (size_t i = 0; i < got.count; i++) {
        assert_memory_equal(bytes + got.hits[i].offset - 9, patterns[got.hits[i].rule].literal, 10);
        next += got.hits[i].rule == next && got.hits[i].offset == 10 * next + 9;
    }
    assert_int_equal(next, 20000);
    hit_list_finish(&got);
    vyre_catalogue_destroy(&catalogue);
    free(patterns);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_that_overlap_are_all_found),
        cmocka_unit_test(test_hits_come_by_offset_and_rule),
        cmocka_unit_test(test_random_literals_are_found_as_by_comparing),
        cmocka_unit_test(test_case_is_that_of_the_26_letters),
        cmocka_unit_test(test_all_256_bytes_are_bytes),
        cmocka_unit_test(test_classes_lose_nothing),
        cmocka_unit_test(test_states_are_in_breadth_first_order),
        cmocka_unit_test(test_catalogues_of_nothing_find_nothing),
        cmocka_unit_test(test_many_literals_are_one_automaton),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What catalogues refuse, how large they get, and that nothing stays behind. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"
#include "tests/megakernel/refused.h"
#include "tests/support/fail_allocator.h"

#include <stdlib.h>

/* Whether the n-th byte from the end is an a: 2^n states, which no other n shares. */
#define MAX_BACK 4u
static uint32_t back_transitions[MAX_BACK + 1][(1u << MAX_BACK) * 256];
static uint8_t back_accepts[MAX_BACK + 1][1u << MAX_BACK];

static vyre_pattern back_pattern(uint32_t n, char letter)
{
    uint32_t states = 1u << n;
    for (uint32_t k = 0; k < states * 256; k++) {
        uint32_t is_letter = k % 256 == (uint8_t)letter;
        back_transitions[n][k] = (k / 256 * 2 + is_letter) & (states - 1);
    }
    for (uint32_t s = 0; s < states; s++) {
        back_accepts[n][s] = s >= states / 2;
    }
    return (vyre_pattern){
        .transitions = back_transitions[n], .accepts = back_accepts[n], .state_count = states};
}

static vyre_result create(const vyre_pattern *patterns, uint32_t count, int grouping,
                          uint32_t max_states, uint64_t max_size, vyre_catalogue **out,
                          vyre_diag *diag)
{
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    params.patterns = patterns;
    params.pattern_count = count;
    params.grouping = (vyre_grouping)grouping;
    params.max_states = max_states;
    params.max_size = max_size;
    return vyre_catalogue_create(&params, out, diag);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static const char sample[] = "abbaabxabaaabbbabxxabba";

static void test_one_automaton_has_at_most_max_states(void **state)
{
    (void)state;
    vyre_pattern patterns[] = {back_pattern(2, 'a'), back_pattern(3, 'b'), literal_text("bx"),
                               literal_of("AB", 2, VYRE_PATTERN_CASELESS)};
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    assert_int_equal(create(patterns, 4, VYRE_GROUPING_COMBINED, 0, 0, &catalogue, &diag), VYRE_OK);
    uint32_t states = (uint32_t)info_of(catalogue).state_count;
    assert_int_equal(info_of(catalogue).automaton_count, 1);
    assert_true(states > 16);
    vyre_catalogue_destroy(&catalogue);
    assert_int_equal(create(patterns, 4, VYRE_GROUPING_COMBINED, states, 0, &catalogue, &diag),
                     VYRE_OK);
    vyre_catalogue_destroy(&catalogue);
    assert_refused(create(patterns, 4, VYRE_GROUPING_COMBINED, states - 1, 0, &catalogue, &diag),
                   UNSUPPORTED_FEATURE, &diag, "max_states|VYRE_GROUPING_AUTO");
    assert_null(catalogue);
    for (uint32_t max_states = 8; max_states <= states; max_states++) {
        assert_int_equal(create(patterns, 4, VYRE_GROUPING_AUTO, max_states, 0, &catalogue, &diag),
                         VYRE_OK);
        vyre_catalogue_info info = info_of(catalogue);
        assert_int_equal(info.automaton_count == 1, max_states == states);
        assert_true(info.automaton_count < 4 || max_states < 12);
        for (uint32_t i = 0; i < info.automaton_count; i++) {
            assert_true(catalogue->automata[i].state_count <= max_states);
        }
        check_hits(catalogue, patterns, 4, sample, strlen(sample), max_states);
        vyre_catalogue_destroy(&catalogue);
    }
}

/* Those that do not fit with one fit with another. */
static void test_automata_that_fit_together_are_combined(void **state)
{
    (void)state;
    vyre_pattern patterns[6];
    static uint32_t tables[4][16 * 256];
    for (uint32_t i = 0; i < 4; i++) { /* 16 states of 4 bytes back, of two letters twice */
        patterns[i] = back_pattern(4, i & 1 ? 'a' : 'b');
        memcpy(tables[i], back_transitions[4], sizeof tables[i]);
        patterns[i].transitions = tables[i];
    }
    static uint8_t accepts[16]; /* one of the fourth and the second back, which takes 16 too */
    for (uint32_t s = 0; s < 16; s++) {
        accepts[s] = (s >> 3 ^ s >> 1) & 1;
    }
    patterns[2].accepts = patterns[3].accepts = accepts;
    patterns[4] = literal_text("a");
    patterns[5] = literal_text("aa");
    vyre_catalogue *catalogue = NULL;
    assert_int_equal(create(patterns, 6, VYRE_GROUPING_AUTO, 16, 0, &catalogue, NULL), VYRE_OK);
    vyre_catalogue_info info = info_of(catalogue);
    assert_int_equal(info.automaton_count, 2); /* by letter, the literals with theirs */
    assert_int_equal(info.state_count, 32);
    check_hits(catalogue, patterns, 6, sample, strlen(sample), 0);
    vyre_catalogue_destroy(&catalogue);
}

/* More pairs that do not fit than are tried: found all the same. */
static void test_automata_that_never_fit_stay_apart(void **state)
{
    (void)state;
    static uint32_t tables[40][16 * 256];
    static uint8_t accepts[40][16];
    vyre_pattern patterns[40];
    char text[500];
    uint64_t random = 1;
    for (uint32_t i = 0; i < 40; i++) {
        patterns[i] = back_pattern(4, (char)('a' + i));
        memcpy(tables[i], back_transitions[4], sizeof tables[i]);
        memcpy(accepts[i], back_accepts[4], sizeof accepts[i]);
        patterns[i].transitions = tables[i];
        patterns[i].accepts = accepts[i];
    }
    for (uint32_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + random_below(&random, 45));
    }
    vyre_catalogue *catalogue = NULL;
    assert_int_equal(create(patterns, 40, VYRE_GROUPING_AUTO, 17, 0, &catalogue, NULL), VYRE_OK);
    assert_int_equal(info_of(catalogue).automaton_count, 40);
    check_hits(catalogue, patterns, 40, text, sizeof text, 1);
    vyre_catalogue_destroy(&catalogue);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void test_tables_have_at_most_max_size(void **state)
{
    (void)state;
    const vyre_pattern patterns[] = {back_pattern(2, 'a'), literal_text("abab"), literal_text("ab"),
                                     literal_of("ba", 2, VYRE_PATTERN_CASELESS),
                                     back_pattern(3, 'b')};
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        for (uint32_t count = 1; count <= VY_COUNT_OF(patterns); count++) {
            vyre_catalogue *catalogue = NULL;
            vyre_diag diag;
            assert_int_equal(create(patterns, count, grouping, 0, 0, &catalogue, &diag), VYRE_OK);
            uint64_t size = info_of(catalogue).table_size;
            vyre_catalogue_destroy(&catalogue);
            assert_int_equal(create(patterns, count, grouping, 0, size, &catalogue, &diag),
                             VYRE_OK);
            vyre_catalogue_destroy(&catalogue);
            for (uint64_t less = 1; less < size; less += 37) {
                vyre_result result =
                    create(patterns, count, grouping, 0, size - less, &catalogue, &diag);
                assert_int_equal(result == VYRE_OK,
                                 grouping == VYRE_GROUPING_AUTO && catalogue != NULL);
                if (result == VYRE_OK) { /* in more automata, which are smaller together */
                    assert_true(info_of(catalogue).table_size <= size - less);
                    vyre_catalogue_destroy(&catalogue);
                    continue;
                }
                assert_refused(result, UNSUPPORTED_FEATURE, &diag, "max_size|bytes");
                assert_null(catalogue);
            }
        }
    }
}

/* Memory that is held at once, at most. */
typedef struct meter {
    size_t now, most;
} meter;

static void *meter_reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    meter *m = user;
    if (new_size == 0) {
        m->now -= old ? old_size : 0;
        free(old);
        return NULL;
    }
    void *memory = realloc(old, new_size);
    if (memory) {
        m->now += new_size - (old ? old_size : 0);
        m->most = m->now > m->most ? m->now : m->most;
    }
    return memory;
}

static void test_a_million_literals_are_refused_before_memory_is_short(void **state)
{
    (void)state;
    enum { COUNT = 1000000, SIZE = 10 };
    uint64_t random = 1;
    uint8_t *bytes = malloc((size_t)COUNT * SIZE);
    vyre_pattern *patterns = calloc(COUNT, sizeof *patterns);
    meter m = {0, 0};
    vyre_allocator allocator = {&m, meter_reallocate};
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    vyre_catalogue_params params;
    assert_true(bytes && patterns);
    for (size_t i = 0; i < (size_t)COUNT * SIZE; i++) {
        bytes[i] = (uint8_t)random_below(&random, 256);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        patterns[i] = literal_of(bytes + (size_t)i * SIZE, SIZE, 0);
    }
    vyre_catalogue_params_init(&params);
    params.allocator = &allocator;
    params.patterns = patterns;
    params.pattern_count = COUNT;
    assert_refused(vyre_catalogue_create(&params, &catalogue, &diag), UNSUPPORTED_FEATURE, &diag,
                   "1073741824 bytes|max_size");
    assert_null(catalogue);
    assert_int_equal(m.now, 0);
    assert_true(m.most < 150u << 20);
    params.pattern_count = 50000;
    params.max_size = 1u << 30;
    assert_int_equal(vyre_catalogue_create(&params, &catalogue, &diag), VYRE_OK);
    assert_true(m.most < info_of(catalogue).table_size + (64u << 20));
    vyre_catalogue_destroy(&catalogue);
    assert_int_equal(m.now, 0);
    free(patterns);
    free(bytes);
}

/* What is too large is not made to its end: of many rules, and of many automata. */
static void test_what_is_too_large_takes_little_memory(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    uint8_t(*bytes)[4] = malloc(COUNT * sizeof *bytes);
    vyre_pattern *patterns = calloc(COUNT, sizeof *patterns);
    vyre_catalogue *catalogue = NULL;
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    params.patterns = patterns;
    params.pattern_count = COUNT;
    params.max_size = 1u << 20;
    assert_true(bytes && patterns);
    const vyre_pattern machine = back_pattern(4, 'a');
    for (int kind = 0; kind < 2; kind++) {
        meter m = {0, 0};
        vyre_allocator allocator = {&m, meter_reallocate};
        vyre_diag diag;
        for (uint32_t i = 0; i < COUNT; i++) {
            memcpy(bytes[i], &i, 4);
            patterns[i] = kind ? literal_of(bytes[i], 4, 0) : machine;
        }
        params.allocator = &allocator;
        params.grouping = kind ? VYRE_GROUPING_PER_RULE : VYRE_GROUPING_AUTO;
        assert_refused(vyre_catalogue_create(&params, &catalogue, &diag), UNSUPPORTED_FEATURE,
                       &diag, "max_size");
        assert_int_equal(m.now, 0);
        assert_true(m.most < (kind ? 4u << 20 : 1u << 20));
    }
    free(patterns);
    free(bytes);
}

/* Each state of a^n has found n literals. */
static void test_outputs_count_as_tables_do(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static char letters[COUNT];
    static vyre_pattern patterns[COUNT];
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    memset(letters, 'a', sizeof letters);
    for (uint32_t i = 0; i < COUNT; i++) {
        patterns[i] = literal_of(letters, i + 1, 0);
    }
    assert_refused(create(patterns, COUNT, VYRE_GROUPING_AUTO, 0, 1u << 20, &catalogue, &diag),
                   UNSUPPORTED_FEATURE, &diag, "max_size");
    assert_int_equal(create(patterns, COUNT, VYRE_GROUPING_AUTO, 0, 32u << 20, &catalogue, &diag),
                     VYRE_OK);
    assert_int_equal(info_of(catalogue).state_count, COUNT + 1);
    hit_list got = {0};
    scan_list(catalogue, letters, COUNT, &got);
    assert_int_equal(got.count, COUNT * (COUNT + 1) / 2);
    hit_list_finish(&got);
    vyre_catalogue_destroy(&catalogue);
    /* One automaton for rules of its own: each accepting state has all of them. */
    for (uint32_t i = 0; i < COUNT; i++) {
        patterns[i] = back_pattern(4, 'a');
    }
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        assert_refused(create(patterns, COUNT, grouping, 0, 8 * COUNT * 4, &catalogue, &diag),
                       UNSUPPORTED_FEATURE, &diag, "max_size");
        assert_int_equal(
            create(patterns, COUNT, grouping, 0, 8 * COUNT * 4 + 1024, &catalogue, &diag), VYRE_OK);
        vyre_catalogue_destroy(&catalogue);
    }
}

static void test_literals_have_at_most_2_to_the_24_states(void **state)
{
    (void)state;
    enum { SIZE = VY_AUTOMATON_MAX_STATES - 1 };
    char *letters = malloc(SIZE);
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    assert_non_null(letters);
    memset(letters, 'a', SIZE);
    const vyre_pattern patterns[] = {literal_of(letters, SIZE, 0), literal_text("b")};
    assert_refused(create(patterns, 2, VYRE_GROUPING_AUTO, 0, 0, &catalogue, &diag),
                   UNSUPPORTED_FEATURE, &diag, "16777216 states|several catalogues");
    assert_null(catalogue);
    free(letters);
}

static void test_tables_of_16_bits_have_32768_states(void **state)
{
    (void)state;
    static char letters[32768];
    memset(letters, 'a', sizeof letters);
    for (uint32_t size = 32766; size <= 32768; size++) {
        const vyre_pattern pattern = literal_of(letters, size, 0);
        vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
        vyre_catalogue_info info = info_of(catalogue);
        assert_int_equal(info.state_count, size + 1);
        assert_int_equal(info.fits_16_bits, size <= 32767);
        assert_int_equal(info.overlap, size);
        /* classes, two transitions and an offset a state, one offset more, one output */
        assert_int_equal(info.table_size, 256 + 4 * (3 * (size + 1) + 1 + 1));
        vyre_catalogue_destroy(&catalogue);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_catalogues_are_refused_by_what_is_wrong(void **state)
{
    (void)state;
    vyre_pattern patterns[] = {literal_text("a"), back_pattern(2, 'a')};
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    assert_refused(vyre_catalogue_create(&params, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "out_catalogue");
    assert_refused(create(NULL, 1, VYRE_GROUPING_AUTO, 0, 0, &catalogue, &diag), INVALID_ARGUMENT,
                   &diag, "patterns is NULL");
    assert_refused(create(patterns, 2, 3, 0, 0, &catalogue, &diag), INVALID_ARGUMENT, &diag,
                   "grouping");
    assert_refused(
        create(patterns, 2, VYRE_GROUPING_AUTO, VY_AUTOMATON_MAX_STATES + 1, 0, &catalogue, &diag),
        INVALID_ARGUMENT, &diag, "max_states");
    params.struct_size = 3;
    assert_refused(vyre_catalogue_create(&params, &catalogue, &diag), INVALID_ARGUMENT, &diag,
                   "struct_size");
    patterns[0].flags = 2;
    assert_refused(create(patterns, 2, VYRE_GROUPING_AUTO, 0, 0, &catalogue, &diag),
                   INVALID_ARGUMENT, &diag, "pattern 0|flags 0x2");
    patterns[0].flags = 0;
    patterns[1].flags = VYRE_PATTERN_CASELESS;
    assert_refused(create(patterns, 2, VYRE_GROUPING_AUTO, 0, 0, &catalogue, &diag),
                   INVALID_ARGUMENT, &diag, "pattern 1|automaton");
    assert_null(catalogue);
    assert_int_equal(vyre_catalogue_create(NULL, &catalogue, &diag), VYRE_OK);
    vyre_catalogue_destroy(&catalogue);
}

static void test_scans_are_refused_by_what_is_wrong(void **state)
{
    (void)state;
    const vyre_pattern pattern = literal_text("a");
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    hit_list hits = {0};
    vyre_diag diag;
    assert_refused(vyre_catalogue_scan(NULL, "a", 1, hit_list_add, &hits, &diag), INVALID_ARGUMENT,
                   &diag, "catalogue is NULL");
    assert_refused(vyre_catalogue_scan(catalogue, NULL, 1, hit_list_add, &hits, &diag),
                   INVALID_ARGUMENT, &diag, "bytes is NULL");
    assert_refused(vyre_catalogue_scan(catalogue, "a", 1, NULL, &hits, &diag), INVALID_ARGUMENT,
                   &diag, "hit is NULL");
#if SIZE_MAX > UINT32_MAX
    assert_refused(
        vyre_catalogue_scan(catalogue, "a", (size_t)UINT32_MAX + 1, hit_list_add, &hits, &diag),
        INVALID_ARGUMENT, &diag, "4294967296 bytes");
#endif
    assert_int_equal(hits.count, 0);
    vyre_catalogue_destroy(&catalogue);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static const vyre_pattern *mixed_patterns(uint32_t *out_count)
{
    static vyre_pattern patterns[9];
    patterns[0] = literal_text("abab");
    patterns[1] = literal_text("");
    patterns[2] = back_pattern(2, 'a');
    patterns[3] = literal_of("Ba", 2, VYRE_PATTERN_CASELESS);
    patterns[4] = back_pattern(3, 'b');
    patterns[5] = patterns[2];
    patterns[6] = literal_text("ab");
    patterns[7] = (vyre_pattern){0};
    patterns[8] = back_pattern(4, 'a');
    *out_count = VY_COUNT_OF(patterns);
    return patterns;
}

static void test_catalogues_survive_each_failed_allocation(void **state)
{
    (void)state;
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    params.patterns = mixed_patterns(&params.pattern_count);
    params.max_states = 40; /* automata that fit together, and others */
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        params.grouping = (vyre_grouping)grouping;
        params.max_states = grouping == VYRE_GROUPING_COMBINED ? 0 : 40;
        size_t fail_at = 1;
        for (bool is_done = false; !is_done; fail_at++) {
            vy_fail_allocator failing = {.fail_at = fail_at};
            vyre_allocator allocator = vy_fail_allocator_get(&failing);
            vyre_catalogue *catalogue = NULL;
            vyre_diag diag;
            params.allocator = &allocator;
            vyre_result result = vyre_catalogue_create(&params, &catalogue, &diag);
            is_done = failing.calls < fail_at;
            if (is_done) {
                assert_int_equal(result, VYRE_OK);
                assert_true(catalogue != NULL);
            } else {
                assert_refused(result, OUT_OF_HOST_MEMORY, &diag, "memory");
                assert_null(catalogue);
            }
            vyre_catalogue_destroy(&catalogue);
            assert_int_equal(failing.live_blocks, 0);
            assert_int_equal(failing.live_size, 0);
        }
        assert_true(fail_at > 20);
    }
}

static void test_scans_survive_each_failed_allocation(void **state)
{
    (void)state;
    vy_fail_allocator failing = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&failing);
    vyre_catalogue *catalogue = NULL;
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    params.allocator = &allocator;
    params.patterns = mixed_patterns(&params.pattern_count);
    params.grouping = VYRE_GROUPING_PER_RULE;
    assert_int_equal(vyre_catalogue_create(&params, &catalogue, NULL), VYRE_OK);
    size_t blocks = failing.live_blocks, failures = 0;
    for (bool is_done = false; !is_done; failures += !is_done) {
        hit_list hits = {0};
        vyre_diag diag;
        failing.fail_at = failing.calls + failures + 1;
        vyre_result result =
            vyre_catalogue_scan(catalogue, sample, strlen(sample), hit_list_add, &hits, &diag);
        is_done = failing.calls < failing.fail_at;
        if (is_done) {
            assert_int_equal(result, VYRE_OK);
            assert_true(hits.count > 0);
        } else {
            assert_refused(result, OUT_OF_HOST_MEMORY, &diag, "memory");
            assert_int_equal(hits.count, 0);
        }
        assert_int_equal(failing.live_blocks, blocks);
        hit_list_finish(&hits);
    }
    assert_int_equal(failures, 2);
    vyre_catalogue_destroy(&catalogue);
    assert_int_equal(failing.live_size, 0);
}

/* ---- The same again -------------------------------------------------------------------------- */

/* Gives memory that is full of one byte. */
static void *dirty_reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    char *memory = realloc(old, new_size);
    if (memory && new_size > old_size) {
        memset(memory + old_size, *(int *)user, new_size - old_size);
    }
    return memory;
}

static vyre_catalogue_info dirty_info(int byte, const vyre_pattern *patterns, uint32_t count,
                                      int grouping)
{
    vyre_allocator allocator = {&byte, dirty_reallocate};
    vyre_catalogue *catalogue = NULL;
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    params.allocator = &allocator;
    params.patterns = patterns;
    params.pattern_count = count;
    params.grouping = (vyre_grouping)grouping;
    assert_int_equal(vyre_catalogue_create(&params, &catalogue, NULL), VYRE_OK);
    vyre_catalogue_info info = info_of(catalogue);
    vyre_catalogue_destroy(&catalogue);
    return info;
}

static void test_the_same_patterns_make_the_same_tables(void **state)
{
    (void)state;
    uint32_t count;
    const vyre_pattern *patterns = mixed_patterns(&count);
    vyre_pattern others[9];
    uint64_t seen[12];
    uint32_t seen_count = 0;
    for (int grouping = VYRE_GROUPING_COMBINED; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        vyre_catalogue_info one = dirty_info(0xa5, patterns, count, grouping);
        vyre_catalogue_info two = dirty_info(0x00, patterns, count, grouping);
        assert_true(one.fingerprint == two.fingerprint);
        assert_true(one.table_size == two.table_size && one.state_count == two.state_count);
        seen[seen_count++] = one.fingerprint;
        /* A rule less, rules in another order, another letter, another case. */
        seen[seen_count++] = dirty_info(0, patterns, count - 1, grouping).fingerprint;
        memcpy(others, patterns, sizeof others);
        others[0] = patterns[6];
        others[6] = patterns[0];
        seen[seen_count++] = dirty_info(0, others, count, grouping).fingerprint;
        others[0] = literal_text("abac");
        seen[seen_count++] = dirty_info(0, others, count, grouping).fingerprint;
        others[0].flags = VYRE_PATTERN_CASELESS;
        seen[seen_count++] = dirty_info(0, others, count, grouping).fingerprint;
    }
    for (uint32_t i = 0; i < seen_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            assert_true(seen[i] != seen[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_automaton_has_at_most_max_states),
        cmocka_unit_test(test_automata_that_fit_together_are_combined),
        cmocka_unit_test(test_automata_that_never_fit_stay_apart),
        cmocka_unit_test(test_tables_have_at_most_max_size),
        cmocka_unit_test(test_a_million_literals_are_refused_before_memory_is_short),
        cmocka_unit_test(test_what_is_too_large_takes_little_memory),
        cmocka_unit_test(test_outputs_count_as_tables_do),
        cmocka_unit_test(test_literals_have_at_most_2_to_the_24_states),
        cmocka_unit_test(test_tables_of_16_bits_have_32768_states),
        cmocka_unit_test(test_catalogues_are_refused_by_what_is_wrong),
        cmocka_unit_test(test_scans_are_refused_by_what_is_wrong),
        cmocka_unit_test(test_catalogues_survive_each_failed_allocation),
        cmocka_unit_test(test_scans_survive_each_failed_allocation),
        cmocka_unit_test(test_the_same_patterns_make_the_same_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

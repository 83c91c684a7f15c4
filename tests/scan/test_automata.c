/* Patterns given as automata: which are taken, what becomes of them, and that they find the same in
 * every grouping. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"

#include <stdlib.h>

#define MAX_STATES 12u

/* An automaton over some letters; every other byte is like the first of them. */
typedef struct machine {
    uint32_t transitions[MAX_STATES * 256];
    uint8_t accepts[MAX_STATES];
    uint32_t state_count;
} machine;

static vyre_pattern machine_pattern(const machine *m)
{
    return (vyre_pattern){
        .transitions = m->transitions, .accepts = m->accepts, .state_count = m->state_count};
}

/* targets[state][letter] */
static void machine_fill(machine *m, uint32_t state_count, uint32_t letter_count,
                         const uint8_t *targets, const char *letters)
{
    m->state_count = state_count;
    for (uint32_t s = 0; s < state_count; s++) {
        for (uint32_t b = 0; b < 256; b++) {
            const char *at = b ? strchr(letters, (int)b) : NULL;
            uint32_t letter = at ? (uint32_t)(at - letters) : 0;
            m->transitions[s * 256 + b] = targets[s * letter_count + letter];
        }
    }
}

static void machine_random(machine *m, uint64_t *random, uint32_t most_states, const char *letters)
{
    uint32_t letter_count = (uint32_t)strlen(letters);
    uint8_t targets[MAX_STATES * 4];
    uint32_t states = 1 + random_below(random, most_states);
    for (uint32_t i = 0; i < states * letter_count; i++) {
        targets[i] = (uint8_t)random_below(random, states);
    }
    machine_fill(m, states, letter_count, targets, letters);
    m->accepts[0] = 0;
    for (uint32_t s = 1; s < states; s++) {
        m->accepts[s] = (uint8_t)(random_below(random, 3) == 0 ? 1 + random_below(random, 255) : 0);
    }
}

/* ---- Finding --------------------------------------------------------------------------------- */

static void test_automata_find_the_same_in_every_grouping(void **state)
{
    (void)state;
    static machine machines[5];
    static const char letters[] = "cab"; /* any other byte is a c */
    for (uint32_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        vyre_pattern patterns[8];
        static const char texts[3][4] = {"ab", "bab", "A"};
        uint32_t count = 1 + random_below(&random, 5), literal_count = random_below(&random, 4);
        char bytes[300];
        for (uint32_t i = 0; i < count; i++) {
            machine_random(&machines[i], &random, 6, letters);
            patterns[i] = machine_pattern(&machines[i]);
        }
        for (uint32_t i = 0; i < literal_count; i++) {
            patterns[count + i] =
                literal_of(texts[i], strlen(texts[i]), i == 2 ? VYRE_PATTERN_CASELESS : 0);
        }
        count += literal_count;
        for (uint32_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = "abcAx"[random_below(&random, 5)];
        }
        for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
            vyre_catalogue *catalogue = make_catalogue(patterns, count, (vyre_grouping)grouping);
            check_hits(catalogue, patterns, count, bytes, sizeof bytes, seed);
            if (seed % 8 == 0) {
                check_all_texts(catalogue, patterns, count, "abc", 6, seed);
            }
            if (grouping != VYRE_GROUPING_PER_RULE) {
                assert_int_equal(info_of(catalogue).automaton_count, 1);
            }
            vyre_catalogue_destroy(&catalogue);
        }
    }
}

/* ---- The smallest form ----------------------------------------------------------------------- */

/* States that differ, by refining until nothing changes: the plain way. */
static uint32_t count_classes_of_states(const vy_automaton *a)
{
    uint32_t n = a->state_count, count = 0, before = 0;
    uint32_t *class_of = calloc(n, sizeof *class_of), *next = calloc(n, sizeof *next);
    assert_true(class_of && next);
    do {
        before = count;
        count = 0;
        for (uint32_t s = 0; s < n; s++) {
            uint32_t same = 0;
            for (; same < s; same++) {
                const uint32_t *one = a->output_offsets + s, *other = a->output_offsets + same;
                bool is_same =
                    class_of[s] == class_of[same] && one[1] - one[0] == other[1] - other[0];
                for (uint32_t i = 0; is_same && i < one[1] - one[0]; i++) {
                    is_same = a->outputs[one[0] + i] == a->outputs[other[0] + i];
                }
                for (uint32_t c = 0; is_same && c < a->class_count; c++) {
                    is_same = class_of[a->transitions[s * a->class_count + c]] ==
                              class_of[a->transitions[same * a->class_count + c]];
                }
                if (is_same) {
                    break;
                }
            }
            next[s] = same < s ? next[same] : count++;
        }
        memcpy(class_of, next, n * sizeof *next);
    } while (count != before);
    free(class_of);
    free(next);
    return count;
}

/* Every state is reached, numbered breadth-first, and differs from all others; so do classes. */
static void check_canonical(const vy_automaton *a, uint32_t seed)
{
    uint32_t seen = 1, seen_classes = 0;
    for (uint32_t k = 0; k < a->state_count * a->class_count; k++) {
        assert_true(k / a->class_count < seen && a->transitions[k] <= seen);
        seen += a->transitions[k] == seen;
    }
    for (uint32_t b = 0; b < 256; b++) {
        assert_true(a->classes[b] <= seen_classes);
        seen_classes += a->classes[b] == seen_classes;
    }
    if (seen != a->state_count || seen_classes != a->class_count ||
        count_classes_of_states(a) != a->state_count) {
        fail_msg("seed %u: %u states, %u reached, %u differ; %u classes of %u", (unsigned)seed,
                 (unsigned)a->state_count, (unsigned)seen, (unsigned)count_classes_of_states(a),
                 (unsigned)a->class_count, (unsigned)seen_classes);
    }
    for (uint32_t c = 1; c < a->class_count; c++) {
        for (uint32_t d = 0; d < c; d++) {
            uint32_t apart = 0;
            for (uint32_t s = 0; s < a->state_count; s++) {
                const uint32_t *row = a->transitions + s * a->class_count;
                apart += row[c] != row[d];
            }
            assert_true(apart > 0);
        }
    }
}

static void test_automata_are_made_as_small_as_they_can_be(void **state)
{
    (void)state;
    static machine m;
    uint32_t smaller = 0;
    for (uint32_t seed = 1; seed <= 500; seed++) {
        uint64_t random = seed;
        vy_automaton a;
        machine_random(&m, &random, MAX_STATES, seed & 1 ? "ab" : "abcd");
        vyre_allocator allocator = vy_allocator_or_default(NULL);
        assert_int_equal(
            vy_automaton_make(&allocator, m.transitions, m.accepts, m.state_count, &a, NULL),
            VYRE_OK);
        check_canonical(&a, seed);
        smaller += a.state_count < m.state_count;
        vy_automaton_finish(&a, &allocator);
    }
    assert_true(smaller > 50);
}

static void test_products_are_as_small_as_they_can_be(void **state)
{
    (void)state;
    static machine machines[3];
    for (uint32_t seed = 1; seed <= 150; seed++) {
        uint64_t random = seed;
        vyre_pattern patterns[6];
        for (uint32_t i = 0; i < 3; i++) {
            machine_random(&machines[i], &random, 4, "abc");
            patterns[i] = machine_pattern(&machines[i]);
        }
        patterns[3] = literal_text("ab");
        patterns[4] = literal_text("cab");
        patterns[5] = literal_of("Ab", 2, VYRE_PATTERN_CASELESS);
        vyre_catalogue *catalogue = make_catalogue(patterns, 6, VYRE_GROUPING_COMBINED);
        assert_int_equal(catalogue->automaton_count, 1);
        check_canonical(&catalogue->automata[0], seed);
        vyre_catalogue_destroy(&catalogue);
    }
}

/* Targets, offsets and rules are in their bounds, whatever the patterns and groups. */
static void test_tables_fit_each_other(void **state)
{
    (void)state;
    static machine machines[4];
    for (uint32_t seed = 1; seed <= 100; seed++) {
        uint64_t random = seed;
        vyre_pattern patterns[8];
        for (uint32_t i = 0; i < 4; i++) {
            machine_random(&machines[i], &random, 8, "abc");
            patterns[i] = machine_pattern(&machines[i]);
            patterns[4 + i] = literal_of(&"abcABC"[random_below(&random, 5)],
                                         1 + random_below(&random, 2), i & 1);
        }
        patterns[random_below(&random, 8)] = (vyre_pattern){0};
        for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
            for (uint32_t max_states = 8; max_states <= 512; max_states *= 4) {
                vyre_catalogue_params params;
                vyre_catalogue *catalogue = NULL;
                vyre_catalogue_params_init(&params);
                params.patterns = patterns;
                params.pattern_count = 8;
                params.grouping = (vyre_grouping)grouping;
                params.max_states = max_states;
                vyre_result result = vyre_catalogue_create(&params, &catalogue, NULL);
                if (result != VYRE_OK) {
                    assert_int_equal(grouping, VYRE_GROUPING_COMBINED);
                    assert_int_equal(result, VYRE_ERROR_UNSUPPORTED_FEATURE);
                    continue;
                }
                check_tables(catalogue);
                vyre_catalogue_destroy(&catalogue);
            }
        }
    }
}

/* The automaton of ".*ab" with states that nothing tells apart, and one that nothing reaches. */
static void make_ab(machine *m)
{
    static const uint8_t targets[] = {/* other a b */ 3,
                                      1,
                                      0,
                                      0,
                                      1,
                                      2,
                                      0,
                                      1,
                                      3,
                                      0,
                                      1,
                                      3,
                                      1,
                                      2,
                                      4};
    machine_fill(m, 5, 3, targets, "cab");
    static const uint8_t accepts[] = {0, 0, 7, 0, 1};
    memcpy(m->accepts, accepts, sizeof accepts);
}

static void test_patterns_of_one_language_share_an_automaton(void **state)
{
    (void)state;
    static machine m;
    make_ab(&m);
    const vyre_pattern patterns[] = {machine_pattern(&m), literal_text("b"), literal_text("ab"),
                                     machine_pattern(&m), literal_text("ab")};
    vyre_catalogue *catalogue = make_catalogue(patterns, 5, VYRE_GROUPING_PER_RULE);
    vyre_catalogue_info info = info_of(catalogue);
    assert_int_equal(info.automaton_count, 2);
    assert_int_equal(info.state_count, 3 + 2);
    assert_int_equal(info.overlap, 2);
    check_hits(catalogue, patterns, 5, "xabbab", 6, 0);
    const vy_automaton *a = &catalogue->automata[0];
    static const uint32_t outputs[] = {0, 2, 3, 4};
    assert_int_equal(a->output_offsets[3], 4);
    assert_memory_equal(a->outputs, outputs, sizeof outputs);
    vyre_catalogue_destroy(&catalogue);
}

/* 30,000 states that only those behind them tell apart, each twice: in a time that does not grow as
 * their square. */
static void test_large_automata_are_made_small(void **state)
{
    (void)state;
    enum { SIZE = 30000 };
    uint32_t *transitions = calloc((size_t)(2 * SIZE + 2) * 256, sizeof *transitions);
    uint8_t *accepts = calloc(2 * SIZE + 2, 1);
    char *letters = malloc(SIZE);
    assert_true(transitions && accepts && letters);
    memset(letters, 'a', SIZE);
    for (uint32_t s = 0; s <= SIZE; s++) { /* state s once more as SIZE + 1 + s */
        uint32_t to = s < SIZE ? s + 1 : SIZE;
        transitions[(size_t)s * 256 + 'a'] = to + (s & 1 ? SIZE + 1 : 0);
        transitions[(size_t)(SIZE + 1 + s) * 256 + 'a'] = to;
        transitions[(size_t)(SIZE + 1 + s) * 256 + 'b'] = SIZE + 1;
    }
    accepts[SIZE] = accepts[2 * SIZE + 1] = 1;
    const vyre_pattern patterns[] = {
        {.transitions = transitions, .accepts = accepts, .state_count = 2 * SIZE + 2},
        literal_of(letters, SIZE, 0)};
    vyre_catalogue *catalogue = make_catalogue(patterns, 2, VYRE_GROUPING_PER_RULE);
    assert_int_equal(info_of(catalogue).automaton_count, 1);
    assert_int_equal(info_of(catalogue).state_count, SIZE + 1);
    vyre_catalogue_destroy(&catalogue);
    free(letters);
    free(accepts);
    free(transitions);
}

/* ---- Rejections ------------------------------------------------------------------------------ */

static void test_bad_patterns_are_listed_and_the_others_found(void **state)
{
    (void)state;
    static machine good, empty, target;
    make_ab(&good);
    make_ab(&empty);
    make_ab(&target);
    empty.accepts[0] = 1;
    target.transitions[3 * 256 + 200] = 5;
    vyre_pattern patterns[12];
    patterns[0] = literal_text("");
    patterns[1] = machine_pattern(&good);
    patterns[2] = machine_pattern(&target);
    patterns[3] = (vyre_pattern){0};
    patterns[4] = machine_pattern(&good);
    patterns[4].transition_count = 5 * 256 - 1;
    patterns[5] = machine_pattern(&good);
    patterns[5].accept_count = 6;
    patterns[6] = machine_pattern(&empty);
    patterns[7] = literal_text("b");
    patterns[8] = machine_pattern(&good);
    patterns[8].accepts = NULL;
    patterns[9] = machine_pattern(&good);
    patterns[9].state_count = 0;
    patterns[10] = machine_pattern(&good);
    patterns[10].transition_count = 5 * 256;
    patterns[10].accept_count = 5;
    patterns[11] = literal_of("x", VY_AUTOMATON_MAX_STATES, 0); /* not read */
    static const vyre_rejection wanted[] = {
        {0, VYRE_REJECTION_EMPTY, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {2, VYRE_REJECTION_TARGET, 3, 200},
        {3, VYRE_REJECTION_MISSING, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {4, VYRE_REJECTION_TABLE_SIZE, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {5, VYRE_REJECTION_TABLE_SIZE, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {6, VYRE_REJECTION_EMPTY, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {8, VYRE_REJECTION_MISSING, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {9, VYRE_REJECTION_TABLE_SIZE, VYRE_DIAG_NONE, VYRE_DIAG_NONE},
        {11, VYRE_REJECTION_STATES, VYRE_DIAG_NONE, VYRE_DIAG_NONE}};
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        vyre_catalogue *catalogue = make_catalogue(patterns, 12, (vyre_grouping)grouping);
        assert_int_equal(info_of(catalogue).rule_count, 12);
        assert_int_equal(info_of(catalogue).rejection_count, VY_COUNT_OF(wanted));
        for (uint32_t i = 0; i < VY_COUNT_OF(wanted); i++) {
            vyre_rejection got;
            vyre_catalogue_rejection(catalogue, i, &got);
            assert_memory_equal(&got, &wanted[i], sizeof got);
        }
        static const vyre_hit hits[] = {{0, 1, 0, 1}, {0, 7, 0, 1}, {0, 10, 0, 1}, {0, 7, 0, 2}};
        hit_list got = {0};
        scan_list(catalogue, "abb", 3, &got);
        assert_int_equal(got.count, VY_COUNT_OF(hits));
        assert_memory_equal(got.hits, hits, sizeof hits);
        hit_list_finish(&got);
        vyre_catalogue_destroy(&catalogue);
    }
}

static void test_rejections_say_how_they_are_mended(void **state)
{
    (void)state;
    for (int reason = 0; reason < VYRE_REJECTION_COUNT; reason++) {
        const char *text = vyre_rejection_text((vyre_rejection_reason)reason);
        assert_non_null(strstr(text, ": "));
        for (int other = 0; other < reason; other++) {
            assert_string_not_equal(text, vyre_rejection_text((vyre_rejection_reason)other));
        }
    }
    assert_string_equal(vyre_rejection_text(VYRE_REJECTION_COUNT), "unknown reason");
    assert_string_equal(vyre_rejection_text((vyre_rejection_reason)1000), "unknown reason");
}

/* Automata may have as many states as max_states says, and are not read where they have more. */
static void test_states_are_counted_as_they_are_given(void **state)
{
    (void)state;
    static machine m;
    make_ab(&m);
    vyre_pattern pattern = machine_pattern(&m);
    for (uint32_t max_states = 4; max_states <= 6; max_states++) {
        vyre_catalogue_params params;
        vyre_catalogue *catalogue = NULL;
        vyre_rejection rejection;
        vyre_catalogue_params_init(&params);
        params.patterns = &pattern;
        params.pattern_count = 1;
        params.max_states = max_states;
        assert_int_equal(vyre_catalogue_create(&params, &catalogue, NULL), VYRE_OK);
        assert_int_equal(info_of(catalogue).rejection_count, max_states < 5);
        if (max_states < 5) {
            vyre_catalogue_rejection(catalogue, 0, &rejection);
            assert_int_equal(rejection.reason, VYRE_REJECTION_STATES);
        }
        vyre_catalogue_destroy(&catalogue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_automata_find_the_same_in_every_grouping),
        cmocka_unit_test(test_automata_are_made_as_small_as_they_can_be),
        cmocka_unit_test(test_products_are_as_small_as_they_can_be),
        cmocka_unit_test(test_tables_fit_each_other),
        cmocka_unit_test(test_patterns_of_one_language_share_an_automaton),
        cmocka_unit_test(test_large_automata_are_made_small),
        cmocka_unit_test(test_bad_patterns_are_listed_and_the_others_found),
        cmocka_unit_test(test_rejections_say_how_they_are_mended),
        cmocka_unit_test(test_states_are_counted_as_they_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

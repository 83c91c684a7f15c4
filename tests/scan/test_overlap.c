/* How many bytes a segment is scanned before its own. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"

#include <stdlib.h>

#define MAX_STATES 6u

/* The pairs that are left after each byte, until all of them are of equal states: the plain way. */
static uint32_t plain_overlap(const vy_automaton *a)
{
    bool now[MAX_STATES][MAX_STATES] = {{false}};
    for (uint32_t q = 1; q < a->state_count; q++) {
        now[0][q] = true;
    }
    /* Beyond as many bytes as there are pairs they come round. */
    for (uint32_t bytes = 0; bytes <= MAX_STATES * MAX_STATES; bytes++) {
        bool next[MAX_STATES][MAX_STATES] = {{false}};
        bool is_empty = true;
        for (uint32_t k = 0; k < MAX_STATES * MAX_STATES; k++) {
            uint32_t p = k / MAX_STATES, q = k % MAX_STATES;
            is_empty = is_empty && !now[p][q];
            for (uint32_t c = 0; now[p][q] && c < a->class_count; c++) {
                uint32_t to_p = a->transitions[p * a->class_count + c];
                uint32_t to_q = a->transitions[q * a->class_count + c];
                next[to_p][to_q] = to_p != to_q;
            }
        }
        if (is_empty) {
            return bytes;
        }
        memcpy(now, next, sizeof now);
    }
    return VYRE_OVERLAP_NONE;
}

static void test_overlaps_are_the_smallest_that_are_enough(void **state)
{
    (void)state;
    static uint32_t transitions[MAX_STATES * 256];
    static const vyre_allocator none;
    uint32_t seen[MAX_STATES + 2] = {0};
    for (uint32_t seed = 1; seed <= 3000; seed++) {
        uint64_t random = seed;
        uint8_t accepts[MAX_STATES] = {0};
        uint32_t states = 1 + random_below(&random, MAX_STATES), overlap = 7;
        uint32_t near = 1 + random_below(&random, 4); /* few targets: states that often meet */
        for (uint32_t s = 0; s < states; s++) {
            uint32_t targets[2];
            targets[0] = random_below(&random, near) % states;
            targets[1] =
                random_below(&random, 2) ? random_below(&random, states) : (s + 1) % states;
            for (uint32_t b = 0; b < 256; b++) {
                transitions[s * 256 + b] = targets[b & 1];
            }
            accepts[s] = s && random_below(&random, 2);
        }
        vy_automaton a;
        assert_int_equal(vy_automaton_make(&none, transitions, accepts, states, &a, NULL), VYRE_OK);
        assert_int_equal(vy_automaton_find_overlap(&none, &a, &overlap, NULL), VYRE_OK);
        uint32_t wanted = plain_overlap(&a);
        if (overlap != wanted) {
            fail_msg("seed %u: %u, and it should be %u", (unsigned)seed, (unsigned)overlap,
                     (unsigned)wanted);
        }
        seen[overlap <= MAX_STATES ? overlap : MAX_STATES + 1]++;
        vy_automaton_finish(&a, &none);
    }
    for (uint32_t overlap = 0; overlap <= 4; overlap++) {
        assert_true(seen[overlap] > 0);
    }
    assert_true(seen[MAX_STATES + 1] > 100);
}

static uint32_t overlap_of(const vyre_pattern *patterns, uint32_t count, vyre_grouping grouping)
{
    vyre_catalogue *catalogue = make_catalogue(patterns, count, grouping);
    uint32_t overlap = info_of(catalogue).overlap;
    vyre_catalogue_destroy(&catalogue);
    return overlap;
}

/* Over a, b and all others: "ab" somewhere; an a, then anything, then a b; an odd number of a;
 * nothing at all; every byte. */
static void test_overlaps_of_known_patterns(void **state)
{
    (void)state;
    static const struct {
        uint8_t targets[3][3];
        uint8_t accepts[3];
        uint32_t states, overlap;
    } cases[] = {
        {{{1, 0, 0}, {1, 2, 0}, {1, 0, 0}}, {0, 0, 1}, 3, 2},
        {{{1, 0, 0}, {1, 2, 1}, {1, 2, 1}}, {0, 0, 1}, 3, VYRE_OVERLAP_NONE},
        {{{1, 0, 0}, {0, 1, 1}}, {0, 1}, 2, VYRE_OVERLAP_NONE},
        {{{0, 0, 0}}, {0}, 1, 0},
        {{{1, 1, 1}, {1, 1, 1}}, {0, 1}, 2, 1},
        {{{1, 0, 0}, {1, 0, 0}}, {0, 1}, 2, 1},
    };
    static uint32_t transitions[VY_COUNT_OF(cases)][3 * 256];
    vyre_pattern patterns[VY_COUNT_OF(cases)];
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        for (uint32_t k = 0; k < 3 * 256; k++) {
            uint32_t letter = k % 256 == 'a' ? 0 : (k % 256 == 'b' ? 1 : 2);
            transitions[i][k] = cases[i].targets[k / 256][letter];
        }
        patterns[i] = (vyre_pattern){.transitions = transitions[i],
                                     .accepts = cases[i].accepts,
                                     .state_count = cases[i].states};
    }
    for (int grouping = VYRE_GROUPING_AUTO; grouping <= VYRE_GROUPING_PER_RULE; grouping++) {
        for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
            uint32_t overlap = overlap_of(&patterns[i], 1, (vyre_grouping)grouping);
            assert_int_equal(overlap, cases[i].overlap);
        }
        assert_int_equal(overlap_of(&patterns[3], 3, (vyre_grouping)grouping), 1);
        assert_int_equal(overlap_of(patterns, 2, (vyre_grouping)grouping), VYRE_OVERLAP_NONE);
        const vyre_pattern literals[] = {literal_text("x"), literal_text("ab"),
                                         literal_of("Abcde", 5, VYRE_PATTERN_CASELESS)};
        assert_int_equal(overlap_of(literals, 1, (vyre_grouping)grouping), 1);
        assert_int_equal(overlap_of(literals, 2, (vyre_grouping)grouping), 2);
        assert_int_equal(overlap_of(literals, 3, (vyre_grouping)grouping), 5);
    }
}

/* The same automaton with its states but the first, and its classes, in another order. */
static void shuffle(vy_automaton *a, uint64_t *random)
{
    uint32_t numbers[128], places[128], classes[3] = {0, 1, 2};
    size_t entries = (size_t)a->state_count * a->class_count;
    uint32_t *old = malloc(entries * sizeof *old);
    assert_true(old && a->state_count <= 128 && a->class_count == 3);
    memcpy(old, a->transitions, entries * sizeof *old);
    for (uint32_t s = 0; s < a->state_count; s++) { /* numbers[state] and its inverse */
        uint32_t other = s < 2 ? s : 1 + random_below(random, s);
        numbers[s] = s;
        places[s] = s;
        places[s] = places[other];
        places[other] = s;
    }
    for (uint32_t place = 0; place < a->state_count; place++) {
        numbers[places[place]] = place;
    }
    uint32_t first = random_below(random, 3);
    classes[0] = classes[first];
    classes[first] = 0;
    for (uint32_t s = 0; s < a->state_count; s++) {
        for (uint32_t c = 0; c < 3; c++) {
            a->transitions[numbers[s] * 3 + classes[c]] = numbers[old[s * 3 + c]];
        }
    }
    free(old);
}

/* What is said of literals without looking is what looking finds. */
static void test_overlap_of_literals_is_the_longest_one(void **state)
{
    (void)state;
    static const vyre_allocator none;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        uint8_t bytes[8][9];
        vy_literal literals[8];
        uint32_t count = 1 + random_below(&random, 8), overlap = 0;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < 9; k++) {
                bytes[i][k] = (uint8_t)('a' + random_below(&random, 2));
            }
            literals[i] = (vy_literal){bytes[i], 1 + random_below(&random, 9), i};
        }
        vy_automaton a;
        uint32_t flags = seed & 1 ? VYRE_PATTERN_CASELESS : 0;
        assert_int_equal(vy_literals_combine(&none, literals, count, flags, 1u << 20, &a, NULL),
                         VYRE_OK);
        assert_int_equal(vy_automaton_find_overlap(&none, &a, &overlap, NULL), VYRE_OK);
        assert_int_equal(overlap, a.overlap);
        for (uint32_t i = 0; i < 10 && a.class_count == 3; i++) { /* whatever is looked at first */
            shuffle(&a, &random);
            assert_int_equal(vy_automaton_find_overlap(&none, &a, &overlap, NULL), VYRE_OK);
            assert_int_equal(overlap, a.overlap);
        }
        vy_automaton_finish(&a, &none);
    }
}

/* The last `bits` bits: 2^(bits - 1) * bits pairs of states have to be looked at. */
static uint32_t overlap_of_bits(uint32_t bits)
{
    static const vyre_allocator none;
    uint32_t states = 1u << bits, overlap = 0;
    vy_automaton a = {.state_count = states, .class_count = 2};
    a.transitions = malloc(2 * states * sizeof *a.transitions);
    assert_non_null(a.transitions);
    for (uint32_t k = 0; k < 2 * states; k++) {
        a.transitions[k] = k & (states - 1);
    }
    assert_int_equal(vy_automaton_find_overlap(&none, &a, &overlap, NULL), VYRE_OK);
    free(a.transitions);
    return overlap;
}

static void test_overlaps_are_looked_for_within_a_budget(void **state)
{
    (void)state;
    for (uint32_t bits = 1; bits <= 10; bits++) {
        assert_int_equal(overlap_of_bits(bits), bits);
    }
    assert_int_equal(overlap_of_bits(16), 16);                /* 524,288 pairs */
    assert_int_equal(overlap_of_bits(17), VYRE_OVERLAP_NONE); /* 1,114,112 */
}

/* Of 1,500 times an a there are too many pairs to look at; but the literal says how long it is. */
static void test_overlaps_of_equal_patterns_are_the_smaller_one(void **state)
{
    (void)state;
    enum { SIZE = 1500 };
    static uint32_t transitions[(SIZE + 1) * 256];
    static uint8_t accepts[SIZE + 1];
    static char letters[SIZE];
    memset(letters, 'a', SIZE);
    accepts[SIZE] = 1;
    for (uint32_t s = 0; s <= SIZE; s++) {
        transitions[s * 256 + 'a'] = s < SIZE ? s + 1 : SIZE;
    }
    const vyre_pattern patterns[] = {
        {.transitions = transitions, .accepts = accepts, .state_count = SIZE + 1},
        literal_of(letters, SIZE, 0)};
    assert_int_equal(overlap_of(patterns, 1, VYRE_GROUPING_PER_RULE), VYRE_OVERLAP_NONE);
    assert_int_equal(overlap_of(patterns, 2, VYRE_GROUPING_PER_RULE), SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps_are_the_smallest_that_are_enough),
        cmocka_unit_test(test_overlaps_of_known_patterns),
        cmocka_unit_test(test_overlap_of_literals_is_the_longest_one),
        cmocka_unit_test(test_overlaps_are_looked_for_within_a_budget),
        cmocka_unit_test(test_overlaps_of_equal_patterns_are_the_smaller_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

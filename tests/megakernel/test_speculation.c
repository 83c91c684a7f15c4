/* Trials: what is asked for, what decides, and that they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/megakernel/speculation.h"

static vy_mk_way other_of(vy_mk_way way)
{
    return way == VY_MK_CHAMPION ? VY_MK_CHALLENGER : VY_MK_CHAMPION;
}

/* One pair, of which both figures are given by way; its verdict. */
static vy_mk_verdict run_pair(vy_mk_trial *trial, uint64_t champion_ns, uint64_t challenger_ns)
{
    vy_mk_verdict verdict = VY_MK_VERDICT_NONE;
    vy_mk_way first = VY_MK_CHAMPION;
    for (uint32_t i = 0; i < 2; i++) {
        vy_mk_turn turn = vy_mk_trial_next(trial);
        assert_true(turn.is_timed);
        assert_true(i == 0 || turn.way == other_of(first));
        first = turn.way;
        assert_int_equal(verdict, VY_MK_VERDICT_NONE);
        verdict = vy_mk_trial_record(trial, turn.way,
                                     turn.way == VY_MK_CHAMPION ? champion_ns : challenger_ns);
    }
    return verdict;
}

static void run_pairs(vy_mk_trial *trial, uint32_t count, uint64_t champion_ns,
                      uint64_t challenger_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(run_pair(trial, champion_ns, challenger_ns), VY_MK_VERDICT_NONE);
    }
}

/* That many uses of one way, none of them timed. */
static void rest(vy_mk_trial *trial, uint32_t uses, vy_mk_way way)
{
    for (uint32_t i = 0; i < uses; i++) {
        vy_mk_turn turn = vy_mk_trial_next(trial);
        assert_int_equal(turn.way, way);
        assert_false(turn.is_timed);
    }
}

static void test_trial_adopts_after_eight_wins_in_a_row(void **state)
{
    (void)state;
    vy_mk_trial trial = {0};
    run_pairs(&trial, 7, 1000, 900);
    assert_false(vy_mk_trial_adopted(&trial));
    assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_SWITCHED);
    assert_true(vy_mk_trial_adopted(&trial));
    assert_int_equal(trial.sample_count, 16);
    assert_int_equal(trial.trial_count, 1);
    assert_int_equal(trial.switch_count, 1);
}

static void test_trial_counts_from_0_after_a_loss(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 8; before++) {
        vy_mk_trial trial = {0};
        run_pairs(&trial, before, 1000, 900);
        run_pairs(&trial, 1, 1000, 1000);
        run_pairs(&trial, 7, 1000, 900);
        assert_false(vy_mk_trial_adopted(&trial));
        assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_SWITCHED);
        assert_int_equal(trial.sample_count, 2 * (before + 9));
    }
}

static void test_trial_win_is_cheaper_by_the_margin(void **state)
{
    (void)state;
    static const struct {
        uint64_t champion, challenger;
        uint32_t margin_bps;
        bool wins;
    } cases[] = {
        {10000, 9500, 0, true},
        {10000, 9501, 0, false},
        {10000, 10000, 0, false},
        {10000, 0, 0, true},
        {0, 0, 0, false},
        {0, 5, 0, false},
        {20, 19, 0, true},
        {19, 18, 0, true},
        {10000, 9999, 1, true},
        {20000, 19999, 1, false},
        {10000, 1, 10000, false},
        {10000, 0, 10000, true},
        {UINT64_MAX - 1, UINT64_MAX - 2, 0, false},
        {UINT64_MAX - 1, UINT64_MAX / 10000 * 9500, 0, true},
        {UINT64_MAX - 1, UINT64_MAX / 10000 * 9501, 0, false},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vy_mk_trial trial = {.rule = {.wins = 1, .pairs = 1, .margin_bps = cases[i].margin_bps}};
        vy_mk_verdict expected = cases[i].wins ? VY_MK_VERDICT_SWITCHED : VY_MK_VERDICT_KEPT;
        if (run_pair(&trial, cases[i].champion, cases[i].challenger) != expected) {
            fail_msg("case %zu", i);
        }
    }
}

static void test_trial_is_given_up_when_it_cannot_be_won(void **state)
{
    (void)state;
    vy_mk_trial trial = {0};
    /* Of 32 pairs 24 were lost: 8 are left. The 25th loss leaves too few. */
    run_pairs(&trial, 24, 1000, 2000);
    assert_int_equal(run_pair(&trial, 1000, 2000), VY_MK_VERDICT_KEPT);
    assert_false(vy_mk_trial_adopted(&trial));
    assert_int_equal(trial.sample_count, 50);
    assert_int_equal(trial.trial_count, 1);
    assert_int_equal(trial.switch_count, 0);

    trial = (vy_mk_trial){0};
    run_pairs(&trial, 24, 1000, 2000);
    run_pairs(&trial, 7, 1000, 900);
    assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_SWITCHED);

    /* A trial has room for its wins, whatever its rule says. */
    trial = (vy_mk_trial){.rule = {.wins = 3, .pairs = 1}};
    run_pairs(&trial, 2, 1000, 900);
    assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_SWITCHED);
}

static void test_trial_rests_and_is_made_again(void **state)
{
    (void)state;
    vy_mk_trial trial = {0};
    run_pairs(&trial, 24, 1000, 2000);
    assert_int_equal(run_pair(&trial, 1000, 2000), VY_MK_VERDICT_KEPT);
    rest(&trial, VY_MK_TRIAL_REST, VY_MK_CHAMPION);
    run_pairs(&trial, 7, 1000, 900);
    assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_SWITCHED);
    rest(&trial, VY_MK_TRIAL_REST, VY_MK_CHALLENGER);
    /* Now the champion has to win: being as cheap, or cheaper by less, is not enough. */
    run_pairs(&trial, 24, 960, 1000);
    assert_int_equal(run_pair(&trial, 1000, 1000), VY_MK_VERDICT_KEPT);
    assert_true(vy_mk_trial_adopted(&trial));
    rest(&trial, VY_MK_TRIAL_REST, VY_MK_CHALLENGER);
    run_pairs(&trial, 7, 900, 1000);
    assert_int_equal(run_pair(&trial, 900, 1000), VY_MK_VERDICT_SWITCHED);
    assert_false(vy_mk_trial_adopted(&trial));
    assert_int_equal(trial.trial_count, 4);
    assert_int_equal(trial.switch_count, 2);
}

static void test_trial_follows_its_rule(void **state)
{
    (void)state;
    vy_mk_trial trial = {.rule = {.wins = 2, .pairs = 3, .rest = 5, .delay = 4}};
    rest(&trial, 4, VY_MK_CHAMPION);
    run_pairs(&trial, 1, 1000, 1000);
    run_pairs(&trial, 1, 1000, 900);
    assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_SWITCHED);
    rest(&trial, 5, VY_MK_CHALLENGER);
    run_pairs(&trial, 1, 1000, 900);
    assert_int_equal(run_pair(&trial, 1000, 900), VY_MK_VERDICT_KEPT);
    rest(&trial, 5, VY_MK_CHALLENGER);
    assert_true(vy_mk_trial_next(&trial).is_timed);
}

static void test_trial_pairs_turn_who_is_first(void **state)
{
    (void)state;
    vy_mk_trial trial = {0};
    for (uint32_t pair = 0; pair < 25; pair++) {
        for (uint32_t i = 0; i < 2; i++) {
            vy_mk_turn turn = vy_mk_trial_next(&trial);
            assert_int_equal(turn.way, (pair + i) % 2 ? VY_MK_CHALLENGER : VY_MK_CHAMPION);
            (void)vy_mk_trial_record(&trial, turn.way, 1000);
        }
    }
    assert_int_equal(trial.trial_count, 1);
}

static void test_trial_asks_for_one_figure_at_a_time(void **state)
{
    (void)state;
    vy_mk_trial trial = {0};
    vy_mk_turn turn = vy_mk_trial_next(&trial);
    assert_true(turn.is_timed && turn.way == VY_MK_CHAMPION);
    rest(&trial, 100, VY_MK_CHAMPION);
    /* Not awaited: the other way's. */
    vy_mk_trial before = trial;
    assert_int_equal(vy_mk_trial_record(&trial, VY_MK_CHALLENGER, 1), VY_MK_VERDICT_NONE);
    assert_memory_equal(&trial, &before, sizeof trial);
    /* Not found out: asked for again, and no sample. */
    assert_int_equal(vy_mk_trial_record(&trial, VY_MK_CHAMPION, UINT64_MAX), VY_MK_VERDICT_NONE);
    assert_int_equal(trial.sample_count, 0);
    turn = vy_mk_trial_next(&trial);
    assert_true(turn.is_timed && turn.way == VY_MK_CHAMPION);
    assert_int_equal(vy_mk_trial_record(&trial, VY_MK_CHAMPION, 7), VY_MK_VERDICT_NONE);
    assert_int_equal(trial.sample_count, 1);
    /* Not awaited: nothing was asked for since. */
    before = trial;
    assert_int_equal(vy_mk_trial_record(&trial, VY_MK_CHAMPION, 7), VY_MK_VERDICT_NONE);
    assert_memory_equal(&trial, &before, sizeof trial);
}

/* A use that never answers must not end in a wrong way either: the way in use runs on. */
static void test_trial_without_figures_changes_nothing(void **state)
{
    (void)state;
    vy_mk_trial trial = {.rule = {.wins = 1, .rest = 1}};
    assert_int_equal(run_pair(&trial, 1000, 1), VY_MK_VERDICT_SWITCHED);
    rest(&trial, 1, VY_MK_CHALLENGER);
    vy_mk_turn turn = vy_mk_trial_next(&trial);
    assert_true(turn.is_timed && turn.way == VY_MK_CHALLENGER);
    assert_int_equal(vy_mk_trial_record(&trial, turn.way, 1), VY_MK_VERDICT_NONE);
    turn = vy_mk_trial_next(&trial);
    assert_true(turn.is_timed && turn.way == VY_MK_CHAMPION);
    rest(&trial, 1000, VY_MK_CHALLENGER);
    assert_true(vy_mk_trial_adopted(&trial));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trial_adopts_after_eight_wins_in_a_row),
        cmocka_unit_test(test_trial_counts_from_0_after_a_loss),
        cmocka_unit_test(test_trial_win_is_cheaper_by_the_margin),
        cmocka_unit_test(test_trial_is_given_up_when_it_cannot_be_won),
        cmocka_unit_test(test_trial_rests_and_is_made_again),
        cmocka_unit_test(test_trial_follows_its_rule),
        cmocka_unit_test(test_trial_pairs_turn_who_is_first),
        cmocka_unit_test(test_trial_asks_for_one_figure_at_a_time),
        cmocka_unit_test(test_trial_without_figures_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

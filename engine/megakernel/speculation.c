/* Trials of a way of doing something against the way in use. */
#include "engine/megakernel/speculation.h"

#include "engine/megakernel/ratio.h"

static uint32_t or_standard(uint32_t value, uint32_t standard)
{
    return value ? value : standard;
}

static uint32_t wins_needed(const vy_mk_trial *trial)
{
    return or_standard(trial->rule.wins, VY_MK_TRIAL_WINS);
}

static vy_mk_way other(vy_mk_way way)
{
    return way == VY_MK_CHAMPION ? VY_MK_CHALLENGER : VY_MK_CHAMPION;
}

vy_mk_turn vy_mk_trial_next(vy_mk_trial *trial)
{
    vy_mk_turn turn = {trial->in_use, false};
    if (!trial->has_begun) {
        trial->has_begun = true;
        trial->rest_left = trial->rule.delay;
    }
    if (trial->is_waiting) {
        return turn;
    }
    if (trial->rest_left > 0) {
        trial->rest_left--;
        return turn;
    }
    /* Odd pairs have the other way first, so that what drifts helps neither. */
    bool is_other = (trial->pair_count % 2 == 1) != trial->has_first;
    turn.way = is_other ? other(trial->in_use) : trial->in_use;
    turn.is_timed = true;
    trial->asked = turn.way;
    trial->is_waiting = true;
    return turn;
}

static bool wins(const vy_mk_trial *trial, uint64_t own_ns, uint64_t in_use_ns)
{
    uint32_t margin = or_standard(trial->rule.margin_bps, VY_MK_TRIAL_MARGIN_BPS);
    return own_ns < in_use_ns && vy_mk_ratio(in_use_ns - own_ns, in_use_ns, VY_MK_BPS) >= margin;
}

static void end_trial(vy_mk_trial *trial)
{
    trial->trial_count++;
    trial->pair_count = 0;
    trial->win_count = 0;
    trial->rest_left = or_standard(trial->rule.rest, VY_MK_TRIAL_REST);
}

vy_mk_verdict vy_mk_trial_record(vy_mk_trial *trial, vy_mk_way way, uint64_t cost_ns)
{
    if (!trial->is_waiting || way != trial->asked) {
        return VY_MK_VERDICT_NONE;
    }
    trial->is_waiting = false;
    if (cost_ns == UINT64_MAX) {
        return VY_MK_VERDICT_NONE;
    }
    trial->sample_count++;
    trial->has_first = !trial->has_first;
    if (trial->has_first) {
        trial->first_ns = cost_ns;
        return VY_MK_VERDICT_NONE;
    }
    bool is_won = way == trial->in_use ? wins(trial, trial->first_ns, cost_ns)
                                       : wins(trial, cost_ns, trial->first_ns);
    uint32_t needed = wins_needed(trial);
    uint32_t limit = vy_mk_max(or_standard(trial->rule.pairs, VY_MK_TRIAL_PAIRS), needed);
    trial->pair_count++;
    trial->win_count = is_won ? trial->win_count + 1 : 0;
    if (trial->win_count >= needed) {
        trial->in_use = other(trial->in_use);
        trial->switch_count++;
        end_trial(trial);
        return VY_MK_VERDICT_SWITCHED;
    }
    if (limit - trial->pair_count < needed - trial->win_count) {
        end_trial(trial);
        return VY_MK_VERDICT_KEPT;
    }
    return VY_MK_VERDICT_NONE;
}

bool vy_mk_trial_adopted(const vy_mk_trial *trial)
{
    return trial->in_use == VY_MK_CHALLENGER;
}

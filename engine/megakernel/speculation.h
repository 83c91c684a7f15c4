/* Two ways of doing the same thing, of which the cheaper is found by measuring. Pure plain data.
 *
 * One way is in use. A trial measures pairs: one use of it, and one of the other, in turns first.
 * The other wins a pair where it is cheaper by the margin or more; a pair that it does not win
 * makes its wins in a row 0. With enough wins in a row it is taken into use; where the pairs that
 * are left cannot bring that any more, it is given up. Either way nothing is measured for a number
 * of uses, and then another trial begins, in which the way that is not in use has to win: so
 * neither is kept for ever because of what was once true, and noise alone does not turn them. */
#ifndef VY_MEGAKERNEL_SPECULATION_H
#define VY_MEGAKERNEL_SPECULATION_H

#include "codegen/base/base.h"

typedef enum vy_mk_way {
    VY_MK_CHAMPION, /* in use at first */
    VY_MK_CHALLENGER
} vy_mk_way;

/* 0: the standard value. */
typedef struct vy_mk_trial_rule {
    uint32_t wins;       /* in a row, that are needed: 8 */
    uint32_t pairs;      /* of a trial at most: 32, but never fewer than the wins */
    uint32_t margin_bps; /* that a win is cheaper by, of 10000: 500; at most 10000 */
    uint32_t rest;       /* uses between two trials: 4096 */
    uint32_t delay;      /* uses before the first trial; 0: none */
} vy_mk_trial_rule;

#define VY_MK_TRIAL_WINS       8u
#define VY_MK_TRIAL_PAIRS      32u
#define VY_MK_TRIAL_MARGIN_BPS 500u
#define VY_MK_TRIAL_REST       4096u

/* Zero: none was made yet, by the standard rule. Thread-safety: external. */
typedef struct vy_mk_trial {
    vy_mk_trial_rule rule; /* the caller's; the rest is the trial's own */
    vy_mk_way in_use;
    bool has_begun, is_waiting, has_first;
    vy_mk_way asked;    /* while is_waiting: whose figure is awaited */
    uint64_t first_ns;  /* of the pair's first use, with has_first */
    uint32_t rest_left; /* uses without measuring that are still to come */
    uint32_t pair_count, win_count;
    uint64_t sample_count, trial_count, switch_count; /* since ever; trials: those that ended */
} vy_mk_trial;

typedef struct vy_mk_turn {
    vy_mk_way way;
    bool is_timed; /* vy_mk_trial_record wants what it costs */
} vy_mk_turn;

typedef enum vy_mk_verdict {
    VY_MK_VERDICT_NONE,    /* nothing is decided by this one */
    VY_MK_VERDICT_KEPT,    /* the trial ended, the way in use stays */
    VY_MK_VERDICT_SWITCHED /* the trial ended, the other way is in use now */
} vy_mk_verdict;

/* How to run this use. While a figure is awaited every other use gets the way in use, untimed: so
 * any number may be in flight. */
vy_mk_turn vy_mk_trial_next(vy_mk_trial *trial);
/* What the use that was timed cost, for its work: uses of different size are only comparable by
 * the unit of work. UINT64_MAX: it was not found out (the run failed, or was given up); it is
 * asked for again. A figure that is not awaited, or of the other way, changes nothing. */
vy_mk_verdict vy_mk_trial_record(vy_mk_trial *trial, vy_mk_way way, uint64_t cost_ns);
/* Whether the challenger is in use. */
bool vy_mk_trial_adopted(const vy_mk_trial *trial);

#endif

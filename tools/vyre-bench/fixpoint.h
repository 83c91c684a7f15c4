/* What the files of group fixpoint share. */
#ifndef VY_BENCH_FIXPOINT_H
#define VY_BENCH_FIXPOINT_H

#include "tools/vyre-bench/bench.h"

/* Breadth-first searches: fixpoint_search.c. */
vyre_result bench_fixpoint_searches(bench *b, bench_group *group, vyre_diag *diag);

/* Ratios against the fastest peer that learns from the device when to stop: its way does not begin
 * with "exactly". */
void bench_fixpoint_choose_base(bench_case *c);

#endif

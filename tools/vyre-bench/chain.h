/* Chains of the step as series: by the library, by the peer in plain Vulkan. */
#ifndef VY_BENCH_CHAIN_H
#define VY_BENCH_CHAIN_H

#include "tools/vyre-bench/bench.h"

typedef enum chain_measure {
    CHAIN_WALL,   /* from the call to the known end */
    CHAIN_SUBMIT, /* from the call to its return; the wait is not in it */
    CHAIN_STEP    /* on the device, for each step; wall time where there are no timestamps */
} chain_measure;

typedef struct chain_params {
    const char *way;
    chain_measure measure;
    uint32_t groups, steps; /* steps 0: an empty program */
    uint32_t sets;          /* buffers in rotation, from 1 to PEER_SETS; 0: 1 */
    bool is_side_by_side;   /* a step is one on each of PEER_SIDE buffers; times are of one */
    uint32_t pause_us;      /* spent looking at the clock before each sample */
    bool is_behind;   /* a run of one step, submitted and waited for, goes before each sample */
    bool is_watched;  /* CHAIN_SUBMIT: what samples were made of is kept */
    bool reads_first; /* the first 16 bytes of the result reach the host */
    /* The library's alone; AUTO: REPLAY. Left out, with the reason, where it cannot be. */
    vyre_strategy strategy;
    /* The peer's alone. */
    bool no_barriers;   /* wrong, for comparison: nothing is checked */
    bool has_block;     /* parameters by a uniform block with a dynamic offset, data by address */
    bool records_again; /* for each submission */
    peer_wait wait;
} chain_params;

/* What the series of a case own: at most as many chains as there are series. */
typedef struct chain chain;
typedef struct chain_list {
    chain *chains[BENCH_MAX_SERIES];
    uint32_t count;
} chain_list;

/* Both add a series to the case. The peer's does nothing where there is no peer, and only notes
 * that the peer failed. */
vyre_result chain_add(bench *b, bench_case *c, chain_list *list, const chain_params *params,
                      vyre_diag *diag);
/* The peer's workgroups stay and meet in device memory; `residents` run at once, whatever the
 * driver says. */
vyre_result chain_add_stay(bench *b, bench_case *c, chain_list *list, const chain_params *params,
                           uint32_t residents, vyre_diag *diag);
vyre_result chain_add_peer(bench *b, bench_case *c, chain_list *list, const chain_params *params,
                           vyre_diag *diag);
void chain_list_finish(chain_list *list);

/* ---- watch.c --------------------------------------------------------------------------------- */

typedef struct chain_sample {
    double all, driver; /* us: from the call to its return; of that vkQueueSubmit */
    double walk;        /* what a walk over 64 pages took just before: small, the caches are warm */
} chain_sample;

typedef struct chain_watch chain_watch;
/* NULL: no memory. */
chain_watch *chain_watch_create(const chain_params *params);
void chain_watch_destroy(chain_watch *watch);
double chain_watch_walk(chain_watch *watch);
bool chain_watch_add(chain_watch *watch, chain_sample sample);
/* What a series that chain_add or chain_add_peer added kept; NULL: nothing. */
const chain_watch *chain_series_watch(const bench_series *series);
/* After bench_measure: parts of the case's series `of` as series of their own. */
vyre_result chain_watch_report(bench *b, bench_case *c, uint32_t of, const chain_watch *watch,
                               vyre_diag *diag);

#endif

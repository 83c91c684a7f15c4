/* What a ring and its control buffer say of a drain that goes on or has ended, whether it stalls,
 * and what the next launch should know of it. Pure. */
#ifndef VY_MEGAKERNEL_TELEMETRY_H
#define VY_MEGAKERNEL_TELEMETRY_H

#include "engine/megakernel/policy.h"
#include "vyre/megakernel.h"

/* ---- Telemetry ------------------------------------------------------------------------------- */

/* How claims are spread. */
typedef struct vy_mk_fairness {
    uint64_t total;
    uint32_t skew; /* the most - the least of those that have any; 0: none or one has */
} vy_mk_fairness;

typedef struct vy_mk_telemetry {
    uint32_t slot_count, queue_depth; /* depth: slots neither EMPTY nor DONE */
    uint32_t idle_ppm;                /* EMPTY slots of a million */
    uint32_t density_bps;             /* depth of the slots */
    uint32_t occupancy_bps;           /* slots that are not EMPTY */
    uint32_t fault_slot_count, requeue_slot_count;
    uint32_t done_count, denied_count, fault_count, unknown_count, requeue_count;
    uint32_t hot_opcode_count;       /* opcodes of the metrics that ran */
    vy_mk_fairness tenant, priority; /* claims by tenant modulo 32, and by priority */
} vy_mk_telemetry;

/* A ring without slots has shares of 0. Errors: INVALID_ARGUMENT: counts that do not add up, a
 * control buffer that lacks one of its words or has a part of one. */
vyre_result vy_mk_telemetry_read(const vyre_ring_counts *counts, const void *control, size_t size,
                                 vy_mk_telemetry *out_telemetry, vyre_diag *diag);

/* ---- Watchdog -------------------------------------------------------------------------------- */

/* Zero at the start of each drain. */
typedef struct vy_mk_watchdog {
    uint32_t done_count;
    bool has_sample;
} vy_mk_watchdog;

typedef struct vy_mk_health {
    uint32_t done_delta;     /* since the last sample; 0 at the first */
    bool is_stall_suspected; /* slots wait, none ended since the last sample, and none faulted */
} vy_mk_health;

/* Errors: INVALID_ARGUMENT: fewer slots are done than at the last sample, which stays. */
vyre_result vy_mk_watch(vy_mk_watchdog *watchdog, const vy_mk_telemetry *telemetry,
                        vy_mk_health *out_health, vyre_diag *diag);

/* ---- Feedback -------------------------------------------------------------------------------- */

/* Slots of one opcode that belong to a window. */
typedef struct vy_mk_window {
    uint32_t ticket, opcode;
    uint32_t required_count, look_ahead_count;
} vy_mk_window;

/* Windows of window_demand slots or more. Errors: INVALID_ARGUMENT: one of more than 2^32 - 1. */
vyre_result vy_mk_count_hot_windows(const vy_mk_policy *policy, const vy_mk_window *windows,
                                    uint32_t count, uint32_t *out_count, vyre_diag *diag);
/* Writes into a request what the last drain showed: nodes (slots), edges (depth), density, hot
 * opcodes, hot windows, and the requeues that it counted or that still wait, whichever are more.
 * The rest of the request stays. Errors: as above; the request is then as before. */
vyre_result vy_mk_feed_back(const vy_mk_policy *policy, const vy_mk_telemetry *telemetry,
                            const vy_mk_window *windows, uint32_t window_count,
                            vy_mk_request *request, vyre_diag *diag);

#endif

/* What a dispatch should be: from its queue, the caller's hints and what the last one showed, which
 * topology, how many workers, how much scratch memory, which kernel, and why. Pure; everything that
 * could overflow is checked. */
#ifndef VY_MEGAKERNEL_POLICY_H
#define VY_MEGAKERNEL_POLICY_H

#include "engine/megakernel/geometry.h"
#include "vyre/megakernel.h"

/* ---- Constants ------------------------------------------------------------------------------- */

/* Name, standard value, what it is. */
#define VY_MK_POLICY(X)                                                                            \
    X(min_hit_capacity, 1024, "hits that there is room for at least")                              \
    X(hit_multiplier, 2, "room for so many times the hits expected")                               \
    X(pressed_hit_multiplier, 1, "the same where memory is scarce")                                \
    X(hit_size, 16, "bytes of scratch memory for a hit")                                           \
    X(saturated_waves, 4, "queue lengths in lanes from which a launch is saturated")               \
    X(hot_opcodes, 8, "opcodes in use from which on they are hot")                                 \
    X(hot_windows, 4, "windows in demand from which on they are hot")                              \
    X(window_demand, 4, "slots of a window from which on it is in demand")                         \
    X(jit_queue, 4096, "queue length from which on a kernel of its own pays")                      \
    X(priority_age, 32, "scans after which old work goes first")                                   \
    X(sparse_bps, 500, "density up to which a frontier is sparse")                                 \
    X(dense_bps, 4000, "density from which on a frontier is dense")                                \
    X(memory_bps, 8500, "memory pressure from which on memory is scarce")                          \
    X(density_band_bps, 250, "density that a topology outlives its threshold by")                  \
    X(memory_band_bps, 250, "memory pressure that scarcity outlives its threshold by")             \
    X(fusion_edges, 65536, "edges from which on dense work is fused")                              \
    X(shed_bps, 2500, "workers shed where memory begins to be scarce")                             \
    X(shed_more_bps, 2500, "workers shed besides where there is no memory left")                   \
    X(sparse_workers, 32, "workers that a sparse frontier keeps at least")                         \
    X(drain_headroom, 1024, "counts below the largest number at which totals are drained")

typedef struct vy_mk_policy {
#define VY_X(name, value, what) uint32_t name;
    VY_MK_POLICY(VY_X)
#undef VY_X
} vy_mk_policy;

typedef struct vy_mk_policy_constant {
    const char *name;
    uint32_t value;
    const char *what;
} vy_mk_policy_constant;

/* The standard one, for ever. */
const vy_mk_policy *vy_mk_policy_standard(void);
/* The same as a table, for reports. */
const vy_mk_policy_constant *vy_mk_policy_constants(uint32_t *out_count);

/* ---- Request --------------------------------------------------------------------------------- */

typedef struct vy_mk_request {
    uint32_t queue_length;
    uint32_t worker_count;  /* not 0 */
    uint32_t hits_per_item; /* that are expected; 0 means 1 */
    uint32_t hit_capacity;  /* asked for; 0: by the policy */
    uint32_t hot_opcode_count, hot_window_count;
    uint32_t requeue_count, age;
    uint64_t node_count, edge_count;     /* of the graph whose frontier the queue is; 0: no graph */
    uint32_t density_bps, pressure_bps;  /* 0: inferred; above 10000: 10000 */
    uint64_t resident_size, budget_size; /* in bytes; budget 0: none */
    uint32_t group_cap, multiple;        /* of vy_mk_launch_request */
    bool has_hit_buffer;                 /* a path without one is charged no scratch memory */
} vy_mk_request;

/* ---- Decisions ------------------------------------------------------------------------------- */

typedef enum vy_mk_topology {
    VY_MK_TOPOLOGY_EMPTY, /* as a previous one: there was none */
    VY_MK_TOPOLOGY_MEMORY_CONSTRAINED,
    VY_MK_TOPOLOGY_SPARSE_FRONTIER,
    VY_MK_TOPOLOGY_FUSED_DENSE,
    VY_MK_TOPOLOGY_DENSE_FRONTIER,
    VY_MK_TOPOLOGY_HYBRID_FRONTIER,
    VY_MK_TOPOLOGY_COUNT
} vy_mk_topology;

typedef enum vy_mk_pressure {
    VY_MK_PRESSURE_EMPTY,
    VY_MK_PRESSURE_LIGHT,
    VY_MK_PRESSURE_BALANCED,
    VY_MK_PRESSURE_SATURATED,
    VY_MK_PRESSURE_COUNT
} vy_mk_pressure;

typedef enum vy_mk_mode {
    VY_MK_MODE_INTERPRETER,
    VY_MK_MODE_JIT, /* a kernel of its own for this queue */
    VY_MK_MODE_COUNT
} vy_mk_mode;

/* "empty", "memory-constrained", ...; "unknown" for a number that is none. */
const char *vy_mk_topology_name(vy_mk_topology topology);
const char *vy_mk_pressure_name(vy_mk_pressure pressure);
const char *vy_mk_mode_name(vy_mk_mode mode);

/* The density of the request, or of its frontier: clamp(min(queue, nodes) * 10000 / nodes, 1,
 * 10000); 0 where there is no queue or no graph. */
uint32_t vy_mk_density(const vy_mk_request *request);
/* The memory pressure of the request, or min(10000, resident * 10000 / budget); 0 without budget.
 */
uint32_t vy_mk_memory_pressure(const vy_mk_request *request);
/* Whether as many opcodes or windows are in use as make either hot. */
bool vy_mk_is_hot(const vy_mk_policy *policy, const vy_mk_request *request);

/* The first that applies: an empty queue; scarce memory; a sparse frontier; a dense one with a
 * graph of many edges and hot work; a dense one; anything else. A queue without a graph has density
 * 0 and is sparse. */
vy_mk_topology vy_mk_topology_choose(const vy_mk_policy *policy, const vy_mk_request *request);
/* The same, but keeps `previous` while the figure that decided for it has not left its threshold by
 * more than the band: memory while pressure >= threshold - band; sparse while density <= threshold
 * + band; dense while density >= threshold - band; hybrid while density > sparse - band and < dense
 * + band. EMPTY and a new MEMORY_CONSTRAINED are never held up. FUSED_DENSE is kept only while
 * edges and hotness still hold, and does not wait behind DENSE_FRONTIER. */
vy_mk_topology vy_mk_topology_keep(const vy_mk_policy *policy, const vy_mk_request *request,
                                   vy_mk_topology previous);

/* Workers that are left, at least 1 of what was asked. Scarce memory sheds shed_bps of them, up to
 * shed_more_bps besides as the pressure rises from its threshold to 10000. A sparse frontier of a
 * graph keeps density / sparse_bps of them, but sparse_workers where there were as many. */
uint32_t vy_mk_workers(const vy_mk_policy *policy, const vy_mk_request *request,
                       vy_mk_topology topology);

/* Hits that there is room for: those asked for, or max(min_hit_capacity, queue * hits *
 * multiplier); 0 without a hit buffer. Errors: INVALID_ARGUMENT: more than 2^32 - 1. */
vyre_result vy_mk_hit_capacity(const vy_mk_policy *policy, const vy_mk_request *request,
                               vy_mk_topology topology, uint32_t *out_capacity, vyre_diag *diag);
/* Resident memory and the hits' scratch memory. Errors: INVALID_ARGUMENT: more than 2^64 - 1 bytes;
 * DEVICE_OUT_OF_MEMORY: more than a budget, and the message has both figures. *out_size is what was
 * asked for also then. */
vyre_result vy_mk_peak(const vy_mk_policy *policy, const vy_mk_request *request,
                       uint32_t hit_capacity, uint64_t *out_size, vyre_diag *diag);

/* SATURATED: something was requeued, or the queue has saturated_waves * lanes or more; BALANCED: as
 * many as lanes or more. */
vy_mk_pressure vy_mk_pressure_choose(const vy_mk_policy *policy, uint32_t queue_length,
                                     uint32_t requeue_count, uint64_t lane_count);
vy_mk_mode vy_mk_mode_choose(const vy_mk_policy *policy, const vy_mk_request *request,
                             vy_mk_topology topology);
/* Whether old work goes first: something was requeued, or waits for priority_age scans. */
bool vy_mk_age_first(const vy_mk_policy *policy, const vy_mk_request *request);

/* ---- Evidence -------------------------------------------------------------------------------- */

#define VY_MK_EVIDENCE_VERSION 1u

typedef enum vy_mk_switch {
    VY_MK_SWITCH_NONE,
    VY_MK_SWITCH_SPARSE,
    VY_MK_SWITCH_DENSE
} vy_mk_switch;

typedef enum vy_mk_source {
    VY_MK_SOURCE_NONE, /* nothing is known */
    VY_MK_SOURCE_GIVEN,
    VY_MK_SOURCE_INFERRED
} vy_mk_source;

/* Why that topology. */
typedef struct vy_mk_topology_evidence {
    uint32_t version;
    vy_mk_topology topology, fresh, previous; /* fresh: without hysteresis */
    vy_mk_switch switch_class;                /* SPARSE, or DENSE of the two dense ones, or NONE */
    vy_mk_source density_source, pressure_source;
    uint32_t queue_length, density_bps, pressure_bps;
    uint64_t node_count, edge_count;
    uint32_t sparse_bps, dense_bps, memory_bps; /* the thresholds */
    bool is_hot;
} vy_mk_topology_evidence;

vy_mk_topology_evidence vy_mk_topology_explain(const vy_mk_policy *policy,
                                               const vy_mk_request *request,
                                               vy_mk_topology previous);
/* Of this version, its parts agree, and the figure that decided is known: the pressure for
 * MEMORY_CONSTRAINED, none for EMPTY, the density for the others. */
bool vy_mk_topology_is_complete(const vy_mk_topology_evidence *evidence);

typedef enum vy_mk_route {
    VY_MK_ROUTE_INTERPRETER,
    VY_MK_ROUTE_QUEUE_JIT,
    VY_MK_ROUTE_OPCODE_JIT,
    VY_MK_ROUTE_WINDOW_JIT,
    VY_MK_ROUTE_OPCODE_AND_WINDOW_JIT,
    VY_MK_ROUTE_COUNT
} vy_mk_route;

const char *vy_mk_route_name(vy_mk_route route);

/* Why that mode: hot opcodes or windows name the route before a long queue does. */
typedef struct vy_mk_promotion_evidence {
    uint32_t version;
    vy_mk_mode mode;
    vy_mk_route route; /* INTERPRETER with that mode, and only then */
    uint32_t queue_length, hot_opcode_count, hot_window_count;
    uint32_t jit_queue, hot_opcodes, hot_windows; /* the thresholds */
} vy_mk_promotion_evidence;

vy_mk_promotion_evidence vy_mk_promotion_explain(const vy_mk_policy *policy,
                                                 const vy_mk_request *request,
                                                 vy_mk_topology topology);
/* Of this version, and its figures give its route and its mode. */
bool vy_mk_promotion_is_complete(const vy_mk_promotion_evidence *evidence);

/* ---- All of it ------------------------------------------------------------------------------- */

typedef struct vy_mk_recommendation {
    vy_mk_topology topology;
    vy_mk_pressure pressure; /* of the launch geometry's lanes */
    vy_mk_mode mode;
    uint32_t worker_count; /* after shedding */
    uint32_t hit_capacity;
    uint64_t peak_size;
    uint32_t density_bps, pressure_bps;
    bool age_first;
    vy_mk_launch launch;       /* with the share of workers that were not shed */
    vy_mk_reference reference; /* with the workers after shedding */
    vy_mk_topology_evidence topology_evidence;
    vy_mk_promotion_evidence promotion_evidence;
} vy_mk_recommendation;

/* previous: the topology of the last dispatch, or EMPTY. Errors: INVALID_ARGUMENT: no worker, and
 * those of the functions above and of geometry.h, of which the memory's come first. */
vyre_result vy_mk_recommend(const vy_mk_policy *policy, const vy_mk_request *request,
                            const vy_mk_limits *limits, vy_mk_topology previous,
                            vy_mk_recommendation *out_recommendation, vyre_diag *diag);

/* ---- Priority accounting --------------------------------------------------------------------- */

/* What was claimed by priority over many dispatches, whose control words begin at 0 each time. */
typedef struct vy_mk_priority_totals {
    uint64_t claims[VYRE_PRIORITY_COUNT], starvation;
} vy_mk_priority_totals;

/* Errors: INVALID_ARGUMENT: a total would overflow; nothing was added. */
vyre_result vy_mk_priority_add(vy_mk_priority_totals *totals,
                               const uint32_t claims[VYRE_PRIORITY_COUNT], uint32_t starvation,
                               vyre_diag *diag);
/* Whether a total is within drain_headroom of the largest number. */
bool vy_mk_priority_should_drain(const vy_mk_policy *policy, const vy_mk_priority_totals *totals);
/* Gives the totals out, and they begin again at 0. */
vy_mk_priority_totals vy_mk_priority_drain(vy_mk_priority_totals *totals);

#endif

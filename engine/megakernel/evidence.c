/* Why a launch is as it is, in records that can be kept and checked; and priority accounting. */
#include "engine/megakernel/policy.h"

#include "engine/megakernel/ratio.h"

/* ---- Topology -------------------------------------------------------------------------------- */

static vy_mk_switch switch_class(vy_mk_topology topology)
{
    switch (topology) {
    case VY_MK_TOPOLOGY_SPARSE_FRONTIER:
        return VY_MK_SWITCH_SPARSE;
    case VY_MK_TOPOLOGY_FUSED_DENSE:
    case VY_MK_TOPOLOGY_DENSE_FRONTIER:
        return VY_MK_SWITCH_DENSE;
    default:
        return VY_MK_SWITCH_NONE;
    }
}

static vy_mk_source source_of(bool is_given, bool is_inferred)
{
    if (is_given) {
        return VY_MK_SOURCE_GIVEN;
    }
    return is_inferred ? VY_MK_SOURCE_INFERRED : VY_MK_SOURCE_NONE;
}

vy_mk_topology_evidence vy_mk_topology_explain(const vy_mk_policy *policy,
                                               const vy_mk_request *request,
                                               vy_mk_topology previous)
{
    vy_mk_topology topology = vy_mk_topology_keep(policy, request, previous);
    bool has_frontier = request->queue_length != 0 && request->node_count != 0;
    return (vy_mk_topology_evidence){
        .version = VY_MK_EVIDENCE_VERSION,
        .topology = topology,
        .fresh = vy_mk_topology_choose(policy, request),
        .previous = previous,
        .switch_class = switch_class(topology),
        .density_source = source_of(request->density_bps != 0, has_frontier),
        .pressure_source = source_of(request->pressure_bps != 0, request->budget_size != 0),
        .queue_length = request->queue_length,
        .density_bps = vy_mk_density(request),
        .pressure_bps = vy_mk_memory_pressure(request),
        .node_count = request->node_count,
        .edge_count = request->edge_count,
        .sparse_bps = policy->sparse_bps,
        .dense_bps = policy->dense_bps,
        .memory_bps = policy->memory_bps,
        .is_hot = vy_mk_is_hot(policy, request),
    };
}

/* A number of an enumeration, whatever type the compiler gives it. */
static bool is_topology(vy_mk_topology topology)
{
    return (unsigned)topology < VY_MK_TOPOLOGY_COUNT;
}

bool vy_mk_topology_is_complete(const vy_mk_topology_evidence *e)
{
    bool is_sound = e->version == VY_MK_EVIDENCE_VERSION && is_topology(e->topology) &&
                    is_topology(e->fresh) && is_topology(e->previous) &&
                    e->switch_class == switch_class(e->topology) &&
                    (e->topology == e->fresh || e->topology == e->previous) &&
                    (e->topology == VY_MK_TOPOLOGY_EMPTY) == (e->queue_length == 0) &&
                    e->density_bps <= VY_MK_BPS && e->pressure_bps <= VY_MK_BPS;
    if (!is_sound) {
        return false;
    }
    switch (e->topology) {
    case VY_MK_TOPOLOGY_EMPTY:
        return true;
    case VY_MK_TOPOLOGY_MEMORY_CONSTRAINED:
        return e->pressure_source != VY_MK_SOURCE_NONE;
    default:
        return e->density_source != VY_MK_SOURCE_NONE;
    }
}

/* ---- Promotion ------------------------------------------------------------------------------- */

static vy_mk_route route_of(const vy_mk_promotion_evidence *e)
{
    bool has_hot_opcodes = e->hot_opcode_count >= e->hot_opcodes;
    bool has_hot_windows = e->hot_window_count >= e->hot_windows;
    if (has_hot_opcodes && has_hot_windows) {
        return VY_MK_ROUTE_OPCODE_AND_WINDOW_JIT;
    }
    if (has_hot_opcodes) {
        return VY_MK_ROUTE_OPCODE_JIT;
    }
    if (has_hot_windows) {
        return VY_MK_ROUTE_WINDOW_JIT;
    }
    return e->queue_length >= e->jit_queue ? VY_MK_ROUTE_QUEUE_JIT : VY_MK_ROUTE_INTERPRETER;
}

const char *vy_mk_route_name(vy_mk_route route)
{
    static const char *const names[VY_MK_ROUTE_COUNT] = {"interpreter", "queue-jit", "opcode-jit",
                                                         "window-jit", "opcode-and-window-jit"};
    return (unsigned)route < VY_MK_ROUTE_COUNT ? names[route] : "unknown";
}

vy_mk_promotion_evidence vy_mk_promotion_explain(const vy_mk_policy *policy,
                                                 const vy_mk_request *request,
                                                 vy_mk_topology topology)
{
    vy_mk_promotion_evidence evidence = {
        .version = VY_MK_EVIDENCE_VERSION,
        .mode = vy_mk_mode_choose(policy, request, topology),
        .queue_length = request->queue_length,
        .hot_opcode_count = request->hot_opcode_count,
        .hot_window_count = request->hot_window_count,
        .jit_queue = policy->jit_queue,
        .hot_opcodes = policy->hot_opcodes,
        .hot_windows = policy->hot_windows,
    };
    evidence.route = route_of(&evidence);
    return evidence;
}

bool vy_mk_promotion_is_complete(const vy_mk_promotion_evidence *e)
{
    return e->version == VY_MK_EVIDENCE_VERSION && e->route == route_of(e) &&
           (e->mode == VY_MK_MODE_INTERPRETER) == (e->route == VY_MK_ROUTE_INTERPRETER) &&
           (unsigned)e->mode < VY_MK_MODE_COUNT;
}

/* ---- Priority accounting --------------------------------------------------------------------- */

vyre_result vy_mk_priority_add(vy_mk_priority_totals *totals,
                               const uint32_t claims[VYRE_PRIORITY_COUNT], uint32_t starvation,
                               vyre_diag *diag)
{
    vy_mk_priority_totals sum = *totals;
    vy_diag_clear(diag);
    bool fits = vy_mk_add(sum.starvation, starvation, &sum.starvation);
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        fits = vy_mk_add(sum.claims[p], claims[p], &sum.claims[p]) && fits;
    }
    if (!fits) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the totals of claims by priority exceed 64 bits. Fix: drain them when "
                           "that is recommended");
    }
    *totals = sum;
    return VYRE_OK;
}

bool vy_mk_priority_should_drain(const vy_mk_policy *policy, const vy_mk_priority_totals *totals)
{
    uint64_t limit = UINT64_MAX - policy->drain_headroom;
    bool should = totals->starvation >= limit;
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        should = should || totals->claims[p] >= limit;
    }
    return should;
}

vy_mk_priority_totals vy_mk_priority_drain(vy_mk_priority_totals *totals)
{
    vy_mk_priority_totals out = *totals;
    *totals = (vy_mk_priority_totals){0};
    return out;
}

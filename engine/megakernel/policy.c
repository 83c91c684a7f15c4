/* The decisions, each a function of the request. */
#include "engine/megakernel/policy.h"

#include "engine/megakernel/ratio.h"

#include <inttypes.h>

static const vy_mk_policy standard = {
#define VY_X(name, value, what) .name = (value),
    VY_MK_POLICY(VY_X)
#undef VY_X
};

static const vy_mk_policy_constant constants[] = {
#define VY_X(name, value, what) {#name, value, what},
    VY_MK_POLICY(VY_X)
#undef VY_X
};

const vy_mk_policy *vy_mk_policy_standard(void)
{
    return &standard;
}

const vy_mk_policy_constant *vy_mk_policy_constants(uint32_t *out_count)
{
    *out_count = VY_COUNT_OF(constants);
    return constants;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *name_of(const char *const *names, size_t count, unsigned value)
{
    return value < count ? names[value] : "unknown";
}

const char *vy_mk_topology_name(vy_mk_topology topology)
{
    static const char *const names[VY_MK_TOPOLOGY_COUNT] = {"empty",           "memory-constrained",
                                                            "sparse-frontier", "fused-dense",
                                                            "dense-frontier",  "hybrid-frontier"};
    return name_of(names, VY_COUNT_OF(names), (unsigned)topology);
}

const char *vy_mk_pressure_name(vy_mk_pressure pressure)
{
    static const char *const names[VY_MK_PRESSURE_COUNT] = {"empty", "light", "balanced",
                                                            "saturated"};
    return name_of(names, VY_COUNT_OF(names), (unsigned)pressure);
}

const char *vy_mk_mode_name(vy_mk_mode mode)
{
    static const char *const names[VY_MK_MODE_COUNT] = {"interpreter", "jit"};
    return name_of(names, VY_COUNT_OF(names), (unsigned)mode);
}

/* ---- Inference ------------------------------------------------------------------------------- */

uint32_t vy_mk_density(const vy_mk_request *request)
{
    if (request->density_bps != 0) {
        return vy_mk_min(request->density_bps, VY_MK_BPS);
    }
    if (request->queue_length == 0 || request->node_count == 0) {
        return 0;
    }
    return vy_mk_max(vy_mk_ratio(request->queue_length, request->node_count, VY_MK_BPS), 1);
}

uint32_t vy_mk_memory_pressure(const vy_mk_request *request)
{
    if (request->pressure_bps != 0) {
        return vy_mk_min(request->pressure_bps, VY_MK_BPS);
    }
    return vy_mk_ratio(request->resident_size, request->budget_size, VY_MK_BPS);
}

bool vy_mk_is_hot(const vy_mk_policy *policy, const vy_mk_request *request)
{
    return request->hot_opcode_count >= policy->hot_opcodes ||
           request->hot_window_count >= policy->hot_windows;
}

/* ---- Topology -------------------------------------------------------------------------------- */

/* What makes dense work worth fusing, its density apart. */
static bool can_fuse(const vy_mk_policy *policy, const vy_mk_request *request)
{
    return request->node_count > 0 && request->edge_count >= policy->fusion_edges &&
           vy_mk_is_hot(policy, request);
}

vy_mk_topology vy_mk_topology_choose(const vy_mk_policy *policy, const vy_mk_request *request)
{
    uint32_t density = vy_mk_density(request);
    if (request->queue_length == 0) {
        return VY_MK_TOPOLOGY_EMPTY;
    }
    if (vy_mk_memory_pressure(request) >= policy->memory_bps) {
        return VY_MK_TOPOLOGY_MEMORY_CONSTRAINED;
    }
    if (density <= policy->sparse_bps) {
        return VY_MK_TOPOLOGY_SPARSE_FRONTIER;
    }
    if (density >= policy->dense_bps) {
        return can_fuse(policy, request) ? VY_MK_TOPOLOGY_FUSED_DENSE
                                         : VY_MK_TOPOLOGY_DENSE_FRONTIER;
    }
    return VY_MK_TOPOLOGY_HYBRID_FRONTIER;
}

/* A threshold moved by the band, which does not pass 0. */
static uint32_t below(uint32_t threshold, uint32_t band)
{
    return threshold - vy_mk_min(threshold, band);
}

static uint64_t above(uint32_t threshold, uint32_t band)
{
    return (uint64_t)threshold + band;
}

static bool is_held(const vy_mk_policy *p, const vy_mk_request *request, vy_mk_topology fresh,
                    vy_mk_topology previous)
{
    uint32_t density = vy_mk_density(request);
    switch (previous) {
    case VY_MK_TOPOLOGY_MEMORY_CONSTRAINED:
        return vy_mk_memory_pressure(request) >= below(p->memory_bps, p->memory_band_bps);
    case VY_MK_TOPOLOGY_SPARSE_FRONTIER:
        return density <= above(p->sparse_bps, p->density_band_bps);
    case VY_MK_TOPOLOGY_FUSED_DENSE:
        return density >= below(p->dense_bps, p->density_band_bps) && can_fuse(p, request);
    case VY_MK_TOPOLOGY_DENSE_FRONTIER:
        return density >= below(p->dense_bps, p->density_band_bps) &&
               fresh != VY_MK_TOPOLOGY_FUSED_DENSE;
    case VY_MK_TOPOLOGY_HYBRID_FRONTIER:
        return density > below(p->sparse_bps, p->density_band_bps) &&
               density < above(p->dense_bps, p->density_band_bps);
    default:
        return false;
    }
}

vy_mk_topology vy_mk_topology_keep(const vy_mk_policy *policy, const vy_mk_request *request,
                                   vy_mk_topology previous)
{
    vy_mk_topology fresh = vy_mk_topology_choose(policy, request);
    if (fresh == VY_MK_TOPOLOGY_EMPTY || fresh == VY_MK_TOPOLOGY_MEMORY_CONSTRAINED) {
        return fresh;
    }
    return is_held(policy, request, fresh, previous) ? previous : fresh;
}

/* ---- Workers --------------------------------------------------------------------------------- */

/* Workers that scarce memory sheds, of 10000. Hysteresis comes here with less than the threshold.
 */
static uint32_t shed_bps(const vy_mk_policy *policy, uint32_t pressure_bps)
{
    uint64_t shed = policy->shed_bps;
    if (pressure_bps > policy->memory_bps) {
        uint64_t over = pressure_bps - policy->memory_bps;
        shed += over * policy->shed_more_bps / (VY_MK_BPS - policy->memory_bps);
    }
    return shed < VY_MK_BPS ? (uint32_t)shed : VY_MK_BPS;
}

uint32_t vy_mk_workers(const vy_mk_policy *policy, const vy_mk_request *request,
                       vy_mk_topology topology)
{
    uint64_t workers = request->worker_count;
    if (workers <= 1) {
        return request->worker_count;
    }
    if (topology == VY_MK_TOPOLOGY_MEMORY_CONSTRAINED) {
        uint32_t kept = VY_MK_BPS - shed_bps(policy, vy_mk_memory_pressure(request));
        return vy_mk_max((uint32_t)(workers * kept / VY_MK_BPS), 1);
    }
    if (topology == VY_MK_TOPOLOGY_SPARSE_FRONTIER && request->node_count != 0 &&
        policy->sparse_bps != 0) {
        uint32_t density = vy_mk_min(vy_mk_max(vy_mk_density(request), 1), policy->sparse_bps);
        uint32_t least = vy_mk_min(request->worker_count, policy->sparse_workers);
        return vy_mk_max((uint32_t)(workers * density / policy->sparse_bps), vy_mk_max(least, 1));
    }
    return request->worker_count;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

vyre_result vy_mk_hit_capacity(const vy_mk_policy *policy, const vy_mk_request *request,
                               vy_mk_topology topology, uint32_t *out_capacity, vyre_diag *diag)
{
    *out_capacity = 0;
    vy_diag_clear(diag);
    if (!request->has_hit_buffer) {
        return VYRE_OK;
    }
    if (request->hit_capacity != 0) {
        *out_capacity = request->hit_capacity;
        return VYRE_OK;
    }
    uint32_t hits = vy_mk_max(request->hits_per_item, 1);
    uint32_t multiplier = topology == VY_MK_TOPOLOGY_MEMORY_CONSTRAINED
                              ? policy->pressed_hit_multiplier
                              : policy->hit_multiplier;
    uint64_t capacity = (uint64_t)request->queue_length * hits;
    if (!vy_mk_mul(capacity, multiplier, &capacity) || capacity > UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u items of %u hits need room for more than %u hits. Fix: dispatch "
                           "fewer items at a time, expect fewer hits, or ask for a capacity",
                           request->queue_length, hits, UINT32_MAX);
    }
    *out_capacity = vy_mk_max((uint32_t)capacity, policy->min_hit_capacity);
    return VYRE_OK;
}

vyre_result vy_mk_peak(const vy_mk_policy *policy, const vy_mk_request *request,
                       uint32_t hit_capacity, uint64_t *out_size, vyre_diag *diag)
{
    *out_size = 0;
    vy_diag_clear(diag);
    uint64_t scratch = (uint64_t)hit_capacity * policy->hit_size;
    if (!vy_mk_add(request->resident_size, scratch, out_size)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%" PRIu64 " resident bytes and %" PRIu64 " of scratch memory exceed "
                           "64 bits. Fix: pass the size that is really resident",
                           request->resident_size, scratch);
    }
    if (request->budget_size != 0 && *out_size > request->budget_size) {
        return vy_diag_set(diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, (vy_loc){0, 0},
                           "a dispatch needs %" PRIu64 " bytes of device memory (%" PRIu64
                           " resident, %" PRIu64 " of scratch memory) and its budget is %" PRIu64
                           ". Fix: raise the budget, dispatch fewer items at a time, or ask for "
                           "a smaller hit capacity",
                           *out_size, request->resident_size, scratch, request->budget_size);
    }
    return VYRE_OK;
}

/* ---- Pressure and mode ----------------------------------------------------------------------- */

vy_mk_pressure vy_mk_pressure_choose(const vy_mk_policy *policy, uint32_t queue_length,
                                     uint32_t requeue_count, uint64_t lane_count)
{
    if (queue_length == 0) {
        return VY_MK_PRESSURE_EMPTY;
    }
    uint64_t many = 0;
    bool is_full = vy_mk_mul(lane_count, policy->saturated_waves, &many) && queue_length >= many;
    if (requeue_count > 0 || is_full) {
        return VY_MK_PRESSURE_SATURATED;
    }
    return queue_length >= lane_count ? VY_MK_PRESSURE_BALANCED : VY_MK_PRESSURE_LIGHT;
}

vy_mk_mode vy_mk_mode_choose(const vy_mk_policy *policy, const vy_mk_request *request,
                             vy_mk_topology topology)
{
    bool is_jit = request->queue_length >= policy->jit_queue || vy_mk_is_hot(policy, request) ||
                  topology == VY_MK_TOPOLOGY_FUSED_DENSE;
    return is_jit ? VY_MK_MODE_JIT : VY_MK_MODE_INTERPRETER;
}

bool vy_mk_age_first(const vy_mk_policy *policy, const vy_mk_request *request)
{
    return request->requeue_count > 0 || request->age >= policy->priority_age;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static vyre_result plan_geometry(const vy_mk_request *request, const vy_mk_limits *limits,
                                 vy_mk_recommendation *out, vyre_diag *diag)
{
    vyre_result result = vy_mk_reference_plan(limits, request->queue_length, out->worker_count,
                                              &out->reference, diag);
    if (result) {
        return result;
    }
    vy_mk_launch_request launch = {
        .queue_length = request->queue_length,
        .group_cap = request->group_cap,
        .share_bps = vy_mk_max(vy_mk_ratio(out->worker_count, request->worker_count, VY_MK_BPS), 1),
        .multiple = request->multiple,
    };
    return vy_mk_launch_plan(limits, &launch, &out->launch, diag);
}

static vyre_result recommend(const vy_mk_policy *policy, const vy_mk_request *request,
                             const vy_mk_limits *limits, vy_mk_topology previous,
                             vy_mk_recommendation *out, vyre_diag *diag)
{
    out->topology_evidence = vy_mk_topology_explain(policy, request, previous);
    out->topology = out->topology_evidence.topology;
    out->density_bps = out->topology_evidence.density_bps;
    out->pressure_bps = out->topology_evidence.pressure_bps;
    out->worker_count = vy_mk_workers(policy, request, out->topology);
    vyre_result result =
        vy_mk_hit_capacity(policy, request, out->topology, &out->hit_capacity, diag);
    if (!result) {
        result = vy_mk_peak(policy, request, out->hit_capacity, &out->peak_size, diag);
    }
    if (!result) {
        result = plan_geometry(request, limits, out, diag);
    }
    if (result) {
        return result;
    }
    out->pressure = vy_mk_pressure_choose(policy, request->queue_length, request->requeue_count,
                                          out->launch.lane_count);
    out->promotion_evidence = vy_mk_promotion_explain(policy, request, out->topology);
    out->mode = out->promotion_evidence.mode;
    out->age_first = vy_mk_age_first(policy, request);
    return VYRE_OK;
}

vyre_result vy_mk_recommend(const vy_mk_policy *policy, const vy_mk_request *request,
                            const vy_mk_limits *limits, vy_mk_topology previous,
                            vy_mk_recommendation *out_recommendation, vyre_diag *diag)
{
    *out_recommendation = (vy_mk_recommendation){0};
    vy_diag_clear(diag);
    if (request->worker_count == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a launch of 0 workers drains nothing. Fix: ask for 1 or more");
    }
    vyre_result result = recommend(policy, request, limits, previous, out_recommendation, diag);
    if (result) {
        *out_recommendation = (vy_mk_recommendation){0};
    }
    return result;
}

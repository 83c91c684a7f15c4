/* The steps of planning, in their order: duplicates, dependencies, arrangement, lineage. */
#include "engine/megakernel/queue_plan.h"

#include "engine/device/thread.h"

#include <string.h>

typedef struct planning {
    vy_arena *arena;
    const vy_mk_effects *table;
    const vy_mk_survey *survey;
    const vy_mk_plan_params *params;
    vy_mk_relation relation;
    vy_mk_graph graph;
    bool has_graph;
    vy_mk_plan *plan;
    vyre_diag *diag;
} planning;

static bool has(const planning *p, uint32_t flag)
{
    return (p->params->flags & flag) != 0;
}

/* ---- Duplicates ------------------------------------------------------------------------------ */

static vyre_result drop_duplicates(planning *p)
{
    vy_mk_plan *plan = p->plan;
    bool all = has(p, VYRE_QUEUE_PRUNE_ALL);
    if (p->relation == VY_MK_DISJOINT ||
        (!all && has(p, VYRE_QUEUE_KEEP_DUPLICATES | VYRE_QUEUE_INDEPENDENT))) {
        return VYRE_OK;
    }
    vy_mk_pruned pruned;
    vyre_result code =
        vy_mk_prune(p->arena, p->table, all ? VY_MK_PRUNE_UNCONDITIONAL : VY_MK_PRUNE_BY_EFFECTS,
                    plan->items, plan->count, &pruned, p->diag);
    if (code != VYRE_OK || pruned.pair_count == 0) {
        return code;
    }
    uint32_t *given_at = vy_arena_alloc(p->arena, pruned.item_count, sizeof *given_at);
    if (!given_at) {
        return vy_diag_no_memory(p->diag);
    }
    uint32_t at = 0, pair = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (pair < pruned.pair_count && pruned.pairs[pair].late == i) {
            pair++;
        } else {
            given_at[at++] = i;
        }
    }
    plan->items = pruned.items;
    plan->count = pruned.item_count;
    plan->pairs = pruned.pairs;
    plan->pair_count = pruned.pair_count;
    plan->given_at = given_at;
    return VYRE_OK;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* given_at after the items were put in another order. */
static bool follow(planning *p, const uint32_t *item_at)
{
    vy_mk_plan *plan = p->plan;
    uint32_t *given_at = vy_arena_alloc(p->arena, plan->count, sizeof *given_at);
    for (uint32_t i = 0; given_at && i < plan->count; i++) {
        given_at[i] = plan->given_at ? plan->given_at[item_at[i]] : item_at[i];
    }
    plan->given_at = given_at;
    return given_at != NULL;
}

static vyre_result make_waves(planning *p)
{
    vy_mk_plan *plan = p->plan;
    vy_mk_waves waves;
    vyre_result code = vy_mk_waves_build(p->arena, &p->graph, &waves, p->diag);
    if (code != VYRE_OK || waves.wave_count < 2) {
        return code;
    }
    vyre_work_item *items = vy_arena_alloc(p->arena, plan->count, sizeof *items);
    uint32_t *bounds = vy_arena_alloc(p->arena, (size_t)waves.wave_count + 1, sizeof *bounds);
    if (!items || !bounds || !follow(p, waves.item_at)) {
        return vy_diag_no_memory(p->diag);
    }
    vy_mk_waves_arrange(&waves, plan->items, items);
    for (uint32_t w = 0; w < waves.wave_count; w++) {
        bounds[w] = waves.waves[w].first;
    }
    bounds[waves.wave_count] = plan->count;
    plan->items = items;
    plan->bounds = bounds;
    plan->wave_count = plan->part_count = waves.wave_count;
    return VYRE_OK;
}

static vyre_result order(planning *p)
{
    vy_mk_plan *plan = p->plan;
    uint32_t *bounds = vy_arena_alloc(p->arena, 2, sizeof *bounds);
    if (!bounds) {
        return vy_diag_no_memory(p->diag);
    }
    bounds[1] = plan->count;
    plan->bounds = bounds;
    plan->wave_count = plan->part_count = 1;
    bool is_free = p->relation != VY_MK_UNKNOWN || has(p, VYRE_QUEUE_INDEPENDENT);
    if (is_free && !p->params->wants_lineage) {
        return VYRE_OK;
    }
    vyre_result code =
        vy_mk_graph_build(p->arena, p->table, plan->items, plan->count, &p->graph, p->diag);
    p->has_graph = code == VYRE_OK;
    return code != VYRE_OK || is_free ? code : make_waves(p);
}

/* ---- Arrangement ----------------------------------------------------------------------------- */

/* Where items go, and the numbers that they have in the queue given. */
typedef struct order_of {
    vyre_work_item *items;
    uint32_t *given_at;
} order_of;

static bool make_order(planning *p, order_of *out)
{
    out->items = vy_arena_alloc(p->arena, p->plan->count, sizeof *out->items);
    out->given_at = vy_arena_alloc(p->arena, p->plan->count, sizeof *out->given_at);
    return out->items && out->given_at;
}

static void put(const planning *p, const order_of *to, uint32_t at, uint32_t from)
{
    to->items[at] = p->plan->items[from];
    to->given_at[at] = p->plan->given_at ? p->plan->given_at[from] : from;
}

static void take_order(planning *p, const order_of *order)
{
    p->plan->items = order->items;
    p->plan->given_at = order->given_at;
}

/* The waves that the items stand in, in their order. */
static bool list_waves(planning *p, vy_mk_waves *out)
{
    uint32_t count = p->plan->count;
    vy_mk_wave *waves = vy_arena_alloc(p->arena, p->plan->wave_count, sizeof *waves);
    uint32_t *same = vy_arena_alloc(p->arena, count, sizeof *same);
    if (!waves || !same) {
        return false;
    }
    for (uint32_t w = 0; w < p->plan->wave_count; w++) {
        uint32_t first = p->plan->bounds[w];
        waves[w] = (vy_mk_wave){first, p->plan->bounds[w + 1] - first};
    }
    for (uint32_t i = 0; i < count; i++) {
        same[i] = i;
    }
    *out = (vy_mk_waves){waves, p->plan->wave_count, count, same, same};
    return true;
}

/* Parts from groups: those of an opcode's own kernel, and what lies between them in a wave. */
static bool make_parts(planning *p, const vy_mk_fusion *fusion)
{
    vy_mk_plan *plan = p->plan;
    uint32_t *bounds = vy_arena_alloc(p->arena, (size_t)fusion->group_count + 1, sizeof *bounds);
    uint32_t *own = vy_arena_alloc(p->arena, fusion->group_count, sizeof *own);
    if (!bounds || !own) {
        return false;
    }
    plan->part_count = 0;
    for (uint32_t g = 0; g < fusion->group_count; g++) {
        const vy_mk_group *group = &fusion->groups[g];
        bool is_own = !group->is_rest && group->cost_ns >= p->params->launch_cost;
        bounds[plan->part_count] = group->first;
        own[plan->part_count++] = is_own ? group->opcode : VY_MK_NONE;
    }
    bounds[plan->part_count] = plan->count;
    plan->bounds = bounds;
    plan->own = own;
    return true;
}

/* Runs for which a kernel of their own saves more than its launch costs, apart from the others. */
static vyre_result fuse(planning *p)
{
    const vy_mk_fusion_params params = {.costs = p->params->savings,
                                        .cost_count = p->params->saving_count,
                                        .launch_ns = p->params->launch_cost,
                                        .max_items = UINT32_MAX};
    vy_mk_waves waves;
    vy_mk_fusion fusion;
    order_of order;
    if (!list_waves(p, &waves) || !make_order(p, &order)) {
        return vy_diag_no_memory(p->diag);
    }
    vyre_result code = vy_mk_fusion_plan(p->arena, p->plan->items, p->plan->count, &waves, &params,
                                         &fusion, p->diag);
    if (code != VYRE_OK) {
        return code;
    }
    for (uint32_t at = 0; at < p->plan->count; at++) {
        put(p, &order, at, fusion.item_at[at]);
    }
    take_order(p, &order);
    return make_parts(p, &fusion) ? VYRE_OK : vy_diag_no_memory(p->diag);
}

/* Items of a part by opcode, a stable counting sort: neighbouring invocations then run the same
 * handler. */
static void sort_part(const planning *p, uint32_t first, uint32_t end, const order_of *order)
{
    const vy_mk_plan *plan = p->plan;
    uint32_t next[VY_MK_SURVEY_OPCODES] = {0}, at = first;
    for (uint32_t i = first; i < end; i++) {
        next[vy_mk_survey_place(p->survey, plan->items[i].opcode)]++;
    }
    for (uint32_t o = 0; o < p->survey->opcode_count; o++) {
        uint32_t count = next[o];
        next[o] = at;
        at += count;
    }
    for (uint32_t i = first; i < end; i++) {
        put(p, order, next[vy_mk_survey_place(p->survey, plan->items[i].opcode)]++, i);
    }
}

static vyre_result arrange(planning *p)
{
    vy_mk_plan *plan = p->plan;
    uint32_t opcodes = p->survey->opcode_count;
    order_of order;
    if (!has(p, VYRE_QUEUE_ARRANGE) || opcodes < 2 || opcodes > VY_MK_SURVEY_OPCODES) {
        return VYRE_OK;
    }
    vyre_result code = p->params->saving_count ? fuse(p) : VYRE_OK;
    if (code == VYRE_OK && !make_order(p, &order)) {
        code = vy_diag_no_memory(p->diag);
    }
    for (uint32_t part = 0; code == VYRE_OK && part < plan->part_count; part++) {
        sort_part(p, plan->bounds[part], plan->bounds[part + 1], &order);
    }
    if (code == VYRE_OK) {
        take_order(p, &order);
    }
    return code;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Of the items in the order in which the graph has them. */
static vyre_result trace(planning *p, const vyre_work_item *items)
{
    vy_mk_lineage_params params = {.max_items = p->params->lineage_limit};
    uint64_t start = vy_clock_ns();
    vyre_result code = vy_mk_lineage_by_flow(p->arena, items, p->plan->count, &p->graph, &params,
                                             &p->plan->lineage, p->diag);
    p->plan->lineage_ns = vy_clock_ns() - start;
    return code;
}

vyre_result vy_mk_plan_build(vy_arena *arena, const vy_mk_effects *table,
                             const vy_mk_survey *survey, const vy_mk_plan_params *params,
                             const vyre_work_item *items, uint32_t count, vy_mk_plan *out_plan,
                             vyre_diag *diag)
{
    planning p = {arena, table, survey, params, VY_MK_UNKNOWN, {0}, false, out_plan, diag};
    *out_plan = (vy_mk_plan){.items = items, .count = count};
    uint64_t start = vy_clock_ns();
    if (!(params->flags & VYRE_QUEUE_INDEPENDENT) || (params->flags & VYRE_QUEUE_PRUNE_ALL)) {
        p.relation = vy_mk_relate(arena, survey, items, count);
    }
    vyre_result code = drop_duplicates(&p);
    const vyre_work_item *kept = out_plan->items;
    code = code == VYRE_OK ? order(&p) : code;
    uint64_t planned = vy_clock_ns();
    out_plan->plan_ns = planned - start;
    code = code == VYRE_OK ? arrange(&p) : code;
    out_plan->arrange_ns = vy_clock_ns() - planned;
    if (code == VYRE_OK && p.has_graph && params->wants_lineage) {
        code = trace(&p, kept);
    }
    if (code == VYRE_OK && arena->failed) {
        code = vy_diag_no_memory(diag);
    }
    return code;
}

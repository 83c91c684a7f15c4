/* Groups by wave and opcode, in the order in which a greedy independent set takes their leaders. */
#include "engine/megakernel/fusion.h"

/* The items of one opcode in one wave. */
typedef struct clique {
    uint32_t wave, opcode, leader, count;
    uint64_t cost_ns, total_ns;
    bool is_rest;
    uint32_t group;
} clique;

typedef struct plan {
    vy_arena scratch;
    vy_arena *arena;
    const vyre_work_item *items;
    uint32_t item_count;
    const vy_mk_wave *waves;
    uint32_t wave_count;
    const uint32_t *item_at; /* of the waves; NULL: as they are */
    vy_mk_map costs;         /* by opcode: the number of its row */
    vy_mk_map numbers;       /* of cliques */
    VY_VEC(clique) cliques;
    uint32_t *clique_of; /* by index in the waves' order */
    uint32_t *order;     /* of cliques */
    vy_mk_group *groups;
    uint32_t group_count;
    uint32_t *place_of, *new_item_at;
} plan;

static uint64_t add_ns(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply_ns(uint64_t cost, uint32_t count)
{
    return cost > UINT64_MAX / count ? UINT64_MAX : cost * count;
}

static uint32_t item_of(const plan *p, uint32_t at)
{
    return p->item_at ? p->item_at[at] : at;
}

static uint64_t cost_of(const plan *p, const vy_mk_fusion_params *params, uint32_t opcode)
{
    uint32_t row = vy_mk_map_find(&p->costs, (vy_mk_key){opcode, 0, 0});
    return row == VY_MK_NONE ? 0 : params->costs[row].cost_ns;
}

static vyre_result read_costs(plan *p, const vy_mk_fusion_params *params, vyre_diag *diag)
{
    if (params->cost_count && !params->costs) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u costs are at NULL. Fix: pass them, or 0 for none",
                           params->cost_count);
    }
    for (uint32_t i = 0; i < params->cost_count; i++) {
        uint32_t row = vy_mk_map_intern(&p->costs, (vy_mk_key){params->costs[i].opcode, 0, 0});
        if (row == VY_MK_NONE) {
            return vy_diag_no_memory(diag);
        }
        if (row != i) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "cost %u is of opcode 0x%x, which has one before. Fix: give one "
                               "cost for each opcode",
                               i, params->costs[i].opcode);
        }
    }
    return VYRE_OK;
}

static bool find_cliques(plan *p, const vy_mk_fusion_params *params)
{
    p->clique_of = vy_arena_alloc(&p->scratch, p->item_count, sizeof *p->clique_of);
    for (uint32_t wave = 0; p->clique_of && wave < p->wave_count; wave++) {
        for (uint32_t i = 0; i < p->waves[wave].count; i++) {
            uint32_t at = p->waves[wave].first + i, item = item_of(p, at);
            uint32_t opcode = p->items[item].opcode;
            uint32_t number = vy_mk_map_intern(&p->numbers, (vy_mk_key){opcode, wave, 0});
            if (number == VY_MK_NONE) {
                return false;
            }
            clique fresh = {.wave = wave, .opcode = opcode, .leader = item};
            fresh.cost_ns = cost_of(p, params, opcode);
            if (number == p->cliques.count && !vy_vec_push(&p->scratch, &p->cliques, fresh)) {
                return false;
            }
            p->cliques.data[number].count++;
            p->clique_of[at] = number;
        }
    }
    return p->clique_of != NULL;
}

/* Which cliques stay in the rest of their wave. */
static bool find_rests(plan *p, uint64_t launch_ns)
{
    uint32_t *rest_counts = vy_arena_alloc(&p->scratch, p->wave_count, sizeof *rest_counts);
    for (uint32_t i = 0; rest_counts && i < p->cliques.count; i++) {
        clique *c = &p->cliques.data[i];
        c->total_ns = multiply_ns(c->cost_ns, c->count);
        c->is_rest = c->total_ns < launch_ns;
        rest_counts[c->wave] += c->is_rest;
    }
    for (uint32_t i = 0; rest_counts && i < p->cliques.count; i++) {
        clique *c = &p->cliques.data[i];
        c->is_rest = c->is_rest && rest_counts[c->wave] > 1;
    }
    return rest_counts != NULL;
}

/* By wave, and in a wave by (cost, degree, index), the rest last. No two are equal. */
static bool is_before(const clique *a, const clique *b)
{
    if (a->wave != b->wave) {
        return a->wave < b->wave;
    }
    if (a->is_rest != b->is_rest) {
        return b->is_rest;
    }
    if (a->cost_ns != b->cost_ns) {
        return a->cost_ns < b->cost_ns;
    }
    return a->count != b->count ? a->count < b->count : a->leader < b->leader;
}

static void sift(const clique *cliques, uint32_t *order, uint32_t root, uint32_t count)
{
    while (root < count / 2) {
        uint32_t child = 2 * root + 1;
        if (child + 1 < count && is_before(&cliques[order[child]], &cliques[order[child + 1]])) {
            child++;
        }
        if (!is_before(&cliques[order[root]], &cliques[order[child]])) {
            return;
        }
        uint32_t swapped = order[root];
        order[root] = order[child];
        order[child] = swapped;
        root = child;
    }
}

/* Heap sort: qsort may allocate. */
static bool sort_cliques(plan *p)
{
    const uint32_t count = p->cliques.count;
    p->order = vy_arena_alloc(&p->scratch, count, sizeof *p->order);
    for (uint32_t i = 0; p->order && i < count; i++) {
        p->order[i] = i;
    }
    for (uint32_t i = count / 2; p->order && i > 0; i--) {
        sift(p->cliques.data, p->order, i - 1, count);
    }
    for (uint32_t i = count; p->order && i > 1; i--) {
        uint32_t last = p->order[0];
        p->order[0] = p->order[i - 1];
        p->order[i - 1] = last;
        sift(p->cliques.data, p->order, 0, i - 1);
    }
    return p->order != NULL;
}

static bool make_groups(plan *p)
{
    p->groups = vy_arena_alloc(p->arena, p->cliques.count, sizeof *p->groups);
    if (!p->groups) {
        return false;
    }
    for (uint32_t i = 0; i < p->cliques.count; i++) {
        clique *c = &p->cliques.data[p->order[i]];
        vy_mk_group *last = p->group_count ? &p->groups[p->group_count - 1] : NULL;
        if (c->is_rest && last && last->is_rest && last->wave == c->wave) {
            last->count += c->count;
            last->cost_ns = add_ns(last->cost_ns, c->total_ns);
        } else {
            p->groups[p->group_count++] =
                (vy_mk_group){.first = last ? last->first + last->count : 0,
                              .count = c->count,
                              .wave = c->wave,
                              .is_rest = c->is_rest,
                              .opcode = c->is_rest ? 0 : c->opcode,
                              .cost_ns = c->total_ns};
        }
        c->group = p->group_count - 1;
    }
    return true;
}

/* With more items than the limit. */
static bool make_rests(plan *p, const vy_mk_fusion_params *params)
{
    p->groups = vy_arena_alloc(p->arena, p->wave_count, sizeof *p->groups);
    for (uint32_t wave = 0; p->groups && wave < p->wave_count; wave++) {
        const vy_mk_wave *from = &p->waves[wave];
        vy_mk_group *group = &p->groups[p->group_count++];
        *group = (vy_mk_group){
            .first = from->first, .count = from->count, .wave = wave, .is_rest = true};
        for (uint32_t i = 0; i < from->count; i++) {
            const uint32_t opcode = p->items[item_of(p, from->first + i)].opcode;
            group->cost_ns = add_ns(group->cost_ns, cost_of(p, params, opcode));
        }
    }
    return p->groups != NULL;
}

static bool place_items(plan *p)
{
    p->place_of = vy_arena_alloc(p->arena, p->item_count, sizeof *p->place_of);
    p->new_item_at = vy_arena_alloc(p->arena, p->item_count, sizeof *p->new_item_at);
    uint32_t *next = vy_arena_alloc(&p->scratch, p->group_count, sizeof *next);
    if (!p->place_of || !p->new_item_at || !next) {
        return false;
    }
    for (uint32_t at = 0; at < p->item_count; at++) {
        uint32_t place = at;
        if (p->clique_of) {
            uint32_t group = p->cliques.data[p->clique_of[at]].group;
            place = p->groups[group].first + next[group]++;
        }
        p->place_of[item_of(p, at)] = place;
        p->new_item_at[place] = item_of(p, at);
    }
    return true;
}

static bool make_plan(plan *p, const vy_mk_fusion_params *params)
{
    if (p->item_count > (params->max_items ? params->max_items : VY_MK_FUSION_ITEMS)) {
        return make_rests(p, params) && place_items(p);
    }
    return find_cliques(p, params) && find_rests(p, params->launch_ns) && sort_cliques(p) &&
           make_groups(p) && place_items(p);
}

vyre_result vy_mk_fusion_plan(vy_arena *arena, const vyre_work_item *items, uint64_t count,
                              const vy_mk_waves *waves, const vy_mk_fusion_params *params,
                              vy_mk_fusion *out_fusion, vyre_diag *diag)
{
    *out_fusion = (vy_mk_fusion){.groups = NULL};
    vyre_result result = vy_mk_check_items(items, count, diag);
    if (result == VYRE_OK && waves && waves->item_count != count) {
        result = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                             "the waves are of %u items, and %llu are given. Fix: pass the items "
                             "that they were built from",
                             waves->item_count, (unsigned long long)count);
    }
    if (result != VYRE_OK) {
        return result;
    }
    const vy_mk_fusion_params none = {0};
    const vy_mk_wave one = {0, (uint32_t)count};
    plan p = {.arena = arena, .items = items, .item_count = (uint32_t)count};
    p.waves = waves ? waves->waves : &one;
    p.wave_count = waves ? waves->wave_count : 1;
    p.item_at = waves ? waves->item_at : NULL;
    params = params ? params : &none;
    vy_arena_init(&p.scratch, &arena->allocator);
    vy_mk_map_init(&p.costs, &p.scratch);
    vy_mk_map_init(&p.numbers, &p.scratch);
    result = read_costs(&p, params, diag);
    if (result == VYRE_OK && count > 0) {
        result = make_plan(&p, params) ? VYRE_OK : vy_diag_no_memory(diag);
    }
    if (result == VYRE_OK) {
        *out_fusion =
            (vy_mk_fusion){p.groups, p.group_count, p.item_count, p.place_of, p.new_item_at};
    }
    vy_arena_finish(&p.scratch);
    return result;
}

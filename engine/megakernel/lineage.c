/* Sets of opcodes as bits, joined along edges or over connected components. */
#include "engine/megakernel/lineage.h"

#include <string.h>

/* Sets for all nodes, of which the first item_count are what is handed out. */
typedef struct sets {
    vy_mk_map opcodes;
    uint64_t *bits;
    uint32_t words;
    bool is_empty; /* over a limit */
} sets;

static void join(const sets *s, uint32_t into, uint32_t from)
{
    for (uint32_t i = 0; i < s->words; i++) {
        s->bits[(size_t)into * s->words + i] |= s->bits[(size_t)from * s->words + i];
    }
}

/* Each item's own opcode. False: no memory. */
static bool begin(sets *s, vy_arena *scratch, vy_arena *arena, const vyre_work_item *items,
                  uint32_t count, uint32_t node_count, const vy_mk_lineage_params *params)
{
    const uint32_t max_items =
        params && params->max_items ? params->max_items : VY_MK_LINEAGE_ITEMS;
    vy_mk_map_init(&s->opcodes, scratch);
    s->is_empty = count == 0 || count > max_items;
    for (uint32_t i = 0; !s->is_empty && i < count; i++) {
        if (vy_mk_map_intern(&s->opcodes, (vy_mk_key){items[i].opcode, 0, 0}) == VY_MK_NONE) {
            return false;
        }
        s->is_empty = s->opcodes.keys.count > VY_MK_LINEAGE_OPCODES;
    }
    if (s->is_empty) {
        return true;
    }
    s->words = (s->opcodes.keys.count + 63) / 64;
    /* Those of joins lie behind the items'. */
    s->bits = vy_arena_alloc(arena, node_count, s->words * sizeof *s->bits);
    for (uint32_t i = 0; s->bits && i < count; i++) {
        uint32_t number = vy_mk_map_find(&s->opcodes, (vy_mk_key){items[i].opcode, 0, 0});
        s->bits[(size_t)i * s->words + number / 64] |= (uint64_t)1 << number % 64;
    }
    return s->bits != NULL;
}

static bool finish(const sets *s, vy_arena *arena, uint32_t count, vy_mk_lineage *out_lineage)
{
    if (s->is_empty) {
        return true;
    }
    const uint32_t opcode_count = s->opcodes.keys.count;
    uint32_t *opcodes = vy_arena_alloc(arena, opcode_count, sizeof *opcodes);
    uint32_t *folded = vy_arena_alloc(arena, count, sizeof *folded);
    if (!opcodes || !folded) {
        return false;
    }
    for (uint32_t k = 0; k < opcode_count; k++) {
        opcodes[k] = (uint32_t)s->opcodes.keys.data[k].a;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < opcode_count; k++) {
            uint64_t word = s->bits[(size_t)i * s->words + k / 64];
            folded[i] |= (uint32_t)(word >> k % 64 & 1) << opcodes[k] % 32;
        }
    }
    *out_lineage = (vy_mk_lineage){count, opcodes, opcode_count, s->bits, s->words, folded};
    return true;
}

static vyre_result check_graph(const vy_mk_graph *graph, uint64_t count,
                               const vy_mk_lineage_params *params, vyre_diag *diag)
{
    if (graph->item_count != count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the graph is of %u items, and %llu are given. Fix: pass the items "
                           "that it was built from",
                           graph->item_count, (unsigned long long)count);
    }
    if (params && params->hazards & ~VY_MK_ALL_HAZARDS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "0x%x has bits that are no hazard. Fix: leave them 0", params->hazards);
    }
    return VYRE_OK;
}

vyre_result vy_mk_lineage_by_flow(vy_arena *arena, const vyre_work_item *items, uint64_t count,
                                  const vy_mk_graph *graph, const vy_mk_lineage_params *params,
                                  vy_mk_lineage *out_lineage, vyre_diag *diag)
{
    memset(out_lineage, 0, sizeof *out_lineage);
    vyre_result result = vy_mk_check_items(items, count, diag);
    if (result == VYRE_OK) {
        result = check_graph(graph, count, params, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    const uint32_t hazards = params && params->hazards ? params->hazards : VY_MK_ALL_HAZARDS;
    vy_arena scratch;
    vy_arena_init(&scratch, &arena->allocator);
    sets s = {.words = 0};
    bool is_done = begin(&s, &scratch, arena, items, (uint32_t)count, graph->node_count, params);
    for (uint32_t i = 0; is_done && !s.is_empty && i < graph->edge_count; i++) {
        if (graph->edges[i].hazards & hazards) {
            join(&s, graph->edges[i].to, graph->edges[i].from);
        }
    }
    is_done = is_done && finish(&s, arena, (uint32_t)count, out_lineage);
    vy_arena_finish(&scratch);
    return is_done ? VYRE_OK : vy_diag_no_memory(diag);
}

/* ---- Regions --------------------------------------------------------------------------------- */

static uint32_t find_root(uint32_t *parents, uint32_t item)
{
    while (parents[item] != item) {
        parents[item] = parents[parents[item]];
        item = parents[item];
    }
    return item;
}

/* Of two roots the lower item becomes the other's: the first of a component is its root. */
static void connect(uint32_t *parents, vy_mk_neighbours pair)
{
    uint32_t a = find_root(parents, pair.a), b = find_root(parents, pair.b);
    if (a < b) {
        parents[b] = a;
    } else {
        parents[a] = b;
    }
}

static bool join_regions(sets *s, vy_arena *scratch, uint32_t count,
                         const vy_mk_neighbours *neighbours, uint32_t neighbour_count)
{
    if (s->is_empty) {
        return true;
    }
    uint32_t *parents = vy_arena_alloc(scratch, count, sizeof *parents);
    if (!parents) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        parents[i] = i;
    }
    for (uint32_t i = 0; i < neighbour_count; i++) {
        connect(parents, neighbours[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        join(s, find_root(parents, i), i);
    }
    for (uint32_t i = 0; i < count; i++) {
        join(s, i, find_root(parents, i));
    }
    return true;
}

vyre_result vy_mk_lineage_by_region(vy_arena *arena, const vyre_work_item *items, uint64_t count,
                                    const vy_mk_neighbours *neighbours, uint32_t neighbour_count,
                                    const vy_mk_lineage_params *params, vy_mk_lineage *out_lineage,
                                    vyre_diag *diag)
{
    memset(out_lineage, 0, sizeof *out_lineage);
    vyre_result result = vy_mk_check_items(items, count, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < neighbour_count; i++) {
        if (!neighbours || neighbours[i].a >= count || neighbours[i].b >= count) {
            result = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                                 "pair %u of neighbours is not two of %llu items. Fix: pass "
                                 "indices of items",
                                 i, (unsigned long long)count);
        }
    }
    if (result != VYRE_OK) {
        return result;
    }
    vy_arena scratch;
    vy_arena_init(&scratch, &arena->allocator);
    sets s = {.words = 0};
    bool is_done = begin(&s, &scratch, arena, items, (uint32_t)count, (uint32_t)count, params) &&
                   join_regions(&s, &scratch, (uint32_t)count, neighbours, neighbour_count) &&
                   finish(&s, arena, (uint32_t)count, out_lineage);
    vy_arena_finish(&scratch);
    return is_done ? VYRE_OK : vy_diag_no_memory(diag);
}

/* Levels of the graph, and a stable counting sort by them. */
#include "engine/megakernel/waves.h"

/* Of each node the length of the longest path to it, in which joins count nothing; the number of
 * levels. */
static uint32_t find_levels(const vy_mk_graph *graph, uint32_t *levels)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const vy_mk_edge *edge = &graph->edges[i];
        uint32_t least = levels[edge->from] + (edge->from < graph->item_count);
        if (levels[edge->to] < least) {
            levels[edge->to] = least;
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->item_count; i++) {
        count = levels[i] >= count ? levels[i] + 1 : count;
    }
    return count;
}

vyre_result vy_mk_waves_build(vy_arena *arena, const vy_mk_graph *graph, vy_mk_waves *out_waves,
                              vyre_diag *diag)
{
    vy_diag_clear(diag);
    *out_waves = (vy_mk_waves){.waves = NULL};
    const uint32_t count = graph->item_count;
    if (count == 0) {
        return VYRE_OK;
    }
    vy_arena scratch;
    vy_arena_init(&scratch, &arena->allocator);
    uint32_t *levels = vy_arena_alloc(&scratch, graph->node_count, sizeof *levels);
    uint32_t wave_count = levels ? find_levels(graph, levels) : 0;
    vy_mk_wave *waves = levels ? vy_arena_alloc(arena, wave_count, sizeof *waves) : NULL;
    uint32_t *place_of = waves ? vy_arena_alloc(arena, count, sizeof *place_of) : NULL;
    uint32_t *item_at = place_of ? vy_arena_alloc(arena, count, sizeof *item_at) : NULL;
    if (!item_at) {
        vy_arena_finish(&scratch);
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < count; i++) {
        waves[levels[i]].count++;
    }
    for (uint32_t wave = 1; wave < wave_count; wave++) {
        waves[wave].first = waves[wave - 1].first + waves[wave - 1].count;
        waves[wave - 1].count = 0;
    }
    waves[wave_count - 1].count = 0; /* counted again while they are filled */
    for (uint32_t i = 0; i < count; i++) {
        vy_mk_wave *wave = &waves[levels[i]];
        place_of[i] = wave->first + wave->count++;
        item_at[place_of[i]] = i;
    }
    vy_arena_finish(&scratch);
    *out_waves = (vy_mk_waves){waves, wave_count, count, place_of, item_at};
    return VYRE_OK;
}

void vy_mk_waves_arrange(const vy_mk_waves *waves, const vyre_work_item *items,
                         vyre_work_item *out_items)
{
    for (uint32_t i = 0; i < waves->item_count; i++) {
        out_items[i] = items[waves->item_at[i]];
    }
}

/* The edges of a queue: one walk over the items, which keeps for each place who wrote it last and
 * who has read it since.
 *
 * A list that may be depended on again is replaced by one join once an item depends on all of it;
 * a list that a write ends is gone through once and forgotten. So over the walk every access makes
 * a bounded number of edges. */
#include "engine/megakernel/graph.h"

#include <string.h>

/* Nodes in a linked list of cells; first and last: index + 1, 0: empty. */
typedef struct list {
    uint32_t first, last;
} list;

typedef struct cell {
    uint32_t node, next;
} cell;

typedef struct place {
    list writers; /* one, or a group that updates by one commutative opcode */
    list readers; /* since those */
    uint32_t epoch;
    bool is_group;
    uint32_t group_opcode;
    uint32_t base_plus_1, base_hazards; /* what each of a group depends on; 0: nothing */
} place;

typedef struct walk {
    vy_arena scratch;
    vy_arena *arena; /* of the edges */
    vy_mk_map map;
    VY_VEC(place) places;       /* by number */
    VY_VEC(cell) cells;         /* of all lists */
    VY_VEC(uint32_t) last_edge; /* by node: index + 1 of the last edge out of it */
    VY_VEC(vy_mk_edge) edges;
    /* A place of another epoch is untouched since, but for what wrote all words. */
    uint32_t epochs[VY_MK_SPACE_COUNT];
    /* Of all control words together, and of single ones since they were last written together. */
    uint32_t all_writer_plus_1; /* the item; 0: none */
    list all_readers, word_writers, word_readers;
    uint32_t fence_plus_1; /* the last item that orders all; 0: none */
} walk;

static bool is_many(list nodes)
{
    return nodes.first != nodes.last;
}

/* All below fail by the arenas' sticky flags, and do nothing bad after that. */
static void append(walk *w, list *nodes, uint32_t node)
{
    if (nodes->last && w->cells.data[nodes->last - 1].node == node) {
        return;
    }
    if (!vy_vec_push(&w->scratch, &w->cells, (cell){node, 0})) {
        return;
    }
    if (nodes->last) {
        w->cells.data[nodes->last - 1].next = w->cells.count;
    } else {
        nodes->first = w->cells.count;
    }
    nodes->last = w->cells.count;
}

static void connect(walk *w, uint32_t from, uint32_t to, uint32_t hazards)
{
    if (from == to) {
        return;
    }
    uint32_t *last = &w->last_edge.data[from];
    if (*last && w->edges.data[*last - 1].to == to) {
        w->edges.data[*last - 1].hazards |= hazards;
    } else if (vy_vec_push(w->arena, &w->edges, (vy_mk_edge){from, to, hazards})) {
        *last = w->edges.count;
    }
}

static void connect_all(walk *w, list nodes, uint32_t to, uint32_t hazards)
{
    for (uint32_t at = nodes.first; at; at = w->cells.data[at - 1].next) {
        connect(w, w->cells.data[at - 1].node, to, hazards);
    }
}

/* A node that is no item; VY_MK_NONE where there is no memory. */
static uint32_t make_join(walk *w)
{
    if (!vy_vec_push(&w->scratch, &w->last_edge, 0)) {
        return VY_MK_NONE;
    }
    return w->last_edge.count - 1;
}

/* An edge from the list as a whole: if it is long, it becomes a join. */
static void connect_joined(walk *w, list *nodes, uint32_t to, uint32_t hazards)
{
    if (is_many(*nodes)) {
        uint32_t join = make_join(w);
        if (join == VY_MK_NONE) {
            return;
        }
        connect_all(w, *nodes, join, VY_MK_ALL_HAZARDS);
        *nodes = (list){0, 0};
        append(w, nodes, join);
    }
    connect_all(w, *nodes, to, hazards);
}

/* ---- Single places --------------------------------------------------------------------------- */

/* The place's state, which lives until the next call; NULL where there is no memory. */
static place *find_place(walk *w, const vy_mk_access *access)
{
    uint32_t number = vy_mk_map_intern(&w->map, (vy_mk_key){access->place, 0, access->space});
    if (number == VY_MK_NONE ||
        (number == w->places.count && !vy_vec_push(&w->scratch, &w->places, (place){.epoch = 0}))) {
        return NULL;
    }
    place *found = &w->places.data[number];
    if (found->epoch != w->epochs[access->space]) {
        *found = (place){.epoch = w->epochs[access->space]};
        if (access->space == VY_MK_CONTROL && w->all_writer_plus_1) {
            append(w, &found->writers, w->all_writer_plus_1 - 1);
        }
    }
    return found;
}

static void read_place(walk *w, place *at, uint32_t item)
{
    connect_joined(w, &at->writers, item, VY_MK_RAW);
    append(w, &at->readers, item);
}

static void write_place(walk *w, place *at, uint32_t item, uint32_t modes)
{
    uint32_t reads = modes & VY_MK_READ ? VY_MK_RAW : 0;
    connect_all(w, at->writers, item, VY_MK_WAW | reads);
    connect_all(w, at->readers, item, VY_MK_WAR);
    *at = (place){.epoch = at->epoch};
    append(w, &at->writers, item);
}

/* From now on the group's updates depend on `before` and on the readers. */
static void set_base(walk *w, place *at, list before, uint32_t hazards)
{
    const list readers = at->readers;
    at->readers = (list){0, 0};
    if (!before.first && !readers.first) {
        at->base_plus_1 = 0;
    } else if (is_many(before) || is_many(readers) || (before.first && readers.first)) {
        uint32_t join = make_join(w);
        if (join == VY_MK_NONE) {
            return;
        }
        connect_all(w, before, join, hazards);
        connect_all(w, readers, join, VY_MK_WAR);
        at->base_plus_1 = join + 1;
        at->base_hazards = VY_MK_ALL_HAZARDS;
    } else {
        list one = before.first ? before : readers;
        at->base_plus_1 = w->cells.data[one.first - 1].node + 1;
        at->base_hazards = before.first ? hazards : VY_MK_WAR;
    }
}

static void update_place(walk *w, place *at, uint32_t item, uint32_t opcode)
{
    if (!at->is_group || at->group_opcode != opcode) {
        set_base(w, at, at->writers, VY_MK_RAW | VY_MK_WAW);
        at->writers = (list){0, 0};
        at->is_group = true;
        at->group_opcode = opcode;
    } else if (at->readers.first) {
        list before = {0, 0};
        if (at->base_plus_1) {
            append(w, &before, at->base_plus_1 - 1);
        }
        set_base(w, at, before, at->base_hazards);
    }
    if (at->base_plus_1) {
        connect(w, at->base_plus_1 - 1, item, at->base_hazards);
    }
    append(w, &at->writers, item);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void forget_words(walk *w)
{
    const list none = {0, 0};
    w->all_writer_plus_1 = 0;
    w->all_readers = w->word_writers = w->word_readers = none;
    w->epochs[VY_MK_CONTROL]++;
}

static void connect_all_writer(walk *w, uint32_t item, uint32_t hazards)
{
    if (w->all_writer_plus_1) {
        connect(w, w->all_writer_plus_1 - 1, item, hazards);
    }
}

static void touch_all_words(walk *w, uint32_t item, uint32_t modes)
{
    if (modes & VY_MK_WRITE) {
        connect_all_writer(w, item, VY_MK_RAW | VY_MK_WAW);
        connect_all(w, w->word_writers, item, VY_MK_RAW | VY_MK_WAW);
        connect_all(w, w->all_readers, item, VY_MK_WAR);
        connect_all(w, w->word_readers, item, VY_MK_WAR);
        forget_words(w);
        w->all_writer_plus_1 = item + 1;
    } else {
        connect_all_writer(w, item, VY_MK_RAW);
        connect_joined(w, &w->word_writers, item, VY_MK_RAW);
        append(w, &w->all_readers, item);
    }
}

static void touch_place(walk *w, uint32_t item, uint32_t opcode, const vy_mk_access *access)
{
    const uint32_t modes = access->modes;
    if (access->space == VY_MK_CONTROL) {
        if (modes & VY_MK_WRITE) {
            connect_joined(w, &w->all_readers, item, VY_MK_WAR);
        }
        append(w, modes & VY_MK_WRITE ? &w->word_writers : &w->word_readers, item);
    }
    place *at = find_place(w, access);
    if (!at) {
        return;
    }
    if (modes & VY_MK_COMMUTE) {
        update_place(w, at, item, opcode);
    } else if (modes & VY_MK_WRITE) {
        write_place(w, at, item, modes);
    } else {
        read_place(w, at, item);
    }
}

/* Every item since the last one that orders all, and that one. */
static void fence(walk *w, uint32_t item)
{
    for (uint32_t i = w->fence_plus_1 ? w->fence_plus_1 - 1 : 0; i < item; i++) {
        connect(w, i, item, VY_MK_ALL_HAZARDS);
    }
    w->fence_plus_1 = item + 1;
    w->epochs[VY_MK_USER]++;
    forget_words(w);
}

static bool walk_items(walk *w, const vy_mk_effects *table, const vyre_work_item *items,
                       uint32_t count)
{
    if (!vy_vec_reserve(&w->scratch, &w->last_edge, count)) {
        return false;
    }
    w->last_edge.count = count;
    if (count) {
        memset(w->last_edge.data, 0, count * sizeof *w->last_edge.data);
    }
    vy_mk_accesses touched;
    for (uint32_t i = 0; i < count && !w->scratch.failed && !w->arena->failed; i++) {
        vy_mk_list_accesses(table, &items[i], &touched);
        if (touched.orders_all) {
            fence(w, i);
            continue;
        }
        if (w->fence_plus_1) {
            connect(w, w->fence_plus_1 - 1, i, VY_MK_ALL_HAZARDS);
        }
        for (uint32_t k = 0; k < touched.count; k++) {
            if (touched.at[k].space == VY_MK_CONTROL && touched.at[k].place == VY_MK_ALL_WORDS) {
                touch_all_words(w, i, touched.at[k].modes);
            } else {
                touch_place(w, i, items[i].opcode, &touched.at[k]);
            }
        }
    }
    return !w->scratch.failed && !w->arena->failed;
}

vyre_result vy_mk_graph_build(vy_arena *arena, const vy_mk_effects *table,
                              const vyre_work_item *items, uint64_t count, vy_mk_graph *out_graph,
                              vyre_diag *diag)
{
    *out_graph = (vy_mk_graph){.edges = NULL};
    vyre_result result = vy_mk_check_items(items, count, diag);
    if (result != VYRE_OK) {
        return result;
    }
    walk w = {.arena = arena};
    w.last_edge.count = (uint32_t)count;
    if (count > 1) {
        w.last_edge.count = 0;
        vy_arena_init(&w.scratch, &arena->allocator);
        vy_mk_map_init(&w.map, &w.scratch);
        bool is_done = walk_items(&w, table, items, (uint32_t)count);
        vy_arena_finish(&w.scratch);
        if (!is_done) {
            return vy_diag_no_memory(diag);
        }
    }
    *out_graph = (vy_mk_graph){w.edges.data, w.edges.count, (uint32_t)count, w.last_edge.count};
    return VYRE_OK;
}

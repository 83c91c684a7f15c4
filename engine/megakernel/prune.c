/* Pruning: one walk over the items with one hash map, which numbers places and items alike. Each
 * place has the times at which it was last written and last touched; a time is an item's index + 1,
 * and 0 is before all. */
#include "engine/megakernel/prune.h"

#include <string.h>

enum { KEY_ITEM = VY_MK_SPACE_COUNT }; /* places have their space for a kind */

typedef struct times {
    uint32_t written, touched; /* of an item: `written`: when it was last kept */
} times;

typedef struct walk {
    vy_arena scratch;
    vy_mk_map map;
    VY_VEC(times) times; /* by number */
    times any_word;      /* of some control word or all */
    times all_words;     /* of all together */
    uint32_t ordered;    /* when an item that orders all was last kept */
    VY_VEC(vy_mk_pair) pairs;
} walk;

/* Whether all outputs differ, as far as a small bit map can tell. */
static bool outputs_differ(const vyre_work_item *items, uint32_t count)
{
    uint64_t seen[VY_MK_PRUNE_WINDOW / 64] = {0};
    uint32_t low = UINT32_MAX, high = 0;
    if (count > VY_MK_PRUNE_WINDOW) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        low = items[i].output < low ? items[i].output : low;
        high = items[i].output > high ? items[i].output : high;
    }
    if (count > 0 && high - low >= VY_MK_PRUNE_WINDOW) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = items[i].output - low;
        if (seen[bit / 64] >> bit % 64 & 1) {
            return false;
        }
        seen[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    return true;
}

/* VY_MK_NONE where there is no memory. */
static uint32_t number_of(walk *w, vy_mk_key key)
{
    uint32_t number = vy_mk_map_intern(&w->map, key);
    if (number != VY_MK_NONE && number == w->times.count &&
        !vy_vec_push(&w->scratch, &w->times, (times){0, 0})) {
        return VY_MK_NONE;
    }
    return number;
}

static uint32_t number_of_item(walk *w, const vyre_work_item *item)
{
    return number_of(w, (vy_mk_key){(uint64_t)item->opcode << 32 | item->input,
                                    (uint64_t)item->output << 32 | item->param, KEY_ITEM});
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* When the place was last written and touched. */
static times times_of(const walk *w, const vy_mk_access *access)
{
    if (access->place == VY_MK_ALL_WORDS && access->space == VY_MK_CONTROL) {
        return w->any_word;
    }
    times found = {0, 0};
    uint32_t number = vy_mk_map_find(&w->map, (vy_mk_key){access->place, 0, access->space});
    if (number != VY_MK_NONE) {
        found = w->times.data[number];
    }
    if (access->space == VY_MK_CONTROL) {
        found.written = later(found.written, w->all_words.written);
        found.touched = later(found.touched, w->all_words.touched);
    }
    return found;
}

/* Whether an item that does this could run again unseen after it ran at that time. */
static bool is_undisturbed(const walk *w, const vy_mk_accesses *list, uint32_t since)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const vy_mk_access *access = &list->at[i];
        times last = times_of(w, access);
        bool is_changed = access->modes & VY_MK_AS_INPUT ? last.written >= since
                          : access->modes & VY_MK_READ   ? last.written > since
                                                         : false;
        if (is_changed || ((access->modes & VY_MK_WRITE) && last.touched > since)) {
            return false;
        }
    }
    return w->ordered <= since;
}

static void touch(times *at, uint32_t modes, uint32_t now)
{
    at->touched = now;
    at->written = modes & VY_MK_WRITE ? now : at->written;
}

static bool note(walk *w, const vy_mk_accesses *list, uint32_t now)
{
    if (list->orders_all) {
        w->ordered = now;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const vy_mk_access *access = &list->at[i];
        if (access->space == VY_MK_CONTROL) {
            touch(&w->any_word, access->modes, now);
            if (access->place == VY_MK_ALL_WORDS) {
                touch(&w->all_words, access->modes, now);
                continue;
            }
        }
        uint32_t number = number_of(w, (vy_mk_key){access->place, 0, access->space});
        if (number == VY_MK_NONE) {
            return false;
        }
        touch(&w->times.data[number], access->modes, now);
    }
    return true;
}

static bool walk_by_effects(walk *w, const vy_mk_effects *table, const vyre_work_item *items,
                            uint32_t count)
{
    vy_mk_accesses list;
    for (uint32_t i = 0; i < count; i++) {
        vy_mk_list_accesses(table, &items[i], &list);
        if (list.effects & (VY_MK_PURE | VY_MK_IDEMPOTENT)) {
            uint32_t item = number_of_item(w, &items[i]);
            if (item == VY_MK_NONE) {
                return false;
            }
            uint32_t since = w->times.data[item].written;
            if (since && is_undisturbed(w, &list, since)) {
                if (!vy_vec_push(&w->scratch, &w->pairs, (vy_mk_pair){since - 1, i})) {
                    return false;
                }
                continue;
            }
            w->times.data[item].written = i + 1;
        }
        if (!note(w, &list, i + 1)) {
            return false;
        }
    }
    return true;
}

static bool walk_all(walk *w, const vyre_work_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item = number_of_item(w, &items[i]);
        if (item == VY_MK_NONE) {
            return false;
        }
        uint32_t first = w->times.data[item].written;
        if (first == 0) {
            w->times.data[item].written = i + 1;
        } else if (!vy_vec_push(&w->scratch, &w->pairs, (vy_mk_pair){first - 1, i})) {
            return false;
        }
    }
    return true;
}

/* The kept items and the pairs, out of the scratch memory. */
static bool take_out(const walk *w, vy_arena *arena, const vyre_work_item *items, uint32_t count,
                     vy_mk_pruned *out_pruned)
{
    const uint32_t dropped = w->pairs.count;
    if (dropped == 0) {
        return true;
    }
    vyre_work_item *kept = vy_arena_alloc(arena, count - dropped, sizeof *kept);
    vy_mk_pair *pairs = vy_arena_alloc(arena, dropped, sizeof *pairs);
    if (!kept || !pairs) {
        return false;
    }
    uint32_t kept_count = 0, next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (next < dropped && w->pairs.data[next].late == i) {
            next++;
        } else {
            kept[kept_count++] = items[i];
        }
    }
    memcpy(pairs, w->pairs.data, dropped * sizeof *pairs);
    *out_pruned = (vy_mk_pruned){kept, kept_count, pairs, dropped};
    return true;
}

vyre_result vy_mk_prune(vy_arena *arena, const vy_mk_effects *table, vy_mk_prune_rule rule,
                        const vyre_work_item *items, uint64_t count, vy_mk_pruned *out_pruned,
                        vyre_diag *diag)
{
    *out_pruned = (vy_mk_pruned){.items = NULL};
    vyre_result result = vy_mk_check_items(items, count, diag);
    if (result != VYRE_OK) {
        return result;
    }
    if (rule != VY_MK_PRUNE_BY_EFFECTS && rule != VY_MK_PRUNE_UNCONDITIONAL) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%d is no rule for duplicates. Fix: pass one of vy_mk_prune_rule",
                           (int)rule);
    }
    const uint32_t item_count = (uint32_t)count;
    vy_mk_pruned pruned = {items, item_count, NULL, 0};
    if (outputs_differ(items, item_count)) {
        *out_pruned = pruned;
        return VYRE_OK;
    }
    walk w = {.ordered = 0};
    vy_arena_init(&w.scratch, &arena->allocator);
    vy_mk_map_init(&w.map, &w.scratch);
    bool is_done = rule == VY_MK_PRUNE_UNCONDITIONAL
                       ? walk_all(&w, items, item_count)
                       : walk_by_effects(&w, table, items, item_count);
    is_done = is_done && take_out(&w, arena, items, item_count, &pruned);
    vy_arena_finish(&w.scratch);
    if (!is_done) {
        return vy_diag_no_memory(diag);
    }
    *out_pruned = pruned;
    return VYRE_OK;
}

uint32_t vy_mk_prune_credit(const vy_mk_pair *pairs, uint32_t pair_count, uint32_t item_count,
                            uint32_t kept_count, uint32_t done_count)
{
    uint64_t done = done_count < kept_count ? done_count : kept_count;
    for (uint32_t i = 0; done_count >= kept_count && i < pair_count; i++) {
        done += pairs[i].early < pairs[i].late && pairs[i].late < item_count;
    }
    return done < item_count ? (uint32_t)done : item_count;
}

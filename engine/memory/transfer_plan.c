/* See transfer_plan.h. */
#include "engine/memory/transfer_plan.h"

#include <string.h>

bool vy_ranges_overlap(const vy_range *a, const vy_range *b)
{
    return a->key == b->key && a->size > 0 && b->size > 0 && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

/* ---- Sorting ----------------------------------------------------------------------------------
 * Heap sort: qsort may allocate. */

typedef int (*compare_fn)(const void *a, const void *b);

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_ranges(const void *a, const void *b)
{
    const vy_placed_range *x = a, *y = b;
    int order = compare_u64(x->range.key, y->range.key);
    order = order ? order : compare_u64(x->range.offset, y->range.offset);
    return order ? order : compare_u64(x->index, y->index);
}

static int compare_points(const void *a, const void *b)
{
    const vy_point *x = a, *y = b;
    int order = compare_u64(x->key, y->key);
    return order ? order : compare_u64(x->offset, y->offset);
}

#define MAX_ELEMENT 64u

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    unsigned char keep[MAX_ELEMENT];
    memcpy(keep, a, size);
    memcpy(a, b, size);
    memcpy(b, keep, size);
}

static void sift(unsigned char *base, size_t at, size_t count, size_t size, compare_fn compare)
{
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size) < 0) {
            child++;
        }
        if (compare(base + at * size, base + child * size) >= 0) {
            return;
        }
        swap(base + at * size, base + child * size, size);
        at = child;
    }
}

static void sort(void *array, size_t count, size_t size, compare_fn compare)
{
    unsigned char *base = array;
    size_t sorted = 1;
    while (sorted < count && compare(base + (sorted - 1) * size, base + sorted * size) <= 0) {
        sorted++;
    }
    if (sorted >= count) {
        return; /* callers mostly give lists in order */
    }
    for (size_t at = count / 2; at-- > 0;) {
        sift(base, at, count, size, compare);
    }
    for (size_t end = count; end-- > 1;) {
        swap(base, base + end * size, size);
        sift(base, 0, end, size, compare);
    }
}

/* By insertion where they are few: most transfers are. */
static void sort_ranges(vy_placed_range *ranges, uint32_t count)
{
    if (count > 32) {
        sort(ranges, count, sizeof *ranges, compare_ranges);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const vy_placed_range one = ranges[i];
        uint32_t to = i;
        while (to > 0 && compare_ranges(&ranges[to - 1], &one) > 0) {
            ranges[to] = ranges[to - 1];
            to--;
        }
        ranges[to] = one;
    }
}

/* ---- Fusing ---------------------------------------------------------------------------------- */

bool vy_fuse(vy_placed_range *ranges, uint32_t count, vy_region *out_regions,
             uint32_t *out_region_of, vy_fused *out_fused)
{
    const uint64_t limit = (uint64_t)1 << 63;
    uint32_t regions = 0;
    *out_fused = (vy_fused){0, 0};
    sort_ranges(ranges, count);
    for (uint32_t i = 0; i < count; i++) {
        const vy_range *r = &ranges[i].range;
        out_region_of[ranges[i].index] = VY_NO_REGION;
        if (r->size == 0) {
            continue;
        }
        vy_range *last = regions ? &out_regions[regions - 1].range : NULL;
        if (!last || last->key != r->key || r->offset > last->offset + last->size) {
            out_regions[regions++] = (vy_region){.range = *r};
        } else if (r->offset + r->size > last->offset + last->size) {
            last->size = r->offset + r->size - last->offset;
        }
        out_region_of[ranges[i].index] = regions - 1;
    }
    uint64_t start = 0;
    for (uint32_t i = 0; i < regions; i++) {
        uint64_t size = out_regions[i].range.size;
        if (size > limit - start) {
            return false;
        }
        out_regions[i].start = start;
        out_fused->size = start + size;
        start =
            (start + size + VY_REGION_ALIGNMENT - 1) / VY_REGION_ALIGNMENT * VY_REGION_ALIGNMENT;
    }
    out_fused->region_count = regions;
    return true;
}

bool vy_regions_cover(const vy_region *regions, uint32_t count, const vy_range *range)
{
    uint32_t low = 0, high = count; /* the last region that begins at or before the range */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const vy_range *r = &regions[middle].range;
        bool is_before =
            r->key < range->key || (r->key == range->key && r->offset <= range->offset);
        if (is_before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return false;
    }
    const vy_range *r = &regions[low - 1].range;
    return r->key == range->key && range->offset + range->size <= r->offset + r->size;
}

/* ---- Hazards ----------------------------------------------------------------------------------
 * Two segment trees over the ends of all ranges hold, for each elementary range, the last command
 * that wrote it and the last that read it. Commands come in order, so that setting a range is
 * raising it to the greatest number there is. */

typedef struct tree {
    uint32_t *whole; /* by node: last command that covers it */
    uint32_t *most;  /* last command in it */
    uint32_t leaves;
} tree;

typedef struct span {
    uint32_t begin, end; /* leaves */
} span;

static void tree_set(tree *t, span s, uint32_t value)
{
    uint32_t left = s.begin + t->leaves, right = s.end + t->leaves;
    uint32_t first = left, last = right - 1;
    for (; left < right; left /= 2, right /= 2) {
        if (left & 1u) {
            t->whole[left] = t->most[left] = value;
            left++;
        }
        if (right & 1u) {
            right--;
            t->whole[right] = t->most[right] = value;
        }
    }
    for (first /= 2, last /= 2; first > 0; first /= 2, last /= 2) {
        t->most[first] = t->most[last] = value;
    }
}

static uint32_t tree_most(const tree *t, span s)
{
    uint32_t left = s.begin + t->leaves, right = s.end + t->leaves;
    uint32_t first = left, last = right - 1, most = 0;
    for (; left < right; left /= 2, right /= 2) {
        if (left & 1u) {
            most = t->most[left] > most ? t->most[left] : most;
            left++;
        }
        if (right & 1u) {
            right--;
            most = t->most[right] > most ? t->most[right] : most;
        }
    }
    for (first /= 2, last /= 2; first > 0; first /= 2, last /= 2) {
        most = t->whole[first] > most ? t->whole[first] : most;
        most = t->whole[last] > most ? t->whole[last] : most;
    }
    return most;
}

static uint32_t add_ends(vy_point *points, uint32_t count, const vy_range *range)
{
    if (range->size > 0) {
        points[count++] = (vy_point){range->key, range->offset};
        points[count++] = (vy_point){range->key, range->offset + range->size};
    }
    return count;
}

static uint32_t find_point(const vy_point *points, uint32_t count, vy_point wanted)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_points(&points[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static span span_of(const vy_point *points, uint32_t count, const vy_range *range)
{
    return (span){find_point(points, count, (vy_point){range->key, range->offset}),
                  find_point(points, count, (vy_point){range->key, range->offset + range->size})};
}

void vy_find_barriers(const vy_access *accesses, uint32_t count, const vy_hazard_room *room,
                      bool *out_barriers)
{
    uint32_t ends = 0, points = 0;
    bool has_writes = false;
    memset(out_barriers, 0, count * sizeof *out_barriers);
    for (uint32_t i = 0; i < count && !has_writes; i++) {
        has_writes = accesses[i].write.size > 0;
    }
    if (count < 2 || !has_writes) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        ends = add_ends(room->points, ends, &accesses[i].read);
        ends = add_ends(room->points, ends, &accesses[i].write);
    }
    sort(room->points, ends, sizeof *room->points, compare_points);
    for (uint32_t i = 0; i < ends; i++) {
        if (points == 0 || compare_points(&room->points[points - 1], &room->points[i]) != 0) {
            room->points[points++] = room->points[i];
        }
    }
    size_t nodes = (size_t)2 * points;
    tree writes = {room->words, room->words + nodes, points};
    tree reads = {room->words + 2 * nodes, room->words + 3 * nodes, points};
    memset(room->words, 0, 4 * nodes * sizeof *room->words);
    uint32_t since = 1; /* the first command behind the last barrier, from 1 */
    for (uint32_t i = 0; i < count; i++) {
        const vy_access *a = &accesses[i];
        span read = {0, 0}, write = {0, 0};
        uint32_t latest = 0;
        if (a->read.size > 0) {
            read = span_of(room->points, points, &a->read);
            latest = tree_most(&writes, read);
        }
        if (a->write.size > 0) {
            write = span_of(room->points, points, &a->write);
            uint32_t written = tree_most(&writes, write), was_read = tree_most(&reads, write);
            latest = written > latest ? written : latest;
            latest = was_read > latest ? was_read : latest;
        }
        out_barriers[i] = latest >= since;
        since = out_barriers[i] ? i + 1 : since;
        if (a->read.size > 0) {
            tree_set(&reads, read, i + 1);
        }
        if (a->write.size > 0) {
            tree_set(&writes, write, i + 1);
        }
    }
}

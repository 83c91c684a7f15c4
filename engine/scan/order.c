/* The order of hits: files, offsets, rules. */
#include "engine/scan/scanner.h"

#include <string.h>

static bool is_before(const vyre_hit *a, const vyre_hit *b)
{
    if (a->file != b->file) {
        return a->file < b->file;
    }
    return a->offset != b->offset ? a->offset < b->offset : a->rule < b->rule;
}

/* Runs of one offset are as long as rules end there: few. */
void vy_scan_order_rules(vyre_hit *hits, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        vyre_hit hit = hits[i];
        uint64_t to = i;
        while (to > 0 && is_before(&hit, &hits[to - 1])) {
            hits[to] = hits[to - 1];
            to--;
        }
        hits[to] = hit;
    }
}

static void merge_two(const vyre_hit *a, uint64_t a_count, const vyre_hit *b, uint64_t b_count,
                      vyre_hit *out)
{
    while (a_count && b_count) {
        if (is_before(b, a)) {
            *out++ = *b++;
            b_count--;
        } else {
            *out++ = *a++;
            a_count--;
        }
    }
    memcpy(out, a, (size_t)a_count * sizeof *a);
    memcpy(out + a_count, b, (size_t)b_count * sizeof *b);
}

/* Neighbours in pairs, until one run is left. */
void vy_scan_merge(vyre_hit *hits, vyre_hit *spare, const uint64_t *ends, uint32_t count)
{
    uint64_t last = count ? ends[count - 1] : 0;
    vyre_hit *from = hits, *to = spare;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t i = 0; i < count; i += 2 * width) {
            uint64_t start = i ? ends[i - 1] : 0;
            uint64_t middle = ends[i + width - 1 < count ? i + width - 1 : count - 1];
            uint64_t end = ends[i + 2 * width - 1 < count ? i + 2 * width - 1 : count - 1];
            merge_two(from + start, middle - start, from + middle, end - middle, to + start);
        }
        vyre_hit *other = from;
        from = to;
        to = other;
    }
    if (from != hits) {
        memcpy(hits, from, (size_t)last * sizeof *hits);
    }
}

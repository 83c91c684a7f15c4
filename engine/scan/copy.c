/* Copying files into a batch, by several threads where there is much of them: each has a part of
 * the batch's memory. */
#include "engine/scan/scanner.h"

#include <string.h>

#define MOST_THREADS 64u
#define BYTES_FOR_THREAD                                                                           \
    (UINT64_C(2) << 20) /* starting one costs as much as copying some 100 KB                       \
                         */

typedef struct share {
    unsigned char *to;
    const vy_scan_file *places; /* of the batch */
    const vyre_scan_file *files;
    uint32_t count;
    uint64_t first, end; /* bytes of the batch */
} share;

static void copy_share(const share *s)
{
    uint32_t low = 0, high = s->count;
    while (high - low > 1) { /* the last that begins at or before the share, or the first of all */
        uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)s->places[middle].start * 16 <= s->first) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (uint32_t i = low; i < s->count; i++) {
        uint64_t start = (uint64_t)s->places[i].start * 16, end = start + s->places[i].size;
        uint64_t from = start > s->first ? start : s->first;
        uint64_t to = end < s->end ? end : s->end;
        if (start >= s->end) {
            break;
        }
        if (from < to) {
            memcpy(s->to + from, (const unsigned char *)s->files[i].bytes + (from - start),
                   (size_t)(to - from));
        }
    }
}

static vy_thread_result VY_THREAD_CALL run_share(void *argument)
{
    copy_share(argument);
    return 0;
}

void vy_scan_copy(vyre_scan_batch *b, uint32_t first, const vyre_scan_file *files, uint32_t count)
{
    if (!count) {
        return;
    }
    share shares[MOST_THREADS];
    vy_thread threads[MOST_THREADS];
    bool is_started[MOST_THREADS] = {false};
    const vy_scan_file *last = &b->files[first + count - 1];
    uint64_t start = (uint64_t)b->files[first].start * 16;
    uint64_t end = (uint64_t)last->start * 16 + last->size;
    uint64_t wanted = (end - start) / BYTES_FOR_THREAD + 1;
    uint32_t parts = wanted < b->threads ? (uint32_t)wanted : b->threads;
    for (uint32_t i = 0; i < parts; i++) {
        uint64_t at = start + (end - start) / parts * i;
        uint64_t to = i + 1 == parts ? end : start + (end - start) / parts * (i + 1);
        shares[i] = (share){b->bytes, b->files + first, files, count, at, to};
        /* Where one cannot be started this one does its part. */
        is_started[i] = i && vy_thread_start(&threads[i], run_share, &shares[i]) == 0;
    }
    for (uint32_t i = 0; i < parts; i++) {
        if (!is_started[i]) {
            copy_share(&shares[i]);
        }
    }
    for (uint32_t i = 1; i < parts; i++) {
        if (is_started[i]) {
            vy_thread_join(threads[i]);
        }
    }
}

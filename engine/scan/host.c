/* Scanning without a device: file by file, on the calling thread. */
#include "engine/scan/scanner.h"

typedef struct sink {
    vyre_scan_batch *batch;
    uint32_t file;
    vyre_result code;
} sink;

static int take(void *user, const vyre_hit *hit)
{
    sink *to = user;
    vyre_scan_batch *b = to->batch;
    if (b->hit_count == b->hit_room) {
        to->code = vy_scan_batch_room(b, b->hit_count + 1, NULL);
        if (to->code != VYRE_OK) {
            return 1;
        }
    }
    b->hits[b->hit_count] = *hit;
    b->hits[b->hit_count].file = to->file;
    b->hits[b->hit_count++].layer = b->files[to->file].layer;
    return 0;
}

vyre_result vy_scan_on_host(vyre_scanner *s, vyre_scan_batch *b, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    b->hit_count = 0;
    for (uint32_t i = 0; i < b->file_count && code == VYRE_OK; i++) {
        sink to = {b, i, VYRE_OK};
        const vy_scan_file *f = &b->files[i];
        if (!f->size) {
            continue;
        }
        code = vyre_catalogue_scan(s->catalogue, b->bytes + (size_t)f->start * 16, f->size, take,
                                   &to, diag);
        if (code == VYRE_OK && to.code != VYRE_OK) {
            code = vy_diag_no_memory(diag);
        }
        b->report.done_count += s->catalogue->automaton_count;
        b->report.scanned_size += (uint64_t)f->size * s->catalogue->automaton_count;
    }
    b->report.hit_count = b->hit_count;
    b->report.segment_size = VYRE_SEGMENT_WHOLE;
    b->report.queue_length = b->report.done_count;
    return code;
}

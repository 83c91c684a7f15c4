/* Group transfer: many small results with one wait or with one each, and bytes a second. */
#include "tools/vyre-bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_READS = 64, READ_SIZE = 16, MAX_MOVES = 8 };

/* One way of moving `count` ranges of `size` bytes, each of a buffer of its own. */
typedef struct moves {
    bench *bench;
    peer_direction direction;
    uint32_t count;
    uint64_t size;
    bool one_call, device_part; /* of vyre_transfer; of the peer: without the host's copy */
    vyre_buffer buffers[MAX_READS];
    vyre_download downloads[MAX_READS];
    peer_copies *copies;       /* NULL: the library */
    unsigned char *sent, *got; /* count * size bytes */
    uint64_t compared, wrong;
} moves;

typedef struct move_list {
    moves *all[MAX_MOVES];
    uint32_t count;
} move_list;

/* ---- One sample ------------------------------------------------------------------------------ */

static vyre_result run_library(moves *m, vyre_diag *diag)
{
    vyre_device *device = m->bench->device;
    if (m->direction == PEER_UPLOAD) {
        return vyre_buffer_upload(device, m->buffers[0], 0, m->sent, m->size, diag);
    }
    if (m->one_call) {
        vyre_transfer_params params;
        vyre_transfer_params_init(&params);
        params.downloads = m->downloads;
        params.download_count = m->count;
        return vyre_transfer(device, &params, diag);
    }
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < m->count; i++) {
        result =
            vyre_buffer_download(device, m->buffers[i], 0, m->got + i * m->size, m->size, diag);
    }
    return result;
}

static vyre_result run(moves *m, vyre_diag *diag)
{
    if (!m->copies) {
        return run_library(m, diag);
    }
    void *data = m->direction == PEER_UPLOAD ? m->sent : m->got;
    return peer_copies_run(m->copies, m->device_part ? NULL : data, diag);
}

/* Each upload sends something new, and each download must overwrite both its ends. */
static vyre_result sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    moves *m = state;
    size_t last = (size_t)(m->count * m->size) - 1;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        if (m->direction == PEER_UPLOAD && !m->device_part) {
            m->sent[0]++;
        }
        m->got[0] = (unsigned char)~m->sent[0];
        m->got[last] = (unsigned char)~m->sent[last];
        uint64_t start = bench_now_ns();
        result = run(m, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        if (result == VYRE_OK && m->direction == PEER_DOWNLOAD && !m->device_part) {
            m->compared += 2;
            m->wrong += m->got[0] != m->sent[0] ? 1u : 0u;
            m->wrong += m->got[last] != m->sent[last] ? 1u : 0u;
        }
    }
    return result;
}

static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    moves *m = state;
    uint64_t size = m->count * m->size;
    vyre_result result = VYRE_OK;
    if (m->direction == PEER_UPLOAD) {
        memset(m->got, 0, (size_t)size);
        result = m->copies ? peer_copies_fetch(m->copies, m->got, diag)
                           : vyre_buffer_download(m->bench->device, m->buffers[0], 0, m->got,
                                                  m->size, diag);
    }
    *out = (bench_check){m->compared + size, m->wrong};
    for (uint64_t i = 0; i < size; i++) {
        out->wrong += m->got[i] != m->sent[i];
    }
    return result;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static moves *make(bench *b, move_list *list, moves like, vyre_diag *diag)
{
    moves *m = list->count < MAX_MOVES ? malloc(sizeof *m) : NULL;
    size_t size = (size_t)(like.count * like.size);
    if (m) {
        *m = like;
        m->bench = b;
        m->sent = malloc(size);
        m->got = malloc(size);
        list->all[list->count++] = m;
    }
    if (!m || !m->sent || !m->got) {
        (void)vy_diag_no_memory(diag);
        return NULL;
    }
    for (size_t i = 0; i < size; i++) {
        m->sent[i] = (unsigned char)(i * 7 + i / 251);
    }
    memset(m->got, 0, size); /* pages are there before the clock runs */
    return m;
}

static void finish(move_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        moves *m = list->all[i];
        for (uint32_t k = 0; k < m->count; k++) {
            bench_buffer_destroy(m->bench->device, &m->buffers[k]);
        }
        peer_copies_destroy(&m->copies);
        free(m->sent);
        free(m->got);
        free(m);
    }
    list->count = 0;
}

static vyre_result add(bench *b, bench_case *c, move_list *list, const char *way, moves like,
                       vyre_diag *diag)
{
    moves *m = make(b, list, like, diag);
    vyre_result result = m ? VYRE_OK : VYRE_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; result == VYRE_OK && i < m->count; i++) {
        result = bench_buffer_create(b->device, "range", m->sent + i * m->size, m->size,
                                     &m->buffers[i], diag);
        m->downloads[i] = (vyre_download){m->buffers[i], 0, m->size, m->got + i * m->size};
    }
    if (result == VYRE_OK) {
        (void)bench_series_vyre(c, way, b->device, sample, check, m);
    }
    return result;
}

static vyre_result add_peer(bench *b, bench_case *c, move_list *list, const char *way, moves like,
                            vyre_diag *diag)
{
    if (!b->peer) {
        return VYRE_OK;
    }
    moves *m = make(b, list, like, diag);
    if (!m) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    vyre_result result =
        peer_copies_create(b->peer, m->direction, m->count, m->size, &m->copies, diag);
    if (result == VYRE_OK && m->direction == PEER_DOWNLOAD) {
        result = peer_copies_fill(m->copies, m->sent, diag);
    }
    if (result != VYRE_OK) {
        snprintf(b->peer_note, sizeof b->peer_note, "%s", diag->message);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    bench_series *s = bench_series_add(c, "vulkan", way, sample, m->device_part ? NULL : check, m);
    if (m->device_part) {
        snprintf(s->note, sizeof s->note, "the host does not look, so not checked");
    }
    return VYRE_OK;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static vyre_result measure_reads(bench *b, bench_group *group, uint32_t count, vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, "outputs of 16 bytes", "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    move_list list = {.count = 0};
    moves m = {.direction = PEER_DOWNLOAD, .count = count, .size = READ_SIZE, .one_call = true};
    bench_case_size(c, "outputs", count);
    c->base = 1;
    if (count == 16) {
        c->target.value = 18;
        snprintf(c->target.text, sizeof c->target.text,
                 "and at most a third of the blocking reads");
    }
    vyre_result result = add(b, c, &list, "one vyre_transfer", m, diag);
    m.one_call = false;
    if (result == VYRE_OK) {
        result = add(b, c, &list, "a vyre_buffer_download each", m, diag);
    }
    if (result == VYRE_OK) {
        result = add_peer(b, c, &list, "one submission, polled", m, diag);
    }
    bench_series_cuda(b, c, "a cudaMemcpy each", "reads blocking count=%u", count);
    bench_series_cuda(b, c, "cudaMemcpyAsync, one wait", "reads async count=%u", count);
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    finish(&list);
    return result;
}

static vyre_result measure_rate(bench *b, bench_group *group, peer_direction direction,
                                uint64_t size, vyre_diag *diag)
{
    const char *name = direction == PEER_UPLOAD ? "upload" : "download";
    bench_case *c = bench_case_add(b, group, name, "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    move_list list = {.count = 0};
    moves m = {.direction = direction, .count = 1, .size = size};
    bench_case_size(c, "bytes", size);
    c->data_size = size;
    if (b->link.rate > 0) {
        c->limit.value = (double)size / b->link.rate;
        snprintf(c->limit.text, sizeof c->limit.text, "%s", b->link.text);
    }
    vyre_result result =
        add(b, c, &list, direction == PEER_UPLOAD ? "vyre_buffer_upload" : "vyre_buffer_download",
            m, diag);
    if (result == VYRE_OK) {
        result = add_peer(b, c, &list, "memcpy and copy, polled", m, diag);
    }
    c->base = c->series_count > 1 ? 1 : 0;
    m.device_part = true;
    if (result == VYRE_OK) {
        result = add_peer(b, c, &list, "copy of mapped memory alone", m, diag);
    }
    bench_series_cuda(b, c, "cudaMemcpy, pageable", "copy %s pinned=0 size=%llu", name,
                      (unsigned long long)size);
    bench_series_cuda(b, c, "cudaMemcpy, pinned", "copy %s pinned=1 size=%llu", name,
                      (unsigned long long)size);
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    finish(&list);
    return result;
}

vyre_result bench_transfer(bench *b, bench_group *group, vyre_diag *diag)
{
    static const uint32_t counts[] = {1, 4, 16, MAX_READS}, quick_counts[] = {1, 16};
    static const uint64_t sizes[] = {64u << 10, 1u << 20, 16u << 20, 256u << 20},
                          quick_sizes[] = {4u << 10, 256u << 10};
    size_t count = b->quick ? VY_COUNT_OF(quick_counts) : VY_COUNT_OF(counts);
    size_t size_count = b->quick ? VY_COUNT_OF(quick_sizes) : VY_COUNT_OF(sizes);
    vyre_result result = VYRE_OK;
    group->title = "results and contents between host and device";
    for (size_t i = 0; result == VYRE_OK && i < count; i++) {
        result = measure_reads(b, group, b->quick ? quick_counts[i] : counts[i], diag);
    }
    for (size_t i = 0; result == VYRE_OK && i < 2 * size_count; i++) {
        size_t k = i % size_count;
        result = measure_rate(b, group, i < size_count ? PEER_UPLOAD : PEER_DOWNLOAD,
                              b->quick ? quick_sizes[k] : sizes[k], diag);
    }
    return result;
}

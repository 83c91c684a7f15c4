/* Memory for queues. The ring lies in memory that is the device's and mapped, where there is such:
 * the host writes it in place, and nothing is copied. Otherwise it is host memory that each launch
 * uploads. The small buffers are host memory in any case. */
#include "engine/megakernel/dispatcher.h"

#include <string.h>

#define LEAST_RING 4096u

uint64_t vy_mk_ring_capacity(uint64_t size)
{
    uint64_t capacity = LEAST_RING;
    while (capacity < size) {
        capacity *= 2;
    }
    return capacity;
}

static void forget_ring(vyre_dispatcher *d, vy_mk_memory *m)
{
    if (m->ring.bits) {
        vyre_diag ignored;
        vyre_result code = vyre_buffer_release(m->device, &m->ring, &ignored);
        (void)code; /* of a lost device */
    }
    if (m->capacity) {
        vy_mutex_lock(&d->mutex);
        d->counters.arenas--;
        d->counters.arena_size -= m->capacity;
        vy_mutex_unlock(&d->mutex);
    }
    vy_free(&d->allocator, m->host, (size_t)m->capacity);
    m->ring = (vyre_buffer){0};
    m->host = m->mapped = NULL;
    m->capacity = 0;
}

/* Mapped memory of the device; without it, VYRE_OK and nothing mapped. */
static vyre_result map_ring(vy_mk_memory *m, uint64_t capacity, vyre_diag *diag)
{
    vyre_buffer_params params;
    vyre_device_info info;
    vyre_device_get_info(m->device, &info);
    if (info.mappable_memory_size < capacity) {
        return VYRE_OK;
    }
    vyre_buffer_params_init(&params);
    params.size = capacity;
    params.flags = VYRE_BUFFER_MAPPABLE | VYRE_BUFFER_UNINITIALIZED;
    params.name = "queue";
    vyre_result code = vyre_buffer_create(m->device, &params, &m->ring, diag);
    if (code != VYRE_OK) {
        return code;
    }
    int is_coherent = 0;
    if (vyre_buffer_map(m->device, m->ring, &m->mapped, &is_coherent, diag) != VYRE_OK) {
        m->mapped = NULL;
        vy_diag_clear(diag);
        return vyre_buffer_release(m->device, &m->ring, diag);
    }
    m->is_coherent = is_coherent != 0;
    return VYRE_OK;
}

static vyre_result reserve_ring(vyre_dispatcher *d, vy_mk_queue *q, uint64_t size,
                                uint32_t *out_allocations, vyre_diag *diag)
{
    vy_mk_memory *m = &q->memory;
    bool is_there = m->capacity >= size && m->device == q->device;
    vy_mutex_lock(&d->mutex);
    d->counters.arena_hits += is_there ? 1 : 0;
    d->counters.arena_misses += is_there ? 0 : 1;
    vy_mutex_unlock(&d->mutex);
    if (is_there) {
        return VYRE_OK;
    }
    uint64_t capacity = vy_mk_ring_capacity(size);
    forget_ring(d, m);
    m->device = q->device;
    vyre_result code = q->device ? map_ring(m, capacity, diag) : VYRE_OK;
    if (code == VYRE_OK && !m->mapped) {
        m->host = vy_alloc_zeroed(&d->allocator, (size_t)capacity, 1);
        code = m->host ? VYRE_OK : vy_diag_no_memory(diag);
    }
    if (code == VYRE_OK) {
        *out_allocations += m->mapped ? 1 : 0;
        m->capacity = capacity;
        vy_mutex_lock(&d->mutex);
        d->counters.arenas++;
        d->counters.arena_size += capacity;
        vy_mutex_unlock(&d->mutex);
    }
    return code;
}

static vyre_result reserve_host(vyre_dispatcher *d, void **memory, size_t *capacity, size_t size,
                                vyre_diag *diag)
{
    if (*capacity >= size) {
        return VYRE_OK;
    }
    void *grown = vy_realloc(&d->allocator, *memory, *capacity, size);
    if (!grown) {
        return vy_diag_no_memory(diag);
    }
    *memory = grown;
    *capacity = size;
    return VYRE_OK;
}

vyre_result vy_mk_memory_reserve(vyre_dispatcher *d, vy_mk_queue *q, uint64_t size,
                                 uint32_t *out_allocations, vyre_diag *diag)
{
    vy_mk_memory *m = &q->memory;
    *out_allocations = 0;
    vyre_result code = reserve_host(d, &m->control, &m->control_capacity, q->control_size, diag);
    if (code == VYRE_OK && q->params.debug_size) {
        code = reserve_host(d, &m->debug_log, &m->debug_capacity, q->params.debug_size, diag);
    }
    code = code == VYRE_OK ? reserve_ring(d, q, size, out_allocations, diag) : code;
    if (code == VYRE_OK && q->form == VY_DRAIN_OF_RING && !m->host) {
        m->host = vy_alloc_zeroed(&d->allocator, (size_t)m->capacity, 1);
        code = m->host ? VYRE_OK : vy_diag_no_memory(diag);
    }
    return code;
}

void vy_mk_memory_finish(vyre_dispatcher *d, vy_mk_memory *memory)
{
    forget_ring(d, memory);
    vy_free(&d->allocator, memory->control, memory->control_capacity);
    vy_free(&d->allocator, memory->debug_log, memory->debug_capacity);
    *memory = (vy_mk_memory){.capacity = 0};
}

vyre_result vy_mk_memory_sync(const vy_mk_queue *q, uint64_t offset, uint64_t size,
                              vyre_mapped_sync direction, vyre_diag *diag)
{
    const vy_mk_memory *m = &q->memory;
    return m->mapped && !m->is_coherent && size
               ? vyre_buffer_sync_mapped(m->device, m->ring, offset, size, direction, diag)
               : VYRE_OK;
}

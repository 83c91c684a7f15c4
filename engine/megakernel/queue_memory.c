/* Memory for queues. Control and ring lie in memory that is the device's and mapped, where there is
 * such: the host writes them in place, and the last workgroup of a launch writes the control words
 * into the host's memory, so that nothing is copied. Otherwise they are host memory that each
 * launch uploads. */
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/words.h"

#include <string.h>

#define LEAST_RING 4096u
#define PAGE       4096u

uint64_t vy_mk_ring_capacity(uint64_t size)
{
    uint64_t capacity = LEAST_RING;
    while (capacity < size) {
        capacity *= 2;
    }
    return capacity;
}

uint64_t vy_mk_control_room(size_t size)
{
    return ((uint64_t)size + PAGE - 1) / PAGE * PAGE;
}

/* Under the mutex, as other queues ask for it. */
static void set_capacity(vyre_dispatcher *d, vy_mk_memory *m, uint64_t offset, uint64_t capacity)
{
    vy_mutex_lock(&d->mutex);
    d->counters.arenas -= m->ring_capacity ? 1 : 0;
    d->counters.arenas += capacity ? 1 : 0;
    d->counters.arena_size += offset + capacity - m->ring_offset - m->ring_capacity;
    m->ring_offset = offset;
    m->ring_capacity = capacity;
    vy_mutex_unlock(&d->mutex);
}

static void release(vyre_device *device, vyre_buffer *buffer)
{
    vyre_diag ignored;
    if (buffer->bits) {
        vyre_result code = vyre_buffer_release(device, buffer, &ignored);
        (void)code; /* of a lost device */
        *buffer = (vyre_buffer){0};
    }
}

static void forget(vyre_dispatcher *d, vy_mk_memory *m)
{
    release(m->device, &m->buffer);
    release(m->device, &m->result);
    vy_free(&d->allocator, m->host, (size_t)m->ring_capacity);
    m->host = m->mapped = m->result_mapped = NULL;
    set_capacity(d, m, 0, 0);
}

/* A mapped buffer; without such memory VYRE_OK and NULL. */
static vyre_result map(vyre_device *device, uint32_t flag, uint64_t size, vyre_buffer *buffer,
                       void **out_mapped, bool *out_is_coherent, vyre_diag *diag)
{
    vyre_buffer_params params;
    int is_coherent = 0;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.flags = flag | VYRE_BUFFER_UNINITIALIZED;
    params.name = "queue";
    vyre_result code = vyre_buffer_create(device, &params, buffer, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (vyre_buffer_map(device, *buffer, out_mapped, &is_coherent, diag) != VYRE_OK) {
        *out_mapped = NULL;
        release(device, buffer);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    *out_is_coherent = is_coherent != 0;
    return VYRE_OK;
}

static vyre_result map_buffers(vy_mk_memory *m, uint64_t ring_offset, uint64_t capacity,
                               vyre_diag *diag)
{
    vyre_device_info info;
    vyre_device_get_info(m->device, &info);
    if (info.mappable_memory_size < ring_offset + capacity) {
        return VYRE_OK;
    }
    vyre_result code = map(m->device, VYRE_BUFFER_MAPPABLE, ring_offset + capacity, &m->buffer,
                           &m->mapped, &m->is_coherent, diag);
    if (code == VYRE_OK && m->mapped) {
        code = map(m->device, VYRE_BUFFER_READBACK, ring_offset, &m->result, &m->result_mapped,
                   &m->is_result_coherent, diag);
    }
    if (!m->result_mapped) {
        release(m->device, &m->buffer);
        m->mapped = NULL;
    }
    return code;
}

static vyre_result reserve_ring(vyre_dispatcher *d, vy_mk_queue *q, uint64_t size,
                                uint32_t *out_allocations, vyre_diag *diag)
{
    vy_mk_memory *m = &q->memory;
    bool is_there = m->ring_capacity >= size && m->ring_offset >= q->control_size &&
                    m->ring_capacity > 0 && m->device == q->device;
    vy_mutex_lock(&d->mutex);
    d->counters.arena_hits += is_there ? 1 : 0;
    d->counters.arena_misses += is_there ? 0 : 1;
    vy_mutex_unlock(&d->mutex);
    if (is_there) {
        return VYRE_OK;
    }
    uint64_t capacity = vy_mk_ring_capacity(size), offset = vy_mk_control_room(q->control_size);
    forget(d, m);
    m->device = q->device;
    vyre_result code = q->device ? map_buffers(m, offset, capacity, diag) : VYRE_OK;
    if (code == VYRE_OK && !m->mapped) {
        m->host = vy_alloc_zeroed(&d->allocator, (size_t)capacity, 1);
        code = m->host ? VYRE_OK : vy_diag_no_memory(diag);
    }
    if (code == VYRE_OK) {
        *out_allocations += m->mapped ? 2 : 0;
        set_capacity(d, m, offset, capacity);
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
        m->host = vy_alloc_zeroed(&d->allocator, (size_t)m->ring_capacity, 1);
        code = m->host ? VYRE_OK : vy_diag_no_memory(diag);
    }
    return code;
}

void vy_mk_memory_finish(vyre_dispatcher *d, vy_mk_memory *memory)
{
    forget(d, memory);
    vy_free(&d->allocator, memory->control, memory->control_capacity);
    vy_free(&d->allocator, memory->debug_log, memory->debug_capacity);
    *memory = (vy_mk_memory){.ring_capacity = 0};
}

/* ---- Between host and device ----------------------------------------------------------------- */

vyre_result vy_mk_memory_sync(const vy_mk_queue *q, uint64_t offset, uint64_t size,
                              vyre_mapped_sync direction, vyre_diag *diag)
{
    const vy_mk_memory *m = &q->memory;
    return m->mapped && !m->is_coherent && size
               ? vyre_buffer_sync_mapped(m->device, m->buffer, m->ring_offset + offset, size,
                                         direction, diag)
               : VYRE_OK;
}

vyre_result vy_mk_memory_send_control(const vy_mk_queue *q, vyre_diag *diag)
{
    const vy_mk_memory *m = &q->memory;
    if (!m->mapped) {
        return VYRE_OK;
    }
    vy_mk_put(m->control, VY_DRAIN_LEFT, 0);
    vy_mk_put(m->result_mapped, VY_DRAIN_LEFT, 0);
    memcpy(m->mapped, m->control, q->control_size);
    vyre_result code = m->is_coherent
                           ? VYRE_OK
                           : vyre_buffer_sync_mapped(m->device, m->buffer, 0, q->control_size,
                                                     VYRE_MAPPED_TO_DEVICE, diag);
    return code == VYRE_OK && !m->is_result_coherent
               ? vyre_buffer_sync_mapped(m->device, m->result, 0, q->control_size,
                                         VYRE_MAPPED_TO_DEVICE, diag)
               : code;
}

vyre_result vy_mk_memory_fetch_control(vy_mk_queue *q, vyre_diag *diag)
{
    vy_mk_memory *m = &q->memory;
    if (!m->mapped) {
        return VYRE_OK;
    }
    vyre_result code = m->is_result_coherent
                           ? VYRE_OK
                           : vyre_buffer_sync_mapped(m->device, m->result, 0, q->control_size,
                                                     VYRE_MAPPED_FROM_DEVICE, diag);
    if (code != VYRE_OK) {
        return code;
    }
    q->uploaded += q->control_size;
    q->read_back += q->control_size;
    q->report.readback_buffers++;
    if (vy_mk_get(m->result_mapped, VY_DRAIN_LEFT) == 0) {
        /* A handler trapped: its workgroup did not come to the launch's end. */
        q->report.sync_points++;
        return vyre_buffer_download(m->device, m->buffer, 0, m->control, q->control_size, diag);
    }
    memcpy(m->control, m->result_mapped, q->control_size);
    vy_mk_put(m->control, VY_DRAIN_LEFT, 0);
    return VYRE_OK;
}

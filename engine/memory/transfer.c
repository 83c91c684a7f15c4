/* The pool of transfer objects, and their command buffers. What a transfer needs is kept for the
 * next one; what a failed wait leaves behind is parked until it has ended. */
#include "engine/memory/transfer.h"

#define MAX_REGIONS 32u

static uint64_t destroy(vyre_device *device, vy_transfer *t)
{
    uint64_t size = t->upload.size + t->readback.size;
    vy_commands_destroy(device, &t->commands);
    vy_block_destroy(device, &t->upload);
    vy_block_destroy(device, &t->readback);
    vy_free(&device->allocator, t->room, t->room_size);
    vy_free(&device->allocator, t, sizeof *t);
    return size;
}

static uint64_t destroy_list(vyre_device *device, vy_transfer *list)
{
    uint64_t size = 0;
    while (list) {
        vy_transfer *next = list->next;
        vy_queue_drain(device, list->value);
        size += destroy(device, list);
        list = next;
    }
    return size;
}

void vy_transfer_pool_finish(vyre_device *device, vy_transfer_pool *pool)
{
    (void)destroy_list(device, pool->idle);
    (void)destroy_list(device, pool->parked);
    if (pool->has_mutex) {
        vy_mutex_finish(&pool->mutex);
    }
    *pool = (vy_transfer_pool){.idle = NULL};
}

uint64_t vy_transfer_trim(vyre_device *device)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    vy_mutex_lock(&pool->mutex);
    vy_transfer *list = pool->idle;
    pool->idle = NULL;
    vy_mutex_unlock(&pool->mutex);
    return destroy_list(device, list);
}

/* Under the lock: an idle one, or one that was parked and has ended. */
static vy_transfer *take(vyre_device *device, vy_transfer_pool *pool)
{
    vy_transfer *t = pool->idle;
    if (t) {
        pool->idle = t->next;
        return t;
    }
    for (vy_transfer **at = &pool->parked; *at; at = &(*at)->next) {
        if (vy_queue_is_done(device, (*at)->value)) {
            t = *at;
            *at = t->next;
            return t;
        }
    }
    return NULL;
}

vyre_result vy_transfer_acquire(vyre_device *device, vy_transfer **out, vyre_diag *diag)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    vy_mutex_lock(&pool->mutex);
    *out = take(device, pool);
    vy_mutex_unlock(&pool->mutex);
    if (*out) {
        return VYRE_OK;
    }
    vy_transfer *t = vy_alloc_zeroed(&device->allocator, 1, sizeof *t);
    if (!t) {
        return vy_diag_no_memory(diag);
    }
    vyre_result code = vy_commands_create(device, "vyre transfer", &t->commands, diag);
    if (code != VYRE_OK) {
        (void)destroy(device, t);
        return code;
    }
    *out = t;
    return VYRE_OK;
}

void vy_transfer_give_back(vyre_device *device, vy_transfer *t)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    bool done = vy_queue_is_done(device, t->value);
    vy_mutex_lock(&pool->mutex);
    vy_transfer **list = done ? &pool->idle : &pool->parked;
    t->next = *list;
    *list = t;
    vy_mutex_unlock(&pool->mutex);
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* How many steps from `first` on one copy command can hold. */
static uint32_t copies_together(const vy_steps *s, uint32_t first)
{
    const vy_step *from = &s->steps[first];
    uint32_t count = 1;
    while (count < MAX_REGIONS && first + count < s->count) {
        const vy_step *next = &s->steps[first + count];
        if (next->source != from->source || next->target != from->target ||
            (s->barriers && s->barriers[first + count])) {
            break;
        }
        count++;
    }
    return count;
}

static void record(vyre_device *device, VkCommandBuffer commands, const vy_steps *s)
{
    static const vy_barrier between = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER, VY_STAGE_TRANSFER};
    for (uint32_t i = 0; i < s->count;) {
        const vy_step *step = &s->steps[i];
        if (s->barriers && s->barriers[i]) {
            vy_cmd_barrier(device, commands, &between);
        }
        if (!step->source) {
            device->vk.vkCmdFillBuffer(commands, step->target, step->target_offset, step->size,
                                       step->word);
            i++;
            continue;
        }
        VkBufferCopy regions[MAX_REGIONS];
        uint32_t count = copies_together(s, i);
        for (uint32_t r = 0; r < count; r++) {
            regions[r] = (VkBufferCopy){step[r].source_offset, step[r].target_offset, step[r].size};
        }
        device->vk.vkCmdCopyBuffer(commands, step->source, step->target, count, regions);
        i += count;
    }
}

vyre_result vy_transfer_run(vyre_device *device, vy_transfer *t, const vy_steps *steps,
                            vyre_diag *diag)
{
    static const vy_barrier before = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT,
                                      VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, VY_STAGE_TRANSFER};
    vy_barrier after = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER,
                        VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT};
    if (steps->reads_back) {
        after.dst |= VY_STAGE_HOST;
    }
    vyre_result code = vy_commands_begin(device, &t->commands, true, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_cmd_barrier(device, t->commands.buffer, &before);
    record(device, t->commands.buffer, steps);
    vy_cmd_barrier(device, t->commands.buffer, &after);
    code = vy_commands_end(device, &t->commands, diag);
    if (code == VYRE_OK) {
        code = vy_queue_submit(device, t->commands.buffer, "a transfer", &t->value, diag);
    }
    if (code == VYRE_OK) {
        code = vy_queue_wait(device, t->value, UINT64_MAX, "a transfer", diag);
    }
    return code;
}

vyre_result vy_transfer_fill(vyre_device *device, VkBuffer buffer, uint64_t offset, uint64_t size,
                             uint32_t word, vyre_diag *diag)
{
    vy_transfer *t = NULL;
    vyre_result code = vy_transfer_acquire(device, &t, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_step step = {.target = buffer, .target_offset = offset, .size = size, .word = word};
    vy_steps steps = {&step, NULL, 1, false};
    code = vy_transfer_run(device, t, &steps, diag);
    vy_transfer_give_back(device, t);
    return code;
}

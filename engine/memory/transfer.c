/* The pool of transfer objects, and their command buffers: by copy and fill commands, or, since
 * each of those costs more than a dispatch, by kernels where ranges are small. What a transfer
 * needs is kept for the next one; what a failed wait leaves behind is parked until it has ended. */
#include "engine/memory/transfer_moves.h"

#define MAX_REGIONS 32u

static uint64_t destroy(vyre_device *device, vy_transfer *t)
{
    uint64_t size = t->upload.size + t->readback.size + t->blocks.size;
    for (uint32_t i = 0; i < VY_TRANSFER_SLOTS; i++) {
        vy_commands_destroy(device, &t->commands[i]);
    }
    vy_block_destroy(device, &t->upload);
    vy_block_destroy(device, &t->readback);
    vy_block_destroy(device, &t->blocks);
    if (t->set.pool) {
        device->vk.vkDestroyDescriptorPool(device->device, t->set.pool, NULL);
    }
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
    vyre_result code = vy_commands_create(device, "vyre transfer", &t->commands[0], diag);
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

typedef struct recorder {
    vyre_device *device;
    vy_transfer *t;
    const vy_steps *s;
    const vy_moves *moves;
    VkCommandBuffer commands;
    vy_cursor at;
    uint32_t moved; /* parts by kernels that are recorded */
    VkPipeline bound;
} recorder;

static void record_move(recorder *r, const vy_part *part)
{
    uint32_t offset = VY_MOVE_STRIDE * r->moved;
    vy_moves_write(r->device, r->t, r->s, r->moved, part);
    r->device->mover->record(r->device, &part->move, &r->t->set, offset, r->commands, &r->bound);
    r->moved++;
}

/* How many steps from `first` on one copy command can hold. */
static uint32_t copies_together(const recorder *r, uint32_t first)
{
    const vy_steps *s = r->s;
    const vy_step *from = &s->steps[first];
    uint32_t count = 1;
    while (count < MAX_REGIONS && first + count < s->count) {
        const vy_step *next = &s->steps[first + count];
        if (next->source != from->source || next->target != from->target ||
            vy_steps_has_barrier(s, first + count) || vy_moves_has(&r->at, first + count)) {
            break;
        }
        count++;
    }
    return count;
}

static uint32_t record_command(const recorder *r, uint32_t first)
{
    const vy_step *step = &r->s->steps[first];
    if (!step->source) {
        r->device->vk.vkCmdFillBuffer(r->commands, step->target, step->target_offset, step->size,
                                      step->word);
        return 1;
    }
    VkBufferCopy regions[MAX_REGIONS];
    uint32_t count = copies_together(r, first);
    for (uint32_t i = 0; i < count; i++) {
        regions[i] = (VkBufferCopy){step[i].source_offset, step[i].target_offset, step[i].size};
    }
    r->device->vk.vkCmdCopyBuffer(r->commands, step->source, step->target, count, regions);
    return count;
}

static void record(recorder *r)
{
    const vy_steps *s = r->s;
    uint32_t stages = r->moves->steps == 0          ? VY_STAGE_TRANSFER
                      : r->moves->steps == s->count ? VY_STAGE_COMPUTE
                                                    : VY_STAGE_TRANSFER | VY_STAGE_COMPUTE;
    const vy_barrier before = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT,
                               VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, stages};
    const vy_barrier between = {stages, stages, stages};
    vy_barrier after = {stages, stages, VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT};
    if (s->reads_back) {
        after.dst |= VY_STAGE_HOST;
    }
    vy_cmd_barrier(r->device, r->commands, &before);
    vy_part part;
    while (vy_moves_next(&r->at, &part)) {
        if (vy_steps_has_barrier(s, part.first)) {
            vy_cmd_barrier(r->device, r->commands, &between);
        }
        if (part.is_move) {
            record_move(r, &part);
        } else {
            r->at.next = part.first + record_command(r, part.first);
        }
    }
    vy_cmd_barrier(r->device, r->commands, &after);
}

static vyre_result record_anew(vyre_device *device, vy_transfer *t, const vy_steps *s,
                               const vy_moves *moves, vyre_diag *diag)
{
    vy_commands *commands = &t->commands[s->slot];
    bool is_kept = moves->steps == s->count && moves->parts <= VY_KEPT_MOVES;
    vyre_result code = VYRE_OK;
    t->kept.count = s->slot == 0 ? 0 : t->kept.count;
    if (!commands->pool) {
        code = vy_commands_create(device, "vyre transfer", commands, diag);
    }
    if (code == VYRE_OK) {
        code = vy_commands_begin(device, commands, !is_kept, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    recorder r = {.device = device, .t = t, .s = s, .moves = moves, .commands = commands->buffer};
    r.at = vy_moves_begin(t, s, moves);
    record(&r);
    code = vy_commands_end(device, commands, diag);
    if (code == VYRE_OK && is_kept) {
        t->kept.count = moves->parts;
        t->kept.steps = s->count;
        t->kept.reads_back = s->reads_back;
    }
    return code;
}

/* Other steps than those of the commands that are kept, or blocks of theirs that are written anew.
 */
static vyre_result prepare(vyre_device *device, vy_transfer *t, const vy_steps *s, vyre_diag *diag)
{
    vy_moves moves = vy_moves_plan(device, t, s);
    vyre_result code = VYRE_OK;
    if (!vy_moves_reuse(device, t, s, &moves)) {
        code = record_anew(device, t, s, &moves, diag);
    }
    if (code == VYRE_OK && moves.parts > 0) {
        code = vy_moves_flush(device, t, &moves, diag);
    }
    if (code != VYRE_OK) {
        t->kept.count = 0;
    }
    return code;
}

vyre_result vy_transfer_submit(vyre_device *device, vy_transfer *t, const vy_steps *s,
                               vyre_diag *diag)
{
    vyre_result code = vy_moves_repeat(t, s) ? VYRE_OK : prepare(device, t, s, diag);
    if (code != VYRE_OK) {
        return code;
    }
    return vy_queue_submit(device, t->commands[s->slot].buffer, "a transfer", &t->value, diag);
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
    vy_steps steps = {.steps = &step, .count = 1, .is_alone = true};
    code = vy_transfer_submit(device, t, &steps, diag);
    if (code == VYRE_OK) {
        code = vy_queue_wait(device, t->value, UINT64_MAX, "a transfer", diag);
    }
    vy_transfer_give_back(device, t);
    return code;
}

/* The pool of transfer objects, and their command buffers: by copy and fill commands, or, since
 * each of those costs more than a dispatch, by kernels where ranges are small. What a transfer
 * needs is kept for the next one; what a failed wait leaves behind is parked until it has ended. */
#include "engine/memory/transfer.h"

#define MAX_REGIONS 32u
#define MAX_MOVES   4096u /* by kernels, in one submission */
#define MIN_BLOCKS  64u
/* So many moves are worth making the kernels for: drivers take milliseconds to compile them. */
#define WORTH_KERNELS 16u

static uint64_t destroy(vyre_device *device, vy_transfer *t)
{
    uint64_t size = t->upload.size + t->readback.size + t->blocks.size;
    for (uint32_t i = 0; i < VY_TRANSFER_SLOTS; i++) {
        vy_commands_destroy(device, &t->commands[i]);
    }
    vy_block_destroy(device, &t->upload);
    vy_block_destroy(device, &t->readback);
    vy_block_destroy(device, &t->blocks);
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

/* ---- Kernels --------------------------------------------------------------------------------- */

static bool find_move(const vy_step *s, vy_move *out)
{
    bool is_copy = s->source != VK_NULL_HANDLE;
    if (s->size > VY_MAX_MOVE_SIZE || !s->target_address || (is_copy && !s->source_address) ||
        (s->size | s->target_address | s->source_address) % sizeof(uint32_t)) {
        return false;
    }
    *out = (vy_move){is_copy ? s->source_address : 0, s->target_address,
                     (uint32_t)(s->size / sizeof(uint32_t)), s->word};
    return true;
}

/* Validated devices copy by commands, so that the layers see every access. */
static bool have_kernels(vyre_device *device, uint32_t move_count)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    if (move_count == 0 || !device->mover || device->validation > VYRE_VALIDATION_OFF) {
        return false;
    }
    if (atomic_load(&pool->has_kernels)) {
        return true;
    }
    if (atomic_fetch_add(&pool->asked, move_count) + move_count < WORTH_KERNELS) {
        return false;
    }
    if (device->mover->prepare(device, NULL) != VYRE_OK) {
        atomic_store(&pool->asked, 0); /* commands do it as well; later perhaps */
        return false;
    }
    atomic_store(&pool->has_kernels, true);
    return true;
}

/* How many of the steps, from the first on that can be, are made by kernels. */
static uint32_t count_moves(vyre_device *device, vy_transfer *t, const vy_steps *s)
{
    uint32_t count = 0;
    vy_move move;
    for (uint32_t i = 0; s->is_alone && i < s->count && count < MAX_MOVES; i++) {
        count += find_move(&s->steps[i], &move);
    }
    if (!have_kernels(device, count)) {
        return 0;
    }
    uint64_t size = (uint64_t)VY_MOVE_STRIDE * (count < MIN_BLOCKS ? MIN_BLOCKS : count);
    if (t->blocks.size < size) {
        t->kept.count = 0;
        if (vy_block_grow(device, VY_MEMORY_TABLE, size, "vyre moves", &t->blocks, NULL) !=
            VYRE_OK) {
            return 0;
        }
    }
    return vy_block_is_direct(&t->blocks) ? count : 0;
}

static void write_block(vyre_device *device, const vy_transfer *t, uint32_t index,
                        const vy_move *move)
{
    size_t offset = (size_t)VY_MOVE_STRIDE * index;
    device->mover->write_block(move, (unsigned char *)t->blocks.mapped + offset);
}

static bool are_same(const vy_move *a, const vy_move *b)
{
    return a->source == b->source && a->target == b->target && a->count == b->count &&
           a->word == b->word;
}

static bool has_barrier(const vy_steps *s, uint32_t index)
{
    return s->barriers && s->barriers[index];
}

/* Whether the commands are a recording of these steps, all of them moves, but for what is in the
 * blocks. */
static bool is_recorded(const vy_kept *kept, const vy_steps *s)
{
    bool same = kept->count == s->count && kept->reads_back == s->reads_back;
    for (uint32_t i = 0; same && i < s->count; i++) {
        vy_move move;
        const vy_move *old = &kept->moves[i];
        same = find_move(&s->steps[i], &move) && move.count == old->count &&
               !move.source == !old->source && has_barrier(s, i) == kept->barriers[i];
    }
    return same;
}

/* Blocks of a recording that is used again: those that say something else now. */
static vyre_result update_blocks(vyre_device *device, vy_transfer *t, const vy_steps *s,
                                 vyre_diag *diag)
{
    for (uint32_t i = 0; i < s->count; i++) {
        vy_move move;
        (void)find_move(&s->steps[i], &move);
        if (!are_same(&move, &t->kept.moves[i])) {
            t->kept.moves[i] = move;
            write_block(device, t, i, &move);
        }
    }
    return vy_block_flush(device, &t->blocks, 0, (uint64_t)VY_MOVE_STRIDE * s->count, diag);
}

/* ---- Commands -------------------------------------------------------------------------------- */

typedef struct recorder {
    vyre_device *device;
    vy_transfer *t;
    const vy_steps *s;
    VkCommandBuffer commands;
    uint32_t move_count, moved; /* by kernels: all, and those recorded so far */
    VkPipeline bound;
} recorder;

static bool is_by_kernel(const recorder *r, uint32_t index, vy_move *out_move)
{
    return r->moved < r->move_count && find_move(&r->s->steps[index], out_move);
}

static void record_move(recorder *r, const vy_move *move)
{
    VkDeviceAddress block = r->t->blocks.address + (uint64_t)VY_MOVE_STRIDE * r->moved;
    write_block(r->device, r->t, r->moved, move);
    r->device->mover->record(r->device, move, block, r->commands, &r->bound);
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
        vy_move move;
        if (next->source != from->source || next->target != from->target ||
            has_barrier(s, first + count) || is_by_kernel(r, first + count, &move)) {
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
    uint32_t stages = r->move_count == 0          ? VY_STAGE_TRANSFER
                      : r->move_count == s->count ? VY_STAGE_COMPUTE
                                                  : VY_STAGE_TRANSFER | VY_STAGE_COMPUTE;
    const vy_barrier before = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT,
                               VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, stages};
    const vy_barrier between = {stages, stages, stages};
    vy_barrier after = {stages, stages, VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT};
    if (s->reads_back) {
        after.dst |= VY_STAGE_HOST;
    }
    vy_cmd_barrier(r->device, r->commands, &before);
    for (uint32_t i = 0; i < s->count;) {
        vy_move move;
        if (has_barrier(s, i)) {
            vy_cmd_barrier(r->device, r->commands, &between);
        }
        if (is_by_kernel(r, i, &move)) {
            record_move(r, &move);
            i++;
        } else {
            i += record_command(r, i);
        }
    }
    vy_cmd_barrier(r->device, r->commands, &after);
}

static void keep(vy_transfer *t, const vy_steps *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        (void)find_move(&s->steps[i], &t->kept.moves[i]);
        t->kept.barriers[i] = has_barrier(s, i);
    }
    t->kept.count = s->count;
    t->kept.reads_back = s->reads_back;
}

static vyre_result record_anew(vyre_device *device, vy_transfer *t, const vy_steps *s,
                               uint32_t move_count, vyre_diag *diag)
{
    vy_commands *commands = &t->commands[s->slot];
    bool is_kept = move_count == s->count && move_count <= VY_KEPT_MOVES;
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
    recorder r = {device, t, s, commands->buffer, move_count, 0, VK_NULL_HANDLE};
    record(&r);
    code = vy_commands_end(device, commands, diag);
    if (code == VYRE_OK && move_count > 0) {
        code = vy_block_flush(device, &t->blocks, 0, (uint64_t)VY_MOVE_STRIDE * move_count, diag);
    }
    if (code == VYRE_OK && is_kept) {
        keep(t, s);
    }
    return code;
}

vyre_result vy_transfer_submit(vyre_device *device, vy_transfer *t, const vy_steps *s,
                               vyre_diag *diag)
{
    uint32_t move_count = count_moves(device, t, s);
    bool is_again = move_count > 0 && move_count == s->count && is_recorded(&t->kept, s);
    vyre_result code =
        is_again ? update_blocks(device, t, s, diag) : record_anew(device, t, s, move_count, diag);
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

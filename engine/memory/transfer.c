/* Single transfers between the host and the device: staged, submitted and waited for. What a
 * transfer needs is kept for the next one; what a failed wait leaves behind is parked until it has
 * ended. */
#include "engine/memory/memory.h"

#include "engine/device/commands.h"

#include <string.h>

#define PIECE_SIZE ((uint64_t)16 << 20)

struct vy_transfer {
    vy_transfer *next;
    vy_commands commands;
    vy_block upload, readback;
    uint64_t value; /* of the last submission */
};

static void destroy(vyre_device *device, vy_transfer *t)
{
    vy_commands_destroy(device, &t->commands);
    vy_block_destroy(device, &t->upload);
    vy_block_destroy(device, &t->readback);
    vy_free(&device->allocator, t, sizeof *t);
}

void vy_transfer_pool_finish(vyre_device *device, vy_transfer_pool *pool)
{
    for (int list = 0; list < 2; list++) {
        vy_transfer *t = list ? pool->parked : pool->idle;
        while (t) {
            vy_transfer *next = t->next;
            vy_queue_drain(device, t->value);
            destroy(device, t);
            t = next;
        }
    }
    if (pool->has_mutex) {
        vy_mutex_finish(&pool->mutex);
    }
    *pool = (vy_transfer_pool){.idle = NULL};
}

static vyre_result acquire(vyre_device *device, vy_transfer **out, vyre_diag *diag)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    vy_mutex_lock(&pool->mutex);
    vy_transfer *t = pool->idle;
    if (t) {
        pool->idle = t->next;
    } else if (pool->parked && vy_queue_is_done(device, pool->parked->value)) {
        t = pool->parked;
        pool->parked = t->next;
    }
    vy_mutex_unlock(&pool->mutex);
    *out = t;
    if (t) {
        return VYRE_OK;
    }
    t = vy_alloc_zeroed(&device->allocator, 1, sizeof *t);
    if (!t) {
        return vy_diag_no_memory(diag);
    }
    vyre_result code = vy_commands_create(device, "vyre transfer", &t->commands, diag);
    if (code != VYRE_OK) {
        destroy(device, t);
        return code;
    }
    *out = t;
    return VYRE_OK;
}

static void give_back(vyre_device *device, vy_transfer *t)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    bool done = vy_queue_is_done(device, t->value);
    vy_mutex_lock(&pool->mutex);
    vy_transfer **list = done ? &pool->idle : &pool->parked;
    t->next = *list;
    *list = t;
    vy_mutex_unlock(&pool->mutex);
}

typedef enum transfer_kind { UPLOAD, DOWNLOAD, FILL } transfer_kind;

typedef struct piece {
    transfer_kind kind;
    VkBuffer buffer;
    uint64_t offset, size;
    uint32_t word;
} piece;

/* Records, submits and waits. */
static vyre_result carry_out(vyre_device *device, vy_transfer *t, const piece *p, vyre_diag *diag)
{
    static const vy_barrier before = {VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT,
                                      VY_STAGE_COMPUTE | VY_STAGE_TRANSFER, VY_STAGE_TRANSFER};
    static const vy_barrier after = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER,
                                     VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT |
                                         VY_STAGE_HOST};
    vyre_result code = vy_commands_begin(device, &t->commands, true, diag);
    if (code != VYRE_OK) {
        return code;
    }
    VkCommandBuffer commands = t->commands.buffer;
    vy_cmd_barrier(device, commands, &before);
    if (p->kind == FILL) {
        device->vk.vkCmdFillBuffer(commands, p->buffer, p->offset, p->size, p->word);
    } else {
        VkBufferCopy region = {.srcOffset = p->kind == UPLOAD ? 0 : p->offset,
                               .dstOffset = p->kind == UPLOAD ? p->offset : 0,
                               .size = p->size};
        device->vk.vkCmdCopyBuffer(commands, p->kind == UPLOAD ? t->upload.buffer : p->buffer,
                                   p->kind == UPLOAD ? p->buffer : t->readback.buffer, 1, &region);
    }
    vy_cmd_barrier(device, commands, &after);
    code = vy_commands_end(device, &t->commands, diag);
    if (code == VYRE_OK) {
        code = vy_queue_submit(device, commands, "a transfer", &t->value, diag);
    }
    if (code == VYRE_OK) {
        code = vy_queue_wait(device, t->value, UINT64_MAX, "a transfer", diag);
    }
    return code;
}

static uint64_t piece_size(uint64_t left)
{
    return left < PIECE_SIZE ? left : PIECE_SIZE;
}

vyre_result vy_transfer_upload(vyre_device *device, VkBuffer buffer, uint64_t offset,
                               const void *data, uint64_t size, vyre_diag *diag)
{
    vy_transfer *t = NULL;
    vyre_result code = acquire(device, &t, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code =
        vy_block_grow(device, VY_MEMORY_UPLOAD, piece_size(size), "vyre staging", &t->upload, diag);
    for (uint64_t done = 0; code == VYRE_OK && done < size;) {
        piece p = {UPLOAD, buffer, offset + done, piece_size(size - done), 0};
        memcpy(t->upload.mapped, (const unsigned char *)data + done, (size_t)p.size);
        code = vy_block_flush(device, &t->upload, 0, p.size, diag);
        if (code == VYRE_OK) {
            code = carry_out(device, t, &p, diag);
        }
        done += p.size;
    }
    give_back(device, t);
    if (code == VYRE_OK) {
        vy_count(device, uploads, 1);
        vy_count(device, upload_size, size);
    }
    return code;
}

vyre_result vy_transfer_download(vyre_device *device, VkBuffer buffer, uint64_t offset, void *data,
                                 uint64_t size, vyre_diag *diag)
{
    vy_transfer *t = NULL;
    vyre_result code = acquire(device, &t, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_block_grow(device, VY_MEMORY_READBACK, piece_size(size), "vyre readback",
                         &t->readback, diag);
    for (uint64_t done = 0; code == VYRE_OK && done < size;) {
        piece p = {DOWNLOAD, buffer, offset + done, piece_size(size - done), 0};
        code = carry_out(device, t, &p, diag);
        if (code == VYRE_OK) {
            code = vy_block_invalidate(device, &t->readback, 0, p.size, diag);
        }
        if (code == VYRE_OK) {
            memcpy((unsigned char *)data + done, t->readback.mapped, (size_t)p.size);
        }
        done += p.size;
    }
    give_back(device, t);
    if (code == VYRE_OK) {
        vy_count(device, downloads, 1);
        vy_count(device, download_size, size);
    }
    return code;
}

vyre_result vy_transfer_fill(vyre_device *device, VkBuffer buffer, uint64_t offset, uint64_t size,
                             uint32_t word, vyre_diag *diag)
{
    vy_transfer *t = NULL;
    vyre_result code = acquire(device, &t, diag);
    if (code != VYRE_OK) {
        return code;
    }
    piece p = {FILL, buffer, offset, size, word};
    code = carry_out(device, t, &p, diag);
    give_back(device, t);
    return code;
}

/* A fixpoint whose passes end it themselves, in chunks that grow with the root of what has run and
 * are recorded once, one submitted ahead of the one that runs: the best that is known to be written
 * by hand. */
#include "tools/vyre-bench/peers/parts.h"

#include <stdlib.h>
#include <string.h>

enum { TURNS = 4, FIRST = 2, LEAST = 8, ALONE = 10, STATE_SIZE = 8 * TURNS, SEEN_STRIDE = 64 };

typedef struct gated_chunk {
    peer_commands commands;
    uint32_t first, passes;
    uint64_t value; /* of the timeline when it has ended */
} gated_chunk;

struct peer_until {
    peer *peer;
    uint32_t groups, count;
    peer_buffer x, state, seen; /* seen: of every other chunk, the state that it left */
    peer_blocks blocks;         /* one for each turn */
    gated_chunk *chunks;
    uint32_t chunk_count;
};

static vyre_result create_blocks(peer_until *u, uint32_t last, vyre_diag *diag)
{
    unsigned char blocks[TURNS * PEER_BLOCK_SIZE] = {0};
    uint64_t state = peer_buffer_address(u->peer, &u->state);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        const uint64_t addresses[4] = {peer_buffer_address(u->peer, &u->x),
                                       state + 8 * ((turn + TURNS - 1) % TURNS), state + 8 * turn,
                                       state + 8 * ((turn + 1) % TURNS)};
        const uint32_t words[2] = {u->count, last};
        memcpy(blocks + PEER_BLOCK_SIZE * turn, addresses, sizeof addresses);
        memcpy(blocks + PEER_BLOCK_SIZE * turn + sizeof addresses, words, sizeof words);
    }
    return peer_blocks_fill(u->peer, PEER_BLOCK_GATED, blocks, TURNS, &u->blocks, diag);
}

static uint32_t chunk_passes(uint32_t pass)
{
    uint32_t passes = pass ? LEAST : FIRST;
    while ((uint64_t)passes * passes * 4 <= (uint64_t)16 * pass) {
        passes *= 2;
    }
    return passes;
}

static vyre_result record(peer_until *u, uint32_t number, vyre_diag *diag)
{
    peer *p = u->peer;
    gated_chunk *chunk = &u->chunks[number];
    VkCommandBuffer commands = chunk->commands.commands;
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkAccessFlags both = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    vyre_result result = peer_commands_begin(p, &chunk->commands, diag);
    if (result != VYRE_OK) {
        return result;
    }
    peer_block_use(p, PEER_BLOCK_GATED, commands);
    for (uint32_t i = 0; i < chunk->passes; i++) {
        peer_barrier(p, commands, compute, VK_ACCESS_SHADER_WRITE_BIT, compute, both);
        peer_blocks_bind(p, &u->blocks, (chunk->first + i) % TURNS, commands);
        p->vk.vkCmdDispatch(commands, u->groups, 1, 1);
    }
    VkBufferCopy region = {0, number % 2 * SEEN_STRIDE, STATE_SIZE};
    peer_barrier(p, commands, compute, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                 VK_ACCESS_TRANSFER_READ_BIT);
    p->vk.vkCmdCopyBuffer(commands, u->state.buffer, u->seen.buffer, 1, &region);
    /* The next chunk's passes, too, come behind the copy. */
    peer_barrier(p, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                 VK_PIPELINE_STAGE_HOST_BIT | compute, VK_ACCESS_HOST_READ_BIT);
    return peer_commands_end(p, &chunk->commands, diag);
}

static vyre_result make(peer_until *u, uint32_t last, uint32_t limit, vyre_diag *diag)
{
    peer *p = u->peer;
    uint64_t size = (uint64_t)u->count * sizeof(uint32_t);
    vyre_result result = peer_buffer_create(p, size, PEER_MEMORY_ADDRESSED, &u->x, diag);
    if (result == VYRE_OK) {
        result = peer_buffer_create(p, STATE_SIZE, PEER_MEMORY_SHARED, &u->state, diag);
    }
    if (result == VYRE_OK) {
        result =
            peer_buffer_create(p, (uint64_t)2 * SEEN_STRIDE, PEER_MEMORY_TO_HOST, &u->seen, diag);
    }
    if (result == VYRE_OK) {
        result = peer_indices_upload(p, &u->x, u->count, diag);
    }
    if (result == VYRE_OK) {
        result = create_blocks(u, last, diag);
    }
    for (uint32_t pass = 0; pass < limit; pass += chunk_passes(pass)) {
        u->chunk_count++;
    }
    u->chunks = calloc(u->chunk_count, sizeof *u->chunks);
    if (!u->chunks) {
        return vy_diag_no_memory(diag);
    }
    uint32_t pass = 0;
    for (uint32_t i = 0; result == VYRE_OK && i < u->chunk_count; i++) {
        uint32_t passes = chunk_passes(pass);
        u->chunks[i].first = pass;
        u->chunks[i].passes = passes < limit - pass ? passes : limit - pass;
        pass += passes;
        result = peer_commands_create(p, false, &u->chunks[i].commands, diag);
        result = result == VYRE_OK ? record(u, i, diag) : result;
    }
    return result;
}

vyre_result peer_until_create(peer *p, uint32_t groups, uint32_t last, uint32_t limit,
                              peer_until **out_until, vyre_diag *diag)
{
    peer_until *u = calloc(1, sizeof *u);
    *out_until = NULL;
    if (!u) {
        return vy_diag_no_memory(diag);
    }
    u->peer = p;
    u->groups = groups;
    u->count = groups * 256;
    vyre_result result = make(u, last, limit, diag);
    if (result != VYRE_OK) {
        peer_until_destroy(&u);
    }
    *out_until = u;
    return result;
}

void peer_until_destroy(peer_until **until)
{
    peer_until *old = *until;
    if (old) {
        peer *p = old->peer;
        for (uint32_t i = 0; old->chunks && i < old->chunk_count; i++) {
            peer_commands_destroy(p, &old->chunks[i].commands);
        }
        peer_blocks_destroy(p, &old->blocks);
        peer_buffer_destroy(p, &old->x);
        peer_buffer_destroy(p, &old->state);
        peer_buffer_destroy(p, &old->seen);
        free(old->chunks);
    }
    free(old);
    *until = NULL;
}

static vyre_result submit(peer_until *u, uint32_t number, vyre_diag *diag)
{
    gated_chunk *chunk = &u->chunks[number];
    vyre_result result = peer_commands_submit(u->peer, &chunk->commands, PEER_WAIT_POLL, diag);
    chunk->value = u->peer->value;
    return result;
}

static vyre_result wait(peer_until *u, uint32_t number, vyre_diag *diag)
{
    peer *p = u->peer;
    uint64_t value = 0;
    vyre_result result = VYRE_OK;
    while (result == VYRE_OK && value < u->chunks[number].value) {
        result = PEER_CALL(p, vkGetSemaphoreCounterValue, p->device, p->timeline, &value);
    }
    u->chunks[number].commands.is_pending = result != VYRE_OK;
    return result;
}

vyre_result peer_until_run(peer_until *u, uint32_t *out_passes, vyre_diag *diag)
{
    const uint32_t start[2 * TURNS] = {[2 * (TURNS - 1)] = 1};
    uint32_t submitted = 0, seen[2 * TURNS] = {0};
    bool is_over = false;
    vyre_result result = VYRE_OK;
    memcpy(u->state.mapped, start, sizeof start);
    for (uint32_t done = 0; result == VYRE_OK && done < u->chunk_count && !is_over; done++) {
        const gated_chunk *chunk = &u->chunks[done];
        uint32_t ahead = chunk->first >= ALONE ? 2 : 1, end = chunk->first + chunk->passes;
        while (result == VYRE_OK && submitted < u->chunk_count && submitted < done + ahead) {
            result = submit(u, submitted++, diag);
        }
        result = result == VYRE_OK ? wait(u, done, diag) : result;
        memcpy(seen, (unsigned char *)u->seen.mapped + done % 2 * SEEN_STRIDE, sizeof seen);
        is_over = seen[2 * ((end - 1) % TURNS)] == 0;
        *out_passes = seen[2 * (end % TURNS) + 1];
    }
    /* What was submitted in vain. */
    vyre_result rest = submitted ? wait(u, submitted - 1, diag) : VYRE_OK;
    return result == VYRE_OK ? rest : result;
}

vyre_result peer_until_read(peer_until *u, uint32_t *out_x, vyre_diag *diag)
{
    return peer_buffer_read(u->peer, &u->x, out_x, diag);
}

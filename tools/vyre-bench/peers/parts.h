/* What the files of the peer in plain Vulkan share. */
#ifndef VY_BENCH_PEERS_PARTS_H
#define VY_BENCH_PEERS_PARTS_H

#include "codegen/base/base.h"
#include "tools/vyre-bench/peers/vulkan.h"
#include "vyre/vulkan.h"

#include <volk.h>

/* Of items.comp: [0] drains a queue, the others run an item of one opcode. */
typedef struct item_pipelines {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline all[1 + BENCH_OPCODES];
} item_pipelines;

/* Of block.comp and gated.comp, which have a uniform block with a dynamic offset alone. */
typedef enum peer_block_shader {
    PEER_BLOCK_STEP,
    PEER_BLOCK_GATED,
    PEER_BLOCK_SHADERS
} peer_block_shader;
typedef struct block_pipelines {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline all[PEER_BLOCK_SHADERS];
} block_pipelines;

struct peer {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    struct VolkDeviceTable vk;
    vyre_feature_chain chain;
    VkPhysicalDeviceMemoryProperties memory;
    double timestamp_ns; /* 0: none */
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value; /* the last one that a submission signals */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline step;       /* no handle: built without its words */
    item_pipelines items;  /* made when they are first used */
    block_pipelines block; /* so are these */
    peer_link link;
};

typedef struct peer_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *mapped; /* NULL where the memory is the device's */
    uint64_t size;
} peer_buffer;

typedef enum peer_memory {
    PEER_MEMORY_DEVICE,
    PEER_MEMORY_ADDRESSED, /* the device's, with an address, and for uniform blocks */
    PEER_MEMORY_SHARED,    /* mapped, with an address; the device's own where that can be mapped */
    PEER_MEMORY_TO_DEVICE,
    PEER_MEMORY_TO_HOST
} peer_memory;

/* VYRE_OK or a typed error naming the call. */
vyre_result peer_check(VkResult result, const char *call, vyre_diag *diag);
#define PEER_CALL(p, name, ...) peer_check((p)->vk.name(__VA_ARGS__), #name, diag)

/* Mapped memory is coherent. */
vyre_result peer_buffer_create(peer *p, uint64_t size, peer_memory where, peer_buffer *out,
                               vyre_diag *diag);
void peer_buffer_destroy(peer *p, peer_buffer *buffer);
/* Of ADDRESSED and SHARED ones. */
uint64_t peer_buffer_address(peer *p, const peer_buffer *buffer);

/* A command buffer with what watches it. */
typedef struct peer_commands {
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool queries; /* two timestamps; no handle: none */
    peer_wait how;
    bool is_pending;
} peer_commands;
vyre_result peer_commands_create(peer *p, bool timed, peer_commands *out, vyre_diag *diag);
void peer_commands_destroy(peer *p, peer_commands *c);
/* Between these the caller records. */
vyre_result peer_commands_begin(peer *p, peer_commands *c, vyre_diag *diag);
vyre_result peer_commands_end(peer *p, peer_commands *c, vyre_diag *diag);
vyre_result peer_commands_submit(peer *p, peer_commands *c, peer_wait how, vyre_diag *diag);
vyre_result peer_commands_wait(peer *p, peer_commands *c, vyre_diag *diag);
uint64_t peer_commands_device_ns(peer *p, peer_commands *c);

/* A copy between a buffer and mapped memory, with a command buffer of its own. */
vyre_result peer_copy_now(peer *p, const peer_buffer *source, const peer_buffer *target,
                          uint64_t size, vyre_diag *diag);
void peer_items_destroy_pipelines(peer *p);

/* All of a buffer, to the host. */
vyre_result peer_buffer_read(peer *p, const peer_buffer *buffer, void *out_data, vyre_diag *diag);
/* To words that are their own indices. */
vyre_result peer_indices_upload(peer *p, const peer_buffer *buffer, uint32_t count,
                                vyre_diag *diag);

/* ---- block.c --------------------------------------------------------------------------------- */

#define PEER_BLOCK_SIZE 64u

/* Uniform blocks on the device, to choose from. All zero: none. */
typedef struct peer_blocks {
    peer_buffer memory;
    VkDescriptorPool pool;
    VkDescriptorSet set;
} peer_blocks;
/* `contents`: PEER_BLOCK_SIZE bytes for each. Makes the shader's pipeline too. */
vyre_result peer_blocks_fill(peer *p, peer_block_shader shader, const void *contents,
                             uint32_t block_count, peer_blocks *out, vyre_diag *diag);
/* Of the step: one for each of some buffers, which are ADDRESSED, with their addresses. */
vyre_result peer_blocks_create(peer *p, const peer_buffer *x, uint32_t buffer_count, uint32_t count,
                               peer_blocks *out, vyre_diag *diag);
void peer_blocks_destroy(peer *p, peer_blocks *blocks);
/* The pipeline; the block of that number. */
void peer_block_use(peer *p, peer_block_shader shader, VkCommandBuffer commands);
void peer_blocks_bind(peer *p, const peer_blocks *blocks, uint32_t which, VkCommandBuffer commands);
void peer_block_destroy_pipelines(peer *p);

/* A global memory barrier. */
void peer_barrier(peer *p, VkCommandBuffer commands, VkPipelineStageFlags from_stage,
                  VkAccessFlags from, VkPipelineStageFlags to_stage, VkAccessFlags to);

#endif

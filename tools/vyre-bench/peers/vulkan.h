/* A peer in plain Vulkan, written by hand as a careful programmer would: command buffers recorded
 * once, descriptor sets written once, one memory barrier between dispatches, completion by a fence
 * or by polling a timeline semaphore. Nothing of the library is in it, so that ratios mean
 * something; its device can be adopted. Thread-safety: external. */
#ifndef VY_BENCH_PEERS_VULKAN_H
#define VY_BENCH_PEERS_VULKAN_H

#include "tools/vyre-bench/peers/items.h"
#include "vyre/dispatch.h"

#include <stdbool.h>

typedef struct peer peer;

/* A device of its own on the physical device that `wanted` describes. Errors: UNSUPPORTED_FEATURE
 * (the tool was built without glslangValidator), NO_DEVICE, DISPATCH_FAILED (a VkResult). */
vyre_result peer_create(const vyre_device_info *wanted, peer **out_peer, vyre_diag *diag);
void peer_destroy(peer **p);
/* ---- Chains of steps (x = 3x + 1) ------------------------------------------------------------ */

enum { PEER_SETS = 4, PEER_SIDE = 16 };
#define PEER_BARRIERS  1u /* a memory barrier behind each step */
#define PEER_READ_BACK 2u /* the first 16 bytes are copied to the host behind the last */
#define PEER_TIMED     4u /* timestamps at both ends */
/* A step is a dispatch on each of PEER_SIDE buffers, with the barrier behind all of them. */
#define PEER_SIDE_BY_SIDE 8u
#define PEER_BLOCK        16u /* parameters by a uniform block with a dynamic offset, data by address */

/* One command buffer of `steps` dispatches of `groups` workgroups of 256, recorded at creation on
 * the first of PEER_SETS buffers, whose elements begin as their indices. */
typedef struct peer_chain peer_chain;
vyre_result peer_chain_create(peer *p, uint32_t groups, uint32_t steps, uint32_t flags,
                              peer_chain **out_chain, vyre_diag *diag);
void peer_chain_destroy(peer_chain **chain);
/* Records it again, on another of the buffers; not while it is in flight. */
vyre_result peer_chain_record(peer_chain *chain, uint32_t set, vyre_diag *diag);
/* How the host learns of the end: what is submitted with the commands is only what that needs. */
typedef enum peer_wait { PEER_WAIT_POLL, PEER_WAIT_FENCE } peer_wait;
vyre_result peer_chain_submit(peer_chain *chain, peer_wait how, vyre_diag *diag);
vyre_result peer_chain_wait(peer_chain *chain, vyre_diag *diag);
/* From before the first dispatch to behind the last, after the wait; UINT64_MAX: not TIMED, or a
 * device without timestamps. */
uint64_t peer_chain_device_ns(peer_chain *chain);
/* The 16 bytes of PEER_READ_BACK, after the wait. */
const uint32_t *peer_chain_first(const peer_chain *chain);
vyre_result peer_chain_read(peer_chain *chain, uint32_t set, uint32_t *out_x, vyre_diag *diag);

/* ---- Fixpoints of the step ------------------------------------------------------------------- */

/* Passes of the step until one changes nothing, which is the one of number `last`, at most `limit`;
 * on a buffer of its own whose elements begin as their indices. Errors besides: a device without
 * buffer addresses. */
typedef struct peer_until peer_until;
vyre_result peer_until_create(peer *p, uint32_t groups, uint32_t last, uint32_t limit,
                              peer_until **out_until, vyre_diag *diag);
void peer_until_destroy(peer_until **until);
/* Polls; how many passes have run. */
vyre_result peer_until_run(peer_until *until, uint32_t *out_passes, vyre_diag *diag);
vyre_result peer_until_read(peer_until *until, uint32_t *out_x, vyre_diag *diag);

/* ---- Copies ---------------------------------------------------------------------------------- */

typedef enum peer_direction { PEER_UPLOAD, PEER_DOWNLOAD, PEER_DEVICE } peer_direction;

/* `count` ranges of `size` bytes each, one behind the other on the host's side and 256 bytes apart
 * at least on the device's, by one command buffer that is recorded at creation. */
typedef struct peer_copies peer_copies;
vyre_result peer_copies_create(peer *p, peer_direction direction, uint32_t count, uint64_t size,
                               peer_copies **out_copies, vyre_diag *diag);
void peer_copies_destroy(peer_copies **copies);
/* Contents of the device's side, range after range without gaps. */
vyre_result peer_copies_fill(peer_copies *copies, const void *data, vyre_diag *diag);
vyre_result peer_copies_fetch(peer_copies *copies, void *out_data, vyre_diag *diag);
/* Of PEER_DEVICE: what runs have left. */
vyre_result peer_copies_fetch_target(peer_copies *copies, void *out_data, vyre_diag *diag);
/* Copies between `data` and the mapped memory, submits and polls; NULL: the device's part alone. */
vyre_result peer_copies_run(peer_copies *copies, void *data, vyre_diag *diag);
/* Of PEER_DEVICE, after a run. */
uint64_t peer_copies_device_ns(peer_copies *copies);

/* ---- Work items ------------------------------------------------------------------------------ */

typedef enum peer_items_way {
    PEER_ITEMS_RECORDED, /* a dispatch of one invocation for each, recorded at creation */
    PEER_ITEMS_ANEW,     /* the same, recorded for each run */
    PEER_ITEMS_QUEUE     /* one dispatch that takes them from a queue, which is uploaded each run */
} peer_items_way;

/* Items of items.h on a buffer of their own, without barriers between them. Dispatches stand in the
 * order of their opcodes, so that a pipeline is bound once. `items` stay the caller's and must stay
 * valid. */
typedef struct peer_items peer_items;
vyre_result peer_items_create(peer *p, peer_items_way way, const bench_item *items, uint32_t count,
                              peer_items **out_items, vyre_diag *diag);
void peer_items_destroy(peer_items **items);
/* From the items to the polled end. */
vyre_result peer_items_run(peer_items *items, vyre_diag *diag);
/* The results, a word for each item. */
vyre_result peer_items_clear(peer_items *items, vyre_diag *diag);
vyre_result peer_items_read(peer_items *items, uint32_t *out_words, vyre_diag *diag);

/* The items one after the other on one core. */
void peer_items_on_cpu(uint32_t *data, const bench_item *items, uint32_t count);

/* ---- Programs -------------------------------------------------------------------------------- */

enum { PEER_MAX_BUFFERS = 8 };

/* Of peers/NAME.comp and shaders/glsl/NAME.comp, which say what their buffers and words mean. */
typedef enum peer_shader {
    PEER_SHADER_STREAM,
    PEER_SHADER_SUM,
    PEER_SHADER_SPMV,
    PEER_SHADER_HISTOGRAM,
    PEER_SHADER_SCAN,
    PEER_SHADER_COMPACT,
    PEER_SHADER_APPEND,
    PEER_SHADER_PRODUCTS,
    PEER_SHADER_MATMUL,
    PEER_SHADER_RADIX,
    PEER_SHADER_BFS,
    PEER_SHADER_LOOP,
    PEER_SHADER_STAY,
    PEER_SHADERS
} peer_shader;

/* A dispatch, with a memory barrier before it if it is not the first. */
typedef struct peer_step {
    peer_shader shader;
    uint32_t kind; /* constant 0 of the shader; below 8 */
    uint32_t groups, count, phase, a, b;
} peer_step;

/* What a buffer is before a run: another one's contents, or zeros. */
typedef struct peer_reset {
    uint32_t buffer, from;
    bool is_copy;
} peer_reset;

typedef struct peer_program_params {
    uint64_t sizes[PEER_MAX_BUFFERS]; /* bytes of the buffers, which are bindings 0, 1, ... */
    uint32_t buffer_count;
    const peer_step *steps;
    uint32_t step_count;
    const peer_reset *resets;
    uint32_t reset_count;
} peer_program_params;

/* Everything is recorded at creation. */
typedef struct peer_program peer_program;
vyre_result peer_program_create(peer *p, const peer_program_params *params,
                                peer_program **out_program, vyre_diag *diag);
void peer_program_destroy(peer_program **program);
/* All of a buffer. */
vyre_result peer_program_write(peer_program *program, uint32_t buffer, const void *data,
                               vyre_diag *diag);
vyre_result peer_program_read(peer_program *program, uint32_t buffer, void *out_data,
                              vyre_diag *diag);
/* The resets, then the steps: each submits and polls. */
vyre_result peer_program_reset(peer_program *program, vyre_diag *diag);
vyre_result peer_program_run(peer_program *program, vyre_diag *diag);
/* From before the first step to behind the last, after a run; UINT64_MAX: no timestamps. */
uint64_t peer_program_device_ns(peer_program *program);

/* ---- The library on the peer's device ---------------------------------------------------------
 */

/* Destroyed before the peer. */
vyre_result peer_adopt(peer *p, vyre_device **out_device, vyre_diag *diag);
/* Records a run into a command buffer of the peer's, submits it, polls, and takes the recording
 * down again: what a host pays that keeps nothing. */
vyre_result peer_record_and_run(peer *p, vyre_pipeline *pipeline,
                                const vyre_dispatch_params *dispatch, uint32_t *out_passes,
                                vyre_diag *diag);

/* ---- The link -------------------------------------------------------------------------------- */

typedef struct peer_link {
    double rate;   /* bytes a microsecond, each way, after encoding; 0: not known */
    char text[96]; /* "PCIe 32.0 GT/s x16" */
} peer_link;
void peer_get_link(const peer *p, peer_link *out_link);

#endif

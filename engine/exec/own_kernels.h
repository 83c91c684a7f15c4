/* The engine's own kernels between those of a program: the grid's, one workgroup before the passes,
 * which reads what the program's `grid from` names; and fills, copies and gathers of memory that
 * recorded commands must not name. They are made once for a device. Here too: the words of a
 * dispatch's state. */
#ifndef VY_OWN_KERNELS_H
#define VY_OWN_KERNELS_H

#include "engine/pipeline/pipeline.h"

/* Bindings of the grid's set: TARGET is the parameter block that it writes, BLOCK its own. */
enum { VY_GRID_COUNTS, VY_GRID_STATE, VY_GRID_TARGET, VY_GRID_BLOCK, VY_GRID_BINDINGS };

/* Words of the dispatch's state, behind those of codegen/spirv/interface.h. */
enum {
    VY_STATE_ARGUMENTS = VY_STATE_MODULE_WORDS, /* 3: of indirect dispatches, by `grid from` */
    VY_STATE_CLAMPED =
        VY_STATE_ARGUMENTS + 3, /* 1: the buffer of `grid from` has more workgroups than may run */
    VY_STATE_GROUPS,            /* 3: its workgroups that run */
    VY_STATE_CONVERGED = VY_STATE_GROUPS + 3, /* of the strategy workgroup alone: 1, a pass left
                                                 the flag zero */
    VY_STATE_WORDS
};
/* Which flag word of the state is that of a dispatch's n-th pass; which word says how many passes
 * have run before it. */
static inline uint32_t vy_state_flag(uint32_t pass)
{
    return VY_STATE_FLAGS + pass % VY_STATE_TURNS;
}
static inline uint32_t vy_state_passes(uint32_t pass)
{
    return VY_STATE_PASSES + pass % VY_STATE_TURNS;
}

/* Words of the parameter blocks, with those addresses that are read. */
#define VY_GRID_BLOCK_WORDS   48u
#define VY_MOVE_BLOCK_WORDS   36u
#define VY_GATHER_BLOCK_WORDS 40u

/* What is made for each way of binding. */
typedef struct vy_own_kernel {
    vy_layout layout;
    VkPipeline pipeline;
} vy_own_kernel;

typedef struct vy_engine_kernels {
    vy_mutex mutex;
    bool has_mutex;
    vy_own_kernel grids[VY_INTERFACES];
    vy_own_kernel fill, copy, gather; /* the address form alone */
} vy_engine_kernels;

bool vy_engine_kernels_init(vy_engine_kernels *kernels);
void vy_engine_kernels_finish(vyre_device *device, vy_engine_kernels *kernels);
/* Makes what pipelines of this way need and is not there yet; `which`: VY_NEEDS_*. */
#define VY_NEEDS_GRID  1u
#define VY_NEEDS_MOVES 2u
vyre_result vy_engine_kernels_prepare(vyre_device *device, const vy_binder *binder, uint32_t which,
                                      vyre_diag *diag);
/* What a pipeline's dispatches need, with kernels for transfers or without. */
uint32_t vy_engine_needs(const vyre_pipeline *pipeline, bool has_moves);
/* Of the address form, for transfers alone. */
vyre_result vy_engine_gather_prepare(vyre_device *device, const vy_binder *binder, vyre_diag *diag);

/* What the kernel of a program's grid reads: `limit` workgroups may run, of `volume` invocations.
 * Addresses are 0 in the descriptor forms. */
typedef struct vy_grid {
    uint32_t limit, volume, length;
    uint32_t block_count, block_stride, block_words; /* words apart; words of all */
    uint32_t most[3];                                /* maxComputeWorkGroupCount */
    VkDeviceAddress counts, state, block;
} vy_grid;
void vy_grid_fill_block(const vy_grid *grid, uint32_t *out_words);
void vy_fill_fill_block(uint32_t count, uint32_t word, VkDeviceAddress target, uint32_t *out_words);
void vy_copy_fill_block(uint32_t count, VkDeviceAddress source, VkDeviceAddress target,
                        uint32_t *out_words);
/* Words of single places: `table` has two for each of `count`, and the spans are the words from the
 * addresses on that it reaches. */
typedef struct vy_gather {
    uint32_t count, source_span, target_span;
    VkDeviceAddress source, table, target;
} vy_gather;
void vy_gather_fill_block(const vy_gather *gather, uint32_t *out_words);
/* The grid of a fill, copy or gather of so many words. */
void vy_move_launch(const vy_snapshot *snapshot, uint32_t count, uint32_t out_groups[3]);

#endif

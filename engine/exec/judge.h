/* The judge: one workgroup after a pass, which decides on the device whether another one runs. */
#ifndef VY_JUDGE_H
#define VY_JUDGE_H

#include "engine/pipeline/pipeline.h"

/* Bindings of its set; its parameter block is VY_JUDGE_BLOCK_WORDS long. */
enum { VY_JUDGE_FLAG, VY_JUDGE_STATE, VY_JUDGE_BLOCK, VY_JUDGE_BINDINGS };

/* Words of the fixpoint's state. */
enum {
    VY_STATE_PASSES,    /* that have run */
    VY_STATE_CONVERGED, /* 1: a pass left the flag zero */
    VY_STATE_LIMIT,     /* passes that may run */
    VY_STATE_DONE,      /* 1: no other pass runs */
    VY_STATE_ARGUMENTS, /* 3: of the segments' indirect dispatches; zero when done */
    VY_STATE_WORDS = 8
};

#define VY_JUDGE_BLOCK_WORDS (VY_PARAM_LENGTHS + 2u)

vyre_result vy_judge_create(vyre_device *device, vy_layout *out_layout, VkPipeline *out_pipeline,
                            vyre_diag *diag);
/* `flag_length`: elements of the flag's buffer. */
void vy_judge_fill_block(uint32_t flag_length, uint32_t *out_words);

#endif

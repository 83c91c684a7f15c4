/* What the layer knows of command buffers and of what is bound in them: between the part that
 * records (vk_layer_record.c) and the part that judges (vk_layer_judge.c). */
#ifndef VY_VK_LAYER_STREAM_H
#define VY_VK_LAYER_STREAM_H

#include "tests/support/hazard.h"
#include "tests/support/spirv_touch.h"
#include "tests/support/vk_layer_parts.h"

#define LAYER_MAX_PIECES 64u

/* Bytes of a buffer behind a binding; `buffer` 0: none. */
typedef struct layer_piece {
    uint64_t buffer, begin, end;
    bool is_dynamic; /* a dynamic offset is added */
} layer_piece;

typedef struct layer_set {
    struct layer_set *next;
    VkDescriptorSet handle;
    VkDescriptorPool pool;
    layer_piece pieces[LAYER_MAX_PIECES];
} layer_set;

typedef struct layer_module {
    struct layer_module *next;
    VkShaderModule handle;
    bool is_read;
    bool has_counts; /* the program behind it is known */
    bool is_gather;  /* the engine's kernel with a table */
    uint32_t bindings, params;
    spirv_touches touches;
} layer_module;

typedef struct layer_pipeline {
    uint32_t subgroup_size; /* required, or 0 */
    bool is_full;           /* full subgroups are required */
    struct layer_pipeline *next;
    VkPipeline handle;
    spirv_touches touches;
    bool has_counts, is_gather;
    uint32_t bindings, params;
} layer_pipeline;

struct layer_stream;

typedef struct layer_command {
    layer_event_kind kind; /* BEGIN: executes `secondary` */
    uint32_t groups[3];
    bool is_unknown;      /* touches something that nobody knows */
    bool touches_nothing; /* no workgroups */
    bool has_counts;      /* of the program */
    bool is_gather;
    uint32_t bindings, params;
    hazard_access *accesses;
    uint32_t access_count;
    /* Through the addresses in `block`, known once it has run. */
    spirv_touch *behind;
    uint32_t behind_count;
    layer_piece block;
    hazard_barrier *barriers;
    uint32_t barrier_count;
    struct layer_stream *secondary;
} layer_command;

typedef struct layer_stream {
    struct layer_stream *next;
    VkCommandBuffer handle;
    VkCommandPool pool;
    layer_command *commands;
    uint32_t count, room;
    bool has_addresses;
    /* Bound at this point of the recording. */
    const layer_pipeline *pipeline;
    VkPipeline pipeline_handle;
    const layer_set *set;
    layer_piece pushed[LAYER_MAX_PIECES]; /* where `set` is NULL */
    uint64_t dynamic;                     /* offset with `set` */
} layer_stream;

layer_stream *layer_stream_of(VkCommandBuffer handle);
layer_set *layer_set_of(VkDescriptorSet handle);
const layer_pipeline *layer_pipeline_of(VkPipeline handle);
void layer_write_pieces(layer_piece *pieces, const VkWriteDescriptorSet *write);
/* false: out of memory. */
bool layer_add_access(layer_command *command, uint64_t buffer, uint64_t begin, uint64_t end,
                      hazard_use use);

/* ---- vk_layer_judge.c ------------------------------------------------------------------------ */

/* Judges what was submitted, as far as it has ended; all of it where `force`. */
void layer_settle(bool force);
void layer_reset_judge(void);

#endif

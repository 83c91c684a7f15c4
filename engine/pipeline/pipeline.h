/* A kernel made ready for one device: layouts, and a VkPipeline for each segment in the variants
 * that dispatches have asked for. What a dispatch needs beyond is an instance of exec/. */
#ifndef VY_PIPELINE_H
#define VY_PIPELINE_H

#include "codegen/kernel.h"
#include "engine/device/device.h"
#include "engine/memory/memory.h"
#include "vyre/dispatch.h"

typedef struct vy_instance vy_instance; /* engine/exec/instance.h */
typedef struct vy_binder vy_binder;     /* engine/exec/bind.h */

/* What every compute pipeline of the engine has. All of the address form are compatible. */
typedef struct vy_layout {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
} vy_layout;

/* What is bound in set 0: storage buffers, and the parameter block, a uniform buffer. */
typedef struct vy_bound {
    uint64_t storage; /* bits of bindings */
    uint32_t block;   /* binding */
    bool is_pushed;   /* descriptors are recorded; else the block has a dynamic offset */
} vy_bound;

vyre_result vy_layout_create(vyre_device *device, const vy_bound *bound, const char *name,
                             vy_layout *out_layout, vyre_diag *diag);
void vy_layout_destroy(vyre_device *device, vy_layout *layout);

typedef struct vy_shader {
    const uint32_t *words;
    uint32_t word_count;
    uint32_t workgroup[3]; /* specialised; only used where the module has the constants */
    bool is_folded;
    uint32_t subgroup_size; /* pinned; 0: the driver's choice */
    bool is_full;           /* no subgroup but full ones */
    bool is_native; /* the device's own division and square root, whatever is known of them */
    const char *label;
} vy_shader;
vyre_result vy_shader_create(vyre_device *device, const vy_layout *layout, const vy_shader *shader,
                             VkPipeline *out_pipeline, vyre_diag *diag);

#define VY_INTERFACES 2u /* of vyre_interface */

#define VY_CHOICES (VY_INTERFACES * 128u)

/* Which words, made how. */
typedef struct vy_choice {
    vyre_interface interface;
    bool is_aliased, is_folded, is_wide;
    bool is_whole;      /* the one module of the strategy workgroup */
    bool is_coarse;     /* invocations do several elements */
    bool is_persistent; /* the one module of the strategy persistent */
    bool is_large;      /* in workgroups of vy_pipeline_large */
} vy_choice;
/* Whether one module has all segments. */
static inline bool vy_pipeline_is_joined(vy_choice choice)
{
    return choice.is_whole || choice.is_persistent;
}
/* All of them, in some order. */
static inline vy_choice vy_choice_get(uint32_t index)
{
    return (vy_choice){(vyre_interface)(index / 128),
                       (index & 4) != 0,
                       (index & 2) != 0,
                       (index & 1) != 0,
                       (index & 8) != 0,
                       (index & 16) != 0,
                       (index & 32) != 0,
                       (index & 64) != 0};
}

static inline uint32_t vy_choice_index(vy_choice choice)
{
    return (uint32_t)choice.interface * 128u + choice.is_large * 64u + choice.is_persistent * 32u +
           choice.is_coarse * 16u + choice.is_whole * 8u + choice.is_aliased * 4u +
           choice.is_folded * 2u + choice.is_wide;
}

struct vyre_pipeline {
    vyre_device *device;      /* NULL once it was destroyed */
    vyre_allocator allocator; /* the device's */
    const vyre_kernel *kernel;
    uint32_t workgroup[3];
    uint32_t binding_count, segment_count;
    uint64_t used_bindings; /* storage buffers of the descriptor set, hidden ones too */
    vyre_binding_mode bindings;
    const vy_binder *binders[VY_INTERFACES]; /* NULL: not possible here */
    bool is_pushed;                          /* descriptors are recorded */
    bool has_until;
    uint32_t subgroup_size; /* that its shaders are pinned to, or 0 */
    bool has_full_subgroups;
    int32_t grid_from;      /* the binding, or -1 */
    bool has_state;         /* one of them: the device decides what runs */
    vy_block tables;        /* constant tables that are too large for the modules */
    vy_execution *schedule; /* where it is the same for every dispatch, else NULL */
    uint32_t schedule_count;

    vy_mutex mutex; /* of what follows */
    vy_layout layouts[VY_INTERFACES];
    VkPipeline *variants[VY_CHOICES];           /* by vy_choice_index; by segment */
    uint32_t *push_words;                       /* by segment: bits of those that it reads */
    uint32_t whole_push_words;                  /* of the module for all segments */
    uint32_t persistent_push_words;             /* of that for workgroups that stay */
    bool is_whole_broken, is_persistent_broken; /* those modules could not be made */
    vy_instance *idle;                          /* replay instances, last used first */
    uint32_t idle_count, busy_count;
    struct vyre_recording *recordings; /* alive or awaiting retirement */
    struct vyre_recording *idle_recordings;
    struct vyre_sequence *sequences;

    vy_mutex keep_mutex;
    vy_block keep[VYRE_MAX_BUFFERS]; /* `scratch keep` buffers, made by the first dispatch */

    vyre_pipeline *previous, *next; /* of the device's, under its lock */
};

/* Makes the layout and pipelines of that choice where they are not there yet. */
vyre_result vy_pipeline_prepare(vyre_pipeline *pipeline, vy_choice choice, vyre_diag *diag);
/* Invocations of a large workgroup: the most that the device has, up to 1,024. */
uint32_t vy_pipeline_large(const vyre_pipeline *pipeline);
/* Of a choice that was prepared. */
VkPipeline vy_pipeline_get(const vyre_pipeline *pipeline, vy_choice choice, uint32_t segment);
/* How many modules a choice has: one for each segment, or one for all. */
uint32_t vy_pipeline_modules(const vyre_pipeline *pipeline, vy_choice choice);
/* Bits by word of the push constants that the segment's module reads. */
uint32_t vy_pipeline_push_words(const vyre_pipeline *pipeline, vy_choice choice, uint32_t segment);
/* Destroys everything of Vulkan's; nothing is in flight. */
void vy_pipeline_detach(vyre_pipeline *pipeline);

#endif

/* A kernel made ready for one device: layouts and a VkPipeline for each segment, in the plain and
 * (once a grid needs it) the folded variant. What a dispatch needs beyond is an instance of exec/.
 */
#ifndef VY_PIPELINE_H
#define VY_PIPELINE_H

#include "codegen/kernel.h"
#include "engine/device/device.h"
#include "engine/memory/memory.h"
#include "vyre/dispatch.h"

typedef struct vy_instance vy_instance; /* engine/exec/instance.h */

/* What every compute pipeline of the engine has. */
typedef struct vy_layout {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
} vy_layout;

/* Storage buffers at the bindings whose bits are set. */
vyre_result vy_layout_create(vyre_device *device, uint64_t bindings, const char *name,
                             vy_layout *out_layout, vyre_diag *diag);
void vy_layout_destroy(vyre_device *device, vy_layout *layout);

typedef struct vy_shader {
    const uint32_t *words;
    uint32_t word_count;
    uint32_t workgroup[3]; /* specialised; only used where the module has the constants */
    bool is_folded;
    bool is_native; /* the device's own division and square root, whatever is known of them */
    const char *label;
} vy_shader;
vyre_result vy_shader_create(vyre_device *device, const vy_layout *layout, const vy_shader *shader,
                             VkPipeline *out_pipeline, vyre_diag *diag);

struct vyre_pipeline {
    vyre_device *device;
    const vyre_kernel *kernel;
    uint32_t workgroup[3];
    uint32_t binding_count, segment_count;
    uint64_t used_bindings; /* of the descriptor set, hidden ones too */
    vy_layout layout;
    VkPipeline *variants[2]; /* plain, folded; by segment */
    vy_layout judge_layout;  /* where the program has `until` */
    VkPipeline judge;
    vy_block tables;                 /* constant tables that are too large for the modules */
    vy_block keep[VYRE_MAX_BUFFERS]; /* `scratch keep` buffers, made by the first dispatch */
    vy_instance *instance;           /* for dispatches; made by the first */
    uint64_t pending;                /* value of the timeline that a timed-out dispatch ends at */
    uint32_t recording_count;
};

/* Makes the folded variant where it is not there yet. */
vyre_result vy_pipeline_prepare(vyre_pipeline *pipeline, bool is_folded, vyre_diag *diag);

#endif

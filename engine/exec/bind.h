/* How kernels reach memory, one file for each way: by addresses in the parameter block, the only
 * thing that is bound (address), by descriptors recorded into the command buffer (push), by
 * descriptor sets (set). Nothing else asks which of them is in use. */
#ifndef VY_BIND_H
#define VY_BIND_H

#include "engine/exec/instance.h"
#include "engine/exec/own_kernels.h"

/* Whether dispatches of the pipeline need it. */
bool vy_binder_needs(const vyre_pipeline *pipeline, vy_set_kind set);

/* What is bound for a dispatch: a set of a lane with the parameter block at `offset` of the lane's
 * region, which the set tells apart from the program's where it is another kernel's. */
typedef struct vy_binding_point {
    VkPipelineLayout layout;
    vy_set_kind set;
    uint32_t lane;
    uint64_t offset;
    bool is_moved; /* `offset` is all that differs from what is bound already */
} vy_binding_point;

struct vy_binder {
    const char *name; /* for reports */
    vyre_interface interface;
    bool is_pushed;
    /* Recorded commands name the buffers that are bound: other buffers need another recording. */
    bool is_by_handle;
    /* Whether memory of a job can be reached this way; says in diag what cannot. */
    vyre_result (*check)(const vyre_pipeline *pipeline, const vy_job *job, vyre_diag *diag);
    /* Once for an instance. */
    vyre_result (*create)(vyre_pipeline *pipeline, vy_instance *instance, vyre_diag *diag);
    void (*destroy)(vyre_device *device, vy_instance *instance);
    /* After the memory of an instance changed, before commands are recorded. */
    void (*update)(vyre_pipeline *pipeline, vy_instance *instance);
    /* Records the bindings. */
    void (*bind)(vyre_pipeline *pipeline, vy_instance *instance, const vy_binding_point *point,
                 VkCommandBuffer commands);
};

extern const vy_binder vy_binder_address, vy_binder_push, vy_binder_set;

/* The binder of an interface on this device, or NULL. */
const vy_binder *vy_binder_get(const vyre_device *device, uint32_t buffer_count,
                               vyre_interface interface);

/* What the descriptor ways share: the buffers of a set, as writes (without the set), with the
 * parameter block as a descriptor of that type. Returns how many; `infos` and `writes` hold
 * VY_MAX_WRITES. */
#define VY_MAX_WRITES (VYRE_MAX_BUFFERS + VY_HIDDEN_COUNT)
uint32_t vy_binder_list(const vyre_pipeline *pipeline, const vy_instance *instance, uint32_t lane,
                        vy_set_kind set, VkDescriptorType block_type, VkDescriptorBufferInfo *infos,
                        VkWriteDescriptorSet *writes);
/* A pool for the instance's sets: of `sets` for each lane with so many buffers in all, and a
 * parameter block in each. */
vyre_result vy_binder_create_pool(vyre_pipeline *pipeline, vy_instance *instance, uint32_t sets,
                                  uint32_t buffers, vyre_diag *diag);
void vy_binder_destroy_pool(vyre_device *device, vy_instance *instance);

/* What a way does that has nothing to do: reaches all memory, makes nothing, writes nothing. */
vyre_result vy_binder_check_all(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag);
vyre_result vy_binder_create_none(vyre_pipeline *p, vy_instance *in, vyre_diag *diag);
void vy_binder_destroy_none(vyre_device *device, vy_instance *in);
void vy_binder_update_none(vyre_pipeline *p, vy_instance *in);

#endif

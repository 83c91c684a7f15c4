/* A layer of the tests' own under the engine's function tables: logs commands in order, counts
 * objects that are alive, fails the n-th call, and makes devices worse than they are. One process
 * has one; the engine gets it as vyre_device_params.get_instance_proc_addr. */
#ifndef VY_VK_LAYER_H
#define VY_VK_LAYER_H

#include "vyre/device.h"

#include <volk.h>

#include <stdbool.h>

typedef enum layer_event_kind {
    LAYER_DISPATCH,
    LAYER_INDIRECT,
    LAYER_BARRIER,
    LAYER_FILL,
    LAYER_COPY,
    LAYER_SUBMIT,
    LAYER_BEGIN, /* vkBeginCommandBuffer */
    LAYER_FLUSH,
    LAYER_INVALIDATE
} layer_event_kind;

typedef struct layer_event {
    layer_event_kind kind;
    uint32_t groups[3];              /* DISPATCH */
    VkPipeline pipeline;             /* DISPATCH, INDIRECT: bound */
    uint64_t src_stages, dst_stages; /* BARRIER, in the form of synchronization2 */
    uint64_t src_access, dst_access;
    bool is_old_form;      /* BARRIER by vkCmdPipelineBarrier */
    uint64_t offset, size; /* FILL, FLUSH, INVALIDATE */
} layer_event;

/* Memory as the layer says it is; whatever it says, it is the device's first type. */
typedef enum layer_heaps {
    LAYER_HEAPS_REAL,
    LAYER_HEAPS_SEPARATE, /* 0: the device's, not mappable; 1: the host's */
    LAYER_HEAPS_REBAR     /* and 2: 256 MiB of both */
} layer_heaps;

#define LAYER_REBAR_SIZE ((uint64_t)256 << 20)

/* Zero: nothing is changed. */
typedef struct layer_settings {
    uint32_t max_groups; /* maxComputeWorkGroupCount[0..2] */
    bool no_timestamps;
    bool no_synchronization2;
    bool no_memory_model;
    bool no_timeline;
    bool vulkan_1_1;         /* apiVersion */
    bool no_coherent_memory; /* and nonCoherentAtomSize 64 */
    bool no_devices;
    bool skip_dispatches; /* vkCmdDispatch does nothing: results are wrong */
    uint64_t max_range;   /* maxStorageBufferRange */
    uint32_t max_buffers; /* maxPerStageDescriptorStorageBuffers */
    /* The n-th call (from 1) that can fail gives `failure`, and is not made. 0: none. */
    uint32_t fail_at;
    VkResult failure;
    const char *fail_only;      /* counts only calls of this name */
    uint32_t drop_barrier;      /* the n-th barrier (from 1) right behind a dispatch is left out */
    const char *hide_extension; /* of the device */
    uint32_t stop_after;        /* commands recorded behind the n-th dispatch from now are left out */
    uint32_t timeouts;          /* that many waits end by VK_TIMEOUT at once */
    layer_heaps heaps;
    uint64_t heap_room[VK_MAX_MEMORY_HEAPS]; /* a heap is full after that many bytes; 0: never */
} layer_settings;

extern layer_settings layer;

/* Settings, log, counts and names back to zero. */
void layer_reset(void);
vyre_vulkan_entry layer_entry(void);

const layer_event *layer_events(uint32_t *out_count);
void layer_clear_events(void);
uint32_t layer_count(layer_event_kind kind);
/* Calls of a function that the layer wraps, or of all whose names begin so, and descriptors
 * written, since layer_reset or layer_clear_calls. */
uint32_t layer_calls(const char *name);
uint32_t layer_calls_of(const char *prefix);
uint32_t layer_descriptors(void);
void layer_clear_calls(void);
/* vkCreate*, vkAllocate* less vkDestroy*, vkFree*, of everything. */
int32_t layer_alive(void);
/* Calls that can fail, so far. */
uint32_t layer_fallible_calls(void);
/* The name of the call that was failed, or NULL. */
const char *layer_failed(void);
/* Bytes of mapped memory that were written and not flushed are no business of this layer; flush and
 * invalidate ranges that are not multiples of the atom are counted here. */
uint32_t layer_bad_ranges(void);

#endif

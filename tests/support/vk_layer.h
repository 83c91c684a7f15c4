/* A layer of the tests' own under the engine's function tables: logs commands in order, judges the
 * barriers between them, counts objects that are alive, fails the n-th call, and makes devices
 * worse than they are. One process has one; the engine gets it as
 * vyre_device_params.get_instance_proc_addr. Calls may come from several threads; the questions
 * below are for when none is under way. It knows the functions of one device at a time. */
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
    bool is_old_form; /* BARRIER by vkCmdPipelineBarrier */
    VkBuffer buffer;  /* BARRIER of a buffer alone, by vkCmdPipelineBarrier, and its families */
    uint32_t src_family, dst_family;
    uint64_t offset, size; /* FILL, FLUSH, INVALIDATE; DISPATCH, INDIRECT: `offset` is the dynamic
                              one that is bound, 0 with pushed descriptors */
} layer_event;

/* Memory as the layer says it is; whatever it says, it is the device's first type that can be
 * mapped. */
typedef enum layer_heaps {
    LAYER_HEAPS_REAL,
    LAYER_HEAPS_SEPARATE, /* 0: the device's, not mappable; 1: the host's */
    LAYER_HEAPS_REBAR,    /* and 2: 256 MiB of both */
    LAYER_HEAPS_MAPPABLE, /* as SEPARATE, and all of 0 by another type; type 0 is of no use */
    LAYER_HEAPS_UNIFIED   /* 0: the device's, every type mappable */
} layer_heaps;

#define LAYER_ATOM        256u
#define LAYER_TICK_BITS   36u
#define LAYER_REBAR_SIZE  ((uint64_t)256 << 20)
#define LAYER_TICK_BEFORE 50000u /* ticks before the wrap where clocks are calibrated first */

/* Zero: nothing is changed. */
typedef struct layer_settings {
    uint32_t max_groups; /* maxComputeWorkGroupCount[0..2] */
    bool no_timestamps;
    bool wrap_timestamps; /* of 36 bits, all ones at the second tick of the first results read */
    bool no_synchronization2;
    bool no_memory_model;
    bool no_timeline;
    bool no_addresses;
    bool no_push_descriptor;
    bool no_optional; /* no optional feature and no extension */
    bool vulkan_1_1;  /* apiVersion */
    bool vulkan_1_2;  /* likewise */
    /* The host's and the device's copies are two, which flush and invalidate copy between, in atoms
     * of LAYER_ATOM. */
    bool no_coherent_memory;
    bool drop_flushes; /* of memory that is not coherent: nothing is copied */
    bool no_devices;
    bool three_families;       /* 0: everything, 1: compute and transfer, 2: transfer */
    bool skip_dispatches;      /* vkCmdDispatch does nothing: results are wrong */
    uint64_t max_range;        /* maxStorageBufferRange */
    uint32_t max_buffers;      /* maxPerStageDescriptorStorageBuffers */
    uint32_t max_shared;       /* maxComputeSharedMemorySize */
    uint32_t max_push;         /* maxPushConstantsSize */
    uint32_t offset_alignment; /* minStorageBufferOffsetAlignment */
    uint32_t max_allocations;  /* maxMemoryAllocationCount: more fail with TOO_MANY_OBJECTS */
    layer_heaps heaps;
    bool no_peeking; /* of `heaps`, the layer reads only what the engine can map, as it must where
                        they are real: kernels by blocks elsewhere are not judged */
    uint64_t heap_room[VK_MAX_MEMORY_HEAPS]; /* a heap is full after that many bytes; 0: never */
    /* The n-th call (from 1) that can fail gives `failure`, and is not made. 0: none. */
    uint32_t fail_at;
    VkResult failure;
    const char *fail_only; /* counts only calls of this name */
    /* Behind that failure the next call of this name gives `failure_then`: for calls that are made
     * only where others have failed. */
    const char *fail_then;
    VkResult failure_then;
    bool loss_stays; /* after DEVICE_LOST every call that can give it does, until layer_revive */
    uint32_t drop_barrier;      /* the n-th barrier (from 1) right behind a dispatch is left out */
    const char *hide_extension; /* of the device */
    const char *hide_feature;   /* of the device: one of VY_FEATURES */
    uint32_t hide_subgroups;    /* VkSubgroupFeatureFlagBits */
    uint32_t min_subgroup, max_subgroup; /* minSubgroupSize, maxSubgroupSize */
    uint32_t max_subgroups;              /* maxComputeWorkgroupSubgroups */
    bool no_pinned_width;                /* requiredSubgroupSizeStages: none */
    uint32_t stop_after; /* commands recorded behind the n-th dispatch are left out */
    uint32_t timeouts;   /* that many waits end by VK_TIMEOUT at once */
    bool slow_polls;     /* semaphores have their old values until someone waits (20,000 looks);
                            so, too, with timeouts and where fail_only is vkWaitSemaphores */
    bool no_judge;       /* engine_close does not ask for hazards */
} layer_settings;

extern layer_settings layer;

/* Settings, log, counts and names back to zero; coverage stays. */
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
/* Allocations of device memory that live, and those of them that are dedicated to a buffer. */
uint32_t layer_memories(void);
uint32_t layer_dedicated_memories(void);
/* Flush and invalidate ranges that are not multiples of the atom, maps of memory that cannot be
 * mapped, and command buffers submitted to a family that is not their pool's. */
uint32_t layer_bad_ranges(void);
/* What the pipeline of a dispatch was created with: its required subgroup size or 0, and whether
 * its subgroups must be full. */
uint32_t layer_pipeline_width(VkPipeline pipeline);
bool layer_pipeline_is_full(VkPipeline pipeline);
/* The family that the newest device has its first queue of. */
uint32_t layer_queue_family(void);

/* ---- Failing ---------------------------------------------------------------------------------
 */

/* Calls that can fail, so far. vkWaitSemaphores is not among them, and of
 * vkGetSemaphoreCounterValue only the first behind a submission, as their number depends on the
 * time; unless fail_only names them. */
uint32_t layer_fallible_calls(void);
/* The name of the call that was failed, or NULL. */
const char *layer_failed(void);
/* Ends the loss that loss_stays made last. */
void layer_revive(void);
/* vkDeviceWaitIdle of the newest device, as the engine would get it. */
VkResult layer_wait_idle(void);

#define LAYER_MAX_RESULTS 8u

/* A command of Vulkan's that can fail, with the errors that its specification lists. */
typedef struct layer_command_errors {
    const char *name;
    VkResult results[LAYER_MAX_RESULTS]; /* up to the first VK_SUCCESS */
} layer_command_errors;

/* How often a command was made, and was failed with each of its results, since the start. */
typedef struct layer_cover {
    const layer_command_errors *command;
    uint32_t made, failed[LAYER_MAX_RESULTS];
} layer_cover;

/* Those that were made. */
uint32_t layer_coverage(layer_cover *out, uint32_t capacity);
/* Made commands that have not failed with each of their results; prints them where `print`. */
uint32_t layer_uncovered(bool print);
void layer_forget_coverage(void);

/* The names of the first `capacity` calls that can fail since the last reset; returns how many. */
uint32_t layer_fallible_list(const layer_command_errors **out, uint32_t capacity);

/* ---- Hazards ---------------------------------------------------------------------------------
 */

/* For kernels by addresses: how many bindings and params the program of these words has, so that
 * the ranges that it touches are known exactly. */
void layer_note_program(const uint32_t *words, size_t count, uint32_t bindings, uint32_t params);

/* Judges everything submitted so far that has ended; returns the number of faults since the last
 * layer_reset or layer_forget_hazards, and prints them where `print`. */
uint32_t layer_hazards(bool print);
/* Only those that lack a barrier (of the first that are listed): where a host's own barriers make
 * the library's needless, which it cannot know. */
uint32_t layer_missing(bool print);
/* Dispatches that could not be judged, as nothing is known of what their addresses reach. */
uint32_t layer_unjudged(void);
/* Commands and barriers that were judged. */
uint32_t layer_judged(void);
void layer_forget_hazards(void);

#endif

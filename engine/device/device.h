/* The device object: tables, queue, timeline, memory and the slot table of buffers. Owned by the
 * engine; every other file of it gets the parts it needs from here. */
#ifndef VY_DEVICE_H
#define VY_DEVICE_H

#include "codegen/base/base.h"
#include "engine/device/snapshot.h"
#include "engine/device/thread.h"
#include "engine/device/vk.h"
#include "vyre/device.h"
#include "vyre/vulkan.h"

#include <stdatomic.h>

typedef struct vy_cache vy_cache;           /* engine/pipeline/cache.h */
typedef struct vy_memory vy_memory;         /* engine/memory/memory.h */
typedef struct vy_slot_table vy_slot_table; /* engine/memory/buffer.h */
typedef struct vy_runs vy_runs;             /* engine/exec/run.h */
typedef struct vy_mover vy_mover;           /* engine/memory/mover.h */

/* Messages on their way to the caller. The address is known to Vulkan: it must not move. */
typedef struct vy_log {
    vyre_log_fn call;
    void *user;
    vyre_log_level level;
    bool prints; /* lines of printf statements are among the layer's messages */
    void (*print)(void *user, const vyre_printf_line *line); /* or NULL */
    void *print_user;
    atomic_uint_least64_t failures;
} vy_log;

/* What vyre_device_create decided from its parameters and the environment. */
typedef struct vy_device_options {
    char name[VYRE_DEVICE_NAME_SIZE];
    vyre_validation validation; /* at least ON where printf statements print */
    bool prints;
    vyre_log_level log_level;
    uint32_t debug;                 /* VYRE_DEBUG_* */
    vyre_binding_mode bindings;     /* what AUTO is; AUTO: by the device */
    vyre_optimization optimization; /* of kernels for the device */
    const char *cache_dir;          /* the parameters' or the environment's; NULL: none */
} vy_device_options;

struct vyre_device {
    vyre_allocator allocator;
    vy_log log;
    void *loader; /* the library loaded, or NULL */
    uint16_t id;  /* in buffer handles: never 0 */

    vy_instance_table vki;
    struct VolkDeviceTable vk;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    bool owns_instance, owns_device;
    bool has_names; /* VK_EXT_debug_utils is enabled */
    vyre_validation validation;
    vyre_binding_mode bindings; /* as in the options */
    vyre_optimization optimization;
    uint32_t debug;
    uint32_t api_version; /* the instance's */
    vy_snapshot snapshot;

    VkQueue queue;
    vy_mutex queue_mutex; /* of submissions, where the host has no lock */
    void (*host_lock)(void *user);
    void (*host_unlock)(void *user);
    void *host_user;
    VkSemaphore timeline;
    atomic_uint_least64_t retired_frame;
    atomic_uint_least64_t seen;      /* greatest value seen reached */
    atomic_uint_least64_t submitted; /* its value once everything submitted has ended; written under
                                        the queue's lock */
    atomic_uint_least64_t typical_wait_ns; /* of recent waits; 0: none yet */
    atomic_bool lost;
    atomic_bool is_persistent_off; /* workgroups that stay did not all run at once */
    uint64_t persistent_least;     /* that AUTO takes them for; 0: the library's number */
    char lost_in[64];              /* what was being run; written once, before `lost` */

    VkPipelineCache pipeline_cache; /* set before `cache` is made: the host's */
    vy_cache *cache;
    vyre_memory_callbacks memory_callbacks;
    bool has_memory_callbacks;
    vy_memory *memory;
    vy_slot_table *slots;
    vy_runs *runs;
    /* Gives idle memory of higher parts back, for whoever is short of it; returns the bytes. No
     * lock is held around it. */
    uint64_t (*evict)(vyre_device *device);
    const vy_mover *mover; /* NULL: transfers are made by commands alone */
    /* Frees what belongs to work given up that has ended, and lets go of what recordings that have
     * retired used. May call the host's `done`. No lock is held around it. */
    void (*collect)(vyre_device *device);
    uint64_t memory_limit; /* 0: by the budget */
    char *cache_dir;       /* allocated; NULL: none */
    bool has_driver_thread;

    vy_mutex counter_mutex;
    vyre_device_counters counters;
    uint64_t calibrated_ticks, calibrated_ns; /* one moment on both clocks; 0: none yet. Under the
                                                 same lock */
    bool has_mutexes;
};

/* ---- loader.c -------------------------------------------------------------------------------- */

/* The system's Vulkan library; *out_loader is given back with vy_loader_close. */
vyre_result vy_loader_open(void **out_loader, PFN_vkGetInstanceProcAddr *out_get, vyre_diag *diag);
void vy_loader_close(void *loader);
vyre_result vy_instance_table_load(vy_instance_table *table, PFN_vkGetInstanceProcAddr get,
                                   VkInstance instance, vyre_diag *diag);
/* Optional functions are loaded where the snapshot says that what they belong to is on; where one
 * is not there all the same, it is off from then on. */
vyre_result vy_device_table_load(struct VolkDeviceTable *table, const vy_instance_table *vki,
                                 VkDevice device, vy_snapshot *snapshot, vyre_diag *diag);

/* ---- query.c --------------------------------------------------------------------------------- */

/* All off; vulkan13 is chained where the version has it. */
void vy_features_init(vyre_feature_chain *features, uint32_t api_version);
/* The member that VY_FEATURES names. */
VkBool32 *vy_features_member(vyre_feature_chain *features, uint32_t feature);
/* What vkCreateDevice gets for a device of this snapshot; `api_version` is the lower of the
 * device's and the instance's. */
void vy_setup_fill(const vy_snapshot *snapshot, uint32_t api_version, vyre_device_setup *out_setup);

vyre_result vy_snapshot_query(const vy_instance_table *vki, VkPhysicalDevice physical,
                              uint32_t index, uint32_t api_version, const vyre_allocator *allocator,
                              vy_snapshot *out_snapshot, vyre_diag *diag);

/* ---- message.c ------------------------------------------------------------------------------- */

void vy_log_init(vy_log *log, vyre_log_fn call, void *user, vyre_log_level level);
/* A message of the library's own. */
void vy_log_write(vy_log *log, vyre_log_level level, const char *format, ...) VY_PRINTF(3, 4);
/* For VkDebugUtilsMessengerCreateInfoEXT, with the vy_log as user data. */
void vy_messenger_info(vy_log *log, VkDebugUtilsMessengerCreateInfoEXT *out_info);
/* Why a message of that id and text is no fault of ours, or NULL. */
const char *vy_message_allowed(const char *id, const char *text);

/* ---- error.c --------------------------------------------------------------------------------- */

/* The result for a VkResult of `call`; remembers that the device is lost. */
vyre_result vy_vk_error(vyre_device *device, vyre_diag *diag, VkResult result, const char *call);
/* DEVICE_LOST where the device is lost, else OK. */
vyre_result vy_check_lost(vyre_device *device, vyre_diag *diag);
const char *vy_vk_result_text(VkResult result);
/* Fills what the device object itself knows of its loss: is_lost, program (what the call that
 * noticed was about), fault; segment and pass are VYRE_DIAG_NONE. */
void vy_device_loss_base(vyre_device *device, vyre_loss *out_loss);
/* The driver's account of a lost device, by VK_EXT_device_fault; "" where there is none. Returns
 * whether there is one. */
bool vy_device_query_fault(vyre_device *device, char *out, size_t size);
/* info.c: which coarse words are taken: VY_WAY_JOINED where they are joined within subgroups,
 * VY_WAY_LONG on processors. */
uint32_t vy_device_coarse_ways(const vyre_device *device);
/* info.c: whether VYRE_BINDINGS_AUTO takes addresses where it has the choice. */
bool vy_device_prefers_addresses(const vyre_device *device);
bool vy_device_joins_coarse(const vyre_device *device);
vyre_result vy_invalid(vyre_diag *diag, const char *format, ...) VY_PRINTF(2, 3);

/* ---- queue.c --------------------------------------------------------------------------------- */

typedef struct vy_semaphore {
    VkSemaphore semaphore;
    uint64_t value; /* 0: binary */
} vy_semaphore;

/* Command buffers that run in this order, then signal the timeline's next value. */
typedef struct vy_batch {
    const VkCommandBuffer *commands;
    uint32_t command_count;
    const vy_semaphore *waits, *signals; /* the host's */
    uint32_t wait_count, signal_count;
} vy_batch;
#define VY_MAX_BATCHES 2u

/* One vkQueueSubmit; out_values gets the timeline's value of each batch. `what` names it for
 * errors. */
vyre_result vy_queue_submit_batches(vyre_device *device, const vy_batch *batches, uint32_t count,
                                    const char *what, uint64_t *out_values, vyre_diag *diag);
/* One command buffer. */
vyre_result vy_queue_submit(vyre_device *device, VkCommandBuffer commands, const char *what,
                            uint64_t *out_value, vyre_diag *diag);
/* Waits for a value until the deadline (vy_clock_ns; UINT64_MAX: none): looks for a while, then
 * sleeps. A deadline that has passed: looks once. A value that was seen reached costs no Vulkan
 * call. Waits that found it not reached and had time are counted. Any number of threads may wait at
 * once; no lock is held. */
vyre_result vy_queue_wait(vyre_device *device, uint64_t value, uint64_t deadline_ns,
                          const char *what, vyre_diag *diag);
/* The same; says whether it was counted. */
vyre_result vy_queue_wait_noting(vyre_device *device, uint64_t value, uint64_t deadline_ns,
                                 const char *what, bool *out_has_blocked, vyre_diag *diag);
/* Whether the value has been reached, or never will be because the device is lost. */
bool vy_queue_is_done(vyre_device *device, uint64_t value);
/* The value that the last submission signals. */
uint64_t vy_queue_submitted(vyre_device *device);
/* Waits for the whole device, under the queue's lock: the last proof that nothing runs. */
void vy_queue_settle(vyre_device *device);
/* The greatest value that was seen to have been reached; no Vulkan call. */
uint64_t vy_queue_seen(vyre_device *device);
/* For teardown: waits for a value whatever happens. */
void vy_queue_drain(vyre_device *device, uint64_t value);
uint64_t vy_deadline(uint64_t timeout_ns);

/* ---- clock.c --------------------------------------------------------------------------------- */

/* One moment on both clocks: the device's ticks and vy_clock_ns. False where the device has no
 * calibrated timestamps, or the driver gives none this time. */
bool vy_device_calibrate(vyre_device *device, uint64_t *out_device_ticks, uint64_t *out_host_ns);
/* vy_snapshot_ticks_to_ns of the device. */
uint64_t vy_ticks_to_ns(const vyre_device *device, uint64_t from, uint64_t to);
/* A tick of what has just ended, on the clock of vy_clock_ns; UINT64_MAX where that is not known.
 */
uint64_t vy_device_host_time(vyre_device *device, uint64_t tick);
/* Whether the device's clock can be read together with the host's (vy_clock_ns). */
bool vy_clock_is_calibrateable(const vy_instance_table *vki, VkPhysicalDevice physical);

/* ---- open.c -------------------------------------------------------------------------------- */

/* What the names of segments' pipelines and labels begin with. */
#define VY_SEGMENT_WORD "segment "
void vy_set_name(vyre_device *device, VkObjectType type, uint64_t handle, const char *name);
#define vy_count(device_, field, amount)                                                           \
    do {                                                                                           \
        vy_mutex_lock(&(device_)->counter_mutex);                                                  \
        (device_)->counters.field += (uint64_t)(amount);                                           \
        vy_mutex_unlock(&(device_)->counter_mutex);                                                \
    } while (0)
/* The parts that an own and an adopted device have in common: queue, timeline, memory, slots. */
vyre_result vy_device_finish_creation(vyre_device *device, uint32_t queue_family, vyre_diag *diag);
/* A new id for buffer handles, never 0. */
uint16_t vy_device_new_id(void);
vyre_device *vy_device_allocate(const vyre_allocator *allocator);
/* Copies the folder's name into the device; NULL or "": none. */
vyre_result vy_device_set_cache_dir(vyre_device *device, const char *dir, vyre_diag *diag);

/* An instance of ours with what can be enabled; used by create and list. */
vyre_result vy_vulkan_instance_create(vyre_device *device, vyre_validation validation,
                                      vyre_diag *diag);
/* Physical devices, allocated; freed with vy_free(allocator, list, count * sizeof *list). */
vyre_result vy_enumerate(vyre_device *device, VkPhysicalDevice **out_list, uint32_t *out_count,
                         vyre_diag *diag);
void vy_device_options_read(const vyre_device_params *params, vy_device_options *out_options);

#endif

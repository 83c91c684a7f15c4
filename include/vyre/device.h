/* Devices: opening one of the machine's Vulkan devices, and what is known of it. A program that has
 * a VkDevice already adopts it instead (vulkan.h). No Vulkan header is needed here. */
#ifndef VYRE_DEVICE_H
#define VYRE_DEVICE_H

#include "vyre/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Thread-safety: safe, apart from create and destroy. */
typedef struct vyre_device vyre_device;

/* ---- Messages -------------------------------------------------------------------------------- */

typedef enum vyre_log_level {
    VYRE_LOG_DEFAULT, /* as the environment says, else WARNING */
    VYRE_LOG_ERROR,
    VYRE_LOG_WARNING,
    VYRE_LOG_INFO,
    VYRE_LOG_DEBUG
} vyre_log_level;

typedef enum vyre_log_source {
    VYRE_LOG_LIBRARY,
    VYRE_LOG_GENERAL,     /* the Vulkan loader, drivers, layers */
    VYRE_LOG_VALIDATION,  /* the validation layer: wrong use of Vulkan */
    VYRE_LOG_PERFORMANCE, /* the validation layer: slow use of Vulkan */
    VYRE_LOG_PRINTF       /* "printf life:12:5 pass 0 segment 1 invocation 7: TEXT", or that lines
                             were lost; given whatever level is asked for */
} vyre_log_source;

/* A message, alive during the call that it is given to. */
typedef struct vyre_log_message {
    vyre_log_level level;
    vyre_log_source source;
    const char *id;   /* the validation message's name, "" where there is none */
    int32_t number;   /* its number, or 0 */
    const char *text; /* of layers with the place: segment, line and pass, names of buffers */
    int is_failure;   /* counted by vyre_device_validation_failures */
    /* Why it is not counted although it would be, or NULL. Such a message has VYRE_LOG_INFO. */
    const char *allowed;
} vyre_log_message;

/* Called from whichever thread the message arises in, possibly inside another call into the
 * library; must not call into the library. The message lives for the call only. */
typedef void (*vyre_log_fn)(void *user, const vyre_log_message *message);

/* ---- Opening --------------------------------------------------------------------------------- */

typedef enum vyre_validation {
    VYRE_VALIDATION_DEFAULT, /* as the environment says, else OFF */
    VYRE_VALIDATION_OFF,
    VYRE_VALIDATION_ON,          /* core and synchronisation checks */
    VYRE_VALIDATION_GPU_ASSISTED /* these, and checks inside shaders: slow */
} vyre_validation;

/* A PFN_vkGetInstanceProcAddr, cast: this header knows no Vulkan. */
typedef void (*vyre_vulkan_entry)(void);

#define VYRE_DEBUG_SERIALIZE 1u /* a barrier before every command */
#define VYRE_DEBUG_TRACE     2u /* submissions, recordings and waits are logged at level DEBUG */
#define VYRE_DEBUG_LABELS                                                                          \
    4u /* command buffers get a debug label for every segment, as always                           \
          with the library's own validation */
#define VYRE_DEBUG_BREADCRUMBS 8u /* after a loss the exact segment and pass are known; slow */

/* Zero is the default everywhere. Where a field is at its default, the environment is read once, by
 * vyre_device_create: VYRE_DEVICE (name), VYRE_VALIDATE (0, 1 or gpu), VYRE_LOG (error, warning,
 * info, debug), VYRE_DEBUG (a list of serialize, trace, labels, breadcrumbs), VYRE_CACHE_DIR
 * (cache_dir), VYRE_PRINTF (0 or 1: prints), VYRE_BINDINGS (address or descriptor: what
 * VYRE_BINDINGS_AUTO prefers), VYRE_OPTIMIZE (0: vyre_device_kernel_params asks for
 * VYRE_OPTIMIZATION_NONE). */
typedef struct vyre_device_params {
    uint32_t struct_size;
    const vyre_allocator *allocator;
    /* Part of a device's name (case is ignored) or its number in vyre_device_list. NULL: the best
     * one that has what the library needs: discrete, integrated, virtual, then processors. */
    const char *name;
    vyre_validation validation;
    vyre_log_level log_level;
    vyre_log_fn log; /* NULL: messages go nowhere */
    void *log_user;
    /* Where Vulkan comes from; NULL loads the system's loader. */
    vyre_vulkan_entry get_instance_proc_addr;
    uint32_t debug; /* VYRE_DEBUG_* */
    /* 1: a thread of the device's own submits the later passes of async runs with `until` and calls
     * their `done`, so that nobody needs to poll. */
    int driver_thread;
    /* Device memory that the library may hold, in bytes; 0: 90 % of what the device has left. */
    uint64_t memory_limit;
    /* A folder for compiled pipelines and the answers of probes, made where it is missing; what is
     * wrong with files in it is no error, only slow. NULL, and no VYRE_CACHE_DIR: nothing is kept
     * on disk. "" is none whatever the environment says. */
    const char *cache_dir;
    /* 1: the validation layer is loaded, if need be as for VYRE_VALIDATION_ON, and printf
     * statements of kernels compiled with vyre_kernel_params.prints print, before the wait for
     * their run ends. Slow: the layer waits behind each submission, and lines that exceed its
     * buffer are lost, which it warns of (docs/troubleshooting.md). Not with
     * VYRE_VALIDATION_GPU_ASSISTED. */
    int prints;
    /* Called with each line, as `log` with a message. Those of one invocation come in order, others
     * of a segment in any. NULL: lines are messages of VYRE_LOG_PRINTF. */
    void (*print)(void *user, const vyre_printf_line *line);
    void *print_user;
} vyre_device_params;

static inline void vyre_device_params_init(vyre_device_params *params)
{
    vyre_device_params zero = {
        0, 0, 0, VYRE_VALIDATION_DEFAULT, VYRE_LOG_DEFAULT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Errors: NO_DEVICE (no loader, no driver, no device of that name, or a device with a defect that
 * makes results wrong; the message says the way out), UNSUPPORTED_FEATURE (names every feature that
 * is missing, or the validation layer), OUT_OF_HOST_MEMORY, DISPATCH_FAILED (another VkResult).
 * params may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_device_create(const vyre_device_params *params,
                                                   vyre_device **out_device, vyre_diag *diag);
/* Waits for what the library submitted, then destroys everything that was created on the device.
 * Pipelines, recordings and sequences may be destroyed before or after it, in any order: those that
 * are left keep no object of Vulkan's, and refuse every other call. */
VYRE_API void vyre_device_destroy(vyre_device **device);

/* ---- What there is --------------------------------------------------------------------------- */

typedef enum vyre_device_type {
    VYRE_DEVICE_OTHER,
    VYRE_DEVICE_INTEGRATED,
    VYRE_DEVICE_DISCRETE,
    VYRE_DEVICE_VIRTUAL,
    VYRE_DEVICE_PROCESSOR
} vyre_device_type;

typedef enum vyre_answer {
    VYRE_ANSWER_UNKNOWN, /* not probed yet */
    VYRE_ANSWER_NO,
    VYRE_ANSWER_YES
} vyre_answer;

#define VYRE_DEVICE_NAME_SIZE 256

/* What is known of a device. Sizes are in bytes. */
typedef struct vyre_device_info {
    char name[VYRE_DEVICE_NAME_SIZE];
    char driver[VYRE_DEVICE_NAME_SIZE]; /* the driver's name and version, as it says them */
    char missing[512];                  /* what the library needs and it lacks; "": usable */
    vyre_device_type type;
    uint32_t index; /* in vyre_device_list */
    uint32_t vendor_id, device_id;
    uint32_t api_version; /* as Vulkan packs it: major << 22 | minor << 12 | patch */
    uint32_t driver_version;
    int is_adopted;
    vyre_target target;     /* of the kernels it runs */
    uint32_t float_modes;   /* VYRE_FLOAT_* that its kernels may declare */
    vyre_answer denormals;  /* whether f32 denormals are kept: probed */
    vyre_answer long_loops; /* whether loops of 70,000 trips are right: probed */
    /* Whether the device's own division and square root of f32 serve: it is on the list of devices
     * known to round correctly, and passed the table of pairs. Otherwise they are made of integer
     * operations: slower, the same bits. */
    vyre_answer native_divide, native_sqrt;
    /* Whether the lanes of a subgroup are consecutive invocations of a workgroup: probed. Programs
     * that use subgroups run on no other device. */
    vyre_answer lane_order;
    /* Whether f64 keeps denormals and rounds sums and products to nearest even: promised by the
     * driver (the F64 modes of float_modes), or probed. Programs that use f64 run on no other
     * device. */
    vyre_answer doubles;
    int has_addresses; /* kernels reach buffers by address */
    int has_calibrated_timestamps;
    int has_memory_budget; /* the driver tells; otherwise the library counts its own */
    int has_device_fault;
    uint64_t mappable_memory_size; /* the largest heap that is the device's own and the host's */
    uint32_t subgroup_size;
    uint32_t min_subgroup_size, max_subgroup_size; /* that a program may fix; 0: none */
    uint32_t max_groups[3], max_workgroup[3], max_workgroup_invocations, max_shared_size;
    uint32_t compute_units; /* multiprocessors; 0: the driver does not say */
    uint32_t max_storage_buffers, max_push_constants_size;
    uint64_t max_storage_range, max_buffer_size;
    uint32_t offset_alignment;   /* of bindings to resident buffers */
    uint64_t device_memory_size; /* the largest device-local heap */
    double timestamp_ns;         /* nanoseconds a tick; 0: no timestamps */
    int validation;              /* a vyre_validation: what is on */
} vyre_device_info;

/* Fills up to `capacity` entries and *out_count with how many devices there are; infos may be NULL
 * for capacity 0. Devices that lack something are listed, with `missing` saying what. */
VYRE_API VYRE_CHECK vyre_result vyre_device_list(const vyre_device_params *params,
                                                 vyre_device_info *infos, uint32_t capacity,
                                                 uint32_t *out_count, vyre_diag *diag);
/* Fills in what is known; the answers of probes once they were made. */
VYRE_API void vyre_device_get_info(const vyre_device *device, vyre_device_info *out_info);
/* Text for people: the device, its features and limits, the lowerings chosen, probes and defects.
 * Cut at out_size; returns the whole text's length without the final zero. */
VYRE_API size_t vyre_device_describe(const vyre_device *device, char *out, size_t out_size);

/* How kernels for this device are compiled: target, interface, float modes, whether they print, and
 * whether they are optimised; the rest is zero. */
VYRE_API void vyre_device_kernel_params(const vyre_device *device, vyre_kernel_params *out_params);

/* Runs the library's tests of the device and its driver: submits and waits. Devices that
 * vyre_device_create opened have been probed; on adopted ones nothing is submitted until this call.
 * Errors: NO_DEVICE where a defect makes results wrong. */
VYRE_API VYRE_CHECK vyre_result vyre_device_probe(vyre_device *device, vyre_diag *diag);

/* How many messages of severity WARNING or ERROR and type VALIDATION or PERFORMANCE arrived that
 * the library's allow-list does not name. 0 where validation is off, and on adopted devices. */
VYRE_API uint64_t vyre_device_validation_failures(const vyre_device *device);

/* Waits until everything that the library itself submitted has ended. UINT64_MAX: no limit.
 * Errors: TIMEOUT (wait again), DEVICE_LOST. */
VYRE_API VYRE_CHECK vyre_result vyre_device_wait(vyre_device *device, uint64_t timeout_ns,
                                                 vyre_diag *diag);

/* Everything that costs, since the device was opened. Counted when it has succeeded. */
typedef struct vyre_device_counters {
    uint64_t submissions, waits; /* vkQueueSubmit; waits that blocked */
    /* Recorded, with those of transfers by kernels; passes executed. */
    uint64_t dispatches, passes, barriers;
    uint64_t barriers_elided;
    uint64_t uploads, downloads, upload_size, download_size; /* copies and their bytes */
    uint64_t buffers, imported_buffers;                      /* alive */
    uint64_t memory_allocations, memory_size; /* device memory: blocks held and their bytes */
    uint64_t memory_fallbacks; /* device buffers that went to another type of memory */
    uint64_t memory_evictions; /* idle memory of ours given back to make room */
    uint64_t descriptor_writes, pipelines, modules;
    uint64_t pipeline_cache_hits;           /* pipelines that the cache on disk had */
    uint64_t recordings, recordings_reused; /* command buffers recorded, and replayed as they are */
    uint64_t instances, instance_hits, instance_misses,
        instance_forks;    /* of replay: alive; taken
from the pool; made for a new shape; made as all were in flight */
    uint64_t parked;       /* runs whose wait timed out or failed, or that were dropped: so far */
    uint64_t parked_alive; /* of these, not yet proven ended */
    uint64_t splits,
        segments; /* programs of several segments made into pipelines; their segments */
} vyre_device_counters;
/* What the device did since it was opened or adopted. */
VYRE_API void vyre_device_get_counters(const vyre_device *device,
                                       vyre_device_counters *out_counters);
/* As JSON, schema "vyre.counters/1". Cut at out_size; returns the whole text's length. */
VYRE_API size_t vyre_device_counters_format_json(const vyre_device_counters *counters, char *out,
                                                 size_t out_size);

#define VYRE_MAX_HEAPS 16u
/* Memory by heap. `budget` and `usage` are the driver's figures for the whole process, or, where it
 * has none, 90 % of the heap and what the library holds. */
typedef struct vyre_heap {
    uint64_t size, budget, usage, own; /* bytes; own: held by the library */
    int is_device_local, is_mappable;
} vyre_heap;
/* Fills in the heaps; returns how many there are. */
VYRE_API uint32_t vyre_device_get_memory(vyre_device *device, vyre_heap out_heaps[VYRE_MAX_HEAPS]);
/* Gives idle memory back to the driver: staging, replay instances. Returns the bytes. */
VYRE_API uint64_t vyre_device_trim(vyre_device *device);

/* ---- Loss ------------------------------------------------------------------------------------ */

/* What is known of a device that was lost; all calls on it answer DEVICE_LOST from then on, and
 * what belongs to it can be destroyed in any order, as ever. */
typedef struct vyre_loss {
    int is_lost;
    char program[64]; /* label of what was running first, "" where nothing of ours was */
    uint32_t segment; /* VYRE_DIAG_NONE: not known */
    uint32_t pass;    /* the exact one with BREADCRUMBS, else the first of the chunk */
    int is_exact;     /* segment and pass are from breadcrumbs */
    char fault[512];  /* what VK_EXT_device_fault says, "" where there is none */
} vyre_loss;
/* What was running when the device was lost; until then `is_lost` is 0. */
VYRE_API void vyre_device_get_loss(vyre_device *device, vyre_loss *out_loss);

/* ---- Pipeline cache as a blob ------------------------------------------------------------------
 * For hosts that keep their files themselves. */

/* Freed with vyre_device_free_cache. Errors: memory, DEVICE_LOST. */
VYRE_API VYRE_CHECK vyre_result vyre_device_save_cache(vyre_device *device, void **out_data,
                                                       size_t *out_size, vyre_diag *diag);
/* Frees what vyre_device_save_cache gave, and sets *data to NULL; NULL is no error. */
VYRE_API void vyre_device_free_cache(vyre_device *device, void **data, size_t size);
/* Adds what the blob holds. A blob that is damaged, another device's or another version's is no
 * error: *out_is_used (may be NULL) is 0 then, as it is where the host gave the pipeline cache. */
VYRE_API VYRE_CHECK vyre_result vyre_device_load_cache(vyre_device *device, const void *data,
                                                       size_t size, int *out_is_used,
                                                       vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

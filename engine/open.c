/* Opening and closing a device of our own, and what own and adopted devices have in common: the one
 * place that knows all parts of the engine. */
#include "engine/device/device.h"

#include "engine/exec/recording.h"
#include "engine/exec/run.h"
#include "engine/memory/buffer.h"
#include "engine/memory/memory.h"
#include "engine/pipeline/cache.h"

#include <stdio.h>
#include <string.h>

uint16_t vy_device_new_id(void)
{
    /* A count of devices made, for owners in handles: no state that changes what a call does. */
    static atomic_uint next;
    unsigned id = 0;
    do {
        id = (atomic_fetch_add(&next, 1) + 1) & 0xffffu;
    } while (id == 0);
    return (uint16_t)id;
}

vyre_device *vy_device_allocate(const vyre_allocator *given)
{
    vyre_allocator allocator = vy_allocator_or_default(given);
    vyre_device *device = vy_alloc_zeroed(&allocator, 1, sizeof *device);
    if (!device) {
        return NULL;
    }
    device->allocator = allocator;
    atomic_init(&device->lost, false);
    if (vy_mutex_init(&device->queue_mutex) != 0) {
        vy_free(&allocator, device, sizeof *device);
        return NULL;
    }
    if (vy_mutex_init(&device->counter_mutex) != 0) {
        vy_mutex_finish(&device->queue_mutex);
        vy_free(&allocator, device, sizeof *device);
        return NULL;
    }
    device->has_mutexes = true;
    device->id = vy_device_new_id();
    return device;
}

void vy_set_name(vyre_device *device, VkObjectType type, uint64_t handle, const char *name)
{
    if (!device->has_names || !name || !name[0] || !handle) {
        return;
    }
    VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name,
    };
    (void)device->vki.vkSetDebugUtilsObjectNameEXT(device->device, &info);
}

/* ---- Creation -------------------------------------------------------------------------------- */

vyre_result vy_device_set_cache_dir(vyre_device *device, const char *dir, vyre_diag *diag)
{
    if (!dir || !dir[0]) {
        return VYRE_OK;
    }
    size_t size = strlen(dir) + 1;
    device->cache_dir = vy_alloc_zeroed(&device->allocator, size, 1);
    if (!device->cache_dir) {
        return vy_diag_no_memory(diag);
    }
    memcpy(device->cache_dir, dir, size);
    return VYRE_OK;
}

vyre_result vy_device_finish_creation(vyre_device *device, uint32_t queue_family, vyre_diag *diag)
{
    device->snapshot.queue_family = queue_family;
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
    VkResult result =
        device->vk.vkCreateSemaphore(device->device, &semaphore, NULL, &device->timeline);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkCreateSemaphore");
    }
    vy_set_name(device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)device->timeline, "vyre timeline");
    vyre_result code = vy_cache_create(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_memory_create(device, &device->memory, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_slot_table_create(device, &device->slots, diag);
    return code == VYRE_OK ? vy_runs_create(device, diag) : code;
}

static vyre_result create_logical(vyre_device *device, vyre_diag *diag)
{
    vy_snapshot *s = &device->snapshot;
    uint32_t api =
        s->info.api_version < device->api_version ? s->info.api_version : device->api_version;
    if (device->validation >= VYRE_VALIDATION_ON) {
        /* Layers before 1.3.279 refuse the feature and the mode of modules. */
        s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence] = false;
    }
    vyre_device_setup setup;
    vy_setup_fill(s, api, &setup);
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &setup.chain.features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &setup.queue,
        .enabledExtensionCount = setup.extension_count,
        .ppEnabledExtensionNames = setup.extensions,
    };
    VkResult result = device->vki.vkCreateDevice(device->physical, &info, NULL, &device->device);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkCreateDevice");
    }
    device->owns_device = true;
    vyre_result code = vy_device_table_load(&device->vk, &device->vki, device->device, s, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_snapshot_decide(s, device->api_version);
    device->vk.vkGetDeviceQueue(device->device, s->queue_family, 0, &device->queue);
    vy_set_name(device, VK_OBJECT_TYPE_QUEUE, (uint64_t)(uintptr_t)device->queue, "vyre queue");
    return vy_device_finish_creation(device, s->queue_family, diag);
}

/* The best of those that are meant, or the reason why there is none. */
static vyre_result choose(vyre_device *device, const char *name, vyre_diag *diag)
{
    VkPhysicalDevice *list = NULL;
    uint32_t count = 0, best = 0;
    vyre_result code = vy_enumerate(device, &list, &count, diag);
    vy_snapshot candidate = {0}, unfit = {0};
    uint32_t named = 0;
    for (uint32_t i = 0; code == VYRE_OK && i < count; i++) {
        code = vy_snapshot_query(&device->vki, list[i], i, device->api_version, &device->allocator,
                                 &candidate, diag);
        if (code != VYRE_OK || !vy_snapshot_is_named(&candidate, name)) {
            continue;
        }
        named++;
        uint32_t score = vy_snapshot_score(&candidate);
        if (score > best) {
            best = score;
            device->snapshot = candidate;
            device->physical = list[i];
        } else if (score == 0) {
            unfit = candidate;
        }
    }
    vy_free(&device->allocator, list, count * sizeof *list);
    if (code != VYRE_OK || best > 0) {
        return code;
    }
    vy_loc nowhere = {0, 0};
    if (named > 0) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, nowhere,
                           "the device \"%s\" lacks %s. Fix: update its driver, or name another "
                           "device",
                           unfit.info.name, unfit.info.missing);
    }
    if (count > 0) {
        return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, nowhere,
                           "no Vulkan device has \"%s\" in its name or as its number; there are "
                           "%u. Fix: look at the list (vyre-run --device list), or name none",
                           name ? name : "", (unsigned)count);
    }
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, nowhere,
                       "there is no Vulkan device. Fix: install a driver (Debian: "
                       "mesa-vulkan-drivers, or tools/setup.sh), or set VK_DRIVER_FILES");
}

void vyre_device_get_counters(const vyre_device *device, vyre_device_counters *out)
{
    *out = (vyre_device_counters){0};
    if (device) {
        vyre_device *writable = (vyre_device *)device; /* for the lock alone */
        vy_mutex_lock(&writable->counter_mutex);
        *out = device->counters;
        vy_mutex_unlock(&writable->counter_mutex);
        vy_memory_usage(writable, &out->memory_allocations, &out->memory_size);
    }
}

vyre_result vyre_device_create(const vyre_device_params *given, vyre_device **out_device,
                               vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_device) {
        return vy_invalid(diag, "out_device is NULL. Fix: pass where the device goes");
    }
    *out_device = NULL;
    vyre_device_params params;
    vyre_result code = vy_params_read(vyre_device_params, &params, given, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_device_options options;
    vy_device_options_read(&params, &options);
    if (options.prints && options.validation == VYRE_VALIDATION_GPU_ASSISTED) {
        return vy_invalid(diag, "printf statements are to print, and GPU-assisted validation is "
                                "asked for: the validation layer does one of the two. Fix: leave "
                                "one out (prints or VYRE_PRINTF, validation or VYRE_VALIDATE)");
    }
    vyre_device *device = vy_device_allocate(params.allocator);
    if (!device) {
        return vy_diag_no_memory(diag);
    }
    vy_log_init(&device->log, params.log, params.log_user, options.log_level);
    device->log.prints = options.prints;
    device->log.print = params.print;
    device->log.print_user = params.print_user;
    device->debug = options.debug;
    device->bindings = options.bindings;
    device->optimization = options.optimization;
    device->has_driver_thread = params.driver_thread != 0;
    device->memory_limit = params.memory_limit;
    code = vy_device_set_cache_dir(device, options.cache_dir, diag);
    device->vki.vkGetInstanceProcAddr = (PFN_vkGetInstanceProcAddr)params.get_instance_proc_addr;
    if (code == VYRE_OK && !device->vki.vkGetInstanceProcAddr) {
        code = vy_loader_open(&device->loader, &device->vki.vkGetInstanceProcAddr, diag);
    }
    if (code == VYRE_OK) {
        code = vy_vulkan_instance_create(device, options.validation, diag);
    }
    if (code == VYRE_OK) {
        code = choose(device, options.name, diag);
    }
    if (code == VYRE_OK) {
        code = create_logical(device, diag);
    }
    if (code == VYRE_OK) {
        code = vyre_device_probe(device, diag);
    }
    if (code != VYRE_OK) {
        vyre_device_destroy(&device);
        return code;
    }
    vy_log_write(&device->log, VYRE_LOG_INFO, "opened %s, %s", device->snapshot.info.name,
                 device->snapshot.info.driver);
    *out_device = device;
    return VYRE_OK;
}

void vyre_device_destroy(vyre_device **device_pointer)
{
    if (!device_pointer || !*device_pointer) {
        return;
    }
    vyre_device *d = *device_pointer;
    *device_pointer = NULL;
    if (d->device && d->vk.vkDestroyDevice) {
        if (d->timeline) {
            vy_queue_drain(d, vy_queue_submitted(d));
        }
        vy_runs_end(d, NULL);
        vy_sequences_detach(d);
        vy_runs_detach_pipelines(d);
        vy_runs_destroy(d);
        vy_slot_table_destroy(d, &d->slots);
        vy_memory_destroy(d, &d->memory);
        vy_cache_destroy(d);
        if (d->timeline) {
            d->vk.vkDestroySemaphore(d->device, d->timeline, NULL);
        }
    }
    if (d->owns_device && d->device) {
        /* A table that failed to load may lack it; the instance's own does not. */
        PFN_vkDestroyDevice destroy = d->vk.vkDestroyDevice;
        if (!destroy) {
            destroy = (PFN_vkDestroyDevice)d->vki.vkGetDeviceProcAddr(d->device, "vkDestroyDevice");
        }
        if (destroy) {
            destroy(d->device, NULL);
        }
    }
    if (d->messenger) {
        d->vki.vkDestroyDebugUtilsMessengerEXT(d->instance, d->messenger, NULL);
    }
    if (d->owns_instance && d->vki.vkDestroyInstance) {
        d->vki.vkDestroyInstance(d->instance, NULL);
    }
    vy_loader_close(d->loader);
    vy_mutex_finish(&d->queue_mutex);
    vy_mutex_finish(&d->counter_mutex);
    vyre_allocator allocator = d->allocator;
    vy_free(&allocator, d->cache_dir, d->cache_dir ? strlen(d->cache_dir) + 1 : 0);
    vy_free(&allocator, d, sizeof *d);
}

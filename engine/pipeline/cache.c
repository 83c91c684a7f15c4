/* See cache.h. A blob is added by making another VkPipelineCache of both, since merging into one
 * that other threads compile with is not allowed; the former one goes once nobody compiles. */
#include "engine/pipeline/cache.h"

#include "engine/device/kept.h"

#include <string.h>

/* A cache that grows while it is read is read again. */
#define MAX_ATTEMPTS 8u
/* Bytes of VkPipelineCacheHeaderVersionOne. */
#define VULKAN_HEADER 32u

typedef struct vy_retired {
    VkPipelineCache cache;
    struct vy_retired *next;
} vy_retired;

struct vy_cache {
    bool is_hosts;
    size_t file_size; /* payload and checksum of what the file had; 0: nothing */
    uint64_t file_hash;
    vy_mutex mutex; /* device->pipeline_cache, and what follows */
    uint32_t users;
    bool has_more; /* than the file */
    vy_retired *retired;
};

static uint64_t hash_of(const void *data, size_t size)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, data, size);
    return vy_hash_value(&hash);
}

static uint32_t read_word(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Drivers must check it themselves; not all are trusted to. */
static bool is_of_device(const vy_snapshot *s, const unsigned char *data, size_t size)
{
    return size >= VULKAN_HEADER && read_word(data) >= VULKAN_HEADER && read_word(data) <= size &&
           read_word(data + 4) == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           read_word(data + 8) == s->info.vendor_id && read_word(data + 12) == s->info.device_id &&
           memcmp(data + 16, s->cache_uuid, sizeof s->cache_uuid) == 0;
}

static VkResult make(vyre_device *device, const void *data, size_t size, VkPipelineCache *out)
{
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = size,
        .pInitialData = data,
    };
    VkResult result = device->vk.vkCreatePipelineCache(device->device, &info, NULL, out);
    if (result != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
    }
    vy_set_name(device, VK_OBJECT_TYPE_PIPELINE_CACHE, (uint64_t)*out, "vyre pipeline cache");
    return result;
}

/* ---- Creation -------------------------------------------------------------------------------- */

/* VK_NULL_HANDLE where there is no file that serves. */
static VkPipelineCache make_of_file(vyre_device *device)
{
    VkPipelineCache made = VK_NULL_HANDLE;
    size_t size = 0, payload_size = 0;
    void *blob = vy_kept_read(device, VY_KEPT_PIPELINES, &size);
    const void *payload =
        vy_kept_open(&device->snapshot, VY_KEPT_PIPELINES, blob, size, &payload_size);
    if (payload && is_of_device(&device->snapshot, payload, payload_size) &&
        make(device, payload, payload_size, &made) == VK_SUCCESS) {
        device->cache->file_size = payload_size;
        device->cache->file_hash = hash_of(payload, payload_size);
    }
    vy_free(&device->allocator, blob, size);
    return made;
}

vyre_result vy_cache_create(vyre_device *device, vyre_diag *diag)
{
    vy_cache *cache = vy_alloc_zeroed(&device->allocator, 1, sizeof *cache);
    if (!cache) {
        return vy_diag_no_memory(diag);
    }
    if (vy_mutex_init(&cache->mutex) != 0) {
        vy_free(&device->allocator, cache, sizeof *cache);
        return vy_diag_no_memory(diag);
    }
    device->cache = cache;
    cache->is_hosts = device->pipeline_cache != VK_NULL_HANDLE;
    if (!cache->is_hosts) {
        device->pipeline_cache = make_of_file(device);
    }
    if (device->pipeline_cache) {
        return VYRE_OK;
    }
    VkResult result = make(device, NULL, 0, &device->pipeline_cache);
    return result == VK_SUCCESS ? VYRE_OK
                                : vy_vk_error(device, diag, result, "vkCreatePipelineCache");
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

static VkPipelineCache acquire(vyre_device *device)
{
    vy_mutex_lock(&device->cache->mutex);
    VkPipelineCache current = device->pipeline_cache;
    device->cache->users++;
    vy_mutex_unlock(&device->cache->mutex);
    return current;
}

static void destroy_retired(vyre_device *device, vy_retired *list)
{
    while (list) {
        vy_retired *next = list->next;
        device->vk.vkDestroyPipelineCache(device->device, list->cache, NULL);
        vy_free(&device->allocator, list, sizeof *list);
        list = next;
    }
}

static void release(vyre_device *device, bool has_more)
{
    vy_cache *cache = device->cache;
    vy_retired *unused = NULL;
    vy_mutex_lock(&cache->mutex);
    cache->has_more = cache->has_more || has_more;
    if (--cache->users == 0) {
        unused = cache->retired;
        cache->retired = NULL;
    }
    vy_mutex_unlock(&cache->mutex);
    destroy_retired(device, unused);
}

static bool has_feedback(const vyre_device *device)
{
    return device->snapshot.info.api_version >= VK_API_VERSION_1_3 &&
           device->api_version >= VK_API_VERSION_1_3;
}

VkResult vy_cache_create_pipeline(vyre_device *device, const VkComputePipelineCreateInfo *given,
                                  VkPipeline *out_pipeline)
{
    VkPipelineCreationFeedback whole = {0}, stage = {0};
    VkPipelineCreationFeedbackCreateInfo feedback = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pNext = given->pNext,
        .pPipelineCreationFeedback = &whole,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &stage,
    };
    VkComputePipelineCreateInfo info = *given;
    if (has_feedback(device)) {
        info.pNext = &feedback;
    }
    VkPipelineCache cache = acquire(device);
    VkResult result =
        device->vk.vkCreateComputePipelines(device->device, cache, 1, &info, NULL, out_pipeline);
    const VkPipelineCreationFeedbackFlags hit =
        VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT |
        VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    bool is_hit = result == VK_SUCCESS && (whole.flags & hit) == hit;
    release(device, result == VK_SUCCESS && !is_hit);
    if (is_hit) {
        vy_count(device, pipeline_cache_hits, 1);
    }
    return result;
}

/* ---- Blob ------------------------------------------------------------------------------------ */

/* The cache's data behind room for our header, sealed. *out_blob stays NULL on any failure. */
static vyre_result read_blob(vyre_device *device, VkPipelineCache cache, void **out_blob,
                             size_t *out_size, vyre_diag *diag)
{
    VkResult result = VK_INCOMPLETE;
    for (uint32_t attempt = 0; result == VK_INCOMPLETE && attempt < MAX_ATTEMPTS; attempt++) {
        size_t room = 0, size = 0;
        result = device->vk.vkGetPipelineCacheData(device->device, cache, &room, NULL);
        if (result != VK_SUCCESS) {
            break;
        }
        unsigned char *blob = NULL;
        if (vy_add_size(room, VY_KEPT_HEADER, &size)) {
            blob = vy_alloc_zeroed(&device->allocator, size, 1);
        }
        if (!blob) {
            return vy_diag_no_memory(diag);
        }
        size_t got = room;
        result =
            device->vk.vkGetPipelineCacheData(device->device, cache, &got, blob + VY_KEPT_HEADER);
        if (result == VK_SUCCESS && got == room) {
            vy_kept_seal(&device->snapshot, VY_KEPT_PIPELINES, blob, room);
            *out_blob = blob;
            *out_size = size;
            return VYRE_OK;
        }
        vy_free(&device->allocator, blob, size);
        result = result == VK_SUCCESS ? VK_INCOMPLETE : result; /* it shrank: so again */
    }
    return vy_vk_error(device, diag, result, "vkGetPipelineCacheData");
}

vyre_result vyre_device_save_cache(vyre_device *device, void **out_data, size_t *out_size,
                                   vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !out_data || !out_size) {
        return vy_invalid(diag, "device, out_data or out_size is missing. Fix: pass all three");
    }
    *out_data = NULL;
    *out_size = 0;
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    VkPipelineCache cache = acquire(device);
    code = read_blob(device, cache, out_data, out_size, diag);
    release(device, false);
    return code;
}

void vyre_device_free_cache(vyre_device *device, void **data, size_t size)
{
    if (device && data && *data) {
        vy_free(&device->allocator, *data, size);
        *data = NULL;
    }
}

/* Puts `added`, which nobody else knows yet, in the place of the present cache, with all that is in
 * that. Takes both. */
static VkResult replace(vyre_device *device, VkPipelineCache added, vy_retired *retired)
{
    vy_cache *cache = device->cache;
    for (;;) {
        VkPipelineCache old = acquire(device);
        VkResult result = device->vk.vkMergePipelineCaches(device->device, added, 1, &old);
        if (result != VK_SUCCESS) {
            release(device, false);
            device->vk.vkDestroyPipelineCache(device->device, added, NULL);
            vy_free(&device->allocator, retired, sizeof *retired);
            return result;
        }
        vy_mutex_lock(&cache->mutex);
        bool is_present = device->pipeline_cache == old; /* else another thread came first */
        if (is_present) {
            *retired = (vy_retired){old, cache->retired};
            cache->retired = retired;
            device->pipeline_cache = added;
        }
        vy_mutex_unlock(&cache->mutex);
        release(device, is_present);
        if (is_present) {
            return VK_SUCCESS;
        }
    }
}

static vyre_result load(vyre_device *device, const void *payload, size_t size, vyre_diag *diag)
{
    VkPipelineCache added = VK_NULL_HANDLE;
    vy_retired *retired = vy_alloc_zeroed(&device->allocator, 1, sizeof *retired);
    /* Callers' memory need not be aligned. */
    void *copy = vy_alloc_zeroed(&device->allocator, size, 1);
    if (!retired || !copy) {
        vy_free(&device->allocator, retired, sizeof *retired);
        vy_free(&device->allocator, copy, size);
        return vy_diag_no_memory(diag);
    }
    memcpy(copy, payload, size);
    VkResult result = make(device, copy, size, &added);
    vy_free(&device->allocator, copy, size);
    if (result != VK_SUCCESS) {
        vy_free(&device->allocator, retired, sizeof *retired);
        return vy_vk_error(device, diag, result, "vkCreatePipelineCache");
    }
    result = replace(device, added, retired);
    return result == VK_SUCCESS ? VYRE_OK
                                : vy_vk_error(device, diag, result, "vkMergePipelineCaches");
}

vyre_result vyre_device_load_cache(vyre_device *device, const void *data, size_t size,
                                   int *out_is_used, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (out_is_used) {
        *out_is_used = 0;
    }
    if (!device || (!data && size)) {
        return vy_invalid(diag, "device or data is missing. Fix: pass both");
    }
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    size_t payload_size = 0;
    const void *payload =
        vy_kept_open(&device->snapshot, VY_KEPT_PIPELINES, data, size, &payload_size);
    if (!payload || device->cache->is_hosts ||
        !is_of_device(&device->snapshot, payload, payload_size)) {
        return VYRE_OK;
    }
    code = load(device, payload, payload_size, diag);
    if (code == VYRE_OK && out_is_used) {
        *out_is_used = 1;
    }
    return code;
}

/* ---- End ------------------------------------------------------------------------------------- */

static void save_file(vyre_device *device)
{
    const vy_cache *cache = device->cache;
    void *blob = NULL;
    size_t size = 0;
    if (!device->cache_dir || cache->is_hosts || !cache->has_more || !device->pipeline_cache ||
        atomic_load(&device->lost) ||
        read_blob(device, device->pipeline_cache, &blob, &size, NULL) != VYRE_OK) {
        return;
    }
    size_t payload_size = size - VY_KEPT_HEADER;
    const void *payload = (const unsigned char *)blob + VY_KEPT_HEADER;
    if (payload_size != cache->file_size || hash_of(payload, payload_size) != cache->file_hash) {
        vy_kept_write(device, VY_KEPT_PIPELINES, blob, size);
    }
    vy_free(&device->allocator, blob, size);
}

void vy_cache_destroy(vyre_device *device)
{
    vy_cache *cache = device->cache;
    if (!cache) {
        return;
    }
    save_file(device);
    destroy_retired(device, cache->retired);
    if (device->pipeline_cache && !cache->is_hosts) {
        device->vk.vkDestroyPipelineCache(device->device, device->pipeline_cache, NULL);
    }
    device->pipeline_cache = VK_NULL_HANDLE;
    vy_mutex_finish(&cache->mutex);
    vy_free(&device->allocator, cache, sizeof *cache);
    device->cache = NULL;
}

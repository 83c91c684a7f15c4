/* Failures by their codes. */
#include "engine/megakernel/recovery.h"

/* VkResults: this folder does without Vulkan's headers, and a test compares. */
enum {
    NOT_READY = 1,
    TIMED_OUT = 2,
    OUT_OF_HOST_MEMORY = -1,
    OUT_OF_DEVICE_MEMORY = -2,
    DEVICE_LOST = -4,
    MEMORY_MAP_FAILED = -5,
    LAYER_NOT_PRESENT = -6,
    EXTENSION_NOT_PRESENT = -7,
    FEATURE_NOT_PRESENT = -8,
    INCOMPATIBLE_DRIVER = -9,
    FORMAT_NOT_SUPPORTED = -11,
    FRAGMENTED_POOL = -12,
    OUT_OF_POOL_MEMORY = -1000069000,
    FRAGMENTATION = -1000161000,
    INVALID_SHADER = -1000012000
};

static const struct failure_row {
    const char *name;
    uint32_t retries;
} rows[VY_MK_FAILURE_COUNT] = {
    [VY_MK_FAILURE_NONE] = {"none", 0},
    [VY_MK_FAILURE_DEVICE_LOSS] = {"device-loss", VY_MK_LOSS_RETRIES},
    [VY_MK_FAILURE_TRANSIENT] = {"transient", VY_MK_TRANSIENT_RETRIES},
    [VY_MK_FAILURE_OUT_OF_MEMORY] = {"out-of-memory", VY_MK_MEMORY_RETRIES},
    [VY_MK_FAILURE_PROGRAM] = {"program", 0},
    [VY_MK_FAILURE_UNKNOWN] = {"unknown", 0},
};

const char *vy_mk_failure_name(vy_mk_failure failure)
{
    return rows[(uint32_t)failure < VY_MK_FAILURE_COUNT ? failure : VY_MK_FAILURE_UNKNOWN].name;
}

static vy_mk_failure by_vulkan(int32_t vk_result)
{
    switch (vk_result) {
    case NOT_READY:
    case TIMED_OUT:
        return VY_MK_FAILURE_TRANSIENT;
    case OUT_OF_HOST_MEMORY:
    case OUT_OF_DEVICE_MEMORY:
    case MEMORY_MAP_FAILED:
    case FRAGMENTED_POOL:
    case OUT_OF_POOL_MEMORY:
    case FRAGMENTATION:
        return VY_MK_FAILURE_OUT_OF_MEMORY;
    case LAYER_NOT_PRESENT:
    case EXTENSION_NOT_PRESENT:
    case FEATURE_NOT_PRESENT:
    case INCOMPATIBLE_DRIVER:
    case FORMAT_NOT_SUPPORTED:
    case INVALID_SHADER:
        return VY_MK_FAILURE_PROGRAM;
    default:
        return VY_MK_FAILURE_UNKNOWN;
    }
}

vy_mk_failure vy_mk_failure_classify(vyre_result result, int32_t vk_result)
{
    if (vk_result == DEVICE_LOST) {
        return VY_MK_FAILURE_DEVICE_LOSS;
    }
    switch (result) {
    case VYRE_OK:
        return VY_MK_FAILURE_NONE;
    case VYRE_ERROR_DEVICE_LOST:
        return VY_MK_FAILURE_DEVICE_LOSS;
    case VYRE_ERROR_BUSY:
    case VYRE_ERROR_TIMEOUT:
        return VY_MK_FAILURE_TRANSIENT;
    case VYRE_ERROR_DEVICE_OUT_OF_MEMORY:
    case VYRE_ERROR_OUT_OF_HOST_MEMORY:
        return VY_MK_FAILURE_OUT_OF_MEMORY;
    case VYRE_ERROR_UNSUPPORTED_FEATURE:
    case VYRE_ERROR_KERNEL_COMPILE_FAILED:
    case VYRE_ERROR_INVALID_PROGRAM:
    case VYRE_ERROR_INVALID_ARGUMENT:
        return VY_MK_FAILURE_PROGRAM;
    case VYRE_ERROR_NO_DEVICE:
    case VYRE_ERROR_IO:
        return VY_MK_FAILURE_UNKNOWN;
    case VYRE_ERROR_DISPATCH_FAILED:
    case VYRE_ERROR_INTERNAL:
    default:
        return by_vulkan(vk_result);
    }
}

bool vy_mk_may_retry(vy_mk_failure failure, uint32_t attempt, uint64_t done_count,
                     bool all_idempotent)
{
    if ((uint32_t)failure >= VY_MK_FAILURE_COUNT || attempt == 0) {
        return false;
    }
    return attempt <= rows[failure].retries && (done_count == 0 || all_idempotent);
}

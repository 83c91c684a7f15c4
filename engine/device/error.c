/* VkResults as results of the library, worded once. */
#include "engine/device/device.h"

#include <stdio.h>

const char *vy_vk_result_text(VkResult result)
{
    switch (result) {
#define CASE(name)                                                                                 \
    case name:                                                                                     \
        return #name;
        CASE(VK_SUCCESS)
        CASE(VK_NOT_READY)
        CASE(VK_TIMEOUT)
        CASE(VK_INCOMPLETE)
        CASE(VK_ERROR_OUT_OF_HOST_MEMORY)
        CASE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        CASE(VK_ERROR_INITIALIZATION_FAILED)
        CASE(VK_ERROR_DEVICE_LOST)
        CASE(VK_ERROR_MEMORY_MAP_FAILED)
        CASE(VK_ERROR_LAYER_NOT_PRESENT)
        CASE(VK_ERROR_EXTENSION_NOT_PRESENT)
        CASE(VK_ERROR_FEATURE_NOT_PRESENT)
        CASE(VK_ERROR_INCOMPATIBLE_DRIVER)
        CASE(VK_ERROR_TOO_MANY_OBJECTS)
        CASE(VK_ERROR_FRAGMENTED_POOL)
        CASE(VK_ERROR_OUT_OF_POOL_MEMORY)
        CASE(VK_ERROR_FRAGMENTATION)
        CASE(VK_ERROR_INVALID_SHADER_NV)
        CASE(VK_ERROR_UNKNOWN)
#undef CASE
    default:
        return "an unknown VkResult";
    }
}

static vyre_result lost(vyre_device *device, vyre_diag *diag, const char *call)
{
    const char *where = device && atomic_load(&device->lost) ? device->lost_in : call;
    return vy_diag_set(diag, VYRE_ERROR_DEVICE_LOST, (vy_loc){0, 0},
                       "the Vulkan device was lost (in %s). Fix: destroy the device object and "
                       "open the device again; if it happens in one program only, look for a "
                       "pass that runs for seconds on a display's device",
                       where);
}

vyre_result vy_vk_error(vyre_device *device, vyre_diag *diag, VkResult result, const char *call)
{
    vyre_result code = VYRE_ERROR_DISPATCH_FAILED;
    const char *fix = "the device is still usable: call again, or report it with this message";
    if (diag) {
        diag->vk_result = (int32_t)result;
    }
    switch (result) {
    case VK_ERROR_DEVICE_LOST:
        if (device && !atomic_exchange(&device->is_losing, true)) {
            snprintf(device->lost_in, sizeof device->lost_in, "%s", call);
            atomic_store(&device->lost, true);
        }
        return lost(device, diag, call);
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        code = VYRE_ERROR_OUT_OF_HOST_MEMORY;
        fix = "free memory and call again";
        break;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED:
        code = VYRE_ERROR_DEVICE_OUT_OF_MEMORY;
        fix = "destroy buffers or pipelines that are not needed, then call again";
        break;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INITIALIZATION_FAILED:
        code = VYRE_ERROR_NO_DEVICE;
        fix = "install or update the Vulkan driver (tools/setup.sh finds one)";
        break;
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
        code = VYRE_ERROR_UNSUPPORTED_FEATURE;
        fix = "use another device, or open this one without what it lacks";
        break;
    default:
        break;
    }
    return vy_diag_set(diag, code, (vy_loc){0, 0}, "%s gave %s (%d). Fix: %s", call,
                       vy_vk_result_text(result), (int)result, fix);
}

vyre_result vy_check_lost(vyre_device *device, vyre_diag *diag)
{
    if (!atomic_load(&device->lost)) {
        return VYRE_OK;
    }
    if (diag) {
        diag->vk_result = VK_ERROR_DEVICE_LOST;
    }
    return lost(device, diag, "an earlier call");
}

vyre_result vy_invalid(vyre_diag *diag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vyre_result result =
        vy_diag_setv(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0}, format, arguments);
    va_end(arguments);
    return result;
}

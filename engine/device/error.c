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

/* The first one who notices is remembered, and who comes second returns after that was done. */
static void note_loss(vyre_device *device, const char *call)
{
    if (!device) {
        return;
    }
    vy_mutex_lock(&device->counter_mutex);
    if (!atomic_load(&device->lost)) {
        snprintf(device->lost_in, sizeof device->lost_in, "%s", call);
        atomic_store(&device->lost, true);
    }
    vy_mutex_unlock(&device->counter_mutex);
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
        note_loss(device, call);
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
        fix = "install or update the Vulkan driver (tools/setup.sh finds one; then source "
              "build/deps/env.sh)";
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

/* ---- Loss ------------------------------------------------------------------------------------ */

static const char *address_text(VkDeviceFaultAddressTypeEXT type)
{
    switch (type) {
    case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT:
        return "invalid read at";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT:
        return "invalid write at";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT:
        return "invalid execution at";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_UNKNOWN_EXT:
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT:
        return "instruction at";
    default:
        return "address";
    }
}

static void write_fault(const VkDeviceFaultCountsEXT *counts, const VkDeviceFaultInfoEXT *info,
                        char *out, size_t size)
{
    vy_fixed_text text = {out, size, 0};
    vy_fixed_text_printf(&text, "%.*s", (int)sizeof info->description, info->description);
    for (uint32_t i = 0; i < counts->addressInfoCount; i++) {
        const VkDeviceFaultAddressInfoEXT *a = &info->pAddressInfos[i];
        vy_fixed_text_printf(&text, "; %s 0x%llx", address_text(a->addressType),
                             (unsigned long long)a->reportedAddress);
        if (a->addressPrecision > 1) {
            vy_fixed_text_printf(&text, " (to within 0x%llx)",
                                 (unsigned long long)a->addressPrecision);
        }
    }
    for (uint32_t i = 0; i < counts->vendorInfoCount; i++) {
        const VkDeviceFaultVendorInfoEXT *v = &info->pVendorInfos[i];
        vy_fixed_text_printf(&text, "; %.*s (code %llu, data %llu)", (int)sizeof v->description,
                             v->description, (unsigned long long)v->vendorFaultCode,
                             (unsigned long long)v->vendorFaultData);
    }
}

bool vy_device_query_fault(vyre_device *device, char *out, size_t size)
{
    if (size) {
        out[0] = 0;
    }
    PFN_vkGetDeviceFaultInfoEXT query = device->vk.vkGetDeviceFaultInfoEXT;
    if (!query || !size || !atomic_load(&device->lost)) {
        return false;
    }
    VkDeviceFaultCountsEXT counts = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
    if (query(device->device, &counts, NULL) < 0) {
        return false;
    }
    counts.vendorBinarySize = 0;
    uint32_t addresses = counts.addressInfoCount, vendors = counts.vendorInfoCount;
    VkDeviceFaultAddressInfoEXT *address_list =
        vy_alloc_zeroed(&device->allocator, addresses, sizeof *address_list);
    VkDeviceFaultVendorInfoEXT *vendor_list =
        vy_alloc_zeroed(&device->allocator, vendors, sizeof *vendor_list);
    /* What there is no memory for is left out. */
    counts.addressInfoCount = address_list ? addresses : 0;
    counts.vendorInfoCount = vendor_list ? vendors : 0;
    VkDeviceFaultInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT,
                                 .pAddressInfos = address_list,
                                 .pVendorInfos = vendor_list};
    bool is_there = query(device->device, &counts, &info) >= 0;
    if (is_there) {
        write_fault(&counts, &info, out, size);
    }
    vy_free(&device->allocator, address_list, addresses * sizeof *address_list);
    vy_free(&device->allocator, vendor_list, vendors * sizeof *vendor_list);
    return is_there;
}

void vy_device_loss_base(vyre_device *device, vyre_loss *out)
{
    *out = (vyre_loss){.segment = VYRE_DIAG_NONE, .pass = VYRE_DIAG_NONE};
    if (!device || !atomic_load(&device->lost)) {
        return;
    }
    out->is_lost = 1;
    snprintf(out->program, sizeof out->program, "%s", device->lost_in);
    (void)vy_device_query_fault(device, out->fault, sizeof out->fault);
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

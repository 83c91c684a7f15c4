/* See take.h. */
#include "take.h"

#include <string.h>

static const take_call *taken;
static uint32_t taken_count;
static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;

static PFN_vkVoidFunction take(PFN_vkVoidFunction found, const char *asked, bool is_instances)
{
    for (uint32_t i = 0; found && i < taken_count; i++) {
        if (taken[i].is_instances == is_instances && strcmp(taken[i].name, asked) == 0) {
            memcpy(taken[i].next, &found, sizeof found);
            return taken[i].own;
        }
    }
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *asked)
{
    return take(next_device(device, asked), asked, false);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *asked)
{
    PFN_vkVoidFunction found = next_instance(instance, asked);
    if (found && strcmp(asked, "vkGetDeviceProcAddr") == 0) {
        next_device = (PFN_vkGetDeviceProcAddr)found;
        return (PFN_vkVoidFunction)get_device;
    }
    return take(found, asked, true);
}

vyre_vulkan_entry take_entry(const take_call *calls, uint32_t count)
{
    taken = calls;
    taken_count = count;
    next_instance = (PFN_vkGetInstanceProcAddr)layer_entry();
    return next_instance ? (vyre_vulkan_entry)get_instance : NULL;
}

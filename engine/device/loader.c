/* Finding Vulkan: the loader library, and the function tables filled from a device's own
 * vkGetInstanceProcAddr. */
#include "engine/device/device.h"

#include <string.h>

#if defined(_WIN32)
#define LOADER_NAME "vulkan-1.dll"
#define LOADER_FROM "install the driver of the device's vendor, which brings it"
#else
#include <dlfcn.h>
#define LOADER_NAME "libvulkan.so.1"
#define LOADER_FROM "install it (Debian: libvulkan1) and a driver, or run tools/setup.sh"
#endif

static void *open_library(void)
{
#if defined(_WIN32)
    return (void *)LoadLibraryA(LOADER_NAME);
#else
    return dlopen(LOADER_NAME, RTLD_NOW | RTLD_LOCAL);
#endif
}

static PFN_vkGetInstanceProcAddr find_entry(void *loader)
{
    PFN_vkGetInstanceProcAddr get = NULL;
#if defined(_WIN32)
    FARPROC symbol = GetProcAddress((HMODULE)loader, "vkGetInstanceProcAddr");
    memcpy(&get, &symbol, sizeof get);
#else
    void *symbol = dlsym(loader, "vkGetInstanceProcAddr");
    memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from void * to a function */
#endif
    return get;
}

vyre_result vy_loader_open(void **out_loader, PFN_vkGetInstanceProcAddr *out_get, vyre_diag *diag)
{
    *out_get = NULL;
    *out_loader = open_library();
    if (*out_loader) {
        *out_get = find_entry(*out_loader);
    }
    if (*out_get) {
        return VYRE_OK;
    }
    vy_loader_close(*out_loader);
    *out_loader = NULL;
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                       "there is no Vulkan loader (%s) on this machine. Fix: %s", LOADER_NAME,
                       LOADER_FROM);
}

void vy_loader_close(void *loader)
{
    if (loader) {
#if defined(_WIN32)
        FreeLibrary((HMODULE)loader);
#else
        dlclose(loader);
#endif
    }
}

static vyre_result no_function(vyre_diag *diag, const char *name)
{
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the Vulkan driver does not offer %s. Fix: update the driver to one of "
                       "Vulkan 1.2 or newer",
                       name);
}

vyre_result vy_instance_table_load(vy_instance_table *table, PFN_vkGetInstanceProcAddr get,
                                   VkInstance instance, vyre_diag *diag)
{
    table->vkGetInstanceProcAddr = get;
#define VY_X(name)                                                                                 \
    table->name = (PFN_##name)get(instance, #name);                                                \
    if (!table->name) {                                                                            \
        return no_function(diag, #name);                                                           \
    }
    VY_INSTANCE_FUNCTIONS(VY_X)
#undef VY_X
#define VY_X(name) table->name = (PFN_##name)get(instance, #name);
    VY_INSTANCE_OPTIONAL_FUNCTIONS(VY_X)
#undef VY_X
    return VYRE_OK;
}

/* On a device of Vulkan 1.2 the functions of an extension that became core later. */
static PFN_vkVoidFunction find_as_extension(PFN_vkGetDeviceProcAddr get, VkDevice device,
                                            const char *name)
{
    return strcmp(name, "vkCmdPipelineBarrier2") == 0 ? get(device, "vkCmdPipelineBarrier2KHR")
                                                      : NULL;
}

vyre_result vy_device_table_load(struct VolkDeviceTable *table, const vy_instance_table *vki,
                                 VkDevice device, vy_snapshot *snapshot, vyre_diag *diag)
{
    PFN_vkGetDeviceProcAddr get = vki->vkGetDeviceProcAddr;
#define VY_X(name)                                                                                 \
    table->name = (PFN_##name)get(device, #name);                                                  \
    if (!table->name) {                                                                            \
        return no_function(diag, #name);                                                           \
    }
    VY_DEVICE_FUNCTIONS(VY_X)
#undef VY_X
#define VY_X(name, member)                                                                         \
    table->name = snapshot->member ? (PFN_##name)get(device, #name) : NULL;                        \
    if (snapshot->member && !table->name) {                                                        \
        table->name = (PFN_##name)find_as_extension(get, device, #name);                           \
    }                                                                                              \
    snapshot->member = table->name != NULL;
    VY_DEVICE_OPTIONAL_FUNCTIONS(VY_X)
#undef VY_X
    return VYRE_OK;
}

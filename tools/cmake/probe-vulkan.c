/* Which Vulkan devices does this machine have? Used by tools/setup.sh before anything is built.
 * Prints one line for each, "gpu|cpu DRIVER-INFO: NAME", and ends with 0 if there is one, else 1.
 */
#include <vulkan/vulkan_core.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEVICES 16u

int main(void)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) {
        fprintf(stderr, "no Vulkan loader: %s\n", dlerror());
        return 1;
    }
    PFN_vkGetInstanceProcAddr get = NULL;
    void *symbol = dlsym(loader, "vkGetInstanceProcAddr");
    memcpy(&get, &symbol, sizeof get);
    if (!get) {
        return 1;
    }
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    VkInstance instance = VK_NULL_HANDLE;
    VkResult result = create ? create(&info, NULL, &instance) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        fprintf(stderr, "vkCreateInstance: VkResult %d\n", (int)result);
        return 1;
    }
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)get(instance, "vkEnumeratePhysicalDevices");
    PFN_vkGetPhysicalDeviceProperties2 query =
        (PFN_vkGetPhysicalDeviceProperties2)get(instance, "vkGetPhysicalDeviceProperties2");
    PFN_vkDestroyInstance destroy = (PFN_vkDestroyInstance)get(instance, "vkDestroyInstance");
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    uint32_t printed = 0;
    result = enumerate(instance, &count, devices);
    for (uint32_t i = 0; (result == VK_SUCCESS || result == VK_INCOMPLETE) && i < count; i++) {
        VkPhysicalDeviceDriverProperties driver = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
        query(devices[i], &properties);
        if (properties.properties.apiVersion < VK_API_VERSION_1_2) {
            continue; /* older than the library's floor */
        }
        VkPhysicalDeviceType type = properties.properties.deviceType;
        int gpu = type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                  type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                  type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
        printf("%s %s: %s\n", gpu ? "gpu" : "cpu", driver.driverInfo,
               properties.properties.deviceName);
        printed++;
    }
    destroy(instance, NULL);
    return printed > 0 ? 0 : 1;
}

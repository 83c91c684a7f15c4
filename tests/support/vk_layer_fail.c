/* Which command may fail with what, failing the n-th, coverage, and the wrappers that do nothing
 * else. */
#include "tests/support/vk_layer_parts.h"

#include <stdio.h>
#include <string.h>

#define HOST      VK_ERROR_OUT_OF_HOST_MEMORY
#define MEM       VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY
#define MEM_LOST  MEM, VK_ERROR_DEVICE_LOST
#define MAX_CALLS 20000u

/* Errors as the specification lists them for each command, apart from VK_ERROR_UNKNOWN, which any
 * may give; those of a new extension's structures are left out. */
static const layer_command_errors commands[] = {
    {"vkCreateInstance",
     {MEM, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_LAYER_NOT_PRESENT,
      VK_ERROR_EXTENSION_NOT_PRESENT, VK_ERROR_INCOMPATIBLE_DRIVER}},
    {"vkEnumerateInstanceVersion", {HOST}},
    {"vkEnumerateInstanceLayerProperties", {MEM}},
    {"vkEnumerateInstanceExtensionProperties", {MEM, VK_ERROR_LAYER_NOT_PRESENT}},
    {"vkEnumeratePhysicalDevices", {MEM, VK_ERROR_INITIALIZATION_FAILED}},
    {"vkEnumerateDeviceExtensionProperties", {MEM, VK_ERROR_LAYER_NOT_PRESENT}},
    {"vkCreateDevice",
     {MEM, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_EXTENSION_NOT_PRESENT,
      VK_ERROR_FEATURE_NOT_PRESENT, VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_DEVICE_LOST}},
    {"vkCreateDebugUtilsMessengerEXT", {HOST}},
    {"vkSetDebugUtilsObjectNameEXT", {MEM}},
    {"vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", {MEM}},
    {"vkQueueSubmit", {MEM_LOST}},
    {"vkQueueWaitIdle", {MEM_LOST}},
    {"vkDeviceWaitIdle", {MEM_LOST}},
    {"vkAllocateMemory",
     {MEM, VK_ERROR_INVALID_EXTERNAL_HANDLE, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkMapMemory", {MEM, VK_ERROR_MEMORY_MAP_FAILED}},
    {"vkFlushMappedMemoryRanges", {MEM}},
    {"vkInvalidateMappedMemoryRanges", {MEM}},
    {"vkBindBufferMemory", {MEM, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkBindBufferMemory2", {MEM, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkCreateBuffer", {MEM, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
    {"vkCreateShaderModule", {MEM, VK_ERROR_INVALID_SHADER_NV}},
    {"vkCreatePipelineCache", {MEM}},
    {"vkGetPipelineCacheData", {MEM}},
    {"vkMergePipelineCaches", {MEM}},
    {"vkCreateComputePipelines", {MEM, VK_ERROR_INVALID_SHADER_NV}},
    {"vkCreatePipelineLayout", {MEM}},
    {"vkCreateDescriptorSetLayout", {MEM}},
    {"vkCreateDescriptorPool", {MEM, VK_ERROR_FRAGMENTATION}},
    {"vkAllocateDescriptorSets", {MEM, VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY}},
    {"vkCreateCommandPool", {MEM}},
    {"vkResetCommandPool", {MEM}},
    {"vkAllocateCommandBuffers", {MEM}},
    {"vkBeginCommandBuffer", {MEM}},
    {"vkEndCommandBuffer", {MEM}},
    {"vkResetCommandBuffer", {MEM}},
    {"vkCreateSemaphore", {MEM}},
    {"vkWaitSemaphores", {MEM_LOST}},
    {"vkGetSemaphoreCounterValue", {MEM_LOST}},
    {"vkCreateFence", {MEM}},
    {"vkWaitForFences", {MEM_LOST}},
    {"vkCreateQueryPool", {MEM}},
    {"vkGetQueryPoolResults", {MEM_LOST}},
    {"vkGetCalibratedTimestampsEXT", {MEM}},
    {"vkGetDeviceFaultInfoEXT", {HOST}},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static layer_cover cover[COMMAND_COUNT];
static uint32_t fallible_calls, call_count;
static const layer_command_errors *calls[MAX_CALLS];
static const char *failed;
static VkResult given;
static bool is_lost, has_then, has_looked;

static uint32_t number_of(const char *name)
{
    uint32_t i = 0;
    while (i < COMMAND_COUNT && strcmp(commands[i].name, name) != 0) {
        i++;
    }
    return i;
}

static int place_of(const layer_command_errors *command, VkResult result)
{
    for (uint32_t i = 0; i < LAYER_MAX_RESULTS && command->results[i]; i++) {
        if (command->results[i] == result) {
            return (int)i;
        }
    }
    return -1;
}

/* How often a caller looks, whether it sleeps and how often it compares clocks depends on the time:
 * only the first look behind a submission has its place in the order of calls. */
static bool is_timed(const char *name)
{
    if (strcmp(name, "vkGetSemaphoreCounterValue") == 0) {
        bool again = has_looked;
        has_looked = true;
        return again;
    }
    has_looked = has_looked && strcmp(name, "vkQueueSubmit") != 0;
    return strcmp(name, "vkWaitSemaphores") == 0 ||
           strcmp(name, "vkGetCalibratedTimestampsEXT") == 0;
}

bool layer_fails(const char *name)
{
    layer_lock();
    layer_count_call(name);
    uint32_t number = number_of(name);
    const layer_command_errors *command = number < COMMAND_COUNT ? &commands[number] : NULL;
    bool fails = false;
    if (command) {
        cover[number].made++;
    }
    bool timed = is_timed(name);
    if (layer.fail_only ? strcmp(name, layer.fail_only) == 0 : !timed) {
        if (call_count < MAX_CALLS && command) {
            calls[call_count++] = command;
        }
        fallible_calls++;
        fails = layer.fail_at && fallible_calls == layer.fail_at;
    }
    bool can_lose = command && place_of(command, VK_ERROR_DEVICE_LOST) >= 0;
    if (fails) {
        failed = name;
        given = layer.failure;
        is_lost = layer.loss_stays && given == VK_ERROR_DEVICE_LOST;
    } else if (failed && !has_then && layer.fail_then && strcmp(name, layer.fail_then) == 0) {
        fails = has_then = true;
        given = layer.failure_then;
    } else if (is_lost && can_lose && strcmp(name, "vkCreateDevice") != 0) {
        fails = true;
        given = VK_ERROR_DEVICE_LOST;
    }
    int place = fails && command ? place_of(command, given) : -1;
    if (place >= 0) {
        cover[number].failed[place]++;
    }
    layer_unlock();
    if (fails && (given == VK_ERROR_DEVICE_LOST || has_then) && layer_below.vkDeviceWaitIdle &&
        layer_device()) {
        /* The engine may free everything now, and the real device is not lost. */
        (void)layer_below.vkDeviceWaitIdle(layer_device());
    }
    return fails;
}

VkResult layer_failure(void)
{
    return given;
}

void layer_reset_failures(void)
{
    fallible_calls = call_count = 0;
    failed = NULL;
    is_lost = has_then = has_looked = false;
}

void layer_revive(void)
{
    is_lost = false;
}

/* ---- Questions ------------------------------------------------------------------------------- */

uint32_t layer_fallible_calls(void)
{
    return fallible_calls;
}

const char *layer_failed(void)
{
    return failed;
}

uint32_t layer_fallible_list(const layer_command_errors **out, uint32_t capacity)
{
    for (uint32_t i = 0; i < call_count && i < capacity; i++) {
        out[i] = calls[i];
    }
    return call_count;
}

uint32_t layer_coverage(layer_cover *out, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
        cover[i].command = &commands[i];
        if (cover[i].made && count < capacity) {
            out[count++] = cover[i];
        }
    }
    return count;
}

uint32_t layer_uncovered(bool print)
{
    uint32_t uncovered = 0;
    for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
        if (!cover[i].made) {
            continue;
        }
        if (print) {
            printf("  %-46s made %6u, failed", commands[i].name, (unsigned)cover[i].made);
        }
        for (uint32_t r = 0; r < LAYER_MAX_RESULTS && commands[i].results[r]; r++) {
            uncovered += cover[i].failed[r] == 0;
            if (print) {
                printf(" %d:%u", (int)commands[i].results[r], (unsigned)cover[i].failed[r]);
            }
        }
        if (print) {
            printf("\n");
        }
    }
    return uncovered;
}

void layer_forget_coverage(void)
{
    memset(cover, 0, sizeof cover);
}

/* ---- Wrappers of one shape ------------------------------------------------------------------- */

#define CALLBACKS const VkAllocationCallbacks *c

/* name, what is made, parameters, arguments. */
#define RESULT_FUNCTIONS(X)                                                                        \
    X(vkEnumerateInstanceVersion, 0, (uint32_t * a), (a))                                          \
    X(vkEnumerateInstanceLayerProperties, 0, (uint32_t * a, VkLayerProperties * b), (a, b))        \
    X(vkEnumerateInstanceExtensionProperties, 0,                                                   \
      (const char *a, uint32_t *b, VkExtensionProperties *d), (a, b, d))                           \
    X(vkCreateInstance, 1, (const VkInstanceCreateInfo *a, CALLBACKS, VkInstance *d), (a, c, d))   \
    X(vkCreateDebugUtilsMessengerEXT, 1,                                                           \
      (VkInstance a, const VkDebugUtilsMessengerCreateInfoEXT *b, CALLBACKS,                       \
       VkDebugUtilsMessengerEXT *d),                                                               \
      (a, b, c, d))                                                                                \
    X(vkSetDebugUtilsObjectNameEXT, 0, (VkDevice a, const VkDebugUtilsObjectNameInfoEXT *b),       \
      (a, b))                                                                                      \
    X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT, 0,                                           \
      (VkPhysicalDevice a, uint32_t * b, VkTimeDomainEXT * d), (a, b, d))                          \
    X(vkCreatePipelineCache, 1,                                                                    \
      (VkDevice a, const VkPipelineCacheCreateInfo *b, CALLBACKS, VkPipelineCache *d),             \
      (a, b, c, d))                                                                                \
    X(vkGetPipelineCacheData, 0, (VkDevice a, VkPipelineCache b, size_t * d, void *e),             \
      (a, b, d, e))                                                                                \
    X(vkMergePipelineCaches, 0,                                                                    \
      (VkDevice a, VkPipelineCache b, uint32_t d, const VkPipelineCache *e), (a, b, d, e))         \
    X(vkCreatePipelineLayout, 1,                                                                   \
      (VkDevice a, const VkPipelineLayoutCreateInfo *b, CALLBACKS, VkPipelineLayout *d),           \
      (a, b, c, d))                                                                                \
    X(vkCreateDescriptorSetLayout, 1,                                                              \
      (VkDevice a, const VkDescriptorSetLayoutCreateInfo *b, CALLBACKS, VkDescriptorSetLayout *d), \
      (a, b, c, d))                                                                                \
    X(vkCreateDescriptorPool, 1,                                                                   \
      (VkDevice a, const VkDescriptorPoolCreateInfo *b, CALLBACKS, VkDescriptorPool *d),           \
      (a, b, c, d))                                                                                \
    X(vkCreateSemaphore, 1,                                                                        \
      (VkDevice a, const VkSemaphoreCreateInfo *b, CALLBACKS, VkSemaphore *d), (a, b, c, d))       \
    X(vkCreateFence, 1, (VkDevice a, const VkFenceCreateInfo *b, CALLBACKS, VkFence *d),           \
      (a, b, c, d))                                                                                \
    X(vkCreateQueryPool, 1,                                                                        \
      (VkDevice a, const VkQueryPoolCreateInfo *b, CALLBACKS, VkQueryPool *d), (a, b, c, d))       \
    X(vkGetDeviceFaultInfoEXT, 0,                                                                  \
      (VkDevice a, VkDeviceFaultCountsEXT * b, VkDeviceFaultInfoEXT * d), (a, b, d))

#define DESTROY_FUNCTIONS(X)                                                                       \
    X(vkDestroyPipelineCache, VkPipelineCache)                                                     \
    X(vkDestroyPipelineLayout, VkPipelineLayout)                                                   \
    X(vkDestroyDescriptorSetLayout, VkDescriptorSetLayout)                                         \
    X(vkDestroySemaphore, VkSemaphore)                                                             \
    X(vkDestroyFence, VkFence)                                                                     \
    X(vkDestroyQueryPool, VkQueryPool)

#define X(name, made, parameters, arguments)                                                       \
    static VKAPI_ATTR VkResult VKAPI_CALL wrap_##name parameters                                   \
    {                                                                                              \
        if (layer_fails(#name)) {                                                                  \
            return layer_failure();                                                                \
        }                                                                                          \
        VkResult result = layer_below.name arguments;                                              \
        layer_add_alive(result >= 0 ? (made) : 0);                                                 \
        return result;                                                                             \
    }
RESULT_FUNCTIONS(X)
#undef X

#define X(name, type)                                                                              \
    static VKAPI_ATTR void VKAPI_CALL wrap_##name(VkDevice a, type b, CALLBACKS)                   \
    {                                                                                              \
        layer_add_alive(-(b != VK_NULL_HANDLE));                                                   \
        layer_count_call(#name);                                                                   \
        layer_below.name(a, b, c);                                                                 \
    }
DESTROY_FUNCTIONS(X)
#undef X

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyInstance(VkInstance instance, CALLBACKS)
{
    layer_add_alive(-(instance != VK_NULL_HANDLE));
    layer_below.vkDestroyInstance(instance, c);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyDebugUtilsMessengerEXT(VkInstance instance,
                                                                       VkDebugUtilsMessengerEXT b,
                                                                       CALLBACKS)
{
    layer_add_alive(-(b != VK_NULL_HANDLE));
    layer_below.vkDestroyDebugUtilsMessengerEXT(instance, b, c);
}

PFN_vkVoidFunction layer_find_simple(const char *name)
{
#define X(known, made, parameters, arguments) LAYER_TAKE(known)
    RESULT_FUNCTIONS(X)
#undef X
#define X(known, type) LAYER_TAKE(known)
    DESTROY_FUNCTIONS(X)
#undef X
    LAYER_TAKE(vkDestroyInstance)
    LAYER_TAKE(vkDestroyDebugUtilsMessengerEXT)
    return NULL;
}

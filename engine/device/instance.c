/* An instance of our own: version, validation layer, messages; the list of its devices; and what
 * the environment says where the parameters say nothing. */
#include "engine/device/device.h"

#include <stdlib.h>
#include <string.h>

#define LAYER "VK_LAYER_KHRONOS_validation"

/* ---- Environment ----------------------------------------------------------------------------- */

static bool is_word(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static vyre_validation read_validation(void)
{
    const char *text = getenv("VYRE_VALIDATE");
    if (!text || !text[0] || is_word(text, "0")) {
        return VYRE_VALIDATION_OFF;
    }
    return is_word(text, "gpu") ? VYRE_VALIDATION_GPU_ASSISTED : VYRE_VALIDATION_ON;
}

static bool read_prints(void)
{
    const char *text = getenv("VYRE_PRINTF");
    return text && text[0] && !is_word(text, "0");
}

static vyre_binding_mode read_bindings(void)
{
    const char *text = getenv("VYRE_BINDINGS");
    return is_word(text, "address")      ? VYRE_BINDINGS_ADDRESS
           : is_word(text, "descriptor") ? VYRE_BINDINGS_DESCRIPTOR
                                         : VYRE_BINDINGS_AUTO;
}

static vyre_optimization read_optimization(void)
{
    return is_word(getenv("VYRE_OPTIMIZE"), "0") ? VYRE_OPTIMIZATION_NONE : VYRE_OPTIMIZATION_FULL;
}

static vyre_log_level read_level(void)
{
    const char *text = getenv("VYRE_LOG");
    if (is_word(text, "error")) {
        return VYRE_LOG_ERROR;
    }
    if (is_word(text, "info")) {
        return VYRE_LOG_INFO;
    }
    return is_word(text, "debug") ? VYRE_LOG_DEBUG : VYRE_LOG_WARNING;
}

static uint32_t read_debug(void)
{
    static const struct {
        const char *word;
        uint32_t bit;
    } words[] = {{"serialize", VYRE_DEBUG_SERIALIZE},
                 {"trace", VYRE_DEBUG_TRACE},
                 {"labels", VYRE_DEBUG_LABELS},
                 {"breadcrumbs", VYRE_DEBUG_BREADCRUMBS}};
    uint32_t bits = 0;
    for (const char *at = getenv("VYRE_DEBUG"); at && *at;) {
        size_t length = strcspn(at, ",");
        for (size_t i = 0; i < VY_COUNT_OF(words); i++) {
            if (strlen(words[i].word) == length && strncmp(at, words[i].word, length) == 0) {
                bits |= words[i].bit;
            }
        }
        at += length + (at[length] == ',');
    }
    return bits;
}

void vy_device_options_read(const vyre_device_params *params, vy_device_options *out)
{
    *out = (vy_device_options){.validation = params->validation,
                               .log_level = params->log_level,
                               .bindings = read_bindings(),
                               .optimization = read_optimization(),
                               .debug = params->debug | read_debug()};
    /* An empty name says that there is to be none, whatever the environment says. */
    const char *dir = params->cache_dir ? params->cache_dir : getenv("VYRE_CACHE_DIR");
    out->cache_dir = dir && dir[0] ? dir : NULL;
    const char *name = params->name ? params->name : getenv("VYRE_DEVICE");
    if (name) {
        strncpy(out->name, name, sizeof out->name - 1);
    }
    if (out->validation == VYRE_VALIDATION_DEFAULT) {
        out->validation = read_validation();
    }
    if (out->log_level == VYRE_LOG_DEFAULT) {
        out->log_level = read_level();
    }
    out->prints = params->prints != 0 || read_prints();
    if (out->prints && out->validation <= VYRE_VALIDATION_OFF) {
        out->validation = VYRE_VALIDATION_ON;
    }
}

/* ---- Instance -------------------------------------------------------------------------------- */

static vyre_result has_layer(vyre_device *device, bool *out_has, vyre_diag *diag)
{
    PFN_vkEnumerateInstanceLayerProperties enumerate =
        (PFN_vkEnumerateInstanceLayerProperties)device->vki.vkGetInstanceProcAddr(
            NULL, "vkEnumerateInstanceLayerProperties");
    *out_has = false;
    uint32_t count = 0;
    VkResult result = enumerate ? enumerate(&count, NULL) : VK_SUCCESS;
    if (result != VK_SUCCESS || count == 0) {
        return result == VK_SUCCESS
                   ? VYRE_OK
                   : vy_vk_error(NULL, diag, result, "vkEnumerateInstanceLayerProperties");
    }
    size_t size = count * sizeof(VkLayerProperties);
    VkLayerProperties *list = vy_alloc_zeroed(&device->allocator, count, sizeof *list);
    if (!list) {
        return vy_diag_no_memory(diag);
    }
    result = enumerate(&count, list);
    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        *out_has = *out_has || strcmp(list[i].layerName, LAYER) == 0;
    }
    vy_free(&device->allocator, list, size);
    return result >= 0 ? VYRE_OK
                       : vy_vk_error(NULL, diag, result, "vkEnumerateInstanceLayerProperties");
}

/* Of the implementation, and of the layer where one is named. */
static vyre_result find_extension(vyre_device *device, const char *layer, const char *name,
                                  bool *out_has, vyre_diag *diag)
{
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)device->vki.vkGetInstanceProcAddr(
            NULL, "vkEnumerateInstanceExtensionProperties");
    uint32_t count = 0;
    VkResult result = enumerate ? enumerate(layer, &count, NULL) : VK_SUCCESS;
    if (result != VK_SUCCESS || count == 0) {
        return result == VK_SUCCESS
                   ? VYRE_OK
                   : vy_vk_error(NULL, diag, result, "vkEnumerateInstanceExtensionProperties");
    }
    size_t size = count * sizeof(VkExtensionProperties);
    VkExtensionProperties *list = vy_alloc_zeroed(&device->allocator, count, sizeof *list);
    if (!list) {
        return vy_diag_no_memory(diag);
    }
    result = enumerate(layer, &count, list);
    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        *out_has = *out_has || strcmp(list[i].extensionName, name) == 0;
    }
    vy_free(&device->allocator, list, size);
    return result >= 0 ? VYRE_OK
                       : vy_vk_error(NULL, diag, result, "vkEnumerateInstanceExtensionProperties");
}

static vyre_result loader_version(vyre_device *device, uint32_t *out_version, vyre_diag *diag)
{
    PFN_vkEnumerateInstanceVersion query =
        (PFN_vkEnumerateInstanceVersion)device->vki.vkGetInstanceProcAddr(
            NULL, "vkEnumerateInstanceVersion");
    *out_version = VK_API_VERSION_1_0;
    VkResult result = query ? query(out_version) : VK_SUCCESS;
    return result == VK_SUCCESS ? VYRE_OK
                                : vy_vk_error(NULL, diag, result, "vkEnumerateInstanceVersion");
}

/* VK_EXT_layer_settings, which headers before 1.3.272 do not have. */
#define SETTINGS_EXTENSION "VK_EXT_layer_settings"
#define SETTINGS_TYPE      ((VkStructureType)1000496000)
typedef struct layer_setting {
    const char *layer, *name;
    int32_t type; /* 0: VkBool32 */
    uint32_t count;
    const void *values;
} layer_setting;
typedef struct layer_settings {
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const layer_setting *list;
} layer_settings;

/* What the loader and the layer offer. */
typedef struct instance_offers {
    bool debug_utils, portability, settings;
} instance_offers;

typedef struct instance_needs {
    VkBool32 yes;
    layer_setting setting;
    layer_settings settings;
    VkApplicationInfo application;
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    VkValidationFeaturesEXT validation;
    VkValidationFeatureEnableEXT enables[3];
    const char *extensions[4];
    const char *layers[1];
    VkInstanceCreateInfo info;
} instance_needs;

/* Newer layers look at no access of a shader without being asked, and find no missing barrier
 * between dispatches then. */
static void add_settings(instance_needs *n)
{
    n->yes = VK_TRUE;
    n->setting = (layer_setting){
        .layer = LAYER, .name = "syncval_shader_accesses_heuristic", .count = 1, .values = &n->yes};
    n->settings = (layer_settings){
        .sType = SETTINGS_TYPE, .pNext = n->info.pNext, .count = 1, .list = &n->setting};
    n->extensions[n->info.enabledExtensionCount++] = SETTINGS_EXTENSION;
    n->info.pNext = &n->settings;
}

static void fill_needs(vyre_device *device, instance_needs *n, const instance_offers *offers)
{
    *n = (instance_needs){
        .application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                        .pEngineName = "vyre-vk",
                        .apiVersion = device->api_version},
        .info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO},
    };
    n->info.pApplicationInfo = &n->application;
    n->info.ppEnabledExtensionNames = n->extensions;
    n->info.ppEnabledLayerNames = n->layers;
    if (offers->debug_utils) {
        n->extensions[n->info.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
        vy_messenger_info(&device->log, &n->messenger);
        n->info.pNext = &n->messenger; /* for vkCreateInstance and vkDestroyInstance */
    }
    if (offers->portability) {
        n->extensions[n->info.enabledExtensionCount++] =
            VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
        n->info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    if (device->validation <= VYRE_VALIDATION_OFF) {
        return;
    }
    n->layers[n->info.enabledLayerCount++] = LAYER;
    n->enables[0] = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    n->validation = (VkValidationFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = n->info.pNext,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = n->enables,
    };
    if (device->validation == VYRE_VALIDATION_GPU_ASSISTED) {
        n->enables[1] = VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT;
        n->enables[2] = VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT;
        n->validation.enabledValidationFeatureCount = 3;
    } else if (device->log.prints) {
        n->enables[1] = VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT;
        n->validation.enabledValidationFeatureCount = 2;
    }
    n->extensions[n->info.enabledExtensionCount++] = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
    n->info.pNext = &n->validation;
    if (offers->settings) {
        add_settings(n);
    }
}

vyre_result vy_vulkan_instance_create(vyre_device *device, vyre_validation validation,
                                      vyre_diag *diag)
{
    uint32_t version = 0;
    vyre_result code = loader_version(device, &version, diag);
    if (code != VYRE_OK) {
        return code;
    }
    device->api_version = version >= VK_API_VERSION_1_3 ? VK_API_VERSION_1_3 : VK_API_VERSION_1_2;
    device->validation = validation;
    if (version < VK_API_VERSION_1_2) {
        return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                           "the Vulkan loader is of version %u.%u. Fix: update it to 1.2 or newer",
                           (unsigned)VK_API_VERSION_MAJOR(version),
                           (unsigned)VK_API_VERSION_MINOR(version));
    }
    bool layer = false;
    instance_offers offers = {.settings = false};
    if (validation > VYRE_VALIDATION_OFF) {
        code = has_layer(device, &layer, diag);
        if (code == VYRE_OK && !layer) {
            return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                               "%s, but %s is not installed. Fix: install it (Debian: "
                               "vulkan-validationlayers), or switch %s off",
                               device->log.prints
                                   ? "printf statements print by the validation layer"
                                   : "validation was asked for",
                               LAYER, device->log.prints ? "that" : "validation");
        }
    }
    if (code == VYRE_OK) {
        code = find_extension(device, NULL, VK_EXT_DEBUG_UTILS_EXTENSION_NAME, &offers.debug_utils,
                              diag);
    }
    if (code == VYRE_OK && layer) {
        code = find_extension(device, LAYER, VK_EXT_DEBUG_UTILS_EXTENSION_NAME, &offers.debug_utils,
                              diag);
    }
    if (code == VYRE_OK && layer) {
        code = find_extension(device, LAYER, SETTINGS_EXTENSION, &offers.settings, diag);
    }
    if (code == VYRE_OK) {
        code = find_extension(device, NULL, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME,
                              &offers.portability, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)device->vki.vkGetInstanceProcAddr(NULL, "vkCreateInstance");
    instance_needs needs;
    fill_needs(device, &needs, &offers);
    VkResult result =
        create ? create(&needs.info, NULL, &device->instance) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkCreateInstance");
    }
    device->owns_instance = true;
    code = vy_instance_table_load(&device->vki, device->vki.vkGetInstanceProcAddr, device->instance,
                                  diag);
    if (code != VYRE_OK || !offers.debug_utils) {
        return code;
    }
    device->has_names = device->vki.vkSetDebugUtilsObjectNameEXT != NULL &&
                        (validation > VYRE_VALIDATION_OFF || device->debug);
    if (device->vki.vkCreateDebugUtilsMessengerEXT && device->vki.vkDestroyDebugUtilsMessengerEXT) {
        needs.messenger.pNext = NULL;
        result = device->vki.vkCreateDebugUtilsMessengerEXT(device->instance, &needs.messenger,
                                                            NULL, &device->messenger);
        if (result != VK_SUCCESS) {
            return vy_vk_error(device, diag, result, "vkCreateDebugUtilsMessengerEXT");
        }
    }
    return VYRE_OK;
}

vyre_result vy_enumerate(vyre_device *device, VkPhysicalDevice **out_list, uint32_t *out_count,
                         vyre_diag *diag)
{
    *out_list = NULL;
    *out_count = 0;
    uint32_t count = 0;
    VkResult result = device->vki.vkEnumeratePhysicalDevices(device->instance, &count, NULL);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkEnumeratePhysicalDevices");
    }
    if (count == 0) {
        return VYRE_OK;
    }
    VkPhysicalDevice *list = vy_alloc_zeroed(&device->allocator, count, sizeof *list);
    if (!list) {
        return vy_diag_no_memory(diag);
    }
    uint32_t got = count;
    result = device->vki.vkEnumeratePhysicalDevices(device->instance, &got, list);
    if (result < 0) {
        vy_free(&device->allocator, list, count * sizeof *list);
        return vy_vk_error(device, diag, result, "vkEnumeratePhysicalDevices");
    }
    if (got < count) {
        /* One went away in between; the size to free is the one that was allocated. */
        VkPhysicalDevice *smaller =
            vy_realloc(&device->allocator, list, count * sizeof *list, got * sizeof *list);
        if (!smaller) {
            if (got > 0) {
                vy_free(&device->allocator, list, count * sizeof *list);
                return vy_diag_no_memory(diag);
            }
            return VYRE_OK;
        }
        list = smaller;
    }
    *out_list = list;
    *out_count = got < count ? got : count;
    return VYRE_OK;
}

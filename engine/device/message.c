/* Messages to the caller's log function: the library's own and, through VK_EXT_debug_utils, those
 * of the loader, drivers and validation layers. Counts what is a failure. */
#include "engine/device/device.h"

#include <stdio.h>
#include <string.h>

typedef struct allowed_message {
    const char *id, *part; /* of the text; NULL: any text */
    const char *reason;
} allowed_message;

/* Messages that are no fault of ours, each with its reason; ends in a row of NULLs. With the layers
 * of 1.3.239 everything that the tests run is silent; these come from those of 1.4.309, where
 * GPU-assisted checks were asked for. */
static const allowed_message allowed_messages[] = {
    {"VALIDATION-SETTINGS", "Both GPU Assisted Validation and Normal Core Check",
     "core and GPU-assisted checks are wanted together; the layer only says that it is slow"},
    {"WARNING-GPU-Assisted-Validation", "Internal Warning: ",
     "the layer tells which features and limits it changes for its own shaders"},
    {"UNASSIGNED-VkSemaphore-state-timeout", "most likely a validation bug",
     "the layer waits ten seconds for its own books when a wait takes that long, and says that the "
     "fault is its own"},
    {NULL, NULL, NULL},
};

const char *vy_message_allowed(const char *id, const char *text)
{
    for (size_t i = 0; id && allowed_messages[i].id; i++) {
        const allowed_message *row = &allowed_messages[i];
        if (strcmp(id, row->id) == 0 && (!row->part || (text && strstr(text, row->part)))) {
            return row->reason;
        }
    }
    return NULL;
}

void vy_log_init(vy_log *log, vyre_log_fn call, void *user, vyre_log_level level)
{
    log->call = call;
    log->user = user;
    log->level = level == VYRE_LOG_DEFAULT ? VYRE_LOG_WARNING : level;
    atomic_init(&log->failures, 0);
}

void vy_log_write(vy_log *log, vyre_log_level level, const char *format, ...)
{
    if (!log->call || level > log->level) {
        return;
    }
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vyre_log_message message = {.level = level, .source = VYRE_LOG_LIBRARY, .id = "", .text = text};
    log->call(log->user, &message);
}

static vyre_log_level level_of(VkDebugUtilsMessageSeverityFlagBitsEXT severity)
{
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) {
        return VYRE_LOG_ERROR;
    }
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) {
        return VYRE_LOG_WARNING;
    }
    return severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT ? VYRE_LOG_INFO
                                                                    : VYRE_LOG_DEBUG;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user)
{
    vy_log *log = user;
    vyre_log_message message = {
        .level = level_of(severity),
        .source = VYRE_LOG_GENERAL,
        .id = data->pMessageIdName ? data->pMessageIdName : "",
        .number = data->messageIdNumber,
        .text = data->pMessage ? data->pMessage : "",
    };
    if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) {
        message.source = VYRE_LOG_VALIDATION;
    } else if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT) {
        message.source = VYRE_LOG_PERFORMANCE;
    }
    if (message.source != VYRE_LOG_GENERAL && message.level <= VYRE_LOG_WARNING) {
        message.allowed = vy_message_allowed(message.id, message.text);
        message.is_failure = message.allowed == NULL;
        if (message.is_failure) {
            atomic_fetch_add(&log->failures, 1);
        }
    }
    if (log->call && message.level <= log->level) {
        log->call(log->user, &message);
    }
    return VK_FALSE;
}

void vy_messenger_info(vy_log *log, VkDebugUtilsMessengerCreateInfoEXT *out_info)
{
    *out_info = (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive,
        .pUserData = log,
    };
    if (log->level >= VYRE_LOG_INFO) {
        out_info->messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT;
    }
    if (log->level >= VYRE_LOG_DEBUG) {
        out_info->messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT;
    }
}

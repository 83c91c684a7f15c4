/* Messages to the caller's log function: the library's own and, through VK_EXT_debug_utils, those
 * of the loader, drivers and validation layers. Counts what is a failure. */
#include "codegen/base/printf.h"
#include "engine/device/device.h"
#include "vyre/vulkan.h"

#include <stdio.h>
#include <string.h>

typedef struct allowed_message {
    const char *id, *part; /* of the text; NULL: any text */
    const char *reason;
} allowed_message;

/* Messages that are no fault of ours, each with its reason; ends in a row of NULLs. With the layers
 * of 1.3.239 everything that the tests run is silent; these come from those of 1.4.309, where
 * GPU-assisted checks or lines of printf were asked for. */
static const allowed_message allowed_messages[] = {
    {"VALIDATION-SETTINGS", "Both GPU Assisted Validation and Normal Core Check",
     "core and GPU-assisted checks are wanted together; the layer only says that it is slow"},
    {"WARNING-GPU-Assisted-Validation", "Internal Warning: ",
     "the layer tells which features and limits it changes for its own shaders"},
    {"VALIDATION-SETTINGS", "DebugPrintf logs",
     "lines of printf are wanted; the layer says which of its settings it changes for them"},
    {"WARNING-DEBUG-PRINTF",
     "Internal Warning: ", "the layer tells which features and limits it changes for printf"},
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
    log->prints = false;
    log->print = NULL;
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

/* ---- Places ---------------------------------------------------------------------------------- */

#define SUFFIX_SIZE  512u
#define MESSAGE_SIZE 8192u

static const char *type_text(VkObjectType type)
{
    switch ((int)type) {
    case VK_OBJECT_TYPE_QUEUE:
        return "queue";
    case VK_OBJECT_TYPE_SEMAPHORE:
        return "semaphore";
    case VK_OBJECT_TYPE_COMMAND_BUFFER:
        return "commands";
    case VK_OBJECT_TYPE_DEVICE_MEMORY:
        return "memory";
    case VK_OBJECT_TYPE_BUFFER:
        return "buffer";
    case VK_OBJECT_TYPE_IMAGE:
        return "image";
    case VK_OBJECT_TYPE_QUERY_POOL:
        return "queries";
    case VK_OBJECT_TYPE_SHADER_MODULE:
        return "module";
    case VK_OBJECT_TYPE_PIPELINE_CACHE:
        return "cache";
    case VK_OBJECT_TYPE_PIPELINE_LAYOUT:
    case VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT:
        return "layout";
    case VK_OBJECT_TYPE_PIPELINE:
        return "pipeline";
    case VK_OBJECT_TYPE_DESCRIPTOR_POOL:
    case VK_OBJECT_TYPE_DESCRIPTOR_SET:
        return "descriptors";
    default:
        return "object";
    }
}

static void put(char *out, size_t size, const char *format, ...) VY_PRINTF(3, 4);
/* Each part once. */
static void put(char *out, size_t size, const char *format, ...)
{
    char part[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    size_t used = strlen(out);
    if (!strstr(out, part) && used + 2 < size) {
        snprintf(out + used, size - used, "%s%s", used ? "; " : "", part);
    }
}

/* Pipelines of segments are named by their place: "segment life.seg1, life.vyre:14". */
static void put_object(VkObjectType type, const char *name, char *out, size_t size)
{
    bool is_place = strncmp(name, VY_SEGMENT_WORD, sizeof VY_SEGMENT_WORD - 1) == 0;
    if (is_place) {
        put(out, size, "%s", name);
    } else {
        put(out, size, "%s '%s'", type_text(type), name);
    }
}

/* Synchronisation checks list the buffer alone, and tell the pipeline in their text: "VkPipeline
 * 0x2c[name]". */
static void put_pipeline(const char *text, char *out, size_t size)
{
    const char *at = strstr(text, "VkPipeline 0x");
    at = at ? strpbrk(at, "[,. ") : NULL; /* behind "VkPipeline" */
    at = at ? strpbrk(at + 1, "[,. ") : NULL;
    const char *end = at && *at == '[' ? strchr(at, ']') : NULL;
    if (end && end > at + 1) {
        char name[192];
        snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
        put_object(VK_OBJECT_TYPE_PIPELINE, name, out, size);
    }
}

/* The labels that are open and the objects that have names: "segment life.seg1, life.vyre:14, pass
 * 0; buffer 'cells'". */
static void put_place(const VkDebugUtilsMessengerCallbackDataEXT *data, char *out, size_t size)
{
    out[0] = '\0';
    for (uint32_t i = 0; data->pCmdBufLabels && i < data->cmdBufLabelCount; i++) {
        if (data->pCmdBufLabels[i].pLabelName) {
            put(out, size, "%s", data->pCmdBufLabels[i].pLabelName);
        }
    }
    put_pipeline(data->pMessage ? data->pMessage : "", out, size);
    for (uint32_t i = 0; data->pObjects && i < data->objectCount; i++) {
        const VkDebugUtilsObjectNameInfoEXT *object = &data->pObjects[i];
        if (object->pObjectName && object->pObjectName[0]) {
            put_object(object->objectType, object->pObjectName, out, size);
        }
    }
}

static size_t format_line(const vyre_printf_line *line, char *out, size_t out_size)
{
    vy_fixed_text text = {.out = out_size ? out : NULL, .size = out ? out_size : 0};
    vy_fixed_text_printf(&text, "printf %s:%u:%u pass %u segment %u invocation %u: %s",
                         line->program, (unsigned)line->line, (unsigned)line->column,
                         (unsigned)line->pass, (unsigned)line->segment, (unsigned)line->invocation,
                         line->text);
    return text.length;
}

size_t vyre_format_debug_message(const VkDebugUtilsMessengerCallbackDataEXT *data, char *out,
                                 size_t out_size)
{
    const char *text = data && data->pMessage ? data->pMessage : "";
    char place[SUFFIX_SIZE] = "";
    vy_printf_message line;
    if (vy_printf_decode(text, &line)) {
        return format_line(&line.line, out, out_size);
    }
    if (data) {
        put_place(data, place, sizeof place);
    }
    size_t length = strlen(text), suffix = place[0] ? strlen(place) + 3 : 0;
    if (!out || out_size == 0) {
        return length + suffix;
    }
    /* Where it does not fit the message is cut, not the place. */
    size_t room = out_size - 1 > suffix ? out_size - 1 - suffix : 0;
    size_t kept = length < room ? length : room;
    memcpy(out, text, kept);
    snprintf(out + kept, out_size - kept, place[0] ? " (%s)" : "%s", place);
    return length + suffix;
}

/* A line of a printf statement, or that lines were lost, which come whatever the level. */
static bool receive_line(vy_log *log, const VkDebugUtilsMessengerCallbackDataEXT *data)
{
    vy_printf_message line;
    char text[MESSAGE_SIZE + VYRE_MAX_NAME];
    vyre_log_message message = {
        .level = VYRE_LOG_INFO,
        .source = VYRE_LOG_PRINTF,
        .id = data->pMessageIdName ? data->pMessageIdName : "",
        .number = data->messageIdNumber,
        .text = text,
    };
    if (!log->prints || !data->pMessage) {
        return false;
    }
    if (strstr(data->pMessage, "Debug Printf message was truncated")) {
        message.level = VYRE_LOG_WARNING;
        message.text = "lines of printf statements were lost: they take more than the validation "
                       "layer keeps of one dispatch. Fix: give it more "
                       "(khronos_validation.printf_buffer_size, in bytes), or print less";
    } else if (!vy_printf_decode(data->pMessage, &line)) {
        return false;
    } else if (log->print) {
        log->print(log->print_user, &line.line);
        return true;
    } else {
        (void)format_line(&line.line, text, sizeof text);
    }
    if (log->call) {
        log->call(log->user, &message);
    }
    return true;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user)
{
    vy_log *log = user;
    if (receive_line(log, data)) {
        return VK_FALSE;
    }
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
        message.level = message.allowed ? VYRE_LOG_INFO : message.level;
        if (message.is_failure) {
            atomic_fetch_add(&log->failures, 1);
        }
    }
    if (log->call && message.level <= log->level) {
        char text[MESSAGE_SIZE];
        (void)vyre_format_debug_message(data, text, sizeof text);
        message.text = text;
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
    if (log->level >= VYRE_LOG_INFO || log->prints) {
        out_info->messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT;
    }
    if (log->level >= VYRE_LOG_DEBUG) {
        out_info->messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT;
    }
}

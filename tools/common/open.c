/* Devices for the tools: opened, listed, and their messages printed. */
#include "tools/common/open.h"

#include "tools/common/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the layer keeps of one dispatch's lines: some 20,000, where it would keep 20 by itself. */
#define LAYER_SETTINGS "khronos_validation.printf_buffer_size = 1048576\n"
#define SETTINGS_PATH  "VK_LAYER_SETTINGS_PATH"

static void print_message(void *user, const vyre_log_message *message)
{
    static const char *const levels[] = {"", "error", "warning", "info", "debug"};
    unsigned level = (unsigned)message->level;
    if (message->source == VYRE_LOG_PRINTF && message->level >= VYRE_LOG_INFO) {
        fprintf(user, "%s\n", message->text);
        return;
    }
    bool named = message->id && message->id[0];
    fprintf(user, "%s: %s%s%s%s%s%s\n", level < VY_COUNT_OF(levels) ? levels[level] : "message",
            named ? message->id : "", named ? ": " : "", message->text,
            message->allowed ? " [allowed: " : "", message->allowed ? message->allowed : "",
            message->allowed ? "]" : "");
}

vyre_result vy_open_device(const char *name, vyre_validation validation, FILE *err,
                           vyre_device **out_device, vyre_diag *diag)
{
    return vy_open_device_for(name, validation, 0, err, out_device, diag);
}

vyre_result vy_open_device_for(const char *name, vyre_validation validation, uint32_t debug,
                               FILE *err, vyre_device **out_device, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.name = name;
    params.validation = validation;
    params.debug = debug;
    params.log = print_message;
    params.log_user = err;
    return vyre_device_create(&params, out_device, diag);
}

/* Settings for the layer where the user has none: a file, which it reads while a device is opened.
 * Nothing is said where that fails: the layer's own numbers serve. */
typedef struct layer_settings {
    char folder[260], path[280]; /* "": there are none */
} layer_settings;

static void take_settings_back(layer_settings *settings)
{
    if (settings->path[0]) {
        (void)vy_environment_set(SETTINGS_PATH, NULL);
        vy_file_remove(settings->path);
    }
    if (settings->folder[0]) {
        vy_folder_remove(settings->folder);
    }
    *settings = (layer_settings){.folder = ""};
}

static void give_settings(layer_settings *settings)
{
    bool is_made = false;
    *settings = (layer_settings){.folder = ""};
    if (getenv(SETTINGS_PATH) || vy_path_look("vk_layer_settings.txt").kind != VY_PATH_NONE) {
        return;
    }
    if (!vy_folder_make_temporary("vyre-printf", settings->folder, sizeof settings->folder)) {
        settings->folder[0] = '\0';
        return;
    }
    snprintf(settings->path, sizeof settings->path, "%s/settings.txt", settings->folder);
    if (!vy_file_put(settings->path, false, LAYER_SETTINGS, strlen(LAYER_SETTINGS), &is_made) ||
        !vy_environment_set(SETTINGS_PATH, settings->path)) {
        take_settings_back(settings);
    }
}

vyre_result vy_open_device_printing(const char *name, vy_lines *lines, FILE *err,
                                    vyre_device **out_device, vyre_diag *diag)
{
    layer_settings settings;
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.name = name;
    params.prints = 1;
    params.log = print_message;
    params.log_user = err;
    params.print = vy_lines_add;
    params.print_user = lines;
    give_settings(&settings);
    vyre_result result = vyre_device_create(&params, out_device, diag);
    take_settings_back(&settings);
    return result;
}

const char *vy_device_type_text(vyre_device_type type)
{
    switch (type) {
    case VYRE_DEVICE_INTEGRATED:
        return "integrated GPU";
    case VYRE_DEVICE_DISCRETE:
        return "discrete GPU";
    case VYRE_DEVICE_VIRTUAL:
        return "virtual GPU";
    case VYRE_DEVICE_PROCESSOR:
        return "processor";
    default:
        return "other device";
    }
}

int vy_list_devices(FILE *out, FILE *err)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    uint32_t count = 0;
    vyre_result result = vyre_device_list(NULL, NULL, 0, &count, &diag);
    vyre_device_info *infos = result == VYRE_OK ? calloc((size_t)count + 1, sizeof *infos) : NULL;
    if (result == VYRE_OK && !infos) {
        result = vy_diag_no_memory(&diag);
    }
    uint32_t there = count;
    if (result == VYRE_OK) {
        result = vyre_device_list(NULL, infos, there, &count, &diag);
    }
    if (result != VYRE_OK) {
        free(infos);
        return vy_tool_fail(err, &diag, NULL, NULL, 0);
    }
    for (uint32_t i = 0; i < count && i < there; i++) {
        fprintf(out, "%u: %s (%s, %s)%s%s\n", infos[i].index, infos[i].name,
                vy_device_type_text(infos[i].type), infos[i].driver,
                infos[i].missing[0] ? ", not usable: lacks " : "", infos[i].missing);
    }
    free(infos);
    if (count == 0) {
        fprintf(err, "error: there is no Vulkan device; install a driver (tools/setup.sh)\n");
    }
    return count ? VY_EXIT_OK : VY_EXIT_FAILED;
}

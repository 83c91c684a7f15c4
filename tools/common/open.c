/* Devices for the tools: opened, listed, and their messages printed. */
#include "tools/common/open.h"

#include <stdlib.h>

static void print_message(void *user, const vyre_log_message *message)
{
    static const char *const levels[] = {"", "error", "warning", "info", "debug"};
    unsigned level = (unsigned)message->level;
    bool named = message->id && message->id[0];
    fprintf(user, "%s: %s%s%s%s%s%s\n", level < VY_COUNT_OF(levels) ? levels[level] : "message",
            named ? message->id : "", named ? ": " : "", message->text,
            message->allowed ? " [allowed: " : "", message->allowed ? message->allowed : "",
            message->allowed ? "]" : "");
}

vyre_result vy_open_device(const char *name, vyre_validation validation, FILE *err,
                           vyre_device **out_device, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.name = name;
    params.validation = validation;
    params.log = print_message;
    params.log_user = err;
    return vyre_device_create(&params, out_device, diag);
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

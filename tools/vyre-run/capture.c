/* --capture, through RenderDoc's in-application API (version 1.1.2, 2018, which newer ones offer as
 * well). The library comes at run time: an instance that RenderDoc itself has brought into the
 * process, or the machine's. Its layer is loaded by the Vulkan loader, which is asked to by an
 * environment variable, and finds that library loaded. */
#include "tools/vyre-run/capture.h"

#include "tools/common/system.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define LIBRARY_NAME "renderdoc.dll"
#define PACKAGE      "install RenderDoc, and let its settings register the Vulkan layer"
#else
#define LIBRARY_NAME "librenderdoc.so"
#define PACKAGE      "install it (Debian: librenderdoc)"
#endif

#define VERSION_1_1_2 10102

/* The functions of version 1.1.2, in the order in which the table has them. */
typedef void (*unused_function)(void);
typedef struct renderdoc_calls {
    unused_function version_options[5];
    unused_function keys_overlay[4];
    unused_function remove_hooks, unload_crash_handler;
    void (*set_path_template)(const char *path);
    unused_function get_path_template;
    uint32_t (*get_count)(void);
    uint32_t (*get_capture)(uint32_t index, char *out_path, uint32_t *size, uint64_t *out_time);
    unused_function trigger, is_connected, launch_ui, set_window;
    void (*start)(void *device, void *window);
    uint32_t (*is_capturing)(void);
    uint32_t (*end)(void *device, void *window);
} renderdoc_calls;

typedef int (*get_api_function)(int version, void **out_calls);

static vyre_result io_error(const capture *c, vyre_diag *diag, const char *why)
{
    return vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                       "'%s' cannot be captured: %s. Fix: check the path and its permissions, and "
                       "what RenderDoc prints",
                       c->path, why);
}

vyre_result capture_open(capture *c, const char *path, vyre_diag *diag)
{
    *c = (capture){.path = path};
    if (!path) {
        return VYRE_OK;
    }
    /* Read by the Vulkan loader when it looks for layers. */
    if (!vy_environment_set("ENABLE_VULKAN_RENDERDOC_CAPTURE", "1")) {
        return vy_diag_no_memory(diag);
    }
    c->library = vy_library_open(LIBRARY_NAME);
    if (!c->library) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "--capture needs RenderDoc, whose library %s cannot be loaded. Fix: %s",
                           LIBRARY_NAME, PACKAGE);
    }
    get_api_function get_api;
    void *calls = NULL;
    if (!vy_library_find(c->library, "RENDERDOC_GetAPI", &get_api, sizeof get_api) ||
        get_api(VERSION_1_1_2, &calls) != 1 || !calls) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the RenderDoc on this machine (%s) does not offer version 1.1.2 of its "
                           "interface. Fix: update it to 1.1 or newer",
                           LIBRARY_NAME);
    }
    c->calls = calls;
    return VYRE_OK;
}

vyre_result capture_begin(capture *c, vyre_diag *diag)
{
    if (!c->calls) {
        return VYRE_OK;
    }
    const renderdoc_calls *calls = c->calls;
    /* In the same folder, so that the file can take its name at once. */
    char template[1024];
    int length = snprintf(template, sizeof template, "%s.%lu", c->path, vy_process_id());
    if (length < 0 || (size_t)length >= sizeof template) {
        return io_error(c, diag, "the path is too long");
    }
    calls->set_path_template(template);
    c->count = calls->get_count();
    calls->start(NULL, NULL); /* of whatever device there is, without a window */
    return calls->is_capturing()
               ? VYRE_OK
               : vy_diag_set(
                     diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                     "RenderDoc captures nothing: its layer VK_LAYER_RENDERDOC_Capture was "
                     "not loaded with the device. Fix: %s, and look with vulkaninfo whether "
                     "the Vulkan loader finds that layer",
                     PACKAGE);
}

vyre_result capture_end(capture *c, vyre_diag *diag)
{
    if (!c->calls) {
        return VYRE_OK;
    }
    const renderdoc_calls *calls = c->calls;
    if (calls->end(NULL, NULL) != 1 || calls->get_count() <= c->count) {
        return io_error(c, diag, "RenderDoc wrote no capture");
    }
    uint32_t last = calls->get_count() - 1, size = 0;
    if (calls->get_capture(last, NULL, &size, NULL) != 1 || size == 0) {
        return io_error(c, diag, "RenderDoc does not say where its capture is");
    }
    char *made = calloc((size_t)size + 1, 1);
    if (!made) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = VYRE_OK;
    if (calls->get_capture(last, made, &size, NULL) != 1) {
        result = io_error(c, diag, "RenderDoc does not say where its capture is");
    } else if (!vy_file_replace(made, c->path)) {
        result = io_error(c, diag, strerror(errno));
        vy_file_remove(made);
    }
    free(made);
    return result;
}

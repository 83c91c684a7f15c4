/* A renderer that has its own Vulkan and lets libvyre-vk compute in the middle of its frame: the
 * device is adopted, the buffer imported, and a program with a grid-wide barrier recorded between
 * the renderer's own commands. Exit: 0 when every value is right and validation was silent. */
#include "host.h"

#include <vyre/vulkan.h>
#include <vyre/vyre.h>

#include <stdio.h>
#include <string.h>

#define COUNT  1024u
#define SEED   100u
#define FRAMES 3

/* Sums of neighbours, twice, each after everybody has finished the one before. */
static const char source[] = "program smooth\n"
                             "workgroup 64\n"
                             "grid over points\n"
                             "inout   points : u32[]\n"
                             "scratch before : u32[len(points)]\n"
                             "kernel {\n"
                             "    let i = gid.x\n"
                             "    if i < len(points) { before[i] = points[i] + i }\n"
                             "    grid_sync\n"
                             "    // Out of bounds is zero.\n"
                             "    if i < len(points) {\n"
                             "        points[i] = before[i - 1] + before[i] + before[i + 1]\n"
                             "    }\n"
                             "}\n";

typedef struct compute {
    vyre_device *device;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    vyre_buffer points;
    vyre_recording *recording;
} compute;

static int failed(vyre_result result, const vyre_diag *diag)
{
    if (result == VYRE_OK) {
        return 0;
    }
    fprintf(stderr, "%s: %s\n", vyre_result_name(result), diag->message);
    return 1;
}

static int adopt(compute *c, const host *h, const vyre_device_setup *setup)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    vyre_diag diag;
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = vkGetInstanceProcAddr;
    params.instance = h->instance;
    params.physical_device = h->physical;
    params.device = h->device;
    params.api_version = HOST_API_VERSION;
    params.queue = h->queue;
    params.queue_family = h->family;
    params.features = &setup->chain.features;
    params.extensions = setup->extensions;
    params.extension_count = setup->extension_count;
    params.instance_extensions = extensions;
    params.instance_extension_count = h->messenger ? 1 : 0;
    return failed(vyre_device_adopt(&params, &c->device, &diag), &diag);
}

static int prepare(compute *c, const host *h)
{
    vyre_diag diag;
    vyre_program *program = NULL;
    vyre_kernel_params kernel;
    vyre_device_kernel_params(c->device, &kernel);
    vyre_result result =
        vyre_program_parse(source, strlen(source), "smooth.vyre", NULL, &program, &diag);
    if (result == VYRE_OK) {
        result = vyre_kernel_compile(program, &kernel, &c->kernel, &diag);
    }
    vyre_program_destroy(&program);
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(c->device, c->kernel, NULL, &c->pipeline, &diag);
    }
    vyre_import_params import = {.struct_size = (uint32_t)sizeof import,
                                 .buffer = h->points,
                                 .size = h->size,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                 .name = "points"};
    if (result == VYRE_OK) {
        result = vyre_buffer_import(c->device, &import, &c->points, &diag);
    }
    return failed(result, &diag);
}

/* The frame: a fill of the renderer's, the program, a copy of the renderer's. */
static int record_frame(compute *c, host *h)
{
    vyre_diag diag;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (vkBeginCommandBuffer(h->commands, &begin) != VK_SUCCESS) {
        return 1;
    }
    vkCmdFillBuffer(h->commands, h->points, 0, h->size, SEED);
    vyre_binding bindings[] = {
        {.kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = c->points},
        {.kind = VYRE_BINDING_NONE}};
    vyre_record_params params = {.struct_size = (uint32_t)sizeof params,
                                 .command_buffer = h->commands};
    vyre_dispatch_params_init(&params.dispatch);
    params.dispatch.bindings = bindings;
    params.dispatch.binding_count = 2;
    if (failed(vyre_record(c->pipeline, &params, &c->recording, &diag), &diag)) {
        return 1;
    }
    VkBufferCopy region = {.size = h->size};
    vkCmdCopyBuffer(h->commands, h->points, h->readback, 1, &region);
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(h->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                         1, &to_host, 0, NULL, 0, NULL);
    return vkEndCommandBuffer(h->commands) != VK_SUCCESS;
}

static uint32_t before_at(uint32_t i)
{
    return i < COUNT ? SEED + i : 0;
}

static int check(const host *h)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t expected = before_at(i - 1) + before_at(i) + before_at(i + 1);
        if (h->mapped[i] != expected) {
            fprintf(stderr, "points[%u] is %u, not %u\n", (unsigned)i, (unsigned)h->mapped[i],
                    (unsigned)expected);
            return 1;
        }
    }
    return 0;
}

/* What the library wants of the device; a renderer adds what it wants itself. */
static int create_device(host *h, vyre_device_setup *setup)
{
    vyre_diag diag;
    if (failed(vyre_device_fill_setup(h->instance, h->physical, HOST_API_VERSION,
                                      vkGetInstanceProcAddr, setup, &diag),
               &diag)) {
        return 1;
    }
    VkDeviceCreateInfo wanted = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = &setup->chain.features,
                                 .enabledExtensionCount = setup->extension_count,
                                 .ppEnabledExtensionNames = setup->extensions};
    return host_create_device(h, &wanted);
}

static int run(compute *c, host *h)
{
    vyre_device_setup setup;
    vyre_diag diag;
    if (host_create_instance(h) || host_choose_device(h) || create_device(h, &setup) ||
        host_create_buffers(h, COUNT * sizeof(uint32_t)) || adopt(c, h, &setup) || prepare(c, h) ||
        record_frame(c, h)) {
        return 1;
    }
    /* Recorded once and submitted again and again: each frame says when that one has ended. */
    for (uint64_t frame = 1; frame <= FRAMES; frame++) {
        vyre_report report;
        vyre_retirement end = {.semaphore = h->timeline, .value = frame};
        if (failed(vyre_recording_retire_at(c->recording, &end, &diag), &diag) ||
            host_submit_and_wait(h, frame) || check(h) ||
            failed(vyre_recording_report(c->recording, &report, &diag), &diag)) {
            return 1;
        }
        printf("frame %d: %u pass, %llu dispatches, %llu barriers\n", (int)frame,
               (unsigned)report.passes, (unsigned long long)report.dispatches_executed,
               (unsigned long long)report.barriers_recorded);
    }
    return 0;
}

int main(void)
{
    host h = {.instance = VK_NULL_HANDLE};
    compute c = {.device = NULL};
    int result = run(&c, &h);
    /* The library's objects first; the host's are untouched by that. */
    vyre_recording_destroy(&c.recording);
    vyre_pipeline_destroy(&c.pipeline);
    vyre_kernel_destroy(&c.kernel);
    vyre_device_destroy(&c.device);
    host_destroy(&h);
    if (h.messages) {
        fprintf(stderr, "%u validation messages\n", h.messages);
        result = 1;
    }
    puts(result ? "failed" : "every value is right");
    return result;
}

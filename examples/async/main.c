/* Compute beside graphics: the host draws a square, a program measures what was drawn, and the host
 * goes on with the measure, each on its own queue where the device has two, ordered by the host's
 * timeline semaphores alone. Two frames are in flight: while one is measured the next is drawn.
 *
 *   graphics   draw 1 | draw 2 |  use 1 | draw 3 | use 2 | ...
 *                   \        \ /               \ /
 *   compute          measure 1  measure 2       measure 3
 *
 * Exit: 0 when every measure is right and validation was silent. */
#include "gpu.h"

#include <vyre/vyre.h>

#include <stdio.h>
#include <string.h>

#define SIDE   128u /* of the image */
#define SQUARE 16u
#define FRAMES 24u
#define SLOTS  2u /* frames in flight */

/* How many pixels are lit, and where their centre is. */
static const char source[] =
    "program measure\n"
    "workgroup 256\n"
    "grid over pixels\n"
    "param width   : u32\n"
    "in pixels     : u32[]\n"
    "out found     : u32[3]\n"
    "scratch total : u32[3]\n"
    "kernel {\n"
    "    let i = gid.x\n"
    "    if i < len(pixels) {\n"
    "        if pixels[i] & 255 != 0 {\n"
    "            atomic_add(total[0], 1)\n"
    "            atomic_add(total[1], i % width)\n"
    "            atomic_add(total[2], i / width)\n"
    "        }\n"
    "    }\n"
    "    grid_sync\n"
    "    if i < 3 { found[i] = select(i == 0, total[0], total[i] / total[0]) }\n"
    "}\n";

typedef struct slot {
    VkCommandPool pool;
    VkCommandBuffer commands[2]; /* draw, use */
    gpu_image image;
    gpu_buffer pixels, found, readback;
    vyre_buffer shared_pixels, shared_found; /* the same, to the library */
    vyre_ticket ticket;
    uint64_t frame; /* that it is in; 0: none */
} slot;

typedef struct app {
    gpu gpu;
    vyre_device *device;
    vyre_kernel *kernel; /* lives as long as the pipeline */
    vyre_pipeline *pipeline;
    /* One for each kind of work, since the values of a timeline only rise, and frames overlap. */
    VkSemaphore drawn, measured, used;
    slot slots[SLOTS];
} app;

static int failed(vyre_result result, const vyre_diag *diag)
{
    if (result != VYRE_OK) {
        fprintf(stderr, "%s: %s\n", vyre_result_name(result), diag->message);
    }
    return result != VYRE_OK;
}

static int adopt(app *a)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    vyre_diag diag;
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = vkGetInstanceProcAddr;
    params.instance = a->gpu.instance;
    params.physical_device = a->gpu.physical;
    params.device = a->gpu.device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = a->gpu.compute; /* one thread submits, so it needs no lock */
    params.queue_family = a->gpu.families[1];
    params.features = &a->gpu.setup.chain.features;
    params.extensions = a->gpu.setup.extensions;
    params.extension_count = a->gpu.setup.extension_count;
    params.instance_extensions = extensions;
    params.instance_extension_count = a->gpu.messenger ? 1 : 0;
    return failed(vyre_device_adopt(&params, &a->device, &diag), &diag);
}

static int make_pipeline(app *a)
{
    vyre_diag diag;
    vyre_program *program = NULL;
    vyre_kernel_params wanted;
    vyre_device_kernel_params(a->device, &wanted);
    vyre_pipeline_params params;
    vyre_pipeline_params_init(&params);
    if (a->gpu.messenger) { /* the layer does not see accesses by address */
        params.bindings = VYRE_BINDINGS_DESCRIPTOR;
    }
    vyre_result result =
        vyre_program_parse(source, strlen(source), "measure", NULL, &program, &diag);
    if (result == VYRE_OK) {
        result = vyre_kernel_compile(program, &wanted, &a->kernel, &diag);
    }
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(a->device, a->kernel, &params, &a->pipeline, &diag);
    }
    vyre_program_destroy(&program);
    return failed(result, &diag);
}

static int make_shared(app *a, VkDeviceSize size, const char *name, gpu_buffer *buffer,
                       vyre_buffer *out)
{
    vyre_diag diag;
    vyre_import_params params = {.size = size,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                 .name = name};
    if (gpu_create_buffer(&a->gpu, size, params.usage, 0, buffer)) {
        return 1;
    }
    params.buffer = buffer->buffer;
    return failed(vyre_buffer_import(a->device, &params, out, &diag), &diag);
}

static int make_slots(app *a)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot *s = &a->slots[i];
        if (gpu_create_commands(&a->gpu, &s->pool, s->commands) ||
            gpu_create_image(&a->gpu, SIDE, &s->image) ||
            make_shared(a, SIDE * SIDE * 4, "pixels", &s->pixels, &s->shared_pixels) ||
            make_shared(a, 3 * 4, "found", &s->found, &s->shared_found) ||
            gpu_create_buffer(&a->gpu, 3 * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT, 1, &s->readback)) {
            return 1;
        }
    }
    return gpu_create_timeline(&a->gpu, &a->drawn) || gpu_create_timeline(&a->gpu, &a->measured) ||
           gpu_create_timeline(&a->gpu, &a->used);
}

static VkOffset2D square_at(uint64_t frame)
{
    VkOffset2D at = {(int32_t)(frame * 23 % (SIDE - SQUARE)),
                     (int32_t)(frame * 37 % (SIDE - SQUARE))};
    return at;
}

static void change_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from,
                          VkImageLayout to)
{
    VkImageMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                     .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                     .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                     .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                     .dstAccessMask =
                                         VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
                                     .oldLayout = from,
                                     .newLayout = to,
                                     .image = image,
                                     .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &info);
}

/* Graphics: a white square on black, and its pixels into the buffer that the program reads. */
static int record_draw(slot *s, uint64_t frame)
{
    VkCommandBuffer commands = s->commands[0];
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (gpu_failed("vkBeginCommandBuffer", vkBeginCommandBuffer(commands, &begin))) {
        return 1;
    }
    change_layout(commands, s->image.image, VK_IMAGE_LAYOUT_UNDEFINED,
                  VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    VkRenderingAttachmentInfo colour = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                        .imageView = s->image.view,
                                        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                 .renderArea = {{0, 0}, {SIDE, SIDE}},
                                 .layerCount = 1,
                                 .colorAttachmentCount = 1,
                                 .pColorAttachments = &colour};
    VkClearAttachment white = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                               .clearValue.color.float32 = {1, 1, 1, 1}};
    VkClearRect square = {.rect = {square_at(frame), {SQUARE, SQUARE}}, .layerCount = 1};
    vkCmdBeginRendering(commands, &rendering);
    vkCmdClearAttachments(commands, 1, &white, 1, &square);
    vkCmdEndRendering(commands);
    change_layout(commands, s->image.image, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {SIDE, SIDE, 1}};
    vkCmdCopyImageToBuffer(commands, s->image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           s->pixels.buffer, 1, &region);
    return gpu_failed("vkEndCommandBuffer", vkEndCommandBuffer(commands));
}

/* Graphics again, with what was measured: here it only goes where the host can read it. */
static int record_use(slot *s)
{
    VkCommandBuffer commands = s->commands[1];
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkBufferCopy region = {.size = 3 * 4};
    if (gpu_failed("vkBeginCommandBuffer", vkBeginCommandBuffer(commands, &begin))) {
        return 1;
    }
    vkCmdCopyBuffer(commands, s->found.buffer, s->readback.buffer, 1, &region);
    gpu_barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    return gpu_failed("vkEndCommandBuffer", vkEndCommandBuffer(commands));
}

/* Submits between the host's own two: waits for the drawing, signals when it has measured. */
static int measure(app *a, slot *s, const vyre_semaphore_point *wait,
                   const vyre_semaphore_point *signal)
{
    vyre_diag diag;
    const uint32_t width = SIDE;
    vyre_host_sync sync = {.wait_count = 1, .waits = wait, .signal_count = 1, .signals = signal};
    vyre_binding bindings[] = {
        {.kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = s->shared_pixels},
        {.kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = s->shared_found},
        {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 3;
    params.params = &width;
    params.param_count = 1;
    params.sync = &sync;
    return failed(vyre_dispatch_async(a->pipeline, &params, &s->ticket, &diag), &diag);
}

/* The slot's frame has ended: is it right? */
static int finish(app *a, slot *s)
{
    vyre_diag diag;
    if (s->frame == 0) {
        return 0;
    }
    if (gpu_wait(&a->gpu, a->used, s->frame) ||
        failed(vyre_ticket_wait(a->device, &s->ticket, UINT64_MAX, NULL, &diag), &diag)) {
        return 1;
    }
    const uint32_t *found = s->readback.mapped;
    VkOffset2D at = square_at(s->frame);
    uint32_t half = (SQUARE - 1) / 2;
    printf("frame %u: %u pixels around %u, %u\n", (unsigned)s->frame, (unsigned)found[0],
           (unsigned)found[1], (unsigned)found[2]);
    if (found[0] != SQUARE * SQUARE || found[1] != (uint32_t)at.x + half ||
        found[2] != (uint32_t)at.y + half) {
        fprintf(stderr, "but the square is at %d, %d\n", (int)at.x, (int)at.y);
        return 1;
    }
    s->frame = 0;
    return 0;
}

static int run(app *a)
{
    if (gpu_create(&a->gpu) || adopt(a) || make_pipeline(a) || make_slots(a)) {
        return 1;
    }
    for (uint64_t frame = 1; frame <= FRAMES; frame++) {
        slot *s = &a->slots[frame % SLOTS];
        vyre_semaphore_point drawn = {a->drawn, frame}, measured = {a->measured, frame},
                             used = {a->used, frame};
        if (finish(a, s) ||
            gpu_failed("vkResetCommandPool", vkResetCommandPool(a->gpu.device, s->pool, 0)) ||
            record_draw(s, frame) || record_use(s) ||
            gpu_submit(&a->gpu, s->commands[0], NULL, &drawn) || measure(a, s, &drawn, &measured) ||
            gpu_submit(&a->gpu, s->commands[1], &measured, &used)) {
            return 1;
        }
        s->frame = frame;
    }
    for (uint64_t frame = FRAMES + 1; frame <= FRAMES + SLOTS; frame++) {
        if (finish(a, &a->slots[frame % SLOTS])) {
            return 1;
        }
    }
    return 0;
}

static void end(app *a)
{
    if (a->gpu.device) {
        vkDeviceWaitIdle(a->gpu.device);
    }
    /* The library's objects first; the host's are untouched by that. */
    vyre_pipeline_destroy(&a->pipeline);
    vyre_kernel_destroy(&a->kernel);
    vyre_device_destroy(&a->device);
    for (uint32_t i = 0; i < SLOTS && a->gpu.device; i++) {
        slot *s = &a->slots[i];
        vkDestroyCommandPool(a->gpu.device, s->pool, NULL);
        gpu_destroy_image(&a->gpu, &s->image);
        gpu_destroy_buffer(&a->gpu, &s->pixels);
        gpu_destroy_buffer(&a->gpu, &s->found);
        gpu_destroy_buffer(&a->gpu, &s->readback);
    }
    if (a->gpu.device) {
        vkDestroySemaphore(a->gpu.device, a->drawn, NULL);
        vkDestroySemaphore(a->gpu.device, a->measured, NULL);
        vkDestroySemaphore(a->gpu.device, a->used, NULL);
    }
    gpu_destroy(&a->gpu);
}

int main(void)
{
    static app a;
    int result = run(&a);
    int validates = a.gpu.messenger != VK_NULL_HANDLE;
    end(&a);
    if (a.gpu.messages) {
        result = 1;
    }
    printf("%s; validation %s, %u messages\n", result ? "failed" : "every measure is right",
           validates ? "on" : "off", a.gpu.messages);
    return result;
}

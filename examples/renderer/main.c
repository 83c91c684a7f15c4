/* A pond in a window: a program of libvyre-vk makes six steps of its waves in each frame, recorded
 * in front of the drawing, which reads the heights where the program left them: nothing is copied,
 * and the host waits for nothing but the frame before the last. renderer [--headless] [--frames N]
 * [--png FILE] [--resize] Without --frames it runs until the window is closed. */
#include "pond.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    uint64_t frames; /* 0: until the window is closed */
    int is_headless, resizes;
    const char *png; /* the last frame, without a window */
} options;

typedef struct frame {
    VkCommandPool pool;
    VkCommandBuffer commands;
} frame;

typedef struct app {
    gpu gpu;
    target target;
    pond pond;
    frame frames[FRAMES_IN_FLIGHT];
    VkSemaphore done; /* has the number of the frame that ended last */
} app;

static int create_frames(app *a)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = a->gpu.family};
    for (uint32_t i = 0; i < FRAMES_IN_FLIGHT; i++) {
        frame *f = &a->frames[i];
        if (failed("vkCreateCommandPool",
                   vkCreateCommandPool(a->gpu.device, &pool, NULL, &f->pool))) {
            return 1;
        }
        VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = f->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
        if (failed("vkAllocateCommandBuffers",
                   vkAllocateCommandBuffers(a->gpu.device, &info, &f->commands))) {
            return 1;
        }
    }
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    return failed("vkCreateSemaphore", vkCreateSemaphore(a->gpu.device, &info, NULL, &a->done));
}

static int wait_for(app *a, uint64_t number)
{
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &a->done,
                                .pValues = &number};
    return failed("vkWaitSemaphores", vkWaitSemaphores(a->gpu.device, &info, UINT64_MAX));
}

static int record(app *a, frame *f, uint32_t image, uint64_t number)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    if (failed("vkResetCommandPool", vkResetCommandPool(a->gpu.device, f->pool, 0)) ||
        failed("vkBeginCommandBuffer", vkBeginCommandBuffer(f->commands, &begin)) ||
        pond_simulate(&a->pond, f->commands, a->done, number)) {
        return 1;
    }
    target_begin(&a->target, f->commands, image);
    pond_draw(&a->pond, f->commands, a->target.views[image], a->target.extent);
    target_end(&a->target, f->commands, image);
    return failed("vkEndCommandBuffer", vkEndCommandBuffer(f->commands));
}

static int submit(app *a, frame *f, uint32_t slot, uint32_t image, uint64_t number)
{
    VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                  .semaphore = a->target.acquired[slot],
                                  .stageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT};
    VkSemaphoreSubmitInfo signals[] = {{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = a->done,
                                        .value = number,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
                                       {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = a->target.rendered[image],
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
    VkCommandBufferSubmitInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                          .commandBuffer = f->commands};
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                          .waitSemaphoreInfoCount = a->gpu.window ? 1 : 0,
                          .pWaitSemaphoreInfos = &wait,
                          .commandBufferInfoCount = 1,
                          .pCommandBufferInfos = &commands,
                          .signalSemaphoreInfoCount = a->gpu.window ? 2 : 1,
                          .pSignalSemaphoreInfos = signals};
    return failed("vkQueueSubmit2", vkQueueSubmit2(a->gpu.queue, 1, &info, VK_NULL_HANDLE));
}

static int run_frames(app *a, const options *o)
{
    uint64_t number = 0;
    while (a->gpu.window || number < o->frames) {
        uint32_t slot = (uint32_t)(number % FRAMES_IN_FLIGHT), image;
        int is_ready;
        if (a->gpu.window) {
            glfwPollEvents();
            if (o->frames > 0 && number == o->frames) {
                glfwSetWindowShouldClose(a->gpu.window, GLFW_TRUE);
            }
            if (glfwWindowShouldClose(a->gpu.window)) {
                break;
            }
            if (o->resizes && number % 20 == 10) { /* for tests */
                glfwSetWindowSize(a->gpu.window, 400 + (int)number, 300 - (int)number);
            }
        }
        if ((number >= FRAMES_IN_FLIGHT && wait_for(a, number + 1 - FRAMES_IN_FLIGHT)) ||
            target_acquire(&a->target, &a->gpu, slot, &image, &is_ready)) {
            return 1;
        }
        if (!is_ready) {
            continue;
        }
        number++;
        vyre_device_retire(a->pond.device, 0); /* lets go of frames that have ended */
        if (record(a, &a->frames[slot], image, number) ||
            submit(a, &a->frames[slot], slot, image, number) ||
            target_present(&a->target, &a->gpu, image)) {
            return 1;
        }
    }
    printf("%u frames\n", (unsigned)number);
    return wait_for(a, number) || (o->png && target_save(&a->target, o->png));
}

static int run(app *a, GLFWwindow *window, const options *o)
{
    VkExtent2D extent = {960, 600};
    return gpu_create(&a->gpu, window) || target_create(&a->target, &a->gpu, extent) ||
           pond_create(&a->pond, &a->gpu, a->target.format) || create_frames(a) || run_frames(a, o);
}

static void end(app *a)
{
    VkDevice device = a->gpu.device;
    if (device) {
        vkDeviceWaitIdle(device);
        pond_destroy(&a->pond, &a->gpu);
        target_destroy(&a->target, &a->gpu);
        for (uint32_t i = 0; i < FRAMES_IN_FLIGHT; i++) {
            vkDestroyCommandPool(device, a->frames[i].pool, NULL);
        }
        vkDestroySemaphore(device, a->done, NULL);
    }
    gpu_destroy(&a->gpu);
}

static int parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--headless") == 0) {
            o->is_headless = 1;
        } else if (strcmp(argv[i], "--resize") == 0) {
            o->resizes = 1;
        } else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc) {
            o->frames = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--png") == 0 && i + 1 < argc) {
            o->png = argv[++i];
        } else {
            return 1;
        }
    }
    /* Without a window nobody could end it, and with one its images are not ours to read. */
    return o->is_headless ? o->frames == 0 : o->png != NULL;
}

int main(int argc, char **argv)
{
    static app a;
    options o = {0};
    GLFWwindow *window = NULL;
    if (parse(argc, argv, &o)) {
        fprintf(stderr, "usage: renderer [--frames N] [--resize]\n"
                        "       renderer --headless --frames N [--png FILE]\n");
        return 2;
    }
    if (!o.is_headless) {
        if (!glfwInit() || !glfwVulkanSupported()) {
            fprintf(stderr, "no window with Vulkan; try --headless\n");
            return 1;
        }
        glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
        window = glfwCreateWindow(960, 600, "A pond of libvyre-vk", NULL, NULL);
        if (!window) {
            fprintf(stderr, "the window cannot be made\n");
            glfwTerminate();
            return 1;
        }
    }
    int result = run(&a, window, &o);
    int validates = a.gpu.messenger != VK_NULL_HANDLE;
    end(&a);
    if (window) {
        printf("%u swapchains\n", a.target.swapchains);
        glfwDestroyWindow(window);
        glfwTerminate();
    }
    printf("validation %s, %u messages\n", validates ? "on" : "off", a.gpu.messages);
    return result || a.gpu.messages;
}

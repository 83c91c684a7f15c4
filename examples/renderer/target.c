/* What is drawn into: a window's swapchain, made anew whenever the window changes, or an image. */
#include "gpu.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

static int create_view(target *t, gpu *g, uint32_t image)
{
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = t->images[image],
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = t->format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return failed("vkCreateImageView", vkCreateImageView(g->device, &info, NULL, &t->views[image]));
}

static int create_semaphore(gpu *g, VkSemaphore *out)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    return failed("vkCreateSemaphore", vkCreateSemaphore(g->device, &info, NULL, out));
}

/* ---- A window -------------------------------------------------------------------------------- */

static void choose_format(target *t, gpu *g, VkColorSpaceKHR *out_space)
{
    VkSurfaceFormatKHR formats[64];
    uint32_t count = LENGTH(formats), chosen = 0;
    vkGetPhysicalDeviceSurfaceFormatsKHR(g->physical, g->surface, &count, formats);
    for (uint32_t i = 0; i < count; i++) {
        if (formats[i].format == VK_FORMAT_B8G8R8A8_SRGB ||
            formats[i].format == VK_FORMAT_R8G8B8A8_SRGB) {
            chosen = i;
        }
    }
    *out_space = formats[chosen].colorSpace;
    t->format = formats[chosen].format;
}

static void destroy_images(target *t, gpu *g)
{
    for (uint32_t i = 0; i < t->image_count; i++) {
        vkDestroyImageView(g->device, t->views[i], NULL);
        vkDestroySemaphore(g->device, t->rendered[i], NULL);
    }
    t->image_count = 0;
}

/* Waits while the window has no area, as when it is minimised; without one there is no swapchain.
 */
static int create_swapchain(target *t, gpu *g)
{
    VkSurfaceCapabilitiesKHR can;
    VkColorSpaceKHR space;
    int width = 0, height = 0;
    glfwGetFramebufferSize(g->window, &width, &height);
    while ((width == 0 || height == 0) && !glfwWindowShouldClose(g->window)) {
        glfwWaitEvents();
        glfwGetFramebufferSize(g->window, &width, &height);
    }
    vkDeviceWaitIdle(g->device);
    if (failed("vkGetPhysicalDeviceSurfaceCapabilitiesKHR",
               vkGetPhysicalDeviceSurfaceCapabilitiesKHR(g->physical, g->surface, &can))) {
        return 1;
    }
    choose_format(t, g, &space);
    if (can.maxImageExtent.width == 0 || can.maxImageExtent.height == 0) {
        return 0;
    }
    t->extent = can.currentExtent;
    if (t->extent.width == UINT32_MAX) { /* the surface takes the swapchain's size */
        t->extent.width = (uint32_t)width;
        t->extent.height = (uint32_t)height;
    }
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .surface = g->surface,
                                     .minImageCount = can.minImageCount +
                                                      (can.maxImageCount != can.minImageCount),
                                     .imageFormat = t->format,
                                     .imageColorSpace = space,
                                     .imageExtent = t->extent,
                                     .imageArrayLayers = 1,
                                     .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                     .preTransform = can.currentTransform,
                                     .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                     .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                     .clipped = VK_TRUE,
                                     .oldSwapchain = t->swapchain};
    VkSwapchainKHR old = t->swapchain;
    VkResult result = vkCreateSwapchainKHR(g->device, &info, NULL, &t->swapchain);
    destroy_images(t, g);
    vkDestroySwapchainKHR(g->device, old, NULL);
    uint32_t count = MAX_IMAGES;
    if (failed("vkCreateSwapchainKHR", result) ||
        failed("vkGetSwapchainImagesKHR",
               vkGetSwapchainImagesKHR(g->device, t->swapchain, &count, t->images))) {
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        t->views[i] = VK_NULL_HANDLE;
        t->rendered[i] = VK_NULL_HANDLE;
        t->image_count = i + 1;
        if (create_view(t, g, i) || create_semaphore(g, &t->rendered[i])) {
            return 1;
        }
    }
    t->swapchains++;
    return 0;
}

/* ---- No window ------------------------------------------------------------------------------- */

static int create_image(target *t, gpu *g)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = t->format,
                              .extent = {t->extent.width, t->extent.height, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = 4ull * t->extent.width * t->extent.height,
                                 .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    void *mapped = NULL;
    if (failed("vkCreateImage", vkCreateImage(g->device, &info, NULL, &t->images[0])) ||
        failed("vkCreateBuffer", vkCreateBuffer(g->device, &buffer, NULL, &t->pixels))) {
        return 1;
    }
    vkGetImageMemoryRequirements(g->device, t->images[0], &needs);
    if (gpu_allocate(g, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &t->image_memory) ||
        failed("vkBindImageMemory",
               vkBindImageMemory(g->device, t->images[0], t->image_memory, 0))) {
        return 1;
    }
    vkGetBufferMemoryRequirements(g->device, t->pixels, &needs);
    if (gpu_allocate(g, &needs,
                     VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                     &t->pixel_memory) ||
        failed("vkBindBufferMemory",
               vkBindBufferMemory(g->device, t->pixels, t->pixel_memory, 0)) ||
        failed("vkMapMemory",
               vkMapMemory(g->device, t->pixel_memory, 0, VK_WHOLE_SIZE, 0, &mapped))) {
        return 1;
    }
    t->mapped = mapped;
    t->image_count = 1;
    return create_view(t, g, 0);
}

int target_save(const target *t, const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = t->extent.width,
                       .height = t->extent.height,
                       .format = PNG_FORMAT_RGBA};
    if (!png_image_write_to_file(&image, path, 0, t->mapped, 0, NULL)) {
        fprintf(stderr, "%s: %s\n", path, image.message);
        return 1;
    }
    return 0;
}

/* ---- Both ------------------------------------------------------------------------------------ */

int target_create(target *t, gpu *g, VkExtent2D extent)
{
    t->extent = extent;
    t->format = VK_FORMAT_R8G8B8A8_SRGB;
    for (uint32_t i = 0; g->window && i < FRAMES_IN_FLIGHT; i++) {
        if (create_semaphore(g, &t->acquired[i])) {
            return 1;
        }
    }
    return g->window ? create_swapchain(t, g) : create_image(t, g);
}

int target_acquire(target *t, gpu *g, uint32_t slot, uint32_t *out_image, int *out_is_ready)
{
    *out_image = 0;
    *out_is_ready = 1;
    if (!g->window) {
        return 0;
    }
    VkResult result = t->swapchain
                          ? vkAcquireNextImageKHR(g->device, t->swapchain, UINT64_MAX,
                                                  t->acquired[slot], VK_NULL_HANDLE, out_image)
                          : VK_ERROR_OUT_OF_DATE_KHR;
    if (result == VK_ERROR_OUT_OF_DATE_KHR) {
        *out_is_ready = 0;
        return create_swapchain(t, g);
    }
    return result != VK_SUBOPTIMAL_KHR && failed("vkAcquireNextImageKHR", result);
}

int target_present(target *t, gpu *g, uint32_t image)
{
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &t->rendered[image],
                             .swapchainCount = 1,
                             .pSwapchains = &t->swapchain,
                             .pImageIndices = &image};
    int width = 0, height = 0;
    if (!g->window) {
        return 0;
    }
    VkResult result = vkQueuePresentKHR(g->queue, &info);
    glfwGetFramebufferSize(g->window, &width, &height);
    if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR ||
        (uint32_t)width != t->extent.width || (uint32_t)height != t->extent.height) {
        return create_swapchain(t, g);
    }
    return failed("vkQueuePresentKHR", result);
}

static void change_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from,
                          VkImageLayout to, VkPipelineStageFlags2 stage, VkAccessFlags2 access)
{
    VkImageMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                     .srcStageMask =
                                         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT |
                                         VK_PIPELINE_STAGE_2_COPY_BIT,
                                     .srcAccessMask = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                                     .dstStageMask = stage,
                                     .dstAccessMask = access,
                                     .oldLayout = from,
                                     .newLayout = to,
                                     .image = image,
                                     .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .imageMemoryBarrierCount = 1,
                             .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &info);
}

void target_begin(const target *t, VkCommandBuffer commands, uint32_t image)
{
    change_layout(commands, t->images[image], VK_IMAGE_LAYOUT_UNDEFINED,
                  VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                  VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                  VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT);
}

void target_end(const target *t, VkCommandBuffer commands, uint32_t image)
{
    if (t->swapchain) {
        change_layout(commands, t->images[image], VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                      VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                      VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, 0);
        return;
    }
    change_layout(commands, t->images[image], VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_2_COPY_BIT,
                  VK_ACCESS_2_TRANSFER_READ_BIT);
    VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                .dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                .dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT};
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .memoryBarrierCount = 1,
                             .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &info); /* behind the copy of the frame before */
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {t->extent.width, t->extent.height, 1}};
    vkCmdCopyImageToBuffer(commands, t->images[image], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           t->pixels, 1, &region);
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_HOST_READ_BIT;
    vkCmdPipelineBarrier2(commands, &info);
}

void target_destroy(target *t, gpu *g)
{
    destroy_images(t, g);
    for (uint32_t i = 0; i < FRAMES_IN_FLIGHT; i++) {
        vkDestroySemaphore(g->device, t->acquired[i], NULL);
    }
    if (g->window) {
        vkDestroySwapchainKHR(g->device, t->swapchain, NULL);
    } else {
        vkDestroyImage(g->device, t->images[0], NULL);
        vkDestroyBuffer(g->device, t->pixels, NULL);
        vkFreeMemory(g->device, t->image_memory, NULL);
        vkFreeMemory(g->device, t->pixel_memory, NULL);
    }
}

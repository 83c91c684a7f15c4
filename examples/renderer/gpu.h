/* The renderer's own Vulkan: a device, and what is drawn into (target.c). Nothing in it knows of
 * libvyre-vk but what the device is created with. */
#ifndef GPU_H
#define GPU_H

#define GLFW_INCLUDE_VULKAN
#include <GLFW/glfw3.h>
#include <vyre/vulkan.h>

#define FRAMES_IN_FLIGHT 2u
#define MAX_IMAGES       8u

typedef struct gpu {
    GLFWwindow *window; /* NULL: without one */
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger; /* where the validation layer is installed */
    unsigned messages;                  /* that it had */
    VkSurfaceKHR surface;
    VkPhysicalDevice physical;
    vyre_device_setup setup; /* what the device was created with */
    VkDevice device;
    uint32_t family; /* graphics, compute and, with a window, presenting */
    VkQueue queue;
} gpu;

/* What is drawn into: the images of a window, or one of our own. */
typedef struct target {
    VkFormat format;
    VkExtent2D extent;
    VkSwapchainKHR swapchain;
    unsigned swapchains; /* made so far */
    uint32_t image_count;
    VkImage images[MAX_IMAGES];
    VkImageView views[MAX_IMAGES];
    VkSemaphore acquired[FRAMES_IN_FLIGHT], rendered[MAX_IMAGES];
    VkDeviceMemory image_memory, pixel_memory; /* without a window */
    VkBuffer pixels;
    const void *mapped;
} target;

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* Each that gives an int gives 0, or 1 with the reason on standard error. */
int failed(const char *call, VkResult result);
int gpu_create(gpu *g, GLFWwindow *window);
/* Memory of the first type that the requirements and `wanted` allow. */
int gpu_allocate(gpu *g, const VkMemoryRequirements *needs, VkMemoryPropertyFlags wanted,
                 VkDeviceMemory *out);
void gpu_destroy(gpu *g);

int target_create(target *t, gpu *g, VkExtent2D extent);
/* The image for the next frame; *out_is_ready 0: the window changed, and there is none yet. */
int target_acquire(target *t, gpu *g, uint32_t slot, uint32_t *out_image, int *out_is_ready);
int target_present(target *t, gpu *g, uint32_t image);
/* Around the drawing: layouts, and without a window the copy to where the host can read. */
void target_begin(const target *t, VkCommandBuffer commands, uint32_t image);
void target_end(const target *t, VkCommandBuffer commands, uint32_t image);
int target_save(const target *t, const char *path); /* as PNG; without a window */
void target_destroy(target *t, gpu *g);

#endif

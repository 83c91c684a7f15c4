/* What a renderer has anyway: an instance, a device, its queues, buffers, images, submissions.
 * Nothing here knows of libvyre-vk but what the device is created with. */
#ifndef GPU_H
#define GPU_H

#include <vulkan/vulkan.h>
#include <vyre/vulkan.h>

typedef struct gpu {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger; /* where the validation layer is installed */
    unsigned messages;                  /* that it had */
    VkPhysicalDevice physical;
    vyre_device_setup setup; /* what the device was created with */
    VkDevice device;
    uint32_t families[2]; /* graphics; compute: another one where the device has one */
    VkQueue graphics, compute;
} gpu;

typedef struct gpu_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *mapped; /* NULL: on the device */
} gpu_buffer;

typedef struct gpu_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
} gpu_image;

/* Each gives 0, or 1 with the reason on standard error. */
int gpu_failed(const char *call, VkResult result);
int gpu_create(gpu *g);
/* For the families of both queues. */
int gpu_create_buffer(gpu *g, VkDeviceSize size, VkBufferUsageFlags usage, int is_mapped,
                      gpu_buffer *out);
int gpu_create_image(gpu *g, uint32_t side, gpu_image *out);
int gpu_create_timeline(gpu *g, VkSemaphore *out);
int gpu_create_commands(gpu *g, VkCommandPool *out_pool, VkCommandBuffer out_commands[2]);
/* To the graphics queue; wait may be NULL. */
int gpu_submit(gpu *g, VkCommandBuffer commands, const vyre_semaphore_point *wait,
               const vyre_semaphore_point *signal);
int gpu_wait(gpu *g, VkSemaphore timeline, uint64_t value);
void gpu_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkAccessFlags2 writes,
                 VkPipelineStageFlags2 to, VkAccessFlags2 accesses);
void gpu_destroy_buffer(gpu *g, gpu_buffer *b);
void gpu_destroy_image(gpu *g, gpu_image *i);
void gpu_destroy(gpu *g);

#endif

/* The pond: simulated by a program of libvyre-vk (simulate.c), drawn by a graphics pipeline
 * (draw.c) that reads the heights from the buffer in which the program leaves them. */
#ifndef POND_H
#define POND_H

#include "gpu.h"

#include <vyre/vyre.h>

#define POND_SIDE 256

typedef struct pond {
    vyre_device *device;
    vyre_kernel *kernel; /* lives as long as the pipeline */
    vyre_pipeline *pipeline;
    vyre_buffer height, speed; /* the library's; zero at first */
    VkBuffer drawn;            /* the heights, as Vulkan knows them */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline graphics;
    VkDescriptorPool pool;
    VkDescriptorSet set;
} pond;

/* Each that gives an int gives 0, or 1 with the reason on standard error. */
int pond_create(pond *p, gpu *g, VkFormat format);
/* Records the steps of one frame, whose commands have ended when `done` has that value. */
int pond_simulate(pond *p, VkCommandBuffer commands, VkSemaphore done, uint64_t frame);
void pond_destroy(pond *p, gpu *g); /* when the device is idle */

int pond_create_drawing(pond *p, gpu *g, VkFormat format);
void pond_draw(const pond *p, VkCommandBuffer commands, VkImageView view, VkExtent2D extent);
void pond_destroy_drawing(pond *p, gpu *g);

#endif

/* A command pool with its one command buffer, and barriers in it. */
#ifndef VY_COMMANDS_H
#define VY_COMMANDS_H

#include "engine/device/barrier.h"
#include "engine/device/device.h"

typedef struct vy_commands {
    VkCommandPool pool;
    VkCommandBuffer buffer;
} vy_commands;

vyre_result vy_commands_create(vyre_device *device, const char *name, vy_commands *out,
                               vyre_diag *diag);
void vy_commands_destroy(vyre_device *device, vy_commands *commands);
/* Starts recording anew. */
vyre_result vy_commands_begin(vyre_device *device, vy_commands *commands, bool is_once,
                              vyre_diag *diag);
vyre_result vy_commands_end(vyre_device *device, vy_commands *commands, vyre_diag *diag);
void vy_cmd_barrier(vyre_device *device, VkCommandBuffer commands, const vy_barrier *barrier);

#endif

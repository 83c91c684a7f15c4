/* The device's resident buffers behind their handles: 16 bits device, 24 generation, 24 index. */
#ifndef VY_BUFFER_H
#define VY_BUFFER_H

#include "engine/memory/memory.h"
#include "vyre/buffer.h"

/* A live buffer that cannot be destroyed until it is released. */
typedef struct vy_resident {
    uint32_t index;
    VkBuffer buffer;
    uint64_t size;
    VkBufferUsageFlags usage;
    VkDeviceAddress address; /* 0: only by descriptors */
} vy_resident;

vyre_result vy_slot_table_create(vyre_device *device, vy_slot_table **out_table, vyre_diag *diag);
/* Destroys the buffers that are left. */
void vy_slot_table_destroy(vyre_device *device, vy_slot_table **table);

/* `what` names the place for errors: "binding \"x\"". */
vyre_result vy_resident_acquire(vyre_device *device, vyre_buffer buffer, const char *what,
                                vy_resident *out_resident, vyre_diag *diag);
/* `value`: the timeline's value until which the device may use it; 0: none. */
void vy_resident_release(vyre_device *device, const vy_resident *resident, uint64_t value);

/* A slot for a buffer that was made elsewhere. */
vyre_result vy_resident_import(vyre_device *device, VkBuffer buffer, uint64_t size,
                               VkBufferUsageFlags usage, const char *name, vyre_buffer *out_buffer,
                               vyre_diag *diag);

#endif

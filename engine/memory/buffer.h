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
    bool is_mapped;          /* the host may read and write it in place */
} vy_resident;

vyre_result vy_slot_table_create(vyre_device *device, vy_slot_table **out_table, vyre_diag *diag);
/* Destroys the buffers that are left. */
void vy_slot_table_destroy(vyre_device *device, vy_slot_table **table);

/* `what` names the place for errors: "binding \"x\"". */
vyre_result vy_resident_acquire(vyre_device *device, vyre_buffer buffer, const char *what,
                                vy_resident *out_resident, vyre_diag *diag);
/* The same for several in one go, between lock and unlock of the table. */
void vy_residents_lock(vyre_device *device);
void vy_residents_unlock(vyre_device *device);
vyre_result vy_resident_acquire_locked(vyre_device *device, vyre_buffer buffer, const char *what,
                                       vy_resident *out_resident, vyre_diag *diag);
/* `value`: the timeline's value until which the device may use it; 0: none. */
void vy_resident_release(vyre_device *device, const vy_resident *resident, uint64_t value);
void vy_residents_release(vyre_device *device, const vy_resident *list, uint32_t count,
                          uint64_t value);

/* Frees released buffers whose last use has ended; returns their bytes. */
uint64_t vy_resident_collect(vyre_device *device);

#define VY_BUFFER_NAME_SIZE 48u

/* What a slot holds. */
typedef struct vy_slot_contents {
    bool is_imported;
    uint32_t flags; /* VYRE_BUFFER_* */
    vy_block block; /* own memory; none where imported or of size 0 */
    VkBuffer buffer;
    uint64_t size;
    VkBufferUsageFlags usage;
    VkDeviceAddress address;
    char name[VY_BUFFER_NAME_SIZE];
} vy_slot_contents;

/* Takes the contents where it succeeds. */
vyre_result vy_slot_add(vyre_device *device, const vy_slot_contents *contents,
                        vyre_buffer *out_buffer, vyre_diag *diag);
/* BUSY where it is in use, unless it may be freed later. */
vyre_result vy_slot_remove(vyre_device *device, vyre_buffer buffer, bool may_defer,
                           vyre_diag *diag);
/* They stay in place and as they are while the resident is not released. */
const vy_slot_contents *vy_resident_contents(vyre_device *device, const vy_resident *resident);

/* A slot for a buffer that was made elsewhere. */
vyre_result vy_resident_import(vyre_device *device, VkBuffer buffer, uint64_t size,
                               VkBufferUsageFlags usage, const char *name, vyre_buffer *out_buffer,
                               vyre_diag *diag);

#endif

/* Device memory: VkBuffers with memory from VMA or from a host's callbacks, staging, and single
 * fills. */
#ifndef VY_MEMORY_H
#define VY_MEMORY_H

#include "engine/device/device.h"

typedef enum vy_memory_kind {
    VY_MEMORY_DEVICE,      /* resident; in another type of memory where the device's own is full */
    VY_MEMORY_DEVICE_ONLY, /* resident, or fail */
    VY_MEMORY_MAPPABLE,    /* resident and mapped, or fail with DEVICE_OUT_OF_MEMORY */
    VY_MEMORY_UPLOAD,      /* written by the host, read by the device once */
    VY_MEMORY_TABLE,       /* written by the host, read by the device often */
    VY_MEMORY_READBACK     /* written by the device, read by the host */
} vy_memory_kind;

/* A VkBuffer with its memory. All zero: none. */
typedef struct vy_block {
    VkBuffer buffer;
    void *allocation; /* VMA's or the host's */
    uint64_t size;
    void *mapped;            /* all but DEVICE and DEVICE_ONLY */
    VkDeviceAddress address; /* 0 where the device has no addresses */
    VkMemoryPropertyFlags properties;
    uint64_t serial; /* never given twice by a device: drivers give VkBuffer handles again */
} vy_block;

/* Mapped and the device's own (or the only memory there is): kernels may read it where it lies. */
bool vy_block_is_direct(const vy_block *block);

vyre_result vy_memory_create(vyre_device *device, vy_memory **out_memory, vyre_diag *diag);
void vy_memory_destroy(vyre_device *device, vy_memory **memory);
void vy_memory_usage(vyre_device *device, uint64_t *out_blocks, uint64_t *out_size);

/* `size` is not 0. Before it fails for want of memory it gives idle memory back (vy_memory_trim,
 * device->evict): the caller holds no lock that those take. Errors: DEVICE_OUT_OF_MEMORY saying how
 * much was asked, what is held, and the limit or what is left. */
vyre_result vy_block_create(vyre_device *device, vy_memory_kind kind, uint64_t size,
                            const char *name, vy_block *out_block, vyre_diag *diag);
void vy_block_destroy(vyre_device *device, vy_block *block);
/* Grows `block` to at least `size`; its contents are lost then. */
vyre_result vy_block_grow(vyre_device *device, vy_memory_kind kind, uint64_t size, const char *name,
                          vy_block *block, vyre_diag *diag);
/* Makes host writes visible to the device, and device writes to the host, where the memory is not
 * coherent; ranges are rounded to the device's atoms. */
vyre_result vy_block_flush(vyre_device *device, const vy_block *block, uint64_t offset,
                           uint64_t size, vyre_diag *diag);
vyre_result vy_block_invalidate(vyre_device *device, const vy_block *block, uint64_t offset,
                                uint64_t size, vyre_diag *diag);
/* 256 bytes of zeros, bound where a length is zero. */
const vy_block *vy_memory_zeros(const vyre_device *device);
/* Gives idle staging and released buffers back; returns the bytes. */
uint64_t vy_memory_trim(vyre_device *device);

/* ---- transfer.c ------------------------------------------------------------------------------
 */

/* Submits and waits; ordered after and before everything else on the queue. Offset and size are
 * multiples of 4. */
vyre_result vy_transfer_fill(vyre_device *device, VkBuffer buffer, uint64_t offset, uint64_t size,
                             uint32_t word, vyre_diag *diag);

typedef struct vy_transfer vy_transfer;
/* The transfers' own memory, kept between calls; part of vy_memory. */
typedef struct vy_transfer_pool {
    vy_mutex mutex;
    vy_transfer *idle, *parked;
    bool has_mutex;
    atomic_bool has_kernels;
    atomic_uint asked; /* moves that kernels would have made, until these are there */
} vy_transfer_pool;
vy_transfer_pool *vy_memory_transfers(vyre_device *device);
void vy_transfer_pool_finish(vyre_device *device, vy_transfer_pool *pool);
/* Destroys the idle ones; returns the bytes of their staging. */
uint64_t vy_transfer_trim(vyre_device *device);

#endif

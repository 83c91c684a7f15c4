/* Resident buffers: device memory that stays where it is from dispatch to dispatch, and transfers
 * to and from it. */
#ifndef VYRE_BUFFER_H
#define VYRE_BUFFER_H

#include "vyre/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value with owner, generation and index: a handle that is freed, stale or another device's is
 * refused by name. All zero is no buffer. */
typedef struct vyre_buffer {
    uint64_t bits;
} vyre_buffer;

#define VYRE_BUFFER_UNINITIALIZED 1u /* contents are not made zero at creation */
/* Mapped where the device has memory that is its own and the host's at once (unified, resizable
 * BAR) and room in it; otherwise the buffer is made all the same, and cannot be mapped. */
#define VYRE_BUFFER_MAPPABLE 2u
/* Never in host memory: DEVICE_OUT_OF_MEMORY where the device's own is full. Without it such a
 * buffer goes to the next type of memory that can hold it, which is counted. */
#define VYRE_BUFFER_DEVICE_ONLY 4u

/* In the host's memory, mapped and cached: for little that the device writes and the host reads, or
 * the other way round. What kernels do with it goes over the bus. Not with MAPPABLE or DEVICE_ONLY.
 */
#define VYRE_BUFFER_READBACK 8u

/* What vyre_buffer_create makes. */
typedef struct vyre_buffer_params {
    uint32_t struct_size;
    uint32_t flags;   /* VYRE_BUFFER_* */
    uint64_t size;    /* in bytes; 0 is legal */
    const char *name; /* for debuggers and errors; copied, cut at 47 bytes */
} vyre_buffer_params;

static inline void vyre_buffer_params_init(vyre_buffer_params *params)
{
    vyre_buffer_params zero = {0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Contents are zero unless the flags say otherwise. Errors: DEVICE_OUT_OF_MEMORY (the message says
 * how much was asked and what was left), INVALID_ARGUMENT (larger than the device's limit),
 * OUT_OF_HOST_MEMORY, DEVICE_LOST. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_create(vyre_device *device,
                                                   const vyre_buffer_params *params,
                                                   vyre_buffer *out_buffer, vyre_diag *diag);
/* Zeroes *buffer. No buffer is no error. Errors: BUSY (used by work in flight or by a recording),
 * INVALID_ARGUMENT (not a live buffer of this device); *buffer then stays. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_destroy(vyre_device *device, vyre_buffer *buffer,
                                                    vyre_diag *diag);
/* As vyre_buffer_destroy, but a buffer in use is given up now and freed once its last use has
 * ended: never BUSY, never waits. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_release(vyre_device *device, vyre_buffer *buffer,
                                                    vyre_diag *diag);
/* The size in bytes that the buffer was made or imported with. Errors: INVALID_ARGUMENT (not a
 * live buffer of this device). */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_query_size(vyre_device *device, vyre_buffer buffer,
                                                       uint64_t *out_size, vyre_diag *diag);
/* The memory of a MAPPABLE or READBACK buffer, until it is destroyed. The host must not touch what
 * work in flight uses; what it writes before a dispatch is submitted the dispatch sees, and what a
 * dispatch wrote it sees once that has been waited for, both after vyre_buffer_sync_mapped where
 * *out_is_coherent (may be NULL) is 0. Errors: UNSUPPORTED_FEATURE (no such memory),
 * INVALID_ARGUMENT.
 */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_map(vyre_device *device, vyre_buffer buffer,
                                                void **out_data, int *out_is_coherent,
                                                vyre_diag *diag);
typedef enum vyre_mapped_sync {
    VYRE_MAPPED_TO_DEVICE,  /* after the host wrote */
    VYRE_MAPPED_FROM_DEVICE /* before the host reads */
} vyre_mapped_sync;
/* Makes what one side wrote in these bytes of a mapped buffer visible to the other; nothing
 * where the memory is coherent. Errors: INVALID_ARGUMENT, memory, DEVICE_LOST. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_sync_mapped(vyre_device *device, vyre_buffer buffer,
                                                        uint64_t offset, uint64_t size,
                                                        vyre_mapped_sync direction,
                                                        vyre_diag *diag);

/* ---- Transfers -------------------------------------------------------------------------------
 * Each call waits; it is ordered after everything that the library submitted before. Ranges must
 * lie in their buffers; size 0 does nothing. Everything is checked before anything is done: after
 * INVALID_ARGUMENT nothing was read or written, and after any error host memory is as it was, apart
 * from downloads of more than 64 MiB in one call (or of less, where there is no room for as much
 * staging memory): of these a part may have been written, in order, and nothing is in flight any
 * more. Errors: INVALID_ARGUMENT, DEVICE_OUT_OF_MEMORY,
 * OUT_OF_HOST_MEMORY, DEVICE_LOST. */

/* Copies `size` bytes of the host's into the buffer, from byte `offset` on. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_upload(vyre_device *device, vyre_buffer buffer,
                                                   uint64_t offset, const void *data, uint64_t size,
                                                   vyre_diag *diag);
/* Copies `size` bytes of the buffer, from byte `offset` on, to the host. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_download(vyre_device *device, vyre_buffer buffer,
                                                     uint64_t offset, void *data, uint64_t size,
                                                     vyre_diag *diag);
/* Offset and size are multiples of 4. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_fill(vyre_device *device, vyre_buffer buffer,
                                                 uint64_t offset, uint64_t size, uint32_t word,
                                                 vyre_diag *diag);

/* A range that becomes one word again and again. */
typedef struct vyre_fill {
    vyre_buffer buffer;
    uint64_t offset, size; /* multiples of 4 */
    uint32_t word;
} vyre_fill;
/* Bytes of the host's for a range of a buffer. */
typedef struct vyre_upload {
    vyre_buffer buffer;
    uint64_t offset, size;
    const void *data;
} vyre_upload;
/* Bytes of one buffer for another, or for another place in it. */
typedef struct vyre_copy {
    vyre_buffer source, target;
    uint64_t source_offset, target_offset, size; /* ranges must not overlap */
} vyre_copy;
/* Bytes of a buffer for the host. */
typedef struct vyre_download {
    vyre_buffer buffer;
    uint64_t offset, size;
    void *data;
} vyre_download;

/* Any number of transfers with one submission and one wait, up to 8 MiB of uploads and 64 MiB of
 * downloads; more goes in pieces of 4 MiB, and the host copies one of them while the device copies
 * the one before. Order: fills, uploads, copies, downloads; within
 * one kind later ones win. Downloads may overlap each other; ranges that touch are read once. */
typedef struct vyre_transfer_params {
    uint32_t struct_size;
    uint32_t fill_count, upload_count, copy_count, download_count;
    const vyre_fill *fills;
    const vyre_upload *uploads;
    const vyre_copy *copies;
    const vyre_download *downloads;
} vyre_transfer_params;

static inline void vyre_transfer_params_init(vyre_transfer_params *params)
{
    vyre_transfer_params zero = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* All of them at once, with one wait. */
VYRE_API VYRE_CHECK vyre_result vyre_transfer(vyre_device *device,
                                              const vyre_transfer_params *params, vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

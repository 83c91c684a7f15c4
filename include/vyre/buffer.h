/* Resident buffers: device memory that stays where it is from dispatch to dispatch. */
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
VYRE_API VYRE_CHECK vyre_result vyre_buffer_query_size(vyre_device *device, vyre_buffer buffer,
                                                       uint64_t *out_size, vyre_diag *diag);

/* Each of these submits and waits; ordered after everything that the library submitted before. The
 * range must lie in the buffer; size 0 does nothing. Errors: INVALID_ARGUMENT,
 * DEVICE_OUT_OF_MEMORY, OUT_OF_HOST_MEMORY, DEVICE_LOST. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_upload(vyre_device *device, vyre_buffer buffer,
                                                   uint64_t offset, const void *data, uint64_t size,
                                                   vyre_diag *diag);
VYRE_API VYRE_CHECK vyre_result vyre_buffer_download(vyre_device *device, vyre_buffer buffer,
                                                     uint64_t offset, void *data, uint64_t size,
                                                     vyre_diag *diag);
/* Offset and size are multiples of 4. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_fill(vyre_device *device, vyre_buffer buffer,
                                                 uint64_t offset, uint64_t size, uint32_t word,
                                                 vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

/* What the library keeps between runs: bytes behind a header that says what they are and whose:
 * kind, lengths, checksum, and the identity of the device, of its driver and of this library. It
 * is read as hostile input: what does not match in every byte counts for nothing. */
#ifndef VY_KEPT_H
#define VY_KEPT_H

#include "engine/device/device.h"

typedef enum vy_kept_kind {
    VY_KEPT_PIPELINES = 1,
    VY_KEPT_ANSWERS = 2,
    VY_KEPT_SCANS = 3
} vy_kept_kind;

#define VY_KEPT_HEADER 128u /* bytes; keeps what follows aligned */

/* Writes the header for the `payload_size` bytes that lie behind it in `blob`. */
void vy_kept_seal(const vy_snapshot *snapshot, vy_kept_kind kind, void *blob, size_t payload_size);
/* The payload, or NULL where the blob is damaged, of another kind, device, driver or library. */
const void *vy_kept_open(const vy_snapshot *snapshot, vy_kept_kind kind, const void *blob,
                         size_t size, size_t *out_payload_size);

/* The blob of that kind in device->cache_dir, as it lies there; NULL: none. Freed with vy_free. */
void *vy_kept_read(vyre_device *device, vy_kept_kind kind, size_t *out_size);
/* Where the folder cannot be written, nothing is kept, and a message says so. */
void vy_kept_write(vyre_device *device, vy_kept_kind kind, const void *blob, size_t size);

#endif

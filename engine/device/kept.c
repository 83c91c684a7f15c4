/* See kept.h. */
#include "engine/device/kept.h"

#include "engine/device/file.h"

#include <stdio.h>
#include <string.h>

#define MAGIC   0x43525956u /* VYRC */
#define VERSION 1u

/* Words of the header, little-endian. */
enum {
    WORD_MAGIC = 0,
    WORD_VERSION = 1,
    WORD_KIND = 2,
    WORD_HEADER_SIZE = 3,
    WORD_PAYLOAD_SIZE = 4, /* 2 */
    WORD_VENDOR = 6,
    WORD_DEVICE = 7,
    WORD_DRIVER_VERSION = 8,
    WORD_DRIVER_ID = 9,
    WORD_CACHE_UUID = 10,  /* 4 */
    WORD_DRIVER_UUID = 14, /* 4 */
    WORD_DEVICE_UUID = 18, /* 4 */
    WORD_DRIVER_TEXT = 22, /* 2: hash; a software driver's compiler shows here alone */
    WORD_LIBRARY = 24,     /* 2: hash of this library's version */
    WORD_CHECKSUM = 30,    /* 2: of all words before, and the payload */
    WORD_COUNT = VY_KEPT_HEADER / 4
};

/* Files are small next to what a process maps: larger ones are somebody else's. */
static const size_t limits[] = {
    [VY_KEPT_PIPELINES] = (size_t)256 << 20,
    [VY_KEPT_ANSWERS] = 4096,
    [VY_KEPT_SCANS] = 8192,
};

static void put_word(unsigned char *header, uint32_t word, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        header[4 * word + i] = (unsigned char)(value >> 8 * i);
    }
}

static void put_pair(unsigned char *header, uint32_t word, uint64_t value)
{
    put_word(header, word, (uint32_t)value);
    put_word(header, word + 1, (uint32_t)(value >> 32));
}

static const char *const names[] = {
    [VY_KEPT_PIPELINES] = "pipelines",
    [VY_KEPT_ANSWERS] = "answers",
    [VY_KEPT_SCANS] = "scans",
};

static uint64_t hash_of(const char *text)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, text, strlen(text));
    return vy_hash_value(&hash);
}

static void make_header(const vy_snapshot *s, vy_kept_kind kind, const void *payload,
                        size_t payload_size, unsigned char *header)
{
    memset(header, 0, VY_KEPT_HEADER);
    put_word(header, WORD_MAGIC, MAGIC);
    put_word(header, WORD_VERSION, VERSION);
    put_word(header, WORD_KIND, (uint32_t)kind);
    put_word(header, WORD_HEADER_SIZE, VY_KEPT_HEADER);
    put_pair(header, WORD_PAYLOAD_SIZE, payload_size);
    put_word(header, WORD_VENDOR, s->info.vendor_id);
    put_word(header, WORD_DEVICE, s->info.device_id);
    put_word(header, WORD_DRIVER_VERSION, s->info.driver_version);
    put_word(header, WORD_DRIVER_ID, s->driver_id);
    memcpy(header + 4 * WORD_CACHE_UUID, s->cache_uuid, sizeof s->cache_uuid);
    memcpy(header + 4 * WORD_DRIVER_UUID, s->driver_uuid, sizeof s->driver_uuid);
    memcpy(header + 4 * WORD_DEVICE_UUID, s->device_uuid, sizeof s->device_uuid);
    put_pair(header, WORD_DRIVER_TEXT, hash_of(s->info.driver));
    put_pair(header, WORD_LIBRARY, hash_of(VYRE_VERSION));
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, header, 4 * WORD_CHECKSUM);
    vy_hash_bytes(&hash, payload, payload_size);
    put_pair(header, WORD_CHECKSUM, vy_hash_value(&hash));
}

void vy_kept_seal(const vy_snapshot *snapshot, vy_kept_kind kind, void *blob, size_t payload_size)
{
    unsigned char header[VY_KEPT_HEADER];
    make_header(snapshot, kind, (unsigned char *)blob + VY_KEPT_HEADER, payload_size, header);
    memcpy(blob, header, sizeof header);
}

const void *vy_kept_open(const vy_snapshot *snapshot, vy_kept_kind kind, const void *blob,
                         size_t size, size_t *out_payload_size)
{
    unsigned char header[VY_KEPT_HEADER];
    *out_payload_size = 0;
    if (!blob || size < VY_KEPT_HEADER) {
        return NULL;
    }
    const unsigned char *payload = (const unsigned char *)blob + VY_KEPT_HEADER;
    /* One that says another length than it has differs in the header. */
    make_header(snapshot, kind, payload, size - VY_KEPT_HEADER, header);
    if (memcmp(header, blob, sizeof header) != 0) {
        return NULL;
    }
    *out_payload_size = size - VY_KEPT_HEADER;
    return payload;
}

/* ---- In the folder --------------------------------------------------------------------------- */

/* By device, so that a newer driver's file takes the place of the older one's. */
static void make_name(const vy_snapshot *s, vy_kept_kind kind, char *out, size_t size)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_u32(&hash, s->driver_id);
    vy_hash_bytes(&hash, s->device_uuid, sizeof s->device_uuid);
    snprintf(out, size, "%s-%04x-%04x-%016llx.vyre",
             names[kind], (unsigned)s->info.vendor_id, (unsigned)s->info.device_id,
             (unsigned long long)vy_hash_value(&hash));
}

void *vy_kept_read(vyre_device *device, vy_kept_kind kind, size_t *out_size)
{
    char name[96];
    *out_size = 0;
    if (!device->cache_dir) {
        return NULL;
    }
    make_name(&device->snapshot, kind, name, sizeof name);
    return vy_disk_read(&device->allocator, device->cache_dir, name, limits[kind], out_size);
}

void vy_kept_write(vyre_device *device, vy_kept_kind kind, const void *blob, size_t size)
{
    char name[96];
    if (!device->cache_dir || size > limits[kind]) {
        return;
    }
    make_name(&device->snapshot, kind, name, sizeof name);
    if (!vy_disk_write(&device->allocator, device->cache_dir, name, blob, size, device->id)) {
        vy_log_write(
            &device->log, VYRE_LOG_INFO,
            "\"%s\" cannot be written in \"%s\"; what it would keep is made again next time", name,
            device->cache_dir);
    }
}

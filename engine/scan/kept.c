/* See kept.h. A file of up to 256 entries of four words, the newest first. */
#include "engine/scan/kept.h"

#include "engine/device/kept.h"

#include <string.h>

#define MOST_ENTRIES 256u
#define ENTRY_SIZE   16u /* key, segment size, staging */

uint64_t vy_scan_kept_key(const vyre_scanner *s)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_u64(&hash, s->catalogue->fingerprint);
    vy_hash_u32(&hash, s->is_wide ? 32 : 16);
    vy_hash_u32(&hash, s->workgroup);
    return vy_hash_value(&hash);
}

static bool is_choice(const vy_scan_choice *choice)
{
    return choice->segment_size >= VY_SCAN_UNIT &&
           (choice->segment_size % VY_SCAN_UNIT == 0 ||
            choice->segment_size == VYRE_SEGMENT_WHOLE) &&
           (choice->staging == VYRE_SCAN_STAGING_SHARED ||
            choice->staging == VYRE_SCAN_STAGING_DIRECT);
}

static vy_scan_choice read_choice(const unsigned char *entry)
{
    uint32_t words[2];
    memcpy(words, entry + 8, sizeof words);
    return (vy_scan_choice){words[0], (vyre_scan_staging)words[1]};
}

static void write_entry(unsigned char *entry, uint64_t key, const vy_scan_choice *choice)
{
    uint32_t words[2] = {choice->segment_size, (uint32_t)choice->staging};
    memcpy(entry, &key, sizeof key);
    memcpy(entry + 8, words, sizeof words);
}

void vy_scan_kept_find(vyre_device *device, uint64_t key, vy_scan_choice *choice)
{
    size_t size = 0, payload_size = 0;
    void *blob = vy_kept_read(device, VY_KEPT_SCANS, &size);
    const unsigned char *payload =
        vy_kept_open(&device->snapshot, VY_KEPT_SCANS, blob, size, &payload_size);
    for (size_t at = 0; payload && at + ENTRY_SIZE <= payload_size; at += ENTRY_SIZE) {
        vy_scan_choice kept = read_choice(payload + at);
        if (memcmp(payload + at, &key, sizeof key) == 0 && is_choice(&kept)) {
            *choice = kept;
            break;
        }
    }
    vy_free(&device->allocator, blob, size);
}

void vy_scan_kept_store(vyre_device *device, uint64_t key, const vy_scan_choice *choice)
{
    size_t size = 0, payload_size = 0;
    const size_t room = VY_KEPT_HEADER + (size_t)MOST_ENTRIES * ENTRY_SIZE;
    void *old = vy_kept_read(device, VY_KEPT_SCANS, &size);
    const unsigned char *payload =
        vy_kept_open(&device->snapshot, VY_KEPT_SCANS, old, size, &payload_size);
    unsigned char *blob = vy_alloc_zeroed(&device->allocator, room, 1);
    if (blob) {
        size_t used = VY_KEPT_HEADER + ENTRY_SIZE;
        write_entry(blob + VY_KEPT_HEADER, key, choice);
        for (size_t at = 0; payload && at + ENTRY_SIZE <= payload_size && used < room;
             at += ENTRY_SIZE) {
            if (memcmp(payload + at, &key, sizeof key) != 0) {
                memcpy(blob + used, payload + at, ENTRY_SIZE);
                used += ENTRY_SIZE;
            }
        }
        vy_kept_seal(&device->snapshot, VY_KEPT_SCANS, blob, used - VY_KEPT_HEADER);
        vy_kept_write(device, VY_KEPT_SCANS, blob, used);
    }
    vy_free(&device->allocator, blob, room);
    vy_free(&device->allocator, old, size);
}

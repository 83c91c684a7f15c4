/* The public calls on resident buffers, apart from transfers. */
#include "engine/memory/buffer.h"

#include <string.h>

#define MAPPED    (VYRE_BUFFER_MAPPABLE | VYRE_BUFFER_READBACK)
#define ALL_FLAGS (VYRE_BUFFER_UNINITIALIZED | VYRE_BUFFER_DEVICE_ONLY | MAPPED)
#define OF_DEVICE (VYRE_BUFFER_MAPPABLE | VYRE_BUFFER_DEVICE_ONLY)
#define FULL_USAGE                                                                                 \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |                      \
     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT)

/* Cut where it is too long, at the end of a character: Vulkan wants UTF-8. */
static void set_name(vy_slot_contents *contents, const char *name, const char *otherwise)
{
    const char *text = name ? name : otherwise;
    size_t length = 0;
    while (length < sizeof contents->name && text[length]) {
        length++;
    }
    if (length == sizeof contents->name) {
        length--;
        while (length > 0 && ((unsigned char)text[length] & 0xc0u) == 0x80u) {
            length--;
        }
    }
    memcpy(contents->name, text, length);
    contents->name[length] = '\0';
}

vyre_result vy_resident_import(vyre_device *device, VkBuffer buffer, uint64_t size,
                               VkBufferUsageFlags usage, const char *name, vyre_buffer *out_buffer,
                               vyre_diag *diag)
{
    vy_slot_contents contents = {
        .is_imported = true, .buffer = buffer, .size = size, .usage = usage};
    set_name(&contents, name, "imported");
    if (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT &&
        device->snapshot.has[VY_FEATURE_bufferDeviceAddress]) {
        VkBufferDeviceAddressInfo info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
            .buffer = buffer,
        };
        contents.address = device->vk.vkGetBufferDeviceAddress(device->device, &info);
    }
    return vy_slot_add(device, &contents, out_buffer, diag);
}

/* Memory for the contents, zero unless the flags say otherwise. */
static vyre_result make_block(vyre_device *device, uint32_t flags, vy_slot_contents *contents,
                              vyre_diag *diag)
{
    vy_memory_kind kind = flags & VYRE_BUFFER_READBACK      ? VY_MEMORY_READBACK
                          : flags & VYRE_BUFFER_DEVICE_ONLY ? VY_MEMORY_DEVICE_ONLY
                                                            : VY_MEMORY_DEVICE;
    vyre_result code = VYRE_ERROR_DEVICE_OUT_OF_MEMORY;
    if (flags & VYRE_BUFFER_MAPPABLE) {
        code = vy_block_create(device, VY_MEMORY_MAPPABLE, contents->size, contents->name,
                               &contents->block, diag);
    }
    if (code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY) {
        code =
            vy_block_create(device, kind, contents->size, contents->name, &contents->block, diag);
    }
    contents->buffer = contents->block.buffer;
    contents->address = contents->block.address;
    if (code == VYRE_OK && !(flags & VYRE_BUFFER_UNINITIALIZED)) {
        code = vy_transfer_fill(device, contents->buffer, 0, (contents->size + 3) / 4 * 4, 0, diag);
    }
    return code;
}

vyre_result vyre_buffer_create(vyre_device *device, const vyre_buffer_params *params,
                               vyre_buffer *out_buffer, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_buffer) {
        return vy_invalid(diag, "out_buffer is NULL. Fix: pass where the buffer goes");
    }
    *out_buffer = (vyre_buffer){0};
    if (!device || !params) {
        return vy_invalid(diag, "no device or no parameters were given. Fix: pass both");
    }
    if (params->flags & ~ALL_FLAGS) {
        return vy_invalid(diag, "flags 0x%x are not known. Fix: use VYRE_BUFFER_* alone",
                          (unsigned)(params->flags & ~ALL_FLAGS));
    }
    if ((params->flags & VYRE_BUFFER_READBACK) && (params->flags & OF_DEVICE)) {
        return vy_invalid(diag,
                          "the buffer is to lie in the host's memory and in the device's. Fix: use "
                          "VYRE_BUFFER_READBACK without MAPPABLE and DEVICE_ONLY");
    }
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    (void)vy_resident_collect(device);
    vy_slot_contents contents = {.size = params->size, .usage = FULL_USAGE, .flags = params->flags};
    set_name(&contents, params->name, "buffer");
    if (params->size == 0) {
        contents.buffer = vy_memory_zeros(device)->buffer;
        contents.address = vy_memory_zeros(device)->address;
        return vy_slot_add(device, &contents, out_buffer, diag);
    }
    code = make_block(device, params->flags, &contents, diag);
    if (code == VYRE_OK) {
        code = vy_slot_add(device, &contents, out_buffer, diag);
    }
    if (code == VYRE_OK) {
        vy_diag_clear(diag); /* of what the mappable memory lacked */
        return VYRE_OK;
    }
    if (contents.block.buffer) {
        vy_queue_drain(device, vy_queue_submitted(device));
        vy_block_destroy(device, &contents.block);
    }
    return code;
}

static vyre_result remove_buffer(vyre_device *device, vyre_buffer *buffer, bool may_defer,
                                 vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !buffer) {
        return vy_invalid(diag, "no device or no buffer was given. Fix: pass both");
    }
    if (buffer->bits == 0) {
        return VYRE_OK;
    }
    (void)vy_resident_collect(device);
    vyre_result code = vy_slot_remove(device, *buffer, may_defer, diag);
    if (code == VYRE_ERROR_BUSY && device->collect) {
        /* Perhaps a recording has it that retired since somebody looked. */
        device->collect(device);
        code = vy_slot_remove(device, *buffer, may_defer, diag);
    }
    if (code == VYRE_OK) {
        *buffer = (vyre_buffer){0};
    }
    return code;
}

vyre_result vyre_buffer_destroy(vyre_device *device, vyre_buffer *buffer, vyre_diag *diag)
{
    return remove_buffer(device, buffer, false, diag);
}

vyre_result vyre_buffer_release(vyre_device *device, vyre_buffer *buffer, vyre_diag *diag)
{
    return remove_buffer(device, buffer, true, diag);
}

vyre_result vyre_buffer_query_size(vyre_device *device, vyre_buffer buffer, uint64_t *out_size,
                                   vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !out_size) {
        return vy_invalid(diag, "no device or no out_size was given. Fix: pass both");
    }
    *out_size = 0;
    vy_resident resident;
    vyre_result code = vy_resident_acquire(device, buffer, "the buffer", &resident, diag);
    if (code == VYRE_OK) {
        *out_size = resident.size;
        vy_resident_release(device, &resident, 0);
    }
    return code;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

/* The mapped block of a pinned buffer. */
static vyre_result check_mapped(const vy_slot_contents *contents, vyre_diag *diag)
{
    if (!(contents->flags & MAPPED)) {
        return vy_invalid(diag,
                          "the buffer \"%s\" was not made to be mapped. Fix: create it with "
                          "VYRE_BUFFER_MAPPABLE or VYRE_BUFFER_READBACK",
                          contents->name);
    }
    if (contents->size > 0 && !contents->block.mapped) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "there is no memory, or none left, for \"%s\" that is the device's own "
                           "and the host's. Fix: use vyre_buffer_upload and vyre_buffer_download",
                           contents->name);
    }
    return VYRE_OK;
}

vyre_result vyre_buffer_map(vyre_device *device, vyre_buffer buffer, void **out_data,
                            int *out_is_coherent, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (out_data) {
        *out_data = NULL;
    }
    if (out_is_coherent) {
        *out_is_coherent = 1;
    }
    if (!device || !out_data) {
        return vy_invalid(diag, "no device or no out_data was given. Fix: pass both");
    }
    vy_resident resident;
    vyre_result code = vy_resident_acquire(device, buffer, "the buffer", &resident, diag);
    if (code != VYRE_OK) {
        return code;
    }
    const vy_slot_contents *contents = vy_resident_contents(device, &resident);
    code = check_mapped(contents, diag);
    if (code == VYRE_OK) {
        *out_data = contents->block.mapped;
    }
    if (code == VYRE_OK && out_is_coherent && contents->size > 0) {
        *out_is_coherent = (contents->block.properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    }
    vy_resident_release(device, &resident, 0);
    return code;
}

static vyre_result sync_block(vyre_device *device, const vy_slot_contents *contents,
                              const uint64_t range[2], vyre_mapped_sync direction, vyre_diag *diag)
{
    vyre_result code = check_mapped(contents, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint64_t offset = range[0], size = range[1];
    if (offset > contents->size || size > contents->size - offset) {
        return vy_invalid(diag,
                          "%llu bytes from byte %llu of the buffer were named, and it has %llu. "
                          "Fix: keep offset + size within the buffer",
                          (unsigned long long)size, (unsigned long long)offset,
                          (unsigned long long)contents->size);
    }
    switch (direction) {
    case VYRE_MAPPED_TO_DEVICE:
        return vy_block_flush(device, &contents->block, offset, size, diag);
    case VYRE_MAPPED_FROM_DEVICE:
        return vy_block_invalidate(device, &contents->block, offset, size, diag);
    }
    return vy_invalid(diag, "direction %d is none. Fix: pass a vyre_mapped_sync", (int)direction);
}

vyre_result vyre_buffer_sync_mapped(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                                    uint64_t size, vyre_mapped_sync direction, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device) {
        return vy_invalid(diag, "no device was given. Fix: pass a device");
    }
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_resident resident;
    code = vy_resident_acquire(device, buffer, "the buffer", &resident, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = sync_block(device, vy_resident_contents(device, &resident), (uint64_t[]){offset, size},
                      direction, diag);
    vy_resident_release(device, &resident, 0);
    return code;
}

/* What a driver really does, found by running a kernel: whether long loops are right, and whether
 * f32 denormals are kept. */
#include "engine/device/commands.h"
#include "engine/kernels/kernels.h"
#include "engine/pipeline/pipeline.h"

#include <string.h>

/* Words of the probe's buffer: engine/kernels/probe.vyre. */
enum { TRIPS, NORMAL, HALF, DENORMAL, MIXED, PRODUCT, SUM, WORD_COUNT = 8 };

/* llvmpipe before Mesa 25 ends every loop after 65,535 trips. */
#define PROBE_TRIPS  70000u
#define BLOCK_WORDS  (VY_PARAM_LENGTHS + 1u)
#define BLOCK_OFFSET 256u

typedef struct probe {
    vyre_device *device;
    vy_layout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    vy_block memory; /* the words, then the parameter block */
    vy_commands commands;
    uint64_t value;
} probe;

static vyre_result make_set(probe *p, vyre_diag *diag)
{
    vyre_device *d = p->device;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result = d->vk.vkCreateDescriptorPool(d->device, &pool, NULL, &p->pool);
    if (result != VK_SUCCESS) {
        p->pool = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateDescriptorPool");
    }
    VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = p->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &p->layout.set,
    };
    result = d->vk.vkAllocateDescriptorSets(d->device, &set, &p->set);
    if (result != VK_SUCCESS) {
        return vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
    }
    VkDescriptorBufferInfo buffers[2] = {
        {p->memory.buffer, 0, WORD_COUNT * sizeof(uint32_t)},
        {p->memory.buffer, BLOCK_OFFSET, BLOCK_WORDS * sizeof(uint32_t)}};
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = p->set,
        .descriptorCount = 2, /* runs on into binding 1 */
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = buffers,
    };
    d->vk.vkUpdateDescriptorSets(d->device, 1, &write, 0, NULL);
    return VYRE_OK;
}

static void fill_memory(probe *p)
{
    uint32_t words[WORD_COUNT] = {
        [TRIPS] = PROBE_TRIPS, [NORMAL] = 0x00800000u, [HALF] = 0x3f000000u, [DENORMAL] = 1u};
    uint32_t block[BLOCK_WORDS] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        block[VY_PARAM_GROUPS + i] = block[VY_PARAM_ELEMENTS + i] = 1;
    }
    block[VY_PARAM_GROUP_TOTAL] = block[VY_PARAM_INVOCATIONS] = 1;
    block[VY_PARAM_LENGTHS] = WORD_COUNT;
    memcpy(p->memory.mapped, words, sizeof words);
    memcpy((unsigned char *)p->memory.mapped + BLOCK_OFFSET, block, sizeof block);
}

static vyre_result run(probe *p, vyre_diag *diag)
{
    static const vy_barrier to_host = {VY_STAGE_COMPUTE, VY_STAGE_COMPUTE, VY_STAGE_HOST};
    static const uint32_t push[VY_PUSH_SIZE / sizeof(uint32_t)] = {0};
    vyre_device *d = p->device;
    vyre_result code = vy_block_flush(d, &p->memory, 0, p->memory.size, diag);
    if (code == VYRE_OK) {
        code = vy_commands_begin(d, &p->commands, true, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    VkCommandBuffer commands = p->commands.buffer;
    d->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    d->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout.pipeline, 0,
                                  1, &p->set, 0, NULL);
    d->vk.vkCmdPushConstants(commands, p->layout.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             sizeof push, push);
    d->vk.vkCmdDispatch(commands, 1, 1, 1);
    vy_cmd_barrier(d, commands, &to_host);
    code = vy_commands_end(d, &p->commands, diag);
    if (code == VYRE_OK) {
        code = vy_queue_submit(d, commands, "the device's probe", &p->value, diag);
    }
    if (code == VYRE_OK) {
        code = vy_queue_wait(d, p->value, UINT64_MAX, "the device's probe", diag);
    }
    return code == VYRE_OK ? vy_block_invalidate(d, &p->memory, 0, p->memory.size, diag) : code;
}

static void judge(probe *p)
{
    uint32_t words[WORD_COUNT], mixed = 1;
    memcpy(words, p->memory.mapped, sizeof words);
    for (uint32_t i = 0; i < PROBE_TRIPS; i++) {
        mixed = mixed * 1664525u + (i ^ mixed >> 7);
    }
    vyre_device_info *info = &p->device->snapshot.info;
    info->long_loops = words[MIXED] == mixed ? VYRE_ANSWER_YES : VYRE_ANSWER_NO;
    info->denormals =
        words[PRODUCT] == 0x00400000u && words[SUM] == 2u ? VYRE_ANSWER_YES : VYRE_ANSWER_NO;
}

static vyre_result refuse(vyre_device *device, vyre_diag *diag)
{
    const vyre_device_info *info = &device->snapshot.info;
    if (device->snapshot.is_llvmpipe) {
        return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                           "the device \"%s\" (%s) ends every loop after 65,535 trips, so results "
                           "would be wrong. Fix: use Mesa 25.0.7 or newer: tools/setup.sh unpacks "
                           "one under build/deps, which VK_DRIVER_FILES then names",
                           info->name, info->driver);
    }
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                       "the device \"%s\" (%s) gives a wrong result for a loop of %u trips. Fix: "
                       "update its driver, or name another device",
                       info->name, info->driver, PROBE_TRIPS);
}

/* With the modes that the device's kernels declare. */
static const uint32_t *probe_words(uint32_t float_modes, uint32_t *out_count)
{
    static const uint32_t *(*const rows[8])(uint32_t *) = {
        vy_kernel_probe_0, vy_kernel_probe_1, vy_kernel_probe_2, vy_kernel_probe_3,
        vy_kernel_probe_4, vy_kernel_probe_5, vy_kernel_probe_6, vy_kernel_probe_7};
    return rows[float_modes & 7](out_count);
}

vyre_result vyre_device_probe(vyre_device *device, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device) {
        return vy_invalid(diag, "no device was given. Fix: pass a device");
    }
    probe p = {.device = device};
    uint32_t count = 0;
    const uint32_t *words = probe_words(device->snapshot.info.float_modes, &count);
    vy_shader shader = {
        .words = words, .word_count = count, .workgroup = {1, 1, 1}, .label = "vyre probe"};
    vyre_result code = vy_layout_create(device, 3, false, "vyre probe", &p.layout, diag);
    if (code == VYRE_OK) {
        code = vy_shader_create(device, &p.layout, &shader, &p.pipeline, diag);
    }
    if (code == VYRE_OK) {
        code = vy_block_create(device, VY_MEMORY_READBACK,
                               BLOCK_OFFSET + BLOCK_WORDS * sizeof(uint32_t), "vyre probe",
                               &p.memory, diag);
    }
    if (code == VYRE_OK) {
        fill_memory(&p);
        code = make_set(&p, diag);
    }
    if (code == VYRE_OK) {
        code = vy_commands_create(device, "vyre probe", &p.commands, diag);
    }
    if (code == VYRE_OK) {
        code = run(&p, diag);
    }
    if (code == VYRE_OK) {
        judge(&p);
        if (device->snapshot.info.long_loops == VYRE_ANSWER_NO) {
            code = refuse(device, diag);
        }
    }
    vy_queue_drain(device, p.value);
    vy_commands_destroy(device, &p.commands);
    if (p.pool) {
        device->vk.vkDestroyDescriptorPool(device->device, p.pool, NULL);
    }
    vy_block_destroy(device, &p.memory);
    if (p.pipeline) {
        device->vk.vkDestroyPipeline(device->device, p.pipeline, NULL);
    }
    vy_layout_destroy(device, &p.layout);
    return code;
}

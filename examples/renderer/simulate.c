/* All that the renderer has to do with libvyre-vk: adopts the device, makes the pipeline from the
 * kernel file that is linked in, and records the program into each frame's commands. */
#include "pond.h"
#include "ripple.h"

#include <stdio.h>
#include <string.h>

static int refused(vyre_result result, const vyre_diag *diag)
{
    if (result != VYRE_OK) {
        fprintf(stderr, "%s: %s\n", vyre_result_name(result), diag->message);
    }
    return result != VYRE_OK;
}

static vyre_result adopt(pond *p, gpu *g, vyre_diag *diag)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = vkGetInstanceProcAddr;
    params.instance = g->instance;
    params.physical_device = g->physical;
    params.device = g->device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = g->queue;
    params.queue_family = g->family;
    params.features = &g->setup.chain.features;
    params.extensions = g->setup.extensions;
    params.extension_count = g->setup.extension_count;
    params.instance_extensions = extensions;
    params.instance_extension_count = g->messenger ? 1 : 0;
    return vyre_device_adopt(&params, &p->device, diag);
}

static vyre_result make_pipeline(pond *p, gpu *g, vyre_diag *diag)
{
    vyre_kernel_params wanted;
    vyre_device_kernel_params(p->device, &wanted);
    vyre_pipeline_params params;
    vyre_pipeline_params_init(&params);
    if (g->messenger) { /* the layer does not see accesses by address */
        params.bindings = VYRE_BINDINGS_DESCRIPTOR;
    }
    vyre_result result = vyre_kernel_load(ripple, ripple_size, &wanted, &p->kernel, diag);
    return result == VYRE_OK
               ? vyre_pipeline_create(p->device, p->kernel, &params, &p->pipeline, diag)
               : result;
}

int pond_create(pond *p, gpu *g, VkFormat format)
{
    vyre_diag diag;
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = sizeof(float) * POND_SIDE * POND_SIDE;
    params.name = "height";
    vyre_result result = adopt(p, g, &diag);
    if (result == VYRE_OK) {
        result = vyre_device_probe(p->device, &diag); /* while loading: submits and waits */
    }
    if (result == VYRE_OK) {
        result = make_pipeline(p, g, &diag);
    }
    if (result == VYRE_OK) {
        result = vyre_buffer_create(p->device, &params, &p->height, &diag);
    }
    if (result == VYRE_OK) {
        params.name = "speed";
        result = vyre_buffer_create(p->device, &params, &p->speed, &diag);
    }
    if (result == VYRE_OK) {
        result = vyre_buffer_export(p->device, p->height, &p->drawn, &diag);
    }
    return refused(result, &diag) || pond_create_drawing(p, g, format);
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkAccessFlags2 writes,
                    VkPipelineStageFlags2 to, VkAccessFlags2 accesses)
{
    VkMemoryBarrier2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                               .srcStageMask = from,
                               .srcAccessMask = writes,
                               .dstStageMask = to,
                               .dstAccessMask = accesses};
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .memoryBarrierCount = 1,
                             .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(commands, &info);
}

/* The drop that falls in this frame: where, its radius and speed. */
static void get_drop(uint64_t frame, float drop[4])
{
    uint64_t number = frame / 45;
    drop[0] = (float)(number * 67 % 110);
    drop[1] = (float)(number * 41 % 110);
    drop[2] = 15.0f;
    drop[3] = frame % 45 == 1 ? 1.3f : 0.0f;
}

int pond_simulate(pond *p, VkCommandBuffer commands, VkSemaphore done, uint64_t frame)
{
    const VkPipelineStageFlags2 compute =
        VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    const VkAccessFlags2 writes = VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    vyre_diag diag;
    float drop[4];
    uint32_t words[4];
    get_drop(frame, drop);
    memcpy(words, drop, sizeof words);
    vyre_binding bindings[] = {
        {.kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = p->height},
        {.kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = p->speed}};
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = commands;
    params.before = VYRE_BARRIERS_HOST; /* those below, instead of a full stall at each end */
    params.after = VYRE_BARRIERS_HOST;
    params.dispatch.bindings = bindings;
    params.dispatch.binding_count = 2;
    params.dispatch.params = words;
    params.dispatch.param_count = 4;
    params.retirement.semaphore = done;
    params.retirement.value = frame;
    /* The frame before wrote the buffers, and its drawing has read the heights. */
    barrier(commands, compute | VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, writes,
            compute | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
            writes | VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT |
                VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT);
    vyre_recording *recording = NULL;
    if (refused(vyre_record(p->pipeline, &params, &recording, &diag), &diag)) {
        return 1;
    }
    /* Its memory serves another frame once this one has ended. */
    vyre_recording_destroy(&recording);
    barrier(commands, compute, writes, VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT,
            VK_ACCESS_2_SHADER_READ_BIT);
    return 0;
}

void pond_destroy(pond *p, gpu *g)
{
    pond_destroy_drawing(p, g);
    vyre_pipeline_destroy(&p->pipeline);
    vyre_kernel_destroy(&p->kernel);
    vyre_device_destroy(&p->device); /* and its buffers */
}

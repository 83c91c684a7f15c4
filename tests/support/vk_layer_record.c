/* The layer's part about what commands use: modules, pipelines, descriptor sets, and command
 * buffers with their streams, which vk_layer_command.c fills. */
#include "codegen/base/base.h"
#include "engine/kernels/kernels.h"
#include "tests/support/vk_layer_stream.h"

#include <stdlib.h>
#include <string.h>

static layer_stream *streams; /* list */
static layer_set *sets;       /* list */
static layer_pipeline *pipelines;
static layer_module *modules;

/* ---- Objects --------------------------------------------------------------------------------- */

layer_stream *layer_stream_of(VkCommandBuffer handle)
{
    layer_stream *s = streams;
    while (s && s->handle != handle) {
        s = s->next;
    }
    return s;
}

bool layer_add_access(layer_command *c, uint64_t buffer, uint64_t begin, uint64_t end,
                      hazard_use use)
{
    /* Grown when the count is a power of two. */
    if ((c->access_count & (c->access_count - 1)) == 0) {
        uint32_t room = c->access_count ? 2 * c->access_count : 1;
        hazard_access *grown = realloc(c->accesses, room * sizeof *grown);
        if (!grown) {
            c->is_unknown = true;
            return false;
        }
        c->accesses = grown;
    }
    c->accesses[c->access_count++] = (hazard_access){buffer, begin, end, use};
    return true;
}

static void clear_stream(layer_stream *s)
{
    if (s->count) {
        layer_settle(true);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->commands[i].barriers);
        free(s->commands[i].accesses);
        free(s->commands[i].behind);
    }
    s->count = 0;
    s->pipeline = NULL;
    s->set = NULL;
    s->has_addresses = false;
    memset(s->pushed, 0, sizeof s->pushed);
    s->dynamic = 0;
}

static void free_streams(VkCommandPool pool, VkCommandBuffer handle)
{
    for (layer_stream **at = &streams; *at;) {
        layer_stream *s = *at;
        if ((pool && s->pool == pool) || (handle && s->handle == handle)) {
            *at = s->next;
            clear_stream(s);
            free(s->commands);
            free(s);
        } else {
            at = &s->next;
        }
    }
}

layer_set *layer_set_of(VkDescriptorSet handle)
{
    layer_set *s = sets;
    while (s && s->handle != handle) {
        s = s->next;
    }
    return s;
}

static void free_sets(VkDescriptorPool pool)
{
    for (layer_set **at = &sets; *at;) {
        layer_set *s = *at;
        if (s->pool == pool || !pool) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
}

const layer_pipeline *layer_pipeline_of(VkPipeline handle)
{
    const layer_pipeline *p = pipelines;
    while (p && p->handle != handle) {
        p = p->next;
    }
    return p;
}

static void free_pipelines(VkPipeline handle)
{
    for (layer_pipeline **at = &pipelines; *at;) {
        layer_pipeline *p = *at;
        if (p->handle == handle || !handle) {
            *at = p->next;
            free(p);
        } else {
            at = &p->next;
        }
    }
}

static void free_modules(VkShaderModule handle)
{
    for (layer_module **at = &modules; *at;) {
        layer_module *m = *at;
        if (m->handle == handle || !handle) {
            *at = m->next;
            free(m);
        } else {
            at = &m->next;
        }
    }
}

void layer_reset_record(void)
{
    layer_reset_judge();
    while (streams) {
        free_streams(VK_NULL_HANDLE, streams->handle);
    }
    free_sets(VK_NULL_HANDLE);
    free_pipelines(VK_NULL_HANDLE);
    free_modules(VK_NULL_HANDLE);
    layer_forget_barriers();
}

/* ---- Modules, pipelines, sets ---------------------------------------------------------------- */

/* ---- Programs -------------------------------------------------------------------------------- */

#define MAX_PROGRAMS 1024u

/* What is known of modules by their words: the newest. */
static struct {
    uint64_t hash;
    uint32_t bindings, params;
} programs[MAX_PROGRAMS];
static uint32_t program_count;
static uint64_t gather_hash;

static uint64_t hash_of(const uint32_t *words, size_t count)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, words, count * sizeof *words);
    return vy_hash_value(&hash);
}

void layer_note_program(const uint32_t *words, size_t count, uint32_t bindings, uint32_t params)
{
    layer_lock();
    uint32_t at = program_count++ % MAX_PROGRAMS;
    programs[at].hash = hash_of(words, count);
    programs[at].bindings = bindings;
    programs[at].params = params;
    layer_unlock();
}

/* The engine's own kernels are always known. */
static void note_engine(void)
{
    uint32_t count = 0;
    const uint32_t *words = vy_kernel_fill(&count);
    layer_note_program(words, count, 1, 1);
    words = vy_kernel_copy(&count);
    layer_note_program(words, count, 2, 0);
    words = vy_kernel_gather(&count);
    layer_note_program(words, count, 3, 0);
    gather_hash = hash_of(words, count);
}

static void find_counts(const VkShaderModuleCreateInfo *info, layer_module *m)
{
    if (program_count == 0) {
        note_engine();
    }
    uint64_t hash = hash_of(info->pCode, info->codeSize / sizeof(uint32_t));
    m->is_gather = hash == gather_hash;
    uint32_t count = program_count < MAX_PROGRAMS ? program_count : MAX_PROGRAMS;
    for (uint32_t i = 0; i < count; i++) {
        if (programs[i].hash == hash) {
            m->has_counts = true;
            m->bindings = programs[i].bindings;
            m->params = programs[i].params;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
wrap_vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                          const VkAllocationCallbacks *callbacks, VkShaderModule *out)
{
    if (layer_fails("vkCreateShaderModule")) {
        return layer_failure();
    }
    VkResult result = layer_below.vkCreateShaderModule(device, info, callbacks, out);
    layer_module *m = result == VK_SUCCESS ? calloc(1, sizeof *m) : NULL;
    layer_lock();
    layer_add_alive(result == VK_SUCCESS);
    if (m) {
        m->handle = *out;
        m->is_read = spirv_touches_read(info->pCode, info->codeSize / 4, &m->touches);
        find_counts(info, m);
        m->next = modules;
        modules = m;
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyShaderModule(VkDevice device, VkShaderModule module,
                                                             const VkAllocationCallbacks *callbacks)
{
    layer_lock();
    layer_add_alive(-(module != VK_NULL_HANDLE));
    if (module) {
        free_modules(module);
    }
    layer_unlock();
    layer_below.vkDestroyShaderModule(device, module, callbacks);
}

static uint32_t required_size(const void *chain)
{
    for (const VkBaseInStructure *at = chain; at; at = at->pNext) {
        if (at->sType ==
            VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO) {
            return ((const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)(const void *)at)
                ->requiredSubgroupSize;
        }
    }
    return 0;
}

uint32_t layer_pipeline_width(VkPipeline pipeline)
{
    const layer_pipeline *p = layer_pipeline_of(pipeline);
    return p ? p->subgroup_size : 0;
}

bool layer_pipeline_is_full(VkPipeline pipeline)
{
    const layer_pipeline *p = layer_pipeline_of(pipeline);
    return p && p->is_full;
}

static VKAPI_ATTR VkResult VKAPI_CALL
wrap_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                              const VkComputePipelineCreateInfo *infos,
                              const VkAllocationCallbacks *callbacks, VkPipeline *out)
{
    if (layer_fails("vkCreateComputePipelines")) {
        for (uint32_t i = 0; i < count; i++) {
            out[i] = VK_NULL_HANDLE;
        }
        return layer_failure();
    }
    VkResult result =
        layer_below.vkCreateComputePipelines(device, cache, count, infos, callbacks, out);
    layer_lock();
    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        layer_pipeline *p = out[i] ? calloc(1, sizeof *p) : NULL;
        layer_add_alive(out[i] != VK_NULL_HANDLE);
        layer_module *m = modules;
        while (m && m->handle != infos[i].stage.module) {
            m = m->next;
        }
        if (p) {
            p->handle = out[i];
            p->is_full = (infos[i].stage.flags &
                          VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT) != 0;
            p->subgroup_size = required_size(infos[i].stage.pNext);
            p->touches.is_unknown = !m || !m->is_read;
            if (m && m->is_read) {
                p->touches = m->touches;
                p->has_counts = m->has_counts;
                p->is_gather = m->is_gather;
                p->bindings = m->bindings;
                p->params = m->params;
            }
            p->next = pipelines;
            pipelines = p;
        }
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                         const VkAllocationCallbacks *callbacks)
{
    layer_lock();
    layer_add_alive(-(pipeline != VK_NULL_HANDLE));
    for (layer_stream *s = streams; s; s = s->next) {
        s->pipeline = s->pipeline_handle == pipeline ? NULL : s->pipeline;
    }
    if (pipeline) {
        free_pipelines(pipeline);
    }
    layer_unlock();
    layer_below.vkDestroyPipeline(device, pipeline, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkAllocateDescriptorSets(
    VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out)
{
    if (layer_fails("vkAllocateDescriptorSets")) {
        for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
            out[i] = VK_NULL_HANDLE;
        }
        return layer_failure();
    }
    VkResult result = layer_below.vkAllocateDescriptorSets(device, info, out);
    layer_lock();
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->descriptorSetCount; i++) {
        layer_set *s = calloc(1, sizeof *s);
        if (s) {
            s->handle = out[i];
            s->pool = info->descriptorPool;
            s->next = sets;
            sets = s;
        }
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyDescriptorPool(
    VkDevice device, VkDescriptorPool pool, const VkAllocationCallbacks *callbacks)
{
    layer_lock();
    layer_add_alive(-(pool != VK_NULL_HANDLE));
    if (pool) {
        free_sets(pool);
    }
    layer_unlock();
    layer_below.vkDestroyDescriptorPool(device, pool, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkResetDescriptorPool(VkDevice device,
                                                                 VkDescriptorPool pool,
                                                                 VkDescriptorPoolResetFlags flags)
{
    layer_lock();
    free_sets(pool);
    layer_unlock();
    return layer_below.vkResetDescriptorPool(device, pool, flags);
}

void layer_write_pieces(layer_piece *pieces, const VkWriteDescriptorSet *w)
{
    for (uint32_t i = 0; i < w->descriptorCount && w->pBufferInfo; i++) {
        uint32_t binding = w->dstBinding + i;
        const layer_buffer *buffer = layer_buffer_of(w->pBufferInfo[i].buffer);
        if (binding >= LAYER_MAX_PIECES || !buffer) {
            continue;
        }
        uint64_t begin = w->pBufferInfo[i].offset, size = w->pBufferInfo[i].range;
        pieces[binding] = (layer_piece){
            buffer->serial, begin, size == VK_WHOLE_SIZE ? buffer->size : begin + size,
            w->descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC};
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkUpdateDescriptorSets(VkDevice device, uint32_t count,
                                                              const VkWriteDescriptorSet *writes,
                                                              uint32_t copy_count,
                                                              const VkCopyDescriptorSet *copies)
{
    layer_lock();
    layer_count_call("vkUpdateDescriptorSets");
    layer_count_descriptors(count);
    for (uint32_t i = 0; i < count; i++) {
        layer_set *s = layer_set_of(writes[i].dstSet);
        if (s) {
            layer_write_pieces(s->pieces, &writes[i]);
        }
    }
    layer_unlock();
    layer_below.vkUpdateDescriptorSets(device, count, writes, copy_count, copies);
}

/* ---- Command buffers ------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL
wrap_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info,
                         const VkAllocationCallbacks *callbacks, VkCommandPool *out)
{
    if (layer_fails("vkCreateCommandPool")) {
        return layer_failure();
    }
    VkCommandPoolCreateInfo real = *info;
    real.queueFamilyIndex = layer_real_family(info->queueFamilyIndex);
    layer_add_bad(layer.three_families && info->queueFamilyIndex != layer_queue_family());
    VkResult result = layer_below.vkCreateCommandPool(device, &real, callbacks, out);
    layer_add_alive(result == VK_SUCCESS);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyCommandPool(VkDevice device, VkCommandPool pool,
                                                            const VkAllocationCallbacks *callbacks)
{
    layer_lock();
    layer_add_alive(-(pool != VK_NULL_HANDLE));
    if (pool) {
        free_streams(pool, VK_NULL_HANDLE);
    }
    layer_unlock();
    layer_below.vkDestroyCommandPool(device, pool, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkAllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
    if (layer_fails("vkAllocateCommandBuffers")) {
        for (uint32_t i = 0; i < info->commandBufferCount; i++) {
            out[i] = VK_NULL_HANDLE;
        }
        return layer_failure();
    }
    VkResult result = layer_below.vkAllocateCommandBuffers(device, info, out);
    layer_lock();
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->commandBufferCount; i++) {
        layer_stream *s = calloc(1, sizeof *s);
        if (s) {
            s->handle = out[i];
            s->pool = info->commandPool;
            s->next = streams;
            streams = s;
        }
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkFreeCommandBuffers(VkDevice device, VkCommandPool pool,
                                                            uint32_t count,
                                                            const VkCommandBuffer *list)
{
    layer_lock();
    for (uint32_t i = 0; i < count; i++) {
        free_streams(VK_NULL_HANDLE, list[i]);
    }
    layer_unlock();
    layer_below.vkFreeCommandBuffers(device, pool, count, list);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkResetCommandPool(VkDevice device, VkCommandPool pool,
                                                              VkCommandPoolResetFlags flags)
{
    if (layer_fails("vkResetCommandPool")) {
        return layer_failure();
    }
    layer_lock();
    for (layer_stream *s = streams; s; s = s->next) {
        if (s->pool == pool) {
            clear_stream(s);
        }
    }
    layer_unlock();
    return layer_below.vkResetCommandPool(device, pool, flags);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkResetCommandBuffer(VkCommandBuffer commands,
                                                                VkCommandBufferResetFlags flags)
{
    if (layer_fails("vkResetCommandBuffer")) {
        return layer_failure();
    }
    return layer_below.vkResetCommandBuffer(commands, flags);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkBeginCommandBuffer(VkCommandBuffer commands,
                                                                const VkCommandBufferBeginInfo *i)
{
    if (layer_fails("vkBeginCommandBuffer")) {
        return layer_failure();
    }
    layer_lock();
    layer_log(LAYER_BEGIN);
    layer_stream *s = layer_stream_of(commands);
    if (s) {
        clear_stream(s);
    }
    layer_unlock();
    return layer_below.vkBeginCommandBuffer(commands, i);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkEndCommandBuffer(VkCommandBuffer commands)
{
    return layer_fails("vkEndCommandBuffer") ? layer_failure()
                                             : layer_below.vkEndCommandBuffer(commands);
}

PFN_vkVoidFunction layer_find_record(const char *name)
{
    LAYER_TAKE(vkCreateShaderModule)
    LAYER_TAKE(vkDestroyShaderModule)
    LAYER_TAKE(vkCreateComputePipelines)
    LAYER_TAKE(vkDestroyPipeline)
    LAYER_TAKE(vkAllocateDescriptorSets)
    LAYER_TAKE(vkDestroyDescriptorPool)
    LAYER_TAKE(vkResetDescriptorPool)
    LAYER_TAKE(vkUpdateDescriptorSets)
    LAYER_TAKE(vkCreateCommandPool)
    LAYER_TAKE(vkDestroyCommandPool)
    LAYER_TAKE(vkAllocateCommandBuffers)
    LAYER_TAKE(vkFreeCommandBuffers)
    LAYER_TAKE(vkResetCommandPool)
    LAYER_TAKE(vkResetCommandBuffer)
    LAYER_TAKE(vkBeginCommandBuffer)
    LAYER_TAKE(vkEndCommandBuffer)
    return NULL;
}

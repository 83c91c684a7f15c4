/* The engine's kernels as pipelines, and their parameter blocks; the words come from
 * engine/kernels/. */
#include "engine/exec/own_kernels.h"

#include "engine/exec/bind.h"
#include "engine/exec/run.h"
#include "engine/kernels/kernels.h"
#include "engine/memory/mover.h"

#include <string.h>

bool vy_engine_kernels_init(vy_engine_kernels *k)
{
    k->has_mutex = vy_mutex_init(&k->mutex) == 0;
    return k->has_mutex;
}

static void destroy(vyre_device *device, vy_own_kernel *kernel)
{
    if (kernel->pipeline) {
        device->vk.vkDestroyPipeline(device->device, kernel->pipeline, NULL);
    }
    vy_layout_destroy(device, &kernel->layout);
    *kernel = (vy_own_kernel){.pipeline = VK_NULL_HANDLE};
}

void vy_engine_kernels_finish(vyre_device *device, vy_engine_kernels *k)
{
    for (uint32_t i = 0; i < VY_INTERFACES; i++) {
        destroy(device, &k->grids[i]);
    }
    destroy(device, &k->fill);
    destroy(device, &k->copy);
    destroy(device, &k->gather);
    if (k->has_mutex) {
        vy_mutex_finish(&k->mutex);
        k->has_mutex = false;
    }
}

/* `binding_count`: in the descriptor forms, the parameter block last. */
static vyre_result make(vyre_device *device, const vy_binder *binder, const vy_shader *shader,
                        uint32_t binding_count, vy_own_kernel *out, vyre_diag *diag)
{
    if (out->pipeline) {
        return VYRE_OK;
    }
    vy_bound bound = {.block = VY_ADDRESS_BLOCK};
    if (binder->interface == VYRE_INTERFACE_DESCRIPTOR) {
        bound.block = binding_count - 1;
        bound.storage = ((uint64_t)1 << bound.block) - 1;
        bound.is_pushed = binder->is_pushed;
    }
    vyre_result code = VYRE_OK;
    if (!out->layout.pipeline) {
        code = vy_layout_create(device, &bound, shader->label, &out->layout, diag);
    }
    return code == VYRE_OK ? vy_shader_create(device, &out->layout, shader, &out->pipeline, diag)
                           : code;
}

uint32_t vy_engine_needs(const vyre_pipeline *p, bool has_moves)
{
    return (p->grid_from >= 0 ? VY_NEEDS_GRID : 0) | (has_moves ? VY_NEEDS_MOVES : 0);
}

vyre_result vy_engine_kernels_prepare(vyre_device *device, const vy_binder *binder, uint32_t which,
                                      vyre_diag *diag)
{
    vy_engine_kernels *k = vy_runs_kernels(device);
    vyre_result code = VYRE_OK;
    vy_mutex_lock(&k->mutex);
    if (which & VY_NEEDS_GRID) {
        vy_shader shader = {.workgroup = {1, 1, 1}, .label = "vyre grid"};
        shader.words = vy_kernel_grid(binder->interface, &shader.word_count);
        code = make(device, binder, &shader, VY_GRID_BINDINGS, &k->grids[binder->interface], diag);
    }
    if (code == VYRE_OK && which & VY_NEEDS_MOVES) {
        vy_shader shader = {
            .workgroup = {VY_MOVE_WORKGROUP, 1, 1}, .is_folded = true, .label = "vyre fill"};
        shader.words = vy_kernel_fill(&shader.word_count);
        code = make(device, binder, &shader, 0, &k->fill, diag);
        shader.label = "vyre copy";
        shader.words = vy_kernel_copy(&shader.word_count);
        if (code == VYRE_OK) {
            code = make(device, binder, &shader, 0, &k->copy, diag);
        }
    }
    vy_mutex_unlock(&k->mutex);
    return code;
}

vyre_result vy_engine_gather_prepare(vyre_device *device, const vy_binder *binder, vyre_diag *diag)
{
    vy_engine_kernels *k = vy_runs_kernels(device);
    vy_shader shader = {
        .workgroup = {VY_MOVE_WORKGROUP, 1, 1}, .is_folded = true, .label = "vyre gather"};
    shader.words = vy_kernel_gather(&shader.word_count);
    vy_mutex_lock(&k->mutex);
    vyre_result code = make(device, binder, &shader, 0, &k->gather, diag);
    vy_mutex_unlock(&k->mutex);
    return code;
}

/* ---- Parameter blocks ------------------------------------------------------------------------ */

static void fill_grid(uint32_t elements, uint32_t workgroup, uint32_t word_count, uint32_t *words)
{
    memset(words, 0, word_count * sizeof *words);
    uint32_t groups = elements / workgroup + (elements % workgroup != 0);
    words[VY_PARAM_GROUPS] = groups;
    words[VY_PARAM_ELEMENTS] = elements;
    words[VY_PARAM_GROUPS + 1] = words[VY_PARAM_GROUPS + 2] = 1;
    words[VY_PARAM_ELEMENTS + 1] = words[VY_PARAM_ELEMENTS + 2] = 1;
    words[VY_PARAM_GROUP_TOTAL] = groups;
    words[VY_PARAM_INVOCATIONS] = groups * workgroup;
}

static void put_address(uint32_t *words, uint32_t first, uint32_t index, VkDeviceAddress address)
{
    words[first + 2 * index] = (uint32_t)address;
    words[first + 2 * index + 1] = (uint32_t)(address >> 32);
}

void vy_grid_fill_block(const vy_grid *g, uint32_t *words)
{
    uint32_t addresses = vy_param_addresses(3, 7);
    const uint32_t params[7] = {g->limit,   g->block_count, g->block_stride, g->volume,
                                g->most[0], g->most[1],     g->most[2]};
    fill_grid(1, 1, VY_GRID_BLOCK_WORDS, words);
    words[VY_PARAM_LENGTHS + VY_GRID_COUNTS] = g->length;
    words[VY_PARAM_LENGTHS + VY_GRID_STATE] = VY_STATE_WORDS;
    words[VY_PARAM_LENGTHS + VY_GRID_TARGET] = g->block_words;
    memcpy(&words[VY_PARAM_LENGTHS + 3], params, sizeof params);
    put_address(words, addresses, VY_GRID_COUNTS, g->counts);
    put_address(words, addresses, VY_GRID_STATE, g->state);
    put_address(words, addresses, VY_GRID_TARGET, g->block);
}

void vy_fill_fill_block(uint32_t count, uint32_t word, VkDeviceAddress target, uint32_t *words)
{
    fill_grid(count, VY_MOVE_WORKGROUP, VY_MOVE_BLOCK_WORDS, words);
    words[VY_PARAM_LENGTHS] = count;
    words[VY_PARAM_LENGTHS + 1] = word;
    put_address(words, vy_param_addresses(1, 1), 0, target);
}

void vy_copy_fill_block(uint32_t count, VkDeviceAddress source, VkDeviceAddress target,
                        uint32_t *words)
{
    fill_grid(count, VY_MOVE_WORKGROUP, VY_MOVE_BLOCK_WORDS, words);
    words[VY_PARAM_LENGTHS] = words[VY_PARAM_LENGTHS + 1] = count;
    put_address(words, vy_param_addresses(2, 0), 0, source);
    put_address(words, vy_param_addresses(2, 0), 1, target);
}

void vy_gather_fill_block(const vy_gather *g, uint32_t *words)
{
    uint32_t addresses = vy_param_addresses(3, 0);
    fill_grid(g->count, VY_MOVE_WORKGROUP, VY_GATHER_BLOCK_WORDS, words);
    words[VY_PARAM_LENGTHS] = g->source_span;
    words[VY_PARAM_LENGTHS + 1] = 2 * g->count;
    words[VY_PARAM_LENGTHS + 2] = g->target_span;
    put_address(words, addresses, 0, g->source);
    put_address(words, addresses, 1, g->table);
    put_address(words, addresses, 2, g->target);
}

void vy_move_launch(const vy_snapshot *snapshot, uint32_t count, uint32_t out_groups[3])
{
    uint32_t groups = count / VY_MOVE_WORKGROUP + (count % VY_MOVE_WORKGROUP != 0);
    (void)vy_shape_fold(snapshot, groups, out_groups);
}

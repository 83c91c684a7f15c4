/* Kernels: their end, and what is known of them. */
#include "codegen/kernel_parts.h"
#include "codegen/spirv/spirv.h"

#include <stdio.h>
#include <string.h>

void vyre_kernel_destroy(vyre_kernel **kernel)
{
    if (!kernel || !*kernel) {
        return;
    }
    vyre_kernel *k = *kernel;
    *kernel = NULL;
    vyre_allocator memory = k->arena.allocator;
    vy_kernel_drop_variants(k);
    vy_arena_finish(&k->arena);
    vy_free(&memory, k, sizeof *k);
}

uint32_t vy_kernel_push_words(const uint32_t *words, uint32_t word_count)
{
    return vy_spirv_push_words(words, word_count);
}

const char *vyre_kernel_name(const vyre_kernel *kernel)
{
    return kernel && kernel->name ? kernel->name : "";
}

vyre_interface vyre_kernel_interface(const vyre_kernel *kernel)
{
    return kernel ? kernel->own.interface : VYRE_INTERFACE_DESCRIPTOR;
}

vy_variant vy_kernel_own_variant(const vyre_kernel *kernel)
{
    return kernel->own;
}

uint32_t vyre_kernel_segment_count(const vyre_kernel *kernel)
{
    return kernel ? kernel->segment_count : 0;
}

/* To people the flag is the buffer that they declared. */
static uint64_t told_bits(const vyre_kernel *kernel, uint64_t bits)
{
    uint64_t flag = bits & VY_ACCESS_FLAG ? (uint64_t)1 << kernel->until : 0;
    return (bits & ~VY_ACCESS_FLAG) | flag;
}

void vyre_kernel_segment(const vyre_kernel *kernel, uint32_t segment, vyre_segment_info *out_info)
{
    memset(out_info, 0, sizeof *out_info);
    if (kernel && segment < kernel->segment_count) {
        const vy_kernel_segment *s = &kernel->segments[segment];
        out_info->words = s->words;
        out_info->word_count = s->word_count;
        out_info->instruction_count = s->instruction_count;
        out_info->line = s->line;
        out_info->reads = told_bits(kernel, s->reads);
        out_info->writes = told_bits(kernel, s->writes);
        out_info->atomics = told_bits(kernel, s->atomics);
    }
}

uint32_t vyre_kernel_binding_count(const vyre_kernel *kernel)
{
    return kernel ? kernel->binding_count : 0;
}

void vyre_kernel_binding(const vyre_kernel *kernel, uint32_t binding, vyre_binding_info *out_info)
{
    memset(out_info, 0, sizeof *out_info);
    out_info->name = "";
    if (kernel && binding < kernel->binding_count) {
        *out_info = kernel->bindings[binding].info;
    }
}

int32_t vyre_kernel_find_binding(const vyre_kernel *kernel, const char *name)
{
    for (uint32_t i = 0; kernel && name && i < kernel->binding_count; i++) {
        if (strcmp(kernel->bindings[i].info.name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

int32_t vyre_kernel_find_param(const vyre_kernel *kernel, const char *name)
{
    for (uint32_t i = 0; kernel && name && i < kernel->param_count; i++) {
        if (strcmp(kernel->params[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

uint32_t vyre_kernel_param_count(const vyre_kernel *kernel)
{
    return kernel ? kernel->param_count : 0;
}

uint32_t vyre_kernel_param_words(const vyre_kernel *kernel)
{
    return kernel ? kernel->param_words : 0;
}

uint32_t vyre_kernel_param_word(const vyre_kernel *kernel, uint32_t param)
{
    return kernel && param < kernel->param_count ? kernel->params[param].word : 0;
}

const char *vyre_kernel_param_name(const vyre_kernel *kernel, uint32_t param)
{
    return kernel && param < kernel->param_count ? kernel->params[param].name : "";
}

vyre_type vyre_kernel_param_type(const vyre_kernel *kernel, uint32_t param)
{
    return kernel && param < kernel->param_count ? (vyre_type)kernel->params[param].type
                                                 : VYRE_TYPE_VOID;
}

uint32_t vyre_kernel_spill_size(const vyre_kernel *kernel)
{
    return kernel ? kernel->spill_words * 4u : 0;
}

uint32_t vyre_kernel_shared_size(const vyre_kernel *kernel)
{
    return kernel ? kernel->shared_size : 0;
}

int vyre_kernel_is_inexact(const vyre_kernel *kernel)
{
    return kernel && kernel->is_inexact;
}

const char *vy_kernel_requirement(const vyre_kernel *kernel, vyre_interface interface,
                                  uint32_t index)
{
    uint32_t own = interface == VYRE_INTERFACE_ADDRESS ? kernel->address_requirement_count : 0;
    if (index < own) {
        return kernel->address_requirements[index];
    }
    return index - own < kernel->requirement_count ? kernel->requirements[index - own] : NULL;
}

const char *vyre_kernel_requirement(const vyre_kernel *kernel, uint32_t index)
{
    return kernel ? vy_kernel_requirement(kernel, kernel->own.interface, index) : NULL;
}

bool vy_kernel_is_aliased(const vyre_kernel *kernel)
{
    return kernel->own.is_aliased;
}

const vy_kernel_segment *vy_kernel_get_segment(const vyre_kernel *kernel, uint32_t segment)
{
    return &kernel->segments[segment];
}

void vy_kernel_workgroup(const vyre_kernel *kernel, uint32_t out_size[3])
{
    memcpy(out_size, kernel->workgroup, sizeof kernel->workgroup);
}

vy_kernel_subgroups vy_kernel_get_subgroups(const vyre_kernel *kernel)
{
    return kernel->subgroups;
}

const char *vy_kernel_workgroup_use(const vyre_kernel *kernel)
{
    return kernel->workgroup_use;
}

int32_t vy_kernel_grid_over(const vyre_kernel *kernel)
{
    return kernel->grid_over;
}

int32_t vy_kernel_grid_from(const vyre_kernel *kernel)
{
    return kernel->grid_from;
}

uint32_t vy_kernel_grid_most(uint32_t volume, uint32_t asked)
{
    return vy_grid_most(volume, asked);
}

uint32_t vy_kernel_passes(const vyre_kernel *kernel)
{
    return kernel->passes;
}

bool vy_kernel_is_flag_single(const vyre_kernel *kernel)
{
    uint64_t touched = 0;
    for (uint32_t i = 0; i < kernel->segment_count; i++) {
        touched |= kernel->segments[i].reads | kernel->segments[i].writes;
    }
    return kernel->until >= 0 && !(touched >> kernel->until & 1);
}

int32_t vy_kernel_until(const vyre_kernel *kernel)
{
    return kernel->until;
}

void vy_kernel_place(const vyre_kernel *kernel, uint32_t segment, char out[VY_PLACE_SIZE])
{
    const vy_kernel_segment *s = &kernel->segments[segment];
    const char *file = kernel->variants->program->file;
    if (!s->line) {
        snprintf(out, VY_PLACE_SIZE, "%s", s->label);
    } else if (file) {
        snprintf(out, VY_PLACE_SIZE, "%s, %.48s:%u", s->label, file, (unsigned)s->line);
    } else {
        snprintf(out, VY_PLACE_SIZE, "%s, line %u", s->label, (unsigned)s->line);
    }
}

uint32_t vy_kernel_site_count(const vyre_kernel *kernel)
{
    return kernel->site_count;
}

const vy_kernel_site *vy_kernel_get_site(const vyre_kernel *kernel, uint32_t site)
{
    return &kernel->sites[site];
}

const uint32_t *vy_kernel_tables(const vyre_kernel *kernel, uint32_t *out_count)
{
    *out_count = kernel->table_count;
    return kernel->tables;
}

bool vy_kernel_is_fill_needless(const vyre_kernel *kernel, uint32_t binding)
{
    /* Proving it takes the value ranges of indices, which no pass computes. */
    (void)kernel;
    (void)binding;
    return false;
}

const char *vy_kernel_workgroup_hindrance(const vyre_kernel *kernel)
{
    if (kernel->variants->params.prints) {
        return "its printf statements print";
    }
    if (kernel->segment_count == 0) {
        return "the program has no statements";
    }
    if (kernel->grid_from >= 0) {
        return "the device reads the grid from a buffer (`grid from`)";
    }
    if (kernel->subgroups.is_used || kernel->subgroups.width) {
        return "the program uses subgroups, whose width may differ between pipelines";
    }
    return NULL;
}

const char *vy_kernel_persistent_hindrance(const vyre_kernel *kernel)
{
    if (kernel->variants->params.prints) {
        return "its printf statements print";
    }
    if (kernel->segment_count == 0) {
        return "the program has no statements";
    }
    if (kernel->grid_from >= 0) {
        return "the device reads the grid from a buffer (`grid from`)";
    }
    if (!kernel->is_new_target) {
        return "the kernel is for Vulkan 1.2, whose memory model orders nothing beyond a workgroup";
    }
    return NULL;
}

uint32_t vy_kernel_whole_words(const vyre_kernel *kernel)
{
    return kernel->until >= 0 ? 2u : 0u;
}

/* Whether a pass of that name runs. */
static vyre_result check_dump(const vyre_kernel_params *params, vyre_diag *diag)
{
    const bool is_none = params->optimization == VYRE_OPTIMIZATION_NONE;
    const char *wanted = params->dump_after;
    if (!wanted || strcmp(wanted, "build") == 0 || strcmp(wanted, "all") == 0) {
        return VYRE_OK;
    }
    uint32_t count = 0;
    const vy_pass *passes = vy_passes_get(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(passes[i].name, wanted) != 0) {
            continue;
        }
        return passes[i].is_needed || !is_none
                   ? VYRE_OK
                   : vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                                 "pass %s does not run without optimization. Fix: name build, "
                                 "all, trivial-phi or canonical-nan",
                                 wanted);
    }
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                       "there is no pass %.40s. Fix: name build, all, trivial-phi, fold, cse, "
                       "dce, licm, ranges, interleave or canonical-nan",
                       wanted);
}

vyre_result vy_kernel_check_params(const vyre_kernel_params *params, vyre_diag *diag)
{
    const vy_loc none = {0, 0};
    if (params->target != VYRE_TARGET_VULKAN_1_3 && params->target != VYRE_TARGET_VULKAN_1_2) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "%d is no target. Fix: use a value of vyre_target", (int)params->target);
    }
    if (params->interface != VYRE_INTERFACE_DESCRIPTOR &&
        params->interface != VYRE_INTERFACE_ADDRESS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "%d is no interface. Fix: use a value of vyre_interface",
                           (int)params->interface);
    }
    if (params->float_modes & ~VYRE_FLOAT_ALL) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "0x%x is no set of float modes. Fix: use VYRE_FLOAT_* bits",
                           (unsigned)params->float_modes);
    }
    if (params->prints != 0 && params->prints != 1) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "%d does not say whether printf statements print. Fix: use 0 or 1",
                           params->prints);
    }
    if (params->aggregate & ~VYRE_AGGREGATE_ALL) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "0x%x names no atomics to be joined. Fix: use VYRE_AGGREGATE_* bits",
                           (unsigned)params->aggregate);
    }
    if (params->debug < VYRE_DEBUG_INFO_NONE || params->debug > VYRE_DEBUG_INFO_FULL) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "%d is no amount of debug information. Fix: use VYRE_DEBUG_INFO_NONE, "
                           "_LINES or _FULL",
                           params->debug);
    }
    if ((uint32_t)params->reconvergence > VYRE_RECONVERGENCE_MAXIMAL) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "%d is no reconvergence. Fix: use a value of vyre_reconvergence",
                           (int)params->reconvergence);
    }
    if ((uint32_t)params->optimization > VYRE_OPTIMIZATION_NONE) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, none,
                           "%d is no optimization. Fix: use a value of vyre_optimization",
                           (int)params->optimization);
    }
    return check_dump(params, diag);
}

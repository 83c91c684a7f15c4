/* Other words for a kernel's segments: compiled from its program when they are first asked for, and
 * kept. Two threads may compile the same ones at once; the first to be done is kept, and the bytes
 * are the same. So nothing is locked while a compiler, or a caller's allocator, runs. */
#include "codegen/kernel_parts.h"

static uint32_t index_of(vy_variant variant)
{
    if (variant.is_coarse) {
        return VY_VARIANT_COUNT + (uint32_t)variant.interface + (variant.is_joined ? 2u : 0u) +
               (variant.is_long ? 4u : 0u);
    }
    uint32_t index = variant.is_aliased ? 1u : 0u;
    if (variant.interface == VYRE_INTERFACE_ADDRESS) {
        index += variant.is_wide ? 4u : 2u;
    }
    uint32_t kind = variant.is_persistent ? 2u : variant.is_whole ? 1u : 0u;
    return index + kind * VY_VARIANT_COUNT / 3;
}

vyre_result vy_kernel_keep(vyre_kernel *kernel, const vyre_program *program,
                           const vyre_kernel_params *params, vyre_diag *diag)
{
    vy_variants *variants = vy_arena_alloc(&kernel->arena, 1, sizeof *variants);
    if (!variants || vy_mutex_init(&variants->mutex) != 0) {
        return vy_diag_no_memory(diag);
    }
    variants->params = *params;
    variants->params.allocator = &kernel->arena.allocator;
    variants->params.dump_after = NULL;
    variants->params.dump = NULL;
    variants->params.dump_user = NULL;
    variants->program = vy_program_hold(program);
    kernel->variants = variants;
    return VYRE_OK;
}

void vy_kernel_drop_variants(vyre_kernel *kernel)
{
    vy_variants *variants = kernel->variants;
    if (!variants) {
        return;
    }
    kernel->variants = NULL;
    for (uint32_t i = 0; i < VY_COUNT_OF(variants->sets); i++) {
        vy_word_set_destroy(&variants->sets[i]);
    }
    vy_mutex_finish(&variants->mutex);
    vyre_program_destroy(&variants->program);
}

void vy_word_set_destroy(vy_word_set **set)
{
    if (!*set) {
        return;
    }
    vy_word_set *s = *set;
    *set = NULL;
    vyre_allocator memory = s->arena.allocator;
    vy_arena_finish(&s->arena);
    vy_free(&memory, s, sizeof *s);
}

static vy_word_set *find_set(vy_variants *variants, uint32_t index)
{
    vy_mutex_lock(&variants->mutex);
    vy_word_set *set = variants->sets[index];
    vy_mutex_unlock(&variants->mutex);
    return set;
}

/* The set that is kept: the one given, or the one that somebody else has put there meanwhile. */
static vy_word_set *keep_set(vy_variants *variants, uint32_t index, vy_word_set *set)
{
    vy_mutex_lock(&variants->mutex);
    vy_word_set *spare = NULL;
    if (variants->sets[index]) {
        spare = set;
        set = variants->sets[index];
    } else {
        variants->sets[index] = set;
    }
    vy_mutex_unlock(&variants->mutex);
    vy_word_set_destroy(&spare);
    return set;
}

void vy_kernel_add_set(const vyre_kernel *kernel, vy_variant variant, vy_word_set *set)
{
    (void)keep_set(kernel->variants, index_of(variant), set);
}

/* The set of a variant that is not the kernel's own. */
static vyre_result get_set(const vyre_kernel *kernel, vy_variant variant, vy_word_set **out_set,
                           vyre_diag *diag)
{
    vy_variants *variants = kernel->variants;
    variant.is_joined = variant.is_joined && variants->can_join;
    uint32_t index = index_of(variant);
    vyre_result result = VYRE_OK;
    *out_set = find_set(variants, index);
    if (!*out_set) {
        vyre_kernel_params params = variants->params;
        params.interface = variant.interface;
        params.aliased = variant.is_aliased;
        if (variant.is_joined) {
            params.aggregate |= VYRE_AGGREGATE_STORAGE | VYRE_AGGREGATE_OLD;
            params.reconvergence = VYRE_RECONVERGENCE_MAXIMAL;
        }
        result = vy_kernel_compile_set(kernel, &params, &variant, out_set, diag);
        if (result == VYRE_OK) {
            *out_set = keep_set(variants, index, *out_set);
        }
    }
    return result;
}

vyre_result vy_kernel_coarsen(const vyre_kernel *kernel, vyre_interface interface, uint32_t ways,
                              vy_kernel_coarse *out_coarse, vyre_diag *diag)
{
    *out_coarse = (vy_kernel_coarse){0};
    vy_diag_clear(diag);
    /* Whoever can tell workgroups does one element: there may be nothing to compile for. */
    if (kernel->variants->params.optimization == VYRE_OPTIMIZATION_NONE ||
        (kernel->workgroup_use && !kernel->has_neighbours)) {
        return VYRE_OK;
    }
    vy_word_set *set = NULL;
    vy_variant variant = {.interface = interface,
                          .is_coarse = true,
                          .is_joined = (ways & VY_WAY_JOINED) != 0,
                          .is_long = (ways & VY_WAY_LONG) != 0};
    vyre_result result = get_set(kernel, variant, &set, diag);
    if (result == VYRE_OK) {
        *out_coarse = set->coarse;
    }
    return result;
}

vyre_result vy_kernel_variant(const vyre_kernel *kernel, vy_variant variant, uint32_t segment,
                              const uint32_t **out_words, uint32_t *out_count, vyre_diag *diag)
{
    *out_words = NULL;
    *out_count = 0;
    vy_diag_clear(diag);
    if (index_of(variant) == index_of(kernel->own)) {
        *out_words = kernel->segments[segment].words;
        *out_count = kernel->segments[segment].word_count;
        return VYRE_OK;
    }
    vy_word_set *set = NULL;
    vyre_result result = get_set(kernel, variant, &set, diag);
    if (result != VYRE_OK) {
        return result;
    }
    *out_words = set->segments[segment].words;
    *out_count = set->segments[segment].count;
    return VYRE_OK;
}

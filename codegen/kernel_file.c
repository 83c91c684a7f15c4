/* From a kernel file to a kernel: the program is read again and described as for a compile; words
 * come from the file where it has them. Reads vy_kernel_file, makes kernels. */
#include "codegen/kernel_file.h"
#include "codegen/kernel_parts.h"
#include "codegen/passes/ssa.h"
#include "vyre/text.h"

/* ---- Words ----------------------------------------------------------------------------------- */

bool vy_kernel_segment_matches(const vy_kernel_segment *a, const vy_kernel_segment *b)
{
    return a->instruction_count == b->instruction_count && a->reads == b->reads &&
           a->writes == b->writes && a->atomics == b->atomics;
}

/* The host binds buffers by these masks: only what the program has. */
static bool is_access_possible(const vyre_kernel *kernel, const vy_kernel_segment *segment)
{
    uint64_t writable = 0, possible = 0;
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        uint64_t bit = (uint64_t)1 << i;
        vyre_buffer_mode mode = kernel->bindings[i].info.mode;
        possible |= bit;
        writable |= mode == VYRE_BUFFER_IN || mode == VYRE_BUFFER_UNIFORM ? 0 : bit;
    }
    uint64_t hidden = (kernel->site_count ? VY_ACCESS_RECORDS : 0) |
                      (kernel->spill_words ? VY_ACCESS_SPILL : 0) |
                      (kernel->until >= 0 ? VY_ACCESS_FLAG : 0);
    return (segment->reads & ~(possible | hidden)) == 0 &&
           (segment->writes & ~(writable | hidden)) == 0 &&
           (segment->atomics & ~(segment->reads | segment->writes)) == 0;
}

static vyre_result take_segments(const vy_kernel_file *file, vyre_kernel *kernel, vyre_diag *diag)
{
    if (file->segment_count != kernel->segment_count || file->spill_words != kernel->spill_words ||
        file->site_count != kernel->site_count || file->table_count != kernel->table_count) {
        return vy_kernel_file_damaged(diag, "its segments are not the program's");
    }
    for (uint32_t i = 0; i < kernel->segment_count; i++) {
        vy_kernel_file_segment(file, i, &kernel->segments[i]);
        if (!is_access_possible(kernel, &kernel->segments[i])) {
            return vy_kernel_file_damaged(diag, "a segment uses buffers that the program has not");
        }
    }
    return VYRE_OK;
}

static void take_own(const vy_stored_set *set, vyre_kernel *kernel)
{
    size_t at = 0;
    for (uint32_t i = 0; i < kernel->segment_count; i++) {
        vy_kernel_segment *segment = &kernel->segments[i];
        segment->words = vy_stored_set_next(set, &at, &kernel->arena, &segment->word_count);
    }
    kernel->is_precompiled = true;
}

static vyre_result take_variant(const vy_stored_set *stored, const vyre_kernel *kernel,
                                vyre_diag *diag)
{
    const vyre_allocator *memory = &kernel->arena.allocator;
    vy_word_set *set = vy_alloc_zeroed(memory, 1, sizeof *set);
    if (!set) {
        return vy_diag_no_memory(diag);
    }
    vy_arena_init(&set->arena, memory);
    set->segments = vy_arena_alloc(&set->arena, kernel->segment_count, sizeof *set->segments);
    size_t at = 0;
    for (uint32_t i = 0; set->segments && i < kernel->segment_count; i++) {
        vy_segment_words *segment = &set->segments[i];
        segment->words = vy_stored_set_next(stored, &at, &set->arena, &segment->count);
    }
    if (set->arena.failed) {
        vy_word_set_destroy(&set);
        return vy_diag_no_memory(diag);
    }
    vy_kernel_add_set(kernel,
                      (vy_variant){.interface = (vyre_interface)stored->choice.interface,
                                   .is_aliased = (stored->choice.flags & VY_FILE_ALIASED) != 0},
                      set);
    return VYRE_OK;
}

vyre_result vy_kernel_file_take(const vy_kernel_file *file, vyre_kernel *kernel, vyre_diag *diag)
{
    const vy_word_choice own = vy_word_choice_of(&kernel->variants->params);
    vyre_result result = take_segments(file, kernel, diag);
    size_t at = 0;
    for (uint32_t i = 0; i < file->set_count && result == VYRE_OK; i++) {
        vy_stored_set set = vy_kernel_file_next_set(file, &at);
        vy_word_choice choice = set.choice;
        if (vy_word_choice_equals(choice, own)) {
            take_own(&set, kernel);
            continue;
        }
        choice.interface = own.interface;
        choice.flags = (choice.flags & ~VY_FILE_ALIASED) | (own.flags & VY_FILE_ALIASED);
        if (vy_word_choice_equals(choice, own)) {
            result = take_variant(&set, kernel, diag);
        }
    }
    return result;
}

vyre_result vy_kernel_file_check(const vy_kernel_file *file, const vyre_kernel *kernel,
                                 vyre_diag *diag)
{
    for (uint32_t i = 0; i < kernel->segment_count; i++) {
        vy_kernel_segment segment;
        vy_kernel_file_segment(file, i, &segment);
        if (!vy_kernel_segment_matches(&segment, &kernel->segments[i])) {
            return vy_kernel_file_damaged(diag, "a segment is not what this library makes of it");
        }
    }
    return VYRE_OK;
}

/* ---- Loading --------------------------------------------------------------------------------- */

vyre_result vy_kernel_file_program(const vy_kernel_file *file, const vyre_allocator *allocator,
                                   vyre_program **out_program, vyre_diag *diag)
{
    vyre_result result =
        vyre_program_parse(file->text, file->text_size, NULL, allocator, out_program, diag);
    if (result != VYRE_OK) {
        return result;
    }
    if (vyre_program_hash(*out_program) != file->hash ||
        vyre_program_interface_hash(*out_program) != file->interface_hash) {
        result = vy_kernel_file_damaged(diag, "its hashes are not its program's");
    } else {
        result = vy_kernel_file_place(file, *out_program, diag);
    }
    if (result != VYRE_OK) {
        vyre_program_destroy(out_program);
    }
    return result;
}

vyre_result vyre_kernel_load(const void *data, size_t size, const vyre_kernel_params *params,
                             vyre_kernel **out_kernel, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (out_kernel) {
        *out_kernel = NULL;
    }
    if (!data || !out_kernel) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the data or out_kernel is NULL. Fix: pass a file's bytes and where the "
                           "kernel goes");
    }
    vy_kernel_file file;
    vyre_kernel_params checked;
    vyre_program *program = NULL;
    vyre_result result = vy_kernel_read_params(params, &checked, diag);
    if (result == VYRE_OK) {
        result = vy_kernel_file_open(data, size, &file, diag);
    }
    if (result == VYRE_OK) {
        result = vy_kernel_file_program(&file, checked.allocator, &program, diag);
    }
    if (result == VYRE_OK) {
        /* What segments touch is not the same with the passes and without. */
        bool is_none = checked.optimization == VYRE_OPTIMIZATION_NONE;
        const vy_kernel_file *words = is_none == file.is_unoptimized ? &file : NULL;
        result = vy_kernel_make(program, &checked, words, false, out_kernel, diag);
    }
    vyre_program_destroy(&program);
    return result;
}

int vyre_kernel_is_precompiled(const vyre_kernel *kernel)
{
    return kernel && kernel->is_precompiled;
}

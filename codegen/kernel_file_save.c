/* Writing kernel files: kernels of one program become bytes, the same for the same kernels. */
#include "codegen/kernel_file.h"
#include "codegen/kernel_parts.h"
#include "vyre/text.h"

#include <string.h>

static const vy_loc nowhere = {0, 0};

typedef struct saver {
    const vyre_kernel *const *kernels;
    uint32_t count;
    const vyre_allocator *allocator;
    vy_text out;
    char *text; /* the program */
    size_t text_size;
    vyre_diag *diag;
} saver;

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void encode(char *bytes, uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (char)(unsigned char)(value >> (8 * i));
    }
}

static void put_u32(saver *s, uint32_t value)
{
    char bytes[4];
    encode(bytes, value, 4);
    vy_text_append(&s->out, bytes, 4);
}

static void put_u64(saver *s, uint64_t value)
{
    char bytes[8];
    encode(bytes, value, 8);
    vy_text_append(&s->out, bytes, 8);
}

static vy_word_choice choice_of(const vyre_kernel *kernel)
{
    return vy_word_choice_of(&kernel->variants->params);
}

/* ---- What is to be saved --------------------------------------------------------------------- */

static vyre_result print(saver *s, const vyre_program *program, char **out_text, size_t *out_size)
{
    vyre_result result = vyre_program_print(program, s->allocator, out_text, out_size);
    if (result == VYRE_ERROR_INVALID_PROGRAM ||
        (result == VYRE_OK && *out_size > VYRE_MAX_SOURCE)) {
        vyre_text_free(s->allocator, *out_text, *out_size);
        *out_text = NULL;
        return vy_diag_set(s->diag, VYRE_ERROR_INVALID_PROGRAM, nowhere,
                           "the program %s cannot be said as text, which a kernel file holds. Fix: "
                           "nest its expressions less, and keep its text below 64 MiB",
                           vyre_program_name(program));
    }
    return result == VYRE_OK ? VYRE_OK : vy_diag_no_memory(s->diag);
}

/* Hashes tell most other programs; the text tells names and the rest. */
static vyre_result check_program(saver *s, uint32_t index)
{
    const vyre_program *first = s->kernels[0]->variants->program;
    const vyre_program *other = s->kernels[index]->variants->program;
    if (first == other) {
        return VYRE_OK;
    }
    bool is_same = vyre_program_hash(first) == vyre_program_hash(other) &&
                   vyre_program_interface_hash(first) == vyre_program_interface_hash(other);
    if (is_same) {
        char *text = NULL;
        size_t size = 0;
        vyre_result result = print(s, other, &text, &size);
        if (result != VYRE_OK) {
            return result;
        }
        is_same = size == s->text_size && memcmp(text, s->text, size) == 0;
        vyre_text_free(s->allocator, text, size);
    }
    return is_same ? VYRE_OK
                   : vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                                 "kernel %u is of another program (%s) than kernel 0 (%s). Fix: "
                                 "save the kernels of each program by themselves",
                                 index, vyre_kernel_name(s->kernels[index]),
                                 vyre_kernel_name(s->kernels[0]));
}

static vyre_result check_choice(saver *s, uint32_t index)
{
    vy_word_choice choice = choice_of(s->kernels[index]);
    for (uint32_t i = 0; i < index; i++) {
        if (vy_word_choice_equals(choice, choice_of(s->kernels[i]))) {
            return vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "kernels %u and %u have the same target, interface, float modes "
                               "and flags. Fix: leave one out",
                               i, index);
        }
    }
    return VYRE_OK;
}

/* The file says once what the host needs to know of the segments. */
static vyre_result check_segments(saver *s, uint32_t index)
{
    const vyre_kernel *first = s->kernels[0], *other = s->kernels[index];
    if (first->variants->params.optimization != other->variants->params.optimization) {
        return vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "one of the kernels 0 and %u of %s is optimised and the other is not. "
                           "Fix: save them in files of their own",
                           index, vyre_kernel_name(first));
    }
    bool is_same =
        first->segment_count == other->segment_count && first->spill_words == other->spill_words;
    for (uint32_t i = 0; is_same && i < first->segment_count; i++) {
        is_same = vy_kernel_segment_matches(&first->segments[i], &other->segments[i]);
    }
    return is_same ? VYRE_OK
                   : vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                                 "kernels 0 and %u of %s come from different versions of the "
                                 "library. Fix: compile both again",
                                 index, vyre_kernel_name(first));
}

static vyre_result check(saver *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->kernels[i]) {
            return vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "kernel %u is NULL. Fix: pass compiled kernels", i);
        }
        if (s->kernels[i]->variants->program->records_bounds) {
            return vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "kernel %u (%s) records its bounds, which no text says. Fix: save "
                               "the kernel of a program without vyre_program_record_bounds",
                               i, vyre_kernel_name(s->kernels[i]));
        }
        if (s->kernels[i]->variants->params.prints) {
            return vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "kernel %u (%s) prints, by segments that other kernels of the "
                               "program do not have. Fix: compile it without "
                               "vyre_kernel_params.prints",
                               i, vyre_kernel_name(s->kernels[i]));
        }
        if (s->kernels[i]->variants->is_unchecked) {
            return vy_diag_set(s->diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "kernel %u (%s) was made without checks, to be measured. Fix: "
                               "compile it with vyre_kernel_compile",
                               i, vyre_kernel_name(s->kernels[i]));
        }
    }
    vyre_result result = print(s, s->kernels[0]->variants->program, &s->text, &s->text_size);
    for (uint32_t i = 1; i < s->count && result == VYRE_OK; i++) {
        result = check_program(s, i);
        if (result == VYRE_OK) {
            result = check_segments(s, i);
        }
        if (result == VYRE_OK) {
            result = check_choice(s, i);
        }
    }
    return result;
}

/* ---- The file -------------------------------------------------------------------------------- */

static void put_places(saver *s, vyre_program *program)
{
    vy_arena arena;
    uint32_t count = 0;
    vy_arena_init(&arena, s->allocator);
    vy_loc **places = vy_program_places(program, &arena, &count);
    s->out.failed |= places == NULL;
    put_u32(s, count);
    for (uint32_t i = 0; i < count && !s->out.failed; i++) {
        put_u32(s, places[i]->line);
        put_u32(s, places[i]->column);
    }
    vy_arena_finish(&arena);
}

static void put_words(saver *s, const uint32_t *words, uint32_t count)
{
    char bytes[256];
    for (uint32_t i = 0; i < count;) {
        size_t size = 0;
        for (; i < count && size < sizeof bytes; i++, size += 4) {
            encode(bytes + size, words[i], 4);
        }
        vy_text_append(&s->out, bytes, size);
    }
}

static void put_set(saver *s, const vyre_kernel *kernel)
{
    vy_word_choice choice = choice_of(kernel);
    put_u32(s, choice.target);
    put_u32(s, choice.interface);
    put_u32(s, choice.float_modes);
    put_u32(s, choice.flags);
    for (uint32_t i = 0; i < kernel->segment_count; i++) {
        put_u32(s, kernel->segments[i].word_count);
        put_words(s, kernel->segments[i].words, kernel->segments[i].word_count);
    }
}

static void put_segments(saver *s, const vyre_kernel *kernel)
{
    put_u32(s, kernel->segment_count);
    put_u32(s, kernel->spill_words);
    put_u32(s, kernel->site_count);
    put_u32(s, kernel->table_count);
    for (uint32_t i = 0; i < kernel->segment_count; i++) {
        put_u32(s, kernel->segments[i].instruction_count);
        put_u64(s, kernel->segments[i].reads);
        put_u64(s, kernel->segments[i].writes);
        put_u64(s, kernel->segments[i].atomics);
    }
}

static void put_all(saver *s)
{
    static const char zeros[4] = {0};
    const vyre_kernel *first = s->kernels[0];
    vyre_program *program = first->variants->program;
    vy_text_append(&s->out, "VYRK", 4);
    put_u32(s, VY_KERNEL_FILE_VERSION);
    put_u64(s, 0); /* size and checksum: known at the end */
    put_u64(s, 0);
    put_u64(s, vyre_program_hash(program));
    put_u64(s, vyre_program_interface_hash(program));
    put_u32(s, (uint32_t)s->text_size);
    vy_text_append(&s->out, s->text, s->text_size);
    vy_text_append(&s->out, zeros, (4 - s->text_size % 4) % 4);
    put_places(s, program);
    put_segments(s, first);
    put_u32(s, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        put_set(s, s->kernels[i]);
    }
    if (!s->out.failed) {
        encode(s->out.data + 8, s->out.size, 8);
        encode(s->out.data + VY_FILE_CHECKSUM_AT, vy_kernel_file_checksum(s->out.data, s->out.size),
               8);
    }
}

static vyre_result save(saver *s, void **out_data, size_t *out_size)
{
    vyre_result result = check(s);
    if (result == VYRE_OK) {
        put_all(s);
    }
    if (result == VYRE_OK && !s->out.failed) {
        *out_data = vy_realloc(&s->out.allocator, s->out.data, s->out.capacity, s->out.size);
    }
    if (*out_data) {
        *out_size = s->out.size;
        s->out.data = NULL;
        s->out.capacity = 0;
    } else if (result == VYRE_OK) {
        result = vy_diag_no_memory(s->diag);
    }
    vyre_text_free(s->allocator, s->text, s->text_size);
    vy_text_finish(&s->out);
    return result;
}

vyre_result vyre_kernel_save(const vyre_kernel *const *kernels, uint32_t count,
                             const vyre_allocator *allocator, void **out_data, size_t *out_size,
                             vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (out_data) {
        *out_data = NULL;
    }
    if (out_size) {
        *out_size = 0;
    }
    if (!kernels || !out_data || !out_size || count == 0 || count > VY_FILE_MAX_SETS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%s. Fix: pass 1 to %u kernels, and where data and size go",
                           kernels && count == 0                 ? "there are no kernels"
                           : kernels && count > VY_FILE_MAX_SETS ? "there are too many kernels"
                                                                 : "an argument is NULL",
                           VY_FILE_MAX_SETS);
    }
    saver s = {.kernels = kernels, .count = count, .allocator = allocator, .diag = diag};
    vy_text_init(&s.out, allocator);
    return save(&s, out_data, out_size);
}

void vyre_kernel_free_data(const vyre_allocator *allocator, void **data, size_t size)
{
    if (data) {
        vy_free(allocator, *data, size);
        *data = NULL;
    }
}

/* Reading kernel files: the bytes, which nobody vouches for, become a vy_kernel_file that points
 * into them. All counts are held against the bytes that are left before anything is done with them.
 */
#include "codegen/ir/walk.h"
#include "codegen/kernel_file.h"
#include "vyre/text.h"

#include <string.h>

/* Of the SPIR-V specification. */
#define SPIRV_MAGIC        0x07230203u
#define SPIRV_ENTRY_POINT  15u
#define SPIRV_GL_COMPUTE   5u
#define SPIRV_HEADER_WORDS 5u
#define SPIRV_MAX_BOUND    4194303u /* the universal limit of ids */
#define SEGMENT_SIZE       28u

static const vy_loc nowhere = {0, 0};

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Once something was asked for that is not there, everything is zero. */
typedef struct reader {
    const unsigned char *at, *end;
    bool failed;
} reader;

static const unsigned char *take(reader *r, size_t size)
{
    if (r->failed || size > (size_t)(r->end - r->at)) {
        r->failed = true;
        return NULL;
    }
    const unsigned char *bytes = r->at;
    r->at += size;
    return bytes;
}

static const unsigned char *take_many(reader *r, uint32_t count, size_t size)
{
    size_t total = 0;
    r->failed |= !vy_mul_size(count, size, &total);
    return take(r, total);
}

static uint32_t decode_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static uint64_t decode_u64(const unsigned char *bytes)
{
    return (uint64_t)decode_u32(bytes + 4) << 32 | decode_u32(bytes);
}

static uint32_t take_u32(reader *r)
{
    const unsigned char *bytes = take(r, 4);
    return bytes ? decode_u32(bytes) : 0;
}

static uint64_t take_u64(reader *r)
{
    const unsigned char *bytes = take(r, 8);
    return bytes ? decode_u64(bytes) : 0;
}

static uint32_t word_at(const unsigned char *words, uint32_t index)
{
    return decode_u32(words + (size_t)index * 4);
}

vyre_result vy_kernel_file_damaged(vyre_diag *diag, const char *what)
{
    return vy_diag_set(
        diag, VYRE_ERROR_IO, nowhere,
        "the kernel file is damaged: %s. Fix: make it again with vyre_kernel_save or "
        "vyre-spv --format kernel",
        what);
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* The one entry point is the compute shader "main", which is what pipelines ask for. */
static bool is_entry_point(const unsigned char *words, uint32_t at, uint32_t length)
{
    static const unsigned char main_text[8] = {'m', 'a', 'i', 'n', 0, 0, 0, 0};
    return length >= 5 && word_at(words, at + 1) == SPIRV_GL_COMPUTE &&
           memcmp(words + ((size_t)at + 3) * 4, main_text, sizeof main_text) == 0;
}

/* What is wrong with a module's form, or NULL. Not a validator: what the instructions mean is not
 * looked at. */
static const char *find_fault(const unsigned char *words, uint32_t count, uint32_t target)
{
    uint32_t version = target == VYRE_TARGET_VULKAN_1_2 ? 0x00010500u : 0x00010600u;
    uint32_t entry_points = 0;
    if (count < SPIRV_HEADER_WORDS || word_at(words, 0) != SPIRV_MAGIC) {
        return "a module is not SPIR-V";
    }
    if (word_at(words, 1) != version) {
        return "a module's version of SPIR-V is not its target's";
    }
    uint32_t bound = word_at(words, 3);
    if (bound == 0 || bound > SPIRV_MAX_BOUND || word_at(words, 4) != 0) {
        return "a module's header is not one";
    }
    for (uint32_t at = SPIRV_HEADER_WORDS; at < count;) {
        uint32_t first = word_at(words, at), length = first >> 16;
        if (length == 0 || length > count - at) {
            return "a module's instructions do not fill it";
        }
        if ((first & 0xffffu) == SPIRV_ENTRY_POINT) {
            entry_points += is_entry_point(words, at, length) ? 1u : 2u;
        }
        at += length;
    }
    return entry_points == 1 ? NULL : "a module has another entry point than main";
}

/* ---- Sets ------------------------------------------------------------------------------------ */

vy_word_choice vy_word_choice_of(const vyre_kernel_params *params)
{
    return (vy_word_choice){
        (uint32_t)params->target, (uint32_t)params->interface, params->float_modes,
        (params->aliased ? VY_FILE_ALIASED : 0u) | (params->debug ? VY_FILE_DEBUG : 0u) |
            (params->debug == VYRE_DEBUG_INFO_FULL ? VY_FILE_DEBUG_INFO : 0u) |
            (uint32_t)params->reconvergence * VY_FILE_UNIFORM |
            params->aggregate * VY_FILE_AGGREGATE |
            (params->optimization == VYRE_OPTIMIZATION_NONE ? VY_FILE_UNOPTIMIZED : 0u)};
}

bool vy_word_choice_equals(vy_word_choice a, vy_word_choice b)
{
    return a.target == b.target && a.interface == b.interface && a.float_modes == b.float_modes &&
           a.flags == b.flags;
}

static bool is_choice(vy_word_choice c)
{
    return (c.target == VYRE_TARGET_VULKAN_1_3 || c.target == VYRE_TARGET_VULKAN_1_2) &&
           (c.interface == VYRE_INTERFACE_DESCRIPTOR || c.interface == VYRE_INTERFACE_ADDRESS) &&
           (c.float_modes & ~VYRE_FLOAT_ALL) == 0 &&
           (c.flags & ~(VY_FILE_ALIASED | VY_FILE_DEBUG | VY_FILE_UNIFORM | VY_FILE_MAXIMAL |
                        VYRE_AGGREGATE_ALL * VY_FILE_AGGREGATE | VY_FILE_DEBUG_INFO |
                        VY_FILE_UNOPTIMIZED)) == 0 &&
           (c.flags & (VY_FILE_DEBUG | VY_FILE_DEBUG_INFO)) != VY_FILE_DEBUG_INFO &&
           (c.flags & (VY_FILE_UNIFORM | VY_FILE_MAXIMAL)) != (VY_FILE_UNIFORM | VY_FILE_MAXIMAL);
}

/* Where the form was checked before, only the set's end is searched. */
static const char *read_set(reader *r, uint32_t segment_count, bool is_checked, vy_stored_set *out)
{
    out->choice.target = take_u32(r);
    out->choice.interface = take_u32(r);
    out->choice.float_modes = take_u32(r);
    out->choice.flags = take_u32(r);
    if (r->failed || !is_choice(out->choice)) {
        return "a set of words is for no target, interface or float modes that there are";
    }
    out->words = r->at;
    for (uint32_t i = 0; i < segment_count; i++) {
        uint32_t count = take_u32(r);
        const unsigned char *words = take_many(r, count, 4);
        if (!words) {
            return "it ends within a set of words";
        }
        const char *fault = is_checked ? NULL : find_fault(words, count, out->choice.target);
        if (fault) {
            return fault;
        }
    }
    out->size = (size_t)(r->at - out->words);
    return NULL;
}

vy_stored_set vy_kernel_file_next_set(const vy_kernel_file *file, size_t *at)
{
    reader r = {.at = file->sets + *at, .end = file->end};
    vy_stored_set set = {.words = r.at};
    (void)read_set(&r, file->segment_count, true, &set);
    *at = (size_t)(r.at - file->sets);
    return set;
}

static const char *read_sets(reader *r, vy_kernel_file *file)
{
    vy_word_choice choices[VY_FILE_MAX_SETS];
    file->set_count = take_u32(r);
    file->sets = r->at;
    if (r->failed || file->set_count == 0 || file->set_count > VY_FILE_MAX_SETS) {
        return "its number of sets of words cannot be";
    }
    for (uint32_t i = 0; i < file->set_count; i++) {
        vy_stored_set set;
        const char *fault = read_set(r, file->segment_count, false, &set);
        if (fault) {
            return fault;
        }
        choices[i] = set.choice;
        for (uint32_t before = 0; before < i; before++) {
            if (vy_word_choice_equals(choices[before], choices[i])) {
                return "two sets of words are for the same choice";
            }
        }
        if ((choices[i].flags ^ choices[0].flags) & VY_FILE_UNOPTIMIZED) {
            return "some sets of words are optimised and some are not";
        }
    }
    file->is_unoptimized = (choices[0].flags & VY_FILE_UNOPTIMIZED) != 0;
    return NULL;
}

uint32_t *vy_stored_set_next(const vy_stored_set *set, size_t *at, vy_arena *arena,
                             uint32_t *out_count)
{
    reader r = {.at = set->words + *at, .end = set->words + set->size};
    *out_count = take_u32(&r);
    const unsigned char *from = take_many(&r, *out_count, 4);
    uint32_t *words = from ? vy_arena_alloc(arena, *out_count, sizeof *words) : NULL;
    for (uint32_t i = 0; words && i < *out_count; i++) {
        words[i] = word_at(from, i);
    }
    *at = (size_t)(r.at - set->words);
    return words;
}

void vy_kernel_file_segment(const vy_kernel_file *file, uint32_t segment,
                            vy_kernel_segment *out_segment)
{
    const unsigned char *at = file->segments + (size_t)segment * SEGMENT_SIZE;
    out_segment->instruction_count = decode_u32(at);
    out_segment->reads = decode_u64(at + 4);
    out_segment->writes = decode_u64(at + 12);
    out_segment->atomics = decode_u64(at + 20);
}

/* ---- The whole file -------------------------------------------------------------------------- */

static const char *read_text(reader *r, vy_kernel_file *file)
{
    file->hash = take_u64(r);
    file->interface_hash = take_u64(r);
    file->text_size = take_u32(r);
    if (file->text_size > VYRE_MAX_SOURCE) {
        return "its program is longer than any";
    }
    const unsigned char *text = take(r, file->text_size);
    const unsigned char *padding = take(r, (4 - file->text_size % 4) % 4);
    if (!text || !padding) {
        return "it ends within the program";
    }
    for (size_t i = 0; i < (4 - file->text_size % 4) % 4; i++) {
        if (padding[i] != 0) {
            return "the bytes behind the program are not zero";
        }
    }
    file->text = (const char *)text;
    return NULL;
}

static const char *read_body(reader *r, vy_kernel_file *file)
{
    const char *fault = read_text(r, file);
    if (fault) {
        return fault;
    }
    file->place_count = take_u32(r);
    file->places = take_many(r, file->place_count, 8);
    if (!file->places) {
        return "it ends within the places of the program";
    }
    file->segment_count = take_u32(r);
    file->spill_words = take_u32(r);
    file->site_count = take_u32(r);
    file->table_count = take_u32(r);
    file->segments = take_many(r, file->segment_count, SEGMENT_SIZE);
    if (!file->segments) {
        return "it ends within the segments";
    }
    fault = read_sets(r, file);
    if (!fault && r->at != r->end) {
        fault = "something follows its end";
    }
    return fault;
}

uint64_t vy_kernel_file_checksum(const void *data, size_t size)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, (const unsigned char *)data + VY_FILE_HEADER_SIZE,
                  size - VY_FILE_HEADER_SIZE);
    return vy_hash_value(&hash);
}

vyre_result vy_kernel_file_open(const void *data, size_t size, vy_kernel_file *out_file,
                                vyre_diag *diag)
{
    const unsigned char *bytes = data;
    *out_file = (vy_kernel_file){0};
    if (size < 4 || memcmp(bytes, "VYRK", 4) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_IO, nowhere,
                           "these bytes are no kernel file. Fix: give what vyre_kernel_save or "
                           "vyre-spv --format kernel wrote");
    }
    if (size >= 8 && decode_u32(bytes + 4) != VY_KERNEL_FILE_VERSION) {
        return vy_diag_set(diag, VYRE_ERROR_IO, nowhere,
                           "the kernel file is of version %u, and this library reads version %u. "
                           "Fix: make it again with this library's vyre_kernel_save or vyre-spv",
                           decode_u32(bytes + 4), VY_KERNEL_FILE_VERSION);
    }
    if (size < VY_FILE_HEADER_SIZE || decode_u64(bytes + 8) > size) {
        return vy_kernel_file_damaged(diag, "its end is missing");
    }
    if (decode_u64(bytes + 8) < size) {
        return vy_kernel_file_damaged(diag, "something follows its end");
    }
    if (decode_u64(bytes + VY_FILE_CHECKSUM_AT) != vy_kernel_file_checksum(bytes, size)) {
        return vy_kernel_file_damaged(diag, "its bytes do not give its checksum");
    }
    reader r = {.at = bytes + VY_FILE_HEADER_SIZE, .end = bytes + size};
    const char *fault = read_body(&r, out_file);
    out_file->end = r.end;
    return fault ? vy_kernel_file_damaged(diag, fault) : VYRE_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

typedef struct place_list {
    vy_arena *arena;
    VY_VEC(vy_loc *) places;
} place_list;

static void add_range(place_list *list, vyre_program *program, const vy_range *range)
{
    for (uint32_t i = range->begin; i < range->end; i++) {
        (void)vy_vec_push(list->arena, &list->places, &program->exprs.data[i].loc);
    }
}

static void add_list(place_list *list, vyre_program *program, uint32_t first)
{
    vy_walk walk;
    uint32_t index = 0;
    vy_walk_begin(&walk, program, first);
    for (vy_walk_event event; (event = vy_walk_next(&walk, &index)) != VY_WALK_END;) {
        if (event != VY_WALK_ENTER) {
            continue;
        }
        vy_stmt *stmt = &program->stmts.data[index];
        (void)vy_vec_push(list->arena, &list->places, &stmt->loc);
        (void)vy_vec_push(list->arena, &list->places, &stmt->end_loc);
        for (uint32_t r = 0; r < 3; r++) {
            add_range(list, program, vy_stmt_range(stmt, r));
        }
    }
}

vy_loc **vy_program_places(vyre_program *program, vy_arena *arena, uint32_t *out_count)
{
    place_list list = {.arena = arena};
    for (uint32_t i = 1; i < program->vars.count; i++) {
        (void)vy_vec_push(arena, &list.places, &program->vars.data[i].loc);
    }
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        add_range(&list, program, &program->buffers.data[i].count);
    }
    for (uint32_t i = 0; i < 3; i++) {
        add_range(&list, program, &program->grid_of[i]);
    }
    for (uint32_t i = 1; i < program->functions.count; i++) {
        add_list(&list, program, program->functions.data[i].body);
    }
    add_list(&list, program, program->body);
    (void)vy_vec_reserve(arena, &list.places, 1); /* a list that is empty is none that failed */
    *out_count = list.places.count;
    return arena->failed ? NULL : list.places.data;
}

vyre_result vy_kernel_file_place(const vy_kernel_file *file, vyre_program *program, vyre_diag *diag)
{
    vy_arena arena;
    uint32_t count = 0;
    vyre_result result = VYRE_OK;
    vy_arena_init(&arena, &program->arena.allocator);
    vy_loc **places = vy_program_places(program, &arena, &count);
    if (!places) {
        result = vy_diag_no_memory(diag);
    } else if (count != file->place_count) {
        result = vy_kernel_file_damaged(diag, "its places are not the program's");
    }
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        places[i]->line = word_at(file->places, 2 * i);
        places[i]->column = word_at(file->places, 2 * i + 1);
    }
    program->text = NULL; /* the places are those of another one */
    program->text_size = 0;
    vy_arena_finish(&arena);
    return result;
}

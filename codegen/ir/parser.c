/* Text to program: the entry point, and what all parts of the parser share. */
#include "codegen/ir/parser.h"

#include <stdio.h>
#include <string.h>

/* ---- Errors ---------------------------------------------------------------------------------- */

bool vy_parser_stop(vy_parser *p)
{
    if (!p->lexer.failed && p->builder && p->builder->failed) {
        p->builder_failed_first = true;
        p->lexer.failed = true;
    }
    if (p->lexer.failed) {
        p->token.kind = VY_TOKEN_END;
    }
    return p->lexer.failed;
}

void vy_parser_fail(vy_parser *p, vy_loc loc, const char *format, ...)
{
    if (!vy_parser_stopped(p)) {
        va_list arguments;
        va_start(arguments, format);
        vy_diag_setv(&p->lexer.error, VYRE_ERROR_INVALID_PROGRAM, loc, format, arguments);
        va_end(arguments);
        p->lexer.failed = true;
    }
    p->token.kind = VY_TOKEN_END;
}

vy_found vy_parser_found(const vy_parser *p)
{
    vy_found found;
    size_t length = p->token.end - p->token.begin;
    if (p->token.kind == VY_TOKEN_END) {
        snprintf(found.text, sizeof found.text, "the end of the text");
    } else {
        snprintf(found.text, sizeof found.text, "'%.*s%s'", (int)(length < 40 ? length : 40),
                 p->lexer.text + p->token.begin, length < 40 ? "" : "...");
    }
    return found;
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

bool vy_parser_take(vy_parser *p, vy_token_kind kind)
{
    if (p->token.kind != kind || kind == VY_TOKEN_END) {
        return false;
    }
    vy_parser_advance(p);
    return true;
}

bool vy_parser_take_word(vy_parser *p, vy_word word)
{
    if (!vy_parser_is_word(p, word)) {
        return false;
    }
    vy_parser_advance(p);
    return true;
}

bool vy_parser_expect(vy_parser *p, vy_token_kind kind, const char *where)
{
    if (vy_parser_take(p, kind)) {
        return true;
    }
    const char *text = vy_token_kind_text(kind);
    vy_parser_fail(p, p->token.loc, "expected '%s' %s, but found %s. Fix: write '%s' there", text,
                   where, vy_parser_found(p).text, text);
    return false;
}

vy_mark vy_parser_mark(const vy_parser *p)
{
    return (vy_mark){p->token, p->lexer.at, p->lexer.line_begin, p->lexer.line};
}

void vy_parser_return_to(vy_parser *p, const vy_mark *mark)
{
    if (!p->lexer.failed) {
        p->token = mark->token;
        p->lexer.at = mark->at;
        p->lexer.line_begin = mark->line_begin;
        p->lexer.line = mark->line;
    }
}

bool vy_parser_enter(vy_parser *p, vy_loc loc)
{
    if (p->depth >= VYRE_MAX_NESTING) {
        vy_parser_fail(p, loc,
                       "parentheses, brackets and prefix operators are nested more than %u deep. "
                       "Fix: bind inner parts by let",
                       VYRE_MAX_NESTING);
        return false;
    }
    p->depth++;
    return true;
}

void vy_parser_leave(vy_parser *p)
{
    p->depth--;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *type_of_other_languages(const char *text)
{
    static const struct {
        const char *theirs, *ours;
    } table[] = {
        {"int", "i32"},      {"uint", "u32"},      {"unsigned", "u32"},  {"float", "f32"},
        {"double", "f64"},   {"uint32_t", "u32"},  {"int32_t", "i32"},   {"size_t", "u32"},
        {"boolean", "bool"}, {"long", "i64"},      {"short", "i16"},     {"char", "i8"},
        {"signed", "i32"},   {"int32", "i32"},     {"uint32", "u32"},    {"float32", "f32"},
        {"_Bool", "bool"},   {"half", "f16"},      {"usize", "u32"},     {"isize", "i32"},
        {"uint64_t", "u64"}, {"int64_t", "i64"},   {"uint8_t", "u8"},    {"int8_t", "i8"},
        {"uint16_t", "u16"}, {"int16_t", "i16"},   {"byte", "u8"},       {"float16", "f16"},
        {"float64", "f64"},  {"float16_t", "f16"}, {"bfloat16", "bf16"}, {"vec2", "f32x2"},
        {"vec4", "f32x4"},   {"float2", "f32x2"},  {"float4", "f32x4"},  {"uvec2", "u32x2"},
        {"uvec4", "u32x4"},  {"uint2", "u32x2"},   {"uint4", "u32x4"},   {"ivec2", "i32x2"},
        {"ivec4", "i32x4"},  {"int2", "i32x2"},    {"int4", "i32x4"},    {"bvec2", "bool2"},
        {"bvec4", "bool4"}};
    for (size_t i = 0; i < VY_COUNT_OF(table); i++) {
        if (strcmp(text, table[i].theirs) == 0) {
            return table[i].ours;
        }
    }
    return NULL;
}

/* What other languages call it, or NULL. */
static const char *advice_for(const char *text)
{
    static const struct {
        const char *theirs, *advice;
    } table[] = {{"elif", "write else if"},
                 {"elseif", "write else if"},
                 {"do", "write while with the condition first"},
                 {"loop", "write while true { ... }"},
                 {"until", "write while with the opposite condition"},
                 {"foreach", "write for i in 0 .. n { ... }"},
                 {"goto", "use break, continue or a fn"},
                 {"def", "write fn NAME(a: u32) -> u32 { ... }, in front of the kernel"},
                 {"func", "write fn NAME(a: u32) -> u32 { ... }, in front of the kernel"},
                 {"function", "write fn NAME(a: u32) -> u32 { ... }, in front of the kernel"},
                 {"void", "leave out the type: fn NAME() { ... }"},
                 {"auto", "write let for a value, var for a variable"},
                 {"mut", "write var for a variable"},
                 {"sizeof", "len(b) is the number of elements of a buffer"},
                 {"length", "len(b) is the number of elements of a buffer"},
                 {"arrayLength", "len(b) is the number of elements of a buffer"},
                 {"syncthreads", "write barrier"},
                 {"__syncthreads", "write barrier"},
                 {"workgroupBarrier", "write barrier"},
                 {"storageBarrier", "write barrier"},
                 {"threadIdx", "write lid.x"},
                 {"blockIdx", "write wid.x"},
                 {"blockDim", "write group_size.x"},
                 {"gridDim", "write num_groups.x"},
                 {"gl_GlobalInvocationID", "write gid.x"},
                 {"gl_LocalInvocationID", "write lid.x"},
                 {"gl_WorkGroupID", "write wid.x"},
                 {"global_id", "write gid.x"},
                 {"local_id", "write lid.x"},
                 {"and", "write &&"},
                 {"or", "write ||"},
                 {"not", "write !"},
                 {"mod", "write %"},
                 {"NULL", "write 0"},
                 {"null", "write 0"},
                 {"mix", "write a + (b - a) * t"},
                 {"lerp", "write a + (b - a) * t"},
                 {"powf", "write pow"},
                 {"sqrtf", "write sqrt"},
                 {"fabs", "write abs"},
                 {"fmin", "write min"},
                 {"fmax", "write max"},
                 {"atomicAdd", "write atomic_add(b[i], v)"},
                 {"atomicMin", "write atomic_min(b[i], v)"},
                 {"atomicMax", "write atomic_max(b[i], v)"},
                 {"atomicCAS", "write atomic_compare_exchange(b[i], expected, new)"},
                 {"atomicExch", "write atomic_exchange(b[i], v)"},
                 {"subgroupAdd", "write let x = subgroup_add(v)"},
                 {"subgroupBallot", "write let x = subgroup_ballot(c)"},
                 {"subgroupShuffle", "write let x = subgroup_shuffle(v, lane)"},
                 {"__shfl_sync", "write let x = subgroup_shuffle(v, lane)"},
                 {"__ballot_sync", "write let x = subgroup_ballot(c)"},
                 {"gl_SubgroupInvocationID", "write lane"},
                 {"gl_SubgroupSize", "write lanes"},
                 {"warpSize", "write lanes"},
                 {"laneId", "write lane"}};
    for (size_t i = 0; i < VY_COUNT_OF(table); i++) {
        if (strcmp(text, table[i].theirs) == 0) {
            return table[i].advice;
        }
    }
    return NULL;
}

void vy_parser_fail_unknown(vy_parser *p, const vy_token *token)
{
    if (token->kind != VY_TOKEN_NAME) {
        return;
    }
    const char *text = token->name->text;
    const char *type = type_of_other_languages(text);
    const char *advice = advice_for(text);
    const char *similar = vy_names_similar(&p->names, text, token->name->length);
    if (type) {
        vy_parser_fail(p, token->loc, "there is no type %s. Fix: write %s", text, type);
    } else if (advice) {
        vy_parser_fail(p, token->loc, "'%s' is not declared. Fix: %s", text, advice);
    } else if (similar) {
        vy_parser_fail(
            p, token->loc,
            "'%.64s' is not declared. Fix: did you mean '%s'? Otherwise declare it above", text,
            similar);
    } else {
        vy_parser_fail(p, token->loc,
                       "'%.64s' is not declared here. Fix: declare it above, by let, "
                       "var, const, param, fn or as a buffer",
                       text);
    }
}

vy_name *vy_parser_new_name(vy_parser *p, const char *what, vy_loc *out_loc)
{
    *out_loc = p->token.loc;
    if (p->token.kind != VY_TOKEN_NAME) {
        vy_parser_fail(p, p->token.loc,
                       "expected the name of a %s, but found %s. Fix: write a name", what,
                       vy_parser_found(p).text);
        return NULL;
    }
    vy_name *name = p->token.name;
    if (name->symbol >= VY_SYMBOL_BUFFER) {
        vy_parser_fail(p, p->token.loc,
                       "'%.64s' is declared already, at line %u column %u, and names may not hide "
                       "each other. Fix: choose another name",
                       name->text, name->loc.line, name->loc.column);
        return NULL;
    }
    if (name->symbol != VY_SYMBOL_NONE) {
        vy_parser_fail(p, p->token.loc,
                       "'%s' is a %s and cannot be the name of a %s. Fix: choose another name",
                       name->text, vy_symbol_kind_text((vy_symbol_kind)name->symbol), what);
        return NULL;
    }
    vy_parser_advance(p);
    return name;
}

void vy_parser_declare(vy_parser *p, vy_name *name, vy_symbol_kind symbol, vyre_type type,
                       vyre_ref ref, vy_loc loc)
{
    if (p->lexer.failed || !name) {
        return;
    }
    if (p->blocks.count == 0 && name->was_local) {
        vy_parser_fail(p, loc,
                       "'%.64s' is the name of a variable further up, and names may not hide each "
                       "other. Fix: choose another name, or declare this %s above it",
                       name->text, vy_symbol_kind_text(symbol));
        return;
    }
    if (p->blocks.count > 0) {
        if (!vy_vec_push(&p->arena, &p->scope, name)) {
            vy_parser_fail(p, loc, "out of memory. Fix: free memory");
            return;
        }
        name->was_local = true;
    }
    p->has_clash |= name->symbol != VY_SYMBOL_NONE;
    name->symbol = (uint8_t)symbol;
    name->type = (uint8_t)type;
    name->ref = ref.id;
    name->loc = loc;
}

vyre_type vy_parser_type(vy_parser *p)
{
    if (p->token.kind != VY_TOKEN_NAME) {
        vy_parser_fail(p, p->token.loc,
                       "expected a type, but found %s. Fix: write one, such as u32, f32 "
                       "or f32x4",
                       vy_parser_found(p).text);
        return VYRE_TYPE_VOID;
    }
    const vy_name *name = p->token.name;
    if (name->symbol == VY_SYMBOL_TYPE && name->ref != VYRE_TYPE_VOID) {
        vyre_type type = (vyre_type)name->ref;
        vy_parser_advance(p);
        return type;
    }
    if (name->symbol == VY_SYMBOL_TYPE) {
        vy_parser_fail(p, p->token.loc,
                       "void is the type of no value. Fix: write another, such as u32 or f32, or "
                       "leave out the result of a fn");
    } else if (type_of_other_languages(name->text)) {
        vy_parser_fail(p, p->token.loc, "there is no type %s. Fix: write %s", name->text,
                       type_of_other_languages(name->text));
    } else {
        vy_parser_fail(p, p->token.loc,
                       "'%.64s' is no type. Fix: write one, such as u32, f32 or f32x4", name->text);
    }
    return VYRE_TYPE_VOID;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static vyre_result check_arguments(const char *text, size_t size, vyre_program **out_program,
                                   vyre_diag *diag)
{
    if (!out_program || (!text && size > 0)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "no text or no place for the program. Fix: pass both");
    }
    if (size > VYRE_MAX_SOURCE) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){0, 0},
                           "the text has %zu bytes, more than %zu. Fix: split the program, or bind "
                           "large tables as buffers",
                           size, VYRE_MAX_SOURCE);
    }
    return VYRE_OK;
}

static vyre_result parse(vy_parser *p, vyre_program **out_program, vyre_diag *diag)
{
    vy_parse_items(p);
    if (p->arena.failed) {
        return vy_diag_no_memory(diag);
    }
    if (p->lexer.failed && !p->builder_failed_first) {
        if (diag) {
            *diag = p->lexer.error;
        }
        return p->lexer.error.code;
    }
    if (p->builder && !p->has_clash) {
        p->builder->names = VY_NAMES_CHECKED;
    }
    return vyre_builder_finish(&p->builder, out_program, diag);
}

/* For debuggers. */
static vyre_result keep_text(vyre_program **program, const char *text, size_t size,
                             const char *name, vyre_diag *diag)
{
    vyre_program *p = *program;
    p->text = vy_arena_text(&p->arena, text, size);
    p->text_size = size;
    if (name) {
        const char *last = strrchr(name, '/');
        last = last ? last + 1 : name;
        p->file = vy_arena_text(&p->arena, last, strlen(last));
    }
    if (!p->text || (name && !p->file)) {
        vyre_program_destroy(program);
        return vy_diag_no_memory(diag);
    }
    return VYRE_OK;
}

vyre_result vyre_program_parse(const char *text, size_t size, const char *file_name,
                               const vyre_allocator *allocator, vyre_program **out_program,
                               vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (out_program) {
        *out_program = NULL;
    }
    vyre_result result = check_arguments(text, size, out_program, diag);
    if (result == VYRE_OK) {
        vy_parser p = {.memory = allocator};
        vy_arena_init(&p.arena, allocator);
        if (vy_names_init(&p.names, &p.arena)) {
            vy_lexer_init(&p.lexer, text, size, &p.names);
            result = parse(&p, out_program, diag);
            if (result == VYRE_OK) {
                result = keep_text(out_program, text, size, file_name, diag);
            }
        } else {
            result = vy_diag_no_memory(diag);
        }
        vyre_builder_destroy(&p.builder);
        vy_arena_finish(&p.arena);
    }
    if (diag && result != VYRE_OK && file_name) {
        snprintf(diag->file, sizeof diag->file, "%s", file_name);
    }
    return result;
}

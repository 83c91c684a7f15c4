/* See listing.h. */
#include "tools/vyre-spv/listing.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#define MOST_IDS 4194303u
#define SEED     0x9e3779b97f4a7c15u

static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    }
    return hash ^ hash >> 29;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * SEED;
    return hash ^ hash >> 32;
}

bool token_is(const token *t, const char *text)
{
    return strlen(text) == t->length && memcmp(t->text, text, t->length) == 0;
}

/* ---- Cutting --------------------------------------------------------------------------------- */

/* The end of a token: a blank, or the end of a line, outside of quotes. */
static const char *token_end(const char *at)
{
    bool is_quoted = false;
    for (; *at && (is_quoted || (*at != ' ' && *at != '\n')); at++) {
        if (*at == '\\' && is_quoted && at[1]) {
            at++;
        } else if (*at == '"') {
            is_quoted = !is_quoted;
        }
    }
    return at;
}

static uint32_t id_of(const token *t)
{
    uint32_t id = 0;
    for (uint32_t i = 1; i < t->length; i++) {
        if (t->text[i] < '0' || t->text[i] > '9' || id > MOST_IDS) {
            return 0;
        }
        id = 10 * id + (uint32_t)(t->text[i] - '0');
    }
    return t->length > 1 && t->text[0] == '%' ? id : 0;
}

/* The lines of the assembly beside the instructions of the words. */
static void cut(listing *l)
{
    const module *m = &l->plain;
    const char *at = l->text.data ? l->text.data : "";
    for (size_t word = 5; word < m->count && *at; word += m->words[word] >> 16) {
        line made = {.first = l->tokens.count,
                     .opcode = m->words[word] & 0xffffu,
                     .words = m->words[word] >> 16};
        while (*at && *at != '\n') {
            if (*at == ' ') {
                at++;
                continue;
            }
            const char *end = token_end(at);
            token t = {at, (uint32_t)(end - at), 0};
            t.id = id_of(&t);
            t.id = t.id < l->bound ? t.id : 0;
            (void)vy_vec_push(&l->arena, &l->tokens, t);
            made.count++;
            at = end;
        }
        at += *at == '\n';
        if (l->arena.failed) {
            return;
        }
        if (made.count > 2 && token_is(token_of(l, &made, 1), "=")) {
            made.result = token_of(l, &made, 0)->id;
            made.place = 2;
        }
        (void)vy_vec_push(&l->arena, &l->lines, made);
    }
}

/* The same words as people read them: token by token. */
static void take_names(listing *l)
{
    const char *at = l->friendly.data ? l->friendly.data : "";
    for (uint32_t i = 0; i < l->tokens.count; i++) {
        at += strspn(at, " \n");
        const char *end = token_end(at);
        uint32_t id = l->tokens.data[i].id;
        if (id) {
            l->names[id] = (token){at, (uint32_t)(end - at), id};
        }
        at = end;
    }
}

/* ---- What is no part of it ------------------------------------------------------------------- */

static bool is_import_of(const listing *l, const line *at, const char *name)
{
    return at->opcode == SpvOpExtInstImport && at->count > 3 && token_is(token_of(l, at, 3), name);
}

static bool is_about_text(uint32_t opcode)
{
    switch (opcode) {
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpSource:
    case SpvOpSourceContinued:
    case SpvOpSourceExtension:
    case SpvOpModuleProcessed:
        return true;
    default:
        return false;
    }
}

/* Strings that nothing else names, and with debug information (set) constants that only it has, and
 * its extension. */
static void ignore_unused(listing *l, uint32_t set, bool is_other_set)
{
    bool *is_used = vy_arena_alloc(&l->arena, (size_t)l->bound + 1, sizeof *is_used);
    if (!is_used) {
        return;
    }
    for (uint32_t i = 0; i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        for (uint32_t k = at->place; k < at->count && !at->is_ignored; k++) {
            is_used[token_of(l, at, k)->id] = true;
        }
    }
    for (uint32_t i = 0; i < l->lines.count; i++) {
        line *at = &l->lines.data[i];
        bool is_plain = at->opcode == SpvOpString || (set && at->opcode == SpvOpConstant);
        bool is_extension = at->opcode == SpvOpExtension && at->count > 1 &&
                            token_is(token_of(l, at, 1), "\"SPV_KHR_non_semantic_info\"");
        at->is_ignored |=
            (is_plain && !is_used[at->result]) || (set && is_extension && !is_other_set);
    }
}

static void ignore(listing *l)
{
    uint32_t set = 0;
    bool is_other_set = false;
    for (uint32_t i = 0; i < l->lines.count; i++) {
        line *at = &l->lines.data[i];
        at->is_ignored = is_about_text(at->opcode);
        if (is_import_of(l, at, "\"NonSemantic.Shader.DebugInfo.100\"")) {
            set = at->result;
            at->is_ignored = true;
        } else if (at->opcode == SpvOpExtInstImport && at->count > 3) {
            is_other_set |= strncmp(token_of(l, at, 3)->text, "\"NonSemantic.", 13) == 0;
        } else if (at->opcode == SpvOpExtInst && set && at->count > 4) {
            at->is_ignored = token_of(l, at, 4)->id == set;
        }
    }
    ignore_unused(l, set, is_other_set);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool is_decoration(uint32_t opcode)
{
    return opcode == SpvOpDecorate || opcode == SpvOpMemberDecorate || opcode == SpvOpDecorateId ||
           opcode == SpvOpDecorateString || opcode == SpvOpMemberDecorateString;
}

/* In any order. */
static void take_decorations(listing *l)
{
    for (uint32_t i = 0; i < l->lines.count; i++) {
        line *at = &l->lines.data[i];
        if (!is_decoration(at->opcode) || at->count < 3) {
            continue;
        }
        uint64_t hash = SEED;
        for (uint32_t k = 2; k < at->count; k++) {
            const token *t = token_of(l, at, k);
            hash = hash_text(hash_number(hash, k), t->text, t->length);
        }
        l->decorations[token_of(l, at, 1)->id] += hash;
        at->is_ignored = true; /* shown with what it decorates */
    }
}

static void number_functions(listing *l)
{
    uint32_t now = 0, named = 0;
    for (uint32_t i = 0; i < l->lines.count; i++) {
        line *at = &l->lines.data[i];
        l->function_count += at->opcode == SpvOpFunction;
        now = at->opcode == SpvOpFunction ? l->function_count : now;
        at->function = now;
        now = at->opcode == SpvOpFunctionEnd ? 0 : now;
    }
    l->functions = vy_arena_alloc(&l->arena, l->function_count + 1u, sizeof *l->functions);
    uint32_t *of_id = vy_arena_alloc(&l->arena, (size_t)l->bound + 1, sizeof *of_id);
    for (uint32_t i = 0; l->functions && of_id && i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        if (at->opcode == SpvOpFunction && at->result) {
            of_id[at->result] = at->function;
        }
    }
    for (uint32_t i = 0; l->functions && of_id && i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        uint32_t function =
            at->opcode == SpvOpName && at->count > 2 ? of_id[token_of(l, at, 1)->id] : 0;
        if (function) {
            const token *name = token_of(l, at, 2);
            named += l->functions[function] == 0;
            l->functions[function] = hash_text(SEED, name->text, name->length);
        }
    }
    l->has_names = named == l->function_count;
}

static void take_functions(listing *l, bool by_names)
{
    for (uint32_t i = 0; i < l->lines.count; i++) {
        const line *at = &l->lines.data[i];
        if (at->opcode == SpvOpFunction && at->result) {
            uint64_t *key = &l->functions[at->function];
            *key = by_names ? *key : hash_number(SEED, at->function);
            l->keys[at->result] = *key;
        }
    }
}

/* Interfaces of entry points stand in any order. */
static uint64_t key_of(const listing *l, const line *at, bool by_values)
{
    uint64_t hash = hash_number(SEED, at->opcode), sum = 0;
    for (uint32_t k = at->place + 1; k < at->count; k++) {
        const token *t = token_of(l, at, k);
        uint64_t known = t->id ? l->keys[t->id] : 0;
        uint64_t value = t->id && !known && by_values ? l->values[t->id] : known;
        if (at->opcode == SpvOpEntryPoint && t->id) {
            sum += value * SEED;
        } else if (t->id) {
            hash = hash_number(hash_number(hash, k), value);
        } else {
            hash = hash_text(hash_number(hash, k), t->text, t->length);
        }
    }
    hash = hash_number(hash, sum);
    return at->result ? hash_number(hash, l->decorations[at->result]) : hash;
}

/* Before their definition phis, labels and values of loops are known by their kind alone. */
void make_keys(listing *l, bool by_names)
{
    take_functions(l, by_names);
    for (uint32_t i = 0; i < l->lines.count; i++) {
        line *at = &l->lines.data[i];
        if (at->is_ignored) {
            continue;
        }
        bool is_open = at->opcode == SpvOpPhi || at->opcode == SpvOpLabel;
        at->shape = key_of(l, at, false);
        at->key = is_open ? at->shape : key_of(l, at, true);
        if (at->result && at->function && at->opcode != SpvOpFunction) {
            l->values[at->result] = at->key;
        } else if (at->result && !at->function) {
            l->keys[at->result] = at->shape;
        }
    }
}

vyre_result make_listing(const module *m, listing *l, vyre_diag *diag)
{
    *l = (listing){.bound = m->words[3] < MOST_IDS ? m->words[3] : MOST_IDS};
    vy_arena_init(&l->arena, NULL);
    vy_text_init(&l->text, NULL);
    vy_text_init(&l->friendly, NULL);
    vyre_result result = drop_repeated_names(m, &l->plain, diag);
    if (result == VYRE_OK) {
        result = disassemble_plainly(&l->plain, false, &l->text, diag);
    }
    if (result == VYRE_OK) {
        result = disassemble_plainly(&l->plain, true, &l->friendly, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    size_t ids = (size_t)l->bound + 1;
    l->names = vy_arena_alloc(&l->arena, ids, sizeof *l->names);
    l->keys = vy_arena_alloc(&l->arena, ids, sizeof *l->keys);
    l->values = vy_arena_alloc(&l->arena, ids, sizeof *l->values);
    l->decorations = vy_arena_alloc(&l->arena, ids, sizeof *l->decorations);
    l->pairs = vy_arena_alloc(&l->arena, ids, sizeof *l->pairs);
    if (!l->arena.failed) {
        cut(l);
    }
    if (!l->arena.failed) {
        take_names(l);
        ignore(l);
        take_decorations(l);
        number_functions(l);
    }
    bool failed = l->arena.failed || l->text.failed || l->friendly.failed;
    return failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

void finish_listing(listing *l)
{
    free(l->plain.owned);
    vy_text_finish(&l->text);
    vy_text_finish(&l->friendly);
    vy_arena_finish(&l->arena);
}

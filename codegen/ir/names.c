/* The names of a text: an open hash table, filled with the words of the language first. */
#include "codegen/ir/names.h"

#include "codegen/ir/ops.h"

#include <string.h>

#define FIRST_SLOT_COUNT   1024u
#define MAX_SIMILAR_LENGTH 32u

static const char *const reserved_words[] = {
#define VY_X(name, text) text,
    VY_RESERVED_WORDS(VY_X)
#undef VY_X
};
static const char *const free_words[] = {
#define VY_X(name, text) text,
    VY_FREE_WORDS(VY_X)
#undef VY_X
};
static const struct {
    const char *text;
    vyre_builtin first;
    uint8_t components;
} builtin_words[] = {{"gid", VYRE_BUILTIN_GID_X, 3},
                     {"lid", VYRE_BUILTIN_LID_X, 3},
                     {"wid", VYRE_BUILTIN_WID_X, 3},
                     {"group_size", VYRE_BUILTIN_GROUP_SIZE_X, 3},
                     {"num_groups", VYRE_BUILTIN_NUM_GROUPS_X, 3},
                     {"pass", VYRE_BUILTIN_PASS, 0},
                     {"lane", VYRE_BUILTIN_LANE, 0},
                     {"lanes", VYRE_BUILTIN_LANES, 0}};

static bool grow(vy_names *names)
{
    uint32_t slot_count = names->slot_count ? names->slot_count * 2 : FIRST_SLOT_COUNT;
    vy_name **slots = slot_count ? vy_arena_alloc(names->arena, slot_count, sizeof *slots) : NULL;
    if (!slots) {
        names->arena->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < names->slot_count; i++) {
        if (names->slots[i]) {
            uint32_t at = (uint32_t)names->slots[i]->hash & (slot_count - 1);
            while (slots[at]) {
                at = (at + 1) & (slot_count - 1);
            }
            slots[at] = names->slots[i];
        }
    }
    names->slots = slots;
    names->slot_count = slot_count;
    return true;
}

/* Of a name that is longer than what can be packed. */
static uint64_t hash_of_long(const char *text, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < length; i++) {
        hash = hash * 67 + (unsigned char)text[i];
    }
    return hash;
}

vy_name *vy_names_intern(vy_names *names, const char *text, size_t length, uint64_t packed)
{
    const bool is_long = length > VY_PACKED_NAME;
    if (names->count >= names->slot_count / 2 && !grow(names)) {
        return NULL;
    }
    /* Different ones of what is packed stay different. */
    uint64_t hash = (is_long ? hash_of_long(text, length) : packed) * VY_HASH_MULTIPLIER;
    hash ^= hash >> 32;
    uint32_t at = (uint32_t)hash & (names->slot_count - 1);
    for (; names->slots[at]; at = (at + 1) & (names->slot_count - 1)) {
        vy_name *entry = names->slots[at];
        if (entry->hash == hash && entry->length == length &&
            (!is_long || memcmp(entry->text, text, length) == 0)) {
            return entry;
        }
    }
    /* With its text behind it. */
    vy_name *entry = vy_arena_alloc(names->arena, 1, sizeof *entry + length + 1);
    if (!entry) {
        return NULL;
    }
    char *copy = (char *)(entry + 1);
    memcpy(copy, text, length);
    entry->text = copy;
    entry->length = (uint32_t)length;
    entry->hash = hash;
    names->slots[at] = entry;
    names->count++;
    return entry;
}

/* False when out of memory. A text that has a meaning already keeps it. */
static bool enter(vy_names *names, const char *text, vy_symbol_kind symbol, uint32_t ref,
                  vy_word word, uint8_t components)
{
    uint64_t packed = 0;
    size_t length = 0;
    for (; text[length]; length++) {
        packed = vy_name_pack(packed, text[length]);
    }
    vy_name *entry = vy_names_intern(names, text, length, packed);
    if (entry && entry->symbol == VY_SYMBOL_NONE && entry->word == VY_WORD_NONE) {
        entry->symbol = (uint8_t)symbol;
        entry->ref = ref;
        entry->word = (uint8_t)word;
        entry->components = components;
    }
    return entry != NULL;
}

static bool enter_operators(vy_names *names)
{
    bool ok = true;
    for (uint32_t type = VYRE_TYPE_VOID; type < VYRE_TYPE_COUNT; type++) {
        ok &=
            enter(names, vyre_type_keyword((vyre_type)type), VY_SYMBOL_TYPE, type, VY_WORD_NONE, 0);
    }
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        if (info->form == VY_FORM_CALL) {
            ok &= enter(names, info->text, VY_SYMBOL_OPERATOR, op, VY_WORD_NONE, 0);
        }
    }
    for (uint32_t atomic = 0; atomic < VYRE_ATOMIC_COUNT; atomic++) {
        ok &= enter(names, vy_atomic_text((vyre_atomic)atomic), VY_SYMBOL_ATOMIC, atomic,
                    VY_WORD_NONE, 0);
    }
    for (uint32_t op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        ok &= enter(names, vy_subgroup_get((vyre_subgroup)op)->text, VY_SYMBOL_SUBGROUP, op,
                    VY_WORD_NONE, 0);
    }
    return ok;
}

bool vy_names_init(vy_names *names, vy_arena *arena)
{
    *names = (vy_names){.arena = arena};
    bool ok = true;
    uint32_t word = VY_WORD_NONE + 1;
    for (size_t i = 0; i < VY_COUNT_OF(reserved_words); i++) {
        ok &= enter(names, reserved_words[i], VY_SYMBOL_WORD, 0, (vy_word)word++, 0);
    }
    for (size_t i = 0; i < VY_COUNT_OF(free_words); i++) {
        ok &= enter(names, free_words[i], VY_SYMBOL_NONE, 0, (vy_word)word++, 0);
    }
    for (size_t i = 0; i < VY_COUNT_OF(builtin_words); i++) {
        ok &= enter(names, builtin_words[i].text, VY_SYMBOL_BUILTIN, builtin_words[i].first,
                    VY_WORD_NONE, builtin_words[i].components);
    }
    return enter_operators(names) && ok;
}

/* Insertions, deletions, replacements and swaps of neighbours between two texts of at most
 * MAX_SIMILAR_LENGTH bytes; case does not count. */
static uint32_t edit_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    uint8_t rows[3][MAX_SIMILAR_LENGTH + 1];
    for (uint32_t j = 0; j <= b_length; j++) {
        rows[0][j] = (uint8_t)j;
    }
    for (uint32_t i = 1; i <= a_length; i++) {
        uint8_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *twice = rows[(i + 1) % 3];
        row[0] = (uint8_t)i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t best = above[j - 1] + ((a[i - 1] | 0x20) != (b[j - 1] | 0x20) ? 1u : 0u);
            best = best < above[j] + 1u ? best : above[j] + 1u;
            best = best < row[j - 1] + 1u ? best : row[j - 1] + 1u;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                twice[j - 2] + 1u < best) {
                best = twice[j - 2] + 1u;
            }
            row[j] = (uint8_t)best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *vy_names_similar(const vy_names *names, const char *text, size_t length)
{
    if (length < 2 || length > MAX_SIMILAR_LENGTH) {
        return NULL;
    }
    const vy_name *best = NULL;
    uint32_t best_distance = (uint32_t)length / 3 + 1;
    for (uint32_t i = 0; i < names->slot_count; i++) {
        const vy_name *entry = names->slots[i];
        if (!entry || entry->symbol == VY_SYMBOL_NONE || entry->length > MAX_SIMILAR_LENGTH ||
            entry->length < 2 ||
            (entry->length == length && memcmp(entry->text, text, length) == 0)) {
            continue;
        }
        uint32_t distance = edit_distance(text, (uint32_t)length, entry->text, entry->length);
        /* Ties go to the program's own names, then to the alphabet: never to the hash order. */
        bool own = entry->symbol >= VY_SYMBOL_BUFFER;
        bool best_own = best && best->symbol >= VY_SYMBOL_BUFFER;
        if (distance < best_distance ||
            (distance == best_distance && best &&
             (own > best_own || (own == best_own && strcmp(entry->text, best->text) < 0)))) {
            best = entry;
            best_distance = distance;
        }
    }
    return best ? best->text : NULL;
}

const char *vy_symbol_kind_text(vy_symbol_kind kind)
{
    switch (kind) {
    case VY_SYMBOL_NONE:
        break;
    case VY_SYMBOL_WORD:
        return "word of the language";
    case VY_SYMBOL_TYPE:
        return "type";
    case VY_SYMBOL_BUILTIN:
        return "built-in value";
    case VY_SYMBOL_OPERATOR:
    case VY_SYMBOL_ATOMIC:
    case VY_SYMBOL_SUBGROUP:
        return "built-in function";
    case VY_SYMBOL_BUFFER:
        return "buffer";
    case VY_SYMBOL_PARAM:
        return "param";
    case VY_SYMBOL_CONSTANT:
        return "constant";
    case VY_SYMBOL_TABLE:
        return "table";
    case VY_SYMBOL_FUNCTION:
        return "function";
    case VY_SYMBOL_LET:
        return "let";
    case VY_SYMBOL_INDEX:
        return "loop index";
    case VY_SYMBOL_ARGUMENT:
        return "parameter";
    case VY_SYMBOL_VAR:
        return "var";
    case VY_SYMBOL_ARRAY:
        return "array";
    }
    return "name";
}

bool vy_name_is_plain(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length == 0 || length > VYRE_MAX_NAME || (text[0] >= '0' && text[0] <= '9')) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_')) {
            return false;
        }
    }
    return true;
}

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Words that a name may be ---------------------------------------------------------------- */

static uint32_t shape_of(const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    uint32_t last = length ? (unsigned char)text[length - 1] : 0;
    return ((unsigned char)text[0] * 31u + last * 257u + length * 1031u) & 4095;
}

static void add_word(vy_word_shapes *out, const char *text)
{
    uint32_t shape = shape_of(text);
    out->bits[shape / 64] |= (uint64_t)1 << shape % 64;
}

void vy_word_shapes_find(vy_word_shapes *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < VY_COUNT_OF(reserved_words); i++) {
        add_word(out, reserved_words[i]);
    }
    for (size_t i = 0; i < VY_COUNT_OF(builtin_words); i++) {
        add_word(out, builtin_words[i].text);
    }
    for (uint32_t type = VYRE_TYPE_VOID; type < VYRE_TYPE_COUNT; type++) {
        add_word(out, vyre_type_keyword((vyre_type)type));
    }
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        add_word(out, vy_op_get((vyre_op)op)->text);
    }
    for (uint32_t atomic = 0; atomic < VYRE_ATOMIC_COUNT; atomic++) {
        add_word(out, vy_atomic_text((vyre_atomic)atomic));
    }
    for (uint32_t op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        add_word(out, vy_subgroup_get((vyre_subgroup)op)->text);
    }
}

bool vy_word_shapes_has(const vy_word_shapes *shapes, const char *text)
{
    uint32_t shape = shape_of(text);
    return (shapes->bits[shape / 64] >> shape % 64 & 1) != 0;
}

bool vy_name_is_free(const char *text)
{
    if (!vy_name_is_plain(text) || is_one_of(text, reserved_words, VY_COUNT_OF(reserved_words)) ||
        vy_subgroup_find(text, strlen(text)) != VYRE_SUBGROUP_COUNT ||
        vy_op_find_call(text, strlen(text)) != VYRE_OP_NONE) {
        return false;
    }
    for (size_t i = 0; i < VY_COUNT_OF(builtin_words); i++) {
        if (strcmp(text, builtin_words[i].text) == 0) {
            return false;
        }
    }
    for (uint32_t type = VYRE_TYPE_VOID; type < VYRE_TYPE_COUNT; type++) {
        if (strcmp(text, vyre_type_keyword((vyre_type)type)) == 0) {
            return false;
        }
    }
    for (uint32_t atomic = 0; atomic < VYRE_ATOMIC_COUNT; atomic++) {
        if (strcmp(text, vy_atomic_text((vyre_atomic)atomic)) == 0) {
            return false;
        }
    }
    return true;
}

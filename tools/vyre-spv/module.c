/* SPIR-V modules as words, which need not be trusted: read, checked, counted. */
#include "tools/vyre-spv/spv.h"

#include "codegen/kernel.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

static uint32_t word_at(const char *bytes, bool is_big)
{
    const unsigned char *at = (const unsigned char *)bytes;
    return is_big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
                  : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

bool is_spirv(const char *bytes, size_t size)
{
    return size >= 4 &&
           (word_at(bytes, false) == SpvMagicNumber || word_at(bytes, true) == SpvMagicNumber);
}

vyre_result check_module(const uint32_t *words, size_t count, vyre_diag *diag)
{
    vy_loc nowhere = {0, 0};
    if (count < 5 || words[0] != SpvMagicNumber) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the SPIR-V module ends in its header. Fix: give a whole module");
    }
    for (size_t at = 5; at < count;) {
        uint32_t length = words[at] >> 16;
        if (length == 0 || length > count - at) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                               "the SPIR-V instruction at word %zu has a length of %u words, and "
                               "%zu are left. Fix: give a whole module",
                               at, length, count - at);
        }
        at += length;
    }
    return VYRE_OK;
}

vyre_result read_module(const char *bytes, size_t size, module *out_module, vyre_diag *diag)
{
    *out_module = (module){0};
    if (size % 4) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the SPIR-V file has %zu bytes, which are no words of 4. Fix: give a "
                           "whole module",
                           size);
    }
    bool is_big = word_at(bytes, true) == SpvMagicNumber;
    uint32_t *words = malloc(size);
    if (!words) {
        return vy_diag_no_memory(diag);
    }
    for (size_t i = 0; i < size / 4; i++) {
        words[i] = word_at(bytes + i * 4, is_big);
    }
    vyre_result result = check_module(words, size / 4, diag);
    if (result != VYRE_OK) {
        free(words);
        return result;
    }
    out_module->words = out_module->owned = words;
    out_module->count = size / 4;
    return VYRE_OK;
}

/* Whether an OpName of that text is new; the table has places of such, and room. */
static bool is_new_name(const module *m, size_t *table, size_t mask, size_t at)
{
    const uint32_t *words = m->words + at;
    size_t size = ((words[0] >> 16) - 2) * sizeof *words;
    uint64_t hash = 0;
    for (uint32_t i = 2; i < words[0] >> 16; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    size_t slot = (size_t)hash & mask;
    for (; table[slot]; slot = (slot + 1) & mask) {
        const uint32_t *other = m->words + table[slot];
        if (other[0] == words[0] && memcmp(other + 2, words + 2, size) == 0) {
            return false;
        }
    }
    table[slot] = at;
    return true;
}

vyre_result drop_repeated_names(const module *m, module *out, vyre_diag *diag)
{
    size_t names = 0, capacity = 16;
    for (size_t at = 5; at < m->count; at += m->words[at] >> 16) {
        names += (m->words[at] & 0xffffu) == SpvOpName;
    }
    while (capacity < 2 * names) {
        capacity *= 2;
    }
    size_t *table = calloc(capacity, sizeof *table);
    *out = *m;
    out->words = out->owned = malloc(m->count * sizeof *out->owned);
    if (!table || !out->owned) {
        free(table);
        free(out->owned);
        out->words = out->owned = NULL;
        return vy_diag_no_memory(diag);
    }
    memcpy(out->owned, m->words, 5 * sizeof *m->words);
    out->count = 5;
    for (size_t at = 5; at < m->count; at += m->words[at] >> 16) {
        size_t length = m->words[at] >> 16;
        bool is_name = (m->words[at] & 0xffffu) == SpvOpName && length > 2;
        if (!is_name || is_new_name(m, table, capacity - 1, at)) {
            memcpy(out->owned + out->count, m->words + at, length * sizeof *m->words);
            out->count += length;
        }
    }
    free(table);
    return VYRE_OK;
}

/* What --stats counts, by opcode. */
static const struct {
    SpvOp first, last;
    const char *name;
} classes[] = {
    {SpvOpFunction, SpvOpFunction, "functions"},
    {SpvOpLabel, SpvOpLabel, "blocks"},
    {SpvOpPhi, SpvOpPhi, "phis"},
    {SpvOpLoopMerge, SpvOpLoopMerge, "loops"},
    {SpvOpSelectionMerge, SpvOpSelectionMerge, "selections"},
    {SpvOpLoad, SpvOpLoad, "loads"},
    {SpvOpStore, SpvOpStore, "stores"},
    {SpvOpAtomicLoad, SpvOpAtomicXor, "atomics"},
    {SpvOpAtomicFAddEXT, SpvOpAtomicFAddEXT, "float atomics"},
    {SpvOpGroupNonUniformElect, SpvOpGroupNonUniformQuadSwap, "subgroup operations"},
    {SpvOpControlBarrier, SpvOpControlBarrier, "barriers"},
    {SpvOpFunctionCall, SpvOpFunctionCall, "calls"},
};

const char *class_name(uint32_t i)
{
    return i < VY_COUNT_OF(classes) ? classes[i].name : NULL;
}

bool class_has(uint32_t i, uint32_t opcode)
{
    return opcode >= (uint32_t)classes[i].first && opcode <= (uint32_t)classes[i].last;
}

/* Widths of the number types that a module declares, as bits 1 << width / 8. */
typedef struct widths {
    uint32_t integers, floats;
} widths;

static void note_type(const uint32_t *words, widths *out)
{
    uint32_t opcode = words[0] & 0xffffu, length = words[0] >> 16;
    if (length >= 3 && (words[2] == 8 || words[2] == 16 || words[2] == 32 || words[2] == 64)) {
        out->integers |= opcode == SpvOpTypeInt ? 1u << words[2] / 8 : 0;
        out->floats |= opcode == SpvOpTypeFloat ? 1u << words[2] / 8 : 0;
    }
}

static void print_widths(const char *name, uint32_t set, FILE *out)
{
    bool is_first = true;
    for (uint32_t width = 8; width <= 64; width *= 2) {
        if (set >> width / 8 & 1) {
            fprintf(out, is_first ? ", %s of %u" : "%s and %u", is_first ? name : "", width);
            is_first = false;
        }
    }
    fprintf(out, "%s", set ? " bits" : "");
}

void print_stats(const module *m, FILE *out)
{
    uint32_t counts[VY_COUNT_OF(classes)] = {0}, total = 0;
    widths types = {0};
    for (size_t at = 5; at < m->count; at += m->words[at] >> 16) {
        uint32_t opcode = m->words[at] & 0xffffu;
        total++;
        note_type(&m->words[at], &types);
        for (uint32_t i = 0; i < VY_COUNT_OF(classes); i++) {
            counts[i] += class_has(i, opcode);
        }
    }
    fprintf(out, "%s: SPIR-V %u.%u, %zu words, %u instructions", m->name, m->words[1] >> 16 & 0xff,
            m->words[1] >> 8 & 0xff, m->count, total);
    for (size_t i = 0; i < VY_COUNT_OF(classes); i++) {
        if (counts[i]) {
            fprintf(out, ", %u %s", counts[i], classes[i].name);
        }
    }
    print_widths("integers", types.integers, out);
    print_widths("floats", types.floats, out);
    fputc('\n', out);
}

void print_lowerings(const vyre_kernel *kernel, FILE *out)
{
    const char *lowering;
    for (uint32_t i = 0; (lowering = vy_kernel_lowering(kernel, i)) != NULL; i++) {
        fprintf(out, "%s: lowered: %s\n", vyre_kernel_name(kernel), lowering);
    }
}

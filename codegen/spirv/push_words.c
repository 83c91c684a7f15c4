/* Which words of the push constants a module reads, from its own words: chains of accesses into the
 * one variable of that storage class. */
#include "codegen/spirv/interface.h"
#include "codegen/spirv/spirv.h"

#include <spirv/unified1/spirv.h>

#define HEADER_WORDS 5u

typedef struct vy_module_words {
    const uint32_t *words;
    uint32_t count;
} vy_module_words;

/* The next instruction from *at with that opcode whose word `place` is `value` (place 0: any);
 * *at is behind it then. */
static const uint32_t *find_next(const vy_module_words *m, uint32_t *at, uint32_t opcode,
                                 uint32_t place, uint32_t value)
{
    while (*at < m->count) {
        const uint32_t *ins = m->words + *at;
        uint32_t length = ins[0] >> 16;
        if (length == 0 || length > m->count - *at) {
            *at = m->count;
            return NULL;
        }
        *at += length;
        if ((ins[0] & 0xffffu) == opcode && place < length && (place == 0 || ins[place] == value)) {
            return ins;
        }
    }
    return NULL;
}

static const uint32_t *find(const vy_module_words *m, uint32_t opcode, uint32_t place,
                            uint32_t value)
{
    uint32_t at = HEADER_WORDS;
    return find_next(m, &at, opcode, place, value);
}

static bool constant_of(const vy_module_words *m, uint32_t id, uint32_t *out_value)
{
    const uint32_t *ins = find(m, SpvOpConstant, 2, id);
    *out_value = ins ? ins[3] : 0;
    return ins != NULL;
}

/* Bytes from the block's start to a member; false where the module does not say. */
static bool offset_of(const vy_module_words *m, uint32_t block, uint32_t member,
                      uint32_t *out_offset)
{
    uint32_t at = HEADER_WORDS;
    const uint32_t *ins;
    while ((ins = find_next(m, &at, SpvOpMemberDecorate, 1, block)) != NULL) {
        if (ins[0] >> 16 == 5 && ins[2] == member && ins[3] == SpvDecorationOffset) {
            *out_offset = ins[4];
            return true;
        }
    }
    return false;
}

uint32_t vy_spirv_push_words(const uint32_t *words, uint32_t word_count)
{
    const uint32_t all = (1u << VY_PUSH_SIZE / 4) - 1;
    vy_module_words m = {words, word_count};
    const uint32_t *variable = find(&m, SpvOpVariable, 3, SpvStorageClassPushConstant);
    if (!variable) {
        return 0;
    }
    const uint32_t *pointer = find(&m, SpvOpTypePointer, 1, variable[1]);
    uint32_t mask = 0, at = HEADER_WORDS;
    const uint32_t *chain;
    while ((chain = find_next(&m, &at, SpvOpAccessChain, 3, variable[2])) != NULL) {
        uint32_t length = chain[0] >> 16, member = 0, offset = 0, index = 0;
        if (!pointer || length < 5 || !constant_of(&m, chain[4], &member) ||
            !offset_of(&m, pointer[3], member, &offset) ||
            (length > 5 && !constant_of(&m, chain[5], &index)) ||
            offset / 4 + index >= VY_PUSH_SIZE / 4) {
            return all;
        }
        mask |= 1u << (offset / 4 + index);
    }
    return mask;
}

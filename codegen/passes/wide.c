/* See wide.h. */
#include "codegen/passes/wide.h"

static uint32_t size_of(const vy_ssa *ssa, uint32_t buffer)
{
    return vyre_type_size((vyre_type)ssa->program->buffers.data[buffer].type);
}

uint32_t vy_wide_element_size(const vyre_program *program, uint32_t buffer, uint32_t most)
{
    vyre_type type = (vyre_type)program->buffers.data[buffer].type;
    uint32_t size = vyre_type_size(type);
    uint32_t components = vy_type_components(type);
    bool is_whole = components == 1 || size == 8 || (components == 4 && size == VY_WIDE_SIZE);
    bool is_part = program->buffers.data[buffer].mode != VYRE_BUFFER_SHARED && size <= most;
    return is_part && is_whole ? size : 0;
}

static uint32_t word_count(const vy_ssa *ssa, const vy_wide *wide)
{
    return size_of(ssa, wide->buffer) * wide->lanes / (uint32_t)sizeof(uint32_t);
}

static uint8_t type_of_words(uint32_t words)
{
    return (uint8_t)(words == 1 ? VYRE_TYPE_U32 : words == 2 ? VYRE_TYPE_U32X2 : VYRE_TYPE_U32X4);
}

uint32_t vy_wide_load(vy_ssa *ssa, uint32_t block, uint32_t after, const vy_wide *wide,
                      uint32_t *out_elements)
{
    vyre_type element = (vyre_type)ssa->program->buffers.data[wide->buffer].type;
    vy_ins load = {.op = VY_SSA_LOAD_WIDE,
                   .type = type_of_words(word_count(ssa, wide)),
                   .ref = wide->buffer,
                   .arg = {wide->index},
                   .loc = wide->loc};
    uint32_t words = vy_ssa_insert(ssa, block, after, load);
    after = words;
    for (uint32_t k = 0; k < wide->lanes; k++) {
        vy_ins unpack = {.op = VY_SSA_UNPACK,
                         .type = (uint8_t)vy_element_value_type(element),
                         .ref = wide->buffer,
                         .bits = k,
                         .arg = {words},
                         .loc = wide->loc};
        after = out_elements[k] = vy_ssa_insert(ssa, block, after, unpack);
    }
    return after;
}

static vy_ins pack_word(const vy_ssa *ssa, const vy_wide *wide, const uint32_t *elements,
                        uint32_t word)
{
    uint32_t size = size_of(ssa, wide->buffer);
    vy_ins pack = {.op = VY_SSA_PACK, .type = VYRE_TYPE_U32, .ref = wide->buffer, .loc = wide->loc};
    if (size > sizeof(uint32_t)) {
        uint32_t each = size / (uint32_t)sizeof(uint32_t);
        pack.arg[0] = elements[word / each];
        pack.bits = word % each;
    } else {
        uint32_t count = (uint32_t)sizeof(uint32_t) / size;
        for (uint32_t i = 0; i < count; i++) {
            pack.arg[i] = elements[word * count + i];
        }
    }
    return pack;
}

uint32_t vy_wide_store(vy_ssa *ssa, uint32_t block, uint32_t after, const vy_wide *wide,
                       const uint32_t *elements)
{
    uint32_t words = word_count(ssa, wide);
    vy_ins compose = {.op = VY_SSA_COMPOSE, .type = type_of_words(words), .loc = wide->loc};
    for (uint32_t w = 0; w < words; w++) {
        vy_ins pack = pack_word(ssa, wide, elements, w);
        after = compose.arg[w] = vy_ssa_insert(ssa, block, after, pack);
    }
    if (words > 1) {
        after = vy_ssa_insert(ssa, block, after, compose);
    }
    vy_ins store = {.op = VY_SSA_STORE_WIDE,
                    .type = VYRE_TYPE_VOID,
                    .ref = wide->buffer,
                    .arg = {wide->index, after},
                    .loc = wide->loc};
    return vy_ssa_insert(ssa, block, after, store);
}

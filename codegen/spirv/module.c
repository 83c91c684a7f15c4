/* Sections, decorations, instructions of functions, and the module put together. See module.h. */
#include "codegen/spirv/module.h"

#include <string.h>

void vy_module_init(vy_module *module, vy_arena *arena, bool has_names)
{
    *module = (vy_module){.arena = arena, .next_id = 1, .has_names = has_names};
    module->code = &module->sections[VY_SECTION_BODY];
    module->file_id = vy_module_id(module);
}

uint32_t vy_module_id(vy_module *module)
{
    return module->next_id++;
}

uint32_t vy_module_debug_id(vy_module *module)
{
    return VY_DEBUG_ID + module->debug_ids++;
}

bool vy_module_is_too_large(const vy_module *module)
{
    for (uint32_t i = 0; i < VY_SECTION_COUNT; i++) {
        if (module->sections[i].too_long) {
            return true;
        }
    }
    return module->next_id + module->debug_ids > VY_MAX_ID_BOUND;
}

bool vy_module_is_whole(const vy_module *module)
{
    return !module->arena->failed && !vy_module_is_too_large(module);
}

/* Gives debug information its ids. All operands of its instructions are ids. */
static void place_debug_ids(const vy_module *module, vy_words *whole)
{
    const uint32_t shift = module->next_id - VY_DEBUG_ID;
    for (uint32_t at = 5; at < whole->count;) {
        uint32_t *words = whole->data + at, length = words[0] >> 16, first = 0, end = 0;
        switch (words[0] & 0xffffu) {
        case SpvOpString:
        case SpvOpExtInstImport:
            first = 1;
            end = 2;
            break;
        case SpvOpConstant:
            first = 2;
            end = 3;
            break;
        case SpvOpExtInst:
            first = 2;
            end = words[3] >= VY_DEBUG_ID ? length : 0;
            break;
        default:
            break;
        }
        for (uint32_t i = first; i < end; i++) {
            words[i] += words[i] >= VY_DEBUG_ID ? shift : 0;
        }
        at += length ? length : 1;
    }
}

void vy_module_expect(vy_module *module, uint32_t code, uint32_t constants)
{
    (void)vy_vec_reserve(module->arena, module->code, code);
    (void)vy_vec_reserve(module->arena, &module->sections[VY_SECTION_GLOBALS], constants);
}

uint32_t *vy_module_finish(vy_module *module, uint32_t version, vy_arena *result,
                           uint32_t *out_count)
{
    vy_words whole = {0};
    uint32_t total = 5;
    for (uint32_t i = 0; i < VY_SECTION_COUNT; i++) {
        total += module->sections[i].count;
    }
    (void)vy_vec_reserve(result, &whole, total);
    vy_words_append(result, &whole,
                    VY_LIST(SpvMagicNumber, version, 0 /* no registered generator */,
                            module->next_id + module->debug_ids, 0));
    for (uint32_t i = 0; i < VY_SECTION_COUNT; i++) {
        vy_words_append(result, &whole, module->sections[i].data, module->sections[i].count);
    }
    if (module->debug_ids && !module->arena->failed && !result->failed) {
        place_debug_ids(module, &whole);
    }
    *out_count = whole.count;
    return module->arena->failed || result->failed ? NULL : whole.data;
}

/* ---- Sections ------------------------------------------------------------------------------- */

void vy_module_op(vy_module *module, vy_section section, SpvOp op, const uint32_t *operands,
                  uint32_t count)
{
    vy_words_op(module->arena, &module->sections[section], (uint32_t)op, operands, count, NULL, 0);
}

bool vy_module_has_capability(const vy_module *module, SpvCapability capability)
{
    const vy_words *words = &module->sections[VY_SECTION_CAPABILITIES];
    for (uint32_t i = 0; i + 1 < words->count; i += 2) {
        if (words->data[i + 1] == (uint32_t)capability) {
            return true;
        }
    }
    return false;
}

void vy_module_capability(vy_module *module, SpvCapability capability)
{
    if (!vy_module_has_capability(module, capability)) {
        vy_module_op(module, VY_SECTION_CAPABILITIES, SpvOpCapability,
                     VY_LIST((uint32_t)capability));
    }
}

void vy_module_extension(vy_module *module, const char *name)
{
    const vy_words *declared = &module->sections[VY_SECTION_EXTENSIONS];
    vy_words words = {0};
    vy_words_text(module->arena, &words, name);
    for (uint32_t at = 0; at < declared->count; at += declared->data[at] >> 16) {
        if (declared->data[at] >> 16 == words.count + 1 &&
            memcmp(declared->data + at + 1, words.data, words.count * sizeof *words.data) == 0) {
            return;
        }
    }
    vy_module_op(module, VY_SECTION_EXTENSIONS, SpvOpExtension, words.data, words.count);
}

void vy_module_decorate(vy_module *module, uint32_t id, SpvDecoration decoration,
                        const uint32_t *operands, uint32_t count)
{
    vy_words_op(module->arena, &module->sections[VY_SECTION_DECORATIONS], SpvOpDecorate,
                VY_LIST(id, (uint32_t)decoration), operands, count);
}

void vy_module_decorate_member(vy_module *module, uint32_t id, uint32_t member,
                               SpvDecoration decoration, const uint32_t *operands, uint32_t count)
{
    vy_words_op(module->arena, &module->sections[VY_SECTION_DECORATIONS], SpvOpMemberDecorate,
                VY_LIST(id, member, (uint32_t)decoration), operands, count);
}

void vy_module_name(vy_module *module, uint32_t id, const char *text)
{
    if (!module->has_names || !text || !id) {
        return;
    }
    vy_words words = {0};
    vy_words_text(module->arena, &words, text);
    vy_words_op(module->arena, &module->sections[VY_SECTION_NAMES], SpvOpName, &id, 1, words.data,
                words.count);
}

/* ---- Code ----------------------------------------------------------------------------------- */

uint32_t vy_value(vy_module *module, SpvOp op, uint32_t type, const uint32_t *operands,
                  uint32_t count)
{
    uint32_t id = vy_module_id(module);
    vy_words_op(module->arena, module->code, (uint32_t)op, VY_LIST(type, id), operands, count);
    return id;
}

void vy_effect(vy_module *module, SpvOp op, const uint32_t *operands, uint32_t count)
{
    vy_words_op(module->arena, module->code, (uint32_t)op, operands, count, NULL, 0);
}

void vy_label(vy_module *module, uint32_t label)
{
    vy_effect(module, SpvOpLabel, VY_LIST(label));
}

void vy_jump(vy_module *module, uint32_t label)
{
    vy_effect(module, SpvOpBranch, VY_LIST(label));
}

void vy_if(vy_module *module, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge)
{
    vy_effect(module, SpvOpSelectionMerge, VY_LIST(merge, SpvSelectionControlMaskNone));
    vy_effect(module, SpvOpBranchConditional, VY_LIST(condition, yes, no));
}

uint32_t vy_u1(vy_module *module, SpvOp op, uint32_t a)
{
    return vy_value(module, op, vy_type_u32(module), VY_LIST(a));
}

uint32_t vy_u2(vy_module *module, SpvOp op, uint32_t a, uint32_t b)
{
    return vy_v2(module, op, vy_type_u32(module), a, b);
}

uint32_t vy_b1(vy_module *module, SpvOp op, uint32_t a)
{
    return vy_value(module, op, vy_type_bool(module), VY_LIST(a));
}

uint32_t vy_b2(vy_module *module, SpvOp op, uint32_t a, uint32_t b)
{
    return vy_v2(module, op, vy_type_bool(module), a, b);
}

uint32_t vy_v1(vy_module *module, SpvOp op, uint32_t type, uint32_t a)
{
    return vy_value(module, op, type, VY_LIST(a));
}

uint32_t vy_v2(vy_module *module, SpvOp op, uint32_t type, uint32_t a, uint32_t b)
{
    uint32_t id = module->next_id++;
    uint32_t *words = vy_words_room(module->arena, module->code, 5);
    if (words) {
        words[0] = 5u << 16 | (uint32_t)op;
        words[1] = type;
        words[2] = id;
        words[3] = a;
        words[4] = b;
    }
    return id;
}

uint32_t vy_exact2(vy_module *module, SpvOp op, uint32_t type, uint32_t a, uint32_t b)
{
    uint32_t id = vy_value(module, op, type, VY_LIST(a, b));
    vy_module_decorate(module, id, SpvDecorationNoContraction, NULL, 0);
    return id;
}

uint32_t vy_f2(vy_module *module, SpvOp op, uint32_t a, uint32_t b)
{
    uint32_t id = vy_value(module, op, vy_type_f32(module), VY_LIST(a, b));
    if (!module->is_contractible) {
        vy_module_decorate(module, id, SpvDecorationNoContraction, NULL, 0);
    }
    return id;
}

uint32_t vy_select(vy_module *module, uint32_t type, uint32_t condition, uint32_t a, uint32_t b)
{
    uint32_t id = vy_module_id(module);
    vy_select_as(module, id, type, condition, a, b);
    return id;
}

/* Of 64 bits by halves: beside a division NVIDIA's driver (580) was seen to put another register
 * into the upper half, where the condition compares what the choice is made of. */
void vy_select_as(vy_module *module, uint32_t id, uint32_t type, uint32_t condition, uint32_t a,
                  uint32_t b)
{
    if (type != module->wide_types[0] && type != module->wide_types[1]) {
        vy_effect(module, SpvOpSelect, VY_LIST(type, id, condition, a, b));
        return;
    }
    uint32_t pair = vy_type_u32_vector(module, 2);
    uint32_t first = vy_v1(module, SpvOpBitcast, pair, a);
    uint32_t second = vy_v1(module, SpvOpBitcast, pair, b);
    uint32_t chosen = vy_value(module, SpvOpSelect, pair, VY_LIST(condition, first, second));
    vy_effect(module, SpvOpBitcast, VY_LIST(type, id, chosen));
}

uint32_t vy_select_u(vy_module *module, uint32_t condition, uint32_t a, uint32_t b)
{
    return vy_select(module, vy_type_u32(module), condition, a, b);
}

uint32_t vy_select_f(vy_module *module, uint32_t condition, uint32_t a, uint32_t b)
{
    return vy_select(module, vy_type_f32(module), condition, a, b);
}

uint32_t vy_u2c(vy_module *module, SpvOp op, uint32_t a, uint32_t literal)
{
    return vy_u2(module, op, a, vy_const_u32(module, literal));
}

uint32_t vy_b2c(vy_module *module, SpvOp op, uint32_t a, uint32_t literal)
{
    return vy_b2(module, op, a, vy_const_u32(module, literal));
}

uint32_t vy_f2c(vy_module *module, SpvOp op, uint32_t a, uint32_t literal_bits)
{
    return vy_f2(module, op, a, vy_const_f32(module, literal_bits));
}

/* Drivers that keep denormals in arithmetic may still take them for zero in comparisons (NVIDIA
 * does where DenormPreserve is not to be had): zero is compared with on bits. */
static uint32_t compare_with_zero(vy_module *module, SpvOp op, uint32_t a)
{
    uint32_t bits = vy_bits_of(module, a);
    uint32_t magnitude = vy_u2c(module, SpvOpBitwiseAnd, bits, 0x7fffffffu);
    switch ((int)op) {
    case SpvOpFOrdEqual:
        return vy_b2c(module, SpvOpIEqual, magnitude, 0);
    case SpvOpFUnordNotEqual:
        return vy_b2c(module, SpvOpINotEqual, magnitude, 0);
    case SpvOpFOrdGreaterThan: /* from the smallest denormal to infinity */
        bits = vy_u2c(module, SpvOpISub, bits, 1);
        return vy_b2c(module, SpvOpULessThan, bits, 0x7f800000u);
    case SpvOpFOrdLessThan:
        bits = vy_u2c(module, SpvOpISub, bits, 0x80000001u);
        return vy_b2c(module, SpvOpULessThan, bits, 0x7f800000u);
    case SpvOpFOrdGreaterThanEqual: {
        uint32_t zero = vy_b2c(module, SpvOpIEqual, magnitude, 0);
        uint32_t plus = vy_b2c(module, SpvOpULessThanEqual, bits, 0x7f800000u);
        return vy_b2(module, SpvOpLogicalOr, zero, plus);
    }
    default: { /* FOrdLessThanEqual */
        uint32_t zero = vy_b2c(module, SpvOpIEqual, magnitude, 0);
        bits = vy_u2c(module, SpvOpISub, bits, 0x80000000u);
        uint32_t minus = vy_b2c(module, SpvOpULessThanEqual, bits, 0x7f800000u);
        return vy_b2(module, SpvOpLogicalOr, zero, minus);
    }
    }
}

uint32_t vy_b2f(vy_module *module, SpvOp op, uint32_t a, uint32_t literal_bits)
{
    if (literal_bits == 0 && !module->is_contractible) {
        return compare_with_zero(module, op, a);
    }
    return vy_b2(module, op, a, vy_const_f32(module, literal_bits));
}

uint32_t vy_bits_of(vy_module *module, uint32_t f32)
{
    return vy_u1(module, SpvOpBitcast, f32);
}

uint32_t vy_f32_of(vy_module *module, uint32_t bits)
{
    return vy_value(module, SpvOpBitcast, vy_type_f32(module), VY_LIST(bits));
}

uint32_t vy_extract(vy_module *module, uint32_t type, uint32_t composite, uint32_t index)
{
    return vy_value(module, SpvOpCompositeExtract, type, VY_LIST(composite, index));
}

static uint32_t import_glsl(vy_module *module)
{
    if (!module->glsl) {
        vy_words name = {0};
        module->glsl = vy_module_id(module);
        vy_words_text(module->arena, &name, "GLSL.std.450");
        vy_words_op(module->arena, &module->sections[VY_SECTION_IMPORTS], SpvOpExtInstImport,
                    &module->glsl, 1, name.data, name.count);
    }
    return module->glsl;
}

uint32_t vy_glsl(vy_module *module, enum GLSLstd450 op, uint32_t type, uint32_t a, uint32_t b)
{
    return vy_value(module, SpvOpExtInst, type,
                    (const uint32_t[]){import_glsl(module), (uint32_t)op, a, b}, b ? 4u : 3u);
}

uint32_t vy_glsl3(vy_module *module, enum GLSLstd450 op, uint32_t type, const uint32_t *operands)
{
    return vy_value(
        module, SpvOpExtInst, type,
        VY_LIST(import_glsl(module), (uint32_t)op, operands[0], operands[1], operands[2]));
}

/* Types and constants, each once: keyed by opcode and operands, found again in a table of offsets
 * into the section where they lie. SPIR-V demands it of types that are no aggregates (2.8). */
#include "codegen/spirv/module.h"

#include <string.h>

/* Types have their result first, everything else a type before it. */
static bool is_type(SpvOp op)
{
    return op >= SpvOpTypeVoid && op <= SpvOpTypeForwardPointer;
}

static uint64_t hash_of(SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count)
{
    uint64_t hash = (uint64_t)type << 32 | (uint32_t)op;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ operands[i]) * VY_HASH_MULTIPLIER;
        hash ^= hash >> 32;
    }
    hash *= VY_HASH_MULTIPLIER;
    return hash ^ hash >> 32;
}

/* The instruction at `offset` of the section, without its result. */
static void read_back(const vy_words *words, uint32_t offset, SpvOp *op, uint32_t *type,
                      const uint32_t **operands, uint32_t *count)
{
    const uint32_t *at = words->data + offset;
    uint32_t length = at[0] >> 16;
    *op = (SpvOp)(at[0] & 0xffff);
    uint32_t head = is_type(*op) ? 2 : 3;
    *type = is_type(*op) ? 0 : at[1];
    *operands = at + head;
    *count = length - head;
}

static bool grow(vy_module *module)
{
    const vy_words *words = &module->sections[VY_SECTION_GLOBALS];
    uint32_t grown_count = module->slot_count ? module->slot_count * 2 : 128;
    uint32_t *grown = vy_arena_alloc(module->arena, grown_count, sizeof *grown);
    if (!grown) {
        return false;
    }
    for (uint32_t i = 0; i < module->slot_count; i++) {
        uint32_t entry = module->slots[i];
        if (!entry) {
            continue;
        }
        SpvOp op;
        uint32_t type, count;
        const uint32_t *operands;
        read_back(words, entry - 1, &op, &type, &operands, &count);
        uint32_t at = (uint32_t)hash_of(op, type, operands, count) & (grown_count - 1);
        while (grown[at]) {
            at = (at + 1) & (grown_count - 1);
        }
        grown[at] = entry;
    }
    module->slots = grown;
    module->slot_count = grown_count;
    return true;
}

static uint32_t append(vy_module *module, SpvOp op, uint32_t type, const uint32_t *operands,
                       uint32_t count)
{
    uint32_t id = vy_module_id(module);
    uint32_t head[2] = {is_type(op) ? id : type, id};
    vy_words_op(module->arena, &module->sections[VY_SECTION_GLOBALS], (uint32_t)op, head,
                is_type(op) ? 1 : 2, operands, count);
    return id;
}

static uint32_t intern(vy_module *module, SpvOp op, uint32_t type, const uint32_t *operands,
                       uint32_t count)
{
    const vy_words *words = &module->sections[VY_SECTION_GLOBALS];
    if (module->slots_used >= module->slot_count / 2 && !grow(module)) {
        return 0;
    }
    uint32_t at = (uint32_t)hash_of(op, type, operands, count) & (module->slot_count - 1);
    for (; module->slots[at]; at = (at + 1) & (module->slot_count - 1)) {
        SpvOp known_op;
        uint32_t known_type, known_count, offset = module->slots[at] - 1;
        const uint32_t *known;
        read_back(words, offset, &known_op, &known_type, &known, &known_count);
        if (known_op == op && known_type == type && known_count == count &&
            (count == 0 || memcmp(known, operands, count * sizeof *known) == 0)) {
            return words->data[offset + (is_type(op) ? 1 : 2)];
        }
    }
    uint32_t before = words->count;
    uint32_t id = append(module, op, type, operands, count);
    if (words->count == before) {
        return 0;
    }
    module->slots[at] = before + 1;
    module->slots_used++;
    return id;
}

uint32_t vy_type_void(vy_module *module)
{
    return intern(module, SpvOpTypeVoid, 0, NULL, 0);
}

uint32_t vy_type_bool(vy_module *module)
{
    if (!module->bool_type) {
        module->bool_type = intern(module, SpvOpTypeBool, 0, NULL, 0);
    }
    return module->bool_type;
}

uint32_t vy_type_u32(vy_module *module)
{
    if (!module->u32_type) {
        module->u32_type = intern(module, SpvOpTypeInt, 0, VY_LIST(32, 0));
    }
    return module->u32_type;
}

uint32_t vy_type_f32(vy_module *module)
{
    if (!module->f32_type) {
        module->f32_type = intern(module, SpvOpTypeFloat, 0, VY_LIST(32));
    }
    return module->f32_type;
}

uint32_t vy_type_integer(vy_module *module, uint32_t width)
{
    switch (width) {
    case 32:
        return vy_type_u32(module);
    case 8:
        vy_module_capability(module, SpvCapabilityStorageBuffer8BitAccess);
        break;
    case 16:
        vy_module_capability(module, SpvCapabilityStorageBuffer16BitAccess);
        break;
    case 64:
        vy_module_capability(module, SpvCapabilityInt64);
        break;
    default:
        break;
    }
    uint32_t type = intern(module, SpvOpTypeInt, 0, VY_LIST(width, 0));
    if (width == 64) {
        module->wide_types[0] = type;
    }
    return type;
}

uint32_t vy_type_u64(vy_module *module)
{
    return vy_type_integer(module, 64);
}

uint32_t vy_type_f64(vy_module *module)
{
    vy_module_capability(module, SpvCapabilityFloat64);
    module->wide_types[1] = intern(module, SpvOpTypeFloat, 0, VY_LIST(64));
    return module->wide_types[1];
}

uint32_t vy_type_vector_of(vy_module *module, uint32_t component, uint32_t size)
{
    return intern(module, SpvOpTypeVector, 0, VY_LIST(component, size));
}

uint32_t vy_type_u32_vector(vy_module *module, uint32_t size)
{
    return vy_type_vector_of(module, vy_type_u32(module), size);
}

uint32_t vy_type_array(vy_module *module, uint32_t element, uint32_t count)
{
    uint32_t length = vy_const_u32(module, count);
    return intern(module, SpvOpTypeArray, 0, VY_LIST(element, length));
}

uint32_t vy_type_pointer(vy_module *module, SpvStorageClass storage, uint32_t type)
{
    return intern(module, SpvOpTypePointer, 0, VY_LIST((uint32_t)storage, type));
}

uint32_t vy_type_function(vy_module *module, uint32_t result, const uint32_t *parameters,
                          uint32_t count)
{
    uint32_t operands[8] = {result};
    if (count > 7) {
        count = 7;
    }
    if (count) {
        memcpy(operands + 1, parameters, count * sizeof *parameters);
    }
    return intern(module, SpvOpTypeFunction, 0, operands, count + 1);
}

uint32_t vy_type_u32_pair(vy_module *module)
{
    uint32_t element = vy_type_u32(module);
    return intern(module, SpvOpTypeStruct, 0, VY_LIST(element, element));
}

uint32_t vy_type_unique(vy_module *module, SpvOp op, const uint32_t *operands, uint32_t count)
{
    return append(module, op, 0, operands, count);
}

uint32_t vy_const_bool(vy_module *module, bool value)
{
    return intern(module, value ? SpvOpConstantTrue : SpvOpConstantFalse, vy_type_bool(module),
                  NULL, 0);
}

/* Most of what is interned: as intern does it, for constants of one word. */
static uint32_t intern_word(vy_module *module, uint32_t type, uint32_t value)
{
    const uint32_t head = 4u << 16 | (uint32_t)SpvOpConstant;
    vy_words *words = &module->sections[VY_SECTION_GLOBALS];
    if (module->slots_used >= module->slot_count / 2 && !grow(module)) {
        return 0;
    }
    uint32_t at = (uint32_t)hash_of(SpvOpConstant, type, &value, 1) & (module->slot_count - 1);
    for (; module->slots[at]; at = (at + 1) & (module->slot_count - 1)) {
        const uint32_t *known = words->data + module->slots[at] - 1;
        if (known[0] == head && known[1] == type && known[3] == value) {
            return known[2];
        }
    }
    uint32_t *made = vy_words_room(module->arena, words, 4);
    if (!made) {
        return 0;
    }
    module->slots[at] = words->count - 4 + 1;
    module->slots_used++;
    made[0] = head;
    made[1] = type;
    made[2] = vy_module_id(module);
    made[3] = value;
    return made[2];
}

uint32_t vy_const_u32(vy_module *module, uint32_t value)
{
    return intern_word(module, vy_type_u32(module), value);
}

uint32_t vy_const_f32(vy_module *module, uint32_t bits)
{
    return intern_word(module, vy_type_f32(module), bits);
}

uint32_t vy_const_u64(vy_module *module, uint64_t value)
{
    uint32_t type = vy_type_u64(module);
    return intern(module, SpvOpConstant, type, VY_LIST((uint32_t)value, (uint32_t)(value >> 32)));
}

uint32_t vy_const_f64(vy_module *module, uint64_t bits)
{
    uint32_t type = vy_type_f64(module);
    return intern(module, SpvOpConstant, type, VY_LIST((uint32_t)bits, (uint32_t)(bits >> 32)));
}

uint32_t vy_const_null(vy_module *module, uint32_t type)
{
    return intern(module, SpvOpConstantNull, type, NULL, 0);
}

uint32_t vy_const_composite(vy_module *module, uint32_t type, const uint32_t *parts, uint32_t count)
{
    return append(module, SpvOpConstantComposite, type, parts, count);
}

uint32_t vy_const_spec(vy_module *module, SpvOp op, uint32_t type, const uint32_t *operands,
                       uint32_t count, uint32_t spec_id)
{
    uint32_t id = append(module, op, type, operands, count);
    if (spec_id != UINT32_MAX) {
        vy_module_decorate(module, id, SpvDecorationSpecId, VY_LIST(spec_id));
    }
    return id;
}

uint32_t vy_global_variable(vy_module *module, SpvStorageClass storage, uint32_t type,
                            uint32_t initialiser)
{
    uint32_t pointer = vy_type_pointer(module, storage, type);
    uint32_t operands[2] = {(uint32_t)storage, initialiser};
    uint32_t id = append(module, SpvOpVariable, pointer, operands, initialiser ? 2 : 1);
    vy_words_push(module->arena, &module->interface, id);
    return id;
}

/* See spirv_touch.h. Follows where each id comes from, over all instructions until nothing changes:
 * a pointer into a memory, or a value loaded from a known place of one. */
#include "tests/support/spirv_touch.h"
#include "codegen/spirv/interface.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#define DYNAMIC UINT32_MAX /* an offset that is not constant */

typedef enum kind { NOTHING, DESCRIPTOR, PUSH, BLOCK, BEHIND, LOST } kind;

/* A pointer into memory `in`, `offset` bytes from its start, or a value loaded there. */
typedef struct origin {
    kind in;
    bool is_value;
    uint32_t root, at, offset;
    /* A value: what was added to it, the mask that was put on the sum, 0: none, and what was added
     * to that. A pointer: as spirv_touch's. */
    uint32_t sum, mask, rest, turn;
} origin;

typedef struct type {
    uint16_t opcode;
    const uint32_t *words; /* the instruction */
    uint32_t stride;       /* of arrays; vectors by their component */
} type;

typedef struct reader {
    const uint32_t *words;
    size_t count;
    uint32_t bound;
    origin *origins;
    type *types;                 /* by id */
    uint32_t *type_of;           /* of a value, by id */
    uint32_t *constants;         /* by id; DYNAMIC: none */
    const uint32_t **parameters; /* by function: its first OpFunctionParameter */
    bool changed;
    spirv_touches *out;
} reader;

static bool same(origin a, origin b)
{
    return a.in == b.in && a.is_value == b.is_value && a.root == b.root && a.at == b.at &&
           a.offset == b.offset && a.sum == b.sum && a.mask == b.mask && a.rest == b.rest &&
           a.turn == b.turn;
}

/* Two words of one address are one origin: the lower. */
static origin join(origin a, origin b)
{
    if (a.in == NOTHING || same(a, b)) {
        return b;
    }
    if (b.in == NOTHING) {
        return a;
    }
    if (a.in == b.in && a.is_value && b.is_value && a.root == b.root && a.at == b.at &&
        a.offset != DYNAMIC && b.offset != DYNAMIC &&
        (a.offset + 4 == b.offset || b.offset + 4 == a.offset)) {
        a.offset = a.offset < b.offset ? a.offset : b.offset;
        return a;
    }
    return (origin){.in = LOST, .is_value = true};
}

static void set(reader *r, uint32_t id, origin from)
{
    if (id >= r->bound) {
        return;
    }
    origin now = join(r->origins[id], from);
    if (!same(now, r->origins[id])) {
        r->origins[id] = now;
        r->changed = true;
    }
}

static origin get(const reader *r, uint32_t id)
{
    return id < r->bound ? r->origins[id] : (origin){.in = LOST};
}

/* ---- Types ----------------------------------------------------------------------------------- */

static uint32_t size_of(const reader *r, uint32_t id)
{
    const type *t = id < r->bound ? &r->types[id] : NULL;
    switch (t ? t->opcode : 0) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        return t->words[2] / 8;
    case SpvOpTypeVector:
        return t->words[3] * size_of(r, t->words[2]);
    case SpvOpTypePointer:
        return 8;
    default:
        return 4;
    }
}

static const uint32_t *decoration(const reader *r, uint32_t target, uint32_t member,
                                  uint32_t wanted)
{
    for (size_t i = 5; i < r->count;) {
        const uint32_t *w = &r->words[i];
        uint32_t opcode = w[0] & 0xffff, length = w[0] >> 16;
        if (opcode == SpvOpDecorate && member == DYNAMIC && w[1] == target && w[2] == wanted) {
            return length > 3 ? &w[3] : &w[2];
        }
        if (opcode == SpvOpMemberDecorate && w[1] == target && w[2] == member && w[3] == wanted) {
            return &w[4];
        }
        if (opcode == SpvOpFunction || length == 0) {
            break;
        }
        i += length;
    }
    return NULL;
}

/* One step of an access chain: the bytes that an index adds, and the type that it leads to. */
static uint32_t step(const reader *r, uint32_t *type_id, uint32_t index)
{
    const type *t = *type_id < r->bound ? &r->types[*type_id] : NULL;
    uint32_t number = index < r->bound ? r->constants[index] : DYNAMIC;
    if (!t || !t->words) {
        return DYNAMIC;
    }
    if (t->opcode == SpvOpTypeStruct) {
        if (number == DYNAMIC || number + 2 >= t->words[0] >> 16) {
            return DYNAMIC;
        }
        const uint32_t *offset = decoration(r, *type_id, number, SpvDecorationOffset);
        *type_id = t->words[2 + number];
        return offset ? *offset : DYNAMIC;
    }
    uint32_t stride = t->stride;
    *type_id = t->words[2];
    if (t->opcode == SpvOpTypeVector) {
        stride = size_of(r, *type_id);
    }
    return number == DYNAMIC || stride == 0 ? DYNAMIC : number * stride;
}

static uint32_t pointee(const reader *r, uint32_t pointer)
{
    uint32_t id = pointer < r->bound ? r->type_of[pointer] : 0;
    const type *t = id < r->bound ? &r->types[id] : NULL;
    return t && t->opcode == SpvOpTypePointer ? t->words[3] : 0;
}

static uint32_t storage_class(const reader *r, uint32_t pointer)
{
    uint32_t id = pointer < r->bound ? r->type_of[pointer] : 0;
    const type *t = id < r->bound ? &r->types[id] : NULL;
    return t && t->opcode == SpvOpTypePointer ? t->words[2] : SpvStorageClassFunction;
}

/* ---- Pointers -------------------------------------------------------------------------------- */

/* A value used as a pointer leads to the memory behind the place that it was loaded from. */
static origin as_pointer(origin o)
{
    if (!o.is_value) {
        return o;
    }
    if (o.in == BLOCK && o.offset != DYNAMIC) {
        return (origin){.in = BEHIND, .root = o.root, .at = o.offset};
    }
    return (origin){.in = o.in == NOTHING ? NOTHING : LOST};
}

static bool is_turn(const origin *o)
{
    return o->in == BLOCK && o->is_value && o->offset == 4 * VY_PARAM_TURN;
}

static void chain(reader *r, const uint32_t *w, bool has_element)
{
    uint32_t length = w[0] >> 16, first = has_element ? 5 : 4;
    origin o = as_pointer(get(r, w[3]));
    uint32_t type_id = pointee(r, w[3]);
    if (has_element && (w[4] >= r->bound || r->constants[w[4]] != 0)) {
        o.offset = DYNAMIC;
    }
    origin last = get(r, w[length - 1]);
    for (uint32_t i = first; i < length; i++) {
        uint32_t bytes = step(r, &type_id, w[i]);
        o.offset = bytes == DYNAMIC || o.offset == DYNAMIC ? DYNAMIC : o.offset + bytes;
    }
    if (is_turn(&last) && (o.in == DESCRIPTOR || o.in == BEHIND)) {
        /* Without a mask nothing leads beyond the four of the turns. */
        uint32_t rest = last.mask ? last.rest : last.sum;
        o.turn = 1 + (last.mask ? last.sum % VY_STATE_TURNS : 0) + rest;
    }
    set(r, w[2], o);
}

static void touch(reader *r, uint32_t pointer, bool reads, bool writes)
{
    static const spirv_place places[] = {
        [DESCRIPTOR] = SPIRV_DESCRIPTOR, [BLOCK] = SPIRV_BLOCK, [BEHIND] = SPIRV_BEHIND};
    origin o = as_pointer(get(r, pointer));
    uint32_t class = storage_class(r, pointer);
    bool is_memory = class == SpvStorageClassStorageBuffer ||
                     class == SpvStorageClassPhysicalStorageBuffer ||
                     class == SpvStorageClassUniform;
    if (!is_memory) {
        return;
    }
    if (o.in != DESCRIPTOR && o.in != BLOCK && o.in != BEHIND) {
        r->out->is_unknown = true;
        return;
    }
    uint32_t size = size_of(r, pointee(r, pointer));
    spirv_touch t = {.place = places[o.in],
                     .root = o.in == BEHIND ? o.root : 0,
                     .at = o.in == BLOCK ? o.root : o.at,
                     .reads = reads,
                     .writes = writes,
                     .begin = o.offset == DYNAMIC ? 0 : o.offset,
                     .end = o.offset == DYNAMIC ? UINT32_MAX : o.offset + size,
                     .turn = o.turn};
    for (uint32_t i = 0; i < r->out->count; i++) {
        spirv_touch *known = &r->out->list[i];
        if (known->place == t.place && known->root == t.root && known->at == t.at &&
            known->turn == t.turn) {
            known->reads = known->reads || reads;
            known->writes = known->writes || writes;
            known->begin = known->begin < t.begin ? known->begin : t.begin;
            known->end = known->end > t.end ? known->end : t.end;
            return;
        }
    }
    if (r->out->count < SPIRV_MAX_TOUCHES) {
        r->out->list[r->out->count++] = t;
    } else {
        r->out->is_unknown = true;
    }
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static bool is_atomic(uint32_t opcode)
{
    return opcode >= SpvOpAtomicLoad && opcode <= SpvOpAtomicXor;
}

static void follow_call(reader *r, const uint32_t *w)
{
    uint32_t length = w[0] >> 16;
    const uint32_t *parameter = w[3] < r->bound ? r->parameters[w[3]] : NULL;
    for (uint32_t i = 4; parameter && i < length; i++) {
        if ((parameter[0] & 0xffff) != SpvOpFunctionParameter) {
            break;
        }
        set(r, parameter[2], get(r, w[i]));
        parameter += parameter[0] >> 16;
    }
    set(r, w[2], get(r, w[3])); /* what the function returns is kept under its own id */
}

static void follow(reader *r, const uint32_t *w, uint32_t function)
{
    uint32_t opcode = w[0] & 0xffff, length = w[0] >> 16;
    switch (opcode) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        chain(r, w, false);
        break;
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain:
        chain(r, w, true);
        break;
    case SpvOpLoad: {
        origin o = as_pointer(get(r, w[3]));
        o.is_value = true;
        if (o.in == BLOCK || o.in == PUSH) {
            set(r, w[2], o);
        } else if (o.in == LOST || o.in == BEHIND) {
            /* No address is kept there: numbers. */
            set(r, w[2], (origin){.in = NOTHING});
        }
        break;
    }
    case SpvOpCompositeExtract: {
        origin o = get(r, w[3]);
        if (o.in != NOTHING && o.is_value && o.offset != DYNAMIC && length == 5) {
            o.offset += 4 * w[4];
        }
        set(r, w[2], o);
        break;
    }
    case SpvOpBitcast:
    case SpvOpConvertUToPtr:
    case SpvOpConvertPtrToU:
    case SpvOpCopyObject:
    case SpvOpUConvert:
        set(r, w[2], get(r, w[3]));
        break;
    case SpvOpCompositeConstruct:
    case SpvOpBitwiseOr:
        for (uint32_t i = 3; i < length; i++) {
            set(r, w[2], get(r, w[i]));
        }
        break;
    case SpvOpShiftLeftLogical:
    case SpvOpIAdd: /* an address and what is added to it, or the turn */
    case SpvOpBitwiseAnd: {
        origin o = get(r, w[3]);
        uint32_t number = w[4] < r->bound ? r->constants[w[4]] : DYNAMIC;
        if (is_turn(&o) && number != DYNAMIC && opcode == SpvOpIAdd) {
            *(o.mask ? &o.rest : &o.sum) += number;
            set(r, w[2], o);
        } else if (is_turn(&o) && number == VY_STATE_TURNS - 1 && opcode == SpvOpBitwiseAnd) {
            o.mask = number;
            set(r, w[2], o);
        } else if (opcode == SpvOpIAdd) {
            set(r, w[2], o);
        }
        break;
    }
    case SpvOpSelect:
        set(r, w[2], get(r, w[4]));
        set(r, w[2], get(r, w[5]));
        break;
    case SpvOpPhi:
        for (uint32_t i = 3; i + 1 < length; i += 2) {
            set(r, w[2], get(r, w[i]));
        }
        break;
    case SpvOpFunctionCall:
        follow_call(r, w);
        break;
    case SpvOpReturnValue:
        set(r, function, get(r, w[1]));
        break;
    default:
        break;
    }
}

static void note_touch(reader *r, const uint32_t *w)
{
    uint32_t opcode = w[0] & 0xffff;
    if (opcode == SpvOpLoad) {
        touch(r, w[3], true, false);
    } else if (opcode == SpvOpStore) {
        touch(r, w[1], false, true);
    } else if (opcode == SpvOpAtomicStore) {
        touch(r, w[1], false, true);
    } else if (is_atomic(opcode) || opcode == SpvOpAtomicFAddEXT) {
        touch(r, w[3], true, opcode != SpvOpAtomicLoad);
    } else if (opcode == SpvOpCopyMemory || opcode == SpvOpCopyMemorySized) {
        touch(r, w[1], false, true);
        touch(r, w[2], true, false);
    }
}

/* Types, constants, variables, and the type of each value. */
static void declare(reader *r, const uint32_t *w)
{
    uint32_t opcode = w[0] & 0xffff, length = w[0] >> 16;
    if (opcode >= SpvOpTypeVoid && opcode <= SpvOpTypePointer && w[1] < r->bound) {
        const uint32_t *stride = decoration(r, w[1], DYNAMIC, SpvDecorationArrayStride);
        r->types[w[1]] = (type){(uint16_t)opcode, w, stride ? *stride : 0};
        return;
    }
    if (opcode == SpvOpConstant && w[2] < r->bound) {
        r->constants[w[2]] = w[3];
    } else if (opcode == SpvOpConstantNull && w[2] < r->bound) {
        r->constants[w[2]] = 0;
    } else if (opcode == SpvOpVariable && w[2] < r->bound) {
        const uint32_t *binding = decoration(r, w[2], DYNAMIC, SpvDecorationBinding);
        if (w[3] == SpvStorageClassPushConstant) {
            r->origins[w[2]] = (origin){.in = PUSH};
        } else if (binding && w[3] == SpvStorageClassUniform) {
            r->origins[w[2]] = (origin){.in = BLOCK, .root = *binding};
        } else if (binding) {
            r->origins[w[2]] = (origin){.in = DESCRIPTOR, .at = *binding};
        }
    }
    bool has_result = length >= 3 && (opcode == SpvOpVariable || opcode == SpvOpFunctionParameter ||
                                      (opcode >= SpvOpFunctionCall && opcode != SpvOpStore));
    if (has_result && w[1] < r->bound && w[2] < r->bound && r->types[w[1]].words) {
        r->type_of[w[2]] = w[1];
    }
}

static void walk(reader *r, int round)
{
    uint32_t function = 0;
    for (size_t i = 5; i < r->count;) {
        const uint32_t *w = &r->words[i];
        uint32_t opcode = w[0] & 0xffff, length = w[0] >> 16;
        if (length == 0 || i + length > r->count) {
            return;
        }
        if (opcode == SpvOpFunction) {
            function = w[2];
            if (function < r->bound && i + length < r->count) {
                r->parameters[function] = w + length;
            }
        }
        if (round == 0) {
            declare(r, w);
        } else if (round == 1) {
            follow(r, w, function);
        } else {
            note_touch(r, w);
        }
        i += length;
    }
}

static void find_states(spirv_touches *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        spirv_touch *t = &list->list[i];
        for (uint32_t k = 0; k < list->count; k++) {
            const spirv_touch *other = &list->list[k];
            t->is_state |= other->turn && other->place == t->place && other->root == t->root &&
                           other->at == t->at;
        }
    }
}

bool spirv_state_range(const spirv_touch *t, uint32_t turn, uint32_t leads, uint64_t *out_begin,
                       uint64_t *out_end)
{
    *out_begin = t->begin;
    *out_end = t->end;
    uint32_t sum = t->turn ? (t->turn - 1) % VY_STATE_TURNS : 0;
    if (t->turn) {
        *out_begin = 4 * (uint64_t)((turn + sum) % VY_STATE_TURNS + t->turn - 1 - sum);
        *out_end = *out_begin + 4;
    }
    /* What belongs to the next pass: by the first execution alone. */
    return !(t->writes && sum == 1) || leads;
}

bool spirv_touches_read(const uint32_t *words, size_t word_count, spirv_touches *out)
{
    memset(out, 0, sizeof *out);
    if (word_count < 5 || words[0] != SpvMagicNumber || words[3] > 1u << 22) {
        return false;
    }
    uint32_t bound = words[3];
    reader r = {.words = words, .count = word_count, .bound = bound, .out = out};
    r.origins = calloc(bound, sizeof *r.origins);
    r.types = calloc(bound, sizeof *r.types);
    r.type_of = calloc(bound, sizeof *r.type_of);
    r.constants = malloc(bound * sizeof *r.constants);
    r.parameters = calloc(bound, sizeof *r.parameters);
    bool ok = r.origins && r.types && r.type_of && r.constants && r.parameters;
    if (ok) {
        memset(r.constants, 0xff, bound * sizeof *r.constants);
        walk(&r, 0);
        uint32_t rounds = 0;
        do {
            r.changed = false;
            walk(&r, 1);
        } while (r.changed && ++rounds < 32);
        walk(&r, 2);
        find_states(out);
    }
    free(r.origins);
    free(r.types);
    free(r.type_of);
    free(r.constants);
    free((void *)r.parameters);
    return ok;
}

/* The judge of words; see lint.h. Reads a module twice: definitions and decorations, then the
 * rules. */
#include "tests/support/lint.h"

#include "codegen/spirv/interface.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#define MAX_SLOTS 64u

/* A root is the memory of a buffer: its variable, or where addresses are used, the first pointer
 * made of its address, which stands for all of them. What is said of the members of its block type
 * is said of it. */
typedef struct definition {
    const uint32_t *at; /* the defining instruction, NULL: none */
    uint32_t root;      /* of a pointer: what is behind its access chains */
    uint32_t binding;   /* of a root, UINT32_MAX: none */
    uint32_t spec_id;   /* of a constant, UINT32_MAX: none */
    uint32_t stride;    /* of an array */
    uint32_t chosen_by; /* of a label: the SpecId that branches to it where it is true */
    bool non_writable, coherent, aliased, no_contraction;
    bool is_strided;
    bool stored, loaded, atomic; /* of a variable: how the module touches it */
} definition;

typedef struct lint {
    const vy_lint_expectation *expect;
    definition *ids;
    uint32_t bound;
    uint32_t glsl; /* id of the extended instruction set */
    uint32_t addressing_model, memory_model, modes;
    uint32_t slots[MAX_SLOTS]; /* by binding: the root of an address, 0: none yet */
    bool has_address_capability;
    bool has_barrier, has_atomic;
    uint32_t label; /* of the block being read */
    /* Of VY_SPEC_NATIVE_DIVIDE and _SQRT: the constant is there, what it chooses is. */
    bool has_choice[6], has_native[6]; /* VY_SPEC_NATIVE_*, from the first on */
    char *message;
    size_t message_size;
    bool failed;
} lint;

static void wrong(lint *l, const char *format, ...)
{
    if (l->failed) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(l->message, l->message_size, format, arguments);
    va_end(arguments);
    l->failed = true;
}

static definition *get(lint *l, uint32_t id)
{
    if (id == 0 || id >= l->bound) {
        wrong(l, "id %u is out of bounds", id);
        return &l->ids[0];
    }
    return &l->ids[id];
}

static uint32_t constant(lint *l, uint32_t id)
{
    const definition *d = get(l, id);
    return d->at && (d->at[0] & 0xffff) == SpvOpConstant ? d->at[3] : UINT32_MAX;
}

static uint32_t opcode(lint *l, uint32_t id)
{
    const definition *d = get(l, id);
    return d->at ? d->at[0] & 0xffff : UINT32_MAX;
}

/* Of a root; UINT32_MAX for what is none. */
static uint32_t storage_class(lint *l, uint32_t id)
{
    const definition *d = get(l, id);
    bool is_made = opcode(l, id) == SpvOpBitcast || opcode(l, id) == SpvOpConvertUToPtr;
    if (is_made && d->root == id && id) {
        return SpvStorageClassPhysicalStorageBuffer;
    }
    return opcode(l, id) == SpvOpVariable ? d->at[3] : UINT32_MAX;
}

static bool is_buffer(uint32_t class)
{
    return class == SpvStorageClassStorageBuffer || class == SpvStorageClassPhysicalStorageBuffer;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* The word of the parameter block that the access chain leads to, or UINT32_MAX. */
static uint32_t chain_word(lint *l, const uint32_t *at)
{
    uint32_t vector = UINT32_MAX, component = UINT32_MAX;
    if (at[0] >> 16 == 7 && constant(l, at[4]) == 0) {
        vector = constant(l, at[5]);
        component = constant(l, at[6]);
    }
    return vector < UINT32_MAX / 4 && component < 4 ? 4 * vector + component : UINT32_MAX;
}

/* The word of the parameter block that `id` was loaded from, or UINT32_MAX. */
static uint32_t block_word(lint *l, uint32_t id)
{
    const definition *chain = opcode(l, id) == SpvOpLoad ? get(l, get(l, id)->at[3]) : NULL;
    if (!chain || !chain->at || (chain->at[0] & 0xffff) != SpvOpAccessChain ||
        storage_class(l, chain->root) != SpvStorageClassUniform) {
        return UINT32_MAX;
    }
    return chain_word(l, chain->at);
}

/* The binding whose address the two words are, or UINT32_MAX. */
static uint32_t addressed_binding(lint *l, uint32_t id)
{
    const definition *source = get(l, id);
    uint32_t bindings = l->expect->binding_count;
    if (opcode(l, id) != SpvOpCompositeConstruct || source->at[0] >> 16 != 5) {
        return UINT32_MAX;
    }
    uint32_t low = block_word(l, source->at[3]), high = block_word(l, source->at[4]);
    uint32_t first = vy_param_addresses(bindings, l->expect->param_count);
    if (low == UINT32_MAX || high != low + 1 || low < first || (low - first) % 2) {
        return UINT32_MAX;
    }
    uint32_t rank = (low - first) / 2;
    return rank < bindings ? rank : rank + VY_HIDDEN_STATE;
}

/* The address whose word `part` a sum begins with, or 0. */
static uint32_t summed_from(lint *l, uint32_t id, uint32_t part)
{
    for (int i = 0; i < 2 && opcode(l, id) == SpvOpIAdd; i++) {
        id = get(l, id)->at[3];
    }
    const uint32_t *word = opcode(l, id) == SpvOpCompositeExtract ? get(l, id)->at : NULL;
    return word && word[0] >> 16 == 5 && word[4] == part ? word[3] : 0;
}

/* What an element's address was made of by adding to its words; else the address itself. */
static uint32_t address_before_sums(lint *l, uint32_t id)
{
    const definition *words = get(l, id);
    if (opcode(l, id) != SpvOpCompositeConstruct || words->at[0] >> 16 != 5) {
        return id;
    }
    uint32_t low = summed_from(l, words->at[3], 0), high = summed_from(l, words->at[4], 1);
    return low && low == high ? low : id;
}

static void collect_address(lint *l, const uint32_t *at)
{
    const definition *type = get(l, at[1]);
    if (!type->at || (type->at[0] & 0xffff) != SpvOpTypePointer) {
        return;
    }
    /* To elements of 8 and 16 bits by way of a 64-bit integer. */
    bool is_wide = (at[0] & 0xffff) == SpvOpConvertUToPtr && opcode(l, at[3]) == SpvOpBitcast;
    uint32_t address = address_before_sums(l, is_wide ? get(l, at[3])->at[3] : at[3]);
    uint32_t binding = addressed_binding(l, address);
    if (type->at[2] != SpvStorageClassPhysicalStorageBuffer || binding >= MAX_SLOTS) {
        wrong(l, "pointer %%%u is made of something that is no address", at[2]);
        return;
    }
    definition *d = get(l, at[2]);
    const definition *block = get(l, type->at[3]);
    if (!l->slots[binding]) {
        l->slots[binding] = at[2];
        d->binding = binding;
        d->non_writable = block->non_writable;
        d->coherent = block->coherent;
    }
    d->root = l->slots[binding];
    if (get(l, d->root)->at[1] != at[1] && !l->expect->coarse) {
        wrong(l, "pointers to binding %u are of two types", binding);
    }
}

static void decorate(lint *l, const uint32_t *at, uint32_t decoration, const uint32_t *extra)
{
    definition *d = get(l, at[1]);
    switch (decoration) {
    case SpvDecorationBinding:
        d->binding = *extra;
        break;
    case SpvDecorationArrayStride:
        d->stride = *extra;
        d->is_strided = true;
        break;
    case SpvDecorationSpecId:
        d->spec_id = *extra;
        break;
    case SpvDecorationNonWritable:
        d->non_writable = true;
        break;
    case SpvDecorationCoherent:
        d->coherent = true;
        break;
    case SpvDecorationAliased:
        d->aliased = true;
        break;
    case SpvDecorationNoContraction:
        d->no_contraction = true;
        break;
    default:
        break;
    }
}

static bool is_atomic(uint32_t op)
{
    return op >= SpvOpAtomicLoad && op <= SpvOpAtomicXor;
}

/* Where an instruction's result id stands, 0: it has none. Only those that the rules need. */
static uint32_t result_word(uint32_t op)
{
    switch (op) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
    case SpvOpTypePointer:
    case SpvOpTypeStruct:
    case SpvOpTypeVector:
    case SpvOpExtInstImport:
        return 1;
    case SpvOpConstant:
    case SpvOpVariable:
    case SpvOpLoad:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
    case SpvOpIAdd:
    case SpvOpBitcast:
    case SpvOpConvertUToPtr:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
        return 2;
    default:
        return 0;
    }
}

static void touch(lint *l, uint32_t op, const uint32_t *at)
{
    bool store = op == SpvOpStore || op == SpvOpAtomicStore;
    if (op != SpvOpLoad && !store && !is_atomic(op)) {
        return;
    }
    uint32_t pointer = store ? at[1] : at[3];
    definition *root = get(l, get(l, pointer)->root);
    root->stored |= op != SpvOpLoad && op != SpvOpAtomicLoad;
    root->loaded |= !store;
    root->atomic |= is_atomic(op);
    l->has_atomic |= is_atomic(op);
}

static void collect(lint *l, const uint32_t *at, uint32_t count)
{
    uint32_t op = at[0] & 0xffff;
    uint32_t result = result_word(op);
    if (result && result < count) {
        definition *d = get(l, at[result]);
        d->at = at;
        if (op == SpvOpVariable) {
            d->root = at[2];
        } else if (op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain) {
            d->root = get(l, at[3])->root;
        } else if (op == SpvOpBitcast || op == SpvOpConvertUToPtr) {
            collect_address(l, at);
        }
    }
    switch (op) {
    case SpvOpDecorate:
        decorate(l, at, at[2], at + 3);
        break;
    case SpvOpExtInstImport:
        l->glsl = at[1];
        break;
    case SpvOpMemberDecorate:
        get(l, at[1])->non_writable |= at[3] == SpvDecorationNonWritable;
        get(l, at[1])->coherent |= at[3] == SpvDecorationCoherent;
        break;
    case SpvOpCapability:
        l->has_address_capability |= at[1] == SpvCapabilityPhysicalStorageBufferAddresses;
        break;
    case SpvOpMemoryModel:
        l->addressing_model = at[1];
        l->memory_model = at[2];
        break;
    case SpvOpExecutionMode:
        if (at[2] == SpvExecutionModeSignedZeroInfNanPreserve) {
            l->modes |= at[3] == 64 ? VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64
                                    : VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE;
        } else if (at[2] == SpvExecutionModeDenormPreserve) {
            l->modes |= at[3] == 64 ? VYRE_FLOAT_DENORM_PRESERVE_F64 : VYRE_FLOAT_DENORM_PRESERVE;
        } else if (at[2] == SpvExecutionModeRoundingModeRTE) {
            l->modes |= at[3] == 64 ? VYRE_FLOAT_ROUNDING_RTE_F64 : VYRE_FLOAT_ROUNDING_RTE;
        }
        break;
    case SpvOpControlBarrier:
        l->has_barrier = true;
        break;
    case SpvOpBranchConditional:
        get(l, at[2])->chosen_by = get(l, at[1])->spec_id;
        break;
    default:
        touch(l, op, at);
        break;
    }
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static bool is_wide_number(lint *l, uint32_t type)
{
    uint32_t op = opcode(l, type);
    return (op == SpvOpTypeInt || op == SpvOpTypeFloat) && get(l, type)->at[2] == 64;
}

static void rule_opcode(lint *l, const uint32_t *at)
{
    uint32_t op = at[0] & 0xffff;
    if (op == SpvOpNop || op == SpvOpSRem || op == SpvOpSMod || op == SpvOpFOrdNotEqual ||
        op == SpvOpUndef || op == SpvOpArrayLength) {
        wrong(l, "opcode %u is never to be emitted", op);
    }
    if (op == SpvOpSelect && is_wide_number(l, at[1])) {
        wrong(l, "%%%u is a choice of 64 bits", at[2]);
    }
    if (op == SpvOpExtInst && at[3] == l->glsl &&
        (at[4] == GLSLstd450FMin || at[4] == GLSLstd450FMax || at[4] == GLSLstd450FClamp)) {
        wrong(l, "FMin, FMax and FClamp are never to be emitted");
    }
}

static void rule_contraction(lint *l, const uint32_t *at)
{
    uint32_t op = at[0] & 0xffff;
    bool arithmetic = op == SpvOpFAdd || op == SpvOpFSub || op == SpvOpFMul || op == SpvOpFDiv;
    if (arithmetic && !l->expect->fast_math && !get(l, at[2])->no_contraction) {
        wrong(l, "%%%u (opcode %u) lacks NoContraction", at[2], op);
    }
}

/* What only some devices round correctly is off unless the engine turns it on, and stands in a
 * block of its own behind that choice. */
static void rule_native(lint *l, const uint32_t *at)
{
    uint32_t op = at[0] & 0xffff;
    if (op == SpvOpLabel) {
        l->label = at[1];
    }
    if (op == SpvOpSpecConstantTrue || op == SpvOpSpecConstantFalse) {
        uint32_t choice = get(l, at[2])->spec_id - VY_SPEC_NATIVE_DIVIDE;
        if (op == SpvOpSpecConstantTrue && get(l, at[2])->spec_id == VY_SPEC_TURNS) {
            wrong(l, "specialisation constant %u is true by default", VY_SPEC_TURNS);
        }
        if (choice < 6) {
            l->has_choice[choice] = true;
            if (op == SpvOpSpecConstantTrue) {
                wrong(l, "specialisation constant %u is true by default",
                      VY_SPEC_NATIVE_DIVIDE + choice);
            }
        }
    }
    bool is_glsl = op == SpvOpExtInst && at[3] == l->glsl;
    bool is_sqrt = is_glsl && at[4] == GLSLstd450Sqrt, is_fma = is_glsl && at[4] == GLSLstd450Fma;
    uint32_t chosen_by = l->label ? get(l, l->label)->chosen_by : UINT32_MAX;
    bool divides = chosen_by == VY_SPEC_NATIVE_DIVIDE || chosen_by == VY_SPEC_NATIVE_DIVIDE_F64;
    bool roots = chosen_by == VY_SPEC_NATIVE_SQRT || chosen_by == VY_SPEC_NATIVE_SQRT_F64;
    bool fuses = chosen_by == VY_SPEC_NATIVE_FMA || chosen_by == VY_SPEC_NATIVE_FMA_F64;
    if ((op == SpvOpFDiv && divides) || (is_sqrt && roots) || (is_fma && fuses)) {
        l->has_native[chosen_by - VY_SPEC_NATIVE_DIVIDE] = true;
    }
    if (is_fma && !fuses) {
        wrong(l, "Fma stands outside the choice of it");
    }
}

static void rule_choices(lint *l)
{
    for (uint32_t i = 0; i < 6; i++) {
        if (l->has_choice[i] && !l->has_native[i]) {
            wrong(l, "specialisation constant %u chooses nothing", VY_SPEC_NATIVE_DIVIDE + i);
        }
    }
}

static void rule_atomic(lint *l, const uint32_t *at)
{
    uint32_t op = at[0] & 0xffff;
    if (!is_atomic(op)) {
        return;
    }
    uint32_t first = op == SpvOpAtomicStore ? 1 : 3;
    uint32_t class = storage_class(l, get(l, at[first])->root);
    uint32_t scope = constant(l, at[first + 1]), semantics = constant(l, at[first + 2]);
    uint32_t wanted = class == SpvStorageClassWorkgroup ? SpvScopeWorkgroup : SpvScopeDevice;
    if (scope != wanted) {
        wrong(l, "an atomic (opcode %u) has scope %u instead of %u", op, scope, wanted);
    }
    if (semantics & SpvMemorySemanticsSequentiallyConsistentMask) {
        wrong(l, "an atomic (opcode %u) is sequentially consistent", op);
    }
    if ((semantics & 0xe) && !(semantics & (SpvMemorySemanticsUniformMemoryMask |
                                            SpvMemorySemanticsWorkgroupMemoryMask))) {
        wrong(l, "an atomic (opcode %u) orders no storage class", op);
    }
}

static void rule_barrier(lint *l, const uint32_t *at)
{
    if ((at[0] & 0xffff) != SpvOpControlBarrier) {
        return;
    }
    uint32_t wanted = SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask;
    wanted |= l->expect->joins ? 0 : (uint32_t)SpvMemorySemanticsUniformMemoryMask;
    if (l->expect->target == VYRE_TARGET_VULKAN_1_3) {
        wanted |= SpvMemorySemanticsMakeAvailableMask | SpvMemorySemanticsMakeVisibleMask;
    }
    if (constant(l, at[1]) != SpvScopeWorkgroup || constant(l, at[2]) != SpvScopeWorkgroup) {
        wrong(l, "a barrier's scopes are %u and %u", constant(l, at[1]), constant(l, at[2]));
    }
    /* Without an order of memory only behind the choice of devices that have it anyway. */
    bool is_ordered = l->label && get(l, l->label)->chosen_by == VY_SPEC_TURNS;
    wanted = is_ordered ? (uint32_t)SpvMemorySemanticsMaskNone : wanted;
    if (constant(l, at[3]) != wanted) {
        wrong(l, "a barrier's semantics are 0x%x instead of 0x%x", constant(l, at[3]), wanted);
    }
}

/* Bytes of what a pointer leads to: an integer, a float, or a vector of them. */
static uint32_t element_size(lint *l, uint32_t pointer)
{
    const definition *chain = get(l, pointer);
    const definition *type = chain->at ? get(l, chain->at[1]) : NULL;
    if (!type || !type->at || (type->at[0] & 0xffff) != SpvOpTypePointer) {
        return 0;
    }
    const definition *element = get(l, type->at[3]);
    uint32_t count = 1;
    if (element->at && (element->at[0] & 0xffff) == SpvOpTypeVector) {
        count = element->at[3];
        element = get(l, element->at[2]);
    }
    uint32_t op = element->at ? element->at[0] & 0xffff : 0;
    return op == SpvOpTypeInt || op == SpvOpTypeFloat ? count * element->at[2] / 8 : 0;
}

/* Plain accesses to buffers that the module writes are NonPrivate in the Vulkan model; those
 * through addresses say that elements are aligned to their size, and no more. */
static void rule_access(lint *l, const uint32_t *at, uint32_t count)
{
    uint32_t op = at[0] & 0xffff;
    if (op != SpvOpLoad && op != SpvOpStore) {
        return;
    }
    const definition *root = get(l, get(l, at[op == SpvOpLoad ? 3 : 1])->root);
    uint32_t class = storage_class(l, get(l, at[op == SpvOpLoad ? 3 : 1])->root);
    uint32_t operand = op == SpvOpLoad ? 4 : 3;
    uint32_t access = count > operand ? at[operand] : 0;
    if (l->expect->target == VYRE_TARGET_VULKAN_1_3 && is_buffer(class) && root->stored &&
        !(access & SpvMemoryAccessNonPrivatePointerMask)) {
        wrong(l, "an access to binding %u, which is written, lacks NonPrivatePointer",
              root->binding);
    }
    uint32_t size = element_size(l, at[op == SpvOpLoad ? 3 : 1]);
    if (class == SpvStorageClassPhysicalStorageBuffer &&
        (!(access & SpvMemoryAccessAlignedMask) || count <= operand + 1 ||
         at[operand + 1] != size)) {
        wrong(l, "an access to binding %u by its address is not aligned to %u bytes", root->binding,
              size);
    }
}

/* By any of its views. */
static bool is_stored(const lint *l, const definition *view)
{
    for (uint32_t id = 1; id < l->bound; id++) {
        const definition *d = &l->ids[id];
        if (d->at && d->stored && d->binding == view->binding) {
            return true;
        }
    }
    return false;
}

/* The one uniform block is the parameter block: where it belongs, of the size that is bound, and
 * read by constant words alone. */
static void rule_params(lint *l, const uint32_t *at)
{
    bool has_addresses = l->expect->interface == VYRE_INTERFACE_ADDRESS;
    uint32_t bindings = l->expect->binding_count;
    uint32_t op = at[0] & 0xffff;
    if (op == SpvOpVariable && at[3] == SpvStorageClassUniform) {
        uint32_t wanted = has_addresses ? VY_ADDRESS_BLOCK : bindings + VY_HIDDEN_PARAMS;
        if (get(l, at[2])->binding != wanted) {
            wrong(l, "a uniform block is at binding %u instead of %u", get(l, at[2])->binding,
                  wanted);
        }
    }
    if (op == SpvOpTypeArray && opcode(l, at[2]) == SpvOpTypeVector && get(l, at[1])->is_strided) {
        uint32_t wanted = vy_param_vectors(bindings, l->expect->param_count);
        if (constant(l, at[3]) != wanted || get(l, at[1])->stride != VY_PARAM_VECTOR_SIZE) {
            wrong(l, "the parameter block has %u vectors, %u bytes apart, instead of %u",
                  constant(l, at[3]), get(l, at[1])->stride, wanted);
        }
    }
    if (op == SpvOpAccessChain && storage_class(l, get(l, at[3])->root) == SpvStorageClassUniform &&
        chain_word(l, at) >= vy_param_words(bindings, l->expect->param_count)) {
        wrong(l, "%%%u is no constant word of the parameter block", at[2]);
    }
}

static void rule_variables(lint *l)
{
    for (uint32_t id = 1; id < l->bound; id++) {
        const definition *d = &l->ids[id];
        if (!d->at || !is_buffer(storage_class(l, id))) {
            continue;
        }
        bool is_addressed = storage_class(l, id) == SpvStorageClassPhysicalStorageBuffer;
        if (is_addressed != (l->expect->interface == VYRE_INTERFACE_ADDRESS)) {
            wrong(l, "binding %u is reached in the other interface's way", d->binding);
        }
        /* Where bindings may overlap, another one that is written may be this one. */
        bool has_views = l->expect->coarse && d->binding < l->expect->binding_count;
        bool may_change = (l->expect->aliased && d->binding < l->expect->binding_count) ||
                          (has_views && is_stored(l, d));
        if (!d->stored && !d->non_writable && !may_change) {
            wrong(l, "binding %u is never written and lacks NonWritable", d->binding);
        }
        if (d->stored && d->non_writable) {
            wrong(l, "binding %u is written and NonWritable", d->binding);
        }
        /* Hidden buffers need none: records see atomics alone, spill slots one invocation each. */
        bool shared = d->binding < l->expect->binding_count && d->stored && d->loaded &&
                      (l->has_barrier || l->has_atomic);
        if (l->expect->target == VYRE_TARGET_VULKAN_1_2 && shared && !d->coherent) {
            wrong(l,
                  "binding %u is read and written beside a barrier or atomics and lacks Coherent",
                  d->binding);
        }
        if (l->expect->target == VYRE_TARGET_VULKAN_1_3 && d->coherent) {
            wrong(l, "binding %u is Coherent under the Vulkan memory model", d->binding);
        }
        /* Nothing is assumed of two addresses, and there is nothing to decorate. */
        bool may_overlap = (l->expect->aliased && d->stored) || (has_views && is_stored(l, d));
        if (may_overlap && d->binding < l->expect->binding_count && !d->aliased && !is_addressed) {
            wrong(l, "binding %u may overlap others and lacks Aliased", d->binding);
        }
    }
}

/* A driver was seen to take NonWritable for a property of the block's type. */
static void rule_block_types(lint *l)
{
    for (uint32_t a = 1; a < l->bound; a++) {
        if (!l->ids[a].at || !is_buffer(storage_class(l, a)) || !l->ids[a].non_writable) {
            continue;
        }
        for (uint32_t b = 1; b < l->bound; b++) {
            if (l->ids[b].at && is_buffer(storage_class(l, b)) && l->ids[b].stored &&
                l->ids[b].at[1] == l->ids[a].at[1]) {
                wrong(l, "binding %u, NonWritable, and binding %u, written, have one block type",
                      l->ids[a].binding, l->ids[b].binding);
            }
        }
    }
}

static void rule_module(lint *l, const uint32_t *words)
{
    bool new_target = l->expect->target == VYRE_TARGET_VULKAN_1_3;
    uint32_t version = new_target ? 0x00010600 : 0x00010500;
    uint32_t model = new_target ? SpvMemoryModelVulkan : SpvMemoryModelGLSL450;
    if (words[1] != version) {
        wrong(l, "the SPIR-V version is 0x%08x instead of 0x%08x", words[1], version);
    }
    if (l->memory_model != model) {
        wrong(l, "the memory model is %u instead of %u", l->memory_model, model);
    }
    bool has_addresses = l->expect->interface == VYRE_INTERFACE_ADDRESS;
    uint32_t addressing =
        has_addresses ? SpvAddressingModelPhysicalStorageBuffer64 : SpvAddressingModelLogical;
    if (l->addressing_model != addressing || l->has_address_capability != has_addresses) {
        wrong(l, "the addressing model is %u instead of %u, or its capability is not to be",
              l->addressing_model, addressing);
    }
    if (l->modes != l->expect->float_modes) {
        wrong(l, "the float modes are 0x%x instead of 0x%x", l->modes, l->expect->float_modes);
    }
}

const char *vy_lint(const uint32_t *words, uint32_t count, const vy_lint_expectation *expectation,
                    char *message, size_t message_size)
{
    lint state = {.expect = expectation, .message = message, .message_size = message_size};
    lint *l = &state;
    if (count < 5 || words[0] != SpvMagicNumber || words[3] == 0 || words[3] > 1u << 22) {
        snprintf(message, message_size, "no module");
        return message;
    }
    l->bound = words[3];
    l->ids = calloc(l->bound, sizeof *l->ids);
    if (!l->ids) {
        abort();
    }
    for (uint32_t i = 0; i < l->bound; i++) {
        l->ids[i].binding = l->ids[i].spec_id = l->ids[i].chosen_by = UINT32_MAX;
    }
    for (int round = 0; round < 2 && !l->failed; round++) {
        for (uint32_t at = 5; at < count && !l->failed;) {
            uint32_t length = words[at] >> 16;
            if (length == 0 || length > count - at) {
                wrong(l, "an instruction at word %u has a wrong length", at);
                break;
            }
            if (round == 0) {
                collect(l, words + at, length);
            } else {
                rule_opcode(l, words + at);
                rule_contraction(l, words + at);
                rule_native(l, words + at);
                rule_atomic(l, words + at);
                rule_barrier(l, words + at);
                rule_access(l, words + at, length);
                rule_params(l, words + at);
            }
            at += length;
        }
    }
    rule_module(l, words);
    rule_choices(l);
    rule_variables(l);
    rule_block_types(l);
    free(l->ids);
    return l->failed ? message : NULL;
}

/* Atomics, barriers and records. An atomic is relaxed unless an order is written; an ordered one
 * orders storage and workgroup memory both, at the scope of the memory it acts on. f32 goes through
 * its bits, its sum through a compare-and-exchange loop. Elements have 32 or 64 bits. */
#include "codegen/spirv/emit_exact.h"

#define BOTH_MEMORIES                                                                              \
    ((uint32_t)SpvMemorySemanticsUniformMemoryMask |                                               \
     (uint32_t)SpvMemorySemanticsWorkgroupMemoryMask)

typedef struct vy_atomic_place {
    uint32_t pointer, scope;
    uint32_t semantics, unequal; /* ids; unequal: of a compare_exchange that finds another value */
} vy_atomic_place;

uint32_t vy_emit_device_scope(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    if (emitter->target->has_memory_capabilities) {
        vy_module_capability(m, SpvCapabilityVulkanMemoryModelDeviceScope);
    }
    return vy_const_u32(m, SpvScopeDevice);
}

/* Memories: bits, where it acquires or releases. */
static uint32_t semantics_of(const vy_emitter *emitter, bool acquires, bool releases,
                             uint32_t memories)
{
    uint32_t bits = 0;
    if (acquires && releases) {
        bits = SpvMemorySemanticsAcquireReleaseMask;
    } else if (acquires) {
        bits = SpvMemorySemanticsAcquireMask;
    } else if (releases) {
        bits = SpvMemorySemanticsReleaseMask;
    }
    if (bits) {
        bits |= memories;
        bits |= acquires ? emitter->target->acquire : 0;
        bits |= releases ? emitter->target->release : 0;
    }
    return bits;
}

static vy_atomic_place place_of(vy_emitter *emitter, const vy_ins *ins, uint32_t pointer)
{
    vy_module *m = &emitter->module;
    vy_atomic_place place;
    bool acquires = ins->order == VYRE_ORDER_ACQUIRE || ins->order == VYRE_ORDER_ACQ_REL;
    bool releases = ins->order == VYRE_ORDER_RELEASE || ins->order == VYRE_ORDER_ACQ_REL;
    /* What SPIR-V forbids never comes here from a validated program. */
    releases = releases && ins->atomic != VYRE_ATOMIC_LOAD;
    acquires = acquires && ins->atomic != VYRE_ATOMIC_STORE;
    place.pointer = pointer;
    place.scope = vy_emit_is_shared(emitter, ins->ref) ? vy_const_u32(m, SpvScopeWorkgroup)
                                                       : vy_emit_device_scope(emitter);
    place.semantics = vy_const_u32(m, semantics_of(emitter, acquires, releases, BOTH_MEMORIES));
    place.unequal = vy_const_u32(m, semantics_of(emitter, acquires, false, BOTH_MEMORIES));
    return place;
}

/* expected = *p; while ((found = exchange if *p == expected) != expected) expected = found; */
static uint32_t add_f32(vy_emitter *emitter, vy_atomic_place place, uint32_t word)
{
    vy_module *m = &emitter->module;
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F32);
    uint32_t type = vy_type_u32(m);
    uint32_t addend = vy_f32_of(m, word);
    uint32_t relaxed = vy_const_u32(m, SpvMemorySemanticsMaskNone);
    uint32_t first =
        vy_value(m, SpvOpAtomicLoad, type, VY_LIST(place.pointer, place.scope, relaxed));
    uint32_t before = emitter->current_label;
    uint32_t header = vy_module_id(m), body = vy_module_id(m), again = vy_module_id(m);
    uint32_t merge = vy_module_id(m), found = vy_module_id(m);
    vy_jump(m, header);
    vy_emitter_label(emitter, header);
    uint32_t expected = vy_value(m, SpvOpPhi, type, VY_LIST(first, before, found, again));
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, again, SpvLoopControlMaskNone));
    vy_jump(m, body);
    vy_emitter_label(emitter, body);
    uint32_t old = vy_f32_of(m, expected);
    uint32_t sum = vy_sum(&f, SpvOpFAdd, old, addend);
    uint32_t desired = vy_bits_of(m, sum);
    vy_effect(m, SpvOpAtomicCompareExchange,
              VY_LIST(type, found, place.pointer, place.scope, place.semantics, place.unequal,
                      desired, expected));
    uint32_t done = vy_b2(m, SpvOpIEqual, found, expected);
    vy_effect(m, SpvOpBranchConditional, VY_LIST(done, merge, again));
    vy_emitter_label(emitter, again);
    vy_jump(m, header);
    vy_emitter_label(emitter, merge);
    return expected;
}

static SpvOp read_modify_write(vyre_atomic atomic, bool is_signed)
{
    switch ((int)atomic) {
    case VYRE_ATOMIC_ADD:
        return SpvOpAtomicIAdd;
    case VYRE_ATOMIC_SUB:
        return SpvOpAtomicISub;
    case VYRE_ATOMIC_MIN:
        return is_signed ? SpvOpAtomicSMin : SpvOpAtomicUMin;
    case VYRE_ATOMIC_MAX:
        return is_signed ? SpvOpAtomicSMax : SpvOpAtomicUMax;
    case VYRE_ATOMIC_AND:
        return SpvOpAtomicAnd;
    case VYRE_ATOMIC_OR:
        return SpvOpAtomicOr;
    case VYRE_ATOMIC_XOR:
        return SpvOpAtomicXor;
    default:
        return SpvOpAtomicExchange;
    }
}

/* Where the old value lives: a cell of 32 or 64 bits. */
static uint32_t cell_type(vy_module *m, vyre_type type)
{
    return vy_type_integer(m, vy_type_width(type) == 64 ? 64 : 32);
}

static uint32_t modify(vy_emitter *emitter, const vy_ins *ins, const void *at, uint32_t x)
{
    vy_module *m = &emitter->module;
    const vy_atomic_place *place = at;
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    SpvOp op = read_modify_write((vyre_atomic)ins->atomic, vy_type_is_signed(type));
    return vy_value(m, op, cell_type(m, type),
                    VY_LIST(place->pointer, place->scope, place->semantics, x));
}

/* The old value as a cell's, or 0 for a store. data: cells of the operands. */
static uint32_t act(vy_emitter *emitter, const vy_ins *ins, uint32_t pointer, const void *data)
{
    vy_module *m = &emitter->module;
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    const uint32_t *operands = data;
    uint32_t x = operands[0], y = operands[1];
    vy_atomic_place place = place_of(emitter, ins, pointer);
    uint32_t cell = cell_type(m, type);
    if (vy_type_width(type) == 64) {
        vy_module_capability(m, SpvCapabilityInt64Atomics);
    }
    switch ((int)ins->atomic) {
    case VYRE_ATOMIC_LOAD:
        return vy_value(m, SpvOpAtomicLoad, cell,
                        VY_LIST(place.pointer, place.scope, place.semantics));
    case VYRE_ATOMIC_STORE:
        vy_effect(m, SpvOpAtomicStore, VY_LIST(place.pointer, place.scope, place.semantics, x));
        return 0;
    case VYRE_ATOMIC_COMPARE_EXCHANGE:
        return vy_value(m, SpvOpAtomicCompareExchange, cell,
                        VY_LIST(place.pointer, place.scope, place.semantics, place.unequal, y, x));
    default:
        break;
    }
    if (type == VYRE_TYPE_F32 && ins->atomic != VYRE_ATOMIC_EXCHANGE) {
        return add_f32(emitter, place, x);
    }
    if (ins->bits & VY_JOIN_GROUP) {
        return modify(emitter, ins, &place, x);
    }
    if (vy_emit_is_aggregated(emitter, ins)) {
        return vy_emit_aggregated(emitter, ins, x, modify, &place);
    }
    if (ins->bits) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "lanes wait for an atomic that is not joined. Fix: report it with "
                               "the program");
    }
    return modify(emitter, ins, &place, x);
}

static uint32_t operand_cell(vy_emitter *emitter, const vy_ins *ins, vyre_type type,
                             uint32_t operand)
{
    if (operand > vy_atomic_operand_count((vyre_atomic)ins->atomic)) {
        return 0;
    }
    uint32_t value = vy_emitter_value(emitter, ins->arg[operand], ins->loc);
    return vy_emit_to_word(emitter, type, value);
}

static bool is_possible(vyre_type type, vyre_atomic atomic)
{
    bool is_integer = vy_type_is_integer(type) && vy_type_width(type) >= 32;
    bool moves =
        atomic == VYRE_ATOMIC_LOAD || atomic == VYRE_ATOMIC_STORE || atomic == VYRE_ATOMIC_EXCHANGE;
    bool is_word = type == VYRE_TYPE_BOOL || type == VYRE_TYPE_F32;
    return (is_integer && !vy_type_is_vector(type)) || (is_word && moves) ||
           (type == VYRE_TYPE_F32 && atomic == VYRE_ATOMIC_ADD);
}

/* The old value as a cell's, zero where it is out of bounds; 0 for a store. */
static uint32_t act_in_bounds(vy_emitter *emitter, const vy_ins *ins, const uint32_t operands[2])
{
    vy_module *m = &emitter->module;
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    uint32_t count = ins->unchecked ? 0 : vy_emit_bound(emitter, ins);
    vy_checked checked = vy_check_index(emitter, ins, count);
    uint32_t before = emitter->current_label;
    uint32_t merge = vy_begin_checked(emitter, checked);
    uint32_t old = vy_emit_access(emitter, ins, checked.index, act, operands);
    uint32_t last = emitter->current_label;
    vy_end_checked(emitter, merge);
    if (merge && old) {
        uint32_t zero = vy_type_width(type) == 64 ? vy_const_u64(m, 0) : vy_const_u32(m, 0);
        old = vy_value(m, SpvOpPhi, cell_type(m, type), VY_LIST(zero, before, old, last));
    }
    return old;
}

/* ---- One for the workgroup ------------------------------------------------------------------- */

/* Nothing but the workgroup's own words passes from one to another. */
void vy_emit_wait_for_group(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t scope = vy_const_u32(m, SpvScopeWorkgroup);
    uint32_t semantics = vy_const_u32(
        m, semantics_of(emitter, true, true, (uint32_t)SpvMemorySemanticsWorkgroupMemoryMask));
    vy_effect(m, SpvOpControlBarrier, VY_LIST(scope, scope, semantics));
}

static uint32_t is_first_of_group(vy_emitter *emitter)
{
    uint32_t local = vy_emit_input(emitter, VY_INPUT_LOCAL_INDEX);
    return vy_b2c(&emitter->module, SpvOpIEqual, local, 0);
}

/* Opens a selection; its merge label. */
static uint32_t begin_if(vy_emitter *emitter, uint32_t condition)
{
    vy_module *m = &emitter->module;
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, condition, inside, merge, merge);
    vy_emitter_label(emitter, inside);
    return merge;
}

static void end_if(vy_emitter *emitter, uint32_t merge)
{
    vy_jump(&emitter->module, merge);
    vy_emitter_label(emitter, merge);
}

void vy_emit_group_begin(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    uint32_t merge = begin_if(emitter, is_first_of_group(emitter));
    for (uint32_t i = 0; i < VY_COUNT_OF(emitter->group_words) && i < ins->ref; i++) {
        uint32_t word = vy_global_variable(m, SpvStorageClassWorkgroup, vy_type_u32(m), 0);
        vy_module_name(m, word, "vy_joined");
        emitter->group_words[i] = word;
        emitter->group_begins[i] = vy_emitter_value(emitter, ins->arg[i], ins->loc);
        vy_emit_store_word(emitter, word, emitter->group_begins[i], emitter->target->shared_access);
    }
    end_if(emitter, merge);
    vy_emit_wait_for_group(emitter);
}

/* In one invocation: the atomic of what has met in the word. That is left to be the old value. */
static void act_for_group(vy_emitter *emitter, const vy_ins *ins, uint32_t number, bool has_old)
{
    vy_module *m = &emitter->module;
    uint32_t word = emitter->group_words[number], access = emitter->target->shared_access;
    uint32_t total = vy_emit_load_word(emitter, word, access), merge = 0;
    if (ins->bits & VY_JOIN_STAGED) {
        vy_emit_store_word(emitter, vy_emit_stage_total(emitter), total, access);
        emitter->stage_first = word;
    }
    if (ins->bits & VY_JOIN_SKIPS) {
        merge = begin_if(emitter, vy_b2(m, SpvOpINotEqual, total, emitter->group_begins[number]));
    }
    if (ins->atomic == VYRE_ATOMIC_SUB) { /* which the word has been, too */
        total = vy_u2(m, SpvOpISub, vy_const_u32(m, 0), total);
    }
    const uint32_t operands[2] = {total, 0};
    uint32_t old = act_in_bounds(emitter, ins, operands);
    if (has_old) {
        vy_emit_store_word(emitter, word, old, access);
    }
    if (merge) {
        end_if(emitter, merge);
    }
}

/* Subgroups do it to the word as they would to the buffer; what each finds there, behind what the
 * one atomic finds, is what it would have found. */
static uint32_t act_by_group(vy_emitter *emitter, const vy_ins *ins, uint32_t x)
{
    vy_module *m = &emitter->module;
    uint32_t number = (uint32_t)(ins->bits >> VY_JOIN_WORD);
    uint32_t word = number < VY_COUNT_OF(emitter->group_words) ? emitter->group_words[number] : 0;
    if (!word || !vy_emit_is_aggregated(emitter, ins)) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "a workgroup waits for an atomic that is not joined. Fix: report it "
                               "with the program");
    }
    vy_atomic_place place = {.pointer = word, .scope = vy_const_u32(m, SpvScopeWorkgroup)};
    place.semantics = place.unequal = vy_const_u32(m, SpvMemorySemanticsMaskNone);
    uint32_t found = vy_emit_aggregated(emitter, ins, x, modify, &place);
    vy_emit_wait_for_group(emitter);
    uint32_t merge = begin_if(emitter, is_first_of_group(emitter));
    act_for_group(emitter, ins, number, found != 0);
    end_if(emitter, merge);
    if (!found || ins->bits & VY_JOIN_STAGED) {
        return found;
    }
    vy_emit_wait_for_group(emitter);
    uint32_t first = vy_emit_load_word(emitter, word, emitter->target->shared_access);
    return vy_u2(m, SpvOpIAdd, first, found); /* sums alone have old values */
}

/* ---- All of them ----------------------------------------------------------------------------- */

uint32_t vy_emit_atomic(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    if (!is_possible(type, (vyre_atomic)ins->atomic)) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INVALID_PROGRAM, ins->loc,
                               "%s does not exist for %s. Fix: use u32 or i32",
                               vy_atomic_text((vyre_atomic)ins->atomic), vyre_type_keyword(type));
    }
    uint32_t operands[2];
    operands[0] = operand_cell(emitter, ins, type, 1);
    operands[1] = operand_cell(emitter, ins, type, 2);
    uint32_t old = ins->bits & VY_JOIN_GROUP ? act_by_group(emitter, ins, operands[0])
                                             : act_in_bounds(emitter, ins, operands);
    return old ? vy_emit_from_word(emitter, type, old) : 0;
}

static void wait(vy_emitter *emitter, uint32_t semantics)
{
    vy_module *m = &emitter->module;
    uint32_t scope = vy_const_u32(m, SpvScopeWorkgroup);
    vy_effect(m, SpvOpControlBarrier, VY_LIST(scope, scope, vy_const_u32(m, semantics)));
}

void vy_emit_full_barrier(vy_emitter *emitter)
{
    wait(emitter, semantics_of(emitter, true, true, BOTH_MEMORIES));
}

static uint32_t has_turns(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    if (!emitter->has_turns) {
        emitter->has_turns =
            vy_const_spec(m, SpvOpSpecConstantFalse, vy_type_bool(m), NULL, 0, VY_SPEC_TURNS);
        vy_module_name(m, emitter->has_turns, "vy_turns");
    }
    return emitter->has_turns;
}

uint32_t vy_emit_barrier_ways(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t alone = vy_module_id(m), others = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, has_turns(emitter), alone, others, merge);
    vy_label(m, alone);
    wait(emitter, SpvMemorySemanticsMaskNone);
    vy_jump(m, merge);
    vy_label(m, others);
    vy_emit_full_barrier(emitter);
    vy_jump(m, merge);
    return merge;
}

void vy_emit_barrier(vy_emitter *emitter)
{
    vy_emitter_label(emitter, vy_emit_barrier_ways(emitter));
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint32_t record_pointer(vy_emitter *emitter, uint32_t index)
{
    uint32_t slot = emitter->ssa->program->binding_count + VY_HIDDEN_RECORDS;
    return emitter->addressing->element(emitter, slot, VY_CELL_32, index);
}

/* Writes `mine` where the word is still zero; whether it is mine then. */
static uint32_t claim(vy_emitter *emitter, uint32_t word, uint32_t mine)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), zero = vy_const_u32(m, 0);
    uint32_t index = vy_const_u32(m, word);
    uint32_t pointer = record_pointer(emitter, index);
    uint32_t scope = vy_emit_device_scope(emitter);
    uint32_t old = vy_value(m, SpvOpAtomicCompareExchange, type,
                            VY_LIST(pointer, scope, zero, zero, mine, zero));
    uint32_t was_free = vy_b2(m, SpvOpIEqual, old, zero);
    uint32_t was_mine = vy_b2(m, SpvOpIEqual, old, mine);
    return vy_b2(m, SpvOpLogicalOr, was_free, was_mine);
}

static void record(vy_emitter *emitter, uint32_t site, uint32_t invocation, uint32_t pass,
                   uint32_t execution)
{
    vy_module *m = &emitter->module;
    uint32_t inside = vy_module_id(m), done = vy_module_id(m);
    uint32_t is_mine = claim(emitter, VY_RECORD_PASS, pass);
    vy_if(m, is_mine, inside, done, done);
    vy_label(m, inside);
    uint32_t write = vy_module_id(m), written = vy_module_id(m);
    is_mine = claim(emitter, VY_RECORD_EXECUTION, execution);
    vy_if(m, is_mine, write, written, written);
    vy_label(m, write);
    uint32_t index = vy_u2c(m, SpvOpIAdd, site, VY_RECORD_SITES);
    uint32_t pointer = record_pointer(emitter, index);
    uint32_t scope = vy_emit_device_scope(emitter), relaxed = vy_const_u32(m, 0);
    uint32_t rank = vy_u1(m, SpvOpNot, invocation);
    (void)vy_value(m, SpvOpAtomicUMax, vy_type_u32(m), VY_LIST(pointer, scope, relaxed, rank));
    vy_jump(m, written);
    vy_label(m, written);
    vy_jump(m, done);
    vy_label(m, done);
}

uint32_t vy_emit_record(vy_emitter *emitter, uint32_t site, uint32_t invocation)
{
    vy_module *m = &emitter->module;
    uint32_t pass = vy_emit_pass(emitter);
    pass = vy_u2c(m, SpvOpIAdd, pass, 1);
    uint32_t execution = vy_emit_push_word(emitter, VY_PUSH_EXECUTION);
    execution = vy_u2c(m, SpvOpIAdd, execution, 1);
    record(emitter, site, invocation, pass, execution);
    return 0;
}

uint32_t vy_emit_record_of(vy_emitter *emitter, uint32_t what, uint32_t when)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m);
    uint32_t site = vy_extract(m, type, what, 0), invocation = vy_extract(m, type, what, 1);
    uint32_t pass = vy_extract(m, type, when, 0), execution = vy_extract(m, type, when, 1);
    pass = vy_u2c(m, SpvOpIAdd, pass, 1);
    execution = vy_u2c(m, SpvOpIAdd, execution, 1);
    record(emitter, site, invocation, pass, execution);
    return 0;
}

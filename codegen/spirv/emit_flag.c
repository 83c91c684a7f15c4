/* The flag of `until`, in modules that run one segment. While passes run its element 0 is a word of
 * the dispatch's state, another one in each of VY_STATE_TURNS passes, so that the next pass can see
 * what this one left while nobody has to move or clear it. A module begins with the gate: it reads
 * the word of the pass before, which nobody writes in this pass, so that a workgroup goes on or
 * leaves as one; and the first execution makes the word of the next pass zero, which was last read
 * two passes ago. A pass that does nothing leaves its own word zero, so all behind it do nothing.
 *
 * The pass's number comes the same way: a count beside each word. Nothing is pushed for a pass,
 * since a push constant that is read costs a launch a fifth of its time (NVIDIA H200); what tells
 * passes apart is the parameter block that is bound.
 *
 * Accesses whose index is a literal go to one place or the other; the rest branch on it. */
#include "codegen/spirv/emit.h"

bool vy_emit_is_flag(const vy_emitter *emitter, uint32_t buffer)
{
    return !emitter->options->whole && buffer && buffer == emitter->ssa->program->until;
}

static uint32_t state_word(vy_emitter *emitter, uint32_t index)
{
    uint32_t slot = emitter->ssa->program->binding_count + VY_HIDDEN_STATE;
    return emitter->addressing->element(emitter, slot, VY_CELL_32, index);
}

bool vy_emit_is_gated(const vy_emitter *emitter)
{
    return emitter->ssa->program->until && !emitter->options->whole && !emitter->wrapper->push_word;
}

/* Which of the words, counted from a turn. */
static uint32_t word_behind(vy_emitter *emitter, uint32_t turn, uint32_t passes)
{
    vy_module *m = &emitter->module;
    uint32_t sum = vy_u2c(m, SpvOpIAdd, turn, passes);
    return vy_u2c(m, SpvOpBitwiseAnd, sum, VY_STATE_TURNS - 1);
}

static uint32_t count_pointer(vy_emitter *emitter, uint32_t turn)
{
    uint32_t word = vy_u2c(&emitter->module, SpvOpIAdd, turn, VY_STATE_PASSES);
    return state_word(emitter, word);
}

uint32_t vy_emit_counted_pass(vy_emitter *emitter, uint32_t turn)
{
    uint32_t access = emitter->addressing->access | emitter->target->shared_access;
    return vy_emit_load_word(emitter, count_pointer(emitter, turn), access);
}

/* Where the body reads, writes and updates element 0. */
static uint32_t flag_pointer(vy_emitter *emitter)
{
    return state_word(emitter, vy_emit_input(emitter, VY_INPUT_TURN));
}

bool vy_emit_flag_splits(const vy_emitter *emitter, const vy_ins *ins)
{
    uint64_t index = 0;
    return vy_emit_is_flag(emitter, ins->ref) && !vy_emitter_literal(emitter, ins->arg[0], &index);
}

/* By the index, at run time. */
static uint32_t access_either(vy_emitter *emitter, const vy_ins *ins, uint32_t index,
                              vy_access_fn act, const void *data)
{
    vy_module *m = &emitter->module;
    uint32_t first = vy_module_id(m), other = vy_module_id(m), merge = vy_module_id(m);
    uint32_t is_first = vy_b2c(m, SpvOpIEqual, index, 0);
    vy_if(m, is_first, first, other, merge);
    vy_emitter_label(emitter, first);
    uint32_t pointer = flag_pointer(emitter);
    uint32_t of_flag = act(emitter, ins, pointer, data), flag_end = emitter->current_label;
    vy_jump(m, merge);
    vy_emitter_label(emitter, other);
    pointer = vy_emit_element(emitter, ins->ref, index);
    uint32_t of_buffer = act(emitter, ins, pointer, data), buffer_end = emitter->current_label;
    vy_jump(m, merge);
    vy_emitter_label(emitter, merge);
    if (!of_flag || !of_buffer) {
        return 0;
    }
    return vy_value(m, SpvOpPhi, vy_type_u32(m), VY_LIST(of_flag, flag_end, of_buffer, buffer_end));
}

uint32_t vy_emit_access(vy_emitter *emitter, const vy_ins *ins, uint32_t index, vy_access_fn act,
                        const void *data)
{
    uint64_t literal = 1;
    if (vy_emit_flag_splits(emitter, ins)) {
        return access_either(emitter, ins, index, act, data);
    }
    (void)vy_emitter_literal(emitter, ins->arg[0], &literal);
    bool is_flag = vy_emit_is_flag(emitter, ins->ref) && literal == 0;
    uint32_t pointer = is_flag ? flag_pointer(emitter) : vy_emit_element(emitter, ins->ref, index);
    return act(emitter, ins, pointer, data);
}

/* By the first invocation of a pass: the next one's word is zero, and this one counts. */
static void hand_on(vy_emitter *emitter, uint32_t turn, uint32_t is_over)
{
    vy_module *m = &emitter->module;
    uint32_t access = emitter->addressing->access | emitter->target->shared_access;
    uint32_t next = word_behind(emitter, turn, 1);
    uint32_t zero = vy_const_u32(m, 0), one = vy_const_u32(m, 1);
    vy_emit_store_word(emitter, state_word(emitter, next), zero, access);
    uint32_t passes = vy_emit_counted_pass(emitter, turn);
    uint32_t more = vy_select_u(m, is_over, zero, one);
    passes = vy_u2(m, SpvOpIAdd, passes, more);
    vy_emit_store_word(emitter, count_pointer(emitter, next), passes, access);
}

/* Of the dispatch: asking for the number of workgroups would cost as much as a push constant. */
static uint32_t is_first_invocation(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t group = vy_emit_builtin_variable(emitter, SpvBuiltInWorkgroupId);
    uint32_t any = vy_emit_local_index(emitter);
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t place = vy_extract(m, vy_type_u32(m), group, axis);
        any = vy_u2(m, SpvOpBitwiseOr, any, place);
    }
    return vy_b2c(m, SpvOpIEqual, any, 0);
}

uint32_t vy_emit_gate(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t access = emitter->addressing->access | emitter->target->shared_access;
    uint32_t turn = emitter->wrapper->turn(emitter);
    uint32_t before = word_behind(emitter, turn, VY_STATE_TURNS - 1);
    uint32_t flag = vy_emit_load_word(emitter, state_word(emitter, before), access);
    uint32_t is_over = vy_b2c(m, SpvOpIEqual, flag, 0);
    uint32_t is_first = is_first_invocation(emitter);
    is_first = vy_b2(m, SpvOpLogicalAnd, is_first, emitter->wrapper->leads(emitter));
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, is_first, inside, merge, merge);
    vy_label(m, inside);
    hand_on(emitter, turn, is_over);
    vy_jump(m, merge);
    vy_label(m, merge);
    return is_over;
}

void vy_emit_end_flag(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t access = emitter->addressing->access | emitter->target->shared_access;
    uint32_t passes = vy_emit_counted_pass(emitter, emitter->wrapper->turn(emitter));
    for (uint32_t turn = 0; turn < VY_STATE_TURNS; turn++) {
        uint32_t word = vy_const_u32(m, VY_STATE_FLAGS + turn), zero = vy_const_u32(m, 0);
        vy_emit_store_word(emitter, state_word(emitter, word), zero, access);
        word = vy_const_u32(m, VY_STATE_PASSES + turn);
        vy_emit_store_word(emitter, state_word(emitter, word), passes, access);
    }
}

/* Whether a segment is made coarse, and what becomes wide in it: loads at gid.x of what the segment
 * does not change before, stores at gid.x that leave a value of every element, and atomics of one
 * place. Reads the form alone. */
#include "codegen/passes/coarsen_parts.h"
#include "codegen/passes/wide.h"

/* Of all copies together: more costs registers, and such bodies do not wait for memory. */
#define MAX_INSTRUCTIONS 2048u

/* What a value is made of. */
enum {
    SAME,     /* the same for all elements of an invocation */
    OF_PLACE, /* of gid.x by arithmetic: neighbours access neighbouring memory */
    OF_DATA
};

typedef struct buffer_use {
    uint32_t loads, other_loads;   /* at gid.x, elsewhere */
    uint32_t stores, other_stores; /* likewise */
    uint32_t atomics, joinable;
    uint32_t last_load, first_store; /* at gid.x: places in the order of instructions */
    uint32_t store;                  /* an instruction: one of them */
    uint32_t returning;              /* atomics whose old values are used */
    uint32_t index;                  /* of the last atomic */
    uint8_t atomic;
    bool has_same_atomic;
    bool has_unproved; /* an atomic that may be out of bounds */
    bool has_unknown;  /* atomics at indices that are neither literals nor the same instruction */
} buffer_use;

typedef struct finder {
    const vy_ssa *ssa;
    vy_coarse_plan *plan;
    uint8_t *kinds; /* by instruction */
    bool *is_used;  /* by instruction: its value */
    bool *returns;  /* by buffer: its atomics are joined although their old values are used */
    buffer_use *uses;
    bool *is_stored;    /* by block: whether an element has stored when it ends, of one buffer */
    uint32_t place;     /* in the walk */
    uint32_t wide, far; /* accesses that become wide; accesses at places that data says */
    bool has_stores, has_front, has_joined, is_long;
} finder;

/* ---- The form -------------------------------------------------------------------------------- */

static bool is_possible(const vy_ssa *ssa, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VY_SSA_BARRIER:
    case VY_SSA_SUBGROUP:
    case VY_SSA_SPILL_LOAD: /* by invocation, as records are */
    case VY_SSA_SPILL_STORE:
    case VY_SSA_RECORD:
    case VY_SSA_PRINT: /* once for each invocation */
    case VY_SSA_IS_ELEMENT:
    case VY_SSA_ARRAY_ZERO: /* registers enough, and no streams */
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        return false;
    case VY_SSA_ATOMIC: /* an order would hold for the accesses that are moved, too */
        return ins->order == VYRE_ORDER_RELAXED &&
               ssa->program->buffers.data[ins->ref].mode != VYRE_BUFFER_SHARED;
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
        return ssa->program->buffers.data[ins->ref].mode != VYRE_BUFFER_SHARED;
    case VYRE_OP_BUILTIN:
        return ins->ref <= VYRE_BUILTIN_GID_Z || ins->ref == VYRE_BUILTIN_PASS;
    default:
        return true;
    }
}

/* One way out; no loops, which hide what streams cost. */
static bool is_simple(const vy_ssa *ssa, uint32_t *out_instructions)
{
    *out_instructions = 0;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        bool is_last = b + 1 == ssa->blocks.count;
        if ((block->end == VY_END_RETURN) != is_last) {
            return false;
        }
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            if (!is_possible(ssa, &ssa->ins.data[i])) {
                return false;
            }
            ++*out_instructions;
        }
    }
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

bool vy_coarse_is_place(const vy_ins *ins)
{
    return ins->op == VYRE_OP_BUILTIN && ins->ref == VYRE_BUILTIN_GID_X;
}

static bool is_place(const finder *f, uint32_t value)
{
    return vy_coarse_is_place(&f->ssa->ins.data[value]);
}

static uint8_t kind_of(const finder *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    uint8_t kind = SAME;
    if (is_place(f, index)) {
        return OF_PLACE;
    }
    if (ins->op == VYRE_OP_LOAD || ins->op == VYRE_OP_TABLE || ins->op == VY_SSA_PHI ||
        ins->op == VY_SSA_ATOMIC) {
        return OF_DATA;
    }
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        kind = f->kinds[ins->arg[a]] > kind ? f->kinds[ins->arg[a]] : kind;
    }
    return kind;
}

static void mark_uses(finder *f, const vy_ins *ins)
{
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        f->is_used[ins->arg[a]] = true;
    }
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
        f->is_used[f->ssa->phi_edges.data[ins->ref + e].value] = true;
    }
}

/* ---- Atomics --------------------------------------------------------------------------------- */

/* How operands are joined before; false where they cannot be. */
static bool find_join(uint8_t atomic, vyre_type type, vyre_op *out_op, uint64_t *out_identity)
{
    uint64_t sign = (uint64_t)1 << (vy_type_width(type) - 1);
    bool is_signed = vy_type_is_signed(type);
    switch ((int)atomic) {
    case VYRE_ATOMIC_ADD:
    case VYRE_ATOMIC_SUB:
        *out_op = VYRE_OP_ADD, *out_identity = 0;
        break;
    case VYRE_ATOMIC_OR:
        *out_op = VYRE_OP_OR, *out_identity = 0;
        break;
    case VYRE_ATOMIC_XOR:
        *out_op = VYRE_OP_XOR, *out_identity = 0;
        break;
    case VYRE_ATOMIC_AND:
        *out_op = VYRE_OP_AND, *out_identity = UINT64_MAX;
        break;
    case VYRE_ATOMIC_MIN:
        *out_op = VYRE_OP_MIN, *out_identity = is_signed ? sign - 1 : UINT64_MAX;
        break;
    case VYRE_ATOMIC_MAX:
        *out_op = VYRE_OP_MAX, *out_identity = is_signed ? sign : 0;
        break;
    default:
        return false;
    }
    *out_identity = vy_type_bits(type, *out_identity);
    return vy_type_is_integer(type) && vy_type_components(type) == 1;
}

static bool is_certain(const finder *f, uint32_t block)
{
    return vy_flow_dominates(&f->plan->flow, block, f->plan->exit);
}

static bool is_joinable(const finder *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    vyre_op op;
    uint64_t identity;
    return ins->op == VY_SSA_ATOMIC && f->kinds[ins->arg[0]] == SAME &&
           find_join(ins->atomic, (vyre_type)f->ssa->program->buffers.data[ins->ref].type, &op,
                     &identity) &&
           is_certain(f, f->ssa->ins.data[ins->arg[0]].block);
}

/* Joined ones come last, or before all that uses them, so nothing else may see the buffer; and all
 * do the same to it, so that their order makes no difference. */
static bool can_join(const finder *f, uint32_t buffer)
{
    const buffer_use *use = &f->uses[buffer];
    return use->atomics && use->joinable == use->atomics && use->has_same_atomic &&
           use->loads + use->other_loads + use->stores + use->other_stores == 0;
}

/* What elements find is what there was and what those before them brought. Out of bounds they would
 * find zeros; and of two indices that may be one place, the order would have to be kept. */
static bool can_return(const finder *f, uint32_t buffer)
{
    const buffer_use *use = &f->uses[buffer];
    bool is_sum = use->atomic == VYRE_ATOMIC_ADD || use->atomic == VYRE_ATOMIC_SUB;
    return use->returning && is_sum && !use->has_unproved && !use->has_unknown &&
           can_join(f, buffer);
}

/* All of them or none: they are done at once, so that none of them may wait for another. */
static bool find_returns(finder *f)
{
    uint32_t buffers = f->ssa->program->buffers.count, found = 0;
    bool is_possible = false;
    for (uint32_t b = 1; b < buffers; b++) {
        f->returns[b] = can_return(f, b);
        found += f->returns[b];
    }
    if (!found) {
        return true;
    }
    if (!vy_coarse_find_front(f->plan, f->returns, &is_possible)) {
        return false;
    }
    f->has_front = is_possible;
    for (uint32_t b = 1; b < buffers; b++) {
        f->returns[b] = f->returns[b] && is_possible;
    }
    return true;
}

static bool is_joined(const finder *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    return ins->op == VY_SSA_ATOMIC && can_join(f, ins->ref) &&
           (!f->uses[ins->ref].returning || f->returns[ins->ref]);
}

static uint64_t add_operand(const finder *f, uint64_t sum, uint32_t operand)
{
    const vy_ins *ins = &f->ssa->ins.data[operand];
    bool is_small = ins->op == VYRE_OP_LITERAL && ins->bits && ins->bits <= UINT32_MAX;
    return is_small && sum <= UINT32_MAX ? sum + ins->bits : UINT64_MAX;
}

static void join(finder *f, uint32_t index)
{
    vy_coarse_plan *plan = f->plan;
    const vy_ins *ins = &f->ssa->ins.data[index];
    uint32_t j = 0;
    while (j < plan->join_count &&
           (plan->joins[j].buffer != ins->ref || plan->joins[j].index != ins->arg[0])) {
        j++;
    }
    if (j == VY_COARSE_JOINS) {
        return; /* done for every element, which is as right */
    }
    vy_coarse_join *to = &plan->joins[j];
    if (j == plan->join_count) {
        vyre_type type = (vyre_type)f->ssa->program->buffers.data[ins->ref].type;
        *to = (vy_coarse_join){.buffer = ins->ref,
                               .index = ins->arg[0],
                               .atomic = ins->atomic,
                               .type = (uint8_t)type,
                               .loc = ins->loc};
        (void)find_join(ins->atomic, type, &to->op, &to->identity);
        plan->join_count++;
        f->wide++;
    }
    bool certain = is_certain(f, ins->block);
    to->is_certain |= certain;
    to->is_unchecked |= certain && ins->unchecked;
    to->returns = f->returns[ins->ref];
    to->most = add_operand(f, to->most, ins->arg[1]);
    plan->roles[index] = to->returns ? VY_COARSE_RETURNS : VY_COARSE_JOINED;
    plan->join_of[index] = (uint8_t)j;
}

/* ---- Accesses -------------------------------------------------------------------------------- */

static void count_index(const finder *f, buffer_use *use, const vy_ins *ins)
{
    bool is_literal = f->ssa->ins.data[ins->arg[0]].op == VYRE_OP_LITERAL;
    bool was_literal = f->ssa->ins.data[use->index].op == VYRE_OP_LITERAL;
    use->has_unproved |= !ins->unchecked;
    use->has_unknown |= use->atomics && use->index != ins->arg[0] && !(is_literal && was_literal);
    use->index = ins->arg[0];
}

static void count_access(finder *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    bool at_place = ins->arg[0] && is_place(f, ins->arg[0]);
    if (ins->op != VYRE_OP_LOAD && ins->op != VY_SSA_STORE && ins->op != VY_SSA_ATOMIC) {
        return;
    }
    buffer_use *use = &f->uses[ins->ref];
    f->place++;
    if (ins->op == VYRE_OP_LOAD) {
        use->loads += at_place;
        use->other_loads += !at_place;
        use->last_load = at_place ? f->place : use->last_load;
    } else if (ins->op == VY_SSA_STORE) {
        use->first_store = use->stores || !at_place ? use->first_store : f->place;
        use->store = at_place ? index : use->store;
        use->stores += at_place;
        use->other_stores += !at_place;
        f->has_stores = true;
    } else {
        use->has_same_atomic =
            !use->atomics || (use->has_same_atomic && use->atomic == ins->atomic);
        use->atomic = ins->atomic;
        count_index(f, use, ins);
        use->atomics++;
        use->joinable += is_joinable(f, index);
        use->returning += f->is_used[index];
    }
}

/* Loads go to the beginning: nothing may have been stored before them, and others' elements are
 * nobody's to read. */
static bool can_load(const buffer_use *use)
{
    bool is_written = use->stores || use->other_stores;
    return use->loads && !use->atomics &&
           (!is_written ||
            (!use->other_stores && !use->other_loads && use->last_load < use->first_store));
}

/* Whether every element has a value for the buffer in the end: `is_known` from the beginning. */
static bool is_always_stored(const finder *f, uint32_t buffer, bool is_known)
{
    const vy_ssa *ssa = f->ssa;
    const vy_flow *flow = &f->plan->flow;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        bool has = b > 1 || is_known;
        for (uint32_t i = 0; i < flow->pred_count[b]; i++) {
            has = has && f->is_stored[flow->preds[flow->first_pred[b] + i]];
        }
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            has = has || (ssa->ins.data[i].op == VY_SSA_STORE && ssa->ins.data[i].ref == buffer);
        }
        f->is_stored[b] = has;
    }
    return f->is_stored[f->plan->exit];
}

/* Whether what was loaded may be stored again and leaves the same bits. */
static bool keeps_bits(vyre_type type)
{
    return vy_type_is_integer(type) || type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
}

/* Stores go to the end as one of the last value. Where the buffer is loaded too, an element that
 * stores nothing may store what it has loaded: nobody else touches it. */
static bool can_store(const finder *f, uint32_t buffer)
{
    const buffer_use *use = &f->uses[buffer];
    vyre_type type = (vyre_type)f->ssa->program->buffers.data[buffer].type;
    if (!use->stores || use->other_stores || use->other_loads || use->atomics ||
        (use->loads && use->last_load > use->first_store)) {
        return false;
    }
    return vy_type_components(type) == 1
               ? is_always_stored(f, buffer, can_load(use) && keeps_bits(type))
               : use->stores == 1 && is_certain(f, f->ssa->ins.data[use->store].block);
}

/* Streams, by the width of the widest. */
static void find_streams(finder *f)
{
    const vyre_program *program = f->ssa->program;
    vy_coarse_plan *plan = f->plan;
    uint32_t most = 0, part = f->is_long ? VY_WIDE_SIZE : VY_WIDE_PART;
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        const buffer_use *use = &f->uses[b];
        bool is_stream = can_load(use) || can_store(f, b);
        uint32_t size = is_stream ? vy_wide_element_size(program, b, part) : 0;
        most = size > most ? size : most;
    }
    if (!most) {
        return;
    }
    plan->lanes = VY_WIDE_SIZE / most;
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        const buffer_use *use = &f->uses[b];
        if (vy_wide_element_size(program, b, part) * plan->lanes < sizeof(uint32_t)) {
            continue;
        }
        plan->is_loaded[b] = can_load(use);
        plan->store_of[b] = can_store(f, b) ? use->store : 0;
        f->wide += plan->is_loaded[b] ? 1u : 0u;
        f->wide += plan->store_of[b] ? 1u : 0u;
        if (plan->is_loaded[b] || plan->store_of[b]) {
            plan->streams |= (uint64_t)1 << program->buffers.data[b].binding;
        }
    }
}

/* The role of an instruction; false where the segment had better stay as it is: what neighbours
 * access side by side, they would then access at a distance. */
static bool give_role(finder *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    vy_coarse_plan *plan = f->plan;
    if (ins->op != VYRE_OP_LOAD && ins->op != VY_SSA_STORE && ins->op != VY_SSA_ATOMIC) {
        return true;
    }
    uint8_t kind = f->kinds[ins->arg[0]];
    if (ins->op == VYRE_OP_LOAD && plan->is_loaded[ins->ref] && is_place(f, ins->arg[0])) {
        plan->roles[index] = VY_COARSE_LOAD;
        return true;
    }
    if (ins->op == VY_SSA_STORE && plan->store_of[ins->ref]) { /* all are at gid.x */
        plan->roles[index] = VY_COARSE_STORE;
        return true;
    }
    if (is_joined(f, index)) {
        join(f, index);
        return true;
    }
    f->far += kind == OF_DATA;
    return kind != OF_PLACE ||
           (ins->op == VY_SSA_STORE && is_place(f, ins->arg[0]) && !is_certain(f, ins->block));
}

static bool give_roles(finder *f)
{
    const vy_ssa *ssa = f->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            if (!give_role(f, i)) {
                return false;
            }
        }
    }
    return f->wide >= f->far;
}

/* What is joined beyond the invocation: words, at a place that is seen to be the same for all when
 * SPIR-V is made of it. Ranked where operands are numbers, so that lanes need only be counted. */
static void find_groups(finder *f)
{
    vy_coarse_plan *plan = f->plan;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        vy_coarse_join *join = &plan->joins[j];
        uint32_t op = f->ssa->ins.data[join->index].op;
        bool is_word = join->type == VYRE_TYPE_U32 || join->type == VYRE_TYPE_I32;
        bool is_literal = op == VYRE_OP_LITERAL;
        bool is_leaf = is_literal || op == VYRE_OP_PARAM || op == VYRE_OP_LENGTH;
        join->is_ranked = f->has_joined && join->returns && is_word && is_literal &&
                          join->most <= UINT32_MAX / VY_COARSE_MOST;
        join->is_group = f->has_joined && is_word && is_leaf;
        join->word = plan->group_count;
        plan->group_count += join->is_group ? 1u : 0u;
    }
}

/* How often a value is used. */
static uint32_t count_uses(const vy_ssa *ssa, uint32_t value)
{
    uint32_t uses = 0;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            uint32_t count = vy_ssa_operand_count(ins);
            for (uint32_t a = 0; a < count; a++) {
                uses += ins->arg[a] == value;
            }
            for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
                uses += ssa->phi_edges.data[ins->ref + e].value == value;
            }
        }
        uses += ssa->blocks.data[b].cond == value;
    }
    return uses;
}

/* Of a store's index that is the old value of an atomic, and a number: that atomic, 0 where it is
 * something else. */
static uint32_t taken_place(const vy_ssa *ssa, uint32_t index, uint32_t *out_offset)
{
    const vy_ins *ins = &ssa->ins.data[index];
    *out_offset = 0;
    if (ins->op == VYRE_OP_ADD || ins->op == VYRE_OP_SUB) {
        uint32_t literal = ssa->ins.data[ins->arg[0]].op == VYRE_OP_LITERAL ? 0u : 1u;
        uint32_t bits = (uint32_t)ssa->ins.data[ins->arg[literal]].bits;
        bool is_number = ssa->ins.data[ins->arg[literal]].op == VYRE_OP_LITERAL &&
                         (literal || ins->op == VYRE_OP_ADD) && count_uses(ssa, index) == 1;
        *out_offset = ins->op == VYRE_OP_SUB ? 0u - bits : bits;
        index = is_number ? ins->arg[!literal] : 0;
    }
    bool is_taken = ssa->ins.data[index].op == VY_SSA_ATOMIC && count_uses(ssa, index) == 1;
    return is_taken ? index : 0;
}

/* Whether a store leaves a word at the place that an atomic has taken for it, and nobody else asks
 * for that place or touches that buffer; so it may be done when all of the workgroup have taken
 * theirs. */
static bool is_append(finder *f, uint32_t index)
{
    vy_coarse_plan *plan = f->plan;
    const vy_ins *ins = &f->ssa->ins.data[index];
    if (ins->op != VY_SSA_STORE || plan->roles[index] != VY_COARSE_PLAIN) {
        return false;
    }
    uint32_t atomic = taken_place(f->ssa, ins->arg[0], &plan->staged_offset);
    if (!atomic || plan->roles[atomic] != VY_COARSE_RETURNS ||
        f->ssa->ins.data[atomic].block != ins->block) {
        return false;
    }
    const vy_coarse_join *join = &plan->joins[plan->join_of[atomic]];
    const buffer_use *use = &f->uses[ins->ref];
    uint32_t size = vyre_type_size((vyre_type)f->ssa->program->buffers.data[ins->ref].type);
    plan->staged_atomic = atomic;
    return join->is_group && join->is_ranked && join->most == 1 && join->type == VYRE_TYPE_U32 &&
           join->atomic == VYRE_ATOMIC_ADD && size == sizeof(uint32_t) && use->other_stores == 1 &&
           !use->stores && !use->loads && !use->other_loads && !use->atomics &&
           ins->ref != f->ssa->program->until;
}

/* Of one join, of the size that the workgroup has if nobody says another. */
static void find_stage(finder *f)
{
    vy_coarse_plan *plan = f->plan;
    const vy_ssa *ssa = f->ssa;
    uint64_t most = (uint64_t)ssa->program->workgroup[0] * plan->rounds * plan->lanes;
    for (uint32_t b = 1; b < ssa->blocks.count && most <= VY_COARSE_STAGE; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            if (is_append(f, i)) {
                plan->staged_store = i;
                plan->staged_join = plan->join_of[plan->staged_atomic];
                return;
            }
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static uint32_t places_of(uint32_t power)
{
    uint32_t places = 0;
    while (power >> places > 1) {
        places++;
    }
    return places;
}

static bool has_wide_stores(const finder *f)
{
    for (uint32_t b = 1; b < f->ssa->program->buffers.count; b++) {
        if (f->plan->store_of[b]) {
            return true;
        }
    }
    return false;
}

static bool can_do_more(const finder *f, uint32_t rounds, uint32_t instructions)
{
    const vy_coarse_plan *plan = f->plan;
    uint32_t elements = rounds * plan->lanes;
    bool gains = plan->join_count && (f->has_front ? !has_wide_stores(f) : !f->has_stores);
    /* What is reached at places that data says has its own pace. */
    bool is_long = f->is_long && !f->has_front && !f->far && rounds <= VY_COARSE_STORED_ROUNDS;
    return (gains || is_long) && rounds <= VY_COARSE_ROUNDS &&
           elements <= (f->has_front ? VY_COARSE_MOST_RETURNS : VY_COARSE_MOST) &&
           elements * instructions <= MAX_INSTRUCTIONS;
}

static uint32_t count_front(const finder *f)
{
    uint32_t count = 0;
    for (uint32_t i = 1; f->has_front && i < f->ssa->ins.count; i++) {
        count += f->plan->is_front[i];
    }
    return count;
}

/* False: out of memory. */
static bool find(finder *f, uint32_t instructions)
{
    const vy_ssa *ssa = f->ssa;
    vy_coarse_plan *plan = f->plan;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            f->kinds[i] = kind_of(f, i);
            mark_uses(f, &ssa->ins.data[i]);
        }
        f->is_used[ssa->blocks.data[b].cond] = true;
    }
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            count_access(f, i);
        }
    }
    find_streams(f);
    if (plan->lanes && !find_returns(f)) {
        return false;
    }
    if (!f->has_front) {
        plan->is_front = NULL;
    }
    instructions += count_front(f);
    if (!plan->lanes || !give_roles(f) || instructions > MAX_INSTRUCTIONS / plan->lanes) {
        plan->lanes = 0;
        return true;
    }
    find_groups(f);
    plan->rounds = 1;
    while (can_do_more(f, 2 * plan->rounds, instructions)) {
        plan->rounds *= 2;
    }
    if (plan->rounds * plan->lanes == 1) { /* nothing is gained */
        plan->lanes = 0;
        return true;
    }
    plan->lane_shift = places_of(plan->lanes);
    plan->round_shift = places_of(plan->rounds);
    /* Stores of neighbours, to one line of a cache, had better stay side by side. */
    plan->is_near = f->is_long && !has_wide_stores(f);
    find_stage(f);
    return true;
}

static bool has_loop(const vy_ssa *ssa)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        if (ssa->blocks.data[b].merge_kind == VY_MERGE_LOOP) {
            return true;
        }
    }
    return false;
}

bool vy_coarse_find(const vy_ssa *segment, uint32_t ways, vy_coarse_plan *out_plan)
{
    vy_arena *scratch = segment->scratch;
    uint32_t instructions = 0, buffers = segment->program->buffers.count;
    *out_plan = (vy_coarse_plan){0};
    if (!vy_program_is_workgroup_agnostic(segment->program, NULL) || has_loop(segment)) {
        return true;
    }
    if (!vy_coarse_assume(segment, out_plan)) {
        return false;
    }
    vy_ssa *ssa = &out_plan->form;
    out_plan->exit = ssa->blocks.count - 1;
    if (!is_simple(ssa, &instructions)) {
        return true;
    }
    finder f = {.ssa = ssa,
                .plan = out_plan,
                .has_joined = (ways & VY_COARSEN_JOINED) != 0,
                .is_long = ways == VY_COARSEN_LONG};
    f.kinds = vy_arena_alloc(scratch, ssa->ins.count, sizeof *f.kinds);
    f.is_used = vy_arena_alloc(scratch, ssa->ins.count, sizeof *f.is_used);
    f.uses = vy_arena_alloc(scratch, buffers, sizeof *f.uses);
    f.returns = vy_arena_alloc(scratch, buffers, sizeof *f.returns);
    f.is_stored = vy_arena_alloc(scratch, ssa->blocks.count, sizeof *f.is_stored);
    out_plan->roles = vy_arena_alloc(scratch, ssa->ins.count, sizeof *out_plan->roles);
    out_plan->join_of = vy_arena_alloc(scratch, ssa->ins.count, sizeof *out_plan->join_of);
    out_plan->is_loaded = vy_arena_alloc(scratch, buffers, sizeof *out_plan->is_loaded);
    out_plan->store_of = vy_arena_alloc(scratch, buffers, sizeof *out_plan->store_of);
    if (!vy_flow_find(ssa, &out_plan->flow) || scratch->failed) {
        return false;
    }
    return find(&f, instructions);
}

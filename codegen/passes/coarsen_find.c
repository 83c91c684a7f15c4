/* Whether a segment is made coarse, and what becomes wide in it: loads at gid.x of what the segment
 * does not change before, stores at gid.x that leave a value of every element, and atomics of one
 * place whose old values nobody reads. Reads the form alone. */
#include "codegen/passes/coarsen_parts.h"

/* Of all copies together: more costs registers, and such bodies do not wait for memory. */
#define MAX_INSTRUCTIONS 2048u
#define WIDE_SIZE        16u
/* Rounds of segments that only read streams and join: fewer atomics, more loads at once. */
#define JOIN_ROUNDS 16u

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
    uint8_t atomic;
    bool has_same_atomic;
} buffer_use;

typedef struct finder {
    const vy_ssa *ssa;
    vy_coarse_plan *plan;
    uint8_t *kinds; /* by instruction */
    bool *is_used;  /* by instruction: its value */
    buffer_use *uses;
    bool *is_stored;    /* by block: whether an element has stored when it ends, of one buffer */
    uint32_t place;     /* in the walk */
    uint32_t wide, far; /* accesses that become wide; accesses at places that data says */
    bool has_stores;
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
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->arg[1]; e++) {
        f->is_used[f->ssa->phi_edges.data[ins->arg[0] + e].value] = true;
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
    return ins->op == VY_SSA_ATOMIC && !f->is_used[index] && f->kinds[ins->arg[0]] == SAME &&
           find_join(ins->atomic, (vyre_type)f->ssa->program->buffers.data[ins->ref].type, &op,
                     &identity) &&
           is_certain(f, f->ssa->ins.data[ins->arg[0]].block);
}

/* Joined ones come last, so nothing else may see the buffer; and all do the same to it, so that
 * their order makes no difference. */
static bool is_joined(const finder *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    const buffer_use *use = &f->uses[ins->ref];
    return is_joinable(f, index) && use->joinable == use->atomics && use->has_same_atomic &&
           use->loads + use->other_loads + use->stores + use->other_stores == 0;
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
    plan->roles[index] = VY_COARSE_JOINED;
    plan->join_of[index] = (uint8_t)j;
}

/* ---- Accesses -------------------------------------------------------------------------------- */

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
        use->atomics++;
        use->joinable += is_joinable(f, index);
    }
}

/* Bytes of an element that may be part of a wide access, or 0. */
static uint32_t stream_size(const vyre_program *program, uint32_t buffer)
{
    vyre_type type = (vyre_type)program->buffers.data[buffer].type;
    uint32_t size = vyre_type_size(type);
    bool is_whole = vy_type_components(type) == 1 || size == 8;
    return program->buffers.data[buffer].mode != VYRE_BUFFER_SHARED && is_whole && size <= 8 ? size
                                                                                             : 0;
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
    uint32_t most = 0;
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        const buffer_use *use = &f->uses[b];
        uint32_t size = can_load(use) || can_store(f, b) ? stream_size(program, b) : 0;
        most = size > most ? size : most;
    }
    if (!most) {
        return;
    }
    plan->lanes = WIDE_SIZE / most;
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        const buffer_use *use = &f->uses[b];
        if (stream_size(program, b) * plan->lanes < sizeof(uint32_t)) {
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

/* ---- All of it ------------------------------------------------------------------------------- */

static uint32_t places_of(uint32_t power)
{
    uint32_t places = 0;
    while (power >> places > 1) {
        places++;
    }
    return places;
}

static void find(finder *f, uint32_t instructions)
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
    if (!plan->lanes || !give_roles(f) || instructions > MAX_INSTRUCTIONS / plan->lanes) {
        plan->lanes = 0;
        return;
    }
    plan->rounds = 1;
    while (plan->join_count && !f->has_stores && plan->rounds < JOIN_ROUNDS &&
           2 * plan->rounds * plan->lanes <= VY_COARSE_MOST &&
           2 * plan->rounds * plan->lanes * instructions <= MAX_INSTRUCTIONS) {
        plan->rounds *= 2;
    }
    plan->lane_shift = places_of(plan->lanes);
    plan->round_shift = places_of(plan->rounds);
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

bool vy_coarse_find(const vy_ssa *segment, vy_coarse_plan *out_plan)
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
    finder f = {.ssa = ssa, .plan = out_plan};
    f.kinds = vy_arena_alloc(scratch, ssa->ins.count, sizeof *f.kinds);
    f.is_used = vy_arena_alloc(scratch, ssa->ins.count, sizeof *f.is_used);
    f.uses = vy_arena_alloc(scratch, buffers, sizeof *f.uses);
    f.is_stored = vy_arena_alloc(scratch, ssa->blocks.count, sizeof *f.is_stored);
    out_plan->roles = vy_arena_alloc(scratch, ssa->ins.count, sizeof *out_plan->roles);
    out_plan->join_of = vy_arena_alloc(scratch, ssa->ins.count, sizeof *out_plan->join_of);
    out_plan->is_loaded = vy_arena_alloc(scratch, buffers, sizeof *out_plan->is_loaded);
    out_plan->store_of = vy_arena_alloc(scratch, buffers, sizeof *out_plan->store_of);
    if (!vy_flow_find(ssa, &out_plan->flow) || scratch->failed) {
        return false;
    }
    find(&f, instructions);
    return true;
}

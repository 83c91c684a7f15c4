/* Pass cse: an instruction that computes what an earlier one on every way to it has computed is
 * that one. Needs nothing; keeps the blocks. One walk over the dominator tree with a table of what
 * is known on the way down, so that whatever the table holds stands in front of whoever asks.
 *
 * Loads: of memory that stays as it is, like operators. Of other memory only where nothing between
 * the two can have changed it or made another invocation's change visible: a state of the memory is
 * part of what is compared, and stores, atomics, barriers and places where ways join begin a new
 * one. Nothing is forwarded from a store to a load: the two may be of overlapping buffers. */
#include "codegen/passes/flow.h"
#include "codegen/passes/passes.h"

#include <string.h>

typedef struct cse_state {
    uint32_t storage, shared, arrays;
} cse_state;

typedef struct cse_key {
    uint16_t op;
    uint8_t type, pad; /* pad: keys are compared as bytes */
    uint32_t ref, state, bits;
    uint32_t arg[4];
} cse_key;

typedef struct cse_entry {
    uint32_t value, state, hash, next;
} cse_entry;

typedef struct cse_walk {
    vy_ssa *ssa;
    vy_flow flow;
    vy_constant_memory memory;
    uint32_t *map;      /* by instruction: what it is equal to */
    uint32_t *buckets;  /* entries + 1 */
    uint32_t *mark;     /* by block: entries before it */
    cse_state *at_exit; /* by block */
    cse_state now;
    uint32_t states, mask;
    VY_VEC(cse_entry) entries;
    bool changed;
} cse_walk;

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool is_numbered(const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL: /* one for each value already */
        return false;
    case VY_SSA_PHI:
    case VYRE_OP_LOAD:
    case VY_SSA_ARRAY_LOAD:
        return true;
    default: /* a spilled word is a value each time: where one is stored later it is another one */
        return vy_ssa_is_pure(ins);
    }
}

static uint32_t state_of(const cse_walk *w, const vy_ins *ins)
{
    if (ins->op == VY_SSA_ARRAY_LOAD) {
        return w->now.arrays;
    }
    if (ins->op != VYRE_OP_LOAD || vy_constant_memory_has(&w->memory, w->ssa, ins->ref)) {
        return 0;
    }
    bool is_shared = w->ssa->program->buffers.data[ins->ref].mode == VYRE_BUFFER_SHARED;
    return is_shared ? w->now.shared : w->now.storage;
}

static void swap(cse_key *key)
{
    uint32_t first = key->arg[0];
    key->arg[0] = key->arg[1];
    key->arg[1] = first;
}

/* The same at any time from when the instruction was met on: its operands have been met before. */
static cse_key key_of(cse_walk *w, const vy_ins *ins, uint32_t state)
{
    cse_key key;
    memset(&key, 0, sizeof key);
    key.op = ins->op;
    key.type = ins->type;
    key.ref = ins->op == VY_SSA_PHI ? ins->block : ins->ref;
    key.state = state;
    key.bits = ins->op == VYRE_OP_PARAM ? (uint32_t)ins->bits : 0; /* which component */
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        key.arg[a] = vy_ssa_resolve(w->map, ins->arg[a]);
    }
    if (vy_op_is_commutative(ins->op) && key.arg[0] > key.arg[1]) {
        swap(&key);
    } else if (key.op == VYRE_OP_GT || key.op == VYRE_OP_GE) {
        key.op = key.op == VYRE_OP_GT ? VYRE_OP_LT : VYRE_OP_LE;
        swap(&key);
    }
    return key;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * VY_HASH_MULTIPLIER;
    return hash ^ hash >> 32;
}

static uint32_t hash_of(cse_walk *w, const cse_key *key, const vy_ins *ins)
{
    uint64_t hash = mix(key->op | (uint64_t)key->type << 16 | (uint64_t)key->ref << 32,
                        key->arg[0] | (uint64_t)key->arg[1] << 32);
    if (key->state | key->bits | key->arg[2] | key->arg[3]) {
        hash = mix(hash, key->state | (uint64_t)key->bits << 32);
        hash = mix(hash, key->arg[2] | (uint64_t)key->arg[3] << 32);
    }
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
        hash = mix(hash, vy_ssa_resolve(w->map, w->ssa->phi_edges.data[ins->ref + e].value));
    }
    return (uint32_t)hash;
}

static bool same_edges(cse_walk *w, const vy_ins *a, const vy_ins *b)
{
    const vy_phi_edge *x = &w->ssa->phi_edges.data[a->ref];
    const vy_phi_edge *y = &w->ssa->phi_edges.data[b->ref];
    for (uint32_t e = 0; e < a->bits; e++) {
        if (x[e].block != y[e].block ||
            vy_ssa_resolve(w->map, x[e].value) != vy_ssa_resolve(w->map, y[e].value)) {
            return false;
        }
    }
    return true;
}

static bool same(cse_walk *w, const cse_entry *entry, const cse_key *key, const vy_ins *ins)
{
    const vy_ins *other = &w->ssa->ins.data[entry->value];
    const cse_key other_key = key_of(w, other, entry->state);
    if (memcmp(&other_key, key, sizeof *key) != 0) {
        return false;
    }
    return ins->op != VY_SSA_PHI || (other->bits == ins->bits && same_edges(w, other, ins));
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void change_memory(cse_walk *w, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VY_SSA_STORE:
        if (w->ssa->program->buffers.data[ins->ref].mode == VYRE_BUFFER_SHARED) {
            w->now.shared = ++w->states;
        } else {
            w->now.storage = ++w->states;
        }
        break;
    case VY_SSA_ATOMIC: /* may order other accesses */
    case VY_SSA_BARRIER:
        w->now.shared = w->now.storage = ++w->states;
        break;
    case VY_SSA_ARRAY_STORE:
    case VY_SSA_ARRAY_ZERO:
        w->now.arrays = ++w->states;
        break;
    default:
        break;
    }
}

static void number(cse_walk *w, uint32_t index)
{
    vy_ins *ins = &w->ssa->ins.data[index];
    if (!is_numbered(ins)) {
        change_memory(w, ins);
        return;
    }
    const cse_key key = key_of(w, ins, state_of(w, ins));
    uint32_t hash = hash_of(w, &key, ins), bucket = hash & w->mask;
    for (uint32_t e = w->buckets[bucket]; e; e = w->entries.data[e - 1].next) {
        const cse_entry *entry = &w->entries.data[e - 1];
        if (entry->hash == hash && same(w, entry, &key, ins)) {
            vy_ins *first = &w->ssa->ins.data[entry->value];
            first->name = first->name ? first->name : ins->name;
            w->map[index] = entry->value;
            ins->removed = w->changed = true;
            return;
        }
    }
    cse_entry entry = {index, key.state, hash, w->buckets[bucket]};
    if (vy_vec_push(w->ssa->scratch, &w->entries, entry)) {
        w->buckets[bucket] = w->entries.count;
    }
}

static void enter(cse_walk *w, uint32_t b)
{
    const vy_flow *flow = &w->flow;
    w->mark[b] = w->entries.count;
    if (flow->pred_count[b] == 1 && flow->preds[flow->first_pred[b]] == flow->idom[b]) {
        w->now = w->at_exit[flow->idom[b]];
    } else {
        w->now.storage = w->now.shared = w->now.arrays = ++w->states;
    }
    for (uint32_t i = w->ssa->blocks.data[b].first; i; i = w->ssa->ins.data[i].next) {
        number(w, i);
    }
    w->at_exit[b] = w->now;
}

static void leave(void *user, uint32_t b)
{
    cse_walk *w = user;
    while (w->entries.count > w->mark[b]) {
        const cse_entry *entry = &w->entries.data[--w->entries.count];
        w->buckets[entry->hash & w->mask] = entry->next;
    }
}

bool vy_pass_cse(vy_ssa *ssa, const vy_pass_context *context)
{
    (void)context;
    cse_walk w = {.ssa = ssa, .memory = vy_constant_memory_find(ssa)};
    uint32_t size = 64;
    while (size < ssa->ins.count && size < 1u << 24) {
        size *= 2;
    }
    w.mask = size - 1;
    w.map = vy_arena_alloc(ssa->scratch, ssa->ins.count, sizeof *w.map);
    w.buckets = vy_arena_alloc(ssa->scratch, size, sizeof *w.buckets);
    w.mark = vy_arena_alloc(ssa->scratch, ssa->blocks.count, sizeof *w.mark);
    w.at_exit = vy_arena_alloc(ssa->scratch, ssa->blocks.count, sizeof *w.at_exit);
    if (ssa->arena->failed || !vy_flow_find(ssa, &w.flow)) {
        return false;
    }
    for (uint32_t b = 1; b && !ssa->arena->failed;) {
        enter(&w, b);
        b = vy_flow_next(&w.flow, b, leave, &w);
    }
    if (ssa->arena->failed) {
        return false;
    }
    if (w.changed) {
        ssa->is_folded = false;
        vy_ssa_sweep(ssa);
        vy_ssa_rewrite(ssa, w.map);
    }
    return true;
}

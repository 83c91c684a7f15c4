/* The form's own rules, checked after every pass: blocks end once, constructs nest and are entered
 * and left as structured control flow allows, phis match the blocks they come from, definitions
 * dominate uses, types agree. Reads only; messages come from the SSA's
 * scratch arena. Linear time: blocks
 * stand so that all but the back edges go forward, and dominance is asked by intervals. */
#include "codegen/passes/edit.h"

#include <stdio.h>
#include <string.h>

typedef struct verifier {
    const vy_ssa *ssa;
    const char *error;
    uint32_t *first_pred, *pred_count; /* by block: entries of preds, each predecessor once */
    uint32_t *preds;
    uint32_t *construct;    /* by block: header of the innermost construct that it lies in, or 0 */
    uint32_t *loop_of;      /* by block: header of the innermost loop that it lies in, or 0 */
    uint32_t *named;        /* by block: 1 where a header names it as merge or continue block */
    uint32_t *idom;         /* by block; 0: unreachable, or the entry */
    uint32_t *enter, *exit; /* by block: interval in the dominator tree */
    uint32_t *position;     /* by instruction: place in its block, from 1; 0: in none */
    uint32_t *mark;         /* by block */
    uint32_t marks;
} verifier;

static void fail(verifier *v, const char *what, uint32_t block, uint32_t ins)
{
    char text[160];
    if (v->error) {
        return;
    }
    if (ins) {
        (void)snprintf(text, sizeof text, "block %u, %%%u: %s", (unsigned)block, (unsigned)ins,
                       what);
    } else {
        (void)snprintf(text, sizeof text, "block %u: %s", (unsigned)block, what);
    }
    v->error = vy_arena_text(v->ssa->scratch, text, strlen(text));
    if (!v->error) {
        v->error = what;
    }
}

static const vy_block *block_at(const verifier *v, uint32_t block)
{
    return &v->ssa->blocks.data[block];
}

/* ---- Ends and lists ---------------------------------------------------------------------------
 */

static bool is_block(const verifier *v, uint32_t block)
{
    return block > 0 && block < v->ssa->blocks.count;
}

static void check_end(verifier *v, uint32_t b)
{
    const vy_block *block = block_at(v, b);
    const vy_ssa *ssa = v->ssa;
    bool branches = block->end == VY_END_BRANCH, switches = block->end == VY_END_SWITCH;
    bool jumps = block->end == VY_END_JUMP;
    if (block->end == VY_END_NONE || block->end > VY_END_UNREACHABLE) {
        fail(v, "it does not end", b, 0);
        return;
    }
    if (((jumps || branches || switches) && !is_block(v, block->target[0])) ||
        (branches && !is_block(v, block->target[1]))) {
        fail(v, "it goes to a block that does not exist", b, 0);
        return;
    }
    if (switches && (block->first_case > ssa->cases.count ||
                     block->case_count > ssa->cases.count - block->first_case)) {
        fail(v, "its cases do not exist", b, 0);
        return;
    }
    for (uint32_t i = 0; switches && i < block->case_count; i++) {
        if (!is_block(v, ssa->cases.data[block->first_case + i].block)) {
            fail(v, "a case goes to a block that does not exist", b, 0);
        }
    }
    if (block->merge_kind != VY_MERGE_NONE && !is_block(v, block->merge)) {
        fail(v, "its merge block does not exist", b, 0);
    } else if (block->merge_kind == VY_MERGE_LOOP && !is_block(v, block->continue_block)) {
        fail(v, "its continue block does not exist", b, 0);
    } else if (block->merge_kind == VY_MERGE_SELECTION && !branches && !switches) {
        fail(v, "it heads a selection and does not choose", b, 0);
    } else if (block->merge_kind == VY_MERGE_LOOP && !jumps) {
        fail(v, "a loop's header does more than go on", b, 0);
    } else if (switches && block->merge_kind != VY_MERGE_SELECTION) {
        fail(v, "a switch heads no selection", b, 0);
    }
    if (branches && block->target[0] == block->target[1]) {
        fail(v, "both ways lead to the same block", b, 0);
    }
}

static void check_lists(verifier *v)
{
    const vy_ssa *ssa = v->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count && !v->error; b++) {
        const vy_block *block = block_at(v, b);
        uint32_t place = 0, last = 0;
        bool phis = true;
        for (uint32_t i = block->first; i && !v->error; i = ssa->ins.data[i].next) {
            const vy_ins *ins = i < ssa->ins.count ? &ssa->ins.data[i] : NULL;
            if (!ins || v->position[i]) {
                fail(v, "its list of instructions is broken", b, 0);
                break;
            }
            v->position[i] = ++place;
            if (ins->block != b || ins->removed) {
                fail(v, "the instruction does not belong here", b, i);
            }
            if (ins->op == VY_SSA_PHI && !phis) {
                fail(v, "a phi stands behind something else", b, i);
            }
            if (ins->unchecked && !vy_ssa_can_be_unchecked(ins->op)) {
                fail(v, "it is marked unchecked and has nothing to check", b, i);
            }
            phis &= ins->op == VY_SSA_PHI;
            last = i;
        }
        if (last != block->last) {
            fail(v, "its last instruction is not the last", b, 0);
        }
        if (!v->error) {
            check_end(v, b);
        }
    }
}

/* ---- Predecessors -----------------------------------------------------------------------------
 */

/* Visits every successor of b once. */
static uint32_t next_successor(verifier *v, uint32_t b, uint32_t *at)
{
    uint32_t target;
    if (block_at(v, b)->end != VY_END_SWITCH) { /* two ways are not the same */
        return vy_ssa_successor(v->ssa, block_at(v, b), (*at)++);
    }
    if (*at == 0) {
        v->marks++;
    }
    while ((target = vy_ssa_successor(v->ssa, block_at(v, b), *at)) != 0) {
        (*at)++;
        if (v->mark[target] != v->marks) {
            v->mark[target] = v->marks;
            return target;
        }
    }
    return 0;
}

static void find_predecessors(verifier *v)
{
    uint32_t blocks = v->ssa->blocks.count, total = 0, target;
    for (uint32_t b = 1; b < blocks; b++) {
        for (uint32_t at = 0; (target = next_successor(v, b, &at)) != 0;) {
            v->pred_count[target]++;
            total++;
        }
    }
    v->preds = vy_arena_alloc(v->ssa->scratch, total, sizeof *v->preds);
    if (!v->preds) {
        fail(v, "out of memory", 0, 0);
        return;
    }
    for (uint32_t b = 1, first = 0; b < blocks; b++) {
        v->first_pred[b] = first;
        first += v->pred_count[b];
        v->pred_count[b] = 0;
    }
    for (uint32_t b = 1; b < blocks; b++) {
        for (uint32_t at = 0; (target = next_successor(v, b, &at)) != 0;) {
            v->preds[v->first_pred[target] + v->pred_count[target]++] = b;
        }
    }
    if (v->pred_count[1]) {
        fail(v, "something goes back to the entry", 1, 0);
    }
}

/* ---- Constructs -------------------------------------------------------------------------------
 */

/* Every construct is the blocks between its header and its merge block. */
static void find_constructs(verifier *v)
{
    uint32_t blocks = v->ssa->blocks.count, depth = 0;
    uint32_t *open = vy_arena_alloc(v->ssa->scratch, blocks, sizeof *open);
    if (!open) {
        fail(v, "out of memory", 0, 0);
        return;
    }
    for (uint32_t b = 1; b < blocks && !v->error; b++) {
        const vy_block *block = block_at(v, b);
        if (depth && block_at(v, open[depth - 1])->merge == b) {
            depth--;
        }
        v->construct[b] = depth ? open[depth - 1] : 0;
        uint32_t around = v->construct[b];
        if (around) {
            v->loop_of[b] =
                block_at(v, around)->merge_kind == VY_MERGE_LOOP ? around : v->loop_of[around];
        }
        if (block->merge_kind == VY_MERGE_NONE) {
            continue;
        }
        uint32_t limit = around ? block_at(v, around)->merge : blocks;
        if (block->merge <= b || block->merge >= limit) {
            fail(v, "its merge block does not lie behind it in the construct around", b, 0);
        }
        if (block->merge_kind == VY_MERGE_LOOP &&
            (block->continue_block <= b || block->continue_block >= block->merge)) {
            fail(v, "its continue block does not lie between it and its merge block", b, 0);
        }
        open[depth++] = b;
        v->named[block->merge < blocks ? block->merge : 0] = 1;
        v->named[block->merge_kind == VY_MERGE_LOOP ? block->continue_block : 0] = 1;
    }
    if (depth && !v->error) {
        fail(v, "its merge block never comes", open[depth - 1], 0);
    }
}

static bool is_legal_edge(const verifier *v, uint32_t from, uint32_t to)
{
    const vy_block *block = block_at(v, from);
    uint32_t around = block->merge_kind != VY_MERGE_NONE ? from : v->construct[from];
    uint32_t loop = v->loop_of[from];
    if (block->merge_kind == VY_MERGE_LOOP) {
        loop = from;
    }
    if (to <= from) { /* only from a continue block to its header */
        return loop == to && block_at(v, loop)->continue_block == from && block->end == VY_END_JUMP;
    }
    if (loop && (block_at(v, loop)->merge == to || block_at(v, loop)->continue_block == to)) {
        return true;
    }
    if (around && block_at(v, around)->merge == to) {
        return true;
    }
    /* The merge block of a construct inside is reached through that construct alone. */
    return v->construct[to] == around && !v->named[to];
}

static void check_structure(verifier *v)
{
    uint32_t target;
    for (uint32_t b = 1; b < v->ssa->blocks.count && !v->error; b++) {
        const vy_block *block = block_at(v, b);
        for (uint32_t at = 0; (target = next_successor(v, b, &at)) != 0;) {
            if (!is_legal_edge(v, b, target)) {
                fail(v, "it goes where structured control flow cannot go", b, 0);
            }
        }
        uint32_t loop = v->loop_of[b];
        if (block->end == VY_END_BRANCH && block->merge_kind == VY_MERGE_NONE) {
            bool leaves = false;
            for (uint32_t i = 0; i < 2 && loop; i++) {
                leaves |= block->target[i] == block_at(v, loop)->merge ||
                          block->target[i] == block_at(v, loop)->continue_block;
            }
            if (!leaves) {
                fail(v, "it chooses and neither heads a selection nor leaves a loop", b, 0);
            }
        }
        if (block->merge_kind == VY_MERGE_LOOP &&
            (block_at(v, block->continue_block)->end != VY_END_JUMP ||
             block_at(v, block->continue_block)->target[0] != b)) {
            fail(v, "its continue block does not go back to it", b, 0);
        }
    }
}

/* ---- Dominance --------------------------------------------------------------------------------
 */

static bool is_reachable(const verifier *v, uint32_t block)
{
    return block == 1 || v->idom[block] != 0;
}

static uint32_t common(const verifier *v, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b) {
            a = v->idom[a];
        } else {
            b = v->idom[b];
        }
    }
    return a;
}

static void find_dominators(verifier *v)
{
    uint32_t blocks = v->ssa->blocks.count;
    for (uint32_t b = 2; b < blocks; b++) {
        uint32_t dominator = 0;
        /* The nearest first: each step up is then taken once. Back edges change nothing, because a
         * loop is entered through its header. */
        for (uint32_t i = v->pred_count[b]; i-- > 0;) {
            uint32_t pred = v->preds[v->first_pred[b] + i];
            if (pred < b && is_reachable(v, pred)) {
                dominator = dominator ? common(v, dominator, pred) : pred;
            }
        }
        v->idom[b] = dominator;
    }
    /* Intervals: sizes of subtrees from the back, places from the front. */
    uint32_t *size = vy_arena_alloc(v->ssa->scratch, blocks, sizeof *size);
    if (!size) {
        fail(v, "out of memory", 0, 0);
        return;
    }
    for (uint32_t b = blocks; b-- > 1;) {
        size[b]++;
        size[v->idom[b]] += size[b];
    }
    for (uint32_t b = 1; b < blocks; b++) {
        uint32_t parent = v->idom[b];
        v->enter[b] = parent ? v->exit[parent] : 1;
        v->exit[b] = v->enter[b] + 1; /* where the next child goes, then moved on by it */
        if (parent) {
            v->exit[parent] += size[b];
        }
    }
    for (uint32_t b = 1; b < blocks; b++) {
        v->exit[b] = v->enter[b] + size[b];
    }
}

static bool dominates(const verifier *v, uint32_t a, uint32_t b)
{
    return v->enter[a] <= v->enter[b] && v->enter[b] < v->exit[a] && is_reachable(v, a);
}

/* Whether `value` is known at the end of block b, or before instruction `user` in it. */
static inline void check_use(verifier *v, uint32_t value, uint32_t b, uint32_t user)
{
    const vy_ssa *ssa = v->ssa;
    if (user && value < ssa->ins.count && v->position[value] &&
        v->position[value] < v->position[user] && ssa->ins.data[value].block == b &&
        ssa->ins.data[value].type != VYRE_TYPE_VOID) {
        return; /* most of them */
    }
    if (value == 0 || value >= ssa->ins.count || !v->position[value] ||
        ssa->ins.data[value].type == VYRE_TYPE_VOID) {
        fail(v, "it uses a value that does not exist", b, user);
        return;
    }
    uint32_t home = ssa->ins.data[value].block;
    if (!is_reachable(v, b)) {
        return;
    }
    bool before = home == b && (!user || v->position[value] < v->position[user]);
    if (!before && (home == b || !dominates(v, home, b))) {
        fail(v, "it uses a value that is not known there", b, user);
    }
}

/* ---- Instructions -----------------------------------------------------------------------------
 */

static void check_phi(verifier *v, uint32_t b, uint32_t index)
{
    const vy_ssa *ssa = v->ssa;
    const vy_ins *ins = &ssa->ins.data[index];
    if (ins->ref > ssa->phi_edges.count || ins->bits > ssa->phi_edges.count - ins->ref) {
        fail(v, "its edges do not exist", b, index);
        return;
    }
    if (ins->bits != v->pred_count[b]) {
        fail(v, "it has another number of edges than its block", b, index);
        return;
    }
    uint32_t mark = ++v->marks;
    for (uint32_t i = 0; i < v->pred_count[b]; i++) {
        v->mark[v->preds[v->first_pred[b] + i]] = mark;
    }
    for (uint32_t e = 0; e < ins->bits && !v->error; e++) {
        const vy_phi_edge *edge = &ssa->phi_edges.data[ins->ref + e];
        if (!is_block(v, edge->block) || v->mark[edge->block] != mark) {
            fail(v, "an edge comes from a block that does not lead here, or does so twice", b,
                 index);
            return;
        }
        v->mark[edge->block] = 0;
    }
    for (uint32_t e = 0; e < ins->bits && !v->error; e++) {
        const vy_phi_edge *edge = &ssa->phi_edges.data[ins->ref + e];
        check_use(v, edge->value, edge->block, 0);
        if (!v->error && ssa->ins.data[edge->value].type != ins->type) {
            fail(v, "an edge brings another type", b, index);
        }
    }
}

static uint8_t type_of(const verifier *v, uint32_t value)
{
    return v->ssa->ins.data[value].type;
}

static bool is_scalar(uint8_t type)
{
    return vy_type_components((vyre_type)type) == 1 && type != VYRE_TYPE_BF16;
}

static bool is_integer(uint8_t type)
{
    return is_scalar(type) && vy_type_is_integer((vyre_type)type);
}

static bool is_float(uint8_t type)
{
    return is_scalar(type) && vy_type_is_float((vyre_type)type);
}

static bool is_index(uint8_t type)
{
    return type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32 || type == VYRE_TYPE_U64;
}

static bool is_number(uint8_t type)
{
    return is_integer(type) || is_float(type);
}

/* Operands equal in type to the first one, from `first` on. */
static bool all_like(const verifier *v, const vy_ins *ins, uint32_t first, uint8_t type)
{
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t i = first; i < count; i++) {
        if (type_of(v, ins->arg[i]) != type) {
            return false;
        }
    }
    return true;
}

static bool types_agree(const verifier *v, const vy_ins *ins)
{
    uint8_t x = type_of(v, ins->arg[0]), y = type_of(v, ins->arg[1]);
    uint8_t r = ins->type;
    switch (vy_op_get((vyre_op)ins->op)->shape) {
    case VY_SHAPE_ARITHMETIC:
        return r == x && r == y && is_number(x);
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_SIGNED_UNARY:
        return is_number(x) && r == x && all_like(v, ins, 0, x);
    case VY_SHAPE_INTEGER:
        return r == x && r == y && is_integer(x);
    case VY_SHAPE_INTEGER_UNARY:
        return is_integer(x) && r == x && all_like(v, ins, 0, x);
    case VY_SHAPE_SHIFT:
        return is_integer(x) && r == x && is_integer(y);
    case VY_SHAPE_EQUALITY:
        return r == VYRE_TYPE_BOOL && x == y && is_scalar(x);
    case VY_SHAPE_ORDER:
        return r == VYRE_TYPE_BOOL && x == y && is_number(x);
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        return r == VYRE_TYPE_BOOL && all_like(v, ins, 0, VYRE_TYPE_BOOL);
    case VY_SHAPE_ABS_DIFF:
        return is_number(x) && x == y &&
               r == (is_float(x) ? x
                                 : (uint8_t)vy_type_of_width(false, vy_type_width((vyre_type)x)));
    case VY_SHAPE_BIT_COUNT:
        return is_integer(x) && r == VYRE_TYPE_U32;
    case VY_SHAPE_EXTRACT:
        return is_integer(x) && r == x && all_like(v, ins, 1, VYRE_TYPE_U32);
    case VY_SHAPE_INSERT:
        return is_integer(x) && r == x && y == x && all_like(v, ins, 2, VYRE_TYPE_U32);
    case VY_SHAPE_SELECT:
        return x == VYRE_TYPE_BOOL && all_like(v, ins, 1, r);
    case VY_SHAPE_CAST:
        return is_scalar(x) && is_scalar(r);
    case VY_SHAPE_BITCAST:
        return is_number(x) && is_number(r) &&
               vy_type_width((vyre_type)x) == vy_type_width((vyre_type)r);
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
        return is_float(r) && all_like(v, ins, 0, r);
    case VY_SHAPE_FLOAT_TEST:
        return r == VYRE_TYPE_BOOL && is_float(x);
    case VY_SHAPE_VECTOR:
    case VY_SHAPE_SWIZZLE:
    case VY_SHAPE_BOOL_REDUCE:
    case VY_SHAPE_DOT:
    case VY_SHAPE_LEAF:
    case VY_SHAPE_INDEXED:
    case VY_SHAPE_CALL:
        break;
    }
    return false;
}

static bool buffer_agrees(const verifier *v, const vy_ins *ins)
{
    const vyre_program *program = v->ssa->program;
    if (ins->ref == 0 || ins->ref >= program->buffers.count || !is_index(type_of(v, ins->arg[0]))) {
        return false;
    }
    uint8_t type = (uint8_t)vy_element_value_type((vyre_type)program->buffers.data[ins->ref].type);
    if (ins->op == VY_SSA_STORE) {
        return type_of(v, ins->arg[1]) == type;
    }
    if (ins->op == VY_SSA_ATOMIC) {
        bool stores = ins->atomic == VYRE_ATOMIC_STORE;
        return ins->atomic < VYRE_ATOMIC_COUNT && ins->bits >> VY_JOIN_WORD < 4 &&
               all_like(v, ins, 1, type) && ins->type == (stores ? (uint8_t)VYRE_TYPE_VOID : type);
    }
    return ins->type == type;
}

/* The words of elements of a buffer, whose bytes are a power of two. */
static bool wide_agrees(const verifier *v, const vy_ins *ins)
{
    const vyre_program *program = v->ssa->program;
    if (ins->ref == 0 || ins->ref >= program->buffers.count ||
        program->buffers.data[ins->ref].mode == VYRE_BUFFER_SHARED) {
        return false;
    }
    vyre_type type = (vyre_type)program->buffers.data[ins->ref].type;
    uint8_t value = (uint8_t)vy_element_value_type(type), words = ins->type;
    uint32_t size = vyre_type_size(type);
    switch ((int)ins->op) {
    case VY_SSA_PACK:
        return words == VYRE_TYPE_U32 && all_like(v, ins, 0, value) &&
               (size > 4 ? ins->bits < size / 4 && !ins->arg[1]
                         : size * vy_ssa_operand_count(ins) == sizeof(uint32_t));
    case VY_SSA_UNPACK:
        words = type_of(v, ins->arg[0]);
        if (ins->type != value || (ins->bits + 1) * size > vyre_type_size((vyre_type)words)) {
            return false;
        }
        break;
    case VY_SSA_STORE_WIDE:
        words = type_of(v, ins->arg[1]);
        break;
    default:
        break;
    }
    bool has_index = ins->op == VY_SSA_UNPACK || type_of(v, ins->arg[0]) == VYRE_TYPE_U32;
    return has_index && size && size <= 16 && size <= vyre_type_size((vyre_type)words) &&
           (words == VYRE_TYPE_U32 || words == VYRE_TYPE_U32X2 || words == VYRE_TYPE_U32X4);
}

/* Words that begin as literals. */
static bool group_agrees(const verifier *v, const vy_ins *ins)
{
    bool agrees = ins->type == VYRE_TYPE_VOID && ins->ref >= 1 && ins->ref <= 4;
    for (uint32_t i = 0; agrees && i < ins->ref; i++) {
        uint8_t type = type_of(v, ins->arg[i]);
        agrees = v->ssa->ins.data[ins->arg[i]].op == VYRE_OP_LITERAL &&
                 (type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32);
    }
    return agrees;
}

/* Elements of a word each. */
static bool stage_agrees(const verifier *v, const vy_ins *ins)
{
    const vyre_program *program = v->ssa->program;
    if (!ins->ref || ins->ref >= program->buffers.count || ins->type != VYRE_TYPE_VOID) {
        return false;
    }
    const vy_buffer *buffer = &program->buffers.data[ins->ref];
    bool agrees =
        buffer->mode != VYRE_BUFFER_SHARED && vyre_type_size((vyre_type)buffer->type) == 4;
    return agrees && (ins->op == VY_SSA_UNSTAGE || (type_of(v, ins->arg[0]) == VYRE_TYPE_U32 &&
                                                    type_of(v, ins->arg[1]) == buffer->type));
}

static bool array_agrees(const verifier *v, const vy_ins *ins)
{
    if (ins->ref == 0 || ins->ref >= v->ssa->arrays.count) {
        return false;
    }
    uint8_t type = (uint8_t)vy_element_value_type((vyre_type)v->ssa->arrays.data[ins->ref].type);
    if (ins->op == VY_SSA_ARRAY_ZERO) {
        return true;
    }
    if (!is_index(type_of(v, ins->arg[0]))) {
        return false;
    }
    return ins->op == VY_SSA_ARRAY_LOAD ? ins->type == type : type_of(v, ins->arg[1]) == type;
}

static bool subgroup_agrees(const verifier *v, const vy_ins *ins)
{
    const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)ins->subgroup);
    uint8_t x = type_of(v, ins->arg[0]);
    switch (info->kind) {
    case VY_SUBGROUP_ELECT:
        return ins->type == VYRE_TYPE_BOOL && ins->subgroup == VYRE_SUBGROUP_ELECT;
    case VY_SUBGROUP_VOTE:
        return ins->type == VYRE_TYPE_BOOL && x == VYRE_TYPE_BOOL;
    case VY_SUBGROUP_BALLOT:
        return ins->type == VYRE_TYPE_U32X4 && x == VYRE_TYPE_BOOL;
    case VY_SUBGROUP_VALUE:
        return is_scalar(x) && ins->type == x;
    case VY_SUBGROUP_LANE:
        return is_scalar(x) && ins->type == x && type_of(v, ins->arg[1]) == VYRE_TYPE_U32;
    case VY_SUBGROUP_REDUCE:
    case VY_SUBGROUP_INCLUSIVE:
    case VY_SUBGROUP_EXCLUSIVE:
        return ins->type == x &&
               (vy_op_get(info->op)->shape == VY_SHAPE_INTEGER ? is_integer(x) : is_number(x));
    }
    return false;
}

static bool is_well_typed(const verifier *v, const vy_ins *ins)
{
    const vyre_program *program = v->ssa->program;
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return is_scalar(ins->type) && ins->bits == vy_type_bits((vyre_type)ins->type, ins->bits);
    case VYRE_OP_BUILTIN:
        return ins->ref < VYRE_BUILTIN_COUNT && ins->type == VYRE_TYPE_U32;
    case VYRE_OP_PARAM:
        return ins->ref && ins->ref < program->params.count &&
               ins->bits < vy_type_components((vyre_type)program->params.data[ins->ref].type) &&
               ins->type == vy_type_component((vyre_type)program->params.data[ins->ref].type);
    case VYRE_OP_LENGTH:
        return ins->ref && ins->ref < program->buffers.count && ins->type == VYRE_TYPE_U32;
    case VYRE_OP_TABLE:
        return ins->ref && ins->ref < program->tables.count &&
               ins->type == vy_element_value_type((vyre_type)program->tables.data[ins->ref].type) &&
               is_index(type_of(v, ins->arg[0]));
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
        return buffer_agrees(v, ins);
    case VY_SSA_LOAD_WIDE:
    case VY_SSA_STORE_WIDE:
    case VY_SSA_UNPACK:
    case VY_SSA_PACK:
        return wide_agrees(v, ins);
    case VY_SSA_ELEMENTS:
        return ins->type == VYRE_TYPE_U32;
    case VY_SSA_GROUP_BEGIN:
        return group_agrees(v, ins);
    case VY_SSA_STAGE:
    case VY_SSA_UNSTAGE:
        return stage_agrees(v, ins);
    case VY_SSA_RANK:
        return ins->type == VYRE_TYPE_U32X2 && all_like(v, ins, 0, VYRE_TYPE_BOOL);
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        return array_agrees(v, ins);
    case VY_SSA_HOST_INDEX:
        return ins->ref < VYRE_MAX_HOST_LOOPS && is_integer(ins->type);
    case VY_SSA_SPILL_LOAD:
        return is_scalar(ins->type);
    case VY_SSA_CANONICAL_NAN:
        return is_float(ins->type) && type_of(v, ins->arg[0]) == ins->type;
    case VY_SSA_COMPONENT:
        return ins->ref < vy_type_components((vyre_type)type_of(v, ins->arg[0])) &&
               ins->type == vy_type_component((vyre_type)type_of(v, ins->arg[0]));
    case VY_SSA_COMPOSE:
        return vy_type_is_vector((vyre_type)ins->type) &&
               all_like(v, ins, 0, (uint8_t)vy_type_component((vyre_type)ins->type));
    case VY_SSA_SUBGROUP:
        return subgroup_agrees(v, ins);
    case VY_SSA_RECORD:
        return ins->ref < program->site_count &&
               (!ins->arg[0] || all_like(v, ins, 0, VYRE_TYPE_U32));
    case VY_SSA_PRINT:
        return ins->ref < program->stmts.count &&
               program->stmts.data[ins->ref].kind == VY_STMT_PRINTF &&
               ins->bits < 4u * VYRE_MAX_PRINTF_VALUES && ins->bits % 4 == 0;
    case VY_SSA_IS_ELEMENT:
        return ins->type == VYRE_TYPE_BOOL;
    case VY_SSA_BARRIER:
    case VY_SSA_SPILL_STORE:
        return true;
    default:
        return ins->op < VYRE_OP_COUNT && types_agree(v, ins);
    }
}

/* Whether `arg` names nothing but the operands: passes read it before they know the op. */
static bool has_no_more(const vy_ins *ins, uint32_t count)
{
    for (uint32_t a = count; a < VY_COUNT_OF(ins->arg); a++) {
        if (ins->arg[a]) {
            return false;
        }
    }
    return true;
}

static void check_instructions(verifier *v)
{
    const vy_ssa *ssa = v->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count && !v->error; b++) {
        const vy_block *block = block_at(v, b);
        for (uint32_t i = block->first; i && !v->error; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            uint32_t count = vy_ssa_operand_count(ins);
            if (!has_no_more(ins, count)) {
                fail(v, "it has more operands than it takes", b, i);
                return;
            }
            if (ins->op == VY_SSA_PHI) {
                check_phi(v, b, i);
                continue;
            }
            for (uint32_t a = 0; a < count && !v->error; a++) {
                check_use(v, ins->arg[a], b, i);
            }
            if (!v->error && !is_well_typed(v, ins)) {
                fail(v, "its types or what it names do not fit", b, i);
            }
        }
        if (v->error || (block->end != VY_END_BRANCH && block->end != VY_END_SWITCH)) {
            continue;
        }
        check_use(v, block->cond, b, 0);
        if (v->error) {
            return;
        }
        uint8_t type = type_of(v, block->cond);
        if (block->end == VY_END_BRANCH ? type != VYRE_TYPE_BOOL : !is_integer(type)) {
            fail(v, "what it chooses by has the wrong type", b, 0);
        }
    }
}

const char *vy_ssa_verify(const vy_ssa *ssa)
{
    verifier v = {.ssa = ssa};
    uint32_t blocks = ssa->blocks.count;
    uint32_t **tables[] = {&v.first_pred, &v.pred_count, &v.construct, &v.loop_of, &v.named,
                           &v.idom,       &v.enter,      &v.exit,      &v.mark};
    if (blocks < 2) {
        return "there is no entry block";
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(tables); i++) {
        *tables[i] = vy_arena_alloc(ssa->scratch, blocks, sizeof **tables[i]);
    }
    v.position = vy_arena_alloc(ssa->scratch, ssa->ins.count, sizeof *v.position);
    if (ssa->arena->failed) {
        return "out of memory";
    }
    void (*const steps[])(verifier *) = {check_lists,     find_predecessors, find_constructs,
                                         check_structure, find_dominators,   check_instructions};
    for (uint32_t i = 0; i < VY_COUNT_OF(steps) && !v.error; i++) {
        steps[i](&v);
    }
    return v.error;
}

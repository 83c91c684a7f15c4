/* Expressions: the pending pool, and its placing into the program in evaluation order. */
#include "codegen/ir/builder.h"

#include <string.h>

#define MAX_POOL_ID 0xf0000000u
#define MAX_TREE    256u /* a pool that holds more than that is walked only where it is needed */

/* ---- The pool -------------------------------------------------------------------------------- */

/* A node of zeros to be filled in, the last of the pool; NULL after an error. */
static inline vy_node *new_node(vyre_builder *b)
{
    if (b->pool.count >= VYRE_MAX_OPERATIONS || b->program->exprs.count >= VYRE_MAX_OPERATIONS) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the program has more than %u operations. Fix: make it smaller",
                        VYRE_MAX_OPERATIONS);
        return NULL;
    }
    if (!vy_vec_reserve(&b->scratch, &b->pool, 1)) {
        vy_builder_no_memory(b);
        return NULL;
    }
    vy_node *node = &b->pool.data[b->pool.count++];
    *node = (vy_node){.loc = b->at};
    b->pool_live++;
    return node;
}

static inline vyre_expr last_node(const vyre_builder *b)
{
    return (vyre_expr){b->pool_base + b->pool.count - 1};
}

static vyre_expr add_node(vyre_builder *b, vy_node node)
{
    vy_node *added = new_node(b);
    if (!added) {
        return (vyre_expr){0};
    }
    *added = node;
    added->loc = b->at;
    return last_node(b);
}

/* Takes a handle that nothing has taken yet; no error otherwise. */
static inline uint32_t take(vyre_builder *b, vyre_expr expr)
{
    uint32_t index = expr.id - b->pool_base;
    if (vy_builder_stopped(b) || expr.id < b->pool_base || index >= b->pool.count ||
        b->pool.data[index].flags & VY_NODE_USED) {
        return VY_NO_NODE;
    }
    b->pool.data[index].flags |= VY_NODE_USED;
    b->pool_live--;
    return index;
}

uint32_t vy_builder_use(vyre_builder *b, vyre_expr expr, const char *what)
{
    uint32_t taken = take(b, expr);
    if (taken != VY_NO_NODE || vy_builder_stopped(b)) {
        return taken;
    }
    bool is_known = expr.id >= b->pool_base && expr.id - b->pool_base < b->pool.count;
    if (expr.id == 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s is missing. Fix: pass an expression", what);
    } else if (is_known || expr.id < b->pool_base) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s is an expression that was used before. Fix: bind it with "
                        "vyre_build_let and use vyre_build_variable each time",
                        what);
    } else {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s is no expression of this builder. Fix: pass what a vyre_build_ "
                        "function of this builder returned",
                        what);
    }
    return VY_NO_NODE;
}

void vy_builder_release_pool(vyre_builder *b)
{
    if (b->pool_live || b->failed) {
        return;
    }
    /* Folded literals take ids without being placed, so only a wrap bounds them. */
    if (b->pool_base > MAX_POOL_ID) {
        b->pool_base = 1;
    }
    b->pool_base += b->pool.count;
    b->pool.count = 0;
    b->pool_args.count = 0;
}

static uint32_t child_count(const vy_node *node)
{
    switch ((int)node->op) {
    case VYRE_OP_CALL:
    case VYRE_OP_VECTOR:
        return node->arg[1];
    default:
        return vy_op_get((vyre_op)node->op)->operand_count;
    }
}

static uint32_t child(const vyre_builder *b, const vy_node *node, uint32_t i)
{
    return node->op == VYRE_OP_CALL || node->op == VYRE_OP_VECTOR
               ? b->pool_args.data[node->arg[0] + i]
               : node->arg[i];
}

/* All children are placed. */
static bool place_node(vyre_builder *b, vy_node *node)
{
    vyre_program *p = b->program;
    vy_expr expr = {.op = node->op, .type = node->type, .ref = node->ref, .loc = node->loc};
    if (p->exprs.count >= VYRE_MAX_OPERATIONS) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc,
                        "the program has more than %u operations. Fix: make it smaller",
                        VYRE_MAX_OPERATIONS);
        return false;
    }
    uint32_t count = child_count(node);
    if (node->op == VYRE_OP_LITERAL) {
        expr.bits[0] = node->bits[0];
        expr.bits[1] = node->bits[1];
    } else if (node->op == VYRE_OP_CALL) {
        expr.arg[0] = p->call_args.count;
        expr.arg[1] = count;
        if (!vy_vec_reserve(&p->arena, &p->call_args, count)) {
            vy_builder_no_memory(b);
            return false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t placed = b->pool.data[child(b, node, i)].placed;
        if (node->op == VYRE_OP_CALL) {
            p->call_args.data[p->call_args.count++] = placed;
        } else {
            expr.arg[i] = placed;
        }
    }
    if (!vy_vec_push(&p->arena, &p->exprs, expr)) {
        vy_builder_no_memory(b);
        return false;
    }
    node->placed = p->exprs.count - 1;
    return true;
}

/* Where the tree of `root` begins if each operand, with all of its own, stands right in front of
 * the next one. */
static uint32_t first_leaf(const vyre_builder *b, uint32_t root)
{
    const vy_node *node = &b->pool.data[root];
    while (child_count(node)) {
        root = child(b, node, 0);
        node = &b->pool.data[root];
    }
    return root;
}

/* Most trees are built as they are placed: then the entries up to the root are the tree, and so
 * they stay. Uses `placed` for where the tree of a node begins. False, and nothing is placed: this
 * tree was built otherwise, or there was an error. */
static bool place_in_order(vyre_builder *b, uint32_t root)
{
    vyre_program *p = b->program;
    const uint32_t begin = first_leaf(b, root), base = p->exprs.count, count = root - begin + 1;
    if (begin > root || root - begin >= MAX_TREE || count > VYRE_MAX_OPERATIONS - base) {
        return false;
    }
    if (!vy_vec_reserve(&p->arena, &p->exprs, count)) {
        vy_builder_no_memory(b);
        return false;
    }
    for (uint32_t i = begin; i <= root; i++) {
        vy_node *node = &b->pool.data[i];
        vy_expr *expr = &p->exprs.data[base + i - begin];
        uint32_t operands = vy_op_get((vyre_op)node->op)->operand_count, next = i;
        if (node->op == VYRE_OP_CALL || node->op == VYRE_OP_VECTOR) {
            return false;
        }
        *expr = (vy_expr){.op = node->op, .type = node->type, .ref = node->ref, .loc = node->loc};
        if (node->op == VYRE_OP_LITERAL) {
            expr->bits[0] = node->bits[0];
            expr->bits[1] = node->bits[1];
        }
        for (uint32_t a = operands; a-- > 0; next = b->pool.data[next - 1].placed) {
            if (next == begin || node->arg[a] != next - 1) {
                return false;
            }
            expr->arg[a] = base + node->arg[a] - begin;
        }
        node->placed = next;
    }
    if (b->pool.data[root].placed != begin) {
        return false;
    }
    p->exprs.count += count;
    return true;
}

vy_range vy_builder_place(vyre_builder *b, uint32_t root)
{
    vy_range range = {b->program->exprs.count, 0, 0};
    b->visits.count = 0;
    if (place_in_order(b, root)) {
        range.end = b->program->exprs.count;
        range.root = range.end - 1;
        return range;
    }
    if (!vy_vec_push(&b->scratch, &b->visits, (vy_visit){root, 0})) {
        vy_builder_no_memory(b);
    }
    while (b->visits.count && !b->failed) {
        vy_visit *top = &b->visits.data[b->visits.count - 1];
        vy_node *node = &b->pool.data[top->node];
        if (top->next < child_count(node)) {
            uint32_t next = child(b, node, top->next++);
            if (!vy_vec_push(&b->scratch, &b->visits, (vy_visit){next, 0})) {
                vy_builder_no_memory(b);
            }
            continue;
        }
        b->visits.count--;
        place_node(b, node);
    }
    if (b->failed) {
        return (vy_range){0, 0, 0};
    }
    range.end = b->program->exprs.count;
    range.root = range.end - 1;
    return range;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static vyre_expr literal(vyre_builder *b, vyre_type type, uint64_t bits)
{
    if (vy_builder_stopped(b)) {
        return (vyre_expr){0};
    }
    vy_node *node = new_node(b);
    if (!node) {
        return (vyre_expr){0};
    }
    node->op = VYRE_OP_LITERAL;
    node->type = (uint8_t)type;
    node->bits[0] = bits;
    return last_node(b);
}

vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value)
{
    return literal(b, VYRE_TYPE_U32, value);
}

vyre_expr vyre_build_i32(vyre_builder *b, int32_t value)
{
    return literal(b, VYRE_TYPE_I32, (uint32_t)value);
}

vyre_expr vyre_build_f32(vyre_builder *b, float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return literal(b, VYRE_TYPE_F32, bits);
}

vyre_expr vyre_build_bool(vyre_builder *b, int value)
{
    return literal(b, VYRE_TYPE_BOOL, value != 0);
}

vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits)
{
    if (vy_builder_stopped(b) || !vy_builder_value_type(b, type, "a literal")) {
        return (vyre_expr){0};
    }
    if (vy_type_is_vector(type)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a literal of type %s has several components. Fix: use vyre_build_vector",
                        vyre_type_keyword(type));
        return (vyre_expr){0};
    }
    return literal(b, type, vy_type_bits(type, bits));
}

vyre_expr vy_builder_special(vyre_builder *b, uint32_t f32_bits)
{
    if (vy_builder_stopped(b)) {
        return (vyre_expr){0};
    }
    return add_node(b, (vy_node){.op = VYRE_OP_LITERAL,
                                 .type = VYRE_TYPE_F32,
                                 .flags = VY_NODE_SPECIAL,
                                 .bits = {f32_bits}});
}

vyre_expr vyre_build_int(vyre_builder *b, uint64_t value)
{
    return literal(b, VYRE_TYPE_INT, value);
}

static inline vyre_expr leaf(vyre_builder *b, vyre_op op, vyre_type type, uint32_t ref)
{
    if (vy_builder_stopped(b)) {
        return (vyre_expr){0};
    }
    vy_node *node = new_node(b);
    if (!node) {
        return (vyre_expr){0};
    }
    node->op = (uint16_t)op;
    node->type = (uint8_t)type;
    node->ref = ref;
    return last_node(b);
}

vyre_expr vyre_build_constant_value(vyre_builder *b, vyre_ref constant)
{
    uint32_t index = vy_builder_stopped(b) ? 0 : vy_builder_ref(b, constant, VY_REF_CONSTANT);
    if (!index) {
        return (vyre_expr){0};
    }
    const vy_named *named = &b->program->constants.data[index];
    return add_node(b, (vy_node){.op = VYRE_OP_LITERAL,
                                 .type = named->type,
                                 .ref = index + 1,
                                 .bits = {named->bits[0], named->bits[1]}});
}

vyre_expr vyre_build_builtin(vyre_builder *b, vyre_builtin builtin)
{
    if (!vy_builder_stopped(b) && (unsigned)builtin >= VYRE_BUILTIN_COUNT) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%u is no built-in value. Fix: use a VYRE_BUILTIN_ value",
                        (unsigned)builtin);
    }
    return leaf(b, VYRE_OP_BUILTIN, VYRE_TYPE_U32, (uint32_t)builtin);
}

vyre_expr vyre_build_param_value(vyre_builder *b, vyre_ref param)
{
    uint32_t index = vy_builder_stopped(b) ? 0 : vy_builder_ref(b, param, VY_REF_PARAM);
    if (!index) {
        return (vyre_expr){0};
    }
    return leaf(b, VYRE_OP_PARAM, (vyre_type)b->program->params.data[index].type, index);
}

vyre_expr vyre_build_variable(vyre_builder *b, vyre_ref variable)
{
    if (vy_builder_stopped(b)) {
        return (vyre_expr){0};
    }
    uint32_t index = variable.id & VY_REF_INDEX_MASK;
    if (variable.id >> VY_REF_SHIFT != VY_REF_VARIABLE || !index ||
        index >= b->program->vars.count) {
        index = vy_builder_ref(b, variable, VY_REF_VARIABLE); /* says what is wrong */
    }
    if (!index) {
        return (vyre_expr){0};
    }
    const vy_var *var = &b->program->vars.data[index];
    if (var->kind == VY_VAR_ARRAY) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the array `%s` is used as a value. Fix: use one element: `%s[i]`",
                        var->name, var->name);
    }
    return leaf(b, VYRE_OP_VARIABLE, (vyre_type)var->type, index);
}

vyre_expr vyre_build_length(vyre_builder *b, vyre_ref buffer)
{
    uint32_t index = vy_builder_stopped(b) ? 0 : vy_builder_ref(b, buffer, VY_REF_BUFFER);
    if (!index) {
        return (vyre_expr){0};
    }
    return leaf(b, VYRE_OP_LENGTH, VYRE_TYPE_U32, index);
}

/* ---- Operators ------------------------------------------------------------------------------- */

vyre_expr vyre_build_load(vyre_builder *b, vyre_ref place, vyre_expr index)
{
    uint32_t node = vy_builder_use(b, index, "the index");
    if (node == VY_NO_NODE || !vy_builder_coerce_index(b, node, "the index")) {
        return (vyre_expr){0};
    }
    const vyre_program *p = b->program;
    uint32_t entry = place.id & VY_REF_INDEX_MASK;
    vy_node load = {.op = VYRE_OP_NONE, .ref = entry, .arg = {node}};
    switch (vy_builder_ref_kind(b, place)) {
    case VY_REF_BUFFER:
        load.op = VYRE_OP_LOAD;
        load.type = (uint8_t)vy_element_value_type((vyre_type)p->buffers.data[entry].type);
        break;
    case VY_REF_TABLE:
        load.op = VYRE_OP_TABLE;
        load.type = (uint8_t)vy_element_value_type((vyre_type)p->tables.data[entry].type);
        break;
    case VY_REF_VARIABLE:
        if (p->vars.data[entry].kind == VY_VAR_ARRAY) {
            load.op = VYRE_OP_ELEMENT;
            load.type = (uint8_t)vy_element_value_type((vyre_type)p->vars.data[entry].type);
        }
        break;
    default:
        break;
    }
    if (load.op == VYRE_OP_NONE) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "what is indexed is no buffer, private array or table. Fix: index one of "
                        "those");
        return (vyre_expr){0};
    }
    return add_node(b, load);
}

/* A minus before a literal belongs to the literal: NEGATE of one is a literal again. NaN keeps its
 * operator, which makes it the canonical one, and so does a named constant, for its name. */
static bool fold_negate(vyre_builder *b, const vy_node *operand, vyre_expr *out)
{
    vy_node node = *operand;
    if (node.op != VYRE_OP_LITERAL || node.ref) {
        return false;
    }
    if (node.type == VYRE_TYPE_INT) {
        node.flags = node.flags & VY_NODE_NEGATIVE ? 0 : VY_NODE_NEGATIVE;
    } else if (vy_type_is_signed((vyre_type)node.type)) {
        node.bits[0] = vy_type_bits((vyre_type)node.type, 0u - node.bits[0]);
    } else if (vy_type_is_float((vyre_type)node.type) &&
               !vy_float_is_nan((vyre_type)node.type, node.bits[0])) {
        node.bits[0] ^= (uint64_t)1 << (vy_type_width((vyre_type)node.type) - 1);
    } else {
        return false;
    }
    node.flags &= (uint8_t)~VY_NODE_USED;
    *out = add_node(b, node);
    return true;
}

static uint32_t use_operand(vyre_builder *b, vyre_op op, vyre_expr operand)
{
    uint32_t index = take(b, operand);
    if (index == VY_NO_NODE) {
        char what[64] = "an operand of '";
        strncat(what, vy_op_get(op)->text, 40);
        strncat(what, "'", 2);
        (void)vy_builder_use(b, operand, what); /* says why */
    }
    return index;
}

/* Which operand slots must be empty, and taking of the others. */
static bool use_operands(vyre_builder *b, vyre_op op, const vyre_expr *operands, uint32_t *nodes)
{
    const vy_op_info *info = vy_op_get(op);
    for (uint32_t i = 0; i < 4; i++) {
        if (i < info->operand_count) {
            nodes[i] = use_operand(b, op, operands[i]);
            if (nodes[i] == VY_NO_NODE) {
                return false;
            }
        } else if (operands[i].id) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                            "'%s' takes %u operands. Fix: pass no more than those", info->text,
                            info->operand_count);
            return false;
        }
    }
    return true;
}

/* The node behind a handle that can be taken as a typed word, as most operands can; else NULL. */
static inline vy_node *word_operand(const vyre_builder *b, vyre_expr expr)
{
    uint32_t index = expr.id - b->pool_base;
    if (expr.id < b->pool_base || index >= b->pool.count) {
        return NULL;
    }
    vy_node *node = &b->pool.data[index];
    bool is_word = node->type == VYRE_TYPE_U32 || node->type == VYRE_TYPE_I32;
    return is_word && !(node->flags & VY_NODE_USED) ? node : NULL;
}

/* Most operators: sums and the like of two words of one type, about which nothing is to be found
 * out. NULL, and nothing is done: another, or something is wrong. */
static vy_node *build_words(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y)
{
    const vy_op_info *info = vy_op_get(op);
    if ((info->shape != VY_SHAPE_ARITHMETIC && info->shape != VY_SHAPE_INTEGER) || x.id == y.id) {
        return NULL;
    }
    vy_node *a = word_operand(b, x), *c = word_operand(b, y);
    if (!a || !c || a->type != c->type) {
        return NULL;
    }
    uint8_t type = a->type;
    a->flags |= VY_NODE_USED;
    c->flags |= VY_NODE_USED;
    b->pool_live -= 2;
    vy_node *node = new_node(b);
    if (node) {
        node->op = (uint16_t)op;
        node->type = type;
        node->arg[0] = x.id - b->pool_base;
        node->arg[1] = y.id - b->pool_base;
    }
    return node;
}

vyre_expr vyre_build_op(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y, vyre_expr z,
                        vyre_expr w)
{
    if (vy_builder_stopped(b)) {
        return (vyre_expr){0};
    }
    if (!z.id && !w.id && build_words(b, op, x, y)) {
        return last_node(b);
    }
    vyre_expr operands[4] = {x, y, z, w};
    uint32_t nodes[4] = {0};
    vyre_type type = VYRE_TYPE_VOID;
    vyre_expr folded = {0};
    if ((unsigned)op >= VYRE_OP_COUNT) {
        op = VYRE_OP_NONE;
    }
    if (!use_operands(b, op, operands, nodes) || !vy_builder_type_op(b, op, nodes, &type)) {
        return (vyre_expr){0};
    }
    if (op == VYRE_OP_NEGATE && fold_negate(b, &b->pool.data[nodes[0]], &folded)) {
        return folded;
    }
    vy_node node = {.op = (uint16_t)op, .type = (uint8_t)type};
    memcpy(node.arg, nodes, sizeof nodes);
    if (type == VYRE_TYPE_INT) {
        bool is_negative = op == VYRE_OP_NEGATE;
        for (uint32_t i = 0; i < vy_op_get(op)->operand_count; i++) {
            is_negative |= (b->pool.data[nodes[i]].flags & VY_NODE_NEGATIVE) != 0;
        }
        node.flags = is_negative ? VY_NODE_NEGATIVE : 0;
    }
    return add_node(b, node);
}

static bool check_bitcast(vyre_builder *b, vyre_type to, vyre_type from)
{
    if (vy_type_component(to) == VYRE_TYPE_BOOL || vy_type_component(from) == VYRE_TYPE_BOOL) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "bitcast does not take or give bool. Fix: use `u32(b)` or `x != 0`");
        return false;
    }
    if (vy_type_width(to) != vy_type_width(from) ||
        vy_type_components(to) != vy_type_components(from)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "bitcast from %s to %s changes the size. Fix: use types of the same width "
                        "and number of components",
                        vyre_type_keyword(from), vyre_type_keyword(to));
        return false;
    }
    return true;
}

static bool check_cast(vyre_builder *b, vyre_type to, vyre_type from)
{
    if (vy_type_components(to) == vy_type_components(from)) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                    "a cast from %s to %s changes the number of components. Fix: name the "
                    "components that are meant, such as `v.x`, or put a vector together of them",
                    vyre_type_keyword(from), vyre_type_keyword(to));
    return false;
}

/* An untyped operand is signed where something in it is negated; of 32 bits in a cast, as wide as
 * the result in a bitcast. */
static vyre_type literal_type(vyre_op op, vyre_type to, bool is_negative)
{
    return vy_type_of_width(is_negative, op == VYRE_OP_BITCAST ? vy_type_width(to) : 32);
}

static vyre_expr cast(vyre_builder *b, vyre_op op, vyre_type type, vyre_expr value)
{
    if (vy_builder_stopped(b) || !vy_builder_value_type(b, type, "a cast")) {
        return (vyre_expr){0};
    }
    uint32_t node = vy_builder_use(b, value, "the operand of a cast");
    if (node == VY_NO_NODE) {
        return (vyre_expr){0};
    }
    bool is_negative = b->pool.data[node].flags & VY_NODE_NEGATIVE;
    if (!vy_builder_settle(b, node, literal_type(op, type, is_negative))) {
        return (vyre_expr){0};
    }
    vyre_type from = (vyre_type)b->pool.data[node].type;
    if (op == VYRE_OP_BITCAST ? !check_bitcast(b, type, from) : !check_cast(b, type, from)) {
        return (vyre_expr){0};
    }
    return add_node(b, (vy_node){.op = (uint16_t)op, .type = (uint8_t)type, .arg = {node}});
}

static bool is_vector_handle(const vyre_builder *b, vyre_expr expr)
{
    uint32_t index = expr.id - b->pool_base;
    return expr.id >= b->pool_base && index < b->pool.count &&
           vy_type_is_vector((vyre_type)b->pool.data[index].type);
}

vyre_expr vyre_build_vector(vyre_builder *b, vyre_type type, const vyre_expr *parts, uint32_t count)
{
    if (vy_builder_stopped(b) || !vy_builder_value_type(b, type, "a vector")) {
        return (vyre_expr){0};
    }
    if (!vy_type_is_vector(type) || count == 0 || count > 4 || !parts) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s is no vector of %u parts. Fix: use a vector type and 1 to 4 parts",
                        vyre_type_keyword(type), count);
        return (vyre_expr){0};
    }
    if (count == 1 && is_vector_handle(b, parts[0])) {
        return vyre_build_cast(b, type, parts[0]);
    }
    uint32_t first = b->pool_args.count, components = 0;
    if (!vy_vec_reserve(&b->scratch, &b->pool_args, count)) {
        vy_builder_no_memory(b);
        return (vyre_expr){0};
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = vy_builder_use(b, parts[i], "a part of a vector");
        if (node == VY_NO_NODE) {
            return (vyre_expr){0};
        }
        vyre_type part = (vyre_type)b->pool.data[node].type;
        if (!vy_type_is_vector(part) || vy_type_component(part) != vy_type_component(type)) {
            if (!vy_builder_coerce(b, node, vy_type_component(type), "a part of a vector")) {
                return (vyre_expr){0};
            }
        }
        components += vy_type_components((vyre_type)b->pool.data[node].type);
        b->pool_args.data[b->pool_args.count++] = node;
    }
    bool is_splat = count == 1 && components == 1;
    if (!is_splat && components != vy_type_components(type)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s has %u components, but %u are given. Fix: give as many, or one scalar "
                        "for all of them",
                        vyre_type_keyword(type), vy_type_components(type), components);
        return (vyre_expr){0};
    }
    return add_node(b,
                    (vy_node){.op = VYRE_OP_VECTOR, .type = (uint8_t)type, .arg = {first, count}});
}

vyre_expr vyre_build_swizzle(vyre_builder *b, vyre_expr vector, const char *components)
{
    uint32_t node = vy_builder_use(b, vector, "the vector of a swizzle");
    if (node == VY_NO_NODE) {
        return (vyre_expr){0};
    }
    static const char names[] = "xyzw";
    vyre_type type = (vyre_type)b->pool.data[node].type;
    uint32_t have = vy_type_is_vector(type) ? vy_type_components(type) : 0, count = 0, picks = 0;
    bool ok = have > 0 && components;
    for (; ok && count < 5 && components[count]; count++) {
        const char *at = strchr(names, components[count]);
        uint32_t pick = at ? (uint32_t)(at - names) : 4;
        ok = pick < have && count < 4;
        picks |= ok ? pick << 2 * count : 0;
    }
    vyre_type result = vy_type_vector(vy_type_component(type), count);
    if (have == 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`.%s` stands behind %s, which has no components. Fix: use the value "
                        "itself, or make a vector of it, such as `u32x2(x)`",
                        components ? components : "", vyre_type_keyword(type));
        return (vyre_expr){0};
    }
    if (!ok || result == VYRE_TYPE_VOID) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`.%s` names no components of %s. Fix: name 1, 2 or 4 of %.*s",
                        components ? components : "", vyre_type_keyword(type), (int)have, names);
        return (vyre_expr){0};
    }
    return add_node(b, (vy_node){.op = VYRE_OP_SWIZZLE,
                                 .type = (uint8_t)result,
                                 .ref = VY_SWIZZLE(count, picks),
                                 .arg = {node}});
}

vyre_expr vyre_build_cast(vyre_builder *b, vyre_type type, vyre_expr value)
{
    return cast(b, VYRE_OP_CAST, type, value);
}

vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type type, vyre_expr value)
{
    return cast(b, VYRE_OP_BITCAST, type, value);
}

uint32_t vy_builder_call(vyre_builder *b, uint32_t function, const vyre_expr *arguments,
                         uint32_t count)
{
    const vy_function *callee = &b->program->functions.data[function];
    if (count != callee->parameter_count || (count && !arguments)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`%s` takes %u arguments, but %u are given. Fix: pass one for each "
                        "parameter",
                        callee->name, callee->parameter_count, count);
        return VY_NO_NODE;
    }
    uint32_t first = b->pool_args.count;
    if (!vy_vec_reserve(&b->scratch, &b->pool_args, count)) {
        vy_builder_no_memory(b);
        return VY_NO_NODE;
    }
    for (uint32_t i = 0; i < count; i++) {
        const vy_var *parameter = &b->program->vars.data[callee->first_parameter + i];
        uint32_t node = vy_builder_use(b, arguments[i], "an argument");
        if (node == VY_NO_NODE ||
            !vy_builder_coerce(b, node, (vyre_type)parameter->type, "the argument")) {
            return VY_NO_NODE;
        }
        b->pool_args.data[b->pool_args.count++] = node;
    }
    vy_node call = {
        .op = VYRE_OP_CALL, .type = callee->return_type, .ref = function, .arg = {first, count}};
    vyre_expr expr = add_node(b, call);
    return expr.id ? expr.id - b->pool_base : VY_NO_NODE;
}

vyre_expr vyre_build_call(vyre_builder *b, vyre_ref function, const vyre_expr *arguments,
                          uint32_t count)
{
    uint32_t index = vy_builder_stopped(b) ? 0 : vy_builder_ref(b, function, VY_REF_FUNCTION);
    if (!index) {
        return (vyre_expr){0};
    }
    const vy_function *callee = &b->program->functions.data[index];
    if (callee->return_type == VYRE_TYPE_VOID) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`%s` gives no value. Fix: call it as a statement of its own, or give it "
                        "a return type",
                        callee->name);
        return (vyre_expr){0};
    }
    uint32_t node = vy_builder_call(b, index, arguments, count);
    return node == VY_NO_NODE ? (vyre_expr){0} : (vyre_expr){b->pool_base + node};
}

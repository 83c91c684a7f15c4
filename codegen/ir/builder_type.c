/* Types of expressions: what each shape takes and gives, and how untyped integer literals find
 * their type. An untyped tree holds only literals and operators over them, and is typed as a whole,
 * once, when it meets a typed operand or a statement; so the work is linear. */
#include "codegen/ir/builder.h"
#include "codegen/ir/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TYPE_BIT(type) (1u << (type))
#define WORD_INTEGERS  (TYPE_BIT(VYRE_TYPE_U32) | TYPE_BIT(VYRE_TYPE_I32))
#define SIGNED_INTEGERS                                                                            \
    (TYPE_BIT(VYRE_TYPE_I8) | TYPE_BIT(VYRE_TYPE_I16) | TYPE_BIT(VYRE_TYPE_I32) |                  \
     TYPE_BIT(VYRE_TYPE_I64))
#define INTEGERS                                                                                   \
    (SIGNED_INTEGERS | TYPE_BIT(VYRE_TYPE_U8) | TYPE_BIT(VYRE_TYPE_U16) |                          \
     TYPE_BIT(VYRE_TYPE_U32) | TYPE_BIT(VYRE_TYPE_U64))
#define SHORT_FLOATS (TYPE_BIT(VYRE_TYPE_F16) | TYPE_BIT(VYRE_TYPE_F32))
#define FLOATS       (SHORT_FLOATS | TYPE_BIT(VYRE_TYPE_F64))
#define NUMBERS      (INTEGERS | FLOATS)
#define ANY_TYPE     (NUMBERS | TYPE_BIT(VYRE_TYPE_BOOL))

static void fail(vyre_builder *b, vy_loc loc, const char *what, const char *fix)
{
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc, "%s. Fix: %s", what, fix);
}

/* The scalar types that the operands named T of a shape, or their components, may have. */
static uint32_t shape_types(vyre_op op)
{
    switch (vy_op_get(op)->shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_ORDER:
    case VY_SHAPE_ABS_DIFF:
    case VY_SHAPE_BITCAST:
    case VY_SHAPE_DOT:
        return NUMBERS;
    case VY_SHAPE_SIGNED_UNARY:
        return op == VYRE_OP_NEGATE ? NUMBERS : SIGNED_INTEGERS | FLOATS;
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
    case VY_SHAPE_SHIFT:
    case VY_SHAPE_BIT_COUNT:
    case VY_SHAPE_EXTRACT:
    case VY_SHAPE_INSERT:
        return op == VYRE_OP_DOT4 || op == VYRE_OP_UNPACK_BYTE || op == VYRE_OP_UNPACK_NIBBLE
                   ? WORD_INTEGERS
                   : INTEGERS;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
    case VY_SHAPE_BOOL_REDUCE:
        return TYPE_BIT(VYRE_TYPE_BOOL);
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
    case VY_SHAPE_FLOAT_TEST:
        return vy_tolerance_find(op) ? SHORT_FLOATS : FLOATS;
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_SELECT:
    case VY_SHAPE_CAST:
        return ANY_TYPE;
    case VY_SHAPE_LEAF:
    case VY_SHAPE_INDEXED:
    case VY_SHAPE_CALL:
    case VY_SHAPE_VECTOR:
    case VY_SHAPE_SWIZZLE:
        break;
    }
    return ANY_TYPE;
}

static const char *types_text(uint32_t types)
{
    switch (types) {
    case WORD_INTEGERS:
        return "u32 or i32";
    case INTEGERS:
        return "an integer";
    case NUMBERS:
        return "a number";
    case TYPE_BIT(VYRE_TYPE_BOOL):
        return "bool";
    case SHORT_FLOATS:
        return "f32 or f16";
    case FLOATS:
        return "a float";
    case SIGNED_INTEGERS | FLOATS:
        return "a signed integer or a float";
    default:
        return "a bool or a number";
    }
}

/* What to write where `got` stands and one of `types` is needed. */
static const char *conversion_fix(uint32_t types, vyre_type got)
{
    if (types == TYPE_BIT(VYRE_TYPE_BOOL)) {
        return "compare it, such as `x != 0`";
    }
    if (vy_type_component(got) == VYRE_TYPE_BOOL) {
        return "convert it, such as `u32(b)`";
    }
    if (types == SHORT_FLOATS || types == FLOATS) {
        return "convert it: `f32(x)`";
    }
    if (types == (SIGNED_INTEGERS | FLOATS)) {
        return "convert it, such as `i32(x)`; an unsigned value has no sign";
    }
    return "convert it, such as `u32(x)` or `i32(x)`";
}

static bool check_operand(vyre_builder *b, vyre_op op, vyre_type got, vy_loc loc)
{
    uint32_t types = shape_types(op);
    if (TYPE_BIT(vy_type_component(got)) & types) {
        return true;
    }
    if (op == VYRE_OP_REM && vy_type_is_float(got)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc,
                        "'%%' does not take %s. Fix: write `x - y * trunc(x / y)`",
                        vyre_type_keyword(got));
        return false;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc, "'%s' takes %s, not %s. Fix: %s",
                    vy_op_get(op)->text, types_text(types), vyre_type_keyword(got),
                    conversion_fix(types, got));
    return false;
}

/* What makes a number a literal of that type. */
static const char *float_suffix(vyre_type type)
{
    return vy_type_width(type) == 64 ? "d" : vy_type_width(type) == 16 ? "h" : "";
}

/* ---- Untyped literals ------------------------------------------------------------------------ */

/* Whether a float with that many bits in its significand holds the integer. */
static bool is_exact(uint64_t magnitude, uint32_t precision)
{
    while (magnitude && !(magnitude & 1)) {
        magnitude >>= 1;
    }
    return magnitude >> precision == 0;
}

static void fail_range(vyre_builder *b, const vy_node *node, const char *type, const char *range,
                       const char *fix)
{
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc,
                    "the integer literal %s%" PRIu64 " does not fit %s (%s). Fix: %s",
                    node->flags & VY_NODE_NEGATIVE ? "-" : "", node->bits[0], type, range, fix);
}

static bool settle_integer(vyre_builder *b, vy_node *node, vyre_type type)
{
    bool is_negative = node->flags & VY_NODE_NEGATIVE, is_signed = vy_type_is_signed(type);
    uint32_t width = vy_type_width(type);
    uint64_t magnitude = node->bits[0], sign = (uint64_t)1 << (width - 1);
    uint64_t largest = is_signed ? sign - 1 : sign - 1 + sign;
    if (is_negative && !is_signed) {
        const char *suffix = width == 64 ? "l" : "i";
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc,
                        "the negative literal -%" PRIu64 " stands where %s is needed. Fix: write "
                        "`-%" PRIu64 "%s` where %s is meant, subtract, or write the wrapped value",
                        magnitude, vyre_type_keyword(type), magnitude, suffix,
                        width == 64 ? "i64" : "i32");
        return false;
    }
    if (magnitude > (is_negative ? sign : largest)) {
        char range[64];
        if (is_signed) {
            snprintf(range, sizeof range, "-%" PRIu64 " .. %" PRIu64, sign, largest);
        } else {
            snprintf(range, sizeof range, "0 .. %" PRIu64, largest);
        }
        fail_range(b, node, vyre_type_keyword(type), range,
                   width == 64   ? "use a smaller value"
                   : is_negative ? "use a larger value, or i64 with the suffix l"
                   : is_signed   ? "use a smaller value, or an unsigned or wider type"
                   : width < 32  ? "use a smaller value, or a wider type"
                                 : "use a smaller value, or u64 with the suffix ul");
        return false;
    }
    node->bits[0] = vy_type_bits(type, is_negative ? 0 - magnitude : magnitude);
    return true;
}

static bool settle_float(vyre_builder *b, vy_node *node, vyre_type type)
{
    uint32_t precision = type == VYRE_TYPE_F64 ? 53 : type == VYRE_TYPE_F32 ? 24 : 11;
    uint64_t magnitude = node->bits[0];
    if (!is_exact(magnitude, precision) || (type == VYRE_TYPE_F16 && magnitude > 65504)) {
        char what[16], range[16], fix[96];
        snprintf(what, sizeof what, "%s exactly", vyre_type_keyword(type));
        snprintf(range, sizeof range, "%u bits", precision);
        snprintf(fix, sizeof fix, "write it as a float, %s%" PRIu64 ".0%s, which is rounded",
                 node->flags & VY_NODE_NEGATIVE ? "-" : "", magnitude, float_suffix(type));
        fail_range(b, node, what, range,
                   type == VYRE_TYPE_F16 && magnitude >= 65520 ? "write a smaller value, or use f32"
                                                               : fix);
        return false;
    }
    node->bits[0] = vy_float_of_integer(type, node->flags & VY_NODE_NEGATIVE, magnitude);
    return true;
}

static bool settle_literal(vyre_builder *b, vy_node *node, vyre_type type)
{
    if (!(vy_type_is_float(type) ? settle_float(b, node, type) : settle_integer(b, node, type))) {
        return false;
    }
    node->type = (uint8_t)type;
    return true;
}

bool vy_builder_settle(vyre_builder *b, uint32_t root, vyre_type type)
{
    type = vy_type_component(type);
    if (b->pool.data[root].type != VYRE_TYPE_INT) {
        return true;
    }
    b->visits.count = 0;
    if (!vy_vec_push(&b->scratch, &b->visits, (vy_visit){root, 0})) {
        vy_builder_no_memory(b);
        return false;
    }
    while (b->visits.count) {
        vy_node *node = &b->pool.data[b->visits.data[--b->visits.count].node];
        if (node->op == VYRE_OP_LITERAL) {
            if (!settle_literal(b, node, type)) {
                return false;
            }
            continue;
        }
        if (node->op == VYRE_OP_NEGATE && vy_type_kind_of(type) == VY_KIND_UNSIGNED) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc,
                            "a literal expression is negated where %s is needed. Fix: give a "
                            "literal the suffix i where i32 is meant, or subtract",
                            vyre_type_keyword(type));
            return false;
        }
        if (!check_operand(b, (vyre_op)node->op, type, node->loc)) {
            return false;
        }
        node->type = (uint8_t)type;
        for (uint32_t i = vy_op_get((vyre_op)node->op)->operand_count; i > 0; i--) {
            uint32_t operand = node->arg[i - 1];
            if (b->pool.data[operand].type == VYRE_TYPE_INT &&
                !vy_vec_push(&b->scratch, &b->visits, (vy_visit){operand, 0})) {
                vy_builder_no_memory(b);
                return false;
            }
        }
    }
    return true;
}

/* ---- Places that need a type ----------------------------------------------------------------- */

typedef struct fix_text {
    char text[128];
} fix_text;

static bool is_float_literal(const vy_node *node)
{
    return node->op == VYRE_OP_LITERAL && !node->ref && node->type != VYRE_TYPE_INT &&
           vy_type_is_float((vyre_type)node->type) &&
           (node->bits[0] & ~((uint64_t)1 << (vy_type_width((vyre_type)node->type) - 1))) <
               vy_number_infinity((vyre_type)node->type);
}

/* How a value of type `got` becomes one of `need`. A literal is written anew, since a cast of one
 * would round it twice. */
static fix_text conversion_to(vyre_type need, vyre_type got, const vy_node *node)
{
    fix_text fix = {"compare it, such as `x != 0`"};
    uint32_t have = vy_type_components(got), want = vy_type_components(need);
    if (node && is_float_literal(node) && vy_type_is_float(need) && want == 1) {
        char number[VY_FLOAT_TEXT_SIZE];
        uint64_t sign = (uint64_t)1 << (vy_type_width(got) - 1);
        vy_number_write(got, node->bits[0] & (sign - 1), number);
        snprintf(fix.text, sizeof fix.text, "write the literal as %s: `%s%s%s`",
                 vyre_type_keyword(need), node->bits[0] & sign ? "-" : "", number,
                 float_suffix(need));
    } else if (have > 1 && have != want) {
        snprintf(fix.text, sizeof fix.text, "name the components that are meant, such as `v.%s`",
                 want > 1 ? "xy" : "x");
    } else if (need != VYRE_TYPE_BOOL) {
        snprintf(fix.text, sizeof fix.text, "convert it: `%s(...)`", vyre_type_keyword(need));
    }
    return fix;
}

static bool fail_mismatch(vyre_builder *b, const vy_node *node, const char *what, vyre_type need)
{
    vyre_type got = (vyre_type)node->type;
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc, "%s is %s, but %s is needed. Fix: %s",
                    what, vyre_type_keyword(got), vyre_type_keyword(need),
                    conversion_to(need, got, node).text);
    return false;
}

/* inf and nan become infinity and NaN of any float type. */
static bool settle_special(vy_node *node, vyre_type type)
{
    if (!(node->flags & VY_NODE_SPECIAL) || !vy_type_is_float(type)) {
        return false;
    }
    type = vy_type_component(type);
    uint64_t sign = node->bits[0] >> 31 ? (uint64_t)1 << (vy_type_width(type) - 1) : 0;
    node->bits[0] =
        sign | (vy_float_is_nan(VYRE_TYPE_F32, node->bits[0]) ? vy_float_nan(type)
                                                              : vy_number_infinity(type));
    node->type = (uint8_t)type;
    node->flags &= (uint8_t)~VY_NODE_SPECIAL;
    return true;
}

bool vy_builder_coerce(vyre_builder *b, uint32_t node, vyre_type type, const char *what)
{
    vyre_type got = (vyre_type)b->pool.data[node].type;
    if (got == VYRE_TYPE_INT && type != VYRE_TYPE_BOOL && !vy_type_is_vector(type)) {
        return vy_builder_settle(b, node, type);
    }
    if (got != type && !vy_type_is_vector(type) && settle_special(&b->pool.data[node], type)) {
        return true;
    }
    return got == type || fail_mismatch(b, &b->pool.data[node], what, type);
}

bool vy_builder_coerce_index(vyre_builder *b, uint32_t node, const char *what)
{
    if (!vy_builder_settle(b, node, VYRE_TYPE_U32)) {
        return false;
    }
    vyre_type got = (vyre_type)b->pool.data[node].type;
    if (got == VYRE_TYPE_U32 || got == VYRE_TYPE_I32 || got == VYRE_TYPE_U64) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->pool.data[node].loc,
                    "%s is %s, but u32, i32 or u64 is needed. Fix: convert it: `u32(...)`", what,
                    vyre_type_keyword(got));
    return false;
}

bool vy_builder_coerce_word(vyre_builder *b, uint32_t node, const char *what)
{
    if (!vy_builder_settle(b, node, VYRE_TYPE_U32)) {
        return false;
    }
    vyre_type got = (vyre_type)b->pool.data[node].type;
    if (got == VYRE_TYPE_U32 || got == VYRE_TYPE_I32) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->pool.data[node].loc,
                    "%s is %s, but u32 or i32 is needed. Fix: convert it: `u32(...)`", what,
                    vyre_type_keyword(got));
    return false;
}

/* The amount of a shift or rotation of a value of `type`: any integer, untyped becomes u32. */
static bool coerce_amount(vyre_builder *b, uint32_t node, uint32_t shifted)
{
    if (!vy_builder_settle(b, node, VYRE_TYPE_U32)) {
        return false;
    }
    vyre_type got = (vyre_type)b->pool.data[node].type;
    uint32_t count = vy_type_components(got);
    if (vy_type_is_integer(got) &&
        (count == 1 || count == vy_type_components((vyre_type)b->pool.data[shifted].type))) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->pool.data[node].loc,
                    "the amount is %s, but an integer, or a vector of as many as are shifted, is "
                    "needed. Fix: convert it: `u32(...)`",
                    vyre_type_keyword(got));
    return false;
}

/* u32, or a vector of u32 of as many components as `like`. */
static bool coerce_field(vyre_builder *b, uint32_t node, uint32_t like, const char *what)
{
    vyre_type got = (vyre_type)b->pool.data[node].type;
    vyre_type other = (vyre_type)b->pool.data[like].type;
    if (vy_type_is_vector(got) && vy_type_component(got) == VYRE_TYPE_U32 &&
        vy_type_components(got) == vy_type_components(other)) {
        return true;
    }
    return vy_builder_coerce(b, node, VYRE_TYPE_U32, what);
}

/* A literal of one of two types that can be written anew, NULL where there is none. */
static const vy_node *find_float_literal(const vyre_builder *b, const uint32_t *nodes,
                                         uint32_t count, vyre_type type, vyre_type other)
{
    for (uint32_t i = 0; i < count; i++) {
        const vy_node *node = &b->pool.data[nodes[i]];
        if (is_float_literal(node) && (node->type == type || node->type == other)) {
            return node;
        }
    }
    return NULL;
}

static bool fail_mixed(vyre_builder *b, const char *what, const uint32_t *nodes, uint32_t count,
                       vyre_type type, vyre_type other)
{
    if (vy_type_component(type) == VYRE_TYPE_BOOL || vy_type_component(other) == VYRE_TYPE_BOOL) {
        vy_builder_fail(
            b, VYRE_ERROR_INVALID_PROGRAM, b->at,
            "%s mixes bool with %s. Fix: write `x != 0` for a bool or `u32(b)` for a "
            "number",
            what, vyre_type_keyword(vy_type_component(type) == VYRE_TYPE_BOOL ? other : type));
        return false;
    }
    const vy_node *literal = find_float_literal(b, nodes, count, type, other);
    vyre_type need = type, got = other;
    if (literal && vy_type_is_float(type) && vy_type_is_float(other)) {
        got = (vyre_type)literal->type;
        need = vy_type_component(got == type ? other : type);
    } else if (vy_type_is_vector(type) != vy_type_is_vector(other)) {
        /* The scalar takes the type of the vector's components. */
        got = vy_type_is_vector(type) ? other : type;
        need = vy_type_component(got == type ? other : type);
        literal = NULL;
    } else {
        literal = NULL;
    }
    fix_text fix = conversion_to(need, got, literal);
    if (!literal && vy_type_components(type) == vy_type_components(other)) {
        snprintf(fix.text, sizeof fix.text, "convert one of them: `%s(...)`",
                 vyre_type_keyword(type));
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                    "%s mixes %s with %s, and nothing is converted implicitly. Fix: %s", what,
                    vyre_type_keyword(type), vyre_type_keyword(other), fix.text);
    return false;
}

/* The first type among the nodes, or the first vector of such components; inf and nan count only
 * where nothing else has a type. */
static vyre_type common_type(const vyre_builder *b, const uint32_t *nodes, uint32_t count)
{
    vyre_type type = VYRE_TYPE_INT;
    bool is_special = false;
    for (uint32_t i = 0; i < count; i++) {
        const vy_node *node = &b->pool.data[nodes[i]];
        vyre_type other = (vyre_type)node->type;
        bool is_weak = node->flags & VY_NODE_SPECIAL;
        bool is_wider = type != VYRE_TYPE_INT && !vy_type_is_vector(type) &&
                        vy_type_is_vector(other) && vy_type_component(other) == type;
        if (type == VYRE_TYPE_INT || is_wider ||
            (is_special && !is_weak && other != VYRE_TYPE_INT)) {
            is_special = is_weak;
            type = other;
        }
    }
    return type;
}

bool vy_builder_unify(vyre_builder *b, const uint32_t *nodes, uint32_t count, const char *what,
                      vyre_type *out_type)
{
    vyre_type type = common_type(b, nodes, count);
    *out_type = type;
    for (uint32_t i = 0; i < count; i++) {
        vyre_type other = (vyre_type)b->pool.data[nodes[i]].type;
        if (other == type || (vy_type_is_vector(type) && vy_type_component(type) == other) ||
            settle_special(&b->pool.data[nodes[i]], type)) {
            continue;
        }
        if (other != VYRE_TYPE_INT || vy_type_component(type) == VYRE_TYPE_BOOL) {
            return fail_mixed(b, what, nodes, count, type, other);
        }
        if (!vy_builder_settle(b, nodes[i], type)) {
            return false;
        }
    }
    return true;
}

/* ---- Operators ------------------------------------------------------------------------------- */

static bool type_same(vyre_builder *b, vyre_op op, const uint32_t *nodes, uint32_t count,
                      vyre_type *out)
{
    vyre_type type = (vyre_type)b->pool.data[nodes[0]].type;
    bool are_same = type != VYRE_TYPE_INT;
    for (uint32_t i = 1; i < count; i++) {
        are_same &= b->pool.data[nodes[i]].type == (uint8_t)type;
    }
    if (are_same) {
        *out = type;
        return check_operand(b, op, type, b->at);
    }
    char what[48] = "'";
    strncat(what, vy_op_get(op)->text, 40);
    strncat(what, "'", 2);
    return vy_builder_unify(b, nodes, count, what, out) &&
           (*out == VYRE_TYPE_INT || check_operand(b, op, *out, b->at));
}

/* The same, with untyped operands made u32 (f32 where the operator takes only floats). */
static bool type_settled(vyre_builder *b, vyre_op op, const uint32_t *nodes, uint32_t count,
                         vyre_type *out)
{
    uint32_t types = shape_types(op);
    vyre_type none = types & INTEGERS || !(types & FLOATS) ? VYRE_TYPE_U32 : VYRE_TYPE_F32;
    if (!type_same(b, op, nodes, count, out)) {
        return false;
    }
    if (*out == VYRE_TYPE_INT) {
        *out = none;
        for (uint32_t i = 0; i < count; i++) {
            if (!vy_builder_settle(b, nodes[i], none)) {
                return false;
            }
        }
    }
    return check_operand(b, op, *out, b->at);
}

/* bool for a scalar, the vector of bools for a vector. */
static vyre_type like(vyre_type component, vyre_type type)
{
    return vy_type_vector(component, vy_type_components(type));
}

static bool type_logic(vyre_builder *b, vyre_op op, const uint32_t *nodes, uint32_t count,
                       vyre_type *out)
{
    for (uint32_t i = 0; i < count; i++) {
        vyre_type got = (vyre_type)b->pool.data[nodes[i]].type;
        if (!check_operand(b, op, got == VYRE_TYPE_INT ? VYRE_TYPE_U32 : got, b->at)) {
            return false;
        }
    }
    return type_same(b, op, nodes, count, out);
}

static bool type_select(vyre_builder *b, const uint32_t *nodes, vyre_type *out)
{
    vyre_type condition = (vyre_type)b->pool.data[nodes[0]].type;
    if (!type_same(b, VYRE_OP_SELECT, nodes + 1, 2, out)) {
        return false;
    }
    if (vy_type_is_vector(condition) && vy_type_component(condition) == VYRE_TYPE_BOOL &&
        vy_type_components(condition) == vy_type_components(*out)) {
        return true;
    }
    return vy_builder_coerce(b, nodes[0], VYRE_TYPE_BOOL, "the condition of 'select'");
}

static bool type_of_vectors(vyre_builder *b, vyre_op op, const uint32_t *nodes, uint32_t count,
                            vyre_type *out)
{
    vyre_type type = VYRE_TYPE_VOID;
    if (!type_settled(b, op, nodes, count, &type)) {
        return false;
    }
    *out = vy_type_component(type);
    for (uint32_t i = 0; i < count; i++) {
        vyre_type got = (vyre_type)b->pool.data[nodes[i]].type;
        if (!vy_type_is_vector(got)) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                            "'%s' takes vectors, not %s. Fix: %s", vy_op_get(op)->text,
                            vyre_type_keyword(got),
                            op == VYRE_OP_DOT ? "multiply scalars with `*`"
                                              : "use the bool itself; over a subgroup write "
                                                "`subgroup_any` or `subgroup_all`");
            return false;
        }
    }
    return true;
}

static bool type_signed_unary(vyre_builder *b, vyre_op op, const uint32_t *nodes, vyre_type *out)
{
    const vy_node *node = &b->pool.data[nodes[0]];
    if (op == VYRE_OP_NEGATE && node->op == VYRE_OP_LITERAL && node->type != VYRE_TYPE_INT &&
        vy_type_kind_of((vyre_type)node->type) == VY_KIND_UNSIGNED && !node->ref) {
        fail(b, b->at,
             node->type == VYRE_TYPE_U32 ? "a u32 literal is negated"
                                         : "an unsigned literal is negated",
             "write it with the suffix i where i32 is meant, subtract, or write the wrapped value");
        return false;
    }
    return type_same(b, op, nodes, 1, out);
}

static bool coerce_bits_operands(vyre_builder *b, const uint32_t *nodes, uint32_t value)
{
    return coerce_field(b, nodes[0], value, "the offset") &&
           coerce_field(b, nodes[1], value, "the count");
}

bool vy_builder_type_op(vyre_builder *b, vyre_op op, const uint32_t *nodes, vyre_type *out_type)
{
    vyre_type type = VYRE_TYPE_VOID;
    uint32_t count = vy_op_get(op)->operand_count;
    bool ok = false;
    switch (vy_op_get(op)->shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
        ok = type_same(b, op, nodes, count, &type);
        break;
    case VY_SHAPE_SIGNED_UNARY:
        ok = type_signed_unary(b, op, nodes, &type);
        break;
    case VY_SHAPE_SHIFT:
        ok = type_same(b, op, nodes, 1, &type) && coerce_amount(b, nodes[1], nodes[0]);
        break;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        ok = type_logic(b, op, nodes, count, &type);
        break;
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_ORDER:
    case VY_SHAPE_FLOAT_TEST:
        ok = type_settled(b, op, nodes, count, &type);
        type = like(VYRE_TYPE_BOOL, type);
        break;
    case VY_SHAPE_ABS_DIFF:
        ok = type_settled(b, op, nodes, count, &type);
        type = vy_type_is_float(type) ? type
                                      : like(vy_type_of_width(false, vy_type_width(type)), type);
        break;
    case VY_SHAPE_BIT_COUNT:
        ok = type_settled(b, op, nodes, count, &type);
        type = like(VYRE_TYPE_U32, type);
        break;
    case VY_SHAPE_EXTRACT:
        ok = type_same(b, op, nodes, 1, &type) && coerce_bits_operands(b, nodes + 1, nodes[0]);
        break;
    case VY_SHAPE_INSERT:
        ok = type_same(b, op, nodes, 2, &type) && coerce_bits_operands(b, nodes + 2, nodes[0]);
        break;
    case VY_SHAPE_SELECT:
        ok = type_select(b, nodes, &type);
        break;
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
        ok = type_settled(b, op, nodes, count, &type);
        break;
    case VY_SHAPE_BOOL_REDUCE:
    case VY_SHAPE_DOT:
        ok = type_of_vectors(b, op, nodes, count, &type);
        break;
    case VY_SHAPE_VECTOR:
    case VY_SHAPE_SWIZZLE:
    case VY_SHAPE_LEAF:
    case VY_SHAPE_INDEXED:
    case VY_SHAPE_CALL:
    case VY_SHAPE_CAST:
    case VY_SHAPE_BITCAST:
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s is not built by vyre_build_op. Fix: use its own vyre_build_ function",
                        vy_op_get(op)->name);
        break;
    }
    *out_type = type;
    return ok;
}

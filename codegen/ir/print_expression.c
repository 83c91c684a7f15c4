/* Expressions as text: the fewest parentheses, and suffixes on literals only where the type would
 * otherwise change. Works on a list of pieces, so that no expression makes it recurse. */
#include "codegen/ir/number.h"
#include "codegen/ir/print.h"

#include <string.h>

#define LEVEL_COMPARISON 3
#define LEVEL_PREFIX     10

static uint8_t infix_level(vyre_op op)
{
    switch (op) {
    case VYRE_OP_LOGICAL_OR:
        return 1;
    case VYRE_OP_LOGICAL_AND:
        return 2;
    case VYRE_OP_OR:
        return 4;
    case VYRE_OP_XOR:
        return 5;
    case VYRE_OP_AND:
        return 6;
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
        return 7;
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
        return 8;
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
        return 9;
    default:
        return vy_op_get(op)->form == VY_FORM_INFIX ? LEVEL_COMPARISON : LEVEL_PREFIX;
    }
}

/* The operands [*begin, *end) whose types are one, and the operator's own where `gives` it. */
static bool same_type_operands(const vy_expr *expr, uint32_t *begin, uint32_t *end)
{
    uint32_t count = vy_op_get((vyre_op)expr->op)->operand_count;
    *begin = 0;
    *end = count;
    switch (vy_op_get((vyre_op)expr->op)->shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
    case VY_SHAPE_SIGNED_UNARY:
        return true;
    case VY_SHAPE_SHIFT:
    case VY_SHAPE_EXTRACT:
        *end = 1;
        return true;
    case VY_SHAPE_INSERT:
        *end = 2;
        return true;
    case VY_SHAPE_SELECT:
        *begin = 1;
        return true;
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_ORDER:
    case VY_SHAPE_ABS_DIFF:
        return false;
    default:
        *end = 0;
        return false;
    }
}

static uint32_t operand_count(const vy_expr *expr)
{
    return expr->op == VYRE_OP_CALL ? expr->arg[1] : vy_expr_operand_count(expr);
}

static uint32_t operand(const vyre_program *program, const vy_expr *expr, uint32_t i)
{
    return expr->op == VYRE_OP_CALL ? program->call_args.data[expr->arg[0] + i] : expr->arg[i];
}

/* The level that an operand must have to stand without parentheses. */
static uint8_t operand_level(const vyre_program *program, const vy_expr *expr, uint32_t i)
{
    vyre_op op = (vyre_op)expr->op;
    const vy_expr *below = &program->exprs.data[operand(program, expr, i)];
    if (vy_op_get(op)->form == VY_FORM_INFIX) {
        uint8_t level = infix_level(op);
        return (uint8_t)(level + (i > 0 || level == LEVEL_COMPARISON ? 1 : 0));
    }
    if (vy_op_get(op)->form == VY_FORM_PREFIX) {
        return LEVEL_PREFIX;
    }
    if (op == VYRE_OP_SWIZZLE) {
        vy_form form = vy_op_get((vyre_op)below->op)->form;
        return form == VY_FORM_INFIX || form == VY_FORM_PREFIX ? LEVEL_PREFIX + 1 : LEVEL_PREFIX;
    }
    /* The whole operand `(1)` of bitcast<f32> would read as a literal of these bits. */
    bool is_bits = op == VYRE_OP_BITCAST && expr->type != VYRE_TYPE_U32 &&
                   expr->type != VYRE_TYPE_I32 && below->op == VYRE_OP_LITERAL && !below->ref &&
                   vy_type_is_integer((vyre_type)below->type);
    return is_bits ? LEVEL_PREFIX + 1 : 0;
}

bool vy_print_analyse(vy_printer *p)
{
    const vyre_program *program = p->program;
    p->is_untyped = vy_arena_alloc(&p->arena, program->exprs.count, sizeof *p->is_untyped);
    p->nesting = vy_arena_alloc(&p->arena, program->exprs.count, sizeof *p->nesting);
    if (!p->is_untyped || !p->nesting) {
        return false;
    }
    for (uint32_t e = 1; e < program->exprs.count; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        uint32_t begin, end, nesting = 0;
        bool untyped =
            same_type_operands(expr, &begin, &end) && vy_type_is_integer((vyre_type)expr->type);
        for (uint32_t i = begin; i < end; i++) {
            untyped &= p->is_untyped[expr->arg[i]];
        }
        p->is_untyped[e] = untyped || (expr->op == VYRE_OP_LITERAL && !expr->ref &&
                                       vy_type_is_integer((vyre_type)expr->type));
        for (uint32_t i = 0; i < operand_count(expr); i++) {
            uint32_t below = operand(program, expr, i);
            uint8_t level = infix_level((vyre_op)program->exprs.data[below].op);
            uint32_t opened = p->nesting[below];
            opened += vy_op_get((vyre_op)expr->op)->form != VY_FORM_INFIX;
            opened += level < operand_level(program, expr, i);
            nesting = opened > nesting ? opened : nesting;
        }
        p->nesting[e] = (uint16_t)(nesting < UINT16_MAX ? nesting : UINT16_MAX);
    }
    return true;
}

static void print_float(vy_printer *p, vyre_type type, uint64_t bits)
{
    char number[VY_FLOAT_TEXT_SIZE];
    uint32_t width = vy_type_width(type);
    uint64_t sign = (uint64_t)1 << (width - 1), magnitude = bits & (sign - 1);
    bool is_nan = vy_float_is_nan(type, bits), is_finite = magnitude < vy_number_infinity(type);
    bool has_word = type == VYRE_TYPE_F32 && (!is_nan || bits == vy_float_nan(type));
    if (!is_finite && !has_word) {
        vy_text_printf(p->out, "bitcast<%s>(0x%0*llx)", vyre_type_keyword(type), (int)width / 4,
                       (unsigned long long)bits);
        return;
    }
    if (is_finite) {
        vy_number_write(type, magnitude, number);
    } else {
        strcpy(number, is_nan ? "nan" : "inf");
    }
    vy_text_printf(p->out, "%s%s%s", bits & sign ? "-" : "", number,
                   type == VYRE_TYPE_F64   ? "d"
                   : type == VYRE_TYPE_F16 ? "h"
                                           : "");
}

/* Integers of 8 and 16 bits have no suffix: without a type around them they are bits of one. */
static void print_integer(vy_printer *p, vyre_type type, uint64_t bits, bool is_plain)
{
    uint32_t width = vy_type_width(type);
    bool is_signed = vy_type_is_signed(type);
    const char *suffix = width == 64 ? (is_signed ? "l" : "ul") : is_signed ? "i" : "u";
    if (!is_plain && width < 32) {
        vy_text_printf(p->out, "bitcast<%s>(0x%0*llx)", vyre_type_keyword(type), (int)width / 4,
                       (unsigned long long)bits);
    } else if (is_signed) {
        int64_t value = vy_type_signed_value(type, bits);
        uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        vy_text_printf(p->out, "%s%llu%s", value < 0 ? "-" : "", (unsigned long long)magnitude,
                       is_plain ? "" : suffix);
    } else if (bits >> (width - 1)) {
        vy_text_printf(p->out, "0x%0*llx%s", (int)width / 4, (unsigned long long)bits,
                       is_plain ? "" : suffix);
    } else {
        vy_text_printf(p->out, "%llu%s", (unsigned long long)bits, is_plain ? "" : suffix);
    }
}

void vy_print_literal(vy_printer *p, vyre_type type, uint64_t bits, bool is_plain)
{
    if (type == VYRE_TYPE_BOOL) {
        vy_text_printf(p->out, "%s", bits ? "true" : "false");
    } else if (vy_type_is_float(type)) {
        print_float(p, vy_element_value_type(type), bits);
    } else {
        print_integer(p, type, bits, is_plain);
    }
}

void vy_print_vector(vy_printer *p, vyre_type type, const uint64_t *components)
{
    uint32_t count = vy_type_components(type);
    if (count < 2) {
        vy_print_literal(p, type, components[0], true);
        return;
    }
    vy_text_printf(p->out, "%s(", vyre_type_keyword(type));
    for (uint32_t i = 0; i < count; i++) {
        vy_text_printf(p->out, "%s", i ? ", " : "");
        vy_print_literal(p, vy_type_component(type), components[i], true);
    }
    vy_text_append(p->out, ")", 1);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void push_text(vy_printer *p, const char *text)
{
    (void)vy_vec_push(&p->arena, &p->items, (vy_print_item){.text = text});
}

/* Whether the other operands of one type with operand `i` fix it. */
static bool is_typed_operand(const vy_printer *p, const vy_expr *expr, uint32_t i)
{
    uint32_t begin, end;
    same_type_operands(expr, &begin, &end);
    for (uint32_t other = begin; i >= begin && i < end && other < end; other++) {
        if (other != i && !p->is_untyped[expr->arg[other]]) {
            return true;
        }
    }
    return false;
}

static void push_operand(vy_printer *p, const vy_expr *expr, uint32_t i)
{
    bool is_typed =
        expr->op == VYRE_OP_VECTOR || (expr->op != VYRE_OP_CALL && is_typed_operand(p, expr, i));
    vy_print_item item = {.expr = operand(p->program, expr, i),
                          .level = operand_level(p->program, expr, i),
                          .is_typed = is_typed};
    (void)vy_vec_push(&p->arena, &p->items, item);
}

/* Pushes "a, b, c" and what closes it; the last pushed is printed first. */
static void push_operands(vy_printer *p, const vy_expr *expr, const char *close)
{
    push_text(p, close);
    for (uint32_t i = operand_count(expr); i-- > 0;) {
        push_operand(p, expr, i);
        if (i > 0) {
            push_text(p, ", ");
        }
    }
}

static void print_indexed(vy_printer *p, const vy_expr *expr)
{
    const vyre_program *program = p->program;
    const char *name = expr->op == VYRE_OP_LOAD      ? program->buffers.data[expr->ref].name
                       : expr->op == VYRE_OP_ELEMENT ? program->vars.data[expr->ref].name
                                                     : program->tables.data[expr->ref].name;
    vy_text_printf(p->out, "%s[", name);
    push_operands(p, expr, "]");
}

/* ".xy" in the printer's memory. */
static const char *swizzle_text(vy_printer *p, uint32_t ref)
{
    char text[6] = ".";
    for (uint32_t i = 0; i < vy_swizzle_count(ref) && i < 4; i++) {
        text[1 + i] = "xyzw"[vy_swizzle_component(ref, i)];
    }
    const char *copy = vy_arena_text(&p->arena, text, strlen(text));
    return copy ? copy : "";
}

static void print_leaf(vy_printer *p, const vy_expr *expr, bool is_plain)
{
    const vyre_program *program = p->program;
    switch (expr->op) {
    case VYRE_OP_LITERAL:
        if (expr->ref) {
            vy_text_printf(p->out, "%s", program->constants.data[expr->ref - 1].name);
        } else {
            vy_print_literal(p, (vyre_type)expr->type, expr->bits[0], is_plain);
        }
        break;
    case VYRE_OP_BUILTIN:
        vy_text_printf(p->out, "%s", vy_builtin_text((vyre_builtin)expr->ref));
        break;
    case VYRE_OP_PARAM:
        vy_text_printf(p->out, "%s", program->params.data[expr->ref].name);
        break;
    case VYRE_OP_VARIABLE:
        vy_text_printf(p->out, "%s", program->vars.data[expr->ref].name);
        break;
    case VYRE_OP_LENGTH:
        vy_text_printf(p->out, "len(%s)", program->buffers.data[expr->ref].name);
        break;
    case VYRE_OP_CALL:
        vy_text_printf(p->out, "%s(", program->functions.data[expr->ref].name);
        push_operands(p, expr, ")");
        break;
    case VYRE_OP_CAST:
    case VYRE_OP_VECTOR:
        vy_text_printf(p->out, "%s(", vyre_type_keyword((vyre_type)expr->type));
        push_operands(p, expr, ")");
        break;
    case VYRE_OP_SWIZZLE:
        push_text(p, swizzle_text(p, expr->ref));
        push_operand(p, expr, 0);
        break;
    case VYRE_OP_BITCAST:
        vy_text_printf(p->out, "bitcast<%s>(", vyre_type_keyword((vyre_type)expr->type));
        push_operands(p, expr, ")");
        break;
    default:
        print_indexed(p, expr);
        break;
    }
}

static bool is_negative(const vy_expr *literal)
{
    vyre_type type = (vyre_type)literal->type;
    bool has_sign = vy_type_is_signed(type) || vy_type_is_float(type);
    return has_sign && literal->bits[0] >> (vy_type_width(type) - 1);
}

/* Whether a minus is followed by another one, which must not become `--`. */
static bool has_minus_first(const vy_printer *p, const vy_expr *expr)
{
    const vy_expr *below = &p->program->exprs.data[expr->arg[0]];
    return expr->op == VYRE_OP_NEGATE &&
           (below->op == VYRE_OP_NEGATE ||
            (below->op == VYRE_OP_LITERAL && !below->ref && is_negative(below)));
}

static void print_item(vy_printer *p, const vy_print_item *item, bool has_suffixes)
{
    const vy_expr *expr = &p->program->exprs.data[item->expr];
    const vy_op_info *info = vy_op_get((vyre_op)expr->op);
    if (infix_level((vyre_op)expr->op) < item->level) {
        vy_text_append(p->out, "(", 1);
        push_text(p, ")");
    }
    switch (info->form) {
    case VY_FORM_INFIX:
        push_operand(p, expr, 1);
        push_text(p, " ");
        push_text(p, info->text);
        push_text(p, " ");
        push_operand(p, expr, 0);
        break;
    case VY_FORM_PREFIX:
        vy_text_printf(p->out, "%s%s", info->text, has_minus_first(p, expr) ? " " : "");
        push_operand(p, expr, 0);
        break;
    case VY_FORM_CALL:
        vy_text_printf(p->out, "%s(", info->text);
        push_operands(p, expr, ")");
        break;
    case VY_FORM_LEAF:
        print_leaf(p, expr, item->is_typed || (expr->type == VYRE_TYPE_U32 && !has_suffixes));
        break;
    }
}

/* A negated integer without a type becomes i32, so one that is u32 must say so. */
static bool needs_suffixes(const vy_printer *p, const vy_range *range)
{
    for (uint32_t e = range->begin; e < range->end; e++) {
        const vy_expr *expr = &p->program->exprs.data[e];
        if (expr->op == VYRE_OP_NEGATE &&
            vy_type_kind_of((vyre_type)expr->type) == VY_KIND_UNSIGNED &&
            p->is_untyped[expr->arg[0]]) {
            return true;
        }
    }
    return false;
}

void vy_print_expression(vy_printer *p, const vy_range *range, bool is_typed, uint32_t opened)
{
    bool has_suffixes = needs_suffixes(p, range);
    p->is_too_deep |= p->nesting[range->root] + opened > VYRE_MAX_NESTING;
    p->items.count = 0;
    (void)vy_vec_push(&p->arena, &p->items,
                      (vy_print_item){.expr = range->root, .is_typed = is_typed});
    while (p->items.count > 0) {
        vy_print_item item = p->items.data[--p->items.count];
        if (item.text) {
            vy_text_append(p->out, item.text, strlen(item.text));
        } else {
            print_item(p, &item, has_suffixes);
        }
    }
}

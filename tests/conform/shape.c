/* Operand shapes and the programs' text; see shape.h. */
#include "tests/conform/shape.h"

#include "codegen/ir/ops.h"

#include <inttypes.h>
#include <stdio.h>

/* Literals of a row in REST_LITERAL: these of the 256 pairs of the last operands. */
#define REST_STEP 8u

const char *conform_shape_text(conform_shape shape)
{
    static const char *const texts[CONFORM_SHAPE_COUNT] = {
#define X(name, text, elements) text,
        CONFORM_SHAPES(X)
#undef X
    };
    return texts[shape];
}

uint32_t conform_shape_elements(conform_shape shape)
{
    static const uint32_t elements[CONFORM_SHAPE_COUNT] = {
#define X(name, text, count) count,
        CONFORM_SHAPES(X)
#undef X
    };
    return elements[shape];
}

bool conform_shape_has_params(conform_shape shape)
{
    return shape == CONFORM_FIRST_PARAM || shape == CONFORM_SECOND_PARAM;
}

uint32_t conform_shape_dispatches(conform_shape shape)
{
    return conform_shape_has_params(shape) ? CONFORM_LITERALS : 1;
}

/* The operand that is a literal, a param or a table's element; CONFORM_MAX_OPERANDS: none. */
static uint32_t special_operand(conform_shape shape)
{
    switch ((int)shape) {
    case CONFORM_FIRST_LITERAL:
    case CONFORM_FIRST_PARAM:
        return 0;
    case CONFORM_TABLE:
    case CONFORM_SECOND_LITERAL:
    case CONFORM_SECOND_PARAM:
        return 1;
    default:
        return CONFORM_MAX_OPERANDS;
    }
}

/* Among the pairs: the same for 64 points in a row. */
static bool is_outer(conform_slot slot)
{
    return slot == CONFORM_X0 || slot == CONFORM_C0;
}

static bool is_inner(conform_slot slot)
{
    return slot == CONFORM_X1 || slot == CONFORM_S0 || slot == CONFORM_N0;
}

static bool is_vectorial(conform_id id)
{
    return id == CONFORM_U32 || id == CONFORM_I32 || id == CONFORM_F32;
}

uint32_t conform_shape_components(conform_shape shape)
{
    return shape == CONFORM_VECTORS_OF_2 ? 2 : shape == CONFORM_VECTORS_OF_4 ? 4 : 1;
}

bool conform_shape_takes(conform_shape shape, const conform_row *row)
{
    uint32_t special = special_operand(shape);
    bool is_unsigned_negation =
        row->op == VYRE_OP_NEGATE && conform_types[row->operand].kind == CONFORM_UNSIGNED;
    if (row->operand == CONFORM_BF16) { /* a type of elements only */
        return shape == CONFORM_BUFFERS || shape == CONFORM_VARIABLES ||
               (shape == CONFORM_ARRAYS && row->result == CONFORM_BF16);
    }
    switch ((int)shape) {
    case CONFORM_VECTORS_OF_2:
    case CONFORM_VECTORS_OF_4:
        return is_vectorial(row->operand) &&
               (is_vectorial(row->result) || row->result == CONFORM_BOOL);
    case CONFORM_SAME:
        return row->count >= 2 && row->slots[1] == CONFORM_X1;
    case CONFORM_FAST_MATH:
        return conform_is_float(row->operand) &&
               (row->op == VYRE_OP_DIV || row->op == VYRE_OP_SQRT);
    case CONFORM_REST_LITERAL:
        return row->count >= 3 && row->slots[0] == CONFORM_X0;
    case CONFORM_ALL_LITERAL: /* minus in front of a literal belongs to it: refused for unsigned */
        return !is_unsigned_negation;
    case CONFORM_FIRST_LITERAL:
        return row->count >= 2;
    default:
        return special == CONFORM_MAX_OPERANDS || row->count > special;
    }
}

/* Edges for one operand; for two those of the first 16 with themselves, least with -1, least with
 * zero, or with others, as the operator has it; for more some of the triples. Then random ones. */
static uint32_t all_literal_point(const conform_row *row, uint32_t element)
{
    const uint32_t distances[4] = {0, 14, 10, 1 + (uint32_t)row->op % 9};
    uint32_t turn = element + (uint32_t)row->op;
    if (element >= 16) {
        return CONFORM_PAIRS + CONFORM_TRIPLES + turn * 61 % CONFORM_RANDOM;
    }
    if (row->count == 1) {
        return turn * 5 % CONFORM_EDGES * CONFORM_EDGES;
    }
    if (row->count >= 3) {
        return CONFORM_PAIRS + turn * 509 % CONFORM_TRIPLES;
    }
    return element * CONFORM_EDGES + (element + distances[turn / 4 % 4]) % 16;
}

uint32_t conform_shape_point(conform_shape shape, const conform_row *row, uint32_t dispatch,
                             uint32_t element)
{
    uint32_t special = special_operand(shape), which = dispatch, at = element;
    switch ((int)shape) {
    case CONFORM_REST_LITERAL:
        return CONFORM_PAIRS + element % 16 * 256 + element / 16 * REST_STEP % 256 +
               element / 16 % REST_STEP;
    case CONFORM_ALL_LITERAL:
        return all_literal_point(row, element);
    case CONFORM_FIRST_LITERAL:
    case CONFORM_SECOND_LITERAL:
        which = element / CONFORM_EDGES;
        at = element % CONFORM_EDGES;
        break;
    case CONFORM_FIRST_PARAM:
    case CONFORM_SECOND_PARAM:
        break;
    default:
        return element;
    }
    return is_outer(row->slots[special]) ? which * CONFORM_EDGES + at : at * CONFORM_EDGES + which;
}

bool conform_batch_uses(const conform_batch *batch, conform_slot slot)
{
    for (uint32_t r = 0; r < batch->count; r++) {
        for (uint32_t k = 0; k < batch->rows[r].count; k++) {
            if (batch->rows[r].slots[k] == slot) {
                return batch->shape != CONFORM_ALL_LITERAL;
            }
        }
    }
    return false;
}

bool conform_batch_has_param(const conform_batch *batch, conform_slot slot)
{
    uint32_t special = special_operand(batch->shape);
    for (uint32_t r = 0; r < batch->count && conform_shape_has_params(batch->shape); r++) {
        if (special < batch->rows[r].count && batch->rows[r].slots[special] == slot) {
            return true;
        }
    }
    return false;
}

/* ---- Literals ----------------------------------------------------------------------------------
 */

void conform_literal(conform_id id, uint64_t bits, vy_text *text)
{
    const conform_type *t = &conform_types[id];
    bits &= conform_mask(id);
    if (id == CONFORM_BOOL) {
        vy_text_printf(text, "%s", bits ? "true" : "false");
    } else if (id == CONFORM_U32) {
        vy_text_printf(text, "%" PRIu64 "u", bits);
    } else if (id == CONFORM_U64) {
        vy_text_printf(text, "%" PRIu64 "ul", bits);
    } else if (t->kind == CONFORM_SIGNED && t->width >= 32) {
        bool is_negative = (bits & conform_sign_bit(id)) != 0;
        vy_text_printf(text, "(%s%" PRIu64 "%s)", is_negative ? "-" : "",
                       is_negative ? (0 - bits) & conform_mask(id) : bits,
                       id == CONFORM_I32 ? "i" : "l");
    } else {
        vy_text_printf(text, "bitcast<%s>(0x%" PRIx64 ")", t->keyword, bits);
    }
}

/* ---- Expressions -------------------------------------------------------------------------------
 */

/* How operand k of a row is written, its point given where it is a literal. */
typedef struct place {
    const conform_batch *batch;
    const conform_row *row;
    uint32_t point;    /* of the first element that this expression gives */
    const char *index; /* into the inputs */
} place;

static void write_literal(const place *p, conform_slot slot, vy_text *text)
{
    conform_id base = p->batch->base;
    uint64_t bits = conform_value(p->batch->values, base, slot, p->point);
    conform_literal(conform_slot_type(base, slot), bits, text);
}

static void write_operand(const place *p, uint32_t k, vy_text *text)
{
    conform_shape shape = p->batch->shape;
    conform_slot slot = p->row->slots[k];
    const char *name = conform_slot_name(slot);
    bool is_special = k == special_operand(shape);
    bool is_literal = shape == CONFORM_ALL_LITERAL || (shape == CONFORM_REST_LITERAL && k > 0) ||
                      (is_special && !conform_shape_has_params(shape) && shape != CONFORM_TABLE);
    if (is_literal) {
        write_literal(p, slot, text);
    } else if (is_special && conform_shape_has_params(shape)) {
        vy_text_printf(text, "p_%s", name);
    } else if (is_special && shape == CONFORM_TABLE && is_inner(slot)) {
        vy_text_printf(text, "t_%s[i %% %u]", name, CONFORM_EDGES);
    } else if (shape == CONFORM_VARIABLES) {
        vy_text_printf(text, "v_%s", name);
    } else if (shape == CONFORM_ARRAYS) {
        vy_text_printf(text, "a_%s[i %% 3]", name);
    } else if (shape == CONFORM_SAME && slot <= CONFORM_X2) {
        vy_text_printf(text, "x0[%s]", p->index);
    } else if (slot == CONFORM_C0 && conform_shape_components(shape) > 1) {
        vy_text_printf(text, "(%s[%s] != u32x%u(0))", name, p->index,
                       conform_shape_components(shape));
    } else {
        vy_text_printf(text, "%s[%s]", name, p->index);
    }
}

/* Vectors of bools are called bool2 and bool4; have no form in memory and are stored as u32. */
static void write_type(conform_id id, conform_shape shape, bool in_memory, vy_text *text)
{
    uint32_t components = conform_shape_components(shape);
    if (components == 1) {
        vy_text_printf(text, "%s", conform_types[id].keyword);
    } else if (id != CONFORM_BOOL) {
        vy_text_printf(text, "%sx%u", conform_types[id].keyword, components);
    } else {
        vy_text_printf(text, in_memory ? "u32x%u" : "bool%u", components);
    }
}

static void write_expression(const place *p, vy_text *text)
{
    const conform_row *row = p->row;
    const vy_op_info *info = vy_op_get(row->op);
    if (row->op == VYRE_OP_CAST && (row->result == CONFORM_BF16 || row->operand == CONFORM_BF16)) {
        write_operand(p, 0, text); /* by its load or store */
        return;
    }
    if (info->form == VY_FORM_INFIX) {
        write_operand(p, 0, text);
        vy_text_printf(text, " %s ", info->text);
        write_operand(p, 1, text);
        return;
    }
    if (row->op == VYRE_OP_CAST) {
        write_type(row->result, p->batch->shape, false, text);
        vy_text_printf(text, "(");
    } else if (row->op == VYRE_OP_BITCAST) {
        vy_text_printf(text, "bitcast<");
        write_type(row->result, p->batch->shape, false, text);
        vy_text_printf(text, ">(");
    } else {
        vy_text_printf(text, "%s(", info->text);
    }
    for (uint32_t k = 0; k < row->count; k++) {
        vy_text_printf(text, "%s", k ? ", " : "");
        write_operand(p, k, text);
    }
    vy_text_printf(text, ")");
}

void conform_row_text(const conform_row *row, vy_text *text)
{
    const conform_batch batch = {.shape = CONFORM_BUFFERS, .base = row->operand};
    place p = {.batch = &batch, .row = row, .index = "i"};
    write_expression(&p, text);
}

/* ---- Programs ----------------------------------------------------------------------------------
 */

static void write_declarations(const conform_batch *batch, vy_text *text)
{
    vy_text_printf(text, "program conform\nworkgroup 64\n");
    if (batch->shape == CONFORM_FAST_MATH) {
        vy_text_printf(text, "fast_math\n");
    }
    if (conform_shape_has_params(batch->shape)) {
        vy_text_printf(text, "param step : u32\n");
    }
    for (int s = 0; s < CONFORM_SLOT_COUNT; s++) {
        conform_slot slot = (conform_slot)s;
        conform_id type = conform_slot_type(batch->base, slot);
        const char *name = conform_slot_name(slot), *keyword = conform_types[type].keyword;
        if (conform_batch_uses(batch, slot)) {
            vy_text_printf(text, "in %s : ", name);
            write_type(type, batch->shape, true, text);
            vy_text_printf(text, "[]\n");
        }
        if (conform_batch_has_param(batch, slot)) {
            vy_text_printf(text, "param p_%s : %s\n", name, keyword);
        }
        if (batch->shape == CONFORM_TABLE && is_inner(slot) && conform_batch_uses(batch, slot)) {
            vy_text_printf(text, "const t_%s : %s[] = [", name, keyword);
            for (uint32_t i = 0; i < CONFORM_EDGES; i++) {
                vy_text_printf(text, "%s", i ? ", " : "");
                conform_literal(type, conform_value(batch->values, batch->base, slot, i), text);
            }
            vy_text_printf(text, "]\n");
        }
    }
    for (uint32_t r = 0; r < batch->count; r++) {
        vy_text_printf(text, "out o%u : ", r);
        write_type(batch->rows[r].result, batch->shape, true, text);
        vy_text_printf(text, "[%u]\n",
                       conform_shape_elements(batch->shape) /
                           conform_shape_components(batch->shape));
    }
}

/* Copies of the inputs that the compiler cannot see through: joined at an if, or indexed. */
static void write_copies(const conform_batch *batch, vy_text *text)
{
    for (int s = 0; s < CONFORM_SLOT_COUNT; s++) {
        const char *name = conform_slot_name((conform_slot)s);
        const char *type = conform_types[conform_slot_type(batch->base, (conform_slot)s)].keyword;
        if (!conform_batch_uses(batch, (conform_slot)s)) {
            continue;
        }
        if (batch->shape == CONFORM_VARIABLES) {
            vy_text_printf(text, "    var v_%s = %s[0]\n    if i > 0 { v_%s = %s[i] }\n", name,
                           name, name, name);
        } else if (batch->shape == CONFORM_ARRAYS) {
            vy_text_printf(text, "    var a_%s : %s[3]\n    a_%s[i %% 3] = %s[i]\n", name, type,
                           name, name);
        }
    }
}

static void write_result(const place *p, uint32_t output, const char *index, vy_text *text)
{
    bool as_condition = p->batch->shape == CONFORM_VARIABLES && p->row->result == CONFORM_BOOL;
    vy_text_printf(text, as_condition ? "    if " : "    o%u[%s] = ", output, index);
    if (as_condition) {
        write_expression(p, text);
        vy_text_printf(text, " { o%u[%s] = true }\n", output, index);
        return;
    }
    uint32_t components = conform_shape_components(p->batch->shape);
    bool is_selected = components > 1 && p->row->result == CONFORM_BOOL;
    vy_text_printf(text, is_selected ? "select(" : "");
    write_expression(p, text);
    if (is_selected) {
        vy_text_printf(text, ", u32x%u(1), u32x%u(0))", components, components);
    }
    vy_text_printf(text, "\n");
}

/* One expression for each literal, over the 64 (or 16) values of the other operands. */
static void write_literals(const conform_batch *batch, uint32_t r, vy_text *text)
{
    const conform_row *row = &batch->rows[r];
    uint32_t each = batch->shape == CONFORM_REST_LITERAL  ? 16u
                    : batch->shape == CONFORM_ALL_LITERAL ? 1u
                                                          : CONFORM_EDGES;
    uint32_t elements = conform_shape_elements(batch->shape);
    for (uint32_t first = 0; first < elements; first += each) {
        char input[48], output[48];
        uint32_t point = conform_shape_point(batch->shape, row, 0, first), stride = 0;
        if (each > 1) {
            stride = conform_shape_point(batch->shape, row, 0, first + 1) - point;
        }
        snprintf(input, sizeof input, "i * %u + %u", stride, point);
        snprintf(output, sizeof output, each > 1 ? "i + %u" : "%u", first);
        place p = {.batch = batch, .row = row, .point = point, .index = input};
        write_result(&p, r, output, text);
    }
}

void conform_batch_text(const conform_batch *batch, vy_text *text)
{
    conform_shape shape = batch->shape;
    bool has_literals = shape == CONFORM_FIRST_LITERAL || shape == CONFORM_SECOND_LITERAL ||
                        shape == CONFORM_REST_LITERAL || shape == CONFORM_ALL_LITERAL;
    uint32_t count = shape == CONFORM_ALL_LITERAL    ? 1u
                     : shape == CONFORM_REST_LITERAL ? 16u
                     : has_literals
                         ? CONFORM_EDGES
                         : conform_shape_elements(shape) / conform_shape_components(shape);
    vy_text_init(text, NULL);
    write_declarations(batch, text);
    vy_text_printf(text, "kernel {\n    let i = gid.x\n    if i >= %u { return }\n", count);
    write_copies(batch, text);
    for (uint32_t r = 0; r < batch->count; r++) {
        const conform_row *row = &batch->rows[r];
        place p = {.batch = batch, .row = row, .index = "i"};
        if (has_literals) {
            write_literals(batch, r, text);
            continue;
        }
        if (conform_shape_has_params(shape)) {
            bool outer = is_outer(row->slots[special_operand(shape)]);
            p.index = outer ? "step * 64 + i" : "i * 64 + step";
        }
        write_result(&p, r, "i", text);
    }
    vy_text_printf(text, "}\n");
}

/* Operand shapes: where the operands of a row come from in a program, and which point of the values
 * each element of its result stands for. Writes the programs' text. */
#ifndef CONFORM_SHAPE_H
#define CONFORM_SHAPE_H

#include "codegen/base/base.h"
#include "tests/conform/values.h"

/* Rows in one program: with the inputs within the 24 buffers of a program. */
#define CONFORM_BATCH 12u

#define CONFORM_SHAPES(X)                                                                          \
    /* name, text, elements of a result */                                                         \
    X(BUFFERS, "buffers", CONFORM_POINTS)                                                          \
    X(SAME, "one operand twice", CONFORM_POINTS)                                                   \
    X(VARIABLES, "variables", CONFORM_POINTS)                                                      \
    X(ARRAYS, "private arrays", CONFORM_POINTS)                                                    \
    X(TABLE, "table", CONFORM_PAIRS)                                                               \
    X(FIRST_LITERAL, "first literal", CONFORM_LITERALS *CONFORM_EDGES)                             \
    X(SECOND_LITERAL, "second literal", CONFORM_LITERALS *CONFORM_EDGES)                           \
    X(REST_LITERAL, "all but the first literal", 32u * 16u)                                        \
    X(ALL_LITERAL, "all literal", 24u)                                                             \
    X(FIRST_PARAM, "first param", CONFORM_EDGES)                                                   \
    X(SECOND_PARAM, "second param", CONFORM_EDGES)                                                 \
    X(VECTORS_OF_2, "vectors of 2", CONFORM_POINTS)                                                \
    X(VECTORS_OF_4, "vectors of 4", CONFORM_POINTS)                                                \
    X(FAST_MATH, "fast_math", CONFORM_POINTS)

typedef enum conform_shape {
#define X(name, text, elements) CONFORM_##name,
    CONFORM_SHAPES(X)
#undef X
        CONFORM_SHAPE_COUNT
} conform_shape;

/* Rows of one base type in one shape: one program, whose output k is row k's result. */
typedef struct conform_batch {
    const conform_values *values;
    conform_id base;
    conform_shape shape;
    uint32_t count;
    conform_row rows[CONFORM_BATCH];
} conform_batch;

const char *conform_shape_text(conform_shape shape);
uint32_t conform_shape_elements(conform_shape shape);
/* Dispatches of the program: one for each value of the params. */
uint32_t conform_shape_dispatches(conform_shape shape);
/* Of each element of the inputs and outputs: of vectors 2 or 4. */
uint32_t conform_shape_components(conform_shape shape);
/* Whether the row can be written in that shape. */
bool conform_shape_takes(conform_shape shape, const conform_row *row);
/* The point that an element of the result stands for. */
uint32_t conform_shape_point(conform_shape shape, const conform_row *row, uint32_t dispatch,
                             uint32_t element);
/* Inputs that the batch's program declares, in the order of slots. */
bool conform_batch_uses(const conform_batch *batch, conform_slot slot);
/* Params that it declares: `step`, a u32, in shapes with params; then one by each slot used. */
bool conform_batch_has_param(const conform_batch *batch, conform_slot slot);
bool conform_shape_has_params(conform_shape shape);
void conform_batch_text(const conform_batch *batch, vy_text *text);
/* A row's operator over x0, s0, ...: for people. */
void conform_row_text(const conform_row *row, vy_text *text);
/* A literal of these bits, in parentheses where it needs them. */
void conform_literal(conform_id id, uint64_t bits, vy_text *text);

#endif

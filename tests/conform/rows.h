/* What is checked: for a base type T, each operator of VYRE_OPS with the types that its shape
 * takes, and where its operands come from. */
#ifndef CONFORM_ROWS_H
#define CONFORM_ROWS_H

#include "tests/conform/scalar.h"

#define CONFORM_MAX_ROWS     96u
#define CONFORM_MAX_OPERANDS 4u

/* Inputs of every program of a base type. */
typedef enum conform_slot {
    CONFORM_X0, /* T */
    CONFORM_X1, /* T */
    CONFORM_X2, /* T */
    CONFORM_S0, /* u32: amounts of bits */
    CONFORM_S1, /* u32 */
    CONFORM_N0, /* i32 */
    CONFORM_C0, /* bool */
    CONFORM_SLOT_COUNT
} conform_slot;

typedef struct conform_row {
    vyre_op op;
    conform_id result, operand; /* operand: T */
    uint32_t count;
    conform_slot slots[CONFORM_MAX_OPERANDS];
} conform_row;

conform_id conform_slot_type(conform_id base, conform_slot slot);
const char *conform_slot_name(conform_slot slot);
/* The rows of a base type that this build's language has; their number. */
uint32_t conform_rows_of(conform_id base, conform_row *rows);

#endif

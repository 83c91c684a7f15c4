/* Scalar types as the conformance tests see them: widths and float formats, values carried as bits
 * in a uint64_t. Knows all types that the language is to have; which of them this build's language
 * has is looked up by keyword. */
#ifndef CONFORM_SCALAR_H
#define CONFORM_SCALAR_H

#include "vyre/program.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum conform_kind {
    CONFORM_BOOLEAN,
    CONFORM_UNSIGNED,
    CONFORM_SIGNED,
    CONFORM_FLOAT
} conform_kind;

typedef enum conform_id {
    CONFORM_BOOL,
    CONFORM_U8,
    CONFORM_I8,
    CONFORM_U16,
    CONFORM_I16,
    CONFORM_U32,
    CONFORM_I32,
    CONFORM_U64,
    CONFORM_I64,
    CONFORM_F16,
    CONFORM_BF16,
    CONFORM_F32,
    CONFORM_F64,
    CONFORM_TYPE_COUNT
} conform_id;

typedef struct conform_type {
    const char *keyword;
    conform_kind kind;
    uint32_t width;     /* bits of a value */
    uint32_t precision; /* floats: bits of the significand, the hidden one included */
    int32_t emax;       /* floats: all finite values are below 2^emax */
} conform_type;

extern const conform_type conform_types[CONFORM_TYPE_COUNT];

/* The language's type of that name. */
vyre_type conform_vyre_type(conform_id id);
/* The unsigned type of that type's width. */
conform_id conform_unsigned_of(conform_id id);
/* All bits of a value. */
uint64_t conform_mask(conform_id id);
bool conform_is_integer(conform_id id);
bool conform_is_float(conform_id id);

/* Parts of floats, as bits. */
uint64_t conform_sign_bit(conform_id id);
uint64_t conform_infinity(conform_id id);
uint64_t conform_quiet_nan(conform_id id); /* the one that operators compute */
uint64_t conform_least_normal(conform_id id);
bool conform_is_nan(conform_id id, uint64_t bits);
bool conform_is_denormal(conform_id id, uint64_t bits);
/* The value, exactly; every finite value of these formats is a double. */
double conform_to_double(conform_id id, uint64_t bits);
/* Rounded to nearest even. */
uint64_t conform_from_double(conform_id id, double value);

/* Elements in memory of the language's type: bytes of one, and one written or read. */
uint32_t conform_size(conform_id id);
void conform_store(conform_id id, void *memory, uint32_t index, uint64_t bits);
uint64_t conform_load(conform_id id, const void *memory, uint32_t index);

#endif

/* Integers of one width, for the files that work on their bits. */
#ifndef VY_SPIRV_EMIT_INT_H
#define VY_SPIRV_EMIT_INT_H

#include "codegen/spirv/emit.h"

/* An integer type and the register that its values live in. */
typedef struct vy_ints {
    vy_emitter *emitter;
    vy_module *m;
    vyre_type of;
    uint32_t width, bits; /* of the type; of the register: 32 or 64 */
    uint32_t type;        /* the register's, as an id */
    bool is_signed;
} vy_ints;

typedef struct vy_pair {
    uint32_t low, high;
} vy_pair;

vy_ints vy_ints_of(vy_emitter *emitter, vyre_type type);
uint32_t vy_i1(const vy_ints *k, SpvOp op, uint32_t a);
uint32_t vy_i2(const vy_ints *k, SpvOp op, uint32_t a, uint32_t b);
/* A constant of the register's type by its low bits, and operators with one. */
uint32_t vy_ic(const vy_ints *k, uint64_t bits);
uint32_t vy_i2c(const vy_ints *k, SpvOp op, uint32_t a, uint64_t literal);
uint32_t vy_ib2c(const vy_ints *k, SpvOp op, uint32_t a, uint64_t literal);
uint32_t vy_shift_c(const vy_ints *k, SpvOp op, uint32_t a, uint32_t places);
uint32_t vy_select_i(const vy_ints *k, uint32_t condition, uint32_t a, uint32_t b);
/* The type's least and largest value, as bits of the register. */
uint64_t vy_int_least(const vy_ints *k);
uint64_t vy_int_most(const vy_ints *k);
uint32_t vy_wrap(const vy_ints *k, uint32_t value);
/* The product in two registers; widths 32 and 64. */
vy_pair vy_multiply_wide(const vy_ints *k, uint32_t a, uint32_t b);
/* The number of zeros above the highest bit, a u32; the width for 0. */
uint32_t vy_leading_zeros(const vy_ints *k, uint32_t a);

#endif

/* The formats f16, f32 and f64 as bits: exact conversions by integer arithmetic alone, and the
 * arithmetic of f64. Thread-safety: safe. */
#ifndef VY_INTERP_FLOAT_H
#define VY_INTERP_FLOAT_H

#include "codegen/base/base.h"
#include "vyre/program.h"

typedef struct vy_float_format {
    uint64_t sign;     /* the sign's bit */
    uint64_t infinity; /* bits of positive values: */
    uint64_t nan, one, half;
    uint64_t whole; /* from this magnitude on every value is an integer */
    uint32_t precision;
    int bias;
} vy_float_format;

/* NULL for what is neither f16, f32 nor f64. */
const vy_float_format *vy_float_format_get(vyre_type type);

/* A finite value other than zero: significand * 2^exponent, bit 63 of the significand set. */
typedef struct vy_float_parts {
    uint64_t significand;
    int exponent;
    bool negative;
} vy_float_parts;

vy_float_parts vy_float_unpack(const vy_float_format *format, uint64_t bits);
/* significand * 2^exponent rounded to nearest even; a significand of 0 gives a zero. One that is
 * cut off must have its lowest bit set where anything was lost, and 55 bits above that one. */
uint64_t vy_float_pack(const vy_float_format *format, bool negative, int exponent,
                       uint64_t significand);

/* f16 and f32 as doubles, and back rounded to nearest even. Doubles below 2^-1022 count as zero. */
double vy_float_widen(const vy_float_format *format, uint64_t bits);
uint64_t vy_float_narrow(const vy_float_format *format, double value);
double vy_f32_widen(uint32_t bits);
uint32_t vy_f32_narrow(double value);

/* f64, correctly rounded and without any use of the processor's floats, whose flushing, contracting
 * and library are the host's. */
uint64_t vy_f64_add(uint64_t x, uint64_t y);
uint64_t vy_f64_sub(uint64_t x, uint64_t y);
uint64_t vy_f64_mul(uint64_t x, uint64_t y);
uint64_t vy_f64_div(uint64_t x, uint64_t y);
uint64_t vy_f64_sqrt(uint64_t x);
uint64_t vy_f64_fma(uint64_t x, uint64_t y, uint64_t z);

#endif

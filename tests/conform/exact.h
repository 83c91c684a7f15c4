/* Exact arithmetic of floats by MPFR: the correctly rounded result of every operator in every
 * format, and functions to 200 bits. */
#ifndef CONFORM_EXACT_H
#define CONFORM_EXACT_H

#include "tests/conform/scalar.h"

#include <mpfr.h>

/* MPFR's range of exponents is one for all: before any other call of MPFR's. */
void conform_exact_begin(void);
/* x is given the precision that it needs. */
void conform_exact_decode(mpfr_t x, conform_id id, uint64_t bits);
/* Rounded to nearest even, denormals and overflow as IEEE has them; NaN is the quiet one. */
uint64_t conform_exact_round(conform_id id, const mpfr_t x);
uint64_t conform_exact_from_double(conform_id id, double value);

/* + - * / sqrt fma abs_diff and the rounding functions: rounded once. False: not one of these. */
bool conform_exact_rounded(vyre_op op, conform_id id, const uint64_t *x, uint64_t *out_bits);
/* The functions with a tolerance, to 200 bits. False: not one of these. */
bool conform_exact_function(vyre_op op, mpfr_t out, const mpfr_t x, const mpfr_t y);

#endif

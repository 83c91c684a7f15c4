/* What every operator gives, written for the tests from docs/language.md alone: integers in 128
 * bits by width, floats by MPFR. Shares nothing with codegen/interp. Thread-safety: none. */
#ifndef CONFORM_ORACLE_H
#define CONFORM_ORACLE_H

#include "tests/conform/scalar.h"

typedef enum conform_answer_kind {
    CONFORM_NO_ANSWER, /* the language has no such operation */
    CONFORM_EXACT,     /* these bits */
    CONFORM_WITHIN,    /* devices: a value in [low, high] */
    CONFORM_FREE       /* devices: any value, outside of a function's domain */
} conform_answer_kind;

typedef struct conform_answer {
    conform_answer_kind kind;
    uint64_t bits; /* the result, rounded to nearest even */
    double low, high;
    bool may_flush; /* WITHIN: a zero is taken for a denormal result */
} conform_answer;

/* How the device computes. */
typedef struct conform_mode {
    bool flushes[CONFORM_TYPE_COUNT]; /* denormals of that float type */
    bool fast_math;
} conform_mode;

/* op over x: `operand` is the type of the first operand that is not SELECT's condition, `result`
 * that of the value. Operands have their values in the low bits; bools are any word. */
conform_answer conform_evaluate(vyre_op op, conform_id result, conform_id operand,
                                const uint64_t *x, const conform_mode *mode);

/* Whether `got` is the answer, on a device or on the interpreter, which computes functions with a
 * tolerance in double precision and rounds once. */
bool conform_accepts_device(const conform_answer *answer, conform_id type, uint64_t got);
bool conform_accepts_interp(const conform_answer *answer, conform_id type, uint64_t got);

/* ---- Parts, for oracle.c ----------------------------------------------------------------------
 */

/* Integers and bools; operators on floats are not answered here. */
conform_answer conform_integer(vyre_op op, conform_id result, conform_id operand,
                               const uint64_t *x);
/* Operators on float operands, casts from and to floats. */
conform_answer conform_float(vyre_op op, conform_id result, conform_id operand, const uint64_t *x,
                             const conform_mode *mode);

#endif

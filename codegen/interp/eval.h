/* What every pure operator means, one lane at a time. Reads operand bits, gives result bits; knows
 * no program. Thread-safety: safe. */
#ifndef VY_INTERP_EVAL_H
#define VY_INTERP_EVAL_H

#include "codegen/base/base.h"
#include "codegen/ir/ir.h"

#define VY_NAN_BITS 0x7fc00000u

/* The value of op over operands[0 .. operand count) as bits; a vy_eval_fn. `operand` is the type of
 * the first operand (of SELECT: bool), `result` that of the value. bools are read as "not zero" and
 * given as 0 or 1. Leaves and combinations that no program has give 0.
 * A NaN made by f32 arithmetic is VY_NAN_BITS; SELECT, BITCAST and a CAST to the same type keep
 * bits. flush_denormals: denormal f32 operands and results of what devices compute in their float
 * units
 * (+ - *, rounding functions, the functions with a tolerance) become zeros of their sign; a result
 * is denormal if it is after rounding. Comparisons, casts, signs, min, max, / and sqrt are exact.
 * Independent of the thread's flush modes; the rounding mode must be to nearest. */
uint64_t vy_interp_eval(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                        bool flush_denormals);

/* f32 bits and doubles, exact and rounded to nearest even, by integer arithmetic alone. */
double vy_f32_widen(uint32_t bits);
uint32_t vy_f32_narrow(double value);

/* The operators on f32 operands but SELECT and BITCAST. */
uint32_t vy_interp_eval_f32(vyre_op op, vyre_type result, const uint32_t *operands,
                            bool flush_denormals);

/* Whether arithmetic in this build and thread is what the above needs: to nearest, not contracted,
 * no excess precision, denormal doubles kept. NULL where it is, else what is wrong and the fix. */
const char *vy_interp_self_check(void);

#endif

/* What every pure operator means, one lane and one component at a time. Reads operand bits, gives
 * result bits; knows no program. Thread-safety: safe. */
#ifndef VY_INTERP_EVAL_H
#define VY_INTERP_EVAL_H

#include "codegen/base/base.h"
#include "codegen/ir/ir.h"

/* The value of op over operands[0 .. operand count) as bits; a vy_eval_fn. `operand` is the type of
 * the first operand (of SELECT: bool), `result` that of the value; both scalar. Operands are
 * vy_type_bits of their types, and so is the value; bools are read as "not zero". Leaves and
 * combinations that no program has give 0.
 * A NaN made by float arithmetic is vy_float_nan; SELECT, BITCAST and a CAST to the same type keep
 * bits. flush_denormals: denormal f32 operands and results of what devices compute in their float
 * units (+ - *, rounding functions, the functions with a tolerance) become zeros of their sign; a
 * result is denormal if it is after rounding. Comparisons, casts, signs, min, max, / and sqrt are
 * exact, and so is all of f16 and f64.
 * Independent of the thread's flush modes; for f16 and f32 the rounding mode must be to nearest. */
uint64_t vy_interp_eval(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                        bool flush_denormals);

/* Its parts, by the kind of the operand; they read only as many operands as the operator has. */
uint64_t vy_eval_integer(vyre_op op, uint32_t width, bool is_signed, const uint64_t *operands);
uint64_t vy_eval_float(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                       bool flush_denormals);
uint64_t vy_eval_cast(vyre_type result, vyre_type operand, uint64_t bits);

/* Whether arithmetic in this build and thread is what the above needs: to nearest, not contracted,
 * no excess precision, denormal doubles kept. NULL where it is, else what is wrong and the fix. */
const char *vy_interp_self_check(void);

#endif

/* The oracle's front; see oracle.h. */
#include "tests/conform/oracle.h"

#include <math.h>

conform_answer conform_evaluate(vyre_op op, conform_id result, conform_id operand,
                                const uint64_t *x, const conform_mode *mode)
{
    if (op == VYRE_OP_SELECT) {
        bool first = (x[0] & 0xffffffffu) != 0;
        uint64_t bits = first ? x[1] : x[2];
        bits = operand == CONFORM_BOOL ? (bits & 0xffffffffu) != 0 : bits;
        return (conform_answer){.kind = CONFORM_EXACT, .bits = bits};
    }
    if (op == VYRE_OP_BITCAST) {
        return (conform_answer){.kind = CONFORM_EXACT, .bits = x[0]};
    }
    if (conform_is_float(operand) || (op == VYRE_OP_CAST && conform_is_float(result))) {
        return conform_float(op, result, operand, x, mode);
    }
    return conform_integer(op, result, operand, x);
}

/* The place of a float among all, -0 beside +0. */
static int64_t rank(conform_id id, uint64_t bits)
{
    int64_t magnitude = (int64_t)(bits & ~conform_sign_bit(id));
    return bits & conform_sign_bit(id) ? -magnitude : magnitude;
}

bool conform_accepts_device(const conform_answer *answer, conform_id type, uint64_t got)
{
    if (answer->kind == CONFORM_FREE) {
        return true;
    }
    if (answer->kind == CONFORM_EXACT || got == answer->bits) {
        return got == answer->bits;
    }
    if (conform_is_nan(type, got)) {
        return false;
    }
    double value = conform_to_double(type, got);
    double greatest = conform_to_double(type, conform_infinity(type) - 1);
    double least = conform_to_double(type, conform_least_normal(type));
    if (value == 0.0 && answer->may_flush && answer->low < least && answer->high > -least) {
        return true;
    }
    if (isinf(value)) {
        return value > 0 ? answer->high > greatest : answer->low < -greatest;
    }
    return value >= answer->low && value <= answer->high;
}

bool conform_accepts_interp(const conform_answer *answer, conform_id type, uint64_t got)
{
    if (got == answer->bits) {
        return true;
    }
    if (answer->kind == CONFORM_EXACT || conform_is_nan(type, got) ||
        conform_is_nan(type, answer->bits)) {
        return false;
    }
    int64_t distance = rank(type, got) - rank(type, answer->bits);
    return distance >= -1 && distance <= 1;
}

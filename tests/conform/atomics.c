/* Atomics by docs/language.md, "Atomics"; see atomics.h. */
#include "tests/conform/atomics.h"

bool conform_atomic_takes(vyre_atomic atomic, conform_id type)
{
    bool is_wide = conform_types[type].width >= 32;
    if (type == CONFORM_F32) {
        return atomic == VYRE_ATOMIC_ADD || atomic == VYRE_ATOMIC_EXCHANGE ||
               atomic == VYRE_ATOMIC_LOAD || atomic == VYRE_ATOMIC_STORE;
    }
    return is_wide && conform_is_integer(type);
}

static bool may_have(vyre_atomic atomic, vyre_order order)
{
    if (atomic == VYRE_ATOMIC_LOAD) {
        return order == VYRE_ORDER_RELAXED || order == VYRE_ORDER_ACQUIRE;
    }
    if (atomic == VYRE_ATOMIC_STORE) {
        return order == VYRE_ORDER_RELAXED || order == VYRE_ORDER_RELEASE;
    }
    return true;
}

uint32_t conform_atomics_of(conform_id type, conform_atomic *atomics)
{
    uint32_t count = 0;
    for (int atomic = 0; atomic < VYRE_ATOMIC_COUNT; atomic++) {
        for (int order = VYRE_ORDER_RELAXED; order <= VYRE_ORDER_ACQ_REL; order++) {
            if (conform_atomic_takes((vyre_atomic)atomic, type) &&
                may_have((vyre_atomic)atomic, (vyre_order)order)) {
                atomics[count++] = (conform_atomic){(vyre_atomic)atomic, (vyre_order)order,
                                                    atomic != VYRE_ATOMIC_STORE};
            }
        }
    }
    return count;
}

void conform_atomic_text(const conform_atomic *atomic, const char *place, const char *x,
                         const char *y, vy_text *text)
{
    static const char *const names[VYRE_ATOMIC_COUNT] = {
#define VYRE_X(name, text, operands, result) text,
        VYRE_ATOMICS(VYRE_X)
#undef VYRE_X
    };
    static const uint32_t operands[VYRE_ATOMIC_COUNT] = {
#define VYRE_X(name, text, operands, result) operands,
        VYRE_ATOMICS(VYRE_X)
#undef VYRE_X
    };
    static const char *const orders[] = {"", ", acquire", ", release", ", acq_rel"};
    uint32_t count = operands[atomic->atomic];
    vy_text_printf(text, "%s(%s", names[atomic->atomic], place);
    if (count > 0) {
        vy_text_printf(text, ", %s", x);
    }
    if (count > 1) {
        vy_text_printf(text, ", %s", y);
    }
    vy_text_printf(text, "%s)", orders[atomic->order]);
}

bool conform_atomic_answer(vyre_atomic atomic, conform_id type, uint64_t old, uint64_t x,
                           uint64_t y, uint64_t *now, uint64_t *also)
{
    static const struct {
        vyre_atomic atomic;
        vyre_op op;
    } by_operator[] = {
        {VYRE_ATOMIC_ADD, VYRE_OP_ADD}, {VYRE_ATOMIC_SUB, VYRE_OP_SUB},
        {VYRE_ATOMIC_MIN, VYRE_OP_MIN}, {VYRE_ATOMIC_MAX, VYRE_OP_MAX},
        {VYRE_ATOMIC_AND, VYRE_OP_AND}, {VYRE_ATOMIC_OR, VYRE_OP_OR},
        {VYRE_ATOMIC_XOR, VYRE_OP_XOR},
    };
    uint64_t operands[4] = {old, x, 0, 0};
    *now = atomic == VYRE_ATOMIC_EXCHANGE || atomic == VYRE_ATOMIC_STORE ? x
           : atomic == VYRE_ATOMIC_COMPARE_EXCHANGE && old == x          ? y
                                                                         : old;
    for (size_t i = 0; i < sizeof by_operator / sizeof by_operator[0]; i++) {
        if (by_operator[i].atomic == atomic) {
            conform_mode keeps = {.fast_math = false}, flushes = keeps;
            flushes.flushes[type] = true;
            vyre_op op = by_operator[i].op;
            *now = conform_evaluate(op, type, type, operands, &keeps).bits;
            *also = conform_evaluate(op, type, type, operands, &flushes).bits;
            return *now == *also;
        }
    }
    *also = *now;
    return true;
}

/* Facts about scalar types; see scalar.h. */
#include "tests/conform/scalar.h"

#include "tests/conform/exact.h"

#include <math.h>
#include <string.h>

const conform_type conform_types[CONFORM_TYPE_COUNT] = {
    [CONFORM_BOOL] = {"bool", CONFORM_BOOLEAN, 32, 0, 0},
    [CONFORM_U8] = {"u8", CONFORM_UNSIGNED, 8, 0, 0},
    [CONFORM_I8] = {"i8", CONFORM_SIGNED, 8, 0, 0},
    [CONFORM_U16] = {"u16", CONFORM_UNSIGNED, 16, 0, 0},
    [CONFORM_I16] = {"i16", CONFORM_SIGNED, 16, 0, 0},
    [CONFORM_U32] = {"u32", CONFORM_UNSIGNED, 32, 0, 0},
    [CONFORM_I32] = {"i32", CONFORM_SIGNED, 32, 0, 0},
    [CONFORM_U64] = {"u64", CONFORM_UNSIGNED, 64, 0, 0},
    [CONFORM_I64] = {"i64", CONFORM_SIGNED, 64, 0, 0},
    [CONFORM_F16] = {"f16", CONFORM_FLOAT, 16, 11, 16},
    [CONFORM_BF16] = {"bf16", CONFORM_FLOAT, 16, 8, 128},
    [CONFORM_F32] = {"f32", CONFORM_FLOAT, 32, 24, 128},
    [CONFORM_F64] = {"f64", CONFORM_FLOAT, 64, 53, 1024},
};

static vyre_type type_named(const char *keyword)
{
    static const struct {
        const char *keyword;
        vyre_type type;
    } known[] = {
#define VYRE_X(name, number, text, size, kind, component, components) {text, VYRE_TYPE_##name},
        VYRE_TYPES(VYRE_X)
#undef VYRE_X
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].keyword, keyword) == 0) {
            return known[i].type;
        }
    }
    return VYRE_TYPE_COUNT;
}

vyre_type conform_vyre_type(conform_id id)
{
    return type_named(conform_types[id].keyword);
}

conform_id conform_unsigned_of(conform_id id)
{
    switch (conform_types[id].width) {
    case 8:
        return CONFORM_U8;
    case 16:
        return CONFORM_U16;
    case 64:
        return CONFORM_U64;
    default:
        return CONFORM_U32;
    }
}

uint64_t conform_mask(conform_id id)
{
    uint32_t width = conform_types[id].width;
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

bool conform_is_integer(conform_id id)
{
    return conform_types[id].kind == CONFORM_UNSIGNED || conform_types[id].kind == CONFORM_SIGNED;
}

bool conform_is_float(conform_id id)
{
    return conform_types[id].kind == CONFORM_FLOAT;
}

uint64_t conform_sign_bit(conform_id id)
{
    return (uint64_t)1 << (conform_types[id].width - 1);
}

uint64_t conform_infinity(conform_id id)
{
    uint64_t fraction = conform_least_normal(id) - 1;
    return conform_mask(id) & ~conform_sign_bit(id) & ~fraction;
}

uint64_t conform_quiet_nan(conform_id id)
{
    return conform_infinity(id) | conform_least_normal(id) >> 1;
}

uint64_t conform_least_normal(conform_id id)
{
    return (uint64_t)1 << (conform_types[id].precision - 1);
}

bool conform_is_nan(conform_id id, uint64_t bits)
{
    return conform_is_float(id) && (bits & ~conform_sign_bit(id)) > conform_infinity(id);
}

bool conform_is_denormal(conform_id id, uint64_t bits)
{
    uint64_t magnitude = bits & ~conform_sign_bit(id);
    return conform_is_float(id) && magnitude != 0 && magnitude < conform_least_normal(id);
}

double conform_to_double(conform_id id, uint64_t bits)
{
    const conform_type *t = &conform_types[id];
    uint64_t magnitude = bits & ~conform_sign_bit(id), hidden = conform_least_normal(id);
    double value;
    if (magnitude > conform_infinity(id)) {
        value = (double)NAN;
    } else if (magnitude == conform_infinity(id)) {
        value = HUGE_VAL;
    } else {
        int exponent = (int)(magnitude >> (t->precision - 1));
        uint64_t fraction = magnitude & (hidden - 1);
        if (exponent > 0) {
            fraction |= hidden;
            exponent--;
        }
        value = ldexp((double)fraction, exponent + 3 - t->emax - (int)t->precision);
    }
    return bits & conform_sign_bit(id) ? -value : value;
}

uint64_t conform_from_double(conform_id id, double value)
{
    return conform_exact_from_double(id, value);
}

uint32_t conform_size(conform_id id)
{
    vyre_type type = conform_vyre_type(id);
    return type == VYRE_TYPE_COUNT ? 0 : vyre_type_size(type);
}

/* Little endian, as in the language's memory, whatever the host. */
void conform_store(conform_id id, void *memory, uint32_t index, uint64_t bits)
{
    uint32_t size = conform_size(id);
    uint8_t *at = (uint8_t *)memory + (size_t)index * size;
    for (uint32_t i = 0; i < size; i++) {
        at[i] = (uint8_t)(bits >> (8 * i));
    }
}

uint64_t conform_load(conform_id id, const void *memory, uint32_t index)
{
    uint32_t size = conform_size(id);
    const uint8_t *at = (const uint8_t *)memory + (size_t)index * size;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < size; i++) {
        bits |= (uint64_t)at[i] << (8 * i);
    }
    return bits;
}

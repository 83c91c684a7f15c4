/* Operand values; see values.h. */
#include "tests/conform/values.h"

#include <math.h>
#include <string.h>

uint64_t conform_random(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- Edges ------------------------------------------------------------------------------------
 */

static void integer_edges(conform_id id, uint64_t *edges)
{
    uint64_t mask = conform_mask(id), top = conform_sign_bit(id), seed = 40 + (uint64_t)id;
    uint32_t width = conform_types[id].width, half = width / 2, count = 0;
    const uint64_t first[] = {0, 1, 2, 3, mask, mask - 1, top, top - 1, top + 1, 10, 7, width - 1,
                              width, 5, half, mask / 3,
                              /* the rest are no literals */
                              top - 2, top + 2, mask - 2, width + 1, mask / 3 * 2, mask / 17,
                              mask / 5, 4, mask - 6, mask - 9, 100, 127, 128, 129, 255, 0x7f80,
                              top / 2, top / 2 - 1};
    for (; count < sizeof first / sizeof first[0]; count++) {
        edges[count] = first[count] & mask;
    }
    for (uint32_t i = 0; i < 16; i++) { /* powers of two and their neighbours */
        uint64_t power = (uint64_t)1 << (i / 2 * width / 8 + width / 16);
        edges[count++] = (power - (i & 1)) & mask;
    }
    edges[count++] = 0x8040201008040201u & mask;
    edges[count++] = 0x0123456789abcdefu >> (64 - width);
    edges[count++] = 0x00ff00ff00ff00ffu & mask;
    edges[count++] = 0x807f807f807f807fu & mask;
    while (count < CONFORM_EDGES) {
        edges[count++] = conform_random(&seed) & mask;
    }
}

static void float_edges(conform_id id, uint64_t *edges)
{
    uint64_t sign = conform_sign_bit(id), infinity = conform_infinity(id), seed = 80 + (uint64_t)id;
    uint64_t normal = conform_least_normal(id), one = conform_from_double(id, 1.0);
    uint64_t half = conform_from_double(id, 0.5);
    uint64_t whole = conform_from_double(id, ldexp(1.0, (int)conform_types[id].precision - 1));
    const double pi = 3.14159265358979323846;
    uint32_t count = 0;
    const uint64_t by_bits[] = {
        0, sign, one, one | sign, infinity, infinity | sign, conform_quiet_nan(id), 1, normal,
        infinity - 1, half - 1, conform_from_double(id, 2.0), conform_from_double(id, 1.5),
        conform_from_double(id, -2.5), conform_from_double(id, 0x1p31), conform_from_double(id, pi),
        /* the rest are no literals */
        infinity | 1, conform_quiet_nan(id) | sign | 3, infinity | sign | 2, 1 | sign, normal - 1,
        (normal - 1) | sign, normal | sign, normal + 1, (infinity - 1) | sign, one + 1, one - 1,
        half, half + 1, half | sign, (half - 1) | sign, whole, whole + 1, whole - 1, whole | sign,
        (whole - 1) | sign, whole + normal, normal / 2};
    const double by_value[] = {0x1p31 - 0x1p7,
                               -0x1p31,
                               0x1p32,
                               0x1p32 - 0x1p8,
                               -0x1p32,
                               0x1p63,
                               0x1p64,
                               -0x1p63,
                               127.5,
                               255.5,
                               -128.5,
                               65535.5,
                               32767.5,
                               2.5,
                               3.5,
                               -pi,
                               pi / 2,
                               10,
                               1.0 / 3,
                               88,
                               -87,
                               1e-20,
                               0x1.fffffep63};
    for (; count < sizeof by_bits / sizeof by_bits[0]; count++) {
        edges[count] = by_bits[count];
    }
    for (size_t i = 0; i < sizeof by_value / sizeof by_value[0]; i++) {
        edges[count++] = conform_from_double(id, by_value[i]);
    }
    while (count < CONFORM_EDGES) {
        edges[count++] = conform_random(&seed) & conform_mask(id);
    }
}

void conform_values_init(conform_values *values, uint64_t seed)
{
    static const uint64_t amounts[] = {
        0,          1,          31,         32,         33,         8,   16,
        7,          24,         0xffffffff, 4,          63,         64,  9,
        15,         0x80000000, /* the rest are no literals */
        2,          3,          5,          6,          12,         17,  20,
        23,         25,         28,         30,         47,         48,  65,
        96,         127,        128,        255,        256,        257, 0x7fffffff,
        0x80000001, 0xfffffffe, 0xffffffe0, 0xffffffe1, 0xfffffff0, 10};
    memset(values, 0, sizeof *values);
    values->seed = seed;
    for (int id = 0; id < CONFORM_TYPE_COUNT; id++) {
        if (conform_is_float((conform_id)id)) {
            float_edges((conform_id)id, values->edges[id]);
        } else if (id != CONFORM_BOOL) {
            integer_edges((conform_id)id, values->edges[id]);
        }
    }
    for (uint32_t i = 0; i < CONFORM_EDGES; i++) {
        static const uint64_t words[] = {0, 1, 0, 2, 0x80000000u, 0, 0xffffffffu, 1};
        uint32_t count = sizeof amounts / sizeof amounts[0];
        values->edges[CONFORM_BOOL][i] = words[i % 8];
        values->amounts[i] = i < count ? amounts[i] : i % 32;
    }
}

/* ---- Points -----------------------------------------------------------------------------------
 */

/* A number of its own for each part of a random point. */
static uint64_t part(const conform_values *values, uint32_t point, uint32_t number)
{
    uint64_t seed = values->seed * 0xd1342543de82ef95u + point * 0x2545f4914f6cdd1du + number;
    (void)conform_random(&seed);
    return conform_random(&seed);
}

static uint64_t random_integer(const conform_values *values, conform_id id, uint32_t which,
                               uint32_t point)
{
    uint64_t mask = conform_mask(id), top = conform_sign_bit(id);
    uint64_t first = part(values, point, 0) & mask, own = part(values, point, which);
    uint32_t width = conform_types[id].width, length = (uint32_t)(own >> 58) % width;
    switch (point % 8) {
    case 0:
        return own & mask;
    case 1:
        return (own & mask) >> length;
    case 2: /* neighbours of one another */
        return (first + own % 5 - 2) & mask;
    case 3:
        return (own % 33 - 16) & mask;
    case 4:
        return (((uint64_t)1 << length) + (own & 0xffff) % 3 - 1) & mask;
    case 5: /* products about the greatest and the least value */
        first = (first >> (point / 8 % width)) | 1;
        return which == 0 ? first : ((point & 16 ? top : mask) / first + own % 3 - 1) & mask;
    case 6:
        return own & part(values, point, which + 4) & part(values, point, which + 8) & mask;
    default:
        return (own | part(values, point, which + 4)) & mask;
    }
}

static uint64_t random_float(const conform_values *values, conform_id id, uint32_t which,
                             uint32_t point)
{
    uint64_t mask = conform_mask(id), sign = conform_sign_bit(id),
             hidden = conform_least_normal(id);
    uint64_t first = part(values, point, 0) & mask, own = part(values, point, which) & mask;
    uint64_t exponents = conform_infinity(id) / hidden, one = conform_from_double(id, 1.0);
    double unit = (double)(part(values, point, which + 4) >> 11) * 0x1p-53;
    switch (point % 8) {
    case 0:
        return own;
    case 1: /* every exponent in turn */
        return (own & (sign | (hidden - 1))) | ((point / 8 + which * 7) % exponents) * hidden;
    case 2: /* sums that cancel */
        return which == 0 ? first : ((first ^ sign) + own % 5 - 2) & mask;
    case 3:
        return conform_from_double(id, ((double)(own % 513) - 256.0) / 2.0);
    case 4:
        return conform_from_double(id, unit * 8.0 - 4.0);
    case 5:
        return conform_from_double(id, unit * 180.0 - 90.0);
    case 6:
        return one + own % 65 - 32;
    default: /* products about the least normal number */
        first = (first & (sign | (hidden - 1))) | (1 + point / 8 % (exponents / 2)) * hidden;
        return which == 0 ? first
                          : (own & (sign | (hidden - 1))) |
                                (exponents / 2 + 2 -
                                 first / hidden % (exponents + 1) % (exponents / 2) - own % 3) *
                                    hidden;
    }
}

static uint64_t random_value(const conform_values *values, conform_id base, conform_slot slot,
                             uint32_t point)
{
    conform_id type = conform_slot_type(base, slot);
    uint64_t own = part(values, point, 16 + (uint32_t)slot);
    if (type == CONFORM_BOOL) {
        return own & 1 ? own & 0xffffffffu : 0;
    }
    if (slot >= CONFORM_S0) {
        return (point & 3 ? own % (conform_types[base].width + 2) : own) & 0xffffffffu;
    }
    return conform_is_float(type) ? random_float(values, type, (uint32_t)slot, point)
                                  : random_integer(values, type, (uint32_t)slot, point);
}

static const uint64_t *list_of(const conform_values *values, conform_id base, conform_slot slot)
{
    bool is_amount = slot == CONFORM_S0 || slot == CONFORM_S1 || slot == CONFORM_N0;
    return is_amount ? values->amounts : values->edges[conform_slot_type(base, slot)];
}

static uint32_t place_in_pairs(conform_slot slot, uint32_t point)
{
    switch (slot) {
    case CONFORM_X0:
    case CONFORM_C0:
        return point / CONFORM_EDGES;
    case CONFORM_X1:
    case CONFORM_S0:
    case CONFORM_N0:
        return point % CONFORM_EDGES;
    default:
        return (point * 11 + point / CONFORM_EDGES) % CONFORM_EDGES;
    }
}

static uint32_t place_in_triples(conform_slot slot, uint32_t point)
{
    switch (slot) {
    case CONFORM_X0:
    case CONFORM_C0:
        return point / 256;
    case CONFORM_X1:
    case CONFORM_S0:
    case CONFORM_N0:
        return point / 16 % 16;
    default:
        return point % 16;
    }
}

uint64_t conform_value(const conform_values *values, conform_id base, conform_slot slot,
                       uint32_t point)
{
    const uint64_t *list = list_of(values, base, slot);
    if (point < CONFORM_PAIRS) {
        return list[place_in_pairs(slot, point)];
    }
    if (point < CONFORM_PAIRS + CONFORM_TRIPLES) {
        return list[place_in_triples(slot, point - CONFORM_PAIRS)];
    }
    return random_value(values, base, slot, point);
}

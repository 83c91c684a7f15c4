/* Cases of programs over arrays, with what obvious loops and qsort make of them. */
#include "codegen/base/base.h"
#include "tests/support/oracle.h"
#include "tests/support/oracle_make.h"

#include <stdlib.h>
#include <string.h>

#define BOTH (VY_SLOT_IN | VY_SLOT_EXPECTED)

/* ---- Bit sets -------------------------------------------------------------------------------- */

/* NONE: the sets are equal. Otherwise b is shorter by an eighth. */
bool vy_make_bitset(vy_case *c, uint64_t seed)
{
    uint32_t op = vy_random_below(&seed, 4);
    bool is_equal = c->variant == VY_VARIANT_NONE;
    uint32_t b_count = is_equal ? c->size : c->size - c->size / 8;
    vy_slot *a = vy_case_add(c, "a", c->size, VY_SLOT_IN);
    vy_slot *b = vy_case_add(c, "b", b_count, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", c->size, VY_SLOT_EXPECTED);
    vy_slot *count = vy_case_add(c, "count", 4, VY_SLOT_EXPECTED);
    if (!a || !b || !y || !count) {
        return false;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        a->in[i] = vy_oracle_random(&seed);
        if (i < b_count) {
            b->in[i] = is_equal ? a->in[i] : vy_oracle_random(&seed);
        }
        for (uint32_t bit = 0; bit < 32; bit++) {
            uint32_t p = a->in[i] >> bit & 1, q = i < b_count ? b->in[i] >> bit & 1 : 0;
            uint32_t results[] = {p && q, p || q, p != q, p && !q};
            y->expected[i] |= results[op] << bit;
            count->expected[0] += results[op];
            count->expected[1] += p && !q;
            count->expected[2] += q && !p;
            count->expected[3] += p && q;
        }
    }
    vy_case_param(c, op);
    return true;
}

/* ---- Extremes -------------------------------------------------------------------------------- */

static uint32_t random_float_bits(uint64_t *seed)
{
    static const uint32_t specials[] = {0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000,
                                        0x00000000, 0x80000000, 0x00000001, 0x80000001};
    uint32_t kind = vy_random_below(seed, 1024);
    return kind < VY_COUNT_OF(specials) ? specials[kind] : vy_oracle_random(seed);
}

static bool is_nan_bits(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* All 32-bit floats in one order, -0 below +0: sign and magnitude as a signed number. */
static int64_t rank_of_float(uint32_t bits)
{
    int64_t magnitude = bits & 0x7fffffff;
    return bits >> 31 ? -magnitude - 1 : magnitude;
}

/* NONE: all are 0.1; ALL: all are NaN. */
bool vy_make_extremes(vy_case *c, uint64_t seed)
{
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *least = vy_case_add(c, "least", 1, VY_SLOT_EXPECTED);
    vy_slot *greatest = vy_case_add(c, "greatest", 1, VY_SLOT_EXPECTED);
    vy_slot *place = vy_case_add(c, "place", 2, VY_SLOT_EXPECTED);
    vy_slot *numbers = vy_case_add(c, "numbers", 1, VY_SLOT_EXPECTED);
    if (!x || !least || !greatest || !place || !numbers) {
        return false;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        x->in[i] = random_float_bits(&seed);
        if (c->variant != VY_VARIANT_RANDOM) {
            x->in[i] = c->variant == VY_VARIANT_NONE ? 0x3dcccccd : 0x7fc00000;
        }
        if (is_nan_bits(x->in[i])) {
            continue;
        }
        bool is_first = numbers->expected[0]++ == 0;
        int64_t rank = rank_of_float(x->in[i]);
        if (is_first || rank < rank_of_float(least->expected[0])) {
            least->expected[0] = x->in[i];
            place->expected[0] = i;
        }
        if (is_first || rank > rank_of_float(greatest->expected[0])) {
            greatest->expected[0] = x->in[i];
            place->expected[1] = i;
        }
    }
    return true;
}

/* ---- Sorting --------------------------------------------------------------------------------- */

typedef struct ranked {
    int64_t rank;
    uint32_t key, at;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->rank != q->rank) {
        return p->rank < q->rank ? -1 : 1;
    }
    return p->at < q->at ? -1 : p->at > q->at;
}

/* Kind as in radix_sort.vyre. NULL without memory. */
static ranked *sorted(const uint32_t *keys, uint32_t count, uint32_t kind)
{
    ranked *all = malloc(((size_t)count + 1) * sizeof *all);
    for (uint32_t i = 0; all && i < count; i++) {
        int64_t ranks[] = {keys[i], (int32_t)keys[i], rank_of_float(keys[i])};
        all[i] = (ranked){ranks[kind], keys[i], i};
    }
    if (all) {
        qsort(all, count, sizeof *all, compare_ranked);
    }
    return all;
}

/* RANDOM: u32; NONE: i32 with few different keys; ALL: f32, all of them. */
bool vy_make_radix_sort(vy_case *c, uint64_t seed)
{
    uint32_t kind = c->variant == VY_VARIANT_RANDOM ? 0 : c->variant == VY_VARIANT_NONE ? 1 : 2;
    vy_slot *keys = vy_case_add(c, "keys", c->size, BOTH);
    vy_slot *values = vy_case_add(c, "values", c->size, BOTH);
    if (!keys || !values) {
        return false;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        keys->in[i] = kind == 1   ? vy_random_below(&seed, 9) - 4
                      : kind == 2 ? random_float_bits(&seed)
                                  : vy_oracle_random(&seed);
        values->in[i] = vy_oracle_random(&seed);
    }
    ranked *all = sorted(keys->in, c->size, kind);
    for (uint32_t i = 0; all && i < c->size; i++) {
        keys->expected[i] = all[i].key;
        values->expected[i] = values->in[all[i].at];
    }
    vy_case_param(c, kind);
    bool ok = all != NULL;
    free(all);
    return ok;
}

/* NONE: few different keys. */
bool vy_make_rank_sort(vy_case *c, uint64_t seed)
{
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", c->size, VY_SLOT_EXPECTED);
    vy_slot *from = vy_case_add(c, "from", c->size, VY_SLOT_EXPECTED);
    if (!x || !y || !from) {
        return false;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        x->in[i] = vy_oracle_random(&seed) >> (c->variant == VY_VARIANT_NONE ? 29 : 0);
    }
    ranked *all = sorted(x->in, c->size, 0);
    for (uint32_t i = 0; all && i < c->size; i++) {
        y->expected[i] = all[i].key;
        from->expected[i] = all[i].at;
    }
    bool ok = all != NULL;
    free(all);
    return ok;
}

/* RANDOM: most values occur once or twice; NONE: all are equal; ALL: sixteen values. */
bool vy_make_distinct(vy_case *c, uint64_t seed)
{
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *first = vy_case_add(c, "first", c->size, VY_SLOT_EXPECTED);
    vy_slot *times = vy_case_add(c, "times", c->size, VY_SLOT_EXPECTED);
    vy_slot *values = vy_case_add(c, "values", 1, VY_SLOT_EXPECTED);
    if (!x || !first || !times || !values) {
        return false;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        x->in[i] = vy_random_below(&seed, c->size);
        if (c->variant != VY_VARIANT_RANDOM) {
            x->in[i] = c->variant == VY_VARIANT_NONE ? 77 : x->in[i] % 16 << 28;
        }
    }
    ranked *all = sorted(x->in, c->size, 0);
    for (uint32_t i = 0, begin = 0; all && i < c->size; i++) {
        if (all[i].key != all[begin].key) {
            begin = i;
        }
        first->expected[all[i].at] = all[begin].at;
        times->expected[all[begin].at]++;
        values->expected[0] += i == begin;
    }
    bool ok = all != NULL;
    free(all);
    return ok;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

bool vy_make_histogram_gather(vy_case *c, uint64_t seed)
{
    uint32_t count = vy_random_below(&seed, 3000);
    vy_slot *x = vy_case_add(c, "x", count, VY_SLOT_IN);
    vy_slot *bins = vy_case_add(c, "bins", c->size, VY_SLOT_EXPECTED);
    for (uint32_t i = 0; x && bins && i < count; i++) {
        x->in[i] = vy_random_below(&seed, c->size + 2); /* two find no bin */
        if (x->in[i] < c->size) {
            bins->expected[x->in[i]]++;
        }
    }
    return x && bins;
}

bool vy_make_scan_group(vy_case *c, uint64_t seed)
{
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *inclusive = vy_case_add(c, "inclusive", c->size, VY_SLOT_EXPECTED);
    vy_slot *exclusive = vy_case_add(c, "exclusive", c->size, VY_SLOT_EXPECTED);
    uint32_t sum = 0;
    if (!x || !inclusive || !exclusive) {
        return false;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        x->in[i] = vy_oracle_random(&seed);
        sum = i % 128 == 0 ? 0 : sum;
        exclusive->expected[i] = sum;
        sum += x->in[i];
        inclusive->expected[i] = sum;
    }
    return true;
}

bool vy_make_segments(vy_case *c, uint64_t seed)
{
    vy_slot *start = vy_case_add(c, "start", c->size + 1, VY_SLOT_IN);
    vy_slot *sum = vy_case_add(c, "sum", c->size, VY_SLOT_EXPECTED);
    vy_slot *least = vy_case_add(c, "least", c->size, VY_SLOT_EXPECTED);
    vy_slot *greatest = vy_case_add(c, "greatest", c->size, VY_SLOT_EXPECTED);
    if (!start || !sum || !least || !greatest) {
        return false;
    }
    for (uint32_t s = 0; s < c->size; s++) {
        start->in[s + 1] = start->in[s] + vy_random_below(&seed, 6);
    }
    uint32_t count = start->in[c->size], x_count = c->size / 2 + 1;
    vy_slot *index = vy_case_add(c, "index", count, VY_SLOT_IN);
    vy_slot *x = vy_case_add(c, "x", x_count, VY_SLOT_IN);
    if (!index || !x) {
        return false;
    }
    for (uint32_t i = 0; i < x_count; i++) {
        x->in[i] = vy_oracle_random(&seed);
    }
    for (uint32_t s = 0; s < c->size; s++) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (uint32_t i = start->in[s]; i < start->in[s + 1]; i++) {
            index->in[i] = vy_random_below(&seed, x_count + x_count / 8 + 1);
            int32_t value = index->in[i] < x_count ? (int32_t)x->in[index->in[i]] : 0;
            sum->expected[s] += (uint32_t)value;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        least->expected[s] = (uint32_t)low;
        greatest->expected[s] = (uint32_t)high;
    }
    return true;
}

/* ---- Byte code ------------------------------------------------------------------------------- */

#define OP(op, a, b, c)                                                                            \
    ((uint32_t)(op) | (uint32_t)(a) << 8 | (uint32_t)(b) << 16 | (uint32_t)(c) << 24)

/* The length of Collatz's sequence from x % 1024 + 1 to 1, exclusive or minus i. */
bool vy_make_bytecode(vy_case *c, uint64_t seed)
{
    static const uint32_t code[] = {
        OP(1, 2, 0xff, 3), /* r2 = 1023 */
        OP(7, 0, 0, 2),    /* r0 &= r2 */
        OP(1, 2, 1, 0),    /* r2 = 1 */
        OP(2, 0, 0, 2),    /* r0 += r2 */
        OP(1, 3, 3, 0),    /* r3 = 3 */
        OP(1, 4, 0, 0),    /* r4 = 0: steps */
        OP(9, 8, 2, 0),    /* 6: if 1 < r0 jump 8 */
        OP(9, 16, 5, 2),   /* otherwise (r5 == 0 < 1) jump 16 */
        OP(2, 4, 4, 2),    /* 8: r4 += 1 */
        OP(7, 6, 0, 2),    /* r6 = r0 & 1 */
        OP(8, 13, 6, 0),   /* if odd jump 13 */
        OP(6, 0, 0, 2),    /* r0 >>= 1 */
        OP(8, 6, 2, 0),    /* jump 6 */
        OP(3, 0, 0, 3),    /* 13: r0 *= 3 */
        OP(2, 0, 0, 2),    /* r0 += 1 */
        OP(8, 6, 2, 0),    /* jump 6 */
        OP(5, 7, 5, 1),    /* 16: r7 = -r1 */
        OP(4, 0, 4, 7),    /* r0 = r4 ^ r7 */
        OP(0, 0, 0, 0),    /* halt */
        OP(10, 0, 0, 0),   /* not reached */
    };
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *words = vy_case_add(c, "code", VY_COUNT_OF(code), VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", c->size, VY_SLOT_EXPECTED);
    vy_slot *steps = vy_case_add(c, "steps", c->size, VY_SLOT_EXPECTED);
    if (!x || !words || !y || !steps) {
        return false;
    }
    memcpy(words->in, code, sizeof code);
    for (uint32_t i = 0; i < c->size; i++) {
        x->in[i] = vy_oracle_random(&seed);
        uint32_t n = x->in[i] % 1024 + 1, length = 0, executed = 6;
        for (; n > 1; length++) {
            executed += n % 2 ? 7 : 6;
            n = n % 2 ? 3 * n + 1 : n / 2;
        }
        y->expected[i] = length ^ (0u - i);
        steps->expected[i] = executed + 2 + 3;
    }
    return true;
}

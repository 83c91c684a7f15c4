/* What is known of integers never excludes a value that can happen: against all values of 8 bits,
 * for many sets of them. And it is as narrow as it should be where that matters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/passes/known.h"

#include <string.h>

#define WIDTH 8u
#define SETS  600u

typedef struct set {
    vy_known known;
    uint8_t member[256]; /* values */
    uint32_t count;
} set;

static uint32_t state;

static uint32_t next(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 12) % below;
}

static bool contains(const vy_known *k, uint8_t x)
{
    int64_t s = (int8_t)x;
    return x >= k->umin && x <= k->umax && s >= k->smin && s <= k->smax && (x & k->zeros) == 0 &&
           (x & k->ones) == k->ones;
}

static void check_form(const vy_known *k)
{
    assert_true(k->umin <= k->umax && k->umax <= 255);
    assert_true(k->smin <= k->smax && k->smin >= -128 && k->smax <= 127);
    assert_true((k->zeros & k->ones) == 0);
    assert_true((k->zeros | 255) == UINT64_MAX && k->ones <= 255);
}

/* Some constraints; who satisfies all of them is a member. False: nobody does. */
static bool make_set(set *s)
{
    uint32_t kinds = next(8);
    int low = (int)next(256), high = (int)next(256);
    int slow = (int)next(256) - 128, shigh = (int)next(256) - 128;
    uint32_t fixed = next(256) & next(256), bits = next(256) & fixed;
    vy_known parts[3];
    memset(s, 0, sizeof *s);
    if (next(4) == 0) {
        low = high; /* one value */
    }
    if (low > high) {
        int swap = low;
        low = high;
        high = swap;
    }
    if (slow > shigh) {
        int swap = slow;
        slow = shigh;
        shigh = swap;
    }
    parts[0] = vy_known_unsigned((uint64_t)low, (uint64_t)high, WIDTH);
    parts[1] = vy_known_signed(slow, shigh, WIDTH);
    parts[2] = vy_known_anything(WIDTH);
    parts[2].ones = bits;
    parts[2].zeros |= fixed & ~bits;
    for (int x = 0; x < 256; x++) {
        int sx = x < 128 ? x : x - 256;
        bool in = (!(kinds & 1) || (x >= low && x <= high)) &&
                  (!(kinds & 2) || (sx >= slow && sx <= shigh)) &&
                  (!(kinds & 4) || ((uint32_t)x & fixed) == bits);
        if (in) {
            s->member[s->count++] = (uint8_t)x;
        }
    }
    s->known = vy_known_anything(WIDTH);
    bool holds = true;
    for (int i = 0; i < 3; i++) {
        holds &= !(kinds >> i & 1) || vy_known_meet(&s->known, &parts[i], WIDTH);
    }
    if (!holds) {
        assert_int_equal(s->count, 0);
        return false;
    }
    check_form(&s->known);
    for (uint32_t i = 0; i < s->count; i++) {
        assert_true(contains(&s->known, s->member[i]));
    }
    return s->count > 0;
}

/* ---- The meaning of operators on 8 bits ------------------------------------------------------ */

static int64_t value_of(uint8_t x, bool is_signed)
{
    return is_signed ? (int8_t)x : x;
}

static uint8_t shift_right(uint8_t x, uint32_t by, bool is_signed)
{
    uint32_t bits = x;
    if (is_signed && x >= 128) {
        bits |= 0xffffff00u;
    }
    return (uint8_t)(bits >> by);
}

static uint8_t meaning(vyre_op op, bool is_signed, const uint8_t *in)
{
    int64_t a = value_of(in[0], is_signed), b = value_of(in[1], is_signed);
    int64_t c = value_of(in[2], is_signed);
    switch ((int)op) {
    case VYRE_OP_ADD:
        return (uint8_t)(a + b);
    case VYRE_OP_SUB:
        return (uint8_t)(a - b);
    case VYRE_OP_MUL:
        return (uint8_t)(a * b);
    case VYRE_OP_DIV:
        return (uint8_t)(b == 0 ? -1 : a / b);
    case VYRE_OP_REM:
        return (uint8_t)(b == 0 ? 0 : a % b);
    case VYRE_OP_AND:
        return in[0] & in[1];
    case VYRE_OP_OR:
        return in[0] | in[1];
    case VYRE_OP_XOR:
        return in[0] ^ in[1];
    case VYRE_OP_SHL:
        return (uint8_t)(in[0] << (in[1] & 7));
    case VYRE_OP_SHR:
        return shift_right(in[0], in[1] & 7, is_signed);
    case VYRE_OP_COMPLEMENT:
        return (uint8_t)~in[0];
    case VYRE_OP_NEGATE:
        return (uint8_t)-a;
    case VYRE_OP_MIN:
        return (uint8_t)(a < b ? a : b);
    case VYRE_OP_MAX:
        return (uint8_t)(a > b ? a : b);
    case VYRE_OP_CLAMP:
        a = a > b ? a : b;
        return (uint8_t)(a < c ? a : c);
    case VYRE_OP_ABS:
        return (uint8_t)(a < 0 ? -a : a);
    case VYRE_OP_SIGN:
        return (uint8_t)(a > 0 ? 1 : a < 0 ? -1 : 0);
    default:
        fail();
        return 0;
    }
}

static bool fits(vyre_op op, bool is_signed, uint8_t x, uint8_t y)
{
    int64_t a = value_of(x, is_signed), b = value_of(y, is_signed);
    int64_t exact = op == VYRE_OP_ADD ? a + b : a - b;
    return is_signed ? exact >= -128 && exact <= 127 : exact >= 0 && exact <= 255;
}

static vy_known compute(vyre_op op, bool is_signed, uint32_t width, const vy_known *operands,
                        uint32_t *out_fits)
{
    const vy_known *each[3] = {&operands[0], &operands[1], &operands[2]};
    return vy_known_compute(op, is_signed, width, each, out_fits);
}

static void check_operator(vyre_op op, bool is_signed, const set *sets)
{
    vy_known operands[3] = {sets[0].known, sets[1].known, sets[2].known};
    uint32_t found = 0;
    vy_known k = compute(op, is_signed, WIDTH, operands, &found);
    check_form(&k);
    uint32_t third = op == VYRE_OP_CLAMP ? sets[2].count : 1;
    for (uint32_t i = 0; i < sets[0].count; i++) {
        for (uint32_t j = 0; j < sets[1].count; j++) {
            for (uint32_t l = 0; l<third; l += third> 16 ? 7 : 1) {
                uint8_t in[3] = {sets[0].member[i], sets[1].member[j], sets[2].member[l]};
                uint8_t out = meaning(op, is_signed, in);
                if (!contains(&k, out)) {
                    fail_msg("%s %s of %u, %u, %u is %u", is_signed ? "signed" : "unsigned",
                             "operator", in[0], in[1], in[2], out);
                }
                assert_true(!(found & VY_FITS_UNSIGNED) || fits(op, false, in[0], in[1]));
                assert_true(!(found & VY_FITS_SIGNED) || fits(op, true, in[0], in[1]));
            }
        }
    }
}

static void test_known_holds_for_every_operator(void **unused)
{
    (void)unused;
    static const vyre_op ops[] = {
        VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL,  VYRE_OP_DIV,        VYRE_OP_REM,    VYRE_OP_AND,
        VYRE_OP_OR,  VYRE_OP_XOR, VYRE_OP_SHL,  VYRE_OP_SHR,        VYRE_OP_NEGATE, VYRE_OP_MIN,
        VYRE_OP_MAX, VYRE_OP_ABS, VYRE_OP_SIGN, VYRE_OP_COMPLEMENT, VYRE_OP_CLAMP,
    };
    state = 1;
    for (uint32_t round = 0; round < SETS;) {
        set sets[3];
        if (!make_set(&sets[0]) || !make_set(&sets[1]) || !make_set(&sets[2])) {
            continue;
        }
        round++;
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            check_operator(ops[o], false, sets);
            check_operator(ops[o], true, sets);
        }
    }
}

static void check_comparison(vyre_op op, bool is_signed, const set *x, const set *y)
{
    int known = vy_known_compare(op, is_signed, &x->known, &y->known);
    for (uint32_t i = 0; i < x->count && known >= 0; i++) {
        for (uint32_t j = 0; j < y->count; j++) {
            int64_t a = value_of(x->member[i], is_signed), b = value_of(y->member[j], is_signed);
            bool holds = op == VYRE_OP_EQ   ? a == b
                         : op == VYRE_OP_NE ? a != b
                         : op == VYRE_OP_LT ? a < b
                         : op == VYRE_OP_LE ? a <= b
                         : op == VYRE_OP_GT ? a > b
                                            : a >= b;
            assert_int_equal(holds, known);
        }
    }
}

static void test_known_holds_for_comparisons_joins_and_sizes(void **unused)
{
    (void)unused;
    static const vyre_op ops[] = {VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LT,
                                  VYRE_OP_LE, VYRE_OP_GT, VYRE_OP_GE};
    state = 7;
    for (uint32_t round = 0; round < 4 * SETS;) {
        set a, b;
        if (!make_set(&a) || !make_set(&b)) {
            continue;
        }
        round++;
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            check_comparison(ops[o], false, &a, &b);
            check_comparison(ops[o], true, &a, &b);
        }
        vy_known either = vy_known_join(&a.known, &b.known);
        vy_known wide = vy_known_resize(&a.known, false, WIDTH, 64);
        vy_known extended = vy_known_resize(&a.known, true, WIDTH, 64);
        vy_known back = vy_known_resize(&extended, true, 64, WIDTH);
        check_form(&either);
        check_form(&back);
        for (uint32_t i = 0; i < a.count; i++) {
            uint8_t x = a.member[i];
            assert_true(contains(&either, x) && contains(&back, x));
            assert_true(wide.umin <= x && x <= wide.umax && (x & wide.ones) == wide.ones);
            int64_t s = (int8_t)x;
            assert_true(extended.smin <= s && s <= extended.smax);
            assert_true(((uint64_t)s & extended.zeros) == 0);
        }
        for (uint32_t i = 0; i < b.count; i++) {
            assert_true(contains(&either, b.member[i]));
        }
    }
}

static void test_known_is_narrow_where_it_counts(void **unused)
{
    (void)unused;
    vy_known any = vy_known_anything(32), k;
    vy_known operands[3] = {any, vy_known_exact(255, 32), any};
    k = compute(VYRE_OP_AND, false, 32, operands, NULL);
    assert_true(k.umax == 255 && k.smin == 0);
    k = compute(VYRE_OP_REM, false, 32, operands, NULL);
    assert_true(k.umax == 254);
    operands[1] = vy_known_exact(24, 32);
    k = compute(VYRE_OP_SHR, false, 32, operands, NULL);
    assert_true(k.umax == 255);
    k = compute(VYRE_OP_SHL, false, 32, operands, NULL);
    assert_true(k.zeros == ((UINT64_MAX << 32) | 0xffffff));
    operands[0] = vy_known_unsigned(3, 10, 32);
    operands[1] = vy_known_unsigned(1, 2, 32);
    uint32_t found = 0;
    k = compute(VYRE_OP_SUB, false, 32, operands, &found);
    assert_true(k.umin == 1 && k.umax == 9 && found == (VY_FITS_UNSIGNED | VY_FITS_SIGNED));
    k = compute(VYRE_OP_MUL, false, 32, operands, NULL);
    assert_true(k.umin == 3 && k.umax == 20);
    /* The widest integers. */
    operands[0] = vy_known_unsigned(0, UINT64_MAX - 1, 64);
    operands[1] = vy_known_exact(1, 64);
    k = compute(VYRE_OP_ADD, false, 64, operands, &found);
    assert_true(k.umin == 1 && k.umax == UINT64_MAX && (found & VY_FITS_UNSIGNED));
    operands[0] = vy_known_anything(64);
    k = compute(VYRE_OP_NEGATE, true, 64, operands, NULL);
    assert_true(k.umax == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_holds_for_every_operator),
        cmocka_unit_test(test_known_holds_for_comparisons_joins_and_sizes),
        cmocka_unit_test(test_known_is_narrow_where_it_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

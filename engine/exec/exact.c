/* See exact.h. Makes the table, runs engine/kernels/exact.vyre on it, judges. */
#include "engine/exec/exact.h"

#include "engine/device/allow_list.h"
#include "engine/exec/trial.h"
#include "engine/kernels/kernels.h"

#include <math.h>
#include <string.h>

#define WORKGROUP 64u
#define NAN_BITS  0x7fc00000u

const uint32_t vy_exact_divisors[VY_EXACT_LITERALS] = {
    0x40400000, 0x41200000, 0x40e00000, 0x3dcccccd, 0x437f0000, 0xc1400000, 0x3eaaaaaa, 0x3f800001,
    0x3f7fffff, 0x7e967699, 0x0020aac8, 0x40c90fdb, 0x00000000, 0x80000000, 0x3f800000, 0x7f800000};
const uint32_t vy_exact_dividends[VY_EXACT_LITERALS] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40400000, 0x41200000, 0x3dcccccd, 0x7f800000,
    0x7fc00000, 0x7f7fffff, 0x00000001, 0x0020aac8, 0x00800000, 0x4b7fffff, 0x7e967699, 0x40c90fdb};

static const uint32_t edges[32] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x00000003, 0x00400000, 0x007fffff,
    0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x3effffff, 0x3f000000, 0x3f7fffff, 0x3f800000,
    0x3f800001, 0xbf800000, 0x3fffffff, 0x40000000, 0x40400000, 0x4b7fffff, 0x4b800000, 0x7e800000,
    0x7effffff, 0x7f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001};

/* ---- Table ----------------------------------------------------------------------------------- */

/* A number of the two, well mixed. */
static uint32_t mix(uint32_t i, uint32_t which)
{
    uint64_t z = ((uint64_t)i << 8 | which) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32 ^ z);
}

static uint32_t float_bits(uint32_t sign, uint32_t exponent, uint32_t fraction)
{
    return (sign & 1) << 31 | (exponent & 0xff) << 23 | (fraction & 0x7fffff);
}

/* An integer of 1 to 2^24 - 1, times 2^exponent. */
static uint32_t scaled(uint32_t integer, uint32_t exponent)
{
    float value = (float)integer;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits + (exponent << 23);
}

/* x / y within 2^-49 of the middle between two numbers: with y odd, q = +-1 / y modulo 2^25 is an
 * odd number of 25 bits, and x = (q y -+ 1) / 2^25 an integer. */
static void near_middle_quotient(uint32_t i, uint32_t *x, uint32_t *y)
{
    uint32_t divisor = (mix(i, 1) & 0x7fffff) | 0x800001;
    uint32_t inverse = divisor; /* of three bits; each step doubles them */
    for (int step = 0; step < 4; step++) {
        inverse *= 2u - divisor * inverse;
    }
    uint32_t q = (i & 1 ? inverse : 0u - inverse) & 0x1ffffff;
    uint64_t product = (uint64_t)q * divisor;
    uint32_t dividend = (uint32_t)((i & 1 ? product - 1 : product + 1) >> 25);
    *x = scaled(dividend, mix(i, 2) % 60);
    *y = scaled(divisor, mix(i, 3) % 60);
}

/* The same of roots: m is a root of a small c modulo 2^26, an odd number of 25 bits, and
 * x = (m m - c) / 2^26, whose root is 2^-13 (m - c / 2m). */
static void near_middle_root(uint32_t i, uint32_t *x, uint32_t *y)
{
    uint32_t c = 1u + 8u * (mix(i, 1) % 4096u) - 8u * 2048u;
    uint32_t m = 1; /* m m = c modulo 8; each step mends one bit more */
    for (uint32_t bit = 3; bit < 26; bit++) {
        if ((m * m - c) >> bit & 1) {
            m ^= 1u << (bit - 1);
        }
    }
    m = (i & 1 ? 0u - m : m) & 0x1ffffff;
    uint64_t square = (uint64_t)m * m;
    int64_t rest = (int64_t)square - (int32_t)c;
    *x = scaled(rest > 0 ? (uint32_t)(rest >> 26) & 0xffffff : 1u, 2 * (mix(i, 2) % 30));
    *y = mix(i, 3);
}

void vy_exact_pair(uint32_t i, uint32_t *x, uint32_t *y)
{
    uint32_t a = mix(i, 4), b = mix(i, 5), row = i / VY_EXACT_LITERALS;
    switch (row % 8) {
    case 0: /* any bits */
        *x = a;
        *y = b;
        break;
    case 1: /* quotients around 1 */
        *x = float_bits(a >> 31, 120 + (a >> 23) % 16, a);
        *y = float_bits(b >> 31, 120 + (b >> 23) % 16, b);
        break;
    case 2: /* powers of two and their neighbours */
        *x = float_bits(a >> 31, 1 + (a >> 8) % 254, 0) + a % 3 - 1;
        *y = float_bits(b >> 31, 1 + (b >> 8) % 254, 0) + b % 3 - 1;
        break;
    case 3: /* denormal quotients, by few bits: ties too */
        *x = float_bits(a >> 31, 1 + (a >> 23) % 30, a & ~0u << a % 23);
        *y = float_bits(b >> 31, 127 + (b >> 23) % 30, b & ~0u << b % 23);
        break;
    case 4: /* denormal operands */
        *x = float_bits(a >> 31, 0, a >> (b & 15));
        *y = float_bits(b >> 31, row % 16 < 8 ? 0 : 90 + (b >> 23) % 60, b);
        break;
    case 5: /* integers, such as programs have */
        *x = scaled(1u + a % 65536u, 0);
        *y = scaled(1u + b % 4096u, 0);
        break;
    case 6:
        if (row % 16 < 8) {
            near_middle_quotient(i, x, y);
        } else {
            near_middle_root(i, x, y);
        }
        break;
    default: /* edges, all pairs of them */
        *x = edges[(row / 8 * VY_EXACT_LITERALS + i % VY_EXACT_LITERALS) % 32];
        *y = edges[(row / 8 * VY_EXACT_LITERALS + i % VY_EXACT_LITERALS) / 32 % 32];
        break;
    }
}

void vy_exact_fill(uint32_t words[VY_EXACT_WORDS])
{
    memset(words, 0, VY_EXACT_WORDS * sizeof *words);
    for (uint32_t i = 0; i < VY_EXACT_PAIRS; i++) {
        vy_exact_pair(i, &words[i], &words[VY_EXACT_PAIRS + i]);
    }
}

/* ---- Judgment -------------------------------------------------------------------------------- */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? NAN_BITS : bits;
}

static uint32_t quotient_of(uint32_t x, uint32_t y)
{
    return bits_of(float_of(x) / float_of(y));
}

static uint32_t root_of(uint32_t x)
{
    return bits_of(sqrtf(float_of(x)));
}

static uint32_t expected_of(uint32_t what, uint32_t i, uint32_t x, uint32_t y)
{
    switch (what) {
    case VY_EXACT_QUOTIENT:
        return quotient_of(x, y);
    case VY_EXACT_ROOT:
        return root_of(x);
    case VY_EXACT_BY_LITERAL:
        return quotient_of(x, vy_exact_divisors[i % VY_EXACT_LITERALS]);
    case VY_EXACT_OF_LITERAL:
        return quotient_of(vy_exact_dividends[i % VY_EXACT_LITERALS], x);
    default:
        break;
    }
    switch (i % 4) {
    case 0:
        return quotient_of(0x3f800000, root_of(x));
    case 1:
        return quotient_of(x, root_of(y));
    case 2:
        return root_of(quotient_of(x, y));
    default:
        return quotient_of(x, x);
    }
}

/* The host's thread may have been told to round otherwise or to flush denormals. */
static bool host_is_exact(void)
{
    volatile float one = 1.0f, three = 3.0f, least = float_of(1), normal = float_of(0x00800000);
    return bits_of(one / three) == 0x3eaaaaab && bits_of(-one / three) == 0xbeaaaaab &&
           bits_of(normal / (one + one)) == 0x00400000 && bits_of(least / one) == 1 &&
           bits_of(least * three) == 3;
}

static void count(uint32_t *total, uint32_t *first, uint32_t place)
{
    *first = *total ? *first : place;
    *total += 1;
}

vy_exact_faults vy_exact_judge(const uint32_t words[VY_EXACT_WORDS])
{
    vy_exact_faults faults = {0};
    for (uint32_t i = 0; i < VY_EXACT_PAIRS; i++) {
        uint32_t x, y;
        vy_exact_pair(i, &x, &y);
        for (uint32_t what = 0; what < VY_EXACT_RESULTS; what++) {
            uint32_t place = what * VY_EXACT_PAIRS + i;
            if (words[place] == expected_of(what, i, x, y)) {
                continue;
            }
            if (what != VY_EXACT_ROOT) {
                count(&faults.divide, &faults.first_divide, place);
            }
            if (what == VY_EXACT_ROOT || (what == VY_EXACT_BOTH && i % 4 != 3)) {
                count(&faults.sqrt, &faults.first_sqrt, place);
            }
        }
    }
    return faults;
}

/* ---- Device ---------------------------------------------------------------------------------- */

/* With the modes that the device's kernels declare. */
static const uint32_t *exact_module(uint32_t float_modes, uint32_t *out_count)
{
    static const uint32_t *(*const rows[8])(uint32_t *) = {
        vy_kernel_exact_0, vy_kernel_exact_1, vy_kernel_exact_2, vy_kernel_exact_3,
        vy_kernel_exact_4, vy_kernel_exact_5, vy_kernel_exact_6, vy_kernel_exact_7};
    return rows[float_modes & 7](out_count);
}

static vyre_result run(vyre_device *device, uint32_t *words, vyre_diag *diag)
{
    vy_trial trial = {.label = "vyre exactness",
                      .workgroup = WORKGROUP,
                      .groups = VY_EXACT_PAIRS / WORKGROUP,
                      .is_native = true};
    trial.module = exact_module(device->snapshot.info.float_modes, &trial.module_word_count);
    vy_exact_fill(words);
    return vy_trial_run(device, &trial, words, VY_EXACT_WORDS, diag);
}

static vyre_answer answer(vyre_device *device, bool is_listed, const char *name, uint32_t faults,
                          uint32_t first, const uint32_t *words)
{
    uint32_t i = first % VY_EXACT_PAIRS, what = first / VY_EXACT_PAIRS, x, y;
    if (!is_listed) {
        return VYRE_ANSWER_NO;
    }
    if (faults == 0) {
        return VYRE_ANSWER_YES;
    }
    vy_exact_pair(i, &x, &y);
    vy_log_write(&device->log, VYRE_LOG_WARNING,
                 "%s of %s (%s) is not exact, although the list says so: %u of %u results differ, "
                 "first number %u of pair %u, 0x%08x and 0x%08x: 0x%08x instead of 0x%08x. Integer "
                 "operations take its place. Fix: report it with vyre-run --info",
                 name, device->snapshot.info.name, device->snapshot.info.driver, (unsigned)faults,
                 (unsigned)VY_EXACT_WORDS, (unsigned)what, (unsigned)i, (unsigned)x, (unsigned)y,
                 (unsigned)words[first], (unsigned)expected_of(what, i, x, y));
    return VYRE_ANSWER_NO;
}

vyre_result vy_exact_probe(vyre_device *device, vyre_answer denormals, vyre_answer *out_divide,
                           vyre_answer *out_sqrt, vyre_diag *diag)
{
    vy_exact known = vy_allow_list_find(&device->snapshot);
    *out_divide = *out_sqrt = VYRE_ANSWER_NO;
    if ((!known.divide && !known.sqrt) || denormals != VYRE_ANSWER_YES) {
        return VYRE_OK;
    }
    *out_divide = *out_sqrt = VYRE_ANSWER_UNKNOWN;
    if (!host_is_exact()) {
        vy_log_write(&device->log, VYRE_LOG_INFO,
                     "this thread flushes denormals or rounds in another way than to nearest, so "
                     "the device's division is not judged; integer operations take its place");
        return VYRE_OK;
    }
    uint32_t *words = vy_alloc_zeroed(&device->allocator, VY_EXACT_WORDS, sizeof *words);
    if (!words) {
        return vy_diag_no_memory(diag);
    }
    vyre_result code = run(device, words, diag);
    if (code == VYRE_OK) {
        vy_exact_faults faults = vy_exact_judge(words);
        *out_divide =
            answer(device, known.divide, "the division", faults.divide, faults.first_divide, words);
        *out_sqrt =
            answer(device, known.sqrt, "the square root", faults.sqrt, faults.first_sqrt, words);
    }
    vy_free(&device->allocator, words, VY_EXACT_WORDS * sizeof *words);
    return code;
}

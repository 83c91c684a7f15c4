/* Floats as text. Owns its own big integers, so that neither strtof's locale nor the thread's
 * rounding mode decide what a program means. */
#include "codegen/ir/number.h"

#include <stdio.h>
#include <string.h>

#define MAX_DIGITS     800 /* no midpoint between two f64 values has more than 768 digits */
#define BIG_WORDS      136 /* 4,352 bits: 800 digits over 10^1124, shifted by 60 */
#define EXPONENT_LIMIT 1000000000

/* A float type: bits of the significand with the hidden one, and of the exponent's bias. */
typedef struct format {
    int precision, bias;
    /* Decimal exponents of leading digits beyond which a number is zero or infinite. */
    int least, largest;
    int digits; /* that always suffice to tell two values apart */
} format;

static format format_of(vyre_type type)
{
    switch ((int)type) {
    case VYRE_TYPE_F16:
        return (format){11, 15, -10, 7, 5};
    case VYRE_TYPE_F64:
        return (format){53, 1023, -330, 312, 17};
    default:
        return (format){24, 127, -50, 45, 9};
    }
}

static uint64_t infinity_of(format f)
{
    return (uint64_t)(2 * f.bias + 1) << (f.precision - 1);
}

uint64_t vy_number_infinity(vyre_type type)
{
    return infinity_of(format_of(type));
}

double vy_number_value(vyre_type type, uint64_t bits)
{
    format f = format_of(type);
    uint64_t fraction = bits & (((uint64_t)1 << (f.precision - 1)) - 1);
    int exponent = (int)(bits >> (f.precision - 1)) & (2 * f.bias + 1);
    bool is_negative = bits >> (vyre_type_size(type) * 8 - 1) & 1;
    uint64_t wide = fraction << (53 - f.precision);
    if (exponent == 2 * f.bias + 1) {
        exponent = 2047;
    } else if (exponent == 0) {
        /* Below 2^53 and times a power of two: exact but for what is no f64 anyway. */
        double value = (double)fraction;
        for (int i = f.bias + f.precision - 2; i > 0; i--) {
            value *= 0.5;
        }
        return is_negative ? -value : value;
    } else {
        exponent += 1023 - f.bias;
    }
    uint64_t out = (uint64_t)is_negative << 63 | (uint64_t)exponent << 52 | wide;
    double value;
    memcpy(&value, &out, sizeof value);
    return value;
}

typedef struct big {
    uint32_t count;
    uint32_t word[BIG_WORDS];
} big;

static void big_multiply_add(big *n, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (uint32_t i = 0; i < n->count; i++) {
        carry += (uint64_t)n->word[i] * factor;
        n->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && n->count < BIG_WORDS) {
        n->word[n->count++] = (uint32_t)carry;
    }
}

static void big_multiply_power_of_ten(big *n, int exponent)
{
    for (; exponent >= 9; exponent -= 9) {
        big_multiply_add(n, 1000000000u, 0);
    }
    for (; exponent > 0; exponent--) {
        big_multiply_add(n, 10, 0);
    }
}

static int big_bits(const big *n)
{
    if (n->count == 0) {
        return 0;
    }
    int bits = (int)(n->count - 1) * 32;
    for (uint32_t top = n->word[n->count - 1]; top; top >>= 1) {
        bits++;
    }
    return bits;
}

static void big_shift_left(big *n, int amount)
{
    uint32_t words = (uint32_t)amount / 32, bits = (uint32_t)amount % 32;
    big old = *n;
    uint32_t count = old.count + words + 1;
    memset(n->word, 0, sizeof n->word);
    for (uint32_t i = 0; i < old.count; i++) {
        uint64_t wide = (uint64_t)old.word[i] << bits;
        if (i + words < BIG_WORDS) {
            n->word[i + words] |= (uint32_t)wide;
        }
        if (i + words + 1 < BIG_WORDS) {
            n->word[i + words + 1] |= (uint32_t)(wide >> 32);
        }
    }
    n->count = count < BIG_WORDS ? count : BIG_WORDS;
    while (n->count > 0 && n->word[n->count - 1] == 0) {
        n->count--;
    }
}

static bool big_less(const big *a, const big *b)
{
    if (a->count != b->count) {
        return a->count < b->count;
    }
    for (uint32_t i = a->count; i-- > 0;) {
        if (a->word[i] != b->word[i]) {
            return a->word[i] < b->word[i];
        }
    }
    return false;
}

static void big_subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t take = (i < b->count ? b->word[i] : 0) + borrow;
        borrow = a->word[i] < take;
        a->word[i] = (uint32_t)(a->word[i] - take);
    }
    while (a->count > 0 && a->word[a->count - 1] == 0) {
        a->count--;
    }
}

/* mantissa x 2^exponent, and a bit more where sticky, to nearest even. */
static uint64_t round_to(format f, uint64_t mantissa, int exponent, bool sticky)
{
    if (mantissa == 0) {
        return 0;
    }
    while (!(mantissa >> 63)) {
        mantissa <<= 1;
        exponent--;
    }
    int biased = exponent + 63 + f.bias;
    if (biased >= 2 * f.bias + 1) {
        return infinity_of(f);
    }
    int drop = 64 - f.precision;
    if (biased <= 0) {
        drop += 1 - biased;
        biased = 0;
    }
    if (drop > 64) {
        return 0;
    }
    uint64_t kept = drop == 64 ? 0 : mantissa >> drop;
    uint64_t rest = drop == 64 ? mantissa : mantissa & ((UINT64_C(1) << drop) - 1);
    uint64_t half = UINT64_C(1) << (drop - 1);
    if (rest > half || (rest == half && (sticky || (kept & 1)))) {
        kept++;
    }
    /* The hidden bit, and a carry out of the mantissa, count the exponent up. */
    uint64_t base = biased > 0 ? (uint64_t)(biased - 1) << (f.precision - 1) : 0;
    return base + kept;
}

static uint32_t read_exponent(const char *text, size_t length, size_t at, int64_t *exponent)
{
    bool negative = at < length && text[at] == '-';
    if (at < length && (text[at] == '-' || text[at] == '+')) {
        at++;
    }
    int64_t value = 0;
    for (; at < length; at++) {
        if (text[at] != '_' && value < EXPONENT_LIMIT) {
            value = value * 10 + (text[at] - '0');
        }
    }
    *exponent += negative ? -value : value;
    return (uint32_t)at;
}

/* f32: digits up to 2^53 with a small power of ten need no big integers unless the double lies next
 * to a midpoint, where its own rounding could decide. */
static bool read_by_double(format f, uint64_t digits, int64_t exponent, uint64_t *out)
{
    if (f.precision != 24 || digits == 0 || digits > (UINT64_C(1) << 53) || exponent < -22 ||
        exponent > 22) {
        return false;
    }
    double power = 1.0; /* exact up to 10^22 */
    for (int64_t i = exponent < 0 ? -exponent : exponent; i > 0; i--) {
        power *= 10.0;
    }
    double value = exponent < 0 ? (double)digits / power : (double)digits * power;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t low = bits & 0x1fffffffu;
    if (low > 0x0ffffff0u && low < 0x10000010u) {
        return false;
    }
    int biased = (int)(bits >> 52);
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
    *out = round_to(f, mantissa, biased - 1023 - 52, false);
    return true;
}

/* digits x 10^exponent, by integer division with three or four bits of quotient more than are kept.
 */
static uint64_t read_by_division(format f, big *digits, int exponent)
{
    big divisor = {.count = 1, .word = {1}};
    if (exponent >= 0) {
        big_multiply_power_of_ten(digits, exponent);
    } else {
        big_multiply_power_of_ten(&divisor, -exponent);
    }
    int bits = f.precision + 3;
    int shift = bits - 1 - (big_bits(digits) - big_bits(&divisor));
    if (shift > 0) {
        big_shift_left(digits, shift);
    } else {
        big_shift_left(&divisor, -shift);
    }
    uint64_t quotient = 0;
    big_shift_left(&divisor, bits);
    for (int bit = bits; bit >= 0; bit--) {
        quotient <<= 1;
        if (!big_less(digits, &divisor)) {
            big_subtract(digits, &divisor);
            quotient |= 1;
        }
        /* Halving the divisor is doubling the rest. */
        big_shift_left(digits, 1);
    }
    return round_to(f, quotient, -shift, digits->count > 0);
}

uint64_t vy_number_read_decimal(vyre_type type, const char *text, size_t length)
{
    format f = format_of(type);
    big digits = {0};
    uint64_t small = 0;
    uint32_t digit_count = 0;
    int64_t exponent = 0;
    bool fraction = false, more = false;
    size_t i = 0;
    for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '_') {
            continue;
        }
        if (text[i] == '.') {
            fraction = true;
            continue;
        }
        uint32_t digit = (uint32_t)(text[i] - '0');
        exponent -= fraction;
        if (digit_count == 0 && digit == 0) {
            continue;
        }
        if (digit_count == MAX_DIGITS) {
            more |= digit != 0;
            exponent++;
            continue;
        }
        digit_count++;
        small = digit_count <= 19 ? small * 10 + digit : UINT64_MAX;
        big_multiply_add(&digits, 10, digit);
    }
    if (i < length) {
        read_exponent(text, length, i + 1, &exponent);
    }
    if (more) { /* a digit behind all midpoints, in place of those left out */
        big_multiply_add(&digits, 10, 1);
        digit_count++;
        exponent--;
    }
    uint64_t bits;
    if (digit_count == 0 || exponent + digit_count < f.least) {
        return 0;
    }
    if (exponent + digit_count > f.largest) {
        return infinity_of(f);
    }
    if (read_by_double(f, small, exponent, &bits)) {
        return bits;
    }
    return read_by_division(f, &digits, (int)exponent);
}

static uint32_t hex_digit(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

uint64_t vy_number_read_hex(vyre_type type, const char *text, size_t length)
{
    format f = format_of(type);
    uint64_t mantissa = 0;
    int64_t exponent = 0, power = 0;
    bool fraction = false, sticky = false;
    size_t i = 0;
    for (; i < length && text[i] != 'p' && text[i] != 'P'; i++) {
        if (text[i] == '_') {
            continue;
        }
        if (text[i] == '.') {
            fraction = true;
            continue;
        }
        exponent -= fraction ? 4 : 0;
        if (mantissa >> 60) {
            sticky |= hex_digit(text[i]) != 0;
            exponent += 4;
        } else {
            mantissa = mantissa << 4 | hex_digit(text[i]);
        }
    }
    if (i < length) {
        read_exponent(text, length, i + 1, &power);
    }
    exponent += power;
    if (mantissa == 0 || exponent < -2400) {
        return 0;
    }
    return exponent > 2400 ? infinity_of(f) : round_to(f, mantissa, (int)exponent, sticky);
}

/* All digits of a value, which are at most 767, and the exponent of the first one: exact, so that
 * the thread's rounding mode has nothing to round, and without the locale's decimal point. */
static void exact_digits(double value, char digits[MAX_DIGITS], int *exponent)
{
    char text[MAX_DIGITS + 16];
    snprintf(text, sizeof text, "%.*e", MAX_DIGITS - 10, value);
    uint32_t count = 0;
    const char *at = text;
    for (; *at && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && count + 1 < MAX_DIGITS) {
            digits[count++] = *at;
        }
    }
    digits[count] = 0;
    int sign = 1, power = 0;
    for (; *at; at++) {
        if (*at == '-') {
            sign = -1;
        } else if (*at >= '0' && *at <= '9') {
            power = power * 10 + (*at - '0');
        }
    }
    *exponent = sign * power;
}

/* Whether the digits are above half of the place in front of them, or a half behind an odd one. */
static bool rounds_up(const char *digits, bool is_odd)
{
    if (*digits != '5') {
        return *digits > '5';
    }
    for (digits++; *digits == '0'; digits++) {
    }
    return *digits || is_odd;
}

/* The number of the fewest digits that reads back as these bits, and of those the nearest: it is
 * one of the two beside the value. The exponent of its last digit goes to *exponent. */
static uint64_t shortest(vyre_type type, uint64_t bits, int *exponent)
{
    char digits[MAX_DIGITS];
    int first = 0, most = format_of(type).digits;
    exact_digits(vy_number_value(type, bits), digits, &first);
    uint64_t below = 0, number = 0;
    for (int count = 1; count <= most; count++) {
        below = below * 10 + (uint64_t)(digits[count - 1] - '0');
        bool up = rounds_up(digits + count, below & 1);
        *exponent = first - count + 1;
        for (int other = 0; other < 2; other++) {
            char text[VY_FLOAT_TEXT_SIZE];
            number = below + (up != (other == 1));
            int size =
                snprintf(text, sizeof text, "%llue%d", (unsigned long long)number, *exponent);
            if (vy_number_read_decimal(type, text, (size_t)size) == bits) {
                return number;
            }
        }
    }
    return number; /* not reached: `most` digits are always enough */
}

void vy_number_write(vyre_type type, uint64_t bits, char out[VY_FLOAT_TEXT_SIZE])
{
    char digits[24];
    int exponent = 0;
    uint64_t number = shortest(type, bits, &exponent);
    exponent += snprintf(digits, sizeof digits, "%llu", (unsigned long long)number) - 1;
    int count = (int)strlen(digits);
    while (count > 1 && digits[count - 1] == '0') {
        digits[--count] = 0;
    }
    if (exponent < -5 || exponent >= 16) {
        snprintf(out, VY_FLOAT_TEXT_SIZE, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1,
                 exponent);
    } else if (exponent < 0) {
        snprintf(out, VY_FLOAT_TEXT_SIZE, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else if (count <= exponent + 1) {
        snprintf(out, VY_FLOAT_TEXT_SIZE, "%s%.*s.0", digits, exponent + 1 - count,
                 "000000000000000");
    } else {
        snprintf(out, VY_FLOAT_TEXT_SIZE, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

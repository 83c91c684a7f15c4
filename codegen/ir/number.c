/* f32 numbers as text. Owns its own big integers, so that neither strtof's locale nor the thread's
 * rounding mode decide what a program means. */
#include "codegen/ir/number.h"

#include <stdio.h>
#include <string.h>

#define MAX_DIGITS                                                                                 \
    160 /* no midpoint between two f32 values has more than 113 significant digits                 \
         */
#define BIG_WORDS      48 /* 1,536 bits: 10^211 shifted by 27 */
#define EXPONENT_LIMIT 1000000000
#define F32_INFINITY   0x7f800000u

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

/* mantissa x 2^exponent, and a bit more where sticky, as f32 to nearest even. */
static uint32_t round_to_f32(uint64_t mantissa, int exponent, bool sticky)
{
    if (mantissa == 0) {
        return 0;
    }
    while (!(mantissa >> 63)) {
        mantissa <<= 1;
        exponent--;
    }
    int biased = exponent + 63 + 127;
    if (biased >= 255) {
        return F32_INFINITY;
    }
    int drop = 40; /* of 64 bits 24 stay */
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
    uint32_t base = biased > 0 ? (uint32_t)(biased - 1) << 23 : 0;
    return base + (uint32_t)kept;
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

/* Digits up to 2^53 with a small power of ten need no big integers unless the double lies next to a
 * midpoint, where its own rounding could decide. */
static bool read_by_double(uint64_t digits, int64_t exponent, uint32_t *out)
{
    if (digits == 0 || digits > (UINT64_C(1) << 53) || exponent < -22 || exponent > 22) {
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
    *out = round_to_f32(mantissa, biased - 1023 - 52, false);
    return true;
}

/* digits x 10^exponent, by integer division with 26 or 27 bits of quotient. */
static uint32_t read_by_division(big *digits, int exponent)
{
    big divisor = {.count = 1, .word = {1}};
    if (exponent >= 0) {
        big_multiply_power_of_ten(digits, exponent);
    } else {
        big_multiply_power_of_ten(&divisor, -exponent);
    }
    int shift = 26 - (big_bits(digits) - big_bits(&divisor));
    if (shift > 0) {
        big_shift_left(digits, shift);
    } else {
        big_shift_left(&divisor, -shift);
    }
    uint64_t quotient = 0;
    big_shift_left(&divisor, 27);
    for (int bit = 27; bit >= 0; bit--) {
        quotient <<= 1;
        if (!big_less(digits, &divisor)) {
            big_subtract(digits, &divisor);
            quotient |= 1;
        }
        /* Halving the divisor is doubling the rest. */
        big_shift_left(digits, 1);
    }
    return round_to_f32(quotient, -shift, digits->count > 0);
}

uint32_t vy_number_read_decimal(const char *text, size_t length)
{
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
    uint32_t bits;
    if (digit_count == 0 || exponent + digit_count < -50) {
        return 0;
    }
    if (exponent + digit_count > 45) {
        return F32_INFINITY;
    }
    if (read_by_double(small, exponent, &bits)) {
        return bits;
    }
    return read_by_division(&digits, (int)exponent);
}

static uint32_t hex_digit(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

uint32_t vy_number_read_hex(const char *text, size_t length)
{
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
    if (mantissa == 0 || exponent < -400) {
        return 0;
    }
    return exponent > 400 ? F32_INFINITY : round_to_f32(mantissa, (int)exponent, sticky);
}

/* The significant digits of "d.ddde+XX", whatever the locale's decimal point is. */
static uint32_t decimal_digits(float value, int precision, char digits[16], int *exponent)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", precision - 1, (double)value);
    uint32_t count = 0;
    const char *at = text;
    for (; *at && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && count < 15) {
            digits[count++] = *at;
        }
    }
    int sign = 1, power = 0;
    for (; *at; at++) {
        if (*at == '-') {
            sign = -1;
        } else if (*at >= '0' && *at <= '9') {
            power = power * 10 + (*at - '0');
        }
    }
    *exponent = sign * power;
    return count;
}

void vy_number_write_f32(uint32_t bits, char out[VY_F32_TEXT_SIZE])
{
    float value;
    memcpy(&value, &bits, sizeof value);
    char digits[16] = {0};
    int exponent = 0;
    for (int precision = 1; precision <= 9; precision++) {
        uint32_t count = decimal_digits(value, precision, digits, &exponent);
        digits[count] = 0;
        char text[VY_F32_TEXT_SIZE];
        int size = snprintf(text, sizeof text, "%se%d", digits, exponent - (int)count + 1);
        if (vy_number_read_decimal(text, (size_t)size) == bits) {
            break;
        }
    }
    int count = (int)strlen(digits);
    while (count > 1 && digits[count - 1] == '0') {
        digits[--count] = 0;
    }
    if (exponent < -5 || exponent >= 16) {
        snprintf(out, VY_F32_TEXT_SIZE, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1,
                 exponent);
    } else if (exponent < 0) {
        snprintf(out, VY_F32_TEXT_SIZE, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else if (count <= exponent + 1) {
        snprintf(out, VY_F32_TEXT_SIZE, "%s%.*s.0", digits, exponent + 1 - count,
                 "000000000000000");
    } else {
        snprintf(out, VY_F32_TEXT_SIZE, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

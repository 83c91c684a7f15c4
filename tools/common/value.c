/* One value of any type: text to bits and back, and elements in memory. */
#include "tools/common/value.h"

#include "codegen/interp/float.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/number.h"

#include <stdio.h>
#include <string.h>

static const vy_loc nowhere = {0, 0};

/* ---- Elements -------------------------------------------------------------------------------- */

vy_value vy_value_load(vyre_type type, const void *elements, size_t index)
{
    vy_value value = {{0}};
    uint32_t count = vy_type_components(type);
    uint32_t size = count ? vyre_type_size(type) / count : 0;
    const unsigned char *at = (const unsigned char *)elements + index * count * size;
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t byte = 0; byte < size; byte++) {
            value.bits[c] |= (uint64_t)*at++ << 8 * byte;
        }
        value.bits[c] = type == VYRE_TYPE_BOOL ? value.bits[c] != 0 : value.bits[c];
    }
    return value;
}

void vy_value_store(vyre_type type, void *elements, size_t index, const vy_value *value)
{
    uint32_t count = vy_type_components(type);
    uint32_t size = count ? vyre_type_size(type) / count : 0;
    unsigned char *at = (unsigned char *)elements + index * count * size;
    for (uint32_t c = 0; c < count; c++) {
        uint64_t bits = type == VYRE_TYPE_BOOL ? value->bits[c] != 0 : value->bits[c];
        for (uint32_t byte = 0; byte < size; byte++) {
            *at++ = (unsigned char)(bits >> 8 * byte);
        }
    }
}

/* A bf16 is read, written and judged as the f32 whose upper half it is. */
static vyre_type number_type(vyre_type type)
{
    return type == VYRE_TYPE_BF16 ? VYRE_TYPE_F32 : type;
}

static uint64_t number_bits(vyre_type type, uint64_t bits)
{
    return type == VYRE_TYPE_BF16 ? bits << 16 : bits;
}

bool vy_scalar_is_nan(vyre_type type, uint64_t bits)
{
    return vy_type_is_float(type) && vy_float_is_nan(number_type(type), number_bits(type, bits));
}

double vy_scalar_widen(vyre_type type, uint64_t bits)
{
    double value;
    if (type != VYRE_TYPE_F64) {
        return vy_float_widen(vy_float_format_get(number_type(type)), number_bits(type, bits));
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Characters ------------------------------------------------------------------------------ */

static vyre_result refuse(vyre_diag *diag, const char *text, size_t length, const char *what)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere, "'%.*s%s' is %s",
                       (int)(length < 60 ? length : 60), text, length < 60 ? "" : "...", what);
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* ---- Integers -------------------------------------------------------------------------------- */

/* Digits without a sign, at most 2^64 - 1. */
static bool read_magnitude(const char *text, size_t length, bool is_hex, uint64_t *out_value)
{
    uint64_t base = is_hex ? 16 : 10, value = 0;
    for (size_t i = is_hex ? 2 : 0; i < length; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0 || (uint64_t)digit >= base || value > (UINT64_MAX - (uint64_t)digit) / base) {
            return false;
        }
        value = value * base + (uint64_t)digit;
    }
    *out_value = value;
    return length > 0;
}

static vyre_result refuse_integer(const char *text, size_t length, vyre_type type, bool is_negative,
                                  vyre_diag *diag)
{
    const char *keyword = vyre_type_keyword(type);
    uint64_t most = vy_type_bits(type, UINT64_MAX);
    char what[160];
    if (vy_type_is_signed(type)) {
        most >>= 1;
        snprintf(what, sizeof what,
                 "no %s. Fix: give a whole number from -%llu to %llu, or 0x and hex digits",
                 keyword, (unsigned long long)most + 1, (unsigned long long)most);
    } else {
        snprintf(what, sizeof what, "%s%s. Fix: give a whole number from 0 to %llu%s",
                 is_negative ? "negative, and the type is " : "no ", keyword,
                 (unsigned long long)most, is_negative ? "" : ", or 0x and hex digits");
    }
    return refuse(diag, text, length, what);
}

static vyre_result parse_integer(const char *text, size_t length, vyre_type type,
                                 uint64_t *out_bits, vyre_diag *diag)
{
    bool is_signed = vy_type_is_signed(type);
    bool minus = length && text[0] == '-';
    size_t sign = length && (minus || text[0] == '+') ? 1 : 0;
    const char *digits = text + sign;
    size_t size = length - sign;
    bool is_hex = size > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
    uint64_t value, most = vy_type_bits(type, UINT64_MAX);
    if (!read_magnitude(digits, size, is_hex, &value)) {
        return refuse_integer(text, length, type, false, diag);
    }
    if (is_signed && (!is_hex || minus)) {
        most = (most >> 1) + minus;
    }
    bool is_negative = minus && !is_signed && value;
    if (value > most || is_negative) {
        return refuse_integer(text, length, type, is_negative && value <= most, diag);
    }
    *out_bits = vy_type_bits(type, minus ? 0 - value : value);
    return VYRE_OK;
}

/* ---- Floats ---------------------------------------------------------------------------------- */

static size_t skip_digits(const char *text, size_t length, size_t at, bool is_hex)
{
    while (at < length && (is_hex ? hex_digit(text[at]) >= 0 : is_digit(text[at]))) {
        at++;
    }
    return at;
}

/* digits[.digits][e[+-]digits], or in hexadecimal with p: the form that the reader wants. */
static bool has_float_form(const char *text, size_t length, bool is_hex)
{
    size_t at = skip_digits(text, length, 0, is_hex), digits = at;
    if (at < length && text[at] == '.') {
        size_t start = ++at;
        at = skip_digits(text, length, at, is_hex);
        digits += at - start;
    }
    if (digits == 0) {
        return false;
    }
    char mark = is_hex ? 'p' : 'e';
    bool has_exponent = at < length && (text[at] | 0x20) == mark;
    if (has_exponent) {
        at++;
        at += at < length && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        size_t start = at;
        at = skip_digits(text, length, at, false);
        if (at == start) {
            return false;
        }
    }
    return at == length && (has_exponent || !is_hex);
}

/* A number without a sign. */
static bool read_number(const char *text, size_t length, vyre_type type, uint64_t *out_bits)
{
    bool is_hex = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
    size_t prefix = is_hex ? 2 : 0;
    char lower[1024]; /* more digits than any f64 has */
    if (is_word(text, length, "inf")) {
        *out_bits = vy_number_infinity(type);
        return true;
    }
    if (is_word(text, length, "nan")) {
        *out_bits = vy_float_nan(type);
        return true;
    }
    if (length >= sizeof lower || !has_float_form(text + prefix, length - prefix, is_hex)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
    }
    lower[length] = 0;
    *out_bits = is_hex ? vy_number_read_hex(type, lower + 2, length - 2)
                       : vy_number_read_decimal(type, lower, length);
    return true;
}

static vyre_result parse_float(const char *text, size_t length, vyre_type type, uint64_t *out_bits,
                               vyre_diag *diag)
{
    size_t skipped = length && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    uint64_t bits;
    if (!read_number(text + skipped, length - skipped, number_type(type), &bits)) {
        char what[96];
        snprintf(what, sizeof what,
                 "no %s. Fix: give a number such as 1.5, -2e-3, 0x1.8p3, inf or nan",
                 vyre_type_keyword(type));
        return refuse(diag, text, length, what);
    }
    bits = type == VYRE_TYPE_BF16 ? vy_bf16_of_f32((uint32_t)bits) : bits;
    *out_bits = bits | (uint64_t)(skipped && text[0] == '-') << (vy_type_width(type) - 1);
    return VYRE_OK;
}

/* ---- Any type -------------------------------------------------------------------------------- */

static vyre_result parse_bool(const char *text, size_t length, uint64_t *out_bits, vyre_diag *diag)
{
    bool is_true = is_word(text, length, "1") || is_word(text, length, "true");
    if (!is_true && !is_word(text, length, "0") && !is_word(text, length, "false")) {
        return refuse(diag, text, length, "no bool. Fix: give 0, 1, true or false");
    }
    *out_bits = is_true;
    return VYRE_OK;
}

static vyre_result parse_scalar(const char *text, size_t length, vyre_type type, uint64_t *out_bits,
                                vyre_diag *diag)
{
    if (type == VYRE_TYPE_BOOL) {
        return parse_bool(text, length, out_bits, diag);
    }
    return vy_type_is_float(type) ? parse_float(text, length, type, out_bits, diag)
                                  : parse_integer(text, length, type, out_bits, diag);
}

static vyre_result refuse_vector(const char *text, size_t length, vyre_type type, uint32_t given,
                                 vyre_diag *diag)
{
    char what[120];
    snprintf(what, sizeof what, "no %s: %u of %u components are given. Fix: write %s",
             vyre_type_keyword(type), given, vy_type_components(type),
             vy_type_components(type) == 2 ? "x:y" : "x:y:z:w");
    return refuse(diag, text, length, what);
}

vyre_result vy_value_parse(const char *text, size_t length, vyre_type type, vy_value *out_value,
                           vyre_diag *diag)
{
    uint32_t count = vy_type_components(type), given = 1;
    *out_value = (vy_value){{0}};
    for (size_t i = 0; i < length && vy_type_is_vector(type); i++) {
        given += text[i] == ':';
    }
    if (given != count && vy_type_is_vector(type)) {
        return refuse_vector(text, length, type, given, diag);
    }
    const char *at = text, *end = text + length;
    vyre_result result = VYRE_OK;
    for (uint32_t c = 0; c < count && result == VYRE_OK; c++) {
        const char *colon = c + 1 < count ? memchr(at, ':', (size_t)(end - at)) : NULL;
        const char *stop = colon ? colon : end;
        result = parse_scalar(at, (size_t)(stop - at), vy_type_component(type), &out_value->bits[c],
                              diag);
        at = colon ? colon + 1 : end;
    }
    return result;
}

void vy_scalar_format(vyre_type type, uint64_t bits, char out[VY_VALUE_TEXT_SIZE])
{
    if (vy_type_is_float(type)) {
        uint64_t sign = (uint64_t)1 << (vy_type_width(type) - 1);
        uint64_t magnitude = number_bits(type, bits & (sign - 1));
        char number[VY_FLOAT_TEXT_SIZE] = "nan";
        if (magnitude == vy_number_infinity(number_type(type))) {
            memcpy(number, "inf", sizeof "inf");
        } else if (!vy_scalar_is_nan(type, bits)) {
            vy_number_write(number_type(type), magnitude, number);
        }
        snprintf(out, VY_VALUE_TEXT_SIZE, "%s%s", bits & sign ? "-" : "", number);
    } else if (vy_type_is_signed(type)) {
        snprintf(out, VY_VALUE_TEXT_SIZE, "%lld", (long long)vy_type_signed_value(type, bits));
    } else {
        snprintf(out, VY_VALUE_TEXT_SIZE, "%llu", (unsigned long long)bits);
    }
}

void vy_value_format(vyre_type type, const vy_value *value, char out[VY_VALUE_TEXT_SIZE])
{
    size_t length = 0;
    out[0] = 0;
    for (uint32_t c = 0; c < vy_type_components(type); c++) {
        char text[VY_VALUE_TEXT_SIZE];
        vy_scalar_format(vy_type_component(type), value->bits[c], text);
        /* The longest component has 25 characters. */
        length += (size_t)snprintf(out + length, VY_VALUE_TEXT_SIZE - length, "%s%.60s",
                                   c ? ":" : "", text);
    }
}

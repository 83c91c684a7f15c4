/* Literals, lists and generators: text to element bits and back. */
#include "tools/common/value.h"

#include "codegen/ir/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const vy_loc nowhere = {0, 0};

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

/* Digits without a sign, at most 2^32 - 1. */
static bool read_magnitude(const char *text, size_t length, uint64_t *out_value)
{
    bool is_hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t value = 0;
    for (size_t i = is_hex ? 2 : 0; i < length; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0 || (!is_hex && digit > 9)) {
            return false;
        }
        value = value * (is_hex ? 16 : 10) + (uint64_t)digit;
        if (value > UINT32_MAX) {
            return false;
        }
    }
    *out_value = value;
    return length > 0;
}

static vyre_result parse_integer(const char *text, size_t length, vyre_type type,
                                 uint32_t *out_bits, vyre_diag *diag)
{
    bool minus = length && text[0] == '-';
    size_t sign = length && (minus || text[0] == '+') ? 1 : 0;
    uint64_t value;
    if (!read_magnitude(text + sign, length - sign, &value) || (sign && !is_digit(text[sign]))) {
        return refuse(diag, text, length,
                      type == VYRE_TYPE_U32
                          ? "no u32. Fix: give a whole number from 0 to 4294967295, or 0x and hex "
                            "digits"
                          : "no i32. Fix: give a whole number from -2147483648 to 2147483647, or "
                            "0x and hex digits");
    }
    bool is_hex = length - sign > 2 && hex_digit(text[sign + 1]) < 0;
    uint64_t most = type == VYRE_TYPE_U32 || is_hex ? UINT32_MAX : (uint64_t)INT32_MAX + minus;
    if (value > most || (minus && type == VYRE_TYPE_U32 && value)) {
        return refuse(diag, text, length,
                      type == VYRE_TYPE_U32
                          ? "negative, and the type is u32. Fix: give a number from 0 to 4294967295"
                          : "no i32. Fix: give a number from -2147483648 to 2147483647");
    }
    *out_bits = minus ? 0u - (uint32_t)value : (uint32_t)value;
    return VYRE_OK;
}

/* ---- f32 ------------------------------------------------------------------------------------- */

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

static vyre_result parse_float(const char *text, size_t length, uint32_t *out_bits, vyre_diag *diag)
{
    uint32_t sign = length && text[0] == '-' ? 0x80000000u : 0;
    size_t skipped = length && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    const char *number = text + skipped;
    size_t size = length - skipped;
    bool is_hex = size > 2 && number[0] == '0' && (number[1] | 0x20) == 'x';
    char lower[128];
    if (is_word(number, size, "inf")) {
        *out_bits = sign | 0x7f800000u;
    } else if (is_word(number, size, "nan")) {
        *out_bits = sign | 0x7fc00000u;
    } else if (size < sizeof lower &&
               has_float_form(number + (is_hex ? 2 : 0), size - (is_hex ? 2 : 0), is_hex)) {
        for (size_t i = 0; i < size; i++) {
            lower[i] = number[i] >= 'A' && number[i] <= 'Z' ? (char)(number[i] | 0x20) : number[i];
        }
        lower[size] = 0;
        *out_bits =
            sign | (is_hex ? (uint32_t)vy_number_read_hex(VYRE_TYPE_F32, lower + 2, size - 2)
                           : (uint32_t)vy_number_read_decimal(VYRE_TYPE_F32, lower, size));
    } else {
        return refuse(diag, text, length,
                      "no f32. Fix: give a number such as 1.5, -2e-3, 0x1.8p3, inf or nan");
    }
    return VYRE_OK;
}

/* ---- Any type -------------------------------------------------------------------------------- */

vyre_result vy_value_parse(const char *text, size_t length, vyre_type type, uint32_t *out_bits,
                           vyre_diag *diag)
{
    switch (type) {
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32:
        return parse_integer(text, length, type, out_bits, diag);
    case VYRE_TYPE_F32:
        return parse_float(text, length, out_bits, diag);
    case VYRE_TYPE_BOOL:
        if (is_word(text, length, "1") || is_word(text, length, "true")) {
            *out_bits = 1;
            return VYRE_OK;
        }
        if (is_word(text, length, "0") || is_word(text, length, "false")) {
            *out_bits = 0;
            return VYRE_OK;
        }
        break;
    default:
        break;
    }
    return refuse(diag, text, length, "no bool. Fix: give 0, 1, true or false");
}

void vy_value_format(vyre_type type, uint32_t bits, char out[VY_VALUE_TEXT_SIZE])
{
    uint32_t magnitude = bits & 0x7fffffffu;
    char number[VY_FLOAT_TEXT_SIZE];
    if (type == VYRE_TYPE_I32) {
        snprintf(out, VY_VALUE_TEXT_SIZE, "%lld",
                 bits > INT32_MAX ? (long long)bits - ((long long)1 << 32) : (long long)bits);
    } else if (type == VYRE_TYPE_F32 && magnitude >= 0x7f800000u) {
        snprintf(out, VY_VALUE_TEXT_SIZE, "%s%s", bits >> 31 ? "-" : "",
                 magnitude > 0x7f800000u ? "nan" : "inf");
    } else if (type == VYRE_TYPE_F32) {
        vy_number_write(VYRE_TYPE_F32, magnitude, number);
        snprintf(out, VY_VALUE_TEXT_SIZE, "%s%s", bits >> 31 ? "-" : "", number);
    } else if (type == VYRE_TYPE_BOOL) {
        snprintf(out, VY_VALUE_TEXT_SIZE, "%d", bits != 0);
    } else {
        snprintf(out, VY_VALUE_TEXT_SIZE, "%lu", (unsigned long)bits);
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void trim(const char **begin, const char **end)
{
    while (*begin < *end && strchr(" \t\r\n", **begin)) {
        (*begin)++;
    }
    while (*begin < *end && strchr(" \t\r\n", (*end)[-1])) {
        (*end)--;
    }
}

vyre_result vy_list_parse(const char *text, vyre_type type, uint32_t **out_elements,
                          uint32_t *out_count, vyre_diag *diag)
{
    const char *begin = text, *end = text + strlen(text);
    size_t count = 0;
    *out_elements = NULL;
    *out_count = 0;
    trim(&begin, &end);
    for (const char *at = begin; at < end; at++) {
        count += *at == ',';
    }
    count += begin < end;
    if (count >= UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "a list of %zu values is too long. Fix: give a file", count);
    }
    uint32_t *elements = malloc((count ? count : 1) * sizeof *elements);
    if (!elements) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = VYRE_OK;
    for (size_t i = 0; i < count && result == VYRE_OK; i++) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        const char *from = begin, *to = comma ? comma : end;
        trim(&from, &to);
        result = vy_value_parse(from, (size_t)(to - from), type, &elements[i], diag);
        begin = comma ? comma + 1 : end;
    }
    if (result != VYRE_OK) {
        free(elements);
        return result;
    }
    *out_elements = elements;
    *out_count = (uint32_t)count;
    return VYRE_OK;
}

/* ---- Generators ------------------------------------------------------------------------------ */

typedef enum generator_kind { GEN_ZERO, GEN_IOTA, GEN_FILL, GEN_RANDOM, GEN_COUNT } generator_kind;

static const struct {
    const char *name;
    uint32_t least, most; /* arguments */
    const char *form;
} generators[GEN_COUNT] = {{"zero", 0, 0, "zero"},
                           {"iota", 0, 2, "iota[:START[:STEP]]"},
                           {"fill", 1, 1, "fill:V"},
                           {"random", 1, 3, "random:SEED[:LO:HI]"}};

static generator_kind find_generator(const char *text)
{
    size_t length = strcspn(text, ":");
    int kind = 0;
    while (kind < GEN_COUNT && !is_word(text, length, generators[kind].name)) {
        kind++;
    }
    return (generator_kind)kind;
}

bool vy_value_is_generator(const char *text)
{
    return find_generator(text) != GEN_COUNT;
}

/* The i-th number of the stream of `seed`: a mix of both (splitmix64). */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double widen(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static uint32_t narrow(double wide)
{
    float value = (float)wide;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void fill_random(vyre_type type, uint32_t seed, uint32_t low, uint32_t high,
                        uint32_t *elements, uint32_t count)
{
    uint64_t span = type == VYRE_TYPE_BOOL ? 2 : (uint64_t)(uint32_t)(high - low);
    span = span ? span : (uint64_t)1 << 32;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = random_bits(seed, i);
        if (type == VYRE_TYPE_F32) {
            double unit = (double)(bits >> 40) / 16777216.0;
            uint32_t value = narrow(widen(low) + (widen(high) - widen(low)) * unit);
            /* Rounding may reach the end that is not in the range. */
            elements[i] = widen(value) < widen(high) ? value : low;
        } else {
            elements[i] = low + (uint32_t)((bits >> 32) * span >> 32);
        }
    }
}

static void fill_iota(vyre_type type, uint32_t start, uint32_t step, uint32_t *elements,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        elements[i] = type == VYRE_TYPE_F32 ? narrow(widen(start) + widen(step) * (double)i)
                                            : start + i * step;
        elements[i] = type == VYRE_TYPE_BOOL ? elements[i] & 1 : elements[i];
    }
}

/* An empty or turned range has no number to give. */
static bool is_range(vyre_type type, uint32_t low, uint32_t high)
{
    if (type == VYRE_TYPE_F32) {
        return widen(low) < widen(high) && widen(high) - widen(low) < 1e39;
    }
    return type == VYRE_TYPE_I32 ? (low ^ 0x80000000u) < (high ^ 0x80000000u) : low < high;
}

vyre_result vy_value_generate(const char *text, vyre_type type, uint32_t *elements, uint32_t count,
                              vyre_diag *diag)
{
    generator_kind kind = find_generator(text);
    if (kind == GEN_COUNT) {
        return refuse(diag, text, strlen(text),
                      "no generator. Fix: give zero, iota, fill:V or random:SEED");
    }
    uint32_t one = type == VYRE_TYPE_F32 ? 0x3f800000u : 1, given = 0;
    uint32_t arguments[3] = {0, kind == GEN_IOTA ? one : 0, kind == GEN_RANDOM ? one : 0};
    const char *at = text + strcspn(text, ":");
    for (; *at && given < generators[kind].most; given++) {
        size_t length = strcspn(++at, ":");
        vyre_type wanted = kind == GEN_RANDOM && given == 0 ? VYRE_TYPE_U32 : type;
        vyre_result result = vy_value_parse(at, length, wanted, &arguments[given], diag);
        if (result != VYRE_OK) {
            return result;
        }
        at += length;
    }
    if (*at || given < generators[kind].least || (kind == GEN_RANDOM && given == 2)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "'%.60s' has the wrong number of values. Fix: write %s", text,
                           generators[kind].form);
    }
    if (given == 3 && !is_range(type, arguments[1], arguments[2])) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "'%.60s' has no value between its limits. Fix: give LO less than HI, "
                           "both finite",
                           text);
    }
    if (kind == GEN_RANDOM) {
        bool all = given < 3 && type != VYRE_TYPE_F32;
        fill_random(type, arguments[0], all ? 0 : arguments[1], all ? 0 : arguments[2], elements,
                    count);
    } else {
        fill_iota(type, arguments[0], kind == GEN_IOTA ? arguments[1] : 0, elements, count);
    }
    return VYRE_OK;
}

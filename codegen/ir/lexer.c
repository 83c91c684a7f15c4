/* Tokens of the text form, one at a time, in time linear in the text. */
#include "codegen/ir/lexer.h"

#include "codegen/ir/number.h"
#include "codegen/ir/ops.h"

#include <string.h>

static const char punctuators[][4] = {
#define VY_X(name, text) text,
    VY_PUNCTUATORS(VY_X)
#undef VY_X
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static uint32_t hex_value(char c)
{
    return (uint32_t)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* What a byte begins. */
typedef enum byte_kind { BYTE_OTHER, BYTE_BLANK, BYTE_NAME, BYTE_DIGIT } byte_kind;

static const uint8_t byte_kinds[256] = {
    ['\t'] = BYTE_BLANK, ['\n'] = BYTE_BLANK, ['\v'] = BYTE_BLANK, ['\f'] = BYTE_BLANK,
    ['\r'] = BYTE_BLANK, [' '] = BYTE_BLANK,  ['/'] = BYTE_BLANK, /* or a comment */
#define LETTER(upper, lower) [upper] = BYTE_NAME, [lower] = BYTE_NAME
    LETTER('A', 'a'),    LETTER('B', 'b'),    LETTER('C', 'c'),    LETTER('D', 'd'),
    LETTER('E', 'e'),    LETTER('F', 'f'),    LETTER('G', 'g'),    LETTER('H', 'h'),
    LETTER('I', 'i'),    LETTER('J', 'j'),    LETTER('K', 'k'),    LETTER('L', 'l'),
    LETTER('M', 'm'),    LETTER('N', 'n'),    LETTER('O', 'o'),    LETTER('P', 'p'),
    LETTER('Q', 'q'),    LETTER('R', 'r'),    LETTER('S', 's'),    LETTER('T', 't'),
    LETTER('U', 'u'),    LETTER('V', 'v'),    LETTER('W', 'w'),    LETTER('X', 'x'),
    LETTER('Y', 'y'),    LETTER('Z', 'z'),
#undef LETTER
    ['0'] = BYTE_DIGIT,  ['1'] = BYTE_DIGIT,  ['2'] = BYTE_DIGIT,  ['3'] = BYTE_DIGIT,
    ['4'] = BYTE_DIGIT,  ['5'] = BYTE_DIGIT,  ['6'] = BYTE_DIGIT,  ['7'] = BYTE_DIGIT,
    ['8'] = BYTE_DIGIT,  ['9'] = BYTE_DIGIT,  ['_'] = BYTE_NAME};

static bool is_name_char(char c)
{
    return byte_kinds[(unsigned char)c] >= BYTE_NAME;
}

/* 0 behind the end, which no rule takes for anything. */
static char char_at(const vy_lexer *lexer, size_t at)
{
    return at < lexer->size ? lexer->text[at] : '\0';
}

static vy_loc loc_at(const vy_lexer *lexer, size_t at)
{
    return (vy_loc){lexer->line, (uint32_t)(at - lexer->line_begin) + 1};
}

void vy_lexer_fail(vy_lexer *lexer, vy_loc loc, const char *format, ...)
{
    if (lexer->failed) {
        return;
    }
    lexer->failed = true;
    va_list arguments;
    va_start(arguments, format);
    vy_diag_setv(&lexer->error, VYRE_ERROR_INVALID_PROGRAM, loc, format, arguments);
    va_end(arguments);
}

const char *vy_token_kind_text(vy_token_kind kind)
{
    switch (kind) {
    case VY_TOKEN_END:
        return "end of the text";
    case VY_TOKEN_NAME:
        return "name";
    case VY_TOKEN_INTEGER:
    case VY_TOKEN_FLOAT:
        return "number";
    case VY_TOKEN_STRING:
        return "string";
    default:
        return kind < VY_TOKEN_KIND_COUNT ? punctuators[kind - VY_TOKEN_STRING - 1] : "";
    }
}

void vy_lexer_init(vy_lexer *lexer, const char *text, size_t size, vy_names *names)
{
    *lexer = (vy_lexer){.text = text, .size = size, .line = 1, .names = names};
    vy_diag_clear(&lexer->error);
    memset(lexer->first_punctuators, VY_COUNT_OF(punctuators), sizeof lexer->first_punctuators);
    for (uint32_t i = VY_COUNT_OF(punctuators); i-- > 0;) {
        unsigned char first = (unsigned char)punctuators[i][0];
        unsigned char second = (unsigned char)punctuators[i][1];
        lexer->first_punctuators[first] = (uint8_t)i;
        if (second) {
            lexer->goes_on[second] = true;
        } else {
            lexer->short_punctuators[first] = (uint8_t)(VY_TOKEN_STRING + 1 + i);
        }
    }
    lexer->short_punctuators['.'] = 0; /* a digit may stand behind it */
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        lexer->at = lexer->line_begin = 3;
    } else if (size >= 2 &&
               (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        vy_lexer_fail(lexer, (vy_loc){1, 1}, "the text is UTF-16. Fix: save it as ASCII or UTF-8");
    }
}

static VY_SELDOM void skip_block_comment(vy_lexer *lexer)
{
    vy_loc begin = loc_at(lexer, lexer->at);
    for (lexer->at += 2; lexer->at < lexer->size; lexer->at++) {
        char c = lexer->text[lexer->at];
        if (c == '*' && char_at(lexer, lexer->at + 1) == '/') {
            lexer->at += 2;
            return;
        }
        if (c == '\0') {
            vy_lexer_fail(lexer, loc_at(lexer, lexer->at),
                          "a zero byte in a comment. Fix: remove it");
            return;
        }
        if (c == '\n') {
            lexer->line++;
            lexer->line_begin = lexer->at + 1;
        }
    }
    vy_lexer_fail(lexer, begin, "this comment has no end. Fix: write */ where it ends");
}

static VY_SELDOM void skip_line_comment(vy_lexer *lexer)
{
    for (; lexer->at < lexer->size && lexer->text[lexer->at] != '\n'; lexer->at++) {
        if (lexer->text[lexer->at] == '\0') {
            vy_lexer_fail(lexer, loc_at(lexer, lexer->at),
                          "a zero byte in a comment. Fix: remove it");
            return;
        }
    }
}

static void skip_blanks(vy_lexer *lexer)
{
    while (!lexer->failed && lexer->at < lexer->size) {
        const char *text = lexer->text;
        size_t at = lexer->at, size = lexer->size;
        while (at < size && text[at] == ' ') {
            at++;
        }
        lexer->at = at;
        if (at == size || text[at] > '/') {
            return;
        }
        char c = text[at];
        char after = char_at(lexer, lexer->at + 1);
        if (c == '\n') {
            lexer->at++;
            lexer->line++;
            lexer->line_begin = lexer->at;
        } else if (c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && after == '/') {
            skip_line_comment(lexer);
        } else if (c == '/' && after == '*') {
            skip_block_comment(lexer);
        } else {
            return;
        }
    }
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Digits and '_' from `at`; the place behind them. */
static size_t skip_digits(const vy_lexer *lexer, size_t at, bool hex)
{
    while (is_digit(char_at(lexer, at)) || char_at(lexer, at) == '_' ||
           (hex && is_hex_digit(char_at(lexer, at)))) {
        at++;
    }
    return at;
}

/* The place behind an exponent that starts at `at`, or `at` where there is none. */
static size_t skip_exponent(const vy_lexer *lexer, size_t at, char letter)
{
    if ((char_at(lexer, at) | 0x20) != letter) {
        return at;
    }
    size_t digits = at + 1;
    if (char_at(lexer, digits) == '+' || char_at(lexer, digits) == '-') {
        digits++;
    }
    return is_digit(char_at(lexer, digits)) ? skip_digits(lexer, digits, false) : at;
}

static void read_integer(vy_lexer *lexer, vy_token *token, size_t begin, uint32_t radix)
{
    uint64_t value = 0;
    bool digits = false, fits = true;
    for (size_t i = begin; i < lexer->at; i++) {
        char c = lexer->text[i];
        if (c == '_') {
            continue;
        }
        uint32_t digit = hex_value(c);
        if (digit >= radix) {
            vy_lexer_fail(lexer, loc_at(lexer, i),
                          "%c is no digit of a binary number. Fix: write 0 and 1 only, or 0x...",
                          c);
            return;
        }
        digits = true;
        fits &= value <= (UINT64_MAX - digit) / radix;
        value = value * radix + digit;
    }
    if (!digits) {
        vy_lexer_fail(lexer, token->loc, "a number without digits. Fix: write digits behind %.2s",
                      lexer->text + token->begin);
    }
    if (!fits) {
        vy_lexer_fail(lexer, token->loc,
                      "the integer is at least 2^64 and fits no type, the largest value is "
                      "18446744073709551615. Fix: write a smaller one, or a float such as 1e20");
    }
    token->kind = VY_TOKEN_INTEGER;
    token->value = value;
}

/* The type that a suffix names, VOID where there is no such suffix. */
static vyre_type suffix_type(const char *suffix, size_t length)
{
    static const struct {
        const char *text;
        vyre_type type;
    } rows[] = {{"u", VYRE_TYPE_U32},  {"i", VYRE_TYPE_I32}, {"l", VYRE_TYPE_I64},
                {"ul", VYRE_TYPE_U64}, {"h", VYRE_TYPE_F16}, {"f", VYRE_TYPE_F32},
                {"d", VYRE_TYPE_F64}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        if (strlen(rows[i].text) == length && memcmp(rows[i].text, suffix, length) == 0) {
            return rows[i].type;
        }
    }
    return VYRE_TYPE_VOID;
}

/* Takes the suffix behind a number, if there is one; VOID: there is none, or it is an error. */
static vyre_type read_suffix(vy_lexer *lexer, const vy_token *token)
{
    size_t begin = lexer->at;
    while (is_name_char(char_at(lexer, lexer->at))) {
        lexer->at++;
    }
    size_t length = lexer->at - begin;
    if (length == 0 || lexer->failed) {
        return VYRE_TYPE_VOID;
    }
    vyre_type type = suffix_type(lexer->text + begin, length);
    if (type == VYRE_TYPE_VOID) {
        vy_lexer_fail(lexer, token->loc,
                      "a number runs into the name %.*s. Fix: put a blank between them, or write "
                      "one of the suffixes u i l ul h f d",
                      (int)(length < 40 ? length : 40), lexer->text + begin);
    }
    return type;
}

static void finish_integer(vy_lexer *lexer, vy_token *token)
{
    vyre_type type = read_suffix(lexer, token);
    token->type = (uint8_t)(type == VYRE_TYPE_VOID ? VYRE_TYPE_INT : type);
    if (vy_type_is_float(type)) {
        vy_lexer_fail(lexer, token->loc,
                      "the suffix of %s on an integer that is not decimal. Fix: write a decimal "
                      "number, or an exponent behind p",
                      vyre_type_keyword(type));
    }
}

/* The number from `begin` up to where the lexer stands, and its suffix. */
static void finish_float(vy_lexer *lexer, vy_token *token, size_t begin, bool is_hex)
{
    size_t length = lexer->at - begin;
    vyre_type type = read_suffix(lexer, token);
    if (vy_type_is_integer(type)) {
        vy_lexer_fail(lexer, token->loc,
                      "the suffix of an integer on a number with a fraction or an exponent. Fix: "
                      "leave out the suffix or the fraction");
        return;
    }
    type = type == VYRE_TYPE_VOID ? VYRE_TYPE_F32 : type;
    token->kind = VY_TOKEN_FLOAT;
    token->type = (uint8_t)type;
    token->value = is_hex ? vy_number_read_hex(type, lexer->text + begin, length)
                          : vy_number_read_decimal(type, lexer->text + begin, length);
    if (token->value == vy_number_infinity(type)) {
        vy_lexer_fail(lexer, token->loc,
                      "the number is larger than any %s. Fix: write a smaller one, or %s",
                      vyre_type_keyword(type),
                      type == VYRE_TYPE_F32 ? "inf" : "a cast of inf, such as f64(inf)");
    }
}

static void read_prefixed_number(vy_lexer *lexer, vy_token *token)
{
    size_t begin = token->begin + 2;
    if ((lexer->text[token->begin + 1] | 0x20) == 'b') {
        lexer->at = skip_digits(lexer, begin, false);
        read_integer(lexer, token, begin, 2);
        finish_integer(lexer, token);
        return;
    }
    size_t at = skip_digits(lexer, begin, true);
    bool point = char_at(lexer, at) == '.' && is_hex_digit(char_at(lexer, at + 1));
    size_t end = point ? skip_digits(lexer, at + 1, true) : at;
    size_t behind = skip_exponent(lexer, end, 'p');
    if (behind == end) {
        lexer->at = at;
        if (point) {
            vy_lexer_fail(lexer, token->loc,
                          "a hexadecimal fraction without an exponent. Fix: write p0 behind it");
        }
        read_integer(lexer, token, begin, 16);
        finish_integer(lexer, token);
        return;
    }
    lexer->at = behind;
    finish_float(lexer, token, begin, true);
}

/* Decimal digits that stand alone or in front of u: most numbers. False: anything else. */
static bool read_plain_number(vy_lexer *lexer, vy_token *token)
{
    const char *begin = lexer->text + token->begin, *end = lexer->text + lexer->size, *at = begin;
    const char *last = end - begin < 20 ? end : begin + 19;
    uint64_t value = 0;
    for (; at < last && is_digit(*at); at++) {
        value = value * 10 + (uint32_t)(*at - '0');
    }
    bool has_suffix = at < end && *at == 'u';
    at += has_suffix;
    if (at < end && (is_name_char(*at) || *at == '.')) {
        return false;
    }
    token->kind = VY_TOKEN_INTEGER;
    token->type = (uint8_t)(has_suffix ? VYRE_TYPE_U32 : VYRE_TYPE_INT);
    token->value = value;
    lexer->at = token->begin + (size_t)(at - begin);
    return true;
}

static VY_SELDOM void read_other_number(vy_lexer *lexer, vy_token *token)
{
    size_t begin = token->begin;
    char second = (char)(char_at(lexer, begin + 1) | 0x20);
    if (lexer->text[begin] == '0' && (second == 'x' || second == 'b')) {
        read_prefixed_number(lexer, token);
        return;
    }
    size_t at = skip_digits(lexer, begin, false);
    bool is_float = false;
    if (char_at(lexer, at) == '.' && is_digit(char_at(lexer, at + 1))) {
        at = skip_digits(lexer, at + 1, false);
        is_float = true;
    } else if (char_at(lexer, at) == '.' && char_at(lexer, at + 1) != '.') {
        vy_lexer_fail(lexer, token->loc, "a number that ends in a point. Fix: write %.*s.0",
                      (int)(at - begin < 40 ? at - begin : 40), lexer->text + begin);
    }
    size_t behind = skip_exponent(lexer, at, 'e');
    is_float |= behind != at;
    lexer->at = behind;
    /* 16777217f is an f32 and may have any size. */
    size_t end = behind;
    while (is_name_char(char_at(lexer, end))) {
        end++;
    }
    is_float |= vy_type_is_float(suffix_type(lexer->text + behind, end - behind));
    if (is_float) {
        finish_float(lexer, token, begin, false);
        return;
    }
    read_integer(lexer, token, begin, 10);
    finish_integer(lexer, token);
}

/* ---- Strings and names ------------------------------------------------------------------------
 */

static VY_SELDOM void read_string(vy_lexer *lexer, vy_token *token)
{
    token->kind = VY_TOKEN_STRING;
    for (lexer->at++; lexer->at < lexer->size; lexer->at++) {
        char c = lexer->text[lexer->at];
        if (c == '"') {
            lexer->at++;
            return;
        }
        if (c == '\n') {
            break;
        }
        if (c < ' ' || c > '~') {
            vy_lexer_fail(lexer, loc_at(lexer, lexer->at),
                          "byte 0x%02x in a string. Fix: write printable ASCII, or \\x%02x",
                          (unsigned char)c, (unsigned char)c);
            return;
        }
        if (c == '\\' && lexer->at + 1 < lexer->size && lexer->text[lexer->at + 1] != '\n') {
            lexer->at++;
        }
    }
    vy_lexer_fail(lexer, token->loc, "this string has no end on its line. Fix: write \" there");
}

const char *vy_lexer_string(vy_lexer *lexer, const vy_token *token)
{
    char out[VYRE_MAX_NAME + 1];
    size_t size = 0;
    for (size_t i = token->begin + 1; i + 1 < token->end; i++) {
        char c = lexer->text[i];
        if (c == '\\') {
            c = lexer->text[++i];
            if (c == 'x' && i + 3 < token->end && is_hex_digit(lexer->text[i + 1]) &&
                is_hex_digit(lexer->text[i + 2])) {
                c = (char)(hex_value(lexer->text[i + 1]) << 4 | hex_value(lexer->text[i + 2]));
                i += 2;
            } else if (c != '"' && c != '\\') {
                vy_lexer_fail(lexer, token->loc,
                              "an unknown escape in a string. Fix: write \\\\, \\\" or \\xHH");
                return NULL;
            }
        }
        if (c == '\0' || size == VYRE_MAX_NAME) {
            vy_lexer_fail(lexer, token->loc,
                          c ? "a string of more than 255 bytes. Fix: shorten it"
                            : "a zero byte in a string. Fix: remove it");
            return NULL;
        }
        out[size++] = c;
    }
    return vy_arena_text(lexer->names->arena, out, size);
}

static VY_SELDOM void fail_long_name(vy_lexer *lexer, const vy_token *token, size_t length)
{
    vy_lexer_fail(lexer, token->loc, "a name of %zu bytes, more than %u. Fix: shorten %.20s...",
                  length, VYRE_MAX_NAME, lexer->text + token->begin);
}

static void read_name(vy_lexer *lexer, vy_token *token)
{
    const char *begin = lexer->text + token->begin, *end = lexer->text + lexer->size, *at = begin;
    uint64_t packed = 0;
    for (; at < end && is_name_char(*at); at++) {
        packed = vy_name_pack(packed, *at);
    }
    size_t length = (size_t)(at - begin);
    lexer->at = token->begin + length;
    token->kind = VY_TOKEN_NAME;
    if (length > VYRE_MAX_NAME) {
        fail_long_name(lexer, token, length);
        return;
    }
    token->name = vy_names_intern(lexer->names, begin, length, packed);
    if (!token->name) {
        lexer->failed = true; /* out of memory: the arena says so */
    }
}

static VY_SELDOM void read_punctuator(vy_lexer *lexer, vy_token *token)
{
    const char *at = lexer->text + token->begin;
    size_t left = lexer->size - token->begin;
    for (uint32_t i = lexer->first_punctuators[(unsigned char)at[0] & 127];
         i < VY_COUNT_OF(punctuators); i++) {
        const char *text = punctuators[i];
        if (text[0] != at[0]) {
            continue;
        }
        size_t length = text[1] == '\0' ? 1 : text[2] == '\0' ? 2 : 3;
        if (length <= left && memcmp(text, at, length) == 0) {
            token->kind = (uint8_t)(VY_TOKEN_STRING + 1 + i);
            lexer->at += length;
            return;
        }
    }
    unsigned byte = (unsigned char)at[0];
    if (byte == 0) {
        vy_lexer_fail(lexer, token->loc, "a zero byte. Fix: remove it");
    } else if (byte >= 0x80) {
        vy_lexer_fail(lexer, token->loc,
                      "byte 0x%02x is not ASCII. Fix: write ASCII; other characters may stand in "
                      "comments only",
                      byte);
    } else if (byte == '\'') {
        vy_lexer_fail(lexer, token->loc,
                      "there are no character literals. Fix: write the number, or \"...\"");
    } else if (byte > ' ' && byte < 0x7f) {
        vy_lexer_fail(lexer, token->loc, "the character %c has no meaning. Fix: remove it",
                      (char)byte);
    } else {
        vy_lexer_fail(lexer, token->loc, "the control byte 0x%02x. Fix: remove it", byte);
    }
}

/* Neither a name nor a number, nor a punctuator that nothing could make longer. */
static VY_SELDOM void read_other(vy_lexer *lexer, vy_token *token)
{
    char first = lexer->text[lexer->at];
    if (first == '"') {
        read_string(lexer, token);
    } else if (first == '.' && is_digit(char_at(lexer, lexer->at + 1))) {
        vy_lexer_fail(lexer, token->loc,
                      "a number that begins with a point. Fix: write 0 in front of it");
    } else {
        read_punctuator(lexer, token);
    }
}

/* The token of a punctuator that nothing behind it makes longer, or 0. */
static uint8_t short_punctuator(const vy_lexer *lexer, size_t at)
{
    unsigned char second = (unsigned char)char_at(lexer, at + 1);
    return lexer->goes_on[second] ? 0 : lexer->short_punctuators[(unsigned char)lexer->text[at]];
}

void vy_lexer_next(vy_lexer *lexer, vy_token *out_token)
{
    const char *text = lexer->text;
    const size_t size = lexer->size;
    size_t at = lexer->at;
    while (at < size && text[at] == ' ') {
        at++;
    }
    lexer->at = at;
    if (at < size && byte_kinds[(unsigned char)text[at]] == BYTE_BLANK) {
        skip_blanks(lexer);
        at = lexer->at;
    }
    *out_token = (vy_token){.kind = VY_TOKEN_END, .loc = loc_at(lexer, at), .begin = at};
    if (at < size && !lexer->failed) {
        switch (byte_kinds[(unsigned char)text[at]]) {
        case BYTE_NAME:
            read_name(lexer, out_token);
            break;
        case BYTE_DIGIT:
            if (!read_plain_number(lexer, out_token)) {
                read_other_number(lexer, out_token);
            }
            break;
        default:
            out_token->kind = short_punctuator(lexer, at);
            lexer->at += out_token->kind != 0;
            if (!out_token->kind) {
                read_other(lexer, out_token);
            }
            break;
        }
    }
    if (lexer->failed) {
        out_token->kind = VY_TOKEN_END;
    }
    out_token->end = lexer->at;
}

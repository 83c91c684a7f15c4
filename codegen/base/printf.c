/* See printf.h. */
#include "codegen/base/printf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Formats --------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number; false where it is above the most. */
static bool take_number(const char *format, uint32_t *at, uint32_t *out)
{
    *out = 0;
    for (; is_digit(format[*at]); ++*at) {
        uint32_t more = *out * 10 + (uint32_t)(format[*at] - '0');
        *out = *out > VY_PRINTF_MAX_WIDTH ? *out : more;
    }
    return *out <= VY_PRINTF_MAX_WIDTH;
}

static bool *flag_of(vy_conversion *c, char letter)
{
    switch (letter) {
    case '-':
        return &c->is_left;
    case '0':
        return &c->has_zeros;
    case '+':
        return &c->has_plus;
    case ' ':
        return &c->has_blank;
    case '#':
        return &c->is_alternate;
    default:
        return NULL;
    }
}

static const char *take_flags(const char *format, uint32_t *at, vy_conversion *c)
{
    for (bool *flag; (flag = flag_of(c, format[*at])) != NULL; ++*at) {
        if (*flag) {
            return "has a flag twice. Fix: write it once";
        }
        *flag = true;
    }
    return NULL;
}

/* [v2 | v4] [l] letter */
static const char *take_type(const char *format, uint32_t *at, vy_conversion *c)
{
    c->components = 1;
    if (format[*at] == 'v') {
        char count = format[++*at];
        if (count != '2' && count != '4') {
            return "is of no vector that there is. Fix: write v2 or v4 in front of its letter";
        }
        c->components = (uint8_t)(count - '0');
        ++*at;
    }
    if (format[*at] == 'l') {
        c->is_long = true;
        ++*at;
    }
    c->letter = format[*at];
    *at += c->letter != '\0';
    switch (c->letter) {
    case 'i':
        c->letter = 'd';
        c->class = VY_CONVERSION_SIGNED;
        break;
    case 'd':
        c->class = VY_CONVERSION_SIGNED;
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        c->class = VY_CONVERSION_UNSIGNED;
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        c->class = VY_CONVERSION_FLOAT;
        break;
    case 'l':
        return "has an l too many. Fix: write one, which stands for 64 bits";
    case '\0':
        return "has no end. Fix: write its letter, or %% for the sign itself";
    case 'a':
    case 'A':
        return "would not be the same everywhere, since C leaves its first digit open. Fix: write "
               "%g, or print the bits by %x";
    case 'F':
        return "is none of ours. Fix: write %f";
    case 'c':
    case 's':
    case 'p':
    case 'n':
        return "is of C's texts and pointers, which programs do not have. Fix: write %u, %d, %x or "
               "%f";
    default:
        return "does not exist. Fix: write one of d i u x X o e E f g G, or %% for the sign itself";
    }
    return c->is_long && c->components > 1
               ? "is of a vector of 64 bits, which does not exist. Fix: leave out v or l"
               : NULL;
}

static const char *check_flags(const vy_conversion *c)
{
    if (c->is_left && c->has_zeros) {
        return "is filled by zeros and stands left. Fix: leave out 0 or -";
    }
    if (c->has_plus && c->has_blank) {
        return "has both + and a blank for its sign. Fix: leave one out";
    }
    if (c->class == VY_CONVERSION_UNSIGNED && (c->has_plus || c->has_blank)) {
        return "has a flag for its sign, and no sign. Fix: leave it out";
    }
    bool is_decimal = c->letter == 'd' || c->letter == 'u';
    if (is_decimal && c->is_alternate) {
        return "has no other form. Fix: leave out #";
    }
    if (c->has_zeros && c->precision >= 0 && c->class != VY_CONVERSION_FLOAT) {
        return "has a precision, which makes 0 mean nothing. Fix: leave one out";
    }
    return NULL;
}

static const char *take_conversion(const char *format, uint32_t *at, vy_conversion *c)
{
    *c = (vy_conversion){.begin = (*at)++, .precision = -1};
    const char *fault = take_flags(format, at, c);
    if (!fault && !take_number(format, at, &c->width)) {
        fault = "is wider than 64. Fix: write a smaller width";
    }
    if (!fault && format[*at] == '.') {
        uint32_t precision = 0;
        ++*at;
        if (!take_number(format, at, &precision)) {
            fault = "has a precision of more than 64. Fix: write a smaller one";
        }
        c->precision = (int)precision;
    }
    if (!fault) {
        fault = take_type(format, at, c);
    }
    c->end = *at;
    return fault ? fault : check_flags(c);
}

uint32_t vy_printf_parse(const char *format, vy_conversion out[VYRE_MAX_PRINTF_VALUES + 1],
                         const char **out_fault)
{
    uint32_t count = 0;
    *out_fault = NULL;
    for (uint32_t at = 0; format[at];) {
        if (format[at] != '%') {
            at++;
            continue;
        }
        if (format[at + 1] == '%') {
            at += 2;
            continue;
        }
        *out_fault = take_conversion(format, &at, &out[count]);
        if (!*out_fault && count == VYRE_MAX_PRINTF_VALUES) {
            *out_fault = "is the 17th, and there are at most 16. Fix: write two printf";
        }
        if (*out_fault) {
            return count;
        }
        count++;
    }
    return count;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

#define DIGITS_SIZE 400u

/* A number without its width: what comes before its digits, and they. */
typedef struct number {
    char sign[4]; /* -, +, blank, 0x */
    char digits[DIGITS_SIZE];
    bool is_filled; /* zeros may stand between the two */
} number;

static void put_integer(const vy_conversion *c, uint64_t value, number *n)
{
    unsigned base = c->letter == 'o' ? 8 : c->letter == 'x' || c->letter == 'X' ? 16 : 10;
    const char *digits = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char reversed[DIGITS_SIZE];
    int count = 0;
    for (uint64_t rest = value; rest; rest /= base) {
        reversed[count++] = digits[rest % base];
    }
    int least = c->precision >= 0 ? c->precision : 1;
    if (c->letter == 'o' && c->is_alternate && least <= count) {
        least = count + 1;
    }
    while (count < least) {
        reversed[count++] = '0';
    }
    for (int i = 0; i < count; i++) {
        n->digits[i] = reversed[count - 1 - i];
    }
    n->digits[count] = '\0';
    if (base == 16 && c->is_alternate && value) {
        snprintf(n->sign, sizeof n->sign, "0%c", c->letter);
    }
    n->is_filled = c->has_zeros;
}

static void put_sign(const vy_conversion *c, bool is_negative, number *n)
{
    const char *sign = is_negative ? "-" : c->has_plus ? "+" : c->has_blank ? " " : "";
    snprintf(n->sign, sizeof n->sign, "%s", sign);
}

/* The caller's locale may have another decimal point, even of several bytes. */
static void use_point(char *digits)
{
    char *to = digits;
    for (const char *from = digits; *from; from++) {
        bool is_own = is_digit(*from) || *from == 'e' || *from == 'E' || *from == '+' ||
                      *from == '-' || *from == '.';
        if (is_own) {
            *to++ = *from;
        } else if (to == digits || to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

/* No text of a format but these: each compiler can check them. */
static void put_digits(const vy_conversion *c, double value, number *n)
{
    int p = c->precision >= 0 ? c->precision : 6;
    char *out = n->digits;
    size_t size = sizeof n->digits;
    switch (c->letter) {
    case 'e':
        (void)(c->is_alternate ? snprintf(out, size, "%#.*e", p, value)
                               : snprintf(out, size, "%.*e", p, value));
        break;
    case 'E':
        (void)(c->is_alternate ? snprintf(out, size, "%#.*E", p, value)
                               : snprintf(out, size, "%.*E", p, value));
        break;
    case 'g':
        (void)(c->is_alternate ? snprintf(out, size, "%#.*g", p, value)
                               : snprintf(out, size, "%.*g", p, value));
        break;
    case 'G':
        (void)(c->is_alternate ? snprintf(out, size, "%#.*G", p, value)
                               : snprintf(out, size, "%.*G", p, value));
        break;
    default:
        (void)(c->is_alternate ? snprintf(out, size, "%#.*f", p, value)
                               : snprintf(out, size, "%.*f", p, value));
        break;
    }
    use_point(out);
}

/* All NaNs are one value, which has no sign. */
static void put_float(const vy_conversion *c, double value, bool is_negative, number *n)
{
    bool is_large = c->letter == 'E' || c->letter == 'G';
    if (value != value) {
        put_sign(c, false, n);
        snprintf(n->digits, sizeof n->digits, "%s", is_large ? "NAN" : "nan");
        return;
    }
    put_sign(c, is_negative, n);
    value = is_negative ? -value : value;
    if (value > 1.7976931348623157e308) {
        snprintf(n->digits, sizeof n->digits, "%s", is_large ? "INF" : "inf");
        return;
    }
    put_digits(c, value, n);
    n->is_filled = c->has_zeros;
}

static void put_word(const vy_conversion *c, uint64_t bits, number *n)
{
    *n = (number){.is_filled = false};
    if (c->class == VY_CONVERSION_UNSIGNED) {
        put_integer(c, bits, n);
    } else if (c->class == VY_CONVERSION_SIGNED) {
        bool is_negative = (bits >> (c->is_long ? 63 : 31) & 1) != 0;
        uint64_t magnitude = c->is_long || !is_negative ? bits : bits | 0xffffffff00000000u;
        put_integer(c, is_negative ? 0 - magnitude : magnitude, n);
        put_sign(c, is_negative, n);
    } else if (c->is_long) {
        double value;
        memcpy(&value, &bits, sizeof value);
        put_float(c, value, bits >> 63 != 0, n);
    } else {
        float value;
        uint32_t low = (uint32_t)bits;
        memcpy(&value, &low, sizeof value);
        put_float(c, (double)value, low >> 31 != 0, n);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

typedef struct line {
    char *out;
    size_t size;
} line;

static void put(line *l, const char *bytes, size_t size)
{
    size_t room = VY_PRINTF_LINE_SIZE - 1 - l->size;
    size = size < room ? size : room;
    memcpy(l->out + l->size, bytes, size);
    l->size += size;
}

static void put_times(line *l, char c, size_t count)
{
    for (; count > 0; count--) {
        put(l, &c, 1);
    }
}

static void put_number(line *l, const vy_conversion *c, uint64_t bits)
{
    number n;
    put_word(c, bits, &n);
    size_t length = strlen(n.sign) + strlen(n.digits);
    size_t fill = c->width > length ? c->width - length : 0;
    put_times(l, ' ', c->is_left || n.is_filled ? 0 : fill);
    put(l, n.sign, strlen(n.sign));
    put_times(l, '0', n.is_filled ? fill : 0);
    put(l, n.digits, strlen(n.digits));
    put_times(l, ' ', c->is_left ? fill : 0);
}

void vy_printf_write(const char *format, const uint32_t *words, uint32_t count,
                     char out[VY_PRINTF_LINE_SIZE])
{
    line l = {out, 0};
    uint32_t word = 0;
    for (uint32_t at = 0; format[at];) {
        vy_conversion c;
        if (format[at] != '%' || format[at + 1] == '%') {
            put(&l, &format[at], 1);
            at += format[at] == '%' ? 2 : 1;
            continue;
        }
        if (take_conversion(format, &at, &c)) {
            break;
        }
        for (uint32_t i = 0; i < c.components; i++) {
            uint64_t bits = word < count ? words[word] : 0;
            word++;
            if (c.is_long) {
                bits |= (uint64_t)(word < count ? words[word] : 0) << 32;
                word++;
            }
            put(&l, ", ", i ? 2 : 0);
            put_number(&l, &c, bits);
        }
    }
    out[l.size] = '\0';
}

/* ---- Through the layer -------------------------------------------------------------------------
 */

/* "vyre-printf NAME:LINE:COLUMN segment N pass %u execution %u invocation %u [%x %x] FORMAT", with
 * bytes that no format has in place of the format's `%`, so that the layer takes it as it is. */
#define MARK    "vyre-printf "
#define PERCENT '\x1f'
#define END     '\x1e'

void vy_printf_encode(vy_text *out, const vyre_printf_line *where, const char *format,
                      uint32_t word_count)
{
    vy_text_printf(out, MARK "%s:%u:%u segment %u pass %%u execution %%u invocation %%u [",
                   where->program, (unsigned)where->line, (unsigned)where->column,
                   (unsigned)where->segment);
    for (uint32_t i = 0; i < word_count; i++) {
        vy_text_printf(out, i ? " %%x" : "%%x");
    }
    vy_text_printf(out, "] ");
    for (; *format; format++) {
        char c = *format == '%' ? PERCENT : *format;
        vy_text_append(out, &c, 1);
    }
    const char end = END;
    vy_text_append(out, &end, 1);
}

/* Behind the text, and in front of a number, which it gives; NULL where there is none. */
static const char *take_field(const char *at, const char *text, int base, uint32_t *out)
{
    size_t length = strlen(text);
    if (!at || strncmp(at, text, length) != 0) {
        return NULL;
    }
    at += length;
    bool is_number = is_digit(*at) || (base == 16 && *at >= 'a' && *at <= 'f');
    char *end = NULL;
    *out = is_number ? (uint32_t)strtoul(at, &end, base) : 0;
    return is_number ? end : NULL;
}

static const char *take_name(const char *at, char out[VYRE_MAX_NAME + 1])
{
    size_t length = strcspn(at, ":");
    if (length == 0 || length > VYRE_MAX_NAME || at[length] != ':') {
        return NULL;
    }
    memcpy(out, at, length);
    out[length] = '\0';
    return at + length;
}

static bool take_format(const char *at, char out[VYRE_MAX_NAME + 1])
{
    size_t size = 0;
    for (; *at && *at != END; at++) {
        if (size == VYRE_MAX_NAME) {
            return false;
        }
        out[size++] = *at == PERCENT ? '%' : *at;
    }
    out[size] = '\0';
    return *at == END;
}

bool vy_printf_decode(const char *message, vy_printf_message *out)
{
    uint32_t words[VYRE_MAX_PRINTF_WORDS], count = 0;
    char format[VYRE_MAX_NAME + 1];
    const char *at = message ? strstr(message, MARK) : NULL;
    if (!at) {
        return false;
    }
    vyre_printf_line *l = &out->line;
    *l = (vyre_printf_line){.text = out->text, .program = out->program};
    at = take_name(at + strlen(MARK), out->program);
    at = take_field(at, ":", 10, &l->line);
    at = take_field(at, ":", 10, &l->column);
    at = take_field(at, " segment ", 10, &l->segment);
    at = take_field(at, " pass ", 10, &l->pass);
    at = take_field(at, " execution ", 10, &l->execution);
    at = take_field(at, " invocation ", 10, &l->invocation);
    if (!at || strncmp(at, " [", 2) != 0) {
        return false;
    }
    at++;
    while (at[1] != ']' && count < VYRE_MAX_PRINTF_WORDS) {
        at = take_field(at, count ? " " : "[", 16, &words[count]);
        if (!at) {
            return false;
        }
        count++;
        if (*at == ']') {
            break;
        }
    }
    at += *at == '[';
    if (strncmp(at, "] ", 2) != 0 || !take_format(at + 2, format)) {
        return false;
    }
    vy_printf_write(format, words, count, out->text);
    return true;
}

/* Formats of printf statements: their conversions, the lines that they make of values, and the one
 * form in which a line travels from a shader through the validation layer. The interpreter and the
 * engine format by the same code, so that a line is the same wherever the program ran: the layer
 * itself, whose ideas of 64 bits, of `%` and of locales differ with its version, only writes words.
 * Thread-safety: safe. */
#ifndef VY_BASE_PRINTF_H
#define VY_BASE_PRINTF_H

#include "codegen/base/base.h"
#include "vyre/program.h"

/* Room for every line, with its final zero: a format, and 32 words of which two make at most 375
 * characters (an f64 with 64 digits behind its point) and each a separator. */
#define VY_PRINTF_LINE_SIZE 8192u
#define VY_PRINTF_MAX_WIDTH 64u

typedef enum vy_conversion_class {
    VY_CONVERSION_SIGNED,
    VY_CONVERSION_UNSIGNED,
    VY_CONVERSION_FLOAT
} vy_conversion_class;

typedef struct vy_conversion {
    uint32_t begin, end;                                        /* in the format */
    uint8_t class;                                              /* vy_conversion_class */
    char letter;                                                /* d u x X o e E f g G */
    uint8_t components;                                         /* 1, 2 or 4 */
    bool is_long;                                               /* of 64 bits */
    bool is_left, has_zeros, has_plus, has_blank, is_alternate; /* flags - 0 + blank # */
    uint32_t width;
    int precision; /* -1: none */
} vy_conversion;

/* Words that its value takes. */
static inline uint32_t vy_conversion_words(const vy_conversion *conversion)
{
    return conversion->is_long ? 2u : conversion->components;
}

/* The conversions of a format, by their place in it. *out_fault: NULL, or what is wrong with the
 * one at [out[count].begin, out[count].end), in words for an error with its fix. */
uint32_t vy_printf_parse(const char *format, vy_conversion out[VYRE_MAX_PRINTF_VALUES + 1],
                         const char **out_fault);
/* The line of a format that vy_printf_parse took; words that are missing count as zero. */
void vy_printf_write(const char *format, const uint32_t *words, uint32_t count,
                     char out[VY_PRINTF_LINE_SIZE]);

/* ---- Through the layer ------------------------------------------------------------------------
 */

/* What a module gives the layer as its format, for the words pass, execution, invocation and so
 * many of values; `where` has what is known when it is made. */
void vy_printf_encode(vy_text *out, const vyre_printf_line *where, const char *format,
                      uint32_t word_count);

typedef struct vy_printf_message {
    vyre_printf_line line; /* its texts lie beside it */
    char program[VYRE_MAX_NAME + 1], text[VY_PRINTF_LINE_SIZE];
} vy_printf_message;

/* Whether what the layer says, perhaps with words of its own around it, is such a line. */
bool vy_printf_decode(const char *message, vy_printf_message *out);

#endif

/* f32 numbers as text: correctly rounded both ways, whatever the locale or the rounding mode of the
 * calling thread. */
#ifndef VY_NUMBER_H
#define VY_NUMBER_H

#include "codegen/base/base.h"

#define VY_F32_TEXT_SIZE 48

/* The bits of a decimal number (digits, '_', one '.', an exponent behind 'e'), rounded to nearest
 * even; infinity where it is too large. The text has that form already. */
uint32_t vy_number_read_decimal(const char *text, size_t length);
/* The same for a hexadecimal number behind its "0x", with an exponent behind 'p'. */
uint32_t vy_number_read_hex(const char *text, size_t length);
/* The shortest decimal text that reads back as these bits, with a '.' or an exponent. A finite
 * number without a sign. */
void vy_number_write_f32(uint32_t bits, char out[VY_F32_TEXT_SIZE]);

#endif

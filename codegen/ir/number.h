/* Floats as text: correctly rounded both ways, whatever the locale or the rounding mode of the
 * calling thread. */
#ifndef VY_NUMBER_H
#define VY_NUMBER_H

#include "codegen/base/base.h"
#include "vyre/program.h"

#define VY_FLOAT_TEXT_SIZE 48

/* The bits, as f16, f32 or f64, of a decimal number (digits, '_', one '.', an exponent behind 'e'),
 * rounded to nearest even; infinity where it is too large. The text has that form already. */
uint64_t vy_number_read_decimal(vyre_type type, const char *text, size_t length);
/* The same for a hexadecimal number behind its "0x", with an exponent behind 'p'. */
uint64_t vy_number_read_hex(vyre_type type, const char *text, size_t length);
/* The shortest decimal text that reads back as these bits, with a '.' or an exponent. A finite
 * number without a sign. */
void vy_number_write(vyre_type type, uint64_t bits, char out[VY_FLOAT_TEXT_SIZE]);
/* The value of f16, f32 or f64 bits, exactly. */
double vy_number_value(vyre_type type, uint64_t bits);
uint64_t vy_number_infinity(vyre_type type);

#endif

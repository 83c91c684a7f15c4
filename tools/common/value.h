/* Elements as text: literals, lists and generators of command lines. An element is its 32 bits. */
#ifndef VY_VALUE_H
#define VY_VALUE_H

#include "codegen/base/base.h"
#include "vyre/program.h"

#define VY_VALUE_TEXT_SIZE 64

/* Integers are decimal or 0x hexadecimal, f32 decimal (1.5, -2e-3), 0x1.8p3, inf or nan, bools 0,
 * 1, true or false. Errors: INVALID_ARGUMENT, naming the type. */
vyre_result vy_value_parse(const char *text, size_t length, vyre_type type, uint32_t *out_bits,
                           vyre_diag *diag);
/* Text that parses to the same bits, NaN payloads apart. */
void vy_value_format(vyre_type type, uint32_t bits, char out[VY_VALUE_TEXT_SIZE]);

/* "v, v, ..." (or nothing at all). The elements are freed with free(). */
vyre_result vy_list_parse(const char *text, vyre_type type, uint32_t **out_elements,
                          uint32_t *out_count, vyre_diag *diag);

/* zero | iota[:START[:STEP]] | fill:V | random:SEED[:LO:HI]: is it one of these names? */
bool vy_value_is_generator(const char *text);
/* The same elements on every machine. random: integers in [LO, HI), all of them by default; f32 in
 * [LO, HI), [0, 1) by default; bool either. */
vyre_result vy_value_generate(const char *text, vyre_type type, uint32_t *elements, uint32_t count,
                              vyre_diag *diag);

#endif

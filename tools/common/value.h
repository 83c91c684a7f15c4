/* Elements of every type as text: values, lists and generators of command lines. Arrays of elements
 * are bytes as they lie in the memory of a device: vyre_type_size each, little endian. */
#ifndef VY_VALUE_H
#define VY_VALUE_H

#include "codegen/base/base.h"
#include "vyre/program.h"

#define VY_VALUE_TEXT_SIZE 256

/* One element: the bits of each component (bool 0 or 1, bf16 its own 16 bits), zero above. */
typedef struct vy_value {
    uint64_t bits[4];
} vy_value;

vy_value vy_value_load(vyre_type type, const void *elements, size_t index);
/* Takes the low bits of each component. */
void vy_value_store(vyre_type type, void *elements, size_t index, const vy_value *value);

/* Integers are decimal or 0x hexadecimal (the bits), floats decimal (1.5, -2e-3), 0x1.8p3, inf or
 * nan, bools 0, 1, true or false; vectors their components with a ':' between two (1:2:3:4). Floats
 * are rounded to nearest even, bf16 by way of f32. Errors: INVALID_ARGUMENT, naming the type. */
vyre_result vy_value_parse(const char *text, size_t length, vyre_type type, vy_value *out_value,
                           vyre_diag *diag);
/* Text that parses to the same bits, NaN payloads apart. */
void vy_value_format(vyre_type type, const vy_value *value, char out[VY_VALUE_TEXT_SIZE]);
/* The same of one component, whose type is a scalar. */
void vy_scalar_format(vyre_type type, uint64_t bits, char out[VY_VALUE_TEXT_SIZE]);

/* bf16 too. */
bool vy_scalar_is_nan(vyre_type type, uint64_t bits);
/* The value of a float's bits, exactly. */
double vy_scalar_widen(vyre_type type, uint64_t bits);

/* "v, v, ..." (or nothing at all). The elements are freed with free(). */
vyre_result vy_list_parse(const char *text, vyre_type type, void **out_elements,
                          uint32_t *out_count, vyre_diag *diag);

/* zero | iota[:START[:STEP]] | fill:V | random:SEED[:LO:HI]: is it one of these names? */
bool vy_value_is_generator(const char *text);
/* The same elements on every machine. random: integers in [LO, HI), all of them by default; floats
 * in [LO, HI), [0, 1) by default; bool either. Of vectors, components one after the other take what
 * elements of their type would; fill takes one value for all components too. */
vyre_result vy_value_generate(const char *text, vyre_type type, void *elements, uint32_t count,
                              vyre_diag *diag);

#endif

/* NumPy's array files (.npy 1.0 to 3.0): little endian, C order. Elements as in value.h. */
#ifndef VY_NPY_H
#define VY_NPY_H

#include "codegen/base/base.h"
#include "vyre/program.h"

/* Takes the elements out of a file's bytes, which need not be trusted. dtype must be the one of
 * `type` or of its components: |u1 |i1 <u2 <i2 <u4 <i4 <u8 <i8 <f2 <f4 <f8; for bf16 <u2 (its bits)
 * or |V2; for bool |b1 or <u4. Any shape is taken as flat; a vector's components are its last
 * dimension, or one after the other in a single one. Elements are freed with free(). Errors:
 * INVALID_ARGUMENT, naming what is wrong and, for a dtype, both. */
vyre_result vy_npy_parse(const void *data, size_t size, vyre_type type, void **out_elements,
                         uint32_t *out_count, vyre_diag *diag);

/* Appends a version 1.0 file of one dimension, of vectors of two; bools as |b1, bf16 as <u2. */
void vy_npy_format(vyre_type type, const void *elements, uint32_t count, vy_text *out);

#endif

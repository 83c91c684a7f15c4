/* NumPy's array files (.npy 1.0 to 3.0): little endian, C order, any shape taken as flat. */
#ifndef VY_NPY_H
#define VY_NPY_H

#include "codegen/base/base.h"
#include "vyre/program.h"

/* Takes the elements out of a file's bytes, which need not be trusted. dtype must be the one of
 * `type`: <u4, <i4, <f4; for bool |b1 or <u4. Elements are freed with free(). Errors:
 * INVALID_ARGUMENT, naming what is wrong and, for a dtype, both. */
vyre_result vy_npy_parse(const void *data, size_t size, vyre_type type, uint32_t **out_elements,
                         uint32_t *out_count, vyre_diag *diag);

/* Appends a version 1.0 file of one dimension; bools as |b1. */
void vy_npy_format(vyre_type type, const uint32_t *elements, uint32_t count, vy_text *out);

#endif

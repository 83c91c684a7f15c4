/* Classes of bytes, numbered in the order of their first bytes. */
#ifndef VY_SCAN_CLASSES_H
#define VY_SCAN_CLASSES_H

#include "codegen/base/base.h"

/* Columns of a table of `count` rows of `width` that are equal throughout: out_classes[column] is
 * the number of its class, counted in the order of columns. Returns how many there are. */
uint32_t vy_columns_merge(const uint32_t *table, size_t count, uint32_t width,
                          uint32_t out_classes[256]);

#endif

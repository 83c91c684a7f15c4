/* Columns of tables that are the same. */
#include "engine/scan/classes.h"

static bool is_equal(const uint32_t *table, size_t count, uint32_t width, uint32_t a, uint32_t b)
{
    for (size_t row = 0; row < count; row++) {
        if (table[row * width + a] != table[row * width + b]) {
            return false;
        }
    }
    return true;
}

uint32_t vy_columns_merge(const uint32_t *table, size_t count, uint32_t width,
                          uint32_t out_classes[256])
{
    vy_hash hashes[256];
    uint32_t firsts[256], class_count = 0; /* of each class its first column */
    for (uint32_t c = 0; c < width; c++) {
        vy_hash_init(&hashes[c]);
    }
    for (size_t row = 0; row < count; row++) {
        for (uint32_t c = 0; c < width; c++) {
            vy_hash_u32(&hashes[c], table[row * width + c]);
        }
    }
    for (uint32_t c = 0; c < width; c++) {
        uint32_t at = 0;
        while (at < class_count && (hashes[firsts[at]].state != hashes[c].state ||
                                    !is_equal(table, count, width, firsts[at], c))) {
            at++;
        }
        if (at == class_count) {
            firsts[class_count++] = c;
        }
        out_classes[c] = at;
    }
    return class_count;
}

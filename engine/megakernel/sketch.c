/* Counting keys in few cells. */
#include "engine/megakernel/sketch.h"

vyre_result vy_mk_sketch_check(const vy_mk_sketch *sketch, uint32_t cell_count, vyre_diag *diag)
{
    uint32_t rows = sketch->row_count, columns = sketch->column_count;
    vy_diag_clear(diag);
    if (rows == 0 || rows > VY_MK_SKETCH_MAX_ROWS || columns == 0 ||
        columns > VY_MK_SKETCH_MAX_COLUMNS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a sketch has %u rows of %u cells. Fix: give it 1 to %u rows of 1 to %u",
                           rows, columns, VY_MK_SKETCH_MAX_ROWS, VY_MK_SKETCH_MAX_COLUMNS);
    }
    if (!sketch->cells || cell_count != rows * columns) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a sketch of %u rows of %u cells has memory for %u. Fix: pass the "
                           "memory and the shape that belong together",
                           rows, columns, sketch->cells ? cell_count : 0);
    }
    return VYRE_OK;
}

static uint32_t *cell_of(const vy_mk_sketch *sketch, uint32_t row, uint64_t key)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_u32(&hash, row);
    vy_hash_u64(&hash, key);
    uint64_t column = vy_hash_value(&hash) % sketch->column_count;
    return &sketch->cells[(size_t)row * sketch->column_count + (size_t)column];
}

static void add_to(uint32_t *cell, uint32_t count)
{
    *cell = count > UINT32_MAX - *cell ? UINT32_MAX : *cell + count;
}

void vy_mk_sketch_add(const vy_mk_sketch *sketch, uint64_t key, uint32_t count)
{
    for (uint32_t row = 0; row < sketch->row_count; row++) {
        add_to(cell_of(sketch, row, key), count);
    }
}

uint32_t vy_mk_sketch_estimate(const vy_mk_sketch *sketch, uint64_t key)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t row = 0; row < sketch->row_count; row++) {
        uint32_t count = *cell_of(sketch, row, key);
        least = count < least ? count : least;
    }
    return least;
}

vyre_result vy_mk_sketch_merge(const vy_mk_sketch *sketch, const vy_mk_sketch *other,
                               vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (sketch->row_count != other->row_count || sketch->column_count != other->column_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a sketch of %u rows of %u cells cannot take one of %u of %u. Fix: "
                           "merge sketches of one shape",
                           sketch->row_count, sketch->column_count, other->row_count,
                           other->column_count);
    }
    for (size_t i = 0; i < (size_t)sketch->row_count * sketch->column_count; i++) {
        add_to(&sketch->cells[i], other->cells[i]);
    }
    return VYRE_OK;
}

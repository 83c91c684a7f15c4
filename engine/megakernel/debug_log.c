/* The debug log: a cursor, and records that slots appended. */
#include "engine/megakernel/words.h"

#define CURSOR       0u
#define RECORDS      1u /* the first record's word */
#define RECORD_WORDS 4u
#define RECORD_SIZE  (4 * (size_t)RECORD_WORDS)

static const vy_loc nowhere = {0, 0};

vyre_result vyre_debug_log_query_size(uint32_t record_count, size_t *out_size, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_size) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_size is NULL. Fix: pass where the size goes");
    }
    if (record_count > VYRE_MAX_SLOTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%u records are more than the %u of a log. Fix: ask for fewer, and read "
                           "the log more often",
                           (unsigned)record_count, (unsigned)VYRE_MAX_SLOTS);
    }
    *out_size = 4 * (size_t)RECORDS + RECORD_SIZE * record_count;
    return VYRE_OK;
}

/* INVALID_ARGUMENT unless the bytes are a log with a cursor between records. */
static vyre_result check_log(const void *log, size_t size, vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(log, size, 4, "a debug log", diag);
    if (code != VYRE_OK) {
        return code;
    }
    size_t max_size = 4 * (size_t)RECORDS + RECORD_SIZE * VYRE_MAX_SLOTS;
    if (size % RECORD_SIZE != 4 * (size_t)RECORDS || size > max_size) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%zu bytes are no debug log, which has 4 and 16 for each of at most %u "
                           "records. Fix: pass as many as vyre_debug_log_query_size says",
                           size, (unsigned)VYRE_MAX_SLOTS);
    }
    uint32_t cursor = vy_mk_get(log, CURSOR);
    if (cursor % RECORD_WORDS != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the debug log's cursor is %u, which lies within a record of 4 words. "
                           "Fix: set it to 0 before the launch, and let nothing but PRINTF move it",
                           (unsigned)cursor);
    }
    return VYRE_OK;
}

vyre_result vyre_debug_log_read(const void *log, size_t size, vyre_debug_record *out_records,
                                uint32_t capacity, uint32_t *out_count, uint32_t *out_lost_count,
                                vyre_diag *diag)
{
    vyre_result code = check_log(log, size, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!out_count || (capacity && !out_records)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_count or out_records is NULL. Fix: pass where the records go");
    }
    uint32_t reserved = vy_mk_get(log, CURSOR) / RECORD_WORDS;
    uint32_t room = (uint32_t)(size / RECORD_SIZE);
    uint32_t lost = reserved > room ? reserved - room : 0;
    if (lost && !out_lost_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the debug log has room for %u records, and %u more were lost. Fix: "
                           "make it larger, or pass out_lost_count to read what there is",
                           (unsigned)room, (unsigned)lost);
    }
    uint32_t count = reserved - lost;
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        size_t at = RECORDS + (size_t)RECORD_WORDS * i;
        out_records[i] =
            (vyre_debug_record){.format = vy_mk_get(log, at),
                                .args = {vy_mk_get(log, at + 1), vy_mk_get(log, at + 2)},
                                .slot_word = vy_mk_get(log, at + 3)};
    }
    *out_count = count;
    if (out_lost_count) {
        *out_lost_count = lost;
    }
    return VYRE_OK;
}

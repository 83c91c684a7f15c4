/* The debug log: sizes, records, what was lost, and bytes that are no log. */
#include "codegen/base/base.h"
#include "vyre/megakernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOM 3u /* records of the log of most tests */

typedef struct log3 {
    uint32_t words[1 + 4 * ROOM];
} log3;

/* Record i: 100 + i, 200 + i, 300 + i, 16 * i. */
static log3 make_log(uint32_t cursor)
{
    log3 log = {{cursor, 100, 200, 300, 0, 101, 201, 301, 16, 102, 202, 302, 32}};
    return log;
}

static void expect_record(const vyre_debug_record *record, uint32_t i)
{
    assert_int_equal(record->format, 100 + i);
    assert_int_equal(record->args[0], 200 + i);
    assert_int_equal(record->args[1], 300 + i);
    assert_int_equal(record->slot_word, 16 * i);
}

static void expect_bytes(const void *memory, size_t size, unsigned char value)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(bytes[i], value);
    }
}

static void test_debug_log_size_is_a_word_and_four_for_each_record(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        size_t size;
    } rows[] = {
        {0, 4}, {1, 20}, {2, 36}, {63, 1012}, {64, 1028}, {1048575, 16777204}, {1048576, 16777220}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        size_t size = 1;
        vyre_diag diag;
        assert_int_equal(vyre_debug_log_query_size(rows[i].count, &size, &diag), VYRE_OK);
        assert_int_equal(diag.code, VYRE_OK);
        assert_int_equal(size, rows[i].size);
    }
    assert_int_equal(VYRE_DEBUG_LOG_LENGTH, 64);
}

static void test_debug_log_size_refuses_more_records(void **state)
{
    (void)state;
    size_t size = 1;
    vyre_diag diag;
    assert_int_equal(vyre_debug_log_query_size(1048577, &size, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(diag.code, VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message,
                        "1048577 records are more than the 1048576 of a log. Fix: ask "
                        "for fewer, and read the log more often");
    assert_int_equal(vyre_debug_log_query_size(0xffffffff, &size, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(size, 1);
    assert_int_equal(vyre_debug_log_query_size(1, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message, "out_size is NULL. Fix: pass where the size goes");
}

static void test_debug_log_read_gives_records_in_order(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= ROOM; count++) {
        for (uint32_t capacity = 0; capacity <= ROOM + 1; capacity++) {
            log3 log = make_log(4 * count);
            vyre_debug_record records[ROOM + 1];
            uint32_t found = 9, lost = 9;
            vyre_diag diag;
            memset(records, 0xee, sizeof records);
            assert_int_equal(
                vyre_debug_log_read(&log, sizeof log, records, capacity, &found, &lost, &diag),
                VYRE_OK);
            assert_int_equal(diag.code, VYRE_OK);
            assert_int_equal(found, count);
            assert_int_equal(lost, 0);
            uint32_t given = count < capacity ? count : capacity;
            for (uint32_t i = 0; i < given; i++) {
                expect_record(&records[i], i);
            }
            expect_bytes(records + given, sizeof records - given * sizeof *records, 0xee);
            assert_int_equal(
                vyre_debug_log_read(&log, sizeof log, records, capacity, &found, NULL, NULL),
                VYRE_OK);
            log3 same = make_log(4 * count);
            assert_memory_equal(&log, &same, sizeof log);
        }
    }
}

static void test_debug_log_read_counts_before_it_is_given_room(void **state)
{
    (void)state;
    log3 log = make_log(8);
    uint32_t found = 9;
    assert_int_equal(vyre_debug_log_read(&log, sizeof log, NULL, 0, &found, NULL, NULL), VYRE_OK);
    assert_int_equal(found, 2);
}

static void test_debug_log_read_of_the_default_length(void **state)
{
    (void)state;
    uint32_t words[257] = {256};
    for (uint32_t i = 1; i < 257; i++) {
        words[i] = i;
    }
    vyre_debug_record records[64];
    uint32_t found = 0, lost = 9;
    assert_int_equal(sizeof words, 1028);
    assert_int_equal(vyre_debug_log_read(words, sizeof words, records, 64, &found, &lost, NULL),
                     VYRE_OK);
    assert_int_equal(found, 64);
    assert_int_equal(lost, 0);
    assert_int_equal(records[63].format, 253);
    assert_int_equal(records[63].args[0], 254);
    assert_int_equal(records[63].args[1], 255);
    assert_int_equal(records[63].slot_word, 256);
}

static void test_debug_log_read_is_little_endian(void **state)
{
    (void)state;
    const unsigned char bytes[20] = {4, 0, 0, 0,    0x78, 0x56, 0x34, 0x12, 0xff, 0,
                                     0, 0, 0, 0xff, 0,    0,    0xfe, 0xff, 0xff, 0xff};
    uint32_t memory[5];
    memcpy(memory, bytes, sizeof memory);
    vyre_debug_record record;
    uint32_t found = 0;
    assert_int_equal(vyre_debug_log_read(memory, sizeof memory, &record, 1, &found, NULL, NULL),
                     VYRE_OK);
    assert_int_equal(found, 1);
    assert_int_equal(record.format, 0x12345678);
    assert_int_equal(record.args[0], 0xff);
    assert_int_equal(record.args[1], 0xff00);
    assert_int_equal(record.slot_word, 0xfffffffe);
}

static void test_debug_log_read_counts_what_was_lost(void **state)
{
    (void)state;
    static const struct {
        uint32_t cursor, lost;
    } rows[] = {{12, 0}, {16, 1}, {20, 2}, {4000, 997}, {0xfffffffc, 0x3ffffffc}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        log3 log = make_log(rows[i].cursor);
        vyre_debug_record records[ROOM];
        uint32_t found = 9, lost = 9;
        assert_int_equal(vyre_debug_log_read(&log, sizeof log, records, ROOM, &found, &lost, NULL),
                         VYRE_OK);
        assert_int_equal(found, ROOM);
        assert_int_equal(lost, rows[i].lost);
        for (uint32_t r = 0; r < ROOM; r++) {
            expect_record(&records[r], r);
        }
    }
    uint32_t empty[1] = {8}, found = 9, lost = 9;
    assert_int_equal(vyre_debug_log_read(empty, sizeof empty, NULL, 0, &found, &lost, NULL),
                     VYRE_OK);
    assert_int_equal(found, 0);
    assert_int_equal(lost, 2);
}

/* One refused read, with everything that could be written looked at. */
static void expect_refused(const void *log, size_t size, uint32_t *out_lost, const char *message)
{
    vyre_debug_record records[ROOM];
    uint32_t found = 9;
    vyre_diag diag;
    memset(records, 0xee, sizeof records);
    assert_int_equal(vyre_debug_log_read(log, size, records, ROOM, &found, out_lost, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(diag.code, VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message, message);
    assert_int_equal(found, 9);
    expect_bytes(records, sizeof records, 0xee);
    assert_int_equal(vyre_debug_log_read(log, size, records, ROOM, &found, out_lost, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_debug_log_read_refuses_losses_that_nobody_counts(void **state)
{
    (void)state;
    log3 log = make_log(16);
    expect_refused(&log, sizeof log, NULL,
                   "the debug log has room for 3 records, and 1 more were lost. Fix: make it "
                   "larger, or pass out_lost_count to read what there is");
}

static void test_debug_log_read_refuses_a_cursor_within_a_record(void **state)
{
    (void)state;
    static const struct {
        uint32_t cursor;
        const char *message;
    } rows[] = {
        {1, "the debug log's cursor is 1, which lies within a record of 4 words. Fix: set it to 0 "
            "before the launch, and let nothing but PRINTF move it"},
        {11, "the debug log's cursor is 11, which lies within a record of 4 words. Fix: set it to "
             "0 before the launch, and let nothing but PRINTF move it"},
        {14, "the debug log's cursor is 14, which lies within a record of 4 words. Fix: set it to "
             "0 before the launch, and let nothing but PRINTF move it"},
        {0xffffffff, "the debug log's cursor is 4294967295, which lies within a record of 4 words. "
                     "Fix: set it to 0 before the launch, and let nothing but PRINTF move it"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        log3 log = make_log(rows[i].cursor);
        uint32_t lost = 9;
        expect_refused(&log, sizeof log, &lost, rows[i].message);
        assert_int_equal(lost, 9);
    }
}

/* Of all beginnings of a log those are logs that end behind a record; memory of exactly that size
 * shows reads beyond it. */
static void test_debug_log_read_of_every_beginning(void **state)
{
    (void)state;
    log3 whole = make_log(12);
    for (size_t size = 0; size <= sizeof whole; size++) {
        void *log = malloc(size ? size : 1);
        vyre_debug_record records[ROOM];
        uint32_t found = 9, lost = 9;
        vyre_diag diag;
        assert_non_null(log);
        memcpy(log, &whole, size);
        bool is_log = size % 16 == 4;
        assert_int_equal(vyre_debug_log_read(log, size, records, ROOM, &found, &lost, &diag),
                         is_log ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(found, is_log ? size / 16 : 9);
        assert_int_equal(lost, is_log ? ROOM - size / 16 : 9);
        assert_true(is_log || strstr(diag.message, ". Fix: "));
        free(log);
    }
}

static void test_debug_log_read_refuses_sizes_and_memory(void **state)
{
    (void)state;
    log3 log = make_log(0);
    uint32_t lost = 9;
    expect_refused(&log, 0, &lost,
                   "0 bytes are no debug log, which has 4 and 16 for each of at most 1048576 "
                   "records. Fix: pass as many as vyre_debug_log_query_size says");
    expect_refused(&log, 24, &lost,
                   "24 bytes are no debug log, which has 4 and 16 for each of at most 1048576 "
                   "records. Fix: pass as many as vyre_debug_log_query_size says");
    /* The size is looked at before the memory. */
    expect_refused(&log, 16777220 + 16, &lost,
                   "16777236 bytes are no debug log, which has 4 and 16 for each of at most "
                   "1048576 records. Fix: pass as many as vyre_debug_log_query_size says");
    expect_refused(&log, 21, &lost,
                   "21 bytes are not a debug log, which has a multiple of 4. Fix: pass all of it, "
                   "and nothing else");
    expect_refused(NULL, 20, &lost, "the memory of a debug log is NULL. Fix: pass 20 bytes");
    expect_refused((const char *)&log + 1, 20, &lost,
                   "the memory of a debug log is not aligned to 4 bytes. Fix: copy it to where it "
                   "is");
    assert_int_equal(lost, 9);
}

static void test_debug_log_read_refuses_missing_outputs(void **state)
{
    (void)state;
    log3 log = make_log(4);
    vyre_debug_record record;
    uint32_t found = 9;
    vyre_diag diag;
    const char *message = "out_count or out_records is NULL. Fix: pass where the records go";
    memset(&record, 0xee, sizeof record);
    assert_int_equal(vyre_debug_log_read(&log, sizeof log, &record, 1, NULL, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message, message);
    expect_bytes(&record, sizeof record, 0xee);
    assert_int_equal(vyre_debug_log_read(&log, sizeof log, NULL, 1, &found, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message, message);
    assert_int_equal(found, 9);
}

static void test_debug_log_read_of_the_largest(void **state)
{
    (void)state;
    uint32_t *words = calloc(16777220, 1);
    vyre_debug_record record;
    uint32_t found = 0;
    assert_non_null(words);
    words[0] = 4 * 1048576;
    words[1] = 3;
    assert_int_equal(vyre_debug_log_read(words, 16777220, &record, 1, &found, NULL, NULL), VYRE_OK);
    assert_int_equal(found, 1048576);
    assert_int_equal(record.format, 3);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debug_log_size_is_a_word_and_four_for_each_record),
        cmocka_unit_test(test_debug_log_size_refuses_more_records),
        cmocka_unit_test(test_debug_log_read_gives_records_in_order),
        cmocka_unit_test(test_debug_log_read_counts_before_it_is_given_room),
        cmocka_unit_test(test_debug_log_read_of_the_default_length),
        cmocka_unit_test(test_debug_log_read_is_little_endian),
        cmocka_unit_test(test_debug_log_read_counts_what_was_lost),
        cmocka_unit_test(test_debug_log_read_refuses_losses_that_nobody_counts),
        cmocka_unit_test(test_debug_log_read_refuses_a_cursor_within_a_record),
        cmocka_unit_test(test_debug_log_read_of_every_beginning),
        cmocka_unit_test(test_debug_log_read_refuses_sizes_and_memory),
        cmocka_unit_test(test_debug_log_read_refuses_missing_outputs),
        cmocka_unit_test(test_debug_log_read_of_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The control buffer: sizes, every encoded word, strict and lenient readers. */
#include "codegen/base/base.h"
#include "vyre/megakernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS 163u /* of the buffer of most tests: three observables */

/* What nothing may be left at. */
static void fill(void *memory, size_t size)
{
    memset(memory, 0xee, size);
}

static void expect_filled(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(bytes[i], 0xee);
    }
}

static void expect_error(vyre_result code, const vyre_diag *diag, const char *message)
{
    assert_int_equal(code, VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(diag->code, VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag->message, message);
}

/* ---- Size ------------------------------------------------------------------------------------ */

static void test_control_size_is_160_words_and_the_observables(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        size_t size;
    } rows[] = {{0, 640}, {1, 644}, {7, 668}, {1048575, 4194940}, {1048576, 4194944}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        size_t size = 1;
        vyre_diag diag;
        assert_int_equal(vyre_control_query_size(rows[i].count, &size, &diag), VYRE_OK);
        assert_int_equal(diag.code, VYRE_OK);
        assert_int_equal(size, rows[i].size);
    }
}

static void test_control_size_refuses_more_observables(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1048577, 0x3fffffff, 0xffffff5f, 0xffffff60, 0xffffffff};
    size_t size = 1;
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        assert_int_equal(vyre_control_query_size(counts[i], &size, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(vyre_control_query_size(counts[i], &size, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(size, 1);
    }
    expect_error(vyre_control_query_size(1048577, &size, &diag), &diag,
                 "1048577 observables are more than the 1048576 of a control buffer. Fix: ask for "
                 "fewer, and keep large results in buffers of their own");
    expect_error(vyre_control_query_size(0, NULL, &diag), &diag,
                 "out_size is NULL. Fix: pass where the size goes");
}

/* ---- Encoding -------------------------------------------------------------------------------- */

/* A buffer between words of its neighbours. */
typedef struct encoded {
    uint32_t before, words[WORDS], behind;
} encoded;

static void encode(encoded *e, const vyre_control_params *params)
{
    vyre_diag diag;
    fill(e, sizeof *e);
    assert_int_equal(vyre_control_encode(params, e->words, sizeof e->words, &diag), VYRE_OK);
    assert_int_equal(diag.code, VYRE_OK);
    assert_int_equal(e->before, 0xeeeeeeee);
    assert_int_equal(e->behind, 0xeeeeeeee);
}

/* Word by word what the table says, for that many tenants, with `offsets` at 129. */
static void expect_encoded(const encoded *e, uint32_t shutdown, uint32_t tenant_count,
                           const uint32_t offsets[6])
{
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t wanted = 0;
        if (w == 0) {
            wanted = shutdown;
        } else if (w == 2) {
            wanted = 3;
        } else if (w >= 3 && w < 3 + tenant_count) {
            wanted = 0xffffffff;
        } else if (w >= 32 && w < 32 + tenant_count) {
            wanted = 1000000;
        } else if (w >= 129 && w <= 134) {
            wanted = offsets[w - 129];
        }
        if (e->words[w] != wanted) {
            fail_msg("word %u is %u, not %u", (unsigned)w, (unsigned)e->words[w], (unsigned)wanted);
        }
    }
}

static const uint32_t no_offsets[6];

static void test_control_encode_by_default(void **state)
{
    (void)state;
    encoded e;
    encode(&e, NULL);
    expect_encoded(&e, 0, 1, no_offsets);
    assert_int_equal(e.words[3], 0xffffffff);
    assert_int_equal(e.words[4], 0);
    assert_int_equal(e.words[32], 1000000);
    assert_int_equal(e.words[33], 0);
    vyre_control_params params;
    fill(&params, sizeof params);
    vyre_control_params_init(&params);
    assert_int_equal(params.struct_size, 16);
    encode(&e, &params);
    expect_encoded(&e, 0, 1, no_offsets);
}

static void test_control_encode_of_every_tenant_count(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 29; count++) {
        encoded e;
        vyre_control_params params = {.struct_size = sizeof params, .tenant_count = count};
        encode(&e, &params);
        expect_encoded(&e, 0, count ? count : 1, no_offsets);
    }
    encoded e;
    vyre_control_params all = {.struct_size = sizeof all, .tenant_count = 29};
    encode(&e, &all);
    assert_int_equal(e.words[31], 0xffffffff); /* the last mask, before the first quota */
    assert_int_equal(e.words[60], 1000000);
    assert_int_equal(e.words[61], 0);
    assert_int_equal(e.words[64], 0);
}

static void test_control_encode_of_shutdown_is_one(void **state)
{
    (void)state;
    static const int values[] = {1, -1, 0x100};
    for (size_t i = 0; i < VY_COUNT_OF(values); i++) {
        encoded e;
        vyre_control_params params = {.struct_size = sizeof params, .shutdown = values[i]};
        encode(&e, &params);
        expect_encoded(&e, 1, 1, no_offsets);
    }
}

static void test_control_encode_of_priority_offsets(void **state)
{
    (void)state;
    static const struct {
        uint32_t slot_count, offsets[6];
    } rows[] = {
        {0, {0, 0, 0, 0, 0, 0}},
        {1, {0, 0, 0, 1, 1, 1}},
        {4, {0, 0, 0, 4, 4, 4}},
        {5, {0, 1, 2, 3, 4, 5}},
        {6, {0, 1, 2, 4, 5, 6}},
        {64, {0, 12, 24, 40, 52, 64}},
        {1048575, {0, 209715, 419430, 629145, 838860, 1048575}},
        {1048576, {0, 209715, 419430, 629146, 838861, 1048576}},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        encoded e;
        vyre_control_params params = {.struct_size = sizeof params,
                                      .slot_count = rows[i].slot_count};
        encode(&e, &params);
        expect_encoded(&e, 0, 1, rows[i].offsets);
    }
}

static void test_control_encode_is_little_endian(void **state)
{
    (void)state;
    uint32_t words[160];
    vyre_control_params params = {.struct_size = sizeof params, .shutdown = 1};
    assert_int_equal(vyre_control_encode(&params, words, sizeof words, NULL), VYRE_OK);
    const unsigned char *bytes = (const unsigned char *)words;
    static const unsigned char first[12] = {1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0};
    static const unsigned char quota[4] = {0x40, 0x42, 0x0f, 0};
    assert_memory_equal(bytes, first, sizeof first);
    assert_memory_equal(bytes + 128, quota, sizeof quota);
}

/* Every size up to a few observables, in memory of exactly that size. */
static void test_control_encode_of_every_size(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 4 * (size_t)WORDS; size++) {
        void *control = malloc(size ? size : 1);
        vyre_diag diag;
        assert_non_null(control);
        fill(control, size);
        bool is_size = size >= 640 && size % 4 == 0;
        assert_int_equal(vyre_control_encode(NULL, control, size, &diag),
                         is_size ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT);
        if (is_size) {
            assert_int_equal(vyre_control_find(control, size, 2), 3);
            assert_int_equal(vyre_control_find(control, size, (uint32_t)(size / 4) - 1), 0);
        } else {
            assert_non_null(strstr(diag.message, ". Fix: "));
            expect_filled(control, size);
        }
        free(control);
    }
}

static void test_control_encode_of_the_largest(void **state)
{
    (void)state;
    unsigned char *control = malloc(4194948);
    vyre_diag diag;
    assert_non_null(control);
    fill(control, 4194948);
    assert_int_equal(vyre_control_encode(NULL, control, 4194944, NULL), VYRE_OK);
    expect_filled(control + 4194944, 4);
    assert_int_equal(vyre_control_find(control, 4194944, 160 + 1048575), 0);
    fill(control, 4194948);
    expect_error(vyre_control_encode(NULL, control, 4194948, &diag), &diag,
                 "4194948 bytes are no control buffer, which has 640 to 4194944. Fix: pass as many "
                 "as vyre_control_query_size says");
    expect_filled(control, 4194948);
    free(control);
}

static void expect_encode_refused(const vyre_control_params *params, void *control, size_t size,
                                  const char *message)
{
    vyre_diag diag;
    expect_error(vyre_control_encode(params, control, size, &diag), &diag, message);
    assert_int_equal(vyre_control_encode(params, control, size, NULL), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_control_encode_refuses_with_the_buffer_as_it_was(void **state)
{
    (void)state;
    uint32_t words[WORDS];
    vyre_control_params params = {.struct_size = sizeof params, .tenant_count = 30};
    fill(words, sizeof words);
    expect_encode_refused(&params, words, sizeof words,
                          "30 tenants are more than the 29 that there are masks for. Fix: let some "
                          "of them share a tenant");
    params.tenant_count = 0xffffffff;
    expect_encode_refused(&params, words, sizeof words,
                          "4294967295 tenants are more than the 29 that there are masks for. Fix: "
                          "let some of them share a tenant");
    params = (vyre_control_params){.struct_size = sizeof params, .slot_count = 1048577};
    expect_encode_refused(&params, words, sizeof words,
                          "1048577 slots are more than the 1048576 of a ring. Fix: use several "
                          "rings, each with a control buffer");
    expect_encode_refused(NULL, words, 636,
                          "636 bytes are no control buffer, which has 640 to 4194944. Fix: pass as "
                          "many as vyre_control_query_size says");
    expect_encode_refused(NULL, words, 0,
                          "0 bytes are no control buffer, which has 640 to 4194944. Fix: pass as "
                          "many as vyre_control_query_size says");
    expect_encode_refused(NULL, words, 641,
                          "641 bytes are not a control buffer, which has a multiple of 4. Fix: "
                          "pass all of it, and nothing else");
    expect_encode_refused(NULL, (char *)words + 2, 640,
                          "the memory of a control buffer is not aligned to 4 bytes. Fix: copy it "
                          "to where it is");
    expect_encode_refused(NULL, NULL, 640,
                          "the memory of a control buffer is NULL. Fix: pass 640 bytes");
    expect_filled(words, sizeof words);
}

typedef struct later_params {
    vyre_control_params known;
    uint32_t more;
} later_params;

static void test_control_encode_reads_params_of_other_versions(void **state)
{
    (void)state;
    encoded e;
    vyre_control_params first = {.struct_size = 0, .tenant_count = 2};
    encode(&e, &first);
    expect_encoded(&e, 0, 2, no_offsets);
    later_params later = {{.struct_size = sizeof later, .tenant_count = 3}, 0};
    encode(&e, &later.known);
    expect_encoded(&e, 0, 3, no_offsets);
    fill(e.words, sizeof e.words);
    later.more = 1;
    expect_encode_refused(&later.known, e.words, sizeof e.words,
                          "vyre_control_params has 20 bytes, of which this library knows 16, and "
                          "byte 16 is not zero. Fix: leave new members at their default, or use a "
                          "newer library");
    vyre_control_params shorter = {.struct_size = 15};
    expect_encode_refused(&shorter, e.words, sizeof e.words,
                          "vyre_control_params.struct_size is 15, and the struct never had fewer "
                          "than 16 bytes. Fix: call vyre_control_params_init, or set it to "
                          "sizeof(vyre_control_params)");
    expect_filled(e.words, sizeof e.words);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Each word says where it is. */
static void make_drained(uint32_t words[WORDS])
{
    for (uint32_t w = 0; w < WORDS; w++) {
        words[w] = 1000 + w;
    }
}

static void test_control_read_takes_each_word_from_its_place(void **state)
{
    (void)state;
    uint32_t words[WORDS], same[WORDS];
    vyre_control_report report;
    vyre_diag diag;
    make_drained(words);
    make_drained(same);
    fill(&report, sizeof report);
    assert_int_equal(vyre_control_read(words, sizeof words, &report, &diag), VYRE_OK);
    assert_int_equal(diag.code, VYRE_OK);
    assert_int_equal(report.shutdown, 1);
    assert_int_equal(report.done_count, 1001);
    assert_int_equal(report.epoch, 1128);
    assert_int_equal(report.cursor, 1141);
    assert_int_equal(report.denied_count, 1142);
    assert_int_equal(report.fault_count, 1143);
    assert_int_equal(report.fault_slot, 0xfffff - (1144 >> 8));
    assert_int_equal(report.fault_code, 1144 & 0xff);
    assert_int_equal(report.unknown_count, 1146);
    assert_int_equal(report.requeue_count, 1147);
    assert_memory_equal(words, same, sizeof words);
}

static void test_control_read_of_a_fresh_buffer(void **state)
{
    (void)state;
    encoded e;
    vyre_control_report report;
    encode(&e, NULL);
    assert_int_equal(vyre_control_read(e.words, sizeof e.words, &report, NULL), VYRE_OK);
    assert_int_equal(report.shutdown, 0);
    assert_int_equal(report.done_count, 0);
    assert_int_equal(report.fault_slot, VYRE_DIAG_NONE);
    assert_int_equal(report.fault_code, 0);
    assert_int_equal(report.cursor, 0);
}

static void test_control_read_of_fault_slots(void **state)
{
    (void)state;
    uint32_t words[160] = {0};
    vyre_control_report report;
    assert_int_equal(vyre_control_read(words, sizeof words, &report, NULL), VYRE_OK);
    assert_int_equal(report.fault_slot, VYRE_DIAG_NONE);
    assert_int_equal(report.fault_code, VYRE_FAULT_NONE);
    words[144] = 0xfffff << 8 | VYRE_FAULT_BOUNDS;
    assert_int_equal(vyre_control_read(words, sizeof words, &report, NULL), VYRE_OK);
    assert_int_equal(report.fault_slot, 0);
    assert_int_equal(report.fault_code, VYRE_FAULT_BOUNDS);
    words[144] = VYRE_FAULT_HANDLER;
    assert_int_equal(vyre_control_read(words, sizeof words, &report, NULL), VYRE_OK);
    assert_int_equal(report.fault_slot, 1048575);
    assert_int_equal(report.fault_code, VYRE_FAULT_HANDLER);
}

/* The beginnings of a buffer, in memory of exactly that size, on every reader. */
static void test_control_readers_on_every_beginning(void **state)
{
    (void)state;
    uint32_t words[WORDS];
    make_drained(words);
    for (size_t size = 0; size <= sizeof words; size++) {
        void *control = malloc(size ? size : 1);
        vyre_control_report report;
        vyre_opcode_count counts[VYRE_METRIC_COUNT];
        uint32_t count = 9, value = 9;
        vyre_diag diag;
        assert_non_null(control);
        memcpy(control, words, size);
        fill(&report, sizeof report);
        fill(counts, sizeof counts);
        bool has = size % 4 == 0 && size >= 592; /* word 147 */
        assert_int_equal(vyre_control_read(control, size, &report, &diag),
                         has ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT);
        if (!has) {
            assert_non_null(strstr(diag.message, ". Fix: "));
            expect_filled(&report, sizeof report);
        }
        has = size % 4 == 0 && size >= 512; /* word 127 */
        assert_int_equal(vyre_control_read_metrics(control, size, counts, &count, &diag),
                         has ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(count, has ? 32 : 9);
        if (!has) {
            assert_non_null(strstr(diag.message, ". Fix: "));
            expect_filled(counts, sizeof counts);
        }
        has = size % 4 == 0 && size >= 648; /* word 161 */
        assert_int_equal(vyre_control_read_observable(control, size, 1, &value, &diag),
                         has ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(value, has ? 1161 : 9);
        assert_true(has || strstr(diag.message, ". Fix: "));
        for (uint32_t w = 0; w <= WORDS; w++) {
            assert_int_equal(vyre_control_find(control, size, w), w < size / 4 ? 1000 + w : 0);
        }
        free(control);
    }
}

static void test_control_readers_say_what_is_wrong(void **state)
{
    (void)state;
    uint32_t words[WORDS], count = 9, value = 9;
    vyre_control_report report;
    vyre_opcode_count counts[VYRE_METRIC_COUNT];
    vyre_diag diag;
    make_drained(words);
    const char *misaligned = "the memory of a control buffer is not aligned to 4 bytes. Fix: copy "
                             "it to where it is";
    const char *odd = "639 bytes are not a control buffer, which has a multiple of 4. Fix: pass "
                      "all of it, and nothing else";
    const char *none = "the memory of a control buffer is NULL. Fix: pass 640 bytes";
    const void *off = (const char *)words + 1;
    expect_error(vyre_control_read(words, 588, &report, &diag), &diag,
                 "the control buffer has 147 words, and word 147 is asked for. Fix: read all of it "
                 "back from the device");
    expect_error(vyre_control_read(words, 639, &report, &diag), &diag, odd);
    expect_error(vyre_control_read(NULL, 640, &report, &diag), &diag, none);
    expect_error(vyre_control_read(off, 640, &report, &diag), &diag, misaligned);
    expect_error(vyre_control_read(words, 640, NULL, &diag), &diag,
                 "out_report is NULL. Fix: pass where the report goes");
    expect_error(vyre_control_read_metrics(words, 508, counts, &count, &diag), &diag,
                 "the control buffer has 127 words, and word 127 is asked for. Fix: read all of it "
                 "back from the device");
    expect_error(vyre_control_read_metrics(words, 639, counts, &count, &diag), &diag, odd);
    expect_error(vyre_control_read_metrics(NULL, 640, counts, &count, &diag), &diag, none);
    expect_error(vyre_control_read_metrics(off, 640, counts, &count, &diag), &diag, misaligned);
    expect_error(vyre_control_read_metrics(words, 640, NULL, &count, &diag), &diag,
                 "out_counts or out_count is NULL. Fix: pass where they go");
    expect_error(vyre_control_read_metrics(words, 640, counts, NULL, &diag), &diag,
                 "out_counts or out_count is NULL. Fix: pass where they go");
    expect_error(vyre_control_read_observable(words, 639, 0, &value, &diag), &diag, odd);
    expect_error(vyre_control_read_observable(NULL, 640, 0, &value, &diag), &diag, none);
    expect_error(vyre_control_read_observable(off, 644, 0, &value, &diag), &diag, misaligned);
    expect_error(vyre_control_read_observable(words, sizeof words, 0, NULL, &diag), &diag,
                 "out_value is NULL. Fix: pass where the value goes");
    assert_int_equal(vyre_control_read(words, 588, &report, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(count, 9);
    assert_int_equal(value, 9);
}

static void test_control_observables_end_with_the_buffer(void **state)
{
    (void)state;
    uint32_t words[WORDS], value = 9;
    static const uint32_t beyond[] = {3, 4, 0x3fffff60, 0xffffff5f, 0xffffff60, 0xffffffff};
    vyre_diag diag;
    make_drained(words);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(vyre_control_read_observable(words, sizeof words, i, &value, &diag),
                         VYRE_OK);
        assert_int_equal(diag.code, VYRE_OK);
        assert_int_equal(value, 1160 + i);
    }
    for (size_t i = 0; i < VY_COUNT_OF(beyond); i++) {
        assert_int_equal(vyre_control_read_observable(words, sizeof words, beyond[i], &value, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
    expect_error(vyre_control_read_observable(words, sizeof words, 3, &value, &diag), &diag,
                 "observable 3 is asked for, and the control buffer has 3. Fix: make it with more "
                 "observables, or ask for one that it has");
    expect_error(vyre_control_read_observable(words, 640, 0, &value, &diag), &diag,
                 "observable 0 is asked for, and the control buffer has 0. Fix: make it with more "
                 "observables, or ask for one that it has");
    expect_error(vyre_control_read_observable(NULL, 0, 0xffffffff, &value, &diag), &diag,
                 "observable 4294967295 is asked for, and the control buffer has 0. Fix: make it "
                 "with more observables, or ask for one that it has");
    assert_int_equal(value, 1162);
}

static void test_control_metrics_are_those_that_ran(void **state)
{
    (void)state;
    uint32_t words[160] = {0}, count = 9;
    vyre_opcode_count counts[VYRE_METRIC_COUNT];
    vyre_diag diag;
    fill(counts, sizeof counts);
    words[95] = 1; /* neighbours of the window */
    words[128] = 1;
    assert_int_equal(vyre_control_read_metrics(words, sizeof words, counts, &count, &diag),
                     VYRE_OK);
    assert_int_equal(diag.code, VYRE_OK);
    assert_int_equal(count, 0);
    expect_filled(counts, sizeof counts);
    words[96] = 5;
    words[103] = 0xffffffff;
    words[127] = 2;
    assert_int_equal(vyre_control_read_metrics(words, sizeof words, counts, &count, NULL), VYRE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(counts[0].opcode, 0);
    assert_int_equal(counts[0].count, 5);
    assert_int_equal(counts[1].opcode, 7);
    assert_int_equal(counts[1].count, 0xffffffff);
    assert_int_equal(counts[2].opcode, 31);
    assert_int_equal(counts[2].count, 2);
    expect_filled(counts + 3, sizeof counts - 3 * sizeof *counts);
}

static void test_control_find_is_lenient(void **state)
{
    (void)state;
    uint32_t words[WORDS];
    make_drained(words);
    assert_int_equal(vyre_control_find(words, sizeof words, 0), 1000);
    assert_int_equal(vyre_control_find(words, sizeof words, WORDS - 1), 1162);
    assert_int_equal(vyre_control_find(words, sizeof words, WORDS), 0);
    assert_int_equal(vyre_control_find(words, sizeof words - 1, WORDS - 1), 0);
    assert_int_equal(vyre_control_find(words, sizeof words, 0xffffffff), 0);
    assert_int_equal(vyre_control_find(words, 0, 0), 0);
    assert_int_equal(vyre_control_find(NULL, 640, 0), 0);
    assert_int_equal(vyre_control_find((const char *)words + 4, 4, 0), 1001);
}

static void test_control_words_are_the_protocols(void **state)
{
    (void)state;
    static const struct {
        int word, is;
    } rows[] = {
        {VYRE_CONTROL_SHUTDOWN, 0},
        {VYRE_CONTROL_DONE_COUNT, 1},
        {VYRE_CONTROL_TENANT_BASE, 2},
        {VYRE_CONTROL_TENANT_MASKS, 3},
        {VYRE_CONTROL_TENANT_QUOTAS, 32},
        {VYRE_CONTROL_TENANT_FAIRNESS, 64},
        {VYRE_CONTROL_METRICS, 96},
        {VYRE_CONTROL_EPOCH, 128},
        {VYRE_CONTROL_PRIORITY_OFFSETS, 129},
        {VYRE_CONTROL_PRIORITY_STARVATION, 135},
        {VYRE_CONTROL_PRIORITY_FAIRNESS, 136},
        {VYRE_CONTROL_CURSOR, 141},
        {VYRE_CONTROL_DENIED_COUNT, 142},
        {VYRE_CONTROL_FAULT_COUNT, 143},
        {VYRE_CONTROL_FIRST_FAULT, 144},
        {VYRE_CONTROL_UNKNOWN_COUNT, 146},
        {VYRE_CONTROL_REQUEUE_COUNT, 147},
        {VYRE_CONTROL_OBSERVABLES, 160},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_int_equal(rows[i].word, rows[i].is);
    }
    assert_int_equal(VYRE_MAX_TENANTS, 29);
    assert_int_equal(VYRE_METRIC_COUNT, 32);
    assert_int_equal(VYRE_MAX_OBSERVABLES, 1048576);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_size_is_160_words_and_the_observables),
        cmocka_unit_test(test_control_size_refuses_more_observables),
        cmocka_unit_test(test_control_encode_by_default),
        cmocka_unit_test(test_control_encode_of_every_tenant_count),
        cmocka_unit_test(test_control_encode_of_shutdown_is_one),
        cmocka_unit_test(test_control_encode_of_priority_offsets),
        cmocka_unit_test(test_control_encode_is_little_endian),
        cmocka_unit_test(test_control_encode_of_every_size),
        cmocka_unit_test(test_control_encode_of_the_largest),
        cmocka_unit_test(test_control_encode_refuses_with_the_buffer_as_it_was),
        cmocka_unit_test(test_control_encode_reads_params_of_other_versions),
        cmocka_unit_test(test_control_read_takes_each_word_from_its_place),
        cmocka_unit_test(test_control_read_of_a_fresh_buffer),
        cmocka_unit_test(test_control_read_of_fault_slots),
        cmocka_unit_test(test_control_readers_on_every_beginning),
        cmocka_unit_test(test_control_readers_say_what_is_wrong),
        cmocka_unit_test(test_control_observables_end_with_the_buffer),
        cmocka_unit_test(test_control_metrics_are_those_that_ran),
        cmocka_unit_test(test_control_find_is_lenient),
        cmocka_unit_test(test_control_words_are_the_protocols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

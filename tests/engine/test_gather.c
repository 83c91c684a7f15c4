/* Many small ranges of a transfer, which one dispatch each way moves. The layer judges their
 * barriers by the words that the tables name. */
#include "engine/memory/transfer_moves.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAX_RANGES 80u
#define MAX_BYTES  2400u

/* Ranges of buffers of their own, there and back; guards around each tell of stray words. */
typedef struct ranges {
    vyre_buffer buffers[MAX_RANGES];
    uint32_t count, offset, sizes[MAX_RANGES];
    unsigned char bytes[MAX_RANGES][MAX_BYTES], seen[MAX_RANGES][MAX_BYTES];
    vyre_upload uploads[MAX_RANGES];
    vyre_download downloads[MAX_RANGES];
    vyre_transfer_params params;
} ranges;

#define GUARD 16u

static void fill_lists(ranges *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        r->uploads[i] = (vyre_upload){r->buffers[i], r->offset, r->sizes[i], r->bytes[i]};
        r->downloads[i] = (vyre_download){r->buffers[i], r->offset, r->sizes[i], r->seen[i]};
    }
    r->params = (vyre_transfer_params){.upload_count = r->count,
                                       .download_count = r->count,
                                       .uploads = r->uploads,
                                       .downloads = r->downloads};
}

static void ranges_init(vyre_device *device, ranges *r, uint32_t count, const uint32_t *sizes,
                        uint32_t size_count)
{
    r->count = count;
    r->offset = GUARD;
    for (uint32_t i = 0; i < count; i++) {
        r->sizes[i] = sizes[i % size_count];
        r->buffers[i] = engine_buffer(device, (r->sizes[i] + 3) / 4 * 4 + 2 * GUARD, NULL);
    }
    fill_lists(r);
}

static void ranges_finish(vyre_device *device, ranges *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        vyre_diag diag;
        assert_int_equal(vyre_buffer_destroy(device, &r->buffers[i], &diag), VYRE_OK);
    }
}

static void fill_bytes(ranges *r, uint32_t seed)
{
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t b = 0; b < r->sizes[i]; b++) {
            r->bytes[i][b] = (unsigned char)(((i * 977 + b) * 2654435761u + seed * 40503u) >> 11);
        }
    }
    memset(r->seen, 0xee, sizeof r->seen);
}

static void assert_seen(const ranges *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        assert_memory_equal(r->seen[i], r->bytes[i], r->sizes[i]);
        if (r->sizes[i] < MAX_BYTES) {
            assert_int_equal(r->seen[i][r->sizes[i]], 0xee);
        }
    }
}

static void ranges_run(vyre_device *device, ranges *r, uint32_t seed)
{
    vyre_diag diag;
    fill_bytes(r, seed);
    layer_clear_events();
    if (vyre_transfer(device, &r->params, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_seen(r);
    assert_int_equal(layer_count(LAYER_SUBMIT), 1);
}

/* What no transfer has touched. */
static void assert_guards(vyre_device *device, const ranges *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        vyre_diag diag;
        unsigned char guards[2][GUARD], zeros[GUARD] = {0};
        uint32_t end = r->offset + (r->sizes[i] + 3) / 4 * 4;
        memset(guards, 0xee, sizeof guards);
        assert_int_equal(vyre_buffer_download(device, r->buffers[i], 0, guards[0], GUARD, &diag),
                         VYRE_OK);
        assert_int_equal(vyre_buffer_download(device, r->buffers[i], end, guards[1], GUARD, &diag),
                         VYRE_OK);
        assert_memory_equal(guards[0], zeros, GUARD);
        assert_memory_equal(guards[1], zeros, GUARD);
    }
}

/* The kernels are made once there was enough to move. */
static void make_kernels(vyre_device *device)
{
    static ranges r;
    const uint32_t size = 4;
    ranges_init(device, &r, 16, &size, 1);
    ranges_run(device, &r, 0);
    assert_int_equal(layer_count(LAYER_DISPATCH), 2);
    ranges_finish(device, &r);
}

static void test_gathers_move_all_numbers_and_sizes(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const uint32_t counts[] = {2, 3, 16, 64, 65};
    static const struct {
        uint32_t sizes[5], count;
    } mixes[] = {{{4}, 1}, {{16}, 1}, {{4, 12, 128, 8, 60}, 5}, {{248, 4}, 2}};
    static ranges r;
    vyre_device *device = engine_open(0);
    make_kernels(device);
    for (uint32_t i = 0; i < 5 * 4; i++) {
        ranges_init(device, &r, counts[i / 4], mixes[i % 4].sizes, mixes[i % 4].count);
        for (uint32_t round = 0; round < 3; round++) {
            ranges_run(device, &r, 10 * i + round);
            bool is_first = round == 0 && layer_count(LAYER_BEGIN) == 1;
            assert_int_equal(layer_count(LAYER_BEGIN), is_first);
            assert_int_equal(layer_count(LAYER_DISPATCH), is_first ? 2 : 0);
            assert_int_equal(layer_count(LAYER_BARRIER), is_first ? 3 : 0);
            assert_int_equal(layer_count(LAYER_COPY), 0);
        }
        assert_guards(device, &r);
        ranges_finish(device, &r);
    }
    assert_int_equal(layer_unjudged(), 0);
    engine_close(&device);
}

/* Bytes among words, and what is too large, go by themselves: those before and behind together. */
static void test_others_among_them_go_by_themselves(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const uint32_t bytes[] = {16, 16, 7, 16, 16}, large[] = {16, 16, 2052, 2048, 16},
                          alone[] = {5, 16};
    static ranges r;
    vyre_device *device = engine_open(0);
    make_kernels(device);
    /* All in one buffer, so that they come in this order. */
    static const struct {
        const uint32_t *sizes;
        uint32_t count, dispatches, copies;
    } cases[] = {{bytes, 5, 4, 2}, {large, 5, 6, 0}, {alone, 2, 2, 2}, {bytes, 2, 2, 0}};
    for (uint32_t i = 0; i < 4; i++) {
        vyre_buffer all = engine_buffer(device, 8192, NULL);
        uint32_t at = 0;
        r.count = cases[i].count;
        for (uint32_t k = 0; k < r.count; k++) {
            r.sizes[k] = cases[i].sizes[k];
            r.buffers[k] = all;
        }
        fill_lists(&r);
        for (uint32_t k = 0; k < r.count; k++) {
            r.uploads[k].offset = r.downloads[k].offset = at;
            at += (r.sizes[k] + 3) / 4 * 4 + 8;
        }
        ranges_run(device, &r, i);
        assert_int_equal(layer_count(LAYER_DISPATCH), cases[i].dispatches);
        assert_int_equal(layer_count(LAYER_COPY), cases[i].copies);
        vyre_diag diag;
        assert_int_equal(vyre_buffer_destroy(device, &all, &diag), VYRE_OK);
    }
    engine_close(&device);
}

/* 500 words each: 8 make a gather, and the tables of one submission have an end. */
static void test_gathers_have_an_end(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        uint32_t count, dispatches;
    } cases[] = {{8, 2}, {9, 4}, {10, 4}, {16, 4}, {40, 12 + 40}};
    const uint32_t size = 2000;
    static ranges r;
    vyre_device *device = engine_open(0);
    make_kernels(device);
    for (uint32_t i = 0; i < 5; i++) {
        ranges_init(device, &r, cases[i].count, &size, 1);
        ranges_run(device, &r, i);
        assert_int_equal(layer_count(LAYER_DISPATCH), cases[i].dispatches);
        ranges_run(device, &r, i + 10);
        assert_int_equal(layer_count(LAYER_BEGIN), 0);
        assert_guards(device, &r);
        ranges_finish(device, &r);
    }
    engine_close(&device);
}

/* How words are divided into ranges, and where these lie, is in the tables alone. */
static void test_recordings_serve_other_ranges(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        uint32_t count, size;
        bool is_again;
    } cases[] = {{16, 16, true},   {8, 32, true},   {64, 4, true},  {65, 8, true},
                 {64, 16, true},   {64, 20, false}, {80, 16, true}, {2, 1020, true},
                 {2, 1028, false}, {16, 16, false}, {1, 16, false}, {2, 16, false}};
    static ranges r;
    const uint32_t most = 1028;
    vyre_device *device = engine_open(0);
    ranges_init(device, &r, MAX_RANGES, &most, 1); /* fills, and so records */
    make_kernels(device);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r.count = cases[i].count;
        for (uint32_t k = 0; k < r.count; k++) {
            r.sizes[k] = cases[i].size;
        }
        r.offset = 4 * (i % 3);
        fill_lists(&r);
        ranges_run(device, &r, i);
        if (cases[i].is_again == (layer_count(LAYER_BEGIN) != 0)) {
            fail_msg("case %u: recorded %u times", (unsigned)i, (unsigned)layer_count(LAYER_BEGIN));
        }
    }
    r.count = MAX_RANGES;
    ranges_finish(device, &r);
    engine_close(&device);
}

/* All that the block says stays the same, and the table does not. */
static void test_inner_ranges_are_written_anew(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const uint32_t inner[] = {32, 48, 48, 64, 32};
    static ranges r;
    const uint32_t size = 512;
    vyre_device *device = engine_open(0);
    ranges_init(device, &r, 1, &size, 1);
    make_kernels(device);
    r.count = 3;
    for (uint32_t k = 0; k < 3; k++) {
        r.buffers[k] = r.buffers[0];
        r.sizes[k] = 12;
    }
    for (uint32_t i = 0; i < 5; i++) {
        vyre_diag diag;
        uint32_t word = 0;
        fill_lists(&r);
        r.uploads[0].offset = r.downloads[0].offset = 0;
        r.uploads[1].offset = r.downloads[1].offset = inner[i];
        r.uploads[2].offset = r.downloads[2].offset = 200;
        ranges_run(device, &r, i);
        assert_int_equal(layer_count(LAYER_BEGIN), i == 0 ? 0 : 1); /* after the last one below */
        ranges_run(device, &r, i + 100);
        assert_int_equal(layer_count(LAYER_BEGIN), 0);
        r.uploads[1].offset = r.downloads[1].offset = inner[i] + 20;
        ranges_run(device, &r, i + 200);
        assert_int_equal(layer_count(LAYER_BEGIN), 0);
        assert_int_equal(vyre_buffer_download(device, r.buffers[0], inner[i] + 4, &word, 4, &diag),
                         VYRE_OK);
        fill_bytes(&r, i + 100);
        assert_memory_equal(&word, &r.bytes[1][4], 4);
    }
    r.count = 1;
    ranges_finish(device, &r);
    engine_close(&device);
}

/* The same again: nothing is allocated, recorded or bound, by the host or by Vulkan. */
static void test_steady_gathers_allocate_nothing(void **state)
{
    (void)state;
    NEED_DEVICE();
    static vy_fail_allocator memory;
    static ranges r;
    const uint32_t size = 16;
    vyre_device_params params;
    memory = (vy_fail_allocator){0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.allocator = &allocator;
    vyre_device *device = engine_open_with(&params);
    ranges_init(device, &r, 64, &size, 1);
    ranges_run(device, &r, 0);
    ranges_run(device, &r, 1);
    size_t calls = memory.calls;
    int64_t alive = layer_alive();
    for (uint32_t round = 2; round < 20; round++) {
        ranges_run(device, &r, round);
        assert_int_equal(layer_count(LAYER_BEGIN) + layer_count(LAYER_DISPATCH), 0);
    }
    assert_int_equal(memory.calls, calls);
    assert_int_equal(layer_alive(), alive);
    ranges_finish(device, &r);
    engine_close(&device);
}

/* Fills, copies and gathers of one transfer, each behind what it needs. */
static void test_gathers_wait_for_what_they_read(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    make_kernels(device);
    vyre_buffer a = engine_buffer(device, 256, NULL), b = engine_buffer(device, 256, NULL);
    uint32_t dispatches = 0;
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t words[2][2] = {{round + 10, 11}, {12, round + 13}}, seen[4][3];
        vyre_fill fill = {a, 0, 256, round + 5};
        vyre_upload uploads[2] = {{a, 16, 8, words[0]}, {a, 64, 8, words[1]}};
        vyre_copy copies[2] = {{a, b, 12, 100, 12}, {a, b, 64, 32, 12}};
        vyre_download downloads[4] = {{b, 100, 12, seen[0]},
                                      {b, 32, 12, seen[1]},
                                      {a, 16, 12, seen[2]},
                                      {a, 60, 12, seen[3]}};
        vyre_transfer_params params = {.fill_count = 1,
                                       .upload_count = 2,
                                       .copy_count = 2,
                                       .download_count = 4,
                                       .fills = &fill,
                                       .uploads = uploads,
                                       .copies = copies,
                                       .downloads = downloads};
        vyre_diag diag;
        layer_clear_events();
        assert_int_equal(vyre_transfer(device, &params, &diag), VYRE_OK);
        const uint32_t wanted[4][3] = {{round + 5, round + 10, 11},
                                       {12, round + 13, round + 5},
                                       {round + 10, 11, round + 5},
                                       {round + 5, 12, round + 13}};
        assert_memory_equal(seen, wanted, sizeof wanted);
        assert_int_equal(layer_count(LAYER_COPY), 0);
        assert_int_equal(layer_count(LAYER_FILL), 0);
        /* What of a is read needs no barrier, and may come before it or behind. */
        dispatches += layer_count(LAYER_DISPATCH);
        assert_int_equal(layer_count(LAYER_BEGIN), round == 0);
    }
    assert_true(dispatches == 1 + 1 + 2 + 1 || dispatches == 1 + 1 + 2 + 2);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &a, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_destroy(device, &b, &diag), VYRE_OK);
    assert_int_equal(layer_unjudged(), 0);
    engine_close(&device);
}

/* Whatever fails the first time, the second time is right. */
static void test_any_failure_of_the_first_is_survived(void **state)
{
    (void)state;
    NEED_DEVICE();
    static ranges r;
    const uint32_t size = 16;
    uint32_t failures = 0, done_without = 0;
    bool has_failed = true;
    for (uint32_t n = 1; has_failed; n++) {
        vyre_device *device = engine_open(0);
        vyre_diag diag;
        ranges_init(device, &r, 16, &size, 1);
        fill_bytes(&r, n);
        layer_clear_events();
        layer.fail_at = layer_fallible_calls() + n;
        layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
        vyre_result code = vyre_transfer(device, &r.params, &diag);
        has_failed = layer_fallible_calls() >= layer.fail_at;
        layer.fail_at = 0;
        if (code == VYRE_OK) {
            assert_seen(&r);
            done_without += has_failed && layer_count(LAYER_COPY) > 0;
        } else {
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(r.seen[0][0], 0xee);
            failures++;
        }
        ranges_run(device, &r, n + 1000);
        assert_guards(device, &r);
        ranges_finish(device, &r);
        engine_close(&device);
    }
    assert_true(failures >= 4);
    assert_true(done_without >= 9); /* module, layout and pipeline of each of three kernels */
}

/* ---- How steps are put together -------------------------------------------------------------- */

#define HANDLE(number) ((VkBuffer)(uintptr_t)(number))

/* Copies of 4 words out of staging to these addresses. */
static uint32_t parts_of(const VkDeviceAddress *targets, uint32_t count, vy_part *out_parts)
{
    static vy_transfer t;
    vy_step steps[8];
    const vy_moves moves = {.steps = count};
    t = (vy_transfer){.upload = {.buffer = HANDLE(1)}, .blocks = {.address = 0x7000}};
    for (uint32_t i = 0; i < count; i++) {
        steps[i] = (vy_step){.source = HANDLE(1),
                             .target = HANDLE(2 + i),
                             .size = 16,
                             .source_address = 0x1000 + 16 * (VkDeviceAddress)i,
                             .target_address = targets[i]};
    }
    const vy_steps list = {.steps = steps, .count = count, .is_alone = true};
    vy_cursor c = vy_moves_begin(&t, &list, &moves);
    uint32_t parts = 0;
    while (vy_moves_next(&c, &out_parts[parts])) {
        parts++;
    }
    return parts;
}

static void test_spans_stay_below_2_30_words(void **state)
{
    (void)state;
    const VkDeviceAddress low = 0x100000000u, most = (VkDeviceAddress)4 << 30;
    vy_part parts[8];
    /* The last word's place is 2^30 - 2, then 2^30 - 1 with a span that is no longer below. */
    const VkDeviceAddress near[] = {low + most - 4 - 16, low, low + 64};
    assert_int_equal(parts_of(near, 3, parts), 1);
    assert_int_equal(parts[0].steps, 3);
    assert_int_equal(parts[0].move.count, 12);
    assert_int_equal(parts[0].move.source, 0x1000);
    assert_int_equal(parts[0].move.source_span, 12);
    assert_int_equal(parts[0].move.target, low);
    assert_int_equal(parts[0].move.target_span, 0x3fffffff);
    assert_int_equal(parts[0].move.table, 0x7000);
    const VkDeviceAddress far[] = {low, low + most - 16, low + most, low + 16, low + 32};
    assert_int_equal(parts_of(far, 5, parts), 3);
    assert_int_equal(parts[0].steps, 1);
    assert_int_equal(parts[0].move.table, 0);
    assert_int_equal(parts[0].move.count, 4);
    assert_int_equal(parts[1].steps, 2);
    assert_int_equal(parts[1].move.target, low + most - 16);
    assert_int_equal(parts[1].move.source, 0x1010);
    assert_int_equal(parts[1].move.source_span, 8);
    assert_int_equal(parts[1].move.target_span, 8);
    assert_int_equal(parts[2].steps, 2);
    assert_int_equal(parts[2].move.table, 0x7000 + 8 * 8);
}

/* The commands are kept throughout; what they read is not the same list each time. */
static void test_a_shorter_list_and_the_longer_one_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const uint32_t counts[] = {16, 8, 16, 16, 5, 8, 16};
    uint32_t sent[16][4], seen[16][8] = {{0}};
    vyre_diag diag;
    vyre_device *device = engine_open(0);
    make_kernels(device);
    vyre_buffer buffer = engine_buffer(device, sizeof seen, NULL);
    vyre_upload uploads[16];
    for (uint32_t i = 0; i < 16; i++) {
        uploads[i] = (vyre_upload){buffer, i * sizeof seen[i], sizeof sent[i], sent[i]};
    }
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        vyre_transfer_params params = {.upload_count = counts[i], .uploads = uploads};
        for (uint32_t w = 0; w < 64; w++) {
            sent[w / 4][w % 4] = 1000 * i + w;
        }
        layer_clear_events();
        assert_int_equal(vyre_transfer(device, &params, &diag), VYRE_OK);
        assert_int_equal(layer_count(LAYER_DISPATCH), i == 0);
    }
    assert_int_equal(vyre_buffer_download(device, buffer, 0, seen, sizeof seen, &diag), VYRE_OK);
    for (uint32_t i = 0; i < 16; i++) {
        assert_memory_equal(seen[i], sent[i], sizeof sent[i]);
        assert_int_equal(seen[i][4], 0);
    }
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_close(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_gathers_move_all_numbers_and_sizes),
        T(test_others_among_them_go_by_themselves),
        T(test_gathers_have_an_end),
        T(test_recordings_serve_other_ranges),
        T(test_inner_ranges_are_written_anew),
        T(test_a_shorter_list_and_the_longer_one_again),
        T(test_steady_gathers_allocate_nothing),
        T(test_gathers_wait_for_what_they_read),
        T(test_any_failure_of_the_first_is_survived),
        cmocka_unit_test(test_spans_stay_below_2_30_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Transfers: plans as pure functions against a slow model, then lists of them on a device. */
#include "engine/memory/transfer_plan.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS      4096u
#define MAX_RANGES 24u
#define SPACE      64u /* bytes of each key in the models */

static uint32_t random_below(uint64_t *state, uint32_t count)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % count;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static vy_range random_range(uint64_t *state, uint32_t keys)
{
    uint32_t offset = random_below(state, SPACE);
    uint32_t size = random_below(state, 4) ? random_below(state, 9) : 0;
    if (offset + size > SPACE) {
        size = SPACE - offset;
    }
    return (vy_range){random_below(state, keys), offset, size};
}

/* Each byte that is in a range is in one region, regions hold nothing else, touch nothing, and each
 * range lies in its own. */
static void test_fuse_covers_ranges_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t random = seed;
        vy_range ranges[MAX_RANGES];
        vy_placed_range placed[MAX_RANGES];
        vy_region regions[MAX_RANGES];
        uint32_t region_of[MAX_RANGES];
        vy_fused fused;
        unsigned char wanted[3][SPACE + 1] = {{0}}, got[3][SPACE + 1] = {{0}};
        uint32_t count = random_below(&random, MAX_RANGES + 1);
        uint32_t keys = 1 + random_below(&random, 3);
        for (uint32_t i = 0; i < count; i++) {
            ranges[i] = random_range(&random, keys);
            placed[i] = (vy_placed_range){ranges[i], i};
            memset(&wanted[ranges[i].key][ranges[i].offset], 1, ranges[i].size);
        }
        assert_true(vy_fuse(placed, count, regions, region_of, &fused));
        uint64_t end = 0;
        for (uint32_t r = 0; r < fused.region_count; r++) {
            const vy_range *range = &regions[r].range;
            assert_true(range->size > 0);
            assert_true(regions[r].start >= end && regions[r].start % VY_REGION_ALIGNMENT == 0);
            end = regions[r].start + range->size;
            for (uint64_t b = range->offset; b < range->offset + range->size; b++) {
                assert_int_equal(got[range->key][b], 0);
                got[range->key][b] = 1;
            }
            assert_int_equal(got[range->key][range->offset + range->size], 0);
        }
        assert_int_equal(fused.size, end);
        assert_memory_equal(wanted, got, sizeof wanted);
        for (uint32_t i = 0; i < count; i++) {
            if (ranges[i].size == 0) {
                assert_int_equal(region_of[i], VY_NO_REGION);
                continue;
            }
            const vy_range *own = &regions[region_of[i]].range;
            assert_int_equal(own->key, ranges[i].key);
            assert_true(own->offset <= ranges[i].offset);
            assert_true(ranges[i].offset + ranges[i].size <= own->offset + own->size);
            assert_true(vy_regions_cover(regions, fused.region_count, &ranges[i]));
        }
        vy_range any = random_range(&random, keys);
        if (any.size > 0) {
            bool covered = true;
            for (uint64_t b = any.offset; b < any.offset + any.size; b++) {
                covered = covered && wanted[any.key][b];
            }
            assert_int_equal(vy_regions_cover(regions, fused.region_count, &any), covered);
        }
    }
}

static void test_fuse_refuses_more_than_2_to_the_63(void **state)
{
    (void)state;
    vy_placed_range ranges[] = {
        {{1, 0, (uint64_t)1 << 62}, 0}, {{2, 5, (uint64_t)1 << 62}, 1}, {{3, 0, 1}, 2}};
    vy_region regions[3];
    uint32_t region_of[3];
    vy_fused fused;
    assert_false(vy_fuse(ranges, 3, regions, region_of, &fused));
}

static bool conflict(const vy_access *a, const vy_access *b)
{
    return vy_ranges_overlap(&a->write, &b->write) || vy_ranges_overlap(&a->write, &b->read) ||
           vy_ranges_overlap(&a->read, &b->write);
}

/* Against every pair: a barrier stands exactly where the next command would meet one behind the
 * last barrier. */
static void test_barriers_are_those_needed(void **state)
{
    (void)state;
    static vy_point points[4 * MAX_RANGES];
    static uint32_t words[32 * MAX_RANGES];
    vy_hazard_room room = {points, words};
    uint32_t barriers = 0, free_ones = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t random = seed * 977;
        vy_access accesses[MAX_RANGES];
        bool got[MAX_RANGES];
        uint32_t count = random_below(&random, MAX_RANGES + 1);
        uint32_t keys = 1 + random_below(&random, 3);
        for (uint32_t i = 0; i < count; i++) {
            accesses[i].read = random_range(&random, keys);
            accesses[i].write = random_range(&random, keys);
            if (random_below(&random, 2)) {
                (random_below(&random, 2) ? &accesses[i].read : &accesses[i].write)->size = 0;
            }
        }
        vy_find_barriers(accesses, count, &room, got);
        uint32_t since = 0;
        for (uint32_t i = 0; i < count; i++) {
            bool needed = false;
            for (uint32_t before = since; before < i; before++) {
                needed = needed || conflict(&accesses[before], &accesses[i]);
            }
            if (got[i] != needed) {
                fail_msg("seed %u, command %u: %d", (unsigned)seed, (unsigned)i, got[i]);
            }
            since = needed ? i : since;
            barriers += needed;
            free_ones += !needed;
        }
    }
    assert_true(barriers > 1000 && free_ones > 1000);
}

/* ---- On a device -------------------------------------------------------------------------------
 */

static void test_transfer_is_one_submission_and_one_wait(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { OUTPUTS = 16 };
    vyre_device *device = engine_open(1);
    vyre_buffer buffers[OUTPUTS];
    uint32_t words[OUTPUTS][8], results[OUTPUTS][8];
    vyre_upload uploads[OUTPUTS];
    vyre_download downloads[OUTPUTS];
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        buffers[i] = engine_buffer(device, sizeof words[i], NULL);
        for (uint32_t k = 0; k < 8; k++) {
            words[i][k] = 100 * i + k;
        }
        uploads[i] = (vyre_upload){buffers[i], 0, sizeof words[i], words[i]};
        downloads[i] = (vyre_download){buffers[i], 0, sizeof words[i], results[i]};
    }
    vyre_transfer_params params;
    vyre_transfer_params_init(&params);
    params.upload_count = params.download_count = OUTPUTS;
    params.uploads = uploads;
    params.downloads = downloads;
    for (int round = 0; round < 3; round++) {
        memset(results, 0, sizeof results);
        vyre_device_counters before = engine_counters(device);
        layer_clear_events();
        must_transfer(device, &params);
        vyre_device_counters after = engine_counters(device);
        assert_memory_equal(words, results, sizeof words);
        assert_int_equal(after.submissions - before.submissions, 1);
        assert_true(after.waits - before.waits <= 1);
        assert_int_equal(layer_count(LAYER_SUBMIT), 1);
        if (engine_validates()) { /* else kernels may do it, by what was recorded before */
            assert_int_equal(layer_count(LAYER_BEGIN), 1);
            assert_int_equal(layer_count(LAYER_BARRIER), 3); /* before, between, after */
        }
        assert_int_equal(after.uploads - before.uploads, OUTPUTS);
        assert_int_equal(after.upload_size - before.upload_size, sizeof words);
        assert_int_equal(after.downloads - before.downloads, OUTPUTS);
        if (round > 0) {
            assert_int_equal(after.memory_allocations, before.memory_allocations);
        }
    }
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        must_destroy(device, &buffers[i]);
    }
    engine_close(&device);
}

static void test_repeated_transfers_allocate_nothing(void **state)
{
    (void)state;
    NEED_DEVICE();
    vy_fail_allocator memory = {0, 0, 0, 0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.allocator = &allocator;
    params.get_instance_proc_addr = layer_entry();
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
    static unsigned char bytes[300000], back[300000];
    vyre_buffer buffer = engine_buffer(device, sizeof bytes, NULL);
    vyre_upload uploads[40];
    vyre_download downloads[40];
    for (uint32_t i = 0; i < 40; i++) {
        uploads[i] = (vyre_upload){buffer, 7000 * i, 6000, bytes + 7000 * i};
        downloads[i] = (vyre_download){buffer, 7000 * i, 6000, back + 7000 * i};
    }
    vyre_transfer_params list = {
        .upload_count = 40, .download_count = 40, .uploads = uploads, .downloads = downloads};
    must_transfer(device, &list);
    size_t calls = memory.calls;
    vyre_device_counters before = engine_counters(device);
    layer.fail_only = "vkAllocateMemory";
    uint32_t allocations = layer_fallible_calls();
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (unsigned char)(i * 31 + round);
        }
        must_transfer(device, &list);
        assert_memory_equal(back + 7000, bytes + 7000, 6000);
        assert_int_equal(vyre_buffer_upload(device, buffer, 0, bytes, 999, &diag), VYRE_OK);
    }
    vyre_device_counters after = engine_counters(device);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(layer_fallible_calls(), allocations);
    assert_int_equal(after.submissions - before.submissions, 10);
    must_destroy(device, &buffer);
    vyre_device_destroy(&device);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_downloads_are_fused_and_split_back(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    unsigned char bytes[256], a[100], b[50], c[10], d[20], e[100];
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 7 + 1);
    }
    vyre_buffer buffer = engine_buffer(device, sizeof bytes, bytes);
    /* Out of order: a duplicate, an overlap, one that touches, one apart, an empty one. */
    vyre_download downloads[] = {{buffer, 100, 50, b}, {buffer, 0, 100, a},  {buffer, 95, 10, c},
                                 {buffer, 0, 100, e},  {buffer, 7, 0, NULL}, {buffer, 151, 20, d}};
    vyre_transfer_params params = {.download_count = 6, .downloads = downloads};
    vyre_device_counters before = engine_counters(device);
    layer_clear_events();
    must_transfer(device, &params);
    vyre_device_counters after = engine_counters(device);
    assert_memory_equal(a, bytes, 100);
    assert_memory_equal(b, bytes + 100, 50);
    assert_memory_equal(c, bytes + 95, 10);
    assert_memory_equal(d, bytes + 151, 20);
    assert_memory_equal(e, bytes, 100);
    assert_int_equal(after.downloads - before.downloads, 2);
    assert_int_equal(after.download_size - before.download_size, 170);
    assert_int_equal(layer_count(LAYER_COPY), 1); /* two regions of one command */
    assert_int_equal(layer_count(LAYER_BARRIER), 2);
    must_destroy(device, &buffer);
    engine_close(&device);
}

static void test_later_transfers_win(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    vyre_buffer x = engine_buffer(device, 64, NULL), y = engine_buffer(device, 64, NULL);
    uint32_t ones[4] = {1, 1, 1, 1}, twos[2] = {2, 2}, seen[16], copied[16];
    vyre_fill fills[] = {
        {x, 0, 64, 7}, {x, 32, 16, 8}, {y, 0, 64, 9}, {x, 0, 16, 5} /* covered by the upload */};
    vyre_upload uploads[] = {{x, 0, 16, ones}, {x, 8, 8, twos}, {x, 12, 0, NULL}};
    vyre_copy copies[] = {{x, y, 0, 4, 8}, {y, x, 0, 56, 8}};
    vyre_download downloads[] = {{x, 0, 64, seen}, {y, 0, 64, copied}};
    vyre_transfer_params params = {.fill_count = 4,
                                   .upload_count = 3,
                                   .copy_count = 2,
                                   .download_count = 2,
                                   .fills = fills,
                                   .uploads = uploads,
                                   .copies = copies,
                                   .downloads = downloads};
    layer_clear_events();
    must_transfer(device, &params);
    const uint32_t x_wanted[] = {1, 1, 2, 2, 7, 7, 7, 7, 8, 8, 8, 8, 7, 7, 9, 1};
    const uint32_t y_wanted[] = {9, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
    assert_memory_equal(seen, x_wanted, sizeof seen);
    assert_memory_equal(copied, y_wanted, sizeof copied);
    assert_int_equal(layer_count(LAYER_FILL), 3);
    must_destroy(device, &x);
    must_destroy(device, &y);
    engine_close(&device);
}

#define MODEL_SIZE 96u

/* Random lists against bytes on the host; synchronisation validation sees barriers that lack. */
static void test_random_lists_agree_with_a_model(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    unsigned char model[2][MODEL_SIZE] = {{0}}, data[8][32], results[8][MODEL_SIZE];
    vyre_buffer buffers[2] = {engine_buffer(device, MODEL_SIZE, NULL),
                              engine_buffer(device, MODEL_SIZE, NULL)};
    for (uint64_t seed = 0; seed < 150; seed++) {
        uint64_t random = seed * 31 + 5;
        vyre_fill fills[4];
        vyre_upload uploads[8];
        vyre_copy copies[4];
        vyre_download downloads[8];
        vyre_transfer_params p = {.fill_count = random_below(&random, 5),
                                  .upload_count = random_below(&random, 9),
                                  .copy_count = random_below(&random, 5),
                                  .download_count = random_below(&random, 9),
                                  .fills = fills,
                                  .uploads = uploads,
                                  .copies = copies,
                                  .downloads = downloads};
        for (uint32_t i = 0; i < p.fill_count; i++) {
            uint32_t k = random_below(&random, 2), at = 4 * random_below(&random, 20);
            uint32_t size = 4 * random_below(&random, 5), word = random_below(&random, 256);
            fills[i] = (vyre_fill){buffers[k], at, size, word * 0x01010101u};
            memset(&model[k][at], (int)word, size);
        }
        for (uint32_t i = 0; i < p.upload_count; i++) {
            uint32_t k = random_below(&random, 2), at = random_below(&random, 64);
            uint32_t size = random_below(&random, 33);
            for (uint32_t b = 0; b < size; b++) {
                data[i][b] = (unsigned char)random_below(&random, 256);
            }
            uploads[i] = (vyre_upload){buffers[k], at, size, data[i]};
            memcpy(&model[k][at], data[i], size);
        }
        for (uint32_t i = 0; i < p.copy_count; i++) {
            uint32_t k = random_below(&random, 2), size = random_below(&random, 17);
            uint32_t from = random_below(&random, 32), to = 48 + random_below(&random, 32);
            copies[i] = (vyre_copy){buffers[k], buffers[random_below(&random, 2)], from, to, size};
            memcpy(&model[copies[i].target.bits == buffers[1].bits][to], &model[k][from], size);
        }
        for (uint32_t i = 0; i < p.download_count; i++) {
            uint32_t at = random_below(&random, MODEL_SIZE);
            downloads[i] = (vyre_download){buffers[random_below(&random, 2)], at,
                                           random_below(&random, MODEL_SIZE - at + 1), results[i]};
        }
        must_transfer(device, &p);
        for (uint32_t i = 0; i < p.download_count; i++) {
            bool k = downloads[i].buffer.bits == buffers[1].bits;
            if (memcmp(results[i], &model[k][downloads[i].offset], downloads[i].size) != 0) {
                fail_msg("seed %u, download %u", (unsigned)seed, (unsigned)i);
            }
        }
    }
    must_destroy(device, &buffers[0]);
    must_destroy(device, &buffers[1]);
    engine_close(&device);
}

static void test_empty_transfers_submit_nothing(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    vyre_buffer buffer = engine_buffer(device, 16, NULL), none = engine_buffer(device, 0, NULL);
    vyre_download downloads[] = {{buffer, 16, 0, NULL}, {none, 0, 0, NULL}};
    vyre_upload upload = {none, 0, 0, NULL};
    vyre_fill fill = {buffer, 8, 0, 3};
    vyre_copy copy = {buffer, none, 4, 0, 0};
    vyre_transfer_params params = {.fill_count = 1,
                                   .upload_count = 1,
                                   .copy_count = 1,
                                   .download_count = 2,
                                   .fills = &fill,
                                   .uploads = &upload,
                                   .copies = &copy,
                                   .downloads = downloads};
    vyre_device_counters before = engine_counters(device);
    layer_clear_events();
    must_transfer(device, &params);
    params = (vyre_transfer_params){.struct_size = sizeof params};
    must_transfer(device, &params);
    vyre_device_counters after = engine_counters(device);
    assert_int_equal(after.submissions, before.submissions);
    assert_int_equal(after.waits, before.waits);
    assert_int_equal(after.downloads, before.downloads);
    assert_int_equal(layer_count(LAYER_COPY) + layer_count(LAYER_BEGIN), 0);
    must_destroy(device, &buffer);
    must_destroy(device, &none);
    engine_close(&device);
}

static void test_refused_lists_do_nothing(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    unsigned char bytes[32], out[32];
    memset(bytes, 3, sizeof bytes);
    memset(out, 0xee, sizeof out);
    vyre_buffer buffer = engine_buffer(device, sizeof bytes, bytes), gone = buffer;
    gone.bits += (uint64_t)1 << 24;
    vyre_upload good = {buffer, 0, 4, "abc"};
    vyre_download result = {buffer, 0, 32, out};
    const vyre_upload bad_uploads[] = {{buffer, 30, 3, bytes},
                                       {buffer, UINT64_MAX, 2, bytes},
                                       {buffer, 2, UINT64_MAX, bytes},
                                       {buffer, 0, 4, NULL},
                                       {gone, 0, 4, bytes},
                                       {{0}, 0, 0, bytes}};
    const vyre_fill bad_fills[] = {{buffer, 2, 4, 0}, {buffer, 0, 6, 0}, {buffer, 32, 4, 0}};
    const vyre_copy bad_copies[] = {
        {buffer, buffer, 0, 4, 8}, {buffer, buffer, 8, 8, 1}, {buffer, buffer, 0, 32, 1}};
    vyre_diag diag;
    layer_clear_events();
    for (size_t i = 0; i < 6 + 3 + 3 + 2; i++) {
        vyre_upload uploads[2] = {good, good};
        vyre_transfer_params p = {
            .upload_count = 1, .download_count = 1, .uploads = uploads, .downloads = &result};
        if (i < 6) {
            uploads[1] = bad_uploads[i];
            p.upload_count = 2;
        } else if (i < 9) {
            p.fills = &bad_fills[i - 6];
            p.fill_count = 1;
        } else if (i < 12) {
            p.copies = &bad_copies[i - 9];
            p.copy_count = 1;
        } else if (i == 12) {
            p.copy_count = 1;
        } else {
            p.upload_count = UINT32_MAX;
            p.uploads = NULL;
        }
        assert_int_equal(vyre_transfer(device, &p, &diag), VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "Fix: "));
    }
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    for (size_t i = 0; i < sizeof out; i++) {
        assert_int_equal(out[i], 0xee);
    }
    must_transfer(device, &(vyre_transfer_params){.download_count = 1, .downloads = &result});
    assert_memory_equal(out, bytes, sizeof out);
    must_destroy(device, &buffer); /* every pin is gone */
    engine_close(&device);
}

static void test_large_transfers_go_in_pieces(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint64_t size = ((uint64_t)64 << 20) + 12345;
    vyre_device *device = engine_open(0);
    vyre_buffer buffer = engine_buffer(device, size, NULL), other = engine_buffer(device, 64, NULL);
    uint32_t *from = malloc((size_t)size + 4), *to = malloc((size_t)size + 4), word = 0;
    for (uint64_t i = 0; i < size / 4 + 1; i++) {
        from[i] = (uint32_t)i * 2654435761u;
    }
    vyre_fill fill = {other, 0, 64, 77};
    vyre_upload uploads[] = {{buffer, 0, size, from}, {other, 8, 4, "xyz"}};
    vyre_download downloads[] = {{buffer, 0, size, to}, {other, 4, 4, &word}};
    vyre_transfer_params params = {.fill_count = 1,
                                   .upload_count = 2,
                                   .download_count = 2,
                                   .fills = &fill,
                                   .uploads = uploads,
                                   .downloads = downloads};
    layer_clear_events();
    must_transfer(device, &params);
    /* Pieces of 4 MiB, and one for what is left: the last one up goes with the first one down. */
    assert_int_equal(layer_count(LAYER_SUBMIT), 2 * 17 - 1);
    assert_memory_equal(from, to, size);
    assert_int_equal(word, 77);
    free(from);
    free(to);
    vyre_device_counters before = engine_counters(device);
    assert_true(vyre_device_trim(device) >= (uint64_t)16 << 20);
    vyre_device_counters after = engine_counters(device);
    assert_true(before.memory_size - after.memory_size >= (uint64_t)16 << 20);
    assert_int_equal(vyre_device_trim(device), 0);
    must_destroy(device, &buffer);
    must_destroy(device, &other);
    engine_close(&device);
}

static void test_failed_download_leaves_the_output(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char *const calls[] = {"vkBeginCommandBuffer", "vkEndCommandBuffer",
                                        "vkQueueSubmit", "vkResetCommandPool"};
    vyre_device *device = engine_open(0);
    uint32_t words[2] = {5, 6}, out[2] = {1, 1};
    vyre_buffer buffer = engine_buffer(device, 8, words);
    vyre_download list[] = {{buffer, 0, 4, &out[0]}, {buffer, 4, 4, &out[1]}};
    vyre_transfer_params params = {.download_count = 2, .downloads = list};
    vyre_diag diag;
    for (size_t i = 0; i < 4; i++) {
        layer.fail_only = calls[i];
        layer.fail_at = layer_fallible_calls() + 1;
        layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
        assert_int_equal(vyre_transfer(device, &params, &diag), VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_string_equal(layer_failed(), calls[i]);
        assert_int_equal(out[0] + out[1], 2);
        layer.fail_at = 0;
    }
    layer.fail_only = NULL;
    must_transfer(device, &params);
    assert_memory_equal(out, words, sizeof out);
    must_destroy(device, &buffer);
    engine_close(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fuse_covers_ranges_exactly),
        cmocka_unit_test(test_fuse_refuses_more_than_2_to_the_63),
        cmocka_unit_test(test_barriers_are_those_needed),
        T(test_transfer_is_one_submission_and_one_wait),
        T(test_repeated_transfers_allocate_nothing),
        T(test_downloads_are_fused_and_split_back),
        T(test_later_transfers_win),
        T(test_random_lists_agree_with_a_model),
        T(test_empty_transfers_submit_nothing),
        T(test_refused_lists_do_nothing),
        T(test_large_transfers_go_in_pieces),
        T(test_failed_download_leaves_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Transfers by the engine's own kernels, which take the place of commands for small ranges, and
 * transfers in pieces. The layer judges their barriers. */
#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static uint32_t random_below(uint64_t *state, uint32_t count)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % count;
}

/* ---- Many small outputs ---------------------------------------------------------------------- */

#define OUTPUTS 16u
#define WORDS   4u

typedef struct outputs {
    vyre_buffer buffers[OUTPUTS];
    uint32_t words[OUTPUTS][WORDS], results[OUTPUTS][WORDS];
    vyre_upload uploads[OUTPUTS];
    vyre_download downloads[OUTPUTS];
    vyre_transfer_params params;
} outputs;

static void outputs_init(vyre_device *device, outputs *o)
{
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        o->buffers[i] = engine_buffer(device, sizeof o->words[i], NULL);
        o->uploads[i] = (vyre_upload){o->buffers[i], 0, sizeof o->words[i], o->words[i]};
        o->downloads[i] = (vyre_download){o->buffers[i], 0, sizeof o->words[i], o->results[i]};
    }
    o->params = (vyre_transfer_params){.upload_count = OUTPUTS,
                                       .download_count = OUTPUTS,
                                       .uploads = o->uploads,
                                       .downloads = o->downloads};
}

static void outputs_finish(vyre_device *device, outputs *o)
{
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        must_destroy(device, &o->buffers[i]);
    }
}

/* New contents there and back. */
static void outputs_run(vyre_device *device, outputs *o, uint32_t seed)
{
    for (uint32_t i = 0; i < OUTPUTS * WORDS; i++) {
        o->words[i / WORDS][i % WORDS] = seed * 1000 + i;
    }
    memset(o->results, 0xee, sizeof o->results);
    layer_clear_events();
    must_transfer(device, &o->params);
    assert_memory_equal(o->words, o->results, sizeof o->words);
    assert_int_equal(layer_count(LAYER_SUBMIT), 1);
}

static uint32_t barriers_of(uint64_t src_stages, uint64_t dst_stages)
{
    uint32_t count = 0, found = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        found += events[i].kind == LAYER_BARRIER && events[i].src_stages == src_stages &&
                 events[i].dst_stages == dst_stages;
    }
    return found;
}

static void test_small_ranges_are_moved_by_kernels(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint64_t compute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    const uint64_t all =
        compute | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT;
    vyre_device *device = engine_open(0);
    outputs o;
    outputs_init(device, &o);
    outputs_run(device, &o, 1);
    assert_int_equal(layer_count(LAYER_COPY), 0);
    assert_int_equal(layer_count(LAYER_DISPATCH), 2); /* a gather each way */
    assert_int_equal(layer_count(LAYER_BARRIER), 3);  /* before, between, after */
    assert_int_equal(barriers_of(all, compute), 1);
    assert_int_equal(barriers_of(compute, compute), 1);
    assert_int_equal(barriers_of(compute, all | VK_PIPELINE_STAGE_2_HOST_BIT), 1);
    outputs_finish(device, &o);
    engine_close(&device);
}

static void test_recordings_of_moves_are_used_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    static outputs o, other;
    outputs_init(device, &o);
    outputs_init(device, &other);
    outputs_run(device, &o, 1);
    assert_int_equal(layer_count(LAYER_BEGIN), 1);
    outputs_run(device, &o, 2);
    assert_int_equal(layer_count(LAYER_BEGIN), 0);
    outputs_run(device, &other, 3); /* buffers are named in the blocks alone */
    assert_int_equal(layer_count(LAYER_BEGIN), 0);
    other.params.upload_count = 1;
    must_transfer(device, &other.params);
    assert_int_equal(layer_count(LAYER_BEGIN), 1);
    other.params.upload_count = OUTPUTS;
    outputs_run(device, &other, 4);
    assert_int_equal(layer_count(LAYER_BEGIN), 1);
    /* As many moves of as many words, with a barrier elsewhere, then with none. */
    vyre_fill fills[2] = {{o.buffers[0], 0, 16, 1}, {o.buffers[0], 0, 16, 2}};
    vyre_transfer_params params = {
        .fill_count = 2, .download_count = 1, .fills = fills, .downloads = o.downloads};
    must_transfer(device, &params);
    assert_int_equal(o.results[0][3], 2);
    fills[0].word = 9;
    fills[1] = (vyre_fill){o.buffers[1], 0, 16, 3};
    layer_clear_events();
    must_transfer(device, &params);
    assert_int_equal(layer_count(LAYER_BEGIN), 1);
    assert_int_equal(o.results[0][3], 9);
    fills[0].word = 10;
    layer_clear_events();
    must_transfer(device, &params);
    assert_int_equal(layer_count(LAYER_BEGIN), 0);
    assert_int_equal(o.results[0][3], 10);
    outputs_finish(device, &o);
    outputs_finish(device, &other);
    engine_close(&device);
}

static void test_recordings_are_not_kept_beyond_their_blocks(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { MANY = 200 };
    vyre_device *device = engine_open(0);
    outputs o;
    outputs_init(device, &o);
    outputs_run(device, &o, 1);
    vyre_buffer buffer = engine_buffer(device, 8 * MANY, NULL);
    static uint32_t seen[2 * MANY];
    static vyre_fill fills[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        fills[i] = (vyre_fill){buffer, 8 * i, 4, 3 * i + 7};
    }
    vyre_download download = {buffer, 0, sizeof seen, seen};
    vyre_transfer_params many = {
        .fill_count = MANY, .download_count = 1, .fills = fills, .downloads = &download};
    for (int round = 0; round < 2; round++) {
        memset(seen, 0, sizeof seen);
        layer_clear_events();
        must_transfer(device, &many); /* the blocks grow, and lie elsewhere */
        for (uint32_t i = 0; i < 2 * MANY; i++) {
            assert_int_equal(seen[i], i % 2 ? 0 : 3 * (i / 2) + 7);
        }
        assert_int_equal(layer_count(LAYER_DISPATCH), MANY + 1);
        outputs_run(device, &o, 2);
        assert_int_equal(layer_count(LAYER_BEGIN), 1);
    }
    must_destroy(device, &buffer);
    outputs_finish(device, &o);
    engine_close(&device);
}

static void test_few_moves_make_no_kernels(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_diag diag;
    uint32_t word = 5, seen = 0;
    vyre_buffer buffer = engine_buffer(device, 4, NULL);
    layer_clear_events();
    for (uint32_t i = 0; i < 15; i++) {
        word = i;
        if (i % 2 == 0) {
            assert_int_equal(vyre_buffer_upload(device, buffer, 0, &word, 4, &diag), VYRE_OK);
        } else {
            assert_int_equal(vyre_buffer_download(device, buffer, 0, &seen, 4, &diag), VYRE_OK);
            assert_int_equal(seen, i - 1);
        }
    }
    assert_int_equal(layer_count(LAYER_DISPATCH), 0);
    assert_int_equal(layer_count(LAYER_COPY), 15);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, &seen, 4, &diag), VYRE_OK);
    assert_int_equal(seen, 14);
    assert_int_equal(layer_count(LAYER_DISPATCH), 1);
    layer_clear_events();
    assert_int_equal(vyre_buffer_fill(device, buffer, 0, 4, 77, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, &seen, 4, &diag), VYRE_OK);
    assert_int_equal(seen, 77);
    assert_int_equal(layer_count(LAYER_DISPATCH), 2);
    assert_int_equal(layer_count(LAYER_FILL) + layer_count(LAYER_COPY), 0);
    must_destroy(device, &buffer);
    engine_close(&device);
}

/* Each range alone, behind the kernels' making. */
static void test_ranges_that_are_no_words_or_large_are_copied(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { SIZE = (64 << 10) + 64 };
    static const struct {
        uint32_t offset, size;
        bool is_by_kernel;
    } cases[] = {{0, 4, true},
                 {4, 64 << 10, true},
                 {0, (64 << 10) - 4, true},
                 {8, 1028, true},
                 {0, (64 << 10) + 4, false},
                 {0, 3, false},
                 {4, 6, false},
                 {2, 4, false},
                 {1, 7, false}};
    vyre_device *device = engine_open(0);
    static unsigned char bytes[SIZE], seen[SIZE], wanted[SIZE];
    vyre_diag diag;
    outputs o;
    outputs_init(device, &o);
    outputs_run(device, &o, 1);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t at = cases[i].offset, size = cases[i].size;
        for (uint32_t b = 0; b < SIZE; b++) {
            bytes[b] = (unsigned char)(b * 13 + i + 1);
        }
        memset(seen, 0, SIZE);
        memset(wanted, 0, SIZE);
        memcpy(wanted + at, bytes, size);
        assert_int_equal(vyre_buffer_fill(device, buffer, 0, SIZE, 0, &diag), VYRE_OK);
        layer_clear_events();
        assert_int_equal(vyre_buffer_upload(device, buffer, at, bytes, size, &diag), VYRE_OK);
        assert_int_equal(vyre_buffer_download(device, buffer, at, seen + at, size, &diag), VYRE_OK);
        assert_memory_equal(seen, wanted, SIZE);
        assert_int_equal(layer_count(LAYER_DISPATCH), cases[i].is_by_kernel ? 2 : 0);
        assert_int_equal(layer_count(LAYER_COPY), cases[i].is_by_kernel ? 0 : 2);
        memset(seen, 0, SIZE);
        assert_int_equal(vyre_buffer_download(device, buffer, 0, seen, SIZE, &diag), VYRE_OK);
        assert_memory_equal(seen, wanted, SIZE);
    }
    must_destroy(device, &buffer);
    outputs_finish(device, &o);
    engine_close(&device);
}

#define MODEL_SIZE 96u

/* Random lists, of whole words and of bytes, against bytes on the host. */
static void test_mixed_lists_agree_with_a_model(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    outputs o;
    outputs_init(device, &o);
    outputs_run(device, &o, 1);
    unsigned char model[2][MODEL_SIZE] = {{0}}, data[8][32], results[8][MODEL_SIZE];
    vyre_buffer buffers[2] = {engine_buffer(device, MODEL_SIZE, NULL),
                              engine_buffer(device, MODEL_SIZE, NULL)};
    layer_clear_events();
    for (uint64_t seed = 0; seed < 200; seed++) {
        uint64_t random = seed * 37 + 11;
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
        uint32_t unit = random_below(&random, 3) ? 4 : 1;
        for (uint32_t i = 0; i < p.fill_count; i++) {
            uint32_t k = random_below(&random, 2), at = 4 * random_below(&random, 20);
            uint32_t size = 4 * random_below(&random, 5), word = random_below(&random, 256);
            fills[i] = (vyre_fill){buffers[k], at, size, word * 0x01010101u};
            memset(&model[k][at], (int)word, size);
        }
        for (uint32_t i = 0; i < p.upload_count; i++) {
            uint32_t k = random_below(&random, 2), at = unit * random_below(&random, 64 / unit);
            uint32_t size = unit * random_below(&random, 32 / unit + 1);
            for (uint32_t b = 0; b < size; b++) {
                data[i][b] = (unsigned char)random_below(&random, 256);
            }
            uploads[i] = (vyre_upload){buffers[k], at, size, data[i]};
            memcpy(&model[k][at], data[i], size);
        }
        for (uint32_t i = 0; i < p.copy_count; i++) {
            uint32_t k = random_below(&random, 2), to = random_below(&random, 2);
            uint32_t own = random_below(&random, 3) ? 4 : unit;
            uint32_t size = own * random_below(&random, 16 / own + 1);
            uint32_t from = own * random_below(&random, 32 / own);
            uint32_t at = 48 + own * random_below(&random, 32 / own);
            copies[i] = (vyre_copy){buffers[k], buffers[to], from, at, size};
            memcpy(&model[to][at], &model[k][from], size);
        }
        for (uint32_t i = 0; i < p.download_count; i++) {
            uint32_t at = unit * random_below(&random, MODEL_SIZE / unit);
            uint32_t size = unit * random_below(&random, (MODEL_SIZE - at) / unit + 1);
            downloads[i] = (vyre_download){buffers[random_below(&random, 2)], at, size, results[i]};
        }
        must_transfer(device, &p);
        for (uint32_t i = 0; i < p.download_count; i++) {
            bool k = downloads[i].buffer.bits == buffers[1].bits;
            if (memcmp(results[i], &model[k][downloads[i].offset], downloads[i].size) != 0) {
                fail_msg("seed %u, download %u", (unsigned)seed, (unsigned)i);
            }
        }
    }
    assert_true(layer_count(LAYER_DISPATCH) > 500 && layer_count(LAYER_COPY) > 100);
    must_destroy(device, &buffers[0]);
    must_destroy(device, &buffers[1]);
    outputs_finish(device, &o);
    engine_close(&device);
}

/* ---- Devices without ------------------------------------------------------------------------- */

static void must_copy_by_commands(vyre_device *device)
{
    outputs o;
    outputs_init(device, &o);
    for (uint32_t round = 0; round < 3; round++) {
        outputs_run(device, &o, round);
        assert_int_equal(layer_count(LAYER_DISPATCH), 0);
        assert_true(layer_count(LAYER_COPY) >= OUTPUTS);
        assert_int_equal(layer_count(LAYER_BARRIER), 3);
        assert_int_equal(layer_count(LAYER_BEGIN), 1);
    }
    outputs_finish(device, &o);
}

static void test_devices_without_direct_addresses_use_commands(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    if (device->validation > VYRE_VALIDATION_OFF) {
        must_copy_by_commands(device);
    }
    engine_close(&device);
    layer.no_addresses = true;
    device = engine_open(0);
    must_copy_by_commands(device);
    engine_close(&device);
    layer.no_addresses = false;
    layer.heaps = LAYER_HEAPS_SEPARATE; /* nothing is the device's and the host's at once */
    device = engine_open(0);
    must_copy_by_commands(device);
    engine_close(&device);
}

/* The blocks have to be flushed, those that were rewritten as well. */
static void test_moves_work_in_memory_that_is_not_coherent(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_coherent_memory = true;
    vyre_device *device = engine_open(0);
    static outputs o, other;
    outputs_init(device, &o);
    outputs_init(device, &other);
    for (uint32_t round = 0; round < 4; round++) {
        outputs_run(device, round % 2 ? &other : &o, round);
        assert_int_equal(layer_count(LAYER_DISPATCH), round ? 0 : 2);
        assert_true(layer_count(LAYER_FLUSH) >= 2);
    }
    assert_int_equal(layer_bad_ranges(), 0);
    outputs_finish(device, &o);
    outputs_finish(device, &other);
    engine_close(&device);
}

static void test_kernels_that_cannot_be_made_are_done_without(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char *const calls[] = {"vkCreateComputePipelines", "vkCreateShaderModule",
                                        "vkCreatePipelineLayout"};
    vyre_device *device = engine_open(0);
    outputs o;
    outputs_init(device, &o);
    for (uint32_t i = 0; i < 3; i++) {
        layer.fail_only = calls[i];
        layer.fail_at = layer_fallible_calls() + 1;
        layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
        outputs_run(device, &o, i);
        assert_string_equal(layer_failed(), calls[i]);
        assert_int_equal(layer_count(LAYER_DISPATCH), 0);
        layer.fail_at = 0;
    }
    layer.fail_only = NULL;
    outputs_run(device, &o, 9);
    assert_int_equal(layer_count(LAYER_DISPATCH), 2);
    outputs_finish(device, &o);
    engine_close(&device);
}

/* Every call of a transfer by kernels fails once: outputs stay, and the next one is right. */
static void test_failed_moves_leave_the_outputs(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    outputs o;
    outputs_init(device, &o);
    outputs_run(device, &o, 1);
    uint32_t failures = 0;
    for (uint32_t n = 1;; n++) {
        vyre_diag diag;
        o.params.upload_count = 0; /* recorded anew */
        memset(o.results, 0xee, sizeof o.results);
        layer.fail_at = layer_fallible_calls() + n;
        layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
        vyre_result code = vyre_transfer(device, &o.params, &diag);
        bool has_failed = layer_fallible_calls() >= layer.fail_at;
        layer.fail_at = 0;
        if (!has_failed) {
            assert_int_equal(code, VYRE_OK);
            break;
        }
        if (code != VYRE_OK) {
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            for (uint32_t i = 0; i < OUTPUTS * WORDS; i++) {
                assert_int_equal(o.results[i / WORDS][i % WORDS], 0xeeeeeeeeu);
            }
            failures++;
        }
        o.params.upload_count = OUTPUTS;
        outputs_run(device, &o, n);
    }
    assert_true(failures >= 4); /* reset, begin, end, submit */
    outputs_finish(device, &o);
    engine_close(&device);
}

typedef struct worker {
    pthread_t thread;
    vyre_device *device;
    uint32_t index, wrong;
} worker;

static void *run_worker(void *argument)
{
    worker *w = argument;
    vyre_diag diag;
    vyre_buffer_params params = {.struct_size = sizeof params, .size = 256};
    vyre_buffer buffer;
    if (vyre_buffer_create(w->device, &params, &buffer, &diag) != VYRE_OK) {
        w->wrong = 1000;
        return NULL;
    }
    for (uint32_t round = 0; round < 100; round++) {
        uint32_t words[2][3], seen[2][3] = {{0}}, tail[4] = {0};
        vyre_fill fill = {buffer, 128, 16, w->index + round};
        vyre_upload uploads[2] = {{buffer, 0, 12, words[0]}, {buffer, 64, 12, words[1]}};
        vyre_download downloads[3] = {
            {buffer, 0, 12, seen[0]}, {buffer, 64, 12, seen[1]}, {buffer, 128, 16, tail}};
        vyre_transfer_params list = {.fill_count = 1,
                                     .upload_count = 2,
                                     .download_count = 3,
                                     .fills = &fill,
                                     .uploads = uploads,
                                     .downloads = downloads};
        for (uint32_t i = 0; i < 6; i++) {
            words[i / 3][i % 3] = 100000 * w->index + 10 * round + i;
        }
        w->wrong += vyre_transfer(w->device, &list, &diag) != VYRE_OK;
        w->wrong += memcmp(words, seen, sizeof words) != 0 || tail[3] != w->index + round;
    }
    w->wrong += vyre_buffer_destroy(w->device, &buffer, &diag) != VYRE_OK;
    return NULL;
}

static void test_threads_move_at_once(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { THREADS = 4 };
    vyre_device *device = engine_open(0);
    worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.device = device, .index = i + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    assert_true(layer_count(LAYER_DISPATCH) > 0);
    layer.no_judge = true; /* a barrier may come to wait for other threads' work alone */
    assert_int_equal(layer_unjudged(), 0);
    engine_close(&device);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static unsigned char *make_bytes(uint64_t size, uint32_t seed)
{
    unsigned char *bytes = malloc((size_t)size);
    for (uint64_t i = 0; bytes && i < size; i++) {
        bytes[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
    }
    return bytes;
}

static void test_uploads_go_in_pieces_beyond_8_mib(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        uint64_t size;
        uint32_t submissions;
    } cases[] = {
        {8 * MIB - 1, 1}, {8 * MIB, 1}, {8 * MIB + 1, 3}, {16 * MIB, 4}, {21 * MIB + 5, 6}};
    vyre_device *device = engine_open(0);
    vyre_buffer buffer = engine_buffer(device, 22 * MIB, NULL);
    unsigned char *seen = malloc(22 * MIB);
    vyre_diag diag;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char *bytes = make_bytes(cases[i].size, i);
        layer_clear_events();
        assert_int_equal(vyre_buffer_upload(device, buffer, 3, bytes, cases[i].size, &diag),
                         VYRE_OK);
        assert_int_equal(layer_count(LAYER_SUBMIT), cases[i].submissions);
        layer_clear_events();
        assert_int_equal(vyre_buffer_download(device, buffer, 3, seen, cases[i].size, &diag),
                         VYRE_OK);
        assert_int_equal(layer_count(LAYER_SUBMIT), 1);
        assert_memory_equal(seen, bytes, cases[i].size);
        free(bytes);
    }
    free(seen);
    must_destroy(device, &buffer);
    engine_close(&device);
}

/* A piece is on its way before the host takes what the one before brought. */
static void test_pieces_overlap(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint64_t size = 70 * MIB + 4;
    layer.no_coherent_memory = true; /* flushes and invalidations then tell when the host copies */
    vyre_device *device = engine_open(0);
    vyre_buffer buffer = engine_buffer(device, size, NULL);
    unsigned char *bytes = make_bytes(size, 5), *seen = malloc((size_t)size);
    vyre_diag diag;
    layer_clear_events();
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, bytes, size, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, seen, size, &diag), VYRE_OK);
    assert_memory_equal(seen, bytes, size);
    uint32_t count = 0, submitted = 0, written = 0, read = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        submitted += events[i].kind == LAYER_SUBMIT;
        if (events[i].kind == LAYER_FLUSH) {
            assert_int_equal(events[i].offset % (8 * MIB), written % 2 * 4 * MIB);
            assert_int_equal(submitted, written);
            written++;
        } else if (events[i].kind == LAYER_INVALIDATE) {
            assert_int_equal(events[i].offset % (8 * MIB), read % 2 * 4 * MIB);
            assert_int_equal(submitted, 18 + (read < 16 ? read + 2 : 18));
            read++;
        }
    }
    assert_int_equal(submitted, 36);
    assert_int_equal(written, 18);
    assert_int_equal(read, 18);
    assert_int_equal(layer_bad_ranges(), 0);
    free(bytes);
    free(seen);
    must_destroy(device, &buffer);
    engine_close(&device);
}

/* Every call of an upload of five pieces fails once: nothing is in flight then. */
static void test_failed_pieces_are_drained(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint64_t size = 17 * MIB;
    vyre_device *device = engine_open(0);
    unsigned char *bytes = make_bytes(size, 1), *seen = malloc((size_t)size);
    uint32_t failures = 0;
    layer.no_judge = true;
    for (uint32_t n = 1;; n++) {
        vyre_diag diag;
        vyre_buffer buffer = engine_buffer(device, size, NULL);
        (void)vyre_device_trim(device); /* staging and commands are made anew */
        layer.fail_at = layer_fallible_calls() + n;
        layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
        vyre_result code = vyre_buffer_upload(device, buffer, 0, bytes, size, &diag);
        bool has_failed = layer_fallible_calls() >= layer.fail_at;
        layer.fail_at = 0;
        failures += code != VYRE_OK;
        assert_int_equal(atomic_load(&device->seen), atomic_load(&device->submitted));
        if (code == VYRE_OK) {
            assert_int_equal(vyre_buffer_download(device, buffer, 0, seen, size, &diag), VYRE_OK);
            assert_memory_equal(seen, bytes, size);
        }
        must_destroy(device, &buffer);
        if (!has_failed) {
            assert_int_equal(code, VYRE_OK);
            break;
        }
    }
    assert_true(failures > 4 * 5);
    free(bytes);
    free(seen);
    engine_close(&device);
}

/* Of a download in pieces what came before the failure is there, and nothing else was touched. */
static void test_failed_download_in_pieces_leaves_the_rest(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint64_t size = 65 * MIB;
    vyre_device *device = engine_open(0);
    unsigned char *bytes = make_bytes(size, 1), *seen = malloc((size_t)size);
    vyre_buffer buffer = engine_buffer(device, size, bytes);
    vyre_diag diag;
    memset(seen, 0xee, (size_t)size);
    layer.fail_only = "vkQueueSubmit";
    layer.fail_at = layer_fallible_calls() + 4;
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_int_equal(vyre_buffer_download(device, buffer, 0, seen, size, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    layer.fail_at = 0;
    layer.fail_only = NULL;
    assert_memory_equal(seen, bytes, 8 * MIB);
    for (uint64_t i = 8 * MIB; i < size; i++) {
        assert_int_equal(seen[i], 0xee);
    }
    assert_int_equal(atomic_load(&device->seen), atomic_load(&device->submitted));
    must_destroy(device, &buffer);
    free(bytes);
    free(seen);
    engine_close(&device);
}

static void test_pieces_are_smaller_where_memory_is_short(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint64_t size = 9 * MIB;
    layer.heaps = LAYER_HEAPS_SEPARATE;
    vyre_device *device = engine_open(0);
    vyre_buffer buffer = engine_buffer(device, size, NULL);
    unsigned char *bytes = make_bytes(size, 3), *seen = calloc(1, (size_t)size);
    vyre_diag diag;
    layer.heap_room[1] = 4 * MIB;
    layer_clear_events();
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, bytes, size, &diag), VYRE_OK);
    assert_true(layer_count(LAYER_SUBMIT) >= 5); /* two pieces in at most 4 MiB */
    (void)vyre_device_trim(device);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, seen, size, &diag), VYRE_OK);
    assert_memory_equal(seen, bytes, size);
    free(bytes);
    free(seen);
    must_destroy(device, &buffer);
    engine_close(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_small_ranges_are_moved_by_kernels),
        T(test_recordings_of_moves_are_used_again),
        T(test_recordings_are_not_kept_beyond_their_blocks),
        T(test_few_moves_make_no_kernels),
        T(test_ranges_that_are_no_words_or_large_are_copied),
        T(test_mixed_lists_agree_with_a_model),
        T(test_devices_without_direct_addresses_use_commands),
        T(test_moves_work_in_memory_that_is_not_coherent),
        T(test_kernels_that_cannot_be_made_are_done_without),
        T(test_failed_moves_leave_the_outputs),
        T(test_threads_move_at_once),
        T(test_uploads_go_in_pieces_beyond_8_mib),
        T(test_pieces_overlap),
        T(test_failed_pieces_are_drained),
        T(test_failed_download_in_pieces_leaves_the_rest),
        T(test_pieces_are_smaller_where_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

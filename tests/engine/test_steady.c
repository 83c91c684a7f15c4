/* The steady state: the second and later dispatches of a shape submit, and do nothing else. Seen by
 * a counting allocator and by the layer, which our own counters must agree with. */
#include "engine/device/commands.h"
#include "tests/engine/gate.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 64u

static vyre_device *device;
static vy_fail_allocator memory;
static vyre_allocator allocator;

static void open_as(int validate, const char *hide)
{
    layer_reset();
    layer.hide_extension = hide;
    memory = (vy_fail_allocator){.fail_at = 0};
    allocator = vy_fail_allocator_get(&memory);
    device = engine_has_no_device()
                 ? NULL
                 : gate_open_device(&(gate_wishes){.validate = validate, .allocator = &allocator});
}

static int open_address(void **state)
{
    open_as(0, NULL);
    *state = (void *)"address";
    return 0;
}

static int open_push(void **state)
{
    open_as(1, NULL);
    *state = (void *)(engine_validates() ? "push descriptor" : "address");
    return 0;
}

static int open_set(void **state)
{
    open_as(1, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    *state = (void *)(engine_validates() ? "descriptor set" : "address");
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
        assert_int_equal(memory.live_blocks, 0);
    }
    return 0;
}

/* ---- What a window of calls cost ------------------------------------------------------------- */

typedef struct window {
    vyre_device_counters before;
    size_t allocations;
} window;

static window begin(void)
{
    window w = {.allocations = memory.calls};
    vyre_device_get_counters(device, &w.before);
    layer_clear_events();
    layer_clear_calls();
    layer.fail_only = "vkWaitSemaphores"; /* every wait that blocks is one call of it */
    return w;
}

/* Our counters since then, after checking them against the layer's. */
static vyre_device_counters end(const window *w)
{
    vyre_device_counters now;
    vyre_device_get_counters(device, &now);
    layer.fail_only = NULL;
    now.submissions -= w->before.submissions;
    now.waits -= w->before.waits;
    now.recordings -= w->before.recordings;
    now.recordings_reused -= w->before.recordings_reused;
    now.descriptor_writes -= w->before.descriptor_writes;
    now.dispatches -= w->before.dispatches;
    now.barriers -= w->before.barriers;
    now.instance_hits -= w->before.instance_hits;
    assert_int_equal(now.submissions, layer_calls("vkQueueSubmit"));
    assert_int_equal(now.waits, layer_calls("vkWaitSemaphores"));
    assert_int_equal(now.descriptor_writes, layer_descriptors());
    assert_int_equal(now.barriers, layer_count(LAYER_BARRIER));
    return now;
}

/* So many submissions, and nothing else. */
static void expect_only(const window *w, uint32_t submissions, uint32_t recordings_by_host)
{
    vyre_device_counters c = end(w);
    assert_int_equal(c.submissions, submissions);
    assert_int_equal(memory.calls, w->allocations);
    assert_int_equal(layer_calls_of("vkCreate"), 0);
    assert_int_equal(layer_calls_of("vkAllocate"), 0);
    assert_int_equal(layer_calls_of("vkDestroy"), 0);
    assert_int_equal(layer_calls_of("vkFree"), 0);
    assert_int_equal(layer_calls_of("vkMap"), 0);
    assert_int_equal(layer_calls("vkResetCommandPool"), recordings_by_host);
    assert_int_equal(layer_calls("vkBeginCommandBuffer"), recordings_by_host);
    if (recordings_by_host == 0) {
        assert_int_equal(c.descriptor_writes, 0);
        assert_int_equal(c.recordings, 0);
        assert_int_equal(c.dispatches, 0);
        assert_int_equal(c.barriers, 0);
        assert_int_equal(layer_count(LAYER_DISPATCH) + layer_count(LAYER_INDIRECT), 0);
    }
}

/* ---- One program, bound in all ways ---------------------------------------------------------- */

/* Reads, writes and updates, with a barrier between, scratch memory, and a uniform. */
static const char mixed_text[] = "program mixed\nworkgroup 8\ngrid over x\n"
                                 "in x : u32[]\ninout y : u32[len(x)]\nout z : u32[len(x)]\n"
                                 "scratch t : u32[len(x)]\nparam k : u32\n"
                                 "kernel {\n"
                                 "  t[gid.x] = x[gid.x] * k\n"
                                 "  grid_sync\n"
                                 "  y[gid.x] = y[gid.x] + t[len(x) - 1 - gid.x]\n"
                                 "  z[gid.x] = t[gid.x]\n"
                                 "}\n";

typedef struct mixed {
    uint32_t x[N], y[N], z[N], k;
    vyre_buffer buffers[3];
    vyre_binding bindings[4];
    vyre_dispatch_params params;
} mixed;

/* `resident`: a bit for each of x, y, z. */
static void mixed_init(mixed *m, uint32_t resident, uint32_t k)
{
    memset(m, 0, sizeof *m);
    m->k = k;
    for (uint32_t i = 0; i < N; i++) {
        m->x[i] = i + k;
        m->y[i] = 1000 + i;
    }
    uint32_t *const data[3] = {m->x, m->y, m->z};
    for (uint32_t b = 0; b < 3; b++) {
        if (resident >> b & 1) {
            m->buffers[b] = engine_buffer(device, sizeof m->x, data[b]);
            m->bindings[b] = engine_resident(m->buffers[b], 0, N);
            m->bindings[b].out = b ? data[b] : NULL;
        } else {
            m->bindings[b] = b == 0   ? engine_host_in(m->x, N)
                             : b == 1 ? engine_host_inout(m->y, N)
                                      : engine_host_out(m->z, N);
        }
    }
    vyre_dispatch_params_init(&m->params);
    m->params.strategy = VYRE_STRATEGY_REPLAY;
    m->params.bindings = m->bindings;
    m->params.binding_count = 4;
    m->params.params = &m->k;
    m->params.param_count = 1;
}

static void mixed_finish(mixed *m)
{
    vyre_diag diag;
    for (uint32_t b = 0; b < 3; b++) {
        assert_int_equal(vyre_buffer_destroy(device, &m->buffers[b], &diag), VYRE_OK);
    }
}

/* After `runs` runs. */
static void expect_mixed(const mixed *m, uint32_t runs)
{
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(m->y[i], 1000 + i + runs * (N - 1 - i + m->k) * m->k);
        assert_int_equal(m->z[i], (i + m->k) * m->k);
    }
}

static void test_steady_dispatch_only_submits(void **state)
{
    NEED_OPEN(device);
    for (uint32_t resident = 0; resident < 8; resident++) {
        engine_program p = engine_build(device, mixed_text);
        mixed m;
        mixed_init(&m, resident, 3);
        vyre_report first = must_dispatch(&p, &m.params);
        assert_string_equal(first.bindings, (const char *)*state);
        assert_int_equal(first.recordings, 1);
        window w = begin();
        vyre_report report = {0};
        uint64_t waits = 0;
        for (uint32_t i = 0; i < 5; i++) {
            report = must_dispatch(&p, &m.params);
            waits += report.waits;
            assert_int_equal(report.submissions, 1);
            assert_int_equal(report.recordings, 0);
            assert_int_equal(report.recordings_reused, 1);
            assert_int_equal(report.descriptor_writes, 0);
            assert_int_equal(report.dispatches_recorded, first.dispatches_recorded);
            assert_int_equal(report.barriers_recorded, first.barriers_recorded);
        }
        assert_int_equal(waits, layer_calls("vkWaitSemaphores"));
        expect_only(&w, 5, 0);
        expect_mixed(&m, 6);
        mixed_finish(&m);
        engine_release(&p);
    }
}

static void test_steady_tickets_only_submit(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, mixed_text);
    mixed m[3];
    window w = {.allocations = 0};
    for (uint32_t i = 0; i < 3; i++) {
        mixed_init(&m[i], i == 0 ? 7 : 0, i + 1);
    }
    /* Three instances come to be at first, in flight at once behind a gate. */
    gate door;
    gate_create(device, &door);
    for (uint32_t round = 0; round < 4; round++) {
        vyre_ticket tickets[3];
        if (round == 2) {
            w = begin();
        }
        for (uint32_t i = 0; i < 3; i++) {
            m[i].params.sync = i == 0 ? gate_close(&door) : NULL;
            tickets[i] = gate_start(&p, &m[i].params);
        }
        gate_open(&door);
        for (uint32_t i = 0; i < 3; i++) {
            vyre_diag diag;
            assert_int_equal(vyre_ticket_wait(device, &tickets[i], UINT64_MAX, NULL, &diag),
                             VYRE_OK);
        }
    }
    expect_only(&w, 6, 0);
    for (uint32_t i = 0; i < 3; i++) {
        expect_mixed(&m[i], 4);
        mixed_finish(&m[i]);
    }
    gate_destroy(&door);
    engine_release(&p);
}

/* Other buffers and other scalars: nothing at all by addresses, and one recording by handle. */
static void test_steady_rebinding(void **state)
{
    NEED_OPEN(device);
    int is_by_address = strcmp(*state, "address") == 0;
    engine_program p = engine_build(device, mixed_text);
    mixed m[4];
    for (uint32_t i = 0; i < 4; i++) {
        mixed_init(&m[i], i < 3 ? 7 : 0, 10 + i);
    }
    (void)must_dispatch(&p, &m[0].params);
    (void)must_dispatch(&p, &m[3].params); /* the shape of borrowed ones */
    window w = begin();
    uint32_t submissions = 0;
    for (uint32_t round = 0; is_by_address && round < 5; round++) {
        for (uint32_t i = 0; i < 4; i++, submissions++) {
            vyre_report report = must_dispatch(&p, &m[i].params);
            assert_int_equal(report.recordings, 0);
        }
    }
    m[3].k = 77; /* borrowed, and another scalar */
    m[3].x[0] = 5;
    (void)must_dispatch(&p, &m[3].params);
    expect_only(&w, submissions + 1, 0);
    assert_int_equal(m[3].z[0], 5 * 77);
    if (is_by_address) {
        for (uint32_t i = 0; i < 3; i++) {
            expect_mixed(&m[i], i == 0 ? 6 : 5);
        }
    } else {
        w = begin();
        vyre_report report = must_dispatch(&p, &m[1].params);
        assert_int_equal(report.recordings, 1);
        vyre_device_counters c = end(&w);
        assert_int_equal(report.descriptor_writes, c.descriptor_writes);
        assert_int_equal(c.recordings, 1);
        assert_true(c.descriptor_writes > 0);
        w = begin();
        (void)must_dispatch(&p, &m[1].params);
        expect_only(&w, 1, 0);
        expect_mixed(&m[1], 2);
    }
    for (uint32_t i = 0; i < 4; i++) {
        mixed_finish(&m[i]);
    }
    engine_release(&p);
}

/* ---- Fixpoints ------------------------------------------------------------------------------- */

static vyre_report count_down(const engine_program *p, uint32_t from)
{
    uint32_t a[3] = {from, 0, 0};
    vyre_binding bindings[] = {engine_host_inout(a, 3), {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.bindings = bindings;
    params.binding_count = 2;
    params.groups[0] = 1;
    params.passes = from < 2 ? 2 : 0; /* one chunk */
    vyre_report report = must_dispatch(p, &params);
    assert_int_equal(report.passes, from + 1);
    assert_int_equal(a[1], from + 1);
    return report;
}

static void test_steady_until_only_submits(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    (void)count_down(&p, 1);
    window w = begin();
    for (uint32_t i = 0; i < 3; i++) {
        vyre_report report = count_down(&p, i % 2);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(report.recordings, 0);
        assert_int_equal(report.recordings_reused, 1);
    }
    expect_only(&w, 3, 0);
    engine_release(&p);
}

/* How many chunks are ahead when the end is seen depends on the device's speed: each is recorded
 * once at most. */
static void test_steady_until_records_each_chunk_once(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    window w = begin();
    uint64_t recordings = 0, submissions = 0, writes = 0;
    for (uint32_t i = 0; i < 40; i++) {
        vyre_report report = count_down(&p, 100);
        recordings += report.recordings;
        submissions += report.submissions;
        writes += report.descriptor_writes;
    }
    vyre_device_counters c = end(&w);
    /* 2 passes, then 4, 8 and 16 in each of two lanes. */
    assert_int_equal(recordings, 7);
    assert_int_equal(c.recordings, recordings);
    assert_int_equal(c.submissions, submissions);
    assert_int_equal(c.descriptor_writes, writes);
    assert_int_equal(c.dispatches, layer_count(LAYER_INDIRECT) + layer_count(LAYER_DISPATCH));
    engine_release(&p);
}

static void test_steady_many_passes_allocate_no_more(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program many\nworkgroup 1\nfixpoint 9000\n"
                                            "inout a : u32[1]\nkernel { a[0] = a[0] + 1 }\n");
    vyre_report reports[3];
    size_t live = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t a = 0;
        vyre_binding bindings[] = {engine_host_inout(&a, 1)};
        window w = begin();
        reports[i] = engine_run(&p, bindings, 1, NULL, 0, 1, i ? 20000 : 9000);
        assert_int_equal(a, i ? 20000 : 9000);
        vyre_device_counters c = end(&w);
        assert_int_equal(c.submissions, reports[i].submissions);
        if (i == 0) {
            live = memory.live_size;
        }
    }
    /* Pieces of 4096 in two lanes, and the two ends. */
    assert_in_range(reports[1].recordings, 1, 2);
    assert_int_equal(reports[2].recordings, 0);
    assert_int_equal(reports[2].chunks, 5);
    assert_int_equal(memory.live_size, live);
    engine_release(&p);
}

/* ---- Recordings and sequences ---------------------------------------------------------------- */

#define FRAMES 3u

static void test_steady_recordings_of_frames_in_flight(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, mixed_text);
    mixed m;
    mixed_init(&m, 7, 2);
    for (uint32_t b = 0; b < 3; b++) {
        m.bindings[b].out = NULL;
    }
    vy_commands commands[FRAMES];
    uint64_t values[FRAMES] = {0};
    vyre_diag diag;
    for (uint32_t f = 0; f < FRAMES; f++) {
        assert_int_equal(vy_commands_create(device, "frame", &commands[f], &diag), VYRE_OK);
    }
    window w = {.allocations = 0};
    for (uint32_t frame = 1; frame <= 20; frame++) {
        uint32_t f = frame % FRAMES;
        if (frame == 11) {
            w = begin();
        }
        if (values[f]) {
            assert_int_equal(vy_queue_wait(device, values[f], UINT64_MAX, "a frame", &diag),
                             VYRE_OK);
            vyre_device_retire(device, frame - FRAMES);
        }
        assert_int_equal(vy_commands_begin(device, &commands[f], true, &diag), VYRE_OK);
        vyre_record_params record;
        vyre_record_params_init(&record);
        record.command_buffer = commands[f].buffer;
        record.dispatch = m.params;
        record.retirement.frame = frame;
        vyre_recording *recording = NULL;
        assert_int_equal(vyre_record(p.pipeline, &record, &recording, &diag), VYRE_OK);
        assert_int_equal(vy_commands_end(device, &commands[f], &diag), VYRE_OK);
        assert_int_equal(vy_queue_submit(device, commands[f].buffer, "a frame", &values[f], &diag),
                         VYRE_OK);
        vyre_recording_destroy(&recording);
    }
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    expect_only(&w, 10, 10);
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.instances, FRAMES);
    vyre_device_retire(device, 20);
    for (uint32_t f = 0; f < FRAMES; f++) {
        vy_commands_destroy(device, &commands[f]);
    }
    assert_int_equal(vyre_buffer_download(device, m.buffers[1], 0, m.y, sizeof m.y, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_buffer_download(device, m.buffers[2], 0, m.z, sizeof m.z, &diag),
                     VYRE_OK);
    expect_mixed(&m, 20);
    mixed_finish(&m);
    engine_release(&p);
}

static void test_steady_sequences_only_submit(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, mixed_text);
    mixed m;
    mixed_init(&m, 7, 2);
    for (uint32_t b = 0; b < 3; b++) {
        m.bindings[b].out = NULL;
    }
    vyre_step step = {.pipeline = p.pipeline, .dispatch = m.params};
    vyre_download downloads[] = {{m.buffers[1], 0, sizeof m.y, m.y},
                                 {m.buffers[2], 0, sizeof m.z, m.z}};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &step;
    params.group_count = 1;
    params.repeat = 4;
    params.downloads = downloads;
    params.download_count = 2;
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag), VYRE_OK);
    assert_int_equal(vyre_sequence_run(sequence, 0, NULL, &diag), VYRE_OK);
    window w = begin();
    for (uint32_t i = 0; i < 5; i++) {
        vyre_report report;
        assert_int_equal(vyre_sequence_run(sequence, 0, &report, &diag), VYRE_OK);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(report.recordings, 0);
    }
    expect_only(&w, 5, 0);
    expect_mixed(&m, 24);
    vyre_sequence_destroy(&sequence);
    mixed_finish(&m);
    engine_release(&p);
}

/* ---- Counting what is recorded --------------------------------------------------------------- */

static void test_first_dispatch_is_counted_as_it_was_recorded(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, mixed_text);
    mixed m;
    mixed_init(&m, 7, 3);
    window w = begin();
    vyre_report report = must_dispatch(&p, &m.params);
    vyre_device_counters c = end(&w);
    assert_int_equal(layer_calls("vkBeginCommandBuffer"), 1);
    assert_int_equal(c.recordings, 1);
    assert_int_equal(report.recordings, 1);
    assert_int_equal(report.submissions, 1);
    assert_int_equal(report.waits, c.waits);
    assert_int_equal(report.barriers_recorded, c.barriers);
    assert_int_equal(report.descriptor_writes, c.descriptor_writes);
    assert_int_equal(report.dispatches_recorded, 2);
    assert_int_equal(report.dispatches_executed, 2);
    assert_int_equal(c.dispatches, layer_count(LAYER_DISPATCH)); /* with those of transfers */
    assert_int_equal(report.upload_size, 0);
    assert_int_equal(report.download_size, sizeof m.y + sizeof m.z);
    assert_int_equal(report.downloads, 2);
    mixed_finish(&m);
    engine_release(&p);
}

/* ---- A short soak: tests/soak has the long one ----------------------------------------------- */

static void test_steady_thousands_of_dispatches(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    uint32_t x[8] = {0}, y[8];
    vyre_binding bindings[] = {engine_host_in(x, 8), engine_host_out(y, 8)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    uint32_t k = 0;
    params.bindings = bindings;
    params.binding_count = 2;
    params.params = &k;
    params.param_count = 1;
    (void)must_dispatch(&p, &params);
    size_t calls = memory.calls;
    vyre_device_counters before, after;
    vyre_device_get_counters(device, &before);
    for (uint32_t i = 0; i < 20000; i++) {
        k = x[7] = i;
        (void)must_dispatch(&p, &params);
        assert_int_equal(y[7], 4 * i);
    }
    vyre_device_get_counters(device, &after);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(after.submissions - before.submissions, 20000);
    assert_int_equal(after.recordings, before.recordings);
    assert_int_equal(after.memory_size, before.memory_size);
    engine_release(&p);
}

static void test_steady_creation_and_destruction(void **state)
{
    (void)state;
    NEED_OPEN(device);
    size_t live = 0;
    int32_t alive = 0;
    for (uint32_t i = 0; i < 200; i++) {
        engine_program p = engine_build(device, mixed_text);
        mixed m;
        mixed_init(&m, i % 8, 3);
        (void)must_dispatch(&p, &m.params);
        expect_mixed(&m, 1);
        mixed_finish(&m);
        engine_release(&p);
        if (i == 20) {
            live = memory.live_size;
            alive = layer_alive();
        }
    }
    assert_int_equal(memory.live_size, live);
    assert_int_equal(layer_alive(), alive);
}

int main(void)
{
#define T(test, open) cmocka_unit_test_setup_teardown(test, open, close_device)
#define ALL(test)     T(test, open_address), T(test, open_push), T(test, open_set)
    const struct CMUnitTest tests[] = {
        ALL(test_steady_dispatch_only_submits),
        ALL(test_steady_tickets_only_submit),
        ALL(test_steady_rebinding),
        ALL(test_steady_until_only_submits),
        ALL(test_steady_until_records_each_chunk_once),
        T(test_steady_many_passes_allocate_no_more, open_address),
        ALL(test_steady_recordings_of_frames_in_flight),
        ALL(test_steady_sequences_only_submit),
        ALL(test_first_dispatch_is_counted_as_it_was_recorded),
        T(test_steady_thousands_of_dispatches, open_address),
        T(test_steady_creation_and_destruction, open_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

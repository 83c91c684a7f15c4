/* Dispatches beside a renderer's own work: its semaphores, its buffers and whose queue family they
 * are of. */
#include "engine/device/device.h"
#include "tests/engine/renderer.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 256u
#define SIZE  (COUNT * sizeof(uint32_t))

static renderer r;
static int is_open;
static vyre_device *device;

static int open_with(int validate)
{
    layer_reset();
    is_open = !engine_has_no_device();
    if (is_open) {
        renderer_open(&r, layer_entry(), validate);
        device = renderer_adopt(&r, NULL);
    }
    return 0;
}

static int open_validated(void **state)
{
    (void)state;
    return open_with(1);
}

static int open_plain(void **state)
{
    (void)state;
    return open_with(0);
}

static int close_renderer(void **state)
{
    (void)state;
    if (is_open) {
        /* lavapipe's queue still touches semaphores for a while after the last signal was seen, and
         * one of them is the device's. */
        assert_int_equal(r.vkDeviceWaitIdle(r.device), VK_SUCCESS);
        vyre_device_destroy(&device);
        renderer_close(&r);
        assert_int_equal(layer_alive(), 0);
        assert_int_equal(layer_missing(true), 0);
    }
    return 0;
}

static const char add_text[] = "program add\nworkgroup 64\ngrid over a\ninout a : u32[]\n"
                               "kernel { a[gid.x] = a[gid.x] + 1 }\n";
/* Counts a[0] down to 0, a[1] up. */
static const char down_text[] = "program down\nworkgroup 1\nfixpoint 4000 until f\ngrid over f\n"
                                "inout a : u32[]\nscratch f : u32[1]\n"
                                "kernel { a[1] = a[1] + 1\n"
                                "  if a[0] != 0 { a[0] = a[0] - 1  f[0] = 1 } }\n";

typedef struct work {
    vyre_binding list[2];
    vyre_host_sync sync;
    vyre_dispatch_params params;
} work;

static void fill_work(work *w, vyre_buffer buffer, uint32_t bindings)
{
    memset(w, 0, sizeof *w);
    w->list[0] = engine_resident(buffer, 0, VYRE_COUNT_DECLARED);
    vyre_dispatch_params_init(&w->params);
    w->params.strategy = VYRE_STRATEGY_REPLAY;
    w->params.bindings = w->list;
    w->params.binding_count = bindings;
    w->params.sync = &w->sync;
}

static vyre_ticket must_start(const engine_program *p, const work *w)
{
    vyre_ticket ticket;
    vyre_diag diag;
    if (vyre_dispatch_async(p->pipeline, &w->params, &ticket, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return ticket;
}

static vyre_report must_wait(vyre_ticket *ticket)
{
    vyre_report report;
    vyre_diag diag;
    if (vyre_ticket_wait(device, ticket, UINT64_MAX, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return report;
}

static uint32_t read_word(vyre_buffer buffer, uint32_t index)
{
    uint32_t word = 0;
    vyre_diag diag;
    assert_int_equal(
        vyre_buffer_download(device, buffer, index * sizeof word, &word, sizeof word, &diag),
        VYRE_OK);
    return word;
}

static void write_word(vyre_buffer buffer, uint32_t index, uint32_t word)
{
    vyre_diag diag;
    assert_int_equal(
        vyre_buffer_upload(device, buffer, index * sizeof word, &word, sizeof word, &diag),
        VYRE_OK);
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static void test_sync_waits_for_timelines_and_signals_them(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    vyre_semaphore_point waits[2] = {{renderer_timeline(&r), 5}, {renderer_timeline(&r), 2}};
    vyre_semaphore_point signals[2] = {{renderer_timeline(&r), 9}, {renderer_timeline(&r), 1}};
    work w;
    fill_work(&w, buffer, 1);
    w.sync =
        (vyre_host_sync){.wait_count = 2, .signal_count = 2, .waits = waits, .signals = signals};
    vyre_ticket ticket = must_start(&p, &w);
    int is_done = 1;
    vyre_diag diag;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(vyre_ticket_poll(device, ticket, &is_done, &diag), VYRE_OK);
        assert_int_equal(is_done, 0);
        assert_int_equal(renderer_value(&r, signals[0].semaphore), 0);
        VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                      .semaphore = waits[i].semaphore,
                                      .value = waits[i].value};
        assert_int_equal(r.vkSignalSemaphore(r.device, &info), VK_SUCCESS);
    }
    renderer_wait(&r, signals[0].semaphore, 9);
    renderer_wait(&r, signals[1].semaphore, 1);
    (void)must_wait(&ticket);
    assert_int_equal(read_word(buffer, 7), 1);
    engine_release(&p);
}

static void test_sync_stands_between_submissions_by_binary_semaphores(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL);
    VkBuffer back = renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer before = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer after = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    vyre_semaphore_point first = {renderer_binary(&r), 0}, second = {renderer_binary(&r), 0};
    renderer_begin(&r, before, 0);
    r.vkCmdFillBuffer(before, own, 0, SIZE, 41);
    renderer_end(&r, before);
    renderer_begin(&r, after, 0);
    renderer_copy_back(&r, after, own, back, SIZE);
    renderer_end(&r, after);
    work w;
    fill_work(&w, buffer, 1);
    w.sync =
        (vyre_host_sync){.wait_count = 1, .signal_count = 1, .waits = &first, .signals = &second};
    for (int round = 0; round < 3; round++) {
        renderer_submit_work(&r, &(renderer_submit){.commands = {before},
                                                    .command_count = 1,
                                                    .signals = {first},
                                                    .signal_count = 1});
        vyre_ticket ticket = must_start(&p, &w);
        renderer_submit_work(
            &r, &(renderer_submit){
                    .commands = {after}, .command_count = 1, .waits = {second}, .wait_count = 1});
        (void)must_wait(&ticket);
        assert_int_equal(r.vkDeviceWaitIdle(r.device), VK_SUCCESS);
        assert_int_equal(mapped[0], 42);
        assert_int_equal(mapped[COUNT - 1], 42);
    }
    engine_release(&p);
}

/* Whatever the number of chunks, and wherever in them the loop ends. */
static void test_sync_signals_when_a_fixpoint_ends_early(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, down_text, VYRE_BINDINGS_AUTO);
    VkSemaphore timeline = renderer_timeline(&r);
    static const uint32_t froms[] = {0, 1, 2, 3, 6, 7, 20, 5000};
    for (uint32_t i = 0; i < 8; i++) {
        write_word(buffer, 0, froms[i]);
        vyre_semaphore_point signal = {timeline, i + 1};
        work w;
        fill_work(&w, buffer, 2);
        w.sync = (vyre_host_sync){.signal_count = 1, .signals = &signal};
        vyre_ticket ticket = must_start(&p, &w);
        vyre_report report = must_wait(&ticket);
        assert_int_equal(report.passes, froms[i] < 4000 ? froms[i] + 1 : 4000);
        renderer_wait(&r, timeline, i + 1);
        assert_int_equal(renderer_value(&r, timeline), i + 1);
    }
    engine_release(&p);
}

static void test_sync_signals_for_an_empty_grid(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    const char *texts[] = {add_text, "program e\nworkgroup 1\nfixpoint 9 until f\ngrid over a\n"
                                     "inout a : u32[]\nscratch f : u32[1]\n"
                                     "kernel { a[0] = 1 }\n"};
    VkSemaphore timeline = renderer_timeline(&r);
    for (uint32_t i = 0; i < 2; i++) {
        engine_program p = renderer_build(device, texts[i], VYRE_BINDINGS_AUTO);
        vyre_semaphore_point signal = {timeline, i + 1};
        work w;
        fill_work(&w, buffer, i + 1);
        w.list[0].count = 0;
        w.sync = (vyre_host_sync){.signal_count = 1, .signals = &signal};
        vyre_ticket ticket = must_start(&p, &w);
        renderer_wait(&r, timeline, i + 1);
        (void)must_wait(&ticket);
        engine_release(&p);
    }
    assert_int_equal(read_word(buffer, 0), 0);
}

static void test_sync_signals_nothing_after_an_error(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, down_text, VYRE_BINDINGS_AUTO);
    vyre_semaphore_point signal = {renderer_timeline(&r), 1};
    for (uint32_t n = 1; n <= 2; n++) {
        write_word(buffer, 0, 3000);
        work w;
        fill_work(&w, buffer, 2);
        w.sync = (vyre_host_sync){.signal_count = 1, .signals = &signal};
        layer.fail_only = "vkQueueSubmit";
        layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        layer.fail_at = layer_fallible_calls() + n;
        vyre_ticket ticket = {0};
        vyre_diag diag;
        vyre_result code = vyre_dispatch_async(p.pipeline, &w.params, &ticket, &diag);
        if (n == 2) {
            assert_int_equal(code, VYRE_OK);
            code = vyre_ticket_wait(device, &ticket, UINT64_MAX, NULL, &diag);
        }
        layer.fail_only = NULL;
        layer.fail_at = 0;
        assert_int_equal(code, VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        assert_int_equal(ticket.bits, 0);
        assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
        assert_int_equal(renderer_value(&r, signal.semaphore), 0);
        /* The device is usable, and so is the buffer. */
        write_word(buffer, 0, 1);
        fill_work(&w, buffer, 2);
        ticket = must_start(&p, &w);
        assert_int_equal(must_wait(&ticket).passes, 2);
    }
    engine_release(&p);
}

static void test_sync_signals_nothing_of_a_run_that_was_dropped(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, down_text, VYRE_BINDINGS_AUTO);
    vyre_semaphore_point signal = {renderer_timeline(&r), 1};
    vyre_semaphore_point wait = {renderer_timeline(&r), 1};
    write_word(buffer, 0, 3000);
    work w;
    fill_work(&w, buffer, 2);
    w.sync =
        (vyre_host_sync){.wait_count = 1, .signal_count = 1, .waits = &wait, .signals = &signal};
    vyre_ticket ticket = must_start(&p, &w);
    vyre_diag diag;
    assert_int_equal(vyre_ticket_drop(device, &ticket, &diag), VYRE_OK);
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = wait.semaphore,
                                  .value = wait.value};
    assert_int_equal(r.vkSignalSemaphore(r.device, &info), VK_SUCCESS);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(renderer_value(&r, signal.semaphore), 0);
    assert_int_equal(read_word(buffer, 1), 2); /* the first chunk */
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
}

static void refuse(const engine_program *p, const work *w, const char *text)
{
    vyre_ticket ticket;
    vyre_diag diag;
    layer_clear_events();
    assert_int_equal(vyre_dispatch_async(p->pipeline, &w->params, &ticket, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    if (!strstr(diag.message, text)) {
        fail_msg("\"%s\" is not in: %s", text, diag.message);
    }
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    assert_int_equal(layer_count(LAYER_BEGIN), 0);
}

static void test_sync_refuses_wrong_lists(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    vyre_buffer other = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    vyre_semaphore_point none[17] = {{VK_NULL_HANDLE, 1}};
    vyre_ownership unbound = {other, r.family}, nowhere = {buffer, 77};
    const struct {
        vyre_host_sync sync;
        const char *text;
    } cases[] = {
        {{.wait_count = 17, .waits = none}, "at most 16"},
        {{.signal_count = 17, .signals = none}, "at most 16"},
        {{.wait_count = 1}, "without a list"},
        {{.signal_count = 1}, "without a list"},
        {{.wait_count = 1, .waits = none}, "VK_NULL_HANDLE"},
        {{.signal_count = 1, .signals = none}, "VK_NULL_HANDLE"},
        {{.acquire_count = 1}, "without a list"},
        {{.release_count = 1}, "without a list"},
        {{.acquire_count = 1, .acquires = &unbound}, "not bound"},
        {{.release_count = 1, .releases = &unbound}, "not bound"},
        {{.acquire_count = 1, .acquires = &nowhere}, "queue family 77"},
        {{.release_count = 1, .releases = &nowhere}, "queue family 77"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        work w;
        fill_work(&w, buffer, 1);
        w.sync = cases[i].sync;
        refuse(&p, &w, cases[i].text);
    }
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
}

/* ---- Tickets --------------------------------------------------------------------------------- */

static void test_tickets_are_waited_for_by_the_renderers_queue(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    const uint32_t *mapped = NULL;
    VkBuffer back = renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    VkBuffer ours = VK_NULL_HANDLE;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_export(device, buffer, &ours, &diag), VYRE_OK);
    renderer_begin(&r, commands, 0);
    renderer_copy_back(&r, commands, ours, back, SIZE);
    renderer_end(&r, commands);
    /* Held back until the renderer's submission is there. */
    vyre_semaphore_point gate = {renderer_timeline(&r), 1}, point, done = {gate.semaphore, 2};
    work w;
    fill_work(&w, buffer, 1);
    w.sync = (vyre_host_sync){.wait_count = 1, .waits = &gate};
    vyre_ticket ticket = must_start(&p, &w);
    assert_int_equal(vyre_ticket_export(device, ticket, &point, &diag), VYRE_OK);
    assert_true(point.semaphore != VK_NULL_HANDLE && point.value > 0);
    renderer_submit_work(&r, &(renderer_submit){.commands = {commands},
                                                .command_count = 1,
                                                .waits = {point},
                                                .wait_count = 1,
                                                .signals = {done},
                                                .signal_count = 1});
    assert_int_equal(renderer_value(&r, gate.semaphore), 0);
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = gate.semaphore, .value = 1};
    assert_int_equal(r.vkSignalSemaphore(r.device, &info), VK_SUCCESS);
    renderer_wait(&r, done.semaphore, 2);
    assert_int_equal(mapped[0], 1);
    assert_int_equal(mapped[COUNT - 1], 1);
    vyre_ticket stale = ticket;
    (void)must_wait(&ticket);
    assert_int_equal(vyre_ticket_export(device, stale, &point, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(point.semaphore == VK_NULL_HANDLE);
    assert_int_equal(vyre_ticket_export(device, stale, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    engine_release(&p);
}

static void test_tickets_of_long_fixpoints_have_no_value_yet(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    engine_program p = renderer_build(device, down_text, VYRE_BINDINGS_AUTO);
    write_word(buffer, 0, 30);
    work w;
    fill_work(&w, buffer, 2);
    vyre_ticket ticket = must_start(&p, &w);
    vyre_semaphore_point point;
    vyre_diag diag;
    assert_int_equal(vyre_ticket_export(device, ticket, &point, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "semaphore to signal"));
    uint32_t index = 0;
    assert_int_equal(
        vyre_ticket_wait_many(device, &ticket, 1, VYRE_WAIT_ALL, UINT64_MAX, &index, &diag),
        VYRE_OK);
    assert_int_equal(vyre_ticket_export(device, ticket, &point, &diag), VYRE_OK);
    renderer_wait(&r, point.semaphore, point.value);
    assert_int_equal(must_wait(&ticket).passes, 31);
    /* Three passes are submitted at once. */
    w.params.passes = 3;
    ticket = must_start(&p, &w);
    assert_int_equal(vyre_ticket_export(device, ticket, &point, &diag), VYRE_OK);
    (void)must_wait(&ticket);
    engine_release(&p);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void test_imports_go_by_address_where_they_have_one(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    static const VkBufferUsageFlags usages[] = {
        RENDERER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, RENDERER_USAGE,
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    static const char *const ways[] = {"address", "push descriptor", "address"};
    device->bindings = VYRE_BINDINGS_ADDRESS; /* where AUTO has the choice: as on GPUs */
    engine_program p = renderer_build(device,
                                      "program both\nworkgroup 64\ngrid over a\n"
                                      "inout a : u32[]\nout b : u32[len(a)]\n"
                                      "kernel { a[gid.x] = a[gid.x] + 3\n"
                                      "  if gid.x > 5 { b[gid.x] = a[gid.x] } }\n",
                                      VYRE_BINDINGS_AUTO);
    engine_program strict = renderer_build(device, add_text, VYRE_BINDINGS_ADDRESS);
    vyre_buffer out = engine_buffer(device, SIZE, NULL);
    for (int i = 0; i < 3; i++) {
        vyre_buffer buffer =
            renderer_import(device, renderer_buffer(&r, SIZE, usages[i], NULL), SIZE, usages[i]);
        work w;
        fill_work(&w, buffer, 2);
        w.list[1] = engine_resident(out, 0, COUNT);
        w.params.sync = NULL;
        vyre_report report;
        vyre_diag diag;
        write_word(out, 0, 9);
        assert_int_equal(vyre_dispatch(p.pipeline, &w.params, &report, &diag), VYRE_OK);
        assert_string_equal(report.bindings, ways[i]);
        assert_int_equal(read_word(out, 0), 0);
        assert_int_equal(read_word(out, 8), read_word(out, COUNT - 1));
        w.params.binding_count = 1;
        vyre_result wanted = i == 1 ? VYRE_ERROR_UNSUPPORTED_FEATURE : VYRE_OK;
        assert_int_equal(vyre_dispatch(strict.pipeline, &w.params, &report, &diag), wanted);
        if (i == 1) {
            assert_int_equal(diag.binding, 0);
            assert_non_null(strstr(diag.message, "SHADER_DEVICE_ADDRESS"));
        }
        if (i == 2) { /* no transfers with it */
            uint32_t word = 0;
            assert_int_equal(vyre_buffer_download(device, buffer, 0, &word, 4, &diag),
                             VYRE_ERROR_INVALID_ARGUMENT);
            assert_non_null(strstr(diag.message, "TRANSFER_SRC"));
            assert_int_equal(vyre_buffer_fill(device, buffer, 0, 4, 0, &diag),
                             VYRE_ERROR_INVALID_ARGUMENT);
        }
        assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    }
    engine_release(&strict);
    engine_release(&p);
}

/* By descriptors a buffer that is made zero needs the usage for that. */
static void test_imports_say_which_usage_is_missing(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    engine_program p = renderer_build(device,
                                      "program some\nworkgroup 64\nout a : u32[]\n"
                                      "kernel { if gid.x == 3 { a[3] = 1 } }\n",
                                      VYRE_BINDINGS_AUTO);
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    vyre_buffer buffer =
        renderer_import(device, renderer_buffer(&r, SIZE, usage, NULL), SIZE, usage);
    work w;
    fill_work(&w, buffer, 1);
    w.params.elements[0] = 10;
    refuse(&p, &w, "VK_BUFFER_USAGE_TRANSFER_DST_BIT");
    engine_release(&p);
}

static void test_exports_are_written_by_the_renderers_commands(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_buffer buffer = engine_buffer(device, SIZE, NULL);
    VkBuffer ours = VK_NULL_HANDLE;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_export(device, buffer, &ours, &diag), VYRE_OK);
    VkCommandBuffer commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    vyre_semaphore_point done = {renderer_timeline(&r), 1};
    renderer_begin(&r, commands, 0);
    r.vkCmdFillBuffer(commands, ours, 0, SIZE / 2, 6);
    renderer_end(&r, commands);
    renderer_submit_work(
        &r, &(renderer_submit){
                .commands = {commands}, .command_count = 1, .signals = {done}, .signal_count = 1});
    work w;
    fill_work(&w, buffer, 1);
    w.sync = (vyre_host_sync){.wait_count = 1, .waits = &done};
    vyre_ticket ticket = must_start(&p, &w);
    (void)must_wait(&ticket);
    assert_int_equal(read_word(buffer, 0), 7);
    assert_int_equal(read_word(buffer, COUNT - 1), 1);
    vyre_buffer stale = buffer;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_export(device, stale, &ours, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(ours == VK_NULL_HANDLE);
    engine_release(&p);
}

/* Ranges of two imports of one VkBuffer overlap as those of one import do. */
static void two_imports(vyre_binding_mode bindings, VkBufferUsageFlags usage)
{
    VkBuffer own = renderer_buffer(&r, SIZE, usage, NULL);
    vyre_buffer one = renderer_import(device, own, SIZE, usage);
    vyre_buffer two = renderer_import(device, own, SIZE, usage);
    assert_true(one.bits != two.bits);
    engine_program p = renderer_build(device,
                                      "program shift\nworkgroup 64\ngrid over x\n"
                                      "inout x : u32[]\ninout y : u32[]\n"
                                      "kernel {\n"
                                      "  x[gid.x] = gid.x\n  grid_sync\n"
                                      "  y[gid.x] = y[gid.x] + 1000\n  grid_sync\n"
                                      "  x[gid.x] = x[gid.x] + 1\n}\n",
                                      bindings);
    work w;
    fill_work(&w, one, 2);
    const uint32_t half = COUNT / 2, offset = 64 * sizeof(uint32_t);
    w.list[0] = engine_resident(one, 0, half);
    w.list[1] = engine_resident(two, offset, half);
    w.params.sync = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_fill(device, one, 0, SIZE, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_dispatch(p.pipeline, &w.params, NULL, &diag), VYRE_OK);
    assert_int_equal(read_word(two, 10), 11);
    assert_int_equal(read_word(two, 70), 70 + 1000 + 1);
    assert_int_equal(read_word(two, 150), 1000);
    /* One that is read by itself only. */
    engine_program reader = renderer_build(device,
                                           "program reader\nworkgroup 64\ngrid over y\n"
                                           "in x : u32[]\ninout y : u32[]\n"
                                           "kernel { y[gid.x] = x[gid.x] }\n",
                                           bindings);
    assert_int_equal(vyre_dispatch(reader.pipeline, &w.params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "overlap"));
    w.list[1].offset = half * sizeof(uint32_t);
    assert_int_equal(vyre_dispatch(reader.pipeline, &w.params, NULL, &diag), VYRE_OK);
    assert_int_equal(read_word(one, half + 10), 11);
    /* Each ends on its own, and leaves the VkBuffer. */
    assert_int_equal(vyre_buffer_destroy(device, &one, &diag), VYRE_OK);
    assert_int_equal(read_word(two, 10), 11);
    engine_release(&reader);
    engine_release(&p);
}

static void test_two_imports_of_one_buffer_by_descriptors(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    two_imports(VYRE_BINDINGS_DESCRIPTOR, RENDERER_USAGE);
}

static void test_two_imports_of_one_buffer_by_addresses(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    two_imports(VYRE_BINDINGS_ADDRESS, RENDERER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
}

/* ---- Ownership: between families that only the layer knows of ---------------------------------
 */

static int open_families(void **state)
{
    (void)state;
    layer_reset();
    layer.three_families = true;
    is_open = !engine_has_no_device();
    if (is_open) {
        renderer_open(&r, layer_entry(), 0);
        device = renderer_adopt(&r, NULL);
    }
    return 0;
}

/* One acquire from that family, one release to this one, of the whole buffer. */
static void assert_transferred(VkBuffer buffer, uint32_t from, uint32_t to)
{
    uint32_t count = 0, acquires = 0, releases = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind != LAYER_BARRIER || !events[i].buffer) {
            continue;
        }
        assert_true(events[i].buffer == buffer);
        if (events[i].src_family == from && events[i].dst_family == r.family) {
            acquires++;
            assert_true(events[i].dst_access & VK_ACCESS_MEMORY_READ_BIT);
        } else {
            releases++;
            assert_int_equal(events[i].src_family, r.family);
            assert_int_equal(events[i].dst_family, to);
            assert_true(events[i].src_access & VK_ACCESS_MEMORY_WRITE_BIT);
        }
    }
    assert_int_equal(acquires, 1);
    assert_int_equal(releases, 1);
}

static void test_ownership_goes_both_ways_with_a_dispatch(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    const VkBufferUsageFlags usage = RENDERER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkBuffer own = renderer_buffer(&r, SIZE, usage, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, usage);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    assert_int_equal(vyre_device_queue_family(device), r.family);
    vyre_ownership from = {buffer, r.family + 1}, to = {buffer, VK_QUEUE_FAMILY_EXTERNAL};
    vyre_diag diag;
    assert_int_equal(vyre_buffer_fill(device, buffer, 0, SIZE, 0, &diag), VYRE_OK);
    for (uint32_t round = 1; round <= 3; round++) {
        work w;
        fill_work(&w, buffer, 1);
        w.sync = (vyre_host_sync){
            .acquire_count = 1, .release_count = 1, .acquires = &from, .releases = &to};
        layer_clear_events();
        vyre_ticket ticket = must_start(&p, &w);
        vyre_report report = must_wait(&ticket);
        assert_transferred(own, r.family + 1, VK_QUEUE_FAMILY_EXTERNAL);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(report.recordings, round == 1); /* of the program's own commands */
        assert_int_equal(read_word(buffer, 0), round);
    }
    engine_release(&p);
}

static void test_ownership_goes_both_ways_in_a_recording(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    VkBuffer own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL);
    VkCommandBuffer commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device, add_text, VYRE_BINDINGS_AUTO);
    vyre_ownership other = {buffer, r.family + 1}, wrong = {buffer, r.family + 2};
    for (int mode = 0; mode < 2; mode++) {
        work w;
        fill_work(&w, buffer, 1);
        w.sync = (vyre_host_sync){
            .acquire_count = 1, .release_count = 1, .acquires = &other, .releases = &other};
        vyre_record_params params;
        vyre_record_params_init(&params);
        params.command_buffer = commands;
        params.before = params.after = mode ? VYRE_BARRIERS_HOST : VYRE_BARRIERS_LIBRARY;
        params.dispatch = w.params;
        renderer_begin(&r, commands, 0);
        vyre_recording *recording = NULL;
        vyre_diag diag;
        layer_clear_events();
        w.sync.releases = &wrong;
        assert_int_equal(vyre_record(p.pipeline, &params, &recording, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(layer_count(LAYER_BARRIER), 0);
        w.sync.releases = &other;
        assert_int_equal(vyre_record(p.pipeline, &params, &recording, &diag), VYRE_OK);
        assert_transferred(own, r.family + 1, r.family + 1);
        uint32_t count = 0;
        const layer_event *events = layer_events(&count);
        assert_true(events[0].kind == LAYER_BARRIER && events[0].buffer == own);
        assert_true(events[count - 1].kind == LAYER_BARRIER && events[count - 1].buffer == own);
        renderer_end(&r, commands);
        renderer_submit_and_wait(&r, commands);
        vyre_recording_destroy(&recording);
    }
    engine_release(&p);
}

static void test_adopt_refuses_a_family_without_compute(void **state)
{
    (void)state;
    NEED_OPEN(is_open);
    vyre_adopt_params params = renderer_adoption(&r);
    params.queue_family = r.family + 1;
    vyre_device *other = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_adopt(&params, &other, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "VK_QUEUE_COMPUTE_BIT"));
    assert_null(other);
    params.queue_family = r.family + 2;
    assert_int_equal(vyre_device_adopt(&params, &other, &diag), VYRE_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
#define T(test)        cmocka_unit_test_setup_teardown(test, open_validated, close_renderer)
#define PLAIN(test)    cmocka_unit_test_setup_teardown(test, open_plain, close_renderer)
#define FAMILIES(test) cmocka_unit_test_setup_teardown(test, open_families, close_renderer)
    const struct CMUnitTest tests[] = {
        T(test_sync_waits_for_timelines_and_signals_them),
        T(test_sync_stands_between_submissions_by_binary_semaphores),
        T(test_sync_signals_when_a_fixpoint_ends_early),
        T(test_sync_signals_for_an_empty_grid),
        PLAIN(test_sync_signals_nothing_after_an_error),
        T(test_sync_signals_nothing_of_a_run_that_was_dropped),
        PLAIN(test_sync_refuses_wrong_lists),
        T(test_tickets_are_waited_for_by_the_renderers_queue),
        T(test_tickets_of_long_fixpoints_have_no_value_yet),
        T(test_imports_go_by_address_where_they_have_one),
        T(test_imports_say_which_usage_is_missing),
        T(test_exports_are_written_by_the_renderers_commands),
        T(test_two_imports_of_one_buffer_by_descriptors),
        PLAIN(test_two_imports_of_one_buffer_by_addresses),
        FAMILIES(test_ownership_goes_both_ways_with_a_dispatch),
        FAMILIES(test_ownership_goes_both_ways_in_a_recording),
        FAMILIES(test_adopt_refuses_a_family_without_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Recordings in a renderer's command buffers: where they may stand, what they leave, when they let
 * go of what they use. */
#include "tests/engine/renderer.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT  256u
#define SIZE   (COUNT * sizeof(uint32_t))
#define FRAMES 3u /* in flight */

static renderer r;
static int is_open;

static int open_with(int validate, int through_layer)
{
    layer_reset();
    is_open = !engine_has_no_device();
    if (is_open) {
        renderer_open(&r, through_layer ? layer_entry() : NULL, validate);
    }
    return 0;
}

static int open_validated(void **state)
{
    (void)state;
    return open_with(1, 1);
}

static int open_plain(void **state)
{
    (void)state;
    return open_with(0, 1);
}

static int open_threads(void **state)
{
    (void)state;
    return open_with(1, 0);
}

static int close_renderer(void **state)
{
    (void)state;
    if (is_open) {
        renderer_close(&r);
        assert_int_equal(layer_alive(), 0);
        assert_int_equal(layer_missing(true), 0);
    }
    return 0;
}

#define NEED_DEVICE()                                                                              \
    if (!is_open)                                                                                  \
    return

/* a[i] becomes the a[COUNT - 1 - i] before, plus that index, plus 1. */
static const char reverse_text[] =
    "program reverse\nworkgroup 64\ngrid over a\n"
    "inout a : u32[]\nscratch b : u32[len(a)]\nscratch n : u32[1]\n"
    "kernel {\n"
    "  if gid.x < len(a) { b[gid.x] = a[gid.x] + gid.x }\n"
    "  if gid.x == 0 { n[0] = n[0] + 1 }\n"
    "  grid_sync\n"
    "  if gid.x < len(a) { a[gid.x] = b[len(a) - 1 - gid.x] + n[0] }\n"
    "}\n";

static uint32_t reversed(uint32_t value, uint32_t i)
{
    return value + (COUNT - 1 - i) + 1;
}

static vyre_record_params recording_of(VkCommandBuffer commands, vyre_binding *list,
                                       vyre_buffer buffer)
{
    memset(list, 0, 3 * sizeof *list);
    list[0] = engine_resident(buffer, 0, VYRE_COUNT_DECLARED);
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = commands;
    params.dispatch.bindings = list;
    params.dispatch.binding_count = 3;
    return params;
}

static vyre_recording *must_record(const engine_program *p, const vyre_record_params *params)
{
    vyre_recording *recording = NULL;
    vyre_diag diag;
    if (vyre_record(p->pipeline, params, &recording, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return recording;
}

static void refuse(const engine_program *p, const vyre_record_params *params, vyre_result code,
                   const char *text)
{
    vyre_recording *recording = NULL;
    vyre_diag diag;
    layer_clear_events();
    assert_int_equal(vyre_record(p->pipeline, params, &recording, &diag), code);
    if (!strstr(diag.message, text)) {
        fail_msg("\"%s\" is not in: %s", text, diag.message);
    }
    assert_null(recording);
    uint32_t count = 0;
    (void)layer_events(&count);
    assert_int_equal(count, 0);
}

/* ---- Where recordings stand ------------------------------------------------------------------ */

static void test_record_into_secondary_commands(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL);
    VkBuffer back = renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer first = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer second = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    vyre_device *device = renderer_adopt(&r, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device, reverse_text, VYRE_BINDINGS_AUTO);
    vyre_binding list[3];
    renderer_begin(&r, second, 1);
    vyre_record_params params = recording_of(second, list, buffer);
    vyre_recording *recording = must_record(&p, &params);
    renderer_end(&r, second);
    /* Again in other commands once it has completed. */
    for (uint32_t round = 0; round < 3; round++) {
        renderer_begin(&r, first, 0);
        r.vkCmdFillBuffer(first, own, 0, SIZE, 10 * round);
        r.vkCmdExecuteCommands(first, 1, &second);
        renderer_copy_back(&r, first, own, back, SIZE);
        renderer_end(&r, first);
        renderer_submit_and_wait(&r, first);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(mapped[i], reversed(10 * round, i));
        }
    }
    vyre_recording_destroy(&recording);
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* Records with barriers of the library's or the renderer's at each end; `left_out`: the renderer's
 * is missing there (1 before, 2 after). */
static void record_between(const engine_program *p, VkCommandBuffer commands, VkBuffer own,
                           VkBuffer back, vyre_buffer buffer, int mode, int left_out,
                           vyre_recording **out)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                        VK_PIPELINE_STAGE_TRANSFER_BIT |
                                        VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
    const VkAccessFlags accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                   VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
    vyre_binding list[3];
    vyre_record_params params = recording_of(commands, list, buffer);
    params.dispatch.binding_count = vyre_kernel_binding_count(p->kernel);
    params.before = mode & 1 ? VYRE_BARRIERS_HOST : VYRE_BARRIERS_LIBRARY;
    params.after = mode & 2 ? VYRE_BARRIERS_HOST : VYRE_BARRIERS_LIBRARY;
    renderer_begin(&r, commands, 0);
    r.vkCmdFillBuffer(commands, own, 0, SIZE, 50);
    if (mode & 1 && !(left_out & 1)) {
        renderer_barrier(&r, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                         stages, accesses);
    }
    *out = must_record(p, &params);
    if (mode & 2 && !(left_out & 2)) {
        renderer_barrier(&r, commands,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    }
    renderer_copy_back(&r, commands, own, back, SIZE);
    renderer_end(&r, commands);
}

static void test_record_with_either_ones_barriers(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL);
    VkBuffer back = renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_device *device = renderer_adopt(&r, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device, reverse_text, VYRE_BINDINGS_DESCRIPTOR);
    vyre_recording *recording = NULL;
    for (int mode = 0; mode < 4; mode++) {
        record_between(&p, commands, own, back, buffer, mode, 0, &recording);
        for (int round = 0; round < 2; round++) {
            renderer_submit_and_wait(&r, commands);
            assert_int_equal(mapped[0], reversed(50, 0));
            assert_int_equal(mapped[COUNT - 1], reversed(50, COUNT - 1));
        }
        vyre_recording_destroy(&recording);
        assert_int_equal(r.messages, 0);
    }
    /* The judge must be able to find one that is missing: with a program without transfers of the
     * library's, whose barrier would do for the renderer's. */
    engine_program add = renderer_build(device,
                                        "program add\nworkgroup 64\ngrid over a\n"
                                        "inout a : u32[]\n"
                                        "kernel { a[gid.x] = a[gid.x] + 1 }\n",
                                        VYRE_BINDINGS_DESCRIPTOR);
    for (int left_out = 1; left_out < 3 && r.validates; left_out++) {
        r.expects_messages = 1;
        record_between(&add, commands, own, back, buffer, 3, left_out, &recording);
        assert_true(r.messages > 0);
        vyre_recording_destroy(&recording);
        r.messages = 0;
        r.expects_messages = 0;
    }
    record_between(&add, commands, own, back, buffer, 3, 0, &recording);
    assert_int_equal(r.messages, 0);
    vyre_recording_destroy(&recording);
    engine_release(&add);
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* Three programs after each other in one command buffer, fixpoints among them, the library's
 * barriers between them. */
static void several_in_one(vyre_binding_mode bindings, VkBufferUsageFlags usage, const char *way)
{
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&r, SIZE, usage, NULL);
    VkBuffer back = renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_device *device = renderer_adopt(&r, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, usage);
    engine_program reverse = renderer_build(device, reverse_text, bindings);
    engine_program grow =
        renderer_build(device,
                       "program grow\nworkgroup 64\ngrid over a\nfixpoint 20 until more\n"
                       "inout a : u32[]\nscratch more : u32[1]\n"
                       "kernel { a[gid.x] = a[gid.x] + 1\n"
                       "  if a[gid.x] < 1000 { atomic_store(more[0], 1) } }\n",
                       bindings);
    vyre_binding list[3];
    vyre_record_params params = recording_of(commands, list, buffer);
    vyre_recording *recordings[3];
    renderer_begin(&r, commands, 0);
    r.vkCmdFillBuffer(commands, own, 0, SIZE, 740);
    recordings[0] = must_record(&reverse, &params);
    params.before = VYRE_BARRIERS_HOST; /* the ones before end with a barrier */
    recordings[1] = must_record(&reverse, &params);
    params.dispatch.binding_count = 2;
    recordings[2] = must_record(&grow, &params);
    renderer_copy_back(&r, commands, own, back, SIZE);
    renderer_end(&r, commands);
    for (int round = 0; round < 2; round++) {
        renderer_submit_and_wait(&r, commands);
        /* All are 740 + 255 + 2 after two, and 1000 after three more. */
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(mapped[i], 1000);
        }
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(vyre_recording_report(recordings[2], &report, &diag), VYRE_OK);
        assert_int_equal(report.passes, 3);
        assert_int_equal(report.passes_saved, 17);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        assert_string_equal(report.bindings, way);
        assert_true(report.wall_ns == VYRE_NS_NONE && report.enqueue_ns == VYRE_NS_NONE &&
                    report.record_ns == VYRE_NS_NONE && report.device_ns == VYRE_NS_NONE);
    }
    for (int i = 0; i < 3; i++) {
        vyre_recording_destroy(&recordings[i]);
    }
    engine_release(&grow);
    engine_release(&reverse);
    vyre_device_destroy(&device);
}

static void test_record_several_by_descriptors(void **state)
{
    (void)state;
    NEED_DEVICE();
    several_in_one(VYRE_BINDINGS_DESCRIPTOR, RENDERER_USAGE, "push descriptor");
}

static void test_record_several_by_addresses(void **state)
{
    (void)state;
    NEED_DEVICE();
    several_in_one(VYRE_BINDINGS_ADDRESS,
                   RENDERER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, "address");
}

/* ---- Retirement ------------------------------------------------------------------------------ */

typedef struct scene {
    VkBuffer own;
    VkCommandBuffer commands;
    vyre_device *device;
    vyre_buffer buffer;
    engine_program program;
    vyre_binding list[3];
} scene;

static scene open_scene(void)
{
    scene s = {.own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL),
               .commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY),
               .device = renderer_adopt(&r, NULL)};
    s.buffer = renderer_import(s.device, s.own, SIZE, RENDERER_USAGE);
    s.program = renderer_build(s.device, reverse_text, VYRE_BINDINGS_AUTO);
    return s;
}

static void close_scene(scene *s)
{
    engine_release(&s->program);
    vyre_device_destroy(&s->device);
}

static uint64_t instances(const scene *s)
{
    vyre_device_counters counters;
    vyre_device_get_counters(s->device, &counters);
    return counters.instances;
}

static vyre_recording *record_scene(scene *s, vyre_retirement retirement)
{
    vyre_record_params params = recording_of(s->commands, s->list, s->buffer);
    params.retirement = retirement;
    renderer_begin(&r, s->commands, 0);
    vyre_recording *recording = must_record(&s->program, &params);
    renderer_end(&r, s->commands);
    return recording;
}

static void test_record_retires_by_a_semaphore(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    VkSemaphore timeline = renderer_timeline(&r);
    vyre_recording *recording =
        record_scene(&s, (vyre_retirement){.semaphore = timeline, .value = 3});
    assert_int_equal(vyre_recording_is_retired(recording), 0);
    vyre_recording_destroy(&recording);
    assert_null(recording);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "recording"));
    (void)vyre_device_trim(s.device);
    assert_int_equal(instances(&s), 1); /* what the commands use is there */
    renderer_submit submit = {.commands = {s.commands},
                              .command_count = 1,
                              .signals = {{timeline, 3}},
                              .signal_count = 1};
    renderer_submit_work(&r, &submit);
    renderer_wait(&r, timeline, 3);
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    assert_int_equal(instances(&s), 1); /* for the next one */
    (void)vyre_device_trim(s.device);
    assert_int_equal(instances(&s), 0);
    close_scene(&s);
}

static void test_record_retires_by_a_frame(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 7});
    renderer_submit_and_wait(&r, s.commands);
    vyre_device_retire(s.device, 6);
    assert_int_equal(vyre_recording_is_retired(recording), 0);
    vyre_recording_destroy(&recording);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_ERROR_BUSY);
    vyre_device_retire(s.device, 7);
    vyre_device_retire(s.device, 2); /* never backwards */
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    /* Not the number of a frame that is over. */
    s.buffer = renderer_import(s.device, s.own, SIZE, RENDERER_USAGE);
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    params.retirement.frame = 7;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "frames up to 7");
    recording = record_scene(&s, (vyre_retirement){.frame = 8});
    vyre_device_retire(s.device, 100);
    assert_int_equal(vyre_recording_is_retired(recording), 1);
    vyre_recording_destroy(&recording);
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    close_scene(&s);
}

static void test_record_without_retirement_ends_with_destroy(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 0});
    renderer_submit_and_wait(&r, s.commands);
    vyre_device_retire(s.device, 1000);
    assert_int_equal(vyre_recording_is_retired(recording), 0);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_ERROR_BUSY);
    vyre_recording_destroy(&recording);
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    close_scene(&s);
}

static void test_record_retirement_is_learned_late_and_moved(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    VkSemaphore timeline = renderer_timeline(&r);
    vyre_diag diag;
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 0});
    vyre_retirement wrong[] = {{.semaphore = timeline, .value = 1, .frame = 1},
                               {.semaphore = timeline, .value = 0}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(vyre_recording_retire_at(recording, &wrong[i], &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
        params.retirement = wrong[i];
        refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "Fix:");
    }
    /* Submitted twice; the second value counts. */
    for (uint64_t value = 1; value <= 2; value++) {
        vyre_retirement at = {.semaphore = timeline, .value = value};
        assert_int_equal(vyre_recording_retire_at(recording, &at, &diag), VYRE_OK);
        assert_int_equal(vyre_recording_is_retired(recording), 0);
        renderer_submit submit = {.commands = {s.commands},
                                  .command_count = 1,
                                  .signals = {{timeline, value}},
                                  .signal_count = 1};
        renderer_submit_work(&r, &submit);
        renderer_wait(&r, timeline, value);
        assert_int_equal(vyre_recording_is_retired(recording), 1);
        vyre_report report;
        assert_int_equal(vyre_recording_report(recording, &report, &diag), VYRE_OK);
        assert_int_equal(report.dispatches_executed, 2);
    }
    vyre_recording_destroy(&recording);
    close_scene(&s);
}

static void test_record_buffers_are_released_with_it(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    vyre_diag diag;
    vyre_buffer ours = engine_buffer(s.device, SIZE, NULL);
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    s.buffer = ours;
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 1});
    assert_int_equal(vyre_buffer_release(s.device, &ours, &diag), VYRE_OK);
    vyre_device_counters counters;
    vyre_device_get_counters(s.device, &counters);
    assert_int_equal(counters.buffers, 1);
    renderer_submit_and_wait(&r, s.commands);
    vyre_recording_destroy(&recording);
    vyre_device_get_counters(s.device, &counters);
    assert_int_equal(counters.buffers, 1);
    vyre_device_retire(s.device, 1);
    vyre_device_get_counters(s.device, &counters);
    assert_int_equal(counters.buffers, 0);
    close_scene(&s);
}

/* What was given up and is in flight is waited for, and may be what never comes. */
static void test_record_pipelines_outlive_their_recordings(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    VkSemaphore timeline = renderer_timeline(&r);
    vyre_recording *recording =
        record_scene(&s, (vyre_retirement){.semaphore = timeline, .value = 1});
    renderer_submit submit = {.commands = {s.commands},
                              .command_count = 1,
                              .signals = {{timeline, 1}},
                              .signal_count = 1};
    renderer_submit_work(&r, &submit);
    vyre_recording_destroy(&recording);
    VkCommandBuffer other = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    s.commands = other;
    recording = record_scene(&s, (vyre_retirement){.frame = 5});
    renderer_submit_work(&r, &(renderer_submit){.commands = {other}, .command_count = 1});
    vyre_recording_destroy(&recording);
    engine_release(&s.program);
    assert_int_equal(renderer_value(&r, timeline), 1);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    vyre_device_destroy(&s.device);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct frame_slot {
    VkCommandBuffer commands;
    VkBuffer back;
    const uint32_t *mapped;
} frame_slot;

/* Two shapes each frame, three frames in flight: nothing is allocated after the first three. */
static void run_frames(vyre_binding_mode bindings, VkBufferUsageFlags usage, bool by_frame)
{
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    frame_slot slots[FRAMES];
    VkBuffer own = renderer_buffer(&r, SIZE, usage, NULL);
    for (uint32_t i = 0; i < FRAMES; i++) {
        slots[i].commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        slots[i].back =
            renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &slots[i].mapped);
    }
    VkSemaphore timeline = renderer_timeline(&r);
    vyre_device *device = renderer_adopt(&r, &allocator);
    vyre_buffer buffer = renderer_import(device, own, SIZE, usage);
    engine_program p = renderer_build(device, reverse_text, bindings);
    size_t calls = 0;
    int32_t alive = 0;
    vyre_device_counters counters = {0};
    for (uint32_t frame = 1; frame <= 40; frame++) {
        frame_slot *slot = &slots[frame % FRAMES];
        if (frame > FRAMES) {
            renderer_wait(&r, timeline, frame - FRAMES);
            vyre_device_retire(device, by_frame ? frame - FRAMES : 0);
            assert_int_equal(slot->mapped[COUNT - 1], reversed(frame - FRAMES, COUNT - 1));
            assert_int_equal(slot->mapped[COUNT / 2], reversed(frame - FRAMES, COUNT / 2));
            /* The first half once more, on its own. */
            assert_int_equal(slot->mapped[3],
                             reversed(frame - FRAMES, COUNT / 2 - 4) + COUNT / 2 - 4 + 1);
        }
        vyre_binding list[3];
        vyre_record_params params = recording_of(slot->commands, list, buffer);
        params.retirement = by_frame ? (vyre_retirement){.frame = frame}
                                     : (vyre_retirement){.semaphore = timeline, .value = frame};
        renderer_begin(&r, slot->commands, 0);
        /* The frame before is copied from. */
        renderer_barrier(&r, slot->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0);
        r.vkCmdFillBuffer(slot->commands, own, 0, SIZE, frame);
        vyre_recording *recording = must_record(&p, &params);
        vyre_recording_destroy(&recording);
        list[0].count = COUNT / 2;
        params.before = VYRE_BARRIERS_HOST; /* the one before ended with a barrier */
        recording = must_record(&p, &params);
        vyre_recording_destroy(&recording);
        renderer_copy_back(&r, slot->commands, own, slot->back, SIZE);
        renderer_end(&r, slot->commands);
        renderer_submit submit = {.commands = {slot->commands},
                                  .command_count = 1,
                                  .signals = {{timeline, frame}},
                                  .signal_count = 1};
        renderer_submit_work(&r, &submit);
        if (frame == FRAMES) {
            calls = memory.calls;
            alive = layer_alive();
            vyre_device_get_counters(device, &counters);
        }
    }
    renderer_wait(&r, timeline, 40);
    vyre_device_retire(device, 40);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(layer_alive(), alive);
    vyre_device_counters after;
    vyre_device_get_counters(device, &after);
    assert_int_equal(after.instances, 2 * FRAMES);
    assert_int_equal(after.memory_allocations, counters.memory_allocations);
    assert_int_equal(after.recordings, 80);
    assert_int_equal(after.submissions, counters.submissions);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_record_frames_in_flight_by_descriptors(void **state)
{
    (void)state;
    NEED_DEVICE();
    run_frames(VYRE_BINDINGS_DESCRIPTOR, RENDERER_USAGE, false);
}

static void test_record_frames_in_flight_by_addresses(void **state)
{
    (void)state;
    NEED_DEVICE();
    run_frames(VYRE_BINDINGS_ADDRESS, RENDERER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
               true);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void test_record_counts_its_dispatches_before(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    engine_program until =
        renderer_build(s.device,
                       "program until\nworkgroup 64\ngrid over a\nfixpoint 9 until f\n"
                       "inout a : u32[]\nscratch f : u32[1]\nkernel { a[gid.x] = 1 }\n",
                       VYRE_BINDINGS_AUTO);
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    renderer_begin(&r, s.commands, 0);
    params.dispatch.passes = 2049;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "4096");
    params.dispatch.passes = UINT32_MAX;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "4096");
    params.dispatch.binding_count = 2;
    params.dispatch.passes = 2049; /* with the judge */
    refuse(&until, &params, VYRE_ERROR_INVALID_ARGUMENT, "4096");
    params.dispatch.passes = 2048;
    layer_clear_events();
    vyre_recording *recording = must_record(&until, &params);
    assert_int_equal(layer_count(LAYER_DISPATCH) + layer_count(LAYER_INDIRECT), 4096);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    vyre_recording_destroy(&recording);
    renderer_end(&r, s.commands);
    engine_release(&until);
    close_scene(&s);
}

static void test_record_refuses_wrong_parameters(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    params.command_buffer = VK_NULL_HANDLE;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "command buffer");
    params = recording_of(s.commands, s.list, s.buffer);
    params.struct_size = 8;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "struct_size");
    params = recording_of(s.commands, s.list, s.buffer);
    params.dispatch.struct_size = 8;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "struct_size");
    params = recording_of(s.commands, s.list, s.buffer);
    params.dispatch.binding_count = 2;
    refuse(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "3 buffers");
    vyre_diag diag;
    vyre_recording *recording = NULL;
    assert_int_equal(vyre_record(NULL, &params, &recording, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_record(s.program.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_recording_retire_at(NULL, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_recording_report(NULL, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_recording_is_retired(NULL), 0);
    vyre_recording_destroy(NULL);
    vyre_device_retire(NULL, 1);
    close_scene(&s);
}

static void test_record_owns_keep_memory_of_its_size(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    engine_program keep = renderer_build(s.device,
                                         "program keep\nworkgroup 1\ngrid over a\n"
                                         "inout a : u32[]\nscratch keep k : u32[len(a)]\n"
                                         "kernel { k[gid.x] = k[gid.x] + 1\n"
                                         "  a[gid.x] = k[gid.x] }\n",
                                         VYRE_BINDINGS_AUTO);
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    params.dispatch.binding_count = 2;
    refuse(&keep, &params, VYRE_ERROR_INVALID_ARGUMENT, "call vyre_dispatch once");
    vyre_report report = engine_run(&keep, s.list, 2, NULL, 0, 0, 0);
    assert_int_equal(report.passes, 1);
    renderer_begin(&r, s.commands, 0);
    vyre_recording *recording = must_record(&keep, &params);
    renderer_end(&r, s.commands);
    vyre_diag diag;
    s.list[0].count = 7;
    assert_int_equal(vyre_dispatch(keep.pipeline, &params.dispatch, NULL, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "keep"));
    renderer_submit_and_wait(&r, s.commands);
    uint32_t words[COUNT];
    assert_int_equal(vyre_buffer_download(s.device, s.buffer, 0, words, SIZE, &diag), VYRE_OK);
    assert_int_equal(words[COUNT - 1], 2);
    vyre_recording_destroy(&recording);
    assert_int_equal(vyre_dispatch(keep.pipeline, &params.dispatch, NULL, &diag), VYRE_OK);
    engine_release(&keep);
    close_scene(&s);
}

static void assert_nothing_recorded(void)
{
    assert_int_equal(layer_count(LAYER_DISPATCH) + layer_count(LAYER_INDIRECT) +
                         layer_count(LAYER_BARRIER) + layer_count(LAYER_FILL) +
                         layer_count(LAYER_COPY) + layer_count(LAYER_SUBMIT),
                     0);
}

static void test_record_survives_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene();
    vyre_diag diag;
    uint32_t failures = 0;
    for (uint32_t n = 1;; n++) {
        vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
        vyre_recording *recording = NULL;
        renderer_begin(&r, s.commands, 0);
        layer_clear_events();
        layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        layer.fail_at = layer_fallible_calls() + n;
        vyre_result code = vyre_record(s.program.pipeline, &params, &recording, &diag);
        bool has_failed = layer_fallible_calls() >= layer.fail_at;
        layer.fail_at = 0;
        renderer_end(&r, s.commands);
        if (code == VYRE_OK) { /* also where it was the name of something that failed */
            vyre_recording_destroy(&recording);
        } else {
            failures++;
            assert_true(has_failed);
            assert_non_null(strstr(diag.message, "Fix:"));
            assert_null(recording);
            assert_nothing_recorded();
        }
        assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
        s.buffer = renderer_import(s.device, s.own, SIZE, RENDERER_USAGE);
        (void)vyre_device_trim(s.device);
        if (!has_failed) {
            break;
        }
    }
    assert_true(failures > 3);
    close_scene(&s);
}

static void test_record_survives_each_failed_allocation(void **state)
{
    (void)state;
    NEED_DEVICE();
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    scene s = {.own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL),
               .commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY),
               .device = renderer_adopt(&r, &allocator)};
    s.buffer = renderer_import(s.device, s.own, SIZE, RENDERER_USAGE);
    uint32_t failures = 0;
    for (size_t n = 1;; n++) {
        engine_program p = renderer_build(s.device, reverse_text, VYRE_BINDINGS_AUTO);
        vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
        vyre_recording *recording = NULL;
        vyre_diag diag;
        renderer_begin(&r, s.commands, 0);
        layer_clear_events();
        memory.fail_at = memory.calls + n;
        vyre_result code = vyre_record(p.pipeline, &params, &recording, &diag);
        bool has_failed = memory.calls >= memory.fail_at;
        memory.fail_at = 0;
        renderer_end(&r, s.commands);
        if (code != VYRE_OK) {
            failures++;
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(recording);
            assert_nothing_recorded();
        }
        vyre_recording_destroy(&recording);
        engine_release(&p);
        if (!has_failed) {
            break;
        }
    }
    assert_true(failures > 3);
    vyre_device_destroy(&s.device);
    assert_int_equal(memory.live_blocks, 0);
}

/* ---- What is left behind ----------------------------------------------------------------------
 */

/* Only these stand in a renderer's command buffer: none sets graphics state, dynamic state, or more
 * than set 0, the push constants and the pipeline of compute. Labels are closed where they were
 * opened. */
static const char *const allowed[] = {"vkCmdBeginDebugUtilsLabelEXT",
                                      "vkCmdBindDescriptorSets",
                                      "vkCmdBindPipeline",
                                      "vkCmdCopyBuffer",
                                      "vkCmdDispatch",
                                      "vkCmdDispatchIndirect",
                                      "vkCmdEndDebugUtilsLabelEXT",
                                      "vkCmdFillBuffer",
                                      "vkCmdPipelineBarrier",
                                      "vkCmdPipelineBarrier2",
                                      "vkCmdPushConstants",
                                      "vkCmdPushDescriptorSetKHR",
                                      "vkCmdResetQueryPool",
                                      "vkCmdWriteTimestamp"};

static void check_commands(const char *name)
{
    char path[512], word[64];
    snprintf(path, sizeof path, "%s/engine/%s", VYRE_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    uint32_t found = 0;
    for (const char *at = strstr(text, "vkCmd"); at; at = strstr(at + 1, "vkCmd")) {
        size_t length =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        bool is_allowed = false;
        for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
            is_allowed = is_allowed || strcmp(allowed[i], word) == 0;
        }
        if (!is_allowed) {
            fail_msg("%s records %s: say in vulkan.h what it leaves behind", name, word);
        }
        found++;
    }
    assert_true(found > 0);
}

static void test_record_leaves_documented_state_behind(void **state)
{
    (void)state;
    static const char *const files[] = {"exec/record.c", "exec/bind_push.c", "exec/bind_set.c",
                                        "exec/ownership.c", "device/commands.c"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        check_commands(files[i]);
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct recorder {
    vyre_device *device;
    const engine_program *program;
    VkCommandBuffer commands;
    VkBuffer own, back;
    const uint32_t *mapped;
    vyre_buffer buffer;
    VkSemaphore timeline;
    uint32_t seed, wrong;
} recorder;

static void *record_frames(void *user)
{
    recorder *me = user;
    for (uint32_t frame = 1; frame <= 15; frame++) {
        vyre_binding list[3];
        vyre_record_params params = recording_of(me->commands, list, me->buffer);
        params.retirement = (vyre_retirement){.semaphore = me->timeline, .value = frame};
        vyre_recording *recording = NULL;
        vyre_diag diag;
        renderer_begin(&r, me->commands, 0);
        r.vkCmdFillBuffer(me->commands, me->own, 0, SIZE, me->seed + frame);
        me->wrong += vyre_record(me->program->pipeline, &params, &recording, &diag) != VYRE_OK;
        renderer_copy_back(&r, me->commands, me->own, me->back, SIZE);
        renderer_end(&r, me->commands);
        vyre_recording_destroy(&recording);
        renderer_submit submit = {.commands = {me->commands},
                                  .command_count = 1,
                                  .signals = {{me->timeline, frame}},
                                  .signal_count = 1};
        renderer_submit_work(&r, &submit);
        renderer_wait(&r, me->timeline, frame);
        vyre_device_retire(me->device, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            me->wrong += me->mapped[i] != reversed(me->seed + frame, i);
        }
    }
    return NULL;
}

static void test_record_from_two_threads(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = renderer_adopt(&r, NULL);
    engine_program p = renderer_build(device, reverse_text, VYRE_BINDINGS_AUTO);
    recorder recorders[2];
    pthread_t threads[2];
    for (uint32_t i = 0; i < 2; i++) {
        recorder *me = &recorders[i];
        *me = (recorder){.device = device, .program = &p, .seed = 1000 * i};
        me->commands = renderer_commands(&r, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        me->own = renderer_buffer(&r, SIZE, RENDERER_USAGE, NULL);
        me->back = renderer_buffer(&r, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &me->mapped);
        me->buffer = renderer_import(device, me->own, SIZE, RENDERER_USAGE);
        me->timeline = renderer_timeline(&r);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record_frames, &recorders[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(recorders[i].wrong, 0);
        vyre_diag diag;
        assert_int_equal(vyre_buffer_destroy(device, &recorders[i].buffer, &diag), VYRE_OK);
    }
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.recordings, 30);
    assert_true(counters.instances <= 4);
    engine_release(&p);
    vyre_device_destroy(&device);
}

int main(void)
{
#define T(test)     cmocka_unit_test_setup_teardown(test, open_validated, close_renderer)
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, close_renderer)
    const struct CMUnitTest tests[] = {
        T(test_record_into_secondary_commands),
        T(test_record_with_either_ones_barriers),
        T(test_record_several_by_descriptors),
        PLAIN(test_record_several_by_addresses),
        T(test_record_retires_by_a_semaphore),
        T(test_record_retires_by_a_frame),
        T(test_record_without_retirement_ends_with_destroy),
        T(test_record_retirement_is_learned_late_and_moved),
        T(test_record_buffers_are_released_with_it),
        T(test_record_pipelines_outlive_their_recordings),
        T(test_record_frames_in_flight_by_descriptors),
        PLAIN(test_record_frames_in_flight_by_addresses),
        PLAIN(test_record_counts_its_dispatches_before),
        T(test_record_refuses_wrong_parameters),
        T(test_record_owns_keep_memory_of_its_size),
        PLAIN(test_record_survives_each_failed_call),
        PLAIN(test_record_survives_each_failed_allocation),
        cmocka_unit_test(test_record_leaves_documented_state_behind),
        cmocka_unit_test_setup_teardown(test_record_from_two_threads, open_threads, close_renderer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Recordings in a renderer's command buffers: where they may stand, when they let go of what they
 * use, frames in flight, threads. */
#include "tests/engine/scene.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES 3u /* in flight */

/* ---- Where recordings stand ------------------------------------------------------------------ */

static void test_record_into_secondary_commands(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&scene_host, SIZE, RENDERER_USAGE, NULL);
    VkBuffer back = renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer first = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer second = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    vyre_device *device = renderer_adopt(&scene_host, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device, reverse_text, VYRE_BINDINGS_AUTO);
    vyre_binding list[3];
    renderer_begin(&scene_host, second, 1);
    vyre_record_params params = recording_of(second, list, buffer);
    vyre_recording *recording = must_record(&p, &params);
    renderer_end(&scene_host, second);
    /* Again in other commands once it has completed. */
    for (uint32_t round = 0; round < 3; round++) {
        renderer_begin(&scene_host, first, 0);
        scene_host.vkCmdFillBuffer(first, own, 0, SIZE, 10 * round);
        scene_host.vkCmdExecuteCommands(first, 1, &second);
        renderer_copy_back(&scene_host, first, own, back, SIZE);
        renderer_end(&scene_host, first);
        renderer_submit_and_wait(&scene_host, first);
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
    renderer_begin(&scene_host, commands, 0);
    scene_host.vkCmdFillBuffer(commands, own, 0, SIZE, 50);
    if (mode & 1 && !(left_out & 1)) {
        renderer_barrier(&scene_host, commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_ACCESS_TRANSFER_WRITE_BIT, stages, accesses);
    }
    *out = must_record(p, &params);
    if (mode & 2 && !(left_out & 2)) {
        renderer_barrier(&scene_host, commands,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    }
    renderer_copy_back(&scene_host, commands, own, back, SIZE);
    renderer_end(&scene_host, commands);
}

static void test_record_with_either_ones_barriers(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&scene_host, SIZE, RENDERER_USAGE, NULL);
    VkBuffer back = renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_device *device = renderer_adopt(&scene_host, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device, reverse_text, VYRE_BINDINGS_DESCRIPTOR);
    vyre_recording *recording = NULL;
    for (int mode = 0; mode < 4; mode++) {
        record_between(&p, commands, own, back, buffer, mode, 0, &recording);
        for (int round = 0; round < 2; round++) {
            renderer_submit_and_wait(&scene_host, commands);
            assert_int_equal(mapped[0], reversed(50, 0));
            assert_int_equal(mapped[COUNT - 1], reversed(50, COUNT - 1));
        }
        vyre_recording_destroy(&recording);
        assert_int_equal(scene_host.messages, 0);
    }
    /* The judge must be able to find one that is missing: with a program without transfers of the
     * library's, whose barrier would do for the renderer's. */
    engine_program add = renderer_build(device,
                                        "program add\nworkgroup 64\ngrid over a\n"
                                        "inout a : u32[]\n"
                                        "kernel { a[gid.x] = a[gid.x] + 1 }\n",
                                        VYRE_BINDINGS_DESCRIPTOR);
    for (int left_out = 1; left_out < 3 && scene_host.validates; left_out++) {
        scene_host.expects_messages = 1;
        record_between(&add, commands, own, back, buffer, 3, left_out, &recording);
        assert_true(scene_host.messages > 0);
        vyre_recording_destroy(&recording);
        scene_host.messages = 0;
        scene_host.expects_messages = 0;
    }
    record_between(&add, commands, own, back, buffer, 3, 0, &recording);
    assert_int_equal(scene_host.messages, 0);
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
    VkBuffer own = renderer_buffer(&scene_host, SIZE, usage, NULL);
    VkBuffer back = renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_device *device = renderer_adopt(&scene_host, NULL);
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
    renderer_begin(&scene_host, commands, 0);
    scene_host.vkCmdFillBuffer(commands, own, 0, SIZE, 740);
    recordings[0] = must_record(&reverse, &params);
    params.before = VYRE_BARRIERS_HOST; /* the ones before end with a barrier */
    recordings[1] = must_record(&reverse, &params);
    params.dispatch.binding_count = 2;
    recordings[2] = must_record(&grow, &params);
    renderer_copy_back(&scene_host, commands, own, back, SIZE);
    renderer_end(&scene_host, commands);
    for (int round = 0; round < 2; round++) {
        renderer_submit_and_wait(&scene_host, commands);
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

/* The renderer's own commands write the counts; each submission reads what lies there then. */
static void test_record_reads_a_grid_that_the_host_wrote(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 65535; /* the least that devices may have: more are folded */
    const uint32_t *mapped = NULL;
    VkBuffer own = renderer_buffer(&scene_host, SIZE, RENDERER_USAGE, NULL);
    VkBuffer back = renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer section = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_device *device = renderer_adopt(&scene_host, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, RENDERER_USAGE);
    engine_program p = renderer_build(device,
                                      "program count\nworkgroup 1\ngrid from n\n"
                                      "in n : u32[3]\ninout c : u32[2]\n"
                                      "kernel { atomic_add(c[0], 1)\n"
                                      "  atomic_max(c[1], num_groups.y) }\n",
                                      VYRE_BINDINGS_AUTO);
    vyre_binding list[2] = {engine_resident(buffer, 0, 3), engine_resident(buffer, 512, 2)};
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = section;
    params.dispatch.bindings = list;
    params.dispatch.binding_count = 2;
    params.dispatch.max_groups = 70000;
    renderer_begin(&scene_host, section, 1);
    vyre_recording *recording = must_record(&p, &params);
    renderer_end(&scene_host, section);
    static const struct {
        uint32_t each, groups[3], total;
        int is_clamped, is_folded;
    } rows[] = {{3, {3, 3, 3}, 27, 0, 0},
                {0, {0, 0, 0}, 0, 0, 0},
                {69999, {69999, 1, 1}, 69999, 1, 1},
                {41, {41, 41, 41}, 41 * 41 * 41, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        renderer_begin(&scene_host, commands, 0);
        scene_host.vkCmdFillBuffer(commands, own, 0, 256, rows[i].each);
        scene_host.vkCmdFillBuffer(commands, own, 512, 8, 0);
        scene_host.vkCmdExecuteCommands(commands, 1, &section);
        renderer_copy_back(&scene_host, commands, own, back, SIZE);
        renderer_end(&scene_host, commands);
        renderer_submit_and_wait(&scene_host, commands);
        assert_int_equal(mapped[128], rows[i].total);
        assert_int_equal(mapped[129], rows[i].total ? rows[i].groups[1] : 0);
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(vyre_recording_report(recording, &report, &diag), VYRE_OK);
        assert_memory_equal(report.groups, rows[i].groups, sizeof report.groups);
        assert_int_equal(report.is_grid_clamped, rows[i].is_clamped);
        assert_int_equal(report.is_folded, rows[i].is_folded);
    }
    vyre_recording_destroy(&recording);
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- Retirement ------------------------------------------------------------------------------ */

static uint64_t instances(const scene *s)
{
    vyre_device_counters counters;
    vyre_device_get_counters(s->device, &counters);
    return counters.instances;
}

static void test_record_retires_by_a_semaphore(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene(NULL);
    VkSemaphore timeline = renderer_timeline(&scene_host);
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
    renderer_submit_work(&scene_host, &submit);
    renderer_wait(&scene_host, timeline, 3);
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
    scene s = open_scene(NULL);
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 7});
    renderer_submit_and_wait(&scene_host, s.commands);
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
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "frames up to 7");
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
    scene s = open_scene(NULL);
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 0});
    renderer_submit_and_wait(&scene_host, s.commands);
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
    scene s = open_scene(NULL);
    VkSemaphore timeline = renderer_timeline(&scene_host);
    vyre_diag diag;
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 0});
    vyre_retirement wrong[] = {{.semaphore = timeline, .value = 1, .frame = 1},
                               {.semaphore = timeline, .value = 0}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(vyre_recording_retire_at(recording, &wrong[i], &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
        params.retirement = wrong[i];
        refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "Fix:");
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
        renderer_submit_work(&scene_host, &submit);
        renderer_wait(&scene_host, timeline, value);
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
    scene s = open_scene(NULL);
    vyre_diag diag;
    vyre_buffer ours = engine_buffer(s.device, SIZE, NULL);
    assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
    s.buffer = ours;
    vyre_recording *recording = record_scene(&s, (vyre_retirement){.frame = 1});
    assert_int_equal(vyre_buffer_release(s.device, &ours, &diag), VYRE_OK);
    vyre_device_counters counters;
    vyre_device_get_counters(s.device, &counters);
    assert_int_equal(counters.buffers, 1);
    renderer_submit_and_wait(&scene_host, s.commands);
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
    scene s = open_scene(NULL);
    VkSemaphore timeline = renderer_timeline(&scene_host);
    vyre_recording *recording =
        record_scene(&s, (vyre_retirement){.semaphore = timeline, .value = 1});
    renderer_submit submit = {.commands = {s.commands},
                              .command_count = 1,
                              .signals = {{timeline, 1}},
                              .signal_count = 1};
    renderer_submit_work(&scene_host, &submit);
    vyre_recording_destroy(&recording);
    VkCommandBuffer other = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    s.commands = other;
    recording = record_scene(&s, (vyre_retirement){.frame = 5});
    renderer_submit_work(&scene_host, &(renderer_submit){.commands = {other}, .command_count = 1});
    vyre_recording_destroy(&recording);
    engine_release(&s.program);
    assert_int_equal(renderer_value(&scene_host, timeline), 1);
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
    VkBuffer own = renderer_buffer(&scene_host, SIZE, usage, NULL);
    for (uint32_t i = 0; i < FRAMES; i++) {
        slots[i].commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        slots[i].back =
            renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &slots[i].mapped);
    }
    VkSemaphore timeline = renderer_timeline(&scene_host);
    /* The first ones end only when all of them are in flight. */
    vyre_semaphore_point gate = {renderer_timeline(&scene_host), 1};
    vyre_device *device = renderer_adopt(&scene_host, &allocator);
    vyre_buffer buffer = renderer_import(device, own, SIZE, usage);
    engine_program p = renderer_build(device, reverse_text, bindings);
    size_t calls = 0;
    int32_t alive = 0;
    vyre_device_counters counters = {0};
    for (uint32_t frame = 1; frame <= 40; frame++) {
        frame_slot *slot = &slots[frame % FRAMES];
        if (frame > FRAMES) {
            renderer_wait(&scene_host, timeline, frame - FRAMES);
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
        renderer_begin(&scene_host, slot->commands, 0);
        /* The frame before is copied from. */
        renderer_barrier(&scene_host, slot->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0);
        scene_host.vkCmdFillBuffer(slot->commands, own, 0, SIZE, frame);
        vyre_recording *recording = must_record(&p, &params);
        vyre_recording_destroy(&recording);
        list[0].count = COUNT / 2;
        params.before = VYRE_BARRIERS_HOST; /* the one before ended with a barrier */
        recording = must_record(&p, &params);
        vyre_recording_destroy(&recording);
        renderer_copy_back(&scene_host, slot->commands, own, slot->back, SIZE);
        renderer_end(&scene_host, slot->commands);
        renderer_submit submit = {.commands = {slot->commands},
                                  .command_count = 1,
                                  .waits = {gate},
                                  .wait_count = 1,
                                  .signals = {{timeline, frame}},
                                  .signal_count = 1};
        renderer_submit_work(&scene_host, &submit);
        if (frame == FRAMES) {
            VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                          .semaphore = gate.semaphore,
                                          .value = gate.value};
            assert_int_equal(scene_host.vkSignalSemaphore(scene_host.device, &info), VK_SUCCESS);
            calls = memory.calls;
            alive = layer_alive();
            vyre_device_get_counters(device, &counters);
        }
    }
    renderer_wait(&scene_host, timeline, 40);
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

/* A bound that grows from frame to frame is recorded once with the whole grid, and nothing more is
 * allocated for it. */
static void test_record_frames_with_growing_bounds(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char text[] = "program grow\nworkgroup 16\ngrid over x\nparam n : u32\n"
                               "inout x : u32[]\n"
                               "kernel { if gid.x < n { x[gid.x] = x[gid.x] + 1 } }\n";
    const VkBufferUsageFlags usage = RENDERER_USAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const uint32_t *mapped;
    VkBuffer own = renderer_buffer(&scene_host, SIZE, usage, NULL);
    VkBuffer back = renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkSemaphore timeline = renderer_timeline(&scene_host);
    vyre_device *device = renderer_adopt(&scene_host, NULL);
    vyre_buffer buffer = renderer_import(device, own, SIZE, usage);
    engine_program p = renderer_build(device, text, VYRE_BINDINGS_ADDRESS);
    uint64_t allocations = 0;
    enum { LAST = 8 };
    for (uint32_t frame = 1; frame <= LAST; frame++) {
        uint32_t n = frame * COUNT / LAST;
        vyre_binding list[3];
        vyre_record_params params = recording_of(commands, list, buffer);
        params.dispatch.binding_count = 1;
        params.dispatch.params = &n;
        params.dispatch.param_count = 1;
        params.retirement = (vyre_retirement){.semaphore = timeline, .value = frame};
        renderer_begin(&scene_host, commands, 0);
        scene_host.vkCmdFillBuffer(commands, own, 0, SIZE, 5);
        vyre_recording *recording = must_record(&p, &params);
        vyre_report report;
        vyre_diag diag;
        renderer_copy_back(&scene_host, commands, own, back, SIZE);
        renderer_end(&scene_host, commands);
        renderer_submit submit = {.commands = {commands},
                                  .command_count = 1,
                                  .signals = {{timeline, frame}},
                                  .signal_count = 1};
        renderer_submit_work(&scene_host, &submit);
        renderer_wait(&scene_host, timeline, frame);
        assert_int_equal(vyre_recording_report(recording, &report, &diag), VYRE_OK);
        uint32_t groups = (COUNT + 15) / 16, needed = (n + 15) / 16;
        assert_int_equal(report.workgroups_saved, frame == 1 ? groups - needed : 0);
        vyre_recording_destroy(&recording);
        vyre_device_retire(device, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(mapped[i], i < n ? 6 : 5);
        }
        vyre_device_counters counters;
        vyre_device_get_counters(device, &counters);
        assert_int_equal(counters.instances, 1);
        allocations = frame == 1 ? counters.memory_allocations : allocations;
        assert_int_equal(counters.memory_allocations, allocations);
    }
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
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
        renderer_begin(&scene_host, me->commands, 0);
        scene_host.vkCmdFillBuffer(me->commands, me->own, 0, SIZE, me->seed + frame);
        me->wrong += vyre_record(me->program->pipeline, &params, &recording, &diag) != VYRE_OK;
        renderer_copy_back(&scene_host, me->commands, me->own, me->back, SIZE);
        renderer_end(&scene_host, me->commands);
        vyre_recording_destroy(&recording);
        renderer_submit submit = {.commands = {me->commands},
                                  .command_count = 1,
                                  .signals = {{me->timeline, frame}},
                                  .signal_count = 1};
        renderer_submit_work(&scene_host, &submit);
        renderer_wait(&scene_host, me->timeline, frame);
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
    vyre_device *device = renderer_adopt(&scene_host, NULL);
    engine_program p = renderer_build(device, reverse_text, VYRE_BINDINGS_AUTO);
    recorder recorders[2];
    pthread_t threads[2];
    for (uint32_t i = 0; i < 2; i++) {
        recorder *me = &recorders[i];
        *me = (recorder){.device = device, .program = &p, .seed = 1000 * i};
        me->commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        me->own = renderer_buffer(&scene_host, SIZE, RENDERER_USAGE, NULL);
        me->back =
            renderer_buffer(&scene_host, SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &me->mapped);
        me->buffer = renderer_import(device, me->own, SIZE, RENDERER_USAGE);
        me->timeline = renderer_timeline(&scene_host);
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
#define T(test)     cmocka_unit_test_setup_teardown(test, scene_open_validated, scene_close_host)
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, scene_open_plain, scene_close_host)
    const struct CMUnitTest tests[] = {
        T(test_record_into_secondary_commands),
        T(test_record_with_either_ones_barriers),
        T(test_record_several_by_descriptors),
        PLAIN(test_record_several_by_addresses),
        T(test_record_reads_a_grid_that_the_host_wrote),
        T(test_record_retires_by_a_semaphore),
        T(test_record_retires_by_a_frame),
        T(test_record_without_retirement_ends_with_destroy),
        T(test_record_retirement_is_learned_late_and_moved),
        T(test_record_buffers_are_released_with_it),
        T(test_record_pipelines_outlive_their_recordings),
        T(test_record_frames_with_growing_bounds),
        T(test_record_frames_in_flight_by_descriptors),
        PLAIN(test_record_frames_in_flight_by_addresses),
        cmocka_unit_test_setup_teardown(test_record_from_two_threads, scene_open_threads,
                                        scene_close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

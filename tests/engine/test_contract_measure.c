/* The contract's rows G and every field of reports and counters: what is told is what was done. */
#include "engine/device/device.h"
#include "script.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Messages of the library's own, one after the other. */
static char messages[1 << 16];

static int reset(void **state)
{
    (void)state;
    script_reset();
    messages[0] = 0;
    return 0;
}

static void keep_message(void *user, const vyre_log_message *message)
{
    (void)user;
    size_t used = strlen(messages);
    if (message->source == VYRE_LOG_LIBRARY) {
        snprintf(messages + used, sizeof messages - used, "%s\n", message->text);
    }
}

static vyre_device *open_debugged(uint32_t debug, vyre_log_level level)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = script_entry();
    params.validation = VYRE_VALIDATION_OFF;
    params.debug = debug;
    params.log_level = level;
    params.log = keep_message;
    return engine_open_with(&params);
}

static vyre_device *open_plain(void)
{
    return open_debugged(0, VYRE_LOG_DEFAULT);
}

/* Another way of binding for the same kernel. */
static void bind_by(vyre_device *device, engine_program *p, vyre_binding_mode mode)
{
    vyre_pipeline_params params;
    vyre_pipeline_params_init(&params);
    params.bindings = mode;
    vyre_diag diag;
    vyre_pipeline_destroy(&p->pipeline);
    if (vyre_pipeline_create(device, p->kernel, &params, &p->pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

/* Three segments: the second has nothing to do with the first, the third reads both. */
static const char mix_text[] = "program mix\nworkgroup 1\ninout a : u32[4]\ninout b : u32[4]\n"
                               "kernel {\n"
                               "  a[0] = a[0] + 1\n"
                               "  grid_sync\n"
                               "  b[0] = b[0] + 1\n"
                               "  grid_sync\n"
                               "  a[1] = a[0] + b[0]\n"
                               "}\n";

static vyre_report run_mix(const engine_program *p, uint32_t passes)
{
    uint32_t a[4] = {0}, b[4] = {10, 0, 0, 0};
    vyre_binding bindings[] = {engine_host_inout(a, 4), engine_host_inout(b, 4)};
    vyre_report report = engine_run(p, bindings, 2, NULL, 0, 1, passes);
    uint32_t n = passes ? passes : 1;
    assert_int_equal(a[1], 10 + 2 * n);
    return report;
}

static const char until_text[] = "program down\nworkgroup 1\nfixpoint 1000 until f\n"
                                 "inout a : u32[2]\nscratch f : u32[1]\n"
                                 "kernel {\n"
                                 "  if a[0] != 0 { a[0] = a[0] - 1  f[0] = 1 }\n"
                                 "  grid_sync\n"
                                 "  a[1] = a[1] + 1\n"
                                 "}\n";

static vyre_report run_until(const engine_program *p, uint32_t from)
{
    uint32_t a[2] = {from, 0};
    vyre_binding bindings[] = {engine_host_inout(a, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_report report = engine_run(p, bindings, 2, NULL, 0, 1, 0);
    assert_int_equal(a[1], from + 1);
    return report;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void test_report_counts_the_commands_recorded(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program p = engine_build(device, mix_text);
    bind_by(device, &p, VYRE_BINDINGS_DESCRIPTOR);
    layer_clear_events();
    vyre_report report = run_mix(&p, 0);
    assert_int_equal(report.segments, 3);
    assert_int_equal(report.passes, 1);
    assert_int_equal(report.dispatches_recorded, 3);
    assert_int_equal(report.dispatches_executed, 3);
    assert_int_equal(layer_count(LAYER_DISPATCH), 3);
    assert_int_equal(report.barriers_recorded, layer_count(LAYER_BARRIER));
    assert_int_equal(report.barriers_elided, 1);
    assert_int_equal(report.chunks, 1);
    assert_int_equal(report.submissions, 1);
    assert_int_equal(report.submissions, layer_count(LAYER_SUBMIT));
    assert_true(report.waits <= 1);
    assert_int_equal(report.recordings, 1);
    assert_int_equal(report.recordings, layer_count(LAYER_BEGIN));
    assert_int_equal(report.recordings_reused, 0);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_NONE);
    assert_int_equal(report.passes_saved, 0);
    assert_int_equal(report.is_folded, 0);
    assert_string_equal(report.strategy, "replay");
    /* The same commands again. */
    layer_clear_events();
    vyre_report again = run_mix(&p, 0);
    assert_int_equal(again.dispatches_recorded, 3);
    assert_int_equal(again.barriers_recorded, report.barriers_recorded);
    assert_int_equal(again.barriers_elided, 1);
    assert_int_equal(again.recordings, 0);
    assert_int_equal(again.recordings_reused, 1);
    assert_int_equal(layer_count(LAYER_BEGIN), 0);
    engine_release(&p);
    engine_close(&device);
}

static void test_program_without_statements_dispatches_nothing(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    static const vyre_binding_mode modes[] = {VYRE_BINDINGS_ADDRESS, VYRE_BINDINGS_DESCRIPTOR};
    engine_program p = engine_build(device, "program none\nworkgroup 1\nout y : u32[3]\n"
                                            "inout z : u32[2]\nkernel { }\n");
    for (int m = 0; m < 2; m++) {
        uint32_t y[3] = {7, 7, 7}, z[2] = {5, 6};
        bind_by(device, &p, modes[m]);
        vyre_binding bindings[] = {engine_host_out(y, 3), engine_host_inout(z, 2)};
        vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 1, 0);
        assert_int_equal(report.segments, 0);
        assert_int_equal(report.dispatches_executed, 0);
        assert_int_equal(y[0] | y[1] | y[2], 0);
        assert_int_equal(z[0] * 10 + z[1], 56);
    }
    engine_release(&p);
    engine_close(&device);
}

static void test_report_counts_passes_and_chunks(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program p = engine_build(device, until_text);
    layer_clear_events();
    vyre_report report = run_until(&p, 20);
    assert_int_equal(report.passes, 21);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
    assert_int_equal(report.passes_saved, 1000 - 21);
    assert_int_equal(report.segments, 2);
    assert_int_equal(report.dispatches_executed, 2 * 21);
    assert_in_range(report.chunks, 5, 6); /* 1 + 4 + 4 + 4 + 8 */
    assert_int_equal(report.submissions, layer_count(LAYER_SUBMIT));
    assert_true(report.submissions < report.chunks);
    /* A dispatch for each segment in every pass of the chunks, and no other. */
    assert_int_equal(report.dispatches_recorded, 2 * (report.chunks == 5 ? 21 : 29));
    engine_release(&p);
    engine_close(&device);
}

static void test_report_counts_copies(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    static const vyre_binding_mode modes[] = {VYRE_BINDINGS_ADDRESS, VYRE_BINDINGS_DESCRIPTOR};
    engine_program p = engine_build(device, mix_text);
    for (int m = 0; m < 2; m++) {
        bind_by(device, &p, modes[m]);
        vyre_device_counters before = engine_counters(device);
        vyre_report report = run_mix(&p, 0);
        assert_int_equal(report.uploads, 2);
        assert_int_equal(report.upload_size, 32);
        assert_int_equal(report.downloads, 2);
        assert_int_equal(report.download_size, 32);
        uint32_t a[4] = {0}, b[4] = {0}, seen[4] = {0};
        vyre_buffer buffer = engine_buffer(device, sizeof a, a);
        vyre_device_counters with_buffer = engine_counters(device);
        assert_int_equal(with_buffer.uploads, before.uploads + 3);
        assert_int_equal(with_buffer.upload_size, before.upload_size + 48);
        assert_int_equal(with_buffer.downloads, before.downloads + 2);
        assert_int_equal(with_buffer.download_size, before.download_size + 32);
        vyre_binding bindings[] = {engine_resident(buffer, 0, 4), engine_host_in(b, 4)};
        bindings[0].out = seen;
        bindings[0].out_offset = 4;
        bindings[0].out_size = 4;
        report = engine_run(&p, bindings, 2, NULL, 0, 1, 0);
        assert_int_equal(seen[0], 2);
        assert_int_equal(report.uploads, 1);
        assert_int_equal(report.upload_size, 16);
        assert_int_equal(report.downloads, 1);
        assert_int_equal(report.download_size, 4);
        vyre_dispatch_params params = engine_params(bindings, 2);
        params.flags = VYRE_DISPATCH_NO_READBACK;
        vyre_diag diag;
        assert_int_equal(vyre_dispatch(p.pipeline, &params, &report, &diag), VYRE_OK);
        assert_int_equal(report.downloads, 0);
        assert_int_equal(report.download_size, 0);
        assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    }
    engine_release(&p);
    engine_close(&device);
}

static void test_report_counts_descriptor_writes(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program p = engine_build(device, mix_text);
    bind_by(device, &p, VYRE_BINDINGS_ADDRESS);
    vyre_device_counters before = engine_counters(device);
    vyre_report report = run_mix(&p, 0);
    assert_string_equal(report.bindings, "address");
    assert_in_range(report.descriptor_writes, 1, 2); /* the blocks', when their memory is made */
    assert_int_equal(engine_counters(device).descriptor_writes,
                     before.descriptor_writes + report.descriptor_writes);
    assert_int_equal(run_mix(&p, 0).descriptor_writes, 0);
    bind_by(device, &p, VYRE_BINDINGS_DESCRIPTOR);
    before = engine_counters(device);
    report = run_mix(&p, 0);
    assert_string_equal(report.bindings, "push descriptor");
    assert_true(report.descriptor_writes >= 2);
    assert_int_equal(engine_counters(device).descriptor_writes,
                     before.descriptor_writes + report.descriptor_writes);
    report = run_mix(&p, 0);
    assert_int_equal(report.descriptor_writes, 0);
    engine_release(&p);
    engine_close(&device);
}

static void test_report_tells_hidden_memory_of_each_kind(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program mix = engine_build(device, mix_text);
    vyre_report report = run_mix(&mix, 0);
    assert_int_equal(report.spill_size, 0);
    assert_true(report.staging_size >= 64); /* 32 bytes each way */
    assert_true(report.argument_size > 0);
    uint64_t borrowed = report.scratch_size;
    assert_true(borrowed >= 32); /* of host memory: the device's copies */
    engine_release(&mix);
    engine_program p = engine_build(device, "program live\nworkgroup 32\n"
                                            "inout a : u32[64]\nscratch s : u32[1000]\n"
                                            "kernel {\n"
                                            "  let v = a[gid.x]\n"
                                            "  grid_sync\n"
                                            "  a[63 - gid.x] = 0  s[gid.x] = 1\n"
                                            "  grid_sync\n"
                                            "  a[gid.x] = v + s[gid.x]\n"
                                            "}\n");
    uint32_t a[64] = {7};
    vyre_binding bindings[] = {engine_host_inout(a, 64), {.kind = VYRE_BINDING_NONE}};
    report = engine_run(&p, bindings, 2, NULL, 0, 64, 0);
    assert_int_equal(a[0], 8);
    assert_true(report.spill_size >= 64 * 4); /* a word of each invocation */
    assert_true(report.scratch_size >= 4000 + 256);
    engine_release(&p);
    engine_close(&device);
}

/* ---- Times ----------------------------------------------------------------------------------- */

static void expect_times_fit(const vyre_report *r)
{
    assert_true(r->wall_ns != VYRE_NS_NONE && r->wall_ns > 0);
    assert_true(r->enqueue_ns + r->wait_ns + r->readback_ns <= r->wall_ns);
    assert_true(r->plan_ns + r->record_ns + r->stage_ns + r->submit_ns <= r->enqueue_ns);
    assert_true(r->plan_ns > 0 && r->stage_ns > 0 && r->submit_ns > 0);
    assert_int_equal(r->record_ns > 0, r->recordings > 0);
    assert_true(r->device_ns != VYRE_NS_NONE && r->device_ns > 0);
    assert_true(r->device_dispatches_ns > 0 && r->device_dispatches_ns <= r->device_ns);
}

static void test_report_times_fit_together(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program mix = engine_build(device, mix_text), until = engine_build(device, until_text);
    for (int i = 0; i < 3; i++) {
        vyre_report once = run_mix(&mix, 0), many = run_mix(&mix, 9000),
                    ends = run_until(&until, 50);
        expect_times_fit(&once);
        expect_times_fit(&many);
        expect_times_fit(&ends);
        assert_true(once.readback_ns > 0);
    }
    /* The caller does something else in between: that is the rest. */
    uint32_t a[4] = {0}, b[4] = {0};
    vyre_binding bindings[] = {engine_host_inout(a, 4), engine_host_inout(b, 4)};
    vyre_dispatch_params params = engine_params(bindings, 2);
    vyre_ticket ticket;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch_async(mix.pipeline, &params, &ticket, &diag), VYRE_OK);
    uint64_t start = vyre_clock_ns();
    while (vyre_clock_ns() - start < 2000000) {
    }
    vyre_report report;
    assert_int_equal(vyre_ticket_wait(device, &ticket, UINT64_MAX, &report, &diag), VYRE_OK);
    expect_times_fit(&report);
    assert_true(report.wall_ns - report.enqueue_ns - report.wait_ns >= 2000000);
    engine_release(&mix);
    engine_release(&until);
    engine_close(&device);
}

static void test_refused_dispatches_were_not_measured(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program p = engine_build(device, mix_text);
    vyre_dispatch_params params = engine_params(NULL, 0);
    vyre_report report;
    vyre_diag diag;
    memset(&report, 0x55, sizeof report);
    assert_int_equal(vyre_dispatch(p.pipeline, &params, &report, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(report.device_ns == VYRE_NS_NONE);
    assert_true(report.device_dispatches_ns == VYRE_NS_NONE);
    assert_true(report.device_start_ns == VYRE_NS_NONE);
    assert_int_equal(report.submissions, 0);
    assert_int_equal(report.wall_ns, 0);
    engine_release(&p);
    engine_close(&device);
}

static void test_device_times_are_taken_where_they_are_asked_for(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program p = engine_build(device, mix_text);
    uint32_t a[4] = {0}, b[4] = {0};
    vyre_binding bindings[] = {engine_host_inout(a, 4), engine_host_inout(b, 4)};
    for (int timed = 0; timed < 2; timed++) {
        vyre_dispatch_params params = engine_params(bindings, 2);
        params.flags = timed ? VYRE_DISPATCH_TIMED : 0;
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(vyre_dispatch(p.pipeline, &params, &report, &diag), VYRE_OK);
        assert_int_equal(report.device_ns != VYRE_NS_NONE, timed);
        assert_int_equal(report.device_dispatches_ns != VYRE_NS_NONE, timed);
        assert_int_equal(script_saw.query_pools, timed);
        assert_true(timed || report.device_start_ns == VYRE_NS_NONE);
    }
    engine_release(&p);
    engine_close(&device);
}

static void test_device_windows_are_those_of_the_stamps(void **state)
{
    (void)state;
    NEED_DEVICE();
    /* With 64 bits as they are, and with 36 that wrap behind the first stamp, between the others:
     * the differences stay. */
    for (int wraps = 0; wraps < 2; wraps++) {
        script_reset();
        script.timestamp_bits = wraps ? 36 : 0;
        vyre_device *device = open_plain();
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        engine_program p = engine_build(device, mix_text);
        script.first_tick = wraps ? ((uint64_t)1 << 36) - 1 : 0;
        vyre_report report = run_mix(&p, 0);
        const uint64_t *t = script_saw.stamps;
        assert_true(t[0] <= t[1] && t[1] < t[2] && t[2] <= t[3]);
        assert_true(info.timestamp_ns == 1.0);
        assert_int_equal(report.device_ns, t[3] - t[0]);
        assert_int_equal(report.device_dispatches_ns, t[2] - t[1]);
        engine_release(&p);
        script.first_tick = 0;
        engine_close(&device);
    }
}

static void test_device_without_timestamps_has_no_times(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_timestamps = true;
    vyre_device *device = open_plain();
    engine_program mix = engine_build(device, mix_text), until = engine_build(device, until_text);
    for (int i = 0; i < 2; i++) {
        vyre_report report = i ? run_until(&until, 10) : run_mix(&mix, 0);
        assert_true(report.device_ns == VYRE_NS_NONE);
        assert_true(report.device_dispatches_ns == VYRE_NS_NONE);
        assert_true(report.device_start_ns == VYRE_NS_NONE);
        assert_true(report.wall_ns > 0 && report.wall_ns != VYRE_NS_NONE);
        char text[4096];
        (void)vyre_report_format_json(&report, text, sizeof text);
        assert_non_null(strstr(text, "\"device_ns\": null"));
    }
    assert_int_equal(script_saw.query_pools, 0);
    engine_release(&mix);
    engine_release(&until);
    engine_close(&device);
}

static void test_device_start_is_on_the_hosts_clock(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    engine_program p = engine_build(device, mix_text);
    for (int i = 0; i < 3; i++) {
        uint64_t before = vyre_clock_ns();
        vyre_report report = run_mix(&p, 0);
        uint64_t after = vyre_clock_ns();
        if (!info.has_calibrated_timestamps) {
            assert_true(report.device_start_ns == VYRE_NS_NONE);
            continue;
        }
        /* Far wider than two clocks read together differ. */
        assert_in_range(report.device_start_ns, before - 100000000u, after + 100000000u);
    }
    vyre_buffer buffer = engine_buffer(device, 512, NULL);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 4), engine_resident(buffer, 256, 4)};
    vyre_step step = {p.pipeline, engine_params(bindings, 2)};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.flags = VYRE_DISPATCH_TIMED;
    params.prefix = &step;
    params.prefix_count = 1;
    vyre_sequence *sequence = NULL;
    vyre_report report;
    vyre_diag diag;
    assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag), VYRE_OK);
    uint64_t before = vyre_clock_ns();
    assert_int_equal(vyre_sequence_run(sequence, 0, &report, &diag), VYRE_OK);
    uint64_t after = vyre_clock_ns();
    if (info.has_calibrated_timestamps) {
        assert_in_range(report.device_start_ns, before - 100000000u, after + 100000000u);
    }
    vyre_sequence_destroy(&sequence);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    engine_close(&device);
}

static void test_device_start_knows_counters_that_wrap(void **state)
{
    (void)state;
    NEED_DEVICE();
    script.timestamp_bits = 36;
    vyre_device *device = open_plain();
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    if (info.has_calibrated_timestamps) {
        uint64_t top = (uint64_t)1 << 36, now = vy_clock_ns() + 1000000000u; /* stays fresh */
        device->calibrated_ns = now;
        device->calibrated_ticks = 5;
        assert_int_equal(vy_device_host_time(device, 905), now + 900);
        assert_int_equal(vy_device_host_time(device, top - 1000), now - 1005);
        device->calibrated_ticks = top - 10;
        assert_int_equal(vy_device_host_time(device, 20), now + 30);
        assert_int_equal(vy_device_host_time(device, top - 20), now - 10);
        /* Longer ago than the counter goes round in, less what a moment keeps: still before. */
        assert_int_equal(vy_device_host_time(device, top / 2), now - (top / 2 - 10));
    }
    engine_close(&device);
}

/* ---- Diagnosis ------------------------------------------------------------------------------- */

static void test_labels_name_every_segment(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int on = 0; on < 2; on++) {
        script_reset();
        vyre_device *device = open_debugged(on ? VYRE_DEBUG_LABELS : 0, VYRE_LOG_DEFAULT);
        engine_program p = engine_build(device, mix_text);
        bind_by(device, &p, VYRE_BINDINGS_DESCRIPTOR);
        (void)run_mix(&p, 0);
        assert_int_equal(script_saw.labels_begun, script_saw.labels_ended);
        assert_int_equal(script_saw.labels_begun, on ? 3 : 0);
        for (uint32_t i = 0; on && i < 3; i++) {
            assert_non_null(strstr(script_saw.labels[i], "mix"));
            for (uint32_t k = 0; k < i; k++) {
                assert_string_not_equal(script_saw.labels[i], script_saw.labels[k]);
            }
        }
        engine_release(&p);
        engine_close(&device);
    }
}

static void test_trace_tells_what_is_done_and_how_long(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int on = 0; on < 2; on++) {
        vyre_device *device = open_debugged(on ? VYRE_DEBUG_TRACE : 0, VYRE_LOG_DEBUG);
        engine_program p = engine_build(device, mix_text);
        bind_by(device, &p, VYRE_BINDINGS_DESCRIPTOR);
        messages[0] = 0;
        (void)run_mix(&p, 2);
        static const char *const says[] = {
            "recorded mix: 2 passes, 6 dispatches, ",
            "submitted mix as ",
            "started mix: 2 buffers by push descriptor, 1 x 1 x 1 workgroups, 3 segments, 2 passes",
            "ended mix: success, 2 passes, 1 chunks, ",
        };
        for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
            if ((strstr(messages, says[i]) != NULL) != on) {
                fail_msg("\"%s\" in: %s", says[i], messages);
            }
        }
        const char *ended = strstr(messages, "ended mix");
        assert_true(!on || (ended && strstr(ended, " ns\n")));
        assert_true(on || messages[0] == 0);
        engine_release(&p);
        engine_close(&device);
    }
}

static void test_serialize_waits_before_every_command(void **state)
{
    (void)state;
    NEED_DEVICE();
    uint64_t barriers[2], commands = 0;
    for (int on = 0; on < 2; on++) {
        script_reset();
        layer.no_judge = on; /* it would find these barriers needless */
        vyre_device *device = open_debugged(on ? VYRE_DEBUG_SERIALIZE : 0, VYRE_LOG_DEFAULT);
        engine_program p = engine_build(device, mix_text);
        bind_by(device, &p, VYRE_BINDINGS_DESCRIPTOR);
        layer_clear_events();
        vyre_report report = run_mix(&p, 0);
        barriers[on] = report.barriers_recorded;
        assert_int_equal(report.barriers_recorded, layer_count(LAYER_BARRIER));
        assert_int_equal(report.barriers_elided, on ? 0 : 1);
        assert_int_equal(report.submissions, 1); /* and no wait of the host's */
        commands = layer_count(LAYER_DISPATCH) + layer_count(LAYER_COPY) + layer_count(LAYER_FILL);
        engine_release(&p);
        layer.no_judge = true; /* needless barriers are what is asked for */
        engine_close(&device);
    }
    assert_int_equal(barriers[1], commands + 1); /* and one for the host */
    assert_true(barriers[0] < barriers[1]);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static void test_counters_are_the_sums_of_reports(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    engine_program mix = engine_build(device, mix_text), until = engine_build(device, until_text);
    vyre_device_counters b = engine_counters(device);
    vyre_report all[4];
    all[0] = run_mix(&mix, 0);
    all[1] = run_until(&until, 12);
    vyre_device_counters first = engine_counters(device);
    all[2] = run_mix(&mix, 0);
    all[3] = run_until(&until, 12);
    vyre_device_counters c = engine_counters(device);
    vyre_report sum = {.passes = 0};
    for (int i = 0; i < 4; i++) {
        sum.submissions += all[i].submissions;
        sum.waits += all[i].waits;
        sum.passes += all[i].passes;
        sum.uploads += all[i].uploads;
        sum.upload_size += all[i].upload_size;
        sum.downloads += all[i].downloads;
        sum.download_size += all[i].download_size;
        sum.descriptor_writes += all[i].descriptor_writes;
        sum.recordings += all[i].recordings;
        sum.recordings_reused += all[i].recordings_reused;
    }
    assert_int_equal(c.submissions - b.submissions, sum.submissions);
    assert_int_equal(c.waits - b.waits, sum.waits);
    assert_int_equal(c.passes - b.passes, sum.passes);
    assert_int_equal(c.uploads - b.uploads, sum.uploads);
    assert_int_equal(c.upload_size - b.upload_size, sum.upload_size);
    assert_int_equal(c.downloads - b.downloads, sum.downloads);
    assert_int_equal(c.download_size - b.download_size, sum.download_size);
    assert_int_equal(c.descriptor_writes - b.descriptor_writes, sum.descriptor_writes);
    assert_int_equal(c.recordings - b.recordings, sum.recordings);
    assert_int_equal(c.recordings_reused - b.recordings_reused, sum.recordings_reused);
    /* Dispatches and barriers count where they are recorded, which the first runs did. */
    assert_true(first.dispatches - b.dispatches >= all[0].dispatches_recorded);
    assert_true(first.barriers - b.barriers >= all[0].barriers_recorded);
    assert_int_equal(all[2].recordings + all[3].recordings, 0);
    assert_int_equal(c.dispatches, first.dispatches);
    assert_int_equal(c.barriers, first.barriers);
    assert_int_equal(c.barriers_elided, first.barriers_elided);
    assert_int_equal(c.instances - b.instances, 2);
    assert_int_equal(c.instance_misses - b.instance_misses, 2);
    assert_int_equal(c.instance_hits - b.instance_hits, 2);
    assert_int_equal(c.instance_forks, b.instance_forks);
    assert_int_equal(c.memory_allocations, first.memory_allocations);
    assert_int_equal(c.memory_size, first.memory_size);
    assert_int_equal(c.parked, 0);
    engine_release(&mix);
    engine_release(&until);
    engine_close(&device);
}

static void test_counters_tell_what_is_alive(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_plain();
    vyre_device_counters b = engine_counters(device);
    vyre_buffer buffer = engine_buffer(device, 4096, NULL);
    vyre_device_counters c = engine_counters(device);
    assert_int_equal(c.buffers, b.buffers + 1);
    assert_int_equal(c.imported_buffers, 0);
    assert_true(c.memory_allocations >= 1 && c.memory_size >= 4096);
    engine_program one = engine_build(device, "program one\nworkgroup 1\nout y : u32[1]\n"
                                              "kernel { y[0] = 1 }\n");
    c = engine_counters(device);
    assert_int_equal(c.splits, b.splits);
    assert_int_equal(c.segments, b.segments);
    engine_program mix = engine_build(device, mix_text);
    c = engine_counters(device);
    assert_int_equal(c.splits, b.splits + 1);
    assert_int_equal(c.segments, b.segments + 3);
    (void)run_mix(&mix, 0);
    c = engine_counters(device);
    assert_true(c.pipelines >= b.pipelines + 3);
    assert_int_equal(c.modules - b.modules, c.pipelines - b.pipelines);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&one);
    engine_release(&mix);
    c = engine_counters(device);
    assert_int_equal(c.buffers, b.buffers);
    assert_int_equal(c.instances, 0);
    engine_close(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_report_counts_the_commands_recorded),
        T(test_program_without_statements_dispatches_nothing),
        T(test_report_counts_passes_and_chunks),
        T(test_report_counts_copies),
        T(test_report_counts_descriptor_writes),
        T(test_report_tells_hidden_memory_of_each_kind),
        T(test_report_times_fit_together),
        T(test_refused_dispatches_were_not_measured),
        T(test_device_times_are_taken_where_they_are_asked_for),
        T(test_device_windows_are_those_of_the_stamps),
        T(test_device_without_timestamps_has_no_times),
        T(test_device_start_is_on_the_hosts_clock),
        T(test_device_start_knows_counters_that_wrap),
        T(test_labels_name_every_segment),
        T(test_trace_tells_what_is_done_and_how_long),
        T(test_serialize_waits_before_every_command),
        T(test_counters_are_the_sums_of_reports),
        T(test_counters_tell_what_is_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A lost device: it stays lost, says what was running, and everything can be destroyed. */
#include "tests/engine/fake_machine.h"
#include "tests/engine/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static vyre_device *device;

static int open_bare(void **state)
{
    (void)state;
    layer_reset();
    device = engine_has_no_device() ? NULL : gate_open_device(&(gate_wishes){.validate = 0});
    return 0;
}

static int open_crumbs(void **state)
{
    (void)state;
    layer_reset();
    gate_wishes wishes = {.debug = VYRE_DEBUG_BREADCRUMBS};
    device = engine_has_no_device() ? NULL : gate_open_device(&wishes);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        vyre_device_destroy(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

/* Three segments a pass. */
static const char steps_text[] = "program steps\nworkgroup 1\nfixpoint 4000\n"
                                 "inout a : u32[3]\n"
                                 "kernel {\n"
                                 "  a[0] = a[0] + 1\n  grid_sync\n"
                                 "  a[1] = a[1] + a[0]\n  grid_sync\n"
                                 "  a[2] = a[2] + a[1]\n"
                                 "}\n";

typedef struct steps {
    uint32_t a[3];
    vyre_binding bindings[2];
    vyre_dispatch_params params;
    uint32_t done_count;
    vyre_result done_result;
} steps;

static void note_done(void *user, vyre_ticket ticket, vyre_result result)
{
    steps *s = user;
    (void)ticket;
    s->done_count++;
    s->done_result = result;
}

static void steps_init(steps *s, uint32_t binding_count, uint32_t passes)
{
    memset(s, 0, sizeof *s);
    s->a[0] = 1000;
    s->bindings[0] = engine_host_inout(s->a, 3);
    vyre_dispatch_params_init(&s->params);
    s->params.strategy = VYRE_STRATEGY_REPLAY;
    s->params.bindings = s->bindings;
    s->params.binding_count = binding_count;
    s->params.groups[0] = 1;
    s->params.passes = passes;
    s->params.done = note_done;
    s->params.done_user = s;
}

/* From here on the n-th call of that name loses the device. */
static void lose_at(const char *call, uint32_t n)
{
    layer.fail_only = call;
    layer.failure = VK_ERROR_DEVICE_LOST;
    layer.fail_at = layer_fallible_calls() + n;
}

static vyre_loss loss_of(vyre_device *of)
{
    vyre_loss loss;
    vyre_device_get_loss(of, &loss);
    return loss;
}

static void expect_everything_lost(const engine_program *p, steps *s)
{
    vyre_diag diag;
    vyre_buffer buffer;
    vyre_buffer_params params = {.size = 64};
    vyre_ticket ticket;
    vyre_pipeline *pipeline = NULL;
    assert_int_equal(vyre_dispatch(p->pipeline, &s->params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(diag.vk_result, VK_ERROR_DEVICE_LOST);
    assert_int_equal(vyre_dispatch_async(p->pipeline, &s->params, &ticket, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(vyre_buffer_create(device, &params, &buffer, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(vyre_pipeline_create(device, p->kernel, NULL, &pipeline, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(vyre_device_wait(device, 0, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(s->a[0], 1000); /* nothing came back */
}

static void test_nothing_is_lost_at_first(void **state)
{
    (void)state;
    NEED_OPEN(device);
    vyre_loss loss = loss_of(device);
    assert_int_equal(loss.is_lost, 0);
    assert_string_equal(loss.program, "");
    assert_int_equal(loss.segment, VYRE_DIAG_NONE);
    assert_int_equal(loss.pass, VYRE_DIAG_NONE);
    loss = loss_of(NULL);
    assert_int_equal(loss.is_lost, 0);
}

static void test_loss_in_a_wait_names_the_chunk(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    steps s;
    steps_init(&s, 2, 100);
    s.params.label = "the countdown";
    lose_at("vkWaitSemaphores", 3); /* chunks of 1, 4, 4: the third begins at pass 5 */
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_non_null(strstr(diag.message, "the countdown"));
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(diag.pass, 5);
    assert_int_equal(s.done_count, 1);
    assert_int_equal(s.done_result, VYRE_ERROR_DEVICE_LOST);
    vyre_loss loss = loss_of(device);
    assert_int_equal(loss.is_lost, 1);
    assert_string_equal(loss.program, "the countdown");
    assert_int_equal(loss.pass, 5);
    assert_int_equal(loss.segment, VYRE_DIAG_NONE); /* a chunk has both */
    assert_int_equal(loss.is_exact, 0);
    assert_string_equal(loss.fault, "");
    layer.fail_only = NULL;
    expect_everything_lost(&p, &s);
    loss = loss_of(device);
    assert_string_equal(loss.program, "the countdown");
    assert_int_equal(loss.pass, 5);
    engine_release(&p);
}

static void test_loss_in_a_submission_names_the_chunk(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, steps_text);
    /* Chunks of 1365 passes; the first two are one call. */
    steps s;
    steps_init(&s, 1, 4000);
    lose_at("vkQueueSubmit", 1);
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    vyre_loss loss = loss_of(device);
    assert_string_equal(loss.program, "steps");
    assert_int_equal(loss.pass, 0);
    assert_int_equal(diag.pass, 0);
    assert_int_equal(diag.segment, VYRE_DIAG_NONE);
    assert_int_equal(s.done_count, 0); /* the call itself said so */
    layer.fail_only = NULL;
    expect_everything_lost(&p, &s);
    engine_release(&p);
}

static void test_loss_in_a_later_submission_names_a_chunk(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, steps_text);
    steps s;
    steps_init(&s, 1, 4000);
    vyre_diag diag;
    lose_at("vkQueueSubmit", 2);
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    vyre_loss loss = loss_of(device);
    assert_string_equal(loss.program, "steps");
    /* What ran: the second chunk, or none of ours where it had been seen ended. */
    assert_true(loss.pass == 1365 || loss.pass == 2730);
    assert_int_equal(loss.pass, diag.pass);
    layer.fail_only = NULL;
    expect_everything_lost(&p, &s);
    engine_release(&p);
}

static void test_loss_names_the_run_that_came_first(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, steps_text), q = engine_build(device, steps_text);
    steps s[3];
    vyre_ticket tickets[3];
    gate door;
    gate_create(device, &door);
    static const char *const labels[] = {"first", "second", "third"};
    for (uint32_t i = 0; i < 3; i++) {
        steps_init(&s[i], 1, 3);
        s[i].params.label = labels[i];
        s[i].params.sync = i == 0 ? gate_close(&door) : NULL;
        tickets[i] = gate_start(i == 1 ? &q : &p, &s[i].params);
    }
    gate_open(&door); /* it would hold up vkDeviceWaitIdle */
    lose_at("vkWaitSemaphores", 1);
    vyre_diag diag;
    assert_int_equal(vyre_ticket_wait(device, &tickets[2], UINT64_MAX, NULL, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_true(tickets[2].bits == 0);
    layer.fail_only = NULL;
    vyre_loss loss = loss_of(device);
    assert_string_equal(loss.program, "first"); /* nobody has waited for it */
    assert_int_equal(s[0].done_count, 0);
    uint32_t index = 9;
    int is_done = 0;
    assert_int_equal(vyre_ticket_poll(device, tickets[0], &is_done, &diag), VYRE_OK);
    assert_int_equal(is_done, 1);
    assert_int_equal(
        vyre_ticket_wait_many(device, tickets, 3, VYRE_WAIT_ALL, UINT64_MAX, &index, &diag),
        VYRE_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(vyre_ticket_wait(device, &tickets[i], 0, NULL, &diag),
                         VYRE_ERROR_DEVICE_LOST);
        assert_true(tickets[i].bits == 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(s[i].done_count, 1);
        assert_int_equal(s[i].done_result, VYRE_ERROR_DEVICE_LOST);
    }
    loss = loss_of(device);
    assert_string_equal(loss.program, "first");
    gate_destroy(&door);
    engine_release(&q);
    engine_release(&p);
}

/* ---- Breadcrumbs ----------------------------------------------------------------------------- */

/* The commands behind the n-th dispatch, from 1, are not there, and the wait says lost. */
static void lose_behind(uint32_t dispatch)
{
    /* By descriptors every dispatch is a segment's: copies are commands of their own. */
    engine_program p = engine_build_bound(device, steps_text, VYRE_BINDINGS_DESCRIPTOR);
    steps s;
    steps_init(&s, 1, 5);
    layer.stop_after = dispatch;
    lose_at("vkWaitSemaphores", 1);
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    layer.fail_only = NULL;
    vyre_loss loss = loss_of(device);
    assert_string_equal(loss.program, "steps");
    assert_int_equal(loss.is_exact, 1);
    assert_int_equal(loss.segment, (dispatch - 1) % 3);
    assert_int_equal(loss.pass, (dispatch - 1) / 3);
    assert_int_equal(diag.segment, loss.segment);
    assert_int_equal(diag.pass, loss.pass);
    engine_release(&p);
}

static void test_crumbs_tell_the_segment_and_pass(void **state)
{
    (void)state;
    NEED_OPEN(device);
    vyre_device_destroy(&device);
    static const uint32_t dispatches[] = {1, 2, 3, 4, 9, 14, 15};
    for (size_t i = 0; i < sizeof dispatches / sizeof *dispatches; i++) {
        (void)open_crumbs(state);
        lose_behind(dispatches[i]);
        (void)close_device(state);
    }
}

static void test_crumbs_of_an_earlier_run_say_nothing(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, steps_text);
    steps s;
    vyre_diag diag;
    steps_init(&s, 1, 5);
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_OK);
    assert_int_equal(s.a[0], 1005);
    /* The same commands, but the submission is refused: none of them began. */
    s.a[0] = 1000;
    lose_at("vkQueueSubmit", 1);
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    layer.fail_only = NULL;
    vyre_loss loss = loss_of(device);
    assert_int_equal(loss.is_exact, 0);
    assert_int_equal(loss.pass, 0);
    assert_int_equal(loss.segment, VYRE_DIAG_NONE);
    expect_everything_lost(&p, &s);
    engine_release(&p);
}

static void test_crumbs_of_a_fixpoint_count_across_chunks(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    steps s;
    steps_init(&s, 2, 100);
    lose_at("vkWaitSemaphores", 3);
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    layer.fail_only = NULL;
    vyre_loss loss = loss_of(device);
    assert_int_equal(loss.is_exact, 1);
    /* The third chunk, passes 5 to 8, ran to its end before the device was idle. */
    assert_int_equal(loss.pass, 8);
    assert_int_equal(loss.segment, 1);
    engine_release(&p);
}

/* ---- The driver's account -------------------------------------------------------------------- */

static void test_loss_has_the_drivers_account(void **state)
{
    (void)state;
    fake_machine_reset();
    fake.extensions[0] = VK_EXT_DEVICE_FAULT_EXTENSION_NAME;
    fake.fault = "page fault";
    device = gate_open_device(&(gate_wishes){.entry = fake_entry()});
    engine_program p = engine_build(device, steps_text);
    steps s;
    steps_init(&s, 1, 4);
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_OK);
    assert_int_equal(s.a[0], 1004);
    s.a[0] = 1000;
    fake.lose_at = fake_submissions() + 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    vyre_loss loss = loss_of(device);
    assert_string_equal(loss.program, "steps");
    assert_non_null(strstr(loss.fault, "page fault"));
    assert_non_null(strstr(loss.fault, "invalid write at 0xdead0000"));
    assert_non_null(strstr(loss.fault, "engine 3"));
    expect_everything_lost(&p, &s);
    engine_release(&p);
    vyre_device_destroy(&device);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
}

/* ---- Teardown -------------------------------------------------------------------------------- */

static vyre_sequence *make_sequence(const engine_program *p, const steps *s, vyre_buffer buffer)
{
    vyre_binding binding = engine_resident(buffer, 0, 3);
    vyre_step step = {.pipeline = p->pipeline, .dispatch = s->params};
    step.dispatch.bindings = &binding;
    step.dispatch.done = NULL;
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.prefix = &step;
    params.prefix_count = 1;
    vyre_sequence *out = NULL;
    vyre_diag diag;
    if (vyre_sequence_create(device, &params, &out, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return out;
}

static void tear_down(const char *order)
{
    layer_reset();
    device = gate_open_device(&(gate_wishes){.validate = 0});
    engine_program p = engine_build(device, steps_text);
    steps s[2];
    vyre_ticket tickets[2];
    vyre_diag diag;
    vyre_buffer buffer = engine_buffer(device, 64, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        steps_init(&s[i], 1, 5);
    }
    vyre_sequence *sequence = make_sequence(&p, &s[0], buffer);
    lose_at("vkWaitSemaphores", 1); /* until then nothing is seen to end */
    for (uint32_t i = 0; i < 2; i++) {
        tickets[i] = gate_start(&p, &s[i].params);
    }
    assert_int_equal(vyre_ticket_drop(device, &tickets[1], &diag), VYRE_OK);
    vyre_result code = vyre_device_wait(device, UINT64_MAX, &diag);
    assert_int_equal(code, VYRE_ERROR_DEVICE_LOST);
    layer.fail_only = NULL;
    assert_int_equal(vyre_sequence_run(sequence, 0, NULL, &diag), VYRE_ERROR_DEVICE_LOST);
    for (; *order; order++) {
        switch (*order) {
        case 'd':
            vyre_device_destroy(&device);
            break;
        case 'p':
            engine_release(&p);
            break;
        case 's':
            vyre_sequence_destroy(&sequence);
            break;
        case 'b':
            assert_int_equal(vyre_buffer_release(device, &buffer, &diag), VYRE_OK);
            break;
        default:
            assert_int_equal(vyre_ticket_wait(device, &tickets[0], UINT64_MAX, NULL, &diag),
                             VYRE_ERROR_DEVICE_LOST);
            break;
        }
    }
    assert_int_equal(s[0].done_count, 1);
    assert_int_equal(s[1].done_count, 1);
    assert_int_equal(layer_alive(), 0);
}

static void test_lost_devices_are_torn_down_in_any_order(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    static const char *const orders[] = {"tbspd", "bspd", "stpbd", "spd",
                                         "dsp",   "dps",  "tdps",  "bdsp"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        tear_down(orders[i]);
    }
}

int main(void)
{
#define T(test, open) cmocka_unit_test_setup_teardown(test, open, close_device)
    const struct CMUnitTest tests[] = {
        T(test_nothing_is_lost_at_first, open_bare),
        T(test_loss_in_a_wait_names_the_chunk, open_bare),
        T(test_loss_in_a_submission_names_the_chunk, open_bare),
        T(test_loss_in_a_later_submission_names_a_chunk, open_bare),
        T(test_loss_names_the_run_that_came_first, open_bare),
        T(test_crumbs_tell_the_segment_and_pass, open_crumbs),
        T(test_crumbs_of_an_earlier_run_say_nothing, open_crumbs),
        T(test_crumbs_of_a_fixpoint_count_across_chunks, open_crumbs),
        cmocka_unit_test(test_loss_has_the_drivers_account),
        cmocka_unit_test(test_lost_devices_are_torn_down_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every call of Vulkan's that can fail in a dispatcher's life fails, with every result that it may
 * give, and so does each allocation of host memory: an error with a type and a fix, or it is got
 * over; the same again then succeeds, and nothing is left. A device that is lost is followed by
 * another one, once. */
#include "tests/support/engine_fixture.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/vk_layer_scenario.h"
#include "vyre/dispatcher.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 64, STEPS = 8, OP_SET = 8, OP_ADD = 9 };

static const char handlers_text[] = "program set\n"
                                    "inout data : u32[]\n"
                                    "fn set_word(slot: u32, a0: u32, a1: u32) -> u32 {\n"
                                    "    if a1 >= len(data) { return 2 }\n"
                                    "    data[a1] = a0\n"
                                    "    return 0\n"
                                    "}\n"
                                    "fn add(slot: u32, a0: u32, a1: u32) -> u32 {\n"
                                    "    if a1 >= len(data) { return 2 }\n"
                                    "    atomic_add(data[a1], a0)\n"
                                    "    return 0\n"
                                    "}\n"
                                    "kernel { }\n";
static const vyre_handler handlers[] = {
    {OP_SET, "set_word", VYRE_EFFECT_WRITES_OUTPUT | VYRE_EFFECT_IDEMPOTENT},
    {OP_ADD, "add",
     VYRE_EFFECT_READS_OUTPUT | VYRE_EFFECT_WRITES_OUTPUT | VYRE_EFFECT_COMMUTATIVE}};

typedef struct life {
    layer_scenario_start start;
    vyre_device *device;
    vyre_buffer buffer;
    vyre_dispatcher *dispatcher;
    vyre_work_item items[COUNT];
    uint32_t data[COUNT];
} life;

static void set_items(life *l, uint32_t base)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        l->items[i] = (vyre_work_item){OP_SET, base + i, i, 0};
    }
}

static vyre_result make_dispatcher(life *l, vyre_device *device, const vyre_allocator *allocator,
                                   vyre_dispatcher_params *params, vyre_diag *diag)
{
    vyre_program *program = NULL;
    vyre_binding binding = {.kind = VYRE_BINDING_RESIDENT, .count = COUNT, .buffer = l->buffer};
    vyre_result code = vyre_program_parse(handlers_text, sizeof handlers_text - 1, "set", allocator,
                                          &program, diag);
    params->allocator = allocator;
    params->program = program;
    params->handlers = handlers;
    params->handler_count = 2;
    params->bindings = &binding;
    params->binding_count = 1;
    if (code == VYRE_OK) {
        code = vyre_dispatcher_create(device, params, &l->dispatcher, diag);
    }
    assert_true(code == VYRE_OK || !l->dispatcher);
    vyre_program_destroy(&program);
    return code;
}

static vyre_result make_buffer(vyre_device *device, vyre_buffer *out_buffer, vyre_diag *diag)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = COUNT * 4;
    params.name = "data";
    return vyre_buffer_create(device, &params, out_buffer, diag);
}

static vyre_result run_ring(life *l, vyre_diag *diag)
{
    uint32_t ring[COUNT * VYRE_SLOT_WORDS] = {0};
    vyre_queue_report report = {0};
    vyre_result code = vyre_ring_publish_items(ring, sizeof ring, 0, l->items, COUNT, diag);
    if (code == VYRE_OK) {
        code = vyre_dispatcher_run_ring(l->dispatcher, ring, sizeof ring, NULL, &report, diag);
    }
    assert_true(code != VYRE_OK || report.processed == COUNT);
    return code;
}

static vyre_result run_items(life *l, vyre_diag *diag)
{
    vyre_queue_report report = {0};
    vyre_result code = vyre_dispatcher_run(l->dispatcher, l->items, COUNT, NULL, &report, diag);
    assert_true(code != VYRE_OK || report.processed == COUNT);
    return code;
}

/* A wait that fails leaves the ticket: it is waited for again, as a caller would, or dropped. */
static vyre_result run_ticket(life *l, vyre_diag *diag)
{
    vyre_queue_ticket ticket = {0};
    vyre_queue_report report = {0};
    vyre_result code = vyre_dispatcher_submit(l->dispatcher, l->items, COUNT, NULL, &ticket, diag);
    if (code == VYRE_OK) {
        code = vyre_dispatcher_wait(l->dispatcher, &ticket, UINT64_MAX, &report, diag);
        assert_true(code != VYRE_OK || report.processed == COUNT);
    }
    if (ticket.bits) {
        vyre_diag ignored;
        vyre_result dropped = vyre_dispatcher_drop(l->dispatcher, &ticket, &ignored);
        assert_int_equal(dropped, VYRE_OK);
    }
    return code;
}

static vyre_result check_data(life *l, uint32_t base, vyre_diag *diag)
{
    vyre_result code = vyre_buffer_download(l->device, l->buffer, 0, l->data, sizeof l->data, diag);
    for (uint32_t i = 0; code == VYRE_OK && i < COUNT; i++) {
        assert_int_equal(l->data[i], base + i);
    }
    return code;
}

static vyre_result step(life *l, uint32_t number, const vyre_allocator *allocator, vyre_diag *diag)
{
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.max_in_flight = 2;
    switch (number) {
    case 0:
        return make_buffer(l->device, &l->buffer, diag);
    case 1:
        return make_dispatcher(l, l->device, allocator, &params, diag);
    case 2:
        return vyre_dispatcher_warm_up(l->dispatcher, diag);
    case 3:
        set_items(l, 1000);
        return run_items(l, diag);
    case 4:
        return check_data(l, 1000, diag);
    case 5:
        set_items(l, 2000);
        return run_ring(l, diag);
    case 6:
        set_items(l, 3000);
        return run_ticket(l, diag);
    default:
        return check_data(l, 3000, diag);
    }
}

static vyre_result open_life(life *l, const vyre_allocator *allocator, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.allocator = allocator;
    vyre_result code = vyre_device_create(&params, &l->device, diag);
    l->start.calls = layer_fallible_calls();
    l->start.allocations = (uint32_t)((const vy_fail_allocator *)allocator->user)->calls;
    return code;
}

static void close_life(life *l)
{
    vyre_diag ignored;
    vyre_dispatcher_destroy(&l->dispatcher);
    if (l->buffer.bits) {
        vyre_result code = vyre_buffer_destroy(l->device, &l->buffer, &ignored);
        if (code == VYRE_ERROR_BUSY) {
            code = vyre_device_wait(l->device, UINT64_MAX, &ignored);
            code = code ? code : vyre_buffer_destroy(l->device, &l->buffer, &ignored);
        }
        assert_true(code == VYRE_OK || code == VYRE_ERROR_DEVICE_LOST);
    }
    vyre_device_destroy(&l->device);
}

static vyre_result live(const vyre_allocator *allocator, void *user, vyre_diag *diag)
{
    life *l = user;
    layer_scenario_start start = l->start;
    *l = (life){.start = start};
    vyre_diag other;
    vyre_result first = open_life(l, allocator, diag);
    for (uint32_t number = 0; l->device && number < STEPS; number++) {
        vyre_result code = step(l, number, allocator, first ? &other : diag);
        if (code == VYRE_OK) {
            continue;
        }
        if (first != VYRE_OK && first != VYRE_ERROR_DEVICE_LOST) {
            fail_msg("step %u after %s (%s): %s: %s", (unsigned)number, vyre_result_name(first),
                     layer_failed() ? layer_failed() : "no call", vyre_result_name(code),
                     other.message);
        }
        if (first != VYRE_OK || code == VYRE_ERROR_DEVICE_LOST) {
            first = first ? first : code;
            break;
        }
        first = code;
        number--;
    }
    close_life(l);
    return first;
}

static void test_dispatchers_survive_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    static life l;
    const layer_scenario_params params = {.run = live, .user = &l, .start = &l.start};
    uint32_t runs = layer_scenario_fail_calls(&params);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 40);
}

static void test_dispatchers_survive_each_failed_allocation(void **state)
{
    (void)state;
    NEED_DEVICE();
    static life l;
    const layer_scenario_params params = {.run = live, .user = &l, .start = &l.start};
    uint32_t runs = layer_scenario_fail_allocations(&params, 3);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 50);
}

/* ---- Losses ---------------------------------------------------------------------------------- */

/* Another device for the dispatcher, of no test layer: that takes one. */
typedef struct next_device {
    vyre_device *device;
    vyre_buffer buffer;
    uint32_t calls;
    bool is_none;
} next_device;

static int give_next(void *user, vyre_device **out_device, vyre_binding *bindings, uint32_t count)
{
    next_device *next = user;
    vyre_device_params params;
    vyre_diag diag;
    next->calls++;
    if (next->is_none) {
        return 0;
    }
    assert_int_equal(count, 1);
    vyre_device_params_init(&params);
    assert_int_equal(vyre_device_create(&params, &next->device, &diag), VYRE_OK);
    assert_int_equal(make_buffer(next->device, &next->buffer, &diag), VYRE_OK);
    uint32_t zeros[COUNT] = {0};
    assert_int_equal(vyre_buffer_upload(next->device, next->buffer, 0, zeros, sizeof zeros, &diag),
                     VYRE_OK);
    bindings[0].buffer = next->buffer;
    *out_device = next->device;
    return 1;
}

/* The submission after the next `good` ones is lost, for good. */
static void lose(uint32_t good)
{
    layer.loss_stays = true;
    layer.fail_only = "vkQueueSubmit";
    layer.failure = VK_ERROR_DEVICE_LOST;
    layer.fail_at = layer_fallible_calls() + 1 + good;
}

static void run_lost(bool has_callback, bool is_none, bool expects_recovery)
{
    next_device next = {.is_none = is_none};
    life l = {.device = NULL};
    vyre_diag diag;
    vyre_queue_report report = {0};
    vyre_dispatcher_params params;
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    assert_int_equal(open_life(&l, &allocator, &diag), VYRE_OK);
    assert_int_equal(make_buffer(l.device, &l.buffer, &diag), VYRE_OK);
    vyre_dispatcher_params_init(&params);
    params.recover = has_callback ? give_next : NULL;
    params.recover_user = &next;
    assert_int_equal(make_dispatcher(&l, l.device, &allocator, &params, &diag), VYRE_OK);
    set_items(&l, 100);
    assert_int_equal(run_items(&l, &diag), VYRE_OK);
    /* Additions, which must not run twice; nothing of them was seen done. */
    for (uint32_t i = 0; i < COUNT; i++) {
        l.items[i] = (vyre_work_item){OP_ADD, 5, i, i};
    }
    lose(0);
    vyre_result code = vyre_dispatcher_run(l.dispatcher, l.items, COUNT, NULL, &report, &diag);
    assert_int_equal(next.calls, has_callback);
    vyre_dispatcher_counters counters;
    vyre_dispatcher_get_counters(l.dispatcher, &counters);
    assert_int_equal(counters.recoveries, expects_recovery);
    if (expects_recovery) {
        assert_int_equal(code, VYRE_OK);
        assert_int_equal(report.processed, COUNT);
        assert_int_equal(
            vyre_buffer_download(next.device, next.buffer, 0, l.data, sizeof l.data, &diag),
            VYRE_OK);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(l.data[i], 5);
        }
        /* It stays with that device. */
        assert_int_equal(run_items(&l, &diag), VYRE_OK);
        assert_int_equal(next.calls, 1);
    } else {
        assert_int_equal(code, VYRE_ERROR_DEVICE_LOST);
        assert_non_null(strstr(diag.message, "Fix: "));
        assert_int_equal(report.processed, 0);
    }
    vyre_dispatcher_destroy(&l.dispatcher);
    if (next.device) {
        assert_int_equal(vyre_buffer_destroy(next.device, &next.buffer, &diag), VYRE_OK);
        vyre_device_destroy(&next.device);
    }
    close_life(&l);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_a_lost_device_is_followed_by_another(void **state)
{
    (void)state;
    NEED_DEVICE();
    run_lost(true, false, true);
}

static void test_a_loss_is_reported_where_no_device_follows(void **state)
{
    (void)state;
    NEED_DEVICE();
    run_lost(true, true, false);
    layer_revive();
    engine_reset(state);
    run_lost(false, false, false);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_dispatchers_survive_each_failed_call),
        T(test_dispatchers_survive_each_failed_allocation),
        T(test_a_lost_device_is_followed_by_another),
        T(test_a_loss_is_reported_where_no_device_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

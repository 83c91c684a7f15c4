/* Queues of items and of slots where each call of Vulkan's fails once, on memory that is mapped and
 * on memory that is copied and flushed, and each allocation of host memory on the interpreter,
 * which has many: nothing is left, and the same works when it is done again. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/vk_layer_scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 64u
#define SHORT 70u
#define LONG  500u /* needs more memory than the first queue's */

/* What is done, and from where on it fails. */
typedef struct plan {
    bool on_interpreter;
    uint32_t first_failing;
    layer_scenario_start start;
} plan;

typedef struct work {
    const plan *plan;
    const vyre_allocator *allocator;
    vyre_device *device;  /* NULL: the interpreter */
    uint32_t host[WORDS]; /* its buffer */
    vyre_buffer buffer;
    vyre_dispatcher *dispatcher;
    uint32_t round; /* what words are set to */
} work;

static vyre_result open_device(work *w, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_OFF;
    params.allocator = w->allocator;
    return vyre_device_create(&params, &w->device, diag);
}

static vyre_result create(work *w, vyre_diag *diag)
{
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.allocator = w->allocator;
    vyre_result code = rig_create(w->device,
                                  w->device ? engine_resident(w->buffer, 0, WORDS)
                                            : engine_host_inout(w->host, WORDS),
                                  &params, &w->dispatcher, diag);
    assert_true((code == VYRE_OK) == (w->dispatcher != NULL));
    return code;
}

static vyre_result make_buffer(work *w, vyre_diag *diag)
{
    const vyre_buffer_params params = {.struct_size = sizeof params, .size = (uint64_t)WORDS * 4};
    return vyre_buffer_create(w->device, &params, &w->buffer, diag);
}

/* All words are set; with `chained` from one item to the next, in two waves. */
static void fill_items(const work *w, vyre_work_item *items, uint32_t count, bool chained)
{
    for (uint32_t i = 0; i < count; i++) {
        bool copies = chained && i >= count / 2;
        uint32_t word = i % WORDS;
        items[i] = rig_item(copies ? RIG_COPY : RIG_SET, (word + 1) % WORDS, word, w->round);
    }
}

static void check_data(const work *w, const vyre_queue_report *report, uint32_t count)
{
    uint32_t data[WORDS];
    assert_int_equal(report->processed, count);
    rig_check_sums(report);
    vyre_diag diag;
    if (!w->device) {
        memcpy(data, w->host, sizeof data);
    }
    /* The one failure may be in here. */
    if (!w->device ||
        vyre_buffer_download(w->device, w->buffer, 0, data, sizeof data, &diag) == VYRE_OK) {
        for (uint32_t i = 0; i < WORDS; i++) {
            assert_int_equal(data[i], w->round);
        }
    }
}

static vyre_result run_items(work *w, uint32_t count, uint32_t flags, bool chained, vyre_diag *diag)
{
    vyre_work_item items[LONG];
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_queue_params_init(&params);
    params.flags = flags | VYRE_QUEUE_KEEP_DUPLICATES;
    w->round++;
    fill_items(w, items, count, chained);
    vyre_result code = vyre_dispatcher_run(w->dispatcher, items, count, &params, &report, diag);
    if (code == VYRE_OK) {
        check_data(w, &report, count);
    }
    return code;
}

static vyre_result run_ring(work *w, vyre_diag *diag)
{
    uint32_t *ring = rig_ring(LONG), *before = rig_ring(LONG);
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_queue_ticket ticket = {1};
    vyre_queue_params_init(&params);
    w->round++;
    for (uint32_t s = 0; s < LONG; s++) {
        const uint32_t args[] = {0, s % WORDS, w->round};
        rig_put(ring, s, RIG_SET, 0, VYRE_PRIORITY_NORMAL, args, 3);
    }
    memcpy(before, ring, (size_t)LONG * VYRE_SLOT_SIZE);
    vyre_result code = vyre_dispatcher_submit_ring(
        w->dispatcher, ring, (size_t)LONG * VYRE_SLOT_SIZE, &params, &ticket, diag);
    assert_true((code == VYRE_OK) == (ticket.bits != 0));
    if (code == VYRE_OK) {
        code = vyre_dispatcher_wait(w->dispatcher, &ticket, UINT64_MAX, &report, diag);
        assert_true(ticket.bits == 0);
    }
    if (code == VYRE_OK) {
        assert_int_equal(rig_status(ring, LONG - 1), VYRE_STATUS_DONE);
        check_data(w, &report, LONG);
    } else {
        assert_memory_equal(ring, before, (size_t)LONG * VYRE_SLOT_SIZE);
    }
    free(before);
    free(ring);
    return code;
}

#define STEPS 7u

static vyre_result step(void *user, uint32_t number, vyre_diag *diag)
{
    work *w = user;
    const plan *p = w->plan;
    switch (number) {
    case 0:
        return p->on_interpreter ? VYRE_OK : open_device(w, diag);
    case 1:
        return p->on_interpreter ? VYRE_OK : make_buffer(w, diag);
    case 2:
        return create(w, diag);
    case 3:
        return run_items(w, SHORT, VYRE_QUEUE_INDEPENDENT, false, diag);
    case 4: /* programs of waves and of their own take a driver long */
        return p->on_interpreter ? run_items(w, LONG, VYRE_QUEUE_SPECIAL, true, diag) : VYRE_OK;
    case 5:
        return p->on_interpreter ? run_items(w, SHORT, VYRE_QUEUE_STRICT, false, diag) : VYRE_OK;
    default:
        return run_ring(w, diag);
    }
}

static vyre_result run_all(const vyre_allocator *allocator, void *user, vyre_diag *diag)
{
    plan *p = user;
    work w = {.allocator = allocator, .plan = p};
    const layer_scenario_steps steps = {step, &w, STEPS, p->first_failing, &p->start};
    vyre_result first = layer_scenario_run_steps(&steps, allocator, diag);
    if (w.dispatcher) {
        vyre_dispatcher_counters counters;
        vyre_dispatcher_get_counters(w.dispatcher, &counters);
        assert_true(counters.arenas <= 1);
    }
    vyre_dispatcher_destroy(&w.dispatcher);
    if (w.device) {
        assert_int_equal(engine_counters(w.device).buffers, w.buffer.bits != 0);
    }
    vyre_device_destroy(&w.device);
    return first;
}

static void fail_each_call(plan *p)
{
    const layer_scenario_params params = {.run = run_all, .user = p, .start = &p->start};
    uint32_t runs = layer_scenario_fail_calls(&params);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 20);
}

static void test_queues_survive_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    plan p = {.first_failing = 1};
    fail_each_call(&p);
}

/* The same queues where they are copied and memory is flushed. */
static void test_queues_survive_each_failed_call_where_they_are_copied(void **state)
{
    (void)state;
    NEED_DEVICE();
    plan p = {.first_failing = STEPS - 1};
    layer.heaps = LAYER_HEAPS_SEPARATE;
    layer.no_coherent_memory = true;
    fail_each_call(&p);
}

static void test_queues_survive_each_failed_allocation(void **state)
{
    (void)state;
    plan p = {.on_interpreter = true, .first_failing = 2};
    const layer_scenario_params params = {.run = run_all, .user = &p, .start = &p.start};
    uint32_t runs = layer_scenario_fail_allocations(&params, 1);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 120);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_queues_survive_each_failed_call),
        T(test_queues_survive_each_failed_call_where_they_are_copied),
        T(test_queues_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* See drain_support.h. */
#include "tests/megakernel/drain_support.h"

#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

vyre_device *drain_device;
const drain_fn drain_executors[2] = {drain_on_interpreter, drain_on_device};

uint32_t drain_executor_count(void)
{
    return drain_device ? 2 : 1;
}

int drain_open_device(void **state)
{
    (void)state;
    drain_device = engine_has_no_device() ? NULL : engine_open(1);
    return 0;
}

int drain_close_device(void **state)
{
    (void)state;
    if (drain_device) {
        engine_close(&drain_device);
    }
    return 0;
}

uint32_t *drain_words(size_t count)
{
    uint32_t *memory = calloc(count + 1, sizeof(uint32_t));
    assert_non_null(memory);
    return memory;
}

vyre_program *drain_parse(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "handlers", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s", diag.file, (unsigned)diag.line, diag.message);
    }
    return program;
}

static uint32_t slot_words(const drain_queue *queue)
{
    return queue->how.form == VY_DRAIN_OF_RING ? VYRE_SLOT_WORDS : 4;
}

drain_queue *drain_open(uint32_t slot_count, const vy_drain_params *how)
{
    drain_queue *q = calloc(1, sizeof *q);
    vyre_kernel_params kernel_params = {.struct_size = sizeof kernel_params};
    vyre_diag diag;
    assert_non_null(q);
    q->how = *how;
    q->slot_count = slot_count;
    q->max_claims = UINT32_MAX;
    q->priority = VYRE_PRIORITY_NORMAL;
    q->io_count = 1;
    q->ring = drain_words((size_t)slot_count * slot_words(q));
    if (vy_drain_build(how, NULL, &q->program, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s", diag.file, (unsigned)diag.line, diag.message);
    }
    if (drain_device) {
        vyre_device_kernel_params(drain_device, &kernel_params);
        if (vyre_kernel_compile(q->program, &kernel_params, &q->kernel, &diag) != VYRE_OK) {
            fail_msg("%s", diag.message);
        }
        engine_note(q->kernel);
        assert_int_equal(vyre_pipeline_create(drain_device, q->kernel, NULL, &q->pipeline, &diag),
                         VYRE_OK);
    }
    drain_set_waves(q, &slot_count, 1);
    drain_reset(q);
    return q;
}

void drain_close(drain_queue **queue)
{
    drain_queue *q = *queue;
    vyre_pipeline_destroy(&q->pipeline);
    vyre_kernel_destroy(&q->kernel);
    vyre_program_destroy(&q->program);
    for (uint32_t i = 0; i < DRAIN_EXTRA; i++) {
        free(q->extra[i]);
    }
    free(q->bounds);
    free(q->ring);
    free(q);
    *queue = NULL;
}

void drain_add_buffer(drain_queue *q, uint32_t count)
{
    uint32_t i = 0;
    while (i < DRAIN_EXTRA && q->extra[i]) {
        i++;
    }
    assert_true(i < DRAIN_EXTRA);
    q->extra[i] = drain_words(count);
    q->extra_counts[i] = count;
}

void drain_reset(drain_queue *q)
{
    vyre_control_params params;
    vyre_control_params_init(&params);
    params.slot_count = q->how.by_priority ? q->slot_count : 0;
    assert_int_equal(vyre_control_encode(&params, q->control, sizeof q->control, NULL), VYRE_OK);
    memset(q->log, 0, sizeof q->log);
    memset(q->io, 0, sizeof q->io);
    memset(q->ring, 0, (size_t)q->slot_count * slot_words(q) * sizeof(uint32_t));
    for (uint32_t i = 0; i < DRAIN_EXTRA; i++) {
        if (q->extra[i]) {
            memset(q->extra[i], 0, q->extra_counts[i] * sizeof(uint32_t));
        }
    }
}

uint32_t *drain_slot(drain_queue *q, uint32_t slot)
{
    return q->ring + (size_t)slot * slot_words(q);
}

void drain_put(drain_queue *q, uint32_t slot, uint32_t opcode, uint32_t a0, uint32_t a1,
               uint32_t a2)
{
    uint32_t *at = drain_slot(q, slot);
    if (q->how.form == VY_DRAIN_OF_ITEMS) {
        const vyre_work_item item = {opcode, a0, a1, a2};
        memcpy(at, &item, sizeof item);
        return;
    }
    memset(at, 0, VYRE_SLOT_SIZE);
    at[VYRE_SLOT_STATUS] = VYRE_STATUS_PUBLISHED;
    at[VYRE_SLOT_OPCODE] = opcode;
    at[VYRE_SLOT_PRIORITY] = VYRE_PRIORITY_NORMAL;
    at[VYRE_SLOT_ARGS] = a0;
    at[VYRE_SLOT_ARGS + 1] = a1;
    at[VYRE_SLOT_ARGS + 2] = a2;
}

void drain_set_waves(drain_queue *q, const uint32_t *lengths, uint32_t count)
{
    free(q->bounds);
    q->bounds = drain_words(count + 1);
    q->wave_count = count;
    for (uint32_t w = 0; w < count; w++) {
        q->bounds[w + 1] = q->bounds[w] + lengths[w];
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

#define MAX_BINDINGS (VY_DRAIN_WAVE_BINDINGS + DRAIN_EXTRA)

typedef struct words {
    uint32_t *data;
    uint32_t count; /* elements */
} words;

static uint32_t list_buffers(drain_queue *q, words out[MAX_BINDINGS])
{
    bool is_ring = q->how.form == VY_DRAIN_OF_RING;
    uint32_t count = VY_DRAIN_BINDINGS;
    out[VY_DRAIN_CONTROL] = (words){q->control, DRAIN_CONTROL_WORDS};
    out[VY_DRAIN_RING] =
        (words){q->ring, is_ring ? q->slot_count * VYRE_SLOT_WORDS : q->slot_count};
    out[VY_DRAIN_DEBUG_LOG] = (words){q->log, DRAIN_LOG_WORDS};
    out[VY_DRAIN_IO] = (words){q->io, q->io_count * VYRE_IO_WORDS};
    out[VY_DRAIN_RESULT] = (words){q->result, DRAIN_CONTROL_WORDS};
    q->control[VY_DRAIN_LEFT] = 0;
    if (q->how.in_waves) {
        out[count++] = (words){q->bounds, q->wave_count + 1};
        out[count++] = (words){NULL, UINT32_MAX};
    }
    for (uint32_t i = 0; i < DRAIN_EXTRA && q->extra_counts[i]; i++) {
        out[count++] = (words){q->extra[i], q->extra_counts[i]};
    }
    return count;
}

#define MAX_PARAMS (VY_DRAIN_PARAMS + DRAIN_EXTRA)

static void list_params(const drain_queue *q, uint32_t out[MAX_PARAMS])
{
    out[VY_DRAIN_SLOT_COUNT] = q->slot_count;
    out[VY_DRAIN_MAX_CLAIMS] = q->max_claims;
    out[VY_DRAIN_PERSISTENT] = q->persistent;
    out[VY_DRAIN_TENANT] = q->tenant;
    out[VY_DRAIN_PRIORITY] = q->priority;
    out[VY_DRAIN_WAVES] = q->wave_count;
    memcpy(out + VY_DRAIN_PARAMS, q->params, sizeof q->params);
}

/* The last workgroup left the words of control as they are. */
static void check_result(const drain_queue *q, uint32_t groups)
{
    uint32_t launches = q->how.in_waves ? q->wave_count : 1;
    assert_int_equal(q->control[VY_DRAIN_LEFT], groups * (q->how.in_waves ? q->passes : 1));
    if (launches) {
        assert_memory_equal(q->control, q->result, sizeof q->control);
    }
}

void drain_on_interpreter(drain_queue *q, uint32_t groups)
{
    uint32_t params[MAX_PARAMS];
    words buffers[MAX_BINDINGS];
    vyre_host_buffer given[MAX_BINDINGS];
    uint32_t count = list_buffers(q, buffers);
    list_params(q, params);
    for (uint32_t i = 0; i < count; i++) {
        given[i] = (vyre_host_buffer){buffers[i].data, buffers[i].count};
    }
    vyre_interp_params run = {.struct_size = sizeof run,
                              .buffers = given,
                              .buffer_count = count,
                              .params = params,
                              .param_count = VY_DRAIN_PARAMS + q->param_count,
                              .passes = q->how.in_waves ? q->wave_count : 0,
                              .detect_races = 1,
                              .groups = {groups, 1, 1}};
    vyre_interp_report report;
    vyre_diag diag;
    if (vyre_interp_run(q->program, &run, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
    if (report.race_count) {
        fail_msg("%u: %s", (unsigned)report.first_race.line, report.first_race.message);
    }
    q->passes = report.passes;
    check_result(q, groups);
}

void drain_on_device(drain_queue *q, uint32_t groups)
{
    uint32_t params[MAX_PARAMS];
    words buffers[MAX_BINDINGS];
    vyre_binding bindings[MAX_BINDINGS];
    uint32_t count = list_buffers(q, buffers);
    bool is_ring = q->how.form == VY_DRAIN_OF_RING;
    list_params(q, params);
    for (uint32_t i = 0; i < count; i++) {
        bool is_in = (i == VY_DRAIN_RING && !is_ring) || (i == VY_DRAIN_BOUNDS && q->how.in_waves);
        if (!buffers[i].data) {
            bindings[i] = (vyre_binding){.kind = VYRE_BINDING_NONE, .count = VYRE_COUNT_DECLARED};
        } else if (is_in) {
            bindings[i] = engine_host_in(buffers[i].data, buffers[i].count);
        } else {
            bindings[i] = engine_host_inout(buffers[i].data, buffers[i].count);
        }
    }
    vyre_dispatch_params run = engine_params(bindings, count);
    vyre_report report;
    vyre_diag diag;
    run.params = params;
    run.param_count = VY_DRAIN_PARAMS + q->param_count;
    run.groups[0] = groups;
    run.elements[0] = 0;
    run.passes = q->how.in_waves ? q->wave_count : 0;
    if (vyre_dispatch(q->pipeline, &run, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
    q->passes = report.passes;
    check_result(q, groups);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

uint32_t drain_count_status(const drain_queue *q, vyre_slot_status status)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < q->slot_count; s++) {
        count += q->ring[(size_t)s * VYRE_SLOT_WORDS] == (uint32_t)status;
    }
    return count;
}

vyre_control_report drain_check_sums(const drain_queue *q, uint32_t published)
{
    vyre_control_report r;
    assert_int_equal(vyre_control_read(q->control, sizeof q->control, &r, NULL), VYRE_OK);
    if (q->how.form == VY_DRAIN_OF_ITEMS) {
        uint32_t taken = r.cursor < q->slot_count ? r.cursor : q->slot_count;
        assert_int_equal(taken, r.done_count + r.fault_count + r.denied_count);
        return r;
    }
    uint32_t sum = 0;
    for (uint32_t status = 0; status < VYRE_STATUS_COUNT; status++) {
        sum += drain_count_status(q, status);
    }
    uint32_t left =
        drain_count_status(q, VYRE_STATUS_PUBLISHED) + drain_count_status(q, VYRE_STATUS_WAIT_IO) +
        drain_count_status(q, VYRE_STATUS_YIELD) + drain_count_status(q, VYRE_STATUS_REQUEUE);
    assert_int_equal(sum, q->slot_count);
    assert_int_equal(drain_count_status(q, VYRE_STATUS_CLAIMED), 0);
    assert_int_equal(drain_count_status(q, VYRE_STATUS_DONE), r.done_count);
    assert_int_equal(drain_count_status(q, VYRE_STATUS_FAULT), r.fault_count);
    assert_int_equal(published, r.done_count + r.fault_count + left);
    return r;
}

/* See dispatcher_support.h. */
#include "tests/megakernel/dispatcher_support.h"

#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

vyre_device *rig_device;

int rig_open_device(void **state)
{
    (void)state;
    rig_device = engine_has_no_device() ? NULL : engine_open(1);
    return 0;
}

int rig_open_separate(void **state)
{
    layer_reset();
    layer.heaps = LAYER_HEAPS_SEPARATE;
    return rig_open_device(state);
}

int rig_open_incoherent(void **state)
{
    layer_reset();
    layer.heaps = LAYER_HEAPS_UNIFIED;
    layer.no_coherent_memory = true;
    return rig_open_device(state);
}

int rig_close_device(void **state)
{
    (void)state;
    if (rig_device) {
        engine_close(&rig_device);
        assert_int_equal(layer_bad_ranges(), 0);
        assert_int_equal(layer_alive(), 0);
    }
    layer_reset();
    return 0;
}

static const char handlers_text[] =
    "program handlers\n"
    "inout data : u32[]\n"
    "fn add(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
    "    if a1 >= len(data) { return 2 }\n"
    "    atomic_add(data[a1], a2)\n"
    "    return 0\n"
    "}\n"
    "fn set_word(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
    "    if a1 >= len(data) { return 2 }\n"
    "    data[a1] = a2\n"
    "    return 0\n"
    "}\n"
    "fn copy(slot: u32, a0: u32, a1: u32) -> u32 {\n"
    "    if a0 >= len(data) || a1 >= len(data) { return 2 }\n"
    "    data[a1] = data[a0]\n"
    "    return 0\n"
    "}\n"
    "fn double(slot: u32, a0: u32, a1: u32) -> u32 {\n"
    "    if a1 >= len(data) { return 2 }\n"
    "    data[a1] = 2 * data[a1] + 1\n"
    "    return 0\n"
    "}\n"
    "fn fail(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 { return a2 }\n"
    "fn again(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
    "    if a1 >= len(data) { return 2 }\n"
    "    let before = atomic_add(data[a1], 1)\n"
    "    return select(before + 1 < a2, 256 + (before & 1), 0)\n"
    "}\n"
    "fn spin(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
    "    if a1 >= len(data) { return 2 }\n"
    "    var sum = a0\n"
    "    for i in 0 .. a2 { sum = sum * 1664525 + 1013904223 }\n"
    "    data[a1] = sum\n"
    "    return 0\n"
    "}\n"
    "kernel { }\n";

#define WRITES VYRE_EFFECT_WRITES_OUTPUT

static const vyre_handler handlers[] = {
    {RIG_ADD, "add", VYRE_EFFECT_READS_OUTPUT | WRITES | VYRE_EFFECT_COMMUTATIVE},
    {RIG_SET, "set_word", WRITES | VYRE_EFFECT_IDEMPOTENT},
    {RIG_COPY, "copy", VYRE_EFFECT_READS_INPUT | WRITES | VYRE_EFFECT_PURE},
    {RIG_DOUBLE, "double", VYRE_EFFECT_READS_OUTPUT | WRITES},
    {RIG_FAIL, "fail", 0},
    {RIG_AGAIN, "again", VYRE_EFFECT_READS_OUTPUT | WRITES | VYRE_EFFECT_REQUEUES},
    {RIG_SPIN, "spin", WRITES},
    {RIG_LARGE, "add", VYRE_EFFECT_READS_OUTPUT | WRITES | VYRE_EFFECT_COMMUTATIVE}};

static vyre_program *parse(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "handlers", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s", diag.file, (unsigned)diag.line, diag.message);
    }
    return program;
}

rig *rig_open(vyre_device *device, uint32_t count, const vyre_dispatcher_params *given)
{
    return rig_open_with(device, count, given, handlers_text, handlers,
                         sizeof handlers / sizeof *handlers);
}

rig *rig_open_with(vyre_device *device, uint32_t count, const vyre_dispatcher_params *given,
                   const char *text, const vyre_handler *with, uint32_t handler_count)
{
    vyre_dispatcher_params params;
    vyre_diag diag;
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->device = device;
    r->count = count;
    r->data = calloc(count, sizeof *r->data);
    assert_non_null(r->data);
    vyre_binding binding = engine_host_inout(r->data, count);
    if (device) {
        r->buffer = engine_buffer(device, (uint64_t)count * 4, r->data);
        binding = engine_resident(r->buffer, 0, count);
    }
    vyre_dispatcher_params_init(&params);
    if (given) {
        params = *given;
    }
    if (params.slice_ns == 0) {
        params.slice_ns = UINT64_MAX; /* how many launches there are says nothing of the machine */
    }
    vyre_program *program = parse(text);
    params.program = program;
    params.handlers = with;
    params.handler_count = handler_count;
    params.bindings = &binding;
    params.binding_count = 1;
    if (vyre_dispatcher_create(device, &params, &r->dispatcher, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    return r;
}

vyre_result rig_create(vyre_device *device, vyre_binding data, const vyre_dispatcher_params *given,
                       vyre_dispatcher **out_dispatcher, vyre_diag *diag)
{
    vyre_dispatcher_params params = *given;
    vyre_program *program = parse(handlers_text);
    params.program = program;
    params.handlers = handlers;
    params.handler_count = sizeof handlers / sizeof *handlers;
    params.bindings = &data;
    params.binding_count = 1;
    vyre_result code = vyre_dispatcher_create(device, &params, out_dispatcher, diag);
    vyre_program_destroy(&program);
    return code;
}

void rig_close(rig **r)
{
    vyre_dispatcher_destroy(&(*r)->dispatcher);
    assert_null((*r)->dispatcher);
    if ((*r)->device) {
        assert_int_equal(vyre_buffer_destroy((*r)->device, &(*r)->buffer, NULL), VYRE_OK);
    }
    free((*r)->data);
    free(*r);
    *r = NULL;
}

void rig_clear(rig *r)
{
    memset(r->data, 0, r->count * sizeof *r->data);
    if (r->device) {
        assert_int_equal(vyre_buffer_fill(r->device, r->buffer, 0, (uint64_t)r->count * 4, 0, NULL),
                         VYRE_OK);
    }
}

void rig_fetch(rig *r)
{
    if (r->device) {
        assert_int_equal(
            vyre_buffer_download(r->device, r->buffer, 0, r->data, (uint64_t)r->count * 4, NULL),
            VYRE_OK);
    }
}

void rig_check_sums(const vyre_queue_report *r)
{
    assert_int_equal(r->processed + r->denied + r->faulted + r->remaining, r->given);
    assert_int_equal(r->published + r->deduped, r->given);
    assert_true(r->unknown <= r->faulted);
    assert_true(r->plan_ns + r->publish_ns + r->compile_ns + r->lineage_ns + r->dispatch_ns <=
                r->wall_ns);
    assert_true(r->occupancy_proxy_bps <= 10000 && r->frontier_density_bps <= 10000 &&
                r->lane_busy_bps <= 10000);
    assert_int_equal(r->moved_size, r->upload_size + r->readback_size);
}

vyre_queue_report rig_run_with(rig *r, const vyre_work_item *items, uint32_t count,
                               const vyre_queue_params *params)
{
    vyre_queue_report report;
    vyre_diag diag;
    if (vyre_dispatcher_run(r->dispatcher, items, count, params, &report, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s", diag.file, (unsigned)diag.line, diag.message);
    }
    rig_check_sums(&report);
    return report;
}

vyre_queue_report rig_run(rig *r, const vyre_work_item *items, uint32_t count, uint32_t flags)
{
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = flags;
    return rig_run_with(r, items, count, &params);
}

vyre_work_item rig_item(uint32_t opcode, uint32_t input, uint32_t output, uint32_t param)
{
    return (vyre_work_item){opcode, input, output, param};
}

/* ---- Rings ----------------------------------------------------------------------------------- */

uint32_t *rig_ring(uint32_t slot_count)
{
    uint32_t *ring = calloc((size_t)slot_count + 1, VYRE_SLOT_SIZE);
    assert_non_null(ring);
    return ring;
}

void rig_put(uint32_t *ring, uint32_t slot, uint32_t opcode, uint32_t tenant, uint32_t priority,
             const uint32_t *args, uint32_t arg_count)
{
    uint32_t *words = ring + (size_t)slot * VYRE_SLOT_WORDS;
    assert_true(arg_count <= VYRE_SLOT_MAX_ARGS);
    memset(words, 0, VYRE_SLOT_SIZE);
    words[VYRE_SLOT_STATUS] = VYRE_STATUS_PUBLISHED;
    words[VYRE_SLOT_OPCODE] = opcode;
    words[VYRE_SLOT_TENANT] = tenant;
    words[VYRE_SLOT_PRIORITY] = priority;
    for (uint32_t a = 0; a < arg_count; a++) {
        words[VYRE_SLOT_ARGS + a] = args[a];
    }
}

uint32_t rig_status(const uint32_t *ring, uint32_t slot)
{
    return ring[(size_t)slot * VYRE_SLOT_WORDS + VYRE_SLOT_STATUS];
}

vyre_queue_report rig_run_ring(rig *r, uint32_t *ring, uint32_t slot_count,
                               const vyre_queue_params *params)
{
    vyre_queue_report report;
    vyre_diag diag;
    if (vyre_dispatcher_run_ring(r->dispatcher, ring, (size_t)slot_count * VYRE_SLOT_SIZE, params,
                                 &report, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s", diag.file, (unsigned)diag.line, diag.message);
    }
    rig_check_sums(&report);
    return report;
}

uint32_t *rig_control(uint32_t tenant_count, uint32_t slot_count, uint32_t observables,
                      size_t *out_size)
{
    vyre_control_params params;
    vyre_control_params_init(&params);
    params.tenant_count = tenant_count;
    params.slot_count = slot_count;
    assert_int_equal(vyre_control_query_size(observables, out_size, NULL), VYRE_OK);
    uint32_t *control = calloc(1, *out_size);
    assert_non_null(control);
    assert_int_equal(vyre_control_encode(&params, control, *out_size, NULL), VYRE_OK);
    return control;
}

/* See scenarios.h. */
#include "tests/support/scenarios.h"

#include "vyre/dispatch.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define UNTOUCHED  0x5a5a5a5au
#define COUNT      16u
#define STEP_COUNT 8u
#define STEPS      6u /* passes until nothing changes */

static const char text[] = "program all\nworkgroup 8\nfixpoint 50 until f\n"
                           "inout a : u32[16]\ninout r : u32[]\nout y : u32[16]\n"
                           "scratch f : u32[1]\nscratch t : u32[16]\n"
                           "kernel {\n"
                           "  let i = gid.x\n"
                           "  t[i] = a[i]\n"
                           "  grid_sync\n"
                           "  if i == 0 && t[0] != 0 { a[0] = t[0] - 1  f[0] = 1 }\n"
                           "  if t[i] > 100 { trap(1) }\n"
                           "  y[i] = y[i] + 1  r[i] = r[i] + 1\n"
                           "}\n";

static void begin(void *user)
{
    scenario_state *s = user;
    for (uint32_t i = 0; i < COUNT; i++) {
        s->a[i] = s->y[i] = s->back[i] = UNTOUCHED;
    }
    s->has_run = s->has_read = false;
}

static void check(void *user, vyre_result result)
{
    const scenario_state *s = user;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t a = i == 0 ? 0 : 7;
        assert_int_equal(s->y[i], s->has_run ? STEPS : UNTOUCHED);
        assert_int_equal(s->a[i], s->has_run ? a : UNTOUCHED);
        assert_int_equal(s->back[i], s->has_read ? STEPS + 100 : UNTOUCHED);
    }
    assert_true(result != VYRE_OK || (s->has_run && s->has_read));
}

typedef struct work {
    scenario_state *state;
    vyre_device *device;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    vyre_buffer buffer;
} work;

static vyre_result open_device(work *w, const vyre_allocator *allocator, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.allocator = allocator;
    params.validation = w->state->validation;
    vyre_device_info info;
    uint32_t count = 0;
    vyre_result code = vyre_device_list(&params, &info, 1, &count, diag);
    return code == VYRE_OK ? vyre_device_create(&params, &w->device, diag) : code;
}

static vyre_result compile(work *w, const vyre_allocator *allocator, vyre_diag *diag)
{
    vyre_program *program = NULL;
    vyre_kernel_params params;
    vyre_device_kernel_params(w->device, &params);
    params.allocator = allocator;
    vyre_result code =
        vyre_program_parse(text, sizeof text - 1, "scenario", allocator, &program, diag);
    if (code == VYRE_OK) {
        code = vyre_kernel_compile(program, &params, &w->kernel, diag);
    }
    vyre_program_destroy(&program);
    return code;
}

static vyre_result fill_buffer(work *w, vyre_diag *diag)
{
    uint32_t values[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        values[i] = 100;
    }
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = sizeof values;
    params.name = "scenario";
    vyre_result code =
        w->buffer.bits ? VYRE_OK : vyre_buffer_create(w->device, &params, &w->buffer, diag);
    return code == VYRE_OK
               ? vyre_buffer_upload(w->device, w->buffer, 0, values, sizeof values, diag)
               : code;
}

/* What save gives is read again by load. */
static vyre_result keep_cache(work *w, vyre_diag *diag)
{
    void *data = NULL;
    size_t size = 0;
    int is_used = 0;
    vyre_result code = vyre_device_save_cache(w->device, &data, &size, diag);
    if (code == VYRE_OK) {
        code = vyre_device_load_cache(w->device, data, size, &is_used, diag);
    }
    vyre_device_free_cache(w->device, &data, size);
    return code;
}

/* `is_async`: by a ticket. */
static vyre_result dispatch(work *w, bool is_async, vyre_diag *diag)
{
    scenario_state *s = w->state;
    uint32_t a[COUNT] = {STEPS - 1, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    vyre_binding bindings[] = {{.kind = VYRE_BINDING_HOST, .count = COUNT, .in = a, .out = s->a},
                               {.kind = VYRE_BINDING_RESIDENT, .count = COUNT, .buffer = w->buffer},
                               {.kind = VYRE_BINDING_HOST, .count = COUNT, .out = s->y},
                               {.kind = VYRE_BINDING_NONE},
                               {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 5;
    params.groups[0] = 2;
    vyre_report report;
    vyre_ticket ticket = {0};
    vyre_result code = VYRE_OK;
    if (is_async) {
        s->has_run = false;
        for (uint32_t i = 0; i < COUNT; i++) {
            s->a[i] = s->y[i] = UNTOUCHED;
        }
        code = vyre_dispatch_async(w->pipeline, &params, &ticket, diag);
        code = code ? code : vyre_ticket_wait(w->device, &ticket, UINT64_MAX, &report, diag);
    } else {
        code = vyre_dispatch(w->pipeline, &params, &report, diag);
    }
    s->has_run = code == VYRE_OK;
    return code;
}

static vyre_result download(work *w, vyre_diag *diag)
{
    scenario_state *s = w->state;
    uint32_t values[COUNT];
    vyre_result code = vyre_buffer_download(w->device, w->buffer, 0, values, sizeof values, diag);
    if (code == VYRE_OK) {
        memcpy(s->back, values, sizeof values);
        s->has_read = true;
    }
    return code;
}

/* One step; `number` counts from 0. */
static vyre_result step(work *w, uint32_t number, const vyre_allocator *allocator, vyre_diag *diag)
{
    switch (number) {
    case 0:
        return open_device(w, allocator, diag);
    case 1:
        return compile(w, allocator, diag);
    case 2:
        return vyre_pipeline_create(w->device, w->kernel, NULL, &w->pipeline, diag);
    case 3:
        return fill_buffer(w, diag);
    case 4:
        return dispatch(w, false, diag);
    case 5:
        return download(w, diag);
    case 6:
        return dispatch(w, true, diag);
    default:
        return keep_cache(w, diag);
    }
}

/* The failure is over after the first error: the same step then succeeds, and so do the others. A
 * dispatch that failed may have begun: the resident buffer is filled again. */
static vyre_result run(const vyre_allocator *allocator, void *user, vyre_diag *diag)
{
    work w = {.state = user};
    vyre_result first = VYRE_OK;
    vyre_diag other;
    for (uint32_t number = 0; number < STEP_COUNT; number++) {
        vyre_result code = step(&w, number, allocator, first ? &other : diag);
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
        if ((number == 4 || number == 6) && fill_buffer(&w, &other) != VYRE_OK) {
            fail_msg("filling again: %s", other.message);
        }
        number--;
    }
    vyre_pipeline_destroy(&w.pipeline);
    vyre_kernel_destroy(&w.kernel);
    if (w.buffer.bits) {
        vyre_result code = vyre_buffer_destroy(w.device, &w.buffer, &other);
        if (code == VYRE_ERROR_BUSY) { /* nobody could tell; the text says what to do */
            code = vyre_device_wait(w.device, UINT64_MAX, &other);
            code = code ? code : vyre_buffer_destroy(w.device, &w.buffer, &other);
        }
        if (code != VYRE_OK && code != VYRE_ERROR_DEVICE_LOST) {
            fail_msg("after %s (%s) the buffer cannot be destroyed: %s", vyre_result_name(first),
                     layer_failed() ? layer_failed() : "no call", other.message);
        }
    }
    vyre_device_destroy(&w.device);
    return first;
}

void scenario_dispatch(scenario_state *state, layer_scenario_params *out)
{
    *out = (layer_scenario_params){.run = run, .user = state, .begin = begin, .check = check};
}

/* See engine_run.h. */
#include "tests/support/engine_run.h"

#include "codegen/kernel.h"

#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int engine_has_no_device(void)
{
    const char *text = getenv("VYRE_TESTS_NO_DEVICE");
    if (!text || strcmp(text, "1") != 0) {
        return 0;
    }
    print_message("no device is used: VYRE_TESTS_NO_DEVICE=1\n");
    return 1;
}

int engine_validates(void)
{
    const char *text = getenv("VYRE_TESTS_NO_VALIDATION");
    return !text || strcmp(text, "1") != 0;
}

static void print_log(void *user, const vyre_log_message *message)
{
    (void)user;
    print_message("%s: %s\n", message->id, message->text);
}

/* As on GPUs, also where they run on a processor: it is the way that more can go wrong on. */
__attribute__((constructor)) static void prefer_addresses(void)
{
    setenv("VYRE_BINDINGS", "address", 0);
}

vyre_device *engine_open(int validate)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = validate && engine_validates() ? VYRE_VALIDATION_ON : VYRE_VALIDATION_OFF;
    return engine_open_with(&params);
}

vyre_device *engine_open_with(const vyre_device_params *given)
{
    vyre_device_params params = *given;
    params.log = params.log ? params.log : print_log;
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("no device: %s", diag.message);
    }
    return device;
}

vyre_device_counters engine_counters(const vyre_device *device)
{
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    return counters;
}

vyre_dispatch_params engine_params(const vyre_binding *bindings, uint32_t binding_count)
{
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY; /* what most tests count */
    params.bindings = bindings;
    params.binding_count = binding_count;
    params.groups[0] = 1;
    params.flags = VYRE_DISPATCH_TIMED;
    return params;
}

void engine_note(const vyre_kernel *kernel)
{
    vy_kernel_coarse coarse = {0};
    vyre_diag diag;
    (void)vy_kernel_coarsen(kernel, VYRE_INTERFACE_ADDRESS, false, &coarse, &diag);
    uint32_t variants = coarse.elements ? 4 : 2;
    for (uint32_t i = 0; i < variants * vyre_kernel_segment_count(kernel); i++) {
        uint32_t kind = i % variants;
        vy_variant variant = {.interface = VYRE_INTERFACE_ADDRESS,
                              .is_aliased = kind == 1,
                              .is_coarse = kind >= 2,
                              .is_joined = kind == 3};
        const uint32_t *words = NULL;
        uint32_t count = 0;
        if (vy_kernel_variant(kernel, variant, i / variants, &words, &count, &diag) == VYRE_OK) {
            layer_note_program(words, count, vyre_kernel_binding_count(kernel),
                               vyre_kernel_param_count(kernel));
        }
    }
}

static engine_program build(vyre_device *device, const char *text, int aliased,
                            vyre_binding_mode mode)
{
    engine_program out = {NULL, NULL};
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "test", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    vyre_kernel_params params;
    vyre_device_kernel_params(device, &params);
    params.aliased = aliased;
    if (vyre_kernel_compile(program, &params, &out.kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    engine_note(out.kernel);
    vyre_pipeline_params pipeline;
    vyre_pipeline_params_init(&pipeline);
    pipeline.bindings = mode;
    if (vyre_pipeline_create(device, out.kernel, &pipeline, &out.pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return out;
}

engine_program engine_build(vyre_device *device, const char *text)
{
    return build(device, text, 0, VYRE_BINDINGS_AUTO);
}

engine_program engine_build_bound(vyre_device *device, const char *text, vyre_binding_mode mode)
{
    return build(device, text, 0, mode);
}

engine_program engine_build_aliased(vyre_device *device, const char *text)
{
    return build(device, text, 1, VYRE_BINDINGS_AUTO);
}

void engine_release(engine_program *program)
{
    vyre_pipeline_destroy(&program->pipeline);
    vyre_kernel_destroy(&program->kernel);
}

void engine_close(vyre_device **device)
{
    uint64_t failures = vyre_device_validation_failures(*device);
    vyre_device_destroy(device);
    if (!layer.no_judge && layer_hazards(true)) {
        fail_msg("%u hazards", (unsigned)layer_hazards(false));
    }
    if (failures) {
        fail_msg("%llu validation messages", (unsigned long long)failures);
    }
}

vyre_binding engine_host_in(const void *data, uint32_t count)
{
    return (vyre_binding){.kind = VYRE_BINDING_HOST, .count = count, .in = data};
}

vyre_binding engine_host_out(void *data, uint32_t count)
{
    return (vyre_binding){.kind = VYRE_BINDING_HOST, .count = count, .out = data};
}

vyre_binding engine_host_inout(void *data, uint32_t count)
{
    return (vyre_binding){.kind = VYRE_BINDING_HOST, .count = count, .in = data, .out = data};
}

vyre_binding engine_resident(vyre_buffer buffer, uint64_t offset, uint32_t count)
{
    return (vyre_binding){
        .kind = VYRE_BINDING_RESIDENT, .count = count, .buffer = buffer, .offset = offset};
}

vyre_buffer engine_buffer(vyre_device *device, uint64_t size, const void *data)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.name = "test";
    vyre_buffer buffer;
    vyre_diag diag;
    if (vyre_buffer_create(device, &params, &buffer, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    if (data && vyre_buffer_upload(device, buffer, 0, data, size, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return buffer;
}

vyre_report engine_run(const engine_program *program, const vyre_binding *bindings,
                       uint32_t binding_count, const uint32_t *params, uint32_t param_count,
                       uint32_t elements, uint32_t passes)
{
    vyre_dispatch_params dispatch;
    vyre_dispatch_params_init(&dispatch);
    dispatch.strategy = VYRE_STRATEGY_REPLAY;
    dispatch.flags = VYRE_DISPATCH_TIMED;
    dispatch.bindings = bindings;
    dispatch.binding_count = binding_count;
    dispatch.params = params;
    dispatch.param_count = param_count;
    dispatch.elements[0] = elements;
    dispatch.passes = passes;
    vyre_report report;
    vyre_diag diag;
    if (vyre_dispatch(program->pipeline, &dispatch, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return report;
}

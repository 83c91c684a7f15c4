/* Runs a program's text; see run.h. */
#include "tests/conform/run.h"

#include "tests/support/differential.h"
#include "vyre/dispatch.h"
#include "vyre/interp.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A program made ready, and what it is run with. */
typedef struct made {
    const uint32_t *groups, *words;
    uint32_t word_count;
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
} made;

void *conform_allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size ? size : 1);
    assert_non_null(memory);
    return memory;
}

static vyre_result interpret(const made *m, const conform_buffer *buffers, uint32_t count,
                             vyre_diag *diag)
{
    vyre_host_buffer host[CONFORM_MAX_BUFFERS];
    vyre_interp_report report;
    for (uint32_t i = 0; i < count; i++) {
        host[i] = (vyre_host_buffer){buffers[i].data, buffers[i].count};
    }
    vyre_interp_params params = {
        .struct_size = sizeof params, .buffers = host, .buffer_count = count};
    params.params = m->words;
    params.param_count = m->word_count;
    memcpy(params.groups, m->groups, sizeof params.groups);
    return vyre_interp_run(m->program, &params, &report, diag);
}

static vyre_result dispatch(vyre_device *device, made *m, const conform_buffer *buffers,
                            uint32_t count, vyre_diag *diag)
{
    vyre_binding bindings[CONFORM_MAX_BUFFERS] = {{.kind = VYRE_BINDING_NONE}};
    vyre_kernel_params kernel_params;
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    for (uint32_t i = 0; i < count; i++) {
        bindings[i] = (vyre_binding){.kind = VYRE_BINDING_HOST, .count = buffers[i].count};
        bindings[i].in = buffers[i].mode == VYRE_BUFFER_OUT ? NULL : buffers[i].data;
        bindings[i].out = buffers[i].mode == VYRE_BUFFER_IN ? NULL : buffers[i].data;
    }
    params.bindings = bindings;
    params.binding_count = count;
    params.params = m->words;
    params.param_count = m->word_count;
    memcpy(params.groups, m->groups, sizeof params.groups);
    vyre_device_kernel_params(device, &kernel_params);
    vyre_result code = vyre_kernel_compile(m->program, &kernel_params, &m->kernel, diag);
    if (code == VYRE_OK) {
        code = vyre_pipeline_create(device, m->kernel, NULL, &m->pipeline, diag);
    }
    return code == VYRE_OK ? vyre_dispatch(m->pipeline, &params, NULL, diag) : code;
}

bool conform_run(vyre_device *device, const char *text, const conform_buffer *buffers,
                 uint32_t count, const uint32_t *groups)
{
    return conform_run_with(device, text, buffers, count, groups, NULL, 0);
}

bool conform_run_with(vyre_device *device, const char *text, const conform_buffer *buffers,
                      uint32_t count, const uint32_t *groups, const uint32_t *words,
                      uint32_t word_count)
{
    made m = {.groups = groups, .words = words, .word_count = word_count};
    vyre_diag diag = {.code = VYRE_OK};
    assert_true(count <= CONFORM_MAX_BUFFERS);
    vyre_result code = vyre_program_parse(text, strlen(text), "conform", NULL, &m.program, &diag);
    if (code == VYRE_OK) {
        code = device ? dispatch(device, &m, buffers, count, &diag)
                      : interpret(&m, buffers, count, &diag);
    }
    vyre_pipeline_destroy(&m.pipeline);
    vyre_kernel_destroy(&m.kernel);
    vyre_program_destroy(&m.program);
    if (code != VYRE_OK && code != VYRE_ERROR_UNSUPPORTED_FEATURE) {
        fail_msg("%s: %u:%u: %s\n%s", vyre_result_name(code), diag.line, diag.column, diag.message,
                 text);
    }
    if (code != VYRE_OK) {
        print_message("    refused: %s\n", diag.message);
    }
    return code == VYRE_OK;
}

int conform_open_device(void **state)
{
    vyre_device *device = NULL;
    if (!getenv("VYRE_TESTS_NO_DEVICE")) {
        device = vy_test_device();
        if (!device) {
            return -1;
        }
    }
    *state = device;
    return 0;
}

int conform_close_device(void **state)
{
    vyre_device *device = *state;
    vyre_device_destroy(&device);
    *state = NULL;
    return 0;
}

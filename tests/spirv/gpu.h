/* Forms on the device of the test run, by Vulkan alone: no part of the engine. All features that
 * the device has are on. Functions end the test on a failure. */
#ifndef VY_TESTS_GPU_H
#define VY_TESTS_GPU_H

#include "form.h"

typedef struct gpu gpu;

typedef struct gpu_buffer {
    void *data;
    uint32_t size, count; /* bytes, elements */
} gpu_buffer;

typedef struct gpu_spec {
    uint32_t id, value;
} gpu_spec;

/* NULL where tests run without a device. */
gpu *gpu_open(void);
void gpu_close(gpu *g);
/* The VYRE_FLOAT_* modes that the device has. */
uint32_t gpu_float_modes(const gpu *g);
uint32_t gpu_subgroup_size(const gpu *g);
bool gpu_has_maximal_reconvergence(const gpu *g);

/* Emits the form with the device's float modes, judges it, and makes a pipeline of it, which the
 * next one replaces. */
void gpu_prepare(gpu *g, form *f, const gpu_spec *specs, uint32_t spec_count);
/* Runs workgroups of it: buffers by binding, read and written back; then the parameters' words. */
void gpu_run(gpu *g, const form *f, const gpu_buffer *buffers, const uint32_t *params,
             uint32_t groups);

#endif

/* Programs on a device, for tests of the engine: text in, values out. */
#ifndef VY_ENGINE_RUN_H
#define VY_ENGINE_RUN_H

#include "tests/support/vk_layer.h"
#include "vyre/dispatch.h"

/* Workgroups that a test may run in all. Of each one llvmpipe allocates memory, which the address
 * sanitizer keeps: some 4 KiB. */
#if defined(__SANITIZE_ADDRESS__)
#define ENGINE_MANY_GROUPS 200000u
#else
#define ENGINE_MANY_GROUPS UINT32_MAX
#endif

/* A pipeline with the kernel that it keeps. */
typedef struct engine_program {
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
} engine_program;

/* The device that tests of the engine run on, through the layer. Validation is on where `validate`.
 * Fails the test with the reason when there is none. */
vyre_device *engine_open(int validate);
/* vyre_device_create that must succeed; messages are printed where the parameters have no `log`. */
vyre_device *engine_open_with(const vyre_device_params *params);
vyre_device_counters engine_counters(const vyre_device *device);
/* 1 where VYRE_TESTS_NO_DEVICE=1 says that tests run without a device: they then return at once. */
int engine_has_no_device(void);
/* 0 where VYRE_TESTS_NO_VALIDATION=1 says that the validation layer is not there. */
int engine_validates(void);
/* Parses, compiles and makes a pipeline; fails the test with the message otherwise. */
engine_program engine_build(vyre_device *device, const char *text);
/* By that way of binding. */
engine_program engine_build_bound(vyre_device *device, const char *text, vyre_binding_mode mode);
engine_program engine_build_aliased(vyre_device *device, const char *text);
/* For the judge of hazards, which then knows what the kernel's modules touch by addresses. */
void engine_note(const vyre_kernel *kernel);
void engine_release(engine_program *program);
/* Destroys the device. Fails the test where validation found anything, or the layer a hazard or a
 * barrier that nothing needs (layer.no_judge: it is not asked). */
void engine_close(vyre_device **device);

vyre_binding engine_host_in(const void *data, uint32_t count);
vyre_binding engine_host_out(void *data, uint32_t count);
vyre_binding engine_host_inout(void *data, uint32_t count);
vyre_binding engine_resident(vyre_buffer buffer, uint64_t offset, uint32_t count);
vyre_buffer engine_buffer(vyre_device *device, uint64_t size, const void *data);

/* Parameters for these bindings and one workgroup, with the device's times. */
vyre_dispatch_params engine_params(const vyre_binding *bindings, uint32_t binding_count);
/* vyre_dispatch that must succeed. */
vyre_report engine_run(const engine_program *program, const vyre_binding *bindings,
                       uint32_t binding_count, const uint32_t *params, uint32_t param_count,
                       uint32_t elements, uint32_t passes);

#endif

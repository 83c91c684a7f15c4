/* Kernel files in memory, for their tests: made, dropped and loaded, failing the test on errors. */
#ifndef VY_TESTS_KERNEL_FILE_SUPPORT_H
#define VY_TESTS_KERNEL_FILE_SUPPORT_H

#include "vyre/kernel.h"

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

/* Two segments, a record site, buffers y and z. */
extern const char small_text[];

vyre_program *parse_text(const char *text, size_t size);
vyre_kernel *compile_program(const vyre_program *program, const vyre_kernel_params *params);
vyre_kernel *compile_text(const char *text, const vyre_kernel_params *params);
bytes save_kernels(const vyre_kernel *const *kernels, uint32_t count);
/* Of small_text, for both targets; the second one aliased. */
bytes save_small(void);
void drop_bytes(bytes *b);
vyre_kernel *load_kernel(bytes b, const vyre_kernel_params *params);
/* Loading gives that error, no kernel, and a message with that text and a fix. */
void expect_load_error(bytes b, vyre_result wanted, const char *message);

#endif

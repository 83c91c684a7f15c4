/* Translates the kernels of piglit's tests of atomics. They are macros of one shape, so a reader of
 * their lines is enough; it is no reader of OpenCL C. */
#ifndef CONFORM_CL_ATOMIC_H
#define CONFORM_CL_ATOMIC_H

#include "codegen/base/base.h"
#include "tests/conform/cl_file.h"

#define CL_MAX_PARAMETERS 8u

typedef enum cl_space { CL_GLOBAL, CL_LOCAL, CL_VALUE } cl_space;

typedef struct cl_parameter {
    cl_space space;
    char name[32];
    const cl_argument *input, *output; /* NULL: none */
} cl_parameter;

typedef struct cl_kernel {
    conform_id type; /* of everything in it */
    uint32_t parameter_count;
    cl_parameter parameters[CL_MAX_PARAMETERS];
} cl_kernel;

/* Writes the program for a test of a file whose text is `source`. Buffers are declared in the order
 * of the kernel's parameters, values become params. NULL, or what the reader does not know. */
const char *cl_atomic_translate(const char *source, const cl_test *test, cl_kernel *kernel,
                                vy_text *text);

#endif

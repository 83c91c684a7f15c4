/* Reader of the OpenCL test files of piglit: the comment with [config] and [test] sections at the
 * head of a .cl file, or a .program_test file. Reads values, not OpenCL C. */
#ifndef CONFORM_CL_FILE_H
#define CONFORM_CL_FILE_H

#include "tests/conform/scalar.h"

#include <stddef.h>

#define CL_MAX_ARGUMENTS 8u

typedef struct cl_argument {
    int index;
    bool is_output, is_buffer;
    bool is_local;   /* NULL in place of values */
    conform_id type; /* CONFORM_TYPE_COUNT: a type that is none of ours; `type_name` says it */
    char type_name[16];
    uint32_t width; /* components of its vector type, 1 for scalars */
    uint32_t count; /* values, components counted one by one */
    uint64_t *values;
    double tolerance; /* outputs; in units in the last place where in_ulp */
    bool in_ulp;
} cl_argument;

typedef struct cl_test {
    char name[128], kernel[96];
    uint32_t global_size, local_size; /* in the first dimension */
    uint32_t argument_count;
    cl_argument arguments[CL_MAX_ARGUMENTS];
    char problem[96]; /* what the reader does not know in it; empty: nothing */
} cl_test;

typedef struct cl_file {
    uint32_t test_count, capacity;
    cl_test *tests;
} cl_file;

/* Parses a whole file's text. Never fails: a test that it does not understand has a `problem`. */
void cl_file_parse(cl_file *file, const char *text, size_t size);
void cl_file_finish(cl_file *file);
/* The type of that OpenCL name and its vector width, as in "uint4". */
conform_id cl_type_of(const char *name, uint32_t *width);

#endif

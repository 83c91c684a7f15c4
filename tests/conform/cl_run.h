/* Runs the tests of a file of piglit's that our operators cover, on the interpreter and on a
 * device, and judges them by the values in the file. */
#ifndef CONFORM_CL_RUN_H
#define CONFORM_CL_RUN_H

#include "tests/conform/batch.h"
#include "tests/conform/cl_file.h"

typedef struct cl_report {
    uint32_t tests, passed, differing, failed;
    uint64_t elements;
    conform_report uncovered;   /* its reasons alone: why tests did not run */
    conform_report differences; /* its reasons alone: where the languages differ, by built-in */
} cl_report;

/* `path` below piglit's folder. `source`: the file's text, ended by a
 * zero. Types of arguments become the kernel's. */
void cl_run_file(vyre_device *device, const char *path, const char *source, cl_file *file,
                 cl_report *report);

#endif

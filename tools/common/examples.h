/* Examples in a program's comments, which are its tests:
 *     //! run: ARGUMENTS                  options of vyre-run, quoted as in a shell
 *     //! expect: NAME = v, v, ...        a whole output; a final `...` leaves the rest
 *     //! expect: NAME[i..j] = v, v       elements i to j - 1
 *     //! expect: NAME = 1.5 ~4           within 4 ULP of the output's type
 *     //! expect: NAME = 1:2, 3:4         vectors
 *     //! expect: converged = yes|no
 *     //! expect: passes = N
 *     //! expect: record = none | trap CODE | loop_limit
 *     //! expect: error = CODE            such as INVALID_ARGUMENT
 * Expectations belong to the run before them. A fixpoint that reaches its limit, and a record, fail
 * unless expected. */
#ifndef VY_EXAMPLES_H
#define VY_EXAMPLES_H

#include "tools/common/run.h"

typedef struct vy_expectation {
    uint32_t line;
    const char *name; /* of an output, or one of the words above */
    const char *value;
    bool has_slice, open_end;
    uint32_t from, to;
    double ulp; /* below 0: not given */
} vy_expectation;

typedef struct vy_example {
    uint32_t line;
    const char *arguments;
    uint32_t first_expectation, expectation_count;
} vy_example;

typedef struct vy_examples {
    VY_VEC(vy_example) runs;
    VY_VEC(vy_expectation) expectations;
} vy_examples;

/* Finds the examples in a program's text; the arena owns what they point to. Errors:
 * INVALID_ARGUMENT with line and column. */
vyre_result vy_examples_find(const char *text, size_t size, vy_arena *arena,
                             vy_examples *out_examples, vyre_diag *diag);

/* Runs the examples of one file on the interpreter and, unless NULL, on the device, and compares
 * both with each other and with what is expected; `bindings` is how the device's shaders reach
 * their buffers. Without a device subgroups have that width (0:
 * the interpreter's own). Failures go to `err`, one line each. Returns how many examples failed;
 * *out_count is how many there were. A file without any fails. */
uint32_t vy_examples_run(const char *path, vyre_device *device, vyre_binding_mode bindings,
                         uint32_t subgroup_width, FILE *err, uint32_t *out_count);

#endif

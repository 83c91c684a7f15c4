/* One generated program on the interpreter and on a device, compared element by element. */
#ifndef VY_DIFFERENTIAL_H
#define VY_DIFFERENTIAL_H

#include "tests/support/generate.h"
#include "vyre/device.h"

typedef enum vy_verdict {
    VY_SAME,
    VY_DIFFERENT, /* a result, the record, the passes or the convergence differ */
    VY_BROKEN     /* the text does not parse, compile or run; the message says what */
} vy_verdict;

/* Called with the kernel before its pipeline is made: planted faults change words here. */
typedef void (*vy_kernel_hook)(void *user, vyre_kernel *kernel);

typedef struct vy_comparison {
    vy_verdict verdict;
    char message[1024]; /* what differs first, or which step failed */
} vy_comparison;

/* Runs `text`, whose interface is a generated program's, with the inputs of `seed`. */
void vy_compare(vyre_device *device, const char *text, size_t size, uint64_t seed,
                const vy_generated *info, vy_kernel_hook hook, void *hook_user,
                vy_comparison *out_comparison);

/* Makes a differing program smaller: takes away lines and whole blocks as long as it still differs.
 * The text is replaced by the smallest found. */
void vy_shrink(vyre_device *device, vy_text *text, uint64_t seed, const vy_generated *info);

/* Runs seeds [first, first + count): prints each difference with its shrunken program, and how many
 * programs hold each construct. Returns the number of programs that differ or break; *out_counts
 * (may be NULL) gets the count by construct. */
uint32_t vy_run_seeds(vyre_device *device, uint64_t first, uint32_t count, uint32_t *out_counts);

/* The device that tests run on: the best one, or VYRE_DEVICE. Prints why when there is none. */
vyre_device *vy_test_device(void);

#endif

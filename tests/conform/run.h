/* Runs a program's text over host memory, on the interpreter or on a device. */
#ifndef CONFORM_RUN_H
#define CONFORM_RUN_H

#include "vyre/device.h"

#include <stdbool.h>

typedef struct conform_buffer {
    vyre_buffer_mode mode; /* in, inout or out */
    uint32_t count;
    void *data;
} conform_buffer;

#define CONFORM_MAX_BUFFERS 8u

/* In workgroups. device NULL: on the interpreter. False: refused as UNSUPPORTED_FEATURE, with the
 * reason printed; any other error fails the test with the program. */
bool conform_run(vyre_device *device, const char *text, const conform_buffer *buffers,
                 uint32_t count, const uint32_t *groups);
/* With the words of its params. */
bool conform_run_with(vyre_device *device, const char *text, const conform_buffer *buffers,
                      uint32_t count, const uint32_t *groups, const uint32_t *words,
                      uint32_t word_count);
/* Zeroed; fails the test where there is none. */
void *conform_allocate(size_t count, size_t size);

/* For tests of a group: *state becomes the device, or NULL where VYRE_TESTS_NO_DEVICE says so. */
int conform_open_device(void **state);
int conform_close_device(void **state);

#endif

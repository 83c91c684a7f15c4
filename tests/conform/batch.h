/* Runs batches of rows on the interpreter and on a device, and judges every element by the oracle.
 * The one judge of operators: nothing is expected that docs/language.md does not say. */
#ifndef CONFORM_BATCH_H
#define CONFORM_BATCH_H

#include "tests/conform/oracle.h"
#include "tests/conform/shape.h"
#include "vyre/device.h"

#define CONFORM_REASONS 128u

/* Why rows did not run: the message of an UNSUPPORTED_FEATURE, and how many rows in a shape. */
typedef struct conform_reason {
    char message[256];
    uint32_t rows;
} conform_reason;

typedef struct conform_report {
    uint32_t rows;     /* operators by operand types and shape */
    uint32_t programs; /* each on the interpreter and on the device */
    uint64_t cases;    /* elements judged, on either */
    uint64_t free;     /* of these, outside of a function's domain on the device */
    uint32_t failures; /* rows with a wrong element, and programs that did not run */
    uint32_t reason_count;
    conform_reason reasons[CONFORM_REASONS];
} conform_report;

typedef struct conform_runner {
    vyre_device *device; /* NULL: the interpreter alone */
    conform_mode mode;
    const conform_values *values;
    conform_report *report;
    /* For tests of the judge: rows of the one operator are judged as the other; both NONE: none. */
    vyre_op planted, planted_as;
} conform_runner;

/* The mode of a device, as its tests found it. */
conform_mode conform_device_mode(const vyre_device *device);
/* All rows of a base type in one shape, in batches. */
void conform_run_shape(const conform_runner *runner, conform_id base, conform_shape shape);
/* Counts a refusal. */
void conform_refuse(conform_report *report, const char *message, uint32_t rows);
void conform_print_report(const conform_report *report);

#endif

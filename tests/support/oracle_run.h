/* Runs cases through the public interface, on a device and on the interpreter, and compares every
 * element with the oracle's. */
#ifndef VY_ORACLE_RUN_H
#define VY_ORACLE_RUN_H

#include "tests/support/oracle_case.h"
#include "vyre/device.h"
#include "vyre/dispatch.h"

/* A program of shaders/ made ready. */
typedef struct vy_prepared {
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline; /* NULL without a device */
    vyre_device_info info;
} vy_prepared;

/* Prints what is wrong and returns false; device may be NULL. finish takes a half-made one too. */
bool vy_prepare(vyre_device *device, vy_subject subject, vy_prepared *out_prepared);
void vy_prepared_finish(vy_prepared *prepared);

#define VY_RUN_DEVICE      1u
#define VY_RUN_INTERPRETER 2u /* with its search for races */

/* Runs the case in each of the ways asked for, and compares outputs, passes, convergence
 * and records; prints what differs first and returns false. Outputs are kept in slots with room;
 * the others are compared and dropped. Prints how long it took where that is more than a second. */
bool vy_case_run(const vy_prepared *prepared, vy_case *c, uint32_t ways);
/* A case from its making to its end. */
bool vy_check(const vy_prepared *prepared, vy_subject subject, vy_variant variant, uint32_t size,
              uint32_t ways);

/* The element where two arrays differ first, or count. */
uint32_t vy_first_difference(const uint32_t *a, const uint32_t *b, uint32_t count);

#endif

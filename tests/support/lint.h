/* A judge of emitted words, written apart from the emitter: it reads a module and checks what no
 * value computed on a processor's driver can show (scopes, semantics, NonWritable, Coherent,
 * Aliased, NoContraction, float modes, opcodes that are never to be emitted). */
#ifndef VY_LINT_H
#define VY_LINT_H

#include "vyre/kernel.h"

#include <stdbool.h>

typedef struct vy_lint_expectation {
    vyre_target target;
    uint32_t float_modes;
    bool aliased, fast_math;
    bool coarse;            /* buffers may have a second view, in words */
    bool joins;             /* barriers are those of joined atomics: for workgroup memory alone */
    uint32_t binding_count; /* of the program's own buffers: hidden ones come after */
    vyre_interface interface;
    uint32_t param_count; /* words; tells where addresses lie */
} vy_lint_expectation;

/* NULL when everything is right, else what is wrong (in `message`, of that size). */
const char *vy_lint(const uint32_t *words, uint32_t count, const vy_lint_expectation *expectation,
                    char *message, size_t message_size);

#endif

/* Runs a module for one invocation at a time on the host: what the words mean, with no device.
 * Covers the instructions that codegen/spirv emits and ends the test on any other. GLSL.std.450
 * functions are computed in double precision and rounded once. */
#ifndef VY_TESTS_MACHINE_H
#define VY_TESTS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_MAX_BINDINGS 32u
#define MACHINE_PUSH_WORDS   10u
#define MACHINE_MAX_SPEC     8u

typedef struct machine {
    const uint32_t *words;
    uint32_t word_count;
    struct {
        uint32_t *words;
        uint32_t count; /* an access beyond it ends the test */
    } buffers[MACHINE_MAX_BINDINGS];
    uint32_t block_at;                 /* added to a uniform block's binding, where buffers has
                                          it at another place */
    uint32_t push[MACHINE_PUSH_WORDS]; /* by VY_PUSH_* / 4 */
    uint32_t workgroup[3], launched[3], local[3], local_index;
    uint32_t spec[MACHINE_MAX_SPEC]; /* by SpecId, where has_spec says so */
    bool has_spec[MACHINE_MAX_SPEC];
    /* The word at an address; NULL: machine_address tells. */
    uint32_t *(*find)(uint64_t address);
    int sqrt_error;        /* units that Sqrt is off by */
    uint32_t steps;        /* instructions executed by the last run */
    uint32_t access_count; /* of buffers, uniform blocks too, in the last run */
    /* Inside. */
    uint32_t bound;
    uint32_t (*values)[4];
    uint32_t **memory; /* by variable */
    uint32_t *memory_size;
    uint32_t *offsets; /* by id: where its definition lies */
} machine;

void machine_init(machine *m, const uint32_t *words, uint32_t word_count);
void machine_finish(machine *m);
/* Where buffers[binding] lies for modules that have addresses instead of bindings. An access beside
 * every buffer ends the test. */
uint64_t machine_address(uint32_t binding);
/* Runs the entry point. Workgroup memory lives as long as the machine. */
void machine_run(machine *m);

#endif

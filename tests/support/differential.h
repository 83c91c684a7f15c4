/* One generated program on the interpreter and on a device, compared element by element. */
#ifndef VY_DIFFERENTIAL_H
#define VY_DIFFERENTIAL_H

#include "tests/support/generate.h"
#include "vyre/device.h"
#include "vyre/kernel.h"

/* One of the ways in which a program reaches a device. Results are the same. */
typedef struct vy_mode {
    vyre_interface interface;
    vyre_target target;
    bool aliased;   /* mine_a and mine_b are one memory */
    bool optimised; /* the words went through spirv-opt -O */
    bool plain;     /* words without the passes for speed */
    bool debug;     /* debug information in the words */
    bool prints;    /* printf statements in the words; not as one module of all segments */
    bool resident;  /* resident buffers, not borrowed memory */
    bool joined;    /* atomics, within subgroups: maximal reconvergence */
    bool whole;     /* as one workgroup, where the program and its grid allow it */
    bool coarse;    /* several elements an invocation, likewise */
    bool stays;     /* by workgroups that stay, where they may */
} vy_mode;

/* The mode of a seed, among those that the device has. */
vy_mode vy_mode_of_seed(const vyre_device *device, uint64_t seed);
/* "address, vulkan1.2, aliased, ..." */
void vy_mode_print(const vy_mode *mode, char *out, size_t size);

typedef enum vy_verdict {
    VY_SAME,
    VY_DIFFERENT, /* a result, the record, the passes or the convergence differ */
    VY_BROKEN,    /* the text does not parse, compile, validate or run, or it races; see message */
    VY_SKIPPED    /* the device lacks a feature that the program needs */
} vy_verdict;

/* What else is done to one program. All may be NULL. */
typedef struct vy_hooks {
    /* Called with the kernel before its pipeline is made: planted faults change words here. */
    void (*kernel)(void *user, vyre_kernel *kernel);
    /* Whether a module is right; the message says what is wrong with it. */
    bool (*words)(const uint32_t *words, uint32_t count, vyre_target target, char *message,
                  size_t size);
    /* Changes what the device or the interpreter is given: faults of what reads or changes programs
     * are planted here. The text is a zero-terminated copy, with room for as much again. */
    void (*device_text)(void *user, char *text);
    void (*interpreter_text)(void *user, char *text);
    void *user;
} vy_hooks;

typedef struct vy_comparison {
    vy_verdict verdict;
    bool is_whole;      /* it ran as one workgroup */
    bool is_coarse;     /* with several elements an invocation */
    bool has_stayed;    /* it ran by workgroups that stay */
    char message[1024]; /* what differs first, or which step failed */
} vy_comparison;

/* Runs a program of the generator's names with the inputs of `info`. `hooks` may be NULL. */
void vy_compare(vyre_device *device, const char *text, size_t size, const vy_generated *info,
                const vy_mode *mode, const vy_hooks *hooks, vy_comparison *out_comparison);

/* Makes a differing program smaller as long as it still differs and does not race: takes away
 * statements, declarations and functions, puts bodies in the place of what holds them and operands
 * in the place of operators, and simplifies sizes, inputs, the grid and the mode. At most `limit`
 * comparisons; returns how many there were. */
uint32_t vy_shrink(vyre_device *device, vy_gen_case *c, vy_mode *mode, const vy_hooks *hooks,
                   uint32_t limit);
/* The program with its example lines (`//! run:`), its mode, and the command that runs it. Where
 * `folder` is not NULL it is written there, too. */
void vy_gen_case_print(const vy_gen_case *c, const vy_mode *mode, const vy_comparison *comparison,
                       const char *folder);

/* Runs seeds [first, first + count), each in its mode: prints each difference with its shrunken
 * program (also into the folder VYRE_FUZZ_DIR), how far it is every ten seconds, and how many were
 * skipped. Returns the number of programs that differ or break. */
uint32_t vy_run_seeds(vyre_device *device, uint64_t first, uint32_t count, const vy_hooks *hooks);

/* Whether there is a spirv-opt to run. */
bool vy_has_optimiser(void);
/* spirv-opt -O over every segment's words, which then belong to *out_owned (freed with
 * vy_optimised_free). */
bool vy_optimise_kernel(vyre_kernel *kernel, vyre_target target, uint32_t ***out_owned);
void vy_optimised_free(uint32_t ***owned);

/* The device that tests run on: the best one, or VYRE_DEVICE. Prints why when there is none. */
vyre_device *vy_test_device(void);

#endif

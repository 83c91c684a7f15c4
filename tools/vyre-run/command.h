/* vyre-run: its command line, and what it does. */
#ifndef VYRE_RUN_COMMAND_H
#define VYRE_RUN_COMMAND_H

#include "tools/common/run.h"

typedef struct command {
    vy_run_spec spec;
    VY_VEC(const char *) files;
    const char *device;
    bool list_devices, info, examples;
    bool reference, check, races, validate;
    vyre_binding_mode bindings;
    bool time, report, json;
    bool bisect, step, watch, bounds, debug, unoptimized, prints;
    const char *trace; /* a file, or NULL */
    const char *capture;
    const char *dump_folder;
    uint32_t repeat, warmup;
    uint32_t subgroup_width; /* of the interpreter alone; 0: not given */
} command;

/* Times of repeated runs on the device, in nanoseconds; VYRE_NS_NONE where not measured. */
typedef struct timing {
    uint64_t least, median, most;
} timing;

/* All that a run gave, for printing. */
typedef struct outcome {
    const command *command;
    const vy_source *source;
    const vy_run_data *data;
    const vy_run_result *result; /* the device's, or the interpreter's */
    vyre_device *device;         /* NULL: the interpreter ran it */
    bool is_precompiled;         /* its words stood in the kernel file */
    const vy_lines *lines;       /* of printf statements, sorted; NULL: not asked for */
    vyre_report report;          /* of the last run on the device */
    timing wall, on_device;
    vy_tolerance_used tolerance;
    uint64_t differences; /* with --check, also of lines */
    uint64_t races;
    uint64_t validation_failures;
} outcome;

typedef int (*run_function)(command *c, FILE *out, FILE *err);

/* Again and again, whenever a file has changed; gives a code only where it cannot go on. */
int run_watch(command *c, run_function run, FILE *out, FILE *err);
int run_program(command *c, FILE *out, FILE *err);
int run_examples(command *c, FILE *out, FILE *err);

void print_text(const outcome *o, FILE *out);
vyre_result print_json(const outcome *o, FILE *out, vyre_diag *diag);
/* Writes the outputs that go to files. */
vyre_result write_outputs(const outcome *o, vyre_diag *diag);
/* Writes all buffers and their index into the folder of --dump-buffers. Errors: IO,
 * OUT_OF_HOST_MEMORY. */
vyre_result dump_buffers(const outcome *o, vyre_diag *diag);

#endif

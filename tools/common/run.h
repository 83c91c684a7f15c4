/* One run of a program as the tools do it: what the command line says, the arrays that it means,
 * the run on the interpreter or on a device, and the comparison of both. */
#ifndef VY_TOOLS_RUN_H
#define VY_TOOLS_RUN_H

#include "codegen/interp/watch.h"
#include "codegen/ir/ir.h"
#include "engine/exec/debug.h"
#include "tools/common/lines.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "vyre/dispatch.h"

/* ---- A program from a file ------------------------------------------------------------------- */

typedef struct vy_source {
    const char *path; /* borrowed */
    char *text;
    size_t size;
    bool is_kernel;        /* a kernel file: its bytes are no text that errors could quote */
    vyre_program *program; /* NULL where only the text was read */
    int debug;             /* VYRE_DEBUG_INFO_*: of what a device is given */
    vyre_optimization optimization; /* likewise */
} vy_source;

/* Reads the file; the program is parsed, or taken out of the kernel file, by vy_source_parse.
 * Errors: IO. */
vyre_result vy_source_read(const char *path, vy_source *out_source, vyre_diag *diag);
vyre_result vy_source_parse(vy_source *source, vyre_diag *diag);
/* From the kernel file, or compiled; a dump, and a program that records its bounds, make it be
 * compiled. After vy_source_parse. */
vyre_result vy_source_compile(const vy_source *source, const vyre_kernel_params *params,
                              vyre_kernel **out_kernel, vyre_diag *diag);
/* What vy_tool_fail is to quote from: NULL where the place is none of the file. */
const char *vy_source_quote(const vy_source *source, const vyre_diag *diag);
void vy_source_finish(vy_source *source);

/* ---- What the command line says -------------------------------------------------------------- */

typedef struct vy_assignment {
    const char *name, *value; /* value: NULL where there is no '=' */
    uint32_t count;           /* NAME[COUNT] */
    bool has_count;
} vy_assignment;

typedef struct vy_run_spec {
    vy_arena *arena;
    VY_VEC(vy_assignment) inputs, params, sizes, outputs;
    uint32_t groups[3], elements[3], workgroup[3]; /* 0: not given */
    uint32_t passes, max_groups;
    vyre_strategy strategy;
    double tolerance;   /* ULP; below 0: not given */
    const char *beside; /* files are relative to this file's folder; NULL: to the working folder */
} vy_run_spec;

/* The options that describe a run, for vy_args; ids from VY_RUN_OPTION on. */
enum { VY_RUN_OPTION = 1000 };
extern const vy_option vy_run_options[];
extern const uint32_t vy_run_option_count;

void vy_run_spec_init(vy_run_spec *spec, vy_arena *arena);
/* Takes one of these options. Errors: INVALID_ARGUMENT, OUT_OF_HOST_MEMORY. */
vyre_result vy_run_spec_take(vy_run_spec *spec, int id, const char *value, vyre_diag *diag);

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct vy_run_buffer {
    const char *name;
    vyre_buffer_mode mode;
    vyre_type type;
    uint32_t count;
    void *in; /* elements (value.h) where the mode is an input, else NULL */
} vy_run_buffer;

typedef struct vy_run_data {
    vy_run_buffer *buffers; /* by binding */
    uint32_t buffer_count;
    uint32_t *params; /* words, as a dispatch takes them */
    uint32_t param_words;
    uint32_t groups[3], elements[3], workgroup[3], passes, max_groups;
    vyre_strategy strategy;
    uint64_t invocations;
    bool has_scratch;      /* what scratch buffers end with is a result too */
    vy_progress *progress; /* of runs; NULL: none */
} vy_run_data;

/* Errors: INVALID_ARGUMENT (an input without a value, a wrong count, an unknown name, ...), IO,
 * OUT_OF_HOST_MEMORY. The arrays are freed by vy_run_data_finish in every case. */
vyre_result vy_run_data_make(const vyre_program *program, const vy_run_spec *spec,
                             vy_run_data *out_data, vyre_diag *diag);
void vy_run_data_finish(vy_run_data *data);

/* ---- Results --------------------------------------------------------------------------------- */

typedef struct vy_run_result {
    /* By binding: elements of the out and inout buffers, with has_scratch of scratch too; else
     * NULL. */
    void **out;
    uint32_t buffer_count;
    uint32_t passes, segments;
    uint32_t groups[3]; /* that ran */
    bool is_grid_clamped;
    vyre_convergence convergence;
    vyre_fault_record record;
    uint64_t outside_index; /* interpreter only, as the two below: of an access out of bounds */
    uint32_t outside_length;
    uint64_t race_count; /* interpreter only */
    vyre_diag first_race;
} vy_run_result;

void vy_run_result_finish(vy_run_result *result);

/* How the interpreter is to be, where devices may differ. */
typedef struct vy_reference {
    bool flush_denormals, detect_races;
    uint32_t subgroup_width; /* 0: the interpreter's own */
    vy_lines *lines;         /* of printf statements, which are kept; NULL: they do not print */
} vy_reference;

/* As that device is; NULL: as the interpreter is by itself. */
vy_reference vy_reference_of(const vyre_device *device);
/* On the interpreter. The result is finished by the caller in every case. */
vyre_result vy_run_reference(const vyre_program *program, const vy_run_data *data,
                             const vy_reference *how, vy_run_result *out_result, vyre_diag *diag);

/* A program made ready for a device. */
typedef struct vy_device_program {
    vyre_device *device; /* borrowed */
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    uint32_t passes; /* of the program; its limit with `until` */
    bool has_until;
    uint64_t compiled_ns; /* when its words were there, on the clock of vyre_clock_ns */
} vy_device_program;

vyre_result vy_device_program_create(vyre_device *device, const vy_source *source,
                                     const uint32_t workgroup[3], vyre_binding_mode bindings,
                                     vy_device_program *out_ready, vyre_diag *diag);
void vy_device_program_finish(vy_device_program *ready);
/* Runs once, to the end or until vy_tool_is_interrupted: then the run is given up, the device idle,
 * and the result TIMEOUT. *result is reused where it holds arrays already. */
vyre_result vy_run_device(const vy_device_program *ready, const vy_run_data *data,
                          vy_run_result *result, vyre_report *out_report, vyre_diag *diag);

/* ---- Parts of a run -------------------------------------------------------------------------- */

/* As the interpreter's run, looked on; *result is reused where it holds arrays already. */
vyre_result vy_run_watched(const vyre_program *program, const vy_run_data *data,
                           const vy_reference *how, vy_interp_watch *watch, vy_run_result *result,
                           vyre_diag *diag);

/* The most passes that run. */
uint32_t vy_run_passes(const vyre_program *program, const vy_run_data *data);
/* The segment executions of a pass, in `arena`. */
vyre_result vy_run_schedule(const vyre_program *program, const vy_run_data *data,
                            const vy_reference *how, vy_arena *arena, vy_interp_place **out_list,
                            uint32_t *out_count, vyre_diag *diag);

/* Whole passes, then so many segment executions of the next one. */
typedef struct vy_prefix {
    uint32_t passes, executions;
} vy_prefix;

/* A run whose segment executions are timed one by one; *result as of vy_run_device. */
vyre_result vy_run_marked(const vy_device_program *ready, const vy_run_data *data, vy_marks *marks,
                          vy_run_result *result, vyre_report *out_report, vyre_diag *diag);

/* What buffers have before anything ran. */
vyre_result vy_run_start_state(const vy_run_data *data, vy_run_result *result, vyre_diag *diag);
/* What a plain run leaves behind that part; with executions by replay. *result is reused where it
 * holds arrays already; passes and convergence are of whole passes alone. */
vyre_result vy_run_device_prefix(const vy_device_program *ready, const vy_run_data *data,
                                 vy_prefix prefix, vy_run_result *result, vyre_report *out_report,
                                 vyre_diag *diag);
vyre_result vy_run_reference_prefix(const vyre_program *program, const vy_run_data *data,
                                    const vy_reference *how, vy_prefix prefix,
                                    vy_interp_watch *watch, vy_run_result *result, vyre_diag *diag);

/* ---- Comparison ------------------------------------------------------------------------------ */

/* How far two results may be apart: bits, unless the program is inexact (a function of the
 * tolerance table, fast_math, or sums of floats whose order is the device's). */
typedef struct vy_tolerance_used {
    bool inexact;
    double ulp, absolute;
    const char *because; /* "exp", or "fast_math" */
    /* ULP of the very type that is compared; otherwise those of an f32, from which a wider result
     * was made, or which a narrower one was rounded from. */
    bool is_stated;
} vy_tolerance_used;

/* The widest row of the table that the program uses; `ulp` replaces it where it is not below 0. */
vy_tolerance_used vy_run_tolerance(const vyre_program *program, double ulp);
/* Elements of that index of two arrays. All NaNs are equal. */
bool vy_element_matches(vyre_type type, const void *a, const void *b, size_t index,
                        const vy_tolerance_used *tolerance);

/* "1.5 (0x3fc00000)", with the bits of each component; cut at `size`. */
void vy_element_describe(vyre_type type, const void *elements, size_t index, char *out,
                         size_t size);
bool vy_record_matches(const vyre_fault_record *a, const vyre_fault_record *b);
/* "trap 7 at 10:34 in pass 1, segment 0, invocation 3", or "none". */
/* "store out of bounds". */
const char *vy_record_outside_text(const vyre_fault_record *record);
void vy_record_describe(const vyre_fault_record *record, char *out, size_t size);

/* Compares every element of every output, passes, convergence and record. Returns how many things
 * differ and prints the first ones of each kind to `out` ("y[3]: device 4, interpreter 5"). */
uint64_t vy_run_compare(const vy_run_data *data, const vy_run_result *device,
                        const vy_run_result *reference, const vy_tolerance_used *tolerance,
                        FILE *out);

const char *vy_convergence_text(vyre_convergence convergence);
/* "FILE:LINE:COL: trap 7 in pass 0, segment 1, invocation 5". */
void vy_record_print(FILE *out, const char *file, const vyre_fault_record *record);

#endif

/* What vyre-bench measures and how it keeps it: groups of cases, cases of series. A series is one
 * way of doing what the case says, by the library or by a peer; the series of a case take turns, in
 * one run of the tool, and each is checked. Thread-safety: external. */
#ifndef VY_BENCH_H
#define VY_BENCH_H

#include "tools/common/tool.h"
#include "tools/vyre-bench/peers/vulkan.h"
#include "vyre/dispatch.h"

enum { BENCH_MAX_SIZES = 4, BENCH_MAX_SERIES = 16, BENCH_NOTE_SIZE = 200 };

/* ---- Results --------------------------------------------------------------------------------- */

typedef struct bench_size {
    const char *name;
    uint64_t value;
} bench_size;

typedef struct bench_check {
    uint64_t compared, wrong; /* values */
} bench_check;

/* Takes `count` samples, in the case's unit. */
typedef vyre_result (*bench_sample_fn)(void *state, double *out_samples, uint32_t count,
                                       vyre_diag *diag);
/* Compares what all runs so far left with what they must have left. */
typedef vyre_result (*bench_check_fn)(void *state, bench_check *out_check, vyre_diag *diag);

typedef struct bench_series {
    const char
        *who; /* "vyre", "vulkan", "cuda", "opencl", "cpu", "glslang", "hyperscan" or "grep" */
    const char *way;
    bench_sample_fn sample;
    bench_check_fn check; /* NULL: there is nothing to check, and `note` says why */
    void *state;
    vyre_device *device; /* whose counters are its costs; NULL for peers */
    /* What came of it. */
    double *samples;              /* in ascending order */
    uint32_t sample_count, batch; /* batch: taken in one turn */
    double median, p10, p90;
    double round_low, round_high; /* medians of the lowest and the highest turn; 0: one turn */
    bench_check checked;
    vyre_device_counters costs; /* of all samples together */
    bool has_costs;
    bool is_part; /* of another series' samples: measured and checked with it */
    char note[BENCH_NOTE_SIZE];
} bench_series;

typedef struct bench_mark {
    double value; /* in the case's unit; 0: none */
    char text[BENCH_NOTE_SIZE];
} bench_mark;

typedef struct bench_case {
    const char *name;
    bench_size sizes[BENCH_MAX_SIZES];
    uint32_t size_count;
    const char *unit;
    bench_series series[BENCH_MAX_SERIES];
    uint32_t series_count;
    uint32_t base;      /* the series that ratios are against */
    bench_mark target;  /* what the first series is meant to reach */
    bench_mark limit;   /* what no way can be better than */
    uint64_t data_size; /* bytes moved by each sample, for rates; 0: none */
    uint32_t rounds, batch;
    double budget_us; /* what all samples together may take, about */
} bench_case;

/* From how many on a case's base is faster than another way. */
typedef struct bench_break_even {
    const char *case_name, *size_name, *who, *way;
    uint64_t from;  /* the least size measured from which on all are; 0: the largest is not */
    uint64_t up_to; /* the largest size that was measured */
} bench_break_even;

typedef struct bench_group {
    const char *name, *title;
    VY_VEC(bench_case *) cases;
    VY_VEC(bench_break_even) break_evens;
} bench_group;

/* ---- The run --------------------------------------------------------------------------------- */

typedef struct bench_cuda bench_cuda;
struct peer_opencl;

typedef struct bench {
    vyre_device *device;
    vyre_device_info info;
    peer *peer;                 /* NULL: none, and peer_note says why */
    bench_cuda *cuda;           /* NULL: none, and cuda_note says why */
    struct peer_opencl *opencl; /* NULL: none; opencl_note says why, or what it is */
    char peer_note[VYRE_DIAG_MESSAGE_SIZE], cuda_note[BENCH_NOTE_SIZE];
    char opencl_note[BENCH_NOTE_SIZE];
    char cuda_device[128], cuda_version[64];
    peer_link link; /* how the device hangs on the host */
    bool quick;
    bool processor_time;        /* of group kernels: see bench_work_ns */
    vyre_binding_mode bindings; /* of group kernels */
    const char *kernel; /* of group kernels: in the names of those that are measured; NULL: all */
    const char *data;   /* folder of what group scan scans; NULL: none */
    vy_arena arena;     /* of groups and cases */
    VY_VEC(bench_group *) groups;
} bench;

bench_case *bench_case_add(bench *b, bench_group *group, const char *name, const char *unit);
void bench_case_size(bench_case *c, const char *name, uint64_t value);
/* The series that was added; never NULL: beyond the last, the last one again. */
bench_series *bench_series_add(bench_case *c, const char *who, const char *way,
                               bench_sample_fn sample, bench_check_fn check, void *state);
/* The same of the library, on `device`. */
bench_series *bench_series_vyre(bench_case *c, const char *way, vyre_device *device,
                                bench_sample_fn sample, bench_check_fn check, void *state);
/* Warms every series up, lets them take turns, and checks each. A peer that fails is left out, with
 * a note; the library's own failures end the run. */
vyre_result bench_measure(bench *b, bench_case *c, vyre_diag *diag);
/* After bench_measure: a series of samples that others left, which are sorted here and live as long
 * as the run. Nothing is added where there are none. */
bench_series *bench_series_derive(bench_case *c, const char *who, const char *way, double *samples,
                                  uint32_t count);
/* A series that is not measured, and why not. */
void bench_series_leave_out(bench_case *c, const char *who, const char *way, const char *why);
/* How a way is called that knows before what others find out. */
#define BENCH_EXACTLY "exactly"
/* After bench_measure: ratios are against the fastest peer that does not know before; against the
 * first series where there is none. */
void bench_choose_base(bench_case *c);
/* After bench_measure of all: for each peer's way of the cases of that name, whose first sizes
 * ascend, one entry of the group's break_evens. */
vyre_result bench_find_break_evens(bench *b, bench_group *group, const char *case_name,
                                   vyre_diag *diag);
/* Against the case's base: above 1 is slower. 0: not known. */
double bench_ratio(const bench_case *c, const bench_series *s);
/* The value below which `part` of the ascending samples lie. */
double bench_quantile(const double *samples, uint32_t count, double part);

uint64_t bench_now_ns(void);
/* The clock of what a device does that is this processor: with b->processor_time what all threads
 * but the calling one have run, else the time. */
uint64_t bench_work_ns(const bench *b);

/* ---- Groups ---------------------------------------------------------------------------------- */

vyre_result bench_launch(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_step(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_resident(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_transfer(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_checks(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_atomics(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_rebind(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_megakernel(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_kernels(bench *b, bench_group *group, vyre_diag *diag);
bool bench_has_kernel(const char *part_of_name);
/* Whether the device is a processor: full sizes are smaller there. */
bool bench_is_on_cpu(const bench *b);
vyre_result bench_fixpoint(bench *b, bench_group *group, vyre_diag *diag);
/* Of that group: breadth-first searches. */
vyre_result bench_fixpoint_searches(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_scan(bench *b, bench_group *group, vyre_diag *diag);
vyre_result bench_compile(bench *b, bench_group *group, vyre_diag *diag);

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct bench_program {
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
} bench_program;

vyre_result bench_program_create(vyre_device *device, const char *text, bench_program *out,
                                 vyre_diag *diag);
/* Not `can_join`: without anything that is joined within subgroups, of programs that use none.
 * `bindings`: how it reaches its buffers. */
vyre_result bench_program_create_as(vyre_device *device, const char *text, bool can_join,
                                    vyre_binding_mode bindings, bench_program *out,
                                    vyre_diag *diag);
void bench_program_destroy(bench_program *program);
vyre_result bench_buffer_create(vyre_device *device, const char *name, const void *contents,
                                uint64_t size, vyre_buffer *out, vyre_diag *diag);
/* Ignores failure: the device's end frees what is left. */
void bench_buffer_destroy(vyre_device *device, vyre_buffer *buffer);
vyre_binding bench_resident_binding(vyre_buffer buffer);

/* The step that the groups and all peers run: x = 3x + 1 for each element, which begins as its
 * index. */
enum { BENCH_GROUP_SIZE = 256 };
extern const char bench_step_text[];
/* How many elements are not what they are after this many steps. */
uint64_t bench_step_wrong(const uint32_t *x, uint32_t count, uint64_t steps);
/* 0, 1, 2, ...; freed with free(). NULL without memory. */
uint32_t *bench_indices(uint32_t count);

/* ---- CUDA peers: another process ------------------------------------------------------------- */

/* Starts vyre-bench-cuda (`path`; NULL: the one beside this executable) on the CUDA device of that
 * name. NULL: there is none, and b->cuda_note says why. */
bench_cuda *bench_cuda_start(bench *b, const char *path, const char *device_name);
void bench_cuda_stop(bench_cuda **cuda);
/* Adds a series that asks that process; NULL: there is none. */
bench_series *bench_series_cuda(bench *b, bench_case *c, const char *way, const char *command, ...)
    VY_PRINTF(4, 5);

/* ---- Output ---------------------------------------------------------------------------------- */

void bench_print_head(const bench *b, FILE *out);
/* A markdown table that is readable as it is. */
void bench_print_group(const bench *b, const bench_group *group, FILE *out);
/* Schema "vyre.bench/1". */
void bench_format_json(const bench *b, vy_text *out);
void bench_format_svg(const bench *b, const bench_group *group, vy_text *out);
/* "from 64 on, of up to 1,000 items" */
void bench_format_break_even(const bench_break_even *found, char *out, size_t out_size);
/* "workgroups 132, steps 4000" */
void bench_format_sizes(const bench_case *c, char *out, size_t out_size);
/* As many digits as mean something. */
void bench_format_time(double us, char *out, size_t out_size);

#endif

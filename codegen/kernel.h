/* The compiled kernel as the engine sees it: words, interface, hazards and the host's schedule. No
 * Vulkan here, and nothing of the IR either: engine/ includes of codegen/ only base/, parts.h and
 * this. */
#ifndef VY_KERNEL_H
#define VY_KERNEL_H

#include "codegen/base/base.h"
#include "codegen/spirv/interface.h"
#include "vyre/interp.h" /* vyre_fault_record */
#include "vyre/kernel.h"

/* The VYRE_AGGREGATE_* that GPUs are asked for: where joining is faster (vyre-bench atomics).
 * Measured: not faster on NVIDIA H200, whose driver joins by itself. */
#define VY_AGGREGATE_ON_GPUS 0u
/* Whether GPUs get the joined ones of coarse words. */
#define VY_COARSE_JOINS_ON_GPUS true

typedef struct vy_kernel_site {
    vyre_record_kind kind;
    uint32_t code, line, column;
} vy_kernel_site;

typedef struct vy_kernel_segment {
    uint32_t *words;
    uint32_t word_count, instruction_count;
    uint64_t reads, writes, atomics; /* VY_ACCESS_* of passes/ssa.h */
    uint32_t line;
    char label[64]; /* "program.seg2" or "program.region": for debuggers */
} vy_kernel_segment;

/* "life.seg1, life.vyre:14": what debuggers are told, as far as it is known. */
#define VY_PLACE_SIZE 128
void vy_kernel_place(const vyre_kernel *kernel, uint32_t segment, char out[VY_PLACE_SIZE]);

/* What the host knows when it plans a dispatch. */
typedef struct vy_kernel_env {
    const uint32_t *params;  /* vyre_kernel_param_words of them */
    const uint32_t *lengths; /* by binding; entries that are asked for are not read */
    uint32_t groups[3], workgroup[3];
} vy_kernel_env;

/* One segment execution of a pass. */
typedef struct vy_execution {
    uint32_t segment;
    uint32_t indices[VYRE_MAX_HOST_LOOPS];
    /* What the engine found with vy_kernel_extent; a schedule has zeros. */
    uint32_t left_out[3]; /* workgroups not launched: the last ones of each dimension */
    uint32_t is_left_out; /* none is launched */
} vy_execution;

/* A kernel that is made to be measured, and for nothing else: no access is checked, so that whoever
 * runs it answers for every index; no kernel file is made of it. Errors: as vyre_kernel_compile. */
vyre_result vy_kernel_compile_unchecked(const vyre_program *program,
                                        const vyre_kernel_params *params, vyre_kernel **out_kernel,
                                        vyre_diag *diag);

const vy_kernel_segment *vy_kernel_get_segment(const vyre_kernel *kernel, uint32_t segment);

/* Another choice of words for the same program; what is not named here is as the kernel was
 * compiled. Segments, hazards, sites and bindings are the same for all. */
typedef struct vy_variant {
    vyre_interface interface;
    bool is_aliased;
    /* Of the address form: bindings and spill slots may have more than 4 GiB or 2^31 elements, and
     * the words compute the addresses of their elements. Others use access chains, whose indices
     * have 32 bits with a sign and whose byte offsets have 32 bits on some drivers. */
    bool is_wide;
    /* One module for all segments and passes, as segment 0: for kernels that
     * vy_kernel_workgroup_hindrance lets pass, and grids of one workgroup. */
    bool is_whole;
    /* Invocations that do several elements each, with accesses of up to 16 bytes: for the others'
     * opposites, and as vy_kernel_coarsen says. */
    bool is_coarse;
    /* Of coarse ones: atomics of one place are joined within workgroups, and what elements append
     * lies side by side across the lanes of a subgroup, by the subgroup operations basic, ballot
     * and arithmetic. The same words where the kernel was not compiled for maximal reconvergence,
     * has no such atomics, or can tell workgroups. */
    bool is_joined;
    /* Of coarse ones: up to 64 bytes an invocation where it stores, and elements of 16 bytes, too:
     * for devices where an invocation costs more than what it reads and writes. */
    bool is_long;
    /* One module of all segments, as segment 0, for workgroups that stay: of the address form, for
     * kernels that vy_kernel_persistent_hindrance lets pass. */
    bool is_persistent;
} vy_variant;
/* The words of one segment in that variant: compiled on first use and kept until the kernel is
 * destroyed. Thread-safety: safe. */
vyre_result vy_kernel_variant(const vyre_kernel *kernel, vy_variant variant, uint32_t segment,
                              const uint32_t **out_words, uint32_t *out_count, vyre_diag *diag);
/* What coarse words are: without overlaps of what is written, and of grids of one dimension in x
 * unless all elements are 1. */
typedef struct vy_kernel_coarse {
    const uint32_t *elements; /* by segment: that an invocation does, 1 or more, of which neighbours
                                 may be accessed at once; NULL: there are no such words */
    uint64_t streams;         /* bindings whose addresses must be multiples of 16 bytes */
    uint32_t shared;          /* bytes of workgroup memory that a segment needs, at most */
} vy_kernel_coarse;
#define VY_WAY_JOINED 1u /* is_joined */
#define VY_WAY_LONG   2u /* is_long */
/* Of the variant with that interface and `ways`, VY_WAY_*.
 * Joined or not they have the same of them, but for `shared`.
 * Compiled on first use as vy_kernel_variant. Thread-safety: safe. */
vyre_result vy_kernel_coarsen(const vyre_kernel *kernel, vyre_interface interface, uint32_t ways,
                              vy_kernel_coarse *out_coarse, vyre_diag *diag);
/* Why the program cannot run as one workgroup's module, in words for an error: NULL, it can. */
const char *vy_kernel_workgroup_hindrance(const vyre_kernel *kernel);
/* The same of the module for workgroups that stay. */
const char *vy_kernel_persistent_hindrance(const vyre_kernel *kernel);
/* Words of the spill buffer, for each invocation, that such a module says how it ended in. */
uint32_t vy_kernel_whole_words(const vyre_kernel *kernel);
/* As vyre_kernel_requirement, for the words of that interface: the address form's own needs come
 * first. */
const char *vy_kernel_requirement(const vyre_kernel *kernel, vyre_interface interface,
                                  uint32_t index);
/* What the kernel's program is made of in ways of the library's own, in words for people: entry i,
 * or NULL past the last. */
const char *vy_kernel_lowering(const vyre_kernel *kernel, uint32_t index);
/* Bits by word of the push constants (VY_PUSH_* / 4) that a module of a kernel reads. */
uint32_t vy_kernel_push_words(const uint32_t *words, uint32_t word_count);
/* What the kernel's own words are. */
vy_variant vy_kernel_own_variant(const vyre_kernel *kernel);
/* Whether the schedule of a pass is the same whatever the dispatch. */
bool vy_kernel_is_schedule_fixed(const vyre_kernel *kernel);
void vy_kernel_workgroup(const vyre_kernel *kernel, uint32_t out_size[3]);
/* The use that forbids another workgroup size, or NULL where the program is agnostic. */
const char *vy_kernel_workgroup_use(const vyre_kernel *kernel);
/* What the program asks of subgroups. */
typedef struct vy_kernel_subgroups {
    uint32_t width;                   /* pinned, or 0: the device's */
    bool is_used;                     /* lane, lanes or a subgroup operation */
    bool is_divergent;                /* an operation stands where only some invocations may be */
    uint32_t line;                    /* of the first such one */
    vyre_reconvergence reconvergence; /* what the kernel was compiled with */
} vy_kernel_subgroups;
vy_kernel_subgroups vy_kernel_get_subgroups(const vyre_kernel *kernel);
/* Compiled with vyre_kernel_params.aliased. */
bool vy_kernel_is_aliased(const vyre_kernel *kernel);
/* Binding of `grid over`, or -1. */
int32_t vy_kernel_grid_over(const vyre_kernel *kernel);
/* Binding of `grid from`, or -1. */
int32_t vy_kernel_grid_from(const vyre_kernel *kernel);
/* How many of its workgroups may run; `asked` 0: as many as the language allows. */
uint32_t vy_kernel_grid_most(uint32_t volume, uint32_t asked);
uint32_t vy_kernel_passes(const vyre_kernel *kernel);
/* Binding of the `until` flag, or -1. */
int32_t vy_kernel_until(const vyre_kernel *kernel);
/* Whether segments name no element of the flag but the first, by literals: then they touch the
 * state in place of the flag's buffer. */
bool vy_kernel_is_flag_single(const vyre_kernel *kernel);
uint32_t vy_kernel_site_count(const vyre_kernel *kernel);
const vy_kernel_site *vy_kernel_get_site(const vyre_kernel *kernel, uint32_t site);
/* The contents of the tables buffer; *out_count 0 when there is none. */
const uint32_t *vy_kernel_tables(const vyre_kernel *kernel, uint32_t *out_count);
/* Whether every element of `binding` is stored in the first segment before anything reads it, so
 * that it need not be zeroed. False where that is not proven. */
bool vy_kernel_is_fill_needless(const vyre_kernel *kernel, uint32_t binding);

/* The declared element count of a binding that has one. */
uint32_t vy_kernel_eval_count(const vyre_kernel *kernel, uint32_t binding,
                              const vy_kernel_env *env);
/* Whether the program counts its workgroups itself (`grid of`), and how many there are; groups of
 * the environment are not looked at. */
bool vy_kernel_has_grid(const vyre_kernel *kernel);
void vy_kernel_eval_grid(const vyre_kernel *kernel, const vy_kernel_env *env,
                         uint32_t out_groups[3]);
/* The segment executions of one pass, in order; at most 65,536, else INVALID_ARGUMENT. *out_list is
 * the caller's: freed with vy_free(allocator, list, count * sizeof *list). */
vyre_result vy_kernel_schedule(const vyre_kernel *kernel, const vy_kernel_env *env,
                               const vyre_allocator *allocator, vy_execution **out_list,
                               uint32_t *out_count, vyre_diag *diag);

/* Whether any segment may need fewer workgroups than the grid has. */
bool vy_kernel_has_bounds(const vyre_kernel *kernel);
/* The workgroups that the execution needs in each dimension, at most those of the grid: what lies
 * beyond leaves nothing behind. Where one is 0 there is nothing to launch. */
void vy_kernel_extent(const vyre_kernel *kernel, const vy_kernel_env *env,
                      const vy_execution *execution, uint32_t out_groups[3]);

#endif

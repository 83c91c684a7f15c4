/* The inside of a kernel, for kernel.c (accessors), kernel_compile.c (making it) and kernel_host.c
 * (what the host evaluates). */
#ifndef VY_KERNEL_PARTS_H
#define VY_KERNEL_PARTS_H

#include "codegen/ir/ir.h"
#include "codegen/kernel.h"
#include "codegen/passes/split.h"

/* A step of the host's program with its own expressions (ranges of the kernel's `host.exprs`). */
typedef struct vy_host_step {
    uint8_t kind; /* vy_step_kind */
    bool down, is_signed;
    uint32_t next, body, other, segment, slot;
    vy_range x, y, z;
} vy_host_step;

typedef struct vy_host_binding {
    vyre_binding_info info;
    vy_range count;
} vy_host_binding;

#define VY_MAX_REQUIREMENTS 8u

/* Everything lies in the arena. */
struct vyre_kernel {
    vy_arena arena;
    const char *name;
    uint32_t workgroup[3];
    const char *workgroup_use;
    int32_t grid_over, until;
    uint32_t passes;
    uint32_t spill_words, shared_size;
    bool is_inexact, is_aliased;
    uint32_t binding_count, param_count, segment_count, site_count, table_count;
    vy_host_binding *bindings;
    vy_named *params;
    vy_kernel_segment *segments;
    vy_kernel_site *sites;
    uint32_t *tables;
    /* Only the expressions and buffers that host expressions need; variables stand for the slots of
     * host loop indices. */
    vyre_program host;
    uint32_t longest_range;
    vy_host_step *steps;
    uint32_t first_step;
    const char *requirements[VY_MAX_REQUIREMENTS];
    uint32_t requirement_count;
};

/* Copies what the host evaluates: bindings' counts, and the steps' bounds and conditions. */
void vy_kernel_copy_host(vyre_kernel *kernel, const vyre_program *program, const vy_split *split);

#endif

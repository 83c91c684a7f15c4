/* The inside of a kernel, for kernel.c (accessors), kernel_compile.c (making it), kernel_variant.c
 * (other words for it) and kernel_host.c (what the host evaluates). */
#ifndef VY_KERNEL_PARTS_H
#define VY_KERNEL_PARTS_H

#include "codegen/base/thread.h"
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

/* kernel_bound.c: what bounds the invocations that a segment does something for. */
typedef struct vy_reach_node {
    uint8_t kind;
    bool is_last, is_group, is_false;
    uint32_t part[2]; /* nodes before it */
    vy_range value;   /* of the kernel's `host.exprs` */
} vy_reach_node;

typedef struct vy_segment_reach {
    uint32_t first, end; /* its nodes */
    uint32_t root[3];    /* by dimension */
} vy_segment_reach;

#define VY_MAX_REQUIREMENTS 24u
#define VY_VARIANT_COUNT    18u /* without the coarse ones */
#define VY_COARSE_VARIANTS  8u  /* by interface, then joined ones, then long ones */

typedef struct vy_segment_words {
    uint32_t *words;
    uint32_t count;
} vy_segment_words;

/* The words of one variant. */
typedef struct vy_word_set {
    vy_arena arena; /* everything, but the set itself */
    vy_segment_words *segments;
    vy_kernel_coarse coarse; /* of a coarse one; where nothing is, `segments` is NULL */
} vy_word_set;

/* Where a kernel's other words come from, and those there are. What a kernel tells never changes by
 * it, so it is reached through kernels that are const. */
typedef struct vy_variants {
    vyre_program *program; /* held */
    /* What the kernel was compiled with; nothing is dumped. Interface and aliased are its own. */
    vyre_kernel_params params;
    bool is_unchecked;
    /* Coarse words: maximal reconvergence was asked for, and there is something to join; old values
     * are used. */
    bool can_join, has_old;
    vy_mutex mutex; /* of the sets; never held while one is made */
    /* NULL: nobody asked, or the kernel's own. */
    vy_word_set *sets[VY_VARIANT_COUNT + VY_COARSE_VARIANTS];
} vy_variants;

/* Everything else lies in the arena. */
struct vyre_kernel {
    vy_arena arena;
    vy_variants *variants;
    const char *name;
    uint32_t workgroup[3];
    const char *workgroup_use;
    int32_t grid_over, grid_from, until;
    vy_range grid_of[3]; /* among the expressions of `host` */
    uint32_t passes;
    uint32_t spill_words, shared_size;
    bool is_inexact;
    bool is_new_target; /* VYRE_TARGET_VULKAN_1_3: the Vulkan memory model, by device scope */
    vy_kernel_subgroups subgroups;
    vy_variant own;
    bool is_precompiled; /* the words were read, not made */
    /* In some segment accesses can be joined (widen.h), or nobody has looked. */
    bool has_neighbours;
    uint32_t binding_count, param_count, param_words, segment_count, site_count, table_count;
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
    VY_VEC(vy_reach_node) bounds;
    vy_segment_reach *segment_bounds;
    bool has_bounds;                               /* of any segment */
    const char *requirements[VY_MAX_REQUIREMENTS]; /* whatever the interface */
    uint32_t requirement_count;
    const char *address_requirements[2]; /* of the address form besides */
    uint32_t address_requirement_count;
};

/* Lets the kernel make other words of itself: holds the program. Once, by whoever makes a kernel;
 * after a failure the kernel can be destroyed. */
vyre_result vy_kernel_keep(vyre_kernel *kernel, const vyre_program *program,
                           const vyre_kernel_params *params, vyre_diag *diag);
void vy_kernel_drop_variants(vyre_kernel *kernel);
/* Whether a kernel can be compiled so. */
vyre_result vy_kernel_check_params(const vyre_kernel_params *params, vyre_diag *diag);
/* The words of every segment, or those of the one module for all of them, for what `params` asks
 * for; *out_set and what it holds is the caller's. */
vyre_result vy_kernel_compile_set(const vyre_kernel *kernel, const vyre_kernel_params *params,
                                  const vy_variant *variant, vy_word_set **out_set,
                                  vyre_diag *diag);
void vy_word_set_destroy(vy_word_set **set);

/* vyre_kernel_is_inexact, of a program. */
bool vy_kernel_is_of_inexact(const vyre_program *program);
/* A subgroup operation that is made of reads of every lane, one by one. */
bool vy_kernel_is_by_lanes(const vyre_program *program, const vy_stmt *stmt);
/* What was given, with defaults, checked. */
vyre_result vy_kernel_read_params(const vyre_kernel_params *given, vyre_kernel_params *out_params,
                                  vyre_diag *diag);
/* The kernel of a program for such params. Where the program comes from a kernel file and that has
 * the words (vy_kernel_file_take), nothing is compiled. */
struct vy_kernel_file;
vyre_result vy_kernel_make(const vyre_program *program, const vyre_kernel_params *params,
                           const struct vy_kernel_file *file, bool is_unchecked,
                           vyre_kernel **out_kernel, vyre_diag *diag);
/* The set becomes the words of that variant, unless it has some already. */
void vy_kernel_add_set(const vyre_kernel *kernel, vy_variant variant, vy_word_set *set);

/* Copies what the host evaluates: bindings' counts, and the steps' bounds and conditions. */
void vy_kernel_copy_host(vyre_kernel *kernel, const vyre_program *program, const vy_split *split);
/* Finds how far each segment reaches, for vy_kernel_extent. Behind vy_kernel_copy_host. */
void vy_kernel_find_bounds(vyre_kernel *kernel, const vyre_program *program, const vy_split *split,
                           vy_arena *work);

#endif

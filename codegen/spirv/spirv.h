/* SPIR-V for one segment: reads its SSA form, makes the words of a module. */
#ifndef VY_SPIRV_H
#define VY_SPIRV_H

#include "codegen/passes/ssa.h"
#include "vyre/kernel.h"

/* What a module is made for. */
typedef struct vy_spirv_options {
    vyre_target target;
    vyre_interface interface;
    uint32_t float_modes;
    bool aliased;
    bool debug;         /* OpName, OpLine */
    bool debug_info;    /* with debug: debug_info.h */
    uint32_t aggregate; /* VYRE_AGGREGATE_* */
    vyre_reconvergence reconvergence;
    bool whole;                    /* vy_ssa_build_whole: one workgroup for everything */
    bool persistent;               /* all segments, for workgroups that stay: vy_spirv_emit_all */
    bool wide;                     /* vy_variant: addresses of elements are computed in 64 bits */
    bool agnostic;                 /* vy_program_is_workgroup_agnostic */
    uint32_t coarse;               /* elements an invocation does, by vy_ssa_coarsen; 0: one */
    uint32_t segment;              /* number of the module's only one, for what it prints */
    const char *entry_name;        /* "main" */
    const char *file_name;         /* for OpLine, or NULL */
    const uint32_t *table_offsets; /* by table: word offset in the tables buffer, or UINT32_MAX
                                      where the table lies in the module */
    /* Buffers written anywhere in the program: decides NonWritable and NonPrivate conservatively
     * where a wrapper holds several segments. By binding. */
    uint64_t module_writes;
    vy_arena *result; /* where the words go; NULL: to the arena of the rest */
} vy_spirv_options;

/* The words belong to the arena, or to options->result. Deterministic: the same input gives the
 * same words. */
vyre_result vy_spirv_emit(const vy_ssa *ssa, const vy_access *access,
                          const vy_spirv_options *options, vy_arena *arena, uint32_t **out_words,
                          uint32_t *out_word_count, vyre_diag *diag);

/* One module of all `count` segments of a program; options.persistent says what runs them. */
vyre_result vy_spirv_emit_all(const vy_ssa *ssas, const vy_access *accesses, uint32_t count,
                              const vy_spirv_options *options, vy_arena *arena,
                              uint32_t **out_words, uint32_t *out_word_count, vyre_diag *diag);

/* Those of the VYRE_AGGREGATE_* asked for that may make a difference to the program's words. */
uint32_t vy_spirv_aggregates(const vyre_program *program, uint32_t asked,
                             vyre_reconvergence reconvergence);

/* How tables lie in the tables buffer: words of an element, and one of them. Small integers are
 * extended by their type, f16 and bf16 are the f32 of the same value. */
uint32_t vy_spirv_table_words(vyre_type type);
uint32_t vy_spirv_table_word(const vy_table *table, uint32_t index, uint32_t word);

/* Bits by word of the push constants that a module of ours reads (VY_PUSH_* / 4); all where that
 * cannot be told. */
uint32_t vy_spirv_push_words(const uint32_t *words, uint32_t word_count);

#endif

/* Kernels: a program compiled to SPIR-V, one module for each segment. Needs no device.
 * docs/spirv-interface.md documents the modules' interface. */
#ifndef VYRE_KERNEL_H
#define VYRE_KERNEL_H

#include "vyre/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_target {
    VYRE_TARGET_VULKAN_1_3, /* SPIR-V 1.6, Vulkan memory model */
    VYRE_TARGET_VULKAN_1_2  /* SPIR-V 1.5, GLSL450 memory model */
} vyre_target;

typedef enum vyre_interface {
    VYRE_INTERFACE_DESCRIPTOR, /* set 0, binding = index among the non-shared buffers */
    VYRE_INTERFACE_ADDRESS /* 64-bit addresses in the parameter block, the only thing that is bound;
                              needs bufferDeviceAddress */
} vyre_interface;

/* Float modes that the module declares; each needs the device property of the same name, for 32 or
 * for 64 bits. Those for 64 bits are declared by modules that use f64. */
#define VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE     1u
#define VYRE_FLOAT_DENORM_PRESERVE                  2u
#define VYRE_FLOAT_ROUNDING_RTE                     4u
#define VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64 8u
#define VYRE_FLOAT_DENORM_PRESERVE_F64              16u
#define VYRE_FLOAT_ROUNDING_RTE_F64                 32u
#define VYRE_FLOAT_ALL                              63u

/* What the modules ask of the device about subgroups in control flow; each needs its feature. Only
 * programs that use subgroups or join atomics ask. */
typedef enum vyre_reconvergence {
    VYRE_RECONVERGENCE_NONE,
    VYRE_RECONVERGENCE_UNIFORM, /* VK_KHR_shader_subgroup_uniform_control_flow */
    VYRE_RECONVERGENCE_MAXIMAL /* VK_KHR_shader_maximal_reconvergence; older validators refuse it */
} vyre_reconvergence;

/* Atomics that are done once for each subgroup, where its invocations do them in one place by the
 * program's text (the index is made of literals, parameters, lengths and what a workgroup has in
 * common): one lane does it for all with their operands joined, which gives nothing that they could
 * not have got one after another. Of add, sub, min, max, and, or, xor on u32 and i32 without an
 * order. Only with VYRE_RECONVERGENCE_MAXIMAL, without which nothing says which lanes an
 * instruction sees; needs the subgroup operations basic, ballot and arithmetic. */
#define VYRE_AGGREGATE_STORAGE 1u /* on buffers */
#define VYRE_AGGREGATE_SHARED  2u /* on workgroup memory */
/* Of these also those whose old values something reads. */
#define VYRE_AGGREGATE_OLD 4u
#define VYRE_AGGREGATE_ALL 7u

/* What modules say of the program that they were made from. FULL is
 * NonSemantic.Shader.DebugInfo.100 besides: the text that was parsed, functions and scopes, places,
 * variables with their types and values. Of target VULKAN_1_2 it needs
 * VK_KHR_shader_non_semantic_info. */
#define VYRE_DEBUG_INFO_NONE  0
#define VYRE_DEBUG_INFO_LINES 1 /* OpName and OpLine */
#define VYRE_DEBUG_INFO_FULL  2

/* How much is done for speed. Results are the same. NONE: words as the program stands, every access
 * with its check, one element for each invocation: soon compiled, easy to follow in a debugger, and
 * a judge of the rest: a result that is wrong with FULL alone is this library's fault. */
typedef enum vyre_optimization { VYRE_OPTIMIZATION_FULL, VYRE_OPTIMIZATION_NONE } vyre_optimization;

/* What a kernel is compiled for. */
typedef struct vyre_kernel_params {
    uint32_t struct_size;
    const vyre_allocator *allocator;
    vyre_target target;
    vyre_interface interface;
    uint32_t float_modes; /* VYRE_FLOAT_* */
    /* 1: bindings that the program writes may overlap each other; the modules say so (Aliased). The
     * engine makes this variant by itself where a dispatch binds overlapping ranges. */
    int aliased;
    int debug; /* VYRE_DEBUG_INFO_*, for people and debuggers; changes no other word */
    /* Called with the text of every segment after the pass named, "build" for the form before any.
     * "all": after each that runs; NULL: never. A pass that runs twice is reported twice. Text is
     * not kept beyond the call. */
    const char *dump_after;
    void (*dump)(void *user, uint32_t segment, const char *pass, const char *text);
    void *dump_user;
    vyre_reconvergence reconvergence;
    uint32_t aggregate; /* VYRE_AGGREGATE_*; nothing without VYRE_RECONVERGENCE_MAXIMAL */
    /* 1: printf statements print, by NonSemantic.DebugPrintf, where the validation layer is asked
     * for it (vyre_device_params); 0: the words are those of the program without them. Kernels that
     * print run one segment at a time, and cannot be saved. */
    int prints;
    vyre_optimization optimization;
} vyre_kernel_params;

/* Thread-safety: immutable. */
typedef struct vyre_kernel vyre_kernel;

/* The kernel holds the program, from which the engine may have other words made: the program may be
 * destroyed before it, and its memory is given back with the last kernel of it. params may be NULL.
 */
VYRE_API VYRE_CHECK vyre_result vyre_kernel_compile(const vyre_program *program,
                                                    const vyre_kernel_params *params,
                                                    vyre_kernel **out_kernel, vyre_diag *diag);
/* Not before the pipelines made of it. Sets *kernel to NULL; NULL is no error. */
VYRE_API void vyre_kernel_destroy(vyre_kernel **kernel);

/* ---- Kernel files (.vyk) ----------------------------------------------------------------------
 * A program in canonical form with any number of sets of words, each for one choice of target,
 * interface, float modes, aliasing and so on, so that nothing is compiled at run time.
 * docs/engine.md has the format. Read as hostile input: whatever the bytes are, the answer is a
 * kernel or an error. That the words do what the program says, and that a driver survives them,
 * rests on who made the file, as with any SPIR-V. */

/* All kernels are of one program; entry i's words become set i. The bytes are allocated with
 * `allocator` (NULL: malloc) and freed with vyre_kernel_free_data. Errors: INVALID_ARGUMENT
 * (kernels of different programs or library versions, optimised and not, or two of one choice),
 * INVALID_PROGRAM (one that vyre_program_print cannot print), OUT_OF_HOST_MEMORY. Same kernels,
 * same bytes. */
VYRE_API VYRE_CHECK vyre_result vyre_kernel_save(const vyre_kernel *const *kernels, uint32_t count,
                                                 const vyre_allocator *allocator, void **out_data,
                                                 size_t *out_size, vyre_diag *diag);
/* Frees what vyre_kernel_save gave with that allocator, and sets *data to NULL. */
VYRE_API void vyre_kernel_free_data(const vyre_allocator *allocator, void **data, size_t size);
/* The kernel for what `params` asks for: from its set of words, or compiled from the program where
 * the file has none; only then is anything dumped. Sets that differ in interface or aliasing alone
 * are kept for when the engine needs them. The data may go afterwards. Errors: IO (not a kernel
 * file, another version, damaged: the message says which), INVALID_PROGRAM, INVALID_ARGUMENT,
 * OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_kernel_load(const void *data, size_t size,
                                                 const vyre_kernel_params *params,
                                                 vyre_kernel **out_kernel, vyre_diag *diag);
/* 1 where the words came from a file and nothing was compiled. */
VYRE_API int vyre_kernel_is_precompiled(const vyre_kernel *kernel);

/* The program's name; lives as long as the kernel. */
VYRE_API const char *vyre_kernel_name(const vyre_kernel *kernel);
/* How its words reach buffers. */
VYRE_API vyre_interface vyre_kernel_interface(const vyre_kernel *kernel);
/* Into how many segments grid_sync cuts the program. */
VYRE_API uint32_t vyre_kernel_segment_count(const vyre_kernel *kernel);

/* One segment of a kernel. */
typedef struct vyre_segment_info {
    const uint32_t *words; /* the module; lives as long as the kernel */
    uint32_t word_count;
    uint32_t instruction_count;      /* SSA instructions after the passes */
    uint32_t line;                   /* of its first statement, 0: unknown */
    uint64_t reads, writes, atomics; /* bits by binding; bit 63: spill slots, bit 62: records */
} vyre_segment_info;
/* Fills in what is known of a segment; its number is below the count. */
VYRE_API void vyre_kernel_segment(const vyre_kernel *kernel, uint32_t segment,
                                  vyre_segment_info *out_info);

/* One buffer that a dispatch binds. The name lives as long as the kernel. */
typedef struct vyre_binding_info {
    const char *name;
    vyre_buffer_mode mode;
    vyre_type type;
    int has_count; /* the program states the number of elements */
} vyre_binding_info;
/* How many buffers a dispatch binds: those that are not shared. */
VYRE_API uint32_t vyre_kernel_binding_count(const vyre_kernel *kernel);
/* Fills in what is known of a binding, by declaration order; its number is below the count. */
VYRE_API void vyre_kernel_binding(const vyre_kernel *kernel, uint32_t binding,
                                  vyre_binding_info *out_info);
/* The binding or parameter of that name, or -1. */
VYRE_API int32_t vyre_kernel_find_binding(const vyre_kernel *kernel, const char *name);
/* The parameter of that name, or -1. */
VYRE_API int32_t vyre_kernel_find_param(const vyre_kernel *kernel, const char *name);
/* How many parameters the program has. */
VYRE_API uint32_t vyre_kernel_param_count(const vyre_kernel *kernel);
/* Words that a dispatch gives for all parameters: one for each, low bits first; 64 bits take two, a
 * vector one for each component. */
VYRE_API uint32_t vyre_kernel_param_words(const vyre_kernel *kernel);
/* The first of a parameter's words among them. */
VYRE_API uint32_t vyre_kernel_param_word(const vyre_kernel *kernel, uint32_t param);
/* A parameter's name; lives as long as the kernel. Its number is below the count. */
VYRE_API const char *vyre_kernel_param_name(const vyre_kernel *kernel, uint32_t param);
/* A parameter's type. Its number is below the count. */
VYRE_API vyre_type vyre_kernel_param_type(const vyre_kernel *kernel, uint32_t param);
/* Bytes of spill slots that each invocation needs. */
VYRE_API uint32_t vyre_kernel_spill_size(const vyre_kernel *kernel);
/* Bytes of workgroup memory. */
VYRE_API uint32_t vyre_kernel_shared_size(const vyre_kernel *kernel);
/* 1 where the program uses a function of the tolerance table or fast_math, or adds or multiplies
 * floats by atomics or over subgroups, in an order that nothing says: devices may differ from the
 * interpreter within docs/language.md's bounds. */
VYRE_API int vyre_kernel_is_inexact(const vyre_kernel *kernel);
/* Vulkan features and extensions that the modules need beyond Vulkan 1.2: entry i, or NULL past the
 * last. */
VYRE_API const char *vyre_kernel_requirement(const vyre_kernel *kernel, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif

/* Programs of any size for vyre-bench compile, each as a program of the library and as the same
 * thing in GLSL. The same kind and size always give the same text. Thread-safety: external. */
#ifndef VY_BENCH_COMPILE_TEXT_H
#define VY_BENCH_COMPILE_TEXT_H

#include "codegen/base/base.h"

typedef enum compile_kind {
    COMPILE_STRAIGHT,  /* arithmetic, a load and a store now and then */
    COMPILE_MIXED,     /* the same between ifs and loops */
    COMPILE_FUNCTIONS, /* many small functions, each called once */
    COMPILE_SEGMENTS,  /* short segments with grid_sync between them; count is theirs */
    COMPILE_KIND_COUNT
} compile_kind;

enum { COMPILE_SEGMENT_OPERATIONS = 10 };

/* A program of `count` operations: operators, loads and stores; COMPILE_SEGMENTS: of `count`
 * segments with COMPILE_SEGMENT_OPERATIONS each. */
void compile_text_vyre(compile_kind kind, uint32_t count, vy_text *out);
/* The same as a shader for Vulkan, without checks of indices. GLSL has no segments: a shader each,
 * with a final zero behind it; *out_shaders is how many. */
void compile_text_glsl(compile_kind kind, uint32_t count, vy_text *out, uint32_t *out_shaders);

#endif

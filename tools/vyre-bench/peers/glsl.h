/* The peer of vyre-bench compile: glslang in this process, through its C interface. Where the tools
 * were built without it, it says so. Thread-safety: external. */
#ifndef VY_BENCH_PEER_GLSL_H
#define VY_BENCH_PEER_GLSL_H

#include "codegen/base/base.h"

typedef struct peer_glsl_words {
    uint32_t *words; /* freed with peer_glsl_free */
    size_t count;
} peer_glsl_words;

/* NULL, or why there is none. */
const char *peer_glsl_missing(void);
/* Whether SPIRV-Tools' optimiser is there, too. */
bool peer_glsl_can_optimise(void);
/* A compute shader for Vulkan 1.2 to SPIR-V 1.5. Optimised: SPIRV-Tools' performance passes behind
 * glslang, else no optimiser. out_words NULL: the words are made and dropped. Errors:
 * INVALID_PROGRAM with the first of glslang's own words. */
typedef enum peer_glsl_effort { PEER_GLSL_PLAIN, PEER_GLSL_OPTIMISED } peer_glsl_effort;
vyre_result peer_glsl_compile(const char *text, peer_glsl_effort effort, peer_glsl_words *out_words,
                              vyre_diag *diag);
void peer_glsl_free(peer_glsl_words *words);
/* SPIRV-Tools on words of either side; *out_is_checked false: the tools were built without it. */
bool peer_spirv_is_valid(const uint32_t *words, size_t count, bool *out_is_checked);

#endif

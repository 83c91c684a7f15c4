/* A small Vulkan program of its own: runs shaders of shaders/glsl/ with an instance, a device and
 * buffers that the library knows nothing of. Functions print what fails and return NULL or false.
 */
#ifndef VY_GLSL_HOST_H
#define VY_GLSL_HOST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct vy_glsl_host vy_glsl_host;
typedef struct vy_glsl_program vy_glsl_program;

#define VY_GLSL_MAX_BUFFERS 4u

/* The push constants of shaders/glsl/common.glsl. */
typedef struct vy_glsl_step {
    uint32_t groups, count, phase, a, b;
} vy_glsl_step;

/* On the device of that name. */
vy_glsl_host *vy_glsl_host_create(const char *device_name);
void vy_glsl_host_destroy(vy_glsl_host **host);

/* The shader NAME.comp with buffers of that many words at bindings 0, 1, ..., all zero. */
vy_glsl_program *vy_glsl_program_create(vy_glsl_host *host, const char *name,
                                        const uint32_t *word_counts, uint32_t buffer_count);
void vy_glsl_program_destroy(vy_glsl_program **program);
/* A buffer's words, to be read and written while nothing runs. */
uint32_t *vy_glsl_program_words(const vy_glsl_program *program, uint32_t binding);
/* The steps in one submission, with a barrier between every two; waits for their end. */
bool vy_glsl_program_run(vy_glsl_program *program, const vy_glsl_step *steps, uint32_t count);

#endif

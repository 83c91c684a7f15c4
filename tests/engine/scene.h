/* What tests of recordings share: a renderer that is set up for each of them, a program whose
 * results tell what ran, and one imported buffer with a command buffer to record it into. */
#ifndef VY_TESTS_SCENE_H
#define VY_TESTS_SCENE_H

#include "tests/engine/renderer.h"

#define COUNT 256u
#define SIZE  (COUNT * sizeof(uint32_t))

extern renderer scene_host;
extern int scene_is_open;

/* For cmocka: under validation, without it, and without the layer, for threads. */
int scene_open_validated(void **state);
int scene_open_plain(void **state);
int scene_open_threads(void **state);
/* Nothing is left, and no barrier was missing. */
int scene_close_host(void **state);

#define NEED_DEVICE()                                                                              \
    if (!scene_is_open)                                                                            \
    return

/* a[i] becomes the a[COUNT - 1 - i] before, plus that index, plus 1. Three buffers. */
extern const char reverse_text[];
uint32_t reversed(uint32_t value, uint32_t i);

vyre_record_params recording_of(VkCommandBuffer commands, vyre_binding *list, vyre_buffer buffer);
vyre_recording *must_record(const engine_program *program, const vyre_record_params *params);
/* Refused with that text, and nothing recorded. */
void refuse_record(const engine_program *program, const vyre_record_params *params,
                   vyre_result code, const char *text);

typedef struct scene {
    VkBuffer own;
    VkCommandBuffer commands;
    vyre_device *device;
    vyre_buffer buffer;
    engine_program program;
    vyre_binding list[3];
} scene;

scene open_scene(const vyre_allocator *allocator);
void close_scene(scene *s);
/* Into the scene's command buffer, which is not submitted. */
vyre_recording *record_scene(scene *s, vyre_retirement retirement);

#endif

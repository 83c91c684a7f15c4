/* See scene.h. */
#include "tests/engine/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

renderer scene_host;
int scene_is_open;

static int open_with(int validate, int through_layer)
{
    layer_reset();
    scene_is_open = !engine_has_no_device();
    if (scene_is_open) {
        renderer_open(&scene_host, through_layer ? layer_entry() : NULL, validate);
    }
    return 0;
}

int scene_open_validated(void **state)
{
    (void)state;
    return open_with(1, 1);
}

int scene_open_plain(void **state)
{
    (void)state;
    return open_with(0, 1);
}

int scene_open_threads(void **state)
{
    (void)state;
    return open_with(1, 0);
}

int scene_close_host(void **state)
{
    (void)state;
    if (scene_is_open) {
        renderer_close(&scene_host);
        assert_int_equal(layer_alive(), 0);
        assert_int_equal(layer_missing(true), 0);
    }
    return 0;
}

const char reverse_text[] = "program reverse\nworkgroup 64\ngrid over a\n"
                            "inout a : u32[]\nscratch b : u32[len(a)]\nscratch n : u32[1]\n"
                            "kernel {\n"
                            "  if gid.x < len(a) { b[gid.x] = a[gid.x] + gid.x }\n"
                            "  if gid.x == 0 { n[0] = n[0] + 1 }\n"
                            "  grid_sync\n"
                            "  if gid.x < len(a) { a[gid.x] = b[len(a) - 1 - gid.x] + n[0] }\n"
                            "}\n";

uint32_t reversed(uint32_t value, uint32_t i)
{
    return value + (COUNT - 1 - i) + 1;
}

vyre_record_params recording_of(VkCommandBuffer commands, vyre_binding *list, vyre_buffer buffer)
{
    memset(list, 0, 3 * sizeof *list);
    list[0] = engine_resident(buffer, 0, VYRE_COUNT_DECLARED);
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = commands;
    params.dispatch.bindings = list;
    params.dispatch.binding_count = 3;
    return params;
}

vyre_recording *must_record(const engine_program *p, const vyre_record_params *params)
{
    vyre_recording *recording = NULL;
    vyre_diag diag;
    if (vyre_record(p->pipeline, params, &recording, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return recording;
}

void refuse_record(const engine_program *p, const vyre_record_params *params, vyre_result code,
                   const char *text)
{
    vyre_recording *recording = NULL;
    vyre_diag diag;
    layer_clear_events();
    assert_int_equal(vyre_record(p->pipeline, params, &recording, &diag), code);
    if (!strstr(diag.message, text)) {
        fail_msg("\"%s\" is not in: %s", text, diag.message);
    }
    assert_null(recording);
    uint32_t count = 0;
    (void)layer_events(&count);
    assert_int_equal(count, 0);
}

scene open_scene(const vyre_allocator *allocator)
{
    scene s = {.own = renderer_buffer(&scene_host, SIZE, RENDERER_USAGE, NULL),
               .commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY),
               .device = renderer_adopt(&scene_host, allocator)};
    s.buffer = renderer_import(s.device, s.own, SIZE, RENDERER_USAGE);
    s.program = renderer_build(s.device, reverse_text, VYRE_BINDINGS_AUTO);
    return s;
}

void close_scene(scene *s)
{
    engine_release(&s->program);
    vyre_device_destroy(&s->device);
}

vyre_recording *record_scene(scene *s, vyre_retirement retirement)
{
    vyre_record_params params = recording_of(s->commands, s->list, s->buffer);
    params.retirement = retirement;
    renderer_begin(&scene_host, s->commands, 0);
    vyre_recording *recording = must_record(&s->program, &params);
    renderer_end(&scene_host, s->commands);
    return recording;
}

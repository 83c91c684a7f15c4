/* --dump-buffers: what every buffer has after the run, as .npy files with an index. */
#include "tools/vyre-run/command.h"

#include "tools/common/npy.h"
#include "tools/common/system.h"

#include <errno.h>
#include <string.h>

/* Names of files end at 255 bytes on most file systems. */
#define MAX_NAME 200u

static vyre_result make_folder(const char *path, vyre_diag *diag)
{
    if (vy_folder_make(path) || vy_path_look(path).kind == VY_PATH_FOLDER) {
        return VYRE_OK;
    }
    return vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                       "%.200s cannot be made a folder (%s). Fix: give one that is there, or a new "
                       "one in a folder that can be written to",
                       path, strerror(errno));
}

static void file_name(const vy_run_buffer *buffer, uint32_t binding, vy_text *out)
{
    if (strlen(buffer->name) <= MAX_NAME) {
        vy_text_printf(out, "%s.npy", buffer->name);
    } else {
        vy_text_printf(out, "%.*s.%u.npy", (int)MAX_NAME, buffer->name, binding);
    }
}

static vyre_result write_buffer(const outcome *o, uint32_t binding, const char *file,
                                vyre_diag *diag)
{
    const vy_run_buffer *buffer = &o->data->buffers[binding];
    const void *elements =
        o->result->out[binding] ? o->result->out[binding] : o->data->buffers[binding].in;
    vy_text path, bytes;
    vy_text_init(&path, NULL);
    vy_text_init(&bytes, NULL);
    vy_text_printf(&path, "%s/%s", o->command->dump_folder, file);
    vy_npy_format(buffer->type, elements, buffer->count, &bytes);
    vyre_result result = path.failed || bytes.failed
                             ? vy_diag_no_memory(diag)
                             : vy_file_write(path.data, bytes.data, bytes.size, diag);
    vy_text_finish(&bytes);
    vy_text_finish(&path);
    return result;
}

static void list_buffer(const vyre_program *program, const vy_buffer *declared,
                        const vy_run_buffer *buffer, const char *file, vy_text *index)
{
    vy_text_printf(index, "%s\n  {\"name\": ", declared == &program->buffers.data[1] ? "" : ",");
    vy_json_string(index, declared->name);
    vy_text_printf(index, ", \"mode\": \"%s\", \"type\": \"%s\"",
                   vy_buffer_mode_text((vyre_buffer_mode)declared->mode),
                   vyre_type_keyword((vyre_type)declared->type));
    if (buffer) {
        vy_text_printf(index, ", \"count\": %u, \"bytes\": %llu, \"file\": ", buffer->count,
                       (unsigned long long)buffer->count * vyre_type_size(buffer->type));
        vy_json_string(index, file);
    } else {
        /* Workgroups' memory is gone when they end. */
        vy_text_printf(index, ", \"count\": null, \"bytes\": null, \"file\": null");
    }
    vy_text_printf(index, "}");
}

static vyre_result write_buffers(const outcome *o, vy_text *index, vyre_diag *diag)
{
    const vyre_program *program = o->source->program;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 1; i < program->buffers.count && result == VYRE_OK; i++) {
        const vy_buffer *declared = &program->buffers.data[i];
        if (declared->mode == VYRE_BUFFER_SHARED) {
            list_buffer(program, declared, NULL, NULL, index);
            continue;
        }
        const vy_run_buffer *buffer = &o->data->buffers[declared->binding];
        vy_text file;
        vy_text_init(&file, NULL);
        file_name(buffer, declared->binding, &file);
        result = file.failed ? vy_diag_no_memory(diag)
                             : write_buffer(o, declared->binding, file.data, diag);
        if (result == VYRE_OK) {
            list_buffer(program, declared, buffer, file.data, index);
        }
        vy_text_finish(&file);
    }
    return result;
}

vyre_result dump_buffers(const outcome *o, vyre_diag *diag)
{
    vyre_result result = make_folder(o->command->dump_folder, diag);
    if (result != VYRE_OK) {
        return result;
    }
    vyre_device_info info;
    vy_text index, path;
    vy_text_init(&index, NULL);
    vy_text_init(&path, NULL);
    vy_text_printf(&index, "{\"schema\": \"vyre.buffers/1\", \"program\": ");
    vy_json_string(&index, vyre_program_name(o->source->program));
    vy_text_printf(&index, ", \"device\": ");
    if (o->device) {
        vyre_device_get_info(o->device, &info);
        vy_json_string(&index, info.name);
    } else {
        vy_text_printf(&index, "null");
    }
    vy_text_printf(&index, ", \"passes\": %u, \"buffers\": [", o->result->passes);
    result = write_buffers(o, &index, diag);
    vy_text_printf(&index, "\n]}\n");
    vy_text_printf(&path, "%s/index.json", o->command->dump_folder);
    if (result == VYRE_OK) {
        result = index.failed || path.failed
                     ? vy_diag_no_memory(diag)
                     : vy_file_write(path.data, index.data, index.size, diag);
    }
    vy_text_finish(&path);
    vy_text_finish(&index);
    return result;
}

/* Whole files in and out. */
#include "tools/common/system.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static vyre_result io_error(vyre_diag *diag, const char *verb, const char *path, const char *why)
{
    return vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                       "'%s' cannot be %s: %s. Fix: check the path and its permissions", path, verb,
                       why);
}

/* Grows in place of asking for the size, which pipes do not know. */
vyre_result vy_stream_read(FILE *stream, const char *path, size_t limit, char **out_data,
                           size_t *out_size, vyre_diag *diag)
{
    *out_data = NULL;
    *out_size = 0;
    size_t size = 0, capacity = 0;
    char *data = NULL;
    for (;;) {
        if (capacity - size < 2) {
            capacity = capacity ? capacity * 2 : 1 << 16;
            char *grown = realloc(data, capacity);
            if (!grown) {
                free(data);
                return vy_diag_no_memory(diag);
            }
            data = grown;
        }
        size_t got = fread(data + size, 1, capacity - size - 1, stream);
        size += got;
        if (size > limit) {
            free(data);
            return vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                               "'%s' has more than %zu bytes. Fix: give a smaller file", path,
                               limit);
        }
        if (got == 0) {
            break;
        }
    }
    if (ferror(stream)) {
        free(data);
        return io_error(diag, "read", path, strerror(errno));
    }
    data[size] = 0;
    *out_data = data;
    *out_size = size;
    return VYRE_OK;
}

vyre_result vy_file_read(const char *path, size_t limit, char **out_data, size_t *out_size,
                         vyre_diag *diag)
{
    bool is_input = strcmp(path, "-") == 0;
    *out_data = NULL;
    *out_size = 0;
    FILE *stream = is_input ? stdin : fopen(path, "rb");
    if (!stream) {
        return io_error(diag, "read", path, strerror(errno));
    }
    vyre_result result =
        vy_stream_read(stream, is_input ? "standard input" : path, limit, out_data, out_size, diag);
    if (!is_input) {
        fclose(stream);
    }
    return result;
}

vyre_result vy_file_write(const char *path, const void *data, size_t size, vyre_diag *diag)
{
    vy_path_kind kind = vy_path_look(path).kind;
    /* Devices and pipes are written as they are. */
    bool in_place = kind == VY_PATH_FOLDER || kind == VY_PATH_OTHER, made = false;
    size_t name_size = strlen(path) + 32;
    char *name = malloc(name_size);
    if (!name) {
        return vy_diag_no_memory(diag);
    }
    snprintf(name, name_size, in_place ? "%s" : "%s.%lu.part", path, vy_process_id());
    bool written =
        vy_file_put(name, in_place, data, size, &made) && (in_place || vy_file_replace(name, path));
    int why = errno;
    if (!written && made && !in_place) {
        vy_file_remove(name);
    }
    free(name);
    return written ? VYRE_OK : io_error(diag, "written", path, strerror(why));
}

const char *vy_path_beside(vy_arena *arena, const char *from, const char *path)
{
    size_t folder = vy_path_is_absolute(path) ? 0 : (size_t)(vy_path_last(from) - from);
    if (folder == 0) {
        return vy_arena_text(arena, path, strlen(path));
    }
    char *joined = vy_arena_alloc(arena, folder + strlen(path) + 1, 1);
    if (joined) {
        memcpy(joined, from, folder);
        memcpy(joined + folder, path, strlen(path) + 1);
    }
    return joined;
}

bool vy_path_has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

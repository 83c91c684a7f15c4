/* Whole files in and out. */
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool write_all(int file, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = write(file, data + done, size - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

vyre_result vy_file_write(const char *path, const void *data, size_t size, vyre_diag *diag)
{
    struct stat status;
    /* Devices and pipes are written as they are. */
    bool in_place = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    size_t name_size = strlen(path) + 32;
    char *name = malloc(name_size);
    if (!name) {
        return vy_diag_no_memory(diag);
    }
    snprintf(name, name_size, in_place ? "%s" : "%s.%ld.part", path, (long)getpid());
    int file = open(name, in_place ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL, 0666);
    bool written = file >= 0 && write_all(file, data, size);
    int why = errno;
    if (file >= 0 && close(file) != 0 && written) {
        written = false;
        why = errno;
    }
    if (written && !in_place && rename(name, path) != 0) {
        written = false;
        why = errno;
    }
    if (!written && file >= 0 && !in_place) {
        (void)unlink(name);
    }
    free(name);
    return written ? VYRE_OK : io_error(diag, "written", path, strerror(why));
}

const char *vy_path_beside(vy_arena *arena, const char *from, const char *path)
{
    const char *slash = path[0] == '/' ? NULL : strrchr(from, '/');
    if (!slash) {
        return vy_arena_text(arena, path, strlen(path));
    }
    size_t folder = (size_t)(slash - from) + 1;
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

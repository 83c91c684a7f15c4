/* See file.h. The one file that knows file systems. */
#include "engine/device/file.h"

#include <string.h>

#if defined(_WIN32)

void *vy_disk_read(const vyre_allocator *allocator, const char *folder, const char *name,
                   size_t limit, size_t *out_size)
{
    (void)allocator;
    (void)folder;
    (void)name;
    (void)limit;
    *out_size = 0;
    return NULL;
}

bool vy_disk_write(const vyre_allocator *allocator, const char *folder, const char *name,
                   const void *data, size_t size, uint32_t unique)
{
    (void)allocator;
    (void)folder;
    (void)name;
    (void)data;
    (void)size;
    (void)unique;
    return false;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many leftovers of crashed processes with this one's number are stepped over. */
#define MAX_ATTEMPTS 16u

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_fit(int file, size_t limit, size_t *out_size)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        status.st_size <= 0 || (uintmax_t)status.st_size > limit) {
        return false;
    }
    *out_size = (size_t)status.st_size;
    return true;
}

static bool read_all(int file, unsigned char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(file, data + done, size - done);
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

void *vy_disk_read(const vyre_allocator *allocator, const char *folder, const char *name,
                   size_t limit, size_t *out_size)
{
    *out_size = 0;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return NULL;
    }
    /* NONBLOCK: a pipe in its place must not stop us. */
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    (void)close(directory);
    if (file < 0) {
        return NULL;
    }
    size_t size = 0;
    unsigned char *data = is_fit(file, limit, &size) ? vy_alloc_zeroed(allocator, size, 1) : NULL;
    if (data && !read_all(file, data, size)) {
        vy_free(allocator, data, size);
        data = NULL;
    }
    (void)close(file);
    *out_size = data ? size : 0;
    return data;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The folder, made with those above it where they are missing; its descriptor, or -1. */
static int open_folder(const vyre_allocator *allocator, const char *folder)
{
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0 || errno != ENOENT) {
        return directory;
    }
    size_t size = strlen(folder) + 1;
    char *path = vy_alloc_zeroed(allocator, size, 1);
    if (!path) {
        return -1;
    }
    memcpy(path, folder, size);
    for (size_t i = 1; i < size; i++) {
        if (path[i] == '/' || path[i] == 0) {
            char end = path[i];
            path[i] = 0;
            (void)mkdir(path, 0700); /* what matters is whether the last one opens */
            path[i] = end;
        }
    }
    vy_free(allocator, path, size);
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_temporary(int directory, const char *name, uint32_t unique, char *out, size_t size)
{
    for (unsigned attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        int length = snprintf(out, size, "%s.%ld-%u-%u.tmp", name, (long)getpid(), (unsigned)unique,
                              attempt);
        if (length < 0 || (size_t)length >= size) {
            return -1;
        }
        int file =
            openat(directory, out, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) {
            return file;
        }
    }
    return -1;
}

static bool write_all(int file, const unsigned char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t put = write(file, data + done, size - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return fsync(file) == 0;
}

bool vy_disk_write(const vyre_allocator *allocator, const char *folder, const char *name,
                   const void *data, size_t size, uint32_t unique)
{
    char temporary[160];
    int directory = open_folder(allocator, folder);
    if (directory < 0) {
        return false;
    }
    int file = open_temporary(directory, name, unique, temporary, sizeof temporary);
    if (file < 0) {
        (void)close(directory);
        return false;
    }
    bool is_written = write_all(file, data, size);
    is_written = close(file) == 0 && is_written;
    is_written = is_written && renameat(directory, temporary, directory, name) == 0;
    if (is_written) {
        (void)fsync(directory); /* after a crash the old file is as good */
    } else {
        (void)unlinkat(directory, temporary, 0);
    }
    (void)close(directory);
    return is_written;
}

#endif

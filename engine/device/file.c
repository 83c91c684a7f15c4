/* See file.h. The one file that knows file systems. */
#include "engine/device/file.h"

#include <string.h>

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOGDI
#define NOMINMAX
#include <windows.h>

#include <stdio.h>

/* As many leftovers of crashed processes with this one's number are stepped over. */
#define MAX_ATTEMPTS 16u
#define MAX_NAME     160u

/* Folder and name as Windows has them, freed with vy_free (of *out_size bytes); NULL without memory
 * and where they are no UTF-8. */
static wchar_t *wide_path(const vyre_allocator *allocator, const char *folder, const char *name,
                          size_t *out_size)
{
    /* A character has at most as many units as bytes. */
    size_t count = strlen(folder) + strlen(name) + 2;
    wchar_t *path = count < 0x7fff ? vy_alloc_zeroed(allocator, count, sizeof *path) : NULL;
    *out_size = count * sizeof *path;
    if (!path) {
        return NULL;
    }
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, folder, -1, path, (int)count);
    bool is_right = length > 0;
    if (is_right && name[0]) {
        path[length - 1] = L'\\';
        is_right = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, path + length,
                                       (int)count - length) > 0;
    }
    for (wchar_t *at = path; *at; at++) {
        *at = *at == L'/' ? L'\\' : *at;
    }
    if (!is_right) {
        vy_free(allocator, path, *out_size);
        return NULL;
    }
    return path;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_fit(HANDLE file, size_t limit, size_t *out_size)
{
    BY_HANDLE_FILE_INFORMATION info;
    const DWORD other = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
    if (GetFileType(file) != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &info) ||
        (info.dwFileAttributes & other)) {
        return false;
    }
    uint64_t size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    *out_size = (size_t)size;
    return size > 0 && size <= limit;
}

static bool read_all(HANDLE file, unsigned char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        DWORD part = size - done < 0x10000000u ? (DWORD)(size - done) : 0x10000000u, got = 0;
        if (!ReadFile(file, data + done, part, &got, NULL) || got == 0) {
            return false;
        }
        done += got;
    }
    return true;
}

void *vy_disk_read(const vyre_allocator *allocator, const char *folder, const char *name,
                   size_t limit, size_t *out_size)
{
    *out_size = 0;
    size_t path_size;
    wchar_t *path = wide_path(allocator, folder, name, &path_size);
    if (!path) {
        return NULL;
    }
    /* Links are looked at, not followed; another process may put a new file in its place. */
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    vy_free(allocator, path, path_size);
    if (file == INVALID_HANDLE_VALUE) {
        return NULL;
    }
    size_t size = 0;
    unsigned char *data = is_fit(file, limit, &size) ? vy_alloc_zeroed(allocator, size, 1) : NULL;
    if (data && !read_all(file, data, size)) {
        vy_free(allocator, data, size);
        data = NULL;
    }
    (void)CloseHandle(file);
    *out_size = data ? size : 0;
    return data;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* With those above it where they are missing: what matters is whether a file can be made there. */
static void make_folder(const vyre_allocator *allocator, const char *folder)
{
    size_t size;
    wchar_t *path = wide_path(allocator, folder, "", &size);
    if (!path) {
        return;
    }
    for (wchar_t *at = path; *at; at++) {
        if (*at == L'\\' && at > path) {
            *at = 0;
            (void)CreateDirectoryW(path, NULL);
            *at = L'\\';
        }
    }
    (void)CreateDirectoryW(path, NULL);
    vy_free(allocator, path, size);
}

static bool write_all(HANDLE file, const unsigned char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        DWORD part = size - done < 0x10000000u ? (DWORD)(size - done) : 0x10000000u, put = 0;
        if (!WriteFile(file, data + done, part, &put, NULL) || put == 0) {
            return false;
        }
        done += put;
    }
    return FlushFileBuffers(file) != 0;
}

/* A new file with those contents in the folder; its path in *out_path, or NULL. */
static wchar_t *write_temporary(const vyre_allocator *allocator, const char *folder,
                                const char *name, const void *data, size_t size, uint32_t unique,
                                size_t *out_path_size)
{
    for (unsigned attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        char temporary[MAX_NAME];
        int length = snprintf(temporary, sizeof temporary, "%s.%lu-%u-%u.tmp", name,
                              (unsigned long)GetCurrentProcessId(), (unsigned)unique, attempt);
        if (length < 0 || (size_t)length >= sizeof temporary) {
            return NULL;
        }
        wchar_t *path = wide_path(allocator, folder, temporary, out_path_size);
        if (!path) {
            return NULL;
        }
        HANDLE file =
            CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        bool is_there = file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS;
        bool is_written = file != INVALID_HANDLE_VALUE && write_all(file, data, size);
        if (file != INVALID_HANDLE_VALUE && !CloseHandle(file)) {
            is_written = false;
        }
        if (is_written) {
            return path;
        }
        if (file != INVALID_HANDLE_VALUE) {
            (void)DeleteFileW(path);
        }
        vy_free(allocator, path, *out_path_size);
        if (!is_there) {
            return NULL;
        }
    }
    return NULL;
}

bool vy_disk_write(const vyre_allocator *allocator, const char *folder, const char *name,
                   const void *data, size_t size, uint32_t unique)
{
    size_t from_size = 0, to_size = 0;
    wchar_t *from = write_temporary(allocator, folder, name, data, size, unique, &from_size);
    if (!from) {
        make_folder(allocator, folder);
        from = write_temporary(allocator, folder, name, data, size, unique, &from_size);
    }
    if (!from) {
        return false;
    }
    wchar_t *to = wide_path(allocator, folder, name, &to_size);
    bool is_written =
        to && MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
    if (!is_written) {
        (void)DeleteFileW(from);
    }
    if (to) {
        vy_free(allocator, to, to_size);
    }
    vy_free(allocator, from, from_size);
    return is_written;
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

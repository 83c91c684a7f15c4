/* See folder.h. */
#include "folder.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH_SIZE 1024

static void root_path(char *out, size_t size)
{
    snprintf(out, size, "%s/test-folder-%ld", VYRE_BINARY_DIR, (long)getpid());
}

static void join(char *out, const char *folder, const char *name)
{
    assert_true(snprintf(out, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
}

static void take_away(const char *path, int depth)
{
    struct stat status;
    if (depth > 8 || lstat(path, &status) != 0) {
        return;
    }
    if (!S_ISDIR(status.st_mode)) {
        (void)unlink(path);
        return;
    }
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char below[PATH_SIZE];
            join(below, path, entry->d_name);
            take_away(below, depth + 1);
        }
    }
    closedir(folder);
    (void)rmdir(path);
}

void folder_clear(void)
{
    char root[PATH_SIZE / 2];
    root_path(root, sizeof root);
    take_away(root, 0);
}

const char *folder_path(const char *name)
{
    static char paths[8][PATH_SIZE];
    static unsigned next;
    char root[PATH_SIZE / 2];
    char *out = paths[next++ % 8];
    root_path(root, sizeof root);
    join(out, root, name);
    return out;
}

unsigned folder_find(const char *below, const char *beginning, char *out, size_t size)
{
    unsigned count = 0;
    DIR *folder = opendir(folder_path(below));
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, beginning, strlen(beginning)) == 0) {
            count++;
            if (out) {
                snprintf(out, size, "%s", entry->d_name);
            }
        }
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

unsigned char *folder_read(const char *below, const char *name, size_t *out_size)
{
    char path[PATH_SIZE];
    join(path, folder_path(below), name);
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 20);
    assert_non_null(file);
    assert_non_null(bytes);
    *out_size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

void folder_write(const char *below, const char *name, const void *data, size_t size)
{
    char path[PATH_SIZE];
    (void)mkdir(folder_path(""), 0700);
    (void)mkdir(folder_path(below), 0700);
    join(path, folder_path(below), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

const char *folder_below(const char *below, const char *name)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder_path(below), name);
    return path;
}

unsigned folder_mode(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 0777;
}

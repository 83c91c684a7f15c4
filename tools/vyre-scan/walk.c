/* Files in grep's order: operands as given, and of folders all entries as the system lists them. */
#include "tools/vyre-scan/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that is being read, for links that lead back. */
typedef struct parent {
    const struct parent *up;
    dev_t device;
    ino_t inode;
} parent;

typedef struct entries {
    char **names;
    size_t count, capacity;
} entries;

static const char path_fix[] = "check the path and its permissions";

static bool push_name(entries *list, const char *name)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 64;
        char **grown = realloc(list->names, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        list->names = grown;
        list->capacity = capacity;
    }
    list->names[list->count] = malloc(strlen(name) + 1);
    if (!list->names[list->count]) {
        return false;
    }
    memcpy(list->names[list->count++], name, strlen(name) + 1);
    return true;
}

static void free_names(entries *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->names[i]);
    }
    free(list->names);
}

static void out_of_memory(scan_run *run)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    (void)vy_diag_no_memory(&diag);
    scan_fatal(run, &diag);
}

/* All names of an open folder, which is closed. */
static bool list_folder(DIR *folder, entries *out)
{
    struct dirent *entry;
    bool listed = true;
    while (listed && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            listed = push_name(out, entry->d_name);
        }
    }
    (void)closedir(folder);
    return listed;
}

static bool is_parent(const parent *up, const struct stat *status)
{
    while (up && (up->device != status->st_dev || up->inode != status->st_ino)) {
        up = up->up;
    }
    return up != NULL;
}

static void walk_folder(scan_run *run, int file, const char *path, const struct stat *status,
                        const parent *up);

/* `file` is open, and closed here. */
static void take_file(scan_run *run, int file, const char *path, const struct stat *status,
                      bool with_name)
{
    bool is_output = run->out_is_file && S_ISREG(status->st_mode) &&
                     (uint64_t)status->st_dev == run->out_device &&
                     (uint64_t)status->st_ino == run->out_inode;
    bool prints = run->command->output == OUTPUT_MATCHES || run->command->output == OUTPUT_ALL;
    if (is_output && prints) {
        scan_fail_file(run, path, "what is read is also what is written",
                       "write to a file that is not read");
    } else {
        scan_feed(run, file, path, with_name);
    }
    (void)close(file);
}

static void walk_entry(scan_run *run, int folder, const char *name, const char *path,
                       const parent *up)
{
    const command *c = run->command;
    struct stat status;
    if (fstatat(folder, name, &status, c->follows_links ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
        scan_fail_file(run, path, strerror(errno), path_fix);
        return;
    }
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return; /* links, devices, sockets */
    }
    if (S_ISDIR(status.st_mode) && is_parent(up, &status)) {
        scan_fail_file(run, path, "the folder leads back to one that it is in",
                       "take the symbolic link away, or use -r");
        return;
    }
    int file =
        openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | (c->follows_links ? 0 : O_NOFOLLOW));
    if (file < 0) {
        scan_fail_file(run, path, strerror(errno), path_fix);
    } else if (S_ISDIR(status.st_mode)) {
        walk_folder(run, file, path, &status, up);
    } else {
        take_file(run, file, path, &status, c->with_names >= 0);
    }
}

static void walk_folder(scan_run *run, int file, const char *path, const struct stat *status,
                        const parent *up)
{
    parent here = {up, status->st_dev, status->st_ino};
    entries list = {0};
    int copy = dup(file);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    if (!folder) {
        scan_fail_file(run, path, strerror(errno), path_fix);
        if (copy >= 0) {
            (void)close(copy);
        }
    } else if (!list_folder(folder, &list)) {
        out_of_memory(run);
    }
    size_t length = strlen(path);
    bool needs_slash = length && path[length - 1] != '/';
    for (size_t i = 0; i < list.count && !run->stop; i++) {
        size_t size = length + strlen(list.names[i]) + 2;
        char *child = malloc(size);
        if (!child) {
            out_of_memory(run);
            break;
        }
        snprintf(child, size, "%s%s%s", path, needs_slash ? "/" : "", list.names[i]);
        walk_entry(run, file, list.names[i], child, &here);
        free(child);
    }
    free_names(&list);
    (void)close(file);
}

static void walk_operand(scan_run *run, const char *name, bool is_alone)
{
    const command *c = run->command;
    struct stat status;
    bool with_name = c->with_names ? c->with_names > 0 : !is_alone;
    if (strcmp(name, "-") == 0) {
        int copy = dup(STDIN_FILENO);
        if (copy < 0 || fstat(copy, &status) != 0) {
            scan_fail_file(run, "(standard input)", strerror(errno), "give files");
            if (copy >= 0) {
                (void)close(copy);
            }
            return;
        }
        take_file(run, copy, "(standard input)", &status, with_name);
        return;
    }
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0 || fstat(file, &status) != 0) {
        scan_fail_file(run, name, strerror(errno), path_fix);
        if (file >= 0) {
            (void)close(file);
        }
    } else if (!S_ISDIR(status.st_mode)) {
        take_file(run, file, name, &status, with_name);
    } else if (c->is_recursive) {
        walk_folder(run, file, name, &status, NULL);
    } else {
        (void)close(file);
        scan_fail_file(run, name, strerror(EISDIR), "use -r to read what is in it");
    }
}

/* Of all files that are named; 0 where nobody knows. */
static uint64_t sum_sizes(const command *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->files.count; i++) {
        struct stat status;
        if (stat(c->files.data[i], &status) != 0 || !S_ISREG(status.st_mode)) {
            return 0;
        }
        sum += (uint64_t)status.st_size;
    }
    return sum;
}

void scan_walk(scan_run *run)
{
    const command *c = run->command;
    run->total_size = sum_sizes(c);
    if (c->files.count == 0 && c->is_recursive) {
        struct stat status;
        int file = open(".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
        if (file < 0 || fstat(file, &status) != 0) {
            scan_fail_file(run, ".", strerror(errno), path_fix);
            if (file >= 0) {
                (void)close(file);
            }
            return;
        }
        walk_folder(run, file, "", &status, NULL);
    } else if (c->files.count == 0) {
        walk_operand(run, "-", true);
    }
    for (uint32_t i = 0; i < c->files.count && !run->stop; i++) {
        walk_operand(run, c->files.data[i], c->files.count == 1);
    }
}

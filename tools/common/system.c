/* See system.h: POSIX. Windows: system_windows.c. */
#include "tools/common/system.h"

#if !defined(_WIN32)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void vy_system_begin(void)
{
}

bool vy_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) != 0;
}

unsigned long vy_process_id(void)
{
    return (unsigned long)getpid();
}

void vy_exit_now(int code)
{
    _exit(code);
}

void vy_pause_ns(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    (void)nanosleep(&time, NULL); /* an interrupt ends the process */
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
               : 0;
}

uint64_t vy_other_threads_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID) - read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void vy_on_interrupt(void (*call)(int number))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = call;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

/* ---- Paths and files ------------------------------------------------------------------------- */

vy_file_mark vy_path_look(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return (vy_file_mark){.kind = VY_PATH_NONE};
    }
    return (vy_file_mark){.kind = S_ISREG(status.st_mode)   ? VY_PATH_FILE
                                  : S_ISDIR(status.st_mode) ? VY_PATH_FOLDER
                                                            : VY_PATH_OTHER,
                          .device = (uint64_t)status.st_dev,
                          .file = (uint64_t)status.st_ino,
                          .size = (uint64_t)status.st_size,
                          .changed_s = (int64_t)status.st_mtim.tv_sec,
                          .changed_ns = (int64_t)status.st_mtim.tv_nsec};
}

bool vy_is_separator(char c)
{
    return c == '/';
}

bool vy_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

bool vy_folder_make(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool vy_folder_make_temporary(const char *prefix, char *out_path, size_t size)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(out_path, size, "%s/%s.XXXXXX", base ? base : "/tmp", prefix);
    return length > 0 && (size_t)length < size && mkdtemp(out_path) != NULL;
}

void vy_folder_remove(const char *path)
{
    (void)rmdir(path);
}

void vy_file_remove(const char *path)
{
    (void)unlink(path);
}

bool vy_file_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
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

bool vy_file_put(const char *path, bool in_place, const void *data, size_t size, bool *out_made)
{
    int file = open(path, in_place ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL, 0666);
    *out_made = file >= 0;
    if (file < 0) {
        return false;
    }
    bool written = write_all(file, data, size);
    int why = errno;
    if (close(file) != 0 && written) {
        return false;
    }
    errno = why;
    return written;
}

/* ---- Programs -------------------------------------------------------------------------------- */

void *vy_library_open(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    return library ? library : dlopen(name, RTLD_NOW);
}

bool vy_library_find(void *library, const char *name, void *out_function, size_t size)
{
    void *symbol = dlsym(library, name);
    memcpy(out_function, &symbol, size); /* ISO C has no cast from void * to a function */
    return symbol != NULL;
}

bool vy_environment_set(const char *name, const char *value)
{
    return (value ? setenv(name, value, 1) : unsetenv(name)) == 0;
}

int vy_program_run(const char *const *arguments)
{
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

#endif

const char *vy_path_last(const char *path)
{
    const char *last = path;
    for (const char *at = path; *at; at++) {
        last = vy_is_separator(*at) ? at + 1 : last;
    }
    return last;
}

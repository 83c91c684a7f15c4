/* The CUDA peers: vyre-bench-cuda as a child process that answers a line of JSON to each line it is
 * asked. Its contexts live as long as this run, so its samples lie between the others'. */
#include "tools/vyre-bench/bench.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_SIZE = 1 << 17, COMMAND_SIZE = 160, PATIENCE_MS = 180000 };

struct bench_cuda {
    pid_t child;
    int to, from;
    char line[LINE_SIZE];
};

typedef struct cuda_series {
    bench_cuda *cuda;
    char command[COMMAND_SIZE];
    bench_check checked; /* of the last answer, which counts all */
} cuda_series;

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool write_line(bench_cuda *cuda, const char *text)
{
    for (size_t at = 0, size = strlen(text); at < size;) {
        ssize_t written = write(cuda->to, text + at, size - at);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        at += written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* One question is open at a time, so that nothing follows the line's end. */
static bool read_line(bench_cuda *cuda)
{
    size_t size = 0;
    while (size + 1 < LINE_SIZE) {
        struct pollfd wait = {.fd = cuda->from, .events = POLLIN};
        int ready = poll(&wait, 1, PATIENCE_MS);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        ssize_t got = ready > 0 ? read(cuda->from, cuda->line + size, LINE_SIZE - 1 - size) : 0;
        if (got <= 0) {
            return false;
        }
        size += (size_t)got;
        if (cuda->line[size - 1] == '\n') {
            cuda->line[size - 1] = 0;
            return true;
        }
    }
    return false;
}

/* The text behind "name": in an answer, which is one flat object that our own peer wrote. */
static const char *find_value(const char *line, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    return at ? at + strlen(key) : NULL;
}

static void copy_string(const char *value, char *out, size_t out_size)
{
    size_t size = 0;
    for (value++; value[size] && value[size] != '"' && size + 1 < out_size; size++) {
        out[size] = value[size];
    }
    out[size] = 0;
}

/* ---- Questions ------------------------------------------------------------------------------- */

static vyre_result fail(vyre_diag *diag, const char *why)
{
    return vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                       "vyre-bench-cuda: %.300s. Fix: run it by hand and read its answer", why);
}

static vyre_result sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    cuda_series *s = state;
    char line[COMMAND_SIZE + 32], error[256];
    snprintf(line, sizeof line, "%s samples=%u\n", s->command, count);
    if (!write_line(s->cuda, line) || !read_line(s->cuda)) {
        return fail(diag, "it gives no answer");
    }
    const char *at = find_value(s->cuda->line, "error");
    if (at) {
        copy_string(at, error, sizeof error);
        return fail(diag, error);
    }
    const char *compared = find_value(s->cuda->line, "compared");
    const char *wrong = find_value(s->cuda->line, "wrong");
    at = find_value(s->cuda->line, "samples");
    if (!at || *at != '[' || !compared || !wrong) {
        return fail(diag, "its answer cannot be read");
    }
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        at++;
        out[i] = strtod(at, &end);
        if (end == at) {
            return fail(diag, "its answer has too few samples");
        }
        at = end;
    }
    s->checked = (bench_check){strtoull(compared, NULL, 10), strtoull(wrong, NULL, 10)};
    return VYRE_OK;
}

static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    (void)diag;
    *out = ((cuda_series *)state)->checked;
    return VYRE_OK;
}

bench_series *bench_series_cuda(bench *b, bench_case *c, const char *way, const char *command, ...)
{
    cuda_series *s = b->cuda ? vy_arena_alloc(&b->arena, 1, sizeof *s) : NULL;
    if (!s) {
        return NULL;
    }
    va_list arguments;
    va_start(arguments, command);
    vsnprintf(s->command, sizeof s->command, command, arguments);
    va_end(arguments);
    s->cuda = b->cuda;
    return bench_series_add(c, "cuda", way, sample, check, s);
}

/* ---- Process --------------------------------------------------------------------------------- */

static bool find_executable(char *out, size_t out_size)
{
    char path[480];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) {
        return false;
    }
    *slash = 0;
    snprintf(out, out_size, "%s/vyre-bench-cuda", path);
    return access(out, X_OK) == 0;
}

static void become(const char *path, const char *device_name, const int to[2], const int from[2])
{
    char *arguments[] = {(char *)path, (char *)device_name, NULL};
    if (dup2(to[0], 0) >= 0 && dup2(from[1], 1) >= 0) {
        close(to[0]);
        close(to[1]);
        close(from[0]);
        close(from[1]);
        execv(path, arguments);
    }
    _exit(127);
}

static bool start_child(bench_cuda *cuda, const char *path, const char *device_name)
{
    int to[2], from[2];
    if (pipe(to) != 0) {
        return false;
    }
    if (pipe(from) != 0) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    cuda->child = fork();
    if (cuda->child == 0) {
        become(path, device_name, to, from);
    }
    close(to[0]);
    close(from[1]);
    cuda->to = to[1];
    cuda->from = from[0];
    if (cuda->child < 0) {
        close(cuda->to);
        close(cuda->from);
    }
    return cuda->child > 0;
}

/* A write to a process that has ended is an error of ours, not our end. */
static void ignore_broken_pipes(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPIPE, &action, NULL);
}

/* What the first line says. */
static bool read_greeting(bench *b, bench_cuda *cuda)
{
    char error[160] = "it gives no answer";
    if (read_line(cuda)) {
        const char *device = find_value(cuda->line, "device");
        const char *version = find_value(cuda->line, "version");
        const char *why = find_value(cuda->line, "error");
        if (device && version) {
            copy_string(device, b->cuda_device, sizeof b->cuda_device);
            copy_string(version, b->cuda_version, sizeof b->cuda_version);
            return true;
        }
        copy_string(why ? why : "\"its answer cannot be read\"", error, sizeof error);
    }
    snprintf(b->cuda_note, sizeof b->cuda_note, "vyre-bench-cuda: %.150s", error);
    return false;
}

bench_cuda *bench_cuda_start(bench *b, const char *path, const char *device_name)
{
    char found[512];
    if (!path && find_executable(found, sizeof found)) {
        path = found;
    }
    if (!path) {
        snprintf(b->cuda_note, sizeof b->cuda_note,
                 "vyre-bench-cuda is not built (ninja vyre-bench-cuda, which needs nvcc)");
        return NULL;
    }
    bench_cuda *cuda = calloc(1, sizeof *cuda);
    ignore_broken_pipes();
    if (!cuda || !start_child(cuda, path, device_name)) {
        snprintf(b->cuda_note, sizeof b->cuda_note, "vyre-bench-cuda cannot be started");
        free(cuda);
        return NULL;
    }
    if (!read_greeting(b, cuda)) {
        bench_cuda_stop(&cuda);
        return NULL;
    }
    return cuda;
}

void bench_cuda_stop(bench_cuda **cuda)
{
    bench_cuda *old = *cuda;
    if (old) {
        int status;
        /* The end of its input is its end. */
        close(old->to);
        while (waitpid(old->child, &status, 0) < 0 && errno == EINTR) {
        }
        close(old->from);
    }
    free(old);
    *cuda = NULL;
}

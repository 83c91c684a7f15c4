/* Files and processes for the tools' tests. */
#define _XOPEN_SOURCE 700 /* terminals */

#include "tests/tools/support.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void enter_folder(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/test-files", VYRE_BINARY_DIR);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/test-files/%s", VYRE_BINARY_DIR, name);
    (void)mkdir(path, 0777);
    if (chdir(path) != 0) {
        fail_msg("no folder %s", path);
    }
}

void put_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void put_text(const char *path, const char *text)
{
    put_file(path, text, strlen(text));
}

char *get_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    *out_size = 0;
    if (!file) {
        return NULL;
    }
    char *data = malloc((size_t)1 << 20);
    assert_non_null(data);
    *out_size = fread(data, 1, ((size_t)1 << 20) - 1, file);
    data[*out_size] = 0;
    fclose(file);
    return data;
}

static void redirect(const char *path, int flags, int to)
{
    int file = open(path, flags, 0666);
    if (file < 0 || dup2(file, to) < 0) {
        _exit(126);
    }
}

typedef struct tool_command {
    char path[512];
    char *arguments[64];
} tool_command;

static void take_command(tool_command *c, const char *tool, va_list list)
{
    int count = 0;
    bool is_path = tool[0] == '/';
    snprintf(c->path, sizeof c->path, "%s%s%s", is_path ? "" : VYRE_BINARY_DIR,
             is_path ? "" : "/bin/", tool);
    c->arguments[count++] = c->path;
    for (char *next = va_arg(list, char *); next && count < 63; next = va_arg(list, char *)) {
        c->arguments[count++] = next;
    }
    c->arguments[count] = NULL;
}

static int exit_code(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static pid_t start(tool_command *c)
{
    pid_t child = fork();
    if (child == 0) {
        redirect("/dev/null", O_RDONLY, 0);
        redirect("out", O_WRONLY | O_CREAT | O_TRUNC, 1);
        redirect("err", O_WRONLY | O_CREAT | O_TRUNC, 2);
        execv(c->path, c->arguments);
        _exit(125);
    }
    assert_true(child > 0);
    return child;
}

int run_tool(const char *tool, ...)
{
    tool_command c;
    va_list list;
    va_start(list, tool);
    take_command(&c, tool, list);
    va_end(list);
    return exit_code(start(&c));
}

pid_t start_tool(const char *tool, ...)
{
    tool_command c;
    va_list list;
    va_start(list, tool);
    take_command(&c, tool, list);
    va_end(list);
    put_text("out", ""); /* nothing of an earlier one is taken for its own */
    put_text("err", "");
    return start(&c);
}

int end_tool(pid_t tool, int number)
{
    assert_true(number == 0 || kill(tool, number) == 0);
    return exit_code(tool);
}

void wait_for_text(const char *path, const char *text)
{
    for (int i = 0; i < 3000; i++) {
        const struct timespec pause = {0, 10000000};
        size_t size;
        char *data = get_file(path, &size);
        bool has_text = data && strstr(data, text);
        free(data);
        if (has_text) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
    fail_msg("'%s' never came to %s", text, path);
}

/* A session of its own, whose terminal is the first one that it opens. */
static void run_child_on(const char *terminal, tool_command *c)
{
    (void)setsid();
    for (int to = 0; to < 3; to++) {
        redirect(terminal, O_RDWR, to);
    }
    execv(c->path, c->arguments);
    _exit(125);
}

static void type_keys(int terminal, const char *keys)
{
    assert_int_equal(write(terminal, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {.si_pid = 0};
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid != 0;
}

/* What is shown until the child has ended. */
static void follow_terminal(int terminal, pid_t child, const char *when, const char *keys)
{
    enum { ROOM = 1 << 20 };
    char *shown = calloc(1, ROOM);
    assert_non_null(shown);
    size_t size = 0;
    while (size + 1 < ROOM) {
        bool is_last = has_ended(child);
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        if (poll(&ready, 1, is_last ? 0 : 20) <= 0) {
            if (is_last) {
                break;
            }
            continue;
        }
        ssize_t got = read(terminal, shown + size, ROOM - 1 - size);
        assert_true(got > 0);
        size += (size_t)got;
        if (when && strstr(shown, when)) {
            type_keys(terminal, keys);
            when = NULL;
        }
    }
    put_file("out", shown, size);
    free(shown);
}

int run_on_terminal(const char *when, const char *keys, const char *tool, ...)
{
    tool_command c;
    va_list list;
    va_start(list, tool);
    take_command(&c, tool, list);
    va_end(list);
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const char *name = ptsname(terminal);
    assert_non_null(name);
    int held = open(name, O_RDWR | O_NOCTTY); /* so that it is open while nobody has it */
    assert_true(held >= 0);
    pid_t child = fork();
    if (child == 0) {
        close(held);
        run_child_on(name, &c);
    }
    assert_true(child > 0);
    if (!when) {
        type_keys(terminal, keys);
    }
    follow_terminal(terminal, child, when, keys);
    close(held);
    close(terminal);
    return exit_code(child);
}

void assert_file_has(const char *path, const char *text)
{
    size_t size;
    char *data = get_file(path, &size);
    assert_non_null(data);
    if (!strstr(data, text)) {
        print_message("'%s' is not in %s:\n%s\n", text, path, data);
        free(data);
        fail();
    }
    free(data);
}

void assert_file_lacks(const char *path, const char *text)
{
    size_t size;
    char *found = get_file(path, &size);
    assert_non_null(found);
    assert_null(strstr(found, text));
    free(found);
}

void assert_fails(int wanted_code, const char *wanted_text, int code)
{
    if (code != wanted_code) {
        size_t size;
        char *data = get_file("err", &size);
        print_message("exit code %d, not %d:\n%s\n", code, wanted_code, data ? data : "");
        free(data);
    }
    assert_int_equal(code, wanted_code);
    assert_file_has("err", wanted_text);
}

static const char *skip_value(const char *at, uint32_t depth);

static const char *skip_blank(const char *at)
{
    return at + strspn(at, " \n");
}

static const char *skip_string(const char *at)
{
    assert_int_equal(*at, '"');
    for (at++; *at != '"'; at++) {
        assert_true((unsigned char)*at >= 0x20);
        at += *at == '\\';
    }
    return at + 1;
}

static const char *skip_members(const char *at, char end, uint32_t depth)
{
    at = skip_blank(at + 1);
    while (*at != end) {
        if (end == '}') {
            at = skip_blank(skip_string(at));
            assert_int_equal(*at, ':');
            at++;
        }
        at = skip_blank(skip_value(at, depth + 1));
        assert_true(*at == ',' || *at == end);
        if (*at == ',') {
            at = skip_blank(at + 1);
            assert_int_not_equal(*at, end);
        }
    }
    return at + 1;
}

static const char *skip_value(const char *at, uint32_t depth)
{
    static const char *const words[] = {"true", "false", "null"};
    assert_true(depth < 16);
    at = skip_blank(at);
    if (*at == '{' || *at == '[') {
        return skip_members(at, *at == '{' ? '}' : ']', depth);
    }
    if (*at == '"') {
        return skip_string(at);
    }
    for (size_t i = 0; i < VY_COUNT_OF(words); i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0) {
            return at + strlen(words[i]);
        }
    }
    char *end;
    assert_true(isfinite(strtod(at, &end)));
    assert_ptr_not_equal(end, at);
    return end;
}

const char *skip_json(const char *text)
{
    return skip_blank(skip_value(text, 0));
}

bool has_no_device(void)
{
    const char *value = getenv("VYRE_TESTS_NO_DEVICE");
    bool none = value && strcmp(value, "1") == 0;
    if (none) {
        print_message("VYRE_TESTS_NO_DEVICE=1: left out what needs a device\n");
    }
    return none;
}

/* See system.h: Windows. The manifest of the tools (tools/cmake/windows.manifest) makes UTF-8 the
 * code page of the functions with A at their end, and of C's. */
#include "tools/common/system.h"

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOGDI
#define NOMINMAX
#include <windows.h>

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* At once, in one call of the C library's. */
#define MOST_AT_ONCE ((size_t)1 << 28)
#define MAX_ATTEMPTS 1000u
#define MAX_COMMAND  32768u

void vy_system_begin(void)
{
    (void)_setmode(_fileno(stdin), _O_BINARY);
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
    (void)SetConsoleOutputCP(CP_UTF8);
}

/* What a terminal shows it takes no escape sequences from before it is told to. */
bool vy_is_terminal(FILE *stream)
{
    HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    DWORD mode;
    if (!_isatty(_fileno(stream)) || !GetConsoleMode(handle, &mode)) {
        return false;
    }
    return stream == stdin || SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

unsigned long vy_process_id(void)
{
    return GetCurrentProcessId();
}

void vy_exit_now(int code)
{
    _exit(code);
}

/* Its clocks go by fifteen milliseconds. */
uint64_t vy_other_threads_ns(void)
{
    return 0;
}

void vy_pause_ns(uint64_t ns)
{
    Sleep((DWORD)(ns / 1000000u + (ns % 1000000u != 0)));
}

static void (*interrupt_call)(int number);

static BOOL WINAPI on_control(DWORD kind)
{
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT) {
        return FALSE;
    }
    interrupt_call(SIGINT);
    return TRUE;
}

void vy_on_interrupt(void (*call)(int number))
{
    interrupt_call = call;
    (void)SetConsoleCtrlHandler(on_control, TRUE);
}

/* ---- Paths and files ------------------------------------------------------------------------- */

vy_file_mark vy_path_look(const char *path)
{
    vy_file_mark mark = {.kind = VY_PATH_NONE};
    BY_HANDLE_FILE_INFORMATION info;
    HANDLE handle = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        return mark;
    }
    mark.kind = VY_PATH_OTHER;
    if (GetFileType(handle) == FILE_TYPE_DISK && GetFileInformationByHandle(handle, &info)) {
        uint64_t time = (uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 |
                        info.ftLastWriteTime.dwLowDateTime; /* in 100 ns */
        mark =
            (vy_file_mark){.kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? VY_PATH_FOLDER
                                                                                    : VY_PATH_FILE,
                           .device = info.dwVolumeSerialNumber,
                           .file = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
                           .size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
                           .changed_s = (int64_t)(time / 10000000u),
                           .changed_ns = (int64_t)(time % 10000000u * 100u)};
    }
    (void)CloseHandle(handle);
    return mark;
}

bool vy_is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* "C:x" and "\x" depend on a drive's folder and on a drive: nothing can stand before them either.
 */
bool vy_path_is_absolute(const char *path)
{
    return vy_is_separator(path[0]) || (path[0] && path[1] == ':');
}

bool vy_folder_make(const char *path)
{
    return _mkdir(path) == 0;
}

bool vy_folder_make_temporary(const char *prefix, char *out_path, size_t size)
{
    char base[MAX_PATH + 1];
    const char *given = getenv("TMPDIR");
    if (!given && (GetTempPathA(sizeof base, base) == 0 || !base[0])) {
        return false;
    }
    for (unsigned attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        int length = snprintf(out_path, size, "%s/%s.%lu-%u", given ? given : base, prefix,
                              vy_process_id(), attempt);
        if (length < 0 || (size_t)length >= size) {
            return false;
        }
        if (_mkdir(out_path) == 0) {
            return true;
        }
        if (errno != EEXIST) {
            return false;
        }
    }
    return false;
}

void vy_folder_remove(const char *path)
{
    (void)_rmdir(path);
}

void vy_file_remove(const char *path)
{
    (void)_unlink(path);
}

bool vy_file_replace(const char *from, const char *to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
        return true;
    }
    errno = EACCES;
    return false;
}

bool vy_file_put(const char *path, bool in_place, const void *data, size_t size, bool *out_made)
{
    const char *at = data;
    int flags = _O_BINARY | _O_WRONLY | (in_place ? 0 : _O_CREAT | _O_EXCL);
    int file = _open(path, flags, _S_IREAD | _S_IWRITE);
    *out_made = file >= 0;
    if (file < 0) {
        return false;
    }
    bool written = true;
    while (size > 0 && written) {
        unsigned part = (unsigned)(size < MOST_AT_ONCE ? size : MOST_AT_ONCE);
        int got = _write(file, at, part);
        written = got > 0;
        at += written ? got : 0;
        size -= written ? (size_t)got : 0;
    }
    int why = errno;
    if (_close(file) != 0 && written) {
        return false;
    }
    errno = why;
    return written;
}

/* ---- Programs -------------------------------------------------------------------------------- */

void *vy_library_open(const char *name)
{
    HMODULE library = GetModuleHandleA(name);
    return library ? (void *)library : (void *)LoadLibraryA(name);
}

bool vy_library_find(void *library, const char *name, void *out_function, size_t size)
{
    FARPROC symbol = GetProcAddress((HMODULE)library, name);
    memcpy(out_function, &symbol, size);
    return symbol != NULL;
}

bool vy_environment_set(const char *name, const char *value)
{
    return _putenv_s(name, value ? value : "") == 0;
}

/* An argument as the C library of the program that is started takes it apart: quoted, backslashes
 * doubled before a quote. */
static void quote(const char *argument, vy_text *out)
{
    size_t backslashes = 0;
    vy_text_append(out, "\"", 1);
    for (const char *at = argument; *at; at++) {
        if (*at == '"') {
            for (size_t i = 0; i <= backslashes; i++) {
                vy_text_append(out, "\\", 1);
            }
        }
        backslashes = *at == '\\' ? backslashes + 1 : 0;
        vy_text_append(out, at, 1);
    }
    for (size_t i = 0; i < backslashes; i++) {
        vy_text_append(out, "\\", 1);
    }
    vy_text_append(out, "\"", 1);
}

int vy_program_run(const char *const *arguments)
{
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    DWORD code = 0;
    vy_text line;
    vy_text_init(&line, NULL);
    for (size_t i = 0; arguments[i]; i++) {
        if (i > 0) {
            vy_text_append(&line, " ", 1);
        }
        quote(arguments[i], &line);
    }
    bool is_fit = !line.failed && line.size < MAX_COMMAND;
    bool is_started = is_fit && CreateProcessA(NULL, line.data, NULL, NULL, TRUE, 0, NULL, NULL,
                                               &start, &process);
    bool is_missing = is_fit && !is_started && GetLastError() == ERROR_FILE_NOT_FOUND;
    vy_text_finish(&line);
    if (!is_started) {
        return is_missing ? 127 : -1;
    }
    bool has_ended = WaitForSingleObject(process.hProcess, INFINITE) == WAIT_OBJECT_0 &&
                     GetExitCodeProcess(process.hProcess, &code);
    (void)CloseHandle(process.hThread);
    (void)CloseHandle(process.hProcess);
    return has_ended && code <= 255 ? (int)code : -1;
}

#endif

/* What the tools need of the system beneath: the one part of them that knows which it is. Paths are
 * UTF-8, and have '/' as a separator everywhere. Thread-safety: external. */
#ifndef VY_SYSTEM_H
#define VY_SYSTEM_H

#include "codegen/base/base.h"

#include <stdio.h>

/* First thing in main: standard streams carry bytes as they are. */
void vy_system_begin(void);
bool vy_is_terminal(FILE *stream);
unsigned long vy_process_id(void);
/* Ends the process without any clean-up: what a signal handler may call. */
void vy_exit_now(int code);
void vy_pause_ns(uint64_t ns);
/* Processor time that the process has used, of all threads but the calling one; 0 where the system
 * does not tell. */
uint64_t vy_other_threads_ns(void);
/* Calls this on control-C; it may run on a thread of its own. */
void vy_on_interrupt(void (*call)(int number));

/* ---- Paths and files ------------------------------------------------------------------------- */

typedef enum vy_path_kind {
    VY_PATH_NONE, /* nothing is there, or it may not be looked at */
    VY_PATH_FILE,
    VY_PATH_FOLDER,
    VY_PATH_OTHER /* devices, pipes */
} vy_path_kind;

/* What tells one state of a file from another. */
typedef struct vy_file_mark {
    vy_path_kind kind;
    uint64_t device, file, size;
    int64_t changed_s, changed_ns;
} vy_file_mark;

vy_file_mark vy_path_look(const char *path);
bool vy_is_separator(char c);
/* What comes after the last separator: all of it where there is none. */
const char *vy_path_last(const char *path);
bool vy_path_is_absolute(const char *path);
/* False with errno set; a folder that is there already is an error. */
bool vy_folder_make(const char *path);
/* One that nobody else has, below TMPDIR or what the system has instead; false where none can be
 * made. */
bool vy_folder_make_temporary(const char *prefix, char *out_path, size_t size);
/* Of an empty folder; nothing happens otherwise. */
void vy_folder_remove(const char *path);
void vy_file_remove(const char *path);
/* `to` is there before and after, the old one or the new one. False with errno set. */
bool vy_file_replace(const char *from, const char *to);
/* Writes all of it, into a new file, or into what is there where `in_place`; *out_made says whether
 * there is one now. False with errno set. */
bool vy_file_put(const char *path, bool in_place, const void *data, size_t size, bool *out_made);

/* ---- Programs -------------------------------------------------------------------------------- */

/* A library that is loaded already, or else the machine's of that name; NULL where there is none.
 * It stays until the process ends. */
void *vy_library_open(const char *name);
/* The function of that name, into a function pointer of that size; false where it has none. */
bool vy_library_find(void *library, const char *name, void *out_function, size_t size);
/* For this process, before anything else runs on another thread; NULL: away with it. False without
 * memory. */
bool vy_environment_set(const char *name, const char *value);
/* Runs a program that is looked for in PATH, with standard streams as they are, and waits for it.
 * Its exit code; 127 where it was not found, -1 where it did not end by itself. */
int vy_program_run(const char *const *arguments);

#endif

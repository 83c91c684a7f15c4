/* Helpers of the tools' tests: files in a folder of their own, and the tools as processes. */
#ifndef VY_TESTS_TOOLS_SUPPORT_H
#define VY_TESTS_TOOLS_SUPPORT_H

#include "codegen/base/base.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

/* Makes a folder of that name below the build folder, unless it is there, and goes into it. */
void enter_folder(const char *name);
void put_file(const char *path, const void *data, size_t size);
void put_text(const char *path, const char *text);
/* The whole file with a zero behind it, freed by free(); NULL where there is none. */
char *get_file(const char *path, size_t *out_size);

/* Runs build/bin/TOOL, or the program of that absolute path, with these arguments (up to a NULL),
 * standard input empty. Returns its exit code, or 1000 + the signal that ended it; what it printed
 * lies in files `out` and `err`. */
int run_tool(const char *tool, ...);
/* The same, without waiting for its end. */
pid_t start_tool(const char *tool, ...);
/* Sends the signal, where it is not 0, and waits; the code is as run_tool gives it. */
int end_tool(pid_t tool, int signal);
/* Waits until the file has the text; fails after half a minute. */
void wait_for_text(const char *path, const char *text);
/* The same on a terminal of its own: `keys` are typed when `when` has been shown, NULL: at once.
 * All that is shown, the keys and the standard error too, lies in `out`, where a line ends in
 * "\r\n". */
int run_on_terminal(const char *when, const char *keys, const char *tool, ...);
/* The text is in the file; is not. */
void assert_file_has(const char *path, const char *text);
void assert_file_lacks(const char *path, const char *text);
/* Runs the tool, wants the code, and the text in `err`. */
void assert_fails(int wanted_code, const char *wanted_text, int code);

/* Behind the JSON value that `text` begins with, and blanks; fails where that is none. */
const char *skip_json(const char *text);

/* VYRE_TESTS_NO_DEVICE=1: tests that need a device are left out, and say so. */
bool has_no_device(void);

#endif

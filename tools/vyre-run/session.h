/* One program of vyre-run, from its file to its results; what runs it looks on from elsewhere. */
#ifndef VYRE_RUN_SESSION_H
#define VYRE_RUN_SESSION_H

#include "tools/common/open.h"
#include "tools/vyre-run/capture.h"
#include "tools/vyre-run/command.h"
#include "tools/vyre-run/trace.h"

typedef struct session {
    command *command;
    FILE *out, *err;
    vy_source source;
    vy_run_data data;
    vy_run_result reference, on_device;
    vyre_device *device;
    vy_device_program ready;
    outcome outcome;
    trace trace;
    vy_progress progress;
    vy_lines lines, reference_lines; /* with --printf: the device's, the interpreter's */
    capture capture;
} session;

/* Reads and parses the program and makes its arrays. */
vyre_result session_begin(session *s, command *c, FILE *out, FILE *err, vyre_diag *diag);
/* Opens the device and makes the program ready for it, if that has not been done. */
vyre_result session_open(session *s, vyre_diag *diag);
/* Prints the error. Gives VY_EXIT_FAILED, or VY_EXIT_INTERRUPTED. */
int session_fail(const session *s, const vyre_diag *diag);
/* In every case, at the end. */
void session_finish(session *s);

/* The device's state behind that part of a run. Programs with `scratch keep` get a pipeline of
 * their own each time: what they keep would be that of the part before. */
vyre_result session_run_prefix(session *s, vy_prefix prefix, vy_run_result *result,
                               vyre_report *out_report, vyre_diag *diag);
/* The interpreter, as the device is. */
vy_reference session_reference(const session *s);

/* The segment executions of a pass. `arena` holds them. */
vyre_result session_schedule(const session *s, vy_arena *arena, vy_interp_place **out_list,
                             uint32_t *out_count, vyre_diag *diag);
/* "segment 1 (execution 4 of 9, line 12)": executions are named where they are not the segments. */
void session_place_text(const vy_interp_place *place, char *out, size_t size);
/* The declaration of a binding. */
uint32_t session_buffer(const session *s, uint32_t binding);
/* An element's value: "1.5". */
void session_element_text(const vy_run_buffer *buffer, const void *elements, size_t index,
                          char out[static 256]);
/* The source's line of that number, where there is a text: "  12 | ...".
 */
void session_print_line(const session *s, uint32_t line);

/* --step, before the run itself; *out_has_quit: the user wants no more. */
vyre_result session_step(session *s, bool *out_has_quit, vyre_diag *diag);

/* Prints a record of an access out of bounds: where, what, which element where the interpreter
 * knows it. *result is the run's. */
void session_print_outside(session *s, const vy_run_result *result, FILE *err);

int run_bisect(command *c, FILE *out, FILE *err);

#endif

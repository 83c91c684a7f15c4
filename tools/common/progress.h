/* How far long work is, on a terminal. */
#ifndef VY_PROGRESS_H
#define VY_PROGRESS_H

#include "codegen/base/base.h"

#include <stdio.h>

typedef struct vy_progress {
    FILE *stream;        /* NULL: silent */
    const char *label;   /* what is at work: "device" */
    const char *context; /* what that is done for, or NULL: "bisect, run 7" */
    uint64_t begin_ns, shown_ns;
    bool is_shown;
} vy_progress;

/* Silent where the stream is no terminal. */
void vy_progress_init(vy_progress *progress, FILE *stream);
/* `label` stays the caller's. */
void vy_progress_begin(vy_progress *progress, const char *label);
/* `done` of `total` units ("pass"), 0 where nobody knows; shown from half a second on, a few times
 * a second. `is_limit`: it may end before the total. */
void vy_progress_show(vy_progress *progress, double done, double total, const char *unit,
                      bool is_limit);
/* Takes the line away. */
void vy_progress_end(vy_progress *progress);

#endif

/* --capture: what a run submits, as a file of RenderDoc's. */
#ifndef VYRE_RUN_CAPTURE_H
#define VYRE_RUN_CAPTURE_H

#include "codegen/base/base.h"

typedef struct capture {
    const char *path;  /* the file that is asked for; NULL: none is */
    void *library;     /* librenderdoc; stays loaded, since its layer is */
    const void *calls; /* its table of functions */
    uint32_t count;    /* captures that there were before */
} capture;

/* Loads RenderDoc, before anything else of Vulkan is: the device must be opened with its layer.
 * Nothing where path is NULL. Errors: UNSUPPORTED_FEATURE where it is not installed or too old. */
vyre_result capture_open(capture *c, const char *path, vyre_diag *diag);
/* All that is submitted in between is captured. Nothing without a path. Errors: IO. */
vyre_result capture_begin(capture *c, vyre_diag *diag);
/* The file is there under its name afterwards. Errors: IO. */
vyre_result capture_end(capture *c, vyre_diag *diag);

#endif

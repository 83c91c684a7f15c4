/* Dispatches that end early: for debuggers. Includes nothing of the engine's inside, so that tools
 * may have it beside the IR. */
#ifndef VY_PREFIX_H
#define VY_PREFIX_H

#include "vyre/dispatch.h"

/* As vyre_dispatch, but of the last of params->passes passes only the first `executions` segment
 * executions are run, in the order of the text; 0, or as many as there are: all. Always by replay.
 * Passes, convergence and what was executed are reported as of whole passes. */
VYRE_CHECK vyre_result vy_dispatch_prefix(vyre_pipeline *pipeline,
                                          const vyre_dispatch_params *params, uint32_t executions,
                                          vyre_report *out_report, vyre_diag *diag);

#endif

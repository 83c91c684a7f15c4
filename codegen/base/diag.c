/* Filling of diagnostics. */
#include "codegen/base/base.h"

#include <stdio.h>

void vy_diag_clear(vyre_diag *diag)
{
    /* The ends of the texts stay as they are: every call of the library comes by here. */
    if (diag) {
        diag->code = VYRE_OK;
        diag->line = diag->column = 0;
        diag->segment = diag->pass = diag->binding = VYRE_DIAG_NONE;
        diag->vk_result = 0;
        diag->file[0] = diag->message[0] = 0;
    }
}

vyre_result vy_diag_setv(vyre_diag *diag, vyre_result code, vy_loc loc, const char *format,
                         va_list arguments)
{
    if (diag) {
        diag->code = code;
        diag->line = loc.line;
        diag->column = loc.column;
        vsnprintf(diag->message, sizeof diag->message, format, arguments);
    }
    return code;
}

vyre_result vy_diag_set(vyre_diag *diag, vyre_result code, vy_loc loc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vyre_result result = vy_diag_setv(diag, code, loc, format, arguments);
    va_end(arguments);
    return result;
}

vyre_result vy_diag_no_memory(vyre_diag *diag)
{
    return vy_diag_set(diag, VYRE_ERROR_OUT_OF_HOST_MEMORY, (vy_loc){0, 0},
                       "the host has no memory left for this call. Fix: free memory and call "
                       "again, or give an allocator with more");
}

/* Checks that every part of the protocol begins with. */
#include "engine/megakernel/words.h"

vyre_result vy_mk_check_memory(const void *memory, size_t size, size_t unit, const char *what,
                               vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (size % unit != 0) {
        return vy_diag_set(
            diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
            "%zu bytes are not %s, which has a multiple of %zu. Fix: pass all of it, "
            "and nothing else",
            size, what, unit);
    }
    if (size > 0 && !memory) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the memory of %s is NULL. Fix: pass %zu bytes", what, size);
    }
    if ((uintptr_t)memory % 4 != 0) {
        return vy_diag_set(
            diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
            "the memory of %s is not aligned to 4 bytes. Fix: copy it to where it is", what);
    }
    return VYRE_OK;
}

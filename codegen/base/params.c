/* Parameter structs of callers that were compiled with another version of the headers. */
#include "codegen/base/base.h"

#include <string.h>

vyre_result vy_params_read_raw(void *out, size_t size, size_t first_size, const void *given,
                               const char *type, vyre_diag *diag)
{
    uint32_t own = (uint32_t)size, said = 0;
    memset(out, 0, size);
    if (given) {
        memcpy(&said, given, sizeof said);
        size_t length = said ? said : first_size;
        if (length < first_size) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "%s.struct_size is %u, and the struct never had fewer than %u "
                               "bytes. Fix: call %s_init, or set it to sizeof(%s)",
                               type, (unsigned)said, (unsigned)first_size, type, type);
        }
        const unsigned char *bytes = given;
        for (size_t i = size; i < length; i++) {
            if (bytes[i]) {
                return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                                   "%s has %u bytes, of which this library knows %u, and byte %u "
                                   "is not zero. Fix: leave new members at their default, or use a "
                                   "newer library",
                                   type, (unsigned)said, (unsigned)size, (unsigned)i);
            }
        }
        memcpy(out, given, length < size ? length : size);
    }
    memcpy(out, &own, sizeof own);
    return VYRE_OK;
}

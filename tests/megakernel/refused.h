/* What a refusal of the protocol must be: its code, in the diagnostic too, one sentence that has
 * the texts asked for, and what to do. */
#ifndef VY_TEST_MEGAKERNEL_REFUSED_H
#define VY_TEST_MEGAKERNEL_REFUSED_H

#include "vyre/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* `parts`: texts parted by '|' that the message has. */
static inline void check_refused(vyre_result got, vyre_result wanted, const vyre_diag *diag,
                                 const char *parts, const char *file, int line)
{
    const char *fix = strstr(diag->message, "Fix: ");
    if (got != wanted || diag->code != wanted || !fix || fix[5] == 0) {
        print_message("%s, told as %s: %s\n", vyre_result_name(got), vyre_result_name(diag->code),
                      diag->message);
        _fail(file, line);
    }
    while (*parts) {
        char part[128];
        size_t length = strcspn(parts, "|");
        _assert_true(length < sizeof part, "a part is short", file, line);
        memcpy(part, parts, length);
        part[length] = 0;
        if (!strstr(diag->message, part)) {
            print_message("no \"%s\" in: %s\n", part, diag->message);
            _fail(file, line);
        }
        parts += length + (parts[length] == '|');
    }
}

#define assert_refused(got, wanted, diag, parts)                                                   \
    check_refused((got), VYRE_ERROR_##wanted, (diag), (parts), __FILE__, __LINE__)

#endif

/* Texts and names of results. */
#include "codegen/base/base.h"

const char *vyre_result_text(vyre_result result)
{
    switch (result) {
#define VYRE_X(name, number, text, next)                                                           \
    case VYRE_##name:                                                                              \
        return text;
        VYRE_RESULTS(VYRE_X)
#undef VYRE_X
    }
    return "unknown result";
}

/* Names are given without the ERROR_ of the enumerator. */
static const char *without_prefix(const char *name)
{
    const char *prefix = "ERROR_";
    for (size_t i = 0; prefix[i]; i++) {
        if (name[i] != prefix[i]) {
            return name;
        }
    }
    return name + 6;
}

const char *vyre_result_name(vyre_result result)
{
    switch (result) {
#define VYRE_X(name, number, text, next)                                                           \
    case VYRE_##name:                                                                              \
        return without_prefix(#name);
        VYRE_RESULTS(VYRE_X)
#undef VYRE_X
    }
    return "UNKNOWN";
}

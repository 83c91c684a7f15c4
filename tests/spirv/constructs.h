/* One segment for each construct, shared by the golden test and by the tests that scan all modules.
 */
#ifndef VY_TESTS_CONSTRUCTS_H
#define VY_TESTS_CONSTRUCTS_H

#include "form.h"

typedef struct construct {
    const char *name;
    void (*build)(form *f);
} construct;

extern const construct constructs[];
extern const uint32_t construct_count;

/* Begins the form of that name, which must be there; it is not emitted yet. */
void construct_begin(form *f, const char *name);

#endif

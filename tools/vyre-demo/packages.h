/* Debian's lists of packages (`apt-cache dumpavail`, /var/lib/dpkg/status, a Packages file): names,
 * what each package depends on, and what it provides. */
#ifndef VYRE_DEMO_PACKAGES_H
#define VYRE_DEMO_PACKAGES_H

#include "codegen/base/base.h"

/* One clause of Depends or Pre-Depends: at least one of its alternatives must be there. */
typedef struct clause_info {
    uint32_t first, count; /* entries of alternatives */
} clause_info;

typedef struct package_info {
    uint32_t name;
    uint32_t first_clause, clause_count;
    uint32_t first_provided, provided_count;
} package_info;

/* Names are numbers; a name may be of a package, of something provided, or of nothing there. */
typedef struct packages {
    vy_arena arena;
    VY_VEC(const char *) names;
    VY_VEC(uint32_t) owner;    /* by name: its package + 1, or 0 */
    VY_VEC(package_info) list; /* in the order of the file; entry i is package i */
    VY_VEC(clause_info) clauses;
    VY_VEC(uint32_t) alternatives; /* names */
    VY_VEC(uint32_t) provided;     /* names */
    uint32_t *slots;               /* hash table of names */
    uint32_t slot_count;
    uint32_t repeated;      /* stanzas of a name that was there already: the first one counts */
    uint32_t not_installed; /* stanzas that say so in their Status */
} packages;

/* Reads stanzas, whatever they hold: lines that are no fields and stanzas without a name are passed
 * over, versions, architectures and build profiles are left out. Errors: OUT_OF_HOST_MEMORY, and
 * INVALID_ARGUMENT where there are more than 2^31 of anything. */
vyre_result packages_parse(const char *text, size_t size, packages *out_packages, vyre_diag *diag);
void packages_finish(packages *p);
/* The number of a name, or UINT32_MAX. */
uint32_t packages_find_name(const packages *p, const char *name, size_t length);

#endif

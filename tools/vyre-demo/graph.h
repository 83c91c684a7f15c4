/* The question "what breaks when a package goes away" as arrays for a program: package -> clauses
 * -> packages that satisfy them. */
#ifndef VYRE_DEMO_GRAPH_H
#define VYRE_DEMO_GRAPH_H

#include "tools/vyre-demo/packages.h"

#define LEVEL_NONE UINT32_MAX

typedef struct graph {
    uint32_t package_count, clause_count, alternative_count;
    uint32_t *clause_start;      /* package_count + 1: a package's clauses */
    uint32_t *alternative_start; /* clause_count + 1: a clause's alternatives */
    uint32_t *alternatives;      /* packages, each once in a clause */
    uint32_t unsatisfiable;      /* clauses left out: nothing that is there satisfies them */
    uint32_t own;                /* clauses left out: the package satisfies them itself */
} graph;

/* An alternative stands for the package of that name and for all that provide it. Errors:
 * OUT_OF_HOST_MEMORY; INVALID_ARGUMENT over 2^26 alternatives. */
vyre_result graph_make(const packages *p, graph *out_graph, vyre_diag *diag);
void graph_finish(graph *g);

/* Sets level, one entry a package, to 0 for what goes away and LEVEL_NONE for all others: the
 * package of that name, or, where there is none, all that provide it. Returns how many go away. */
uint32_t graph_remove(const packages *p, const char *name, uint32_t *level);

#endif

/* Names become packages here: providers are found, clauses that mean nothing are left out. */
#include "tools/vyre-demo/graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ALTERNATIVES (1u << 26)

typedef struct maker {
    const packages *p;
    graph *g;
    uint32_t *provider_start; /* by name, names + 1 */
    uint32_t *providers;      /* packages */
    uint32_t *seen;           /* by package: the clause that it was added to last, + 1 */
    uint32_t capacity;
} maker;

/* ---- Providers ------------------------------------------------------------------------------- */

static bool find_providers(maker *m)
{
    const packages *p = m->p;
    m->provider_start = calloc((size_t)p->names.count + 2, sizeof *m->provider_start);
    m->providers = calloc((size_t)p->provided.count + 1, sizeof *m->providers);
    if (!m->provider_start || !m->providers) {
        return false;
    }
    /* Counts two places on, so that after filling, start[n] is where name n begins. */
    uint32_t *next = m->provider_start + 1;
    for (uint32_t i = 0; i < p->provided.count; i++) {
        if (p->provided.data[i] + 1 < p->names.count) {
            next[p->provided.data[i] + 1]++;
        }
    }
    for (uint32_t n = 1; n < p->names.count; n++) {
        next[n] += next[n - 1];
    }
    for (uint32_t i = 0; i < p->list.count; i++) {
        const package_info *package = &p->list.data[i];
        for (uint32_t k = 0; k < package->provided_count; k++) {
            uint32_t name = p->provided.data[package->first_provided + k];
            m->providers[next[name]++] = i;
        }
    }
    return true;
}

/* ---- Clauses --------------------------------------------------------------------------------- */

static bool reserve(maker *m)
{
    graph *g = m->g;
    if (g->alternative_count < m->capacity) {
        return true;
    }
    uint32_t capacity = m->capacity ? m->capacity * 2 : 1 << 16;
    uint32_t *grown = realloc(g->alternatives, (size_t)capacity * sizeof *grown);
    if (!grown) {
        return false;
    }
    g->alternatives = grown;
    m->capacity = capacity;
    return true;
}

static bool add_alternative(maker *m, uint32_t package)
{
    graph *g = m->g;
    if (m->seen[package] == g->clause_count + 1) {
        return true;
    }
    m->seen[package] = g->clause_count + 1;
    if (g->alternative_count >= MAX_ALTERNATIVES || !reserve(m)) {
        return false;
    }
    g->alternatives[g->alternative_count++] = package;
    return true;
}

static bool add_name(maker *m, uint32_t name)
{
    uint32_t owner = m->p->owner.data[name];
    if (owner && !add_alternative(m, owner - 1)) {
        return false;
    }
    for (uint32_t i = m->provider_start[name]; i < m->provider_start[name + 1]; i++) {
        if (!add_alternative(m, m->providers[i])) {
            return false;
        }
    }
    return true;
}

static bool add_clause(maker *m, uint32_t package, const clause_info *c)
{
    graph *g = m->g;
    uint32_t start = g->alternative_count;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!add_name(m, m->p->alternatives.data[c->first + i])) {
            return false;
        }
    }
    bool is_own = m->seen[package] == g->clause_count + 1;
    if (is_own || g->alternative_count == start) {
        g->own += is_own;
        g->unsatisfiable += !is_own;
        for (uint32_t i = start; i < g->alternative_count; i++) {
            m->seen[g->alternatives[i]] = 0;
        }
        g->alternative_count = start;
        return true;
    }
    g->alternative_start[++g->clause_count] = g->alternative_count;
    return true;
}

static bool add_all(maker *m)
{
    graph *g = m->g;
    for (uint32_t i = 0; i < m->p->list.count; i++) {
        const package_info *package = &m->p->list.data[i];
        for (uint32_t k = 0; k < package->clause_count; k++) {
            if (!add_clause(m, i, &m->p->clauses.data[package->first_clause + k])) {
                return false;
            }
        }
        g->clause_start[i + 1] = g->clause_count;
    }
    return true;
}

static bool make(maker *m)
{
    const packages *p = m->p;
    graph *g = m->g;
    g->package_count = p->list.count;
    g->clause_start = calloc((size_t)p->list.count + 1, sizeof *g->clause_start);
    g->alternative_start = calloc((size_t)p->clauses.count + 1, sizeof *g->alternative_start);
    m->seen = calloc((size_t)p->list.count + 1, sizeof *m->seen);
    return g->clause_start && g->alternative_start && m->seen && reserve(m) && find_providers(m) &&
           add_all(m);
}

vyre_result graph_make(const packages *p, graph *out_graph, vyre_diag *diag)
{
    *out_graph = (graph){0};
    maker m = {.p = p, .g = out_graph};
    bool made = make(&m);
    bool too_many = out_graph->alternative_count >= MAX_ALTERNATIVES;
    free(m.provider_start);
    free(m.providers);
    free(m.seen);
    if (made) {
        return VYRE_OK;
    }
    graph_finish(out_graph);
    if (too_many) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the lists have more than 2^26 alternatives with all providers. Fix: "
                           "give shorter lists");
    }
    return vy_diag_no_memory(diag);
}

void graph_finish(graph *g)
{
    free(g->clause_start);
    free(g->alternative_start);
    free(g->alternatives);
    *g = (graph){0};
}

/* ---- The question ---------------------------------------------------------------------------- */

static bool provides(const packages *p, const package_info *package, uint32_t name)
{
    for (uint32_t k = 0; k < package->provided_count; k++) {
        if (p->provided.data[package->first_provided + k] == name) {
            return true;
        }
    }
    return false;
}

uint32_t graph_remove(const packages *p, const char *name, uint32_t *level)
{
    uint32_t number = packages_find_name(p, name, strlen(name)), removed = 0;
    uint32_t owner = number != UINT32_MAX ? p->owner.data[number] : 0;
    for (uint32_t i = 0; i < p->list.count; i++) {
        bool goes =
            owner ? i == owner - 1 : number != UINT32_MAX && provides(p, &p->list.data[i], number);
        level[i] = goes ? 0 : LEVEL_NONE;
        removed += goes;
    }
    return removed;
}

/* shaders/package_closure.vyre on the package lists of this machine, against an oracle in plain C
 * that works differently: it counts, for each clause, the alternatives that still stand, and goes
 * from what broke to the clauses that it was in. Levels of libc6, perl-base, libssl3 and 50
 * packages by seed. */
#include "tests/tools/support.h"
#include "tools/common/open.h"
#include "tools/common/run.h"
#include "tools/vyre-demo/closure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED            20240229u
#define RANDOM_PACKAGES 50
/* The interpreter is asked for these many of them. */
#define INTERPRETED 6

typedef struct world {
    packages packages;
    graph graph;
    vy_source source;
    vyre_device *device;
    closure closure;
    uint32_t *got, *wanted;
} world;

/* ---- Oracle ---------------------------------------------------------------------------------- */

typedef struct oracle {
    const graph *g;
    uint32_t *owner;     /* by clause */
    uint32_t *standing;  /* by clause */
    uint32_t *use_start; /* by package: the clauses that it is in */
    uint32_t *uses;
    uint32_t *queue;
} oracle;

static uint32_t *words(size_t count)
{
    uint32_t *memory = calloc(count + 1, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static oracle oracle_make(const graph *g)
{
    oracle o = {.g = g,
                .owner = words(g->clause_count),
                .standing = words(g->clause_count),
                .use_start = words((size_t)g->package_count + 1),
                .uses = words(g->alternative_count),
                .queue = words(g->package_count)};
    for (uint32_t p = 0; p < g->package_count; p++) {
        for (uint32_t c = g->clause_start[p]; c < g->clause_start[p + 1]; c++) {
            o.owner[c] = p;
        }
    }
    for (uint32_t a = 0; a < g->alternative_count; a++) {
        o.use_start[g->alternatives[a] + 1]++;
    }
    for (uint32_t p = 0; p < g->package_count; p++) {
        o.use_start[p + 1] += o.use_start[p];
    }
    uint32_t *next = words(g->package_count);
    memcpy(next, o.use_start, (size_t)g->package_count * sizeof *next);
    for (uint32_t c = 0; c < g->clause_count; c++) {
        for (uint32_t a = g->alternative_start[c]; a < g->alternative_start[c + 1]; a++) {
            o.uses[next[g->alternatives[a]]++] = c;
        }
    }
    free(next);
    return o;
}

static void oracle_finish(oracle *o)
{
    free(o->owner);
    free(o->standing);
    free(o->use_start);
    free(o->uses);
    free(o->queue);
}

/* First in, first out: whatever breaks in round r + 1 is found while round r leaves the queue.
 * Returns the number of rounds in which something broke. */
static uint32_t oracle_run(oracle *o, uint32_t *level)
{
    const graph *g = o->g;
    uint32_t count = 0, rounds = 0;
    for (uint32_t c = 0; c < g->clause_count; c++) {
        o->standing[c] = g->alternative_start[c + 1] - g->alternative_start[c];
    }
    for (uint32_t p = 0; p < g->package_count; p++) {
        if (level[p] == 0) {
            o->queue[count++] = p;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t p = o->queue[at];
        rounds = level[p] > rounds ? level[p] : rounds;
        for (uint32_t u = o->use_start[p]; u < o->use_start[p + 1]; u++) {
            uint32_t c = o->uses[u], owner = o->owner[c];
            if (--o->standing[c] == 0 && level[owner] == LEVEL_NONE) {
                level[owner] = level[p] + 1;
                o->queue[count++] = owner;
            }
        }
    }
    return rounds;
}

/* ---- The machine's lists --------------------------------------------------------------------- */

static void read_lists(packages *p)
{
    char *text = NULL;
    size_t size = 0;
    vyre_diag diag;
    FILE *stream = popen("apt-cache dumpavail 2>/dev/null", "r");
    if (stream) {
        (void)!vy_stream_read(stream, "apt-cache", (size_t)1 << 31, &text, &size, &diag);
        pclose(stream);
    }
    if (size == 0) {
        free(text);
        assert_int_equal(vy_file_read("/var/lib/dpkg/status", (size_t)1 << 31, &text, &size, &diag),
                         VYRE_OK);
    }
    assert_int_equal(packages_parse(text, size, p, &diag), VYRE_OK);
    free(text);
    print_message("%u packages\n", p->list.count);
    assert_true(p->list.count > 10);
}

static int make_world(void **state)
{
    static const char path[] = VYRE_SOURCE_DIR "/shaders/package_closure.vyre";
    vyre_diag diag;
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    *state = w;
    read_lists(&w->packages);
    assert_int_equal(graph_make(&w->packages, &w->graph, &diag), VYRE_OK);
    w->got = words(w->graph.package_count);
    w->wanted = words(w->graph.package_count);
    if (vy_source_read(path, &w->source, &diag) != VYRE_OK ||
        vy_source_parse(&w->source, &diag) != VYRE_OK) {
        print_error("%s\n", diag.message);
        return -1;
    }
    if (!has_no_device()) {
        if (vy_open_device(NULL, VYRE_VALIDATION_DEFAULT, stderr, &w->device, &diag) != VYRE_OK ||
            closure_create(w->device, w->source.program, &w->closure, &diag) != VYRE_OK) {
            print_error("%s\n", diag.message);
            return -1;
        }
    }
    return 0;
}

static int end_world(void **state)
{
    world *w = *state;
    closure_destroy(&w->closure);
    vyre_device_destroy(&w->device);
    vy_source_finish(&w->source);
    graph_finish(&w->graph);
    packages_finish(&w->packages);
    free(w->got);
    free(w->wanted);
    free(w);
    return 0;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static void assert_levels(const world *w, const char *name, const closure_result *result,
                          uint32_t rounds, const char *who)
{
    for (uint32_t i = 0; i < w->graph.package_count; i++) {
        if (w->got[i] != w->wanted[i]) {
            fail_msg("without %s, %s breaks in %u on the %s, in %u for the oracle (seed %u)", name,
                     w->packages.names.data[w->packages.list.data[i].name], w->got[i], who,
                     w->wanted[i], SEED);
        }
    }
    /* One pass more finds that nothing breaks any more. */
    assert_int_equal(result->passes, rounds + 1);
    assert_int_equal(result->convergence, VYRE_CONVERGENCE_YES);
}

static void check_package(world *w, oracle *o, const char *name, bool interpret)
{
    vyre_diag diag = {0};
    closure_result result = {.level = w->got};
    if (graph_remove(&w->packages, name, w->wanted) == 0) {
        print_message("%s is not in the lists\n", name);
        return;
    }
    uint32_t rounds = oracle_run(o, w->wanted);
    if (w->device) {
        assert_true(graph_remove(&w->packages, name, w->got) > 0);
        if (closure_run(&w->closure, &w->graph, &result, &diag) != VYRE_OK) {
            fail_msg("%s: %s", name, diag.message);
        }
        assert_levels(w, name, &result, rounds, "device");
    }
    if (interpret) {
        assert_true(graph_remove(&w->packages, name, w->got) > 0);
        if (closure_interpret(w->source.program, &w->graph, &result, &diag) != VYRE_OK) {
            fail_msg("%s: %s", name, diag.message);
        }
        assert_levels(w, name, &result, rounds, "interpreter");
    }
}

static void test_package_closure_of_known_packages(void **state)
{
    static const char *const names[] = {"libc6", "perl-base", "libssl3"};
    world *w = *state;
    oracle o = oracle_make(&w->graph);
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        check_package(w, &o, names[i], true);
    }
    /* libc6 is in every list, and nearly everything needs it. */
    assert_true(graph_remove(&w->packages, "libc6", w->wanted) == 1);
    assert_true(oracle_run(&o, w->wanted) >= 2);
    oracle_finish(&o);
}

static void test_package_closure_of_random_packages(void **state)
{
    world *w = *state;
    oracle o = oracle_make(&w->graph);
    uint64_t bits = SEED;
    for (int i = 0; i < RANDOM_PACKAGES; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        uint32_t package = (uint32_t)((bits >> 32) * w->graph.package_count >> 32);
        const char *name = w->packages.names.data[w->packages.list.data[package].name];
        check_package(w, &o, name, i < INTERPRETED);
    }
    oracle_finish(&o);
}

/* The oracle itself, on a graph small enough to see. */
static void test_package_closure_oracle_on_a_small_graph(void **state)
{
    (void)state;
    static const char text[] =
        "Package: a\n\nPackage: b\nDepends: a\n\nPackage: c\nDepends: a | d\n\n"
        "Package: d\nDepends: b\n\nPackage: e\nDepends: a | f\n\nPackage: f\n";
    static const uint32_t wanted[] = {0, 1, 3, 2, LEVEL_NONE, LEVEL_NONE};
    packages p;
    graph g;
    uint32_t level[6];
    assert_int_equal(packages_parse(text, sizeof text - 1, &p, NULL), VYRE_OK);
    assert_int_equal(graph_make(&p, &g, NULL), VYRE_OK);
    assert_int_equal(graph_remove(&p, "a", level), 1);
    oracle o = oracle_make(&g);
    assert_int_equal(oracle_run(&o, level), 3);
    assert_memory_equal(level, wanted, sizeof wanted);
    oracle_finish(&o);
    graph_finish(&g);
    packages_finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_package_closure_oracle_on_a_small_graph),
        cmocka_unit_test(test_package_closure_of_known_packages),
        cmocka_unit_test(test_package_closure_of_random_packages),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}

/* Programs of shaders/ against hand-written GLSL of the same interface, run by a Vulkan program
 * that shares nothing with the library: element by element the same on the same inputs. */
#include "tests/engine/glsl_host.h"
#include "tests/support/differential.h"
#include "tests/support/oracle_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_STEPS 16u
/* Sizes from none to a grid of more workgroups than a dimension surely holds. */
static const uint32_t sizes[] = {0, 1, 255, 256, 257, 4095, 4096, 4097, 65537, 1000003};
#define FOLDED_SIZE (65535u * 256u + 1u)

typedef struct fixture {
    vyre_device *device;
    vy_glsl_host *host;
} fixture;

static bool is_without_device(void)
{
    return getenv("VYRE_TESTS_NO_DEVICE") != NULL;
}

/* What cannot be opened stays NULL, and the tests fail: a group's set-up that fails need not count.
 */
static int open_both(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (f && !is_without_device()) {
        f->device = vy_test_device();
    }
    if (f && f->device) {
        vyre_device_info info;
        vyre_device_get_info(f->device, &info);
        f->host = vy_glsl_host_create(info.name);
    }
    *state = f;
    return 0;
}

static int close_both(void **state)
{
    fixture *f = *state;
    if (f) {
        vy_glsl_host_destroy(&f->host);
        vyre_device_destroy(&f->device);
    }
    free(f);
    *state = NULL;
    return 0;
}

static uint32_t groups_of(uint32_t count)
{
    return count / 256 + (count % 256 != 0);
}

static void fill(const vy_glsl_program *twin, uint32_t binding, const vy_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const vy_slot *slot = &c->slots[i];
        if (strcmp(slot->name, name) == 0) {
            memcpy(vy_glsl_program_words(twin, binding), slot->in,
                   (size_t)slot->count * sizeof *slot->in);
        }
    }
}

/* ---- Twins: the steps that their host takes -------------------------------------------------- */

/* How a twin is fed and read, by program. Runs the twin and leaves its results in `result`. */
typedef struct twin {
    vy_subject subject;
    const char *result;
    uint32_t result_binding, buffer_count;
    void (*count_words)(vy_case *c, uint32_t out_counts[VY_GLSL_MAX_BUFFERS]);
    bool (*run)(vy_glsl_program *program, vy_case *c);
} twin;

static uint32_t sums_count(uint32_t count)
{
    return count / 256 + count / 65536 + count / 16777216 + 4;
}

static void count_bfs(vy_case *c, uint32_t out_counts[VY_GLSL_MAX_BUFFERS])
{
    out_counts[0] = c->size + 1;
    out_counts[1] = vy_case_find(c, "column")->count;
    out_counts[2] = c->size;
    out_counts[3] = 1;
}

static bool run_bfs(vy_glsl_program *program, vy_case *c)
{
    uint32_t *changed = vy_glsl_program_words(program, 3);
    fill(program, 0, c, "row_start");
    fill(program, 1, c, "column");
    fill(program, 2, c, "level");
    for (uint32_t pass = 0; pass <= c->size; pass++) {
        vy_glsl_step step = {.groups = groups_of(c->size), .count = c->size, .a = pass};
        changed[0] = 0;
        if (!vy_glsl_program_run(program, &step, 1)) {
            return false;
        }
        if (changed[0] == 0) {
            return pass + 1 == c->passes_expected;
        }
    }
    return false;
}

static void count_histogram(vy_case *c, uint32_t out_counts[VY_GLSL_MAX_BUFFERS])
{
    out_counts[0] = c->size;
    out_counts[1] = 256;
}

/* Workgroups of 4096 elements at a time. */
static uint32_t tile_groups_of(uint32_t count, uint32_t most)
{
    uint32_t tiles = count / 4096 + 1;
    return tiles < most ? tiles : most;
}

static bool run_histogram(vy_glsl_program *program, vy_case *c)
{
    vy_glsl_step step = {.groups = tile_groups_of(c->size, 528), .count = c->size};
    fill(program, 0, c, "x");
    return vy_glsl_program_run(program, &step, 1);
}

static void count_scan(vy_case *c, uint32_t out_counts[VY_GLSL_MAX_BUFFERS])
{
    out_counts[0] = c->size;
    out_counts[1] = c->size;
    out_counts[2] = tile_groups_of(c->size, 1056);
}

static bool run_scan(vy_glsl_program *program, vy_case *c)
{
    vy_glsl_step steps[2];
    steps[0] = (vy_glsl_step){.groups = tile_groups_of(c->size, 1056), .count = c->size};
    steps[1] = steps[0];
    steps[1].phase = 1;
    fill(program, 0, c, "x");
    return vy_glsl_program_run(program, steps, 2);
}

static void count_reduce(vy_case *c, uint32_t out_counts[VY_GLSL_MAX_BUFFERS])
{
    out_counts[0] = c->size;
    out_counts[1] = 1;
    out_counts[2] = sums_count(c->size);
}

static bool run_reduce(vy_glsl_program *program, vy_case *c)
{
    vy_glsl_step steps[MAX_STEPS], up;
    uint32_t count = 1;
    steps[0] = up = (vy_glsl_step){.groups = groups_of(c->size), .count = c->size};
    while (up.groups > 1) {
        up = (vy_glsl_step){.groups = groups_of(up.groups),
                            .count = up.groups,
                            .phase = 1,
                            .a = up.b,
                            .b = up.b + up.groups};
        steps[count++] = up;
    }
    fill(program, 0, c, "x");
    return vy_glsl_program_run(program, steps, count);
}

static void count_life(vy_case *c, uint32_t out_counts[VY_GLSL_MAX_BUFFERS])
{
    out_counts[0] = c->grid_elements;
    out_counts[1] = c->grid_elements;
}

static bool run_life(vy_glsl_program *program, vy_case *c)
{
    fill(program, 0, c, "cells");
    for (uint32_t g = 0; g < c->passes; g++) {
        vy_glsl_step steps[2];
        steps[0] = (vy_glsl_step){
            .groups = groups_of(c->grid_elements), .count = c->grid_elements, .a = c->params[0]};
        steps[1] = steps[0];
        steps[1].phase = 1;
        if (!vy_glsl_program_run(program, steps, 2)) {
            return false;
        }
    }
    return true;
}

static const twin twins[] = {
    {VY_SUBJECT_BFS, "level", 2, 4, count_bfs, run_bfs},
    {VY_SUBJECT_HISTOGRAM, "bins", 1, 2, count_histogram, run_histogram},
    {VY_SUBJECT_SCAN, "y", 1, 3, count_scan, run_scan},
    {VY_SUBJECT_REDUCE, "total", 1, 3, count_reduce, run_reduce},
    {VY_SUBJECT_LIFE, "cells", 0, 2, count_life, run_life},
};

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool compare(const twin *t, fixture *f, const vy_prepared *prepared, vy_case *c)
{
    uint32_t counts[VY_GLSL_MAX_BUFFERS] = {0};
    t->count_words(c, counts);
    vy_glsl_program *program =
        vy_glsl_program_create(f->host, vy_subject_name(t->subject), counts, t->buffer_count);
    bool ok = program && vy_case_keep_outputs(c) && vy_case_run(prepared, c, VY_RUN_DEVICE) &&
              t->run(program, c);
    if (ok) {
        const vy_slot *slot = vy_case_find(c, t->result);
        const uint32_t *words = vy_glsl_program_words(program, t->result_binding);
        uint32_t at = vy_first_difference(slot->out, words, slot->count);
        if (at != slot->count) {
            print_error("%s %s %u: %s[%u]: program 0x%08x, twin 0x%08x\n",
                        vy_subject_name(t->subject), vy_variant_name(c->variant), c->size,
                        t->result, at, slot->out[at], words[at]);
            ok = false;
        }
    }
    vy_glsl_program_destroy(&program);
    return ok;
}

static bool check_size(const twin *t, fixture *f, const vy_prepared *prepared, vy_variant variant,
                       uint32_t size)
{
    vy_case c;
    bool ok =
        vy_case_init(&c, t->subject, variant, size, size + 11u) && compare(t, f, prepared, &c);
    vy_case_finish(&c);
    return ok;
}

static void check_twin(void **state, vy_subject subject, bool has_large)
{
    fixture *f = *state;
    const twin *t = twins;
    vy_prepared prepared;
    if (is_without_device()) {
        print_message("no device wanted: not run\n");
        return;
    }
    while (t->subject != subject) {
        t++;
    }
    assert_non_null(f);
    assert_non_null(f->device);
    assert_non_null(f->host);
    bool ok = vy_prepare(f->device, subject, &prepared);
    for (uint32_t v = 0; v < VY_VARIANT_COUNT; v++) {
        /* A path takes as many passes as it has nodes, and a submission each. */
        uint32_t limit = subject == VY_SUBJECT_BFS && v == VY_VARIANT_PATH ? 300 : UINT32_MAX;
        for (uint32_t i = 0; i < VY_COUNT_OF(sizes) && vy_subject_has(subject, (vy_variant)v);
             i++) {
            ok = ok && (sizes[i] > limit || check_size(t, f, &prepared, (vy_variant)v, sizes[i]));
        }
    }
    if (has_large) {
        ok = ok && check_size(t, f, &prepared, VY_VARIANT_RANDOM, FOLDED_SIZE);
    }
    vy_prepared_finish(&prepared);
    assert_true(ok);
}

static void test_bfs_equals_its_twin(void **state)
{
    check_twin(state, VY_SUBJECT_BFS, false);
}

static void test_histogram_equals_its_twin(void **state)
{
    check_twin(state, VY_SUBJECT_HISTOGRAM, true);
}

static void test_scan_equals_its_twin(void **state)
{
    check_twin(state, VY_SUBJECT_SCAN, true);
}

static void test_reduce_equals_its_twin(void **state)
{
    check_twin(state, VY_SUBJECT_REDUCE, true);
}

static void test_life_equals_its_twin(void **state)
{
    check_twin(state, VY_SUBJECT_LIFE, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bfs_equals_its_twin),
        cmocka_unit_test(test_histogram_equals_its_twin),
        cmocka_unit_test(test_scan_equals_its_twin),
        cmocka_unit_test(test_reduce_equals_its_twin),
        cmocka_unit_test(test_life_equals_its_twin),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}

/* The order of a chunk's dispatches: every one once, hazards as the program has them, and no more
 * barriers than the longest chain of hazards asks for. */
#include "engine/exec/levels.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/hazard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_COUNT 4096u
#define BINDINGS  8u

typedef struct setup {
    vy_execution executions[MAX_COUNT];
    vy_touch touches[MAX_COUNT];
    uint64_t alias[BINDINGS];
    vy_chunk_input input;
    vy_arena arena;
    vy_chunk_plan plan;
} setup;

static setup *start(uint32_t count, uint32_t passes)
{
    setup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (uint32_t i = 0; i < MAX_COUNT; i++) {
        s->executions[i].segment = i;
    }
    for (uint32_t b = 0; b < BINDINGS; b++) {
        s->alias[b] = (uint64_t)1 << b;
    }
    s->input = (vy_chunk_input){.executions = s->executions,
                                .execution_count = count,
                                .touches = s->touches,
                                .alias = s->alias,
                                .binding_count = BINDINGS,
                                .until = -1,
                                .count = count,
                                .passes = passes};
    vy_arena_init(&s->arena, NULL);
    return s;
}

static void finish(setup *s)
{
    vy_arena_finish(&s->arena);
    free(s);
}

static void touch(setup *s, uint32_t segment, uint64_t reads, uint64_t writes)
{
    s->touches[segment] = (vy_touch){reads, writes};
}

/* Dispatches as letters from A, passes after the first in small ones, | a barrier. */
static const char *plan(setup *s)
{
    static char text[256];
    assert_true(vy_chunk_plan_build(&s->input, &s->arena, &s->plan));
    assert_true(s->plan.commands.count < sizeof text);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->plan.commands.count; i++) {
        const vy_command *c = &s->plan.commands.data[i];
        if (c->kind == VY_COMMAND_BARRIER) {
            text[at++] = '|';
        } else if (c->kind != VY_COMMAND_CRUMB) {
            text[at++] = (char)((c->pass ? 'a' : 'A') + (int)c->execution);
        }
    }
    text[at] = 0;
    return text;
}

/* x is made of nothing, y of x, and so are z and w. */
static void two_chains(setup *s)
{
    touch(s, 0, 1, 1);
    touch(s, 1, 1, 2);
    touch(s, 2, 4, 4);
    touch(s, 3, 4, 8);
}

static void test_levels_of_two_chains_wait_as_often_as_one(void **state)
{
    (void)state;
    setup *s = start(4, 1);
    two_chains(s);
    assert_string_equal(plan(s), "AC|BD");
    assert_int_equal(s->plan.barriers, 1);
    assert_int_equal(s->plan.elided, 2);
    finish(s);
    s = start(4, 2);
    two_chains(s);
    assert_string_equal(plan(s), "AC|BD|ac|bd");
    finish(s);
    s = start(3, 1); /* one chain alone waits, the other dispatch goes along with its first */
    touch(s, 0, 0, 1);
    touch(s, 1, 1, 2);
    touch(s, 2, 0, 4);
    assert_string_equal(plan(s), "AC|B");
    finish(s);
    s = start(3, 1); /* records, and values across cuts, are hazards as any */
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t hidden = (uint64_t)1 << (i == 1 ? VY_MEM_SPILL : VY_MEM_RECORDS);
        touch(s, i, hidden, hidden);
    }
    assert_string_equal(plan(s), "AB|C");
    finish(s);
}

/* Were each pass ordered by itself, D would come first in the second one, and wait for the E of the
 * first as nothing else there does. */
static void test_levels_reach_across_passes(void **state)
{
    (void)state;
    setup *s = start(5, 2);
    touch(s, 0, 0, 1);
    touch(s, 1, 1, 2);
    touch(s, 2, 2, 4);
    touch(s, 3, 16, 16);
    touch(s, 4, 4 | 16, 8);
    assert_string_equal(plan(s), "AD|B|Ca|Eb|cd|e");
    finish(s);
}

/* A pass reads the flag of the one before, and its first dispatch clears that of the next. */
static void test_levels_wait_for_the_flag(void **state)
{
    (void)state;
    const uint64_t flag = (uint64_t)1 << VY_MEM_FLAG;
    setup *s = start(4, 2);
    two_chains(s);
    s->input.until = 7;
    assert_string_equal(plan(s), "AC|BD|ac|bd");
    finish(s);
    s = start(3, 2); /* also where there is nothing else to be waited for */
    touch(s, 0, 0, 1);
    touch(s, 1, 0, flag);
    touch(s, 2, 2, 0);
    s->input.until = 7;
    assert_string_equal(plan(s), "ABC|abc");
    finish(s);
    s = start(3, 2); /* what comes behind the flag's last use goes along with the next pass */
    touch(s, 0, 0, flag);
    touch(s, 1, 1, 2);
    touch(s, 2, 2, 4);
    s->input.until = 7;
    assert_string_equal(plan(s), "AB|Ca|b|c");
    finish(s);
}

static void test_levels_are_not_for_debugging(void **state)
{
    (void)state;
    setup *s = start(4, 2);
    two_chains(s);
    s->input.serialize = true;
    assert_string_equal(plan(s), "A|B|C|D|a|b|c|d");
    finish(s);
    s = start(4, 1);
    two_chains(s);
    s->input.has_crumbs = true;
    s->input.serialize = true;
    assert_true(vy_chunk_plan_build(&s->input, &s->arena, &s->plan));
    uint32_t next = 0;
    for (uint32_t i = 0; i < s->plan.commands.count; i++) {
        const vy_command *c = &s->plan.commands.data[i];
        if (c->kind == VY_COMMAND_DISPATCH) {
            assert_int_equal(c->execution, next++);
        }
    }
    assert_int_equal(next, 4);
    finish(s);
}

/* A piece of a pass that is too long for one chunk. */
static void test_levels_of_a_piece_of_a_pass(void **state)
{
    (void)state;
    setup *s = start(8, 1);
    for (uint32_t i = 0; i < 8; i++) {
        touch(s, i, 1u << (i / 2), 1u << (i / 2));
    }
    s->input.first = 3;
    s->input.count = 4;
    assert_string_equal(plan(s), "DEG|F");
    finish(s);
    for (uint32_t count = 0; count < 2; count++) {
        s = start(8, 1);
        touch(s, 3, 1, 1);
        s->input.first = 3;
        s->input.count = count;
        assert_string_equal(plan(s), count ? "D" : "");
        finish(s);
    }
}

/* ---- Any programs ---------------------------------------------------------------------------- */

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static bool is_hazard(const vy_touch *a, const vy_touch *b)
{
    return ((a->reads | a->writes) & b->writes) || (a->writes & b->reads);
}

/* By the definition: as many as the longest chain of dispatches each of which must wait for the one
 * before. */
static uint32_t longest_chain(const setup *s)
{
    static uint32_t lengths[MAX_COUNT];
    uint32_t count = s->input.count, total = count * s->input.passes, longest = 0;
    for (uint32_t n = 0; n < total; n++) {
        lengths[n] = 1;
        for (uint32_t m = 0; m < n; m++) {
            if (lengths[m] >= lengths[n] &&
                is_hazard(&s->touches[m % count], &s->touches[n % count])) {
                lengths[n] = lengths[m] + 1;
            }
        }
        longest = longest < lengths[n] ? lengths[n] : longest;
    }
    return longest;
}

/* Every dispatch once, and behind those that it must wait for. */
static void check_order(const setup *s)
{
    static uint32_t places[MAX_COUNT];
    uint32_t count = s->input.count, total = count * s->input.passes, next = 0;
    memset(places, 0xff, sizeof places);
    for (uint32_t i = 0; i < s->plan.commands.count; i++) {
        const vy_command *c = &s->plan.commands.data[i];
        if (c->kind == VY_COMMAND_DISPATCH) {
            uint32_t n = c->pass * count + c->execution;
            assert_true(n < total && places[n] == UINT32_MAX);
            places[n] = next++;
        }
    }
    assert_int_equal(next, total);
    for (uint32_t n = 0; n < total; n++) {
        for (uint32_t m = 0; m < n; m++) {
            if (is_hazard(&s->touches[m % count], &s->touches[n % count])) {
                assert_true(places[m] < places[n]);
            }
        }
    }
}

/* The judge of hazards on the plan: a buffer for each memory. */
static void check_barriers(const setup *s)
{
    hazard *h = hazard_create();
    assert_non_null(h);
    hazard_begin_commands(h, 1);
    for (uint32_t i = 0; i < s->plan.commands.count; i++) {
        const vy_command *c = &s->plan.commands.data[i];
        hazard_access list[2 * VY_MEM_COUNT];
        uint32_t count = 0;
        if (c->kind == VY_COMMAND_BARRIER) {
            hazard_barrier b = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                VK_ACCESS_2_SHADER_WRITE_BIT,
                                VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT,
                                0,
                                0,
                                0};
            hazard_barriers(h, "a barrier", &b, 1);
            continue;
        }
        const vy_touch *t = &s->touches[c->execution];
        for (uint32_t m = 0; m < VY_MEM_COUNT; m++) {
            if (t->reads >> m & 1) {
                list[count++] = (hazard_access){m + 1, 0, 4, HAZARD_COMPUTE_READ};
            }
            if (t->writes >> m & 1) {
                list[count++] = (hazard_access){m + 1, 0, 4, HAZARD_COMPUTE_WRITE};
            }
        }
        hazard_command(h, "a dispatch", list, count);
    }
    hazard_end_commands(h);
    const hazard_fault *faults;
    uint32_t listed;
    if (hazard_faults(h, &faults, &listed)) {
        fail_msg("%s", faults[0].text);
    }
    hazard_destroy(h);
}

static void random_touches(setup *s, uint32_t *seed)
{
    uint32_t memories = 1 + draw(seed, BINDINGS);
    for (uint32_t i = 0; i < s->input.count; i++) {
        uint64_t reads = 0, writes = (uint64_t)1 << draw(seed, memories);
        for (uint32_t k = draw(seed, 3); k > 0; k--) {
            reads |= (uint64_t)1 << draw(seed, memories);
        }
        if (draw(seed, 8) == 0) {
            reads |= (uint64_t)1 << VY_MEM_RECORDS;
            writes |= (uint64_t)1 << VY_MEM_RECORDS;
        }
        touch(s, i, reads, draw(seed, 8) ? writes : 0);
    }
}

static void test_levels_need_the_fewest_barriers(void **state)
{
    (void)state;
    for (uint32_t run = 1; run <= 300; run++) {
        uint32_t seed = run * 7919;
        uint32_t count = 1 + draw(&seed, 20), passes = 1 + draw(&seed, 5);
        setup *s = start(count, passes);
        random_touches(s, &seed);
        assert_true(vy_chunk_plan_build(&s->input, &s->arena, &s->plan));
        check_order(s);
        check_barriers(s);
        if (s->plan.barriers + 1 != longest_chain(s)) {
            fail_msg("run %u: %u barriers, and the longest chain is %u", (unsigned)run,
                     (unsigned)s->plan.barriers, (unsigned)longest_chain(s));
        }
        /* The same input gives the same commands. */
        vy_chunk_plan again;
        assert_true(vy_chunk_plan_build(&s->input, &s->arena, &again));
        assert_int_equal(again.commands.count, s->plan.commands.count);
        for (uint32_t i = 0; i < again.commands.count; i++) {
            const vy_command *a = &again.commands.data[i], *b = &s->plan.commands.data[i];
            assert_true(a->kind == b->kind && a->execution == b->execution && a->pass == b->pass);
        }
        finish(s);
    }
}

/* As many levels as dispatches, and as few, in memory that grows with their number alone. */
static void test_levels_of_the_longest_pass(void **state)
{
    (void)state;
    enum { COUNT = 65536 };
    vy_execution *executions = calloc(COUNT, sizeof *executions);
    assert_non_null(executions);
    vy_touch touches[2] = {{1, 1}, {0, 0}};
    for (uint32_t kind = 0; kind < 2; kind++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            executions[i].segment = kind;
        }
        vy_chunk_input input = {.executions = executions,
                                .execution_count = COUNT,
                                .touches = touches,
                                .count = COUNT,
                                .until = -1};
        vy_arena arena;
        uint32_t *order;
        vy_arena_init(&arena, NULL);
        assert_true(vy_levels_order(&input, 1, &arena, &order));
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(order[i], i);
        }
        vy_arena_finish(&arena);
    }
    free(executions);
}

/* ---- On a device ----------------------------------------------------------------------------- */

#define ELEMENTS 1000u

/* Two chains; a segment reads what other workgroups wrote in the one before. */
static const char chains_text[] = "program chains\n"
                                  "workgroup 64\n"
                                  "grid over a\n"
                                  "inout a : u32[]\n"
                                  "inout b : u32[len(a)]\n"
                                  "inout c : u32[len(a)]\n"
                                  "inout d : u32[len(a)]\n"
                                  "kernel {\n"
                                  "    let other = (gid.x + 517) % len(a)\n"
                                  "    if gid.x >= len(a) { return }\n"
                                  "    a[gid.x] = a[gid.x] * 3 + pass\n"
                                  "    grid_sync\n"
                                  "    b[gid.x] = b[gid.x] + a[(gid.x + 517) % len(a)]\n"
                                  "    grid_sync\n"
                                  "    c[gid.x] = c[gid.x] * 5 + gid.x\n"
                                  "    grid_sync\n"
                                  "    d[gid.x] = d[gid.x] ^ c[(gid.x + 731) % len(a)]\n"
                                  "}\n";

static void test_chains_side_by_side_leave_what_they_leave_in_order(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, chains_text);
    static uint32_t x[4][ELEMENTS], expected[4][ELEMENTS];
    vyre_binding bindings[4];
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            x[k][i] = expected[k][i] = i * (k + 7);
        }
        bindings[k] = engine_host_inout(x[k], ELEMENTS);
    }
    enum { PASSES = 3 };
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            expected[0][i] = expected[0][i] * 3 + pass;
            expected[2][i] = expected[2][i] * 5 + i;
        }
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            expected[1][i] += expected[0][(i + 517) % ELEMENTS];
            expected[3][i] ^= expected[2][(i + 731) % ELEMENTS];
        }
    }
    vyre_dispatch_params params = engine_params(bindings, 4);
    params.groups[0] = 0;
    params.passes = PASSES;
    vyre_report report = must_dispatch(&p, &params);
    assert_memory_equal(x, expected, sizeof x);
    /* Twice in a pass; before the upload, before the readback, and for the host. */
    assert_int_equal(report.dispatches_recorded, 4 * PASSES);
    assert_int_equal(report.barriers_recorded, 2 * PASSES + 3);
    assert_int_equal(report.barriers_elided, 2 * PASSES);
    engine_release(&p);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_of_two_chains_wait_as_often_as_one),
        cmocka_unit_test(test_levels_reach_across_passes),
        cmocka_unit_test(test_levels_wait_for_the_flag),
        cmocka_unit_test(test_levels_are_not_for_debugging),
        cmocka_unit_test(test_levels_of_a_piece_of_a_pass),
        cmocka_unit_test(test_levels_need_the_fewest_barriers),
        cmocka_unit_test(test_levels_of_the_longest_pass),
        cmocka_unit_test_setup(test_chains_side_by_side_leave_what_they_leave_in_order,
                               engine_reset),
    };
    return cmocka_run_group_tests(tests, NULL, engine_nothing_alive);
}

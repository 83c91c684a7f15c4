/* Which loops do four trips at once, and which stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "program t\nworkgroup 64\nin x : u32[]\nin a : u32[]\ninout y : u32[]\ninout z : u32[]\n"      \
    "inout n : i32[]\nshared s : u32[64]\nparam p : u32\nparam q : i32\nkernel {\n"

static void make(ssa_case *c, const char *statements)
{
    static const char *const passes[] = {"trivial-phi", "fold",   "cse", "dce",
                                         "licm",        "ranges", NULL};
    char text[4096];
    (void)snprintf(text, sizeof text, HEAD "%s}\n", statements);
    case_init_program(c, text);
    case_build(c, 0);
    for (size_t p = 0; passes[p]; p++) {
        case_pass(c, passes[p]);
    }
}

static uint32_t count_loops(const ssa_case *c)
{
    uint32_t count = 0;
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        count += c->ssa.blocks.data[b].merge_kind == VY_MERGE_LOOP;
    }
    return count;
}

static void test_interleaved_forms_match_stored_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name, *statements;
    } cases[] = {
        {"interleave_search", "for e in a[0] .. a[1] {\nlet old = atomic_min(y[x[e]], p)\n"
                              "if old > p { atomic_store(z[0], 1) }\n}\n"},
        {"interleave_same_buffer", "for e in 0 .. len(x) {\nlet old = atomic_add(y[x[e]], 1)\n"
                                   "if old > p { y[e] = old } else { z[e] = old }\n}\n"},
        {"interleave_signed", "for e in q .. i32(p) { n[e] = i32(x[e + 1]) }\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ssa_case c;
        make(&c, cases[i].statements);
        case_pass(&c, "interleave");
        case_compare(cases[i].name, case_print(&c));
        case_finish(&c);
    }
}

/* The four trips come first, then the loop as it was: loops that are interleaved are one more. */
static const struct {
    const char *statements;
    uint32_t loops;
} rows[] = {
    /* Bounds and indices. */
    {"for e in 0 .. len(x) { y[x[e]] = e }\n", 1},
    {"for e in p .. a[p] { atomic_add(y[x[e]], 1) }\n", 1},
    {"for e in q .. q + 100 { n[x[e]] = e }\n", 1},
    {"for e in 0 .. 33 { atomic_add(y[x[e]], 1) }\n", 1},
    {"for e in 0 .. 32 { atomic_add(y[x[e]], 1) }\n", 0},
    {"for e in 0 .. len(x) step 2 { y[x[e]] = e }\n", 0},
    {"for e in 0 .. len(x) down { y[x[e]] = e }\n", 0},
    {"let b = atomic_load(z[0])\nfor e in 0 .. b { y[x[e]] = e }\n", 1},
    {"var e = 0\nwhile e < len(x) { y[x[e]] = e\ne = e + 1 }\n", 0},
    /* Nothing to wait for, or nothing done. */
    {"for e in 0 .. len(x) { y[e] = e }\n", 0},
    {"for e in 0 .. len(x) { y[e] = x[3] }\n", 0},
    {"for e in 0 .. len(x) { y[e] = z[e] }\n", 0},
    {"var sum = 0u\nfor e in 0 .. len(x) { sum = sum + x[e] }\ny[0] = sum\n", 0},
    /* Branches and switches, with more than one way; what leaves the loop or begins another. */
    {"for e in 0 .. len(x) {\nlet c = x[e]\nif c > 3 { y[c] = 1 } else { z[c] = 2 }\n}\n", 1},
    {"for e in 0 .. len(x) {\nlet c = x[e]\nswitch c { case 1 { y[c] = 1 } case 2 { z[c] = 2 } "
     "default { y[0] = 3 } }\n}\n",
     1},
    {"for e in 0 .. len(x) {\nlet c = x[e]\nif c > 3 { continue }\ny[c] = 1\n}\n", 0},
    {"for e in 0 .. len(x) {\nlet c = x[e]\nif c > 3 { break }\ny[c] = 1\n}\n", 0},
    {"for e in 0 .. len(x) {\nlet c = x[e]\nif c > 3 { return }\ny[c] = 1\n}\n", 0},
    {"for e in 0 .. len(x) {\nlet c = x[e]\nfor f in 0 .. c { y[f + e] = 1 }\n}\n", 0},
    {"for e in 0 .. len(x) {\nlet c = x[e]\nfor f in 0 .. c { y[a[f + e]] = 1 }\n}\n", 1},
    /* Carried from trip to trip. */
    {"var last = 0\nfor e in 0 .. len(x) { y[last] = x[e]\nlast = x[e] }\n", 0},
    /* What others have to see in this order, or together. */
    {"for e in 0 .. 64 { atomic_add(s[x[e]], 1) }\nbarrier\ny[gid.x] = s[lid.x]\n", 1},
    {"for e in 0 .. len(x) { s[lid.x] = x[e]\nbarrier\ny[e] = s[0] }\n", 0},
    {"for e in 0 .. len(x) {\nlet v = subgroup_add(x[e])\ny[e] = v\n}\n", 0},
    {"for e in 0 .. len(x) {\nif x[e] > 9 { trap(7) }\ny[e] = 1\n}\n", 0},
};

static void test_loops_are_interleaved_where_they_wait_for_memory(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ssa_case c;
        make(&c, rows[i].statements);
        uint32_t before = count_loops(&c);
        case_pass(&c, "interleave");
        uint32_t made = count_loops(&c) - before;
        if (made != rows[i].loops) {
            print_error("%s: %u instead of %u\n%s", rows[i].statements, (unsigned)made,
                        (unsigned)rows[i].loops, case_print(&c));
            wrong++;
        }
        case_finish(&c);
    }
    assert_int_equal(wrong, 0);
}

static void test_long_bodies_stay_as_they_are(void **state)
{
    (void)state;
    for (uint32_t stores = 10; stores <= 60; stores += 50) {
        char text[3000] = "for e in 0 .. len(x) {\nlet c = x[e]\n";
        for (uint32_t i = 0; i < stores; i++) {
            size_t at = strlen(text);
            (void)snprintf(text + at, sizeof text - at, "y[c + %u] = c\n", (unsigned)i);
        }
        strcat(text, "}\n");
        ssa_case c;
        make(&c, text);
        case_pass(&c, "interleave");
        assert_int_equal(count_loops(&c), stores == 10 ? 2 : 1);
        case_finish(&c);
    }
}

/* Late parts of four trips before the rest of the first one, or each before its own rest. */
static const struct {
    const char *statements;
    bool is_apart;
} orders[] = {
    {"let old = atomic_min(y[x[e]], p)\nif old > p { z[0] = 1 }\n", true},
    {"let old = atomic_min(y[x[e]], p)\nif old > p { y[0] = 1 }\n", false},
    {"let old = atomic_min(y[x[e]], p)\nif old > p { z[0] = y[3] }\n", false},
    {"let old = y[x[e]]\nif old > p { z[0] = 1 }\n", true},
    {"let old = atomic_min(y[x[e]], p, acquire)\nif old > p { z[0] = 1 }\n", false},
    {"let old = atomic_min(y[x[e]], p)\nif old > p { atomic_store(z[0], 1, release) }\n", false},
    {"let old = atomic_add(s[x[e]], p)\nif old > p { z[0] = 1 }\n", true},
};

/* The block of the n-th instruction with that operator, from 0; 0: there is none. */
static uint32_t find_access(const ssa_case *c, uint32_t op, uint32_t n)
{
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        for (uint32_t i = c->ssa.blocks.data[b].first; i; i = c->ssa.ins.data[i].next) {
            if (c->ssa.ins.data[i].op == op && n-- == 0) {
                return b;
            }
        }
    }
    return 0;
}

static void test_accesses_keep_their_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char text[600];
        ssa_case c;
        (void)snprintf(text, sizeof text, "for e in 0 .. len(x) {\n%s}\n", orders[i].statements);
        make(&c, text);
        case_pass(&c, "interleave");
        bool has_atomic = case_count(&c, VY_SSA_ATOMIC) > 0;
        uint32_t op = has_atomic ? VY_SSA_ATOMIC : VYRE_OP_LOAD;
        /* Loads of x, of all four trips, stand first; then the atomics, or loads of y. */
        uint32_t first = has_atomic ? 0 : 4;
        bool is_second_early = find_access(&c, op, first) == find_access(&c, op, first + 1);
        if (is_second_early != orders[i].is_apart) {
            fail_msg("%s\n%s", orders[i].statements, case_print(&c));
        }
        assert_int_equal(find_access(&c, VYRE_OP_LOAD, 0), find_access(&c, VYRE_OP_LOAD, 3));
        case_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleaved_forms_match_stored_ones),
        cmocka_unit_test(test_loops_are_interleaved_where_they_wait_for_memory),
        cmocka_unit_test(test_long_bodies_stay_as_they_are),
        cmocka_unit_test(test_accesses_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

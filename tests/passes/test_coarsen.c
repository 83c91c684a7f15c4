/* What is made coarse, what is not, and the form of it as text: tests/passes/golden/NAME.txt.
 * VYRE_UPDATE_GOLDEN=1 writes those files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/passes/coarsen_parts.h"
#include "tests/passes/form_text.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "program t\nworkgroup 64\nin x : u32[]\nin f : f32[]\nin m : u8[]\nin d : f64[]\n"             \
    "in v : u32x4[]\ninout y : u32[]\ninout g : f32[]\ninout k : i32[8]\nout w : u32x2[]\n"        \
    "inout q : bool[]\ninout h : f16[]\ninout z : u64[8]\ninout c : u32[4]\n"                      \
    "param p : u32\n"

static void make_by(ssa_case *c, const char *statements, uint32_t ways, vy_coarse *out_coarse)
{
    static const char *const passes[] = {"trivial-phi", "cse", "dce", "ranges", "dce", NULL};
    char text[2048];
    (void)snprintf(text, sizeof text, HEAD "kernel {\n%s\n}\n", statements);
    case_init_program(c, text);
    case_build(c, 0);
    for (size_t p = 0; passes[p]; p++) {
        case_pass(c, passes[p]);
    }
    assert_true(vy_ssa_coarsen(&c->ssa, ways, out_coarse));
    const char *problem = vy_ssa_verify(&c->ssa);
    if (problem) {
        fail_msg("%s: %s", statements, problem);
    }
}

static void make_joined(ssa_case *c, const char *statements, bool is_joined, vy_coarse *out_coarse)
{
    make_by(c, statements, is_joined ? VY_COARSEN_JOINED : 0, out_coarse);
}

static void make(ssa_case *c, const char *statements, vy_coarse *out_coarse)
{
    make_joined(c, statements, false, out_coarse);
}

static void test_coarse_forms_match_stored_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name, *statements;
        bool is_joined;
    } cases[] = {
        {"coarsen_map", "y[gid.x] = x[gid.x] * 3 + p", false},
        {"coarsen_sum", "atomic_add(k[p], i32(x[gid.x]))", false},
        {"coarsen_choice",
         "let a = d[gid.x]\nif a > 0.0d { atomic_max(k[1], 7i) }\n"
         "w[gid.x] = u32x2(p, u32(a))",
         false},
        {"coarsen_returns",
         "var a = 0i\nif x[gid.x] > p { let o = atomic_sub(k[1], 1i)\n"
         "a = o\ng[u32(o)] = 1.0 }\ny[gid.x] = u32(a)",
         false},
        {"coarsen_group",
         "let a = d[gid.x]\nif a > 0.0d { let o = atomic_add(k[1], 1i)\n"
         "g[u32(o)] = 1.0 }\nw[gid.x] = u32x2(p, 7)",
         true},
        {"coarsen_stage",
         "let a = d[gid.x]\nif a > 0.0d { let o = atomic_add(c[2], 1)\ng[o + p] = f32(a)\n"
         "}\nlet i = atomic_add(c[1], 1)\ny[i - 3] = u32(a)",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ssa_case c;
        vy_coarse coarse;
        make_joined(&c, cases[i].statements, cases[i].is_joined, &coarse);
        assert_true(coarse.elements > 1);
        case_compare(cases[i].name, case_print(&c));
        case_finish(&c);
    }
}

/* Bindings: x 1, f 2, m 4, d 8, v 16, y 32, g 64, k 128, w 256, q 512, h 1024. */
enum {
    MOST = VY_COARSE_MOST,
    RETURNS = VY_COARSE_MOST_RETURNS,
    ROUNDS = MOST / 4 < VY_COARSE_ROUNDS ? MOST / 4 : VY_COARSE_ROUNDS, /* of words */
    JOINS = ROUNDS * 4
};

typedef struct row {
    const char *statements;
    uint32_t elements;
    uint64_t streams;
    uint32_t loads, stores, atomics; /* wide ones; atomics beside those of the loop */
} row;

#define APPEND(counter)                                                                            \
    "let a = x[gid.x]\nif (a & 1) == 1 { let o = atomic_add(" counter ", 1i)\ny[u32(o)] = a }"

static const row rows[] = {
    {"y[gid.x] = x[gid.x]", 4, 33, 1, 1, 0},
    {"w[gid.x] = u32x2(1, 2)", 2, 256, 0, 1, 0},
    {"let a = m[gid.x]\nif a > 3 { atomic_add(k[0], 1i) }", MOST, 4, MOST / 16, 0, 1},
    /* By the widest: bytes in words of four. */
    {"y[gid.x] = u32(m[gid.x]) + x[gid.x]", 4, 37, 2, 1, 0},
    /* Of each second byte no word can be made. */
    {"let a = m[gid.x]\ng[gid.x] = f32(d[gid.x]) + f32(a)", 0, 0, 0, 0, 0},
    {"g[gid.x] = f32(d[gid.x])", 2, 72, 1, 1, 0},
    /* A sum alone: rounds, the loads of which are under way at once. */
    {"atomic_add(k[0], i32(x[gid.x]))", JOINS, 1, ROUNDS, 0, 1},
    {"y[gid.x] = x[gid.x]\natomic_add(k[0], i32(x[gid.x]))", 4, 33, 1, 1, 1},
    /* Not integers: an order would be made up. */
    {"atomic_add(g[0], f[gid.x])", 4, 2, 1, 0, 4},
    /* The old value is asked for; also more than once, of several counters, of one for several. */
    {"let o = atomic_add(k[0], i32(x[gid.x]))\nif o > 0 { y[0] = 1 }", RETURNS, 1, RETURNS / 4, 0,
     1},
    {APPEND("k[0]"), RETURNS, 1, RETURNS / 4, 0, 1},
    {"if x[gid.x] > 3 { let o = atomic_sub(k[1], 2i)\ny[u32(o)] = u32(o) }", RETURNS, 1,
     RETURNS / 4, 0, 1},
    {APPEND("k[0]") "\nif m[gid.x] == 3 { let o = atomic_add(k[1], 1i)\ng[u32(o)] = 1.0 }", RETURNS,
     5, RETURNS / 2, 0, 2},
    {"let e = p & 7\nif x[gid.x] > 3 { let o = atomic_add(k[e], 1i)\ny[u32(o)] = 2 }", RETURNS, 1,
     RETURNS / 4, 0, 1},
    {"let o = atomic_add(k[0], 1i)\ny[gid.x] = u32(o) + x[gid.x]", 4, 33, 1, 1, 1},
    /* What says how much there is comes from what nobody writes, by choices and by gathers. */
    {"var a = 1i\nif x[gid.x] > p { a = 2i } else { if f[gid.x] > 0.5 { a = -3i } }\n"
     "let o = atomic_add(k[0], a)\ny[u32(o)] = 1",
     RETURNS, 3, RETURNS / 2, 0, 1},
    {"if f[x[gid.x]] > 0.5 { let o = atomic_add(k[0], 1i)\ny[u32(o)] = 1 }", RETURNS, 1,
     RETURNS / 4, 0, 1},
    /* Others could change it, or others could see it. */
    {"let a = g[p]\nif f32(x[gid.x]) > a { let o = atomic_add(k[0], 1i)\ng[u32(o)] = 1.0 }", 4, 1,
     1, 0, 4},
    {"let a = y[gid.x]\nif x[gid.x] > a { let o = atomic_add(k[0], 1i)\ny[u32(o)] = 1 }", 0, 0, 0,
     0, 0},
    /* An operand that waits for another one's value; read where only some come; a switch. */
    {"let a = atomic_add(k[0], 1i)\nlet o = atomic_add(k[1], a)\ny[u32(o)] = x[gid.x]", 4, 1, 1, 0,
     8},
    {"let a = atomic_add(k[0], 1i)\nif a < 9i { let o = atomic_add(k[1], 1i)\n"
     "y[u32(o)] = x[gid.x] }",
     4, 1, 1, 0, 8},
    {"if x[gid.x] > 3 { if f[p] > 0.5 { let o = atomic_add(k[0], 1i)\ny[u32(o)] = 1 } }", 4, 1, 1,
     0, 4},
    {"switch x[gid.x] { case 1, 2 { let o = atomic_add(k[0], 1i)\ny[u32(o)] = 1 } default { } }", 4,
     1, 1, 0, 4},
    /* Indices that may be out of bounds, or one place; other operators; an order. */
    {APPEND("k[p]"), 4, 1, 1, 0, 4},
    {"let e = p & 7\nlet o = atomic_add(k[e], 1i)\nlet a = atomic_add(k[p & 3], 1i)\n"
     "y[u32(o)] = u32(a) + x[gid.x]",
     4, 1, 1, 0, 8},
    {"let o = atomic_max(k[0], i32(x[gid.x]))\nif o > 0 { y[0] = 1 }", 4, 1, 1, 0, 4},
    {"let o = atomic_add(k[0], 1i, acquire)\ny[gid.x] = x[gid.x]", 0, 0, 0, 0, 0},
    {"let o = atomic_add(k[0], 1i)\nif k[1] > 0 { y[u32(o)] = x[gid.x] }", 4, 1, 1, 0, 4},
    /* Somebody looks; two operators; another place for each. */
    {"atomic_add(k[0], i32(x[gid.x]))\nif k[1] > 0 { y[0] = 1 }", 4, 1, 1, 0, 4},
    {"atomic_add(k[0], i32(x[gid.x]))\natomic_max(k[0], 3i)", 4, 1, 1, 0, 8},
    {"atomic_add(k[x[gid.x]], 1i)", 4, 1, 1, 0, 4},
    {"atomic_exchange(k[0], i32(x[gid.x]))", 4, 1, 1, 0, 4},
    {"atomic_add(k[0], i32(x[gid.x]))\natomic_add(k[1], 1i)", JOINS, 1, ROUNDS, 0, 2},
    /* In place: the load comes before the store. */
    {"y[gid.x] = y[gid.x] + 1", 4, 32, 1, 1, 0},
    {"y[gid.x] = 1\ng[gid.x] = f32(y[gid.x])", 0, 0, 0, 0, 0},
    {"let a = y[gid.x]\nif a > 3 { y[gid.x] = x[gid.x] }", 4, 33, 2, 1, 0},
    /* Bits would not stay: any number but 0 is true. */
    {"let a = q[gid.x]\nif x[gid.x] > 3 { q[gid.x] = !a }", 4, 513, 2, 0, 0},
    {"let a = h[gid.x]\nif x[gid.x] > 3 { h[gid.x] = a + 1.0h }", 4, 1025, 2, 0, 0},
    {"let a = g[gid.x]\nif a > 1.0 { g[gid.x] = f[gid.x] }", 4, 66, 2, 1, 0},
    {"if x[gid.x] > 3 { y[gid.x] = x[gid.x] }", 4, 1, 1, 0, 0},
    {"if x[gid.x] > 3 { y[gid.x] = 7 } else { if f[gid.x] > 1.0 { y[gid.x] = 8 } else {\n"
     "y[gid.x] = x[gid.x] } }",
     4, 35, 2, 1, 0},
    {"if x[gid.x] > 3 { y[gid.x] = 7 } else { if f[gid.x] > 1.0 { y[gid.x] = 8 } }", 4, 3, 2, 0, 0},
    {"y[gid.x] = 1\nif x[gid.x] > 3 { y[gid.x] = 2 }", 4, 33, 1, 1, 0},
    {"if x[gid.x] > 3 { w[gid.x] = u32x2(1, p) } else { w[gid.x] = u32x2(2, p) }", 4, 1, 1, 0, 0},
    {"if x[gid.x] > 3 { y[gid.x] = 1 }\ny[gid.x] = 2", 4, 33, 1, 1, 0},
    {"y[gid.x] = x[gid.x]\ny[0] = 5", 0, 0, 0, 0, 0},
    {"let a = y[p]\ny[gid.x] = x[gid.x] + a", 0, 0, 0, 0, 0},
    {"let a = k[p]\ny[gid.x] = x[gid.x] + u32(a)", 4, 33, 1, 1, 0},
    /* What is compared with the place is known where all is in bounds. */
    {"if gid.x < len(x) { y[gid.x] = x[gid.x] }", 4, 33, 1, 1, 0},
    {"if gid.x >= p { return }\ny[gid.x] = x[gid.x]", 4, 33, 1, 1, 0},
    {"if p > gid.x && gid.x < len(y) { atomic_add(k[0], i32(x[gid.x])) }", JOINS, 1, ROUNDS, 0, 1},
    {"if !(len(f) <= gid.x || gid.x >= len(x)) { y[gid.x] = x[gid.x] }", 4, 33, 1, 1, 0},
    {"if gid.x < len(x) && x[gid.x] > 3 { y[gid.x] = x[gid.x] }", 4, 1, 1, 0, 0},
    {"var a = x[gid.x]\nif gid.x < p { a = 7 }\ny[gid.x] = a", 4, 33, 1, 1, 0},
    /* Half of the elements would run one by one. */
    {"if gid.x < p { y[gid.x] = x[gid.x] } else { y[gid.x] = 3 }", 4, 33, 1, 1, 0},
    {"if gid.x < 100 { y[gid.x] = x[gid.x] }", 4, 1, 1, 0, 0},
    /* Neighbours read and write side by side already. */
    {"y[gid.x] = x[gid.x + 1]", 0, 0, 0, 0, 0},
    {"y[gid.x] = x[gid.x] + x[gid.x * 2]", 0, 0, 0, 0, 0},
    {"v_is(1)", 0, 0, 0, 0, 0},
    /* More is reached by data than side by side. */
    {"let i = x[gid.x]\natomic_add(k[i], 1i)\natomic_add(k[i + 1], 1i)", 0, 0, 0, 0, 0},
    {"y[gid.x] = x[x[gid.x]]", 4, 33, 1, 1, 0},
    /* Loops, ways out, what counts invocations. */
    {"for i in 0 .. x[gid.x] { y[gid.x] = i }", 0, 0, 0, 0, 0},
    {"if x[gid.x] > 3 { return }\ny[gid.x] = 1", 0, 0, 0, 0, 0},
    {"if x[gid.x] > 3 { trap(1) }\ny[gid.x] = 1", 0, 0, 0, 0, 0},
    {"y[gid.x] = x[gid.x]\ngrid_sync\ny[gid.x] = 1", 4, 33, 1, 1, 0},
    {"let a = x[gid.x]\ny[gid.x] = a\ngrid_sync\ng[gid.x] = f32(a)", 4, 33, 1, 1, 0},
    {"let a = atomic_add(k[0], 1i)\ny[gid.x] = x[gid.x]\ngrid_sync\nk[a] = 1i", 0, 0, 0, 0, 0},
    {"atomic_add(k[0], 1i, release)\ny[gid.x] = x[gid.x]", 0, 0, 0, 0, 0},
    {"y[gid.x] = x[gid.x] + wid.x", 0, 0, 0, 0, 0},
    {"atomic_add(k[0], 1i)", 0, 0, 0, 0, 0},
    {"if gid.x == p { k[0] = 1i }", 0, 0, 0, 0, 0},
};

static void test_coarse_is_what_gains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        ssa_case c;
        vy_coarse coarse;
        bool is_whole = strcmp(r->statements, "v_is(1)") == 0;
        make(&c, is_whole ? "let a = v[gid.x]\nk[0] = i32(a.x)" : r->statements, &coarse);
        if (coarse.elements != r->elements || coarse.streams != r->streams) {
            fail_msg("%s: %u elements, streams %u", r->statements, (unsigned)coarse.elements,
                     (unsigned)coarse.streams);
        }
        if (r->elements) {
            uint32_t copies = r->atomics ? case_count(&c, VY_SSA_ATOMIC) : 0;
            assert_int_equal(case_count(&c, VY_SSA_LOAD_WIDE), r->loads);
            assert_int_equal(case_count(&c, VY_SSA_STORE_WIDE), r->stores);
            /* One more for each that the loop has. */
            if (copies != r->atomics + (r->atomics >= 4 ? r->atomics / 4 : r->atomics)) {
                fail_msg("%s: %u atomics", r->statements, (unsigned)copies);
            }
        }
        case_finish(&c);
    }
}

/* Those of one place are one, whichever of them an element has and whether or not it looks: one
 * atomic for all elements, and three in the loop. */
static void test_coarse_atomics_of_one_place_return_together(void **state)
{
    (void)state;
    ssa_case c;
    vy_coarse coarse;
    make(&c,
         "if x[gid.x] > 3 { let o = atomic_add(k[0], 1i)\ny[u32(o)] = 1 } else {\n"
         "let o = atomic_add(k[0], 2i)\ny[u32(o)] = 2\natomic_add(k[0], 7i) }",
         &coarse);
    assert_int_equal(coarse.elements, RETURNS);
    assert_int_equal(case_count(&c, VY_SSA_ATOMIC), 1 + 3);
    case_finish(&c);
}

/* Where atomics are joined within subgroups, lanes are counted for each element that may append, if
 * operands are numbers and the place is one. */
static void test_coarse_atomics_that_lanes_join_are_ranked(void **state)
{
    (void)state;
    static const struct {
        const char *statements;
        uint32_t ranks; /* of an element */
    } cases[] = {
        {APPEND("k[0]"), 1},
        {APPEND("k[0]") "\nif x[gid.x] > 7 { let o = atomic_add(k[1], 3i)\ng[u32(o)] = 1.0 }", 2},
        {"if x[gid.x] > 3 { atomic_add(k[0], 7i)\nlet o = atomic_add(k[0], 1i)\ny[u32(o)] = 1 }",
         2},
        {"let o = atomic_add(k[0], i32(x[gid.x]))\nif o > 0 { y[0] = 1 }", 0},
        {"let e = p & 7\nif x[gid.x] > 3 { let o = atomic_add(k[e], 1i)\ny[u32(o)] = 2 }", 0},
        {"if x[gid.x] > 3 { atomic_add(k[0], 1i) }", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t is_joined = 0; is_joined < 2; is_joined++) {
            ssa_case c;
            vy_coarse coarse;
            make_joined(&c, cases[i].statements, is_joined != 0, &coarse);
            uint32_t wanted = is_joined ? cases[i].ranks * coarse.elements : 0;
            if (!coarse.elements || case_count(&c, VY_SSA_RANK) != wanted) {
                fail_msg("%s: %u ranks, not %u", cases[i].statements,
                         (unsigned)case_count(&c, VY_SSA_RANK), (unsigned)wanted);
            }
            case_finish(&c);
        }
    }
}

static uint32_t count_group_atomics(const ssa_case *c)
{
    uint32_t count = 0;
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        for (uint32_t i = c->ssa.blocks.data[b].first; i; i = c->ssa.ins.data[i].next) {
            const vy_ins *ins = &c->ssa.ins.data[i];
            count += ins->op == VY_SSA_ATOMIC && (ins->bits & VY_JOIN_GROUP);
        }
    }
    return count;
}

/* One atomic of the workgroup for each place that is seen to be one for all, beside the
 * invocation's and those of the loop; none of floats and of 64 bits, and none where nobody asked.
 */
static void test_coarse_atomics_of_workgroups_are_one(void **state)
{
    (void)state;
    static const struct {
        const char *statements;
        uint32_t groups, others;
    } cases[] = {
        {APPEND("k[0]"), 1, 2},
        {"atomic_add(k[0], i32(x[gid.x]))", 1, 2},
        {"atomic_max(k[p], i32(x[gid.x]))", 1, 2},
        {"atomic_xor(k[len(x)], i32(x[gid.x]))\natomic_xor(k[2], 9i)", 2, 4},
        {"y[gid.x] = x[gid.x]\natomic_add(k[1], 1i)", 1, 2},
        {"let e = p & 7\nif x[gid.x] > 3 { let o = atomic_add(k[e], 1i)\ny[u32(o)] = 2 }", 0, 2},
        {"atomic_add(k[x[gid.x]], 1i)", 0, 5},
        {"atomic_add(g[0], f[gid.x])", 0, 5},
        {"atomic_add(z[1], u64(x[gid.x]))", 0, 2},
        /* Four are joined, the fifth is done for each element. */
        {"let a = i32(x[gid.x])\natomic_or(k[0], a)\natomic_or(k[1], a)\natomic_or(k[2], a)\n"
         "atomic_or(k[3], a)\natomic_or(k[4], a)",
         4, 4 + JOINS + 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t is_joined = 0; is_joined < 2; is_joined++) {
            ssa_case c;
            vy_coarse coarse;
            make_joined(&c, cases[i].statements, is_joined != 0, &coarse);
            uint32_t groups = is_joined ? cases[i].groups : 0;
            uint32_t atomics = case_count(&c, VY_SSA_ATOMIC), found = count_group_atomics(&c);
            if (found != groups || atomics != groups + cases[i].others ||
                case_count(&c, VY_SSA_GROUP_BEGIN) != (groups > 0) ||
                coarse.is_joined != (groups > 0)) {
                fail_msg("%s: %u of %u atomics are the workgroup's", cases[i].statements,
                         (unsigned)found, (unsigned)atomics);
            }
            case_finish(&c);
        }
    }
}

/* Words that elements append, each at the place that its atomic has taken for it alone, are put
 * together by the workgroup: stages of an element. */
static void test_coarse_words_that_are_appended_are_staged(void **state)
{
    (void)state;
    static const struct {
        const char *statements;
        uint32_t stages;
    } cases[] = {
        {"if x[gid.x] > 3 { let o = atomic_add(c[0], 1)\ny[o] = x[gid.x] }", 1},
        {"if x[gid.x] > 3 { let o = atomic_add(c[0], 1)\ng[o + 9] = f[gid.x] }", 1},
        {"let o = atomic_add(c[3], 1)\ny[o - 9] = x[gid.x]", 1},
        {"let o = atomic_add(c[3], 1)\ny[5 + o] = x[gid.x]\natomic_add(k[0], i32(o))", 0},
        /* One of two. */
        {"if x[gid.x] > 3 { let o = atomic_add(c[0], 1)\ny[o] = x[gid.x] } else {\n"
         "let o = atomic_add(c[1], 1)\ng[o] = f[gid.x] }",
         1},
        /* Places that are not one behind the other. */
        {"if x[gid.x] > 3 { let o = atomic_add(c[0], 2)\ny[o] = x[gid.x] }", 0},
        {"if x[gid.x] > 3 { let o = atomic_add(c[0], 1)\ny[o * 2] = x[gid.x] }", 0},
        {"if x[gid.x] > 3 { let o = atomic_add(c[0], 1)\ny[9 - o] = x[gid.x] }", 0},
        {"if x[gid.x] > 3 { let o = atomic_sub(c[0], 1)\ny[o] = x[gid.x] }", 0},
        {"atomic_add(c[0], x[gid.x])\nlet o = atomic_add(c[0], 1)\ny[o] = 1", 0},
        /* Places that are left empty, or that others know. */
        {"let o = atomic_add(c[0], 1)\nif x[gid.x] > 3 { y[o] = x[gid.x] }", 0},
        {"let o = atomic_add(c[0], 1)\ny[o] = x[gid.x]\ng[o] = 1.0", 0},
        /* The buffer sees more; elements of other sizes. */
        {"let o = atomic_add(c[0], 1)\ny[o] = x[gid.x]\nif o > 7 { y[0] = 3 }", 0},
        {"let o = atomic_add(c[0], 1)\ny[o] = x[gid.x] + y[p]", 0},
        {"let o = atomic_add(c[0], 1)\nw[o] = u32x2(x[gid.x], 1)", 0},
        {"let o = atomic_add(c[0], 1)\nh[o] = f16(f[gid.x])", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t is_joined = 0; is_joined < 2; is_joined++) {
            ssa_case c;
            vy_coarse coarse;
            make_joined(&c, cases[i].statements, is_joined != 0, &coarse);
            uint32_t wanted = is_joined ? cases[i].stages : 0;
            uint32_t stages = case_count(&c, VY_SSA_STAGE), ends = case_count(&c, VY_SSA_UNSTAGE);
            if (!coarse.elements || stages != wanted * coarse.elements || ends != wanted ||
                (coarse.shared > 4 * VY_COARSE_STAGE) != (wanted > 0)) {
                fail_msg("%s: %u are staged of %u elements, %u bytes", cases[i].statements,
                         (unsigned)stages, (unsigned)coarse.elements, (unsigned)coarse.shared);
            }
            case_finish(&c);
        }
    }
}

/* Where the workgroup's elements would have no room, none are. */
static void test_coarse_workgroups_stage_what_has_room(void **state)
{
    (void)state;
    static const char body[] = "grid over x\nin x : u32[]\ninout y : u32[]\ninout c : u32[4]\n"
                               "kernel { let o = atomic_add(c[0], 1)\ny[o] = x[gid.x] }\n";
    for (uint32_t size = 64; size <= 1024; size *= 2) {
        ssa_case c;
        vy_coarse coarse;
        char text[256];
        (void)snprintf(text, sizeof text, "program t\nworkgroup %u\n%s", (unsigned)size, body);
        case_init_program(&c, text);
        case_build(&c, 0);
        case_pass(&c, "ranges");
        assert_true(vy_ssa_coarsen(&c.ssa, true, &coarse));
        assert_null(vy_ssa_verify(&c.ssa));
        assert_int_equal(coarse.elements, RETURNS);
        assert_int_equal(case_count(&c, VY_SSA_UNSTAGE), size * RETURNS <= VY_COARSE_STAGE);
        case_finish(&c);
    }
}

/* Floats are added in the program's order: one addition for each element, none beside. */
static void test_coarse_floats_keep_their_order(void **state)
{
    (void)state;
    ssa_case c;
    vy_coarse coarse;
    make(&c, "g[gid.x] = f[gid.x] + g[gid.x] + 0.5", &coarse);
    assert_int_equal(coarse.elements, 4);
    uint32_t adds = 0;
    for (uint32_t b = 1; b < c.ssa.blocks.count; b++) {
        for (uint32_t i = c.ssa.blocks.data[b].first; i; i = c.ssa.ins.data[i].next) {
            const vy_ins *ins = &c.ssa.ins.data[i];
            adds += ins->op == VYRE_OP_ADD && ins->type == VYRE_TYPE_F32;
        }
    }
    assert_int_equal(adds, 2 * (4 + 1));
    case_finish(&c);
}

/* Where an invocation costs more than its accesses: 64 bytes of what is stored, unless data says
 * where something lies; elements of 16 bytes, too. */
static void test_coarse_invocations_are_longer_where_that_is_asked_for(void **state)
{
    static const struct {
        const char *statements;
        uint32_t elements, longer, loads, stores;
    } cases[] = {
        {"y[gid.x] = x[gid.x]", 4, 16, 4, 4},
        {"w[gid.x] = u32x2(p, 2)", 2, 8, 0, 4},
        {"q[gid.x] = m[gid.x] > 3", 4, 16, 4, 4},
        {"let a = v[gid.x]\ny[gid.x] = a.x + a.w", 0, 4, 4, 4},
        {"y[gid.x] = x[gid.x]\natomic_add(k[0], i32(x[gid.x]))", 4, 16, 4, 4},
        {"g[gid.x] = f[x[gid.x]]", 4, 4, 1, 1},
        {"atomic_add(k[0], i32(x[gid.x]))", JOINS, JOINS, ROUNDS, 0},
        {"if gid.x < 7 { y[gid.x] = v[0].x }", 0, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ssa_case c;
        vy_coarse coarse;
        make(&c, cases[i].statements, &coarse);
        uint32_t elements = coarse.elements;
        case_finish(&c);
        make_by(&c, cases[i].statements, VY_COARSEN_LONG, &coarse);
        uint32_t loads = case_count(&c, VY_SSA_LOAD_WIDE);
        uint32_t stores = case_count(&c, VY_SSA_STORE_WIDE);
        if (elements != cases[i].elements || coarse.elements != cases[i].longer ||
            loads != cases[i].loads || stores != cases[i].stores) {
            fail_msg("%s: %u and %u elements, %u loads, %u stores", cases[i].statements, elements,
                     coarse.elements, loads, stores);
        }
        case_finish(&c);
    }
}

/* Larger than it may become: left alone. */
static void test_coarse_bodies_have_a_limit(void **state)
{
    (void)state;
    for (uint32_t terms = 100; terms <= 200; terms += 100) {
        ssa_case c;
        vy_coarse coarse;
        vy_text text;
        vy_text_init(&text, NULL);
        vy_text_printf(&text, HEAD "kernel {\n var a = x[gid.x]\n");
        for (uint32_t i = 0; i < terms; i++) {
            vy_text_printf(&text, " a = (a ^ %u) * p\n", (unsigned)i);
        }
        vy_text_printf(&text, " y[gid.x] = a\n}\n");
        case_init_program(&c, text.data);
        vy_text_finish(&text);
        case_build(&c, 0);
        assert_true(vy_ssa_coarsen(&c.ssa, false, &coarse));
        assert_int_equal(coarse.elements, terms == 100 ? 4 : 0);
        assert_null(vy_ssa_verify(&c.ssa));
        case_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coarse_forms_match_stored_ones),
        cmocka_unit_test(test_coarse_is_what_gains),
        cmocka_unit_test(test_coarse_atomics_of_one_place_return_together),
        cmocka_unit_test(test_coarse_atomics_that_lanes_join_are_ranked),
        cmocka_unit_test(test_coarse_atomics_of_workgroups_are_one),
        cmocka_unit_test(test_coarse_words_that_are_appended_are_staged),
        cmocka_unit_test(test_coarse_workgroups_stage_what_has_room),
        cmocka_unit_test(test_coarse_floats_keep_their_order),
        cmocka_unit_test(test_coarse_invocations_are_longer_where_that_is_asked_for),
        cmocka_unit_test(test_coarse_bodies_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

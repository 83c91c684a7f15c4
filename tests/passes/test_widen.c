/* Which accesses of one invocation become one, and which do not; what indices are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/passes/linear.h"
#include "codegen/passes/widen.h"
#include "tests/passes/form_text.h"

#include <stdio.h>
#include <string.h>

/* Bindings: x 1, y 2, b 4, h 8, d 16, v 32, f 64, k 128, n 256, q 512. All are as long as
 * `whole` says, or longer. */
#define HEAD                                                                                       \
    "program t\nworkgroup 64\nin x : u32[]\ninout y : u32[len(x)]\ninout b : u8[len(x)]\n"         \
    "inout h : f16[len(x)]\ninout d : f64[len(x)]\ninout v : u32x2[len(x)]\n"                      \
    "inout f : f32[len(x)]\ninout k : u32[8]\nin n : u32[16]\ninout q : bool[len(x)]\n"            \
    "shared s : u32[64]\nparam p : u32\n"
/* 64 elements of every buffer are the invocation's. */
#define WHOLE "let t = gid.x\nif t < len(x) / 64 {\nlet i = t * 64\n"

static void make(ssa_case *c, const char *before, const char *statements, const char *after,
                 uint64_t *out_streams)
{
    static const char *const passes[] = {"trivial-phi", "cse",  "dce", "licm",
                                         "ranges",      "fold", "dce", NULL};
    char text[8192];
    (void)snprintf(text, sizeof text, HEAD "kernel {\n%s%s%s\n}\n", before, statements, after);
    case_init_program(c, text);
    case_build(c, 0);
    for (size_t p = 0; passes[p]; p++) {
        case_pass(c, passes[p]);
    }
    assert_true(vy_ssa_widen(&c->ssa, out_streams));
    const char *problem = vy_ssa_verify(&c->ssa);
    if (problem) {
        fail_msg("%s: %s", statements, problem);
    }
}

static void test_widened_forms_match_stored_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name, *statements;
    } cases[] = {
        {"widen_four", "let a = x[i] + x[i + 1]\nlet c = x[i + 2] + x[i + 3]\n"
                       "y[i + 3] = a\ny[i + 1] = c\ny[i + 2] = a\ny[i] = c\n"},
        {"widen_halves", "f[i] = f32(x[i + 2] + x[i + 3])\nf[i + 1] = 2.0\n"},
        {"widen_bytes", "b[i] = 1\nb[i + 2] = 3\nb[i + 1] = 2\nb[i + 3] = b[i + 8]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ssa_case c;
        uint64_t streams;
        make(&c, WHOLE, cases[i].statements, "}", &streams);
        assert_int_not_equal(streams, 0);
        case_compare(cases[i].name, case_print(&c));
        case_finish(&c);
    }
}

typedef struct row {
    const char *statements;
    uint64_t streams;
    uint32_t loads, stores;             /* wide ones */
    uint32_t plain_loads, plain_stores; /* that are left */
} row;

#define FOUR(b)                                                                                    \
    "let a = " b "[i]\nlet c = " b "[i + 1]\nlet e = " b "[i + 2]\nlet g = " b "[i + 3]\n"
#define SUM "k[0] = a + c + e + g\n"

static const row rows[] = {
    /* Any order, with others between. */
    {FOUR("x") SUM, 1, 1, 0, 0, 1},
    {"k[0] = x[i + 3] + x[i + 1] * x[i] + x[i + 2]\n", 1, 1, 0, 0, 1},
    {"y[i + 2] = 1\ny[i] = p\ny[i + 3] = 3\ny[i + 1] = 4\n", 2, 0, 1, 0, 0},
    {"y[i] = x[i]\ny[i + 1] = x[i + 1]\ny[i + 2] = x[i + 2]\ny[i + 3] = x[i + 3]\n", 3, 1, 1, 0, 0},
    /* Halves of four, eights in two fours; three of four hold one half. */
    {"k[0] = x[i] + x[i + 1]\n", 1, 1, 0, 0, 1},
    {"k[0] = x[i + 1] + x[i + 2]\n", 0, 0, 0, 2, 1},
    {"k[0] = x[i + 1] + x[i + 2] + x[i + 3]\n", 1, 1, 0, 1, 1},
    {FOUR("x") SUM "k[2] = x[i + 4] + x[i + 5] + x[i + 6] + x[i + 7]\n", 1, 2, 0, 0, 2},
    /* Loads of the same element are one. */
    {FOUR("x") SUM "k[2] = x[i + 2] * a\n", 1, 1, 0, 0, 2},
    /* Where wide elements begin: shifts, masks, products, differences, phis. */
    {"let j = i + (p & 7) * 4\nk[0] = x[j] + x[j + 1] + x[j + 2] + x[j + 3]\n", 1, 1, 0, 0, 1},
    {"let j = i + (p & 28)\nk[0] = x[j] + x[j + 1] + x[j + 2] + x[j + 3]\n", 1, 1, 0, 0, 1},
    {"let j = i + (p & 6)\nk[0] = x[j] + x[j + 1] + x[j + 2] + x[j + 3]\n", 1, 2, 0, 0, 1},
    {"let j = i + (p & 7)\nk[0] = x[j] + x[j + 1] + x[j + 2] + x[j + 3]\n", 0, 0, 0, 4, 1},
    {"let j = p & 3\nk[0] = x[i + j * 2] + x[i + (j * 2 + 1)]\n", 1, 1, 0, 0, 1},
    {"let j = (t * 2 + 1) * 32\nlet m = 1 + j\nif m < len(x) { k[0] = x[m] + x[j] }\n", 1, 1, 0, 0,
     1},
    {"let j = i32(p & 12)\nk[0] = n[j] + n[j + 1] + n[j + 2] + n[j + 3]\n", 256, 1, 0, 0, 1},
    {"for j in i .. i + 64 step 4 { let m = j + 3\nif m < len(x) {\n"
     "k[0] = x[j] + x[j + 1] + x[j + 2] + x[m] } }\n",
     1, 1, 0, 0, 1},
    {"for j in i .. i + 64 step 2 { k[0] = x[j & 0xfffffffc] }\n", 0, 0, 0, 1, 1},
    /* Known places. */
    {"k[p & 1] = n[4] + n[5] + n[7] + n[6]\n", 256, 1, 0, 0, 1},
    {"k[4] = 1\nk[5] = 2\nk[6] = 3\nk[7] = p\n", 128, 0, 1, 0, 0},
    {"k[5] = 1\nk[6] = 2\n", 0, 0, 0, 0, 2},
    /* Other sizes: eight of 16 bits, sixteen of 8, two of 64. */
    {"h[i] = 1.0h\nh[i + 1] = 2.0h\n", 8, 0, 1, 0, 0},
    {"h[i] = 1.0h\nh[i + 1] = 2.0h\nh[i + 2] = 1.0h\nh[i + 3] = 2.0h\n", 8, 0, 1, 0, 0},
    {"k[0] = u32(b[i]) + u32(b[i + 1]) + u32(b[i + 2]) + u32(b[i + 3])\n", 4, 1, 0, 0, 1},
    {"k[0] = u32(b[i]) + u32(b[i + 1])\n", 0, 0, 0, 2, 1},
    {"d[i + 1] = d[i + 2] + d[i + 3]\nd[i] = 1.0d\n", 16, 1, 1, 0, 0},
    {"let a = v[i]\nlet c = v[i + 1]\nv[i + 5] = a\nv[i + 4] = c\n", 32, 1, 1, 0, 0},
    {"q[i + 1] = q[i + 4]\nq[i] = q[i + 5]\n", 512, 1, 1, 0, 0},
    /* A store between loads: of the same element, of another one, of one that may be the same. */
    {"let a = y[i]\ny[i + 1] = 7\nk[0] = a + y[i + 1]\n", 0, 0, 0, 2, 2},
    {"let a = y[i]\ny[i] = 7\nk[0] = a + y[i + 1]\n", 2, 1, 0, 0, 2},
    {"let a = y[i]\ny[i] = 7\nk[0] = a + y[i + 1] + y[i]\n", 2, 1, 0, 1, 2},
    {"let a = y[i]\ny[i + 9] = 7\nk[0] = a + y[i + 1]\n", 2, 1, 0, 0, 2},
    {"let a = y[i]\ny[i + (p & 7)] = 7\nk[0] = a + y[i + 1]\n", 0, 0, 0, 2, 2},
    {"let a = y[i]\nf[i] = 7.0\nk[0] = a + y[i + 1]\n", 2, 1, 0, 0, 2},
    {"let a = y[i]\ny[i] = a + 1\nlet c = y[i + 1]\ny[i + 1] = c + 1\nlet e = y[i + 2]\n"
     "y[i + 2] = e + 1\nlet g = y[i + 3]\ny[i + 3] = g + 1\n",
     2, 1, 1, 0, 0},
    /* Joined stores would pass a load that joined loads had moved up. */
    {"y[i + 3] = p\nlet a = y[i + 2]\ny[i + 2] = a + 1\nk[0] = a + y[i + 3]\n", 2, 0, 1, 2, 1},
    {"y[i + 3] = p\nlet a = y[i + 2]\ny[i + 2] = a + 1\nlet c = y[i + (p & 7)]\n"
     "k[0] = a + y[i + 3] + c\n",
     2, 0, 1, 3, 1},
    {"y[i + 2] = 5\ny[i + 3] = p\nlet a = y[i + 2]\nk[0] = a + y[i + 3]\n", 2, 1, 1, 0, 1},
    /* A load between stores. */
    {"y[i] = 1\nlet a = y[i]\ny[i + 1] = a\n", 0, 0, 0, 1, 2},
    {"y[i] = 1\nlet a = y[i + 1]\ny[i + 1] = a + 1\n", 2, 0, 1, 1, 0},
    {"y[i] = 1\nlet a = y[i + 5]\ny[i + 1] = a\n", 2, 0, 1, 1, 0},
    {"y[i] = 1\nlet a = y[i + (p & 7)]\ny[i + 1] = a\n", 0, 0, 0, 1, 2},
    {"y[i] = 1\nlet a = x[i + (p & 7)]\ny[i + 1] = a\n", 2, 0, 1, 1, 0},
    /* Stores of the same element, and of one that may be. */
    {"y[i] = 1\ny[i] = 2\ny[i + 1] = 3\n", 2, 0, 1, 0, 1},
    {"y[i] = 1\ny[i + (p & 7)] = 2\ny[i + 1] = 3\n", 0, 0, 0, 0, 3},
    {"y[i] = 1\ny[i + 6] = 2\ny[i + 1] = 3\n", 2, 0, 1, 0, 1},
    /* Atomics of the buffer, of another; with an order that others may rely on. */
    {"let a = y[i]\natomic_add(y[i + 1], 1)\nk[0] = a + y[i + 1]\n", 0, 0, 0, 2, 1},
    {"let a = y[i]\natomic_add(k[1], 1)\nf[i] = f32(a + y[i + 1])\n", 2, 1, 0, 0, 1},
    {"let a = y[i]\natomic_add(k[1], 1, acquire)\nf[i] = f32(a + y[i + 1])\n", 0, 0, 0, 2, 1},
    {"y[i] = 1\natomic_add(k[1], 1, release)\ny[i + 1] = 2\n", 0, 0, 0, 0, 2},
    {"y[i] = 1\natomic_add(s[1], 1)\ny[i + 1] = 2\n", 2, 0, 1, 0, 0},
    /* Not in one block. */
    {"let a = x[i]\nif p > 3 { k[0] = a + x[i + 1] }\n", 0, 0, 0, 2, 1},
    /* Workgroup memory is not for this. */
    {"k[0] = s[0] + s[1] + s[2] + s[3]\n", 0, 0, 0, 4, 1},
};

static bool check_row(const row *r, const char *before, const char *after)
{
    ssa_case c;
    uint64_t streams = 77;
    make(&c, before, r->statements, after, &streams);
    uint32_t loads = case_count(&c, VY_SSA_LOAD_WIDE), stores = case_count(&c, VY_SSA_STORE_WIDE);
    uint32_t plain_loads = case_count(&c, VYRE_OP_LOAD);
    uint32_t plain_stores = case_count(&c, VY_SSA_STORE);
    bool is_right = streams == r->streams && loads == r->loads && stores == r->stores &&
                    plain_loads == r->plain_loads && plain_stores == r->plain_stores;
    if (!is_right) {
        print_error("%s: streams %u, wide loads %u, stores %u, others %u, %u\n%s", r->statements,
                    (unsigned)streams, (unsigned)loads, (unsigned)stores, (unsigned)plain_loads,
                    (unsigned)plain_stores, case_print(&c));
    }
    case_finish(&c);
    return is_right;
}

static void test_neighbours_are_joined_where_nothing_lies_between(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wrong += !check_row(&rows[i], WHOLE, "}");
    }
    assert_int_equal(wrong, 0);
}

/* Where not all are in bounds by proof, none is joined; where the last is, all are: the first of
 * four at a multiple of four, nothing wraps before. */
static void test_neighbours_are_joined_in_bounds_alone(void **state)
{
    (void)state;
    static const row cases[] = {
        {"let i = gid.x * 4\n" FOUR("x") SUM, 0, 0, 0, 4, 1},
        {"let i = gid.x * 4\nif i < len(x) {\n" FOUR("x") SUM "}\n", 0, 0, 0, 4, 1},
        {"let i = gid.x * 4\nlet j = i + 3\nif j < len(x) {\n" FOUR("x") SUM "}\n", 1, 1, 0, 0, 1},
        {"let i = gid.x * 4\nlet j = i + 1\nif j < len(x) {\n" FOUR("x") SUM "}\n", 1, 1, 0, 2, 1},
        {"let i = gid.x * 4\nif i < len(x) / 4 * 4 {\n" FOUR("x") SUM "}\n", 1, 1, 0, 0, 1},
        {"let i = gid.x * 4\nif i + 4 <= len(x) {\n" FOUR("x") SUM "}\n", 0, 0, 0, 4, 1},
        {"for i in gid.x * 4 .. len(x) & 0xfffffffc step 256 {\n" FOUR("x") SUM "}\n", 1, 1, 0, 0,
         1},
        {"for i in gid.x * 4 .. len(x) step 256 {\n" FOUR("x") SUM "}\n", 0, 0, 0, 4, 1},
        {"let i = gid.x * 2\nlet j = i + 3\nif j < len(x) {\n" FOUR("x") SUM "}\n", 1, 1, 0, 2, 1},
        {"let i = gid.x\nlet j = i + 3\nif j < len(x) {\n" FOUR("x") SUM "}\n", 0, 0, 0, 4, 1},
        {"let i = gid.x * 4\nlet j = i + 3\nif j < len(y) {\n"
         "y[i] = 1\ny[j] = 2\ny[i + 1] = 3\ny[i + 2] = 4\n}\n",
         2, 0, 1, 0, 0},
        /* The last one's low bits say nothing of indices of 64. */
        {"let i = u64(gid.x) * 4ul\nlet j = i + 3ul\nif j < u64(len(x)) {\n"
         "k[0] = x[i] + x[i + 1ul] + x[i + 2ul] + x[j]\n}\n",
         0, 0, 0, 4, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(check_row(&cases[i], "", ""));
    }
}

static void test_barriers_keep_neighbours_apart(void **state)
{
    (void)state;
    static const row cases[] = {
        {"k[0] = n[0] + n[1]\nbarrier\nk[1] = n[2] + n[3]\n", 256, 2, 0, 0, 2},
        {"k[0] = 1\nbarrier\nk[1] = 2\n", 0, 0, 0, 0, 2},
        {"let a = k[0]\nbarrier\nk[2] = a + k[1]\n", 0, 0, 0, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(check_row(&cases[i], "", ""));
    }
}

/* More groups at once than are followed: the oldest ends, none is joined wrongly. */
static void test_many_neighbours_are_joined(void **state)
{
    (void)state;
    vy_text text;
    ssa_case c;
    uint64_t streams;
    vy_text_init(&text, NULL);
    static const char *const places[] = {"p", "gid.y", "gid.z"};
    vy_text_printf(&text, "k[0] = 0");
    for (uint32_t g = 0; g < 90; g++) {
        uint32_t place = g < 45 ? g : 89 - g;
        vy_text_printf(&text, "%sx[i + (%s & %u) * 4 + %u]",
                       g % 8 ? " + " : "\nk[0] = ", places[place / 15], (unsigned)(place % 15 + 1),
                       (unsigned)(g / 45));
    }
    vy_text_printf(&text, "\n");
    for (uint32_t g = 0; g < 40; g++) {
        vy_text_printf(&text, "y[i + %u] = %u\n", (unsigned)(g ^ 21), (unsigned)g);
    }
    make(&c, WHOLE, text.data, "}", &streams);
    assert_int_equal(case_count(&c, VY_SSA_LOAD_WIDE), 31); /* one more is that of k */
    assert_int_equal(case_count(&c, VYRE_OP_LOAD), 2 * (45 - 31));
    assert_int_equal(case_count(&c, VY_SSA_STORE_WIDE), 10);
    case_finish(&c);
    vy_text_finish(&text);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* What the index of the first load is made of. */
static vy_linear sum_in(const char *statements, uint32_t *out_zeros)
{
    ssa_case c;
    char text[1024];
    (void)snprintf(text, sizeof text, HEAD "kernel {\n%s\n}\n", statements);
    case_init_program(&c, text);
    case_build(&c, 0);
    case_pass(&c, "trivial-phi");
    case_pass(&c, "cse");
    uint32_t load = case_find(&c, VYRE_OP_LOAD);
    assert_int_not_equal(load, 0);
    uint8_t *zeros = vy_ssa_low_zeros(&c.ssa);
    assert_non_null(zeros);
    vy_linear sum = vy_linear_find(&c.ssa, zeros, c.ssa.ins.data[load].arg[0]);
    *out_zeros = vy_linear_zeros(&sum, zeros);
    case_finish(&c);
    return sum;
}

static void test_indices_are_sums(void **state)
{
    (void)state;
    static const struct {
        const char *index;
        uint32_t terms, offset, zeros;
    } cases[] = {
        {"7", 0, 7, 32},
        {"gid.x", 1, 0, 0},
        {"gid.x * 12 + 5", 1, 5, 2},
        {"(gid.x + 3) * 4 + p * 6", 2, 12, 1},
        {"(gid.x + p) * 8 - 1", 2, 0xffffffffu, 3},
        {"gid.x - gid.x + 2", 0, 2, 32},
        {"gid.x * 8 - p * 16", 2, 0, 3},
        {"u32(-i32(gid.x * 4)) + 1", 1, 1, 2},
        {"(p & 0xfffffff0) | 5", 1, 5, 4},
        {"(p & 0xfffffff0) | 21", 1, 0, 0},
        {"(p & 0xfffffff0) ^ (gid.x << 6)", 1, 0, 4},
        {"min(gid.x * 4, p * 8) + 1", 1, 1, 2},
        {"select(p > 3, gid.x * 4, 16) + 1", 1, 1, 2},
        {"(p << 5 >> 3) + 2", 1, 2, 2},
        {"p >> 3", 1, 0, 0},
        {"p << gid.x", 1, 0, 0},
        {"(p * 4 << gid.x) + 1", 1, 1, 2},
        /* Of eight values: too many, so that it is itself and what is added last. */
        {"gid.x * 4 + p * 8 + lid.x * 4 + wid.x * 4 + gid.y * 8 + lid.y * 4 + wid.y * 4 + 3", 1, 3,
         2},
        {"u32(u64(p) * 4ul + u64(gid.x) * 8ul + 9ul)", 2, 9, 2},
        {"u32(u8(p) * 4) + 1", 1, 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        uint32_t zeros;
        (void)snprintf(text, sizeof text, "k[0] = x[%s]", cases[i].index);
        vy_linear sum = sum_in(text, &zeros);
        if (sum.count != cases[i].terms || sum.offset != cases[i].offset ||
            zeros != cases[i].zeros) {
            fail_msg("%s: %u terms, offset %u, %u zeros", cases[i].index, (unsigned)sum.count,
                     (unsigned)sum.offset, (unsigned)zeros);
        }
    }
}

/* Round loops: as many as first and step have; where they go on falling, none. */
static void test_low_bits_of_loops_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *statements;
        uint32_t zeros;
    } cases[] = {
        {"var j = 16\nwhile j < p { k[0] = x[j]\nj += 8 }", 3},
        {"var j = 16\nwhile j < p { k[0] = x[j]\nj += 8\nif j > 70 { j += 4 } }", 2},
        {"var j = 16\nwhile j < p { k[0] = x[j]\nj = j / 2 }", 0},
        {"var j = 16\nwhile j < p { k[0] = x[j]\nj = j * 3 + 32 }", 4},
        {"var j = p\nwhile j < 900 { k[0] = x[j * 4]\nj = j * 2 }", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t zeros;
        (void)sum_in(cases[i].statements, &zeros);
        if (zeros != cases[i].zeros) {
            fail_msg("%s: %u zeros", cases[i].statements, (unsigned)zeros);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widened_forms_match_stored_ones),
        cmocka_unit_test(test_neighbours_are_joined_where_nothing_lies_between),
        cmocka_unit_test(test_neighbours_are_joined_in_bounds_alone),
        cmocka_unit_test(test_barriers_keep_neighbours_apart),
        cmocka_unit_test(test_many_neighbours_are_joined),
        cmocka_unit_test(test_indices_are_sums),
        cmocka_unit_test(test_low_bits_of_loops_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How far the segments of a kernel reach, by what the host knows: where workgroups are left out,
 * and where none may be. */
#include "codegen/kernel.h"
#include "vyre/interp.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Grids of 10 x 6 x 5 workgroups of 64 x 2 x 1; len(x) is 1000, p is 130, q is 0, r is -1. */
static const uint32_t params[] = {130, 0, UINT32_MAX};
static const uint32_t lengths[] = {1000, 400, 16};
static const uint32_t grid[3] = {10, 6, 5};

#define EVERYTHING 10

static vyre_kernel *compile(const char *body)
{
    char source[2000];
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    snprintf(source, sizeof source,
             "program s\nworkgroup 64, 2\nparam p : u32\nparam q : u32\nparam r : u32\n"
             "in x : u32[]\ninout y : u32[]\ninout z : u32[]\n%s",
             body);
    if (vyre_program_parse(source, strlen(source), NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s\n%s", diag.message, source);
    }
    vyre_program_destroy(&program);
    return kernel;
}

static void extent(const vyre_kernel *kernel, uint32_t segment, const uint32_t *indices,
                   uint32_t out[3])
{
    vy_kernel_env env = {params, lengths, {grid[0], grid[1], grid[2]}, {64, 2, 1}};
    vy_execution execution = {.segment = segment};
    if (indices) {
        memcpy(execution.indices, indices, 2 * sizeof *indices);
    }
    vy_kernel_extent(kernel, &env, &execution, out);
}

static void expect3(const char *body, uint32_t x, uint32_t y, uint32_t z)
{
    char source[1500];
    uint32_t got[3];
    snprintf(source, sizeof source, "kernel {\n%s\n}\n", body);
    vyre_kernel *k = compile(source);
    extent(k, 0, NULL, got);
    bool is_nothing = x == 0 && got[0] * got[1] * got[2] == 0;
    if (!is_nothing && (got[0] != x || got[1] != y || got[2] != z)) {
        fail_msg("%u x %u x %u workgroups, not %u x %u x %u: %s", got[0], got[1], got[2],
                 (unsigned)x, (unsigned)y, (unsigned)z, body);
    }
    bool is_bound = x != grid[0] || y != grid[1] || z != grid[2];
    assert_true(vy_kernel_has_bounds(k) || !is_bound);
    vyre_kernel_destroy(&k);
}

static void expect(const char *body, uint32_t groups)
{
    expect3(body, groups, grid[1], grid[2]);
}

static void test_extent_of_each_comparison(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        uint32_t groups;
    } rows[] = {
        {"gid.x < 128", 2},
        {"gid.x < 129", 3},
        {"gid.x < 127", 2},
        {"gid.x < 1", 1},
        {"gid.x < 0", 0},
        {"gid.x < 640", 10},
        {"gid.x < 4000000000", EVERYTHING},
        {"128 > gid.x", 2},
        {"gid.x <= 127", 2},
        {"gid.x <= 128", 3},
        {"128 >= gid.x", 3},
        {"gid.x == 0", 1},
        {"gid.x == 64", 2},
        {"63 == gid.x", 1},
        {"gid.x <= r", EVERYTHING}, /* 2^32 - 1: the limit does not wrap */
        {"gid.x == r", EVERYTHING},
        {"gid.x != 3", EVERYTHING},
        {"gid.x > 3", EVERYTHING},
        {"gid.x >= 3", EVERYTHING},
        {"3 < gid.x", EVERYTHING},
        {"!(gid.x >= 128)", 2},
        {"!(gid.x > 127)", 2},
        {"!(gid.x != 64)", 2},
        {"!(128 <= gid.x)", 2},
        {"!(gid.x < 128)", EVERYTHING},
        {"!(gid.x == 3)", EVERYTHING},
        {"wid.x < 3", 3},
        {"wid.x == 3", 4},
        {"wid.x <= q", 1},
        {"!(wid.x > 3)", 4},
        {"wid.x < 100", EVERYTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[200];
        snprintf(body, sizeof body, "if %s { y[gid.x] = 1 }", rows[i].condition);
        expect(body, rows[i].groups);
        /* The other way round: who does not pass has left. */
        snprintf(body, sizeof body, "if !(%s) { return } y[gid.x] = 1", rows[i].condition);
        expect(body, rows[i].groups);
        snprintf(body, sizeof body, "if %s { } else { return } y[gid.x] = 1", rows[i].condition);
        expect(body, rows[i].groups);
        snprintf(body, sizeof body, "if !(%s) { } else { y[gid.x] = 1 }", rows[i].condition);
        expect(body, rows[i].groups);
    }
}

static void test_extent_by_what_the_host_knows(void **state)
{
    (void)state;
    static const struct {
        const char *limit;
        uint32_t groups;
    } rows[] = {
        {"p", 3},
        {"q", 0},
        {"r", EVERYTHING},
        {"len(y)", 7},
        {"len(x)", EVERYTHING},
        {"len(x) / 4", 4},
        {"(len(x) + 3) / 4 - 200", 1},
        {"min(p, 64)", 1},
        {"max(p, len(y))", 7},
        {"p >> 1", 2},
        {"select(q == 0, 100, 500)", 2},
        {"u32(i32(p) - 100)", 1},
        {"group_size.x * 2", 2},
        {"num_groups.x * 64 / 2", 5},
        {"num_groups.x", 1},
        {"p - 131", EVERYTHING}, /* wraps */
        /* What it does not know. */
        {"pass", EVERYTHING},
        {"x[0]", EVERYTHING},
        {"p + pass", EVERYTHING},
        {"lid.x", EVERYTHING},
        {"gid.y", EVERYTHING},
        {"u32(f32(p))", EVERYTHING},
        {"u32(u64(p))", EVERYTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[200];
        snprintf(body, sizeof body, "if gid.x < %s { y[gid.x] = 1 }", rows[i].limit);
        expect(body, rows[i].groups);
        snprintf(body, sizeof body, "let n = %s let i = gid.x let b = i < n if b { y[gid.x] = 1 }",
                 rows[i].limit);
        expect(body, rows[i].groups);
    }
    /* The place has to stand alone. */
    expect("if gid.x + 1 < 64 { y[gid.x] = 1 }", EVERYTHING); /* the sum may wrap */
    expect("if gid.x * 2 < 64 { y[gid.x] = 1 }", EVERYTHING);
    expect("if lid.x < 3 { y[gid.x] = 1 }", EVERYTHING);
    expect("var i = gid.x if i < 64 { y[gid.x] = 1 }", EVERYTHING);
    expect("var n = 64u if gid.x < n { y[gid.x] = 1 }", EVERYTHING);
}

static void test_extent_of_conditions_within_each_other(void **state)
{
    (void)state;
    expect("if gid.x < 64 && x[gid.x] == 3 { y[gid.x] = 1 }", 1);
    expect("if x[gid.x] == 3 && gid.x < p { y[gid.x] = 1 }", 3);
    expect("if gid.x < p && gid.x < 64 { y[gid.x] = 1 }", 1);
    expect("if gid.x < p || gid.x < 64 { y[gid.x] = 1 }", 3);
    expect("if gid.x < 64 || x[gid.x] == 3 { y[gid.x] = 1 }", EVERYTHING);
    expect("if !(gid.x >= p || x[gid.x] == 3) { y[gid.x] = 1 }", 3);
    expect("if !(gid.x >= p && x[gid.x] == 3) { y[gid.x] = 1 }", EVERYTHING);
    expect("if !(gid.x >= p && gid.x >= 256) { y[gid.x] = 1 }", 4);
    expect("if gid.x < p { if gid.x < 64 { y[gid.x] = 1 } }", 1);
    expect("if gid.x < p { y[gid.x] = 1 if gid.x < 64 { y[gid.x] = 2 } }", 3);
    expect("if gid.x < 64 { y[gid.x] = 1 } if gid.x < p { y[gid.x] = 1 }", 3);
    expect("if gid.x < 64 { y[gid.x] = 1 } else { y[gid.x] = 2 }", EVERYTHING);
    expect("if gid.x < 64 { y[gid.x] = 1 } else { if gid.x < p { y[gid.x] = 2 } }", 3);
    expect("if gid.x < 64 { y[gid.x] = 1 } y[gid.x] = 2", EVERYTHING);
    /* What the host knows of all invocations. */
    expect("if q == 0 { y[gid.x] = 1 }", EVERYTHING);
    expect("if q != 0 { y[gid.x] = 1 }", 0);
    expect("if q == 1 && gid.x < 64 { y[gid.x] = 1 } if gid.x < p { z[gid.x] = 1 }", 3);
    expect("if q == 0 && gid.x < 64 { y[gid.x] = 1 } else { if q == 1 { y[0] = 3 } }", 1);
    expect("if q == 0 { return } y[gid.x] = 1", 0);
}

static void test_extent_behind_returns(void **state)
{
    (void)state;
    expect("if gid.x >= p { return } y[gid.x] = 1", 3);
    expect("y[gid.x] = 1 if gid.x >= p { return }", EVERYTHING);
    expect("if gid.x >= p { y[0] = 1 return } y[gid.x] = 1", EVERYTHING);
    expect("if gid.x >= p { return } if gid.x >= 64 { return } y[gid.x] = 1", 1);
    expect("if gid.x >= p { if x[0] == 1 { return } } y[gid.x] = 1", EVERYTHING);
    expect("if gid.x >= p { if x[0] == 1 { return } else { return } } y[gid.x] = 1", 3);
    expect("if gid.x >= 64 { if gid.x >= p { return } } y[gid.x] = 1", 3);
    expect("if x[0] == 1 { if gid.x >= 64 { return } } else { if gid.x >= p { return } } "
           "y[gid.x] = 1",
           3);
    expect("{ if gid.x >= p { return } } y[gid.x] = 1", 3);
    expect("region \"a\" { if gid.x >= p { return } y[gid.x] = 1 }", 3);
    expect("for i in 0 .. 4 { if gid.x >= p { return } y[gid.x] = i }", 3);
    expect("for i in 0 .. 4 { if gid.x >= p { return } } y[gid.x] = 1", EVERYTHING);
    /* Jumps within loops count for nothing. */
    expect("for i in 0 .. 4 { if gid.x >= p { break } y[gid.x] = i }", EVERYTHING);
    expect("for i in 0 .. 4 { if gid.x >= p { continue } y[gid.x] = i }", EVERYTHING);
    expect("return", 0);
}

static void test_extent_of_each_statement(void **state)
{
    (void)state;
    static const struct {
        const char *statement;
        bool leaves;
    } rows[] = {
        {"y[gid.x] = 1", true},
        {"atomic_add(y[0], 1)", true},
        {"let old = atomic_max(y[0], 1)", true},
        {"trap(3)", true},
        {"while x[0] > 3 { }", true}, /* may leave a record */
        {"let a = x[gid.x] + 1", false},
        {"var a = x[gid.x] a = a * 2", false},
        {"var a : u32[4] a[lid.x & 3] = 5", false},
        {"for i in 0 .. 9 { let a = x[i] }", false},
        {"switch x[0] { case 1 { y[0] = 1 } default { } }", true},
        {"switch x[0] { case 1 { let a = 3 } default { return } }", false},
        {"region \"a\" { y[0] = 1 }", true},
        {"{ y[0] = 1 }", true},
        {"if x[0] == 1 { y[0] = 1 }", true},
        {"for i in 0 .. x[0] { y[i] = 1 }", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[300];
        snprintf(body, sizeof body, "%s", rows[i].statement);
        expect(body, rows[i].leaves ? EVERYTHING : 0);
        snprintf(body, sizeof body, "if gid.x < p { %s }", rows[i].statement);
        expect(body, rows[i].leaves ? 3 : 0);
    }
    expect("if wid.x < 2 { barrier y[gid.x] = 1 }", 2);
    expect("barrier if gid.x < p { y[gid.x] = 1 }", 3);
    /* Loops that begin at the place, as those that stride over a grid do. */
    expect("for i in gid.x .. p { y[i] = 1 }", 3);
    expect("for i in gid.x .. p step num_groups.x * 64 { y[i] = 1 }", 3);
    expect("for i in gid.x .. p down { y[i] = 1 }", 3);
    expect("for i in wid.x .. 2 { y[i] = 1 }", 2);
    expect("for i in gid.x .. x[0] { y[i] = 1 }", EVERYTHING);
    expect("for i in 0 .. gid.x { y[i] = 1 }", EVERYTHING);
}

static void test_extent_of_other_dimensions(void **state)
{
    (void)state;
    expect3("if gid.y < 5 { y[gid.x] = 1 }", 10, 3, 5);
    expect3("if gid.z == 0 { y[gid.x] = 1 }", 10, 6, 1);
    expect3("if gid.x < p && gid.y < 2 && gid.z < 3 { y[gid.x] = 1 }", 3, 1, 3);
    expect3("if gid.x < p || gid.y < 2 { y[gid.x] = 1 }", 10, 6, 5);
    expect3("if gid.x >= p { return } if wid.y >= 4 { return } y[gid.x] = 1", 3, 4, 5);
    expect3("if gid.y < gid.x { y[gid.x] = 1 }", 10, 6, 5);
}

/* A function's statements are not looked at, its calls are. */
static void test_extent_of_functions(void **state)
{
    (void)state;
    static const char text[] = "fn twice(v : u32) -> u32 { return v * 2 }\n"
                               "fn put(v : u32) { y[0] = v }\n"
                               "kernel {\n"
                               "    if gid.x < p { put(3) }\n"
                               "    grid_sync\n"
                               "    put(3)\n"
                               "    grid_sync\n"
                               "    if twice(gid.x) < p { y[gid.x] = 1 }\n"
                               "    grid_sync\n"
                               "    if gid.x < p { y[twice(gid.x)] = 1 }\n"
                               "    grid_sync\n"
                               "    if gid.x < twice(2) { y[gid.x] = 1 }\n"
                               "}\n";
    static const uint32_t expected[] = {3, EVERYTHING, EVERYTHING, 3, EVERYTHING};
    vyre_kernel *k = compile(text);
    assert_int_equal(vyre_kernel_segment_count(k), 5);
    for (uint32_t s = 0; s < 5; s++) {
        uint32_t got[3];
        extent(k, s, NULL, got);
        assert_int_equal(got[0], expected[s]);
    }
    vyre_kernel_destroy(&k);
}

/* By the indices of the host's loops: the levels of a tree. */
static void test_extent_of_the_levels_of_a_tree(void **state)
{
    (void)state;
    vyre_kernel *k = compile("kernel {\n"
                             "    for level in 0 .. 9 {\n"
                             "        let width = 512 >> level\n"
                             "        if gid.x < width { y[gid.x] = y[gid.x] + y[gid.x + width] }\n"
                             "        grid_sync\n"
                             "    }\n"
                             "}\n");
    static const uint32_t expected[] = {8, 4, 2, 1, 1, 1, 1, 1, 1};
    for (uint32_t level = 0; level < 9; level++) {
        uint32_t got[3], indices[2] = {level, 0};
        extent(k, 0, indices, got);
        assert_int_equal(got[0], expected[level]);
    }
    vyre_kernel_destroy(&k);
}

/* Names across cuts: spilled values are stored by everybody; who never reached a binding has the
 * value zero behind the cut, so that only what is computed anew there can be relied upon. */
static void test_extent_across_cuts(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t first, second;
    } rows[] = {
        {"let i = gid.x if i < 64 { y[i] = 1 } grid_sync if i < p { y[i] = 2 }", 1, 3},
        {"let i = gid.x let n = len(y) grid_sync if i < n { y[i] = 2 }", 0, 7},
        {"if gid.x >= 64 { return } let i = gid.x y[i] = 1 grid_sync if i < p { y[i] = 2 }",
         EVERYTHING, EVERYTHING},
        {"let v = y[gid.x] grid_sync if gid.x < p { y[gid.x] = v }", EVERYTHING, 3},
        {"var v = 1u if gid.x < 64 { v = 2 } grid_sync if gid.x < p { y[gid.x] = v }", EVERYTHING,
         3},
        {"if gid.x >= 64 { return } y[gid.x] = 1 grid_sync if gid.x < p { y[gid.x] = 2 }", 1, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char source[600];
        uint32_t first[3], second[3];
        snprintf(source, sizeof source, "kernel { %s }\n", rows[i].body);
        vyre_kernel *k = compile(source);
        uint32_t last = vyre_kernel_segment_count(k) - 1;
        extent(k, 0, NULL, first);
        extent(k, last, NULL, second);
        if (last == 0 || first[0] != rows[i].first || second[0] != rows[i].second) {
            fail_msg("%u and %u workgroups: %s", first[0], second[0], rows[i].body);
        }
        vyre_kernel_destroy(&k);
    }
}

/* Beyond what is kept of a segment it counts as reaching everywhere. */
static void test_extent_of_very_many_conditions(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 200; count += count < 40 ? 13 : 53) {
        char body[16000] = "kernel {\n";
        size_t at = strlen(body);
        for (uint32_t i = 0; i < count; i++) {
            at += (size_t)snprintf(body + at, sizeof body - at, "if gid.x < %u { y[gid.x] = 1 }\n",
                                   (unsigned)i + 1);
        }
        snprintf(body + at, sizeof body - at, "}\n");
        char *source = malloc(20000);
        assert_non_null(source);
        snprintf(source, 20000, "program s\nworkgroup 64\ninout y : u32[]\n%s", body);
        vyre_program *program = NULL;
        vyre_kernel *k = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_program_parse(source, strlen(source), NULL, NULL, &program, &diag),
                         VYRE_OK);
        assert_int_equal(vyre_kernel_compile(program, NULL, &k, &diag), VYRE_OK);
        uint32_t length = 1000, got[3];
        vy_kernel_env env = {NULL, &length, {10, 1, 1}, {64, 1, 1}};
        vy_execution execution = {.segment = 0};
        vy_kernel_extent(k, &env, &execution, got);
        assert_int_equal(got[0], count < 10 ? 1 : got[0]);
        assert_true(got[0] == 10 || got[0] == (count + 63) / 64);
        assert_true(count < 150 || got[0] == 10);
        vyre_kernel_destroy(&k);
        vyre_program_destroy(&program);
        free(source);
    }
}

/* ---- Any programs ---------------------------------------------------------------------------- */

/* Programs whose every effect marks the invocation that had it, on the interpreter: none may lie
 * beyond the workgroups that are said to be needed. 6 x 3 workgroups of 4 x 2. */
#define WIDTH    24u
#define HEIGHT   6u
#define SEGMENTS 3u

typedef struct writer {
    char text[12000];
    size_t at;
    uint32_t seed, segment, names;
} writer;

static uint32_t draw(writer *w, uint32_t below)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}

static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->at += (size_t)vsnprintf(w->text + w->at, sizeof w->text - w->at, format, arguments);
    va_end(arguments);
    assert_true(w->at < sizeof w->text);
}

/* A place, or a value that the host knows, or one that it does not. */
static void put_value(writer *w, bool is_place)
{
    static const char *const places[] = {"gid.x", "gid.y", "wid.x", "wid.y", "column", "row"};
    static const char *const values[] = {"p",   "q",     "len(x)",    "p - 1",  "q / 2", "0",
                                         "7",   "16",    "min(p, q)", "limit",  "x[0]",  "pass",
                                         "23u", "lid.x", "gid.x",     "q >> p", "p + 3", "24"};
    put(w, "%s", is_place ? places[draw(w, 6)] : values[draw(w, 18)]);
}

static void put_condition(writer *w, uint32_t depth)
{
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    uint32_t kind = draw(w, depth ? 8 : 5);
    if (kind == 5) {
        put(w, "!(");
        put_condition(w, depth - 1);
        put(w, ")");
    } else if (kind > 5) {
        put(w, "(");
        put_condition(w, depth - 1);
        put(w, kind == 6 ? ") && (" : ") || (");
        put_condition(w, depth - 1);
        put(w, ")");
    } else {
        bool is_turned = draw(w, 3) == 0;
        put_value(w, !is_turned && kind < 4);
        put(w, " %s ", operators[draw(w, 6)]);
        put_value(w, is_turned && kind < 4);
    }
}

static void put_mark(writer *w)
{
    put(w, "atomic_or(mark[gid.y * %u + gid.x], %uu)\n", WIDTH, 1u << w->segment);
}

static void put_body(writer *w, uint32_t depth);

static void put_statement(writer *w, uint32_t depth)
{
    uint32_t name = w->names++;
    switch (depth ? draw(w, 9) : draw(w, 3)) {
    case 0:
        put_mark(w);
        break;
    case 1:
        put(w, "if ");
        put_condition(w, 1);
        put(w, " { return }\n");
        break;
    case 2:
        put(w, "let n%u = ", name);
        put_value(w, draw(w, 2));
        put(w, "\nif n%u < ", name);
        put_value(w, draw(w, 2));
        put(w, " { ");
        put_mark(w);
        put(w, "}\n");
        break;
    case 3:
        put(w, "for v%u in ", name);
        put_value(w, true);
        put(w, " .. min(24u, ");
        put_value(w, false);
        put(w, ")%s {\n", draw(w, 3) ? "" : " down");
        put_body(w, depth - 1);
        put(w, draw(w, 3) ? "}\n" : "if lid.x == 1 { break }\n}\n");
        break;
    case 4:
        put(w, "switch q { case 3, 5 {\n");
        put_body(w, depth - 1);
        put(w, "} default {\n");
        put_body(w, depth - 1);
        put(w, "} }\n");
        break;
    case 5:
        put(w, "{\n");
        put_body(w, depth - 1);
        put(w, "}\n");
        break;
    default:
        put(w, "if ");
        put_condition(w, 2);
        put(w, " {\n");
        put_body(w, depth - 1);
        if (draw(w, 2)) {
            put(w, "} else {\n");
            put_body(w, depth - 1);
        }
        put(w, "}\n");
    }
}

static void put_body(writer *w, uint32_t depth)
{
    for (uint32_t i = 1 + draw(w, 3); i > 0; i--) {
        put_statement(w, depth);
    }
}

/* Counts the workgroups that are left out. */
static void check_marks(const vyre_kernel *k, const writer *w, const uint32_t *words,
                        const uint32_t *mark, uint32_t *left_out)
{
    static const uint32_t given[] = {8, WIDTH * HEIGHT};
    vy_kernel_env env = {words, given, {6, 3, 1}, {4, 2, 1}};
    for (uint32_t s = 0; s < vyre_kernel_segment_count(k); s++) {
        uint32_t got[3];
        vy_execution execution = {.segment = s};
        vy_kernel_extent(k, &env, &execution, got);
        assert_true(got[0] <= 6 && got[1] <= 3 && got[2] <= 1);
        *left_out += 18 - got[0] * got[1] * got[2];
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            bool is_needed = i % WIDTH / 4 < got[0] && i / WIDTH / 2 < got[1] && got[2] > 0;
            if (mark[i] >> s & 1 && !is_needed) {
                fail_msg("p %u, q %u, segment %u: invocation %u, %u acts beyond %u x %u x %u\n%s",
                         words[0], words[1], (unsigned)s, (unsigned)(i % WIDTH),
                         (unsigned)(i / WIDTH), got[0], got[1], got[2], w->text);
            }
        }
    }
}

static void run_marks(const vyre_program *program, const uint32_t *words, uint32_t *mark)
{
    uint32_t x[8] = {5, 1, 2, 3, 4, 5, 6, 7};
    vyre_diag diag;
    vyre_interp_report report;
    vyre_host_buffer buffers[] = {{x, 8}, {mark, WIDTH * HEIGHT}};
    vyre_interp_params run = {.struct_size = sizeof run,
                              .buffers = buffers,
                              .buffer_count = 2,
                              .params = words,
                              .param_count = 2,
                              .groups = {6, 3, 1}};
    memset(mark, 0, WIDTH * HEIGHT * sizeof *mark);
    if (vyre_interp_run(program, &run, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

static void test_extent_covers_all_that_is_done(void **state)
{
    (void)state;
    static writer w;
    uint32_t left_out = 0;
    for (uint32_t seed = 1; seed <= 1500; seed++) {
        w = (writer){.seed = seed * 7919};
        put(&w, "program s\nworkgroup 4, 2\nparam p : u32\nparam q : u32\nin x : u32[]\n"
                "inout mark : u32[]\nkernel {\n");
        uint32_t returns = draw(&w, 4); /* before the names, which are then not reached by all */
        put(&w, "%slet column = gid.x\nlet row = gid.y\nlet limit = p + q\n",
            returns ? "" : "if gid.x > 9 { return }\n");
        for (w.segment = 0; w.segment < SEGMENTS; w.segment++) {
            put(&w, w.segment ? "grid_sync\n" : "");
            put_body(&w, 3);
            /* Then the cut made a segment of it, whatever there was. */
            put(&w, "if gid.x == 0 && gid.y == 0 && x[7] == 0 { mark[0] = 0 }\n");
        }
        put(&w, "}\n");
        vyre_program *program = NULL;
        vyre_kernel *k = NULL;
        vyre_diag diag;
        if (vyre_program_parse(w.text, w.at, NULL, NULL, &program, &diag) != VYRE_OK ||
            vyre_kernel_compile(program, NULL, &k, &diag) != VYRE_OK) {
            fail_msg("%s\n%s", diag.message, w.text);
        }
        assert_int_equal(vyre_kernel_segment_count(k), SEGMENTS);
        static const uint32_t values[][2] = {{0, 0}, {3, 5}, {9, 2}, {16, 24}, {UINT32_MAX, 1}};
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            uint32_t mark[WIDTH * HEIGHT];
            run_marks(program, values[v], mark);
            check_marks(k, &w, values[v], mark, &left_out);
        }
        vyre_kernel_destroy(&k);
        vyre_program_destroy(&program);
    }
    assert_true(left_out > 1000); /* or nothing was tested */
    print_message("%u workgroups left out\n", (unsigned)left_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extent_of_each_comparison),
        cmocka_unit_test(test_extent_by_what_the_host_knows),
        cmocka_unit_test(test_extent_of_conditions_within_each_other),
        cmocka_unit_test(test_extent_behind_returns),
        cmocka_unit_test(test_extent_of_each_statement),
        cmocka_unit_test(test_extent_of_other_dimensions),
        cmocka_unit_test(test_extent_of_functions),
        cmocka_unit_test(test_extent_of_the_levels_of_a_tree),
        cmocka_unit_test(test_extent_across_cuts),
        cmocka_unit_test(test_extent_of_very_many_conditions),
        cmocka_unit_test(test_extent_covers_all_that_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

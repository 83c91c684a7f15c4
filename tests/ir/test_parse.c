/* Text to program: every construct, precedence, literals, constants, limits. */
#include "tests/ir/text_support.h"

#include <pthread.h>
#include <stdlib.h>

static const char bfs[] =
    "// Breadth-first levels.\n"
    "program bfs\nworkgroup 256\ngrid over level\nfixpoint 100000 until changed\n\n"
    "in      row_start : u32[]\nin      column    : u32[]\n"
    "inout   level     : u32[]        // 0xffffffff: not reached yet\n"
    "scratch changed   : u32[1]\n\n"
    "kernel {\n    let v = gid.x\n    if v < len(level) {\n"
    "        let mine = atomic_load(level[v])\n        if mine == pass {\n"
    "            for e in row_start[v] .. row_start[v + 1] {\n"
    "                let old = atomic_min(level[column[e]], pass + 1)\n"
    "                if old > pass + 1 { atomic_store(changed[0], 1) }\n"
    "            }\n        }\n    }\n}\n";

static void test_header_is_read_whatever_its_order(void **state)
{
    (void)state;
    vyre_program *p = parse_ok(bfs);
    assert_string_equal(vyre_program_name(p), "bfs");
    assert_int_equal(p->workgroup[0], 256);
    assert_int_equal(p->workgroup[1], 1);
    assert_string_equal(p->buffers.data[p->grid_over].name, "level");
    assert_string_equal(p->buffers.data[p->until].name, "changed");
    assert_int_equal(p->passes, 100000);
    assert_int_equal(p->loop_limit, VYRE_DEFAULT_LOOP_LIMIT);
    assert_int_equal(p->buffers.count, 5);
    assert_int_equal(p->buffers.data[3].mode, VYRE_BUFFER_INOUT);
    assert_int_equal(p->buffers.data[4].mode, VYRE_BUFFER_SCRATCH);
    vyre_program_destroy(&p);

    p = parse_ok("program x inout b : u32[] fast_math loop_limit 9 workgroup 8, 4, 2 kernel { }");
    assert_int_equal(p->workgroup[0], 8);
    assert_int_equal(p->workgroup[1], 4);
    assert_int_equal(p->workgroup[2], 2);
    assert_int_equal(p->loop_limit, 9);
    assert_true(p->fast_math);
    assert_int_equal(p->passes, 1);
    vyre_program_destroy(&p);

    p = parse_ok("program x grid from n in n : u32[] kernel { let from = 1 }");
    assert_string_equal(p->buffers.data[p->grid_from].name, "n");
    assert_int_equal(p->grid_over, 0);
    vyre_program_destroy(&p);

    p = parse_ok("program x in of : u32[] grid of len(of) + 1, 2 kernel { }");
    assert_int_equal(p->exprs.data[p->grid_of[0].root].op, VYRE_OP_ADD);
    assert_int_equal(p->exprs.data[p->grid_of[1].root].bits[0], 2);
    assert_int_equal(p->grid_of[2].root, 0);
    assert_int_equal(p->grid_over + p->grid_from, 0);
    vyre_program_destroy(&p);
}

/* Whole subgroups, where invocations count elements; the text says it from then on. */
static void test_workgroups_have_a_size_where_none_is_given(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        uint32_t size;
    } rows[] = {{"grid over b", 64},
                {"subgroup 32 grid over b", 64},
                {"subgroup 128 grid over b", 128},
                {"grid over b workgroup 1", 1},
                {"", 1},
                {"grid of 3", 1}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[100], wanted[40];
        snprintf(text, sizeof text, "program x inout b : u32[] %s kernel { }", rows[i].header);
        vyre_program *p = parse_ok(text);
        assert_int_equal(p->workgroup[0], rows[i].size);
        assert_int_equal(p->workgroup[1] * p->workgroup[2], 1);
        char *printed = NULL;
        size_t size = 0;
        assert_int_equal(vyre_program_print(p, NULL, &printed, &size), VYRE_OK);
        snprintf(wanted, sizeof wanted, "workgroup %u\n", (unsigned)rows[i].size);
        assert_non_null(strstr(printed, wanted));
        vyre_text_free(NULL, printed, size);
        vyre_program_destroy(&p);
    }
}

static void test_buffers_have_modes_types_and_counts(void **state)
{
    (void)state;
    vyre_program *p =
        parse_ok("program x\nconst N = 4\nparam k : u32\nin a : f32[]\nout b : i32[len(a)]\n"
                 "inout c : bool[N]\nscratch d : u32[num_groups.x * 2]\n"
                 "scratch keep e : u32[k + 1]\nuniform f : f32[8]\nshared h : u32[2 * N]\n"
                 "scratch keep : u32[1]\nkernel { }");
    static const uint8_t modes[] = {
        VYRE_BUFFER_IN,           VYRE_BUFFER_OUT,     VYRE_BUFFER_INOUT,  VYRE_BUFFER_SCRATCH,
        VYRE_BUFFER_SCRATCH_KEEP, VYRE_BUFFER_UNIFORM, VYRE_BUFFER_SHARED, VYRE_BUFFER_SCRATCH};
    assert_int_equal(p->buffers.count, 9);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(p->buffers.data[i + 1].mode, modes[i]);
    }
    assert_int_equal(p->buffers.data[1].type, VYRE_TYPE_F32);
    assert_int_equal(p->buffers.data[1].count.root, 0);
    assert_int_equal(root(p, &p->buffers.data[2].count)->op, VYRE_OP_LENGTH);
    assert_int_equal(p->buffers.data[3].type, VYRE_TYPE_BOOL);
    assert_int_equal(root(p, &p->buffers.data[4].count)->op, VYRE_OP_MUL);
    assert_int_equal(root(p, &p->buffers.data[7].count)->bits[0], 8);
    assert_string_equal(p->buffers.data[8].name, "keep");
    vyre_program_destroy(&p);
}

static void check_kinds(const char *text, const uint8_t *kinds, uint32_t count)
{
    vyre_program *p = parse_ok(text);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(top(p, i)->kind, kinds[i]);
    }
    assert_int_equal(top(p, count - 1)->next, 0);
    vyre_program_destroy(&p);
}

static void test_every_statement_is_read(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {
        VY_STMT_LET,         VY_STMT_VAR,    VY_STMT_ARRAY,  VY_STMT_ASSIGN,       VY_STMT_STORE,
        VY_STMT_ARRAY_STORE, VY_STMT_ATOMIC, VY_STMT_ATOMIC, VY_STMT_UNIFORM_LOAD, VY_STMT_CALL,
        VY_STMT_CALL,        VY_STMT_LET,    VY_STMT_LET,    VY_STMT_IF,           VY_STMT_SWITCH,
        VY_STMT_FOR,         VY_STMT_WHILE,  VY_STMT_BLOCK,  VY_STMT_REGION,       VY_STMT_BARRIER,
        VY_STMT_GRID_SYNC,   VY_STMT_TRAP,   VY_STMT_RETURN};
    check_kinds(KERNEL("let x = a[0]  var y : u32 = 1  var z : u32[N + 1]  y = x  b[y] = x\n"
                       "z[1] = x\n atomic_add(b[0], 1) let o = atomic_load(b[1])\n"
                       "let u = uniform w[0]\n bump(x) let t : u32 = twice(x)\n"
                       "let r = twice(x) + 1 let q = (twice(x))\n"
                       "if x < 1 { } else { }\n switch x { case 1, 2 { } default { } }\n"
                       "for i in 0 .. 4 { continue }\n while y > 1 { break }\n { }\n"
                       "region \"here\" { }\n barrier\n grid_sync()\n trap(7)\n return"),
                kinds, VY_COUNT_OF(kinds));
}

static void test_atomics_take_operands_and_orders(void **state)
{
    (void)state;
    vyre_program *p = parse_ok(KERNEL(
        "atomic_store(b[0], 1, release)\nlet x = atomic_compare_exchange(b[1], 2, 3, acq_rel)\n"
        "let y : f32 = atomic_add(g[0], 1)\nlet z = atomic_load(b[2], acquire)\n"
        "atomic_max(w[lid.x], 1, relaxed)"));
    static const struct {
        uint8_t atomic, order;
    } rows[] = {{VYRE_ATOMIC_STORE, VYRE_ORDER_RELEASE},
                {VYRE_ATOMIC_COMPARE_EXCHANGE, VYRE_ORDER_ACQ_REL},
                {VYRE_ATOMIC_ADD, VYRE_ORDER_RELAXED},
                {VYRE_ATOMIC_LOAD, VYRE_ORDER_ACQUIRE},
                {VYRE_ATOMIC_MAX, VYRE_ORDER_RELAXED}};
    for (uint32_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_int_equal(top(p, i)->atomic, rows[i].atomic);
        assert_int_equal(top(p, i)->order, rows[i].order);
        assert_int_equal(top(p, i)->result != 0, i > 0 && i < 4);
    }
    assert_int_equal(root(p, &top(p, 1)->y)->bits[0], 2);
    assert_int_equal(root(p, &top(p, 1)->z)->bits[0], 3);
    vyre_program_destroy(&p);
}

static void test_for_takes_step_and_down_in_any_order(void **state)
{
    (void)state;
    vyre_program *p = parse_ok(KERNEL("for i in 0 .. 9 { }\nfor i in 0..9 step 2 { }\n"
                                      "for i in pi .. 9 down { }\nfor i in 0 .. 9 step 3 down { }\n"
                                      "for i in 0 .. 9 down step 4 { }"));
    static const struct {
        uint32_t down, step;
    } rows[] = {{0, 0}, {0, 2}, {1, 0}, {1, 3}, {1, 4}};
    for (uint32_t i = 0; i < VY_COUNT_OF(rows); i++) {
        const vy_stmt *loop = top(p, i);
        assert_int_equal(loop->kind, VY_STMT_FOR);
        assert_int_equal(loop->down, rows[i].down);
        assert_int_equal(loop->z.root ? root(p, &loop->z)->bits[0] : 0, rows[i].step);
        assert_int_equal(p->vars.data[loop->result].type, i == 2 ? VYRE_TYPE_I32 : VYRE_TYPE_U32);
    }
    vyre_program_destroy(&p);
}

static void test_case_values_have_the_type_of_the_selector(void **state)
{
    (void)state;
    vyre_program *p = parse_ok(KERNEL("switch pi { case -1, M { } case -2147483648 { } }\n"
                                      "switch pu { case 0xffffffff, N, 1 << 4 | 1, { } }"));
    static const uint32_t values[] = {0xffffffffu, 0xfffffffdu, 0x80000000u, 0xffffffffu, 16, 17};
    assert_int_equal(p->values.count, 1 + VY_COUNT_OF(values));
    for (uint32_t i = 0; i < VY_COUNT_OF(values); i++) {
        assert_int_equal(p->values.data[1 + i], values[i]);
    }
    vyre_program_destroy(&p);
}

static void test_else_if_nests_in_else(void **state)
{
    (void)state;
    vyre_program *p =
        parse_ok(KERNEL("if pu == 1 { } else if pu == 2 { } else { trap(1) } trap(2)"));
    const vy_stmt *first = top(p, 0);
    const vy_stmt *second = &p->stmts.data[first->other];
    assert_int_equal(second->kind, VY_STMT_IF);
    assert_int_equal(p->stmts.data[second->other].kind, VY_STMT_TRAP);
    assert_int_equal(p->stmts.data[second->other].bits, 1);
    assert_int_equal(top(p, 1)->bits, 2);
    vyre_program_destroy(&p);
}

/* The expression as its operators in evaluation order. */
static void test_precedence_builds_the_right_tree(void **state)
{
    (void)state;
    static const struct {
        const char *text, *order;
    } rows[] = {{"pu + pu * pu", "*+"},
                {"(pu + pu) * pu", "+*"},
                {"pu - pu - pu", "--"},
                {"pu - (pu + pu)", "+-"},
                {"pu << 1 + 1", "+<<"},
                {"pu & 1 << 2", "<<&"},
                {"pu ^ pu & pu", "&^"},
                {"pu | pu ^ pu", "^|"},
                {"pu & 1 == 0", "&=="},
                {"pu < 1 && pu > 2", "<>&&"},
                {"pu < 1 || pu > 2 && pu != 3", "<>!=&&||"},
                {"!(pu < 1) && pu < 2", "<!<&&"},
                {"-pi * pi", "-*"},
                {"~pu + 1", "~+"},
                {"pu / pu % pu", "/%"},
                {"pu * (pu % pu)", "%*"},
                {"pu >> 1 << 1", ">><<"},
                {"(pu < 1) == (pu < 2)", "<<=="}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024], order[64] = "";
        snprintf(text, sizeof text, HEAD "kernel { let x = %s }", rows[i].text);
        vyre_program *p = parse_ok(text);
        const vy_stmt *let = top(p, 0);
        for (uint32_t e = let->x.begin; e < let->x.end; e++) {
            const vy_op_info *info = vy_op_get((vyre_op)p->exprs.data[e].op);
            if (info->form != VY_FORM_LEAF) {
                strncat(order, info->text, 8);
            }
        }
        assert_string_equal(order, rows[i].order);
        vyre_program_destroy(&p);
    }
}

static void test_literals_have_types_and_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t type, bits;
    } rows[] = {{"0", VYRE_TYPE_U32, 0},
                {"4294967295", VYRE_TYPE_U32, 0xffffffffu},
                {"0xdead_BEEF", VYRE_TYPE_U32, 0xdeadbeefu},
                {"0b1010", VYRE_TYPE_U32, 10},
                {"1_000_000", VYRE_TYPE_U32, 1000000},
                {"7u", VYRE_TYPE_U32, 7},
                {"0xffu", VYRE_TYPE_U32, 255},
                {"7i", VYRE_TYPE_I32, 7},
                {"-7i", VYRE_TYPE_I32, 0xfffffff9u},
                {"-2147483648i", VYRE_TYPE_I32, 0x80000000u},
                {"- -5i", VYRE_TYPE_I32, 5},
                {"1.0", VYRE_TYPE_F32, 0x3f800000u},
                {"1f", VYRE_TYPE_F32, 0x3f800000u},
                {"2.5f", VYRE_TYPE_F32, 0x40200000u},
                {"1e-3", VYRE_TYPE_F32, 0x3a83126fu},
                {"1.5e3f", VYRE_TYPE_F32, 0x44bb8000u},
                {"0x1p-3", VYRE_TYPE_F32, 0x3e000000u},
                {"0x1.8p1", VYRE_TYPE_F32, 0x40400000u},
                {"0x1.fffffep127", VYRE_TYPE_F32, 0x7f7fffffu},
                {"-0.0", VYRE_TYPE_F32, 0x80000000u},
                {"1e-45", VYRE_TYPE_F32, 1},
                {"0.000000000000000000000000000000000000000000000700649232162408535", 4, 0},
                {"0.000000000000000000000000000000000000000000000700649232162408536", 4, 1},
                {"16777217.0", VYRE_TYPE_F32, 0x4b800000u},
                {"16777217.0000000000000000000000000000000000000000000000000001", 4, 0x4b800001u},
                {"340282356779733661637539395458142568447.9", VYRE_TYPE_F32, 0x7f7fffffu},
                {"16777217f", VYRE_TYPE_F32, 0x4b800000u},
                {"inf", VYRE_TYPE_F32, 0x7f800000u},
                {"-inf", VYRE_TYPE_F32, 0xff800000u},
                {"nan", VYRE_TYPE_F32, 0x7fc00000u},
                {"bitcast<f32>(0x7f800001)", VYRE_TYPE_F32, 0x7f800001u},
                {"bitcast<f32>(1u)", VYRE_TYPE_F32, 1},
                {"true", VYRE_TYPE_BOOL, 1},
                {"false", VYRE_TYPE_BOOL, 0},
                {"N", VYRE_TYPE_U32, 16},
                {"M", VYRE_TYPE_I32, 0xfffffffdu},
                {"F", VYRE_TYPE_F32, 0x3fc00000u}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "kernel { let x = %s }", rows[i].text);
        vyre_program *p = parse_ok(text);
        const vy_expr *literal = root(p, &top(p, 0)->x);
        assert_int_equal(literal->op, VYRE_OP_LITERAL);
        assert_int_equal(literal->type, rows[i].type);
        assert_int_equal(literal->bits[0], rows[i].bits);
        vyre_program_destroy(&p);
    }
}

static void test_untyped_integers_take_the_type_they_meet(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t type;
    } rows[] = {{"pi + 1", VYRE_TYPE_I32},          {"1 + pi", VYRE_TYPE_I32},
                {"-1 * pi", VYRE_TYPE_I32},         {"pf * 2", VYRE_TYPE_F32},
                {"-2 - pf", VYRE_TYPE_F32},         {"1 << pu", VYRE_TYPE_U32},
                {"min(pi, 3)", VYRE_TYPE_I32},      {"i32(3) - 1 * 2", VYRE_TYPE_I32},
                {"5000000000 * pf", VYRE_TYPE_F32}, {"sqrt(2)", VYRE_TYPE_F32}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "kernel { let x = %s }", rows[i].text);
        vyre_program *p = parse_ok(text);
        assert_int_equal(root(p, &top(p, 0)->x)->type, rows[i].type);
        vyre_program_destroy(&p);
    }
}

static void test_constants_are_computed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t type, bits;
    } rows[] = {{"1 << 20", VYRE_TYPE_U32, 1u << 20},
                {"2 + 3 * 4", VYRE_TYPE_U32, 14},
                {"(2 + 3) * 4", VYRE_TYPE_U32, 20},
                {"100 - 1 - 1", VYRE_TYPE_U32, 98},
                {"-7i / 2", VYRE_TYPE_I32, 0xfffffffdu},
                {"-7i % 2", VYRE_TYPE_I32, 0xffffffffu},
                {"-8i >> 1", VYRE_TYPE_I32, 0xfffffffcu},
                {"0xff & 0x3c | 1 ^ 3", VYRE_TYPE_U32, 0x3e},
                {"~0", VYRE_TYPE_U32, 0xffffffffu},
                {"~0i", VYRE_TYPE_I32, 0xffffffffu},
                {"5 - 7i + 9", VYRE_TYPE_I32, 7},
                {"P * 2", VYRE_TYPE_U32, 14},
                {"-2147483648i", VYRE_TYPE_I32, 0x80000000u},
                {"!true", VYRE_TYPE_BOOL, 0},
                {"-1.5", VYRE_TYPE_F32, 0xbfc00000u},
                {"bitcast<f32>(0x7fc00000 + 1)", VYRE_TYPE_F32, 0x7fc00001u},
                {"bitcast<u32>(-1.0)", VYRE_TYPE_U32, 0xbf800000u},
                {"bitcast<i32>(0xffffffff)", VYRE_TYPE_I32, 0xffffffffu}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "program x const P = 7 const C = %s kernel { }", rows[i].text);
        vyre_program *p = parse_ok(text);
        assert_int_equal(p->constants.data[2].type, rows[i].type);
        assert_int_equal(p->constants.data[2].bits[0], rows[i].bits);
        vyre_program_destroy(&p);
    }
    vyre_program *p =
        parse_ok("program x const A : f32 = 3 const B : i32 = -4\n"
                 "const T : f32[3] = [1, -2.5, nan,] const U : bool[] = [true, false]\n"
                 "kernel { }");
    assert_int_equal(p->constants.data[1].bits[0], 0x40400000u);
    assert_int_equal(p->constants.data[2].type, VYRE_TYPE_I32);
    assert_int_equal(p->constants.data[2].bits[0], 0xfffffffcu);
    assert_int_equal(p->tables.data[1].count, 3);
    assert_int_equal(vy_table_value(&p->tables.data[1], 1, 0), 0xc0200000u);
    assert_int_equal(vy_table_value(&p->tables.data[1], 2, 0), 0x7fc00000u);
    assert_int_equal(vy_table_value(&p->tables.data[2], 0, 0), 1);
    vyre_program_destroy(&p);
}

static void test_compound_assignment_is_short_for_the_long_one(void **state)
{
    (void)state;
    static const char *const ops[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    for (size_t i = 0; i < VY_COUNT_OF(ops); i++) {
        char brief[1024], full[1024];
        snprintf(brief, sizeof brief,
                 HEAD "kernel { var y = 1 y %s= pu - 1 b[a[y] + 1] %s= pu - 1 }", ops[i], ops[i]);
        snprintf(full, sizeof full,
                 HEAD "kernel { var y = 1 y = y %s (pu - 1)\n"
                      "b[a[y] + 1] = b[a[y] + 1] %s (pu - 1) }",
                 ops[i], ops[i]);
        vyre_program *p = parse_ok(brief), *q = parse_ok(full);
        assert_true(vyre_program_hash(p) == vyre_program_hash(q));
        vyre_program_destroy(&p);
        vyre_program_destroy(&q);
    }
}

static void test_blanks_and_comments_mean_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "program x inout b : u32[] kernel { let i = gid.x b[i] = i }",
        "\xef\xbb\xbfprogram x\r\ninout b : u32[]\r\nkernel {\r\n\tlet i = gid.x\r\n\tb[i] = "
        "i\r\n}\r\n",
        "program x; inout b:u32[]; ;kernel{let i=gid.x;;b[i]=i;}",
        "/* caf\xc3\xa9 */program/**/x//\ninout b /* : */ : u32[]\nkernel{let i=gid . x b[i]=i}//"};
    vyre_program *first = parse_ok(texts[0]);
    for (size_t i = 1; i < VY_COUNT_OF(texts); i++) {
        vyre_program *p = parse_ok(texts[i]);
        assert_true(vyre_program_hash(p) == vyre_program_hash(first));
        assert_true(vyre_program_interface_hash(p) == vyre_program_interface_hash(first));
        vyre_program_destroy(&p);
    }
    vyre_program_destroy(&first);
}

static void test_names_end_with_their_block(void **state)
{
    (void)state;
    accept(KERNEL("{ let q = 1 b[0] = q } { var q = 2i s[0] = q }\n"
                  "for q in 0 .. 2 { b[q] = q } for q in 0 .. 2 { b[q] = q }\n"
                  "if pu < 1 { let q = 1 b[0] = q } else if pu < 2 { let q = 2 b[0] = q }\n"
                  "else { let q = 3 b[0] = q } let q = 4 b[0] = q"));
    accept("program p fn f(v: u32) -> u32 { return v } fn g(v: u32) -> u32 { return f(v) }\n"
           "inout b : u32[] kernel { let v = g(1) b[0] = v }");
}

static void test_words_without_a_fixed_place_are_names(void **state)
{
    (void)state;
    accept("program program inout grid : u32[] param step : u32 const down = 3\n"
           "fn over(x: u32, y: u32) -> u32 { return x + y }\n"
           "kernel { let keep = over(step, down) for until in 0 .. down step step down {\n"
           "grid[until] = keep } let relaxed = 1 atomic_add(grid[0], relaxed, relaxed) }");
    accept("program kernel kernel { }");
}

/* The text between the n-th pair of lines of three back quotes; false where there are fewer. */
static bool read_example(const char *path, uint32_t n, vy_text *out)
{
    char line[512];
    uint32_t fences = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "```", 3) == 0) {
            fences++;
        } else if (fences == 2 * n + 1) {
            vy_text_append(out, line, strlen(line));
        }
    }
    fclose(file);
    assert_true(fences % 2 == 0 && !out->failed);
    return out->size > 0;
}

/* Blocks without a program's name are parts of one. */
static void test_examples_of_the_documentation_are_valid(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (bool more = true; more; count += more) {
        vy_text text, example;
        vy_text_init(&text, NULL);
        vy_text_init(&example, NULL);
        more = read_example(VYRE_SOURCE_DIR "/docs/language.md", count, &example);
        if (more) {
            bool is_whole = strncmp(example.data, "program ", 8) == 0 ||
                            strstr(example.data, "\nprogram ") != NULL;
            vy_text_printf(&text, "%s%s", is_whole ? "" : "program x workgroup 64\n", example.data);
            round_trip(text.data);
        }
        vy_text_finish(&example);
        vy_text_finish(&text);
    }
    assert_true(count >= 5);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void append(vy_text *text, const char *part, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        vy_text_append(text, part, strlen(part));
    }
}

typedef struct pattern {
    const char *before, *open, *middle, *close, *after;
} pattern;

static char *expand(vy_text *text, const pattern *parts, uint32_t times)
{
    vy_text_init(text, NULL);
    append(text, parts->before, 1);
    append(text, parts->open, times);
    append(text, parts->middle, 1);
    append(text, parts->close, times);
    append(text, parts->after, 1);
    assert_false(text->failed);
    return text->data;
}

static void test_long_programs_have_no_depth(void **state)
{
    (void)state;
    static const struct {
        pattern parts;
        uint32_t times;
    } rows[] = {{{HEAD "kernel { let x = pu", " + 1", " - pu", " * 1", " }"}, 100000},
                {{HEAD "kernel {", "if pu < 1 { b[0] = 1 }\n", "", "", "}"}, 20000},
                {{HEAD "const U : u32[] = [", "1, ", "2", "", "] kernel { }"}, 100000},
                {{HEAD "kernel { b[0] = 1 ", "", "", "^ ~a[-1i] & min(pu, 1)", " }"}, 50000},
                {{HEAD "kernel { /*", "*", "*/ b[0] = 1", "//", "\n}"}, 100000},
                {{HEAD "kernel {", ";", "", "\n", "}"}, 100000}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_text text;
        accept(expand(&text, &rows[i].parts, rows[i].times));
        vy_text_finish(&text);
    }
}

static const pattern nested[] = {
    {HEAD "kernel { let x = ", "(", "1", ")", " }"},
    {HEAD "kernel { let x = pu + ", "(1 | ", "pu", ")", " }"},
    {HEAD "kernel { let x = ", "!", "(pu < 1 || pu * pu < 2)", "", " }"},
    {HEAD "kernel { let x = ", "~", "pu", "", " }"},
    {HEAD "kernel { let x = ", "- ", "pi", "", " }"},
    {HEAD "kernel { let x = ", "abs(", "pi", ")", " }"},
    {HEAD "kernel { let x = ", "u32(", "1", ")", " }"},
    {HEAD "kernel { let x = 0 + ", "a[", "pu", "]", " }"},
    {HEAD "kernel { let x = 0 + ", "twice(", "pu", ")", " }"},
    {HEAD "const C = ", "(", "1", ")", " kernel { }"},
    {HEAD "const C = ", "~", "1", "", " kernel { }"},
    {HEAD "kernel {", "{", "", "}", "}"},
    {HEAD "kernel {", "if pu < 1 {", "", "}", "}"},
    {HEAD "kernel {", "while pu < 1 {", "", "}", "}"},
    {HEAD "kernel {", "region \"r\" {", "", "}", "}"},
    {HEAD "kernel {", "if pu < 1 { } else ", "{", "", "} }"}};

static void test_nesting_has_a_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(nested); i++) {
        vy_text text;
        static const uint32_t fewer = 2; /* of 256, for what the pattern itself opens */
        round_trip(expand(&text, &nested[i], VYRE_MAX_NESTING - fewer));
        vy_text_finish(&text);
        for (uint32_t times = VYRE_MAX_NESTING + 1; times <= 100000; times *= 20) {
            vyre_program *program = NULL;
            vyre_diag diag;
            char *source = expand(&text, &nested[i], times);
            assert_int_equal(vyre_program_parse(source, text.size, NULL, NULL, &program, &diag),
                             VYRE_ERROR_INVALID_PROGRAM);
            assert_null(program);
            assert_non_null(strstr(diag.message, "nested more than 256 deep. Fix: "));
            vy_text_finish(&text);
        }
    }
}

#if defined(__SANITIZE_ADDRESS__)
#define SMALL_STACK (4u << 20)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMALL_STACK (4u << 20)
#endif
#endif
#ifndef SMALL_STACK
#define SMALL_STACK (256u << 10)
#endif

static void *parse_nested_texts(void *argument)
{
    uint32_t *accepted = argument;
    for (size_t i = 0; i < VY_COUNT_OF(nested); i++) {
        for (uint32_t times = VYRE_MAX_NESTING - 2; times <= 10000; times += 1000) {
            vy_text text;
            vyre_program *program = NULL;
            char *source = expand(&text, &nested[i], times);
            if (vyre_program_parse(source, text.size, NULL, NULL, &program, NULL) == VYRE_OK) {
                char *printed = NULL;
                size_t size = 0;
                if (vyre_program_print(program, NULL, &printed, &size) == VYRE_OK) {
                    (*accepted)++;
                }
                vyre_text_free(NULL, printed, size);
            }
            vyre_program_destroy(&program);
            vy_text_finish(&text);
        }
    }
    return NULL;
}

static void test_deep_nesting_needs_a_small_stack_only(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    pthread_t thread;
    uint32_t accepted = 0;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, parse_nested_texts, &accepted), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_int_equal(accepted, VY_COUNT_OF(nested));
}

static void test_names_have_a_longest(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    append(&text, HEAD "kernel { let ", 1);
    append(&text, "n", 255);
    append(&text, " = 1 }", 1);
    accept(text.data);
    vy_text_finish(&text);
    static const uint32_t lengths[] = {256, 1u << 20};
    for (size_t i = 0; i < VY_COUNT_OF(lengths); i++) {
        vy_text_init(&text, NULL);
        append(&text, "program x kernel {\nlet ", 1);
        append(&text, "n", lengths[i]);
        append(&text, " = 1 }", 1);
        refuse(text.data, 2, 5, "more than 255");
        vy_text_finish(&text);
    }
}

static void test_large_texts_are_refused(void **state)
{
    (void)state;
    vyre_program *program = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse("x", VYRE_MAX_SOURCE + 1, "f", NULL, &program, &diag),
                     VYRE_ERROR_INVALID_PROGRAM);
    assert_non_null(strstr(diag.message, "67108865 bytes"));
    assert_string_equal(diag.file, "f");
    assert_int_equal(vyre_program_parse(NULL, 1, NULL, NULL, &program, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_program_parse("", 0, NULL, NULL, NULL, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

/* ---- Anything at all ---------------------------------------------------------------------------
 */

static const char sample[] = KERNEL(
    "let x : u32 = a[gid.x] /* c */ var y = 0x1f  var z : f32[4]  y += x << 2  z[y & 3] = 1.5e-3\n"
    "let u = uniform w[0] let o = atomic_compare_exchange(b[0], 1, 2, acq_rel)\n"
    "if x < 1 && !(y == 2) { trap(3) } else if o == 0 { } else { bump(u) }\n"
    "switch y { case 1, 0x2 { } default { y = twice(y) } }\n"
    "for i in 0 .. x step 2 down { continue } while y > 1 { break }\n"
    "region \"a\\\"b\" { barrier } grid_sync g[0] = select(true, -inf, bitcast<f32>(1)) return");

/* The same for types, vectors and subgroups. */
static const char typed_sample[] =
    "program t workgroup 64 subgroup 32 param p : u64 param v : f32x4 const C = -1.5h\n"
    "const V = u32x2(1, 2) const T : bf16[] = [1, inf, bitcast<f32>(0xff810000)]\n"
    "const W : i32x2[] = [i32x2(1, -2), i32x2(3)] inout b : u64[] inout h : f16[] out o : u8[4]\n"
    "fn f(x: f32x2, c: bool2) -> f32x2 { return select(c, x.yx, x * 2) } kernel {\n"
    "let a = b[5ul] + 0x10 let d : i8 = -128 var e = f32x4(v.xy, T[0], 1) e.w += 0.5\n"
    "let g = f(v.zw, v.xy < 1).y let s = subgroup_shuffle(e, lane ^ 1) subgroup_elect()\n"
    "let m = atomic_max(b[0], p) let t = subgroup_ballot(any(v == 1)) h[0] = fma(h[1], C, inf)\n"
    "o[t.x] = bitcast<u8>(d) + u8(W[1].y) let z = f64(g) / 3.0d + nan }\n";

static void check_prefixes(const char *whole, size_t size, size_t expected)
{
    size_t accepted = 0;
    for (size_t i = 0; i <= size; i++) {
        /* A copy of exactly that size, so that a read behind its end is seen. */
        char *copy = malloc(i + 1);
        assert_non_null(copy);
        memcpy(copy, whole, i);
        char *exact = realloc(copy, i ? i : 1);
        assert_non_null(exact);
        vyre_program *program = NULL;
        vyre_diag diag;
        vyre_result result = vyre_program_parse(exact, i, NULL, NULL, &program, &diag);
        if (result == VYRE_OK) {
            accepted++;
            assert_non_null(program);
        } else {
            assert_null(program);
            assert_int_equal(result, VYRE_ERROR_INVALID_PROGRAM);
            assert_true(diag.line >= 1 && diag.column >= 1);
            assert_non_null(strstr(diag.message, ". Fix: "));
        }
        vyre_program_destroy(&program);
        free(exact);
    }
    assert_int_equal(accepted, expected);
}

static void test_every_prefix_is_read_or_refused(void **state)
{
    (void)state;
    /* Each with and without the last line end. */
    check_prefixes(sample, sizeof sample - 1, 2);
    check_prefixes(typed_sample, sizeof typed_sample - 1, 2);
    round_trip(typed_sample);
}

static void check_damages(const char *whole, size_t size)
{
    uint64_t seed = 20240607;
    static const char bytes[] = "(){}[]<>=!&|+-*/%^~.,:;\"\\#'0x1u_aeif \n\t\xff";
    for (uint32_t i = 0; i < 4000; i++) {
        char text[2048];
        assert_true(size < sizeof text);
        memcpy(text, whole, size + 1);
        for (uint32_t change = 0; change <= i % 4; change++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(seed >> 33) % size;
            size_t from = (size_t)(seed >> 17) % size;
            if (i % 3 == 0) {
                text[at] = whole[from];
            } else if (i % 3 == 1) {
                text[at] = bytes[(seed >> 20) % sizeof bytes];
            } else {
                memmove(text + at, text + at + 1, size - at);
            }
        }
        vyre_program *program = NULL;
        vyre_diag diag;
        vyre_result result = vyre_program_parse(text, size, NULL, NULL, &program, &diag);
        assert_true(result == VYRE_OK ? program != NULL
                                      : program == NULL && strstr(diag.message, "Fix: ") != NULL);
        vyre_program_destroy(&program);
    }
}

static void test_damaged_texts_do_not_crash(void **state)
{
    (void)state;
    check_damages(sample, sizeof sample - 1);
    check_damages(typed_sample, sizeof typed_sample - 1);
}

static void check_failed_allocations(const char *text, size_t size)
{
    vyre_result result = VYRE_ERROR_OUT_OF_HOST_MEMORY;
    size_t n = 1;
    for (; result != VYRE_OK; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_program *program = NULL;
        vyre_diag diag;
        result = vyre_program_parse(text, size, NULL, &allocator, &program, &diag);
        if (result != VYRE_OK) {
            assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(diag.code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(program);
        }
        vyre_program_destroy(&program);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
        assert_true(n < 10000);
    }
    assert_true(n > 5);
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    check_failed_allocations(sample, sizeof sample - 1);
    check_failed_allocations(typed_sample, sizeof typed_sample - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_is_read_whatever_its_order),
        cmocka_unit_test(test_workgroups_have_a_size_where_none_is_given),
        cmocka_unit_test(test_buffers_have_modes_types_and_counts),
        cmocka_unit_test(test_every_statement_is_read),
        cmocka_unit_test(test_atomics_take_operands_and_orders),
        cmocka_unit_test(test_for_takes_step_and_down_in_any_order),
        cmocka_unit_test(test_case_values_have_the_type_of_the_selector),
        cmocka_unit_test(test_else_if_nests_in_else),
        cmocka_unit_test(test_precedence_builds_the_right_tree),
        cmocka_unit_test(test_literals_have_types_and_bits),
        cmocka_unit_test(test_untyped_integers_take_the_type_they_meet),
        cmocka_unit_test(test_constants_are_computed),
        cmocka_unit_test(test_compound_assignment_is_short_for_the_long_one),
        cmocka_unit_test(test_blanks_and_comments_mean_nothing),
        cmocka_unit_test(test_names_end_with_their_block),
        cmocka_unit_test(test_words_without_a_fixed_place_are_names),
        cmocka_unit_test(test_examples_of_the_documentation_are_valid),
        cmocka_unit_test(test_long_programs_have_no_depth),
        cmocka_unit_test(test_nesting_has_a_limit),
        cmocka_unit_test(test_deep_nesting_needs_a_small_stack_only),
        cmocka_unit_test(test_names_have_a_longest),
        cmocka_unit_test(test_large_texts_are_refused),
        cmocka_unit_test(test_every_prefix_is_read_or_refused),
        cmocka_unit_test(test_damaged_texts_do_not_crash),
        cmocka_unit_test(test_every_failed_allocation_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

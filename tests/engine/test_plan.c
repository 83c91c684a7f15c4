/* The planner: barriers where hazards need them and nowhere else. No device. */
#include "engine/exec/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_SEGMENTS 8

typedef struct setup {
    vy_execution executions[MAX_SEGMENTS];
    vy_touch touches[MAX_SEGMENTS];
    uint64_t alias[4];
    vy_chunk_input input;
    vy_arena arena;
    vy_chunk_plan plan;
} setup;

static void start(setup *s, uint32_t segments)
{
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < MAX_SEGMENTS; i++) {
        s->executions[i].segment = i;
    }
    for (uint32_t b = 0; b < 4; b++) {
        s->alias[b] = (uint64_t)1 << b;
    }
    s->input = (vy_chunk_input){.executions = s->executions,
                                .execution_count = segments,
                                .touches = s->touches,
                                .alias = s->alias,
                                .binding_count = 4,
                                .until = -1,
                                .count = segments,
                                .passes = 1};
    vy_arena_init(&s->arena, NULL);
}

static void touch(setup *s, uint32_t segment, uint64_t reads, uint64_t writes)
{
    s->touches[segment] = (vy_touch){reads, writes};
}

/* The commands as letters: D dispatch, I indirect, B barrier, F fill, C copy, T timestamp,
 * K crumb, G grid, W whole.
 */
static const char *letters(setup *s)
{
    static char text[256];
    assert_true(vy_chunk_plan_build(&s->input, &s->arena, &s->plan));
    assert_true(s->plan.commands.count < sizeof text);
    for (uint32_t i = 0; i < s->plan.commands.count; i++) {
        text[i] = "BDIFCTKGW"[s->plan.commands.data[i].kind];
    }
    text[s->plan.commands.count] = 0;
    return text;
}

static void finish(setup *s)
{
    vy_arena_finish(&s->arena);
}

static void expect_pair(uint64_t reads0, uint64_t writes0, uint64_t reads1, uint64_t writes1,
                        const char *expected)
{
    setup s;
    start(&s, 2);
    touch(&s, 0, reads0, writes0);
    touch(&s, 1, reads1, writes1);
    assert_string_equal(letters(&s), expected);
    assert_int_equal(s.plan.elided, expected[1] == 'D');
    finish(&s);
}

static void test_plan_puts_barriers_for_hazards_only(void **state)
{
    (void)state;
    expect_pair(0, 1, 1, 0, "DBD"); /* read after write */
    expect_pair(1, 0, 0, 1, "DBD"); /* write after read */
    expect_pair(0, 1, 0, 1, "DBD"); /* write after write */
    expect_pair(1, 0, 1, 0, "DD");  /* read after read */
    expect_pair(0, 1, 2, 4, "DD");  /* other buffers */
    expect_pair(1, 2, 1, 4, "DD");
    expect_pair((uint64_t)1 << VY_MEM_RECORDS, (uint64_t)1 << VY_MEM_RECORDS,
                (uint64_t)1 << VY_MEM_RECORDS, (uint64_t)1 << VY_MEM_RECORDS, "DBD");
    expect_pair(0, (uint64_t)1 << VY_MEM_SPILL, (uint64_t)1 << VY_MEM_SPILL, 0, "DBD");
}

static void test_plan_waits_in_a_chain_of_five(void **state)
{
    (void)state;
    setup s;
    start(&s, 5);
    for (uint32_t i = 0; i < 5; i++) {
        touch(&s, i, 1u << (i & 1), 1u << (~i & 1));
    }
    assert_string_equal(letters(&s), "DBDBDBDBD");
    for (uint32_t i = 1; i < 9; i += 2) {
        const vy_barrier *b = &s.plan.commands.data[i].barrier;
        assert_int_equal(b->src, VY_STAGE_COMPUTE);
        assert_int_equal(b->src_writes, VY_STAGE_COMPUTE);
        assert_int_equal(b->dst, VY_STAGE_COMPUTE);
    }
    assert_int_equal(s.plan.barriers, 4);
    assert_int_equal(s.plan.elided, 0);
    finish(&s);
}

static void test_plan_remembers_what_an_elided_barrier_left_open(void **state)
{
    (void)state;
    setup s;
    start(&s, 4);
    touch(&s, 0, 0, 1); /* writes a */
    touch(&s, 1, 0, 2); /* writes b: no hazard */
    touch(&s, 2, 2, 4); /* reads b: a barrier, which also covers a */
    touch(&s, 3, 1, 8); /* reads a: no other */
    assert_string_equal(letters(&s), "DDBDD");
    assert_int_equal(s.plan.elided, 2);
    finish(&s);
}

/* What the grid's kernel writes is read as arguments and in shaders. */
static void test_plan_reads_the_grid_before_the_passes(void **state)
{
    (void)state;
    setup s;
    start(&s, 2);
    touch(&s, 0, 1, 2);
    touch(&s, 1, 1, 4);
    s.input.has_grid = true;
    s.input.grid = 3;
    vy_command upload = {.kind = VY_COMMAND_COPY, .source = VY_MEM_UPLOAD, .target = 3, .size = 12};
    s.input.prologue = &upload;
    s.input.prologue_count = 1;
    s.input.passes = 2;
    assert_string_equal(letters(&s), "CBGBIIBII");
    const vy_barrier *b = &s.plan.commands.data[1].barrier;
    assert_int_equal(b->src_writes, VY_STAGE_TRANSFER);
    assert_int_equal(b->dst, VY_STAGE_COMPUTE);
    b = &s.plan.commands.data[3].barrier;
    assert_int_equal(b->src_writes & VY_STAGE_COMPUTE, VY_STAGE_COMPUTE);
    assert_int_equal(b->dst, VY_STAGE_COMPUTE | VY_STAGE_UNIFORM | VY_STAGE_INDIRECT);
    /* Between the passes the parameter block is as it was. */
    assert_int_equal(s.plan.commands.data[6].barrier.dst, VY_STAGE_COMPUTE | VY_STAGE_INDIRECT);
    finish(&s);
    /* Later chunks have a block of their own, and the arguments of those before. */
    start(&s, 1);
    touch(&s, 0, 1, 2);
    s.input.has_grid = true;
    s.input.before = VY_BORDER_ENGINE;
    assert_string_equal(letters(&s), "BGBI");
    b = &s.plan.commands.data[0].barrier;
    assert_int_equal(b->src, VY_STAGE_COMPUTE | VY_STAGE_TRANSFER | VY_STAGE_INDIRECT);
    finish(&s);
    /* Nothing runs, nothing is read. */
    start(&s, 1);
    s.input.has_grid = true;
    s.input.passes = 0;
    assert_string_equal(letters(&s), "");
    finish(&s);
}

static void test_plan_sees_hazards_across_passes(void **state)
{
    (void)state;
    setup s;
    start(&s, 2);
    s.input.passes = 3;
    touch(&s, 0, 1, 2);
    touch(&s, 1, 4, 8);
    /* Each writes what it alone touches: the second pass waits once for both. */
    assert_string_equal(letters(&s), "DDBDDBDD");
    assert_int_equal(s.plan.commands.data[3].pass, 1);
    assert_int_equal(s.plan.commands.data[4].execution, 1);
    finish(&s);
    start(&s, 1);
    s.input.passes = 3;
    touch(&s, 0, 1, 0);
    assert_string_equal(letters(&s), "DDD");
    finish(&s);
}

static void test_plan_follows_aliased_bindings(void **state)
{
    (void)state;
    setup s;
    start(&s, 2);
    s.alias[0] = s.alias[1] = 3;
    vy_kernel_segment first = {.writes = 1}, second = {.reads = 2, .writes = 4};
    s.touches[0] = vy_touch_of(&first, s.alias, 4);
    s.touches[1] = vy_touch_of(&second, s.alias, 4);
    assert_int_equal(s.touches[0].writes, 3);
    assert_int_equal(s.touches[1].reads, 3);
    assert_int_equal(s.touches[1].writes, 4);
    assert_string_equal(letters(&s), "DBD");
    finish(&s);
    vy_kernel_segment atomics = {.atomics = 8 | (uint64_t)1 << 62};
    vy_touch t = vy_touch_of(&atomics, s.alias, 4);
    assert_true(t.reads == t.writes && t.reads == (8 | (uint64_t)1 << 62));
}

static void test_plan_orders_transfers_with_dispatches(void **state)
{
    (void)state;
    setup s;
    start(&s, 1);
    touch(&s, 0, 1, 2);
    vy_command prologue[] = {
        {.kind = VY_COMMAND_COPY, .target = 0, .source = VY_MEM_UPLOAD, .size = 16},
        {.kind = VY_COMMAND_FILL, .target = 1, .size = 16},
        {.kind = VY_COMMAND_FILL, .target = 0, .size = 4},
    };
    vy_command epilogue[] = {
        {.kind = VY_COMMAND_COPY, .target = VY_MEM_READBACK, .source = 1, .size = 16},
        {.kind = VY_COMMAND_COPY, .target = VY_MEM_READBACK, .source = 0, .size = 16},
    };
    s.input.prologue = prologue;
    s.input.prologue_count = 3;
    s.input.epilogue = epilogue;
    s.input.epilogue_count = 2;
    s.input.host_reads = (uint64_t)1 << VY_MEM_READBACK;
    /* The second fill hits what was copied; the copies back do not wait for each other. */
    assert_string_equal(letters(&s), "CFBFBDBCCB");
    const vy_command *c = s.plan.commands.data;
    assert_int_equal(c[2].barrier.src, VY_STAGE_TRANSFER);
    assert_int_equal(c[2].barrier.dst, VY_STAGE_TRANSFER);
    assert_int_equal(c[4].barrier.src, VY_STAGE_TRANSFER);
    assert_int_equal(c[4].barrier.dst, VY_STAGE_COMPUTE);
    assert_true(c[6].barrier.src & VY_STAGE_COMPUTE);
    assert_int_equal(c[6].barrier.dst, VY_STAGE_TRANSFER);
    assert_int_equal(c[9].barrier.dst, VY_STAGE_HOST);
    assert_true(c[9].barrier.src_writes & VY_STAGE_TRANSFER);
    finish(&s);
}

/* It costs where it is waited for: only behind what writes the blocks, and only once. */
static void test_plan_shows_parameter_blocks_where_they_were_written(void **state)
{
    (void)state;
    const vy_command upload = {
        .kind = VY_COMMAND_COPY, .source = VY_MEM_HOST_BLOCK, .target = VY_MEM_BLOCK, .size = 64};
    const vy_command fill = {.kind = VY_COMMAND_FILL, .target = 1, .size = 4, .is_by_kernel = true};
    const vy_command prologue[] = {upload, fill};
    setup s;
    start(&s, 2);
    touch(&s, 0, 1, 2);
    touch(&s, 1, 2, 1);
    s.input.passes = 2;
    assert_string_equal(letters(&s), "DBDBDBD");
    for (uint32_t i = 1; i < 7; i += 2) {
        assert_int_equal(s.plan.commands.data[i].barrier.src, VY_STAGE_COMPUTE);
        assert_int_equal(s.plan.commands.data[i].barrier.dst, VY_STAGE_COMPUTE);
    }
    s.input.prologue = &upload;
    s.input.prologue_count = 1;
    assert_string_equal(letters(&s), "CBDBDBDBD");
    assert_int_equal(s.plan.commands.data[1].barrier.src, VY_STAGE_TRANSFER);
    assert_int_equal(s.plan.commands.data[1].barrier.src_writes, VY_STAGE_TRANSFER);
    assert_int_equal(s.plan.commands.data[1].barrier.dst, VY_STAGE_COMPUTE | VY_STAGE_UNIFORM);
    assert_int_equal(s.plan.commands.data[3].barrier.dst, VY_STAGE_COMPUTE);
    /* Kernels that move data have blocks there too. */
    s.input.prologue = prologue;
    s.input.prologue_count = 2;
    s.input.until = 1;
    assert_string_equal(letters(&s), "CBFBDBDBDBD");
    const vy_command *c = s.plan.commands.data;
    assert_int_equal(c[1].barrier.dst, VY_STAGE_COMPUTE | VY_STAGE_UNIFORM);
    for (uint32_t i = 3; i < s.plan.commands.count; i++) {
        assert_false(c[i].kind == VY_COMMAND_BARRIER && c[i].barrier.dst & VY_STAGE_UNIFORM);
    }
    /* What is written after it was read waits for the reading alone. */
    s.input.prologue_count = 0;
    s.input.until = -1;
    s.input.epilogue = &upload;
    s.input.epilogue_count = 1;
    s.input.passes = 1;
    s.input.count = s.input.execution_count = 1;
    assert_string_equal(letters(&s), "DBC");
    assert_int_equal(s.plan.commands.data[1].barrier.src, VY_STAGE_COMPUTE);
    assert_int_equal(s.plan.commands.data[1].barrier.dst, VY_STAGE_TRANSFER);
    finish(&s);
}

static void test_plan_ends_with_what_the_host_reads_in_place(void **state)
{
    (void)state;
    setup s;
    start(&s, 1);
    touch(&s, 0, 1, 6);
    s.input.host_reads = 2; /* binding 1, which is written */
    assert_string_equal(letters(&s), "DB");
    const vy_command *c = s.plan.commands.data;
    assert_int_equal(c[1].barrier.src_writes, VY_STAGE_COMPUTE);
    assert_int_equal(c[1].barrier.dst, VY_STAGE_HOST);
    finish(&s);
    start(&s, 1);
    touch(&s, 0, 1, 6);
    s.input.host_reads = 1; /* binding 0, which is read alone */
    assert_string_equal(letters(&s), "D");
    finish(&s);
}

#define FLAG ((uint64_t)1 << VY_MEM_FLAG)

static void test_plan_gates_each_pass_by_the_one_before(void **state)
{
    (void)state;
    setup s;
    start(&s, 2);
    touch(&s, 0, 1, 2);
    touch(&s, 1, 2, 1 | FLAG);
    s.input.until = 2;
    s.input.passes = 3;
    assert_string_equal(letters(&s), "DBDBDBDBDBD");
    const vy_command *c = s.plan.commands.data;
    assert_int_equal(c[3].barrier.src_writes, VY_STAGE_COMPUTE);
    assert_int_equal(c[3].barrier.dst, VY_STAGE_COMPUTE);
    assert_int_equal(s.plan.dispatches, 6);
    finish(&s);
    /* Segments that have nothing to do with each other wait for the pass before alone. */
    start(&s, 2);
    touch(&s, 0, 0, 1);
    touch(&s, 1, 0, 2 | FLAG);
    s.input.until = 2;
    s.input.passes = 6;
    assert_string_equal(letters(&s), "DDBDDBDDBDDBDDBDD");
    assert_int_equal(s.plan.elided, 6);
    finish(&s);
}

/* What reads the flag in a pass does not hold up what sets it in the next, which is another word.
 */
static void test_plan_knows_the_flag_of_each_pass(void **state)
{
    (void)state;
    for (uint32_t phase = 0; phase < VY_STATE_TURNS; phase++) {
        setup s;
        start(&s, 2);
        touch(&s, 0, 0, FLAG);
        touch(&s, 1, FLAG, 2);
        s.input.until = 2;
        s.input.phase = phase;
        s.input.passes = 6;
        assert_string_equal(letters(&s), "DBDDBDDBDDBDDBDDBD");
        for (uint32_t i = 0, k = 0; i < s.plan.commands.count; i++) {
            const vy_command *c = &s.plan.commands.data[i];
            if (c->kind == VY_COMMAND_DISPATCH) {
                assert_int_equal(c->pass, phase + k++ / 2); /* tells the module its word */
            }
        }
        finish(&s);
        /* Another element of its buffer may be meant. */
        start(&s, 2);
        touch(&s, 0, 0, FLAG | 4);
        touch(&s, 1, FLAG | 4, 2);
        s.input.until = 2;
        s.input.phase = phase;
        s.input.passes = 3;
        assert_string_equal(letters(&s), "DBDBDBDBDBD");
        finish(&s);
    }
}

/* Nobody sets the flag: the words that the first segment clears are hazards all the same. */
static void test_plan_orders_what_the_first_segment_clears(void **state)
{
    (void)state;
    setup s;
    start(&s, 1);
    touch(&s, 0, 1, 0);
    s.input.until = 2;
    s.input.passes = 3;
    assert_string_equal(letters(&s), "DBDBD"); /* it counts the passes */
    finish(&s);
    start(&s, 2);
    touch(&s, 0, 1, 0);
    touch(&s, 1, FLAG, 0);
    s.input.until = 2;
    s.input.passes = 2;
    /* The second pass clears what nobody has read yet, reads what nobody has set, and counts. */
    assert_string_equal(letters(&s), "DDBDD");
    finish(&s);
}

static void test_plan_of_a_later_chunk_waits_for_those_before(void **state)
{
    (void)state;
    setup s;
    start(&s, 1);
    touch(&s, 0, 1, FLAG);
    s.input.until = 2;
    s.input.phase = 1;
    s.input.before = VY_BORDER_ENGINE;
    s.input.reads_state = s.input.has_flag = true;
    s.input.flag =
        (vy_command){.kind = VY_COMMAND_COPY, .source = VY_MEM_FLAGS + 1, .target = 2, .size = 4};
    s.input.state = (vy_command){.kind = VY_COMMAND_COPY,
                                 .source = VY_MEM_STATE,
                                 .target = VY_MEM_READBACK,
                                 .target_offset = 64,
                                 .size = 52};
    vy_command copy = {.kind = VY_COMMAND_COPY, .source = 2, .target = VY_MEM_READBACK, .size = 8};
    s.input.epilogue = &copy;
    s.input.epilogue_count = 1;
    s.input.host_reads = (uint64_t)1 << VY_MEM_READBACK;
    /* The flag's word goes to its buffer, and that to the host, behind each other. */
    assert_string_equal(letters(&s), "BDBCBCCB");
    const vy_command *c = s.plan.commands.data;
    assert_true(c[0].barrier.src & VY_STAGE_COMPUTE && c[0].barrier.src & VY_STAGE_TRANSFER);
    assert_int_equal(c[0].barrier.dst, VY_STAGE_COMPUTE);
    assert_int_equal(c[3].source, VY_MEM_FLAGS + 1);
    assert_int_equal(c[6].target_offset, 64);
    finish(&s);
    /* A word that the chunk's last pass did not have is not waited for by its copy. */
    start(&s, 1);
    touch(&s, 0, 1, 0);
    s.input.until = 2;
    s.input.has_flag = true;
    s.input.flag =
        (vy_command){.kind = VY_COMMAND_COPY, .source = VY_MEM_FLAGS + 2, .target = 2, .size = 4};
    assert_string_equal(letters(&s), "DC");
    s.input.flag.source = VY_MEM_FLAGS + 1; /* cleared by the pass */
    finish(&s);
    vy_arena_init(&s.arena, NULL);
    assert_string_equal(letters(&s), "DBC");
    finish(&s);
}

static void test_plan_waits_at_the_borders(void **state)
{
    (void)state;
    setup s;
    start(&s, 1);
    touch(&s, 0, 1, 2);
    s.input.before = s.input.after = VY_BORDER_ALL;
    assert_string_equal(letters(&s), "BDB");
    const vy_command *c = s.plan.commands.data;
    assert_int_equal(c[0].barrier.src, VY_STAGE_ALL);
    assert_int_equal(c[0].barrier.src_writes, VY_STAGE_ALL);
    assert_int_equal(c[0].barrier.dst, VY_STAGE_COMPUTE | VY_STAGE_UNIFORM);
    assert_true(c[2].barrier.src & VY_STAGE_COMPUTE);
    assert_int_equal(c[2].barrier.dst, VY_STAGE_ALL);
    finish(&s);
    start(&s, 1);
    touch(&s, 0, 1, 2);
    assert_string_equal(letters(&s), "D");
    finish(&s);
}

static void test_plan_serializes_on_demand(void **state)
{
    (void)state;
    setup s;
    start(&s, 3);
    touch(&s, 0, 0, 1);
    touch(&s, 1, 0, 2);
    touch(&s, 2, 0, 4);
    s.input.serialize = true;
    assert_string_equal(letters(&s), "DBDBD");
    assert_int_equal(s.plan.elided, 0);
    finish(&s);
}

static void test_plan_stamps_four_times(void **state)
{
    (void)state;
    setup s;
    start(&s, 1);
    touch(&s, 0, 0, 1);
    s.input.has_timestamps = true;
    assert_string_equal(letters(&s), "TTDTT");
    for (uint32_t i = 0, time = 0; i < 5; i++) {
        if (s.plan.commands.data[i].kind == VY_COMMAND_TIMESTAMP) {
            assert_int_equal(s.plan.commands.data[i].target, time++);
        }
    }
    finish(&s);
}

static void test_plan_chunks_hold_a_bounded_number(void **state)
{
    (void)state;
    assert_int_equal(vy_chunk_passes(1), 4096);
    assert_int_equal(vy_chunk_passes(5), 819);
    assert_int_equal(vy_chunk_passes(4096), 1);
    assert_int_equal(vy_chunk_passes(65536), 1);
    assert_int_equal(vy_chunk_passes(0), 1);
    /* A piece of a pass: its first segment clears the next pass's flag, in the first piece alone.
     */
    setup s;
    start(&s, 4);
    for (uint32_t i = 0; i < 4; i++) {
        touch(&s, i, 0, i == 3 ? FLAG : (uint64_t)1 << i);
    }
    s.input.until = 3;
    s.input.count = 2;
    s.input.has_flag = true;
    s.input.flag =
        (vy_command){.kind = VY_COMMAND_COPY, .source = VY_MEM_FLAGS + 1, .target = 3, .size = 4};
    assert_string_equal(letters(&s), "DDBC");
    finish(&s);
    s.input.first = 2;
    vy_arena_init(&s.arena, NULL);
    assert_string_equal(letters(&s), "DDC");
    assert_int_equal(s.plan.commands.data[1].execution, 3);
    finish(&s);
}

static void test_plan_grows_chunks_by_the_root(void **state)
{
    (void)state;
    static const struct {
        uint32_t executions;
        uint64_t groups;
        uint32_t chunks[12];
    } rows[] = {
        {1, 1, {2, 8, 8, 8, 16, 16, 16, 16, 32, 32, 32, 32}},
        {1, 2048, {2, 8, 8, 8, 16, 16, 16, 16, 32, 32, 32, 32}},
        {2, 1, {1, 4, 4, 4, 8, 8, 8, 8, 16, 16, 16, 16}},
        {3, 1, {1, 2, 2, 4, 4, 4, 8, 8, 8, 8, 8, 8}},
        {8, 1, {1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4}},
        {1, 2049, {1, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8}},
        {1, 16385, {1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 4, 4}},
        {4096, 1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t pass = 0;
        for (uint32_t k = 0; k < 12; k++) {
            uint32_t passes = vy_chunk_ladder(pass, rows[i].executions, rows[i].groups);
            assert_int_equal(passes, rows[i].chunks[k]);
            pass += passes;
        }
    }
    /* However far: what is skipped in vain becomes a smaller part of what has run. */
    for (uint32_t executions = 1; executions <= 4096; executions += executions / 3 + 1) {
        uint64_t pass = 0;
        for (uint32_t k = 0; k < 600 && pass < UINT32_MAX - 8192; k++) {
            uint32_t passes = vy_chunk_ladder((uint32_t)pass, executions, 1);
            assert_in_range((uint64_t)passes * executions, executions, VY_CHUNK_DISPATCHES);
            uint64_t square = (uint64_t)passes * passes * executions;
            assert_true(square <= 12 * pass || passes * executions <= 8 || passes == 1);
            pass += passes;
        }
        assert_int_equal(vy_chunk_ladder(UINT32_MAX, executions, 1),
                         vy_chunk_ladder(UINT32_MAX / 2, executions, 1));
    }
    assert_int_equal(vy_chunk_ladder(UINT32_MAX, 1, 1), 4096);
    assert_int_equal(vy_chunk_ladder(UINT32_MAX, 3, 1), 1024);
    assert_int_equal(vy_chunk_ladder(UINT32_MAX, 0, 0), 1);
}

/* The first chunks have none ahead of them, as long as they last no longer than the host needs. */
static void test_plan_submits_ahead_of_later_chunks(void **state)
{
    (void)state;
    static const struct {
        uint32_t executions;
        uint64_t groups;
        uint32_t first; /* the first pass whose chunk has the next one ahead */
    } rows[] = {
        {1, 1, 12},    {2, 2048, 6}, {3, 1, 4},    {5, 1, 3},     {12, 1, 1},
        {65536, 1, 1}, {1, 2049, 3}, {3, 2049, 1}, {1, 16385, 1}, {UINT32_MAX, UINT64_MAX, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t executions = rows[i].executions;
        uint64_t groups = rows[i].groups;
        assert_false(vy_chunk_has_next_ahead(0, executions, groups));
        assert_false(vy_chunk_has_next_ahead(rows[i].first - 1, executions, groups));
        assert_true(vy_chunk_has_next_ahead(rows[i].first, executions, groups));
        assert_true(vy_chunk_has_next_ahead(UINT32_MAX, executions, groups));
    }
}

/* One dispatch for everything, whatever the segments are; the state comes from what it wrote. */
static void test_plan_of_one_workgroup_is_one_dispatch(void **state)
{
    (void)state;
    setup s;
    start(&s, 5);
    for (uint32_t i = 0; i < 5; i++) {
        touch(&s, i, 1u << (i & 1), 1u << (~i & 1));
    }
    s.input.until = 3;
    s.input.is_whole = true;
    s.input.passes = 700;
    s.input.reads_state = true;
    s.input.state.target_offset = 64;
    s.input.whole_stride = 256;
    s.input.whole_targets[0] = 0;
    s.input.whole_targets[1] = 4;
    vy_command fill = {.kind = VY_COMMAND_FILL, .target = 2, .size = 4};
    vy_command copy = {.kind = VY_COMMAND_COPY, .source = 1, .target = VY_MEM_READBACK, .size = 8};
    s.input.prologue = &fill;
    s.input.epilogue = &copy;
    s.input.prologue_count = s.input.epilogue_count = 1;
    assert_string_equal(letters(&s), "FBWBCCC");
    assert_int_equal(s.plan.dispatches, 1);
    assert_int_equal(s.plan.commands.data[2].pass, 700);
    for (uint32_t i = 0; i < 2; i++) {
        const vy_command *word = &s.plan.commands.data[5 + i];
        assert_int_equal(word->source, VY_MEM_SPILL);
        assert_int_equal(word->source_offset, 256 * i);
        assert_int_equal(word->target_offset, 64 + 4 * i);
        assert_int_equal(word->size, 4);
    }
    finish(&s);
}

/* An allocator that fails from its n-th call on. */
static void *fail_after(void *user, void *old, size_t old_size, size_t new_size)
{
    uint32_t *left = user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    if (*left == 0) {
        return NULL;
    }
    --*left;
    return realloc(old, new_size);
}

static void test_plan_survives_failed_allocations(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 4; n++) {
        setup s;
        start(&s, 2);
        touch(&s, 0, 0, 1);
        touch(&s, 1, 1, 1);
        s.input.passes = 2000;
        uint32_t left = n;
        vyre_allocator allocator = {&left, fail_after};
        vy_arena_init(&s.arena, &allocator);
        assert_false(vy_chunk_plan_build(&s.input, &s.arena, &s.plan));
        finish(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_puts_barriers_for_hazards_only),
        cmocka_unit_test(test_plan_waits_in_a_chain_of_five),
        cmocka_unit_test(test_plan_remembers_what_an_elided_barrier_left_open),
        cmocka_unit_test(test_plan_reads_the_grid_before_the_passes),
        cmocka_unit_test(test_plan_sees_hazards_across_passes),
        cmocka_unit_test(test_plan_follows_aliased_bindings),
        cmocka_unit_test(test_plan_orders_transfers_with_dispatches),
        cmocka_unit_test(test_plan_gates_each_pass_by_the_one_before),
        cmocka_unit_test(test_plan_knows_the_flag_of_each_pass),
        cmocka_unit_test(test_plan_orders_what_the_first_segment_clears),
        cmocka_unit_test(test_plan_of_a_later_chunk_waits_for_those_before),
        cmocka_unit_test(test_plan_grows_chunks_by_the_root),
        cmocka_unit_test(test_plan_submits_ahead_of_later_chunks),
        cmocka_unit_test(test_plan_shows_parameter_blocks_where_they_were_written),
        cmocka_unit_test(test_plan_ends_with_what_the_host_reads_in_place),
        cmocka_unit_test(test_plan_waits_at_the_borders),
        cmocka_unit_test(test_plan_serializes_on_demand),
        cmocka_unit_test(test_plan_stamps_four_times),
        cmocka_unit_test(test_plan_chunks_hold_a_bounded_number),
        cmocka_unit_test(test_plan_of_one_workgroup_is_one_dispatch),
        cmocka_unit_test(test_plan_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

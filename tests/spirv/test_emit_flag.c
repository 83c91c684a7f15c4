/* Modules of fixpoints with `until`: the gate before the body, what the first execution of a pass
 * does, and where accesses of the flag go. Run on the host, invocation by invocation, and by their
 * words, which no processor's driver proves. */
#include "codegen/passes/passes.h"
#include "codegen/spirv/interface.h"
#include "codegen/spirv/spirv.h"
#include "judge.h"
#include "tests/support/machine.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

/* Bindings: a, f, then the hidden ones. */
enum { A, F, PARAMS, STATE, RECORDS, SPILL, TABLES, SLOTS };
_Static_assert(STATE == PARAMS + VY_HIDDEN_STATE, "the state comes first");

static const char text[] = "program flagged\nworkgroup 4\nfixpoint 9 until f\n"
                           "inout a : u32[]\ninout f : u32[]\nparam n : u32\n"
                           "kernel {\n"
                           "  a[gid.x] = f[0] + 1\n"
                           "  f[0] = 7\n"
                           "  grid_sync\n"
                           "  let old = atomic_add(f[0], 3)\n"
                           "  a[gid.x] = old + f[1]\n"
                           "  grid_sync\n"
                           "  f[n] = f[n] + 5\n"
                           "  let now = atomic_or(f[n], 64)\n"
                           "  a[gid.x] = now\n"
                           "}\n";

#define SEGMENTS 3u

typedef struct fixture {
    vyre_program *program;
    vy_arena arena;
    vy_split split;
    vyre_target target;
    uint32_t slots[SLOTS][64];
    vyre_interface interface;
    uint32_t execution;
    bool is_folded;
} fixture;

static void start(fixture *f, vyre_target target)
{
    vyre_diag diag;
    memset(f, 0, sizeof *f);
    f->target = target;
    vy_arena_init(&f->arena, NULL);
    if (vyre_program_parse(text, strlen(text), "t", NULL, &f->program, &diag) != VYRE_OK ||
        vy_split_program(f->program, VY_PRINTS_DROPPED, &f->arena, &f->split, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(f->split.segments.count, SEGMENTS);
}

static void finish(fixture *f)
{
    vyre_program_destroy(&f->program);
    vy_arena_finish(&f->arena);
}

typedef struct module {
    vy_access access;
    uint32_t *words;
    uint32_t count;
} module;

static module compile(fixture *f, uint32_t segment, bool is_whole)
{
    vy_ssa ssa;
    vyre_diag diag;
    module made = {.words = NULL};
    uint32_t pass_count = 0;
    const vy_pass *passes = vy_passes_get(&pass_count);
    const vy_pass_context context = {.eval = NULL};
    vyre_result code =
        is_whole ? vy_ssa_build_whole(f->program, &f->split, &f->arena, &f->arena, &ssa, &diag)
                 : vy_ssa_build(f->program, &f->split, segment, &f->arena, &f->arena, &ssa, &diag);
    for (uint32_t i = 0; i < pass_count && code == VYRE_OK; i++) {
        assert_true(passes[i].run(&ssa, &context));
    }
    vy_spirv_options options = {
        .target = f->target, .interface = f->interface, .whole = is_whole, .entry_name = "main"};
    if (code == VYRE_OK) {
        vy_ssa_access(&ssa, &made.access);
        code =
            vy_spirv_emit(&ssa, &made.access, &options, &f->arena, &made.words, &made.count, &diag);
    }
    if (code != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    judge_valid(made.words, made.count, f->target);
    return made;
}

static uint32_t *flag_of(fixture *f, uint32_t pass)
{
    return &f->slots[STATE][VY_STATE_FLAGS + pass % VY_STATE_TURNS];
}

static uint32_t *count_of(fixture *f, uint32_t pass)
{
    return &f->slots[STATE][VY_STATE_PASSES + pass % VY_STATE_TURNS];
}

/* As the engine leaves the state behind the pass before: `flag` is what that left, and `count` how
 * many have run. */
static void set_state(fixture *f, uint32_t count, uint32_t pass, uint32_t flag)
{
    memset(f->slots, 0, sizeof f->slots);
    f->slots[PARAMS][VY_PARAM_PASS_BASE] = 77; /* which is not looked at */
    f->slots[PARAMS][VY_PARAM_TURN] = pass % VY_STATE_TURNS;
    f->slots[PARAMS][VY_PARAM_LEADS] = f->execution == 0;
    *flag_of(f, pass + VY_STATE_TURNS - 1) = flag;
    *flag_of(f, pass + 1) = 99; /* of three passes ago */
    *count_of(f, pass) = count;
    *count_of(f, pass + 1) = 1000;
    for (uint32_t i = 0; i < 8; i++) {
        f->slots[A][i] = 500 + i;
        f->slots[F][i] = 40 + i;
    }
}

/* Two workgroups of four, one invocation after another; a third one where the grid is folded. */
static void run(fixture *f, uint32_t segment, uint32_t flag_length, uint32_t n)
{
    uint32_t *block = f->slots[PARAMS], at = vy_param_addresses(2, 1);
    machine m;
    module made = compile(f, segment, false);
    machine_init(&m, made.words, made.count);
    block[VY_PARAM_GROUPS] = block[VY_PARAM_GROUP_TOTAL] = 2;
    block[VY_PARAM_GROUPS + 1] = block[VY_PARAM_GROUPS + 2] = 1;
    block[VY_PARAM_LENGTHS + A] = 8;
    block[VY_PARAM_LENGTHS + F] = flag_length;
    block[VY_PARAM_LENGTHS + 2] = n;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        m.buffers[slot].words = f->slots[slot];
        m.buffers[slot].count = 64;
        if (slot != PARAMS) {
            block[at++] = (uint32_t)machine_address(slot);
            block[at++] = (uint32_t)(machine_address(slot) >> 32);
        }
    }
    m.block_at = f->interface == VYRE_INTERFACE_ADDRESS ? PARAMS - VY_ADDRESS_BLOCK : 0;
    m.push[VY_PUSH_PASS / 4] = m.push[VY_PUSH_EXECUTION / 4] = 55; /* nor is this */
    m.has_spec[VY_SPEC_FOLDED] = true;
    m.spec[VY_SPEC_FOLDED] = f->is_folded;
    m.launched[0] = f->is_folded ? 3 : 2;
    m.launched[1] = m.launched[2] = 1;
    for (uint32_t group = 0; group < m.launched[0]; group++) {
        for (uint32_t local = 0; local < 4; local++) {
            m.workgroup[0] = group;
            m.local[0] = m.local_index = local;
            machine_run(&m);
        }
    }
    machine_finish(&m);
}

static void test_gate_lets_a_pass_run_where_the_one_before_set_its_flag(void **state)
{
    (void)state;
    fixture f;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    for (uint32_t i = 0; i < 4 * 8; i++) {
        uint32_t pass = i % 8, count = 4 * (i % 3) + i;
        f.interface = i & 8 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        f.is_folded = i >= 16;
        f.execution = 0;
        set_state(&f, count, pass, i % 5 + 1);
        run(&f, 0, 2, 0);
        assert_int_equal(*flag_of(&f, pass), 7);
        assert_int_equal(*flag_of(&f, pass + 1), 0); /* made ready for the next */
        assert_int_equal(*flag_of(&f, pass + 3), i % 5 + 1);
        assert_int_equal(*count_of(&f, pass), count);
        assert_int_equal(*count_of(&f, pass + 1), count + 1);
        assert_int_equal(f.slots[A][0], 1); /* the word was zero before */
        assert_int_equal(f.slots[A][7], 8);
        assert_int_equal(f.slots[F][0], 40); /* nobody touches the buffer's own */
    }
    finish(&f);
}

static void test_gate_keeps_what_comes_behind_the_end_from_running(void **state)
{
    (void)state;
    fixture f, before;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    for (uint32_t i = 0; i < 3 * 8; i++) {
        uint32_t pass = i % 8;
        f.interface = i & 8 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        f.execution = i / 8;
        set_state(&f, 8, pass, 0);
        before = f;
        run(&f, i / 8, 4, i % 2);
        /* The first execution hands the end on, and that is all. */
        if (f.execution == 0) {
            *flag_of(&before, pass + 1) = 0;
            *count_of(&before, pass + 1) = 8;
        }
        assert_memory_equal(f.slots[STATE], before.slots[STATE], sizeof f.slots[STATE]);
        assert_memory_equal(f.slots[A], before.slots[A], sizeof f.slots[A]);
        assert_memory_equal(f.slots[F], before.slots[F], sizeof f.slots[F]);
    }
    finish(&f);
}

static void test_later_executions_leave_the_next_pass_alone(void **state)
{
    (void)state;
    fixture f;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    for (uint32_t i = 0; i < 2; i++) {
        f.interface = i ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        f.execution = 1;
        set_state(&f, 0, 2, 1);
        run(&f, 1, 2, 0);
        assert_int_equal(f.slots[STATE][2], 8 * 3); /* eight invocations add three */
        assert_int_equal(f.slots[STATE][3], 99);
        assert_int_equal(*count_of(&f, 3), 1000);
        assert_int_equal(f.slots[A][7], 7 * 3 + 41); /* f[1] is in the buffer */
        assert_int_equal(f.slots[F][0], 40);
        /* A flag without elements is never set, whatever lies in the word. */
        set_state(&f, 0, 2, 1);
        f.slots[STATE][2] = 0;
        run(&f, 1, 0, 0);
        assert_int_equal(f.slots[STATE][2], 0);
        assert_int_equal(f.slots[A][7], 0);
    }
    finish(&f);
}

static void test_computed_indices_reach_the_flag_and_the_buffer(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, length;
    } rows[] = {{0, 2}, {1, 2}, {0, 1}, {1, 1}, {0, 0}, {UINT32_MAX, 2}};
    fixture f;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        uint32_t n = rows[i / 2].n, length = rows[i / 2].length;
        uint32_t element = n < length ? (n == 0 ? 0 : 40 + n) : 0, found = 0;
        for (uint32_t k = 0; k < 8 && n < length; k++) {
            found = element + 5;
            element = found | 64;
        }
        f.interface = i % 2 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        f.execution = 2;
        set_state(&f, 0, 5, 1);
        run(&f, 2, length, n);
        assert_int_equal(f.slots[STATE][1], n == 0 ? element : 0);
        assert_int_equal(f.slots[F][0], 40);
        assert_int_equal(f.slots[F][1], n == 1 && length > 1 ? element : 41);
        assert_int_equal(f.slots[A][7], found);
    }
    finish(&f);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static uint32_t binding_in(const module *m, uint32_t binding)
{
    return judge_binding(m->words, m->count, binding);
}

static void test_modules_name_the_buffer_only_where_it_may_be_meant(void **state)
{
    (void)state;
    fixture f;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    module m[SEGMENTS];
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        m[s] = compile(&f, s, false);
        assert_int_equal(binding_in(&m[s], F) != 0, s > 0); /* the first one: f[0] alone */
        assert_int_not_equal(binding_in(&m[s], STATE), 0);
    }
    /* To the planner they are two places. */
    const uint64_t flag = VY_ACCESS_FLAG, a = 1u << A, buffer = 1u << F;
    assert_true(m[0].access.reads == flag && m[0].access.writes == (flag | a));
    assert_true(m[0].access.atomics == 0);
    assert_true(m[1].access.reads == (flag | buffer) && m[1].access.writes == (flag | a));
    assert_true(m[1].access.atomics == flag);
    assert_true(m[2].access.reads == (flag | buffer) && m[2].access.writes == (flag | buffer | a));
    assert_true(m[2].access.atomics == (flag | buffer));
    /* One module for all passes ends by itself, and has the flag in its buffer. */
    module whole = compile(&f, 0, true);
    assert_int_not_equal(binding_in(&whole, F), 0);
    assert_int_equal(binding_in(&whole, STATE), 0);
    assert_false((whole.access.reads | whole.access.writes | whole.access.atomics) & flag);
    assert_true(whole.access.reads & whole.access.writes & whole.access.atomics & buffer);
    finish(&f);
}

/* Loads and stores of the variable in the module, all of which must say that others see them. */
static uint32_t count_shared(const module *m, uint32_t variable)
{
    uint32_t at = 0, seen = 0;
    while ((at = judge_find(m->words, m->count, at, SpvOpAccessChain)) != 0) {
        uint32_t pointer = m->words[at + 2], use = at;
        while (m->words[at + 3] == variable &&
               (use = judge_find(m->words, m->count, use, JUDGE_ANY)) != 0) {
            const uint32_t *w = &m->words[use];
            uint32_t op = w[0] & 0xffff, length = w[0] >> 16;
            bool is_load = op == SpvOpLoad && w[3] == pointer;
            if (is_load || (op == SpvOpStore && w[1] == pointer)) {
                assert_int_equal(length, is_load ? 5 : 4);
                assert_int_equal(w[length - 1], SpvMemoryAccessNonPrivatePointerMask);
                seen++;
            }
        }
    }
    return seen;
}

static void test_state_is_shared_between_dispatches(void **state)
{
    (void)state;
    fixture f;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        module m = compile(&f, s, false);
        uint32_t variable = binding_in(&m, STATE);
        assert_false(
            judge_is_decorated(m.words, m.count, variable, SpvDecorationNonWritable, NULL));
        /* The gate's load, the word of the next pass, both counts, and what the body does plainly.
         */
        assert_int_equal(count_shared(&m, variable), s == 1 ? 4 : 6);
    }
    finish(&f);
    /* Without that memory model: where invocations of the segment speak through the flag. */
    start(&f, VYRE_TARGET_VULKAN_1_2);
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        module m = compile(&f, s, false);
        assert_int_equal(judge_is_decorated(m.words, m.count, binding_in(&m, STATE),
                                            SpvDecorationCoherent, NULL),
                         s > 0);
    }
    finish(&f);
}

static void test_gate_words_are_as_stored(void **state)
{
    (void)state;
    fixture f;
    start(&f, VYRE_TARGET_VULKAN_1_3);
    module m = compile(&f, 0, false);
    judge_golden(m.words, m.count, "until_gate");
    f.interface = VYRE_INTERFACE_ADDRESS;
    m = compile(&f, 2, false);
    judge_golden(m.words, m.count, "until_either_address");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_lets_a_pass_run_where_the_one_before_set_its_flag),
        cmocka_unit_test(test_gate_keeps_what_comes_behind_the_end_from_running),
        cmocka_unit_test(test_later_executions_leave_the_next_pass_alone),
        cmocka_unit_test(test_computed_indices_reach_the_flag_and_the_buffer),
        cmocka_unit_test(test_modules_name_the_buffer_only_where_it_may_be_meant),
        cmocka_unit_test(test_state_is_shared_between_dispatches),
        cmocka_unit_test(test_gate_words_are_as_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Determinism, debugging data that changes nothing else, limits of SPIR-V, allocation failures,
 * forms that are not right: a result and a message each, never a crash and never a broken module.
 */
#include "constructs.h"
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

static void test_same_input_gives_same_words(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < construct_count; i++) {
        form a, b;
        form_init(&a);
        constructs[i].build(&a);
        form_emit(&a);
        form_init(&b);
        constructs[i].build(&b);
        form_emit(&b);
        assert_int_equal(a.word_count, b.word_count);
        assert_memory_equal(a.words, b.words, a.word_count * sizeof *a.words);
        form_finish(&a);
        form_finish(&b);
    }
}

static void build_with_lines(form *f, uint32_t index)
{
    form_init(f);
    f->line = 3;
    constructs[index].build(f);
    for (uint32_t i = 1; i < f->ssa.ins.count; i++) {
        f->ssa.ins.data[i].name = "value";
        f->ssa.ins.data[i].loc.line = i;
    }
    for (uint32_t i = 1; i < f->ssa.blocks.count; i++) {
        f->ssa.blocks.data[i].loc = (vy_loc){1000 + i, 7};
    }
}

static bool is_debugging(uint32_t op)
{
    return op == SpvOpString || op == SpvOpName || op == SpvOpMemberName || op == SpvOpLine;
}

/* Without the debugging instructions the words are those of the plain module, and a merge
 * instruction still stands right before its branch. */
static void test_debugging_data_changes_no_other_word(void **state)
{
    (void)state;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < construct_count; i++) {
        form plain, debug;
        build_with_lines(&plain, i);
        form_emit(&plain);
        build_with_lines(&debug, i);
        debug.options.debug = true;
        form_emit(&debug);
        uint32_t *rest = malloc(debug.word_count * sizeof *rest), count = 5, at = 0;
        assert_non_null(rest);
        memcpy(rest, debug.words, 5 * sizeof *rest);
        while ((at = judge_find(debug.words, debug.word_count, at, JUDGE_ANY)) != 0) {
            uint32_t length = debug.words[at] >> 16;
            lines += (debug.words[at] & 0xffff) == SpvOpLine ? 1 : 0;
            if (!is_debugging(debug.words[at] & 0xffff)) {
                memcpy(rest + count, debug.words + at, length * sizeof *rest);
                count += length;
            }
            if ((debug.words[at] & 0xffff) == SpvOpLoopMerge ||
                (debug.words[at] & 0xffff) == SpvOpSelectionMerge) {
                uint32_t next = debug.words[at + length] & 0xffff;
                assert_true(next == SpvOpBranch || next == SpvOpBranchConditional ||
                            next == SpvOpSwitch);
            }
        }
        assert_int_equal(count, plain.word_count);
        assert_memory_equal(rest, plain.words, count * sizeof *rest);
        free(rest);
        form_finish(&plain);
        form_finish(&debug);
    }
    assert_true(lines > 50);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void expect_error(form *f, vyre_result wanted, const char *part)
{
    vyre_diag diag;
    vyre_result result = form_try_emit(f, &diag);
    assert_int_equal(result, wanted);
    assert_int_equal(diag.code, wanted);
    assert_null(f->words);
    if (!strstr(diag.message, part) || !strstr(diag.message, "Fix: ")) {
        fail_msg("message: %s", diag.message);
    }
}

static void build_switch_of(form *f, uint32_t count)
{
    form_init(f);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t one = form_block(f), merge = form_block(f);
    uint32_t i = form_builtin(f, VYRE_BUILTIN_GID_X);
    vy_case *cases = calloc(count, sizeof *cases);
    assert_non_null(cases);
    for (uint32_t k = 0; k < count; k++) {
        cases[k] = (vy_case){k, one};
    }
    form_switch(f, i, cases, count, merge, merge);
    free(cases);
    form_at(f, one);
    form_store(f, out, i, i);
    form_jump(f, merge);
    form_at(f, merge);
    form_end(f, VY_END_RETURN);
    f->options.module_writes = 1;
}

static void test_switch_limit(void **state)
{
    (void)state;
    form f;
    build_switch_of(&f, 16383);
    form_emit(&f);
    form_finish(&f);
    build_switch_of(&f, 16384);
    f.ssa.blocks.data[1].loc = (vy_loc){5, 9};
    expect_error(&f, VYRE_ERROR_INVALID_PROGRAM, "16384 case values");
    form_finish(&f);
}

/* One block with `count` predecessors and a phi over them: a chain of ifs that leave a loop. */
static void build_wide_phi(form *f, uint32_t count)
{
    form_init(f);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t i = form_builtin(f, VYRE_BUILTIN_GID_X);
    uint32_t condition = form_op(f, VYRE_OP_LT, VYRE_TYPE_BOOL, i, form_u32(f, 5));
    uint32_t header = form_block(f), next = form_block(f), merge = form_block(f);
    uint32_t first = form_block(f);
    form_jump(f, header);
    form_at(f, header);
    form_loop(f, condition, first, next, merge);
    uint32_t edges = f->ssa.phi_edges.count;
    assert_true(vy_vec_push(&f->arena, &f->ssa.phi_edges, (vy_phi_edge){header, i}));
    for (uint32_t k = 1; k < count; k++) {
        uint32_t block = k == 1 ? first : f->ssa.blocks.count - 1;
        form_at(f, block);
        uint32_t after = k + 1 == count ? next : form_block(f);
        form_if(f, condition, merge, after, 0);
        f->ssa.blocks.data[block].merge_kind = VY_MERGE_NONE;
        assert_true(vy_vec_push(&f->arena, &f->ssa.phi_edges, (vy_phi_edge){block, i}));
    }
    form_at(f, next);
    form_jump(f, header);
    form_at(f, merge);
    uint32_t phi = form_phi_of(f, VYRE_TYPE_U32, edges, count);
    form_store(f, out, i, phi);
    form_end(f, VY_END_RETURN);
    f->options.module_writes = 1;
}

static void test_phi_limit(void **state)
{
    (void)state;
    form f;
    vyre_diag diag;
    build_wide_phi(&f, 32766);
    assert_int_equal(form_try_emit(&f, &diag), VYRE_OK);
    form_finish(&f);
    build_wide_phi(&f, 32767);
    expect_error(&f, VYRE_ERROR_INVALID_PROGRAM, "32767 paths");
    form_finish(&f);
}

/* More ids than any consumer has to take. */
static void test_id_limit(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X), x = i;
    for (uint32_t k = 0; k < 4200000; k++) {
        x = form_op(&f, VYRE_OP_ADD, VYRE_TYPE_U32, x, i);
    }
    form_store(&f, out, i, x);
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 1;
    expect_error(&f, VYRE_ERROR_INVALID_PROGRAM, "larger than a SPIR-V module");
    form_finish(&f);
}

static void test_many_blocks_are_emitted_in_linear_time(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X), n = i;
    for (uint32_t k = 0; k < 20000; k++) {
        uint32_t before = f.block, yes = form_block(&f), merge = form_block(&f);
        uint32_t condition = form_op(&f, VYRE_OP_LT, VYRE_TYPE_BOOL, n, form_u32(&f, k));
        form_if(&f, condition, yes, merge, merge);
        form_at(&f, yes);
        uint32_t more = form_op(&f, VYRE_OP_ADD, VYRE_TYPE_U32, n, i);
        form_jump(&f, merge);
        form_at(&f, merge);
        n = form_phi(&f, VYRE_TYPE_U32, before, n, yes, more);
    }
    form_store(&f, out, i, n);
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 1;
    vyre_diag diag;
    assert_int_equal(form_try_emit(&f, &diag), VYRE_OK);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpPhi), 20000);
    form_finish(&f);
}

/* ---- Wrong forms ----------------------------------------------------------------------------- */

static void test_unsupported_and_wrong_instructions_are_refused(void **state)
{
    static const struct {
        uint32_t op;
        vyre_type type;
        uint32_t ref;
        vyre_result result;
        const char *part;
    } rows[] = {
        {VY_SSA_COMPONENT, VYRE_TYPE_U32, 3, VYRE_ERROR_INTERNAL, "has no component 3"},
        {VY_SSA_COMPOSE, VYRE_TYPE_U32, 0, VYRE_ERROR_INTERNAL, "is no vector"},
        {VYRE_OP_CALL, VYRE_TYPE_U32, 0, VYRE_ERROR_INTERNAL, "does not belong in SSA form"},
        {VYRE_OP_VARIABLE, VYRE_TYPE_U32, 0, VYRE_ERROR_INTERNAL, "does not belong"},
        {VY_SSA_OP_COUNT + 5, VYRE_TYPE_U32, 0, VYRE_ERROR_INTERNAL, "does not belong"},
        {VYRE_OP_LOAD, VYRE_TYPE_U32, 77, VYRE_ERROR_INTERNAL, "names 77"},
        {VYRE_OP_PARAM, VYRE_TYPE_U32, 1, VYRE_ERROR_INTERNAL, "names 1"},
        {VYRE_OP_TABLE, VYRE_TYPE_U32, 1, VYRE_ERROR_INTERNAL, "names 1"},
        {VY_SSA_ARRAY_ZERO, VYRE_TYPE_VOID, 1, VYRE_ERROR_INTERNAL, "names 1"},
        {VY_SSA_HOST_INDEX, VYRE_TYPE_U32, 8, VYRE_ERROR_INTERNAL, "names 8"},
        {VYRE_OP_BUILTIN, VYRE_TYPE_U32, VYRE_BUILTIN_COUNT, VYRE_ERROR_INTERNAL, "names 18"},
        {VYRE_OP_SHL, VYRE_TYPE_F32, 0, VYRE_ERROR_INTERNAL, "SHL has no meaning on f32"},
    };
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        form f;
        form_init(&f);
        uint32_t x =
            form_literal(&f, rows[i].type == VYRE_TYPE_F32 ? VYRE_TYPE_F32 : VYRE_TYPE_U32, 1);
        (void)form_ins(&f, rows[i].op, rows[i].type, rows[i].ref, x, x, x, 0);
        form_end(&f, VY_END_RETURN);
        vy_access access = {0};
        vyre_diag diag;
        vyre_result result =
            vy_spirv_emit(&f.ssa, &access, &f.options, &f.arena, &f.words, &f.word_count, &diag);
        assert_int_equal(result, rows[i].result);
        assert_null(f.words);
        if (!strstr(diag.message, rows[i].part) || !strstr(diag.message, "Fix: ")) {
            fail_msg("message: %s", diag.message);
        }
        form_finish(&f);
    }
}

static void test_broken_blocks_are_refused(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    expect_error(&f, VYRE_ERROR_INTERNAL, "a block has no end");
    form_finish(&f);
    form_init(&f);
    form_jump(&f, 9);
    expect_error(&f, VYRE_ERROR_INTERNAL, "block 9");
    form_finish(&f);
    form_init(&f);
    form_if(&f, 12, 1, 1, 1);
    expect_error(&f, VYRE_ERROR_INTERNAL, "%12 is used and has no value");
    form_finish(&f);
    form_init(&f);
    f.ssa.blocks.count = 1;
    expect_error(&f, VYRE_ERROR_INTERNAL, "no blocks");
    form_finish(&f);
}

static void test_unknown_options_are_refused(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    form_end(&f, VY_END_RETURN);
    f.options.target = (vyre_target)7;
    expect_error(&f, VYRE_ERROR_INVALID_ARGUMENT, "target 7");
    f.options.target = VYRE_TARGET_VULKAN_1_2;
    f.options.interface = (vyre_interface)3;
    expect_error(&f, VYRE_ERROR_INVALID_ARGUMENT, "interface 3");
    f.options.interface = VYRE_INTERFACE_DESCRIPTOR;
    form_emit(&f);
    form_finish(&f);
}

static void test_atomics_on_the_wrong_type_are_refused(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_F32);
    uint32_t one = form_literal(&f, VYRE_TYPE_F32, 0x3f800000), zero = form_u32(&f, 0);
    (void)form_atomic(&f, a, VYRE_ATOMIC_MIN, VYRE_ORDER_RELAXED, zero, one, 0);
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 1;
    expect_error(&f, VYRE_ERROR_INVALID_PROGRAM, "atomic_min does not exist for f32");
    form_finish(&f);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef struct counting {
    uint32_t calls, fail_at; /* fail_at 0: never */
} counting;

static void *reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    counting *c = user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return ++c->calls == c->fail_at ? NULL : realloc(old, new_size);
}

static void test_each_allocation_may_fail(void **state)
{
    static const char *const names[] = {"trigonometry", "shared", "switch", "tables", "agnostic"};
    (void)state;
    uint32_t failures = 0;
    for (uint32_t row = 0; row < construct_count; row++) {
        bool wanted = false;
        for (size_t k = 0; k < VY_COUNT_OF(names); k++) {
            wanted = wanted || strcmp(names[k], constructs[row].name) == 0;
        }
        for (uint32_t n = 1; wanted; n++) {
            form f;
            counting c = {0, n};
            vy_access access = {0};
            vyre_diag diag;
            vyre_allocator allocator = {&c, reallocate};
            form_init(&f);
            constructs[row].build(&f);
            f.options.debug = true;
            vy_ssa_access(&f.ssa, &access);
            vy_arena arena;
            vy_arena_init(&arena, &allocator);
            vyre_result result =
                vy_spirv_emit(&f.ssa, &access, &f.options, &arena, &f.words, &f.word_count, &diag);
            wanted = result != VYRE_OK;
            if (wanted) {
                assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
                assert_null(f.words);
                failures++;
            }
            vy_arena_finish(&arena);
            form_finish(&f);
        }
    }
    assert_in_range(failures, 10, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_input_gives_same_words),
        cmocka_unit_test(test_debugging_data_changes_no_other_word),
        cmocka_unit_test(test_switch_limit),
        cmocka_unit_test(test_phi_limit),
        cmocka_unit_test(test_id_limit),
        cmocka_unit_test(test_many_blocks_are_emitted_in_linear_time),
        cmocka_unit_test(test_unsupported_and_wrong_instructions_are_refused),
        cmocka_unit_test(test_broken_blocks_are_refused),
        cmocka_unit_test(test_unknown_options_are_refused),
        cmocka_unit_test(test_atomics_on_the_wrong_type_are_refused),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

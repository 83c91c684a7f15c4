/* The words of coarse segments, and of those with wide accesses of one invocation: the stored
 * assembly, one access for all elements of a stream, what the memory model and the forms of memory
 * ask for. */
#include "codegen/passes/coarsen_parts.h"
#include "codegen/passes/widen.h"
#include "codegen/spirv/spirv.h"
#include "judge.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

static const char map_text[] = "program map\nworkgroup 64\ngrid over y\nin x : u32[]\n"
                               "inout y : u32[]\nkernel { y[gid.x] = x[gid.x] * 3 + 1 }\n";
static const char odd_text[] = "program odd\nworkgroup 64\ngrid over x\nin x : u8[]\n"
                               "out k : u32[1]\n"
                               "kernel { if (x[gid.x] & 1) == 1 { atomic_add(k[0], 1) } }\n";
static const char append_text[] =
    "program append\nworkgroup 64\ngrid over x\nin x : u64[]\ninout y : u64[]\n"
    "inout k : u32[1]\nkernel { let v = x[gid.x]\n"
    "if v > 3ul { let o = atomic_add(k[0], 1)\ny[o] = v } }\n";
static const char narrow_text[] =
    "program narrow\nworkgroup 64\ngrid over y\nin x : i16[]\nin h : f16[]\ninout y : i8[]\n"
    "inout d : f32[]\nkernel { y[gid.x] = i8(x[gid.x])\nd[gid.x] = f32(h[gid.x]) }\n";

/* Four and two neighbours of one binding; it tells workgroups. */
static const char four_text[] =
    "program four\nworkgroup 64\nin x : u32[]\ninout y : u32[len(x)]\nkernel {\n"
    "    let t = wid.x * 64 + lid.x\n    if t < len(x) / 8 {\n        let i = t * 8\n"
    "        y[i] = x[i] + x[i + 1]\n        y[i + 1] = x[i + 2]\n        y[i + 2] = x[i + 3]\n"
    "        y[i + 3] = x[i + 6] ^ x[i + 7]\n        y[i + 5] = x[i + 4]\n    }\n}\n";
static const char small_text[] =
    "program small\nworkgroup 64\nin b : u8[]\nin h : f16[len(b)]\ninout d : u64[len(b)]\n"
    "kernel {\n    let t = wid.x * 64 + lid.x\n    if t < len(b) / 4 {\n        let i = t * 4\n"
    "        d[i + 1] = u64(b[i] + b[i + 1] + b[i + 2] + b[i + 3])\n"
    "        d[i] = u64(h[i + 3] + h[i + 2] + h[i + 1] + h[i])\n    }\n}\n";

typedef struct made {
    vyre_program *program;
    vy_arena arena;
    const uint32_t *words;
    uint32_t count;
    vy_coarse coarse;
} made;

static made make_joined(const char *text, vyre_target target, vyre_interface interface,
                        uint32_t aggregate)
{
    made m = {0};
    vyre_diag diag;
    vy_split split;
    vy_ssa ssa;
    vy_access access;
    uint32_t pass_count, *words;
    const vy_pass *passes = vy_passes_get(&pass_count);
    const vy_pass_context context = {0};
    vy_arena_init(&m.arena, NULL);
    if (vyre_program_parse(text, strlen(text), "coarse", NULL, &m.program, &diag) != VYRE_OK ||
        vy_split_program(m.program, VY_PRINTS_DROPPED, &m.arena, &split, &diag) != VYRE_OK ||
        vy_ssa_build(m.program, &split, 0, &m.arena, &m.arena, &ssa, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    for (uint32_t p = 0; p < pass_count; p++) {
        assert_true(passes[p].run(&ssa, &context));
    }
    vy_ssa_access(&ssa, &access);
    assert_true(vy_ssa_coarsen_or_widen(&ssa, aggregate != 0, &m.coarse));
    assert_null(vy_ssa_verify(&ssa));
    const vy_spirv_options options = {.target = target,
                                      .interface = interface,
                                      .aggregate = aggregate,
                                      .reconvergence = aggregate ? VYRE_RECONVERGENCE_MAXIMAL
                                                                 : VYRE_RECONVERGENCE_NONE,
                                      .agnostic = vy_program_is_workgroup_agnostic(m.program, NULL),
                                      .coarse = m.coarse.elements,
                                      .entry_name = "main",
                                      .module_writes = access.writes};
    if (vy_spirv_emit(&ssa, &access, &options, &m.arena, &words, &m.count, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    m.words = words;
    judge_valid(m.words, m.count, target);
    return m;
}

static made make(const char *text, vyre_target target, vyre_interface interface)
{
    return make_joined(text, target, interface, 0);
}

static void finish(made *m)
{
    vy_arena_finish(&m->arena);
    vyre_program_destroy(&m->program);
}

static void test_coarse_words_match_stored_assembly(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        vyre_target target;
        vyre_interface interface;
    } cases[] = {
        {map_text, "coarse_map", VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR},
        {map_text, "coarse_map.address", VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_ADDRESS},
        {map_text, "coarse_map.vulkan12", VYRE_TARGET_VULKAN_1_2, VYRE_INTERFACE_DESCRIPTOR},
        {odd_text, "coarse_odd.address", VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_ADDRESS},
        {narrow_text, "coarse_narrow", VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR},
        {four_text, "widen_four", VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR},
        {four_text, "widen_four.address", VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_ADDRESS},
        {small_text, "widen_small", VYRE_TARGET_VULKAN_1_2, VYRE_INTERFACE_DESCRIPTOR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m = make(cases[i].text, cases[i].target, cases[i].interface);
        judge_golden(m.words, m.count, cases[i].name);
        finish(&m);
    }
}

static uint32_t vector_of(const made *m, uint32_t components)
{
    uint32_t at = 0;
    while ((at = judge_find(m->words, m->count, at, SpvOpTypeVector)) != 0) {
        if (m->words[at + 3] == components) {
            return m->words[at + 1];
        }
    }
    return 0;
}

/* One load and one store of 16 bytes, aligned so; the words one by one beside them. */
static void test_coarse_streams_are_one_access_of_16_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        made m = make(map_text, VYRE_TARGET_VULKAN_1_3,
                      i ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR);
        uint32_t four = vector_of(&m, 4), loads = 0, stores = 0, at = 0;
        assert_int_not_equal(four, 0);
        assert_int_equal(m.coarse.elements, 4);
        assert_int_equal(m.coarse.streams, 3);
        while ((at = judge_find(m.words, m.count, at, SpvOpLoad)) != 0) {
            if (m.words[at + 1] == four) {
                loads++;
                assert_int_equal(m.words[at] >> 16, i ? 6 : 4);
                assert_true(
                    !i || (m.words[at + 4] == SpvMemoryAccessAlignedMask && m.words[at + 5] == 16));
            }
        }
        uint32_t value = 0;
        while ((at = judge_find(m.words, m.count, at, SpvOpCompositeConstruct)) != 0) {
            value = m.words[at + 1] == four ? m.words[at + 2] : value;
        }
        while ((at = judge_find(m.words, m.count, at, SpvOpStore)) != 0) {
            if (m.words[at + 2] == value) {
                stores++;
                assert_int_equal(m.words[at + 3] & SpvMemoryAccessAlignedMask,
                                 i ? SpvMemoryAccessAlignedMask : 0);
                assert_true(!i || m.words[at + 4] == 16);
                assert_true(m.words[at + 3] & SpvMemoryAccessNonPrivatePointerMask);
            }
        }
        assert_int_equal(loads, 1);
        assert_int_equal(stores, 1);
        finish(&m);
    }
}

/* Two variables of a binding that is written may be the same memory, and say so. */
static void test_coarse_bindings_have_two_views(void **state)
{
    (void)state;
    made m = make(map_text, VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR);
    uint32_t at = 0, views[2] = {0, 0};
    while ((at = judge_find(m.words, m.count, at, SpvOpVariable)) != 0) {
        uint32_t id = m.words[at + 2], binding = 0;
        if (m.words[at + 3] != SpvStorageClassStorageBuffer ||
            !judge_is_decorated(m.words, m.count, id, SpvDecorationBinding, &binding) ||
            binding > 1) {
            continue;
        }
        views[binding]++;
        assert_int_equal(judge_is_decorated(m.words, m.count, id, SpvDecorationAliased, NULL),
                         binding == 1);
        assert_int_equal(judge_is_decorated(m.words, m.count, id, SpvDecorationNonWritable, NULL),
                         binding == 0);
    }
    assert_int_equal(views[0], 2);
    assert_int_equal(views[1], 2);
    finish(&m);
}

/* Loads of a type, each aligned to so many bytes where it is by an address. */
static uint32_t count_loads(const made *m, uint32_t type, uint32_t alignment)
{
    uint32_t loads = 0, at = 0;
    while ((at = judge_find(m->words, m->count, at, SpvOpLoad)) != 0) {
        if (m->words[at + 1] == type) {
            loads++;
            assert_int_equal(m->words[at] >> 16, alignment ? 6 : 4);
            assert_true(!alignment || (m->words[at + 4] == SpvMemoryAccessAlignedMask &&
                                       m->words[at + 5] == alignment));
        }
    }
    return loads;
}

/* Stores of values of a type that are composed of words, likewise. */
static uint32_t count_stores(const made *m, uint32_t type, uint32_t alignment)
{
    uint32_t stores = 0, at = 0;
    while ((at = judge_find(m->words, m->count, at, SpvOpCompositeConstruct)) != 0) {
        uint32_t store = 0;
        while ((store = judge_find(m->words, m->count, store, SpvOpStore)) != 0) {
            if (m->words[at + 1] != type || m->words[store + 2] != m->words[at + 2]) {
                continue;
            }
            stores++;
            assert_true(!alignment || ((m->words[store + 3] & SpvMemoryAccessAlignedMask) &&
                                       m->words[store + 4] == alignment));
        }
    }
    return stores;
}

/* Of seven loads four are one access, and two; of five stores four: the invocations are as many as
 * ever. */
static void test_neighbours_are_one_access(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        made m = make(four_text, VYRE_TARGET_VULKAN_1_3,
                      i ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR);
        assert_int_equal(m.coarse.elements, 1);
        assert_int_equal(m.coarse.streams, 3);
        assert_int_equal(count_loads(&m, vector_of(&m, 4), 16 * i), 1);
        assert_int_equal(count_loads(&m, vector_of(&m, 2), 8 * i), 1);
        assert_int_equal(count_stores(&m, vector_of(&m, 4), 16 * i), 1);
        /* Of the grid: nothing is divided by elements. */
        assert_int_equal(judge_count(m.words, m.count, SpvOpINotEqual), 0);
        finish(&m);
    }
}

/* A variable for each width that is accessed; all are the same memory, and say so where it is
 * written. */
static void test_neighbours_have_a_view_of_each_width(void **state)
{
    (void)state;
    made m = make(four_text, VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR);
    uint32_t at = 0, views[2] = {0, 0};
    while ((at = judge_find(m.words, m.count, at, SpvOpVariable)) != 0) {
        uint32_t id = m.words[at + 2], binding = 0;
        if (m.words[at + 3] == SpvStorageClassStorageBuffer &&
            judge_is_decorated(m.words, m.count, id, SpvDecorationBinding, &binding) &&
            binding < 2) {
            views[binding]++;
            assert_int_equal(judge_is_decorated(m.words, m.count, id, SpvDecorationAliased, NULL),
                             binding == 1);
        }
    }
    assert_int_equal(views[0], 3);
    assert_int_equal(views[1], 2);
    finish(&m);
}

/* The joined atomic, and the one of the loop. */
static void test_coarse_atomics_are_one_for_all(void **state)
{
    (void)state;
    made m = make(odd_text, VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_ADDRESS);
    assert_int_equal(m.coarse.elements, VY_COARSE_MOST);
    assert_int_equal(m.coarse.streams, 1);
    assert_int_equal(judge_count(m.words, m.count, SpvOpAtomicIAdd), 2);
    finish(&m);
}

/* Atomics at so wide a scope. */
static uint32_t count_atomics(const made *m, uint32_t op, uint32_t scope)
{
    uint32_t count = 0, at = 0;
    while ((at = judge_find(m->words, m->count, at, op)) != 0) {
        count += judge_constant(m->words, m->count, m->words[at + 4]) == scope;
    }
    return count;
}

/* Each waits for the workgroup's memory alone. */
static uint32_t count_barriers(const made *m)
{
    uint32_t count = 0, at = 0;
    while ((at = judge_find(m->words, m->count, at, SpvOpControlBarrier)) != 0) {
        uint32_t semantics = judge_constant(m->words, m->count, m->words[at + 3]);
        assert_int_equal(judge_constant(m->words, m->count, m->words[at + 1]), SpvScopeWorkgroup);
        assert_true(semantics & SpvMemorySemanticsAcquireReleaseMask);
        assert_true(semantics & SpvMemorySemanticsWorkgroupMemoryMask);
        assert_false(semantics & SpvMemorySemanticsUniformMemoryMask);
        count++;
    }
    return count;
}

static uint32_t defined_at(const made *m, uint32_t id)
{
    for (uint32_t at = 5; at < m->count; at += m->words[at] >> 16) {
        uint32_t op = m->words[at] & 0xffff;
        bool gives = op == SpvOpLoad || op == SpvOpCompositeExtract || op == SpvOpPhi ||
                     op == SpvOpSelect || op == SpvOpExtInst || op == SpvOpFunctionParameter ||
                     op == SpvOpFunctionCall || op == SpvOpNot ||
                     (op >= SpvOpConstantTrue && op <= SpvOpSpecConstantOp) ||
                     op == SpvOpAccessChain || (op >= SpvOpIAdd && op <= SpvOpBitwiseAnd);
        if (gives && m->words[at + 2] == id) {
            return at;
        }
    }
    fail_msg("nothing gives %%%u", (unsigned)id);
    return 0;
}

/* Made of nothing but constants, of what the parameter block has and of the workgroup's number. */
static bool is_uniform(const made *m, uint32_t id)
{
    uint32_t at = defined_at(m, id), op = m->words[at] & 0xffff, size = m->words[at] >> 16;
    uint32_t first = op == SpvOpExtInst ? 5 : 3, end = op == SpvOpCompositeExtract ? 4 : size;
    if ((op >= SpvOpConstantTrue && op <= SpvOpSpecConstantOp) || op == SpvOpFunctionParameter) {
        return true;
    }
    if (op == SpvOpLoad) {
        /* Inputs are loaded as they are, the parameter block by members. */
        uint32_t variable = 0;
        while ((variable = judge_find(m->words, m->count, variable, SpvOpVariable)) != 0) {
            uint32_t builtin = 0;
            if (m->words[variable + 2] == m->words[at + 3]) {
                return judge_is_decorated(m->words, m->count, m->words[at + 3],
                                          SpvDecorationBuiltIn, &builtin) &&
                       builtin == SpvBuiltInNumWorkgroups;
            }
        }
        return true;
    }
    bool is_same = op != SpvOpPhi && op != SpvOpFunctionCall;
    for (uint32_t i = first; is_same && i < end; i++) {
        is_same = is_uniform(m, m->words[at + i]);
    }
    return is_same;
}

/* Branches on what is the same for the workgroup; the others that are on no comparison with zero,
 * which the loop's is, are by invocations. */
static uint32_t count_uniform_branches(const made *m)
{
    uint32_t count = 0, at = judge_find(m->words, m->count, 0, SpvOpFunctionParameter), end;
    end = judge_find(m->words, m->count, at, SpvOpFunctionEnd);
    while ((at = judge_find(m->words, m->count, at, SpvOpBranchConditional)) != 0 && at < end) {
        uint32_t from = 0;
        while ((from = judge_find(m->words, m->count, from, SpvOpLogicalAnd)) != 0) {
            count += m->words[from + 2] == m->words[at + 1] && is_uniform(m, m->words[at + 1]);
        }
    }
    return count;
}

/* Joined by workgroups: their word, which all subgroups add to once, one atomic of one invocation,
 * and those of invocations in workgroups that lack some and of the loop; barriers before the word
 * is added to, before it is read, and where it is read by all. */
static void test_coarse_atomics_are_one_for_the_workgroup(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t barriers;
    } rows[] = {{odd_text, 2}, {append_text, 3}};
    for (uint32_t i = 0; i < 8; i++) {
        made m = make_joined(
            rows[i & 1].text, i & 2 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
            i & 4 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR, VYRE_AGGREGATE_ALL);
        assert_int_equal(count_atomics(&m, SpvOpAtomicIAdd, SpvScopeWorkgroup), 1);
        assert_int_equal(count_atomics(&m, SpvOpAtomicIAdd, SpvScopeDevice), 3);
        assert_int_equal(count_barriers(&m), rows[i & 1].barriers);
        assert_int_equal(count_uniform_branches(&m), 2); /* where it begins and where it acts */
        finish(&m);
    }
    made m = make(append_text, VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR);
    assert_int_equal(judge_count(m.words, m.count, SpvOpControlBarrier), 0);
    assert_int_equal(count_uniform_branches(&m), 0);
    finish(&m);
}

/* What is appended goes to the workgroup's memory, an element each, and from there by one store in
 * a loop to the buffer: behind a barrier, as the two that the joined atomic needs. Workgroups that
 * are too large, lack some, or are of one's own elements do without. */
static void test_appended_words_are_put_together(void **state)
{
    (void)state;
    static const char text[] =
        "program append\nworkgroup 64\ngrid over x\nin x : f32[]\ninout y : f32[]\n"
        "inout n : u32[1]\nkernel {\n    let a = x[gid.x]\n"
        "    if a > 3.0 { let o = atomic_add(n[0], 1)  y[o + 1] = a }\n}\n";
    for (uint32_t i = 0; i < 4; i++) {
        made m = make_joined(text, i & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
                             i & 2 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                             VYRE_AGGREGATE_ALL);
        uint32_t arrays = 0, chains = 0, at = 0;
        while ((at = judge_find(m.words, m.count, at, SpvOpTypeArray)) != 0) {
            bool is_stage = judge_constant(m.words, m.count, m.words[at + 3]) == VY_COARSE_STAGE;
            arrays += is_stage ? 1u : 0u;
        }
        assert_int_equal(arrays, 1);
        uint32_t variable = 0;
        while ((variable = judge_find(m.words, m.count, variable, SpvOpVariable)) != 0) {
            for (at = 0; m.words[variable + 3] == SpvStorageClassWorkgroup &&
                         (at = judge_find(m.words, m.count, at, SpvOpAccessChain)) != 0;) {
                chains += m.words[at + 3] == m.words[variable + 2];
            }
        }
        assert_int_equal(chains, m.coarse.elements + 1);
        assert_int_equal(count_atomics(&m, SpvOpAtomicIAdd, SpvScopeWorkgroup), 2);
        assert_int_equal(count_atomics(&m, SpvOpAtomicIAdd, SpvScopeDevice), 4);
        assert_int_equal(count_barriers(&m), 3 + 3);
        assert_true(m.coarse.shared >= 4 * VY_COARSE_STAGE);
        finish(&m);
    }
}

/* One that returns, and the one of the loop. Joined, one for the workgroup and one for subgroups
 * beside: the first lane's value is what all lanes of the first one count on from: a ballot for
 * each element, and one for the loop's. */
static void test_coarse_atomics_return_to_all(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        made m = make_joined(append_text, VYRE_TARGET_VULKAN_1_3,
                             i & 1 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                             i & 2 ? VYRE_AGGREGATE_ALL : 0);
        uint32_t n = VY_COARSE_MOST_RETURNS < 2 * VY_COARSE_ROUNDS ? VY_COARSE_MOST_RETURNS
                                                                   : 2 * VY_COARSE_ROUNDS;
        assert_int_equal(m.coarse.elements, n);
        assert_int_equal(m.coarse.streams, 1);
        assert_int_equal(count_atomics(&m, SpvOpAtomicIAdd, SpvScopeDevice), i & 2 ? 3 : 2);
        assert_int_equal(judge_count(m.words, m.count, SpvOpGroupNonUniformBroadcastFirst),
                         i & 2 ? 3 : 0);
        assert_int_equal(judge_count(m.words, m.count, SpvOpGroupNonUniformBallot),
                         i & 2 ? n + 1 : 0);
        assert_int_equal(judge_count(m.words, m.count, SpvOpGroupNonUniformBallotBitCount),
                         i & 2 ? 2 * (n + 1) : 0);
        assert_int_equal(judge_count(m.words, m.count, SpvOpGroupNonUniformIAdd), i & 2 ? 2 : 0);
        finish(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coarse_words_match_stored_assembly),
        cmocka_unit_test(test_coarse_streams_are_one_access_of_16_bytes),
        cmocka_unit_test(test_coarse_bindings_have_two_views),
        cmocka_unit_test(test_coarse_atomics_are_one_for_all),
        cmocka_unit_test(test_coarse_atomics_are_one_for_the_workgroup),
        cmocka_unit_test(test_appended_words_are_put_together),
        cmocka_unit_test(test_coarse_atomics_return_to_all),
        cmocka_unit_test(test_neighbours_are_one_access),
        cmocka_unit_test(test_neighbours_have_a_view_of_each_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

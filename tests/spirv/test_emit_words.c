/* Words that no value shows, least of all on a CPU: decorations, scopes, semantics, memory
 * operands, float modes, capabilities, opcodes that must never appear. */
#include "constructs.h"
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

#define ORDERED   (0x40u | 0x100u) /* UniformMemory, WorkgroupMemory */
#define AVAILABLE 0x2000u
#define VISIBLE   0x4000u

static void build(form *f, const char *name, vyre_target target)
{
    construct_begin(f, name);
    f->options.target = target;
    form_emit(f);
}

static bool binding_has(const form *f, uint32_t binding, SpvDecoration decoration)
{
    uint32_t id = judge_binding(f->words, f->word_count, binding);
    assert_int_not_equal(id, 0);
    return judge_is_decorated(f->words, f->word_count, id, (uint32_t)decoration, NULL);
}

static const uint32_t *nth(const form *f, uint32_t op, uint32_t index)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i <= index; i++) {
        at = judge_find(f->words, f->word_count, at, op);
        assert_int_not_equal(at, 0);
    }
    return f->words + at;
}

static uint32_t constant(const form *f, uint32_t id)
{
    return judge_constant(f->words, f->word_count, id);
}

static void test_versions_and_memory_models(void **state)
{
    (void)state;
    form f;
    build(&f, "copy", VYRE_TARGET_VULKAN_1_3);
    assert_int_equal(f.words[0], 0x07230203);
    assert_int_equal(f.words[1], 0x00010600);
    assert_int_equal(nth(&f, SpvOpMemoryModel, 0)[2], SpvMemoryModelVulkan);
    assert_true(judge_has_capability(f.words, f.word_count, SpvCapabilityVulkanMemoryModel));
    /* Without atomics nothing has device scope. */
    assert_false(
        judge_has_capability(f.words, f.word_count, SpvCapabilityVulkanMemoryModelDeviceScope));
    form_finish(&f);
    build(&f, "copy", VYRE_TARGET_VULKAN_1_2);
    assert_int_equal(f.words[1], 0x00010500);
    assert_int_equal(nth(&f, SpvOpMemoryModel, 0)[2], SpvMemoryModelGLSL450);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpCapability), 4); /* Shader, modes */
    form_finish(&f);
}

static void test_only_written_buffers_are_writable(void **state)
{
    (void)state;
    form f;
    build(&f, "copy", VYRE_TARGET_VULKAN_1_3);
    assert_true(binding_has(&f, 0, SpvDecorationNonWritable));
    assert_false(binding_has(&f, 1, SpvDecorationNonWritable));
    form_finish(&f);
    /* Another segment writes what this one reads. */
    form_init(&f);
    uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U32);
    uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t zero = form_u32(&f, 0);
    form_store(&f, out, zero, form_load(&f, a, zero));
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 3;
    form_emit(&f);
    assert_false(binding_has(&f, 0, SpvDecorationNonWritable));
    assert_int_equal(nth(&f, SpvOpLoad, judge_count(f.words, f.word_count, SpvOpLoad) - 1)[4],
                     SpvMemoryAccessNonPrivatePointerMask);
    form_finish(&f);
}

/* Vulkan memory model: plain accesses to written memory are NonPrivate, others private, and nothing
 * is ever Coherent. */
static void test_plain_accesses_are_nonprivate_where_written(void **state)
{
    (void)state;
    form f;
    build(&f, "copy", VYRE_TARGET_VULKAN_1_3);
    const uint32_t *store = nth(&f, SpvOpStore, 0);
    assert_int_equal(store[0] >> 16, 4);
    assert_int_equal(store[3], SpvMemoryAccessNonPrivatePointerMask);
    uint32_t at = 0;
    while ((at = judge_find(f.words, f.word_count, at, SpvOpLoad)) != 0) {
        assert_int_equal(f.words[at] >> 16, 4); /* only `in` and the parameter block are read */
    }
    form_finish(&f);
    build(&f, "shared", VYRE_TARGET_VULKAN_1_3);
    at = 0;
    while ((at = judge_find(f.words, f.word_count, at, SpvOpStore)) != 0) {
        assert_int_equal(f.words[at] >> 16, 4);
        assert_int_equal(f.words[at + 3], SpvMemoryAccessNonPrivatePointerMask);
    }
    form_finish(&f);
    build(&f, "copy", VYRE_TARGET_VULKAN_1_2);
    assert_int_equal(nth(&f, SpvOpStore, 0)[0] >> 16, 3);
    form_finish(&f);
}

static void build_communicating(form *f, bool has_barrier, bool reads)
{
    form_init(f);
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U32);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t i = form_builtin(f, VYRE_BUILTIN_LID_X);
    form_store(f, a, i, i);
    if (has_barrier) {
        (void)form_ins(f, VY_SSA_BARRIER, VYRE_TYPE_VOID, 0, 0, 0, 0, 0);
    }
    if (reads) {
        form_store(f, out, i, form_load(f, a, form_u32(f, 0)));
    } else {
        form_store(f, out, i, i);
    }
    form_end(f, VY_END_RETURN);
    f->options.module_writes = 3;
    f->options.target = VYRE_TARGET_VULKAN_1_2;
}

/* GLSL450: Coherent where a segment writes, reads and has a way to order the two. */
static void test_coherent_follows_communication(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        form f;
        bool has_barrier = i & 1, reads = i & 2;
        build_communicating(&f, has_barrier, reads);
        form_emit(&f);
        assert_int_equal(binding_has(&f, 0, SpvDecorationCoherent), has_barrier && reads);
        assert_false(binding_has(&f, 1, SpvDecorationCoherent));
        form_finish(&f);
        /* Where both may be one memory, reading one reads the other. */
        build_communicating(&f, has_barrier, reads);
        f.options.aliased = true;
        form_emit(&f);
        assert_int_equal(binding_has(&f, 1, SpvDecorationCoherent), has_barrier && reads);
        form_finish(&f);
        build_communicating(&f, has_barrier, reads);
        f.options.target = VYRE_TARGET_VULKAN_1_3;
        form_emit(&f);
        assert_false(binding_has(&f, 0, SpvDecorationCoherent));
        form_finish(&f);
    }
    form f;
    build(&f, "atomics", VYRE_TARGET_VULKAN_1_2);
    assert_true(binding_has(&f, 0, SpvDecorationCoherent));
    form_finish(&f);
}

static void test_aliased_marks_written_bindings(void **state)
{
    (void)state;
    for (int aliased = 0; aliased < 2; aliased++) {
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_IN, "a", VYRE_TYPE_U32);
        uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
        uint32_t zero = form_u32(&f, 0);
        form_store(&f, out, zero, form_load(&f, a, zero));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 2;
        f.options.aliased = aliased != 0;
        form_emit(&f);
        assert_false(binding_has(&f, 0, SpvDecorationAliased));
        assert_int_equal(binding_has(&f, 1, SpvDecorationAliased), aliased);
        assert_false(binding_has(&f, 2, SpvDecorationAliased));
        form_finish(&f);
    }
}

static void check_atomics(vyre_target target, uint32_t available, uint32_t visible)
{
    form f;
    build(&f, "atomics", target);
    const uint32_t *op = nth(&f, SpvOpAtomicIAdd, 0);
    assert_int_equal(constant(&f, op[4]), SpvScopeDevice);
    assert_int_equal(constant(&f, op[5]), 0); /* relaxed is the default */
    op = nth(&f, SpvOpAtomicUMax, 0);
    assert_int_equal(constant(&f, op[5]), 0x8 | ORDERED | available | visible);
    op = nth(&f, SpvOpAtomicCompareExchange, 0);
    assert_int_equal(constant(&f, op[5]), 0x8 | ORDERED | available | visible);
    assert_int_equal(constant(&f, op[6]), 0x2 | ORDERED | visible); /* acquires if the order does */
    op = nth(&f, SpvOpAtomicCompareExchange, 1);
    assert_int_equal(constant(&f, op[5]), 0x4 | ORDERED | available);
    assert_int_equal(constant(&f, op[6]), 0); /* releasing alone: relaxed */
    op = nth(&f, SpvOpAtomicLoad, 0);
    assert_int_equal(constant(&f, op[5]), 0x2 | ORDERED | visible);
    op = nth(&f, SpvOpAtomicStore, 0);
    assert_int_equal(constant(&f, op[2]), SpvScopeDevice);
    assert_int_equal(constant(&f, op[3]), 0x4 | ORDERED | available);
    assert_int_equal(
        judge_has_capability(f.words, f.word_count, SpvCapabilityVulkanMemoryModelDeviceScope),
        target == VYRE_TARGET_VULKAN_1_3);
    form_finish(&f);
    build(&f, "shared", target);
    op = nth(&f, SpvOpAtomicIAdd, 0);
    assert_int_equal(constant(&f, op[4]), SpvScopeWorkgroup);
    assert_int_equal(constant(&f, op[5]), 0x8 | ORDERED | available | visible);
    /* One barrier after the zeroing, one of the program; each for devices that run a workgroup by
     * turns, and for the others. */
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpControlBarrier), 4);
    for (uint32_t i = 0; i < 4; i++) {
        op = nth(&f, SpvOpControlBarrier, i);
        assert_int_equal(constant(&f, op[1]), SpvScopeWorkgroup);
        assert_int_equal(constant(&f, op[2]), SpvScopeWorkgroup);
        uint32_t order = 0x8 | ORDERED | available | visible;
        assert_int_equal(constant(&f, op[3]), i % 2 ? order : 0);
    }
    form_finish(&f);
}

static void test_scopes_and_semantics(void **state)
{
    (void)state;
    check_atomics(VYRE_TARGET_VULKAN_1_3, AVAILABLE, VISIBLE);
    check_atomics(VYRE_TARGET_VULKAN_1_2, 0, 0);
}

static void count_contractible(const form *f, uint32_t *out_bare, uint32_t *out_marked)
{
    uint32_t at = 0;
    *out_bare = *out_marked = 0;
    while ((at = judge_find(f->words, f->word_count, at, JUDGE_ANY)) != 0) {
        uint32_t op = f->words[at] & 0xffff;
        if (op == SpvOpFAdd || op == SpvOpFSub || op == SpvOpFMul || op == SpvOpFDiv) {
            bool marked = judge_is_decorated(f->words, f->word_count, f->words[at + 2],
                                             SpvDecorationNoContraction, NULL);
            ++*(marked ? out_marked : out_bare);
        }
    }
}

static void test_float_arithmetic_is_never_contracted(void **state)
{
    static const char *const names[] = {"float_arithmetic", "divide", "trigonometry",
                                        "float_atomics"};
    uint32_t bare, marked;
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        form f;
        build(&f, names[i], VYRE_TARGET_VULKAN_1_3);
        count_contractible(&f, &bare, &marked);
        assert_int_equal(bare, 0);
        assert_true(marked > 0);
        form_finish(&f);
    }
    form f;
    build(&f, "fast_divide", VYRE_TARGET_VULKAN_1_3);
    count_contractible(&f, &bare, &marked);
    assert_int_equal(marked, 0);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpFDiv), 2);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpFunctionCall), 1); /* the body */
    form_finish(&f);
    /* Exact division has the device's own in its helper alone, behind a constant that is off. */
    build(&f, "divide", VYRE_TARGET_VULKAN_1_3);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpFDiv), 1);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpSpecConstantTrue), 0);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpSpecConstantFalse), 4);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpFunction), 4); /* two helpers */
    form_finish(&f);
}

static void test_float_modes_are_what_was_asked_for(void **state)
{
    static const struct {
        uint32_t mode;
        SpvCapability capability;
        uint32_t execution_mode;
    } modes[3] = {
        {1, SpvCapabilitySignedZeroInfNanPreserve, SpvExecutionModeSignedZeroInfNanPreserve},
        {2, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve},
        {4, SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE}};
    (void)state;
    for (uint32_t asked = 0; asked < 8; asked++) {
        form f;
        form_init(&f);
        constructs[3].build(&f);
        f.options.float_modes = asked;
        form_emit(&f);
        for (uint32_t i = 0; i < 3; i++) {
            bool wanted = (asked & modes[i].mode) != 0, found = false;
            uint32_t at = 0;
            while ((at = judge_find(f.words, f.word_count, at, SpvOpExecutionMode)) != 0) {
                if (f.words[at + 2] == modes[i].execution_mode) {
                    found = true;
                    assert_int_equal(f.words[at + 3], 32);
                }
            }
            assert_int_equal(found, wanted);
            assert_int_equal(
                judge_has_capability(f.words, f.word_count, (uint32_t)modes[i].capability), wanted);
        }
        form_finish(&f);
    }
}

/* Without the mode that keeps NaNs, == and != look at bits as well; without the one that keeps
 * denormals they look at nothing else, since drivers take denormals for zero there. */
static void test_equality_tests_bits_where_modes_are_missing(void **state)
{
    (void)state;
    for (uint32_t modes = 0; modes < 4; modes++) {
        bool nans = modes & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE;
        bool denormals = modes & VYRE_FLOAT_DENORM_PRESERVE;
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_F32);
        uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
        uint32_t x = form_load(&f, a, i);
        uint32_t same = form_op(&f, VYRE_OP_EQ, VYRE_TYPE_BOOL, x, x);
        form_store(&f, a, i, form_ins(&f, VYRE_OP_CAST, VYRE_TYPE_F32, 0, same, 0, 0, 0));
        form_end(&f, VY_END_RETURN);
        f.options.float_modes = modes;
        form_emit(&f);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpFOrdEqual), denormals ? 1 : 0);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpIEqual), denormals ? 0 : 1);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpLogicalOr),
                         nans && denormals ? 0 : 1);
        form_finish(&f);
    }
}

/* Nothing is rounded to 16 bits but by ourselves, and Fma stands behind a choice. */
static void scan_for_banned(const form *f, const char *name)
{
    static const uint32_t banned[] = {
        SpvOpNop,   SpvOpQuantizeToF16,  SpvOpFConvert,    SpvOpSRem,
        SpvOpSMod,  SpvOpFRem,           SpvOpFMod,        SpvOpFOrdNotEqual,
        SpvOpUndef, SpvOpBitFieldInsert, SpvOpArrayLength, SpvOpKill};
    uint32_t at = 0;
    for (size_t i = 0; i < VY_COUNT_OF(banned); i++) {
        if (judge_count(f->words, f->word_count, banned[i])) {
            fail_msg("%s has opcode %u", name, banned[i]);
        }
    }
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        uint32_t op = is_signed ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract;
        for (at = 0; (at = judge_find(f->words, f->word_count, at, op)) != 0;) {
            uint32_t first = judge_constant(f->words, f->word_count, f->words[at + 4]);
            uint32_t count = judge_constant(f->words, f->word_count, f->words[at + 5]);
            assert_int_equal(first, 0);
            assert_true(count == 8 || count == 16);
        }
    }
    at = 0;
    while ((at = judge_find(f->words, f->word_count, at, SpvOpExtInst)) != 0) {
        uint32_t function = f->words[at + 4];
        assert_true(function != GLSLstd450FMin && function != GLSLstd450FMax &&
                    function != GLSLstd450FClamp && function != GLSLstd450Round &&
                    function != GLSLstd450PackHalf2x16 && function != GLSLstd450UnpackHalf2x16);
        if (function == GLSLstd450Fma) {
            assert_true(judge_count(f->words, f->word_count, SpvOpSpecConstantFalse) == 3);
        }
    }
}

static void test_banned_opcodes_never_appear(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < construct_count; i++) {
        form f;
        build(&f, constructs[i].name, VYRE_TARGET_VULKAN_1_3);
        scan_for_banned(&f, constructs[i].name);
        form_finish(&f);
    }
}

/* Each operator alone, on each operand type that it may have. */
static void test_no_operator_emits_a_banned_opcode(void **state)
{
    static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32, VYRE_TYPE_BOOL,
                                      VYRE_TYPE_U8,  VYRE_TYPE_I16, VYRE_TYPE_U64, VYRE_TYPE_I64,
                                      VYRE_TYPE_F16, VYRE_TYPE_F64};
    uint32_t emitted = 0;
    (void)state;
    for (uint32_t op = VYRE_OP_ADD; op < VYRE_OP_COUNT; op++) {
        for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
            form f;
            vyre_diag diag;
            form_init(&f);
            f.options.target = t & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3;
            uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", types[t]);
            uint32_t x = form_load(&f, a, form_u32(&f, 0));
            uint32_t condition = op == VYRE_OP_SELECT ? form_literal(&f, VYRE_TYPE_BOOL, 1) : x;
            vyre_type result = types[t];
            vy_shape shape = vy_op_get((vyre_op)op)->shape;
            if (shape == VY_SHAPE_EQUALITY || shape == VY_SHAPE_ORDER ||
                shape == VY_SHAPE_FLOAT_TEST) {
                result = VYRE_TYPE_BOOL;
            }
            if (shape == VY_SHAPE_BIT_COUNT) {
                result = VYRE_TYPE_U32;
            }
            uint32_t places = form_u32(&f, 5);
            bool is_field = shape == VY_SHAPE_EXTRACT || shape == VY_SHAPE_INSERT;
            uint32_t y = is_field ? form_ins(&f, op, result, 0, x,
                                             shape == VY_SHAPE_EXTRACT ? places : x, places, places)
                                  : form_ins(&f, op, result, 0, condition, x, x, x);
            (void)form_ins(&f, VY_SSA_SPILL_STORE, VYRE_TYPE_VOID, 0, y, 0, 0, 0);
            form_end(&f, VY_END_RETURN);
            vyre_result answer = form_try_emit(&f, &diag);
            if (answer == VYRE_OK) {
                judge_valid(f.words, f.word_count, f.options.target);
                scan_for_banned(&f, vy_op_get((vyre_op)op)->name);
                emitted++;
            } else {
                assert_non_null(strstr(diag.message, "Fix: "));
            }
            form_finish(&f);
        }
    }
    assert_true(emitted > 250);
}

static void test_interface_lists_every_global(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < construct_count; i++) {
        form f;
        build(&f, constructs[i].name, VYRE_TARGET_VULKAN_1_3);
        const uint32_t *entry = nth(&f, SpvOpEntryPoint, 0);
        uint32_t listed = (entry[0] >> 16) - 5, globals = 0, at = 0; /* "main" is two words */
        while ((at = judge_find(f.words, f.word_count, at, SpvOpVariable)) != 0) {
            globals += f.words[at + 3] != SpvStorageClassFunction ? 1 : 0;
        }
        assert_int_equal(listed, globals);
        form_finish(&f);
    }
}

static void test_agnostic_size_is_specialised(void **state)
{
    (void)state;
    form f;
    build(&f, "agnostic", VYRE_TARGET_VULKAN_1_3);
    uint32_t all = nth(&f, SpvOpSpecConstantComposite, 0)[2], builtin = 0;
    assert_true(judge_is_decorated(f.words, f.word_count, all, SpvDecorationBuiltIn, &builtin));
    assert_int_equal(builtin, SpvBuiltInWorkgroupSize);
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t id = nth(&f, SpvOpSpecConstantComposite, 0)[3 + axis], spec = 99;
        assert_true(judge_is_decorated(f.words, f.word_count, id, SpvDecorationSpecId, &spec));
        assert_int_equal(spec, axis);
    }
    form_finish(&f);
    build(&f, "copy", VYRE_TARGET_VULKAN_1_3);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpSpecConstant), 0);
    const uint32_t *mode = nth(&f, SpvOpExecutionMode, 0);
    assert_int_equal(mode[2], SpvExecutionModeLocalSize);
    assert_int_equal(mode[3], 64);
    form_finish(&f);
}

static void test_tables_are_private_and_not_writable(void **state)
{
    (void)state;
    form f;
    build(&f, "tables", VYRE_TARGET_VULKAN_1_3);
    uint32_t at = 0, found = 0;
    while ((at = judge_find(f.words, f.word_count, at, SpvOpVariable)) != 0) {
        if (f.words[at + 3] == SpvStorageClassPrivate) {
            found++;
            assert_int_equal(f.words[at] >> 16, 5); /* has an initialiser */
            assert_true(judge_is_decorated(f.words, f.word_count, f.words[at + 2],
                                           SpvDecorationNonWritable, NULL));
        }
    }
    assert_int_equal(found, 1);
    assert_true(binding_has(&f, 1 + VY_HIDDEN_TABLES, SpvDecorationNonWritable));
    form_finish(&f);
}

/* No explicit layout on workgroup, private and function memory. */
static void test_layout_is_only_where_the_host_sees_memory(void **state)
{
    (void)state;
    form f;
    build(&f, "shared", VYRE_TARGET_VULKAN_1_3);
    uint32_t at = 0, arrays = 0, strided = 0;
    while ((at = judge_find(f.words, f.word_count, at, SpvOpTypeArray)) != 0) {
        arrays++;
        strided += judge_is_decorated(f.words, f.word_count, f.words[at + 1],
                                      SpvDecorationArrayStride, NULL);
    }
    assert_int_equal(arrays, 4); /* the unused buffer is not there; the parameter block is */
    assert_int_equal(strided, 1);
    form_finish(&f);
}

static uint32_t count_variables(const form *f, uint32_t class)
{
    uint32_t at = 0, count = 0;
    while ((at = judge_find(f->words, f->word_count, at, SpvOpVariable)) != 0) {
        count += f->words[at + 3] == class;
    }
    return count;
}

/* Nothing is pushed to a module that reads neither the pass nor a host loop's index. */
static void test_parameters_are_one_uniform_block(void **state)
{
    (void)state;
    /* The largest one, for what every device binds as a uniform buffer. */
    assert_true(vy_param_vectors(VYRE_MAX_BUFFERS, 4 * VYRE_MAX_PARAMS) * VY_PARAM_VECTOR_SIZE <
                6 * 1024);
    for (uint32_t i = 0; i < 4; i++) {
        vyre_interface interface = i & 1 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        form f;
        construct_begin(&f, i & 2 ? "record" : "copy");
        f.options.interface = interface;
        form_emit(&f);
        uint32_t binding = interface == VYRE_INTERFACE_ADDRESS
                               ? VY_ADDRESS_BLOCK
                               : f.program.binding_count + VY_HIDDEN_PARAMS;
        uint32_t id = judge_binding(f.words, f.word_count, binding), at = 0;
        assert_int_equal(count_variables(&f, SpvStorageClassUniform), 1);
        while ((at = judge_find(f.words, f.word_count, at, SpvOpVariable)) != 0 &&
               f.words[at + 2] != id) {
        }
        assert_true(at != 0 && f.words[at + 3] == SpvStorageClassUniform);
        bool has_storage = count_variables(&f, SpvStorageClassStorageBuffer) > 0;
        assert_int_equal(has_storage, interface == VYRE_INTERFACE_DESCRIPTOR);
        assert_int_equal(count_variables(&f, SpvStorageClassPushConstant), i & 2 ? 1 : 0);
        assert_int_equal(vy_spirv_push_words(f.words, f.word_count) != 0, (i & 2) != 0);
        form_finish(&f);
    }
}

/* `grid over`: y and z are 1 wherever the program runs. */
static void test_elements_are_counted_in_the_dimensions_there_are(void **state)
{
    (void)state;
    for (uint32_t over = 0; over < 2; over++) {
        form f;
        construct_begin(&f, "agnostic");
        f.program.grid_over = over;
        form_emit(&f);
        uint32_t at = 0, comparisons = 0;
        while ((at = judge_find(f.words, f.word_count, at, SpvOpUGreaterThanEqual)) != 0) {
            comparisons++;
        }
        assert_int_equal(comparisons, over ? 2 : 4); /* one is the grid's */
        form_finish(&f);
    }
}

static void test_types_are_declared_once(void **state)
{
    (void)state;
    form f;
    build(&f, "trigonometry", VYRE_TARGET_VULKAN_1_3);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpTypeInt), 1);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpTypeFloat), 1);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpTypeBool), 1);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpExtInstImport), 1);
    form_finish(&f);
}

/* Capabilities follow from what is there, and from nothing else. */
static void test_capabilities_follow_types(void **state)
{
    static const struct {
        const char *name;
        uint32_t wanted[6];
    } rows[] = {
        {"copy", {0}},
        {"small_elements",
         {SpvCapabilityStorageBuffer8BitAccess, SpvCapabilityStorageBuffer16BitAccess}},
        {"wide_integers", {SpvCapabilityInt64}},
        {"halves", {SpvCapabilityStorageBuffer16BitAccess}},
        {"doubles", {SpvCapabilityInt64, SpvCapabilityFloat64}},
        {"fma", {0}},
        {"vectors", {0}},
        {"wide_atomics", {SpvCapabilityInt64, SpvCapabilityInt64Atomics}},
        {"subgroups",
         {SpvCapabilityGroupNonUniform, SpvCapabilityGroupNonUniformVote,
          SpvCapabilityGroupNonUniformBallot, SpvCapabilityGroupNonUniformShuffle,
          SpvCapabilityGroupNonUniformArithmetic}},
        {"subgroup_wide",
         {SpvCapabilityInt64, SpvCapabilityGroupNonUniform, SpvCapabilityGroupNonUniformBallot,
          SpvCapabilityGroupNonUniformShuffle}},
        {"subgroup_extreme",
         {SpvCapabilityGroupNonUniform, SpvCapabilityGroupNonUniformArithmetic}},
    };
    static const uint32_t known[] = {SpvCapabilityInt64,
                                     SpvCapabilityFloat64,
                                     SpvCapabilityInt64Atomics,
                                     SpvCapabilityInt8,
                                     SpvCapabilityInt16,
                                     SpvCapabilityFloat16,
                                     SpvCapabilityStorageBuffer8BitAccess,
                                     SpvCapabilityStorageBuffer16BitAccess,
                                     SpvCapabilityGroupNonUniform,
                                     SpvCapabilityGroupNonUniformVote,
                                     SpvCapabilityGroupNonUniformBallot,
                                     SpvCapabilityGroupNonUniformShuffle,
                                     SpvCapabilityGroupNonUniformArithmetic};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        form f;
        build(&f, rows[i].name, VYRE_TARGET_VULKAN_1_3);
        for (size_t k = 0; k < VY_COUNT_OF(known); k++) {
            bool wanted = false;
            for (size_t w = 0; w < VY_COUNT_OF(rows[i].wanted); w++) {
                wanted |= rows[i].wanted[w] == known[k];
            }
            if (judge_has_capability(f.words, f.word_count, known[k]) != wanted) {
                fail_msg("%s: capability %u", rows[i].name, known[k]);
            }
        }
        form_finish(&f);
    }
}

/* Accesses through addresses state the alignment of their elements. */
static void test_alignment_is_the_elements_size(void **state)
{
    static const vyre_type types[] = {VYRE_TYPE_U8,  VYRE_TYPE_F16,   VYRE_TYPE_F32,  VYRE_TYPE_U64,
                                      VYRE_TYPE_F64, VYRE_TYPE_I32X2, VYRE_TYPE_F32X4};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(types); i++) {
        form f;
        form_init(&f);
        f.options.interface = VYRE_INTERFACE_ADDRESS;
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", types[i]);
        uint32_t at = form_builtin(&f, VYRE_BUILTIN_GID_X);
        form_store(&f, a, at, form_load(&f, a, at));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        const uint32_t *store = nth(&f, SpvOpStore, 0);
        assert_int_equal(store[0] >> 16, 5);
        assert_int_equal(store[3] & SpvMemoryAccessAlignedMask, SpvMemoryAccessAlignedMask);
        assert_int_equal(store[4], vyre_type_size(types[i]));
        form_finish(&f);
    }
}

static void test_reconvergence_is_asked_for_by_who_needs_it(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        form f;
        form_init(&f);
        f.options.reconvergence = k & 1 ? VYRE_RECONVERGENCE_UNIFORM : VYRE_RECONVERGENCE_NONE;
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U32);
        uint32_t at = form_builtin(&f, k & 2 ? VYRE_BUILTIN_LANE : VYRE_BUILTIN_GID_X);
        form_store(&f, a, at, at);
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        uint32_t offset = 0, modes = 0;
        while ((offset = judge_find(f.words, f.word_count, offset, SpvOpExecutionMode)) != 0) {
            modes += f.words[offset + 2] == SpvExecutionModeSubgroupUniformControlFlowKHR;
        }
        assert_int_equal(modes, k == 3);
        assert_int_equal(judge_count(f.words, f.word_count, SpvOpExtension), k == 3);
        if (k == 3) {
            f.options.reconvergence = VYRE_RECONVERGENCE_MAXIMAL;
            form_emit(&f);
            offset = modes = 0;
            while ((offset = judge_find(f.words, f.word_count, offset, SpvOpExecutionMode)) != 0) {
                modes += f.words[offset + 2] == 6023;
            }
            assert_int_equal(modes, 1);
        }
        form_finish(&f);
    }
}

/* Which validators of 2023 refuse to read: what else is wrong is found all the same. */
static void test_words_of_maximal_reconvergence_are_judged(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    f.options.reconvergence = VYRE_RECONVERGENCE_MAXIMAL;
    uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U32);
    uint32_t at = form_builtin(&f, VYRE_BUILTIN_LANE);
    form_store(&f, a, at, at);
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 1;
    form_emit(&f);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpExtension), 1);
    uint32_t *words = f.words;
    uint32_t store = judge_find(words, f.word_count, 0, SpvOpStore), pointer = words[store + 1];
    words[store + 1] = words[3]; /* no id of the module */
    assert_false(judge_is_valid(words, f.word_count, f.options.target));
    words[store + 1] = pointer;
    words[store] = 0; /* no length */
    assert_false(judge_is_valid(words, f.word_count, f.options.target));
    form_finish(&f);
}

/* Of modules that use f64. */
static void test_float_modes_of_64_bits(void **state)
{
    static const char *const names[] = {"doubles", "copy"};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        form f;
        construct_begin(&f, names[i]);
        f.options.float_modes = VYRE_FLOAT_ALL;
        form_emit(&f);
        uint32_t offset = 0, modes = 0;
        while ((offset = judge_find(f.words, f.word_count, offset, SpvOpExecutionMode)) != 0) {
            modes += f.words[offset + 2] != SpvExecutionModeLocalSize && f.words[offset + 3] == 64;
        }
        assert_int_equal(modes, i == 0 ? 3 : 0);
        form_finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_and_memory_models),
        cmocka_unit_test(test_only_written_buffers_are_writable),
        cmocka_unit_test(test_plain_accesses_are_nonprivate_where_written),
        cmocka_unit_test(test_coherent_follows_communication),
        cmocka_unit_test(test_aliased_marks_written_bindings),
        cmocka_unit_test(test_scopes_and_semantics),
        cmocka_unit_test(test_float_arithmetic_is_never_contracted),
        cmocka_unit_test(test_float_modes_are_what_was_asked_for),
        cmocka_unit_test(test_equality_tests_bits_where_modes_are_missing),
        cmocka_unit_test(test_banned_opcodes_never_appear),
        cmocka_unit_test(test_no_operator_emits_a_banned_opcode),
        cmocka_unit_test(test_interface_lists_every_global),
        cmocka_unit_test(test_agnostic_size_is_specialised),
        cmocka_unit_test(test_tables_are_private_and_not_writable),
        cmocka_unit_test(test_layout_is_only_where_the_host_sees_memory),
        cmocka_unit_test(test_parameters_are_one_uniform_block),
        cmocka_unit_test(test_elements_are_counted_in_the_dimensions_there_are),
        cmocka_unit_test(test_types_are_declared_once),
        cmocka_unit_test(test_capabilities_follow_types),
        cmocka_unit_test(test_alignment_is_the_elements_size),
        cmocka_unit_test(test_reconvergence_is_asked_for_by_who_needs_it),
        cmocka_unit_test(test_words_of_maximal_reconvergence_are_judged),
        cmocka_unit_test(test_float_modes_of_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

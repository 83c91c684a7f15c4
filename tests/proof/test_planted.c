/* Planted faults: each changes the words of a right kernel in one place, as a bug of the emitter or
 * of a pass would, and names the judge that must find it. A judge that finds nothing, or that finds
 * something in the unchanged words, fails the test.
 *   VALUE      the results differ from the interpreter's
 *   WORDS      tests/support/lint.c, for what no result on a processor's driver can show
 *   VALIDATOR  spirv-val
 * test_planted_parts.c has the faults of what stands before and behind the words. */
#include "codegen/kernel.h"
#include "codegen/spirv/interface.h"
#include "tests/support/differential.h"
#include "tests/support/lint.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <spirv-tools/libspirv.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

typedef enum judge { VALUE, WORDS, VALIDATOR } judge;

typedef enum change {
    OPCODE,  /* instructions of opcode `match` become opcode `to` */
    SWAP,    /* their words `at` and `to` change places */
    OPERAND, /* their word `at` becomes the id of the u32 constant `to` */
    WORD,    /* their word `at` becomes `to` */
    COPY,    /* their word `at` becomes their word `to` */
    SAME,    /* their word `at` becomes that of the first of them */
    ERASE,   /* they are taken out */
    CONSTANT /* the constant `at` becomes `to` */
} change;

typedef struct fault {
    const char *name;
    judge judge;
    change change;
    uint32_t match;       /* opcode */
    uint32_t where, what; /* only instructions whose word `where` is `what`; where 0: any */
    uint32_t at, to;
    vyre_target target;
    bool aliased;
    const char *header, *body;
} fault;

#define LOOP "for i in 0u .. in_u32[gid.x] % 9u { x += i }"
#define OUT  "even_out[gid.x * 4u] = x\n"

static const fault faults[] = {
    {"phi arms swapped", VALUE, SWAP, SpvOpPhi, 0, 0, 3, 5, VYRE_TARGET_VULKAN_1_3, false, "",
     "var x = 1u if in_u32[gid.x] > 100u { x = 2u }\n" OUT},
    {"shift mask 15", VALUE, CONSTANT, 0, 0, 0, 31, 15, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = in_u32[gid.x] << in_u32[gid.x + 1u]\n" OUT},
    {"one trip too many", VALUE, OPCODE, SpvOpULessThan, 0, 0, 0, SpvOpULessThanEqual,
     VYRE_TARGET_VULKAN_1_3, false, "", "var x = 0u " LOOP OUT},
    {"arithmetic shift made logical", VALUE, OPCODE, SpvOpShiftRightArithmetic, 0, 0, 0,
     SpvOpShiftRightLogical, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = u32(in_i32[gid.x] >> 3u)\n" OUT},
    {"unsigned division made signed", VALUE, OPCODE, SpvOpUDiv, 0, 0, 0, SpvOpSDiv,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = (in_u32[gid.x] | 0x80000000u) / 3u\n" OUT},
    {"unordered not-equal made ordered", VALUE, OPCODE, SpvOpFUnordNotEqual, 0, 0, 0,
     SpvOpFOrdNotEqual, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = u32(in_f32[gid.x] != 1.5)\n" OUT},
    {"unsigned minimum made signed", VALUE, OPCODE, SpvOpAtomicUMin, 0, 0, 0, SpvOpAtomicSMin,
     VYRE_TARGET_VULKAN_1_3, false, "",
     "atomic_max(common[1u], 77u) grid_sync atomic_min(common[1u], in_u32[gid.x] | 0x80000000u)\n"},
    {"signed comparison made unsigned", VALUE, OPCODE, SpvOpSLessThan, 0, 0, 0, SpvOpULessThan,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = u32(in_i32[gid.x] < -5i)\n" OUT},
    {"pass read from another push constant", VALUE, WORD, SpvOpMemberDecorate, 4, 4, 4, 0,
     VYRE_TARGET_VULKAN_1_3, false, "fixpoint 3\n",
     "even_out[gid.x * 4u + pass] = pass + 5u\n grid_sync odd_out[gid.x * 4u] = pass\n"},
    {"spill store lost", VALUE, ERASE, SpvOpStore, 0, 0, 0, 0, VYRE_TARGET_VULKAN_1_3, false, "",
     "let v = atomic_add(slots[gid.x], 5i) let w = atomic_add(slots[gid.x], 5i)\n"
     "grid_sync even_out[gid.x * 4u] = u32(v + w) + 9u\n"},
    {"record's maximum made minimum", VALUE, OPCODE, SpvOpAtomicUMax, 0, 0, 0, SpvOpAtomicUMin,
     VYRE_TARGET_VULKAN_1_3, false, "", "if in_u32[gid.x] > 5u { trap(7) }\n"},
    {"select arms swapped", VALUE, SWAP, SpvOpSelect, 0, 0, 4, 5, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = select(in_u32[gid.x] > 100u, 3u, 4u)\n" OUT},
    {"minimum made maximum", VALUE, OPCODE, SpvOpSLessThan, 0, 0, 0, SpvOpSGreaterThan,
     VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = bitcast<u32>(min(in_f32[gid.x], in_f32[gid.x + 1u]))\n" OUT},
    {"rounding made truncation", VALUE, WORD, SpvOpExtInst, 4, GLSLstd450RoundEven, 4,
     GLSLstd450Trunc, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = u32(round_even(f32(in_u32[gid.x] % 100u) + 0.75))\n" OUT},
    {"unsigned conversion made signed", VALUE, OPCODE, SpvOpConvertUToF, 0, 0, 0, SpvOpConvertSToF,
     VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = bitcast<u32>(f32(in_u32[gid.x] | 0x80000000u))\n" OUT},
    {"unsigned high product made signed", VALUE, OPCODE, SpvOpUMulExtended, 0, 0, 0,
     SpvOpSMulExtended, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = mul_high(in_u32[gid.x] | 0x80000000u, 0xfffffff0u)\n" OUT},
    {"subtraction the other way round", VALUE, SWAP, SpvOpISub, 0, 0, 3, 4, VYRE_TARGET_VULKAN_1_3,
     false, "", "let x = in_u32[gid.x] - in_u32[gid.x + 1u]\n" OUT},
    {"addition lost its sign", VALUE, OPCODE, SpvOpIAdd, 0, 0, 0, SpvOpISub, VYRE_TARGET_VULKAN_1_3,
     false, "", "let x = in_u32[gid.x] + in_u32[gid.x + 7u]\n" OUT},

    {"atomic in workgroup scope", WORDS, OPERAND, SpvOpAtomicIAdd, 0, 0, 4, 2,
     VYRE_TARGET_VULKAN_1_3, false, "", "barrier atomic_add(common[0u], 1u)\n"},
    {"barrier without semantics", WORDS, OPERAND, SpvOpControlBarrier, 0, 0, 3, 2,
     VYRE_TARGET_VULKAN_1_3, false, "", "tile[lid.x] = 1u barrier even_out[gid.x] = tile[3]\n"},
    {"NonWritable left out", WORDS, ERASE, SpvOpDecorate, 2, SpvDecorationNonWritable, 0, 0,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"one block type for read-only and written bindings", WORDS, SAME, SpvOpVariable, 3,
     SpvStorageClassStorageBuffer, 1, 0, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = in_u32[gid.x]\n" OUT},
    {"NoContraction left out", WORDS, ERASE, SpvOpDecorate, 2, SpvDecorationNoContraction, 0, 0,
     VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = bitcast<u32>(in_f32[gid.x] * 3.0 + in_f32[gid.x + 1u])\n" OUT},
    {"native division by default", WORDS, OPCODE, SpvOpSpecConstantFalse, 0, 0, 0,
     SpvOpSpecConstantTrue, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = bitcast<u32>(in_f32[gid.x] / in_f32[gid.x + 1u])\n" OUT},
    {"native square root chosen by the division's constant", WORDS, WORD, SpvOpDecorate, 3,
     VY_SPEC_NATIVE_SQRT, 3, VY_SPEC_NATIVE_DIVIDE, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = bitcast<u32>(sqrt(in_f32[gid.x]))\n" OUT},
    {"Aliased left out", WORDS, ERASE, SpvOpDecorate, 2, SpvDecorationAliased, 0, 0,
     VYRE_TARGET_VULKAN_1_3, true, "", "let x = in_u32[gid.x]\n" OUT},
    {"Coherent left out", WORDS, ERASE, SpvOpDecorate, 2, SpvDecorationCoherent, 0, 0,
     VYRE_TARGET_VULKAN_1_2, false, "",
     "even_out[gid.x * 4u] = 1u barrier odd_out[gid.x * 4u] = even_out[gid.x * 4u]\n"},
    {"NonPrivatePointer left out", WORDS, WORD, SpvOpStore, 3, SpvMemoryAccessNonPrivatePointerMask,
     3, 0, VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"float mode left out", WORDS, ERASE, SpvOpExecutionMode, 2, SpvExecutionModeRoundingModeRTE, 0,
     0, VYRE_TARGET_VULKAN_1_3, false, "", "let x = bitcast<u32>(in_f32[gid.x] * 3.0)\n" OUT},
    {"remainder by OpSRem", WORDS, OPCODE, SpvOpUMod, 0, 0, 0, SpvOpSRem, VYRE_TARGET_VULKAN_1_3,
     false, "", "let x = in_u32[gid.x] % (in_u32[gid.x + 1u] | 1u)\n" OUT},
    {"NMin made FMin", WORDS, WORD, SpvOpExtInst, 4, GLSLstd450NMin, 4, GLSLstd450FMin,
     VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = bitcast<u32>(min(in_f32[gid.x], in_f32[gid.x + 1u]))\n" OUT},

    {"merge and continue swapped", VALIDATOR, SWAP, SpvOpLoopMerge, 0, 0, 1, 2,
     VYRE_TARGET_VULKAN_1_3, false, "", "var x = 0u " LOOP OUT},
    {"capability left out", VALIDATOR, WORD, SpvOpCapability, 1, SpvCapabilityVulkanMemoryModel, 1,
     SpvCapabilityShader, VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"phi of a block that is no predecessor", VALIDATOR, COPY, SpvOpPhi, 0, 0, 6, 2,
     VYRE_TARGET_VULKAN_1_3, false, "", "var x = 1u if in_u32[gid.x] > 100u { x = 2u }\n" OUT},
    {"selection merge left out", VALIDATOR, ERASE, SpvOpSelectionMerge, 0, 0, 0, 0,
     VYRE_TARGET_VULKAN_1_3, false, "",
     "var x = 1u for i in 0u .. in_u32[gid.x] % 4u { if in_u32[i] > 100u { x = i } }\n" OUT},
    {"result of another type", VALIDATOR, COPY, SpvOpULessThan, 0, 0, 1, 3, VYRE_TARGET_VULKAN_1_3,
     false, "", "let x = in_u32[gid.x]\n" OUT},
};

/* In the address form. The program's eight addresses begin at word 28 of the parameter block. */
static const fault address_faults[] = {
    {"atomic in workgroup scope", WORDS, OPERAND, SpvOpAtomicIAdd, 0, 0, 4, 2,
     VYRE_TARGET_VULKAN_1_3, false, "", "barrier atomic_add(common[0u], 1u)\n"},
    {"NonWritable left out", WORDS, ERASE, SpvOpMemberDecorate, 3, SpvDecorationNonWritable, 0, 0,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"Coherent left out", WORDS, ERASE, SpvOpMemberDecorate, 3, SpvDecorationCoherent, 0, 0,
     VYRE_TARGET_VULKAN_1_2, false, "",
     "even_out[gid.x * 4u] = 1u barrier odd_out[gid.x * 4u] = even_out[gid.x * 4u]\n"},
    {"one block type for read-only and written bindings", WORDS, SAME, SpvOpBitcast, 0, 0, 1, 0,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"NonPrivatePointer left out", WORDS, WORD, SpvOpStore, 3,
     SpvMemoryAccessNonPrivatePointerMask | SpvMemoryAccessAlignedMask, 3,
     SpvMemoryAccessAlignedMask, VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"words aligned to 16 bytes", WORDS, WORD, SpvOpLoad, 4, SpvMemoryAccessAlignedMask, 5, 16,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"high word of another address", WORDS, CONSTANT, 0, 0, 0, 3, 1, VYRE_TARGET_VULKAN_1_3, false,
     "", "let x = in_u32[gid.x]\n" OUT},
    {"address of the first parameters", WORDS, CONSTANT, 0, 0, 0, 10, 6, VYRE_TARGET_VULKAN_1_3,
     false, "", "let x = in_u32[gid.x]\n" OUT},
    {"logical addressing", WORDS, WORD, SpvOpMemoryModel, 0, 0, 1, SpvAddressingModelLogical,
     VYRE_TARGET_VULKAN_1_3, false, "", "let x = in_u32[gid.x]\n" OUT},
    {"alignment left out", VALIDATOR, WORD, SpvOpStore, 3,
     SpvMemoryAccessNonPrivatePointerMask | SpvMemoryAccessAlignedMask, 3,
     SpvMemoryAccessNonPrivatePointerMask, VYRE_TARGET_VULKAN_1_3, false, "",
     "let x = in_u32[gid.x]\n" OUT},
    {"capability left out", VALIDATOR, WORD, SpvOpCapability, 1,
     SpvCapabilityPhysicalStorageBufferAddresses, 1, SpvCapabilityShader, VYRE_TARGET_VULKAN_1_2,
     false, "", "let x = in_u32[gid.x]\n" OUT},
};

static void program_text(const fault *f, vy_text *text)
{
    vy_text_init(text, NULL);
    vy_text_printf(text,
                   "program planted\nworkgroup 64\n%s"
                   "param p_u32: u32\nparam p_i32: i32\nparam p_f32: f32\n"
                   "in in_i32: i32[]\nin in_f32: f32[]\nin in_bool: bool[]\nin in_u32: u32[]\n"
                   "out even_out: u32[512]\nout odd_out: u32[512]\nout common: u32[8]\n"
                   "out slots: i32[128]\nshared tile: u32[64]\n"
                   "kernel {\n%s}\n",
                   f->header, f->body);
}

static uint32_t find_constant(const uint32_t *words, uint32_t count, uint32_t value)
{
    uint32_t uint_type = 0;
    for (uint32_t at = 5; at < count; at += words[at] >> 16) {
        if ((words[at] & 0xffff) == SpvOpTypeInt && words[at + 2] == 32 && words[at + 3] == 0) {
            uint_type = words[at + 1];
        }
        if ((words[at] & 0xffff) == SpvOpConstant && words[at + 1] == uint_type &&
            words[at + 3] == value) {
            return words[at + 2];
        }
    }
    return 0;
}

static bool is_meant(const fault *f, const uint32_t *w)
{
    uint32_t length = w[0] >> 16;
    return (w[0] & 0xffff) == f->match && f->at < length &&
           (!f->where || (f->where < length && w[f->where] == f->what));
}

/* Changes one instruction other than by taking it out. */
static bool change_one(const fault *f, uint32_t *w, uint32_t constant, uint32_t *first)
{
    uint32_t kept = w[f->at];
    switch (f->change) {
    case OPCODE:
        w[0] = (w[0] & 0xffff0000u) | f->to;
        return true;
    case SWAP:
        w[f->at] = w[f->to];
        w[f->to] = kept;
        return true;
    case OPERAND:
        w[f->at] = constant;
        return constant != 0;
    case WORD:
        w[f->at] = f->to;
        return true;
    case COPY:
        w[f->at] = w[f->to];
        return true;
    case SAME:
        *first = *first ? *first : kept;
        w[f->at] = *first;
        return kept != *first;
    default:
        return false;
    }
}

/* How many instructions were changed. */
static uint32_t apply(const fault *f, uint32_t *words, uint32_t *count)
{
    uint32_t changed = 0, kept = 5, first = 0;
    uint32_t constant = find_constant(words, *count, f->to);
    for (uint32_t at = 5, length; at < *count; at += length) {
        uint32_t *w = words + at;
        length = w[0] >> 16;
        if (f->change == CONSTANT && (w[0] & 0xffff) == SpvOpConstant && w[3] == f->at) {
            w[3] = f->to;
            changed++;
        } else if (f->change == ERASE && is_meant(f, w)) {
            changed++;
            continue;
        } else if (f->change != CONSTANT && is_meant(f, w)) {
            changed += change_one(f, w, constant, &first);
        }
        memmove(words + kept, w, length * sizeof *w);
        kept += length;
    }
    *count = kept;
    return changed;
}

static void plant(const fault *f, vyre_kernel *kernel)
{
    uint32_t changed = 0;
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        vy_kernel_segment *segment = (vy_kernel_segment *)vy_kernel_get_segment(kernel, s);
        changed += apply(f, segment->words, &segment->word_count);
    }
    if (changed == 0) {
        fail_msg("%s: nothing to change", f->name);
    }
}

static void plant_hook(void *user, vyre_kernel *kernel)
{
    plant(user, kernel);
}

/* ---- Judges ---------------------------------------------------------------------------------- */

static vyre_kernel *compile(const fault *f, vyre_interface interface, vyre_kernel_params *params)
{
    vy_text text;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    program_text(f, &text);
    memset(params, 0, sizeof *params);
    params->struct_size = sizeof *params;
    params->target = f->target;
    params->interface = interface;
    params->aliased = f->aliased;
    params->float_modes = VYRE_FLOAT_ROUNDING_RTE | VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE |
                          VYRE_FLOAT_DENORM_PRESERVE;
    if (vyre_program_parse(text.data, text.size, f->name, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s: %u:%u: %s", f->name, diag.line, diag.column, diag.message);
    }
    vyre_program_destroy(&program);
    vy_text_finish(&text);
    return kernel;
}

static bool lint_complains(const vyre_kernel *kernel, const vyre_kernel_params *params)
{
    vy_lint_expectation expectation = {.target = params->target,
                                       .float_modes = params->float_modes,
                                       .aliased = params->aliased,
                                       .binding_count = vyre_kernel_binding_count(kernel),
                                       .interface = params->interface,
                                       .param_count = vyre_kernel_param_words(kernel)};
    char message[256];
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        vyre_segment_info info;
        vyre_kernel_segment(kernel, s, &info);
        if (vy_lint(info.words, info.word_count, &expectation, message, sizeof message)) {
            print_message("    %s\n", message);
            return true;
        }
    }
    return false;
}

static bool validator_complains(const vyre_kernel *kernel, const vyre_kernel_params *params)
{
    spv_context context = spvContextCreate(
        params->target == VYRE_TARGET_VULKAN_1_3 ? SPV_ENV_VULKAN_1_3 : SPV_ENV_VULKAN_1_2);
    bool complains = false;
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        vyre_segment_info info;
        spv_diagnostic diagnostic = NULL;
        vyre_kernel_segment(kernel, s, &info);
        complains |=
            spvValidateBinary(context, info.words, info.word_count, &diagnostic) != SPV_SUCCESS;
        spvDiagnosticDestroy(diagnostic);
    }
    spvContextDestroy(context);
    return complains;
}

static void judge_words(const fault *f, vyre_interface interface)
{
    vyre_kernel_params params;
    vyre_kernel *kernel = compile(f, interface, &params);
    bool (*complains)(const vyre_kernel *, const vyre_kernel_params *) =
        f->judge == WORDS ? lint_complains : validator_complains;
    if (complains(kernel, &params)) {
        fail_msg("%s: the judge complains about the unchanged kernel", f->name);
    }
    plant(f, kernel);
    if (!complains(kernel, &params)) {
        fail_msg("%s: planted, and not found", f->name);
    }
    vyre_kernel_destroy(&kernel);
}

static void judge_value(vyre_device *device, const fault *f)
{
    vy_generated info = {.seed = 7, .grid = VY_GRID_GROUPS, .groups = {2, 1, 1}};
    vyre_device_info device_info;
    vyre_device_get_info(device, &device_info);
    const vy_mode mode = {.target = device_info.target};
    vy_comparison comparison;
    vy_text text;
    for (uint32_t t = 0; t < VY_GEN_TYPES; t++) {
        info.lengths[t] = 300;
        info.params[t][0] = 1;
    }
    program_text(f, &text);
    vy_compare(device, text.data, text.size, &info, &mode, NULL, &comparison);
    if (comparison.verdict != VY_SAME) {
        fail_msg("%s: the unchanged program differs: %s", f->name, comparison.message);
    }
    fault copy = *f;
    const vy_hooks hooks = {.kernel = plant_hook, .user = &copy};
    vy_compare(device, text.data, text.size, &info, &mode, &hooks, &comparison);
    if (comparison.verdict != VY_DIFFERENT) {
        fail_msg("%s: planted, and not found (%s)", f->name, comparison.message);
    }
    vy_text_finish(&text);
}

static void test_words_and_validator_find_planted_faults(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t i = 0; i < VY_COUNT_OF(faults); i++) {
        if (faults[i].judge != VALUE) {
            judge_words(&faults[i], VYRE_INTERFACE_DESCRIPTOR);
            count++;
        }
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(address_faults); i++) {
        judge_words(&address_faults[i], VYRE_INTERFACE_ADDRESS);
        count++;
    }
    print_message("    %u faults found\n", count);
}

static void test_values_find_planted_faults(void **state)
{
    (void)state;
    if (getenv("VYRE_TESTS_NO_DEVICE")) {
        print_message("no device wanted: faults that values show were not planted\n");
        return;
    }
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    for (uint32_t i = 0; i < VY_COUNT_OF(faults); i++) {
        if (faults[i].judge == VALUE) {
            judge_value(device, &faults[i]);
        }
    }
    vyre_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_and_validator_find_planted_faults),
        cmocka_unit_test(test_values_find_planted_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The features that a kernel says it needs are those of the types and operations in its program. */
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* Requirements beyond those of the target, in order, each followed by a blank. */
static void check(const char *text, const vyre_kernel_params *params, const char *wanted)
{
    char got[512] = "";
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "requirements", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    const char *name;
    for (uint32_t i = 0; (name = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        if (strcmp(name, "bufferDeviceAddress") != 0) {
            strcat(strcat(got, name), " ");
        }
    }
    assert_string_equal(got, wanted);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void test_types_need_their_features(void **state)
{
    static const struct {
        const char *text, *wanted, *by_address;
    } rows[] = {
        {"inout a : u32[]\nkernel { a[0] = 1 }", "", ""},
        {"inout a : u8[]\nkernel { a[0] = 1 }", "storageBuffer8BitAccess ",
         "shaderInt64 storageBuffer8BitAccess "},
        {"in a : bf16[]\ninout b : f32[]\nkernel { b[0] = a[0] }", "storageBuffer16BitAccess ",
         "shaderInt64 storageBuffer16BitAccess "},
        {"inout a : u32[]\nshared s : i16[4]\nkernel { s[0] = 1  a[0] = u32(s[0]) }", "", ""},
        {"inout a : i64[]\nkernel { a[0] = 1 }", "shaderInt64 ", "shaderInt64 "},
        {"inout a : f64[]\nkernel { a[0] = f64(1.0) }", "shaderInt64 shaderFloat64 ",
         "shaderInt64 shaderFloat64 "},
        {"inout a : u64[]\nkernel { atomic_add(a[0], 1) }", "shaderInt64 shaderBufferInt64Atomics ",
         "shaderInt64 shaderBufferInt64Atomics "},
        {"inout a : u32[]\nshared s : u64[4]\nkernel { atomic_max(s[0], 1)  a[0] = u32(s[1]) }",
         "shaderInt64 shaderSharedInt64Atomics ", "shaderInt64 shaderSharedInt64Atomics "},
        {"inout a : f32x4[]\nkernel { a[0] = a[1] + a[2] }", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512] = "program needs\nworkgroup 64\n";
        vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
        strcat(text, rows[i].text);
        check(text, &params, rows[i].wanted);
        params.interface = VYRE_INTERFACE_ADDRESS;
        check(text, &params, rows[i].by_address);
    }
}

static void test_subgroup_operations_need_their_classes(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"a[0] = lane", "VK_SUBGROUP_FEATURE_BASIC_BIT "},
        {"let x = subgroup_any(gid.x > 3)  a[0] = u32(x)",
         "VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_VOTE_BIT "},
        {"let x = subgroup_ballot(gid.x > 3)  a[0] = x.x",
         "VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_BALLOT_BIT "},
        {"let x = subgroup_shuffle(gid.x, 3)  a[0] = x",
         "VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_BALLOT_BIT "
         "VK_SUBGROUP_FEATURE_SHUFFLE_BIT "},
        {"let x = subgroup_add(gid.x)  a[0] = x",
         "VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_ARITHMETIC_BIT "},
        {"let x = subgroup_add(u64(gid.x))  a[0] = u32(x)",
         "shaderInt64 VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_BALLOT_BIT "
         "VK_SUBGROUP_FEATURE_SHUFFLE_BIT "},
        {"let x = subgroup_or(u64(gid.x))  a[0] = u32(x)",
         "shaderInt64 VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_ARITHMETIC_BIT "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512] = "program needs\nworkgroup 64\ninout a : u32[]\nkernel { ";
        vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
        check(strcat(strcat(text, rows[i].text), " }"), &params, rows[i].wanted);
    }
}

static void test_a_pinned_width_and_reconvergence_are_told(void **state)
{
    const char *text = "program needs\nworkgroup 64\nsubgroup 32\ninout a : u32[]\n"
                       "kernel { a[0] = lane }";
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2,
                                 .reconvergence = VYRE_RECONVERGENCE_UNIFORM};
    (void)state;
    check(text, &params,
          "shaderSubgroupUniformControlFlow VK_SUBGROUP_FEATURE_BASIC_BIT subgroupSizeControl "
          "computeFullSubgroups ");
}

static void test_joined_atomics_need_what_joins_them(void **state)
{
#define JOINS                                                                                      \
    "shaderMaximalReconvergence VK_SUBGROUP_FEATURE_BASIC_BIT VK_SUBGROUP_FEATURE_BALLOT_BIT "     \
    "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT "
    static const struct {
        const char *text;
        uint32_t aggregate;
        vyre_reconvergence reconvergence;
        const char *wanted;
    } rows[] = {
        {"atomic_add(a[0], 1)", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_NONE, ""},
        {"atomic_add(a[0], 1)", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_UNIFORM, ""},
        {"atomic_add(a[0], 1)", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_MAXIMAL, JOINS},
        {"atomic_add(a[0], 1)", VYRE_AGGREGATE_SHARED, VYRE_RECONVERGENCE_MAXIMAL, ""},
        {"atomic_add(s[0], 1)", VYRE_AGGREGATE_SHARED, VYRE_RECONVERGENCE_MAXIMAL, JOINS},
        {"atomic_add(a[0], 1)", 0, VYRE_RECONVERGENCE_MAXIMAL, ""},
        {"let k = atomic_add(a[0], 1)  a[k] = 1", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_MAXIMAL,
         JOINS},
        {"let k = atomic_add(a[0], 1)  a[k] = 1", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_UNIFORM,
         ""},
        {"atomic_exchange(a[0], 1)", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_MAXIMAL, ""},
        {"a[0] = 1", VYRE_AGGREGATE_ALL, VYRE_RECONVERGENCE_MAXIMAL, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512] = "program needs\nworkgroup 64\ninout a : u32[]\nshared s : u32[4]\n"
                         "kernel { s[0] = 1 ";
        vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2,
                                     .aggregate = rows[i].aggregate,
                                     .reconvergence = rows[i].reconvergence};
        check(strcat(strcat(text, rows[i].text), " }"), &params, rows[i].wanted);
    }
}

static void test_unknown_bits_of_aggregate_are_refused(void **state)
{
    const char *text = "program needs\nworkgroup 64\ninout a : u32[]\nkernel { a[0] = 1 }";
    vyre_kernel_params params = {.aggregate = VYRE_AGGREGATE_ALL + 1};
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    (void)state;
    assert_int_equal(vyre_program_parse(text, strlen(text), "n", NULL, &program, &diag), VYRE_OK);
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "0x8 "));
    assert_non_null(strstr(diag.message, "Fix: use VYRE_AGGREGATE_"));
    assert_null(kernel);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_need_their_features),
        cmocka_unit_test(test_subgroup_operations_need_their_classes),
        cmocka_unit_test(test_a_pinned_width_and_reconvergence_are_told),
        cmocka_unit_test(test_joined_atomics_need_what_joins_them),
        cmocka_unit_test(test_unknown_bits_of_aggregate_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Failures by every result and by Vulkan's, and when what failed may be tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vulkan/vulkan.h>

#include "engine/megakernel/recovery.h"

static void check(vyre_result result, int32_t vk_result, vy_mk_failure expected)
{
    vy_mk_failure got = vy_mk_failure_classify(result, vk_result);
    if (got != expected) {
        fail_msg("%s with %d is %s and not %s", vyre_result_name(result), (int)vk_result,
                 vy_mk_failure_name(got), vy_mk_failure_name(expected));
    }
}

static const struct {
    vyre_result result;
    vy_mk_failure failure;
} by_result[] = {
    {VYRE_OK, VY_MK_FAILURE_NONE},
    {VYRE_ERROR_DEVICE_OUT_OF_MEMORY, VY_MK_FAILURE_OUT_OF_MEMORY},
    {VYRE_ERROR_UNSUPPORTED_FEATURE, VY_MK_FAILURE_PROGRAM},
    {VYRE_ERROR_KERNEL_COMPILE_FAILED, VY_MK_FAILURE_PROGRAM},
    {VYRE_ERROR_DISPATCH_FAILED, VY_MK_FAILURE_UNKNOWN},
    {VYRE_ERROR_INVALID_PROGRAM, VY_MK_FAILURE_PROGRAM},
    {VYRE_ERROR_DEVICE_LOST, VY_MK_FAILURE_DEVICE_LOSS},
    {VYRE_ERROR_TIMEOUT, VY_MK_FAILURE_TRANSIENT},
    {VYRE_ERROR_INVALID_ARGUMENT, VY_MK_FAILURE_PROGRAM},
    {VYRE_ERROR_BUSY, VY_MK_FAILURE_TRANSIENT},
    {VYRE_ERROR_OUT_OF_HOST_MEMORY, VY_MK_FAILURE_OUT_OF_MEMORY},
    {VYRE_ERROR_NO_DEVICE, VY_MK_FAILURE_UNKNOWN},
    {VYRE_ERROR_IO, VY_MK_FAILURE_UNKNOWN},
    {VYRE_ERROR_INTERNAL, VY_MK_FAILURE_UNKNOWN},
};

static void test_failures_go_by_their_result(void **state)
{
    (void)state;
    uint32_t results = 0;
#define X(name, number, text, next) results++;
    VYRE_RESULTS(X)
#undef X
    assert_int_equal(results, VY_COUNT_OF(by_result));
    for (size_t i = 0; i < VY_COUNT_OF(by_result); i++) {
        check(by_result[i].result, 0, by_result[i].failure);
        check(by_result[i].result, VK_ERROR_DEVICE_LOST, VY_MK_FAILURE_DEVICE_LOSS);
        if (by_result[i].failure != VY_MK_FAILURE_UNKNOWN) {
            check(by_result[i].result, VK_ERROR_UNKNOWN, by_result[i].failure);
            check(by_result[i].result, VK_ERROR_INVALID_SHADER_NV, by_result[i].failure);
        }
    }
}

static void test_failures_go_by_vulkan_where_the_result_is_general(void **state)
{
    (void)state;
    static const struct {
        VkResult vk_result;
        vy_mk_failure failure;
    } cases[] = {
        {VK_SUCCESS, VY_MK_FAILURE_UNKNOWN},
        {VK_NOT_READY, VY_MK_FAILURE_TRANSIENT},
        {VK_TIMEOUT, VY_MK_FAILURE_TRANSIENT},
        {VK_INCOMPLETE, VY_MK_FAILURE_UNKNOWN},
        {VK_ERROR_OUT_OF_HOST_MEMORY, VY_MK_FAILURE_OUT_OF_MEMORY},
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, VY_MK_FAILURE_OUT_OF_MEMORY},
        {VK_ERROR_MEMORY_MAP_FAILED, VY_MK_FAILURE_OUT_OF_MEMORY},
        {VK_ERROR_FRAGMENTED_POOL, VY_MK_FAILURE_OUT_OF_MEMORY},
        {VK_ERROR_OUT_OF_POOL_MEMORY, VY_MK_FAILURE_OUT_OF_MEMORY},
        {VK_ERROR_FRAGMENTATION, VY_MK_FAILURE_OUT_OF_MEMORY},
        {VK_ERROR_INITIALIZATION_FAILED, VY_MK_FAILURE_UNKNOWN},
        {VK_ERROR_LAYER_NOT_PRESENT, VY_MK_FAILURE_PROGRAM},
        {VK_ERROR_EXTENSION_NOT_PRESENT, VY_MK_FAILURE_PROGRAM},
        {VK_ERROR_FEATURE_NOT_PRESENT, VY_MK_FAILURE_PROGRAM},
        {VK_ERROR_INCOMPATIBLE_DRIVER, VY_MK_FAILURE_PROGRAM},
        {VK_ERROR_FORMAT_NOT_SUPPORTED, VY_MK_FAILURE_PROGRAM},
        {VK_ERROR_INVALID_SHADER_NV, VY_MK_FAILURE_PROGRAM},
        {VK_ERROR_UNKNOWN, VY_MK_FAILURE_UNKNOWN},
    };
    static const vyre_result general[] = {VYRE_ERROR_DISPATCH_FAILED, VYRE_ERROR_INTERNAL,
                                          (vyre_result)1003};
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        for (size_t k = 0; k < VY_COUNT_OF(general); k++) {
            check(general[k], cases[i].vk_result, cases[i].failure);
        }
        check(VYRE_ERROR_IO, cases[i].vk_result, VY_MK_FAILURE_UNKNOWN);
    }
}

static void test_retries_are_counted_by_failure(void **state)
{
    (void)state;
    static const uint32_t retries[VY_MK_FAILURE_COUNT] = {
        [VY_MK_FAILURE_DEVICE_LOSS] = 1,
        [VY_MK_FAILURE_TRANSIENT] = 8,
        [VY_MK_FAILURE_OUT_OF_MEMORY] = 8,
    };
    for (uint32_t failure = 0; failure <= VY_MK_FAILURE_COUNT; failure++) {
        uint32_t limit = failure < VY_MK_FAILURE_COUNT ? retries[failure] : 0;
        for (uint32_t attempt = 0; attempt < 12; attempt++) {
            bool may = attempt >= 1 && attempt <= limit;
            assert_int_equal(vy_mk_may_retry((vy_mk_failure)failure, attempt, 0, false), may);
            assert_int_equal(vy_mk_may_retry((vy_mk_failure)failure, attempt, 0, true), may);
            assert_int_equal(vy_mk_may_retry((vy_mk_failure)failure, attempt, 5, true), may);
            assert_false(vy_mk_may_retry((vy_mk_failure)failure, attempt, 1, false));
        }
        assert_false(vy_mk_may_retry((vy_mk_failure)failure, UINT32_MAX, 0, true));
    }
}

static void test_failures_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"none",    "device-loss", "transient", "out-of-memory",
                                        "program", "unknown",     "unknown"};
    for (uint32_t i = 0; i <= VY_MK_FAILURE_COUNT; i++) {
        assert_string_equal(vy_mk_failure_name((vy_mk_failure)i), names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures_go_by_their_result),
        cmocka_unit_test(test_failures_go_by_vulkan_where_the_result_is_general),
        cmocka_unit_test(test_retries_are_counted_by_failure),
        cmocka_unit_test(test_failures_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

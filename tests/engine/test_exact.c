/* Native division and square root: who is on the list, what the table finds, when pipelines get
 * them, and the answers that are kept on disk. */
#include "engine/device/allow_list.h"
#include "engine/device/device.h"
#include "engine/exec/exact.h"
#include "folder.h"
#include "hook.h"
#include "tests/support/engine_fixture.h"
#include "vyre/text.h"
#include "vyre/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

static int reset(void **state)
{
    (void)state;
    hook_reset();
    folder_clear();
    return 0;
}

static int nothing_alive(void **state)
{
    (void)state;
    assert_int_equal(layer_alive(), 0);
    folder_clear();
    return 0;
}

/* ---- List ------------------------------------------------------------------------------------ */

static vy_snapshot snapshot_of(VkDriverId driver, uint32_t version, const char *text)
{
    vy_snapshot s = {.driver_id = (uint32_t)driver};
    s.info.driver_version = version;
    snprintf(s.info.driver, sizeof s.info.driver, "%s", text);
    return s;
}

static void test_list_has_the_versions_that_were_measured(void **state)
{
    static const struct {
        VkDriverId driver;
        uint32_t version;
        const char *text;
        bool is_listed;
    } rows[] = {
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", true},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa 25.0.0 (LLVM 19.1.7)", true},
        {VK_DRIVER_ID_MESA_LLVMPIPE, VK_MAKE_VERSION(25, 0, 3), "llvmpipe ", true},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa 25.1.0 (LLVM 19.1.7)", false},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa 24.3.9 (LLVM 19.1.7)", false},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa 26.0.7 (LLVM 19.1.7)", false},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa x", false},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "llvmpipe Mesa 99999999999999999999.0", false},
        {VK_DRIVER_ID_MESA_LLVMPIPE, 1, "", false},
        {VK_DRIVER_ID_MESA_RADV, VK_MAKE_VERSION(25, 0, 7), "radv Mesa 25.0.7", false},
        {VK_DRIVER_ID_NVIDIA_PROPRIETARY, 25u << 22, "NVIDIA 25.00", false},
        {(VkDriverId)0, 0, "", false},
    };
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_snapshot s = snapshot_of(rows[i].driver, rows[i].version, rows[i].text);
        vy_exact exact = vy_allow_list_find(&s);
        if (exact.divide != rows[i].is_listed || exact.sqrt != rows[i].is_listed) {
            fail_msg("row %u: %s", (unsigned)i, rows[i].text);
        }
        assert_int_equal(exact.why[0] != 0, rows[i].is_listed);
        assert_int_equal(vy_allow_list_has_turns(&s), rows[i].is_listed);
    }
}

static void test_versions_are_read_as_drivers_write_them(void **state)
{
    (void)state;
    vy_snapshot s = snapshot_of(VK_DRIVER_ID_NVIDIA_PROPRIETARY, 580u << 22 | 65u << 14 | 6u << 6,
                                "NVIDIA 580.65.06");
    assert_true(vy_allow_list_version(&s) == VY_VERSION(580, 65, 6));
    s = snapshot_of(VK_DRIVER_ID_MESA_RADV, VK_MAKE_VERSION(24, 2, 8), "radv");
    assert_true(vy_allow_list_version(&s) == VY_VERSION(24, 2, 8));
    s = snapshot_of(VK_DRIVER_ID_MESA_RADV, VK_MAKE_VERSION(1, 1, 1), "radv Mesa 24.2.9-devel");
    assert_true(vy_allow_list_version(&s) == VY_VERSION(24, 2, 9));
}

/* ---- Table: devices made up of host arithmetic ----------------------------------------------- */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fc00000u : bits;
}

typedef struct arithmetic {
    uint32_t (*divide)(uint32_t x, uint32_t y);
    uint32_t (*divide_literal)(uint32_t x, uint32_t y);
    uint32_t (*root)(uint32_t x);
} arithmetic;

static uint32_t exact_quotient(uint32_t x, uint32_t y)
{
    return bits_of(float_of(x) / float_of(y));
}

static uint32_t exact_root(uint32_t x)
{
    return bits_of(sqrtf(float_of(x)));
}

static uint32_t by_reciprocal(uint32_t x, uint32_t y)
{
    float reciprocal = 1.0f / float_of(y);
    return bits_of(float_of(x) * reciprocal);
}

static uint32_t flushed(uint32_t bits)
{
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static uint32_t flushed_quotient(uint32_t x, uint32_t y)
{
    return flushed(exact_quotient(x, y));
}

static uint32_t flushed_operands(uint32_t x, uint32_t y)
{
    return exact_quotient(flushed(x), flushed(y));
}

static uint32_t flushed_root(uint32_t x)
{
    return exact_root(flushed(x));
}

/* Two steps of rounding: first to 26 bits, as a quotient of a little more precision than it needs.
 */
static uint32_t rounded_twice(uint32_t x, uint32_t y)
{
    double quotient = (double)float_of(x) / (double)float_of(y);
    uint64_t bits;
    memcpy(&bits, &quotient, sizeof bits);
    if (isfinite(quotient)) {
        bits = (bits + (1u << 26)) >> 27 << 27;
    }
    memcpy(&quotient, &bits, sizeof bits);
    return bits_of((float)quotient);
}

static uint32_t twice_rounded_root(uint32_t x)
{
    double root = sqrt((double)float_of(x));
    uint64_t bits;
    memcpy(&bits, &root, sizeof bits);
    if (isfinite(root)) {
        bits = (bits + (1u << 23)) >> 24 << 24;
    }
    memcpy(&root, &bits, sizeof bits);
    return bits_of((float)root);
}

/* As compilers do that take what is undefined for anything. */
static uint32_t zero_by_anything(uint32_t x, uint32_t y)
{
    return x == 0 ? 0 : exact_quotient(x, y);
}

static uint32_t anything_by_zero(uint32_t x, uint32_t y)
{
    return y == 0 ? 0x12345678u : exact_quotient(x, y);
}

static uint32_t itself_by_itself(uint32_t x, uint32_t y)
{
    return x == y ? 0x3f800000u : exact_quotient(x, y);
}

static uint32_t other_nan(uint32_t x, uint32_t y)
{
    uint32_t bits = exact_quotient(x, y);
    return bits == 0x7fc00000u ? 0xffc00000u : bits;
}

static uint32_t positive_root_of_zero(uint32_t x)
{
    return exact_root(x) & 0x7fffffffu;
}

/* By Newton's method from a reciprocal root, without the last correction. */
static uint32_t root_by_reciprocal(uint32_t x)
{
    float value = float_of(x);
    return value > 0.0f && isfinite(value) ? bits_of(value * (1.0f / sqrtf(value))) : exact_root(x);
}

/* What a device of that arithmetic leaves in the buffer. */
static uint32_t *results_of(const arithmetic *device)
{
    uint32_t *words = malloc(VY_EXACT_WORDS * sizeof *words);
    assert_non_null(words);
    vy_exact_fill(words);
    for (uint32_t i = 0; i < VY_EXACT_PAIRS; i++) {
        uint32_t x = words[i], y = words[VY_EXACT_PAIRS + i], literal = i % VY_EXACT_LITERALS;
        const uint32_t both[4] = {device->divide_literal(0x3f800000, device->root(x)),
                                  device->divide(x, device->root(y)),
                                  device->root(device->divide(x, y)), device->divide(x, x)};
        words[i] = device->divide(x, y);
        words[VY_EXACT_PAIRS + i] = device->root(x);
        words[2 * VY_EXACT_PAIRS + i] = device->divide_literal(x, vy_exact_divisors[literal]);
        words[3 * VY_EXACT_PAIRS + i] = device->divide_literal(vy_exact_dividends[literal], x);
        words[4 * VY_EXACT_PAIRS + i] = both[i % 4];
    }
    return words;
}

static vy_exact_faults judge(const arithmetic *device)
{
    uint32_t *words = results_of(device);
    vy_exact_faults faults = vy_exact_judge(words);
    free(words);
    return faults;
}

static void test_table_passes_exact_arithmetic(void **state)
{
    (void)state;
    arithmetic exact = {exact_quotient, exact_quotient, exact_root};
    vy_exact_faults faults = judge(&exact);
    assert_int_equal(faults.divide, 0);
    assert_int_equal(faults.sqrt, 0);
}

static void test_table_finds_each_way_of_being_inexact(void **state)
{
    static const struct {
        const char *name;
        arithmetic device;
        bool is_division;
    } rows[] = {
        {"reciprocal", {by_reciprocal, exact_quotient, exact_root}, true},
        {"reciprocal of literals", {exact_quotient, by_reciprocal, exact_root}, true},
        {"results flushed", {flushed_quotient, exact_quotient, exact_root}, true},
        {"results by literals flushed", {exact_quotient, flushed_quotient, exact_root}, true},
        {"operands flushed", {flushed_operands, exact_quotient, exact_root}, true},
        {"literal operands flushed", {exact_quotient, flushed_operands, exact_root}, true},
        {"rounded twice", {rounded_twice, exact_quotient, exact_root}, true},
        {"literal zero dividend", {exact_quotient, zero_by_anything, exact_root}, true},
        {"literal zero divisor", {exact_quotient, anything_by_zero, exact_root}, true},
        {"x by x", {itself_by_itself, exact_quotient, exact_root}, true},
        {"another NaN", {other_nan, exact_quotient, exact_root}, true},
        {"root's operand flushed", {exact_quotient, exact_quotient, flushed_root}, false},
        {"root rounded twice", {exact_quotient, exact_quotient, twice_rounded_root}, false},
        {"root by reciprocal", {exact_quotient, exact_quotient, root_by_reciprocal}, false},
        {"root of -0", {exact_quotient, exact_quotient, positive_root_of_zero}, false},
    };
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_exact_faults faults = judge(&rows[i].device);
        /* Where both come together, either may be to blame. */
        if ((rows[i].is_division ? faults.divide : faults.sqrt) == 0) {
            fail_msg("%s: %u and %u faults", rows[i].name, faults.divide, faults.sqrt);
        }
    }
}

/* Whether a value that is computed a little too low or too high rounds to another f32. */
static bool is_near_middle(double value)
{
    return (float)(value * (1 - 0x1p-45)) != (float)(value * (1 + 0x1p-45)) &&
           (double)(float)value != value;
}

static void test_table_has_what_goes_wrong_first(void **state)
{
    (void)state;
    uint32_t near_quotients = 0, near_roots = 0, denormals = 0, ties = 0, edges = 0;
    for (uint32_t i = 0; i < VY_EXACT_PAIRS; i++) {
        uint32_t x, y, again_x, again_y;
        vy_exact_pair(i, &x, &y);
        vy_exact_pair(i, &again_x, &again_y);
        assert_true(x == again_x && y == again_y);
        double quotient = (double)float_of(x) / (double)float_of(y);
        double size = fabs(quotient);
        near_quotients += size > 0x1p-126 && size < 0x1p127 && is_near_middle(quotient);
        near_roots += float_of(x) > 0x1p-126f && is_near_middle(sqrt((double)float_of(x)));
        denormals += size > 0 && size < 0x1p-126;
        ties += size > 0 && size < 0x1p-126 && fabs(size * 0x1p149 - floor(size * 0x1p149)) == 0.5;
        edges += x == 0x7f800001 && y == 0x80000000;
    }
    assert_true(near_quotients > 2500);
    assert_true(near_roots > 1000);
    assert_true(denormals > 5000);
    assert_true(ties > 100);
    assert_true(edges > 0);
}

static void test_judge_sees_every_bit(void **state)
{
    (void)state;
    arithmetic exact = {exact_quotient, exact_quotient, exact_root};
    uint32_t *words = results_of(&exact);
    for (uint32_t bit = 0; bit < 32; bit++) {
        uint32_t place = bit * 15300u;
        bool is_root = place / VY_EXACT_PAIRS == VY_EXACT_ROOT;
        bool is_either = place / VY_EXACT_PAIRS == VY_EXACT_BOTH && place % 4 != 3;
        words[place] ^= 1u << bit;
        vy_exact_faults faults = vy_exact_judge(words);
        words[place] ^= 1u << bit;
        assert_int_equal(faults.divide, is_root ? 0 : 1);
        assert_int_equal(faults.sqrt, is_root || is_either ? 1 : 0);
        assert_int_equal(is_root ? faults.first_sqrt : faults.first_divide, place);
    }
    free(words);
}

/* ---- Device ---------------------------------------------------------------------------------- */

static uint32_t warnings;

static void count_warnings(void *user, const vyre_log_message *message)
{
    (void)user;
    if (message->level == VYRE_LOG_WARNING && strstr(message->text, "is not exact")) {
        assert_non_null(strstr(message->text, "Fix: "));
        warnings++;
    }
}

static vyre_device *open_with(const char *cache_dir)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = hook_entry();
    params.validation = VYRE_VALIDATION_OFF;
    params.log = count_warnings;
    params.cache_dir = cache_dir ? cache_dir : "";
    vyre_device *device = NULL;
    vyre_diag diag;
    warnings = 0;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("no device: %s", diag.message);
    }
    return device;
}

static void expect_answers(const vyre_device *device, vyre_answer divide, vyre_answer sqrt)
{
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_int_equal(info.native_divide, divide);
    assert_int_equal(info.native_sqrt, sqrt);
}

static bool is_listed(const vyre_device *device)
{
    return vy_allow_list_find(&device->snapshot).divide;
}

#define DIVIDES                                                                                    \
    "program divides\nworkgroup 64\ngrid over x\nin x : f32[]\nin y : f32[]\n"                     \
    "out q : f32[]\nout r : f32[]\nout c : f32[]\n"                                                \
    "kernel { q[gid.x] = x[gid.x] / y[gid.x] r[gid.x] = sqrt(x[gid.x]) "                           \
    "c[gid.x] = x[gid.x] / 3.0 }\n"

/* The table through a pipeline as programs have it. */
static void check_program(vyre_device *device)
{
    enum { COUNT = VY_EXACT_PAIRS };
    static float x[COUNT], y[COUNT];
    static uint32_t q[COUNT], r[COUNT], c[COUNT];
    engine_program p = engine_build(device, DIVIDES);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t a, b;
        vy_exact_pair(i, &a, &b);
        memcpy(&x[i], &a, sizeof a);
        memcpy(&y[i], &b, sizeof b);
    }
    vyre_binding bindings[] = {engine_host_in(x, COUNT), engine_host_in(y, COUNT),
                               engine_host_out(q, COUNT), engine_host_out(r, COUNT),
                               engine_host_out(c, COUNT)};
    (void)engine_run(&p, bindings, 5, NULL, 0, 0, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t a, b;
        vy_exact_pair(i, &a, &b);
        assert_int_equal(q[i], exact_quotient(a, b));
        assert_int_equal(r[i], exact_root(a));
        assert_int_equal(c[i], exact_quotient(a, 0x40400000));
    }
    engine_release(&p);
}

/* 1 where the driver has f64, and does not promise what it does with it. */
static uint32_t asks_doubles(const vyre_device *device)
{
    const uint32_t kept = VYRE_FLOAT_DENORM_PRESERVE_F64 | VYRE_FLOAT_ROUNDING_RTE_F64;
    return vy_snapshot_has(&device->snapshot, "shaderFloat64") &&
           vy_snapshot_has(&device->snapshot, "shaderInt64") &&
           (device->snapshot.info.float_modes & kept) != kept;
}

static void test_listed_device_that_passes_divides_natively(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_with(NULL);
    if (is_listed(device)) {
        expect_answers(device, VYRE_ANSWER_YES, VYRE_ANSWER_YES);
        assert_int_equal(seen.dispatches, 3 + asks_doubles(device));
    } else {
        expect_answers(device, VYRE_ANSWER_NO, VYRE_ANSWER_NO);
        assert_int_equal(seen.dispatches, 2 + asks_doubles(device));
    }
    check_program(device);
    assert_int_equal(seen.native_divide, is_listed(device));
    assert_int_equal(seen.native_sqrt, is_listed(device));
    assert_int_equal(warnings, 0);
    vyre_device_destroy(&device);
}

static void test_device_that_is_not_listed_is_not_asked(void **state)
{
    (void)state;
    NEED_DEVICE();
    hook.driver_id = VK_DRIVER_ID_MESA_RADV;
    vyre_device *device = open_with(NULL);
    /* Long loops and denormals, lanes. */
    assert_int_equal(seen.dispatches, 2 + asks_doubles(device));
    expect_answers(device, VYRE_ANSWER_NO, VYRE_ANSWER_NO);
    check_program(device);
    assert_false(seen.native_divide);
    assert_false(seen.native_sqrt);
    assert_int_equal(warnings, 0);
    vyre_device_destroy(&device);
}

static void test_device_that_fails_the_table_is_told_of_and_not_used(void **state)
{
    (void)state;
    NEED_DEVICE();
    hook.skip_dispatch = 3; /* loops, lanes, the table */
    vyre_device *device = open_with(NULL);
    if (is_listed(device)) {
        assert_int_equal(warnings, 2);
    }
    expect_answers(device, VYRE_ANSWER_NO, VYRE_ANSWER_NO);
    hook.skip_dispatch = 0;
    check_program(device);
    assert_false(seen.native_divide);
    assert_false(seen.native_sqrt);
    vyre_device_destroy(&device);
}

static const char double_text[] = "program wide\nworkgroup 1\ninout a : f64[]\n"
                                  "kernel { a[0] = a[0] * f64(0.5) }\n";

static vyre_kernel *compile_doubles(const vyre_device *device)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_kernel_params params;
    vyre_diag diag;
    vyre_device_kernel_params(device, &params);
    if (vyre_program_parse(double_text, strlen(double_text), "wide", NULL, &program, &diag) ||
        vyre_kernel_compile(program, &params, &kernel, &diag)) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    return kernel;
}

/* The probe's last dispatch is about f64. */
static void test_device_that_does_not_keep_f64_runs_no_f64(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_with(NULL);
    uint32_t last = seen.dispatches, asks = asks_doubles(device);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    vyre_kernel *kernel = compile_doubles(device);
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag;
    if (info.doubles == VYRE_ANSWER_YES) {
        assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag), VYRE_OK);
        vyre_pipeline_destroy(&pipeline);
    }
    vyre_device_destroy(&device);
    if (asks) {
        hook_reset();
        hook.skip_dispatch = last;
        device = open_with(NULL);
        vyre_device_get_info(device, &info);
        assert_int_equal(info.doubles, VYRE_ANSWER_NO);
        assert_int_equal(info.lane_order, VYRE_ANSWER_YES);
        assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag),
                         VYRE_ERROR_UNSUPPORTED_FEATURE);
        assert_non_null(strstr(diag.message, "'wide' uses f64"));
        assert_non_null(strstr(diag.message, "Float64"));
        assert_non_null(strstr(diag.message, "Fix: keep to f32"));
        device->snapshot.info.doubles = VYRE_ANSWER_UNKNOWN; /* as of an adopted device */
        assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag),
                         VYRE_ERROR_UNSUPPORTED_FEATURE);
        assert_non_null(strstr(diag.message, "Fix: call vyre_device_probe first"));
        hook.skip_dispatch = 0;
        assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
        assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag), VYRE_OK);
        vyre_pipeline_destroy(&pipeline);
        vyre_device_destroy(&device);
    }
    vyre_kernel_destroy(&kernel);
}

static void test_adopted_device_is_safe_until_it_is_probed(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *owner = open_with(NULL), *device = NULL;
    vyre_feature_chain chain;
    vyre_diag diag;
    assert_int_equal(vyre_device_fill_features(owner->instance, owner->physical, VK_API_VERSION_1_3,
                                               (PFN_vkGetInstanceProcAddr)hook_entry(), &chain,
                                               &diag),
                     VYRE_OK);
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = (PFN_vkGetInstanceProcAddr)hook_entry();
    params.instance = owner->instance;
    params.physical_device = owner->physical;
    params.device = owner->device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = owner->queue;
    params.queue_family = owner->snapshot.queue_family;
    params.features = &chain.features;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_OK);
    expect_answers(device, VYRE_ANSWER_UNKNOWN, VYRE_ANSWER_UNKNOWN);
    check_program(device);
    assert_false(seen.native_divide);
    assert_false(seen.native_sqrt);
    assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
    check_program(device);
    assert_int_equal(seen.native_divide, is_listed(device));
    assert_int_equal(seen.native_sqrt, is_listed(device));
    vyre_device_destroy(&device);
    vyre_device_destroy(&owner);
}

/* ---- Answers on disk ------------------------------------------------------------------------- */

static void test_answers_on_disk_are_not_asked_for_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_with(folder_path("answers"));
    vyre_device_info first, second;
    vyre_device_get_info(device, &first);
    assert_true(seen.dispatches > 0);
    vyre_device_destroy(&device);
    hook_reset();
    device = open_with(folder_path("answers"));
    vyre_device_get_info(device, &second);
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.submissions, 0);
    assert_int_equal(seen.dispatches, 0);
    assert_int_equal(second.denormals, first.denormals);
    assert_int_equal(second.long_loops, VYRE_ANSWER_YES);
    assert_int_equal(second.native_divide, first.native_divide);
    assert_int_equal(second.native_sqrt, first.native_sqrt);
    vyre_diag diag;
    assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
    assert_int_equal(seen.dispatches, 0);
    check_program(device);
    assert_int_equal(seen.native_divide, is_listed(device));
    vyre_device_destroy(&device);
}

static void test_answers_that_are_damaged_are_asked_for_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_with(folder_path("answers"));
    vyre_device_destroy(&device);
    char name[256];
    assert_int_equal(folder_find("answers", "answers-", name, sizeof name), 1);
    size_t size = 0;
    unsigned char *bytes = folder_read("answers", name, &size);
    assert_int_equal(size, 134);
    for (size_t i = 0; i < size; i += i < 124 ? 13 : 1) {
        bytes[i] ^= 0x01;
        folder_write("answers", name, bytes, size);
        bytes[i] ^= 0x01;
        hook_reset();
        device = open_with(folder_path("answers"));
        if (seen.dispatches == 0) {
            fail_msg("byte %u was flipped and nobody noticed", (unsigned)i);
        }
        vyre_device_destroy(&device);
    }
    /* The last one has written it anew. */
    hook_reset();
    device = open_with(folder_path("answers"));
    assert_int_equal(seen.dispatches, 0);
    vyre_device_destroy(&device);
    free(bytes);
}

static void test_answers_of_another_driver_are_asked_for_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_with(folder_path("answers"));
    vyre_device_destroy(&device);
    hook_reset();
    hook.driver = "Mesa 25.0.7 (LLVM 99)";
    device = open_with(folder_path("answers"));
    assert_true(seen.dispatches > 0);
    vyre_device_destroy(&device);
}

/* One that failed once is asked again next time; the others' failures stay. */
static void test_refusals_are_not_kept(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = hook_entry();
    params.cache_dir = folder_path("answers");
    vyre_device *device = NULL;
    vyre_diag diag;
    hook.skip_dispatch = 1;
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_ERROR_NO_DEVICE);
    assert_null(device);
    hook_reset();
    device = open_with(folder_path("answers"));
    assert_true(seen.dispatches > 0);
    vyre_device_destroy(&device);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, nothing_alive)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_has_the_versions_that_were_measured),
        cmocka_unit_test(test_versions_are_read_as_drivers_write_them),
        cmocka_unit_test(test_table_passes_exact_arithmetic),
        cmocka_unit_test(test_table_finds_each_way_of_being_inexact),
        cmocka_unit_test(test_table_has_what_goes_wrong_first),
        cmocka_unit_test(test_judge_sees_every_bit),
        TEST(test_listed_device_that_passes_divides_natively),
        TEST(test_device_that_is_not_listed_is_not_asked),
        TEST(test_device_that_fails_the_table_is_told_of_and_not_used),
        TEST(test_device_that_does_not_keep_f64_runs_no_f64),
        TEST(test_adopted_device_is_safe_until_it_is_probed),
        TEST(test_answers_on_disk_are_not_asked_for_again),
        TEST(test_answers_that_are_damaged_are_asked_for_again),
        TEST(test_answers_of_another_driver_are_asked_for_again),
        TEST(test_refusals_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every feature that a program may need, taken away: the refusal names it and a way round, and
 * nothing was made or submitted. And what needs nothing, on a device that has nothing. */
#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/host_device.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct row {
    const char *needs; /* the feature, by Vulkan's name */
    const char *body;  /* declarations and kernel of a program of 64 invocations over `o : u32[]` */
    const char *way;   /* part of the fix */
} row;

#define BYTES(type)                                                                                \
    {                                                                                              \
        "storageBuffer8BitAccess", "inout a : " type "[]\nkernel { a[gid.x] = a[0] }",             \
            "buffer of u32"                                                                        \
    }
#define HALVES(type)                                                                               \
    {                                                                                              \
        "storageBuffer16BitAccess", "inout a : " type "[]\nkernel { a[gid.x] = a[0] }",            \
            "buffer of u32"                                                                        \
    }
#define LONGS(body)                                                                                \
    {                                                                                              \
        "shaderInt64", body, "32 bits"                                                             \
    }
#define DOUBLES(body)                                                                              \
    {                                                                                              \
        "shaderFloat64", body, "f32"                                                               \
    }
#define ON_BUFFERS(type, statement)                                                                \
    {                                                                                              \
        "shaderBufferInt64Atomics", "inout a : " type "[]\nkernel { " statement " }",              \
            "atomics of 32 bits"                                                                   \
    }
#define ON_SHARED(type, statement)                                                                 \
    {                                                                                              \
        "shaderSharedInt64Atomics",                                                                \
            "shared a : " type "[2]\nkernel { " statement "  o[gid.x] = u32(a[1]) }",              \
            "atomics of 32 bits"                                                                   \
    }
#define PINNED(feature)                                                                            \
    {                                                                                              \
        feature, "subgroup %u\nkernel { o[gid.x] = gid.x }", "leave out `subgroup N`"              \
    }

/* %u: a width that the device can pin. */
static const row rows[] = {
    BYTES("u8"),
    BYTES("i8"),
    {"storageBuffer8BitAccess", "scratch a : i8[64]\nkernel { a[gid.x] = 1 }", "buffer of u32"},
    HALVES("u16"),
    HALVES("i16"),
    HALVES("f16"),
    HALVES("bf16"),
    LONGS("inout a : u64[]\nkernel { a[gid.x] = a[0] }"),
    LONGS("inout a : i64[]\nkernel { a[gid.x] = a[0] }"),
    LONGS("param p : u64\nkernel { o[gid.x] = u32(p >> 3) }"),
    LONGS("kernel { o[gid.x] = u32(u64(gid.x) * 3 >> 1) }"),
    LONGS("shared s : i64[64]\nkernel { s[lid.x] = 1  o[gid.x] = u32(s[lid.x]) }"),
    LONGS("kernel { var t : u64[4]  t[gid.x % 4] = 1  o[gid.x] = u32(t[0]) }"),
    DOUBLES("inout a : f64[]\nkernel { a[gid.x] = a[0] }"),
    DOUBLES("param p : f64\nkernel { o[gid.x] = u32(p) }"),
    DOUBLES("kernel { o[gid.x] = u32(f64(gid.x) / f64(3.0)) }"),
    DOUBLES("shared s : f64[64]\nkernel { s[lid.x] = f64(1.0)  o[gid.x] = u32(s[lid.x]) }"),
    ON_BUFFERS("u64", "atomic_add(a[0], 1)"),
    ON_BUFFERS("i64", "atomic_min(a[0], -1)"),
    ON_BUFFERS("u64", "let x = atomic_load(a[0])  o[gid.x] = u32(x)"),
    ON_BUFFERS("u64", "atomic_store(a[0], 1)"),
    ON_BUFFERS("i64", "let x = atomic_exchange(a[0], 1)  o[gid.x] = u32(x)"),
    ON_BUFFERS("u64", "let x = atomic_compare_exchange(a[0], 1, 2)  o[gid.x] = u32(x)"),
    ON_SHARED("u64", "atomic_add(a[0], 1)"),
    ON_SHARED("i64", "atomic_max(a[0], -1)"),
    ON_SHARED("u64", "let x = atomic_compare_exchange(a[0], 1, 2)  o[gid.x] = u32(x)"),
    PINNED("subgroupSizeControl"),
    PINNED("computeFullSubgroups"),
};

/* Of subgroup operations: the class that is taken away. */
static const struct {
    VkSubgroupFeatureFlags bit;
    row row;
} classes[] = {
#define SUBGROUP(name, body)                                                                       \
    {                                                                                              \
        VK_SUBGROUP_FEATURE_##name##_BIT,                                                          \
        {                                                                                          \
            "VK_SUBGROUP_FEATURE_" #name "_BIT", "kernel { " body " }", "shared memory"            \
        }                                                                                          \
    }
    SUBGROUP(BASIC, "o[gid.x] = lane"),
    SUBGROUP(BASIC, "let x = subgroup_elect()  o[gid.x] = u32(x)"),
    SUBGROUP(VOTE, "let x = subgroup_any(gid.x > 3)  o[gid.x] = u32(x)"),
    SUBGROUP(BALLOT, "let x = subgroup_ballot(gid.x > 3)  o[gid.x] = x.x"),
    SUBGROUP(BALLOT, "let x = subgroup_broadcast_first(gid.x)  o[gid.x] = x"),
    SUBGROUP(SHUFFLE, "let x = subgroup_shuffle(gid.x, 3)  o[gid.x] = x"),
    SUBGROUP(SHUFFLE, "let x = subgroup_shuffle_up(gid.x, 3)  o[gid.x] = x"),
    SUBGROUP(SHUFFLE, "let x = subgroup_add(u64(gid.x))  o[gid.x] = u32(x)"),
    SUBGROUP(ARITHMETIC, "let x = subgroup_add(gid.x)  o[gid.x] = x"),
    SUBGROUP(ARITHMETIC, "let x = subgroup_exclusive_max(f32(gid.x))  o[gid.x] = u32(x > 1.0)"),
    SUBGROUP(ARITHMETIC, "let x = subgroup_or(u64(gid.x))  o[gid.x] = u32(x)"),
};

/* ---- Making ---------------------------------------------------------------------------------- */

static vyre_kernel *compile(const vyre_device *device, const row *r, uint32_t width)
{
    char text[512], body[400];
    vyre_kernel_params params;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    (void)snprintf(body, sizeof body, "%s", r->body);
    char *place = strstr(body, "%u");
    (void)snprintf(text, sizeof text, "program needy\nworkgroup 64\n");
    size_t length = strlen(text);
    if (place) {
        *place = 0;
        (void)snprintf(text + length, sizeof text - length, "%s%u\ninout o : u32[]%s", body, width,
                       place + 2);
    } else {
        (void)snprintf(text + length, sizeof text - length, "inout o : u32[]\n%s", body);
    }
    vyre_device_kernel_params(device, &params);
    if (vyre_program_parse(text, strlen(text), "needy", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s\n%s", diag.message, text);
    }
    vyre_program_destroy(&program);
    return kernel;
}

static vyre_kernel *compile_text(const vyre_device *device, const char *body)
{
    row r = {.body = body};
    return compile(device, &r, 0);
}

static vyre_result create(vyre_device *device, const vyre_kernel *kernel, vyre_binding_mode mode,
                          vyre_diag *diag)
{
    vyre_pipeline *pipeline = NULL;
    vyre_pipeline_params params;
    vyre_pipeline_params_init(&params);
    params.bindings = mode;
    vyre_result code = vyre_pipeline_create(device, kernel, &params, &pipeline, diag);
    assert_int_equal(pipeline != NULL, code == VYRE_OK);
    vyre_pipeline_destroy(&pipeline);
    return code;
}

/* Refused with these parts in the message, and nothing was made or submitted. */
static void refuse(vyre_device *device, const vyre_kernel *kernel, vyre_binding_mode mode,
                   const char *name, const char *way)
{
    vyre_diag diag;
    vyre_device_counters before = engine_counters(device);
    int32_t alive = layer_alive();
    layer_clear_calls();
    layer_clear_events();
    assert_int_equal(create(device, kernel, mode, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    const char *fix = strstr(diag.message, ". Fix: ");
    if (!strstr(diag.message, name) || !fix || !strstr(fix, way) ||
        !strstr(diag.message, "'needy'")) {
        fail_msg("not '%s' and '%s': %s", name, way, diag.message);
    }
    assert_int_equal(layer_calls_of("vkCreate"), 0);
    assert_int_equal(layer_calls_of("vkAllocate"), 0);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    assert_int_equal(layer_alive(), alive);
    vyre_device_counters after = engine_counters(device);
    assert_int_equal(after.modules, before.modules);
    assert_int_equal(after.pipelines, before.pipelines);
}

/* --info says so too. */
static void expect_described(const vyre_device *device, const char *name, bool is_refused)
{
    char text[8192], wanted[96];
    assert_in_range(vyre_device_describe(device, text, sizeof text), 1, sizeof text - 1);
    (void)snprintf(wanted, sizeof wanted, "refused (%s)", name);
    if ((strstr(text, wanted) != NULL) != is_refused) {
        fail_msg("%s \"%s\":\n%s", is_refused ? "no" : "a", wanted, text);
    }
}

static void refuse_row(const row *r, uint32_t width)
{
    vyre_device *device = engine_open(0);
    expect_described(device, r->needs, true);
    vyre_kernel *kernel = compile(device, r, width);
    refuse(device, kernel, VYRE_BINDINGS_AUTO, r->needs, r->way);
    refuse(device, kernel, VYRE_BINDINGS_DESCRIPTOR, r->needs, r->way);
    vyre_kernel_destroy(&kernel);
    engine_close(&device);
}

/* ---- Features -------------------------------------------------------------------------------- */

/* With everything there, so that a refusal below is for what was taken away. */
static void test_programs_of_the_table_run_on_a_device_that_has_all(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    for (size_t i = 0; i < VY_COUNT_OF(rows) + VY_COUNT_OF(classes); i++) {
        bool is_class = i >= VY_COUNT_OF(rows);
        const row *r = is_class ? &classes[i - VY_COUNT_OF(rows)].row : &rows[i];
        vyre_kernel *kernel = compile(device, r, info.subgroup_size);
        vyre_diag diag;
        if (vy_snapshot_has(&device->snapshot, r->needs)) {
            expect_described(device, r->needs, false);
            if (create(device, kernel, VYRE_BINDINGS_AUTO, &diag) != VYRE_OK) {
                fail_msg("%s: %s", r->needs, diag.message);
            }
        }
        vyre_kernel_destroy(&kernel);
    }
    engine_close(&device);
}

static void test_features_are_refused_by_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    engine_close(&device);
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        layer.hide_feature = rows[i].needs;
        refuse_row(&rows[i], info.subgroup_size);
    }
}

static void test_subgroup_classes_are_refused_by_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (size_t i = 0; i < VY_COUNT_OF(classes); i++) {
        layer.hide_subgroups = classes[i].bit;
        refuse_row(&classes[i].row, 0);
    }
}

/* f64 is made of 64-bit integers in part. */
static void test_doubles_need_long_integers_too(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const row r = {"shaderInt64", "inout a : f64[]\nkernel { a[gid.x] = a[0] }", "32 bits"};
    layer.hide_feature = r.needs;
    refuse_row(&r, 0);
}

/* ---- What needs nothing ---------------------------------------------------------------------- */

static const char small_text[] =
    "program small\nworkgroup 4\n"
    "param p : i8\nparam h : f16\n"
    "inout o : u32[24]\n"
    "shared b : u8[4]\nshared c : i16[4]\nshared f : f16[4]\nshared g : bf16[4]\n"
    "const T : i8[4] = [-1, 2, -3, 4]\n"
    "const U : bf16[4] = [1.0, 2.0, 3.0, 256.0]\n"
    "kernel {\n"
    "  let l = lid.x\n"
    "  var t : u16[4]\n"
    "  t[l] = u16(l) * 20000\n"
    "  b[l] = u8(l) * 100\n"
    "  c[l] = i16(T[l]) * 1000\n"
    "  f[l] = f16(l) / f16(3.0)\n"
    "  g[l] = f32(l) * 1.001\n"
    "  barrier\n"
    "  let r = 3 - l\n"
    "  o[l] = u32(b[r])\n"
    "  o[4 + l] = bitcast<u32>(i32(c[r]))\n"
    "  o[8 + l] = u32(bitcast<u16>(f[r] + h))\n"
    "  o[12 + l] = bitcast<u32>(g[r] + U[l])\n"
    "  o[16 + l] = u32(t[l])\n"
    "  o[20 + l] = bitcast<u32>(i32(p - i8(l)))\n"
    "}\n";

static void test_small_types_outside_buffers_need_nothing(void **state)
{
    (void)state;
    NEED_DEVICE();
    uint32_t wanted[24] = {0}, o[24] = {0};
    const uint32_t params[2] = {0x80, 0x3c00}; /* -128, 1.0 */
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(small_text, strlen(small_text), "small", NULL, &program, &diag)) {
        fail_msg("%u: %s", (unsigned)diag.line, diag.message);
    }
    vyre_host_buffer buffer = {.data = wanted, .count = 24};
    vyre_interp_params interp = {.struct_size = (uint32_t)sizeof interp,
                                 .buffers = &buffer,
                                 .buffer_count = 1,
                                 .params = params,
                                 .param_count = 2,
                                 .groups = {1, 1, 1}};
    assert_int_equal(vyre_interp_run(program, &interp, NULL, &diag), VYRE_OK);
    vyre_program_destroy(&program);
    assert_int_equal(wanted[0], 300 % 256);
    assert_int_equal(wanted[7], (uint32_t)-1000);
    assert_int_equal(wanted[19], 60000);
    assert_int_equal(wanted[21], 127);
    layer.no_optional = true;
    vyre_device *device = engine_open(1);
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        assert_int_equal(device->snapshot.has[f], vy_feature_get(f)->is_required);
    }
    engine_program p = engine_build(device, small_text);
    vyre_binding bindings[] = {engine_host_inout(o, 24)};
    (void)engine_run(&p, bindings, 1, params, 2, 4, 0);
    assert_memory_equal(o, wanted, sizeof o);
    engine_release(&p);
    engine_close(&device);
}

/* By addresses, elements of 8 and 16 bits need 64-bit integers; by descriptors they do not. */
static void test_small_elements_go_by_descriptors_without_long_integers(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int is_half = 0; is_half < 2; is_half++) {
        layer.hide_feature = NULL;
        const char *body = is_half ? "inout a : f16[]\nkernel { a[gid.x] = a[gid.x] + f16(1.0) }"
                                   : "inout a : u8[]\nkernel { a[gid.x] = a[gid.x] + 1 }";
        layer.hide_feature = "shaderInt64";
        vyre_device *device = engine_open(0);
        vyre_kernel_params params;
        vyre_device_kernel_params(device, &params);
        assert_int_equal(params.interface, VYRE_INTERFACE_ADDRESS);
        vyre_kernel *kernel = compile_text(device, body);
        refuse(device, kernel, VYRE_BINDINGS_ADDRESS, "shaderInt64", "VYRE_BINDINGS_AUTO");
        vyre_pipeline *pipeline = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag), VYRE_OK);
        uint32_t o[1] = {0};
        uint8_t bytes[64] = {7, 255};
        uint16_t halves[64] = {0x3c00, 0xbc00};
        vyre_binding bindings[] = {engine_host_inout(o, 1), is_half ? engine_host_inout(halves, 64)
                                                                    : engine_host_inout(bytes, 64)};
        vyre_dispatch_params dispatch = engine_params(bindings, 2);
        vyre_report report;
        assert_int_equal(vyre_dispatch(pipeline, &dispatch, &report, &diag), VYRE_OK);
        assert_int_equal(is_half ? halves[0] : bytes[0], is_half ? 0x4000 : 8);
        assert_int_equal(is_half ? halves[1] : bytes[1], 0);
        assert_null(strstr(report.bindings, "address"));
        vyre_pipeline_destroy(&pipeline);
        vyre_kernel_destroy(&kernel);
        /* Programs of words alone still go by addresses. */
        kernel = compile_text(device, "kernel { o[gid.x] = 1 }");
        assert_int_equal(create(device, kernel, VYRE_BINDINGS_ADDRESS, &diag), VYRE_OK);
        vyre_kernel_destroy(&kernel);
        engine_close(&device);
    }
}

static void test_addresses_are_refused_by_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_kernel *kernel = compile_text(device, "kernel { o[gid.x] = 1 }"); /* by addresses */
    engine_close(&device);
    layer.no_addresses = true;
    device = engine_open(0);
    refuse(device, kernel, VYRE_BINDINGS_ADDRESS, "bufferDeviceAddress", "VYRE_BINDINGS_AUTO");
    vyre_diag diag;
    assert_int_equal(create(device, kernel, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
    vyre_kernel_destroy(&kernel);
    engine_close(&device);
}

/* ---- Subgroups ------------------------------------------------------------------------------- */

static const char *const pinned = "subgroup %u\nkernel { o[gid.x] = lanes }";

static void test_pinned_widths_are_refused_by_limit(void **state)
{
    (void)state;
    NEED_DEVICE();
    const row r = {.body = pinned};
    layer.min_subgroup = 16;
    layer.max_subgroup = 32;
    vyre_device *device = engine_open(0);
    vyre_kernel *narrow = compile(device, &r, 8);
    vyre_kernel *wide = compile(device, &r, 64);
    refuse(device, narrow, VYRE_BINDINGS_AUTO, "minSubgroupSize is 16", "`subgroup 16`");
    refuse(device, wide, VYRE_BINDINGS_AUTO, "maxSubgroupSize is 32", "`subgroup 32`");
    vyre_kernel_destroy(&wide);
    engine_close(&device);
    layer.min_subgroup = layer.max_subgroup = 0;
    layer.no_pinned_width = true;
    device = engine_open(0);
    refuse(device, narrow, VYRE_BINDINGS_AUTO, "requiredSubgroupSizeStages", "leave out");
    vyre_kernel_destroy(&narrow);
    engine_close(&device);
}

static void test_too_many_subgroups_are_refused_by_limit(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_subgroups = 2;
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    if (info.subgroup_size * 2 < 64 && vy_snapshot_can_pin(&device->snapshot, info.subgroup_size)) {
        const row r = {.body = pinned};
        vyre_kernel *kernel = compile(device, &r, info.subgroup_size);
        vyre_kernel *own = compile_text(device, "kernel { o[gid.x] = lanes }");
        vyre_kernel *none = compile_text(device, "kernel { o[gid.x] = 1 }");
        const char *limit = "maxComputeWorkgroupSubgroups is 2";
        refuse(device, kernel, VYRE_BINDINGS_AUTO, limit, "smaller workgroup");
        /* That one is pinned to the device's width. */
        refuse(device, own, VYRE_BINDINGS_AUTO, limit, "smaller workgroup");
        vyre_diag diag;
        assert_int_equal(create(device, none, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
        vyre_kernel_destroy(&none);
        vyre_kernel_destroy(&own);
        vyre_kernel_destroy(&kernel);
    }
    engine_close(&device);
}

/* `subgroup N` does not divide the workgroup: before any device is asked. */
static void test_widths_that_do_not_divide_are_refused_at_once(void **state)
{
    (void)state;
    static const char text[] = "program needy\nworkgroup 24\nsubgroup 16\ninout o : u32[]\n"
                               "kernel { o[gid.x] = lane }\n";
    vyre_program *program = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(text, strlen(text), "needy", NULL, &program, &diag),
                     VYRE_ERROR_INVALID_PROGRAM);
    assert_non_null(strstr(diag.message, "Fix: write `workgroup 32`"));
}

static void test_divergence_is_refused_without_reconvergence(void **state)
{
    (void)state;
    NEED_DEVICE();
    const char *extension = "VK_KHR_shader_maximal_reconvergence";
    vyre_diag diag;
    vyre_device *device = engine_open(0);
    bool has = device->snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence];
    row r = {.body = "kernel { if gid.x % 3 == 0 {\n"
                     "let x = subgroup_add(gid.x)  o[gid.x] = x } }"};
    vyre_kernel *kernel = compile(device, &r, 0);
    if (has) {
        assert_int_equal(create(device, kernel, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
    }
    engine_close(&device);
    layer.hide_extension = extension;
    device = engine_open(0);
    vyre_kernel *plain = compile(device, &r, 0);
    refuse(device, plain, VYRE_BINDINGS_AUTO, extension, "select its operand");
    expect_described(device, extension, true);
    assert_int_equal(create(device, plain, VYRE_BINDINGS_AUTO, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(diag.line, 5);
    if (has) { /* words of another device */
        refuse(device, kernel, VYRE_BINDINGS_AUTO, "shaderMaximalReconvergence",
               "vyre_device_kernel_params");
    }
    vyre_kernel_destroy(&kernel);
    engine_close(&device);
    layer.hide_extension = NULL;
    device = engine_open(0);
    if (has) { /* which does not ask for what this one has */
        refuse(device, plain, VYRE_BINDINGS_AUTO, "maximal reconvergence",
               "vyre_device_kernel_params");
    }
    vyre_kernel_destroy(&plain);
    engine_close(&device);
}

static void test_lanes_of_unknown_order_are_refused(void **state)
{
    (void)state;
    NEED_DEVICE();
    host_device host;
    host_device_open(&host, layer_entry(), HOST_ENABLES_SETUP, 0);
    vyre_device *device = host_device_adopt(&host);
    vyre_kernel *kernel = compile_text(device, "kernel { o[gid.x] = lane }");
    vyre_kernel *none = compile_text(device, "kernel { o[gid.x] = 1 }");
    vyre_diag diag;
    refuse(device, kernel, VYRE_BINDINGS_AUTO, "nobody has asked", "vyre_device_probe");
    assert_int_equal(create(device, none, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
    assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
    assert_int_equal(create(device, kernel, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
    device->snapshot.info.lane_order = VYRE_ANSWER_NO;
    refuse(device, kernel, VYRE_BINDINGS_AUTO, "not consecutive", "shared memory");
    assert_int_equal(create(device, none, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
    vyre_kernel_destroy(&none);
    vyre_kernel_destroy(&kernel);
    vyre_device_destroy(&device);
    host_device_close(&host);
}

/* What a host did not enable is refused as if the device had it not. */
static void test_features_left_off_by_a_host_are_refused(void **state)
{
    (void)state;
    NEED_DEVICE();
    host_device host;
    host_device_open(&host, layer_entry(), HOST_ENABLES_REQUIRED, 0);
    vyre_device *device = host_device_adopt(&host);
    vyre_diag diag;
    assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_kernel *kernel = compile(device, &rows[i], 8);
        assert_int_equal(create(device, kernel, VYRE_BINDINGS_AUTO, &diag),
                         VYRE_ERROR_UNSUPPORTED_FEATURE);
        assert_non_null(strstr(diag.message, "vyre_device_fill_setup"));
        vyre_kernel_destroy(&kernel);
    }
    vyre_device_destroy(&device);
    host_device_close(&host);
}

/* Vulkan 1.3 has it; a device of 1.2 by an extension. */
static void test_debug_information_is_refused_without_its_extension(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char extension[] = "VK_KHR_shader_non_semantic_info",
                      text[] = "program needy\nworkgroup 64\ninout o : u32[]\n"
                               "kernel { let x = gid.x * 3  o[gid.x] = x }\n";
    for (int i = 0; i < 3; i++) { /* 1.3, 1.2, 1.2 without the extension */
        vyre_program *program = NULL;
        vyre_kernel *kernel = NULL;
        vyre_kernel_params params;
        vyre_diag diag;
        layer.vulkan_1_2 = i > 0;
        layer.hide_extension = i != 1 ? extension : NULL;
        vyre_device *device = engine_open(0);
        bool has = device->snapshot.has_extension[VY_EXTENSION_KHR_shader_non_semantic_info];
        vyre_device_kernel_params(device, &params);
        assert_int_equal(params.target, i ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3);
        params.debug = VYRE_DEBUG_INFO_FULL;
        assert_int_equal(vyre_program_parse(text, strlen(text), "n.vyre", NULL, &program, &diag),
                         VYRE_OK);
        assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag), VYRE_OK);
        if (i == 0 || has) {
            assert_int_equal(create(device, kernel, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
        } else {
            refuse(device, kernel, VYRE_BINDINGS_AUTO, extension, "VYRE_DEBUG_INFO_LINES");
            vyre_kernel_destroy(&kernel);
            params.debug = VYRE_DEBUG_INFO_LINES;
            assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag), VYRE_OK);
            assert_int_equal(create(device, kernel, VYRE_BINDINGS_AUTO, &diag), VYRE_OK);
        }
        vyre_kernel_destroy(&kernel);
        vyre_program_destroy(&program);
        engine_close(&device);
    }
    layer.vulkan_1_2 = false;
    layer.hide_extension = NULL;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_programs_of_the_table_run_on_a_device_that_has_all),
        T(test_features_are_refused_by_name),
        T(test_subgroup_classes_are_refused_by_name),
        T(test_doubles_need_long_integers_too),
        T(test_small_types_outside_buffers_need_nothing),
        T(test_small_elements_go_by_descriptors_without_long_integers),
        T(test_addresses_are_refused_by_name),
        T(test_pinned_widths_are_refused_by_limit),
        T(test_too_many_subgroups_are_refused_by_limit),
        T(test_widths_that_do_not_divide_are_refused_at_once),
        T(test_divergence_is_refused_without_reconvergence),
        T(test_lanes_of_unknown_order_are_refused),
        T(test_features_left_off_by_a_host_are_refused),
        T(test_debug_information_is_refused_without_its_extension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* More planted faults: of what stands before the words (parser, constant folder, the cut into
 * segments, the interpreter) and behind them (the plan of barriers, the recorded commands). Each
 * names the judge that must find it, which must find nothing where nothing is planted.
 *   VALUE     the results differ; the device or the interpreter is given what a wrong parser, pass
 *             or evaluation would have made of the program
 *   RECORDER  the judge of barriers below the function table (tests/support/hazard.c), for what no
 *             value on a processor's driver can show */
#include "codegen/kernel.h"
#include "tests/support/differential.h"
#include "tests/support/engine_run.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Before the words -------------------------------------------------------------------------
 */

typedef struct text_fault {
    const char *name;
    const char *header, *right, *wrong; /* the kernel's body as it is, and as it is misread */
    bool interpreter;                   /* the interpreter misreads it, not the device */
} text_fault;

#define OUT "mine_a[gid.x] = x\n"

static const text_fault text_faults[] = {
    {"parser: minus groups from the right", "",
     "let x = in_u32[gid.x] - p_u32 - in_u32[gid.x + 1u]\n" OUT,
     "let x = in_u32[gid.x] - (p_u32 - in_u32[gid.x + 1u])\n" OUT, false},
    {"parser: & binds looser than ==", "", "let x = u32(in_u32[gid.x] & 1u == 0u)\n" OUT,
     "let x = in_u32[gid.x] & u32(1u == 0u)\n" OUT, false},
    {"parser: * binds looser than +", "", "let x = in_u32[gid.x] + 3u * in_u32[gid.x + 1u]\n" OUT,
     "let x = (in_u32[gid.x] + 3u) * in_u32[gid.x + 1u]\n" OUT, false},
    {"parser: the step is dropped", "",
     "var x = 0u for i in 0u .. in_u32[gid.x] % 9u step 2u { x += i }\n" OUT,
     "var x = 0u for i in 0u .. in_u32[gid.x] % 9u { x += i }\n" OUT, false},
    {"parser: the second value of a case is dropped", "",
     "var x = 0u switch in_u32[gid.x] % 4u { case 1, 3 { x = 5u } }\n" OUT,
     "var x = 0u switch in_u32[gid.x] % 4u { case 1 { x = 5u } }\n" OUT, false},
    {"builder: a downward loop begins at its bound", "",
     "var x = 0u for i in 0u .. in_u32[gid.x] % 9u down { x = x * 3u + i }\n" OUT,
     "var x = 0u for i in 0u .. in_u32[gid.x] % 9u down { x = x * 3u + i + 1u }\n" OUT, false},
    {"builder: a bound is evaluated at each trip", "",
     "var n = in_u32[gid.x] % 5u var x = 0u for i in 0u .. n { n = 9u x += i }\n" OUT,
     "var n = in_u32[gid.x] % 5u var x = 0u var i = 0u\n"
     "while i < n { n = 9u x += i i += 1u }\n" OUT,
     false},
    {"builder: continue leaves the loop", "",
     "var x = 0u for i in 0u .. 5u { if in_u32[gid.x + i] > 99u { continue } x += i + 1u }\n" OUT,
     "var x = 0u for i in 0u .. 5u { if in_u32[gid.x + i] > 99u { break } x += i + 1u }\n" OUT,
     false},
    {"builder: a function's return ends the invocation", "",
     "let x = early(in_u32[gid.x]) mine_b[gid.x] = 7u\n" OUT,
     "if in_u32[gid.x] > 99u { return } let x = early(in_u32[gid.x]) mine_b[gid.x] = 7u\n" OUT,
     false},
    {"folder: division rounds down", "", "let x = u32((-7i) / 2i) + in_u32[gid.x]\n" OUT,
     "let x = u32(-4i) + in_u32[gid.x]\n" OUT, false},
    {"folder: a shift by 33 gives nothing", "", "let x = in_u32[gid.x] + (1u << 33u)\n" OUT,
     "let x = in_u32[gid.x] + 0u\n" OUT, false},
    {"folder: NaN equals itself", "", "let x = u32(nan == nan) + in_u32[gid.x]\n" OUT,
     "let x = 1u + in_u32[gid.x]\n" OUT, false},
    {"folder: x * 0.0 is 0.0", "", "let x = bitcast<u32>(in_f32[gid.x] * 0.0)\n" OUT,
     "let x = 0u\n" OUT, false},
    {"pass: a load is taken from before the store", "",
     "let a = mine_b[gid.x] mine_b[gid.x] = in_u32[gid.x] let x = a + mine_b[gid.x]\n" OUT,
     "let a = mine_b[gid.x] mine_b[gid.x] = in_u32[gid.x] let x = a + a\n" OUT, false},
    {"pass: an array is not zero again in each trip", "",
     "var x = 0u for i in 0u .. 3u { var a: u32[4] a[1] = a[1] + in_u32[gid.x] x += a[1] }\n" OUT,
     "var a: u32[4] var x = 0u for i in 0u .. 3u { a[1] = a[1] + in_u32[gid.x] x += a[1] }\n" OUT,
     false},
    {"split: a value is recomputed from memory that has changed", "",
     "let x = mine_b[gid.x] grid_sync mine_b[gid.x] = 3u grid_sync\n" OUT,
     "grid_sync mine_b[gid.x] = 3u grid_sync let x = mine_b[gid.x]\n" OUT, false},
    {"split: a return ends the later segments, too", "",
     "if in_u32[gid.x] > 99u { return } mine_b[gid.x] = 1u grid_sync let x = 2u\n" OUT,
     "if in_u32[gid.x] > 99u { return } mine_b[gid.x] = 1u\n"
     "grid_sync if in_u32[gid.x] <= 99u { let x = 2u\n" OUT "}\n",
     false},
    {"split: shared memory outlives a cut", "",
     "tile[lid.x] = 5u grid_sync let x = tile[lid.x]\n" OUT,
     "tile[lid.x] = 5u let y = tile[lid.x] grid_sync let x = y\n" OUT, false},
    {"plan: outputs are cleared before each pass", "fixpoint 3\n",
     "let x = mine_a[gid.x] + in_u32[gid.x]\n" OUT, "let x = in_u32[gid.x]\n" OUT, false},
    {"plan: a pass is left out", "fixpoint 3\n", "let x = mine_a[gid.x] + pass + 1u\n" OUT,
     "if pass < 2u { let x = mine_a[gid.x] + pass + 1u\n" OUT "}\n", false},
    {"loops: each has a budget of its own", "loop_limit 10\n",
     "var x = 0u while x < 6u { x += 1u } while x < 12u { x += 1u }\n" OUT,
     "var x = 0u while x < 6u { x += 1u } x = 12u\n" OUT, false},
    {"trap: ends the invocation", "", "let x = 1u if in_u32[gid.x] > 99u { trap(7) }\n" OUT,
     "let x = 1u if in_u32[gid.x] > 99u { trap(7) return }\n" OUT, false},
    {"interpreter: unsigned division is signed", "",
     "let x = (in_u32[gid.x] | 0x80000000u) / 3u\n" OUT,
     "let x = u32(i32(in_u32[gid.x] | 0x80000000u) / 3i)\n" OUT, true},
    {"interpreter: an index out of bounds is cut to the last element", "",
     "let x = in_u32[gid.x + 4000u]\n" OUT, "let x = in_u32[min(gid.x + 4000u, 299u)]\n" OUT, true},
    {"interpreter: round_even rounds half away from zero", "",
     "let x = u32(round_even(f32(in_u32[gid.x] % 99u) + 0.5))\n" OUT,
     "let x = u32(round(f32(in_u32[gid.x] % 99u) + 0.5))\n" OUT, true},
    {"interpreter: clz of 0 is 31", "", "let x = clz(in_u32[gid.x] >> 30u)\n" OUT,
     "let x = min(clz(in_u32[gid.x] >> 30u), 31u)\n" OUT, true},
};

static void write_text(const text_fault *f, const char *body, char *out, size_t size)
{
    snprintf(out, size,
             "program planted\nworkgroup 64\n%sparam p_u32: u32\n"
             "in in_f32: f32[]\nin in_u32: u32[]\nout mine_a: u32[128]\nout mine_b: u32[128]\n"
             "shared tile: u32[64]\n"
             "fn early(a: u32) -> u32 {\n    if a > 99u { return 1u }\n    return 2u\n}\n"
             "kernel {\n%s}\n",
             f->header, body);
}

static void misread(void *user, char *text)
{
    const text_fault *f = user;
    char wrong[2048];
    write_text(f, f->wrong, wrong, sizeof wrong);
    /* There is room for as much again. */
    assert_true(strlen(wrong) < 2 * strlen(text));
    memcpy(text, wrong, strlen(wrong) + 1);
}

static void judge_text(vyre_device *device, const text_fault *f)
{
    vy_generated info = {.seed = 7, .grid = VY_GRID_GROUPS, .groups = {2, 1, 1}};
    const vy_mode mode = {.target = VYRE_TARGET_VULKAN_1_2};
    vy_comparison comparison;
    char text[2048];
    for (uint32_t t = 0; t < VY_GEN_TYPES; t++) {
        info.lengths[t] = 300;
        info.params[t][0] = 1;
    }
    write_text(f, f->right, text, sizeof text);
    vy_compare(device, text, strlen(text), &info, &mode, NULL, &comparison);
    if (comparison.verdict != VY_SAME) {
        fail_msg("%s: the unchanged program differs: %s", f->name, comparison.message);
    }
    text_fault copy = *f;
    const vy_hooks hooks = {.device_text = f->interpreter ? NULL : misread,
                            .interpreter_text = f->interpreter ? misread : NULL,
                            .user = &copy};
    vy_compare(device, text, strlen(text), &info, &mode, &hooks, &comparison);
    if (comparison.verdict != VY_DIFFERENT) {
        fail_msg("%s: planted, and not found (%s)", f->name, comparison.message);
    }
}

static void test_values_find_faults_before_the_words(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    for (uint32_t i = 0; i < VY_COUNT_OF(text_faults); i++) {
        judge_text(device, &text_faults[i]);
    }
    vyre_device_destroy(&device);
    print_message("    %u faults found\n", (unsigned)VY_COUNT_OF(text_faults));
}

/* ---- Behind the words -------------------------------------------------------------------------
 */

#define ALL      UINT64_MAX
#define SPILL    ((uint64_t)1 << 63)
#define RECORDS  ((uint64_t)1 << 62)
#define EVERY    UINT32_MAX
#define ELEMENTS 256u

/* What the plan is told of a segment: its accesses without the bits of a mask, or with more. */
typedef struct plan_fault {
    const char *name;
    uint32_t segment;
    uint64_t lost, added; /* of reads, writes and atomics */
    bool of_reads, of_writes;
    uint32_t drop; /* the n-th barrier behind a dispatch is not recorded */
    const char *body;
} plan_fault;

#define CHAIN                                                                                      \
    "a[gid.x] = x[gid.x] + 1\n grid_sync b[gid.x] = a[255 - gid.x]\n"                              \
    "grid_sync a[gid.x] = b[255 - gid.x] * 2\n"
#define SPILLED                                                                                    \
    "let v = atomic_add(a[gid.x], 1) let w = atomic_add(a[gid.x], 5)\n"                            \
    "grid_sync b[gid.x] = v * w + x[gid.x]\n"
#define TRAPS "if x[gid.x] > 7 { trap(1) }\n grid_sync if x[gid.x] > 5 { trap(2) }\n"
#define ATOMICS                                                                                    \
    "atomic_add(a[gid.x % 7], x[gid.x])\n grid_sync atomic_max(a[gid.x % 5], x[gid.x])\n"
#define APART "a[gid.x] = x[gid.x]\n grid_sync b[gid.x] = x[gid.x + 1]\n"

static const plan_fault plan_faults[] = {
    {"plan: what a segment writes is forgotten", 0, ALL, 0, false, true, 0, CHAIN},
    {"plan: what a segment reads is forgotten", 1, ALL, 0, true, false, 0, CHAIN},
    {"plan: the last segment's writes are forgotten", 2, ALL, 0, true, true, 0, CHAIN},
    {"plan: spill slots are forgotten", EVERY, SPILL, 0, true, true, 0, SPILLED},
    {"plan: records are forgotten", EVERY, RECORDS, 0, true, true, 0, TRAPS},
    {"plan: atomics are no accesses", EVERY, ALL, 0, true, true, 0, ATOMICS},
    {"plan: every segment writes everything", EVERY, 0, 7, true, true, 0, APART},
    {"recorder: the first barrier is lost", 0, 0, 0, false, false, 1, CHAIN},
    {"recorder: the second barrier is lost", 0, 0, 0, false, false, 2, CHAIN},
    {"recorder: the barrier before the readback is lost", 0, 0, 0, false, false, 3, CHAIN},
    {"recorder: the barrier of the spill slots is lost", 0, 0, 0, false, false, 1, SPILLED},
    {"recorder: the barrier between atomics is lost", 0, 0, 0, false, false, 1, ATOMICS},
};

static vyre_kernel *compile(vyre_device *device, const char *body)
{
    char text[1024];
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vyre_kernel_params params;
    snprintf(text, sizeof text,
             "program plan\nworkgroup 64\nin x : u32[]\nout a : u32[256]\nout b : u32[256]\n"
             "kernel {\n%s}\n",
             body);
    vyre_device_kernel_params(device, &params);
    params.interface = VYRE_INTERFACE_DESCRIPTOR;
    if (vyre_program_parse(text, strlen(text), NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s: %u:%u: %s", body, diag.line, diag.column, diag.message);
    }
    vyre_program_destroy(&program);
    return kernel;
}

static void plant(const plan_fault *f, vyre_kernel *kernel)
{
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        vy_kernel_segment *segment = (vy_kernel_segment *)vy_kernel_get_segment(kernel, s);
        if (f->segment != s && f->segment != EVERY) {
            continue;
        }
        if (f->of_reads) {
            segment->reads = (segment->reads & ~f->lost) | f->added;
        }
        if (f->of_writes) {
            segment->writes = (segment->writes & ~f->lost) | f->added;
            segment->atomics &= segment->reads | segment->writes;
        }
    }
}

/* Faults that the judge of barriers sees in one run. */
static uint32_t count_hazards(const plan_fault *f, bool is_planted)
{
    uint32_t x[ELEMENTS], a[ELEMENTS], b[ELEMENTS];
    vyre_diag diag;
    vyre_pipeline_params params;
    layer_reset();
    vyre_device *device = engine_open(0);
    engine_program program = {.kernel = compile(device, f->body)};
    if (is_planted) {
        plant(f, program.kernel);
    }
    vyre_pipeline_params_init(&params);
    params.bindings = VYRE_BINDINGS_DESCRIPTOR;
    assert_int_equal(
        vyre_pipeline_create(device, program.kernel, &params, &program.pipeline, &diag), VYRE_OK);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        x[i] = i * 7 % 11;
    }
    const vyre_binding bindings[] = {engine_host_in(x, ELEMENTS), engine_host_out(a, ELEMENTS),
                                     engine_host_out(b, ELEMENTS)};
    layer_forget_hazards();
    layer_clear_events();
    layer.drop_barrier = is_planted ? f->drop : 0;
    (void)engine_run(&program, bindings, 3, NULL, 0, ELEMENTS, 0);
    uint32_t count = layer_hazards(false);
    layer_forget_hazards();
    layer.drop_barrier = 0;
    engine_release(&program);
    engine_close(&device);
    return count;
}

static void test_recorder_finds_planted_faults(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(plan_faults); i++) {
        const plan_fault *f = &plan_faults[i];
        if (count_hazards(f, false) != 0) {
            fail_msg("%s: the judge complains where nothing is planted", f->name);
        }
        if (count_hazards(f, true) == 0) {
            fail_msg("%s: planted, and not found", f->name);
        }
    }
    print_message("    %u faults found\n", (unsigned)VY_COUNT_OF(plan_faults));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_find_faults_before_the_words),
        cmocka_unit_test(test_recorder_finds_planted_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

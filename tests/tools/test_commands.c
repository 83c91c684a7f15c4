/* The tools as people call them: exit codes, what is printed, and every mistake in a command line
 * or an input file. */
#include "codegen/kernel.h"
#include "tests/tools/support.h"
#include "vyre/program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHADERS VYRE_SOURCE_DIR "/shaders/"

static const char double_text[] =
    "// Twice.\n//! run: --in x=1,2\n//! expect: y = 2, 4\nprogram twice\nworkgroup 64\ngrid over "
    "x\n"
    "in x : u32[]\nout y : u32[len(x)]\nkernel { if gid.x < len(x) { y[gid.x] = x[gid.x] * 2 } }\n";
/* Its end takes a race, a trap and a limit. */
static const char bad_text[] =
    "program bad\nworkgroup 64\ngrid over y\nfixpoint 2 until more\nout y : u32[4]\n"
    "scratch more : u32[1]\nkernel {\n    y[0] = gid.x\n    atomic_store(more[0], 1)\n"
    "    if gid.x == 3 && pass == 1 { trap(7) }\n}\n";
static const char size_text[] = "program sized\nworkgroup 64\nparam k : i32\nout y : i32[]\n"
                                "kernel { y[gid.x] = k + i32(gid.x) }\n";
static const char exp_text[] = "program e\nworkgroup 64\ngrid over y\nout y : f32[8]\n"
                               "kernel { y[gid.x] = exp(f32(gid.x)) }\n";

static const char wide_text[] =
    "program wide\nworkgroup 2\nparam q : u64\nparam v : f32x4\nout y : u64[2]\nout z : f32x4[2]\n"
    "kernel { y[gid.x] = q + u64(gid.x)\n z[gid.x] = v + f32(gid.x) }\n";
static const char lanes_text[] =
    "//! run:\n//! expect: y = 10, ...\nprogram l\nworkgroup 64\ngrid over y\nout y : u32[64]\n"
    "out z : f32[64]\nkernel { let s = subgroup_add(gid.x)\n let w = subgroup_add(f32(gid.x) * "
    "0.1)\n y[gid.x] = s + lanes\n z[gid.x] = w }\n";

static int setup(void **state)
{
    (void)state;
    enter_folder("commands");
    put_text("twice.vyre", double_text);
    put_text("bad.vyre", bad_text);
    put_text("sized.vyre", size_text);
    put_text("exp.vyre", exp_text);
    put_text("wide.vyre", wide_text);
    put_text("lanes.vyre", lanes_text);
    put_text("broken.vyre", "program p\nkernel {\n    oops\n}\n");
    put_text("kernel.vyk", "VYRK....");
    return 0;
}

/* ---- vyre-run -------------------------------------------------------------------------------- */

static void test_run_refuses_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *a[4];
        const char *message;
    } cases[] = {
        {{NULL}, "no program is given"},
        {{"twice.vyre", "sized.vyre"}, "one program at a time"},
        {{"--bogus", "twice.vyre"}, "--bogus is no option"},
        {{"twice.vyre", "--in"}, "--in takes a value"},
        {{"twice.vyre", "--in", "x"}, "no value of --in"},
        {{"twice.vyre", "--in", "=1"}, "no value of --in"},
        {{"twice.vyre", "--in", "x[=1"}, "no value of --in"},
        {{"twice.vyre", "--in", "x[]=zero"}, "no value of --in"},
        {{"twice.vyre", "--in", "x[-1]=zero"}, "no value of --in"},
        {{"twice.vyre", "--in", "x[4294967295]=zero"}, "no value of --in"},
        {{"twice.vyre", "--in", "x[99999999999]=zero"}, "no value of --in"},
        {{"twice.vyre", "--out", "y[3]"}, "no value of --out"},
        {{"twice.vyre", "--param", "k"}, "no value of --param"},
        {{"twice.vyre", "--size", "y=many"}, "no value of --size"},
        {{"twice.vyre", "--grid", "0"}, "no value of --grid"},
        {{"twice.vyre", "--elements", "1,2,3,4"}, "no value of --elements"},
        {{"twice.vyre", "--workgroup", "x"}, "no value of --workgroup"},
        {{"twice.vyre", "--passes", "0"}, "no value of --passes"},
        {{"twice.vyre", "--tolerance", "-1"}, "no value of --tolerance"},
        {{"twice.vyre", "--tolerance", "nan"}, "no value of --tolerance"},
        {{"twice.vyre", "--repeat", "0"}, "--repeat takes a number"},
        {{"twice.vyre", "--warmup", "-1"}, "--warmup takes a number"},
        {{"twice.vyre", "--strategy", "fast"},
         "--strategy takes auto, replay, workgroup or persistent"},
        {{"--examples", "twice.vyre", "--strategy", "workgroup"}, "not --examples"},
        {{"twice.vyre", "--interface", "x"}, "--interface takes auto, descriptor or address"},
        {{"--examples", "twice.vyre", "--interface", "other"}, "--interface takes"},
        {{"twice.vyre", "--reference", "--check"}, "--reference runs on no device"},
        {{"twice.vyre", "--reference", "--validate"}, "--reference runs on no device"},
        {{"twice.vyre", "--reference=1"}, "--reference takes no value"},
        {{"twice.vyre", "--reference", "--subgroup", "3"}, "--subgroup takes a power of two"},
        {{"twice.vyre", "--reference", "--subgroup", "256"}, "--subgroup takes a power of two"},
        {{"twice.vyre", "--subgroup", "8"}, "--subgroup is for --reference"},
        {{"twice.vyre", "--subgroup=8", "--check"}, "--subgroup is for --reference"},
        {{"--info", "twice.vyre"}, "take no program"},
        {{"--examples", "twice.vyre", "--in", "x=1"}, "from the files' comments"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        int code =
            run_tool("vyre-run", cases[i].a[0], cases[i].a[1], cases[i].a[2], cases[i].a[3], NULL);
        assert_fails(2, cases[i].message, code);
        assert_file_has("err", "usage: 'vyre-run --help'");
    }
}

static void test_run_refuses_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *a[6];
        const char *message;
    } cases[] = {
        {{"missing.vyre"}, "missing.vyre"},
        {{"."}, "cannot be read"},
        {{"broken.vyre"}, "broken.vyre:"},
        {{"kernel.vyk"}, "the kernel file is of version 774778414"},
        {{"--examples", "kernel.vyk"}, "a kernel file has no comments"},
        {{"twice.vyre"}, "buffer 'x' is an input and has no contents"},
        {{"twice.vyre", "--in", "x=1,a"}, "'a' is no u32"},
        {{"twice.vyre", "--in", "x=-1"}, "negative"},
        {{"twice.vyre", "--in", "x=1", "--in", "x=2"}, "given twice"},
        {{"twice.vyre", "--in", "z=1"}, "no input buffer 'z'"},
        {{"twice.vyre", "--in", "y=1"}, "no input buffer 'y'"},
        {{"twice.vyre", "--in", "x=zero"}, "write --in x[COUNT]=zero"},
        {{"twice.vyre", "--in", "x[3]=1,2"}, "3 elements are stated and 2"},
        {{"twice.vyre", "--in", "x[3]=random"}, "wrong number of values"},
        {{"twice.vyre", "--in", "x=@missing.npy"}, "missing.npy"},
        {{"twice.vyre", "--in", "x=@odd.bin"}, "raw file"},
        {{"twice.vyre", "--in", "x=1", "--out", "z"}, "no output buffer 'z'"},
        {{"twice.vyre", "--in", "x=1", "--param", "k=1"}, "no parameter 'k'"},
        {{"twice.vyre", "--in", "x=1", "--size", "y=1"}, "no out buffer without a stated count"},
        {{"twice.vyre", "--in", "x=1", "--grid", "1"}, "grid over buffer 'x'"},
        {{"sized.vyre", "--size", "y=1"}, "does not state its grid"},
        {{"sized.vyre", "--elements", "1", "--size", "y=1"}, "parameter 'k' has no value"},
        {{"sized.vyre", "--elements", "1", "--param", "k=1"}, "give --size y=COUNT"},
        {{"sized.vyre", "--elements", "1", "--param", "k=1.5"}, "no i32"},
        {{"wide.vyre", "--elements=1", "--param", "v=1:2", "--param", "q=1"},
         "'1:2' is no f32x4: 2 of 4 components are given"},
        {{"wide.vyre", "--elements=1", "--param", "q=-1", "--param", "v=1:2:3:4"}, "negative"},
        {{"wide.vyre", "--elements", "1", "--in", "x=1,2"}, "no input buffer 'x'"},
        {{"bytes.vyre", "--in", "x=256"}, "'256' is no u8"},
        {{"bytes.vyre", "--in", "x=@four.npy"}, "dtype '<u4' and the buffer's type is u8"},
    };
    put_text("bytes.vyre", "program b\ngrid over x\nin x : u8[]\nkernel { }\n");
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x=1", "--out",
                              "y=four.npy", NULL),
                     0);
    put_text("odd.bin", "123");
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        int code = run_tool("vyre-run", "--reference", cases[i].a[0], cases[i].a[1], cases[i].a[2],
                            cases[i].a[3], cases[i].a[4], cases[i].a[5], NULL);
        assert_fails(1, cases[i].message, code);
        assert_file_has("err", "error: ");
    }
    assert_fails(1, "3:5: error: ", run_tool("vyre-run", "--reference", "broken.vyre", NULL));
}

static void test_run_prints_outputs(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x=1,2,3", NULL), 0);
    assert_file_has("out", "y = 2, 4, 6\n");
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x[40]=iota", NULL),
                     0);
    assert_file_has("out", ", 62, ... (40 elements)\n");
    assert_int_equal(
        run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x[40]=iota", "--out", "y", NULL),
        0);
    assert_file_has("out", "76, 78\n");
    assert_int_equal(run_tool("vyre-run", "sized.vyre", "--reference", "--size", "y=3", "--param",
                              "k=-2", "--elements", "3", NULL),
                     0);
    assert_file_has("out", "y = -2, -1, 0\n");
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x[0]=zero", NULL),
                     0);
    assert_file_has("out", "y =\n");
}

static void test_run_writes_and_reads_files(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x[100]=iota:5",
                              "--out", "y=y.npy", NULL),
                     0);
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x=@y.npy", "--out",
                              "y=y.bin", NULL),
                     0);
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x=@y.bin", NULL),
                     0);
    assert_file_has("out", "y = 40, 48, 56,");
    size_t size;
    char *data = get_file("y.bin", &size);
    assert_int_equal(size, 400);
    free(data);
    assert_fails(
        1, "dtype '<u4' and the buffer's type is f32",
        run_tool("vyre-run", SHADERS "reduce.vyre", "--reference", "--in", "x=@y.npy", NULL));
    assert_fails(1, "nowhere/y.npy",
                 run_tool("vyre-run", "twice.vyre", "--reference", "--in", "x=1", "--out",
                          "y=nowhere/y.npy", NULL));
}

static void assert_same_files(const char *left, const char *right)
{
    size_t left_size, right_size;
    char *a = get_file(left, &left_size), *b = get_file(right, &right_size);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(left_size, right_size);
    assert_memory_equal(a, b, left_size);
    free(a);
    free(b);
}

/* .npy, raw and .npy again, of elements of every type and every generator. */
static void test_run_writes_and_reads_files_of_every_type(void **state)
{
    (void)state;
#define X(name, number, keyword, size, kind, component, components) {keyword, size},
    static const struct {
        const char *keyword;
        size_t size;
    } types[] = {VYRE_TYPES(X)};
#undef X
    static const char *const generators[] = {"x[9]=random:5", "x[3]=iota:1", "x[5]=fill:1",
                                             "x[1]=zero", "x[0]=zero"};
    static const size_t counts[] = {9, 3, 5, 1, 0};
    for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
        char text[256];
        size_t g = t % VY_COUNT_OF(generators), size;
        if (!types[t].size) {
            continue;
        }
        snprintf(text, sizeof text,
                 "program copy\nworkgroup 8\ngrid over x\nin x : %s[]\nout y : %s[len(x)]\n"
                 "kernel { y[gid.x] = x[gid.x] }\n",
                 types[t].keyword, types[t].keyword);
        put_text("copy.vyre", text);
        assert_int_equal(run_tool("vyre-run", "copy.vyre", "--reference", "--in", generators[g],
                                  "--out", "y=1.npy", NULL),
                         0);
        assert_int_equal(run_tool("vyre-run", "copy.vyre", "--reference", "--in", "x=@1.npy",
                                  "--out", "y=2.bin", NULL),
                         0);
        assert_int_equal(run_tool("vyre-run", "copy.vyre", "--reference", "--in", "x=@2.bin",
                                  "--out", "y=3.npy", NULL),
                         0);
        assert_same_files("1.npy", "3.npy");
        char *raw = get_file("2.bin", &size);
        assert_non_null(raw);
        assert_int_equal(size, counts[g] * types[t].size);
        free(raw);
    }
}

/* The values, the lists and the comparisons of every type, in examples; and on the device. */
static void test_run_takes_every_type(void **state)
{
    (void)state;
    const char *types = VYRE_SOURCE_DIR "/tests/tools/types.vyre";
    const char *reference = has_no_device() ? "--reference" : "--validate";
    assert_int_equal(run_tool("vyre-run", "--examples", reference, types, NULL), 0);
    assert_file_has("out", "types.vyre: 2 of 2 examples pass\n");
    assert_int_equal(run_tool("vyre-run", "wide.vyre", "--reference", "--elements", "2", "--param",
                              "q=0x123456789abcdef0", "--param", "v=1:-2:inf:nan", NULL),
                     0);
    assert_file_has("out", "y = 1311768467463790320, 1311768467463790321\n");
    assert_file_has("out", "z = 1.0:-2.0:inf:nan, 2.0:-1.0:inf:nan\n");
    assert_int_equal(run_tool("vyre-run", "wide.vyre", "--reference", "--elements", "2", "--param",
                              "q=18446744073709551615", "--param", "v=1:-2:-inf:nan", "--json",
                              NULL),
                     0);
    assert_file_has("out", "{\"type\": \"u64\", \"count\": 2, \"elements\": "
                           "[18446744073709551615, 0]}");
    assert_file_has("out", "{\"type\": \"f32x4\", \"count\": 2, \"elements\": "
                           "[[1.0, -2.0, \"-inf\", \"nan\"], [2.0, -1.0, \"-inf\", \"nan\"]]}");
}

/* The interpreter has the subgroups that it is told, or the device's. */
static void test_run_has_subgroups(void **state)
{
    (void)state;
    assert_int_equal(
        run_tool("vyre-run", "lanes.vyre", "--reference", "--subgroup", "4", "--out", "y", NULL),
        0);
    assert_file_has("out", "y = 10, 10, 10, 10, 26, ");
    assert_int_equal(run_tool("vyre-run", "lanes.vyre", "--reference", NULL), 0);
    assert_file_has("out", "y = 528, 528, ");
    assert_int_equal(
        run_tool("vyre-run", "--examples", "--reference", "--subgroup=4", "lanes.vyre", NULL), 0);
    assert_fails(1, "y[0] is 528 on the interpreter, expected 10",
                 run_tool("vyre-run", "--examples", "--reference", "lanes.vyre", NULL));
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_tool("vyre-run", "lanes.vyre", "--check", NULL), 0);
    assert_file_has("out", "agree within 64 ULP, which subgroup_add allows\n");
}

static void test_run_reports_records_races_and_limits(void **state)
{
    (void)state;
    assert_fails(1, "bad.vyre:10:34: trap 7, first in pass 1, segment 0, invocation 3",
                 run_tool("vyre-run", "bad.vyre", "--reference", NULL));
    assert_file_has("err", "reached its limit of 2 passes");
    assert_fails(1, "conflicting plain accesses",
                 run_tool("vyre-run", "bad.vyre", "--races", "--passes", "1", NULL));
    assert_file_has("out", "races: 1 elements");
}

static void test_run_prints_json(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", "exp.vyre", "--reference", "--json", NULL), 0);
    assert_file_has("out", "{\"schema\": \"vyre.run/1\",\n  \"program\": \"e\"");
    assert_file_has("out",
                    "\"y\": {\"type\": \"f32\", \"count\": 8, \"elements\": [1.0, 2.7182817,");
    put_text("inf.vyre", "program i\nworkgroup 64\ngrid over y\nout y : f32[3]\n"
                         "kernel { y[gid.x] = (f32(gid.x) - 1.0) / 0.0 }\n");
    assert_int_equal(run_tool("vyre-run", "inf.vyre", "--reference", "--json", NULL), 0);
    assert_file_has("out", "[\"-inf\", \"nan\", \"inf\"]");
}

static void test_run_examples_need_no_device_by_reference(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", "--examples", "--reference", "twice.vyre",
                              SHADERS "package_closure.vyre", NULL),
                     0);
    assert_file_has("out", "twice.vyre: 1 of 1 examples pass\n");
    assert_file_has("out", "package_closure.vyre: 5 of 5 examples pass\n");
    assert_fails(1, "bad.vyre: error: the file has no example",
                 run_tool("vyre-run", "--examples", "--reference", "twice.vyre", "bad.vyre", NULL));
    assert_file_has("out", "bad.vyre: 0 of 0 examples pass\n");
}

static void test_run_on_a_device(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_tool("vyre-run", "--device", "list", NULL), 0);
    assert_file_has("out", "0: ");
    assert_int_equal(run_tool("vyre-run", "--info", NULL), 0);
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x[1000]=random:3", "--check",
                              "--report", "--time", "--repeat", "3", "--warmup", "1", NULL),
                     0);
    assert_file_has("out", "check: device and interpreter agree bit for bit\n");
    assert_file_has("out", "strategy: replay (");
    assert_file_has("out", "median of 3");
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x[1000]=random:3", "--check",
                              "--report", "--interface", "address", NULL),
                     0);
    assert_file_has("out", "bindings: address, 2 descriptor writes\n"); /* once, where blocks lie */
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x[1000]=random:3", "--check",
                              "--report", "--interface", "descriptor", NULL),
                     0);
    assert_file_has("out", "descriptor, ");
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x[3]=random:3", "--check",
                              "--report", "--strategy", "workgroup", NULL),
                     0);
    assert_file_has("out", "strategy: workgroup (asked for)\n");
    assert_fails(1, "more than one workgroup",
                 run_tool("vyre-run", "twice.vyre", "--in", "x[1000]=random:3", "--strategy",
                          "workgroup", NULL));
    assert_int_equal(run_tool("vyre-run", "exp.vyre", "--check", NULL), 0);
    assert_file_has("out", "ULP, which exp allows\n");
    assert_fails(1, "trap 7, first in pass 1, segment 0, invocation 3",
                 run_tool("vyre-run", "bad.vyre", NULL));
    assert_fails(1, "error: the fixpoint reached its limit of 1 passes",
                 run_tool("vyre-run", "bad.vyre", "--check", "--passes", "1", NULL));
    assert_fails(1, "error: ",
                 run_tool("vyre-run", "twice.vyre", "--in", "x=1", "--device", "no such", NULL));
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x=1", "--json", "--check", NULL),
                     0);
    assert_file_has("out", "\"check\": {\"differences\": 0, \"exact\": true");
    assert_file_has("out", "\"strategy\": \"replay\"");
    /* Instrumented shaders of larger programs take the driver's compiler half a minute. */
    assert_int_equal(run_tool("vyre-run", "--examples", "--validate", "twice.vyre", NULL), 0);
    assert_int_equal(run_tool("vyre-run", "--examples", SHADERS "package_closure.vyre", NULL), 0);
    assert_file_has("out", "package_closure.vyre: 5 of 5 examples pass\n");
}

/* ---- vyre-spv -------------------------------------------------------------------------------- */

static void test_spv_refuses_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *a[4];
        const char *message;
    } cases[] = {
        {{NULL}, "no file is given"},
        {{"--bogus"}, "--bogus is no option"},
        {{"twice.vyre", "sized.vyre"}, "one file at a time"},
        {{"twice.vyre", "--format", "kernel", "--opt"}, "leave out --segment and --opt"},
        {{"twice.vyre", "-o", "x.vyk", "--segment=0"}, "leave out --segment and --opt"},
        {{"twice.vyre", "-o", ".", "--format=kernel"}, "write one file, not a folder"},
        {{"twice.vyre", "--format", "x"}, "--format takes"},
        {{"twice.vyre", "--target", "vulkan1.1"}, "--target takes"},
        {{"twice.vyre", "--interface", "x"}, "--interface takes descriptor or address"},
        {{"twice.vyre", "--dump-after", "x"}, "no pass 'x'"},
        {{"twice.vyre", "--segment", "x"}, "--segment takes"},
        {{"twice.vyre", "--segment", "1"}, "no segment 1"},
        {{"twice.vyre", "-o"}, "-o takes a value"},
        {{"twice.vyre", "-o", ""}, "-o takes a file"},
        {{SHADERS "package_closure.vyre", "-o", "all.spv"}, "2 segments do not go into one file"},
        {{SHADERS "package_closure.vyre", "--format", "bin"}, "2 segments do not go into one file"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        int code =
            run_tool("vyre-spv", cases[i].a[0], cases[i].a[1], cases[i].a[2], cases[i].a[3], NULL);
        assert_fails(2, cases[i].message, code);
        assert_file_has("err", "usage: 'vyre-spv --help'");
    }
    assert_int_equal(run_tool("vyre-spv", "--help", NULL), 0);
    assert_file_has("out", "trivial-phi");
}

static void test_spv_refuses_inputs(void **state)
{
    (void)state;
    static const unsigned char magic[] = {3, 2, 0x23, 7};
    put_file("short.spv", magic, sizeof magic);
    put_file("odd.spv", "\3\2\x23\7x", 5);
    assert_fails(1, "missing.vyre", run_tool("vyre-spv", "missing.vyre", NULL));
    assert_fails(1, "3:5: error: ", run_tool("vyre-spv", "broken.vyre", NULL));
    assert_fails(1, "of version 774778414", run_tool("vyre-spv", "kernel.vyk", NULL));
    assert_fails(1, "ends in its header", run_tool("vyre-spv", "short.spv", NULL));
    assert_fails(1, "no words of 4", run_tool("vyre-spv", "odd.spv", NULL));
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.spv", NULL), 0);
    assert_fails(1, "is SPIR-V already",
                 run_tool("vyre-spv", "twice.spv", "--format", "text", NULL));
    assert_fails(1, "nowhere/", run_tool("vyre-spv", "twice.vyre", "-o", "nowhere/a.spv", NULL));
}

static void test_spv_writes_every_form(void **state)
{
    (void)state;
    size_t size, c_size;
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", NULL), 0);
    assert_file_has("out", "; twice.seg0\n");
    assert_file_has("out", "OpEntryPoint GLCompute");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--format", "text", NULL), 0);
    assert_file_has("out", "program twice\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--format", "c", NULL), 0);
    assert_file_has("out", "static const uint32_t twice_seg0[");
    assert_file_has("out", "    0x07230203, 0x00010600,");
    assert_file_has("out", " * binding 0: in x : u32, 4 bytes an element\n");
    assert_int_equal(run_tool("vyre-spv", "wide.vyre", "--format", "c", NULL), 0);
    assert_file_has("out", " * binding 1: out z : f32x4, 16 bytes an element\n"
                           " * param q : u64, words 0 to 1\n * param v : f32x4, words 2 to 5 */\n");
    assert_int_equal(run_tool("vyre-spv", "wide.vyre", "--format", "json", NULL), 0);
    assert_file_has("out", "\"type\": \"u64\", \"element_size\": 8, ");
    assert_file_has("out", "{\"name\": \"v\", \"type\": \"f32x4\", \"word\": 2, \"words\": 4}");
    assert_int_equal(
        run_tool("vyre-spv", "twice.vyre", "--target", "vulkan1.2", "--format", "json", NULL), 0);
    assert_file_has("out", "{\"schema\": \"vyre.spv/1\", \"program\": \"twice\", \"target\": "
                           "\"vulkan1.2\"");
    assert_file_has("out", "\"words\": [119734787, 66816,");
    assert_file_has("out", "\"interface\": \"descriptor\"");
    assert_int_equal(
        run_tool("vyre-spv", "twice.vyre", "--interface", "address", "--format", "json", NULL), 0);
    assert_file_has("out", "\"interface\": \"address\"");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.spv", NULL), 0);
    char *file = get_file("twice.spv", &size);
    assert_non_null(file);
    assert_memory_equal(file, "\3\2\x23\7\0\6\1\0", 8);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--format", "bin", NULL), 0);
    char *printed = get_file("out", &c_size);
    assert_int_equal(c_size, size);
    assert_memory_equal(printed, file, size);
    free(printed);
    free(file);
    (void)unlink("package_closure.seg0.spv");
    (void)unlink("package_closure.seg1.spv");
    assert_int_equal(run_tool("vyre-spv", SHADERS "package_closure.vyre", "-o", "./", NULL), 0);
    file = get_file("package_closure.seg1.spv", &size);
    assert_non_null(file);
    free(file);
    assert_int_equal(run_tool("vyre-spv", "package_closure.seg0.spv", NULL), 0);
    assert_file_has("out", "OpEntryPoint GLCompute");
}

static void test_spv_inspects(void **state)
{
    (void)state;
    static const char *const targets[] = {"vulkan1.2", "vulkan1.3"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_tool("vyre-spv", SHADERS "package_closure.vyre", "--validate",
                                  "--stats", "-g", "--target", targets[i], NULL),
                         0);
        assert_file_has("out", "package_closure.seg1: valid for vulkan1.");
        assert_file_has("out", " instructions, ");
    }
    put_text("lowered.vyre", "program lowered\nworkgroup 8\ninout a : bf16[]\n"
                             "kernel { let s = subgroup_add(u64(gid.x))\n"
                             "  a[gid.x] = sqrt(f32(f16(a[0]))) / f32(s) }\n");
    assert_int_equal(run_tool("vyre-spv", "lowered.vyre", "--stats", NULL), 0);
    static const char *const lowered[] = {
        "f16: in f32, rounded", "bf16: in f32", "f32 division: by integers, or constant 4",
        "f32 square root: by integers", "subgroup reductions of 64 bits: lane by lane"};
    for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++) {
        assert_file_has("out", lowered[i]);
    }
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--stats", NULL), 0);
    size_t plain_size = 0;
    char *plain = get_file("out", &plain_size);
    assert_non_null(plain);
    assert_null(strstr(plain, "lowered"));
    free(plain);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--requires", NULL), 0);
    assert_file_has("out", "vulkanMemoryModel\n");
    assert_int_equal(run_tool("vyre-spv", SHADERS "package_closure.vyre", "--interface", "address",
                              "--validate", "--stats", "--requires", NULL),
                     0);
    assert_file_has("out", "package_closure.seg1: valid for vulkan1.");
    assert_file_has("out", "bufferDeviceAddress\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--dump-after", "build", NULL), 0);
    assert_file_has("out", "; segment 0 after build\nblock 1:\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--dump-after", "all", NULL), 0);
    assert_file_has("out", "; segment 0 after fold\nblock 1:\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.spv", "--requires", "--validate", NULL), 0);
    assert_file_has("out", "OpCapability Shader\n");
    assert_file_has("out", "twice: valid for vulkan1.3");
    const char *types = VYRE_SOURCE_DIR "/tests/tools/types.vyre";
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run_tool("vyre-spv", types, "--validate", "--stats", "--requires",
                                  "--target", targets[i / 2], "--interface",
                                  i % 2 ? "address" : "descriptor", NULL),
                         0);
        assert_file_has("out", "types.seg0: valid for vulkan1.");
        assert_file_has("out",
                        ", integers of 8 and 16 and 32 and 64 bits, floats of 32 and 64 bits\n");
        assert_file_has("out", "shaderInt64\n");
        assert_file_has("out", "shaderFloat64\n");
        assert_file_has("out", "storageBuffer8BitAccess\n");
        assert_file_has("out", "storageBuffer16BitAccess\n");
    }
    assert_int_equal(run_tool("vyre-spv", "lanes.vyre", "--stats", NULL), 0);
    assert_file_has("out", ", 2 subgroup operations, ");
    int code = run_tool("vyre-spv", "twice.vyre", "--opt", "--validate", NULL);
    if (code != 0) {
        assert_fails(1, "spirv-opt, which was not found", code);
    }
}

static void test_spv_writes_kernel_files(void **state)
{
    (void)state;
    size_t size, again_size;
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.vyk", NULL), 0);
    char *file = get_file("twice.vyk", &size);
    assert_non_null(file);
    assert_memory_equal(file, "VYRK\5\0\0\0", 8);
    /* The same bytes from the same program, whether as text, on standard output or as kernel. */
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--format", "kernel", NULL), 0);
    char *again = get_file("out", &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, file, size);
    free(again);
    assert_int_equal(run_tool("vyre-spv", "twice.vyk", "-o", "again.vyk", NULL), 0);
    again = get_file("again.vyk", &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, file, size);
    free(again);
    /* One target has half of the words. */
    assert_int_equal(
        run_tool("vyre-spv", "twice.vyre", "-o", "half.vyk", "--target", "vulkan1.2", NULL), 0);
    again = get_file("half.vyk", &again_size);
    assert_in_range(again_size, size / 3, size * 2 / 3);
    free(again);
    free(file);
    /* And what else is asked of a program is asked of its kernel file. */
    assert_int_equal(run_tool("vyre-spv", "twice.vyk", "--validate", "--target", "vulkan1.2", NULL),
                     0);
    assert_file_has("out", "twice.seg0: valid for vulkan1.2");
    assert_int_equal(run_tool("vyre-spv", "twice.vyk", "--format", "text", NULL), 0);
    assert_file_has("out", "program twice\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyk", "--dump-after", "build", NULL), 0);
    assert_file_has("out", "; segment 0 after build\nblock 1:\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.spv", NULL), 0);
    assert_fails(1, "is SPIR-V already", run_tool("vyre-spv", "twice.spv", "-o", "x.vyk", NULL));
}

static void test_run_takes_kernel_files(void **state)
{
    (void)state;
    size_t size;
    assert_int_equal(run_tool("vyre-spv", "bad.vyre", "-o", "bad.vyk", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.vyk", NULL), 0);
    assert_int_equal(run_tool("vyre-run", "twice.vyk", "--reference", "--in", "x=1,2,3", NULL), 0);
    assert_file_has("out", "y = 2, 4, 6\n");
    /* Places are those of the text. */
    assert_fails(1, "bad.vyk:10:34: trap 7, first in pass 1, segment 0, invocation 3",
                 run_tool("vyre-run", "bad.vyk", "--reference", NULL));
    char *file = get_file("twice.vyk", &size);
    assert_non_null(file);
    put_file("cut.vyk", file, size - 1);
    assert_fails(1, "cut.vyk: error: the kernel file is damaged: its end is missing",
                 run_tool("vyre-run", "cut.vyk", "--reference", "--in", "x=1", NULL));
    file[size / 2] ^= 1;
    put_file("flipped.vyk", file, size);
    assert_fails(1, "its bytes do not give its checksum",
                 run_tool("vyre-run", "flipped.vyk", "--reference", "--in", "x=1", NULL));
    free(file);
    if (has_no_device()) {
        return;
    }
    assert_int_equal(
        run_tool("vyre-run", "twice.vyk", "--in", "x[1000]=random:3", "--check", "--report", NULL),
        0);
    assert_file_has("out", "check: device and interpreter agree bit for bit\n");
    assert_file_has("out", "kernel: from the file\n");
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x=1", "--report", NULL), 0);
    assert_file_has("out", "kernel: compiled\n");
    assert_fails(1, "bad.vyk:10:34: trap 7, first in pass 1, segment 0, invocation 3",
                 run_tool("vyre-run", "bad.vyk", NULL));
    /* Float modes of 64 bits and reconvergence are choices where the program makes them ones. */
    put_text("choices.vyre", "program c\nworkgroup 8\ngrid over y\nout y : f64[8]\nkernel {\n"
                             "let s = subgroup_add(gid.x)\ny[gid.x] = f64(s) / f64(gid.x) }\n");
    assert_int_equal(run_tool("vyre-spv", "choices.vyre", "-o", "choices.vyk", NULL), 0);
    assert_int_equal(run_tool("vyre-run", "choices.vyk", "--check", "--report", NULL), 0);
    assert_file_has("out", "kernel: from the file\n");
    assert_file_has("out", "y = inf, 28.0, 14.0, 9.333333333333334,");
    /* Words for another interface only: the device's are compiled from the program. */
    assert_int_equal(
        run_tool("vyre-spv", "twice.vyre", "-o", "address.vyk", "--interface", "address", NULL), 0);
    assert_int_equal(run_tool("vyre-run", "address.vyk", "--in", "x=1,2", "--check", NULL), 0);
}

static void expect_file_without(const char *path, const char *text)
{
    size_t size;
    char *data = get_file(path, &size);
    assert_non_null(data);
    assert_null(strstr(data, text));
    free(data);
}

static void test_spv_joins_atomics_where_asked(void **state)
{
    (void)state;
    put_text("counts.vyre", "program counts\nworkgroup 8\ninout n : u32[]\nkernel {\n"
                            "atomic_add(n[0], 1)\nlet k = atomic_add(n[1], 1)\nn[k + 2] = k }\n");
    assert_int_equal(run_tool("vyre-spv", "counts.vyre", "--requires", NULL), 0);
    expect_file_without("out", "VK_SUBGROUP_FEATURE");
    assert_int_equal(
        run_tool("vyre-spv", "counts.vyre", "--aggregate", "--validate", "--requires", NULL), 0);
    assert_file_has("out", "counts.seg0: valid for vulkan1.3");
    assert_file_has("out", "VK_SUBGROUP_FEATURE_BALLOT_BIT\n");
    assert_file_has("out", "shaderMaximalReconvergence\n");
    assert_int_equal(run_tool("vyre-spv", "counts.vyre", "--aggregate", NULL), 0);
    assert_file_has("out", "OpExtension \"SPV_KHR_maximal_reconvergence\"\n");
    assert_file_has("out", " MaximallyReconvergesKHR\n");
    expect_file_without("out", "SubgroupUniformControlFlowKHR");
    /* Kernel files have plain words and joined ones: twice as many; of a program without such
     * atomics there is nothing more. */
    size_t plain, joined, same;
    assert_int_equal(run_tool("vyre-spv", "counts.vyre", "-o", "plain.vyk", NULL), 0);
    free(get_file("plain.vyk", &plain));
    assert_int_equal(run_tool("vyre-spv", "counts.vyre", "-o", "joined.vyk", "--aggregate", NULL),
                     0);
    free(get_file("joined.vyk", &joined));
    assert_in_range(joined, VY_AGGREGATE_ON_GPUS ? plain : plain * 2, plain * 5 / 2);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "plain.vyk", NULL), 0);
    free(get_file("plain.vyk", &plain));
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "joined.vyk", "--aggregate", NULL),
                     0);
    free(get_file("joined.vyk", &same));
    assert_int_equal(same, plain);
}

/* A module cut or changed anywhere is shown or refused, never a crash. */
static void test_spv_survives_hostile_modules(void **state)
{
    (void)state;
    size_t size;
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.spv", NULL), 0);
    char *file = get_file("twice.spv", &size);
    assert_non_null(file);
    uint32_t bits = 5;
    for (int i = 0; i < 150; i++) {
        bits = bits * 1664525u + 1013904223u;
        size_t at = (bits >> 8) % size, cut = i % 3 == 0 ? at : size;
        char old = file[at];
        file[at] = (char)(bits >> 3);
        put_file("hostile.spv", file, cut);
        file[at] = old;
        int code = run_tool("vyre-spv", "hostile.spv", "--stats", "--validate", "--requires",
                            "--format", "asm", NULL);
        if (code != 0 && code != 1) {
            fail_msg("byte %zu, size %zu: code %d", at, cut, code);
        }
    }
    /* The other byte order is read too. */
    for (size_t i = 0; i + 4 <= size; i += 4) {
        char word[4] = {file[i + 3], file[i + 2], file[i + 1], file[i]};
        memcpy(file + i, word, 4);
    }
    put_file("big.spv", file, size);
    assert_int_equal(run_tool("vyre-spv", "big.spv", "--validate", NULL), 0);
    free(file);
}

/* An interrupt that comes when the tool has begun to read. */
static void test_spv_ends_at_an_interrupt(void **state)
{
    (void)state;
    int ends[2], waiting = 1, status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[0], 0);
        (void)close(ends[1]);
        execl(VYRE_BINARY_DIR "/bin/vyre-spv", "vyre-spv", "-", (char *)NULL);
        _exit(125);
    }
    assert_int_equal(write(ends[1], "p", 1), 1);
    for (int i = 0; i < 2000 && waiting; i++) {
        const struct timespec pause = {0, 5000000};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(ioctl(ends[0], FIONREAD, &waiting), 0);
    }
    assert_int_equal(waiting, 0);
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
}

/* ---- vyre-demo ------------------------------------------------------------------------------- */

static void test_demo_answers(void **state)
{
    (void)state;
    put_text("Packages", "Package: a\n\nPackage: b\nDepends: a\nProvides: v\n\nPackage: c\n"
                         "Depends: b | gone\n\nPackage: d\nDepends: gone\n\nPackage: e\n");
    const char *reference = has_no_device() ? "--reference" : "--limit=2";
    assert_int_equal(run_tool("vyre-demo", "--program", SHADERS "package_closure.vyre", "--input",
                              "Packages", reference, "a", NULL),
                     0);
    assert_file_has("out", "5 packages, 2 clauses, 2 alternatives");
    assert_file_has("out", "1 clauses that nothing");
    assert_file_has("out", "without a, 2 of 5 packages break:\n  gone  0:      1  a\n"
                           "  pass  1:      1  b\n  pass  2:      1  c\n"
                           "passes: 3, of 2 segments each; converged: yes\n");
    assert_int_equal(run_tool("vyre-demo", "--program", SHADERS "package_closure.vyre", "--input",
                              "Packages", "--reference", "v", NULL),
                     0);
    assert_file_has("out", "without v, 1 of 5 packages break");
    assert_fails(1, "no package of Packages is called or provides 'gone'",
                 run_tool("vyre-demo", "--program", SHADERS "package_closure.vyre", "--input",
                          "Packages", "--reference", "gone", NULL));
    assert_fails(1, "missing", run_tool("vyre-demo", "--input", "missing", NULL));
    assert_fails(1, "missing.vyre",
                 run_tool("vyre-demo", "--input", "Packages", "--program", "missing.vyre", NULL));
    assert_fails(2, "one package at a time", run_tool("vyre-demo", "a", "b", NULL));
    assert_fails(2, "--limit takes a number", run_tool("vyre-demo", "--limit", "x", NULL));
    assert_fails(2, "--bogus is no option", run_tool("vyre-demo", "--bogus", NULL));
    assert_int_equal(run_tool("vyre-demo", "--help", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_refuses_command_lines),
        cmocka_unit_test(test_run_refuses_inputs),
        cmocka_unit_test(test_run_prints_outputs),
        cmocka_unit_test(test_run_writes_and_reads_files),
        cmocka_unit_test(test_run_writes_and_reads_files_of_every_type),
        cmocka_unit_test(test_run_takes_every_type),
        cmocka_unit_test(test_run_has_subgroups),
        cmocka_unit_test(test_run_reports_records_races_and_limits),
        cmocka_unit_test(test_run_prints_json),
        cmocka_unit_test(test_run_examples_need_no_device_by_reference),
        cmocka_unit_test(test_run_on_a_device),
        cmocka_unit_test(test_spv_refuses_command_lines),
        cmocka_unit_test(test_spv_refuses_inputs),
        cmocka_unit_test(test_spv_writes_every_form),
        cmocka_unit_test(test_spv_inspects),
        cmocka_unit_test(test_spv_writes_kernel_files),
        cmocka_unit_test(test_run_takes_kernel_files),
        cmocka_unit_test(test_spv_joins_atomics_where_asked),
        cmocka_unit_test(test_spv_survives_hostile_modules),
        cmocka_unit_test(test_spv_ends_at_an_interrupt),
        cmocka_unit_test(test_demo_answers),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

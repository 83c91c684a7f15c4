/* vyre-run --bounds and vyre_program_record_bounds: accesses out of bounds are reported with their
 * line, element and invocation, on the interpreter and on the device, and nothing else is. */
#include "tests/support/fail_allocator.h"
#include "tests/tools/support.h"
#include "vyre/vyre.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Line 14 stores one element beyond the end. */
static const char life_text[] = "program life\n"
                                "workgroup 64\n"
                                "grid over cells\n"
                                "fixpoint 3\n"
                                "in rule : u32[2]\n"
                                "inout cells : u32[]\n"
                                "scratch next : u32[len(cells)]\n"
                                "kernel {\n"
                                "    let i = gid.x\n"
                                "    if i < len(cells) { next[i] = cells[i] + rule[i & 1] }\n"
                                "    grid_sync\n"
                                "    if i < len(cells) && pass == 2 {\n"
                                "        let k = i + 1\n"
                                "        cells[k] = next[i]\n"
                                "    }\n"
                                "}\n";

/* What is not needed is no access; what is out of bounds in the end loads of `x` alone. */
static const char guarded_text[] =
    "program guarded\n"
    "workgroup 32\n"
    "grid over y\n"
    "const T : u32[] = [1, 2, 3, 4]\n"
    "in x : u32[]\n"
    "inout y : u32[]\n"
    "fn at(i: i32) -> u32 { return x[i] }\n"
    "kernel {\n"
    "    let i = gid.x\n"
    "    if i < len(x) && x[i] > 1 && T[x[i] - 2] > 0 { y[i] = x[i] }\n"
    "    if i >= len(x) || x[i] > 1 { return }\n"
    "    y[i] = select(i + 1 < len(x), x[i + 1], 7) + select(i == 0, 7, x[i - 1])\n"
    "    var k = i\n"
    "    while k < len(x) && x[k] < 2 { k = k + 1 }\n"
    "    if i == 1 { y[i] = at(i32(k) - 9) }\n"
    "}\n";

#define EACH(statement)                                                                            \
    "program each\nworkgroup 64\ngrid over a\nconst T : u32[] = [1, 2, 3]\ninout a : u32[]\n"      \
    "inout b : f32x4[]\nshared w : u32[64]\nkernel {\n    var p : u32[5]\n    let i = gid.x\n"     \
    "    " statement "\n    a[i] = p[0]\n}\n"
#define EACH_LINE 11

static int setup(void **state)
{
    (void)state;
    enter_folder("outside");
    put_text("life.vyre", life_text);
    put_text("guarded.vyre", guarded_text);
    return 0;
}

static void assert_life_is_found(const char *file, const char *how)
{
    char text[256];
    snprintf(text, sizeof text,
             "%s:14:9: error: store out of bounds: element 40 of 40 of 'cells', first in pass 2, "
             "segment 1, invocation 39; ",
             file);
    int code = run_tool("vyre-run", file, "--in", "cells[40]=iota", "--in", "rule=1,2", how, NULL);
    assert_int_equal(code, 0);
    size_t size = 0;
    char *plain = get_file("out", &size);
    code = run_tool("vyre-run", file, "--in", "cells[40]=iota", "--in", "rule=1,2", "--bounds", how,
                    NULL);
    assert_int_equal(code, 1);
    assert_file_has("err", text);
    /* What the program computes stays as it is. */
    char *found = get_file("out", &size);
    assert_non_null(strstr(plain, "cells = "));
    assert_string_equal(found, plain);
    free(found);
    free(plain);
}

static void test_bounds_finds_a_planted_store(void **state)
{
    (void)state;
    assert_life_is_found("life.vyre", "--reference");
    assert_file_has("err", "    14 |         cells[k] = next[i]\n");
    if (has_no_device()) {
        return;
    }
    assert_life_is_found("life.vyre", "--check");
    assert_int_equal(
        run_tool("vyre-spv", "life.vyre", "--format", "kernel", "-o", "life.vyk", NULL), 0);
    assert_life_is_found("life.vyk", "--check");
    static const char *const ways[] = {"replay", "workgroup", "persistent"};
    for (size_t i = 0; i < VY_COUNT_OF(ways); i++) {
        int code = run_tool("vyre-run", "life.vyre", "--in", "cells[64]=iota", "--in", "rule=1,2",
                            "--bounds", "--strategy", ways[i], NULL);
        assert_int_equal(code, 1);
        assert_file_has("err", "element 64 of 64 of 'cells', first in pass 2, segment 1, "
                               "invocation 63");
    }
}

static void test_bounds_leaves_guarded_accesses_alone(void **state)
{
    (void)state;
    const char *ways[] = {"--reference", "--check"};
    for (size_t i = 0; i < (has_no_device() ? 1 : 2); i++) {
        int code = run_tool("vyre-run", "guarded.vyre", "--in", "x=1,3,4,5,1,1,1,1,1", "--in",
                            "y[40]=zero", "--bounds", ways[i], NULL);
        assert_int_equal(code, 0);
        assert_file_has("out", "y = 10, 3, 4, 5, ");
        code = run_tool("vyre-run", "guarded.vyre", "--in", "x=1,1,4,5,1,1,1,1,1", "--in",
                        "y[40]=zero", "--bounds", ways[i], NULL);
        assert_int_equal(code, 1);
        assert_file_has("err", "guarded.vyre:7:31: error: load out of bounds: element -7 of 9 of "
                               "'x', first in pass 0, segment 0, invocation 1; ");
    }
}

static void test_bounds_knows_every_kind_of_access(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *what;
    } rows[] = {
        {EACH("p[i] = 1"), "5", "store out of bounds: element 5 of 5 of 'p', "},
        {EACH("p[0] = p[i + 1]"), "12", "load out of bounds: element 5 of 5 of 'p', "},
        {EACH("w[i + 1] = 1"), "5", "store out of bounds: element 64 of 64 of 'w', "},
        {EACH("p[0] = w[i * 2]"), "12", "load out of bounds: element 64 of 64 of 'w', "},
        {EACH("p[0] = T[i]"), "12", "load out of bounds: element 3 of 3 of 'T', "},
        {EACH("b[u64(i) * 0x100000000ul] = f32x4(1)"), "5",
         "store out of bounds: element 4294967296 of 9 of 'b', "},
        {EACH("let v = b[i].y"), "13", "load out of bounds: element 9 of 9 of 'b', "},
        {EACH("atomic_add(a[i * 2], 1)"), "5", "atomic out of bounds: element 64 of 64 of 'a', "},
        {EACH("let u = uniform w[64]"), "23", "load out of bounds: element 64 of 64 of 'w', "},
        {EACH("for j in 0 .. a[i + 64] { p[0] = j }"), "19",
         "load out of bounds: element 64 of 64 of 'a', "},
        {EACH("switch a[i * 64] { case 1 { p[0] = 2 } }"), "12",
         "load out of bounds: element 64 of 64 of 'a', "},
    };
    for (size_t r = 0; r < VY_COUNT_OF(rows); r++) {
        put_text("each.vyre", rows[r].text);
        for (int device = 0; device < (has_no_device() ? 1 : 2); device++) {
            char text[256];
            int code = run_tool("vyre-run", "each.vyre", "--in", "a[64]=iota", "--in", "b[9]=zero",
                                "--bounds", device ? "--check" : "--reference", NULL);
            assert_int_equal(code, 1);
            snprintf(text, sizeof text, "each.vyre:%d:%s: error: %s", EACH_LINE, rows[r].where,
                     rows[r].what);
            assert_file_has("err", text);
        }
    }
}

static void test_bounds_is_of_plain_runs(void **state)
{
    (void)state;
    static const char *const others[] = {"--bisect", "--step", "--examples"};
    for (size_t i = 0; i < VY_COUNT_OF(others); i++) {
        assert_int_equal(run_tool("vyre-run", "life.vyre", "--bounds", others[i], NULL), 2);
        assert_file_has("err", others[i]);
    }
    assert_int_equal(run_tool("vyre-run", "life.vyre", "--in", "cells[40]=iota", "--in", "rule=1,2",
                              "--bounds", "--reference", "--json", NULL),
                     1);
    assert_file_has("out", "\"record\": {\"kind\": \"store_outside\", \"code\": 1, \"line\": 14, ");
}

/* ---- The library's call ---------------------------------------------------------------------- */

static vyre_program *parse(const char *text, const vyre_allocator *allocator)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(text, strlen(text), "t.vyre", allocator, &program, &diag),
                     VYRE_OK);
    return program;
}

static void test_record_bounds_is_for_new_programs(void **state)
{
    (void)state;
    vyre_diag diag;
    vyre_kernel *kernel = NULL;
    void *data = NULL;
    size_t size = 0;
    assert_int_equal(vyre_program_record_bounds(NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_program *program = parse(life_text, NULL), *plain = parse(life_text, NULL);
    assert_int_equal(vyre_program_record_bounds(program, &diag), VYRE_OK);
    assert_int_equal(vyre_program_record_bounds(program, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(vyre_program_hash(program) != vyre_program_hash(plain));
    assert_int_equal(vyre_kernel_compile(program, NULL, &kernel, &diag), VYRE_OK);
    const vyre_kernel *kernels[] = {kernel};
    assert_int_equal(vyre_kernel_save(kernels, 1, NULL, &data, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "records its bounds"));
    vyre_kernel_destroy(&kernel);
    assert_int_equal(vyre_kernel_compile(plain, NULL, &kernel, &diag), VYRE_OK);
    assert_int_equal(vyre_program_record_bounds(plain, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&plain);
    vyre_program_destroy(&program);
}

/* A store below that many ifs. */
static void make_deep(int depth, char *out)
{
    out += sprintf(out, "program deep\nworkgroup 1\nout a : u32[1]\nkernel {\n");
    for (int i = 0; i < depth; i++) {
        out += sprintf(out, "if gid.x == 0 {\n");
    }
    out += sprintf(out, "a[gid.x] = 1\n");
    for (int i = 0; i <= depth; i++) {
        out += sprintf(out, "}\n");
    }
}

static void test_record_bounds_refuses_what_is_too_deep(void **state)
{
    (void)state;
    static char text[16384];
    vyre_diag diag;
    int refused = 0, taken = 0;
    for (int depth = 0; depth < (int)VYRE_MAX_NESTING; depth++) {
        vyre_program *program = NULL;
        make_deep(depth, text);
        vyre_result code = vyre_program_parse(text, strlen(text), "t.vyre", NULL, &program, &diag);
        if (code != VYRE_OK) {
            break;
        }
        code = vyre_program_record_bounds(program, &diag);
        taken += code == VYRE_OK;
        refused += code != VYRE_OK;
        if (code != VYRE_OK) {
            assert_int_equal(code, VYRE_ERROR_INVALID_PROGRAM);
            assert_non_null(strstr(diag.message, "nested"));
        }
        vyre_program_destroy(&program);
    }
    assert_in_range(refused, 1, 3);
    assert_true(taken > 200);
}

static void test_record_bounds_survives_each_failed_allocation(void **state)
{
    (void)state;
    for (size_t n = 1; n < 10000; n++) {
        vy_fail_allocator fail = {0};
        vyre_allocator allocator = vy_fail_allocator_get(&fail);
        vyre_diag diag;
        vyre_program *program = parse(guarded_text, &allocator);
        fail.calls = 0;
        fail.fail_at = n;
        vyre_result code = vyre_program_record_bounds(program, &diag);
        vyre_program_destroy(&program);
        assert_int_equal(fail.live_blocks, 0);
        if (code == VYRE_OK) {
            assert_true(n > 1);
            return;
        }
        assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
    }
    fail_msg("it never succeeds");
}

static void test_record_bounds_takes_every_installed_program(void **state)
{
    (void)state;
    DIR *folder = opendir(VYRE_SOURCE_DIR "/shaders");
    assert_non_null(folder);
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".vyre") != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/shaders/%s", VYRE_SOURCE_DIR, entry->d_name);
        size_t size = 0;
        char *text = get_file(path, &size);
        assert_non_null(text);
        vyre_diag diag;
        vyre_kernel *kernel = NULL;
        vyre_program *program = parse(text, NULL);
        if (vyre_program_record_bounds(program, &diag) != VYRE_OK ||
            vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
            fail_msg("%s: %s", entry->d_name, diag.message);
        }
        vyre_kernel_destroy(&kernel);
        vyre_program_destroy(&program);
        free(text);
        count++;
    }
    closedir(folder);
    assert_true(count > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_finds_a_planted_store),
        cmocka_unit_test(test_bounds_leaves_guarded_accesses_alone),
        cmocka_unit_test(test_bounds_knows_every_kind_of_access),
        cmocka_unit_test(test_bounds_is_of_plain_runs),
        cmocka_unit_test(test_record_bounds_is_for_new_programs),
        cmocka_unit_test(test_record_bounds_refuses_what_is_too_deep),
        cmocka_unit_test(test_record_bounds_survives_each_failed_allocation),
        cmocka_unit_test(test_record_bounds_takes_every_installed_program),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

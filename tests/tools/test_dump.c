/* vyre-run --dump-buffers: every buffer's contents, scratch and inputs too, and what the index
 * says. */
#include "tests/tools/support.h"
#include "tools/common/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mix_text[] = "program mix\nworkgroup 64\ngrid over x\nfixpoint 2\n"
                               "param k : f32\n"
                               "in x : u32[]\n"
                               "uniform u : f32x4[2]\n"
                               "inout a : f32[]\n"
                               "scratch t : u16[len(x)]\n"
                               "scratch keep s : u64[3]\n"
                               "shared w : u32[64]\n"
                               "out y : u32[len(x)]\n"
                               "kernel {\n"
                               "    w[lid.x] = x[gid.x]\n"
                               "    barrier\n"
                               "    t[gid.x] = u16(w[lid.x] + 1)\n"
                               "    if gid.x < 3 { s[gid.x] = u64(gid.x) << 40 }\n"
                               "    grid_sync\n"
                               "    y[gid.x] = u32(t[gid.x]) * 2\n"
                               "    a[gid.x] = a[gid.x] * k + u[1].y\n"
                               "}\n";

static int setup(void **state)
{
    (void)state;
    enter_folder("dump");
    put_text("mix.vyre", mix_text);
    return 0;
}

/* The elements of a file that was dumped; freed by free(). */
static void *read_elements(const char *path, vyre_type type, uint32_t wanted)
{
    vyre_diag diag;
    size_t size;
    void *elements = NULL;
    uint32_t count = 0;
    char *bytes = get_file(path, &size);
    assert_non_null(bytes);
    if (vy_npy_parse(bytes, size, type, &elements, &count, &diag) != VYRE_OK) {
        fail_msg("%s: %s", path, diag.message);
    }
    free(bytes);
    assert_int_equal(count, wanted);
    return elements;
}

static void run_mix(const char *folder, const char *option)
{
    assert_int_equal(run_tool("vyre-run", "mix.vyre", "--param", "k=0.5", "--in", "x[70]=iota:5",
                              "--in", "u=0:0:0:0,1:10:100:1000", "--in", "a=4,8", "--dump-buffers",
                              folder, option, NULL),
                     0);
}

static void check_mix(const char *folder)
{
    char path[64], names[4][16] = {"x", "y", "t", "s"};
    snprintf(path, sizeof path, "%s/%s.npy", folder, names[0]);
    uint32_t *x = read_elements(path, VYRE_TYPE_U32, 70);
    snprintf(path, sizeof path, "%s/%s.npy", folder, names[1]);
    uint32_t *y = read_elements(path, VYRE_TYPE_U32, 70);
    snprintf(path, sizeof path, "%s/%s.npy", folder, names[2]);
    uint16_t *t = read_elements(path, VYRE_TYPE_U16, 70);
    snprintf(path, sizeof path, "%s/%s.npy", folder, names[3]);
    uint64_t *s = read_elements(path, VYRE_TYPE_U64, 3);
    for (uint32_t i = 0; i < 70; i++) {
        assert_int_equal(x[i], i + 5);
        assert_int_equal(t[i], i + 6);
        assert_int_equal(y[i], 2 * (i + 6));
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(s[i] == (uint64_t)i << 40);
    }
    snprintf(path, sizeof path, "%s/a.npy", folder);
    float *a = read_elements(path, VYRE_TYPE_F32, 2);
    assert_true(a[0] == 16.0f && a[1] == 17.0f); /* (4 / 2 + 10) / 2 + 10 */
    snprintf(path, sizeof path, "%s/u.npy", folder);
    float *u = read_elements(path, VYRE_TYPE_F32X4, 2);
    assert_true(u[5] == 10.0f && u[7] == 1000.0f);
    void *all[] = {x, y, t, s, a, u};
    for (size_t i = 0; i < VY_COUNT_OF(all); i++) {
        free(all[i]);
    }
}

static void check_index(const char *path)
{
    static const char *const texts[] = {
        "{\"schema\": \"vyre.buffers/1\", \"program\": \"mix\", \"device\": ",
        ", \"passes\": 2, \"buffers\": [\n  {\"name\": \"x\", ",
        "{\"name\": \"u\", \"mode\": \"uniform\", \"type\": \"f32x4\", \"count\": 2, "
        "\"bytes\": 32, \"file\": \"u.npy\"}",
        "{\"name\": \"t\", \"mode\": \"scratch\", \"type\": \"u16\", \"count\": 70, "
        "\"bytes\": 140, \"file\": \"t.npy\"}",
        "{\"name\": \"s\", \"mode\": \"scratch keep\", \"type\": \"u64\", \"count\": 3, ",
        "{\"name\": \"w\", \"mode\": \"shared\", \"type\": \"u32\", \"count\": null, "
        "\"bytes\": null, \"file\": null}"};
    size_t size;
    char *text = get_file(path, &size);
    assert_non_null(text);
    assert_int_equal(*skip_json(text), 0);
    free(text);
    for (size_t i = 0; i < VY_COUNT_OF(texts); i++) {
        assert_file_has(path, texts[i]);
    }
}

static void test_dump_has_every_buffer(void **state)
{
    (void)state;
    run_mix("reference", "--reference");
    check_mix("reference");
    check_index("reference/index.json");
    assert_file_has("reference/index.json", "\"device\": null");
    /* What is printed is what the program's outputs are. */
    size_t size;
    char *printed = get_file("out", &size);
    assert_non_null(strstr(printed, "y = "));
    assert_null(strstr(printed, "t = "));
    free(printed);
    if (has_no_device()) {
        return;
    }
    run_mix("device", "--check");
    check_mix("device");
    check_index("device/index.json");
    run_mix("device", "--json"); /* over the files that are there */
    check_mix("device");
    printed = get_file("out", &size);
    assert_int_equal(*skip_json(printed), 0);
    assert_null(strstr(printed, "\"t\": "));
    free(printed);
}

static void test_dump_tells_what_fails(void **state)
{
    (void)state;
    put_text("file", "");
    assert_fails(1, "file cannot be made a folder",
                 run_tool("vyre-run", "mix.vyre", "--param", "k=0.5", "--in", "x=1", "--in",
                          "u[2]=zero", "--in", "a=4", "--reference", "--dump-buffers", "file",
                          NULL));
    assert_fails(1, "no/folder cannot be made a folder",
                 run_tool("vyre-run", "mix.vyre", "--param", "k=0.5", "--in", "x=1", "--in",
                          "u[2]=zero", "--in", "a=4", "--reference", "--dump-buffers", "no/folder",
                          NULL));
    assert_fails(2, "give --dump-buffers to the run itself",
                 run_tool("vyre-run", "mix.vyre", "--dump-buffers", "d", "--bisect", NULL));
    assert_fails(2, "--dump-buffers is for a single run",
                 run_tool("vyre-run", "mix.vyre", "--dump-buffers", "d", "--examples", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dump_has_every_buffer),
        cmocka_unit_test(test_dump_tells_what_fails),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

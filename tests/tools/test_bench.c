/* vyre-bench: its command line, that every group runs and is checked, the JSON and pictures it
 * leaves, and that a wrong result or a failing peer is told. No time is looked at. */
#include "tests/tools/support.h"

#include "tools/vyre-bench/bench.h"
#include "tools/vyre-bench/peers/graphs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
    (void)state;
    enter_folder("bench");
    return 0;
}

/* ---- Command lines --------------------------------------------------------------------------- */

static void test_bench_refuses_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *a[3];
        const char *message;
    } cases[] = {
        {{NULL}, "no group is given"},
        {{"--quick"}, "no group is given"},
        {{"fast"}, "'fast' is no group"},
        {{"launch", "fast"}, "'fast' is no group"},
        {{"launch", "--bogus"}, "--bogus is no option"},
        {{"launch", "--json"}, "--json takes a value"},
        {{"launch", "--quick=1"}, "--quick takes no value"},
        {{"launch", "--plot", "picture.png"}, "--plot takes FILE.svg"},
        {{"kernels", "--bindings", "name"}, "--bindings takes address or descriptor, not 'name'"},
        {{"kernels", "--processor-time=1"}, "--processor-time takes no value"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        int code = run_tool("vyre-bench", cases[i].a[0], cases[i].a[1], cases[i].a[2], NULL);
        assert_fails(2, cases[i].message, code);
        assert_file_has("err", "usage: 'vyre-bench --help'");
    }
    assert_int_equal(run_tool("vyre-bench", "--help", NULL), 0);
    assert_file_has("out", "Usage: vyre-bench GROUP...");
    assert_file_has("out", "rebind");
    assert_file_has("out", "megakernel");
    assert_file_has("out", "kernels");
    assert_file_has("out", "fixpoint");
}

/* Where the device is no processor, its time is not the processor's. */
static void test_bench_takes_processor_time(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    for (int is_by_address = 0; is_by_address < 2; is_by_address++) {
        int code =
            run_tool("vyre-bench", "kernels", "--quick", "--kernel", "copy", "--processor-time",
                     "--bindings", is_by_address ? "address" : "descriptor", NULL);
        if (code != 0) {
            assert_fails(1, "--processor-time is of devices that are the processor", code);
            continue;
        }
        assert_file_has("out", "what the device's threads have run");
        assert_file_has("out", "16 bytes an invocation");
    }
}

static void test_bench_tells_what_fails(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    assert_fails(1, "error: ",
                 run_tool("vyre-bench", "launch", "--quick", "--device", "no such device", NULL));
    assert_fails(1, "nowhere/b.json",
                 run_tool("vyre-bench", "step", "--quick", "--json", "nowhere/b.json", NULL));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The number behind a name on a line; fails where it is none. */
static double number_of(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    char *end;
    if (!at) {
        fail_msg("no %s in %.300s", name, line);
    }
    double value = strtod(at + strlen(name), &end);
    assert_ptr_not_equal(end, at + strlen(name));
    return value;
}

/* One series stands on one line: measured, and checked or with the reason why not. */
static void check_series(const char *line, uint32_t *out_checked)
{
    assert_true(number_of(line, "\"samples\": ") >= 1);
    double low = number_of(line, "\"p10\": "), high = number_of(line, "\"p90\": ");
    double median = number_of(line, "\"median\": ");
    assert_true(low > 0 && low <= median && median <= high);
    assert_true(number_of(line, "\"ratio\": ") > 0);
    if (strstr(line, "\"check\": null")) {
        assert_null(strstr(line, "\"note\": \"\""));
    } else {
        assert_true(number_of(line, "\"compared\": ") > 0);
        assert_int_equal((int)number_of(line, "\"wrong\": "), 0);
        (*out_checked)++;
    }
}

static void check_json(const char *path)
{
    static const char *const texts[] = {
        "\"schema\": \"vyre.bench/1\"",
        "\"quick\": true",
        "\"driver\": ",
        "\"api_version\": \"1.",
        "\"name\": \"launch\"",
        "\"name\": \"step\"",
        "segment without hazards",
        "\"name\": \"resident\"",
        "\"name\": \"transfer\"",
        "\"name\": \"rebind\"",
        "\"sizes\": {\"workgroups\": ",
        "\"descriptor_writes\": ",
        "\"name\": \"megakernel\"",
        "\"name\": \"kernels\"",
        "\"name\": \"fixpoint\"",
        "\"sizes\": {\"elements\": 65536}",
        "\"what\": \"its recorded passes\"",
        "\"name\": \"scan\"",
        "\"sizes\": {\"patterns\": 2000, \"bytes\": 262144, \"hits\": ",
        "\"name\": \"compile\"",
        "\"sizes\": {\"operations\": ",
        "{\"case\": \"eight opcodes\", \"size\": \"items\", \"against\": \"cpu\", \"way\": "};
    size_t size;
    char *data = get_file(path, &size);
    assert_non_null(data);
    assert_int_equal(*skip_json(data), 0);
    for (size_t i = 0; i < VY_COUNT_OF(texts); i++) {
        if (!strstr(data, texts[i])) {
            fail_msg("no %s in %s", texts[i], path);
        }
    }
    uint32_t own = 0, own_checked = 0, peers = 0, peers_checked = 0, parts = 0;
    for (char *line = strtok(data, "\n"); line; line = strtok(NULL, "\n")) {
        uint32_t ignored = 0;
        if (strstr(line, "\"is_part\": true")) {
            check_series(line, &ignored);
            parts++;
        } else if (strstr(line, "{\"who\": \"vyre\"")) {
            check_series(line, &own_checked);
            own++;
        } else if (strstr(line, "{\"who\": \"hyperscan\"") && strstr(line, "\"samples\": 0,")) {
            assert_non_null(strstr(line, "\"note\": \"not measured: ")); /* it is not there */
        } else if (strstr(line, "{\"who\": ")) {
            check_series(line, &peers_checked);
            peers++;
        }
    }
    /* Of ours only the empty program leaves nothing to look at. */
    assert_int_equal(own_checked, own - 1);
    assert_true(parts >= 2 * 2); /* of each rebound chain: the driver's, and the rest */
    assert_true(own >= 4 + 2 + 2 + 10 + 8 + 2 + 6 * 3 + 2 * 5 + 14 + 4 * 2 + 2 * 2 || peers == 0);
    print_message("%u series of the library, %u of peers\n", own, peers);
    free(data);
}

static void check_picture(const char *path)
{
    size_t size;
    char *data = get_file(path, &size);
    assert_non_null(data);
    assert_memory_equal(data, "<svg ", 5);
    assert_string_equal(data + size - 7, "</svg>\n");
    assert_non_null(strstr(data, "<rect x="));
    free(data);
}

/* The table says what OpenCL there was, or why there was none; where there was, it ran. */
static void check_opencl(void)
{
    size_t size;
    char *out = get_file("out", &size);
    assert_non_null(out);
    bool is_there = strstr(out, "\n- OpenCL: ") != NULL;
    bool is_explained = strstr(out, "\n- no OpenCL peer: ") != NULL;
    assert_true(is_there != is_explained);
    assert_true(is_there == (strstr(out, "| opencl | 64 parts ") != NULL));
    free(out);
}

static void test_bench_measures_and_checks_every_group(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    int code =
        run_tool("vyre-bench", "all", "--quick", "--json", "b.json", "--plot", "b.svg", NULL);
    if (code != 0) {
        assert_file_has("err", "nothing else"); /* prints what was said */
    }
    assert_file_has("out", "### rebind: ");
    assert_file_has("out", "### checks: ");
    assert_file_has("out", "### atomics: ");
    assert_file_has("out", "### megakernel: ");
    assert_file_has("out", "dispatcher, independent items");
    assert_file_has("out", "published into a ring");
    assert_file_has("out", "- one opcode, cpu, a loop on one core: ");
    assert_file_has("out", "### kernels: ");
    assert_file_has("out", "radix_sort.vyre");
    assert_file_has("out", "plain C, ");
    assert_file_has("out", "segment without hazards");
    check_opencl();
    assert_file_has("out", "### fixpoint: ");
    assert_file_has("out", "bfs_queue.vyre");
    assert_file_has("out", "### scan: many patterns in made-up text");
    assert_file_has("out", "text on the device");
    assert_file_has("out", "### compile: ");
    assert_file_has("out", "text to words");
    assert_file_has("out", "ns an operation, at most ");
    assert_file_has("out", "| equal ");
    check_json("b.json");
    check_picture("b-launch.svg");
    check_picture("b-step.svg");
    check_picture("b-resident.svg");
    check_picture("b-transfer.svg");
    check_picture("b-rebind.svg");
    check_picture("b-checks.svg");
    check_picture("b-atomics.svg");
    check_picture("b-megakernel.svg");
    check_picture("b-kernels.svg");
    check_picture("b-fixpoint.svg");
    check_picture("b-scan.svg");
    check_picture("b-compile.svg");
    assert_int_equal(run_tool("vyre-bench", "step", "--quick", "--plot", "one.svg", NULL), 0);
    check_picture("one.svg");
}

/* Text and patterns of a folder; of words there are enough for the first two cases. */
static void test_bench_scans_what_a_folder_has(void **state)
{
    (void)state;
    const char *script = VYRE_SOURCE_DIR "/tools/scan-data.sh";
    assert_int_equal(run_tool("/usr/bin/env", "bash", script, "--help", NULL), 0);
    assert_file_has("out", "vyre-bench scan --data scan-data");
    assert_fails(2, "usage: tools/scan-data.sh",
                 run_tool("/usr/bin/env", "bash", script, "--size", "1", NULL));
    assert_fails(2, "unknown argument: out.zip",
                 run_tool("/usr/bin/env", "bash", script, "out.zip", NULL));
    if (has_no_device()) {
        return;
    }
    vy_text words;
    vy_text_init(&words, NULL);
    for (uint32_t i = 0; i < 40; i++) {
        vy_text_printf(&words, "word%u\n", i);
    }
    (void)mkdir("data", 0777);
    put_text("data/text", "word1 and word39\nrule of word12\n");
    put_file("data/words", words.data, words.size);
    vy_text_finish(&words);
    (void)unlink("data/rules");
    assert_fails(1, "data/rules",
                 run_tool("vyre-bench", "scan", "--quick", "--data", "data", NULL));
    put_text("data/rules", "rule of\n");
    assert_int_equal(run_tool("vyre-bench", "scan", "--quick", "--data", "data", NULL), 0);
    assert_file_has("out", "### scan: many patterns in real text");
    assert_file_has("out", "words, patterns 32, bytes 262,144, hits ");
    assert_file_has("out", "rules of a web firewall, patterns 1, ");
    put_text("data/text", "");
    assert_fails(1, "is empty. Fix: make it by tools/scan-data.sh",
                 run_tool("vyre-bench", "scan", "--quick", "--data", "data", NULL));
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void test_step_check_counts_what_differs(void **state)
{
    (void)state;
    uint32_t x[300], steps = 0;
    for (uint32_t i = 0; i < 300; i++) {
        x[i] = i;
    }
    for (; steps < 70; steps++) {
        assert_int_equal(bench_step_wrong(x, 300, steps), 0);
        assert_int_equal(bench_step_wrong(x, 300, steps + 1), 300);
        for (uint32_t i = 0; i < 300; i++) {
            x[i] = x[i] * 3 + 1;
        }
    }
    x[0] ^= 1;
    x[299] ^= 0x80000000;
    assert_int_equal(bench_step_wrong(x, 300, steps), 2);
    /* Steps beyond 2^32: the period of x = 3x + 1 modulo 2^32 divides 2^31. */
    x[0] ^= 1;
    x[299] ^= 0x80000000;
    assert_int_equal(bench_step_wrong(x, 300, steps + ((uint64_t)1 << 33)), 0);
}

static void test_quantiles_are_between_samples(void **state)
{
    (void)state;
    static const double samples[] = {1, 2, 3, 5, 9};
    assert_true(fabs(bench_quantile(samples, 5, 0.5) - 3) < 1e-12);
    assert_true(fabs(bench_quantile(samples, 5, 0.1) - 1.4) < 1e-12);
    assert_true(fabs(bench_quantile(samples, 5, 0.9) - 7.4) < 1e-12);
    assert_true(fabs(bench_quantile(samples, 5, 1) - 9) < 1e-12);
    assert_true(fabs(bench_quantile(samples, 1, 0.9) - 1) < 1e-12);
    assert_true(fabs(bench_quantile(samples, 4, 0.5) - 2.5) < 1e-12);
}

typedef struct fake {
    char *log; /* the turns of all series so far */
    char name;
    double value;
    uint32_t calls, fails_at; /* 0: never */
    uint64_t wrong;
} fake;

static vyre_result fake_sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    fake *f = state;
    f->log[strlen(f->log)] = f->name;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = f->value + (double)(count - i);
    }
    return ++f->calls == f->fails_at
               ? vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0}, "broken. Fix: mend it")
               : VYRE_OK;
}

static vyre_result fake_check(void *state, bench_check *out, vyre_diag *diag)
{
    (void)diag;
    *out = (bench_check){10, ((fake *)state)->wrong};
    return VYRE_OK;
}

static void test_series_take_turns_and_are_checked(void **state)
{
    (void)state;
    char log[256] = "";
    bench b = {.quick = true};
    bench_group group = {.name = "fake"};
    vyre_diag diag;
    vy_arena_init(&b.arena, NULL);
    bench_case *c = bench_case_add(&b, &group, "fake", "us");
    fake one = {.log = log, .name = 'a', .value = 10},
         two = {.log = log, .name = 'b', .value = 20, .wrong = 3};
    c->rounds = 3;
    c->batch = 2;
    (void)bench_series_vyre(c, "one", NULL, fake_sample, fake_check, &one);
    bench_series_leave_out(c, "vulkan", "three", "too slow");
    (void)bench_series_add(c, "vulkan", "two", fake_sample, fake_check, &two);
    assert_int_equal(bench_measure(&b, c, &diag), VYRE_OK);
    assert_int_equal(c->series[1].sample_count, 0);
    assert_string_equal(c->series[1].note, "not measured: too slow");
    assert_string_equal(log, "aabbababab");
    assert_int_equal(c->series[0].sample_count, 6);
    assert_true(fabs(c->series[0].median - 11.5) < 1e-12);
    assert_true(fabs(bench_ratio(c, &c->series[2]) - 21.5 / 11.5) < 1e-12);
    assert_int_equal(c->series[0].checked.compared, 10);
    assert_int_equal(c->series[0].checked.wrong, 0);
    assert_int_equal(c->series[2].checked.wrong, 3);
    vy_arena_finish(&b.arena);
}

static void test_failing_peers_are_left_out_and_own_failures_are_not(void **state)
{
    (void)state;
    for (uint32_t when = 1; when <= 4; when++) {
        for (int own = 0; own < 2; own++) {
            char log[256] = "";
            bench b = {.quick = true};
            bench_group group = {.name = "fake"};
            vyre_diag diag;
            vy_arena_init(&b.arena, NULL);
            bench_case *c = bench_case_add(&b, &group, "fake", "us");
            fake good = {.log = log, .name = 'a', .value = 10},
                 bad = {.log = log, .name = 'b', .value = 20, .fails_at = when};
            (void)bench_series_vyre(c, "good", NULL, fake_sample, fake_check, &good);
            (void)bench_series_add(c, own ? "vyre" : "cuda", "bad", fake_sample, fake_check, &bad);
            vyre_result result = bench_measure(&b, c, &diag);
            assert_int_equal(result, own ? VYRE_ERROR_IO : VYRE_OK);
            if (!own) {
                assert_int_equal(c->series[1].sample_count, 0);
                assert_string_equal(c->series[1].note, "left out: broken. Fix: mend it");
                assert_true(c->series[0].sample_count > 0);
                assert_true(bench_ratio(c, &c->series[1]) == 0);
            }
            vy_arena_finish(&b.arena);
        }
    }
}

/* From the fakes' medians at three sizes; the last of them is not measured at the largest. */
static void test_break_evens_hold_for_all_larger_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 4, 1000};
    static const double values[3][5] = {
        {10, 5, 20, 20, 5}, {10, 20, 5, 20, 5}, {10, 20, 20, 20, 0}};
    static const char *const ways[5] = {"base", "later", "late", "at once", "left out"};
    static const struct {
        uint64_t from, up_to;
        const char *text;
    } wanted[4] = {{4, 1000, "from 4 on, of up to 1,000 items"},
                   {1000, 1000, "from 1,000 on, of up to 1,000 items"},
                   {1, 1000, "from 1 on, of up to 1,000 items"},
                   {0, 4, "not up to 4 items"}};
    fake fakes[3][5];
    char log[2048] = "", text[64];
    bench b = {.quick = true};
    bench_group group = {.name = "fake"};
    vyre_diag diag;
    vy_arena_init(&b.arena, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        bench_case *c = bench_case_add(&b, &group, "fake", "us");
        bench_case_size(c, "items", sizes[i]);
        for (uint32_t k = 0; k < 5 && values[i][k] > 0; k++) {
            fakes[i][k] = (fake){.log = log, .name = 'a', .value = values[i][k]};
            (void)bench_series_add(c, k ? "peer" : "vyre", ways[k], fake_sample, fake_check,
                                   &fakes[i][k]);
        }
        assert_int_equal(bench_measure(&b, c, &diag), VYRE_OK);
    }
    bench_series_leave_out(group.cases.data[2], "peer", ways[4], "too many");
    assert_string_equal(group.cases.data[2]->series[4].note, "not measured: too many");
    assert_int_equal(bench_find_break_evens(&b, &group, "other", &diag), VYRE_OK);
    assert_int_equal(group.break_evens.count, 0);
    assert_int_equal(bench_find_break_evens(&b, &group, "fake", &diag), VYRE_OK);
    assert_int_equal(group.break_evens.count, 4);
    for (uint32_t k = 0; k < 4; k++) {
        const bench_break_even *found = &group.break_evens.data[k];
        assert_string_equal(found->way, ways[k + 1]);
        assert_int_equal(found->from, wanted[k].from);
        assert_int_equal(found->up_to, wanted[k].up_to);
        bench_format_break_even(found, text, sizeof text);
        assert_string_equal(text, wanted[k].text);
    }
    vy_arena_finish(&b.arena);
}

static void test_base_is_the_fastest_peer_that_does_not_know_before(void **state)
{
    (void)state;
    static const struct {
        const char *who, *way;
        double median;
    } all[] = {{"vyre", "until", 1},  {"vulkan", "exactly as many passes", 2},
               {"cuda", "host", 9},   {"cuda", "sync", 5},
               {"vulkan", "loop", 7}, {"cuda", "left out", 0}};
    bench_case c = {.name = "fake"};
    bench_choose_base(&c);
    assert_int_equal(c.base, 0);
    for (uint32_t i = 0; i < VY_COUNT_OF(all); i++) {
        bench_series *s = bench_series_add(&c, all[i].who, all[i].way, fake_sample, NULL, NULL);
        s->median = all[i].median;
        s->sample_count = all[i].median > 0;
    }
    bench_choose_base(&c);
    assert_int_equal(c.base, 3);
    c.series_count = 2;
    bench_choose_base(&c);
    assert_int_equal(c.base, 0);
}

/* Edges stay within; those of the grid lead to neighbours, and back. */
static void test_graphs_lead_where_they_say(void **state)
{
    (void)state;
    enum { POWER = 1024, SIDE = 7, GRID = SIDE * SIDE };
    uint32_t edges = 0, hubs = 0, into[POWER] = {0};
    for (uint32_t v = 0; v < POWER; v++) {
        uint32_t degree = bench_graph_degree(BENCH_GRAPH_POWER, v, POWER, 0);
        assert_in_range(degree, 4, POWER);
        hubs += degree >= 64;
        for (uint32_t k = 0; k < degree; k++) {
            uint32_t to = bench_graph_target(BENCH_GRAPH_POWER, v, k, POWER, 0);
            assert_true(to < POWER);
            into[to]++;
            edges++;
        }
    }
    assert_in_range(hubs, 1, POWER / 8);
    assert_true(edges > 8 * POWER);
    assert_true(into[0] > 4 * edges / POWER); /* the first is the one most led to */
    assert_int_equal(bench_graph_side(GRID), SIDE);
    edges = 0;
    for (uint32_t v = 0; v < GRID; v++) {
        uint32_t degree = bench_graph_degree(BENCH_GRAPH_GRID, v, GRID, SIDE);
        for (uint32_t k = 0; k < degree; k++, edges++) {
            uint32_t to = bench_graph_target(BENCH_GRAPH_GRID, v, k, GRID, SIDE), back = 0;
            int dx = abs((int)(to % SIDE) - (int)(v % SIDE));
            int dy = abs((int)(to / SIDE) - (int)(v / SIDE));
            assert_true(to < GRID);
            assert_int_equal(dx + dy, 1);
            for (uint32_t n = 0; n < bench_graph_degree(BENCH_GRAPH_GRID, to, GRID, SIDE); n++) {
                back += bench_graph_target(BENCH_GRAPH_GRID, to, n, GRID, SIDE) == v;
            }
            assert_int_equal(back, 1);
        }
    }
    assert_int_equal(edges, 4 * SIDE * (SIDE - 1));
}

/* ---- The other process ----------------------------------------------------------------------- */

/* Answers as vyre-bench-cuda does: good ones, then one kind of bad ones. */
static const char fake_peer[] =
    "#!/bin/sh\n"
    "case $1 in\n"
    "none) echo '{\"error\":\"no CUDA device is called none\"}'; exit 1 ;;\n"
    "silent) exit 0 ;;\n"
    "odd) echo hello ;;\n"
    "*) echo '{\"schema\":\"vyre.bench.cuda/1\",\"device\":\"Fake\",\"version\":\"CUDA 0\"}' ;;\n"
    "esac\n"
    "while read -r what way groups samples; do\n"
    "    case $way in\n"
    "    short) echo '{\"samples\":[1.5],\"compared\":1,\"wrong\":0}' ;;\n"
    "    refused) echo '{\"error\":\"out of memory\"}' ;;\n"
    "    odd) echo '{}' ;;\n"
    "    dead) exit 3 ;;\n"
    "    *) echo '{\"samples\":[1.5,2.5,0.25],\"compared\":7,\"wrong\":2}' ;;\n"
    "    esac\n"
    "done\n";

static void test_cuda_peers_answer_or_say_why_not(void **state)
{
    (void)state;
    static const struct {
        const char *device, *note;
    } starts[] = {
        {"none", "no CUDA device is called none"},
        {"silent", "it gives no answer"},
        {"odd", "its answer cannot be read"},
    };
    static const struct {
        const char *way, *message;
    } answers[] = {
        {"short", "too few samples"},
        {"refused", "out of memory"},
        {"odd", "cannot be read"},
        {"dead", "it gives no answer"},
    };
    bench b = {.quick = true};
    put_text("fake-peer", fake_peer);
    assert_int_equal(chmod("fake-peer", 0755), 0);
    assert_null(bench_cuda_start(&b, "./missing", "Fake"));
    assert_non_null(strstr(b.cuda_note, "it gives no answer"));
    for (size_t i = 0; i < VY_COUNT_OF(starts); i++) {
        assert_null(bench_cuda_start(&b, "./fake-peer", starts[i].device));
        assert_non_null(strstr(b.cuda_note, starts[i].note));
    }
    vy_arena_init(&b.arena, NULL);
    b.cuda = bench_cuda_start(&b, "./fake-peer", "Fake");
    assert_non_null(b.cuda);
    assert_string_equal(b.cuda_device, "Fake");
    assert_string_equal(b.cuda_version, "CUDA 0");
    bench_case c = {.name = "fake"};
    vyre_diag diag;
    double samples[3];
    bench_check checked;
    bench_series_cuda(&b, &c, "stream", "launch stream groups=%u", 1u);
    assert_int_equal(c.series_count, 1);
    bench_series *s = &c.series[0];
    assert_int_equal(s->sample(s->state, samples, 3, &diag), VYRE_OK);
    assert_true(fabs(samples[0] - 1.5) + fabs(samples[1] - 2.5) + fabs(samples[2] - 0.25) < 1e-12);
    assert_int_equal(s->check(s->state, &checked, &diag), VYRE_OK);
    assert_int_equal(checked.compared, 7);
    assert_int_equal(checked.wrong, 2);
    for (size_t i = 0; i < VY_COUNT_OF(answers); i++) {
        bench_series_cuda(&b, &c, "bad", "launch %s groups=1", answers[i].way);
        s = &c.series[c.series_count - 1];
        assert_int_equal(s->sample(s->state, samples, 3, &diag), VYRE_ERROR_IO);
        assert_non_null(strstr(diag.message, answers[i].message));
    }
    assert_int_equal(s->sample(s->state, samples, 3, &diag), VYRE_ERROR_IO);
    bench_cuda_stop(&b.cuda);
    assert_null(b.cuda);
    bench_series_cuda(&b, &c, "gone", "launch stream groups=1");
    assert_int_equal(c.series_count, 1 + VY_COUNT_OF(answers));
    vy_arena_finish(&b.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_refuses_command_lines),
        cmocka_unit_test(test_bench_takes_processor_time),
        cmocka_unit_test(test_bench_tells_what_fails),
        cmocka_unit_test(test_bench_measures_and_checks_every_group),
        cmocka_unit_test(test_bench_scans_what_a_folder_has),
        cmocka_unit_test(test_step_check_counts_what_differs),
        cmocka_unit_test(test_quantiles_are_between_samples),
        cmocka_unit_test(test_series_take_turns_and_are_checked),
        cmocka_unit_test(test_break_evens_hold_for_all_larger_sizes),
        cmocka_unit_test(test_base_is_the_fastest_peer_that_does_not_know_before),
        cmocka_unit_test(test_graphs_lead_where_they_say),
        cmocka_unit_test(test_cuda_peers_answer_or_say_why_not),
        cmocka_unit_test(test_failing_peers_are_left_out_and_own_failures_are_not),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

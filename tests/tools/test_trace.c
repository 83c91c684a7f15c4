/* vyre-run --trace: trace events as Perfetto reads them, of every phase, that nest on their tracks.
 */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SPANS 256

static const char twice_text[] = "program twice\nworkgroup 64\ngrid over x\nfixpoint 3\n"
                                 "in x : u32[]\nout y : u32[len(x)]\n"
                                 "kernel { if gid.x < len(x) { y[gid.x] = x[gid.x] * 2 } }\n";

typedef struct span {
    char name[32];
    int process, thread;
    double begin, end;
} span;

typedef struct spans {
    span list[MAX_SPANS];
    uint32_t count, counters;
} spans;

static int setup(void **state)
{
    (void)state;
    enter_folder("trace");
    put_text("twice.vyre", twice_text);
    return 0;
}

static double number_of(const char *event, const char *name)
{
    const char *at = strstr(event, name);
    char *end;
    if (!at) {
        fail_msg("no %s in %.200s", name, event);
    }
    double value = strtod(at + strlen(name), &end);
    assert_ptr_not_equal(end, at + strlen(name));
    return value;
}

/* Each event has what the trace event format asks for. */
static void take_event(const char *event, spans *out)
{
    double ts = number_of(event, "\"ts\": ");
    int process = (int)number_of(event, "\"pid\": ");
    assert_true(ts >= 0 && (process == 1 || process == 2));
    int thread = (int)number_of(event, "\"tid\": ");
    assert_true(thread == 1 || (process == 2 && thread == 2));
    const char *name = strstr(event, "\"name\": \"");
    assert_non_null(name);
    if (strncmp(event, "{\"ph\": \"X\"", 10) == 0) {
        assert_true(out->count < MAX_SPANS);
        span *s = &out->list[out->count++];
        *s = (span){.process = process,
                    .thread = thread,
                    .begin = ts,
                    .end = ts + number_of(event, "\"dur\": ")};
        assert_int_equal(sscanf(name, "\"name\": \"%31[^\"]", s->name), 1);
        assert_true(s->end >= s->begin);
    } else if (strncmp(event, "{\"ph\": \"C\"", 10) == 0) {
        assert_non_null(strstr(event, "\"args\": {\""));
        out->counters++;
    } else {
        assert_int_equal(strncmp(event, "{\"ph\": \"M\"", 10), 0);
        assert_non_null(strstr(event, "\"args\": {\"name\": \""));
    }
}

static spans read_trace(const char *path)
{
    size_t size;
    spans all = {.count = 0};
    char *text = get_file(path, &size);
    assert_non_null(text);
    assert_int_equal(*skip_json(text), 0);
    static const char head[] = "{\"schema\": \"vyre.trace/1\", \"displayTimeUnit\": \"ns\",\n"
                               "\"traceEvents\": [\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    for (char *line = strtok(text + strlen(head), "\n"); line && line[0] == '{';
         line = strtok(NULL, "\n")) {
        take_event(line, &all);
    }
    free(text);
    return all;
}

static uint32_t count_spans(const spans *all, int process, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        count += all->list[i].process == process && strcmp(all->list[i].name, name) == 0;
    }
    return count;
}

/* Spans of one track lie in each other or beside each other; times are rounded to nanoseconds. */
static void check_nesting(const spans *all)
{
    const double slack = 0.002;
    for (uint32_t i = 0; i < all->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const span *a = &all->list[i], *b = &all->list[k];
            bool beside = a->end <= b->begin + slack || b->end <= a->begin + slack;
            bool inside = (a->begin >= b->begin - slack && a->end <= b->end + slack) ||
                          (b->begin >= a->begin - slack && b->end <= a->end + slack);
            if (a->process == b->process && a->thread == b->thread && !beside && !inside) {
                fail_msg("%s and %s cut each other", a->name, b->name);
            }
        }
    }
}

static void test_trace_has_every_phase_of_a_run(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "--in", "x[70000]=iota", "--check",
                              "--repeat", "3", "--trace", "t.json", NULL),
                     0);
    spans all = read_trace("t.json");
    static const char *const once[] = {"parse",   "inputs",        "open",
                                       "compile", "make pipeline", "interpreter"};
    static const char *const each[] = {"run",    "plan", "upload",  "record",
                                       "submit", "wait", "download"};
    for (size_t i = 0; i < VY_COUNT_OF(once); i++) {
        assert_int_equal(count_spans(&all, 1, once[i]), 1);
    }
    for (size_t i = 0; i < VY_COUNT_OF(each); i++) {
        assert_int_equal(count_spans(&all, 1, each[i]), 3);
    }
    check_nesting(&all);
    assert_int_equal(all.counters, 3 * 4);
    assert_file_has("t.json", "\"args\": {\"up\": 280000, \"down\": 0}");
    assert_file_has("t.json", "\"args\": {\"up\": 840000, \"down\": 840000}");
    assert_file_has("t.json", "\"strategy\": \"replay\", \"passes\": 3, \"segments\": 1");
    /* A device without timestamps has no track of its own. */
    uint32_t commands = count_spans(&all, 2, "commands");
    assert_true(commands == 3 || commands == 0);
    assert_int_equal(count_spans(&all, 2, "dispatches"), commands);
    /* Each pass and segment, of a run of their own. */
    uint32_t times = commands ? 1 : 0;
    assert_int_equal(count_spans(&all, 1, "run by segments"), times);
    assert_int_equal(count_spans(&all, 2, "pass 0"), times);
    assert_int_equal(count_spans(&all, 2, "pass 2"), times);
    assert_int_equal(count_spans(&all, 2, "pass 3"), 0);
    assert_int_equal(count_spans(&all, 2, "segment 0 (line 7)"), 3 * times);
}

static void test_trace_is_of_the_interpreter_and_of_failures_too(void **state)
{
    (void)state;
    assert_int_equal(
        run_tool("vyre-run", "twice.vyre", "--in", "x=1", "--reference", "--trace", "r.json", NULL),
        0);
    spans all = read_trace("r.json");
    assert_int_equal(count_spans(&all, 1, "interpreter"), 1);
    assert_int_equal(count_spans(&all, 1, "open"), 0);
    check_nesting(&all);
    assert_fails(1, "no contents",
                 run_tool("vyre-run", "twice.vyre", "--reference", "--trace", "f.json", NULL));
    all = read_trace("f.json");
    assert_int_equal(count_spans(&all, 1, "parse"), 1);
}

static void test_trace_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    assert_fails(1, "nowhere/t.json",
                 run_tool("vyre-run", "twice.vyre", "--in", "x=1", "--reference", "--trace",
                          "nowhere/t.json", NULL));
    assert_fails(2, "--trace takes a value", run_tool("vyre-run", "twice.vyre", "--trace", NULL));
    assert_fails(2, "--trace is for a single run",
                 run_tool("vyre-run", "twice.vyre", "--trace", "t", "--examples", NULL));
    assert_fails(2, "without --bisect",
                 run_tool("vyre-run", "twice.vyre", "--trace", "t", "--bisect", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_has_every_phase_of_a_run),
        cmocka_unit_test(test_trace_is_of_the_interpreter_and_of_failures_too),
        cmocka_unit_test(test_trace_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

/* The flag of `until`, however a program sets it, reads it and names it: generated programs whose
 * device must do what the interpreter does, by addresses and by descriptors, as one dispatch, in
 * recordings and sequences, with grids of the device's. */
#include "tests/engine/forms.h"

#include "vyre/interp.h"
#include "vyre/text.h"

#include <inttypes.h>

#define PROGRAMS 14u
#define COUNT    24u /* elements of a; the grid has some more invocations */
#define SUMS     8u

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct generator {
    uint64_t state;
    char text[8192];
    size_t length;
    uint32_t flag_length; /* what is bound */
} generator;

static uint32_t draw(generator *g, uint32_t below)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->state >> 33) % below;
}

static void put(generator *g, const char *text)
{
    size_t length = strlen(text);
    assert_true(g->length + length < sizeof g->text);
    memcpy(g->text + g->length, text, length + 1);
    g->length += length;
}

/* Element 0 of the flag, so that the compiler knows it, or only the device, or only this program's
 * reader. */
static void put_element(generator *g)
{
    static const char *const elements[] = {"f[0]", "f[0]", "f[zero]", "f[lid.x * zero]",
                                           "f[u64(zero)]"};
    put(g, elements[draw(g, 4)]);
}

/* Several invocations may do it at once: the flag's value is the same in any order. */
static void put_setting(generator *g)
{
    switch (draw(g, 6)) {
    case 0:
        put(g, "atomic_add(");
        put_element(g);
        put(g, ", 3) ");
        break;
    case 1:
        put(g, "atomic_or(");
        put_element(g);
        put(g, ", 1 << (i & 7)) ");
        break;
    case 2:
        put(g, "atomic_max(");
        put_element(g);
        put(g, ", i + 1) ");
        break;
    case 3:
        put(g, "atomic_store(");
        put_element(g);
        put(g, ", 5) ");
        break;
    default:
        put_element(g);
        put(g, " = 9 ");
        break;
    }
}

static void put_segment(generator *g, uint32_t index)
{
    static const char *const returns[] = {"if i % 5 == 3 { return } ", "if wid.x == 1 { return } "};
    char step[96];
    if (draw(g, 3) == 0) {
        put(g, "{ shared_step[lid.x] = i  barrier\n"
               "  if i < len(a) { atomic_add(sums[0], shared_step[3 - lid.x]) } }\n");
    }
    /* What is read must not depend on who comes first: a segment reads the flag, or sets it. */
    bool reads = index > 0 && draw(g, 3) == 0;
    if (reads) {
        put(g, "if i == 0 { atomic_add(sums[1], ");
        put_element(g);
        put(g, ") }\nif i == 1 { let old = atomic_load(");
        put_element(g);
        put(g, ")  atomic_max(sums[2], old) }\n");
    }
    if (draw(g, 3) == 0) {
        put(g, "if i == 2 { f[one] = f[one] + 2  f[1] = f[1] + 1 }\n");
    }
    if (draw(g, 3) == 0) {
        put(g, returns[draw(g, 2)]);
    }
    snprintf(step, sizeof step, "if i < len(a) && a[i] > %u { a[i] = a[i] - 1  ", draw(g, 3));
    put(g, step);
    if (!reads && draw(g, 5)) {
        put_setting(g);
    }
    put(g, "}\nif i == 0 { atomic_add(sums[3], pass + 1) }\n");
}

static void generate(generator *g, uint64_t seed)
{
    static const char *const lengths[] = {"1", "2", "", "5"};
    static const uint32_t bound[] = {1, 2, 0, 5};
    char head[256];
    uint32_t length = draw((g->state = seed * 977 + 5, g->length = 0, g), 4);
    uint32_t segments = 1 + draw(g, 4);
    g->flag_length = length == 2 ? draw(g, 3) : bound[length];
    snprintf(head, sizeof head,
             "program g%u\nworkgroup 4\nfixpoint %u until f\ninout a : u32[]\ninout f : u32[%s]\n"
             "inout sums : u32[8]\nshared shared_step : u32[4]\nparam zero : u32\nparam one : u32\n"
             "kernel {\n  let i = gid.x\n",
             (unsigned)seed, 1 + draw(g, 40), lengths[length]);
    put(g, head);
    for (uint32_t s = 0; s < segments; s++) {
        put(g, s ? "grid_sync\n" : "");
        put_segment(g, s);
    }
    put(g, "}\n");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct outcome {
    uint32_t a[COUNT], f[5], sums[SUMS];
    uint32_t passes;
    vyre_convergence convergence;
} outcome;

static const uint32_t params[2] = {0, 1};

static void begin_outcome(outcome *out, uint64_t seed)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < COUNT; i++) {
        out->a[i] = (uint32_t)((seed + i * 7) % 13 * (i % 3) / 2 + (seed % 4 == 1 ? 9 : 0));
    }
    for (uint32_t i = 0; i < 5; i++) {
        out->f[i] = 40 + i;
    }
}

static void by_interpreter(const generator *g, uint32_t groups, uint32_t passes, outcome *out)
{
    vyre_program *program = NULL;
    vyre_interp_report report;
    vyre_diag diag;
    vyre_host_buffer buffers[] = {{out->a, COUNT}, {out->f, g->flag_length}, {out->sums, SUMS}};
    vyre_interp_params p = {.struct_size = (uint32_t)sizeof p,
                            .buffers = buffers,
                            .buffer_count = 3,
                            .params = params,
                            .param_count = 2,
                            .groups = {groups, 1, 1},
                            .passes = passes};
    if (vyre_program_parse(g->text, g->length, "t", NULL, &program, &diag) != VYRE_OK ||
        vyre_interp_run(program, &p, &report, &diag) != VYRE_OK) {
        fail_msg("%s\n%s", diag.message, g->text);
    }
    out->passes = report.passes;
    out->convergence = report.convergence;
    vyre_program_destroy(&program);
}

static vyre_dispatch_params dispatch_of(const generator *g, outcome *out, vyre_binding *bindings,
                                        uint32_t groups, uint32_t passes)
{
    bindings[0] = engine_host_inout(out->a, COUNT);
    bindings[1] = engine_host_inout(out->f, g->flag_length);
    bindings[2] = engine_host_inout(out->sums, SUMS);
    vyre_dispatch_params p = engine_params(bindings, 3);
    p.params = params;
    p.param_count = 2;
    p.groups[0] = groups;
    p.passes = passes;
    return p;
}

static void must_equal(const generator *g, const char *way, const outcome *got,
                       const outcome *expected)
{
    if (memcmp(got, expected, sizeof *got) != 0) {
        fail_msg("%s differs: %u passes, flag %u, expected %u and %u\n%s", way,
                 (unsigned)got->passes, (unsigned)got->f[0], (unsigned)expected->passes,
                 (unsigned)expected->f[0], g->text);
    }
}

static void run_on_device(const engine_program *p, const generator *g, uint64_t seed,
                          uint32_t groups, uint32_t passes)
{
    outcome expected, got;
    vyre_binding bindings[3];
    begin_outcome(&expected, seed);
    by_interpreter(g, groups, passes, &expected);
    for (int whole = 0; whole < (groups == 1 ? 2 : 1); whole++) {
        begin_outcome(&got, seed);
        vyre_dispatch_params d = dispatch_of(g, &got, bindings, groups, passes);
        d.strategy = whole ? VYRE_STRATEGY_WORKGROUP : VYRE_STRATEGY_REPLAY;
        vyre_report report = must_dispatch(p, &d);
        got.passes = report.passes;
        got.convergence = report.convergence;
        must_equal(g, whole ? "one workgroup" : "replay", &got, &expected);
    }
}

static void run_generated(vyre_device *device, int form)
{
    static generator g;
    (void)form;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        generate(&g, seed);
        engine_program p = engine_build(device, g.text);
        run_on_device(&p, &g, seed, 7, 0);
        run_on_device(&p, &g, seed + 1, 7, 0); /* what was recorded, on other contents */
        run_on_device(&p, &g, seed, 1, 0);
        run_on_device(&p, &g, seed, 7, 1 + (uint32_t)seed % 9);
        engine_release(&p);
    }
}

static void test_generated_fixpoints_end_as_in_the_interpreter(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_generated);
}

/* ---- Ways of running ------------------------------------------------------------------------- */

/* The flag lies in a buffer of the caller's, whose other elements nobody touches. */
static const char shown_text[] =
    "program shown\nworkgroup 1\nfixpoint 50 until f\n"
    "inout f : u32[]\ninout a : u32[1]\n"
    "kernel { if a[0] > 3 { f[0] = a[0] } if a[0] != 0 { a[0] = a[0] - 1 } }\n";

static void check_shown(vyre_device *device, vyre_buffer f, vyre_buffer a, uint32_t flag,
                        uint32_t left)
{
    uint32_t words[4], rest;
    read_words(device, f, 0, words, 4);
    read_words(device, a, 0, &rest, 1);
    assert_int_equal(words[0], flag);
    assert_int_equal(words[1], 71);
    assert_int_equal(words[3], 73);
    assert_int_equal(rest, left);
}

static void run_shown(vyre_device *device, int form)
{
    static const struct {
        uint32_t from, passes, ran, flag, left;
    } rows[] = {{0, 0, 1, 0, 0},   {3, 0, 1, 0, 2},    {4, 0, 2, 0, 2}, {5, 0, 3, 0, 2},
                {20, 0, 18, 0, 2}, {9, 1, 1, 9, 8},    {9, 2, 2, 8, 7}, {9, 3, 3, 7, 6},
                {9, 4, 4, 6, 5},   {9, 5, 5, 5, 4},    {9, 6, 6, 4, 3}, {9, 7, 7, 0, 2},
                {9, 8, 7, 0, 2},   {99, 0, 50, 50, 49}};
    static const uint32_t contents[4] = {70, 71, 72, 73};
    (void)form;
    engine_program p = engine_build(device, shown_text);
    vyre_buffer f = engine_buffer(device, 16, NULL), a = engine_buffer(device, 16, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_words(device, f, contents, 4);
        write_words(device, a, &rows[i].from, 1);
        vyre_binding bindings[] = {engine_resident(f, 0, 4), engine_resident(a, 0, 1)};
        vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 1, rows[i].passes);
        assert_int_equal(report.passes, rows[i].ran);
        assert_int_equal(report.convergence,
                         rows[i].flag ? VYRE_CONVERGENCE_LIMIT : VYRE_CONVERGENCE_YES);
        check_shown(device, f, a, rows[i].flag, rows[i].left);
    }
    must_destroy(device, &f);
    must_destroy(device, &a);
    engine_release(&p);
}

static void test_flag_of_the_last_pass_is_in_its_buffer(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_shown);
    in_each_form(LAYER_HEAPS_SEPARATE, run_shown);
}

/* The host writes the state where the device has it, if it can: then a chunk has one copy, of what
 * the passes left of it. */
static void count_copies(vyre_device *device, int form)
{
    static const char text[] = "program bare\nworkgroup 1\nfixpoint 50 until f\n"
                               "inout a : u32[2]\nscratch f : u32[1]\n"
                               "kernel { if a[0] != 0 { a[0] = a[0] - 1  f[0] = 1 } }\n";
    uint32_t words[2] = {3, 0};
    engine_program p = engine_build(device, text);
    vyre_buffer a = engine_buffer(device, 8, words);
    vyre_binding bindings[] = {engine_resident(a, 0, 2), {.kind = VYRE_BINDING_NONE}};
    layer_clear_events();
    vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 1, 0);
    assert_int_equal(report.passes, 4);
    bool is_separate = layer.heaps == LAYER_HEAPS_SEPARATE;
    uint32_t copies = layer_count(LAYER_COPY);
    if (form == FORM_DESCRIPTOR && engine_validates()) {
        /* Else blocks come to the device's memory with each chunk, and the state's start with the
         * first. */
        assert_int_equal(copies, report.recordings + (is_separate ? report.recordings + 1 : 0));
    }
    assert_int_equal(layer_count(LAYER_FILL), 0); /* nobody looks into the flag's buffer */
    for (uint32_t i = 0; i < 5; i++) {            /* and it begins anew each time */
        words[0] = i;
        write_words(device, a, words, 2);
        report = engine_run(&p, bindings, 2, NULL, 0, 1, 0);
        assert_int_equal(report.passes, i + 1);
    }
    must_destroy(device, &a);
    engine_release(&p);
}

static void test_state_begins_where_the_device_has_it(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, count_copies);
    in_each_form(LAYER_HEAPS_SEPARATE, count_copies);
}

/* Steps that run again begin anew, and others read what they left of the flag. */
static void run_steps(vyre_device *device, int form)
{
    (void)form;
    engine_program down = engine_build(device, shown_text);
    engine_program note = engine_build(device, "program note\nworkgroup 1\n"
                                               "in f : u32[]\ninout seen : u32[4]\n"
                                               "kernel { atomic_add(seen[0], f[0])\n"
                                               "  atomic_add(seen[1], 1) }\n");
    uint32_t words[4] = {70, 71, 72, 73}, from = 30, seen[4] = {0};
    vyre_buffer f = engine_buffer(device, 16, words), a = engine_buffer(device, 4, &from);
    vyre_buffer s = engine_buffer(device, 16, seen);
    vyre_binding of_down[] = {engine_resident(f, 0, 4), engine_resident(a, 0, 1)};
    vyre_binding of_note[] = {engine_resident(f, 0, 4), engine_resident(s, 0, 4)};
    vyre_step steps[] = {{.pipeline = down.pipeline, .dispatch = engine_params(of_down, 2)},
                         {.pipeline = note.pipeline, .dispatch = engine_params(of_note, 2)}};
    steps[0].dispatch.passes = 2;
    steps[0].dispatch.flags = steps[1].dispatch.flags = 0;
    vyre_sequence_params params_of = {
        .struct_size = (uint32_t)sizeof params_of, .group = steps, .group_count = 2, .repeat = 5};
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    if (vyre_sequence_create(device, &params_of, &sequence, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_report report;
    assert_int_equal(vyre_sequence_run(sequence, 0, &report, &diag), VYRE_OK);
    assert_int_equal(report.passes, 5 * 2 + 5);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_LIMIT);
    read_words(device, s, 0, seen, 4);
    /* Two passes a step from 30 down: the second one's value is left. */
    assert_int_equal(seen[0], 29 + 27 + 25 + 23 + 21);
    assert_int_equal(seen[1], 5);
    from = 2;
    write_words(device, a, &from, 1);
    assert_int_equal(vyre_sequence_run(sequence, 0, &report, &diag), VYRE_OK);
    assert_int_equal(report.passes, 5 + 5);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
    assert_int_equal(report.passes_saved, 5);
    read_words(device, s, 0, seen, 4);
    assert_int_equal(seen[0], 29 + 27 + 25 + 23 + 21); /* and zeros */
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &f);
    must_destroy(device, &a);
    must_destroy(device, &s);
    engine_release(&down);
    engine_release(&note);
}

static void test_flag_in_steps_that_run_again(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_steps);
}

/* The device reads the grid: none, one workgroup, many. */
static void run_grids(vyre_device *device, int form)
{
    static const char text[] =
        "program grids\nworkgroup 4\ngrid from n\nfixpoint 20 until f\n"
        "in n : u32[3]\ninout f : u32[1]\ninout a : u32[]\n"
        "kernel { if gid.x == 0 { atomic_add(a[1], 1) }\n"
        "  if gid.x < 4 * num_groups.x && a[0] != 0 { atomic_add(f[0], 1) }\n"
        "  grid_sync\n"
        "  if gid.x == 0 && a[0] != 0 { a[0] = a[0] - 1 } }\n";
    static const struct {
        uint32_t n, from, limit, ran, flag;
    } rows[] = {{0, 3, 0, 1, 0},   {1, 3, 0, 4, 0},  {3, 0, 0, 1, 0},
                {3, 5, 0, 6, 0},   {9, 5, 5, 5, 36}, {2, 19, 0, 20, 0},
                {2, 20, 0, 20, 8}, {0, 3, 2, 1, 0},  {0, 9, 1, 1, 0}};
    (void)form;
    engine_program p = engine_build(device, text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n[3] = {rows[i].n, 1, 1}, f = 6, a[2] = {rows[i].from, 0};
        vyre_binding bindings[] = {engine_host_in(n, 3), engine_host_inout(&f, 1),
                                   engine_host_inout(a, 2)};
        vyre_dispatch_params d = engine_params(bindings, 3);
        d.groups[0] = d.groups[1] = d.groups[2] = 0;
        d.passes = rows[i].limit;
        vyre_report report = must_dispatch(&p, &d);
        assert_int_equal(report.passes, rows[i].ran);
        assert_int_equal(report.convergence,
                         rows[i].flag ? VYRE_CONVERGENCE_LIMIT : VYRE_CONVERGENCE_YES);
        assert_int_equal(f, rows[i].flag);
        assert_int_equal(a[1], rows[i].n ? rows[i].ran : 0);
        assert_int_equal(report.groups[0], rows[i].n);
    }
    engine_release(&p);
}

static void test_flag_with_a_grid_from_the_device(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_grids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_fixpoints_end_as_in_the_interpreter),
        cmocka_unit_test(test_flag_of_the_last_pass_is_in_its_buffer),
        cmocka_unit_test(test_state_begins_where_the_device_has_it),
        cmocka_unit_test(test_flag_in_steps_that_run_again),
        cmocka_unit_test(test_flag_with_a_grid_from_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

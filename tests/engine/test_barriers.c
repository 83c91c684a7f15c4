/* What passes from one invocation to another at a barrier, by workgroup memory and by storage, in
 * programs from whose text alone a compiler could take that nothing changes: devices whose barriers
 * have no order of memory of their own (VY_SPEC_TURNS) among them. The interpreter is the judge. */
#include "forms.h"

#include "vyre/interp.h"
#include "vyre/text.h"

enum { SIZE = 64, GROUPS = 5, COUNT = SIZE * GROUPS };

#define PROGRAM(body)                                                                              \
    "program barriers\nworkgroup 64\n"                                                             \
    "in x : u32[]\ninout y : u32[len(x)]\nshared s : u32[64]\n"                                    \
    "kernel {\n  let i = lid.x\n  let at = gid.x\n  var v = x[at]\n" body "\n  y[at] = v\n}\n"

static const struct {
    const char *name, *text;
} cases[] = {
    {"what a neighbour leaves at one's own place",
     PROGRAM("  s[i] = v\n  barrier\n  for k in 0 .. 9 {\n    let mine = s[i]\n    barrier\n"
             "    s[(i + 1) & 63] = mine * 3 + k\n    barrier\n    v += s[i]\n    barrier\n  }")},
    {"one word that one after the other writes",
     PROGRAM("  if i == 0 { s[0] = v }\n  barrier\n  let a = s[0]\n  barrier\n"
             "  if i == 5 { s[0] = a + 7 }\n  barrier\n  let b = s[0]\n  barrier\n"
             "  if i == 63 { s[0] = b * 5 }\n  barrier\n  v += a ^ b ^ s[0]")},
    {"places turned round",
     PROGRAM("  s[i] = v\n  barrier\n  v = s[63 - i]\n  barrier\n  s[i] = v + 1\n  barrier\n"
             "  v += s[(i * 5) & 63]\n  barrier\n  s[(i * 7) & 63] = v\n  barrier\n  v += s[i]")},
    {"ways that only some take",
     PROGRAM("  s[i] = v\n  barrier\n  for k in 0 .. 6 {\n    let old = s[i]\n    barrier\n"
             "    switch (i + k) % 3 {\n      case 0 { s[i ^ 1] = old + 1 }\n"
             "      case 1 { s[i ^ 1] = old ^ k }\n      default { s[i ^ 1] = old }\n    }\n"
             "    barrier\n    if i < 32 >> k { s[i] += s[i + (32 >> k)] }\n    barrier\n"
             "    v = v * 3 + s[i]\n    barrier\n  }")},
    {"sums by atomics between plain accesses",
     PROGRAM("  s[i] = 0\n  barrier\n  let before = s[v & 63]\n  barrier\n"
             "  atomic_add(s[v & 63], i + 1)\n  barrier\n  v = v * 5 + before + s[i]\n  barrier\n"
             "  atomic_max(s[(v >> 3) & 63], v)\n  barrier\n  v += s[i] + s[v & 63]")},
    {"storage of the same workgroup",
     PROGRAM("  y[at] = v\n  barrier\n  for k in 0 .. 5 {\n    let mine = y[at]\n    barrier\n"
             "    y[at - i + ((i + 9) & 63)] = mine + k\n    barrier\n    v = v * 3 + y[at]\n"
             "    barrier\n  }")},
    {"neighbours that are read at once",
     PROGRAM("  s[i] = v\n  barrier\n  let q = (i & 15) * 4\n"
             "  v = s[q] + s[q + 1] * 3 + s[q + 2] * 5 + s[q + 3] * 7\n  barrier\n"
             "  if i >= 60 { s[i - 60] = v }\n  barrier\n"
             "  v += s[q] + s[q + 1] * 3 + s[q + 2] * 5 + s[q + 3] * 7")},
};

static void fill(uint32_t x[COUNT])
{
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = (i * 2654435761u) >> 5;
    }
}

static void by_interpreter(const char *text, uint32_t x[COUNT], uint32_t y[COUNT])
{
    vyre_program *program = NULL;
    vyre_interp_report report;
    vyre_diag diag;
    vyre_host_buffer buffers[2] = {{x, COUNT}, {y, COUNT}};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = 2,
                                 .groups = {GROUPS, 1, 1}};
    if (vyre_program_parse(text, strlen(text), "t", NULL, &program, &diag) != VYRE_OK ||
        vyre_interp_run(program, &params, &report, &diag) != VYRE_OK) {
        fail_msg("%s\n%s", diag.message, text);
    }
    vyre_program_destroy(&program);
}

static void check_all(vyre_device *device, int form)
{
    uint32_t x[COUNT], wanted[COUNT], got[COUNT];
    fill(x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(wanted, 0, sizeof wanted);
        memset(got, 0, sizeof got);
        by_interpreter(cases[i].text, x, wanted);
        engine_program p = engine_build(device, cases[i].text);
        vyre_binding bindings[2] = {engine_host_in(x, COUNT), engine_host_inout(got, COUNT)};
        vyre_dispatch_params params;
        vyre_dispatch_params_init(&params);
        params.bindings = bindings;
        params.binding_count = 2;
        params.groups[0] = GROUPS;
        vyre_report report = must_dispatch(&p, &params);
        check_form(&report, form, engine_validates());
        for (uint32_t k = 0; k < COUNT; k++) {
            if (got[k] != wanted[k]) {
                fail_msg("%s: y[%u] is %u instead of %u", cases[i].name, k, got[k], wanted[k]);
            }
        }
        engine_release(&p);
    }
}

static void test_barriers_pass_on_what_was_written(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers_pass_on_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Joined atomics in invocations that do several elements, one for a workgroup where all of it is
 * there: the cells are those of the elements one by one, by the interpreter, whatever the operator,
 * the workgroup's size and how much of the last workgroup the grid fills. The engine takes the
 * device for a GPU, so that it joins where the device can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"
#include "vyre/interp.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 36000, CELLS = 8, SEEDS = 16 };

/* What a program is given and leaves. */
typedef struct cells {
    uint32_t n[CELLS], k[CELLS];
    uint64_t w[CELLS];
} cells;

typedef struct machine {
    vyre_device *device;
    vyre_device_type type;
    uint32_t *x, *y, *model;
} machine;

/* ---- Machine --------------------------------------------------------------------------------- */

static int open_machine(void **state)
{
    (void)engine_reset(state);
    machine *m = calloc(1, sizeof *m);
    *state = m;
    if (!m) {
        return -1;
    }
    if (!engine_has_no_device()) {
        m->device = engine_open(0); /* with validation nothing is joined */
        m->type = m->device->snapshot.info.type;
        m->device->snapshot.info.type = VYRE_DEVICE_DISCRETE;
        assert_int_equal(
            vy_device_joins_coarse(m->device),
            m->device->snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence]);
    }
    m->x = calloc(MOST, sizeof *m->x);
    m->y = calloc(MOST, sizeof *m->y);
    m->model = calloc(MOST, sizeof *m->model);
    for (uint32_t i = 0; m->x && i < MOST; i++) {
        m->x[i] = (i + 7) * 2654435761u >> 5;
    }
    return m->x && m->y && m->model ? 0 : -1;
}

static int close_machine(void **state)
{
    machine *m = *state;
    if (m->device) {
        m->device->snapshot.info.type = m->type;
        engine_close(&m->device);
    }
    free(m->x);
    free(m->y);
    free(m->model);
    free(m);
    return engine_nothing_alive(state);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct given {
    const char *head, *body;
    vyre_interface interface;
    vyre_target target;
    uint32_t workgroup[3], n, p;
} given;

#define HEAD                                                                                       \
    "program joins\nworkgroup 32\ngrid over x\nin x : u32[]\ninout y : u32[]\ninout n : i32[8]\n"  \
    "inout k : u32[8]\ninout w : u64[8]\nparam p : u32\nkernel {\nlet v = x[gid.x]\n"

/* The grid is no buffer's, so that workgroups may be high. */
#define HIGH_HEAD                                                                                  \
    "program joins\nworkgroup 32\nin x : u32[]\ninout y : u32[]\ninout n : i32[8]\n"               \
    "inout k : u32[8]\ninout w : u64[8]\nparam p : u32\nkernel {\nlet v = x[gid.x]\n"

static vyre_program *parse(const given *g)
{
    char text[4096];
    vyre_program *program = NULL;
    vyre_diag diag;
    assert_true((size_t)snprintf(text, sizeof text, "%s%s}\n", g->head, g->body) < sizeof text);
    if (vyre_program_parse(text, strlen(text), "joins", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u: %s\n%s", (unsigned)diag.line, diag.message, text);
    }
    return program;
}

static engine_program build(const machine *m, const given *g)
{
    vyre_program *program = parse(g);
    engine_program p = {0};
    vyre_diag diag;
    vyre_kernel_params params;
    vyre_pipeline_params options;
    bool by_address =
        g->interface == VYRE_INTERFACE_ADDRESS && m->device->snapshot.info.has_addresses;
    vyre_device_kernel_params(m->device, &params);
    params.interface = by_address ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
    params.target = g->target;
    vyre_pipeline_params_init(&options);
    options.bindings = by_address ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR;
    memcpy(options.workgroup, g->workgroup, sizeof options.workgroup);
    if (vyre_kernel_compile(program, &params, &p.kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    engine_note(p.kernel);
    if (vyre_pipeline_create(m->device, p.kernel, &options, &p.pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    return p;
}

static void begin_cells(cells *c)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        c->n[i] = 1000 * i;
        c->k[i] = 0x0f0f0f0fu << i % 3;
        c->w[i] = (uint64_t)i << 40;
    }
}

static void interpret(const machine *m, const given *g, cells *c)
{
    vyre_program *program = parse(g);
    vyre_diag diag;
    vyre_host_buffer buffers[5] = {
        {m->x, g->n}, {m->model, g->n}, {c->n, CELLS}, {c->k, CELLS}, {c->w, CELLS}};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = 5,
                                 .params = &g->p,
                                 .param_count = 1};
    params.elements[0] = strcmp(g->head, HIGH_HEAD) == 0 ? g->n : 0;
    begin_cells(c);
    memset(m->model, 0, g->n * sizeof *m->model);
    if (vyre_interp_run(program, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
}

/* Gives whether invocations did more than one element. */
static bool dispatch(const machine *m, const given *g, const engine_program *p, cells *c)
{
    const vyre_binding bindings[5] = {
        engine_host_in(m->x, g->n), engine_host_inout(m->y, g->n), engine_host_inout(c->n, CELLS),
        engine_host_inout(c->k, CELLS), engine_host_inout(c->w, CELLS)};
    vyre_dispatch_params params = engine_params(bindings, 5);
    memset(params.groups, 0, sizeof params.groups);
    params.elements[0] = strcmp(g->head, HIGH_HEAD) == 0 ? g->n : 0;
    params.params = &g->p;
    params.param_count = 1;
    params.coarsening = VYRE_COARSENING_ALWAYS;
    begin_cells(c);
    memset(m->y, 0, g->n * sizeof *m->y);
    return must_dispatch(p, &params).is_coarse != 0;
}

/* Whoever reads none does one element. */
static bool has_stream(const given *g)
{
    return strchr(g->body, 'v') != NULL;
}

static void check_run(const machine *m, const given *g, const engine_program *p)
{
    cells got, wanted;
    interpret(m, g, &wanted);
    if (dispatch(m, g, p, &got) != has_stream(g)) {
        fail_msg("%s: %s", has_stream(g) ? "one by one" : "coarse", g->body);
    }
    if (memcmp(&got, &wanted, sizeof got) != 0 ||
        memcmp(m->y, m->model, g->n * sizeof *m->y) != 0) {
        for (uint32_t i = 0; i < CELLS; i++) {
            print_error("%u: n %d not %d, k %u not %u, w %llu not %llu\n", (unsigned)i,
                        (int)got.n[i], (int)wanted.n[i], (unsigned)got.k[i], (unsigned)wanted.k[i],
                        (unsigned long long)got.w[i], (unsigned long long)wanted.w[i]);
        }
        fail_msg("%u elements by %u, interface %d, target %d: %s", (unsigned)g->n,
                 (unsigned)g->workgroup[0], (int)g->interface, (int)g->target, g->body);
    }
}

/* ---- Workgroups ------------------------------------------------------------------------------ */

/* Elements that an invocation does. */
static uint32_t elements_of(const machine *m, const engine_program *p)
{
    vy_kernel_coarse coarse;
    vyre_diag diag;
    assert_int_equal(vy_kernel_coarsen(p->kernel, VYRE_INTERFACE_DESCRIPTOR,
                                       vy_device_joins_coarse(m->device), &coarse, &diag),
                     VYRE_OK);
    return coarse.elements ? coarse.elements[0] : 1;
}

/* Sizes that fill `groups` workgroups, without a rest and with, and that lack some. */
static uint32_t size_of(uint32_t elements, uint32_t workgroup, uint32_t groups, uint32_t which)
{
    int64_t each = elements, wide = workgroup, all = each * wide * groups;
    const int64_t sizes[] = {all,
                             all - 1,
                             all + 1,
                             all - each,
                             all + each * (wide / 2 + 1) + 3,
                             all - each * wide / 2 - 5,
                             each + 1};
    int64_t n = sizes[which % VY_COUNT_OF(sizes)];
    return n > MOST ? MOST : n > 0 ? (uint32_t)n : 1;
}

static const uint32_t workgroups[] = {1, 2, 8, 33, 64, 100, 128, 256, 300};

static void test_sums_of_workgroups_are_those_of_elements(void **state)
{
    const machine *m = *state;
    NEED_OPEN(m->device);
    static const char *const bodies[] = {
        "atomic_add(k[0], v)\n",
        "atomic_sub(n[1], i32(v))\n",
        "atomic_min(n[2], i32(v))\n",
        "atomic_max(n[3], i32(v >> 8))\n",
        "atomic_min(k[4], v)  atomic_max(n[0], i32(v) - 70000000i)\n",
        "atomic_and(k[5], v | 0xffff)\n",
        "atomic_or(k[6], v & 0x30)  atomic_xor(n[7], i32(v))\n",
        "if v % 5 == 1 { atomic_add(k[0], 1) }\n",
        "if v % 3 == 1 { atomic_add(k[1], v) } else { if v % 7 < 5 { atomic_add(k[2], 9) } }\n",
        "if v == 77 { atomic_min(k[3], 5) }  atomic_add(w[1], u64(v) << 20)\n",
        "atomic_add(k[p], 3)\n",      /* 3, or nowhere */
        "atomic_add(k[len(k)], v)\n", /* nowhere */
        "y[gid.x] = v ^ 5  atomic_xor(k[p], v)\n",
        "if v % 2 == 0 { y[gid.x] = 3 }  atomic_add(k[0], v)  atomic_add(k[1], 1)\n"
        "atomic_add(k[2], v & 3)  atomic_add(k[3], 7)  atomic_add(k[4], v * v)\n",
        "y[gid.x] = v  atomic_add(n[0], 1i)\n",
    };
    for (uint32_t i = 0; i < VY_COUNT_OF(bodies) * 2; i++) {
        given g = {.head = HEAD,
                   .body = bodies[i % VY_COUNT_OF(bodies)],
                   .interface = i % 2 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                   .target = i % 3 ? VYRE_TARGET_VULKAN_1_3 : VYRE_TARGET_VULKAN_1_2,
                   .workgroup = {workgroups[i % VY_COUNT_OF(workgroups)], 1, 1},
                   .p = i % 4 ? 3 : 99};
        engine_program p = build(m, &g);
        uint32_t elements = elements_of(m, &p);
        for (uint32_t which = i; which < i + 3; which++) {
            g.n = size_of(elements, g.workgroup[0], 1 + which % 2, which);
            check_run(m, &g, &p);
        }
        engine_release(&p);
    }
}

/* Of what is beyond the grid in y nothing may be waited for. */
static void test_high_workgroups_do_without(void **state)
{
    const machine *m = *state;
    NEED_OPEN(m->device);
    static const uint32_t shapes[][3] = {{8, 1, 1}, {8, 8, 1}, {8, 1, 4}, {1, 5, 3}};
    for (size_t i = 0; i < VY_COUNT_OF(shapes); i++) {
        given g = {.head = HIGH_HEAD, .body = "atomic_add(k[0], v)\n"};
        g.target = VYRE_TARGET_VULKAN_1_3;
        memcpy(g.workgroup, shapes[i], sizeof g.workgroup);
        engine_program p = build(m, &g);
        for (uint32_t which = 0; which < 5; which++) {
            g.n = size_of(elements_of(m, &p), g.workgroup[0], 2, which);
            check_run(m, &g, &p);
        }
        engine_release(&p);
    }
}

/* ---- Old values ------------------------------------------------------------------------------ */

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The elements are appended in any order: sorted, they are those of the interpreter. */
static void test_workgroups_append_every_element_once(void **state)
{
    const machine *m = *state;
    NEED_OPEN(m->device);
    static const char *const bodies[] = {
        "if (v & 1) == 1 { let o = atomic_add(k[0], 1)  y[o - 0x0f0f0f0f] = v }\n",
        "if v % 3 == 1 { let o = atomic_sub(n[3], 1i)  y[u32(3000i - o)] = v + gid.x }\n",
        /* Places by sums that are not counted by lanes, of which some are 0. */
        "let o = atomic_add(k[3], v & 1)  if (v & 1) == 1 { y[o - 0x0f0f0f0f] = v }\n",
        "let o = atomic_add(k[6], 1)  y[o - 0x0f0f0f0f] = v\n",
        /* Nothing is added, and everybody looks. */
        "let o = atomic_add(k[0], v >> 27)  y[gid.x] = o\n",
        /* From both ends. */
        "if v % 4 == 3 { let o = atomic_add(k[0], 1)  y[o - 0x0f0f0f0f] = v } else {\n"
        "let o = atomic_sub(n[2], 1i)  y[len(y) - 1 - u32(2000i - o)] = v }\n",
        /* The last ones have no place; the first ones. */
        "if v % 3 != 1 { let o = atomic_add(k[0], 1)  y[o - 0x0f0f0f0f + 900] = 7 }\n",
        "if v % 3 != 1 { let o = atomic_add(k[0], 1)  y[o - 0x0f0f0f0f - 40] = 9 }\n",
    };
    for (uint32_t i = 0; i < VY_COUNT_OF(bodies) * 4; i++) {
        given g = {.head = HEAD,
                   .body = bodies[i % VY_COUNT_OF(bodies)],
                   .interface = i % 2 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                   .target = i % 3 ? VYRE_TARGET_VULKAN_1_3 : VYRE_TARGET_VULKAN_1_2,
                   .workgroup = {workgroups[i % VY_COUNT_OF(workgroups)], 1, 1}};
        engine_program p = build(m, &g);
        for (uint32_t which = i; which < i + 4; which++) {
            cells got, wanted;
            g.n = size_of(elements_of(m, &p), g.workgroup[0], 1 + which % 3, which);
            interpret(m, &g, &wanted);
            if (!dispatch(m, &g, &p, &got)) {
                fail_msg("one by one: %s", g.body);
            }
            assert_memory_equal(&got, &wanted, sizeof got);
            qsort(m->y, g.n, sizeof *m->y, compare_words);
            qsort(m->model, g.n, sizeof *m->model, compare_words);
            if (memcmp(m->y, m->model, g.n * sizeof *m->y) != 0) {
                fail_msg("%u elements by %u: %s", (unsigned)g.n, (unsigned)g.workgroup[0], g.body);
            }
        }
        engine_release(&p);
    }
}

/* What is staged needs more of the workgroup's memory than such a device has. */
static void test_little_workgroup_memory_keeps_one_element(void **state)
{
    const machine *m = *state;
    NEED_OPEN(m->device);
    uint32_t *size = &m->device->snapshot.info.max_shared_size, old = *size;
    given g = {.head = HEAD,
               .body = "if v % 3 == 1 { let o = atomic_add(k[0], 1)  y[o - 0x0f0f0f0f] = v }\n",
               .target = VYRE_TARGET_VULKAN_1_3,
               .workgroup = {64, 1, 1},
               .n = 5000};
    for (uint32_t i = 0; i < 2; i++) {
        *size = i ? 16384 : old;
        engine_program p = build(m, &g);
        cells got, wanted;
        interpret(m, &g, &wanted);
        bool is_coarse = dispatch(m, &g, &p, &got);
        engine_release(&p);
        *size = old;
        assert_int_equal(is_coarse, !(i && vy_device_joins_coarse(m->device)));
        assert_memory_equal(&got, &wanted, sizeof got);
        qsort(m->y, g.n, sizeof *m->y, compare_words);
        qsort(m->model, g.n, sizeof *m->model, compare_words);
        assert_memory_equal(m->y, m->model, g.n * sizeof *m->y);
    }
}

/* ---- Generated programs ---------------------------------------------------------------------- */

static uint32_t pick(uint64_t *state, uint32_t count)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % count;
}

/* Atomics of each buffer by one operator, under conditions, beside stores. */
static void write_body(vy_text *text, uint64_t *state)
{
    static const char *const ops[] = {"add", "sub", "min", "max", "and", "or", "xor"};
    static const char *const conditions[] = {"v % 3 == 1", "v > 60000000", "v % 97 == 5",
                                             "gid.x % 64 < 9", "(v >> 3) % 2 == 0"};
    static const char *const operands[] = {"v", "1", "v >> 9", "gid.x", "v & 7", "3"};
    const char *of_n = ops[pick(state, VY_COUNT_OF(ops))];
    const char *of_k = ops[pick(state, VY_COUNT_OF(ops))];
    for (uint32_t i = 1 + pick(state, 4); i > 0; i--) {
        bool is_n = pick(state, 2), is_some = pick(state, 2);
        if (is_some) {
            vy_text_printf(text, "if %s { ", conditions[pick(state, VY_COUNT_OF(conditions))]);
        }
        vy_text_printf(text, "atomic_%s(%s[%u], %s(%s))%s\n", is_n ? of_n : of_k, is_n ? "n" : "k",
                       (unsigned)pick(state, 3), is_n ? "i32" : "u32",
                       operands[pick(state, VY_COUNT_OF(operands))], is_some ? " }" : "");
    }
    if (!pick(state, 3)) {
        vy_text_printf(text, "y[gid.x] = v * 3\n");
    }
}

static void test_generated_joins_leave_the_same_cells(void **state)
{
    const machine *m = *state;
    NEED_OPEN(m->device);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15u;
        vy_text text;
        vy_text_init(&text, NULL);
        write_body(&text, &random);
        assert_false(text.failed);
        given g = {.head = HEAD,
                   .body = text.data,
                   .interface =
                       pick(&random, 2) ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                   .target = pick(&random, 2) ? VYRE_TARGET_VULKAN_1_3 : VYRE_TARGET_VULKAN_1_2,
                   .workgroup = {1 + pick(&random, pick(&random, 2) ? 256 : 40), 1, 1}};
        engine_program p = build(m, &g);
        for (uint32_t which = 0; which < 3; which++) {
            g.n =
                size_of(elements_of(m, &p), g.workgroup[0], 1 + pick(&random, 4), pick(&random, 7));
            check_run(m, &g, &p);
        }
        engine_release(&p);
        vy_text_finish(&text);
    }
}

/* Runs the tests whose names match the argument; without one all. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_of_workgroups_are_those_of_elements, open_machine,
                                        close_machine),
        cmocka_unit_test_setup_teardown(test_high_workgroups_do_without, open_machine,
                                        close_machine),
        cmocka_unit_test_setup_teardown(test_workgroups_append_every_element_once, open_machine,
                                        close_machine),
        cmocka_unit_test_setup_teardown(test_little_workgroup_memory_keeps_one_element,
                                        open_machine, close_machine),
        cmocka_unit_test_setup_teardown(test_generated_joins_leave_the_same_cells, open_machine,
                                        close_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

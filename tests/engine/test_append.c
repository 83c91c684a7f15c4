/* Atomics whose old values are used, in invocations that do several elements: what they find is
 * what some order of the elements gives, so that elements which are appended each get a place of
 * their own; with and without joining within subgroups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4099, ROOM = 2 * MOST + 8, CELLS = 4, LISTS = 2 };

/* What a program must have left: lists in any order. */
typedef struct lists {
    uint32_t count[LISTS], values[LISTS][ROOM];
} lists;

/* What it was given and has left. */
typedef struct memory {
    uint32_t n, x[MOST], y[ROOM], z[ROOM], cells[CELLS];
} memory;

typedef struct row {
    const char *body;
    void (*model)(uint32_t v, uint32_t i, lists *out);
    bool (*check)(const memory *m); /* instead */
    bool is_down;                   /* n[0] begins with what will be taken from it */
} row;

/* ---- Programs -------------------------------------------------------------------------------- */

static void put(lists *out, uint32_t list, uint32_t value)
{
    out->values[list][out->count[list]++] = value;
}

static void keep_odd(uint32_t v, uint32_t i, lists *out)
{
    (void)i;
    if (v & 1) {
        put(out, 0, v);
    }
}

static void keep_odd_last(uint32_t v, uint32_t i, lists *out)
{
    (void)i;
    if (v & 1) {
        put(out, 1, v);
    }
}

static void keep_two(uint32_t v, uint32_t i, lists *out)
{
    keep_odd(v, i, out);
    if (v % 3 == 0) {
        put(out, 1, i);
    }
}

static void part(uint32_t v, uint32_t i, lists *out)
{
    put(out, v & 1 ? 0 : 1, v + i);
}

static void keep_some_of_odd(uint32_t v, uint32_t i, lists *out)
{
    if (v % 2 == 1 && v % 5 > 2) {
        put(out, 0, i);
    } else if (v % 2 == 0 && v % 7 > 1) {
        put(out, 0, i + 100000);
    }
}

static void keep_and_count(uint32_t v, uint32_t i, lists *out)
{
    keep_odd(v, i, out);
    if (v & 1) {
        put(out, 0, v + 1);
    }
}

/* In the same place, the value and its number. */
static bool has_pairs(const memory *m)
{
    static bool seen[MOST];
    uint32_t count = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < m->n; i++) {
        count += m->x[i] & 1;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = m->z[k];
        if (i >= m->n || seen[i] || !(m->x[i] & 1) || m->y[k] != m->x[i]) {
            return false;
        }
        seen[i] = true;
    }
    return m->cells[0] == count && m->z[count] == 0 && m->y[count] == 0;
}

/* Ranges of 0 to 2 places that do not overlap. */
static bool has_ranges(const memory *m)
{
    static uint32_t seen[MOST];
    uint32_t count = 0, k = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < m->n; i++) {
        count += m->x[i] % 3;
    }
    while (k < count) {
        uint32_t i = m->y[k] - 1, size = i < m->n ? m->x[i] % 3 : 0;
        if (!size || seen[i] || (size == 2 && m->y[k + 1] != i + 1)) {
            return false;
        }
        seen[i] = 1;
        k += size;
    }
    return m->cells[0] == count && m->y[count] == 0;
}

/* Each finds as many as there were before it: those that brought one all differ; what the others
 * found is one of these, or all. */
static bool has_tickets(const memory *m)
{
    static bool seen[MOST];
    uint32_t count = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < m->n; i++) {
        count += m->x[i] & 1;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->y[i] > count || ((m->x[i] & 1) && (m->y[i] == count || seen[m->y[i]]))) {
            return false;
        }
        if (m->x[i] & 1) {
            seen[m->y[i]] = true;
        }
    }
    return m->cells[0] == count;
}

#define HEAD                                                                                       \
    "program append\nworkgroup 32\ngrid over x\nin x : u32[]\ninout y : u32[]\n"                   \
    "inout z : u32[]\ninout n : u32[4]\nkernel {\nlet v = x[gid.x]\n"

static const row rows[] = {
    {"if (v & 1) == 1 { let k = atomic_add(n[0], 1)  y[k] = v }\n", keep_odd, NULL, false},
    {"if (v & 1) == 1 { let k = atomic_add(n[0], 1)  y[k] = v }\n"
     "if v % 3 == 0 { let k = atomic_add(n[1], 1)  z[k] = gid.x }\n",
     keep_two, NULL, false},
    {"if (v & 1) == 1 { let k = atomic_add(n[0], 1)  y[k] = v + gid.x } else {\n"
     "let k = atomic_add(n[1], 1)  z[k] = v + gid.x }\n",
     part, NULL, false},
    {"if v % 2 == 1 { if v % 5 > 2 { let k = atomic_add(n[0], 1)  y[k] = gid.x } } else {\n"
     "if v % 7 > 1 { let k = atomic_add(n[0], 1)  y[k] = gid.x + 100000 } }\n",
     keep_some_of_odd, NULL, false},
    {"if (v & 1) == 1 { let k = atomic_add(n[0], 1)  y[k] = v\n"
     "let j = atomic_add(n[0], 1)  y[j] = v + 1 }\n",
     keep_and_count, NULL, false},
    {"if (v & 1) == 1 { let k = atomic_sub(n[0], 1)  y[k - 1] = v }\n", keep_odd, NULL, true},
    {"if (v & 1) == 1 { let k = atomic_add(n[0], 1)  y[k] = v  z[k] = gid.x }\n", NULL, has_pairs,
     false},
    {"var size = 0\nif v % 3 == 1 { size = 1 } else { if v % 3 == 2 { size = 2 } }\n"
     "let k = atomic_add(n[0], size)  if size > 0 { y[k] = gid.x + 1 }\n"
     "if size > 1 { y[k + 1] = gid.x + 1 }\n",
     NULL, has_ranges, false},
    {"let k = atomic_add(n[0], v & 1)  y[gid.x] = k\n", NULL, has_tickets, false},
    /* One after the other: what is written could say which elements stay. */
    {"if y[len(y) - 1] == 0 && (v & 1) == 1 { let k = atomic_add(n[0], 1)  y[k] = v }\n", keep_odd,
     NULL, false},
    {"let k = atomic_add(n[0], v & 1)  if k < 1000000 && (v & 1) == 1 {\n"
     "let j = atomic_add(n[1], 1)  z[j] = v }\n",
     keep_odd_last, NULL, false},
};

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct way {
    vyre_interface interface;
    uint32_t aggregate;
    vyre_coarsening coarsening;
    bool is_gpu; /* the engine takes it for one, whose coarse words are joined */
} way;

static const way ways[] = {
    {VYRE_INTERFACE_DESCRIPTOR, 0, VYRE_COARSENING_ALWAYS, false},
    {VYRE_INTERFACE_ADDRESS, 0, VYRE_COARSENING_ALWAYS, false},
    {VYRE_INTERFACE_DESCRIPTOR, 0, VYRE_COARSENING_ALWAYS, true},
    {VYRE_INTERFACE_ADDRESS, 0, VYRE_COARSENING_ALWAYS, true},
    {VYRE_INTERFACE_DESCRIPTOR, VYRE_AGGREGATE_ALL, VYRE_COARSENING_ALWAYS, false},
    {VYRE_INTERFACE_ADDRESS, VYRE_AGGREGATE_ALL, VYRE_COARSENING_ALWAYS, false},
    {VYRE_INTERFACE_DESCRIPTOR, VYRE_AGGREGATE_ALL, VYRE_COARSENING_NEVER, false},
};

static engine_program build(vyre_device *device, const char *body, const way *w)
{
    char text[1024];
    vyre_program *program = NULL;
    engine_program p = {0};
    vyre_diag diag;
    vyre_kernel_params params;
    vyre_pipeline_params options;
    bool by_address = w->interface == VYRE_INTERFACE_ADDRESS && device->snapshot.info.has_addresses;
    (void)snprintf(text, sizeof text, HEAD "%s}\n", body);
    vyre_device_kernel_params(device, &params);
    params.aggregate = w->aggregate;
    params.interface = by_address ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
    vyre_pipeline_params_init(&options);
    options.bindings = by_address ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR;
    if (vyre_program_parse(text, strlen(text), "append", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &params, &p.kernel, &diag) != VYRE_OK) {
        fail_msg("%u: %s", (unsigned)diag.line, diag.message);
    }
    engine_note(p.kernel);
    if (vyre_pipeline_create(device, p.kernel, &options, &p.pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    return p;
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static void check_lists(const row *r, memory *m, lists *wanted)
{
    uint32_t *got[LISTS] = {m->y, m->z};
    for (uint32_t list = 0; list < LISTS; list++) {
        uint32_t count = wanted->count[list];
        if (!strstr(r->body, list ? "z[" : "y[") || (list && !strstr(r->body, "n[1]"))) {
            continue;
        }
        assert_int_equal(m->cells[list], list == 0 && r->is_down ? 0 : count);
        assert_int_equal(got[list][count], 0);
        qsort(got[list], count, sizeof(uint32_t), compare_words);
        qsort(wanted->values[list], count, sizeof(uint32_t), compare_words);
        if (memcmp(got[list], wanted->values[list], count * sizeof(uint32_t)) != 0) {
            fail_msg("%u elements, list %u: %s", (unsigned)m->n, (unsigned)list, r->body);
        }
    }
}

/* `kind` 0: all are kept; 1: none; 2: some. */
static void make_input(memory *m, uint32_t n, uint32_t kind)
{
    memset(m, 0, sizeof *m);
    m->n = n;
    for (uint32_t i = 0; i < n; i++) {
        m->x[i] = kind == 2 ? (i + 7) * 2654435761u >> 9 : kind ? 0 : 1;
    }
}

static void check_run(const engine_program *p, const row *r, const way *w, memory *m, lists *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    for (uint32_t i = 0; r->model && i < m->n; i++) {
        r->model(m->x[i], i, wanted);
    }
    m->cells[0] = r->is_down ? wanted->count[0] : 0;
    const vyre_binding bindings[4] = {engine_host_in(m->x, m->n), engine_host_inout(m->y, ROOM),
                                      engine_host_inout(m->z, ROOM),
                                      engine_host_inout(m->cells, CELLS)};
    vyre_dispatch_params params = engine_params(bindings, 4);
    memset(params.groups, 0, sizeof params.groups);
    params.coarsening = w->coarsening;
    vyre_report report = must_dispatch(p, &params);
    if (report.is_coarse != (w->coarsening == VYRE_COARSENING_ALWAYS)) {
        fail_msg("%u elements, coarse %d: %s", (unsigned)m->n, report.is_coarse, r->body);
    }
    if (r->check && !r->check(m)) {
        fail_msg("%u elements: %s", (unsigned)m->n, r->body);
    }
    if (r->model) {
        check_lists(r, m, wanted);
    }
}

static void test_appended_elements_get_places_of_their_own(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const uint32_t sizes[] = {1, 3, 31, 32, 33, 128, 129, 1000, MOST};
    static memory m;
    static lists wanted;
    vyre_device *device = engine_open(engine_validates());
    vyre_device_type type = device->snapshot.info.type;
    for (size_t i = 0; i < VY_COUNT_OF(rows) * VY_COUNT_OF(ways); i++) {
        const row *r = &rows[i / VY_COUNT_OF(ways)];
        const way *w = &ways[i % VY_COUNT_OF(ways)];
        device->snapshot.info.type = w->is_gpu ? VYRE_DEVICE_DISCRETE : type;
        engine_program p = build(device, r->body, w);
        for (size_t s = 0; s < VY_COUNT_OF(sizes) * 3; s++) {
            make_input(&m, sizes[s / 3], (uint32_t)(s % 3));
            check_run(&p, r, w, &m, &wanted);
        }
        engine_release(&p);
    }
    device->snapshot.info.type = type;
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_appended_elements_get_places_of_their_own,
                                        engine_reset, engine_nothing_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

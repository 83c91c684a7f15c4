/* Atomics whose old values are used, in invocations that do several elements: what they find is
 * what some order of the elements gives, so that elements which are appended each get a place of
 * their own; with and without joining within subgroups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "codegen/kernel.h"
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
    char text[8192];
    vyre_program *program = NULL;
    engine_program p = {0};
    vyre_diag diag;
    vyre_kernel_params params;
    vyre_pipeline_params options;
    bool by_address = w->interface == VYRE_INTERFACE_ADDRESS && device->snapshot.info.has_addresses;
    assert_true((size_t)snprintf(text, sizeof text, HEAD "%s}\n", body) < sizeof text);
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

/* With validation nothing is joined beyond invocations. */
static void check_ways(bool is_validated)
{
    static const uint32_t sizes[] = {1, 3, 31, 32, 33, 128, 129, 1000, MOST};
    static memory m;
    static lists wanted;
    vyre_device *device = engine_open(is_validated);
    vyre_device_type type = device->snapshot.info.type;
    for (size_t i = 0; i < VY_COUNT_OF(rows) * VY_COUNT_OF(ways); i++) {
        const row *r = &rows[i / VY_COUNT_OF(ways)];
        const way *w = &ways[i % VY_COUNT_OF(ways)];
        if (!is_validated && !w->is_gpu && !w->aggregate) {
            continue;
        }
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

static void test_appended_elements_get_places_of_their_own(void **state)
{
    (void)state;
    NEED_DEVICE();
    check_ways(false);
    if (engine_validates()) {
        check_ways(true);
    }
}

/* ---- Generated programs ---------------------------------------------------------------------- */

enum { SEEDS = 28 };

static uint32_t pick(uint64_t *state, uint32_t count)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % count;
}

static const char *condition(uint64_t *state)
{
    static const char *const all[] = {
        "v % 3 == 1", "w > v",      "v & w & 5 != 0", "q > 1",          "gid.x % 7 < 4",
        "u % 2 == 1", "v % 16 > 0", "!(w % 4 == 2)",  "v > w || u > w", "v % 5 == 2 && w % 2 == 0",
    };
    return all[pick(state, VY_COUNT_OF(all))];
}

/* What an element has found and brought. */
static void write_atomic(vy_text *text, uint64_t *state)
{
    static const char *const operands[] = {"1", "1", "3", "v % 5", "w & 3", "q", "u % 2"};
    const char *operand = operands[pick(state, VY_COUNT_OF(operands))];
    vy_text_printf(text, "{ let k = atomic_add(n[0], %s)  y[gid.x] = k  z[gid.x] = %s }\n", operand,
                   operand);
}

/* At most one atomic on each way. */
static void write_ways(vy_text *text, uint64_t *state, uint32_t depth, bool may_add)
{
    static const char *const steps[] = {"q = v % 3\n", "q += w & 1\n", "q = u % 4\n"};
    if (pick(state, 2)) {
        vy_text_printf(text, "%s", steps[pick(state, VY_COUNT_OF(steps))]);
    }
    if (depth == 0) {
        if (may_add && pick(state, 4)) {
            vy_text_printf(text, "if %s ", condition(state));
            write_atomic(text, state);
        }
        return;
    }
    bool is_before = may_add && pick(state, 3) > 0;
    vy_text_printf(text, "if %s {\n", condition(state));
    write_ways(text, state, depth - 1, is_before);
    vy_text_printf(text, "} else {\n");
    write_ways(text, state, depth - 1, is_before);
    vy_text_printf(text, "}\n");
    if (pick(state, 2)) {
        write_ways(text, state, depth - 1, may_add && !is_before);
    }
}

/* The elements that an invocation does where coarse words are taken. */
static uint32_t run_generated(vyre_device *device, const char *body, const way *w, memory *m)
{
    engine_program p = build(device, body, w);
    vy_kernel_coarse coarse;
    vyre_diag diag;
    assert_int_equal(
        vy_kernel_coarsen(p.kernel, w->interface, vy_device_joins_coarse(device), &coarse, &diag),
        VYRE_OK);
    uint32_t elements = coarse.elements ? coarse.elements[0] : 1;
    for (uint32_t i = 0; i < ROOM; i++) {
        m->y[i] = UINT32_MAX;
    }
    memset(m->z, 0, sizeof m->z);
    memset(m->cells, 0, sizeof m->cells);
    const vyre_binding bindings[4] = {engine_host_in(m->x, m->n), engine_host_inout(m->y, ROOM),
                                      engine_host_inout(m->z, ROOM),
                                      engine_host_inout(m->cells, CELLS)};
    vyre_dispatch_params params = engine_params(bindings, 4);
    memset(params.groups, 0, sizeof params.groups);
    params.coarsening = w->coarsening;
    (void)must_dispatch(&p, &params);
    engine_release(&p);
    return elements;
}

/* What was found and brought are ranges without holes, of the operands that one by one are brought.
 */
static void check_generated(const char *body, const memory *one, const memory *m)
{
    static bool begins[ROOM * 4];
    static uint32_t sizes[ROOM * 4];
    memset(begins, 0, sizeof begins);
    assert_int_equal(m->cells[0], one->cells[0]);
    for (uint32_t i = 0; i < m->n; i++) {
        bool has = m->y[i] != UINT32_MAX;
        if (has != (one->y[i] != UINT32_MAX) || m->z[i] != one->z[i] ||
            (has && m->y[i] + m->z[i] > m->cells[0])) {
            fail_msg("element %u of %u: %s", (unsigned)i, (unsigned)m->n, body);
        }
        if (has && m->z[i] && begins[m->y[i]]) {
            fail_msg("two find %u: %s", (unsigned)m->y[i], body);
        }
        if (has && m->z[i]) {
            begins[m->y[i]] = true;
            sizes[m->y[i]] = m->z[i];
        }
    }
    uint32_t at = 0;
    while (at < m->cells[0] && begins[at]) {
        at += sizes[at];
    }
    assert_int_equal(at, m->cells[0]);
}

static void test_generated_sums_return_what_an_order_gives(void **state)
{
    (void)state;
    NEED_DEVICE();
    static memory one, m;
    vyre_device *device = engine_open(0);
    vyre_device_type type = device->snapshot.info.type;
    uint32_t joined = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15u;
        vy_text text;
        vy_text_init(&text, NULL);
        vy_text_printf(&text, "let w = v >> 7\nlet u = x[w %% len(x)]\nvar q = 1\n");
        write_ways(&text, &random, 1 + pick(&random, 2), true);
        assert_false(text.failed);
        make_input(&one, 1 + pick(&random, pick(&random, 2) ? 1500 : 140), 2);
        memcpy(&m, &one, sizeof m);
        const way by_one = {VYRE_INTERFACE_DESCRIPTOR, 0, VYRE_COARSENING_NEVER, false};
        (void)run_generated(device, text.data, &by_one, &one);
        const way *w = &ways[seed % VY_COUNT_OF(ways)];
        device->snapshot.info.type = w->is_gpu ? VYRE_DEVICE_DISCRETE : type;
        joined += run_generated(device, text.data, w, &m) > 4;
        device->snapshot.info.type = type;
        check_generated(text.data, &one, &m);
        vy_text_finish(&text);
    }
    print_message("    %u of %u programs did more than 4 elements\n", (unsigned)joined,
                  (unsigned)SEEDS);
    assert_true(joined > SEEDS / 3);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_appended_elements_get_places_of_their_own,
                                        engine_reset, engine_nothing_alive),
        cmocka_unit_test_setup_teardown(test_generated_sums_return_what_an_order_gives,
                                        engine_reset, engine_nothing_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

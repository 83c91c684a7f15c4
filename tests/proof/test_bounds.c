/* Accesses beyond the end: every kind of access, place, element and index type, with indices whose
 * byte offsets overflow 32 bits, on bindings of 0, 1 and 7 elements in the middle of a larger
 * buffer. The interpreter says what is read and left; the canaries around the binding stay. One
 * invocation makes the accesses in order, so that everything is determined. */
#include "tests/support/engine_fixture.h"

#include "codegen/base/base.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_INDICES 48u
#define OFFSET      1024u /* bytes before the binding, and at least as many behind it */
#define WHOLE       4096u
#define CANARY      0xcafe0000u

/* ---- Indices --------------------------------------------------------------------------------- */

static uint32_t list_indices(uint32_t length, uint32_t out[MAX_INDICES])
{
    const uint32_t k30 = (uint32_t)1 << 30, k31 = (uint32_t)1 << 31;
    const uint32_t list[] = {0, length - 1, length, length + 1, length + 2, 2 * length, 63, 1000,
                             k30 - 1, k30, k30 + 1, k30 + length, k30 * 2 - 1, k30 * 2 + 1, k30 * 3,
                             k30 * 3 + 1, k31 - length, k31, k31 + 1, k31 + length - 1, k30 * 3 - 1,
                             UINT32_MAX - 256, UINT32_MAX - 7, UINT32_MAX - 1, UINT32_MAX, 65535,
                             65536, (1u << 29), (1u << 29) + 1, 0u - length,
                             /* And those inside again, where what was stored shows. */
                             0, 1, 2, 3, 4, 5, 6, 7};
    memcpy(out, list, sizeof list);
    return (uint32_t)(sizeof list / sizeof *list);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* What is done at index I, with the old value in r and K a number that differs from time to time.
 */
typedef struct access {
    const char *name, *text;
    bool is_atomic, is_u32_only;
} access;

static const access accesses[] = {
    {"load", "r[k] = x[I]", false, false},
    {"store", "x[I] = V", false, false},
    {"both", "r[k] = x[I]  x[I] = V", false, false},
    {"add", "let o = atomic_add(x[I], V)  r[k] = o", true, false},
    {"min", "let o = atomic_min(x[I], V)  r[k] = o", true, true},
    {"max", "let o = atomic_max(x[I], V)  r[k] = o", true, true},
    {"and", "let o = atomic_and(x[I], V)  r[k] = o", true, true},
    {"or", "let o = atomic_or(x[I], V)  r[k] = o", true, true},
    {"xor", "let o = atomic_xor(x[I], V)  r[k] = o", true, true},
    {"sub", "let o = atomic_sub(x[I], V)  r[k] = o", true, true},
    {"exchange", "let o = atomic_exchange(x[I], V)  r[k] = o", true, false},
    {"cas", "let o = atomic_compare_exchange(x[I], x[I], V)  r[k] = o", true, true},
    {"atomic load", "let o = atomic_load(x[I])  r[k] = o", true, false},
    {"atomic store", "atomic_store(x[I], V)", true, false},
    {"uniform", "let o = uniform c[I]  r[k] = o", false, false},
};

typedef enum place {
    PLACE_BUFFER,
    PLACE_SHARED,
    PLACE_ARRAY,
    PLACE_TABLE,
    PLACE_INPUT, /* read only */
    PLACE_COUNT
} place;

static const char *const types[] = {"u32", "i32", "f32", "bool"};
static const char *const values[] = {"k + 100", "i32(k) - 9", "f32(k) + 0.5", "k % 2 == 0"};

/* Replaces I and V by what they stand for. */
static void put_statement(vy_text *out, const char *text, const char *index, const char *value)
{
    for (const char *at = text; *at; at++) {
        if (*at == 'I') {
            vy_text_printf(out, "%s", index);
        } else if (*at == 'V') {
            vy_text_printf(out, "(%s)", value);
        } else {
            vy_text_append(out, at, 1);
        }
    }
}

/* What the program declares beside its bindings. */
static void put_place(vy_text *out, place where, const char *type, uint32_t length)
{
    switch (where) {
    case PLACE_SHARED:
        vy_text_printf(out, "shared s : %s[%u]\n", type, (unsigned)length);
        break;
    case PLACE_TABLE:
        vy_text_printf(out, "const t : %s[] = [", type);
        for (uint32_t i = 0; i < length; i++) {
            static const char *const literals[] = {"%s%u", "%s-%u", "%s%u.5", "%strue"};
            uint32_t type_index = 0;
            while (strcmp(types[type_index], type) != 0) {
                type_index++;
            }
            if (type_index == 3) {
                vy_text_printf(out, "%s%s", i ? ", " : "", i % 3 ? "true" : "false");
            } else {
                vy_text_printf(out, literals[type_index], i ? ", " : "", (unsigned)(i + 11));
            }
        }
        vy_text_printf(out, "]\n");
        break;
    default:
        break;
    }
}

static const char *place_name(place where)
{
    static const char *const names[PLACE_COUNT] = {"x", "s", "a", "t", "c"};
    return names[where];
}

/* One program for a place, access, element type and index type; literal indices where `indices`. */
static void put_program(vy_text *out, const access *a, place where, uint32_t type,
                        const char *index_type, uint32_t length, const uint32_t *indices,
                        uint32_t count)
{
    char renamed[200];
    const char *name = place_name(where);
    uint32_t at = 0;
    for (const char *c = a->text; *c; c++) {
        renamed[at++] = *c == 'x' && c[1] == '[' ? name[0] : *c;
    }
    renamed[at] = 0;
    vy_text_printf(out, "program bounds\nworkgroup 1\n");
    vy_text_printf(out, "in n : %s[]\ninout x : %s[]\nin c : %s[]\ninout r : %s[len(n)]\n",
                   index_type, types[type], types[type], types[type]);
    put_place(out, where, types[type], length);
    vy_text_printf(out, "kernel {\n");
    if (where == PLACE_ARRAY) {
        vy_text_printf(out, "  var a : %s[%u]\n", types[type], (unsigned)length);
    }
    if (where == PLACE_ARRAY || where == PLACE_SHARED) {
        vy_text_printf(out, "  for k in 0 .. %uu { %s[k] = x[k] }\n", (unsigned)length, name);
    }
    if (!indices) {
        vy_text_printf(out, "  for k in 0 .. len(n) {\n    ");
        put_statement(out, renamed, "n[k]", values[type]);
        vy_text_printf(out, "\n  }\n");
    }
    for (uint32_t i = 0; indices && i < count; i++) {
        char index[32];
        bool is_signed = strcmp(index_type, "i32") == 0;
        snprintf(index, sizeof index, is_signed ? "bitcast<i32>(%uu)" : "%uu",
                 (unsigned)indices[i]);
        vy_text_printf(out, "  { let k = %uu  ", (unsigned)i);
        put_statement(out, renamed, index, values[type]);
        vy_text_printf(out, " }\n");
    }
    if (where == PLACE_ARRAY || where == PLACE_SHARED) {
        vy_text_printf(out, "  for k in 0 .. %uu { x[k] = %s[k] }\n", (unsigned)length, name);
    }
    vy_text_printf(out, "}\n");
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct memory {
    uint32_t whole[WHOLE / 4], whole_c[WHOLE / 4], r[MAX_INDICES];
} memory;

static uint32_t element(uint32_t type, uint32_t i)
{
    float f = (float)i * 1.25f + 3.0f;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return type == 2 ? bits : type == 3 ? i % 2 : i * 3 + 20;
}

static void fill_memory(memory *m, uint32_t type, uint32_t length)
{
    for (uint32_t i = 0; i < WHOLE / 4; i++) {
        m->whole[i] = CANARY + i;
        m->whole_c[i] = CANARY + i;
    }
    for (uint32_t i = 0; i < length; i++) {
        m->whole[OFFSET / 4 + i] = element(type, i);
        m->whole_c[OFFSET / 4 + i] = element(type, i + 50);
    }
    for (uint32_t i = 0; i < MAX_INDICES; i++) {
        m->r[i] = type == 3 ? 1 : 77;
    }
}

static void run_reference(const vyre_program *program, const uint32_t *indices, uint32_t count,
                          uint32_t length, memory *m)
{
    uint32_t copy[MAX_INDICES];
    memcpy(copy, indices, sizeof copy);
    vyre_host_buffer buffers[4] = {{copy, count},
                                   {m->whole + OFFSET / 4, length},
                                   {m->whole_c + OFFSET / 4, length},
                                   {m->r, count}};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = 4,
                                 .groups = {1}};
    vyre_diag diag;
    if (vyre_interp_run(program, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

typedef struct fixture {
    vyre_device *device;
    vyre_buffer x, c;
} fixture;

static void run_device(const fixture *f, const engine_program *p, const uint32_t *indices,
                       uint32_t count, uint32_t length, memory *m)
{
    vyre_diag diag;
    assert_int_equal(vyre_buffer_upload(f->device, f->x, 0, m->whole, WHOLE, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_upload(f->device, f->c, 0, m->whole_c, WHOLE, &diag), VYRE_OK);
    vyre_binding bindings[4] = {
        engine_host_in(indices, count), engine_resident(f->x, OFFSET, length),
        engine_resident(f->c, OFFSET, length), engine_host_inout(m->r, count)};
    vyre_dispatch_params params = engine_params(bindings, 4);
    (void)must_dispatch(p, &params);
    assert_int_equal(vyre_buffer_download(f->device, f->x, 0, m->whole, WHOLE, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_download(f->device, f->c, 0, m->whole_c, WHOLE, &diag), VYRE_OK);
}

static void compare(const memory *expected, const memory *got, const char *what, const char *text)
{
    const struct {
        const uint32_t *expected, *got;
        uint32_t count;
        const char *name;
    } rows[] = {{expected->r, got->r, MAX_INDICES, "r"},
                {expected->whole, got->whole, WHOLE / 4, "x and around"},
                {expected->whole_c, got->whole_c, WHOLE / 4, "c and around"}};
    for (size_t row = 0; row < 3; row++) {
        for (uint32_t i = 0; i < rows[row].count; i++) {
            if (rows[row].expected[i] != rows[row].got[i]) {
                fail_msg("%s: %s at %u: 0x%x by the interpreter, 0x%x by the device\n%s", what,
                         rows[row].name, (unsigned)i, (unsigned)rows[row].expected[i],
                         (unsigned)rows[row].got[i], text);
            }
        }
    }
}

static vyre_kernel *compile(const fixture *f, const vy_text *text, vyre_program **out_program)
{
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text->data, text->size, "bounds", NULL, out_program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s in\n%s", (unsigned)diag.line, (unsigned)diag.column, diag.message,
                 text->data);
    }
    vyre_kernel_params params;
    vyre_device_kernel_params(f->device, &params);
    assert_int_equal(vyre_kernel_compile(*out_program, &params, &kernel, &diag), VYRE_OK);
    return kernel;
}

/* Bindings of each of the lengths; what the program itself has is of the first one. */
static void check(const fixture *f, const access *a, place where, uint32_t type,
                  const char *index_type, const uint32_t *lengths, uint32_t length_count,
                  bool is_literal)
{
    static memory expected, got;
    uint32_t indices[MAX_INDICES] = {0}, count = list_indices(lengths[0], indices);
    vy_text text;
    vy_text_init(&text, NULL);
    put_program(&text, a, where, type, index_type, lengths[0], is_literal ? indices : NULL, count);
    vyre_program *program = NULL;
    vyre_kernel *kernel = compile(f, &text, &program);
    for (int mode = VYRE_BINDINGS_ADDRESS; mode <= VYRE_BINDINGS_DESCRIPTOR; mode++) {
        vyre_pipeline_params options;
        vyre_pipeline_params_init(&options);
        options.bindings = (vyre_binding_mode)mode;
        engine_program p = {.kernel = kernel};
        vyre_diag diag;
        if (vyre_pipeline_create(f->device, kernel, &options, &p.pipeline, &diag) != VYRE_OK) {
            fail_msg("%s", diag.message);
        }
        for (uint32_t l = 0; l < length_count; l++) {
            char what[200];
            (void)list_indices(is_literal ? lengths[0] : lengths[l], indices);
            fill_memory(&expected, type, lengths[l]);
            run_reference(program, indices, count, lengths[l], &expected);
            fill_memory(&got, type, lengths[l]);
            run_device(f, &p, indices, count, lengths[l], &got);
            snprintf(what, sizeof what, "%s of %s %s[%u] at %s %s by %s", a->name,
                     place_name(where), types[type], (unsigned)lengths[l],
                     is_literal ? "literal" : "loaded", index_type,
                     mode == VYRE_BINDINGS_ADDRESS ? "address" : "descriptor");
            compare(&expected, &got, what, text.data);
        }
        vyre_pipeline_destroy(&p.pipeline);
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
}

static bool is_possible(const access *a, place where, uint32_t type)
{
    bool is_read = strcmp(a->name, "load") == 0, is_uniform = strcmp(a->name, "uniform") == 0;
    if (is_uniform && where != PLACE_INPUT) {
        return false;
    }
    if (where == PLACE_TABLE || where == PLACE_INPUT) {
        return is_read || (is_uniform && where == PLACE_INPUT);
    }
    if (a->is_atomic && (where == PLACE_ARRAY || type == 3)) {
        return false;
    }
    return !(a->is_u32_only && type == 2);
}

static fixture open_fixture(void)
{
    fixture f = {.device = engine_open(0)};
    f.x = engine_buffer(f.device, WHOLE, NULL);
    f.c = engine_buffer(f.device, WHOLE, NULL);
    return f;
}

static void close_fixture(fixture *f)
{
    must_destroy(f->device, &f->x);
    must_destroy(f->device, &f->c);
    engine_close(&f->device);
}

/* The lengths 7, 1 and 0, of bindings with one program, of what programs have with one each. */
static uint32_t check_place(const fixture *f, const access *a, place where, uint32_t type)
{
    static const uint32_t lengths[] = {7, 1, 0};
    static const char *const index_types[] = {"u32", "i32"};
    bool is_binding = where == PLACE_BUFFER || where == PLACE_INPUT;
    uint32_t checks = 0;
    for (uint32_t l = 0; l < (is_binding ? 1u : 2u); l++) {
        for (int i = 0; i < 2; i++) {
            check(f, a, where, type, index_types[i], &lengths[l], is_binding ? 3 : 1, false);
            checks++;
        }
    }
    if (type == 0) { /* of literals the compiler knows more */
        check(f, a, where, type, index_types[a->is_atomic], lengths, is_binding ? 3 : 1, true);
        checks++;
    }
    return checks;
}

static uint32_t check_type(uint32_t type)
{
    fixture f = open_fixture();
    uint32_t checks = 0;
    for (size_t a = 0; a < VY_COUNT_OF(accesses); a++) {
        for (int where = 0; where < PLACE_COUNT; where++) {
            if (is_possible(&accesses[a], (place)where, type)) {
                checks += check_place(&f, &accesses[a], (place)where, type);
            }
        }
    }
    close_fixture(&f);
    print_message("%u programs\n", (unsigned)checks);
    return checks;
}

static void test_bounds_of_u32(void **state)
{
    (void)state;
    NEED_DEVICE();
    assert_true(check_type(0) > 100);
}

static void test_bounds_of_i32(void **state)
{
    (void)state;
    NEED_DEVICE();
    assert_true(check_type(1) > 80);
}

static void test_bounds_of_f32(void **state)
{
    (void)state;
    NEED_DEVICE();
    assert_true(check_type(2) > 50);
}

static void test_bounds_of_bool(void **state)
{
    (void)state;
    NEED_DEVICE();
    assert_true(check_type(3) > 20);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_bounds_of_u32),
        T(test_bounds_of_i32),
        T(test_bounds_of_f32),
        T(test_bounds_of_bool),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}

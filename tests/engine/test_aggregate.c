/* Atomics joined within subgroups, on a device: the same values as without, old values that are
 * those of some order of the invocations, and who is asked to join. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "engine/device/device.h"
#include "tests/support/engine_run.h"
#include "vyre/interp.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 16, MOST = 512 };

static vyre_kernel *compile(const char *text, const vyre_kernel_params *params)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "joined", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%u: %s", (unsigned)diag.line, diag.message);
    }
    vyre_program_destroy(&program);
    return kernel;
}

static bool has_maximal(const vyre_device *device)
{
    return device->snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence];
}

static bool is_joined(const vyre_kernel *kernel)
{
    const char *requirement;
    for (uint32_t i = 0; (requirement = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        if (strcmp(requirement, "VK_SUBGROUP_FEATURE_BALLOT_BIT") == 0) {
            return true;
        }
    }
    return false;
}

/* Runs the program, whose bindings are n (cells that begin as given) and y, with `groups`. */
static void run(vyre_device *device, const char *text, uint32_t aggregate, vyre_interface interface,
                uint32_t groups, uint32_t *n, uint32_t *y)
{
    vyre_kernel_params params;
    vyre_device_kernel_params(device, &params);
    params.aggregate = aggregate;
    params.interface = interface;
    engine_program p = {.kernel = compile(text, &params)};
    assert_int_equal(is_joined(p.kernel), aggregate && has_maximal(device));
    engine_note(p.kernel);
    vyre_pipeline_params options;
    vyre_pipeline_params_init(&options);
    options.bindings =
        interface == VYRE_INTERFACE_ADDRESS ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR;
    vyre_diag diag;
    if (vyre_pipeline_create(device, p.kernel, &options, &p.pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    memset(y, 0, MOST * sizeof *y);
    const vyre_binding bindings[2] = {engine_host_inout(n, CELLS), engine_host_inout(y, MOST)};
    vyre_dispatch_params dispatch = engine_params(bindings, 2);
    dispatch.groups[0] = groups;
    if (vyre_dispatch(p.pipeline, &dispatch, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    engine_release(&p);
}

static void interpret(const char *text, uint32_t groups, uint32_t *n, uint32_t *y)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_host_buffer buffers[2] = {{.data = n, .count = CELLS}, {.data = y, .count = MOST}};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = 2,
                                 .groups = {groups, 1, 1}};
    memset(y, 0, MOST * sizeof *y);
    if (vyre_program_parse(text, strlen(text), "joined", NULL, &program, &diag) != VYRE_OK ||
        vyre_interp_run(program, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Without old values: the cells are those of any order, each of one operator. In branches, loops
 * and functions, where lanes leave and come back. */
static const char *const bodies[] = {
    "atomic_add(n[0], 1)  atomic_sub(n[1], 3)  atomic_add(n[2], gid.x * 7)\n"
    "atomic_min(n[3], gid.x ^ 5)  atomic_max(n[4], gid.x ^ 5)  atomic_and(n[5], ~gid.x)\n"
    "atomic_or(n[6], 1 << (gid.x & 31))  atomic_xor(n[7], gid.x)  atomic_xor(n[8], 9)\n"
    "atomic_max(n[9], wid.x)  atomic_and(n[10], 6)  atomic_add(n[11 + (wid.x & 3)], 2)\n"
    "atomic_add(n[16], 1)  atomic_add(n[0xffffffff], 1)\n",
    "if gid.x % 3 == 1 { atomic_add(n[0], 1) } else { atomic_add(n[0], gid.x) }\n"
    "if gid.x % 5 == 0 { atomic_max(n[1], gid.x)  if gid.x % 2 == 0 { atomic_add(n[2], 1) } }\n"
    "atomic_add(n[3], 1)\n",
    "for k in 0 .. lid.x % 7 { if k == 3 { continue }  atomic_add(n[0], 1)\n"
    "  if k + lid.x > 20 { break }  atomic_add(n[1], k) }\natomic_add(n[2], 1)\n",
    "if lid.x % 4 == 2 { return }\natomic_add(n[0], 1)\n"
    "switch_like(lid.x)\n",
    "atomic_add(s[0], 1)  atomic_max(s[1], lid.x)  if lid.x % 3 == 0 { atomic_add(s[2], lid.x) }\n"
    "barrier\nif lid.x == 0 { atomic_add(n[0], s[0])  atomic_add(n[1], s[1])\n"
    "  atomic_add(n[2], s[2]) }\n",
};

static void write_text(char *text, size_t size, const char *body, uint32_t volume)
{
    const char *call = strstr(body, "switch_like(lid.x)");
    (void)snprintf(
        text, size,
        "program joined\nworkgroup %u\ninout n : u32[]\ninout y : u32[]\n"
        "shared s : u32[4]\n"
        "fn pick(v: u32) -> u32 {\n    if v %% 2 == 0 { atomic_add(n[4], v)  return 1 }\n"
        "    atomic_add(n[5], 1)\n    return 2\n}\nkernel {\n%.*s%s}\n",
        (unsigned)volume, call ? (int)(call - body) : (int)strlen(body), body,
        call ? "let v = pick(lid.x)\natomic_add(n[6], v)\n" : "");
}

static void test_joined_atomics_leave_the_same_cells(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    static const uint32_t volumes[] = {64, 37, 1};
    for (int validated = 0; validated < 2; validated++) {
        vyre_device *device = engine_open(validated);
        for (size_t i = 0; i < 2 * VY_COUNT_OF(bodies) * VY_COUNT_OF(volumes); i++) {
            char text[2048];
            uint32_t got[CELLS], wanted[CELLS], y[MOST];
            for (uint32_t k = 0; k < CELLS; k++) {
                got[k] = wanted[k] = 1000 + k * 0x01010101;
            }
            vyre_interface interface = i % 2 && device->snapshot.info.has_addresses && !validated
                                           ? VYRE_INTERFACE_ADDRESS
                                           : VYRE_INTERFACE_DESCRIPTOR;
            write_text(text, sizeof text, bodies[i / 2 % VY_COUNT_OF(bodies)],
                       volumes[i / 2 / VY_COUNT_OF(bodies)]);
            interpret(text, 5, wanted, y);
            run(device, text, VYRE_AGGREGATE_ALL, interface, 5, got, y);
            for (uint32_t k = 0; k < CELLS; k++) {
                if (got[k] != wanted[k]) {
                    fail_msg("%s: cell %u is %u, not %u", text, (unsigned)k, (unsigned)got[k],
                             (unsigned)wanted[k]);
                }
            }
        }
        engine_close(&device);
    }
}

/* ---- Old values ------------------------------------------------------------------------------ */

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Slots: y has what each invocation found, plus 1; all different, and from 0 on. */
static void check_slots(vyre_device *device, const char *body, uint32_t step, uint32_t takers)
{
    char text[2048];
    uint32_t n[CELLS] = {0}, y[MOST];
    write_text(text, sizeof text, body, 64);
    run(device, text, VYRE_AGGREGATE_ALL, VYRE_INTERFACE_DESCRIPTOR, 5, n, y);
    assert_int_equal(n[0], takers * step);
    qsort(y, MOST, sizeof *y, compare_words);
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t wanted = i < MOST - takers ? 0 : (i - (MOST - takers)) * step + 1;
        if (y[i] != wanted) {
            fail_msg("%s: word %u is %u, not %u", body, (unsigned)i, (unsigned)y[i],
                     (unsigned)wanted);
        }
    }
}

static void test_joined_atomics_give_each_a_slot_of_its_own(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    if (has_maximal(device)) {
        check_slots(device, "let k = atomic_add(n[0], 1)  y[gid.x] = k + 1\n", 1, 320);
        check_slots(device, "let k = atomic_add(n[0], 4)  y[gid.x] = k + 1\n", 4, 320);
        check_slots(device, "if gid.x % 5 == 2 { let k = atomic_add(n[0], 1)  y[gid.x] = k + 1 }\n",
                    1, 64);
        /* Lanes that come one after another to the same place. */
        check_slots(device,
                    "for i in 0 .. lid.x % 2 + 1 { if i == lid.x % 2 {\n"
                    "let k = atomic_add(n[0], 1)  y[gid.x] = k + 1 } }\n",
                    1, 320);
    }
    engine_close(&device);
}

/* Operands that differ: what one found and what it brought is what the next one found. */
static void test_joined_atomics_give_old_values_of_an_order(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    if (has_maximal(device)) {
        char text[2048];
        uint32_t n[CELLS] = {0}, y[MOST], at = 0, found = 0;
        write_text(text, sizeof text, "let k = atomic_add(n[0], gid.x + 1)  y[gid.x] = k\n", 64);
        run(device, text, VYRE_AGGREGATE_ALL, VYRE_INTERFACE_DESCRIPTOR, 5, n, y);
        while (at != n[0] && found < 320) {
            uint32_t next = 0;
            for (uint32_t i = 0; i < 320 && !next; i++) {
                next = y[i] == at ? at + i + 1 : 0;
            }
            assert_int_not_equal(next, 0);
            at = next;
            found++;
        }
        assert_int_equal(found, 320);
        /* Flags: exactly one finds each bit not set yet; with one operand, and with several. */
        static const char *const flags[] = {
            "let k = atomic_or(n[0], 1)  y[gid.x] = u32((k & 1) == 0)\n",
            "let k = atomic_or(n[0], 1 << lid.x % 5)\n"
            "y[gid.x] = u32((k >> lid.x % 5 & 1) == 0)\n",
            "let k = atomic_xor(n[0], 1)  y[gid.x] = k & 1\n",
        };
        static const uint32_t wanted[] = {1, 5, 160};
        for (size_t f = 0; f < VY_COUNT_OF(flags); f++) {
            uint32_t sum = 0;
            n[0] = 0;
            write_text(text, sizeof text, flags[f], 64);
            run(device, text, VYRE_AGGREGATE_ALL, VYRE_INTERFACE_DESCRIPTOR, 5, n, y);
            for (uint32_t i = 0; i < 320; i++) {
                sum += y[i];
            }
            assert_int_equal(sum, wanted[f]);
        }
    }
    engine_close(&device);
}

/* ---- Who is asked ---------------------------------------------------------------------------- */

static bool *maximal_of(vyre_device *device)
{
    return &device->snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence];
}

static void test_processors_are_not_asked_to_join(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    vyre_kernel_params params;
    vyre_device_type kept = device->snapshot.info.type;
    uint32_t operations = device->snapshot.subgroup_operations;
    bool *maximal = maximal_of(device), had_maximal = *maximal;
    *maximal = true;
    device->snapshot.info.type = VYRE_DEVICE_PROCESSOR;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.aggregate, 0);
    device->snapshot.info.type = VYRE_DEVICE_DISCRETE;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.aggregate, VY_AGGREGATE_ON_GPUS);
    *maximal = false;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.aggregate, 0);
    *maximal = true;
    device->snapshot.subgroup_operations &= ~(uint32_t)VK_SUBGROUP_FEATURE_BALLOT_BIT;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.aggregate, 0);
    device->snapshot.subgroup_operations = operations;
    device->snapshot.info.type = kept;
    *maximal = had_maximal;
    engine_close(&device);
}

static void test_devices_that_cannot_join_refuse_joined_words(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    vyre_kernel_params params;
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag;
    uint32_t operations = device->snapshot.subgroup_operations;
    vyre_device_kernel_params(device, &params);
    params.aggregate = VYRE_AGGREGATE_STORAGE;
    params.reconvergence = VYRE_RECONVERGENCE_MAXIMAL;
    bool *maximal = maximal_of(device), had_maximal = *maximal;
    vyre_kernel *kernel =
        compile("program c\nworkgroup 8\ninout n : u32[]\nkernel { atomic_add(n[0], 1) }", &params);
    *maximal = true;
    device->snapshot.subgroup_operations &= ~(uint32_t)VK_SUBGROUP_FEATURE_BALLOT_BIT;
    assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "VK_SUBGROUP_FEATURE_BALLOT_BIT"));
    device->snapshot.subgroup_operations = operations;
    *maximal = false;
    assert_int_equal(vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "shaderMaximalReconvergence"));
    *maximal = had_maximal;
    vyre_kernel_destroy(&kernel);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined_atomics_leave_the_same_cells),
        cmocka_unit_test(test_joined_atomics_give_each_a_slot_of_its_own),
        cmocka_unit_test(test_joined_atomics_give_old_values_of_an_order),
        cmocka_unit_test(test_processors_are_not_asked_to_join),
        cmocka_unit_test(test_devices_that_cannot_join_refuse_joined_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The judge of barriers: streams made by hand that are right, that lack a barrier, or have one too
 * many; what it reads from modules; and the engine with a barrier taken away and with too many. */
#include "codegen/spirv/interface.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/hazard.h"
#include "tests/support/spirv_touch.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Streams by hand ------------------------------------------------------------------------- */

#define COMPUTE_STAGE  VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT
#define TRANSFER_STAGE VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT
#define INDIRECT_STAGE VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT
#define READ           VK_ACCESS_2_SHADER_READ_BIT
#define WRITE          VK_ACCESS_2_SHADER_WRITE_BIT

static void touch(hazard *h, const char *what, uint64_t buffer, hazard_use use)
{
    hazard_access a = {buffer, 0, 16, use};
    hazard_command(h, what, &a, 1);
}

static void barrier(hazard *h, uint64_t src, uint64_t src_access, uint64_t dst, uint64_t dst_access)
{
    hazard_barrier b = {src, src_access, dst, dst_access, 0, 0, 0};
    hazard_barriers(h, "the barrier", &b, 1);
}

static hazard *start(void)
{
    hazard *h = hazard_create();
    assert_non_null(h);
    hazard_begin_commands(h, 1);
    return h;
}

/* Ends the stream and expects that many faults, the first of which says `text`. */
static void expect(hazard *h, uint32_t count, const char *text)
{
    const hazard_fault *faults;
    uint32_t listed;
    hazard_end_commands(h);
    uint32_t found = hazard_faults(h, &faults, &listed);
    if (found != count) {
        fail_msg("%u faults, not %u: %s", (unsigned)found, (unsigned)count,
                 listed ? faults[0].text : "none");
    }
    if (text) {
        assert_true(listed > 0);
        if (!strstr(faults[0].text, text)) {
            fail_msg("\"%s\" does not say \"%s\"", faults[0].text, text);
        }
    }
    hazard_destroy(h);
}

static void test_hazard_of_each_kind_is_found(void **state)
{
    (void)state;
    static const struct {
        hazard_use first, second;
        uint32_t faults;
        const char *text;
    } rows[] = {
        {HAZARD_COMPUTE_WRITE, HAZARD_COMPUTE_READ, 1, "read after write: A, writes in a shader"},
        {HAZARD_COMPUTE_READ, HAZARD_COMPUTE_WRITE, 1, "write after read: A, reads in a shader"},
        {HAZARD_COMPUTE_WRITE, HAZARD_COMPUTE_WRITE, 1, "write after write: A"},
        {HAZARD_COMPUTE_READ, HAZARD_COMPUTE_READ, 0, NULL},
        {HAZARD_FILL_WRITE, HAZARD_COPY_READ, 1, "then B, is copied from"},
        {HAZARD_COPY_READ, HAZARD_FILL_WRITE, 1, "then B, fills"},
        {HAZARD_COMPUTE_WRITE, HAZARD_INDIRECT_READ, 1, "then B, reads arguments"},
        {HAZARD_INDIRECT_READ, HAZARD_COPY_READ, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hazard *h = start();
        touch(h, "A", 7, rows[i].first);
        touch(h, "B", 7, rows[i].second);
        expect(h, rows[i].faults, rows[i].text);
        h = start(); /* another buffer */
        touch(h, "A", 7, rows[i].first);
        touch(h, "B", 8, rows[i].second);
        expect(h, 0, NULL);
        h = start(); /* the same, in two command buffers of two submissions */
        touch(h, "A", 7, rows[i].first);
        hazard_end_commands(h);
        hazard_begin_commands(h, 2);
        touch(h, "B", 7, rows[i].second);
        expect(h, rows[i].faults, rows[i].text);
    }
}

static void test_hazard_needs_overlapping_ranges(void **state)
{
    (void)state;
    for (uint32_t begin = 0; begin <= 32; begin += 8) {
        hazard *h = start();
        hazard_access a = {1, 8, 24, HAZARD_COMPUTE_WRITE},
                      b = {1, begin, begin + 8, HAZARD_COMPUTE_READ};
        hazard_command(h, "A", &a, 1);
        hazard_command(h, "B", &b, 1);
        expect(h, begin == 8 || begin == 16, NULL);
    }
}

static void test_hazard_barrier_must_name_stages_and_accesses(void **state)
{
    (void)state;
    static const struct {
        uint64_t src, src_access, dst, dst_access;
        uint32_t faults;
        const char *text;
    } rows[] = {
        {COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ, 0, NULL},
        {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT, 0, NULL},
        {COMPUTE_STAGE, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, COMPUTE_STAGE,
         VK_ACCESS_2_SHADER_STORAGE_READ_BIT, 0, NULL},
        /* Each of the four left out: the barrier orders nothing, so it is needless as well. */
        {TRANSFER_STAGE, WRITE, COMPUTE_STAGE, READ, 2, "does not wait"},
        {COMPUTE_STAGE, WRITE, TRANSFER_STAGE, READ, 2, "does not wait"},
        {COMPUTE_STAGE, READ, COMPUTE_STAGE, READ, 1, "not visible"},
        {COMPUTE_STAGE, 0, COMPUTE_STAGE, READ, 1, "not visible"},
        {COMPUTE_STAGE, WRITE, COMPUTE_STAGE, WRITE, 1, "not visible"},
        {COMPUTE_STAGE, VK_ACCESS_2_TRANSFER_WRITE_BIT, COMPUTE_STAGE, READ, 1, "not visible"},
        {COMPUTE_STAGE, WRITE, COMPUTE_STAGE, VK_ACCESS_2_TRANSFER_READ_BIT, 1, "not visible"},
        {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0, 1,
         "not visible"},
        /* BOTTOM waits for everything, TOP holds nothing up that needs memory. */
        {VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT, 0, VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT, 0, 1,
         "not visible"},
        {VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT, 0, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0, 2,
         "does not wait"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hazard *h = start();
        touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
        barrier(h, rows[i].src, rows[i].src_access, rows[i].dst, rows[i].dst_access);
        touch(h, "B", 1, HAZARD_COMPUTE_READ);
        const hazard_fault *faults;
        uint32_t listed, unordered = 0;
        (void)hazard_faults(h, &faults, &listed);
        for (uint32_t f = 0; f < listed; f++) {
            unordered += faults[f].kind == HAZARD_UNORDERED;
        }
        assert_int_equal(unordered, rows[i].faults > 0);
        expect(h, listed, rows[i].text);
    }
}

static void test_hazard_write_after_read_needs_no_access(void **state)
{
    (void)state;
    hazard *h = start();
    touch(h, "A", 1, HAZARD_COMPUTE_READ);
    barrier(h, COMPUTE_STAGE, 0, TRANSFER_STAGE, 0);
    touch(h, "B", 1, HAZARD_FILL_WRITE);
    expect(h, 0, NULL);
}

static void test_hazard_follows_chains_of_barriers(void **state)
{
    (void)state;
    /* Compute to transfer to indirect: the second barrier needs no access of the first's source. */
    hazard *h = start();
    touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_READ_BIT);
    touch(h, "C", 1, HAZARD_COPY_READ);
    barrier(h, TRANSFER_STAGE, 0, INDIRECT_STAGE, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT);
    touch(h, "B", 1, HAZARD_INDIRECT_READ);
    expect(h, 0, NULL);
    /* The same with a gap in the chain. */
    h = start();
    touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_READ_BIT);
    touch(h, "C", 1, HAZARD_COPY_READ);
    barrier(h, VK_PIPELINE_STAGE_2_HOST_BIT, 0, INDIRECT_STAGE,
            VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT);
    touch(h, "B", 1, HAZARD_INDIRECT_READ);
    expect(h, 2, "then B, reads arguments");
}

static void test_hazard_barriers_of_one_call_are_no_chain(void **state)
{
    (void)state;
    hazard_barrier both[2] = {
        {COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_READ_BIT, 0, 0, 0},
        {TRANSFER_STAGE, 0, INDIRECT_STAGE, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, 0, 0, 0}};
    hazard *h = start();
    touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
    hazard_barriers(h, "both", both, 2);
    touch(h, "B", 1, HAZARD_INDIRECT_READ);
    touch(h, "C", 1, HAZARD_COPY_READ);
    expect(h, 1, "then B");
}

static void test_hazard_barrier_of_a_buffer_is_for_it_alone(void **state)
{
    (void)state;
    for (uint64_t buffer = 1; buffer <= 2; buffer++) {
        hazard *h = start();
        hazard_barrier b = {COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ, buffer, 0, UINT64_MAX};
        touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
        hazard_barriers(h, "the barrier", &b, 1);
        touch(h, "B", 1, HAZARD_COMPUTE_READ);
        /* Of another buffer it orders the two, and leaves what was written invisible. */
        expect(h, buffer == 2, buffer == 2 ? "not visible" : NULL);
    }
}

static void test_hazard_barrier_too_many_is_needless(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        hazard *h = start();
        touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
        barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ | WRITE);
        touch(h, "B", 1, HAZARD_COMPUTE_READ);
        if (extra) { /* D reads what A wrote, and the first barrier has ordered that */
            barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ | WRITE);
        }
        touch(h, "D", 1, HAZARD_COMPUTE_READ);
        expect(h, (uint32_t)extra, extra ? "needless: the barrier" : NULL);
    }
    hazard *h = start(); /* nothing in common */
    touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ | WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ | WRITE);
    touch(h, "B", 1, HAZARD_COMPUTE_READ);
    expect(h, 1, "needless");
}

static void test_hazard_barriers_at_the_ends_are_not_judged(void **state)
{
    (void)state;
    hazard *h = start();
    barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ);
    touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ);
    expect(h, 0, NULL);
    /* What comes first in a command buffer may follow anything: a barrier for it is needed ... */
    h = start();
    touch(h, "A", 1, HAZARD_COPY_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    touch(h, "B", 2, HAZARD_COPY_WRITE);
    expect(h, 0, NULL);
    /* ... once. */
    h = start();
    touch(h, "A", 1, HAZARD_COPY_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    touch(h, "B", 2, HAZARD_COPY_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    touch(h, "C", 3, HAZARD_COPY_WRITE);
    expect(h, 1, "needless");
}

static void test_hazard_of_unknown_memory_needs_barriers(void **state)
{
    (void)state;
    static const uint64_t rows[][3] = {{1, 0, 1}, {0, 1, 0}, {0, 0, 0}, {0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t each = 0; each < 3; each++) { /* barriers between two */
            hazard *h = start();
            hazard_access other = {1, 16, 32, HAZARD_COMPUTE_READ};
            hazard_command(h, "Z", &other, 1);
            for (uint32_t k = 0; k < 3; k++) {
                for (uint32_t b = 0; k > 0 && b < each; b++) {
                    barrier(h, COMPUTE_STAGE, WRITE, COMPUTE_STAGE, READ | WRITE);
                }
                touch(h, "A", rows[i][k], HAZARD_COMPUTE_WRITE);
            }
            expect(h, each == 2 ? 2 : each == 0 && i == 0, NULL);
        }
    }
    /* B stands in for A nowhere: the copy may be of what A wrote. */
    hazard *h = start();
    touch(h, "Z", 1, HAZARD_COPY_READ);
    touch(h, "A", 0, HAZARD_COMPUTE_WRITE);
    barrier(h, COMPUTE_STAGE, WRITE, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_READ_BIT);
    touch(h, "B", 0, HAZARD_COMPUTE_WRITE);
    touch(h, "C", 1, HAZARD_COPY_READ);
    expect(h, 0, NULL);
    /* B may touch what nothing did before it. */
    h = start();
    touch(h, "A", 0, HAZARD_COMPUTE_WRITE);
    barrier(h, TRANSFER_STAGE, VK_ACCESS_2_TRANSFER_WRITE_BIT, COMPUTE_STAGE, READ | WRITE);
    touch(h, "B", 0, HAZARD_COMPUTE_WRITE);
    expect(h, 0, NULL);
}

static void test_hazard_waits_of_host_and_queue_order(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 4; way++) {
        hazard *h = start();
        touch(h, "A", 1, HAZARD_COMPUTE_WRITE);
        hazard_end_commands(h);
        if (way == 1) {
            hazard_host_wait(h, 1);
        } else if (way == 2) {
            hazard_semaphore_wait(h, 1, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
        } else if (way == 3) {
            hazard_semaphore_wait(h, 1, TRANSFER_STAGE); /* the wrong stage */
        }
        hazard_begin_commands(h, 2);
        touch(h, "B", 1, HAZARD_COMPUTE_READ);
        expect(h, way == 0 || way == 3, NULL);
    }
}

/* ---- Modules --------------------------------------------------------------------------------- */

static const spirv_touch *find(const spirv_touches *all, spirv_place place, uint32_t at)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->list[i].place == place && all->list[i].at == at) {
            return &all->list[i];
        }
    }
    return NULL;
}

static void read_module(const char *text, vyre_interface interface, spirv_touches *out)
{
    vyre_kernel_params params = {.struct_size = sizeof params, .interface = interface};
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(text, strlen(text), "test", NULL, &program, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag), VYRE_OK);
    vyre_segment_info info;
    vyre_kernel_segment(kernel, 0, &info);
    assert_true(spirv_touches_read(info.words, info.word_count, out));
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void expect_touch(const spirv_touches *all, uint32_t binding, int reads, int writes)
{
    const spirv_touch *t = find(all, SPIRV_DESCRIPTOR, binding);
    assert_int_equal(t != NULL, reads || writes);
    if (t) {
        assert_int_equal(t->reads, reads);
        assert_int_equal(t->writes, writes);
    }
}

static const char touch_text[] =
    "program p\nworkgroup 8\nin a : u32[]\nout b : u32[]\ninout c : u32[]\n"
    "inout d : u32[]\ninout e : u32[]\nscratch f : u32[8]\nshared s : u32[8]\n"
    "kernel {\n  s[0] = 1\n  b[gid.x] = a[gid.x]\n  c[gid.x] = c[gid.x] + 1\n"
    "  atomic_add(d[0], 1)\n  if e[0] == 3 { trap(1) }\n}\n";

static void test_touches_of_descriptors_are_exact(void **state)
{
    (void)state;
    spirv_touches all;
    read_module(touch_text, VYRE_INTERFACE_DESCRIPTOR, &all);
    assert_false(all.is_unknown);
    expect_touch(&all, 0, 1, 0);
    expect_touch(&all, 1, 0, 1);
    expect_touch(&all, 2, 1, 1);
    expect_touch(&all, 3, 1, 1);
    expect_touch(&all, 4, 1, 0);
    expect_touch(&all, 5, 0, 0);
    const spirv_touch *block = find(&all, SPIRV_BLOCK, 6);
    assert_true(block && block->reads && !block->writes);
    expect_touch(&all, 8, 1, 1); /* records, behind the state */
    uint32_t none[4] = {1, 2, 3, 4};
    assert_false(spirv_touches_read(none, 4, &all));
}

static void test_touches_of_addresses_are_exact(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank; /* of the address */
        bool reads, writes;
    } rows[] = {{0, true, false}, {1, false, true}, {2, true, true},
                {3, true, true},  {4, true, false}, {7, true, true}};
    spirv_touches all;
    read_module(touch_text, VYRE_INTERFACE_ADDRESS, &all);
    assert_false(all.is_unknown);
    assert_int_equal(all.count, 7);
    const spirv_touch *root = find(&all, SPIRV_BLOCK, VY_ADDRESS_BLOCK);
    assert_true(root && root->reads && !root->writes);
    uint32_t first = (22 + 6 + 1) / 2 * 2 * 4; /* bytes; docs/spirv-interface.md */
    assert_true(root->end == first + 8 * 8);   /* records are the last that it needs */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const spirv_touch *t = find(&all, SPIRV_BEHIND, first + 8 * rows[i].rank);
        assert_non_null(t);
        assert_int_equal(t->root, VY_ADDRESS_BLOCK);
        assert_int_equal(t->reads, rows[i].reads);
        assert_int_equal(t->writes, rows[i].writes);
    }
}

/* ---- The engine ------------------------------------------------------------------------------ */

static const char chain_text[] = "program chain\nworkgroup 64\ngrid over a\n"
                                 "inout a : u32[]\nscratch b : u32[len(a)]\nkernel {\n"
                                 "  let i = gid.x\n  let r = len(a) - 1 - i\n"
                                 "  if i < len(a) { b[i] = a[r] + 1 }\n  grid_sync\n"
                                 "  if i < len(a) { a[i] = b[r] * 3 }\n  grid_sync\n"
                                 "  if i < len(a) { b[i] = a[r] + 5 }\n}\n";

static void run_chain(vyre_device *device)
{
    uint32_t a[100] = {0};
    engine_program chain = engine_build(device, chain_text);
    vyre_binding bindings[] = {engine_host_inout(a, 100), {.kind = VYRE_BINDING_NONE}};
    (void)engine_run(&chain, bindings, 2, NULL, 0, 0, 0);
    engine_release(&chain);
}

static void test_engine_without_one_barrier_is_caught(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (uint32_t n = 0; n <= 2; n++) {
        layer_reset();
        vyre_device *device = engine_open(0);
        layer_forget_hazards();
        layer_clear_events();
        layer.drop_barrier = n;
        run_chain(device);
        layer.drop_barrier = 0;
        vyre_device_destroy(&device);
        assert_int_equal(layer_unjudged(), 0);
        assert_true(layer_judged() > 8);
        assert_int_equal(layer_hazards(false) > 0, n > 0);
    }
}

static void test_engine_with_too_many_barriers_is_caught(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(setenv("VYRE_DEBUG", "serialize", 1), 0);
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
    assert_int_equal(unsetenv("VYRE_DEBUG"), 0);
    static const char text[] = "program apart\nworkgroup 32\n"
                               "in x : u32[]\nout a : u32[8]\nout b : u32[8]\n"
                               "kernel { a[gid.x] = x[gid.x]  grid_sync\n"
                               "         b[gid.x] = x[gid.x] + 1 }\n";
    engine_program p = engine_build_bound(device, text, VYRE_BINDINGS_DESCRIPTOR);
    uint32_t x[8] = {5}, a[8], b[8];
    vyre_binding bindings[] = {engine_host_in(x, 8), engine_host_out(a, 8), engine_host_out(b, 8)};
    (void)engine_run(&p, bindings, 3, NULL, 0, 8, 0);
    engine_release(&p);
    vyre_device_destroy(&device);
    assert_true(layer_hazards(false) > 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, engine_reset)
    const struct CMUnitTest tests[] = {
        T(test_hazard_of_each_kind_is_found),
        T(test_hazard_needs_overlapping_ranges),
        T(test_hazard_barrier_must_name_stages_and_accesses),
        T(test_hazard_write_after_read_needs_no_access),
        T(test_hazard_follows_chains_of_barriers),
        T(test_hazard_barriers_of_one_call_are_no_chain),
        T(test_hazard_barrier_of_a_buffer_is_for_it_alone),
        T(test_hazard_barrier_too_many_is_needless),
        T(test_hazard_barriers_at_the_ends_are_not_judged),
        T(test_hazard_of_unknown_memory_needs_barriers),
        T(test_hazard_waits_of_host_and_queue_order),
        T(test_touches_of_descriptors_are_exact),
        T(test_touches_of_addresses_are_exact),
        T(test_engine_without_one_barrier_is_caught),
        T(test_engine_with_too_many_barriers_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

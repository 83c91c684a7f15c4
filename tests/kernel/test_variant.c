/* Other words for a kernel, made when they are asked for: the same as a direct compile's, kept,
 * safe to ask for from several threads and to fail in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "tests/support/fail_allocator.h"
#include "vyre/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 6u

/* Its second segment writes y and z and only reads w. */
static const char text[] =
    "program varied\nworkgroup 8\nparam k : u32\n"
    "in x : u32[]\nout y : u32[len(x)]\nout z : u32[len(x)]\ninout w : u32[]\n"
    "kernel {\n"
    "    let v = x[gid.x]\n"
    "    y[gid.x] = v + k\n"
    "    w[gid.x] = v\n"
    "    if v > 3 { trap(7) }\n"
    "    barrier\n"
    "    z[gid.x] = y[lid.x]\n"
    "    grid_sync\n"
    "    let old = atomic_add(z[0], v)\n"
    "    y[gid.x] = old + w[0]\n"
    "}\n";

static const vy_variant all[4] = {{.interface = VYRE_INTERFACE_DESCRIPTOR},
                                  {.interface = VYRE_INTERFACE_DESCRIPTOR, .is_aliased = true},
                                  {.interface = VYRE_INTERFACE_ADDRESS},
                                  {.interface = VYRE_INTERFACE_ADDRESS, .is_aliased = true}};

static vyre_program *parse(const char *source)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(source, strlen(source), NULL, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    return program;
}

/* The program is gone before the kernel is looked at. */
static vyre_kernel *compile(const char *source, vyre_kernel_params params, vy_variant variant)
{
    vyre_program *program = parse(source);
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    params.interface = variant.interface;
    params.aliased = variant.is_aliased;
    if (vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    return kernel;
}

static void check_words(const vyre_kernel *kernel, vy_variant variant, const vyre_kernel *direct)
{
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        const uint32_t *words, *again;
        uint32_t count, count_again;
        vyre_diag diag;
        assert_int_equal(vy_kernel_variant(kernel, variant, s, &words, &count, &diag), VYRE_OK);
        assert_int_equal(vy_kernel_variant(kernel, variant, s, &again, &count_again, NULL),
                         VYRE_OK);
        assert_ptr_equal(words, again);
        assert_int_equal(count, count_again);
        const vy_kernel_segment *expected = vy_kernel_get_segment(direct, s);
        assert_int_equal(count, expected->word_count);
        assert_memory_equal(words, expected->words, count * sizeof *words);
    }
}

static void check_from(vy_variant own, vyre_kernel_params params)
{
    vyre_kernel *kernel = compile(text, params, own);
    assert_int_equal(vyre_kernel_segment_count(kernel), 2);
    assert_int_equal(vyre_kernel_interface(kernel), own.interface);
    assert_int_equal(vy_kernel_own_variant(kernel).is_aliased, own.is_aliased);
    for (uint32_t i = 0; i < 4; i++) {
        vyre_kernel *direct = compile(text, params, all[i]);
        check_words(kernel, all[i], direct);
        for (uint32_t s = 0; s < 2; s++) {
            const vy_kernel_segment *a = vy_kernel_get_segment(kernel, s);
            const vy_kernel_segment *b = vy_kernel_get_segment(direct, s);
            assert_true(a->reads == b->reads && a->writes == b->writes);
            assert_true(a->atomics == b->atomics && a->line == b->line);
            assert_string_equal(a->label, b->label);
        }
        assert_int_equal(vy_kernel_site_count(kernel), vy_kernel_site_count(direct));
        vyre_kernel_destroy(&direct);
    }
    const uint32_t *words;
    uint32_t count;
    assert_int_equal(vy_kernel_variant(kernel, own, 1, &words, &count, NULL), VYRE_OK);
    assert_ptr_equal(words, vy_kernel_get_segment(kernel, 1)->words);
    vyre_kernel_destroy(&kernel);
}

static void test_variant_words_are_those_of_a_direct_compile(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        check_from(all[i], (vyre_kernel_params){0});
        check_from(all[i], (vyre_kernel_params){.target = VYRE_TARGET_VULKAN_1_2, .debug = 1});
        check_from(all[i], (vyre_kernel_params){.float_modes = VYRE_FLOAT_DENORM_PRESERVE |
                                                               VYRE_FLOAT_ROUNDING_RTE});
    }
}

static void test_variants_differ(void **state)
{
    (void)state;
    vyre_kernel *kernel = compile(text, (vyre_kernel_params){0}, all[0]);
    const uint32_t *words[4];
    uint32_t counts[4];
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(vy_kernel_variant(kernel, all[i], 1, &words[i], &counts[i], NULL),
                         VYRE_OK);
        for (uint32_t k = 0; k < i; k++) {
            assert_false(counts[i] == counts[k] &&
                         memcmp(words[i], words[k], counts[i] * sizeof *words[i]) == 0);
        }
    }
    vyre_kernel_destroy(&kernel);
}

static void count_dump(void *user, uint32_t segment, const char *pass, const char *dumped)
{
    (void)segment;
    (void)pass;
    (void)dumped;
    ++*(uint32_t *)user;
}

/* Bindings of more than 2^31 elements: compiled when asked for, and never a kernel's own. */
static void test_wide_variants_are_of_the_address_form(void **state)
{
    (void)state;
    for (uint32_t own = 0; own < 4; own++) {
        vyre_kernel *kernel = compile(text, (vyre_kernel_params){0}, all[own]);
        assert_false(vy_kernel_own_variant(kernel).is_wide);
        for (uint32_t i = 0; i < 4; i++) {
            vy_variant wide = all[i];
            const uint32_t *words, *others;
            uint32_t count, other_count;
            wide.is_wide = true;
            assert_int_equal(vy_kernel_variant(kernel, wide, 1, &words, &count, NULL), VYRE_OK);
            assert_int_equal(vy_kernel_variant(kernel, all[i], 1, &others, &other_count, NULL),
                             VYRE_OK);
            if (all[i].interface == VYRE_INTERFACE_ADDRESS) {
                assert_true(count > other_count);
            } else {
                assert_ptr_equal(words, others);
            }
        }
        vyre_kernel_destroy(&kernel);
    }
}

/* Coarse words: compiled once, of the segments that can be; where nothing can, there are none. */
static void test_coarse_variants_tell_what_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t elements[2]; /* by segment; 0: no such words */
        uint64_t streams;
        bool is_widened[2]; /* as many invocations, and other words */
    } rows[] = {
        {"program a\nin x : u32[]\ninout y : u32[]\nkernel { y[gid.x] = x[gid.x + 1] }\n",
         {0},
         0,
         {false, false}},
        {"program b\nin x : u32[]\ninout y : u32[]\nkernel { y[gid.x] = x[lid.x] }\n",
         {0},
         0,
         {false, false}},
        {"program c\nin x : u32[]\nkernel { }\n", {0}, 0, {false, false}},
        {"program d\nin x : u32[]\ninout y : u32[]\n"
         "kernel { y[gid.x] = x[gid.x]\ngrid_sync\nif y[gid.x + 1] > 3 { y[gid.x] = 1 } }\n",
         {4, 1},
         3,
         {false, false}},
        /* Neighbours of an invocation, also where it can tell its workgroup. */
        {"program e\nin x : u32[64]\ninout y : u32[]\nkernel { let i = lid.x / 4 * 4\n"
         "y[gid.x] = x[i] + x[i + 1]\ngrid_sync\ny[gid.x] = 1 }\n",
         {1, 1},
         1,
         {true, false}},
        {"program f\nin x : u32[64]\ninout y : u32[]\nkernel { y[gid.x] = y[gid.x] + 1\n"
         "grid_sync\nlet i = y[gid.x + 1] & 12\ny[gid.x] = x[i] * x[i + 1] }\n",
         {4, 1},
         3,
         {false, true}},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_kernel *kernel = compile(rows[i].text, (vyre_kernel_params){0}, all[i % 4]);
        for (uint32_t again = 0; again < 4; again++) {
            vyre_diag diag;
            vy_kernel_coarse coarse = {.streams = 77};
            vyre_interface interface = (vyre_interface)(again % 2);
            assert_int_equal(vy_kernel_coarsen(kernel, interface, false, &coarse, &diag), VYRE_OK);
            assert_int_equal(coarse.streams, rows[i].streams);
            assert_int_equal(coarse.elements != NULL, rows[i].elements[0] != 0);
            vy_variant variant = {.interface = interface, .is_coarse = true};
            for (uint32_t s = 0; coarse.elements && s < 2; s++) {
                const uint32_t *words, *plain;
                uint32_t count, plain_count;
                assert_int_equal(coarse.elements[s], rows[i].elements[s]);
                assert_int_equal(vy_kernel_variant(kernel, variant, s, &words, &count, &diag),
                                 VYRE_OK);
                assert_int_equal(vy_kernel_variant(kernel, (vy_variant){.interface = interface}, s,
                                                   &plain, &plain_count, &diag),
                                 VYRE_OK);
                bool is_same = count == plain_count && memcmp(words, plain, count * 4) == 0;
                assert_int_equal(is_same, rows[i].elements[s] == 1 && !rows[i].is_widened[s]);
            }
        }
        vyre_kernel_destroy(&kernel);
    }
}

static bool has_op(const uint32_t *words, uint32_t count, uint32_t op)
{
    for (uint32_t at = 5; at < count; at += words[at] >> 16) {
        if ((words[at] & 0xffff) == op) {
            return true;
        }
    }
    return false;
}

enum { CONTROL_BARRIER = 224, GROUP_NON_UNIFORM_BALLOT = 339, GROUP_NON_UNIFORM_ADD = 349 };

static bool joins(const uint32_t *words, uint32_t count)
{
    return has_op(words, count, CONTROL_BARRIER) || has_op(words, count, GROUP_NON_UNIFORM_ADD) ||
           has_op(words, count, GROUP_NON_UNIFORM_BALLOT);
}

/* Only where maximal reconvergence was asked for and there is something to join at one place, and
 * not for whoever can tell workgroups, whose words have neighbours joined and nothing else; what
 * the kernel itself is and needs stays the same. */
static void test_coarse_variants_join_within_workgroups_where_asked(void **state)
{
    (void)state;
    static const char append[] =
        "program a\nin x : u32[]\ninout y : u32[]\ninout k : u32[1]\n"
        "kernel { let v = x[gid.x]\nif v > 3 { let o = atomic_add(k[0], 1)\ny[o] = v } }\n";
    static const char count[] = "program c\nin x : u32[]\ninout k : u32[1]\n"
                                "kernel { if x[gid.x] > 3 { atomic_add(k[0], 1) } }\n";
    static const char tells[] =
        "program t\nin x : u32[64]\ninout y : u32[]\ninout k : u32[1]\n"
        "kernel { let i = lid.x & 60\nlet v = x[i] + x[i + 1] + x[i + 2] + x[i + 3]\n"
        "if v > 3 { let o = atomic_add(k[0], 1)\ny[o] = v } }\n";
    /* Each where its data says: nothing is one for all. */
    static const char spread[] = "program s\nin x : u32[]\ninout k : u32[64]\n"
                                 "kernel { atomic_add(k[x[gid.x] % 64], 1) }\n";
    static const char *const texts[] = {count, append, tells, spread};
    for (uint32_t i = 0; i < 16; i++) {
        bool is_asked = i & 1, is_maximal = i & 2, has_place = i >> 2 < 2;
        vyre_kernel_params params = {.reconvergence = is_maximal ? VYRE_RECONVERGENCE_MAXIMAL
                                                                 : VYRE_RECONVERGENCE_NONE};
        vyre_kernel *kernel = compile(texts[i >> 2], params, all[2]);
        vy_variant variant = {
            .interface = VYRE_INTERFACE_ADDRESS, .is_coarse = true, .is_joined = is_asked};
        const uint32_t *words;
        uint32_t size;
        vyre_diag diag;
        vy_kernel_coarse coarse;
        assert_int_equal(vy_kernel_coarsen(kernel, variant.interface, is_asked, &coarse, &diag),
                         VYRE_OK);
        assert_non_null(coarse.elements);
        assert_int_equal(coarse.elements[0] > 4, has_place);
        assert_int_equal(vy_kernel_variant(kernel, variant, 0, &words, &size, &diag), VYRE_OK);
        assert_int_equal(joins(words, size), is_asked && is_maximal && has_place);
        assert_int_equal(vy_kernel_variant(kernel, all[2], 0, &words, &size, &diag), VYRE_OK);
        assert_false(joins(words, size));
        const char *requirement;
        for (uint32_t r = 0; (requirement = vyre_kernel_requirement(kernel, r)) != NULL; r++) {
            assert_null(strstr(requirement, "SUBGROUP"));
        }
        vyre_kernel_destroy(&kernel);
    }
}

/* Coarse ones too. */
static void test_unchecked_kernels_have_coarse_words(void **state)
{
    (void)state;
    static const char source[] = "program u\nin x : u32[]\nin i : u32[]\ninout y : u32[]\n"
                                 "kernel { y[gid.x] = x[i[gid.x]] }\n";
    vyre_program *program = parse(source);
    vyre_kernel *kernels[2] = {NULL, NULL};
    vyre_diag diag;
    uint32_t counts[2] = {0, 0};
    assert_int_equal(vyre_kernel_compile(program, NULL, &kernels[0], &diag), VYRE_OK);
    assert_int_equal(vy_kernel_compile_unchecked(program, NULL, &kernels[1], &diag), VYRE_OK);
    vyre_program_destroy(&program);
    for (int k = 0; k < 2; k++) {
        const uint32_t *words;
        vy_kernel_coarse coarse;
        vy_variant variant = {.interface = VYRE_INTERFACE_ADDRESS, .is_coarse = true};
        assert_int_equal(vy_kernel_coarsen(kernels[k], variant.interface, false, &coarse, &diag),
                         VYRE_OK);
        assert_non_null(coarse.elements);
        assert_int_equal(coarse.elements[0], 4);
        assert_int_equal(vy_kernel_variant(kernels[k], variant, 0, &words, &counts[k], &diag),
                         VYRE_OK);
        vyre_kernel_destroy(&kernels[k]);
    }
    assert_true(counts[1] < counts[0]);
}

/* Made for measurements: smaller words in every variant, and no file of them. */
static void test_unchecked_kernels_are_for_measurements(void **state)
{
    (void)state;
    vyre_program *program = parse(text);
    vyre_kernel *checked = NULL, *unchecked = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_compile(program, NULL, &checked, &diag), VYRE_OK);
    assert_int_equal(vy_kernel_compile_unchecked(program, NULL, &unchecked, &diag), VYRE_OK);
    vyre_program_destroy(&program);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t s = 0; s < 2; s++) {
            const uint32_t *words;
            uint32_t count, less;
            assert_int_equal(vy_kernel_variant(checked, all[i], s, &words, &count, NULL), VYRE_OK);
            assert_int_equal(vy_kernel_variant(unchecked, all[i], s, &words, &less, NULL), VYRE_OK);
            assert_true(less < count);
        }
    }
    const vyre_kernel *kernels[1] = {unchecked};
    void *data = NULL;
    size_t size = 0;
    assert_int_equal(vyre_kernel_save(kernels, 1, NULL, &data, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "without checks"));
    assert_null(data);
    vyre_kernel_destroy(&checked);
    vyre_kernel_destroy(&unchecked);
}

static void test_variant_dumps_nothing(void **state)
{
    (void)state;
    uint32_t dumps = 0;
    char pass[] = "all";
    vyre_kernel_params params = {.dump_after = pass, .dump = count_dump, .dump_user = &dumps};
    vyre_kernel *kernel = compile(text, params, all[0]);
    uint32_t before = dumps, count;
    assert_true(before > 0);
    pass[0] = '?'; /* the caller's, and free to change */
    const uint32_t *words;
    assert_int_equal(vy_kernel_variant(kernel, all[2], 0, &words, &count, NULL), VYRE_OK);
    assert_int_equal(dumps, before);
    vyre_kernel_destroy(&kernel);
}

typedef struct asker {
    pthread_t thread;
    const vyre_kernel *kernel;
    pthread_barrier_t *start;
    const uint32_t *words[4];
    vyre_result result;
} asker;

static void *ask(void *user)
{
    asker *a = user;
    a->result = VYRE_OK;
    pthread_barrier_wait(a->start);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t count;
        vyre_result result = vy_kernel_variant(a->kernel, all[i], 1, &a->words[i], &count, NULL);
        a->result = result == VYRE_OK ? a->result : result;
    }
    return NULL;
}

static void test_variant_is_one_for_all_threads(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20; round++) {
        vyre_kernel *kernel = compile(text, (vyre_kernel_params){0}, all[round % 4]);
        pthread_barrier_t start;
        asker askers[THREADS];
        assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            askers[i] = (asker){.kernel = kernel, .start = &start};
            assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(askers[i].result, VYRE_OK);
            for (uint32_t k = 0; k < 4; k++) {
                assert_non_null(askers[i].words[k]);
                assert_ptr_equal(askers[i].words[k], askers[0].words[k]);
            }
        }
        pthread_barrier_destroy(&start);
        vyre_kernel_destroy(&kernel);
    }
}

static void test_variant_survives_every_failed_allocation(void **state)
{
    (void)state;
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_kernel_params params = {.allocator = &allocator};
    vyre_kernel *direct = compile(text, (vyre_kernel_params){0}, all[3]);
    size_t n = 1;
    for (;; n++) {
        vyre_kernel *kernel = compile(text, params, all[0]);
        const uint32_t *words;
        uint32_t count;
        vyre_diag diag;
        memory.calls = 0;
        memory.fail_at = n;
        size_t before = memory.live_size;
        vyre_result result = vy_kernel_variant(kernel, all[3], 1, &words, &count, &diag);
        bool failed = memory.calls >= n;
        memory.fail_at = 0;
        assert_int_equal(result, failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        if (failed) {
            assert_null(words);
            assert_int_equal(diag.code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(memory.live_size, before);
        }
        check_words(kernel, all[3], direct);
        vyre_kernel_destroy(&kernel);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
        if (!failed) {
            break;
        }
    }
    assert_true(n > 3);
    vyre_kernel_destroy(&direct);
}

/* Of a body that fills some pieces of memory, with branches and a joined atomic; or with
 * neighbours.
 */
static void check_coarse_failures(bool has_neighbours)
{
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_kernel_params params = {.allocator = &allocator};
    vy_text source;
    vy_text_init(&source, NULL);
    vy_text_printf(&source,
                   "program c\nin x : u32[]\ninout y : u32[]\ninout k : u32[]\nin n : u32[256]\n"
                   "kernel { var a = x[%s]\n",
                   has_neighbours ? "wid.x" : "gid.x");
    for (uint32_t i = 0; i < 40; i++) {
        vy_text_printf(&source, " if a %% 3 == %u { a = (a ^ %u) * 7 }\n", (unsigned)i % 3,
                       (unsigned)i);
        if (has_neighbours) {
            vy_text_printf(&source, " a = a + n[%u] * n[%u]\n", (unsigned)i * 2,
                           (unsigned)i * 2 + 1);
        }
    }
    vy_text_printf(&source, " if a > 5 { atomic_add(k[0], a) }\n y[gid.x] = a }\n");
    size_t n = 1;
    for (bool failed = true; failed; n++) {
        vyre_kernel *kernel = compile(source.data, params, all[0]);
        vyre_diag diag;
        vy_kernel_coarse coarse;
        memory.calls = 0;
        memory.fail_at = n;
        size_t before = memory.live_size;
        vyre_result result =
            vy_kernel_coarsen(kernel, VYRE_INTERFACE_ADDRESS, false, &coarse, &diag);
        failed = memory.calls >= n;
        memory.fail_at = 0;
        assert_int_equal(result, failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        if (failed) {
            assert_null(coarse.elements);
            assert_int_equal(diag.code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(memory.live_size, before);
        }
        assert_int_equal(vy_kernel_coarsen(kernel, VYRE_INTERFACE_ADDRESS, false, &coarse, &diag),
                         VYRE_OK);
        assert_non_null(coarse.elements);
        assert_int_equal(coarse.elements[0], has_neighbours ? 1 : 4);
        vyre_kernel_destroy(&kernel);
        assert_int_equal(memory.live_blocks, 0);
    }
    assert_true(n > 6);
    vy_text_finish(&source);
}

static void test_coarse_variant_survives_every_failed_allocation(void **state)
{
    (void)state;
    check_coarse_failures(false);
    check_coarse_failures(true);
}

static void test_program_lives_as_long_as_its_kernels(void **state)
{
    (void)state;
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_program *program = NULL;
    vyre_kernel *kernels[2] = {NULL, NULL};
    assert_int_equal(vyre_program_parse(text, strlen(text), NULL, &allocator, &program, NULL),
                     VYRE_OK);
    size_t size = memory.live_size;
    assert_true(size > 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(vyre_kernel_compile(program, NULL, &kernels[i], NULL), VYRE_OK);
    }
    vyre_program_destroy(&program);
    assert_null(program);
    assert_int_equal(memory.live_size, size);
    vyre_kernel_destroy(&kernels[0]);
    assert_int_equal(memory.live_size, size);
    const uint32_t *words;
    uint32_t count;
    assert_int_equal(vy_kernel_variant(kernels[1], all[2], 1, &words, &count, NULL), VYRE_OK);
    assert_true(count > 5);
    vyre_kernel_destroy(&kernels[1]);
    assert_int_equal(memory.live_size, 0);
    assert_int_equal(memory.live_blocks, 0);
}

/* A table that is too large for a module has its place in both. */
static void test_variant_reads_the_same_tables(void **state)
{
    (void)state;
    static char source[1 << 17];
    size_t used = 0;
    used += (size_t)snprintf(source, sizeof source,
                             "program tabled\nworkgroup 8\ninout y : u32[]\nconst t : u32[] = [0");
    for (uint32_t i = 1; i < 5000; i++) {
        used += (size_t)snprintf(source + used, sizeof source - used, ", %u", (unsigned)i * 7);
    }
    (void)snprintf(source + used, sizeof source - used, "]\nkernel { y[gid.x] = t[gid.x] }\n");
    vyre_kernel *kernel = compile(source, (vyre_kernel_params){0}, all[0]);
    vyre_kernel *direct = compile(source, (vyre_kernel_params){0}, all[2]);
    uint32_t count, direct_count;
    const uint32_t *tables = vy_kernel_tables(kernel, &count);
    const uint32_t *direct_tables = vy_kernel_tables(direct, &direct_count);
    assert_int_equal(count, 5000);
    assert_int_equal(direct_count, count);
    assert_memory_equal(tables, direct_tables, count * sizeof *tables);
    check_words(kernel, all[2], direct);
    vyre_kernel_destroy(&kernel);
    vyre_kernel_destroy(&direct);
}

static bool is_fixed(const char *body)
{
    char source[400];
    snprintf(source, sizeof source,
             "program s\nworkgroup 4\nparam p : u32\ninout y : u32[]\nkernel {\n%s\n}\n", body);
    vyre_kernel *kernel = compile(source, (vyre_kernel_params){0}, all[0]);
    bool fixed = vy_kernel_is_schedule_fixed(kernel);
    vyre_kernel_destroy(&kernel);
    return fixed;
}

static void test_schedule_is_fixed_without_host_loops_and_ifs(void **state)
{
    (void)state;
    assert_true(is_fixed(""));
    assert_true(is_fixed("y[0] = 1"));
    assert_true(is_fixed("for i in 0 .. p { y[i] = 1 } if p > 2 { y[0] = 3 }"));
    assert_true(is_fixed("y[0] = 1 grid_sync y[1] = 2 grid_sync y[2] = y[1]"));
    assert_false(is_fixed("for i in 0 .. p { y[i] = 1 grid_sync }"));
    assert_false(is_fixed("y[0] = 1 grid_sync if p > 2 { y[1] = 2 grid_sync y[2] = 1 }"));
}

static void test_interface_of_no_kernel_is_the_default(void **state)
{
    (void)state;
    assert_int_equal(vyre_kernel_interface(NULL), VYRE_INTERFACE_DESCRIPTOR);
}

static void test_address_kernel_requires_addresses(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        vyre_kernel *kernel = compile(text, (vyre_kernel_params){0}, all[i]);
        bool found = false;
        const char *name;
        for (uint32_t k = 0; (name = vyre_kernel_requirement(kernel, k)) != NULL; k++) {
            found = found || strcmp(name, "bufferDeviceAddress") == 0;
        }
        assert_int_equal(found, all[i].interface == VYRE_INTERFACE_ADDRESS);
        vyre_kernel_destroy(&kernel);
    }
}

/* Decorations of NonWritable on variables and, by address, on members of block types. */
static uint32_t count_not_writable(const vyre_kernel *kernel)
{
    vyre_segment_info info;
    vyre_kernel_segment(kernel, 0, &info);
    uint32_t found = 0;
    for (uint32_t at = 5; at < info.word_count && info.words[at] >> 16;
         at += info.words[at] >> 16) {
        uint32_t op = info.words[at] & 0xffff;
        found += op == 71 && info.words[at + 2] == 24; /* OpDecorate, NonWritable */
        found += op == 72 && info.words[at + 3] == 24; /* OpMemberDecorate */
    }
    return found;
}

/* What the program only reads may still be what it writes, by another name: no driver may keep such
 * loads over stores. */
static void test_only_steady_bindings_are_not_writable_where_names_overlap(void **state)
{
    static const char source[] = "program names\nworkgroup 64\nin w: u32[]\nout o: u32[64]\n"
                                 "inout a: u32[64]\ninout b: u32[64]\nkernel {\n"
                                 "    a[gid.x] = b[gid.x] + w[0]\n    o[gid.x] = b[gid.x]\n}\n";
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        vyre_kernel *kernel = compile(source, (vyre_kernel_params){0}, all[i]);
        bool by_address = all[i].interface == VYRE_INTERFACE_ADDRESS;
        /* w, and without overlaps b; by address both are of one type. */
        assert_int_equal(count_not_writable(kernel), by_address ? 1 : all[i].is_aliased ? 1 : 2);
        vyre_kernel_destroy(&kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variant_words_are_those_of_a_direct_compile),
        cmocka_unit_test(test_variants_differ),
        cmocka_unit_test(test_wide_variants_are_of_the_address_form),
        cmocka_unit_test(test_coarse_variants_tell_what_they_are),
        cmocka_unit_test(test_unchecked_kernels_are_for_measurements),
        cmocka_unit_test(test_coarse_variants_join_within_workgroups_where_asked),
        cmocka_unit_test(test_unchecked_kernels_have_coarse_words),
        cmocka_unit_test(test_variant_dumps_nothing),
        cmocka_unit_test(test_variant_is_one_for_all_threads),
        cmocka_unit_test(test_variant_survives_every_failed_allocation),
        cmocka_unit_test(test_coarse_variant_survives_every_failed_allocation),
        cmocka_unit_test(test_program_lives_as_long_as_its_kernels),
        cmocka_unit_test(test_variant_reads_the_same_tables),
        cmocka_unit_test(test_schedule_is_fixed_without_host_loops_and_ifs),
        cmocka_unit_test(test_interface_of_no_kernel_is_the_default),
        cmocka_unit_test(test_address_kernel_requires_addresses),
        cmocka_unit_test(test_only_steady_bindings_are_not_writable_where_names_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

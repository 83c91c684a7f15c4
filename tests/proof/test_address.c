/* The address form does what the descriptor form does: both are run on the host, invocation by
 * invocation, on copies of the same memory. And the engine's own kernels that have only it. */
#include "codegen/kernel.h"
#include "engine/exec/own_kernels.h"
#include "engine/kernels/kernels.h"
#include "tests/support/generate.h"
#include "tests/support/machine.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <spirv-tools/libspirv.h>

#define SEEDS           600u /* of which one in ten or so is of words alone */
#define MAX_EXECUTIONS  6u
#define GROUPS          2u
#define LOCALS          9u /* invocations of each workgroup that are run */
#define BLOCK_MAX_WORDS 256u
#define PASS            1u /* in its chunk */

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef struct world {
    uint32_t slot_count;
    uint32_t counts[MACHINE_MAX_BINDINGS];
    uint32_t *slots[MACHINE_MAX_BINDINGS];
} world;

static void world_add(world *w, uint32_t slot, uint32_t count)
{
    assert_true(slot < MACHINE_MAX_BINDINGS);
    w->slots[slot] = calloc(count, sizeof(uint32_t));
    assert_non_null(w->slots[slot]);
    w->counts[slot] = count;
    w->slot_count = slot + 1 > w->slot_count ? slot + 1 : w->slot_count;
}

static world world_copy(const world *from)
{
    world copy = {0};
    for (uint32_t i = 0; i < from->slot_count; i++) {
        world_add(&copy, i, from->counts[i]);
        memcpy(copy.slots[i], from->slots[i], from->counts[i] * sizeof(uint32_t));
    }
    return copy;
}

static void world_finish(world *w)
{
    for (uint32_t i = 0; i < w->slot_count; i++) {
        free(w->slots[i]);
    }
}

static void give(machine *m, const world *w)
{
    for (uint32_t i = 0; i < w->slot_count; i++) {
        m->buffers[i].words = w->slots[i];
        m->buffers[i].count = w->counts[i];
    }
}

/* The addresses of everything but the block into it; modules that use them have it elsewhere. */
static void give_addresses(machine *m, const world *w, uint32_t bindings, uint32_t params,
                           vyre_interface interface)
{
    m->block_at = interface == VYRE_INTERFACE_ADDRESS ? bindings + VY_HIDDEN_PARAMS : 0;
    uint32_t *block = w->slots[bindings + VY_HIDDEN_PARAMS];
    uint32_t at = vy_param_addresses(bindings, params);
    for (uint32_t slot = 0; slot < bindings + VY_HIDDEN_COUNT; slot++) {
        if (slot == bindings + VY_HIDDEN_PARAMS) {
            continue;
        }
        block[at++] = (uint32_t)machine_address(slot);
        block[at++] = (uint32_t)(machine_address(slot) >> 32);
    }
    assert_int_equal(at, vy_param_words(bindings, params));
}

static void assert_valid(const uint32_t *words, uint32_t count, spv_target_env target)
{
    spv_context context = spvContextCreate(target);
    assert_int_equal(spvValidateBinary(context, words, count, NULL), SPV_SUCCESS);
    spvContextDestroy(context);
}

/* ---- Both forms of a program ----------------------------------------------------------------- */

static void fill_block(const vyre_kernel *kernel, world *w)
{
    uint32_t bindings = vyre_kernel_binding_count(kernel), size[3];
    uint32_t params = vyre_kernel_param_count(kernel);
    uint32_t *block = w->slots[bindings + VY_HIDDEN_PARAMS];
    vy_kernel_workgroup(kernel, size);
    uint32_t volume = size[0] * size[1] * size[2];
    const uint32_t groups[3] = {GROUPS, 1, 1};
    block[VY_PARAM_PASS_BASE] = VY_STATE_TURNS;
    for (uint32_t i = 0; i < 3; i++) {
        block[VY_PARAM_GROUPS + i] = groups[i];
        block[VY_PARAM_ELEMENTS + i] = groups[i] * size[i];
    }
    block[VY_PARAM_GROUP_TOTAL] = GROUPS;
    block[VY_PARAM_INVOCATIONS] = GROUPS * volume;
    for (uint32_t i = 0; i < params; i++) {
        block[VY_PARAM_LENGTHS + bindings + i] = i + 2;
    }
}

static world make_world(const vyre_kernel *kernel, uint64_t seed)
{
    world w = {0};
    uint32_t bindings = vyre_kernel_binding_count(kernel), table_count;
    const uint32_t *tables = vy_kernel_tables(kernel, &table_count);
    uint32_t params[VYRE_MAX_BUFFERS] = {0}, lengths[VYRE_MAX_BUFFERS] = {0};
    vy_kernel_env env = {params, lengths, {GROUPS, 1, 1}, {0}};
    vy_kernel_workgroup(kernel, env.workgroup);
    for (uint32_t i = 0; i < vyre_kernel_param_count(kernel); i++) {
        params[i] = i + 2;
    }
    for (uint32_t i = 0; i < bindings; i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        uint32_t count = 90 + 7 * i;
        if (info.has_count) {
            count = vy_kernel_eval_count(kernel, i, &env);
        }
        assert_true(count <= 1u << 20);
        lengths[i] = count;
        world_add(&w, i, count ? count : 1);
        for (uint32_t e = 0; e < count; e++) {
            const vy_generated contents = {.seed = seed + i};
            uint32_t element[4] = {0};
            vy_generate_input(&contents, vy_generate_find_type(vyre_type_keyword(info.type)), e,
                              element);
            w.slots[i][e] = element[0];
        }
    }
    uint32_t spill = vyre_kernel_spill_size(kernel) / 4 * GROUPS * env.workgroup[0] *
                     env.workgroup[1] * env.workgroup[2];
    world_add(&w, bindings + VY_HIDDEN_PARAMS, BLOCK_MAX_WORDS);
    world_add(&w, bindings + VY_HIDDEN_RECORDS, VY_RECORD_SITES + vy_kernel_site_count(kernel) + 1);
    world_add(&w, bindings + VY_HIDDEN_SPILL, spill + 1);
    world_add(&w, bindings + VY_HIDDEN_TABLES, table_count + 1);
    world_add(&w, bindings + VY_HIDDEN_STATE, VY_STATE_MODULE_WORDS);
    for (uint32_t i = 0; i < VY_STATE_TURNS; i++) {
        w.slots[bindings + VY_HIDDEN_STATE][VY_STATE_FLAGS + i] = i != PASS % VY_STATE_TURNS;
    }
    if (table_count) {
        memcpy(w.slots[bindings + VY_HIDDEN_TABLES], tables, table_count * sizeof *tables);
    }
    fill_block(kernel, &w);
    memcpy(w.slots[bindings + VY_HIDDEN_PARAMS] + VY_PARAM_LENGTHS, lengths,
           bindings * sizeof *lengths);
    return w;
}

static void run_execution(const vyre_kernel *kernel, vyre_interface interface, const world *w,
                          uint32_t number, const vy_execution *execution)
{
    const uint32_t *words;
    uint32_t count, size[3];
    uint32_t bindings = vyre_kernel_binding_count(kernel);
    vy_variant variant = {.interface = interface};
    machine m;
    vy_kernel_workgroup(kernel, size);
    assert_int_equal(vy_kernel_variant(kernel, variant, execution->segment, &words, &count, NULL),
                     VYRE_OK);
    assert_valid(words, count, SPV_ENV_VULKAN_1_3);
    machine_init(&m, words, count);
    give(&m, w);
    give_addresses(&m, w, bindings, vyre_kernel_param_count(kernel), interface);
    m.push[VY_PUSH_PASS / 4] = PASS;
    m.push[VY_PUSH_EXECUTION / 4] = number;
    memcpy(m.push + VY_PUSH_INDICES / 4, execution->indices, sizeof execution->indices);
    m.launched[0] = GROUPS;
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (uint32_t local = 0; local < LOCALS && local < size[0]; local++) {
            m.workgroup[0] = group;
            m.local[0] = m.local_index = local;
            machine_run(&m);
        }
    }
    machine_finish(&m);
}

/* The machine has words alone. */
static bool is_of_words(const vyre_kernel *kernel)
{
    const char *needs;
    bool is_simple = vyre_kernel_param_words(kernel) == vyre_kernel_param_count(kernel);
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        is_simple = is_simple && vyre_type_size(info.type) == 4;
    }
    for (uint32_t i = 0; (needs = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        is_simple = is_simple && strcmp(needs, "shaderInt64") != 0 &&
                    strncmp(needs, "VK_SUBGROUP", 11) != 0;
    }
    return is_simple;
}

static uint32_t check_forms(const char *name, const char *text, size_t size, uint64_t seed)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, size, name, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s", name, diag.line, diag.message);
    }
    vyre_program_destroy(&program);
    if (!is_of_words(kernel)) {
        vyre_kernel_destroy(&kernel);
        return 0;
    }
    world a = make_world(kernel, seed), start = world_copy(&a);
    uint32_t count = 0, changed = 0, params[VYRE_MAX_BUFFERS];
    uint32_t bindings = vyre_kernel_binding_count(kernel);
    const uint32_t *lengths = a.slots[bindings + VY_HIDDEN_PARAMS] + VY_PARAM_LENGTHS;
    memcpy(params, lengths + bindings, vyre_kernel_param_count(kernel) * sizeof *params);
    vy_kernel_env env = {params, lengths, {GROUPS, 1, 1}, {0}};
    vy_kernel_workgroup(kernel, env.workgroup);
    vyre_allocator memory = vy_allocator_or_default(NULL);
    vy_execution *list = NULL;
    assert_int_equal(vy_kernel_schedule(kernel, &env, &memory, &list, &count, &diag), VYRE_OK);
    world b = world_copy(&a);
    for (uint32_t i = 0; i < count && i < MAX_EXECUTIONS; i++) {
        run_execution(kernel, VYRE_INTERFACE_DESCRIPTOR, &a, i, &list[i]);
        run_execution(kernel, VYRE_INTERFACE_ADDRESS, &b, i, &list[i]);
    }
    for (uint32_t i = 0; i < a.slot_count; i++) {
        for (uint32_t e = 0; e < a.counts[i]; e++) {
            if (a.slots[i][e] != b.slots[i][e]) {
                fail_msg("%s: word %u of buffer %u is 0x%08x, but 0x%08x by addresses", name, e, i,
                         a.slots[i][e], b.slots[i][e]);
            }
            changed += i != bindings + VY_HIDDEN_PARAMS && a.slots[i][e] != start.slots[i][e];
        }
    }
    vy_free(&memory, list, count * sizeof *list);
    world_finish(&a);
    world_finish(&b);
    world_finish(&start);
    vyre_kernel_destroy(&kernel);
    return changed;
}

static void test_generated_programs_do_the_same_by_addresses(void **state)
{
    (void)state;
    uint32_t changed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_text text;
        vy_generated info;
        char name[32];
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        snprintf(name, sizeof name, "seed %u", (unsigned)seed);
        changed += check_forms(name, text.data, text.size, seed);
        vy_text_finish(&text);
    }
    assert_true(changed > 3000);
}

/* What the generator does not make: every hidden buffer at once, and lengths of zero. */
static void test_hidden_buffers_are_found_by_addresses(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "program hidden\nworkgroup 4\nparam a : u32\nparam b : f32\n"
                          "inout y : u32[]\nin none : u32[0]\ninout z : f32[]\n"
                          "const t : u32[] = [9");
    for (uint32_t i = 1; i < 4100; i++) {
        vy_text_printf(&text, ", %u", (unsigned)(i * 3));
    }
    vy_text_printf(&text, "]\nkernel {\n"
                          "    for i in 0 .. 3 {\n"
                          "        let v = y[gid.x] + a + t[gid.x + 4000] + i\n"
                          "        let s = z[gid.x] * b\n"
                          "        grid_sync\n"
                          "        y[gid.x + 1] = v + none[gid.x] + pass\n"
                          "        let old = atomic_max(y[50], v)\n"
                          "        if v %% 3 == 1 { trap(5) }\n"
                          "        z[gid.x] = s + f32(old)\n"
                          "    }\n"
                          "}\n");
    assert_false(text.failed);
    assert_true(check_forms("hidden", text.data, text.size, 11) > 12);
    vy_text_finish(&text);
}

/* ---- The engine's kernels -------------------------------------------------------------------- */

/* A grid of 3 workgroups of 4 invocations that is folded into 2 x 2; `elements` of them run. */
static void run_folded(const uint32_t *words, uint32_t word_count, uint32_t params, world *w,
                       uint32_t bindings, uint32_t elements)
{
    uint32_t *block = w->slots[bindings];
    const uint32_t size[3] = {4, 1, 1}, groups[3] = {3, 1, 1}, counts[3] = {elements, 1, 1};
    machine m;
    assert_valid(words, word_count, SPV_ENV_VULKAN_1_2);
    machine_init(&m, words, word_count);
    give(&m, w);
    give_addresses(&m, w, bindings, params, VYRE_INTERFACE_ADDRESS);
    memcpy(block + VY_PARAM_GROUPS, groups, sizeof groups);
    memcpy(block + VY_PARAM_ELEMENTS, counts, sizeof counts);
    block[VY_PARAM_GROUP_TOTAL] = 3;
    for (uint32_t i = 0; i < 3; i++) {
        m.spec[i] = size[i];
        m.has_spec[i] = true;
    }
    m.spec[VY_SPEC_FOLDED] = 1;
    m.has_spec[VY_SPEC_FOLDED] = true;
    m.launched[0] = m.launched[1] = 2;
    for (uint32_t i = 0; i < 16; i++) {
        m.workgroup[0] = i / 4 % 2;
        m.workgroup[1] = i / 8;
        m.local[0] = m.local_index = i % 4;
        machine_run(&m);
    }
    machine_finish(&m);
}

/* Bindings of 16 words that tell their number and place, and hidden buffers. */
static world make_ranges(uint32_t bindings)
{
    world w = {0};
    for (uint32_t i = 0; i < bindings; i++) {
        world_add(&w, i, 16);
        for (uint32_t e = 0; e < 16; e++) {
            w.slots[i][e] = 1000 * (i + 1) + e;
        }
    }
    for (uint32_t i = 0; i < VY_HIDDEN_COUNT; i++) {
        world_add(&w, bindings + i, 64);
    }
    return w;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void test_fill_writes_the_elements_that_are_there(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 7, 11, 12, 13}, elements[] = {0, 1, 5, 11, 12, 20};
    uint32_t count;
    const uint32_t *words = vy_kernel_fill(&count);
    assert_int_equal(vy_param_addresses(1, 1), 24);
    for (uint32_t i = 0; i < 36; i++) {
        uint32_t length = lengths[i / 6], limit = elements[i % 6];
        world w = make_ranges(1);
        w.slots[1][VY_PARAM_LENGTHS] = length;
        w.slots[1][VY_PARAM_LENGTHS + 1] = 0xfeedu;
        run_folded(words, count, 1, &w, 1, limit);
        for (uint32_t e = 0; e < 16; e++) {
            bool is_filled = e < least(length, least(limit, 12));
            assert_int_equal(w.slots[0][e], is_filled ? 0xfeedu : 1000 + e);
        }
        world_finish(&w);
    }
}

static void test_copy_takes_what_both_have(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 7, 12, 15};
    uint32_t count;
    const uint32_t *words = vy_kernel_copy(&count);
    assert_int_equal(vy_param_addresses(2, 0), 24);
    for (uint32_t i = 0; i < 25; i++) {
        uint32_t source = lengths[i / 5], target = lengths[i % 5];
        for (uint32_t limit = 10; limit < 13; limit++) {
            world w = make_ranges(2);
            w.slots[2][VY_PARAM_LENGTHS] = source;
            w.slots[2][VY_PARAM_LENGTHS + 1] = target;
            run_folded(words, count, 0, &w, 2, limit);
            for (uint32_t e = 0; e < 16; e++) {
                bool is_copied = e < least(source, least(target, limit));
                assert_int_equal(w.slots[0][e], 1000 + e);
                assert_int_equal(w.slots[1][e], is_copied ? 1000 + e : 2000 + e);
            }
            world_finish(&w);
        }
    }
}

/* Pairs as far as the table's length goes, and nothing beyond the spans. */
static void test_gather_moves_what_its_table_says(void **state)
{
    (void)state;
    static const uint32_t table[16] = {3, 0, 4, 9, 15, 2, 0, 15, 16, 4, 5, 16, 7, 7, 11, 11};
    uint32_t count;
    const uint32_t *words = vy_kernel_gather(&count);
    for (uint32_t pairs = 0; pairs <= 8; pairs++) {
        for (uint32_t limit = 6; limit < 9; limit++) {
            world w = make_ranges(3);
            uint32_t wanted[16];
            memcpy(w.slots[1], table, sizeof table);
            memcpy(wanted, w.slots[2], sizeof wanted);
            w.slots[3][VY_PARAM_LENGTHS] = w.slots[3][VY_PARAM_LENGTHS + 2] = 16;
            w.slots[3][VY_PARAM_LENGTHS + 1] = 2 * pairs;
            for (uint32_t i = 0; i < least(pairs, limit); i++) {
                if (table[2 * i + 1] < 16) {
                    wanted[table[2 * i + 1]] = table[2 * i] < 16 ? 1000 + table[2 * i] : 0;
                }
            }
            run_folded(words, count, 0, &w, 3, limit);
            assert_memory_equal(w.slots[1], table, sizeof table);
            assert_memory_equal(w.slots[2], wanted, sizeof wanted);
            world_finish(&w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_programs_do_the_same_by_addresses),
        cmocka_unit_test(test_hidden_buffers_are_found_by_addresses),
        cmocka_unit_test(test_fill_writes_the_elements_that_are_there),
        cmocka_unit_test(test_copy_takes_what_both_have),
        cmocka_unit_test(test_gather_moves_what_its_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

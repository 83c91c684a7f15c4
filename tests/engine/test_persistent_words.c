/* The module of the strategy persistent: how its workgroups meet, and what it reads. */
#include "codegen/kernel.h"
#include "codegen/spirv/interface.h"
#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

static vyre_device *device;

/* Devices with validation bind by descriptors unless they are told. */
static engine_program build(const char *text)
{
    return engine_build_bound(device, text, VYRE_BINDINGS_ADDRESS);
}

static int open_device(void **state)
{
    (void)state;
    layer_reset();
    vyre_device_info info = {.has_addresses = 0};
    device = engine_has_no_device() ? NULL : engine_open(1);
    if (device) {
        vyre_device_get_info(device, &info);
    }
    if (device && !info.has_addresses) {
        engine_close(&device);
    }
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

typedef struct module_words {
    const uint32_t *words;
    uint32_t count;
} module_words;

static uint32_t find(const module_words *m, uint32_t at, uint32_t op)
{
    at = at ? at + (m->words[at] >> 16) : 5;
    while (at < m->count && (m->words[at] & 0xffffu) != op) {
        at += m->words[at] >> 16;
    }
    return at < m->count ? at : 0;
}

static uint32_t count_of(const module_words *m, uint32_t op)
{
    uint32_t count = 0;
    for (uint32_t at = find(m, 0, op); at; at = find(m, at, op)) {
        count++;
    }
    return count;
}

/* The instruction with that result (in word 2, or 1 for types). */
static const uint32_t *result(const module_words *m, uint32_t id, uint32_t op, uint32_t place)
{
    for (uint32_t at = find(m, 0, op); at; at = find(m, at, op)) {
        if (m->words[at + place] == id) {
            return m->words + at;
        }
    }
    return NULL;
}

static uint32_t constant(const module_words *m, uint32_t id)
{
    const uint32_t *ins = result(m, id, SpvOpConstant, 2);
    assert_non_null(ins);
    return ins[3];
}

/* Whether the pointer leads into a buffer; *out_is_fixed: that nobody writes. */
static bool is_of_buffer(const module_words *m, uint32_t pointer, bool *out_is_fixed)
{
    const uint32_t *chain = result(m, pointer, SpvOpAccessChain, 2);
    const uint32_t *base = chain ? result(m, chain[3], SpvOpBitcast, 2) : NULL;
    const uint32_t *type = base ? result(m, base[1], SpvOpTypePointer, 1) : NULL;
    *out_is_fixed = false;
    if (!type || type[2] != SpvStorageClassPhysicalStorageBuffer) {
        return false;
    }
    for (uint32_t at = find(m, 0, SpvOpMemberDecorate); at; at = find(m, at, SpvOpMemberDecorate)) {
        *out_is_fixed = *out_is_fixed || (m->words[at + 1] == type[3] &&
                                          m->words[at + 3] == SpvDecorationNonWritable);
    }
    return true;
}

#define NON_PRIVATE ((uint32_t)SpvMemoryAccessNonPrivatePointerMask)

static void check_accesses(const module_words *m, uint32_t op, uint32_t pointer_place,
                           uint32_t access_place, uint32_t *out_shared)
{
    *out_shared = 0;
    for (uint32_t at = find(m, 0, op); at; at = find(m, at, op)) {
        bool is_fixed = false;
        if (!is_of_buffer(m, m->words[at + pointer_place], &is_fixed)) {
            continue;
        }
        assert_true(m->words[at] >> 16 > access_place);
        bool is_shared = (m->words[at + access_place] & NON_PRIVATE) != 0;
        assert_int_equal(is_shared, !is_fixed);
        *out_shared += is_shared;
    }
}

static module_words words_of(const engine_program *p)
{
    module_words m = {NULL, 0};
    vyre_diag diag;
    vy_variant variant = {.interface = VYRE_INTERFACE_ADDRESS, .is_persistent = true};
    if (vy_kernel_variant(p->kernel, variant, 0, &m.words, &m.count, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return m;
}

/* One release at device scope, looks without order, one acquire behind them, the workgroup around.
 */
static void test_words_meet_as_the_memory_model_asks(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p =
        build("program two\nworkgroup 64\nfixpoint 9\nin c : u32[256]\ninout a : u32[256]\n"
              "inout b : u32[256]\nkernel { b[gid.x] = a[255 - gid.x] + c[gid.x]  grid_sync\n"
              "  a[gid.x] = b[gid.x] + c[gid.x] }\n");
    module_words m = words_of(&p);
    assert_int_equal(count_of(&m, SpvOpAtomicIAdd), 1);
    assert_int_equal(count_of(&m, SpvOpAtomicLoad), 1);
    assert_int_equal(count_of(&m, SpvOpMemoryBarrier), 1);
    assert_int_equal(count_of(&m, SpvOpControlBarrier), 2);
    assert_int_equal(count_of(&m, SpvOpEntryPoint), 1);
    assert_int_equal(count_of(&m, SpvOpFunctionCall), 2);
    uint32_t before = find(&m, 0, SpvOpControlBarrier);
    uint32_t add = find(&m, 0, SpvOpAtomicIAdd), look = find(&m, 0, SpvOpAtomicLoad);
    uint32_t fence = find(&m, 0, SpvOpMemoryBarrier);
    uint32_t behind = find(&m, before, SpvOpControlBarrier);
    assert_true(before < add && add < look && look < fence && fence < behind);
    const uint32_t uniform = SpvMemorySemanticsUniformMemoryMask;
    assert_int_equal(constant(&m, m.words[add + 4]), SpvScopeDevice);
    assert_int_equal(constant(&m, m.words[add + 5]),
                     uniform | SpvMemorySemanticsReleaseMask | SpvMemorySemanticsMakeAvailableMask);
    assert_int_equal(constant(&m, m.words[look + 4]), SpvScopeDevice);
    assert_int_equal(constant(&m, m.words[look + 5]), SpvMemorySemanticsMaskNone);
    assert_int_equal(m.words[look + 3], m.words[add + 3]); /* one word */
    assert_int_equal(constant(&m, m.words[fence + 1]), SpvScopeDevice);
    assert_int_equal(constant(&m, m.words[fence + 2]),
                     uniform | SpvMemorySemanticsAcquireMask | SpvMemorySemanticsMakeVisibleMask);
    for (uint32_t at = before; at; at = find(&m, at, SpvOpControlBarrier)) {
        uint32_t all = uniform | SpvMemorySemanticsWorkgroupMemoryMask |
                       SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsMakeAvailableMask |
                       SpvMemorySemanticsMakeVisibleMask;
        assert_int_equal(constant(&m, m.words[at + 1]), SpvScopeWorkgroup);
        assert_int_equal(constant(&m, m.words[at + 2]), SpvScopeWorkgroup);
        assert_int_equal(constant(&m, m.words[at + 3]), all);
    }
    /* What any segment writes is read and written NonPrivate in all of them. */
    uint32_t loads = 0, stores = 0;
    check_accesses(&m, SpvOpLoad, 3, 4, &loads);
    check_accesses(&m, SpvOpStore, 1, 3, &stores);
    assert_int_equal(loads, 2);
    assert_int_equal(stores, 2);
    engine_release(&p);
}

/* Nothing of a body is read of the parameter block or pushed while steps go on. */
static void test_words_of_bodies_read_no_parameters(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p =
        build("program host\nworkgroup 64\nfixpoint 9\nparam k : u32\ninout a : u32[256]\n"
              "kernel { for i in 0 .. 3 { grid_sync  a[gid.x] += i + k + pass + len(a) } }\n");
    module_words m = words_of(&p);
    uint32_t entry = m.words[find(&m, 0, SpvOpEntryPoint) + 2], function = 0, chains = 0;
    for (uint32_t at = 5; at < m.count; at += m.words[at] >> 16) {
        uint32_t op = m.words[at] & 0xffffu;
        if (op == SpvOpFunction) {
            function = m.words[at + 2];
        } else if (op == SpvOpAccessChain && function != entry) {
            const uint32_t *type = result(&m, m.words[at + 1], SpvOpTypePointer, 1);
            bool is_fixed = false;
            assert_non_null(type);
            assert_int_not_equal(type[2], SpvStorageClassPushConstant);
            assert_true(is_of_buffer(&m, m.words[at + 2], &is_fixed));
            assert_false(is_fixed);
            chains++;
        }
    }
    assert_true(chains > 0);
    engine_release(&p);
}

/* The uniform block has the tail, and is read at constant places alone; the schedule is memory that
 * nobody writes. */
static void test_words_declare_the_tail(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = build("program host\nworkgroup 64\nparam k : u32\ninout a : u32[256]\n"
                             "kernel { for i in 0 .. 3 { grid_sync  a[gid.x] += i + k } }\n");
    module_words m = words_of(&p);
    uint32_t blocks = 0, reads = 0, looks = 0;
    for (uint32_t at = find(&m, 0, SpvOpVariable); at; at = find(&m, at, SpvOpVariable)) {
        if (m.words[at + 3] != SpvStorageClassUniform) {
            continue;
        }
        const uint32_t *type = result(&m, m.words[at + 1], SpvOpTypePointer, 1);
        const uint32_t *block = result(&m, type[3], SpvOpTypeStruct, 1);
        const uint32_t *array = result(&m, block[2], SpvOpTypeArray, 1);
        assert_int_equal(constant(&m, array[3]), vy_tailed_vectors(1, 1));
        blocks++;
    }
    assert_int_equal(blocks, 1);
    for (uint32_t at = find(&m, 0, SpvOpAccessChain); at; at = find(&m, at, SpvOpAccessChain)) {
        const uint32_t *type = result(&m, m.words[at + 1], SpvOpTypePointer, 1);
        bool is_fixed = false;
        if (type[2] == SpvStorageClassUniform) {
            uint32_t word = 4 * constant(&m, m.words[at + 5]) + constant(&m, m.words[at + 6]);
            assert_true(word < vy_param_words(1, 1) + VY_TAIL_WORDS);
            reads++;
        } else if (is_of_buffer(&m, m.words[at + 2], &is_fixed) && is_fixed) {
            looks++;
        }
    }
    assert_true(reads > VY_TAIL_WORDS);
    /* Segment and index: of the first step, of the one behind it, and two steps ahead of each. */
    assert_int_equal(looks, 6);
    engine_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words_meet_as_the_memory_model_asks, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_words_of_bodies_read_no_parameters, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_words_declare_the_tail, open_device, close_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Conformance of what is no operator: atomics of every kind, order, type and memory, alone, out of
 * bounds and contended, and the built-in values. On the interpreter and on the device. */
#include "tests/conform/atomics.h"
#include "tests/conform/run.h"
#include "tests/conform/values.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTS CONFORM_ATOMIC_POINTS
#define ALL    (CONFORM_MAX_ATOMICS * POINTS)

static const conform_id types[] = {CONFORM_U32, CONFORM_I32, CONFORM_F32, CONFORM_U64, CONFORM_I64};

/* A buffer and the type of its elements. */
typedef struct buffer {
    vyre_buffer_mode mode;
    conform_id type;
    uint32_t count;
    void *data;
} buffer;

typedef struct fixture {
    vyre_device *device;
    conform_values values;
} fixture;

static int open_device(void **state)
{
    static fixture shared;
    void *device = NULL;
    int result = conform_open_device(&device);
    conform_values_init(&shared.values, 7);
    shared.device = device;
    *state = &shared;
    return result;
}

static int close_device(void **state)
{
    fixture *f = *state;
    void *device = f->device;
    return conform_close_device(&device);
}

static void *allocate(conform_id type, uint32_t count)
{
    return conform_allocate(count, conform_size(type));
}

/* In place. False: refused. */
static bool run(fixture *f, const char *text, const buffer *buffers, uint32_t count,
                const uint32_t *groups, bool on_device)
{
    conform_buffer list[CONFORM_MAX_BUFFERS];
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (conform_buffer){buffers[i].mode, buffers[i].count, buffers[i].data};
    }
    return conform_run(on_device ? f->device : NULL, text, list, count, groups);
}

/* ---- Each alone -------------------------------------------------------------------------------
 */

/* m: what is in memory; x, y: operands; old: what the atomic gave. */
static void write_alone(conform_id type, const conform_atomic *atomics, uint32_t count,
                        bool is_shared, vy_text *text)
{
    const char *keyword = conform_types[type].keyword;
    vy_text_init(text, NULL);
    vy_text_printf(text, "program atomics\nworkgroup 64\n");
    vy_text_printf(text, "in x : %s[]\nin y : %s[]\ninout m : %s[]\nout old : %s[%u]\n", keyword,
                   keyword, keyword, keyword, count * POINTS);
    if (is_shared) {
        vy_text_printf(text, "shared s : %s[64]\n", keyword);
    }
    vy_text_printf(text, "kernel {\n    let i = gid.x\n");
    for (uint32_t a = 0; a < count; a++) {
        char place[32];
        snprintf(place, sizeof place, is_shared ? "s[lid.x]" : "m[i + %u]", a * POINTS);
        if (is_shared) {
            vy_text_printf(text, "    s[lid.x] = m[i + %u]\n    barrier\n", a * POINTS);
        }
        vy_text_printf(text, "    ");
        if (atomics[a].gives_value) {
            vy_text_printf(text, "let r%u = ", a);
        }
        conform_atomic_text(&atomics[a], place, "x[i]", "y[i]", text);
        vy_text_printf(text, "\n");
        if (atomics[a].gives_value) {
            vy_text_printf(text, "    old[i + %u] = r%u\n", a * POINTS, a);
        }
        if (is_shared) {
            vy_text_printf(text, "    barrier\n    m[i + %u] = s[lid.x]\n", a * POINTS);
        }
    }
    vy_text_printf(text, "}\n");
}

static uint64_t first_of(const fixture *f, conform_id type, uint32_t i)
{
    return conform_value(&f->values, type, CONFORM_X0, i * 4);
}

/* Every second compare_exchange finds what it expects. */
static uint64_t operand_of(const fixture *f, conform_id type, uint32_t i)
{
    return conform_value(&f->values, type, i % 2 ? CONFORM_X0 : CONFORM_X1, i * 4 + i % 4);
}

static uint64_t second_of(const fixture *f, conform_id type, uint32_t i)
{
    return conform_value(&f->values, type, CONFORM_X2, i * 4);
}

static uint32_t judge_alone(const fixture *f, conform_id type, const conform_atomic *atomic,
                            uint32_t at, const buffer *m, const buffer *old, const char *who)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < POINTS; i++) {
        uint64_t before = first_of(f, type, i), x = operand_of(f, type, i), now, also;
        uint64_t got = conform_load(type, m->data, at * POINTS + i);
        uint64_t gave = conform_load(type, old->data, at * POINTS + i);
        (void)conform_atomic_answer(atomic->atomic, type, before, x, second_of(f, type, i), &now,
                                    &also);
        bool is_right = got == now || got == also;
        if (conform_is_nan(type, now) && atomic->atomic == VYRE_ATOMIC_ADD) {
            is_right =
                conform_is_nan(type, got); /* of any bits, as the device's own atomics give */
        }
        if (!is_right || gave != (atomic->gives_value ? before : 0)) {
            vy_text text;
            vy_text_init(&text, NULL);
            conform_atomic_text(atomic, "m", "x", "y", &text);
            if (wrong++ < 3) {
                print_message("%s, %s, %s: m 0x%" PRIx64 ", x 0x%" PRIx64 ": 0x%" PRIx64
                              ", not 0x%" PRIx64 "; gave 0x%" PRIx64 "\n",
                              who, conform_types[type].keyword, text.data, before, x, got, now,
                              gave);
            }
            vy_text_finish(&text);
        }
    }
    return wrong;
}

/* Rows that were run, and elements that were wrong. */
static uint32_t run_alone(fixture *f, conform_id type, bool is_shared, bool on_device,
                          uint32_t *wrong)
{
    const uint32_t groups[3] = {POINTS / 64, 1, 1};
    conform_atomic atomics[CONFORM_MAX_ATOMICS];
    uint32_t count = conform_atomics_of(type, atomics);
    buffer buffers[] = {{VYRE_BUFFER_IN, type, POINTS, allocate(type, POINTS)},
                        {VYRE_BUFFER_IN, type, POINTS, allocate(type, POINTS)},
                        {VYRE_BUFFER_INOUT, type, count * POINTS, allocate(type, ALL)},
                        {VYRE_BUFFER_OUT, type, count * POINTS, allocate(type, ALL)}};
    vy_text text;
    for (uint32_t i = 0; i < count * POINTS; i++) {
        conform_store(type, buffers[0].data, i % POINTS, operand_of(f, type, i % POINTS));
        conform_store(type, buffers[1].data, i % POINTS, second_of(f, type, i % POINTS));
        conform_store(type, buffers[2].data, i, first_of(f, type, i % POINTS));
    }
    write_alone(type, atomics, count, is_shared, &text);
    bool ran = run(f, text.data, buffers, 4, groups, on_device);
    for (uint32_t a = 0; ran && a < count; a++) {
        *wrong += judge_alone(f, type, &atomics[a], a, &buffers[2], &buffers[3],
                              on_device ? "device" : "interpreter");
    }
    vy_text_finish(&text);
    for (uint32_t i = 0; i < 4; i++) {
        free(buffers[i].data);
    }
    return ran ? count : 0;
}

static void test_atomics_give_the_old_and_leave_the_new_value(void **state)
{
    fixture *f = *state;
    uint32_t rows = 0, wrong = 0;
    for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
        for (int k = 0; k < (f->device ? 4 : 2); k++) {
            rows += run_alone(f, types[t], k % 2 == 1, k >= 2, &wrong);
        }
    }
    print_message("    %u atomics by type, order, memory and executor, %u elements wrong\n", rows,
                  wrong);
    assert_int_equal(wrong, 0);
    assert_true(rows >= 2 * 2 * 40);
}

/* ---- Out of bounds -----------------------------------------------------------------------------
 */

static void run_outside(fixture *f, conform_id type, bool on_device)
{
    static const char *const places[] = {"m[len(m) + i]", "m[-1 - i32(i)]", "m[4294967295u - i]"};
    const uint32_t groups[3] = {1, 1, 1};
    const char *keyword = conform_types[type].keyword;
    conform_atomic atomics[CONFORM_MAX_ATOMICS];
    uint32_t count = conform_atomics_of(type, atomics), at = 0;
    buffer buffers[] = {{VYRE_BUFFER_INOUT, type, 64, allocate(type, 64)},
                        {VYRE_BUFFER_OUT, type, 64 * 3 * count, allocate(type, 64 * 3 * count)}};
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text,
                   "program outside\nworkgroup 64\ninout m : %s[]\nout old : %s[%u]\n"
                   "kernel {\n    let i = gid.x\n    let v = %s(i + 5)\n",
                   keyword, keyword, 64 * 3 * count, keyword);
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t p = 0; p < 3; p++, at++) {
            vy_text_printf(&text, atomics[a].gives_value ? "    let r%u = " : "    ", at);
            conform_atomic_text(&atomics[a], places[p], "v", "v", &text);
            /* 0 and not 7, which is not there */
            vy_text_printf(&text, atomics[a].gives_value ? "\n    old[i + %u] = r%u\n" : "\n",
                           at * 64, at);
        }
    }
    vy_text_printf(&text, "}\n");
    for (uint32_t i = 0; i < 64; i++) {
        conform_store(type, buffers[0].data, i, i + 77);
    }
    if (run(f, text.data, buffers, 2, groups, on_device)) {
        for (uint32_t i = 0; i < 64; i++) {
            assert_int_equal(conform_load(type, buffers[0].data, i), i + 77);
        }
        for (uint32_t i = 0; i < 64 * 3 * count; i++) {
            assert_int_equal(conform_load(type, buffers[1].data, i), 0);
        }
    }
    vy_text_finish(&text);
    free(buffers[0].data);
    free(buffers[1].data);
}

static void test_atomics_out_of_bounds_do_nothing(void **state)
{
    fixture *f = *state;
    for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
        run_outside(f, types[t], false);
        if (f->device) {
            run_outside(f, types[t], true);
        }
    }
}

/* ---- Contended ---------------------------------------------------------------------------------
 */

/* All of 4096 invocations on one element of storage, or on one of shared memory by workgroup, whose
 * results are joined afterwards. */
static const char contended[] = "program contended\n"
                                "workgroup 64\n"
                                "in    v : %s[]\n"
                                "inout m : %s[]\n"
                                "out   old : %s[]\n"
                                "shared s : %s[16]\n"
                                "kernel {\n"
                                "    let i = gid.x\n"
                                "    let one = %s(1)\n"
                                "    if lid.x < 16 { s[lid.x] = m[32 + lid.x] }\n"
                                "    barrier\n"
                                "    atomic_add(m[0], v[i])\n"
                                "    atomic_sub(m[1], v[i])\n"
                                "    atomic_min(m[2], v[i])\n"
                                "    atomic_max(m[3], v[i], acq_rel)\n"
                                "    atomic_and(m[4], v[i] | one)\n"
                                "    atomic_or(m[5], v[i] & ~one)\n"
                                "    atomic_xor(m[6], v[i])\n"
                                "    let place = atomic_add(m[7], one)\n"
                                "    old[i] = place\n"
                                "    let was = atomic_exchange(m[8], %s(i + 1))\n"
                                "    old[4096 + i] = was\n"
                                "    let found = atomic_compare_exchange(m[9], %s(0), %s(i + 1))\n"
                                "    old[8192 + i] = found\n"
                                "    atomic_add(s[0], v[i])\n"
                                "    atomic_sub(s[1], v[i])\n"
                                "    atomic_min(s[2], v[i])\n"
                                "    atomic_max(s[3], v[i])\n"
                                "    atomic_and(s[4], v[i] | one)\n"
                                "    atomic_or(s[5], v[i] & ~one)\n"
                                "    atomic_xor(s[6], v[i])\n"
                                "    let in_group = atomic_add(s[7], one)\n"
                                "    old[12288 + i] = in_group\n"
                                "    barrier\n"
                                "    if lid.x == 0 {\n"
                                "        atomic_add(m[16], s[0])\n"
                                "        atomic_add(m[17], s[1])\n"
                                "        atomic_min(m[18], s[2])\n"
                                "        atomic_max(m[19], s[3])\n"
                                "        atomic_and(m[20], s[4])\n"
                                "        atomic_or(m[21], s[5])\n"
                                "        atomic_xor(m[22], s[6])\n"
                                "    }\n"
                                "}\n";

static const vyre_atomic joined[] = {VYRE_ATOMIC_ADD, VYRE_ATOMIC_SUB, VYRE_ATOMIC_MIN,
                                     VYRE_ATOMIC_MAX, VYRE_ATOMIC_AND, VYRE_ATOMIC_OR,
                                     VYRE_ATOMIC_XOR};

/* What each element of m begins with: what changes nothing, but for the exchanges. */
static uint64_t neutral(conform_id type, uint32_t at)
{
    uint64_t top = conform_sign_bit(type), all = conform_mask(type);
    bool is_signed = conform_types[type].kind == CONFORM_SIGNED;
    switch (at % 16) {
    case 2:
        return is_signed ? top - 1 : all;
    case 3:
        return is_signed ? top : 0;
    case 4:
        return all;
    default:
        return 0;
    }
}

/* Each of first .. first + count - 1 once. */
static void assert_all_once(conform_id type, const void *data, uint32_t from, uint32_t count)
{
    uint8_t *seen = calloc(count, 1);
    assert_non_null(seen);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = conform_load(type, data, from + i);
        assert_true(value < count && !seen[value]);
        seen[value] = 1;
    }
    free(seen);
}

static void judge_contended(conform_id type, const buffer *v, const buffer *m, const buffer *old)
{
    uint64_t mask = conform_mask(type), last = conform_load(type, m->data, 8), winner = 0;
    uint32_t found = 0;
    for (uint32_t a = 0; a < VY_COUNT_OF(joined); a++) {
        uint64_t now = neutral(type, a), also;
        for (uint32_t i = 0; i < 4096; i++) {
            uint64_t x = conform_load(type, v->data, i);
            x = a == 4 ? x | 1 : a == 5 ? x & mask & ~(uint64_t)1 : x;
            (void)conform_atomic_answer(joined[a], type, now, x, 0, &now, &also);
        }
        assert_int_equal(conform_load(type, m->data, a), now);
        assert_int_equal(conform_load(type, m->data, 16 + a), now);
    }
    assert_int_equal(conform_load(type, m->data, 7), 4096);
    assert_all_once(type, old->data, 0, 4096);
    /* 0 .. 4096, each once: one of them is the last and still there. */
    assert_true(last >= 1 && last <= 4096);
    uint64_t sum = last;
    for (uint32_t i = 0; i < 4096; i++) {
        sum += conform_load(type, old->data, 4096 + i);
        uint64_t seen = conform_load(type, old->data, 8192 + i);
        if (seen == 0) {
            found++;
            winner = i + 1;
        }
    }
    assert_int_equal(sum, 4096u * 4097u / 2);
    assert_int_equal(found, 1);
    assert_int_equal(conform_load(type, m->data, 9), winner);
    for (uint32_t group = 0; group < 64; group++) {
        assert_all_once(type, old->data, 12288 + group * 64, 64);
    }
}

static void run_contended(fixture *f, conform_id type, bool on_device)
{
    const uint32_t groups[3] = {64, 1, 1};
    const char *k = conform_types[type].keyword;
    char text[4096];
    buffer buffers[] = {{VYRE_BUFFER_IN, type, 4096, allocate(type, 4096)},
                        {VYRE_BUFFER_INOUT, type, 48, allocate(type, 48)},
                        {VYRE_BUFFER_OUT, type, 16384, allocate(type, 16384)}};
    snprintf(text, sizeof text, contended, k, k, k, k, k, k, k, k);
    for (uint32_t i = 0; i < 4096; i++) {
        uint64_t bits = conform_value(&f->values, type, CONFORM_X0, CONFORM_PAIRS * 2 + i);
        conform_store(type, buffers[0].data, i, bits);
    }
    for (uint32_t i = 0; i < 48; i++) {
        conform_store(type, buffers[1].data, i, neutral(type, i));
    }
    if (run(f, text, buffers, 3, groups, on_device)) {
        judge_contended(type, &buffers[0], &buffers[1], &buffers[2]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        free(buffers[i].data);
    }
}

static void test_contended_atomics_lose_nothing(void **state)
{
    fixture *f = *state;
    for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
        if (conform_is_integer(types[t])) {
            run_contended(f, types[t], false);
            if (f->device) {
                run_contended(f, types[t], true);
            }
        }
    }
}

/* ---- Built-in values ----------------------------------------------------------------------------
 */

#define WORDS 16u

static void test_builtins_number_every_invocation(void **state)
{
    fixture *f = *state;
    static const char text[] =
        "program builtins\nworkgroup 4, 3, 2\nfixpoint 2\nout o : u32[4608]\nkernel {\n"
        "    let g = wid.x + 3 * (wid.y + 2 * wid.z)\n"
        "    let at = 16 * (lid.x + 4 * (lid.y + 3 * lid.z) + 24 * g)\n"
        "    o[at] = gid.x\n    o[at + 1] = gid.y\n    o[at + 2] = gid.z\n"
        "    o[at + 3] = lid.x\n    o[at + 4] = lid.y\n    o[at + 5] = lid.z\n"
        "    o[at + 6] = wid.x\n    o[at + 7] = wid.y\n    o[at + 8] = wid.z\n"
        "    o[at + 9] = group_size.x\n    o[at + 10] = group_size.y\n"
        "    o[at + 11] = group_size.z\n    o[at + 12] = num_groups.x\n"
        "    o[at + 13] = num_groups.y\n    o[at + 14] = num_groups.z\n"
        "    o[at + 15] = o[at + 15] * 10 + pass + 1\n}\n";
    const uint32_t groups[3] = {3, 2, 2}, size[3] = {4, 3, 2};
    for (int on_device = 0; on_device <= (f->device != NULL); on_device++) {
        buffer o = {VYRE_BUFFER_OUT, CONFORM_U32, 4608, allocate(CONFORM_U32, 4608)};
        assert_true(run(f, text, &o, 1, groups, on_device));
        for (uint32_t i = 0; i < 288; i++) {
            uint32_t g = i / 24, l = i % 24;
            const uint32_t lid[3] = {l % 4, l / 4 % 3, l / 12}, wid[3] = {g % 3, g / 3 % 2, g / 6};
            for (uint32_t d = 0; d < 3; d++) {
                const uint32_t want[5] = {wid[d] * size[d] + lid[d], lid[d], wid[d], size[d],
                                          groups[d]};
                for (uint32_t k = 0; k < 5; k++) {
                    assert_int_equal(conform_load(CONFORM_U32, o.data, i * WORDS + 3 * k + d),
                                     want[k]);
                }
            }
            assert_int_equal(conform_load(CONFORM_U32, o.data, i * WORDS + 15), 12);
        }
        free(o.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atomics_give_the_old_and_leave_the_new_value),
        cmocka_unit_test(test_atomics_out_of_bounds_do_nothing),
        cmocka_unit_test(test_contended_atomics_lose_nothing),
        cmocka_unit_test(test_builtins_number_every_invocation),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}

/* Conformance of subgroup operations: every one over every type, in uniform and in divergent flow,
 * on the interpreter in several widths and on the device in its own, judged lane by lane. */
#include "codegen/base/base.h"
#include "tests/conform/oracle.h"
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

#define GROUP  128u
#define POINTS 512u

typedef enum kind { ELECT, VOTE, BALLOT, VALUE, LANE, REDUCE, INCLUSIVE, EXCLUSIVE } kind;

typedef struct row {
    const char *text;
    kind kind;
    vyre_op op;
    vyre_subgroup subgroup;
} row;

static const row rows[] = {
#define VYRE_X(name, text, kind, op) {text, kind, VYRE_OP_##op, VYRE_SUBGROUP_##name},
    VYRE_SUBGROUPS(VYRE_X)
#undef VYRE_X
};

typedef struct fixture {
    vyre_device *device;
    conform_values values;
} fixture;

/* One program: the rows that take a type, twice: for all lanes, and for those that `c` picks. */
typedef struct job {
    conform_id type;
    uint32_t width, count;
    const row *rows[VYRE_SUBGROUP_COUNT];
    uint64_t x[POINTS];
    uint32_t y[POINTS], c[POINTS];
    uint32_t ballots[2 * 4 * POINTS];
    void *x_memory, *results;
} job;

static bool takes(const row *r, conform_id type)
{
    bool is_bits = r->op == VYRE_OP_AND || r->op == VYRE_OP_OR || r->op == VYRE_OP_XOR;
    if (type == CONFORM_BOOL) {
        return r->kind < REDUCE && r->kind != BALLOT;
    }
    if (r->kind == ELECT || r->kind == VOTE || r->kind == BALLOT) {
        return false;
    }
    return !is_bits || conform_is_integer(type);
}

/* Floats in sums and products are such that every order of evaluation gives the same. */
static uint64_t value_at(const fixture *f, const row *r, conform_id type, uint32_t i)
{
    if (type == CONFORM_BOOL) {
        return conform_value(&f->values, type, CONFORM_X0, CONFORM_PAIRS * 2 + i) != 0;
    }
    if (conform_is_integer(type)) {
        return conform_value(&f->values, type, CONFORM_X0, CONFORM_PAIRS * 2 + i);
    }
    if (r->op == VYRE_OP_MUL) {
        return conform_from_double(type, i % 32 == 3 ? 2.0 : i % 32 == 19 ? 0.5 : i % 5 ? 1 : -1);
    }
    return conform_from_double(type, (double)(i * 7 % 17) - 8.5);
}

static void write_program(const job *j, vy_text *text)
{
    const char *keyword = conform_types[j->type].keyword;
    vy_text_init(text, NULL);
    vy_text_printf(text, "program subgroups\nworkgroup %u\nsubgroup %u\n", GROUP, j->width);
    vy_text_printf(text, "in x : %s[]\nin y : u32[]\nin c : bool[]\nout o : %s[]\n", keyword,
                   keyword);
    vy_text_printf(text,
                   "out b : u32x4[]\nkernel {\n    let i = gid.x\n    let n = y[i]\n"
                   "    let one = wid.x * 3 %% %u\n",
                   j->width + 1);
    for (uint32_t part = 0; part < 2; part++) {
        vy_text_printf(text, part ? "    if c[i] {\n" : "    {\n");
        for (uint32_t k = 0; k < j->count; k++) {
            const row *r = j->rows[k];
            const char *lane = r->kind != LANE                          ? ""
                               : r->subgroup == VYRE_SUBGROUP_BROADCAST ? ", one"
                                                                        : ", n";
            uint32_t at = (part * j->count + k) * POINTS;
            vy_text_printf(text, "        let r%u = %s(", k, r->text);
            if (r->kind != ELECT) {
                vy_text_printf(text, "x[i + %u]%s", k * POINTS, lane);
            }
            vy_text_printf(text, ")\n        o[i + %u] = r%u\n", at, k);
        }
        if (j->type == CONFORM_BOOL) {
            vy_text_printf(text,
                           "        let votes = subgroup_ballot(x[i])\n"
                           "        b[i + %u] = votes\n",
                           part * POINTS);
        }
        vy_text_printf(text, "    }\n");
    }
    vy_text_printf(text, "}\n");
}

static bool run(fixture *f, job *j, bool on_device)
{
    const uint32_t groups[3] = {POINTS / GROUP, 1, 1};
    uint32_t values = j->count * POINTS;
    const conform_buffer buffers[] = {{VYRE_BUFFER_IN, values, j->x_memory},
                                      {VYRE_BUFFER_IN, POINTS, j->y},
                                      {VYRE_BUFFER_IN, POINTS, j->c},
                                      {VYRE_BUFFER_OUT, 2 * values, j->results},
                                      {VYRE_BUFFER_OUT, 2 * POINTS, j->ballots}};
    vy_text text;
    write_program(j, &text);
    bool ran = conform_run(on_device ? f->device : NULL, text.data, buffers, 5, groups);
    vy_text_finish(&text);
    return ran;
}

/* ---- The oracle -------------------------------------------------------------------------------
 */

static uint64_t neutral(vyre_op op, conform_id type)
{
    uint64_t all = conform_mask(type), top = conform_sign_bit(type);
    bool is_signed = conform_types[type].kind == CONFORM_SIGNED;
    switch ((int)op) {
    case VYRE_OP_MUL:
        return conform_is_float(type) ? conform_from_double(type, 1.0) : 1;
    case VYRE_OP_MIN:
        return conform_is_float(type) ? conform_infinity(type) : is_signed ? top - 1 : all;
    case VYRE_OP_MAX:
        return conform_is_float(type) ? conform_infinity(type) | top : is_signed ? top : 0;
    case VYRE_OP_AND:
        return all;
    default:
        return 0;
    }
}

/* Lane of the same subgroup that is read, or UINT64_MAX. */
static uint64_t source_of(const job *j, const row *r, uint32_t i)
{
    uint64_t lane = i % GROUP % j->width, y = j->y[i], source = y;
    switch ((int)r->subgroup) {
    case VYRE_SUBGROUP_BROADCAST:
        source = i / GROUP * 3 % (j->width + 1);
        break;
    case VYRE_SUBGROUP_SHUFFLE_XOR:
        source = lane ^ y;
        break;
    case VYRE_SUBGROUP_SHUFFLE_UP:
        source = y > lane ? UINT64_MAX : lane - y;
        break;
    case VYRE_SUBGROUP_SHUFFLE_DOWN:
        source = lane + y;
        break;
    default:
        break;
    }
    return source < j->width ? source : UINT64_MAX;
}

/* What invocation i gets, where `active` says which take part. */
static uint64_t expect(const job *j, const row *r, const uint64_t *x, const bool *active,
                       uint32_t i)
{
    static const conform_mode plain;
    uint32_t first = i - i % GROUP % j->width, set = 0, taking = 0, leader = UINT32_MAX;
    uint64_t sum = neutral(r->op, j->type), source = source_of(j, r, i);
    for (uint32_t l = first; l < first + j->width; l++) {
        if (!active[l]) {
            continue;
        }
        leader = leader == UINT32_MAX ? l : leader;
        taking++;
        set += x[l] != 0;
        bool counts = r->kind == REDUCE || l < i || (l == i && r->kind == INCLUSIVE);
        if (counts && r->kind >= REDUCE) {
            uint64_t operands[4] = {sum, x[l], 0, 0};
            sum = conform_evaluate(r->op, j->type, j->type, operands, &plain).bits;
        }
    }
    switch (r->kind) {
    case ELECT:
        return i == leader;
    case VOTE:
        return r->op == VYRE_OP_LOGICAL_OR ? set > 0 : set == taking;
    case VALUE:
        return x[leader];
    case LANE:
        return source != UINT64_MAX && active[first + source] ? x[first + source] : 0;
    default:
        return sum;
    }
}

static uint32_t judge(const job *j, const char *who)
{
    uint32_t wrong = 0;
    for (uint32_t part = 0; part < 2; part++) {
        bool active[POINTS];
        for (uint32_t i = 0; i < POINTS; i++) {
            active[i] = part == 0 || j->c[i];
        }
        for (uint32_t k = 0; k < j->count; k++) {
            uint64_t x[POINTS];
            for (uint32_t i = 0; i < POINTS; i++) {
                x[i] = conform_load(j->type, j->x_memory, k * POINTS + i);
            }
            for (uint32_t i = 0; i < POINTS; i++) {
                uint64_t want = active[i] ? expect(j, j->rows[k], x, active, i) : 0;
                uint64_t got =
                    conform_load(j->type, j->results, (part * j->count + k) * POINTS + i);
                if (want != got && wrong++ < 8) {
                    print_message("%s, %s, width %u, %s%s, invocation %u: 0x%" PRIx64
                                  ", not 0x%" PRIx64 "\n",
                                  who, conform_types[j->type].keyword, j->width, j->rows[k]->text,
                                  part ? " of some" : "", i, got, want);
                }
            }
        }
    }
    return wrong;
}

/* The bit of every lane that votes yes; the ballot's votes are the first row's. */
static uint32_t judge_ballots(const job *j, const char *who)
{
    uint32_t wrong = 0;
    for (uint32_t part = 0; part < 2; part++) {
        for (uint32_t i = 0; i < POINTS; i++) {
            uint32_t first = i - i % GROUP % j->width, want[4] = {0, 0, 0, 0};
            for (uint32_t l = 0; l < j->width && (part == 0 || j->c[i]); l++) {
                bool votes = conform_load(j->type, j->x_memory, first + l) != 0 &&
                             (part == 0 || j->c[first + l]);
                want[l / 32] |= (uint32_t)votes << l % 32;
            }
            if (memcmp(want, &j->ballots[4 * (part * POINTS + i)], sizeof want) != 0 &&
                wrong++ < 4) {
                print_message("%s, width %u: ballot of invocation %u\n", who, j->width, i);
            }
        }
    }
    return wrong;
}

/* Adds to the rows that ran and to the elements that were wrong. */
static void run_type(fixture *f, conform_id type, uint32_t width, bool on_device, uint32_t *ran,
                     uint32_t *wrong)
{
    const char *who = on_device ? "device" : "interpreter";
    job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->type = type;
    j->width = width;
    for (size_t k = 0; k < VY_COUNT_OF(rows); k++) {
        if (takes(&rows[k], type)) {
            j->rows[j->count++] = &rows[k];
        }
    }
    j->x_memory = calloc((size_t)j->count * POINTS, 8);
    j->results = calloc((size_t)2 * j->count * POINTS, 8);
    assert_true(j->x_memory && j->results);
    for (uint32_t i = 0; i < POINTS; i++) {
        static const uint32_t far[] = {128, 0x80000000u, 0xffffffffu, 64};
        j->y[i] = i % 11 == 0 ? far[i / 11 % 4] : i * 5 % (width + 2);
        j->c[i] = i / width % 5 == 2 ? 0 : (i * 7 + i / 3) % 4 != 0;
        for (uint32_t k = 0; k < j->count; k++) {
            conform_store(type, j->x_memory, k * POINTS + i, value_at(f, j->rows[k], type, i));
        }
    }
    if (run(f, j, on_device)) {
        *ran += 2 * j->count;
        *wrong += judge(j, who);
        if (type == CONFORM_BOOL) {
            *wrong += judge_ballots(j, who);
        }
    }
    free(j->x_memory);
    free(j->results);
    free(j);
}

static int open_device(void **state)
{
    static fixture shared;
    void *device = NULL;
    int result = conform_open_device(&device);
    conform_values_init(&shared.values, 9);
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

static void test_interpreter_in_several_widths(void **state)
{
    fixture *f = *state;
    static const uint32_t widths[] = {1, 2, 8, 32, 64, 128};
    uint32_t ran = 0, wrong = 0;
    for (size_t w = 0; w < VY_COUNT_OF(widths); w++) {
        for (int type = 0; type < CONFORM_TYPE_COUNT; type++) {
            if (type != CONFORM_BF16) {
                run_type(f, (conform_id)type, widths[w], false, &ran, &wrong);
            }
        }
    }
    print_message("    %u operations by type, width and flow, %u elements wrong\n", ran, wrong);
    assert_int_equal(wrong, 0);
    assert_true(ran > 2000);
}

static void test_device_in_its_own_width(void **state)
{
    fixture *f = *state;
    uint32_t ran = 0, wrong = 0;
    vyre_device_info info;
    if (!f->device) {
        print_message("no device wanted\n");
        return;
    }
    vyre_device_get_info(f->device, &info);
    for (int type = 0; type < CONFORM_TYPE_COUNT; type++) {
        if (type != CONFORM_BF16) {
            run_type(f, (conform_id)type, info.subgroup_size, true, &ran, &wrong);
        }
    }
    print_message("    %u operations by type and flow, width %u, %u elements wrong\n", ran,
                  info.subgroup_size, wrong);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interpreter_in_several_widths),
        cmocka_unit_test(test_device_in_its_own_width),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}

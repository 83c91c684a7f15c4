/* The SSA forms of generated programs, as built and after each pass, compute what the interpreter
 * computes: control flow, calls, loops and their budgets, spills, records, NaN bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "codegen/passes/ssa.h"
#include "tests/kernel/shapes.h"
#include "tests/kernel/ssa_run.h"
#include "tests/support/generate.h"
#include "tests/support/neighbours.h"
#include "tests/support/trips.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BINDINGS 24u

/* Inputs and outputs of one run: declared counts come from the interpreter's own evaluation. */
typedef struct bound {
    vyre_host_buffer buffers[MAX_BINDINGS];
    uint32_t count;
} bound;

static void bind_all(bound *b, vyre_kernel *kernel, const vy_generated *info,
                     const uint32_t *params)
{
    const uint32_t no_lengths[MAX_BINDINGS] = {0};
    vy_kernel_env env = {.params = params, .lengths = no_lengths, .groups = {1, 1, 1}};
    vy_kernel_workgroup(kernel, env.workgroup);
    memset(b, 0, sizeof *b);
    b->count = vyre_kernel_binding_count(kernel);
    assert_true(b->count <= MAX_BINDINGS);
    for (uint32_t i = 0; i < b->count; i++) {
        vyre_binding_info binding;
        vyre_kernel_binding(kernel, i, &binding);
        uint32_t row = vy_generate_find_type(vyre_type_keyword(binding.type));
        uint32_t size = vyre_type_size(binding.type);
        uint32_t count =
            binding.has_count ? vy_kernel_eval_count(kernel, i, &env) : info->lengths[row];
        bool is_input = binding.mode == VYRE_BUFFER_IN || binding.mode == VYRE_BUFFER_UNIFORM ||
                        binding.mode == VYRE_BUFFER_INOUT;
        b->buffers[i].count = UINT32_MAX;
        if (!is_input && binding.mode != VYRE_BUFFER_OUT) {
            continue;
        }
        uint8_t *bytes = calloc(count + 1u, 16);
        assert_non_null(bytes);
        for (uint32_t e = 0; is_input && e < count; e++) {
            vy_generate_input(info, row, e, bytes + (size_t)e * size);
        }
        b->buffers[i] = (vyre_host_buffer){bytes, count};
    }
}

/* The words of the parameters; their number. */
static uint32_t take_params(const vyre_kernel *kernel, const vy_generated *info, uint32_t *words)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < vyre_kernel_param_count(kernel); p++) {
        vyre_type type = vyre_kernel_param_type(kernel, p);
        const uint64_t *bits = info->params[vy_generate_find_type(vyre_type_keyword(type))];
        for (uint32_t w = 0; w < (vyre_type_size(type) + 3) / 4; w++) {
            words[count++] = (uint32_t)(bits[w / 2] >> 32 * (w % 2));
        }
    }
    return count;
}

static void release(bound *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        free(b->buffers[i].data);
    }
}

static bool same_outputs(const bound *a, const bound *b, vyre_kernel *kernel, char *out,
                         size_t size)
{
    for (uint32_t i = 0; i < a->count; i++) {
        vyre_binding_info binding;
        vyre_kernel_binding(kernel, i, &binding);
        bool is_output = binding.mode == VYRE_BUFFER_OUT || binding.mode == VYRE_BUFFER_INOUT;
        uint32_t width = vyre_type_size(binding.type);
        for (uint32_t e = 0; is_output && e < a->buffers[i].count; e++) {
            const uint8_t *x = (const uint8_t *)a->buffers[i].data + (size_t)e * width;
            const uint8_t *y = (const uint8_t *)b->buffers[i].data + (size_t)e * width;
            if (memcmp(x, y, width) != 0) {
                uint32_t low_x = 0, low_y = 0;
                memcpy(&low_x, x, width < 4 ? width : 4);
                memcpy(&low_y, y, width < 4 ? width : 4);
                snprintf(out, size, "%s[%u]: interpreter 0x%08x, form 0x%08x", binding.name, e,
                         low_x, low_y);
                return false;
            }
        }
    }
    return true;
}

static bool same_records(const vyre_fault_record *a, const vyre_fault_record *b, char *out,
                         size_t size)
{
    bool same = a->kind == b->kind && a->code == b->code && a->line == b->line &&
                a->column == b->column && a->pass == b->pass && a->segment == b->segment &&
                a->invocation == b->invocation;
    if (!same) {
        snprintf(out, size,
                 "record: kind %d line %u pass %u segment %u invocation %u, form: kind "
                 "%d line %u pass %u segment %u invocation %u",
                 (int)a->kind, a->line, a->pass, a->segment, a->invocation, (int)b->kind, b->line,
                 b->pass, b->segment, b->invocation);
    }
    return same;
}

/* The forms are run over words alone. */
static bool has_words_only(const vyre_kernel *kernel, const char *text)
{
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        if (vyre_type_size(info.type) != 4) {
            return false;
        }
    }
    return !strstr(text, "x2(") && !strstr(text, "x4(");
}

static void check_seed(uint64_t seed)
{
    vy_text text;
    vy_generated info;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    char message[500] = "";
    vy_text_init(&text, NULL);
    vy_generate(seed, &text, &info);
    if (vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
        fail_msg("seed %llu: line %u: %s", (unsigned long long)seed, diag.line, diag.message);
    }
    /* The forms are run for whole workgroups, an invocation at a time. */
    bool is_limited = !has_words_only(kernel, text.data) || info.grid == VY_GRID_ELEMENTS ||
                      info.grid == VY_GRID_FROM || vy_kernel_get_subgroups(kernel).is_used ||
                      (info.grid == VY_GRID_OVER && !vy_kernel_workgroup_use(kernel));
    uint32_t params_of[4 * VY_GEN_TYPES];
    uint32_t param_count = take_params(kernel, &info, params_of);
    int flush = (int)(seed & 1);
    bound wanted, got;
    if (is_limited) {
        vyre_kernel_destroy(&kernel);
        vyre_program_destroy(&program);
        vy_text_finish(&text);
        return;
    }
    bind_all(&wanted, kernel, &info, params_of);
    vyre_interp_params interp = {.buffers = wanted.buffers,
                                 .buffer_count = wanted.count,
                                 .params = params_of,
                                 .param_count = param_count,
                                 .flush_denormals = flush};
    if (info.grid == VY_GRID_GROUPS) {
        memcpy(interp.groups, info.groups, sizeof interp.groups);
    }
    vyre_interp_report report;
    if (vyre_interp_run(program, &interp, &report, &diag) != VYRE_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, diag.message);
    }
    /* As built NaNs may have the device's bits, and so may everything before canonical-nan. */
    uint32_t pass_count = 0;
    (void)vy_passes_get(&pass_count);
    for (uint32_t passes = pass_count - 1; passes <= pass_count; passes++) {
        bind_all(&got, kernel, &info, params_of);
        ssa_run_params params = {.buffers = got.buffers,
                                 .params = params_of,
                                 .groups = {info.groups[0], info.groups[1], info.groups[2]},
                                 .pass_count = passes,
                                 .flush_denormals = flush};
        ssa_run_report form;
        bool right = ssa_run(program, &params, &form, message, sizeof message) &&
                     same_outputs(&wanted, &got, kernel, message, sizeof message) &&
                     same_records(&report.record, &form.record, message, sizeof message);
        if (right && (form.passes != report.passes || form.segments != report.segments)) {
            snprintf(message, sizeof message, "passes %u and %u, segments %u and %u", report.passes,
                     form.passes, report.segments, form.segments);
            right = false;
        }
        if (!right) {
            fail_msg("seed %llu, %u passes: %s", (unsigned long long)seed, passes, message);
        }
        release(&got);
    }
    release(&wanted);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define X_COUNT 12u
#define Y_COUNT 16u
#define N_COUNT 4u

typedef struct shape_memory {
    uint32_t x[X_COUNT], y[Y_COUNT], n[N_COUNT];
    vyre_host_buffer buffers[3];
} shape_memory;

static void fill_shape(shape_memory *m, uint32_t round)
{
    uint32_t state = round * 2654435761u + 12345;
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < X_COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        m->x[i] = (state >> 24) % 10;
    }
    m->n[0] = (round % 5) - 2u;
    m->n[1] = 7;
    m->buffers[0] = (vyre_host_buffer){m->x, X_COUNT};
    m->buffers[1] = (vyre_host_buffer){m->y, Y_COUNT};
    m->buffers[2] = (vyre_host_buffer){m->n, N_COUNT};
}

static void check_shape(const vyre_program *program, const char *text, uint32_t round)
{
    shape_memory wanted, got;
    vyre_interp_report report;
    ssa_run_report form;
    vyre_diag diag;
    char message[400] = "";
    uint32_t k = round % 11;
    fill_shape(&wanted, round);
    vyre_interp_params interp = {.buffers = wanted.buffers,
                                 .buffer_count = 3,
                                 .params = &k,
                                 .param_count = 1,
                                 .groups = {1, 1, 1}};
    if (vyre_interp_run(program, &interp, &report, &diag) != VYRE_OK) {
        fail_msg("%s: %s", text, diag.message);
    }
    uint32_t pass_count = 0;
    (void)vy_passes_get(&pass_count);
    for (uint32_t passes = 0; passes <= pass_count; passes++) {
        fill_shape(&got, round);
        ssa_run_params params = {
            .buffers = got.buffers, .params = &k, .groups = {1, 1, 1}, .pass_count = passes};
        if (!ssa_run(program, &params, &form, message, sizeof message) ||
            !same_records(&report.record, &form.record, message, sizeof message)) {
            fail_msg("%s\nround %u, %u passes: %s", text, (unsigned)round, (unsigned)passes,
                     message);
        }
        if (memcmp(wanted.y, got.y, sizeof got.y) != 0 ||
            memcmp(wanted.n, got.n, sizeof got.n) != 0) {
            fail_msg("%s\nround %u, %u passes: other results", text, (unsigned)round,
                     (unsigned)passes);
        }
    }
}

static void test_ssa_equals_interpreter_for_every_shape(void **state)
{
    (void)state;
    char text[SHAPE_SIZE];
    for (uint32_t i = 0; shape_text(i, 1, text); i++) {
        vyre_program *program = NULL;
        vyre_diag diag;
        if (vyre_program_parse(text, strlen(text), NULL, NULL, &program, &diag) != VYRE_OK) {
            fail_msg("%s: %u:%u: %s", text, diag.line, diag.column, diag.message);
        }
        for (uint32_t round = 0; round < 44; round++) {
            check_shape(program, text, round);
        }
        vyre_program_destroy(&program);
    }
}

/* VYRE_SEEDS=FIRST:COUNT runs others. */
static void test_ssa_equals_interpreter_for_generated_programs(void **state)
{
    (void)state;
    uint64_t first = 1, count = 300;
    const char *wanted = getenv("VYRE_SEEDS");
    if (wanted) {
        char *end = NULL;
        first = strtoull(wanted, &end, 10);
        count = *end == ':' ? strtoull(end + 1, NULL, 10) : 1;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        check_seed(seed);
    }
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

enum { NEIGHBOURS = 83, NEIGHBOUR_SEEDS = 2000 };

typedef struct neighbour_memory {
    uint32_t words[3][NEIGHBOURS], k[8];
    vyre_host_buffer buffers[4];
} neighbour_memory;

static void fill_neighbours(neighbour_memory *m, const vyre_kernel *kernel, uint64_t seed)
{
    uint32_t state = (uint32_t)seed * 2654435761u + 99;
    memset(m, 0, sizeof *m);
    for (uint32_t b = 0; b < 3; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, b, &info);
        for (uint32_t i = 0; i < NEIGHBOURS; i++) {
            state = state * 1664525u + 1013904223u;
            float number = (float)(state >> 20);
            m->words[b][i] = info.type == VYRE_TYPE_BOOL ? state >> 31 : state >> 24;
            if (info.type == VYRE_TYPE_F32) {
                memcpy(&m->words[b][i], &number, sizeof number);
            }
        }
        /* Sometimes not a multiple of what an invocation has. */
        m->buffers[b] = (vyre_host_buffer){m->words[b], NEIGHBOURS - (uint32_t)seed % 4 * b};
    }
    m->buffers[3] = (vyre_host_buffer){m->k, 8};
}

/* The wide accesses that the form did. */
static uint64_t check_neighbours(uint64_t seed)
{
    static const char *const types[] = {"u32", "u32", "i32", "f32", "bool"};
    vy_text text;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vyre_interp_report report;
    ssa_run_report form;
    neighbour_memory wanted, got;
    char message[400] = "";
    uint32_t pass_count = 0;
    (void)vy_passes_get(&pass_count);
    vy_text_init(&text, NULL);
    vy_neighbours_write(&text, seed, types, VY_COUNT_OF(types));
    if (vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
        fail_msg("seed %llu: line %u: %s\n%s", (unsigned long long)seed, diag.line, diag.message,
                 text.data);
    }
    fill_neighbours(&wanted, kernel, seed);
    fill_neighbours(&got, kernel, seed);
    vyre_interp_params interp = {.buffers = wanted.buffers, .buffer_count = 4};
    if (vyre_interp_run(program, &interp, &report, &diag) != VYRE_OK) {
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, diag.message, text.data);
    }
    ssa_run_params params = {.buffers = got.buffers,
                             .groups = {(got.buffers[1].count + 7) / 8, 1, 1},
                             .pass_count = pass_count,
                             .is_widened = true};
    if (!ssa_run(program, &params, &form, message, sizeof message) ||
        memcmp(wanted.words, got.words, sizeof got.words) != 0 ||
        memcmp(wanted.k, got.k, sizeof got.k) != 0) {
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed,
                 *message ? message : "other results", text.data);
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
    return form.wide;
}

/* Neighbours that are accessed as one: as one by one, whatever lies between. */
static void test_widened_forms_equal_interpreter(void **state)
{
    (void)state;
    uint32_t widened = 0;
    for (uint64_t seed = 1; seed <= NEIGHBOUR_SEEDS; seed++) {
        widened += check_neighbours(seed) != 0;
    }
    print_message("    %u of %u programs had wide accesses\n", (unsigned)widened,
                  (unsigned)NEIGHBOUR_SEEDS);
    assert_true(widened > NEIGHBOUR_SEEDS / 2);
}

/* ---- Trips ----------------------------------------------------------------------------------- */

enum { TRIP_X = 61, TRIP_Y = 29, TRIP_SEEDS = 3000 };

typedef struct trip_memory {
    uint32_t x[TRIP_X], y[TRIP_Y], z[TRIP_Y], k[8];
    vyre_host_buffer buffers[4];
} trip_memory;

static void fill_trips(trip_memory *m, uint64_t seed, bool overlaps)
{
    uint32_t state = (uint32_t)seed * 2654435761u + 17;
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < TRIP_X; i++) {
        state = state * 1664525u + 1013904223u;
        m->x[i] = (state >> 20) % 47;
    }
    m->buffers[0] = (vyre_host_buffer){m->x, TRIP_X};
    m->buffers[1] = (vyre_host_buffer){m->y, TRIP_Y};
    m->buffers[2] = (vyre_host_buffer){overlaps ? m->y : m->z, TRIP_Y};
    m->buffers[3] = (vyre_host_buffer){m->k, 8};
}

static void run_form(const vyre_program *program, const char *text, uint64_t seed, bool overlaps,
                     uint32_t passes, trip_memory *memory, uint32_t *out_loops)
{
    ssa_run_report report;
    char message[400] = "";
    uint32_t p = (uint32_t)(seed % 50);
    fill_trips(memory, seed, overlaps);
    ssa_run_params params = {.buffers = memory->buffers,
                             .params = &p,
                             .groups = {1, 1, 1},
                             .pass_count = passes,
                             .overlaps = overlaps};
    if (!ssa_run(program, &params, &report, message, sizeof message)) {
        fail_msg("seed %llu, %u passes: %s\n%s", (unsigned long long)seed, (unsigned)passes,
                 message, text);
    }
    *out_loops = report.loops;
}

static void run_interpreter(const vyre_program *program, const char *text, uint64_t seed,
                            trip_memory *memory)
{
    vyre_interp_report report;
    vyre_diag diag;
    uint32_t p = (uint32_t)(seed % 50);
    fill_trips(memory, seed, false);
    vyre_interp_params interp = {.buffers = memory->buffers,
                                 .buffer_count = 4,
                                 .params = &p,
                                 .param_count = 1,
                                 .groups = {1, 1, 1}};
    if (vyre_interp_run(program, &interp, &report, &diag) != VYRE_OK) {
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, diag.message, text);
    }
}

/* The form behind all passes, and behind the one of number `pass`, against the interpreter; where
 * written buffers overlap, which it does not know, against the form before that pass. Returns
 * whether the pass made loops. */
static bool check_trips(const vyre_program *program, const char *text, uint64_t seed, uint32_t pass)
{
    trip_memory wanted, got;
    bool overlaps = seed % 3 == 0;
    uint32_t before = 0, after = 0, all = 0;
    (void)vy_passes_get(&all);
    run_form(program, text, seed, overlaps, pass, &wanted, &before);
    if (!overlaps) {
        run_interpreter(program, text, seed, &wanted);
    }
    for (uint32_t passes = pass + 1; passes <= all; passes += all - pass - 1) {
        run_form(program, text, seed, overlaps, passes, &got, &after);
        if (memcmp(wanted.y, got.y, sizeof got.y) != 0 ||
            memcmp(wanted.z, got.z, sizeof got.z) != 0 ||
            memcmp(wanted.k, got.k, sizeof got.k) != 0) {
            fail_msg("seed %llu, %u passes%s: other results\n%s", (unsigned long long)seed,
                     (unsigned)passes, overlaps ? ", overlapping" : "", text);
        }
    }
    return after > before;
}

static uint32_t find_pass(const char *name)
{
    uint32_t count = 0, at = 0;
    const vy_pass *passes = vy_passes_get(&count);
    while (at < count && strcmp(passes[at].name, name) != 0) {
        at++;
    }
    assert_true(at < count);
    return at;
}

/* Four trips at a time: as one after the other, whatever they do. */
static void test_interleaved_forms_equal_interpreter(void **state)
{
    (void)state;
    uint32_t interleaved = 0, pass = find_pass("interleave");
    for (uint64_t seed = 1; seed <= TRIP_SEEDS; seed++) {
        vy_text text;
        vyre_program *program = NULL;
        vyre_diag diag;
        vy_text_init(&text, NULL);
        vy_trips_write(&text, seed);
        if (vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag) != VYRE_OK) {
            fail_msg("seed %llu: line %u: %s\n%s", (unsigned long long)seed, diag.line,
                     diag.message, text.data);
        }
        interleaved += check_trips(program, text.data, seed, pass);
        vyre_program_destroy(&program);
        vy_text_finish(&text);
    }
    print_message("    %u of %u programs had trips at once\n", (unsigned)interleaved,
                  (unsigned)TRIP_SEEDS);
    assert_true(interleaved > TRIP_SEEDS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ssa_equals_interpreter_for_every_shape),
        cmocka_unit_test(test_ssa_equals_interpreter_for_generated_programs),
        cmocka_unit_test(test_widened_forms_equal_interpreter),
        cmocka_unit_test(test_interleaved_forms_equal_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

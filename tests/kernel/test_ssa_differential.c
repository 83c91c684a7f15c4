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

static const char *const inputs[] = {"ints", "floats", "flags", "words"};

static void bind_all(bound *b, vyre_kernel *kernel, uint64_t seed, const vy_generated *info)
{
    const uint32_t no_lengths[MAX_BINDINGS] = {0};
    vy_kernel_env env = {.params = info->params,
                         .lengths = no_lengths,
                         .groups = {info->groups, 1, 1},
                         .workgroup = {64, 1, 1}};
    memset(b, 0, sizeof *b);
    b->count = vyre_kernel_binding_count(kernel);
    assert_true(b->count <= MAX_BINDINGS);
    for (uint32_t i = 0; i < b->count; i++) {
        vyre_binding_info binding;
        vyre_kernel_binding(kernel, i, &binding);
        b->buffers[i].count = UINT32_MAX;
        for (uint32_t k = 0; k < 4; k++) {
            if (strcmp(binding.name, inputs[k]) == 0) {
                uint32_t *words = calloc(info->seed_lengths[k] + 1u, 4);
                for (uint32_t e = 0; e < info->seed_lengths[k]; e++) {
                    words[e] = vy_generate_input(seed, k, e);
                }
                b->buffers[i] = (vyre_host_buffer){words, info->seed_lengths[k]};
            }
        }
        if (binding.mode == VYRE_BUFFER_OUT) {
            uint32_t count = vy_kernel_eval_count(kernel, i, &env);
            b->buffers[i] = (vyre_host_buffer){calloc(count + 1u, 4), count};
        }
    }
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
        for (uint32_t e = 0; binding.mode == VYRE_BUFFER_OUT && e < a->buffers[i].count; e++) {
            uint32_t x = ((uint32_t *)a->buffers[i].data)[e];
            uint32_t y = ((uint32_t *)b->buffers[i].data)[e];
            if (x != y) {
                snprintf(out, size, "%s[%u]: interpreter 0x%08x, form 0x%08x", binding.name, e, x,
                         y);
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
    int flush = (int)(seed & 1);
    bound wanted, got;
    bind_all(&wanted, kernel, seed, &info);
    vyre_interp_params interp = {.buffers = wanted.buffers,
                                 .buffer_count = wanted.count,
                                 .params = info.params,
                                 .param_count = 3,
                                 .groups = {info.groups, 1, 1},
                                 .flush_denormals = flush};
    vyre_interp_report report;
    if (vyre_interp_run(program, &interp, &report, &diag) != VYRE_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, diag.message);
    }
    /* As built NaNs may have the device's bits, and so may everything before canonical-nan. */
    uint32_t pass_count = 0;
    (void)vy_passes_get(&pass_count);
    for (uint32_t passes = pass_count - 1; passes <= pass_count; passes++) {
        bind_all(&got, kernel, seed, &info);
        ssa_run_params params = {.buffers = got.buffers,
                                 .params = info.params,
                                 .groups = {info.groups, 1, 1},
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
    uint64_t first = 1, count = 150;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ssa_equals_interpreter_for_every_shape),
        cmocka_unit_test(test_ssa_equals_interpreter_for_generated_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

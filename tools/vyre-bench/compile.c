/* Group compile: from text to SPIR-V words by the size of the program, with and without the passes
 * that are there for speed alone, and by glslang from the same program in GLSL, with and without
 * SPIRV-Tools' optimiser behind it. Host alone. What comes out is judged by SPIRV-Tools where the
 * tools have it. */
#include "tools/vyre-bench/bench.h"
#include "tools/vyre-bench/compile_text.h"
#include "tools/vyre-bench/peers/glsl.h"

#include "codegen/kernel.h"

#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GLSLANG_OPERATIONS = 10000, /* more take it seconds */
    GLSLANG_SEGMENTS = 100,
    VALIDATED_WORDS = 1 << 20 /* more take SPIRV-Tools minutes */
};

typedef struct compile_case {
    const char *name;
    compile_kind kind;
    const uint32_t *sizes;
    uint32_t size_count, quick_count;
} compile_case;

static const uint32_t operation_sizes[] = {25, 100, 1000, 10000, 100000, 1000000};
static const uint32_t segment_sizes[] = {10, 100, 1000};

static const compile_case cases[] = {
    {"straight", COMPILE_STRAIGHT, operation_sizes, VY_COUNT_OF(operation_sizes), 2},
    {"ifs and loops", COMPILE_MIXED, operation_sizes, VY_COUNT_OF(operation_sizes), 2},
    {"functions", COMPILE_FUNCTIONS, operation_sizes, VY_COUNT_OF(operation_sizes), 2},
    {"segments", COMPILE_SEGMENTS, segment_sizes, VY_COUNT_OF(segment_sizes), 1},
};

typedef struct source {
    vy_text text, glsl;
    uint32_t shaders;
    vyre_program *program; /* of the text, for the second phase alone */
    size_t now, peak;      /* bytes, of one compile with `counted` */
} source;

/* ---- The library ----------------------------------------------------------------------------- */

/* `program` given: it is compiled; out_kernel NULL: the text is only read. */
static vyre_result make(const source *s, const vyre_program *given, const vyre_allocator *memory,
                        vyre_optimization how, vyre_kernel **out_kernel, vyre_diag *diag)
{
    vyre_program *program = NULL;
    vyre_kernel_params params = {.struct_size = sizeof params, .allocator = memory};
    vyre_result result = VYRE_OK;
    if (!given) {
        result = vyre_program_parse(s->text.data, s->text.size, "bench", memory, &program, diag);
    }
    if (result == VYRE_OK && out_kernel) {
        params.optimization = how;
        result = vyre_kernel_compile(given ? given : program, &params, out_kernel, diag);
    }
    vyre_program_destroy(&program);
    return result;
}

static vyre_result sample_way(const source *s, const vyre_program *given, vyre_optimization how,
                              bool compiles, double *out, uint32_t count, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; i < count && result == VYRE_OK; i++) {
        vyre_kernel *kernel = NULL;
        uint64_t start = bench_now_ns();
        result = make(s, given, NULL, how, compiles ? &kernel : NULL, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        vyre_kernel_destroy(&kernel);
    }
    return result;
}

static vyre_result sample_whole(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    return sample_way(state, NULL, VYRE_OPTIMIZATION_FULL, true, out, count, diag);
}

static vyre_result sample_plain(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    return sample_way(state, NULL, VYRE_OPTIMIZATION_NONE, true, out, count, diag);
}

static vyre_result sample_parse(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    return sample_way(state, NULL, VYRE_OPTIMIZATION_FULL, false, out, count, diag);
}

static vyre_result sample_kernel(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    return sample_way(state, ((source *)state)->program, VYRE_OPTIMIZATION_FULL, true, out, count,
                      diag);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static void judge_words(const uint32_t *words, size_t count, bench_check *out)
{
    bool is_checked;
    bool is_whole = count > 5 && words[0] == 0x07230203u;
    bool is_right =
        count > VALIDATED_WORDS ? is_whole : peer_spirv_is_valid(words, count, &is_checked);
    out->compared++;
    out->wrong += is_right ? 0 : 1;
}

static vyre_result check_kernel(const vyre_kernel *kernel, bench_check *out)
{
    *out = (bench_check){0, 0};
    for (uint32_t i = 0; i < vyre_kernel_segment_count(kernel); i++) {
        vyre_segment_info info;
        vyre_kernel_segment(kernel, i, &info);
        judge_words(info.words, info.word_count, out);
    }
    return VYRE_OK;
}

static vyre_result check_way(const source *s, const vyre_program *given, vyre_optimization how,
                             bench_check *out, vyre_diag *diag)
{
    vyre_kernel *kernel = NULL;
    vyre_result result = make(s, given, NULL, how, &kernel, diag);
    if (result == VYRE_OK) {
        result = check_kernel(kernel, out);
    }
    vyre_kernel_destroy(&kernel);
    return result;
}

static vyre_result check_whole(void *state, bench_check *out, vyre_diag *diag)
{
    return check_way(state, NULL, VYRE_OPTIMIZATION_FULL, out, diag);
}

static vyre_result check_plain(void *state, bench_check *out, vyre_diag *diag)
{
    return check_way(state, NULL, VYRE_OPTIMIZATION_NONE, out, diag);
}

static vyre_result check_compiled(void *state, bench_check *out, vyre_diag *diag)
{
    return check_way(state, ((source *)state)->program, VYRE_OPTIMIZATION_FULL, out, diag);
}

/* The same text gives the same program. */
static vyre_result check_parse(void *state, bench_check *out, vyre_diag *diag)
{
    const source *s = state;
    vyre_program *program = NULL;
    vyre_result result =
        vyre_program_parse(s->text.data, s->text.size, "bench", NULL, &program, diag);
    if (result == VYRE_OK) {
        *out = (bench_check){1, vyre_program_hash(program) != vyre_program_hash(s->program)};
    }
    vyre_program_destroy(&program);
    return result;
}

/* ---- glslang --------------------------------------------------------------------------------- */

static vyre_result compile_glsl(const source *s, peer_glsl_effort effort, bench_check *out,
                                vyre_diag *diag)
{
    const char *text = s->glsl.data;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; i < s->shaders && result == VYRE_OK; i++, text += strlen(text) + 1) {
        peer_glsl_words words = {NULL, 0};
        result = peer_glsl_compile(text, effort, out ? &words : NULL, diag);
        if (result == VYRE_OK && out) {
            judge_words(words.words, words.count, out);
        }
        peer_glsl_free(&words);
    }
    return result;
}

static vyre_result sample_effort(const source *s, peer_glsl_effort effort, double *out,
                                 uint32_t count, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; i < count && result == VYRE_OK; i++) {
        uint64_t start = bench_now_ns();
        result = compile_glsl(s, effort, NULL, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
    }
    return result;
}

static vyre_result sample_glsl(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    return sample_effort(state, PEER_GLSL_PLAIN, out, count, diag);
}

static vyre_result sample_optimised(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    return sample_effort(state, PEER_GLSL_OPTIMISED, out, count, diag);
}

static vyre_result check_glsl(void *state, bench_check *out, vyre_diag *diag)
{
    *out = (bench_check){0, 0};
    return compile_glsl(state, PEER_GLSL_PLAIN, out, diag);
}

static vyre_result check_optimised(void *state, bench_check *out, vyre_diag *diag)
{
    *out = (bench_check){0, 0};
    return compile_glsl(state, PEER_GLSL_OPTIMISED, out, diag);
}

static const char *glslang_way(compile_kind kind, peer_glsl_effort effort)
{
    if (effort == PEER_GLSL_OPTIMISED) {
        return kind == COMPILE_SEGMENTS ? "GLSL to words, each shader optimised"
                                        : "GLSL to words, optimised";
    }
    return kind == COMPILE_SEGMENTS ? "GLSL to words, a shader for each segment"
                                    : "GLSL to words, without optimising";
}

static bool is_too_large(compile_kind kind, uint32_t size)
{
    return size > (kind == COMPILE_SEGMENTS ? GLSLANG_SEGMENTS : GLSLANG_OPERATIONS);
}

static void add_glslang(bench_case *c, compile_kind kind, uint32_t size, source *s)
{
    if (!peer_glsl_missing() && !is_too_large(kind, size)) {
        compile_text_glsl(kind, size, &s->glsl, &s->shaders);
        (void)bench_series_add(c, "glslang", glslang_way(kind, PEER_GLSL_PLAIN), sample_glsl,
                               check_glsl, s);
        if (peer_glsl_can_optimise()) {
            (void)bench_series_add(c, "glslang", glslang_way(kind, PEER_GLSL_OPTIMISED),
                                   sample_optimised, check_optimised, s);
        }
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *reallocate_counted(void *user, void *old, size_t old_size, size_t new_size)
{
    source *s = user;
    if (new_size == 0) {
        free(old);
        s->now -= old_size;
        return NULL;
    }
    void *memory = realloc(old, new_size);
    if (memory) {
        s->now += new_size - old_size;
        s->peak = s->now > s->peak ? s->now : s->peak;
    }
    return memory;
}

static vyre_result count_memory(source *s, vyre_diag *diag)
{
    vyre_allocator counted = {s, reallocate_counted};
    vyre_kernel *kernel = NULL;
    s->now = s->peak = 0;
    vyre_result result = make(s, NULL, &counted, VYRE_OPTIMIZATION_FULL, &kernel, diag);
    vyre_kernel_destroy(&kernel);
    return result;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* What glslang takes alone is to be seen beside what the library takes without its passes. */
static void note_ratio(const bench_case *c, bench_series *series)
{
    bool is_plain_glsl = series->sample == sample_glsl;
    for (uint32_t i = 0; is_plain_glsl && i < c->series_count; i++) {
        const bench_series *plain = &c->series[i];
        if (plain->sample == sample_plain && plain->median > 0) {
            size_t length = strlen(series->note);
            (void)snprintf(series->note + length, sizeof series->note - length,
                           ", %.1f times the way without passes", series->median / plain->median);
        }
    }
}

static void note_sizes(bench_case *c, compile_kind kind, uint32_t size, const source *s)
{
    double operations = kind == COMPILE_SEGMENTS ? (double)size * COMPILE_SEGMENT_OPERATIONS : size;
    for (uint32_t i = 0; i < c->series_count; i++) {
        bench_series *series = &c->series[i];
        if (!series->sample_count) {
            continue;
        }
        int length = snprintf(series->note, sizeof series->note, "%.0f ns an operation",
                              series->median * 1e3 / operations);
        if (i == 0) {
            (void)snprintf(series->note + length, sizeof series->note - (size_t)length,
                           ", at most %zu KiB of memory", s->peak >> 10);
        }
        note_ratio(c, series);
    }
}

static vyre_result measure_size(bench *b, bench_group *group, const compile_case *kind,
                                uint32_t size, source *s, vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, kind->name, "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    compile_text_vyre(kind->kind, size, &s->text);
    bench_case_size(c, kind->kind == COMPILE_SEGMENTS ? "segments" : "operations", size);
    vyre_result result = s->text.failed ? vy_diag_no_memory(diag) : VYRE_OK;
    if (result == VYRE_OK) {
        result = vyre_program_parse(s->text.data, s->text.size, "bench", NULL, &s->program, diag);
    }
    if (result == VYRE_OK) {
        (void)bench_series_vyre(c, "text to words", NULL, sample_whole, check_whole, s);
        (void)bench_series_vyre(c, "text to words, without passes for speed", NULL, sample_plain,
                                check_plain, s);
        (void)bench_series_vyre(c, "text to program alone", NULL, sample_parse, check_parse, s);
        (void)bench_series_vyre(c, "program to words alone", NULL, sample_kernel, check_compiled,
                                s);
        add_glslang(c, kind->kind, size, s);
        result = s->glsl.failed ? vy_diag_no_memory(diag) : count_memory(s, diag);
    }
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
        note_sizes(c, kind->kind, size, s);
        if (!peer_glsl_missing() && is_too_large(kind->kind, size)) {
            bench_series_leave_out(c, "glslang", glslang_way(kind->kind, PEER_GLSL_PLAIN),
                                   "it takes seconds");
        }
    }
    return result;
}

vyre_result bench_compile(bench *b, bench_group *group, vyre_diag *diag)
{
    const char *missing = peer_glsl_missing();
    group->title = "from text to SPIR-V, on the host alone";
    if (missing) {
        printf("- no glslang: %s\n", missing);
    }
    vyre_result result = VYRE_OK;
    for (size_t i = 0; i < VY_COUNT_OF(cases) && result == VYRE_OK; i++) {
        uint32_t count = b->quick ? cases[i].quick_count : cases[i].size_count;
        for (uint32_t k = 0; k < count && result == VYRE_OK; k++) {
            source s = {.shaders = 0};
            vy_text_init(&s.text, NULL);
            vy_text_init(&s.glsl, NULL);
            result = measure_size(b, group, &cases[i], cases[i].sizes[k], &s, diag);
            vyre_program_destroy(&s.program);
            vy_text_finish(&s.text);
            vy_text_finish(&s.glsl);
        }
    }
    return result;
}

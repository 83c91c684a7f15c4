/* From text to words the work is linear in the size of the program: stretches of code that run
 * without a branch, as the compiler counts them in a codegen/ of this test's own, statements walked
 * over, words made, and bytes of memory, for each operation at one size and at eight times that
 * size. No time is looked at. tools/cmake/VyreTests.cmake leads the calls here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/ir/walk.h"
#include "codegen/spirv/module.h"
#include "tools/vyre-bench/compile_text.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdlib.h>

typedef struct work {
    uint64_t visits[3]; /* stretches of code, statements, words */
    uint64_t bytes, live, peak;
} work;

static work now;

/* ---- Calls ----------------------------------------------------------------------------------- */

vy_walk_event __real_vy_walk_next(vy_walk *walk, uint32_t *out_stmt);
void __real_vy_words_op(vy_arena *arena, vy_words *words, uint32_t op, const uint32_t *first,
                        uint32_t first_count, const uint32_t *rest, uint32_t rest_count);

uint32_t __real_vy_u2(vy_module *module, SpvOp op, uint32_t a, uint32_t b);
uint32_t __wrap_vy_u2(vy_module *module, SpvOp op, uint32_t a, uint32_t b);
uint32_t __wrap_vy_u2(vy_module *module, SpvOp op, uint32_t a, uint32_t b)
{
    now.visits[2]++;
    return __real_vy_u2(module, op, a, b);
}

uint32_t __real_vy_const_u32(vy_module *module, uint32_t value);
uint32_t __wrap_vy_const_u32(vy_module *module, uint32_t value);
uint32_t __wrap_vy_const_u32(vy_module *module, uint32_t value)
{
    now.visits[2]++;
    return __real_vy_const_u32(module, value);
}

/* Called by each stretch of code of what is built with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    now.visits[0]++;
}

vy_walk_event __wrap_vy_walk_next(vy_walk *walk, uint32_t *out_stmt);
vy_walk_event __wrap_vy_walk_next(vy_walk *walk, uint32_t *out_stmt)
{
    now.visits[1]++;
    return __real_vy_walk_next(walk, out_stmt);
}

void __wrap_vy_words_op(vy_arena *arena, vy_words *words, uint32_t op, const uint32_t *first,
                        uint32_t first_count, const uint32_t *rest, uint32_t rest_count);
void __wrap_vy_words_op(vy_arena *arena, vy_words *words, uint32_t op, const uint32_t *first,
                        uint32_t first_count, const uint32_t *rest, uint32_t rest_count)
{
    now.visits[2]++;
    __real_vy_words_op(arena, words, op, first, first_count, rest, rest_count);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    (void)user;
    now.live += new_size;
    now.live -= old_size;
    now.bytes += new_size;
    now.peak = now.live > now.peak ? now.live : now.peak;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static work measure(compile_kind kind, uint32_t count)
{
    const vyre_allocator memory = {NULL, reallocate};
    vyre_kernel_params params = {.struct_size = sizeof params, .allocator = &memory};
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vy_text text;
    vy_text_init(&text, NULL);
    compile_text_vyre(kind, count, &text);
    assert_false(text.failed);
    now = (work){{0}, 0, 0, 0};
    if (vyre_program_parse(text.data, text.size, "work", &memory, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
    assert_int_equal(now.live, 0);
    return now;
}

/* `large` is of `times` as many operations: within 10 % of what `small` is for each, or less where
 * less is no matter. */
static void assert_linear(const char *what, compile_kind kind, uint64_t small, uint64_t large,
                          uint64_t times, bool may_be_less)
{
    bool is_more = large * 10 > small * times * 11, is_less = large * 11 < small * times * 10;
    if (is_more || (is_less && !may_be_less)) {
        fail_msg("kind %d: %llu %s, and %llu for %llu times the operations", (int)kind,
                 (unsigned long long)small, what, (unsigned long long)large,
                 (unsigned long long)times);
    }
}

static void check_kind(compile_kind kind, uint32_t count)
{
    static const char *const names[] = {"stretches of code", "statements", "words"};
    enum { TIMES = 8 };
    work small = measure(kind, count), large = measure(kind, TIMES * count);
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        /* Statements have up to four operations, and are walked over once at least. In large
         * programs more literals are the same one. */
        assert_true(small.visits[i] * (i == 1 ? 4 : 1) >= count);
        assert_linear(names[i], kind, small.visits[i], large.visits[i], TIMES, i == 2);
    }
    /* Arrays that double take up to twice what is in them, at other places at other sizes. */
    assert_linear("bytes", kind, small.bytes, large.bytes, TIMES, true);
    assert_linear("bytes at once", kind, small.peak, large.peak, TIMES, true);
}

static void test_work_is_linear_in_straight_code(void **state)
{
    (void)state;
    check_kind(COMPILE_STRAIGHT, 1024);
}

static void test_work_is_linear_in_ifs_and_loops(void **state)
{
    (void)state;
    check_kind(COMPILE_MIXED, 1024);
}

static void test_work_is_linear_in_functions(void **state)
{
    (void)state;
    check_kind(COMPILE_FUNCTIONS, 1024);
}

static void test_work_is_linear_in_segments(void **state)
{
    (void)state;
    check_kind(COMPILE_SEGMENTS, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_linear_in_straight_code),
        cmocka_unit_test(test_work_is_linear_in_ifs_and_loops),
        cmocka_unit_test(test_work_is_linear_in_functions),
        cmocka_unit_test(test_work_is_linear_in_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

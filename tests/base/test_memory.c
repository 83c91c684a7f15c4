/* Host memory, arenas and growable arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "codegen/base/base.h"
#include "tests/support/fail_allocator.h"

static void test_size_arithmetic_refuses_overflow(void **state)
{
    (void)state;
    size_t out = 7;
    assert_true(vy_mul_size(6, 7, &out));
    assert_int_equal(out, 42);
    assert_true(vy_mul_size(SIZE_MAX, 0, &out));
    assert_int_equal(out, 0);
    assert_true(vy_mul_size(SIZE_MAX, 1, &out));
    out = 7;
    assert_false(vy_mul_size(SIZE_MAX / 2 + 1, 2, &out));
    assert_int_equal(out, 7);
    assert_false(vy_add_size(SIZE_MAX, 1, &out));
    assert_int_equal(out, 7);
    assert_true(vy_add_size(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
}

static void test_default_allocator_is_used_for_null_and_zeros(void **state)
{
    (void)state;
    vyre_allocator zeros = {NULL, NULL};
    assert_non_null(vy_allocator_or_default(NULL).reallocate);
    assert_ptr_equal(vy_allocator_or_default(&zeros).reallocate,
                     vy_allocator_or_default(NULL).reallocate);
    unsigned char *memory = vy_alloc_zeroed(NULL, 100, 3);
    assert_non_null(memory);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(memory[i], 0);
    }
    vy_free(NULL, memory, 300);
    assert_null(vy_alloc_zeroed(NULL, 0, 8));
    assert_null(vy_alloc_zeroed(NULL, SIZE_MAX, 2));
    vy_free(NULL, NULL, 0);
}

static void test_arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    static const size_t sizes[] = {1, 3, 16, 17, 4095, 4096, 4097, 100000, 3000000, 5};
    for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
        unsigned char *memory = vy_arena_alloc(&arena, sizes[i], 1);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t b = 0; b < sizes[i]; b++) {
            assert_int_equal(memory[b], 0);
        }
        memset(memory, 0xee, sizes[i]);
    }
    assert_non_null(vy_arena_alloc(&arena, 0, 8));
    char *text = vy_arena_text(&arena, "abcdef", 3);
    assert_string_equal(text, "abc");
    assert_string_equal(vy_arena_text(&arena, NULL, 0), "");
    assert_false(arena.failed);
    vy_arena_finish(&arena);
    vy_arena_finish(&arena);
}

#if VY_HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>

static bool is_closed(const void *at)
{
    return __asan_address_is_poisoned(at) != 0;
}

/* What AddressSanitizer stops at: none of it would be found in blocks of malloc's otherwise. */
static void test_sanitizer_knows_what_in_an_arena_is_nobodys(void **state)
{
    (void)state;
    typedef VY_VEC(uint64_t) words;
    vy_arena arena;
    words vec = {0};
    vy_arena_init(&arena, NULL);
    const char *bytes = vy_arena_alloc(&arena, 24, 1);
    assert_false(is_closed(bytes + 23));
    assert_true(is_closed(bytes + 24)); /* behind an allocation */
    assert_true(vy_vec_push(&arena, &vec, 7));
    assert_false(is_closed(&vec.data[0]));
    assert_true(is_closed(&vec.data[1])); /* a row that is not there yet */
    assert_true(vy_vec_reserve(&arena, &vec, 3));
    assert_false(is_closed(&vec.data[3]));
    assert_true(is_closed(&vec.data[4]));
    assert_non_null(vy_arena_alloc(&arena, 1, 1)); /* so that it cannot grow where it is */
    const uint64_t *old = vec.data;
    assert_true(vy_vec_reserve(&arena, &vec, 100));
    assert_ptr_not_equal(old, vec.data);
    assert_true(is_closed(old)); /* where an array was before it grew */
    assert_int_equal(vec.data[0], 7);
    vy_arena_reset(&arena);
    assert_true(is_closed(vec.data)); /* what was forgotten */
    bytes = vy_arena_alloc(&arena, 8, 1);
    assert_false(is_closed(bytes));
    vy_arena_finish(&arena);
}
#endif

static void test_arena_failure_is_sticky_and_leaks_nothing(void **state)
{
    (void)state;
    vy_fail_allocator memory = {.fail_at = 2};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vy_arena arena;
    vy_arena_init(&arena, &allocator);
    assert_non_null(vy_arena_alloc(&arena, 1, 64));
    assert_null(vy_arena_alloc(&arena, 1, 100000));
    assert_true(arena.failed);
    assert_non_null(vy_arena_alloc(&arena, 1, 64));
    assert_true(arena.failed);
    vy_arena_finish(&arena);
    assert_int_equal(memory.live_blocks, 0);
    assert_int_equal(memory.live_size, 0);

    vy_arena_init(&arena, NULL);
    assert_null(vy_arena_alloc(&arena, SIZE_MAX, 2));
    assert_true(arena.failed);
    arena.failed = false;
    assert_null(vy_arena_alloc(&arena, SIZE_MAX, 1));
    assert_true(arena.failed);
    vy_arena_finish(&arena);
}

static void test_arena_makes_few_blocks(void **state)
{
    (void)state;
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vy_arena arena;
    vy_arena_init(&arena, &allocator);
    for (int i = 0; i < 100000; i++) {
        assert_non_null(vy_arena_alloc(&arena, 1, 32));
    }
    assert_true(memory.calls < 30);
    vy_arena_finish(&arena);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_vec_keeps_its_elements_while_growing(void **state)
{
    (void)state;
    VY_VEC(uint32_t) numbers = {0};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(vy_vec_push(&arena, &numbers, i * 3));
    }
    assert_int_equal(numbers.count, 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(numbers.data[i], i * 3);
    }
    assert_false(vy_vec_reserve(&arena, &numbers, 0x80000000u));
    assert_true(arena.failed);
    assert_int_equal(numbers.count, 100000);
    vy_arena_finish(&arena);
}

static void test_vec_stays_as_it_was_after_a_failure(void **state)
{
    (void)state;
    vy_fail_allocator memory = {.fail_at = 2};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    VY_VEC(uint64_t) numbers = {0};
    vy_arena arena;
    vy_arena_init(&arena, &allocator);
    for (uint64_t next = 0; vy_vec_push(&arena, &numbers, next); next++) {
        assert_true(next < 10000);
    }
    assert_true(arena.failed);
    for (uint32_t i = 0; i < numbers.count; i++) {
        assert_int_equal(numbers.data[i], i);
    }
    vy_arena_finish(&arena);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_vec_grows_where_it_is_at_the_end_of_a_block(void **state)
{
    (void)state;
    VY_VEC(uint32_t) last = {0}, other = {0};
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    assert_true(vy_vec_push(&arena, &last, 7));
    const uint32_t *place = last.data;
    for (uint32_t i = 1; i < 200; i++) {
        assert_true(vy_vec_push(&arena, &last, i));
    }
    assert_ptr_equal(last.data, place);
    assert_true(vy_vec_push(&arena, &other, 9));
    for (uint32_t i = 200; i < 400; i++) {
        assert_true(vy_vec_push(&arena, &last, i));
    }
    assert_ptr_not_equal(last.data, place);
    assert_int_equal(other.data[0], 9);
    assert_int_equal(last.data[0], 7);
    for (uint32_t i = 1; i < 400; i++) {
        assert_int_equal(last.data[i], i);
    }
    vy_arena_finish(&arena);
}

static void test_reset_arena_uses_its_memory_again(void **state)
{
    (void)state;
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vy_arena owner, scratch;
    vy_arena_init(&owner, &allocator);
    vy_arena_init_scratch(&scratch, &owner);
    size_t calls = 0;
    for (int round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            unsigned char *bytes = vy_arena_alloc(&scratch, 1, 32 + i);
            assert_non_null(bytes);
            assert_int_equal(bytes[0] | bytes[31 + i], 0);
            bytes[0] = bytes[31 + i] = 0xff;
        }
        if (round == 2) {
            assert_true(memory.calls <= calls + 1); /* one block of all the memory */
        } else if (round == 3) {
            assert_int_equal(memory.calls, calls);
        }
        calls = memory.calls;
        vy_arena_reset(&scratch);
    }
    assert_int_equal(memory.live_blocks, 1);
    vy_arena_reset(&scratch);
    assert_non_null(vy_arena_alloc(&scratch, 1, 1));
    assert_int_equal(memory.calls, calls);
    vy_arena_finish(&scratch);
    assert_int_equal(memory.live_blocks, 0);
    assert_false(owner.failed);
    assert_null(vy_arena_alloc(&scratch, SIZE_MAX, 2));
    assert_true(scratch.failed && owner.failed);
    vy_arena_finish(&owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_arithmetic_refuses_overflow),
        cmocka_unit_test(test_default_allocator_is_used_for_null_and_zeros),
        cmocka_unit_test(test_arena_gives_zeroed_aligned_memory),
#if VY_HAS_ADDRESS_SANITIZER
        cmocka_unit_test(test_sanitizer_knows_what_in_an_arena_is_nobodys),
#endif
        cmocka_unit_test(test_arena_failure_is_sticky_and_leaks_nothing),
        cmocka_unit_test(test_arena_makes_few_blocks),
        cmocka_unit_test(test_vec_keeps_its_elements_while_growing),
        cmocka_unit_test(test_vec_stays_as_it_was_after_a_failure),
        cmocka_unit_test(test_vec_grows_where_it_is_at_the_end_of_a_block),
        cmocka_unit_test(test_reset_arena_uses_its_memory_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

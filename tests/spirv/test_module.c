/* The ground under the emitter: word buffers, interned types and constants, the module put
 * together. */
#include "codegen/spirv/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void test_instructions_carry_their_length(void **state)
{
    (void)state;
    vy_arena arena;
    vy_words words = {0};
    vy_arena_init(&arena, NULL);
    vy_words_op(&arena, &words, 17, (const uint32_t[]){5, 6}, 2, (const uint32_t[]){7}, 1);
    assert_int_equal(words.count, 4);
    assert_int_equal(words.data[0], 4u << 16 | 17);
    assert_int_equal(words.data[3], 7);
    vy_arena_finish(&arena);
}

static void test_strings_are_packed_low_byte_first(void **state)
{
    static const struct {
        const char *text;
        uint32_t count, first, last;
    } rows[] = {{"", 1, 0, 0},
                {"abc", 1, 0x00636261, 0x00636261},
                {"main", 2, 0x6e69616d, 0},
                {"\xff\xfe", 1, 0x0000feff, 0x0000feff}};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_arena arena;
        vy_words words = {0};
        vy_arena_init(&arena, NULL);
        vy_words_text(&arena, &words, rows[i].text);
        assert_int_equal(words.count, rows[i].count);
        assert_int_equal(words.data[0], rows[i].first);
        assert_int_equal(words.data[words.count - 1], rows[i].last);
        vy_arena_finish(&arena);
    }
}

static void test_too_long_instructions_are_noticed(void **state)
{
    (void)state;
    vy_arena arena;
    vy_words words = {0};
    uint32_t *operands = calloc(65535, sizeof *operands);
    assert_non_null(operands);
    vy_arena_init(&arena, NULL);
    vy_words_op(&arena, &words, 1, operands, 65534, NULL, 0);
    assert_false(words.too_long);
    assert_int_equal(words.count, 65535);
    vy_words_op(&arena, &words, 1, operands, 65535, NULL, 0);
    assert_true(words.too_long);
    assert_int_equal(words.count, 65535); /* and nothing of it is there */
    free(operands);
    vy_arena_finish(&arena);
}

static void test_types_and_constants_are_interned(void **state)
{
    (void)state;
    vy_arena arena;
    vy_module m;
    vy_arena_init(&arena, NULL);
    vy_module_init(&m, &arena, false);
    uint32_t word = vy_type_u32(&m);
    assert_int_equal(vy_type_u32(&m), word);
    assert_int_not_equal(vy_type_f32(&m), word);
    assert_int_equal(vy_type_array(&m, word, 7), vy_type_array(&m, word, 7));
    assert_int_not_equal(vy_type_array(&m, word, 7), vy_type_array(&m, word, 8));
    /* The same bits in two types are two constants. */
    assert_int_not_equal(vy_const_u32(&m, 0), vy_const_f32(&m, 0));
    assert_int_not_equal(vy_const_f32(&m, 0), vy_const_f32(&m, 0x80000000u));
    uint32_t ids[5000];
    for (uint32_t i = 0; i < 5000; i++) {
        ids[i] = vy_const_u32(&m, i * 2654435761u);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(vy_const_u32(&m, i * 2654435761u), ids[i]);
    }
    assert_int_not_equal(vy_type_unique(&m, SpvOpTypeStruct, &word, 1),
                         vy_type_unique(&m, SpvOpTypeStruct, &word, 1));
    vy_arena_finish(&arena);
}

static void test_capabilities_are_listed_once(void **state)
{
    (void)state;
    vy_arena arena;
    vy_module m;
    uint32_t count = 0;
    vy_arena_init(&arena, NULL);
    vy_module_init(&m, &arena, false);
    vy_module_capability(&m, SpvCapabilityShader);
    vy_module_capability(&m, SpvCapabilityDenormPreserve);
    vy_module_capability(&m, SpvCapabilityShader);
    assert_int_equal(m.sections[VY_SECTION_CAPABILITIES].count, 4);
    uint32_t *words = vy_module_finish(&m, 0x10600, m.arena, &count);
    assert_non_null(words);
    assert_int_equal(count, 5 + 4);
    assert_int_equal(words[0], SpvMagicNumber);
    assert_int_equal(words[1], 0x10600);
    assert_int_equal(words[3], m.next_id);
    assert_int_equal(words[4], 0);
    vy_arena_finish(&arena);
}

static void test_names_are_only_there_for_debugging(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        vy_arena arena;
        vy_module m;
        vy_arena_init(&arena, NULL);
        vy_module_init(&m, &arena, named != 0);
        vy_module_name(&m, 3, "abc");
        vy_module_name(&m, 3, NULL);
        vy_module_name(&m, 0, "abc");
        assert_int_equal(m.sections[VY_SECTION_NAMES].count, named ? 3 : 0);
        vy_arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions_carry_their_length),
        cmocka_unit_test(test_strings_are_packed_low_byte_first),
        cmocka_unit_test(test_too_long_instructions_are_noticed),
        cmocka_unit_test(test_types_and_constants_are_interned),
        cmocka_unit_test(test_capabilities_are_listed_once),
        cmocka_unit_test(test_names_are_only_there_for_debugging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

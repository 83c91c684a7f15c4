/* Keys by use: numbers, evictions, statistics, against a list in the order of use. */
#include "engine/megakernel/lru.h"

#include "tests/megakernel/refused.h"
#include "tests/support/fail_allocator.h"

#include <stdio.h>

static vy_mk_lru lru_of(uint32_t capacity, uint32_t max_key_size)
{
    vy_mk_lru lru;
    assert_int_equal(vy_mk_lru_init(&lru, NULL, capacity, max_key_size, NULL), VYRE_OK);
    return lru;
}

static void check_counters(const vy_mk_lru *lru, uint64_t hits, uint64_t misses, uint64_t evictions,
                           uint32_t entries)
{
    assert_int_equal(lru->counters.hits, hits);
    assert_int_equal(lru->counters.misses, misses);
    assert_int_equal(lru->counters.evictions, evictions);
    assert_int_equal(lru->counters.entries, entries);
    assert_int_equal(lru->counters.capacity, lru->capacity);
}

typedef struct shape {
    uint32_t width, slots, form;
} shape;

static void test_lru_keeps_64_keys_and_the_latest_used(void **state)
{
    (void)state;
    vy_mk_lru lru = lru_of(VY_MK_LRU_PIPELINES, sizeof(shape));
    assert_int_equal(lru.capacity, 64);
    for (uint32_t i = 0; i < 64; i++) {
        shape key = {64, i, 1};
        assert_int_equal(vy_mk_lru_find(&lru, &key, sizeof key), VY_MK_LRU_NONE);
        vy_mk_lru_insertion made = vy_mk_lru_insert(&lru, &key, sizeof key);
        assert_int_equal(made.index, i);
        assert_true(made.is_new && !made.was_evicted);
    }
    check_counters(&lru, 0, 64, 0, 64);
    /* Repeats get the same number, however often. */
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 64; i++) {
            shape key = {64, i, 1};
            assert_int_equal(vy_mk_lru_find(&lru, &key, sizeof key), i);
        }
    }
    check_counters(&lru, 192, 64, 0, 64);
    /* The first is used once more, so that the second goes. */
    shape first = {64, 0, 1}, second = {64, 1, 1}, new = {64, 64, 1};
    assert_int_equal(vy_mk_lru_find(&lru, &first, sizeof first), 0);
    assert_int_equal(vy_mk_lru_find(&lru, &new, sizeof new), VY_MK_LRU_NONE);
    vy_mk_lru_insertion made = vy_mk_lru_insert(&lru, &new, sizeof new);
    assert_true(made.index == 1 && made.is_new && made.was_evicted);
    assert_int_equal(vy_mk_lru_find(&lru, &second, sizeof second), VY_MK_LRU_NONE);
    assert_int_equal(vy_mk_lru_find(&lru, &new, sizeof new), 1);
    check_counters(&lru, 194, 66, 1, 64);
    vy_mk_lru_finish(&lru);
}

static void test_lru_insert_finds_what_is_there(void **state)
{
    (void)state;
    vy_mk_lru lru = lru_of(2, 8);
    assert_int_equal(vy_mk_lru_insert(&lru, "aa", 2).index, 0);
    assert_int_equal(vy_mk_lru_insert(&lru, "bb", 2).index, 1);
    vy_mk_lru_insertion again = vy_mk_lru_insert(&lru, "aa", 2);
    assert_true(again.index == 0 && !again.is_new && !again.was_evicted);
    check_counters(&lru, 0, 0, 0, 2);
    /* That was a use: "bb" goes. */
    assert_int_equal(vy_mk_lru_insert(&lru, "cc", 2).index, 1);
    check_counters(&lru, 0, 0, 1, 2);
    vy_mk_lru_finish(&lru);
}

static void test_lru_keys_are_bytes_of_any_length(void **state)
{
    (void)state;
    vy_mk_lru lru = lru_of(8, 4);
    static const struct {
        const char *bytes;
        size_t size;
    } keys[] = {{"", 0}, {"\0", 1}, {"\0\0", 2}, {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"abcd", 4}};
    for (uint32_t i = 0; i < VY_COUNT_OF(keys); i++) {
        assert_int_equal(vy_mk_lru_insert(&lru, keys[i].bytes, keys[i].size).index, i);
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(keys); i++) {
        assert_int_equal(vy_mk_lru_find(&lru, keys[i].bytes, keys[i].size), i);
    }
    vy_mk_lru_insertion longer = vy_mk_lru_insert(&lru, "abcde", 5);
    assert_true(longer.index == VY_MK_LRU_NONE && !longer.is_new && !longer.was_evicted);
    assert_int_equal(vy_mk_lru_find(&lru, "abcde", 5), VY_MK_LRU_NONE);
    check_counters(&lru, 7, 1, 0, 7);
    vy_mk_lru_finish(&lru);
}

static void test_lru_removed_numbers_are_taken_first(void **state)
{
    (void)state;
    vy_mk_lru lru = lru_of(3, 1);
    assert_int_equal(vy_mk_lru_insert(&lru, "a", 1).index, 0);
    assert_int_equal(vy_mk_lru_insert(&lru, "b", 1).index, 1);
    assert_int_equal(vy_mk_lru_insert(&lru, "c", 1).index, 2);
    vy_mk_lru_remove(&lru, 2);
    vy_mk_lru_remove(&lru, 1);
    vy_mk_lru_remove(&lru, 1);
    vy_mk_lru_remove(&lru, 3);
    vy_mk_lru_remove(&lru, VY_MK_LRU_NONE);
    check_counters(&lru, 0, 0, 0, 1);
    assert_true(vy_mk_lru_has(&lru, 0) && !vy_mk_lru_has(&lru, 1) && !vy_mk_lru_has(&lru, 3));
    assert_int_equal(vy_mk_lru_find(&lru, "b", 1), VY_MK_LRU_NONE);
    vy_mk_lru_insertion made = vy_mk_lru_insert(&lru, "d", 1);
    assert_true(made.index == 1 && made.is_new && !made.was_evicted);
    assert_int_equal(vy_mk_lru_insert(&lru, "c", 1).index, 2);
    check_counters(&lru, 0, 1, 0, 3);
    vy_mk_lru_finish(&lru);
}

enum { MODEL_CAPACITY = 5, MODEL_KEYS = 9 };

/* keys[0] was used last. */
typedef struct model {
    uint32_t keys[MODEL_CAPACITY], numbers[MODEL_CAPACITY], count;
} model;

static uint32_t model_use(model *m, uint32_t key)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->keys[i] == key) {
            uint32_t number = m->numbers[i];
            for (; i > 0; i--) {
                m->keys[i] = m->keys[i - 1];
                m->numbers[i] = m->numbers[i - 1];
            }
            m->keys[0] = key;
            m->numbers[0] = number;
            return number;
        }
    }
    return VY_MK_LRU_NONE;
}

static uint32_t model_insert(model *m, uint32_t key)
{
    uint32_t number = m->count;
    if (m->count == MODEL_CAPACITY) {
        number = m->numbers[--m->count];
    }
    for (uint32_t i = m->count++; i > 0; i--) {
        m->keys[i] = m->keys[i - 1];
        m->numbers[i] = m->numbers[i - 1];
    }
    m->keys[0] = key;
    m->numbers[0] = number;
    return number;
}

static void test_lru_is_that_of_a_list_by_use(void **state)
{
    (void)state;
    vy_mk_lru lru = lru_of(MODEL_CAPACITY, 4);
    model m = {{0}, {0}, 0};
    uint64_t seed = 42, hits = 0, misses = 0, evictions = 0;
    for (uint32_t step = 0; step < 20000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t key = (uint32_t)(seed >> 33) % MODEL_KEYS;
        uint32_t expected = model_use(&m, key);
        assert_int_equal(vy_mk_lru_find(&lru, &key, sizeof key), expected);
        hits += expected != VY_MK_LRU_NONE;
        misses += expected == VY_MK_LRU_NONE;
        if (expected == VY_MK_LRU_NONE) {
            evictions += m.count == MODEL_CAPACITY;
            assert_int_equal(vy_mk_lru_insert(&lru, &key, sizeof key).index, model_insert(&m, key));
        }
    }
    check_counters(&lru, hits, misses, evictions, MODEL_CAPACITY);
    assert_true(hits > 1000 && evictions > 1000);
    vy_mk_lru_finish(&lru);
}

static void test_lru_refuses_sizes_and_missing_memory(void **state)
{
    (void)state;
    static const struct {
        uint32_t capacity, key;
    } bad[] = {{0, 4}, {4097, 4}, {4, 0}, {4, 65537}, {UINT32_MAX, UINT32_MAX}};
    vyre_diag diag;
    vy_mk_lru lru;
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        assert_refused(vy_mk_lru_init(&lru, NULL, bad[i].capacity, bad[i].key, &diag),
                       INVALID_ARGUMENT, &diag, "1 to 4096 keys of 1 to 65536");
        vy_mk_lru_finish(&lru);
    }
    for (size_t n = 1; n <= 2; n++) {
        vy_fail_allocator fail = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&fail);
        assert_int_equal(vy_mk_lru_init(&lru, &allocator, 4, 4, &diag),
                         VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(fail.live_blocks, 0);
        assert_true(!lru.entries && !lru.keys && lru.capacity == 0);
        vy_mk_lru_finish(&lru);
    }
    vy_fail_allocator fail = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&fail);
    assert_int_equal(vy_mk_lru_init(&lru, &allocator, 4096, 16, &diag), VYRE_OK);
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(vy_mk_lru_insert(&lru, &i, sizeof i).is_new);
    }
    assert_int_equal(fail.calls, 2);
    vy_mk_lru_finish(&lru);
    assert_true(fail.live_blocks == 0 && fail.live_size == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lru_keeps_64_keys_and_the_latest_used),
        cmocka_unit_test(test_lru_insert_finds_what_is_there),
        cmocka_unit_test(test_lru_keys_are_bytes_of_any_length),
        cmocka_unit_test(test_lru_removed_numbers_are_taken_first),
        cmocka_unit_test(test_lru_is_that_of_a_list_by_use),
        cmocka_unit_test(test_lru_refuses_sizes_and_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

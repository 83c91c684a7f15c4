/* See words.h. */
#include "codegen/spirv/words.h"

#include <string.h>

#define MAX_TEXT 1024u

static bool reserve(vy_arena *arena, vy_words *words, uint32_t more)
{
    return vy_vec_reserve_raw(arena, (void **)&words->data, words->count, &words->capacity, more,
                              sizeof *words->data);
}

void vy_words_push(vy_arena *arena, vy_words *words, uint32_t word)
{
    if (reserve(arena, words, 1)) {
        words->data[words->count++] = word;
    }
}

void vy_words_append(vy_arena *arena, vy_words *words, const uint32_t *data, uint32_t count)
{
    if (count && reserve(arena, words, count)) {
        memcpy(words->data + words->count, data, count * sizeof *data);
        words->count += count;
    }
}

void vy_words_op(vy_arena *arena, vy_words *words, uint32_t op, const uint32_t *first,
                 uint32_t first_count, const uint32_t *rest, uint32_t rest_count)
{
    uint64_t length = 1 + (uint64_t)first_count + rest_count;
    if (length > VY_MAX_INSTRUCTION_WORDS) {
        words->too_long = true;
        return;
    }
    if (!reserve(arena, words, (uint32_t)length)) {
        return;
    }
    uint32_t *to = words->data + words->count;
    *to++ = (uint32_t)length << 16 | op;
    for (uint32_t i = 0; i < first_count; i++) {
        *to++ = first[i];
    }
    for (uint32_t i = 0; i < rest_count; i++) {
        *to++ = rest[i];
    }
    words->count += (uint32_t)length;
}

void vy_words_text(vy_arena *arena, vy_words *words, const char *text)
{
    size_t length = strlen(text);
    vy_words_bytes(arena, words, text, length > MAX_TEXT ? MAX_TEXT : length);
}

void vy_words_bytes(vy_arena *arena, vy_words *words, const char *text, size_t length)
{
    if (!reserve(arena, words, (uint32_t)(length / 4) + 1)) {
        return;
    }
    /* Low byte first, whatever the host's order; one zero byte at least. */
    for (size_t start = 0; start <= length; start += 4) {
        uint32_t word = 0;
        for (size_t i = 0; i < 4 && start + i < length; i++) {
            word |= (uint32_t)(unsigned char)text[start + i] << (8 * i);
        }
        vy_words_push(arena, words, word);
    }
}

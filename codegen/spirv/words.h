/* Growing buffers of SPIR-V words. Owns nothing but its storage, which lies in an arena; knows how
 * an instruction is laid out and nothing of what it means. Failure is sticky: in the arena where
 * memory runs out, in `too_long` where an instruction has more words than its length field can say.
 */
#ifndef VY_SPIRV_WORDS_H
#define VY_SPIRV_WORDS_H

#include "codegen/base/base.h"

#define VY_MAX_INSTRUCTION_WORDS 65535u

typedef struct vy_words {
    uint32_t *data;
    uint32_t count, capacity;
    bool too_long;
} vy_words;

/* Where `count` further words go, which the caller writes; NULL on failure. */
static inline uint32_t *vy_words_room(vy_arena *arena, vy_words *words, uint32_t count)
{
    if (!vy_vec_reserve(arena, words, count)) {
        return NULL;
    }
    words->count += count;
    return words->data + words->count - count;
}
void vy_words_push(vy_arena *arena, vy_words *words, uint32_t word);
void vy_words_append(vy_arena *arena, vy_words *words, const uint32_t *data, uint32_t count);
/* One instruction: opcode and length, then `first_count` and `rest_count` operands. */
void vy_words_op(vy_arena *arena, vy_words *words, uint32_t op, const uint32_t *first,
                 uint32_t first_count, const uint32_t *rest, uint32_t rest_count);
/* Appends a literal string, packed and padded with zeros as the format asks; cut at 1,024 bytes. */
void vy_words_text(vy_arena *arena, vy_words *words, const char *text);
/* The same of as many bytes, without a zero among them. */
void vy_words_bytes(vy_arena *arena, vy_words *words, const char *text, size_t length);

#endif

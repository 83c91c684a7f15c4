/* The ground everything stands on: host memory, arenas, growable arrays, text building, hashing and
 * diagnostics. Reads nothing; knows neither programs nor Vulkan. */
#ifndef VY_BASE_H
#define VY_BASE_H

#include "vyre/result.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#if defined(__MINGW32__)
#define VY_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define VY_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
#else
#define VY_PRINTF(text, first)
#endif

/* What is done seldom, so that what is done often needs no room for it. */
#if defined(__GNUC__)
#define VY_SELDOM __attribute__((noinline, cold))
#else
#define VY_SELDOM
#endif

/* Builds with AddressSanitizer are told what is nobody's memory in an arena. */
#if defined(__SANITIZE_ADDRESS__)
#define VY_HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VY_HAS_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef VY_HAS_ADDRESS_SANITIZER
#define VY_HAS_ADDRESS_SANITIZER 0
#endif

#define VY_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Host memory ------------------------------------------------------------------------- */

/* A copy of *allocator, or malloc and free where it is NULL or has no function. */
vyre_allocator vy_allocator_or_default(const vyre_allocator *allocator);
/* Whether it is malloc and free. */
bool vy_allocator_is_default(const vyre_allocator *allocator);
/* NULL on failure, for size 0, and where count * size overflows. Memory is zeroed. */
void *vy_alloc_zeroed(const vyre_allocator *allocator, size_t count, size_t size);
void *vy_realloc(const vyre_allocator *allocator, void *old, size_t old_size, size_t new_size);
void vy_free(const vyre_allocator *allocator, void *memory, size_t size);

/* Checked arithmetic: false on overflow, and *out is then untouched. */
static inline bool vy_mul_size(size_t a, size_t b, size_t *out)
{
    const size_t half = (size_t)1 << (sizeof(size_t) * 4);
    if ((a >= half || b >= half) && b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}
static inline bool vy_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

/* ---- Arena -------------------------------------------------------------------------------- */

/* Memory that lives and dies together. Failure is sticky: once an allocation failed, `failed` stays
 * set; users may go on with reserved entry 0 of their tables and look at `failed` at the end of a
 * step. Thread-safety: external. */
typedef struct vy_arena {
    vyre_allocator allocator;
    struct vy_arena_block *head;
    struct vy_arena *owner; /* fails with this one; or NULL */
    size_t first_size;      /* of the first block, where it was more at the last reset */
    bool failed;
} vy_arena;

void vy_arena_init(vy_arena *arena, const vyre_allocator *allocator);
/* For what lives shorter than what is in `owner`, which fails where this one does. */
void vy_arena_init_scratch(vy_arena *arena, vy_arena *owner);
/* Forgets what was allocated and keeps the memory for what comes next. */
void vy_arena_reset(vy_arena *arena);
void vy_arena_finish(vy_arena *arena);
/* Makes what comes next lie in one block of at least that size. */
void vy_arena_expect(vy_arena *arena, size_t size);
/* Zeroed, aligned for any type; NULL on failure (sticky). Size 0 gives a valid pointer. */
void *vy_arena_alloc(vy_arena *arena, size_t count, size_t size);
/* A copy of `count` elements; NULL on failure. */
void *vy_arena_copy(vy_arena *arena, const void *from, size_t count, size_t size);
/* A copy of length bytes with a final zero; NULL on failure. */
char *vy_arena_text(vy_arena *arena, const char *text, size_t length);

/* ---- Growable arrays in an arena ------------------------------------------------------------ */

/* typedef VY_VEC(uint32_t) my_words;  zero-initialised = empty. Growth copies within the arena;
 * the old storage stays until the arena ends (total at most twice the final size). Room
 * for more than twice as much is exact. */
#define VY_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *data;                                                                                   \
        uint32_t count, capacity;                                                                  \
    }

/* Where there is no room for `more` further elements. */
bool vy_vec_grow_raw(vy_arena *arena, void **data, uint32_t count, uint32_t *capacity,
                     uint32_t more, size_t element_size);
/* Tells AddressSanitizer that these elements come to be. */
void vy_vec_open_raw(void **data, uint32_t count, uint32_t more, size_t element_size);
/* Room for `more` further elements of element_size; false on failure (sticky) or over 2^31. */
static inline bool vy_vec_reserve_raw(vy_arena *arena, void **data, uint32_t count,
                                      uint32_t *capacity, uint32_t more, size_t element_size)
{
    bool has_room = more <= *capacity - count ||
                    vy_vec_grow_raw(arena, data, count, capacity, more, element_size);
    if (VY_HAS_ADDRESS_SANITIZER && has_room) {
        vy_vec_open_raw(data, count, more, element_size);
    }
    return has_room;
}
#define vy_vec_reserve(arena, vec, more)                                                           \
    vy_vec_reserve_raw((arena), (void **)&(vec)->data, (vec)->count, &(vec)->capacity, (more),     \
                       sizeof *(vec)->data)
/* Appends a value; false on failure, and the array is then as before. */
#define vy_vec_push(arena, vec, ...)                                                               \
    (vy_vec_reserve((arena), (vec), 1) ? ((vec)->data[(vec)->count++] = (__VA_ARGS__), true)       \
                                       : false)

/* ---- Text ------------------------------------------------------------------------------------ */

/* A growing text with a sticky failure. `data` is zero-terminated once anything was appended.
 * Memory comes from the allocator and is the caller's: vy_text_finish frees it. */
typedef struct vy_text {
    vyre_allocator allocator;
    char *data;
    size_t size, capacity; /* size without the final zero */
    bool failed;
} vy_text;

void vy_text_init(vy_text *text, const vyre_allocator *allocator);
void vy_text_finish(vy_text *text);
void vy_text_append(vy_text *text, const char *bytes, size_t size);
void vy_text_printf(vy_text *text, const char *format, ...) VY_PRINTF(2, 3);

/* Text in a caller's room of `size` bytes, cut at its end, whose whole `length` (without the final
 * zero) is counted. `out` may be NULL for size 0. */
typedef struct vy_fixed_text {
    char *out;
    size_t size, length;
} vy_fixed_text;

void vy_fixed_text_printf(vy_fixed_text *text, const char *format, ...) VY_PRINTF(2, 3);
/* As a JSON string with its quotes; NULL is null. */
void vy_fixed_text_json(vy_fixed_text *text, const char *value);

/* ---- Hash ------------------------------------------------------------------------------------ */

/* 64-bit hash of words, the same on every machine and in every run (for keys, not for security). */
typedef struct vy_hash {
    uint64_t state;
} vy_hash;
#define VY_HASH_MULTIPLIER 0x9e3779b97f4a7c15u /* 2^64 divided by the golden ratio, odd */
static inline void vy_hash_init(vy_hash *hash)
{
    hash->state = 0x6a09e667f3bcc908u; /* the fraction of the square root of 2 */
}
static inline void vy_hash_u64(vy_hash *hash, uint64_t word)
{
    uint64_t state = (hash->state ^ word) * VY_HASH_MULTIPLIER;
    state ^= state >> 29;
    hash->state = state * VY_HASH_MULTIPLIER + 1;
}
static inline void vy_hash_u32(vy_hash *hash, uint32_t word)
{
    vy_hash_u64(hash, word);
}
static inline uint64_t vy_hash_value(const vy_hash *hash)
{
    uint64_t value = hash->state;
    value ^= value >> 32;
    value *= VY_HASH_MULTIPLIER;
    return value ^ (value >> 29);
}
void vy_hash_bytes(vy_hash *hash, const void *bytes, size_t size);

/* ---- Parameters ------------------------------------------------------------------------------ */

/* A caller's parameter struct, whose first member is `uint32_t struct_size`, in the size that the
 * library knows: what a shorter one lacks is zero, and NULL is all zero. struct_size 0 means the
 * size of the struct's first release, `first_size`. Errors: INVALID_ARGUMENT where the caller's is
 * longer and says something there that this library does not know, or shorter than any release. */
vyre_result vy_params_read_raw(void *out, size_t size, size_t first_size, const void *given,
                               const char *type, vyre_diag *diag);
/* Nothing has been released yet, so the first size is the present one. */
#define vy_params_read(type, out, given, diag)                                                     \
    vy_params_read_raw((out), sizeof(type), sizeof(type), (const type *)(given), #type, (diag))

/* ---- Diagnostics ----------------------------------------------------------------------------- */

/* A place in a source text, both from 1; 0 where there is none. */
typedef struct vy_loc {
    uint32_t line, column;
} vy_loc;

/* Sets every field to "does not apply". NULL is allowed. */
void vy_diag_clear(vyre_diag *diag);
/* Fills code, place and message (cut at the size) and returns code; keeps file, segment, pass and
 * binding. diag may be NULL. Messages say what is wrong and end in "Fix: what to do". */
vyre_result vy_diag_set(vyre_diag *diag, vyre_result code, vy_loc loc, const char *format, ...)
    VY_PRINTF(4, 5);
vyre_result vy_diag_setv(vyre_diag *diag, vyre_result code, vy_loc loc, const char *format,
                         va_list arguments) VY_PRINTF(4, 0);
/* The out-of-host-memory error, worded once. */
vyre_result vy_diag_no_memory(vyre_diag *diag);

#endif

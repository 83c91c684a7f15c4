/* Words of the queues that several threads, or a host and a device, race for.
 *
 * Assumed: a word of memory that is aligned to 4 bytes may be reached as an _Atomic uint32_t,
 * whatever it was allocated as. C11 does not promise it (an atomic type may be larger than the
 * plain one, or need a lock beside it); below is refused at compile time where it could not be so.
 * Compilers must also let such an access and the plain ones of words.h alias: those are accesses of
 * characters, which alias everything. A device joins in where the memory is coherent.
 *
 * Words are little-endian in memory, so what goes in and comes out is turned on hosts that are
 * not; where they are, that is no instruction. */
#ifndef VY_MEGAKERNEL_ATOMIC_WORD_H
#define VY_MEGAKERNEL_ATOMIC_WORD_H

#include "engine/megakernel/words.h"

#include <stdatomic.h>

_Static_assert(sizeof(_Atomic uint32_t) == 4 && _Alignof(_Atomic uint32_t) == 4,
               "an atomic word is a word");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && sizeof(unsigned) == 4, "atomic words have no locks");

static inline _Atomic uint32_t *vy_mk_atomic(const void *memory, size_t word)
{
    return (_Atomic uint32_t *)((uintptr_t)memory + 4 * word);
}

/* Between a value and the word of this host whose bytes are little-endian. */
static inline uint32_t vy_mk_to_little(uint32_t value)
{
    uint32_t word = 0;
    vy_mk_put(&word, 0, value);
    return word;
}
static inline uint32_t vy_mk_from_little(uint32_t word)
{
    return vy_mk_get(&word, 0);
}

/* What was written before the word's value was stored is seen behind this. */
static inline uint32_t vy_mk_load_word(const void *memory, size_t word)
{
    return vy_mk_from_little(
        atomic_load_explicit(vy_mk_atomic(memory, word), memory_order_acquire));
}

static inline void vy_mk_store_word(void *memory, size_t word, uint32_t value)
{
    atomic_store_explicit(vy_mk_atomic(memory, word), vy_mk_to_little(value), memory_order_release);
}

/* Stores the value where *expected is found, for one caller; otherwise false, and *expected is what
 * was found. */
static inline bool vy_mk_swap_word(void *memory, size_t word, uint32_t *expected, uint32_t value)
{
    uint32_t found = vy_mk_to_little(*expected);
    bool is_swapped = atomic_compare_exchange_strong_explicit(
        vy_mk_atomic(memory, word), &found, vy_mk_to_little(value), memory_order_acq_rel,
        memory_order_acquire);
    *expected = vy_mk_from_little(found);
    return is_swapped;
}

#endif

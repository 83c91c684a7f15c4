/* Words of the megakernel's queues in memory that is anybody's: little-endian, aligned to 4 bytes,
 * its size in bytes as it came. No Vulkan in this folder's protocol files. */
#ifndef VY_MEGAKERNEL_WORDS_H
#define VY_MEGAKERNEL_WORDS_H

#include "codegen/base/base.h"
#include "vyre/megakernel.h"

static inline uint32_t vy_mk_get(const void *memory, size_t word)
{
    const unsigned char *at = (const unsigned char *)memory + 4 * word;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void vy_mk_put(void *memory, size_t word, uint32_t value)
{
    unsigned char *at = (unsigned char *)memory + 4 * word;
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
    at[2] = (unsigned char)(value >> 16);
    at[3] = (unsigned char)(value >> 24);
}

/* INVALID_ARGUMENT unless the memory is there (for size 0 it need not), is aligned to 4 bytes, and
 * has a size that is a multiple of `unit` bytes. what: "a ring", for the message. */
vyre_result vy_mk_check_memory(const void *memory, size_t size, size_t unit, const char *what,
                               vyre_diag *diag);

#endif

/* What memory a module's entry points load, store and update, read from its words: through
 * descriptors of set 0, and through addresses that lie in its uniform block. */
#ifndef VY_SPIRV_TOUCH_H
#define VY_SPIRV_TOUCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum spirv_place {
    SPIRV_DESCRIPTOR, /* storage buffer at binding `at` */
    SPIRV_BLOCK,      /* uniform block at binding `at` */
    SPIRV_BEHIND      /* behind the address at byte `at` of the uniform block at binding `root` */
} spirv_place;

typedef struct spirv_touch {
    spirv_place place;
    uint32_t root, at;
    bool reads, writes;
    /* BLOCK, and state: bytes from `begin` to `end` are touched; `end` UINT32_MAX: nobody knows. */
    uint32_t begin, end;
    /* Of the state of a fixpoint, which words with turns are found in: 0, or 1 more than what is
     * added to the turn, which the parameter block tells, to know the word of four, and 4 more than
     * that where these are the second four. */
    bool is_state;
    uint32_t turn;
} spirv_touch;

#define SPIRV_MAX_TOUCHES 96u

typedef struct spirv_touches {
    uint32_t count;
    bool is_unknown; /* there is an access that could not be followed */
    spirv_touch list[SPIRV_MAX_TOUCHES];
} spirv_touches;

/* Of the state, by the parameter block's words TURN and LEADS: which bytes are touched. false:
 * none, in this dispatch. */
bool spirv_state_range(const spirv_touch *touch, uint32_t turn, uint32_t leads, uint64_t *out_begin,
                       uint64_t *out_end);

/* false: not a module, or out of memory. */
bool spirv_touches_read(const uint32_t *words, size_t word_count, spirv_touches *out);

#endif

/* What memory a module's entry points load, store and update, read from its words: through
 * descriptors of set 0, the address in the push constants, and addresses that lie behind that. */
#ifndef VY_SPIRV_TOUCH_H
#define VY_SPIRV_TOUCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum spirv_place {
    SPIRV_DESCRIPTOR, /* binding `at` */
    SPIRV_ROOT,       /* behind the address at byte `at` of the push constants */
    SPIRV_BEHIND      /* behind the address at byte `at` of what the address at byte `root` of the
                         push constants leads to */
} spirv_place;

typedef struct spirv_touch {
    spirv_place place;
    uint32_t root, at;
    bool reads, writes;
    /* ROOT, and state: bytes from `begin` to `end` are touched; `end` UINT32_MAX: nobody knows. */
    uint32_t begin, end;
    /* Of the state of a fixpoint, which words with turns are found in: 0, or 1 more than what is
     * added to the pass that is pushed to know the word, which is one of four. */
    bool is_state;
    uint32_t turn;
} spirv_touch;

#define SPIRV_MAX_TOUCHES 96u

typedef struct spirv_touches {
    uint32_t count;
    bool is_unknown; /* there is an access that could not be followed */
    spirv_touch list[SPIRV_MAX_TOUCHES];
} spirv_touches;

/* Of the state, by the push constants: which bytes are touched. false: none, in this dispatch. */
bool spirv_state_range(const spirv_touch *touch, const unsigned char *push, uint64_t *out_begin,
                       uint64_t *out_end);

/* false: not a module, or out of memory. */
bool spirv_touches_read(const uint32_t *words, size_t word_count, spirv_touches *out);

#endif

/* What built-in operations do, as docs/megakernel.md says it and nobody else's code does it: item
 * by item in the order of a queue, on the control buffer's words. */
#ifndef VY_TESTS_BUILTIN_ORACLE_H
#define VY_TESTS_BUILTIN_ORACLE_H

#include "vyre/megakernel.h"

#include <stdbool.h>

typedef struct builtin_oracle {
    uint32_t *control; /* the caller's: `length` words, as before the queue */
    uint32_t length;
    /* Since oracle_init. The words that the kernel counts in (done, faults, claims, cursor) stay as
     * they were; metrics, epoch, shutdown and observables become what they must be. */
    uint32_t item_count, done_count, fault_count, unknown_count;
    uint32_t fault_item, fault_code; /* of the first; VYRE_DIAG_NONE and 0: none */
} builtin_oracle;

void oracle_init(builtin_oracle *oracle, uint32_t *control, uint32_t length);
/* The fault that the item ends with, or VYRE_FAULT_NONE. */
vyre_slot_fault oracle_run(builtin_oracle *oracle, const vyre_work_item *item);
/* Whether what the word holds follows from the items before: not so where workers count. Items that
 * read other words have no result that could be foretold. */
bool oracle_is_fixed(uint32_t word);
/* The same of all that the item reads. */
bool oracle_is_foretold(const builtin_oracle *oracle, const vyre_work_item *item);
/* A random item of any built-in that an item may be, SHUTDOWN left out; arguments are often at the
 * borders of the protocol's tables, of the buffer and of 32 bits. What it reads is foretold. */
vyre_work_item oracle_make(const builtin_oracle *oracle, uint64_t *seed);

#endif

/* What publishers share: the checks of a ring and of what is to lie in a slot, and the writing of
 * slots. Checks write nothing, so that a publisher of many slots makes all of them first. */
#ifndef VY_MEGAKERNEL_RING_H
#define VY_MEGAKERNEL_RING_H

#include "engine/megakernel/words.h"

/* "CLAIMED"; NULL for a number that is no status. */
const char *vy_ring_status_name(uint32_t status);

/* The ring's memory and size, and that it has `count` slots from `first` on. */
vyre_result vy_ring_check(const void *ring, size_t size, uint32_t first, uint64_t count,
                          vyre_diag *diag);
/* That the slot, which the ring has, may be published to, and with that opcode. */
vyre_result vy_ring_check_slot(const void *ring, uint32_t slot, uint32_t opcode, vyre_diag *diag);
/* The words as they are, but the status, which becomes PUBLISHED behind all others. */
void vy_ring_write_slot(void *ring, uint32_t slot, const uint32_t words[VYRE_SLOT_WORDS]);

/* A caller's slots, and what stands before their arguments. */
typedef struct vy_slot_list {
    const vyre_slot_params *slots;
    uint32_t count;
    uint32_t prefix_count; /* of the arguments, these first */
    uint32_t prefix[2];
} vy_slot_list;

/* Each of the list and its slot, from `first` on; the ring has them. */
vyre_result vy_ring_check_list(const void *ring, uint32_t first, const vy_slot_list *list,
                               vyre_diag *diag);
/* The list was checked. */
void vy_ring_write_list(void *ring, uint32_t first, const vy_slot_list *list);

#endif

/* What opcodes are called in messages. */
#ifndef VY_MEGAKERNEL_OPCODES_H
#define VY_MEGAKERNEL_OPCODES_H

#include <stdint.h>

/* "BATCH_FENCE"; of those without a name "reserved", "of a tenant" or "of a user". Never NULL. */
const char *vy_mk_opcode_name(uint32_t opcode);

#endif

/* Hyperscan, where the build found it: literals in one block of memory, by one thread or several.
 */
#ifndef VY_PEER_HYPERSCAN_H
#define VY_PEER_HYPERSCAN_H

#include "codegen/base/base.h"

typedef struct peer_match {
    uint32_t rule, offset; /* of the last byte */
} peer_match;

typedef struct peer_hyperscan peer_hyperscan;

/* `longest`: bytes of the longest pattern. Errors: UNSUPPORTED_FEATURE (the build has no Hyperscan,
 * or it refuses the patterns), OUT_OF_HOST_MEMORY. */
vyre_result peer_hyperscan_create(const char *const *patterns, const size_t *sizes, uint32_t count,
                                  uint32_t longest, uint32_t threads, peer_hyperscan **out_peer,
                                  vyre_diag *diag);
void peer_hyperscan_destroy(peer_hyperscan **peer);
/* Scans the block. Matches are in order of offsets and rules, thread by thread: those of all
 * threads one behind the other. They are the peer's, until the next scan. */
vyre_result peer_hyperscan_run(peer_hyperscan *peer, const void *bytes, uint32_t size,
                               vyre_diag *diag);
/* The matches of a thread of the last scan. */
const peer_match *peer_hyperscan_matches(const peer_hyperscan *peer, uint32_t thread,
                                         uint64_t *out_count);
const char *peer_hyperscan_version(void);

#endif

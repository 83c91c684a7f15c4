/* What group scan scans and for what. Thread-safety: external. */
#ifndef VY_BENCH_SCAN_H
#define VY_BENCH_SCAN_H

#include "tools/vyre-bench/bench.h"
#include "tools/vyre-bench/peers/hyperscan.h"

#include "vyre/scan.h"

typedef struct scan_list {
    char *bytes; /* of all patterns, one behind the other */
    vyre_pattern *patterns;
    uint32_t count, longest;
} scan_list;

typedef struct scan_data {
    unsigned char *text;
    uint32_t size;
    scan_list words; /* in no order, so that the first n are n of all */
    scan_list rules; /* 0: there are none */
    const char *what;
} scan_data;

/* Of the folder `path`, whose text is repeated up to `size` bytes; NULL: made up. Errors: IO,
 * OUT_OF_HOST_MEMORY. */
vyre_result scan_data_make(const char *path, uint32_t size, scan_data *out_data, vyre_diag *diag);
void scan_data_finish(scan_data *data);

/* Of hits in order: equal ones have the same. */
typedef struct scan_digest {
    uint64_t count, value;
} scan_digest;
void scan_digest_add(scan_digest *digest, uint32_t rule, uint64_t offset);

#endif

/* One case of group scan: a text, patterns, and what must be found. Thread-safety: external. */
#ifndef VY_BENCH_SCAN_WORK_H
#define VY_BENCH_SCAN_WORK_H

#include "tools/vyre-bench/scan.h"

enum { SCAN_PARTS = 8, SCAN_BATCHES = 3, SCAN_SAMPLES = 512, SCAN_THREADS = 8 };

typedef struct scan_work {
    bench *bench;
    const scan_data *data;
    const vyre_pattern *patterns;
    uint32_t count, longest;
    vyre_catalogue *catalogue;
    vyre_catalogue_info info;
    vyre_scanner *scanner;
    vyre_scan_batch *whole;                 /* the text, which stays on the device */
    vyre_scan_batch *threaded;              /* the text, copied by SCAN_THREADS */
    vyre_scan_batch *batches[SCAN_BATCHES]; /* parts of it */
    double compile_ms;                      /* of the catalogue */
    scan_digest wanted;                     /* what the processor finds */
    uint64_t lines;                         /* with a hit */
    scan_digest found;                      /* of the last sample of the library */
    double device_us[SCAN_SAMPLES];         /* of scans of `whole` */
    uint32_t device_count;
    vyre_scan_report report;
    peer_hyperscan *hyperscans[2];
    uint32_t hyperscan_count;
    char text_path[64], list_path[64];
} scan_work;

/* 0 wrong: as many hits as are wanted, and the same. */
void scan_compare(const scan_work *work, const scan_digest *found, bench_check *out_check);
/* Peers that are not there are left out with a note. */
void scan_add_peers(scan_work *work, bench_case *c, vyre_diag *diag);

#endif

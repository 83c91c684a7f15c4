/* What the tests of scanners share: a device, batches of files, and scans whose hits are those of
 * the processor. */
#ifndef VY_TEST_SCAN_SCANNER_SUPPORT_H
#define VY_TEST_SCAN_SCANNER_SUPPORT_H

#include "tests/scan/catalogue_support.h"
#include "tests/support/engine_fixture.h"

/* Opened and closed by the group; NULL: tests run without a device, and scanners scan on the host.
 */
extern vyre_device *scan_device;
int scan_open_device(void **state);
int scan_close_device(void **state);

/* Must succeed. */
vyre_scan_batch *scan_batch(vyre_device *device, const vyre_scan_batch_params *params);
void scan_add(vyre_scan_batch *batch, const void *bytes, size_t size, uint32_t file_layer);
vyre_scanner *scan_scanner(vyre_device *device, const vyre_catalogue *catalogue,
                           const vyre_scanner_params *params);
/* Scans, and fails where a hit is not as vyre_catalogue_scan of each file has it. */
vyre_scan_report scan_check(vyre_scanner *scanner, vyre_scan_batch *batch,
                            const vyre_catalogue *catalogue, const vyre_scan_file *files,
                            uint32_t file_count);
/* The same of hits that are there. */
void scan_compare(const vyre_scan_result *result, const vyre_catalogue *catalogue,
                  const vyre_scan_file *files, uint32_t file_count);

/* Files of bytes below `letters` from 'a' on, of up to `size` bytes, some empty. */
typedef struct scan_files {
    vyre_scan_file files[256];
    uint32_t count;
    unsigned char *bytes;
} scan_files;
scan_files scan_random_files(uint64_t *seed, uint32_t count, uint32_t size, uint32_t letters);
/* All of one letter, a: every byte is a hit of a pattern of it. */
scan_files scan_dense_files(uint32_t count, uint32_t size);
void scan_free_files(scan_files *files);
void scan_add_all(vyre_scan_batch *batch, const scan_files *files);
/* `count` literals of 1 to `size` of these letters, in `room`. */
void scan_random_literals(uint64_t *seed, vyre_pattern *patterns, uint32_t count, uint32_t size,
                          uint32_t letters, unsigned char *room);

#endif

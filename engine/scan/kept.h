/* What calibrations found, kept between runs in the device's folder: by device and tables. */
#ifndef VY_SCAN_KEPT_H
#define VY_SCAN_KEPT_H

#include "engine/scan/scanner.h"

/* Of the scanner's tables and what else its speed depends on. */
uint64_t vy_scan_kept_key(const vyre_scanner *s);
/* What was kept, if anything; else *choice stays. */
void vy_scan_kept_find(vyre_device *device, uint64_t key, vy_scan_choice *choice);
/* In place of what was kept for the key, or of what was kept longest ago. */
void vy_scan_kept_store(vyre_device *device, uint64_t key, const vy_scan_choice *choice);

#endif

/* What becomes of types and operations on a device, for --info: the device's own, made of others,
 * or refused. Pure. */
#ifndef VY_ABILITIES_H
#define VY_ABILITIES_H

#include "engine/device/snapshot.h"

/* Appends a table of lines "  WHAT  native", "lowered: HOW" or "refused (FEATURE)". */
void vy_abilities_print(vy_fixed_text *text, const vy_snapshot *snapshot, bool is_validated);

#endif

/* What a caller says of its dispatches, and whether it can be. Pure. */
#ifndef VY_MEGAKERNEL_CONFIG_H
#define VY_MEGAKERNEL_CONFIG_H

#include "codegen/base/base.h"

#define VY_MK_DEFAULT_WORKERS 64u
#define VY_MK_DEFAULT_WALL_NS 60000000000u
#define VY_MK_MAX_ITEMS       0xffffffffu

typedef struct vy_mk_config {
    uint32_t worker_count;  /* not 0 */
    uint64_t max_wall_ns;   /* not 0 */
    uint32_t hits_per_item; /* that are expected; 0 means 1 */
    /* Hints; 0: nothing is known. */
    uint32_t hot_opcode_count, hot_window_count;
    uint64_t node_count, edge_count;
    uint32_t density_bps, pressure_bps;
    uint64_t resident_size; /* device memory that the caller's data already take */
    uint64_t budget_size;   /* device memory that a dispatch may need with them; 0: any */
} vy_mk_config;

/* The defaults, no hints. */
void vy_mk_config_init(vy_mk_config *config);
/* INVALID_ARGUMENT: no worker, no time, more than VY_MK_MAX_ITEMS items. */
vyre_result vy_mk_config_check(const vy_mk_config *config, uint64_t item_count, vyre_diag *diag);

#endif

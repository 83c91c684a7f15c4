/* Checks of a dispatch's configuration. */
#include "engine/megakernel/config.h"

#include <inttypes.h>

void vy_mk_config_init(vy_mk_config *config)
{
    *config =
        (vy_mk_config){.worker_count = VY_MK_DEFAULT_WORKERS, .max_wall_ns = VY_MK_DEFAULT_WALL_NS};
}

vyre_result vy_mk_config_check(const vy_mk_config *config, uint64_t item_count, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (config->worker_count == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a dispatch has 0 workers and could drain nothing. Fix: set "
                           "worker_count to 1 or more; %u is the default",
                           VY_MK_DEFAULT_WORKERS);
    }
    if (config->max_wall_ns == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a dispatch has a time limit of 0 ns and would end before it began. "
                           "Fix: set the time limit to 1 ns or more; 60 s is the default");
    }
    if (item_count > VY_MK_MAX_ITEMS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a queue has %" PRIu64 " items and item numbers are 32-bit. Fix: "
                           "dispatch at most %u at a time",
                           item_count, VY_MK_MAX_ITEMS);
    }
    return VYRE_OK;
}

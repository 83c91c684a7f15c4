/* Windows: slots that must run and, behind them, slots that may, which carry the window's ticket
 * and their class before their arguments. */
#include "engine/megakernel/ring.h"

enum { CLASS_REQUIRED = 0, CLASS_LOOK_AHEAD = 1 };
enum { PREFIX_WORDS = 2 };

_Static_assert(VYRE_WINDOW_MAX_PAYLOAD + PREFIX_WORDS == VYRE_SLOT_MAX_ARGS,
               "a slot holds prefix and payload");

vyre_result vyre_ring_publish_window(void *ring, size_t size, uint32_t first,
                                     const vyre_window_params *given, vyre_diag *diag)
{
    vyre_window_params params;
    vy_diag_clear(diag);
    vyre_result code = vy_params_read(vyre_window_params, &params, given, diag);
    if (code) {
        return code;
    }
    vy_slot_list required = {
        params.required, params.required_count, PREFIX_WORDS, {params.ticket, CLASS_REQUIRED}};
    vy_slot_list look_ahead = {params.look_ahead,
                               params.look_ahead_count,
                               PREFIX_WORDS,
                               {params.ticket, CLASS_LOOK_AHEAD}};
    uint32_t behind = first + params.required_count;
    code = vy_ring_check(ring, size, first,
                         (uint64_t)params.required_count + params.look_ahead_count, diag);
    if (!code) {
        code = vy_ring_check_list(ring, first, &required, diag);
    }
    if (!code) {
        code = vy_ring_check_list(ring, behind, &look_ahead, diag);
    }
    if (!code) {
        vy_ring_write_list(ring, first, &required);
        vy_ring_write_list(ring, behind, &look_ahead);
    }
    return code;
}

/* Scans as a caller sees them: submitted, waited for, one for each batch. */
#include "engine/scan/scanner.h"

#include <string.h>

#define NO_PLACE ((vy_loc){0, 0})

static vyre_result check(const vyre_scanner *s, const vyre_scan_batch *b, uint32_t flags,
                         vyre_diag *diag)
{
    if (b->scanner) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, NO_PLACE,
                           "a scan of the batch is in flight. Fix: call vyre_scanner_wait first, "
                           "or scan another batch meanwhile");
    }
    if (b->device != s->device) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "batch and scanner are of different devices. Fix: create the batch with "
                           "the scanner's device");
    }
    if (b->reserved != UINT64_MAX || flags & ~VYRE_SCAN_TIMED) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           b->reserved != UINT64_MAX
                               ? "room for a file is reserved. Fix: call vyre_scan_batch_commit "
                                 "first"
                               : "a flag is not one. Fix: use VYRE_SCAN_*");
    }
    return VYRE_OK;
}

static vyre_result submit(vyre_scanner *s, vyre_scan_batch *b, uint32_t flags, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_result code = check(s, b, flags, diag);
    if (code != VYRE_OK) {
        return code;
    }
    memset(&b->report, 0, sizeof b->report);
    b->report.device_ns = VYRE_NS_NONE;
    b->start_ns = vy_clock_ns();
    b->hit_count = 0;
    b->flags = flags;
    vy_mutex_lock(&s->mutex);
    vy_scan_choice choice = s->choice;
    b->scanner = s;
    b->next = s->busy;
    s->busy = b;
    vy_mutex_unlock(&s->mutex);
    code = s->device ? vy_scan_submit(s, b, &choice, flags, diag) : VYRE_OK;
    if (code != VYRE_OK) {
        vy_scan_give_up(s, b);
    }
    b->report.enqueue_ns = vy_clock_ns() - b->start_ns;
    return code;
}

vyre_result vyre_scanner_submit(vyre_scanner *scanner, vyre_scan_batch *batch, uint32_t flags,
                                vyre_diag *diag)
{
    return submit(scanner, batch, flags, diag);
}

static vyre_result wait_for(vyre_scanner *s, vyre_scan_batch *b, uint64_t timeout_ns,
                            vyre_scan_result *out_result, vyre_scan_report *out_report,
                            vyre_diag *diag)
{
    vyre_result code = vy_scan_wait(s, b, timeout_ns, diag);
    if (code == VYRE_OK) {
        *out_result = (vyre_scan_result){b->hits, b->hit_count};
        if (out_report) {
            *out_report = b->report;
        }
    }
    return code;
}

vyre_result vyre_scanner_wait(vyre_scanner *scanner, vyre_scan_batch *batch, uint64_t timeout_ns,
                              vyre_scan_result *out_result, vyre_scan_report *out_report,
                              vyre_diag *diag)
{
    vy_diag_clear(diag);
    *out_result = (vyre_scan_result){NULL, 0};
    if (batch->scanner != scanner) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "no scan of the batch by this scanner is in flight. Fix: call "
                           "vyre_scanner_submit first");
    }
    return wait_for(scanner, batch, timeout_ns, out_result, out_report, diag);
}

vyre_result vyre_scanner_run(vyre_scanner *scanner, vyre_scan_batch *batch, uint32_t flags,
                             uint64_t timeout_ns, vyre_scan_result *out_result,
                             vyre_scan_report *out_report, vyre_diag *diag)
{
    *out_result = (vyre_scan_result){NULL, 0};
    vyre_result code = submit(scanner, batch, flags, diag);
    return code == VYRE_OK ? wait_for(scanner, batch, timeout_ns ? timeout_ns : UINT64_MAX,
                                      out_result, out_report, diag)
                           : code;
}

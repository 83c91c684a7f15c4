/* Measuring lengths of segments, and keeping what was found. */
#include "engine/scan/kept.h"

#include <string.h>

#define NO_PLACE        ((vy_loc){0, 0})
#define DEFAULT_REPEAT  3u
#define DEFAULT_TIMEOUT UINT64_C(30000000000)

static vyre_result read_params(const vyre_scan_calibration_params *params,
                               vyre_scan_calibration_params *out, vyre_diag *diag)
{
    vyre_result code = vy_params_read(vyre_scan_calibration_params, out, params, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!out->candidates) {
        out->candidates = vyre_scan_default_candidates;
        out->candidate_count = (uint32_t)VY_COUNT_OF(vyre_scan_default_candidates);
    }
    out->repeat = out->repeat ? out->repeat : DEFAULT_REPEAT;
    out->timeout_ns = out->timeout_ns ? out->timeout_ns : DEFAULT_TIMEOUT;
    bool is_bad = !out->candidate_count || out->candidate_count > VYRE_SCAN_MAX_CANDIDATES;
    for (uint32_t i = 0; i < out->candidate_count && !is_bad; i++) {
        is_bad = out->candidates[i] == 0;
    }
    return is_bad ? vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                                "%u lengths of segments, or one of 0 bytes, cannot be measured. "
                                "Fix: 1 to %u lengths of at least 64 bytes, or NULL for the "
                                "library's",
                                (unsigned)out->candidate_count, VYRE_SCAN_MAX_CANDIDATES)
                  : VYRE_OK;
}

static void set_choice(vyre_scanner *s, const vy_scan_choice *choice)
{
    vy_mutex_lock(&s->mutex);
    s->choice = *choice;
    vy_mutex_unlock(&s->mutex);
}

/* A run that takes too long is waited for all the same, so that the next one has the device for
 * itself, and does not count. */
static vyre_result run_once(vyre_scanner *s, vyre_scan_batch *b, uint64_t timeout_ns,
                            uint64_t *out_ns, vyre_diag *diag)
{
    vyre_scan_result hits;
    vyre_scan_report report;
    vyre_result code = vyre_scanner_run(s, b, 0, timeout_ns, &hits, &report, diag);
    *out_ns = VYRE_NS_NONE;
    if (code == VYRE_ERROR_TIMEOUT) {
        return vyre_scanner_wait(s, b, UINT64_MAX, &hits, &report, diag);
    }
    if (code == VYRE_OK && report.dropped_count == 0) {
        *out_ns = report.wall_ns;
    }
    return code;
}

static vyre_result measure(vyre_scanner *s, vyre_scan_batch *b,
                           const vyre_scan_calibration_params *p, vyre_scan_measurement *m,
                           vyre_diag *diag)
{
    uint64_t ns = 0;
    set_choice(s, &(vy_scan_choice){m->segment_size, m->staging});
    vyre_result code = run_once(s, b, p->timeout_ns, &ns, diag);
    m->best_ns = VYRE_NS_NONE;
    for (uint32_t i = 0; i < p->repeat && code == VYRE_OK; i++) {
        code = run_once(s, b, p->timeout_ns, &ns, diag);
        if (code == VYRE_OK && ns != VYRE_NS_NONE) {
            m->complete_count++;
            m->best_ns = m->best_ns == VYRE_NS_NONE || ns < m->best_ns ? ns : m->best_ns;
        }
    }
    return code;
}

static const vyre_scan_staging stagings[] = {VYRE_SCAN_STAGING_SHARED, VYRE_SCAN_STAGING_DIRECT};

vyre_result vyre_scanner_calibrate(vyre_scanner *scanner, vyre_scan_batch *batch,
                                   const vyre_scan_calibration_params *params,
                                   vyre_scan_calibration *out_calibration, vyre_diag *diag)
{
    vyre_scan_calibration_params p;
    uint32_t best = 0;
    vy_diag_clear(diag);
    memset(out_calibration, 0, sizeof *out_calibration);
    vyre_result code = read_params(params, &p, diag);
    if (code == VYRE_OK && !scanner->device) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "a scanner without a device has nothing to calibrate. Fix: create it "
                           "with one");
    }
    if (code != VYRE_OK) {
        return code;
    }
    vy_mutex_lock(&scanner->mutex);
    vy_scan_choice before = scanner->choice;
    vy_mutex_unlock(&scanner->mutex);
    vyre_scan_calibration *c = out_calibration;
    for (uint32_t i = 0; i < p.candidate_count && code == VYRE_OK; i++) {
        for (uint32_t k = 0; k < VY_COUNT_OF(stagings) && code == VYRE_OK; k++) {
            vyre_scan_measurement *m = &c->measurements[c->measurement_count++];
            uint32_t size = p.candidates[i];
            m->segment_size = size > VYRE_SEGMENT_WHOLE - VY_SCAN_UNIT
                                  ? VYRE_SEGMENT_WHOLE
                                  : (size + VY_SCAN_UNIT - 1) / VY_SCAN_UNIT * VY_SCAN_UNIT;
            m->staging = stagings[k];
            code = measure(scanner, batch, &p, m, diag);
        }
    }
    if (code == VYRE_OK) {
        code = vyre_scan_choose(c->measurements, c->measurement_count, &best, diag);
    }
    if (code != VYRE_OK) {
        set_choice(scanner, &before);
        return code;
    }
    c->segment_size = c->measurements[best].segment_size;
    c->staging = c->measurements[best].staging;
    vy_scan_choice choice = {c->segment_size, c->staging};
    set_choice(scanner, &choice);
    vy_scan_kept_store(scanner->device, vy_scan_kept_key(scanner), &choice);
    return VYRE_OK;
}

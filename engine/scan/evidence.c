/* Whether what somebody counted of a scan fits together. Pure. */
#include "codegen/base/base.h"
#include "engine/megakernel/ratio.h"
#include "vyre/scan.h"

static vyre_result check(const vyre_scan_evidence_request *r, uint64_t segments, vyre_diag *diag)
{
    uint64_t groups = 0, copies = 0;
    if (!vy_mk_add(r->bind_groups_reused, r->bind_groups_created, &groups) || groups != segments) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%llu bind groups were reused and %llu created, and there are %llu "
                           "segments. Fix: count one bind group for each segment",
                           (unsigned long long)r->bind_groups_reused,
                           (unsigned long long)r->bind_groups_created,
                           (unsigned long long)segments);
    }
    if (!vy_mk_add(r->uploads, r->readbacks, &copies)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%llu uploads and %llu readbacks are more copies than 64 bits count. "
                           "Fix: count one scan at a time",
                           (unsigned long long)r->uploads, (unsigned long long)r->readbacks);
    }
    if (r->digest != r->reference_digest) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the digest of the matches is 0x%016llx, and that of the reference "
                           "0x%016llx. Fix: look for the matches that differ",
                           (unsigned long long)r->digest, (unsigned long long)r->reference_digest);
    }
    return VYRE_OK;
}

vyre_result vyre_scan_check_evidence(const vyre_scan_evidence_request *request,
                                     vyre_scan_evidence *out_evidence, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!request || !out_evidence) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%s is NULL. Fix: give what was counted and where the evidence goes",
                           request ? "out_evidence" : "request");
    }
    *out_evidence = (vyre_scan_evidence){0};
    if (request->batch_count == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "batch_count is 0: no batch was scanned. Fix: give evidence of a scan "
                           "of at least one");
    }
    if (request->chunks_per_encoder == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "chunks_per_encoder is 0. Fix: say how many chunks one encoder takes, "
                           "at least 1");
    }
    uint64_t chunks = request->chunk_count, each = request->chunks_per_encoder;
    uint64_t segments = chunks / each + (chunks % each != 0);
    vyre_result result = check(request, segments, diag);
    if (result == VYRE_OK) {
        *out_evidence = (vyre_scan_evidence){
            .schema = VYRE_SCAN_EVIDENCE_SCHEMA,
            .segments = segments,
            .encoders = segments,
            .copies = request->uploads + request->readbacks,
            .reuse_bps = vy_mk_ratio(request->bind_groups_reused, segments, VY_MK_BPS),
            .digest = request->digest,
        };
    }
    return result;
}

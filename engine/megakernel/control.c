/* The control buffer: its size, its first words, and what it says after a drain. */
#include "engine/megakernel/words.h"

#define A_CONTROL_BUFFER "a control buffer"
#define MAX_SIZE         (4 * ((size_t)VYRE_CONTROL_OBSERVABLES + VYRE_MAX_OBSERVABLES))

static const vy_loc nowhere = {0, 0};

vyre_result vyre_control_query_size(uint32_t observable_count, size_t *out_size, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_size) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_size is NULL. Fix: pass where the size goes");
    }
    if (observable_count > VYRE_MAX_OBSERVABLES) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%u observables are more than the %u of a control buffer. Fix: ask for "
                           "fewer, and keep large results in buffers of their own",
                           (unsigned)observable_count, (unsigned)VYRE_MAX_OBSERVABLES);
    }
    *out_size = 4 * ((size_t)VYRE_CONTROL_OBSERVABLES + observable_count);
    return VYRE_OK;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static vyre_result check_encode(const vyre_control_params *params, const void *control, size_t size,
                                vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(control, size, 4, A_CONTROL_BUFFER, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (size < 4 * (size_t)VYRE_CONTROL_OBSERVABLES || size > MAX_SIZE) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%zu bytes are no control buffer, which has %u to %zu. Fix: pass as "
                           "many as vyre_control_query_size says",
                           size, 4 * (unsigned)VYRE_CONTROL_OBSERVABLES, MAX_SIZE);
    }
    if (params->tenant_count > VYRE_MAX_TENANTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%u tenants are more than the %u that there are masks for. Fix: let "
                           "some of them share a tenant",
                           (unsigned)params->tenant_count, (unsigned)VYRE_MAX_TENANTS);
    }
    if (params->slot_count > VYRE_MAX_SLOTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "%u slots are more than the %u of a ring. Fix: use several rings, each "
                           "with a control buffer",
                           (unsigned)params->slot_count, (unsigned)VYRE_MAX_SLOTS);
    }
    return VYRE_OK;
}

static void put_priority_offsets(void *control, uint32_t slot_count)
{
    uint32_t fifth = slot_count / VYRE_PRIORITY_COUNT;
    uint32_t at = 0;
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        vy_mk_put(control, (size_t)VYRE_CONTROL_PRIORITY_OFFSETS + p, at);
        at += p == VYRE_PRIORITY_NORMAL ? fifth + slot_count % VYRE_PRIORITY_COUNT : fifth;
    }
    vy_mk_put(control, (size_t)VYRE_CONTROL_PRIORITY_OFFSETS + VYRE_PRIORITY_COUNT, at);
}

vyre_result vyre_control_encode(const vyre_control_params *given, void *control, size_t size,
                                vyre_diag *diag)
{
    vyre_control_params params;
    vy_diag_clear(diag);
    vyre_result code = vy_params_read(vyre_control_params, &params, given, diag);
    if (code == VYRE_OK) {
        code = check_encode(&params, control, size, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    for (size_t word = 0; word < size / 4; word++) {
        vy_mk_put(control, word, 0);
    }
    vy_mk_put(control, VYRE_CONTROL_SHUTDOWN, params.shutdown != 0);
    vy_mk_put(control, VYRE_CONTROL_TENANT_BASE, VYRE_CONTROL_TENANT_MASKS);
    uint32_t tenant_count = params.tenant_count ? params.tenant_count : 1;
    for (uint32_t t = 0; t < tenant_count; t++) {
        vy_mk_put(control, (size_t)VYRE_CONTROL_TENANT_MASKS + t, VYRE_TENANT_ALLOWED);
        vy_mk_put(control, (size_t)VYRE_CONTROL_TENANT_QUOTAS + t, VYRE_TENANT_QUOTA);
    }
    put_priority_offsets(control, params.slot_count);
    return VYRE_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* INVALID_ARGUMENT unless the buffer has its first `words` words. */
static vyre_result check_words(const void *control, size_t size, size_t words, vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(control, size, 4, A_CONTROL_BUFFER, diag);
    if (code == VYRE_OK && size / 4 < words) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the control buffer has %zu words, and word %zu is asked for. Fix: read "
                           "all of it back from the device",
                           size / 4, words - 1);
    }
    return code;
}

vyre_result vyre_control_read(const void *control, size_t size, vyre_control_report *out_report,
                              vyre_diag *diag)
{
    vyre_result code = check_words(control, size, (size_t)VYRE_CONTROL_REQUEUE_COUNT + 1, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!out_report) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_report is NULL. Fix: pass where the report goes");
    }
    uint32_t fault = vy_mk_get(control, VYRE_CONTROL_FIRST_FAULT);
    *out_report = (vyre_control_report){
        .done_count = vy_mk_get(control, VYRE_CONTROL_DONE_COUNT),
        .denied_count = vy_mk_get(control, VYRE_CONTROL_DENIED_COUNT),
        .fault_count = vy_mk_get(control, VYRE_CONTROL_FAULT_COUNT),
        .unknown_count = vy_mk_get(control, VYRE_CONTROL_UNKNOWN_COUNT),
        .requeue_count = vy_mk_get(control, VYRE_CONTROL_REQUEUE_COUNT),
        .fault_slot = fault ? VYRE_MAX_SLOTS - 1 - (fault >> 8) : VYRE_DIAG_NONE,
        .fault_code = fault & 0xff,
        .epoch = vy_mk_get(control, VYRE_CONTROL_EPOCH),
        .cursor = vy_mk_get(control, VYRE_CONTROL_CURSOR),
        .shutdown = vy_mk_get(control, VYRE_CONTROL_SHUTDOWN) != 0,
    };
    return VYRE_OK;
}

vyre_result vyre_control_read_observable(const void *control, size_t size, uint32_t index,
                                         uint32_t *out_value, vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(control, size, 4, A_CONTROL_BUFFER, diag);
    if (code != VYRE_OK) {
        return code;
    }
    size_t words = size / 4;
    size_t count = words > VYRE_CONTROL_OBSERVABLES ? words - VYRE_CONTROL_OBSERVABLES : 0;
    if (index >= count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "observable %u is asked for, and the control buffer has %zu. Fix: make "
                           "it with more observables, or ask for one that it has",
                           (unsigned)index, count);
    }
    if (!out_value) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_value is NULL. Fix: pass where the value goes");
    }
    *out_value = vy_mk_get(control, (size_t)VYRE_CONTROL_OBSERVABLES + index);
    return VYRE_OK;
}

vyre_result vyre_control_read_metrics(const void *control, size_t size,
                                      vyre_opcode_count out_counts[VYRE_METRIC_COUNT],
                                      uint32_t *out_count, vyre_diag *diag)
{
    vyre_result code =
        check_words(control, size, (size_t)VYRE_CONTROL_METRICS + VYRE_METRIC_COUNT, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!out_counts || !out_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_counts or out_count is NULL. Fix: pass where they go");
    }
    uint32_t count = 0;
    for (uint32_t opcode = 0; opcode < VYRE_METRIC_COUNT; opcode++) {
        uint32_t ran = vy_mk_get(control, (size_t)VYRE_CONTROL_METRICS + opcode);
        if (ran) {
            out_counts[count++] = (vyre_opcode_count){opcode, ran};
        }
    }
    *out_count = count;
    return VYRE_OK;
}

uint32_t vyre_control_find(const void *control, size_t size, uint32_t word)
{
    return control && word < size / 4 ? vy_mk_get(control, word) : 0;
}

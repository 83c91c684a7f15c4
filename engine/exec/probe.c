/* What a driver really does, found by running kernels: whether long loops are right, whether f32
 * denormals are kept, whether the device's own division and square root are exact, whether f64 is
 * what the language says where the driver does not promise it. The answers are kept in
 * device->cache_dir, so that the next opening asks nothing. */
#include "engine/device/allow_list.h"
#include "engine/device/kept.h"
#include "engine/exec/exact.h"
#include "engine/exec/trial.h"
#include "engine/kernels/kernels.h"

#include <string.h>

/* Words of the probe's buffer: engine/kernels/probe.vyre. */
enum { TRIPS, NORMAL, HALF, DENORMAL, MIXED, PRODUCT, SUM, WORD_COUNT = 8 };

/* llvmpipe before Mesa 25 ends every loop after 65,535 trips. */
#define PROBE_TRIPS 70000u

/* Invocations of engine/kernels/lanes.vyre. */
#define LANE_WORDS 128u

typedef struct answers {
    vyre_answer long_loops, denormals, native_divide, native_sqrt, lane_order, doubles;
} answers;

static vyre_result refuse(vyre_device *device, vyre_diag *diag)
{
    const vyre_device_info *info = &device->snapshot.info;
    if (device->snapshot.is_llvmpipe) {
        return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                           "the device \"%s\" (%s) ends every loop after 65,535 trips, so results "
                           "would be wrong. Fix: use Mesa 25.0.7 or newer: tools/setup.sh unpacks "
                           "one under build/deps, which VK_DRIVER_FILES then names",
                           info->name, info->driver);
    }
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                       "the device \"%s\" (%s) gives a wrong result for a loop of %u trips. Fix: "
                       "update its driver, or name another device",
                       info->name, info->driver, PROBE_TRIPS);
}

/* With the modes that the device's kernels declare. */
static const uint32_t *probe_words(uint32_t float_modes, uint32_t *out_count)
{
    static const uint32_t *(*const rows[8])(uint32_t *) = {
        vy_kernel_probe_0, vy_kernel_probe_1, vy_kernel_probe_2, vy_kernel_probe_3,
        vy_kernel_probe_4, vy_kernel_probe_5, vy_kernel_probe_6, vy_kernel_probe_7};
    return rows[float_modes & 7](out_count);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Whether lanes are consecutive invocations, at the width that pipelines get. */
static vyre_result ask_lanes(vyre_device *device, vyre_answer *out, vyre_diag *diag)
{
    const vy_snapshot *s = &device->snapshot;
    uint32_t words[LANE_WORDS] = {0}, size = s->info.subgroup_size;
    *out = VYRE_ANSWER_NO;
    if (!vy_snapshot_has(s, "VK_SUBGROUP_FEATURE_BASIC_BIT") || size == 0) {
        return VYRE_OK;
    }
    vy_trial trial = {.label = "vyre lanes",
                      .workgroup = LANE_WORDS,
                      .groups = 1,
                      .subgroup_size = vy_snapshot_can_pin(s, size) ? size : 0};
    trial.module = vy_kernel_lanes(&trial.module_word_count);
    vyre_result code = vy_trial_run(device, &trial, words, LANE_WORDS, diag);
    bool is_ordered = code == VYRE_OK;
    for (uint32_t i = 0; i < LANE_WORDS && is_ordered; i++) {
        is_ordered = words[i] == (i % size | size << 16);
    }
    *out = is_ordered ? VYRE_ANSWER_YES : VYRE_ANSWER_NO;
    return code;
}

/* Whether there is a question: a driver's promise is one answer, and without f64 there is none. */
static bool is_open(const vy_snapshot *s)
{
    return s->has[VY_FEATURE_shaderFloat64] && s->has[VY_FEATURE_shaderInt64] &&
           s->info.doubles == VYRE_ANSWER_UNKNOWN;
}

/* Places and values: engine/kernels/doubles.vyre. */
static vyre_result ask_doubles(vyre_device *device, vyre_answer *out, vyre_diag *diag)
{
    static const uint32_t *(*const rows[8])(uint32_t *) = {
        vy_kernel_doubles_0, vy_kernel_doubles_1, vy_kernel_doubles_2, vy_kernel_doubles_3,
        vy_kernel_doubles_4, vy_kernel_doubles_5, vy_kernel_doubles_6, vy_kernel_doubles_7};
    static const uint32_t given[10] = {0, 0x00100000u, 0,           0x3fe00000u, 1,
                                       0, 0,           0x3ff00000u, 0,           0x3ca80000u};
    static const uint32_t wanted[11] = {0, 0x00080000u, 2, 0, 1, 0x3ff00000u,
                                        1, 0xbff00000u, 1, 0, 1};
    uint32_t words[21] = {0};
    vy_trial trial = {.label = "vyre doubles", .workgroup = 1, .groups = 1};
    trial.module = rows[device->snapshot.info.float_modes >> 3 & 7](&trial.module_word_count);
    memcpy(words, given, sizeof given);
    vyre_result code = vy_trial_run(device, &trial, words, VY_COUNT_OF(words), diag);
    bool is_kept = code == VYRE_OK && memcmp(words + 10, wanted, sizeof wanted) == 0;
    *out = is_kept ? VYRE_ANSWER_YES : VYRE_ANSWER_NO;
    return code;
}

static vyre_result ask(vyre_device *device, answers *out, vyre_diag *diag)
{
    uint32_t mixed = 1;
    uint32_t words[WORD_COUNT] = {
        [TRIPS] = PROBE_TRIPS, [NORMAL] = 0x00800000u, [HALF] = 0x3f000000u, [DENORMAL] = 1u};
    vy_trial trial = {.label = "vyre probe", .workgroup = 1, .groups = 1};
    trial.module = probe_words(device->snapshot.info.float_modes, &trial.module_word_count);
    vyre_result code = vy_trial_run(device, &trial, words, WORD_COUNT, diag);
    if (code != VYRE_OK) {
        return code;
    }
    for (uint32_t i = 0; i < PROBE_TRIPS; i++) {
        mixed = mixed * 1664525u + (i ^ mixed >> 7);
    }
    out->long_loops = words[MIXED] == mixed ? VYRE_ANSWER_YES : VYRE_ANSWER_NO;
    out->denormals =
        words[PRODUCT] == 0x00400000u && words[SUM] == 2u ? VYRE_ANSWER_YES : VYRE_ANSWER_NO;
    if (out->long_loops == VYRE_ANSWER_NO) {
        return VYRE_OK; /* refused, whatever else there is */
    }
    code = ask_lanes(device, &out->lane_order, diag);
    if (code == VYRE_OK) {
        code = vy_exact_probe(device, out->denormals, &out->native_divide, &out->native_sqrt, diag);
    }
    return code == VYRE_OK && is_open(&device->snapshot) ? ask_doubles(device, &out->doubles, diag)
                                                         : code;
}

/* ---- Answers on disk ------------------------------------------------------------------------- */

#define ANSWER_COUNT 6u

static bool is_answered(uint32_t word)
{
    return word == VYRE_ANSWER_NO || word == VYRE_ANSWER_YES;
}

/* A refusal is never kept: whoever mends the driver need not know of the folder. */
static bool read_answers(vyre_device *device, answers *out)
{
    size_t size = 0, payload_size = 0;
    void *blob = vy_kept_read(device, VY_KEPT_ANSWERS, &size);
    const unsigned char *payload =
        vy_kept_open(&device->snapshot, VY_KEPT_ANSWERS, blob, size, &payload_size);
    bool is_whole = payload && payload_size == ANSWER_COUNT;
    for (uint32_t i = 0; is_whole && i < ANSWER_COUNT - 1; i++) {
        is_whole = is_answered(payload[i]);
    }
    /* Another host may have enabled less, so that nobody asked about f64. */
    is_whole = is_whole && payload[5] <= VYRE_ANSWER_YES &&
               (is_answered(payload[5]) || !is_open(&device->snapshot));
    if (is_whole) {
        *out = (answers){(vyre_answer)payload[0], (vyre_answer)payload[1], (vyre_answer)payload[2],
                         (vyre_answer)payload[3], (vyre_answer)payload[4], (vyre_answer)payload[5]};
    }
    vy_free(&device->allocator, blob, size);
    vy_exact known = vy_allow_list_find(&device->snapshot); /* lists shrink */
    out->native_divide = known.divide ? out->native_divide : VYRE_ANSWER_NO;
    out->native_sqrt = known.sqrt ? out->native_sqrt : VYRE_ANSWER_NO;
    return is_whole && out->long_loops == VYRE_ANSWER_YES;
}

static void write_answers(vyre_device *device, const answers *a)
{
    unsigned char blob[VY_KEPT_HEADER + ANSWER_COUNT];
    unsigned char *payload = blob + VY_KEPT_HEADER;
    payload[0] = (unsigned char)a->long_loops;
    payload[1] = (unsigned char)a->denormals;
    payload[2] = (unsigned char)a->native_divide;
    payload[3] = (unsigned char)a->native_sqrt;
    payload[4] = (unsigned char)a->lane_order;
    payload[5] = (unsigned char)a->doubles;
    if (a->long_loops == VYRE_ANSWER_YES && is_answered(payload[2]) && is_answered(payload[3])) {
        vy_kept_seal(&device->snapshot, VY_KEPT_ANSWERS, blob, ANSWER_COUNT);
        vy_kept_write(device, VY_KEPT_ANSWERS, blob, sizeof blob);
    }
}

vyre_result vyre_device_probe(vyre_device *device, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device) {
        return vy_invalid(diag, "no device was given. Fix: pass a device");
    }
    answers found = {0};
    if (!read_answers(device, &found)) {
        vyre_result code = ask(device, &found, diag);
        if (code != VYRE_OK) {
            return code;
        }
        write_answers(device, &found);
    }
    vyre_device_info *info = &device->snapshot.info;
    vy_mutex_lock(&device->counter_mutex); /* pipelines look at them */
    info->long_loops = found.long_loops;
    info->denormals = found.denormals;
    info->native_divide = found.native_divide;
    info->native_sqrt = found.native_sqrt;
    info->lane_order = found.lane_order;
    info->doubles = is_open(&device->snapshot) ? found.doubles : info->doubles;
    vy_mutex_unlock(&device->counter_mutex);
    return found.long_loops == VYRE_ANSWER_NO ? refuse(device, diag) : VYRE_OK;
}

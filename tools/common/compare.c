/* Two results of one run, compared: a device's with the interpreter's. */
#include "tools/common/run.h"

#include "tools/common/value.h"

#include <math.h>
#include <string.h>

/* Differences printed of each buffer. */
#define SHOWN 3u

/* What fast_math may do to one operation: Vulkan's widest bound for an f32 operator is 2.5 ULP, and
 * contraction and reordering add to it. */
#define FAST_MATH_ULP 16.0

/* ---- Tolerance ------------------------------------------------------------------------------- */

vy_tolerance_used vy_run_tolerance(const vyre_program *program, double ulp)
{
    vy_tolerance_used used = {0};
    if (program->fast_math) {
        used = (vy_tolerance_used){.inexact = true, .ulp = FAST_MATH_ULP, .because = "fast_math"};
    }
    for (uint32_t i = 1; i < program->exprs.count; i++) {
        vyre_op op = (vyre_op)program->exprs.data[i].op;
        const vy_tolerance *row = vy_tolerance_find(op);
        if (!row) {
            continue;
        }
        if (!used.inexact || row->ulp > used.ulp) {
            used.because = vy_op_get(op)->text;
        }
        used.inexact = true;
        used.ulp = row->ulp > used.ulp ? row->ulp : used.ulp;
        used.absolute = row->absolute > used.absolute ? row->absolute : used.absolute;
    }
    if (ulp >= 0) {
        used.ulp = ulp;
    }
    return used;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

static double widen(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Floats in their order as integers: neighbours are 1 apart, both zeros the same. */
static int64_t place_of(uint32_t bits)
{
    int64_t magnitude = bits & 0x7fffffffu;
    return bits >> 31 ? -magnitude : magnitude;
}

bool vy_element_matches(vyre_type type, uint32_t a, uint32_t b, const vy_tolerance_used *tolerance)
{
    if (type == VYRE_TYPE_BOOL) {
        return (a != 0) == (b != 0);
    }
    if (a == b || type != VYRE_TYPE_F32) {
        return a == b;
    }
    if (is_nan(a) || is_nan(b)) {
        return is_nan(a) && is_nan(b);
    }
    if (!tolerance->inexact) {
        return false;
    }
    int64_t distance = place_of(a) - place_of(b);
    if (fabs((double)distance) <= tolerance->ulp) {
        return true;
    }
    return tolerance->absolute > 0 && fabs(widen(a) - widen(b)) <= tolerance->absolute;
}

/* ---- Results --------------------------------------------------------------------------------- */

static uint64_t compare_buffer(const vy_run_buffer *buffer, const uint32_t *device,
                               const uint32_t *reference, const vy_tolerance_used *tolerance,
                               FILE *out)
{
    uint64_t different = 0;
    for (uint32_t i = 0; i < buffer->count; i++) {
        if (vy_element_matches(buffer->type, device[i], reference[i], tolerance)) {
            continue;
        }
        if (different++ < SHOWN) {
            char left[VY_VALUE_TEXT_SIZE], right[VY_VALUE_TEXT_SIZE];
            vy_value_format(buffer->type, device[i], left);
            vy_value_format(buffer->type, reference[i], right);
            fprintf(out, "%s[%u]: device %s (0x%08x), interpreter %s (0x%08x)\n", buffer->name, i,
                    left, device[i], right, reference[i]);
        }
    }
    if (different > SHOWN) {
        fprintf(out, "%s: %llu of %u elements differ\n", buffer->name,
                (unsigned long long)different, buffer->count);
    }
    return different;
}

const char *vy_convergence_text(vyre_convergence convergence)
{
    return convergence == VYRE_CONVERGENCE_YES     ? "yes"
           : convergence == VYRE_CONVERGENCE_LIMIT ? "no"
                                                   : "not a fixpoint";
}

static void describe_record(const vyre_fault_record *record, char *out, size_t size)
{
    if (record->kind == VYRE_RECORD_NONE) {
        snprintf(out, size, "none");
    } else if (record->kind == VYRE_RECORD_TRAP) {
        snprintf(out, size, "trap %u at %u:%u in pass %u, segment %u, invocation %u", record->code,
                 record->line, record->column, record->pass, record->segment, record->invocation);
    } else {
        snprintf(out, size, "loop limit at %u:%u in pass %u, segment %u, invocation %u",
                 record->line, record->column, record->pass, record->segment, record->invocation);
    }
}

static bool same_record(const vyre_fault_record *a, const vyre_fault_record *b)
{
    if (a->kind == VYRE_RECORD_NONE || b->kind == VYRE_RECORD_NONE) {
        return a->kind == b->kind;
    }
    return a->kind == b->kind && a->code == b->code && a->line == b->line &&
           a->column == b->column && a->pass == b->pass && a->segment == b->segment &&
           a->invocation == b->invocation;
}

uint64_t vy_run_compare(const vy_run_data *data, const vy_run_result *device,
                        const vy_run_result *reference, const vy_tolerance_used *tolerance,
                        FILE *out)
{
    uint64_t different = 0;
    for (uint32_t i = 0; i < data->buffer_count; i++) {
        if (device->out[i] && reference->out[i]) {
            different += compare_buffer(&data->buffers[i], device->out[i], reference->out[i],
                                        tolerance, out);
        }
    }
    if (device->passes != reference->passes) {
        fprintf(out, "passes: device %u, interpreter %u\n", device->passes, reference->passes);
        different++;
    }
    if (device->is_grid_clamped != reference->is_grid_clamped) {
        fprintf(out, "grid clamped: device %s, interpreter %s\n",
                device->is_grid_clamped ? "yes" : "no", reference->is_grid_clamped ? "yes" : "no");
        different++;
    }
    if (device->convergence != reference->convergence) {
        fprintf(out, "converged: device %s, interpreter %s\n",
                vy_convergence_text(device->convergence),
                vy_convergence_text(reference->convergence));
        different++;
    }
    if (!same_record(&device->record, &reference->record)) {
        char left[160], right[160];
        describe_record(&device->record, left, sizeof left);
        describe_record(&reference->record, right, sizeof right);
        fprintf(out, "record: device %s; interpreter %s\n", left, right);
        different++;
    }
    return different;
}

void vy_record_print(FILE *out, const char *file, const vyre_fault_record *record)
{
    if (record->kind == VYRE_RECORD_NONE) {
        return;
    }
    fprintf(out, "%s:%u:%u: ", file, record->line, record->column);
    if (record->kind == VYRE_RECORD_TRAP) {
        fprintf(out, "trap %u", record->code);
    } else {
        fprintf(out, "a while loop ended at the program's loop_limit");
    }
    fprintf(out, ", first in pass %u, segment %u, invocation %u\n", record->pass, record->segment,
            record->invocation);
}

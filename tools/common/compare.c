/* Two results of one run, compared: a device's with the interpreter's. */
#include "tools/common/run.h"

#include "tools/common/value.h"

#include <math.h>
#include <string.h>

/* Differences printed of each buffer. */
#define SHOWN 3u

/* What fast_math may do to one operation: Vulkan's widest bound for an f32 operator is 2.5 ULP, and
 * contraction and reordering add to it; denormals may be flushed. */
#define FAST_MATH_ULP      16.0
#define FAST_MATH_ABSOLUTE 0x1p-126

/* Sums of floats in another order: as many roundings as terms, which mostly cancel out. */
#define ORDER_ULP 64.0

/* ULP of an f64 in one of an f32. */
#define F64_ULP 0x1p29

/* ---- Tolerance ------------------------------------------------------------------------------- */

static void widen_tolerance(vy_tolerance_used *used, double ulp, double absolute, const char *why)
{
    if (!used->inexact || ulp > used->ulp) {
        used->because = why;
    }
    used->inexact = true;
    used->ulp = ulp > used->ulp ? ulp : used->ulp;
    used->absolute = absolute > used->absolute ? absolute : used->absolute;
}

/* The operation, where it adds or multiplies floats in an order that is the device's; else NULL. */
static const char *order_of(const vyre_program *program, const vy_stmt *stmt)
{
    if (stmt->kind == VY_STMT_ATOMIC) {
        bool adds = stmt->atomic == VYRE_ATOMIC_ADD || stmt->atomic == VYRE_ATOMIC_SUB;
        vyre_type type = (vyre_type)program->buffers.data[stmt->ref].type;
        return adds && vy_type_is_float(type) ? vy_atomic_text((vyre_atomic)stmt->atomic) : NULL;
    }
    if (stmt->kind != VY_STMT_SUBGROUP) {
        return NULL;
    }
    const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)stmt->subgroup);
    bool is_float = vy_type_is_float((vyre_type)program->exprs.data[stmt->x.root].type);
    return is_float && (info->op == VYRE_OP_ADD || info->op == VYRE_OP_MUL) ? info->text : NULL;
}

vy_tolerance_used vy_run_tolerance(const vyre_program *program, double ulp)
{
    vy_tolerance_used used = {0};
    if (program->fast_math) {
        widen_tolerance(&used, FAST_MATH_ULP, FAST_MATH_ABSOLUTE, "fast_math");
    }
    for (uint32_t i = 1; i < program->exprs.count; i++) {
        vyre_op op = (vyre_op)program->exprs.data[i].op;
        const vy_tolerance *row = vy_tolerance_find(op);
        if (row) {
            widen_tolerance(&used, row->ulp, row->absolute, vy_op_get(op)->text);
        }
    }
    for (uint32_t i = 1; i < program->stmts.count; i++) {
        const char *order = order_of(program, &program->stmts.data[i]);
        if (order) {
            widen_tolerance(&used, ORDER_ULP, 0, order);
        }
    }
    if (ulp >= 0) {
        used.ulp = ulp;
        used.is_stated = true;
    }
    return used;
}

static uint64_t sign_of(vyre_type type)
{
    return (uint64_t)1 << (vy_type_width(type) - 1);
}

/* How many floats apart: neighbours 1, both zeros none. */
static double distance(vyre_type type, uint64_t a, uint64_t b)
{
    uint64_t sign = sign_of(type), left = a & (sign - 1), right = b & (sign - 1);
    if ((a ^ b) & sign) {
        return (double)(left + right);
    }
    return (double)(left > right ? left - right : right - left);
}

/* The neighbour of `a` on the way to `b`, which is another float. */
static uint64_t step(vyre_type type, uint64_t a, uint64_t b)
{
    uint64_t sign = sign_of(type);
    if ((a & (sign - 1)) == 0) {
        return (b & sign) | 1;
    }
    bool is_away = !((a ^ b) & sign) && (b & (sign - 1)) > (a & (sign - 1));
    return is_away ? a + 1 : a - 1;
}

static bool scalar_matches(vyre_type type, uint64_t a, uint64_t b,
                           const vy_tolerance_used *tolerance)
{
    if (a == b || !vy_type_is_float(type)) {
        return a == b;
    }
    if (vy_scalar_is_nan(type, a) || vy_scalar_is_nan(type, b)) {
        return vy_scalar_is_nan(type, a) && vy_scalar_is_nan(type, b);
    }
    if (!tolerance->inexact) {
        return false;
    }
    double ulp = tolerance->ulp;
    if (!tolerance->is_stated && type == VYRE_TYPE_F64) {
        ulp *= F64_ULP;
    } else if (!tolerance->is_stated && type != VYRE_TYPE_F32) {
        /* Rounding may have parted what was close enough. */
        a = step(type, a, b);
    }
    if (distance(type, a, b) <= ulp) {
        return true;
    }
    double apart = fabs(vy_scalar_widen(type, a) - vy_scalar_widen(type, b));
    return tolerance->absolute > 0 && apart <= tolerance->absolute;
}

bool vy_element_matches(vyre_type type, const void *a, const void *b, size_t index,
                        const vy_tolerance_used *tolerance)
{
    vy_value left = vy_value_load(type, a, index), right = vy_value_load(type, b, index);
    bool matches = true;
    for (uint32_t c = 0; c < vy_type_components(type); c++) {
        matches = matches &&
                  scalar_matches(vy_type_component(type), left.bits[c], right.bits[c], tolerance);
    }
    return matches;
}

/* ---- Results --------------------------------------------------------------------------------- */

void vy_element_describe(vyre_type type, const void *elements, size_t index, char *out, size_t size)
{
    vy_value value = vy_value_load(type, elements, index);
    char text[VY_VALUE_TEXT_SIZE];
    vy_value_format(type, &value, text);
    size_t length = (size_t)snprintf(out, size, "%s (", text);
    for (uint32_t c = 0; c < vy_type_components(type) && length < size; c++) {
        length += (size_t)snprintf(out + length, size - length, "%s0x%0*llx", c ? ":" : "",
                                   type == VYRE_TYPE_BOOL ? 1 : (int)vy_type_width(type) / 4,
                                   (unsigned long long)value.bits[c]);
    }
    if (length < size) {
        snprintf(out + length, size - length, ")");
    }
}

static uint64_t compare_buffer(const vy_run_buffer *buffer, const void *device,
                               const void *reference, const vy_tolerance_used *tolerance, FILE *out)
{
    uint64_t different = 0;
    for (uint32_t i = 0; i < buffer->count; i++) {
        if (vy_element_matches(buffer->type, device, reference, i, tolerance)) {
            continue;
        }
        if (different++ < SHOWN) {
            char left[2 * VY_VALUE_TEXT_SIZE], right[2 * VY_VALUE_TEXT_SIZE];
            vy_element_describe(buffer->type, device, i, left, sizeof left);
            vy_element_describe(buffer->type, reference, i, right, sizeof right);
            fprintf(out, "%s[%u]: device %s, interpreter %s\n", buffer->name, i, left, right);
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

const char *vy_record_outside_text(const vyre_fault_record *record)
{
    return record->kind == VYRE_RECORD_LOAD_OUTSIDE    ? "load out of bounds"
           : record->kind == VYRE_RECORD_STORE_OUTSIDE ? "store out of bounds"
                                                       : "atomic out of bounds";
}

void vy_record_describe(const vyre_fault_record *record, char *out, size_t size)
{
    if (record->kind == VYRE_RECORD_NONE) {
        snprintf(out, size, "none");
    } else if (record->kind == VYRE_RECORD_TRAP) {
        snprintf(out, size, "trap %u at %u:%u in pass %u, segment %u, invocation %u", record->code,
                 record->line, record->column, record->pass, record->segment, record->invocation);
    } else {
        const char *kind =
            record->kind == VYRE_RECORD_LOOP_LIMIT ? "loop limit" : vy_record_outside_text(record);
        snprintf(out, size, "%s at %u:%u in pass %u, segment %u, invocation %u", kind, record->line,
                 record->column, record->pass, record->segment, record->invocation);
    }
}

bool vy_record_matches(const vyre_fault_record *a, const vyre_fault_record *b)
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
    if (!vy_record_matches(&device->record, &reference->record)) {
        char left[160], right[160];
        vy_record_describe(&device->record, left, sizeof left);
        vy_record_describe(&reference->record, right, sizeof right);
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
    } else if (record->kind != VYRE_RECORD_LOOP_LIMIT) {
        fprintf(out, "%s", vy_record_outside_text(record));
    } else {
        fprintf(out, "a while loop ended at the program's loop_limit");
    }
    fprintf(out, ", first in pass %u, segment %u, invocation %u\n", record->pass, record->segment,
            record->invocation);
}

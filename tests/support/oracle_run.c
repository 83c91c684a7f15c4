/* Cases through the library's public interface; see oracle_run.h. */
#include "tests/support/oracle_run.h"

#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BINDINGS     16u
#define MAX_PROGRAM_SIZE 65536u

static bool complain(const char *step, const vyre_diag *diag)
{
    fprintf(stderr, "%s: %s: %s:%u:%u: %s\n", step, vyre_result_name(diag->code), diag->file,
            diag->line, diag->column, diag->message);
    return false;
}

static bool parse(const char *folder, const char *name, vyre_program **out_program)
{
    char path[512], *text = malloc(MAX_PROGRAM_SIZE);
    vyre_diag diag;
    bool ok = false;
    snprintf(path, sizeof path, "%s/%s/%s.vyre", VYRE_SOURCE_DIR, folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
    } else {
        size_t size = fread(text, 1, MAX_PROGRAM_SIZE, file);
        ok = vyre_program_parse(text, size, path, NULL, out_program, &diag) == VYRE_OK ||
             complain("parse", &diag);
    }
    if (file) {
        fclose(file);
    }
    free(text);
    return ok;
}

bool vy_prepare(vyre_device *device, vy_subject subject, vy_prepared *out_prepared)
{
    vyre_kernel_params params;
    vyre_diag diag;
    memset(out_prepared, 0, sizeof *out_prepared);
    memset(&params, 0, sizeof params);
    params.struct_size = (uint32_t)sizeof params;
    if (!parse(vy_subject_folder(subject), vy_subject_name(subject), &out_prepared->program)) {
        return false;
    }
    if (device) {
        vyre_device_get_info(device, &out_prepared->info);
        vyre_device_kernel_params(device, &params);
    }
    if (vyre_kernel_compile(out_prepared->program, &params, &out_prepared->kernel, &diag)) {
        return complain("compile", &diag);
    }
    if (device &&
        vyre_pipeline_create(device, out_prepared->kernel, NULL, &out_prepared->pipeline, &diag)) {
        return complain("pipeline", &diag);
    }
    return true;
}

void vy_prepared_finish(vy_prepared *prepared)
{
    vyre_pipeline_destroy(&prepared->pipeline);
    vyre_kernel_destroy(&prepared->kernel);
    vyre_program_destroy(&prepared->program);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

uint32_t vy_first_difference(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && a[i] == b[i]) {
        i++;
    }
    return i;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The element that differs first by more than its slack, or count. */
static uint32_t first_too_far(const vy_slot *slot, const uint32_t *got)
{
    uint32_t i = 0;
    while (i < slot->count) {
        float distance = float_of(slot->expected[i]) - float_of(got[i]);
        if (!(distance <= slot->slack[i] && distance >= -slot->slack[i])) { /* NaN too */
            break;
        }
        i++;
    }
    return i;
}

static bool compare_slot(const vy_case *c, const char *way, const vy_slot *slot,
                         const uint32_t *got)
{
    uint32_t at = slot->slack ? first_too_far(slot, got)
                              : vy_first_difference(slot->expected, got, slot->count);
    if (at == slot->count) {
        return true;
    }
    fprintf(stderr, "%s %s %u: %s[%u]: oracle 0x%08x, %s 0x%08x\n", vy_subject_name(c->subject),
            vy_variant_name(c->variant), c->size, slot->name, at, slot->expected[at], way, got[at]);
    return false;
}

static bool compare_run(vy_case *c, const char *way, uint32_t passes, vyre_convergence convergence,
                        const vyre_fault_record *record)
{
    c->passes_run = passes;
    bool ok = convergence == c->convergence && record->kind == VYRE_RECORD_NONE &&
              (!c->passes_expected || passes == c->passes_expected);
    if (!ok) {
        fprintf(stderr,
                "%s %s %u: %s: %u passes (expected %u), convergence %d (expected %d), record %d of "
                "line %u\n",
                vy_subject_name(c->subject), vy_variant_name(c->variant), c->size, way, passes,
                c->passes_expected, (int)convergence, (int)c->convergence, (int)record->kind,
                record->line);
    }
    return ok;
}

/* ---- The interpreter ------------------------------------------------------------------------- */

static bool run_interpreter(const vy_prepared *prepared, vy_case *c, uint32_t *const *outs)
{
    vyre_host_buffer buffers[MAX_BINDINGS];
    uint32_t count = vyre_kernel_binding_count(prepared->kernel);
    vyre_interp_report report;
    vyre_diag diag;
    for (uint32_t b = 0; b < MAX_BINDINGS; b++) {
        buffers[b] = (vyre_host_buffer){NULL, UINT32_MAX};
    }
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const vy_slot *slot = &c->slots[i];
        int32_t binding = vyre_kernel_find_binding(prepared->kernel, slot->name);
        if (binding < 0 || (uint32_t)binding >= MAX_BINDINGS) {
            fprintf(stderr, "%s has no buffer %s\n", vy_subject_name(c->subject), slot->name);
            return false;
        }
        if (outs[i] && slot->in) {
            memcpy(outs[i], slot->in, (size_t)slot->count * sizeof *slot->in);
        }
        buffers[binding] = (vyre_host_buffer){outs[i] ? outs[i] : slot->in, slot->count};
    }
    vyre_interp_params params = {.struct_size = sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = count,
                                 .params = c->params,
                                 .param_count = c->param_count,
                                 .passes = c->passes,
                                 .flush_denormals = prepared->info.denormals == VYRE_ANSWER_NO,
                                 .detect_races = 1};
    if (vyre_interp_run(prepared->program, &params, &report, &diag)) {
        return complain("interpreter", &diag);
    }
    if (report.race_count) {
        fprintf(stderr, "%s %s %u: %llu elements with a race\n", vy_subject_name(c->subject),
                vy_variant_name(c->variant), c->size, (unsigned long long)report.race_count);
        return complain("race", &report.first_race);
    }
    bool ok = compare_run(c, "interpreter", report.passes, report.convergence, &report.record);
    c->passes_expected = report.passes; /* the device runs as many */
    return ok;
}

/* ---- The device ------------------------------------------------------------------------------ */

static bool check_folded(const vy_prepared *prepared, const vy_case *c, const vyre_report *report)
{
    uint32_t groups =
        c->workgroup ? c->grid_elements / c->workgroup + (c->grid_elements % c->workgroup != 0) : 1;
    bool is_folded = groups > prepared->info.max_groups[0];
    if (is_folded != (report->is_folded != 0)) {
        fprintf(stderr, "%s %s %u: %u workgroups, and the report says%s folded\n",
                vy_subject_name(c->subject), vy_variant_name(c->variant), c->size, groups,
                report->is_folded ? "" : " not");
        return false;
    }
    return true;
}

static bool run_device(const vy_prepared *prepared, vy_case *c, uint32_t *const *outs)
{
    vyre_binding bindings[MAX_BINDINGS];
    vyre_dispatch_params params;
    vyre_report report;
    vyre_diag diag;
    memset(bindings, 0, sizeof bindings);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const vy_slot *slot = &c->slots[i];
        int32_t b = vyre_kernel_find_binding(prepared->kernel, slot->name);
        if (b < 0 || (uint32_t)b >= MAX_BINDINGS) {
            fprintf(stderr, "%s has no buffer %s\n", vy_subject_name(c->subject), slot->name);
            return false;
        }
        bindings[b] = (vyre_binding){
            .kind = VYRE_BINDING_HOST, .count = slot->count, .in = slot->in, .out = outs[i]};
    }
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = vyre_kernel_binding_count(prepared->kernel);
    params.params = c->params;
    params.param_count = c->param_count;
    params.passes = c->passes;
    if (vyre_dispatch(prepared->pipeline, &params, &report, &diag)) {
        return complain("dispatch", &diag);
    }
    return compare_run(c, "device", report.passes, report.convergence, &report.record) &&
           check_folded(prepared, c, &report);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static bool run_way(const vy_prepared *prepared, vy_case *c, uint32_t way)
{
    uint32_t *outs[VY_CASE_MAX_SLOTS] = {NULL};
    const char *name = way == VY_RUN_DEVICE ? "device" : "interpreter";
    bool ok = true;
    for (uint32_t i = 0; i < c->slot_count && ok; i++) {
        vy_slot *slot = &c->slots[i];
        size_t size = ((size_t)slot->count + 1) * sizeof *outs[i];
        if (slot->expected && way == VY_RUN_DEVICE && slot->out) {
            outs[i] = slot->out;
        } else if (slot->expected) {
            outs[i] = malloc(size);
            ok = outs[i] != NULL;
        }
        if (outs[i]) {
            memset(outs[i], 0xa5, size); /* no result: what is not written shows */
        }
    }
    ok = ok && (way == VY_RUN_DEVICE ? run_device : run_interpreter)(prepared, c, outs);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        ok = ok && (!outs[i] || compare_slot(c, name, &c->slots[i], outs[i]));
        if (outs[i] != c->slots[i].out) {
            free(outs[i]);
        }
    }
    return ok;
}

static double seconds_now(void)
{
    return (double)vyre_clock_ns() * 1e-9;
}

bool vy_case_run(const vy_prepared *prepared, vy_case *c, uint32_t ways)
{
    double start = seconds_now();
    bool ok = !(ways & VY_RUN_INTERPRETER) || run_way(prepared, c, VY_RUN_INTERPRETER);
    ok = ok && (!(ways & VY_RUN_DEVICE) || run_way(prepared, c, VY_RUN_DEVICE));
    double seconds = seconds_now() - start;
    if (seconds > 1.0) {
        printf("%s %s %u: %.1f s, %u passes\n", vy_subject_name(c->subject),
               vy_variant_name(c->variant), c->size, seconds, c->passes_run);
        fflush(stdout);
    }
    return ok;
}

bool vy_check(const vy_prepared *prepared, vy_subject subject, vy_variant variant, uint32_t size,
              uint32_t ways)
{
    vy_case c;
    bool ok = vy_case_init(&c, subject, variant, size, size + 1u);
    if (!ok) {
        fprintf(stderr, "out of memory\n");
    }
    ok = ok && vy_case_run(prepared, &c, ways);
    vy_case_finish(&c);
    return ok;
}

/* What a dispatch left behind, read from memory that was copied back. */
#include "engine/exec/instance.h"
#include "engine/exec/own_kernels.h"

#include <string.h>

static const unsigned char *readback(const vy_instance *instance, uint64_t offset)
{
    return (const unsigned char *)instance->readback.mapped + offset;
}

static uint32_t word_at(const unsigned char *bytes, uint32_t index)
{
    uint32_t word;
    memcpy(&word, bytes + (size_t)index * sizeof word, sizeof word);
    return word;
}

void vy_report_records(const vyre_pipeline *pipeline, const vy_instance *instance,
                       vyre_fault_record *out_record)
{
    *out_record = (vyre_fault_record){.kind = VYRE_RECORD_NONE};
    if (!instance->records.buffer) {
        return;
    }
    const unsigned char *words = readback(instance, instance->moves.records_offset);
    uint32_t pass = word_at(words, VY_RECORD_PASS), execution = word_at(words, VY_RECORD_EXECUTION);
    uint32_t best = 0, best_site = 0;
    for (uint32_t s = 0; s < vy_kernel_site_count(pipeline->kernel); s++) {
        uint32_t inverse = word_at(words, VY_RECORD_SITES + s);
        if (inverse > best) {
            best = inverse;
            best_site = s;
        }
    }
    if (pass == 0 || execution == 0 || best == 0 || execution > instance->execution_count) {
        return;
    }
    const vy_kernel_site *site = vy_kernel_get_site(pipeline->kernel, best_site);
    *out_record = (vyre_fault_record){.kind = site->kind,
                                      .code = site->code,
                                      .line = site->line,
                                      .column = site->column,
                                      .pass = pass - 1,
                                      .segment = instance->executions[execution - 1].segment,
                                      .invocation = ~best};
}

void vy_report_state(const vy_instance *instance, uint32_t lane, uint32_t *out_words)
{
    memcpy(out_words, readback(instance, vy_instance_state_readback(lane)),
           VY_STATE_WORDS * sizeof *out_words);
}

void vy_report_grid(const vyre_pipeline *pipeline, const uint32_t *state, vyre_report *report)
{
    if (pipeline->grid_from < 0) {
        return;
    }
    const uint32_t *groups = &state[VY_STATE_GROUPS];
    const uint32_t *most = pipeline->device->snapshot.info.max_groups;
    bool is_empty = groups[0] == 0 || groups[1] == 0 || groups[2] == 0;
    report->is_folded = 0;
    for (int i = 0; i < 3; i++) {
        report->groups[i] = groups[i];
        report->is_folded = report->is_folded || (!is_empty && groups[i] > most[i]);
    }
    report->is_grid_clamped = state[VY_STATE_CLAMPED] != 0;
}

void vy_report_memory(const vy_instance *instance, vyre_report *report)
{
    report->spill_size = instance->spill.size;
    report->staging_size = instance->upload.size + instance->readback.size;
    report->argument_size = instance->host_block.size + instance->lanes[0].block.size +
                            instance->lanes[1].block.size + instance->state.size;
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        report->scratch_size += instance->own[b].size;
    }
}

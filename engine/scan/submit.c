/* Launching the walk of a batch: the table of its files, the memory of its parts, a dispatch for
 * each bank of automata. */
#include "engine/scan/scanner.h"

#include <string.h>

/* ---- Dispatches ------------------------------------------------------------------------------ */

static vyre_binding resident(vyre_buffer buffer)
{
    return (vyre_binding){
        .kind = VYRE_BINDING_RESIDENT, .buffer = buffer, .count = VYRE_COUNT_DECLARED};
}

/* The state comes back with the launch, and the first hits. */
static void bind(const vyre_scan_batch *b, const vy_scan_bank *bank, vy_scan_part *part,
                 vyre_binding *bindings)
{
    bindings[VY_SCAN_TEXT] = resident(b->text);
    bindings[VY_SCAN_FILES] = resident(b->tables[bank->start == VY_SCAN_WHOLE].buffer);
    bindings[VY_SCAN_TABLE] = resident(bank->table);
    bindings[VY_SCAN_AUTOMATA] = resident(bank->automata);
    bindings[VY_SCAN_OUTPUTS] = resident(bank->outputs);
    bindings[VY_SCAN_STATE] = resident(part->state);
    bindings[VY_SCAN_STATE].out = part->words;
    bindings[VY_SCAN_COUNTS] = resident(part->counts);
    bindings[VY_SCAN_MASKS] = resident(part->masks);
    bindings[VY_SCAN_PLACES] = resident(part->places);
    bindings[VY_SCAN_HITS] = resident(part->hits);
    if (part->hit_capacity >= VY_SCAN_INLINE_HITS) {
        bindings[VY_SCAN_HITS].out = part->inline_hits;
        bindings[VY_SCAN_HITS].out_size = VY_SCAN_INLINE_HITS * sizeof(vyre_hit);
    }
}

static void fill_dispatch(const vy_scan_bank *bank, vy_scan_part *part,
                          const vyre_binding *bindings, uint32_t flags, vyre_dispatch_params *d)
{
    vyre_dispatch_params_init(d);
    d->binding_count = bank->automaton_count > 1 ? VY_SCAN_BUFFER_COUNT : VY_SCAN_MASKS;
    d->bindings = bindings;
    d->params = part->params;
    d->param_count = VY_SCAN_PARAM_COUNT;
    d->groups[0] = part->groups;
    d->flags = flags & VYRE_SCAN_TIMED ? VYRE_DISPATCH_TIMED : 0;
    d->strategy = VYRE_STRATEGY_REPLAY;
    d->coarsening = VYRE_COARSENING_NEVER;
}

/* As many workgroups as there are tiles, up to those that fill the device; few different numbers,
 * so that recordings serve again. */
static uint32_t groups_for(const vyre_scanner *s, uint64_t tiles)
{
    uint32_t groups = 1;
    while (groups < tiles && groups < s->worker_groups) {
        groups *= 2;
    }
    return groups < s->worker_groups ? groups : s->worker_groups;
}

static vyre_result submit_bank(vyre_scanner *s, vyre_scan_batch *b, uint32_t bank_index,
                               const vy_scan_choice *choice, uint32_t flags, vyre_diag *diag)
{
    const vy_scan_bank *bank = &s->banks[bank_index];
    vy_scan_part *part = &b->parts[bank_index];
    bool is_whole = bank->start == VY_SCAN_WHOLE;
    uint32_t segment_size = is_whole ? VYRE_SEGMENT_WHOLE : choice->segment_size;
    part->has_ended = part->is_submitted = false;
    part->total = 0;
    memset(part->words, 0, sizeof part->words);
    vy_scan_table *table = &b->tables[is_whole];
    uint64_t uploaded = 0;
    vyre_result code = vy_scan_table_write(b, table, segment_size, &uploaded, diag);
    if (code != VYRE_OK) {
        return code;
    }
    b->report.uploaded_size += uploaded;
    uint64_t rows = table->row_count;
    uint64_t tiles = (rows + s->workgroup - 1) / s->workgroup;
    part->params[VY_SCAN_ROW_COUNT] = (uint32_t)rows;
    part->params[VY_SCAN_FILE_COUNT] = b->file_count;
    part->params[VY_SCAN_SEGMENT_SIZE] = segment_size;
    part->params[VY_SCAN_OVERLAP] = bank->overlap;
    part->params[VY_SCAN_AUTOMATON_COUNT] = bank->automaton_count;
    part->params[VY_SCAN_FIRST_HIT] = 0;
    part->is_staged = choice->staging == VYRE_SCAN_STAGING_SHARED;
    if (rows == 0) {
        part->has_ended = true;
        return VYRE_OK;
    }
    part->groups = groups_for(s, tiles * bank->automaton_count);
    code = vy_scan_part_rows(b, part, rows, (uint32_t)tiles, bank->automaton_count, diag);
    vyre_pipeline *pipeline = NULL;
    if (code == VYRE_OK) {
        code = vy_scanner_pipeline(s, bank, part->is_staged, false, &pipeline, diag);
    }
    if (code == VYRE_OK) {
        vyre_binding bindings[VY_SCAN_BUFFER_COUNT];
        vyre_dispatch_params d;
        bind(b, bank, part, bindings);
        fill_dispatch(bank, part, bindings, flags, &d);
        code = vyre_dispatch_async(pipeline, &d, &part->ticket, diag);
        part->is_submitted = code == VYRE_OK;
    }
    if (code == VYRE_OK) {
        vyre_scan_report *r = &b->report;
        r->launches++;
        r->segment_count += bank_index ? 0 : rows;
        r->queue_length += rows * bank->automaton_count;
        r->scanned_size +=
            bank->automaton_count *
            (b->size + (is_whole ? 0
                                 : (rows - (b->file_count < rows ? b->file_count : rows)) *
                                       (uint64_t)bank->overlap));
    }
    return code;
}

vyre_result vy_scan_submit(vyre_scanner *s, vyre_scan_batch *b, const vy_scan_choice *choice,
                           uint32_t flags, vyre_diag *diag)
{
    uint64_t uploaded = 0;
    uint32_t allocations = b->allocations;
    b->report.segment_size = choice->segment_size;
    b->report.staging = choice->staging;
    b->report.width = s->is_wide ? VYRE_TRANSITION_32 : VYRE_TRANSITION_16;
    vyre_result code = vy_scan_batch_parts(b, s->bank_count, diag);
    if (code == VYRE_OK && b->size) {
        code = vy_scan_batch_flush(b, &uploaded, diag);
    }
    b->report.uploaded_size += uploaded;
    for (uint32_t i = 0; i < s->bank_count && code == VYRE_OK; i++) {
        code = submit_bank(s, b, i, choice, flags, diag);
    }
    b->report.allocations += b->allocations - allocations;
    return code;
}

vyre_result vy_scan_again(vyre_scanner *s, vyre_scan_batch *b, uint32_t bank_index, uint32_t first,
                          vyre_diag *diag)
{
    const vy_scan_bank *bank = &s->banks[bank_index];
    vy_scan_part *part = &b->parts[bank_index];
    vyre_pipeline *pipeline = NULL;
    vyre_result code = vy_scanner_pipeline(s, bank, false, true, &pipeline, diag);
    if (code == VYRE_OK) {
        vyre_binding bindings[VY_SCAN_BUFFER_COUNT];
        vyre_dispatch_params d;
        part->params[VY_SCAN_FIRST_HIT] = first;
        bind(b, bank, part, bindings);
        bindings[VY_SCAN_STATE].out = NULL;
        fill_dispatch(bank, part, bindings, b->flags, &d);
        code = vyre_dispatch(pipeline, &d, &part->report, diag);
        b->report.launches += code == VYRE_OK;
        b->report.waits += code == VYRE_OK;
        b->report.read_back_size += code == VYRE_OK ? part->report.download_size : 0;
        if (code == VYRE_OK && part->report.device_ns != VYRE_NS_NONE) {
            b->report.device_ns += part->report.device_ns;
        }
    }
    return code;
}

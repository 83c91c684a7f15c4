/* The memory of a machine: columns, frames, variables of one workgroup and those that outlive it.
 * Everything in the caller's arena, allocated once per run. */
#include "codegen/interp/machine.h"
#include "codegen/ir/walk.h"

static const vy_loc nowhere = {0, 0};

size_t vy_machine_var_size(const vy_machine *m, uint32_t var)
{
    const vy_var *declared = &m->program->vars.data[var];
    size_t columns = vy_type_components((vyre_type)declared->type);
    return (declared->kind == VY_VAR_ARRAY ? declared->array_count : 1) * columns * m->volume;
}

static vyre_result allocate_kept(vy_machine *m, vy_arena *arena, vyre_diag *diag)
{
    const vyre_program *program = m->program;
    uint64_t size = 0;
    for (uint32_t v = 1; v < program->vars.count; v++) {
        if (m->plan->is_kept[v]) {
            m->kept_count++;
            size += (uint64_t)vy_machine_var_size(m, v) * m->bound->group_count * sizeof(uint64_t);
        }
        if (size > VY_INTERP_MAX_KEPT_SIZE) {
            return vy_diag_set(diag, VYRE_ERROR_OUT_OF_HOST_MEMORY, nowhere,
                               "values that live across a grid_sync take more than 2 GiB for this "
                               "grid. Fix: choose a smaller grid or keep them in a buffer");
        }
    }
    m->kept_vars = vy_arena_alloc(arena, m->kept_count, sizeof *m->kept_vars);
    m->kept_values = vy_arena_alloc(arena, m->kept_count, sizeof *m->kept_values);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    uint32_t kept = 0;
    for (uint32_t v = 1; v < program->vars.count; v++) {
        if (m->plan->is_kept[v]) {
            m->kept_vars[kept] = v;
            m->kept_values[kept++] = vy_arena_alloc(
                arena, vy_machine_var_size(m, v) * m->bound->group_count, sizeof(uint64_t));
        }
    }
    return arena->failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

/* Variables of one workgroup at a time share one piece of memory. */
static void allocate_local(vy_machine *m, vy_arena *arena)
{
    const vyre_program *program = m->program;
    size_t total = 0;
    for (uint32_t v = 1; v < program->vars.count; v++) {
        if (!m->plan->is_kept[v] && !vy_add_size(total, vy_machine_var_size(m, v), &total)) {
            arena->failed = true;
            return;
        }
    }
    m->vars = vy_arena_alloc(arena, (size_t)program->vars.count + 1, sizeof *m->vars);
    uint64_t *values = vy_arena_alloc(arena, total, sizeof *values);
    if (arena->failed) {
        return;
    }
    for (uint32_t v = 1; v < program->vars.count; v++) {
        if (!m->plan->is_kept[v]) {
            m->vars[v] = values;
            values += vy_machine_var_size(m, v);
        }
    }
}

static void allocate_lanes(vy_machine *m, vy_arena *arena)
{
    size_t volume = m->volume, columns = 0, blocks = 0;
    if (!vy_mul_size((size_t)m->plan->columns + 1, volume, &columns) ||
        !vy_mul_size((size_t)m->plan->frames * VY_BLOCK_COUNT, volume, &blocks)) {
        arena->failed = true;
        return;
    }
    m->columns = vy_arena_alloc(arena, columns, sizeof *m->columns);
    m->lane_words = vy_arena_alloc(arena, blocks, sizeof *m->lane_words);
    m->frames = vy_arena_alloc(arena, m->plan->frames, sizeof *m->frames);
    m->states = vy_arena_alloc(arena, volume, sizeof *m->states);
    m->budgets = vy_arena_alloc(arena, volume, sizeof *m->budgets);
    for (int i = 0; i < 3; i++) {
        m->local_ids[i] = vy_arena_alloc(arena, volume, sizeof(uint32_t));
    }
    m->host_indices =
        vy_arena_alloc(arena, (size_t)m->program->vars.count + 1, sizeof *m->host_indices);
    m->host_scratch = vy_arena_alloc(arena, m->plan->host_scratch, sizeof *m->host_scratch);
}

vyre_result vy_machine_init(vy_machine *m, const vyre_program *program, const vy_plan *plan,
                            const vy_bound *bound, vy_arena *arena, vyre_diag *diag)
{
    *m = (vy_machine){.program = program, .plan = plan, .bound = bound, .volume = bound->volume};
    allocate_local(m, arena);
    allocate_lanes(m, arena);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    const uint32_t *size = bound->size;
    for (uint32_t lane = 0; lane < m->volume; lane++) {
        m->local_ids[0][lane] = lane % size[0];
        m->local_ids[1][lane] = lane / size[0] % size[1];
        m->local_ids[2][lane] = lane / size[0] / size[1];
    }
    return allocate_kept(m, arena, diag);
}

void vy_machine_record(vy_machine *m, const vy_stmt *stmt, uint32_t lane, uint32_t columns)
{
    uint32_t invocation = vy_machine_invocation(m, lane);
    vyre_fault_record *record = &m->record;
    if (record->kind != VYRE_RECORD_NONE) {
        bool before = m->segment_recorded &&
                      (invocation < record->invocation ||
                       (invocation == record->invocation && stmt->site < m->record_site));
        if (!before) {
            return;
        }
    }
    *record = (vyre_fault_record){.kind = vy_stmt_record_kind(stmt),
                                  .code = stmt->kind == VY_STMT_TRAP ? stmt->bits : 0,
                                  .line = stmt->loc.line,
                                  .column = stmt->loc.column,
                                  .pass = m->pass,
                                  .segment = m->segment,
                                  .invocation = invocation};
    m->record_site = stmt->site;
    m->segment_recorded = true;
    m->record_stmt = stmt;
    if (stmt->outside) {
        m->outside_index = vy_machine_column(m, stmt->x.root, columns)[lane];
        m->outside_length = (uint32_t)vy_machine_column(m, stmt->y.root, columns)[lane];
    }
}

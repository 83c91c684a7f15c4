/* Statements that open no frame and leave no list: what they do for the active lanes of a frame. */
#include "codegen/interp/machine.h"

static void assign(vy_machine *m, const vy_frame *frame, uint32_t var, uint32_t root)
{
    vyre_type type = (vyre_type)m->program->vars.data[var].type;
    vy_machine_copy(m, m->vars[var], vy_machine_column(m, root, frame->columns),
                    vy_type_components(type), vy_frame_block(m, frame, VY_BLOCK_ACTIVE),
                    frame->active);
}

static void zero_array(vy_machine *m, const vy_frame *frame, uint32_t var)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    size_t size = vy_machine_var_size(m, var);
    for (size_t column = 0; column < size; column += m->volume) {
        uint64_t *values = m->vars[var] + column;
        for (uint32_t i = 0; i < frame->active; i++) {
            values[lanes[i]] = 0;
        }
    }
}

static void store_in_array(vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    const uint64_t *index = vy_machine_column(m, stmt->x.root, frame->columns);
    const uint64_t *value = vy_machine_column(m, stmt->y.root, frame->columns);
    const vy_var *array = &m->program->vars.data[stmt->ref];
    vyre_type type = (vyre_type)array->type;
    uint32_t components = vy_type_components(type);
    for (uint32_t i = 0; i < frame->active; i++) {
        uint32_t lane = lanes[i];
        if (index[lane] >= array->array_count) {
            continue;
        }
        uint64_t *element = m->vars[stmt->ref] + index[lane] * components * m->volume;
        for (uint32_t c = 0; c < components; c++) {
            size_t place = (size_t)c * m->volume + lane;
            element[place] = vy_machine_stored(type, value[place]);
        }
    }
}

static void store(vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    const uint64_t *index = vy_machine_column(m, stmt->x.root, frame->columns);
    const uint64_t *value = vy_machine_column(m, stmt->y.root, frame->columns);
    vyre_type index_type = (vyre_type)m->program->exprs.data[stmt->x.root].type;
    for (uint32_t i = 0; i < frame->active; i++) {
        uint32_t lane = lanes[i];
        vy_machine_store(m, stmt, index_type, index[lane], value + lane, lane);
    }
}

static void run_atomic(vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    const uint64_t *index = vy_machine_column(m, stmt->x.root, frame->columns);
    const uint64_t *y = vy_machine_column(m, stmt->y.root, frame->columns);
    const uint64_t *z = vy_machine_column(m, stmt->z.root, frame->columns);
    uint64_t *result = stmt->result ? m->vars[stmt->result] : NULL;
    vyre_type index_type = (vyre_type)m->program->exprs.data[stmt->x.root].type;
    for (uint32_t i = 0; i < frame->active; i++) {
        uint32_t lane = lanes[i];
        const uint64_t operands[2] = {y[lane], z[lane]};
        uint64_t old = vy_machine_atomic(m, stmt, index_type, index[lane], operands, lane);
        if (result) {
            result[lane] = old;
        }
    }
}

static void load_uniform(vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    const uint64_t *index = vy_machine_column(m, stmt->x.root, frame->columns);
    vyre_type index_type = (vyre_type)m->program->exprs.data[stmt->x.root].type;
    vy_race_barrier(&m->races);
    for (uint32_t i = 0; i < frame->active && stmt->result; i++) {
        uint32_t lane = lanes[i];
        vy_machine_load(m, stmt->ref, index_type, index[lane], lane, stmt->loc,
                        m->vars[stmt->result] + lane);
    }
    vy_race_barrier(&m->races);
}

void vy_machine_execute(vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    switch ((int)stmt->kind) {
    case VY_STMT_LET:
    case VY_STMT_VAR:
    case VY_STMT_ASSIGN:
        assign(m, frame, stmt->ref, stmt->x.root);
        return;
    case VY_STMT_ARRAY:
        zero_array(m, frame, stmt->ref);
        return;
    case VY_STMT_STORE:
        store(m, frame, stmt);
        return;
    case VY_STMT_ARRAY_STORE:
        store_in_array(m, frame, stmt);
        return;
    case VY_STMT_ATOMIC:
        run_atomic(m, frame, stmt);
        return;
    case VY_STMT_UNIFORM_LOAD:
        load_uniform(m, frame, stmt);
        return;
    case VY_STMT_CALL:
        if (stmt->result) {
            assign(m, frame, stmt->result, stmt->x.root);
        }
        return;
    case VY_STMT_SUBGROUP:
        if (stmt->result) {
            vy_machine_subgroup(m, frame, stmt);
        }
        return;
    case VY_STMT_BARRIER:
        vy_race_barrier(&m->races);
        return;
    case VY_STMT_TRAP:
        /* Lanes ascend: the first one has the least invocation. */
        vy_machine_record(m, stmt, vy_frame_block(m, frame, VY_BLOCK_ACTIVE)[0], frame->columns);
        return;
    case VY_STMT_PRINTF:
        vy_machine_print(m, frame, stmt);
        return;
    default:
        return;
    }
}

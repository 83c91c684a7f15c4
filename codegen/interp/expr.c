/* Expressions: one entry at a time, for all lanes that are given. Reads columns of operands, writes
 * the entry's column. */
#include "codegen/interp/machine.h"

uint32_t *vy_machine_column(const vy_machine *m, uint32_t expr, uint32_t columns)
{
    return m->columns + ((size_t)columns + m->plan->expr_column[expr]) * m->volume;
}

static void fill(uint32_t *out, uint32_t value, const uint32_t *lanes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        out[lanes[i]] = value;
    }
}

static void eval_builtin(const vy_machine *m, vyre_builtin builtin, uint32_t *out,
                         const uint32_t *lanes, uint32_t count)
{
    uint32_t which = (uint32_t)builtin % 3;
    const uint32_t *local = m->local_ids[which];
    switch ((int)builtin) {
    case VYRE_BUILTIN_GID_X:
    case VYRE_BUILTIN_GID_Y:
    case VYRE_BUILTIN_GID_Z:
        for (uint32_t i = 0; i < count; i++) {
            out[lanes[i]] = m->group[which] * m->bound->size[which] + local[lanes[i]];
        }
        return;
    case VYRE_BUILTIN_LID_X:
    case VYRE_BUILTIN_LID_Y:
    case VYRE_BUILTIN_LID_Z:
        for (uint32_t i = 0; i < count; i++) {
            out[lanes[i]] = local[lanes[i]];
        }
        return;
    case VYRE_BUILTIN_WID_X:
    case VYRE_BUILTIN_WID_Y:
    case VYRE_BUILTIN_WID_Z:
        fill(out, m->group[which], lanes, count);
        return;
    case VYRE_BUILTIN_GROUP_SIZE_X:
    case VYRE_BUILTIN_GROUP_SIZE_Y:
    case VYRE_BUILTIN_GROUP_SIZE_Z:
        fill(out, m->bound->size[which], lanes, count);
        return;
    case VYRE_BUILTIN_NUM_GROUPS_X:
    case VYRE_BUILTIN_NUM_GROUPS_Y:
    case VYRE_BUILTIN_NUM_GROUPS_Z:
        fill(out, m->bound->groups[which], lanes, count);
        return;
    case VYRE_BUILTIN_PASS:
        fill(out, m->pass, lanes, count);
        return;
    default:
        fill(out, 0, lanes, count);
        return;
    }
}

/* Elements of private arrays lie one column each. */
static void eval_element(const vy_machine *m, const vy_expr *expr, const uint32_t *index,
                         uint32_t *out, const uint32_t *lanes, uint32_t count)
{
    const uint32_t *words = m->vars[expr->ref];
    uint32_t length = m->program->vars.data[expr->ref].array_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i], at = index[lane];
        out[lane] = at < length ? words[(size_t)at * m->volume + lane] : 0;
    }
}

static void eval_table(const vy_machine *m, const vy_expr *expr, const uint32_t *index,
                       uint32_t *out, const uint32_t *lanes, uint32_t count)
{
    const vy_table *table = &m->program->tables.data[expr->ref];
    bool is_bool = table->type == VYRE_TYPE_BOOL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i], at = index[lane];
        uint32_t bits = (uint32_t)vy_table_value(table, at, 0);
        out[lane] = is_bool ? bits != 0 : bits;
    }
}

static void eval_load(vy_machine *m, const vy_expr *expr, vyre_type index_type,
                      const uint32_t *index, uint32_t *out, const uint32_t *lanes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i];
        out[lane] = vy_machine_load(m, expr->ref, index_type, index[lane], lane, expr->loc);
    }
}

static void eval_operator(const vy_machine *m, const vy_expr *expr, uint32_t columns, uint32_t *out,
                          const uint32_t *lanes, uint32_t count)
{
    vyre_op op = (vyre_op)expr->op;
    vyre_type type = (vyre_type)expr->type;
    vyre_type operand = (vyre_type)m->program->exprs.data[expr->arg[0]].type;
    const uint32_t *column[4];
    for (int i = 0; i < 4; i++) {
        column[i] = vy_machine_column(m, expr->arg[i], columns); /* of entry 0 where unused */
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i];
        uint64_t operands[4] = {column[0][lane], column[1][lane], column[2][lane], column[3][lane]};
        out[lane] = (uint32_t)vy_interp_eval(op, type, operand, operands, m->flush_denormals);
    }
}

void vy_machine_eval_entry(vy_machine *m, uint32_t index, uint32_t columns, const uint32_t *lanes,
                           uint32_t count)
{
    const vyre_program *program = m->program;
    const vy_expr *expr = &program->exprs.data[index];
    uint32_t *out = vy_machine_column(m, index, columns);
    switch ((int)expr->op) {
    case VYRE_OP_LITERAL:
        fill(out, (uint32_t)expr->bits[0], lanes, count);
        return;
    case VYRE_OP_BUILTIN:
        eval_builtin(m, (vyre_builtin)expr->ref, out, lanes, count);
        return;
    case VYRE_OP_PARAM:
        fill(out, m->bound->params[program->params.data[expr->ref].word], lanes, count);
        return;
    case VYRE_OP_VARIABLE: {
        const uint32_t *var = m->vars[expr->ref];
        for (uint32_t i = 0; i < count; i++) {
            out[lanes[i]] = var[lanes[i]];
        }
        return;
    }
    case VYRE_OP_LENGTH:
        fill(out, m->buffers[expr->ref].count, lanes, count);
        return;
    case VYRE_OP_LOAD:
        eval_load(m, expr, (vyre_type)program->exprs.data[expr->arg[0]].type,
                  vy_machine_column(m, expr->arg[0], columns), out, lanes, count);
        return;
    case VYRE_OP_ELEMENT:
        eval_element(m, expr, vy_machine_column(m, expr->arg[0], columns), out, lanes, count);
        return;
    case VYRE_OP_TABLE:
        eval_table(m, expr, vy_machine_column(m, expr->arg[0], columns), out, lanes, count);
        return;
    default:
        eval_operator(m, expr, columns, out, lanes, count);
        return;
    }
}

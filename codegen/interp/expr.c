/* Expressions: one entry at a time, for all lanes that are given. Reads columns of operands, writes
 * the entry's column. */
#include "codegen/interp/machine.h"

uint64_t *vy_machine_column(const vy_machine *m, uint32_t expr, uint32_t columns)
{
    return m->columns + ((size_t)columns + m->plan->expr_column[expr]) * m->volume;
}

void vy_machine_copy(const vy_machine *m, uint64_t *to, const uint64_t *from, uint32_t components,
                     const uint32_t *lanes, uint32_t count)
{
    for (uint32_t c = 0; c < components; c++) {
        for (uint32_t i = 0; i < count; i++) {
            to[lanes[i]] = from[lanes[i]];
        }
        to += m->volume;
        from += m->volume;
    }
}

static void fill(uint64_t *out, uint64_t value, const uint32_t *lanes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        out[lanes[i]] = value;
    }
}

static void eval_builtin(const vy_machine *m, vyre_builtin builtin, uint64_t *out,
                         const uint32_t *lanes, uint32_t count)
{
    uint32_t which = (uint32_t)builtin % 3, width = m->bound->subgroup_width;
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
    case VYRE_BUILTIN_LANE:
        for (uint32_t i = 0; i < count; i++) {
            out[lanes[i]] = lanes[i] % width;
        }
        return;
    case VYRE_BUILTIN_LANES:
        fill(out, width, lanes, count);
        return;
    default:
        fill(out, 0, lanes, count);
        return;
    }
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static void eval_literal(const vy_machine *m, const vy_expr *expr, uint64_t *out,
                         const uint32_t *lanes, uint32_t count)
{
    uint32_t components = vy_type_components((vyre_type)expr->type);
    for (uint32_t c = 0; c < components; c++) {
        fill(out + (size_t)c * m->volume, vy_expr_literal(expr, c), lanes, count);
    }
}

static void eval_param(const vy_machine *m, const vy_expr *expr, uint64_t *out,
                       const uint32_t *lanes, uint32_t count)
{
    vyre_type type = (vyre_type)expr->type;
    const uint32_t *words = m->bound->params + m->program->params.data[expr->ref].word;
    uint32_t components = vy_type_components(type);
    for (uint32_t c = 0; c < components; c++) {
        uint64_t bits = words[c];
        if (vy_type_width(type) == 64) {
            bits |= (uint64_t)words[1] << 32;
        }
        fill(out + (size_t)c * m->volume, vy_type_bits(type, bits), lanes, count);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Elements of private arrays lie one group of columns each. */
static void eval_element(const vy_machine *m, const vy_expr *expr, const uint64_t *index,
                         uint64_t *out, const uint32_t *lanes, uint32_t count)
{
    const uint64_t *values = m->vars[expr->ref];
    uint32_t length = m->program->vars.data[expr->ref].array_count;
    uint32_t components = vy_type_components((vyre_type)expr->type);
    size_t stride = (size_t)components * m->volume;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i];
        uint64_t at = index[lane];
        for (uint32_t c = 0; c < components; c++) {
            size_t place = (size_t)c * m->volume + lane;
            out[place] = at < length ? values[at * stride + place] : 0;
        }
    }
}

static void eval_table(const vy_machine *m, const vy_expr *expr, const uint64_t *index,
                       uint64_t *out, const uint32_t *lanes, uint32_t count)
{
    const vy_table *table = &m->program->tables.data[expr->ref];
    uint32_t components = vy_type_components((vyre_type)expr->type);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i];
        uint64_t at = index[lane];
        for (uint32_t c = 0; c < components; c++) {
            out[(size_t)c * m->volume + lane] = vy_table_value(table, at, c);
        }
    }
}

static void eval_load(vy_machine *m, const vy_expr *expr, vyre_type index_type,
                      const uint64_t *index, uint64_t *out, const uint32_t *lanes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i];
        vy_machine_load(m, expr->ref, index_type, index[lane], lane, expr->loc, out + lane);
    }
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void eval_vector(const vy_machine *m, const vy_expr *expr, uint32_t columns, uint64_t *out,
                        const uint32_t *lanes, uint32_t count)
{
    uint32_t parts = vy_expr_operand_count(expr), done = 0;
    uint32_t components = vy_type_components((vyre_type)expr->type);
    for (uint32_t p = 0; p < parts; p++) {
        const uint64_t *part = vy_machine_column(m, expr->arg[p], columns);
        uint32_t size = vy_type_components((vyre_type)m->program->exprs.data[expr->arg[p]].type);
        vy_machine_copy(m, out + (size_t)done * m->volume, part, size, lanes, count);
        done += size;
    }
    for (; done < components; done++) { /* one scalar for all */
        vy_machine_copy(m, out + (size_t)done * m->volume, out, 1, lanes, count);
    }
}

static void eval_swizzle(const vy_machine *m, const vy_expr *expr, uint32_t columns, uint64_t *out,
                         const uint32_t *lanes, uint32_t count)
{
    const uint64_t *vector = vy_machine_column(m, expr->arg[0], columns);
    uint32_t components = vy_swizzle_count(expr->ref);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t picked[4] = {0, 0, 0, 0}; /* the result may lie in the operand's columns */
        for (uint32_t c = 0; c < components && c < 4; c++) {
            picked[c] = vector[(size_t)vy_swizzle_component(expr->ref, c) * m->volume + lanes[i]];
        }
        for (uint32_t c = 0; c < components && c < 4; c++) {
            out[(size_t)c * m->volume + lanes[i]] = picked[c];
        }
    }
}

static void eval_any_all(const vy_machine *m, const vy_expr *expr, uint32_t columns, uint64_t *out,
                         const uint32_t *lanes, uint32_t count)
{
    const uint64_t *vector = vy_machine_column(m, expr->arg[0], columns);
    uint32_t size = vy_type_components((vyre_type)m->program->exprs.data[expr->arg[0]].type);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t set = 0;
        for (uint32_t c = 0; c < size; c++) {
            set += vector[(size_t)c * m->volume + lanes[i]] != 0;
        }
        out[lanes[i]] = expr->op == VYRE_OP_ANY ? set > 0 : set == size;
    }
}

static void eval_dot(const vy_machine *m, const vy_expr *expr, uint32_t columns, uint64_t *out,
                     const uint32_t *lanes, uint32_t count)
{
    const uint64_t *x = vy_machine_column(m, expr->arg[0], columns);
    const uint64_t *y = vy_machine_column(m, expr->arg[1], columns);
    vyre_type type = (vyre_type)expr->type;
    uint32_t size = vy_type_components((vyre_type)m->program->exprs.data[expr->arg[0]].type);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (uint32_t c = 0; c < size; c++) {
            size_t place = (size_t)c * m->volume + lanes[i];
            const uint64_t factors[2] = {x[place], y[place]};
            uint64_t product = vy_interp_eval(VYRE_OP_MUL, type, type, factors, m->flush_denormals);
            const uint64_t terms[2] = {sum, product};
            sum = c ? vy_interp_eval(VYRE_OP_ADD, type, type, terms, m->flush_denormals) : product;
        }
        out[lanes[i]] = sum;
    }
}

/* ---- Operators ------------------------------------------------------------------------------- */

/* Component by component; a scalar beside vectors counts for all of them. */
static void eval_operator(const vy_machine *m, const vy_expr *expr, uint32_t columns, uint64_t *out,
                          const uint32_t *lanes, uint32_t count)
{
    const vy_expr *exprs = m->program->exprs.data;
    vyre_op op = (vyre_op)expr->op;
    vyre_type type = vy_type_component((vyre_type)expr->type);
    vyre_type operand = vy_type_component((vyre_type)exprs[expr->arg[0]].type);
    uint32_t components = vy_type_components((vyre_type)expr->type);
    const uint64_t *column[4];
    size_t stride[4];
    for (int i = 0; i < 4; i++) {
        column[i] = vy_machine_column(m, expr->arg[i], columns); /* of entry 0 where unused */
        stride[i] = vy_type_is_vector((vyre_type)exprs[expr->arg[i]].type) ? m->volume : 0;
    }
    for (uint32_t c = 0; c < components; c++) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t lane = lanes[i];
            uint64_t operands[4] = {column[0][lane], column[1][lane], column[2][lane],
                                    column[3][lane]};
            out[lane] = vy_interp_eval(op, type, operand, operands, m->flush_denormals);
        }
        out += m->volume;
        for (int i = 0; i < 4; i++) {
            column[i] += stride[i];
        }
    }
}

void vy_machine_eval_entry(vy_machine *m, uint32_t index, uint32_t columns, const uint32_t *lanes,
                           uint32_t count)
{
    const vyre_program *program = m->program;
    const vy_expr *expr = &program->exprs.data[index];
    uint64_t *out = vy_machine_column(m, index, columns);
    switch ((int)expr->op) {
    case VYRE_OP_LITERAL:
        eval_literal(m, expr, out, lanes, count);
        return;
    case VYRE_OP_BUILTIN:
        eval_builtin(m, (vyre_builtin)expr->ref, out, lanes, count);
        return;
    case VYRE_OP_PARAM:
        eval_param(m, expr, out, lanes, count);
        return;
    case VYRE_OP_VARIABLE:
        vy_machine_copy(m, out, m->vars[expr->ref], vy_type_components((vyre_type)expr->type),
                        lanes, count);
        return;
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
    case VYRE_OP_VECTOR:
        eval_vector(m, expr, columns, out, lanes, count);
        return;
    case VYRE_OP_SWIZZLE:
        eval_swizzle(m, expr, columns, out, lanes, count);
        return;
    case VYRE_OP_ANY:
    case VYRE_OP_ALL:
        eval_any_all(m, expr, columns, out, lanes, count);
        return;
    case VYRE_OP_DOT:
        eval_dot(m, expr, columns, out, lanes, count);
        return;
    default:
        eval_operator(m, expr, columns, out, lanes, count);
        return;
    }
}

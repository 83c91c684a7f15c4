/* The SSA form as text: one line for an instruction, values and blocks by number. */
#include "codegen/passes/edit.h"

static const char *const own_names[] = {
    "phi",        "host_index",    "store",       "atomic",     "barrier",
    "array_zero", "array_load",    "array_store", "spill_load", "spill_store",
    "record",     "canonical_nan", "component",   "compose",    "subgroup",
    "is_element", "elements",      "load_wide",   "store_wide", "unpack",
    "rank",       "pack",          "group_begin", "stage",      "unstage",
    "print",
};

static void print_lower(vy_text *out, const char *name)
{
    for (; *name; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        vy_text_append(out, &c, 1);
    }
}

static void print_op(const vy_ins *ins, vy_text *out)
{
    if (ins->op >= VYRE_OP_COUNT) {
        uint32_t row = ins->op - (uint32_t)VYRE_OP_COUNT;
        vy_text_printf(out, "%s", row < VY_COUNT_OF(own_names) ? own_names[row] : "?");
    } else {
        print_lower(out, vy_op_get((vyre_op)ins->op)->name);
    }
}

static const char *buffer_name(const vy_ssa *ssa, uint32_t ref)
{
    const char *name =
        ref < ssa->program->buffers.count ? ssa->program->buffers.data[ref].name : NULL;
    return name ? name : "?";
}

/* What the instruction names besides values. */
static void print_ref(const vy_ssa *ssa, const vy_ins *ins, vy_text *out)
{
    const vyre_program *program = ssa->program;
    const char *name = NULL;
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        if (ins->type == VYRE_TYPE_BOOL) {
            vy_text_printf(out, " %s", ins->bits ? "true" : "false");
        } else if (vy_type_is_float((vyre_type)ins->type)) {
            vy_text_printf(out, " 0x%0*llx", (int)vy_type_width((vyre_type)ins->type) / 4,
                           (unsigned long long)ins->bits);
        } else if (vy_type_is_signed((vyre_type)ins->type)) {
            vy_text_printf(out, " %lld",
                           (long long)vy_type_signed_value((vyre_type)ins->type, ins->bits));
        } else {
            vy_text_printf(out, " %llu", (unsigned long long)ins->bits);
        }
        return;
    case VYRE_OP_BUILTIN:
        vy_text_printf(out, " %s", vy_builtin_text((vyre_builtin)ins->ref));
        return;
    case VYRE_OP_PARAM:
        name = ins->ref < program->params.count ? program->params.data[ins->ref].name : NULL;
        break;
    case VYRE_OP_TABLE:
        name = ins->ref < program->tables.count ? program->tables.data[ins->ref].name : NULL;
        break;
    case VYRE_OP_LENGTH:
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
    case VY_SSA_LOAD_WIDE:
    case VY_SSA_STORE_WIDE:
    case VY_SSA_UNPACK:
    case VY_SSA_PACK:
    case VY_SSA_STAGE:
    case VY_SSA_UNSTAGE:
        name = buffer_name(ssa, ins->ref);
        break;
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        vy_text_printf(out, " array %u", (unsigned)ins->ref);
        return;
    case VY_SSA_HOST_INDEX:
    case VY_SSA_SPILL_LOAD:
    case VY_SSA_SPILL_STORE:
    case VY_SSA_RECORD:
    case VY_SSA_PRINT:
    case VY_SSA_COMPONENT:
        vy_text_printf(out, " %u", (unsigned)ins->ref);
        return;
    default:
        return;
    }
    vy_text_printf(out, " %s", name ? name : "?");
    if ((ins->op == VYRE_OP_PARAM || ins->op == VY_SSA_UNPACK || ins->op == VY_SSA_PACK ||
         ins->op == VY_SSA_UNSTAGE) &&
        ins->bits) {
        vy_text_printf(out, " %u", (unsigned)ins->bits);
    }
    if (ins->op == VY_SSA_ATOMIC && (ins->bits & VY_JOIN_GROUP)) {
        vy_text_printf(out, " group %u%s", (unsigned)(ins->bits >> VY_JOIN_WORD),
                       ins->bits & VY_JOIN_STAGED ? " staged" : "");
    }
}

static const char *order_text(uint8_t order)
{
    switch ((vyre_order)order) {
    case VYRE_ORDER_ACQUIRE:
        return " acquire";
    case VYRE_ORDER_RELEASE:
        return " release";
    case VYRE_ORDER_ACQ_REL:
        return " acq_rel";
    case VYRE_ORDER_RELAXED:
        break;
    }
    return "";
}

static void print_ins(const vy_ssa *ssa, uint32_t index, vy_text *out)
{
    const vy_ins *ins = &ssa->ins.data[index];
    vy_text_printf(out, "    ");
    if (ins->type != VYRE_TYPE_VOID) {
        vy_text_printf(out, "%%%u = ", (unsigned)index);
    }
    if (ins->op == VY_SSA_ATOMIC) {
        vy_text_printf(out, "%s%s", vy_atomic_text((vyre_atomic)ins->atomic),
                       order_text(ins->order));
    } else if (ins->op == VY_SSA_SUBGROUP) {
        vy_text_printf(out, "%s", vy_subgroup_get((vyre_subgroup)ins->subgroup)->text);
    } else {
        print_op(ins, out);
    }
    if (ins->unchecked) {
        vy_text_append(out, "!", 1);
    }
    if (ins->type != VYRE_TYPE_VOID) {
        vy_text_printf(out, " %s", vyre_type_keyword((vyre_type)ins->type));
    }
    print_ref(ssa, ins, out);
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t i = 0; i < count; i++) {
        vy_text_printf(out, "%s%%%u", i ? ", " : " ", (unsigned)ins->arg[i]);
    }
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
        const vy_phi_edge *edge = &ssa->phi_edges.data[ins->ref + e];
        vy_text_printf(out, "%s%%%u from %u", e ? ", " : " ", (unsigned)edge->value,
                       (unsigned)edge->block);
    }
    if (ins->name && ins->name[0]) {
        vy_text_printf(out, "  ; %s", ins->name);
    }
    vy_text_append(out, "\n", 1);
}

static void print_end(const vy_ssa *ssa, const vy_block *block, vy_text *out)
{
    vy_text_printf(out, "    ");
    switch ((vy_end_kind)block->end) {
    case VY_END_NONE:
        vy_text_printf(out, "(not ended)");
        break;
    case VY_END_JUMP:
        vy_text_printf(out, "jump %u", (unsigned)block->target[0]);
        break;
    case VY_END_BRANCH:
        vy_text_printf(out, "branch %%%u ? %u : %u", (unsigned)block->cond,
                       (unsigned)block->target[0], (unsigned)block->target[1]);
        break;
    case VY_END_SWITCH:
        vy_text_printf(out, "switch %%%u", (unsigned)block->cond);
        for (uint32_t i = 0; i < block->case_count; i++) {
            const vy_case *entry = &ssa->cases.data[block->first_case + i];
            vy_text_printf(out, " %u: %u,", (unsigned)entry->value, (unsigned)entry->block);
        }
        vy_text_printf(out, " default: %u", (unsigned)block->target[0]);
        break;
    case VY_END_RETURN:
        vy_text_printf(out, "return");
        break;
    case VY_END_UNREACHABLE:
        vy_text_printf(out, "unreachable");
        break;
    }
    if (block->merge_kind == VY_MERGE_SELECTION) {
        vy_text_printf(out, "  ; merge %u", (unsigned)block->merge);
    } else if (block->merge_kind == VY_MERGE_LOOP) {
        vy_text_printf(out, "  ; loop, merge %u, continue %u", (unsigned)block->merge,
                       (unsigned)block->continue_block);
    }
    vy_text_append(out, "\n", 1);
}

void vy_ssa_print(const vy_ssa *ssa, vy_text *out)
{
    for (uint32_t a = 1; a < ssa->arrays.count; a++) {
        const vy_array *array = &ssa->arrays.data[a];
        vy_text_printf(out, "array %u: %s[%u]  ; %s\n", (unsigned)a,
                       vyre_type_keyword((vyre_type)array->type), (unsigned)array->count,
                       array->name ? array->name : "");
    }
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        vy_text_printf(out, "block %u:\n", (unsigned)b);
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            print_ins(ssa, i, out);
        }
        print_end(ssa, block, out);
    }
}

/* Statements as text, four blanks for each block. */
#include "codegen/ir/print.h"
#include "codegen/ir/walk.h"

static void begin_line(vy_printer *p)
{
    for (uint32_t i = 0; i < p->indent; i++) {
        vy_text_append(p->out, "    ", 4);
    }
}

/* A text between quotes, with escapes. */
static void print_string(vy_printer *p, const char *text)
{
    vy_text_append(p->out, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            vy_text_printf(p->out, "\\%c", c);
        } else if (c < ' ' || c > '~') {
            vy_text_printf(p->out, "\\x%02x", c);
        } else {
            vy_text_append(p->out, text, 1);
        }
    }
    vy_text_append(p->out, "\"", 1);
}

/* ---- Statements with effects -------------------------------------------------------------------
 */

static const char *buffer_name(const vy_printer *p, uint32_t buffer)
{
    return p->program->buffers.data[buffer].name;
}

static const char *variable_name(const vy_printer *p, uint32_t variable)
{
    return p->program->vars.data[variable].name;
}

static void print_binding(vy_printer *p, const vy_stmt *stmt)
{
    bool is_let = stmt->kind == VY_STMT_LET;
    /* A call alone behind `let x =` is a call statement; in parentheses it is an expression. */
    bool is_call = is_let && p->program->exprs.data[stmt->x.root].op == VYRE_OP_CALL;
    /* Integers of 8 and 16 bits have no suffix: they take the type of the declaration. */
    vyre_type type = (vyre_type)p->program->exprs.data[stmt->x.root].type;
    bool is_typed = vy_type_is_integer(type) && vy_type_width(type) < 32 &&
                    p->program->exprs.data[stmt->x.root].op == VYRE_OP_LITERAL &&
                    p->is_untyped[stmt->x.root];
    vy_text_printf(p->out, "%s %s%s%s = %s", is_let ? "let" : "var", variable_name(p, stmt->ref),
                   is_typed ? " : " : "", is_typed ? vyre_type_keyword(type) : "",
                   is_call ? "(" : "");
    vy_print_expression(p, &stmt->x, is_typed, is_call);
    if (is_call) {
        vy_text_append(p->out, ")", 1);
    }
}

static void print_store(vy_printer *p, const vy_stmt *stmt)
{
    vy_text_printf(p->out, "%s[",
                   stmt->kind == VY_STMT_STORE ? buffer_name(p, stmt->ref)
                                               : variable_name(p, stmt->ref));
    vy_print_expression(p, &stmt->x, false, 1);
    vy_text_printf(p->out, "] = ");
    vy_print_expression(p, &stmt->y, true, 0);
}

static void print_result(vy_printer *p, const vy_stmt *stmt)
{
    if (stmt->result) {
        vy_text_printf(p->out, "let %s = ", variable_name(p, stmt->result));
    }
}

static void print_atomic(vy_printer *p, const vy_stmt *stmt)
{
    static const char *const orders[] = {"", ", acquire", ", release", ", acq_rel"};
    uint32_t count = vy_atomic_operand_count((vyre_atomic)stmt->atomic);
    print_result(p, stmt);
    vy_text_printf(p->out, "%s(%s[", vy_atomic_text((vyre_atomic)stmt->atomic),
                   buffer_name(p, stmt->ref));
    vy_print_expression(p, &stmt->x, false, 1);
    vy_text_append(p->out, "]", 1);
    if (count > 0) {
        vy_text_printf(p->out, ", ");
        vy_print_expression(p, &stmt->y, true, 0);
    }
    if (count > 1) {
        vy_text_printf(p->out, ", ");
        vy_print_expression(p, &stmt->z, true, 0);
    }
    vy_text_printf(p->out, "%s)", orders[stmt->order & 3]);
}

static void print_subgroup(vy_printer *p, const vy_stmt *stmt)
{
    print_result(p, stmt);
    vy_text_printf(p->out, "%s(", vy_subgroup_get((vyre_subgroup)stmt->subgroup)->text);
    if (stmt->x.root) {
        vy_print_expression(p, &stmt->x, false, 1);
    }
    if (stmt->y.root) {
        vy_text_printf(p->out, ", ");
        vy_print_expression(p, &stmt->y, true, 1);
    }
    vy_text_append(p->out, ")", 1);
}

static void print_printf(vy_printer *p, const vy_stmt *stmt)
{
    vy_text_printf(p->out, "printf(");
    print_string(p, stmt->name);
    for (uint32_t i = 0; i < stmt->value_count; i++) {
        vy_range value = vy_printf_value(p->program, stmt, i);
        vy_text_printf(p->out, ", ");
        vy_print_expression(p, &value, false, 1);
    }
    vy_text_append(p->out, ")", 1);
}

static void print_uniform_load(vy_printer *p, const vy_stmt *stmt)
{
    print_result(p, stmt);
    vy_text_printf(p->out, "uniform %s[", buffer_name(p, stmt->ref));
    vy_print_expression(p, &stmt->x, false, 1);
    vy_text_append(p->out, "]", 1);
}

/* ---- Control -----------------------------------------------------------------------------------
 */

static void print_head(vy_printer *p, const char *word, const vy_range *range)
{
    vy_text_printf(p->out, "%s ", word);
    vy_print_expression(p, range, false, 0);
    vy_text_printf(p->out, " {\n");
}

static void print_for(vy_printer *p, const vy_stmt *stmt)
{
    const vy_range *ranges[3] = {&stmt->x, &stmt->y, &stmt->z};
    uint32_t count = stmt->z.root ? 3 : 2;
    static const char *const between[3] = {"", " .. ", " step "};
    vy_text_printf(p->out, "for %s in ", variable_name(p, stmt->result));
    for (uint32_t i = 0; i < count; i++) {
        bool is_typed = false;
        for (uint32_t other = 0; other < count; other++) {
            is_typed |= other != i && !p->is_untyped[ranges[other]->root];
        }
        vy_text_printf(p->out, "%s", between[i]);
        vy_print_expression(p, ranges[i], is_typed, 0);
    }
    vy_text_printf(p->out, "%s {\n", stmt->down ? " down" : "");
}

static void print_case(vy_printer *p, const vy_stmt *stmt, const vy_stmt *parent)
{
    vyre_type type = (vyre_type)p->program->exprs.data[parent->x.root].type;
    vy_text_printf(p->out, stmt->value_count > 0 ? "case " : "default");
    for (uint32_t i = 0; i < stmt->value_count; i++) {
        vy_text_printf(p->out, "%s", i > 0 ? ", " : "");
        vy_print_literal(p, type, p->program->values.data[stmt->first_value + i], true);
    }
    vy_text_printf(p->out, " {\n");
}

static void print_return(vy_printer *p, const vy_stmt *stmt)
{
    vy_text_printf(p->out, "return");
    if (stmt->x.root) {
        vy_text_append(p->out, " ", 1);
        vy_print_expression(p, &stmt->x, true, 0);
    }
}

static void print_block_head(vy_printer *p, const vy_stmt *stmt, const vy_stmt *parent)
{
    switch ((vy_stmt_kind)stmt->kind) {
    case VY_STMT_IF:
        print_head(p, "if", &stmt->x);
        break;
    case VY_STMT_SWITCH:
        print_head(p, "switch", &stmt->x);
        break;
    case VY_STMT_CASE:
        print_case(p, stmt, parent);
        break;
    case VY_STMT_FOR:
        print_for(p, stmt);
        break;
    case VY_STMT_WHILE:
        print_head(p, "while", &stmt->x);
        break;
    case VY_STMT_REGION:
        vy_text_printf(p->out, "region ");
        print_string(p, stmt->name);
        vy_text_printf(p->out, " {\n");
        break;
    default:
        vy_text_printf(p->out, "{\n");
        break;
    }
}

static void print_simple(vy_printer *p, const vy_stmt *stmt)
{
    switch ((vy_stmt_kind)stmt->kind) {
    case VY_STMT_LET:
    case VY_STMT_VAR:
        print_binding(p, stmt);
        break;
    case VY_STMT_ARRAY: {
        const vy_var *array = &p->program->vars.data[stmt->ref];
        vy_text_printf(p->out, "var %s : %s[%u]", array->name,
                       vyre_type_keyword((vyre_type)array->type), (unsigned)array->array_count);
        break;
    }
    case VY_STMT_ASSIGN:
        vy_text_printf(p->out, "%s = ", variable_name(p, stmt->ref));
        vy_print_expression(p, &stmt->x, true, 0);
        break;
    case VY_STMT_STORE:
    case VY_STMT_ARRAY_STORE:
        print_store(p, stmt);
        break;
    case VY_STMT_ATOMIC:
        print_atomic(p, stmt);
        break;
    case VY_STMT_SUBGROUP:
        print_subgroup(p, stmt);
        break;
    case VY_STMT_UNIFORM_LOAD:
        print_uniform_load(p, stmt);
        break;
    case VY_STMT_CALL:
        print_result(p, stmt);
        vy_print_expression(p, &stmt->x, false, 0);
        break;
    case VY_STMT_BREAK:
        vy_text_printf(p->out, "break");
        break;
    case VY_STMT_CONTINUE:
        vy_text_printf(p->out, "continue");
        break;
    case VY_STMT_RETURN:
        print_return(p, stmt);
        break;
    case VY_STMT_BARRIER:
        vy_text_printf(p->out, "barrier");
        break;
    case VY_STMT_GRID_SYNC:
        vy_text_printf(p->out, "grid_sync");
        break;
    case VY_STMT_TRAP:
        vy_text_printf(p->out, "trap(%u)", (unsigned)stmt->bits);
        break;
    case VY_STMT_PRINTF:
        print_printf(p, stmt);
        break;
    default:
        break;
    }
    vy_text_append(p->out, "\n", 1);
}

/* ---- Lists -------------------------------------------------------------------------------------
 */

/* Whether an `if` is all that its parent's else holds, which is written `else if`. */
static bool is_chained(const vyre_program *program, const vy_walk *walk, uint32_t depth,
                       uint32_t index)
{
    if (depth == 0 || program->stmts.data[index].kind != VY_STMT_IF) {
        return false;
    }
    const vy_stmt *parent = &program->stmts.data[walk->open[depth].stmt];
    return parent->kind == VY_STMT_IF && parent->other == index &&
           program->stmts.data[index].next == 0;
}

static void enter(vy_printer *p, const vy_walk *walk, uint32_t index)
{
    const vy_stmt *stmts = p->program->stmts.data;
    const vy_stmt *stmt = &stmts[index];
    if (!vy_stmt_has_lists((vy_stmt_kind)stmt->kind)) {
        begin_line(p);
        print_simple(p, stmt);
        return;
    }
    const vy_stmt *parent = walk->depth > 1 ? &stmts[walk->open[walk->depth - 1].stmt] : NULL;
    if (!is_chained(p->program, walk, walk->depth - 1, index)) {
        begin_line(p);
    }
    print_block_head(p, stmt, parent);
    p->indent++;
}

static void print_else(vy_printer *p, const vy_stmt *stmt)
{
    if (stmt->other == 0) {
        return;
    }
    p->indent--;
    begin_line(p);
    vy_text_printf(p->out, "} else ");
    const vy_stmt *other = &p->program->stmts.data[stmt->other];
    if (other->kind != VY_STMT_IF || other->next) {
        vy_text_printf(p->out, "{\n");
        p->indent++;
    }
}

void vy_print_list(vy_printer *p, uint32_t first)
{
    vy_walk walk;
    uint32_t index = 0;
    vy_walk_begin(&walk, p->program, first);
    for (vy_walk_event event; (event = vy_walk_next(&walk, &index)) != VY_WALK_END;) {
        if (event == VY_WALK_ENTER) {
            enter(p, &walk, index);
        } else if (event == VY_WALK_ELSE) {
            print_else(p, &p->program->stmts.data[index]);
        } else if (!is_chained(p->program, &walk, walk.depth, index)) {
            p->indent--;
            begin_line(p);
            vy_text_printf(p->out, "}\n");
        }
    }
}

/* Statements and functions: lists that grow at the innermost open frame. */
#include "codegen/ir/builder.h"

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool can_append(vyre_builder *b)
{
    if (vy_builder_stopped(b)) {
        return false;
    }
    if (b->frames[b->depth].kind == VY_FRAME_SWITCH) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a statement stands directly in a `switch`. Fix: put it in a `case` or "
                        "`default`");
        return false;
    }
    return true;
}

static void set_head(vyre_builder *b, const vy_frame *frame, uint32_t head)
{
    vyre_program *p = b->program;
    switch (frame->kind) {
    case VY_FRAME_KERNEL:
        p->body = head;
        break;
    case VY_FRAME_FUNCTION:
        p->functions.data[frame->owner].body = head;
        break;
    case VY_FRAME_BODY:
    case VY_FRAME_SWITCH:
        p->stmts.data[frame->owner].body = head;
        break;
    case VY_FRAME_OTHER:
        p->stmts.data[frame->owner].other = head;
        break;
    }
}

/* The statement's index, 0 after an error. */
static uint32_t append(vyre_builder *b, const vy_stmt *stmt)
{
    if (vy_builder_stopped(b)) {
        return 0;
    }
    vyre_program *p = b->program;
    if (p->stmts.count >= VYRE_MAX_OPERATIONS) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the program has more than %u statements. Fix: make it smaller",
                        VYRE_MAX_OPERATIONS);
        return 0;
    }
    if (!vy_vec_reserve(&p->arena, &p->stmts, 1)) {
        vy_builder_no_memory(b);
        return 0;
    }
    uint32_t index = p->stmts.count++;
    vy_stmt *added = &p->stmts.data[index];
    *added = *stmt;
    added->loc = added->end_loc = b->at;
    vy_frame *frame = &b->frames[b->depth];
    if (frame->last) {
        p->stmts.data[frame->last].next = index;
    } else {
        set_head(b, frame, index);
    }
    frame->last = index;
    vy_builder_release_pool(b);
    return index;
}

static void open_frame(vyre_builder *b, vy_frame_kind kind, uint32_t owner)
{
    if (!owner || vy_builder_stopped(b)) {
        return;
    }
    if (b->depth >= VYRE_MAX_NESTING) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "lists of statements are nested more than %u deep. Fix: move inner parts "
                        "into a function or flatten them",
                        VYRE_MAX_NESTING);
        return;
    }
    b->frames[++b->depth] = (vy_frame){kind, owner, 0};
}

void vyre_build_end(vyre_builder *b)
{
    if (vy_builder_stopped(b)) {
        return;
    }
    if (b->depth == 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "vyre_build_end closes nothing: no list is open. Fix: call it once for "
                        "each *_begin");
        return;
    }
    const vy_frame *frame = &b->frames[b->depth--];
    if (frame->kind == VY_FRAME_FUNCTION) {
        b->function = 0;
    } else {
        b->program->stmts.data[frame->owner].end_loc = b->at;
    }
}

/* ---- Functions ------------------------------------------------------------------------------- */

vyre_ref vyre_build_function_begin(vyre_builder *b, const char *name, vyre_type return_type)
{
    if (vy_builder_stopped(b)) {
        return (vyre_ref){0};
    }
    vyre_program *p = b->program;
    if (b->depth > 0 || p->body) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a function begins %s. Fix: define functions before the kernel's body",
                        b->depth > 0 ? "inside a list of statements" : "after the kernel's body");
        return (vyre_ref){0};
    }
    if (return_type != VYRE_TYPE_VOID && !vy_builder_value_type(b, return_type, "a function")) {
        return (vyre_ref){0};
    }
    vy_function function = {.name = vy_builder_name(b, name, "function"),
                            .return_type = (uint8_t)return_type,
                            .first_parameter = p->vars.count,
                            .loc = b->at};
    if (!function.name) {
        return (vyre_ref){0};
    }
    if (!vy_vec_push(&p->arena, &p->functions, function)) {
        vy_builder_no_memory(b);
        return (vyre_ref){0};
    }
    b->function = p->functions.count - 1;
    open_frame(b, VY_FRAME_FUNCTION, b->function);
    return vy_builder_make_ref(b, VY_REF_FUNCTION, b->function);
}

static uint32_t add_var(vyre_builder *b, const char *name, vy_var_kind kind, vyre_type type,
                        const char *what)
{
    vyre_program *p = b->program;
    if (vy_builder_stopped(b)) {
        return 0;
    }
    vy_var var = {.name = vy_builder_name(b, name, what),
                  .kind = (uint8_t)kind,
                  .type = (uint8_t)type,
                  .function = b->function,
                  .loc = b->at};
    if (!var.name) {
        return 0;
    }
    if (!vy_vec_push(&p->arena, &p->vars, var)) {
        vy_builder_no_memory(b);
        return 0;
    }
    return p->vars.count - 1;
}

static vyre_ref var_ref(vyre_builder *b, uint32_t var)
{
    return var && !b->failed ? vy_builder_make_ref(b, VY_REF_VARIABLE, var) : (vyre_ref){0};
}

vyre_ref vyre_build_function_parameter(vyre_builder *b, const char *name, vyre_type type)
{
    if (vy_builder_stopped(b)) {
        return (vyre_ref){0};
    }
    const vy_frame *frame = &b->frames[b->depth];
    if (frame->kind != VY_FRAME_FUNCTION || frame->last) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a parameter is declared where no function has just begun. Fix: declare "
                        "parameters right after vyre_build_function_begin");
        return (vyre_ref){0};
    }
    if (!vy_builder_value_type(b, type, "a parameter")) {
        return (vyre_ref){0};
    }
    uint32_t var = add_var(b, name, VY_VAR_PARAMETER, type, "parameter");
    if (var) {
        b->program->functions.data[frame->owner].parameter_count++;
    }
    return var_ref(b, var);
}

/* ---- Plain statements ------------------------------------------------------------------------ */

/* Takes a handle as a value of that type; VYRE_TYPE_VOID: of its own, u32 where untyped. */
static vy_range take(vyre_builder *b, vyre_expr expr, vyre_type type, const char *what)
{
    vy_range none = {0, 0, 0};
    uint32_t node = vy_builder_use(b, expr, what);
    if (node == VY_NO_NODE) {
        return none;
    }
    bool ok = type == VYRE_TYPE_VOID ? vy_builder_settle(b, node, VYRE_TYPE_U32)
                                     : vy_builder_coerce(b, node, type, what);
    return ok ? vy_builder_place(b, node) : none;
}

static vy_range take_index(vyre_builder *b, vyre_expr expr)
{
    uint32_t node = vy_builder_use(b, expr, "the index");
    if (node == VY_NO_NODE || !vy_builder_coerce_index(b, node, "the index")) {
        return (vy_range){0, 0, 0};
    }
    return vy_builder_place(b, node);
}

static vyre_ref build_binding(vyre_builder *b, vy_stmt_kind kind, vy_var_kind var_kind,
                              const char *name, vyre_type type, vyre_expr value)
{
    if (!can_append(b) ||
        (type != VYRE_TYPE_VOID && !vy_builder_value_type(b, type, "a variable"))) {
        return (vyre_ref){0};
    }
    vy_stmt stmt = {.kind = (uint8_t)kind};
    stmt.x = take(b, value, type, "the value");
    if (!b->failed) {
        vyre_type own = (vyre_type)b->program->exprs.data[stmt.x.root].type;
        stmt.ref = add_var(b, name, var_kind, own, "variable");
    }
    append(b, &stmt);
    return var_ref(b, stmt.ref);
}

vyre_ref vyre_build_let(vyre_builder *b, const char *name, vyre_type type, vyre_expr value)
{
    return build_binding(b, VY_STMT_LET, VY_VAR_LET, name, type, value);
}

vyre_ref vyre_build_var(vyre_builder *b, const char *name, vyre_type type, vyre_expr value)
{
    return build_binding(b, VY_STMT_VAR, VY_VAR_VAR, name, type, value);
}

vyre_ref vyre_build_array(vyre_builder *b, const char *name, vyre_type type, uint32_t count)
{
    if (!can_append(b) || !vy_builder_element_type(b, type, "an array")) {
        return (vyre_ref){0};
    }
    uint32_t var = add_var(b, name, VY_VAR_ARRAY, type, "array");
    if (var) {
        b->program->vars.data[var].array_count = count;
    }
    append(b, &(vy_stmt){.kind = VY_STMT_ARRAY, .ref = var});
    return var_ref(b, var);
}

void vyre_build_assign(vyre_builder *b, vyre_ref variable, vyre_expr value)
{
    uint32_t var = can_append(b) ? vy_builder_ref(b, variable, VY_REF_VARIABLE) : 0;
    if (!var) {
        return;
    }
    const vy_var *entry = &b->program->vars.data[var];
    if (entry->kind != VY_VAR_VAR) {
        static const char *const kinds[] = {"bound by `let`", "a variable", "an array",
                                            "the index of a loop", "a parameter"};
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`%s` is %s and cannot be assigned. Fix: %s", entry->name,
                        kinds[entry->kind],
                        entry->kind == VY_VAR_ARRAY ? "assign one element: `a[i] = x`"
                                                    : "declare a `var` and assign that");
        return;
    }
    vy_stmt stmt = {.kind = VY_STMT_ASSIGN, .ref = var};
    stmt.x = take(b, value, (vyre_type)entry->type, "the value");
    append(b, &stmt);
}

void vyre_build_store(vyre_builder *b, vyre_ref place, vyre_expr index, vyre_expr value)
{
    if (!can_append(b)) {
        return;
    }
    const vyre_program *p = b->program;
    vy_stmt stmt = {.kind = VY_STMT_NONE, .ref = place.id & VY_REF_INDEX_MASK};
    vyre_type type = VYRE_TYPE_VOID;
    vy_ref_kind kind = vy_builder_ref_kind(b, place);
    if (kind == VY_REF_BUFFER) {
        stmt.kind = VY_STMT_STORE;
        type = vy_element_value_type((vyre_type)p->buffers.data[stmt.ref].type);
    } else if (kind == VY_REF_VARIABLE && p->vars.data[stmt.ref].kind == VY_VAR_ARRAY) {
        stmt.kind = VY_STMT_ARRAY_STORE;
        type = vy_element_value_type((vyre_type)p->vars.data[stmt.ref].type);
    } else {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s cannot be stored to. Fix: store to a buffer or a private array",
                        kind == VY_REF_TABLE ? "a table is constant and" : "this");
        return;
    }
    stmt.x = take_index(b, index);
    stmt.y = take(b, value, type, "the value stored");
    append(b, &stmt);
}

/* The variable that a statement binds its result to, 0 where `name` is NULL. */
static uint32_t result_var(vyre_builder *b, const char *name, vyre_type type)
{
    return name ? add_var(b, name, VY_VAR_LET, type, "variable") : 0;
}

vyre_ref vyre_build_atomic(vyre_builder *b, vyre_atomic op, vyre_order order, const char *name,
                           vyre_ref buffer, vyre_expr index, vyre_expr x, vyre_expr y)
{
    uint32_t entry = can_append(b) ? vy_builder_ref(b, buffer, VY_REF_BUFFER) : 0;
    if (!entry) {
        return (vyre_ref){0};
    }
    if ((unsigned)op >= VYRE_ATOMIC_COUNT || (unsigned)order > VYRE_ORDER_ACQ_REL) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "there is no such atomic operation or order. Fix: use VYRE_ATOMIC_ and "
                        "VYRE_ORDER_ values");
        return (vyre_ref){0};
    }
    uint32_t count = vy_atomic_operand_count(op);
    if ((count < 1 && x.id) || (count < 2 && y.id)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s takes %u values beside its place. Fix: pass no more than those",
                        vy_atomic_text(op), count);
        return (vyre_ref){0};
    }
    if (op == VYRE_ATOMIC_STORE && name) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "atomic_store gives no value to bind to `%s`. Fix: write it as a "
                        "statement of its own",
                        name);
        return (vyre_ref){0};
    }
    vyre_type type = (vyre_type)b->program->buffers.data[entry].type;
    vy_stmt stmt = {
        .kind = VY_STMT_ATOMIC, .atomic = (uint8_t)op, .order = (uint8_t)order, .ref = entry};
    stmt.x = take_index(b, index);
    if (count > 0) {
        stmt.y = take(b, x, type, "the operand of the atomic");
    }
    if (count > 1) {
        stmt.z = take(b, y, type, "the new value of the atomic");
    }
    stmt.result = result_var(b, name, type);
    append(b, &stmt);
    return var_ref(b, stmt.result);
}

static bool is_subgroup_type(vyre_builder *b, vyre_subgroup op, vyre_type type, vy_loc loc)
{
    const vy_subgroup_info *info = vy_subgroup_get(op);
    bool is_bool = vy_type_component(type) == VYRE_TYPE_BOOL;
    bool is_bitwise = info->op == VYRE_OP_AND || info->op == VYRE_OP_OR || info->op == VYRE_OP_XOR;
    const char *need = NULL;
    switch (info->kind) {
    case VY_SUBGROUP_VOTE:
    case VY_SUBGROUP_BALLOT:
        need = type == VYRE_TYPE_BOOL ? NULL : "a bool";
        break;
    case VY_SUBGROUP_REDUCE:
    case VY_SUBGROUP_INCLUSIVE:
    case VY_SUBGROUP_EXCLUSIVE:
        if (is_bitwise && !vy_type_is_integer(type)) {
            need = "an integer";
        } else if (is_bool) {
            need = "a number";
        }
        break;
    default:
        break;
    }
    if (need) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc, "%s takes %s, not %s. Fix: %s",
                        info->text, need, vyre_type_keyword(type),
                        is_bool ? "convert it, such as `u32(b)`"
                                : "compare or convert it, such as `x != 0` or `u32(x)`");
    }
    return need == NULL;
}

vyre_ref vyre_build_subgroup(vyre_builder *b, vyre_subgroup op, const char *name, vyre_expr x,
                             vyre_expr y)
{
    if (!can_append(b)) {
        return (vyre_ref){0};
    }
    const vy_subgroup_info *info = vy_subgroup_get(op);
    if ((unsigned)op >= VYRE_SUBGROUP_COUNT || (info->operand_count < 1 && x.id) ||
        (info->operand_count < 2 && y.id)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "there is no such subgroup operation, or it takes fewer operands. Fix: use "
                        "a VYRE_SUBGROUP_ value and the operands of its row");
        return (vyre_ref){0};
    }
    vy_stmt stmt = {.kind = VY_STMT_SUBGROUP, .subgroup = (uint8_t)op};
    vyre_type type = VYRE_TYPE_BOOL;
    if (info->operand_count > 0) {
        stmt.x = take(b, x, VYRE_TYPE_VOID, "the operand of the subgroup operation");
        if (b->failed) {
            return (vyre_ref){0};
        }
        type = (vyre_type)b->program->exprs.data[stmt.x.root].type;
        if (!is_subgroup_type(b, op, type, b->at)) {
            return (vyre_ref){0};
        }
    }
    if (info->operand_count > 1) {
        stmt.y = take(b, y, VYRE_TYPE_U32, "the lane of the subgroup operation");
    }
    type = info->kind == VY_SUBGROUP_BALLOT ? VYRE_TYPE_U32X4 : type;
    stmt.result = result_var(b, name, type);
    append(b, &stmt);
    return var_ref(b, stmt.result);
}

vyre_ref vyre_build_uniform_load(vyre_builder *b, const char *name, vyre_ref buffer,
                                 vyre_expr index)
{
    uint32_t entry = can_append(b) ? vy_builder_ref(b, buffer, VY_REF_BUFFER) : 0;
    if (!entry) {
        return (vyre_ref){0};
    }
    vy_stmt stmt = {.kind = VY_STMT_UNIFORM_LOAD, .ref = entry};
    stmt.x = take_index(b, index);
    vyre_type type = vy_element_value_type((vyre_type)b->program->buffers.data[entry].type);
    stmt.result = add_var(b, name, VY_VAR_LET, type, "variable");
    append(b, &stmt);
    return var_ref(b, stmt.result);
}

vyre_ref vyre_build_call_statement(vyre_builder *b, const char *name, vyre_ref function,
                                   const vyre_expr *arguments, uint32_t count)
{
    uint32_t callee = can_append(b) ? vy_builder_ref(b, function, VY_REF_FUNCTION) : 0;
    if (!callee) {
        return (vyre_ref){0};
    }
    vyre_type type = (vyre_type)b->program->functions.data[callee].return_type;
    if (type == VYRE_TYPE_VOID && name) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`%s` gives no value to bind to `%s`. Fix: call it as a statement of its "
                        "own, or give it a return type",
                        b->program->functions.data[callee].name, name);
        return (vyre_ref){0};
    }
    uint32_t node = vy_builder_call(b, callee, arguments, count);
    if (node == VY_NO_NODE) {
        return (vyre_ref){0};
    }
    node = vy_builder_use(b, (vyre_expr){b->pool_base + node}, "the call");
    vy_stmt stmt = {.kind = VY_STMT_CALL};
    stmt.x = vy_builder_place(b, node);
    stmt.result = result_var(b, name, type);
    append(b, &stmt);
    return var_ref(b, stmt.result);
}

/* ---- Control --------------------------------------------------------------------------------- */

void vyre_build_if_begin(vyre_builder *b, vyre_expr condition)
{
    if (can_append(b)) {
        vy_stmt stmt = {.kind = VY_STMT_IF};
        stmt.x = take(b, condition, VYRE_TYPE_BOOL, "the condition of `if`");
        open_frame(b, VY_FRAME_BODY, append(b, &stmt));
    }
}

void vyre_build_else(vyre_builder *b)
{
    if (vy_builder_stopped(b)) {
        return;
    }
    vy_frame *frame = &b->frames[b->depth];
    if (frame->kind != VY_FRAME_BODY || b->program->stmts.data[frame->owner].kind != VY_STMT_IF) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`else` stands where no `if` body is open. Fix: call vyre_build_else "
                        "between vyre_build_if_begin and its vyre_build_end");
        return;
    }
    frame->kind = VY_FRAME_OTHER;
    frame->last = 0;
}

void vyre_build_switch_begin(vyre_builder *b, vyre_expr selector)
{
    if (!can_append(b)) {
        return;
    }
    vy_stmt stmt = {.kind = VY_STMT_SWITCH};
    uint32_t node = vy_builder_use(b, selector, "the selector of `switch`");
    if (node != VY_NO_NODE && vy_builder_coerce_word(b, node, "the selector of `switch`")) {
        stmt.x = vy_builder_place(b, node);
    }
    open_frame(b, VY_FRAME_SWITCH, append(b, &stmt));
}

void vyre_build_case_begin(vyre_builder *b, const uint32_t *values, uint32_t count)
{
    if (vy_builder_stopped(b)) {
        return;
    }
    if (b->frames[b->depth].kind != VY_FRAME_SWITCH || (count && !values)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a `case` stands outside a `switch`. Fix: open it directly in one");
        return;
    }
    vyre_program *p = b->program;
    vy_stmt stmt = {.kind = VY_STMT_CASE, .first_value = p->values.count, .value_count = count};
    if (!vy_vec_reserve(&p->arena, &p->values, count)) {
        vy_builder_no_memory(b);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        p->values.data[p->values.count++] = values[i];
    }
    open_frame(b, VY_FRAME_BODY, append(b, &stmt));
}

static vyre_ref for_begin(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to,
                          vyre_expr step, bool is_down)
{
    if (!can_append(b)) {
        return (vyre_ref){0};
    }
    uint32_t nodes[3] = {vy_builder_use(b, from, "the lower bound of `for`"),
                         vy_builder_use(b, to, "the upper bound of `for`"), 0};
    uint32_t count = 2;
    if (step.id) {
        nodes[count++] = vy_builder_use(b, step, "the step of `for`");
    }
    vyre_type type = VYRE_TYPE_U32;
    if (b->failed || !vy_builder_unify(b, nodes, count, "the range of `for`", &type)) {
        return (vyre_ref){0};
    }
    vy_stmt stmt = {.kind = VY_STMT_FOR, .down = is_down};
    vy_range ranges[3] = {{0, 0, 0}};
    for (uint32_t i = 0; i < count; i++) {
        if (!vy_builder_coerce_word(b, nodes[i], "the range of `for`")) {
            return (vyre_ref){0};
        }
        type = (vyre_type)b->pool.data[nodes[i]].type;
        ranges[i] = vy_builder_place(b, nodes[i]);
    }
    stmt.x = ranges[0];
    stmt.y = ranges[1];
    stmt.z = ranges[2];
    stmt.result = add_var(b, name, VY_VAR_INDEX, type, "loop index");
    open_frame(b, VY_FRAME_BODY, append(b, &stmt));
    return var_ref(b, stmt.result);
}

vyre_ref vyre_build_for_begin(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to,
                              vyre_expr step)
{
    return for_begin(b, name, from, to, step, false);
}

vyre_ref vyre_build_for_down_begin(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to,
                                   vyre_expr step)
{
    return for_begin(b, name, from, to, step, true);
}

void vyre_build_while_begin(vyre_builder *b, vyre_expr condition)
{
    if (can_append(b)) {
        vy_stmt stmt = {.kind = VY_STMT_WHILE};
        stmt.x = take(b, condition, VYRE_TYPE_BOOL, "the condition of `while`");
        open_frame(b, VY_FRAME_BODY, append(b, &stmt));
    }
}

void vyre_build_block_begin(vyre_builder *b)
{
    if (can_append(b)) {
        open_frame(b, VY_FRAME_BODY, append(b, &(vy_stmt){.kind = VY_STMT_BLOCK}));
    }
}

void vyre_build_region_begin(vyre_builder *b, const char *name)
{
    if (can_append(b)) {
        vy_stmt stmt = {.kind = VY_STMT_REGION, .name = vy_builder_name(b, name, "region")};
        open_frame(b, VY_FRAME_BODY, append(b, &stmt));
    }
}

static bool is_in_loop(const vyre_builder *b)
{
    for (uint32_t i = b->depth; i > 0 && b->frames[i].kind != VY_FRAME_FUNCTION; i--) {
        uint8_t kind = b->program->stmts.data[b->frames[i].owner].kind;
        if (kind == VY_STMT_FOR || kind == VY_STMT_WHILE) {
            return true;
        }
    }
    return false;
}

static void build_jump(vyre_builder *b, vy_stmt_kind kind, const char *text)
{
    if (!can_append(b)) {
        return;
    }
    if (!is_in_loop(b)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`%s` stands outside a loop. Fix: use `return`, or put it in a `for` or "
                        "`while`",
                        text);
        return;
    }
    append(b, &(vy_stmt){.kind = (uint8_t)kind});
}

void vyre_build_break(vyre_builder *b)
{
    build_jump(b, VY_STMT_BREAK, "break");
}

void vyre_build_continue(vyre_builder *b)
{
    build_jump(b, VY_STMT_CONTINUE, "continue");
}

void vyre_build_return(vyre_builder *b, vyre_expr value)
{
    if (!can_append(b)) {
        return;
    }
    vyre_type type = (vyre_type)b->program->functions.data[b->function].return_type;
    vy_stmt stmt = {.kind = VY_STMT_RETURN};
    if (type != VYRE_TYPE_VOID && value.id == 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`return` in `%s` gives no value. Fix: return a value of type %s",
                        b->program->functions.data[b->function].name, vyre_type_keyword(type));
        return;
    }
    if (type == VYRE_TYPE_VOID && value.id) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`return` gives a value where none is returned. Fix: write `return` "
                        "alone, or give the function a return type");
        return;
    }
    if (value.id) {
        stmt.x = take(b, value, type, "the value returned");
    }
    append(b, &stmt);
}

void vyre_build_barrier(vyre_builder *b)
{
    if (can_append(b)) {
        append(b, &(vy_stmt){.kind = VY_STMT_BARRIER});
    }
}

void vyre_build_grid_sync(vyre_builder *b)
{
    if (can_append(b)) {
        append(b, &(vy_stmt){.kind = VY_STMT_GRID_SYNC});
    }
}

void vyre_build_trap(vyre_builder *b, uint32_t code)
{
    if (can_append(b)) {
        append(b, &(vy_stmt){.kind = VY_STMT_TRAP, .bits = code});
    }
}

void vyre_build_printf(vyre_builder *b, const char *format, const vyre_expr *values, uint32_t count)
{
    vy_stmt stmt = {.kind = VY_STMT_PRINTF};
    if (can_append(b)) {
        vy_builder_fill_printf(b, format, values, count, &stmt);
        append(b, &stmt);
    }
}

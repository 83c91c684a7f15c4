/* The validator: its steps, its error, and the rules of the header and the declarations. */
#include "codegen/ir/validate.h"

#include <stdio.h>

void vy_validator_fail(vy_validator *v, vy_loc loc, const char *format, ...)
{
    if (v->result != VYRE_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    v->result = vy_diag_setv(v->diag, VYRE_ERROR_INVALID_PROGRAM, loc, format, arguments);
    va_end(arguments);
}

void vy_validator_no_memory(vy_validator *v)
{
    if (v->result == VYRE_OK) {
        v->result = vy_diag_no_memory(v->diag);
    }
}

vy_place_text vy_place(vy_loc loc)
{
    vy_place_text place = {""};
    if (loc.line) {
        snprintf(place.text, sizeof place.text, " at %u:%u", loc.line, loc.column);
    }
    return place;
}

const char *vy_stmt_text(vy_stmt_kind kind)
{
    static const char *const texts[VY_STMT_KIND_COUNT] = {[VY_STMT_NONE] = "statement",
                                                          [VY_STMT_LET] = "let",
                                                          [VY_STMT_VAR] = "var",
                                                          [VY_STMT_ARRAY] = "var",
                                                          [VY_STMT_ASSIGN] = "assignment",
                                                          [VY_STMT_STORE] = "store",
                                                          [VY_STMT_ARRAY_STORE] = "store",
                                                          [VY_STMT_ATOMIC] = "atomic",
                                                          [VY_STMT_UNIFORM_LOAD] = "uniform load",
                                                          [VY_STMT_SUBGROUP] = "subgroup operation",
                                                          [VY_STMT_CALL] = "call",
                                                          [VY_STMT_IF] = "if",
                                                          [VY_STMT_SWITCH] = "switch",
                                                          [VY_STMT_CASE] = "case",
                                                          [VY_STMT_FOR] = "for",
                                                          [VY_STMT_WHILE] = "while",
                                                          [VY_STMT_BLOCK] = "block",
                                                          [VY_STMT_REGION] = "region",
                                                          [VY_STMT_BREAK] = "break",
                                                          [VY_STMT_CONTINUE] = "continue",
                                                          [VY_STMT_RETURN] = "return",
                                                          [VY_STMT_BARRIER] = "barrier",
                                                          [VY_STMT_GRID_SYNC] = "grid_sync",
                                                          [VY_STMT_TRAP] = "trap",
                                                          [VY_STMT_PRINTF] = "printf"};
    return kind < VY_STMT_KIND_COUNT ? texts[kind] : "statement";
}

/* ---- Header ---------------------------------------------------------------------------------- */

const char *vy_expr_name(const vyre_program *program, const vy_expr *expr)
{
    switch (expr->op) {
    case VYRE_OP_BUILTIN:
        return vy_builtin_text((vyre_builtin)expr->ref);
    case VYRE_OP_VARIABLE:
    case VYRE_OP_ELEMENT:
        return program->vars.data[expr->ref].name;
    case VYRE_OP_LOAD:
    case VYRE_OP_LENGTH:
        return program->buffers.data[expr->ref].name;
    case VYRE_OP_TABLE:
        return program->tables.data[expr->ref].name;
    case VYRE_OP_CALL:
        return program->functions.data[expr->ref].name;
    default:
        return NULL;
    }
}

static void check_workgroup(vy_validator *v)
{
    const uint32_t *size = v->program->workgroup;
    uint64_t volume = 1;
    for (int i = 0; i < 3; i++) {
        if (size[i] == 0) {
            vy_validator_fail(v, (vy_loc){0, 0},
                              "the workgroup size %u, %u, %u has a zero. Fix: use at least 1 in "
                              "each dimension",
                              size[0], size[1], size[2]);
            return;
        }
        volume = volume > VY_MAX_WORKGROUP_VOLUME ? volume : volume * size[i];
    }
    if (volume > VY_MAX_WORKGROUP_VOLUME) {
        vy_validator_fail(v, (vy_loc){0, 0},
                          "the workgroup %u, %u, %u has more than %u invocations. Fix: make it "
                          "smaller; every device takes 128, and what one takes beyond that is "
                          "checked when the program meets it",
                          size[0], size[1], size[2], VY_MAX_WORKGROUP_VOLUME);
    }
}

static void check_rules(vy_validator *v)
{
    const vyre_program *p = v->program;
    if (p->subgroup_width && p->workgroup[0] % p->subgroup_width) {
        vy_validator_fail(
            v, (vy_loc){0, 0},
            "`subgroup %u` needs a workgroup whose x is a multiple of it, not %u. Fix: "
            "write `workgroup %u`",
            p->subgroup_width, p->workgroup[0],
            (p->workgroup[0] / p->subgroup_width + 1) * p->subgroup_width);
    }
    if (p->passes == 0) {
        vy_validator_fail(v, (vy_loc){0, 0},
                          "`fixpoint 0` runs no pass. Fix: give the largest number of passes, at "
                          "least 1");
    }
    if (p->until) {
        const vy_buffer *flag = &p->buffers.data[p->until];
        bool has_mode = flag->mode == VYRE_BUFFER_SCRATCH || flag->mode == VYRE_BUFFER_INOUT;
        if (!has_mode || flag->type != VYRE_TYPE_U32) {
            vy_validator_fail(v, flag->loc,
                              "the flag `%s` of `until` is `%s` of %s. Fix: make it a scratch or "
                              "inout buffer of u32",
                              flag->name, vy_buffer_mode_text((vyre_buffer_mode)flag->mode),
                              vyre_type_keyword((vyre_type)flag->type));
        }
    }
    if (p->grid_over) {
        const vy_buffer *buffer = &p->buffers.data[p->grid_over];
        if (buffer->mode == VYRE_BUFFER_SHARED) {
            vy_validator_fail(v, buffer->loc,
                              "`grid over %s` names a shared buffer. Fix: name a buffer that is "
                              "not shared",
                              buffer->name);
        }
        if (p->workgroup[1] != 1 || p->workgroup[2] != 1) {
            vy_validator_fail(v, (vy_loc){0, 0},
                              "`grid over %s` needs a workgroup of one dimension, not %u, %u, %u. "
                              "Fix: write `workgroup %u`",
                              buffer->name, p->workgroup[0], p->workgroup[1], p->workgroup[2],
                              p->workgroup[0]);
        }
    }
}

/* It must not change while the program runs. */
static void check_grid_from(vy_validator *v)
{
    const vyre_program *p = v->program;
    const vy_buffer *buffer = &p->buffers.data[p->grid_from];
    bool has_mode = buffer->mode == VYRE_BUFFER_IN || buffer->mode == VYRE_BUFFER_UNIFORM;
    if (p->grid_from && (!has_mode || buffer->type != VYRE_TYPE_U32)) {
        vy_validator_fail(v, buffer->loc,
                          "the buffer `%s` of `grid from` is `%s` of %s. Fix: make it an in or "
                          "uniform buffer of u32, whose first three elements are the workgroups "
                          "in x, y and z",
                          buffer->name, vy_buffer_mode_text((vyre_buffer_mode)buffer->mode),
                          vyre_type_keyword((vyre_type)buffer->type));
    }
}

static void check_counts(vy_validator *v)
{
    const vyre_program *p = v->program;
    if (p->binding_count > VYRE_MAX_BUFFERS) {
        vy_validator_fail(v, p->buffers.data[p->buffers.count - 1].loc,
                          "the program has %u buffers, more than %u. Fix: join some of them",
                          p->binding_count, VYRE_MAX_BUFFERS);
    }
    if (p->shared_count > VYRE_MAX_SHARED) {
        vy_validator_fail(v, p->buffers.data[p->buffers.count - 1].loc,
                          "the program has %u shared buffers, more than %u. Fix: join some of them",
                          p->shared_count, VYRE_MAX_SHARED);
    }
    if (p->params.count - 1 > VYRE_MAX_PARAMS) {
        vy_validator_fail(v, p->params.data[p->params.count - 1].loc,
                          "the program has %u params, more than %u. Fix: pass them in an `in` "
                          "buffer",
                          p->params.count - 1, VYRE_MAX_PARAMS);
    }
}

/* Whether a count needs the number of workgroups, itself or by the length of a buffer that does. */
static bool count_uses_groups(const vyre_program *p, vy_range count, const bool *uses)
{
    for (uint32_t i = count.begin; i < count.end; i++) {
        const vy_expr *expr = &p->exprs.data[i];
        bool is_groups = expr->op == VYRE_OP_BUILTIN && expr->ref >= VYRE_BUILTIN_NUM_GROUPS_X &&
                         expr->ref <= VYRE_BUILTIN_NUM_GROUPS_Z;
        if (is_groups || (expr->op == VYRE_OP_LENGTH && uses[expr->ref])) {
            return true;
        }
    }
    return false;
}

static void check_buffer(vy_validator *v, const vy_buffer *buffer)
{
    const vyre_program *p = v->program;
    const char *mode = vy_buffer_mode_text((vyre_buffer_mode)buffer->mode);
    const vy_expr *root = &p->exprs.data[buffer->count.root];
    uint32_t offender = 0;
    switch (buffer->mode) {
    case VYRE_BUFFER_SHARED:
        if (root->op != VYRE_OP_LITERAL || root->bits[0] == 0) {
            vy_validator_fail(v, buffer->loc,
                              "the count of the shared buffer `%s` is no literal above 0. Fix: "
                              "write one, such as `shared %s : u32[256]`",
                              buffer->name, buffer->name);
        }
        return;
    case VYRE_BUFFER_SCRATCH:
    case VYRE_BUFFER_SCRATCH_KEEP:
        if (!buffer->count.root) {
            vy_validator_fail(v, buffer->loc,
                              "the %s buffer `%s` has no count, and nothing is bound to it that "
                              "would give one. Fix: write a count, such as `u32[len(x)]`",
                              mode, buffer->name);
        }
        break;
    default:
        break;
    }
    if (!vy_host_evaluable(p, buffer->count, NULL, &offender)) {
        vy_validator_fail(v, p->exprs.data[offender].loc,
                          "the host cannot evaluate the count of `%s` before a dispatch. Fix: use "
                          "only literals, params, %s, over bool, u32 and i32",
                          buffer->name, vy_host_parts(p));
    }
}

static void check_grid_of(vy_validator *v, const bool *uses_groups)
{
    const vyre_program *p = v->program;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t offender = 0;
        if (!vy_host_evaluable(p, p->grid_of[i], NULL, &offender)) {
            vy_validator_fail(v, p->exprs.data[offender].loc,
                              "the host cannot evaluate the workgroups of `grid of` before a "
                              "dispatch. Fix: use only literals, params, lengths of buffers that "
                              "are not shared and group_size, over bool, u32 and i32");
        } else if (count_uses_groups(p, p->grid_of[i], uses_groups)) {
            vy_validator_fail(v, p->exprs.data[p->grid_of[i].root].loc,
                              "the workgroups of `grid of` follow num_groups, which is what they "
                              "say. Fix: use lengths and counts without num_groups");
        }
    }
}

static void check_buffers(vy_validator *v)
{
    const vyre_program *p = v->program;
    bool *uses_groups = vy_arena_alloc(&v->scratch, p->buffers.count, sizeof *uses_groups);
    if (!uses_groups) {
        vy_validator_no_memory(v);
        return;
    }
    for (uint32_t i = 1; i < p->buffers.count; i++) {
        const vy_buffer *buffer = &p->buffers.data[i];
        check_buffer(v, buffer);
        uses_groups[i] = count_uses_groups(p, buffer->count, uses_groups);
    }
    if (p->grid_over && uses_groups[p->grid_over]) {
        vy_validator_fail(v, p->buffers.data[p->grid_over].loc,
                          "the grid follows the length of `%s`, whose count follows the grid by "
                          "num_groups. Fix: use a count without num_groups, or give the grid at "
                          "the dispatch",
                          p->buffers.data[p->grid_over].name);
    }
    check_grid_of(v, uses_groups);
}

void vy_validate_header(vy_validator *v)
{
    check_workgroup(v);
    check_counts(v);
    check_rules(v);
    check_grid_from(v);
    check_buffers(v);
}

static void find_uses(vyre_program *p)
{
    vy_uses uses = {.kinds = 0};
    for (uint32_t i = 1; i < p->exprs.count; i++) {
        const vy_expr *expr = &p->exprs.data[i];
        uses.ops[expr->op / 64u] |= (uint64_t)1 << expr->op % 64u;
        uses.types |= (uint64_t)1 << expr->type;
        uses.builtins |= expr->op == VYRE_OP_BUILTIN ? (uint64_t)1 << expr->ref : 0;
    }
    for (uint32_t i = 1; i < p->stmts.count; i++) {
        uses.kinds |= (uint64_t)1 << p->stmts.data[i].kind;
    }
    p->uses = uses;
}

vyre_result vy_program_validate(vyre_program *program, vy_names_state names, vyre_diag *diag)
{
    static void (*const steps[])(vy_validator *) = {vy_validate_header, vy_validate_names,
                                                    vy_validate_bodies, vy_validate_syncs,
                                                    vy_validate_uniformity};
    vy_validator v = {.program = program, .diag = diag, .result = VYRE_OK, .names = names};
    vy_arena_init(&v.scratch, &program->arena.allocator);
    v.kinds = vy_arena_alloc(&v.scratch, program->stmts.count, sizeof *v.kinds);
    v.facts = vy_arena_alloc(&v.scratch, program->functions.count, sizeof *v.facts);
    if (program->arena.failed || !v.kinds || !v.facts) {
        vy_validator_no_memory(&v);
    } else {
        find_uses(program);
    }
    for (size_t i = 0; i < VY_COUNT_OF(steps) && v.result == VYRE_OK; i++) {
        steps[i](&v);
    }
    if (v.result == VYRE_OK) {
        program->prints_shape =
            vy_program_has_prints(program) && vy_program_is_workgroup_agnostic(program, NULL);
    }
    vy_arena_finish(&v.scratch);
    return v.result;
}

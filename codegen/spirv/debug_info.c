/* What debug_info.h says, of one module: its own words, and those in the functions. What was put in
 * by a call says so. */
#include "codegen/spirv/debug_info.h"

#include "codegen/spirv/debug_scopes.h"
#include "codegen/spirv/emit.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <stdio.h>
#include <string.h>

#define OP(name) ((uint32_t)NonSemanticShaderDebugInfo100##name)

#define DWARF_VERSION 4u
/* What is left of an instruction's words for its text, its end apart. */
#define MOST_TEXT (4u * (VY_MAX_INSTRUCTION_WORDS - 2u) - 1u)

typedef struct constant {
    uint32_t value, id;
} constant;

struct vy_debug_info {
    uint32_t set, nothing, word; /* the import; the types void and u32 */
    uint32_t source, unit, expression, none, zero;
    vy_scopes scopes;
    uint32_t *scope_ids;                /* in this body */
    uint32_t *functions;                /* by function: DebugFunction */
    uint32_t *variables;                /* by variable, in this body */
    uint32_t *params;                   /* by param of the program, in this body */
    bool *is_declared;                  /* by buffer */
    uint32_t types[2][VYRE_TYPE_COUNT]; /* as values, as elements in memory */
    constant *constants;                /* open addressing */
    uint32_t constant_count, constant_capacity;
    /* Of the body: */
    uint32_t *inlined;                      /* by call */
    uint32_t *first_binding, *next_binding; /* by block: among `bindings` */
    uint32_t *bindings;                     /* of the form, by block */
    /* Of the block: */
    uint32_t scope, call;
    vy_loc line;
};

typedef struct vy_debug_info info;

/* ---- Words ----------------------------------------------------------------------------------- */

static uint32_t global(vy_emitter *emitter, uint32_t op, const uint32_t *operands, uint32_t count)
{
    vy_module *m = &emitter->module;
    const info *d = emitter->debug;
    uint32_t id = vy_module_debug_id(m);
    vy_words_op(m->arena, &m->sections[VY_SECTION_DEBUG], SpvOpExtInst,
                VY_LIST(d->nothing, id, d->set, op), operands, count);
    return id;
}

static void local(vy_emitter *emitter, uint32_t op, const uint32_t *operands, uint32_t count)
{
    vy_module *m = &emitter->module;
    const info *d = emitter->debug;
    vy_words_op(m->arena, m->code, SpvOpExtInst,
                VY_LIST(d->nothing, vy_module_debug_id(m), d->set, op), operands, count);
}

static uint32_t string_of(vy_emitter *emitter, const char *text, size_t size)
{
    vy_module *m = &emitter->module;
    vy_words words = {0};
    uint32_t id = vy_module_debug_id(m);
    vy_words_bytes(m->arena, &words, text, size);
    vy_words_op(m->arena, &m->sections[VY_SECTION_STRINGS], SpvOpString, &id, 1, words.data,
                words.count);
    return id;
}

static uint32_t name_of(vy_emitter *emitter, const char *name)
{
    name = name ? name : "";
    return string_of(emitter, name, strlen(name));
}

static constant *place_of(constant *table, uint32_t capacity, uint32_t value)
{
    uint32_t at = value * 2654435761u;
    at = (at ^ at >> 15) & (capacity - 1);
    while (table[at].id && table[at].value != value) {
        at = (at + 1) & (capacity - 1);
    }
    return &table[at];
}

static bool grow_constants(vy_emitter *emitter)
{
    info *d = emitter->debug;
    uint32_t capacity = d->constant_capacity ? 2 * d->constant_capacity : 64;
    constant *table = vy_arena_alloc(emitter->module.arena, capacity, sizeof *table);
    if (!table) {
        return false;
    }
    for (uint32_t i = 0; i < d->constant_capacity; i++) {
        if (d->constants[i].id) {
            *place_of(table, capacity, d->constants[i].value) = d->constants[i];
        }
    }
    d->constants = table;
    d->constant_capacity = capacity;
    return true;
}

static uint32_t number(vy_emitter *emitter, uint32_t value)
{
    vy_module *m = &emitter->module;
    info *d = emitter->debug;
    if (2 * d->constant_count >= d->constant_capacity && !grow_constants(emitter)) {
        return 0;
    }
    constant *at = place_of(d->constants, d->constant_capacity, value);
    if (!at->id) {
        *at = (constant){value, vy_module_debug_id(m)};
        d->constant_count++;
        vy_module_op(m, VY_SECTION_DEBUG, SpvOpConstant, VY_LIST(d->word, at->id, value));
    }
    return at->id;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static uint32_t encoding_of(vyre_type type)
{
    switch ((int)type) {
    case VYRE_TYPE_BOOL:
        return NonSemanticShaderDebugInfo100Boolean;
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16:
    case VYRE_TYPE_F32:
    case VYRE_TYPE_F64:
        return NonSemanticShaderDebugInfo100Float;
    case VYRE_TYPE_I8:
    case VYRE_TYPE_I16:
    case VYRE_TYPE_I32:
    case VYRE_TYPE_I64:
        return NonSemanticShaderDebugInfo100Signed;
    default:
        return NonSemanticShaderDebugInfo100Unsigned;
    }
}

/* As a value, where small ones are as wide as a word, or as an element in memory. */
static uint32_t type_id(vy_emitter *emitter, vyre_type type, bool is_element)
{
    info *d = emitter->debug;
    uint32_t *id = &d->types[is_element][(uint32_t)type < VYRE_TYPE_COUNT ? type : 0];
    uint32_t count = vy_type_components(type);
    if (*id) {
        return *id;
    }
    if (count > 1) {
        uint32_t part = type_id(emitter, vy_type_component(type), is_element);
        uint32_t parts = number(emitter, count);
        *id = global(emitter, OP(DebugTypeVector), VY_LIST(part, parts));
        return *id;
    }
    uint32_t width = type == VYRE_TYPE_BOOL ? 32 : vy_type_width(type);
    uint32_t name = name_of(emitter, vyre_type_keyword(type));
    uint32_t size = number(emitter, is_element || width > 32 ? width : 32);
    uint32_t encoding = number(emitter, encoding_of(type));
    *id = global(emitter, OP(DebugTypeBasic), VY_LIST(name, size, encoding, d->zero));
    return *id;
}

/* Count 0: as long as the buffer is. */
static uint32_t array_type(vy_emitter *emitter, vyre_type type, uint32_t count, bool is_packed)
{
    uint32_t element = type_id(emitter, type, is_packed);
    uint32_t length = number(emitter, count);
    return global(emitter, OP(DebugTypeArray), VY_LIST(element, length));
}

/* ---- Functions and blocks -------------------------------------------------------------------- */

static uint32_t function_type(vy_emitter *emitter, uint32_t function)
{
    info *d = emitter->debug;
    const vyre_program *program = emitter->ssa->program;
    uint32_t operands[2 + 255] = {d->zero, d->nothing}, count = 2;
    if (function) {
        const vy_function *f = &program->functions.data[function];
        if (vy_type_components((vyre_type)f->return_type)) {
            operands[1] = type_id(emitter, (vyre_type)f->return_type, false);
        }
        for (uint32_t i = 0; i < f->parameter_count && count < VY_COUNT_OF(operands); i++) {
            const vy_var *var = &program->vars.data[f->first_parameter + i];
            operands[count++] = type_id(emitter, (vyre_type)var->type, false);
        }
    }
    return global(emitter, OP(DebugTypeFunction), operands, count);
}

static uint32_t make_function(vy_emitter *emitter, const char *text, uint32_t function, vy_loc loc)
{
    info *d = emitter->debug;
    uint32_t name = name_of(emitter, text), type = function_type(emitter, function);
    uint32_t line = number(emitter, loc.line), column = number(emitter, loc.column);
    return global(emitter, OP(DebugFunction),
                  VY_LIST(name, type, d->source, line, column, d->unit, name, d->zero, line));
}

static uint32_t scope_id(vy_emitter *emitter, uint32_t index)
{
    info *d = emitter->debug;
    const vy_scope *s = &d->scopes.rows.data[index];
    uint32_t *id = &d->scope_ids[index];
    if (*id) {
        return *id;
    }
    if (s->parent == VY_NO_SCOPE) {
        uint32_t *kept = &d->functions[s->function];
        if (!*kept) {
            *kept = make_function(emitter, emitter->ssa->program->functions.data[s->function].name,
                                  s->function, s->begin);
        }
        *id = *kept;
        return *id;
    }
    uint32_t operands[5] = {d->source};
    operands[3] = scope_id(emitter, s->parent);
    operands[1] = number(emitter, s->begin.line);
    operands[2] = number(emitter, s->begin.column);
    operands[4] = s->name ? name_of(emitter, s->name) : 0;
    *id = global(emitter, OP(DebugLexicalBlock), operands, s->name ? 5 : 4);
    return *id;
}

/* The scope of a place that belongs to that call, and the call that put it in. */
static uint32_t scope_in(const vy_emitter *emitter, vy_loc loc, uint32_t call, uint32_t *out_call)
{
    const info *d = emitter->debug;
    const vy_ssa *ssa = emitter->ssa;
    uint32_t index = vy_scope_at(&d->scopes, loc), function = d->scopes.rows.data[index].function;
    call = call < ssa->calls.count ? call : 0;
    uint32_t at = call;
    while (at && ssa->calls.data[at].function != function) {
        at = ssa->calls.data[at].around;
    }
    *out_call = at;
    if (function && !at) { /* a place that is not of this call */
        *out_call = call;
        return vy_scope_of_function(&d->scopes, call ? ssa->calls.data[call].function : 0);
    }
    return index;
}

static uint32_t inlined_id(vy_emitter *emitter, uint32_t call)
{
    info *d = emitter->debug;
    if (d->inlined[call]) {
        return d->inlined[call];
    }
    const vy_call *c = &emitter->ssa->calls.data[call];
    uint32_t around, index = scope_in(emitter, c->loc, c->around, &around), operands[3] = {0};
    operands[2] = around ? inlined_id(emitter, around) : 0;
    operands[1] = scope_id(emitter, index);
    operands[0] = number(emitter, c->loc.line);
    d->inlined[call] = global(emitter, OP(DebugInlinedAt), operands, around ? 3 : 2);
    return d->inlined[call];
}

static void enter(vy_emitter *emitter, uint32_t index, uint32_t call)
{
    info *d = emitter->debug;
    if (d->scope == index && d->call == call) {
        return;
    }
    d->scope = index;
    d->call = call;
    uint32_t operands[2] = {scope_id(emitter, index)};
    operands[1] = call ? inlined_id(emitter, call) : 0;
    local(emitter, OP(DebugScope), operands, call ? 2 : 1);
}

static void set_line(vy_emitter *emitter, vy_loc loc)
{
    info *d = emitter->debug;
    if (loc.line == 0 || (loc.line == d->line.line && loc.column == d->line.column)) {
        return;
    }
    d->line = loc;
    uint32_t line = number(emitter, loc.line), column = number(emitter, loc.column);
    local(emitter, OP(DebugLine), VY_LIST(d->source, line, line, column, column));
}

/* ---- Variables ------------------------------------------------------------------------------- */

static uint32_t scope_of_variable(const vy_emitter *emitter, uint32_t index)
{
    const info *d = emitter->debug;
    const vy_var *var = &emitter->ssa->program->vars.data[index];
    uint32_t at = vy_scope_at(&d->scopes, var->loc);
    bool is_inside =
        var->kind != VY_VAR_PARAMETER && d->scopes.rows.data[at].function == var->function;
    return is_inside ? at : vy_scope_of_function(&d->scopes, var->function);
}

static uint32_t variable_id(vy_emitter *emitter, uint32_t index)
{
    info *d = emitter->debug;
    const vyre_program *program = emitter->ssa->program;
    if (index >= program->vars.count || d->variables[index]) {
        return index < program->vars.count ? d->variables[index] : 0;
    }
    const vy_var *var = &program->vars.data[index];
    uint32_t operands[8] = {0, 0, d->source, 0, 0, 0, d->zero, 0};
    operands[0] = name_of(emitter, var->name);
    operands[1] = var->kind == VY_VAR_ARRAY
                      ? array_type(emitter, (vyre_type)var->type, var->array_count, false)
                      : type_id(emitter, (vyre_type)var->type, false);
    operands[3] = number(emitter, var->loc.line);
    operands[4] = number(emitter, var->loc.column);
    operands[5] = scope_id(emitter, scope_of_variable(emitter, index));
    bool is_parameter = var->kind == VY_VAR_PARAMETER && var->function;
    if (is_parameter) {
        operands[7] =
            number(emitter, index - program->functions.data[var->function].first_parameter + 1);
    }
    d->variables[index] = global(emitter, OP(DebugLocalVariable), operands, is_parameter ? 8 : 7);
    return d->variables[index];
}

/* Goes to the variable's scope, unless it is visible from where the words are. */
static void enter_scope_of(vy_emitter *emitter, uint32_t var, uint32_t call)
{
    const info *d = emitter->debug;
    const vy_ssa *ssa = emitter->ssa;
    uint32_t wanted = scope_of_variable(emitter, var), at = d->scope;
    uint32_t function = ssa->program->vars.data[var].function;
    call = call < ssa->calls.count ? call : 0;
    while (call && ssa->calls.data[call].function != function) {
        call = ssa->calls.data[call].around;
    }
    while (at != VY_NO_SCOPE && at != wanted) {
        at = d->scopes.rows.data[at].parent;
    }
    if (at == VY_NO_SCOPE || d->call != call) {
        enter(emitter, wanted, call);
    }
}

/* The id of a value that is there; a literal that nothing else uses is a constant of its own. */
static uint32_t value_of(vy_emitter *emitter, uint32_t value)
{
    const vy_ssa *ssa = emitter->ssa;
    if (value >= ssa->ins.count || emitter->values[value]) {
        return value < ssa->ins.count ? emitter->values[value] : 0;
    }
    const vy_ins *ins = &ssa->ins.data[value];
    bool is_word = ins->type == VYRE_TYPE_U32 || ins->type == VYRE_TYPE_I32;
    return ins->op == VYRE_OP_LITERAL && is_word ? number(emitter, (uint32_t)ins->bits) : 0;
}

static void bind(vy_emitter *emitter, const vy_binding *binding)
{
    info *d = emitter->debug;
    const vyre_program *program = emitter->ssa->program;
    uint32_t value = value_of(emitter, binding->value);
    uint32_t variable = value ? variable_id(emitter, binding->var) : 0;
    if (!variable) {
        return;
    }
    bool is_part = vy_type_components((vyre_type)program->vars.data[binding->var].type) > 1;
    uint32_t operands[4] = {variable, value, d->expression, 0};
    operands[3] = is_part ? number(emitter, binding->component) : 0;
    enter_scope_of(emitter, binding->var, binding->call);
    local(emitter, OP(DebugValue), operands, is_part ? 4 : 3);
}

/* Whether the value will still be made in that block: what passes put in has higher numbers than
 * what stands behind it. */
static bool is_to_come(const vy_emitter *emitter, const vy_binding *binding)
{
    const vy_ssa *ssa = emitter->ssa;
    if (binding->value >= ssa->ins.count || emitter->values[binding->value]) {
        return false;
    }
    const vy_ins *ins = &ssa->ins.data[binding->value];
    return !ins->removed && ins->block == binding->block;
}

void vy_debug_bind(vy_emitter *emitter, uint32_t block, uint32_t instruction)
{
    info *d = emitter->debug;
    if (!d || !d->bindings) {
        return;
    }
    for (uint32_t *at = &d->next_binding[block]; *at < d->first_binding[block + 1]; ++*at) {
        const vy_binding *binding = &emitter->ssa->bindings.data[d->bindings[*at]];
        if (binding->after >= instruction ||
            (instruction != UINT32_MAX && is_to_come(emitter, binding))) {
            return;
        }
        bind(emitter, binding);
    }
}

/* To the kernel a param is what a `let` at its beginning is. */
void vy_debug_param(vy_emitter *emitter, uint32_t param, uint32_t component, uint32_t value)
{
    info *d = emitter->debug;
    if (!d || !value) {
        return;
    }
    const vy_named *p = &emitter->ssa->program->params.data[param];
    uint32_t *id = &d->params[param], index = 0;
    if (!*id) {
        uint32_t name = name_of(emitter, p->name);
        uint32_t type = type_id(emitter, (vyre_type)p->type, false);
        uint32_t line = number(emitter, p->loc.line), column = number(emitter, p->loc.column);
        uint32_t kernel = scope_id(emitter, d->scopes.kernel);
        *id = global(emitter, OP(DebugLocalVariable),
                     VY_LIST(name, type, d->source, line, column, kernel, d->zero));
    }
    bool is_part = vy_type_components((vyre_type)p->type) > 1;
    index = is_part ? number(emitter, component) : 0;
    local(emitter, OP(DebugValue), (const uint32_t[]){*id, value, d->expression, index},
          is_part ? 4 : 3);
}

void vy_debug_buffer(vy_emitter *emitter, uint32_t buffer, uint32_t variable)
{
    info *d = emitter->debug;
    if (!d || !buffer || buffer >= emitter->ssa->program->buffers.count || d->is_declared[buffer]) {
        return;
    }
    const vy_buffer *b = &emitter->ssa->program->buffers.data[buffer];
    d->is_declared[buffer] = true;
    uint32_t name = name_of(emitter, b->name);
    uint32_t line = number(emitter, b->loc.line), column = number(emitter, b->loc.column);
    uint32_t type;
    if (b->mode == VYRE_BUFFER_SHARED) {
        uint32_t count = vy_emit_shared_count(emitter, buffer);
        type = array_type(emitter, (vyre_type)b->type, count, false);
    } else { /* a block of one member */
        uint32_t elements = array_type(emitter, (vyre_type)b->type, 0, true);
        uint32_t data = name_of(emitter, "data");
        uint32_t member =
            global(emitter, OP(DebugTypeMember),
                   VY_LIST(data, elements, d->source, line, column, d->zero, d->zero, d->zero));
        uint32_t structure = number(emitter, NonSemanticShaderDebugInfo100Structure);
        type = global(emitter, OP(DebugTypeComposite),
                      VY_LIST(name, structure, d->source, line, column, d->unit, name, d->zero,
                              d->zero, member));
    }
    (void)global(emitter, OP(DebugGlobalVariable),
                 VY_LIST(name, type, d->source, line, column, d->unit, name,
                         variable ? variable : d->none, d->zero));
}

/* ---- The module ------------------------------------------------------------------------------ */

/* No code point is cut in two. */
static size_t piece_of(const char *text, size_t size)
{
    if (size <= MOST_TEXT) {
        return size;
    }
    size_t end = MOST_TEXT;
    while (end > MOST_TEXT - 3 && ((unsigned char)text[end] & 0xc0u) == 0x80u) {
        end--;
    }
    return end;
}

static void emit_source(vy_emitter *emitter)
{
    info *d = emitter->debug;
    const vyre_program *program = emitter->ssa->program;
    const char *text = program->text;
    size_t size = text ? program->text_size : 0, piece = piece_of(text, size);
    uint32_t operands[2] = {0};
    operands[0] = name_of(emitter, emitter->options->file_name);
    operands[1] = text ? string_of(emitter, text, piece) : 0;
    d->source = global(emitter, OP(DebugSource), operands, text ? 2 : 1);
    while (piece < size) {
        text += piece;
        size -= piece;
        piece = piece_of(text, size);
        uint32_t more = string_of(emitter, text, piece);
        (void)global(emitter, OP(DebugSourceContinued), VY_LIST(more));
    }
}

static void import_set(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    vy_words name = {0};
    emitter->debug->set = vy_module_debug_id(m);
    vy_words_text(m->arena, &name, "NonSemantic.Shader.DebugInfo.100");
    vy_words_op(m->arena, &m->sections[VY_SECTION_IMPORTS], SpvOpExtInstImport,
                &emitter->debug->set, 1, name.data, name.count);
}

bool vy_debug_begin(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    if (!emitter->options->debug_info) {
        return true;
    }
    info *d = emitter->debug = vy_arena_alloc(m->arena, 1, sizeof *d);
    if (!d) {
        return false;
    }
    uint32_t functions = program->functions.count ? program->functions.count : 1;
    d->functions = vy_arena_alloc(m->arena, functions, sizeof *d->functions);
    d->is_declared = vy_arena_alloc(m->arena, program->buffers.count + 1u, sizeof *d->is_declared);
    vy_scopes_find(&d->scopes, program, m->arena);
    d->scope_ids = vy_arena_alloc(m->arena, d->scopes.rows.count + 1u, sizeof *d->scope_ids);
    if (m->arena->failed) {
        return false;
    }
    d->nothing = vy_type_void(m);
    d->word = vy_type_u32(m);
    import_set(emitter);
    d->zero = number(emitter, 0);
    emit_source(emitter);
    uint32_t version = number(emitter, 1), dwarf = number(emitter, DWARF_VERSION);
    uint32_t language = number(emitter, SpvSourceLanguageUnknown);
    d->unit =
        global(emitter, OP(DebugCompilationUnit), VY_LIST(version, dwarf, d->source, language));
    d->expression = global(emitter, OP(DebugExpression), NULL, 0);
    d->none = global(emitter, OP(DebugInfoNone), NULL, 0);
    return !m->arena->failed;
}

void vy_debug_entry(vy_emitter *emitter, uint32_t function)
{
    info *d = emitter->debug;
    if (!d || emitter->module.arena->failed) {
        return;
    }
    vy_loc loc = d->scopes.rows.data[d->scopes.kernel].begin;
    uint32_t made = make_function(emitter, emitter->options->entry_name, 0, loc);
    uint32_t signature = name_of(emitter, "libvyre-vk");
    uint32_t arguments = name_of(emitter, "");
    (void)global(emitter, OP(DebugEntryPoint), VY_LIST(made, d->unit, signature, arguments));
    local(emitter, OP(DebugFunctionDefinition), VY_LIST(made, function));
    local(emitter, OP(DebugScope), VY_LIST(made));
    d->line = (vy_loc){0, 0};
    set_line(emitter, loc);
    vy_debug_begin_block(emitter);
}

/* Bindings by their blocks, in the order in which they stand. */
static bool sort_bindings(vy_emitter *emitter)
{
    info *d = emitter->debug;
    const vy_ssa *ssa = emitter->ssa;
    vy_arena *arena = emitter->module.arena;
    uint32_t blocks = ssa->blocks.count, count = ssa->bindings.count;
    d->bindings = NULL;
    if (!count) {
        return true;
    }
    uint32_t *first = vy_arena_alloc(arena, (size_t)blocks + 1, sizeof *first);
    uint32_t *next = vy_arena_alloc(arena, (size_t)blocks + 1, sizeof *next);
    uint32_t *order = vy_arena_alloc(arena, count, sizeof *order);
    if (!first || !next || !order) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = ssa->bindings.data[i].block;
        first[(block < blocks ? block : 0) + 1]++;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        first[b + 1] += first[b];
        next[b] = first[b];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = ssa->bindings.data[i].block;
        order[next[block < blocks ? block : 0]++] = i;
    }
    memcpy(next, first, ((size_t)blocks + 1) * sizeof *next);
    d->first_binding = first;
    d->next_binding = next;
    d->bindings = order;
    return true;
}

static void declare_arrays(vy_emitter *emitter)
{
    const info *d = emitter->debug;
    const vy_ssa *ssa = emitter->ssa;
    for (uint32_t i = 1; i < ssa->arrays.count; i++) {
        const vy_array *array = &ssa->arrays.data[i];
        uint32_t variable = array->var ? variable_id(emitter, array->var) : 0;
        if (variable && emitter->arrays[i]) {
            enter_scope_of(emitter, array->var, array->call);
            local(emitter, OP(DebugDeclare), VY_LIST(variable, emitter->arrays[i], d->expression));
        }
    }
}

bool vy_debug_begin_body(vy_emitter *emitter, uint32_t segment)
{
    info *d = emitter->debug;
    vy_arena *arena = emitter->module.arena;
    const vy_ssa *ssa = emitter->ssa;
    if (!d) {
        return true;
    }
    d->variables = vy_arena_alloc(arena, ssa->program->vars.count + 1u, sizeof *d->variables);
    d->params = vy_arena_alloc(arena, ssa->program->params.count + 1u, sizeof *d->params);
    d->inlined = vy_arena_alloc(arena, ssa->calls.count + 1u, sizeof *d->inlined);
    if (!sort_bindings(emitter) || arena->failed) {
        return false;
    }
    memset(d->scope_ids, 0, d->scopes.rows.count * sizeof *d->scope_ids);
    char name[VYRE_MAX_NAME + 24];
    const char *program = ssa->program->name ? ssa->program->name : "kernel";
    if (emitter->segment_count > 1) {
        snprintf(name, sizeof name, "%s.seg%u", program, segment);
    } else {
        snprintf(name, sizeof name, "%s", program);
    }
    vy_loc loc = ssa->blocks.data[1].loc;
    const vy_scope *kernel = &d->scopes.rows.data[d->scopes.kernel];
    uint32_t function = make_function(emitter, name, 0, loc.line ? loc : kernel->begin);
    d->scope_ids[d->scopes.kernel] = function;
    local(emitter, OP(DebugFunctionDefinition), VY_LIST(function, emitter->body));
    vy_debug_begin_block(emitter);
    enter(emitter, d->scopes.kernel, 0);
    set_line(emitter, loc);
    declare_arrays(emitter);
    return !arena->failed;
}

void vy_debug_begin_block(vy_emitter *emitter)
{
    if (emitter->debug) {
        emitter->debug->scope = VY_NO_SCOPE;
        emitter->debug->call = 0;
        emitter->debug->line = (vy_loc){0, 0};
    }
}

void vy_debug_place(vy_emitter *emitter, vy_loc loc, uint32_t call)
{
    if (!emitter->debug || loc.line == 0) {
        return;
    }
    uint32_t put_in, index = scope_in(emitter, loc, call, &put_in);
    enter(emitter, index, put_in);
    set_line(emitter, loc);
}

void vy_debug_end(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    if (!emitter->debug || m->arena->failed) {
        return;
    }
    const vy_access *access = &emitter->all_access;
    uint64_t touched = access->reads | access->writes | access->atomics;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED && touched >> buffer->binding & 1) {
            vy_debug_buffer(emitter, i, 0);
        }
    }
    if (emitter->target->version < 0x10600u) { /* since then it is SPIR-V's own */
        vy_module_extension(m, "SPV_KHR_non_semantic_info");
    }
}

/* The builder's life, its sticky error, the program's header and its declarations. */
#include "codegen/ir/builder.h"

#include <string.h>

void vy_builder_fail(vyre_builder *b, vyre_result code, vy_loc loc, const char *format, ...)
{
    if (b->failed) {
        return;
    }
    b->failed = true;
    va_list arguments;
    va_start(arguments, format);
    (void)vy_diag_setv(&b->diag, code, loc, format, arguments);
    va_end(arguments);
}

void vy_builder_no_memory(vyre_builder *b)
{
    if (!b->failed) {
        b->failed = true;
        (void)vy_diag_no_memory(&b->diag);
    }
}

const char *vy_builder_name(vyre_builder *b, const char *name, const char *what)
{
    size_t length = 0;
    while (name && length <= VYRE_MAX_NAME && name[length]) {
        length++;
    }
    if (length == 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at, "a %s has no name. Fix: name it",
                        what);
        return NULL;
    }
    if (length > VYRE_MAX_NAME) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the name \"%.40s...\" of a %s is longer than %u bytes. Fix: shorten it",
                        name, what, VYRE_MAX_NAME);
        return NULL;
    }
    const char *copy = vy_arena_text(&b->program->arena, name, length);
    if (!copy) {
        vy_builder_no_memory(b);
    }
    return copy;
}

/* ---- References ------------------------------------------------------------------------------ */

static uint32_t table_count(const vyre_builder *b, vy_ref_kind kind)
{
    const vyre_program *program = b->program;
    switch (kind) {
    case VY_REF_BUFFER:
        return program->buffers.count;
    case VY_REF_VARIABLE:
        return program->vars.count;
    case VY_REF_PARAM:
        return program->params.count;
    case VY_REF_TABLE:
        return program->tables.count;
    case VY_REF_FUNCTION:
        return program->functions.count;
    case VY_REF_CONSTANT:
        return program->constants.count;
    case VY_REF_NONE:
        break;
    }
    return 0;
}

static const char *ref_kind_text(vy_ref_kind kind)
{
    static const char *const texts[] = {"nothing", "a buffer",   "a variable", "a param",
                                        "a table", "a function", "a constant"};
    return texts[kind];
}

vy_ref_kind vy_builder_ref_kind(const vyre_builder *b, vyre_ref ref)
{
    uint32_t kind = ref.id >> VY_REF_SHIFT, index = ref.id & VY_REF_INDEX_MASK;
    if (kind > VY_REF_CONSTANT || index == 0 || index >= table_count(b, (vy_ref_kind)kind)) {
        return VY_REF_NONE;
    }
    return (vy_ref_kind)kind;
}

vyre_type vy_builder_variable_type(const vyre_builder *b, vyre_ref ref)
{
    return vy_builder_ref_kind(b, ref) == VY_REF_VARIABLE
               ? (vyre_type)b->program->vars.data[ref.id & VY_REF_INDEX_MASK].type
               : VYRE_TYPE_VOID;
}

uint32_t vy_builder_ref(vyre_builder *b, vyre_ref ref, vy_ref_kind kind)
{
    vy_ref_kind got = vy_builder_ref_kind(b, ref);
    if (got == kind) {
        return ref.id & VY_REF_INDEX_MASK;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                    "%s is needed here, but the reference names %s. Fix: pass what the matching "
                    "vyre_build_ function of this builder returned",
                    ref_kind_text(kind), ref_kind_text(got));
    return 0;
}

vyre_ref vy_builder_make_ref(vyre_builder *b, vy_ref_kind kind, uint32_t index)
{
    if (index > VY_REF_INDEX_MASK) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the program declares more than %u things of one kind. Fix: declare fewer",
                        VY_REF_INDEX_MASK);
        return (vyre_ref){0};
    }
    return (vyre_ref){(uint32_t)kind << VY_REF_SHIFT | index};
}

bool vy_builder_value_type(vyre_builder *b, vyre_type type, const char *what)
{
    if (type != VYRE_TYPE_BF16 && vy_type_kind_of(type) != VY_KIND_NONE) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at, "%s cannot have the type %s. Fix: %s",
                    what, vyre_type_keyword(type),
                    type == VYRE_TYPE_BF16
                        ? "use f32; elements of buffers and arrays may be bf16, and are f32 once "
                          "they are loaded"
                        : "use one of the types of docs/language.md, such as u32 or f32");
    return false;
}

bool vy_builder_element_type(vyre_builder *b, vyre_type type, const char *what)
{
    if (vyre_type_size(type)) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at, "%s cannot have the type %s. Fix: %s",
                    what, vyre_type_keyword(type),
                    vy_type_component(type) == VYRE_TYPE_BOOL
                        ? "use u32x2 or u32x4; vectors of bools are values only"
                        : "use one of the types of docs/language.md, such as u32 or f32");
    return false;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Entry 0 of every table is reserved. */
static bool reserve_entries(vyre_program *p)
{
    vy_arena *arena = &p->arena;
    return vy_vec_push(arena, &p->exprs, (vy_expr){0}) && vy_vec_push(arena, &p->call_args, 0) &&
           vy_vec_push(arena, &p->stmts, (vy_stmt){0}) && vy_vec_push(arena, &p->values, 0) &&
           vy_vec_push(arena, &p->vars, (vy_var){0}) &&
           vy_vec_push(arena, &p->buffers, (vy_buffer){0}) &&
           vy_vec_push(arena, &p->params, (vy_named){0}) &&
           vy_vec_push(arena, &p->constants, (vy_named){0}) &&
           vy_vec_push(arena, &p->tables, (vy_table){0}) &&
           vy_vec_push(arena, &p->functions, (vy_function){0});
}

vyre_result vyre_builder_create(const char *program_name, const vyre_allocator *allocator,
                                vyre_builder **out_builder)
{
    if (!out_builder) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    *out_builder = NULL;
    if (!program_name) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    vyre_allocator memory = vy_allocator_or_default(allocator);
    vyre_builder *b = vy_alloc_zeroed(&memory, 1, sizeof *b);
    if (!b) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    vy_diag_clear(&b->diag);
    vy_arena_init(&b->scratch, &memory);
    b->pool_base = 1;
    b->program = vy_alloc_zeroed(&memory, 1, sizeof *b->program);
    if (!b->program) {
        goto fail;
    }
    vyre_program *p = b->program;
    vy_arena_init(&p->arena, &memory);
    p->workgroup[0] = p->workgroup[1] = p->workgroup[2] = 1;
    p->passes = 1;
    p->loop_limit = VYRE_DEFAULT_LOOP_LIMIT;
    if (!reserve_entries(p)) {
        goto fail;
    }
    p->name = vy_builder_name(b, program_name, "program");
    if (!p->name && p->arena.failed) {
        goto fail;
    }
    *out_builder = b;
    return VYRE_OK;
fail:
    vyre_builder_destroy(&b);
    return VYRE_ERROR_OUT_OF_HOST_MEMORY;
}

/* glibc gives the memory of a program and its kernel back to the system, to be asked for again page
 * by page by the next ones, unless a block of at least half of it was freed before. Such a block
 * costs address space: nobody writes to what is not used of it. */
#define KEPT_SIZE     80u                 /* bytes for one of the text */
#define MIN_KEPT_SIZE ((size_t)136 << 10) /* less is none of the blocks that count */
#define MAX_KEPT_SIZE ((size_t)30 << 20)

/* Tables that grow leave what they were before in the arena. Bytes for one entry, and entries at
 * most, since a text may be all comments. */
void vy_builder_expect(vyre_builder *b, size_t text_size)
{
    vyre_program *p = b->program;
    size_t exprs = text_size / 5, stmts = text_size / 24, vars = text_size / 40;
    exprs = exprs < 1u << 16 ? exprs : 1u << 16;
    stmts = stmts < 1u << 14 ? stmts : 1u << 14;
    vars = vars < 1u << 14 ? vars : 1u << 14;
    if (vy_allocator_is_default(&p->arena.allocator)) {
        size_t kept = text_size < MAX_KEPT_SIZE / KEPT_SIZE ? text_size * KEPT_SIZE : MAX_KEPT_SIZE;
        vy_arena_expect(&p->arena, kept < MIN_KEPT_SIZE ? MIN_KEPT_SIZE : kept);
    }
    (void)vy_vec_reserve(&p->arena, &p->exprs, (uint32_t)exprs);
    (void)vy_vec_reserve(&p->arena, &p->stmts, (uint32_t)stmts);
    (void)vy_vec_reserve(&p->arena, &p->vars, (uint32_t)vars);
}

void vyre_builder_destroy(vyre_builder **builder)
{
    if (!builder || !*builder) {
        return;
    }
    vyre_builder *b = *builder;
    *builder = NULL;
    vyre_allocator memory = b->scratch.allocator;
    vyre_program_destroy(&b->program);
    vy_arena_finish(&b->scratch);
    vy_free(&memory, b, sizeof *b);
}

void vyre_builder_at(vyre_builder *builder, uint32_t line, uint32_t column)
{
    if (builder) {
        builder->at = (vy_loc){line, column};
    }
}

/* What only the end of building can tell. */
static void check_finished(vyre_builder *b)
{
    if (vy_builder_stopped(b)) {
        return;
    }
    if (b->depth > 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%u lists of statements are still open. Fix: close each *_begin with "
                        "vyre_build_end",
                        b->depth);
        return;
    }
    for (uint32_t i = 0; b->pool_live && i < b->pool.count; i++) {
        if (!(b->pool.data[i].flags & VY_NODE_USED)) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->pool.data[i].loc,
                            "an expression was built but no statement takes it. Fix: use it "
                            "exactly once, or do not build it");
            return;
        }
    }
}

/* Nobody has said how large workgroups are, and invocations count elements: whole subgroups of any
 * device, and no more than all devices have. */
static void choose_workgroup(const vyre_builder *b)
{
    vyre_program *p = b->program;
    if (!b->has_workgroup && p->grid_over) {
        p->workgroup[0] =
            p->subgroup_width > VYRE_DEFAULT_WORKGROUP ? p->subgroup_width : VYRE_DEFAULT_WORKGROUP;
    }
}

vyre_result vyre_builder_finish(vyre_builder **builder, vyre_program **out_program, vyre_diag *diag)
{
    if (out_program) {
        *out_program = NULL;
    }
    vy_diag_clear(diag);
    if (!builder || !*builder || !out_program) {
        if (builder) {
            vyre_builder_destroy(builder);
        }
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "no builder or no place for the program. Fix: pass both");
    }
    vyre_builder *b = *builder;
    check_finished(b);
    vyre_result result = VYRE_OK;
    if (b->failed) {
        result = b->diag.code;
        if (diag) {
            *diag = b->diag;
        }
    } else {
        choose_workgroup(b);
        result = vy_program_validate(b->program, b->names, diag);
    }
    if (result == VYRE_OK) {
        *out_program = b->program;
        b->program = NULL;
    }
    vyre_builder_destroy(builder);
    return result;
}

/* ---- Header ---------------------------------------------------------------------------------- */

static bool once(vyre_builder *b, bool *done, const char *what)
{
    if (vy_builder_stopped(b)) {
        return false;
    }
    if (*done) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`%s` is given twice. Fix: keep one of them", what);
        return false;
    }
    *done = true;
    return true;
}

void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z)
{
    if (b && once(b, &b->has_workgroup, "workgroup")) {
        b->program->workgroup[0] = x;
        b->program->workgroup[1] = y;
        b->program->workgroup[2] = z;
    }
}

void vyre_build_grid_over(vyre_builder *b, vyre_ref buffer)
{
    if (b && once(b, &b->has_grid, "grid over")) {
        b->program->grid_over = vy_builder_ref(b, buffer, VY_REF_BUFFER);
    }
}

void vyre_build_grid_from(vyre_builder *b, vyre_ref buffer)
{
    if (b && once(b, &b->has_grid, "grid from")) {
        b->program->grid_from = vy_builder_ref(b, buffer, VY_REF_BUFFER);
    }
}

void vyre_build_grid_of(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z)
{
    const vyre_expr counts[3] = {x, y, z};
    if (!b || !once(b, &b->has_grid, "grid of")) {
        return;
    }
    if (b->depth > 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "`grid of` stands inside a list of statements. Fix: state the grid outside "
                        "functions and the kernel");
    }
    for (uint32_t i = 0; i < 3 && !vy_builder_stopped(b); i++) {
        if (i > 0 && counts[i].id == 0) {
            continue;
        }
        uint32_t node = vy_builder_use(b, counts[i], "a count of `grid of`");
        if (node != VY_NO_NODE &&
            vy_builder_coerce(b, node, VYRE_TYPE_U32, "a count of `grid of`")) {
            b->program->grid_of[i] = vy_builder_place(b, node);
        }
    }
    vy_builder_release_pool(b);
}

void vyre_build_fixpoint(vyre_builder *b, uint32_t passes)
{
    if (b && once(b, &b->has_fixpoint, "fixpoint")) {
        b->program->passes = passes;
    }
}

void vyre_build_fixpoint_until(vyre_builder *b, uint32_t passes, vyre_ref flag)
{
    if (b && once(b, &b->has_fixpoint, "fixpoint")) {
        b->program->passes = passes;
        b->program->until = vy_builder_ref(b, flag, VY_REF_BUFFER);
    }
}

void vyre_build_loop_limit(vyre_builder *b, uint32_t trips)
{
    if (b && once(b, &b->has_loop_limit, "loop_limit")) {
        b->program->loop_limit = trips;
    }
}

void vyre_build_fast_math(vyre_builder *b)
{
    if (b && once(b, &b->has_fast_math, "fast_math")) {
        b->program->fast_math = true;
    }
}

void vyre_build_subgroup_width(vyre_builder *b, uint32_t width)
{
    if (b && once(b, &b->has_subgroup_width, "subgroup")) {
        b->program->subgroup_width = width;
        if (width == 0 || width > 128 || (width & (width - 1))) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                            "a subgroup of %u is not possible. Fix: use a power of two of 1 to 128",
                            width);
        }
    }
}

/* ---- Declarations ---------------------------------------------------------------------------- */

static bool begin_declaration(vyre_builder *b, const char *what)
{
    if (vy_builder_stopped(b)) {
        return false;
    }
    if (b->depth > 0) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a %s is declared inside a list of statements. Fix: declare it outside "
                        "functions and the kernel",
                        what);
        return false;
    }
    return true;
}

static vyre_ref declared(vyre_builder *b, bool pushed, vy_ref_kind kind)
{
    if (!pushed) {
        vy_builder_no_memory(b);
        return (vyre_ref){0};
    }
    return vy_builder_make_ref(b, kind, table_count(b, kind) - 1);
}

vyre_ref vyre_build_buffer(vyre_builder *b, vyre_buffer_mode mode, const char *name, vyre_type type,
                           vyre_expr count)
{
    if (!begin_declaration(b, "buffer") || !vy_builder_element_type(b, type, "a buffer")) {
        return (vyre_ref){0};
    }
    if ((unsigned)mode >= VYRE_BUFFER_MODE_COUNT) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%u is no buffer mode. Fix: use a VYRE_BUFFER_ value", (unsigned)mode);
        return (vyre_ref){0};
    }
    vyre_program *p = b->program;
    vy_buffer buffer = {.mode = (uint8_t)mode, .type = (uint8_t)type, .loc = b->at};
    buffer.name = vy_builder_name(b, name, "buffer");
    if (count.id && !vy_builder_stopped(b)) {
        uint32_t node = vy_builder_use(b, count, "a buffer's count");
        if (node != VY_NO_NODE &&
            vy_builder_coerce(b, node, VYRE_TYPE_U32, "the count of a buffer")) {
            buffer.count = vy_builder_place(b, node);
        }
        vy_builder_release_pool(b);
    }
    if (vy_builder_stopped(b)) {
        return (vyre_ref){0};
    }
    buffer.binding = mode == VYRE_BUFFER_SHARED ? p->shared_count++ : p->binding_count++;
    return declared(b, vy_vec_push(&p->arena, &p->buffers, buffer), VY_REF_BUFFER);
}

vyre_ref vyre_build_param(vyre_builder *b, const char *name, vyre_type type)
{
    if (!begin_declaration(b, "param") || !vy_builder_element_type(b, type, "a param") ||
        !vy_builder_value_type(b, type, "a param")) {
        return (vyre_ref){0};
    }
    vyre_program *p = b->program;
    vy_named param = {.name = vy_builder_name(b, name, "param"),
                      .type = (uint8_t)type,
                      .word = p->param_words,
                      .loc = b->at};
    if (!param.name) {
        return (vyre_ref){0};
    }
    p->param_words += vy_param_type_words(type);
    return declared(b, vy_vec_push(&p->arena, &p->params, param), VY_REF_PARAM);
}

vyre_ref vyre_build_table(vyre_builder *b, const char *name, vyre_type type, const void *elements,
                          uint32_t count)
{
    if (!begin_declaration(b, "table") || !vy_builder_element_type(b, type, "a table")) {
        return (vyre_ref){0};
    }
    if (count == 0 || !elements) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a table has no elements. Fix: give it at least one");
        return (vyre_ref){0};
    }
    vyre_program *p = b->program;
    vy_table table = {vy_builder_name(b, name, "table"), (uint8_t)type, NULL, count, b->at};
    if (!table.name) {
        return (vyre_ref){0};
    }
    uint32_t size = vyre_type_size(type);
    uint8_t *copy = vy_arena_alloc(&p->arena, count, size);
    if (copy) {
        memcpy(copy, elements, (size_t)count * size);
    }
    for (uint32_t i = 0; copy && type == VYRE_TYPE_BOOL && i < count; i++) {
        uint32_t word;
        memcpy(&word, copy + (size_t)4 * i, sizeof word);
        word = word != 0;
        memcpy(copy + (size_t)4 * i, &word, sizeof word);
    }
    table.bytes = copy;
    return declared(b, copy && vy_vec_push(&p->arena, &p->tables, table), VY_REF_TABLE);
}

static vyre_ref add_constant(vyre_builder *b, const char *name, vyre_type type, uint64_t low,
                             uint64_t high)
{
    vyre_program *p = b->program;
    vy_named constant = {.name = vy_builder_name(b, name, "constant"),
                         .type = (uint8_t)type,
                         .bits = {low, high},
                         .loc = b->at};
    if (!constant.name) {
        return (vyre_ref){0};
    }
    return declared(b, vy_vec_push(&p->arena, &p->constants, constant), VY_REF_CONSTANT);
}

vyre_ref vyre_build_constant(vyre_builder *b, const char *name, vyre_type type, uint64_t bits)
{
    if (!begin_declaration(b, "constant") || !vy_builder_value_type(b, type, "a constant")) {
        return (vyre_ref){0};
    }
    if (vy_type_is_vector(type)) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "a constant of type %s has several components. Fix: use "
                        "vyre_build_vector_constant",
                        vyre_type_keyword(type));
        return (vyre_ref){0};
    }
    return add_constant(b, name, type, vy_type_bits(type, bits), 0);
}

vyre_ref vyre_build_vector_constant(vyre_builder *b, const char *name, vyre_type type,
                                    const uint32_t *components)
{
    if (!begin_declaration(b, "constant") || !vy_builder_value_type(b, type, "a constant")) {
        return (vyre_ref){0};
    }
    uint32_t count = vy_type_components(type);
    if (count < 2 || !components) {
        vy_builder_fail(
            b, VYRE_ERROR_INVALID_PROGRAM, b->at,
            "a vector constant has no components, or is %s. Fix: pass a vector type and "
            "as many words as it has components",
            vyre_type_keyword(type));
        return (vyre_ref){0};
    }
    uint64_t bits[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        bits[i / 2] |= vy_type_bits(type, components[i]) << (i % 2 ? 32 : 0);
    }
    return add_constant(b, name, type, bits[0], bits[1]);
}

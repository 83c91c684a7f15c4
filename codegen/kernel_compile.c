/* From a program to a kernel: split, SSA form and passes for each segment, words. The compile's own
 * memory is one arena that ends with it; what stays is copied to the kernel. */
#include "codegen/interp/eval.h"
#include "codegen/ir/walk.h"
#include "codegen/kernel_file.h"
#include "codegen/kernel_parts.h"
#include "codegen/passes/widen.h"
#include "codegen/spirv/spirv.h"

#include <stdio.h>
#include <string.h>

#define MAX_MODULE_TABLE_SIZE 16384u

typedef struct compiler {
    const vyre_program *program;
    vyre_kernel_params params;
    vyre_kernel *kernel;            /* NULL where only words are made */
    const vyre_kernel *description; /* of the program: that kernel, or the one that words are for */
    vy_arena work;
    vy_arena scratch; /* of one pass, or of one module while it is made */
    vy_arena *result; /* where the words go */
    vy_split split;
    vy_ssa *ssa;             /* by segment */
    vy_access *access;       /* by segment */
    vy_segment_words *words; /* by segment; what they are, in the result's arena */
    uint32_t *table_offsets; /* by table */
    vy_coarse *coarse;       /* by segment, where is_coarse */
    bool is_wide, is_whole, is_persistent, is_coarse, is_long;
    bool is_unchecked;
    bool has_words;             /* always, but for a coarse set of which nothing is coarse */
    const vy_kernel_file *file; /* that the program comes from, or NULL */
    vyre_diag *diag;
} compiler;

/* ---- Segments -------------------------------------------------------------------------------- */

static bool is_wanted(const compiler *c, const char *pass)
{
    const char *wanted = c->params.dump_after;
    return c->params.dump && wanted && (strcmp(wanted, pass) == 0 || strcmp(wanted, "all") == 0);
}

static vyre_result dump(compiler *c, uint32_t segment, const char *pass)
{
    if (!is_wanted(c, pass)) {
        return VYRE_OK;
    }
    vy_text text;
    vy_text_init(&text, &c->work.allocator);
    vy_ssa_print(&c->ssa[segment], &text);
    bool failed = text.failed;
    if (!failed) {
        c->params.dump(c->params.dump_user, segment, pass, text.data ? text.data : "");
    }
    vy_text_finish(&text);
    return failed ? vy_diag_no_memory(c->diag) : VYRE_OK;
}

/* A form that is not well formed is our own error. So builds with assertions look for one behind
 * every pass, as the tests do, and others nowhere. */
static vyre_result verify(compiler *c, uint32_t segment, const char *pass)
{
#if defined(NDEBUG) && !defined(VYRE_VERIFY_FORMS)
    const char *problem = NULL;
#else
    const char *problem = vy_ssa_verify(&c->ssa[segment]);
#endif
    if (c->work.failed) {
        return vy_diag_no_memory(c->diag);
    }
    if (problem) {
        return vy_diag_set(c->diag, VYRE_ERROR_INTERNAL, c->split.segments.data[segment].loc,
                           "after pass %s the SSA form of segment %u is not well formed: %s. Fix: "
                           "report it with the program",
                           pass, segment, problem);
    }
    return dump(c, segment, pass);
}

static vyre_result run_passes(compiler *c, uint32_t segment)
{
    uint32_t count = 0;
    const vy_pass *passes = vy_passes_get(&count);
    const vy_pass_context context = {.eval = vy_interp_eval, .is_apart = !c->params.aliased};
    vyre_result result = verify(c, segment, "build");
    for (uint32_t i = 0; i < count && result == VYRE_OK; i++) {
        if (c->params.optimization == VYRE_OPTIMIZATION_NONE && !passes[i].is_needed) {
            continue;
        }
        if (!passes[i].run(&c->ssa[segment], &context)) {
            return vy_diag_no_memory(c->diag);
        }
        vy_arena_reset(&c->scratch);
        result = verify(c, segment, passes[i].name);
    }
    if (result == VYRE_OK) {
        vy_ssa_access(&c->ssa[segment], &c->access[segment]);
    }
    return result;
}

static uint32_t count_instructions(const vy_ssa *ssa)
{
    uint32_t count = 0;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            count++;
        }
    }
    return count;
}

/* Bindings that may be the same memory as another that is written: the engine refuses only in and
 * uniform buffers there. */
static uint64_t overlapping_bindings(const vyre_program *program)
{
    uint64_t bindings = 0;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        bool is_steady = buffer->mode == VYRE_BUFFER_IN || buffer->mode == VYRE_BUFFER_UNIFORM;
        if (buffer->mode != VYRE_BUFFER_SHARED && !is_steady) {
            bindings |= (uint64_t)1 << buffer->binding;
        }
    }
    return bindings;
}

/* Of the modules of `count` segments from `first` on. */
static vy_spirv_options options_for(const compiler *c, uint32_t first, uint32_t count)
{
    uint64_t bindings = ((uint64_t)1 << c->program->binding_count) - 1, writes = 0;
    for (uint32_t i = first; i < first + count; i++) {
        writes |= c->access[i].writes;
    }
    vy_spirv_options options = {.target = c->params.target,
                                .interface = c->params.interface,
                                .float_modes = c->params.float_modes,
                                .aliased = c->params.aliased != 0,
                                .wide = c->is_wide,
                                .whole = c->is_whole,
                                .persistent = c->is_persistent,
                                .debug = c->params.debug != VYRE_DEBUG_INFO_NONE,
                                .debug_info = c->params.debug == VYRE_DEBUG_INFO_FULL,
                                .aggregate = c->params.aggregate,
                                .reconvergence = c->params.reconvergence,
                                .agnostic = c->description->workgroup_use == NULL,
                                .coarse = c->coarse ? c->coarse[first].elements : 0,
                                .segment = first,
                                .entry_name = "main",
                                .file_name = c->description->name,
                                .table_offsets = c->table_offsets,
                                .module_writes = writes,
                                .result = c->result};
    if (options.debug_info && c->program->file) {
        options.file_name = c->program->file;
    }
    if (c->is_coarse && !c->coarse[first].is_joined && !c->description->variants->has_old) {
        /* As the kernel's own: drivers join by themselves what nobody reads. */
        options.aggregate = c->description->variants->params.aggregate;
        options.reconvergence = c->description->variants->params.reconvergence;
    }
    if (options.aliased && (writes & bindings)) {
        /* What is written may be any buffer that is not bound as memory that stays as it is, also
         * one that is only read here. */
        options.module_writes |= overlapping_bindings(c->program);
    }
    return options;
}

/* One module of the segments. */
static vyre_result emit(compiler *c, uint32_t module, uint32_t first, uint32_t count)
{
    for (uint32_t s = first; s < first + count; s++) {
        for (uint32_t i = 1; c->is_unchecked && i < c->ssa[s].ins.count; i++) {
            c->ssa[s].ins.data[i].unchecked = true;
        }
    }
    vy_spirv_options options = options_for(c, first, count);
    vy_segment_words made = {0};
    vyre_result result = vy_spirv_emit_all(&c->ssa[first], &c->access[first], count, &options,
                                           &c->scratch, &made.words, &made.count, c->diag);
    if (result == VYRE_OK) {
        c->words[module] = made;
    }
    vy_arena_reset(&c->scratch);
    return result;
}

/* SSA forms, and modules. */
static uint32_t part_count(const compiler *c)
{
    return c->is_whole ? 1 : c->split.segments.count;
}

static uint32_t module_count(const compiler *c)
{
    return c->is_persistent ? 1 : part_count(c);
}

static vyre_result build(compiler *c, uint32_t segment)
{
    vy_ssa *ssa = &c->ssa[segment];
    return c->is_whole
               ? vy_ssa_build_whole(c->program, &c->split, &c->work, &c->scratch, ssa, c->diag)
               : vy_ssa_build(c->program, &c->split, segment, &c->work, &c->scratch, ssa, c->diag);
}

/* Behind the passes. */
static vyre_result coarsen(compiler *c)
{
    const uint32_t joins =
        VYRE_AGGREGATE_STORAGE | (c->description->variants->has_old ? VYRE_AGGREGATE_OLD : 0);
    bool is_joined = c->params.reconvergence == VYRE_RECONVERGENCE_MAXIMAL &&
                     (c->params.aggregate & joins) == joins;
    uint32_t ways = (is_joined ? VY_COARSEN_JOINED : 0) | (c->is_long ? VY_COARSEN_LONG : 0);
    vyre_result result = VYRE_OK;
    c->coarse = vy_arena_alloc(&c->work, module_count(c), sizeof *c->coarse);
    if (!c->coarse) {
        return vy_diag_no_memory(c->diag);
    }
    for (uint32_t i = 0; i < module_count(c) && result == VYRE_OK; i++) {
        if (!vy_ssa_coarsen_or_widen(&c->ssa[i], ways, &c->coarse[i])) {
            return vy_diag_no_memory(c->diag);
        }
        vy_arena_reset(&c->scratch);
        if (c->coarse[i].elements) {
            c->ssa[i].bindings.count = 0; /* of other blocks, and one element */
            c->has_words = true;
            result = verify(c, i, "coarsen");
        }
    }
    return result;
}

/* So that nobody compiles coarse words in vain. */
static vyre_result find_neighbours(compiler *c, uint32_t segment)
{
    bool has = false;
    bool is_done = vy_ssa_has_neighbours(&c->ssa[segment], &has);
    vy_arena_reset(&c->scratch);
    c->kernel->has_neighbours = c->kernel->has_neighbours || has;
    return is_done ? VYRE_OK : vy_diag_no_memory(c->diag);
}

/* Words for every segment, or for all of them at once. */
static vyre_result compile_segments(compiler *c)
{
    uint32_t count = part_count(c);
    c->split.keeps_bindings = c->params.debug == VYRE_DEBUG_INFO_FULL;
    c->ssa = vy_arena_alloc(&c->work, count, sizeof *c->ssa);
    c->access = vy_arena_alloc(&c->work, count, sizeof *c->access);
    c->words = vy_arena_alloc(&c->work, count, sizeof *c->words);
    if (!c->ssa || !c->access || !c->words) {
        return vy_diag_no_memory(c->diag);
    }
    vyre_result result = VYRE_OK;
    uint32_t segment = 0;
    for (; segment < count && result == VYRE_OK; segment++) {
        result = build(c, segment);
        if (result == VYRE_OK) {
            result = run_passes(c, segment);
        }
        if (result == VYRE_OK && c->kernel && c->kernel->workgroup_use &&
            c->params.optimization != VYRE_OPTIMIZATION_NONE) {
            result = find_neighbours(c, segment);
        }
    }
    c->has_words = !c->is_coarse;
    if (result == VYRE_OK && c->is_coarse) {
        result = coarsen(c);
    }
    if (result == VYRE_OK && c->is_persistent) {
        return emit(c, 0, 0, count);
    }
    if (result == VYRE_OK && c->has_words) {
        for (segment = 0; segment < count && result == VYRE_OK; segment++) {
            result = emit(c, segment, segment, 1);
        }
    }
    if (result != VYRE_OK && c->diag && segment > 0) {
        c->diag->segment = segment - 1;
    }
    return result;
}

static void take_words_and_access(compiler *c)
{
    vyre_kernel *k = c->kernel;
    for (uint32_t i = 0; i < k->segment_count; i++) {
        const vy_access *access = &c->access[i];
        vy_kernel_segment *out = &k->segments[i];
        out->words = c->words[i].words;
        out->word_count = c->words[i].count;
        out->instruction_count = count_instructions(&c->ssa[i]);
        out->reads = access->reads;
        out->writes = access->writes;
        out->atomics = access->atomics;
    }
}

/* What is known of the segments without compiling them. */
static void describe_segments(compiler *c)
{
    vyre_kernel *k = c->kernel;
    k->segment_count = c->split.segments.count;
    k->segments = vy_arena_alloc(&k->arena, k->segment_count, sizeof *k->segments);
    for (uint32_t i = 0; k->segments && i < k->segment_count; i++) {
        const vy_segment *source = &c->split.segments.data[i];
        vy_kernel_segment *out = &k->segments[i];
        out->line = source->loc.line;
        if (source->name) {
            snprintf(out->label, sizeof out->label, "%.30s.%.30s", k->name, source->name);
        } else {
            snprintf(out->label, sizeof out->label, "%.40s.seg%u", k->name, i);
        }
    }
}

/* ---- Interface ------------------------------------------------------------------------------- */

static void copy_params(compiler *c)
{
    const vyre_program *program = c->program;
    vyre_kernel *k = c->kernel;
    k->param_count = program->params.count ? program->params.count - 1 : 0;
    k->param_words = program->param_words;
    k->params = vy_arena_alloc(&k->arena, k->param_count, sizeof *k->params);
    for (uint32_t i = 0; k->params && i < k->param_count; i++) {
        k->params[i] = program->params.data[i + 1];
        k->params[i].name = vy_arena_text(&k->arena, k->params[i].name, strlen(k->params[i].name));
    }
}

static void copy_sites(compiler *c)
{
    const vyre_program *program = c->program;
    vyre_kernel *k = c->kernel;
    k->sites = vy_arena_alloc(&k->arena, program->site_count, sizeof *k->sites);
    k->site_count = program->site_count;
    bool has_sites = k->sites && k->site_count > 0;
    for (uint32_t i = 1; has_sites && i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        bool is_trap = stmt->kind == VY_STMT_TRAP;
        if ((is_trap || stmt->kind == VY_STMT_WHILE) && stmt->site < k->site_count) {
            k->sites[stmt->site] =
                (vy_kernel_site){vy_stmt_record_kind(stmt), is_trap ? stmt->bits : 0,
                                 stmt->loc.line, stmt->loc.column};
        }
    }
}

/* Tables too large for a module go to the tables buffer, one after another. */
static void place_tables(compiler *c)
{
    const vyre_program *program = c->program;
    uint32_t next = 0;
    c->table_offsets = vy_arena_alloc(&c->work, program->tables.count, sizeof *c->table_offsets);
    for (uint32_t i = 0; c->table_offsets && i < program->tables.count; i++) {
        const vy_table *table = &program->tables.data[i];
        c->table_offsets[i] = UINT32_MAX;
        uint64_t words = (uint64_t)table->count * vy_spirv_table_words((vyre_type)table->type);
        if (i > 0 && words * 4 > MAX_MODULE_TABLE_SIZE) {
            c->table_offsets[i] = next;
            next += (uint32_t)words;
        }
    }
}

static void copy_tables(compiler *c)
{
    const vyre_program *program = c->program;
    vyre_kernel *k = c->kernel;
    VY_VEC(uint32_t) words = {0};
    for (uint32_t i = 0; c->table_offsets && i < program->tables.count; i++) {
        const vy_table *table = &program->tables.data[i];
        uint32_t size = vy_spirv_table_words((vyre_type)table->type);
        if (c->table_offsets[i] == UINT32_MAX ||
            !vy_vec_reserve(&k->arena, &words, table->count * size)) {
            continue;
        }
        for (uint32_t e = 0; e < table->count; e++) {
            for (uint32_t w = 0; w < size; w++) {
                words.data[words.count++] = vy_spirv_table_word(table, e, w);
            }
        }
    }
    k->tables = words.data;
    k->table_count = words.count;
}

static void require(vyre_kernel *kernel, bool needed, const char *name)
{
    if (needed && kernel->requirement_count < VY_MAX_REQUIREMENTS) {
        kernel->requirements[kernel->requirement_count++] = name;
    }
}

static void describe_subgroups(vyre_kernel *kernel, const vyre_program *program, bool prints)
{
    vy_kernel_subgroups *out = &kernel->subgroups;
    out->width = program->subgroup_width;
    out->is_divergent = program->has_divergent_subgroup;
    out->line = program->divergent_subgroup.line;
    const uint64_t lanes = (uint64_t)1 << VYRE_BUILTIN_LANE | (uint64_t)1 << VYRE_BUILTIN_LANES;
    for (uint32_t i = 1; program->uses.builtins & lanes && i < program->exprs.count; i++) {
        const vy_expr *expr = &program->exprs.data[i];
        out->is_used |= expr->op == VYRE_OP_BUILTIN && (prints || !expr->is_printed) &&
                        (lanes >> expr->ref & 1);
    }
    out->is_used |= vy_program_has_kind(program, VY_STMT_SUBGROUP);
}

/* Of a type that is loaded, stored or computed with anywhere. */
typedef struct type_needs {
    bool has_64, has_f64, has_8, has_16, has_buffer_atomics, has_shared_atomics;
} type_needs;

static type_needs find_type_needs(const vyre_program *program, bool prints)
{
    type_needs needs = {0};
    bool has_64 = vy_program_has_width(program, 64);
    for (uint32_t i = 1; has_64 && i < program->exprs.count; i++) {
        vyre_type type = (vyre_type)program->exprs.data[i].type;
        if (program->exprs.data[i].is_printed && !prints) {
            continue;
        }
        needs.has_64 |= vy_type_width(type) == 64;
        needs.has_f64 |= type == VYRE_TYPE_F64;
    }
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        uint32_t width = vy_type_width((vyre_type)buffer->type);
        needs.has_8 |= width == 8 && buffer->mode != VYRE_BUFFER_SHARED;
        needs.has_16 |= width == 16 && buffer->mode != VYRE_BUFFER_SHARED;
    }
    bool has_atomics = vy_program_has_kind(program, VY_STMT_ATOMIC);
    for (uint32_t i = 1; has_atomics && i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        if (stmt->kind == VY_STMT_ATOMIC && stmt->ref < program->buffers.count &&
            vy_type_width((vyre_type)program->buffers.data[stmt->ref].type) == 64) {
            bool is_shared = program->buffers.data[stmt->ref].mode == VYRE_BUFFER_SHARED;
            needs.has_64 = true;
            needs.has_shared_atomics |= is_shared;
            needs.has_buffer_atomics |= !is_shared;
        }
    }
    return needs;
}

static void describe_types(compiler *c)
{
    vyre_kernel *k = c->kernel;
    type_needs needs = find_type_needs(c->program, c->params.prints);
    k->address_requirements[k->address_requirement_count++] = "bufferDeviceAddress";
    if (!needs.has_64 && (needs.has_8 || needs.has_16)) {
        /* There pointers to small elements are made of 64-bit integers. */
        k->address_requirements[k->address_requirement_count++] = "shaderInt64";
    }
    require(k, needs.has_64, "shaderInt64");
    require(k, needs.has_f64, "shaderFloat64");
    require(k, needs.has_8, "storageBuffer8BitAccess");
    require(k, needs.has_16, "storageBuffer16BitAccess");
    require(k, needs.has_buffer_atomics, "shaderBufferInt64Atomics");
    require(k, needs.has_shared_atomics, "shaderSharedInt64Atomics");
    uint32_t modes = needs.has_f64 ? c->params.float_modes : 0;
    require(k, (modes & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64) != 0,
            "shaderSignedZeroInfNanPreserveFloat64");
    require(k, (modes & VYRE_FLOAT_DENORM_PRESERVE_F64) != 0, "shaderDenormPreserveFloat64");
    require(k, (modes & VYRE_FLOAT_ROUNDING_RTE_F64) != 0, "shaderRoundingModeRTEFloat64");
    require(k, c->params.reconvergence == VYRE_RECONVERGENCE_UNIFORM,
            "shaderSubgroupUniformControlFlow");
    require(k, c->params.reconvergence == VYRE_RECONVERGENCE_MAXIMAL, "shaderMaximalReconvergence");
    bool needs_set = c->params.debug == VYRE_DEBUG_INFO_FULL || c->params.prints;
    require(k, needs_set && c->params.target == VYRE_TARGET_VULKAN_1_2,
            "VK_KHR_shader_non_semantic_info");
}

static vyre_type stmt_operand_type(const vyre_program *program, const vy_stmt *stmt)
{
    return stmt->x.root && stmt->x.root < program->exprs.count
               ? (vyre_type)program->exprs.data[stmt->x.root].type
               : VYRE_TYPE_VOID;
}

bool vy_kernel_is_by_lanes(const vyre_program *program, const vy_stmt *stmt)
{
    const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)stmt->subgroup);
    bool is_bitwise = info->op == VYRE_OP_AND || info->op == VYRE_OP_OR || info->op == VYRE_OP_XOR;
    return info->kind >= VY_SUBGROUP_REDUCE && !is_bitwise &&
           vy_type_width(stmt_operand_type(program, stmt)) == 64;
}

/* The classes of operations that the modules make of the program's. */
static void describe_subgroup_needs(vyre_kernel *k, const vyre_program *program, bool is_joined)
{
    bool has_vote = false, has_ballot = false, has_shuffle = false, has_arithmetic = false;
    bool has_subgroups = vy_program_has_kind(program, VY_STMT_SUBGROUP);
    for (uint32_t i = 1; has_subgroups && i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        if (stmt->kind != VY_STMT_SUBGROUP) {
            continue;
        }
        const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)stmt->subgroup);
        bool is_reduction = info->kind >= VY_SUBGROUP_REDUCE;
        bool by_lanes = vy_kernel_is_by_lanes(program, stmt);
        has_vote |= info->kind == VY_SUBGROUP_VOTE;
        has_arithmetic |= is_reduction && !by_lanes;
        has_shuffle |= info->kind == VY_SUBGROUP_LANE || by_lanes;
        has_ballot |= info->kind == VY_SUBGROUP_BALLOT || info->kind == VY_SUBGROUP_VALUE ||
                      info->kind == VY_SUBGROUP_LANE || by_lanes;
    }
    has_ballot |= is_joined;
    has_arithmetic |= is_joined;
    require(k, k->subgroups.is_used || is_joined, "VK_SUBGROUP_FEATURE_BASIC_BIT");
    require(k, has_vote, "VK_SUBGROUP_FEATURE_VOTE_BIT");
    require(k, has_ballot, "VK_SUBGROUP_FEATURE_BALLOT_BIT");
    require(k, has_shuffle, "VK_SUBGROUP_FEATURE_SHUFFLE_BIT");
    require(k, has_arithmetic, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT");
    require(k, k->subgroups.width != 0, "subgroupSizeControl");
    require(k, k->subgroups.width != 0, "computeFullSubgroups");
}

/* What the program makes no difference of is left out, so that the same words are one choice. */
static void narrow_params(compiler *c)
{
    const uint32_t f64_modes = VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64 |
                               VYRE_FLOAT_DENORM_PRESERVE_F64 | VYRE_FLOAT_ROUNDING_RTE_F64;
    if (!find_type_needs(c->program, c->params.prints).has_f64) {
        c->params.float_modes &= ~f64_modes;
    }
    /* A driver was seen to spoil values beside OpFDiv under this mode, and only there is one. */
    if (c->program->fast_math) {
        c->params.float_modes &= ~(uint32_t)VYRE_FLOAT_ROUNDING_RTE;
    }
    c->params.aggregate =
        vy_spirv_aggregates(c->program, c->params.aggregate, c->params.reconvergence);
    if (!c->kernel->subgroups.is_used && !c->params.aggregate) {
        c->params.reconvergence = VYRE_RECONVERGENCE_NONE;
    }
}

static void describe(compiler *c)
{
    const vyre_program *program = c->program;
    vyre_kernel *k = c->kernel;
    bool is_new = c->params.target == VYRE_TARGET_VULKAN_1_3;
    k->name = vy_arena_text(&k->arena, program->name, strlen(program->name));
    memcpy(k->workgroup, program->workgroup, sizeof k->workgroup);
    (void)vy_program_is_workgroup_agnostic(program, &k->workgroup_use);
    k->grid_over =
        program->grid_over ? (int32_t)program->buffers.data[program->grid_over].binding : -1;
    k->grid_from =
        program->grid_from ? (int32_t)program->buffers.data[program->grid_from].binding : -1;
    k->until = program->until ? (int32_t)program->buffers.data[program->until].binding : -1;
    k->passes = program->passes;
    k->is_new_target = is_new;
    k->is_inexact = vy_kernel_is_of_inexact(program);
    describe_subgroups(k, program, c->params.prints);
    narrow_params(c);
    k->subgroups.reconvergence = c->params.reconvergence;
    k->own = (vy_variant){.interface = c->params.interface, .is_aliased = c->params.aliased != 0};
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode == VYRE_BUFFER_SHARED) {
            uint32_t size = vyre_type_size((vyre_type)buffer->type);
            k->shared_size += (uint32_t)program->exprs.data[buffer->count.root].bits[0] *
                              (size < 4 ? 4 : size); /* small elements take a word each */
        }
    }
    require(k, is_new, "Vulkan 1.3");
    require(k, is_new, "vulkanMemoryModel");
    require(k, is_new, "vulkanMemoryModelDeviceScope");
    require(k, (c->params.float_modes & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE) != 0,
            "shaderSignedZeroInfNanPreserveFloat32");
    require(k, (c->params.float_modes & VYRE_FLOAT_DENORM_PRESERVE) != 0,
            "shaderDenormPreserveFloat32");
    require(k, (c->params.float_modes & VYRE_FLOAT_ROUNDING_RTE) != 0,
            "shaderRoundingModeRTEFloat32");
    describe_types(c);
    describe_subgroup_needs(k, program, c->params.aggregate != 0);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static vy_prints prints_of(const compiler *c)
{
    return c->params.prints ? VY_PRINTS_KEPT : VY_PRINTS_DROPPED;
}

static vyre_result compile(compiler *c)
{
    c->params.prints = c->params.prints && vy_program_has_prints(c->program);
    if (c->params.prints) {
        c->file = NULL; /* whose segments are those of words that do not print */
    }
    vyre_result result = vy_split_program(c->program, prints_of(c), &c->work, &c->split, c->diag);
    if (result != VYRE_OK) {
        return result;
    }
    uint32_t joins = vy_spirv_aggregates(c->program, VYRE_AGGREGATE_STORAGE | VYRE_AGGREGATE_OLD,
                                         c->params.reconvergence);
    describe(c);
    vy_kernel_copy_host(c->kernel, c->program, &c->split);
    vy_kernel_find_bounds(c->kernel, c->program, &c->split, &c->work);
    copy_params(c);
    copy_sites(c);
    place_tables(c);
    copy_tables(c);
    describe_segments(c);
    c->kernel->spill_words = c->split.spill_words;
    if (c->work.failed || c->kernel->arena.failed) {
        return vy_diag_no_memory(c->diag);
    }
    result = vy_kernel_keep(c->kernel, c->program, &c->params, c->diag);
    if (result == VYRE_OK) {
        c->kernel->variants->is_unchecked = c->is_unchecked;
        c->kernel->variants->can_join = joins && !c->kernel->workgroup_use;
        c->kernel->variants->has_old = (joins & VYRE_AGGREGATE_OLD) != 0;
    }
    if (result == VYRE_OK && c->file) {
        result = vy_kernel_file_take(c->file, c->kernel, c->diag);
        c->kernel->has_neighbours = c->kernel->is_precompiled;
    }
    if (result == VYRE_OK && !c->kernel->is_precompiled) {
        result = compile_segments(c);
        if (result == VYRE_OK) {
            take_words_and_access(c);
            result = c->file ? vy_kernel_file_check(c->file, c->kernel, c->diag) : VYRE_OK;
        }
    }
    if (result == VYRE_OK && (c->work.failed || c->kernel->arena.failed)) {
        result = vy_diag_no_memory(c->diag);
    }
    return result;
}

/* The host orders dispatches by what the kernel says, which a kernel file may have said. */
static vyre_result check_access(const compiler *c)
{
    for (uint32_t i = 0; i < c->split.segments.count && !c->is_whole; i++) {
        const vy_kernel_segment *told = &c->description->segments[i];
        const vy_access *made = &c->access[i];
        if (told->reads != made->reads || told->writes != made->writes ||
            told->atomics != made->atomics) {
            return vy_kernel_file_damaged(c->diag,
                                          "a segment is not what this library makes of it");
        }
    }
    return VYRE_OK;
}

/* What a coarse set says of itself. */
static void describe_coarse(const compiler *c, vy_word_set *set)
{
    uint32_t count = module_count(c);
    uint32_t *elements = vy_arena_alloc(&set->arena, count, sizeof *elements);
    for (uint32_t i = 0; elements && i < count; i++) {
        elements[i] = c->coarse[i].elements ? c->coarse[i].elements : 1;
        set->coarse.streams |= c->coarse[i].streams;
        uint32_t shared = c->coarse[i].shared;
        set->coarse.shared = shared > set->coarse.shared ? shared : set->coarse.shared;
    }
    set->coarse.elements = elements;
}

static vyre_result make_set(compiler *c, vy_word_set *set)
{
    vyre_result result = vy_split_program(c->program, prints_of(c), &c->work, &c->split, c->diag);
    place_tables(c);
    if (result == VYRE_OK) {
        result = c->work.failed ? vy_diag_no_memory(c->diag) : compile_segments(c);
    }
    if (result == VYRE_OK) {
        result = check_access(c);
    }
    if (result != VYRE_OK) {
        return result;
    }
    uint32_t count = module_count(c);
    if (!c->has_words) {
        return VYRE_OK;
    }
    if (c->coarse) {
        describe_coarse(c, set);
    }
    set->segments = vy_arena_alloc(&set->arena, count, sizeof *set->segments);
    for (uint32_t i = 0; set->segments && i < count; i++) {
        set->segments[i] = c->words[i];
    }
    return c->work.failed || set->arena.failed ? vy_diag_no_memory(c->diag) : VYRE_OK;
}

vyre_result vy_kernel_compile_set(const vyre_kernel *kernel, const vyre_kernel_params *params,
                                  const vy_variant *variant, vy_word_set **out_set, vyre_diag *diag)
{
    const vyre_allocator *memory = &kernel->arena.allocator;
    compiler c = {.program = kernel->variants->program,
                  .params = *params,
                  .description = kernel,
                  .is_wide = variant->is_wide,
                  .is_whole = variant->is_whole,
                  .is_persistent = variant->is_persistent,
                  .is_coarse = variant->is_coarse,
                  .is_long = variant->is_long,
                  .is_unchecked = kernel->variants->is_unchecked,
                  .diag = diag};
    *out_set = NULL;
    vyre_result result = vy_kernel_check_params(params, diag);
    if (result != VYRE_OK) {
        return result;
    }
    vy_word_set *set = vy_alloc_zeroed(memory, 1, sizeof *set);
    if (!set) {
        return vy_diag_no_memory(diag);
    }
    vy_arena_init(&set->arena, memory);
    c.result = &set->arena;
    vy_arena_init(&c.work, memory);
    vy_arena_init_scratch(&c.scratch, &c.work);
    result = make_set(&c, set);
    vy_arena_finish(&c.scratch);
    vy_arena_finish(&c.work);
    if (result != VYRE_OK) {
        vy_word_set_destroy(&set);
    }
    *out_set = set;
    return result;
}

vyre_result vy_kernel_read_params(const vyre_kernel_params *given, vyre_kernel_params *out_params,
                                  vyre_diag *diag)
{
    *out_params = (vyre_kernel_params){0};
    if (given) {
        size_t size = given->struct_size ? given->struct_size : sizeof *out_params;
        memcpy(out_params, given, size < sizeof *out_params ? size : sizeof *out_params);
    }
    return vy_kernel_check_params(out_params, diag);
}

vyre_result vy_kernel_make(const vyre_program *program, const vyre_kernel_params *params,
                           const vy_kernel_file *file, bool is_unchecked, vyre_kernel **out_kernel,
                           vyre_diag *diag)
{
    compiler c = {.program = program,
                  .params = *params,
                  .file = file,
                  .is_unchecked = is_unchecked,
                  .diag = diag};
    vyre_allocator memory = vy_allocator_or_default(params->allocator);
    *out_kernel = NULL;
    c.kernel = vy_alloc_zeroed(&memory, 1, sizeof *c.kernel);
    if (!c.kernel) {
        return vy_diag_no_memory(diag);
    }
    c.description = c.kernel;
    vy_arena_init(&c.kernel->arena, &memory);
    c.result = &c.kernel->arena;
    vy_arena_init(&c.work, &memory);
    vy_arena_init_scratch(&c.scratch, &c.work);
    vyre_result result = compile(&c);
    vy_arena_finish(&c.scratch);
    vy_arena_finish(&c.work);
    if (result != VYRE_OK) {
        vyre_kernel_destroy(&c.kernel);
    }
    *out_kernel = c.kernel;
    return result;
}

static vyre_result make_checked(const vyre_program *program, const vyre_kernel_params *params,
                                bool is_unchecked, vyre_kernel **out_kernel, vyre_diag *diag)
{
    vyre_kernel_params checked;
    vy_diag_clear(diag);
    *out_kernel = NULL;
    if (!program) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the program is NULL. Fix: pass a finished program");
    }
    vyre_result result = vy_kernel_read_params(params, &checked, diag);
    return result == VYRE_OK
               ? vy_kernel_make(program, &checked, NULL, is_unchecked, out_kernel, diag)
               : result;
}

vyre_result vy_kernel_compile_unchecked(const vyre_program *program,
                                        const vyre_kernel_params *params, vyre_kernel **out_kernel,
                                        vyre_diag *diag)
{
    return make_checked(program, params, true, out_kernel, diag);
}

vyre_result vyre_kernel_compile(const vyre_program *program, const vyre_kernel_params *params,
                                vyre_kernel **out_kernel, vyre_diag *diag)
{
    return make_checked(program, params, false, out_kernel, diag);
}

/* One segment's module, or one of all segments, from beginning to end: chooses target, addressing
 * and wrapper, emits the body's function, then the wrapper around it, then what depends on all that
 * was used. */
#include "codegen/spirv/emit.h"

#include <string.h>

uint32_t vy_emitter_fail(vy_emitter *emitter, vyre_result code, vy_loc loc, const char *format, ...)
{
    if (emitter->result == VYRE_OK) {
        va_list arguments;
        va_start(arguments, format);
        emitter->result = vy_diag_setv(emitter->diag, code, loc, format, arguments);
        va_end(arguments);
    }
    return 0;
}

uint32_t vy_emitter_value(vy_emitter *emitter, uint32_t instruction, vy_loc loc)
{
    uint32_t value = instruction < emitter->ssa->ins.count ? emitter->values[instruction] : 0;
    if (!value && !emitter->module.arena->failed) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, loc,
                               "%%%u is used and has no value. Fix: report it with the program",
                               instruction);
    }
    return value;
}

vyre_type vy_emitter_type(const vy_emitter *emitter, uint32_t instruction)
{
    return instruction < emitter->ssa->ins.count
               ? (vyre_type)emitter->ssa->ins.data[instruction].type
               : VYRE_TYPE_VOID;
}

bool vy_emitter_literal(const vy_emitter *emitter, uint32_t instruction, uint64_t *out_bits)
{
    if (instruction >= emitter->ssa->ins.count ||
        emitter->ssa->ins.data[instruction].op != VYRE_OP_LITERAL) {
        return false;
    }
    *out_bits = emitter->ssa->ins.data[instruction].bits;
    return true;
}

void vy_emitter_label(vy_emitter *emitter, uint32_t label)
{
    vy_label(&emitter->module, label);
    emitter->current_label = label;
    emitter->line = (vy_loc){0, 0};
    vy_debug_begin_block(emitter);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static uint32_t *table_of(vy_emitter *emitter, uint32_t count)
{
    return vy_arena_alloc(emitter->module.arena, count ? count : 1, sizeof(uint32_t));
}

/* What the whole module has. */
static bool init_module_tables(vy_emitter *emitter, uint32_t segment_count)
{
    vy_arena *arena = emitter->module.arena;
    const vyre_program *program = emitter->ssa->program;
    uint32_t slot_count = VY_SLOT_COUNT(program->binding_count);
    uint32_t buffer_count = program->buffers.count ? program->buffers.count : 1;
    emitter->segment_count = segment_count;
    emitter->slots = table_of(emitter, 2 * slot_count);
    emitter->shared = table_of(emitter, buffer_count);
    emitter->tables = table_of(emitter, program->tables.count);
    emitter->bodies = table_of(emitter, segment_count);
    emitter->held_params =
        table_of(emitter, vy_param_words(program->binding_count, program->param_words));
    emitter->bodies_shared =
        vy_arena_alloc(arena, (size_t)segment_count * buffer_count, sizeof *emitter->bodies_shared);
    return !arena->failed;
}

/* What each body has of its own. */
static bool init_body_tables(vy_emitter *emitter, const vy_ssa *ssa, uint32_t segment)
{
    vy_arena *arena = emitter->module.arena;
    const vyre_program *program = ssa->program;
    emitter->ssa = ssa;
    emitter->values = table_of(emitter, ssa->ins.count);
    emitter->labels = table_of(emitter, ssa->blocks.count);
    emitter->last_labels = table_of(emitter, ssa->blocks.count);
    emitter->edge_words = table_of(emitter, ssa->phi_edges.count);
    emitter->arrays = table_of(emitter, ssa->arrays.count);
    emitter->wide_slots = table_of(emitter, VY_CELL_COUNT * program->binding_count);
    emitter->lengths = table_of(emitter, program->binding_count);
    emitter->signed_lengths = table_of(emitter, program->binding_count);
    emitter->params = table_of(emitter, program->param_words);
    emitter->is_emitted = vy_arena_alloc(arena, ssa->blocks.count ? ssa->blocks.count : 1,
                                         sizeof *emitter->is_emitted);
    emitter->joined = NULL;
    emitter->is_index = NULL;
    emitter->param_veil = 0;
    emitter->patches.count = 0;
    memset(emitter->inputs, 0, sizeof emitter->inputs);
    memset(emitter->slots, 0, VY_SLOT_COUNT(program->binding_count) * sizeof *emitter->slots);
    emitter->is_shared_used = emitter->bodies_shared + (size_t)segment * program->buffers.count;
    vy_emit_find_indices(emitter);
    return vy_emit_find_aggregated(emitter) && !arena->failed;
}

static vyre_result choose(vy_emitter *emitter)
{
    switch (emitter->options->target) {
    case VYRE_TARGET_VULKAN_1_3:
        emitter->target = &vy_spirv_target_vulkan13;
        break;
    case VYRE_TARGET_VULKAN_1_2:
        emitter->target = &vy_spirv_target_vulkan12;
        break;
    default:
        return vy_diag_set(emitter->diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the target %d is unknown. Fix: use VYRE_TARGET_VULKAN_1_2 or _1_3",
                           (int)emitter->options->target);
    }
    switch (emitter->options->interface) {
    case VYRE_INTERFACE_DESCRIPTOR:
        emitter->addressing = &vy_spirv_addressing_descriptor;
        break;
    case VYRE_INTERFACE_ADDRESS:
        emitter->addressing = &vy_spirv_addressing_physical;
        break;
    default:
        return vy_diag_set(emitter->diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the interface %d is unknown. Fix: use VYRE_INTERFACE_DESCRIPTOR or "
                           "_ADDRESS",
                           (int)emitter->options->interface);
    }
    emitter->wrapper =
        emitter->options->persistent ? &vy_spirv_wrapper_persistent : &vy_spirv_wrapper_replay;
    return VYRE_OK;
}

/* ---- Parts of the module --------------------------------------------------------------------- */

/* The body's function: its head and everything read once lie in the prologue, a block of its own,
 * so that no loop leads back to it. */
static bool emit_body(vy_emitter *emitter, uint32_t segment)
{
    vy_module *m = &emitter->module;
    m->code = &m->sections[VY_SECTION_PROLOGUE];
    uint32_t nothing = vy_type_void(m), vector = vy_type_u32_vector(m, 3);
    uint32_t type = vy_type_function(m, nothing, &vector, 1);
    emitter->body =
        vy_value(m, SpvOpFunction, nothing, VY_LIST((uint32_t)SpvFunctionControlMaskNone, type));
    emitter->body_group = vy_value(m, SpvOpFunctionParameter, vector, NULL, 0);
    uint32_t label = vy_module_id(m);
    vy_label(m, label);
    vy_module_name(m, emitter->body, "vy_body");
    vy_module_name(m, emitter->body_group, "vy_group");
    vy_emit_array_variables(emitter);
    if (!vy_debug_begin_body(emitter, segment)) {
        return false;
    }

    m->code = &m->sections[VY_SECTION_BODY];
    uint32_t first = emitter->labels[1] = vy_module_id(m);
    vy_emit_blocks(emitter);
    vy_effect(m, SpvOpFunctionEnd, NULL, 0);
    m->code = &m->sections[VY_SECTION_PROLOGUE];
    vy_jump(m, first);
    return true;
}

static void emit_float_modes(vy_emitter *emitter, uint32_t function)
{
    static const struct {
        uint32_t mode, width;
        SpvCapability capability;
        SpvExecutionMode execution_mode;
    } modes[] = {
        {VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE, 32, SpvCapabilitySignedZeroInfNanPreserve,
         SpvExecutionModeSignedZeroInfNanPreserve},
        {VYRE_FLOAT_DENORM_PRESERVE, 32, SpvCapabilityDenormPreserve,
         SpvExecutionModeDenormPreserve},
        {VYRE_FLOAT_ROUNDING_RTE, 32, SpvCapabilityRoundingModeRTE,
         SpvExecutionModeRoundingModeRTE},
        {VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64, 64, SpvCapabilitySignedZeroInfNanPreserve,
         SpvExecutionModeSignedZeroInfNanPreserve},
        {VYRE_FLOAT_DENORM_PRESERVE_F64, 64, SpvCapabilityDenormPreserve,
         SpvExecutionModeDenormPreserve},
        {VYRE_FLOAT_ROUNDING_RTE_F64, 64, SpvCapabilityRoundingModeRTE,
         SpvExecutionModeRoundingModeRTE},
    };
    vy_module *m = &emitter->module;
    bool has_f64 = vy_module_has_capability(m, SpvCapabilityFloat64);
    for (uint32_t i = 0; i < VY_COUNT_OF(modes); i++) {
        if ((emitter->options->float_modes & modes[i].mode) && (modes[i].width == 32 || has_f64)) {
            vy_module_capability(m, modes[i].capability);
            vy_module_op(m, VY_SECTION_MODES, SpvOpExecutionMode,
                         VY_LIST(function, (uint32_t)modes[i].execution_mode, modes[i].width));
        }
    }
}

/* spirv.h of 2022 does not know it. */
#define EXECUTION_MODE_MAXIMALLY_RECONVERGES 6023u

static void emit_reconvergence(vy_emitter *emitter, uint32_t function)
{
    vy_module *m = &emitter->module;
    bool is_maximal = emitter->options->reconvergence == VYRE_RECONVERGENCE_MAXIMAL;
    if (emitter->options->reconvergence == VYRE_RECONVERGENCE_NONE ||
        !vy_module_has_capability(m, SpvCapabilityGroupNonUniform)) {
        return;
    }
    vy_module_extension(m, is_maximal ? "SPV_KHR_maximal_reconvergence"
                                      : "SPV_KHR_subgroup_uniform_control_flow");
    vy_module_op(m, VY_SECTION_MODES, SpvOpExecutionMode,
                 VY_LIST(function, is_maximal
                                       ? EXECUTION_MODE_MAXIMALLY_RECONVERGES
                                       : (uint32_t)SpvExecutionModeSubgroupUniformControlFlowKHR));
}

/* Function 0 of the wrapper's section is the entry point. */
static void emit_heads(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vy_words *entry = &m->sections[VY_SECTION_ENTRY];
    if (entry->count > 2) {
        emit_float_modes(emitter, entry->data[2]);
        emit_reconvergence(emitter, entry->data[2]);
    }
    vy_module_op(
        m, VY_SECTION_MEMORY_MODEL, SpvOpMemoryModel,
        VY_LIST((uint32_t)emitter->addressing->model, (uint32_t)emitter->target->memory_model));
    if (m->has_names && emitter->options->file_name) {
        vy_words name = {0};
        vy_words_text(m->arena, &name, emitter->options->file_name);
        vy_words_op(m->arena, &m->sections[VY_SECTION_STRINGS], SpvOpString, &m->file_id, 1,
                    name.data, name.count);
    }
}

/* The size of a program that may be given another one, as constants to be specialised. */
static void emit_workgroup_size(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    if (!emitter->options->agnostic) {
        return;
    }
    uint32_t size[3];
    for (uint32_t axis = 0; axis < 3; axis++) {
        size[axis] = vy_emit_group_size(emitter, axis);
    }
    uint32_t vector = vy_type_u32_vector(m, 3);
    uint32_t all = vy_const_spec(m, SpvOpSpecConstantComposite, vector, size, 3, UINT32_MAX);
    vy_module_decorate(m, all, SpvDecorationBuiltIn, VY_LIST(SpvBuiltInWorkgroupSize));
    vy_module_name(m, all, "vy_group_size");
}

static vyre_result finish(vy_emitter *emitter, uint32_t **out_words, uint32_t *out_word_count)
{
    vy_module *m = &emitter->module;
    if (emitter->result != VYRE_OK) {
        return emitter->result;
    }
    if (m->arena->failed) {
        return vy_diag_no_memory(emitter->diag);
    }
    if (vy_module_is_too_large(m)) {
        return vy_diag_set(
            emitter->diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){0, 0},
            "a segment of %s becomes larger than a SPIR-V module may be. Fix: cut it "
            "by grid_sync, or call functions in a loop instead of one by one",
            emitter->ssa->program->name ? emitter->ssa->program->name : "the program");
    }
    *out_words = vy_module_finish(m, emitter->target->version,
                                  emitter->options->result ? emitter->options->result : m->arena,
                                  out_word_count);
    return *out_words ? VYRE_OK : vy_diag_no_memory(emitter->diag);
}

/* Where there are several bodies, each is put behind the others. */
static void close_body(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    vy_words *parts[2] = {&m->sections[VY_SECTION_PROLOGUE], &m->sections[VY_SECTION_BODY]};
    vy_words *rest = &m->sections[VY_SECTION_HELPERS];
    for (int i = 0; i < 2; i++) {
        vy_words_append(m->arena, rest, parts[i]->data, parts[i]->count);
        rest->too_long = rest->too_long || parts[i]->too_long;
        parts[i]->count = 0;
    }
}

static vyre_result emit_bodies(vy_emitter *emitter, const vy_ssa *ssas, uint32_t count)
{
    vy_arena *arena = emitter->module.arena;
    for (uint32_t i = 0; i < count && emitter->result == VYRE_OK; i++) {
        if (!init_body_tables(emitter, &ssas[i], i) || !emit_body(emitter, i)) {
            return vy_diag_no_memory(emitter->diag);
        }
        emitter->bodies[i] = emitter->body;
        if (emitter->options->persistent) {
            close_body(emitter);
        }
        if (arena->failed) {
            return vy_diag_no_memory(emitter->diag);
        }
    }
    return emitter->result;
}

static void join_access(vy_access *all, const vy_access *accesses, uint32_t count)
{
    *all = accesses[0];
    for (uint32_t i = 1; i < count; i++) {
        all->reads |= accesses[i].reads;
        all->writes |= accesses[i].writes;
        all->atomics |= accesses[i].atomics;
        all->has_barrier |= accesses[i].has_barrier;
        all->has_shared |= accesses[i].has_shared;
    }
}

vyre_result vy_spirv_emit(const vy_ssa *ssa, const vy_access *access,
                          const vy_spirv_options *options, vy_arena *arena, uint32_t **out_words,
                          uint32_t *out_word_count, vyre_diag *diag)
{
    return vy_spirv_emit_all(ssa, access, 1, options, arena, out_words, out_word_count, diag);
}

vyre_result vy_spirv_emit_all(const vy_ssa *ssas, const vy_access *accesses, uint32_t count,
                              const vy_spirv_options *options, vy_arena *arena,
                              uint32_t **out_words, uint32_t *out_word_count, vyre_diag *diag)
{
    vy_emitter emitter = {.ssa = ssas, .options = options, .diag = diag};
    vy_module *m = &emitter.module;
    *out_words = NULL;
    *out_word_count = 0;
    vy_diag_clear(diag);
    vyre_result result = choose(&emitter);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ssas[i].blocks.count < 2 || ssas[i].program->binding_count > VYRE_MAX_BUFFERS) {
            return vy_diag_set(diag, VYRE_ERROR_INTERNAL, (vy_loc){0, 0},
                               "a segment has no blocks, or its program too many buffers. Fix: "
                               "report it with the program");
        }
    }
    join_access(&emitter.all_access, accesses, count);
    emitter.access = &emitter.all_access;
    vy_module_init(m, arena, options->debug);
    m->is_contractible = ssas->program->fast_math;
    emitter.module_writes = options->module_writes | emitter.access->writes;
    if (!init_module_tables(&emitter, count) || !vy_debug_begin(&emitter)) {
        return vy_diag_no_memory(diag);
    }
    /* Most instructions are one of five words, most literals a constant. */
    vy_module_expect(m, ssas->ins.count < 1u << 20 ? ssas->ins.count * 5 : 0,
                     ssas->literal_count < 1u << 20 ? ssas->literal_count * 4 : 0);
    vy_module_capability(m, SpvCapabilityShader);
    if (emitter.target->has_memory_capabilities) {
        vy_module_capability(m, SpvCapabilityVulkanMemoryModel);
    }
    vy_module_capability(m, emitter.addressing->capability);
    if (emit_bodies(&emitter, ssas, count) == VYRE_OK) {
        emit_workgroup_size(&emitter);
        emitter.wrapper->emit(&emitter);
        vy_debug_end(&emitter);
        emit_heads(&emitter);
    }
    return finish(&emitter, out_words, out_word_count);
}

/* printf statements by NonSemantic.DebugPrintf, of which a device knows nothing: the validation
 * layer puts stores to a buffer of its own in their place. What it gets are words alone, with a
 * format that only says which (base/printf.h); who reads its message makes the line. Reads the
 * program's statement; the values are words as the registers have them. */
#include "codegen/base/printf.h"
#include "codegen/spirv/emit.h"

#include <spirv/unified1/NonSemanticDebugPrintf.h>
#include <string.h>

static uint32_t import(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    if (!emitter->printf_set) {
        emitter->printf_set = vy_module_id(m);
        if (emitter->target->version < 0x10600u) { /* since then it is SPIR-V's own */
            vy_module_extension(m, "SPV_KHR_non_semantic_info");
        }
        vy_words words = {0};
        (void)vy_vec_push(m->arena, &words, emitter->printf_set);
        vy_words_text(m->arena, &words, "NonSemantic.DebugPrintf");
        vy_module_op(m, VY_SECTION_IMPORTS, SpvOpExtInstImport, words.data, words.count);
    }
    return emitter->printf_set;
}

/* One string for each statement: a function that is called twice has it twice. */
static uint32_t string_of(vy_emitter *emitter, uint32_t index, uint32_t word_count)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    const vy_stmt *stmt = &program->stmts.data[index];
    for (uint32_t i = 0; i + 1 < emitter->printf_strings.count; i += 2) {
        if (emitter->printf_strings.data[i] == index) {
            return emitter->printf_strings.data[i + 1];
        }
    }
    vy_text text;
    vy_text_init(&text, &m->arena->allocator);
    const vyre_printf_line where = {.program = program->name,
                                    .line = stmt->loc.line,
                                    .column = stmt->loc.column,
                                    .segment = emitter->options->segment};
    vy_printf_encode(&text, &where, stmt->name, word_count);
    uint32_t id = vy_module_id(m);
    vy_words words = {0};
    (void)vy_vec_push(m->arena, &words, id);
    if (text.failed) {
        m->arena->failed = true;
    } else {
        vy_words_text(m->arena, &words, text.data);
    }
    vy_text_finish(&text);
    vy_module_op(m, VY_SECTION_STRINGS, SpvOpString, words.data, words.count);
    (void)vy_vec_push(m->arena, &emitter->printf_strings, index);
    (void)vy_vec_push(m->arena, &emitter->printf_strings, id);
    return id;
}

static void add_word(vy_emitter *emitter, uint32_t word)
{
    (void)vy_vec_push(emitter->module.arena, &emitter->printf_words, word);
}

static void add_value(vy_emitter *emitter, uint32_t instruction, vy_loc loc)
{
    vy_module *m = &emitter->module;
    uint32_t value = vy_emitter_value(emitter, instruction, loc);
    vyre_type type = vy_emitter_type(emitter, instruction);
    if (vy_type_width(type) == 64) {
        if (type == VYRE_TYPE_F64) {
            value = vy_v1(m, SpvOpBitcast, vy_type_u64(m), value);
        }
        add_word(emitter, vy_emit_low(emitter, value));
        add_word(emitter, vy_emit_high(emitter, value));
    } else {
        add_word(emitter, vy_type_is_float(type) ? vy_bits_of(m, value) : value);
    }
}

static uint32_t component_count(const vyre_program *program, const vy_stmt *stmt)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stmt->value_count; i++) {
        uint32_t root = vy_printf_value(program, stmt, i).root;
        count += vy_type_components((vyre_type)program->exprs.data[root].type);
    }
    return count;
}

static void print(vy_emitter *emitter, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t count = emitter->printf_words.count;
    vy_words operands = {0};
    uint32_t pass = vy_emit_input(emitter, VY_INPUT_PASS);
    uint32_t execution = vy_emit_push_word(emitter, VY_PUSH_EXECUTION);
    uint32_t invocation = vy_emit_input(emitter, VY_INPUT_INVOCATION);
    uint32_t set = import(emitter), string = string_of(emitter, index, count);
    const uint32_t head[] = {set,       NonSemanticDebugPrintfDebugPrintf, string, pass, execution,
                             invocation};
    vy_words_append(m->arena, &operands, head, VY_COUNT_OF(head));
    vy_words_append(m->arena, &operands, emitter->printf_words.data, count);
    (void)vy_value(m, SpvOpExtInst, vy_type_void(m), operands.data, operands.count);
}

void vy_emit_print(vy_emitter *emitter, const vy_ins *ins)
{
    const vyre_program *program = emitter->ssa->program;
    uint32_t count = 0;
    if (ins->bits == 0) {
        emitter->printf_words.count = 0;
    }
    for (; count < 4 && ins->arg[count]; count++) {
        add_value(emitter, ins->arg[count], ins->loc);
    }
    if (ins->bits + count >= component_count(program, &program->stmts.data[ins->ref])) {
        print(emitter, ins->ref);
    }
}

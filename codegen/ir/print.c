/* Programs as canonical text: parses to an equal program and prints to the same bytes again. */
#include "codegen/ir/print.h"

#include "vyre/text.h"

#include <string.h>

#define LINE_LENGTH 100
#define MAX_PADDING 24

static void print_header(vy_printer *p)
{
    const vyre_program *program = p->program;
    const uint32_t *size = program->workgroup;
    vy_text_printf(p->out, "program %s\nworkgroup %u", program->name, (unsigned)size[0]);
    if (size[1] != 1 || size[2] != 1) {
        vy_text_printf(p->out, ", %u", (unsigned)size[1]);
    }
    if (size[2] != 1) {
        vy_text_printf(p->out, ", %u", (unsigned)size[2]);
    }
    vy_text_append(p->out, "\n", 1);
    if (program->grid_over) {
        vy_text_printf(p->out, "grid over %s\n", program->buffers.data[program->grid_over].name);
    }
    if (program->grid_from) {
        vy_text_printf(p->out, "grid from %s\n", program->buffers.data[program->grid_from].name);
    }
    if (program->passes != 1 || program->until) {
        vy_text_printf(p->out, "fixpoint %u", (unsigned)program->passes);
        if (program->until) {
            vy_text_printf(p->out, " until %s", program->buffers.data[program->until].name);
        }
        vy_text_append(p->out, "\n", 1);
    }
    if (program->loop_limit != VYRE_DEFAULT_LOOP_LIMIT) {
        vy_text_printf(p->out, "loop_limit %u\n", (unsigned)program->loop_limit);
    }
    if (program->subgroup_width) {
        vy_text_printf(p->out, "subgroup %u\n", (unsigned)program->subgroup_width);
    }
    if (program->fast_math) {
        vy_text_printf(p->out, "fast_math\n");
    }
}

static void print_table(vy_printer *p, const vy_table *table)
{
    vy_text_printf(p->out, "const %s : %s[] = [", table->name,
                   vyre_type_keyword((vyre_type)table->type));
    size_t line = p->out->size;
    for (uint32_t i = 0; i < table->count && !p->out->failed; i++) {
        bool is_first = i == 0;
        if (is_first || p->out->size - line > LINE_LENGTH - 24) {
            vy_text_printf(p->out, "%s\n    ", is_first ? "" : ",");
            line = p->out->size;
        } else {
            vy_text_printf(p->out, ", ");
        }
        uint64_t components[4] = {0};
        for (uint32_t c = 0; c < vy_type_components((vyre_type)table->type); c++) {
            components[c] = vy_table_value(table, i, c);
        }
        vy_print_vector(p, (vyre_type)table->type, components);
    }
    vy_text_printf(p->out, "\n]\n");
}

static void print_constants(vy_printer *p)
{
    const vyre_program *program = p->program;
    if (program->constants.count > 1 || program->tables.count > 1) {
        vy_text_append(p->out, "\n", 1);
    }
    for (uint32_t i = 1; i < program->constants.count; i++) {
        const vy_named *constant = &program->constants.data[i];
        vyre_type type = (vyre_type)constant->type;
        bool is_short = vy_type_is_integer(type) && vy_type_width(type) < 32;
        vy_text_printf(p->out, "const %s%s%s = ", constant->name, is_short ? " : " : "",
                       is_short ? vyre_type_keyword(type) : "");
        if (vy_type_is_vector(type)) {
            const vy_expr value = {.type = constant->type,
                                   .bits = {constant->bits[0], constant->bits[1]}};
            uint64_t components[4];
            for (uint32_t c = 0; c < 4; c++) {
                components[c] = vy_expr_literal(&value, c);
            }
            vy_print_vector(p, type, components);
        } else {
            vy_print_literal(p, type, constant->bits[0], is_short || type == VYRE_TYPE_U32);
        }
        vy_text_append(p->out, "\n", 1);
    }
    for (uint32_t i = 1; i < program->tables.count; i++) {
        print_table(p, &program->tables.data[i]);
    }
}

static int padding(size_t longest, const char *text)
{
    size_t length = strlen(text);
    return length < longest ? (int)(longest - length) : 0;
}

static size_t longer(size_t longest, const char *text)
{
    size_t length = strlen(text);
    return length > longest && length <= MAX_PADDING ? length : longest;
}

static void print_declaration(vy_printer *p, const char *word, size_t word_length, const char *name,
                              size_t name_length, uint8_t type)
{
    vy_text_printf(p->out, "%s%*s %s%*s : %s", word, padding(word_length, word), "", name,
                   padding(name_length, name), "", vyre_type_keyword((vyre_type)type));
}

/* Parameters and buffers, in columns. */
static void print_interface(vy_printer *p)
{
    const vyre_program *program = p->program;
    size_t word_length = program->params.count > 1 ? strlen("param") : 0, name_length = 0;
    for (uint32_t i = 1; i < program->params.count; i++) {
        name_length = longer(name_length, program->params.data[i].name);
    }
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        word_length = longer(word_length, vy_buffer_mode_text((vyre_buffer_mode)buffer->mode));
        name_length = longer(name_length, buffer->name);
    }
    if (program->params.count > 1 || program->buffers.count > 1) {
        vy_text_append(p->out, "\n", 1);
    }
    for (uint32_t i = 1; i < program->params.count; i++) {
        const vy_named *param = &program->params.data[i];
        print_declaration(p, "param", word_length, param->name, name_length, param->type);
        vy_text_append(p->out, "\n", 1);
    }
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        print_declaration(p, vy_buffer_mode_text((vyre_buffer_mode)buffer->mode), word_length,
                          buffer->name, name_length, buffer->type);
        vy_text_append(p->out, "[", 1);
        if (buffer->count.root) {
            vy_print_expression(p, &buffer->count, false, 0);
        }
        vy_text_printf(p->out, "]\n");
    }
}

/* Behind the buffers whose lengths it may name. */
static void print_grid_of(vy_printer *p)
{
    for (uint32_t i = 0; i < 3 && p->program->grid_of[i].root; i++) {
        vy_text_printf(p->out, i == 0 ? "\ngrid of " : ", ");
        vy_print_expression(p, &p->program->grid_of[i], false, 0);
    }
    if (p->program->grid_of[0].root) {
        vy_text_append(p->out, "\n", 1);
    }
}

static void print_function(vy_printer *p, const vy_function *function)
{
    vy_text_printf(p->out, "\nfn %s(", function->name);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const vy_var *parameter = &p->program->vars.data[function->first_parameter + i];
        vy_text_printf(p->out, "%s%s: %s", i > 0 ? ", " : "", parameter->name,
                       vyre_type_keyword((vyre_type)parameter->type));
    }
    vy_text_append(p->out, ")", 1);
    if (function->return_type != VYRE_TYPE_VOID) {
        vy_text_printf(p->out, " -> %s", vyre_type_keyword((vyre_type)function->return_type));
    }
    vy_text_printf(p->out, " {\n");
    p->indent = 1;
    vy_print_list(p, function->body);
    vy_text_printf(p->out, "}\n");
}

static void print_functions(vy_printer *p)
{
    for (uint32_t i = 1; i < p->program->functions.count; i++) {
        print_function(p, &p->program->functions.data[i]);
    }
}

static vyre_result print(vy_printer *p)
{
    const vyre_program *program = p->program;
    if (!vy_print_analyse(p)) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    print_header(p);
    print_constants(p);
    print_interface(p);
    print_grid_of(p);
    print_functions(p);
    vy_text_printf(p->out, "\nkernel {\n");
    p->indent = 1;
    vy_print_list(p, program->body);
    vy_text_printf(p->out, "}\n");
    if (p->out->failed || p->arena.failed) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    return p->is_too_deep ? VYRE_ERROR_INVALID_PROGRAM : VYRE_OK;
}

/* Moves the text into memory of exactly its size, which is what vyre_text_free is given. */
static vyre_result hand_over(vy_text *text, char **out_text, size_t *out_size)
{
    char *exact = vy_realloc(&text->allocator, text->data, text->capacity, text->size + 1);
    if (!exact) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_text = exact;
    *out_size = text->size;
    text->data = NULL;
    text->capacity = 0;
    return VYRE_OK;
}

vyre_result vy_program_print_parts(const vyre_program *program, vy_text *declarations,
                                   vy_text *functions)
{
    vy_printer p = {.program = program, .out = declarations};
    vy_arena_init(&p.arena, &declarations->allocator);
    bool is_analysed = vy_print_analyse(&p);
    if (is_analysed) {
        print_constants(&p);
        print_interface(&p);
        p.out = functions;
        print_functions(&p);
    }
    vyre_result result = VYRE_OK;
    if (!is_analysed || declarations->failed || functions->failed || p.arena.failed) {
        result = VYRE_ERROR_OUT_OF_HOST_MEMORY;
    } else if (p.is_too_deep) {
        result = VYRE_ERROR_INVALID_PROGRAM;
    }
    vy_arena_finish(&p.arena);
    return result;
}

vyre_result vyre_program_print(const vyre_program *program, const vyre_allocator *allocator,
                               char **out_text, size_t *out_size)
{
    if (out_text) {
        *out_text = NULL;
    }
    if (out_size) {
        *out_size = 0;
    }
    if (!program || !out_text || !out_size) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    vy_text text;
    vy_printer p = {.program = program, .out = &text};
    vy_text_init(&text, allocator);
    vy_arena_init(&p.arena, allocator);
    vyre_result result = print(&p);
    if (result == VYRE_OK) {
        result = hand_over(&text, out_text, out_size);
    }
    vy_arena_finish(&p.arena);
    vy_text_finish(&text);
    return result;
}

/* printf statements: a line for each active lane, in ascending order. */
#include "codegen/base/printf.h"
#include "codegen/interp/float.h"
#include "codegen/interp/machine.h"

/* A component's words as a device has them: small integers extended by their type, f16 as the f32
 * of the same value. */
static uint32_t put_words(vyre_type type, uint64_t bits, uint32_t *words)
{
    if (vy_type_width(type) == 64) {
        words[0] = (uint32_t)bits;
        words[1] = (uint32_t)(bits >> 32);
        return 2;
    }
    if (type == VYRE_TYPE_F16) {
        double value = vy_float_widen(vy_float_format_get(type), bits);
        words[0] = vy_f32_narrow(value);
    } else {
        words[0] =
            (uint32_t)(vy_type_is_signed(type) ? (uint64_t)vy_type_signed_value(type, bits) : bits);
    }
    return 1;
}

static void print_lane(const vy_machine *m, const vy_frame *frame, const vy_stmt *stmt,
                       uint32_t lane)
{
    const vyre_program *program = m->program;
    uint32_t words[VYRE_MAX_PRINTF_WORDS], count = 0;
    char text[VY_PRINTF_LINE_SIZE];
    for (uint32_t i = 0; i < stmt->value_count; i++) {
        uint32_t root = vy_printf_value(program, stmt, i).root;
        vyre_type type = (vyre_type)program->exprs.data[root].type;
        const uint64_t *column = vy_machine_column(m, root, frame->columns);
        for (uint32_t c = 0; c < vy_type_components(type); c++) {
            uint64_t bits = column[(size_t)c * m->volume + lane];
            count += put_words(vy_type_component(type), bits, &words[count]);
        }
    }
    vy_printf_write(stmt->name, words, count, text);
    const vyre_printf_line line = {.text = text,
                                   .program = program->name,
                                   .line = stmt->loc.line,
                                   .column = stmt->loc.column,
                                   .pass = m->pass,
                                   .segment = m->segment,
                                   .execution = m->execution,
                                   .invocation = vy_machine_invocation(m, lane)};
    m->print(m->print_user, &line);
}

void vy_machine_print(const vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    for (uint32_t i = 0; m->print && i < frame->active; i++) {
        print_lane(m, frame, stmt, lanes[i]);
    }
}

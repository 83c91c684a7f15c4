/* Puts the draining program together: head, the caller's declarations, the built-in operations, the
 * caller's functions, the switch with a case for each handler, the loop. */
#include "engine/megakernel/drain.h"

#include "engine/megakernel/drain_text.h"
#include "vyre/megakernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_WORKGROUP 64u

static uint32_t count_lines(const char *text, size_t size)
{
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += text[i] == '\n';
    }
    return count;
}

/* Lines of the caller's within the whole. */
typedef struct part {
    const char *name;
    uint32_t first, count; /* lines, from 1 */
} part;

static part append_part(vy_text *text, const char *name, const char *caller)
{
    part p = {name, count_lines(text->data, text->size) + 1, 0};
    vy_text_printf(text, "%s\n", caller ? caller : "");
    p.count = count_lines(text->data, text->size) + 1 - p.first;
    return p;
}

static void place(vyre_diag *diag, const part *p)
{
    if (diag && diag->line >= p->first && diag->line < p->first + p->count) {
        diag->line -= p->first - 1;
        snprintf(diag->file, sizeof diag->file, "%s", p->name);
    }
}

static vyre_result check(const vy_drain_params *params, vyre_diag *diag)
{
    for (uint32_t i = 0; i < params->handler_count; i++) {
        uint32_t opcode = params->handlers[i].opcode;
        const char *name = params->handlers[i].function;
        if (!name || !*name) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "handler %u has no function. Fix: name one of the functions", i);
        }
        if (vyre_opcode_is_system(opcode)) {
            return vy_diag_set(
                diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                "opcode 0x%x of '%s' is the system's. Fix: take one from 8 to 0xffef "
                "or from 0x10000 to 0x7fffffff",
                (unsigned)opcode, name);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (params->handlers[k].opcode == opcode) {
                return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                                   "opcode 0x%x is '%s' and '%s'. Fix: give each its own",
                                   (unsigned)opcode, params->handlers[k].function, name);
            }
        }
    }
    return VYRE_OK;
}

vyre_result vy_drain_build(const vy_drain_params *params, const vyre_allocator *allocator,
                           vyre_program **out_program, vyre_diag *diag)
{
    *out_program = NULL;
    vy_diag_clear(diag);
    vyre_result code = check(params, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_text text;
    vy_text_init(&text, allocator);
    vy_text_printf(&text, "program drain\nworkgroup %u\n%s",
                   (unsigned)(params->workgroup ? params->workgroup : DEFAULT_WORKGROUP),
                   vy_drain_head);
    part declarations = append_part(&text, "declarations", params->declarations);
    vy_text_printf(&text, "%s", vy_drain_operations);
    part functions = append_part(&text, "functions", params->functions);
    vy_text_printf(&text, "%s", vy_drain_switch);
    for (uint32_t i = 0; i < params->handler_count; i++) {
        vy_text_printf(&text, "        case 0x%x { let f = %s(base / 16, a0, a1, a2) fault = f }\n",
                       (unsigned)params->handlers[i].opcode, params->handlers[i].function);
    }
    vy_text_printf(&text, "%s%s%s", vy_drain_rest,
                   params->by_subgroup ? vy_drain_claim_by_subgroup : vy_drain_claim_by_lane,
                   vy_drain_end);
    code = text.failed
               ? vy_diag_no_memory(diag)
               : vyre_program_parse(text.data, text.size, "drain", allocator, out_program, diag);
    if (code != VYRE_OK) {
        place(diag, &declarations);
        place(diag, &functions);
    }
    vy_text_finish(&text);
    return code;
}

/* Puts the draining program together: head, the caller's declarations, the built-in operations, the
 * caller's functions, the switch with a case for each handler, the loop. */
#include "engine/megakernel/drain.h"

#include "engine/megakernel/drain_parts.h"
#include "engine/megakernel/drain_text.h"
#include "engine/megakernel/drain_text_items.h"
#include "engine/megakernel/drain_text_loop.h"
#include "engine/megakernel/drain_text_ring.h"
#include "vyre/text.h"

static bool is_ring(const vy_drain_params *params)
{
    return params->form == VY_DRAIN_OF_RING;
}

static void append(vy_text *text, const char *part)
{
    vy_text_printf(text, "%s", part);
}

/* ---- Head ------------------------------------------------------------------------------------ */

static void append_head(vy_text *text, const vy_drain_params *params, const char *declarations)
{
    const vy_program_traits none = {.loop_limit = 0};
    vy_program_traits traits = params->program ? vy_parts_traits(params->program) : none;
    vy_text_printf(text, "program drain\nworkgroup %u\n", (unsigned)vy_drain_workgroup(params));
    if (traits.loop_limit > VYRE_DEFAULT_LOOP_LIMIT) {
        vy_text_printf(text, "loop_limit %u\n", (unsigned)traits.loop_limit);
    }
    if (traits.subgroup_width) {
        vy_text_printf(text, "subgroup %u\n", (unsigned)traits.subgroup_width);
    }
    if (traits.fast_math) {
        append(text, "fast_math\n");
    }
    if (params->in_waves) {
        append(text, "fixpoint 2 // a dispatch says how many\n");
    }
    append(text, vy_drain_head);
    append(text, is_ring(params) ? "inout mk_ring : u32[]\n" : "in mk_ring : u32x4[]\n");
    append(text, vy_drain_head_end);
    if (params->in_waves) {
        append(text, vy_drain_head_of_waves);
    }
    append(text, declarations);
}

/* ---- Switch ---------------------------------------------------------------------------------- */

const char *vy_drain_builtin(vy_drain_form form, uint32_t opcode)
{
    switch (opcode) {
    case VYRE_OPCODE_NOP:
        return "";
    case VYRE_OPCODE_STORE_U32:
        return "mk_store_word(mk_a0, mk_a1)";
    case VYRE_OPCODE_ATOMIC_ADD:
        return "mk_add_word(mk_a0, mk_a1)";
    case VYRE_OPCODE_LOAD_U32:
        return "mk_load_word(mk_a0, mk_a1)";
    case VYRE_OPCODE_COMPARE_SWAP:
        return "mk_swap_word(mk_a0, mk_a1, mk_a2)";
    case VYRE_OPCODE_MEMCPY:
        return "mk_copy_words(mk_a0, mk_a1, mk_a2)";
    case VYRE_OPCODE_BATCH_FENCE:
        return "mk_fence(mk_a1)";
    case VYRE_OPCODE_LOAD_MISS:
        return form == VY_DRAIN_OF_RING ? "mk_load_miss(mk_slot)" : NULL;
    case VYRE_OPCODE_PRINTF:
        return "mk_print(mk_slot, mk_a0, mk_a1, mk_a2)";
    case VYRE_OPCODE_SHUTDOWN:
        return "mk_shut_down()";
    default:
        return NULL;
    }
}

static void append_builtin(vy_text *text, const char *call)
{
    if (*call) {
        vy_text_printf(text, " let mk_f = %s mk_code = mk_f ", call);
    }
}

/* Arguments behind the third lie in rings alone. Slots are given back by handlers alone that said
 * so: others would be run for ever by a ring that nobody expects to. */
static void append_handler(vy_text *text, const vy_drain_params *params,
                           const vyre_handler *handler)
{
    vy_function_traits function = {.parameter_count = 1};
    (void)vy_parts_find_function(params->program, handler->function, &function);
    vy_text_printf(text, " let mk_f = %s(mk_slot", handler->function);
    for (uint32_t a = 0; a + 1 < function.parameter_count; a++) {
        if (a < 3) {
            vy_text_printf(text, ", mk_a%u", (unsigned)a);
        } else if (is_ring(params)) {
            vy_text_printf(text, ", mk_arg(mk_slot, mk_at, mk_stop, %u)", (unsigned)a);
        } else {
            append(text, ", 0");
        }
    }
    append(text, handler->effects & VYRE_EFFECT_REQUEUES ? ") mk_code = mk_given(mk_f) "
                                                         : ") mk_code = mk_ended(mk_f) ");
}

static void append_switch(vy_text *text, const vy_drain_params *params)
{
    static const uint32_t builtins[] = {VYRE_OPCODE_NOP,          VYRE_OPCODE_STORE_U32,
                                        VYRE_OPCODE_ATOMIC_ADD,   VYRE_OPCODE_LOAD_U32,
                                        VYRE_OPCODE_COMPARE_SWAP, VYRE_OPCODE_MEMCPY,
                                        VYRE_OPCODE_PRINTF,       VYRE_OPCODE_BATCH_FENCE,
                                        VYRE_OPCODE_LOAD_MISS,    VYRE_OPCODE_SHUTDOWN};
    append(text, "    switch mk_op {\n");
    for (size_t i = 0; i < VY_COUNT_OF(builtins); i++) {
        const char *call = vy_drain_builtin(params->form, builtins[i]);
        if (call) {
            vy_text_printf(text, "        case 0x%x {", (unsigned)builtins[i]);
            append_builtin(text, call);
            append(text, "}\n");
        }
    }
    if (!is_ring(params)) {
        vy_text_printf(text, "        case 0x%x { mk_code = 4 }\n",
                       (unsigned)VYRE_OPCODE_PACKED_SLOT);
    }
    for (uint32_t i = 0; i < params->handler_count; i++) {
        vy_text_printf(text, "        case 0x%x {", (unsigned)params->handlers[i].opcode);
        append_handler(text, params, &params->handlers[i]);
        append(text, "}\n");
    }
    append(text, "        default { mk_code = 1 }\n    }\n");
}

static void append_special(vy_text *text, const vy_drain_params *params)
{
    const char *call = vy_drain_builtin(params->form, params->opcode);
    if (call) {
        append_builtin(text, call);
    } else {
        append_handler(text, params, vy_drain_find_handler(params, params->opcode));
    }
    append(text, "\n");
}

/* ---- Functions ------------------------------------------------------------------------------- */

static void append_operations(vy_text *text, const vy_drain_params *params, const char *functions)
{
    append(text, vy_drain_operations);
    append(text, functions);
    append(text, "\n");
    if (params->io_function) {
        vy_text_printf(
            text,
            "fn mk_io_function(mk_kind: u32, mk_source: u32, mk_target: u32, mk_low: u32, "
            "mk_high: u32, mk_size: u32, mk_tag: u32) -> u32 {\n"
            "    let mk_f = %s(mk_kind, mk_source, mk_target, mk_low, mk_high, mk_size, "
            "mk_tag)\n"
            "    return mk_f\n"
            "}\n",
            params->io_function);
    }
    if (is_ring(params)) {
        append(text, vy_drain_ring_args);
        append(text, params->io_function ? vy_drain_ring_serve_miss : vy_drain_ring_load_miss);
        append(text, params->by_priority ? vy_drain_ring_no_class : vy_drain_ring_class);
        append(text, vy_drain_ring_run);
        append_switch(text, params);
        append(text, vy_drain_ring_visit);
        return;
    }
    append(text, vy_drain_items_run);
    if (params->is_special) {
        append_special(text, params);
        append(text, vy_drain_items_end);
        vy_text_printf(text, "fn mk_opcode_of(mk_word: u32) -> u32 { return 0x%x }\n",
                       (unsigned)params->opcode);
    } else {
        append_switch(text, params);
        append(text, vy_drain_items_end);
        append(text, vy_drain_items_opcode);
    }
}

/* ---- Kernel ---------------------------------------------------------------------------------- */

static void append_claim(vy_text *text, const vy_drain_params *params)
{
    if (params->by_priority) {
        append(text, vy_drain_stop);
        append(text, vy_drain_by_priority);
        return;
    }
    switch (params->claim) {
    case VYRE_CLAIM_LANE:
        append(text, vy_drain_stop);
        append(text, vy_drain_by_lane);
        break;
    case VYRE_CLAIM_SUBGROUP:
        append(text, vy_drain_stop);
        append(text, vy_drain_by_subgroup);
        break;
    default:
        append(text, vy_drain_by_group);
        break;
    }
}

static void append_kernel(vy_text *text, const vy_drain_params *params)
{
    append(text, vy_drain_word_of);
    append(text, params->in_waves ? vy_drain_take_of_wave : vy_drain_take);
    append(text, vy_drain_kernel);
    append(text, is_ring(params) ? vy_drain_of_ring : vy_drain_of_items);
    append(text, params->in_waves ? vy_drain_wave : vy_drain_whole);
    append_claim(text, params);
    append(text, is_ring(params) ? vy_drain_ring_body : vy_drain_items_body);
    if (params->by_priority) {
        append(text, vy_drain_partition);
    }
    append(text, vy_drain_count);
    if (!params->by_priority &&
        (params->claim == VYRE_CLAIM_AUTO || params->claim == VYRE_CLAIM_WORKGROUP)) {
        append(text, vy_drain_was_last);
    }
    append(text, vy_drain_again);
    if (!is_ring(params)) {
        append(text, vy_drain_flush_items);
    }
    if (params->by_priority || params->in_waves) {
        append(text, vy_drain_flush_cursor);
    }
    append(text, vy_drain_flush);
    if (params->io_function) {
        append(text, vy_drain_poll_io);
    }
    append(text,
           params->in_waves ? "    let mk_launches = mk_waves\n" : "    let mk_launches = 1\n");
    append(text, vy_drain_result);
    append(text, "}\n");
}

static vyre_result compose(vy_text *text, vy_text *declarations, vy_text *functions,
                           const vy_drain_params *params)
{
    if (params->program) {
        vyre_result code = vy_parts_print(params->program, declarations, functions);
        if (code != VYRE_OK) {
            return code;
        }
    }
    append_head(text, params, declarations->size ? declarations->data : "");
    append_operations(text, params, functions->size ? functions->data : "");
    append_kernel(text, params);
    return text->failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK;
}

vyre_result vy_drain_build(const vy_drain_params *params, const vyre_allocator *allocator,
                           vyre_program **out_program, vyre_diag *diag)
{
    *out_program = NULL;
    vyre_result code = vy_drain_check(params, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_text text, declarations, functions;
    vy_text_init(&text, allocator);
    vy_text_init(&declarations, allocator);
    vy_text_init(&functions, allocator);
    code = compose(&text, &declarations, &functions, params);
    if (code == VYRE_OK) {
        code = vyre_program_parse(text.data, text.size, "drain", allocator, out_program, diag);
    } else if (code == VYRE_ERROR_OUT_OF_HOST_MEMORY) {
        code = vy_diag_no_memory(diag);
    } else {
        code = vy_diag_set(diag, code, (vy_loc){0, 0},
                           "an expression of '%s' nests deeper than text may. Fix: bind parts of "
                           "it to names",
                           vyre_program_name(params->program));
    }
    vy_text_finish(&functions);
    vy_text_finish(&declarations);
    vy_text_finish(&text);
    return code;
}

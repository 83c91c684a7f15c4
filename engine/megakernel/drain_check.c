/* Whether the draining program can be made of a caller's handlers and their program. */
#include "engine/megakernel/drain_parts.h"

#include <string.h>

/* Names and buffers of the draining program, whatever it is built for. */
#define PREFIX           "mk_"
#define OWN_BINDINGS     ((uint32_t)VY_DRAIN_WAVE_BINDINGS)
#define OWN_SHARED       2u
#define OWN_PARAMS       ((uint32_t)VY_DRAIN_PARAMS)
#define MOST_INVOCATIONS 1024u /* of a workgroup, as the language has it */
#define IO_WORDS         7u    /* parameters of an io_function */

#define FAIL(diag, ...) vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0}, __VA_ARGS__)

const vyre_handler *vy_drain_find_handler(const vy_drain_params *params, uint32_t opcode)
{
    for (uint32_t i = 0; i < params->handler_count; i++) {
        if (params->handlers[i].opcode == opcode) {
            return &params->handlers[i];
        }
    }
    return NULL;
}

/* ---- The program ----------------------------------------------------------------------------- */

static vyre_result check_room(const char *what, uint32_t count, uint32_t own, uint32_t most,
                              vyre_diag *diag)
{
    if (count > most - own) {
        return FAIL(diag,
                    "the handlers' program has %u %s, and beside the dispatcher's own there "
                    "is room for %u. Fix: join some of them",
                    (unsigned)count, what, (unsigned)(most - own));
    }
    return VYRE_OK;
}

static vyre_result check_program(const vy_drain_params *params, vyre_diag *diag)
{
    vy_program_traits has = vy_parts_traits(params->program);
    const char *name = vy_parts_find_name(params->program, PREFIX);
    if (name) {
        return FAIL(diag,
                    "'%s' of the handlers' program begins with mk_, as the dispatcher's names do. "
                    "Fix: give it another name",
                    name);
    }
    vyre_result code =
        check_room("buffers", has.binding_count, OWN_BINDINGS, VYRE_MAX_BUFFERS, diag);
    if (code == VYRE_OK) {
        code = check_room("shared buffers", has.shared_count, OWN_SHARED, VYRE_MAX_SHARED, diag);
    }
    if (code == VYRE_OK) {
        code = check_room("params", has.param_count, OWN_PARAMS, VYRE_MAX_PARAMS, diag);
    }
    if (code == VYRE_OK && has.subgroup_width &&
        vy_drain_workgroup(params) % has.subgroup_width != 0) {
        code = FAIL(diag,
                    "the handlers' program needs subgroups of %u, which workgroups of %u are no "
                    "multiple of. Fix: take another width",
                    (unsigned)has.subgroup_width, (unsigned)vy_drain_workgroup(params));
    }
    return code;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static bool has_form(const vy_function_traits *function, uint32_t least, uint32_t most)
{
    return function->is_all_u32 && function->parameter_count >= least &&
           function->parameter_count <= most;
}

/* Each invocation runs the function of its own item, so they do not meet in it. */
static vyre_result check_sync(const char *name, const vy_function_traits *function, vyre_diag *diag)
{
    if (function->has_barrier || function->has_uniform_load) {
        return FAIL(diag,
                    "'%s' has a %s, which the invocations of a workgroup must reach together, and "
                    "each runs an item of its own. Fix: leave it out, or dispatch a kernel for it",
                    name, function->has_barrier ? "barrier" : "uniform load");
    }
    return VYRE_OK;
}

static vyre_result check_function(const vyre_program *program, const char *name,
                                  const vyre_handler *handler, vyre_diag *diag)
{
    vy_function_traits function;
    const char *what = handler ? "handler" : "io_function";
    if (!program || !vy_parts_find_function(program, name, &function)) {
        return FAIL(diag, "the %s '%s' is no function of %s. Fix: %s", what, name,
                    program ? "the program" : "any program, since there is none",
                    program ? "define it there" : "give the program that defines it");
    }
    if (handler && !has_form(&function, 1, 1 + VYRE_SLOT_MAX_ARGS)) {
        return FAIL(diag,
                    "the handler '%s' has another form than (slot: u32, up to %u arguments: "
                    "u32) -> u32. Fix: give it that form",
                    name, (unsigned)VYRE_SLOT_MAX_ARGS);
    }
    if (!handler && !has_form(&function, IO_WORDS, IO_WORDS)) {
        return FAIL(diag,
                    "the io_function '%s' has another form than (kind, source, target, "
                    "offset_lo, offset_hi, size, tag: u32) -> u32. Fix: give it that form",
                    name);
    }
    return check_sync(name, &function, diag);
}

static vyre_result check_handler(const vy_drain_params *params, uint32_t index, vyre_diag *diag)
{
    const vyre_handler *handler = &params->handlers[index];
    const char *name = handler->function;
    if (!name || !*name) {
        return FAIL(diag, "handler %u has no function. Fix: name one of the program",
                    (unsigned)index);
    }
    if (vyre_opcode_is_system(handler->opcode)) {
        return FAIL(diag,
                    "opcode 0x%x of '%s' is the system's. Fix: take one from 8 to 0xffef or "
                    "from 0x10000 to 0x7fffffff",
                    (unsigned)handler->opcode, name);
    }
    for (uint32_t k = 0; k < index; k++) {
        if (params->handlers[k].opcode == handler->opcode) {
            return FAIL(diag, "opcode 0x%x is '%s' and '%s'. Fix: give each its own",
                        (unsigned)handler->opcode, params->handlers[k].function, name);
        }
    }
    return check_function(params->program, name, handler, diag);
}

/* ---- How it is drained ----------------------------------------------------------------------- */

static vyre_result check_form(const vy_drain_params *params, vyre_diag *diag)
{
    bool is_ring = params->form == VY_DRAIN_OF_RING;
    if (params->workgroup > MOST_INVOCATIONS) {
        return FAIL(diag, "there are no workgroups of %u. Fix: take one of at most %u",
                    (unsigned)params->workgroup, MOST_INVOCATIONS);
    }
    if (is_ring && (params->in_waves || params->is_special)) {
        return FAIL(diag, "a ring is drained neither in waves nor by a kernel for one opcode. Fix: "
                          "drain items");
    }
    if (params->by_priority && !is_ring) {
        return FAIL(diag, "items have no partitions by priority. Fix: drain a ring");
    }
    if (params->by_priority && params->claim != VYRE_CLAIM_AUTO &&
        params->claim != VYRE_CLAIM_LANE) {
        return FAIL(diag,
                    "slots are taken by priority by each lane for itself. Fix: claim by lanes");
    }
    if (params->is_special && !vy_drain_builtin(params->form, params->opcode) &&
        !vy_drain_find_handler(params, params->opcode)) {
        return FAIL(diag,
                    "opcode 0x%x has no handler, and so no kernel of its own. Fix: drain by "
                    "the kernel for all opcodes",
                    (unsigned)params->opcode);
    }
    return VYRE_OK;
}

vyre_result vy_drain_check(const vy_drain_params *params, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_result code = params->program ? check_program(params, diag) : VYRE_OK;
    for (uint32_t i = 0; code == VYRE_OK && i < params->handler_count; i++) {
        code = check_handler(params, i, diag);
    }
    if (code == VYRE_OK && params->io_function) {
        code = check_function(params->program, params->io_function, NULL, diag);
    }
    return code == VYRE_OK ? check_form(params, diag) : code;
}

/* Whether the draining program can be made of a caller's handlers and their program. */
#include "codegen/ir/validate.h"
#include "engine/megakernel/drain_parts.h"

#include <string.h>

/* Names and buffers of the draining program, whatever it is built for. */
#define PREFIX       "mk_"
#define OWN_BINDINGS ((uint32_t)VY_DRAIN_WAVE_BINDINGS)
#define OWN_SHARED   2u
#define OWN_PARAMS   ((uint32_t)VY_DRAIN_PARAMS)
#define IO_WORDS     7u /* parameters of an io_function */

#define FAIL(diag, ...) vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0}, __VA_ARGS__)

const vy_function *vy_drain_find(const vyre_program *program, const char *name)
{
    for (uint32_t i = 1; i < program->functions.count; i++) {
        if (strcmp(program->functions.data[i].name, name) == 0) {
            return &program->functions.data[i];
        }
    }
    return NULL;
}

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

static vyre_result check_name(const char *name, vyre_diag *diag)
{
    if (name && strncmp(name, PREFIX, strlen(PREFIX)) == 0) {
        return FAIL(diag,
                    "'%s' of the handlers' program begins with mk_, as the dispatcher's names "
                    "do. Fix: give it another name",
                    name);
    }
    return VYRE_OK;
}

#define CHECK_NAMES(list)                                                                          \
    for (uint32_t i = 1; code == VYRE_OK && i < (list).count; i++) {                               \
        code = check_name((list).data[i].name, diag);                                              \
    }

static vyre_result check_names(const vyre_program *program, vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    CHECK_NAMES(program->buffers)
    CHECK_NAMES(program->params)
    CHECK_NAMES(program->constants)
    CHECK_NAMES(program->tables)
    CHECK_NAMES(program->functions)
    CHECK_NAMES(program->vars)
    return code;
}

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
    const vyre_program *program = params->program;
    vyre_result code = check_names(program, diag);
    if (code == VYRE_OK) {
        code = check_room("buffers", program->binding_count, OWN_BINDINGS, VYRE_MAX_BUFFERS, diag);
    }
    if (code == VYRE_OK) {
        code =
            check_room("shared buffers", program->shared_count, OWN_SHARED, VYRE_MAX_SHARED, diag);
    }
    if (code == VYRE_OK) {
        code = check_room("params", program->params.count - 1, OWN_PARAMS, VYRE_MAX_PARAMS, diag);
    }
    if (code == VYRE_OK && program->subgroup_width &&
        vy_drain_workgroup(params) % program->subgroup_width) {
        code = FAIL(diag,
                    "the handlers' program needs subgroups of %u, which workgroups of %u are no "
                    "multiple of. Fix: take another width",
                    (unsigned)program->subgroup_width, (unsigned)vy_drain_workgroup(params));
    }
    return code;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static bool has_form(const vyre_program *program, const vy_function *function, uint32_t least,
                     uint32_t most)
{
    if (function->return_type != VYRE_TYPE_U32 || function->parameter_count < least ||
        function->parameter_count > most) {
        return false;
    }
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        if (program->vars.data[function->first_parameter + i].type != VYRE_TYPE_U32) {
            return false;
        }
    }
    return true;
}

/* Each invocation runs the function of its own item, so they do not meet in it. */
static vyre_result check_sync(const vy_function *function, vyre_diag *diag)
{
    bool has_barrier = function->kinds >> VY_STMT_BARRIER & 1;
    if (has_barrier || function->kinds >> VY_STMT_UNIFORM_LOAD & 1) {
        return FAIL(diag,
                    "'%s' has a %s, which the invocations of a workgroup must reach together, and "
                    "each runs an item of its own. Fix: leave it out, or dispatch a kernel for it",
                    function->name, has_barrier ? "barrier" : "uniform load");
    }
    return VYRE_OK;
}

static vyre_result check_function(const vyre_program *program, const char *name,
                                  const vyre_handler *handler, vyre_diag *diag)
{
    const vy_function *function = program ? vy_drain_find(program, name) : NULL;
    const char *what = handler ? "handler" : "io_function";
    if (!function) {
        return FAIL(diag, "the %s '%s' is no function of %s. Fix: %s", what, name,
                    program ? "the program" : "any program, since there is none",
                    program ? "define it there" : "give the program that defines it");
    }
    if (handler && !has_form(program, function, 1, 1 + VYRE_SLOT_MAX_ARGS)) {
        return FAIL(diag,
                    "the handler '%s' has another form than (slot: u32, up to %u arguments: "
                    "u32) -> u32. Fix: give it that form",
                    name, (unsigned)VYRE_SLOT_MAX_ARGS);
    }
    if (!handler && !has_form(program, function, IO_WORDS, IO_WORDS)) {
        return FAIL(diag,
                    "the io_function '%s' has another form than (kind, source, target, "
                    "offset_lo, offset_hi, size, tag: u32) -> u32. Fix: give it that form",
                    name);
    }
    return check_sync(function, diag);
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
    if (params->workgroup > VY_MAX_WORKGROUP_VOLUME) {
        return FAIL(diag, "there are no workgroups of %u. Fix: take one of at most %u",
                    (unsigned)params->workgroup, VY_MAX_WORKGROUP_VOLUME);
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

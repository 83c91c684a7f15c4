/* The effects of built-in opcodes as one table, the lookup in a caller's list, and the places that
 * an item touches. */
#include "engine/megakernel/effects.h"

#define R  VY_MK_READ
#define RI (VY_MK_READ | VY_MK_AS_INPUT)
#define W  VY_MK_WRITE
#define RW (RI | W)
#define C  (R | W | VY_MK_COMMUTE)

typedef enum source { NOWHERE, FIXED, INPUT, OUTPUT } source;

/* The control word `base`, plus the argument named; with `is_copied` as many words as param says.
 */
typedef struct operand {
    source from;
    uint32_t base, modes;
    bool is_copied;
} operand;

typedef struct builtin {
    uint32_t opcode, effects;
    operand operands[2];
} builtin;

#define OBSERVABLES ((uint32_t)VYRE_CONTROL_OBSERVABLES)

/* DFA_STEP ends as a fault, which is counted, so it is not pure. What a packed slot holds and what
 * LOAD_MISS waits for no argument names; behind SHUTDOWN nothing runs. A PRINTF's record is one
 * more each time. */
static const builtin builtins[] = {
    {VYRE_OPCODE_NOP, VY_MK_PURE | VY_MK_IDEMPOTENT, {{NOWHERE, 0, 0, false}}},
    {VYRE_OPCODE_STORE_U32, VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT, {{OUTPUT, 0, W, false}}},
    {VYRE_OPCODE_ATOMIC_ADD,
     VY_MK_READS_OUTPUT | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE,
     {{OUTPUT, 0, C, false}}},
    {VYRE_OPCODE_LOAD_U32,
     VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT,
     {{INPUT, 0, RI, false}, {OUTPUT, OBSERVABLES, W, false}}},
    {VYRE_OPCODE_COMPARE_SWAP,
     VY_MK_READS_INPUT | VY_MK_WRITES_INPUT | VY_MK_WRITES_CONTROL,
     {{INPUT, 0, RW, false}, {INPUT, OBSERVABLES, W, false}}},
    {VYRE_OPCODE_MEMCPY,
     VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT,
     {{INPUT, 0, RI, true}, {OUTPUT, 0, W, true}}},
    {VYRE_OPCODE_DFA_STEP, 0, {{NOWHERE, 0, 0, false}}},
    {VYRE_OPCODE_BATCH_FENCE,
     VY_MK_READS_CONTROL | VY_MK_WRITES_CONTROL,
     {{FIXED, VYRE_CONTROL_EPOCH, C, false}, {FIXED, OBSERVABLES, W, false}}},
    {VYRE_OPCODE_LOAD_MISS, VY_MK_OPAQUE | VY_MK_ORDERS_ALL, {{NOWHERE, 0, 0, false}}},
    {VYRE_OPCODE_PRINTF, 0, {{NOWHERE, 0, 0, false}}},
    {(uint32_t)VYRE_OPCODE_PACKED_SLOT, VY_MK_OPAQUE | VY_MK_ORDERS_ALL, {{NOWHERE, 0, 0, false}}},
    {(uint32_t)VYRE_OPCODE_SHUTDOWN,
     VY_MK_WRITES_CONTROL | VY_MK_ORDERS_ALL,
     {{NOWHERE, 0, 0, false}}},
};

static const builtin *find_builtin(uint32_t opcode)
{
    for (size_t i = 0; i < VY_COUNT_OF(builtins); i++) {
        if (builtins[i].opcode == opcode) {
            return &builtins[i];
        }
    }
    return NULL;
}

/* What is wrong with a row, or NULL. */
static const char *find_fault(const vy_mk_handler *handler)
{
    const uint32_t unknown = VY_MK_OPAQUE | VY_MK_ORDERS_ALL;
    const uint32_t claims = VY_MK_PURE | VY_MK_IDEMPOTENT | VY_MK_COMMUTATIVE;
    const uint32_t in_pure =
        VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_PURE | VY_MK_IDEMPOTENT;
    const uint32_t opcode = handler->opcode, effects = handler->effects;
    if (vyre_opcode_is_system(opcode)) {
        return "has an opcode of the system's, whose effects are fixed. Fix: give it a user's "
               "opcode";
    }
    if (effects & ~VY_MK_ALL_EFFECTS) {
        return "has bits that are no effect. Fix: leave them 0";
    }
    if ((effects & unknown) && (effects & claims)) {
        return "is opaque or orders all, and promises to be pure, idempotent or commutative. Fix: "
               "leave one of the two out";
    }
    if ((effects & VY_MK_COMMUTATIVE) && !(effects & VY_MK_WRITES_OUTPUT)) {
        return "is commutative and writes no output. Fix: say that it writes its output";
    }
    if ((effects & VY_MK_PURE) && (effects & ~in_pure)) {
        return "is pure, and touches more than its input and what it writes anew. Fix: say that it "
               "is idempotent instead, where it is";
    }
    return NULL;
}

vyre_result vy_mk_effects_init(vy_mk_effects *out_table, vy_arena *arena,
                               const vy_mk_handler *handlers, uint64_t count, vyre_diag *diag)
{
    vy_diag_clear(diag);
    *out_table = (vy_mk_effects){.effects = NULL};
    vy_mk_map map;
    vy_mk_map_init(&map, arena);
    if (count == 0) {
        return VYRE_OK;
    }
    if (!handlers || count > UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%llu handlers are at %s. Fix: pass an array of at most 2^32 - 1",
                           (unsigned long long)count, handlers ? "an address" : "NULL");
    }
    uint32_t *effects = vy_arena_alloc(arena, (size_t)count, sizeof *effects);
    for (uint32_t i = 0; effects && i < count; i++) {
        const char *fault = find_fault(&handlers[i]);
        uint32_t number = fault ? 0 : vy_mk_map_intern(&map, (vy_mk_key){handlers[i].opcode, 0, 0});
        if (number == VY_MK_NONE) {
            break;
        }
        if (!fault && number != i) {
            fault = "has an opcode that stands before. Fix: say all of its effects once";
        }
        if (fault) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "handler %u (opcode 0x%x, effects 0x%x) %s", i, handlers[i].opcode,
                               handlers[i].effects, fault);
        }
        effects[i] = handlers[i].effects;
    }
    if (map.keys.count != count) {
        return vy_diag_no_memory(diag);
    }
    *out_table = (vy_mk_effects){map, effects};
    return VYRE_OK;
}

uint32_t vy_mk_effects_find(const vy_mk_effects *table, uint32_t opcode)
{
    const builtin *known = find_builtin(opcode);
    if (known) {
        return known->effects;
    }
    uint32_t number =
        table ? vy_mk_map_find(&table->opcodes, (vy_mk_key){opcode, 0, 0}) : VY_MK_NONE;
    return number == VY_MK_NONE ? (uint32_t)VY_MK_OPAQUE : table->effects[number];
}

/* ---- Places --------------------------------------------------------------------------------- */

static void add(vy_mk_accesses *list, vy_mk_space space, uint64_t place, uint32_t modes)
{
    if (modes) {
        list->at[list->count++] = (vy_mk_access){space, place, modes};
    }
}

static void list_builtin(const builtin *known, const vyre_work_item *item, vy_mk_accesses *list)
{
    for (size_t i = 0; i < VY_COUNT_OF(known->operands); i++) {
        const operand *o = &known->operands[i];
        uint64_t first = o->base;
        first += o->from == INPUT ? item->input : o->from == OUTPUT ? item->output : 0;
        uint32_t count = o->is_copied ? item->param : o->from != NOWHERE;
        if (count > VY_MK_EXACT_WORDS) {
            list->count = 0;
            add(list, VY_MK_CONTROL, VY_MK_ALL_WORDS, RW | VY_MK_PARTIAL);
            return;
        }
        for (uint32_t word = 0; word < count; word++) {
            add(list, VY_MK_CONTROL, first + word, o->modes);
        }
    }
}

static void list_user(uint32_t effects, const vyre_work_item *item, vy_mk_accesses *list)
{
    uint32_t input = 0, output = 0, control = 0;
    input |= effects & VY_MK_READS_INPUT ? RI : 0;
    input |= effects & VY_MK_WRITES_INPUT ? W : 0;
    output |= effects & VY_MK_READS_OUTPUT ? R : 0;
    output |= effects & VY_MK_WRITES_OUTPUT ? W : 0;
    control |= effects & VY_MK_READS_CONTROL ? RI : 0;
    control |= effects & VY_MK_WRITES_CONTROL ? W | VY_MK_PARTIAL : 0;
    if (effects & VY_MK_COMMUTATIVE) {
        output |= C;
    }
    if (effects & VY_MK_OPAQUE) {
        input |= RW;
        output |= RW;
    }
    if (item->input == item->output && input) {
        /* Updates of a place by what the place itself holds do not commute. */
        output = (output | input) & ~(uint32_t)VY_MK_COMMUTE;
        input = 0;
    }
    add(list, VY_MK_USER, item->input, input);
    add(list, VY_MK_USER, item->output, output);
    add(list, VY_MK_CONTROL, VY_MK_ALL_WORDS, control);
}

void vy_mk_list_accesses(const vy_mk_effects *table, const vyre_work_item *item,
                         vy_mk_accesses *out_accesses)
{
    const builtin *known = find_builtin(item->opcode);
    out_accesses->effects = known ? known->effects : vy_mk_effects_find(table, item->opcode);
    out_accesses->count = 0;
    out_accesses->orders_all = (out_accesses->effects & VY_MK_ORDERS_ALL) != 0;
    if (out_accesses->orders_all) {
        return;
    }
    if (known) {
        list_builtin(known, item, out_accesses);
    } else {
        list_user(out_accesses->effects, item, out_accesses);
    }
}

vyre_result vy_mk_check_items(const vyre_work_item *items, uint64_t count, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (count > UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%llu work items are more than 2^32 - 1. Fix: dispatch them in parts",
                           (unsigned long long)count);
    }
    if (count > 0 && !items) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%llu work items are at NULL. Fix: pass them, or 0 for none",
                           (unsigned long long)count);
    }
    return VYRE_OK;
}

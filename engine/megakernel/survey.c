/* The opcodes of a queue, and whether its items touch anything in common: what every queue pays
 * for, so a pass over the items each, without memory where handles are small. */
#include "engine/megakernel/queue_plan.h"

#include <string.h>

/* ---- Opcodes --------------------------------------------------------------------------------- */

/* The place of an opcode that is found at once, or VY_MK_SURVEY_OPCODES. */
static inline uint32_t find_at_once(const vy_mk_survey *s, uint32_t opcode)
{
    uint32_t at = s->slots[opcode % VY_MK_SURVEY_SLOTS] - 1u;
    return at < VY_MK_SURVEY_OPCODES && s->opcodes[at] == opcode ? at : VY_MK_SURVEY_OPCODES;
}

/* The place of an opcode, a new one where it is new; VY_MK_SURVEY_OPCODES: there are too many. */
static uint32_t place_of(vy_mk_survey *s, uint32_t opcode)
{
    uint32_t known =
        s->opcode_count < VY_MK_SURVEY_OPCODES ? s->opcode_count : VY_MK_SURVEY_OPCODES;
    uint32_t at = 0;
    while (at < known && s->opcodes[at] != opcode) {
        at++;
    }
    if (at < known) {
        return at;
    }
    if (known == VY_MK_SURVEY_OPCODES) {
        s->opcode_count = VY_MK_SURVEY_OPCODES + 1;
        return VY_MK_SURVEY_OPCODES;
    }
    s->opcodes[at] = opcode;
    s->opcode_count++;
    s->slots[opcode % VY_MK_SURVEY_SLOTS] = (uint8_t)(at + 1);
    return at;
}

uint32_t vy_mk_survey_place(const vy_mk_survey *s, uint32_t opcode)
{
    uint32_t at = find_at_once(s, opcode);
    if (at == VY_MK_SURVEY_OPCODES) {
        for (at = 0; s->opcodes[at] != opcode;) {
            at++;
        }
    }
    return at;
}

static bool requeues(const vyre_handler *handlers, uint32_t count, uint32_t opcode)
{
    for (uint32_t h = 0; h < count; h++) {
        if (handlers[h].opcode == opcode) {
            return (handlers[h].effects & VYRE_EFFECT_REQUEUES) != 0;
        }
    }
    return false;
}

static vyre_result refuse(uint32_t opcode, uint32_t item, vyre_diag *diag)
{
    return vy_diag_set(
        diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
        "item %u has opcode 0x%x, which no item may have. Fix: take a built-in one, or a "
        "user's: 8 to 0xffef, or 0x10000 to 0x7fffffff",
        (unsigned)item, (unsigned)opcode);
}

/* What a new opcode says of the whole queue. */
static void note(const vy_mk_effects *table, const vyre_handler *handlers, uint32_t handler_count,
                 uint32_t opcode, uint32_t at, vy_mk_survey *s)
{
    const uint32_t once = VY_MK_PURE | VY_MK_IDEMPOTENT;
    uint32_t effects = vy_mk_effects_find(table, opcode);
    s->has_packed = s->has_packed || opcode == VYRE_OPCODE_PACKED_SLOT;
    s->has_requeues = s->has_requeues || requeues(handlers, handler_count, opcode);
    s->is_idempotent = s->is_idempotent && (effects & once);
    if (at < VY_MK_SURVEY_OPCODES) {
        s->effects[at] = effects;
    }
}

#define BLOCK 16u

/* Whether the next BLOCK items have that opcode: without a branch for each. */
static bool is_block_of(const vyre_work_item *items, uint32_t opcode)
{
    uint32_t other = 0;
    for (uint32_t i = 0; i < BLOCK; i++) {
        other |= items[i].opcode ^ opcode;
    }
    return other == 0;
}

vyre_result vy_mk_survey_items(const vy_mk_effects *table, const vyre_handler *handlers,
                               uint32_t handler_count, const vyre_work_item *items, uint32_t count,
                               vy_mk_survey *s, vyre_diag *diag)
{
    memset(s, 0, sizeof *s);
    s->is_idempotent = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t opcode = items[i].opcode, before = s->opcode_count;
        if (i > 0 && i % BLOCK == 0 && count - i >= BLOCK &&
            is_block_of(items + i, items[i - 1].opcode)) {
            i += BLOCK - 1;
            continue;
        }
        if (find_at_once(s, opcode) != VY_MK_SURVEY_OPCODES) {
            continue; /* nearly always */
        }
        uint32_t at = place_of(s, opcode);
        if (at != before && at != VY_MK_SURVEY_OPCODES) {
            continue;
        }
        if (!vyre_opcode_is_publishable(opcode)) {
            return refuse(opcode, i, diag);
        }
        note(table, handlers, handler_count, opcode, at, s);
    }
    return VYRE_OK;
}

/* ---- What items touch ------------------------------------------------------------------------ */

#define MAX_BITS_PER_ITEM 64u
#define FEW_WORDS         64u

#define READS  (VY_MK_READS_INPUT | VY_MK_READS_OUTPUT)
#define WRITES (VY_MK_WRITES_INPUT | VY_MK_WRITES_OUTPUT)

enum { READ = 1, WRITTEN = 2 };

/* Which handles the items before read and wrote: two bits each, or a table where handles are large.
 */
typedef struct touched {
    uint64_t *bits;
    uint64_t *slots; /* handle << 2 | READ | WRITTEN; 0: free */
    uint32_t mask;
} touched;

static uint64_t *slot_of(const touched *t, uint32_t handle)
{
    uint32_t at = (handle * 0x9e3779b1u >> 7) & t->mask;
    while (t->slots[at] && t->slots[at] >> 2 != handle) {
        at = (at + 1) & t->mask;
    }
    return &t->slots[at];
}

static uint32_t how(const touched *t, uint32_t handle)
{
    uint64_t word = t->bits ? t->bits[handle / 32] >> handle % 32 * 2 : *slot_of(t, handle);
    return (uint32_t)(word & 3);
}

static void mark(touched *t, uint32_t handle, uint32_t ways)
{
    if (t->bits) {
        t->bits[handle / 32] |= (uint64_t)ways << handle % 32 * 2;
    } else {
        uint64_t *slot = slot_of(t, handle);
        *slot |= (uint64_t)handle << 2 | ways;
    }
}

static bool clashes(uint32_t before, uint32_t ways)
{
    return (before & WRITTEN) || (before && (ways & WRITTEN));
}

/* False where the item touches what one before wrote, or writes what one before touched. */
static bool is_apart(touched *t, const vyre_work_item *item, uint32_t effects)
{
    uint32_t input =
        (effects & VY_MK_READS_INPUT ? READ : 0u) | (effects & VY_MK_WRITES_INPUT ? WRITTEN : 0u);
    uint32_t output =
        (effects & VY_MK_READS_OUTPUT ? READ : 0u) | (effects & VY_MK_WRITES_OUTPUT ? WRITTEN : 0u);
    if ((input && clashes(how(t, item->input), input)) ||
        (output && clashes(how(t, item->output), output))) {
        return false;
    }
    if (input) {
        mark(t, item->input, input);
    }
    if (output) {
        mark(t, item->output, output);
    }
    return true;
}

/* What all items read lies on one side of what all write, and what they write ascends: nothing else
 * has to be looked at. `all`: effects of any of them. */
static bool is_apart_by_ranges(const vyre_work_item *items, uint32_t count, uint32_t all)
{
    uint32_t first = UINT32_MAX, last = 0, broken = 0;
    if ((all & (READS | WRITES)) & ~(uint32_t)(VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT)) {
        return false;
    }
    for (uint32_t i = 1; i < count; i++) {
        broken |= items[i].output <= items[i - 1].output;
    }
    if (broken) {
        return false;
    }
    for (uint32_t i = 0; (all & VY_MK_READS_INPUT) && i < count; i++) {
        first = items[i].input < first ? items[i].input : first;
        last = items[i].input > last ? items[i].input : last;
    }
    return !(all & VY_MK_READS_INPUT) || last < items[0].output || first > items[count - 1].output;
}

static bool make_touched(touched *t, vy_arena *arena, uint64_t *few, const vyre_work_item *items,
                         uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t larger = items[i].input > items[i].output ? items[i].input : items[i].output;
        largest = larger > largest ? larger : largest;
    }
    if (largest / MAX_BITS_PER_ITEM <= count) {
        uint32_t words = largest / 32 + 1;
        t->bits = words <= FEW_WORDS ? few : vy_arena_alloc(arena, words, sizeof *t->bits);
        return t->bits != NULL;
    }
    uint64_t size = 64;
    while (size < (uint64_t)count * 4) {
        size *= 2;
    }
    t->mask = (uint32_t)(size - 1);
    t->slots = size <= UINT32_MAX ? vy_arena_alloc(arena, (size_t)size, sizeof *t->slots) : NULL;
    return t->slots != NULL;
}

/* What handlers of these effects touch is named by input and output alone. */
static bool is_named(uint32_t opcode, uint32_t effects)
{
    return !(effects & (VY_MK_READS_CONTROL | VY_MK_WRITES_CONTROL | VY_MK_ORDERS_ALL)) &&
           (!vyre_opcode_is_system(opcode) || opcode == VYRE_OPCODE_NOP);
}

/* All items are of one opcode whose items may run in any order. */
static bool is_commutative(const vy_mk_survey *survey)
{
    const uint32_t others = VY_MK_READS_INPUT | VY_MK_WRITES_INPUT | VY_MK_READS_CONTROL |
                            VY_MK_WRITES_CONTROL | VY_MK_ORDERS_ALL;
    return survey->opcode_count == 1 && (survey->effects[0] & VY_MK_COMMUTATIVE) &&
           !(survey->effects[0] & others);
}

vy_mk_relation vy_mk_relate(vy_arena *arena, const vy_mk_survey *survey,
                            const vyre_work_item *items, uint32_t count)
{
    uint32_t effects[VY_MK_SURVEY_OPCODES], all = 0;
    bool each_writes = true;
    if (count < 2) {
        return VY_MK_DISJOINT;
    }
    if (survey->opcode_count > VY_MK_SURVEY_OPCODES) {
        return VY_MK_UNKNOWN;
    }
    if (is_commutative(survey)) {
        return VY_MK_UNORDERED;
    }
    for (uint32_t o = 0; o < survey->opcode_count; o++) {
        uint32_t e = survey->effects[o];
        if (!is_named(survey->opcodes[o], e)) {
            return VY_MK_UNKNOWN;
        }
        effects[o] = e & VY_MK_OPAQUE ? READS | WRITES : e & (READS | WRITES);
        each_writes = each_writes && (effects[o] & WRITES);
        all |= effects[o];
    }
    if (!(all & WRITES)) {
        return VY_MK_UNORDERED;
    }
    if (each_writes && is_apart_by_ranges(items, count, all)) {
        return VY_MK_DISJOINT;
    }
    uint64_t few[FEW_WORDS] = {0};
    touched t = {NULL, NULL, 0};
    if (!make_touched(&t, arena, few, items, count)) {
        return VY_MK_UNKNOWN;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!is_apart(&t, &items[i], effects[vy_mk_survey_place(survey, items[i].opcode)])) {
            return VY_MK_UNKNOWN;
        }
    }
    return each_writes ? VY_MK_DISJOINT : VY_MK_UNORDERED;
}

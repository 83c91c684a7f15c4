/* The opcodes of a queue, and whether its items can touch anything in common. */
#include "engine/megakernel/queue_plan.h"

#include <string.h>

#define SMALL_OPCODES 4096u /* counted without looking them up */

typedef struct counter {
    vy_mk_survey *survey;
    uint8_t small[SMALL_OPCODES]; /* place + 1 */
} counter;

/* The place of an opcode, a new one where it is new; VY_MK_ARRANGE_OPCODES: there are too many. */
static uint32_t place_of(counter *c, uint32_t opcode)
{
    vy_mk_survey *s = c->survey;
    if (opcode < SMALL_OPCODES && c->small[opcode]) {
        return c->small[opcode] - 1u;
    }
    uint32_t known =
        s->opcode_count < VY_MK_ARRANGE_OPCODES ? s->opcode_count : VY_MK_ARRANGE_OPCODES;
    uint32_t at = 0;
    while (at < known && s->opcodes[at] != opcode) {
        at++;
    }
    if (at == known) {
        if (known == VY_MK_ARRANGE_OPCODES) {
            s->opcode_count = VY_MK_ARRANGE_OPCODES + 1;
            return VY_MK_ARRANGE_OPCODES;
        }
        s->opcodes[at] = opcode;
        s->opcode_count++;
    }
    if (opcode < SMALL_OPCODES) {
        c->small[opcode] = (uint8_t)(at + 1);
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
                 uint32_t opcode, vy_mk_survey *s)
{
    const uint32_t once = VY_MK_PURE | VY_MK_IDEMPOTENT;
    s->has_packed = s->has_packed || opcode == VYRE_OPCODE_PACKED_SLOT;
    s->has_requeues = s->has_requeues || requeues(handlers, handler_count, opcode);
    s->is_idempotent = s->is_idempotent && (vy_mk_effects_find(table, opcode) & once);
}

vyre_result vy_mk_survey_items(const vy_mk_effects *table, const vyre_handler *handlers,
                               uint32_t handler_count, const vyre_work_item *items, uint32_t count,
                               vy_mk_survey *out_survey, vyre_diag *diag)
{
    counter c = {.survey = out_survey};
    memset(out_survey, 0, sizeof *out_survey);
    out_survey->is_idempotent = true;
    uint32_t last = 0, at = VY_MK_ARRANGE_OPCODES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t opcode = items[i].opcode;
        if (at == VY_MK_ARRANGE_OPCODES || opcode != last) {
            uint32_t before = out_survey->opcode_count;
            at = place_of(&c, opcode);
            last = opcode;
            if (at == before || at == VY_MK_ARRANGE_OPCODES) {
                if (!vyre_opcode_is_publishable(opcode)) {
                    return refuse(opcode, i, diag);
                }
                note(table, handlers, handler_count, opcode, out_survey);
            }
        }
        if (at < VY_MK_ARRANGE_OPCODES) {
            out_survey->counts[at]++;
        }
    }
    return VYRE_OK;
}

/* ---- Disjoint items -------------------------------------------------------------------------- */

#define MAX_BITS_PER_ITEM 64u

/* A bit for each handle up to the largest. */
typedef struct handles {
    uint64_t *bits;
    uint64_t size;
} handles;

static bool is_set(const handles *h, uint32_t handle)
{
    return handle < h->size && (h->bits[handle / 64] >> handle % 64 & 1);
}

/* False where the bit was set before. */
static bool set(handles *h, uint32_t handle)
{
    uint64_t bit = (uint64_t)1 << handle % 64, before = h->bits[handle / 64];
    h->bits[handle / 64] = before | bit;
    return !(before & bit);
}

/* What handlers of this effect touch is named by input and output alone. */
static bool is_named(uint32_t effects)
{
    return !(effects & (VY_MK_READS_CONTROL | VY_MK_WRITES_CONTROL | VY_MK_ORDERS_ALL));
}

#define READS  (VY_MK_READS_INPUT | VY_MK_READS_OUTPUT)
#define WRITES (VY_MK_WRITES_INPUT | VY_MK_WRITES_OUTPUT)

/* What any of the queue's items does to what its handles name; false where handles do not name all.
 */
static bool find_effects(const vy_mk_effects *table, const vy_mk_survey *survey,
                         uint32_t *out_effects)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < survey->opcode_count; i++) {
        uint32_t opcode = survey->opcodes[i], effects = vy_mk_effects_find(table, opcode);
        bool is_builtin = vyre_opcode_is_system(opcode);
        if (!is_named(effects) || (is_builtin && opcode != VYRE_OPCODE_NOP)) {
            return false;
        }
        all |= effects & VY_MK_OPAQUE ? READS | WRITES : effects & (READS | WRITES);
    }
    *out_effects = all;
    return true;
}

/* Each handle that is written stands in one item alone. */
static bool write_apart(const handles *written, const vyre_work_item *items, uint32_t count,
                        uint32_t effects)
{
    handles w = *written;
    for (uint32_t i = 0; i < count; i++) {
        if ((effects & VY_MK_WRITES_OUTPUT) && !set(&w, items[i].output)) {
            return false;
        }
        if ((effects & VY_MK_WRITES_INPUT) &&
            (items[i].input != items[i].output || !(effects & VY_MK_WRITES_OUTPUT)) &&
            !set(&w, items[i].input)) {
            return false;
        }
    }
    /* What is read and not written by the same item. */
    for (uint32_t i = 0; i < count; i++) {
        if (!(effects & VY_MK_WRITES_INPUT) && (effects & VY_MK_READS_INPUT) &&
            items[i].input != items[i].output && is_set(&w, items[i].input)) {
            return false;
        }
        if (!(effects & VY_MK_WRITES_OUTPUT) && (effects & VY_MK_READS_OUTPUT) &&
            items[i].input != items[i].output && is_set(&w, items[i].output)) {
            return false;
        }
    }
    return true;
}

/* All items are of one opcode whose items may run in any order. */
static bool is_commutative(const vy_mk_effects *table, const vy_mk_survey *survey)
{
    const uint32_t others = VY_MK_READS_INPUT | VY_MK_WRITES_INPUT | VY_MK_READS_CONTROL |
                            VY_MK_WRITES_CONTROL | VY_MK_ORDERS_ALL;
    uint32_t effects = vy_mk_effects_find(table, survey->opcodes[0]);
    return survey->opcode_count == 1 && (effects & VY_MK_COMMUTATIVE) && !(effects & others);
}

vy_mk_relation vy_mk_relate(vy_arena *arena, const vy_mk_effects *table, const vy_mk_survey *survey,
                            const vyre_work_item *items, uint32_t count)
{
    uint32_t effects = 0, largest = 0;
    if (count < 2) {
        return VY_MK_DISJOINT;
    }
    if (survey->opcode_count > VY_MK_ARRANGE_OPCODES) {
        return VY_MK_UNKNOWN;
    }
    if (is_commutative(table, survey)) {
        return VY_MK_UNORDERED;
    }
    if (!find_effects(table, survey, &effects)) {
        return VY_MK_UNKNOWN;
    }
    if (!(effects & WRITES)) {
        return VY_MK_UNORDERED;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t in = effects & VY_MK_WRITES_INPUT ? items[i].input : 0;
        uint32_t out = effects & VY_MK_WRITES_OUTPUT ? items[i].output : 0;
        uint32_t larger = in > out ? in : out;
        largest = larger > largest ? larger : largest;
    }
    if (largest / MAX_BITS_PER_ITEM > count) {
        return VY_MK_UNKNOWN;
    }
    handles written = {NULL, (uint64_t)largest + 1};
    uint64_t few[64] = {0};
    written.bits = largest < 64 * VY_COUNT_OF(few)
                       ? few
                       : vy_arena_alloc(arena, largest / 64 + 1, sizeof *written.bits);
    return written.bits && write_apart(&written, items, count, effects) ? VY_MK_DISJOINT
                                                                        : VY_MK_UNKNOWN;
}

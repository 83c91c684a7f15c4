/* Written from the documentation, apart from the text of the draining program. */
#include "tests/megakernel/builtin_oracle.h"

#include "codegen/base/base.h"

enum { FIRST_OPEN = VYRE_CONTROL_OBSERVABLES, FIRST_FREE = 154 };

void oracle_init(builtin_oracle *oracle, uint32_t *control, uint32_t length)
{
    *oracle = (builtin_oracle){.control = control, .length = length, .fault_item = VYRE_DIAG_NONE};
}

/* Words [first, first + count) are the buffer's, or also open to operations. */
static bool has(const builtin_oracle *o, uint64_t first, uint64_t count)
{
    return first + count <= o->length;
}

static bool is_open(const builtin_oracle *o, uint64_t first, uint64_t count)
{
    return first >= FIRST_OPEN && has(o, first, count);
}

static vyre_slot_fault bounds_unless(bool is_good)
{
    return is_good ? VYRE_FAULT_NONE : VYRE_FAULT_BOUNDS;
}

static vyre_slot_fault run_copy(builtin_oracle *o, const vyre_work_item *item)
{
    if (item->param == 0) {
        return VYRE_FAULT_NONE;
    }
    if (!is_open(o, item->output, item->param) || !has(o, item->input, item->param)) {
        return VYRE_FAULT_BOUNDS;
    }
    for (uint32_t i = 0; i < item->param; i++) {
        o->control[item->output + i] = o->control[item->input + i];
    }
    return VYRE_FAULT_NONE;
}

static vyre_slot_fault run_swap(builtin_oracle *o, const vyre_work_item *item)
{
    if (!is_open(o, item->input, 1) || !has(o, (uint64_t)FIRST_OPEN + item->input, 1)) {
        return VYRE_FAULT_BOUNDS;
    }
    uint32_t before = o->control[item->input];
    if (before == item->output) {
        o->control[item->input] = item->param;
    }
    o->control[FIRST_OPEN + item->input] = before;
    return VYRE_FAULT_NONE;
}

static vyre_slot_fault run(builtin_oracle *o, const vyre_work_item *item)
{
    bool is_good;
    switch (item->opcode) {
    case VYRE_OPCODE_NOP:
    case VYRE_OPCODE_PRINTF:
        return VYRE_FAULT_NONE;
    case VYRE_OPCODE_STORE_U32:
    case VYRE_OPCODE_ATOMIC_ADD:
        is_good = is_open(o, item->output, 1);
        if (is_good && item->opcode == VYRE_OPCODE_STORE_U32) {
            o->control[item->output] = item->input;
        } else if (is_good) {
            o->control[item->output] += item->input;
        }
        return bounds_unless(is_good);
    case VYRE_OPCODE_LOAD_U32:
        is_good = has(o, item->input, 1) && has(o, (uint64_t)FIRST_OPEN + item->output, 1);
        if (is_good) {
            o->control[FIRST_OPEN + item->output] = o->control[item->input];
        }
        return bounds_unless(is_good);
    case VYRE_OPCODE_COMPARE_SWAP:
        return run_swap(o, item);
    case VYRE_OPCODE_MEMCPY:
        return run_copy(o, item);
    case VYRE_OPCODE_BATCH_FENCE:
        o->control[VYRE_CONTROL_EPOCH]++;
        if (has(o, FIRST_OPEN, 1)) {
            o->control[FIRST_OPEN] = item->output;
        }
        return VYRE_FAULT_NONE;
    case VYRE_OPCODE_SHUTDOWN:
        o->control[VYRE_CONTROL_SHUTDOWN] = 1;
        return VYRE_FAULT_NONE;
    default:
        return VYRE_FAULT_UNKNOWN_OPCODE;
    }
}

vyre_slot_fault oracle_run(builtin_oracle *oracle, const vyre_work_item *item)
{
    vyre_slot_fault fault = run(oracle, item);
    if (item->opcode < VYRE_METRIC_COUNT && fault != VYRE_FAULT_UNKNOWN_OPCODE) {
        oracle->control[VYRE_CONTROL_METRICS + item->opcode]++;
    }
    oracle->done_count += fault == VYRE_FAULT_NONE;
    oracle->fault_count += fault != VYRE_FAULT_NONE;
    oracle->unknown_count += fault == VYRE_FAULT_UNKNOWN_OPCODE;
    if (fault && oracle->fault_item == VYRE_DIAG_NONE) {
        oracle->fault_item = oracle->item_count;
        oracle->fault_code = fault;
    }
    oracle->item_count++;
    return fault;
}

bool oracle_is_fixed(uint32_t word)
{
    return word != VYRE_CONTROL_DONE_COUNT &&
           !(word >= VYRE_CONTROL_TENANT_FAIRNESS && word < VYRE_CONTROL_EPOCH) &&
           !(word >= VYRE_CONTROL_PRIORITY_STARVATION && word < FIRST_FREE);
}

bool oracle_is_foretold(const builtin_oracle *oracle, const vyre_work_item *item)
{
    if (item->opcode == VYRE_OPCODE_LOAD_U32) {
        return oracle_is_fixed(item->input);
    }
    if (item->opcode == VYRE_OPCODE_MEMCPY && has(oracle, item->input, item->param)) {
        for (uint32_t i = 0; i < item->param; i++) {
            if (!oracle_is_fixed(item->input + i)) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t next(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static uint32_t make_word(const builtin_oracle *o, uint64_t *seed)
{
    const uint32_t length = o->length;
    const uint32_t borders[] = {0,
                                1,
                                2,
                                3,
                                31,
                                32,
                                63,
                                64,
                                95,
                                96,
                                127,
                                128,
                                129,
                                134,
                                135,
                                147,
                                148,
                                159,
                                160,
                                161,
                                319,
                                320,
                                321,
                                length - 161,
                                length - 160,
                                length - 1,
                                length,
                                length + 1,
                                0x7fffffffu,
                                0x80000000u,
                                0xffffff5fu,
                                0xffffff60u,
                                UINT32_MAX};
    switch (next(seed, 4)) {
    case 0:
        return borders[next(seed, VY_COUNT_OF(borders))];
    case 1: /* a few, so that items meet */
        return FIRST_OPEN + next(seed, 8);
    case 2:
        return next(seed, 8);
    default:
        return length > FIRST_OPEN ? FIRST_OPEN + next(seed, length - FIRST_OPEN) : FIRST_OPEN;
    }
}

vyre_work_item oracle_make(const builtin_oracle *oracle, uint64_t *seed)
{
    static const uint32_t opcodes[] = {VYRE_OPCODE_NOP,
                                       VYRE_OPCODE_STORE_U32,
                                       VYRE_OPCODE_ATOMIC_ADD,
                                       VYRE_OPCODE_LOAD_U32,
                                       VYRE_OPCODE_COMPARE_SWAP,
                                       VYRE_OPCODE_COMPARE_SWAP,
                                       VYRE_OPCODE_MEMCPY,
                                       VYRE_OPCODE_MEMCPY,
                                       VYRE_OPCODE_BATCH_FENCE,
                                       VYRE_OPCODE_PRINTF,
                                       0x12345,
                                       31};
    static const uint32_t lengths[] = {0, 1, 2, 3, 63, 64, 65, 66, 300, UINT32_MAX};
    vyre_work_item item;
    do {
        item = (vyre_work_item){opcodes[next(seed, VY_COUNT_OF(opcodes))], make_word(oracle, seed),
                                make_word(oracle, seed), make_word(oracle, seed)};
        if (item.opcode == VYRE_OPCODE_MEMCPY) {
            item.param = lengths[next(seed, VY_COUNT_OF(lengths))];
            if (next(seed, 2)) { /* overlapping, either way */
                item.output = item.input + next(seed, 5) - 2;
            }
        } else if (item.opcode == VYRE_OPCODE_COMPARE_SWAP && next(seed, 2)) {
            item.output = next(seed, 3); /* what is often there */
        }
    } while (!oracle_is_foretold(oracle, &item));
    return item;
}

/* Opcodes as sets and as deeds; the planner's tables are not looked at. */
#include "tests/megakernel/queue_model.h"

#include <string.h>

const vy_mk_handler model_handlers[] = {
    {OP_COPY, VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_PURE},
    {OP_ADD, VY_MK_READS_INPUT | VY_MK_READS_OUTPUT | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE},
    {OP_OR, VY_MK_READS_OUTPUT | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE | VY_MK_IDEMPOTENT},
    {OP_OPAQUE, VY_MK_OPAQUE},
    {OP_PUT_CONTROL, VY_MK_READS_INPUT | VY_MK_WRITES_CONTROL},
    {OP_SUM_CONTROL, VY_MK_READS_CONTROL | VY_MK_WRITES_OUTPUT | VY_MK_IDEMPOTENT},
    {OP_ALL, VY_MK_ORDERS_ALL},
    {OP_IN_PLACE, VY_MK_READS_INPUT | VY_MK_WRITES_INPUT},
    {OP_LOOK, VY_MK_READS_INPUT | VY_MK_PURE},
    {OP_SET_INPUT, VY_MK_WRITES_INPUT | VY_MK_IDEMPOTENT},
    {OP_STEP, VY_MK_READS_OUTPUT | VY_MK_WRITES_OUTPUT},
    {OP_XOR, VY_MK_READS_INPUT | VY_MK_WRITES_OUTPUT | VY_MK_COMMUTATIVE},
    {OP_MAX_CONTROL, VY_MK_READS_CONTROL | VY_MK_WRITES_CONTROL | VY_MK_IDEMPOTENT},
};
const uint32_t model_handler_count = VY_COUNT_OF(model_handlers);

/* ---- Sets ------------------------------------------------------------------------------------ */

static void put(model_set *set, uint32_t place)
{
    if (place < 64 * SET_WORDS) {
        set->bits[place / 64] |= (uint64_t)1 << place % 64;
    }
}

static void put_words(model_set *set, uint64_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (first + i < MODEL_WORDS) {
            put(set, (uint32_t)first + i);
        }
    }
}

static void put_user(model_set *set, uint32_t handle)
{
    put(set, MODEL_WORDS + handle);
}

bool model_meet(const model_set *a, const model_set *b)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < SET_WORDS; i++) {
        any |= a->bits[i] & b->bits[i];
    }
    return any != 0;
}

static void touch_builtin(const vyre_work_item *item, model_touch *t)
{
    const uint32_t in = item->input, out = item->output;
    switch (item->opcode) {
    case VYRE_OPCODE_NOP:
        t->may_repeat = true;
        break;
    case VYRE_OPCODE_STORE_U32:
        t->may_repeat = true;
        put_words(&t->writes, out, 1);
        break;
    case VYRE_OPCODE_ATOMIC_ADD:
        put_words(&t->reads, out, 1);
        put_words(&t->writes, out, 1);
        put_words(&t->updates, out, 1);
        break;
    case VYRE_OPCODE_LOAD_U32:
        t->may_repeat = true;
        put_words(&t->inputs, in, 1);
        put_words(&t->writes, 160ull + out, 1);
        break;
    case VYRE_OPCODE_COMPARE_SWAP:
        put_words(&t->inputs, in, 1);
        put_words(&t->writes, in, 1);
        put_words(&t->writes, 160ull + in, 1);
        break;
    case VYRE_OPCODE_MEMCPY:
        t->may_repeat = true;
        put_words(&t->inputs, item->param > 64 ? 0 : in, item->param > 64 ? 300 : item->param);
        put_words(&t->writes, item->param > 64 ? 0 : out, item->param > 64 ? 300 : item->param);
        break;
    case VYRE_OPCODE_BATCH_FENCE:
        put_words(&t->reads, 128, 1);
        put_words(&t->writes, 128, 1);
        put_words(&t->updates, 128, 1);
        put_words(&t->writes, 160, 1);
        break;
    case VYRE_OPCODE_DFA_STEP:
    case VYRE_OPCODE_PRINTF:
        break;
    case VYRE_OPCODE_LOAD_MISS:
    case VYRE_OPCODE_PACKED_SLOT:
    case VYRE_OPCODE_SHUTDOWN:
        t->orders_all = true;
        break;
    }
}

static void touch_user(const vyre_work_item *item, model_touch *t)
{
    const uint32_t in = item->input, out = item->output;
    switch (item->opcode) {
    case OP_COPY:
        t->may_repeat = true;
        put_user(&t->inputs, in);
        put_user(&t->writes, out);
        break;
    case OP_ADD:
    case OP_XOR:
        put_user(&t->inputs, in);
        put_user(&t->reads, out);
        put_user(&t->writes, out);
        if (in != out) {
            put_user(&t->updates, out);
        }
        break;
    case OP_OR:
        t->may_repeat = true;
        put_user(&t->reads, out);
        put_user(&t->writes, out);
        put_user(&t->updates, out);
        break;
    case OP_PUT_CONTROL:
        put_user(&t->inputs, in);
        put_words(&t->reads, 0, MODEL_WORDS); /* what it does not write stays */
        put_words(&t->writes, 0, MODEL_WORDS);
        break;
    case OP_SUM_CONTROL:
        t->may_repeat = true;
        put_words(&t->inputs, 0, MODEL_WORDS);
        put_user(&t->writes, out);
        break;
    case OP_ALL:
        t->orders_all = true;
        break;
    case OP_IN_PLACE:
        put_user(&t->inputs, in);
        put_user(&t->writes, in);
        break;
    case OP_LOOK:
        t->may_repeat = true;
        put_user(&t->inputs, in);
        break;
    case OP_SET_INPUT:
        t->may_repeat = true;
        put_user(&t->writes, in);
        break;
    case OP_STEP:
        put_user(&t->reads, out);
        put_user(&t->writes, out);
        break;
    case OP_MAX_CONTROL:
        t->may_repeat = true;
        put_words(&t->inputs, 0, MODEL_WORDS);
        put_words(&t->writes, 0, MODEL_WORDS);
        break;
    default:
        put_user(&t->inputs, in);
        put_user(&t->inputs, out);
        put_user(&t->writes, in);
        put_user(&t->writes, out);
        break;
    }
}

model_touch model_touch_of(const vyre_work_item *item)
{
    model_touch touch;
    memset(&touch, 0, sizeof touch);
    if (item->opcode >= OP_COPY && item->opcode < OP_END) {
        touch_user(item, &touch);
    } else {
        touch_builtin(item, &touch);
    }
    for (uint32_t i = 0; i < SET_WORDS; i++) {
        touch.reads.bits[i] |= touch.inputs.bits[i];
    }
    return touch;
}

bool model_conflict(const vyre_work_item *a, const model_touch *ta, const vyre_work_item *b,
                    const model_touch *tb)
{
    if (ta->orders_all || tb->orders_all) {
        return true;
    }
    uint64_t any = 0;
    for (uint32_t i = 0; i < SET_WORDS; i++) {
        uint64_t both = a->opcode == b->opcode ? ta->updates.bits[i] & tb->updates.bits[i] : 0;
        any |= ((ta->writes.bits[i] & (tb->reads.bits[i] | tb->writes.bits[i])) |
                (ta->reads.bits[i] & tb->writes.bits[i])) &
               ~both;
    }
    return any != 0;
}

/* ---- Deeds ----------------------------------------------------------------------------------- */

void model_memory_init(model_memory *memory)
{
    memset(memory, 0, sizeof *memory);
    for (uint32_t i = 0; i < MODEL_WORDS; i++) {
        memory->control[i] = i % 5;
    }
    for (uint32_t i = 0; i < MODEL_BIG; i++) {
        memory->user[i] = i * 2654435761u;
    }
}

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = (a ^ 0x9e3779b9u) * 0x85ebca6bu + b;
    return x ^ x >> 15;
}

static void run_builtin(model_memory *m, const vyre_work_item *item)
{
    const uint32_t in = item->input, out = item->output, param = item->param;
    uint32_t *control = m->control;
    switch (item->opcode) {
    case VYRE_OPCODE_NOP:
    case VYRE_OPCODE_DFA_STEP:
    case VYRE_OPCODE_LOAD_MISS:
        break;
    case VYRE_OPCODE_STORE_U32:
        control[out] = in;
        break;
    case VYRE_OPCODE_ATOMIC_ADD:
        control[out] += in;
        break;
    case VYRE_OPCODE_LOAD_U32:
        control[160 + out] = control[in];
        break;
    case VYRE_OPCODE_COMPARE_SWAP: {
        uint32_t old = control[in];
        control[in] = old == out ? param : old;
        control[160 + in] = old;
        break;
    }
    case VYRE_OPCODE_MEMCPY:
        for (uint32_t i = 0; i < param; i++) {
            control[out + i] = control[in + i];
        }
        break;
    case VYRE_OPCODE_BATCH_FENCE:
        control[128]++;
        control[160] = out;
        break;
    case VYRE_OPCODE_PRINTF:
        m->log += mix(mix(in, out), param);
        break;
    case VYRE_OPCODE_PACKED_SLOT:
        for (uint32_t i = 0; i < MODEL_WORDS; i++) {
            control[i] = mix(control[i], m->user[i]);
        }
        break;
    case VYRE_OPCODE_SHUTDOWN:
        control[0] = 1;
        m->is_stopped = true;
        break;
    }
}

static void run_user(model_memory *m, const vyre_work_item *item)
{
    const uint32_t param = item->param;
    uint32_t *in = &m->user[item->input], *out = &m->user[item->output];
    uint32_t most = 0, sum = 0;
    for (uint32_t i = 0; i < MODEL_WORDS; i++) {
        most = m->control[i] > most ? m->control[i] : most;
        sum = mix(sum, m->control[i]);
    }
    switch (item->opcode) {
    case OP_COPY:
        *out = *in + param;
        break;
    case OP_ADD:
        *out += *in * (param + 1);
        break;
    case OP_OR:
        *out |= param;
        break;
    case OP_PUT_CONTROL:
        m->control[160 + param % 20] = *in;
        break;
    case OP_SUM_CONTROL:
        *out = sum + param;
        break;
    case OP_ALL:
        for (uint32_t i = 0; i < MODEL_HANDLES; i++) {
            m->user[i] = mix(m->user[i], sum);
            m->control[160 + i] = mix(m->control[160 + i], m->user[i]);
        }
        break;
    case OP_IN_PLACE:
        *in = *in * 3 + param;
        break;
    case OP_LOOK:
        break;
    case OP_SET_INPUT:
        *in = param;
        break;
    case OP_STEP:
        *out = *out * 5 + param;
        break;
    case OP_XOR:
        *out ^= *in;
        break;
    case OP_MAX_CONTROL:
        m->control[160 + param % 20] = most;
        break;
    default: {
        uint32_t a = mix(mix(*in, *out), param), b = mix(mix(*out, *in), item->opcode);
        *in = a;
        *out = b;
        break;
    }
    }
}

void model_run(model_memory *memory, const vyre_work_item *item)
{
    if (memory->is_stopped) {
        return;
    }
    if (item->opcode >= OP_COPY && item->opcode < OP_END) {
        run_user(memory, item);
    } else {
        run_builtin(memory, item);
    }
}

/* ---- Queues ---------------------------------------------------------------------------------- */

uint32_t model_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static vyre_work_item make_builtin(uint64_t *seed)
{
    static const uint32_t common[] = {
        VYRE_OPCODE_NOP,         VYRE_OPCODE_STORE_U32,    VYRE_OPCODE_STORE_U32,
        VYRE_OPCODE_ATOMIC_ADD,  VYRE_OPCODE_ATOMIC_ADD,   VYRE_OPCODE_LOAD_U32,
        VYRE_OPCODE_LOAD_U32,    VYRE_OPCODE_COMPARE_SWAP, VYRE_OPCODE_MEMCPY,
        VYRE_OPCODE_BATCH_FENCE, VYRE_OPCODE_PRINTF,       VYRE_OPCODE_DFA_STEP};
    static const uint32_t rare[] = {(uint32_t)VYRE_OPCODE_SHUTDOWN,
                                    (uint32_t)VYRE_OPCODE_PACKED_SLOT};
    vyre_work_item item = {common[model_random(seed, VY_COUNT_OF(common))], model_random(seed, 3),
                           160 + model_random(seed, 12), model_random(seed, 2)};
    if (model_random(seed, 60) == 0) {
        item.opcode = rare[model_random(seed, VY_COUNT_OF(rare))];
    } else if (item.opcode == VYRE_OPCODE_LOAD_U32) {
        item.input = 160 + model_random(seed, 12);
        item.output = model_random(seed, 12);
    } else if (item.opcode == VYRE_OPCODE_COMPARE_SWAP) {
        item.output = model_random(seed, 3);
    } else if (item.opcode == VYRE_OPCODE_MEMCPY) {
        item.input = 160 + model_random(seed, 12);
        item.param = model_random(seed, 8) ? model_random(seed, 5) : 64 + model_random(seed, 2);
    } else if (item.opcode == VYRE_OPCODE_ATOMIC_ADD && model_random(seed, 4) == 0) {
        item.output = VYRE_CONTROL_EPOCH;
    }
    return item;
}

void model_make(uint64_t *seed, model_mix mix_of, uint32_t handles, vyre_work_item *out_items,
                uint32_t count)
{
    static const uint32_t few[] = {OP_COPY, OP_ADD, OP_OR, OP_LOOK, OP_XOR, OP_OPAQUE};
    for (uint32_t i = 0; i < count; i++) {
        vyre_work_item *item = &out_items[i];
        if (i && model_random(seed, 4) == 0) {
            *item = out_items[i - 1 - model_random(seed, i < 4 ? i : 4)]; /* a duplicate */
            continue;
        }
        if (mix_of == MIX_SYSTEM || (mix_of == MIX_ALL && model_random(seed, 2))) {
            *item = make_builtin(seed);
            continue;
        }
        *item = (vyre_work_item){OP_COPY + model_random(seed, OP_END - OP_COPY),
                                 model_random(seed, handles), model_random(seed, handles),
                                 model_random(seed, 2)};
        if (mix_of == MIX_FEW || (item->opcode == OP_ALL && model_random(seed, 4))) {
            item->opcode = few[model_random(seed, VY_COUNT_OF(few))];
        }
    }
}

/* The order in which the draining program takes slots: where launches go on, waves, priorities; and
 * that its forms leave the same behind. */
#include "tests/megakernel/drain_support.h"
#include "tests/megakernel/queue_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define OPEN DRAIN_OPEN

/* ---- Slices ---------------------------------------------------------------------------------- */

/* Launches of few claims each leave what they did not come to, and the next goes on there. */
static void check_slices(drain_queue *q, drain_fn drain)
{
    uint32_t launches = 0, done = 0, n = q->slot_count;
    drain_reset(q);
    q->max_claims = 2;
    for (uint32_t s = 0; s < n; s++) {
        drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN, 0);
    }
    while (done < n && launches < 100) {
        drain(q, 3);
        vyre_control_report r = drain_check_sums(q, n);
        assert_true(r.done_count > done && r.done_count <= done + 2 * 3 * 64);
        done = r.done_count;
        launches++;
    }
    assert_int_equal(q->control[OPEN], n);
    assert_true(launches > 1);
    q->max_claims = 0;
    drain_reset(q);
    drain(q, 3);
    assert_int_equal(q->control[VYRE_CONTROL_CURSOR], 0);
    /* A queue that was told to stop claims nothing, where it is asked to look. */
    q->max_claims = UINT32_MAX;
    for (q->persistent = 0; q->persistent < 2; q->persistent++) {
        drain_reset(q);
        for (uint32_t s = 0; s < n; s++) {
            drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN, 0);
        }
        q->control[VYRE_CONTROL_SHUTDOWN] = 1;
        drain(q, 1);
        assert_int_equal(drain_check_sums(q, n).done_count, q->persistent ? 0 : n);
    }
    q->persistent = 0;
}

/* In a queue whose cursor begins behind items these are not taken. */
static void check_begin(drain_queue *q, drain_fn drain)
{
    uint32_t n = q->slot_count;
    drain_reset(q);
    for (uint32_t s = 0; s < n; s++) {
        drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN + s % 2, 0);
    }
    q->control[VYRE_CONTROL_CURSOR] = n - 3;
    drain(q, 2);
    assert_int_equal(q->control[VYRE_CONTROL_DONE_COUNT], 3);
    assert_int_equal(q->control[OPEN] + q->control[OPEN + 1], 3);
}

static void test_drain_goes_on_where_a_slice_ended(void **state)
{
    static const vy_drain_params hows[] = {
        {.form = VY_DRAIN_OF_RING},
        {.form = VY_DRAIN_OF_RING, .claim = VYRE_CLAIM_LANE},
        {.form = VY_DRAIN_OF_RING, .by_priority = true},
        {.form = VY_DRAIN_OF_ITEMS},
        {.form = VY_DRAIN_OF_ITEMS, .claim = VYRE_CLAIM_LANE},
        {.form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = VYRE_OPCODE_ATOMIC_ADD}};
    (void)state;
    for (size_t h = 0; h < VY_COUNT_OF(hows); h++) {
        drain_queue *q = drain_open(1000, &hows[h]);
        DRAIN_EACH(drain, way)
        {
            check_slices(q, drain);
            if (!hows[h].by_priority) {
                check_begin(q, drain);
            }
        }
        drain_close(&q);
    }
}

/* By one invocation, which sees at once that it shall leave. */
static void check_shutdown(drain_queue *q, drain_fn drain)
{
    for (q->persistent = 0; q->persistent < 2; q->persistent++) {
        drain_reset(q);
        for (uint32_t s = 0; s < q->slot_count; s++) {
            drain_put(q, s, s == 4 ? (uint32_t)VYRE_OPCODE_SHUTDOWN : VYRE_OPCODE_NOP, 0, 0, 0);
        }
        drain(q, 1);
        uint32_t done = q->persistent ? 5 : q->slot_count;
        assert_int_equal(drain_check_sums(q, q->slot_count).done_count, done);
        assert_int_equal(q->control[VYRE_CONTROL_SHUTDOWN], 1);
    }
}

static void test_drain_leaves_behind_a_shutdown(void **state)
{
    static const vy_drain_params hows[] = {
        {.form = VY_DRAIN_OF_RING, .workgroup = 1},
        {.form = VY_DRAIN_OF_RING, .workgroup = 1, .by_priority = true},
        {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1},
        {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1, .claim = VYRE_CLAIM_LANE},
        {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1, .in_waves = true}};
    (void)state;
    for (size_t h = 0; h < VY_COUNT_OF(hows); h++) {
        drain_queue *q = drain_open(hows[h].by_priority ? 5 * 20 : 20, &hows[h]);
        drain_set_waves(q, (const uint32_t[]){3, 2, 15}, 3);
        DRAIN_EACH(drain, way)
        {
            check_shutdown(q, drain);
        }
        drain_close(&q);
    }
}

/* ---- Waves ----------------------------------------------------------------------------------- */

static const char chain_text[] = "program chains\n"
                                 "inout values : u32[]\n"
                                 "fn link(slot: u32, input: u32, output: u32, add: u32) -> u32 {\n"
                                 "    values[output] = values[input] * 3 + add\n"
                                 "    return 0\n"
                                 "}\n"
                                 "kernel { }\n";
static const vyre_handler chain_handlers[] = {{40, "link", 0}};

/* Item s of a wave reads what some item of the wave before wrote, and writes values[s + 1]. */
static void check_waves(drain_queue *q, drain_fn drain, uint32_t groups)
{
    uint32_t n = q->slot_count, before = 0, first = 0;
    uint32_t *values = drain_words(n + 1);
    drain_reset(q);
    values[0] = 7;
    q->extra[0][0] = 7;
    for (uint32_t w = 0; w < q->wave_count; w++) {
        uint32_t begin = q->bounds[w], end = q->bounds[w + 1];
        for (uint32_t s = begin; s < end; s++) {
            uint32_t input = before ? first + 1 + (s * 7919u) % before : 0;
            drain_put(q, s, 40, input, s + 1, s);
            values[s + 1] = values[input] * 3 + s;
        }
        if (end > begin) {
            first = begin;
            before = end - begin;
        }
    }
    drain(q, groups);
    vyre_control_report r = drain_check_sums(q, n);
    assert_int_equal(r.done_count, n);
    assert_int_equal(r.cursor, n);
    assert_memory_equal(q->extra[0], values, (n + 1) * sizeof(uint32_t));
    free(values);
}

static void test_drain_waves_see_what_earlier_ones_wrote(void **state)
{
    static const vy_drain_params hows[] = {
        {.claim = VYRE_CLAIM_WORKGROUP},
        {.claim = VYRE_CLAIM_LANE, .workgroup = 33},
        {.is_special = true, .opcode = 40, .workgroup = 128},
    };
    uint32_t lengths[40], n = 0;
    (void)state;
    for (uint32_t w = 0; w < 40; w++) {
        lengths[w] = w % 9 == 4 ? 0 : 1 + w * w % 301;
        n += lengths[w];
    }
    vyre_program *program = drain_parse(chain_text);
    for (size_t h = 0; h < VY_COUNT_OF(hows); h++) {
        vy_drain_params how = hows[h];
        how.form = VY_DRAIN_OF_ITEMS;
        how.in_waves = true;
        how.program = program;
        how.handlers = chain_handlers;
        how.handler_count = 1;
        drain_queue *q = drain_open(n, &how);
        drain_add_buffer(q, n + 1);
        drain_set_waves(q, lengths, 40);
        DRAIN_EACH(drain, way)
        {
            check_waves(q, drain, 1);
            check_waves(q, drain, 5);
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

/* Bounds that lie anywhere name no item beyond the queue, and none twice in a wave. */
static void check_hostile_bounds(drain_queue *q, drain_fn drain)
{
    static const uint32_t bounds[] = {5, 3, UINT32_MAX, 2, 4, 4, 12, 0};
    static const uint32_t counts[] = {0, 0, 1, 2, 1, 1, 1, 1, 1, 1}; /* by item */
    drain_reset(q);
    memcpy(q->bounds, bounds, sizeof bounds);
    for (uint32_t s = 0; s < 10; s++) {
        drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN + s, 0);
    }
    drain(q, 2);
    uint32_t done = 0;
    for (uint32_t s = 0; s < 10; s++) {
        /* Waves 3 to 10, 2 to 4, and 4 to 10. */
        uint32_t expected = counts[s] + (s >= 4);
        assert_int_equal(q->control[OPEN + s], expected);
        done += expected;
    }
    assert_int_equal(q->control[VYRE_CONTROL_DONE_COUNT], done);
    assert_int_equal(q->control[VYRE_CONTROL_CURSOR], done);
}

static void test_drain_waves_end_with_the_queue(void **state)
{
    static const vy_drain_params how = {.form = VY_DRAIN_OF_ITEMS, .in_waves = true};
    (void)state;
    drain_queue *q = drain_open(10, &how);
    drain_set_waves(q, (const uint32_t[7]){0}, 7);
    DRAIN_EACH(drain, way)
    {
        check_hostile_bounds(q, drain);
    }
    drain_close(&q);
}

/* ---- Priorities ------------------------------------------------------------------------------ */

static const char order_text[] = "program orders\n"
                                 "inout order : u32[] // a count, then slots\n"
                                 "fn note(slot: u32) -> u32 {\n"
                                 "    let at = atomic_add(order[0], 1)\n"
                                 "    order[1 + at] = slot\n"
                                 "    return 0\n"
                                 "}\n"
                                 "kernel { }\n";
static const vyre_handler order_handlers[] = {{50, "note", 0}};

/* The rule, said again: by partition, what is left of it; 16 urgent ones in a row, then another. */
static uint32_t expect_order(drain_queue *q, uint32_t *out_slots, uint32_t *streak,
                             uint32_t claims[VYRE_PRIORITY_COUNT])
{
    uint32_t next[VYRE_PRIORITY_COUNT], count = 0;
    const uint32_t *offsets = q->control + VYRE_CONTROL_PRIORITY_OFFSETS;
    memcpy(next, offsets, sizeof next);
    for (;;) {
        uint32_t best = VYRE_PRIORITY_COUNT, calm = VYRE_PRIORITY_COUNT;
        for (uint32_t p = VYRE_PRIORITY_COUNT; p-- > 0;) {
            if (next[p] < offsets[p + 1]) {
                best = p;
                calm = p >= 2 ? p : calm;
            }
        }
        if (best == VYRE_PRIORITY_COUNT) {
            return count;
        }
        if (*streak >= 16 && calm != VYRE_PRIORITY_COUNT) {
            best = calm;
        }
        uint32_t slot = next[best]++;
        if (*drain_slot(q, slot) == VYRE_STATUS_PUBLISHED) {
            out_slots[count++] = slot;
            claims[best]++;
            *streak = best < 2 ? *streak + 1 : 0;
        }
    }
}

/* offsets: of 80 slots. By one invocation, so there is one order. Every eleventh slot is empty. */
static void check_priorities(drain_queue *q, drain_fn drain, const uint32_t offsets[6],
                             uint32_t streak)
{
    uint32_t slots[80], claims[VYRE_PRIORITY_COUNT] = {0};
    drain_reset(q);
    memcpy(q->control + VYRE_CONTROL_PRIORITY_OFFSETS, offsets, 6 * sizeof(uint32_t));
    q->control[VYRE_CONTROL_PRIORITY_STARVATION] = streak;
    for (uint32_t s = 0; s < 80; s++) {
        if (s % 11 != 10) {
            drain_put(q, s, 50, 0, 0, 0);
        }
    }
    uint32_t count = expect_order(q, slots, &streak, claims);
    drain(q, 1);
    assert_int_equal(q->extra[0][0], count);
    assert_memory_equal(q->extra[0] + 1, slots, count * sizeof(uint32_t));
    assert_int_equal(q->control[VYRE_CONTROL_PRIORITY_STARVATION], streak);
    assert_memory_equal(q->control + VYRE_CONTROL_PRIORITY_FAIRNESS, claims, sizeof claims);
    assert_int_equal(q->control[VYRE_CONTROL_DONE_COUNT], count);
    assert_int_equal(q->control[VYRE_CONTROL_CURSOR], offsets[5] - offsets[0]);
}

static void test_drain_takes_urgent_slots_first_but_not_alone(void **state)
{
    static const uint32_t offsets[][6] = {{0, 16, 32, 48, 64, 80}, {0, 40, 70, 72, 75, 80},
                                          {0, 50, 80, 80, 80, 80}, {0, 0, 0, 30, 30, 80},
                                          {0, 0, 60, 60, 60, 80},  {10, 40, 60, 61, 62, 64}};
    static const uint32_t streaks[] = {0, 15, 16, 1000};
    (void)state;
    vyre_program *program = drain_parse(order_text);
    const vy_drain_params how = {.by_priority = true,
                                 .workgroup = 1,
                                 .program = program,
                                 .handlers = order_handlers,
                                 .handler_count = 1};
    drain_queue *q = drain_open(80, &how);
    drain_add_buffer(q, 81);
    DRAIN_EACH(drain, way)
    {
        for (size_t i = 0; i < VY_COUNT_OF(offsets) * VY_COUNT_OF(streaks); i++) {
            check_priorities(q, drain, offsets[i / VY_COUNT_OF(streaks)],
                             streaks[i % VY_COUNT_OF(streaks)]);
        }
    }
    drain_close(&q);
    vyre_program_destroy(&program);
}

/* Partitions of any words: each slot of the ring that lies in one runs once, others stay. */
static void check_partitions(drain_queue *q, drain_fn drain, const uint32_t offsets[6])
{
    uint32_t n = q->slot_count, inside = 0, claims = 0;
    drain_reset(q);
    memcpy(q->control + VYRE_CONTROL_PRIORITY_OFFSETS, offsets, 6 * sizeof(uint32_t));
    for (uint32_t s = 0; s < n; s++) {
        drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN + s % DRAIN_OBSERVABLES, 0);
    }
    drain(q, 4);
    for (uint32_t s = 0; s < n; s++) {
        bool is_inside = false;
        for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
            is_inside = is_inside || (s >= offsets[p] && s < offsets[p + 1]);
        }
        assert_int_equal(*drain_slot(q, s), is_inside ? VYRE_STATUS_DONE : VYRE_STATUS_PUBLISHED);
        inside += is_inside;
    }
    assert_int_equal(drain_check_sums(q, n).done_count, inside);
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        claims += q->control[VYRE_CONTROL_PRIORITY_FAIRNESS + p];
    }
    assert_int_equal(claims, inside);
}

static void test_drain_partitions_end_with_the_ring(void **state)
{
    static const vy_drain_params how = {.by_priority = true};
    static const uint32_t offsets[][6] = {{0, 0, 0, 0, 0, 0},
                                          {0, UINT32_MAX, 0, UINT32_MAX, 5, 9},
                                          {UINT32_MAX, 5, 2, 100000, 7, 9},
                                          {300, 200, 100, 50, 25, 12},
                                          {10, 20, 15, 40, 30, 280}};
    (void)state;
    drain_queue *q = drain_open(300, &how);
    DRAIN_EACH(drain, way)
    {
        for (size_t i = 0; i < VY_COUNT_OF(offsets); i++) {
            check_partitions(q, drain, offsets[i]);
        }
    }
    drain_close(&q);
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static const vy_drain_params forms[] = {
    {.form = VY_DRAIN_OF_RING, .workgroup = 1},
    {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1},
    {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1, .claim = VYRE_CLAIM_LANE},
    {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1, .in_waves = true},
    {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1, .is_special = true, .in_waves = true},
    {.form = VY_DRAIN_OF_ITEMS, .workgroup = 1, .is_special = true}};
#define FORMS     ((uint32_t)VY_COUNT_OF(forms))
#define FORM_SIZE 60u

/* Not words that are counted in, which are whole behind a launch or wave alone. */
static uint32_t random_word(uint64_t *seed)
{
    static const uint32_t edges[] = {2,
                                     3,
                                     4,
                                     OPEN - 1,
                                     OPEN,
                                     OPEN + 1,
                                     OPEN + 2,
                                     DRAIN_CONTROL_WORDS - 1,
                                     DRAIN_CONTROL_WORDS,
                                     DRAIN_CONTROL_WORDS - OPEN,
                                     UINT32_MAX - OPEN,
                                     UINT32_MAX};
    return edges[model_random(seed, VY_COUNT_OF(edges))];
}

/* What the form left: control but for its cursor, and the log. */
static void run_form(const vy_drain_params *how, drain_fn drain, const vyre_work_item *items,
                     uint32_t control[DRAIN_CONTROL_WORDS], uint32_t log[DRAIN_LOG_WORDS])
{
    drain_queue *q = drain_open(FORM_SIZE, how);
    drain_set_waves(q, (const uint32_t[]){FORM_SIZE / 2, FORM_SIZE / 2}, 2);
    for (uint32_t s = 0; s < FORM_SIZE; s++) {
        drain_put(q, s, items[s].opcode, items[s].input, items[s].output, items[s].param);
    }
    drain(q, 1);
    (void)drain_check_sums(q, FORM_SIZE);
    q->control[VYRE_CONTROL_CURSOR] = 0;
    memcpy(control, q->control, sizeof q->control);
    memcpy(log, q->log, sizeof q->log);
    drain_close(&q);
}

static void check_forms(const vyre_work_item *items, bool is_one_opcode)
{
    uint32_t first[DRAIN_CONTROL_WORDS], first_log[DRAIN_LOG_WORDS];
    uint32_t control[DRAIN_CONTROL_WORDS], log[DRAIN_LOG_WORDS];
    run_form(&forms[0], drain_on_interpreter, items, first, first_log);
    for (uint32_t f = 0; f < FORMS; f++) {
        vy_drain_params how = forms[f];
        how.opcode = items[0].opcode;
        DRAIN_EACH(drain, way)
        {
            if (!how.is_special || is_one_opcode) {
                run_form(&how, drain, items, control, log);
                control[VY_DRAIN_LEFT] = first[VY_DRAIN_LEFT]; /* as many workgroups as there are */
                assert_memory_equal(control, first, sizeof first);
                assert_memory_equal(log, first_log, sizeof first_log);
            }
        }
    }
}

/* By one invocation, in the queue's order. */
static void test_drain_forms_leave_the_same(void **state)
{
    static const uint32_t opcodes[] = {VYRE_OPCODE_NOP,
                                       VYRE_OPCODE_STORE_U32,
                                       VYRE_OPCODE_ATOMIC_ADD,
                                       VYRE_OPCODE_LOAD_U32,
                                       VYRE_OPCODE_BATCH_FENCE,
                                       VYRE_OPCODE_MEMCPY,
                                       VYRE_OPCODE_PRINTF,
                                       VYRE_OPCODE_COMPARE_SWAP,
                                       VYRE_OPCODE_SHUTDOWN,
                                       VYRE_OPCODE_DFA_STEP,
                                       99};
    uint64_t seed = 20240801;
    vyre_work_item items[FORM_SIZE];
    (void)state;
    for (size_t o = 0; o <= VY_COUNT_OF(opcodes); o++) {
        bool is_one = o < VY_COUNT_OF(opcodes) - 2; /* the last two have no kernel of their own */
        for (uint32_t s = 0; s < FORM_SIZE; s++) {
            items[s].opcode = is_one ? opcodes[o] : opcodes[model_random(&seed, 11)];
            items[s].input = random_word(&seed);
            items[s].output = random_word(&seed);
            items[s].param = model_random(&seed, 2) ? random_word(&seed) : model_random(&seed, 4);
        }
        check_forms(items, is_one);
    }
}

/* ---- Visibility ------------------------------------------------------------------------------ */

/* Who sees, by an acquire, that a slot is done sees all that it wrote. The handler writes its part
 * and looks at some slots before its own, without waiting: `peek` is the ring once more. */
static const char litmus_text[] =
    "program litmus\n"
    "inout peek    : u32[]\n"
    "inout payload : u32[]\n"
    "inout found   : u32[] // parts that were seen done, and of these those with other words\n"
    "fn word(slot: u32, i: u32) -> u32 { return (slot * 4 + i) * 2654435761 ^ 0x5bd1e995 }\n"
    "fn post(slot: u32, seed: u32) -> u32 {\n"
    "    for i in 0 .. 4 { payload[slot * 4 + i] = word(slot, i) }\n"
    "    for k in 0 .. 4 {\n"
    "        let back = 1 + (seed >> (8 * k) & 255) * (1 + 7 * k)\n"
    "        if back <= slot {\n"
    "            let other = slot - back\n"
    "            let status = atomic_load(peek[other * 16], acquire)\n"
    "            if status == 3 {\n"
    "                var is_right = true\n"
    "                for i in 0 .. 4 {\n"
    "                    is_right = is_right && payload[other * 4 + i] == word(other, i)\n"
    "                }\n"
    "                atomic_add(found[0], 1)\n"
    "                if !is_right { atomic_add(found[1], 1) }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    return 0\n"
    "}\n"
    "kernel { }\n";
#define ROUNDS 200000u

static void run_litmus(vyre_claim claim, const vyre_program *program, uint32_t *ring)
{
    static const vyre_handler handlers[] = {{60, "post", 0}};
    const vy_drain_params how = {
        .claim = claim, .program = program, .handlers = handlers, .handler_count = 1};
    drain_queue *q = drain_open(0, &how);
    vyre_buffer memory = engine_buffer(drain_device, ROUNDS * VYRE_SLOT_SIZE, ring);
    vyre_buffer payload = engine_buffer(drain_device, ROUNDS * 16, NULL);
    const vyre_binding ring_binding = engine_resident(memory, 0, ROUNDS * VYRE_SLOT_WORDS);
    uint32_t found[2] = {0, 0};
    const vyre_binding bindings[] = {engine_host_inout(q->control, DRAIN_CONTROL_WORDS),
                                     ring_binding,
                                     engine_host_inout(q->log, DRAIN_LOG_WORDS),
                                     engine_host_inout(q->io, VYRE_IO_WORDS),
                                     engine_host_inout(q->result, 0),
                                     ring_binding,
                                     engine_resident(payload, 0, ROUNDS * 4),
                                     engine_host_inout(found, 2)};
    vyre_dispatch_params run = engine_params(bindings, VY_COUNT_OF(bindings));
    const uint32_t params[VY_DRAIN_PARAMS] = {ROUNDS, UINT32_MAX};
    vyre_diag diag;
    run.params = params;
    run.param_count = VY_DRAIN_PARAMS;
    run.groups[0] = 256;
    run.elements[0] = 0;
    if (vyre_dispatch(q->pipeline, &run, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(q->control[VYRE_CONTROL_DONE_COUNT], ROUNDS);
    print_message("%u of %u looks saw a slot that was done\n", (unsigned)found[0],
                  (unsigned)(4 * ROUNDS));
    assert_true(found[0] > ROUNDS / 100);
    assert_int_equal(found[1], 0);
    assert_int_equal(vyre_buffer_destroy(drain_device, &memory, NULL), VYRE_OK);
    assert_int_equal(vyre_buffer_destroy(drain_device, &payload, NULL), VYRE_OK);
    drain_close(&q);
}

static void test_drain_done_slots_show_what_they_wrote(void **state)
{
    uint64_t seed = 77;
    (void)state;
    if (!drain_device) {
        return;
    }
    uint32_t *ring = drain_words(ROUNDS * VYRE_SLOT_WORDS);
    for (uint32_t s = 0; s < ROUNDS; s++) {
        uint32_t *slot = ring + s * VYRE_SLOT_WORDS;
        slot[VYRE_SLOT_STATUS] = VYRE_STATUS_PUBLISHED;
        slot[VYRE_SLOT_OPCODE] = 60;
        slot[VYRE_SLOT_ARGS] = model_random(&seed, UINT32_MAX);
    }
    vyre_program *program = drain_parse(litmus_text);
    run_litmus(VYRE_CLAIM_WORKGROUP, program, ring);
    run_litmus(VYRE_CLAIM_LANE, program, ring);
    vyre_program_destroy(&program);
    free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_goes_on_where_a_slice_ended),
        cmocka_unit_test(test_drain_leaves_behind_a_shutdown),
        cmocka_unit_test(test_drain_waves_see_what_earlier_ones_wrote),
        cmocka_unit_test(test_drain_waves_end_with_the_queue),
        cmocka_unit_test(test_drain_takes_urgent_slots_first_but_not_alone),
        cmocka_unit_test(test_drain_partitions_end_with_the_ring),
        cmocka_unit_test(test_drain_forms_leave_the_same),
        cmocka_unit_test(test_drain_done_slots_show_what_they_wrote),
    };
    return cmocka_run_group_tests(tests, drain_open_device, drain_close_device);
}

/* Queues whose items depend on each other, against the same items one after the other on the host:
 * random queues over few handles, chains, duplicates, and what each flag of a queue leaves out. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/megakernel/property.h"

#include <stdlib.h>

enum { HANDLES = 6, MAX_ITEMS = 96, OP_UNKNOWN = 99, OP_NOBODY = 0x12345 };

/* ---- The model ------------------------------------------------------------------------------- */

typedef struct model {
    uint32_t data[HANDLES];
    uint32_t faulted, unknown;
    uint32_t codes[MAX_ITEMS]; /* by item: the fault that it ends with; 0: none */
} model;

static uint32_t run_item(model *m, const vyre_work_item *item)
{
    uint32_t in = item->input, out = item->output, param = item->param;
    if (item->opcode == RIG_FAIL) {
        return param < 256 ? param : VYRE_FAULT_HANDLER;
    }
    if (item->opcode == OP_UNKNOWN || item->opcode == OP_NOBODY) {
        return VYRE_FAULT_UNKNOWN_OPCODE;
    }
    if (out >= HANDLES || (item->opcode == RIG_COPY && in >= HANDLES)) {
        return VYRE_FAULT_BOUNDS;
    }
    uint32_t *word = &m->data[out];
    switch (item->opcode) {
    case RIG_ADD:
    case RIG_LARGE:
        *word += param;
        break;
    case RIG_SET:
        *word = param;
        break;
    case RIG_COPY:
        *word = m->data[in];
        break;
    case RIG_DOUBLE:
        *word = 2 * *word + 1;
        break;
    case RIG_AGAIN:
        do {
            ++*word;
        } while (*word < param);
        break;
    default: { /* RIG_SPIN */
        uint32_t sum = in;
        for (uint32_t i = 0; i < param; i++) {
            sum = sum * 1664525u + 1013904223u;
        }
        *word = sum;
    }
    }
    return 0;
}

static void run_model(model *m, const vyre_work_item *items, uint32_t count)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < count; i++) {
        m->codes[i] = run_item(m, &items[i]);
        m->faulted += m->codes[i] != 0;
        m->unknown += m->codes[i] == VYRE_FAULT_UNKNOWN_OPCODE;
    }
}

/* ---- Random queues --------------------------------------------------------------------------- */

/* kinds: how many of the list of opcodes there are; the last of them fail or give slots back. */
static vyre_work_item random_item(uint64_t *seed, uint32_t kinds)
{
    static const uint32_t opcodes[] = {RIG_ADD,   RIG_SET,  RIG_COPY, RIG_DOUBLE,
                                       RIG_LARGE, RIG_COPY, RIG_SPIN, OP_UNKNOWN,
                                       OP_NOBODY, RIG_FAIL, RIG_ADD,  RIG_AGAIN};
    uint32_t kind = (uint32_t)(random_u64(seed) % kinds);
    vyre_work_item item =
        rig_item(opcodes[kind], (uint32_t)(random_u64(seed) % HANDLES),
                 (uint32_t)(random_u64(seed) % HANDLES), (uint32_t)(random_u64(seed) % 3));
    if (kind == 9) {
        item.param = 16 + (uint32_t)(random_u64(seed) % 300);
    }
    if (kind == 10 && random_u64(seed) % 4 == 0) {
        item.output = HANDLES + (uint32_t)(random_u64(seed) % 5);
    }
    return item;
}

static void check_data(const rig *r, const model *m, uint64_t seed)
{
    for (uint32_t w = 0; w < HANDLES; w++) {
        if (r->data[w] != m->data[w]) {
            fail_msg("seed %u: word %u is %u and not %u", (unsigned)seed, (unsigned)w,
                     (unsigned)r->data[w], (unsigned)m->data[w]);
        }
    }
}

static void check_report(const vyre_queue_report *report, const model *m, uint32_t count,
                         uint64_t seed)
{
    check_seed(report->given == count, seed);
    check_seed(report->faulted == m->faulted, seed);
    check_seed(report->unknown == m->unknown, seed);
    check_seed(report->denied == 0, seed);
    /* Duplicates count as done where all that was published is. */
    uint32_t without_credit = m->faulted ? report->deduped : 0;
    check_seed(report->remaining == without_credit, seed);
    check_seed(report->processed == count - m->faulted - without_credit, seed);
    check_seed((report->fault_code == 0) == (m->faulted == 0), seed);
    if (report->fault_code) {
        check_seed(report->fault_slot < count, seed);
        check_seed(m->codes[report->fault_slot] == report->fault_code, seed);
    } else {
        check_seed(report->fault_slot == VYRE_DIAG_NONE, seed);
    }
}

static void run_random(rig *r, uint64_t number, uint32_t flags, uint32_t kinds)
{
    vyre_work_item items[MAX_ITEMS];
    uint64_t seed = number;
    model m;
    uint32_t count = 2 + (uint32_t)(random_u64(&seed) % (MAX_ITEMS - 2));
    for (uint32_t i = 0; i < count; i++) {
        items[i] = random_item(&seed, kinds);
    }
    run_model(&m, items, count);
    rig_clear(r);
    vyre_queue_report report = rig_run(r, items, count, flags);
    rig_fetch(r);
    check_data(r, &m, number);
    check_report(&report, &m, count, number);
    if (flags & VYRE_QUEUE_KEEP_DUPLICATES) {
        check_seed(report.deduped == 0, number);
    }
}

static void run_each_random(vyre_device *device)
{
    static const uint32_t flags[] = {0, VYRE_QUEUE_KEEP_DUPLICATES, VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_STRICT | VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_NO_SPECIAL | VYRE_QUEUE_KEEP_DUPLICATES};
    rig *r = rig_open(device, HANDLES, NULL);
    for (uint32_t seed = 1; seed <= 300; seed++) {
        run_random(r, seed, flags[seed % VY_COUNT_OF(flags)], 2 + seed % 10);
    }
    for (uint32_t seed = 1001; seed <= 1030; seed++) { /* some give their slots back */
        run_random(r, seed, flags[seed % VY_COUNT_OF(flags)], 12);
    }
    rig_close(&r);
}

static void test_random_queues_leave_what_their_order_leaves(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_each_random);
}

/* ---- Waves ----------------------------------------------------------------------------------- */

enum { CHAIN = 1000 };

/* A value goes through CHAIN words, one item after the other, and so through as many waves. */
static void run_chain(vyre_device *device)
{
    const uint32_t count = device ? CHAIN : CHAIN / 10;
    vyre_work_item items[CHAIN];
    rig *r = rig_open(device, CHAIN + 1, NULL);
    items[0] = rig_item(RIG_SET, 0, 0, 4711);
    for (uint32_t i = 1; i < count; i++) {
        items[i] = rig_item(RIG_COPY, i - 1, i, 0);
    }
    rig_clear(r);
    vyre_queue_report report = rig_run(r, items, count, 0);
    rig_fetch(r);
    assert_int_equal(report.waves, count);
    assert_int_equal(report.processed, count);
    assert_true(report.launches < count); /* many waves fit in one launch */
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(r->data[i], 4711);
    }
    /* The last wave fails: its place is told as it was given. */
    items[count - 1] = rig_item(RIG_COPY, count - 2, CHAIN + 1, 0);
    report = rig_run(r, items, count, 0);
    assert_int_equal(report.fault_slot, count - 1);
    assert_int_equal(report.fault_code, VYRE_FAULT_BOUNDS);
    rig_close(&r);
}

static void test_chains_run_one_after_the_other(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_chain);
}

/* Wide waves: each of many handles is set, doubled and copied, in rows that must not mix. */
static void run_wide(vyre_device *device)
{
    enum { ROWS = 6 };
    const uint32_t width = device ? 20000 : 700;
    vyre_work_item *items = calloc((size_t)width * ROWS, sizeof *items);
    rig *r = rig_open(device, 2 * width, NULL);
    assert_non_null(items);
    for (uint32_t i = 0; i < width; i++) {
        items[i] = rig_item(RIG_SET, 0, i, i);
        items[width + i] = rig_item(RIG_DOUBLE, 0, i, 0);
        items[2 * width + i] = rig_item(RIG_COPY, width - 1 - i, width + i, 0);
        items[3 * width + i] = rig_item(i % 2 ? RIG_ADD : RIG_LARGE, 0, width - 1 - i, 7);
        items[4 * width + i] = rig_item(RIG_DOUBLE, 0, width + i, 0);
        items[5 * width + i] = rig_item(RIG_COPY, width + i, i, 0);
    }
    for (uint32_t flags = 0; flags <= VYRE_QUEUE_ARRANGE; flags += VYRE_QUEUE_ARRANGE) {
        rig_clear(r);
        vyre_queue_report report = rig_run(r, items, width * ROWS, flags);
        rig_fetch(r);
        assert_int_equal(report.processed, width * ROWS);
        assert_true(report.waves >= 4 && report.waves <= ROWS);
        for (uint32_t i = 0; i < width; i++) {
            uint32_t doubled = 2 * (width - 1 - i) + 1;
            assert_int_equal(r->data[width + i], 2 * doubled + 1);
            assert_int_equal(r->data[i], 2 * doubled + 1);
        }
    }
    free(items);
    rig_close(&r);
}

static void test_wide_waves_do_not_mix(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_wide);
}

/* ---- Flags ----------------------------------------------------------------------------------- */

static void run_independent(vyre_device *device)
{
    enum { COUNT = 3000 };
    static vyre_work_item items[COUNT];
    static const uint32_t flags[] = {0, VYRE_QUEUE_INDEPENDENT,
                                     VYRE_QUEUE_INDEPENDENT | VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_INDEPENDENT | VYRE_QUEUE_STRICT};
    rig *r = rig_open(device, COUNT, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = i % 3 == 0   ? rig_item(RIG_SET, 0, i, i)
                   : i % 3 == 1 ? rig_item(RIG_ADD, 0, i, i)
                                : rig_item(RIG_SPIN, i, i, 1);
    }
    for (size_t f = 0; f < VY_COUNT_OF(flags); f++) {
        rig_clear(r);
        vyre_queue_report report = rig_run(r, items, COUNT, flags[f]);
        rig_fetch(r);
        assert_int_equal(report.waves, 1);
        assert_int_equal(report.processed, COUNT);
        assert_int_equal(report.deduped, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(r->data[i], i % 3 == 2 ? i * 1664525u + 1013904223u : i);
        }
    }
    /* What depends on each other is not looked for: one wave where there would be two. */
    items[0] = rig_item(RIG_COPY, 4, 0, 0);
    items[3] = rig_item(RIG_COPY, 0, 3, 0);
    assert_int_equal(rig_run(r, items, COUNT, 0).waves, 2);
    assert_int_equal(rig_run(r, items, COUNT, VYRE_QUEUE_INDEPENDENT).waves, 1);
    rig_close(&r);
}

static void test_independent_items_are_not_ordered(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_independent);
}

/* One opcode: by a kernel for it and by that for all, the same is left and told. */
static void run_special(vyre_device *device)
{
    enum { COUNT = 2000 };
    static vyre_work_item items[COUNT];
    static const uint32_t opcodes[] = {RIG_ADD, RIG_LARGE, RIG_FAIL, RIG_SPIN};
    rig *r = rig_open(device, COUNT, NULL);
    uint32_t *left = calloc(COUNT, sizeof *left);
    assert_non_null(left);
    for (size_t o = 0; o < VY_COUNT_OF(opcodes); o++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t output = i == 77 ? COUNT + 5 : i; /* one fails by its bounds */
            items[i] = rig_item(opcodes[o], i, output, i % 200);
        }
        rig_clear(r);
        vyre_queue_report general = rig_run(r, items, COUNT, VYRE_QUEUE_NO_SPECIAL);
        rig_fetch(r);
        memcpy(left, r->data, COUNT * sizeof *left);
        rig_clear(r);
        vyre_queue_report special = rig_run(r, items, COUNT, VYRE_QUEUE_SPECIAL);
        rig_fetch(r);
        assert_memory_equal(left, r->data, COUNT * sizeof *left);
        assert_int_equal(general.is_special, 0);
        assert_int_equal(special.is_special, 1);
        assert_int_equal(special.processed, general.processed);
        assert_int_equal(special.faulted, general.faulted);
        assert_int_equal(special.fault_slot, general.fault_slot);
        assert_int_equal(special.fault_code, general.fault_code);
        assert_int_equal(special.waves, general.waves);
        assert_true(special.faulted > 0);
    }
    /* Two opcodes have no kernel of their own. */
    items[1] = rig_item(RIG_SET, 0, 1, 1);
    assert_int_equal(rig_run(r, items, COUNT, VYRE_QUEUE_SPECIAL).is_special, 0);
    free(left);
    rig_close(&r);
}

static void test_special_kernels_leave_the_same(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_special);
}

/* ---- Duplicates ------------------------------------------------------------------------------ */

static void run_duplicates(vyre_device *device)
{
    const vyre_work_item additions[] = {rig_item(RIG_ADD, 0, 1, 5), rig_item(RIG_ADD, 0, 1, 5)};
    const vyre_work_item settings[] = {rig_item(RIG_SET, 0, 2, 7), rig_item(RIG_SET, 0, 2, 7),
                                       rig_item(RIG_SET, 0, 3, 7), rig_item(RIG_SET, 0, 2, 7)};
    /* What lies between reads it, or writes it. */
    const vyre_work_item between[] = {rig_item(RIG_SET, 0, 2, 7), rig_item(RIG_DOUBLE, 0, 2, 0),
                                      rig_item(RIG_SET, 0, 2, 7)};
    /* One of those that are kept fails. */
    const vyre_work_item failing[] = {rig_item(RIG_SET, 0, 2, 7), rig_item(RIG_FAIL, 0, 0, 200),
                                      rig_item(RIG_SET, 0, 2, 7)};
    rig *r = rig_open(device, 4, NULL);
    vyre_queue_report report = rig_run(r, additions, 2, 0);
    assert_int_equal(report.deduped, 0);
    assert_int_equal(report.processed, 2);
    report = rig_run(r, additions, 2, VYRE_QUEUE_PRUNE_ALL);
    assert_int_equal(report.deduped, 1);
    assert_int_equal(report.published, 1);
    assert_int_equal(report.processed, 2);
    rig_fetch(r);
    assert_int_equal(r->data[1], 15);
    report = rig_run(r, additions, 2, VYRE_QUEUE_PRUNE_ALL | VYRE_QUEUE_INDEPENDENT);
    assert_int_equal(report.deduped, 1);

    report = rig_run(r, settings, 4, 0);
    assert_int_equal(report.deduped, 2);
    assert_int_equal(report.published, 2);
    assert_int_equal(report.processed, 4);
    assert_int_equal(report.waves, 1);
    assert_int_equal(rig_run(r, settings, 4, VYRE_QUEUE_STRICT).statuses.slot_count, 2);
    report = rig_run(r, settings, 4, VYRE_QUEUE_KEEP_DUPLICATES);
    assert_int_equal(report.deduped, 0);
    assert_int_equal(report.published, 4);
    report = rig_run(r, settings, 4, VYRE_QUEUE_INDEPENDENT);
    assert_int_equal(report.deduped, 0);

    report = rig_run(r, between, 3, 0);
    assert_int_equal(report.deduped, 0);
    assert_int_equal(report.waves, 3);
    report = rig_run(r, failing, 3, 0);
    assert_int_equal(report.deduped, 1);
    assert_int_equal(report.processed, 1); /* no credit */
    assert_int_equal(report.faulted, 1);
    assert_int_equal(report.remaining, 1);
    assert_int_equal(report.fault_slot, 1);
    rig_close(&r);
}

static void test_duplicates_are_dropped_by_their_effects(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_duplicates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_queues_leave_what_their_order_leaves),
        cmocka_unit_test(test_chains_run_one_after_the_other),
        cmocka_unit_test(test_wide_waves_do_not_mix),
        cmocka_unit_test(test_independent_items_are_not_ordered),
        cmocka_unit_test(test_special_kernels_leave_the_same),
        cmocka_unit_test(test_duplicates_are_dropped_by_their_effects),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

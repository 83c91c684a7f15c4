/* Runs of one opcode in arranged queues: each gets a launch of its own program where that was
 * measured to save more than a launch costs, and leaves what it leaves otherwise. */
#include "engine/megakernel/dispatcher.h"
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 40, ADDS = 30, COPIES = 50, COUNT = SETS + ADDS + COPIES, WORDS = 256 };

/* As if trials had found that the program of that opcode saves so much of 1,024 items. */
static void adopt(rig *r, uint32_t opcode, uint64_t saved_ns)
{
    vyre_dispatcher *d = r->dispatcher;
    for (uint32_t h = 0; h < d->handler_count; h++) {
        if (d->handlers[h].opcode == opcode) {
            d->trials[h].in_use = VY_MK_CHALLENGER;
            d->costs[h].ns[VY_MK_CHAMPION] = saved_ns + 1;
            d->costs[h].ns[VY_MK_CHALLENGER] = 1;
        }
    }
}

/* SET writes words 0 to 39, COPY those into 100 to 149 in a second wave, ADD stands between. */
static void make_items(vyre_work_item *items)
{
    uint32_t set = 0, add = 0, copy = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 3 == 0 && set < SETS) {
            items[i] = rig_item(RIG_SET, 0, set, 1000 + set);
            set++;
        } else if (i % 3 == 1 && add < ADDS) {
            items[i] = rig_item(RIG_ADD, 0, 200 + add % 7, add);
            add++;
        } else if (set == SETS && copy < COPIES) {
            items[i] = rig_item(RIG_COPY, copy % SETS, 100 + copy, 0);
            copy++;
        } else if (set < SETS) {
            items[i] = rig_item(RIG_SET, 0, set, 1000 + set);
            set++;
        } else {
            items[i] = rig_item(RIG_ADD, 0, 200 + add % 7, add);
            add++;
        }
    }
    assert_int_equal(set, SETS);
    assert_int_equal(add + copy, ADDS + COPIES);
}

static void check(rig *r, const vyre_work_item *items)
{
    uint32_t expected[WORDS] = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t *at = &expected[items[i].output];
        *at = items[i].opcode == RIG_SET    ? items[i].param
              : items[i].opcode == RIG_COPY ? expected[items[i].input]
                                            : *at + items[i].param;
    }
    rig_fetch(r);
    assert_memory_equal(r->data, expected, sizeof expected);
}

/* What is adopted, what a launch costs, and so how many launches there are. */
typedef struct row {
    uint64_t set_ns, add_ns, launch_ns;
    uint32_t launches;
} row;

static void run_rows(vyre_device *device)
{
    /* The first wave has SETs and ADDs, the second the COPYs. SETs save 40 * ns / 1024. */
    static const row rows[] = {
        {0, 0, 1, 1},        {1024, 0, 40, 3},    /* ADDs, SETs, the second wave */
        {1024, 0, 41, 1},                         /* no more worth it */
        {1024, 2048, 40, 3}, {1024, 2048, 60, 3}, /* ADDs alone are worth it */
        {1024, 2048, 61, 1}};
    vyre_work_item items[COUNT];
    make_items(items);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rig *r = rig_open(device, WORDS, NULL);
        if (rows[i].set_ns) {
            adopt(r, RIG_SET, rows[i].set_ns);
        }
        if (rows[i].add_ns) {
            adopt(r, RIG_ADD, rows[i].add_ns);
        }
        atomic_store(&r->dispatcher->launch_ns, rows[i].launch_ns);
        vyre_queue_report report = rig_run(r, items, COUNT, VYRE_QUEUE_ARRANGE);
        assert_int_equal(report.processed, COUNT);
        assert_int_equal(report.waves, 2);
        if (report.launches != rows[i].launches) {
            fail_msg("row %u: %u launches", (unsigned)i, (unsigned)report.launches);
        }
        check(r, items);
        /* None where it was not asked for. */
        static const uint32_t flags[] = {0, VYRE_QUEUE_ARRANGE | VYRE_QUEUE_NO_SPECIAL};
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
            rig_clear(r);
            atomic_store(&r->dispatcher->launch_ns, rows[i].launch_ns);
            assert_int_equal(rig_run(r, items, COUNT, flags[f]).launches, 1);
            check(r, items);
        }
        rig_close(&r);
    }
}

static void test_runs_get_launches_that_they_are_worth(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_rows);
}

/* The first fault is named by its number in the queue given, whichever launch it was in. */
static void fault(vyre_device *device)
{
    vyre_work_item items[COUNT];
    make_items(items);
    for (uint32_t bad = 0; bad < COUNT; bad += 17) {
        rig *r = rig_open(device, WORDS, NULL);
        adopt(r, RIG_SET, 1024);
        adopt(r, RIG_COPY, 1024);
        atomic_store(&r->dispatcher->launch_ns, 1);
        vyre_work_item kept = items[bad];
        items[bad].output = WORDS;
        vyre_queue_report report = rig_run(r, items, COUNT, VYRE_QUEUE_ARRANGE);
        assert_int_equal(report.faulted, 1);
        assert_int_equal(report.fault_slot, bad);
        assert_int_equal(report.fault_code, VYRE_FAULT_BOUNDS);
        assert_int_equal(report.processed, COUNT - 1);
        items[bad] = kept;
        rig_close(&r);
    }
}

static void test_faults_of_runs_have_their_numbers(void **state)
{
    (void)state;
    RIG_FOR_EACH(fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_get_launches_that_they_are_worth),
        cmocka_unit_test(test_faults_of_runs_have_their_numbers),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

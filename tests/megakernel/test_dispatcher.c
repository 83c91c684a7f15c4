/* The dispatcher from end to end, on the interpreter and on the device: every item of every queue
 * ends in one way and is counted once, in the caller's order where items depend on each other. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 64u

static vyre_work_item *make_items(uint32_t count)
{
    vyre_work_item *items = calloc((size_t)count + 1, sizeof *items);
    assert_non_null(items);
    return items;
}

static void check_additions(rig *r, uint32_t count)
{
    rig_fetch(r);
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t sum = 0;
        for (uint32_t i = w; i < count; i += WORDS) {
            sum += i;
        }
        assert_int_equal(r->data[w], sum);
    }
}

/* ---- Conservation ---------------------------------------------------------------------------- */

static void conserve(vyre_device *device)
{
    static const uint32_t lengths[] = {0, 1, 10, 11, 63, 64, 65, 4095, 4096, 4097, 1000000};
    static const uint32_t workers[] = {1, 7, 64, 1000};
    rig *r = rig_open(device, WORDS, NULL);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint32_t n = lengths[l];
        if (!device && n > 5000) {
            continue;
        }
        vyre_work_item *items = make_items(n);
        for (uint32_t i = 0; i < n; i++) {
            items[i] = rig_item(RIG_ADD, 0, i % WORDS, i);
        }
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            vyre_queue_params params;
            rig_clear(r);
            vyre_queue_params_init(&params);
            params.worker_count = workers[w];
            params.group_cap = workers[w];
            params.flags = VYRE_QUEUE_KEEP_DUPLICATES;
            vyre_queue_report report = rig_run_with(r, items, n, &params);
            assert_int_equal(report.processed, n);
            assert_int_equal(report.remaining, 0);
            assert_int_equal(report.launches > 0, n > 0);
            check_additions(r, n);
        }
        free(items);
    }
    rig_close(&r);
}

static void test_dispatcher_conserves_for_every_length_and_worker_count(void **state)
{
    (void)state;
    RIG_FOR_EACH(conserve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatcher_conserves_for_every_length_and_worker_count),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

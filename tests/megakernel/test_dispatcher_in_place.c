/* Items that the caller writes where the device reads them, on the interpreter and on the device,
 * where that memory is mapped and where it is not. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 64u

static vyre_work_item *map(rig *r, uint32_t count, vyre_queue_ticket *ticket)
{
    vyre_work_item *items = NULL;
    vyre_diag diag;
    if (vyre_dispatcher_map(r->dispatcher, count, NULL, &items, ticket, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_non_null(items);
    return items;
}

static vyre_queue_report finish(rig *r, vyre_queue_ticket ticket, uint32_t count)
{
    vyre_queue_report report;
    vyre_diag diag;
    if (vyre_dispatcher_submit_mapped(r->dispatcher, ticket, count, &diag) != VYRE_OK ||
        vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(ticket.bits, 0);
    rig_check_sums(&report);
    return report;
}

static void drain(vyre_device *device)
{
    static const uint32_t lengths[] = {1, 63, 64, 65, 4097, 100000};
    rig *r = rig_open(device, WORDS, NULL);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint32_t n = lengths[l];
        if (!device && n > 5000) {
            continue;
        }
        for (int round = 0; round < 2; round++) {
            uint32_t written = round ? n / 2 : n; /* all that there is room for, or less */
            vyre_queue_ticket ticket;
            rig_clear(r);
            vyre_work_item *items = map(r, n, &ticket);
            for (uint32_t i = 0; i < written; i++) {
                items[i] = rig_item(RIG_ADD, 0, i % WORDS, i);
            }
            vyre_queue_report report = finish(r, ticket, written);
            assert_int_equal(report.given, written);
            assert_int_equal(report.processed, written);
            assert_true(written == 0 || strcmp(report.form, "items") == 0);
            rig_fetch(r);
            for (uint32_t w = 0; w < WORDS; w++) {
                uint32_t sum = 0;
                for (uint32_t i = w; i < written; i += WORDS) {
                    sum += i;
                }
                assert_int_equal(r->data[w], sum);
            }
        }
    }
    rig_close(&r);
}

static void test_items_in_place_are_drained(void **state)
{
    (void)state;
    RIG_FOR_EACH(drain);
}

/* What the dispatcher refuses elsewhere ends as a fault here: nobody looked at the items. */
static void fault(vyre_device *device)
{
    static const struct {
        uint32_t opcode;
        vyre_slot_fault code;
    } rows[] = {{0x7777, VYRE_FAULT_UNKNOWN_OPCODE},
                {VYRE_OPCODE_DFA_STEP, VYRE_FAULT_UNKNOWN_OPCODE},
                {VYRE_OPCODE_LOAD_MISS, VYRE_FAULT_UNKNOWN_OPCODE},
                {0x80000000u, VYRE_FAULT_UNKNOWN_OPCODE},
                {VYRE_OPCODE_PACKED_SLOT, VYRE_FAULT_PACKED},
                {RIG_AGAIN, VYRE_FAULT_HANDLER}};
    rig *r = rig_open(device, WORDS, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_queue_ticket ticket;
        rig_clear(r);
        vyre_work_item *items = map(r, 3, &ticket);
        items[0] = rig_item(RIG_SET, 0, 1, 5);
        items[1] = rig_item(rows[i].opcode, 0, 2, 9);
        items[2] = rig_item(RIG_SET, 0, 3, 7);
        vyre_queue_report report = finish(r, ticket, 3);
        assert_int_equal(report.processed, 2);
        assert_int_equal(report.faulted, 1);
        assert_int_equal(report.unknown, rows[i].code == VYRE_FAULT_UNKNOWN_OPCODE);
        assert_int_equal(report.fault_slot, 1);
        assert_int_equal(report.fault_code, rows[i].code);
        rig_fetch(r);
        assert_int_equal(r->data[1], 5);
        assert_int_equal(r->data[3], 7);
    }
    rig_close(&r);
}

static void test_items_in_place_are_not_looked_at(void **state)
{
    (void)state;
    RIG_FOR_EACH(fault);
}

static void refuse(rig *r, vyre_result expected, vyre_result code, const vyre_diag *diag,
                   const char *part)
{
    (void)r;
    assert_int_equal(code, expected);
    assert_non_null(strstr(diag->message, part));
    assert_non_null(strstr(diag->message, "Fix: "));
}

static void misuse(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL);
    vyre_dispatcher *d = r->dispatcher;
    vyre_work_item *items = (vyre_work_item *)1;
    vyre_queue_ticket ticket = {5}, none = {0};
    vyre_queue_params params;
    vyre_diag diag;
    vyre_queue_params_init(&params);
    refuse(r, VYRE_ERROR_INVALID_ARGUMENT, vyre_dispatcher_map(d, 0, NULL, &items, &ticket, &diag),
           &diag, "no item");
    assert_null(items);
    assert_int_equal(ticket.bits, 0);
    static const uint32_t flags[] = {VYRE_QUEUE_PRUNE_ALL, VYRE_QUEUE_ARRANGE, VYRE_QUEUE_STRICT};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        params.flags = flags[f];
        refuse(r, VYRE_ERROR_INVALID_ARGUMENT,
               vyre_dispatcher_map(d, 1, &params, &items, &ticket, &diag), &diag, "in place");
    }
    params.flags = 0;
    params.budget_size = 1;
    refuse(r, VYRE_ERROR_DEVICE_OUT_OF_MEMORY,
           vyre_dispatcher_map(d, 1, &params, &items, &ticket, &diag), &diag, "1 ");
    refuse(r, VYRE_ERROR_INVALID_ARGUMENT, vyre_dispatcher_map(d, 1, NULL, NULL, &ticket, &diag),
           &diag, "out_items");
    refuse(r, VYRE_ERROR_INVALID_ARGUMENT, vyre_dispatcher_submit_mapped(d, none, 1, &diag), &diag,
           "stale");
    items = map(r, 4, &ticket);
    vyre_queue_report report;
    vyre_queue_ticket copy = ticket;
    refuse(r, VYRE_ERROR_INVALID_ARGUMENT,
           vyre_dispatcher_wait(d, &copy, UINT64_MAX, &report, &diag), &diag, "being written");
    refuse(r, VYRE_ERROR_INVALID_ARGUMENT, vyre_dispatcher_submit_mapped(d, ticket, 5, &diag),
           &diag, "room for 4");
    for (uint32_t i = 0; i < 4; i++) {
        items[i] = rig_item(RIG_ADD, 0, 0, 1);
    }
    assert_int_equal(vyre_dispatcher_submit_mapped(d, ticket, 4, &diag), VYRE_OK);
    refuse(r, VYRE_ERROR_INVALID_ARGUMENT, vyre_dispatcher_submit_mapped(d, ticket, 4, &diag),
           &diag, "submit it once");
    assert_int_equal(vyre_dispatcher_wait(d, &ticket, UINT64_MAX, &report, &diag), VYRE_OK);
    assert_int_equal(report.processed, 4);
    /* None written, and given up. */
    (void)map(r, 4, &ticket);
    report = finish(r, ticket, 0);
    assert_int_equal(report.given + report.launches, 0);
    (void)map(r, 4, &ticket);
    assert_int_equal(vyre_dispatcher_drop(d, &ticket, &diag), VYRE_OK);
    assert_int_equal(ticket.bits, 0);
    /* One is being written when the dispatcher goes. */
    (void)map(r, 4, &ticket);
    rig_fetch(r);
    assert_int_equal(r->data[0], 4);
    rig_close(&r);
}

static void test_items_in_place_have_rules(void **state)
{
    (void)state;
    RIG_FOR_EACH(misuse);
}

/* As many as may be in flight are written at the same time, and submitted the other way round. */
static void overlap(vyre_device *device)
{
    enum { MANY = 4, EACH = 500 };
    rig *r = rig_open(device, WORDS, NULL);
    vyre_queue_ticket tickets[MANY], more;
    vyre_work_item *items[MANY], *other = NULL;
    vyre_diag diag;
    for (uint32_t q = 0; q < MANY; q++) {
        items[q] = map(r, EACH, &tickets[q]);
    }
    refuse(r, VYRE_ERROR_BUSY, vyre_dispatcher_map(r->dispatcher, 1, NULL, &other, &more, &diag),
           &diag, "max_in_flight");
    for (uint32_t i = 0; i < EACH; i++) {
        for (uint32_t q = 0; q < MANY; q++) {
            items[q][i] = rig_item(RIG_ADD, 0, q, i + q);
        }
    }
    for (uint32_t q = MANY; q-- > 0;) {
        assert_int_equal(vyre_dispatcher_submit_mapped(r->dispatcher, tickets[q], EACH, &diag),
                         VYRE_OK);
    }
    for (uint32_t q = 0; q < MANY; q++) {
        vyre_queue_report report;
        assert_int_equal(
            vyre_dispatcher_wait(r->dispatcher, &tickets[q], UINT64_MAX, &report, &diag), VYRE_OK);
        assert_int_equal(report.processed, EACH);
    }
    rig_fetch(r);
    for (uint32_t q = 0; q < MANY; q++) {
        assert_int_equal(r->data[q], EACH * (EACH - 1) / 2 + EACH * q);
    }
    rig_close(&r);
}

static void test_queues_are_written_side_by_side(void **state)
{
    (void)state;
    RIG_FOR_EACH(overlap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_in_place_are_drained),
        cmocka_unit_test(test_items_in_place_are_not_looked_at),
        cmocka_unit_test(test_items_in_place_have_rules),
        cmocka_unit_test(test_queues_are_written_side_by_side),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

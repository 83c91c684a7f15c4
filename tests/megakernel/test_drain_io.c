/* The draining program and the I/O queue: slots that wait for a request (LOAD_MISS), and requests
 * that a device-run function serves. */
#include "tests/megakernel/drain_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define REPLY (VYRE_SLOT_WORDS - 1u)

static void put_miss(drain_queue *q, uint32_t slot)
{
    uint32_t *args = drain_slot(q, slot) + VYRE_SLOT_ARGS;
    drain_put(q, slot, VYRE_OPCODE_LOAD_MISS, slot + 1, slot + 2, slot + 3);
    args[3] = slot + 4;
    args[4] = slot + 5;
}

/* ---- Waiting slots --------------------------------------------------------------------------- */

/* As a host does between two launches: serves what is published, by its tag. Every third fails. */
static uint32_t serve_as_host(drain_queue *q, uint32_t *posted)
{
    uint32_t indices[VYRE_MAX_IO_SLOTS], count = 0;
    size_t size = q->io_count * VYRE_IO_WORDS * sizeof(uint32_t);
    assert_int_equal(vyre_io_poll(q->io, size, indices, &count, NULL), VYRE_OK);
    for (uint32_t i = 0; i < count; i++) {
        vyre_io_request r;
        assert_int_equal(vyre_io_claim(q->io, size, indices[i], &r, NULL), VYRE_OK);
        assert_int_equal(r.op, VYRE_IO_READ);
        assert_int_equal(r.source, r.tag + 1);
        assert_int_equal(r.target, r.tag + 2);
        assert_int_equal((uint32_t)r.offset, r.tag + 3);
        assert_int_equal((uint32_t)(r.offset >> 32), r.tag + 4);
        assert_int_equal(r.size, r.tag + 5);
        posted[r.tag]++;
        const vyre_io_completion done = {indices[i], r.tag % 3 ? VYRE_IO_OK : VYRE_IO_ERROR};
        assert_int_equal(vyre_io_complete(q->io, size, &done, 1, NULL), VYRE_OK);
        assert_int_equal(vyre_io_release(q->io, size, indices[i], NULL), VYRE_OK);
        drain_slot(q, r.tag)[REPLY] = done.status;
        assert_int_equal(vyre_ring_move(q->ring, (size_t)q->slot_count * VYRE_SLOT_SIZE, r.tag,
                                        VYRE_EDGE_READY, NULL),
                         VYRE_OK);
    }
    return count;
}

/* Every slot but each fifth misses. A launch posts as many as the queue has room for. */
static void check_misses(drain_queue *q, drain_fn drain)
{
    uint32_t n = q->slot_count, misses = 0, left, requeues = 0;
    uint32_t *posted = drain_words(n);
    drain_reset(q);
    for (uint32_t s = 0; s < n; s++) {
        if (s % 5 == 4) {
            drain_put(q, s, VYRE_OPCODE_NOP, 0, 0, 0);
        } else {
            put_miss(q, s);
            misses++;
        }
    }
    left = misses;
    for (uint32_t launch = 0; left || launch == 0; launch++) {
        assert_true(launch < 1000);
        q->control[VYRE_CONTROL_CURSOR] = 0;
        drain(q, 3);
        vyre_control_report r = drain_check_sums(q, n);
        uint32_t waiting = left < q->io_count ? left : q->io_count;
        requeues += left - waiting;
        assert_int_equal(drain_count_status(q, VYRE_STATUS_WAIT_IO), waiting);
        assert_int_equal(drain_count_status(q, VYRE_STATUS_REQUEUE), left - waiting);
        assert_int_equal(r.done_count + r.fault_count, n - left);
        assert_int_equal(r.requeue_count, requeues);
        assert_int_equal(serve_as_host(q, posted), waiting);
        left -= waiting;
    }
    q->control[VYRE_CONTROL_CURSOR] = 0;
    drain(q, 3);
    assert_int_equal(drain_check_sums(q, n).requeue_count, requeues);
    for (uint32_t s = 0; s < n; s++) {
        bool is_miss = s % 5 != 4, has_failed = is_miss && s % 3 == 0;
        const uint32_t *slot = drain_slot(q, s);
        assert_int_equal(posted[s], is_miss);
        assert_int_equal(slot[VYRE_SLOT_STATUS], has_failed ? VYRE_STATUS_FAULT : VYRE_STATUS_DONE);
        if (has_failed) {
            assert_int_equal(slot[REPLY], VYRE_FAULT_IO);
        }
    }
    free(posted);
}

static void test_drain_slots_wait_for_their_request(void **state)
{
    static const uint32_t sizes[] = {1, 3, VYRE_MAX_IO_SLOTS};
    static const vy_drain_params hows[] = {{.form = VY_DRAIN_OF_RING},
                                           {.form = VY_DRAIN_OF_RING, .claim = VYRE_CLAIM_LANE}};
    (void)state;
    for (size_t h = 0; h < VY_COUNT_OF(hows); h++) {
        for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
            drain_queue *q = drain_open(sizes[i] == 1 ? 11 : 200, &hows[h]);
            q->io_count = sizes[i];
            DRAIN_EACH(drain, way)
            {
                check_misses(q, drain);
            }
            drain_close(&q);
        }
    }
}

/* Requests of others stay as they are, and there is no room but in the last. */
static void check_room(drain_queue *q, drain_fn drain)
{
    static const uint32_t taken[] = {VYRE_STATUS_PUBLISHED, VYRE_STATUS_CLAIMED, VYRE_IO_OK,
                                     VYRE_IO_ERROR};
    drain_reset(q);
    q->io_count = 5;
    for (uint32_t i = 0; i < 4; i++) {
        q->io[i * VYRE_IO_WORDS + VYRE_IO_STATUS] = taken[i];
    }
    put_miss(q, 0);
    put_miss(q, 1);
    drain(q, 1);
    assert_int_equal(drain_count_status(q, VYRE_STATUS_WAIT_IO), 1);
    assert_int_equal(drain_count_status(q, VYRE_STATUS_REQUEUE), 1);
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t *request = q->io + i * VYRE_IO_WORDS;
        assert_int_equal(request[VYRE_IO_STATUS], i < 4 ? taken[i] : VYRE_STATUS_PUBLISHED);
        assert_int_equal(request[VYRE_IO_OP], i < 4 ? 0 : VYRE_IO_READ);
    }
    /* What a reply is that is neither is an error. */
    drain_reset(q);
    put_miss(q, 0);
    drain_slot(q, 0)[REPLY] = 77;
    drain(q, 1);
    assert_int_equal(drain_slot(q, 0)[REPLY], VYRE_FAULT_IO);
    /* More than a queue has is not looked at. */
    drain_reset(q);
    q->io_count = VYRE_MAX_IO_SLOTS + 6;
    for (uint32_t i = 0; i < VYRE_MAX_IO_SLOTS; i++) {
        q->io[i * VYRE_IO_WORDS + VYRE_IO_STATUS] = VYRE_IO_OK;
    }
    put_miss(q, 0);
    drain(q, 1);
    assert_int_equal(drain_count_status(q, VYRE_STATUS_REQUEUE), 1);
}

static void test_drain_requests_are_posted_where_there_is_room(void **state)
{
    static const vy_drain_params how = {.form = VY_DRAIN_OF_RING};
    (void)state;
    drain_queue *q = drain_open(2, &how);
    DRAIN_EACH(drain, way)
    {
        check_room(q, drain);
    }
    drain_close(&q);
}

/* ---- A function that serves ------------------------------------------------------------------ */

static const char serve_text[] =
    "program serves\n"
    "inout calls : u32[] // by tag\n"
    "inout data  : u32[]\n"
    "fn serve(kind: u32, source: u32, target: u32, low: u32, high: u32, size: u32, tag: u32) -> "
    "u32 {\n"
    "    atomic_add(calls[tag], 1)\n"
    "    data[target] = kind + 10 * source + 100 * low + 1000 * high + 10000 * size\n"
    "    return tag % 3\n"
    "}\n"
    "kernel { }\n";
#define TAGS 200u

/* Request i: an operation that is none for every seventh, a status of its own for every fifth. */
static void check_polling(drain_queue *q, drain_fn drain, uint32_t groups)
{
    drain_reset(q);
    q->io_count = VYRE_MAX_IO_SLOTS + 6;
    for (uint32_t i = 0; i < q->io_count; i++) {
        const uint32_t words[VYRE_IO_WORDS] = {i % 7 == 6 ? i : 1 + i % 3,
                                               2 + i,
                                               i,
                                               3 + i,
                                               4 + i,
                                               5 + i,
                                               i % 5 == 4 ? i % 4 * 8 : VYRE_STATUS_PUBLISHED,
                                               i};
        memcpy(q->io + i * VYRE_IO_WORDS, words, sizeof words);
    }
    drain(q, groups);
    for (uint32_t i = 0; i < q->io_count; i++) {
        bool is_seen = i % 5 != 4 && i < VYRE_MAX_IO_SLOTS;
        bool is_called = is_seen && i % 7 != 6;
        uint32_t status = i % 5 == 4 ? i % 4 * 8 : VYRE_STATUS_PUBLISHED;
        if (is_seen) {
            status = is_called && i % 3 == 0 ? VYRE_IO_OK : VYRE_IO_ERROR;
        }
        assert_int_equal(q->extra[0][i], is_called);
        assert_int_equal(q->io[i * VYRE_IO_WORDS + VYRE_IO_STATUS], status);
        assert_int_equal(q->extra[1][i], is_called ? 1 + i % 3 + 10 * (2 + i) + 100 * (3 + i) +
                                                         1000 * (4 + i) + 10000 * (5 + i)
                                                   : 0);
    }
}

static void test_drain_serves_each_request_once(void **state)
{
    static const uint32_t grids[] = {1, 7, 64};
    static const vy_drain_params hows[] = {
        {.form = VY_DRAIN_OF_RING},
        {.form = VY_DRAIN_OF_RING, .by_priority = true},
        {.form = VY_DRAIN_OF_ITEMS, .workgroup = 7, .claim = VYRE_CLAIM_LANE},
        {.form = VY_DRAIN_OF_ITEMS, .in_waves = true},
        {.form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = VYRE_OPCODE_NOP}};
    (void)state;
    vyre_program *program = drain_parse(serve_text);
    for (size_t h = 0; h < VY_COUNT_OF(hows); h++) {
        vy_drain_params how = hows[h];
        how.program = program;
        how.io_function = "serve";
        drain_queue *q = drain_open(30, &how);
        drain_set_waves(q, (const uint32_t[]){10, 0, 20}, 3);
        drain_add_buffer(q, TAGS);
        drain_add_buffer(q, TAGS);
        DRAIN_EACH(drain, way)
        {
            for (size_t g = 0; g < VY_COUNT_OF(grids); g++) {
                check_polling(q, drain, grids[g]);
            }
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

/* With such a function no slot waits, and no request is posted for one. */
static void check_misses_at_once(drain_queue *q, drain_fn drain)
{
    uint32_t n = q->slot_count;
    drain_reset(q);
    for (uint32_t s = 0; s < n; s++) {
        put_miss(q, s);
    }
    drain(q, 2);
    vyre_control_report r = drain_check_sums(q, n);
    assert_int_equal(r.done_count, (n + 2) / 3);
    assert_int_equal(r.fault_count, n - (n + 2) / 3);
    assert_int_equal(r.fault_code, VYRE_FAULT_IO);
    assert_int_equal(r.requeue_count, 0);
    for (uint32_t s = 0; s < n; s++) {
        assert_int_equal(q->extra[0][s], 1);
        assert_int_equal(q->extra[1][s + 2],
                         1 + 10 * (s + 1) + 100 * (s + 3) + 1000 * (s + 4) + 10000 * (s + 5));
    }
    for (uint32_t w = 0; w < q->io_count * VYRE_IO_WORDS; w++) {
        assert_int_equal(q->io[w], 0);
    }
}

static void test_drain_serves_misses_at_once(void **state)
{
    (void)state;
    vyre_program *program = drain_parse(serve_text);
    const vy_drain_params how = {.program = program, .io_function = "serve"};
    drain_queue *q = drain_open(TAGS - 2, &how);
    q->io_count = VYRE_MAX_IO_SLOTS;
    drain_add_buffer(q, TAGS);
    drain_add_buffer(q, TAGS);
    DRAIN_EACH(drain, way)
    {
        check_misses_at_once(q, drain);
    }
    drain_close(&q);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_slots_wait_for_their_request),
        cmocka_unit_test(test_drain_requests_are_posted_where_there_is_room),
        cmocka_unit_test(test_drain_serves_each_request_once),
        cmocka_unit_test(test_drain_serves_misses_at_once),
    };
    return cmocka_run_group_tests(tests, drain_open_device, drain_close_device);
}

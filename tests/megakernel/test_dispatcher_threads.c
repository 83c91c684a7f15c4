/* Threads that share dispatchers, on the interpreter and on the device: every item of every queue
 * runs once. The same under ThreadSanitizer (-DVYRE_SANITIZE=thread). */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/megakernel/ring_support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8u
#define WORDS   16u /* of each thread */
#define LONGEST 600u

static uint32_t runs_of(const vyre_device *device)
{
    return device ? 40 : 12;
}

typedef struct worker {
    rig *r;
    uint64_t random;
    uint32_t number, errors, busy, runs;
    uint32_t expected[WORDS];
    uint32_t own[THREADS * WORDS]; /* on the interpreter, whose atomics are of one thread */
    vyre_work_item items[LONGEST];
    uint32_t ring[LONGEST * VYRE_SLOT_WORDS];
} worker;

/* Adds of random words of the thread's own, all of which are expected. */
static uint32_t make_items(worker *w)
{
    uint32_t count = next_random(&w->random) % LONGEST;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = next_random(&w->random) % WORDS, n = next_random(&w->random);
        uint32_t opcode = next_random(&w->random) % 2 ? RIG_ADD : RIG_LARGE;
        w->items[i] = rig_item(opcode, 0, w->number * WORDS + word, n);
        w->expected[word] += n;
        const uint32_t args[] = {0, w->items[i].output, n};
        rig_put(w->ring, i, opcode, 0, next_random(&w->random) % VYRE_PRIORITY_COUNT, args, 3);
    }
    return count;
}

static vyre_queue_params random_params(worker *w, vyre_binding *binding)
{
    static const uint32_t flags[] = {0, VYRE_QUEUE_INDEPENDENT, VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_STRICT, VYRE_QUEUE_NO_SPECIAL};
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES | flags[next_random(&w->random) % 5];
    params.worker_count = 1 + next_random(&w->random) % 100;
    params.group_cap = next_random(&w->random) % 4;
    if (!w->r->device) {
        *binding = engine_host_inout(w->own, THREADS * WORDS);
        params.bindings = binding;
        params.binding_count = 1;
    }
    return params;
}

/* In one of the ways that there are; BUSY: tried again. */
static vyre_result run_once(worker *w, uint32_t count, const vyre_queue_params *params,
                            vyre_queue_report *report)
{
    vyre_dispatcher *d = w->r->dispatcher;
    const size_t size = (size_t)count * VYRE_SLOT_SIZE;
    vyre_queue_ticket ticket;
    vyre_diag diag;
    vyre_result code;
    uint32_t way = next_random(&w->random) % 4;
    if (way == 0) {
        return vyre_dispatcher_run(d, w->items, count, params, report, &diag);
    }
    if (way == 1) {
        return vyre_dispatcher_run_ring(d, w->ring, size, params, report, &diag);
    }
    code = way == 2 ? vyre_dispatcher_submit(d, w->items, count, params, &ticket, &diag)
                    : vyre_dispatcher_submit_ring(d, w->ring, size, params, &ticket, &diag);
    if (code == VYRE_OK && next_random(&w->random) % 2) {
        int is_done = 0;
        code = vyre_dispatcher_poll(d, ticket, &is_done, &diag);
    }
    return code == VYRE_OK ? vyre_dispatcher_wait(d, &ticket, UINT64_MAX, report, &diag) : code;
}

static void *work(void *argument)
{
    worker *w = argument;
    for (uint32_t run = 0; run < w->runs; run++) {
        vyre_binding binding;
        vyre_queue_report report;
        uint32_t count = make_items(w);
        vyre_queue_params params = random_params(w, &binding);
        vyre_result code = VYRE_ERROR_BUSY;
        while (code == VYRE_ERROR_BUSY) {
            code = run_once(w, count, &params, &report);
            w->busy += code == VYRE_ERROR_BUSY;
        }
        w->errors += code != VYRE_OK || report.processed != count || report.remaining != 0 ||
                     report.given != count;
    }
    return NULL;
}

/* `rigs` of them: the threads take them in turn. */
static void share(vyre_device *device, uint32_t max_in_flight, uint32_t rigs, uint64_t slice_ns)
{
    const vyre_dispatcher_params params = {
        .struct_size = sizeof params, .max_in_flight = max_in_flight, .slice_ns = slice_ns};
    worker *workers = calloc(THREADS, sizeof *workers);
    pthread_t threads[THREADS];
    rig *r[2];
    assert_non_null(workers);
    for (uint32_t i = 0; i < rigs; i++) {
        r[i] = rig_open(device, THREADS * WORDS, &params);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        workers[t].r = r[t % rigs];
        workers[t].number = t;
        workers[t].random = 77 + t;
        workers[t].runs = runs_of(device);
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    uint32_t busy = 0;
    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        busy += workers[t].busy;
    }
    vyre_dispatcher_counters counters;
    uint64_t queues = 0;
    for (uint32_t i = 0; i < rigs; i++) {
        rig_fetch(r[i]);
        vyre_dispatcher_get_counters(r[i]->dispatcher, &counters);
        queues += counters.queues;
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        const uint32_t *data = device ? r[t % rigs]->data : workers[t].own;
        assert_int_equal(workers[t].errors, 0);
        assert_memory_equal(data + t * WORDS, workers[t].expected, sizeof workers[t].expected);
    }
    assert_true(queues == (uint64_t)THREADS * runs_of(device));
    if (max_in_flight >= THREADS) {
        assert_int_equal(busy, 0);
    }
    for (uint32_t i = 0; i < rigs; i++) {
        rig_close(&r[i]);
    }
    free(workers);
}

static void share_one(vyre_device *device)
{
    share(device, THREADS, 1, 0);
}

static void share_few(vyre_device *device)
{
    share(device, 3, 1, 1);
}

static void share_two(vyre_device *device)
{
    share(device, THREADS, 2, 0);
}

static void test_threads_share_a_dispatcher(void **state)
{
    (void)state;
    RIG_FOR_EACH(share_one);
}

static void test_threads_share_fewer_queues_than_they_are(void **state)
{
    (void)state;
    RIG_FOR_EACH(share_few);
}

static void test_threads_share_two_dispatchers(void **state)
{
    (void)state;
    RIG_FOR_EACH(share_two);
}

/* ---- One ticket ------------------------------------------------------------------------------ */

/* One of the threads that wait for a ticket gets its queue's report, and the others hear that it is
 * waited for or gone. */
typedef struct rival {
    rig *r;
    vyre_queue_ticket ticket;
    vyre_result code;
    uint32_t processed, polls;
} rival;

static void *wait_along(void *argument)
{
    rival *v = argument;
    vyre_queue_report report = {0};
    vyre_diag diag;
    int is_done = 0;
    v->polls += vyre_dispatcher_poll(v->r->dispatcher, v->ticket, &is_done, &diag) == VYRE_OK;
    v->code = vyre_dispatcher_wait(v->r->dispatcher, &v->ticket, UINT64_MAX, &report, &diag);
    v->processed = report.processed;
    return NULL;
}

static void wait_together(vyre_device *device)
{
    rig *r = rig_open(device, 64, NULL);
    vyre_work_item items[200];
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES;
    for (uint32_t i = 0; i < 200; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % 64, 1);
    }
    for (uint32_t round = 0; round < 30; round++) {
        rival rivals[THREADS] = {{0}};
        pthread_t threads[THREADS];
        vyre_queue_ticket ticket;
        uint32_t winners = 0;
        assert_int_equal(vyre_dispatcher_submit(r->dispatcher, items, 200, &params, &ticket, NULL),
                         VYRE_OK);
        for (uint32_t t = 0; t < THREADS; t++) {
            rivals[t].r = r;
            rivals[t].ticket = ticket;
            assert_int_equal(pthread_create(&threads[t], NULL, wait_along, &rivals[t]), 0);
        }
        for (uint32_t t = 0; t < THREADS; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            winners += rivals[t].code == VYRE_OK && rivals[t].processed == 200;
            assert_true(rivals[t].code == VYRE_OK || rivals[t].code == VYRE_ERROR_BUSY ||
                        rivals[t].code == VYRE_ERROR_INVALID_ARGUMENT);
            assert_true((rivals[t].ticket.bits == 0) == (rivals[t].code == VYRE_OK));
        }
        if (winners == 0) { /* each met another one's poll */
            assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, NULL, NULL),
                             VYRE_OK);
            winners = 1;
        }
        assert_int_equal(winners, 1);
    }
    rig_fetch(r);
    uint32_t sum = 0;
    for (uint32_t w = 0; w < 64; w++) {
        sum += r->data[w];
    }
    assert_int_equal(sum, 30 * 200);
    rig_close(&r);
}

static void test_one_of_many_waiters_gets_the_queue(void **state)
{
    (void)state;
    RIG_FOR_EACH(wait_together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_share_a_dispatcher),
        cmocka_unit_test(test_threads_share_fewer_queues_than_they_are),
        cmocka_unit_test(test_threads_share_two_dispatchers),
        cmocka_unit_test(test_one_of_many_waiters_gets_the_queue),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}

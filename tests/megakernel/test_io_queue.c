/* The I/O queue: layout, the life of a request, what is refused, and threads that race for it. */
#include "tests/megakernel/refused.h"

#include "codegen/base/base.h"
#include "codegen/base/thread.h"
#include "vyre/megakernel.h"

#include <stdatomic.h>
#include <stdio.h>

#define REQUEST_SIZE 32u
#define SLOTS        VYRE_MAX_IO_SLOTS
#define MAX_SIZE     (SLOTS * REQUEST_SIZE)

/* Room for one request more than a queue may have; the rest shows writes beyond the end. */
typedef struct fixture {
    uint32_t words[(SLOTS + 2) * VYRE_IO_WORDS];
    uint32_t before[(SLOTS + 2) * VYRE_IO_WORDS];
} fixture;

static void *bytes(fixture *f)
{
    return f->words;
}

static void keep(fixture *f)
{
    memcpy(f->before, f->words, sizeof f->words);
}

static void assert_kept(const fixture *f)
{
    assert_memory_equal(f->words, f->before, sizeof f->words);
}

static void init(fixture *f, uint32_t count)
{
    memset(f->words, 0x5a, sizeof f->words);
    vyre_diag diag;
    assert_int_equal(vyre_io_clear(f->words, count * (size_t)REQUEST_SIZE, &diag), VYRE_OK);
    keep(f);
}

static vyre_io_request a_request(uint32_t index)
{
    static const vyre_io_op ops[] = {VYRE_IO_READ, VYRE_IO_WRITE, VYRE_IO_FENCE};
    return (vyre_io_request){.op = ops[index % 3],
                             .source = 100 + index,
                             .target = 200 + index,
                             .offset = (uint64_t)(300 + index) << 32 | (400 + index),
                             .size = 500 + index,
                             .tag = 600 + index};
}

static bool is_same(const vyre_io_request *a, const vyre_io_request *b)
{
    return a->op == b->op && a->source == b->source && a->target == b->target &&
           a->offset == b->offset && a->size == b->size && a->tag == b->tag;
}

static uint32_t *status_of(fixture *f, uint32_t index)
{
    return &f->words[index * VYRE_IO_WORDS + VYRE_IO_STATUS];
}

/* A little-endian word, on any host. */
static uint32_t little(uint32_t value)
{
    const unsigned char out[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                  (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    uint32_t word = 0;
    memcpy(&word, out, sizeof word);
    return word;
}

static void publish(fixture *f, uint32_t count, uint32_t index)
{
    vyre_io_request request = a_request(index);
    vyre_diag diag;
    assert_int_equal(
        vyre_io_publish(f->words, count * (size_t)REQUEST_SIZE, index, &request, &diag), VYRE_OK);
}

static void claim(fixture *f, uint32_t count, uint32_t index)
{
    vyre_io_request request;
    vyre_diag diag;
    assert_int_equal(vyre_io_claim(f->words, count * (size_t)REQUEST_SIZE, index, &request, &diag),
                     VYRE_OK);
}

/* ---- Sizes and memory ---------------------------------------------------------------------------
 */

static void test_io_check_takes_whole_requests_up_to_the_limit(void **state)
{
    (void)state;
    fixture f;
    init(&f, SLOTS);
    vyre_diag diag;
    assert_int_equal(vyre_io_check(NULL, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_io_check(f.words, 0, &diag), VYRE_OK);
    for (uint32_t count = 1; count <= SLOTS; count++) {
        size_t size = count * (size_t)REQUEST_SIZE;
        assert_int_equal(vyre_io_check(f.words, size, &diag), VYRE_OK);
        assert_int_equal(diag.code, VYRE_OK);
        static const int off[] = {-31, -4, -1, 1, 4, 16, 31};
        for (size_t i = 0; i < VY_COUNT_OF(off); i++) {
            size_t wrong = size + (size_t)(ptrdiff_t)off[i];
            assert_refused(vyre_io_check(f.words, wrong, &diag), INVALID_ARGUMENT, &diag,
                           "an I/O queue|a multiple of 32");
        }
    }
    assert_refused(vyre_io_check(f.words, MAX_SIZE + REQUEST_SIZE, &diag), INVALID_ARGUMENT, &diag,
                   "65 requests|at most 64");
    assert_refused(vyre_io_check(f.words, (size_t) - (ptrdiff_t)REQUEST_SIZE, &diag),
                   INVALID_ARGUMENT, &diag, "at most 64");
    assert_int_equal(vyre_io_check(f.words, 31, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_kept(&f);
}

typedef struct broken {
    void *queue;
    size_t size;
    const char *parts;
} broken;

/* Every function refuses what is no queue before it looks at anything else. */
static void refuse_all(const broken *b, fixture *f)
{
    vyre_diag diag;
    vyre_io_request request = a_request(0), out = request;
    vyre_io_completion completion = {0, VYRE_IO_OK};
    uint32_t indices[SLOTS], kept[SLOTS], count = 99;
    memset(indices, 0x5a, sizeof indices);
    memcpy(kept, indices, sizeof kept);
    keep(f);
    assert_refused(vyre_io_check(b->queue, b->size, &diag), INVALID_ARGUMENT, &diag, b->parts);
    assert_refused(vyre_io_clear(b->queue, b->size, &diag), INVALID_ARGUMENT, &diag, b->parts);
    assert_refused(vyre_io_publish(b->queue, b->size, 0, &request, &diag), INVALID_ARGUMENT, &diag,
                   b->parts);
    assert_refused(vyre_io_poll(b->queue, b->size, indices, &count, &diag), INVALID_ARGUMENT, &diag,
                   b->parts);
    assert_refused(vyre_io_claim(b->queue, b->size, 0, &out, &diag), INVALID_ARGUMENT, &diag,
                   b->parts);
    assert_refused(vyre_io_complete(b->queue, b->size, &completion, 1, &diag), INVALID_ARGUMENT,
                   &diag, b->parts);
    assert_refused(vyre_io_release(b->queue, b->size, 0, &diag), INVALID_ARGUMENT, &diag, b->parts);
    assert_kept(f);
    assert_int_equal(count, 99);
    assert_memory_equal(indices, kept, sizeof kept);
    assert_true(is_same(&request, &out));
}

static void test_io_functions_refuse_what_is_no_queue(void **state)
{
    (void)state;
    fixture f;
    init(&f, SLOTS);
    publish(&f, SLOTS, 0);
    char *start = bytes(&f);
    const broken cases[] = {
        {start, 31, "31 bytes"},
        {start, 33, "33 bytes"},
        {start, MAX_SIZE - 1, "2047 bytes"},
        {start, MAX_SIZE + 1, "2049 bytes"},
        {start, MAX_SIZE + REQUEST_SIZE, "65 requests|at most 64"},
        {start + 1, REQUEST_SIZE, "not aligned to 4 bytes"},
        {start + 2, MAX_SIZE, "not aligned to 4 bytes"},
        {start + 3, REQUEST_SIZE, "not aligned to 4 bytes"},
        {NULL, REQUEST_SIZE, "NULL"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        refuse_all(&cases[i], &f);
    }
}

static void test_io_clear_empties_1_to_64_requests(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 63, 64};
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        fixture f;
        init(&f, counts[i]);
        size_t words = counts[i] * (size_t)VYRE_IO_WORDS;
        for (size_t w = 0; w < VY_COUNT_OF(f.words); w++) {
            assert_true(f.words[w] == (w < words ? 0 : 0x5a5a5a5au));
        }
        /* Whatever lay there is gone. */
        publish(&f, counts[i], counts[i] - 1);
        claim(&f, counts[i], counts[i] - 1);
        vyre_diag diag;
        assert_int_equal(vyre_io_clear(f.words, words * 4, &diag), VYRE_OK);
        assert_kept(&f);
    }
    fixture f;
    init(&f, SLOTS);
    vyre_diag diag;
    assert_refused(vyre_io_clear(f.words, 0, &diag), INVALID_ARGUMENT, &diag, "0 requests|1 to 64");
    assert_refused(vyre_io_clear(NULL, 0, &diag), INVALID_ARGUMENT, &diag, "0 requests|1 to 64");
    assert_kept(&f);
}

static void test_io_queue_of_no_requests_has_none(void **state)
{
    (void)state;
    vyre_diag diag;
    uint32_t indices[SLOTS], count = 99;
    vyre_io_request request = a_request(0);
    vyre_io_completion completion = {0, VYRE_IO_OK};
    assert_int_equal(vyre_io_poll(NULL, 0, indices, &count, &diag), VYRE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(vyre_io_complete(NULL, 0, NULL, 0, &diag), VYRE_OK);
    assert_refused(vyre_io_publish(NULL, 0, 0, &request, &diag), INVALID_ARGUMENT, &diag,
                   "no request 0 in an I/O queue of 0");
    assert_refused(vyre_io_claim(NULL, 0, 0, &request, &diag), INVALID_ARGUMENT, &diag,
                   "no request 0 in an I/O queue of 0");
    assert_refused(vyre_io_release(NULL, 0, 0, &diag), INVALID_ARGUMENT, &diag,
                   "no request 0 in an I/O queue of 0");
    assert_refused(vyre_io_complete(NULL, 0, &completion, 1, &diag), INVALID_ARGUMENT, &diag,
                   "request 0|queue of 0");
}

static void test_io_functions_refuse_requests_beyond_the_queue(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 63, 64};
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        fixture f;
        init(&f, counts[i]);
        size_t size = counts[i] * (size_t)REQUEST_SIZE;
        const uint32_t beyond[] = {counts[i], counts[i] + 1, 0x08000000, UINT32_MAX};
        for (size_t b = 0; b < VY_COUNT_OF(beyond); b++) {
            vyre_diag diag;
            vyre_io_request request = a_request(0), out = a_request(5), same = out;
            vyre_io_completion completion = {beyond[b], VYRE_IO_OK};
            assert_refused(vyre_io_publish(f.words, size, beyond[b], &request, &diag),
                           INVALID_ARGUMENT, &diag, "there is no request");
            assert_refused(vyre_io_claim(f.words, size, beyond[b], &out, &diag), INVALID_ARGUMENT,
                           &diag, "there is no request");
            assert_refused(vyre_io_release(f.words, size, beyond[b], &diag), INVALID_ARGUMENT,
                           &diag, "there is no request");
            assert_refused(vyre_io_complete(f.words, size, &completion, 1, &diag), INVALID_ARGUMENT,
                           &diag, "completion 0|has not");
            assert_true(is_same(&out, &same));
            assert_kept(&f);
        }
    }
}

static void test_io_functions_refuse_null_arguments(void **state)
{
    (void)state;
    fixture f;
    init(&f, 2);
    publish(&f, 2, 0);
    keep(&f);
    vyre_diag diag;
    uint32_t indices[SLOTS] = {7}, count = 99;
    assert_refused(vyre_io_publish(f.words, 64, 1, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "request is NULL");
    assert_refused(vyre_io_poll(f.words, 64, NULL, &count, &diag), INVALID_ARGUMENT, &diag,
                   "out_indices");
    assert_refused(vyre_io_poll(f.words, 64, indices, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "out_count");
    assert_refused(vyre_io_claim(f.words, 64, 0, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "out_request is NULL");
    assert_refused(vyre_io_complete(f.words, 64, NULL, 1, &diag), INVALID_ARGUMENT, &diag,
                   "completions is NULL");
    assert_int_equal(count, 99);
    assert_int_equal(indices[0], 7);
    assert_kept(&f);
}

/* ---- The life of a request ----------------------------------------------------------------------
 */

static void test_io_publish_writes_the_words_of_one_request(void **state)
{
    (void)state;
    fixture f;
    init(&f, 3);
    vyre_io_request request = {VYRE_IO_WRITE,       0x11121314, 0x21222324,
                               0x3132333441424344u, 0x51525354, 0x61626364};
    assert_int_equal(vyre_io_publish(f.words, 96, 1, &request, NULL), VYRE_OK);
    const uint32_t wanted[VYRE_IO_WORDS] = {
        little(2),          little(0x11121314), little(0x21222324), little(0x41424344),
        little(0x31323334), little(0x51525354), little(1),          little(0x61626364)};
    memcpy(&f.before[VYRE_IO_WORDS], wanted, sizeof wanted);
    assert_kept(&f);
}

static void test_io_publish_refuses_unknown_operations(void **state)
{
    (void)state;
    fixture f;
    init(&f, SLOTS);
    static const uint32_t ops[] = {0, 4, 0x10, 0x7fffffff, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(ops); i++) {
        vyre_diag diag;
        vyre_io_request request = a_request(0);
        request.op = (vyre_io_op)ops[i];
        assert_refused(vyre_io_publish(f.words, MAX_SIZE, 3, &request, &diag), INVALID_ARGUMENT,
                       &diag, "is no operation|READ (1), WRITE (2) or FENCE (3)");
        assert_kept(&f);
    }
}

static const struct {
    uint32_t status;
    const char *text;
} statuses[] = {{0, "is EMPTY"},
                {1, "is PUBLISHED"},
                {2, "is CLAIMED"},
                {3, "is DONE"},
                {4, "is WAIT_IO"},
                {5, "is YIELD"},
                {6, "is REQUEUE"},
                {7, "is FAULT"},
                {8, "is of unknown status 8"},
                {0x0f, "status 15"},
                {0x10, "is OK"},
                {0x11, "is ERROR"},
                {0x12, "status 18"},
                {0x01000000, "status 16777216"},
                {UINT32_MAX, "status 4294967295"}};

/* Of each function with each status: only one leads on. */
static void test_io_functions_go_by_the_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(statuses); i++) {
        uint32_t status = statuses[i].status;
        const char *text = statuses[i].text;
        vyre_diag diag;
        fixture f;
        vyre_io_request request = a_request(4), out = request;
        vyre_io_completion completion = {1, VYRE_IO_ERROR};
        init(&f, 3);
        *status_of(&f, 1) = little(status);
        keep(&f);
        if (status != VYRE_STATUS_EMPTY) {
            assert_refused(vyre_io_publish(f.words, 96, 1, &request, &diag), BUSY, &diag, text);
        }
        if (status != VYRE_STATUS_PUBLISHED) {
            assert_refused(vyre_io_claim(f.words, 96, 1, &out, &diag), BUSY, &diag, text);
            assert_true(is_same(&request, &out));
        }
        if (status != VYRE_STATUS_CLAIMED) {
            assert_refused(vyre_io_complete(f.words, 96, &completion, 1, &diag), INVALID_ARGUMENT,
                           &diag, text);
        }
        if (status == VYRE_STATUS_PUBLISHED || status == VYRE_STATUS_CLAIMED) {
            assert_refused(vyre_io_release(f.words, 96, 1, &diag), BUSY, &diag, text);
        } else if (status != VYRE_IO_OK && status != VYRE_IO_ERROR) {
            assert_refused(vyre_io_release(f.words, 96, 1, &diag), INVALID_ARGUMENT, &diag, text);
        }
        assert_kept(&f);
        uint32_t indices[SLOTS], count = 99;
        assert_int_equal(vyre_io_poll(f.words, 96, indices, &count, &diag), VYRE_OK);
        assert_int_equal(count, status == VYRE_STATUS_PUBLISHED);
        assert_kept(&f);
    }
}

static void test_io_requests_go_round(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 64};
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        uint32_t count = counts[i], index = count - 1;
        size_t size = count * (size_t)REQUEST_SIZE;
        fixture f;
        init(&f, count);
        vyre_diag diag;
        for (uint32_t round = 0; round < 6; round++) {
            vyre_io_request request = a_request(round), out;
            uint32_t end = round % 2 ? VYRE_IO_OK : VYRE_IO_ERROR;
            vyre_io_completion completion = {index, end};
            assert_int_equal(vyre_io_publish(f.words, size, index, &request, &diag), VYRE_OK);
            memcpy(f.before, f.words, sizeof f.before);
            f.before[index * VYRE_IO_WORDS + VYRE_IO_STATUS] = little(VYRE_STATUS_CLAIMED);
            assert_int_equal(vyre_io_claim(f.words, size, index, &out, &diag), VYRE_OK);
            assert_true(is_same(&request, &out));
            assert_kept(&f);
            f.before[index * VYRE_IO_WORDS + VYRE_IO_STATUS] = little(end);
            assert_int_equal(vyre_io_complete(f.words, size, &completion, 1, &diag), VYRE_OK);
            assert_kept(&f);
            f.before[index * VYRE_IO_WORDS + VYRE_IO_STATUS] = little(VYRE_STATUS_EMPTY);
            assert_int_equal(vyre_io_release(f.words, size, index, &diag), VYRE_OK);
            assert_int_equal(diag.code, VYRE_OK);
            assert_kept(&f);
        }
    }
}

static void test_io_claim_gives_out_operations_that_are_none(void **state)
{
    (void)state;
    fixture f;
    init(&f, 1);
    publish(&f, 1, 0);
    f.words[VYRE_IO_OP] = little(77);
    vyre_io_request out;
    assert_int_equal(vyre_io_claim(f.words, 32, 0, &out, NULL), VYRE_OK);
    assert_int_equal((uint32_t)out.op, 77);
    vyre_io_completion completion = {0, VYRE_IO_ERROR};
    assert_int_equal(vyre_io_complete(f.words, 32, &completion, 1, NULL), VYRE_OK);
}

static void test_io_poll_lists_what_is_published_and_claims_nothing(void **state)
{
    (void)state;
    fixture f;
    init(&f, SLOTS);
    uint32_t indices[SLOTS], count = 99;
    vyre_diag diag;
    assert_int_equal(vyre_io_poll(f.words, MAX_SIZE, indices, &count, &diag), VYRE_OK);
    assert_int_equal(count, 0);
    for (uint32_t i = 0; i < SLOTS; i += 3) {
        publish(&f, SLOTS, i);
    }
    claim(&f, SLOTS, 6);
    keep(&f);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(vyre_io_poll(f.words, MAX_SIZE, indices, &count, &diag), VYRE_OK);
        assert_int_equal(count, 21);
        for (uint32_t i = 0, at = 0; i < SLOTS; i += 3) {
            if (i != 6) {
                assert_int_equal(indices[at++], i);
            }
        }
        assert_kept(&f);
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (i % 3 != 0) {
            publish(&f, SLOTS, i);
        }
    }
    assert_int_equal(vyre_io_poll(f.words, MAX_SIZE, indices, &count, &diag), VYRE_OK);
    assert_int_equal(count, SLOTS - 1);
}

/* ---- Completions --------------------------------------------------------------------------------
 */

static void test_io_completes_64_requests_at_once_and_no_more(void **state)
{
    (void)state;
    fixture f;
    init(&f, SLOTS);
    vyre_io_completion completions[SLOTS + 1];
    for (uint32_t i = 0; i < SLOTS; i++) {
        publish(&f, SLOTS, i);
        claim(&f, SLOTS, i);
        completions[i] = (vyre_io_completion){SLOTS - 1 - i, i % 2 ? VYRE_IO_OK : VYRE_IO_ERROR};
    }
    completions[SLOTS] = completions[0];
    keep(&f);
    vyre_diag diag;
    assert_refused(vyre_io_complete(f.words, MAX_SIZE, completions, SLOTS + 1, &diag),
                   INVALID_ARGUMENT, &diag, "65 completions|64 requests");
    assert_refused(vyre_io_complete(f.words, MAX_SIZE, completions, UINT32_MAX, &diag),
                   INVALID_ARGUMENT, &diag, "4294967295 completions|64 requests");
    assert_int_equal(vyre_io_complete(f.words, MAX_SIZE, completions, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_io_complete(f.words, MAX_SIZE, NULL, 0, &diag), VYRE_OK);
    assert_kept(&f);
    assert_int_equal(vyre_io_complete(f.words, MAX_SIZE, completions, SLOTS, &diag), VYRE_OK);
    for (uint32_t i = 0; i < SLOTS; i++) {
        f.before[(SLOTS - 1 - i) * VYRE_IO_WORDS + VYRE_IO_STATUS] =
            little(i % 2 ? VYRE_IO_OK : VYRE_IO_ERROR);
    }
    assert_kept(&f);
    /* Twice is once too often. */
    assert_refused(vyre_io_complete(f.words, MAX_SIZE, completions, 1, &diag), INVALID_ARGUMENT,
                   &diag, "request 63|is ERROR and not CLAIMED");
    assert_kept(&f);
}

/* One bad completion at each place among good ones. */
static void test_io_complete_is_all_or_nothing(void **state)
{
    (void)state;
    static const struct {
        vyre_io_completion completion;
        const char *parts;
    } bad[] = {
        {{8, VYRE_IO_OK}, "request 8|queue of 8"},
        {{UINT32_MAX, VYRE_IO_OK}, "request 4294967295|queue of 8"},
        {{5, VYRE_IO_OK}, "request 5|is EMPTY and not CLAIMED"},
        {{6, VYRE_IO_ERROR}, "request 6|is PUBLISHED and not CLAIMED"},
        {{7, VYRE_IO_OK}, "request 7|is OK and not CLAIMED"},
        {{4, 0}, "status 0x0|OK (0x10) or ERROR (0x11)"},
        {{4, VYRE_STATUS_DONE}, "status 0x3|OK (0x10) or ERROR (0x11)"},
        {{4, 0x12}, "status 0x12|OK (0x10) or ERROR (0x11)"},
    };
    fixture f;
    init(&f, 8);
    for (uint32_t i = 0; i < 8; i++) {
        if (i != 5) {
            publish(&f, 8, i);
        }
        if (i < 5 || i == 7) {
            claim(&f, 8, i);
        }
    }
    vyre_diag diag;
    vyre_io_completion done = {7, VYRE_IO_OK};
    assert_int_equal(vyre_io_complete(f.words, 256, &done, 1, &diag), VYRE_OK);
    keep(&f);
    for (size_t b = 0; b < VY_COUNT_OF(bad); b++) {
        for (uint32_t place = 0; place < 5; place++) {
            vyre_io_completion list[5];
            char text[32];
            for (uint32_t i = 0, good = 0; i < 5; i++) {
                list[i] = i == place ? bad[b].completion : (vyre_io_completion){good++, VYRE_IO_OK};
            }
            snprintf(text, sizeof text, "completion %u", place);
            assert_refused(vyre_io_complete(f.words, 256, list, 5, &diag), INVALID_ARGUMENT, &diag,
                           bad[b].parts);
            assert_non_null(strstr(diag.message, text));
            assert_kept(&f);
        }
    }
    /* The same request twice, even with the same status. */
    vyre_io_completion twice[] = {{0, VYRE_IO_OK}, {1, VYRE_IO_OK}, {0, VYRE_IO_OK}};
    assert_refused(vyre_io_complete(f.words, 256, twice, 3, &diag), INVALID_ARGUMENT, &diag,
                   "completion 2|request 0|before it");
    assert_kept(&f);
    assert_int_equal(vyre_io_complete(f.words, 256, twice, 3, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_io_complete(f.words, 256, twice, 2, &diag), VYRE_OK);
}

/* ---- Threads ------------------------------------------------------------------------------------
 */

#define CLAIMERS 4
#define ROUNDS   50

typedef struct race {
    uint32_t queue[SLOTS * VYRE_IO_WORDS];
    atomic_uint waiting;       /* threads that have not begun */
    atomic_uint claims[SLOTS]; /* how often each request was claimed */
    atomic_uint served;        /* requests completed */
    atomic_uint wrong;         /* anything that must not be */
    uint32_t total;            /* requests in all */
} race;

typedef struct claimer {
    race *race;
    uint32_t number;
} claimer;

static vy_thread_result VY_THREAD_CALL claim_all(void *argument)
{
    claimer *self = argument;
    race *r = self->race;
    atomic_fetch_sub(&r->waiting, 1);
    while (atomic_load(&r->waiting) != 0) {
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t index = (i + self->number) % SLOTS;
        vyre_diag diag;
        vyre_io_request out, wanted = a_request(index);
        vyre_result code = vyre_io_claim(r->queue, sizeof r->queue, index, &out, &diag);
        if (code == VYRE_OK) {
            vyre_io_completion completion = {index, VYRE_IO_OK};
            atomic_fetch_add(&r->claims[index], 1);
            atomic_fetch_add(&r->wrong, !is_same(&out, &wanted));
            code = vyre_io_complete(r->queue, sizeof r->queue, &completion, 1, &diag);
            atomic_fetch_add(&r->wrong, code != VYRE_OK);
        } else {
            atomic_fetch_add(&r->wrong, code != VYRE_ERROR_BUSY);
        }
    }
    return 0;
}

static void test_io_claim_is_for_one_of_four_threads(void **state)
{
    (void)state;
    static race r;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        assert_int_equal(vyre_io_clear(r.queue, sizeof r.queue, NULL), VYRE_OK);
        for (uint32_t i = 0; i < SLOTS; i++) {
            vyre_io_request request = a_request(i);
            atomic_store(&r.claims[i], 0);
            assert_int_equal(vyre_io_publish(r.queue, sizeof r.queue, i, &request, NULL), VYRE_OK);
        }
        atomic_store(&r.waiting, CLAIMERS);
        vy_thread threads[CLAIMERS];
        claimer claimers[CLAIMERS];
        for (uint32_t t = 0; t < CLAIMERS; t++) {
            claimers[t] = (claimer){&r, t};
            assert_int_equal(vy_thread_start(&threads[t], claim_all, &claimers[t]), 0);
        }
        for (uint32_t t = 0; t < CLAIMERS; t++) {
            vy_thread_join(threads[t]);
        }
        assert_int_equal(atomic_load(&r.wrong), 0);
        for (uint32_t i = 0; i < SLOTS; i++) {
            assert_int_equal(atomic_load(&r.claims[i]), 1);
            assert_int_equal(vyre_io_release(r.queue, sizeof r.queue, i, NULL), VYRE_OK);
        }
    }
}

static vy_thread_result VY_THREAD_CALL serve(void *argument)
{
    race *r = argument;
    while (atomic_load(&r->served) < r->total) {
        uint32_t indices[SLOTS], count = 0;
        if (vyre_io_poll(r->queue, sizeof r->queue, indices, &count, NULL) != VYRE_OK) {
            atomic_fetch_add(&r->wrong, 1);
        }
        for (uint32_t i = 0; i < count; i++) {
            vyre_io_request out, wanted;
            if (vyre_io_claim(r->queue, sizeof r->queue, indices[i], &out, NULL) != VYRE_OK) {
                continue;
            }
            wanted = a_request(out.tag - 600);
            atomic_fetch_add(&r->wrong, !is_same(&out, &wanted));
            vyre_io_completion completion = {indices[i], VYRE_IO_ERROR};
            atomic_fetch_add(&r->wrong, vyre_io_complete(r->queue, sizeof r->queue, &completion, 1,
                                                         NULL) != VYRE_OK);
            atomic_fetch_add(&r->served, 1);
        }
    }
    return 0;
}

/* One thread publishes and releases while three serve: every request is whole, and served once. */
static void test_io_requests_are_whole_while_others_are_published(void **state)
{
    (void)state;
    static race r;
    r.total = 2000;
    assert_int_equal(vyre_io_clear(r.queue, sizeof r.queue, NULL), VYRE_OK);
    vy_thread threads[3];
    for (uint32_t t = 0; t < 3; t++) {
        assert_int_equal(vy_thread_start(&threads[t], serve, &r), 0);
    }
    uint32_t published = 0, released = 0, wrong = 0;
    while (released < r.total && !wrong) {
        for (uint32_t i = 0; i < SLOTS; i++) {
            vyre_result code = vyre_io_release(r.queue, sizeof r.queue, i, NULL);
            released += code == VYRE_OK;
            if (code != VYRE_ERROR_BUSY && published < r.total) {
                vyre_io_request request = a_request(published);
                wrong += vyre_io_publish(r.queue, sizeof r.queue, i, &request, NULL) != VYRE_OK;
                published++;
            }
        }
    }
    if (wrong) {
        atomic_store(&r.served, r.total);
    }
    for (uint32_t t = 0; t < 3; t++) {
        vy_thread_join(threads[t]);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(atomic_load(&r.wrong), 0);
    assert_int_equal(atomic_load(&r.served), r.total);
    assert_int_equal(released, r.total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_io_check_takes_whole_requests_up_to_the_limit),
        cmocka_unit_test(test_io_functions_refuse_what_is_no_queue),
        cmocka_unit_test(test_io_clear_empties_1_to_64_requests),
        cmocka_unit_test(test_io_queue_of_no_requests_has_none),
        cmocka_unit_test(test_io_functions_refuse_requests_beyond_the_queue),
        cmocka_unit_test(test_io_functions_refuse_null_arguments),
        cmocka_unit_test(test_io_publish_writes_the_words_of_one_request),
        cmocka_unit_test(test_io_publish_refuses_unknown_operations),
        cmocka_unit_test(test_io_functions_go_by_the_status),
        cmocka_unit_test(test_io_requests_go_round),
        cmocka_unit_test(test_io_claim_gives_out_operations_that_are_none),
        cmocka_unit_test(test_io_poll_lists_what_is_published_and_claims_nothing),
        cmocka_unit_test(test_io_completes_64_requests_at_once_and_no_more),
        cmocka_unit_test(test_io_complete_is_all_or_nothing),
        cmocka_unit_test(test_io_claim_is_for_one_of_four_threads),
        cmocka_unit_test(test_io_requests_are_whole_while_others_are_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tenants: quotas at their limits, what is refused, quiescing, selection, failing memory. */
#include "tests/megakernel/refused.h"

#include "codegen/base/base.h"
#include "codegen/base/thread.h"
#include "tests/support/fail_allocator.h"
#include "vyre/megakernel.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define FOREVER UINT64_MAX
#define MS      1000000u

/* ---- The book and its quotas --------------------------------------------------------------------
 */

static vyre_tenants *make(uint32_t count)
{
    vyre_tenants *tenants = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_tenants_create(count, NULL, &tenants, &diag), VYRE_OK);
    assert_non_null(tenants);
    return tenants;
}

static vyre_tenant_quota q(uint32_t slots, uint32_t handles, uint64_t staging_size)
{
    return (vyre_tenant_quota){slots, handles, staging_size};
}

static void assert_amount(vyre_tenant_quota got, vyre_tenant_quota wanted)
{
    assert_int_equal(got.slots, wanted.slots);
    assert_int_equal(got.handles, wanted.handles);
    assert_true(got.staging_size == wanted.staging_size);
}

static void assert_book(vyre_tenants *tenants, uint32_t tenant, vyre_tenant_quota held,
                        vyre_tenant_quota quota)
{
    vyre_tenant_quota got_held, got_quota;
    assert_int_equal(vyre_tenants_query(tenants, tenant, &got_held, &got_quota, NULL), VYRE_OK);
    assert_amount(got_held, held);
    assert_amount(got_quota, quota);
}

static void set(vyre_tenants *tenants, uint32_t tenant, vyre_tenant_quota quota)
{
    vyre_diag diag;
    assert_int_equal(vyre_tenants_set_quota(tenants, tenant, &quota, &diag), VYRE_OK);
    assert_int_equal(diag.code, VYRE_OK);
}

static vyre_result acquire(vyre_tenants *tenants, uint32_t tenant, vyre_tenant_quota amount,
                           vyre_diag *diag)
{
    return vyre_tenants_acquire(tenants, tenant, &amount, diag);
}

static vyre_result release(vyre_tenants *tenants, uint32_t tenant, vyre_tenant_quota amount,
                           vyre_diag *diag)
{
    return vyre_tenants_release(tenants, tenant, &amount, diag);
}

static void test_tenants_are_1_to_29(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 28, 29};
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        vyre_tenants *tenants = make(counts[i]);
        for (uint32_t t = 0; t < counts[i]; t++) {
            assert_book(tenants, t, q(0, 0, 0), q(0, 0, 0));
        }
        assert_int_equal(vyre_tenants_query(tenants, counts[i], NULL, NULL, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        vyre_tenants_destroy(&tenants);
        assert_null(tenants);
    }
    static const uint32_t wrong[] = {0, 30, 32, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        int anything = 0;
        vyre_tenants *tenants = (vyre_tenants *)(void *)&anything;
        vyre_diag diag;
        assert_refused(vyre_tenants_create(wrong[i], NULL, &tenants, &diag), INVALID_ARGUMENT,
                       &diag, "1 to 29");
        assert_null(tenants);
    }
    vyre_diag diag;
    assert_refused(vyre_tenants_create(1, NULL, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "out_tenants is NULL");
    vyre_tenants *none = NULL;
    vyre_tenants_destroy(&none);
    vyre_tenants_destroy(NULL);
}

static void test_tenants_survive_each_failed_allocation(void **state)
{
    (void)state;
    bool is_made = false;
    for (size_t n = 1; !is_made; n++) {
        assert_true(n < 10);
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_tenants *tenants = NULL;
        vyre_diag diag;
        vyre_result code = vyre_tenants_create(VYRE_MAX_TENANTS, &allocator, &tenants, &diag);
        is_made = code == VYRE_OK;
        if (is_made) {
            assert_true(memory.calls > 0);
            allocator = (vyre_allocator){NULL, NULL}; /* what is kept is a copy */
            set(tenants, 28, q(3, 3, 3));
            assert_int_equal(acquire(tenants, 28, q(1, 1, 1), &diag), VYRE_OK);
        } else {
            assert_refused(code, OUT_OF_HOST_MEMORY, &diag, "memory");
            assert_null(tenants);
        }
        vyre_tenants_destroy(&tenants);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
    }
}

/* Every function with a tenant that there is not: 29 is none, and neither is what lies behind. */
static void test_tenants_refuse_those_that_are_none(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(29);
    const vyre_tenant_quota one = q(1, 1, 1);
    set(tenants, 28, q(2, 2, 2));
    vyre_diag diag;
    assert_int_equal(acquire(tenants, 28, one, &diag), VYRE_OK);
    static const uint32_t wrong[] = {29, 30, 31, 32, 61, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        uint32_t t = wrong[i];
        const char *parts = "there is no tenant|book of 29|below 29";
        vyre_tenant_quota held = q(7, 8, 9), quota = q(4, 5, 6);
        assert_refused(vyre_tenants_set_quota(tenants, t, &one, &diag), INVALID_ARGUMENT, &diag,
                       parts);
        assert_refused(acquire(tenants, t, one, &diag), INVALID_ARGUMENT, &diag, parts);
        assert_refused(release(tenants, t, one, &diag), INVALID_ARGUMENT, &diag, parts);
        assert_refused(vyre_tenants_query(tenants, t, &held, &quota, &diag), INVALID_ARGUMENT,
                       &diag, parts);
        assert_refused(vyre_tenants_quiesce(tenants, t, 0, &diag), INVALID_ARGUMENT, &diag, parts);
        assert_refused(vyre_tenants_admit(tenants, t, &diag), INVALID_ARGUMENT, &diag, parts);
        assert_amount(held, q(7, 8, 9));
        assert_amount(quota, q(4, 5, 6));
    }
    for (uint32_t t = 0; t < 28; t++) {
        assert_book(tenants, t, q(0, 0, 0), q(0, 0, 0));
    }
    assert_book(tenants, 28, one, q(2, 2, 2));
    vyre_tenants_destroy(&tenants);
}

static void test_tenants_refuse_null_arguments(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(1);
    vyre_tenant_quota one = q(1, 1, 1);
    vyre_diag diag;
    assert_refused(vyre_tenants_set_quota(NULL, 0, &one, &diag), INVALID_ARGUMENT, &diag,
                   "tenants is NULL");
    assert_refused(acquire(NULL, 0, one, &diag), INVALID_ARGUMENT, &diag, "tenants is NULL");
    assert_refused(release(NULL, 0, one, &diag), INVALID_ARGUMENT, &diag, "tenants is NULL");
    assert_refused(vyre_tenants_query(NULL, 0, &one, &one, &diag), INVALID_ARGUMENT, &diag,
                   "tenants is NULL");
    assert_refused(vyre_tenants_quiesce(NULL, 0, 0, &diag), INVALID_ARGUMENT, &diag,
                   "tenants is NULL");
    assert_refused(vyre_tenants_admit(NULL, 0, &diag), INVALID_ARGUMENT, &diag, "tenants is NULL");
    assert_refused(vyre_tenants_set_quota(tenants, 0, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "quota is NULL");
    assert_refused(vyre_tenants_acquire(tenants, 0, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "amount is NULL");
    assert_refused(vyre_tenants_release(tenants, 0, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "amount is NULL");
    assert_int_equal(vyre_tenants_query(tenants, 0, &one, NULL, &diag), VYRE_OK);
    assert_int_equal(vyre_tenants_query(tenants, 0, NULL, &one, &diag), VYRE_OK);
    assert_int_equal(vyre_tenants_query(tenants, 0, NULL, NULL, &diag), VYRE_OK);
    vyre_tenants_destroy(&tenants);
}

/* Each part by itself: 0 slots, 1 handles, 2 staging. */
static vyre_tenant_quota in_part(int part, uint64_t value, vyre_tenant_quota other)
{
    if (part == 0) {
        other.slots = (uint32_t)value;
    } else if (part == 1) {
        other.handles = (uint32_t)value;
    } else {
        other.staging_size = value;
    }
    return other;
}

static const char *const parts[] = {"slots", "handles", "bytes of staging"};

static void test_tenants_hold_up_to_their_quota_in_each_part(void **state)
{
    (void)state;
    static const uint64_t limits[] = {1, 2, 1000000, UINT32_MAX, UINT64_MAX};
    for (int part = 0; part < 3; part++) {
        for (size_t i = 0; i < VY_COUNT_OF(limits); i++) {
            uint64_t limit = limits[i];
            if (part < 2 && limit > UINT32_MAX) {
                continue;
            }
            vyre_tenants *tenants = make(3);
            vyre_diag diag;
            vyre_tenant_quota quota = in_part(part, limit, q(10, 10, 10)), one = q(1, 1, 1);
            set(tenants, 1, quota);
            vyre_tenant_quota less = in_part(part, limit - 1, q(2, 2, 2));
            assert_int_equal(acquire(tenants, 1, less, &diag), VYRE_OK);
            vyre_tenant_quota two = in_part(part, 2, one);
            char text[64];
            snprintf(text, sizeof text, "tenant 1 holds %" PRIu64 " of the %" PRIu64 " %s",
                     limit - 1, limit, parts[part]);
            assert_refused(acquire(tenants, 1, two, &diag), BUSY, &diag, text);
            assert_book(tenants, 1, less, quota);
            assert_int_equal(acquire(tenants, 1, one, &diag), VYRE_OK);
            vyre_tenant_quota all = in_part(part, limit, q(3, 3, 3));
            assert_book(tenants, 1, all, quota);
            assert_refused(acquire(tenants, 1, one, &diag), BUSY, &diag, parts[part]);
            uint64_t most = part < 2 ? UINT32_MAX : UINT64_MAX; /* would wrap if added */
            assert_refused(acquire(tenants, 1, in_part(part, most, one), &diag), BUSY, &diag,
                           parts[part]);
            assert_int_equal(acquire(tenants, 1, in_part(part, 0, one), &diag), VYRE_OK);
            assert_int_equal(release(tenants, 1, in_part(part, 0, one), &diag), VYRE_OK);
            assert_int_equal(release(tenants, 1, all, &diag), VYRE_OK);
            assert_int_equal(acquire(tenants, 1, in_part(part, limit, one), &diag), VYRE_OK);
            assert_book(tenants, 0, q(0, 0, 0), q(0, 0, 0));
            assert_book(tenants, 2, q(0, 0, 0), q(0, 0, 0));
            vyre_tenants_destroy(&tenants);
        }
    }
}

static void test_tenants_without_quota_hold_nothing(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(29);
    vyre_diag diag;
    assert_int_equal(acquire(tenants, 28, q(0, 0, 0), &diag), VYRE_OK);
    for (int part = 0; part < 3; part++) {
        assert_refused(acquire(tenants, 28, in_part(part, 1, q(0, 0, 0)), &diag), BUSY, &diag,
                       "tenant 28 holds 0 of the 0");
        assert_non_null(strstr(diag.message, parts[part]));
    }
    assert_book(tenants, 28, q(0, 0, 0), q(0, 0, 0));
    vyre_tenants_destroy(&tenants);
}

static void test_tenants_release_no_more_than_they_hold(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(2);
    const vyre_tenant_quota quota = q(10, 10, 10), held = q(4, 5, 6);
    vyre_diag diag;
    set(tenants, 0, quota);
    set(tenants, 1, quota);
    assert_int_equal(acquire(tenants, 0, held, &diag), VYRE_OK);
    assert_int_equal(acquire(tenants, 1, quota, &diag), VYRE_OK);
    for (int part = 0; part < 3; part++) {
        char text[64];
        snprintf(text, sizeof text, "gives %d %s back and holds %d", part + 5, parts[part],
                 part + 4);
        vyre_tenant_quota more = in_part(part, (uint64_t)part + 5, q(1, 1, 1));
        assert_refused(release(tenants, 0, more, &diag), INVALID_ARGUMENT, &diag, text);
        more = in_part(part, part < 2 ? UINT32_MAX : UINT64_MAX, q(1, 1, 1));
        assert_refused(release(tenants, 0, more, &diag), INVALID_ARGUMENT, &diag, parts[part]);
        assert_book(tenants, 0, held, quota);
    }
    assert_int_equal(release(tenants, 0, q(0, 0, 0), &diag), VYRE_OK);
    assert_int_equal(release(tenants, 0, q(3, 4, 5), &diag), VYRE_OK);
    assert_int_equal(release(tenants, 0, q(1, 1, 1), &diag), VYRE_OK);
    assert_refused(release(tenants, 0, q(1, 0, 0), &diag), INVALID_ARGUMENT, &diag, "holds 0");
    assert_book(tenants, 0, q(0, 0, 0), quota);
    assert_book(tenants, 1, quota, quota);
    vyre_tenants_destroy(&tenants);
}

static void test_tenants_quota_is_no_less_than_what_is_held(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(1);
    const vyre_tenant_quota quota = q(10, 10, 10), held = q(4, 5, 6);
    vyre_diag diag;
    set(tenants, 0, quota);
    assert_int_equal(acquire(tenants, 0, held, &diag), VYRE_OK);
    for (int part = 0; part < 3; part++) {
        char text[96];
        snprintf(text, sizeof text, "tenant 0 holds %d %s, and its quota would be %d", part + 4,
                 parts[part], part + 3);
        vyre_tenant_quota less = in_part(part, (uint64_t)part + 3, q(20, 20, 20));
        assert_refused(vyre_tenants_set_quota(tenants, 0, &less, &diag), BUSY, &diag, text);
        assert_book(tenants, 0, held, quota);
    }
    set(tenants, 0, held);
    assert_refused(acquire(tenants, 0, q(1, 0, 0), &diag), BUSY, &diag, "4 of the 4 slots");
    set(tenants, 0, q(UINT32_MAX, UINT32_MAX, UINT64_MAX));
    assert_book(tenants, 0, held, q(UINT32_MAX, UINT32_MAX, UINT64_MAX));
    vyre_tenants_destroy(&tenants);
}

/* ---- Quiescing ----------------------------------------------------------------------------------
 */

static void test_tenants_quiesce_at_once_where_no_slot_is_held(void **state)
{
    (void)state;
    static const uint64_t timeouts[] = {0, 1, FOREVER - 1, FOREVER};
    for (size_t i = 0; i < VY_COUNT_OF(timeouts); i++) {
        vyre_tenants *tenants = make(29);
        vyre_diag diag;
        set(tenants, 28, q(2, 2, 2));
        set(tenants, 27, q(2, 2, 2));
        assert_int_equal(acquire(tenants, 28, q(0, 1, 1), &diag), VYRE_OK); /* not slots */
        assert_int_equal(vyre_tenants_quiesce(tenants, 28, timeouts[i], &diag), VYRE_OK);
        assert_int_equal(vyre_tenants_quiesce(tenants, 28, timeouts[i], &diag), VYRE_OK);
        assert_refused(acquire(tenants, 28, q(1, 0, 0), &diag), BUSY, &diag,
                       "tenant 28 is quiescing|vyre_tenants_admit");
        assert_refused(acquire(tenants, 28, q(0, 0, 0), &diag), BUSY, &diag, "quiescing");
        assert_book(tenants, 28, q(0, 1, 1), q(2, 2, 2));
        assert_int_equal(acquire(tenants, 27, q(1, 1, 1), &diag), VYRE_OK); /* another's affair */
        assert_int_equal(release(tenants, 28, q(0, 1, 1), &diag), VYRE_OK);
        assert_int_equal(vyre_tenants_admit(tenants, 28, &diag), VYRE_OK);
        assert_int_equal(vyre_tenants_admit(tenants, 28, &diag), VYRE_OK);
        assert_int_equal(acquire(tenants, 28, q(2, 2, 2), &diag), VYRE_OK);
        vyre_tenants_destroy(&tenants);
    }
}

static void test_tenants_quiesce_gives_up_in_time(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(1);
    vyre_diag diag;
    set(tenants, 0, q(4, 4, 4));
    assert_int_equal(acquire(tenants, 0, q(3, 0, 0), &diag), VYRE_OK);
    static const uint64_t timeouts[] = {0, 1, 5 * MS};
    for (size_t i = 0; i < VY_COUNT_OF(timeouts); i++) {
        uint64_t start = vy_clock_ns();
        assert_refused(vyre_tenants_quiesce(tenants, 0, timeouts[i], &diag), TIMEOUT, &diag,
                       "tenant 0 still holds 3 slots|none is allowed|vyre_tenants_admit");
        assert_true(vy_clock_ns() - start >= timeouts[i]);
        assert_refused(acquire(tenants, 0, q(1, 0, 0), &diag), BUSY, &diag, "quiescing");
        assert_book(tenants, 0, q(3, 0, 0), q(4, 4, 4));
    }
    assert_int_equal(release(tenants, 0, q(2, 0, 0), &diag), VYRE_OK);
    assert_refused(vyre_tenants_quiesce(tenants, 0, 0, &diag), TIMEOUT, &diag, "holds 1 slots");
    assert_int_equal(release(tenants, 0, q(1, 0, 0), &diag), VYRE_OK);
    assert_int_equal(vyre_tenants_quiesce(tenants, 0, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_tenants_admit(tenants, 0, &diag), VYRE_OK);
    assert_int_equal(acquire(tenants, 0, q(4, 4, 4), &diag), VYRE_OK);
    /* Giving up: what is held stays, and more is admitted. */
    assert_int_equal(vyre_tenants_quiesce(tenants, 0, 0, NULL), VYRE_ERROR_TIMEOUT);
    assert_int_equal(vyre_tenants_admit(tenants, 0, &diag), VYRE_OK);
    assert_refused(acquire(tenants, 0, q(1, 0, 0), &diag), BUSY, &diag, "4 of the 4 slots");
    vyre_tenants_destroy(&tenants);
}

typedef struct other {
    vyre_tenants *tenants;
    uint32_t tenant, slots;
    bool admits;
    atomic_uint wrong;
} other;

/* Waits until the tenant quiesces, that is, until it is refused nothing at all; then gives its
 * slots back one by one, or admits it again. */
static vy_thread_result VY_THREAD_CALL end_quiescing(void *argument)
{
    other *o = argument;
    const vyre_tenant_quota nothing = {0, 0, 0}, one = {1, 0, 0};
    while (vyre_tenants_acquire(o->tenants, o->tenant, &nothing, NULL) == VYRE_OK) {
    }
    if (o->admits) {
        vyre_result code = vyre_tenants_admit(o->tenants, o->tenant, NULL);
        atomic_fetch_add(&o->wrong, code != VYRE_OK);
        return 0;
    }
    for (uint32_t i = 0; i < o->slots; i++) {
        vyre_result code = vyre_tenants_release(o->tenants, o->tenant, &one, NULL);
        atomic_fetch_add(&o->wrong, code != VYRE_OK);
    }
    return 0;
}

static void test_tenants_quiesce_until_another_thread_released(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 30; round++) {
        vyre_tenants *tenants = make(3);
        vyre_diag diag;
        set(tenants, 1, q(100, 0, 0));
        set(tenants, 2, q(1, 0, 0));
        assert_int_equal(acquire(tenants, 1, q(1 + round, 0, 0), &diag), VYRE_OK);
        assert_int_equal(acquire(tenants, 2, q(1, 0, 0), &diag), VYRE_OK);
        other o = {.tenants = tenants, .tenant = 1, .slots = 1 + round};
        vy_thread thread;
        assert_int_equal(vy_thread_start(&thread, end_quiescing, &o), 0);
        vyre_result code = vyre_tenants_quiesce(tenants, 1, FOREVER, &diag);
        vy_thread_join(thread);
        assert_int_equal(code, VYRE_OK);
        assert_int_equal(atomic_load(&o.wrong), 0);
        assert_book(tenants, 1, q(0, 0, 0), q(100, 0, 0));
        assert_book(tenants, 2, q(1, 0, 0), q(1, 0, 0));
        vyre_tenants_destroy(&tenants);
    }
}

static void test_tenants_quiesce_ends_when_another_thread_admits(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(1);
    vyre_diag diag;
    set(tenants, 0, q(5, 0, 0));
    assert_int_equal(acquire(tenants, 0, q(2, 0, 0), &diag), VYRE_OK);
    other o = {.tenants = tenants, .tenant = 0, .admits = true};
    vy_thread thread;
    assert_int_equal(vy_thread_start(&thread, end_quiescing, &o), 0);
    vyre_result code = vyre_tenants_quiesce(tenants, 0, FOREVER, &diag);
    vy_thread_join(thread);
    assert_refused(code, BUSY, &diag, "tenant 0 was admitted again|holds 2 slots");
    assert_int_equal(atomic_load(&o.wrong), 0);
    assert_int_equal(acquire(tenants, 0, q(3, 0, 0), &diag), VYRE_OK);
    vyre_tenants_destroy(&tenants);
}

/* Takes and gives back as long as it is admitted; the quota is never passed. */
static vy_thread_result VY_THREAD_CALL take_and_give(void *argument)
{
    other *o = argument;
    for (uint32_t i = 0; i < 2000; i++) {
        vyre_tenant_quota some = {1 + i % 3, 1, 8 * (uint64_t)i}, held, quota;
        vyre_result code = vyre_tenants_acquire(o->tenants, o->tenant, &some, NULL);
        if (code == VYRE_OK) {
            code = vyre_tenants_query(o->tenants, o->tenant, &held, &quota, NULL);
            atomic_fetch_add(&o->wrong, code != VYRE_OK || held.slots > quota.slots ||
                                            held.handles > quota.handles ||
                                            held.slots < some.slots);
            code = vyre_tenants_release(o->tenants, o->tenant, &some, NULL);
            atomic_fetch_add(&o->wrong, code != VYRE_OK);
        } else {
            atomic_fetch_add(&o->wrong, code != VYRE_ERROR_BUSY);
        }
    }
    return 0;
}

static void test_tenants_are_counted_right_by_many_threads(void **state)
{
    (void)state;
    vyre_tenants *tenants = make(29);
    set(tenants, 28, q(6, 3, UINT64_MAX));
    other o = {.tenants = tenants, .tenant = 28};
    vy_thread threads[4];
    for (size_t t = 0; t < VY_COUNT_OF(threads); t++) {
        assert_int_equal(vy_thread_start(&threads[t], take_and_give, &o), 0);
    }
    vyre_diag diag;
    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(vyre_tenants_quiesce(tenants, 28, FOREVER, &diag), VYRE_OK);
        vyre_tenant_quota held;
        assert_int_equal(vyre_tenants_query(tenants, 28, &held, NULL, &diag), VYRE_OK);
        assert_amount(held, q(0, 0, 0));
        assert_int_equal(vyre_tenants_admit(tenants, 28, &diag), VYRE_OK);
    }
    for (size_t t = 0; t < VY_COUNT_OF(threads); t++) {
        vy_thread_join(threads[t]);
    }
    assert_int_equal(atomic_load(&o.wrong), 0);
    assert_book(tenants, 28, q(0, 0, 0), q(6, 3, UINT64_MAX));
    vyre_tenants_destroy(&tenants);
}

/* ---- Selection ----------------------------------------------------------------------------------
 */

static bool may_run_together(const uint32_t *conflicts, uint32_t count, uint32_t set_of)
{
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++) {
            if (a != b && set_of >> a & 1 && set_of >> b & 1 && conflicts[a] >> b & 1) {
                return false;
            }
        }
    }
    return true;
}

/* Greedily from the lowest means: of all sets that may run together the one that comes first where
 * having tenant 0 counts before all else, then tenant 1, and so on. */
static uint32_t best(const uint32_t *conflicts, uint32_t count, uint32_t candidates)
{
    uint32_t found = 0, found_rank = 0;
    for (uint32_t s = 0; s < 1u << count; s++) {
        uint32_t rank = 0;
        for (uint32_t t = 0; t < count; t++) {
            rank = rank << 1 | (s >> t & 1);
        }
        if (!(s & ~candidates) && rank > found_rank && may_run_together(conflicts, count, s)) {
            found = s;
            found_rank = rank;
        }
    }
    return found;
}

static void check_select(const uint32_t *conflicts, uint32_t count, uint32_t candidates)
{
    vyre_diag diag;
    uint32_t got = 0x5a5a5a5a, wanted = best(conflicts, count, candidates);
    assert_int_equal(vyre_tenants_select(count, conflicts, candidates, &got, &diag), VYRE_OK);
    if (got != wanted) {
        print_message("%u tenants, candidates 0x%x: 0x%x, not 0x%x\n", count, candidates, got,
                      wanted);
        for (uint32_t t = 0; t < count; t++) {
            print_message("  conflicts of %u: 0x%x\n", t, conflicts[t]);
        }
        fail();
    }
}

static void test_tenants_select_is_greedy_for_all_of_three(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 3; count++) {
        for (uint32_t matrix = 0; matrix < 1u << (count * count); matrix++) {
            uint32_t conflicts[3];
            for (uint32_t t = 0; t < count; t++) {
                conflicts[t] = matrix >> (t * count) & ((1u << count) - 1);
            }
            for (uint32_t candidates = 0; candidates < 1u << count; candidates++) {
                check_select(conflicts, count, candidates);
            }
        }
    }
}

static void test_tenants_select_is_greedy_for_some_of_eight(void **state)
{
    (void)state;
    uint64_t random = 0x9e3779b97f4a7c15u;
    print_message("seed 0x%016" PRIx64 "\n", random);
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t count = 4 + i % 5, conflicts[8], words[9];
        for (uint32_t t = 0; t < 9; t++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            words[t] = (uint32_t)(random >> 32);
        }
        for (uint32_t t = 0; t < count; t++) {
            /* Dense and sparse ones; the bits of no tenant and the own one mean nothing. */
            conflicts[t] = i % 2 ? words[t] : words[t] & words[t] >> 8 & words[t] >> 16;
        }
        check_select(conflicts, count, words[8] & ((1u << count) - 1));
        check_select(conflicts, count, (1u << count) - 1);
    }
}

static void test_tenants_select_takes_29_and_no_more(void **state)
{
    (void)state;
    uint32_t conflicts[32] = {0}, got = 99;
    const uint32_t all = (1u << 29) - 1;
    vyre_diag diag;
    assert_int_equal(vyre_tenants_select(29, conflicts, all, &got, &diag), VYRE_OK);
    assert_true(got == all);
    conflicts[28] = 1;
    assert_int_equal(vyre_tenants_select(29, conflicts, all, &got, &diag), VYRE_OK);
    assert_true(got == (all ^ 1u << 28));
    assert_int_equal(vyre_tenants_select(29, conflicts, all ^ 1, &got, &diag), VYRE_OK);
    assert_true(got == (all ^ 1));
    conflicts[28] = UINT32_MAX;
    assert_int_equal(vyre_tenants_select(29, conflicts, 1u << 28, &got, &diag), VYRE_OK);
    assert_true(got == 1u << 28);
    assert_int_equal(vyre_tenants_select(29, conflicts, 0, &got, &diag), VYRE_OK);
    assert_int_equal(got, 0);

    got = 99;
    assert_refused(vyre_tenants_select(29, conflicts, 1u << 29, &got, &diag), INVALID_ARGUMENT,
                   &diag, "0x20000000|beyond 28|lowest 29 bits");
    assert_refused(vyre_tenants_select(28, conflicts, 1u << 28, &got, &diag), INVALID_ARGUMENT,
                   &diag, "0x10000000|beyond 27");
    assert_refused(vyre_tenants_select(1, conflicts, 2, &got, &diag), INVALID_ARGUMENT, &diag,
                   "beyond 0");
    static const uint32_t wrong[] = {0, 30, 32, UINT32_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        assert_refused(vyre_tenants_select(wrong[i], conflicts, 0, &got, &diag), INVALID_ARGUMENT,
                       &diag, "1 to 29");
    }
    assert_refused(vyre_tenants_select(2, NULL, 1, &got, &diag), INVALID_ARGUMENT, &diag,
                   "conflicts");
    assert_refused(vyre_tenants_select(2, conflicts, 1, NULL, &diag), INVALID_ARGUMENT, &diag,
                   "out_selected");
    assert_int_equal(vyre_tenants_select(0, conflicts, 0, &got, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(got, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tenants_are_1_to_29),
        cmocka_unit_test(test_tenants_survive_each_failed_allocation),
        cmocka_unit_test(test_tenants_refuse_those_that_are_none),
        cmocka_unit_test(test_tenants_refuse_null_arguments),
        cmocka_unit_test(test_tenants_hold_up_to_their_quota_in_each_part),
        cmocka_unit_test(test_tenants_without_quota_hold_nothing),
        cmocka_unit_test(test_tenants_release_no_more_than_they_hold),
        cmocka_unit_test(test_tenants_quota_is_no_less_than_what_is_held),
        cmocka_unit_test(test_tenants_quiesce_at_once_where_no_slot_is_held),
        cmocka_unit_test(test_tenants_quiesce_gives_up_in_time),
        cmocka_unit_test(test_tenants_quiesce_until_another_thread_released),
        cmocka_unit_test(test_tenants_quiesce_ends_when_another_thread_admits),
        cmocka_unit_test(test_tenants_are_counted_right_by_many_threads),
        cmocka_unit_test(test_tenants_select_is_greedy_for_all_of_three),
        cmocka_unit_test(test_tenants_select_is_greedy_for_some_of_eight),
        cmocka_unit_test(test_tenants_select_takes_29_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

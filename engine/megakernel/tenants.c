/* The book of what tenants hold and may hold. Owns its counts, a mutex over them and a condition
 * for those who wait until a tenant has drained; knows nothing of rings, handles or memory. */
#include "engine/megakernel/words.h"

#include "codegen/base/thread.h"

#include <inttypes.h>

/* What a quota is made of, by name. */
enum { SLOTS, HANDLES, STAGING, PART_COUNT };

static const char *const part_names[PART_COUNT] = {"slots", "handles", "bytes of staging"};

typedef struct amount {
    uint64_t parts[PART_COUNT];
} amount;

typedef struct tenant_entry {
    amount held, quota; /* held <= quota in each part */
    bool is_quiescing;
} tenant_entry;

struct vyre_tenants {
    vyre_allocator allocator;
    vy_mutex mutex;
    vy_condition changed; /* a tenant came to hold no slot, or is admitted again */
    bool has_mutex, has_changed;
    uint32_t count;
    tenant_entry tenants[VYRE_MAX_TENANTS];
};

static amount amount_of(const vyre_tenant_quota *quota)
{
    return (amount){{quota->slots, quota->handles, quota->staging_size}};
}

static vyre_tenant_quota quota_of(const amount *from)
{
    return (vyre_tenant_quota){.slots = (uint32_t)from->parts[SLOTS],
                               .handles = (uint32_t)from->parts[HANDLES],
                               .staging_size = from->parts[STAGING]};
}

vyre_result vyre_tenants_create(uint32_t count, const vyre_allocator *allocator,
                                vyre_tenants **out_tenants, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_tenants) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "out_tenants is NULL. Fix: pass where the book goes");
    }
    *out_tenants = NULL;
    if (count == 0 || count > VYRE_MAX_TENANTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a book of %u tenants cannot be. Fix: ask for 1 to %u", count,
                           VYRE_MAX_TENANTS);
    }
    vyre_allocator from = vy_allocator_or_default(allocator);
    vyre_tenants *tenants = vy_alloc_zeroed(&from, 1, sizeof *tenants);
    if (!tenants) {
        return vy_diag_no_memory(diag);
    }
    tenants->allocator = from;
    tenants->count = count;
    tenants->has_mutex = vy_mutex_init(&tenants->mutex) == 0;
    tenants->has_changed = vy_condition_init(&tenants->changed) == 0;
    if (!tenants->has_mutex || !tenants->has_changed) {
        vyre_tenants_destroy(&tenants);
        return vy_diag_no_memory(diag);
    }
    *out_tenants = tenants;
    return VYRE_OK;
}

void vyre_tenants_destroy(vyre_tenants **tenants)
{
    if (!tenants || !*tenants) {
        return;
    }
    vyre_tenants *t = *tenants;
    *tenants = NULL;
    if (t->has_changed) {
        vy_condition_finish(&t->changed);
    }
    if (t->has_mutex) {
        vy_mutex_finish(&t->mutex);
    }
    vyre_allocator allocator = t->allocator;
    vy_free(&allocator, t, sizeof *t);
}

static vyre_result check_tenant(const vyre_tenants *tenants, uint32_t tenant, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!tenants) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "tenants is NULL. Fix: pass what vyre_tenants_create made");
    }
    if (tenant >= tenants->count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "there is no tenant %u in a book of %u. Fix: name one below %u", tenant,
                           tenants->count, tenants->count);
    }
    return VYRE_OK;
}

static vyre_result check_call(const vyre_tenants *tenants, uint32_t tenant,
                              const vyre_tenant_quota *given, const char *name, vyre_diag *diag)
{
    vyre_result code = check_tenant(tenants, tenant, diag);
    if (code == VYRE_OK && !given) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%s is NULL. Fix: pass slots, handles and bytes of staging", name);
    }
    return code;
}

vyre_result vyre_tenants_set_quota(vyre_tenants *tenants, uint32_t tenant,
                                   const vyre_tenant_quota *quota, vyre_diag *diag)
{
    vyre_result code = check_call(tenants, tenant, quota, "quota", diag);
    if (code != VYRE_OK) {
        return code;
    }
    amount wanted = amount_of(quota);
    tenant_entry *entry = &tenants->tenants[tenant];
    vy_mutex_lock(&tenants->mutex);
    for (int p = 0; p < PART_COUNT && code == VYRE_OK; p++) {
        if (entry->held.parts[p] > wanted.parts[p]) {
            code = vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                               "tenant %u holds %" PRIu64 " %s, and its quota would be %" PRIu64
                               ". Fix: release %" PRIu64 " of them first",
                               tenant, entry->held.parts[p], part_names[p], wanted.parts[p],
                               entry->held.parts[p] - wanted.parts[p]);
        }
    }
    if (code == VYRE_OK) {
        entry->quota = wanted;
    }
    vy_mutex_unlock(&tenants->mutex);
    return code;
}

static vyre_result check_acquire(const tenant_entry *entry, uint32_t tenant, const amount *wanted,
                                 vyre_diag *diag)
{
    if (entry->is_quiescing) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "tenant %u is quiescing; it holds %" PRIu64 " slots and is given "
                           "nothing more. Fix: call vyre_tenants_admit first",
                           tenant, entry->held.parts[SLOTS]);
    }
    for (int p = 0; p < PART_COUNT; p++) {
        if (wanted->parts[p] > entry->quota.parts[p] - entry->held.parts[p]) {
            return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                               "tenant %u holds %" PRIu64 " of the %" PRIu64
                               " %s it may hold, and %" PRIu64 " more are too many. Fix: release "
                               "some first, ask for less or set a larger quota",
                               tenant, entry->held.parts[p], entry->quota.parts[p], part_names[p],
                               wanted->parts[p]);
        }
    }
    return VYRE_OK;
}

vyre_result vyre_tenants_acquire(vyre_tenants *tenants, uint32_t tenant,
                                 const vyre_tenant_quota *given, vyre_diag *diag)
{
    vyre_result code = check_call(tenants, tenant, given, "amount", diag);
    if (code != VYRE_OK) {
        return code;
    }
    amount wanted = amount_of(given);
    tenant_entry *entry = &tenants->tenants[tenant];
    vy_mutex_lock(&tenants->mutex);
    code = check_acquire(entry, tenant, &wanted, diag);
    for (int p = 0; p < PART_COUNT && code == VYRE_OK; p++) {
        entry->held.parts[p] += wanted.parts[p];
    }
    vy_mutex_unlock(&tenants->mutex);
    return code;
}

static vyre_result check_release(const tenant_entry *entry, uint32_t tenant, const amount *given,
                                 vyre_diag *diag)
{
    for (int p = 0; p < PART_COUNT; p++) {
        if (given->parts[p] > entry->held.parts[p]) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "tenant %u gives %" PRIu64 " %s back and holds %" PRIu64
                               ". Fix: release what was acquired, once",
                               tenant, given->parts[p], part_names[p], entry->held.parts[p]);
        }
    }
    return VYRE_OK;
}

vyre_result vyre_tenants_release(vyre_tenants *tenants, uint32_t tenant,
                                 const vyre_tenant_quota *given, vyre_diag *diag)
{
    vyre_result code = check_call(tenants, tenant, given, "amount", diag);
    if (code != VYRE_OK) {
        return code;
    }
    amount back = amount_of(given);
    tenant_entry *entry = &tenants->tenants[tenant];
    vy_mutex_lock(&tenants->mutex);
    code = check_release(entry, tenant, &back, diag);
    for (int p = 0; p < PART_COUNT && code == VYRE_OK; p++) {
        entry->held.parts[p] -= back.parts[p];
    }
    if (code == VYRE_OK && entry->held.parts[SLOTS] == 0) {
        vy_condition_signal_all(&tenants->changed);
    }
    vy_mutex_unlock(&tenants->mutex);
    return code;
}

vyre_result vyre_tenants_query(vyre_tenants *tenants, uint32_t tenant, vyre_tenant_quota *out_held,
                               vyre_tenant_quota *out_quota, vyre_diag *diag)
{
    vyre_result code = check_tenant(tenants, tenant, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_mutex_lock(&tenants->mutex);
    tenant_entry entry = tenants->tenants[tenant];
    vy_mutex_unlock(&tenants->mutex);
    if (out_held) {
        *out_held = quota_of(&entry.held);
    }
    if (out_quota) {
        *out_quota = quota_of(&entry.quota);
    }
    return VYRE_OK;
}

/* With the mutex held. What ends the wait: no slot is held, somebody admits again, time is up. */
static vyre_result wait_drained(vyre_tenants *tenants, uint32_t tenant, uint64_t timeout_ns,
                                vyre_diag *diag)
{
    const tenant_entry *entry = &tenants->tenants[tenant];
    uint64_t now = vy_clock_ns();
    uint64_t end = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
    while (entry->is_quiescing && entry->held.parts[SLOTS] > 0) {
        if (now >= end) {
            return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                               "tenant %u still holds %" PRIu64 " slots after %" PRIu64
                               " ns, where none is allowed. Fix: quiesce again, or call "
                               "vyre_tenants_admit to give up",
                               tenant, entry->held.parts[SLOTS], timeout_ns);
        }
        vy_condition_wait(&tenants->changed, &tenants->mutex, end - now);
        now = vy_clock_ns();
    }
    if (!entry->is_quiescing) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "tenant %u was admitted again while this call waited; it holds %" PRIu64
                           " slots. Fix: quiesce again, or let it run",
                           tenant, entry->held.parts[SLOTS]);
    }
    return VYRE_OK;
}

vyre_result vyre_tenants_quiesce(vyre_tenants *tenants, uint32_t tenant, uint64_t timeout_ns,
                                 vyre_diag *diag)
{
    vyre_result code = check_tenant(tenants, tenant, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_mutex_lock(&tenants->mutex);
    tenants->tenants[tenant].is_quiescing = true;
    code = wait_drained(tenants, tenant, timeout_ns, diag);
    vy_mutex_unlock(&tenants->mutex);
    return code;
}

vyre_result vyre_tenants_admit(vyre_tenants *tenants, uint32_t tenant, vyre_diag *diag)
{
    vyre_result code = check_tenant(tenants, tenant, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_mutex_lock(&tenants->mutex);
    tenants->tenants[tenant].is_quiescing = false;
    vy_condition_signal_all(&tenants->changed);
    vy_mutex_unlock(&tenants->mutex);
    return VYRE_OK;
}

vyre_result vyre_tenants_select(uint32_t tenant_count, const uint32_t *conflicts,
                                uint32_t candidates, uint32_t *out_selected, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (tenant_count == 0 || tenant_count > VYRE_MAX_TENANTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "there cannot be %u tenants. Fix: pass 1 to %u", tenant_count,
                           VYRE_MAX_TENANTS);
    }
    if (!conflicts || !out_selected) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "conflicts or out_selected is NULL. Fix: pass a word for each of %u "
                           "tenants and where the selection goes",
                           tenant_count);
    }
    if (candidates >> tenant_count != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the candidates 0x%x name a tenant beyond %u. Fix: set only the lowest "
                           "%u bits",
                           candidates, tenant_count - 1, tenant_count);
    }
    uint32_t selected = 0, excluded = 0;
    for (uint32_t t = 0; t < tenant_count; t++) {
        uint32_t bit = 1u << t;
        if (candidates & ~excluded & bit && !(conflicts[t] & selected)) {
            selected |= bit;
            excluded |= conflicts[t];
        }
    }
    *out_selected = selected;
    return VYRE_OK;
}

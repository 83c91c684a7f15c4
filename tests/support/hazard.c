/* See hazard.h. For each access that may still matter: which stages wait for it, to which uses what
 * it wrote is visible, and which barrier made it so. */
#include "tests/support/hazard.h"

#include <volk.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum stage { COMPUTE, COPY, FILL, INDIRECT, HOST, OTHER, STAGE_COUNT } stage;

#define NOBODY     UINT32_MAX
#define WHAT_SIZE  96u
#define MAX_LISTED 16u

typedef struct record {
    uint64_t buffer, begin, end;
    uint64_t submission;
    uint32_t use;
    bool is_available;        /* what it wrote */
    uint32_t available_by;    /* NOBODY: no barrier */
    uint32_t waits;           /* bits of stages that wait for it */
    uint32_t visible;         /* bits of uses to which what it wrote is visible */
    uint32_t needs_available; /* of these, which rest on the barrier that made it available */
    uint32_t waits_by[STAGE_COUNT], waits_via[STAGE_COUNT];
    uint32_t visible_by[HAZARD_USE_COUNT];
    uint64_t command; /* its number */
    char what[WHAT_SIZE];
} record;

typedef struct noted_barrier {
    char what[WHAT_SIZE];
    uint64_t submission;
    bool is_used, is_inner;
} noted_barrier;

#define MAX_TOUCHED 256u

struct hazard {
    /* Whatever ran before this command buffer, on any memory: barriers that order what is first
     * touched here behind that are needed, whether something ran or not. */
    record before[HAZARD_USE_COUNT];
    uint64_t touched[MAX_TOUCHED]; /* buffers, in this command buffer */
    uint32_t touched_count;
    record *records;
    uint32_t record_count, record_room;
    noted_barrier *barriers;
    uint32_t barrier_count, barrier_room;
    uint32_t first_loose; /* barriers behind the last command of this command buffer */
    bool has_command;     /* in this command buffer */
    bool failed;          /* out of memory: nothing can be said */
    uint64_t submission, commands;
    hazard_fault faults[MAX_LISTED];
    uint32_t fault_count;
};

static const struct {
    stage stage;
    bool writes;
    uint64_t access; /* VkAccessFlags2 that mean it */
    const char *name;
} uses[HAZARD_USE_COUNT] = {
    [HAZARD_COMPUTE_READ] = {COMPUTE, false,
                             VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT,
                             "reads in a shader"},
    [HAZARD_COMPUTE_WRITE] = {COMPUTE, true,
                              VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                              "writes in a shader"},
    [HAZARD_UNIFORM_READ] = {COMPUTE, false, VK_ACCESS_2_UNIFORM_READ_BIT,
                             "reads as a uniform buffer in a shader"},
    [HAZARD_COPY_READ] = {COPY, false, VK_ACCESS_2_TRANSFER_READ_BIT, "is copied from"},
    [HAZARD_COPY_WRITE] = {COPY, true, VK_ACCESS_2_TRANSFER_WRITE_BIT, "is copied to"},
    [HAZARD_FILL_WRITE] = {FILL, true, VK_ACCESS_2_TRANSFER_WRITE_BIT, "fills"},
    [HAZARD_INDIRECT_READ] = {INDIRECT, false, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT,
                              "reads arguments"},
    [HAZARD_HOST_READ] = {HOST, false, VK_ACCESS_2_HOST_READ_BIT, "is read by the host"},
};

hazard *hazard_create(void)
{
    return calloc(1, sizeof(hazard));
}

void hazard_destroy(hazard *h)
{
    if (h) {
        free(h->records);
        free(h->barriers);
        free(h);
    }
}

static void report(hazard *h, hazard_fault_kind kind, const char *a, const char *b, const char *c)
{
    if (h->fault_count < MAX_LISTED) {
        hazard_fault *fault = &h->faults[h->fault_count];
        fault->kind = kind;
        snprintf(fault->text, sizeof fault->text, "%s%s%s", a, b, c);
    }
    h->fault_count++;
}

/* ---- Masks ----------------------------------------------------------------------------------- */

#define ALL_STAGES ((1u << STAGE_COUNT) - 1)

static uint32_t stages_of(uint64_t mask)
{
    uint32_t stages = 0;
    stages |= mask & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT ? 1u << COMPUTE : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_COPY_BIT ? 1u << COPY : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_CLEAR_BIT ? 1u << FILL : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT ? 1u << COPY | 1u << FILL : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT ? 1u << INDIRECT : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT ? 1u << INDIRECT | 1u << OTHER : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_HOST_BIT ? 1u << HOST : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT ? ALL_STAGES & ~(1u << HOST) : 0;
    return stages;
}

/* The first scope of execution has the stages that come earlier, too; the second the later ones. */
static uint32_t source_scope(uint64_t mask)
{
    uint32_t stages = stages_of(mask);
    stages |= stages & 1u << COMPUTE ? 1u << INDIRECT : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT ? ALL_STAGES & ~(1u << HOST) : 0;
    return stages;
}

static uint32_t destination_scope(uint64_t mask)
{
    uint32_t stages = stages_of(mask);
    stages |= stages & 1u << INDIRECT ? 1u << COMPUTE : 0;
    stages |= mask & VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT ? ALL_STAGES & ~(1u << HOST) : 0;
    return stages;
}

/* Uses that stages and accesses name; what is named without its stage does not count. */
static uint32_t uses_of(uint64_t stage_mask, uint64_t access)
{
    uint32_t stages = stages_of(stage_mask), bits = 0;
    for (uint32_t u = 0; u < HAZARD_USE_COUNT; u++) {
        uint64_t general =
            uses[u].writes ? VK_ACCESS_2_MEMORY_WRITE_BIT : VK_ACCESS_2_MEMORY_READ_BIT;
        if (stages >> uses[u].stage & 1 && access & (uses[u].access | general)) {
            bits |= 1u << u;
        }
    }
    return bits;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static void use_barrier(hazard *h, uint32_t barrier)
{
    if (barrier < h->barrier_count) {
        h->barriers[barrier].is_used = true;
    }
}

/* The barrier that made a stage wait, and those that it was chained to. */
static void use_waits(hazard *h, const record *r, uint32_t at)
{
    for (uint32_t hops = 0; hops < STAGE_COUNT && r->waits >> at & 1; hops++) {
        use_barrier(h, r->waits_by[at]);
        if (r->waits_via[at] >= STAGE_COUNT) {
            break;
        }
        at = r->waits_via[at];
    }
}

/* Buffer 0 may be any. */
static bool may_be_any(const record *r, const hazard_access *a)
{
    return r->buffer == 0 || a->buffer == 0;
}

static bool overlaps(const record *r, const hazard_access *a)
{
    return may_be_any(r, a) || (r->buffer == a->buffer && r->begin < a->end && a->begin < r->end);
}

/* Whether barriers order the pair; these are needed, then. */
static bool is_ordered(hazard *h, const record *r, hazard_use use)
{
    bool wrote = uses[r->use].writes;
    uint32_t at = uses[use].stage;
    bool waits = r->waits >> at & 1, sees = !wrote || r->visible >> use & 1;
    if (waits) {
        use_waits(h, r, at);
    }
    if (wrote && sees) {
        use_barrier(h, r->visible_by[use]);
        if (r->needs_available >> use & 1) {
            use_barrier(h, r->available_by);
        }
    }
    return waits && sees;
}

static void check_pair(hazard *h, const record *r, const hazard_access *a, const char *what)
{
    bool wrote = uses[r->use].writes, writes = uses[a->use].writes;
    bool waits = r->waits >> uses[a->use].stage & 1;
    if (is_ordered(h, r, a->use) || may_be_any(r, a)) {
        return;
    }
    const char *name =
        wrote ? (writes ? "write after write" : "read after write") : "write after read";
    char text[HAZARD_TEXT_SIZE];
    snprintf(text, sizeof text,
             "%s: %s, %s bytes %llu to %llu of buffer %llu, then %s, %s bytes %llu to %llu: %s",
             name, r->what, uses[r->use].name, (unsigned long long)r->begin,
             (unsigned long long)r->end, (unsigned long long)r->buffer, what, uses[a->use].name,
             (unsigned long long)a->begin, (unsigned long long)a->end,
             waits ? "what was written is not visible" : "the second does not wait");
    report(h, HAZARD_UNORDERED, text, "", "");
}

/* The first command of this command buffer that touches a buffer. */
static void check_before(hazard *h, const hazard_access *a)
{
    for (uint32_t i = 0; i < h->touched_count; i++) {
        if (h->touched[i] == a->buffer) {
            return;
        }
    }
    for (uint32_t u = 0; u < HAZARD_USE_COUNT; u++) {
        if (uses[u].writes || uses[a->use].writes) {
            (void)is_ordered(h, &h->before[u], a->use);
        }
    }
}

static void note_touched(hazard *h, uint64_t buffer)
{
    for (uint32_t i = 0; i < h->touched_count; i++) {
        if (h->touched[i] == buffer) {
            return;
        }
    }
    if (buffer != 0 && h->touched_count < MAX_TOUCHED) {
        h->touched[h->touched_count++] = buffer;
    }
}

static void drop_record(hazard *h, uint32_t i)
{
    h->records[i] = h->records[--h->record_count];
}

/* What the new access makes superfluous: whoever waits for it waits for those, too. Of unknown
 * memory it may be elsewhere. */
static void supersede(hazard *h, const hazard_access *a)
{
    for (uint32_t i = 0; a->buffer != 0 && i < h->record_count;) {
        const record *r = &h->records[i];
        bool covered = r->buffer == a->buffer && a->begin <= r->begin && r->end <= a->end &&
                       r->command != h->commands;
        if (covered && (uses[a->use].writes || r->use == (uint32_t)a->use)) {
            drop_record(h, i);
        } else {
            i++;
        }
    }
}

static void add_record(hazard *h, const hazard_access *a, const char *what)
{
    if (h->record_count == h->record_room) {
        uint32_t room = h->record_room ? 2 * h->record_room : 64;
        record *grown = realloc(h->records, room * sizeof *grown);
        if (!grown) {
            h->failed = true;
            return;
        }
        h->records = grown;
        h->record_room = room;
    }
    record *r = &h->records[h->record_count++];
    *r = (record){.buffer = a->buffer,
                  .begin = a->begin,
                  .end = a->end,
                  .submission = h->submission,
                  .use = a->use,
                  .available_by = NOBODY,
                  .command = h->commands};
    snprintf(r->what, sizeof r->what, "%s", what);
}

void hazard_command(hazard *h, const char *what, const hazard_access *accesses, uint32_t count)
{
    h->commands++;
    for (; h->has_command && h->first_loose < h->barrier_count; h->first_loose++) {
        h->barriers[h->first_loose].is_inner = true;
    }
    h->first_loose = h->barrier_count;
    h->has_command = true;
    for (uint32_t i = 0; i < count; i++) {
        check_before(h, &accesses[i]);
        for (uint32_t j = 0; j < h->record_count; j++) {
            const record *r = &h->records[j];
            if (overlaps(r, &accesses[i]) &&
                (uses[r->use].writes || uses[accesses[i].use].writes)) {
                check_pair(h, r, &accesses[i], what);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        note_touched(h, accesses[i].buffer);
        if (accesses[i].begin < accesses[i].end) {
            supersede(h, &accesses[i]);
            add_record(h, &accesses[i], what);
        }
    }
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static uint32_t note_barrier(hazard *h, const char *what)
{
    if (h->barrier_count == h->barrier_room) {
        uint32_t room = h->barrier_room ? 2 * h->barrier_room : 64;
        noted_barrier *grown = realloc(h->barriers, room * sizeof *grown);
        if (!grown) {
            h->failed = true;
            return NOBODY;
        }
        h->barriers = grown;
        h->barrier_room = room;
    }
    noted_barrier *b = &h->barriers[h->barrier_count];
    *b = (noted_barrier){.submission = h->submission};
    snprintf(b->what, sizeof b->what, "%s", what);
    return h->barrier_count++;
}

/* `since`: the stages that waited before the call: its barriers are not chained to each other. */
static void apply(record *r, const hazard_barrier *b, uint32_t since, uint32_t number)
{
    uint32_t source = source_scope(b->src_stages), own = uses[r->use].stage;
    bool is_own = source >> own & 1;
    uint32_t chained = source & since;
    if (!is_own && !chained) {
        return;
    }
    uint32_t via = STAGE_COUNT;
    for (uint32_t s = 0; !is_own && s < STAGE_COUNT; s++) {
        if (chained >> s & 1) {
            via = s;
            break;
        }
    }
    uint32_t destination = destination_scope(b->dst_stages);
    for (uint32_t s = 0; s < STAGE_COUNT; s++) {
        if (destination >> s & 1 && !(r->waits >> s & 1)) {
            r->waits |= 1u << s;
            r->waits_by[s] = number;
            r->waits_via[s] = via;
        }
    }
    bool is_meant =
        b->buffer == 0 || (b->buffer == r->buffer && b->begin <= r->begin && r->end <= b->end);
    if (!uses[r->use].writes || !is_meant) {
        return;
    }
    bool makes_available = uses_of(b->src_stages, b->src_access) >> r->use & 1;
    if (!r->is_available && makes_available) {
        r->is_available = true;
        r->available_by = number;
    }
    uint32_t sees = r->is_available ? uses_of(b->dst_stages, b->dst_access) : 0;
    for (uint32_t u = 0; u < HAZARD_USE_COUNT; u++) {
        if (sees >> u & 1 && !(r->visible >> u & 1)) {
            r->visible |= 1u << u;
            r->visible_by[u] = number;
            r->needs_available |= makes_available ? 0 : 1u << u;
        }
    }
}

void hazard_barriers(hazard *h, const char *what, const hazard_barrier *barriers, uint32_t count)
{
    uint32_t number = note_barrier(h, what);
    for (uint32_t i = 0; i < h->record_count + HAZARD_USE_COUNT; i++) {
        record *r = i < HAZARD_USE_COUNT ? &h->before[i] : &h->records[i - HAZARD_USE_COUNT];
        uint32_t since = r->waits;
        for (uint32_t b = 0; b < count; b++) {
            apply(r, &barriers[b], since, number);
        }
    }
}

/* ---- Submissions ----------------------------------------------------------------------------- */

void hazard_begin_commands(hazard *h, uint64_t submission)
{
    h->submission = submission;
    h->has_command = false;
    h->first_loose = h->barrier_count;
    h->touched_count = 0;
    for (uint32_t u = 0; u < HAZARD_USE_COUNT; u++) {
        h->before[u] = (record){.use = u, .available_by = NOBODY};
    }
}

void hazard_end_commands(hazard *h)
{
    h->first_loose = h->barrier_count;
    h->has_command = false;
}

/* Barriers of submissions up to this one that nothing needed. */
static void judge_barriers(hazard *h, uint64_t submission)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < h->barrier_count; i++) {
        noted_barrier *b = &h->barriers[i];
        if (b->submission <= submission && b->is_inner && !b->is_used) {
            report(h, HAZARD_NEEDLESS_BARRIER, "needless: ", b->what, "");
            b->is_used = true;
        }
        kept = b->submission > submission ? i + 1 : kept;
    }
    /* What is left may have been ordered by those that are left. */
    if (kept == 0 && h->record_count == 0) {
        h->barrier_count = h->first_loose = 0;
    }
}

void hazard_host_wait(hazard *h, uint64_t submission)
{
    for (uint32_t i = 0; i < h->record_count;) {
        if (h->records[i].submission <= submission) {
            drop_record(h, i);
        } else {
            i++;
        }
    }
    judge_barriers(h, submission);
}

void hazard_semaphore_wait(hazard *h, uint64_t submission, uint64_t dst_stages)
{
    uint32_t stages = destination_scope(dst_stages);
    for (uint32_t i = 0; i < h->record_count; i++) {
        record *r = &h->records[i];
        if (r->submission > submission) {
            continue;
        }
        for (uint32_t s = 0; s < STAGE_COUNT; s++) {
            if (stages >> s & 1 && !(r->waits >> s & 1)) {
                r->waits |= 1u << s;
                r->waits_by[s] = NOBODY;
                r->waits_via[s] = STAGE_COUNT;
            }
        }
        r->is_available = true;
        for (uint32_t u = 0; u < HAZARD_USE_COUNT; u++) {
            if (stages >> uses[u].stage & 1 && !(r->visible >> u & 1)) {
                r->visible |= 1u << u;
                r->visible_by[u] = NOBODY;
            }
        }
    }
}

uint32_t hazard_faults(hazard *h, const hazard_fault **out_faults, uint32_t *out_listed)
{
    judge_barriers(h, UINT64_MAX);
    if (h->failed) {
        report(h, HAZARD_UNORDERED, "out of memory", "", "");
    }
    *out_faults = h->faults;
    *out_listed = h->fault_count < MAX_LISTED ? h->fault_count : MAX_LISTED;
    return h->fault_count;
}

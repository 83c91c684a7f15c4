/* The race check: tells plain accesses to one element by two invocations, at least one of which
 * stores or is atomic, with neither a barrier of their workgroup nor the end of a segment between
 * them. Owns nothing; the shadows lie beside the buffers. */
#include "codegen/interp/machine.h"

#include <inttypes.h>

static const char *const access_text[VY_ACCESS_COUNT] = {"plain load", "plain store", "atomic load",
                                                         "atomic"};

/* Which kinds race with a kind. Atomics never race with each other. */
static const bool conflicts[VY_ACCESS_COUNT][VY_ACCESS_COUNT] = {
    [VY_ACCESS_LOAD] = {[VY_ACCESS_STORE] = true, [VY_ACCESS_ATOMIC] = true},
    [VY_ACCESS_STORE] = {[VY_ACCESS_LOAD] = true,
                         [VY_ACCESS_STORE] = true,
                         [VY_ACCESS_ATOMIC_LOAD] = true,
                         [VY_ACCESS_ATOMIC] = true},
    [VY_ACCESS_ATOMIC_LOAD] = {[VY_ACCESS_STORE] = true},
    [VY_ACCESS_ATOMIC] = {[VY_ACCESS_LOAD] = true, [VY_ACCESS_STORE] = true},
};

void vy_race_barrier(vy_race_check *races)
{
    races->epoch++;
}

void vy_race_group(vy_race_check *races)
{
    races->group_begin = ++races->epoch;
}

void vy_race_segment(vy_race_check *races)
{
    races->segment_begin = ++races->epoch;
}

/* Brings a trace up to the current epoch. Shared memory knows no earlier workgroups. */
static void refresh(const vy_race_check *races, vy_trace *trace, bool is_shared)
{
    if (trace->epoch == races->epoch) {
        return;
    }
    if (trace->epoch < races->segment_begin || (is_shared && trace->epoch < races->group_begin)) {
        *trace = (vy_trace){0};
    } else if (trace->epoch < races->group_begin && trace->first) {
        trace->earlier_group = trace->first;
    }
}

/* Another invocation whose access is unordered with that of `self`, or 0. */
static uint32_t rival(const vy_race_check *races, const vy_trace *trace, uint32_t self)
{
    if (trace->earlier_group) {
        return trace->earlier_group;
    }
    if (trace->epoch < races->epoch) {
        return 0;
    }
    return trace->first && trace->first != self ? trace->first : trace->second;
}

static void note(const vy_race_check *races, vy_trace *trace, uint32_t self)
{
    if (trace->epoch < races->epoch || trace->first == 0) {
        trace->epoch = races->epoch;
        trace->first = self;
        trace->second = 0;
    } else if (trace->first != self && trace->second == 0) {
        trace->second = self;
    }
}

static void describe(vy_machine *m, const vy_buffer *buffer, uint32_t index, vy_access access,
                     vy_access other, uint32_t self, uint32_t against, vy_loc loc)
{
    vyre_diag *diag = &m->races.first;
    vy_diag_clear(diag);
    (void)vy_diag_set(diag, VYRE_OK, loc,
                      "race on element %" PRIu32 " of '%s': %s by invocation %" PRIu32
                      " and %s by invocation %" PRIu32
                      " with nothing that orders them. Fix: use atomics, or a barrier or "
                      "grid_sync between the two",
                      index, buffer->name, access_text[access], self - 1, access_text[other],
                      against - 1);
    diag->segment = m->segment;
    diag->pass = m->pass;
    if (buffer->mode != VYRE_BUFFER_SHARED) {
        diag->binding = buffer->binding;
    }
}

void vy_race_access(vy_machine *m, uint32_t buffer, uint32_t index, vy_access access, uint32_t lane,
                    vy_loc loc)
{
    const vy_buffer *declared = &m->program->buffers.data[buffer];
    vy_shadow *shadow = &m->buffers[buffer].shadows[index];
    bool is_shared = declared->mode == VYRE_BUFFER_SHARED;
    uint32_t self = vy_machine_invocation(m, lane) + 1;
    for (int kind = 0; kind < VY_ACCESS_COUNT; kind++) {
        vy_trace *trace = &shadow->traces[kind];
        refresh(&m->races, trace, is_shared);
        uint32_t against = conflicts[access][kind] ? rival(&m->races, trace, self) : 0;
        if (against && !shadow->reported) {
            shadow->reported = true;
            if (m->races.count++ == 0) {
                describe(m, declared, index, access, (vy_access)kind, self, against, loc);
            }
        }
    }
    note(&m->races, &shadow->traces[access], self);
}

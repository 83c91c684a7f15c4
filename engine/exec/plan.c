/* Hazards: for each stage, what was touched since that stage last waited for it. A barrier is put
 * before a command only if something it touches was written, or something it writes was touched,
 * and its stage has not waited for that yet. */
#include "engine/exec/plan.h"

enum { COMPUTE, TRANSFER, INDIRECT, HOST, OTHERS, STAGE_COUNT };

static const uint32_t stage_bits[STAGE_COUNT] = {VY_STAGE_COMPUTE, VY_STAGE_TRANSFER,
                                                 VY_STAGE_INDIRECT, VY_STAGE_HOST, VY_STAGE_ALL};

#define BIT(memory) ((uint64_t)1 << (memory))

typedef struct planner {
    const vy_chunk_input *in;
    vy_arena *arena;
    vy_chunk_plan *plan;
    /* What `source` did that `destination` has not waited for. */
    uint64_t reads[STAGE_COUNT][STAGE_COUNT], writes[STAGE_COUNT][STAGE_COUNT];
    bool after_dispatch;  /* a dispatch was planned, and ... */
    bool barrier_between; /* ... a barrier since */
} planner;

vy_touch vy_touch_of(const vy_kernel_segment *segment, const uint64_t *alias,
                     uint32_t binding_count)
{
    vy_touch touch = {segment->reads | segment->atomics, segment->writes | segment->atomics};
    uint64_t reads = touch.reads, writes = touch.writes;
    for (uint32_t b = 0; b < binding_count; b++) {
        touch.reads |= reads >> b & 1 ? alias[b] : 0;
        touch.writes |= writes >> b & 1 ? alias[b] : 0;
    }
    return touch;
}

uint32_t vy_chunk_passes(uint32_t execution_count)
{
    uint32_t passes = execution_count ? VY_CHUNK_DISPATCHES / execution_count : 1;
    return passes ? passes : 1;
}

/* The greatest power of two that is not more, or 1. */
static uint32_t power_below(uint32_t value)
{
    uint32_t power = 1;
    while (power <= value / 2) {
        power *= 2;
    }
    return power;
}

/* Dispatches that take the device about as long as the host needs to look and to submit; where each
 * takes long, passes that are skipped do so too. NVIDIA H200: 10 us, and 2 us for a small one. */
#define LEAST_DISPATCHES 8u
#define MANY_GROUPS      2048u
#define HUGE_GROUPS      16384u

uint32_t vy_chunk_ladder(uint32_t pass, uint32_t execution_count, uint64_t group_count)
{
    uint32_t least = execution_count ? LEAST_DISPATCHES / execution_count : 1;
    if (group_count > MANY_GROUPS) {
        least = group_count > HUGE_GROUPS ? 1 : least / 4;
    }
    uint32_t most = power_below(vy_chunk_passes(execution_count));
    uint32_t passes = power_below(pass / 4 > least ? pass / 4 : least);
    if (pass == 0) {
        passes = 1; /* often the only one */
    } else if (pass < VY_STATE_TURNS && least >= VY_STATE_TURNS) {
        passes = VY_STATE_TURNS - pass; /* so that all later ones begin in the same phase */
    }
    return passes < most ? passes : most;
}

static vy_command *push(planner *p, vy_command_kind kind)
{
    vy_command command = {.kind = (uint8_t)kind};
    if (!vy_vec_push(p->arena, &p->plan->commands, command)) {
        return NULL;
    }
    return &p->plan->commands.data[p->plan->commands.count - 1];
}

/* One use of memory by a command, in one stage. */
typedef struct use {
    uint32_t stage;
    uint64_t reads, writes;
} use;

static bool needs_barrier(const planner *p, const use *u)
{
    for (uint32_t source = 0; source < STAGE_COUNT; source++) {
        uint64_t written = p->writes[source][u->stage], read = p->reads[source][u->stage];
        if (((u->reads | u->writes) & written) || (u->writes & read)) {
            return true;
        }
    }
    return false;
}

/* Waits, in the stages of `destinations`, for everything that these have not waited for. */
static void add_barrier(planner *p, uint32_t destinations)
{
    vy_barrier barrier = {0, 0, destinations};
    for (uint32_t d = 0; d < STAGE_COUNT; d++) {
        if (!(destinations & stage_bits[d])) {
            continue;
        }
        for (uint32_t source = 0; source < STAGE_COUNT; source++) {
            barrier.src |= p->reads[source][d] | p->writes[source][d] ? stage_bits[source] : 0;
            barrier.src_writes |= p->writes[source][d] ? stage_bits[source] : 0;
            p->reads[source][d] = p->writes[source][d] = 0;
        }
    }
    if (barrier.src == 0) {
        return;
    }
    vy_command *command = push(p, VY_COMMAND_BARRIER);
    if (command) {
        command->barrier = barrier;
    }
    p->plan->barriers++;
    p->barrier_between = true;
}

static void note(planner *p, const use *u)
{
    for (uint32_t d = 0; d < STAGE_COUNT; d++) {
        p->reads[u->stage][d] |= u->reads;
        p->writes[u->stage][d] |= u->writes;
    }
}

/* Orders a command with these uses behind what came before. */
static void order(planner *p, const use *uses, uint32_t count)
{
    uint32_t destinations = 0;
    bool needed = false;
    for (uint32_t i = 0; i < count; i++) {
        destinations |= stage_bits[uses[i].stage];
        needed = needed || needs_barrier(p, &uses[i]);
    }
    if (needed || p->in->serialize) {
        add_barrier(p, destinations);
    }
    for (uint32_t i = 0; i < count; i++) {
        note(p, &uses[i]);
    }
}

#define ALL_STATE                                                                                  \
    (BIT(VY_MEM_STATE) | (BIT(VY_STATE_TURNS) - 1) << VY_MEM_FLAGS | BIT(VY_MEM_PASSES))

/* A binding's bit with those that share its memory; the state with its parts. */
static uint64_t spread(const planner *p, uint32_t memory)
{
    if (memory == VY_MEM_STATE) {
        return ALL_STATE;
    }
    return memory < p->in->binding_count ? p->in->alias[memory] : BIT(memory);
}

static void plan_transfer(planner *p, const vy_command *transfer)
{
    uint32_t stage = transfer->is_by_kernel ? COMPUTE : TRANSFER;
    use u = {stage, 0, spread(p, transfer->target)};
    if (transfer->kind == VY_COMMAND_COPY) {
        u.reads = spread(p, transfer->source);
    }
    u.reads |= transfer->is_by_kernel ? BIT(VY_MEM_BLOCK) : 0;
    if (transfer->target == VY_MEM_READBACK) {
        u.writes = 0; /* its copies never overlap: none waits for another */
    }
    order(p, &u, 1);
    if (transfer->target == VY_MEM_READBACK) {
        note(p, &(use){stage, 0, BIT(VY_MEM_READBACK)});
    }
    p->plan->moves += transfer->is_by_kernel;
    vy_command *command = push(p, (vy_command_kind)transfer->kind);
    if (command) {
        *command = *transfer;
    }
}

static void plan_transfers(planner *p, const vy_command *list, uint32_t count)
{
    for (uint32_t i = 0; i < count && !p->arena->failed; i++) {
        plan_transfer(p, &list[i]);
    }
}

static void stamp(planner *p, uint32_t time)
{
    vy_command *command = p->in->has_timestamps ? push(p, VY_COMMAND_TIMESTAMP) : NULL;
    if (command) {
        command->target = (uint8_t)time;
    }
}

/* Serialized, so that it tells what had ended before. */
static void plan_crumb(planner *p, uint32_t execution, uint32_t pass)
{
    if (!p->in->has_crumbs) {
        return;
    }
    use u = {TRANSFER, 0, BIT(VY_MEM_CRUMBS)};
    order(p, &u, 1);
    vy_command *command = push(p, VY_COMMAND_CRUMB);
    if (command) {
        command->execution = execution;
        command->pass = pass;
    }
}

static uint64_t flag_word(uint32_t turn)
{
    return BIT(VY_MEM_FLAGS + turn % VY_STATE_TURNS);
}

/* What codegen/spirv/emit_flag.c makes of the flag. */
static void add_flag(uint32_t execution, uint32_t turn, use *u)
{
    const uint64_t flag = BIT(VY_MEM_FLAG);
    u->reads |= u->reads & flag ? flag_word(turn) : 0;
    u->writes |= u->writes & flag ? flag_word(turn) : 0;
    u->reads = (u->reads & ~flag) | flag_word(turn + VY_STATE_TURNS - 1);
    u->writes &= ~flag;
    u->writes |= execution == 0 ? flag_word(turn + 1) | BIT(VY_MEM_PASSES) : 0;
}

static void plan_dispatch(planner *p, uint32_t execution, uint32_t pass)
{
    const vy_chunk_input *in = p->in;
    plan_crumb(p, execution, pass);
    const vy_touch *touch = &in->touches[in->executions[execution].segment];
    bool is_indirect = in->has_grid;
    use uses[2] = {{COMPUTE, touch->reads | BIT(VY_MEM_BLOCK), touch->writes},
                   {INDIRECT, BIT(VY_MEM_STATE), 0}};
    if (in->until >= 0) {
        add_flag(execution, in->phase + pass, &uses[0]);
    }
    order(p, uses, is_indirect ? 2 : 1);
    p->plan->elided += p->after_dispatch && !p->barrier_between;
    p->after_dispatch = true;
    p->barrier_between = false;
    vy_command *command = push(p, is_indirect ? VY_COMMAND_DISPATCH_INDIRECT : VY_COMMAND_DISPATCH);
    if (command) {
        command->execution = execution;
        command->pass = in->phase + pass;
    }
    p->plan->dispatches++;
}

/* Each chunk has a parameter block of its own to be written. */
static void plan_grid(planner *p)
{
    const vy_chunk_input *in = p->in;
    uint64_t written = ALL_STATE | BIT(VY_MEM_BLOCK);
    use u = {COMPUTE, spread(p, in->grid) | written, written};
    if (in->has_grid && in->count > 0 && in->passes > 0) {
        order(p, &u, 1);
        (void)push(p, VY_COMMAND_GRID);
        p->plan->moves++;
    }
}

/* It may touch whatever the segments touch: there is nothing to be saved by knowing it. */
static void plan_whole(planner *p)
{
    const vy_chunk_input *in = p->in;
    uint64_t bindings = 0;
    for (uint32_t b = 0; b < in->binding_count; b++) {
        bindings |= in->alias[b];
    }
    uint64_t written = bindings | BIT(VY_MEM_RECORDS) | BIT(VY_MEM_SPILL);
    use u = {COMPUTE, written | BIT(VY_MEM_BLOCK), written};
    order(p, &u, 1);
    vy_command *command = push(p, VY_COMMAND_WHOLE);
    if (command) {
        command->pass = in->passes;
    }
    p->plan->dispatches++;
}

static void plan_passes(planner *p)
{
    const vy_chunk_input *in = p->in;
    if (in->count == 0 || in->passes == 0) {
        return;
    }
    if (in->is_whole) {
        plan_whole(p);
        return;
    }
    for (uint32_t pass = 0; pass < in->passes && !p->arena->failed; pass++) {
        for (uint32_t e = in->first; e < in->first + in->count; e++) {
            plan_dispatch(p, e, pass);
        }
    }
}

/* The first invocation's words, to where STATE's would lie. */
static void plan_whole_state(planner *p)
{
    for (uint32_t i = 0; i < VY_WHOLE_STATE_WORDS; i++) {
        vy_command copy = {.kind = VY_COMMAND_COPY,
                           .target = VY_MEM_READBACK,
                           .source = VY_MEM_SPILL,
                           .source_offset = i * p->in->whole_stride,
                           .target_offset = p->in->state.target_offset + p->in->whole_targets[i],
                           .size = sizeof(uint32_t)};
        plan_transfer(p, &copy);
    }
}

/* Everything may have been touched before, apart from what only this chunk's host wrote. */
static void plan_before(planner *p)
{
    uint64_t mine = BIT(VY_MEM_BLOCK) | BIT(VY_MEM_HOST_BLOCK) | BIT(VY_MEM_UPLOAD) |
                    BIT(VY_MEM_READBACK) | BIT(VY_MEM_CRUMBS) | BIT(VY_MEM_STATE_START);
    for (uint32_t d = 0; d < STAGE_COUNT; d++) {
        if (p->in->before == VY_BORDER_ENGINE) {
            p->reads[COMPUTE][d] = p->writes[COMPUTE][d] = ~mine;
            p->reads[TRANSFER][d] = p->writes[TRANSFER][d] = ~mine;
            p->reads[INDIRECT][d] = ~mine;
        } else if (p->in->before == VY_BORDER_ALL) {
            /* Blocks too: an earlier submission of the same commands used them. */
            p->reads[OTHERS][d] = p->writes[OTHERS][d] = UINT64_MAX;
        }
    }
}

static void plan_after(planner *p)
{
    if (p->in->after == VY_BORDER_ALL) {
        add_barrier(p, VY_STAGE_ALL | (p->in->host_reads ? VY_STAGE_HOST : 0));
    } else if (p->in->host_reads) {
        use u = {HOST, p->in->host_reads, 0};
        order(p, &u, 1);
    }
}

bool vy_chunk_plan_build(const vy_chunk_input *input, vy_arena *arena, vy_chunk_plan *out_plan)
{
    *out_plan = (vy_chunk_plan){.dispatches = 0};
    planner p = {.in = input, .arena = arena, .plan = out_plan};
    plan_before(&p);
    stamp(&p, VY_TIME_BEGIN);
    plan_transfers(&p, input->prologue, input->prologue_count);
    plan_grid(&p);
    stamp(&p, VY_TIME_FIRST);
    plan_passes(&p);
    stamp(&p, VY_TIME_LAST);
    plan_transfers(&p, &input->flag, input->has_flag);
    plan_transfers(&p, input->epilogue, input->epilogue_count);
    if (input->reads_state && input->is_whole) {
        plan_whole_state(&p);
    } else if (input->reads_state) {
        plan_transfer(&p, &input->state);
    }
    plan_after(&p);
    stamp(&p, VY_TIME_END);
    return !arena->failed;
}

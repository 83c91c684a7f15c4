/* Hazards: for each stage, what was touched since that stage last waited for it. A barrier is put
 * before a command only if something it touches was written, or something it writes was touched,
 * and its stage has not waited for that yet. */
#include "engine/exec/plan.h"

#include "engine/exec/levels.h"

enum { COMPUTE, TRANSFER, INDIRECT, HOST, OTHERS, UNIFORM, STAGE_COUNT };

static const uint32_t stage_bits[STAGE_COUNT] = {VY_STAGE_COMPUTE,  VY_STAGE_TRANSFER,
                                                 VY_STAGE_INDIRECT, VY_STAGE_HOST,
                                                 VY_STAGE_ALL,      VY_STAGE_UNIFORM};
/* As what comes before: reading of parameter blocks is something that kernels do. */
static const uint32_t source_bits[STAGE_COUNT] = {VY_STAGE_COMPUTE,  VY_STAGE_TRANSFER,
                                                  VY_STAGE_INDIRECT, VY_STAGE_HOST,
                                                  VY_STAGE_ALL,      VY_STAGE_COMPUTE};

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

/* Meetings are only added, until two passes in a row need no other: what is pending at a pass's end
 * is the same for all passes then, or nothing is in anybody's way. */
void vy_plan_meetings(const vy_execution *executions, uint32_t count, const vy_touch *touches,
                      bool *out_meets)
{
    const uint64_t spill = BIT(VY_MEM_SPILL);
    bool has_changed = true;
    for (uint32_t i = 0; i < count; i++) {
        out_meets[i] = false;
    }
    while (has_changed) {
        uint64_t reads = 0, writes = 0;
        has_changed = false;
        for (uint32_t i = 0; i < 2 * count; i++) {
            vy_touch t = touches[executions[i % count].segment];
            t.reads &= ~spill;
            t.writes &= ~spill;
            bool needs = ((t.reads | t.writes) & writes) || (t.writes & reads);
            has_changed = has_changed || (needs && !out_meets[i % count]);
            out_meets[i % count] = out_meets[i % count] || needs;
            if (out_meets[i % count]) {
                reads = writes = 0;
            }
            reads |= t.reads;
            writes |= t.writes;
        }
    }
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

/* Dispatches of a few workgroups take the device about 2 us, skipped or not, and the host about 10
 * to look and to submit (NVIDIA H200). One of many workgroups counts as several, also when skipped.
 *
 * Of a fixpoint of n dispatches in chunks of c, the ends of chunks take about 13 us times n / c (a
 * submission alone 8), and what is skipped in vain, half a chunk and the one ahead, 1.4 us for each
 * dispatch of it. The sum is least where c is about 2.5 sqrt(n); powers of two from 1.7 to 3.5
 * times the root are taken. */
#define CHUNK_SQUARE     12u
#define FIRST_DISPATCHES 2u
#define LEAST_DISPATCHES 8u
#define ALONE_DISPATCHES 12u
#define MANY_GROUPS      2048u
#define HUGE_GROUPS      16384u

static uint32_t pass_weight(uint32_t execution_count, uint64_t group_count)
{
    uint32_t each = group_count > HUGE_GROUPS   ? ALONE_DISPATCHES
                    : group_count > MANY_GROUPS ? 4
                                                : 1;
    uint32_t most = UINT32_MAX / ALONE_DISPATCHES;
    return (execution_count < most ? execution_count : most) * each;
}

uint32_t vy_chunk_ladder(uint32_t pass, uint32_t execution_count, uint64_t group_count)
{
    uint32_t weight = pass_weight(execution_count, group_count);
    weight = weight ? weight : 1;
    uint32_t least = (pass ? LEAST_DISPATCHES : FIRST_DISPATCHES) / weight;
    uint32_t most = power_below(vy_chunk_passes(execution_count));
    uint32_t passes = power_below(least);
    while (passes < most &&
           (uint64_t)4 * passes * passes * weight <= (uint64_t)CHUNK_SQUARE * pass) {
        passes *= 2;
    }
    return passes < most ? passes : most;
}

bool vy_chunk_has_next_ahead(uint32_t pass, uint32_t execution_count, uint64_t group_count)
{
    return (uint64_t)pass * pass_weight(execution_count, group_count) >= ALONE_DISPATCHES;
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
            barrier.src |= p->reads[source][d] | p->writes[source][d] ? source_bits[source] : 0;
            barrier.src_writes |= p->writes[source][d] ? source_bits[source] : 0;
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

/* Parameter blocks are made visible to kernels only where they have been written. */
static const use of_block = {UNIFORM, BIT(VY_MEM_BLOCK), 0};

/* Orders a command with these uses behind what came before. */
static void order(planner *p, const use *uses, uint32_t count)
{
    uint32_t destinations = 0;
    bool needed = false;
    for (uint32_t i = 0; i < count; i++) {
        bool waits = needs_barrier(p, &uses[i]);
        destinations |= waits || uses[i].stage != UNIFORM ? stage_bits[uses[i].stage] : 0;
        needed = needed || waits;
    }
    if (needed || p->in->serialize) {
        add_barrier(p, destinations);
    }
    for (uint32_t i = 0; i < count; i++) {
        note(p, &uses[i]);
    }
}

#define ALL_TURNS (BIT(VY_STATE_TURNS) - 1)
#define ALL_STATE (BIT(VY_MEM_STATE) | ALL_TURNS << VY_MEM_FLAGS | ALL_TURNS << VY_MEM_PASSES)

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
    use uses[2] = {{stage, 0, spread(p, transfer->target)}, of_block};
    if (transfer->kind == VY_COMMAND_COPY) {
        uses[0].reads = spread(p, transfer->source);
    }
    if (transfer->target == VY_MEM_READBACK) {
        uses[0].writes = 0; /* its copies never overlap: none waits for another */
    }
    order(p, uses, transfer->is_by_kernel ? 2 : 1);
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

static uint64_t count_word(uint32_t turn)
{
    return BIT(VY_MEM_PASSES + turn % VY_STATE_TURNS);
}

/* What codegen/spirv/emit_flag.c makes of the flag. */
static void add_flag(uint32_t execution, uint32_t turn, vy_touch *touch)
{
    const uint64_t flag = BIT(VY_MEM_FLAG);
    touch->reads |= touch->reads & flag ? flag_word(turn) : 0;
    touch->writes |= touch->writes & flag ? flag_word(turn) : 0;
    touch->reads = (touch->reads & ~flag) | flag_word(turn + VY_STATE_TURNS - 1) | count_word(turn);
    touch->writes &= ~flag;
    touch->writes |= execution == 0 ? flag_word(turn + 1) | count_word(turn + 1) : 0;
}

vy_touch vy_chunk_touch(const vy_chunk_input *in, uint32_t execution, uint32_t pass)
{
    vy_touch touch = in->touches[in->executions[execution].segment];
    if (in->until >= 0) {
        add_flag(execution, in->phase + pass, &touch);
    }
    return touch;
}

static void plan_dispatch(planner *p, uint32_t execution, uint32_t pass)
{
    const vy_chunk_input *in = p->in;
    if (in->executions[execution].is_left_out) {
        return;
    }
    plan_crumb(p, execution, pass);
    vy_touch touch = vy_chunk_touch(in, execution, pass);
    bool is_indirect = in->has_grid;
    use uses[3] = {
        {COMPUTE, touch.reads, touch.writes}, of_block, {INDIRECT, BIT(VY_MEM_STATE), 0}};
    order(p, uses, is_indirect ? 3 : 2);
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
    use uses[2] = {{COMPUTE, spread(p, in->grid) | written, written}, of_block};
    if (in->has_grid && in->count > 0 && in->passes > 0) {
        order(p, uses, 2);
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
    if (in->is_persistent) {
        written |= BIT(VY_MEM_SYNC) | (in->until >= 0 ? ALL_STATE : 0);
    }
    /* The schedule lies beside the block. */
    uint64_t beside = in->is_persistent ? BIT(VY_MEM_BLOCK) : 0;
    use uses[2] = {{COMPUTE, written | beside, written}, of_block};
    order(p, uses, 2);
    vy_command *command = push(p, in->is_persistent ? VY_COMMAND_PERSISTENT : VY_COMMAND_WHOLE);
    if (command) {
        command->pass = in->passes;
        command->execution = in->first;
        command->word = in->count;
        command->block = in->phase;
    }
    p->plan->dispatches++;
}

/* Nobody has arrived yet. */
static void plan_persistent(planner *p)
{
    vy_command fill = {.kind = VY_COMMAND_FILL, .target = VY_MEM_SYNC, .size = sizeof(uint32_t)};
    plan_transfer(p, &fill);
    plan_whole(p);
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
    if (in->is_persistent) {
        plan_persistent(p);
        return;
    }
    /* Breadcrumbs, and whoever serializes for debugging, go through the program as it is written.
     */
    bool is_serial = in->serialize || in->has_crumbs;
    uint32_t dispatches = in->count * in->passes;
    uint32_t *list = NULL;
    if (!is_serial && !vy_levels_order(in, in->passes, p->arena, &list)) {
        return;
    }
    for (uint32_t i = 0; i < dispatches && !p->arena->failed; i++) {
        uint32_t n = list ? list[i] : i;
        plan_dispatch(p, in->first + n % in->count, n / in->count);
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

static void plan_sync_copy(planner *p)
{
    vy_command copy = {.kind = VY_COMMAND_COPY,
                       .target = VY_MEM_READBACK,
                       .source = VY_MEM_SYNC,
                       .target_offset = p->in->sync_target,
                       .size = sizeof(uint32_t)};
    plan_transfer(p, &copy);
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
    if (input->is_persistent && input->passes > 0) {
        plan_sync_copy(&p);
    }
    if (input->reads_state && input->is_whole) {
        plan_whole_state(&p);
    } else if (input->reads_state) {
        plan_transfer(&p, &input->state);
    }
    plan_after(&p);
    stamp(&p, VY_TIME_END);
    return !arena->failed;
}

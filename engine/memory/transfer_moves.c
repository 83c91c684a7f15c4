/* See transfer_moves.h. */
#include "engine/memory/transfer_moves.h"

#define MAX_MOVES 4096u /* steps by kernels, in one submission */
#define MIN_ROOM  ((uint64_t)16 << 10)
/* So many moves are worth making the kernels for: drivers take milliseconds to compile them. */
#define WORTH_KERNELS 16u
/* Words of a range above which a dispatch of its own costs less than the range's table. */
#define MAX_GATHERED      512u
#define MAX_GATHER        4096u
#define MAX_GATHERS_WORDS 16384u
/* Words: 4 GiB. Drivers were seen to keep byte offsets in 32 bits. */
#define MAX_SPAN ((uint64_t)1 << 30)

#define WORD ((uint64_t)sizeof(uint32_t))

static bool find_move(const vy_step *s, vy_move *out)
{
    bool is_copy = s->source != VK_NULL_HANDLE;
    if (s->size > VY_MAX_MOVE_SIZE || !s->target_address || (is_copy && !s->source_address) ||
        (s->size | s->target_address | s->source_address) % WORD) {
        return false;
    }
    *out = (vy_move){.source = is_copy ? s->source_address : 0,
                     .target = s->target_address,
                     .count = (uint32_t)(s->size / WORD),
                     .word = s->word};
    return true;
}

bool vy_steps_has_barrier(const vy_steps *s, uint32_t step)
{
    return s->barriers && s->barriers[step];
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static vy_cursor begin(const vy_transfer *t, const vy_steps *s, uint32_t left)
{
    return (vy_cursor){.t = t, .s = s, .left = left};
}

vy_cursor vy_moves_begin(const vy_transfer *t, const vy_steps *s, const vy_moves *moves)
{
    vy_cursor c = begin(t, s, moves->steps);
    c.tables = t->blocks.address + moves->tables;
    return c;
}

bool vy_moves_has(const vy_cursor *c, uint32_t step)
{
    vy_move move;
    return c->left > 0 && find_move(&c->s->steps[step], &move);
}

/* Ends of what a gather reads or writes. */
typedef struct span {
    VkDeviceAddress low, high;
} span;

/* false: too far apart, and nothing has changed. */
static bool widen(span *s, VkDeviceAddress address, uint32_t words)
{
    VkDeviceAddress high = address + WORD * words;
    span wide = {address < s->low ? address : s->low, high > s->high ? high : s->high};
    if ((wide.high - wide.low) / WORD >= MAX_SPAN) {
        return false;
    }
    *s = wide;
    return true;
}

/* Staging lies together, so that the other side alone decides how far apart ranges are. */
static bool are_of_a_kind(const vy_transfer *t, const vy_step *a, const vy_step *b)
{
    return (a->source == t->upload.buffer && b->source == t->upload.buffer) ||
           (a->target == t->readback.buffer && b->target == t->readback.buffer);
}

static bool can_follow(const vy_cursor *c, const vy_part *part, uint32_t step, vy_move *out_move)
{
    const vy_steps *s = c->s;
    return step < s->count && c->left > part->steps && !vy_steps_has_barrier(s, step) &&
           are_of_a_kind(c->t, &s->steps[part->first], &s->steps[step]) &&
           find_move(&s->steps[step], out_move) && out_move->source &&
           out_move->count <= MAX_GATHERED;
}

/* Makes a gather of a part of one copy, where more follow: with no barrier between, no range of
 * them is touched by another. */
static void gather(vy_cursor *c, vy_part *part)
{
    vy_move *all = &part->move;
    vy_move move;
    uint32_t room = MAX_GATHERS_WORDS - c->words;
    room = room < MAX_GATHER ? room : MAX_GATHER;
    if (!all->source || all->count > MAX_GATHERED) {
        return;
    }
    span source = {all->source, all->source + WORD * all->count};
    span target = {all->target, all->target + WORD * all->count};
    while (can_follow(c, part, part->first + part->steps, &move) &&
           all->count + move.count <= room) {
        span old = source;
        if (!widen(&source, move.source, move.count)) {
            break;
        }
        if (!widen(&target, move.target, move.count)) {
            source = old;
            break;
        }
        all->count += move.count;
        part->steps++;
    }
    if (part->steps > 1) {
        all->source = source.low;
        all->target = target.low;
        all->source_span = (uint32_t)((source.high - source.low) / WORD);
        all->target_span = (uint32_t)((target.high - target.low) / WORD);
        all->table = c->tables + 2 * WORD * c->words;
        c->words += all->count;
    }
}

bool vy_moves_next(vy_cursor *c, vy_part *out)
{
    if (c->next == c->s->count) {
        return false;
    }
    *out = (vy_part){.first = c->next, .steps = 1};
    out->is_move = c->left > 0 && find_move(&c->s->steps[c->next], &out->move);
    if (out->is_move) {
        gather(c, out);
        c->left -= out->steps;
    }
    c->next += out->steps;
    return true;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Validated devices copy by commands, so that the layers see every access. */
static bool have_kernels(vyre_device *device, uint32_t move_count)
{
    vy_transfer_pool *pool = vy_memory_transfers(device);
    if (move_count == 0 || !device->mover || device->validation > VYRE_VALIDATION_OFF) {
        return false;
    }
    if (atomic_load(&pool->has_kernels)) {
        return true;
    }
    if (atomic_fetch_add(&pool->asked, move_count) + move_count < WORTH_KERNELS) {
        return false;
    }
    if (device->mover->prepare(device, NULL) != VYRE_OK) {
        atomic_store(&pool->asked, 0); /* commands do it as well; later perhaps */
        return false;
    }
    atomic_store(&pool->has_kernels, true);
    return true;
}

static uint64_t end_of(const vy_moves *moves)
{
    return moves->tables + 2 * WORD * moves->words;
}

vy_moves vy_moves_plan(vyre_device *device, vy_transfer *t, const vy_steps *s)
{
    static const vy_moves none = {0, 0, 0, 0};
    vy_moves moves = none;
    vy_cursor c = begin(t, s, s->is_alone ? MAX_MOVES : 0);
    vy_part part;
    while (c.left > 0 && vy_moves_next(&c, &part)) {
        moves.steps += part.is_move ? part.steps : 0;
        moves.parts += part.is_move;
    }
    moves.words = c.words;
    if (!have_kernels(device, moves.steps)) {
        return none;
    }
    /* Tables stay where they are while a recording may be kept. */
    uint32_t blocks = moves.parts < VY_KEPT_MOVES ? VY_KEPT_MOVES : moves.parts;
    moves.tables = (uint64_t)VY_MOVE_STRIDE * blocks;
    if (t->blocks.size < end_of(&moves)) {
        uint64_t size = MIN_ROOM;
        while (size < end_of(&moves)) {
            size *= 2;
        }
        t->kept.count = 0;
        if (vy_block_grow(device, VY_MEMORY_TABLE, size, "vyre moves", &t->blocks, NULL) !=
            VYRE_OK) {
            return none;
        }
    }
    bool can = vy_block_is_direct(&t->blocks) &&
               device->mover->attach(device, &t->blocks, &t->set, NULL) == VYRE_OK;
    return can ? moves : none;
}

/* ---- Blocks and tables ----------------------------------------------------------------------- */

static void note(vy_kept *kept, const vy_steps *s, uint32_t index, const vy_part *part)
{
    if (index < VY_KEPT_MOVES) {
        kept->parts[index] =
            (vy_kept_part){.move = part->move, .has_barrier = vy_steps_has_barrier(s, part->first)};
    }
    for (uint32_t i = part->first; i < part->first + part->steps && i < VY_KEPT_RANGES; i++) {
        const vy_step *step = &s->steps[i];
        kept->ranges[i] =
            (vy_kept_range){step->source_address, step->target_address, (uint32_t)step->size,
                            step->word, vy_steps_has_barrier(s, i)};
    }
}

/* In one go from its start: mapped device memory is written best so, and never read. */
static void write_table(const vy_steps *s, const vy_part *part, uint32_t *table)
{
    for (uint32_t i = 0; i < part->steps; i++) {
        const vy_step *step = &s->steps[part->first + i];
        uint32_t from = (uint32_t)((step->source_address - part->move.source) / WORD);
        uint32_t to = (uint32_t)((step->target_address - part->move.target) / WORD);
        uint32_t words = (uint32_t)(step->size / WORD);
        for (uint32_t w = 0; w < words; w++) {
            *table++ = from + w;
            *table++ = to + w;
        }
    }
}

void vy_moves_write(vyre_device *device, vy_transfer *t, const vy_steps *s, uint32_t index,
                    const vy_part *part)
{
    unsigned char *mapped = t->blocks.mapped;
    note(&t->kept, s, index, part);
    device->mover->write_block(&part->move, mapped + (size_t)VY_MOVE_STRIDE * index);
    if (part->move.table) {
        write_table(s, part, (void *)(mapped + (part->move.table - t->blocks.address)));
    }
}

vyre_result vy_moves_flush(vyre_device *device, const vy_transfer *t, const vy_moves *moves,
                           vyre_diag *diag)
{
    return vy_block_flush(device, &t->blocks, 0, end_of(moves), diag);
}

/* ---- What is kept ---------------------------------------------------------------------------- */

bool vy_moves_repeat(const vy_transfer *t, const vy_steps *s)
{
    const vy_kept *kept = &t->kept;
    if (kept->count == 0 || s->slot != 0 || !s->is_alone || s->count != kept->steps ||
        s->count > VY_KEPT_RANGES || s->reads_back != kept->reads_back) {
        return false;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const vy_step *step = &s->steps[i];
        const vy_kept_range *range = &kept->ranges[i];
        if (range->source != step->source_address || range->target != step->target_address ||
            range->size != step->size || range->word != step->word ||
            range->has_barrier != vy_steps_has_barrier(s, i)) {
            return false;
        }
    }
    return true;
}

/* Whether the same commands do both. */
static bool are_alike(const vy_kept_part *old, const vy_part *part, bool has_barrier)
{
    const vy_move *a = &old->move, *b = &part->move;
    return part->is_move && !a->source == !b->source && !a->table == !b->table &&
           vy_move_groups(a) == vy_move_groups(b) && old->has_barrier == has_barrier;
}

bool vy_moves_reuse(vyre_device *device, vy_transfer *t, const vy_steps *s, const vy_moves *moves)
{
    const vy_kept *kept = &t->kept;
    vy_cursor c = vy_moves_begin(t, s, moves);
    vy_part part;
    if (kept->count == 0 || kept->count != moves->parts || moves->steps != s->count ||
        kept->reads_back != s->reads_back) {
        return false;
    }
    for (uint32_t i = 0; vy_moves_next(&c, &part); i++) {
        const vy_kept_part *old = &kept->parts[i];
        if (!are_alike(old, &part, vy_steps_has_barrier(s, part.first))) {
            return false; /* what was written by now is written again with the new commands */
        }
        /* Looking for what may stay gains nothing worth having. */
        vy_moves_write(device, t, s, i, &part);
    }
    t->kept.steps = s->count;
    return true;
}

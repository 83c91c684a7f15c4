/* Levels: a dispatch is one level behind the deepest of those before that it must wait for, and
 * those of a level need no barrier between them. They come level by level, and within one as the
 * program has them, so that the same program gives the same commands. */
#include "engine/exec/levels.h"

typedef struct depths {
    uint8_t used[VY_MEM_COUNT]; /* what anything touches */
    uint32_t used_count;
    /* By memory: the level behind the deepest dispatch that did so. */
    uint32_t read[VY_MEM_COUNT], written[VY_MEM_COUNT];
} depths;

static void find_used(const vy_chunk_input *in, uint32_t passes, depths *d)
{
    uint64_t used = 0;
    /* The flag's words come by turns. */
    for (uint32_t pass = 0; pass < passes && pass < VY_STATE_TURNS; pass++) {
        for (uint32_t e = in->first; e < in->first + in->count; e++) {
            vy_touch touch = vy_chunk_touch(in, e, pass);
            used |= touch.reads | touch.writes;
        }
    }
    for (uint32_t m = 0; m < VY_MEM_COUNT; m++) {
        if (used >> m & 1) {
            d->used[d->used_count++] = (uint8_t)m;
        }
    }
}

static uint32_t place(depths *d, const vy_touch *touch)
{
    uint32_t level = 0;
    for (uint32_t i = 0; i < d->used_count; i++) {
        uint32_t m = d->used[i];
        if ((touch->reads | touch->writes) >> m & 1 && level < d->written[m]) {
            level = d->written[m];
        }
        if (touch->writes >> m & 1 && level < d->read[m]) {
            level = d->read[m];
        }
    }
    for (uint32_t i = 0; i < d->used_count; i++) {
        uint32_t m = d->used[i];
        if (touch->writes >> m & 1) {
            d->written[m] = level + 1;
        }
        if (touch->reads >> m & 1 && d->read[m] < level + 1) {
            d->read[m] = level + 1;
        }
    }
    return level;
}

bool vy_levels_order(const vy_chunk_input *in, uint32_t passes, vy_arena *arena,
                     uint32_t **out_order)
{
    uint32_t count = in->count * passes;
    uint32_t *order = vy_arena_alloc(arena, count, sizeof *order);
    uint32_t *levels = vy_arena_alloc(arena, count, sizeof *levels);
    /* By level, where its next dispatch goes: there are no more levels than dispatches. */
    uint32_t *starts = vy_arena_alloc(arena, (size_t)count + 1, sizeof *starts);
    depths d = {.used_count = 0};
    *out_order = order;
    if (!order || !levels || !starts) {
        return false;
    }
    find_used(in, passes, &d);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t e = in->first + n % in->count;
        vy_touch touch = vy_chunk_touch(in, e, n / in->count);
        levels[n] = in->executions[e].is_left_out ? 0 : place(&d, &touch);
        starts[levels[n] + 1]++;
    }
    for (uint32_t n = 0; n < count; n++) {
        starts[n + 1] += starts[n];
    }
    for (uint32_t n = 0; n < count; n++) {
        order[starts[levels[n]]++] = n;
    }
    return true;
}

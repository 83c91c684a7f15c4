/* See gate_runs.h. */
#include "tests/engine/gate_runs.h"

#include <string.h>

void sum_note_done(void *user, vyre_ticket ticket, vyre_result result)
{
    sum *s = user;
    s->done_count++;
    s->done_ticket = ticket;
    s->done_result = result;
}

void sum_init(sum *s, uint32_t k)
{
    memset(s, 0, sizeof *s);
    s->k = k;
    for (uint32_t i = 0; i < SUM_COUNT; i++) {
        s->x[i] = i + k;
        s->y[i] = 0xabababab;
    }
    s->bindings[0] = engine_host_in(s->x, SUM_COUNT);
    s->bindings[1] = engine_host_out(s->y, SUM_COUNT);
    vyre_dispatch_params_init(&s->params);
    s->params.strategy = VYRE_STRATEGY_REPLAY;
    s->params.bindings = s->bindings;
    s->params.binding_count = 2;
    s->params.params = &s->k;
    s->params.param_count = 1;
    s->params.done = sum_note_done;
    s->params.done_user = s;
}

void countdown_init(countdown *c, uint32_t from)
{
    memset(c, 0, sizeof *c);
    c->a[0] = from;
    c->bindings[0] = engine_host_inout(c->a, 3);
    vyre_dispatch_params_init(&c->params);
    c->params.strategy = VYRE_STRATEGY_REPLAY;
    c->params.bindings = c->bindings;
    c->params.binding_count = 2;
    c->params.groups[0] = 1;
}

/* The draining programs of a dispatcher: made when a queue first needs them, kept, and the one used
 * longest ago given up for a new one. */
#include "engine/megakernel/dispatcher.h"

#include <string.h>

static bool is_same(const vy_mk_variant *a, const vy_mk_variant *b)
{
    return a->form == b->form && a->claim == b->claim && a->workgroup == b->workgroup &&
           a->by_priority == b->by_priority && a->in_waves == b->in_waves &&
           a->is_special == b->is_special && a->polls_io == b->polls_io &&
           (!a->is_special || a->opcode == b->opcode);
}

static bool is_made(const vy_mk_program *p)
{
    return p->program != NULL;
}

/* Under the mutex. */
static vy_mk_program *find(vyre_dispatcher *d, const vy_mk_queue *q)
{
    for (size_t i = 0; i < VY_COUNT_OF(d->programs); i++) {
        vy_mk_program *p = &d->programs[i];
        if (is_made(p) && p->generation == q->generation && is_same(&p->variant, &q->variant)) {
            p->users++;
            p->used = ++d->clock;
            return p;
        }
    }
    return NULL;
}

static void unmake(vy_mk_program *p)
{
    vyre_pipeline_destroy(&p->pipeline);
    vyre_kernel_destroy(&p->kernel);
    vyre_program_destroy(&p->program);
    *p = (vy_mk_program){.users = 0};
}

static vyre_result make(vyre_dispatcher *d, const vy_mk_queue *q, vy_mk_program *p, vyre_diag *diag)
{
    const vy_mk_variant *variant = &q->variant;
    const vy_drain_params params = {.form = variant->form,
                                    .claim = variant->claim,
                                    .workgroup = variant->workgroup,
                                    .by_priority = variant->by_priority,
                                    .in_waves = variant->in_waves,
                                    .is_special = variant->is_special,
                                    .opcode = variant->opcode,
                                    .program = d->handlers_program,
                                    .handlers = d->handlers,
                                    .handler_count = d->handler_count,
                                    .io_function = variant->polls_io ? d->io_function : NULL};
    vyre_kernel_params kernel_params = {.struct_size = sizeof kernel_params};
    vyre_pipeline_params pipeline_params;
    vyre_pipeline_params_init(&pipeline_params);
    pipeline_params.bindings = d->bind_mode;
    p->variant = *variant;
    p->generation = q->generation;
    vyre_result code = vy_drain_build(&params, &d->allocator, &p->program, diag);
    if (code != VYRE_OK || !q->device) {
        return code;
    }
    vyre_device_kernel_params(q->device, &kernel_params);
    kernel_params.allocator = &d->allocator;
    code = vyre_kernel_compile(p->program, &kernel_params, &p->kernel, diag);
    if (code == VYRE_OK) {
        code = vyre_pipeline_create(q->device, p->kernel, &pipeline_params, &p->pipeline, diag);
    }
    return code == VYRE_OK ? vyre_pipeline_warm_up(p->pipeline, diag) : code;
}

/* Under the mutex: a free entry, or that of a program that nobody uses. There is one: queues in
 * flight are fewer than what there is beyond VY_MK_MAX_PROGRAMS. */
static vy_mk_program *find_room(vyre_dispatcher *d, vy_mk_program *out_evicted)
{
    vy_mk_program *oldest = NULL, *free_entry = NULL;
    uint32_t made = 0;
    for (size_t i = 0; i < VY_COUNT_OF(d->programs); i++) {
        vy_mk_program *p = &d->programs[i];
        bool is_old = p->generation != d->generation;
        made += is_made(p) ? 1 : 0;
        if (!is_made(p)) {
            free_entry = free_entry ? free_entry : p;
        } else if (p->users == 0 && (!oldest || is_old || p->used < oldest->used)) {
            oldest = p;
        }
    }
    if (oldest && (made >= VY_MK_MAX_PROGRAMS || !free_entry)) {
        *out_evicted = *oldest;
        *oldest = (vy_mk_program){.users = 0};
        d->counters.pipeline_evictions++;
        d->counters.pipelines--;
        return oldest;
    }
    return free_entry;
}

vyre_result vy_mk_program_take(vyre_dispatcher *d, const vy_mk_queue *q,
                               vy_mk_program **out_program, uint64_t *out_compile_ns,
                               vyre_diag *diag)
{
    *out_compile_ns = 0;
    vy_mutex_lock(&d->mutex);
    *out_program = find(d, q);
    d->counters.pipeline_hits += *out_program ? 1 : 0;
    vy_mutex_unlock(&d->mutex);
    if (*out_program) {
        return VYRE_OK;
    }
    uint64_t start = vy_clock_ns();
    vy_mutex_lock(&d->compile_mutex);
    vy_mutex_lock(&d->mutex);
    *out_program = find(d, q); /* another thread made it meanwhile */
    d->counters.pipeline_misses++;
    vy_mutex_unlock(&d->mutex);
    vyre_result code = VYRE_OK;
    vy_mk_program made = {.users = 1}, evicted = {.users = 0};
    if (!*out_program) {
        code = make(d, q, &made, diag);
    }
    if (!*out_program && code == VYRE_OK) {
        vy_mutex_lock(&d->mutex);
        *out_program = find_room(d, &evicted);
        made.used = ++d->clock;
        **out_program = made;
        d->counters.pipelines++;
        vy_mutex_unlock(&d->mutex);
        unmake(&evicted);
    } else {
        unmake(&made);
    }
    vy_mutex_unlock(&d->compile_mutex);
    *out_compile_ns = vy_clock_ns() - start;
    return code;
}

void vy_mk_program_give(vyre_dispatcher *d, vy_mk_program *program)
{
    vy_mutex_lock(&d->mutex);
    program->users--;
    vy_mutex_unlock(&d->mutex);
}

void vy_mk_programs_finish(vyre_dispatcher *d)
{
    for (size_t i = 0; i < VY_COUNT_OF(d->programs); i++) {
        unmake(&d->programs[i]);
    }
}

/* The draining programs of a dispatcher: made when a queue first needs them, kept, and the one used
 * longest ago given up for a new one. */
#include "engine/megakernel/dispatcher.h"

/* As bytes without gaps. */
typedef struct key {
    uint32_t words[8];
} key;
_Static_assert(sizeof(key) == VY_MK_KEY_SIZE, "the table has room for it");

static key key_of(const vy_mk_queue *q)
{
    const vy_mk_variant *v = &q->variant;
    return (key){{(uint32_t)v->form, (uint32_t)v->claim, v->workgroup, v->by_priority, v->in_waves,
                  v->polls_io, v->is_special ? v->opcode : VYRE_OPCODE_SHUTDOWN, q->generation}};
}

/* Under the mutex. */
static vy_mk_program *find(vyre_dispatcher *d, const key *k)
{
    uint32_t at = vy_mk_lru_find(&d->lru, k, sizeof *k);
    if (at == VY_MK_LRU_NONE) {
        return NULL;
    }
    d->programs[at]->users++;
    return d->programs[at];
}

static void unmake(vyre_dispatcher *d, vy_mk_program **program)
{
    vy_mk_program *p = *program;
    if (p) {
        vyre_pipeline_destroy(&p->pipeline);
        vyre_kernel_destroy(&p->kernel);
        vyre_program_destroy(&p->program);
        vy_free(&d->allocator, p, sizeof *p);
    }
    *program = NULL;
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

/* Under the mutex: puts it into the table; the one that made room for it, where nobody uses that.
 */
static vy_mk_program *list(vyre_dispatcher *d, const key *k, vy_mk_program *program)
{
    vy_mk_program *evicted = NULL;
    vy_mk_lru_insertion in = vy_mk_lru_insert(&d->lru, k, sizeof *k);
    if (in.was_evicted) {
        evicted = d->programs[in.index];
        evicted->is_listed = false;
        evicted = evicted->users ? NULL : evicted; /* its last user ends it */
    }
    program->is_listed = true;
    d->programs[in.index] = program;
    return evicted;
}

vyre_result vy_mk_program_take(vyre_dispatcher *d, const vy_mk_queue *q,
                               vy_mk_program **out_program, uint64_t *out_compile_ns,
                               vyre_diag *diag)
{
    const key k = key_of(q);
    *out_compile_ns = 0;
    vy_mutex_lock(&d->mutex);
    *out_program = find(d, &k);
    d->counters.pipeline_hits += *out_program ? 1 : 0;
    vy_mutex_unlock(&d->mutex);
    if (*out_program) {
        return VYRE_OK;
    }
    uint64_t start = vy_clock_ns();
    vyre_result code = VYRE_OK;
    vy_mk_program *made = NULL;
    vy_mutex_lock(&d->compile_mutex);
    vy_mutex_lock(&d->mutex);
    *out_program = find(d, &k); /* another thread made it meanwhile */
    d->counters.pipeline_misses++;
    vy_mutex_unlock(&d->mutex);
    if (!*out_program) {
        made = vy_alloc_zeroed(&d->allocator, 1, sizeof *made);
        code = made ? make(d, q, made, diag) : vy_diag_no_memory(diag);
    }
    if (made && code == VYRE_OK) {
        made->users = 1;
        *out_program = made;
        vy_mutex_lock(&d->mutex);
        made = list(d, &k, made);
        vy_mutex_unlock(&d->mutex);
    }
    unmake(d, &made);
    vy_mutex_unlock(&d->compile_mutex);
    *out_compile_ns = vy_clock_ns() - start;
    return code;
}

void vy_mk_program_give(vyre_dispatcher *d, vy_mk_program *program)
{
    vy_mutex_lock(&d->mutex);
    program->users--;
    vy_mk_program *last = program->users || program->is_listed ? NULL : program;
    vy_mutex_unlock(&d->mutex);
    unmake(d, &last);
}

void vy_mk_programs_finish(vyre_dispatcher *d)
{
    for (uint32_t i = 0; i < VY_MK_LRU_PIPELINES; i++) {
        if (vy_mk_lru_has(&d->lru, i)) {
            unmake(d, &d->programs[i]);
        }
    }
    vy_mk_lru_finish(&d->lru);
}

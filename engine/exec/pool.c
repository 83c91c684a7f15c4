/* Idle replay instances of pipelines: taken by shape, given back when their dispatch has ended, and
 * destroyed when there are too many or memory is short. */
#include "engine/exec/run_parts.h"

#define MAX_IDLE 8u

/* Under the lock: takes one out of the list, `link` being what points to it. */
static vy_instance *unlink_idle(vyre_pipeline *p, vy_instance **link)
{
    vy_instance *in = *link;
    *link = in->next;
    in->next = NULL;
    p->idle_count--;
    return in;
}

/* Under the lock: one that fits, best one that launches nothing needless, else (full: the one used
 * longest ago) one of the same way of binding to be made over, else none. Where one is alike that
 * launches too little, the next one launches everything: values that differ from run to run are
 * then recorded twice and not each time. */
static vy_instance *find_idle(vyre_pipeline *p, vy_job *job, vy_choice choice,
                              const vy_moves *moves, bool *out_fits)
{
    vy_instance **same_way = NULL, **fitting = NULL;
    bool is_any_alike = false;
    for (vy_instance **link = &p->idle; *link; link = &(*link)->next) {
        if (vy_instance_fits(*link, job, choice, moves)) {
            if (vy_instance_is_exact(*link, job)) {
                *out_fits = true;
                return unlink_idle(p, link);
            }
            fitting = fitting ? fitting : link;
        }
        is_any_alike = is_any_alike || vy_instance_is_alike(*link, job, choice, moves);
        if ((*link)->binder == job->binder && (p->idle_count >= MAX_IDLE || !(*link)->is_shaped)) {
            same_way = link;
        }
    }
    *out_fits = fitting != NULL;
    if (fitting) {
        return unlink_idle(p, fitting);
    }
    if (is_any_alike) {
        vy_job_widen(job);
    }
    return same_way ? unlink_idle(p, same_way) : NULL;
}

vyre_result vy_pool_take(vyre_pipeline *p, vy_job *job, vy_choice choice, const vy_moves *moves,
                         vy_instance **out_instance, vyre_diag *diag)
{
    bool fits = false;
    vy_mutex_lock(&p->mutex);
    vy_instance *in = find_idle(p, job, choice, moves, &fits);
    bool all_busy = p->busy_count > 0 && p->idle_count == 0;
    p->busy_count++;
    vy_mutex_unlock(&p->mutex);
    vyre_result code = VYRE_OK;
    if (!in) {
        code = vy_instance_create(p, job->binder, false, &in, diag);
    }
    if (code != VYRE_OK) {
        vy_mutex_lock(&p->mutex);
        p->busy_count--;
        vy_mutex_unlock(&p->mutex);
        return code;
    }
    if (fits) {
        vy_count(p->device, instance_hits, 1);
    } else if (all_busy) {
        vy_count(p->device, instance_forks, 1);
    } else {
        vy_count(p->device, instance_misses, 1);
    }
    *out_instance = in;
    return VYRE_OK;
}

void vy_pool_give(vyre_pipeline *p, vy_instance *in)
{
    vy_instance *surplus = NULL;
    vy_mutex_lock(&p->mutex);
    in->next = p->idle;
    p->idle = in;
    p->idle_count++;
    p->busy_count--;
    if (p->idle_count > MAX_IDLE) {
        vy_instance **link = &p->idle;
        while ((*link)->next) {
            link = &(*link)->next;
        }
        surplus = unlink_idle(p, link);
    }
    vy_mutex_unlock(&p->mutex);
    vy_instance_destroy(p->device, &surplus);
}

void vy_pool_empty(vyre_pipeline *p)
{
    vy_mutex_lock(&p->mutex);
    vy_instance *list = p->idle;
    p->idle = NULL;
    p->idle_count = 0;
    vy_mutex_unlock(&p->mutex);
    while (list) {
        vy_instance *next = list->next;
        vy_instance_destroy(p->device, &list);
        list = next;
    }
    vy_recordings_empty(p);
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

void vy_pool_add_pipeline(vyre_pipeline *p)
{
    vy_runs *runs = p->device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    p->previous = NULL;
    p->next = runs->pipelines;
    if (p->next) {
        p->next->previous = p;
    }
    runs->pipelines = p;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

void vy_pool_remove_pipeline(vyre_pipeline *p)
{
    vy_runs *runs = p->device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    if (p->previous) {
        p->previous->next = p->next;
    } else if (runs->pipelines == p) {
        runs->pipelines = p->next;
    }
    if (p->next) {
        p->next->previous = p->previous;
    }
    p->previous = p->next = NULL;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

void vy_runs_each_pipeline(vyre_device *device, void (*visit)(void *user, vyre_pipeline *pipeline),
                           void *user)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    for (vyre_pipeline *p = runs->pipelines; p; p = p->next) {
        visit(user, p);
    }
    vy_mutex_unlock(&runs->pipeline_mutex);
}

static void empty_one(void *unused, vyre_pipeline *p)
{
    (void)unused;
    vy_pool_empty(p);
}

uint64_t vy_pool_evict(vyre_device *device)
{
    uint64_t blocks = 0, before = 0, after = 0;
    vy_runs_collect(device);
    vy_memory_usage(device, &blocks, &before);
    vy_runs_each_pipeline(device, empty_one, NULL);
    vy_memory_usage(device, &blocks, &after);
    return before > after ? before - after : 0;
}

void vy_runs_detach_pipelines(vyre_device *device)
{
    vy_runs *runs = device->runs;
    while (runs && runs->pipelines) {
        vyre_pipeline *p = runs->pipelines;
        vy_pool_remove_pipeline(p);
        vy_pool_empty(p);
        vy_recordings_detach(p);
        vy_pipeline_detach(p);
    }
}

void vy_runs_add_sequence(vyre_device *device, vyre_sequence *s)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    *vy_sequence_next(s) = runs->sequences;
    if (runs->sequences) {
        *vy_sequence_previous(runs->sequences) = s;
    }
    runs->sequences = s;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

void vy_runs_remove_sequence(vyre_device *device, vyre_sequence *s)
{
    vy_runs *runs = device->runs;
    vyre_sequence **next = vy_sequence_next(s), **previous = vy_sequence_previous(s);
    vy_mutex_lock(&runs->pipeline_mutex);
    if (*previous) {
        *vy_sequence_next(*previous) = *next;
    } else {
        runs->sequences = *next;
    }
    if (*next) {
        *vy_sequence_previous(*next) = *previous;
    }
    *next = *previous = NULL;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

vyre_sequence *vy_runs_first_sequence(vyre_device *device)
{
    return device->runs ? device->runs->sequences : NULL;
}

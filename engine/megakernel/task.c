/* Tasks that go on where they left: what may happen to one in which state, and how many there are
 * of each. Owns nothing. */
#include "engine/megakernel/words.h"

#include <stddef.h>

/* A task is the sixteen words of a slot. */
_Static_assert(sizeof(vyre_task) == VYRE_SLOT_SIZE, "a task fills a slot");
_Static_assert(offsetof(vyre_task, flags) == VYRE_SLOT_SIZE - 4, "a task has no holes");

#define READY       (1u << VYRE_TASK_READY)
#define RUNNING     (1u << VYRE_TASK_RUNNING)
#define PAUSED      (1u << VYRE_TASK_PAUSED)
#define YIELDED     (1u << VYRE_TASK_YIELDED)
#define REQUEUED    (1u << VYRE_TASK_REQUEUED)
#define SCHEDULABLE (READY | YIELDED | REQUEUED)
#define ALL_FLAGS                                                                                  \
    (VYRE_TASK_FLAG_PAUSED | VYRE_TASK_FLAG_YIELDED | VYRE_TASK_FLAG_REQUEUED |                    \
     VYRE_TASK_FLAG_RESUME_READY)

static const char *const state_names[VYRE_TASK_STATE_COUNT] = {
    "EMPTY", "READY", "RUNNING", "DONE", "PAUSED", "YIELDED", "REQUEUED", "FAULTED"};

/* `from` is a set of states, `counter` where in a task that counts one more is (0: nowhere), and
 * flags that are cleared and set go in this order. */
typedef struct event_info {
    const char *name, *from_names;
    uint32_t from;
    vyre_task_state to;
    size_t counter;
    uint32_t cleared, set;
} event_info;

static const event_info events[] = {
    [VYRE_TASK_START] = {"START", "READY, YIELDED or REQUEUED", SCHEDULABLE, VYRE_TASK_RUNNING, 0,
                         ALL_FLAGS, 0},
    [VYRE_TASK_FINISH] = {"FINISH", "RUNNING", RUNNING, VYRE_TASK_DONE, 0, ALL_FLAGS, 0},
    [VYRE_TASK_PAUSE] = {"PAUSE", "RUNNING", RUNNING, VYRE_TASK_PAUSED, 0, ALL_FLAGS,
                         VYRE_TASK_FLAG_PAUSED},
    [VYRE_TASK_YIELD] = {"YIELD", "RUNNING", RUNNING, VYRE_TASK_YIELDED,
                         offsetof(vyre_task, yield_count), ALL_FLAGS, VYRE_TASK_FLAG_YIELDED},
    [VYRE_TASK_REQUEUE] = {"REQUEUE", "RUNNING", RUNNING, VYRE_TASK_REQUEUED,
                           offsetof(vyre_task, requeue_count), ALL_FLAGS, VYRE_TASK_FLAG_REQUEUED},
    [VYRE_TASK_RESUME] = {"RESUME", "PAUSED", PAUSED, VYRE_TASK_READY, 0, ALL_FLAGS,
                          VYRE_TASK_FLAG_RESUME_READY},
    [VYRE_TASK_FAIL] = {"FAIL", "READY, RUNNING, PAUSED, YIELDED or REQUEUED",
                        SCHEDULABLE | RUNNING | PAUSED, VYRE_TASK_FAULTED, 0, 0, 0},
};

static vyre_result check_move(const vyre_task *task, const event_info *event, vyre_diag *diag)
{
    if (task->state >= VYRE_TASK_STATE_COUNT) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "task %u has the state %u, which is none. Fix: use 0 to %u", task->id,
                           task->state, VYRE_TASK_STATE_COUNT - 1u);
    }
    if (!(event->from >> task->state & 1)) {
        const char *why =
            task->state == VYRE_TASK_DONE || task->state == VYRE_TASK_FAULTED ? " for good" : "";
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "task %u is %s%s, and %s is for what is %s. Fix: look at the state "
                           "first, or fill in a new task",
                           task->id, state_names[task->state], why, event->name, event->from_names);
    }
    return VYRE_OK;
}

vyre_result vyre_task_move(vyre_task *task, vyre_task_event event, uint32_t epoch, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!task) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "task is NULL. Fix: pass the task to move");
    }
    if ((uint32_t)event >= VY_COUNT_OF(events)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u is no event of a task. Fix: use 0 to %zu", (uint32_t)event,
                           VY_COUNT_OF(events) - 1);
    }
    const event_info *info = &events[event];
    vyre_result code = check_move(task, info, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (event == VYRE_TASK_RESUME && epoch < task->resume_epoch) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "task %u resumes at epoch %u, and it is epoch %u. Fix: wait for %u "
                           "fences more",
                           task->id, task->resume_epoch, epoch, task->resume_epoch - epoch);
    }
    uint32_t *counter =
        info->counter ? (uint32_t *)(void *)((unsigned char *)task + info->counter) : NULL;
    if (counter && *counter == UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "task %u has counted %u of the event %s, and %u is the most. Fix: let "
                           "it FINISH or FAIL",
                           task->id, *counter, info->name, UINT32_MAX);
    }
    if (counter) {
        ++*counter;
    }
    if (SCHEDULABLE >> info->to & 1) {
        task->age = 0;
    }
    task->flags = (task->flags & ~info->cleared) | info->set;
    task->state = (uint32_t)info->to;
    return VYRE_OK;
}

vyre_result vyre_task_count(const vyre_task *tasks, uint32_t count, vyre_task_counts *out_counts,
                            vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (count > VYRE_MAX_SLOTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u tasks are more than the %u that a ring may have. Fix: count them in "
                           "parts",
                           count, VYRE_MAX_SLOTS);
    }
    if (!out_counts || (count > 0 && !tasks)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "tasks or out_counts is NULL. Fix: pass %u tasks and where their counts "
                           "go",
                           count);
    }
    vyre_task_counts counts = {.schedulable = 0};
    for (uint32_t i = 0; i < count; i++) {
        const vyre_task *task = &tasks[i];
        if (task->state >= VYRE_TASK_STATE_COUNT) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "the task at index %u has the state %u, which is none. Fix: use 0 "
                               "to %u",
                               i, task->state, VYRE_TASK_STATE_COUNT - 1u);
        }
        counts.by_state[task->state]++;
        counts.requeues += task->requeue_count;
        if (SCHEDULABLE >> task->state & 1) {
            counts.schedulable++;
            counts.max_age = task->age > counts.max_age ? task->age : counts.max_age;
        }
    }
    counts.requeues += counts.by_state[VYRE_TASK_YIELDED] + counts.by_state[VYRE_TASK_REQUEUED];
    *out_counts = counts;
    return VYRE_OK;
}

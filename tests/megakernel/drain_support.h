/* Queues for tests of the draining program: a program of one form on both executors, with its
 * buffers and what they say when it has run. */
#ifndef VY_TESTS_MEGAKERNEL_DRAIN_SUPPORT_H
#define VY_TESTS_MEGAKERNEL_DRAIN_SUPPORT_H

#include "engine/megakernel/drain.h"
#include "tests/support/engine_run.h"
#include "vyre/interp.h"

#define DRAIN_OBSERVABLES   64u
#define DRAIN_CONTROL_WORDS (VYRE_CONTROL_OBSERVABLES + DRAIN_OBSERVABLES)
#define DRAIN_LOG_WORDS     (1u + 4u * VYRE_DEBUG_LOG_LENGTH)
#define DRAIN_IO_WORDS      ((VYRE_MAX_IO_SLOTS + 6u) * VYRE_IO_WORDS) /* more than a queue has */
#define DRAIN_OPEN          VYRE_CONTROL_OBSERVABLES /* the first word that operations may name */
#define DRAIN_EXTRA         2u                       /* buffers of the handlers', at most */

typedef struct drain_queue {
    vy_drain_params how;
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    uint32_t slot_count, max_claims, persistent, tenant, priority, wave_count;
    uint32_t *ring;   /* slots, or items */
    uint32_t *bounds; /* wave_count + 1 */
    uint32_t *extra[DRAIN_EXTRA];
    uint32_t extra_counts[DRAIN_EXTRA];        /* words; 0: there is none */
    uint32_t passes;                           /* of the last run */
    uint32_t io_count;                         /* requests that are bound */
    uint32_t params[DRAIN_EXTRA], param_count; /* words of the handlers' own */
    uint32_t control[DRAIN_CONTROL_WORDS], result[DRAIN_CONTROL_WORDS], log[DRAIN_LOG_WORDS],
        io[DRAIN_IO_WORDS];
} drain_queue;

typedef void (*drain_fn)(drain_queue *queue, uint32_t groups);

/* Both executors where there is a device, else the interpreter alone. */
extern const drain_fn drain_executors[2];
uint32_t drain_executor_count(void);
/* The statement behind it for each of them. */
#define DRAIN_EACH(drain, way)                                                                     \
    for (uint32_t way = 0; way < drain_executor_count(); way++)                                    \
        for (drain_fn drain = drain_executors[way]; drain; drain = NULL)
/* NULL: tests run without a device. */
extern vyre_device *drain_device;
int drain_open_device(void **state);
int drain_close_device(void **state);

/* Zeroed memory of that many words, none too. */
uint32_t *drain_words(size_t count);
/* A program of handlers, which must be one. */
vyre_program *drain_parse(const char *text);
/* With a pipeline where there is a device. Everything is reset. */
drain_queue *drain_open(uint32_t slot_count, const vy_drain_params *how);
void drain_close(drain_queue **queue);
/* A buffer of the handlers', the next in order. */
void drain_add_buffer(drain_queue *queue, uint32_t count);
/* Control as encoded for one tenant, all else 0. */
void drain_reset(drain_queue *queue);
/* A published slot or an item. */
void drain_put(drain_queue *queue, uint32_t slot, uint32_t opcode, uint32_t a0, uint32_t a1,
               uint32_t a2);
uint32_t *drain_slot(drain_queue *queue, uint32_t slot);
/* Waves of the given lengths, which are all slots. */
void drain_set_waves(drain_queue *queue, const uint32_t *lengths, uint32_t count);

void drain_on_interpreter(drain_queue *queue, uint32_t groups);
void drain_on_device(drain_queue *queue, uint32_t groups);

/* What the drained queue says of itself, which must add up: of a ring with its statuses, where
 * so many slots were published. */
vyre_control_report drain_check_sums(const drain_queue *queue, uint32_t published);
uint32_t drain_count_status(const drain_queue *queue, vyre_slot_status status);

#endif

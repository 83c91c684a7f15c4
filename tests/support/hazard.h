/* A judge of barriers: given the commands of a queue in the order of submission, what each touches,
 * and the barriers between them, it finds pairs of commands with a hazard that nothing orders, and
 * barriers that order nothing. Written from Vulkan's chapter on synchronisation alone. */
#ifndef VY_HAZARD_H
#define VY_HAZARD_H

#include <stdbool.h>
#include <stdint.h>

/* One kind of access in one stage. */
typedef enum hazard_use {
    HAZARD_COMPUTE_READ,
    HAZARD_COMPUTE_WRITE,
    HAZARD_UNIFORM_READ,
    HAZARD_COPY_READ,
    HAZARD_COPY_WRITE,
    HAZARD_FILL_WRITE,
    HAZARD_INDIRECT_READ,
    HAZARD_HOST_READ,
    HAZARD_USE_COUNT
} hazard_use;

/* Bytes of a buffer; its number is not 0 and never given to another. 0: nobody knows which bytes of
 * which buffers. Barriers for these are needed, and none is missing. */
typedef struct hazard_access {
    uint64_t buffer, begin, end;
    hazard_use use;
} hazard_access;

/* A memory barrier with VkPipelineStageFlags2 and VkAccessFlags2; `buffer` 0: a global one. */
typedef struct hazard_barrier {
    uint64_t src_stages, src_access, dst_stages, dst_access;
    uint64_t buffer, begin, end;
} hazard_barrier;

typedef struct hazard hazard;

hazard *hazard_create(void);
void hazard_destroy(hazard *h);

/* Command buffers of one submission, between these two. */
void hazard_begin_commands(hazard *h, uint64_t submission);
void hazard_end_commands(hazard *h);
/* `what` names it in messages. */
void hazard_command(hazard *h, const char *what, const hazard_access *accesses, uint32_t count);
/* One call with its barriers, all at once. */
void hazard_barriers(hazard *h, const char *what, const hazard_barrier *barriers, uint32_t count);
/* The host has seen that all submissions up to this one have ended; what is submitted from now on
 * is ordered behind them. */
void hazard_host_wait(hazard *h, uint64_t submission);
/* What follows in these stages waits for all submissions up to this one. */
void hazard_semaphore_wait(hazard *h, uint64_t submission, uint64_t dst_stages);

typedef enum hazard_fault_kind {
    HAZARD_UNORDERED, /* two commands */
    /* A barrier between commands of a command buffer that no pair needs, not even one of anything
     * that may have run before the command buffer and the first use of a buffer in it. */
    HAZARD_NEEDLESS_BARRIER
} hazard_fault_kind;

#define HAZARD_TEXT_SIZE 512u

typedef struct hazard_fault {
    hazard_fault_kind kind;
    char text[HAZARD_TEXT_SIZE]; /* says the two commands, or the barrier */
} hazard_fault;

/* Barriers count as needless from the time on at which nothing can need them any more: a host wait,
 * or this call. Returns how many faults there are; *out_faults may be fewer. */
uint32_t hazard_faults(hazard *h, const hazard_fault **out_faults, uint32_t *out_listed);

#endif

/* What a failure of a dispatch is: whether the same may be tried again, and what has to be done
 * before. By codes alone, never by a message's text. Pure. */
#ifndef VY_MEGAKERNEL_RECOVERY_H
#define VY_MEGAKERNEL_RECOVERY_H

#include "codegen/base/base.h"

typedef enum vy_mk_failure {
    VY_MK_FAILURE_NONE,
    VY_MK_FAILURE_DEVICE_LOSS,   /* open the device again, make everything anew, try once more */
    VY_MK_FAILURE_TRANSIENT,     /* the same again, later */
    VY_MK_FAILURE_OUT_OF_MEMORY, /* the same in smaller parts, or with memory set free */
    VY_MK_FAILURE_PROGRAM,       /* it fails however often it is tried */
    VY_MK_FAILURE_UNKNOWN,       /* nothing can be assumed */
    VY_MK_FAILURE_COUNT
} vy_mk_failure;

/* "device-loss", ...; "unknown" also for a number that is none. */
const char *vy_mk_failure_name(vy_mk_failure failure);

/* vk_result: the VkResult behind it, 0: none is known. A lost device is one by either. Else the
 * result decides, and for DISPATCH_FAILED, INTERNAL and numbers that are no result the VkResult
 * does; one that succeeded, or that nothing is known of, leaves them UNKNOWN. */
vy_mk_failure vy_mk_failure_classify(vyre_result result, int32_t vk_result);

/* Tries after the first, of one dispatch. */
#define VY_MK_LOSS_RETRIES      1u
#define VY_MK_TRANSIENT_RETRIES 8u
#define VY_MK_MEMORY_RETRIES    8u /* by halves, of 2^20 slots 2^12 are left */

/* Whether to try again what failed `attempt` times so, this one counted. done_count: items whose
 * end was seen: they would run twice, so unless all items are idempotent there must be none. */
bool vy_mk_may_retry(vy_mk_failure failure, uint32_t attempt, uint64_t done_count,
                     bool all_idempotent);

#endif

/* Dispatchers for tests: handlers over one resident buffer, on a device or on the interpreter. */
#ifndef VY_TESTS_MEGAKERNEL_DISPATCHER_SUPPORT_H
#define VY_TESTS_MEGAKERNEL_DISPATCHER_SUPPORT_H

#include "tests/support/engine_run.h"
#include "vyre/dispatcher.h"

/* Opcodes of the handlers of rig_open. */
enum {
    RIG_ADD = 8,       /* data[output] += param; atomically; commutative */
    RIG_SET,           /* data[output] = param; idempotent */
    RIG_COPY,          /* data[output] = data[input]; pure */
    RIG_DOUBLE,        /* data[output] = 2 * data[output] + 1 */
    RIG_FAIL,          /* gives param */
    RIG_AGAIN,         /* requeues until data[output], counted up each time, is param */
    RIG_SPIN,          /* param rounds of arithmetic, then data[output] = the sum */
    RIG_LARGE = 0x1000 /* as RIG_ADD */
};

typedef struct rig {
    vyre_device *device; /* NULL: the interpreter */
    vyre_dispatcher *dispatcher;
    vyre_buffer buffer;
    uint32_t *data; /* words, of the interpreter's buffer or as read back */
    uint32_t count;
} rig;

/* The devices that cases run on, opened and closed by the group: the interpreter, and where there
 * is one the device. */
extern vyre_device *rig_device;
int rig_open_device(void **state);
/* A device whose memory is not the host's, so that queues are copied; and one whose memory is both
 * and must be flushed. */
int rig_open_separate(void **state);
int rig_open_incoherent(void **state);
int rig_close_device(void **state);

/* params may be NULL; program, handlers and bindings are filled in. */
rig *rig_open(vyre_device *device, uint32_t count, const vyre_dispatcher_params *params);
/* The same with handlers of the test's own, over the one buffer that they declare. */
rig *rig_open_with(vyre_device *device, uint32_t count, const vyre_dispatcher_params *params,
                   const char *text, const vyre_handler *handlers, uint32_t handler_count);
void rig_close(rig **r);
/* The dispatcher alone, with rig_open's handlers over a resident buffer of that many words. */
vyre_dispatcher *rig_dispatcher(vyre_device *device, vyre_buffer buffer, uint32_t count,
                                const vyre_dispatcher_params *params);
/* Makes all data 0. */
void rig_clear(rig *r);
/* r->data is what the buffer holds. */
void rig_fetch(rig *r);
/* Must succeed. */
vyre_queue_report rig_run(rig *r, const vyre_work_item *items, uint32_t count, uint32_t flags);
vyre_queue_report rig_run_with(rig *r, const vyre_work_item *items, uint32_t count,
                               const vyre_queue_params *params);
vyre_work_item rig_item(uint32_t opcode, uint32_t input, uint32_t output, uint32_t param);
/* A ring of that many slots, all EMPTY. */
uint32_t *rig_ring(uint32_t slot_count);
/* One slot, published as vyre_ring_publish does, but with any words. */
void rig_put(uint32_t *ring, uint32_t slot, uint32_t opcode, uint32_t tenant, uint32_t priority,
             const uint32_t *args, uint32_t arg_count);
uint32_t rig_status(const uint32_t *ring, uint32_t slot);
/* Must succeed. */
vyre_queue_report rig_run_ring(rig *r, uint32_t *ring, uint32_t slot_count,
                               const vyre_queue_params *params);
/* A control buffer for these tenants and that ring, with observables behind it. */
uint32_t *rig_control(uint32_t tenant_count, uint32_t slot_count, uint32_t observables,
                      size_t *out_size);
/* done + denied + faulted + remaining = given, and what else must hold of every report. */
void rig_check_sums(const vyre_queue_report *report);

/* For each of the two executors that there are. */
#define RIG_FOR_EACH(call)                                                                         \
    do {                                                                                           \
        call(NULL);                                                                                \
        if (rig_device) {                                                                          \
            call(rig_device);                                                                      \
        }                                                                                          \
    } while (0)

#endif

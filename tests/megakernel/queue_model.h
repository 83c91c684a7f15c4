/* A queue's meaning, written apart from the planner: what each opcode touches as sets of places,
 * and what it does to a small memory. Random queues for properties. */
#ifndef VY_QUEUE_MODEL_H
#define VY_QUEUE_MODEL_H

#include "engine/megakernel/effects.h"

#define MODEL_WORDS   300u /* of control */
#define MODEL_HANDLES 20u  /* of users, with sets */
#define MODEL_BIG     4096u
#define SET_WORDS     5u /* 320 places */

/* Handlers of the model's. UNDECLARED stands in no list. */
enum {
    OP_COPY = 8,
    OP_ADD = 9,
    OP_OR = 10,
    OP_OPAQUE = 11,
    OP_UNDECLARED = 12,
    OP_PUT_CONTROL = 13,
    OP_SUM_CONTROL = 14,
    OP_ALL = 15,
    OP_IN_PLACE = 16,
    OP_LOOK = 17,
    OP_SET_INPUT = 18,
    OP_STEP = 19,
    OP_XOR = 20,
    OP_MAX_CONTROL = 21,
    OP_END = 22
};

extern const vy_mk_handler model_handlers[];
extern const uint32_t model_handler_count;

typedef struct model_set {
    uint64_t bits[SET_WORDS];
} model_set;

/* inputs: of `reads` what is more than an output's old value; updates: commuting ones. */
typedef struct model_touch {
    model_set reads, inputs, writes, updates;
    bool orders_all, may_repeat; /* pure or idempotent */
} model_touch;

model_touch model_touch_of(const vyre_work_item *item);
bool model_meet(const model_set *a, const model_set *b);
/* Whether the two must keep their order. */
bool model_conflict(const vyre_work_item *a, const model_touch *ta, const vyre_work_item *b,
                    const model_touch *tb);

typedef struct model_memory {
    uint32_t control[MODEL_WORDS], user[MODEL_BIG];
    uint64_t log;
    bool is_stopped;
} model_memory;

void model_memory_init(model_memory *memory);
void model_run(model_memory *memory, const vyre_work_item *item);

uint32_t model_random(uint64_t *seed, uint32_t below);

typedef enum model_mix {
    MIX_ALL,    /* every opcode */
    MIX_USERS,  /* users' */
    MIX_SYSTEM, /* built-ins */
    MIX_FEW,    /* those that leave most items apart, on many handles */
    MIX_COUNT
} model_mix;

/* handles: of users, at most MODEL_HANDLES where sets are asked for. */
void model_make(uint64_t *seed, model_mix mix, uint32_t handles, vyre_work_item *out_items,
                uint32_t count);

#endif

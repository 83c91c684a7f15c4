/* What operations do to what their items name: one table for the built-in opcodes, a caller's list
 * for users' handlers, and for each item the places that it reads and writes. Pruning, waves and
 * lineage know operations from here alone.
 *
 * Places lie in two spaces that never meet: the words of the control buffer, which built-ins
 * address by their index, and users' handles, of which nothing is known but whether two are equal.
 * The debug log is no place: its records have no order. */
#ifndef VY_MEGAKERNEL_EFFECTS_H
#define VY_MEGAKERNEL_EFFECTS_H

#include "engine/megakernel/map.h"
#include "vyre/megakernel.h"

typedef enum vy_mk_effect {
    VY_MK_READS_INPUT = 1 << 0,
    VY_MK_WRITES_INPUT = 1 << 1,
    VY_MK_READS_OUTPUT = 1 << 2,
    /* All that the output holds is written anew; a handler that leaves parts of it as they were
     * reads it as well. */
    VY_MK_WRITES_OUTPUT = 1 << 3,
    /* Words of the control buffer: of built-ins those that the table names, of users' handlers any
     * of them. */
    VY_MK_READS_CONTROL = 1 << 4,
    VY_MK_WRITES_CONTROL = 1 << 5,
    /* What it writes follows from its input and param, and there is nothing else that it does. */
    VY_MK_PURE = 1 << 6,
    /* Run twice with nothing between it leaves what once leaves, its input and output being
     * different places. */
    VY_MK_IDEMPOTENT = 1 << 7,
    /* On one output, items of this same opcode may run in any order, and at the same time (its
     * updates are atomic). It reads what it updates. */
    VY_MK_COMMUTATIVE = 1 << 8,
    /* Nothing is known: it may read and write what its input and its output name. One that touches
     * the control buffer too must say so. */
    VY_MK_OPAQUE = 1 << 9,
    /* What it touches no handle names: every item before runs before it, every later one after. */
    VY_MK_ORDERS_ALL = 1 << 10
} vy_mk_effect;

#define VY_MK_ALL_EFFECTS 0x7ffu

/* One row of a caller's list. effects: vy_mk_effect, or'ed; 0: it touches nothing that has a
 * name. */
typedef struct vy_mk_handler {
    uint32_t opcode, effects;
} vy_mk_handler;

/* Effects by opcode. Thread-safety: immutable. */
typedef struct vy_mk_effects {
    vy_mk_map opcodes;
    const uint32_t *effects; /* by the opcode's number */
} vy_mk_effects;

/* The table of a list of handlers; `arena` holds it, and nothing is allocated for an empty one.
 * Errors, all INVALID_ARGUMENT but OUT_OF_HOST_MEMORY: the system's opcodes (theirs are fixed), an
 * opcode that stands twice, bits that are none, effects that contradict each other: OPAQUE or
 * ORDERS_ALL with PURE, IDEMPOTENT or COMMUTATIVE; COMMUTATIVE without WRITES_OUTPUT; PURE with
 * anything but READS_INPUT, WRITES_OUTPUT and IDEMPOTENT. */
VYRE_CHECK vyre_result vy_mk_effects_init(vy_mk_effects *out_table, vy_arena *arena,
                                          const vy_mk_handler *handlers, uint64_t count,
                                          vyre_diag *diag);
/* The effects of an opcode: the built-in's, the list's, OPAQUE where neither has it. table: NULL:
 * no list. */
uint32_t vy_mk_effects_find(const vy_mk_effects *table, uint32_t opcode);

/* ---- Places of an item ---------------------------------------------------------------------- */

typedef enum vy_mk_access_mode {
    VY_MK_READ = 1,
    VY_MK_WRITE = 2,
    VY_MK_COMMUTE = 4,  /* with READ and WRITE: an update that commutes with its opcode's others */
    VY_MK_AS_INPUT = 8, /* with READ: what is read is more than the output's old value */
    VY_MK_PARTIAL = 16  /* with WRITE: it may leave some of the place as it was */
} vy_mk_access_mode;

typedef enum vy_mk_space { VY_MK_USER, VY_MK_CONTROL, VY_MK_SPACE_COUNT } vy_mk_space;

/* A handle, or a control word; or all control words together. Words are 64 bits wide since
 * observables lie behind what an argument can name. */
typedef struct vy_mk_access {
    vy_mk_space space;
    uint64_t place;
    uint32_t modes; /* vy_mk_access_mode, or'ed */
} vy_mk_access;

#define VY_MK_ALL_WORDS UINT64_MAX /* of the space CONTROL */

/* A MEMCPY is known word by word up to this length, and a longer one counts as reading and writing
 * all control words: so planning n items stays O(n). */
#define VY_MK_EXACT_WORDS 64u
#define VY_MK_MAX_ACCESS  (2u * VY_MK_EXACT_WORDS)

/* Reads stand before writes, and no place stands in two accesses that could be one. With
 * orders_all there are none. */
typedef struct vy_mk_accesses {
    uint32_t effects, count;
    bool orders_all;
    vy_mk_access at[VY_MK_MAX_ACCESS];
} vy_mk_accesses;

void vy_mk_list_accesses(const vy_mk_effects *table, const vyre_work_item *item,
                         vy_mk_accesses *out_accesses);

/* What every planner begins with. Errors: INVALID_ARGUMENT: more than 2^32 - 1 items, NULL where
 * there are some. */
VYRE_CHECK vyre_result vy_mk_check_items(const vyre_work_item *items, uint64_t count,
                                         vyre_diag *diag);

#endif

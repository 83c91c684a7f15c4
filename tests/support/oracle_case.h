/* Cases for the programs in shaders/ and tests/programs/: a program, inputs of one size, and what
 * plain C says that the outputs are. */
#ifndef VY_ORACLE_CASE_H
#define VY_ORACLE_CASE_H

#include "vyre/interp.h" /* vyre_convergence */

#include <stdbool.h>

typedef enum vy_subject {
    VY_SUBJECT_BFS,
    VY_SUBJECT_COMPONENTS,
    VY_SUBJECT_DATAFLOW,
    VY_SUBJECT_SCAN,
    VY_SUBJECT_COMPACT,
    VY_SUBJECT_HISTOGRAM,
    VY_SUBJECT_REDUCE,
    VY_SUBJECT_LIFE,
    VY_SUBJECT_BITSET,
    VY_SUBJECT_EXTREMES,
    VY_SUBJECT_RADIX_SORT,
    VY_SUBJECT_DISTINCT,
    VY_SUBJECT_SPMV,
    VY_SUBJECT_MATMUL,
    VY_SUBJECT_SEMIRING_MATMUL,
    VY_SUBJECT_LINEAR_INT4,
    VY_SUBJECT_SOFTMAX,
    VY_SUBJECT_LAYER_NORM,
    VY_SUBJECT_ATTENTION,
    VY_SUBJECT_FFT,
    VY_SUBJECT_HEAT,
    VY_SUBJECT_UTF8,
    VY_SUBJECT_LINES,
    VY_SUBJECT_BASE64,
    VY_SUBJECT_AHO_CORASICK,
    VY_SUBJECT_DFA_SCAN,
    VY_SUBJECT_FNV1A,
    VY_SUBJECT_CRC32,
    VY_SUBJECT_ADLER32,
    VY_SUBJECT_BLAKE3,
    VY_SUBJECT_AES_CTR,
    VY_SUBJECT_REACH,
    VY_SUBJECT_BFS_QUEUE,
    VY_SUBJECT_SHORTEST_PATHS,
    VY_SUBJECT_CLOSURE,
    /* Of tests/programs/. */
    VY_SUBJECT_RANK_SORT,
    VY_SUBJECT_HISTOGRAM_GATHER,
    VY_SUBJECT_SCAN_GROUP,
    VY_SUBJECT_SEGMENTS,
    VY_SUBJECT_BYTECODE,
    VY_SUBJECT_MATVEC_INT8,
    VY_SUBJECT_NTT,
    VY_SUBJECT_NFA,
    VY_SUBJECT_BRACKETS,
    VY_SUBJECT_BFS_GROUP,
    VY_SUBJECT_UNION_FIND,
    VY_SUBJECT_COUNT
} vy_subject;

/* Kinds of inputs; each program has some of them. What one means to a program that is not named
 * here says the function that makes its cases. */
typedef enum vy_variant {
    VY_VARIANT_PATH,     /* graphs: one end of a path reaches the other */
    VY_VARIANT_SHUFFLED, /* components: a path through scattered nodes */
    VY_VARIANT_GRID,     /* bfs (from every 64th node each way) and other graphs */
    VY_VARIANT_RANDOM,   /* all but life */
    VY_VARIANT_DIRECTED, /* bfs: a random graph of half as many neighbours, from every 64th node */
    VY_VARIANT_WIDE,     /* dataflow: three words in a set; life and others: one row */
    VY_VARIANT_SQUARE,   /* life: nearly square, of at least that many cells; matrices */
    VY_VARIANT_BRIEF,    /* life: the same for five generations */
    VY_VARIANT_NONE,     /* compact: nothing stays; histogram, reduce: all elements are equal */
    VY_VARIANT_ALL,      /* compact: everything stays */
    VY_VARIANT_COUNT
} vy_variant;

#define VY_CASE_MAX_SLOTS         10u
#define VY_CASE_MAX_PARAMS        8u
#define VY_CASE_GENERATIONS       100u /* of life */
#define VY_CASE_BRIEF_GENERATIONS 5u   /* of life and heat */

/* A binding that the case fills, checks or sizes; the others are the program's own affair. */
typedef struct vy_slot {
    const char *name;
    uint32_t *in;       /* NULL: none */
    uint32_t *expected; /* NULL: not compared */
    uint32_t *out;      /* NULL, or room for what the device gives */
    float *slack; /* NULL: bits are equal; otherwise f32, at most so far from what is expected */
    uint32_t count;
} vy_slot;

typedef struct vy_case {
    vy_subject subject;
    vy_variant variant;
    uint32_t size;
    vy_slot slots[VY_CASE_MAX_SLOTS];
    uint32_t slot_count;
    uint32_t params[VY_CASE_MAX_PARAMS], param_count;
    uint32_t grid_elements;   /* what `grid over` comes to */
    uint32_t workgroup;       /* the program's; 0: it counts its few workgroups itself */
    uint32_t passes;          /* asked for; 0: the program's own limit */
    uint32_t passes_expected; /* 0: not said; the interpreter's where it runs */
    uint32_t passes_run;      /* of the last run */
    vyre_convergence convergence;
} vy_case;

const char *vy_subject_name(vy_subject subject);
const char *vy_subject_folder(vy_subject subject); /* which has NAME.vyre */
const char *vy_variant_name(vy_variant variant);
bool vy_subject_has(vy_subject subject, vy_variant variant);

/* False without memory; finish takes a half-made case too. */
bool vy_case_init(vy_case *out_case, vy_subject subject, vy_variant variant, uint32_t size,
                  uint64_t seed);
void vy_case_finish(vy_case *c);
/* Room for the device's results, in every slot that has an expectation. */
bool vy_case_keep_outputs(vy_case *c);
vy_slot *vy_case_find(vy_case *c, const char *name);

#endif

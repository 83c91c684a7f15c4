/* The programs that scan: their text, put together from parts (text_parts.h). */
#ifndef VY_SCAN_TEXT_H
#define VY_SCAN_TEXT_H

#include "codegen/base/base.h"
#include "vyre/scan.h"

typedef struct vy_scan_variant {
    bool is_wide;     /* entries of 32 bits; else 16 */
    bool is_staged;   /* by shared memory; else each invocation reads its own segment */
    bool is_multiple; /* several automata */
    bool is_again;    /* hits alone are written, of a batch that was walked */
    bool is_reset;    /* scanning begins at the last byte that resets, else by the overlap */
    uint32_t workgroup;
} vy_scan_variant;

/* Words that describe an automaton on the device: where its transitions begin (an index of the
 * table's entries), its number of classes, where its states' outputs are told, 0, then the class of
 * each byte, four to a word. */
#define VY_SCAN_AUTOMATON_WORDS 68u
/* Behind all of them, a bit for each byte: whatever the state, it is the same one behind it. */
#define VY_SCAN_RESET_WORDS 8u
/* Automata that one launch has. */
#define VY_SCAN_MOST_AUTOMATA 32u
#define VY_SCAN_FLAG_WIDE     0x80000000u /* in an entry: rules end in the state */
#define VY_SCAN_FLAG_NARROW   0x8000u

/* The buffers of the programs, in order of declaration. */
typedef enum vy_scan_buffer {
    VY_SCAN_TEXT,  /* u32x4: the files' bytes, each file from a multiple of 64 on */
    VY_SCAN_FILES, /* u32x4: start in units of 16 bytes, size, layer, first row */
    VY_SCAN_TABLE, /* u32: entries: with 32 bits the index of the next state's entries and
                      VY_SCAN_FLAG_WIDE; with 16, two to a word, its number and
                      VY_SCAN_FLAG_NARROW */
    VY_SCAN_AUTOMATA,
    VY_SCAN_OUTPUTS, /* u32: for each automaton where each state's rules begin here, and end; then
                        the rules */
    VY_SCAN_STATE,   /* u32: vyre_scan_word */
    VY_SCAN_COUNTS,  /* u32 for each row: hits */
    VY_SCAN_PLACES,  /* u32 for each workgroup's rows, and one: hits, then where they begin */
    VY_SCAN_HITS,    /* u32x4: vyre_hit */
    VY_SCAN_MASKS, /* u32 for each row: automata that have hits there; of several automata alone */
    VY_SCAN_BUFFER_COUNT
} vy_scan_buffer;

/* The parameters, all u32. */
typedef enum vy_scan_param {
    VY_SCAN_ROW_COUNT, /* a row is a segment */
    VY_SCAN_FILE_COUNT,
    VY_SCAN_SEGMENT_SIZE,
    VY_SCAN_OVERLAP,
    VY_SCAN_AUTOMATON_COUNT,
    VY_SCAN_FIRST_HIT, /* that is written; as many follow as there is room for */
    VY_SCAN_PARAM_COUNT
} vy_scan_param;

/* Left in HIT_HEAD where there are more hits than can be counted. */
#define VY_SCAN_TOO_MANY 0xffffffffu
#define VY_SCAN_TRAP_ROW                                                                           \
    1u /* code of the record that says that a row had more hits than its share                     \
          of what can be counted */

void vy_scan_text(const vy_scan_variant *variant, vy_text *text);

#endif

/* Scanners and batches from within. A scanner's automata are launched in banks of up to
 * VY_SCAN_MOST_AUTOMATA; a batch has a part for each bank: what one launch works with and leaves.
 */
#ifndef VY_SCAN_SCANNER_H
#define VY_SCAN_SCANNER_H

#include "codegen/base/thread.h"
#include "engine/scan/automaton.h"
#include "engine/scan/text.h"

#define VY_SCAN_UNIT        64u   /* files begin at multiples */
#define VY_SCAN_INLINE_HITS 4096u /* that come back with a launch itself */

/* ---- Tables (table.c) ------------------------------------------------------------------------ */

/* The tables of some automata as the device has them. */
typedef struct vy_scan_tables {
    uint32_t *table, *automata, *outputs;
    size_t table_words, automata_words, output_words;
} vy_scan_tables;

/* UNSUPPORTED_FEATURE where entries cannot number all states. */
vyre_result vy_scan_tables_build(const vy_automaton *const *automata, uint32_t count, bool is_wide,
                                 const vyre_allocator *allocator, vy_scan_tables *out_tables,
                                 vyre_diag *diag);
/* The bytes behind which the state is the same whatever it was before, as bits; whether there are
 * any. */
bool vy_scan_resets(const vy_automaton *a, uint32_t bits[VY_SCAN_RESET_WORDS]);
void vy_scan_tables_finish(const vyre_allocator *allocator, vy_scan_tables *tables);

/* ---- Scanners (scanner.c) -------------------------------------------------------------------- */

/* Where scanning of a segment begins: so that the state is right where the segment does. */
typedef enum vy_scan_start {
    VY_SCAN_BY_OVERLAP, /* a number of bytes before it */
    VY_SCAN_BY_RESET,   /* at the last byte before it that resets */
    VY_SCAN_WHOLE,      /* at the file's start, and files are not cut */
    VY_SCAN_START_COUNT
} vy_scan_start;

typedef struct vy_scan_bank {
    uint32_t automaton_count;
    vy_scan_start start;
    uint32_t overlap; /* of all of them */
    vyre_buffer table, automata, outputs;
} vy_scan_bank;

typedef struct vy_scan_pipeline {
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
} vy_scan_pipeline;

/* What a scan does by default, or by what calibration found. */
typedef struct vy_scan_choice {
    uint32_t segment_size;
    vyre_scan_staging staging;
} vy_scan_choice;

struct vyre_scanner {
    vyre_allocator allocator;
    vyre_device *device; /* NULL: the host scans */
    const vyre_catalogue *catalogue;
    bool is_wide;
    uint32_t workgroup, worker_groups;
    vyre_binding_mode bindings;
    vy_scan_bank *banks;
    uint32_t bank_count;
    vy_mutex mutex; /* of what follows */
    vy_scan_choice choice;
    vy_scan_pipeline pipelines[16]; /* by vy_scan_variant; made when they are needed */
    vyre_scan_batch *busy;          /* batches of which a scan is in flight */
};

/* The pipeline, made where it is missing. */
vyre_result vy_scanner_pipeline(vyre_scanner *s, const vy_scan_bank *bank, bool is_staged,
                                bool is_again, vyre_pipeline **out_pipeline, vyre_diag *diag);

/* ---- Batches (batch.c) ----------------------------------------------------------------------- */

typedef struct vy_scan_file {
    uint32_t start; /* in units of 16 bytes */
    uint32_t size, layer;
    uint64_t path_hash;
} vy_scan_file;

/* What the device knows of the files, cut into segments of one size: written when files were added
 * since, or the size is another one. */
typedef struct vy_scan_table {
    vyre_buffer buffer;
    uint32_t *entries;    /* four words each: mapped, or the host's own */
    uint32_t entry_count; /* that there is room for */
    bool is_mapped, is_coherent, is_written;
    uint32_t segment_size;
    uint64_t row_count; /* of all files */
} vy_scan_table;

typedef struct vy_scan_part {
    vyre_buffer counts, masks, places, state, hits; /* masks: of several automata alone */
    uint64_t row_capacity, mask_capacity, place_capacity;
    uint32_t hit_capacity;
    /* Of the scan in flight, or the last one. */
    uint32_t params[VY_SCAN_PARAM_COUNT];
    uint32_t groups;
    bool is_staged;
    vyre_ticket ticket;
    bool is_submitted, has_ended;
    uint32_t words[8];     /* of the state */
    vyre_hit *inline_hits; /* VY_SCAN_INLINE_HITS */
    vyre_report report;
    uint64_t total; /* hits */
} vy_scan_part;

typedef enum vy_scan_flight { VY_SCAN_IDLE, VY_SCAN_IN_FLIGHT } vy_scan_flight;

struct vyre_scan_batch {
    vyre_allocator allocator;
    vyre_device *device;
    vyre_scan_memory memory;
    vyre_buffer text;
    unsigned char *bytes; /* mapped, or the host's own */
    bool is_mapped, is_coherent;
    uint64_t capacity, used; /* used: a multiple of VY_SCAN_UNIT */
    uint64_t clean;          /* bytes before it are on the device */
    uint64_t reserved;       /* bytes; UINT64_MAX: nothing is */
    vy_scan_file *files;
    uint32_t file_count, file_capacity;
    uint64_t size;
    uint32_t hit_capacity;
    uint32_t threads;     /* that copy */
    uint64_t written;     /* bytes added since the batch was cleared */
    uint32_t allocations; /* buffers made, ever */
    /* Of scans. */
    vyre_scanner *scanner;   /* whose scan is in flight */
    vyre_scan_batch *next;   /* of its list */
    vy_scan_table tables[2]; /* by whether files are whole whatever size was chosen */
    vy_scan_part *parts;
    uint32_t part_count;
    vyre_hit *hits; /* of the last scan: mapped, where hits_buffer is one; else allocated */
    uint64_t hit_count, hit_room;
    vyre_buffer hits_buffer;
    bool hits_are_coherent;
    vyre_scan_report report;
    uint64_t start_ns;
    uint32_t flags;
};

/* A buffer that is not made zero, in place of the one there is, which may be in use by work that
 * was given up; and its end, if it is one. */
vyre_result vy_scan_remake(vyre_scan_batch *b, uint64_t size, uint32_t flags, const char *name,
                           vyre_buffer *buffer, vyre_diag *diag);
void vy_scan_unmake(vyre_scan_batch *b, vyre_buffer *buffer);
/* Makes the text visible to the device: copies what was added, where it is not mapped. */
vyre_result vy_scan_batch_flush(vyre_scan_batch *b, uint64_t *out_size, vyre_diag *diag);
/* copy.c: the bytes of files that have their places, from file `first` on. */
void vy_scan_copy(vyre_scan_batch *b, uint32_t first, const vyre_scan_file *files, uint32_t count);
/* files.c: the batch's files as the device knows them; *out_size is 0 where it did already. */
vyre_result vy_scan_table_write(vyre_scan_batch *b, vy_scan_table *table, uint32_t segment_size,
                                uint64_t *out_size, vyre_diag *diag);
void vy_scan_table_finish(vyre_scan_batch *b, vy_scan_table *table);
/* Parts with room for so many rows, of several automata with masks. */
vyre_result vy_scan_batch_parts(vyre_scan_batch *b, uint32_t count, vyre_diag *diag);
vyre_result vy_scan_part_rows(vyre_scan_batch *b, vy_scan_part *part, uint64_t row_count,
                              uint32_t place_count, uint32_t automaton_count, vyre_diag *diag);
/* Room for so many hits on the device; contents are lost. */
vyre_result vy_scan_part_hits(vyre_scan_batch *b, vy_scan_part *part, uint32_t capacity,
                              vyre_diag *diag);
/* Room for so many hits on the host; of a batch without a device contents are kept. */
vyre_result vy_scan_batch_room(vyre_scan_batch *b, uint64_t count, vyre_diag *diag);

/* ---- Scans ------------------------------------------------------------------------------------
 */

/* submit.c: launches the walk of every bank. */
vyre_result vy_scan_submit(vyre_scanner *s, vyre_scan_batch *b, const vy_scan_choice *choice,
                           uint32_t flags, vyre_diag *diag);
/* Launches a part again, for the hits from `first` on. Waits. */
vyre_result vy_scan_again(vyre_scanner *s, vyre_scan_batch *b, uint32_t bank, uint32_t first,
                          vyre_diag *diag);
/* collect.c: waits for all parts. */
vyre_result vy_scan_wait(vyre_scanner *s, vyre_scan_batch *b, uint64_t timeout_ns, vyre_diag *diag);
/* Ends the scan in flight without its hits: waits for what was launched. */
void vy_scan_give_up(vyre_scanner *s, vyre_scan_batch *b);
/* order.c: hits of one part whose equal offsets are in no order of rules. */
void vy_scan_order_rules(vyre_hit *hits, uint64_t count);
/* Merges runs that are in order themselves: run i ends before ends[i]. `spare` has as much room. */
void vy_scan_merge(vyre_hit *hits, vyre_hit *spare, const uint64_t *ends, uint32_t count);
/* host.c: scans on the calling thread. */
vyre_result vy_scan_on_host(vyre_scanner *s, vyre_scan_batch *b, vyre_diag *diag);

#endif

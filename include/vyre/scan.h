/* Scanning: many files for many patterns in one launch. A catalogue is patterns made into automata;
 * a batch is files in memory that the device reads; a scanner finds every place of a batch where a
 * pattern ends, in the order of files, offsets and patterns, none left out. docs/scan.md says when
 * that is faster than a scanner on the processor. */
#ifndef VYRE_SCAN_H
#define VYRE_SCAN_H

#include "vyre/dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Records ----------------------------------------------------------------------------------
 */

/* A pattern ended: `offset` is that of its last byte in the file. Four words, as the device writes
 * them. */
typedef struct vyre_hit {
    uint32_t file;   /* in the order in which files were added */
    uint32_t rule;   /* index of the pattern in the catalogue */
    uint32_t layer;  /* of the file */
    uint32_t offset; /* bytes */
} vyre_hit;

#define VYRE_HIT_WORDS 4u
/* What is known of a file: its path's hash (low, high), size and layer. */
#define VYRE_FILE_METADATA_WORDS 4u
/* What is done of a batch at once, never stored: file, rule, layer. */
#define VYRE_WORK_TRIPLE_WORDS 3u

/* Words of the queue on the device; reports have them by name. */
typedef enum vyre_scan_word {
    VYRE_SCAN_HEAD,         /* tiles that were claimed */
    VYRE_SCAN_QUEUE_LENGTH, /* segments times automata */
    VYRE_SCAN_HIT_HEAD,     /* hits that were found */
    VYRE_SCAN_HIT_CAPACITY, /* that there was room for */
    VYRE_SCAN_DONE_COUNT,   /* of the queue's length, those that were walked to their end */
    VYRE_SCAN_RULE_COUNT,
    VYRE_SCAN_WORDS
} vyre_scan_word;

#define VYRE_MAX_HITS 16777216u /* that one launch writes; more are written by several */

/* ---- Catalogues -------------------------------------------------------------------------------
 */

#define VYRE_PATTERN_CASELESS 1u /* of literals: A to Z are a to z, other bytes are themselves */

/* A literal, or an automaton over bytes. */
typedef struct vyre_pattern {
    const void *literal; /* NULL: the automaton */
    size_t size;         /* bytes of the literal, at least 1 */
    uint32_t flags;      /* VYRE_PATTERN_* */
    /* A deterministic automaton that starts in state 0 at the beginning of a file and has found the
     * pattern wherever it is in an accepting state: the state behind state s and byte b is
     * transitions[s * 256 + b]. That of an expression E is the automaton of ".*E" with a dot for
     * every byte. */
    const uint32_t *transitions;
    const uint8_t *accepts; /* one for each state: not 0: accepting */
    uint32_t state_count;
    /* Entries that there are, where the caller wants them checked; 0: as state_count says. */
    size_t transition_count, accept_count;
} vyre_pattern;

/* Why a pattern was not taken. The others are found all the same. */
typedef enum vyre_rejection_reason {
    VYRE_REJECTION_EMPTY, /* a literal of no bytes, or an automaton that accepts before a byte */
    VYRE_REJECTION_TABLE_SIZE, /* transitions or accepts do not have state_count's size */
    VYRE_REJECTION_TARGET,     /* a transition leads to a state that is not there */
    VYRE_REJECTION_MISSING,    /* neither a literal nor an automaton */
    VYRE_REJECTION_STATES,     /* more states than the catalogue may have */
    VYRE_REJECTION_COUNT
} vyre_rejection_reason;

/* A pattern that was not taken. */
typedef struct vyre_rejection {
    uint32_t rule;
    vyre_rejection_reason reason;
    uint32_t state, byte; /* of TARGET; VYRE_DIAG_NONE otherwise */
} vyre_rejection;
/* In a few words, what is wrong and how it is mended; never NULL. */
VYRE_API const char *vyre_rejection_text(vyre_rejection_reason reason);

/* How patterns become automata. Hits are the same. */
typedef enum vyre_grouping {
    VYRE_GROUPING_AUTO,     /* COMBINED as far as max_states allows, several automata beyond */
    VYRE_GROUPING_COMBINED, /* one automaton: UNSUPPORTED where it had more states than max_states
                             */
    VYRE_GROUPING_PER_RULE  /* an automaton for each pattern; equal ones are one */
} vyre_grouping;

/* What vyre_catalogue_create makes. */
typedef struct vyre_catalogue_params {
    uint32_t struct_size;
    const vyre_allocator *allocator; /* kept */
    const vyre_pattern *patterns;    /* borrowed for the call */
    uint32_t pattern_count;
    vyre_grouping grouping;
    /* States of one automaton that patterns given as automata are combined into, and of each of
     * them as it is given; at most 2^24; 0: 65,536. Literals are combined whatever their number, up
     * to 2^24 states. */
    uint32_t max_states;
    uint64_t max_size; /* bytes of all tables; 0: 1 GiB */
} vyre_catalogue_params;

static inline void vyre_catalogue_params_init(vyre_catalogue_params *params)
{
    vyre_catalogue_params zero = {0, 0, 0, 0, VYRE_GROUPING_AUTO, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Thread-safety: immutable. */
typedef struct vyre_catalogue vyre_catalogue;

/* Needs no device. Patterns that cannot be taken are listed (vyre_catalogue_rejection) and found
 * nowhere; none at all is no error. Errors: INVALID_ARGUMENT (params, flags of a pattern),
 * UNSUPPORTED_FEATURE (tables beyond max_size; literals beyond 2^24 states; COMBINED beyond
 * max_states), OUT_OF_HOST_MEMORY. Same patterns, same tables. */
VYRE_API VYRE_CHECK vyre_result vyre_catalogue_create(const vyre_catalogue_params *params,
                                                      vyre_catalogue **out_catalogue,
                                                      vyre_diag *diag);
/* Not before the scanners made of it. Sets *catalogue to NULL; NULL is no error. */
VYRE_API void vyre_catalogue_destroy(vyre_catalogue **catalogue);

#define VYRE_OVERLAP_NONE UINT32_MAX /* no number of bytes is enough */

/* What came of the patterns. */
typedef struct vyre_catalogue_info {
    uint32_t rule_count;      /* patterns given */
    uint32_t rejection_count; /* of these not taken */
    uint32_t automaton_count;
    uint64_t state_count, table_size; /* of all automata; bytes with 32-bit entries */
    uint32_t max_class_count;         /* of an automaton: bytes that it tells apart */
    int fits_16_bits;                 /* every state of every automaton is below 32,768 */
    /* Bytes that a segment has to be scanned before those that it owns, the most of all automata:
     * after so many of them the state is the same wherever scanning began. VYRE_OVERLAP_NONE: of
     * some automaton no number is enough. For that one scanning begins at the last byte before the
     * segment behind which the state is always the same, such as the end of a line for expressions
     * that do not match it; where no byte is such a one, files are scanned whole. */
    uint32_t overlap;
    uint64_t fingerprint; /* of all tables: equal ones find the same */
} vyre_catalogue_info;
/* Fills in all of it. */
VYRE_API void vyre_catalogue_get_info(const vyre_catalogue *catalogue,
                                      vyre_catalogue_info *out_info);
/* The rejection of that number, in the order of rules; the number is below the count. */
VYRE_API void vyre_catalogue_rejection(const vyre_catalogue *catalogue, uint32_t index,
                                       vyre_rejection *out_rejection);

/* Called for each hit, in order of offsets and then of rules; not 0: no more. */
typedef int (*vyre_hit_fn)(void *user, const vyre_hit *hit);
/* Scans memory on the calling thread, as one file. Errors: INVALID_ARGUMENT (more than 2^32 - 1
 * bytes), OUT_OF_HOST_MEMORY. Stopping is no error. */
VYRE_API VYRE_CHECK vyre_result vyre_catalogue_scan(const vyre_catalogue *catalogue,
                                                    const void *bytes, size_t size, vyre_hit_fn hit,
                                                    void *user, vyre_diag *diag);

/* ---- Segments ---------------------------------------------------------------------------------
 */

/* A piece of a file: hits in [emit_start, emit_end) are its own, and scanning begins at scan_start,
 * at most `overlap` before. Bytes, from the file's start. Four words. */
typedef struct vyre_scan_segment {
    uint32_t file, scan_start, emit_start, emit_end;
} vyre_scan_segment;

#define VYRE_SEGMENT_WHOLE UINT32_MAX /* a segment for each file */

/* Cuts files of these sizes into segments of segment_size bytes, of which each byte is owned by
 * one; an empty file has none. Writes up to `capacity` and into *out_count how many there are.
 * Errors: INVALID_ARGUMENT: segment_size 0; more segments than 2^32 - 1. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_plan_segments(
    const uint32_t *file_sizes, uint32_t file_count, uint32_t segment_size, uint32_t overlap,
    vyre_scan_segment *out_segments, uint32_t capacity, uint32_t *out_count, vyre_diag *diag);

/* ---- Batches ----------------------------------------------------------------------------------
 */

/* Where the bytes of a batch lie. */
typedef enum vyre_scan_memory {
    VYRE_SCAN_MEMORY_AUTO,   /* DEVICE */
    VYRE_SCAN_MEMORY_DEVICE, /* the device's own, written by the host where it can be mapped */
    VYRE_SCAN_MEMORY_HOST    /* the host's, which the device reads over the bus as it scans */
} vyre_scan_memory;

/* What vyre_scan_batch_create makes. */
typedef struct vyre_scan_batch_params {
    uint32_t struct_size;
    const vyre_allocator *allocator; /* kept */
    uint64_t size;                   /* bytes that are set aside at first; grows as needed */
    uint32_t file_count;             /* likewise */
    vyre_scan_memory memory;
    /* Hits that there is room for at first; 0: 65,536. A scan that finds more makes room for them,
     * or, beyond VYRE_MAX_HITS, takes them in parts. Errors: more than VYRE_MAX_HITS. */
    uint32_t hit_capacity;
    /* Threads that copy what vyre_scan_batch_add and vyre_scan_batch_refresh are given, where that
     * is much, with the calling one; 0: that one alone. At most 64. One thread writes some 10 GB/s
     * into a GPU's memory. */
    uint32_t threads;
} vyre_scan_batch_params;

static inline void vyre_scan_batch_params_init(vyre_scan_batch_params *params)
{
    vyre_scan_batch_params zero = {0, 0, 0, 0, VYRE_SCAN_MEMORY_AUTO, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Files that are scanned together: at most 2^32 - 1 bytes in all, each file rounded up to 64.
 * Thread-safety: external. While a scan of it is in flight nothing may be added; other batches may
 * be filled meanwhile. */
typedef struct vyre_scan_batch vyre_scan_batch;

/* A batch without a device (NULL) is scanned by scanners without one. Errors: INVALID_ARGUMENT,
 * DEVICE_OUT_OF_MEMORY, OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_batch_create(vyre_device *device,
                                                       const vyre_scan_batch_params *params,
                                                       vyre_scan_batch **out_batch,
                                                       vyre_diag *diag);
/* Waits for a scan in flight. */
VYRE_API void vyre_scan_batch_destroy(vyre_scan_batch **batch);

/* A file of a batch. */
typedef struct vyre_scan_file {
    const void *bytes; /* of vyre_scan_batch_add: copied */
    uint32_t size;
    uint32_t layer;     /* the caller's; stands in hits */
    uint64_t path_hash; /* the caller's */
} vyre_scan_file;

/* Makes the batch empty and keeps its memory. Errors: BUSY. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_batch_clear(vyre_scan_batch *batch, vyre_diag *diag);
/* Adds a file, which gets the next number. Errors: BUSY, INVALID_ARGUMENT (the batch would have
 * more than 2^32 - 1 bytes: scan it, clear it and go on), memory; the batch is then as it was. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_batch_add(vyre_scan_batch *batch,
                                                    const vyre_scan_file *file, vyre_diag *diag);
/* Room for a file of up to `size` bytes, to read one into without copying it: write to *out_bytes
 * once, in ascending order, never read (the memory may be the device's). Then
 * vyre_scan_batch_commit with the size that it came to, at most `size`; until then nothing else may
 * be called on the batch but commit, clear and destroy. Errors: as vyre_scan_batch_add. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_batch_reserve(vyre_scan_batch *batch, uint32_t size,
                                                        void **out_bytes, vyre_diag *diag);
/* Adds what was reserved; file->bytes is not used. Errors: INVALID_ARGUMENT (nothing is reserved,
 * or less). */
VYRE_API VYRE_CHECK vyre_result vyre_scan_batch_commit(vyre_scan_batch *batch,
                                                       const vyre_scan_file *file, vyre_diag *diag);

/* What filling a batch again took. */
typedef struct vyre_scan_refresh_report {
    uint64_t uploaded_size;                 /* bytes written for the device */
    uint32_t allocations;                   /* buffers that were made */
    uint32_t reused_count, refreshed_count; /* buffers kept as they were; of these written anew */
} vyre_scan_refresh_report;
/* Clears the batch and adds all files. Errors: as vyre_scan_batch_add, after which the batch is
 * empty. out_report may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_batch_refresh(vyre_scan_batch *batch,
                                                        const vyre_scan_file *files,
                                                        uint32_t file_count,
                                                        vyre_scan_refresh_report *out_report,
                                                        vyre_diag *diag);

/* What a batch has. */
typedef struct vyre_scan_batch_info {
    uint32_t file_count;
    uint64_t size, capacity; /* bytes of the files; that there is room for */
    uint32_t hit_capacity;
    uint64_t device_size; /* bytes of all its buffers */
    int is_mapped;        /* files are written where the device reads them; else they are copied */
} vyre_scan_batch_info;
/* Fills in all of it. */
VYRE_API void vyre_scan_batch_get_info(const vyre_scan_batch *batch,
                                       vyre_scan_batch_info *out_info);
/* The words of a file; its number is below the count. */
VYRE_API void vyre_scan_batch_get_file(const vyre_scan_batch *batch, uint32_t file,
                                       uint32_t out_words[VYRE_FILE_METADATA_WORDS]);

/* ---- Scanners ---------------------------------------------------------------------------------
 */

/* Entries of the tables on the device. */
typedef enum vyre_transition_width {
    VYRE_TRANSITION_AUTO, /* 32 bits, which were faster on every device measured */
    VYRE_TRANSITION_16,   /* INVALID_ARGUMENT where one has more than 32,768 states */
    VYRE_TRANSITION_32
} vyre_transition_width;

/* How bytes reach the automata. Hits are the same. */
typedef enum vyre_scan_staging {
    VYRE_SCAN_STAGING_AUTO,   /* as calibration found; before that DIRECT */
    VYRE_SCAN_STAGING_SHARED, /* workgroups copy their tile into shared memory, piece by piece */
    VYRE_SCAN_STAGING_DIRECT  /* each invocation reads its own segment */
} vyre_scan_staging;

/* What vyre_scanner_create makes. */
typedef struct vyre_scanner_params {
    uint32_t struct_size;
    const vyre_allocator *allocator; /* kept */
    vyre_transition_width width;
    vyre_scan_staging staging;
    /* Bytes that a segment owns; 0: as calibration found, else 512. At least 64, rounded up to a
     * multiple of it; VYRE_SEGMENT_WHOLE: a segment for each file. */
    uint32_t segment_size;
    uint32_t workgroup;     /* invocations: 64, 128 or 256; 0: 128 */
    uint32_t worker_groups; /* workgroups of the first step; 0: as many as fill the device */
    vyre_binding_mode bindings;
} vyre_scanner_params;

static inline void vyre_scanner_params_init(vyre_scanner_params *params)
{
    vyre_scanner_params zero = {0, 0, VYRE_TRANSITION_AUTO, VYRE_SCAN_STAGING_AUTO, 0,
                                0, 0, VYRE_BINDINGS_AUTO};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* A catalogue on a device. Thread-safety: safe, apart from create and destroy. */
typedef struct vyre_scanner vyre_scanner;

/* Uploads the catalogue's tables, where they stay, and makes the pipelines. Keeps catalogue and
 * device until it is destroyed. Without a device (NULL) the calling thread scans. Errors:
 * INVALID_ARGUMENT, UNSUPPORTED_FEATURE, DEVICE_OUT_OF_MEMORY, OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_scanner_create(vyre_device *device,
                                                    const vyre_catalogue *catalogue,
                                                    const vyre_scanner_params *params,
                                                    vyre_scanner **out_scanner, vyre_diag *diag);
/* Waits for its scans in flight; their batches are then without hits. */
VYRE_API void vyre_scanner_destroy(vyre_scanner **scanner);

/* What a scan did. Sizes in bytes; times in ns, VYRE_NS_NONE where nothing was measured. */
typedef struct vyre_scan_report {
    uint64_t hit_count;     /* all of them */
    uint64_t dropped_count; /* of these, those that the first launch had no room for */
    uint32_t launches;      /* first ones and those that wrote what was dropped */
    uint32_t waits;
    uint32_t segment_size; /* used */
    vyre_scan_staging staging;
    vyre_transition_width width;
    uint64_t segment_count, queue_length; /* segments; times automata */
    uint64_t claimed_count, done_count;   /* tiles; of the queue's length */
    uint64_t scanned_size; /* bytes that were walked, overlaps and automata counted */
    /* For this scan: what was copied, and 16 bytes a file where files were added since the last one
     * or segments have another length. */
    uint64_t uploaded_size;
    /* With each launch its words and the first 4,096 hits, where there is room for as many; then,
     * if there are more, all of them. */
    uint64_t read_back_size;
    uint64_t moved_size;  /* both */
    uint32_t allocations; /* buffers that were made */
    /* done_count * 10,000 / invocations of the first step, at most 10,000. */
    uint32_t occupancy_bps;
    uint64_t wall_ns, enqueue_ns, device_ns; /* device_ns with VYRE_SCAN_TIMED alone */
} vyre_scan_report;
/* As JSON, schema "vyre.scan-report/1". Cut at out_size; returns the whole text's length. */
VYRE_API size_t vyre_scan_report_format_json(const vyre_scan_report *report, char *out,
                                             size_t out_size);

#define VYRE_SCAN_TIMED 1u /* the report has the device's time */

/* Hits, in the order of files, offsets and rules; the batch's, until it is scanned again, cleared
 * or destroyed. */
typedef struct vyre_scan_result {
    const vyre_hit *hits;
    uint64_t hit_count;
} vyre_scan_result;

/* Scans the batch and waits. timeout_ns 0: no limit. Errors: TIMEOUT (the scan goes on and the
 * batch stays busy: vyre_scanner_wait waits again), BUSY (a scan of the batch is in flight),
 * INVALID_ARGUMENT, memory, DISPATCH_FAILED (less was walked than was queued, with both numbers),
 * DEVICE_LOST. out_report may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_scanner_run(vyre_scanner *scanner, vyre_scan_batch *batch,
                                                 uint32_t flags, uint64_t timeout_ns,
                                                 vyre_scan_result *out_result,
                                                 vyre_scan_report *out_report, vyre_diag *diag);
/* Submits and returns, so that another batch can be filled beside. The batch is busy until it was
 * waited for. Errors: as vyre_scanner_run, of what is known by then. */
VYRE_API VYRE_CHECK vyre_result vyre_scanner_submit(vyre_scanner *scanner, vyre_scan_batch *batch,
                                                    uint32_t flags, vyre_diag *diag);
/* Waits for the scan of a batch in flight, writes what there was no room for, and gives its hits.
 * timeout_ns 0: only looks; UINT64_MAX: no limit.
 * Errors: as vyre_scanner_run; INVALID_ARGUMENT (no scan of it by this scanner is in flight). */
VYRE_API VYRE_CHECK vyre_result vyre_scanner_wait(vyre_scanner *scanner, vyre_scan_batch *batch,
                                                  uint64_t timeout_ns, vyre_scan_result *out_result,
                                                  vyre_scan_report *out_report, vyre_diag *diag);

/* ---- Calibration ------------------------------------------------------------------------------
 */

/* Of one length of segments. */
typedef struct vyre_scan_measurement {
    uint32_t segment_size;
    vyre_scan_staging staging;
    uint32_t complete_count; /* runs that walked all and ended in time */
    uint64_t best_ns;        /* of these the fastest; VYRE_NS_NONE: none */
} vyre_scan_measurement;

#define VYRE_SCAN_MAX_CANDIDATES 16u
/* 4096, 2048, 1024, 512, 256, 128, 64. */
VYRE_API extern const uint32_t vyre_scan_default_candidates[7];

/* What is measured. */
typedef struct vyre_scan_calibration_params {
    uint32_t struct_size;
    const uint32_t *candidates; /* lengths in bytes; NULL: vyre_scan_default_candidates */
    uint32_t candidate_count;   /* at most VYRE_SCAN_MAX_CANDIDATES */
    uint32_t repeat;            /* timed runs of each, behind one that is not; 0: 3 */
    uint64_t timeout_ns;        /* of a run: one that takes longer is not complete; 0: 30 s */
} vyre_scan_calibration_params;

/* What was measured, and what is used from then on. */
typedef struct vyre_scan_calibration {
    uint32_t segment_size; /* the fastest; of equally fast ones the longest */
    vyre_scan_staging staging;
    uint32_t measurement_count;
    vyre_scan_measurement measurements[2 * VYRE_SCAN_MAX_CANDIDATES];
} vyre_scan_calibration;

/* Measures each length with the batch, in each staging, and uses the fastest from then on; with
 * vyre_device_params.cache_dir also in later scanners of the same tables on the same device.
 * Errors: INVALID_ARGUMENT (no candidates, or of size 0), DISPATCH_FAILED (none was complete), as
 * vyre_scanner_run. */
VYRE_API VYRE_CHECK vyre_result vyre_scanner_calibrate(vyre_scanner *scanner,
                                                       vyre_scan_batch *batch,
                                                       const vyre_scan_calibration_params *params,
                                                       vyre_scan_calibration *out_calibration,
                                                       vyre_diag *diag);
/* The choice of vyre_scanner_calibrate: of the measurements with a time the fastest, of equal ones
 * the longest segments. Pure. Errors: DISPATCH_FAILED: none has a time. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_choose(const vyre_scan_measurement *measurements,
                                                 uint32_t count, uint32_t *out_index,
                                                 vyre_diag *diag);

/* ---- Evidence ---------------------------------------------------------------------------------
 */

/* What somebody counted of a scan in segments of its own making. */
typedef struct vyre_scan_evidence_request {
    uint32_t batch_count; /* that were scanned */
    uint64_t chunk_count, chunks_per_encoder;
    uint64_t bind_groups_reused, bind_groups_created;
    uint64_t uploads, readbacks;
    uint64_t digest, reference_digest; /* of all matches, and of those of another way */
} vyre_scan_evidence_request;

/* What follows from it. */
typedef struct vyre_scan_evidence {
    uint32_t schema;             /* VYRE_SCAN_EVIDENCE_SCHEMA */
    uint64_t segments, encoders; /* chunk_count / chunks_per_encoder, rounded up */
    uint64_t copies;             /* uploads + readbacks */
    uint32_t reuse_bps;          /* bind_groups_reused * 10,000 / segments */
    uint64_t digest;
} vyre_scan_evidence;

#define VYRE_SCAN_EVIDENCE_SCHEMA 1u

/* Checks that the numbers fit each other, and works out the rest. Errors: INVALID_ARGUMENT naming
 * what does not fit: no batch, no chunks per encoder, bind groups that are not one for each
 * segment, more copies than 64 bits count, digests that differ. A digest of zero is one. */
VYRE_API VYRE_CHECK vyre_result vyre_scan_check_evidence(const vyre_scan_evidence_request *request,
                                                         vyre_scan_evidence *out_evidence,
                                                         vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

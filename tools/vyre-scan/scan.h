/* What the parts of vyre-scan share: the command, patterns and their automata, files as pieces of
 * memory, and what is printed of the hits. Thread-safety: external. */
#ifndef VY_SCAN_TOOL_H
#define VY_SCAN_TOOL_H

#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "vyre/scan.h"

typedef VY_VEC(const char *) scan_names;

/* ---- Command --------------------------------------------------------------------------------- */

typedef enum scan_output {
    OUTPUT_MATCHES, /* "[FILE:][LINE:]OFFSET:TEXT" for each match */
    OUTPUT_COUNT,   /* lines of each file */
    OUTPUT_WITH,    /* names of files with a match */
    OUTPUT_WITHOUT, /* of those without */
    OUTPUT_QUIET,   /* the exit code alone */
    OUTPUT_ALL      /* "[FILE:]OFFSET:PATTERN" for each hit */
} scan_output;

typedef enum scan_binary {
    BINARY_MESSAGE, /* that there is a match, in place of the match */
    BINARY_TEXT,    /* as text */
    BINARY_SKIP     /* as if there were no match */
} scan_binary;

typedef struct command {
    vy_arena *arena;
    scan_names pattern_files, patterns, files;
    scan_output output;
    scan_binary binary;
    bool is_expression, is_caseless, whole_words, whole_lines, zero_ends;
    bool with_numbers, is_recursive, follows_links, is_silent, json, report, check, calibrate;
    bool reference, list_devices, exit_status;
    int with_names; /* 0: where there may be several files; 1: always; -1: never */
    const char *device;
    uint32_t segment_size;
    uint64_t batch_size; /* 0: not given */
    bool finds_lines;    /* as grep does; else hits alone */
} command;

/* -1: go on; else the exit code. */
int scan_read_command(command *c, int count, char *const *arguments, FILE *out, FILE *err);

/* ---- Expressions ----------------------------------------------------------------------------- */

/* An automaton of bytes, state 0 first. */
typedef struct scan_automaton {
    uint32_t *transitions; /* state * 256 + byte */
    uint8_t *accepts;
    uint8_t *is_dead; /* no accepting state is reached any more */
    uint32_t state_count;
} scan_automaton;

/* A way in which an expression may match: one with borders of the line at its ends. */
typedef struct scan_branch {
    bool at_line_start, at_line_end;
    bool is_nullable;        /* matches nothing at all, too */
    bool has_bytes;          /* matches other texts than that */
    scan_automaton anchored; /* of the match, from where it begins */
    scan_automaton search;   /* accepts behind every byte that ends a match of one byte or more */
} scan_branch;

typedef VY_VEC(scan_branch) scan_branches;

/* False where the tool was built without libfa. */
bool scan_has_expressions(void);
/* The branches of an extended regular expression, in the arena. finds_lines: `search` may accept
 * where a match begins at the start of a line that only a zero byte makes. Errors: INVALID_ARGUMENT
 * (its column is the byte), UNSUPPORTED_FEATURE, OUT_OF_HOST_MEMORY. */
vyre_result scan_compile_expression(vy_arena *arena, const char *text, size_t size,
                                    bool is_caseless, bool finds_lines, scan_branches *out_branches,
                                    vyre_diag *diag);

/* ---- Patterns -------------------------------------------------------------------------------- */

typedef struct scan_text {
    const char *text;
    size_t size;
    const char *file; /* NULL: of the command line */
    uint32_t line;
} scan_text;

/* What a pattern of the catalogue is of. */
typedef struct scan_rule {
    uint32_t text;             /* index */
    uint32_t length;           /* of a literal */
    const scan_branch *branch; /* NULL: a literal */
} scan_rule;

typedef struct scan_patterns {
    vy_arena *arena;
    VY_VEC(scan_text) texts;
    VY_VEC(scan_rule) rules;
    VY_VEC(vyre_pattern) patterns;
    bool finds_every_line;  /* one of them matches nothing at all, anywhere */
    bool finds_empty_lines; /* where the line is empty */
    bool has_newlines, has_expressions;
    vyre_catalogue *catalogue;
    vyre_catalogue_info info;
} scan_patterns;

/* Reads all patterns and makes the catalogue. -1 or an exit code, after a message. */
int scan_patterns_create(const command *c, scan_patterns *out_patterns, FILE *err);
void scan_patterns_destroy(scan_patterns *patterns);

/* ---- Files ----------------------------------------------------------------------------------- */

/* A file of which pieces are under way. */
typedef struct scan_source {
    char *name; /* as it is printed */
    bool with_name;
    uint64_t size;     /* read so far */
    uint64_t lines;    /* that have a match */
    uint64_t newlines; /* before `counted_to` */
    uint64_t counted_to, match_count;
    bool is_binary;   /* data with a zero byte was seen */
    bool is_done;     /* nothing more is printed of it */
    bool has_printed; /* of JSON */
    /* How far blocks are checked for zero bytes: the end of the block, and the start of the line
     * that goes over its begin. */
    uint64_t block_end, block_line;
} scan_source;

#define SCAN_NEVER UINT32_MAX

/* A part of a file that is scanned at once, or the whole. */
typedef struct scan_piece {
    scan_source *source;
    size_t begin;          /* in the load's bytes */
    uint32_t size;         /* bytes */
    uint32_t own_begin;    /* hits before are those of the piece before */
    uint64_t offset;       /* in the file */
    uint32_t binary_begin; /* from this line on zero bytes end lines, too; SCAN_NEVER: none */
    bool is_last;
} scan_piece;

typedef struct scan_run scan_run;

/* Opens the files of the command, in grep's order, and feeds each to the run. */
void scan_walk(scan_run *run);

/* ---- Loads ----------------------------------------------------------------------------------- */

enum { SCAN_MAX_LOADS = 3 };

/* Pieces that are scanned together. */
typedef struct scan_load {
    unsigned char *bytes;
    size_t size, capacity;
    scan_piece *pieces;
    uint32_t piece_count, piece_capacity;
    vyre_scan_batch *batch;
    bool in_flight;
    vyre_hit *hits; /* of the reference */
    uint64_t hit_count, hit_capacity;
} scan_load;

typedef struct scan_totals {
    uint64_t files, bytes, hits, matches, lines, loads, launches;
    uint64_t begin_ns, scan_ns, device_ns, moved_size;
    uint32_t segment_size;
} scan_totals;

struct scan_run {
    const command *command;
    const scan_patterns *patterns;
    FILE *out, *err;
    vyre_device *device; /* NULL: the reference */
    vyre_device_info info;
    vyre_scanner *scanner;
    scan_load loads[SCAN_MAX_LOADS];
    uint32_t load_count, at;
    size_t load_size; /* that a load is filled to */
    vy_progress progress;
    uint64_t total_size; /* of all files; 0: not known */
    scan_totals totals;
    bool is_calibrated;
    bool has_failed; /* a file, or a check */
    bool found;      /* a match */
    bool has_json_file;
    bool stop; /* nothing more has to be read */
    int fatal; /* exit code of what cannot go on; 0: none */
    bool out_is_file, out_is_terminal;
    uint64_t out_device, out_inode;
    vyre_scan_calibration calibration;
};

/* Reads what is behind `file` as the file of that name and scans it as loads get full. */
void scan_feed(scan_run *run, int file, const char *name, bool with_name);
/* Scans and prints what is left. */
void scan_feed_end(scan_run *run);
/* Prints the diagnostic and ends the run. */
void scan_fatal(scan_run *run, const vyre_diag *diag);
/* A message about one file, after which the others are scanned. */
void scan_fail_file(scan_run *run, const char *name, const char *what, const char *fix);

/* ---- Output ---------------------------------------------------------------------------------- */

void scan_print_begin(scan_run *run);
/* What is found in a piece; hits are those of the piece alone, in order. */
void scan_print_piece(scan_run *run, const scan_load *load, const scan_piece *piece,
                      const vyre_hit *hits, uint64_t hit_count);
void scan_print_end(scan_run *run);
/* A match, or a hit of OUTPUT_ALL, whose start is then that of its last byte. */
typedef struct scan_match {
    uint32_t start, end; /* in the piece */
    uint32_t text;       /* the pattern */
} scan_match;
void scan_print_match(scan_run *run, const scan_load *load, const scan_piece *piece,
                      uint32_t line_start, const scan_match *match);
/* From 1; lines are asked for in ascending order, and up to each piece's end before the next. */
uint64_t scan_line_number(const scan_load *load, const scan_piece *piece, uint32_t line_start);
/* Behind a file's last piece. */
void scan_print_source(scan_run *run, scan_source *source);

#endif

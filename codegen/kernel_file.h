/* Kernel files (.vyk): their layout, and what the parts that write, read and use them share:
 * kernel_file_save.c, kernel_file_read.c (bytes to a vy_kernel_file) and kernel_file.c (to a
 * kernel). Owns nothing; everything read points into the bytes.
 *
 * All numbers are little-endian; u32 fields stand at multiples of 4 from the start.
 *   0  "VYRK"
 *   4  u32 version
 *   8  u64 size of the whole file
 *  16  u64 checksum: vy_hash of all bytes from 24 on
 *  24  u64 vyre_program_hash, u64 vyre_program_interface_hash
 *      u32 size of the text; the program as vyre_program_print writes it; zeros to a multiple of 4
 *      u32 count of places; u32 line and column of each, in the order of vy_program_places
 *      u32 segments, u32 spill words, u32 record sites, u32 words of the tables buffer
 *      of each segment: u32 instructions, u64 reads, u64 writes, u64 atomics
 *      u32 count of word sets, each:
 *          u32 target, u32 interface, u32 float modes, u32 flags (VY_FILE_*)
 *          of each segment: u32 count of words; the words */
#ifndef VY_KERNEL_FILE_H
#define VY_KERNEL_FILE_H

#include "codegen/ir/ir.h"
#include "codegen/kernel.h"

/* Raised whenever the layout changes, and whenever modules made before would not run with the host
 * side of now: the parameter block, push constants, records, spill slots, the cut into segments;
 * and whenever a pass comes or goes, since what a segment touches, which the file says once, is
 * that of all its words, those compiled later among them. */
#define VY_KERNEL_FILE_VERSION 5u

#define VY_FILE_CHECKSUM_AT 16u
#define VY_FILE_HEADER_SIZE 24u
#define VY_FILE_ALIASED     1u
#define VY_FILE_DEBUG       2u
#define VY_FILE_UNIFORM     4u /* VYRE_RECONVERGENCE_*: two bits */
#define VY_FILE_MAXIMAL     8u
#define VY_FILE_AGGREGATE   16u  /* VYRE_AGGREGATE_*: three bits */
#define VY_FILE_DEBUG_INFO  128u /* VYRE_DEBUG_INFO_FULL, with VY_FILE_DEBUG */
/* VYRE_OPTIMIZATION_NONE: of all sets of a file or of none, since what segments touch differs. */
#define VY_FILE_UNOPTIMIZED 256u
/* No two are of the same choice of target, interface, float modes and flags. There are more choices
 * than that, of which most are no device's. */
#define VY_FILE_MAX_SETS 1024u

/* What tells one set of words of a program from another. */
typedef struct vy_word_choice {
    uint32_t target, interface, float_modes, flags;
} vy_word_choice;

vy_word_choice vy_word_choice_of(const vyre_kernel_params *params);
bool vy_word_choice_equals(vy_word_choice a, vy_word_choice b);

typedef struct vy_kernel_file {
    uint64_t hash, interface_hash;
    const char *text;
    size_t text_size;
    const unsigned char *places;
    uint32_t place_count;
    uint32_t segment_count, spill_words, site_count, table_count;
    const unsigned char *segments;
    uint32_t set_count;
    bool is_unoptimized;
    const unsigned char *sets;
    const unsigned char *end;
} vy_kernel_file;

/* A set of words in a file. */
typedef struct vy_stored_set {
    vy_word_choice choice;
    const unsigned char *words; /* count and words of the first segment */
    size_t size;                /* of all segments, in bytes */
} vy_stored_set;

/* The checksum that belongs into the file. */
uint64_t vy_kernel_file_checksum(const void *data, size_t size);
/* Checks all of the bytes, but for what takes the program to check. Errors: IO. */
vyre_result vy_kernel_file_open(const void *data, size_t size, vy_kernel_file *out_file,
                                vyre_diag *diag);
/* What the file says of a segment, words, line and label aside. */
void vy_kernel_file_segment(const vy_kernel_file *file, uint32_t segment,
                            vy_kernel_segment *out_segment);
/* The next set; *at goes on from 0. */
vy_stored_set vy_kernel_file_next_set(const vy_kernel_file *file, size_t *at);
/* A copy of the words of the set's next segment; *at goes on from 0 to the set's size. NULL without
 * memory. */
uint32_t *vy_stored_set_next(const vy_stored_set *set, size_t *at, vy_arena *arena,
                             uint32_t *out_count);
/* Gives the program the places of the text from which the saved one was made. Errors: IO. */
vyre_result vy_kernel_file_place(const vy_kernel_file *file, vyre_program *program,
                                 vyre_diag *diag);
/* The program of a kernel file, with those places. Errors: as vyre_kernel_load. */
vyre_result vy_kernel_file_program(const vy_kernel_file *file, const vyre_allocator *allocator,
                                   vyre_program **out_program, vyre_diag *diag);
/* Gives the kernel, which knows its program and what it is for, what the file has for it: its own
 * words (is_precompiled is then set) and those of its variants. Errors: IO where the file is not
 * what this library makes of the program. */
vyre_result vy_kernel_file_take(const vy_kernel_file *file, vyre_kernel *kernel, vyre_diag *diag);
/* Holds a kernel whose words were compiled against the file that its variants come from. */
vyre_result vy_kernel_file_check(const vy_kernel_file *file, const vyre_kernel *kernel,
                                 vyre_diag *diag);
/* Whether both say the same of a segment to the host. */
bool vy_kernel_segment_matches(const vy_kernel_segment *a, const vy_kernel_segment *b);
/* "the kernel file is damaged: ..." */
vyre_result vy_kernel_file_damaged(vyre_diag *diag, const char *what);

/* Every place that a compile can see, in an order that is the same for equal programs: variables;
 * the expressions of buffers' counts and of `grid of`; of each function and then the kernel body,
 * statement by statement, its place, its end and its expressions. The list is the arena's; NULL
 * without memory.
 */
vy_loc **vy_program_places(vyre_program *program, vy_arena *arena, uint32_t *out_count);

#endif

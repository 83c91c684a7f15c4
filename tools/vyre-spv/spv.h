/* vyre-spv: SPIR-V of a program, or of a file, looked at and written in several forms. */
#ifndef VYRE_SPV_H
#define VYRE_SPV_H

#include "tools/common/run.h"

typedef enum format {
    FORMAT_NONE, /* not given */
    FORMAT_ASM,
    FORMAT_BIN,
    FORMAT_C,
    FORMAT_JSON,
    FORMAT_TEXT,
    FORMAT_KERNEL
} format;

typedef struct command {
    const char *file, *other, *out; /* other: with diff */
    const char *dump_after, *graph;
    format format;
    uint32_t segment; /* UINT32_MAX: all */
    vyre_target target;
    vyre_interface interface;
    bool has_target, has_interface; /* given, and not the default */
    int debug;                      /* VYRE_DEBUG_INFO_* */
    vyre_optimization optimization;
    bool validate, stats, requirements, explain, optimise, aggregate, coarse, source, diff,
        prints;
} command;

/* One SPIR-V module. */
typedef struct module {
    const uint32_t *words;
    size_t count;
    uint32_t *owned; /* words that are freed with the module, or NULL */
    uint32_t segment;
    char name[320]; /* "PROGRAM.seg0" */
} module;

typedef struct input {
    vy_source source;    /* text, or the bytes of a .vyk or .spv */
    vyre_kernel *kernel; /* NULL for a .spv */
    module *modules;
    uint32_t module_count;
} input;

/* ---- Input (input.c) ------------------------------------------------------------------------- */

/* Reads and compiles; dumps of passes go to `out`. What is there at a failure is finished too. */
vyre_result load_input(const command *c, const char *path, input *in, FILE *out, vyre_diag *diag);
/* Where the command says so. Errors: as optimise. */
vyre_result optimise_input(const command *c, input *in, vyre_diag *diag);
void finish_input(input *in);
bool is_wanted(const command *c, const module *m);

/* ---- Source (source.c) ----------------------------------------------------------------------- */

/* Puts lines of the program above the lines of its assembly, which the text is. `source`: the
 * program; NULL: what the module's debug information has of it. hides_lines: OpLine is left out,
 * which nobody asked for. Errors: OUT_OF_HOST_MEMORY. */
vyre_result add_source(const module *m, const char *source, bool hides_lines, vy_text *text,
                       vyre_diag *diag);

/* ---- Differences (diff.c) -------------------------------------------------------------------- */

/* Compares the command's two files. Gives 0 where they are the same, 1 where not, else 2. */
int diff(const command *c, FILE *out, FILE *err);

/* ---- Modules (module.c) ---------------------------------------------------------------------- */

/* Does the file begin as SPIR-V does, in either byte order? */
bool is_spirv(const char *bytes, size_t size);
/* The words of a file in this machine's order, checked as far as walking over them needs: the
 * header and every instruction's length. Errors: INVALID_ARGUMENT. */
vyre_result read_module(const char *bytes, size_t size, module *out_module, vyre_diag *diag);
/* The same check of words that are in order already. */
vyre_result check_module(const uint32_t *words, size_t count, vyre_diag *diag);
/* A copy, owned, in which each name is that of one value: SPIRV-Tools take a time that grows with
 * the square of how many have the same one. Errors: OUT_OF_HOST_MEMORY. */
vyre_result drop_repeated_names(const module *m, module *out_module, vyre_diag *diag);
void print_stats(const module *m, FILE *out);
/* The classes that instructions are counted by: the i-th's name, or NULL; whether it has the
 * opcode. */
const char *class_name(uint32_t i);
bool class_has(uint32_t i, uint32_t opcode);
/* What the program's modules make of other operations, a line for each. */
void print_lowerings(const vyre_kernel *kernel, FILE *out);

/* ---- SPIRV-Tools (tools.c) ------------------------------------------------------------------- */

/* Appends assembly. Errors: UNSUPPORTED_FEATURE (built without SPIRV-Tools), INVALID_ARGUMENT. */
vyre_result disassemble(const module *m, vy_text *out, vyre_diag *diag);
/* The same without header and indents, ids by number or by name. */
vyre_result disassemble_plainly(const module *m, bool has_names, vy_text *out, vyre_diag *diag);
/* Errors: INVALID_ARGUMENT with what the validator says. */
vyre_result validate(const module *m, vyre_target target, vyre_diag *diag);
/* Runs the program spirv-opt -O and takes its words. Errors: IO where there is none. */
vyre_result optimise(module *m, vyre_target target, vyre_diag *diag);

/* A folder of its own for temporary files, and away with it and the file in it. Errors: IO. */
vyre_result make_folder(char *out_path, size_t size, vyre_diag *diag);
void remove_folder(const char *path, const char *file);

/* ---- Graph (graph.c) ------------------------------------------------------------------------- */

/* The program as text for graphviz. */
void draw_graph(const vyre_kernel *kernel, vy_text *out);
/* To a file, drawn where its name ends in .svg; '-': to `out`. Errors: IO. */
vyre_result write_graph(const vyre_kernel *kernel, const char *path, FILE *out, vyre_diag *diag);

/* ---- Explanations (explain.c) ---------------------------------------------------------------- */

/* What the module declares, a line for each with why; is_own: the library made it, so that its
 * constants are known. Errors: as disassemble. */
vyre_result explain(const module *m, bool is_own, FILE *out, vyre_diag *diag);

/* ---- Forms (write.c) ------------------------------------------------------------------------- */

const char *format_suffix(format f);
vyre_result write_module(const input *in, const module *m, format f, vy_text *out, vyre_diag *diag);
/* A kernel file with the words for every choice that the command leaves open. */
vyre_result write_kernel(const command *c, const input *in, vy_text *out, vyre_diag *diag);
/* All modules and the interface. */
void write_json(const command *c, const input *in, vy_text *out);

#endif

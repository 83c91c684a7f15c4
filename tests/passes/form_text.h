/* From program text to SSA and its print, for the tests of this folder. Functions end the test on a
 * failure of their own. */
#ifndef VY_TESTS_FORM_TEXT_H
#define VY_TESTS_FORM_TEXT_H

#include "codegen/passes/ssa.h"

typedef struct ssa_case {
    vyre_program *program;
    vy_arena arena;
    vy_split split;
    vy_ssa ssa; /* of the segment built last */
    vy_text text;
} ssa_case;

/* A program around kernel statements: in x : u32[], inout y : u32[], inout f : f32[], inout n :
 * i32[], inout b : bool[], shared w : u32[64], param k : u32, param r : f32, const T : u32[] = [5,
 * 6, 7], fn twice, fn early (returns from a loop). */
void case_init(ssa_case *c, const char *statements);
/* The whole program as given. */
void case_init_program(ssa_case *c, const char *text);
void case_finish(ssa_case *c);

/* Builds a segment and checks the form. */
void case_build(ssa_case *c, uint32_t segment);
/* Runs one pass and checks the form; `eval` folds + - * on integers and + on f32. */
void case_pass(ssa_case *c, const char *name);
/* The print, kept until the next call. */
const char *case_print(ssa_case *c);
/* Against tests/passes/golden/NAME.txt; VYRE_UPDATE_GOLDEN=1 writes that file. */
void case_compare(const char *name, const char *text);
uint32_t case_count(const ssa_case *c, uint32_t op);
/* The first instruction with that operator, 0: none. */
uint32_t case_find(const ssa_case *c, uint32_t op);

#endif

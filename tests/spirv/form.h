/* SSA forms built by hand, one segment each, and the modules made of them. Independent of the text
 * parser and of the SSA builder. Functions end the test on a failure of their own. */
#ifndef VY_TESTS_FORM_H
#define VY_TESTS_FORM_H

#include "codegen/kernel.h"
#include "codegen/spirv/spirv.h"

typedef struct form {
    vy_arena arena;
    vyre_program program;
    vy_ssa ssa;
    vy_spirv_options options;
    uint32_t block; /* where instructions are appended */
    uint32_t line;  /* of the next instructions; 0: none */
    uint32_t *words;
    uint32_t word_count;
} form;

/* Workgroup 64 1 1, vulkan1.3, all float modes, block 1 open. */
void form_init(form *f);
void form_finish(form *f);

uint32_t form_buffer(form *f, vyre_buffer_mode mode, const char *name, vyre_type type);
uint32_t form_shared(form *f, const char *name, vyre_type type, uint32_t count);
uint32_t form_param(form *f, const char *name, vyre_type type);
uint32_t form_table(form *f, const char *name, vyre_type type, const uint32_t *bits,
                    uint32_t count);
uint32_t form_array(form *f, const char *name, vyre_type type, uint32_t count);

uint32_t form_block(form *f);
void form_at(form *f, uint32_t block);
uint32_t form_ins(form *f, uint32_t op, vyre_type type, uint32_t ref, uint32_t a, uint32_t b,
                  uint32_t c, uint32_t d);
uint32_t form_literal(form *f, vyre_type type, uint64_t bits);
uint32_t form_u32(form *f, uint32_t value);
uint32_t form_builtin(form *f, vyre_builtin builtin);
uint32_t form_load(form *f, uint32_t buffer, uint32_t index);
void form_store(form *f, uint32_t buffer, uint32_t index, uint32_t value);
uint32_t form_atomic(form *f, uint32_t buffer, vyre_atomic op, vyre_order order, uint32_t index,
                     uint32_t x, uint32_t y);
uint32_t form_op(form *f, vyre_op op, vyre_type type, uint32_t a, uint32_t b);
/* Of edges that were pushed already. */
uint32_t form_phi_of(form *f, vyre_type type, uint32_t first, uint32_t count);
/* A phi at the current place (before anything else of its block) with two edges; a value may be set
 * later by form_phi_set. */
uint32_t form_phi(form *f, vyre_type type, uint32_t block_0, uint32_t value_0, uint32_t block_1,
                  uint32_t value_1);
void form_phi_set(form *f, uint32_t phi, uint32_t edge, uint32_t value);

/* Ends of the current block. */
void form_jump(form *f, uint32_t target);
void form_if(form *f, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge);
/* Heads a loop: leaves to merge where the condition is false. */
void form_loop(form *f, uint32_t condition, uint32_t body, uint32_t next, uint32_t merge);
void form_switch(form *f, uint32_t selector, const vy_case *cases, uint32_t count,
                 uint32_t otherwise, uint32_t merge);
void form_end(form *f, vy_end_kind end);

/* Emits into words; the result of vy_spirv_emit. */
vyre_result form_try_emit(form *f, vyre_diag *diag);
/* The same, expecting success and a module that spirv-val accepts for its target. */
void form_emit(form *f);

#endif

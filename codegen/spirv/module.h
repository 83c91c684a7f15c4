/* A SPIR-V module while it is made: one word buffer for each section, so that code may be emitted
 * in any order; types and constants that exist once; capabilities, extended instructions and the
 * entry point's interface that follow from what was emitted. Knows nothing of programs.
 *
 * Integers are of types without a sign, OpTypeInt N 0. Signedness lies in the opcodes (OpSDiv,
 * OpSLessThan, ...), which take operands of any signedness, so u32 and i32 need no conversions.
 * Types of 8 and 16 bits are those of elements in buffers alone: loaded, stored, converted. */
#ifndef VY_SPIRV_MODULE_H
#define VY_SPIRV_MODULE_H

#include "codegen/spirv/words.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

typedef enum vy_section {
    VY_SECTION_CAPABILITIES,
    VY_SECTION_EXTENSIONS,
    VY_SECTION_IMPORTS,
    VY_SECTION_MEMORY_MODEL,
    VY_SECTION_ENTRY,
    VY_SECTION_MODES,
    VY_SECTION_STRINGS, /* before the names: 2.4 of the specification */
    VY_SECTION_NAMES,
    VY_SECTION_DECORATIONS,
    VY_SECTION_GLOBALS,  /* types, constants, variables */
    VY_SECTION_DEBUG,    /* what debug information has of these, and what it says of the module */
    VY_SECTION_WRAPPER,  /* the entry point's function */
    VY_SECTION_PROLOGUE, /* the body's function: its head, what is read once, ... */
    VY_SECTION_BODY,     /* ... and its blocks */
    VY_SECTION_HELPERS,  /* functions that the others call */
    VY_SECTION_COUNT
} vy_section;

/* The largest bound that every consumer has to take. */
#define VY_MAX_ID_BOUND 4194303u
/* Ids of debug information begin here, until the module is finished: behind all others then. */
#define VY_DEBUG_ID 0x40000000u

typedef struct vy_module {
    vy_arena *arena;
    vy_words sections[VY_SECTION_COUNT];
    vy_words *code; /* where vy_value and the like append */
    uint32_t next_id, debug_ids;
    bool has_names;       /* OpName, OpLine */
    bool is_contractible; /* no NoContraction */
    uint32_t file_id;     /* always taken, so that debugging data changes no id */
    uint32_t glsl;        /* the imported set, 0: not imported */
    vy_words interface;   /* ids of global variables */
    uint32_t *slots;      /* interned instructions: offsets into GLOBALS + 1 */
    uint32_t slot_count, slots_used;
    uint32_t wide_types[2];                 /* u64, f64; 0: not in the module */
    uint32_t u32_type, bool_type, f32_type; /* likewise */
} vy_module;

void vy_module_init(vy_module *module, vy_arena *arena, bool has_names);
uint32_t vy_module_id(vy_module *module);
/* Of results of OpString, OpConstant, OpExtInstImport and OpExtInst of a set with such an id. */
uint32_t vy_module_debug_id(vy_module *module);
/* Whether memory sufficed and every instruction could be written. */
bool vy_module_is_whole(const vy_module *module);
bool vy_module_is_too_large(const vy_module *module);
/* Room for so many further words of code and of constants. */
void vy_module_expect(vy_module *module, uint32_t code, uint32_t constants);
/* Joins the sections behind the header. Memory from `result`; NULL where it, or the module's, ran
 * out. */
uint32_t *vy_module_finish(vy_module *module, uint32_t version, vy_arena *result,
                           uint32_t *out_count);

/* ---- Sections ------------------------------------------------------------------------------- */

#define VY_LIST(...)                                                                               \
    (const uint32_t[]){__VA_ARGS__}, (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Appends an instruction without a result: vy_module_op(m, section, op, VY_LIST(a, b)). */
void vy_module_op(vy_module *module, vy_section section, SpvOp op, const uint32_t *operands,
                  uint32_t count);
void vy_module_capability(vy_module *module, SpvCapability capability);
/* Each extension is declared once. */
void vy_module_extension(vy_module *module, const char *name);
bool vy_module_has_capability(const vy_module *module, SpvCapability capability);
void vy_module_decorate(vy_module *module, uint32_t id, SpvDecoration decoration,
                        const uint32_t *operands, uint32_t count);
void vy_module_decorate_member(vy_module *module, uint32_t id, uint32_t member,
                               SpvDecoration decoration, const uint32_t *operands, uint32_t count);
/* Does nothing without has_names; `text` may be NULL. */
void vy_module_name(vy_module *module, uint32_t id, const char *text);

/* ---- Types, constants, variables: types.c ---------------------------------------------------- */

uint32_t vy_type_void(vy_module *module);
uint32_t vy_type_bool(vy_module *module);
uint32_t vy_type_u32(vy_module *module);
uint32_t vy_type_f32(vy_module *module);
/* Each with the capability that it takes; width 8, 16, 32 or 64. */
uint32_t vy_type_integer(vy_module *module, uint32_t width);
uint32_t vy_type_u64(vy_module *module);
uint32_t vy_type_f64(vy_module *module);
uint32_t vy_type_u32_vector(vy_module *module, uint32_t size);
uint32_t vy_type_vector_of(vy_module *module, uint32_t component, uint32_t size);
uint32_t vy_type_array(vy_module *module, uint32_t element, uint32_t count);
uint32_t vy_type_pointer(vy_module *module, SpvStorageClass storage, uint32_t type);
uint32_t vy_type_function(vy_module *module, uint32_t result, const uint32_t *parameters,
                          uint32_t count);
/* Two u32, as the extended multiplications give them. */
uint32_t vy_type_u32_pair(vy_module *module);
/* An aggregate that is not shared, because it is decorated. */
uint32_t vy_type_unique(vy_module *module, SpvOp op, const uint32_t *operands, uint32_t count);

uint32_t vy_const_bool(vy_module *module, bool value);
uint32_t vy_const_u32(vy_module *module, uint32_t value);
/* By its bits. */
uint32_t vy_const_f32(vy_module *module, uint32_t bits);
uint32_t vy_const_u64(vy_module *module, uint64_t value);
uint32_t vy_const_f64(vy_module *module, uint64_t bits);
uint32_t vy_const_null(vy_module *module, uint32_t type);
uint32_t vy_const_composite(vy_module *module, uint32_t type, const uint32_t *parts,
                            uint32_t count);
/* op: SpvOpSpecConstant, SpvOpSpecConstantFalse, ...; has its SpecId unless UINT32_MAX. */
uint32_t vy_const_spec(vy_module *module, SpvOp op, uint32_t type, const uint32_t *operands,
                       uint32_t count, uint32_t spec_id);
/* A global variable of the entry point's interface; initialiser 0: none. */
uint32_t vy_global_variable(vy_module *module, SpvStorageClass storage, uint32_t type,
                            uint32_t initialiser);

/* ---- Code: appended to module->code --------------------------------------------------------- */

uint32_t vy_value(vy_module *module, SpvOp op, uint32_t type, const uint32_t *operands,
                  uint32_t count);
void vy_effect(vy_module *module, SpvOp op, const uint32_t *operands, uint32_t count);
void vy_label(vy_module *module, uint32_t label);
void vy_jump(vy_module *module, uint32_t label);
/* Selection header: if (condition) goes to `yes`, else to `no`; they meet at `merge`. */
void vy_if(vy_module *module, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge);

/* Operators by what they give. */
uint32_t vy_u1(vy_module *module, SpvOp op, uint32_t a);
uint32_t vy_u2(vy_module *module, SpvOp op, uint32_t a, uint32_t b);
uint32_t vy_b1(vy_module *module, SpvOp op, uint32_t a);
uint32_t vy_b2(vy_module *module, SpvOp op, uint32_t a, uint32_t b);
/* Of any type. */
uint32_t vy_v1(vy_module *module, SpvOp op, uint32_t type, uint32_t a);
uint32_t vy_v2(vy_module *module, SpvOp op, uint32_t type, uint32_t a, uint32_t b);
/* f32 arithmetic: decorated NoContraction unless the module is contractible. */
uint32_t vy_f2(vy_module *module, SpvOp op, uint32_t a, uint32_t b);
/* Float arithmetic of that type, always decorated: what must not be changed whatever the program
 * allows. */
uint32_t vy_exact2(vy_module *module, SpvOp op, uint32_t type, uint32_t a, uint32_t b);
uint32_t vy_select(vy_module *module, uint32_t type, uint32_t condition, uint32_t a, uint32_t b);
/* With the result's id given. */
void vy_select_as(vy_module *module, uint32_t id, uint32_t type, uint32_t condition, uint32_t a,
                  uint32_t b);
uint32_t vy_select_u(vy_module *module, uint32_t condition, uint32_t a, uint32_t b);
uint32_t vy_select_f(vy_module *module, uint32_t condition, uint32_t a, uint32_t b);
/* The second operand a literal. */
uint32_t vy_u2c(vy_module *module, SpvOp op, uint32_t a, uint32_t literal);
uint32_t vy_b2c(vy_module *module, SpvOp op, uint32_t a, uint32_t literal);
uint32_t vy_f2c(vy_module *module, SpvOp op, uint32_t a, uint32_t literal_bits);
/* Comparison of an f32 with a literal. */
uint32_t vy_b2f(vy_module *module, SpvOp op, uint32_t a, uint32_t literal_bits);
uint32_t vy_bits_of(vy_module *module, uint32_t f32);
uint32_t vy_f32_of(vy_module *module, uint32_t bits);
uint32_t vy_extract(vy_module *module, uint32_t type, uint32_t composite, uint32_t index);
/* GLSL.std.450; b may be 0. */
uint32_t vy_glsl(vy_module *module, enum GLSLstd450 op, uint32_t type, uint32_t a, uint32_t b);
uint32_t vy_glsl3(vy_module *module, enum GLSLstd450 op, uint32_t type, const uint32_t *operands);

#endif

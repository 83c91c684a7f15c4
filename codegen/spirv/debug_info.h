/* Debug information for people's tools: NonSemantic.Shader.DebugInfo.100, which says of the words
 * what text, functions, scopes, places, types and variables they were made from. Where it is not
 * asked for every function here does nothing. Its ids lie behind all others, and its types and
 * constants in a section of their own, so that no other word is changed by it. */
#ifndef VY_SPIRV_DEBUG_INFO_H
#define VY_SPIRV_DEBUG_INFO_H

#include "codegen/base/base.h"

typedef struct vy_emitter vy_emitter;

/* Begins the module: the text, the unit. False: out of memory. */
bool vy_debug_begin(vy_emitter *emitter);
/* Ends it: buffers without a variable, and the extension where the version of SPIR-V has none. */
void vy_debug_end(vy_emitter *emitter);
/* In the first block of the entry point's function. */
void vy_debug_entry(vy_emitter *emitter, uint32_t function);
/* In the first block of a body's function, behind its variables. False: out of memory. */
bool vy_debug_begin_body(vy_emitter *emitter, uint32_t segment);
/* A block has begun: scope and line hold up to a block's end. */
void vy_debug_begin_block(vy_emitter *emitter);
/* What follows was made from that place, in that call (of the form). */
void vy_debug_place(vy_emitter *emitter, vy_loc loc, uint32_t call);
/* What variables are from here on: in the block, before the instruction is emitted (UINT32_MAX: the
 * block's end). */
void vy_debug_bind(vy_emitter *emitter, uint32_t block, uint32_t instruction);
/* That component of a param of the program has the value. */
void vy_debug_param(vy_emitter *emitter, uint32_t param, uint32_t component, uint32_t value);
/* A buffer, or workgroup memory, has that variable. */
void vy_debug_buffer(vy_emitter *emitter, uint32_t buffer, uint32_t variable);

#endif

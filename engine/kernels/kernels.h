/* The engine's own kernels, compiled from the .vyre files of this folder when the library is built.
 * One word set, for Vulkan 1.2, runs on every device. */
#ifndef VY_KERNELS_H
#define VY_KERNELS_H

#include "vyre/kernel.h" /* vyre_interface */

#include <stdint.h>

/* The grid of a program with `grid from`: engine/exec/own_kernels.h. */
const uint32_t *vy_kernel_grid_descriptor(uint32_t *out_word_count);
const uint32_t *vy_kernel_grid_address(uint32_t *out_word_count);
static inline const uint32_t *vy_kernel_grid(vyre_interface interface, uint32_t *out_word_count)
{
    return interface == VYRE_INTERFACE_ADDRESS ? vy_kernel_grid_address(out_word_count)
                                               : vy_kernel_grid_descriptor(out_word_count);
}
/* Filling and copying by words, in the address form alone. One invocation for each word: a
 * workgroup is 256 invocations unless it is specialised to another size, the grid has one axis and
 * may be folded. They make no records and use no spill slots or tables, so those addresses are not
 * read. Ranges must not overlap in copy.
 *                     fill                    copy
 *   bindings, params  n = 1, 1                n = 2, none
 *   ELEMENTS          words to write, 1, 1    the same
 *   LENGTHS + 0       the target's words      the source's words
 *   LENGTHS + 1       the word to write       the target's words
 *   ADDRESSES         the target's            the source's, then the target's
 * ADDRESSES is vy_param_addresses(1, 1) and (2, 0), which both are word 18. */
const uint32_t *vy_kernel_fill(uint32_t *out_word_count);
const uint32_t *vy_kernel_copy(uint32_t *out_word_count);
/* The same for many words from anywhere to anywhere: bindings source, table and target, no params,
 * ELEMENTS the words to move. The table has two words for each, its place in the source and that in
 * the target; places are below 2^30. Words that are written are read by none. */
const uint32_t *vy_kernel_gather(uint32_t *out_word_count);
/* 8 x 4 x 4 invocations, each writing its lane and, in the upper half, the lanes of its subgroup to
 * the word of its linear number. */
const uint32_t *vy_kernel_lanes(uint32_t *out_word_count);
/* What the device and its driver do: engine/exec/probe.c. One for each set of VYRE_FLOAT_* modes,
 * since drivers treat denormals by what a module declares. */
const uint32_t *vy_kernel_probe_0(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_1(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_2(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_3(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_4(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_5(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_6(uint32_t *out_word_count);
const uint32_t *vy_kernel_probe_7(uint32_t *out_word_count);
/* Divides and takes roots: engine/exec/exact.h. By modes as well. */
const uint32_t *vy_kernel_exact_0(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_1(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_2(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_3(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_4(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_5(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_6(uint32_t *out_word_count);
const uint32_t *vy_kernel_exact_7(uint32_t *out_word_count);
/* What the device does with f64: engine/exec/probe.c. By the modes of f64; needs shaderFloat64 and
 * shaderInt64. */
const uint32_t *vy_kernel_doubles_0(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_1(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_2(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_3(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_4(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_5(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_6(uint32_t *out_word_count);
const uint32_t *vy_kernel_doubles_7(uint32_t *out_word_count);

#endif

/* The engine's own kernels, compiled from the .vyre files of this folder when the library is built.
 * One word set, for Vulkan 1.2, runs on every device. */
#ifndef VY_KERNELS_H
#define VY_KERNELS_H

#include <stdint.h>

/* Whether another pass runs: engine/exec/judge.h. */
const uint32_t *vy_kernel_judge(uint32_t *out_word_count);
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

#endif

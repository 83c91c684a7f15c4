/* Vulkan 1.2: SPIR-V 1.5 with the GLSL450 memory model, since the Vulkan one is optional there.
 * Plain accesses become visible by the decoration Coherent. */
#include "codegen/spirv/emit.h"

const vy_spirv_target vy_spirv_target_vulkan12 = {
    .version = 0x10500,
    .memory_model = SpvMemoryModelGLSL450,
    .is_coherent_decorated = true,
    .shared_access = SpvMemoryAccessMaskNone,
};

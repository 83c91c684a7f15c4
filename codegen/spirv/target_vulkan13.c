/* Vulkan 1.3: SPIR-V 1.6 with the Vulkan memory model. Plain accesses take part in synchronisation
 * where they are NonPrivate; acquiring makes visible, releasing makes available. */
#include "codegen/spirv/emit.h"

const vy_spirv_target vy_spirv_target_vulkan13 = {
    .version = 0x10600,
    .memory_model = SpvMemoryModelVulkan,
    .has_memory_capabilities = true,
    .shared_access = SpvMemoryAccessNonPrivatePointerMask,
    .acquire = SpvMemorySemanticsMakeVisibleMask,
    .release = SpvMemorySemanticsMakeAvailableMask,
};

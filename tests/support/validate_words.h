/* spirv-val as a judge of words, for tests that are linked with SPIRV-Tools. */
#ifndef VY_VALIDATE_WORDS_H
#define VY_VALIDATE_WORDS_H

#include "vyre/kernel.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef VYRE_HAVE_SPIRV_TOOLS
#include "tools/common/validate.h"

/* As vy_hooks.words. */
static inline bool vy_validate_words(const uint32_t *words, uint32_t count, vyre_target target,
                                     char *message, size_t size)
{
    spv_context context = spvContextCreate(target == VYRE_TARGET_VULKAN_1_3 ? SPV_ENV_VULKAN_1_3
                                                                            : SPV_ENV_VULKAN_1_2);
    spv_diagnostic diagnostic = NULL;
    bool ok = vy_spirv_validate(context, words, count, &diagnostic) == SPV_SUCCESS;
    snprintf(message, size, "%s", diagnostic ? diagnostic->error : "");
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return ok;
}
#else
#define vy_validate_words NULL
#endif

#endif

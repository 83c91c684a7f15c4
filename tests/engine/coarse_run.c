#include "tests/engine/coarse_run.h"

#include "codegen/kernel.h"
#include "tests/support/validate_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

const vy_mode coarse_modes[COARSE_MODES] = {
    {.interface = VYRE_INTERFACE_DESCRIPTOR, .coarse = true},
    {.interface = VYRE_INTERFACE_ADDRESS, .coarse = true, .resident = true},
    {.interface = VYRE_INTERFACE_DESCRIPTOR, .coarse = true, .resident = true, .debug = true},
    {.interface = VYRE_INTERFACE_ADDRESS, .target = VYRE_TARGET_VULKAN_1_2, .coarse = true},
};

/* What the modules are that a dispatch would take. */
static void judge_modules(void *unused, vyre_kernel *kernel)
{
    bool (*judge)(const uint32_t *, uint32_t, vyre_target, char *, size_t) = vy_validate_words;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        vyre_diag diag;
        vy_kernel_coarse coarse;
        vy_variant variant = {.interface = (vyre_interface)i, .is_coarse = true};
        if (vy_kernel_coarsen(kernel, variant.interface, false, &coarse, &diag) != VYRE_OK) {
            fail_msg("%s", diag.message);
        }
        for (uint32_t s = 0; coarse.elements && s < vyre_kernel_segment_count(kernel); s++) {
            const uint32_t *words;
            uint32_t count;
            char message[1024] = "";
            if (vy_kernel_variant(kernel, variant, s, &words, &count, &diag) != VYRE_OK) {
                fail_msg("%s", diag.message);
            }
            if (judge && !judge(words, count, VYRE_TARGET_VULKAN_1_3, message, sizeof message)) {
                fail_msg("%s: %s", vyre_kernel_name(kernel), message);
            }
        }
    }
}

static const vy_hooks judging = {.kernel = judge_modules};

int coarse_compare(vyre_device *device, const char *text, vy_generated *info, const vy_mode *mode)
{
    vy_comparison comparison;
    vy_compare(device, text, strlen(text), info, mode, &judging, &comparison);
    if (comparison.verdict != VY_SAME && comparison.verdict != VY_SKIPPED) {
        fail_msg("%s\n%s", comparison.message, text);
    }
    return comparison.verdict == VY_SKIPPED ? 2 : comparison.is_coarse;
}

vy_generated coarse_info(uint32_t n, uint64_t seed)
{
    vy_generated info = {.seed = seed, .grid = VY_GRID_OVER};
    for (uint32_t t = 0; t < VY_GEN_TYPES; t++) {
        info.lengths[t] = n;
    }
    return info;
}

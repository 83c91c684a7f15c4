/* SPIRV-Tools' optimiser, which has no C interface of its own. See glsl.h. */
#include "tools/vyre-bench/peers/optimise.h"

#include <spirv-tools/optimizer.hpp>

#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" bool peer_spirv_optimise(const uint32_t *words, size_t count, uint32_t **out_words,
                                    size_t *out_count)
{
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
    spvtools::OptimizerOptions options;
    std::vector<uint32_t> made;
    options.set_run_validator(false);
    optimizer.RegisterPerformancePasses();
    if (!optimizer.Run(words, count, &made, options)) {
        return false;
    }
    if (out_words != nullptr) {
        *out_words = static_cast<uint32_t *>(std::malloc(made.size() * sizeof(uint32_t)));
        *out_count = made.size();
        if (*out_words == nullptr) {
            return false;
        }
        std::memcpy(*out_words, made.data(), made.size() * sizeof(uint32_t));
    }
    return true;
}

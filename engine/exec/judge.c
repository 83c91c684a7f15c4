/* The judge's pipeline and parameters; its words come from judge.vyre. */
#include "engine/exec/judge.h"

#include "engine/kernels/kernels.h"

#include <string.h>

vyre_result vy_judge_create(vyre_device *device, vy_layout *out_layout, VkPipeline *out_pipeline,
                            vyre_diag *diag)
{
    uint64_t bindings = ((uint64_t)1 << VY_JUDGE_BINDINGS) - 1;
    vyre_result code = vy_layout_create(device, bindings, "vyre judge", out_layout, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_shader shader = {.workgroup = {1, 1, 1}, .label = "vyre judge"};
    shader.words = vy_kernel_judge(VYRE_INTERFACE_DESCRIPTOR, &shader.word_count);
    return vy_shader_create(device, out_layout, &shader, out_pipeline, diag);
}

void vy_judge_fill_block(uint32_t flag_length, uint32_t *words)
{
    memset(words, 0, VY_JUDGE_BLOCK_WORDS * sizeof *words);
    for (uint32_t i = 0; i < 3; i++) {
        words[VY_PARAM_GROUPS + i] = 1;
        words[VY_PARAM_ELEMENTS + i] = 1;
    }
    words[VY_PARAM_GROUP_TOTAL] = 1;
    words[VY_PARAM_INVOCATIONS] = 1;
    words[VY_PARAM_LENGTHS + VY_JUDGE_FLAG] = flag_length;
    words[VY_PARAM_LENGTHS + VY_JUDGE_STATE] = VY_STATE_WORDS;
}

#include "tests/tools/plant.h"

#include "codegen/kernel.h"
#include "tests/tools/support.h"
#include "tools/common/open.h"
#include "vyre/vyre.h"

#include <stdio.h>
#include <string.h>

#include <spirv/unified1/spirv.h>

/* How many constants of that value became `to`. */
static uint32_t change_constant(vyre_kernel *kernel, uint32_t from, uint32_t to)
{
    uint32_t changed = 0;
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        const vy_kernel_segment *segment = vy_kernel_get_segment(kernel, s);
        for (uint32_t at = 5; at < segment->word_count; at += segment->words[at] >> 16) {
            uint32_t *w = segment->words + at;
            if ((w[0] & 0xffff) == SpvOpConstant && w[3] == from) {
                w[3] = to;
                changed++;
            }
        }
    }
    return changed;
}

void plant_constant(const char *path, const char *name, const char *text, uint32_t from,
                    uint32_t to)
{
    vyre_diag diag;
    vyre_device *device = NULL;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_kernel_params params = {0};
    void *data = NULL;
    size_t size = 0;
    if (vy_open_device(NULL, VYRE_VALIDATION_DEFAULT, stderr, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_device_kernel_params(device, &params);
    if (vyre_program_parse(text, strlen(text), name, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(change_constant(kernel, from, to), 1);
    const vyre_kernel *kernels[] = {kernel};
    assert_int_equal(vyre_kernel_save(kernels, 1, NULL, &data, &size, &diag), VYRE_OK);
    put_file(path, data, size);
    vyre_kernel_free_data(NULL, &data, size);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vyre_device_destroy(&device);
}

/* Any bytes as a kernel file: refused, or a kernel that can be asked about everything, saved again
 * and given other words. Size and checksum are put right first, since no fuzzer finds those. */
#include "codegen/kernel_file.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void put(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static void ask(const vyre_kernel *kernel)
{
    const uint32_t lengths[64] = {0}, params[1024] = {0};
    for (uint32_t i = 0; i < vyre_kernel_segment_count(kernel); i++) {
        vyre_segment_info info;
        vyre_kernel_segment(kernel, i, &info);
        FUZZ_ASSERT(info.word_count > 0);
        (void)vy_kernel_push_words(info.words, info.word_count);
    }
    vy_kernel_env env = {.lengths = lengths, .params = params, .groups = {1, 1, 1}};
    vy_kernel_workgroup(kernel, env.workgroup);
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        if (info.has_count) {
            (void)vy_kernel_eval_count(kernel, i, &env);
        }
    }
    for (uint32_t i = 0; vyre_kernel_requirement(kernel, i); i++) {
    }
}

static void save_again(const vyre_kernel *kernel)
{
    void *data = NULL;
    size_t size = 0;
    vyre_diag diag;
    if (vyre_kernel_save(&kernel, 1, NULL, &data, &size, &diag) == VYRE_OK) {
        vyre_kernel_free_data(NULL, &data, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    vyre_diag diag;
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    if (size > VY_FILE_HEADER_SIZE) {
        put(copy + 8, size);
        put(copy + VY_FILE_CHECKSUM_AT, vy_kernel_file_checksum(copy, size));
    }
    for (int interface = 0; interface < 2; interface++) {
        vyre_kernel *kernel = NULL;
        vyre_kernel_params params = {.struct_size = (uint32_t)sizeof params,
                                     .interface = (vyre_interface)interface};
        if (vyre_kernel_load(copy, size, &params, &kernel, &diag) == VYRE_OK) {
            ask(kernel);
            save_again(kernel);
        } else {
            FUZZ_ASSERT(kernel == NULL);
            FUZZ_ASSERT(strstr(diag.message, "Fix: ") != NULL);
        }
        vyre_kernel_destroy(&kernel);
    }
    free(copy);
    return 0;
}

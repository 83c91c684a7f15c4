/* Kernel files: one program compiled for every choice that a device or the engine may make. */
#include "tools/vyre-spv/spv.h"

#define MODE_COUNT  8u /* sets of VYRE_FLOAT_* */
#define MAX_KERNELS (2u * 2u * 2u * MODE_COUNT)

/* Only bindings that the program writes can overlap each other; with one there is nothing that an
 * aliased variant could be for. */
static bool has_aliased_variant(const vyre_kernel *kernel)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(kernel, i, &info);
        count += info.mode != VYRE_BUFFER_IN && info.mode != VYRE_BUFFER_UNIFORM;
    }
    return count > 1;
}

static vyre_result compile_all(const command *c, const input *in, vyre_kernel **kernels,
                               uint32_t *out_count, vyre_diag *diag)
{
    static const vyre_target targets[] = {VYRE_TARGET_VULKAN_1_3, VYRE_TARGET_VULKAN_1_2};
    const uint32_t alias_count = has_aliased_variant(in->kernel) ? 2 : 1;
    vyre_result result = VYRE_OK;
    *out_count = 0;
    for (uint32_t i = 0; i < MAX_KERNELS && result == VYRE_OK; i++) {
        vyre_kernel_params params = {.struct_size = (uint32_t)sizeof params,
                                     .target = targets[i / (MAX_KERNELS / 2)],
                                     .interface = i / (2 * MODE_COUNT) % 2
                                                      ? VYRE_INTERFACE_ADDRESS
                                                      : VYRE_INTERFACE_DESCRIPTOR,
                                     .float_modes = i / 2 % MODE_COUNT,
                                     .aliased = (int)(i % 2),
                                     .debug = c->debug};
        bool is_wanted = (!c->has_target || params.target == c->target) &&
                         (!c->has_interface || params.interface == c->interface) &&
                         i % 2 < alias_count;
        if (is_wanted) {
            result = vy_source_compile(&in->source, &params, &kernels[*out_count], diag);
            *out_count += result == VYRE_OK;
        }
    }
    return result;
}

vyre_result write_kernel(const command *c, const input *in, vy_text *out, vyre_diag *diag)
{
    vyre_kernel *kernels[MAX_KERNELS] = {0};
    uint32_t count;
    void *data = NULL;
    size_t size = 0;
    vyre_result result = compile_all(c, in, kernels, &count, diag);
    if (result == VYRE_OK) {
        result =
            vyre_kernel_save((const vyre_kernel *const *)kernels, count, NULL, &data, &size, diag);
    }
    if (result == VYRE_OK) {
        vy_text_append(out, data, size);
    }
    vyre_kernel_free_data(NULL, &data, size);
    for (uint32_t i = 0; i < count; i++) {
        vyre_kernel_destroy(&kernels[i]);
    }
    return result;
}

/* Kernel files: one program compiled for every choice that a device or the engine may make. */
#include "tools/vyre-spv/spv.h"

#include "codegen/kernel.h"
#include "codegen/spirv/spirv.h"

#include <string.h>

#define MODE_COUNT  8u /* sets of VYRE_FLOAT_* of 32 bits */
#define MAX_KERNELS (2u * 2u * 2u * 2u * MODE_COUNT * 3u * 2u)

/* Of one kernel of the file: numbers of choices, where the program has such a choice. */
typedef struct choices {
    uint32_t target, interface, alias, mode, wide_denormals, reconvergence, aggregate;
} choices;

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

static bool requires(const vyre_kernel *kernel, const char *name)
{
    const char *requirement;
    for (uint32_t i = 0; (requirement = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        if (strcmp(requirement, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Devices treat floats of 64 bits as they do those of 32, but for denormals, which cost them
 * nothing there. */
static uint32_t float_modes(const choices *at, bool has_f64)
{
    uint32_t modes = at->mode;
    if (has_f64) {
        modes |= at->mode & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE
                     ? VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64
                     : 0;
        modes |= at->mode & VYRE_FLOAT_ROUNDING_RTE ? VYRE_FLOAT_ROUNDING_RTE_F64 : 0;
        modes |= at->wide_denormals ? VYRE_FLOAT_DENORM_PRESERVE_F64 : 0;
    }
    return modes;
}

static bool next_number(uint32_t *number, uint32_t count)
{
    *number = (*number + 1) % count;
    return *number != 0;
}

static bool next_choice(choices *at, const choices *counts)
{
    return next_number(&at->alias, counts->alias) ||
           next_number(&at->aggregate, counts->aggregate) ||
           next_number(&at->reconvergence, counts->reconvergence) ||
           next_number(&at->wide_denormals, counts->wide_denormals) ||
           next_number(&at->mode, counts->mode) || next_number(&at->interface, counts->interface) ||
           next_number(&at->target, counts->target);
}

/* Whether the choice makes other words than all that leave something out of it: the compiler drops
 * what makes no difference. */
static bool is_distinct(const input *in, const vyre_kernel_params *params, bool has_subgroups)
{
    uint32_t joined =
        vy_spirv_aggregates(in->source.program, params->aggregate, params->reconvergence);
    bool is_flow_asked = params->reconvergence != VYRE_RECONVERGENCE_NONE;
    return (joined || !params->aggregate) && (has_subgroups || joined || !is_flow_asked);
}

static vyre_result compile_all(const command *c, const input *in, vyre_kernel **kernels,
                               uint32_t *out_count, vyre_diag *diag)
{
    static const vyre_target targets[] = {VYRE_TARGET_VULKAN_1_3, VYRE_TARGET_VULKAN_1_2};
    bool has_f64 = requires(in->kernel, "shaderFloat64");
    bool has_subgroups = vy_kernel_get_subgroups(in->kernel).is_used;
    uint32_t aggregate = c->aggregate ? VYRE_AGGREGATE_ALL : VY_AGGREGATE_ON_GPUS;
    const choices counts = {.target = VY_COUNT_OF(targets),
                            .interface = 2,
                            .alias = has_aliased_variant(in->kernel) ? 2 : 1,
                            .mode = MODE_COUNT,
                            .wide_denormals = has_f64 ? 2 : 1,
                            .reconvergence = has_subgroups || aggregate ? 3 : 1,
                            .aggregate = aggregate ? 2 : 1};
    choices at = {0};
    vyre_result result = VYRE_OK;
    *out_count = 0;
    do {
        vyre_kernel_params params = {.struct_size = (uint32_t)sizeof params,
                                     .target = targets[at.target],
                                     .interface = at.interface ? VYRE_INTERFACE_ADDRESS
                                                               : VYRE_INTERFACE_DESCRIPTOR,
                                     .float_modes = float_modes(&at, has_f64),
                                     .aliased = (int)at.alias,
                                     .reconvergence = (vyre_reconvergence)at.reconvergence,
                                     .aggregate = at.aggregate ? aggregate : 0,
                                     .debug = c->debug,
                                     .optimization = c->optimization};
        if ((!c->has_target || params.target == c->target) &&
            (!c->has_interface || params.interface == c->interface) &&
            is_distinct(in, &params, has_subgroups)) {
            result = vy_source_compile(&in->source, &params, &kernels[*out_count], diag);
            *out_count += result == VYRE_OK;
        }
    } while (result == VYRE_OK && next_choice(&at, &counts));
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

/* What the library says about devices: the list, the info, the text of --info, kernel parameters.
 */
#include "codegen/kernel.h"
#include "engine/device/abilities.h"
#include "engine/device/device.h"

#include <stdio.h>
#include <string.h>

void vyre_device_get_info(const vyre_device *device, vyre_device_info *out_info)
{
    *out_info = (vyre_device_info){0};
    if (device) {
        *out_info = device->snapshot.info;
        out_info->validation = (int)device->validation;
        out_info->is_adopted = !device->owns_device;
    }
}

/* What is not joined is right everywhere. Processors act one after another anyway. */
static bool can_join(const vy_snapshot *s)
{
    const uint32_t needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                            VK_SUBGROUP_FEATURE_BALLOT_BIT;
    bool is_gpu = s->info.type != VYRE_DEVICE_PROCESSOR && s->info.type != VYRE_DEVICE_OTHER;
    bool is_able = (s->subgroup_operations & needed) == needed && s->info.subgroup_size > 1 &&
                   s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence];
    return is_gpu && is_able;
}

bool vy_device_joins_coarse(const vyre_device *device)
{
    return VY_COARSE_JOINS_ON_GPUS && can_join(&device->snapshot);
}

/* A processor does an invocation's part after the other's, and begins each anew. */
uint32_t vy_device_coarse_ways(const vyre_device *device)
{
    return (vy_device_joins_coarse(device) ? VY_WAY_JOINED : 0) |
           (device->snapshot.info.type == VYRE_DEVICE_PROCESSOR ? VY_WAY_LONG : 0);
}

/* Measured: on a processor, addresses of eight lanes are more to compute and to carry than what
 * they save, on GPUs they are as fast as descriptors or faster. */
bool vy_device_prefers_addresses(const vyre_device *device)
{
    return device->bindings == VYRE_BINDINGS_AUTO
               ? device->snapshot.info.type != VYRE_DEVICE_PROCESSOR
               : device->bindings == VYRE_BINDINGS_ADDRESS;
}

void vyre_device_kernel_params(const vyre_device *device, vyre_kernel_params *out_params)
{
    *out_params = (vyre_kernel_params){.struct_size = (uint32_t)sizeof *out_params,
                                       .interface = VYRE_INTERFACE_DESCRIPTOR};
    if (device) {
        /* What VYRE_BINDINGS_AUTO takes; other words are made where they are needed. */
        bool by_address = device->snapshot.info.has_addresses &&
                          device->validation < VYRE_VALIDATION_ON &&
                          vy_device_prefers_addresses(device);
        out_params->interface = by_address ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        out_params->target = device->snapshot.info.target;
        out_params->float_modes = device->snapshot.info.float_modes;
        const bool *has = device->snapshot.has_extension;
        out_params->reconvergence = has[VY_EXTENSION_KHR_shader_maximal_reconvergence]
                                        ? VYRE_RECONVERGENCE_MAXIMAL
                                    : has[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow]
                                        ? VYRE_RECONVERGENCE_UNIFORM
                                        : VYRE_RECONVERGENCE_NONE;
        out_params->prints = device->log.prints;
        out_params->optimization = device->optimization;
        out_params->aggregate = can_join(&device->snapshot) ? VY_AGGREGATE_ON_GPUS : 0;
    }
}

uint64_t vyre_device_validation_failures(const vyre_device *device)
{
    return device ? atomic_load(&device->log.failures) : 0;
}

vyre_result vyre_device_list(const vyre_device_params *given, vyre_device_info *infos,
                             uint32_t capacity, uint32_t *out_count, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_count || (capacity && !infos)) {
        return vy_invalid(diag, "out_count or infos is NULL. Fix: pass where the list goes");
    }
    *out_count = 0;
    vyre_device_params params;
    vyre_result read = vy_params_read(vyre_device_params, &params, given, diag);
    if (read != VYRE_OK) {
        return read;
    }
    vyre_device *device = vy_device_allocate(params.allocator);
    if (!device) {
        return vy_diag_no_memory(diag);
    }
    vy_log_init(&device->log, params.log, params.log_user, params.log_level);
    VkPhysicalDevice *list = NULL;
    uint32_t count = 0;
    vyre_result code = VYRE_OK;
    device->vki.vkGetInstanceProcAddr = (PFN_vkGetInstanceProcAddr)params.get_instance_proc_addr;
    if (!device->vki.vkGetInstanceProcAddr) {
        code = vy_loader_open(&device->loader, &device->vki.vkGetInstanceProcAddr, diag);
    }
    if (code == VYRE_OK) {
        code = vy_vulkan_instance_create(device, VYRE_VALIDATION_OFF, diag);
    }
    if (code == VYRE_OK) {
        code = vy_enumerate(device, &list, &count, diag);
    }
    for (uint32_t i = 0; code == VYRE_OK && i < count && i < capacity; i++) {
        vy_snapshot snapshot;
        code = vy_snapshot_query(&device->vki, list[i], i, device->api_version, &device->allocator,
                                 &snapshot, diag);
        infos[i] = snapshot.info;
    }
    if (code == VYRE_OK) {
        *out_count = count;
    }
    vy_free(&device->allocator, list, count * sizeof *list);
    vyre_device_destroy(&device);
    return code;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *type_text(vyre_device_type type)
{
    static const char *const texts[] = {"other", "integrated", "discrete", "virtual", "processor"};
    return (size_t)type < VY_COUNT_OF(texts) ? texts[type] : texts[0];
}

static const char *answer_text(vyre_answer answer)
{
    static const char *const texts[] = {"not probed", "no", "yes"};
    return (size_t)answer < VY_COUNT_OF(texts) ? texts[answer] : texts[0];
}

static void add_limits(vy_fixed_text *t, const vy_snapshot *s)
{
    const vyre_device_info *i = &s->info;
    vy_fixed_text_printf(t, "limits:\n");
    vy_fixed_text_printf(t, "  maxComputeWorkGroupCount         %u %u %u\n",
                         (unsigned)i->max_groups[0], (unsigned)i->max_groups[1],
                         (unsigned)i->max_groups[2]);
    vy_fixed_text_printf(t, "  maxComputeWorkGroupSize          %u %u %u\n",
                         (unsigned)i->max_workgroup[0], (unsigned)i->max_workgroup[1],
                         (unsigned)i->max_workgroup[2]);
    vy_fixed_text_printf(t, "  maxComputeWorkGroupInvocations   %u\n",
                         (unsigned)i->max_workgroup_invocations);
    vy_fixed_text_printf(t, "  maxComputeSharedMemorySize       %u\n",
                         (unsigned)i->max_shared_size);
    vy_fixed_text_printf(t, "  maxPerStageDescriptorStorageBuffers %u\n",
                         (unsigned)i->max_storage_buffers);
    vy_fixed_text_printf(t, "  maxPushConstantsSize             %u\n",
                         (unsigned)i->max_push_constants_size);
    vy_fixed_text_printf(t, "  maxStorageBufferRange            %llu\n",
                         (unsigned long long)i->max_storage_range);
    vy_fixed_text_printf(t, "  maxBufferSize                    %llu\n",
                         (unsigned long long)i->max_buffer_size);
    vy_fixed_text_printf(t, "  maxPushDescriptors               %u\n",
                         (unsigned)s->max_push_descriptors);
    vy_fixed_text_printf(t, "  binding offset alignment         %u\n",
                         (unsigned)i->offset_alignment);
    vy_fixed_text_printf(t, "  subgroup size                    %u\n", (unsigned)i->subgroup_size);
    vy_fixed_text_printf(t, "  compute units                    %u\n", (unsigned)i->compute_units);
    vy_fixed_text_printf(t, "  device-local memory              %llu\n",
                         (unsigned long long)i->device_memory_size);
    vy_fixed_text_printf(t, "  mappable device-local memory     %llu\n",
                         (unsigned long long)i->mappable_memory_size);
}

/* The modes of one width, as the bits of f32's. */
static void add_modes(vy_fixed_text *t, const char *what, uint32_t modes)
{
    vy_fixed_text_printf(
        t, "  %s %s%s%s%s\n", what,
        modes & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE ? " SignedZeroInfNanPreserve" : "",
        modes & VYRE_FLOAT_DENORM_PRESERVE ? " DenormPreserve" : "",
        modes & VYRE_FLOAT_ROUNDING_RTE ? " RoundingModeRTE" : "", modes ? "" : " none");
}

static void add_kernels(vy_fixed_text *t, const vy_snapshot *s, bool by_address)
{
    const vyre_device_info *i = &s->info;
    vy_fixed_text_printf(t, "kernels:\n");
    vy_fixed_text_printf(t, "  target           %s\n",
                         i->target == VYRE_TARGET_VULKAN_1_3
                             ? "vulkan1.3, SPIR-V 1.6, Vulkan memory model"
                             : "vulkan1.2, SPIR-V 1.5, GLSL450 memory model");
    vy_fixed_text_printf(t, "  interface        %s\n", by_address ? "address" : "descriptor");
    add_modes(t, "float modes    ", i->float_modes & 7);
    add_modes(t, "float64 modes  ", i->float_modes >> 3);
    vy_fixed_text_printf(t, "  barriers         %s\n",
                         s->has[VY_FEATURE_synchronization2] ? "synchronization2" : "Vulkan 1.0");
    if (i->timestamp_ns > 0) {
        vy_fixed_text_printf(t, "  timestamps       %g ns a tick, %u bits\n", i->timestamp_ns,
                             (unsigned)s->timestamp_bits);
    } else {
        vy_fixed_text_printf(t, "  timestamps       none\n");
    }
    vy_fixed_text_printf(t, "  host's clock     %s\n",
                         i->has_calibrated_timestamps ? "read together with the device's"
                                                      : "apart");
    vy_fixed_text_printf(t, "  addresses        %s\n", i->has_addresses ? "yes" : "no");
    vy_fixed_text_printf(t, "  memory budget    %s\n",
                         i->has_memory_budget ? "the driver's" : "what the library counts");
    vy_fixed_text_printf(t, "  loss             %s\n",
                         i->has_device_fault ? "told by the driver"
                                             : "without the driver's account");
}

size_t vyre_device_describe(const vyre_device *device, char *out, size_t out_size)
{
    vy_fixed_text t = {out, out_size, 0};
    if (out && out_size) {
        out[0] = 0;
    }
    if (!device) {
        return 0;
    }
    const vy_snapshot *s = &device->snapshot;
    const vyre_device_info *i = &s->info;
    vy_fixed_text_printf(&t, "device:  %s (%s, number %u)%s\n", i->name, type_text(i->type),
                         (unsigned)i->index, device->owns_device ? "" : ", adopted");
    vy_fixed_text_printf(&t, "driver:  %s\n", i->driver);
    vy_fixed_text_printf(
        &t, "vulkan:  %u.%u.%u, conformance %u.%u.%u.%u\n", (unsigned)(i->api_version >> 22 & 0x7f),
        (unsigned)(i->api_version >> 12 & 0x3ff), (unsigned)(i->api_version & 0xfff),
        (unsigned)s->conformance[0], (unsigned)s->conformance[1], (unsigned)s->conformance[2],
        (unsigned)s->conformance[3]);
    vy_fixed_text_printf(&t, "ids:     vendor 0x%x, device 0x%x, driver %u version 0x%x\n",
                         (unsigned)i->vendor_id, (unsigned)i->device_id, (unsigned)s->driver_id,
                         (unsigned)i->driver_version);
    vy_fixed_text_printf(&t, "features:\n");
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        vy_fixed_text_printf(&t, "  %-32s %s\n", vy_feature_get(f)->name, s->has[f] ? "yes" : "no");
    }
    for (uint32_t e = 0; e < VY_EXTENSION_COUNT; e++) {
        vy_fixed_text_printf(&t, "  %-32s %s\n", vy_extension_name(e),
                             s->has_extension[e] ? "yes" : "no");
    }
    add_limits(&t, s);
    vyre_kernel_params kernel;
    vyre_device_kernel_params(device, &kernel);
    add_kernels(&t, s, kernel.interface == VYRE_INTERFACE_ADDRESS);
    vy_abilities_print(&t, s, device->validation >= VYRE_VALIDATION_ON);
    vy_fixed_text_printf(&t, "probes:\n");
    vy_fixed_text_printf(&t, "  f32 denormals kept              %s\n", answer_text(i->denormals));
    vy_fixed_text_printf(&t, "  loops of 70,000 trips           %s\n", answer_text(i->long_loops));
    vy_fixed_text_printf(&t, "  native division                 %s\n",
                         answer_text(i->native_divide));
    vy_fixed_text_printf(&t, "  native square root              %s\n", answer_text(i->native_sqrt));
    vy_fixed_text_printf(&t, "  f64 kept and rounded to nearest %s\n", answer_text(i->doubles));
    vy_fixed_text_printf(&t, "  lanes in order                  %s\n", answer_text(i->lane_order));
    vy_fixed_text_printf(&t, "defects:\n  %s\n",
                         i->long_loops == VYRE_ANSWER_NO ? "long loops end early" : "none found");
    return t.length;
}

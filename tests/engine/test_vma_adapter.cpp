// A host in C++ with a VMA of its own, whose allocator gives the library all its device memory
// through vma.h. The library's own copy of VMA is in the same program and has other macros.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <setjmp.h>

extern "C" {
#include <cmocka.h>
}

#include <dlfcn.h>

static unsigned leaks;

#define VK_NO_PROTOTYPES
#define VMA_STATIC_VULKAN_FUNCTIONS  0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_VULKAN_VERSION           1002000
#define VMA_STATS_STRING_ENABLED     1
#define VMA_ASSERT(expression)                                                                     \
    do {                                                                                           \
        if (!(expression)) {                                                                       \
            leaks++;                                                                               \
        }                                                                                          \
    } while (false)
#define VMA_HEAVY_ASSERT(expression)
#define VMA_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#include <vk_mem_alloc.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include "vyre/dispatch.h"
#include "vyre/text.h"
#include "vyre/vma.h"

namespace {

struct Host {
    PFN_vkGetInstanceProcAddr get = nullptr;
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    VmaAllocator allocator = VK_NULL_HANDLE;
    vyre_feature_chain chain = {};

    template <typename Function> Function find(const char *name) const
    {
        return reinterpret_cast<Function>(get(instance, name));
    }

    void open();
    void close();
    uint32_t liveAllocations() const;
};

void Host::open()
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(loader);
    get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
    VkApplicationInfo application = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    assert_int_equal(find<PFN_vkCreateInstance>("vkCreateInstance")(&info, nullptr, &instance),
                     VK_SUCCESS);
    uint32_t count = 1;
    find<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance, &count, &physical);
    assert_int_equal(count, 1);
    VkQueueFamilyProperties families[16];
    count = 16;
    find<PFN_vkGetPhysicalDeviceQueueFamilyProperties>("vkGetPhysicalDeviceQueueFamilyProperties")(
        physical, &count, families);
    while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
        family++;
    }
    vyre_diag diag;
    assert_int_equal(
        vyre_device_fill_features(instance, physical, VK_API_VERSION_1_2, get, &chain, &diag),
        VYRE_OK);
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queueInfo = {};
    queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queueInfo.queueFamilyIndex = family;
    queueInfo.queueCount = 1;
    queueInfo.pQueuePriorities = &priority;
    VkDeviceCreateInfo deviceInfo = {};
    deviceInfo.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    deviceInfo.pNext = &chain.features;
    deviceInfo.queueCreateInfoCount = 1;
    deviceInfo.pQueueCreateInfos = &queueInfo;
    assert_int_equal(
        find<PFN_vkCreateDevice>("vkCreateDevice")(physical, &deviceInfo, nullptr, &device),
        VK_SUCCESS);
    auto getDevice = find<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr");
    reinterpret_cast<PFN_vkGetDeviceQueue>(getDevice(device, "vkGetDeviceQueue"))(device, family, 0,
                                                                                  &queue);
    VmaVulkanFunctions functions = {};
    functions.vkGetInstanceProcAddr = get;
    functions.vkGetDeviceProcAddr = getDevice;
    VmaAllocatorCreateInfo allocatorInfo = {};
    allocatorInfo.instance = instance;
    allocatorInfo.physicalDevice = physical;
    allocatorInfo.device = device;
    allocatorInfo.vulkanApiVersion = VK_API_VERSION_1_2;
    allocatorInfo.pVulkanFunctions = &functions;
    if (chain.vulkan12.bufferDeviceAddress) {
        allocatorInfo.flags |= VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
    }
    assert_int_equal(vmaCreateAllocator(&allocatorInfo, &allocator), VK_SUCCESS);
}

void Host::close()
{
    vmaDestroyAllocator(allocator);
    find<PFN_vkDestroyDevice>("vkDestroyDevice")(device, nullptr);
    find<PFN_vkDestroyInstance>("vkDestroyInstance")(instance, nullptr);
}

uint32_t Host::liveAllocations() const
{
    VmaTotalStatistics statistics;
    vmaCalculateStatistics(allocator, &statistics);
    return statistics.total.statistics.allocationCount;
}

vyre_pipeline *build(vyre_device *device, vyre_kernel **kernel, const char *text)
{
    vyre_program *program = nullptr;
    vyre_pipeline *pipeline = nullptr;
    vyre_kernel_params params;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(text, std::strlen(text), "test", nullptr, &program, &diag),
                     VYRE_OK);
    vyre_device_kernel_params(device, &params);
    assert_int_equal(vyre_kernel_compile(program, &params, kernel, &diag), VYRE_OK);
    vyre_program_destroy(&program);
    assert_int_equal(vyre_pipeline_create(device, *kernel, nullptr, &pipeline, &diag), VYRE_OK);
    return pipeline;
}

bool hasNoDevice()
{
    const char *text = std::getenv("VYRE_TESTS_NO_DEVICE");
    return text && std::strcmp(text, "1") == 0;
}

vyre_device *adoptHost(const Host &host)
{
    vyre_memory_callbacks memory;
    vyre_memory_callbacks_from_vma(host.allocator, &memory);
    vyre_adopt_params adopt;
    vyre_adopt_params_init(&adopt);
    adopt.get_instance_proc_addr = host.get;
    adopt.instance = host.instance;
    adopt.physical_device = host.physical;
    adopt.device = host.device;
    adopt.api_version = VK_API_VERSION_1_2;
    adopt.queue = host.queue;
    adopt.queue_family = host.family;
    adopt.features = &host.chain.features;
    adopt.memory = &memory;
    vyre_device *device = nullptr;
    vyre_diag diag;
    if (vyre_device_adopt(&adopt, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

enum { COUNT = 1000 };

// Uploads the words, adds them to themselves, one operand from the host's memory, and downloads.
void addToThemselves(vyre_device *device, vyre_pipeline *pipeline, const vyre_buffer buffers[2],
                     uint32_t words[COUNT])
{
    static uint32_t back[COUNT];
    vyre_diag diag;
    assert_int_equal(vyre_buffer_upload(device, buffers[0], 0, words, COUNT * sizeof *words, &diag),
                     VYRE_OK);
    vyre_binding bindings[3] = {};
    bindings[0].kind = VYRE_BINDING_RESIDENT;
    bindings[0].buffer = buffers[0];
    bindings[0].count = COUNT;
    bindings[1].kind = VYRE_BINDING_HOST;
    bindings[1].in = words;
    bindings[1].count = COUNT;
    bindings[2].kind = VYRE_BINDING_RESIDENT;
    bindings[2].buffer = buffers[1];
    bindings[2].count = COUNT;
    vyre_dispatch_params dispatch;
    vyre_dispatch_params_init(&dispatch);
    dispatch.bindings = bindings;
    dispatch.binding_count = 3;
    vyre_report report;
    if (vyre_dispatch(pipeline, &dispatch, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    std::memset(back, 0, sizeof back);
    assert_int_equal(vyre_buffer_download(device, buffers[1], 0, back, sizeof back, &diag),
                     VYRE_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(back[i], i * 6);
    }
}

// Dispatches and transfers with memory of the host's allocator, and all of it given back.
void testAdapterServesTheLibrary(void **)
{
    if (hasNoDevice()) {
        return;
    }
    Host host;
    host.open();
    assert_int_equal(host.liveAllocations(), 0);
    vyre_device *device = adoptHost(host);
    assert_true(host.liveAllocations() > 0);

    static uint32_t words[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        words[i] = i * 3;
    }
    vyre_diag diag;
    vyre_buffer buffers[2];
    for (vyre_buffer &buffer : buffers) {
        vyre_buffer_params params;
        vyre_buffer_params_init(&params);
        params.size = sizeof words;
        params.flags = &buffer == buffers ? VYRE_BUFFER_MAPPABLE : 0;
        assert_int_equal(vyre_buffer_create(device, &params, &buffer, &diag), VYRE_OK);
    }
    vyre_kernel *kernel = nullptr;
    vyre_pipeline *pipeline = build(device, &kernel,
                                    "program sum\nworkgroup 64\ngrid over c\n"
                                    "in a : u32[]\nin b : u32[]\nout c : u32[]\n"
                                    "kernel { let i = gid.x\n  c[i] = a[i] + b[i] }\n");
    for (uint32_t round = 0; round < 3; round++) {
        addToThemselves(device, pipeline, buffers, words);
    }
    void *data = nullptr;
    int coherent = 0;
    vyre_result mapped = vyre_buffer_map(device, buffers[0], &data, &coherent, &diag);
    if (mapped == VYRE_OK) {
        assert_memory_equal(data, words, sizeof words);
    } else {
        assert_int_equal(mapped, VYRE_ERROR_UNSUPPORTED_FEATURE);
    }
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.memory_allocations, host.liveAllocations());
    vyre_pipeline_destroy(&pipeline);
    vyre_kernel_destroy(&kernel);
    assert_int_equal(vyre_buffer_destroy(device, &buffers[0], &diag), VYRE_OK);
    vyre_device_destroy(&device); // and the buffer that is left
    assert_null(device);
    assert_int_equal(host.liveAllocations(), 0);
    host.close();
    assert_int_equal(leaks, 0); // VMA's own check of what is left
}

void testAdapterRequestsEachKind(void **)
{
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    for (int use = VYRE_MEMORY_DEVICE; use <= VYRE_MEMORY_READBACK; use++) {
        VmaAllocationCreateInfo request = vyre_vma_request(static_cast<vyre_memory_use>(use));
        bool isMapped = use != VYRE_MEMORY_DEVICE && use != VYRE_MEMORY_DEVICE_ONLY;
        assert_int_equal((request.flags & VMA_ALLOCATION_CREATE_MAPPED_BIT) != 0, isMapped);
        assert_int_equal((request.requiredFlags & visible) != 0, isMapped);
        bool isLocal = use == VYRE_MEMORY_DEVICE_ONLY || use == VYRE_MEMORY_MAPPABLE;
        assert_int_equal((request.requiredFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0,
                         isLocal);
    }
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(testAdapterRequestsEachKind),
        cmocka_unit_test(testAdapterServesTheLibrary),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}

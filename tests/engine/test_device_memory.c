/* Device memory: where it is placed, what is refused, and memory that a host gives. Heaps that the
 * device lacks are played by the layer. */
#include "engine/memory/placement.h"
#include "tests/support/engine_fixture.h"
#include "vyre/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* ---- Placement ------------------------------------------------------------------------------- */

#define L VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define V VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define C VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define H VK_MEMORY_PROPERTY_HOST_CACHED_BIT

/* A discrete card with a small window, as drivers of two vendors list them, and types that need
 * features of their own. */
static const VkPhysicalDeviceMemoryProperties discrete = {
    .memoryTypeCount = 7,
    .memoryTypes = {{0, 1},
                    {L, 0},
                    {V | C, 1},
                    {V | C | H, 1},
                    {L | V | C, 2},
                    {L | V | C | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, 0},
                    {L | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 0}},
    .memoryHeapCount = 3,
    .memoryHeaps = {{8 * GIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                    {16 * GIB, 0},
                    {256 * MIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
};
static const VkPhysicalDeviceMemoryProperties unified = {
    .memoryTypeCount = 2,
    .memoryTypes = {{L | V | C, 0}, {L | V | C | H, 0}},
    .memoryHeapCount = 1,
    .memoryHeaps = {{256 * MIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
};

static void expect_types(const VkPhysicalDeviceMemoryProperties *properties, uint32_t allowed,
                         vy_memory_kind kind, const char *wanted)
{
    uint32_t types[VK_MAX_MEMORY_TYPES];
    char got[VK_MAX_MEMORY_TYPES + 1] = "";
    uint32_t count = vy_placement_types(properties, allowed, kind, types);
    for (uint32_t i = 0; i < count; i++) {
        got[i] = (char)('0' + types[i]);
    }
    assert_string_equal(got, wanted);
}

static void test_placement_orders_types(void **state)
{
    (void)state;
    expect_types(&discrete, UINT32_MAX, VY_MEMORY_DEVICE_ONLY, "14");
    expect_types(&discrete, UINT32_MAX, VY_MEMORY_DEVICE, "14023");
    expect_types(&discrete, UINT32_MAX, VY_MEMORY_MAPPABLE, "4");
    expect_types(&discrete, UINT32_MAX, VY_MEMORY_UPLOAD, "234");
    expect_types(&discrete, UINT32_MAX, VY_MEMORY_TABLE, "423");
    expect_types(&discrete, UINT32_MAX, VY_MEMORY_READBACK, "324");
    expect_types(&discrete, 1u << 2 | 1u << 1, VY_MEMORY_TABLE, "2");
    expect_types(&discrete, 1u << 0 | 1u << 1, VY_MEMORY_UPLOAD, "");
    expect_types(&unified, UINT32_MAX, VY_MEMORY_DEVICE_ONLY, "01");
    expect_types(&unified, UINT32_MAX, VY_MEMORY_MAPPABLE, "10");
    expect_types(&unified, UINT32_MAX, VY_MEMORY_UPLOAD, "01");
    expect_types(&unified, UINT32_MAX, VY_MEMORY_READBACK, "10");
}

static void test_placement_leaves_room_in_a_small_window(void **state)
{
    (void)state;
    assert_int_equal(vy_placement_share(&discrete, VY_MEMORY_TABLE, 2), 128 * MIB);
    assert_int_equal(vy_placement_share(&discrete, VY_MEMORY_DEVICE, 2), 128 * MIB);
    assert_int_equal(vy_placement_share(&discrete, VY_MEMORY_MAPPABLE, 2), 192 * MIB);
    assert_true(vy_placement_share(&discrete, VY_MEMORY_TABLE, 0) == UINT64_MAX);
    assert_true(vy_placement_share(&discrete, VY_MEMORY_TABLE, 1) == UINT64_MAX);
    assert_true(vy_placement_share(&unified, VY_MEMORY_TABLE, 0) == UINT64_MAX);
    vy_heap_state heap = {.size = 1000, .budget = 800, .usage = 500, .own = 100, .used = 40};
    assert_int_equal(vy_placement_room(&heap, true, UINT64_MAX), 270 + 60);
    assert_int_equal(vy_placement_room(&heap, false, UINT64_MAX), 300 + 60);
    assert_int_equal(vy_placement_room(&heap, true, 100), 60);
    assert_int_equal(vy_placement_room(&heap, true, 30), 0);
    heap.usage = 900;
    assert_int_equal(vy_placement_room(&heap, true, UINT64_MAX), 60);
}

/* ---- Budgets and fallbacks ------------------------------------------------------------------- */

static vyre_result make(vyre_device *device, uint64_t size, uint32_t flags, vyre_buffer *out,
                        vyre_diag *diag)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.flags = flags | VYRE_BUFFER_UNINITIALIZED;
    return vyre_buffer_create(device, &params, out, diag);
}

static vyre_buffer must_make(vyre_device *device, uint64_t size, uint32_t flags)
{
    vyre_buffer buffer;
    vyre_diag diag;
    if (make(device, size, flags, &buffer, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return buffer;
}

static uint64_t own_of(vyre_device *device, uint32_t heap)
{
    vyre_heap list[VYRE_MAX_HEAPS];
    assert_true(vyre_device_get_memory(device, list) > heap);
    return list[heap].own;
}

static void test_full_device_memory_falls_back_by_name(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int has_budget = 0; has_budget < 2; has_budget++) {
        layer_reset();
        layer.heaps = LAYER_HEAPS_SEPARATE;
        layer.heap_room[0] = 64 * MIB;
        vyre_device *device = engine_open(1);
        /* Without the driver's figures the failed allocation is what tells. */
        device->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget] =
            has_budget && device->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget];
        vyre_buffer first = must_make(device, 40 * MIB, VYRE_BUFFER_DEVICE_ONLY), second, none;
        assert_true(own_of(device, 0) >= 40 * MIB);
        assert_int_equal(engine_counters(device).memory_fallbacks, 0);
        uint64_t host = own_of(device, 1);
        vyre_diag diag;
        assert_int_equal(make(device, 40 * MIB, VYRE_BUFFER_DEVICE_ONLY, &none, &diag),
                         VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        assert_non_null(strstr(diag.message, "41943040 bytes of device memory"));
        assert_int_equal(none.bits, 0);
        assert_int_equal(engine_counters(device).memory_fallbacks, 0);
        second = must_make(device, 40 * MIB, 0);
        assert_int_equal(engine_counters(device).memory_fallbacks, 1);
        assert_true(own_of(device, 1) >= host + 40 * MIB);
        uint32_t word = 5, back = 0;
        assert_int_equal(vyre_buffer_upload(device, second, 40 * MIB - 4, &word, 4, &diag),
                         VYRE_OK);
        assert_int_equal(vyre_buffer_download(device, second, 40 * MIB - 4, &back, 4, &diag),
                         VYRE_OK);
        assert_int_equal(back, 5);
        must_destroy(device, &first);
        must_destroy(device, &second);
        engine_close(&device);
    }
}

/* From 1 MiB on; where no more allocations may be made they share those that are there. */
static void test_large_buffers_have_dedicated_memory(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer_reset();
    vyre_device *device = engine_open(1);
    vyre_buffer small = must_make(device, MIB - 4, VYRE_BUFFER_DEVICE_ONLY);
    uint32_t dedicated = layer_dedicated_memories();
    vyre_buffer large = must_make(device, MIB, VYRE_BUFFER_DEVICE_ONLY);
    assert_int_equal(layer_dedicated_memories(), dedicated + 1);
    uint32_t all = layer.max_allocations = layer_memories();
    vyre_buffer other = must_make(device, MIB, VYRE_BUFFER_DEVICE_ONLY);
    assert_int_equal(layer_dedicated_memories(), dedicated + 1);
    assert_int_equal(layer_memories(), all);
    layer.max_allocations = 0;
    must_destroy(device, &large);
    assert_int_equal(layer_dedicated_memories(), dedicated);
    must_destroy(device, &small);
    must_destroy(device, &other);
    engine_close(&device);
}

static vyre_device *open_limited(layer_heaps heaps, uint64_t memory_limit)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.memory_limit = memory_limit;
    layer.heaps = heaps;
    return engine_open_with(&params);
}

static void test_memory_limit_refuses_with_figures(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_limited(LAYER_HEAPS_SEPARATE, 8 * MIB);
    vyre_diag diag;
    vyre_buffer a = must_make(device, 5 * MIB, 0), b = {0}, c;
    assert_int_equal(make(device, 4 * MIB, VYRE_BUFFER_DEVICE_ONLY, &b, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_non_null(strstr(diag.message, "4194304 bytes"));
    assert_non_null(strstr(diag.message, "hold 5242"));
    assert_non_null(strstr(diag.message, "memory_limit of 8388608"));
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(diag.vk_result, 0); /* the driver was not asked */
    c = must_make(device, 2 * MIB, VYRE_BUFFER_DEVICE_ONLY);
    assert_true(own_of(device, 0) <= 8 * MIB);
    must_destroy(device, &a);
    b = must_make(device, 4 * MIB, VYRE_BUFFER_DEVICE_ONLY);
    must_destroy(device, &b);
    must_destroy(device, &c);
    vyre_device_destroy(&device);
}

static void test_budget_is_asked_before_the_driver(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.heaps = LAYER_HEAPS_SEPARATE;
    vyre_device *device = engine_open(1);
    if (device->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget]) {
        layer.heap_room[0] = 100 * MIB;
        uint32_t calls = layer_fallible_calls();
        vyre_buffer buffer;
        vyre_diag diag;
        /* 90 % of what is left. */
        assert_int_equal(make(device, 95 * MIB, VYRE_BUFFER_DEVICE_ONLY, &buffer, &diag),
                         VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        assert_int_equal(layer_fallible_calls(), calls);
        assert_int_equal(diag.vk_result, 0);
        assert_non_null(strstr(diag.message, "are left"));
        buffer = must_make(device, 80 * MIB, VYRE_BUFFER_DEVICE_ONLY);
        must_destroy(device, &buffer);
    }
    engine_close(&device);
}

/* Idle staging makes room for a buffer that would not fit beside it. */
static void test_idle_staging_is_evicted(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_limited(LAYER_HEAPS_UNIFIED, 40 * MIB);
    vyre_diag diag;
    unsigned char *bytes = calloc(1, 8 * MIB);
    vyre_buffer small = must_make(device, 8 * MIB, 0), large;
    assert_int_equal(vyre_buffer_upload(device, small, 0, bytes, 8 * MIB, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_download(device, small, 0, bytes, 8 * MIB, &diag), VYRE_OK);
    assert_int_equal(engine_counters(device).memory_evictions, 0);
    large = must_make(device, 24 * MIB, 0); /* 8 + 8 + 8 are held */
    assert_int_equal(engine_counters(device).memory_evictions, 1);
    assert_int_equal(make(device, 24 * MIB, 0, &(vyre_buffer){0}, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_int_equal(engine_counters(device).memory_evictions, 1);
    /* Staging is made anew, as large as still fits. */
    assert_int_equal(vyre_buffer_upload(device, small, 0, bytes, 8 * MIB, &diag), VYRE_OK);
    free(bytes);
    must_destroy(device, &small);
    must_destroy(device, &large);
    vyre_device_destroy(&device);
}

/* The limit is of the device's own. */
static void test_staging_in_the_hosts_memory_takes_no_room(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_limited(LAYER_HEAPS_MAPPABLE, 40 * MIB);
    vyre_diag diag;
    unsigned char *bytes = calloc(1, 8 * MIB);
    vyre_buffer small = must_make(device, 8 * MIB, 0), large;
    assert_int_equal(vyre_buffer_upload(device, small, 0, bytes, 8 * MIB, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_download(device, small, 0, bytes, 8 * MIB, &diag), VYRE_OK);
    assert_true(own_of(device, 1) >= 16 * MIB);
    large = must_make(device, 24 * MIB, VYRE_BUFFER_DEVICE_ONLY);
    assert_int_equal(engine_counters(device).memory_evictions, 0);
    free(bytes);
    must_destroy(device, &small);
    must_destroy(device, &large);
    vyre_device_destroy(&device);
}

static uint32_t evictions;

static uint64_t evict_nothing(vyre_device *device)
{
    (void)device;
    evictions++;
    return 0;
}

static void test_higher_parts_are_asked_to_evict(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.heaps = LAYER_HEAPS_UNIFIED; /* no other memory to fall back to */
    vyre_device *device = engine_open(1);
    uint64_t (*before)(vyre_device * device) = device->evict;
    device->evict = evict_nothing;
    device->memory_limit = 16 * MIB;
    evictions = 0;
    vyre_buffer none;
    vyre_diag diag;
    assert_int_equal(make(device, 32 * MIB, 0, &none, &diag), VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_int_equal(evictions, 1);
    /* A mapped buffer is given up without, then the other is tried. */
    assert_int_equal(make(device, 32 * MIB, VYRE_BUFFER_MAPPABLE, &none, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_int_equal(evictions, 2);
    (void)vyre_device_trim(device);
    assert_int_equal(evictions, 3);
    device->evict = before;
    engine_close(&device);
}

static void test_small_window_is_not_used_up(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.heaps = LAYER_HEAPS_REBAR;
    vyre_device *device = engine_open(1);
    vy_block tables[12];
    uint32_t direct = 0;
    vyre_diag diag;
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(vy_block_create(device, VY_MEMORY_TABLE, 16 * MIB, "t", &tables[i], &diag),
                         VYRE_OK);
        assert_non_null(tables[i].mapped);
        direct += vy_block_is_direct(&tables[i]);
    }
    assert_true(direct > 0 && direct <= 8); /* half of 256 MiB */
    vyre_buffer buffer = must_make(device, 16 * MIB, VYRE_BUFFER_MAPPABLE);
    void *data = NULL;
    assert_int_equal(vyre_buffer_map(device, buffer, &data, NULL, &diag), VYRE_OK);
    memset(data, 1, 16 * MIB);
    must_destroy(device, &buffer);
    for (uint32_t i = 0; i < 12; i++) {
        vy_block_destroy(device, &tables[i]);
    }
    engine_close(&device);
}

static void test_heaps_are_told(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.heaps = LAYER_HEAPS_REBAR;
    vyre_device *device = engine_open(1);
    vyre_heap list[VYRE_MAX_HEAPS];
    assert_int_equal(vyre_device_get_memory(device, list), 3);
    assert_int_equal(list[0].is_device_local, 1);
    assert_int_equal(list[0].is_mappable, 0);
    assert_int_equal(list[1].is_device_local, 0);
    assert_int_equal(list[1].is_mappable, 1);
    assert_int_equal(list[2].size, 256 * MIB);
    assert_int_equal(list[2].is_mappable, 1);
    assert_int_equal(vyre_device_get_memory(NULL, list), 0);
    device->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget] = false;
    assert_int_equal(vyre_device_get_memory(device, list), 3);
    for (int h = 0; h < 3; h++) {
        assert_int_equal(list[h].budget, list[h].size - list[h].size / 10);
        assert_int_equal(list[h].usage, list[h].own);
    }
    engine_close(&device);
}

/* ---- A host's callbacks ---------------------------------------------------------------------- */

typedef struct host {
    vyre_device *own; /* whose Vulkan device is adopted */
    uint32_t alive, made, flushes;
    uint32_t uses[6];
    VkResult fail_with; /* of the next create */
    int no_mapping;
} host;

/* The first that has these; VK_MAX_MEMORY_TYPES: none. */
static uint32_t find_type(const VkPhysicalDeviceMemoryProperties *properties, uint32_t allowed,
                          VkMemoryPropertyFlags wanted)
{
    for (uint32_t t = 0; t < properties->memoryTypeCount; t++) {
        if (allowed >> t & 1 && (properties->memoryTypes[t].propertyFlags & wanted) == wanted) {
            return t;
        }
    }
    return VK_MAX_MEMORY_TYPES;
}

static VkResult host_create(void *user, const VkBufferCreateInfo *info, vyre_memory_use use,
                            vyre_allocated_buffer *out)
{
    static const VkMemoryPropertyFlags wanted[] = {L, L, L | V | C, V | C, V | C, V | C};
    host *h = user;
    vyre_device *d = h->own;
    if (h->fail_with) {
        VkResult result = h->fail_with;
        h->fail_with = VK_SUCCESS;
        return result;
    }
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties properties;
    assert_int_equal(d->vk.vkCreateBuffer(d->device, info, NULL, &out->buffer), VK_SUCCESS);
    d->vk.vkGetBufferMemoryRequirements(d->device, out->buffer, &needs);
    d->vki.vkGetPhysicalDeviceMemoryProperties(d->physical, &properties);
    uint32_t type = find_type(&properties, needs.memoryTypeBits, wanted[use]);
    if (type == VK_MAX_MEMORY_TYPES) {
        d->vk.vkDestroyBuffer(d->device, out->buffer, NULL);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = type};
    if (info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) {
        memory.pNext = &flags;
    }
    VkDeviceMemory made;
    assert_int_equal(d->vk.vkAllocateMemory(d->device, &memory, NULL, &made), VK_SUCCESS);
    assert_int_equal(d->vk.vkBindBufferMemory(d->device, out->buffer, made, 0), VK_SUCCESS);
    if (wanted[use] & V && !h->no_mapping) {
        assert_int_equal(d->vk.vkMapMemory(d->device, made, 0, VK_WHOLE_SIZE, 0, &out->mapped),
                         VK_SUCCESS);
    }
    out->allocation = (void *)made;
    /* Said not to be coherent, so that the library asks for flushes. */
    out->properties = properties.memoryTypes[type].propertyFlags & ~(VkMemoryPropertyFlags)C;
    h->alive++;
    h->made++;
    h->uses[use]++;
    return VK_SUCCESS;
}

static void host_destroy(void *user, const vyre_allocated_buffer *buffer)
{
    host *h = user;
    h->alive--;
    h->own->vk.vkDestroyBuffer(h->own->device, buffer->buffer, NULL);
    h->own->vk.vkFreeMemory(h->own->device, (VkDeviceMemory)buffer->allocation, NULL);
}

static VkResult host_flush(void *user, const vyre_allocated_buffer *buffer, VkDeviceSize offset,
                           VkDeviceSize size)
{
    (void)offset;
    assert_non_null(buffer->mapped);
    assert_true(size > 0);
    ((host *)user)->flushes++;
    return VK_SUCCESS;
}

/* The device of another library object is the host's. */
static vyre_device *adopt(host *h, vyre_feature_chain *chain, const vyre_memory_callbacks *memory)
{
    vyre_device *own = h->own;
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    vyre_diag diag;
    assert_int_equal(vyre_device_fill_features(own->instance, own->physical, own->api_version,
                                               own->vki.vkGetInstanceProcAddr, chain, &diag),
                     VYRE_OK);
    const char *extensions[] = {"VK_EXT_memory_budget"};
    params.get_instance_proc_addr = own->vki.vkGetInstanceProcAddr;
    params.instance = own->instance;
    params.physical_device = own->physical;
    params.device = own->device;
    params.api_version = own->api_version;
    params.queue = own->queue;
    params.queue_family = own->snapshot.queue_family;
    params.features = &chain->features;
    params.extensions = extensions;
    params.extension_count = own->snapshot.has_extension[VY_EXTENSION_EXT_memory_budget];
    params.memory = memory;
    vyre_device *device = NULL;
    if (vyre_device_adopt(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

static void give_all_memory(void)
{
    host h = {.own = engine_open(1)};
    vyre_memory_callbacks memory = {&h, host_create, host_destroy, host_flush, host_flush};
    vyre_feature_chain chain;
    vyre_device *device = adopt(&h, &chain, &memory);
    memset(&memory, 0, sizeof memory); /* they were copied */
    assert_true(h.made > 0);
    uint32_t words[16], back[16] = {0};
    for (uint32_t i = 0; i < 16; i++) {
        words[i] = i;
    }
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    engine_program p = engine_build(device, "program add\nworkgroup 64\ngrid over a\n"
                                            "inout a : u32[]\nin b : u32[]\n"
                                            "kernel { a[gid.x] = a[gid.x] + b[gid.x] }\n");
    vyre_binding bindings[] = {engine_resident(buffer, 0, 16), engine_host_in(words, 16)};
    (void)engine_run(&p, bindings, 2, NULL, 0, 0, 0);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_download(device, buffer, 0, back, sizeof back, &diag), VYRE_OK);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(back[i], 2 * i);
    }
    assert_true(h.uses[VYRE_MEMORY_DEVICE] > 0 && h.uses[VYRE_MEMORY_UPLOAD] > 0 &&
                h.uses[VYRE_MEMORY_READBACK] > 0);
    assert_true(h.flushes > 1);
    vyre_device_counters counters = engine_counters(device);
    assert_int_equal(counters.memory_allocations, h.alive);
    assert_true(counters.memory_size >= sizeof words);
    vyre_heap heaps[VYRE_MAX_HEAPS];
    uint64_t own = 0;
    for (uint32_t i = vyre_device_get_memory(device, heaps); i-- > 0;) {
        own += heaps[i].own;
    }
    assert_int_equal(own, counters.memory_size);
    vyre_buffer mapped = must_make(device, 16, VYRE_BUFFER_MAPPABLE | VYRE_BUFFER_DEVICE_ONLY);
    void *data = NULL;
    int coherent = 1;
    /* Without such memory it is a buffer all the same. */
    uint32_t can = h.own->snapshot.info.mappable_memory_size > 0;
    assert_int_equal(vyre_buffer_map(device, mapped, &data, &coherent, &diag) == VYRE_OK, can);
    assert_true(!can || coherent == 0);
    assert_int_equal(h.uses[VYRE_MEMORY_MAPPABLE], can);
    engine_release(&p);
    must_destroy(device, &buffer);
    vyre_device_destroy(&device);
    assert_int_equal(h.alive, 0);
    engine_close(&h.own);
}

static void test_host_callbacks_give_all_memory(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const layer_heaps heaps[] = {LAYER_HEAPS_REAL, LAYER_HEAPS_SEPARATE,
                                        LAYER_HEAPS_MAPPABLE};
    for (size_t i = 0; i < 2 * sizeof heaps / sizeof *heaps; i++) {
        layer.heaps = heaps[i / 2];
        layer.no_peeking = i % 2;
        give_all_memory();
    }
}

static void test_failing_callbacks_are_typed_errors(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        VkResult given;
        vyre_result wanted;
    } cases[] = {{VK_ERROR_OUT_OF_DEVICE_MEMORY, VYRE_ERROR_DEVICE_OUT_OF_MEMORY},
                 {VK_ERROR_FEATURE_NOT_PRESENT, VYRE_ERROR_DEVICE_OUT_OF_MEMORY},
                 {VK_ERROR_OUT_OF_HOST_MEMORY, VYRE_ERROR_OUT_OF_HOST_MEMORY},
                 {VK_INCOMPLETE, VYRE_ERROR_DISPATCH_FAILED}};
    host h = {.own = engine_open(1)};
    vyre_memory_callbacks memory = {&h, host_create, host_destroy, host_flush, host_flush};
    vyre_feature_chain chain;
    vyre_device *device = adopt(&h, &chain, &memory);
    vyre_buffer buffer;
    vyre_diag diag;
    uint32_t alive = h.alive;
    for (size_t i = 0; i < 4; i++) {
        h.fail_with = cases[i].given;
        assert_int_equal(make(device, 64, 0, &buffer, &diag), cases[i].wanted);
        assert_int_equal(h.alive, alive);
    }
    h.no_mapping = 1;
    vy_block block;
    assert_int_equal(vy_block_create(device, VY_MEMORY_UPLOAD, 64, "t", &block, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_int_equal(diag.vk_result, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(h.alive, alive);
    vyre_device_destroy(&device);
    assert_int_equal(h.alive, 0);
    engine_close(&h.own);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placement_orders_types),
        cmocka_unit_test(test_placement_leaves_room_in_a_small_window),
        T(test_full_device_memory_falls_back_by_name),
        T(test_large_buffers_have_dedicated_memory),
        T(test_memory_limit_refuses_with_figures),
        T(test_budget_is_asked_before_the_driver),
        T(test_idle_staging_is_evicted),
        T(test_staging_in_the_hosts_memory_takes_no_room),
        T(test_higher_parts_are_asked_to_evict),
        T(test_small_window_is_not_used_up),
        T(test_heaps_are_told),
        T(test_host_callbacks_give_all_memory),
        T(test_failing_callbacks_are_typed_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

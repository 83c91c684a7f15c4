/* See shared_queue.h. */
#include "tests/support/shared_queue.h"

#include "tests/support/engine_run.h"
#include "tests/support/host_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HOST_FUNCTIONS(X)                                                                          \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkAllocateMemory)                                                                            \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkBindBufferMemory)                                                                          \
    X(vkCmdFillBuffer)                                                                             \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCreateBuffer)                                                                              \
    X(vkCreateCommandPool)                                                                         \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroyBuffer)                                                                             \
    X(vkDestroyCommandPool)                                                                        \
    X(vkDestroySemaphore)                                                                          \
    X(vkEndCommandBuffer)                                                                          \
    X(vkFreeMemory)                                                                                \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkMapMemory)                                                                                 \
    X(vkQueueSubmit)                                                                               \
    X(vkResetCommandPool)                                                                          \
    X(vkWaitSemaphores)

typedef struct side {
    host_device *host;
    uint32_t count, errors;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline;
    const uint32_t *mapped;
#define X(name) PFN_##name name;
    HOST_FUNCTIONS(X)
#undef X
} side;

static void make_memory(side *s)
{
    host_device *h = s->host;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = 64,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    assert_int_equal(s->vkCreateBuffer(h->device, &info, NULL, &s->buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    s->vkGetBufferMemoryRequirements(h->device, s->buffer, &needs);
    VkPhysicalDeviceMemoryProperties properties;
    ((PFN_vkGetPhysicalDeviceMemoryProperties)h->get(
        h->instance, "vkGetPhysicalDeviceMemoryProperties"))(h->physical, &properties);
    VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (properties.memoryTypes[type].propertyFlags & wanted) != wanted) {
        type++;
    }
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    assert_int_equal(s->vkAllocateMemory(h->device, &allocate, NULL, &s->memory), VK_SUCCESS);
    assert_int_equal(s->vkBindBufferMemory(h->device, s->buffer, s->memory, 0), VK_SUCCESS);
    void *mapped = NULL;
    assert_int_equal(s->vkMapMemory(h->device, s->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                     VK_SUCCESS);
    s->mapped = mapped;
}

static void make_side(side *s, host_device *h, uint32_t count)
{
    *s = (side){.host = h, .count = count};
#define X(name) s->name = (PFN_##name)host_device_find(h, #name);
    HOST_FUNCTIONS(X)
#undef X
    make_memory(s);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = h->setup.queue.queueFamilyIndex};
    assert_int_equal(s->vkCreateCommandPool(h->device, &pool, NULL, &s->pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = s->pool,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
    assert_int_equal(s->vkAllocateCommandBuffers(h->device, &buffers, &s->commands), VK_SUCCESS);
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
    assert_int_equal(s->vkCreateSemaphore(h->device, &semaphore, NULL, &s->timeline), VK_SUCCESS);
}

static void finish_side(side *s)
{
    VkDevice device = s->host->device;
    s->vkDestroySemaphore(device, s->timeline, NULL);
    s->vkDestroyCommandPool(device, s->pool, NULL);
    s->vkDestroyBuffer(device, s->buffer, NULL);
    s->vkFreeMemory(device, s->memory, NULL);
}

static int submit_number(side *s, uint64_t number)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    int errors = s->vkResetCommandPool(s->host->device, s->pool, 0) != VK_SUCCESS;
    errors += s->vkBeginCommandBuffer(s->commands, &begin) != VK_SUCCESS;
    s->vkCmdFillBuffer(s->commands, s->buffer, 0, 64, (uint32_t)number);
    s->vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                            0, 1, &to_host, 0, NULL, 0, NULL);
    errors += s->vkEndCommandBuffer(s->commands) != VK_SUCCESS;
    VkTimelineSemaphoreSubmitInfo timeline = {.sType =
                                                  VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .signalSemaphoreValueCount = 1,
                                              .pSignalSemaphoreValues = &number};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .pNext = &timeline,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &s->commands,
                           .signalSemaphoreCount = 1,
                           .pSignalSemaphores = &s->timeline};
    host_device_lock(s->host);
    errors += s->vkQueueSubmit(s->host->queue, 1, &submit, VK_NULL_HANDLE) != VK_SUCCESS;
    host_device_unlock(s->host);
    return errors;
}

static void *host_side(void *argument)
{
    side *s = argument;
    for (uint64_t n = 1; n <= s->count && !s->errors; n++) {
        VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &s->timeline,
                                    .pValues = &n};
        s->errors += (uint32_t)submit_number(s, n);
        s->errors += s->vkWaitSemaphores(s->host->device, &wait, UINT64_MAX) != VK_SUCCESS;
        s->errors += s->mapped[0] != (uint32_t)n || s->mapped[15] != (uint32_t)n;
    }
    return NULL;
}

void shared_queue_run(vyre_vulkan_entry entry, uint32_t submissions)
{
    host_device host;
    side s;
    host_device_open(&host, entry, HOST_ENABLES_SETUP, 0);
    make_side(&s, &host, submissions / 2);
    vyre_device *device = host_device_adopt(&host);
    engine_program program = engine_build(device, "program next\nworkgroup 64\ngrid over a\n"
                                                  "inout a : u32[]\n"
                                                  "kernel { a[gid.x] = a[gid.x] + gid.x + 1 }\n");
    vyre_buffer buffer = engine_buffer(device, 64 * sizeof(uint32_t), NULL);
    vyre_binding bindings[] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED)};
    vyre_device_counters before, after;
    vyre_device_get_counters(device, &before);
    atomic_store(&host.locks, 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, host_side, &s), 0);
    for (uint32_t n = 0; n < submissions / 2; n++) {
        (void)engine_run(&program, bindings, 1, NULL, 0, 0, 0);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(s.errors, 0);
    vyre_device_get_counters(device, &after);
    assert_int_equal(after.submissions - before.submissions, submissions / 2);
    assert_true(atomic_load(&host.locks) >= submissions);
    uint32_t values[64];
    vyre_diag diag;
    assert_int_equal(vyre_buffer_download(device, buffer, 0, values, sizeof values, &diag),
                     VYRE_OK);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(values[i], submissions / 2 * (i + 1));
    }
    engine_release(&program);
    vyre_device_destroy(&device);
    finish_side(&s);
    host_device_close(&host);
}

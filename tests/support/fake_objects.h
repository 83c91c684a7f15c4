/* What the fake Vulkan's files share: its objects and the lock around all of them. */
#ifndef VY_FAKE_OBJECTS_H
#define VY_FAKE_OBJECTS_H

#include "tests/support/fake_vulkan.h"

#include <pthread.h>
#include <stdatomic.h>

/* The beginning of every object; `next` links those alive. */
typedef struct fake_object {
    struct fake_object *next;
    VkObjectType type;
    char name[64];
    atomic_int users; /* calls on an object of one user at a time */
} fake_object;

typedef struct fake_command {
    enum { FAKE_FILL, FAKE_COPY, FAKE_UPDATE, FAKE_DISPATCH, FAKE_INDIRECT, FAKE_STAMP } kind;
    VkBuffer source, target; /* source: INDIRECT's arguments too */
    uint64_t source_offset, offset, size;
    uint32_t word; /* FILL's; STAMP's query */
    void *data;    /* UPDATE's */
    VkQueryPool queries;
    VkPipeline pipeline;
    VkDescriptorSet set;
    uint32_t dynamic; /* offset */
    uint32_t groups[3], push[FAKE_MAX_PUSH_WORDS];
} fake_command;

struct VkInstance_T {
    fake_object object;
};
struct VkPhysicalDevice_T {
    int nothing;
};
struct VkDeviceMemory_T {
    fake_object object;
    unsigned char *data;
    uint64_t size;
};
struct VkBuffer_T {
    fake_object object;
    VkDeviceMemory memory;
    uint64_t size, offset;
};
struct VkSemaphore_T {
    fake_object object;
    uint64_t value; /* a binary one: 0 or 1 */
    bool is_timeline;
};
struct VkShaderModule_T {
    fake_object object;
    uint32_t *words;
    uint32_t word_count;
};
struct VkPipeline_T {
    fake_object object;
    uint32_t *words; /* of the module, which may be gone */
    uint32_t word_count;
    uint32_t spec[FAKE_MAX_SPEC];
    bool has_spec[FAKE_MAX_SPEC];
};
struct VkPipelineLayout_T {
    fake_object object;
};
struct VkPipelineCache_T {
    fake_object object;
};
struct VkDescriptorSetLayout_T {
    fake_object object;
};
struct VkDescriptorSet_T {
    VkDescriptorSet next;
    VkDescriptorBufferInfo buffers[FAKE_MAX_BINDINGS];
    bool is_dynamic[FAKE_MAX_BINDINGS];
};
struct VkDescriptorPool_T {
    fake_object object;
    VkDescriptorSet sets;
};
struct VkQueryPool_T {
    fake_object object;
    uint64_t *values;
    uint32_t count;
};
struct VkCommandBuffer_T {
    fake_object object;
    VkCommandPool pool;
    VkCommandBuffer next;
    fake_command *commands;
    uint32_t count, capacity;
    VkDescriptorSet pushed; /* that vkCmdPushDescriptorSet made */
    fake_command bound;     /* pipeline, set and push constants of the next dispatch */
    atomic_int pending;
};
struct VkCommandPool_T {
    fake_object object;
    VkCommandBuffer buffers;
};

typedef struct fake_point {
    VkSemaphore semaphore;
    uint64_t value;
} fake_point;

#define FAKE_MAX_POINTS 20u
typedef struct fake_submission {
    struct fake_submission *next;
    fake_point waits[FAKE_MAX_POINTS], signals[FAKE_MAX_POINTS];
    uint32_t wait_count, signal_count, command_count, number;
    VkCommandBuffer *commands;
} fake_submission;

struct VkQueue_T {
    VkDevice device;
    atomic_int users;
    uint32_t calls; /* a plain write by each call: ThreadSanitizer sees two at once */
    fake_submission *first, *last;
    bool is_running;
};
struct VkDevice_T {
    fake_object object;
    struct VkQueue_T queue;
    pthread_t worker;
    bool is_ending, is_lost;
    char extensions[8][VK_MAX_EXTENSION_NAME_SIZE]; /* enabled */
    bool has_fault;                                 /* the feature */
};

extern pthread_mutex_t fake_mutex;
extern pthread_cond_t fake_changed; /* semaphores, queues, loss */

/* Zeroed and linked; taken out again and freed. */
void *fake_object_make(VkObjectType type, size_t size);
void fake_object_free(fake_object *object);
/* Around calls on something of one user at a time; counts those that meet. */
void fake_enter(atomic_int *users);
void fake_leave(atomic_int *users);
void fake_violation(void);

/* fake_commands.c */
void fake_command_run(const fake_command *command);
void fake_commands_clear(VkCommandBuffer commands);
PFN_vkVoidFunction fake_find_command(const char *name);
/* fake_queue.c */
PFN_vkVoidFunction fake_find_queue(const char *name);
VkResult fake_queue_start(VkDevice device);
void fake_queue_end(VkDevice device);
void fake_queue_reset(void);
/* fake_device.c */
PFN_vkVoidFunction fake_find_device(VkDevice device, const char *name);

#define FAKE_TAKE(function)                                                                        \
    if (strcmp(name, "vk" #function) == 0) {                                                       \
        return (PFN_vkVoidFunction)fake_##function;                                                \
    }

#endif

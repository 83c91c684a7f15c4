/* Functions of Vulkan's that stand above the tests' layer. One process has one list of them. */
#ifndef VY_TESTS_TAKE_H
#define VY_TESTS_TAKE_H

#include "codegen/base/base.h"
#include "tests/support/vk_layer.h"

typedef struct take_call {
    const char *name;
    bool is_instances;      /* found by vkGetInstanceProcAddr; else by vkGetDeviceProcAddr */
    PFN_vkVoidFunction own; /* what is found in its place */
    void *next;             /* the function pointer that is set to the one below */
} take_call;

#define TAKE_INSTANCE(call, next, own)                                                             \
    {                                                                                              \
#call, true, (PFN_vkVoidFunction)(own), &(next)                                            \
    }
#define TAKE_DEVICE(call, next, own)                                                               \
    {                                                                                              \
#call, false, (PFN_vkVoidFunction)(own), &(next)                                           \
    }

/* Those of the list stand above the layer's from now on; NULL where there is no Vulkan. */
vyre_vulkan_entry take_entry(const take_call *calls, uint32_t count);

#endif

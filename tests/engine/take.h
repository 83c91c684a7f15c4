/* For functions that find Vulkan functions: one that stands above the `found` one. */
#ifndef VY_TESTS_TAKE_H
#define VY_TESTS_TAKE_H

/* Where `name` is `asked` for: keeps what was found in `pointer` and returns the own one. */
#define TAKE(name, pointer, own)                                                                   \
    if (strcmp(asked, #name) == 0) {                                                               \
        pointer = (PFN_##name)found;                                                               \
        return (PFN_vkVoidFunction)own;                                                            \
    }

#endif

/* Kernel files with a fault planted in their words. */
#ifndef VY_TESTS_TOOLS_PLANT_H
#define VY_TESTS_TOOLS_PLANT_H

#include <stdint.h>

/* Writes a kernel file of the program, whose text is that of the file `name`, for the device that
 * the tools open; its one constant of the value `from` is `to`. */
void plant_constant(const char *path, const char *name, const char *text, uint32_t from,
                    uint32_t to);

#endif

/* Opening a device for a tool, with its messages on a stream. */
#ifndef VY_OPEN_H
#define VY_OPEN_H

#include "tools/common/lines.h"
#include "tools/common/tool.h"
#include "vyre/device.h"

/* `name`: part of a device's name, its number, or NULL for the best. Warnings and errors of the
 * library and of the validation layer are printed to `err`, which must outlive the device. */
vyre_result vy_open_device(const char *name, vyre_validation validation, FILE *err,
                           vyre_device **out_device, vyre_diag *diag);
/* Such a device whose programs print by the validation layer, to `lines`, which must outlive it. */
vyre_result vy_open_device_printing(const char *name, vy_lines *lines, FILE *err,
                                    vyre_device **out_device, vyre_diag *diag);
/* The same with VYRE_DEBUG_* beside what the environment has. */
vyre_result vy_open_device_for(const char *name, vyre_validation validation, uint32_t debug,
                               FILE *err, vyre_device **out_device, vyre_diag *diag);
/* One line for each device of the machine. Gives an exit code. */
int vy_list_devices(FILE *out, FILE *err);
const char *vy_device_type_text(vyre_device_type type);

#endif

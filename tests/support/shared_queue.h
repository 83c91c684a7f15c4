/* A host's thread and the library on one queue, for as many submissions as wanted. */
#ifndef VY_SHARED_QUEUE_H
#define VY_SHARED_QUEUE_H

#include "vyre/device.h"

#include <stdint.h>

/* A host that made its device from vyre_device_fill_setup alone submits half of `submissions` from
 * a thread of its own, each writing the next number and waited for, while another dispatches on the
 * adopted device for the other half. Fails the test where a value is wrong. */
void shared_queue_run(vyre_vulkan_entry entry, uint32_t submissions);

#endif

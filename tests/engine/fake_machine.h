/* The tests' interpreter of SPIR-V as what the fake Vulkan runs dispatches by: programs whose
 * invocations do not wait for each other have right results there. */
#ifndef VY_FAKE_MACHINE_H
#define VY_FAKE_MACHINE_H

#include "tests/support/fake_vulkan.h"

/* For fake_settings.execute. */
void fake_machine_execute(const fake_dispatch *dispatch);
/* Settings and counts back to zero, and this function set. */
void fake_machine_reset(void);

#endif

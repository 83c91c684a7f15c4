/* Everything but what needs the Vulkan headers (vulkan.h). */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include "vyre/buffer.h"
#include "vyre/device.h"
#include "vyre/dispatch.h"
#include "vyre/dispatcher.h"
#include "vyre/interp.h"
#include "vyre/kernel.h"
#include "vyre/megakernel.h"
#include "vyre/program.h"
#include "vyre/result.h"
#include "vyre/scan.h"
#include "vyre/text.h"

#endif

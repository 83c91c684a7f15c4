// A host that carries its own VMA beside ours: two copies in one program, and neither meets the
// other's symbols.
#define VMA_STATIC_VULKAN_FUNCTIONS  0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

#include <vyre/vyre.h>

#include <cstdio>

// Names that our copy of volk defines as well: a host's own must win in the host and not clash.
extern "C" {
int volkInitialize(void);
int volkInitialize(void)
{
    return 42;
}
}

int main()
{
    VmaVirtualBlockCreateInfo info = {};
    info.size = 1024;
    VmaVirtualBlock block;
    if (vmaCreateVirtualBlock(&info, &block) != VK_SUCCESS) {
        return 1;
    }
    vmaDestroyVirtualBlock(block);
    std::puts(vyre_result_text(VYRE_OK));
    return volkInitialize() == 42 ? 0 : 1;
}

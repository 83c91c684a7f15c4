/* Work items in plain C, optimised as far as the compiler goes. */
#include "tools/vyre-bench/peers/vulkan.h"

void peer_items_on_cpu(uint32_t *data, const bench_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        data[items[i].output] =
            bench_item_value(data, items[i].opcode, items[i].input, items[i].param);
    }
}

/* See allow_list.h. Decides from the snapshot alone. */
#include "engine/device/allow_list.h"

#include "engine/device/vk.h"

#include <stdlib.h>
#include <string.h>

typedef struct row {
    VkDriverId driver;
    uint64_t first, last; /* versions, both included */
    vy_exact exact;
    bool has_turns;
} row;

static const row rows[] = {
    {VK_DRIVER_ID_MESA_LLVMPIPE,
     VY_VERSION(25, 0, 0),
     VY_VERSION(25, 0, UINT16_MAX),
     {true, true,
      "llvmpipe computes f32 division and square root by the processor's own instructions; "
      "measured "
      "over the table of pairs, with NoContraction"},
     .has_turns = true}, /* coroutines; a barrier's order is a fence of the processor's, no more */
};

/* "llvmpipe Mesa 25.0.7 (LLVM 15.0.6)": some of Mesa's drivers give a constant as driverVersion. */
static uint64_t mesa_version(const char *text)
{
    const char *at = strstr(text, "Mesa ");
    unsigned long parts[3] = {0, 0, 0};
    if (!at) {
        return 0;
    }
    at += strlen("Mesa ");
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        if (*at < '0' || *at > '9') {
            return 0;
        }
        parts[i] = strtoul(at, &end, 10);
        if (parts[i] >= 1u << 16) {
            return 0;
        }
        at = *end == '.' ? end + 1 : end;
    }
    return VY_VERSION(parts[0], parts[1], parts[2]);
}

uint64_t vy_allow_list_version(const vy_snapshot *snapshot)
{
    uint64_t version = mesa_version(snapshot->info.driver);
    uint32_t word = snapshot->info.driver_version;
    if (version) {
        return version;
    }
    if (snapshot->driver_id == VK_DRIVER_ID_NVIDIA_PROPRIETARY) {
        return VY_VERSION(word >> 22, word >> 14 & 0xff, word >> 6 & 0xff);
    }
    return VY_VERSION(word >> 22, word >> 12 & 0x3ff, word & 0xfff);
}

static const row *find(const vy_snapshot *snapshot)
{
    uint64_t version = vy_allow_list_version(snapshot);
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        if (snapshot->driver_id == (uint32_t)rows[i].driver && version >= rows[i].first &&
            version <= rows[i].last) {
            return &rows[i];
        }
    }
    return NULL;
}

vy_exact vy_allow_list_find(const vy_snapshot *snapshot)
{
    const row *found = find(snapshot);
    return found ? found->exact : (vy_exact){false, false, ""};
}

bool vy_allow_list_has_turns(const vy_snapshot *snapshot)
{
    const row *found = find(snapshot);
    return found && found->has_turns;
}

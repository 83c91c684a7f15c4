/* The device's clock: ticks as nanoseconds, and both clocks at one moment. */
#include "engine/device/device.h"

#if defined(_WIN32)
#define HOST_DOMAIN VK_TIME_DOMAIN_QUERY_PERFORMANCE_COUNTER_EXT
#else
#define HOST_DOMAIN VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT
#endif
#define MAX_DOMAINS 16u
/* The thread may be taken off its processor between both readings: better ones are tried for. */
#define TRIES          4u
#define GOOD_DEVIATION 20000u /* ns */

bool vy_clock_is_calibrateable(const vy_instance_table *vki, VkPhysicalDevice physical)
{
    VkTimeDomainEXT domains[MAX_DOMAINS];
    uint32_t count = MAX_DOMAINS;
    if (!vki->vkGetPhysicalDeviceCalibrateableTimeDomainsEXT ||
        vki->vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(physical, &count, domains) < 0) {
        return false;
    }
    bool has_host = false, has_device = false;
    for (uint32_t i = 0; i < count; i++) {
        has_host = has_host || domains[i] == HOST_DOMAIN;
        has_device = has_device || domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
    }
    return has_host && has_device;
}

/* The host's stamp on the clock of vy_clock_ns. */
static uint64_t host_ns(uint64_t stamp)
{
#if defined(_WIN32)
    LARGE_INTEGER rate;
    QueryPerformanceFrequency(&rate);
    uint64_t r = (uint64_t)rate.QuadPart;
    return stamp / r * 1000000000u + stamp % r * 1000000000u / r;
#else
    return stamp;
#endif
}

bool vy_device_calibrate(vyre_device *device, uint64_t *out_device_ticks, uint64_t *out_host_ns)
{
    *out_device_ticks = *out_host_ns = 0;
    if (!device->snapshot.info.has_calibrated_timestamps || atomic_load(&device->lost)) {
        return false;
    }
    VkCalibratedTimestampInfoEXT infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = HOST_DOMAIN}};
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < TRIES && least > GOOD_DEVIATION; i++) {
        uint64_t stamps[2] = {0, 0}, deviation = 0;
        VkResult result =
            device->vk.vkGetCalibratedTimestampsEXT(device->device, 2, infos, stamps, &deviation);
        if (result != VK_SUCCESS) {
            return false;
        }
        if (i == 0 || deviation < least) {
            least = deviation;
            *out_device_ticks = stamps[0];
            *out_host_ns = host_ns(stamps[1]);
        }
    }
    return true;
}

uint64_t vy_ticks_to_ns(const vyre_device *device, uint64_t from, uint64_t to)
{
    return vy_snapshot_ticks_to_ns(&device->snapshot, from, to);
}

/* So long a moment is taken to be on both clocks, whose rates differ by some millionths. */
#define FRESH_NS 10000000u

/* A moment that is not old. */
static bool recent_moment(vyre_device *device, uint64_t *out_ticks, uint64_t *out_ns)
{
    vy_mutex_lock(&device->counter_mutex);
    *out_ticks = device->calibrated_ticks;
    *out_ns = device->calibrated_ns;
    vy_mutex_unlock(&device->counter_mutex);
    if (*out_ns && vy_clock_ns() < *out_ns + FRESH_NS) {
        return true;
    }
    if (!vy_device_calibrate(device, out_ticks, out_ns)) {
        return false;
    }
    vy_mutex_lock(&device->counter_mutex);
    device->calibrated_ticks = *out_ticks;
    device->calibrated_ns = *out_ns;
    vy_mutex_unlock(&device->counter_mutex);
    return true;
}

uint64_t vy_device_host_time(vyre_device *device, uint64_t tick)
{
    uint64_t ticks = 0, ns = 0;
    if (!device->snapshot.info.has_calibrated_timestamps || !recent_moment(device, &ticks, &ns)) {
        return UINT64_MAX;
    }
    /* Counters of fewer bits wrap: of both ways round it is the one that the moment's age allows.
     */
    uint64_t since = vy_ticks_to_ns(device, ticks, tick);
    uint64_t before = vy_ticks_to_ns(device, tick, ticks);
    if (since <= 2u * FRESH_NS) {
        return ns + since;
    }
    return before <= ns ? ns - before : UINT64_MAX;
}

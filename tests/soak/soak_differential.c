/* Ten thousand generated programs, or VYRE_SEEDS=FIRST:COUNT, on interpreter and device. */
#include "tests/support/differential.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned long long first = 1;
    unsigned count = 10000;
    const char *seeds = getenv("VYRE_SEEDS");
    if (seeds && sscanf(seeds, "%llu:%u", &first, &count) != 2) {
        fprintf(stderr, "VYRE_SEEDS: not FIRST:COUNT; write for example VYRE_SEEDS=1:500\n");
        return 2;
    }
    vyre_device *device = vy_test_device();
    if (!device) {
        return 1;
    }
    uint32_t bad = vy_run_seeds(device, first, count, NULL);
    vyre_device_destroy(&device);
    printf("%u programs from seed %llu, %u differ\n", count, first, bad);
    return bad != 0;
}

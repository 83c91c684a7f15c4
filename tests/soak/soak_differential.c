/* Ten thousand generated programs, or VYRE_SEEDS=FIRST:COUNT, on interpreter and device, each in
 * one of the ways in which programs reach a device. What differs is printed, made small, with the
 * command that runs it; VYRE_FUZZ_DIR=FOLDER keeps it in files; VYRE_SEEDS_VERBOSE=1 names each
 * seed first, for drivers that crash. Needs no file of the source tree, so that the binary can be
 * taken to another machine, and shares none with other processes, so that as many can run as there
 * are processors, each with seeds of its own. The last line is "seeds FIRST..LAST: N differences".
 * Exit: 0 no difference; 1 some, or no device; 2 usage. */
#include "tests/support/differential.h"
#include "tests/support/validate_words.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned long long first = 1;
    unsigned count = 10000;
    const char *seeds = getenv("VYRE_SEEDS");
    if (seeds && (sscanf(seeds, "%llu:%u", &first, &count) != 2 || !count)) {
        fprintf(stderr, "VYRE_SEEDS: not FIRST:COUNT; write for example VYRE_SEEDS=1:500\n");
        return 2;
    }
    vyre_device *device = vy_test_device();
    if (!device) {
        return 1;
    }
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    printf("%s, %s\n", info.name, info.driver);
    const vy_hooks hooks = {.words = vy_validate_words};
    fflush(stdout);
    unsigned bad = vy_run_seeds(device, first, count, &hooks);
    printf("seeds %llu..%llu: %u differences\n", first, first + count - 1, bad);
    vyre_device_destroy(&device);
    return bad != 0;
}

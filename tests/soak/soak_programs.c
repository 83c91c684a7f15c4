/* The programs of shaders/ and tests/programs/ where they take long: grids of more workgroups than
 * a dimension surely holds, a hundred generations of life on one, realistic sizes of what is slow
 * on processors, and cases of random sizes: VYRE_SEEDS=FIRST:COUNT, otherwise five hundred from
 * seed 1. */
#include "tests/support/differential.h"
#include "tests/support/oracle.h"
#include "tests/support/oracle_run.h"

#include <stdio.h>
#include <stdlib.h>

#define FOLDED_SIZE (65535u * 256u + 1u)
#define FOUR_LEVELS (256u * 256u * 256u + 1u) /* of sums, in scan.vyre and its like */
#define MAX_SIZE    3000u

/* A set of three words needs a third of the blocks for the same grid. */
static const struct {
    vy_subject subject;
    vy_variant variant;
    uint32_t size;
} long_cases[] = {
    {VY_SUBJECT_LIFE, VY_VARIANT_SQUARE, FOLDED_SIZE},
    {VY_SUBJECT_LIFE, VY_VARIANT_WIDE, FOLDED_SIZE},
    {VY_SUBJECT_COMPONENTS, VY_VARIANT_PATH, FOLDED_SIZE},
    {VY_SUBJECT_COMPONENTS, VY_VARIANT_SHUFFLED, FOLDED_SIZE},
    {VY_SUBJECT_COMPONENTS, VY_VARIANT_GRID, FOLDED_SIZE},
    {VY_SUBJECT_DATAFLOW, VY_VARIANT_WIDE, FOLDED_SIZE / 3 + 1},
    {VY_SUBJECT_COMPACT, VY_VARIANT_NONE, FOLDED_SIZE},
    {VY_SUBJECT_COMPACT, VY_VARIANT_ALL, FOLDED_SIZE},
    {VY_SUBJECT_HISTOGRAM, VY_VARIANT_NONE, FOLDED_SIZE},
    {VY_SUBJECT_SCAN, VY_VARIANT_RANDOM, FOUR_LEVELS - 1},
    {VY_SUBJECT_SCAN, VY_VARIANT_RANDOM, FOUR_LEVELS},
    {VY_SUBJECT_COMPACT, VY_VARIANT_RANDOM, FOUR_LEVELS},
    {VY_SUBJECT_REDUCE, VY_VARIANT_RANDOM, FOUR_LEVELS - 1},
    {VY_SUBJECT_REDUCE, VY_VARIANT_RANDOM, FOUR_LEVELS},
    {VY_SUBJECT_BFS, VY_VARIANT_PATH, 200000},
    {VY_SUBJECT_BITSET, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_EXTREMES, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_EXTREMES, VY_VARIANT_ALL, FOLDED_SIZE},
    {VY_SUBJECT_RADIX_SORT, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_RADIX_SORT, VY_VARIANT_ALL, FOLDED_SIZE},
    {VY_SUBJECT_DISTINCT, VY_VARIANT_RANDOM, FOLDED_SIZE / 2},
    {VY_SUBJECT_SPMV, VY_VARIANT_RANDOM, FOLDED_SIZE / 8},
    {VY_SUBJECT_SPMV, VY_VARIANT_WIDE, 500000},
    {VY_SUBJECT_MATMUL, VY_VARIANT_SQUARE, 1024 * 1024},
    {VY_SUBJECT_MATMUL, VY_VARIANT_SQUARE, 1023 * 1023},
    {VY_SUBJECT_MATMUL, VY_VARIANT_WIDE, FOLDED_SIZE / 8},
    {VY_SUBJECT_SEMIRING_MATMUL, VY_VARIANT_SQUARE, 512 * 512},
    {VY_SUBJECT_LINEAR_INT4, VY_VARIANT_RANDOM, 4096 * 512},
    {VY_SUBJECT_MATVEC_INT8, VY_VARIANT_RANDOM, FOLDED_SIZE / 4},
    {VY_SUBJECT_SOFTMAX, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_LAYER_NORM, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_ATTENTION, VY_VARIANT_RANDOM, 1 << 18},
    {VY_SUBJECT_FFT, VY_VARIANT_ALL, 1 << 22},
    {VY_SUBJECT_FFT, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_NTT, VY_VARIANT_RANDOM, 1 << 20},
    {VY_SUBJECT_HEAT, VY_VARIANT_SQUARE, FOLDED_SIZE},
    {VY_SUBJECT_UTF8, VY_VARIANT_RANDOM, 4 * FOLDED_SIZE},
    {VY_SUBJECT_LINES, VY_VARIANT_RANDOM, FOLDED_SIZE},
    {VY_SUBJECT_BASE64, VY_VARIANT_NONE, FOLDED_SIZE},
    {VY_SUBJECT_AHO_CORASICK, VY_VARIANT_ALL, 1 << 24},
    {VY_SUBJECT_DFA_SCAN, VY_VARIANT_RANDOM, 1 << 24},
    {VY_SUBJECT_NFA, VY_VARIANT_RANDOM, 1 << 20},
    {VY_SUBJECT_FNV1A, VY_VARIANT_RANDOM, FOLDED_SIZE / 8},
    {VY_SUBJECT_CRC32, VY_VARIANT_RANDOM, 4 * FOLDED_SIZE},
    {VY_SUBJECT_ADLER32, VY_VARIANT_ALL, 4 * FOLDED_SIZE},
    {VY_SUBJECT_BLAKE3, VY_VARIANT_RANDOM, 1 << 24},
    {VY_SUBJECT_AES_CTR, VY_VARIANT_RANDOM, 1 << 20},
    {VY_SUBJECT_REACH, VY_VARIANT_RANDOM, 1 << 22},
    {VY_SUBJECT_BFS_QUEUE, VY_VARIANT_RANDOM, 1 << 22},
    {VY_SUBJECT_BFS_QUEUE, VY_VARIANT_PATH, 200000},
    {VY_SUBJECT_SHORTEST_PATHS, VY_VARIANT_RANDOM, 1 << 20},
    {VY_SUBJECT_CLOSURE, VY_VARIANT_RANDOM, 1 << 19},
    {VY_SUBJECT_UNION_FIND, VY_VARIANT_SHUFFLED, 1 << 20},
    {VY_SUBJECT_RANK_SORT, VY_VARIANT_RANDOM, 1 << 16},
};

static bool check(vyre_device *device, vy_subject subject, vy_variant variant, uint32_t size,
                  uint32_t ways)
{
    vy_prepared prepared;
    bool ok =
        vy_prepare(device, subject, &prepared) && vy_check(&prepared, subject, variant, size, ways);
    vy_prepared_finish(&prepared);
    return ok;
}

static bool check_seed(vyre_device *device, uint64_t seed)
{
    uint64_t state = seed;
    vy_subject subject = (vy_subject)(vy_oracle_random(&state) % VY_SUBJECT_COUNT);
    uint32_t variant = vy_oracle_random(&state) % VY_VARIANT_COUNT;
    while (!vy_subject_has(subject, (vy_variant)variant)) {
        variant = (variant + 1) % VY_VARIANT_COUNT;
    }
    uint32_t size = vy_oracle_random(&state) % MAX_SIZE;
    return check(device, subject, (vy_variant)variant, size, VY_RUN_DEVICE | VY_RUN_INTERPRETER);
}

int main(void)
{
    unsigned long long first = 1;
    unsigned count = 500, bad = 0;
    const char *seeds = getenv("VYRE_SEEDS");
    if (seeds && sscanf(seeds, "%llu:%u", &first, &count) != 2) {
        fprintf(stderr, "VYRE_SEEDS: not FIRST:COUNT; write for example VYRE_SEEDS=1:500\n");
        return 2;
    }
    vyre_device *device = vy_test_device();
    if (!device) {
        return 1;
    }
    for (unsigned long long seed = first; seed < first + count; seed++) {
        if (!check_seed(device, seed)) {
            printf("seed %llu differs\n", seed);
            bad++;
        }
    }
    printf("%u cases from seed %llu, %u differ\n", count, first, bad);
    for (uint32_t i = 0; i < VY_COUNT_OF(long_cases); i++) {
        bad += !check(device, long_cases[i].subject, long_cases[i].variant, long_cases[i].size,
                      VY_RUN_DEVICE);
    }
    vyre_device_destroy(&device);
    printf("%u differ in all\n", bad);
    return bad != 0;
}

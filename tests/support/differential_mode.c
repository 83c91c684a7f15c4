/* The ways in which a program reaches a device, among them spirv-opt over its words; and runs of
 * many seeds, each in one of these ways. */
#include "tests/support/differential.h"

#include "codegen/kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

vy_mode vy_mode_of_seed(const vyre_device *device, uint64_t seed)
{
    vyre_device_info info;
    vyre_kernel_params params;
    vyre_device_get_info(device, &info);
    vyre_device_kernel_params(device, &params);
    bool can_join = params.reconvergence == VYRE_RECONVERGENCE_MAXIMAL;
    uint64_t bits = (seed + 1) * 0x9e3779b97f4a7c15u;
    bits ^= bits >> 29;
    vy_mode mode = {.interface = bits >> 8 & 1 && info.has_addresses ? VYRE_INTERFACE_ADDRESS
                                                                     : VYRE_INTERFACE_DESCRIPTOR,
                    .target = bits >> 9 & 1 ? info.target : VYRE_TARGET_VULKAN_1_2,
                    .aliased = (bits >> 10 & 3) == 0,
                    .optimised = (bits >> 12 & 3) == 0,
                    .plain = (bits >> 22 & 7) == 0,
                    .debug = (bits >> 14 & 3) == 0,
                    .prints = (bits >> 20 & 3) == 0,
                    .resident = bits >> 16 & 1,
                    .joined = bits >> 17 & 1 && can_join,
                    .coarse = bits >> 18 & 1};
    return mode;
}

void vy_mode_print(const vy_mode *mode, char *out, size_t size)
{
    snprintf(out, size, "%s, %s%s%s%s%s%s%s%s%s%s",
             mode->interface == VYRE_INTERFACE_ADDRESS ? "address" : "descriptor",
             mode->target == VYRE_TARGET_VULKAN_1_3 ? "vulkan1.3" : "vulkan1.2",
             mode->aliased ? ", aliased" : "", mode->plain ? ", -O0" : "",
             mode->optimised ? ", spirv-opt -O" : "", mode->debug ? ", names" : "",
             mode->prints ? ", printf" : "", mode->resident ? ", resident" : "",
             mode->joined ? ", joined atomics" : "",
             mode->whole   ? ", one workgroup"
             : mode->stays ? ", workgroups that stay"
                           : "",
             mode->coarse ? ", coarse" : "");
}

/* ---- spirv-opt --------------------------------------------------------------------------------
 */

static bool write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(data, 1, size, file) == size;
    return file && fclose(file) == 0 && ok;
}

static uint32_t *read_words(const char *path, uint32_t *out_count)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    uint32_t *words = size > 20 ? malloc((size_t)size) : NULL;
    if (words) {
        rewind(file);
        if (fread(words, 1, (size_t)size, file) != (size_t)size) {
            free(words);
            words = NULL;
        }
    }
    if (file) {
        fclose(file);
    }
    *out_count = (uint32_t)((size_t)size / 4);
    return words;
}

static bool run_optimiser(const char *const *arguments, bool is_silent)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int nowhere = is_silent ? open("/dev/null", O_WRONLY) : -1;
        if (nowhere >= 0) {
            (void)dup2(nowhere, STDOUT_FILENO);
            (void)dup2(nowhere, STDERR_FILENO);
        }
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool optimise_all(vyre_kernel *kernel, vyre_target target, const char *folder,
                         uint32_t **owned)
{
    char from[280], to[280];
    const char *arguments[] = {"spirv-opt", "-O", "--target-env=vulkan1.3", from, "-o", to, NULL};
    bool ok = true;
    if (target == VYRE_TARGET_VULKAN_1_2) {
        arguments[2] = "--target-env=vulkan1.2";
    }
    snprintf(from, sizeof from, "%s/in.spv", folder);
    snprintf(to, sizeof to, "%s/out.spv", folder);
    for (uint32_t s = 0; ok && s < vyre_kernel_segment_count(kernel); s++) {
        vy_kernel_segment *segment = (vy_kernel_segment *)vy_kernel_get_segment(kernel, s);
        uint32_t count = 0;
        ok = write_file(from, segment->words, segment->word_count * sizeof *segment->words) &&
             run_optimiser(arguments, false);
        owned[s] = ok ? read_words(to, &count) : NULL;
        ok = owned[s] != NULL;
        if (ok) {
            segment->words = owned[s];
            segment->word_count = count;
        }
    }
    (void)unlink(from);
    (void)unlink(to);
    return ok;
}

bool vy_has_optimiser(void)
{
    const char *arguments[] = {"spirv-opt", "--version", NULL};
    return run_optimiser(arguments, true);
}

bool vy_optimise_kernel(vyre_kernel *kernel, vyre_target target, uint32_t ***out_owned)
{
    char folder[256];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/vyre-fuzz.XXXXXX", base ? base : "/tmp");
    uint32_t **owned = calloc(vyre_kernel_segment_count(kernel) + 1u, sizeof *owned);
    *out_owned = owned;
    if (!owned || !mkdtemp(folder)) {
        return false;
    }
    bool ok = optimise_all(kernel, target, folder, owned);
    (void)rmdir(folder);
    return ok;
}

void vy_optimised_free(uint32_t ***owned)
{
    for (uint32_t i = 0; *owned && (*owned)[i]; i++) {
        free((*owned)[i]);
    }
    free(*owned);
    *owned = NULL;
}

/* ---- Seeds ------------------------------------------------------------------------------------
 */

#define MAX_SHOWN    5u
#define SHRINK_LIMIT 1500u
#define TOLD_EVERY_S 10

static void show(vyre_device *device, vy_gen_case *c, vy_mode *mode, const vy_hooks *hooks,
                 vy_comparison *comparison)
{
    if (comparison->verdict == VY_DIFFERENT) {
        vy_comparison small;
        (void)vy_shrink(device, c, mode, hooks, SHRINK_LIMIT);
        vy_compare(device, c->text.data, c->text.size, &c->info, mode, hooks, &small);
        if (small.verdict == VY_DIFFERENT) {
            *comparison = small;
        } else {
            printf("the smaller program does not differ every time\n");
        }
    }
    vy_gen_case_print(c, mode, comparison, getenv("VYRE_FUZZ_DIR"));
    fflush(stdout);
}

/* One line now and then, so that a long run tells that it lives. */
static void tell(time_t *told, uint64_t done, uint32_t count, uint32_t bad)
{
    time_t now = time(NULL);
    if (now - *told >= TOLD_EVERY_S) {
        printf("%llu of %u programs, %u differ\n", (unsigned long long)done, count, bad);
        fflush(stdout);
        *told = now;
    }
}

uint32_t vy_run_seeds(vyre_device *device, uint64_t first, uint32_t count, const vy_hooks *hooks)
{
    uint32_t bad = 0, skipped = 0;
    time_t told = time(NULL);
    bool has_optimiser = vy_has_optimiser();
    if (!has_optimiser) {
        printf("there is no spirv-opt: no words are optimised\n");
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        vy_gen_case c;
        vy_comparison comparison;
        vy_mode mode = vy_mode_of_seed(device, seed);
        mode.optimised = mode.optimised && has_optimiser;
        if (getenv("VYRE_SEEDS_VERBOSE")) {
            printf("seed %llu\n", (unsigned long long)seed);
            fflush(stdout);
        }
        vy_gen_case_generate(seed, &c);
        vy_compare(device, c.text.data, c.text.size, &c.info, &mode, hooks, &comparison);
        skipped += comparison.verdict == VY_SKIPPED;
        if (comparison.verdict == VY_DIFFERENT || comparison.verdict == VY_BROKEN) {
            bad++;
            printf("seed %llu: %s\n", (unsigned long long)seed, comparison.message);
            fflush(stdout);
            if (bad <= MAX_SHOWN) {
                show(device, &c, &mode, hooks, &comparison);
            }
        }
        vy_gen_case_finish(&c);
        tell(&told, seed - first + 1, count, bad);
    }
    if (skipped) {
        printf("%u programs need what the device does not have\n", skipped);
    }
    return bad;
}

vyre_device *vy_test_device(void)
{
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(NULL, &device, &diag) != VYRE_OK) {
        fprintf(stderr, "no device to test on: %s\n", diag.message);
        return NULL;
    }
    return device;
}

/* See vk_layer_scenario.h. */
#include "tests/support/vk_layer_scenario.h"

#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_CALLS    20000u
#define MAX_TIMED    8u
#define MAX_COVER    64u
#define FIRST_EVERY  100u
#define EVERY_RESULT 2u

typedef struct runner {
    const layer_scenario_params *params;
    layer_settings settings;
    uint32_t runs;
} runner;

/* Leaves which call was failed to layer_failed. */
static vyre_result run(runner *r, const layer_settings *settings, vy_fail_allocator *host,
                       vyre_diag *diag)
{
    layer_reset();
    layer = *settings;
    memset(diag, 0, sizeof *diag);
    if (r->params->begin) {
        r->params->begin(r->params->user);
    }
    vyre_allocator allocator = vy_fail_allocator_get(host);
    vyre_result code = r->params->run(&allocator, r->params->user, diag);
    r->runs++;
    return code;
}

/* What must be so after every run; `name` and `number` say what had been failed. */
static void check(runner *r, vyre_result code, const vyre_diag *diag, const vy_fail_allocator *host,
                  const char *name, uint32_t number)
{
    if (layer_alive() != 0) {
        fail_msg("%d objects stayed after %s number %u failed", (int)layer_alive(), name,
                 (unsigned)number);
    }
    if (host->live_blocks != 0 || host->live_size != 0) {
        fail_msg("%u blocks (%u bytes) of host memory stayed after %s number %u failed",
                 (unsigned)host->live_blocks, (unsigned)host->live_size, name, (unsigned)number);
    }
    if (code != VYRE_OK && (diag->code != code || !strstr(diag->message, "Fix: "))) {
        fail_msg("%s after %s number %u failed, with the text \"%s\" (%s)", vyre_result_name(code),
                 name, (unsigned)number, diag->message, vyre_result_name(diag->code));
    }
    if (r->params->check) {
        r->params->check(r->params->user, code);
    }
}

/* Whether an error is what its cause says. Drivers give memory errors for pipelines that they
 * cannot compile, and VMA tells of every failed allocation as of device memory. */
static bool is_expected(vyre_result code, VkResult cause, const char *name)
{
    if (code == VYRE_OK) {
        return true;
    }
    if (strcmp(name, "vkCreateComputePipelines") == 0 ||
        strcmp(name, "vkCreateShaderModule") == 0) {
        if (code == VYRE_ERROR_KERNEL_COMPILE_FAILED) {
            return true;
        }
    }
    if (code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY &&
        (strcmp(name, "vkAllocateMemory") == 0 || strcmp(name, "vkMapMemory") == 0)) {
        return true;
    }
    switch (cause) {
    case VK_ERROR_DEVICE_LOST:
        return code == VYRE_ERROR_DEVICE_LOST;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return code == VYRE_ERROR_OUT_OF_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_MEMORY_MAP_FAILED:
    case VK_ERROR_TOO_MANY_OBJECTS:
        return code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY;
    default:
        return code == VYRE_ERROR_NO_DEVICE || code == VYRE_ERROR_UNSUPPORTED_FEATURE ||
               code == VYRE_ERROR_DISPATCH_FAILED || code == VYRE_ERROR_KERNEL_COMPILE_FAILED ||
               code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY;
    }
}

/* Fails the n-th call, of `only` where it is not NULL; false: there were fewer. */
static bool fail_call(runner *r, const char *only, uint32_t n, VkResult failure)
{
    layer_settings settings = r->settings;
    settings.fail_only = only;
    settings.fail_at = n;
    settings.failure = failure;
    settings.loss_stays = true;
    vy_fail_allocator host = {0};
    vyre_diag diag;
    vyre_result code = run(r, &settings, &host, &diag);
    const char *name = layer_failed();
    check(r, code, &diag, &host, name ? name : "nothing", n);
    if (!name) {
        assert_int_equal(code, VYRE_OK);
        return false;
    }
    if (!is_expected(code, failure, name)) {
        fail_msg("%s number %u gave %d, which became %s: %s", name, (unsigned)n, (int)failure,
                 vyre_result_name(code), diag.message);
    }
    return true;
}

/* How many calls of the same command come before, from the first that is to fail. */
static uint32_t occurrence(const layer_command_errors **calls, uint32_t first, uint32_t at)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < at; i++) {
        count += calls[i] == calls[at];
    }
    return count;
}

static uint32_t result_count(const layer_command_errors *command)
{
    uint32_t count = 0;
    while (count < LAYER_MAX_RESULTS && command->results[count]) {
        count++;
    }
    return count;
}

/* Commands that have no place in the order: looked for until there are no more of them. */
static void fail_timed(runner *r, const char *name)
{
    static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                       VK_ERROR_DEVICE_LOST};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t n = 1; n <= MAX_TIMED && fail_call(r, name, n, results[i]); n++) {
        }
    }
}

/* Commands that are made only where others have failed: behind each of these failures. */
static void fail_behind(runner *r)
{
    static const struct {
        const char *name;
        VkResult result;
    } firsts[] = {{"vkWaitSemaphores", VK_ERROR_OUT_OF_HOST_MEMORY},
                  {"vkQueueSubmit", VK_ERROR_DEVICE_LOST},
                  {"vkWaitSemaphores", VK_ERROR_DEVICE_LOST}};
    layer_cover cover[MAX_COVER];
    uint32_t count = layer_coverage(cover, MAX_COVER);
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t k = 0; k < result_count(cover[c].command); k++) {
            layer_cover now[MAX_COVER];
            (void)layer_coverage(now, MAX_COVER);
            if (!now[c].failed[k]) {
                /* One that was made, but not where it was looked for. */
                r->settings.fail_then = NULL;
                (void)fail_call(r, cover[c].command->name, 1, cover[c].command->results[k]);
            }
            for (uint32_t f = 0; f < 3 * MAX_TIMED; f++) {
                (void)layer_coverage(now, MAX_COVER);
                if (now[c].failed[k]) {
                    break;
                }
                r->settings.fail_then = cover[c].command->name;
                r->settings.failure_then = cover[c].command->results[k];
                (void)fail_call(r, firsts[f % 3].name, 1 + f / 3, firsts[f % 3].result);
            }
        }
    }
    r->settings.fail_then = NULL;
}

/* A run without a failure, and what came before the part that is to fail. */
static layer_scenario_start run_well(runner *r)
{
    vy_fail_allocator host = {0};
    vyre_diag diag;
    vyre_result code = run(r, &r->settings, &host, &diag);
    if (code != VYRE_OK) {
        fail_msg("without a failure: %s: %s", vyre_result_name(code), diag.message);
    }
    check(r, code, &diag, &host, "nothing", 0);
    return r->params->start ? *r->params->start : (layer_scenario_start){0};
}

static void fail_rest(runner *r)
{
    fail_timed(r, "vkGetSemaphoreCounterValue");
    fail_timed(r, "vkGetCalibratedTimestampsEXT");
    r->settings.slow_polls = true;
    fail_timed(r, "vkWaitSemaphores");
    fail_behind(r);
}

uint32_t layer_scenario_fail_calls(const layer_scenario_params *params)
{
    runner r = {.params = params, .settings = layer};
    layer_scenario_start start = run_well(&r);
    const layer_command_errors **calls = calloc(MAX_CALLS, sizeof(void *));
    assert_non_null(calls);
    uint32_t count = layer_fallible_list(calls, MAX_CALLS), misses = 0;
    assert_true(count > start.calls && count < MAX_CALLS);
    for (uint32_t i = start.calls; i < count; i++) {
        uint32_t results = result_count(calls[i]), before = occurrence(calls, start.calls, i);
        for (uint32_t k = 0; k < results; k++) {
            bool is_due = params->is_exhaustive || before < EVERY_RESULT || before % results == k;
            misses += is_due && !fail_call(&r, NULL, i + 1, calls[i]->results[k]);
        }
    }
    free((void *)calls);
    /* How many chunks go in one submission depends on how far the device was: the last calls of a
     * scenario are not always as many. That each command failed in each way is judged by coverage.
     */
    if (misses * 10 > r.runs) {
        fail_msg("%u of %u calls to be failed were not made", (unsigned)misses, (unsigned)r.runs);
    }
    if (!params->start) {
        fail_rest(&r);
    }
    layer_reset();
    return r.runs;
}

uint32_t layer_scenario_fail_allocations(const layer_scenario_params *params, uint32_t stride)
{
    runner r = {.params = params, .settings = layer};
    vyre_diag diag;
    uint32_t start = params->start ? run_well(&r).allocations : 0;
    bool is_last = false;
    for (uint32_t n = start + 1; !is_last; n += n < start + FIRST_EVERY ? 1 : stride) {
        vy_fail_allocator host = {.fail_at = n};
        vyre_result code = run(&r, &r.settings, &host, &diag);
        is_last = host.calls < n;
        if (code != VYRE_OK && code != VYRE_ERROR_OUT_OF_HOST_MEMORY) {
            fail_msg("allocation %u failed, which became %s: %s", (unsigned)n,
                     vyre_result_name(code), diag.message);
        }
        check(&r, code, &diag, &host, "allocation", n);
    }
    layer_reset();
    return r.runs;
}

vyre_result layer_scenario_run_steps(const layer_scenario_steps *steps,
                                     const vyre_allocator *allocator, vyre_diag *diag)
{
    const vy_fail_allocator *host = allocator->user;
    vyre_result first = VYRE_OK;
    vyre_diag other;
    for (uint32_t number = 0; number < steps->count;) {
        if (number == steps->first_failing && first == VYRE_OK) {
            *steps->start = (layer_scenario_start){layer_fallible_calls(), (uint32_t)host->calls};
        }
        vyre_result code = steps->step(steps->work, number, first ? &other : diag);
        if (code == VYRE_ERROR_DEVICE_LOST) {
            return first ? first : code;
        }
        if (code != VYRE_OK && first != VYRE_OK) {
            fail_msg("step %u again: %s", (unsigned)number, other.message);
        }
        first = code ? code : first;
        number += code == VYRE_OK;
    }
    return first;
}

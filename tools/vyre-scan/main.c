/* vyre-scan: finds patterns in files and prints what grep prints. This file: the order of things.
 */
#include "tools/vyre-scan/scan.h"

#include "tools/common/open.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t device_batch = (uint64_t)64 << 20, reference_batch = (uint64_t)4 << 20;

void scan_fatal(scan_run *run, const vyre_diag *diag)
{
    int code = vy_tool_fail(run->err, diag, "vyre-scan", NULL, 0);
    run->fatal = run->fatal ? run->fatal : code;
    run->stop = true;
}

void scan_fail_file(scan_run *run, const char *name, const char *what, const char *fix)
{
    run->has_failed = true;
    if (!run->command->is_silent) {
        fprintf(run->err, "%s: error: %s; %s\n", name, what, fix);
    }
}

static vyre_result open_device(scan_run *run, vyre_diag *diag)
{
    const command *c = run->command;
    vyre_scanner_params params;
    vyre_scan_batch_params batch;
    vyre_result result =
        vy_open_device(c->device, VYRE_VALIDATION_DEFAULT, run->err, &run->device, diag);
    if (result != VYRE_OK) {
        return result;
    }
    vyre_device_get_info(run->device, &run->info);
    vyre_scanner_params_init(&params);
    params.segment_size = c->segment_size;
    result =
        vyre_scanner_create(run->device, run->patterns->catalogue, &params, &run->scanner, diag);
    vyre_scan_batch_params_init(&batch);
    batch.size = run->load_size;
    for (uint32_t i = 0; result == VYRE_OK && i < run->load_count; i++) {
        result = vyre_scan_batch_create(run->device, &batch, &run->loads[i].batch, diag);
    }
    return result;
}

static vyre_result open_run(scan_run *run, vyre_diag *diag)
{
    const command *c = run->command;
    struct stat status;
    run->out_is_terminal = isatty(fileno(run->out));
    run->load_size = (size_t)(c->batch_size  ? c->batch_size
                              : c->reference ? reference_batch
                                             : device_batch);
    run->load_count = c->reference ? 1 : SCAN_MAX_LOADS;
    if (fstat(fileno(run->out), &status) == 0 && S_ISREG(status.st_mode)) {
        run->out_is_file = true;
        run->out_device = (uint64_t)status.st_dev;
        run->out_inode = (uint64_t)status.st_ino;
    }
    return c->reference ? VYRE_OK : open_device(run, diag);
}

static void close_run(scan_run *run)
{
    for (uint32_t i = 0; i < run->load_count; i++) {
        scan_load *load = &run->loads[i];
        vyre_scan_batch_destroy(&load->batch);
        free(load->bytes);
        free(load->pieces);
        free(load->hits);
    }
    vyre_scanner_destroy(&run->scanner);
    vyre_device_destroy(&run->device);
}

static void print_report(const scan_run *run)
{
    const scan_totals *t = &run->totals;
    double seconds = (double)(vyre_clock_ns() - t->begin_ns) / 1e9;
    FILE *out = run->err;
    fprintf(out, "patterns: %u, automata: %u, states: %llu, tables: %llu bytes\n",
            run->patterns->texts.count, run->patterns->info.automaton_count,
            (unsigned long long)run->patterns->info.state_count,
            (unsigned long long)run->patterns->info.table_size);
    fprintf(out, "device: %s\n", run->device ? run->info.name : "none (reference)");
    fprintf(out, "files: %llu, bytes: %llu, batches: %llu of up to %zu bytes\n",
            (unsigned long long)t->files, (unsigned long long)t->bytes,
            (unsigned long long)t->loads, run->load_size);
    fprintf(out, "hits: %llu, matches: %llu\n", (unsigned long long)t->hits,
            (unsigned long long)t->matches);
    if (run->device) {
        fprintf(out, "launches: %llu, segments of %u bytes, moved: %llu bytes\n",
                (unsigned long long)t->launches, t->segment_size,
                (unsigned long long)t->moved_size);
        fprintf(out, "device time: %.6f s (%.3f GB/s)\n", (double)t->device_ns / 1e9,
                t->device_ns ? (double)t->bytes / (double)t->device_ns : 0.0);
    }
    fprintf(out, "time: %.6f s (%.3f GB/s), of which scanning or waiting for it: %.6f s\n", seconds,
            seconds > 0 ? (double)t->bytes / 1e9 / seconds : 0.0, (double)t->scan_ns / 1e9);
}

static void print_calibration(const scan_run *run)
{
    const vyre_scan_calibration *found = &run->calibration;
    for (uint32_t i = 0; i < found->measurement_count; i++) {
        const vyre_scan_measurement *m = &found->measurements[i];
        const char *staging = m->staging == VYRE_SCAN_STAGING_DIRECT ? "direct" : "shared";
        if (m->best_ns == VYRE_NS_NONE) {
            fprintf(run->err, "segments of %u bytes, %s: not complete\n", m->segment_size, staging);
        } else {
            fprintf(run->err, "segments of %u bytes, %s: %.3f ms\n", m->segment_size, staging,
                    (double)m->best_ns / 1e6);
        }
    }
    fprintf(run->err, "fastest: segments of %u bytes, %s\n", found->segment_size,
            found->staging == VYRE_SCAN_STAGING_DIRECT ? "direct" : "shared");
}

/* As grep, which does not open files for no patterns. */
static bool finds_nothing(const scan_run *run)
{
    const command *c = run->command;
    return run->patterns->texts.count == 0 && !c->json && c->output != OUTPUT_WITHOUT &&
           c->output != OUTPUT_ALL;
}

static int exit_code(const scan_run *run)
{
    if (run->fatal) {
        return run->fatal;
    }
    if (!run->command->exit_status) {
        return run->has_failed ? VY_EXIT_FAILED : VY_EXIT_OK;
    }
    bool is_quiet_success = run->found && run->command->output == OUTPUT_QUIET;
    return run->has_failed && !is_quiet_success ? 2 : run->found ? 0 : 1;
}

static int scan(const command *c, const scan_patterns *patterns)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    scan_run run = {.command = c, .patterns = patterns, .out = stdout, .err = stderr};
    run.totals.begin_ns = vyre_clock_ns();
    vy_progress_init(&run.progress, stderr);
    if (open_run(&run, &diag) != VYRE_OK) {
        scan_fatal(&run, &diag);
    } else {
        vy_progress_begin(&run.progress, "scan");
        scan_print_begin(&run);
        if (!finds_nothing(&run)) {
            scan_walk(&run);
        }
        scan_feed_end(&run);
        vy_progress_end(&run.progress);
        scan_print_end(&run);
        if (run.is_calibrated) {
            print_calibration(&run);
        }
        if (c->report && !run.fatal) {
            print_report(&run);
        }
    }
    int code = exit_code(&run);
    close_run(&run);
    return code;
}

int main(int count, char **arguments)
{
    vy_tool_catch_interrupt();
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    command c = {.arena = &arena};
    scan_patterns patterns = {.arena = &arena};
    int code = scan_read_command(&c, count, arguments, stdout, stderr);
    if (code < 0 && c.list_devices) {
        code = vy_list_devices(stdout, stderr);
    }
    if (code < 0) {
        code = scan_patterns_create(&c, &patterns, stderr);
    }
    if (code < 0) {
        code = scan(&c, &patterns);
    }
    scan_patterns_destroy(&patterns);
    vy_arena_finish(&arena);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "vyre-scan: error: standard output cannot be written\n");
        code = code ? code : VY_EXIT_FAILED;
    }
    return code;
}

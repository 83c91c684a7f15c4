/* vyre-bench: what the library costs, beside hand-written peers. This file: the command line and
 * the order of things. */
#include "tools/vyre-bench/bench.h"

#include "tools/common/open.h"

#include <stdlib.h>
#include <string.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

enum {
    OPTION_DEVICE = 1,
    OPTION_JSON,
    OPTION_PLOT,
    OPTION_QUICK,
    OPTION_KERNEL,
    OPTION_PROCESSOR_TIME,
    OPTION_BINDINGS,
    OPTION_DATA,
    OPTION_VERSION,
    OPTION_HELP,
    MAX_GROUPS = 16,
    NVIDIA = 0x10de
};

static const vy_option options[] = {
    VY_HEADING("What is measured"),
    {"--device", OPTION_DEVICE, "NAME|INDEX|list",
     "the device, by part of its name or its number (default: the best);\n"
     "list: print the devices"},
    {"--quick", OPTION_QUICK, NULL, "small sizes, few samples: seconds, to see that all works"},
    {"--kernel", OPTION_KERNEL, "TEXT",
     "of group kernels those with TEXT in their name, and the copy, which\n"
     "makes their limit"},
    {"--processor-time", OPTION_PROCESSOR_TIME, NULL,
     "of group kernels, on a device that is the processor: what its threads\n"
     "have run, instead of the time, which other work changes"},
    {"--bindings", OPTION_BINDINGS, "address|descriptor",
     "how the programs of group kernels reach their buffers (default: what\n"
     "the library chooses)"},
    {"--data", OPTION_DATA, "DIR",
     "text and patterns of group scan, as tools/scan-data.sh makes them\n"
     "(default: made-up ones)"},
    VY_HEADING("What is written"),
    {"--json", OPTION_JSON, "FILE", "write everything as JSON (vyre.bench/1)"},
    {"--plot", OPTION_PLOT, "FILE.svg",
     "draw a picture of each group; with several groups FILE-GROUP.svg"},
    VY_HEADING("Other"),
    {"--version", OPTION_VERSION, NULL, "print the version"},
    {"--help", OPTION_HELP, NULL, "this text"},
};

typedef struct group_kind {
    const char *name, *what;
    vyre_result (*run)(bench *b, bench_group *group, vyre_diag *diag);
} group_kind;

static const group_kind kinds[] = {
    {"launch", "one small dispatch, submission alone, an empty program", bench_launch},
    {"step", "one step with its barrier in a long chain", bench_step},
    {"resident", "a fixpoint split by the host, recorded anew, replayed, ended early",
     bench_resident},
    {"transfer", "many small results, uploads and downloads", bench_transfer},
    {"rebind", "recorded dispatches bound to other buffers each time", bench_rebind},
    {"checks", "kernels with their accesses checked, and without", bench_checks},
    {"atomics", "atomics of one place, as written and joined within subgroups", bench_atomics},
    {"megakernel", "queues of work items drained by one launch, and a launch each",
     bench_megakernel},
    {"kernels", "streaming and classic kernels, beside CUDA's library and plain C", bench_kernels},
    {"fixpoint", "passes until nothing changes, breadth-first search", bench_fixpoint},
    {"scan", "many patterns in a text, beside Hyperscan and grep", bench_scan},
    {"compile", "text to SPIR-V by the size of the program, on the host alone", bench_compile},
};

typedef struct command {
    const group_kind *groups[MAX_GROUPS];
    uint32_t group_count;
    const char *device, *json, *plot, *kernel, *data;
    bool quick, processor_time;
    vyre_binding_mode bindings;
} command;

/* ---- Command line ---------------------------------------------------------------------------- */

static void print_help(FILE *out)
{
    fprintf(out, "Usage: vyre-bench GROUP... [OPTION]...\n\n"
                 "Measures the library on a device beside hand-written peers, in turns, and checks "
                 "every\nresult. Groups, or 'all':\n");
    for (size_t i = 0; i < VY_COUNT_OF(kinds); i++) {
        fprintf(out, "  %-24s%s\n", kinds[i].name, kinds[i].what);
    }
    fputc('\n', out);
    vy_options_print(out, options, VY_COUNT_OF(options));
    fprintf(out, "\nExit: 0 success; 1 device or run failed, or a result is wrong; 2 usage;\n"
                 "130 interrupted.\n");
}

static int take_group(command *c, const char *name)
{
    bool all = strcmp(name, "all") == 0, found = false;
    for (size_t i = 0; i < VY_COUNT_OF(kinds); i++) {
        bool is_there = false;
        if (!all && strcmp(name, kinds[i].name) != 0) {
            continue;
        }
        found = true;
        for (uint32_t k = 0; k < c->group_count; k++) {
            is_there = is_there || c->groups[k] == &kinds[i];
        }
        if (!is_there) {
            c->groups[c->group_count++] = &kinds[i];
        }
    }
    return found
               ? -1
               : vy_tool_usage(
                     stderr, "vyre-bench",
                     "'%.100s' is no group: use launch, step, resident, transfer, "
                     "rebind, checks, atomics, megakernel, kernels, fixpoint, scan, compile or all",
                     name);
}

/* -1: go on. */
static int take_option(command *c, int id, const char *value)
{
    switch (id) {
    case OPTION_DEVICE:
        c->device = value;
        return strcmp(value, "list") ? -1 : vy_list_devices(stdout, stderr);
    case OPTION_JSON:
        c->json = value;
        return -1;
    case OPTION_PLOT:
        c->plot = value;
        return vy_path_has_suffix(value, ".svg")
                   ? -1
                   : vy_tool_usage(stderr, "vyre-bench", "--plot takes FILE.svg, not '%.100s'",
                                   value);
    case OPTION_QUICK:
        c->quick = true;
        return -1;
    case OPTION_KERNEL:
        c->kernel = value;
        return bench_has_kernel(value) ? -1
                                       : vy_tool_usage(stderr, "vyre-bench",
                                                       "no kernel has '%.100s' in its name", value);
    case OPTION_PROCESSOR_TIME:
        c->processor_time = true;
        return -1;
    case OPTION_BINDINGS:
        c->bindings =
            strcmp(value, "address") == 0 ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR;
        return strcmp(value, "address") == 0 || strcmp(value, "descriptor") == 0
                   ? -1
                   : vy_tool_usage(stderr, "vyre-bench",
                                   "--bindings takes address or descriptor, not '%.100s'", value);
    case OPTION_DATA:
        c->data = value;
        return -1;
    case OPTION_VERSION:
        printf("vyre-bench %s\n", VYRE_VERSION_STRING);
        return VY_EXIT_OK;
    case OPTION_HELP:
        print_help(stdout);
        return VY_EXIT_OK;
    default:
        return take_group(c, value);
    }
}

static int read_command(command *c, int count, char *const *arguments)
{
    vy_args args = {.count = count,
                    .at = 1,
                    .arguments = arguments,
                    .options = options,
                    .option_count = VY_COUNT_OF(options)};
    for (int id; (id = vy_args_next(&args)) != VY_ARG_END;) {
        int code = id == VY_ARG_ERROR ? vy_tool_usage(stderr, "vyre-bench", "%s", args.error)
                                      : take_option(c, id, args.value);
        if (code >= 0) {
            return code;
        }
    }
    return c->group_count ? -1
                          : vy_tool_usage(stderr, "vyre-bench",
                                          "no group is given: use launch, step, resident, "
                                          "transfer, rebind, checks, atomics, megakernel, kernels, "
                                          "fixpoint, scan, compile or all");
}

/* ---- Run ------------------------------------------------------------------------------------- */

/* Peers are welcome, not needed. */
static vyre_result open_all(bench *b, const command *c, vyre_diag *diag)
{
    vyre_result result =
        vy_open_device(c->device, VYRE_VALIDATION_DEFAULT, stderr, &b->device, diag);
    if (result != VYRE_OK) {
        return result;
    }
    vyre_device_get_info(b->device, &b->info);
    if (b->processor_time && !bench_is_on_cpu(b)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "--processor-time is of devices that are the processor, and %.100s is "
                           "not. Fix: leave it out, or take another --device",
                           b->info.name);
    }
    if (peer_create(&b->info, &b->peer, diag) == VYRE_OK) {
        peer_get_link(b->peer, &b->link);
    } else {
        snprintf(b->peer_note, sizeof b->peer_note, "%s", diag->message);
        vy_diag_clear(diag);
    }
    if (b->info.vendor_id == NVIDIA) {
        b->cuda = bench_cuda_start(b, NULL, b->info.name);
    } else {
        snprintf(b->cuda_note, sizeof b->cuda_note, "this is no NVIDIA device");
    }
    return VYRE_OK;
}

static vyre_result run_group(bench *b, const group_kind *kind, vyre_diag *diag)
{
    bench_group *group = vy_arena_alloc(&b->arena, 1, sizeof *group);
    if (!group || !vy_vec_push(&b->arena, &b->groups, group)) {
        return vy_diag_no_memory(diag);
    }
    group->name = kind->name;
    group->title = "";
    vyre_result result = kind->run(b, group, diag);
    if (result == VYRE_OK) {
        bench_print_group(b, group, stdout);
    }
    return result;
}

/* Every series that was checked, of the library and of peers. */
static int count_wrong(const bench *b)
{
    int code = VY_EXIT_OK;
    for (uint32_t i = 0; i < b->groups.count; i++) {
        const bench_group *group = b->groups.data[i];
        for (uint32_t k = 0; k < group->cases.count; k++) {
            const bench_case *c = group->cases.data[k];
            for (uint32_t n = 0; n < c->series_count; n++) {
                const bench_series *s = &c->series[n];
                if (s->checked.wrong == 0) {
                    continue;
                }
                fprintf(stderr, "error: %s, %s, %s (%s): %llu of %llu values are wrong\n",
                        group->name, c->name, s->way, s->who, (unsigned long long)s->checked.wrong,
                        (unsigned long long)s->checked.compared);
                code = VY_EXIT_FAILED;
            }
        }
    }
    return code;
}

static vyre_result write_text(const char *path, vy_text *text, vyre_diag *diag)
{
    return text->failed ? vy_diag_no_memory(diag)
                        : vy_file_write(path, text->data, text->size, diag);
}

static vyre_result write_plots(const bench *b, const char *path, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < b->groups.count; i++) {
        const bench_group *group = b->groups.data[i];
        vy_text text, name;
        vy_text_init(&text, NULL);
        vy_text_init(&name, NULL);
        bench_format_svg(b, group, &text);
        vy_text_append(&name, path, strlen(path) - strlen(".svg"));
        vy_text_printf(&name, "%s%s.svg", b->groups.count > 1 ? "-" : "",
                       b->groups.count > 1 ? group->name : "");
        result = name.failed ? vy_diag_no_memory(diag) : write_text(name.data, &text, diag);
        vy_text_finish(&text);
        vy_text_finish(&name);
    }
    return result;
}

static vyre_result write_files(const bench *b, const command *c, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    if (c->json) {
        vy_text text;
        vy_text_init(&text, NULL);
        bench_format_json(b, &text);
        result = write_text(c->json, &text, diag);
        vy_text_finish(&text);
    }
    return result == VYRE_OK && c->plot ? write_plots(b, c->plot, diag) : result;
}

static int run(bench *b, const command *c)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    vyre_result result = open_all(b, c, &diag);
    if (result == VYRE_OK) {
        bench_print_head(b, stdout);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < c->group_count; i++) {
        result = run_group(b, c->groups[i], &diag);
    }
    if (result == VYRE_OK) {
        result = write_files(b, c, &diag);
    }
    return result == VYRE_OK ? count_wrong(b) : vy_tool_fail(stderr, &diag, "vyre-bench", NULL, 0);
}

int main(int count, char **arguments)
{
    vy_tool_catch_interrupt();
    command c = {.group_count = 0};
    int code = read_command(&c, count, arguments);
    if (code < 0) {
        bench b = {.quick = c.quick,
                   .processor_time = c.processor_time,
                   .bindings = c.bindings,
                   .kernel = c.kernel,
                   .data = c.data};
        vy_arena_init(&b.arena, NULL);
        code = run(&b, &c);
        bench_cuda_stop(&b.cuda);
        peer_destroy(&b.peer);
        vyre_device_destroy(&b.device);
        vy_arena_finish(&b.arena);
    }
    if (fflush(stdout) != 0) {
        code = code ? code : VY_EXIT_FAILED;
    }
    return code;
}

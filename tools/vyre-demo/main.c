/* vyre-demo: what breaks when a package of this machine's package lists goes away? Computed by a
 * program with grid-wide barriers on the best Vulkan device, and compared with the interpreter. */
#include "tools/vyre-demo/closure.h"

#include "tools/common/open.h"
#include "tools/common/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

#define PROGRAM   "package_closure.vyre"
#define MAX_LISTS ((size_t)1 << 31)

enum {
    OPTION_DEVICE = 1,
    OPTION_INPUT,
    OPTION_PROGRAM,
    OPTION_LIMIT,
    OPTION_REFERENCE,
    OPTION_VERSION,
    OPTION_HELP
};

static const vy_option options[] = {
    VY_HEADING("Where it runs"),
    {"--device", OPTION_DEVICE, "NAME", "the device (default: the best)"},
    {"--reference", OPTION_REFERENCE, NULL, "on the interpreter alone, which needs no device"},
    VY_HEADING("What it reads and prints"),
    {"--input", OPTION_INPUT, "FILE",
     "a Packages file, or - (default: apt-cache dumpavail, or else\n/var/lib/dpkg/status)"},
    {"--program", OPTION_PROGRAM, "FILE", "where " PROGRAM " is"},
    {"--limit", OPTION_LIMIT, "N", "names printed of each level (default 6)"},
    VY_HEADING("Other"),
    {"--version", OPTION_VERSION, NULL, "print the version"},
    {"--help", OPTION_HELP, NULL, "this text"},
};

typedef struct demo {
    const char *package, *device_name, *input, *program_path;
    uint32_t limit;
    bool reference;
    char found_program[512];
    char *text; /* the lists */
    size_t size;
    const char *origin;
    packages packages;
    graph graph;
    vy_source source;
    vyre_device *device;
    closure closure;
    closure_result on_device, on_interpreter;
} demo;

/* ---- Command line ---------------------------------------------------------------------------- */

static void print_help(FILE *out)
{
    fprintf(out, "Usage: vyre-demo [OPTION]... [PACKAGE]\n\n"
                 "What breaks when PACKAGE (default: libc6) goes away? Reads the dependencies of "
                 "every\npackage that apt knows, runs shaders/" PROGRAM " on a Vulkan\ndevice, "
                 "prints which packages break in which pass, and compares every element with the\n"
                 "interpreter. A package breaks when for some clause of its Depends or "
                 "Pre-Depends every\nalternative, and every package that provides it, is broken. "
                 "Versions and architectures are\nignored. Of a name that stands more than once "
                 "in the lists, the first stanza counts.\n\n");
    vy_options_print(out, options, VY_COUNT_OF(options));
    fprintf(out, "\nExit: 0 success; 1 something failed, or results differ; 2 usage; 130 "
                 "interrupted.\n");
}

static int read_command(demo *d, int count, char *const *arguments)
{
    vy_args args = {.count = count,
                    .at = 1,
                    .arguments = arguments,
                    .options = options,
                    .option_count = VY_COUNT_OF(options)};
    int id;
    while ((id = vy_args_next(&args)) != VY_ARG_END) {
        switch (id) {
        case OPTION_DEVICE:
            d->device_name = args.value;
            break;
        case OPTION_INPUT:
            d->input = args.value;
            break;
        case OPTION_PROGRAM:
            d->program_path = args.value;
            break;
        case OPTION_LIMIT:
            if (!vy_parse_u32(args.value, 0, 1000000, &d->limit)) {
                return vy_tool_usage(stderr, "vyre-demo", "--limit takes a number, not '%.100s'",
                                     args.value);
            }
            break;
        case OPTION_REFERENCE:
            d->reference = true;
            break;
        case OPTION_VERSION:
            printf("vyre-demo %s\n", VYRE_VERSION_STRING);
            return VY_EXIT_OK;
        case OPTION_HELP:
            print_help(stdout);
            return VY_EXIT_OK;
        case VY_ARG_POSITIONAL:
            if (d->package) {
                return vy_tool_usage(stderr, "vyre-demo", "one package at a time");
            }
            d->package = args.value;
            break;
        default:
            return vy_tool_usage(stderr, "vyre-demo", "%s", args.error);
        }
    }
    d->package = d->package ? d->package : "libc6";
    return -1;
}

/* ---- Input ----------------------------------------------------------------------------------- */

/* The whole output of a command; empty where it fails. */
static void read_command_output(demo *d, const char *command)
{
    vyre_diag diag;
    FILE *stream = popen(command, "r");
    if (!stream) {
        return;
    }
    vyre_result result = vy_stream_read(stream, command, MAX_LISTS, &d->text, &d->size, &diag);
    if (pclose(stream) != 0 || result != VYRE_OK || d->size == 0) {
        free(d->text);
        d->text = NULL;
        d->size = 0;
    }
}

static vyre_result read_lists(demo *d, vyre_diag *diag)
{
    if (d->input) {
        d->origin = d->input;
        return vy_file_read(d->input, MAX_LISTS, &d->text, &d->size, diag);
    }
    d->origin = "apt-cache dumpavail";
    read_command_output(d, "apt-cache dumpavail 2>/dev/null");
    if (d->text) {
        return VYRE_OK;
    }
    d->origin = "/var/lib/dpkg/status";
    return vy_file_read(d->origin, MAX_LISTS, &d->text, &d->size, diag);
}

/* Beside the working folder, beside a build folder, or installed. */
static const char *find_program(demo *d)
{
    static const char *const places[] = {"/../../shaders/", "/../../../shaders/",
                                         "/../share/vyre-vk/shaders/"};
    if (d->program_path) {
        return d->program_path;
    }
    if (access("shaders/" PROGRAM, R_OK) == 0) {
        return "shaders/" PROGRAM;
    }
    char folder[400];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = 0;
    }
    for (size_t i = 0; slash && i < VY_COUNT_OF(places); i++) {
        snprintf(d->found_program, sizeof d->found_program, "%s%s%s", folder, places[i], PROGRAM);
        if (access(d->found_program, R_OK) == 0) {
            return d->found_program;
        }
    }
    return "shaders/" PROGRAM;
}

static vyre_result read_all(demo *d, vyre_diag *diag)
{
    vyre_result result = read_lists(d, diag);
    if (result == VYRE_OK) {
        result = packages_parse(d->text, d->size, &d->packages, diag);
    }
    if (result == VYRE_OK) {
        result = graph_make(&d->packages, &d->graph, diag);
    }
    if (result == VYRE_OK) {
        result = vy_source_read(find_program(d), &d->source, diag);
    }
    if (result == VYRE_OK) {
        result = vy_source_parse(&d->source, diag);
    }
    return result;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static vyre_result ask(const demo *d, closure_result *result, vyre_diag *diag)
{
    if (!result->level) {
        result->level = calloc((size_t)d->graph.package_count + 1, sizeof *result->level);
    }
    if (!result->level) {
        return vy_diag_no_memory(diag);
    }
    if (graph_remove(&d->packages, d->package, result->level) == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "no package of %s is called or provides '%.200s'. Fix: name one that "
                           "'apt-cache pkgnames' prints",
                           d->origin, d->package);
    }
    return VYRE_OK;
}

static vyre_result run_on_device(demo *d, vyre_diag *diag)
{
    vyre_device_info info;
    vyre_result result =
        vy_open_device(d->device_name, VYRE_VALIDATION_DEFAULT, stderr, &d->device, diag);
    if (result != VYRE_OK) {
        return result;
    }
    vyre_device_get_info(d->device, &info);
    printf("device: %s, %s (%s)\n", info.name, vy_device_type_text(info.type), info.driver);
    fflush(stdout);
    result = closure_create(d->device, d->source.program, &d->closure, diag);
    /* The first run makes the driver finish compiling; the second one is timed. */
    for (int i = 0; i < 2 && result == VYRE_OK; i++) {
        result = ask(d, &d->on_device, diag);
        if (result == VYRE_OK) {
            result = closure_run(&d->closure, &d->graph, &d->on_device, diag);
        }
    }
    return result;
}

static vyre_result run_on_interpreter(demo *d, vyre_diag *diag)
{
    vyre_result result = ask(d, &d->on_interpreter, diag);
    if (result == VYRE_OK) {
        result = closure_interpret(d->source.program, &d->graph, &d->on_interpreter, diag);
    }
    return result;
}

/* ---- Output ---------------------------------------------------------------------------------- */

static const char *name_of(const demo *d, uint32_t package)
{
    return d->packages.names.data[d->packages.list.data[package].name];
}

static void print_lists(const demo *d)
{
    const graph *g = &d->graph;
    printf("lists: %s: %u packages, %u clauses, %u alternatives\n", d->origin, g->package_count,
           g->clause_count, g->alternative_count);
    printf("left out: %u clauses that nothing in the lists satisfies, %u that the package itself "
           "satisfies\n",
           g->unsatisfiable, g->own);
    if (d->packages.repeated || d->packages.not_installed) {
        printf("passed over: %u further stanzas of a name, %u packages that are not installed\n",
               d->packages.repeated, d->packages.not_installed);
    }
}

static void print_level(const demo *d, const uint32_t *level, uint32_t wanted)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->graph.package_count; i++) {
        count += level[i] == wanted;
    }
    printf("  %s %2u: %6u ", wanted ? "pass" : "gone", wanted, count);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < d->graph.package_count && shown < d->limit; i++) {
        if (level[i] == wanted) {
            printf("%s%s", shown++ ? ", " : " ", name_of(d, i));
        }
    }
    printf("%s\n", count > shown && shown ? ", ..." : "");
}

static void print_levels(const demo *d, const closure_result *result)
{
    uint32_t highest = 0, broken = 0;
    for (uint32_t i = 0; i < d->graph.package_count; i++) {
        uint32_t level = result->level[i];
        if (level != LEVEL_NONE && level != 0) {
            broken++;
            highest = level > highest ? level : highest;
        }
    }
    printf("without %s, %u of %u packages break:\n", d->package, broken, d->graph.package_count);
    for (uint32_t level = 0; level <= highest; level++) {
        print_level(d, result->level, level);
    }
    printf("passes: %u, of %u segments each; converged: %s\n", result->passes, result->segments,
           vy_convergence_text(result->convergence));
}

static void print_times(const demo *d)
{
    if (!d->reference) {
        printf("device: %.2f ms from call to result", (double)d->on_device.wall_ns / 1e6);
        if (d->on_device.device_ns != VYRE_NS_NONE) {
            printf(", %.2f ms of them on the device", (double)d->on_device.device_ns / 1e6);
        }
        printf(", %llu dispatches\n", (unsigned long long)d->on_device.dispatches);
    }
    printf("interpreter: %.2f ms\n", (double)d->on_interpreter.wall_ns / 1e6);
}

static int compare(const demo *d)
{
    const closure_result *a = &d->on_device, *b = &d->on_interpreter;
    for (uint32_t i = 0; i < d->graph.package_count; i++) {
        if (a->level[i] != b->level[i]) {
            fprintf(stderr,
                    "error: %s (package %u): level %u on the device, %u on the "
                    "interpreter\n",
                    name_of(d, i), i, a->level[i], b->level[i]);
            return VY_EXIT_FAILED;
        }
    }
    if (a->passes != b->passes || a->convergence != b->convergence) {
        fprintf(stderr,
                "error: %u passes (converged: %s) on the device, %u (%s) on the "
                "interpreter\n",
                a->passes, vy_convergence_text(a->convergence), b->passes,
                vy_convergence_text(b->convergence));
        return VY_EXIT_FAILED;
    }
    printf("check: all %u levels and the passes are the interpreter's\n", d->graph.package_count);
    return VY_EXIT_OK;
}

static int run(demo *d)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    vyre_result result = read_all(d, &diag);
    if (result == VYRE_OK) {
        print_lists(d);
        result = d->reference ? VYRE_OK : run_on_device(d, &diag);
    }
    if (result == VYRE_OK) {
        if (!d->reference) {
            print_levels(d, &d->on_device);
            fflush(stdout);
        }
        result = run_on_interpreter(d, &diag);
    }
    if (result != VYRE_OK) {
        return vy_tool_fail(stderr, &diag, "vyre-demo", diag.line ? d->source.text : NULL,
                            d->source.size);
    }
    if (d->reference) {
        print_levels(d, &d->on_interpreter);
    }
    print_times(d);
    return d->reference ? VY_EXIT_OK : compare(d);
}

int main(int count, char **arguments)
{
    vy_tool_catch_interrupt();
    demo d = {.limit = 6};
    int code = read_command(&d, count, arguments);
    if (code < 0) {
        code = run(&d);
        closure_destroy(&d.closure);
        vyre_device_destroy(&d.device);
        free(d.on_device.level);
        free(d.on_interpreter.level);
        vy_source_finish(&d.source);
        graph_finish(&d.graph);
        packages_finish(&d.packages);
        free(d.text);
    }
    if (fflush(stdout) != 0) {
        code = code ? code : VY_EXIT_FAILED;
    }
    return code;
}

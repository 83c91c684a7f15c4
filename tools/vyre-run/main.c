/* vyre-run: runs a program on a device or on the interpreter. This file: the command line. */
#include "tools/vyre-run/session.h"

#include "tools/common/open.h"
#include "tools/common/system.h"

#include <stdlib.h>
#include <string.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

enum {
    OPTION_DEVICE = 1,
    OPTION_REFERENCE,
    OPTION_CHECK,
    OPTION_RACES,
    OPTION_SUBGROUP,
    OPTION_VALIDATE,
    OPTION_STRATEGY,
    OPTION_INTERFACE,
    OPTION_TIME,
    OPTION_REPEAT,
    OPTION_WARMUP,
    OPTION_REPORT,
    OPTION_JSON,
    OPTION_INFO,
    OPTION_EXAMPLES,
    OPTION_BISECT,
    OPTION_BOUNDS,
    OPTION_PRINTF,
    OPTION_STEP,
    OPTION_TRACE,
    OPTION_CAPTURE,
    OPTION_DUMP,
    OPTION_WATCH,
    OPTION_DEBUG,
    OPTION_O0,
    OPTION_VERSION,
    OPTION_HELP
};

static const vy_option own_options[] = {
    VY_HEADING("Where it runs"),
    {"--device", OPTION_DEVICE, "NAME|INDEX|list",
     "the device, by part of its name or its number (default: the best);\n"
     "list: print the devices"},
    {"--reference", OPTION_REFERENCE, NULL, "run on the interpreter, which needs no device"},
    {"--subgroup", OPTION_SUBGROUP, "N",
     "lanes of a subgroup with --reference, where the program does not say:\n"
     "a power of two to 128 (default: 32; with a device, as that has them)"},
    {"--strategy", OPTION_STRATEGY, "auto|replay|workgroup|persistent",
     "how the device runs the segments"},
    {"--interface", OPTION_INTERFACE, "auto|descriptor|address",
     "how shaders reach their buffers (default: by address on GPUs that\n"
     "can, by descriptor on processors and under validation)"},
    VY_HEADING("Is it right"),
    {"--check", OPTION_CHECK, NULL,
     "run on both and compare every element of every output, the passes,\n"
     "convergence and record; a fixpoint that reaches its limit fails"},
    {"--races", OPTION_RACES, NULL,
     "let the interpreter look for plain accesses that conflict (implies\n"
     "--reference, without --check)"},
    {"--bounds", OPTION_BOUNDS, NULL,
     "report the first access out of bounds, with its line, element and\n"
     "invocation, as an error; without it such a store does nothing and\n"
     "such a load gives zero"},
    {"--validate", OPTION_VALIDATE, NULL,
     "run under the Vulkan validation layer; any complaint is a failure"},
    {"--examples", OPTION_EXAMPLES, NULL,
     "run the examples in the comments of the files (more than one may be\n"
     "given) on the interpreter and the device, with --reference only the\n"
     "former, and compare all three"},
    VY_HEADING("What happens"),
    {"--bisect", OPTION_BISECT, NULL,
     "find where device and interpreter part: the first pass, segment and\n"
     "element that differ, both values, and the line that stores there"},
    {"--step", OPTION_STEP, NULL,
     "say what each segment of each pass changed, on the device, or with\n"
     "--reference; on a terminal wait behind each (h: what can be typed)"},
    {"--printf", OPTION_PRINTF, NULL,
     "print the lines of printf statements first, in the order of passes,\n"
     "segments and invocations; on a device by the validation layer (Debian:\n"
     "vulkan-validationlayers), with --check compared with the interpreter's"},
    {"--trace", OPTION_TRACE, "FILE.json",
     "write what the run did and when, for https://ui.perfetto.dev or\n"
     "chrome://tracing"},
    {"--capture", OPTION_CAPTURE, "FILE.rdc",
     "write what the run submits as a capture for RenderDoc, with segments and\n"
     "buffers by name; shaders reach their buffers by descriptor"},
    {"--dump-buffers", OPTION_DUMP, "DIR",
     "write what every buffer has after the run, scratch too, as .npy into\n"
     "DIR, with an index.json"},
    {"--watch", OPTION_WATCH, NULL,
     "run again whenever the program, or a file that --in reads, changes"},
    {"-g", OPTION_DEBUG, NULL,
     "compile with debug information, so that debuggers show the program's\n"
     "text, lines and variables (NonSemantic.Shader.DebugInfo.100)"},
    {"-O0", OPTION_O0, NULL,
     "compile without the passes for speed: easier to follow in a debugger,\n"
     "and a judge of them: what is wrong without -O0 alone is their fault"},
    VY_HEADING("How long it takes, and what it needs"),
    {"--time", OPTION_TIME, NULL, "print times"},
    {"--repeat", OPTION_REPEAT, "N", "run N times on the device, with the same inputs"},
    {"--warmup", OPTION_WARMUP, "N", "run N times before, without looking"},
    {"--report", OPTION_REPORT, NULL, "print what the dispatch did: dispatches, barriers, bytes"},
    {"--info", OPTION_INFO, NULL, "print what is known of the device; takes no program"},
    {"--json", OPTION_JSON, NULL, "print everything as one JSON object (vyre.run/1)"},
    VY_HEADING("Other"),
    {"--version", OPTION_VERSION, NULL, "print the version"},
    {"--help", OPTION_HELP, NULL, "this text"},
};

#define OWN_COUNT VY_COUNT_OF(own_options)

static void print_help(FILE *out)
{
    fprintf(out,
            "Usage: vyre-run FILE.vyre|FILE.vyk [OPTION]...\n"
            "  or:  vyre-run --examples [OPTION]... FILE.vyre...\n"
            "  or:  vyre-run --info [--device NAME]\n\n"
            "Runs a program ('-' is standard input) and prints its outputs. From a kernel file\n"
            "(.vyk) the device takes the words that are in it.\n\nThe run:\n");
    vy_options_print(out, vy_run_options, vy_run_option_count);
    fputc('\n', out);
    vy_options_print(out, own_options, OWN_COUNT);
    fprintf(out,
            "\nValues: integers 1, -1, 0xff; floats 1.5, -2e-3, 0x1.8p3, inf, nan; bools 0, 1,\n"
            "true, false; vectors x:y or x:y:z:w. Generators fill vectors component by component\n"
            "(fill:V takes one value for all, too). In .npy files a type has its dtype (u1 i1 u2\n"
            "i2 u4 i4 u8 i8 f2 f4 f8), bool b1 or u4, bf16 u2 or V2 (its bits), and a vector's\n"
            "components are the last dimension. Raw files have elements as they lie in buffers.\n");
    fprintf(out, "\nThe comments of a program hold examples:\n"
                 "  //! run: ARGUMENTS              options of the run, quoted as in a shell\n"
                 "  //! expect: NAME = v, v, ...    a final '...' leaves the rest; '~N' allows N "
                 "ULP\n"
                 "  //! expect: NAME[i..j] = v, v   elements i to j - 1\n"
                 "  //! expect: converged = yes|no, passes = N, error = CODE,\n"
                 "              record = none|trap CODE|loop_limit\n\n"
                 "Exit: 0 success; 1 input, device or run failed, or results differ; 2 usage;\n"
                 "130 interrupted.\n");
}

static int take_count(FILE *err, const char *option, const char *value, uint32_t least,
                      uint32_t *out)
{
    if (!vy_parse_u32(value, least, 1000000000, out)) {
        return vy_tool_usage(err, "vyre-run", "%s takes a number from %u, not '%.100s'", option,
                             least, value);
    }
    return -1;
}

static int take_interface(FILE *err, const char *value, vyre_binding_mode *out)
{
    static const char *const names[] = {[VYRE_BINDINGS_AUTO] = "auto",
                                        [VYRE_BINDINGS_ADDRESS] = "address",
                                        [VYRE_BINDINGS_DESCRIPTOR] = "descriptor"};
    for (uint32_t i = 0; i < VY_COUNT_OF(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = (vyre_binding_mode)i;
            return -1;
        }
    }
    return vy_tool_usage(err, "vyre-run",
                         "--interface takes auto, descriptor or address, not "
                         "'%.100s'",
                         value);
}

static int take_strategy(FILE *err, const char *value, vyre_strategy *out)
{
    static const char *const names[] = {[VYRE_STRATEGY_AUTO] = "auto",
                                        [VYRE_STRATEGY_REPLAY] = "replay",
                                        [VYRE_STRATEGY_WORKGROUP] = "workgroup",
                                        [VYRE_STRATEGY_PERSISTENT] = "persistent"};
    for (uint32_t i = 0; i < VY_COUNT_OF(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = (vyre_strategy)i;
            return -1;
        }
    }
    return vy_tool_usage(err, "vyre-run",
                         "--strategy takes auto, replay, workgroup or persistent, not '%.100s'",
                         value);
}

static int take_subgroup(FILE *err, const char *value, uint32_t *out)
{
    if (!vy_parse_u32(value, 1, 128, out) || (*out & (*out - 1))) {
        return vy_tool_usage(err, "vyre-run",
                             "--subgroup takes a power of two from 1 to 128, not '%.100s'", value);
    }
    return -1;
}

/* -1: go on. */
static int take_option(command *c, int id, const char *value, FILE *out, FILE *err)
{
    bool *flags[] = {[OPTION_REFERENCE] = &c->reference, [OPTION_CHECK] = &c->check,
                     [OPTION_RACES] = &c->races,         [OPTION_VALIDATE] = &c->validate,
                     [OPTION_TIME] = &c->time,           [OPTION_REPORT] = &c->report,
                     [OPTION_JSON] = &c->json,           [OPTION_INFO] = &c->info,
                     [OPTION_EXAMPLES] = &c->examples,   [OPTION_BISECT] = &c->bisect,
                     [OPTION_BOUNDS] = &c->bounds,       [OPTION_STEP] = &c->step,
                     [OPTION_WATCH] = &c->watch,         [OPTION_DEBUG] = &c->debug,
                     [OPTION_O0] = &c->unoptimized,      [OPTION_PRINTF] = &c->prints};
    switch (id) {
    case OPTION_DEVICE:
        c->list_devices = strcmp(value, "list") == 0;
        c->device = value;
        return -1;
    case OPTION_STRATEGY:
        return take_strategy(err, value, &c->spec.strategy);
    case OPTION_INTERFACE:
        return take_interface(err, value, &c->bindings);
    case OPTION_REPEAT:
        return take_count(err, "--repeat", value, 1, &c->repeat);
    case OPTION_WARMUP:
        return take_count(err, "--warmup", value, 0, &c->warmup);
    case OPTION_SUBGROUP:
        return take_subgroup(err, value, &c->subgroup_width);
    case OPTION_TRACE:
        c->trace = value;
        return -1;
    case OPTION_CAPTURE:
        c->capture = value;
        return -1;
    case OPTION_DUMP:
        c->dump_folder = value;
        return -1;
    case OPTION_VERSION:
        fprintf(out, "vyre-run %s\n", VYRE_VERSION_STRING);
        return VY_EXIT_OK;
    case OPTION_HELP:
        print_help(out);
        return VY_EXIT_OK;
    default:
        *flags[id] = true;
        return -1;
    }
}

static int read_command(command *c, int count, char *const *arguments, FILE *out, FILE *err)
{
    vy_option options[64];
    memcpy(options, own_options, sizeof own_options);
    memcpy(options + OWN_COUNT, vy_run_options, vy_run_option_count * sizeof *options);
    vy_args args = {.count = count,
                    .at = 1,
                    .arguments = arguments,
                    .options = options,
                    .option_count = (uint32_t)OWN_COUNT + vy_run_option_count};
    int id;
    while ((id = vy_args_next(&args)) != VY_ARG_END) {
        vyre_diag diag;
        vy_diag_clear(&diag);
        int code = -1;
        if (id == VY_ARG_ERROR) {
            return vy_tool_usage(err, "vyre-run", "%s", args.error);
        } else if (id == VY_ARG_POSITIONAL) {
            (void)vy_vec_push(c->spec.arena, &c->files, args.value);
        } else if (id < VY_RUN_OPTION) {
            code = take_option(c, id, args.value, out, err);
        } else if (vy_run_spec_take(&c->spec, id, args.value, &diag) != VYRE_OK) {
            return vy_tool_usage(err, "vyre-run", "%s", diag.message);
        }
        if (code >= 0) {
            return code;
        }
    }
    return -1;
}

/* What is for debugging. */
static int check_debugging(const command *c, FILE *err)
{
    if (c->bisect && (c->reference || c->races || c->json || c->repeat > 1 || c->warmup)) {
        return vy_tool_usage(err, "vyre-run",
                             "--bisect runs parts of the program on both, without --reference, "
                             "--races, --json, --repeat and --warmup");
    }
    for (uint32_t i = 0; c->watch && i < c->files.count; i++) {
        if (strcmp(c->files.data[i], "-") == 0) {
            return vy_tool_usage(err, "vyre-run",
                                 "--watch looks at files, and standard input is none");
        }
    }
    if (c->step && (c->bisect || c->json)) {
        return vy_tool_usage(err, "vyre-run", "--step prints for people: give it without %s",
                             c->bisect ? "--bisect" : "--json");
    }
    if (c->step && c->spec.strategy > VYRE_STRATEGY_REPLAY) {
        return vy_tool_usage(err, "vyre-run",
                             "--step runs segment by segment: give it without --strategy, or with "
                             "--strategy replay");
    }
    const char *single = c->bisect        ? "--bisect"
                         : c->step        ? "--step"
                         : c->trace       ? "--trace"
                         : c->capture     ? "--capture"
                         : c->dump_folder ? "--dump-buffers"
                                          : NULL;
    if (c->bounds && (c->bisect || c->step || c->examples)) {
        return vy_tool_usage(err, "vyre-run", "--bounds is of a plain run: give it without %s",
                             c->examples ? "--examples" : single);
    }
    if (c->prints && (single || c->examples || c->validate || c->repeat > 1 || c->warmup)) {
        return vy_tool_usage(err, "vyre-run", "--printf is of one plain run: give it without %s",
                             single          ? single
                             : c->examples   ? "--examples"
                             : c->validate   ? "--validate, which needs the layer for itself"
                             : c->repeat > 1 ? "--repeat"
                                             : "--warmup");
    }
    if (c->examples && single) {
        return vy_tool_usage(err, "vyre-run", "%s is for a single run, not --examples", single);
    }
    if (c->dump_folder && c->bisect) {
        return vy_tool_usage(err, "vyre-run",
                             "--bisect runs parts alone: give --dump-buffers to "
                             "the run itself, with --passes to end it early");
    }
    if (c->capture && (c->reference || c->bisect || c->step || c->trace || c->watch ||
                       c->repeat > 1 || c->warmup)) {
        return vy_tool_usage(err, "vyre-run",
                             "--capture is of one run on a device: give it without --reference, "
                             "--bisect, --step, --trace, --watch, --repeat and --warmup");
    }
    if (c->capture && c->bindings == VYRE_BINDINGS_ADDRESS) {
        return vy_tool_usage(err, "vyre-run",
                             "--capture is of shaders that reach their buffers by descriptor: give "
                             "it without --interface address");
    }
    if (c->trace && (c->bisect || c->step)) {
        return vy_tool_usage(err, "vyre-run", "--trace is of a plain run: give it without %s",
                             single);
    }
    return -1;
}

static int check_command(command *c, FILE *err)
{
    bool needs_none = c->info || c->list_devices;
    if (needs_none ? c->files.count != 0 : c->files.count == 0) {
        return vy_tool_usage(err, "vyre-run",
                             needs_none ? "--info and --device list take no program"
                                        : "no program is given");
    }
    if (c->files.count > 1 && !c->examples) {
        return vy_tool_usage(err, "vyre-run", "one program at a time (%s and %s are given)",
                             c->files.data[0], c->files.data[1]);
    }
    if (c->reference && (c->check || c->validate || c->repeat > 1 || c->warmup)) {
        return vy_tool_usage(err, "vyre-run",
                             "--reference runs on no device, which --check, --validate, --repeat "
                             "and --warmup need");
    }
    if (c->subgroup_width && !c->reference && (c->check || !c->races)) {
        return vy_tool_usage(err, "vyre-run",
                             "--subgroup is for --reference; a device has its own subgroups");
    }
    int code = check_debugging(c, err);
    if (code >= 0) {
        return code;
    }
    const vy_run_spec *spec = &c->spec;
    bool has_run = spec->inputs.count || spec->params.count || spec->sizes.count ||
                   spec->outputs.count || spec->groups[0] || spec->elements[0] ||
                   spec->workgroup[0] || spec->passes || spec->max_groups;
    if (c->examples && has_run) {
        return vy_tool_usage(err, "vyre-run", "--examples takes the runs from the files' comments");
    }
    if (c->examples && c->debug) {
        return vy_tool_usage(err, "vyre-run", "-g is for a single run, not --examples");
    }
    if (c->examples && spec->strategy != VYRE_STRATEGY_AUTO) {
        return vy_tool_usage(err, "vyre-run", "--strategy is for a single run, not --examples");
    }
    if (c->capture) {
        /* RenderDoc replays buffers by address only where a driver keeps addresses, and shows what
         * is bound by descriptor alone; segments are dispatches of their own in replay. */
        c->bindings = VYRE_BINDINGS_DESCRIPTOR;
        c->spec.strategy = spec->strategy ? spec->strategy : VYRE_STRATEGY_REPLAY;
    }
    return -1;
}

static int show_info(const command *c, FILE *out, FILE *err)
{
    vyre_diag diag;
    vyre_device *device = NULL;
    vy_diag_clear(&diag);
    if (vy_open_device(c->device, VYRE_VALIDATION_DEFAULT, err, &device, &diag) != VYRE_OK) {
        return vy_tool_fail(err, &diag, NULL, NULL, 0);
    }
    size_t size = vyre_device_describe(device, NULL, 0) + 1;
    char *text = malloc(size);
    int code = VY_EXIT_OK;
    if (text) {
        vyre_device_describe(device, text, size);
        fprintf(out, "%s%s", text, size > 1 && text[size - 2] == '\n' ? "" : "\n");
    } else {
        (void)vy_diag_no_memory(&diag);
        code = vy_tool_fail(err, &diag, NULL, NULL, 0);
    }
    free(text);
    vyre_device_destroy(&device);
    return code;
}

static int run_command(command *c, int count, char *const *arguments)
{
    int code = read_command(c, count, arguments, stdout, stderr);
    if (code < 0) {
        code = check_command(c, stderr);
    }
    if (code >= 0) {
        return code;
    }
    c->reference = c->reference || (c->races && !c->check);
    if (c->list_devices) {
        return vy_list_devices(stdout, stderr);
    }
    if (c->info) {
        return show_info(c, stdout, stderr);
    }
    run_function run = c->examples ? run_examples : c->bisect ? run_bisect : run_program;
    return c->watch ? run_watch(c, run, stdout, stderr) : run(c, stdout, stderr);
}

int main(int count, char **arguments)
{
    vy_system_begin();
    vy_tool_catch_interrupt();
    vy_arena arena;
    vy_arena_init(&arena, NULL);
    command c = {.repeat = 1};
    vy_run_spec_init(&c.spec, &arena);
    int code = run_command(&c, count, arguments);
    if (arena.failed) {
        fprintf(stderr, "vyre-run: error: out of memory\n");
        code = VY_EXIT_FAILED;
    }
    vy_arena_finish(&arena);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "vyre-run: error: standard output cannot be written\n");
        code = code ? code : VY_EXIT_FAILED;
    }
    return code;
}

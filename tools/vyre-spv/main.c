/* vyre-spv: a program's SPIR-V, or a SPIR-V file: shown, checked and written. This file: the
 * command line and the order of things. */
#include "tools/vyre-spv/spv.h"

#include "codegen/kernel.h"
#include "codegen/passes/ssa.h"
#include "tools/common/system.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

enum {
    OPTION_OUT = 1,
    OPTION_SEGMENT,
    OPTION_FORMAT,
    OPTION_TARGET,
    OPTION_INTERFACE,
    OPTION_VALIDATE,
    OPTION_STATS,
    OPTION_REQUIRES,
    OPTION_EXPLAIN,
    OPTION_DUMP,
    OPTION_GRAPH,
    OPTION_DEBUG,
    OPTION_DEBUG_LINES,
    OPTION_O0,
    OPTION_O1,
    OPTION_OPT,
    OPTION_AGGREGATE,
    OPTION_COARSE,
    OPTION_PRINTF,
    OPTION_SOURCE,
    OPTION_DIFF,
    OPTION_VERSION,
    OPTION_HELP
};

static const vy_option options[] = {
    VY_HEADING("What is compiled"),
    {"--target", OPTION_TARGET, "vulkan1.3|vulkan1.2",
     "what the words are for (default: vulkan1.3)"},
    {"--interface", OPTION_INTERFACE, "descriptor|address",
     "how shaders reach their buffers (default: descriptor)"},
    {"--segment", OPTION_SEGMENT, "N", "that segment only (from 0)"},
    {"--aggregate", OPTION_AGGREGATE, NULL,
     "join atomics of one place within subgroups, for devices with maximal\n"
     "reconvergence (kernel files: words with and without)"},
    {"--coarse", OPTION_COARSE, NULL,
     "the words for large grids, where an invocation does several elements\n"
     "or accesses neighbours at once, of segments that have such"},
    {"--printf", OPTION_PRINTF, NULL,
     "keep printf statements, as instructions of NonSemantic.DebugPrintf"},
    {"-O0", OPTION_O0, NULL,
     "words as the program stands, without the passes for speed (kernel\n"
     "files: that are loaded so)"},
    {"-O1", OPTION_O1, NULL, "with them, as without -O0"},
    {"--opt", OPTION_OPT, NULL, "let spirv-opt -O work on the modules first"},
    {"-g", OPTION_DEBUG, NULL,
     "all that debuggers want to know: text, scopes, lines, types, variables\n"
     "(NonSemantic.Shader.DebugInfo.100)"},
    {"-g1", OPTION_DEBUG_LINES, NULL, "names and lines alone"},
    VY_HEADING("What is written"),
    {"-o", OPTION_OUT, "FILE|DIR/",
     "write one segment to FILE, or all into DIR/ as PROGRAM.segN.spv. The\n"
     "form follows --format, or else FILE's name (.spv .spvasm .h .json .vyk)"},
    {"--format", OPTION_FORMAT, "asm|bin|c|json|text|kernel",
     "asm (the default), bin, c, json (vyre.spv/1), text (the program),\n"
     "kernel (a kernel file: words for both targets and interfaces, unless\n"
     "one is given, and for every device's float modes)"},
    {"--source", OPTION_SOURCE, NULL,
     "put the lines of the program as comments above the assembly that they\n"
     "became (of .spv files those that debug information tells)"},
    {"-S", OPTION_SOURCE, NULL, "the same"},
    VY_HEADING("What is looked at instead"),
    {"--validate", OPTION_VALIDATE, NULL, "check every module with SPIRV-Tools"},
    {"--stats", OPTION_STATS, NULL,
     "print sizes of every module, the widths of its numbers, and what is lowered"},
    {"--requires", OPTION_REQUIRES, NULL, "print what the modules need beyond Vulkan 1.2"},
    {"--explain", OPTION_EXPLAIN, NULL,
     "say what each capability, mode and decoration of every module is for"},
    {"--diff", OPTION_DIFF, NULL,
     "compare two programs, kernel or SPIR-V files, segment by segment and\n"
     "whatever the numbers of their ids; then say what they have more of"},
    {"--graph", OPTION_GRAPH, "FILE",
     "draw segments, buffers, hazards and barriers: .svg by graphviz's dot,\n"
     "else text for it; -: print that"},
    {"--dump-after", OPTION_DUMP, "PASS", "print the SSA form of every segment after that pass"},
    VY_HEADING("Other"),
    {"--version", OPTION_VERSION, NULL, "print the version"},
    {"--help", OPTION_HELP, NULL, "this text"},
    {"-h", OPTION_HELP, NULL, "this text"},
};

/* ---- Command line ---------------------------------------------------------------------------- */

static void print_passes(FILE *out)
{
    uint32_t count;
    const vy_pass *passes = vy_passes_get(&count);
    fprintf(out, "  %-14s  %s\n", "build", "the form before any pass");
    for (uint32_t i = 0; i < count; i++) {
        bool again = false;
        for (uint32_t j = 0; j < i; j++) {
            again = again || strcmp(passes[j].name, passes[i].name) == 0;
        }
        if (!again) {
            fprintf(out, "  %-14s  %s\n", passes[i].name, passes[i].summary);
        }
    }
}

static bool is_pass(const char *name)
{
    uint32_t count;
    const vy_pass *passes = vy_passes_get(&count);
    bool found = strcmp(name, "build") == 0 || strcmp(name, "all") == 0;
    for (uint32_t i = 0; i < count; i++) {
        found = found || strcmp(passes[i].name, name) == 0;
    }
    return found;
}

static void print_help(FILE *out)
{
    fprintf(out, "Usage: vyre-spv [OPTION]... FILE.vyre|FILE.vyk|FILE.spv|-\n"
                 "  or:  vyre-spv --diff [OPTION]... FILE FILE\n\n"
                 "Compiles a program to SPIR-V, one module for each segment, or reads a kernel "
                 "or\nSPIR-V file, and prints its assembly.\n\n");
    vy_options_print(out, options, VY_COUNT_OF(options) - 1);
    fprintf(out, "\nPasses, or 'all':\n");
    print_passes(out);
    fprintf(out,
            "\nExit: 0 success; 1 input failed or is not valid; 2 usage; 130 interrupted. With "
            "--diff:\n0 the same; 1 different; 2 usage, or input failed.\n");
}

static int usage_of(FILE *err, const char *option, const char *takes, const char *value)
{
    return vy_tool_usage(err, "vyre-spv", "%s takes %s, not '%.100s'", option, takes, value);
}

static int take_format(command *c, const char *value, FILE *err)
{
    static const char *const names[] = {"", "asm", "bin", "c", "json", "text", "kernel"};
    for (uint32_t i = 1; i < VY_COUNT_OF(names); i++) {
        if (strcmp(names[i], value) == 0) {
            c->format = (format)i;
            return -1;
        }
    }
    return usage_of(err, "--format", "asm, bin, c, json, text or kernel", value);
}

static int take_option(command *c, int id, const char *value, FILE *out, FILE *err)
{
    switch (id) {
    case OPTION_OUT:
        c->out = value;
        break;
    case OPTION_SEGMENT:
        if (!vy_parse_u32(value, 0, UINT32_MAX - 1, &c->segment)) {
            return usage_of(err, "--segment", "a number", value);
        }
        break;
    case OPTION_FORMAT:
        return take_format(c, value, err);
    case OPTION_TARGET:
        if (strcmp(value, "vulkan1.2") && strcmp(value, "vulkan1.3")) {
            return usage_of(err, "--target", "vulkan1.2 or vulkan1.3", value);
        }
        c->target = strcmp(value, "vulkan1.2") ? VYRE_TARGET_VULKAN_1_3 : VYRE_TARGET_VULKAN_1_2;
        c->has_target = true;
        break;
    case OPTION_INTERFACE:
        if (strcmp(value, "descriptor") && strcmp(value, "address")) {
            return usage_of(err, "--interface", "descriptor or address", value);
        }
        c->interface =
            strcmp(value, "address") ? VYRE_INTERFACE_DESCRIPTOR : VYRE_INTERFACE_ADDRESS;
        c->has_interface = true;
        break;
    case OPTION_DUMP:
        c->dump_after = value;
        if (!is_pass(value)) {
            return vy_tool_usage(err, "vyre-spv", "there is no pass '%.100s'", value);
        }
        break;
    case OPTION_GRAPH:
        c->graph = value;
        if (!value[0]) {
            return usage_of(err, "--graph", "a file", value);
        }
        break;
    case OPTION_VERSION:
        fprintf(out, "vyre-spv %s\n", VYRE_VERSION_STRING);
        return VY_EXIT_OK;
    case OPTION_HELP:
        print_help(out);
        return VY_EXIT_OK;
    default:
        c->validate = c->validate || id == OPTION_VALIDATE;
        c->stats = c->stats || id == OPTION_STATS;
        c->requirements = c->requirements || id == OPTION_REQUIRES;
        c->explain = c->explain || id == OPTION_EXPLAIN;
        c->debug = id == OPTION_DEBUG         ? VYRE_DEBUG_INFO_FULL
                   : id == OPTION_DEBUG_LINES ? VYRE_DEBUG_INFO_LINES
                                              : c->debug;
        c->optimization = id == OPTION_O0   ? VYRE_OPTIMIZATION_NONE
                          : id == OPTION_O1 ? VYRE_OPTIMIZATION_FULL
                                            : c->optimization;
        c->optimise = c->optimise || id == OPTION_OPT;
        c->aggregate = c->aggregate || id == OPTION_AGGREGATE;
        c->coarse = c->coarse || id == OPTION_COARSE;
        c->prints = c->prints || id == OPTION_PRINTF;
        c->source = c->source || id == OPTION_SOURCE;
        c->diff = c->diff || id == OPTION_DIFF;
        break;
    }
    return -1;
}

static bool names_folder(const char *path)
{
    return vy_is_separator(path[strlen(path) - 1]) || vy_path_look(path).kind == VY_PATH_FOLDER;
}

static format format_of_name(const char *path)
{
    return names_folder(path) || vy_path_has_suffix(path, ".spv")             ? FORMAT_BIN
           : vy_path_has_suffix(path, ".h") || vy_path_has_suffix(path, ".c") ? FORMAT_C
           : vy_path_has_suffix(path, ".json")                                ? FORMAT_JSON
           : vy_path_has_suffix(path, ".vyre")                                ? FORMAT_TEXT
           : vy_path_has_suffix(path, ".vyk")                                 ? FORMAT_KERNEL
                                                                              : FORMAT_ASM;
}

static int check_command(command *c, int files, FILE *err)
{
    if (!c->file) {
        return vy_tool_usage(err, "vyre-spv", "no file is given");
    }
    if (c->diff && files != 2) {
        return vy_tool_usage(err, "vyre-spv", "--diff compares two files (%d given)", files);
    }
    if (!c->diff && files > 1) {
        return vy_tool_usage(err, "vyre-spv", "one file at a time (%s and %s are given)", c->file,
                             c->other);
    }
    if (c->diff && (c->out || c->format || c->source || c->validate || c->stats ||
                    c->requirements || c->explain || c->graph || c->dump_after)) {
        return vy_tool_usage(err, "vyre-spv",
                             "--diff prints what differs, and is given without other output");
    }
    if (c->coarse && (c->format == FORMAT_KERNEL ||
                      (c->out && c->out[0] && format_of_name(c->out) == FORMAT_KERNEL))) {
        return vy_tool_usage(err, "vyre-spv",
                             "kernel files have no coarse words, which are made at run time");
    }
    if (c->prints && (c->format == FORMAT_KERNEL ||
                      (c->out && c->out[0] && format_of_name(c->out) == FORMAT_KERNEL))) {
        return vy_tool_usage(err, "vyre-spv", "kernel files have no words that print");
    }
    if (c->out && !c->out[0]) {
        return vy_tool_usage(err, "vyre-spv", "-o takes a file or a folder");
    }
    if (c->out && c->format == FORMAT_NONE) {
        c->format = format_of_name(c->out);
    }
    if (c->source && c->format != FORMAT_NONE && c->format != FORMAT_ASM) {
        return vy_tool_usage(err, "vyre-spv", "--source is of assembly (--format asm)");
    }
    return -1;
}

static int read_command(command *c, int count, char *const *arguments, FILE *out, FILE *err)
{
    vy_args args = {.count = count,
                    .at = 1,
                    .arguments = arguments,
                    .options = options,
                    .option_count = VY_COUNT_OF(options)};
    int id, count_files = 0;
    while ((id = vy_args_next(&args)) != VY_ARG_END) {
        if (id == VY_ARG_ERROR) {
            return vy_tool_usage(err, "vyre-spv", "%s", args.error);
        }
        if (id == VY_ARG_POSITIONAL) {
            if (count_files < 2) {
                *(count_files ? &c->other : &c->file) = args.value;
            }
            count_files++;
            continue;
        }
        int code = take_option(c, id, args.value, out, err);
        if (code >= 0) {
            return code;
        }
    }
    return check_command(c, count_files, err);
}
/* ---- Output ---------------------------------------------------------------------------------- */

static vyre_result put(const char *path, vy_text *text, FILE *out, vyre_diag *diag)
{
    if (text->failed) {
        return vy_diag_no_memory(diag);
    }
    if (path) {
        return vy_file_write(path, text->data, text->size, diag);
    }
    fwrite(text->data ? text->data : "", 1, text->size, out);
    return VYRE_OK;
}

static vyre_result write_program(const command *c, const input *in, FILE *out, vyre_diag *diag)
{
    char *printed;
    size_t size;
    vyre_result result = vyre_program_print(in->source.program, NULL, &printed, &size);
    if (result != VYRE_OK) {
        return vy_diag_no_memory(diag);
    }
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_append(&text, printed, size);
    vyre_text_free(NULL, printed, size);
    result = put(c->out, &text, out, diag);
    vy_text_finish(&text);
    return result;
}

static vyre_result write_one(const command *c, const input *in, const module *m, FILE *out,
                             vyre_diag *diag)
{
    char *path = NULL;
    if (c->out && names_folder(c->out)) {
        size_t size = strlen(c->out) + strlen(m->name) + 16;
        path = malloc(size);
        if (!path) {
            return vy_diag_no_memory(diag);
        }
        snprintf(path, size, "%s%s%s%s", c->out,
                 vy_is_separator(c->out[strlen(c->out) - 1]) ? "" : "/", m->name,
                 format_suffix(c->format));
    }
    vy_text text;
    vy_text_init(&text, NULL);
    vyre_result result = write_module(in, m, c->format, &text, diag);
    if (result == VYRE_OK && c->source) {
        bool is_text = in->kernel && !in->source.is_kernel;
        result =
            add_source(m, is_text ? in->source.text : NULL, in->kernel && !c->debug, &text, diag);
    }
    if (result == VYRE_OK) {
        result = put(path ? path : c->out, &text, out, diag);
    }
    vy_text_finish(&text);
    free(path);
    return result;
}

static vyre_result write_all(const command *c, const input *in, FILE *out, vyre_diag *diag)
{
    if (c->format == FORMAT_TEXT) {
        return write_program(c, in, out, diag);
    }
    if (c->format == FORMAT_JSON || c->format == FORMAT_KERNEL) {
        vy_text text;
        vyre_result written = VYRE_OK;
        vy_text_init(&text, NULL);
        if (c->format == FORMAT_JSON) {
            write_json(c, in, &text);
        } else {
            written = write_kernel(c, in, &text, diag);
        }
        if (written == VYRE_OK) {
            written = put(c->out, &text, out, diag);
        }
        vy_text_finish(&text);
        return written;
    }
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; i < in->module_count && result == VYRE_OK; i++) {
        if (is_wanted(c, &in->modules[i])) {
            if (c->format == FORMAT_ASM && !c->out) {
                fprintf(out, "%s; %s\n", i ? "\n" : "", in->modules[i].name);
            }
            result = write_one(c, in, &in->modules[i], out, diag);
        }
    }
    return result;
}

static vyre_result print_requirements(const input *in, FILE *out, vyre_diag *diag)
{
    if (in->kernel) {
        const char *requirement;
        for (uint32_t i = 0; (requirement = vyre_kernel_requirement(in->kernel, i)) != NULL; i++) {
            fprintf(out, "%s\n", requirement);
        }
        return VYRE_OK;
    }
    vy_text text;
    vy_text_init(&text, NULL);
    vyre_result result = disassemble(&in->modules[0], &text, diag);
    for (char *line = result == VYRE_OK && text.data ? text.data : NULL; line;) {
        char *end = strchr(line, '\n');
        char *name = strstr(line, "OpCapability ");
        name = name ? name : strstr(line, "OpExtension ");
        if (name && end && name < end) {
            fprintf(out, "%.*s\n", (int)(end - name), name);
        }
        line = end ? end + 1 : NULL;
    }
    vy_text_finish(&text);
    return result;
}

/* Things that are said of modules in place of writing them. */
static int inspect(const command *c, const input *in, FILE *out, FILE *err)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    int code = VY_EXIT_OK;
    for (uint32_t i = 0; i < in->module_count; i++) {
        const module *m = &in->modules[i];
        if (!is_wanted(c, m)) {
            continue;
        }
        if (c->stats) {
            print_stats(m, out);
        }
        if (c->explain && explain(m, in->kernel != NULL, out, &diag) != VYRE_OK) {
            code = vy_tool_fail(err, &diag, c->file, NULL, 0);
        }
        if (c->validate && validate(m, c->target, &diag) != VYRE_OK) {
            code = vy_tool_fail(err, &diag, c->file, NULL, 0);
        } else if (c->validate) {
            fprintf(out, "%s: valid for %s\n", m->name,
                    c->target == VYRE_TARGET_VULKAN_1_2 ? "vulkan1.2" : "vulkan1.3");
        }
    }
    if (c->stats && in->kernel) {
        print_lowerings(in->kernel, out);
    }
    if (c->requirements && print_requirements(in, out, &diag) != VYRE_OK) {
        code = vy_tool_fail(err, &diag, c->file, NULL, 0);
    }
    if (c->graph && write_graph(in->kernel, c->graph, out, &diag) != VYRE_OK) {
        code = vy_tool_fail(err, &diag, c->file, NULL, 0);
    }
    return code;
}

/* ---- The way through ------------------------------------------------------------------------- */

static int check_segments(const command *c, const input *in, FILE *err)
{
    if (c->format == FORMAT_KERNEL && (c->segment != UINT32_MAX || c->optimise)) {
        return vy_tool_usage(err, "vyre-spv",
                             "a kernel file holds all segments as they are compiled; leave out "
                             "--segment and --opt");
    }
    bool is_one_each = c->format == FORMAT_ASM || c->format == FORMAT_BIN || c->format == FORMAT_C;
    bool one_place = c->out ? !names_folder(c->out) : c->format == FORMAT_BIN;
    if (c->segment != UINT32_MAX && c->format != FORMAT_TEXT && c->segment >= in->module_count) {
        return vy_tool_usage(err, "vyre-spv", "there is no segment %u; the program has %u",
                             c->segment, in->module_count);
    }
    if (is_one_each && one_place && c->segment == UINT32_MAX && in->module_count > 1) {
        return vy_tool_usage(err, "vyre-spv",
                             "%u segments do not go into one file; use -o DIR/ or --segment N",
                             in->module_count);
    }
    if (c->out && names_folder(c->out) && !is_one_each && c->format != FORMAT_NONE) {
        return vy_tool_usage(err, "vyre-spv",
                             "--format json, text and kernel write one file, not a folder");
    }
    return -1;
}

static int run(command *c, input *in, FILE *out, FILE *err)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    if (load_input(c, c->file, in, out, &diag) != VYRE_OK) {
        return vy_tool_fail(err, &diag, c->file, vy_source_quote(&in->source, &diag),
                            in->source.size);
    }
    int code = check_segments(c, in, err);
    if (code >= 0) {
        return code;
    }
    if (optimise_input(c, in, &diag) != VYRE_OK) {
        return vy_tool_fail(err, &diag, c->file, NULL, 0);
    }
    bool inspects = c->validate || c->stats || c->requirements || c->explain || c->graph;
    code = inspects ? inspect(c, in, out, err) : VY_EXIT_OK;
    if (c->format == FORMAT_NONE && (inspects || c->dump_after) && !c->source) {
        return code;
    }
    c->format = c->format == FORMAT_NONE ? FORMAT_ASM : c->format;
    if (write_all(c, in, out, &diag) != VYRE_OK) {
        code = vy_tool_fail(err, &diag, NULL, NULL, 0);
    }
    return code;
}

int main(int count, char **arguments)
{
    vy_system_begin();
    vy_tool_catch_interrupt();
    command c = {.segment = UINT32_MAX};
    input in = {0};
    int code = read_command(&c, count, arguments, stdout, stderr);
    if (code < 0) {
        code = c.diff ? diff(&c, stdout, stderr) : run(&c, &in, stdout, stderr);
        finish_input(&in);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "vyre-spv: error: standard output cannot be written\n");
        code = code ? code : VY_EXIT_FAILED;
    }
    return code;
}

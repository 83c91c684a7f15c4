/* The command line of vyre-scan. */
#include "tools/vyre-scan/scan.h"

#include <string.h>

#ifndef VYRE_VERSION_STRING
#define VYRE_VERSION_STRING "unknown"
#endif

enum {
    OPTION_PATTERN = 1,
    OPTION_FILE,
    OPTION_EXPRESSION,
    OPTION_LITERAL,
    OPTION_CASELESS,
    OPTION_WORDS,
    OPTION_LINES,
    OPTION_ZERO,
    OPTION_ALL,
    OPTION_COUNT,
    OPTION_WITH,
    OPTION_WITHOUT,
    OPTION_QUIET,
    OPTION_JSON,
    OPTION_NAMES,
    OPTION_NO_NAMES,
    OPTION_NUMBERS,
    OPTION_OFFSETS,
    OPTION_EXIT_STATUS,
    OPTION_RECURSIVE,
    OPTION_FOLLOW,
    OPTION_TEXT,
    OPTION_SKIP,
    OPTION_BINARY,
    OPTION_SILENT,
    OPTION_DEVICE,
    OPTION_REFERENCE,
    OPTION_CHECK,
    OPTION_BATCH,
    OPTION_SEGMENT,
    OPTION_CALIBRATE,
    OPTION_REPORT,
    OPTION_VERSION,
    OPTION_HELP,
};

static const vy_option options[] = {
    VY_HEADING("Patterns"),
    {"-e", OPTION_PATTERN, "PATTERN", "find this pattern (each line of it is one); repeatable"},
    {"-f", OPTION_FILE, "FILE", "find the patterns of the file, one a line; repeatable"},
    {"-F", OPTION_LITERAL, NULL, "patterns are texts (default)"},
    {"-E", OPTION_EXPRESSION, NULL, "patterns are extended regular expressions"},
    {"-i", OPTION_CASELESS, NULL, "A to Z are a to z"},
    {"-w", OPTION_WORDS, NULL, "matches are whole words (not with -E)"},
    {"-x", OPTION_LINES, NULL, "matches are whole lines; -w then says nothing"},
    {"--null-patterns", OPTION_ZERO, NULL,
     "patterns of files end in a zero byte in place of a newline, and may\n"
     "have newlines (with --all)"},
    VY_HEADING("What is printed"),
    {"--all", OPTION_ALL, NULL,
     "print all hits, overlapping ones too, as OFFSET:PATTERN, the last\n"
     "byte's offset and the pattern's number from 1; lines mean nothing"},
    {"-c", OPTION_COUNT, NULL, "print how many lines of each file have a match"},
    {"-l", OPTION_WITH, NULL, "print the names of files with a match"},
    {"-L", OPTION_WITHOUT, NULL, "print the names of files without"},
    {"-q", OPTION_QUIET, NULL, "print nothing (implies --exit-status)"},
    {"--json", OPTION_JSON, NULL, "print everything as one JSON object (vyre.scan/1)"},
    {"-H", OPTION_NAMES, NULL, "print the file's name before each line"},
    {"-h", OPTION_NO_NAMES, NULL, "do not (default with one file)"},
    {"-n", OPTION_NUMBERS, NULL, "print the number of the line before the offset"},
    {"-b", OPTION_OFFSETS, NULL, "accepted, as is -o: this is always done"},
    {"-o", OPTION_OFFSETS, NULL, "accepted, as is -b"},
    {"--exit-status", OPTION_EXIT_STATUS, NULL,
     "exit as grep does: 0 something is found, 1 nothing, 2 an error"},
    VY_HEADING("Files"),
    {"-r", OPTION_RECURSIVE, NULL,
     "read all files of folders (default: this one), without following\n"
     "symbolic links"},
    {"-R", OPTION_FOLLOW, NULL, "the same, following them"},
    {"-a", OPTION_TEXT, NULL, "take binary files as text"},
    {"-I", OPTION_SKIP, NULL, "take binary files as without a match"},
    {"--binary-files", OPTION_BINARY, "binary|text|without-match",
     "how files with zero bytes are taken (default: binary: say only that\n"
     "they match)"},
    {"-s", OPTION_SILENT, NULL, "do not print messages about files that cannot be read"},
    VY_HEADING("Where and how"),
    {"--device", OPTION_DEVICE, "NAME|INDEX|list",
     "the device, by part of its name or its number (default: the best);\n"
     "list: print the devices"},
    {"--reference", OPTION_REFERENCE, NULL, "scan on the processor, which needs no device"},
    {"--check", OPTION_CHECK, NULL, "scan on both and compare all hits"},
    {"--batch-size", OPTION_BATCH, "BYTES",
     "bytes of files that are scanned at once, K, M or G behind them for\n"
     "powers of 1024 (default: 64M, with --reference 4M)"},
    {"--segment", OPTION_SEGMENT, "BYTES|whole", "bytes that each invocation scans"},
    {"--calibrate", OPTION_CALIBRATE, NULL,
     "measure which segments are fastest with the first batch, print that\n"
     "and use it"},
    {"--report", OPTION_REPORT, NULL, "print sizes, counts and times on standard error"},
    VY_HEADING("Other"),
    {"--version", OPTION_VERSION, NULL, "print the version"},
    {"--help", OPTION_HELP, NULL, "this text"},
};

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_help(FILE *out)
{
    fprintf(out, "Usage: vyre-scan PATTERNS FILE... [OPTION]...\n"
                 "  or:  vyre-scan -e PATTERN|-f PATTERNS... [OPTION]... FILE...\n\n"
                 "Finds all patterns of the file PATTERNS, one a line, in files ('-' is standard "
                 "input),\nand prints what grep -F -b -o -f PATTERNS FILE... prints in the C "
                 "locale: of each line\nthe leftmost and longest matches that do not overlap.\n");
    fputc('\n', out);
    vy_options_print(out, options, VY_COUNT_OF(options));
    fprintf(out,
            "\nOptions of one letter without a value may be written as one: -rin.\n\n"
            "Exit: 0 success; 1 input, device or run failed, or results differ; 2 usage; 130\n"
            "interrupted. 0 does not say that something is found. With --exit-status: 0 found;\n"
            "1 not found; 2 anything failed; 130 interrupted.\n");
}

/* ---- Options --------------------------------------------------------------------------------- */

static bool parse_size(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    uint64_t value = 0, unit = 1;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= high; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (at > text && *at && !at[1]) {
        unit = *at == 'K' ? 1024u : *at == 'M' ? 1024u * 1024 : *at == 'G' ? 1u << 30 : 0;
        at += unit != 0;
    }
    if (at == text || *at || value > high / unit || value * unit < low) {
        return false;
    }
    *out = value * unit;
    return true;
}

static int take_binary(command *c, const char *value, FILE *err)
{
    static const char *const names[] = {
        [BINARY_MESSAGE] = "binary", [BINARY_TEXT] = "text", [BINARY_SKIP] = "without-match"};
    for (uint32_t i = 0; i < VY_COUNT_OF(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            c->binary = (scan_binary)i;
            return -1;
        }
    }
    return vy_tool_usage(err, "vyre-scan",
                         "--binary-files takes binary, text or without-match, not '%.100s'", value);
}

static int take_sizes(command *c, int id, const char *value, FILE *err)
{
    uint64_t size = VYRE_SEGMENT_WHOLE;
    if (id == OPTION_BATCH) {
        return parse_size(value, 1, 1u << 30, &c->batch_size)
                   ? -1
                   : vy_tool_usage(err, "vyre-scan",
                                   "--batch-size takes bytes from 1 to 1G, not '%.100s'", value);
    }
    if (strcmp(value, "whole") != 0 && !parse_size(value, 64, 1u << 30, &size)) {
        return vy_tool_usage(err, "vyre-scan",
                             "--segment takes bytes from 64 to 1G, or whole, not '%.100s'", value);
    }
    c->segment_size = (uint32_t)size;
    return -1;
}

/* Options that only say yes. */
static bool take_flag(command *c, int id)
{
    bool *flags[] = {[OPTION_EXPRESSION] = &c->is_expression,
                     [OPTION_CASELESS] = &c->is_caseless,
                     [OPTION_WORDS] = &c->whole_words,
                     [OPTION_LINES] = &c->whole_lines,
                     [OPTION_ZERO] = &c->zero_ends,
                     [OPTION_JSON] = &c->json,
                     [OPTION_NUMBERS] = &c->with_numbers,
                     [OPTION_EXIT_STATUS] = &c->exit_status,
                     [OPTION_RECURSIVE] = &c->is_recursive,
                     [OPTION_SILENT] = &c->is_silent,
                     [OPTION_REFERENCE] = &c->reference,
                     [OPTION_CHECK] = &c->check,
                     [OPTION_CALIBRATE] = &c->calibrate,
                     [OPTION_REPORT] = &c->report,
                     [OPTION_HELP] = NULL};
    if (flags[id]) {
        *flags[id] = true;
    }
    return flags[id] != NULL;
}

/* What is printed; the last one counts. */
static bool take_output(command *c, int id)
{
    static const scan_output outputs[] = {[OPTION_ALL] = OUTPUT_ALL,
                                          [OPTION_COUNT] = OUTPUT_COUNT,
                                          [OPTION_WITH] = OUTPUT_WITH,
                                          [OPTION_WITHOUT] = OUTPUT_WITHOUT,
                                          [OPTION_QUIET] = OUTPUT_QUIET};
    if (id < OPTION_ALL || id > OPTION_QUIET) {
        return false;
    }
    c->output = outputs[id];
    c->exit_status = c->exit_status || id == OPTION_QUIET;
    return true;
}

/* -1: go on. */
static int take_option(command *c, int id, const char *value, FILE *out, FILE *err)
{
    if (take_flag(c, id) || take_output(c, id)) {
        return -1;
    }
    switch (id) {
    case OPTION_PATTERN:
        (void)vy_vec_push(c->arena, &c->patterns, value);
        return -1;
    case OPTION_FILE:
        (void)vy_vec_push(c->arena, &c->pattern_files, value);
        return -1;
    case OPTION_LITERAL:
        c->is_expression = false;
        return -1;
    case OPTION_NAMES:
    case OPTION_NO_NAMES:
        c->with_names = id == OPTION_NAMES ? 1 : -1;
        return -1;
    case OPTION_FOLLOW:
        c->is_recursive = c->follows_links = true;
        return -1;
    case OPTION_TEXT:
    case OPTION_SKIP:
        c->binary = id == OPTION_TEXT ? BINARY_TEXT : BINARY_SKIP;
        return -1;
    case OPTION_BINARY:
        return take_binary(c, value, err);
    case OPTION_DEVICE:
        c->list_devices = strcmp(value, "list") == 0;
        c->device = value;
        return -1;
    case OPTION_BATCH:
    case OPTION_SEGMENT:
        return take_sizes(c, id, value, err);
    case OPTION_VERSION:
        fprintf(out, "vyre-scan %s\n", VYRE_VERSION_STRING);
        return VY_EXIT_OK;
    case OPTION_HELP:
        print_help(out);
        return VY_EXIT_OK;
    default:
        return -1; /* what is always done */
    }
}

/* ---- Command line ---------------------------------------------------------------------------- */

/* The option of that name; NULL: there is none. */
static const vy_option *find_option(const char *name)
{
    for (size_t i = 0; i < VY_COUNT_OF(options); i++) {
        if (options[i].name && strcmp(options[i].name, name) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

static bool is_flag_letter(char letter)
{
    const char name[3] = {'-', letter, 0};
    const vy_option *option = find_option(name);
    return option && !option->value;
}

static bool takes_value(const char *argument)
{
    const vy_option *option = find_option(argument);
    return option && option->value;
}

typedef VY_VEC(char *) words;

/* "-rin" as "-r", "-i", "-n"; other arguments as they are. */
static bool split_argument(command *c, words *out, char *argument)
{
    size_t length = strlen(argument), flags = 0;
    bool is_word = argument[0] == '-' && length > 2 && argument[1] != '-';
    for (size_t i = 1; is_word && i < length; i++) {
        flags += is_flag_letter(argument[i]);
    }
    if (!is_word || flags != length - 1) {
        return vy_vec_push(c->arena, out, argument);
    }
    for (size_t i = 1; i < length; i++) {
        char letters[2] = {'-', argument[i]};
        char *name = vy_arena_text(c->arena, letters, sizeof letters);
        if (!name || !vy_vec_push(c->arena, out, name)) {
            return false;
        }
    }
    return true;
}

static bool split_arguments(command *c, int count, char *const *arguments, words *out)
{
    bool is_value = true, is_over = false;
    for (int i = 0; i < count; i++) {
        bool is_kept = is_value || is_over;
        if (is_kept ? !vy_vec_push(c->arena, out, arguments[i])
                    : !split_argument(c, out, arguments[i])) {
            return false;
        }
        is_over = is_over || (!is_value && strcmp(arguments[i], "--") == 0);
        is_value = !is_kept && takes_value(arguments[i]);
    }
    return true;
}

/* What does not go together, and what to say then; the first one counts. */
static int check_together(const command *c, FILE *err)
{
    const struct {
        bool is_wrong;
        const char *message;
    } checks[] = {
        {c->reference && (c->check || c->calibrate || c->device || c->segment_size),
         "--reference scans on no device, which --check, --calibrate, --device and --segment need"},
        {!c->finds_lines && (c->whole_words || c->whole_lines || c->with_numbers),
         "--all prints all hits, of which -w, -x and -n say nothing"},
        {c->zero_ends && (c->finds_lines || c->is_expression),
         "--null-patterns is for texts with newlines, which lines do not have: give --all, and no "
         "-E"},
        {c->json && c->output != OUTPUT_MATCHES && c->output != OUTPUT_ALL,
         "--json has counts and names of its own: give it without -c, -l, -L and -q"},
        {c->is_expression && c->whole_words && !c->whole_lines,
         "-w is for texts: in expressions say what stands around words"},
        {c->is_expression && !scan_has_expressions(),
         "-E was left out when this tool was built, for want of libfa; install the package "
         "libaugeas-dev and build again"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(checks); i++) {
        if (checks[i].is_wrong) {
            return vy_tool_usage(err, "vyre-scan", "%s", checks[i].message);
        }
    }
    return -1;
}

static int check_command(command *c, FILE *err)
{
    bool has_patterns = c->patterns.count || c->pattern_files.count;
    if (c->list_devices) {
        return -1;
    }
    if (!has_patterns && c->files.count == 0) {
        return vy_tool_usage(err, "vyre-scan", "no file with patterns is given");
    }
    if (!has_patterns) {
        (void)vy_vec_push(c->arena, &c->pattern_files, c->files.data[0]);
        c->files.data++;
        c->files.count--;
        c->files.capacity--;
    }
    c->finds_lines = c->output != OUTPUT_ALL;
    int code = check_together(c, err);
    c->whole_words = c->whole_words && !c->whole_lines; /* as in grep */
    return code;
}

int scan_read_command(command *c, int count, char *const *arguments, FILE *out, FILE *err)
{
    words all = {0};
    if (!split_arguments(c, count, arguments, &all)) {
        fprintf(err, "vyre-scan: error: out of memory; free some\n");
        return VY_EXIT_FAILED;
    }
    vy_args args = {.count = (int)all.count,
                    .at = 1,
                    .arguments = all.data,
                    .options = options,
                    .option_count = (uint32_t)VY_COUNT_OF(options)};
    int id;
    while ((id = vy_args_next(&args)) != VY_ARG_END) {
        int code = -1;
        if (id == VY_ARG_ERROR) {
            return vy_tool_usage(err, "vyre-scan", "%s", args.error);
        } else if (id == VY_ARG_POSITIONAL) {
            (void)vy_vec_push(c->arena, &c->files, args.value);
        } else {
            code = take_option(c, id, args.value, out, err);
        }
        if (code >= 0) {
            return code;
        }
    }
    return check_command(c, err);
}

/* What a module declares, and why: its capabilities, extensions, memory model, execution modes and
 * decorations, each with what it says and to what it belongs. Read from the assembly. */
#include "tools/vyre-spv/spv.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *name, *why;
} row;

static const row capabilities[] = {
    {"Shader", "all compute shaders of Vulkan need it"},
    {"VulkanMemoryModel", "the order of memory is that of Vulkan's own model (target vulkan1.3)"},
    {"VulkanMemoryModelDeviceScope", "atomics on storage act for the whole device"},
    {"PhysicalStorageBufferAddresses", "buffers are reached by their addresses (--interface "
                                       "address)"},
    {"Int64", "integers of 64 bits, or addresses of elements of 8 and 16 bits"},
    {"Int64Atomics", "atomics of 64 bits"},
    {"Float64", "floats of 64 bits"},
    {"StorageBuffer8BitAccess", "buffers with elements of 8 bits"},
    {"StorageBuffer16BitAccess", "buffers with elements of 16 bits"},
    {"GroupNonUniform", "lanes of a subgroup know each other"},
    {"GroupNonUniformVote", "subgroup_any, subgroup_all"},
    {"GroupNonUniformBallot", "ballots, broadcasts, or places of appended elements"},
    {"GroupNonUniformShuffle", "subgroup shuffles"},
    {"GroupNonUniformArithmetic", "subgroup sums and scans, or atomics that are joined"},
    {"SignedZeroInfNanPreserve", "a float mode: signs of zeros, infinities and NaNs are kept"},
    {"DenormPreserve", "a float mode: denormals are kept"},
    {"RoundingModeRTE", "a float mode: to nearest, ties to even"},
};

static const row extensions[] = {
    {"SPV_KHR_maximal_reconvergence", "lanes of a subgroup meet again where the program's text "
                                      "says"},
    {"SPV_KHR_subgroup_uniform_control_flow", "subgroups that were together stay together"},
    {"SPV_KHR_non_semantic_info", "instructions that are there for tools, and do nothing"},
};

static const row sets[] = {
    {"GLSL.std.450", "functions on numbers that shaders have"},
    {"NonSemantic.DebugPrintf", "messages of invocations, which validation layers print"},
    {"NonSemantic.Shader.DebugInfo.100", "debug information: text, scopes, lines, variables (-g)"},
};

static const row models[] = {
    {"Logical", "buffers are variables with descriptors"},
    {"PhysicalStorageBuffer64", "buffers are reached by addresses of 64 bits"},
    {"Vulkan", "accesses that others see are marked one by one"},
    {"GLSL450", "the memory model of before Vulkan's own (target vulkan1.2)"},
};

static const row modes[] = {
    {"LocalSize", "invocations of a workgroup in x, y, z"},
    {"MaximallyReconvergesKHR", "see SPV_KHR_maximal_reconvergence"},
    {"SubgroupUniformControlFlowKHR", "see SPV_KHR_subgroup_uniform_control_flow"},
    {"SignedZeroInfNanPreserve", "of floats of so many bits"},
    {"DenormPreserve", "of floats of so many bits"},
    {"RoundingModeRTE", "of floats of so many bits"},
};

static const row decorations[] = {
    {"BuiltIn", "what the device tells each invocation of its place"},
    {"NoContraction", "no fused multiply-add: each operation is rounded by itself"},
    {"Offset", "where a member lies in its block, in bytes"},
    {"Block", "the type of a buffer or of push constants"},
    {"ArrayStride", "bytes from one element to the next"},
    {"SpecId", "a constant that is chosen when the pipeline is made"},
    {"DescriptorSet", "where it is bound: the set"},
    {"Binding", "where it is bound: the binding"},
    {"NonWritable", "the segment never writes it: the driver may keep what it has read"},
    {"Coherent", "others see what is written before the segment ends (target vulkan1.2)"},
    {"Aliased", "may be the same memory as another one"},
};

/* Of the modules that the library makes; docs/spirv-interface.md has them in full. */
static const char *const constants[] = {
    "workgroup size in x",
    "in y",
    "in z",
    "the launched grid is folded",
    "f32 / is the device's own",
    "f32 sqrt is the device's own",
    "f32 fma is the device's own",
    "f64 / is the device's own",
    "f64 sqrt is the device's own",
    "f64 fma is the device's own",
    "the driver drops additions of zero, which -0 does not bear",
    "the driver must not know what lies in the parameter block",
    "a workgroup runs on one thread: barriers need no order of memory"};

/* ---- Lines ----------------------------------------------------------------------------------- */

#define MOST_WORDS   8u
#define MOST_TARGETS 6u

/* A line of assembly, cut at blanks. */
typedef struct line {
    char text[512];
    char *words[MOST_WORDS];
    uint32_t count;
} line;

static const char *next_line(const char *at, line *out)
{
    const char *end = strchr(at, '\n');
    size_t length = end ? (size_t)(end - at) : strlen(at);
    length = length < sizeof out->text - 1 ? length : sizeof out->text - 1;
    memcpy(out->text, at, length);
    out->text[length] = 0;
    out->count = 0;
    char *rest = out->text, *word;
    while (out->count < MOST_WORDS && (word = strtok_r(rest, " ", &rest)) != NULL) {
        out->words[out->count++] = word;
    }
    return end ? end + 1 : NULL;
}

static bool begins(const line *l, const char *opcode)
{
    return l->count > 1 && strcmp(l->words[0], opcode) == 0;
}

static const char *why(const row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].why;
        }
    }
    return "nothing is known of it here";
}

static void print_row(FILE *out, const char *name, const char *text)
{
    fprintf(out, "    %-32s %s\n", name, text);
}

/* "%1 = OpExtInstImport "NAME"". */
static void print_sets(const char *assembly, FILE *out)
{
    line l;
    bool is_any = false;
    for (const char *at = assembly; at;) {
        at = next_line(at, &l);
        if (l.count < 4 || strcmp(l.words[2], "OpExtInstImport") != 0) {
            continue;
        }
        char *name = l.words[3];
        size_t length = strlen(name);
        if (name[0] == '"' && length > 2) {
            name[length - 1] = 0;
            name++;
        }
        fprintf(out, "%s", is_any ? "" : "  instruction sets:\n");
        is_any = true;
        print_row(out, name, why(sets, VY_COUNT_OF(sets), name));
    }
}

/* Each operand of every line with that opcode; the first `skipped` words are no names. */
static void print_all(const char *assembly, const char *title, const char *opcode, uint32_t skipped,
                      const row *rows, size_t count, FILE *out)
{
    line l;
    bool is_any = false;
    for (const char *at = assembly; at;) {
        at = next_line(at, &l);
        if (!begins(&l, opcode)) {
            continue;
        }
        if (!is_any) {
            fprintf(out, "  %s:\n", title);
        }
        is_any = true;
        char name[256] = "";
        for (uint32_t i = skipped + 1; i < l.count; i++) {
            size_t used = strlen(name);
            snprintf(name + used, sizeof name - used, "%s%s", used ? " " : "", l.words[i]);
        }
        char *first = l.words[skipped + 1];
        size_t length = strlen(first);
        if (first[0] == '"' && length > 2) {
            first[length - 1] = 0;
            first++;
        }
        print_row(out, name, why(rows, count, first));
    }
}

/* ---- Decorations ----------------------------------------------------------------------------- */

/* Word of the line that names the decoration; 0: it is no such line. */
static uint32_t place_of(const line *l)
{
    uint32_t place = begins(l, "OpDecorate") ? 2 : begins(l, "OpMemberDecorate") ? 3 : 0;
    return place < l->count ? place : 0;
}

/* What has it: its name, the member, and what is said with it. */
static void print_target(const line *l, uint32_t place, const char *between, FILE *out)
{
    fprintf(out, "%s%s", between, l->words[1]);
    if (place == 3) {
        fprintf(out, "[%s]", l->words[2]);
    }
    for (uint32_t i = place + 1; i < l->count; i++) {
        fprintf(out, " %s", l->words[i]);
    }
}

static void print_targets(const char *assembly, const char *name, FILE *out)
{
    uint32_t count = 0;
    line l;
    for (const char *at = assembly; at;) {
        at = next_line(at, &l);
        uint32_t place = place_of(&l);
        if (place && strcmp(l.words[place], name) == 0 && count++ < MOST_TARGETS) {
            print_target(&l, place, count > 1 ? ", " : "      ", out);
        }
    }
    if (count > MOST_TARGETS) {
        fprintf(out, ", and %u more", count - MOST_TARGETS);
    }
    fprintf(out, "\n");
}

/* The library's constants, each by itself. */
static void print_constants(const char *assembly, FILE *out)
{
    line l;
    for (const char *at = assembly; at;) {
        at = next_line(at, &l);
        uint32_t place = place_of(&l);
        if (place && place + 1 < l.count && strcmp(l.words[place], "SpecId") == 0) {
            unsigned long id = strtoul(l.words[place + 1], NULL, 10);
            fprintf(out, "      %s %lu: %s\n", l.words[1], id,
                    id < VY_COUNT_OF(constants) ? constants[id] : "nothing is known of it here");
        }
    }
}

static bool has_decoration(const char *assembly, const char *name)
{
    line l;
    for (const char *at = assembly; at;) {
        at = next_line(at, &l);
        uint32_t place = place_of(&l);
        if (place && strcmp(l.words[place], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < VY_COUNT_OF(decorations); i++) {
        if (strcmp(decorations[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void print_decorations(const char *assembly, bool is_own, FILE *out)
{
    fprintf(out, "  decorations:\n");
    for (size_t i = 0; i < VY_COUNT_OF(decorations); i++) {
        const row *r = &decorations[i];
        if (!has_decoration(assembly, r->name)) {
            continue;
        }
        print_row(out, r->name, r->why);
        if (is_own && strcmp(r->name, "SpecId") == 0) {
            print_constants(assembly, out);
        } else {
            print_targets(assembly, r->name, out);
        }
    }
    line l;
    for (const char *at = assembly; at;) {
        at = next_line(at, &l);
        uint32_t place = place_of(&l);
        if (place && !is_listed(l.words[place])) {
            print_row(out, l.words[place], "nothing is known of it here");
            print_target(&l, place, "      ", out);
            fprintf(out, "\n");
        }
    }
}

/* A copy without strings, whose lines could be taken for the module's. */
static bool copy_without_strings(const module *m, module *out)
{
    *out = *m;
    out->words = out->owned = malloc((m->count ? m->count : 1) * sizeof *out->owned);
    out->count = 0;
    for (size_t at = 0; out->owned && at < m->count;) {
        size_t length = at ? m->words[at] >> 16 : 5;
        uint32_t op = at ? m->words[at] & 0xffffu : 0;
        if (op != SpvOpString && op != SpvOpSource && op != SpvOpSourceContinued) {
            memcpy(out->owned + out->count, m->words + at, length * sizeof *m->words);
            out->count += length;
        }
        at += length;
    }
    return out->owned != NULL;
}

vyre_result explain(const module *m, bool is_own, FILE *out, vyre_diag *diag)
{
    vy_text text;
    module plain;
    vy_text_init(&text, NULL);
    vyre_result result = copy_without_strings(m, &plain) ? disassemble(&plain, &text, diag)
                                                         : vy_diag_no_memory(diag);
    if (result == VYRE_OK && text.failed) {
        result = vy_diag_no_memory(diag);
    }
    if (result == VYRE_OK) {
        const char *assembly = text.data;
        fprintf(out, "%s\n", m->name);
        print_all(assembly, "capabilities", "OpCapability", 0, capabilities,
                  VY_COUNT_OF(capabilities), out);
        print_all(assembly, "extensions", "OpExtension", 0, extensions, VY_COUNT_OF(extensions),
                  out);
        print_sets(assembly, out);
        line l;
        for (const char *at = assembly; at;) {
            at = next_line(at, &l);
            if (begins(&l, "OpMemoryModel") && l.count > 2) {
                fprintf(out, "  memory model:\n");
                print_row(out, l.words[1], why(models, VY_COUNT_OF(models), l.words[1]));
                print_row(out, l.words[2], why(models, VY_COUNT_OF(models), l.words[2]));
            }
        }
        print_all(assembly, "execution modes", "OpExecutionMode", 1, modes, VY_COUNT_OF(modes),
                  out);
        print_decorations(assembly, is_own, out);
    }
    free(plain.owned);
    vy_text_finish(&text);
    return result;
}

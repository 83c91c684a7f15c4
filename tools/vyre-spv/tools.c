/* SPIRV-Tools: its library for assembly and validation, its program spirv-opt for optimisation,
 * which the library's C interface does not offer. */
#include "tools/common/system.h"
#include "tools/vyre-spv/spv.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#ifdef VYRE_HAVE_SPIRV_TOOLS
#include "tools/common/validate.h"
#endif

static const vy_loc nowhere = {0, 0};

/* ---- Library --------------------------------------------------------------------------------- */

#ifdef VYRE_HAVE_SPIRV_TOOLS

static vyre_result complain(spv_diagnostic message, const module *m, const char *what,
                            vyre_diag *diag)
{
    vyre_result result =
        vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere, "%s: %s: %s (word %zu). Fix: %s",
                    m->name, what, message && message->error ? message->error : "no reason given",
                    message ? message->position.index : 0,
                    m->owned ? "correct the module"
                             : "report it with the program: this is a fault of the "
                               "compiler");
    spvDiagnosticDestroy(message);
    return result;
}

/* A copy for SPIRV-Tools that cannot read maximal reconvergence: with another mode in its place. */
static uint32_t *copy_with_known_mode(const module *m)
{
    uint32_t *copy = malloc(m->count * sizeof *copy);
    if (!copy) {
        return NULL;
    }
    memcpy(copy, m->words, m->count * sizeof *copy);
    for (size_t at = 5; at < m->count; at += copy[at] >> 16) {
        if (vy_is_maximal_mode(copy + at, copy[at] >> 16)) {
            copy[at + 2] = SpvExecutionModeSubgroupUniformControlFlowKHR;
        }
    }
    return copy;
}

/* The text of that copy, with the mode's own name. */
static void append_with_own_mode(const char *text, size_t length, vy_text *out)
{
    static const char other[] = " SubgroupUniformControlFlowKHR\n";
    for (const char *found; (found = strstr(text, other)) != NULL;) {
        vy_text_append(out, text, (size_t)(found - text));
        vy_text_printf(out, " MaximallyReconvergesKHR\n");
        length -= (size_t)(found - text) + sizeof other - 1;
        text = found + sizeof other - 1;
    }
    vy_text_append(out, text, length);
}

static vyre_result disassemble_by(const module *m, uint32_t options, vy_text *out, vyre_diag *diag)
{
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    if (!context) {
        return vy_diag_no_memory(diag);
    }
    uint32_t *copy = vy_can_parse(context, m->words, m->count) ? NULL : copy_with_known_mode(m);
    spv_text text = NULL;
    spv_diagnostic message = NULL;
    vyre_result result = VYRE_OK;
    if (spvBinaryToText(context, copy ? copy : m->words, m->count, options, &text, &message) ==
        SPV_SUCCESS) {
        if (copy) {
            append_with_own_mode(text->str, text->length, out);
        } else {
            vy_text_append(out, text->str, text->length);
        }
        spvDiagnosticDestroy(message);
    } else {
        result = complain(message, m, "the module cannot be disassembled", diag);
    }
    spvTextDestroy(text);
    free(copy);
    spvContextDestroy(context);
    return result;
}

vyre_result disassemble(const module *m, vy_text *out, vyre_diag *diag)
{
    return disassemble_by(
        m, SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES, out, diag);
}

vyre_result disassemble_plainly(const module *m, bool has_names, vy_text *out, vyre_diag *diag)
{
    uint32_t names = has_names ? SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES : 0;
    return disassemble_by(m, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | names, out, diag);
}

vyre_result validate(const module *m, vyre_target target, vyre_diag *diag)
{
    spv_context context = spvContextCreate(target == VYRE_TARGET_VULKAN_1_2 ? SPV_ENV_VULKAN_1_2
                                                                            : SPV_ENV_VULKAN_1_3);
    if (!context) {
        return vy_diag_no_memory(diag);
    }
    spv_diagnostic message = NULL;
    vyre_result result = VYRE_OK;
    if (vy_spirv_validate(context, m->words, m->count, &message) == SPV_SUCCESS) {
        spvDiagnosticDestroy(message);
    } else {
        result = complain(message, m, "the module is not valid", diag);
    }
    spvContextDestroy(context);
    return result;
}

#else

static vyre_result no_tools(vyre_diag *diag)
{
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, nowhere,
                       "vyre-spv was built without SPIRV-Tools. Fix: install spirv-tools and build "
                       "again, or write --format bin and use spirv-dis and spirv-val");
}

vyre_result disassemble(const module *m, vy_text *out, vyre_diag *diag)
{
    (void)m, (void)out;
    return no_tools(diag);
}

vyre_result disassemble_plainly(const module *m, bool has_names, vy_text *out, vyre_diag *diag)
{
    (void)m, (void)has_names, (void)out;
    return no_tools(diag);
}

vyre_result validate(const module *m, vyre_target target, vyre_diag *diag)
{
    (void)m, (void)target;
    return no_tools(diag);
}

#endif

/* ---- spirv-opt ------------------------------------------------------------------------------- */

static const char debug_info[] = "NonSemantic.Shader.DebugInfo.100";

/* Of the instruction set of debug information: its id; 0: there is none. */
static uint32_t find_debug_info(const uint32_t *words, size_t count)
{
    for (size_t at = 5; at < count; at += words[at] >> 16) {
        size_t length = words[at] >> 16;
        if ((words[at] & 0xffffu) == SpvOpExtInstImport && length > 2 + sizeof debug_info / 4 &&
            memcmp(&words[at + 2], debug_info, sizeof debug_info) == 0) {
            return words[at + 1];
        }
    }
    return 0;
}

static bool is_definition(const uint32_t *words, size_t at, uint32_t set)
{
    return (words[at] & 0xffffu) == SpvOpExtInst && words[at] >> 16 > 4 && words[at + 3] == set &&
           words[at + 4] == NonSemanticShaderDebugInfo100DebugFunctionDefinition;
}

/* The pass merge-return of spirv-opt puts a block in front of a function's first one and leaves
 * DebugFunctionDefinition, which has to stand in the first one, where it was. It names nothing but
 * functions, so it may go there, behind the variables. */
static void mend_definitions(uint32_t *words, size_t count)
{
    uint32_t set = find_debug_info(words, count), labels = 0;
    size_t place = 0; /* behind the function's first label, and its variables */
    for (size_t at = 5; set && at < count;) {
        uint32_t op = words[at] & 0xffffu, length = words[at] >> 16;
        labels = op == SpvOpFunction ? 0 : labels + (op == SpvOpLabel);
        bool is_front = labels == 1 && (op == SpvOpLabel || op == SpvOpVariable);
        place = is_front ? at + length : place;
        if (labels > 1 && is_definition(words, at, set)) {
            uint32_t definition[8];
            if (length <= VY_COUNT_OF(definition)) {
                memcpy(definition, &words[at], length * sizeof *words);
                memmove(&words[place + length], &words[place], (at - place) * sizeof *words);
                memcpy(&words[place], definition, length * sizeof *words);
            }
        }
        at += length;
    }
}

vyre_result make_folder(char *path, size_t size, vyre_diag *diag)
{
    if (vy_folder_make_temporary("vyre-spv", path, size)) {
        return VYRE_OK;
    }
    return vy_diag_set(diag, VYRE_ERROR_IO, nowhere,
                       "no temporary folder can be made. Fix: set TMPDIR to a folder that can be "
                       "written");
}

void remove_folder(const char *path, const char *file)
{
    char name[320];
    snprintf(name, sizeof name, "%s/%s", path, file);
    vy_file_remove(name);
    vy_folder_remove(path);
}

static vyre_result run_on_files(module *m, vyre_target target, const char *from, const char *to,
                                vyre_diag *diag)
{
    vyre_result result = vy_file_write(from, m->words, m->count * sizeof *m->words, diag);
    if (result != VYRE_OK) {
        return result;
    }
    const char *arguments[] = {"spirv-opt",
                               "-O",
                               target == VYRE_TARGET_VULKAN_1_2 ? "--target-env=vulkan1.2"
                                                                : "--target-env=vulkan1.3",
                               from,
                               "-o",
                               to,
                               NULL};
    int code = vy_program_run(arguments);
    if (code != 0) {
        return vy_diag_set(diag, VYRE_ERROR_IO, nowhere,
                           code == 127 ? "--opt needs the program spirv-opt, which was not found. "
                                         "Fix: install spirv-tools"
                                       : "%s: spirv-opt failed. Fix: look at what it printed",
                           m->name);
    }
    char *bytes;
    size_t size;
    result = vy_file_read(to, (size_t)1 << 28, &bytes, &size, diag);
    if (result != VYRE_OK) {
        return result;
    }
    module optimised = {0};
    if (size < 4 || !is_spirv(bytes, size)) {
        result = vy_diag_set(diag, VYRE_ERROR_IO, nowhere,
                             "spirv-opt wrote no module. Fix: check the disk's free space");
    } else {
        result = read_module(bytes, size, &optimised, diag);
    }
    free(bytes);
    if (result == VYRE_OK) {
        mend_definitions(optimised.owned, optimised.count);
        free(m->owned);
        m->words = m->owned = optimised.owned;
        m->count = optimised.count;
    }
    return result;
}

vyre_result optimise(module *m, vyre_target target, vyre_diag *diag)
{
    char folder[256], from[280], to[280];
    vyre_result result = make_folder(folder, sizeof folder, diag);
    if (result != VYRE_OK) {
        return result;
    }
    snprintf(from, sizeof from, "%s/in.spv", folder);
    snprintf(to, sizeof to, "%s/out.spv", folder);
    result = run_on_files(m, target, from, to, diag);
    vy_file_remove(from);
    remove_folder(folder, "out.spv");
    return result;
}

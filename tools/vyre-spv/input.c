/* What is looked at: a program, compiled; a kernel file's words; a SPIR-V file. */
#include "tools/vyre-spv/spv.h"

#include "codegen/kernel.h"
#include "tools/common/system.h"

#include <stdlib.h>
#include <string.h>

bool is_wanted(const command *c, const module *m)
{
    return c->segment == UINT32_MAX || c->segment == m->segment;
}

/* Some of what is shown needs names or lines; a kernel file that is compared has what it has. */
static int debug_of(const command *c, const input *in)
{
    bool needs_lines = c->explain || c->source || (c->diff && !in->source.is_kernel);
    return c->debug || !needs_lines ? c->debug : VYRE_DEBUG_INFO_LINES;
}

static void print_dump(void *user, uint32_t segment, const char *pass, const char *text)
{
    fprintf(user, "; segment %u after %s\n%s", segment, pass, text);
}

static vyre_result compile(const command *c, input *in, FILE *out, vyre_diag *diag)
{
    vyre_kernel_params params = {.struct_size = (uint32_t)sizeof params,
                                 .target = c->target,
                                 .interface = c->interface,
                                 .debug = debug_of(c, in),
                                 .reconvergence = c->aggregate ? VYRE_RECONVERGENCE_MAXIMAL
                                                               : VYRE_RECONVERGENCE_NONE,
                                 .aggregate = c->aggregate ? VYRE_AGGREGATE_ALL : 0,
                                 .dump_after = c->dump_after,
                                 .dump = c->dump_after ? print_dump : NULL,
                                 .dump_user = out,
                                 .prints = c->prints,
                                 .optimization = c->optimization};
    vyre_result result = vy_source_parse(&in->source, diag);
    if (result == VYRE_OK && c->format == FORMAT_TEXT && !c->graph) {
        return VYRE_OK;
    }
    if (result == VYRE_OK) {
        result = vy_source_compile(&in->source, &params, &in->kernel, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    uint32_t count = vyre_kernel_segment_count(in->kernel);
    in->modules = calloc((size_t)count + 1, sizeof *in->modules);
    if (!in->modules) {
        return vy_diag_no_memory(diag);
    }
    in->module_count = count;
    vy_variant variant = vy_kernel_own_variant(in->kernel);
    vy_kernel_coarse coarse = {0};
    if (c->coarse) {
        result = vy_kernel_coarsen(in->kernel, variant.interface, false, &coarse, diag);
    }
    variant.is_coarse = coarse.elements != NULL;
    for (uint32_t i = 0; i < count && result == VYRE_OK; i++) {
        uint32_t words = 0;
        result = vy_kernel_variant(in->kernel, variant, i, &in->modules[i].words, &words, diag);
        in->modules[i].count = words;
        in->modules[i].segment = i;
        snprintf(in->modules[i].name, sizeof in->modules[i].name, "%s.seg%u",
                 vyre_kernel_name(in->kernel), i);
    }
    return result;
}

static vyre_result take_module(const command *c, const char *path, input *in, vyre_diag *diag)
{
    /* Of two that are compared these options are the other one's, if it is a program. */
    bool is_of_program = !c->diff && (c->debug || c->coarse || c->prints || c->optimization);
    if (c->format == FORMAT_TEXT || c->format == FORMAT_KERNEL || c->dump_after || c->graph ||
        is_of_program) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "this file is SPIR-V already. Fix: leave out --format text or kernel, "
                           "--dump-after, -g, -O0, --coarse, --printf and --graph, which need a "
                           "program");
    }
    in->modules = calloc(1, sizeof *in->modules);
    if (!in->modules) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = read_module(in->source.text, in->source.size, &in->modules[0], diag);
    if (result == VYRE_OK) {
        const char *name = vy_path_last(path);
        size_t length = strlen(name) - (vy_path_has_suffix(name, ".spv") ? 4 : 0);
        snprintf(in->modules[0].name, sizeof in->modules[0].name, "%.*s",
                 (int)(length < 255 ? length : 255), strcmp(name, "-") ? name : "stdin");
        in->module_count = 1;
    }
    return result;
}

void finish_input(input *in)
{
    for (uint32_t i = 0; i < in->module_count; i++) {
        free(in->modules[i].owned);
    }
    free(in->modules);
    vyre_kernel_destroy(&in->kernel);
    vy_source_finish(&in->source);
}

/* Names that nobody asked for, and that are too many for SPIRV-Tools. */
#define MOST_NAMED_WORDS 200000u

static vyre_result thin_names(const command *c, input *in, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    bool is_implied = c->source && !c->debug && in->kernel;
    for (uint32_t i = 0; is_implied && i < in->module_count && result == VYRE_OK; i++) {
        module *m = &in->modules[i], thin;
        if (m->count > MOST_NAMED_WORDS && !m->owned) {
            result = drop_repeated_names(m, &thin, diag);
            m->words = thin.words ? thin.words : m->words;
            m->owned = thin.owned;
            m->count = thin.words ? thin.count : m->count;
        }
    }
    return result;
}

vyre_result load_input(const command *c, const char *path, input *in, FILE *out, vyre_diag *diag)
{
    vyre_result result = vy_source_read(path, &in->source, diag);
    if (result == VYRE_OK) {
        result = is_spirv(in->source.text, in->source.size) ? take_module(c, path, in, diag)
                                                            : compile(c, in, out, diag);
    }
    if (result == VYRE_OK) {
        result = thin_names(c, in, diag);
    }
    return result;
}

vyre_result optimise_input(const command *c, input *in, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; c->optimise && i < in->module_count && result == VYRE_OK; i++) {
        module *m = &in->modules[i];
        result = is_wanted(c, m) ? optimise(m, c->target, diag) : VYRE_OK;
    }
    return result;
}
